"""Isotonic regression: the nearest monotone sequence."""

from __future__ import annotations

import numpy as np

from seplearn.kernels.arrays import FloatArray
from seplearn.kernels.compiler import kernel, part


@part
def make_monotone(values: FloatArray, weights: FloatArray, sign: float) -> None:
    """Replace ``values`` by the weighted-least-squares closest sequence that rises (sign > 0).

    Pool adjacent violators: walk along, and merge a pool with the one before it while their means
    are out of order. With sign < 0 the sequence falls.
    """
    n = values.shape[0]
    level, mass, end = np.empty(n), np.empty(n), np.empty(n, np.int64)
    pools = 0
    for b in range(n):
        level[pools], mass[pools], end[pools] = sign * values[b], weights[b], b + 1
        pools += 1
        while pools > 1 and level[pools - 2] > level[pools - 1]:
            total = mass[pools - 2] + mass[pools - 1]
            share = mass[pools - 1] / total
            level[pools - 2] += share * (level[pools - 1] - level[pools - 2])
            mass[pools - 2], end[pools - 2] = total, end[pools - 1]
            pools -= 1
    start = 0
    for pool in range(pools):
        values[start : end[pool]] = sign * level[pool]
        start = end[pool]


@kernel
def nearest_monotone(values: FloatArray, weights: FloatArray, sign: float) -> None:
    """As :func:`make_monotone`, which is a part of kernels."""
    make_monotone(values, weights, sign)
