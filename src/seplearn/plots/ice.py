"""Individual conditional expectation: a line per row, and their mean."""

from __future__ import annotations

from typing import Any

import numpy as np

from seplearn.explain.ice import IndividualExpectation
from seplearn.plots.panel import FeatureAxis, draw
from seplearn.plots.style import DOWN, GRID, QUIET, panels


def plot_ice(ice: IndividualExpectation, ax: Any = None, *, centred: bool = False) -> Any:
    """Draw a line per row and their mean, which is the partial dependence over these rows.

    Parameters
    ----------
    ice : IndividualExpectation
        What :func:`seplearn.explain.ice` returns.
    ax : Axes, optional
        Where to draw.
    centred : bool
        Whether every line starts at zero, which shows how shapes differ.
    """
    axes, shown = panels(ax, 1, 1, (4.8, 3.4))
    panel = axes[0, 0]
    feature = FeatureAxis.of(ice.name, ice.axis, ice.frequencies)
    first = int(np.flatnonzero(ice.frequencies > 0)[0]) if centred else None
    values = ice.values - (0.0 if first is None else ice.values[:, [first]])
    faint: Any = {"color": QUIET, "alpha": min(0.6, 30.0 / len(values)), "linewidth": 0.7}
    if feature.is_categorical:
        panel.plot(np.arange(len(feature.shown)), values[:, feature.shown].T, **faint)
        mean = values.mean(axis=0)[feature.shown]
        panel.plot(np.arange(len(feature.shown)), mean, "o-", color=DOWN, linewidth=2, label="mean")
    else:
        feature.density(panel)
        middles = 0.5 * (feature.bounds[:-1] + feature.bounds[1:])
        panel.plot(middles, values[:, feature.shown].T, **faint)
        if feature.missing:
            at = np.full(len(values), feature.missing_at)
            panel.plot(at, values[:, -1], "D", markersize=2, color=QUIET, alpha=faint["alpha"])
        draw(panel, feature, values.mean(axis=0), color=DOWN, linewidth=2.2, label="mean")
    if centred or ice.stage is not None:
        panel.axhline(0.0, color=GRID, linewidth=0.8, zorder=0)
    feature.dress(panel)
    of = "prediction" if ice.stage is None else f"stage {ice.stage}"
    panel.set_title(f"{of} of {len(values)} rows{', centred' if centred else ''}", fontsize=10)
    panel.legend(frameon=False, fontsize=8)
    return shown
