"""Copies of rows: how many rows they count for together, and that they are held out together.

Smoothness is learned from how rows differ. Copies of a row have the same noise, which looks like
certainty, and curves would follow it. So a bootstrap sample, classes balanced by copies, or a table
whose rows have whole numbers as weights count for as many rows as tell something of their own.

Equal rows may also have been seen more than once, as combinations of levels are, or visits to the
same place: then each of them tells something. Outcomes of the same features differ then now and
then, and different rows often differ in a single column.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from seplearn.fitting.options import AllRows, TrainingData, mixed
from seplearn.fitting.parts import Validation
from seplearn.fitting.selection import FEW_DIFFERENT, MANY_COPIES
from seplearn.kernels.arrays import BoolArray, CodeArray, FloatArray, IntArray, RandomState
from seplearn.losses import Loss
from seplearn.table.blocks import ROWS_LOOKED_AT

# Fewer copies do little harm: with a tenth of the rows errors are as they were.
_FEWEST_COPIES = 0.2
# Up to so many different rows may well be all that there can be; or of measured numbers so many.
_FEW_ROWS, _FEW_NUMBERS = 50, 20
# Of the different rows so many must differ from all others in more than one column.
_TOLD_APART = 0.95
# Two rows of the same features have different outcomes so often at least, as a share of how often
# any two rows have, where they were seen and not copied.
_LEAST_DISAGREEMENT = 0.05
# A row counts as at most so many times the copies of a typical one. A clump of equal rows, as of a
# machine that stands still, says nothing of the others: counted whole, it silenced them.
_MOST_CLUMPED = 10.0
_LOOKED_AT = 50_000  # different rows: of more, as many tell whether they differ in much
_ROUNDING = 1e-9


def without_copies(data: AllRows, validation: Validation, loss: Loss) -> tuple[AllRows, Validation]:
    """The rows, with weights that sum to what they tell, and copies that are held out together.

    Nothing changes where equal rows were seen more than once. Where few rows are copies, only what
    weights say of all rows alike is taken off: all of weight 2 are no more than all of 1. Of a
    large table the rows that are looked at decide: they have weights as all rows have, but fewer
    copies of one another.
    """
    some = data.some
    # A row of weight 2 is there twice, unless all are. Of other weights nothing is known but what
    # they add up to.
    are_numbers = not (some.weight % 1.0).any()
    if are_numbers and loss.are_means_of_counts(some.target, some.weight):
        return data, validation
    unit = _common_divisor(some.weight) if are_numbers else 1.0
    times = some.weight / unit if are_numbers else np.ones(some.n_rows)
    rows = _Different.of(some, times) if _may_be_copies(some.target, times) else None
    if rows is None or not rows.has_copies:
        own = _by_class(some.target, some.weight)
        told = unit if are_numbers else _times_too_certain(own, as_classes=False)
        return _counting_less(data, told), validation
    if rows.were_seen:
        return data, validation
    told = _times_too_certain(rows.by_class(rows.weight), as_classes=are_numbers)
    if len(rows.keys) < some.n_rows:
        validation = replace(validation, copies=rows.row)
    return _counting_less(data, told), validation


@dataclass(frozen=True, eq=False)
class _Different:
    """The different rows of a table: their keys, where each is first, and how often it is there.

    Rows are equal if they have the same target and offset, and are in the same bins.
    """

    data: TrainingData
    keys: RandomState
    first: IntArray
    row: IntArray  # of every row of the table which of the different ones it is
    copies: FloatArray
    weight: FloatArray

    @staticmethod
    def of(data: TrainingData, times: FloatArray) -> _Different:
        keys = np.zeros(data.n_rows, dtype=np.uint64)
        for column in _hashed_columns(data):
            keys += column
        different, first, row = np.unique(keys, return_index=True, return_inverse=True)
        sums = (np.bincount(row, own).astype(np.float64) for own in (times, data.weight))
        return _Different(data, different, first, row, *sums)

    @cached_property
    def target(self) -> FloatArray:
        return self.data.target[self.first]

    @cached_property
    def cells(self) -> RandomState:
        """Keys of the features and the offset, without the target."""
        cells: RandomState = self.keys - next(_hashed_columns(self.data))[self.first]
        return cells

    @cached_property
    def are_told_by_target(self) -> bool:
        """Numbers that were measured seldom agree: a target that is there twice is a copy's."""
        return len(np.unique(self.target)) >= _TOLD_APART * len(self.keys)

    @cached_property
    def cell(self) -> IntArray:
        """The number of the cell of each of these rows."""
        number: IntArray = np.unique(self.cells, return_inverse=True)[1]
        return number

    @cached_property
    def counted(self) -> BoolArray:
        """Those whose copies are counted.

        In a cell of several targets rows were seen more than once, as those that miss everything
        are.
        """
        if self.are_told_by_target:
            return np.ones(len(self.keys), dtype=bool)
        alone: BoolArray = np.bincount(self.cell)[self.cell] == 1
        return alone

    def by_class(self, of_rows: FloatArray) -> list[FloatArray]:
        """Copies, or weights, of the rows that are counted; of each of two classes apart.

        A rare class has few copies, and they are all that is known of it.
        """
        return _by_class(self.target[self.counted], of_rows[self.counted])

    @property
    def has_copies(self) -> bool:
        """Whether many rows are there more than once, in the table or in one of two classes."""
        parts = map(_unclumped, self.by_class(self.copies))
        return any(len(own) <= (1.0 - _FEWEST_COPIES) * own.sum() for own in parts)

    @property
    def were_seen(self) -> bool:
        """Whether equal rows are no copies, but were seen more than once."""
        n, few = len(self.keys), len(self.keys) <= _FEW_ROWS
        if self.are_told_by_target and n > _FEW_NUMBERS:
            return few and not _differ_in_much(self.cells, self._columns(of_target=False))
        counted = self.counted
        if few or counted.sum() <= _FEW_ROWS or self.disagreement >= _LEAST_DISAGREEMENT:
            return True
        columns = (column[counted] for column in self._columns(of_target=True))
        return not _differ_in_much(self.keys[counted], columns)

    def _columns(self, of_target: bool) -> Iterator[RandomState]:
        """Hashes of the columns of these rows, with that of the target or without."""
        for k, column in enumerate(_hashed_columns(self.data)):
            if k > 0 or of_target:
                yield column[self.first]

    @property
    def disagreement(self) -> float:
        """How often two rows of the same features have different targets, over any two rows.

        Copies never have. A cell counts once, however many rows are in it.
        """
        rows = np.bincount(self.cell, self.copies)
        pairs, several = self.copies * (self.copies - 1.0), rows > 1.0
        alike = np.bincount(self.cell, pairs)[several] / (rows * (rows - 1.0))[several]
        _, target = np.unique(self.target, return_inverse=True)
        shares = np.bincount(target, self.copies) / self.copies.sum()
        anywhere = 1.0 - float(np.sum(shares**2))
        return float(np.mean(1.0 - alike)) / anywhere if anywhere > 0.0 and len(alike) else 0.0


def repeated(
    data: AllRows, validation: Validation, has_classes: bool
) -> tuple[AllRows, Validation]:
    """Rows whose weights are numbers of rows, so many times, where parts should have some of each.

    Held out with all that it stands for, a combination of levels with an outcome could not be
    learned: those left of the same levels all have the other outcomes.
    """
    some = data.some
    times = some.weight
    is_small = some.n_rows == data.n_rows and some.mass <= ROWS_LOOKED_AT
    if not is_small or (times % 1.0).any() or times.max() <= 1.0:
        return data, validation
    if not has_classes and some.n_rows > min(FEW_DIFFERENT, some.mass / MANY_COPIES):
        return data, validation
    of = np.repeat(np.arange(some.n_rows), times.astype(np.int64))
    offset = None if some.given_offset is None else some.given_offset[of]
    codes, one = np.ascontiguousarray(some.codes[of]), np.ones(len(of))
    rows = TrainingData(some.bins, codes, some.target[of], one, offset, some.spread)
    groups = None if validation.groups is None else validation.groups[of]
    return rows, replace(validation, groups=groups)


def _may_be_copies(target: FloatArray, times: FloatArray) -> bool:
    """Whether targets are alike often enough, as they are in few tables of numbers."""
    return len(np.unique(target)) <= (1.0 - _FEWEST_COPIES) * float(times.sum())


def _common_divisor(weight: FloatArray) -> float:
    """The largest number that all weights, whole numbers, are multiples of."""
    return float(np.gcd.reduce(np.unique(weight).astype(np.int64)))


def _hashed_columns(data: TrainingData) -> Iterator[RandomState]:
    """Hashes of the target, the offset and the bin of every row on every axis; equal or not."""
    yield _hashed(np.unique(data.target, return_inverse=True)[1], 0)
    if data.given_offset is not None:
        yield _hashed(np.unique(data.given_offset, return_inverse=True)[1], 1)
    for j in range(data.bins.n_axes):
        yield _hashed(data.codes[:, j], j + 2)


def _hashed(numbers: IntArray | CodeArray, column: int) -> RandomState:
    return mixed((numbers.astype(np.uint64) << np.uint64(32)) + np.uint64(column + 1))


def _differ_in_much(keys: RandomState, columns: Iterator[RandomState]) -> bool:
    """Whether rows, all of them different, nearly all differ in more than one of their columns."""
    every = np.uint64(-(-len(keys) // _LOOKED_AT))
    for column in columns:
        others = keys - column
        others = others[others % every == 0]  # rows that are alike are all looked at, or none
        if len(np.unique(others)) < _TOLD_APART * len(others):
            return False
    return True


def _by_class(target: FloatArray, of_rows: FloatArray) -> list[FloatArray]:
    """What is told of rows, of each of two classes apart; of any other target together."""
    lowest, highest = target.min(initial=np.inf), target.max(initial=-np.inf)
    is_second = target == highest
    if lowest == highest or not (is_second | (target == lowest)).all():
        return [of_rows]
    return [of_rows[is_second], of_rows[~is_second]]


def _unclumped(copies: FloatArray) -> FloatArray:
    """How often rows are there, each at most so much oftener than a typical one."""
    if len(copies) == 0:
        return copies
    return np.minimum(copies, _MOST_CLUMPED * float(np.median(copies)))


def _times_too_certain(parts: list[FloatArray], as_classes: bool) -> float:
    """How many times as much the copies of rows seem to tell as the rows themselves.

    Sum c^2 / sum c, so that all count for the effective number of rows, (sum c)^2 / sum c^2. Of two
    classes each as much as its residuals make the noise: the log-odds of a rare class are as
    certain as its rows.
    """
    parts = [_unclumped(own) for own in parts]
    masses = np.array([own.sum() for own in parts])
    squares = np.array([(own**2).sum() for own in parts])
    if len(parts) == 1 or not as_classes:
        return float(squares.sum() / masses.sum())
    noise = masses[::-1] / masses.sum()
    return float(noise @ (squares / masses))


def _counting_less(data: AllRows, times: float) -> AllRows:
    """The rows, where they seem to tell so many times as much as they do."""
    return data.weighing(1.0 / times) if times > 1.0 + _ROUNDING else data
