"""The per-bin sums of a bag: built once, then kept up to date by deltas."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from llvmlite import ir
from numba.core import types
from numba.extending import intrinsic, overload

from seplearn.kernels.arrays import BoolArray, CodeArray, FloatArray, GridState, IntArray
from seplearn.kernels.compiler import kernel


def add_to_sums(
    sums: FloatArray, bin_: np.uint64, d0: float, d1: float, d2: float, d3: float, d4: float
) -> None:
    """Add the five deltas of (S11, S22, S12, t1, t2) to one row of ``sums``."""
    sums[bin_, 0] += d0
    sums[bin_, 1] += d1
    sums[bin_, 2] += d2
    sums[bin_, 3] += d3
    sums[bin_, 4] += d4


@intrinsic
def _add_to_sums_vector(
    _typing_context: Any, sums: Any, bin_: Any, d0: Any, d1: Any, d2: Any, d3: Any, d4: Any
) -> Any:
    """Emit ``add_to_sums`` as one addition of four doubles at once and one of the fifth.

    This is the innermost statement of the whole fit. numba switches off the compiler pass that
    would find the four-wide addition, and scalar additions make a grid 1.4 times slower.
    """

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        array = context.make_array(signature.args[0])(context, builder, arguments[0])
        flat_index = builder.mul(arguments[1], ir.Constant(arguments[1].type, 8))
        row = builder.gep(array.data, [flat_index])
        four = ir.VectorType(ir.DoubleType(), 4)
        delta = ir.Constant(four, ir.Undefined)
        for c in range(4):
            delta = builder.insert_element(delta, arguments[2 + c], ir.Constant(ir.IntType(32), c))
        row_of_four = builder.bitcast(row, four.as_pointer())
        total = builder.fadd(builder.load(row_of_four, align=8), delta)
        builder.store(total, row_of_four, align=8)
        fifth = builder.gep(row, [ir.Constant(ir.IntType(64), 4)])
        builder.store(builder.fadd(builder.load(fifth), arguments[6]), fifth)
        return context.get_dummy_value()

    return types.void(sums, bin_, d0, d1, d2, d3, d4), generate


@overload(add_to_sums)
def _add_to_sums_compiled(  # numba matches the arguments by name
    sums: Any,  # noqa: ARG001
    bin_: Any,  # noqa: ARG001
    d0: Any,  # noqa: ARG001
    d1: Any,  # noqa: ARG001
    d2: Any,  # noqa: ARG001
    d3: Any,  # noqa: ARG001
    d4: Any,  # noqa: ARG001
) -> Any:
    def call(sums: Any, bin_: Any, d0: Any, d1: Any, d2: Any, d3: Any, d4: Any) -> None:
        # numba supplies the typing context.
        _add_to_sums_vector(sums, bin_, d0, d1, d2, d3, d4)  # type: ignore[call-arg]

    return call


@kernel
def huber_weight(weight: float, residual: float, kappa: float) -> float:
    """Return w min(1, kappa / |r|); an infinite kappa leaves squared error."""
    size = abs(residual)
    return weight if size <= kappa else weight * kappa / size


@kernel
def sort_by_bin(
    codes: CodeArray,
    offset: IntArray,
    in_bag: BoolArray,
    order: npt.NDArray[np.int32],
    start: IntArray,
) -> None:
    """Counting sort of the bag's rows on every axis: fills ``order`` and ``start`` (zeros before).

    Afterwards the rows of an interval are one contiguous piece of ``order``, so a split reads
    only the rows that it changes.
    """
    n, p = codes.shape
    for i in range(n):
        if in_bag[i]:
            for j in range(p):
                start[offset[j] + j + codes[i, j] + 1] += 1
    for j in range(p):
        for b in range(offset[j] + j, offset[j + 1] + j):
            start[b + 1] += start[b]
    position = start.copy()
    for i in range(n):
        if in_bag[i]:
            for j in range(p):
                b = offset[j] + j + codes[i, j]
                order[j, position[b]] = i
                position[b] += 1


@kernel
def fill_sums(state: GridState, kappa: float) -> None:
    """ComputeSufficientStatistics for every bin of every axis, from the rows as they are."""
    n, p = state.codes.shape
    for i in range(n):
        count = state.times[i]
        if count > 0.0:
            plus, minus, r = state.rows[i, 0], state.rows[i, 1], state.rows[i, 2]
            w = huber_weight(state.weight[i], r, kappa)
            d0, d1, d2 = w * plus * plus, w * minus * minus, -w * plus * minus
            d3, d4 = w * r * plus, -w * r * minus
            for j in range(p):
                b = np.uint64(state.offset[j] + np.int64(state.codes[i, j]))
                add_to_sums(state.sums, b, d0, d1, d2, d3, d4)
                state.sums[b, 5] += count


@kernel
def multiply_rows(
    state: GridState, kappa: float, axis: int, lo: int, hi: int, v_plus: float, v_minus: float
) -> None:
    """Multiply the + and - product by v+ and v- on the bins [lo, hi) of ``axis``.

    Only rows inside change. A row's five deltas are the same for every axis, so they are computed
    once and added to one row of sums per axis: |interval| * p additions instead of n * p.
    """
    base = state.offset[axis] + axis
    p = np.uint64(state.codes.shape[1])
    order = state.order[axis]
    # Unsigned indices spare numba's test for negative ones in the innermost loop.
    for q in range(state.start[base + lo], state.start[base + hi]):
        i = np.uint64(order[q])
        plus, minus, r = state.rows[i, 0], state.rows[i, 1], state.rows[i, 2]
        new_plus, new_minus = plus * v_plus, minus * v_minus
        new_r = r - (new_plus - plus) + (new_minus - minus)
        w = huber_weight(state.weight[i], r, kappa)
        new_w = huber_weight(state.weight[i], new_r, kappa)
        d0 = new_w * new_plus * new_plus - w * plus * plus
        d1 = new_w * new_minus * new_minus - w * minus * minus
        d2 = w * plus * minus - new_w * new_plus * new_minus
        d3 = new_w * new_r * new_plus - w * r * plus
        d4 = w * r * minus - new_w * new_r * new_minus
        state.rows[i, 0], state.rows[i, 1], state.rows[i, 2] = new_plus, new_minus, new_r
        for j in range(p):
            b = np.uint64(state.offset[j]) + np.uint64(state.codes[i, j])
            add_to_sums(state.sums, b, d0, d1, d2, d3, d4)
