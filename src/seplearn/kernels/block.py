"""One block of joint refinement: the backbone and the tilt of one stage on one axis.

With u = P+ - P- and v = P+ + P- a small change (beta, delta) of a bin's log-factors moves the
prediction of its rows by u beta + v delta. Other bins of the axis share no row with it, so the
Gauss-Newton system has a 2x2 block [sum u^2, sum uv; sum uv, sum v^2] per bin; only penalties tie
bins together. The five sums that a grid keeps give these blocks, and the exact loss after any step.

Places are unsigned where they are more than a count of bins: see :mod:`seplearn.kernels.banded`.
"""

from __future__ import annotations

import math
from typing import cast

import numpy as np

from seplearn.kernels.arrays import (
    Block,
    BoolArray,
    FloatArray,
    IntArray,
    SweepRules,
    SweptEffects,
    SweptStages,
)
from seplearn.kernels.banded import (
    backward_four,
    backward_two,
    factorise_four,
    factorise_two,
    forward_four,
    forward_two,
    inverse_four,
    inverse_two,
)
from seplearn.kernels.compiler import part, section
from seplearn.kernels.isotonic import make_monotone
from seplearn.kernels.sums import MINUS_MINUS, MINUS_R, PLUS_MINUS, PLUS_PLUS, PLUS_R

FIRST, SIZE, SECOND = 0, 1, 2  # the penalties of a curve: first differences, size, second ones
SMOOTH_BINS = 20  # ordered bins from which on a curve has a penalty on second differences
# Share of the curvature that holds every log-factor near zero whatever is learned: the penalty
# matrix must have an inverse, and a level without rows must stay neutral. A hundredth of it raised
# the cross-validated error of 14 small tables by 1.4 %.
HOLD = 1e-4
# Backbone curvature counts as at least this share of the tilt's: where P+ and P- are equal the
# backbone has none, and penalties in units of it would vanish.
LEAST_BACKBONE = 1e-3
# Bounds of mu for FIRST, SIZE, SECOND. A constant has no differences, so that the inverse of the
# penalty matrix hangs on HOLD: with 255 bins its trace is right to 1 % up to these bounds, and
# negative at bounds a hundred times as high.
_LOWEST, _HIGHEST = 1e-9, (1e3, 1e5, 1e7)
_LARGEST_CHANGE = 10.0  # of mu in one update
# A curve is made of at most so many stretches that know nothing of each other. A penalty on size
# alone would be a prior of independent bins: where it was learned curves jumped from bin to bin.
_STRETCHES = 50.0
_FEWEST_FREEDOM = 1e-4  # of one penalty: keeps mu positive
_SMALLEST_SQUARE = 1e-12
# Written as literals they would be part of the types, and parts be compiled anew for each of them.
_ONE, _TWO = (cast("int", np.int64(k)) for k in (1, 2))
_SERIES = 0.25  # steps up to here: the 13th term of their exponential series is below 1e-17


@part
def vectors(n: int, size: int, margin: int) -> FloatArray:
    """Scratch with margins of zeros."""
    out = np.empty((n, size))
    for k in range(n):
        for i in range(margin):
            out[k, i] = out[k, size - 1 - i] = 0.0
    return out


@part
def new_block(n_bins: int, stride: int) -> Block:
    """Scratch for one visit to an axis on which ``stride`` curves are to move."""
    margin = 2 * stride
    size, n_bands = stride * n_bins + 2 * margin, 2 * stride + 1
    single = vectors(4, size, margin)
    return Block(
        single[0],
        single[1],
        vectors(3, size, margin),
        vectors(n_bands, size, margin),
        vectors(n_bands, size, margin),
        single[2],
        vectors(3, size, margin),
        vectors(3, size, margin),
        single[3],
        np.empty((2, size)),
    )


@part
def start_of(side: int, stride: int) -> int:
    """Where the first bin of backbone (0) or tilt (1) stands; the others follow every stride."""
    return 2 * stride + side * (stride - 1)


@part
def curvatures(sums: FloatArray, n_bins: int) -> tuple[float, float]:
    """Curvature of the loss along the backbone and along the tilt: sum u^2 and sum v^2."""
    uu = vv = 0.0
    for b in range(n_bins):
        squares = sums[b, PLUS_PLUS] + sums[b, MINUS_MINUS]
        cross = 2.0 * sums[b, PLUS_MINUS]
        uu += squares - cross
        vv += squares + cross
    return max(uu, LEAST_BACKBONE * vv), vv


@part
def fill_penalty(
    penalty: FloatArray,
    mu: FloatArray,
    start: int,
    stride: int,
    curvature: float,
    n_bins: int,
    n_ordered: int,
) -> None:
    """S = sum_c mu_c S_c of one curve in bands; bin b stands at ``start + stride * b``.

    Differences run over the ordered bins; the others (levels, the missing bin) have their size
    penalised alone.
    """
    first = mu[FIRST] * curvature if n_ordered > 1 else 0.0
    second = mu[SECOND] * curvature if n_ordered >= SMOOTH_BINS else 0.0
    size = (mu[SIZE] + HOLD / n_bins) * curvature
    for b in range(n_bins):
        i = np.uint64(start + stride * b)
        to_end = min(b, n_ordered - 1 - b)
        diagonal, next_, next_but_one = size, 0.0, 0.0
        if to_end >= 0:
            diagonal += first * (1.0 if to_end == 0 else 2.0)
            diagonal += second * (1.0 if to_end == 0 else 5.0 if to_end == 1 else 6.0)
            if b + 1 < n_ordered:
                next_ -= first + second * (2.0 if b == 0 or b + 2 == n_ordered else 4.0)
            if b + 2 < n_ordered:
                next_but_one += second
        penalty[0, i], penalty[1, i], penalty[2, i] = diagonal, next_, next_but_one


@part
def pull_of(penalty: FloatArray, curve: FloatArray, i: int, stride: int) -> float:
    """Element i of S theta."""
    here = np.uint64(i)
    pull = penalty[0, here] * curve[here]
    for k in range(1, 3):
        before, after = np.uint64(i - k * stride), np.uint64(i + k * stride)
        pull += penalty[k, here] * curve[after] + penalty[k, before] * curve[before]
    return float(pull)


@part
def fill_from_penalty(block: Block, stride: int) -> None:
    """What the penalty contributes to the system and its right side; the prior, which it is."""
    penalty, system, prior = block.penalty, block.system, block.prior
    for i in range(2 * stride, block.curve.shape[0] - 2 * stride):
        here = np.uint64(i)
        block.step[here] = -pull_of(penalty, block.curve, i, stride)
        for k in range(3):
            prior[k, here] = system[np.uint64(k * stride), here] = penalty[k, here]
        if stride == 2:
            system[1, here] = system[3, here] = 0.0


@part
def fill_system(
    block: Block, sums: FloatArray, stride: int, energy: float, free: BoolArray
) -> None:
    """The Gauss-Newton system of the penalised loss: its matrix, and in ``step`` its right side.

    The energy sum_i E+ e^(2(beta + delta)) + E- e^(2(beta - delta)), halved, adds its gradient and
    Hessian.
    """
    fill_from_penalty(block, stride)
    system, step = block.system, block.step
    for b in range(sums.shape[0]):
        s11, s22, s12 = sums[b, PLUS_PLUS], sums[b, MINUS_MINUS], sums[b, PLUS_MINUS]
        t1, t2 = sums[b, PLUS_R], sums[b, MINUS_R]
        both, gap = energy * (s11 + s22), energy * (s11 - s22)
        beta = np.uint64(start_of(0, stride) + stride * b)
        delta = np.uint64(start_of(1, stride) + stride * b)
        if free[0]:
            system[0, beta] += s11 + s22 - 2.0 * s12 + 2.0 * both
            step[beta] += t1 - t2 - both
        if free[1]:
            system[0, delta] += s11 + s22 + 2.0 * s12 + 2.0 * both
            step[delta] += t1 + t2 - gap
        if stride == 2:
            system[1, beta] = s11 - s22 + 2.0 * gap


@part
def solve_one(block: Block, learns: bool) -> None:
    """Make ``step`` the solution, and if ``learns`` system and prior the bands of their inverses.

    For one curve that moves.
    """
    first, last = 2, block.curve.shape[0] - 3
    for i in range(first, last + 1):
        factorise_two(block.system, block.pivots, block.lower, i, _ONE)
        forward_two(block.lower, block.step, i)
        if learns:
            factorise_two(block.prior, block.prior_pivots, block.prior_lower, i, _ONE)
    for i in range(last, first - 1, -1):
        backward_two(block.pivots, block.lower, block.step, i)
        if learns:
            inverse_two(block.pivots, block.lower, block.system, i, _ONE)
            inverse_two(block.prior_pivots, block.prior_lower, block.prior, i, _ONE)


@part
def solve_both(block: Block, learns: bool) -> None:
    """As :func:`solve_one` for a backbone and a tilt, which share a system but not a prior."""
    first, last = 4, block.curve.shape[0] - 5
    for i in range(first, last + 1):
        factorise_four(block.system, block.pivots, block.lower, i)
        forward_four(block.lower, block.step, i)
        if learns:
            factorise_two(block.prior, block.prior_pivots, block.prior_lower, i, _TWO)
    for i in range(last, first - 1, -1):
        backward_four(block.pivots, block.lower, block.step, i)
        if learns:
            inverse_four(block.pivots, block.lower, block.system, i)
            inverse_two(block.prior_pivots, block.prior_lower, block.prior, i, _TWO)


@part
def penalty_change(block: Block, stride: int) -> tuple[float, float, float]:
    """Half the penalty theta' S theta after a share h of the step is a + h b + h^2 c: a, b, c."""
    curve, step, penalty = block.curve, block.step, block.penalty
    before = slope = bend = 0.0
    for k in range(3):
        scale = 0.5 if k == 0 else 1.0  # elements above the diagonal count for those below
        for i in range(2 * stride, curve.shape[0] - 2 * stride):
            here, other = np.uint64(i), np.uint64(i + k * stride)
            element = scale * penalty[k, here]
            before += element * curve[here] * curve[other]
            slope += element * (curve[here] * step[other] + step[here] * curve[other])
            bend += element * step[here] * step[other]
    return before, slope, bend


@part
def fill_powers(block: Block, share: float) -> None:
    """e^step and e^-step of a share of the step.

    Steps are small unless they lead to a monotone curve, and their series of even and odd terms is
    sooner added up.
    """
    step, powers, largest = block.step, block.powers, 0.0
    for i in range(step.shape[0]):
        largest = max(largest, abs(step[i]))
    if share * largest > _SERIES:
        for i in range(step.shape[0]):
            powers[0, i], powers[1, i] = math.exp(share * step[i]), math.exp(-share * step[i])
        return
    for i in range(step.shape[0]):
        h = share * step[i]
        x = h * h
        even, odd = 1.0 / 479001600.0, 1.0 / 39916800.0
        even, odd = even * x + 1.0 / 3628800.0, odd * x + 1.0 / 362880.0
        even, odd = even * x + 1.0 / 40320.0, odd * x + 1.0 / 5040.0
        even, odd = even * x + 1.0 / 720.0, odd * x + 1.0 / 120.0
        even, odd = even * x + 1.0 / 24.0, odd * x + 1.0 / 6.0
        even, odd = (even * x + 0.5) * x + 1.0, (odd * x + 1.0) * h
        powers[0, i], powers[1, i] = even + odd, even - odd


@part
def loss_change(
    block: Block,
    sums: FloatArray,
    stride: int,
    energy: float,
    free: BoolArray,
    share: float,
    factors: FloatArray,
) -> tuple[float, float]:
    """What ``share`` of the step adds to half the loss, and half the energy; sets ``factors``.

    Exact, not its quadratic model: with P+- multiplied by f+- the residual is
    r - (f+ - 1) P+ + (f- - 1) P-, so the five sums tell the new squared error of every bin.
    """
    fill_powers(block, share)
    powers, total, before = block.powers, 0.0, 0.0
    for b in range(sums.shape[0]):
        beta = np.uint64(start_of(0, stride) + stride * b)
        delta = np.uint64(start_of(1, stride) + stride * b)
        level = powers[0, beta] if free[0] else 1.0
        plus = level * powers[0, delta] if free[1] else level
        minus = level * powers[1, delta] if free[1] else level
        factors[0, b], factors[1, b] = plus, minus
        s11, s22, s12 = sums[b, PLUS_PLUS], sums[b, MINUS_MINUS], sums[b, PLUS_MINUS]
        t1, t2 = sums[b, PLUS_R], sums[b, MINUS_R]
        before += 0.5 * energy * (s11 + s22)
        size = s11 * (plus * plus - 1.0) + s22 * (minus * minus - 1.0)
        plus, minus = plus - 1.0, minus - 1.0
        total += plus * (0.5 * plus * s11 - t1) + minus * (0.5 * minus * s22 + t2)
        total += 0.5 * energy * size - plus * minus * s12
    return total, before


@part
def constrain(
    block: Block,
    sums: FloatArray,
    stride: int,
    n_ordered: int,
    direction: int,
    free: BoolArray,
    present: BoolArray,
) -> None:
    """Change the step so that it ends on monotone curves.

    The prediction rises with x_j if every + factor does and every - factor falls. Both ends of the
    step are then monotone, hence also every point between: halving it keeps the constraint. A lone
    product has no tilt, and only its own factor is constrained. Of two products with one backbone
    and no tilt neither may move.
    """
    plus, minus = np.empty(n_ordered), np.empty(n_ordered)
    plus_weight, minus_weight = np.empty(n_ordered), np.empty(n_ordered)
    curve, step = block.curve, block.step
    for b in range(n_ordered):
        i, k = start_of(0, stride) + stride * b, start_of(1, stride) + stride * b
        beta = curve[i] + step[i] if free[0] else 0.0
        delta = curve[k] + step[k] if free[1] else 0.0
        plus[b], minus[b] = beta + delta, beta - delta
        plus_weight[b] = sums[b, PLUS_PLUS] + block.penalty[0, i]
        minus_weight[b] = sums[b, MINUS_MINUS] + block.penalty[0, i]
    make_monotone(plus, plus_weight, direction)
    make_monotone(minus, minus_weight, -direction)
    for b in range(n_ordered):
        i, k = start_of(0, stride) + stride * b, start_of(1, stride) + stride * b
        if present[0] and present[1]:
            beta = 0.5 * (plus[b] + minus[b]) if stride == 2 else 0.0
            delta = 0.5 * (plus[b] - minus[b])
        else:
            beta, delta = plus[b] if present[0] else minus[b], 0.0
        if free[0]:
            step[i] = beta - curve[i]
        if free[1]:
            step[k] = delta - curve[k]


@part
def take_step(
    block: Block,
    sums: FloatArray,
    stride: int,
    energy: float,
    free: BoolArray,
    factors: FloatArray,
) -> None:
    """Halve the step until the objective does not rise, and move the curve by it."""
    at_rest, slope, bend = penalty_change(block, stride)
    share = 1.0
    while True:
        change, size = loss_change(block, sums, stride, energy, free, share, factors)
        change += share * slope + share * share * bend
        if change <= 1e-12 * (size + at_rest) or share == 0.0:
            break
        share = 0.5 * share if share > 1e-2 else 0.0
    for i in range(block.curve.shape[0]):
        block.curve[i] += share * block.step[i]


@part
def fill_curves(
    block: Block,
    curves: FloatArray,
    mu: FloatArray,
    first: int,
    n_bins: int,
    n_ordered: int,
    stride: int,
    curvature: tuple[float, float],
    free: BoolArray,
) -> None:
    """The curves that are to move, and their penalties."""
    for side in range(2):
        if free[side]:
            start = start_of(side, stride)
            for b in range(n_bins):
                block.curve[np.uint64(start + stride * b)] = curves[side, np.uint64(first + b)]
            fill_penalty(block.penalty, mu[side], start, stride, curvature[side], n_bins, n_ordered)


@section
def solve_axis(
    places: IntArray,
    stages: SweptStages,
    k: int,
    j: int,
    sums: FloatArray,
    rules: SweepRules,
    energy: float,
    noise: FloatArray,
    factors: FloatArray,
) -> None:
    """From the rows' sums on one axis of a stage to a step, taken, and new penalties.

    Parameters
    ----------
    places : IN, (p, 4), first bin, bins, ordered bins and direction (1, -1 or 0) of every axis
    sums : IN, (n_bins, 8), over the rows of each bin: see :mod:`seplearn.kernels.sums`
    energy : price of the products' size
    noise : IN, (2,), what the smoothness of backbone and tilt is learned against
    factors : OUT, (2, any), what the step multiplies the products with
    """
    curves, mu = stages.curves[k], stages.mu[k, j]
    free, present = stages.free[k, j], stages.present[k]
    first, n_bins, n_ordered, direction = places[j, 0], places[j, 1], places[j, 2], places[j, 3]
    stride, rate = 2 if free[0] and free[1] else 1, rules.rate
    block = new_block(n_bins, stride)
    curvature = curvatures(sums, n_bins)
    fill_curves(block, curves, mu, first, n_bins, n_ordered, stride, curvature, free)
    fill_system(block, sums, stride, energy, free)
    if stride == 2:
        solve_both(block, rate > 0.0)
    else:
        solve_one(block, rate > 0.0)
    for i in range(block.step.shape[0]):
        block.step[i] = min(max(block.step[i], -rules.largest_step), rules.largest_step)
    if direction != 0:
        constrain(block, sums, stride, n_ordered, direction, free, present)
    take_step(block, sums, stride, energy, free, factors)
    for side in range(2):
        if free[side]:
            start = start_of(side, stride)
            for b in range(n_bins):
                curves[side, np.uint64(first + b)] = block.curve[np.uint64(start + stride * b)]
            stages.reach[k, j, side] = reach_of(sums, curves, first, side)
            if rate > 0.0:
                stages.freedom[k, j, side] = learn_penalties(
                    block,
                    mu[side],
                    start,
                    stride,
                    curvature[side],
                    noise[side],
                    rate,
                    n_bins,
                    n_ordered,
                )


@part
def reach_of(sums: FloatArray, curves: FloatArray, first_bin: int, side: int) -> float:
    """Sum over rows of the squared change of the prediction were the curve flat, to first order.

    A flat curve is one at its mean, with bins weighed as they count in this sum.
    """
    sign = -2.0 if side == 0 else 2.0
    mass = first = second = 0.0
    for b in range(sums.shape[0]):
        w = sums[b, PLUS_PLUS] + sums[b, MINUS_MINUS] + sign * sums[b, PLUS_MINUS]
        value = curves[side, np.uint64(first_bin + b)]
        mass += w
        first += w * value
        second += w * value * value
    return max(second - first * first / mass, 0.0) if mass > 0.0 else 0.0


@section
def solve_effect(
    places: IntArray,
    effects: SweptEffects,
    j: int,
    sums: FloatArray,
    noise: float,
    rate: float,
    step: FloatArray,
) -> float:
    """One visit to the main effect of one axis: a penalised least-squares problem, solved.

    ``sums`` (n_bins, 2) are those of w and w r; the effect moves by ``step`` (any,). Its degrees of
    freedom are returned, 0 where rate is 0.
    """
    values, mu = effects.values, effects.mu[j]
    first, n_ordered, direction = places[j, 0], places[j, 2], places[j, 3]
    n_bins, stride = sums.shape[0], _ONE
    start, block, curvature = start_of(0, stride), new_block(n_bins, stride), 0.0
    curve = block.curve
    for b in range(n_bins):
        curve[np.uint64(start + b)] = values[np.uint64(first + b)]
        curvature += sums[b, 0]
    fill_penalty(block.penalty, mu, start, stride, curvature, n_bins, n_ordered)
    fill_from_penalty(block, stride)
    for b in range(n_bins):
        here = np.uint64(start + b)
        block.system[0, here] += sums[b, 0]
        block.step[here] += sums[b, 1]
    solve_one(block, rate > 0.0)
    if direction != 0:
        ordered, stiffness = np.empty(n_ordered), np.empty(n_ordered)
        for b in range(n_ordered):
            ordered[b] = curve[start + b] + block.step[start + b]
            stiffness[b] = sums[b, 0] + block.penalty[0, start + b]
        make_monotone(ordered, stiffness, direction)
        for b in range(n_ordered):
            block.step[start + b] = ordered[b] - curve[start + b]
    share = falling_share(block, sums, start, stride)
    for b in range(n_bins):
        here = np.uint64(start + b)
        step[b] = share * block.step[here]
        curve[here] += step[b]
        values[np.uint64(first + b)] = curve[here]
    if rate == 0.0:
        return 0.0
    return learn_penalties(block, mu, start, stride, curvature, noise, rate, n_bins, n_ordered)


@part
def falling_share(block: Block, sums: FloatArray, start: int, stride: int) -> float:
    """The share of a main effect's step that lowers the penalised loss most, at most all of it.

    Of the solution itself it is all; a step that was moved to a monotone end may go too far.
    """
    _, slope, bend = penalty_change(block, stride)
    slope, bend = -slope, 2.0 * bend
    for b in range(sums.shape[0]):
        move = block.step[np.uint64(start + b)]
        slope += move * sums[b, 1]
        bend += sums[b, 0] * move * move
    return min(max(slope / bend, 0.0), 1.0) if bend > 0.0 else 0.0


@part
def freedom_of_size(block: Block, i: int) -> float:
    """Element i of the diagonal of S^-1 - A^-1."""
    return float(block.prior[0, np.uint64(i)] - block.system[0, np.uint64(i)])


@part
def freedom_of_differences(block: Block, i: int, stride: int, order: int) -> float:
    """The form d' (S^-1 - A^-1) d for the difference d of this order that starts at position i."""
    prior, system, here, after = block.prior, block.system, np.uint64(i), np.uint64(i + stride)
    near, far = np.uint64(stride), np.uint64(2 * stride)
    ends, middle = freedom_of_size(block, i), freedom_of_size(block, i + stride)
    side = prior[1, here] - system[near, here]
    if order == 1:
        return float(ends + middle - 2.0 * side)
    ends += freedom_of_size(block, i + 2 * stride)
    side += prior[1, after] - system[near, after]
    return float(ends + 4.0 * (middle - side) + 2.0 * (prior[2, here] - system[far, here]))


@part
def learn_penalties(
    block: Block,
    mu: FloatArray,
    start: int,
    stride: int,
    curvature: float,
    noise: float,
    rate: float,
    n_bins: int,
    n_ordered: int,
) -> float:
    """Generalised Fellner-Schall update of mu for one curve; return its degrees of freedom.

    The penalties are Gaussian priors on the curve, and mu moves towards the maximum of the
    marginal likelihood (REML): mu_c = noise t_c / (theta' S_c theta) with
    t_c = mu_c [tr(S^-1 S_c) - tr(A^-1 S_c)]. A ``rate`` below one damps the change of log mu.
    Bins stand as in ``fill_penalty``; system and prior are inverted already.
    """
    curve, end = block.curve, start + stride * n_ordered
    size = first = second = of_size = of_first = of_second = 0.0
    for b in range(n_bins):
        i = start + stride * b
        size += curve[np.uint64(i)] * curve[np.uint64(i)]
        of_size += freedom_of_size(block, i)
    for i in range(start, end - stride, stride):
        first += (curve[np.uint64(i + stride)] - curve[np.uint64(i)]) ** 2
        of_first += freedom_of_differences(block, i, stride, 1)
    if n_ordered >= SMOOTH_BINS:
        for i in range(start, end - 2 * stride, stride):
            ends = curve[np.uint64(i)] + curve[np.uint64(i + 2 * stride)]
            second += (ends - 2.0 * curve[np.uint64(i + stride)]) ** 2
            of_second += freedom_of_differences(block, i, stride, 2)
    trace, square = (of_first, of_size, of_second), (first, size, second)
    freedom = 0.0
    for c in range(3):
        if (c == FIRST and n_ordered < 2) or (c == SECOND and n_ordered < SMOOTH_BINS):
            continue
        t = max(mu[c] * curvature * trace[c], _FEWEST_FREEDOM)
        change = noise * t / max(square[c], _SMALLEST_SQUARE) / curvature / mu[c]
        change = min(max(change**rate, 1.0 / _LARGEST_CHANGE), _LARGEST_CHANGE)
        mu[c] = min(max(mu[c] * change, _LOWEST), _HIGHEST[c])
        freedom += t
    if n_ordered >= SMOOTH_BINS:
        length = n_ordered / _STRETCHES  # in bins: correlation falls by e over sqrt(first / size)
        mu[FIRST] = min(max(mu[FIRST], length * length * mu[SIZE]), _HIGHEST[FIRST])
    return freedom
