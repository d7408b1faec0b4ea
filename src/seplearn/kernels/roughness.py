"""How rough curves are, in the measures that their penalties weigh."""

from __future__ import annotations

from seplearn.kernels.arrays import BoolArray, FloatArray, IntArray
from seplearn.kernels.block import FIRST, SECOND, SIZE, SMOOTH_BINS
from seplearn.kernels.compiler import kernel


@kernel
def half_penalties(
    curves: FloatArray,
    offset: IntArray,
    n_ordered: IntArray,
    active: BoolArray,
    mu: FloatArray,
    curvature: FloatArray,
) -> float:
    """Half the penalties of some curves on all axes.

    Parameters
    ----------
    curves : IN, (m, n_flat), such as backbone and tilt
    offset : IN, (p + 1,), where the bins of every axis begin
    n_ordered : IN, (p,), leading bins of every axis that have an order
    active : IN, (p, m), which curves count; the others are flat
    mu : IN, (p, m, 3), penalties on first differences, size and second differences
    curvature : IN, (m,), the unit of mu
    """
    total = 0.0
    for j in range(active.shape[0]):
        start, stop = offset[j], offset[j + 1]
        end = start + n_ordered[j]
        for k in range(active.shape[1]):
            if not active[j, k]:
                continue
            curve = curves[k]
            size = first = second = 0.0
            for b in range(start, stop):
                size += curve[b] * curve[b]
            for b in range(start + 1, end):
                first += (curve[b] - curve[b - 1]) ** 2
            if n_ordered[j] >= SMOOTH_BINS:
                for b in range(start + 2, end):
                    second += (curve[b] - 2.0 * curve[b - 1] + curve[b - 2]) ** 2
            rough = mu[j, k, FIRST] * first + mu[j, k, SIZE] * size + mu[j, k, SECOND] * second
            total += 0.5 * curvature[k] * rough
    return total
