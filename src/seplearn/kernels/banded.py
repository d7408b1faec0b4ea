"""Symmetric banded matrices: solve, and the bands of the inverse, both in O(n q^2).

A matrix is stored by its upper bands: ``bands[k, i]`` is the element (i, i + k), k = 0 ... q.
Several matrices may stand interleaved, ``stride`` of them: then ``bands[k, i]`` is the element
(i, i + k * stride). Before and after the rows there is a margin of ``q * stride`` zeros, so that no
row is a special case.

What is done to a row waits for the row before it. So the functions here do one row, and callers
take several matrices and right sides along in one loop: together they wait hardly longer than one.
The system is A = L D L' with L unit lower triangular; ``lower[k, i]`` is L's element (i + k, i).
"""

from __future__ import annotations

from seplearn.kernels.arrays import FloatArray
from seplearn.kernels.compiler import part


@part
def factorise_row(
    bands: FloatArray, inverse_pivots: FloatArray, lower: FloatArray, i: int, q: int, stride: int
) -> None:
    """One pivot, inverted, and the column of L under it, after those of the rows before.

    The bands of A above its diagonal are overwritten by those of D L': with both at hand the next
    row waits less.
    """
    pivot = bands[0, i]
    for k in range(q, 0, -1):
        pivot -= lower[k, i - k * stride] * bands[k, i - k * stride]
    inverse = 1.0 / pivot
    inverse_pivots[i] = inverse
    for k in range(1, q + 1):
        element = bands[k, i]
        for m in range(q - k, 0, -1):
            element -= bands[k + m, i - m * stride] * lower[m, i - m * stride]
        bands[k, i] = element
        lower[k, i] = element * inverse


@part
def forward_row(lower: FloatArray, x: FloatArray, i: int, q: int) -> None:
    """Row i of the solution of L x' = x, which takes the place of x; the newest row comes last."""
    value = x[i]
    for k in range(q, 0, -1):
        value -= lower[k, i - k] * x[i - k]
    x[i] = value


@part
def backward_row(
    inverse_pivots: FloatArray, lower: FloatArray, x: FloatArray, i: int, q: int
) -> None:
    """Row i of the solution of D L' x' = x, after those of the rows below it."""
    value = x[i] * inverse_pivots[i]
    for k in range(q, 0, -1):
        value -= lower[k, i] * x[i + k]
    x[i] = value


@part
def inverse_row(
    inverse_pivots: FloatArray, lower: FloatArray, inverse: FloatArray, i: int, q: int, stride: int
) -> None:
    """Row i of the bands 0 ... q of the inverse, after those of the rows below it (Takahashi).

    From Z = D^-1 L^-1 + (I - L') Z: an element inside the band needs only elements inside the band.
    """
    for k in range(q, 0, -1):
        element = 0.0
        for m in range(1, q + 1):
            first, second = min(m, k), max(m, k)
            element -= lower[m, i] * inverse[second - first, i + first * stride]
        inverse[k, i] = element
    diagonal = inverse_pivots[i]
    for m in range(1, q + 1):
        diagonal -= lower[m, i] * inverse[m, i]
    inverse[0, i] = diagonal
