"""Symmetric banded matrices: solve, and the bands of the inverse, both in O(n q^2).

A matrix is stored by its upper bands: ``bands[k, i]`` is the element (i, i + k), k = 0 ... q.

Every loop treats the rows apart that have fewer than q neighbours where it looks: of all others
the compiler knows the number, so it unrolls what is done to a row.
"""

from __future__ import annotations

from seplearn.kernels.arrays import FloatArray
from seplearn.kernels.compiler import part


@part
def factorise_row(
    bands: FloatArray,
    i: int,
    before: int,
    after: int,
    q: int,
    inverse_pivots: FloatArray,
    lower: FloatArray,
) -> None:
    """One pivot and the column of L under it, with so many neighbours ``before`` and ``after``."""
    pivot = bands[0, i]
    for k in range(before, 0, -1):
        pivot -= lower[k, i - k] * bands[k, i - k]
    inverse = 1.0 / pivot
    inverse_pivots[i] = inverse
    for k in range(1, after + 1):
        element = bands[k, i]
        for m in range(min(q - k, before), 0, -1):
            element -= bands[k + m, i - m] * lower[m, i - m]
        bands[k, i] = element
        lower[k, i] = element * inverse


@part
def factorise(
    bands: FloatArray, n: int, q: int, inverse_pivots: FloatArray, lower: FloatArray
) -> None:
    """A = L D L' with L unit lower triangular; ``lower[k, i]`` is L's element (i + k, i).

    ``inverse_pivots`` is the diagonal of D^-1. The bands of A above its diagonal are overwritten by
    those of D L': a row waits for the one before it, and with both at hand it waits less.
    """
    for i in range(min(q, n)):
        factorise_row(bands, i, i, min(q, n - 1 - i), q, inverse_pivots, lower)
    for i in range(q, n - q):
        factorise_row(bands, i, q, q, q, inverse_pivots, lower)
    for i in range(max(q, n - q), n):
        factorise_row(bands, i, q, n - 1 - i, q, inverse_pivots, lower)


@part
def solve_factorised(
    inverse_pivots: FloatArray, lower: FloatArray, n: int, q: int, x: FloatArray
) -> None:
    """Overwrite the right-hand side ``x`` by the solution; the newest neighbour comes last."""
    for i in range(min(q, n)):
        for k in range(i, 0, -1):
            x[i] -= lower[k, i - k] * x[i - k]
    for i in range(q, n):
        value = x[i]
        for k in range(q, 0, -1):
            value -= lower[k, i - k] * x[i - k]
        x[i] = value
    for i in range(n):
        x[i] *= inverse_pivots[i]
    for i in range(n - 1, max(n - 1 - q, -1), -1):
        for k in range(n - 1 - i, 0, -1):
            x[i] -= lower[k, i] * x[i + k]
    for i in range(n - 1 - q, -1, -1):
        value = x[i]
        for k in range(q, 0, -1):
            value -= lower[k, i] * x[i + k]
        x[i] = value


@part
def inverse_row(
    inverse_pivots: FloatArray, lower: FloatArray, i: int, after: int, inverse: FloatArray
) -> None:
    """The elements (i, i) ... (i, i + after) of the inverse, from rows further down."""
    for k in range(after, 0, -1):
        element = 0.0
        for m in range(1, after + 1):
            first, second = min(i + m, i + k), max(i + m, i + k)
            element -= lower[m, i] * inverse[second - first, first]
        inverse[k, i] = element
    diagonal = inverse_pivots[i]
    for m in range(1, after + 1):
        diagonal -= lower[m, i] * inverse[m, i]
    inverse[0, i] = diagonal


@part
def inverse_bands(
    inverse_pivots: FloatArray, lower: FloatArray, n: int, q: int, inverse: FloatArray
) -> None:
    """Selected inversion (Takahashi): the bands 0 ... q of the inverse, and nothing else of it.

    From Z = D^-1 L^-1 + (I - L') Z, row by row from the last: an element inside the band needs
    only elements inside the band.
    """
    for i in range(n - 1, max(n - 1 - q, -1), -1):
        inverse_row(inverse_pivots, lower, i, n - 1 - i, inverse)
    for i in range(n - 1 - q, -1, -1):
        inverse_row(inverse_pivots, lower, i, q, inverse)
