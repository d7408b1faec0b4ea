"""Training rows on the workers of a cluster, as a fit sees them from the client."""

from __future__ import annotations

import asyncio
import pickle
import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import wait
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from distributed import CancelledError, KilledWorker

from seplearn._workers import Workers
from seplearn.dask import shares
from seplearn.dask.shares import CodedRows, LostShareError, Piece
from seplearn.dask.tasks import is_closed
from seplearn.fitting.carriers import Carrier
from seplearn.fitting.joint.rows import RowBlock
from seplearn.fitting.options import TrainingData, weigh_classes
from seplearn.kernels.arrays import FloatArray, IntArray
from seplearn.table.binning import Axis, Bins
from seplearn.table.blocks import BLOCKS_PER_SUM, Branches, block_parts, rows_looked_at
from seplearn.table.training import weighted_squares, weighted_sums

_POLL_SECONDS = 1.0
_SECONDS_WITHOUT_WORKERS = 300.0


@dataclass(eq=False)
class _Place:
    """A share: which partitions it is built from, and the worker that has it."""

    worker: str
    first_block: int
    starts: list[int]
    pieces: list[list[Piece]]
    coded: list[Any]  # futures of the partitions
    built: Any = None  # that of the share


class Shares:
    """All shares of a fit. Orders go to all of them, one after the other.

    An order that nothing comes back of waits for the next one: both go out in one round trip.
    Orders are kept: a worker that is lost has its share built anew elsewhere, and told them again.
    """

    def __init__(self, client: Any, coded: list[Any], n_rows: list[int]) -> None:
        self._client = client
        self._orders: list[bytes] = []
        self._asked: list[Any] = []  # futures of the answers to an order
        self._n_sent = 0
        self._lock = threading.RLock()
        self._n_ids = 0
        self._places = _places(coded, n_rows, self._slots())
        for place in self._places:
            self._build(place)

    def new_id(self) -> int:
        """A number for a fit or for targets."""
        with self._lock:
            self._n_ids += 1
            return self._n_ids

    def tell(self, name: str, *arguments: Any) -> None:
        """Have all shares do something before what they are ordered next."""
        with self._lock:
            self._orders.append(pickle.dumps((name, arguments)))

    def order(self, name: str, *arguments: Any) -> list[Any]:
        """Have all shares do something; what each of them found."""
        with self._lock:
            self.tell(name, *arguments)
            first, self._n_sent = self._n_sent, len(self._orders)
            orders = self._orders[first:]
            try:
                futures = [self._told(place, first, orders) for place in self._places]
                pairs = zip(self._places, futures, strict=True)
                return [self._found(place, future) for place, future in pairs]
            finally:
                # The traceback of an error would keep them, and their answers on the workers.
                for future in self._asked:
                    future.release()
                self._asked.clear()

    def sum(self, name: str, *arguments: Any) -> FloatArray:
        """The sum of what shares find, in a tree over the blocks."""
        branches = Branches()
        for found in self.order(name, *arguments):
            for level, sums in found:
                branches.add(sums, level)
        return branches.total

    def moments(self, origin: float, width: float) -> tuple[float, float]:
        """Weighted mean and standard deviation of the target in another unit."""
        top, mass = self.sum("sum_of_rows", target_sums, origin, width)
        mean = float(top / mass)
        square = self.sum("sum_of_rows", target_squares, origin, width, mean)
        return mean, float(np.sqrt(square / mass))

    def close(self) -> None:
        """Free the memory of the workers."""
        for place in self._places:
            place.built.release()

    def _slots(self) -> list[str]:
        """A worker for each thread that there is; waits for workers if there are none."""
        until = time.monotonic() + _SECONDS_WITHOUT_WORKERS
        while time.monotonic() < until:
            threads = self._client.nthreads()
            if threads:
                return [w for w in sorted(threads) for _ in range(threads[w])]
            time.sleep(_POLL_SECONDS)
        raise RuntimeError(
            f"client must have workers, got none for {_SECONDS_WITHOUT_WORKERS:g} seconds"
        )

    def _submit(self, place: _Place, function: Callable[..., Any], *arguments: Any) -> Any:
        return self._client.submit(
            function, *arguments, workers=[place.worker], pure=False, retries=0
        )

    def _build(self, place: _Place) -> None:
        place.built = self._submit(
            place, shares.build, place.first_block, place.starts, place.pieces, *place.coded
        )

    def _told(self, place: _Place, first: int, orders: list[bytes]) -> Any:
        self._asked.append(self._submit(place, shares.run, place.built, first, orders))
        return self._asked[-1]

    def _found(self, place: _Place, future: Any) -> Any:
        """What a share found; one whose worker is lost is built anew on another."""
        while True:
            try:
                return self._answer(place, future)
            except (LostShareError, KilledWorker, CancelledError):
                if is_closed(self._client):
                    raise
            future.cancel()
            slots = self._slots()
            place.worker = slots[place.first_block % len(slots)]
            self._build(place)
            # All orders so far: what the last one finds is waited for.
            future = self._told(place, 0, self._orders[: self._n_sent])

    def _answer(self, place: _Place, future: Any) -> Any:
        """What a future comes to, as long as its worker is there.

        ``future.result(timeout=...)`` is no way to look after the worker now and then: a time-out
        ends the transfer that is under way, so an answer that takes longer would never come.
        """
        coming = self._client.gather(future, asynchronous=True)
        answer = asyncio.run_coroutine_threadsafe(coming, self._client.loop.asyncio_loop)
        while not wait([answer], timeout=_POLL_SECONDS).done:
            if is_closed(self._client):
                raise CancelledError
            if place.worker not in self._client.nthreads():
                raise LostShareError(f"{place.worker} has left the cluster")
        return answer.result()


def _places(coded: list[Any], n_rows: list[int], slots: list[str]) -> list[_Place]:
    """Blocks of consecutive rows, whatever partitions they lie in, divided among the slots."""
    ends = np.cumsum(n_rows)
    blocks = []
    for part in block_parts(int(ends[-1])):
        low, high = np.searchsorted(ends, [part.start, part.stop - 1], side="right")
        blocks.append(
            [
                Piece(
                    k,
                    max(part.start - int(ends[k] - n_rows[k]), 0),
                    min(part.stop - int(ends[k] - n_rows[k]), n_rows[k]),
                )
                for k in range(low, high + 1)
                if n_rows[k]
            ]
        )
    starts = [part.start for part in block_parts(int(ends[-1]))]
    # A share begins where a sum over columns does.
    n_sums = -(-len(blocks) // BLOCKS_PER_SUM)
    ends_of_slots = [round(k * n_sums / len(slots)) for k in range(len(slots) + 1)]
    cuts = [min(end * BLOCKS_PER_SUM, len(blocks)) for end in ends_of_slots]
    places = []
    for worker, first, last in zip(slots, cuts[:-1], cuts[1:], strict=True):
        if first == last:
            continue
        used = sorted({piece.partition for own in blocks[first:last] for piece in own})
        pieces = [
            [piece._replace(partition=used.index(piece.partition)) for piece in own]
            for own in blocks[first:last]
        ]
        own_futures = [coded[k] for k in used]
        places.append(_Place(worker, first, starts[first:last], pieces, own_futures))
    return places


class DaskCarrier:
    """Blocks on workers, reached by orders to their shares."""

    def __init__(self, shares_: Shares, number: int) -> None:
        self.number = number
        self._shares = shares_

    @property
    def only_block(self) -> RowBlock | None:
        return None

    def each(self, function: Callable[..., None], *arguments: Any) -> None:
        self._shares.tell("each", self.number, function, *arguments)

    def total(self, function: Callable[..., FloatArray], *arguments: Any) -> FloatArray:
        return self._shares.sum("total", self.number, function, *arguments)

    def gather(self, function: Callable[..., FloatArray], *arguments: Any) -> FloatArray:
        return np.concatenate(self._shares.order("gather", self.number, function, *arguments))

    def beside(self, others: Sequence[DaskCarrier]) -> DaskCarrier:
        together = DaskCarrier(self._shares, self._shares.new_id())
        numbers = [self.number, *(other.number for other in others)]
        self._shares.tell("beside", together.number, numbers)
        return together


@dataclass(frozen=True, eq=False)
class DaskRows:
    """Rows on workers.

    Attributes
    ----------
    targets : int
        0 for those that were given, or the number of others.
    shift : float
        Added to the offsets of all rows.
    looked_at : TrainingData or None
        The rows of :attr:`some`, where they were made already.
    """

    bins: Bins
    shares: Shares
    n_rows: int
    is_constant: bool
    has_offset: bool
    spread: float
    targets: int = 0
    shift: float = 0.0
    looked_at: TrainingData | None = None

    @staticmethod
    def of(
        shares_: Shares, axes: tuple[Axis, ...], is_constant: bool, has_offset: bool, spread: float
    ) -> DaskRows:
        """The rows of shares on these axes."""
        n_bins = [axis.n_bins for axis in axes]
        sums = shares_.sum("sum_of_rows", masses, n_bins)
        bins = Bins(axes, sums[2:] / sums[0])
        return DaskRows(bins, shares_, int(sums[1]), is_constant, has_offset, spread)

    @cached_property
    def mass(self) -> float:
        """The sum of the weights."""
        return float(self.shares.sum("sum_of_rows", masses, [])[0])

    @cached_property
    def some(self) -> TrainingData:
        """The rows in memory, of a large table some, evenly spread."""
        if self.looked_at is not None:
            return self.looked_at
        chosen = rows_looked_at(self.n_rows)
        return self.loaded if chosen is None else self._rows(chosen)

    @cached_property
    def loaded(self) -> TrainingData:
        """All rows in the memory of the client."""
        return self._rows(None)

    def _rows(self, chosen: IntArray | None) -> TrainingData:
        rows = shares.joined(self.shares.order("take", self.targets, chosen))
        codes = np.ascontiguousarray(rows.codes.T)
        bins = self.bins if chosen is None else self.bins.with_frequencies_of(codes, rows.weight)
        offset = rows.offset if self.has_offset else None
        return TrainingData(bins, codes, rows.target, rows.weight, offset, self.spread)

    def carrier(self, intercept: float, workers: Workers) -> Carrier:
        """The rows in blocks, with what a constant leaves of the target; one block comes here."""
        if self._is_one_block:
            return self.loaded.carrier(intercept, workers)
        carrier = DaskCarrier(self.shares, self.shares.new_id())
        self.shares.tell("carry", carrier.number, self.targets, intercept, self.shift)
        return carrier

    def half_way(self, carriers: Sequence[Carrier]) -> DaskRows | TrainingData:
        """The rows with targets half-way to the mean of the sums that fits have reached."""
        if self._is_one_block:
            return self.loaded.half_way(carriers)
        targets = self.shares.new_id()
        numbers = [carrier.number for carrier in carriers if isinstance(carrier, DaskCarrier)]
        self.shares.tell("half_way", targets, numbers)
        return replace(self, targets=targets, looked_at=None)

    def weighing(self, share: float) -> DaskRows:
        """The rows with this share of their weights, which the workers have no more."""
        self.shares.tell("weigh", share)
        return replace(self, looked_at=None)

    def class_masses(self, n_classes: int) -> FloatArray:
        """The weight of each of several classes, whose numbers are the target."""
        return self.shares.sum("sum_of_rows", class_masses, n_classes)

    def one_class(self, k: int, offset: float) -> DaskRows | TrainingData:
        """The rows with the target "class ``k`` or not", and the same offset for all."""
        if self._is_one_block:
            return self.loaded.one_class(k, offset)
        targets = self.shares.new_id()
        self.shares.tell("one_class", targets, k)
        some = self.some.one_class(k, offset)
        return replace(self, targets=targets, shift=offset, looked_at=some)

    @property
    def _is_one_block(self) -> bool:
        return sum(1 for _ in block_parts(self.n_rows)) == 1


def target_sums(rows: CodedRows, origin: float, width: float) -> FloatArray:
    """Weighted sum of ``(y - origin) / width``, and the sum of the weights."""
    return np.array(weighted_sums(rows.target, rows.weight, origin, width))


def target_squares(rows: CodedRows, origin: float, width: float, mean: float) -> FloatArray:
    """Weighted sum of the squares of ``(y - origin) / width - mean``."""
    return np.array(weighted_squares(rows.target, rows.weight, origin, width, mean))


def class_masses(rows: CodedRows, n_classes: int) -> FloatArray:
    """The weight of each class."""
    return weigh_classes(rows.target, rows.weight, n_classes)


def masses(rows: CodedRows, n_bins: list[int]) -> FloatArray:
    """The weight and number of the rows, and the weight in every bin of every axis."""
    head = np.array([rows.weight.sum(), len(rows.weight)], dtype=np.float64)
    pairs = zip(rows.codes, n_bins, strict=False)
    return np.concatenate(
        [head, *(np.bincount(c, weights=rows.weight, minlength=b) for c, b in pairs)]
    )
