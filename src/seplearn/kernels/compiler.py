"""How every kernel is compiled, and the one message a user sees while that happens."""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Any, TypeVar, cast

import numba
from numba.core import event
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import Compiler

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
    quarter of all the time to compile; machine code for it, which nothing runs, another.
    """
    return _merged(function, _PartCompiler)


def section(function: _Function) -> _Function:
    """Compile a part that is mostly made of other parts.

    It is optimised as a piece of the kernel alone. Optimised by itself too, and again in every
    section around it, it took longer to compile and ran no faster; the loops of parts did.
    """
    return _merged(function, _SectionCompiler)


def _merged(function: _Function, pipeline: type[Compiler]) -> _Function:
    options = _COMMON | {"forceinline": True, "no_cpython_wrapper": True}
    if all(hasattr(JITCodeLibrary, name) for name in _OF_NUMBA):  # else it only takes longer
        options["pipeline_class"] = pipeline
    compiled = numba.njit(**options)(function)
    return cast("_Function", compiled)


class _PartLibrary(JITCodeLibrary):
    """Optimised code to merge into kernels; no machine code is made of it."""

    @property
    def codegen(self) -> _PartLibrary:
        """Itself: numba asks it for nothing but :meth:`set_env`."""
        return self

    def set_env(self, env_name: str, env: object) -> None:
        """Do nothing: no code runs that could ask for its globals."""

    def get_pointer_to_function(self, name: str) -> int:  # noqa: ARG002
        """Where the machine code is: nowhere."""
        self._ensure_finalized()  # type: ignore[no-untyped-call]
        return 0

    def _finalize_final_module(self) -> None:
        self._finalize_dynamic_globals()  # type: ignore[no-untyped-call]
        self._finalized = True


class _SectionLibrary(_PartLibrary):
    """Code to merge into kernels as it was written."""

    def _optimize_final_module(self) -> None:
        return


# What is replaced here, or called: names that a later numba may do without.
_OF_NUMBA = (
    "codegen",
    "get_pointer_to_function",
    "_finalize_final_module",
    "_optimize_final_module",
    "_finalize_dynamic_globals",
    "_ensure_finalized",
)


class _PartCompiler(Compiler):
    """Numba's compiler with another library to put the code into."""

    library: type[_PartLibrary] = _PartLibrary

    def define_pipelines(self) -> Any:
        """Numba's own passes; they make a library only if there is none."""
        state = self.state
        state.library = self.library(state.targetctx.codegen(), state.func_id.func_qualname)
        return super().define_pipelines()  # type: ignore[no-untyped-call]


class _SectionCompiler(_PartCompiler):
    library = _SectionLibrary


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
