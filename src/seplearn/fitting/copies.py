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

import numpy as np

from seplearn.fitting.options import AllRows, TrainingData, mixed
from seplearn.fitting.parts import Validation
from seplearn.kernels.arrays import CodeArray, FloatArray, IntArray, RandomState

# Fewer copies do little harm: with a tenth of the rows errors are as they were.
_FEWEST_COPIES = 0.2
_FEW_ROWS = 50  # up to so many different rows may well be all that there can be
# Of the different rows so many must differ from all others in more than one column.
_TOLD_APART = 0.95
# A row counts for at most so many times the copies that rows have on average: a single clump, such
# as rows of zeros, says nothing of the others.
_LARGEST_CLUMP = 10.0


def without_copies(data: AllRows, validation: Validation) -> tuple[AllRows, Validation]:
    """The rows, with weights that sum to what they tell, and copies that are held out together.

    Nothing changes where few rows are copies, or where equal rows were seen more than once. Of a
    large table the rows that are looked at decide: they have weights as all rows have, but fewer
    copies of one another.
    """
    some = data.some
    are_weighed = some.mass > some.n_rows
    most = some.n_rows if are_weighed else (1.0 - _FEWEST_COPIES) * some.n_rows
    if len(np.unique(some.target)) > most:  # as of most tables of numbers, which have no copies
        return data, validation
    keys = np.zeros(some.n_rows, dtype=np.uint64)
    for column in _hashed_columns(some):
        keys += column
    _, first, row = np.unique(keys, return_index=True, return_inverse=True)
    if not _FEW_ROWS < len(first) <= most or not _differ_in_much(some, keys, first):
        return data, validation
    if len(first) < some.n_rows:
        validation = replace(validation, copies=row)
    weight = np.bincount(row, weights=some.weight).astype(np.float64)
    return data.weighing(_share_that_tells(weight)), validation


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
    """Whether the different rows, as ``first`` lists them, nearly all differ in several columns.

    Or have a target of their own: numbers that were measured seldom agree.
    """
    least = _TOLD_APART * len(first)
    if len(np.unique(data.target[first])) >= least:
        return True
    without_one = (keys[first] - column[first] for column in _hashed_columns(data))
    return all(len(np.unique(others)) >= least for others in without_one)


def _share_that_tells(copies: FloatArray) -> float:
    """For how many rows those count of which there are so many copies, as a share of all.

    As weights that are no numbers of rows they count for the effective number, (sum c)^2 / sum c^2.
    """
    total = float(copies.sum())
    at_most = _LARGEST_CLUMP * total / len(copies)
    return min(1.0, total / float(copies @ np.minimum(copies, at_most)))
