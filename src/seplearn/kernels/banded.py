"""Symmetric matrices of two or four off-diagonals: solve, and the bands of the inverse, in O(n).

A matrix is stored by its upper bands: ``bands[k, i]`` is the element (i, i + k). Several matrices
may stand interleaved, ``stride`` of them: then ``bands[k, i]`` is the element (i, i + k * stride).
Before and after the rows there is a margin of zeros, as many as the last band is away, so that no
row is a special case. The system is A = L D L' with L unit lower triangular; ``lower[k, i]`` is L's
element (i + k, i).

What is done to a row waits for the row before it. So the functions here do one row, and callers
take several matrices and right sides along in one loop: together they wait hardly longer than one.
Every element is written out: the compiler leaves loops over four off-diagonals as they are, at four
times the time. Places are unsigned: a signed one may count from the end, and to look whether it
does took a good part of the time.
"""

from __future__ import annotations

import numpy as np

from seplearn.kernels.arrays import FloatArray
from seplearn.kernels.compiler import part


@part
def factorise_two(
    bands: FloatArray, inverse_pivots: FloatArray, lower: FloatArray, i: int, stride: int
) -> None:
    """One pivot, inverted, and the column of L under it, after those of the rows before.

    The bands of A above its diagonal are overwritten by those of D L': with both at hand the next
    row waits less.
    """
    here, a, b = np.uint64(i), np.uint64(i - stride), np.uint64(i - 2 * stride)
    pivot = bands[0, here] - lower[2, b] * bands[2, b] - lower[1, a] * bands[1, a]
    next_ = bands[1, here] - bands[2, a] * lower[1, a]
    inverse = 1.0 / pivot
    inverse_pivots[here] = inverse
    bands[1, here] = next_
    lower[1, here], lower[2, here] = next_ * inverse, bands[2, here] * inverse


@part
def forward_two(lower: FloatArray, x: FloatArray, i: int) -> None:
    """Row i of the solution of L x' = x, which takes the place of x; the newest row comes last."""
    here, a, b = np.uint64(i), np.uint64(i - 1), np.uint64(i - 2)
    x[here] = x[here] - lower[2, b] * x[b] - lower[1, a] * x[a]


@part
def backward_two(inverse_pivots: FloatArray, lower: FloatArray, x: FloatArray, i: int) -> None:
    """Row i of the solution of D L' x' = x, after those of the rows below it."""
    here, a, b = np.uint64(i), np.uint64(i + 1), np.uint64(i + 2)
    x[here] = x[here] * inverse_pivots[here] - lower[2, here] * x[b] - lower[1, here] * x[a]


@part
def inverse_two(
    inverse_pivots: FloatArray, lower: FloatArray, inverse: FloatArray, i: int, stride: int
) -> None:
    """Row i of the bands 0 ... 2 of the inverse, after those of the rows below it (Takahashi).

    From Z = D^-1 L^-1 + (I - L') Z: an element inside the band needs only elements inside the band.
    """
    here, a, b = np.uint64(i), np.uint64(i + stride), np.uint64(i + 2 * stride)
    l1, l2 = lower[1, here], lower[2, here]
    z2 = -l1 * inverse[1, a] - l2 * inverse[0, b]
    z1 = -l1 * inverse[0, a] - l2 * inverse[1, a]
    inverse[2, here], inverse[1, here] = z2, z1
    inverse[0, here] = inverse_pivots[here] - l1 * z1 - l2 * z2


@part
def factorise_four(
    bands: FloatArray, inverse_pivots: FloatArray, lower: FloatArray, i: int
) -> None:
    """As :func:`factorise_two`."""
    here, a, b = np.uint64(i), np.uint64(i - 1), np.uint64(i - 2)
    c, d = np.uint64(i - 3), np.uint64(i - 4)
    pivot = bands[0, here] - lower[4, d] * bands[4, d] - lower[3, c] * bands[3, c]
    pivot = pivot - lower[2, b] * bands[2, b] - lower[1, a] * bands[1, a]
    first = bands[1, here] - bands[4, c] * lower[3, c] - bands[3, b] * lower[2, b]
    first -= bands[2, a] * lower[1, a]
    second = bands[2, here] - bands[4, b] * lower[2, b] - bands[3, a] * lower[1, a]
    third = bands[3, here] - bands[4, a] * lower[1, a]
    inverse = 1.0 / pivot
    inverse_pivots[here] = inverse
    bands[1, here], bands[2, here], bands[3, here] = first, second, third
    lower[1, here], lower[2, here] = first * inverse, second * inverse
    lower[3, here], lower[4, here] = third * inverse, bands[4, here] * inverse


@part
def forward_four(lower: FloatArray, x: FloatArray, i: int) -> None:
    """As :func:`forward_two`."""
    here, a, b = np.uint64(i), np.uint64(i - 1), np.uint64(i - 2)
    c, d = np.uint64(i - 3), np.uint64(i - 4)
    older = lower[4, d] * x[d] + lower[3, c] * x[c] + lower[2, b] * x[b]
    x[here] = x[here] - older - lower[1, a] * x[a]


@part
def backward_four(inverse_pivots: FloatArray, lower: FloatArray, x: FloatArray, i: int) -> None:
    """As :func:`backward_two`."""
    here, a, b = np.uint64(i), np.uint64(i + 1), np.uint64(i + 2)
    c, d = np.uint64(i + 3), np.uint64(i + 4)
    older = lower[4, here] * x[d] + lower[3, here] * x[c] + lower[2, here] * x[b]
    x[here] = x[here] * inverse_pivots[here] - older - lower[1, here] * x[a]


@part
def inverse_four(
    inverse_pivots: FloatArray, lower: FloatArray, inverse: FloatArray, i: int
) -> None:
    """As :func:`inverse_two`, the bands 0 ... 4."""
    here, a, b = np.uint64(i), np.uint64(i + 1), np.uint64(i + 2)
    c, d = np.uint64(i + 3), np.uint64(i + 4)
    z, l1, l2, l3, l4 = inverse, lower[1, here], lower[2, here], lower[3, here], lower[4, here]
    z4 = -l1 * z[3, a] - l2 * z[2, b] - l3 * z[1, c] - l4 * z[0, d]
    z3 = -l1 * z[2, a] - l2 * z[1, b] - l3 * z[0, c] - l4 * z[1, c]
    z2 = -l1 * z[1, a] - l2 * z[0, b] - l3 * z[1, b] - l4 * z[2, b]
    z1 = -l1 * z[0, a] - l2 * z[1, a] - l3 * z[2, a] - l4 * z[3, a]
    z[4, here], z[3, here], z[2, here], z[1, here] = z4, z3, z2, z1
    z[0, here] = inverse_pivots[here] - l1 * z1 - l2 * z2 - l3 * z3 - l4 * z4
