"""The bagged grids of a stage in three rows: extremes, those kept, all."""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib import colormaps
from matplotlib.axes import Axes
from matplotlib.cm import ScalarMappable
from matplotlib.colors import Normalize

from seplearn.explain.bags import BagCurves
from seplearn.kernels.arrays import FloatArray
from seplearn.plots.curves import log_scale
from seplearn.plots.panel import FeatureAxis, draw
from seplearn.plots.style import RANK_MAP, panels, stage_title

_LOW, _HIGH, _KEPT, _ANCHOR, _MEAN = "#3d8fb3", "#d1793b", "0.6", "#d1793b", "0.05"


def plot_bags(bags: BagCurves, ax: Any = None, *, max_features: int = 4, extremes: int = 20) -> Any:
    """Draw the backbones of all grids of a stage.

    First row: the grids with the smallest and with the largest total scale lambda_plus +
    lambda_minus; two bundles of different shape are two representations of one function. Second
    row: the grids that were averaged, and the one they resemble. Third row: all, coloured by scale.
    Black is the average.

    Parameters
    ----------
    bags : BagCurves
        What :func:`seplearn.explain.bags` returns.
    ax : Axes, optional
        Its place is taken by the panels; without it there is a new figure.
    max_features : int
        Features shown, those whose grids differ most.
    extremes : int
        Grids of either kind in the first row.

    Examples
    --------
    >>> from seplearn import TSLRegressor, datasets, explain, plots
    >>> X, y = datasets.masked_interaction(500, random_state=0)
    >>> model = TSLRegressor.paper(1, n_grids=20, keep_bags=True, random_state=0).fit(X, y)
    >>> figure = plots.plot_bags(explain.bags(model, 0), max_features=2)
    >>> figure.axes != []
    True
    """
    differ = [float(np.mean(np.log(curves).var(axis=0))) for curves in bags.backbones]
    chosen = np.sort(np.argsort(-np.array(differ), kind="stable")[:max_features])
    axes, shown = panels(ax, 3, len(chosen), (3.6 * len(chosen) + 0.6, 7.6), sharex="col")
    norm = Normalize(float(bags.scale.min()), float(bags.scale.max()) or 1.0)
    for column, j in zip(axes.T, chosen, strict=True):
        feature = FeatureAxis.of(bags.names[j], bags.axes[j], bags.frequencies[j])
        curves = bags.backbones[j]
        _extremes(column[0], feature, curves, bags.scale, extremes)
        _kept(column[1], feature, curves, bags)
        for grid in np.argsort(bags.scale):
            color = colormaps[RANK_MAP](norm(bags.scale[grid]))
            _thin(column[2], feature, curves[grid], color)
        for panel in column:
            draw(panel, feature, bags.combined[j], color=_MEAN, linewidth=1.8, baseline=1.0)
            log_scale(panel)
            feature.dress(panel)
    stage = stage_title(bags.stage, bags.stage_name)
    titles = (f"{stage}\nsmallest (blue) and largest (orange) scale", "averaged", "all grids")
    for panel, title in zip(axes[:, 0], titles, strict=True):
        panel.set_title(title, fontsize=9, loc="left")
        panel.set_ylabel("backbone", fontsize=9)
    bar = axes[0, 0].figure.colorbar(ScalarMappable(norm, RANK_MAP), ax=axes[2, :], pad=0.02)
    bar.set_label(r"$\lambda_+ + \lambda_-$", fontsize=8)
    bar.ax.tick_params(labelsize=7)
    return shown


def _thin(ax: Axes, feature: FeatureAxis, curve: FloatArray, color: Any) -> None:
    if feature.is_categorical:
        at = np.arange(len(feature.shown))
        ax.plot(at, curve[feature.shown], "_", color=color, markersize=12, alpha=0.5)
        return
    ax.stairs(
        curve[feature.shown], feature.bounds, baseline=None, color=color, linewidth=0.7, alpha=0.5
    )


def _extremes(
    ax: Axes, feature: FeatureAxis, curves: FloatArray, scale: FloatArray, most: int
) -> None:
    order = np.argsort(scale, kind="stable")
    most = min(most, len(order) // 2)
    for grids, color in ((order[:most], _LOW), (order[len(order) - most :], _HIGH)):
        for grid in grids:
            _thin(ax, feature, curves[grid], color)


def _kept(ax: Axes, feature: FeatureAxis, curves: FloatArray, bags: BagCurves) -> None:
    for grid in np.flatnonzero(bags.kept):
        _thin(ax, feature, curves[grid], _KEPT)
    draw(ax, feature, curves[bags.anchor], color=_ANCHOR, linewidth=1.4, baseline=1.0)
