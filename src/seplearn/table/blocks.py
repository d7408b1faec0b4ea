"""Blocks of consecutive rows, and sums over them that do not depend on where the blocks are.

A sum over all rows is made of the sums of blocks, added in a binary tree over their numbers: two
neighbours, then two such pairs, and so on. Whoever holds some consecutive blocks can add up the
whole branches among them; what is left to add is small, and the last bits are the same whether all
blocks lie in memory, in a file, or on several machines.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any

import numpy as np

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
    return tree_sum(np.asarray(function(*(c[part] for c in columns))) for part in parts)


def rows_looked_at(n_rows: int) -> IntArray | None:
    """Numbers of some rows, ascending, one from each of as many equal stretches; None for all."""
    if n_rows <= ROWS_LOOKED_AT:
        return None
    places = np.arange(ROWS_LOOKED_AT) + np.random.default_rng(0).random(ROWS_LOOKED_AT)
    rows: IntArray = (places * (n_rows / ROWS_LOOKED_AT)).astype(np.int64)
    return rows.clip(max=n_rows - 1)
