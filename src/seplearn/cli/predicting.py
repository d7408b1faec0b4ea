"""``seplearn predict``: a table through a saved model, part by part."""

from __future__ import annotations

import sys
from typing import Any

import click
import pyarrow as pa
from tqdm import tqdm

from seplearn.cli.options import missing_option
from seplearn.cli.saved import feature_batches, open_model
from seplearn.cli.tables import PIPE, TableWriter, check_output
from seplearn.cli.text import is_terminal, say
from seplearn.estimator import SeparationEstimator

_OWN_NAMES = ("prediction", "lower", "upper", "intercept")
_OWN_BEGINNINGS = ("stage ", "main effect of ")


@click.command()
@click.argument("model")
@click.argument("table")
@click.option(
    "-o", "--output", default=PIPE, help="A .csv or .parquet file; CSV to a pipe if not given."
)
@click.option(
    "--stages",
    is_flag=True,
    help="Add a column with what every stage, and main effect, contributes.",
)
@click.option(
    "--interval",
    is_flag=True,
    help="Add the ends of an interval for the mean; needs a model fitted with --n-bootstrap.",
)
@click.option(
    "--level", default=0.9, show_default=True, help="Share of refits inside the interval."
)
@click.option(
    "--keep",
    multiple=True,
    metavar="COLUMN",
    help="Copy this column of the table, such as an identifier; may be repeated.",
)
@missing_option
def predict(
    model: str, table: str, output: str, stages: bool, interval: bool, level: float,
    keep: tuple[str, ...], missing: tuple[str, ...],
) -> None:  # fmt: skip
    """Predict every row of TABLE with MODEL.

    The table needs the columns the model was fitted to, in any order; others are ignored. It is
    read and written in parts, so it may be larger than the memory.

    \b
    seplearn predict rent.tsl new.csv --keep id -o rents.csv
    zcat new.csv.gz | seplearn predict rent.tsl - | head
    """  # noqa: D301
    keep = tuple(dict.fromkeys(keep))
    clash = [name for name in keep if name in _OWN_NAMES or name.startswith(_OWN_BEGINNINGS)]
    if clash:
        raise ValueError(f"--keep must not be a name that predictions have, got {clash[0]!r}")
    check_output(output, (model, table))
    estimator = open_model(model)
    if interval and not (estimator.model_.is_constant or estimator.model_.replicates):
        raise ValueError(
            "--interval needs a model with bootstrap replicates: seplearn fit ... --n-bootstrap 100"
        )
    n_rows = 0
    hidden = not is_terminal(sys.stderr)
    with TableWriter(output) as writer, tqdm(unit=" rows", disable=hidden, leave=False) as progress:
        for features, kept in feature_batches(estimator, table, keep, missing):
            columns = {name: kept[name] for name in keep}  # as they stand in the table
            columns |= _predictions(estimator, features, stages, level if interval else None)
            writer.write(pa.table(columns))
            n_rows += features.num_rows
            progress.update(features.num_rows)
        if n_rows == 0:
            raise ValueError(f"{table} has no rows")
    if output != PIPE:
        say(f"{n_rows:,} predictions in {output}", err=True)


def _predictions(
    estimator: SeparationEstimator, features: pa.Table, stages: bool, level: float | None
) -> dict[str, Any]:
    columns: dict[str, Any] = {"prediction": estimator.predict(features)}
    if level is not None:
        ends = estimator.predict_interval(features, level)
        columns |= {"lower": ends[:, 0], "upper": ends[:, 1]}
    if stages:
        parts = estimator.predict_stages(features)
        columns["intercept"] = pa.array([estimator.intercept_] * len(parts), pa.float64())
        if estimator.model_.effects is not None:
            effects = estimator.predict_effects(features).T
            names = (f"main effect of {name}" for name in estimator._schema.labels)
            columns |= dict(zip(names, effects, strict=True))
        columns |= {f"stage {s}": parts[:, s] for s in range(parts.shape[1])}
    return columns
