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


class SweptRows(NamedTuple):
    """A block of rows as sweeps see it."""

    codes: CodeArray  # (p, n)
    products: FloatArray  # (n_stages, 2, n): P+ and P- of every stage
    residual: FloatArray  # (n,): the working response minus the prediction
    working: FloatArray  # (n,): the weights of this least-squares problem
    weight: FloatArray  # (n,)


class SweptStages(NamedTuple):
    """The curves of all stages, and what is learned of them; an axis is visited in its turn."""

    visits: IntArray  # (n_stages, p): the axes to visit, in their order; the rest are -1
    rest: IntArray  # (n_stages, p): for how many more sweeps an axis is passed over
    scale: FloatArray  # (n_stages, 2): b0 and d0
    curvature: FloatArray  # (n_stages, 2): of the loss along the scales, when a sweep began
    curves: FloatArray  # (n_stages, 2, n_flat): backbone and tilt, in logs
    mu: FloatArray  # (n_stages, p, 2, 3): their penalties
    free: BoolArray  # (n_stages, p, 2): which curves may move; the others are flat
    present: BoolArray  # (n_stages, 2): which of its two products a stage has
    freedom: FloatArray  # (n_stages, p, 2): effective degrees of freedom; left where rate is 0
    reach: FloatArray  # (n_stages, p, 2): how far curves move predictions: see ``reach_of``


class SweptEffects(NamedTuple):
    """All main effects, and what is learned of them."""

    visits: IntArray  # the axes to visit, in their order
    rest: IntArray  # (p,): for how many more sweeps an axis is passed over
    values: FloatArray  # (n_flat,)
    mu: FloatArray  # (p, 3): penalties
    freedom: FloatArray  # (p,): effective degrees of freedom; left where rate is 0


class SweepRules(NamedTuple):
    """How a sweep moves."""

    energy: float  # price of the products' size, as a multiple of the mean squared residual
    fit_intercept: bool
    rate: float  # share of the change of log mu that is made; 0 leaves penalties as they are
    largest_step: float  # of a log-factor
    negligible: float  # squared change of all predictions, as a share of the noise of one row


class Noise(NamedTuple):
    """What a sweep knows of the residuals when it begins."""

    mean_square: float
    inflation: float  # what the freedom that was spent makes the mean square larger by
    mass: float  # total weight of the rows


class Block(NamedTuple):
    """Scratch of one visit: the F = 1 or 2 curves of one axis with B bins that are to move.

    A last dimension of S = F B + 4 F holds what belongs to the bins of these curves, beta and delta
    of a bin side by side, so that the system of both is banded: with offsets 0 to 2 F, while
    ``penalty`` and ``prior`` have 0, F and 2 F. At either end there is a margin of 2 F zeros.
    """

    curve: FloatArray  # (S,)
    step: FloatArray  # (S,): the right side of the system, its solution, the step
    penalty: FloatArray  # (3, S)
    system: FloatArray  # (2 F + 1, S): the system, then the bands of its inverse
    lower: FloatArray  # (2 F + 1, S)
    pivots: FloatArray  # (S,), inverted
    prior: FloatArray  # (3, S): the penalty, then the bands of its inverse
    prior_lower: FloatArray  # (3, S)
    prior_pivots: FloatArray  # (S,), inverted
    powers: FloatArray  # (2, S): e to the power of a share of the step, and of its opposite
