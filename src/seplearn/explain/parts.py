"""The parts that a feature, a column beside the model, or other values divide rows into."""

from __future__ import annotations

from typing import Any, NamedTuple

import narwhals as nw
import numpy as np

from seplearn._errors import did_you_mean
from seplearn.explain.groups import Groups, bin_groups
from seplearn.explain.subject import Subject
from seplearn.kernels.arrays import BoolArray, CodeArray, FloatArray, IntArray
from seplearn.table.binning import bin_table
from seplearn.table.columns import Table, open_table, read_target, target_name
from seplearn.table.training import TrainingRows, known_rows, rows_with_target

_N_RANGES = 10
_MOST_BINS = 255


class Parts(NamedTuple):
    """A feature, its groups, and the group of every row."""

    name: str
    groups: Groups
    of_row: IntArray


class Divided(NamedTuple):
    """Rows that count, their bins, and the parts that they are in."""

    rows: TrainingRows
    codes: CodeArray
    parts: list[Parts]


def divided(
    subject: Subject, X: Any, outcomes: Any, sample_weight: Any, by: Any, offset: Any
) -> Divided:
    """Rows with a known outcome in parts: of ``by``, or of every feature that varies."""
    X, values = _taken_out(X, by, subject)
    table, known = rows_with_target(X, outcomes, may_be_unknown=True)
    rows = known_rows(X, known, sample_weight, offset)
    columns = subject.schema.columns_in(rows.table, subject.owner)
    codes = subject.model.bins.codes(rows.table, columns)
    if by is None:
        every = [_of_feature(subject, codes, j) for j in range(len(subject.names))]
        parts = [own for own in every if np.ptp(own.of_row) > 0] or every[:1]  # no part is all rows
    elif values is None:
        parts = [_of_feature(subject, codes, subject.feature(by))]
    else:
        kept = _kept_rows(known, sample_weight)
        parts = [_of_values(values[1], values[0], kept, table.n_rows)]
    return Divided(rows, codes, parts)


def _of_feature(subject: Subject, codes: Any, j: int) -> Parts:
    bins = subject.model.bins
    groups = bin_groups(bins.axes[j], bins.frequencies[bins.axis(j)], _N_RANGES)
    return Parts(subject.names[j], groups, groups.of_bin[codes[:, j]])


def _of_values(table: Table, name: str, kept: BoolArray, n_rows: int) -> Parts:
    """The parts that other values divide the rows into."""
    if table.n_rows != n_rows:
        raise ValueError(f"by must have one value per row ({n_rows}), got {table.n_rows}")
    own = table.rows(kept)
    categorical = np.array([own.is_categorical(0)])
    weight = np.ones(own.n_rows)
    bins, codes = bin_table(
        own, weight, categorical, _MOST_BINS, 1, lambda do, items: [do(j) for j in items]
    )
    groups = bin_groups(bins.axes[0], bins.frequencies, _N_RANGES)
    return Parts(name, groups, groups.of_bin[codes[:, 0]])


def _taken_out(X: Any, by: Any, subject: Subject) -> tuple[Any, tuple[str, Table] | None]:
    """The table, and the values to divide it by, if they are not those of a feature."""
    if by is None or (isinstance(by, str) and by in subject.names):
        return X, None
    if not isinstance(by, str):
        column = np.asarray(read_target(by))
        are_names = isinstance(by, (list, tuple)) and set(map(str, by)) <= set(subject.names)
        if are_names and len(by) != open_table(X).n_rows:
            raise ValueError(f"by must be one column, or one value per row, got {list(by)!r}")
        if column.ndim != 1:
            raise ValueError(f"by must have one value per row, got shape {column.shape}")
        return X, (target_name(by) or "group", open_table(column.reshape(-1, 1)))
    frame = nw.from_native(X, pass_through=True)
    present = frame.columns if isinstance(frame, nw.DataFrame) else list(subject.names)
    if not isinstance(frame, nw.DataFrame) or by not in present:
        raise ValueError(
            f"by must be a column of X, got {by!r}{did_you_mean(by, present)}; or one value per row"
        )
    return frame.drop(by).to_native(), (by, open_table(frame.select(by).to_native()))


def _kept_rows(outcomes: FloatArray, sample_weight: Any) -> BoolArray:
    """Which rows count: those of a known outcome and a positive weight."""
    known: BoolArray = ~np.isnan(outcomes)
    if sample_weight is not None:
        known = known & (np.asarray(read_target(sample_weight), dtype=np.float64) > 0.0)
    return known
