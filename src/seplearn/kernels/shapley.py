"""Interventional Shapley values of a product, exact by Gauss-Legendre quadrature."""

from __future__ import annotations

import numpy as np

from seplearn.kernels.arrays import FloatArray
from seplearn.kernels.compiler import kernel


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

    a = ``row_factors[i]`` are the factors of one branch at a row, b = ``background_factors[z]``
    at a background row. The integrand is a polynomial of degree p - 1 in t, so ceil(p / 2) nodes
    integrate it exactly. The product without k is what lies before k times what lies behind it:
    nothing is divided by, so a factor may be zero or negative. Nodes are the innermost loop, as
    they are independent of each other and can be done several at a time.
    """
    n, p = row_factors.shape
    q = nodes.shape[0]
    # before[k] = node weight times the product over j < k, at every node
    before = np.empty((p + 1, q))
    mixed = np.empty((p, q))
    behind = np.empty(q)
    for i in range(n):
        a = row_factors[i]
        for z in range(background_factors.shape[0]):
            b = background_factors[z]
            for s in range(q):
                before[0, s] = node_weights[s]
                behind[s] = sign * background_weight[z]
            for k in range(p):
                gap = a[k] - b[k]
                for s in range(q):
                    mixed[k, s] = b[k] + nodes[s] * gap
                    before[k + 1, s] = before[k, s] * mixed[k, s]
            for k in range(p - 1, -1, -1):
                total = 0.0
                for s in range(q):
                    total += before[k, s] * behind[s]
                    behind[s] *= mixed[k, s]
                out[i, k] += (a[k] - b[k]) * total
