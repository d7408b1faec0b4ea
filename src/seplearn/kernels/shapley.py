"""Interventional Shapley values of a product, exact by Gauss-Legendre quadrature."""

from __future__ import annotations

import numpy as np

from seplearn.kernels.arrays import FloatArray
from seplearn.kernels.compiler import kernel

_BLOCK = 32  # background rows at a time: their products stay in the nearest cache


@kernel
def add_shapley_values(
    row_factors: FloatArray,
    background_factors: FloatArray,
    background_weight: FloatArray,
    nodes: FloatArray,
    node_weights: FloatArray,
    sign: float,
    out: FloatArray,
) -> None:
    """out[i, k] += sign sum_z w_z int_0^1 (a_k - b_k) prod_{j != k} (b_j + t (a_j - b_j)) dt.

    a = ``row_factors[i]`` are the factors of one branch at a row, b = ``background_factors[:, z]``
    at a background row. The integrand is a polynomial of degree p - 1 in t, so ceil(p / 2) nodes
    integrate it exactly. The product without k is what lies before k times what lies behind it:
    nothing is divided by, so a factor may be zero or negative. Background rows are the innermost
    loop and lie next to each other in memory, as they are independent and done several at a time.
    """
    n, p = row_factors.shape
    n_background = background_factors.shape[1]
    before = np.empty((p, _BLOCK))  # the product over j < k
    mixed = np.empty((p, _BLOCK))  # b_k + t (a_k - b_k)
    behind = np.empty(_BLOCK)  # the product over j > k
    integral = np.empty((p, _BLOCK))
    for i in range(n):
        for start in range(0, n_background, _BLOCK):
            width = min(_BLOCK, n_background - start)
            integral[:] = 0.0
            for s in range(nodes.shape[0]):
                t = nodes[s]
                behind[:] = node_weights[s]
                for z in range(width):
                    before[0, z] = 1.0
                for k in range(p):
                    a = t * row_factors[i, k]
                    for z in range(width):
                        mixed[k, z] = a + (1.0 - t) * background_factors[k, start + z]
                for k in range(1, p):
                    for z in range(width):
                        before[k, z] = before[k - 1, z] * mixed[k - 1, z]
                for k in range(p - 1, -1, -1):
                    for z in range(width):
                        integral[k, z] += before[k, z] * behind[z]
                        behind[z] *= mixed[k, z]
            for k in range(p):
                total = 0.0
                for z in range(width):
                    gap = row_factors[i, k] - background_factors[k, start + z]
                    total += background_weight[start + z] * gap * integral[k, z]
                out[i, k] += sign * total
