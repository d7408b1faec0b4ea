"""Algorithm 1 of the paper: one grid, refined split by split on the sums of its bag."""

from __future__ import annotations

import numpy as np

from seplearn.kernels.arrays import (
    Action,
    BoolArray,
    CodeArray,
    FloatArray,
    GridState,
    IntArray,
    RandomState,
    RefineRules,
)
from seplearn.kernels.compiler import kernel
from seplearn.kernels.random import bootstrap_counts, draw_head
from seplearn.kernels.scalar import solve_two_tensor
from seplearn.kernels.sums import fill_sums, huber_weight, multiply_rows, sort_by_bin


@kernel
def initial_scalars(
    residual: FloatArray, weight: FloatArray, two_branches: bool, rules: RefineRules
) -> tuple[float, float]:
    """InitializeState: lambda+ and lambda- from the signed mass of the outer residuals.

    One branch starts at the mean size of the residuals, whatever their unit (a signed product at
    their root mean square: its mean may be zero).
    """
    total = up = down = square = 0.0
    for i in range(residual.shape[0]):
        w = huber_weight(weight[i], residual[i], rules.kappa)
        total += w
        up += w * max(residual[i], 0.0)
        down += w * max(-residual[i], 0.0)
        square += w * residual[i] * residual[i]
    if rules.signed:
        return np.sqrt(square / total), 0.0
    return up / total, down / total if two_branches else 0.0


@kernel
def prefix_of_interval(
    sums: FloatArray, is_cut: BoolArray, first: int, lo: int, n_bins: int, prefix: FloatArray
) -> int:
    """Fill ``prefix[s]`` with the sums of the bins [lo, s); return the interval's end ``hi``.

    The prefix starts anew at every interval: a difference of prefixes over the whole axis would
    lose the small sums beside the large ones.
    """
    a0 = a1 = a2 = a3 = a4 = a5 = 0.0
    prefix[lo, 5] = 0.0
    b = lo
    while True:
        flat = np.uint64(first + b)
        a0 += sums[flat, 0]
        a1 += sums[flat, 1]
        a2 += sums[flat, 2]
        a3 += sums[flat, 3]
        a4 += sums[flat, 4]
        a5 += sums[flat, 5]
        b += 1
        end = np.uint64(b)
        prefix[end, 0] = a0
        prefix[end, 1] = a1
        prefix[end, 2] = a2
        prefix[end, 3] = a3
        prefix[end, 4] = a4
        prefix[end, 5] = a5
        if b >= n_bins or is_cut[np.uint64(first + b)]:
            return b


@kernel
def valid_cuts(prefix: FloatArray, lo: int, hi: int, min_samples: float, cuts: IntArray) -> int:
    """List the cuts of [lo, hi) with enough rows on both sides; return how many there are.

    A cut right after an empty bin divides the rows as the cut before it does, so it is left out.
    """
    n_cuts = 0
    most = prefix[hi, 5] - min_samples
    for s in range(lo + 1, hi):
        at = np.uint64(s)
        left = prefix[at, 5]
        if min_samples <= left <= most and left > prefix[at - np.uint64(1), 5]:
            cuts[n_cuts] = s
            n_cuts += 1
    return n_cuts


@kernel
def best_cut(
    prefix: FloatArray, hi: int, cuts: IntArray, n_cuts: int, rules: RefineRules
) -> tuple[float, int]:
    """EvaluateSplitCandidate for the listed cuts: the largest Delta_L + Delta_R and its cut."""
    end = np.uint64(hi)
    t0, t1, t2 = prefix[end, 0], prefix[end, 1], prefix[end, 2]
    t3, t4 = prefix[end, 3], prefix[end, 4]
    best, best_at = 0.0, -1
    for c in range(n_cuts):
        s = np.uint64(cuts[c])
        l0, l1, l2, l3, l4 = prefix[s, 0], prefix[s, 1], prefix[s, 2], prefix[s, 3], prefix[s, 4]
        _, _, gain_left = solve_two_tensor(l0, l1, l2, l3, l4, rules)
        _, _, gain_right = solve_two_tensor(t0 - l0, t1 - l1, t2 - l2, t3 - l3, t4 - l4, rules)
        if gain_left + gain_right > best:
            best, best_at = gain_left + gain_right, cuts[c]
    return best, best_at


@kernel
def best_on_axis(
    state: GridState,
    axis: int,
    rules: RefineRules,
    random: RandomState,
    prefix: FloatArray,
    cuts: IntArray,
) -> Action:
    """The best split or resplit on one axis.

    A resplit re-estimates the multipliers of two neighbouring intervals; its gain is the sum of
    what each interval would gain alone, so one solve per interval covers all of them.
    """
    first = state.offset[axis]
    n_bins = state.offset[axis + 1] - first
    gain, at_lo, at_cut, at_hi = rules.min_gain, 0, 0, 0
    lo, previous_lo, previous_gain = 0, -1, 0.0
    while lo < n_bins:
        hi = prefix_of_interval(state.sums, state.is_cut, first, lo, n_bins, prefix)
        n_cuts = valid_cuts(prefix, lo, hi, rules.min_interval_samples, cuts)
        if n_cuts > rules.split_try:
            draw_head(random, rules.split_try, n_cuts, cuts)
            n_cuts = rules.split_try
        split_gain, cut = best_cut(prefix, hi, cuts, n_cuts, rules)
        if split_gain > gain:
            gain, at_lo, at_cut, at_hi = split_gain, lo, cut, hi
        t = prefix[hi]
        _, _, own_gain = solve_two_tensor(t[0], t[1], t[2], t[3], t[4], rules)
        if previous_lo >= 0 and previous_gain + own_gain > gain:
            gain, at_lo, at_cut, at_hi = previous_gain + own_gain, previous_lo, lo, hi
        lo, previous_lo, previous_gain = hi, lo, own_gain
    return Action(gain, axis, at_lo, at_cut, at_hi)


@kernel
def multiply_region(state: GridState, rules: RefineRules, axis: int, lo: int, hi: int) -> None:
    """Solve for the multipliers of the bins [lo, hi) of ``axis`` and apply them everywhere."""
    first = state.offset[axis]
    t = np.zeros(5)
    for b in range(first + lo, first + hi):
        for c in range(5):
            t[c] += state.sums[b, c]
    v_plus, v_minus, _ = solve_two_tensor(t[0], t[1], t[2], t[3], t[4], rules)
    for b in range(first + lo, first + hi):
        state.log_factors[0, b] += np.log(abs(v_plus))
        state.log_factors[1, b] += np.log(v_minus)
        state.negative[b] ^= v_plus < 0.0
    multiply_rows(state, rules.kappa, axis, lo, hi, v_plus, v_minus)


@kernel
def refine(
    state: GridState, rules: RefineRules, random: RandomState, stop: BoolArray
) -> tuple[int, float]:
    """The refinement loop: returns the number of actions taken and the sum of their gains.

    It ends after ``n_splits`` new cuts; resplits come on top, up to twice as many.
    ``random[j]`` is the stream of axis j and ``random[p]`` draws the columns, so that the cuts
    tried on an axis do not depend on where its column stands. ``stop[0]`` is set from another
    thread to end the loop early.
    """
    p = state.codes.shape[1]
    columns = np.arange(p)
    widest = np.max(state.offset[1:] - state.offset[:-1])
    prefix = np.zeros((widest + 1, 6))
    cuts = np.empty(widest + 1, np.int64)
    total = 0.0
    n_actions = n_cuts = 0
    while n_cuts < rules.n_splits and n_actions < 3 * rules.n_splits and not stop[0]:
        if rules.n_columns < p:
            draw_head(random[p:], rules.n_columns, p, columns)
        best = Action(rules.min_gain, -1, 0, 0, 0)
        for c in range(rules.n_columns):
            j = columns[c]
            action = best_on_axis(state, j, rules, random[j:], prefix, cuts)
            if action.gain > best.gain:
                best = action
        if best.axis < 0:
            break
        boundary = state.offset[best.axis] + best.cut
        n_cuts += 0 if state.is_cut[boundary] else 1
        n_actions += 1
        total += best.gain
        state.is_cut[boundary] = True
        multiply_region(state, rules, best.axis, best.lo, best.cut)
        multiply_region(state, rules, best.axis, best.cut, best.hi)
    return n_actions, total


@kernel
def draw_bag(
    state: GridState, bootstrap: bool, random: RandomState, sample_weight: FloatArray
) -> None:
    """Fill counts, weights and the sorted order of a bag: a bootstrap sample, or every row once."""
    if bootstrap:
        bootstrap_counts(random, state.times)
    else:
        state.times[:] = 1.0
    for i in range(state.times.shape[0]):
        state.weight[i] = state.times[i] * sample_weight[i]
    sort_by_bin(state.codes, state.offset, state.times > 0.0, state.order, state.start)


@kernel
def refit_scalars(state: GridState, rules: RefineRules) -> tuple[float, float]:
    """Least-squares multipliers of the two finished products; the sums of axis 0 hold all rows."""
    t = np.zeros(5)
    for b in range(state.offset[1]):
        for c in range(5):
            t[c] += state.sums[b, c]
    v_plus, v_minus, _ = solve_two_tensor(t[0], t[1], t[2], t[3], t[4], rules)
    return v_plus, v_minus


@kernel
def empty_state(codes: CodeArray, offset: IntArray) -> GridState:
    """A grid of one interval per axis, all factors one, before any row has been read."""
    n, p = codes.shape
    n_flat = offset[p]
    return GridState(
        codes,
        offset,
        np.empty((p, n), np.int32),
        np.zeros(n_flat + p, np.int64),
        np.zeros(n),
        np.zeros(n),
        np.empty((n, 3)),
        np.zeros((n_flat, 8)),
        np.zeros((2, n_flat)),
        np.zeros(n_flat, np.bool_),
        np.zeros(n_flat, np.bool_),
    )


@kernel
def fit_single_grid(
    codes: CodeArray,
    offset: IntArray,
    residual: FloatArray,
    sample_weight: FloatArray,
    two_branches: bool,
    bootstrap: bool,
    rules: RefineRules,
    random: RandomState,
    stop: BoolArray,
) -> tuple[FloatArray, BoolArray, FloatArray, int]:
    """One bagged grid: log-factors (2, n_flat), signs, (lambda+, lambda-) and the actions taken.

    ``random`` holds p + 2 streams: one per axis, one for columns, one for the bootstrap.
    """
    p = codes.shape[1]
    state = empty_state(codes, offset)
    draw_bag(state, bootstrap, random[p + 1 :], sample_weight)
    plus, minus = initial_scalars(residual, state.weight, two_branches, rules)
    for i in range(residual.shape[0]):
        state.rows[i, 0], state.rows[i, 1] = plus, minus
        state.rows[i, 2] = residual[i] - plus + minus
    fill_sums(state, rules.kappa)
    n_actions, _ = refine(state, rules, random, stop)
    v_plus, v_minus = refit_scalars(state, rules)
    scalars = np.array([plus * v_plus, minus * v_minus])
    return state.log_factors, state.negative, scalars, n_actions
