"""Text for a terminal: tables, bars, and what the commands say of a model."""

from __future__ import annotations

import math
import shutil
import sys
from collections.abc import Sequence

import numpy as np

from seplearn import explain
from seplearn._numerals import count, number_text, percent
from seplearn.cli.classes import of_several
from seplearn.cli.lines import printable
from seplearn.estimators.base import SeparationEstimator
from seplearn.estimators.class_view import ClassView
from seplearn.estimators.classifier import TSLClassifier
from seplearn.explain.axes import folded
from seplearn.explain.class_summary import MORE_OF_ONE_CLASS
from seplearn.explain.roles import SMALLEST_TOLD
from seplearn.explain.subject import Subject
from seplearn.losses import IDENTITY
from seplearn.losses.links import class_shares
from seplearn.model.evaluation import ClassEvaluation, Confusion, Evaluation

_WIDEST_NAME = 40
_MOST_MOVING = 3  # features named beside a class
_WIDEST_CONFUSION = 8  # classes; of more the most frequent mistakes are listed
_MOST_MISTAKES = 20
_IN_COMMANDS = {  # what explanations say of methods
    MORE_OF_ONE_CLASS: "With --class LABEL it tells more of one class, with --class LABEL "
    "--against OTHER of two."
}


def number(value: float) -> str:
    """A number with four significant digits."""
    return "nan" if math.isnan(value) else number_text(float(value), 4)


def signed(value: float) -> str:
    """The same with its sign."""
    return ("+" if value > 0 else "") + number(value)


def shortened(text: str, width: int = _WIDEST_NAME) -> str:
    """A text on one line, cut when it is long; nothing in it can move the cursor."""
    plain = printable(text)
    return plain if len(plain) <= width else plain[: width - 3] + "..."


def table(head: Sequence[str], rows: Sequence[Sequence[str]], right: Sequence[int] = ()) -> str:
    """Columns below each other; those in ``right`` end at the same place."""
    widths = [max(len(row[k]) for row in (head, *rows)) for k in range(len(head))]
    lines = []
    for row in (head, *rows):
        cells = [
            text.rjust(width) if k in right else text.ljust(width)
            for k, (text, width) in enumerate(zip(row, widths, strict=True))
        ]
        lines.append("  ".join(cells).rstrip())
    return "\n".join(lines)


def wrapped_table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Like :func:`table`, the last column broken into lines that fit the terminal."""
    before = [max(len(row[k]) for row in (head, *rows)) for k in range(len(head) - 1)]
    left = sum(before) + 2 * len(before)
    room = max(30, terminal_width() - left)
    out = []
    for row in (head, *rows):
        start = "".join(
            text.ljust(width) + "  " for text, width in zip(row[:-1], before, strict=True)
        )
        parts = folded(row[-1], room) or [""]
        out.append((start + parts[0]).rstrip())
        out += [" " * left + part for part in parts[1:]]
    return "\n".join(out)


def wrapped(text: str, start: str = "", further: str = "") -> str:
    """A sentence broken into lines that fit the terminal, the first and the others indented."""
    return "\n".join(folded(text, terminal_width(), start, further))


def terminal_width() -> int:
    """Columns of the terminal, at most 100."""
    return min(100, shutil.get_terminal_size((80, 24)).columns)


def waterfall(
    steps: Sequence[tuple[str, float]], start: float, end_name: str, start_name: str = "constant"
) -> str:
    """From ``start`` to the sum, a bar per step where it begins and ends."""
    ends = [start]
    for _, size in steps:
        ends.append(ends[-1] + size)
    names = [start_name, *(name for name, _ in steps), end_name]
    values = [number(start), *(signed(size) for _, size in steps), number(ends[-1])]
    name_width, value_width = max(map(len, names)), max(map(len, values))
    room = max(10, terminal_width() - name_width - value_width - 5)
    low, high = min(ends), max(ends)

    def place(value: float) -> int:
        return round((value - low) / (high - low) * (room - 1)) if high > low else 0

    full, hollow = ("\N{FULL BLOCK}", "\N{LIGHT SHADE}") if _unicode() else ("#", "-")
    bars = [" " * place(start) + "|"]
    for k, (_, size) in enumerate(steps):
        first, last = sorted((place(ends[k]), place(ends[k + 1])))
        bars.append(" " * first + (full if size >= 0 else hollow) * max(1, last - first))
    bars.append(" " * place(ends[-1]) + "|")
    lines = [
        f"{name.ljust(name_width)}  {value.rjust(value_width)}  {bar}".rstrip()
        for name, value, bar in zip(names, values, bars, strict=True)
    ]
    return "\n".join(lines)


def _unicode() -> bool:
    encoding = getattr(sys.stdout, "encoding", None) or ""
    return encoding.lower().startswith("utf")


def model_text(model: SeparationEstimator) -> str:
    """What the model says as a whole and what its stages do, from the model's reference rows.

    Of more than two classes what moves the score of each; summaries of all would be too long.
    """
    several = of_several(model)
    if several is not None:
        return _classes(several)
    if model.model_.is_constant:
        level = sum_text(model, model.intercept_)
        return f"The model is a constant: {level}. No feature helps to predict."
    if model.model_.reference is None:
        return (
            f"{count(len(model.stages_), 'stage')}, {count(model.reading_size_, 'curve')} to read. "
            "To say what they do takes reference rows, and this model keeps none (background size "
            "0)."
        )
    text = summary_text(explain.summary(model))
    return f"{text}\n\n{_stages(model)}" if model.stages_ else text


def _classes(model: TSLClassifier) -> str:
    """A line for every class: its constant, stages and curves, and what moves its score."""
    if model.model_.is_constant:
        shares = class_shares(model.intercept_[None])[0]
        told = zip(model.classes_.tolist(), shares, strict=True)
        listed = ", ".join(f"{shortened(str(label))} {number(share)}" for label, share in told)
        return f"The model has the same probabilities for all rows: {listed}."
    rows = []
    for label in model.classes_.tolist():
        view = model.for_class(label)
        rows.append(
            (
                shortened(str(label), 24), number(view.intercept_), str(len(view.stages_)),
                str(view.reading_size_), _moving(view),
            )
        )  # fmt: skip
    head = ("class", "constant", "stages", "curves", "what moves its score most")
    return (
        f"{wrapped_table(head, rows)}\n\n{count(model.reading_size_, 'curve')} to read in all; "
        "seplearn summary MODEL --class LABEL tells of one class in sentences."
    )


def _moving(view: ClassView) -> str:
    if view.model_.is_constant:
        return "nothing: it is the constant"
    if view.model_.reference is None:
        return "(the model keeps no rows to tell)"
    importance = explain.importance(view)
    largest = np.argsort(-importance.values, kind="stable")[:_MOST_MOVING]
    return ", ".join(
        f"{shortened(importance.names[j])} ({number(importance.values[j])})"
        for j in largest
        if importance.values[j] > 0.0
    )


def sum_text(model: SeparationEstimator | ClassView, value: float) -> str:
    """A sum of a model with what it is a sum of, and the prediction that it makes."""
    subject = Subject.of(model)
    link = subject.model.link
    if link is IDENTITY:
        return number(value)
    prediction = float(link.inverse(np.array([value]))[0])
    return f"{subject.quantity} {number(value)}, {subject.response} {number(prediction)}"


def summary_text(summary: explain.Summary | explain.ClassSummary) -> str:
    """A summary in lines that fit the terminal."""
    parts = []
    for heading, sentences in summary.sections:
        lines = [f"{heading}:"] if heading else []
        start = "  " if heading else ""
        told = (_IN_COMMANDS.get(sentence, sentence) for sentence in sentences)
        lines += [wrapped(printable(sentence), start, 2 * start) for sentence in told]
        parts.append("\n".join(lines))
    return "\n\n".join(parts)


def _stages(model: SeparationEstimator) -> str:
    roles = explain.roles(model)
    ordered = roles.by_size
    listed = [stage for stage in ordered if stage.weight >= SMALLEST_TOLD]
    rows = [
        (str(stage.stage), percent(stage.weight), f"{stage.stage_name}: {stage.sentence}")
        for stage in listed
    ]
    if roles.effects:
        effects = f"main effects: {', '.join(roles.effects)}"
        rows.insert(0, ("", percent(roles.effects_weight), effects))
    rest = len(ordered) - len(listed)
    if rest:
        share = sum(stage.weight for stage in ordered[len(listed) :])
        rows.append(("", percent(share), f"{count(rest, 'smaller stage')} together"))
    return wrapped_table(("stage", "size", "what it does"), rows)


def calibration_text(evaluation: Evaluation) -> str:
    """Predictions and outcomes of groups of rows, below each other."""
    head = ["group", "predicted", "actual", "90 % interval"]
    rows = [
        [str(k + 1), number(predicted), number(actual), f"{number(low)} to {number(high)}"]
        for k, (predicted, actual, low, high) in enumerate(
            zip(
                evaluation.predicted,
                evaluation.actual,
                evaluation.actual_lower,
                evaluation.actual_upper,
                strict=True,
            )
        )
    ]
    return table(head, rows, right=(0, 1, 2))


def confusion_text(counts: Confusion, classes: Sequence[str]) -> str:
    """How often either class was called either way."""
    first, second = (shortened(name, 24) for name in classes)
    rows = [
        [first, number(counts.rejections), number(counts.false_alarms)],
        [second, number(counts.misses), number(counts.hits)],
    ]
    at = f"At a threshold of {number_text(counts.threshold, 6)} ({second}):\n\n"
    return at + table(["actual", f"called {first}", f"called {second}"], rows, right=(1, 2))


def classes_text(evaluation: ClassEvaluation, labels: Sequence[str]) -> str:
    """How the probability of every class fares, and which classes are taken for which."""
    names = [shortened(label, 24) for label in labels]
    happened = [sum(row) for row in evaluation.confusion]
    rows = [
        [
            name, number(total), number(own.scores["log-loss"]), number(own.scores["AUC"])
            if "AUC" in own.scores else "", percent(found[k] / total) if total else "",
        ]
        for k, (name, own, found, total) in enumerate(
            zip(names, evaluation.of_class, evaluation.confusion, happened, strict=True)
        )
    ]  # fmt: skip
    head = ["class", "rows", "log-loss", "AUC", "found"]
    told = table(head, rows, right=(1, 2, 3, 4))
    return f"Every class beside all others:\n\n{told}\n\n{_mistakes(evaluation, names)}"


def _mistakes(evaluation: ClassEvaluation, names: Sequence[str]) -> str:
    """The table of actual and called classes; of many classes the most frequent mistakes."""
    if len(names) <= _WIDEST_CONFUSION:
        rows = [
            [name, *(number(size) for size in sizes)]
            for name, sizes in zip(names, evaluation.confusion, strict=True)
        ]
        head = ["actual", *(f"called {name}" for name in names)]
        return table(head, rows, right=range(1, len(head)))
    pairs = np.array(evaluation.confusion)
    np.fill_diagonal(pairs, 0.0)
    largest = np.argsort(-pairs, axis=None, kind="stable")[:_MOST_MISTAKES]
    places = [divmod(int(place), len(names)) for place in largest]
    rows = [[names[i], names[j], number(pairs[i, j])] for i, j in places if pairs[i, j] > 0.0]
    told = table(["actual", "called", "rows"], rows, right=(2,))
    return f"The most frequent mistakes:\n\n{told}" if rows else "No row was called wrongly."
