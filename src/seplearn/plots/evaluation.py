"""How good a model is: calibration, ROC, precision and recall, confusion, gain."""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.ticker import FuncFormatter

from seplearn._errors import wrong_type
from seplearn.model.evaluation import Evaluation
from seplearn.plots.style import DOWN, QUIET, SIZE_MAP, TOTAL, number, panels, short, tidy

_SIZE = (4.2, 3.8)
_FEWEST_ROWS = 0.01  # share of them: of fewer the lift is noise
_DARK = 0.55  # of the largest share: on darker cells numbers are white


def plot_calibration(evaluation: Evaluation, ax: Any = None) -> Any:
    """Draw mean predictions against mean outcomes in groups of rows, with 90 % intervals.

    Parameters
    ----------
    evaluation : Evaluation
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
    panel, shown = _panel(evaluation, ax)
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
    share = f"share of {_second(evaluation)}" if evaluation.classes else "mean outcome"
    panel.set_ylabel(share, fontsize=9)
    panel.set_title(f"calibration, {evaluation.n_rows:,} rows", fontsize=10)
    if evaluation.actual_lower:
        panel.legend(frameon=False, fontsize=8, loc="upper left")
    tidy(panel)
    return shown


def plot_roc(evaluation: Evaluation, ax: Any = None) -> Any:
    """Draw the ROC curve of a classifier of two classes.

    Parameters
    ----------
    evaluation : Evaluation
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
    false, true = evaluation.roc()
    panel.plot([0, 1], [0, 1], color=QUIET, linestyle="--", linewidth=0.9)
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


def plot_precision_recall(evaluation: Evaluation, ax: Any = None) -> Any:
    """Draw precision against recall of a classifier of two classes.

    Parameters
    ----------
    evaluation : Evaluation
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


def plot_confusion(evaluation: Evaluation, ax: Any = None, *, threshold: float = 0.5) -> Any:
    """Draw how often either class was called either way.

    Parameters
    ----------
    evaluation : Evaluation
        What ``evaluate`` returns, or a model's ``evaluation_``.
    ax : Axes, optional
        Where to draw.
    threshold : float
        The probability above which the second class is called.

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
    panel, shown = _panel(evaluation, ax)
    counts = evaluation.confusion(threshold)
    cells = np.array([[counts.rejections, counts.false_alarms], [counts.misses, counts.hits]])
    shares = cells / np.maximum(cells.sum(axis=1, keepdims=True), 1e-300)
    panel.imshow(shares, cmap=SIZE_MAP, vmin=0.0, vmax=1.3)
    for row in range(2):
        for column in range(2):
            colour = "white" if shares[row, column] > _DARK else "0.15"
            text = f"{number(cells[row, column])}\n{shares[row, column]:.0%}"
            style: Any = {"ha": "center", "va": "center", "fontsize": 11, "color": colour}
            panel.text(column, row, text, **style)
    names = [_first(evaluation), _second(evaluation)]
    panel.set_xticks([0, 1], [f"called {name}" for name in names], fontsize=9)
    panel.set_yticks([0, 1], names, fontsize=9)
    panel.set_ylabel("actually", fontsize=9)
    panel.tick_params(length=0)
    for side in panel.spines.values():
        side.set_visible(False)
    title = f"called {names[1]} above {threshold:g}; shares of a row"
    panel.set_title(title, fontsize=10)
    return shown


def plot_gain(evaluation: Evaluation, ax: Any = None, *, lift: bool = False) -> Any:
    """Draw which share of all outcomes the rows predicted highest have.

    Parameters
    ----------
    evaluation : Evaluation
        Of classes, counts or amounts.
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
    if not isinstance(evaluation, Evaluation):
        raise wrong_type("evaluation", "an Evaluation, as evaluate(X, y) returns it", evaluation)
    axes, shown = panels(ax, 1, 1, _SIZE)
    return axes[0, 0], shown


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
