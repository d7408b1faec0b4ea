"""Alternating least squares on bins: sums per bin, and the normal equations they make."""

from __future__ import annotations

import numpy as np

from seplearn.kernels.arrays import CodeArray, FloatArray, IntArray
from seplearn.kernels.compiler import kernel


@kernel
def mode_sums(
    codes: CodeArray,
    offset: IntArray,
    factors: FloatArray,
    mode: int,
    target: FloatArray,
    weight: FloatArray,
    gram: FloatArray,
    right: FloatArray,
) -> None:
    """gram[b] = sum_i w q q' and right[b] = sum_i w q t over the rows i in bin b of axis ``mode``.

    q_l = prod_{k != mode} g_kl(x_ik) is what multiplies the mode's factor of product l; ``factors``
    (n_flat, r) holds g in every bin. The unknown factor is constant within a bin, so these sums are
    all that least squares needs of the rows: n r^2 steps instead of n (r m)^2 for m coefficients.
    """
    n, p = codes.shape
    r = factors.shape[1]
    q = np.empty(r)
    gram[:] = 0.0
    right[:] = 0.0
    for i in range(n):
        q[:] = 1.0
        for k in range(p):
            if k != mode:
                at = offset[k] + np.int64(codes[i, k])
                for a in range(r):
                    q[a] *= factors[at, a]
        b = np.int64(codes[i, mode])
        w = weight[i]
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
    """The same where few functions are all nonzero: packed[(a, c), (k, l)] for c <= a, l <= k.

    ``pairs[b]`` holds phi_bk phi_bl. The innermost loop runs over all pairs of functions, which
    lie next to each other.
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


@kernel
def all_products(codes: CodeArray, offset: IntArray, factors: FloatArray, out: FloatArray) -> None:
    """out[i, l] = prod_k g_kl(x_ik): the products without their scales."""
    n, p = codes.shape
    r = factors.shape[1]
    for i in range(n):
        for a in range(r):
            out[i, a] = 1.0
        for k in range(p):
            at = offset[k] + np.int64(codes[i, k])
            for a in range(r):
                out[i, a] *= factors[at, a]
