"""Reading a model: bins of values, values of branches, and the sums that compare branches."""

from __future__ import annotations

import numpy as np

from seplearn.kernels.arrays import BoolArray, CodeArray, FloatArray, IntArray
from seplearn.kernels.compiler import kernel


@kernel
def assign_bins(values: FloatArray, edges: FloatArray, codes: CodeArray) -> None:
    """codes[i] = the number of edges <= values[i], by bisection (edges ascending).

    NaN gets the bin after the last. Each halving adds a step or nothing to ``low`` instead of
    branching: on shuffled values half of the branches would be mispredicted.
    """
    for i in range(values.shape[0]):
        value = values[i]
        low, length = 0, edges.shape[0]
        while length > 0:
            half = (length + 1) >> 1
            low += half if edges[np.uint64(low + half - 1)] <= value else 0
            length -= half
        codes[i] = low if value == value else edges.shape[0] + 1  # noqa: PLR0124  # NaN != NaN


@kernel
def log_products(
    codes: CodeArray, offset: IntArray, log_factors: FloatArray, out: FloatArray
) -> None:
    """out[i] = sum_j log a_j(x_ij): the log of one branch's product, without its scale."""
    n, p = codes.shape
    for i in range(n):
        total = 0.0
        for j in range(p):
            total += log_factors[np.uint64(offset[j] + np.int64(codes[i, j]))]
        out[i] = total


@kernel
def product_signs(codes: CodeArray, offset: IntArray, negative: BoolArray, out: FloatArray) -> None:
    """out[i] = the sign of a signed product: -1 where an odd number of its factors is negative."""
    n, p = codes.shape
    for i in range(n):
        odd = False
        for j in range(p):
            odd ^= negative[np.uint64(offset[j] + np.int64(codes[i, j]))]
        out[i] = -1.0 if odd else 1.0


@kernel
def distances_to(points: FloatArray, c: int, out: FloatArray) -> None:
    """out[k] = the Euclidean distance of row k of ``points`` to row c."""
    for k in range(points.shape[0]):
        total = 0.0
        for f in range(points.shape[1]):
            gap = points[k, f] - points[c, f]
            total += gap * gap
        out[k] = np.sqrt(total)


@kernel
def weighted_dot(a: FloatArray, b: FloatArray, weight: FloatArray) -> float:
    """sum_i w_i a_i b_i.

    Written out instead of calling BLAS, which may add in another order from one process to the
    next, while models must come out bit-identical.
    """
    total = 0.0
    for i in range(a.shape[0]):
        total += weight[i] * a[i] * b[i]
    return total
