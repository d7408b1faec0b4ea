"""How good a model is: calibration, ROC, precision and recall, confusion, gain."""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.ticker import FuncFormatter

from seplearn._errors import out_of_range, wrong_type
from seplearn.kernels.arrays import FloatArray
from seplearn.losses.quantile import COVERED
from seplearn.model.evaluation import ClassEvaluation, Evaluation
from seplearn.plots.style import (
    DOWN,
    QUIET,
    SIZE_MAP,
    STAGE_COLOURS,
    TOTAL,
    number,
    panels,
    short,
    short_names,
    tidy,
)

_SIZE = (4.2, 3.8)
_MOST_LINES = len(STAGE_COLOURS)  # of classes in a panel
_MOST_PANELS, _COLUMNS, _SMALL = 12, 4, (2.9, 2.7)
_MOST_NUMBERS = 12  # classes in a confusion matrix whose cells have room for numbers
_FEWEST_ROWS = 0.01  # share of them: of fewer the lift is noise
_DARK = 0.55  # of the largest share: on darker cells numbers are white


def plot_calibration(evaluation: Evaluation | ClassEvaluation, ax: Any = None) -> Any:
    """Draw mean predictions against mean outcomes in groups of rows, with 90 % intervals.

    Of several classes each has a panel, of more than twelve those with the most rows.

    Parameters
    ----------
    evaluation : Evaluation or ClassEvaluation
        What ``evaluate`` returns, or a model's ``evaluation_``.
    ax : Axes, optional
        Where to draw.

    Examples
    --------
    >>> from seplearn import TSLRegressor, datasets, plots
    >>> X, y = datasets.masked_interaction(800, random_state=0)
    >>> model = TSLRegressor(n_stages=1, random_state=0).fit(X[:500], y[:500])
    >>> figure = plots.plot_calibration(model.evaluate(X[500:], y[500:]))
    >>> figure.axes != []
    True
    """
    if isinstance(evaluation, ClassEvaluation):
        return _calibration_of_classes(evaluation, ax)
    panel, shown = _panel(evaluation, ax)
    _draw_calibration(panel, evaluation)
    panel.set_title(f"calibration, {evaluation.n_rows:,} rows", fontsize=10)
    return shown


def _calibration_of_classes(evaluation: ClassEvaluation, ax: Any) -> Any:
    frequent = np.argsort([-one.outcome_above[-1] for one in evaluation.of_class], kind="stable")
    chosen = [evaluation.of_class[k] for k in sorted(frequent[:_MOST_PANELS])]
    columns = min(_COLUMNS, len(chosen))
    rows = -(-len(chosen) // columns)
    size = (_SMALL[0] * columns, _SMALL[1] * rows)
    axes, shown = panels(ax, rows, columns, size)
    for panel, one in zip(axes.flat, chosen, strict=False):
        _draw_calibration(panel, one, has_legend=panel is axes.flat[0])
        panel.set_title(_second(one), fontsize=10)
        panel.set_xlabel("mean probability", fontsize=9)
        panel.set_ylabel("share of the rows", fontsize=9)
    for panel in axes.flat[len(chosen) :]:
        panel.set_axis_off()
    return shown


def _draw_calibration(panel: Axes, evaluation: Evaluation, has_legend: bool = True) -> None:
    predicted, actual = np.array(evaluation.predicted), np.array(evaluation.actual)
    ends = [*predicted, *actual, *evaluation.actual_lower, *evaluation.actual_upper]
    low, high = min(ends), max(ends)
    room = 0.04 * (high - low) or 0.1 * abs(high) or 1.0
    panel.plot([low, high], [low, high], color=QUIET, linestyle="--", linewidth=0.9, zorder=1)
    if evaluation.actual_lower:
        panel.vlines(
            predicted, evaluation.actual_lower, evaluation.actual_upper, color=TOTAL, alpha=0.4,
            linewidth=2.0, label="90 % interval",
        )  # fmt: skip
    panel.plot(predicted, actual, "o", color=TOTAL, markersize=5.5, zorder=3)
    panel.set_xlim(low - room, high + room)
    panel.set_ylim(low - room, high + room)
    what = f"probability of {_second(evaluation)}" if evaluation.classes else "prediction"
    panel.set_xlabel(f"mean {what} of a group of rows", fontsize=9)
    told = "quantile of the outcomes" if COVERED in evaluation.scores else "mean outcome"
    share = f"share of {_second(evaluation)}" if evaluation.classes else told
    panel.set_ylabel(share, fontsize=9)
    if evaluation.actual_lower and has_legend:
        panel.legend(frameon=False, fontsize=8, loc="upper left")
    tidy(panel)


def plot_roc(evaluation: Evaluation | ClassEvaluation, ax: Any = None) -> Any:
    """Draw the ROC curve of a classifier.

    Of several classes each has a curve, told apart from all others; of more than eight those with
    the smallest area. ``evaluation.of_class[k]`` draws one alone.

    Parameters
    ----------
    evaluation : Evaluation or ClassEvaluation
        What ``evaluate`` returns, or a model's ``evaluation_``.
    ax : Axes, optional
        Where to draw.

    Examples
    --------
    >>> from seplearn import TSLClassifier, datasets, plots
    >>> X, y = datasets.masked_interaction(600, random_state=0)
    >>> model = TSLClassifier(1, early_stopping=False, random_state=0)
    >>> model = model.fit(X[:400], y[:400] > 0)
    >>> figure = plots.plot_roc(model.evaluate(X[400:], y[400:] > 0))
    >>> figure.axes != []
    True
    """
    panel, shown = _panel(evaluation, ax)
    panel.plot([0, 1], [0, 1], color=QUIET, linestyle="--", linewidth=0.9)
    if isinstance(evaluation, ClassEvaluation):
        lines = [
            (*one.roc(), f"{name}, AUC {one.scores['AUC']:.3f}") for one, name in _lines(evaluation)
        ]
        _draw_classes(panel, lines, "lower right")
        panel.set_xlabel("share of all others called a class", fontsize=9)
        panel.set_ylabel("share of the class called so", fontsize=9)
        panel.set_title(f"ROC, {_how_many(evaluation)}", fontsize=10)
        return shown
    false, true = evaluation.roc()
    panel.plot(false, true, color=TOTAL, linewidth=1.8)
    counts = evaluation.confusion()
    at = (
        counts.false_alarms / max(counts.false_alarms + counts.rejections, 1e-300),
        counts.hits / max(counts.hits + counts.misses, 1e-300),
    )
    panel.plot(*at, "o", color=DOWN, markersize=6, label="at 0.5")
    first, second = _first(evaluation), _second(evaluation)
    panel.set_xlabel(f"share of {first} called {second}", fontsize=9)
    panel.set_ylabel(f"share of {second} called {second}", fontsize=9)
    panel.set_title(f"ROC, AUC {evaluation.scores['AUC']:.3f}", fontsize=10)
    panel.legend(frameon=False, fontsize=8, loc="lower right")
    _shares(panel)
    return shown


def plot_precision_recall(evaluation: Evaluation | ClassEvaluation, ax: Any = None) -> Any:
    """Draw precision against recall of a classifier.

    Of several classes each has a curve, of more than eight those with the smallest area under the
    ROC curve. ``evaluation.of_class[k]`` draws one alone.

    Parameters
    ----------
    evaluation : Evaluation or ClassEvaluation
        What ``evaluate`` returns, or a model's ``evaluation_``.
    ax : Axes, optional
        Where to draw.

    Examples
    --------
    >>> from seplearn import TSLClassifier, datasets, plots
    >>> X, y = datasets.masked_interaction(600, random_state=0)
    >>> model = TSLClassifier(1, early_stopping=False, random_state=0)
    >>> model = model.fit(X[:400], y[:400] > 0)
    >>> figure = plots.plot_precision_recall(model.evaluate(X[400:], y[400:] > 0))
    >>> figure.axes != []
    True
    """
    panel, shown = _panel(evaluation, ax)
    if isinstance(evaluation, ClassEvaluation):
        found = [(*one.precision_recall(), name) for one, name in _lines(evaluation)]
        lines = [(x, y, f"{name} ({y[-1]:.0%} of rows)") for x, y, name in found]
        _draw_classes(panel, lines, "best")
        panel.set_xlabel("recall: share of a class found", fontsize=9)
        panel.set_ylabel("precision: share of those called\na class that are", fontsize=9)
        panel.set_title(f"precision and recall, {_how_many(evaluation)}", fontsize=10)
        return shown
    recall, precision = evaluation.precision_recall()
    random = float(precision[-1])  # everything is called the second class
    panel.axhline(random, color=QUIET, linestyle="--", linewidth=0.9)
    panel.plot(recall, precision, color=TOTAL, linewidth=1.8)
    counts = evaluation.confusion()
    if counts.hits + counts.false_alarms > 0 < counts.hits + counts.misses:
        at = (
            counts.hits / (counts.hits + counts.misses),
            counts.hits / (counts.hits + counts.false_alarms),
        )
        panel.plot(*at, "o", color=DOWN, markersize=6, label="at 0.5")
        panel.legend(frameon=False, fontsize=8, loc="lower left")
    second = _second(evaluation)
    panel.set_xlabel(f"recall: share of {second} found", fontsize=9)
    panel.set_ylabel(f"precision: share of those called\n{second} that are", fontsize=9)
    panel.set_title(f"precision and recall (dashed: {random:.0%} are {second})", fontsize=10)
    _shares(panel)
    return shown


def plot_confusion(
    evaluation: Evaluation | ClassEvaluation, ax: Any = None, *, threshold: float | None = None
) -> Any:
    """Draw how often either class was called either way, or every class every other.

    Parameters
    ----------
    evaluation : Evaluation or ClassEvaluation
        What ``evaluate`` returns, or a model's ``evaluation_``.
    ax : Axes, optional
        Where to draw.
    threshold : float, optional
        The probability above which the second class is called, 0.5 by default. Of several classes
        the most likely one is called, whatever its probability.

    Examples
    --------
    >>> from seplearn import TSLClassifier, datasets, plots
    >>> X, y = datasets.masked_interaction(600, random_state=0)
    >>> model = TSLClassifier(1, early_stopping=False, random_state=0)
    >>> model = model.fit(X[:400], y[:400] > 0)
    >>> figure = plots.plot_confusion(model.evaluate(X[400:], y[400:] > 0), threshold=0.3)
    >>> figure.axes != []
    True
    """
    if isinstance(evaluation, ClassEvaluation):
        return _confusion_of_classes(evaluation, ax, threshold)
    panel, shown = _panel(evaluation, ax)
    counts = evaluation.confusion(0.5 if threshold is None else threshold)
    cells = np.array([[counts.rejections, counts.false_alarms], [counts.misses, counts.hits]])
    names = [_first(evaluation), _second(evaluation)]
    _draw_cells(panel, cells, 11)
    panel.set_xticks([0, 1], [f"called {name}" for name in names], fontsize=9)
    panel.set_yticks([0, 1], names, fontsize=9)
    title = f"called {names[1]} above {counts.threshold:g}; shares of a row"
    panel.set_title(title, fontsize=10)
    return shown


def _confusion_of_classes(evaluation: ClassEvaluation, ax: Any, threshold: float | None) -> Any:
    if threshold is not None:
        raise out_of_range("threshold", "None for several classes", threshold)
    if not evaluation.confusion:
        raise ValueError("this evaluation was kept without its confusion; evaluate again")
    cells = np.array(evaluation.confusion)
    n, has_numbers = len(cells), len(cells) <= _MOST_NUMBERS
    side = max(_SIZE[0], 0.8 + (0.6 if has_numbers else 0.26) * n)
    axes, shown = panels(ax, 1, 1, (side + 0.6, side))
    panel = axes[0, 0]
    _draw_cells(panel, cells, (11 if n < 4 else 8) if has_numbers else None)
    names = short_names(evaluation.classes, 14)
    turn: Any = {"rotation": 90 if n > 4 or max(map(len, names)) > 8 else 0}
    panel.set_xticks(range(n), names, fontsize=8, **turn)
    panel.set_yticks(range(n), names, fontsize=8)
    panel.set_xlabel("called", fontsize=9)
    title = f"{evaluation.accuracy:.1%} right; shares of a row"
    panel.set_title(title, fontsize=10)
    return shown


def _draw_cells(panel: Axes, cells: FloatArray, fontsize: int | None) -> None:
    """Counts, the darker the larger their share of their row; without a size no numbers."""
    shares = cells / np.maximum(cells.sum(axis=1, keepdims=True), 1e-300)
    panel.imshow(shares, cmap=SIZE_MAP, vmin=0.0, vmax=1.3)
    for row, column in np.ndindex(*cells.shape) if fontsize else ():
        colour = "white" if shares[row, column] > _DARK else "0.15"
        text = f"{number(float(cells[row, column]))}\n{shares[row, column]:.0%}"
        style: Any = {"ha": "center", "va": "center", "fontsize": fontsize, "color": colour}
        panel.text(column, row, text, **style)
    panel.set_ylabel("actually", fontsize=9)
    panel.tick_params(length=0)
    for side in panel.spines.values():
        side.set_visible(False)


def plot_gain(evaluation: Evaluation, ax: Any = None, *, lift: bool = False) -> Any:
    """Draw which share of all outcomes the rows predicted highest have.

    Parameters
    ----------
    evaluation : Evaluation
        Of classes, counts or amounts; of several classes ``evaluation.of_class[k]``.
    ax : Axes, optional
        Where to draw.
    lift : bool
        Draw how many times more that is than the share of the rows.

    Examples
    --------
    >>> import numpy as np
    >>> from seplearn import TSLRegressor, datasets, plots
    >>> table = datasets.claims(2000, random_state=0)
    >>> X, y, years = table.X, table.n_claims, np.log(table.exposure)
    >>> model = TSLRegressor(1, loss="poisson", early_stopping=False, random_state=0)
    >>> model = model.fit(X, y, offset=years)
    >>> figure = plots.plot_gain(model.evaluate(X, y, offset=years))
    >>> figure.axes != []
    True
    """
    if isinstance(evaluation, ClassEvaluation):
        raise wrong_type(
            "evaluation", "that of one class of several, evaluation.of_class[k]", evaluation
        )
    panel, shown = _panel(evaluation, ax)
    rows, outcomes = evaluation.gain()
    what = _second(evaluation) if evaluation.classes else "outcomes"
    tenth = float(np.interp(0.1, rows, outcomes))
    if lift:
        some = rows >= _FEWEST_ROWS
        panel.plot(rows[some], outcomes[some] / rows[some], color=TOTAL, linewidth=1.8)
        panel.axhline(1.0, color=QUIET, linestyle="--", linewidth=0.9)
        panel.set_ylabel(f"lift: share of all {what} over share of rows", fontsize=9)
        panel.set_xlim(0.0, 1.0)
        panel.set_ylim(0.0, None)
        tidy(panel)
        panel.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:.0%}"))
    else:
        panel.plot([0, 1], [0, 1], color=QUIET, linestyle="--", linewidth=0.9)
        panel.plot(rows, outcomes, color=TOTAL, linewidth=1.8)
        panel.set_ylabel(f"share of all {what}", fontsize=9)
        _shares(panel)
    of = "rows" if evaluation.classes else "rows or exposure"
    panel.set_xlabel(f"share of {of}, predicted highest first", fontsize=9)
    panel.set_title(f"the highest tenth has {tenth:.0%} of all {what}", fontsize=10)
    return shown


def _panel(evaluation: Any, ax: Any) -> tuple[Axes, Any]:
    if not isinstance(evaluation, Evaluation | ClassEvaluation):
        raise wrong_type("evaluation", "what evaluate(X, y) returns", evaluation)
    axes, shown = panels(ax, 1, 1, _SIZE)
    return axes[0, 0], shown


def _lines(evaluation: ClassEvaluation) -> list[tuple[Evaluation, str]]:
    """The classes to draw in one panel, those told apart worst, with their names."""
    areas = [one.scores["AUC"] for one in evaluation.of_class]
    chosen = sorted(np.argsort(areas, kind="stable")[:_MOST_LINES].tolist())
    names = short_names(evaluation.classes, 18)
    return [(evaluation.of_class[k], names[k]) for k in chosen]


def _draw_classes(panel: Axes, lines: list[tuple[FloatArray, FloatArray, str]], where: Any) -> None:
    for (x, y, label), colour in zip(lines, STAGE_COLOURS, strict=False):
        panel.plot(x, y, color=colour, linewidth=1.5, label=label)
    panel.legend(frameon=False, fontsize=8, loc=where)
    _shares(panel)


def _how_many(evaluation: ClassEvaluation) -> str:
    n = len(evaluation.of_class)
    return f"the worst {_MOST_LINES} of {n} classes" if n > _MOST_LINES else f"{n} classes"


def _first(evaluation: Evaluation) -> str:
    return short(evaluation.classes[0], 18)


def _second(evaluation: Evaluation) -> str:
    return short(evaluation.classes[1], 18)


def _shares(ax: Axes) -> None:
    """Both axes from nothing to everything, in per cent."""
    tidy(ax)
    ax.set_xlim(-0.02, 1.02)
    ax.set_ylim(-0.02, 1.02)
    for axis in (ax.xaxis, ax.yaxis):
        axis.set_ticks(np.linspace(0.0, 1.0, 6))
        axis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:.0%}"))
