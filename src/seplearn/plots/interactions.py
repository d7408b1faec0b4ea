"""What features do alone and together."""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.colors import PowerNorm

from seplearn.explain.interactions import Interactions
from seplearn.kernels.arrays import FloatArray
from seplearn.plots.bars import heatmap, name_rows
from seplearn.plots.style import BACKBONE, SIZE_MAP, panels, tidy

_NOTHING = 0.0005  # is not written


def plot_interactions(interactions: Interactions, ax: Any = None, *, max_features: int = 12) -> Any:
    """Draw Sobol indices of features and pairs, and Friedman's H of pairs.

    Colours follow the square root of the values and end at 1, so that a single large one does not
    make all others pale; a value above 1 is written into its cell. H is the share of a pair's joint
    effect that is not the sum of the two single ones. It is above 1 where the single effects cancel
    a part of the joint one: then they are large beside it, and a large H says little. The pairwise
    Sobol index beside it tells how much of the prediction that is.

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
        np.fill_diagonal(part, np.nan)
        heatmap(
            panel, names, names, part, cmap=SIZE_MAP, norm=_scale(part), title=title,
            words=[[_word(value) for value in row] for row in part],
        )  # fmt: skip
        if np.nanmax(part, initial=0.0) > 1.0 + _NOTHING:
            panel.set_title(f"{title}\n(above 1: single effects cancel)", fontsize=10)
    return shown


def _scale(values: FloatArray) -> PowerNorm:
    """Colours by the square root, up to 1: a value above is written into its cell."""
    top = float(np.nanmax(values, initial=0.0))
    return PowerNorm(0.5, 0.0, min(top, 1.0) if top > _NOTHING else 1.0)


def _word(value: float) -> str:
    """Two digits without the zero before the point; nothing for nothing."""
    if np.isnan(value) or value < _NOTHING:
        return ""
    return f"{value:.{2 if value >= 0.095 else 3}f}".lstrip("0")
