"""Importance of features for several classes: bars in a piece for every class."""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.ticker import MaxNLocator

from seplearn.explain.class_importance import ClassImportance
from seplearn.kernels.arrays import FloatArray
from seplearn.plots.bars import name_rows
from seplearn.plots.style import GRID, STAGE_COLOURS, in_legend, panels, tidy

_MOST_CLASSES = len(STAGE_COLOURS)


def plot_class_importance(
    importance: ClassImportance, ax: Any = None, *, max_features: int = 20
) -> Any:
    """Draw how far every feature moves the scores of all classes, in a piece for each.

    A bar is as long as the mean over classes. Of more than eight classes those that features move
    most are told apart.

    Parameters
    ----------
    importance : ClassImportance
        What :func:`seplearn.explain.importance` returns for a classifier of several classes.
    ax : Axes, optional
        Where to draw.
    max_features : int
        The most important features are shown, this many at most.

    Examples
    --------
    >>> import numpy as np
    >>> from seplearn import TSLClassifier, datasets, explain, plots
    >>> X, y = datasets.masked_interaction(500, as_frame=True, random_state=0)
    >>> model = TSLClassifier(1, early_stopping=False, random_state=0)
    >>> model = model.fit(X, np.digitize(y, [-1.0, 1.0]))
    >>> figure = plots.plot_class_importance(explain.importance(model))
    >>> figure.axes != []
    True
    """
    n_bars = min(len(importance.names), max(1, max_features))
    axes, shown = panels(ax, 1, 1, (6.6, 1.3 + 0.24 * max(n_bars, 4)))
    panel = axes[0, 0]
    draw_importance(panel, importance, n_bars)
    panel.legend(frameon=False, fontsize=8, loc="upper left", bbox_to_anchor=(1.0, 1.0))
    return shown


def draw_importance(ax: Axes, importance: ClassImportance, n_bars: int) -> None:
    """The bars of the most important features, and what their pieces are."""
    order = list(importance.order)[:n_bars]
    at, start = np.arange(len(order)), np.zeros(len(order))
    for name, sizes, colour in _pieces(importance):
        ax.barh(at, sizes[order], 0.75, left=start, color=colour, label=name)
        start = start + sizes[order]
    if importance.bands is not None:
        ax.hlines(at, *importance.bands[:, order], color="0.15", linewidth=1.3)
    name_rows(ax, [importance.names[j] for j in order])
    ax.xaxis.set_major_locator(MaxNLocator(4))
    tidy(ax)
    ax.set_title("importance, by class", fontsize=10)
    ax.set_xlabel("mean |Shapley value| of the log of a probability", fontsize=9)


def _pieces(importance: ClassImportance) -> list[tuple[str, FloatArray, str]]:
    """Name, sizes and colour of every class, and of all that are not told apart."""
    sizes = importance.of_class / len(importance.classes)
    moved = np.argsort(-sizes.sum(axis=1), kind="stable")
    pieces = [
        (in_legend(str(importance.classes[k])), sizes[k], STAGE_COLOURS[place])
        for place, k in enumerate(sorted(moved[:_MOST_CLASSES]))
    ]
    rest = moved[_MOST_CLASSES:]
    if len(rest):
        pieces.append((f"{len(rest)} more", sizes[rest].sum(axis=0), GRID))
    return pieces
