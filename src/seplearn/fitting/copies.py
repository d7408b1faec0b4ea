"""Copies of rows: how many rows they count for together, and that they are held out together.

Smoothness is learned from how rows differ. Copies of a row have the same noise, which looks like
certainty, and curves would follow it. So a bootstrap sample, classes balanced by copies, or a table
whose rows have whole numbers as weights count for as many rows as tell something of their own.

In a table of few different rows, as combinations of levels are, equal rows are no copies: they were
seen more than once, and each of them tells something. Rows that differ then often differ in a
single column.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from seplearn.fitting.options import AllRows, TrainingData, mixed
from seplearn.fitting.parts import Validation
from seplearn.fitting.selection import FEW_DIFFERENT, MANY_COPIES
from seplearn.kernels.arrays import BoolArray, CodeArray, FloatArray, IntArray, RandomState
from seplearn.losses import Loss
from seplearn.table.blocks import ROWS_LOOKED_AT

# Fewer copies do little harm: with a tenth of the rows errors are as they were.
_FEWEST_COPIES = 0.2
_FEW_ROWS = 50  # up to so many different rows may well be all that there can be
# Of the different rows so many must differ from all others in more than one column.
_TOLD_APART = 0.95
# Those with the most copies are left out: a clump, as of rows that are zero or missing everywhere,
# says nothing of the others.
_CLUMPS = 5
_LOOKED_AT = 50_000  # different rows: of more, as many tell whether they differ in much
_ROUNDING = 1e-9


def without_copies(data: AllRows, validation: Validation, loss: Loss) -> tuple[AllRows, Validation]:
    """The rows, with weights that sum to what they tell, and copies that are held out together.

    Nothing changes where few rows are copies, or where equal rows were seen more than once. Of a
    large table the rows that are looked at decide: they have weights as all rows have, but fewer
    copies of one another.
    """
    some = data.some
    # A row of weight 2 is there twice. Of other weights nothing is known but what they add up to.
    are_numbers = not (some.weight % 1.0).any()
    times = some.weight if are_numbers else np.ones(some.n_rows)
    most = 1.0 - _FEWEST_COPIES if are_numbers else 1.0
    if len(np.unique(some.target)) > most * times.sum():  # as of most tables of numbers
        return data, validation
    if are_numbers and loss.are_means_of_counts(some.target, some.weight):
        return data, validation
    rows = _Different.of(some, times)
    parts = rows.counted(are_numbers)
    if all(own.sum() > most * rows.copies[own].sum() for own in parts) or rows.were_seen(parts):
        return data, validation
    share = 1.0 / _times_too_certain([rows.weight[own] for own in parts])
    if len(rows.keys) < some.n_rows:
        validation = replace(validation, copies=rows.row)
    return (data.weighing(share) if share < 1.0 - _ROUNDING else data), validation


class _Different(NamedTuple):
    """The different rows of a table: their keys, where each is first, and how often it is there."""

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

    @property
    def n_targets(self) -> int:
        return len(np.unique(self.data.target[self.first]))

    @property
    def are_told_by_target(self) -> bool:
        """Numbers that were measured seldom agree: a target that is there twice is a copy's."""
        return self.n_targets >= _TOLD_APART * len(self.keys)

    def counted(self, are_numbers: bool) -> list[BoolArray]:
        """Those whose copies are counted, of each of two classes apart; none if they are too few.

        A rare class has few copies, and they are all that is known of it.
        """
        counted = np.ones(len(self.keys), dtype=bool)
        if not self.are_told_by_target:
            counted &= _are_alone(self.keys - next(_hashed_columns(self.data))[self.first])
        counted[np.argsort(self.weight, kind="stable")[-_CLUMPS:]] = False
        if counted.sum() <= max(_FEW_ROWS, 0.5 * len(self.keys)):
            return []
        is_second = self.data.target[self.first] > self.data.target.min()
        parts = [counted & is_second, counted & ~is_second]
        are_classes = self.n_targets == 2 and are_numbers and all(own.any() for own in parts)
        return parts if are_classes else [counted]

    def were_seen(self, parts: list[BoolArray]) -> bool:
        """Whether equal rows were seen more than once, as rows differ little from one another."""
        if self.are_told_by_target:
            return False
        counted = np.logical_or.reduce(parts)
        return not _differ_in_much(self.data, self.keys[counted], self.first[counted])


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


def _are_alone(cells: RandomState) -> BoolArray:
    """Which rows are the only different ones in their cell: of features and offset, without target.

    In a cell of several targets rows were seen more than once, as those that miss everything are.
    """
    _, cell, n_in_cell = np.unique(cells, return_inverse=True, return_counts=True)
    alone: BoolArray = n_in_cell[cell] == 1
    return alone


def _hashed_columns(data: TrainingData) -> Iterator[RandomState]:
    """Hashes of the target, the offset and the bin of every row on every axis; equal or not."""
    yield _hashed(np.unique(data.target, return_inverse=True)[1], 0)
    if data.given_offset is not None:
        yield _hashed(np.unique(data.given_offset, return_inverse=True)[1], 1)
    for j in range(data.bins.n_axes):
        yield _hashed(data.codes[:, j], j + 2)


def _hashed(numbers: IntArray | CodeArray, column: int) -> RandomState:
    return mixed((numbers.astype(np.uint64) << np.uint64(32)) + np.uint64(column + 1))


def _differ_in_much(data: TrainingData, keys: RandomState, first: IntArray) -> bool:
    """Whether these rows, all of them different, nearly all differ in more than one column."""
    every = np.uint64(-(-len(keys) // _LOOKED_AT))
    for column in _hashed_columns(data):
        others = keys - column[first]
        others = others[others % every == 0]  # rows that are alike are all looked at, or none
        if len(np.unique(others)) < _TOLD_APART * len(others):
            return False
    return True


def _times_too_certain(parts: list[FloatArray]) -> float:
    """How many times as much the copies of rows seem to tell as the rows themselves.

    Sum c^2 / sum c, so that all count for the effective number of rows, (sum c)^2 / sum c^2. Of two
    classes each as much as its residuals make the noise: the log-odds of a rare class are as
    certain as its rows.
    """
    masses = np.array([own.sum() for own in parts])
    times = np.array([(own**2).sum() for own in parts]) / masses
    noise = masses[::-1] / masses.sum()
    return float(noise @ times) if len(parts) > 1 else float(times[0])
