"""Tasks of a fit on a cluster, which are let go of when it ends, however it ends."""

from __future__ import annotations

from collections.abc import Callable
from types import TracebackType
from typing import Any, Self


class Tasks:
    """What a client has computed for a fit; at the end of the ``with`` block nothing is left of it.

    Futures are released one by one: those that the traceback of an error still holds would keep
    their partitions in the memory of workers.
    """

    def __init__(self, client: Any) -> None:
        self.client = client
        self._futures: list[Any] = []

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, _: TracebackType | None
    ) -> None:
        for future in self._futures:
            future.release()
        if isinstance(error, Exception) and is_closed(self.client):
            raise RuntimeError(
                "client must stay open until the fit ends, got one that was closed before"
            ) from error

    def compute(self, collections: list[Any]) -> list[Any]:
        """Futures of dask collections."""
        return self._kept(self.client.compute(collections))

    def map(self, function: Callable[..., Any], *arguments: list[Any]) -> list[Any]:
        """Futures of what a function makes of each of the arguments."""
        return self._kept(self.client.map(function, *arguments))

    def results(self, function: Callable[..., Any], *arguments: list[Any]) -> list[Any]:
        """What a function says of each of the arguments."""
        return self.gathered(self.map(function, *arguments))

    def gathered(self, futures: list[Any]) -> list[Any]:
        """What futures come to."""
        found: list[Any] = self.client.gather(futures)
        return found

    def _kept(self, futures: list[Any]) -> list[Any]:
        self._futures += futures
        return futures


def is_closed(client: Any) -> bool:
    """Whether a client has left its cluster."""
    return client.status in ("closing", "closed")
