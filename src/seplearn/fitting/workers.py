"""How work is spread: fitting asks for a map over bags and never knows about threads."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from concurrent.futures import FIRST_EXCEPTION, Future, ThreadPoolExecutor, wait
from types import TracebackType
from typing import Protocol, TypeVar

import numpy as np

from seplearn.kernels.arrays import BoolArray

_Item = TypeVar("_Item")
_Result = TypeVar("_Result")

_POLL_SECONDS = 0.2  # on some systems a wait without time-out cannot be interrupted


class Workers(Protocol):
    """What fitting needs: an ordered map, and a flag that long kernels look at."""

    stop: BoolArray

    def map(self, function: Callable[[_Item], _Result], items: Iterable[_Item]) -> list[_Result]:
        """Apply ``function`` to every item and return the results in the order of the items."""
        ...


class ThreadWorkers:
    """A map over plain threads, made for one fit and gone after it.

    The calling thread only waits, so that Ctrl-C reaches it at once; kernels in flight then see
    the ``stop`` flag and end at their next step. Nothing outlives the ``with`` block, hence a
    process may fork after a fit.
    """

    def __init__(self, n_threads: int) -> None:
        self.stop: BoolArray = np.zeros(1, dtype=np.bool_)
        self._n_threads = n_threads

    def __enter__(self) -> ThreadWorkers:
        self._pool = ThreadPoolExecutor(self._n_threads, thread_name_prefix="seplearn")
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        value: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.stop[0] = kind is not None
        self._pool.shutdown(wait=kind is None, cancel_futures=True)

    def map(self, function: Callable[[_Item], _Result], items: Iterable[_Item]) -> list[_Result]:
        futures: list[Future[_Result]] = [self._pool.submit(function, item) for item in items]
        waiting: set[Future[_Result]] = set(futures)
        while waiting:
            done, waiting = wait(waiting, timeout=_POLL_SECONDS, return_when=FIRST_EXCEPTION)
            if any(future.exception() is not None for future in done):
                break
        return [future.result() for future in futures]
