"""Parts of kernels, which Python cannot call, as kernels of their own."""

from __future__ import annotations

import numba


def as_kernel(part):
    """A function that calls the part; the part itself where compilation is switched off."""
    if not hasattr(part, "py_func"):
        return part

    def call(*arguments):
        return part(*arguments)

    return numba.njit(call)
