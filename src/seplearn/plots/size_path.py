"""Errors on held-out rows against the number of stages."""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.ticker import MaxNLocator

from seplearn.explain.size_path import SizeChoice
from seplearn.kernels.arrays import FloatArray
from seplearn.model.record import SizePath
from seplearn.plots.style import BACKBONE, QUIET, UP, panels, tidy


def plot_size_path(choice: SizeChoice, ax: Any = None) -> Any:
    """Draw the loss of every size, with a band of one standard error, and mark the size taken.

    The band is that of the difference from the best size: sizes whose band reaches the line of the
    best predict held-out rows about as well as it.

    Parameters
    ----------
    choice : SizeChoice
        What :func:`seplearn.explain.size_path` returns.
    ax : Axes, optional
        Where to draw.

    Examples
    --------
    >>> from seplearn import TSLRegressor, datasets, explain, plots
    >>> X, y = datasets.masked_interaction(500, as_frame=True, random_state=0)
    >>> model = TSLRegressor(n_stages=2, random_state=0).fit(X, y)
    >>> figure = plots.plot_size_path(explain.size_path(model))
    >>> figure.axes != []
    True
    """
    axes, shown = panels(ax, 1, 1, (5.6, 3.4))
    panel = axes[0, 0]
    for path in choice.paths:
        taken = path.chosen is not None
        colour = BACKBONE if taken else QUIET
        losses, low, high = _drawn(path)
        sizes = np.arange(len(losses))
        name = "main effects, then stages" if path.main_effects else "stages"
        panel.plot(sizes, losses, "-o", color=colour, markersize=3.5, linewidth=1.4, label=name)
        if taken:
            panel.fill_between(sizes, low, high, color=colour, alpha=0.15, linewidth=0)
            panel.axhline(min(path.losses), color=colour, linewidth=0.8, linestyle=":")
            panel.plot(
                [path.chosen],
                [losses[path.chosen]],
                "o",
                markersize=11,
                markerfacecolor="none",
                markeredgecolor=UP,
                markeredgewidth=2.0,
                label="taken",
            )
    panel.set_ylim(*_range(choice))
    panel.xaxis.set_major_locator(MaxNLocator(integer=True))
    panel.set_xlabel("stages grown", fontsize=9)
    panel.set_ylabel("mean loss on held-out rows", fontsize=9)
    panel.legend(frameon=False, fontsize=8)
    tidy(panel)
    return shown


def _drawn(path: SizePath) -> list[FloatArray]:
    """The losses, and both ends of their band; gaps where they are infinite."""
    losses, errors = np.array(path.losses), np.array(path.errors)
    with np.errstate(over="ignore", invalid="ignore"):
        curves = losses, losses - errors, losses + errors
    return [np.where(np.isfinite(curve), curve, np.nan) for curve in curves]


def _range(choice: SizeChoice) -> tuple[float, float]:
    """Where the sizes differ: a constant, or a size that failed, may lie far above the others."""
    losses = np.concatenate([path.losses for path in choice.paths])
    losses = losses[np.isfinite(losses)]
    if len(losses) == 0:
        return 0.0, 1.0
    low, middle = losses.min(), float(np.median(losses))
    high = min(losses.max(), low + 6.0 * max(middle - low, 0.02 * low)) if low < middle else middle
    room = 0.08 * (high - low) or 0.05 * high or 1.0
    return low - room, high + room
