"""What is random in a fit, made independent of how the table is laid out.

Columns and rows are told apart by their content: by ``TrainingData.axis_hashes`` and ``row_keys``.
So the same seed gives the same fit, up to rounding, when columns or rows are permuted, a feature is
transformed increasingly, y is shifted or multiplied by a number, or rows are repeated instead of
weighted. (With joint refinement a shift of y does change the fit: its first stage sees y itself.)
"""

from __future__ import annotations

import numpy as np

from seplearn.fitting.options import TrainingData, mixed
from seplearn.kernels.arrays import Draws, IntArray, RandomState
from seplearn.table.training import MOST_PER_ROW


def row_order(data: TrainingData) -> IntArray:
    """The rows sorted by their keys; rows of equal keys are equal rows, so any comes first."""
    return np.argsort(data.row_keys)


def some_rows(data: TrainingData, n_rows: int) -> IntArray:
    """So many rows, ascending: the same whatever the order of the table."""
    return np.sort(np.argpartition(data.row_keys, n_rows)[:n_rows])


def make_draws(data: TrainingData, bootstrap: bool) -> Draws:
    """How bags are drawn.

    A weight says how often a row stands in the table, so as many rows are drawn as the weights
    sum to: weight 2 is the row twice. Weights of classes on top of those of rows may sum to any
    number; beyond what a table of so many rows may stand for, a draw counts for more instead.
    """
    n, total = len(data.weight), float(data.weight.sum())
    n_draws = max(1, round(total)) if total <= MOST_PER_ROW * n else n
    unit = total / n_draws
    order = row_order(data)
    equal = n_draws == n and bool((data.weight == data.weight[0]).all())
    cumulative = np.empty(0) if equal else np.cumsum(data.weight[order])
    return Draws(bootstrap, n_draws, unit, data.weight / unit, order, cumulative)


def random_streams(grid_seed: np.uint64, hashes: RandomState) -> RandomState:
    """Starting states, none zero: one per axis, one for columns, one for the bootstrap."""
    others = np.array([1 << 40, 2 << 40], dtype=np.uint64)
    return mixed(np.append(hashes, others) + grid_seed) | np.uint64(1)
