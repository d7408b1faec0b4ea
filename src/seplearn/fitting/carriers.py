"""Where blocks of rows are and how sums over them are made.

A carrier runs a function on every block and adds up what comes back in a tree over the numbers of
the blocks: threads, files or other machines change nothing in the last bits. A new carrier is a
class with these methods, in a file of its own.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Protocol

import numpy as np

from seplearn._workers import Workers
from seplearn.fitting.joint.rows import RowBlock
from seplearn.kernels.arrays import FloatArray
from seplearn.table.blocks import tree_sum


class Carrier(Protocol):
    """What a joint fit needs of the rows."""

    @property
    def only_block(self) -> RowBlock | None:
        """The block, if there is only one and it is at hand: it may be worked on directly."""
        ...

    def each(self, function: Callable[..., None], *arguments: Any) -> None:
        """Run ``function(block, *arguments)`` on every block."""
        ...

    def total(self, function: Callable[..., FloatArray], *arguments: Any) -> FloatArray:
        """The sum of ``function(block, *arguments)`` over the blocks, added as a tree."""
        ...

    def gather(self, function: Callable[..., FloatArray], *arguments: Any) -> FloatArray:
        """What ``function(block, *arguments)`` says of every row, of all rows one after another."""
        ...

    def beside(self, others: Sequence[Any]) -> Carrier:
        """Carry the blocks of the same rows of this and other fits together.

        Functions get them as a tuple in the place of a block.
        """
        ...


class LocalCarrier:
    """Blocks in this process, side by side where the workers are threads."""

    def __init__(self, blocks: list[Any], workers: Workers) -> None:
        self.blocks = blocks
        self._workers = workers

    @property
    def only_block(self) -> RowBlock | None:
        return self.blocks[0] if len(self.blocks) == 1 else None

    def each(self, function: Callable[..., None], *arguments: Any) -> None:
        if len(self.blocks) == 1:  # no detour over a thread for a single block
            function(self.blocks[0], *arguments)
            return
        self._workers.map(lambda block: function(block, *arguments), self.blocks)

    def total(self, function: Callable[..., FloatArray], *arguments: Any) -> FloatArray:
        if len(self.blocks) == 1:
            return function(self.blocks[0], *arguments)
        parts: list[FloatArray] = self._workers.map(
            lambda block: function(block, *arguments), self.blocks
        )
        return tree_sum(parts)

    def gather(self, function: Callable[..., FloatArray], *arguments: Any) -> FloatArray:
        return np.concatenate([function(block, *arguments) for block in self.blocks])

    def beside(self, others: Sequence[LocalCarrier]) -> LocalCarrier:
        together = zip(self.blocks, *(other.blocks for other in others), strict=True)
        return LocalCarrier(list(together), self._workers)
