"""Feature importance: a bar per feature, and the six panels of the paper."""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.colors import Normalize

from seplearn.explain.importance import Importance
from seplearn.explain.paper_importance import PaperImportance
from seplearn.kernels.arrays import FloatArray
from seplearn.plots.bars import bars, heatmap, name_stages
from seplearn.plots.style import (
    BACKBONE,
    SIZE_MAP,
    TILT,
    TOTAL,
    panels,
    stage_colour,
    tidy,
    unit_of,
)


def plot_importance(importance: Importance, ax: Any = None, *, max_features: int = 20) -> Any:
    """Draw how far every feature moves a prediction on average, in the unit of y.

    Parameters
    ----------
    importance : Importance
        What :func:`seplearn.explain.importance` returns.
    ax : Axes, optional
        Where to draw.
    max_features : int
        The most important features are shown, this many at most.

    Examples
    --------
    >>> from seplearn import TSLRegressor, datasets, explain, plots
    >>> X, y = datasets.masked_interaction(500, as_frame=True, random_state=0)
    >>> model = TSLRegressor(n_stages=1, random_state=0).fit(X, y)
    >>> figure = plots.plot_importance(explain.importance(model))
    >>> figure.axes != []
    True
    """
    order = list(importance.order)[: max(1, max_features)]
    axes, shown = panels(ax, 1, 1, (5.6, 1.3 + 0.24 * max(len(order), 4)))
    band = None if importance.bands is None else importance.bands[:, order]
    panel, names = axes[0, 0], [importance.names[j] for j in order]
    bars(panel, names, importance.values[order], color=TOTAL, band=band, title="importance")
    panel.set_xlabel(f"mean |Shapley value|, {unit_of(importance.quantity)}", fontsize=9)
    return shown


def plot_paper_importance(
    importance: PaperImportance, ax: Any = None, *, max_features: int = 20
) -> Any:
    """Draw backbone and tilt variances per stage, their sums over stages, and stage weights.

    Parameters
    ----------
    importance : PaperImportance
        What :func:`seplearn.explain.importance` returns for ``kind="paper"``.
    ax : Axes, optional
        Its place is taken by the panels; without it there is a new figure.
    max_features : int
        The most important features are shown, this many at most.

    Examples
    --------
    >>> from seplearn import TSLRegressor, datasets, explain, plots
    >>> X, y = datasets.masked_interaction(500, as_frame=True, random_state=0)
    >>> model = TSLRegressor(n_stages=1, random_state=0).fit(X, y)
    >>> figure = plots.plot_paper_importance(explain.importance(model, kind="paper"))
    >>> figure.axes != []
    True
    """
    order = np.argsort(-importance.combined, kind="stable")[:max_features]
    height = 3.1 + 0.22 * max(len(order), 6)
    axes, shown = panels(ax, 2, 3, (12.0, 2 * height))
    names = [importance.names[j] for j in order]
    stages = [f"{s}: {name}" for s, name in enumerate(importance.stage_names)]
    for panel, part in zip(axes[0, :2], ("backbone", "tilt"), strict=True):
        variances: FloatArray = getattr(importance, part)[:, order].T
        _stage_heatmap(panel, names, stages, variances, f"{part} variance")
    parts = (("total_backbone", BACKBONE), ("total_tilt", TILT), ("combined", TOTAL))
    for panel, (part, color) in zip((axes[0, 2], axes[1, 0], axes[1, 1]), parts, strict=True):
        values: FloatArray = getattr(importance, part)
        own = np.argsort(-values, kind="stable")[:max_features]
        band = importance.bands.get(part)
        title = part.replace("_", " ")
        if part == "combined":
            title = rf"combined: backbone + {importance.gamma:g} $\times$ tilt"
        bars(
            panel, [importance.names[j] for j in own], values[own], color=color, title=title,
            band=None if band is None else band[:, own],
        )  # fmt: skip
    _stage_weights(axes[1, 2], importance)
    return shown


def _stage_heatmap(
    panel: Any, names: list[str], stages: list[str], values: FloatArray, title: str
) -> None:
    top = float(values.max(initial=0.0)) or 1.0
    norm = Normalize(0.0, top)
    words = [[f"{value:.2g}" if value > 1e-3 * top else "" for value in row] for row in values]
    heatmap(
        panel, names, stages, values, cmap=SIZE_MAP, norm=norm, title=title, words=words,
        longest_column=28,
    )  # fmt: skip
    panel.set_xlabel("stage", fontsize=9)


def _stage_weights(panel: Any, importance: PaperImportance) -> None:
    """A bar per stage, and before them one of the main effects, if there are any."""
    at = np.arange(len(importance.stage_weights))
    panel.bar(at, importance.stage_weights, 0.75, color=[stage_colour(int(s)) for s in at])
    has_effects = importance.effect_spread is not None
    if has_effects:
        panel.bar(-1, importance.effects_weight, 0.75, color=TOTAL)
    panel.set_title("stage weights", fontsize=10)
    tidy(panel)
    name_stages(panel, importance.stage_names, has_effects)
