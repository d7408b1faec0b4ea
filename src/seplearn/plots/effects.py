"""Main effects: a panel per feature, all on one scale."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from seplearn.explain.effects import MainEffects
from seplearn.plots.multiples import as_multiples
from seplearn.plots.panel import FeatureAxis, draw
from seplearn.plots.style import GRID, TOTAL, panels, short

_COLUMNS = 3


def plot_main_effects(
    effects: MainEffects, ax: Any = None, *, max_features: int = 9, factors: bool = False
) -> Any:
    """Draw what every feature adds to the prediction by itself.

    Parameters
    ----------
    effects : MainEffects
        What :func:`seplearn.explain.main_effects` returns.
    ax : Axes, optional
        Its place is taken by the panels; without it there is a new figure.
    max_features : int
        Those that vary most are shown, this many at most.
    factors : bool
        For a model with a link: write what the odds, or the prediction, are multiplied by beside
        the axis, instead of what is added to log-odds or logs. The curves are the same.

    Examples
    --------
    >>> from seplearn import TSLRegressor, datasets, explain, plots
    >>> X, y = datasets.rents(600, random_state=0)
    >>> model = TSLRegressor(n_stages=1, main_effects=True, random_state=0).fit(X, y)
    >>> figure = plots.plot_main_effects(explain.main_effects(model))
    >>> figure.axes != []
    True
    """
    if factors and not effects.factor_name:
        raise ValueError("factors must be False for a model without a link, got True")
    order = np.argsort(-effects.spread, kind="stable")[: max(1, max_features)]
    chosen = [int(j) for j in order if effects.spread[j] > 0] or [int(order[0])]
    columns = min(len(chosen), _COLUMNS)
    rows = math.ceil(len(chosen) / columns)
    axes, shown = panels(ax, rows, columns, (3.5 * columns, 2.6 * rows), sharey=True)
    for panel, j in zip(axes.flat, chosen, strict=False):
        parts = effects.names[j], effects.axes[j], effects.frequencies[j], effects.values[j]
        feature = FeatureAxis.of(*parts)
        band = effects.bands[j] if effects.bands else None
        draw(panel, feature, effects.values[j], color=TOTAL, band=band, baseline=0.0)
        panel.axhline(0.0, color=GRID, linewidth=0.8, zorder=0)
        feature.density(panel)
        feature.dress(panel)
    for panel in axes.flat[len(chosen) :]:
        panel.set_axis_off()
    for panel in axes[:, 0]:
        if factors:
            as_multiples(panel)
        panel.set_ylabel(_label(effects, factors), fontsize=9)
    return shown


def _label(effects: MainEffects, factors: bool) -> str:
    if factors:
        return effects.factor_name
    is_sum = effects.quantity == "prediction"
    return "main effect" if is_sum else f"main effect on the\n{short(effects.quantity, 30)}"
