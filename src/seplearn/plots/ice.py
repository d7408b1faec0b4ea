"""Individual conditional expectation: a line per row, and their mean."""

from __future__ import annotations

from typing import Any

import numpy as np

from seplearn.explain.ice import IndividualExpectation
from seplearn.plots.panel import FeatureAxis, draw
from seplearn.plots.style import DOWN, GRID, QUIET, as_drawn, panels, stage_title


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

    Examples
    --------
    >>> from seplearn import TSLRegressor, datasets, explain, plots
    >>> X, y = datasets.masked_interaction(500, as_frame=True, random_state=0)
    >>> model = TSLRegressor(n_stages=1, random_state=0).fit(X, y)
    >>> figure = plots.plot_ice(explain.ice(model, "x1"), centred=True)
    >>> figure.axes != []
    True
    """
    axes, shown = panels(ax, 1, 1, (4.8, 3.4))
    panel = axes[0, 0]
    feature = FeatureAxis.of(ice.name, ice.axis, ice.frequencies)
    first = int(np.flatnonzero(ice.frequencies > 0)[0]) if centred else None
    values = ice.values - (0.0 if first is None else ice.values[:, [first]])
    faint: Any = {"color": QUIET, "alpha": min(0.6, 30.0 / len(values)), "linewidth": 0.7}
    mean = values.mean(axis=0)
    if feature.is_categorical:
        at = np.arange(len(feature.shown))
        panel.plot(at, values[:, feature.shown].T, **faint)
        panel.plot(at, mean[feature.shown], "o-", color=DOWN, linewidth=2, label="mean")
    else:
        feature.density(panel)
        ends = np.repeat(feature.bounds, 2)[1:-1]
        panel.plot(ends, np.repeat(values[:, feature.shown], 2, axis=1).T, **faint)
        if feature.missing:
            at = np.full(len(values), feature.missing_at)
            panel.plot(at, values[:, -1], "D", markersize=2, color=QUIET, alpha=faint["alpha"])
        draw(panel, feature, mean, color=DOWN, linewidth=2.2, label="mean", zorder=3)
    if centred or ice.stage is not None:
        panel.axhline(0.0, color=GRID, linewidth=0.8, zorder=0)
    feature.dress(panel)
    of = (
        as_drawn(ice.quantity)
        if ice.stage is None
        else stage_title(ice.stage, ice.stage_name or "", 30)
    )
    rows = "1 row" if len(values) == 1 else f"{len(values)} rows"
    between = " of " if ice.stage is None else "\n"
    panel.set_title(f"{of}{between}{rows}{', centred' if centred else ''}", fontsize=10)
    panel.set_ylabel(as_drawn(ice.quantity) if ice.stage is None else "contribution", fontsize=9)
    panel.legend(frameon=False, fontsize=8)
    return shown
