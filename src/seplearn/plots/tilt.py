"""Whose tilt varies in a stage, and where the stage flips its sign."""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.axes import Axes

from seplearn.explain.tilt import TiltDiagnostics, places
from seplearn.plots.bars import bars
from seplearn.plots.panel import FeatureAxis, draw
from seplearn.plots.style import DOWN, GRID, QUIET, TILT, UP, panels, stage_title

_NAMED_FLIPS = 3


def plot_tilt(
    tilt: TiltDiagnostics, ax: Any = None, *, max_features: int = 3, max_bars: int = 20
) -> Any:
    """Draw the spread of every tilt, and beside it the stage's sign along those that vary most.

    Parameters
    ----------
    tilt : TiltDiagnostics
        What :func:`seplearn.explain.tilt` returns.
    ax : Axes, optional
        Its place is taken by the panels; without it there is a new figure.
    max_features : int
        Features whose ``d_0 + d_j`` is drawn.
    max_bars : int
        Features whose spread is shown.

    Examples
    --------
    >>> from seplearn import TSLRegressor, datasets, explain, plots
    >>> X, y = datasets.masked_interaction(500, as_frame=True, random_state=0)
    >>> model = TSLRegressor(n_stages=1, random_state=0).fit(X, y)
    >>> figure = plots.plot_tilt(explain.tilt(model, 0))
    >>> figure.axes != []
    True
    """
    order = np.argsort(-tilt.spread, kind="stable")
    drawn = [int(j) for j in order if not tilt.constant[j]][:max_features]
    size = (3.6 * (1 + len(drawn)), max(3.0, 1.2 + 0.22 * min(len(order), max_bars)))
    axes, shown = panels(ax, 1, 1 + len(drawn), size)
    listed = order[:max_bars]
    colors = [QUIET if tilt.constant[j] else TILT for j in listed]
    names = [tilt.names[j] for j in listed]
    stage = stage_title(tilt.stage, tilt.stage_name)
    if np.isnan(tilt.intercept):
        axes[0, 0].set_axis_off()
        stage = stage_title(tilt.stage, tilt.stage_name, 26)
        words = f"{stage}\nhas no tilt: it is one product,\nor its factors have signs"
        axes[0, 0].text(0.5, 0.5, words, ha="center", va="center", color=QUIET)
        return shown
    title = f"{stage}\nspread of the tilt (grey: constant)"
    bars(axes[0, 0], names, tilt.spread[listed], color=colors, title=title)
    for panel, j in zip(axes[0, 1:], drawn, strict=True):
        _along(panel, tilt, j)
    return shown


def _along(ax: Axes, tilt: TiltDiagnostics, j: int) -> None:
    feature = FeatureAxis.of(tilt.names[j], tilt.axes[j], tilt.frequencies[j])
    total = tilt.intercept + tilt.tilts[j]
    feature.density(ax)
    if feature.is_categorical:
        for color, sign in ((UP, 1.0), (DOWN, -1.0)):
            draw(ax, feature, np.where(sign * total > 0, total, 0.0), color=color)
    else:
        draw(ax, feature, total, color=TILT)
        ends = feature.bounds
        for color, part in ((UP, np.maximum(total, 0)), (DOWN, np.minimum(total, 0))):
            ax.stairs(part[feature.shown], ends, fill=True, color=color, alpha=0.18, linewidth=0)
    flips = [flip for flip in tilt.flips[j] if feature.low <= flip.at <= feature.high]
    words = places(flips)
    for k, flip in enumerate(flips):
        ax.axvline(flip.at, color=QUIET, linewidth=0.9, linestyle="--")
        if len(flips) > _NAMED_FLIPS:
            continue
        where = ax.get_xaxis_transform()
        ax.text(flip.at, 0.14 + 0.08 * k, " " + words[k], fontsize=7, color="0.3", transform=where)
    ax.axhline(0.0, color=GRID, linewidth=0.8, zorder=0)
    feature.dress(ax)
    ax.set_title("\n$d_0 + d_j$: up or down", fontsize=10)
