"""Training rows in files: blocks are read one after the other, and what a fit knows of them too."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from seplearn._spill import Spill
from seplearn._workers import Workers
from seplearn.fitting.carriers import Carrier, LocalCarrier
from seplearn.fitting.joint.rows import RowBlock
from seplearn.fitting.options import TrainingData
from seplearn.kernels.arrays import CodeArray, FloatArray, IntArray
from seplearn.losses import Loss
from seplearn.table.binning import Bins
from seplearn.table.blocks import block_parts, rows_looked_at
from seplearn.table.training import total_weight


@dataclass(frozen=True, eq=False)
class StoredRows:
    """Rows as :class:`TrainingData` has them, in arrays that lie in files.

    Attributes
    ----------
    codes : list of arrays of shape (p, rows of the block)
        The bins of every block, an axis after the other.
    """

    bins: Bins
    codes: list[CodeArray]
    target: FloatArray
    weight: FloatArray
    given_offset: FloatArray | None
    spread: float
    spill: Spill

    @property
    def n_rows(self) -> int:
        return len(self.target)

    @cached_property
    def mass(self) -> float:
        """The sum of the weights."""
        return total_weight(self.weight)

    @property
    def is_constant(self) -> bool:
        """Whether all rows have the same target, and no offsets."""
        return self.given_offset is None and bool(self.target.min() == self.target.max())

    def constant(self, loss: Loss) -> float:
        """The best constant to add to the offsets of all rows."""
        return loss.constant(self.target, self.weight, self._offset(slice(None)))

    @cached_property
    def some(self) -> TrainingData:
        """The rows in memory, of a large table some, evenly spread."""
        chosen = rows_looked_at(self.n_rows)
        return self.loaded if chosen is None else self._rows(chosen)

    @cached_property
    def loaded(self) -> TrainingData:
        """All rows in memory."""
        return self._rows(None)

    def _rows(self, chosen: IntArray | None) -> TrainingData:
        parts = []
        for part, codes in zip(block_parts(self.n_rows), self.codes, strict=True):
            if chosen is None:
                parts.append(codes.T)
                continue
            low, high = np.searchsorted(chosen, [part.start, part.stop])
            parts.append(codes[:, chosen[low:high] - part.start].T)
        codes = np.ascontiguousarray(np.concatenate(parts))
        rows = slice(None) if chosen is None else chosen
        weight = np.array(self.weight[rows])
        offset = None if self.given_offset is None else np.array(self.given_offset[rows])
        bins = self.bins if chosen is None else self.bins.with_frequencies_of(codes, weight)
        return TrainingData(bins, codes, np.array(self.target[rows]), weight, offset, self.spread)

    def _offset(self, part: slice) -> FloatArray:
        if self.given_offset is not None:
            return self.given_offset[part]
        return np.zeros(len(self.target[part]))

    def carrier(self, intercept: float, workers: Workers) -> StoredCarrier:
        """The rows in blocks, with what a constant leaves of the target."""
        residual = self.spill.array((self.n_rows,), np.float64)
        nothing = self._offset(slice(0, len(self.codes[0][0])))
        blocks = []
        for part, codes in zip(block_parts(self.n_rows), self.codes, strict=True):
            y, w = self.target[part], self.weight[part]
            # Blocks without offsets share the zeros of one.
            offset = nothing[: len(y)] if self.given_offset is None else self.given_offset[part]
            residual[part] = y - offset - intercept
            blocks.append(RowBlock(codes, y, w, offset, y, w, residual[part]))
        return StoredCarrier(blocks, workers, self.spill)

    def half_way(self, carriers: Sequence[Carrier]) -> StoredRows:
        """The rows with targets half-way to the mean of the sums that fits have reached."""
        target = self.spill.array((self.n_rows,), np.float64)
        own = [carrier.blocks for carrier in carriers if isinstance(carrier, StoredCarrier)]
        for part, *blocks in zip(block_parts(self.n_rows), *own, strict=True):
            mean = np.mean([block.eta for block in blocks], axis=0)
            target[part] = 0.5 * (self.target[part] + mean)
        return replace(self, target=target)


class StoredCarrier(LocalCarrier):
    """Blocks whose arrays lie in files; new ones that a function makes go there after it."""

    def __init__(self, blocks: list[RowBlock], workers: Workers, spill: Spill) -> None:
        super().__init__(blocks, workers)
        self._spill = spill
        self._ends = np.cumsum([0, *(len(block.target) for block in blocks)])
        self._number = {id(block): number for number, block in enumerate(blocks)}
        self._shelves: dict[Any, FloatArray] = {}  # by what they are for, of all rows
        self._places: dict[Any, FloatArray] = {}  # parts of them, by block
        self._lock = threading.Lock()

    def each(self, function: Callable[..., None], *arguments: Any) -> None:
        super().each(_then(function, self._put_away), *arguments)

    def total(self, function: Callable[..., FloatArray], *arguments: Any) -> FloatArray:
        return super().total(_then(function, self._put_away), *arguments)

    def _put_away(self, block: RowBlock) -> None:
        number = self._number[id(block)]
        for name in ("response", "working"):
            array = getattr(block, name)
            if array is not block.target and array is not block.weight:
                setattr(block, name, self._kept(array, name, number))
        places = [("product", k) for k in range(len(block.products) + 1)]
        used = {id(pair) for pair in block.products}
        free = [p for p in places if id(self._places.get((p, number))) not in used]
        own = {id(self._places.get((p, number))) for p in places}
        for k, pair in enumerate(block.products):
            if id(pair) not in own:
                block.products[k] = self._kept(pair, free.pop(0), number)
        for array in (block.codes, block.target, block.weight, block.residual, block.working,
                      block.response, *block.products):  # fmt: skip
            self._spill.let_go(array)

    def _kept(self, array: FloatArray, shelf: Any, number: int) -> FloatArray:
        """The array in its place on a shelf, which is put up if there is none yet."""
        if (shelf, number) not in self._places:
            width = array.size // array.shape[-1]
            with self._lock:
                if shelf not in self._shelves:
                    length = width * int(self._ends[-1])
                    self._shelves[shelf] = self._spill.array((length,), np.float64)
            first, last = width * self._ends[number : number + 2]
            self._places[shelf, number] = self._shelves[shelf][first:last].reshape(array.shape)
        place = self._places[shelf, number]
        if array is not place:
            place[...] = array
        return place


def _then(function: Callable[..., Any], put_away: Callable[[RowBlock], None]) -> Callable[..., Any]:
    def both(block: RowBlock, *arguments: Any) -> Any:
        found = function(block, *arguments)
        put_away(block)
        return found

    return both
