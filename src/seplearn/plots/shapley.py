"""Shapley values: bars for one row, a swarm of points per feature for many."""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import Normalize

from seplearn._numerals import count
from seplearn.explain.shapley import ShapleyValues
from seplearn.kernels.arrays import FloatArray, IntArray
from seplearn.plots.bars import name_rows
from seplearn.plots.style import (
    DOWN,
    GRID,
    QUIET,
    RANK_MAP,
    UP,
    number,
    panels,
    short,
    short_names,
    signed_number,
    tidy,
    unit_of,
)

_SWARM_BINS = 60
_MOST_POINTS = 2000


def plot_shapley(shapley: ShapleyValues, ax: Any = None, *, max_features: int = 15) -> Any:
    """Draw Shapley values.

    Parameters
    ----------
    shapley : ShapleyValues
        What :func:`seplearn.explain.shapley` returns. One row is drawn as bars, several as a point
        per row, coloured by where the row's value lies among the training rows.
    ax : Axes, optional
        Where to draw.
    max_features : int
        The largest are shown, this many at most.

    Examples
    --------
    >>> from seplearn import TSLRegressor, datasets, explain, plots
    >>> X, y = datasets.masked_interaction(500, as_frame=True, random_state=0)
    >>> model = TSLRegressor(n_stages=1, random_state=0).fit(X, y)
    >>> figure = plots.plot_shapley(explain.shapley(model, X[:100]))
    >>> figure.axes != []
    True
    """
    order = np.argsort(-shapley.mean_size, kind="stable")[:max_features]
    axes, shown = panels(ax, 1, 1, (6.4, 1.4 + 0.3 * len(order)))
    panel = axes[0, 0]
    if len(shapley.values) == 1:
        _one_row(panel, shapley, order)
    else:
        _many_rows(panel, shapley, order)
    panel.axvline(0.0, color=QUIET, linewidth=0.8, zorder=0)
    tidy(panel)
    panel.set_xlabel(f"Shapley value, {unit_of(shapley.quantity)}", fontsize=9)
    return shown


def _one_row(ax: Axes, shapley: ShapleyValues, order: IntArray) -> None:
    values = shapley.values[0][order]
    at = np.arange(len(order))
    ax.barh(at, values, 0.75, color=[UP if value >= 0 else DOWN for value in values])
    room = 0.02 * (float(np.abs(values).max(initial=0.0)) or 1.0)
    for row, value in enumerate(values):
        side = "left" if value >= 0 else "right"
        where = value + (room if value >= 0 else -room)
        ax.text(where, row, signed_number(float(value)), va="center", ha=side, fontsize=7.5)
    ax.margins(x=0.28)
    name_rows(ax, _with_values(shapley, order), are_short=True)
    total = f"{number(shapley.base)} on average, here {number(float(shapley.predictions[0]))}"
    left_out = len(shapley.names) - len(order)
    ax.set_title(
        total + (f"; {count(left_out, 'feature')} not shown" if left_out else ""), fontsize=10
    )


def _with_values(shapley: ShapleyValues, order: IntArray) -> list[str]:
    names = short_names([shapley.names[j] for j in order], 20)
    return [
        f"{name}: {short(shapley.texts[0][j], 20)}" for name, j in zip(names, order, strict=True)
    ]


def _many_rows(ax: Axes, shapley: ShapleyValues, order: IntArray) -> None:
    step = max(1, len(shapley.values) // _MOST_POINTS)
    norm = Normalize(0.0, 1.0)
    points = None
    for row, j in enumerate(order):
        values, ranks = shapley.values[::step, j], shapley.positions[::step, j]
        height = row + _swarm(values)
        known = ~np.isnan(ranks)
        style: Any = {"s": 7, "linewidths": 0, "alpha": 0.8, "rasterized": True}
        ax.scatter(values[~known], height[~known], color=QUIET, **style)
        points = ax.scatter(
            values[known], height[known], c=ranks[known], cmap=RANK_MAP, norm=norm, **style
        )
        ax.axhline(row, color=GRID, linewidth=0.6, zorder=0)
    name_rows(ax, [shapley.names[j] for j in order])
    ax.set_title(f"{len(shapley.values)} rows", fontsize=10)
    if points is not None:
        bar = ax.figure.colorbar(points, ax=ax, pad=0.02, ticks=[0.0, 1.0])
        bar.ax.set_yticklabels(["low", "high"], fontsize=8)
        bar.set_label("value of the feature", fontsize=8, labelpad=-8)


def _swarm(values: FloatArray) -> FloatArray:
    """Offsets that spread points of similar value: the more of them, the wider."""
    low, high = float(values.min()), float(values.max())
    if high <= low:
        return np.linspace(-0.3, 0.3, len(values))
    cells = np.minimum((values - low) / (high - low) * _SWARM_BINS, _SWARM_BINS - 1).astype(int)
    counts = np.bincount(cells, minlength=_SWARM_BINS)
    offsets = np.zeros(len(values))
    for cell in np.flatnonzero(counts):
        members = np.flatnonzero(cells == cell)
        reach = 0.38 * len(members) / max(counts.max(), 12)
        offsets[members] = np.linspace(-reach, reach, len(members)) if len(members) > 1 else 0.0
    return offsets
