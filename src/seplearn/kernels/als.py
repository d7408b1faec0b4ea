"""Alternating least squares on bins: sums per bin, and the normal equations they make."""

from __future__ import annotations

import numpy as np

from seplearn.kernels.arrays import CodeArray, FloatArray, IntArray
from seplearn.kernels.compiler import kernel


@kernel
def products_behind(
    codes: CodeArray, offset: IntArray, factors: FloatArray, behind: FloatArray
) -> None:
    """behind[j, i, l] = prod_{k > j} g_kl(x_ik): what a sweep has not come to yet.

    ``codes`` (p, n) has an axis per row, and ``factors`` (n_flat, r) holds g in every bin. The
    products without one mode then need no loop over the others.
    """
    p, n = codes.shape
    r = factors.shape[1]
    behind[p - 1] = 1.0
    for k in range(p - 1, 0, -1):
        for i in range(n):
            at = offset[k] + np.int64(codes[k, i])
            for a in range(r):
                behind[k - 1, i, a] = behind[k, i, a] * factors[at, a]


@kernel
def multiply_in(codes: CodeArray, factors: FloatArray, products: FloatArray) -> None:
    """products[i, l] *= g_l(x_i) of one mode; ``codes`` (n) and ``factors`` (n_bins, r) are its."""
    for i in range(products.shape[0]):
        at = np.int64(codes[i])
        for a in range(products.shape[1]):
            products[i, a] *= factors[at, a]


@kernel
def mode_sums(
    codes: CodeArray,
    before: FloatArray,
    behind: FloatArray,
    target: FloatArray,
    weight: FloatArray,
    gram: FloatArray,
    right: FloatArray,
) -> None:
    """gram[b] = sum_i w q q' and right[b] = sum_i w q t over the rows i in bin b of one mode.

    q_l = prod_{k != j} g_kl(x_ik), ``before`` times ``behind``, multiplies the mode's factor of
    product l. The unknown factor is constant within a bin, so these sums are all that least
    squares needs of the rows: n r^2 steps instead of n (r m)^2 for m coefficients.
    """
    n, r = before.shape
    q = np.empty(r)
    gram[:] = 0.0
    right[:] = 0.0
    for i in range(n):
        b = np.int64(codes[i])
        w = weight[i]
        for a in range(r):
            q[a] = before[i, a] * behind[i, a]
        for a in range(r):
            wq = w * q[a]
            right[b, a] += wq * target[i]
            for c in range(a + 1):
                gram[b, a, c] += wq * q[c]


@kernel
def normal_equations(
    basis: FloatArray, gram: FloatArray, right: FloatArray, matrix: FloatArray, vector: FloatArray
) -> None:
    """matrix[(a, k), (c, l)] = sum_b gram[b, a, c] phi_bk phi_bl, and the right-hand side.

    ``basis`` (n_bins, m) holds phi. Most tents are zero in a bin, so zeros are skipped. Only the
    lower triangle of the blocks a >= c is filled, which is all that a symmetric solver reads.
    """
    n_bins, m = basis.shape
    r = right.shape[1]
    used = np.empty(m, dtype=np.int64)
    matrix[:] = 0.0
    vector[:] = 0.0
    for b in range(n_bins):
        n_used = 0
        for k in range(m):
            if basis[b, k] != 0.0:
                used[n_used] = k
                n_used += 1
        for a in range(r):
            for x in range(n_used):
                vector[a * m + used[x]] += right[b, a] * basis[b, used[x]]
            for c in range(a + 1):
                for x in range(n_used):
                    value = gram[b, a, c] * basis[b, used[x]]
                    row = a * m + used[x]
                    for y in range(n_used):
                        matrix[row, c * m + used[y]] += value * basis[b, used[y]]


@kernel
def dense_normal_equations(
    pairs: FloatArray, basis: FloatArray, gram: FloatArray, right: FloatArray,
    packed: FloatArray, vector: FloatArray,
) -> None:  # fmt: skip
    """The same where functions are few: packed[(a, c), (k, l)] for c <= a and l <= k.

    ``pairs[b]`` holds phi_bk phi_bl. The innermost loop runs over all pairs of functions, which
    lie next to each other: faster than skipping zeros.
    """
    n_bins, m = basis.shape
    r = right.shape[1]
    packed[:] = 0.0
    vector[:] = 0.0
    for b in range(n_bins):
        block = 0
        for a in range(r):
            for k in range(m):
                vector[a * m + k] += right[b, a] * basis[b, k]
            for c in range(a + 1):
                value = gram[b, a, c]
                for x in range(pairs.shape[1]):
                    packed[block, x] += value * pairs[b, x]
                block += 1
