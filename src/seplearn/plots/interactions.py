"""What features do alone and together."""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.colors import Normalize

from seplearn.explain.interactions import Interactions
from seplearn.plots.bars import heatmap, name_rows
from seplearn.plots.style import BACKBONE, SIZE_MAP, panels, tidy


def plot_interactions(interactions: Interactions, ax: Any = None, *, max_features: int = 12) -> Any:
    """Draw Sobol indices of features and pairs, and Friedman's H of pairs.

    Parameters
    ----------
    interactions : Interactions
        What :func:`seplearn.explain.interactions` returns.
    ax : Axes, optional
        Its place is taken by the panels; without it there is a new figure.
    max_features : int
        Those with the largest total index are shown, this many at most.

    Examples
    --------
    >>> from seplearn import TSLRegressor, datasets, explain, plots
    >>> X, y = datasets.masked_interaction(500, as_frame=True, random_state=0)
    >>> model = TSLRegressor(n_stages=1, random_state=0).fit(X, y)
    >>> figure = plots.plot_interactions(explain.interactions(model))
    >>> figure.axes != []
    True
    """
    order = np.argsort(-interactions.total, kind="stable")[:max_features]
    names = [interactions.names[j] for j in order]
    side = 2.2 + 0.27 * max(len(order), 5)
    axes, shown = panels(ax, 1, 3, (3.4 + 2.3 * side, side))
    panel = axes[0, 0]
    at = np.arange(len(order))
    panel.barh(at, interactions.total[order], 0.75, color="0.8", label="total")
    panel.barh(at, interactions.main[order], 0.45, color=BACKBONE, label="alone")
    name_rows(panel, names)
    panel.legend(frameon=False, fontsize=8, loc="lower right")
    panel.set_title("Sobol index", fontsize=10)
    tidy(panel)
    parts = ((interactions.pairwise, "pairwise Sobol index"), (interactions.h, "Friedman's H"))
    for panel, (values, title) in zip(axes[0, 1:], parts, strict=True):
        part = values[np.ix_(order, order)].copy()
        top = float(np.nanmax(part, initial=0.0)) or 1.0
        np.fill_diagonal(part, np.nan)
        words = [[_word(value) for value in row] for row in part]
        heatmap(
            panel, names, names, part, cmap=SIZE_MAP, norm=Normalize(0.0, top), title=title,
            words=words,
        )  # fmt: skip
    return shown


def _word(value: float) -> str:
    """Two digits without the zero before the point; nothing for nothing."""
    if np.isnan(value) or value < 0.0005:
        return ""
    return f"{value:.{2 if value >= 0.095 else 3}f}".lstrip("0")
