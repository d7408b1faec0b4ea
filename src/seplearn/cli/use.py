"""The commands that use a saved model: predict, evaluate, summary, curves, report and info."""

from __future__ import annotations

import sys
from typing import Any, NamedTuple, cast

import click
import narwhals as nw
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from tqdm import tqdm

from seplearn import explain as explanations
from seplearn._numerals import count
from seplearn.cli.by_groups import (
    by_groups,
    calls_as_json,
    calls_by_groups,
    calls_text,
    confusion_of,
    groups_as_json,
    groups_text,
    with_column,
)
from seplearn.cli.cells import missing_option
from seplearn.cli.classes import against_option, class_option, class_views, of_several
from seplearn.cli.lines import is_terminal, note, printable, say, say_json
from seplearn.cli.tables import (
    PIPE,
    Batch,
    Outcomes,
    TableWriter,
    check_output,
    feature_batches,
    offset_column,
    offset_option,
    open_model,
    with_target,
    without_offset_option,
)
from seplearn.cli.text import (
    calibration_text,
    classes_text,
    confusion_text,
    model_text,
    number,
    shortened,
    summary_text,
    wrapped,
)
from seplearn.cli.text import table as text_table
from seplearn.estimators.base import (
    KINDS_OF_INTERVALS,
    NEEDS_HELD_OUT,
    SeparationEstimator,
)
from seplearn.estimators.class_view import ClassView
from seplearn.estimators.classifier import TSLClassifier
from seplearn.estimators.tsl import TSLRegressor
from seplearn.explain.result import Explanation
from seplearn.explain.subject import Subject
from seplearn.export.sql import RESULT_BEGINNINGS, RESULT_NAMES
from seplearn.kernels.arrays import FloatArray
from seplearn.losses import IDENTITY
from seplearn.model.evaluation import ClassEvaluation
from seplearn.report import write_report
from seplearn.report.provenance import told_provenance

_OWN_NAMES = (*RESULT_NAMES, "lower", "upper")
_OWN_BEGINNINGS = (*RESULT_BEGINNINGS, "lower of ", "upper of ")


@click.command()
@click.argument("model")
@click.argument("table")
@click.option(
    "-o", "--output", default=PIPE, help="A .csv or .parquet file; CSV to a pipe if not given."
)
@click.option(
    "--stages",
    is_flag=True,
    help="Add a column with what every stage, and main effect, contributes; with more than two "
    "classes to the score of every class.",
)
@click.option(
    "--interval",
    is_flag=True,
    help="Add the ends of an interval that holds the outcome with a probability of --level; of a "
    "classifier an interval for the probability of its second class, of more classes for those of "
    "all.",
)
@click.option(
    "--kind",
    type=click.Choice(KINDS_OF_INTERVALS.options),
    help="What the interval is for: the outcome (default for numbers), or the mean (the only one "
    "for classes), which needs a model fitted with --n-bootstrap.",
)
@click.option(
    "--level",
    type=float,
    help="Share of outcomes inside the interval; for the mean, of refits.  [default: 0.9]",
)
@click.option(
    "--keep",
    multiple=True,
    metavar="COLUMN",
    help="Copy this column of the table, such as an identifier; may be repeated.",
)
@offset_option
@without_offset_option
@missing_option
def predict(
    model: str, table: str, output: str, stages: bool, interval: bool, kind: str | None,
    level: float | None, keep: tuple[str, ...], offset: str | None, without_offset: bool,
    missing: tuple[str, ...],
) -> None:  # fmt: skip
    """Predict every row of TABLE with MODEL.

    The table needs the columns the model was fitted to, in any order; others are ignored. It is
    read and written in parts, so it may be larger than the memory. Of a classifier the prediction
    is a class, beside the probability of every class. A model fitted with an offset or exposure
    needs that column too.

    \b
    seplearn predict rent.tsl new.csv --keep id -o rents.csv
    zcat new.csv.gz | seplearn predict rent.tsl - | head
    """  # noqa: D301
    keep = tuple(dict.fromkeys(keep))
    clash = [name for name in keep if name in _OWN_NAMES or name.startswith(_OWN_BEGINNINGS)]
    if clash:
        raise ValueError(f"--keep must not be a name that predictions have, got {clash[0]!r}")
    for option, value in (("--kind", kind), ("--level", level)):
        if value is not None and not interval:
            raise ValueError(f"{option} needs --interval, got {option} {value} without it")
    check_output(output, (model, table), may_be_pipe=True)
    estimator = open_model(model)
    wanted = _interval(estimator, kind, 0.9 if level is None else level) if interval else None
    added = offset_column(estimator, offset, without_offset)
    if added is None and estimator._had_offsets and not without_offset:
        note("this model was fitted with offsets and does not know their column: without --offset "
             "it predicts as if there were none, rates where there was an exposure")  # fmt: skip
    n_rows = 0
    hidden = not is_terminal(sys.stderr)
    with TableWriter(output) as writer, tqdm(unit=" rows", disable=hidden, leave=False) as progress:
        for batch in feature_batches(estimator, table, keep, missing, added):
            columns = {name: batch.kept[name] for name in keep}  # as they are in the table
            columns |= _predictions(estimator, batch, wanted)
            if stages:
                columns |= _parts(estimator, batch)
            writer.write(pa.table(columns))
            n_rows += batch.features.num_rows
            progress.update(batch.features.num_rows)
        if n_rows == 0:
            raise ValueError(f"{table} has no rows")
    if output != PIPE:
        say(f"{n_rows:,} predictions in {output}", err=True)


class _Interval(NamedTuple):
    """What the ends of intervals are asked for."""

    kind: str
    level: float


def _interval(estimator: SeparationEstimator, kind: str | None, level: float) -> _Interval:
    """The interval that is asked for, if the model can tell it."""
    of_classes = isinstance(estimator, TSLClassifier)
    wanted = _Interval(kind or ("mean" if of_classes else "outcome"), level)
    model = estimator.model_
    if wanted.kind == "mean" and not (model.is_constant or model.replicates):
        raise ValueError(
            "--interval for the mean needs a model with bootstrap replicates: seplearn fit ... "
            "--n-bootstrap 100"
        )
    if wanted.kind == "outcome" and not of_classes and model.spread is None:
        raise ValueError(
            f"--interval for the outcome {NEEDS_HELD_OUT}; --kind mean is for models fitted with "
            "--n-bootstrap"
        )
    return wanted


def _predictions(
    estimator: SeparationEstimator, batch: Batch, interval: _Interval | None
) -> dict[str, Any]:
    """Predictions, of a classifier with the probability of every class, and intervals."""
    features, added = batch.features, batch.offset
    if isinstance(estimator, TSLClassifier):
        labels = estimator.predict(features, added).tolist()
        columns: dict[str, Any] = {"prediction": pa.array(labels)}
        names = (f"probability of {label}" for label in estimator.classes_.tolist())
        columns |= dict(zip(names, estimator.predict_proba(features, added).T, strict=True))
    elif isinstance(estimator, TSLRegressor):
        columns = {"prediction": estimator.predict(features, added)}
    else:
        columns = {"prediction": estimator.predict(features)}
    if interval is not None:
        predict_interval = cast("Any", estimator).predict_interval
        ends = predict_interval(features, interval.level, kind=interval.kind, offset=added)
        columns |= _ends(estimator, ends)
    return columns


def _ends(estimator: SeparationEstimator, ends: FloatArray) -> dict[str, Any]:
    """The ends of intervals, of more than two classes those of each."""
    several = of_several(estimator)
    if several is None:
        return {"lower": ends[:, 0], "upper": ends[:, 1]}
    columns: dict[str, Any] = {}
    for k, label in enumerate(several.classes_.tolist()):
        columns |= {f"lower of {label}": ends[:, k, 0], f"upper of {label}": ends[:, k, 1]}
    return columns


def _parts(estimator: SeparationEstimator, batch: Batch) -> dict[str, Any]:
    """What adds up to the prediction, or to the column ``sum`` that a link makes it of."""
    features = batch.features
    if of_several(estimator) is not None:
        return _class_parts(estimator, features)
    parts = estimator.predict_stages(features)
    columns: dict[str, Any] = {}
    if estimator.model_.link is not IDENTITY:
        columns["sum"] = estimator._sums(features, batch.offset)
    columns["intercept"] = pa.array([estimator.intercept_] * len(parts), pa.float64())
    if batch.offset is not None:
        columns["offset"] = batch.offset
    if estimator.model_.effects is not None:
        effects = estimator.predict_effects(features).T
        names = (f"main effect of {name}" for name in estimator._schema.labels)
        columns |= dict(zip(names, effects, strict=True))
    return columns | {f"stage {s}": parts[:, s] for s in range(parts.shape[1])}


def _class_parts(estimator: SeparationEstimator, features: pa.Table) -> dict[str, Any]:
    """What adds up to the score of every class, which is the column ``sum of ...``."""
    columns: dict[str, Any] = {}
    for label, view in class_views(estimator, None):
        parts = view.predict_stages(features)
        columns[f"sum of {label}"] = view.decision_function(features)
        columns[f"intercept of {label}"] = np.full(len(parts), view.intercept_)
        if view.model_.effects is not None:
            effects = view.predict_effects(features).T
            names = (f"main effect of {name} for {label}" for name in estimator._schema.labels)
            columns |= dict(zip(names, effects, strict=True))
        columns |= {f"stage {s} of {label}": parts[:, s] for s in range(parts.shape[1])}
    return columns


@click.command()
@click.argument("model")
@click.argument("table")
@click.option(
    "--target", help="The column with the outcomes; by default the one the model was fitted to."
)
@click.option("--weight", metavar="COLUMN", help="How often each row counts.")
@offset_option
@without_offset_option
@click.option(
    "--class",
    "label",
    metavar="LABEL",
    help="Of a model of more than two classes: the class whose calibration is shown.",
)
@click.option(
    "--by",
    metavar="COLUMN",
    help="Tell the error, mean prediction and mean outcome of each group of this column too, which "
    "the model need not know; of two classes also how often each is called. Not for more classes.",
)
@click.option(
    "--threshold",
    type=click.FloatRange(0.0, 1.0),
    help="Of two classes: rows whose probability is above it are called the second (0.5).",
)
@click.option("--json", "as_json", is_flag=True, help="All numbers as JSON.")
@missing_option
def evaluate(
    model: str, table: str, target: str | None, weight: str | None, offset: str | None,
    without_offset: bool, label: str | None, by: str | None, threshold: float | None,
    as_json: bool, missing: tuple[str, ...],
) -> None:  # fmt: skip
    """Say how good the predictions of MODEL are for the rows of TABLE, whose outcomes are known.

    The table should have rows that the model was not fitted to.

    \b
    seplearn evaluate rent.tsl unseen.csv
    seplearn evaluate rent.tsl unseen.csv --by district
    seplearn evaluate risk.tsl unseen.csv --by sex --threshold 0.3
    """  # noqa: D301
    estimator = open_model(model)
    name = target or estimator.target_name_
    if name is None:
        raise ValueError("--target must name the column with the outcomes: the model knows none")
    class_views(estimator, label)  # raises for a class that the model has not
    if by is not None and of_several(estimator) is not None:
        n_classes = len(estimator.classes_)
        raise ValueError(f"--by is for numbers, counts and two classes, got {n_classes} classes")
    if threshold is not None and len(getattr(estimator, "classes_", ())) != 2:
        raise ValueError("--threshold is for models of two classes")
    added = offset_column(estimator, offset, without_offset)
    rows = with_target(estimator, table, name, missing, added, weight, by)
    result = estimator.evaluate(rows.features, rows.y, rows.weight, offset=rows.offset)
    cut = 0.5 if threshold is None else threshold
    confusion = confusion_of(estimator, rows, cut)
    groups = None if by is None else by_groups(estimator, rows, by)
    calls = None if by is None else calls_by_groups(estimator, rows, by, cut)
    if as_json:
        more = {} if groups is None else {"groups": groups_as_json(groups)}
        more |= {} if calls is None else {"decisions": calls_as_json(calls)}
        more |= {} if confusion is None else {"confusion": confusion._asdict()}
        say_json(result.to_plain() | more)
        return
    say(f"{printable(name)}: {result}\n")
    if isinstance(result, ClassEvaluation):
        _say_class_evaluation(estimator, result, label)
        return
    is_rate = added is not None and added.is_exposure
    by = "predicted rate" if is_rate else Subject.of(estimator).response
    say(f"Rows in groups, by their {by}:\n")
    say(calibration_text(result))
    if confusion is not None:
        say(f"\n{confusion_text(confusion, result.classes)}")
    if groups is not None:
        say(f"\n{groups_text(groups)}")
    if calls is not None:
        say(f"\n{wrapped(calls.sentence)}\n\n{calls_text(calls)}")


def _say_class_evaluation(
    estimator: SeparationEstimator, result: ClassEvaluation, label: str | None
) -> None:
    """Every class and the mistakes between them; of one that is named, the calibration too."""
    labels = [str(one) for one in estimator.classes_.tolist()]
    if label is not None:
        say(f"Rows in groups, by their probability of {shortened(label)}:\n")
        say(f"{calibration_text(result.of_class[labels.index(label)])}\n")
    say(classes_text(result, labels))


@click.command()
@click.argument("model")
@click.argument("table", required=False)
@class_option
@against_option
@missing_option
def summary(
    model: str, table: str | None, label: str | None, against: str | None, missing: tuple[str, ...]
) -> None:
    """Say in sentences what MODEL does as a whole.

    What moves the prediction and by how much, what acts together, where the prediction changes its
    sign, whose effect is turned upside down, what is not used. Averages are over the rows of TABLE,
    or over the reference rows that the model keeps. A model of more than two classes has a score
    for each: all are told one after the other, or the one that --class names.

    \b
    seplearn summary rent.tsl
    """  # noqa: D301
    estimator = open_model(model)
    views = class_views(estimator, label, against)
    rows = None
    if table is not None:
        parts = [batch.features for batch in feature_batches(estimator, table, (), missing)]
        if not parts:
            raise ValueError(f"{table} has no rows")
        rows = pa.concat_tables(parts)
    told = [summary_text(explanations.summary(view, background=rows)) for _, view in views]
    if len(views) > 1:
        heads = [printable(f"== {own} ==") for own, _ in views]
        told = [f"{head}\n\n{text}" for head, text in zip(heads, told, strict=True)]
    say("\n\n".join(told))


@click.command()
@click.argument("model")
@click.option(
    "-o", "--output", default=PIPE, help="A .csv or .parquet file; CSV to a pipe if not given."
)
@class_option
@against_option
def curves(model: str, output: str, label: str | None, against: str | None) -> None:
    """Write every curve of MODEL as a table: a row per stage, feature and bin.

    Main effects, if the model has any, come last; they belong to no stage. Those of classes are
    log-odds, those of counts and amounts logs, with odds ratios or relativities beside them. A
    model of more than two classes has a column `class` for whose score a curve belongs to.
    """
    check_output(output, (model,), may_be_pipe=True)
    estimator = open_model(model)
    views = class_views(estimator, label, against)
    parts = [part for own, view in views for part in _curve_tables(own, view)]
    if not parts:
        raise ValueError(f"{model} is a constant: it has no curves")
    with TableWriter(output) as writer:
        writer.write(_with_gaps(pa.concat_tables(parts, promote_options="default")))


def _with_gaps(table: pa.Table) -> pa.Table:
    """A table in which a number that there is not is missing, instead of the number NaN."""
    columns = [
        pc.if_else(pc.is_nan(column), None, column) if pa.types.is_floating(column.type) else column
        for column in table.columns
    ]
    return pa.table(columns, names=table.column_names)


def _curve_tables(label: Any, view: ClassView | SeparationEstimator) -> list[pa.Table]:
    shown: list[Explanation] = [explanations.curves(view, s) for s in range(len(view.stages_))]
    if view.model_.effects is not None:
        shown.append(explanations.main_effects(view))
    tables = [nw.from_native(one.frame()).to_arrow() for one in shown]
    if label is None:
        return tables
    return [
        one.add_column(0, "class", pa.array([str(label)] * one.num_rows, pa.string()))
        for one in tables
    ]


@click.command()
@click.argument("model")
@click.argument("table", required=False)
@click.option("-o", "--output", default="report.html", show_default=True, help="The page to write.")
@click.option(
    "--target", help="The column with the outcomes; by default the one the model was fitted to."
)
@click.option("--title", help="Heading of the page.")
@click.option(
    "--rows",
    default=200,
    show_default=True,
    type=click.IntRange(0),
    help="Largest number of rows of TABLE that the page shows, and so reveals.",
)
@click.option(
    "--by",
    metavar="COLUMN",
    help="Tell errors and means in the groups of a column of TABLE, which the model need not know.",
)
@offset_option
@missing_option
def report(
    model: str, table: str | None, output: str, target: str | None, title: str | None, rows: int,
    by: str | None, offset: str | None, missing: tuple[str, ...],
) -> None:  # fmt: skip
    """Write a page about MODEL to play with: one HTML file that needs no network.

    With TABLE, of rows that the model was not fitted to, the page also shows how good the model is,
    and its rows can be picked and changed.

    \b
    seplearn report rent.tsl unseen.csv -o rent.html
    """  # noqa: D301
    check_output(output, (model, table))
    estimator = open_model(model)
    given = Outcomes(None, None, None, None)
    if by is not None and table is None:
        raise ValueError(f"--by needs a TABLE, whose rows it divides, got --by {by} alone")
    if table is not None:
        added = offset_column(estimator, offset)
        given = with_target(estimator, table, target, missing, added, None, by)
    features = given.features if by is None else with_column(given, by)
    write_report(
        estimator, output, features, given.y, offset=given.offset, title=title, n_rows=rows, by=by
    )
    say(f"wrote {output}", err=True)


@click.command()
@click.argument("model")
def info(model: str) -> None:
    """Say what the model in the file MODEL does, and what else is in the file."""
    estimator = open_model(model)
    target = printable(estimator.target_name_ or "a target without a name")
    reference = estimator.model_.reference
    lines = [
        f"{type(estimator).__name__} for {target}: {size_text(estimator)}",
        *_meaning_of_sums(estimator),
        (
            f"reference rows: {0 if reference is None else len(reference.codes)}, "
            f"bootstrap replicates: {len(estimator.model_.replicates)}"
        ),
        *(
            printable(f"{what if what[:2].isupper() else what[0].lower() + what[1:]}: {text}")
            for what, text in told_provenance(estimator)
            if what != "Target"
        ),
    ]
    if estimator.evaluation_ is not None:
        lines.append(f"error when it was fitted: {estimator.evaluation_}")
    lines += [f"edit {k}: {printable(str(edit))}" for k, edit in enumerate(estimator.edits_, 1)]
    say("\n".join([model_text(estimator), "", *lines, "", _axes_text(estimator)]))


def size_text(estimator: SeparationEstimator) -> str:
    """How large a model is: its classes, stages and features."""
    features = f"{estimator.n_features_in_} features"
    several = of_several(estimator)
    if several is not None:
        n_stages = sum(len(own) for own in several.stages_)
        return f"{len(several.classes_)} classes, {count(n_stages, 'stage')} in all, {features}"
    effects = "" if estimator.model_.effects is None else "main effects, "
    constant = f"constant {number(estimator.intercept_)}"
    return f"{count(len(estimator.stages_), 'stage')}, {effects}{features}, {constant}"


def _meaning_of_sums(estimator: SeparationEstimator) -> list[str]:
    """What constant, main effects and stages add up to, and what is added besides."""
    lines = []
    if of_several(estimator) is not None:
        lines.append(
            "constant, main effects and stages of a class add up to its score; its probability is "
            "the exponential of that over the sum of all exponentials"
        )
    elif estimator.model_.link is not IDENTITY:
        subject = Subject.of(estimator)
        lines.append(
            f"constant, main effects and stages add up to the {subject.quantity}; the "
            f"{subject.response} follows from it"
        )
    if isinstance(estimator, TSLClassifier):
        lines.append(f"classes: {', '.join(str(one) for one in estimator.classes_.tolist())}")
    own = estimator.offset_column_
    if own is not None:
        lines.append(f"offset: {'the log of ' if own.is_exposure else ''}column {own.name!r}")
    return lines


def _axes_text(estimator: SeparationEstimator) -> str:
    rows = []
    for name, axis in zip(estimator._schema.labels, estimator.model_.bins.axes, strict=True):
        description = axis.describe()
        if description.kind == "numeric":
            rows.append((shortened(name), "numbers", f"{description.meanings.count('range')} bins"))
        else:
            levels = ", ".join(description.levels[:5]) + (
                ", ..." if len(description.levels) > 5 else ""
            )
            rows.append(
                (shortened(name), f"{len(description.levels)} levels", shortened(levels, 50))
            )
    return text_table(("feature", "kind", ""), rows)
