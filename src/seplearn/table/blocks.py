"""Blocks of consecutive rows, and sums over them that do not depend on where the blocks are.

A sum over all rows is made of the sums of blocks, added in a binary tree over their numbers: two
neighbours, then two such pairs, and so on. Whoever holds some consecutive blocks can add up the
whole branches among them; what is left to add is small, and the last bits are the same whether all
blocks lie in memory, in a file, or on several machines.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from seplearn._spill import let_go
from seplearn.kernels.arrays import FloatArray, IntArray

ROWS_PER_BLOCK = 1 << 16  # fixed, as the order of additions depends on it and with it the last bits
# Sums over columns are made of two blocks at a time: up to so many rows they are plain sums.
BLOCKS_PER_SUM = 2
# Of more rows a fit looks at so many, evenly spread, where some rows tell as much as all.
ROWS_LOOKED_AT = 1 << 20


def block_parts(n_rows: int) -> Iterator[slice]:
    """Where the blocks of so many rows lie."""
    for first in range(0, n_rows, ROWS_PER_BLOCK):
        yield slice(first, min(first + ROWS_PER_BLOCK, n_rows))


def summed_parts(n_rows: int) -> Iterator[slice]:
    """Where the parts lie that sums over columns of so many rows are made of."""
    length = BLOCKS_PER_SUM * ROWS_PER_BLOCK
    for first in range(0, n_rows, length):
        yield slice(first, min(first + length, n_rows))


class Branches:
    """Sums of some consecutive blocks, added up as far as the tree over all blocks has branches.

    Parameters
    ----------
    first : int
        The number of the first block.

    Attributes
    ----------
    done : list of (level, array)
        Branches that are whole, in the order of the rows; one of level k has ``2**k`` blocks.
    """

    def __init__(self, first: int = 0) -> None:
        self.done: list[tuple[int, FloatArray]] = []
        self._next = first

    def add(self, sums: FloatArray, level: int = 0) -> None:
        """Take the sums of the next block, or of the next whole branch."""
        place = self._next >> level
        self._next += 1 << level
        # The right one of two: it ends a branch if the left one is here too.
        while place & 1 and self.done and self.done[-1][0] == level:
            sums = self.done.pop()[1] + sums
            place, level = place >> 1, level + 1
        self.done.append((level, sums))

    @property
    def total(self) -> FloatArray:
        """The sum of everything, branches that lack blocks at the end of the table added last."""
        (_, total), *others = reversed(self.done)
        for _, sums in others:
            total = sums + total
        return total


def tree_sum(parts: Iterable[FloatArray]) -> FloatArray:
    """The sum over blocks, given in their order."""
    branches = Branches()
    for sums in parts:
        branches.add(sums)
    return branches.total


def blocked_sum(function: Callable[..., Any], *columns: np.ndarray[Any, Any]) -> FloatArray:
    """The sum of a function of parts of columns, two blocks each, which are read in turn."""
    parts = summed_parts(len(columns[0]))
    return tree_sum(_of_part(function, *(column[part] for column in columns)) for part in parts)


def _of_part(function: Callable[..., Any], *columns: np.ndarray[Any, Any]) -> NDArray[Any]:
    found = np.asarray(function(*columns))
    for column in columns:
        let_go(column)
    return found


def ends(column: FloatArray) -> tuple[float, float]:
    """The smallest and the largest value of a column, which is read part by part."""
    found = [
        _of_part(lambda values: (values.min(), values.max()), column[part])
        for part in summed_parts(len(column))
    ]
    return float(min(low for low, _ in found)), float(max(high for _, high in found))


def rows_looked_at(n_rows: int) -> IntArray | None:
    """Numbers of some rows, ascending, one from each of as many equal stretches; None for all."""
    return None if n_rows <= ROWS_LOOKED_AT else _one_of_each_stretch(n_rows, ROWS_LOOKED_AT)


def looked_at(column: NDArray[Any]) -> NDArray[Any]:
    """Of a column of all rows what belongs to those that are looked at."""
    chosen = rows_looked_at(len(column))
    return column if chosen is None else _of_part(lambda values: values[chosen], column)


def share_looked_at(n_rows: int) -> float:
    """The share of the rows of every block where some rows tell as much as all."""
    return min(1.0, ROWS_LOOKED_AT / n_rows)


def spread_rows(n_rows: int, share: float) -> IntArray | slice:
    """A share of the rows of a block, evenly spread over it."""
    return slice(None) if share >= 1.0 else _one_of_each_stretch(n_rows, math.ceil(n_rows * share))


def _one_of_each_stretch(n_rows: int, n_stretches: int) -> IntArray:
    places = np.arange(n_stretches) + np.random.default_rng(0).random(n_stretches)
    rows: IntArray = (places * (n_rows / n_stretches)).astype(np.int64)
    return rows.clip(max=n_rows - 1)
