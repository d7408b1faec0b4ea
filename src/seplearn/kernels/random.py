"""A random stream that lives in one array cell, so that a grid's draws depend on its seed alone.

The generator is xorshift64: shifts and exclusive-ors only, hence the same in compiled and in
interpreted runs. It serves subsampling and the bootstrap, nothing that needs cryptographic quality.
"""

from __future__ import annotations

import numpy as np

from seplearn.kernels.arrays import FloatArray, IntArray, RandomState
from seplearn.kernels.compiler import kernel, part
from seplearn.kernels.sorting import first_at_least

# Where in a slice of the total weight a draw falls: at no fraction, so that never between two rows,
# whatever whole numbers their weights are proportional to.
_WITHIN_A_SLICE = 2**0.5 - 1


@part
def draw_below(state: RandomState, n: int) -> np.int64:
    """Draw an integer from 0, ..., n - 1; ``state`` is a one-element uint64 array, not zero."""
    x = state[0]
    x ^= x << np.uint64(13)
    x ^= x >> np.uint64(7)
    x ^= x << np.uint64(17)
    state[0] = x
    # The upper 32 bits scaled to [0, n): no division, and no bias that matters for n << 2**32.
    return np.int64(((x >> np.uint64(32)) * np.uint64(n)) >> np.uint64(32))


@part
def draw_head(state: RandomState, k: int, n: int, items: IntArray) -> None:
    """Make ``items[:k]`` a random sample without replacement of ``items[:n]`` (in place)."""
    for a in range(k):
        b = a + draw_below(state, n - a)
        kept = items[a]
        items[a] = items[b]
        items[b] = kept


@part
def bootstrap_counts(
    state: RandomState, n_draws: int, order: IntArray, cumulative: FloatArray, counts: FloatArray
) -> None:
    """Draw rows with replacement, as counts; a row's chance is its step in ``cumulative``.

    ``order`` lists the rows and ``cumulative`` their running weight in that order; an empty one
    stands for ``n_draws`` rows of equal weight. Draw k of n_draws falls into the row that holds
    the k-th of n_draws equal slices of the total: with whole weights that is the row drawn if
    every row were repeated as often as it weighs.
    """
    n = cumulative.shape[0]
    if n == 0:
        for _ in range(n_draws):
            counts[order[draw_below(state, n_draws)]] += 1.0
        return
    slice_ = cumulative[n - 1] / n_draws
    for _ in range(n_draws):
        at = (draw_below(state, n_draws) + _WITHIN_A_SLICE) * slice_
        counts[order[min(first_at_least(cumulative, at), n - 1)]] += 1.0


@kernel
def draw_bootstrap(
    state: RandomState, n_draws: int, order: IntArray, cumulative: FloatArray, counts: FloatArray
) -> None:
    """As :func:`bootstrap_counts`, which is a part of kernels."""
    bootstrap_counts(state, n_draws, order, cumulative, counts)
