"""How work is spread: fitting asks for a map over bags and never knows about threads."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from concurrent.futures import FIRST_EXCEPTION, Future, ThreadPoolExecutor, wait
from types import TracebackType
from typing import Any, Protocol, TypeVar

import numpy as np
from joblib import effective_n_jobs
from joblib.parallel import get_active_backend

from seplearn._errors import HeldWarnings, held_warnings, warn
from seplearn.kernels.arrays import BoolArray

_Item = TypeVar("_Item")
_Result = TypeVar("_Result")

_POLL_SECONDS = 0.2  # on some systems a wait without time-out cannot be interrupted


def n_threads(n_jobs: int | None) -> int:
    """Threads for a fit, as joblib counts jobs.

    Inside a joblib worker it is at most what joblib left to each worker's own threads (it says so
    in OMP_NUM_THREADS), so that workers times threads do not exceed the machine.
    """
    threads: int = effective_n_jobs(n_jobs)
    backend, _ = get_active_backend()
    if (getattr(backend, "nesting_level", 0) or 0) > 0:
        left = os.environ.get("OMP_NUM_THREADS", "1").split(",")[0]  # it may count by nesting
        return min(threads, int(left)) if left.strip().isdigit() else 1
    return threads


class Workers(Protocol):
    """What fitting needs: an ordered map, and a flag that long kernels look at."""

    stop: BoolArray

    def map(self, function: Callable[[_Item], _Result], items: Iterable[_Item]) -> list[_Result]:
        """Apply ``function`` to every item and return the results in the order of the items."""
        ...


class ThreadWorkers:
    """A map over plain threads, made for one fit and gone after it.

    The calling thread only waits, so that Ctrl-C reaches it at once; kernels in flight then see
    the ``stop`` flag and end at their next step. After a fit no thread is left, hence a process
    may fork; after an exception those still ending are not waited for.
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
        def run(item: _Item) -> tuple[_Result, HeldWarnings]:
            with held_warnings() as held:
                return function(item), held

        futures = [self._pool.submit(run, item) for item in items]
        waiting: set[Future[Any]] = set(futures)
        while waiting:
            done, waiting = wait(waiting, timeout=_POLL_SECONDS, return_when=FIRST_EXCEPTION)
            for future in done:
                error = future.exception()
                if error is not None:
                    self.stop[0] = True
                    raise error
        results = [future.result() for future in futures]
        for _, held in results:
            for message, category in held:
                warn(message, category)
        return [result for result, _ in results]


class SerialWorkers:
    """A map in the calling thread: for work that is itself one of several in threads."""

    def __init__(self, stop: BoolArray) -> None:
        self.stop = stop

    def map(self, function: Callable[[_Item], _Result], items: Iterable[_Item]) -> list[_Result]:
        return [function(item) for item in items]
