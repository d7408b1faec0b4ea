"""Models from files, and tables in the form their features ask for."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pyarrow as pa

from seplearn.cli.cells import (
    NumberReader,
    as_floats,
    as_plain,
    check_decimal_marks,
    spelled_as,
    without,
    without_empty,
)
from seplearn.cli.tables import OpenTable, check_columns, opened
from seplearn.cli.text import note
from seplearn.estimator import SeparationEstimator
from seplearn.loading import load_model
from seplearn.table.binning import Axis


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
    model: SeparationEstimator, path: str, keep: tuple[str, ...] = (), missing: tuple[str, ...] = ()
) -> Iterator[tuple[pa.Table, pa.Table]]:
    """The features of a table in the model's order, and the columns to keep, part by part."""
    with opened(path) as table:
        features = _Features(model, table, path, missing)
        wanted = features.and_others(keep)
        for row, part in table.parts(wanted):
            kept = {name: without_empty(part[name]) if table.delimiter else part[name]
                    for name in keep}  # fmt: skip
            yield features.read(part, row), pa.table(kept)
        features.tell()


class _Features:
    """Reads the features of a model from the parts of a table: numbers as numbers, levels as text.

    What a cell means does not depend on the rows around it, so that a part may be any rows.
    """

    def __init__(
        self, model: SeparationEstimator, table: OpenTable, path: str, missing: tuple[str, ...]
    ) -> None:
        self._path, self._present, self._missing = path, table.names, missing
        self._names = _names_in(model, table, path)
        self._labels, self._axes = model._schema.labels, model.model_.bins.axes
        self._is_text = table.delimiter is not None
        self._readers = {
            name: NumberReader(name, table.delimiter)
            for name, axis in zip(self._names, self._axes, strict=True)
            if axis.kind == "numeric"
        }

    def and_others(self, others: tuple[str, ...]) -> list[str]:
        """The columns to be read, each once; raises if the table has them not, or twice."""
        wanted = list(dict.fromkeys([*self._names, *others]))
        check_columns(self._path, wanted, self._present)
        return wanted

    def read(self, part: pa.Table, row: int) -> pa.Table:
        """The features of a part whose first row is number ``row``."""
        columns = [
            self._numbers(part[name], name, row)
            if axis.kind == "numeric"
            else self._levels(part[name], axis)
            for name, axis in zip(self._names, self._axes, strict=True)
        ]
        check_decimal_marks(self._readers.values())
        return pa.table(dict(zip(self._labels, columns, strict=True)))

    def tell(self) -> None:
        """Remark on markers of missing values among numbers."""
        for reader in self._readers.values():
            reader.tell()

    def _numbers(self, column: Any, name: str, row: int) -> Any:
        return _numbers(column, self._readers[name], self._missing, row, self._path)

    def _levels(self, column: Any, axis: Axis) -> Any:
        column, told = without(as_plain(column), self._missing), axis.describe()
        return spelled_as(column, (*told.levels, *told.rare)) if self._is_text else column


def _numbers(
    column: Any, reader: NumberReader, missing: tuple[str, ...], row: int, path: str
) -> Any:
    """A part of a column as numbers; raises for the first cells that are none."""
    column = without(as_plain(column), missing)
    if not pa.types.is_string(column.type):
        return as_floats(column)
    reader.rows = row
    numbers = reader.read(column)
    try:
        reader.check("must hold numbers, as in training")
    except ValueError as error:
        raise ValueError(f"{path}: {error}") from error
    return numbers


def _names_in(model: SeparationEstimator, table: OpenTable, path: str) -> tuple[str, ...]:
    """Columns of the features; a model without names takes the columns as they stand."""
    if model._schema.names is not None:
        return model._schema.names
    if len(table.names) != model.n_features_in_:
        raise ValueError(
            f"{path} must have {model.n_features_in_} columns, as the model knows its features by "
            f"position only; it has {len(table.names)}"
        )
    return tuple(table.names)


def one_row(
    model: SeparationEstimator, path: str, row: int, missing: tuple[str, ...] = ()
) -> pa.Table:
    """The features of one row, counted from zero; reading ends there."""
    end = 0
    with opened(path) as table:
        features = _Features(model, table, path, missing)
        for first, part in table.parts(features.and_others(())):
            end = first + part.num_rows
            if row < end:
                values = features.read(part.slice(row - first, 1), row)
                features.tell()
                return values
    last = f"0 to {end - 1}" if end else "none: it has no rows"
    raise ValueError(f"row must be one of the rows of {path} ({last}), got {row}")


def with_target(
    model: SeparationEstimator, path: str, target: str | None, missing: tuple[str, ...] = ()
) -> tuple[pa.Table, Any]:
    """All features of a table, and its target if it has one."""
    name = target or model.target_name_
    with opened(path) as table:
        features = _Features(model, table, path, missing)
        known = target is not None or name in table.names
        outcomes = NumberReader(name or "", table.delimiter)
        rows, y = [], []
        for row, part in table.parts(features.and_others((name,) if name and known else ())):
            rows.append(features.read(part, row))
            if name and known:
                y.append(_numbers(part[name], outcomes, missing, row, path).cast(pa.float64()))
    if not rows:
        raise ValueError(f"{path} has no rows")
    features.tell()
    outcomes.tell()
    if not y:
        return pa.concat_tables(rows), None
    values = pa.chunked_array([chunk for part in y for chunk in part.chunks], pa.float64())
    if values.null_count:
        note(f"{values.null_count:,} rows without {name!r} count for no error")
    return pa.concat_tables(rows), values.to_numpy()
