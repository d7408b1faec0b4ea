"""What would change a prediction: a bar per change, as long as the change is large."""

from __future__ import annotations

from typing import Any

import numpy as np

from seplearn.explain.axes import exact_text, value_text
from seplearn.explain.counterfactual import Counterfactual
from seplearn.explain.nearest import Change
from seplearn.plots.style import STAGE_COLOURS, number, panels, short, tidy

_COLOURS = STAGE_COLOURS[0], STAGE_COLOURS[5]


def plot_counterfactual(result: Counterfactual, ax: Any = None, *, max_changes: int = 10) -> Any:
    """Draw the changes that reach the goal, the smallest on top; if none does, the nearest.

    Parameters
    ----------
    result : Counterfactual
        What :func:`seplearn.explain.counterfactual` returns.
    ax : Axes, optional
        Where to draw.
    max_changes : int
        This many at most.

    Examples
    --------
    >>> from seplearn import TSLRegressor, datasets, explain, plots
    >>> X, y = datasets.rents(600, random_state=0)
    >>> model = TSLRegressor(n_stages=2, random_state=0).fit(X, y)
    >>> result = explain.counterfactual(model, X, row=0, target=1200)
    >>> figure = plots.plot_counterfactual(result)
    >>> figure.axes != []
    True
    """
    shown = (result.changes or result.nearest)[: max(1, max_changes)]
    axes, drawn = panels(ax, 1, 1, (7.2, 1.4 + 0.42 * max(len(shown), 1)))
    panel = axes[0, 0]
    title = f"for {short(result.goal, 60)}; now {_now(result)}"
    if shown and not result.changes:
        title += "\nno change of one or two suffices: nearest"
    panel.set_title(title, fontsize=10)
    if not shown:
        words = "it is there already" if result.is_reached else "no change of one or two suffices"
        panel.text(0.5, 0.5, words, ha="center", transform=panel.transAxes, fontsize=9)
        panel.set_axis_off()
        return drawn
    for row, change in enumerate(shown):
        left = 0.0
        for size, color in zip(change.sizes, _COLOURS, strict=False):
            panel.barh(row, size, 0.62, left=left, color=color)
            left += size
        panel.text(left, row, f"  {number(change.prediction)}", va="center", fontsize=8)
    panel.set_yticks(np.arange(len(shown)), [_words(change) for change in shown], fontsize=8)
    panel.set_ylim(len(shown) - 0.5, -0.5)
    panel.margins(x=0.15)
    tidy(panel)
    panel.set_xlabel("size of the change: share of the training rows passed", fontsize=9)
    return drawn


def _now(result: Counterfactual) -> str:
    return number(result.prediction)


def _words(change: Change) -> str:
    parts = zip(change.names, change.before, change.after, strict=True)
    return "\n".join(
        f"{short(name, 20)}: {short(value_text(a), 16)} → {short(exact_text(b), 16)}"
        for name, a, b in parts
    )
