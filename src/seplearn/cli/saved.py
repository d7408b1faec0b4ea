"""Models from files, and tables in the form their features ask for."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import click
import pyarrow as pa
import pyarrow.compute as pc

from seplearn.cli.tables import PIPE, batches, check_columns, column_names
from seplearn.estimator import SeparationEstimator
from seplearn.loading import load_model
from seplearn.table.binning import CategoricalAxis, NumericAxis
from seplearn.table.columns import level_name


def open_model(path: str) -> SeparationEstimator:
    """A model file; what is missing is said in one line."""
    try:
        return load_model(path)
    except FileNotFoundError as error:
        message = (
            f"there is no model file {path!r}; seplearn fit TABLE --target NAME -o {path} makes one"
        )
        raise FileNotFoundError(message) from error
    except IsADirectoryError as error:
        raise ValueError(f"model must be a file, got the folder {path!r}") from error


def feature_batches(
    model: SeparationEstimator, path: str, keep: tuple[str, ...] = ()
) -> Iterator[tuple[pa.Table, pa.Table]]:
    """The features of a table in the model's order, and the columns to keep, part by part."""
    names = _names_in(model, path)
    axes = model.model_.bins.axes
    types = {
        name: pa.float64() if isinstance(axis, NumericAxis) else pa.string()
        for name, axis in zip(names, axes, strict=True)
    }
    for batch in batches(path, types, keep):
        columns = [
            _numbers(batch[name], name)
            if isinstance(axis, NumericAxis)
            else _known(batch[name], axis)
            for name, axis in zip(names, axes, strict=True)
        ]
        yield (
            pa.table(dict(zip(model._schema.labels, columns, strict=True))),
            batch.select(list(keep)),
        )


def _names_in(model: SeparationEstimator, path: str) -> tuple[str, ...]:
    """Columns of the features; a model without names takes the columns as they stand."""
    if model._schema.names is not None:
        return model._schema.names
    present = column_names(in_a_file(path, "a model that knows its features by position"))
    if len(present) != model.n_features_in_:
        raise ValueError(
            f"{path} must have {model.n_features_in_} columns, as the model knows its features by "
            f"position only; it has {len(present)}"
        )
    return tuple(present)


def _numbers(column: Any, name: str) -> Any:
    if pa.types.is_floating(column.type) or pa.types.is_integer(column.type):
        return column
    try:
        return column.cast(pa.float64())
    except pa.ArrowException as error:
        raise ValueError(f"column {name!r} must hold numbers, as in training: {error}") from error


def _known(column: Any, axis: CategoricalAxis) -> Any:
    """Levels under the names the model has for them: '1.0' for '1', 'true' for 'True'."""
    if pa.types.is_boolean(column.type) or pa.types.is_integer(column.type):
        return pa.array(
            [None if v is None else level_name(v) for v in column.to_pylist()], pa.string()
        )
    if pa.types.is_floating(column.type):
        values = [None if v is None or v != v else level_name(v) for v in column.to_pylist()]  # noqa: PLR0124
        return pa.array(values, pa.string())
    column = column.cast(pa.string())
    known = {*axis.levels, *axis.rare}
    others = {
        text: other
        for text in pc.unique(column).to_pylist()
        if text is not None and text not in known and (other := _other_name(text)) in known
    }
    if not others:
        return column
    return pa.array([others.get(v, v) for v in column.to_pylist()], pa.string())


def _other_name(text: str) -> str | None:
    if text.lower() in ("true", "false"):
        return text.capitalize()
    try:
        return level_name(float(text))
    except (ValueError, OverflowError):
        return None


def one_row(model: SeparationEstimator, path: str, row: int) -> pa.Table:
    """The features of one row, counted from zero; reading ends there."""
    before = 0
    for features, _ in feature_batches(model, path):
        if row < before + features.num_rows:
            return features.slice(row - before, 1)
        before += features.num_rows
    last = f"0 to {before - 1}" if before else "none: it has no rows"
    raise ValueError(f"row must be one of the rows of {path} ({last}), got {row}")


def with_target(
    model: SeparationEstimator, path: str, target: str | None, what: str = "a report"
) -> tuple[pa.Table, Any]:
    """All features of a table, and its target if it has one; ``what`` they are for."""
    name = target or model.target_name_
    present = column_names(in_a_file(path, what))
    if target is not None:
        check_columns(path, [target], present)
    keep = (name,) if name is not None and name in present else ()
    parts = list(feature_batches(model, path, keep))
    if not parts:
        raise ValueError(f"{path} has no rows")
    features = pa.concat_tables([features for features, _ in parts])
    if not keep:
        return features, None
    values = pa.concat_tables([kept for _, kept in parts])[keep[0]]
    if values.null_count:
        click.echo(
            f"Note: {values.null_count:,} rows without {keep[0]!r} count for no error", err=True
        )
    return features, _numbers(values, keep[0]).to_numpy()


def in_a_file(path: str, what: str) -> str:
    """The path, unless it is the pipe, from which nothing can be read twice."""
    if path == PIPE:
        raise ValueError(f"{what} needs a table in a file, got a pipe: it is read twice")
    return path
