"""The rows of a table as a saved model takes them: features, offsets, outcomes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import click
import numpy as np
import pyarrow as pa

from seplearn._numerals import count
from seplearn.cli.cells import (
    NumberReader,
    as_floats,
    as_plain_text,
    check_decimal_marks,
    check_numbers,
    class_texts,
    empty_as_missing,
    spelled_as,
    texts_as_missing,
)
from seplearn.cli.lines import note
from seplearn.cli.tables import OpenTable, check_columns, listed, opened
from seplearn.estimators.base import SeparationEstimator
from seplearn.estimators.sepals import SepALSRegressor
from seplearn.kernels.arrays import FloatArray, IntArray
from seplearn.model.classes import ClassModels
from seplearn.table.binning import Axis
from seplearn.table.schema import OffsetColumn

offset_option = click.option(
    "--offset",
    metavar="COLUMN",
    help="The column of the offset or exposure, where it has another name than in training.",
)


without_offset_option = click.option(
    "--without-offset",
    is_flag=True,
    help="Predict what a row without offset would have: with an exposure, the rate.",
)


def offset_column(
    model: SeparationEstimator, given: str | None, without: bool = False
) -> OffsetColumn | None:
    """The column that offsets are taken from: the one named, or that of the training table."""
    own = model.offset_column_
    if given is None:
        return None if without else own
    if without:
        raise ValueError("--offset must not be given together with --without-offset")
    if own is None:
        scale = model.model_.link.scale
        why = (
            "the model was fitted with offsets and does not know their column"
            if model._had_offsets
            else "this model knows of no offset"
        )
        note(f"{why}; column {given!r} is added to the {scale} as it is")
    if isinstance(model, SepALSRegressor) or isinstance(model.model_, ClassModels):
        raise ValueError(
            "--offset is for models of numbers, counts or two classes, got a "
            f"{model._kind}{' of more' if isinstance(model.model_, ClassModels) else ''}"
        )
    return OffsetColumn(given, own is not None and own.is_exposure)


def offsets_in(values: Any, column: OffsetColumn, rows: IntArray) -> FloatArray:
    """Numbers of a column as offsets; ``rows`` are their numbers in the table."""
    numbers: FloatArray = np.asarray(values, dtype=np.float64)
    sound = np.isfinite(numbers) & ((numbers > 0.0) if column.is_exposure else True)
    if not sound.all():
        first = int(np.flatnonzero(~sound)[0])
        rule = "positive numbers, as an exposure" if column.is_exposure else "finite numbers"
        raise ValueError(
            f"column {column.name!r} must hold {rule}, got {numbers[first]:g} in row {rows[first]}"
        )
    return np.log(numbers) if column.is_exposure else numbers


class _NumberColumn:
    """Reads a column of numbers from the parts of a table."""

    def __init__(self, name: str, table: OpenTable, path: str, missing: tuple[str, ...]) -> None:
        self.name, self._path, self._missing = name, path, missing
        self._reader = NumberReader(name, table.delimiter)

    def read(self, part: pa.Table, row: int) -> FloatArray:
        numbers = _numbers(part[self.name], self._reader, self._missing, row, self._path)
        values: FloatArray = numbers.cast(pa.float64()).to_numpy()
        return values


class _Offsets(_NumberColumn):
    """Reads the offsets of rows."""

    def __init__(
        self, column: OffsetColumn, table: OpenTable, path: str, missing: tuple[str, ...]
    ) -> None:
        if column.name not in table.names:
            what = "exposure" if column.is_exposure else "offset"
            raise ValueError(
                f"{path} must have the column {column.name!r} with the {what} of every row, as in "
                f"training; it has {listed(table.names)}. --offset names another column"
            )
        super().__init__(column.name, table, path, missing)
        self._column = column

    def read(self, part: pa.Table, row: int) -> FloatArray:
        values = super().read(part, row)
        try:
            return offsets_in(values, self._column, np.arange(row, row + len(values)))
        except ValueError as error:
            raise ValueError(f"{self._path}: {error}") from error


def _all_missing(model: SeparationEstimator, given: tuple[str, ...]) -> tuple[str, ...]:
    """Texts that stand for missing values: as in the training table, and those given besides."""
    return tuple(dict.fromkeys((*model.missing_texts_, *given)))


class Batch(NamedTuple):
    """Rows of a table: the features in the model's order, columns to keep, offsets if any."""

    features: pa.Table
    kept: pa.Table
    offset: FloatArray | None


def feature_batches(
    model: SeparationEstimator,
    path: str,
    keep: tuple[str, ...] = (),
    missing: tuple[str, ...] = (),
    offset: OffsetColumn | None = None,
) -> Iterator[Batch]:
    """The rows of a table part by part."""
    missing = _all_missing(model, missing)
    with opened(path) as table:
        features = _Features(model, table, path, missing)
        offsets = None if offset is None else _Offsets(offset, table, path, missing)
        wanted = features.columns_to_read((*keep, *([offset.name] if offset else [])))
        for row, part in table.parts(wanted):
            kept = {name: empty_as_missing(part[name]) if table.delimiter else part[name]
                    for name in keep}  # fmt: skip
            added = None if offsets is None else offsets.read(part, row)
            yield Batch(features.read(part, row), pa.table(kept), added)
        features.note_markers()


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

    def columns_to_read(self, others: tuple[str, ...]) -> list[str]:
        """The columns to be read, each once; raises if the table lacks one, or has it twice."""
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

    def note_markers(self) -> None:
        """Remark on markers of missing values among numbers."""
        for reader in self._readers.values():
            reader.note_markers()

    def _numbers(self, column: Any, name: str, row: int) -> Any:
        return _numbers(column, self._readers[name], self._missing, row, self._path)

    def _levels(self, column: Any, axis: Axis) -> Any:
        column, meaning = texts_as_missing(as_plain_text(column), self._missing), axis.describe()
        return spelled_as(column, (*meaning.levels, *meaning.rare)) if self._is_text else column


def _numbers(
    column: Any, reader: NumberReader, missing: tuple[str, ...], row: int, path: str
) -> Any:
    """A part of a column as numbers; raises for cells that are not, naming the first."""
    column = texts_as_missing(as_plain_text(column), missing)
    try:
        if not pa.types.is_string(column.type):
            if not pa.types.is_boolean(column.type):
                check_numbers(reader.name, column)
            return as_floats(column)
        reader.rows = row
        numbers = reader.read(column)
        reader.check("must hold numbers, as in training")
    except ValueError as error:
        raise ValueError(f"{path}: {error}") from error
    return numbers


def _names_in(model: SeparationEstimator, table: OpenTable, path: str) -> tuple[str, ...]:
    """Columns of the features; a model without names takes the columns in their order."""
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
    missing, end = _all_missing(model, missing), 0
    with opened(path) as table:
        features = _Features(model, table, path, missing)
        for first, part in table.parts(features.columns_to_read(())):
            end = first + part.num_rows
            if row < end:
                values = features.read(part.slice(row - first, 1), row)
                features.note_markers()
                return values
    last = f"0 to {end - 1}" if end else "none: it has no rows"
    raise ValueError(f"row must be one of the rows of {path} ({last}), got {row}")


class Outcomes(NamedTuple):
    """Rows with a target: features, the target (None if the table has none), offsets, weights.

    And a column that was asked for besides.
    """

    features: pa.Table
    y: Any
    offset: FloatArray | None
    weight: FloatArray | None
    kept: pa.ChunkedArray | None = None


def with_target(
    model: SeparationEstimator,
    path: str,
    target: str | None,
    missing: tuple[str, ...] = (),
    offset: OffsetColumn | None = None,
    weight: str | None = None,
    keep: str | None = None,
) -> Outcomes:
    """All rows of a table, and their target if it has one; and a column to ``keep``."""
    name, missing = target or model.target_name_, _all_missing(model, missing)
    with opened(path) as table:
        features = _Features(model, table, path, missing)
        known = target is not None or name in table.names
        asked = (name,) if name and known else ()
        outcomes = None if not asked else _Target(model, asked[0], table, path, missing)
        # Without outcomes nothing is measured, and offsets are not needed.
        needed = offset is not None and outcomes is not None
        offsets = _Offsets(offset, table, path, missing) if needed and offset else None
        weights = None if weight is None else _NumberColumn(weight, table, path, missing)
        others = [one.name for one in (offsets, weights) if one is not None]
        others += [] if keep is None else [keep]
        parts = [
            (
                features.read(part, row),
                None if outcomes is None else outcomes.read(part, row),
                None if offsets is None else offsets.read(part, row),
                None if weights is None else weights.read(part, row),
                None if keep is None else _kept_column(part[keep], table, missing),
            )
            for row, part in table.parts(features.columns_to_read((*asked, *others)))
        ]
    if not parts:
        raise ValueError(f"{path} has no rows")
    features.note_markers()
    if outcomes is not None:
        outcomes.note()
    rows, *rest, copied = zip(*parts, strict=True)
    y, added, weighed = (None if one[0] is None else np.concatenate(one) for one in rest)
    kept = None if keep is None else pa.chunked_array([c for one in copied for c in one.chunks])
    return Outcomes(pa.concat_tables(rows), y, added, weighed, kept)


def _kept_column(cells: pa.ChunkedArray, table: OpenTable, missing: tuple[str, ...]) -> Any:
    """A column as it is in the table, cells that say that a value is missing made so."""
    own = as_plain_text(cells)
    return texts_as_missing(empty_as_missing(own) if table.delimiter else own, missing)


class _Target:
    """Reads outcomes from the parts of a table: numbers, or the classes that a model knows."""

    def __init__(
        self,
        model: SeparationEstimator,
        name: str,
        table: OpenTable,
        path: str,
        missing: tuple[str, ...],
    ) -> None:
        self._name, self._path, self._missing = name, path, missing
        self._reader = NumberReader(name, table.delimiter)
        self._is_csv = table.delimiter is not None
        classes = getattr(model, "classes_", None)
        self._classes = None if classes is None else {str(one): one for one in classes.tolist()}
        self._n_unknown = 0

    def read(self, part: pa.Table, row: int) -> Any:
        """An array with NaN, or None, where the outcome is not known."""
        if self._classes is not None:
            return self._labels(part[self._name], row)
        numbers = _numbers(part[self._name], self._reader, self._missing, row, self._path)
        values = numbers.cast(pa.float64()).to_numpy()
        self._n_unknown += int(np.isnan(values).sum())
        return values

    def _labels(self, column: Any, row: int) -> Any:
        assert self._classes is not None
        column = texts_as_missing(as_plain_text(column), self._missing)
        texts = class_texts(column, self._classes, self._is_csv)
        for k, text in enumerate(texts):
            if text is not None and text not in self._classes:
                raise ValueError(
                    f"{self._path}: column {self._name!r} must have the classes that the model "
                    f"knows ({list(self._classes)}), got {text!r} in row {row + k}"
                )
        self._n_unknown += sum(text is None for text in texts)
        labels = np.empty(len(texts), dtype=object)
        labels[:] = [None if text is None else self._classes[text] for text in texts]
        return labels

    def note(self) -> None:
        """Remark on rows without an outcome."""
        self._reader.note_markers()
        if self._n_unknown:
            note(f"{count(self._n_unknown, 'row')} without {self._name!r} not used for the error")
