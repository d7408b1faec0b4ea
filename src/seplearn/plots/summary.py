"""The whole model on a page: what matters as bars, what it says as sentences."""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.axes import Axes

from seplearn.explain.axes import folded
from seplearn.explain.class_summary import ClassSummary
from seplearn.explain.summary import Summary
from seplearn.plots.bars import bars
from seplearn.plots.class_importance import draw_importance
from seplearn.plots.style import TOTAL, as_drawn, panels, unit_of

_LETTERS = 106  # on a line of the text
_LINE = 0.165  # inches


def plot_summary(summary: Summary | ClassSummary, ax: Any = None, *, max_features: int = 12) -> Any:
    """Draw the importance of features beside what the model says in sentences.

    Parameters
    ----------
    summary : Summary or ClassSummary
        What :func:`seplearn.explain.summary` returns.
    ax : Axes, optional
        Its place is taken by the two panels; without it there is a new figure.
    max_features : int
        Bars at most.

    Examples
    --------
    >>> from seplearn import TSLRegressor, datasets, explain, plots
    >>> X, y = datasets.masked_interaction(500, as_frame=True, random_state=0)
    >>> model = TSLRegressor(n_stages=1, random_state=0).fit(X, y)
    >>> figure = plots.plot_summary(explain.summary(model))
    >>> len(figure.axes)
    2
    """
    lines = _lines(summary)
    n_bars = min(len(summary.features), max(1, max_features))
    height = max(1.2 + 0.24 * max(n_bars, 4), 0.5 + _LINE * len(lines))
    axes, shown = panels(ax, 1, 2, (12.0, height), width_ratios=(1.0, 2.0))
    left, right = axes[0]
    if isinstance(summary, ClassSummary):
        draw_importance(left, summary.importance, n_bars)
        left.legend(frameon=False, fontsize=8, loc="lower right")
        n_bars += len(summary.classes)  # so many lines are free for the legend
    else:
        _draw_bars(left, summary, n_bars)
    left.set_ylim(max(n_bars, 4, 0.7 * len(lines) / 2) - 0.5, -0.5)
    right.set_axis_off()
    text = as_drawn("\n".join(lines))
    words = right.text(
        0.0, 1.0, text, va="top", fontsize=8.5, linespacing=1.3, transform=right.transAxes
    )
    words.set_in_layout(False)  # a long text would leave no room for the bars
    return shown


def _draw_bars(ax: Axes, summary: Summary, n_bars: int) -> None:
    features = summary.features[:n_bars]
    sizes = np.array([one.importance for one in features])
    bars(ax, [one.name for one in features], sizes, color=TOTAL, title="importance")
    ax.set_xlabel(f"mean |Shapley value|, {unit_of(summary.quantity)}", fontsize=9)


def _lines(summary: Summary | ClassSummary) -> list[str]:
    lines: list[str] = []
    for heading, sentences in summary.sections:
        lines += [""] * bool(lines) + [f"{heading}:"] * bool(heading)
        for sentence in sentences:
            start = "   " if heading else ""
            lines += folded(sentence, _LETTERS, start, start * 2)
    return lines
