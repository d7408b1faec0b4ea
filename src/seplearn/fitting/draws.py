"""What is random in a fit, made independent of how the table is laid out.

Columns and rows are told apart by their content: by ``TrainingData.axis_hashes`` and by keys. So
the same seed gives the same fit, up to rounding, when columns or rows are permuted, a feature is
transformed increasingly, y is shifted or multiplied by a number, or rows are repeated instead of
weighted. (With joint refinement a shift of y does change the fit: its first stage sees y itself.)
"""

from __future__ import annotations

import numpy as np

from seplearn.fitting.options import TrainingData
from seplearn.kernels.arrays import Draws, IntArray, RandomState
from seplearn.table.training import MOST_PER_ROW


def row_order(data: TrainingData, hashes: RandomState) -> IntArray:
    """The rows sorted by their keys; rows of equal keys are equal rows, so any comes first."""
    return np.argsort(row_keys(data, hashes))


def row_keys(data: TrainingData, hashes: RandomState) -> RandomState:
    """A hash of every row's bins and of how far its target is off, to 6 decimals."""
    keys = _mixed(np.rint(np.abs(data.deviation) * 1e6).astype(np.uint64))
    for j, axis in enumerate(data.bins.axes):
        bins = np.arange(axis.n_bins, dtype=np.uint64) << np.uint64(32)
        keys += _mixed(bins ^ hashes[j])[data.codes[:, j]]
    return keys


def make_draws(data: TrainingData, hashes: RandomState, bootstrap: bool) -> Draws:
    """How bags are drawn.

    A weight says how often a row stands in the table, so as many rows are drawn as the weights
    sum to: weight 2 is the row twice. Weights of classes on top of those of rows may sum to any
    number; beyond what a table of so many rows may stand for, a draw counts for more instead.
    """
    n, total = len(data.weight), float(data.weight.sum())
    n_draws = max(1, round(total)) if total <= MOST_PER_ROW * n else n
    unit = total / n_draws
    order = row_order(data, hashes)
    equal = n_draws == n and bool((data.weight == data.weight[0]).all())
    cumulative = np.empty(0) if equal else np.cumsum(data.weight[order])
    return Draws(bootstrap, n_draws, unit, data.weight / unit, order, cumulative)


def random_streams(grid_seed: np.uint64, hashes: RandomState) -> RandomState:
    """Starting states, none zero: one per axis, one for columns, one for the bootstrap."""
    others = np.array([1 << 40, 2 << 40], dtype=np.uint64)
    return _mixed(np.append(hashes, others) + grid_seed) | np.uint64(1)


def _mixed(z: RandomState) -> RandomState:
    """The finaliser of splitmix64: spreads neighbouring inputs over all 64 bits."""
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return z ^ (z >> np.uint64(31))
