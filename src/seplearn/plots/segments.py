"""Where a model is bad: errors and mean residuals by parts of features."""

from __future__ import annotations

from typing import Any

import numpy as np

from seplearn.explain.segments import Segments
from seplearn.plots.bars import name_rows
from seplearn.plots.style import GRID, TILT, TOTAL, panels, tidy


def plot_segments(segments: Segments, ax: Any = None, *, max_segments: int = 20) -> Any:
    """Draw the error of the worst parts with its band, and beside it their mean residual.

    Parameters
    ----------
    segments : Segments
        What :func:`seplearn.explain.segments` returns.
    ax : Axes, optional
        Its place is taken by two panels.
    max_segments : int
        How many parts are drawn.

    Examples
    --------
    >>> from seplearn import TSLRegressor, datasets, explain, plots
    >>> X, y = datasets.masked_interaction(500, as_frame=True, random_state=0)
    >>> model = TSLRegressor(n_stages=1, random_state=0).fit(X, y)
    >>> figure = plots.plot_segments(explain.segments(model, X, y))
    >>> len(figure.axes)
    2
    """
    n = min(len(segments.error), max(1, max_segments))
    axes, shown = panels(ax, 1, 2, (8.0, 1.2 + 0.26 * n), sharey=True)
    left, right = axes[0]
    names = [
        f"{feature}: {part}"
        for feature, part in zip(segments.features[:n], segments.segments[:n], strict=True)
    ]
    at, off = np.arange(n), "mean of outcome minus prediction"
    if segments.is_of_likeliest:
        off = "share right minus mean certainty"
    elif segments.outcome_is_share:
        off = "quantile of outcome minus prediction"
    for panel, centre, low, high, everywhere, colour, title in (
        (
            left, segments.error, segments.error_lower, segments.error_upper, segments.overall,
            TOTAL, f"{segments.measure} (line: all {segments.n_rows:,} rows)",
        ),
        (
            right, segments.residual, segments.residual_lower, segments.residual_upper, 0.0, TILT,
            off,
        ),
    ):  # fmt: skip
        panel.axvline(everywhere, color=GRID, linewidth=1.0, zorder=0)
        panel.hlines(at, low[:n], high[:n], color=colour, linewidth=1.3)
        panel.scatter(centre[:n], at, color=colour, s=22, zorder=3)
        tidy(panel)
        panel.set_title(title, fontsize=9)
    name_rows(left, names, 40)
    return shown
