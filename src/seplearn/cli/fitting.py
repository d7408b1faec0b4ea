"""``seplearn fit``: from a table to a model file."""

from __future__ import annotations

import shlex
import sys
from dataclasses import dataclass
from typing import Any

import click
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from seplearn.cli.options import TwoSections, estimator_options
from seplearn.cli.saved import in_a_file, with_target
from seplearn.cli.tables import check_columns, check_output, column_names, read_table
from seplearn.cli.told import evaluation_text, model_text
from seplearn.model.evaluation import Evaluation
from seplearn.regressor import TSLRegressor

_DIRECTIONS = {"up": 1, "+1": 1, "1": 1, "down": -1, "-1": -1}


@click.command(cls=TwoSections)
@click.argument("table")
@click.option("--target", required=True, help="The column to predict.")
@click.option("-o", "--output", help="The model file to write, such as model.tsl.")
@click.option(
    "--exclude", multiple=True, metavar="COLUMN", help="Leave a column out; may be repeated."
)
@click.option(
    "--categorical",
    multiple=True,
    metavar="COLUMN",
    help="Take a column's values as levels without order, as text columns are; may be repeated.",
)
@click.option("--weight", metavar="COLUMN", help="How often each row counts.")
@click.option(
    "--monotone",
    multiple=True,
    metavar="COLUMN=up|down",
    help="The prediction may only rise or only fall with the column; may be repeated.",
)
@click.option(
    "--validation",
    default="0.2",
    show_default=True,
    metavar="SHARE|TABLE",
    help="Rows for the "
    "error that is told: a share held out, or another table. The model that is written is "
    "fitted to all rows of TABLE. 0 for none.",
)
@click.option("--quiet", is_flag=True, help="No progress bar.")
@estimator_options
def fit(
    table: str, target: str, output: str | None, exclude: tuple[str, ...],
    categorical: tuple[str, ...], weight: str | None, monotone: tuple[str, ...], validation: str,
    quiet: bool, **parameters: Any,
) -> None:  # fmt: skip
    """Fit a model to TABLE and say what it found.

    \b
    seplearn fit flats.csv --target rent -o rent.tsl
    seplearn fit flats.csv --target rent --stages 2 --monotone area=up
    """  # noqa: D301
    if output is not None:
        check_output(output, (table, validation))
    share = _share(validation)
    held_out = [] if share is not None else column_names(in_a_file(validation, "--validation"))
    columns = read_table(table, categorical)
    check_columns(table, [target, *exclude, *categorical, *([weight] if weight else [])],
                  columns.column_names)  # fmt: skip
    data = _training_columns(columns, target, exclude, weight)
    del columns
    if share is None:
        check_columns(validation, [target, *data.features], held_out)
        _check_outcomes(validation, target)
    model = TSLRegressor(
        categorical_features=list(categorical) or "auto",
        monotonic_cst=_directions(monotone),
        verbose=not quiet and sys.stderr.isatty(),
        **parameters,
    )
    evaluation = _evaluated(model, data, share) if share else None
    data.fit(model, slice(None))
    if share is None:
        held_features, held_y = with_target(model, validation, target, "--validation")
        evaluation = model.evaluate(held_features, held_y)
    model.set_params(verbose=0)
    model.evaluation_ = evaluation
    if output is not None:
        model.save(output)
    _tell(model, data, evaluation, validation if share is None else "rows held out")
    saved = "not saved: -o model.tsl does it" if output is None else f"saved to {output}"
    click.echo(saved, err=True)


@dataclass
class _Columns:
    """The training table, column by column, so that rows can be reordered without a second copy."""

    target: str
    features: dict[str, Any]
    y: np.ndarray[Any, Any]
    weight: np.ndarray[Any, Any] | None

    def reorder(self, order: np.ndarray[Any, Any]) -> None:
        """Put the rows into another order; every old column is let go before the next."""
        for name in self.features:
            self.features[name] = self.features[name].take(pa.array(order))
        self.y = self.y[order]
        self.weight = None if self.weight is None else self.weight[order]

    def rows(self, part: slice) -> tuple[pa.Table, pa.Table, Any]:
        """Features, target and weights of consecutive rows, without copying."""
        start, stop, _ = part.indices(len(self.y))
        table = pa.table(self.features).slice(start, stop - start)
        weight = None if self.weight is None else self.weight[part]
        return table, pa.table({self.target: self.y[part]}), weight

    def fit(self, model: TSLRegressor, part: slice) -> None:
        model.fit(*self.rows(part))


def _evaluated(model: TSLRegressor, data: _Columns, share: float) -> Evaluation:
    """The error on rows held out of a fit to the others."""
    n = len(data.y)
    n_held = round(share * n)
    if not 0 < n_held < n:
        raise ValueError(f"--validation {share:g} of {n} rows leaves none on one side; give 0")
    data.reorder(np.random.default_rng(model.random_state).permutation(n))
    data.fit(model, slice(0, n - n_held))
    return model.evaluate(*data.rows(slice(n - n_held, n)))


def _tell(model: TSLRegressor, data: _Columns, evaluation: Evaluation | None, where: str) -> None:
    click.echo(f"{data.target} from {model.n_features_in_} features, {len(data.y):,} rows\n")
    click.echo(model_text(model))
    if evaluation is not None:
        click.echo(f"\nerror ({where}): {evaluation_text(evaluation)}")


def _share(validation: str) -> float | None:
    """The share of rows to hold out; None when it names a table."""
    try:
        share = float(validation)
    except ValueError:
        return None
    if not 0 <= share < 1:
        raise ValueError(
            f"--validation must be a share >= 0 and < 1, or a table, got {validation!r}"
        )
    return share


def _check_outcomes(validation: str, target: str) -> None:
    """Raise before the fit for a table that no error could be told of."""
    outcomes = read_table(validation, ())[target]
    if outcomes.null_count == len(outcomes):
        raise ValueError(f"--validation: {validation} must have values of {target!r}, got none")


def _directions(monotone: tuple[str, ...]) -> dict[str, int] | None:
    """``area=up`` as the estimator takes it."""
    out = {}
    for text in monotone:
        name, _, word = text.rpartition("=")
        if not name or word not in _DIRECTIONS:
            raise ValueError(f"--monotone must be COLUMN=up or COLUMN=down, got {text!r}")
        out[name] = _DIRECTIONS[word]
    return out or None


def _training_columns(
    columns: pa.Table, target: str, exclude: tuple[str, ...], weight: str | None
) -> _Columns:
    """Features, target and weights of the rows whose target is known."""
    known = pc.is_valid(columns[target])
    left_out = columns.num_rows - (pc.sum(known).as_py() or 0)
    if left_out == columns.num_rows:
        raise ValueError(f"column {target!r} must have values, got {left_out} rows without any")
    if left_out:
        click.echo(f"Note: {left_out:,} rows without {target!r} are left out", err=True)
        columns = columns.filter(known)
    dropped = {target, *exclude, *([weight] if weight else [])}
    features = {name: columns[name] for name in columns.column_names if name not in dropped}
    if not features:
        raise ValueError("no column is left to predict from")
    _refuse_dates(features)
    weights = None if weight is None else _numbers(columns, weight)
    return _Columns(target, features, _numbers(columns, target), weights)


def _numbers(columns: pa.Table, name: str) -> Any:
    kind = columns[name].type
    if not (pa.types.is_floating(kind) or pa.types.is_integer(kind) or pa.types.is_decimal(kind)):
        example = next((v for v in columns[name].to_pylist() if v is not None), None)
        raise ValueError(f"column {name!r} must hold numbers, got {kind} such as {str(example)!r}")
    values = columns[name].cast(pa.float64()).to_numpy()
    strange = np.flatnonzero(~np.isfinite(values))
    if len(strange):
        row = int(strange[0])
        raise ValueError(
            f"column {name!r} must hold finite numbers, got {values[row]} in row {row}"
        )
    return values


def _refuse_dates(features: dict[str, Any]) -> None:
    dates = [name for name, column in features.items() if pa.types.is_temporal(column.type)]
    if dates:
        out = " ".join(f"--exclude {shlex.quote(name)}" for name in dates)
        raise ValueError(
            f"the columns {dates} hold dates or times, which have no order by themselves; "
            f"leave them out ({out}), or turn them into numbers first, such as year, month or "
            "days since a start"
        )
