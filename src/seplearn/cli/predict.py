"""The command predict: predictions of every row of a table, with their parts and intervals."""

from __future__ import annotations

import sys
from typing import Any, NamedTuple, cast

import click
import numpy as np
import pyarrow as pa
from tqdm import tqdm

from seplearn.cli.cells import missing_option
from seplearn.cli.classes import class_views, of_several
from seplearn.cli.lines import is_terminal, note, say
from seplearn.cli.model_rows import (
    Batch,
    feature_batches,
    offset_column,
    offset_option,
    without_offset_option,
)
from seplearn.cli.tables import PIPE, TableWriter, check_output, open_model
from seplearn.estimators.base import KINDS_OF_INTERVALS, NEEDS_HELD_OUT, SeparationEstimator
from seplearn.estimators.classifier import TSLClassifier
from seplearn.estimators.tsl import TSLRegressor
from seplearn.export.sql import RESULT_BEGINNINGS, RESULT_NAMES
from seplearn.kernels.arrays import FloatArray
from seplearn.losses import IDENTITY

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
