"""Algorithm 1 of the paper: one grid, refined split by split on the sums of its bag."""

from __future__ import annotations

import numpy as np

from seplearn.kernels.arrays import (
    Action,
    BoolArray,
    CodeArray,
    Cuts,
    Draws,
    FloatArray,
    GridState,
    IntArray,
    RandomState,
    RefineRules,
    SortedRows,
)
from seplearn.kernels.compiler import kernel, part, section
from seplearn.kernels.random import bootstrap_counts, draw_head
from seplearn.kernels.scalar import solve_two_tensor
from seplearn.kernels.sorting import sort_by_key
from seplearn.kernels.sums import (
    COUNT,
    MINUS_MINUS,
    MINUS_R,
    PLUS_MINUS,
    PLUS_PLUS,
    PLUS_R,
    fill_sums,
    huber_weight,
    multiply_interval,
    rows_of_bag,
)

# Two features that divide the bag alike gain alike up to rounding; the first of them is taken, so
# that the order of the rows, and with it the rounding, decides nothing.
_CLEARLY = 1.0 + 1e-9


@part
def initial_scalars(
    residual: FloatArray, times: FloatArray, rules: RefineRules
) -> tuple[float, float]:
    """InitializeState: lambda+ and lambda- from the signed mass of the outer residuals.

    One branch starts at the mean size of the residuals, whatever their unit (a signed product at
    their root mean square: its mean may be zero).
    """
    total = up = down = square = 0.0
    for i in range(residual.shape[0]):
        w = huber_weight(times[i], residual[i], rules.threshold)
        total += w
        up += w * max(residual[i], 0.0)
        down += w * max(-residual[i], 0.0)
        square += w * residual[i] * residual[i]
    if rules.signed:
        return np.sqrt(square / total), 0.0
    return up / total, down / total if rules.two_branches else 0.0


@part
def order_levels(state: GridState, axis: int) -> None:
    """Sort the levels of every interval of a categorical axis by the push they ask for.

    The key is the best common tilt of a level's rows, sum w r (m+ + m-) / sum w (m+ + m-)^2: the
    residual per unit of what a tilt moves. A prefix of the sorted levels is then a subset worth
    splitting off, as in trees that order levels by their gradient.
    """
    first, last = state.offset[axis], state.offset[axis + 1]
    keys = np.empty(last - first)
    for position in range(first, last):
        s = state.sums[state.bin_at[position]]
        moved = s[PLUS_PLUS] + s[MINUS_MINUS] + 2.0 * s[PLUS_MINUS]
        keys[position - first] = (s[PLUS_R] + s[MINUS_R]) / moved if moved > 0.0 else 0.0
    lo = first
    while lo < last:
        hi = lo + 1
        while hi < last and not state.is_cut[hi]:
            hi += 1
        sort_by_key(keys[lo - first : hi - first], state.bin_at[lo:hi])
        lo = hi


@part
def prefix_sums(state: GridState, axis: int, prefix: FloatArray) -> None:
    """Fill ``prefix[b]`` with the sums from the start of b's interval up to position b.

    The prefix starts anew at every interval: a difference of prefixes over the whole axis would
    lose the small sums beside the large ones.
    """
    sums = state.sums
    first = np.uint64(state.offset[axis])
    a0 = a1 = a2 = a3 = a4 = a5 = 0.0
    for b in range(np.uint64(state.offset[axis + 1]) - first):
        if state.is_cut[first + b]:
            a0 = a1 = a2 = a3 = a4 = a5 = 0.0
        flat = np.uint64(state.bin_at[first + b])
        a0 += sums[flat, 0]
        a1 += sums[flat, 1]
        a2 += sums[flat, 2]
        a3 += sums[flat, 3]
        a4 += sums[flat, 4]
        a5 += sums[flat, 5]
        prefix[b, 0] = a0
        prefix[b, 1] = a1
        prefix[b, 2] = a2
        prefix[b, 3] = a3
        prefix[b, 4] = a4
        prefix[b, 5] = a5


@part
def valid_cuts(
    prefix: FloatArray, lo: int, hi: int, min_samples: float, cuts: Cuts, n_cuts: int
) -> int:
    """Append the cuts of [lo, hi) with enough rows on both sides; return how many there are now.

    A cut right after an empty bin divides the rows as the cut before it does, so it is left out.
    """
    most = prefix[hi - 1, COUNT] - min_samples
    before = 0.0
    for s in range(np.uint64(lo + 1), np.uint64(hi)):
        left = prefix[s - np.uint64(1), COUNT]
        if min_samples <= left <= most and left > before:
            cuts.at[n_cuts] = s
            cuts.end[s] = hi
            n_cuts += 1
        before = left
    return n_cuts


@part
def best_split(
    prefix: FloatArray, cuts: Cuts, n_cuts: int, rules: RefineRules
) -> tuple[float, int]:
    """EvaluateSplitCandidate for the listed cuts: the largest Delta_L + Delta_R and its cut."""
    one = np.uint64(1)
    best, best_cut = 0.0, 0
    for c in range(np.uint64(n_cuts)):
        cut = cuts.at[c]
        s = np.uint64(cut) - one
        e = np.uint64(cuts.end[cut]) - one
        l0, l1, l2, l3, l4 = prefix[s, 0], prefix[s, 1], prefix[s, 2], prefix[s, 3], prefix[s, 4]
        r0, r1, r2 = prefix[e, 0] - l0, prefix[e, 1] - l1, prefix[e, 2] - l2
        r3, r4 = prefix[e, 3] - l3, prefix[e, 4] - l4
        _, _, gain_left = solve_two_tensor(l0, l1, l2, l3, l4, rules)
        _, _, gain_right = solve_two_tensor(r0, r1, r2, r3, r4, rules)
        if gain_left + gain_right > _CLEARLY * best:
            best, best_cut = gain_left + gain_right, cut
    return best, best_cut


@part
def best_on_axis(
    state: GridState,
    axis: int,
    rules: RefineRules,
    random: RandomState,
    prefix: FloatArray,
    cuts: Cuts,
) -> Action:
    """The best split or resplit on one axis.

    Splits are drawn from the valid cuts of all intervals together. A resplit re-estimates the
    multipliers of two neighbouring intervals; its gain is the sum of what each interval would
    gain alone, so one solve per interval covers all of them.
    """
    first = state.offset[axis]
    n_bins = state.offset[axis + 1] - first
    if state.is_categorical[axis]:
        order_levels(state, axis)
    prefix_sums(state, axis, prefix)
    gain, at_lo, at_cut, at_hi = rules.min_gain, 0, 0, 0
    n_cuts, lo, previous_lo, previous_gain = 0, 0, -1, 0.0
    while lo < n_bins:
        hi = lo + 1
        while hi < n_bins and not state.is_cut[first + hi]:
            hi += 1
        n_cuts = valid_cuts(prefix, lo, hi, rules.min_interval_samples, cuts, n_cuts)
        t = prefix[hi - 1]
        _, _, own_gain = solve_two_tensor(t[0], t[1], t[2], t[3], t[4], rules)
        if t[COUNT] == 0.0:  # no row of the bag has missing values here: nothing to re-estimate
            break
        if previous_lo >= 0 and previous_gain + own_gain > gain:
            gain, at_lo, at_cut, at_hi = previous_gain + own_gain, previous_lo, lo, hi
        lo, previous_lo, previous_gain = hi, lo, own_gain
    if n_cuts > rules.split_try:
        draw_head(random, rules.split_try, n_cuts, cuts.at)
        n_cuts = rules.split_try
    split_gain, cut = best_split(prefix, cuts, n_cuts, rules)
    if split_gain > gain:
        gain, at_cut, at_hi = split_gain, cut, cuts.end[cut]
        at_lo = cut - 1
        while at_lo > 0 and not state.is_cut[first + at_lo]:
            at_lo -= 1
    return Action(gain, axis, at_lo, at_cut, at_hi)


@part
def solve_region(
    state: GridState, rules: RefineRules, first: int, last: int
) -> tuple[float, float]:
    """The multipliers (v+, v-) of the flat positions [first, last)."""
    t = np.zeros(5)
    for position in range(first, last):
        for c in range(5):
            t[c] += state.sums[state.bin_at[position], c]
    v_plus, v_minus, _ = solve_two_tensor(t[0], t[1], t[2], t[3], t[4], rules)
    return v_plus, v_minus


@part
def multiply_region(state: GridState, rules: RefineRules, axis: int, lo: int, hi: int) -> None:
    """Solve for the multipliers of the positions [lo, hi) of ``axis``; apply them everywhere."""
    first = state.offset[axis]
    v_plus, v_minus = solve_region(state, rules, first + lo, first + hi)
    for position in range(first + lo, first + hi):
        b = state.bin_at[position]
        state.log_factors[0, b] += np.log(abs(v_plus))
        state.log_factors[1, b] += np.log(v_minus)
        state.negative[b] ^= v_plus < 0.0
    multiply_interval(state, rules, axis, lo, hi, v_plus, v_minus)


@section
def refine(
    state: GridState, rules: RefineRules, random: RandomState, stop: BoolArray
) -> tuple[int, float]:
    """The refinement loop: returns the number of actions taken and the sum of their gains.

    It ends after ``n_splits`` new cuts; resplits come on top, up to twice as many. Where the
    columns drawn have nothing to gain, as a constant has not, the others are tried. ``random[j]``
    is the stream of axis j, and ``random[p]`` draws from the columns in the order of their streams,
    so that what is tried on an axis does not depend on where its column stands. ``stop[0]`` is set
    from another thread to end the loop early.
    """
    p = state.codes.shape[1]
    columns = np.arange(p)
    sort_by_key(random[:p].astype(np.float64), columns)
    widest = np.max(state.offset[1:] - state.offset[:-1])
    prefix = np.empty((widest, 6))
    cuts = Cuts(np.empty(widest, np.int64), np.empty(widest, np.int64))
    total = 0.0
    n_actions = n_cuts = 0
    while n_cuts < rules.n_splits and n_actions < 3 * rules.n_splits and not stop[0]:
        if rules.n_columns < p:
            draw_head(random[p:], rules.n_columns, p, columns)
        best = Action(rules.min_gain, -1, 0, 0, 0)
        for c in range(p):
            if c >= rules.n_columns and best.axis >= 0:
                break
            j = columns[c]
            action = best_on_axis(state, j, rules, random[j:], prefix, cuts)
            if action.gain > _CLEARLY * best.gain:
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


@part
def start_grid(
    codes: CodeArray,
    offset: IntArray,
    is_categorical: BoolArray,
    everyone: SortedRows,
    residual: FloatArray,
    times: FloatArray,
    unit: float,
    rules: RefineRules,
) -> GridState:
    """InitializeState and ComputePredictions: one interval per axis, all factors one.

    A row weighs ``unit`` for each time it is in the bag. On an ordered axis the last bin, that of
    missing values, is an interval of its own.
    """
    n, p = codes.shape
    n_flat = offset[p]
    plus, minus = initial_scalars(residual, times, rules)
    rows = np.empty((n, 4))
    for i in range(n):
        rows[i, 0] = times[i] * unit
        rows[i, 1], rows[i, 2] = plus, minus
        rows[i, 3] = residual[i] - plus + minus
    bag = SortedRows(np.empty((p, n), np.int32), np.empty(n_flat + p, np.int64))
    rows_of_bag(everyone, offset, times, bag)
    state = GridState(
        codes,
        offset,
        bag,
        times,
        rows,
        np.zeros((n_flat, 8)),
        np.zeros((2, n_flat)),
        np.zeros(n_flat, np.bool_),
        np.zeros(n_flat, np.bool_),
        np.arange(np.int64(n_flat)),
        is_categorical,
    )
    for j in range(p):
        state.is_cut[offset[j + 1] - 1] = not is_categorical[j]
    fill_sums(state, rules.threshold)
    return state


@kernel
def fit_single_grid(
    codes: CodeArray,
    offset: IntArray,
    is_categorical: BoolArray,
    everyone: SortedRows,
    residual: FloatArray,
    draws: Draws,
    rules: RefineRules,
    random: RandomState,
    stop: BoolArray,
) -> tuple[FloatArray, BoolArray, FloatArray, int]:
    """One bagged grid: log-factors (2, n_flat), signs, (lambda+, lambda-) and the actions taken.

    ``random`` holds p + 2 streams: one per axis, one for columns, one for the bootstrap.
    """
    p = codes.shape[1]
    times = draws.times.copy()
    if draws.bootstrap:
        times[:] = 0.0
        bootstrap_counts(random[p + 1 :], draws.n_draws, draws.order, draws.cumulative, times)
    state = start_grid(codes, offset, is_categorical, everyone, residual, times, draws.unit, rules)
    plus, minus = state.rows[0, 1], state.rows[0, 2]
    n_actions, _ = refine(state, rules, random, stop)
    # The positions of axis 0 hold all rows: the least-squares projection of the finished products.
    v_plus, v_minus = solve_region(state, rules, offset[0], offset[1])
    scalars = np.array([plus * v_plus, minus * v_minus])
    return state.log_factors, state.negative, scalars, n_actions
