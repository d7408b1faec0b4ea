"""How every kernel is compiled, and the one message a user sees while that happens."""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Any, TypeVar, cast

import numba
from numba.core import event

_logger = logging.getLogger("seplearn")
_Function = TypeVar("_Function", bound=Callable[..., Any])

# Sums may be reassociated and contracted, but infinities and NaN keep their meaning: the scoring
# loops rely on a NaN gain never being greater than the best one.
_FASTMATH = {"reassoc", "contract", "arcp", "nsz"}
_COMMON: dict[str, Any] = {
    "nogil": True,
    "fastmath": _FASTMATH,
    "error_model": "numpy",
    "no_cfunc_wrapper": True,  # nothing takes kernels for functions of C
}
_KEPT = "compiling kernels for their first use; later runs start from the cache"
_NOT_KEPT = (
    "compiling kernels; no folder for their cache can be written, so every process does: "
    "NUMBA_CACHE_DIR may name one"
)


def kernel(function: _Function) -> _Function:
    """Compile ``function`` to machine code on first use and keep the result on disk.

    Kernels release the GIL, so plain threads run them side by side; none uses numba's own
    threading layer, which would not survive a fork. Where nothing can be kept, as in a container
    that may not be written to, every process compiles anew.
    """
    try:
        compiled = numba.njit(cache=True, **_COMMON)(function)
    except RuntimeError:  # numba found no folder for its cache
        announcer.message = _NOT_KEPT
        compiled = numba.njit(**_COMMON)(function)
    return cast("_Function", compiled)


def part(function: _Function) -> _Function:
    """Compile a function that other kernels are made of; it is always merged into its callers.

    Otherwise a process that has just compiled a kernel may call another copy of the part than one
    that reads the kernel from the cache, optimised differently: the last bits would differ.

    Python cannot call a part. What would be needed for that, unpacking its arguments, took a
    quarter of all the time to compile.
    """
    options = _COMMON | {"forceinline": True, "no_cpython_wrapper": True}
    compiled = numba.njit(**options)(function)
    return cast("_Function", compiled)


class _Announcer(event.Listener):
    """Log one line when the first kernel is compiled; one read from the cache triggers nothing.

    The line is a warning of the ``seplearn`` logger, so without any logging set-up it appears on
    standard error.
    """

    def __init__(self) -> None:
        self.announced = False
        self.message = _KEPT

    def on_start(self, event: event.Event) -> None:
        module = event.data["dispatcher"].py_func.__module__
        if not self.announced and module.startswith("seplearn."):
            self.announced = True
            _logger.warning(self.message)

    def on_end(self, event: event.Event) -> None:  # noqa: ARG002
        return


announcer = _Announcer()
event.register("numba:compile", announcer)  # type: ignore[no-untyped-call]
