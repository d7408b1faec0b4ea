"""Commands that tell of a saved model: evaluate, summary, curves and report."""

from __future__ import annotations

from typing import Any

import click
import narwhals as nw
import pyarrow as pa
import pyarrow.compute as pc

from seplearn import explain as explanations
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
from seplearn.cli.classes import (
    against_option,
    class_option,
    class_views,
    known_label,
    of_several,
)
from seplearn.cli.lines import printable, say, say_json
from seplearn.cli.model_rows import (
    Outcomes,
    feature_batches,
    offset_column,
    offset_option,
    with_target,
    without_offset_option,
)
from seplearn.cli.tables import PIPE, TableWriter, check_output, open_model
from seplearn.cli.text import (
    calibration_text,
    classes_text,
    confusion_text,
    shortened,
    summary_text,
    wrapped,
)
from seplearn.estimators.base import SeparationEstimator
from seplearn.estimators.class_view import ClassView
from seplearn.explain.result import Explanation
from seplearn.explain.subject import Subject
from seplearn.model.evaluation import ClassEvaluation
from seplearn.report import write_report


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
    "the model need not know; of two classes also how often each is called, of more how often the "
    "likeliest is right.",
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
    if threshold is not None and len(getattr(estimator, "classes_", ())) != 2:
        raise ValueError("--threshold is for models of two classes")
    added = offset_column(estimator, offset, without_offset)
    rows = with_target(estimator, table, name, missing, added, weight, by)
    result = estimator.evaluate(rows.features, rows.y, rows.weight, offset=rows.offset)
    cut = 0.5 if threshold is None else threshold
    confusion = confusion_of(estimator, rows, cut)
    several = of_several(estimator)
    own = None if several is None or label is None else known_label(several, "--class", label)
    groups = None if by is None else by_groups(estimator, rows, by, own)
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
        if groups is not None:
            say(f"\n{groups_text(groups)}")
        return
    is_rate = added is not None and added.is_exposure
    measure = "predicted rate" if is_rate else Subject.of(estimator).response
    say(f"Rows in groups, by their {measure}:\n")
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
    or over the reference rows that the model keeps. Of a model of more than two classes it tells
    what tells them apart, then the score of each one after the other, or of the one that --class
    names.

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
        told.insert(0, summary_text(explanations.summary(estimator, background=rows)))
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
