"""The columns of a training table: what each is for, and what it holds."""

from __future__ import annotations

import shlex
import warnings
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from seplearn._numerals import count
from seplearn.cli.cells import as_classes, as_floats, as_plain_text, check_numbers, text_as_missing
from seplearn.cli.lines import note
from seplearn.cli.model_rows import offsets_in
from seplearn.cli.tables import check_columns, opened, read_columns
from seplearn.cli.training_cells import Purpose, TrainingColumn, TrainingTable, note_codes
from seplearn.estimators.classifier import TSLClassifier
from seplearn.estimators.exposure import ExposureWarning
from seplearn.estimators.tsl import TSLRegressor
from seplearn.table.columns import open_table
from seplearn.table.schema import OffsetColumn
from seplearn.table.training import are_cells


@dataclass(frozen=True)
class Roles:
    """What the columns of the training table are for: one thing each."""

    target: str
    weight: str | None
    offset: OffsetColumn | None
    exclude: tuple[str, ...]
    categorical: tuple[str, ...]
    missing: tuple[str, ...]
    task: str

    def __post_init__(self) -> None:
        first: dict[str, str] = {}
        for option, names in self.by_option.items():
            for name in names:
                other = first.setdefault(name, option)
                if other != option:
                    raise ValueError(
                        f"{option} must not name a column that {other} names, got {name!r}"
                    )

    @property
    def by_option(self) -> dict[str, tuple[str, ...]]:
        """The columns that each option names."""
        return {
            "--target": (self.target,),
            "--weight": (self.weight,) if self.weight else (),
            self._offset_option: (self.offset.name,) if self.offset else (),
            "--exclude": self.exclude,
            "--categorical": self.categorical,
        }

    @property
    def _offset_option(self) -> str:
        return "--exposure" if self.offset and self.offset.is_exposure else "--offset"

    @property
    def numeric(self) -> list[str]:
        """Columns beside the target that have to hold numbers."""
        return [name for name in (self.weight, self.offset and self.offset.name) if name]

    @property
    def no_features(self) -> list[str]:
        return [self.target, *self.numeric]

    def purpose(self, name: str) -> Purpose:
        """What a column of a CSV is read for."""
        if name == self.target and self.task in ("auto", "classification"):
            return "target" if self.task == "auto" else "classes"
        if name in self.no_features:
            return "numbers"
        return "levels" if name in self.categorical else "feature"


@dataclass
class Columns:
    """The training table, column by column, so that rows can be reordered without a second copy."""

    target: str
    features: dict[str, Any]
    y: np.ndarray[Any, Any]
    weight: np.ndarray[Any, Any] | None
    offset: np.ndarray[Any, Any] | None
    has_exposure: bool  # of which the offset is the log
    n_in_table: int  # rows, those without an outcome included

    @property
    def has_classes(self) -> bool:
        """Whether the target holds labels, not numbers."""
        return bool(self.y.dtype.kind != "f")

    @property
    def classes(self) -> np.ndarray[Any, Any]:
        """The different labels, sorted."""
        return np.unique(self.y)

    @property
    def are_cells(self) -> bool:
        """Whether rows are the cells of a contingency table, with their counts as weights."""
        if self.weight is None:
            return False
        numbers = np.unique(self.y, return_inverse=True)[1].astype(np.float64)
        weight = np.asarray(self.weight, dtype=np.float64)
        table, seen = open_table(pa.table(self.features)), weight > 0.0
        return are_cells(table.rows(seen), numbers[seen], weight[seen])

    def reorder(self, order: np.ndarray[Any, Any]) -> None:
        """Put the rows into another order, one column at a time to save memory."""
        for name in self.features:
            self.features[name] = self.features[name].take(pa.array(order))
        self.y = self.y[order]
        self.weight = None if self.weight is None else self.weight[order]
        self.offset = None if self.offset is None else self.offset[order]

    def rows(self, part: slice) -> tuple[pa.Table, pa.Table, Any]:
        """Features, target and weights of consecutive rows, without copying."""
        start, stop, _ = part.indices(len(self.y))
        table = pa.table(self.features).slice(start, stop - start)
        weight = None if self.weight is None else self.weight[part]
        return table, pa.table({self.target: self.y[part]}), weight

    def fit(self, model: TSLRegressor | TSLClassifier, part: slice) -> None:
        with warnings.catch_warnings():
            if self.has_exposure:  # its log is taken, whatever that looks like
                warnings.simplefilter("ignore", ExposureWarning)
            model.fit(*self.rows(part), offset=self.offsets(part))

    def offsets(self, part: slice) -> Any:
        return None if self.offset is None else self.offset[part]


def read_training(path: str, roles: Roles) -> dict[str, pa.ChunkedArray]:
    """The columns that are used, as what they hold: numbers as float64, levels as text."""
    with opened(path) as table:
        named = [*roles.no_features, *roles.exclude, *roles.categorical]
        check_columns(path, named, table.names)
        check_columns(path, table.names, table.names)
        columns = read_columns(table, [n for n in table.names if n not in roles.exclude])
        delimiter = table.delimiter
    missing, table_cells = MissingTexts(roles.missing), TrainingTable()
    for name in columns:  # in place: the memory of a column's text is free before the next is read
        column = missing.applied(as_plain_text(columns[name]))
        try:
            if delimiter is None:
                columns[name] = _typed(name, column, roles)
                continue
            cells = TrainingColumn(name, roles.purpose(name))
            cells.begin(delimiter)
            cells.look_at(column)
            table_cells.decide(cells)
            columns[name] = cells.read(column)
        except ValueError as error:
            raise ValueError(f"{path}: {error}") from error
    missing.note_absent()
    return columns


class MissingTexts:
    """The values that ``--missing`` names, and which of them there are in a table."""

    def __init__(self, texts: tuple[str, ...]) -> None:
        self._is_there = dict.fromkeys(texts, False)

    def applied(self, column: Any) -> Any:
        """A column in which they are missing."""
        for text in self._is_there:
            column, is_there = text_as_missing(column, text)
            self._is_there[text] |= is_there
        return column

    def note_absent(self) -> None:
        """Remark on values that no cell has: they may be spelled otherwise."""
        for text in (text for text, is_there in self._is_there.items() if not is_there):
            note(f"--missing {shlex.quote(text)}: no cell of the table has this text")


def _typed(name: str, column: Any, roles: Roles) -> Any:
    """A column of Parquet, whose type says what it holds."""
    kind = column.type
    if pa.types.is_binary(kind) or pa.types.is_large_binary(kind):
        raise ValueError(f"column {name!r} is not UTF-8 text; save the table as UTF-8")
    if name == roles.target and pa.types.is_temporal(kind):
        raise refused_dates_of(name)
    if name == roles.target and roles.task == "classification":
        return as_classes(column)
    is_class = pa.types.is_boolean(kind) or pa.types.is_string(kind)
    if name == roles.target and roles.task == "auto" and is_class:
        return column
    if name in roles.no_features:
        check_numbers(name, column)
        return column.cast(pa.float64(), safe=False)
    if name in roles.categorical or not pa.types.is_integer(kind):
        return column
    numbers = as_floats(column)
    note_codes(name, np.asarray(numbers.drop_null()))
    return numbers


def training_columns(columns: dict[str, pa.ChunkedArray], roles: Roles) -> Columns:
    """Features, target, weights and offsets of the rows whose target is known."""
    outcomes = columns[roles.target]
    has_numbers = pa.types.is_floating(outcomes.type)
    is_known = pc.invert(pc.is_nan(outcomes)) if has_numbers else pc.is_valid(outcomes)
    known = pc.fill_null(is_known, False)
    rows = np.flatnonzero(np.asarray(known))
    left_out = len(outcomes) - len(rows)
    if not len(rows):
        got = f"{left_out} rows without any" if left_out else "a table without rows"
        raise ValueError(f"column {roles.target!r} must have values, got {got}")
    if left_out:
        note(f"{count(left_out, 'row')} without {roles.target!r} left out")
        columns = {name: column.filter(known) for name, column in columns.items()}
    features = {name: column for name, column in columns.items() if name not in roles.no_features}
    if not features:
        raise ValueError("no column is left to predict from")
    refuse_dates(name for name, column in features.items() if pa.types.is_temporal(column.type))
    outcomes = columns[roles.target]
    y = _finite(outcomes, roles.target, rows) if has_numbers else outcomes.to_numpy()
    weights = None if roles.weight is None else _weights(columns[roles.weight], roles.weight, rows)
    offset = roles.offset
    offsets = None if offset is None else offsets_in(columns[offset.name].to_numpy(), offset, rows)
    has_exposure = offset is not None and offset.is_exposure
    return Columns(roles.target, features, y, weights, offsets, has_exposure, left_out + len(rows))


def _finite(column: pa.ChunkedArray, name: str, rows: np.ndarray[Any, Any]) -> Any:
    """The values of a column, all finite; ``rows`` are their row numbers in the table."""
    values = column.to_numpy()
    strange = np.flatnonzero(~np.isfinite(values))
    if len(strange):
        first = int(strange[0])
        raise ValueError(
            f"column {name!r} must hold finite numbers, got {values[first]} in row {rows[first]}"
        )
    return values


def _weights(column: pa.ChunkedArray, name: str, rows: np.ndarray[Any, Any]) -> Any:
    """Weights of rows, which are not negative."""
    values = _finite(column, name, rows)
    negative = np.flatnonzero(values < 0.0)
    if len(negative):
        first = int(negative[0])
        raise ValueError(
            f"column {name!r} must hold finite numbers that are not negative, got {values[first]} "
            f"in row {rows[first]}"
        )
    return values


def refused_dates_of(target: str) -> ValueError:
    """The error of a target that holds dates."""
    return ValueError(f"--target must hold numbers or classes, got {target!r}, with dates")


def refuse_dates(names: Iterable[str]) -> None:
    """Raise if there are any features that hold dates."""
    dates = list(names)
    if dates:
        out = " ".join(f"--exclude {shlex.quote(name)}" for name in dates)
        raise ValueError(
            f"the columns {dates} hold dates or times, which cannot be used as they are; "
            f"leave them out ({out}), or turn them into numbers first, such as year, month or "
            "days since a start"
        )
