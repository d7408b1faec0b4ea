"""The sums over the rows of a bin that everything is learned from, and those of a bag.

One layout for grids and for joint refinement: sums of w P+^2, w P+ r, w P-^2, w P+ P- and w P- r,
in a row of eight numbers, which is a cache line. A bag also counts its rows; it builds its sums
once and then keeps them up to date by deltas.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from llvmlite import ir
from numba.core import types
from numba.extending import intrinsic, overload

from seplearn.kernels.arrays import (
    CodeArray,
    FloatArray,
    GridState,
    IntArray,
    RefineRules,
    SortedRows,
)
from seplearn.kernels.compiler import kernel, part

PLUS_PLUS, PLUS_R, MINUS_MINUS, PLUS_MINUS, MINUS_R, COUNT = range(6)  # columns
_CACHED_ROWS = 200_000  # rows of state (32 bytes each) that a processor's caches hold, roughly


def add_five(
    sums: FloatArray,
    bin_: np.uint64,
    plus_plus: float,
    plus_r: float,
    minus_minus: float,
    plus_minus: float,
    minus_r: float,
) -> None:
    """Add a row's share of the five sums, in the order of their columns, to those of one bin."""
    sums[bin_, PLUS_PLUS] += plus_plus
    sums[bin_, PLUS_R] += plus_r
    sums[bin_, MINUS_MINUS] += minus_minus
    sums[bin_, PLUS_MINUS] += plus_minus
    sums[bin_, MINUS_R] += minus_r


def add_two(sums: FloatArray, bin_: np.uint64, plus_plus: float, plus_r: float) -> None:
    """Add a row's share of the first two sums: all there is without a - product."""
    sums[bin_, PLUS_PLUS] += plus_plus
    sums[bin_, PLUS_R] += plus_r


def _emit_addition(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
    """Emit machine code that adds the trailing arguments to the head of row ``bin_`` of ``sums``.

    These additions are the innermost statements of the whole fit. numba switches off the compiler
    pass that would join neighbouring ones into a vector addition, and without that a grid takes
    1.4 times as long; so the vector addition (of four numbers, or of two) is spelled out.
    """
    array = context.make_array(signature.args[0])(context, builder, arguments[0])
    row = builder.gep(array.data, [builder.mul(arguments[1], ir.Constant(arguments[1].type, 8))])
    deltas = arguments[2:]
    width = 4 if len(deltas) >= 4 else 2
    vector_type = ir.VectorType(ir.DoubleType(), width)
    vector = ir.Constant(vector_type, ir.Undefined)
    for c in range(width):
        vector = builder.insert_element(vector, deltas[c], ir.Constant(ir.IntType(32), c))
    head = builder.bitcast(row, vector_type.as_pointer())
    builder.store(builder.fadd(builder.load(head, align=8), vector), head, align=8)
    for c in range(width, len(deltas)):
        cell = builder.gep(row, [ir.Constant(ir.IntType(64), c)])
        builder.store(builder.fadd(builder.load(cell), deltas[c]), cell)
    return context.get_dummy_value()


@intrinsic
def _add_five(
    _context: Any, sums: Any, bin_: Any, s11: Any, t1: Any, s22: Any, s12: Any, t2: Any
) -> Any:
    return types.void(sums, bin_, s11, t1, s22, s12, t2), _emit_addition


@intrinsic
def _add_two(_context: Any, sums: Any, bin_: Any, s11: Any, t1: Any) -> Any:
    return types.void(sums, bin_, s11, t1), _emit_addition


# numba supplies the context and inlines the lambdas, which it needs as plain functions.
_five: Any = _add_five
_two: Any = _add_two


@overload(add_five)
def _compiled_add_five(sums, bin_, s11, t1, s22, s12, t2):  # type: ignore[no-untyped-def]  # noqa: ARG001
    return lambda sums, bin_, s11, t1, s22, s12, t2: _five(sums, bin_, s11, t1, s22, s12, t2)  # noqa: PLW0108


@overload(add_two)
def _compiled_add_two(sums, bin_, s11, t1):  # type: ignore[no-untyped-def]  # noqa: ARG001
    return lambda sums, bin_, s11, t1: _two(sums, bin_, s11, t1)  # noqa: PLW0108


@part
def huber_weight(weight: float, residual: float, threshold: float) -> float:
    """Return w min(1, threshold / |r|); an infinite threshold leaves squared error."""
    size = abs(residual)
    return weight if size <= threshold else weight * threshold / size


@kernel
def sort_by_bin(codes: CodeArray, offset: IntArray) -> SortedRows:
    """Counting sort of all rows on every axis; done once per fit, bags pick from it."""
    n, p = codes.shape
    order = np.empty((p, n), np.int32)
    start = np.zeros(offset[p] + p, np.int64)
    for i in range(n):
        for j in range(p):
            start[offset[j] + j + np.int64(codes[i, j]) + 1] += 1
    for j in range(p):
        for b in range(offset[j] + j, offset[j + 1] + j):
            start[b + 1] += start[b]
    position = start.copy()
    for i in range(n):
        for j in range(p):
            b = offset[j] + j + np.int64(codes[i, j])
            order[j, position[b]] = i
            position[b] += 1
    return SortedRows(order, start)


@part
def rows_of_bag(everyone: SortedRows, offset: IntArray, times: FloatArray, bag: SortedRows) -> None:
    """Fill ``bag`` with the sorted rows that are in the bag at least once."""
    p = everyone.order.shape[0]
    for j in range(p):
        filled = np.uint64(0)
        for b in range(offset[j] + j, offset[j + 1] + j):
            bag.start[b] = filled
            for q in range(everyone.start[b], everyone.start[b + 1]):
                i = everyone.order[j, np.uint64(q)]
                # Written always and kept when in the bag: no branch to mispredict.
                bag.order[j, filled] = i
                filled += np.uint64(times[np.uint64(i)] > 0.0)
        bag.start[offset[j + 1] + j] = filled


@part
def fill_sums(state: GridState, threshold: float) -> None:
    """ComputeSufficientStatistics for every bin of every axis, from the rows as they are."""
    n, p = state.codes.shape
    for i in range(n):
        times = state.times[i]
        if times > 0.0:
            plus, minus, r = state.rows[i, 1], state.rows[i, 2], state.rows[i, 3]
            w = huber_weight(state.rows[i, 0], r, threshold)
            s11, s22, s12 = w * plus * plus, w * minus * minus, w * plus * minus
            t1, t2 = w * r * plus, w * r * minus
            for j in range(p):
                b = np.uint64(state.offset[j] + np.int64(state.codes[i, j]))
                add_five(state.sums, b, s11, t1, s22, s12, t2)
                state.sums[b, COUNT] += times


@part
def multiply_row(
    state: GridState, rules: RefineRules, i: np.uint64, v_plus: float, v_minus: float
) -> None:
    """Multiply the two products of row i and carry the change into the sums of its bins.

    The row's deltas are the same for every axis: they are computed once and added p times.
    Unsigned indices spare numba's test for negative ones in this innermost loop.
    """
    p = np.uint64(state.codes.shape[1])
    plus, minus, r = state.rows[i, 1], state.rows[i, 2], state.rows[i, 3]
    new_plus, new_minus = plus * v_plus, minus * v_minus
    new_r = r - (new_plus - plus) + (new_minus - minus)
    w = huber_weight(state.rows[i, 0], r, rules.threshold)
    new_w = huber_weight(state.rows[i, 0], new_r, rules.threshold)
    state.rows[i, 1], state.rows[i, 2], state.rows[i, 3] = new_plus, new_minus, new_r
    s11 = new_w * new_plus * new_plus - w * plus * plus
    t1 = new_w * new_r * new_plus - w * r * plus
    if not rules.two_branches:
        for j in range(p):
            b = np.uint64(state.offset[j]) + np.uint64(state.codes[i, j])
            add_two(state.sums, b, s11, t1)
        return
    s22 = new_w * new_minus * new_minus - w * minus * minus
    s12 = new_w * new_plus * new_minus - w * plus * minus
    t2 = new_w * new_r * new_minus - w * r * minus
    for j in range(p):
        b = np.uint64(state.offset[j]) + np.uint64(state.codes[i, j])
        add_five(state.sums, b, s11, t1, s22, s12, t2)


@part
def multiply_interval(
    state: GridState,
    rules: RefineRules,
    axis: int,
    lo: int,
    hi: int,
    v_plus: float,
    v_minus: float,
) -> None:
    """Multiply the + and - product by v+ and v- on the positions [lo, hi) of ``axis``.

    Only rows inside change: |interval| * p additions instead of n * p. They are read through the
    sorted rows; but of a table beyond the caches, a large interval is read from top to bottom,
    because memory in order is worth more than the rows skipped.
    """
    start, first = state.sorted_rows.start, state.offset[axis]
    inside = np.zeros(state.offset[axis + 1] - first, np.bool_)
    n_inside = 0
    for position in range(first + lo, first + hi):
        bin_ = state.bin_at[position]
        inside[bin_ - first] = True
        n_inside += start[bin_ + axis + 1] - start[bin_ + axis]
    n = state.codes.shape[0]
    if n > _CACHED_ROWS and 4 * n_inside > n:
        for i in range(np.uint64(n)):
            if state.times[i] > 0.0 and inside[np.int64(state.codes[i, np.uint64(axis)])]:
                multiply_row(state, rules, np.uint64(i), v_plus, v_minus)
        return
    order = state.sorted_rows.order[axis]
    for position in range(first + lo, first + hi):
        bin_ = state.bin_at[position]
        for q in range(start[bin_ + axis], start[bin_ + axis + 1]):
            multiply_row(state, rules, np.uint64(order[np.uint64(q)]), v_plus, v_minus)
