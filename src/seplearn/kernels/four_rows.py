"""Row passes over a stage, four rows at a time: the innermost statements of joint refinement.

The compiler cannot make vectors of these rows by itself: for all it knows, a row's factor may lie
where the row before was just written. So the four rows are spelled out in vectors, which takes two
thirds of the time. Rows are added to the sums in their order, as they would be one by one; only the
last bits of what is added differ.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from llvmlite import ir
from numba.core import types
from numba.extending import intrinsic, overload

from seplearn.kernels.arrays import CodeArray, FloatArray
from seplearn.kernels.compiler import part
from seplearn.kernels.sums import add_five

FOUR = 4
_NUMBER, _PLACE, _LANE = ir.DoubleType(), ir.IntType(64), ir.IntType(32)
_VECTOR = ir.VectorType(_NUMBER, FOUR)
_EVEN, _ODD = (0, 4, 2, 6), (1, 5, 3, 7)  # lanes of two vectors, those of the second from 4 on
_LOW, _HIGH = (0, 1, 4, 5), (2, 3, 6, 7)


@part
def apply_to_row(
    left: CodeArray,
    factors: FloatArray,
    products: FloatArray,
    residual: FloatArray,
    i: np.uint64,
) -> None:
    """Multiply the products of row i by the factors of its bin, and renew its residual."""
    b = np.uint64(left[i])
    plus, minus = products[0, i] * factors[0, b], products[1, i] * factors[1, b]
    residual[i] = residual[i] - (plus - products[0, i]) + (minus - products[1, i])
    products[0, i], products[1, i] = plus, minus


@part
def add_row(
    entered: CodeArray,
    products: FloatArray,
    residual: FloatArray,
    weight: FloatArray,
    sums: FloatArray,
    i: np.uint64,
) -> None:
    """Add what row i says to the sums of its bin."""
    plus, minus, r = products[0, i], products[1, i], residual[i]
    w_plus, w_minus = weight[i] * plus, weight[i] * minus
    b = np.uint64(entered[i])
    add_five(sums, b, w_plus * plus, w_plus * r, w_minus * minus, w_plus * minus, w_minus * r)


def apply_to_four(
    left: CodeArray,
    factors: FloatArray,
    products: FloatArray,
    residual: FloatArray,
    first: np.uint64,
) -> None:
    """:func:`apply_to_row` for four rows from ``first`` on."""
    for k in range(FOUR):
        apply_to_row(left, factors, products, residual, first + np.uint64(k))


def apply_to_four_and_add(
    left: CodeArray,
    factors: FloatArray,
    entered: CodeArray,
    products: FloatArray,
    residual: FloatArray,
    weight: FloatArray,
    sums: FloatArray,
    first: np.uint64,
) -> None:
    """:func:`apply_to_four`, then :func:`add_row` for the same rows."""
    apply_to_four(left, factors, products, residual, first)
    for k in range(FOUR):
        add_row(entered, products, residual, weight, sums, first + np.uint64(k))


class _Four:
    """Emits what is done with four rows; ``first`` is the first of them."""

    def __init__(self, builder: Any, first: Any) -> None:
        self.builder = builder
        self.first = first

    def place(self, array: Any, line: int = 0) -> Any:
        """Where the rows stand in a line of an array, which is (n,) or (lines, n)."""
        start = self.line(array, line)
        return self.builder.gep(start, [self.first])

    def line(self, array: Any, line: int) -> Any:
        """Where a line of an array begins."""
        if line == 0:
            return array.data
        return self.builder.gep(array.data, [self.builder.extract_value(array.shape, 1)])

    def read(self, place: Any) -> Any:
        """Four neighbouring numbers."""
        return self.builder.load(self.builder.bitcast(place, _VECTOR.as_pointer()), align=8)

    def write(self, vector: Any, place: Any) -> None:
        """Put four numbers side by side."""
        self.builder.store(vector, self.builder.bitcast(place, _VECTOR.as_pointer()), align=8)

    def codes(self, array: Any) -> list[Any]:
        """The bins of the rows."""
        place, out = self.place(array), []
        for k in range(FOUR):
            code = self.builder.load(self.builder.gep(place, [ir.Constant(_PLACE, k)]))
            out.append(self.builder.zext(code, _PLACE))
        return out

    def look_up(self, table: Any, bins: list[Any]) -> Any:
        """The entries of a table at the bins. The processor's own instruction for it is slower."""
        vector = ir.Constant(_VECTOR, ir.Undefined)
        for k, b in enumerate(bins):
            entry = self.builder.load(self.builder.gep(table, [b]))
            vector = self.builder.insert_element(vector, entry, ir.Constant(_LANE, k))
        return vector

    def shuffle(self, one: Any, other: Any, lanes: tuple[int, ...]) -> Any:
        """The named lanes of two vectors."""
        places = [ir.Constant(_LANE, k) for k in lanes]
        mask = ir.Constant(ir.VectorType(_LANE, FOUR), places)
        return self.builder.shuffle_vector(one, other, mask)

    def transposed(self, a: Any, b: Any, c: Any, d: Any) -> list[Any]:
        """Four vectors, the k-th of which has lane k of the four given."""
        even, odd = self.shuffle(a, b, _EVEN), self.shuffle(a, b, _ODD)
        even_too, odd_too = self.shuffle(c, d, _EVEN), self.shuffle(c, d, _ODD)
        return [
            self.shuffle(even, even_too, _LOW),
            self.shuffle(odd, odd_too, _LOW),
            self.shuffle(even, even_too, _HIGH),
            self.shuffle(odd, odd_too, _HIGH),
        ]

    def apply(self, left: Any, factors: Any, products: Any, residual: Any) -> tuple[Any, Any, Any]:
        """What :func:`apply_to_row` does; the products and residuals that it leaves."""
        builder, bins = self.builder, self.codes(left)
        new, changes = [], []
        for side in range(2):
            place = self.place(products, side)
            before = self.read(place)
            after = builder.fmul(before, self.look_up(self.line(factors, side), bins))
            self.write(after, place)
            new.append(after)
            changes.append(builder.fsub(after, before))
        place = self.place(residual)
        rest = builder.fadd(builder.fsub(self.read(place), changes[0]), changes[1])
        self.write(rest, place)
        return new[0], new[1], rest

    def add(self, entered: Any, weight: Any, sums: Any, plus: Any, minus: Any, rest: Any) -> None:
        """What :func:`add_row` does."""
        times = self.builder.fmul
        weights = self.read(self.place(weight))
        w_plus, w_minus = times(weights, plus), times(weights, minus)
        rows = self.transposed(
            times(w_plus, plus), times(w_plus, rest), times(w_minus, minus), times(w_plus, minus)
        )
        fifth = times(w_minus, rest)
        for k, b in enumerate(self.codes(entered)):
            place = self.builder.gep(sums.data, [self.builder.mul(b, ir.Constant(_PLACE, 8))])
            self.write(self.builder.fadd(self.read(place), rows[k]), place)
            last = self.builder.gep(place, [ir.Constant(_PLACE, 4)])
            own = self.builder.extract_element(fifth, ir.Constant(_LANE, k))
            self.builder.store(self.builder.fadd(self.builder.load(last), own), last)


def _emit(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
    *types_, _ = signature.args
    *given, first = arguments
    arrays = [
        context.make_array(t)(context, builder, a) for t, a in zip(types_, given, strict=True)
    ]
    four = _Four(builder, first)
    if len(arrays) == 4:
        four.apply(*arrays)
    else:
        left, factors, entered, products, residual, weight, sums = arrays
        four.add(entered, weight, sums, *four.apply(left, factors, products, residual))
    return context.get_dummy_value()


def _are_whole(*arrays: Any) -> bool:
    """Whether arrays have no gaps, as what is emitted takes for granted."""
    return all(array.layout == "C" for array in arrays)


@intrinsic
def _apply(_context: Any, left: Any, factors: Any, products: Any, residual: Any, first: Any) -> Any:
    if not _are_whole(left, factors, products, residual):
        return None
    return types.void(left, factors, products, residual, first), _emit


@intrinsic
def _apply_and_add(
    _context: Any,
    left: Any,
    factors: Any,
    entered: Any,
    products: Any,
    residual: Any,
    weight: Any,
    sums: Any,
    first: Any,
) -> Any:
    arrays = (left, factors, entered, products, residual, weight, sums)
    return (types.void(*arrays, first), _emit) if _are_whole(*arrays) else None


# numba supplies the context and inlines the lambdas, which it needs as plain functions.
_four: Any = _apply
_four_and_sums: Any = _apply_and_add


@overload(apply_to_four)
def _compiled_apply(a, b, c, d, first):  # type: ignore[no-untyped-def]  # noqa: ARG001
    return lambda a, b, c, d, first: _four(a, b, c, d, first)  # noqa: PLW0108


@overload(apply_to_four_and_add)
def _compiled_apply_and_add(a, b, c, d, e, f, g, first):  # type: ignore[no-untyped-def]  # noqa: ARG001
    return lambda a, b, c, d, e, f, g, first: _four_and_sums(a, b, c, d, e, f, g, first)  # noqa: PLW0108
