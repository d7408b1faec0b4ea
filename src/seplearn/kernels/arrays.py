"""The array types and tuples that kernels share. Everything numeric is float64 unless said."""

from __future__ import annotations

from typing import Any, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

FloatArray: TypeAlias = npt.NDArray[np.float64]
IntArray: TypeAlias = npt.NDArray[np.int64]
BoolArray: TypeAlias = npt.NDArray[np.bool_]
RandomState: TypeAlias = npt.NDArray[np.uint64]
CodeArray: TypeAlias = npt.NDArray[np.unsignedinteger[Any]]  # uint8 or uint16


class Draws(NamedTuple):
    """How bags are drawn from weighted rows."""

    bootstrap: bool  # else every row is in the bag, ``times`` times
    n_draws: int
    unit: float  # what one draw weighs: the total weight divided by n_draws
    times: FloatArray  # (n,): the rows' weights divided by unit
    order: IntArray  # (n,): the rows in an order that does not depend on that of the table
    cumulative: FloatArray  # (n,) running sum of the weights in that order; empty if all are equal


class SortedRows(NamedTuple):
    """Rows sorted by their bin on every axis, so that the rows of an interval are contiguous."""

    order: npt.NDArray[np.int32]  # (p, n)
    start: IntArray  # (n_flat + p,): where each bin begins; those of axis j from offset[j] + j on


class GridState(NamedTuple):
    """All that changes while one grid is refined, and the bins it is refined on.

    Bins of all axes lie one after the other: bin ``b`` of axis ``j`` has the flat index
    ``offset[j] + b``. An interval is a range of *positions* of an axis. On an ordered axis the
    bin at a position is that position; on a categorical one the levels of an interval may change
    places, so that an interval is any set of levels.
    """

    codes: CodeArray  # (n, p): bin of each row on each axis
    offset: IntArray  # (p + 1,): first flat bin of each axis
    sorted_rows: SortedRows  # of the bag
    times: FloatArray  # (n,): how often the row is in the bag
    rows: FloatArray  # (n, 4): weight, lambda+ m+, lambda- m-, within-stage residual r
    sums: FloatArray  # (n_flat, 8), with the columns of kernels/sums.py
    log_factors: FloatArray  # (2, n_flat): log of the + and of the - factor
    negative: BoolArray  # (n_flat,): factor of a signed product is negative
    is_cut: BoolArray  # (n_flat,): an interval starts at this position
    bin_at: IntArray  # (n_flat,): flat bin at each position; the identity on an ordered axis
    is_categorical: BoolArray  # (p,): positions of this axis may be reordered


class RefineRules(NamedTuple):
    """What a refinement may do: the paper's hyperparameters of a single grid."""

    n_splits: int
    n_columns: int  # columns offered at each step
    split_try: int  # cuts tried per column
    min_interval_samples: float
    min_gain: float
    ridge: float  # > 0, so that every 2x2 system has a solution
    v_min: float
    v_max: float
    threshold: float  # residuals beyond it count linearly; infinity is squared error
    two_branches: bool  # else there is no - product
    signed: bool  # factors may turn negative (the paper's one-product ablation)


class Cuts(NamedTuple):
    """Cuts of one axis: ``at`` lists them, ``end[cut]`` ends the interval that a cut divides."""

    at: IntArray
    end: IntArray


class Action(NamedTuple):
    """A split or resplit on an axis: the bins [lo, cut) and [cut, hi) get new multipliers."""

    gain: float
    axis: int
    lo: int
    cut: int
    hi: int


class Block(NamedTuple):
    """Scratch of one visit: one stage on one axis with B bins.

    Vectors of length 2B hold beta and delta of each bin side by side, so that the system of both
    curves is banded: ``penalty`` has the offsets 0, 2 and 4, ``system`` 0 to 4.
    """

    sums: FloatArray  # (B, 8), with the columns of kernels/sums.py
    energy: FloatArray  # (2, B): price of the size of P+ and P- in the bin
    curve: FloatArray  # (2B,)
    step: FloatArray  # (2B,)
    factors: FloatArray  # (2, B): what the step multiplies P+ and P- with
    penalty: FloatArray  # (3, 2B)
    system: FloatArray  # (5, 2B)
    inverse: FloatArray  # (5, 2B)
    lower: FloatArray  # (5, 2B)
    inverse_pivots: FloatArray  # (2B,)
