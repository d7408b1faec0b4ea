"""Training rows in files: blocks are read one after the other, and what a fit knows of them too."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Any

import numpy as np

from seplearn._spill import Spill, let_go
from seplearn._workers import Workers
from seplearn.fitting.carriers import Carrier, LocalCarrier
from seplearn.fitting.joint.rows import RowBlock
from seplearn.fitting.options import TrainingData, weigh_classes
from seplearn.kernels.arrays import CodeArray, FloatArray, IntArray
from seplearn.table.binning import Bins
from seplearn.table.blocks import block_parts, blocked_sum, ends, rows_looked_at
from seplearn.table.training import total_weight


@dataclass(frozen=True, eq=False)
class StoredRows:
    """Rows as :class:`TrainingData` has them, in arrays that lie in files.

    Attributes
    ----------
    codes : list of arrays of shape (p, rows of the block)
        The bins of every block, an axis after the other.
    looked_at : TrainingData or None
        The rows of :attr:`some`, where they were made already.
    """

    bins: Bins
    codes: list[CodeArray]
    target: FloatArray
    weight: FloatArray
    given_offset: FloatArray | None
    spread: float
    spill: Spill
    looked_at: TrainingData | None = None

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
        low, high = ends(self.target)
        return self.given_offset is None and low == high

    @cached_property
    def some(self) -> TrainingData:
        """The rows in memory, of a large table some, evenly spread."""
        if self.looked_at is not None:
            return self.looked_at
        chosen = rows_looked_at(self.n_rows)
        return self.loaded if chosen is None else self._rows(chosen)

    @cached_property
    def loaded(self) -> TrainingData:
        """All rows in memory."""
        return self._rows(None)

    def _rows(self, chosen: IntArray | None) -> TrainingData:
        parts: list[list[Any]] = [[], [], [], []]
        for part, codes in zip(block_parts(self.n_rows), self.codes, strict=True):
            own: Any = slice(None)
            if chosen is not None:
                low, high = np.searchsorted(chosen, [part.start, part.stop])
                own = chosen[low:high] - part.start
            offset = np.empty(0) if self.given_offset is None else self.given_offset[part][own]
            found = codes[:, own].T, self.target[part][own], self.weight[part][own], offset
            for kept, column in zip(parts, found, strict=True):
                kept.append(np.array(column))
            for array in (codes, self.target[part], self.weight[part]):
                let_go(array)
        columns = (np.ascontiguousarray(np.concatenate(kept)) for kept in parts)
        codes, target, weight, offset = columns
        bins = self.bins if chosen is None else self.bins.with_frequencies_of(codes, weight)
        given = None if self.given_offset is None else offset
        return TrainingData(bins, codes, target, weight, given, self.spread)

    def carrier(self, intercept: float, workers: Workers) -> StoredCarrier:
        """The rows in blocks, with what a constant leaves of the target."""
        residual = self.spill.array((self.n_rows,), np.float64)
        nothing = np.zeros(len(self.codes[0][0]))
        blocks = []
        for part, codes in zip(block_parts(self.n_rows), self.codes, strict=True):
            y, w = self.target[part], self.weight[part]
            # Blocks without offsets share the zeros of one.
            offset = nothing[: len(y)] if self.given_offset is None else self.given_offset[part]
            residual[part] = y - offset - intercept
            for array in (y, offset, residual[part]):
                let_go(array)
            blocks.append(RowBlock(codes, y, w, offset, y, w, residual[part]))
        return StoredCarrier(blocks, workers, self.spill)

    def half_way(self, carriers: Sequence[Carrier]) -> StoredRows:
        """The rows with targets half-way to the mean of the sums that fits have reached."""
        target = self.spill.array((self.n_rows,), np.float64)
        own = [carrier.blocks for carrier in carriers if isinstance(carrier, StoredCarrier)]
        for part, *blocks in zip(block_parts(self.n_rows), *own, strict=True):
            mean = np.mean([block.eta for block in blocks], axis=0)
            target[part] = 0.5 * (self.target[part] + mean)
            for block in blocks:
                let_go(block.response)
                let_go(block.residual)
            for column in (target, self.target):
                let_go(column[part])
        return replace(self, target=target, looked_at=None)

    def weighing(self, share: float) -> StoredRows:
        """The rows with this share of their weights."""
        weight = self.spill.array((self.n_rows,), np.float64)
        for part in block_parts(self.n_rows):
            weight[part] = share * self.weight[part]
            for column in (weight, self.weight):
                let_go(column[part])
        return replace(self, weight=weight, looked_at=None)

    def class_masses(self, n_classes: int) -> FloatArray:
        """The weight of each of several classes, whose numbers are the target."""
        return blocked_sum(partial(weigh_classes, n_classes=n_classes), self.target, self.weight)

    def one_class(self, k: int, offset: float) -> StoredRows:
        """The rows with the target "class ``k`` or not", and the same offset for all."""
        target = self.spill.array((self.n_rows,), np.float64)
        for part in block_parts(self.n_rows):
            target[part] = self.target[part] == k
            let_go(target[part])
        offsets = np.broadcast_to(np.float64(offset), target.shape)
        some = self.some.one_class(k, offset)
        return replace(self, target=target, given_offset=offsets, looked_at=some)


class _PuttingAway(LocalCarrier):
    """Blocks whose arrays lie in files; new ones that a function makes go there after it."""

    def each(self, function: Callable[..., None], *arguments: Any) -> None:
        super().each(_then(function, self.put_away), *arguments)

    def total(self, function: Callable[..., FloatArray], *arguments: Any) -> FloatArray:
        return super().total(_then(function, self.put_away), *arguments)

    def gather(self, function: Callable[..., FloatArray], *arguments: Any) -> FloatArray:
        return super().gather(_then(function, self.put_away), *arguments)

    def put_away(self, block: Any) -> None:
        """Have all arrays of a block in files."""
        raise NotImplementedError


class StoredCarrier(_PuttingAway):
    """The blocks of one fit."""

    def __init__(self, blocks: list[RowBlock], workers: Workers, spill: Spill) -> None:
        super().__init__(blocks, workers)
        self._spill = spill
        self._ends = np.cumsum([0, *(len(block.target) for block in blocks)])
        self._number = {id(block): number for number, block in enumerate(blocks)}
        self._given = [block.offset for block in blocks]
        self._shelves: dict[Any, FloatArray] = {}  # by what they are for, of all rows
        self._places: dict[Any, FloatArray] = {}  # parts of them, by block
        self._lock = threading.Lock()

    def beside(self, others: Sequence[LocalCarrier]) -> LocalCarrier:
        own = [other for other in others if isinstance(other, StoredCarrier)]
        return _SideBySide([self, *own], self._workers)

    def put_away(self, block: RowBlock) -> None:
        number = self._number[id(block)]
        for name in ("response", "working", "offset", "others"):
            array = getattr(block, name)
            is_given = array is block.target or array is block.weight or len(array) == 0
            if not is_given and array is not self._given[number]:
                setattr(block, name, self._kept(array, name, number))
        places = [("product", k) for k in range(len(block.products) + 1)]
        used = {id(pair) for pair in block.products}
        free = [p for p in places if id(self._places.get((p, number))) not in used]
        own = {id(self._places.get((p, number))) for p in places}
        for k, pair in enumerate(block.products):
            if id(pair) not in own:
                block.products[k] = self._kept(pair, free.pop(0), number)
        for array in (block.codes, block.target, block.weight, block.offset, block.others,
                      block.residual, block.working, block.response, *block.products):  # fmt: skip
            let_go(array)

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


class _SideBySide(_PuttingAway):
    """The blocks of the same rows of several fits."""

    def __init__(self, carriers: list[StoredCarrier], workers: Workers) -> None:
        super().__init__(list(zip(*(one.blocks for one in carriers), strict=True)), workers)
        self._carriers = carriers

    def put_away(self, block: tuple[RowBlock, ...]) -> None:
        for carrier, own in zip(self._carriers, block, strict=True):
            carrier.put_away(own)


def _then(function: Callable[..., Any], put_away: Callable[[RowBlock], None]) -> Callable[..., Any]:
    def both(block: RowBlock, *arguments: Any) -> Any:
        found = function(block, *arguments)
        put_away(block)
        return found

    return both
