"""What a worker has: some consecutive blocks of rows, and where fits stand on them.

A share does what it is told, one order after the other, and counts them: orders that come twice
are answered from memory, those that are out of turn are refused. So a share that was lost can be
built again from its partitions and given all orders so far; it is then as it was, to the last bit.
"""

from __future__ import annotations

import pickle
import threading
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from seplearn.fitting.joint.rows import RowBlock
from seplearn.kernels.arrays import CodeArray, FloatArray, IntArray
from seplearn.table.blocks import BLOCKS_PER_SUM, Branches
from seplearn.table.training import TargetUnit


class LostShareError(RuntimeError):
    """A share is not as the orders before left it, as one that a worker has built once more."""


class CodedRows(NamedTuple):
    """Rows of a partition or of a block: their bins (p, n), target, weight and offset."""

    codes: CodeArray
    target: FloatArray
    weight: FloatArray
    offset: FloatArray

    def some(self, chosen: slice | IntArray) -> CodedRows:
        """Some of the rows."""
        return CodedRows(
            self.codes[:, chosen], self.target[chosen], self.weight[chosen], self.offset[chosen]
        )


class Piece(NamedTuple):
    """Rows of a partition, by its place among those that are given, that belong to a block."""

    partition: int
    first: int
    last: int


@dataclass(eq=False)
class Share:
    """Consecutive blocks of rows; ``starts`` are the numbers of their first rows in the table.

    It is the result of a task, which Dask frees when the client lets go of it or goes away.
    """

    first_block: int
    starts: list[int]
    blocks: list[CodedRows]
    targets: dict[int, list[FloatArray]] = field(default_factory=dict)
    carried: dict[int, list[Any]] = field(default_factory=dict)
    n_done: int = 0
    last: Any = None
    lock: Any = field(default_factory=threading.Lock)

    def __getstate__(self) -> dict[str, Any]:
        """What goes to a disk where memory is short, or along with a worker that is retired."""
        return {name: value for name, value in vars(self).items() if name != "lock"}

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state, lock=threading.Lock())

    def follow(self, first: int, orders: list[bytes]) -> Any:
        """Do what orders from number ``first`` on say, unless they were the last that were done.

        What the last of them found is the answer.
        """
        with self.lock:
            if first + len(orders) == self.n_done:
                return self.last
            if first != self.n_done:
                raise LostShareError(f"order {first} after {self.n_done} others")
            for order in orders:
                name, arguments = pickle.loads(order)  # sent by the client of the fit
                self.last = getattr(self, name)(*arguments)
                self.n_done += 1
            return self.last

    def sum_of_rows(self, function: Callable[..., FloatArray], *arguments: Any) -> Any:
        """Sums of a function of the rows, as branches of the tree over all blocks."""
        firsts = range(0, len(self.blocks), BLOCKS_PER_SUM)
        parts = (joined(self.blocks[k : k + BLOCKS_PER_SUM]) for k in firsts)
        first = self.first_block // BLOCKS_PER_SUM
        return _branches(first, (function(rows, *arguments) for rows in parts))

    def measure(self, unit: TargetUnit) -> None:
        """Bring targets and offsets to the unit of a fit."""
        self.blocks = [
            rows._replace(target=unit.measured(rows.target), offset=rows.offset / unit.scale)
            for rows in self.blocks
        ]

    def weigh(self, share: float) -> None:
        """Have rows count for a share of their weights."""
        self.blocks = [rows._replace(weight=share * rows.weight) for rows in self.blocks]

    def take(self, targets: int, chosen: IntArray | None) -> CodedRows:
        """Some of the rows, by their numbers in the table, or all; with the targets asked for."""
        taken = []
        for start, given, y in zip(self.starts, self.blocks, self._targets(targets), strict=True):
            rows = given._replace(target=y)
            own: Any = slice(None)
            if chosen is not None:
                low, high = np.searchsorted(chosen, [start, start + len(rows.target)])
                own = chosen[low:high] - start
            taken.append(rows.some(own))
        return joined(taken)

    def column(self, name: str) -> FloatArray:
        """The target, weight or offset of all rows."""
        return np.concatenate([getattr(rows, name) for rows in self.blocks])

    def carry(self, carrier: int, targets: int, intercept: float, shift: float) -> None:
        """Begin a fit at a constant, to the targets of this number, with shifted offsets."""
        self.carried[carrier] = [
            RowBlock(r.codes, y, r.weight, offset, y, r.weight, y - offset - intercept)
            for r, y in zip(self.blocks, self._targets(targets), strict=True)
            for offset in [r.offset + shift]
        ]

    def beside(self, carrier: int, others: list[int]) -> None:
        """Carry the blocks of the same rows of several fits together."""
        own = [self.carried[other] for other in others]
        self.carried[carrier] = list(zip(*own, strict=True))

    def half_way(self, targets: int, carriers: list[int]) -> None:
        """Keep targets half-way to the mean of the sums that fits have reached."""
        fits = [self.carried[carrier] for carrier in carriers]
        self.targets[targets] = [
            0.5 * (rows.target + np.mean([block.eta for block in blocks], axis=0))
            for rows, *blocks in zip(self.blocks, *fits, strict=True)
        ]

    def one_class(self, targets: int, k: int) -> None:
        """Keep targets that say whether a row is of class ``k``."""
        self.targets[targets] = [(rows.target == k).astype(np.float64) for rows in self.blocks]

    def each(self, carrier: int, function: Callable[..., None], *arguments: Any) -> None:
        """Run a function on every block of a fit."""
        for block in self.carried[carrier]:
            function(block, *arguments)

    def total(self, carrier: int, function: Callable[..., FloatArray], *arguments: Any) -> Any:
        """Sums over the blocks of a fit, as branches of the tree over all blocks."""
        sums = (function(block, *arguments) for block in self.carried[carrier])
        return _branches(self.first_block, sums)

    def gather(self, carrier: int, function: Callable[..., Any], *arguments: Any) -> FloatArray:
        """What a function says of every row of a fit."""
        return np.concatenate([function(block, *arguments) for block in self.carried[carrier]])

    def _targets(self, number: int) -> list[FloatArray]:
        """The targets of this number; zero is for those that were given."""
        return self.targets[number] if number else [rows.target for rows in self.blocks]


def _branches(first: int, sums: Iterable[FloatArray]) -> list[tuple[int, FloatArray]]:
    branches = Branches(first)
    for one in sums:
        branches.add(one)
    return branches.done


def joined(parts: list[CodedRows]) -> CodedRows:
    """Rows one after another."""
    return CodedRows(*(np.concatenate(columns, axis=-1) for columns in zip(*parts, strict=True)))


def build(
    first_block: int, starts: list[int], pieces: list[list[Piece]], *coded: CodedRows
) -> Share:
    """Put a share together from partitions."""
    blocks = []
    for own in pieces:
        rows = joined([coded[k].some(slice(first, last)) for k, first, last in own])
        blocks.append(rows._replace(codes=np.ascontiguousarray(rows.codes)))
    return Share(first_block, starts, blocks)


def run(share: Share, first: int, orders: list[bytes]) -> Any:
    """Have a share follow orders, of which the first has this number."""
    return share.follow(first, orders)
