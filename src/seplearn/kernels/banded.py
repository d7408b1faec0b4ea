"""Symmetric banded matrices: solve, and the bands of the inverse, both in O(n q^2).

A matrix is stored by its upper bands: ``bands[k, i]`` is the element (i, i + k), k = 0 ... q.
"""

from __future__ import annotations

from seplearn.kernels.arrays import FloatArray
from seplearn.kernels.compiler import part


@part
def factorise(bands: FloatArray, n: int, q: int, pivots: FloatArray, lower: FloatArray) -> None:
    """A = L D L' with L unit lower triangular; ``lower[k, i]`` is L's element (i + k, i)."""
    for i in range(n):
        pivot = bands[0, i]
        for k in range(1, min(q, i) + 1):
            pivot -= lower[k, i - k] * lower[k, i - k] * pivots[i - k]
        pivots[i] = pivot
        for k in range(1, min(q, n - 1 - i) + 1):
            element = bands[k, i]
            for m in range(1, min(q - k, i) + 1):
                element -= lower[k + m, i - m] * pivots[i - m] * lower[m, i - m]
            lower[k, i] = element / pivot


@part
def solve_factorised(pivots: FloatArray, lower: FloatArray, n: int, q: int, x: FloatArray) -> None:
    """Overwrite the right-hand side ``x`` by the solution."""
    for i in range(n):
        for k in range(1, min(q, i) + 1):
            x[i] -= lower[k, i - k] * x[i - k]
    for i in range(n):
        x[i] /= pivots[i]
    for i in range(n - 1, -1, -1):
        for k in range(1, min(q, n - 1 - i) + 1):
            x[i] -= lower[k, i] * x[i + k]


@part
def inverse_bands(
    pivots: FloatArray, lower: FloatArray, n: int, q: int, inverse: FloatArray
) -> None:
    """Selected inversion (Takahashi): the bands 0 ... q of the inverse, and nothing else of it.

    From Z = D^-1 L^-1 + (I - L') Z, row by row from the last: an element inside the band needs
    only elements inside the band.
    """
    for i in range(n - 1, -1, -1):
        reach = min(q, n - 1 - i)
        for k in range(reach, 0, -1):
            element = 0.0
            for m in range(1, reach + 1):
                first, second = min(i + m, i + k), max(i + m, i + k)
                element -= lower[m, i] * inverse[second - first, first]
            inverse[k, i] = element
        diagonal = 1.0 / pivots[i]
        for m in range(1, reach + 1):
            diagonal -= lower[m, i] * inverse[m, i]
        inverse[0, i] = diagonal
