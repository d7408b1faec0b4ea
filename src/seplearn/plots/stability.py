"""How often statements of a summary hold when the model is fitted anew."""

from __future__ import annotations

from typing import Any

import numpy as np

from seplearn.explain.stability import Stability
from seplearn.plots.bars import name_rows
from seplearn.plots.style import BACKBONE, GRID, TILT, panels, tidy


def plot_stability(stability: Stability, ax: Any = None, *, max_statements: int = 40) -> Any:
    """Draw for every statement the share of refits that make it too.

    Parameters
    ----------
    stability : Stability
        What :func:`seplearn.explain.stability` returns.
    ax : Axes, optional
        Where to draw.
    max_statements : int
        How many are drawn.

    Examples
    --------
    >>> from seplearn import TSLRegressor, datasets, explain, plots
    >>> X, y = datasets.masked_interaction(200, as_frame=True, random_state=0)
    >>> model = TSLRegressor(n_stages=1, early_stopping=False, random_state=0).fit(X, y)
    >>> figure = plots.plot_stability(explain.stability(model, X, y, n_refits=1))
    >>> len(figure.axes)
    1
    """
    n = min(len(stability.statements), max(1, max_statements))
    axes, shown = panels(ax, 1, 1, (7.6, 1.3 + 0.24 * n))
    panel = axes[0, 0]
    at = np.arange(n)
    names = [
        one.told(stability.quantity) + ("" if own else " (not said by the model)")
        for one, own in zip(stability.statements[:n], stability.of_model[:n], strict=True)
    ]
    seeds, samples = stability.over_seeds[:n], stability.over_samples[:n]
    panel.hlines(at, seeds, samples, color=GRID, linewidth=2.0, zorder=1)
    # A ring around a dot: both stay to be seen where they are at the same place.
    panel.scatter(
        seeds, at, s=52, facecolors="none", edgecolors=TILT, linewidths=1.4, label="other seeds"
    )
    panel.scatter(samples, at, s=20, color=BACKBONE, zorder=3, label="other samples of the rows")
    panel.set_xlim(-0.04, 1.04)
    panel.xaxis.set_major_formatter(lambda value, _: f"{value:.0%}")
    panel.set_xlabel(f"of {stability.n_refits} fits make the statement too", fontsize=9)
    panel.legend(frameon=False, fontsize=8, ncols=2, loc="lower left", bbox_to_anchor=(0.0, 1.0))
    tidy(panel)
    name_rows(panel, names, 60)
    return shown
