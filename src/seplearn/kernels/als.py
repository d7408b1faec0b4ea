"""Alternating least squares on bins: sums per bin, and the normal equations they make.

``each`` numbers the r products: (0, ..., r - 1). As a tuple's length is part of its type, kernels
are compiled for every rank anew and their inner loops are unrolled: half the time of a sweep when
products are few.
"""

from __future__ import annotations

import numpy as np

from seplearn.kernels.arrays import CodeArray, FloatArray, IntArray
from seplearn.kernels.compiler import kernel

Each = tuple[int, ...]


@kernel
def products_behind(
    codes: CodeArray, offset: IntArray, factors: FloatArray, each: Each, behind: FloatArray
) -> None:
    """behind[j, i, l] = prod_{k > j} g_kl(x_ik): what a sweep has not come to yet.

    ``codes`` (p, n) has an axis per row, and ``factors`` (n_flat, r) holds g in every bin. The
    products without one mode then need no loop over the others.
    """
    p, n = codes.shape
    behind[p - 1] = 1.0
    for k in range(p - 1, 0, -1):
        for i in range(n):
            at = offset[k] + np.int64(codes[k, i])
            for a in range(len(each)):
                behind[k - 1, i, a] = behind[k, i, a] * factors[at, a]


@kernel
def multiply_in(codes: CodeArray, factors: FloatArray, each: Each, products: FloatArray) -> None:
    """products[i, l] *= g_l(x_i) of one mode; ``codes`` (n) and ``factors`` (n_bins, r) are its."""
    for i in range(len(codes)):
        at = np.int64(codes[i])
        for a in range(len(each)):
            products[i, a] *= factors[at, a]


@kernel
def mode_sums(
    codes: CodeArray,
    before: FloatArray,
    behind: FloatArray,
    target: FloatArray,
    weight: FloatArray,
    each: Each,
    sums: FloatArray,
) -> None:
    """Per bin b of one mode: sum_i w q q' and sum_i w q t over the rows i in it.

    q_l = prod_{k != j} g_kl(x_ik), ``before`` times ``behind``, multiplies the mode's factor of
    product l. The unknown factor is constant within a bin, so these sums are all that least
    squares needs of the rows: n r^2 steps instead of n (r m)^2 for m coefficients. For every a,
    ``sums[b]`` holds the entries (a, c <= a) of q q' and then entry a of q t, all that a row adds
    to next to each other.
    """
    sums[:] = 0.0
    for i in range(len(codes)):
        b = np.int64(codes[i])
        w = weight[i]
        at = 0
        for a in range(len(each)):
            wq = w * (before[i, a] * behind[i, a])
            for c in range(a + 1):
                sums[b, at] += wq * (before[i, c] * behind[i, c])
                at += 1
            sums[b, at] += wq * target[i]
            at += 1


@kernel
def normal_equations(
    basis: FloatArray, sums: FloatArray, matrix: FloatArray, vector: FloatArray
) -> None:
    """matrix[(a, k), (c, l)] = sum_b (q_a q_c)_b phi_bk phi_bl, and the right-hand side.

    ``basis`` (n_bins, m) holds phi. Most tents are zero in a bin, so zeros are skipped. Only the
    lower triangle of the blocks a >= c is filled, which is all that a symmetric solver reads.
    """
    n_bins, m = basis.shape
    r = len(vector) // m
    used = np.empty(m, dtype=np.int64)
    matrix[:] = 0.0
    vector[:] = 0.0
    for b in range(n_bins):
        n_used = 0
        for k in range(m):
            if basis[b, k] != 0.0:
                used[n_used] = k
                n_used += 1
        at = 0
        for a in range(r):
            for c in range(a + 1):
                for x in range(n_used):
                    value = sums[b, at] * basis[b, used[x]]
                    row = a * m + used[x]
                    for y in range(n_used):
                        matrix[row, c * m + used[y]] += value * basis[b, used[y]]
                at += 1
            for x in range(n_used):
                vector[a * m + used[x]] += sums[b, at] * basis[b, used[x]]
            at += 1


@kernel
def dense_normal_equations(
    pairs: FloatArray, basis: FloatArray, sums: FloatArray, matrix: FloatArray, vector: FloatArray
) -> None:
    """The same where functions are few.

    ``pairs[b]`` holds phi_bk phi_bl for l <= k. The innermost loop runs over all pairs of
    functions, which lie next to each other: faster than skipping zeros. Blocks are unpacked last.
    """
    m = basis.shape[1]
    r = len(vector) // m
    packed = np.zeros((sums.shape[1], pairs.shape[1]))
    vector[:] = 0.0
    for b in range(len(basis)):
        at = 0
        for a in range(r):
            for _ in range(a + 1):
                for x in range(pairs.shape[1]):
                    packed[at, x] += sums[b, at] * pairs[b, x]
                at += 1
            for k in range(m):
                vector[a * m + k] += sums[b, at] * basis[b, k]
            at += 1
    at = 0
    for a in range(r):
        for c in range(a + 1):
            x = 0
            for k in range(m):
                for y in range(k + 1):
                    matrix[a * m + k, c * m + y] = packed[at, x]
                    matrix[a * m + y, c * m + k] = packed[at, x]
                    x += 1
            at += 1
        at += 1


@kernel
def scale_sums(
    products: FloatArray, target: FloatArray, weight: FloatArray, each: Each,
    matrix: FloatArray, vector: FloatArray,
) -> None:  # fmt: skip
    """Normal equations of the target on r products and a constant, which comes last.

    Of ``matrix`` (r + 1, r + 1) the lower triangle is filled.
    """
    r = len(each)
    matrix[:] = 0.0
    vector[:] = 0.0
    for i in range(len(target)):
        w = weight[i]
        for a in range(len(each)):
            wq = w * products[i, a]
            for c in range(a + 1):
                matrix[a, c] += wq * products[i, c]
            matrix[r, a] += wq
            vector[a] += wq * target[i]
        matrix[r, r] += w
        vector[r] += w * target[i]
