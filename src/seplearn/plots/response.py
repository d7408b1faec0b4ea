"""One feature on the scale of the prediction: averages, and odds ratios or relativities."""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.axes import Axes

from seplearn.explain.response import Response
from seplearn.plots.multiples import as_multiples
from seplearn.plots.panel import FeatureAxis, draw
from seplearn.plots.style import GRID, QUIET, TOTAL, UP, on_two_lines, panels, short


def plot_response(response: Response, ax: Any = None) -> Any:
    """Draw the average prediction against one feature, and beside it what it multiplies.

    Parameters
    ----------
    response : Response
        What :func:`seplearn.explain.response` returns.
    ax : Axes, optional
        Its place is taken by two panels, of a model without a link by one.

    Examples
    --------
    >>> from seplearn import TSLClassifier, datasets, explain, plots
    >>> X, y = datasets.masked_interaction(500, as_frame=True, random_state=0)
    >>> model = TSLClassifier(1, early_stopping=False, random_state=0)
    >>> model = model.fit(X, y > 0)
    >>> figure = plots.plot_response(explain.response(model, "x3"))
    >>> len(figure.axes)
    2
    """
    columns = 1 if response.factor is None else 2
    axes, shown = panels(ax, 1, columns, (4.4 * columns, 3.3))
    feature = FeatureAxis.of(response.name, response.axis, response.frequencies, response.average)
    draw_average(axes[0, 0], response, feature)
    if response.factor is not None:
        draw_factor(axes[0, 1], response, feature, response.factor)
    return shown


def draw_average(ax: Axes, response: Response, feature: FeatureAxis) -> None:
    """The average prediction against the feature, into a panel."""
    feature.density(ax)
    draw(
        ax, feature, response.average, color=TOTAL, band=response.average_band,
        baseline=response.mean,
    )  # fmt: skip
    ax.axhline(response.mean, color=QUIET, linewidth=0.8, linestyle=":", zorder=0)
    feature.dress(ax)
    ax.set_ylabel(on_two_lines(response.response, 34), fontsize=9)
    ax.set_title(f"average over {response.n_rows:,} rows (dotted: their mean)", fontsize=9)


def draw_factor(ax: Axes, response: Response, feature: FeatureAxis, factor: Any) -> None:
    """Odds ratios or relativities, into a panel."""
    feature.density(ax)
    band = response.factor_band
    draw(
        ax, feature, np.log(factor), color=UP, band=None if band is None else np.log(band),
        baseline=0.0,
    )  # fmt: skip
    ax.axhline(0.0, color=GRID, linewidth=0.8, zorder=0)
    feature.dress(ax)
    as_multiples(ax)
    beside = "the mean" if response.base == "mean" else short(response.base, 20)
    ax.set_ylabel(response.factor_name, fontsize=9)
    ax.set_title(f"{response.factor_name}, one at {beside}", fontsize=9)
