"""Mean probabilities of several classes along one feature: bands that fill the whole height."""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.axes import Axes

from seplearn.explain.class_response import ClassResponse
from seplearn.kernels.arrays import FloatArray
from seplearn.plots.panel import MISSING_AT, FeatureAxis
from seplearn.plots.style import GRID, STAGE_COLOURS, in_legend, panels

_MOST_CLASSES = len(STAGE_COLOURS)
_BAR = 0.8


def plot_class_response(response: ClassResponse, ax: Any = None) -> Any:
    """Draw the mean probabilities of all classes against one feature, one upon the other.

    Of more than eight classes those with the largest mean probability are told apart.

    Parameters
    ----------
    response : ClassResponse
        What :func:`seplearn.explain.response` returns for a classifier of several classes.
    ax : Axes, optional
        Where to draw.

    Examples
    --------
    >>> import numpy as np
    >>> from seplearn import TSLClassifier, datasets, explain, plots
    >>> X, y = datasets.masked_interaction(500, as_frame=True, random_state=0)
    >>> model = TSLClassifier(1, early_stopping=False, random_state=0)
    >>> model = model.fit(X, np.digitize(y, [-1.0, 1.0]))
    >>> figure = plots.plot_class_response(explain.response(model, "x3"))
    >>> figure.axes != []
    True
    """
    axes, shown = panels(ax, 1, 1, (5.6, 3.4))
    panel = axes[0, 0]
    feature = FeatureAxis.of(response.name, response.axis, response.frequencies)
    below = np.zeros(response.average.shape[1])
    for name, shares, color in _bands(response):
        _draw_band(panel, feature, below, below + shares, color, name)
        below = below + shares
    feature.dress(panel)
    panel.set_ylim(0.0, 1.0)
    panel.set_ylabel("mean probability", fontsize=9)
    panel.set_title(f"average over {response.n_rows:,} rows", fontsize=9)
    handles, names = panel.get_legend_handles_labels()
    panel.legend(  # from the top, as the bands lie
        handles[::-1], names[::-1], frameon=False, fontsize=8, loc="upper left",
        bbox_to_anchor=(1.0, 1.0),
    )  # fmt: skip
    return shown


def _bands(response: ClassResponse) -> list[tuple[str, FloatArray, str]]:
    """Name, shares and colour of every class, and of all that are not told apart."""
    often = np.argsort(-response.mean, kind="stable")
    told = sorted(often[:_MOST_CLASSES])
    bands = [
        (in_legend(str(response.classes[k])), response.average[k], STAGE_COLOURS[place])
        for place, k in enumerate(told)
    ]
    rest = often[_MOST_CLASSES:]
    if len(rest):
        name = f"{len(rest)} rarer class{'es' * (len(rest) > 1)}"
        bands.append((name, response.average[rest].sum(axis=0), GRID))
    return bands


def _draw_band(
    ax: Axes, feature: FeatureAxis, low: FloatArray, high: FloatArray, color: str, label: str
) -> None:
    if feature.is_categorical:
        height = (high - low)[feature.shown]
        ax.bar(np.arange(len(height)), height, _BAR, bottom=low[feature.shown], color=color,
               label=label)  # fmt: skip
        return
    ax.stairs(
        high[feature.shown], feature.bounds, baseline=low[feature.shown], fill=True, color=color,
        label=label,
    )  # fmt: skip
    if feature.missing:
        ends = [feature.beyond(share * MISSING_AT) for share in (0.7, 1.3)]
        ax.fill_between(ends, low[-1], high[-1], color=color, linewidth=0)
