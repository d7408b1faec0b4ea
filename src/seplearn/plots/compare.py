"""Two models side by side: predictions against each other, what differs, curves overlaid."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
from matplotlib.axes import Axes

from seplearn.explain.axes import folded
from seplearn.explain.compare import Comparison
from seplearn.explain.response import Response
from seplearn.kernels.arrays import FloatArray
from seplearn.plots.bars import bars
from seplearn.plots.panel import FeatureAxis, draw
from seplearn.plots.style import QUIET, STAGE_COLOURS, TOTAL, as_drawn, panels, short, tidy, unit_of

_COLOURS = STAGE_COLOURS[0], STAGE_COLOURS[1]
_COLUMNS = 3
_MOST_POINTS = 2_000


def plot_comparison(
    comparison: Comparison, ax: Any = None, *, max_curves: int = 4, max_features: int = 10
) -> Any:
    """Draw predictions against each other, what makes them differ, and curves overlaid.

    Parameters
    ----------
    comparison : Comparison
        What :func:`seplearn.explain.compare` returns.
    ax : Axes, optional
        Its place is taken by the panels.
    max_curves : int
        Features of which the average prediction of both is drawn, at most.
    max_features : int
        Bars at most.

    Examples
    --------
    >>> from seplearn import TSLRegressor, datasets, explain, plots
    >>> X, y = datasets.rents(400, random_state=0)
    >>> small, large = (TSLRegressor(n, random_state=0).fit(X, y) for n in (1, 2))
    >>> figure = plots.plot_comparison(explain.compare(small, large, X))
    >>> figure.axes != []
    True
    """
    curves = [
        (name, pair)
        for name, pair, size in zip(
            comparison.names, comparison.curves, comparison.sizes, strict=False
        )
        if size > 0.0
    ][:max_curves]
    count = 2 + len(curves)
    columns = min(count, _COLUMNS)
    rows = math.ceil(count / columns)
    axes, shown = panels(ax, rows, columns, (4.2 * columns, 3.4 * rows))
    first, second, *rest = axes.flat
    _scatter(first, comparison)
    names = list(comparison.names[:max_features])
    bars(second, names, comparison.sizes[: len(names)], color=TOTAL, title="what differs")
    unit = unit_of(comparison.quantity)
    second.set_xlabel(f"mean |difference| of Shapley values,\n{unit}", fontsize=8)
    for k, panel in enumerate(rest):
        if k < len(curves):
            _overlay(panel, comparison, *curves[k])
        else:
            panel.set_axis_off()
    if ax is None:
        lines = [line for text in comparison.sentences for line in folded(text, 38 * columns)]
        shown.set_size_inches(4.2 * columns, 3.4 * rows + 0.17 * len(lines) + 0.1)
        shown.suptitle(as_drawn("\n".join(lines)), fontsize=9, ha="left", x=0.02)
    return shown


def _scatter(ax: Axes, comparison: Comparison) -> None:
    step = max(1, comparison.predictions.shape[1] // _MOST_POINTS)
    first, second = comparison.predictions[:, ::step]
    ax.scatter(first, second, s=6, color=TOTAL, alpha=0.4, linewidths=0, rasterized=True)
    ends = float(min(first.min(), second.min())), float(max(first.max(), second.max()))
    ax.plot(ends, ends, color=QUIET, linewidth=0.8, linestyle="--", zorder=0)
    tidy(ax)
    ax.set_xlabel(short(comparison.models[0], 40), fontsize=9)
    ax.set_ylabel(short(comparison.models[1], 40), fontsize=9)
    ax.set_title(f"{short(comparison.response, 30)} of both", fontsize=10)


def _by_level(response: Response, feature: FeatureAxis) -> FloatArray:
    """The averages of a model at the levels of another; NaN for those that it does not have."""
    labels = response.axis.describe().labels
    known = dict(zip(labels, response.average, strict=True))
    return np.array([known.get(label, np.nan) for label in feature.axis.describe().labels])


def _overlay(
    ax: Axes, comparison: Comparison, name: str, pair: tuple[Response | None, Response | None]
) -> None:
    present = [(k, one) for k, one in enumerate(pair) if one is not None]
    features = [FeatureAxis.of(name, one.axis, one.frequencies) for _, one in present]
    if not all(feature.is_log for feature in features):
        features = [replace(feature, may_be_log=False) for feature in features]
    features[0].density(ax)
    baseline = present[0][1].mean  # one for both: where bars end is what can be compared
    if features[0].is_categorical:
        ax.axhline(baseline, color=QUIET, linewidth=0.8, linestyle=":", zorder=0)
    for place, ((k, one), feature) in enumerate(zip(present, features, strict=True)):
        style: Any = {} if feature.is_categorical else {"linestyle": ("-", "--")[k]}
        has_levels = feature.is_categorical and features[0].is_categorical
        axis = features[0] if has_levels else feature
        average = _by_level(one, axis) if has_levels else one.average
        draw(
            ax, axis, average, color=_COLOURS[k], baseline=baseline,
            slot=(place, len(present)), label=short(comparison.models[k], 26), **style,
        )  # fmt: skip
    features[0].dress(ax)
    if not features[0].is_categorical:
        ends = [(feature.low, feature.end) for feature in features]
        ax.set_xlim(min(low for low, _ in ends), max(end for _, end in ends))
    else:
        ax.margins(y=0.3)
    ax.set_ylabel(short(comparison.response, 34), fontsize=9)
    ax.set_title(short(name, 30), fontsize=10)
    ax.legend(frameon=False, fontsize=7, handlelength=1.6)
