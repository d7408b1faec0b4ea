"""One block of joint refinement: the backbone and the tilt of one stage on one axis.

With u = P+ - P- and v = P+ + P- a small change (beta, delta) of a bin's log-factors moves the
prediction of its rows by u beta + v delta. Other bins of the axis share no row with it, so the
Gauss-Newton system has a 2x2 block [sum u^2, sum uv; sum uv, sum v^2] per bin; only penalties tie
bins together. The five sums that a grid keeps give these blocks, and the exact loss after any step.
"""

from __future__ import annotations

import math

import numpy as np

from seplearn.kernels.arrays import Block, BoolArray, FloatArray
from seplearn.kernels.banded import factorise, inverse_bands, solve_factorised
from seplearn.kernels.compiler import kernel, part
from seplearn.kernels.isotonic import make_monotone
from seplearn.kernels.rows import RU, RV, UU, UV, VV
from seplearn.kernels.sums import MINUS_MINUS, MINUS_R, PLUS_MINUS, PLUS_PLUS, PLUS_R

FIRST, SIZE, SECOND = 0, 1, 2  # the penalties of a curve: first differences, size, second ones
SMOOTH_BINS = 20  # ordered bins from which on a curve has a penalty on second differences
# Share of the curvature that holds every log-factor near zero whatever is learned: the penalty
# matrix must have an inverse, and a level without rows must stay neutral. A hundredth of it raised
# the cross-validated error of 14 small tables by 1.4 %.
_HOLD = 1e-4
# Backbone curvature counts as at least this share of the tilt's: where P+ and P- are equal the
# backbone has none, and penalties in units of it would vanish.
_LEAST_BACKBONE = 1e-3
# Bounds of mu for FIRST, SIZE, SECOND. A constant has no differences, so that the inverse of the
# penalty matrix hangs on _HOLD: with 255 bins its trace is right to 1 % up to these bounds, and
# negative at bounds a hundred times as high.
_LOWEST, _HIGHEST = 1e-9, (1e3, 1e5, 1e7)
_LARGEST_CHANGE = 10.0  # of mu in one update
# A curve is made of at most so many stretches that know nothing of each other. A penalty on size
# alone would be a prior of independent bins: where it was learned curves jumped from bin to bin.
_STRETCHES = 50.0
_FEWEST_FREEDOM = 1e-4  # of one penalty: keeps mu positive
_SMALLEST_SQUARE = 1e-12
_LARGEST_SCALE_STEP = 0.3
_LEAST_CURVATURE = 1e-6  # of the backbone's scale, in units of the tilt's
_SINGULAR = 1e-12


@part
def new_block(sums: FloatArray, energy: float) -> Block:
    """Scratch for one visit, with what is known before it: sums and the price of the energy."""
    n_bins = sums.shape[0]
    block = Block(
        sums,
        np.empty((2, n_bins)),
        np.empty(2 * n_bins),
        np.empty(2 * n_bins),
        np.empty((2, n_bins)),
        np.empty((3, 2 * n_bins)),
        np.empty((5, 2 * n_bins)),
        np.empty((5, 2 * n_bins)),
        np.empty((5, 2 * n_bins)),
        np.empty(2 * n_bins),
    )
    for b in range(n_bins):
        block.energy[0, b] = energy * sums[b, PLUS_PLUS]
        block.energy[1, b] = energy * sums[b, MINUS_MINUS]
    return block


@part
def curvatures(sums: FloatArray, n_bins: int) -> tuple[float, float]:
    """Curvature of the loss along the backbone and along the tilt: sum u^2 and sum v^2."""
    uu = vv = 0.0
    for b in range(n_bins):
        squares = sums[b, PLUS_PLUS] + sums[b, MINUS_MINUS]
        cross = 2.0 * sums[b, PLUS_MINUS]
        uu += squares - cross
        vv += squares + cross
    return max(uu, _LEAST_BACKBONE * vv), vv


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
    size = (mu[SIZE] + _HOLD / n_bins) * curvature
    for b in range(n_bins):
        i = start + stride * b
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
    size = curve.shape[0]
    pull = penalty[0, i] * curve[i]
    if i + stride < size:
        pull += penalty[1, i] * curve[i + stride]
    if i + 2 * stride < size:
        pull += penalty[2, i] * curve[i + 2 * stride]
    if i >= stride:
        pull += penalty[1, i - stride] * curve[i - stride]
    if i >= 2 * stride:
        pull += penalty[2, i - 2 * stride] * curve[i - 2 * stride]
    return float(pull)


@part
def fill_system(block: Block, n_bins: int, free: BoolArray) -> None:
    """The Gauss-Newton system of the penalised loss: its matrix, and in ``step`` its right side.

    The energy sum_i E+ e^(2(beta + delta)) + E- e^(2(beta - delta)), halved, adds its gradient and
    Hessian. The rows of a curve that is not free are those of its penalty.
    """
    size = 2 * n_bins
    curve, penalty, system, step = block.curve, block.penalty, block.system, block.step
    for i in range(size):
        step[i] = -pull_of(penalty, curve, i, 2)
        system[0, i], system[1, i] = penalty[0, i], 0.0
        system[2, i], system[3, i], system[4, i] = penalty[1, i], 0.0, penalty[2, i]
    sums, energy = block.sums, block.energy
    for b in range(n_bins):
        s11, s22, s12 = sums[b, PLUS_PLUS], sums[b, MINUS_MINUS], sums[b, PLUS_MINUS]
        t1, t2 = sums[b, PLUS_R], sums[b, MINUS_R]
        both, gap = energy[0, b] + energy[1, b], energy[0, b] - energy[1, b]
        if free[0]:
            system[0, 2 * b] += s11 + s22 - 2.0 * s12 + 2.0 * both
            step[2 * b] += t1 - t2 - both
        if free[1]:
            system[0, 2 * b + 1] += s11 + s22 + 2.0 * s12 + 2.0 * both
            step[2 * b + 1] += t1 + t2 - gap
        if free[0] and free[1]:
            system[1, 2 * b] = s11 - s22 + 2.0 * gap


@part
def penalty_after(block: Block, n_bins: int, share: float) -> float:
    """Half the penalty theta' S theta after ``share`` of the step."""
    curve, step, penalty = block.curve, block.step, block.penalty
    total, size = 0.0, 2 * n_bins
    for i in range(size):
        here = curve[i] + share * step[i]
        pull = penalty[0, i] * here
        if i + 2 < size:
            pull += 2.0 * penalty[1, i] * (curve[i + 2] + share * step[i + 2])
        if i + 4 < size:
            pull += 2.0 * penalty[2, i] * (curve[i + 4] + share * step[i + 4])
        total += 0.5 * here * pull
    return total


@part
def objective_at_rest(block: Block, n_bins: int) -> float:
    """Half the penalised loss before the step, up to the same constant; sets ``factors`` to one."""
    total = 0.0
    for b in range(n_bins):
        block.factors[0, b] = block.factors[1, b] = 1.0
        total += 0.5 * (block.energy[0, b] + block.energy[1, b])
    return total + penalty_after(block, n_bins, 0.0)


@part
def objective(block: Block, n_bins: int, share: float) -> float:
    """Half the penalised loss after ``share`` of the step, up to a constant; sets ``factors``.

    Exact, not its quadratic model: with P+- multiplied by f+- the residual is
    r - (f+ - 1) P+ + (f- - 1) P-, so the five sums tell the new squared error of every bin.
    """
    total = 0.0
    for b in range(n_bins):
        beta, delta = share * block.step[2 * b], share * block.step[2 * b + 1]
        plus, minus = math.exp(beta + delta), math.exp(beta - delta)
        block.factors[0, b], block.factors[1, b] = plus, minus
        s11, s22 = block.sums[b, PLUS_PLUS], block.sums[b, MINUS_MINUS]
        s12 = block.sums[b, PLUS_MINUS]
        t1, t2 = block.sums[b, PLUS_R], block.sums[b, MINUS_R]
        energy = block.energy[0, b] * plus * plus + block.energy[1, b] * minus * minus
        plus, minus = plus - 1.0, minus - 1.0
        total += plus * (0.5 * plus * s11 - t1) + minus * (0.5 * minus * s22 + t2)
        total += 0.5 * energy - plus * minus * s12
    return total + penalty_after(block, n_bins, share)


@part
def constrain(
    block: Block, n_ordered: int, direction: int, free: BoolArray, present: BoolArray
) -> None:
    """Change the step so that it ends on monotone curves.

    The prediction rises with x_j if every + factor does and every - factor falls. Both ends of the
    step are then monotone, hence also every point between: halving it keeps the constraint. A lone
    product has no tilt, and only its own factor is constrained. Of two products with one backbone
    and no tilt neither may move.
    """
    plus, minus = np.empty(n_ordered), np.empty(n_ordered)
    plus_weight, minus_weight = np.empty(n_ordered), np.empty(n_ordered)
    for b in range(n_ordered):
        beta = block.curve[2 * b] + block.step[2 * b]
        delta = block.curve[2 * b + 1] + block.step[2 * b + 1]
        plus[b], minus[b] = beta + delta, beta - delta
        plus_weight[b] = block.sums[b, PLUS_PLUS] + block.penalty[0, 2 * b]
        minus_weight[b] = block.sums[b, MINUS_MINUS] + block.penalty[0, 2 * b]
    make_monotone(plus, plus_weight, direction)
    make_monotone(minus, minus_weight, -direction)
    for b in range(n_ordered):
        if not present[1]:
            beta, delta = plus[b], 0.0
        elif not present[0]:
            beta, delta = minus[b], 0.0
        else:
            beta = 0.5 * (plus[b] + minus[b]) if free[0] and free[1] else 0.0
            delta = 0.5 * (plus[b] - minus[b]) if free[1] else 0.0
        block.step[2 * b] = beta - block.curve[2 * b]
        block.step[2 * b + 1] = delta - block.curve[2 * b + 1]


@part
def take_step(block: Block, n_bins: int) -> None:
    """Halve the step until the objective does not rise, and move the curve by it."""
    before = objective_at_rest(block, n_bins)
    share = 1.0
    while objective(block, n_bins, share) > before + 1e-12 * abs(before):
        share = 0.5 * share if share > 1e-2 else 0.0
        if share == 0.0:
            objective_at_rest(block, n_bins)
            break
    for i in range(2 * n_bins):
        block.curve[i] += share * block.step[i]


@part
def find_step(
    block: Block,
    n_ordered: int,
    direction: int,
    free: BoolArray,
    present: BoolArray,
    largest_step: float,
) -> None:
    """The bounded Gauss-Newton step, ending on curves that keep the constraint."""
    size = block.curve.shape[0]
    fill_system(block, size // 2, free)
    factorise(block.system, size, 4, block.inverse_pivots, block.lower)
    solve_factorised(block.inverse_pivots, block.lower, size, 4, block.step)
    for i in range(size):
        step = min(max(block.step[i], -largest_step), largest_step)
        block.step[i] = step if free[i % 2] else 0.0
    if direction != 0:
        constrain(block, n_ordered, direction, free, present)


@kernel
def solve(
    sums: FloatArray,
    curves: FloatArray,
    mu: FloatArray,
    first: int,
    n_ordered: int,
    direction: int,
    free: BoolArray,
    present: BoolArray,
    energy: float,
    noise: FloatArray,
    rate: float,
    largest_step: float,
    factors: FloatArray,
    freedom: FloatArray,
    reach: FloatArray,
) -> None:
    """One visit to one axis of one stage: from the rows' sums to a step, taken, and new penalties.

    Parameters
    ----------
    sums : IN, (n_bins, 8), over the rows of each bin
    curves : IN and OUT, (2, n_flat), backbone and tilt of the stage, in logs
    mu : IN and OUT, (2, 3), penalties of the two curves on this axis
    first, n_ordered, direction : where the axis begins; its ordered bins; 1, -1 or 0
    free : IN, (2,), which of backbone and tilt may move; the other one is flat
    present : IN, (2,), which of the two products the stage has
    energy : price of the products' size
    noise : IN, (2,), what the smoothness of backbone and tilt is learned against
    rate : share of the change of log mu that is made; 0 leaves penalties as they are
    largest_step : of a log-factor
    factors : OUT, (2, n_bins), what the step multiplies the products with
    freedom : OUT, (2,), effective degrees of freedom of the two curves; left where rate is 0
    reach : OUT, (2,), how far the two curves move predictions: see ``reach_of``
    """
    n_bins = sums.shape[0]
    block = new_block(sums, energy)
    for b in range(n_bins):
        block.curve[2 * b], block.curve[2 * b + 1] = curves[0, first + b], curves[1, first + b]
    curvature = curvatures(sums, n_bins)
    fill_penalty(block.penalty, mu[0], 0, 2, curvature[0], n_bins, n_ordered)
    fill_penalty(block.penalty, mu[1], 1, 2, curvature[1], n_bins, n_ordered)
    find_step(block, n_ordered, direction, free, present, largest_step)
    take_step(block, n_bins)
    for b in range(n_bins):
        curves[0, first + b], curves[1, first + b] = block.curve[2 * b], block.curve[2 * b + 1]
        factors[0, b], factors[1, b] = block.factors[0, b], block.factors[1, b]
    for side in range(2):
        reach[side] = reach_of(block, side)
    if rate > 0.0:
        inverse_bands(block.inverse_pivots, block.lower, 2 * n_bins, 4, block.inverse)
        for side in range(2):
            if free[side]:
                freedom[side] = learn_penalties(
                    block.penalty,
                    block.inverse,
                    block.curve,
                    mu[side],
                    side,
                    2,
                    curvature[side],
                    noise[side],
                    rate,
                    n_ordered,
                )


@part
def reach_of(block: Block, side: int) -> float:
    """Sum over rows of the squared change of the prediction were the curve flat, to first order.

    A flat curve is one at its mean, with bins weighed as they count in this sum.
    """
    mass = first = second = 0.0
    for b in range(block.sums.shape[0]):
        squares = block.sums[b, PLUS_PLUS] + block.sums[b, MINUS_MINUS]
        cross = 2.0 * block.sums[b, PLUS_MINUS]
        w = squares - cross if side == 0 else squares + cross
        value = block.curve[2 * b + side]
        mass += w
        first += w * value
        second += w * value * value
    return max(second - first * first / mass, 0.0) if mass > 0.0 else 0.0


@kernel
def solve_effect(
    sums: FloatArray,
    effects: FloatArray,
    mu: FloatArray,
    first: int,
    n_ordered: int,
    direction: int,
    noise: float,
    rate: float,
    step: FloatArray,
) -> float:
    """One visit to the main effect of one axis: a penalised least-squares problem, solved.

    ``sums`` (n_bins, 2) are those of w and w r; ``effects`` (n_flat) moves by ``step`` (n_bins).
    """
    n_bins = sums.shape[0]
    curve, stiffness = np.empty(n_bins), np.empty(n_bins)
    penalty, system = np.empty((3, n_bins)), np.empty((3, n_bins))
    inverse, lower, pivots = np.empty((3, n_bins)), np.empty((3, n_bins)), np.empty(n_bins)
    curvature = 0.0
    for b in range(n_bins):
        curve[b] = effects[first + b]
        curvature += sums[b, 0]
    fill_penalty(penalty, mu, 0, 1, curvature, n_bins, n_ordered)
    for b in range(n_bins):
        system[0, b], system[1, b], system[2, b] = (
            penalty[0, b] + sums[b, 0],
            penalty[1, b],
            penalty[2, b],
        )
        stiffness[b] = system[0, b]
        step[b] = sums[b, 1] - pull_of(penalty, curve, b, 1)
    factorise(system, n_bins, 2, pivots, lower)
    solve_factorised(pivots, lower, n_bins, 2, step)
    if direction != 0:
        ordered = np.empty(n_ordered)
        for b in range(n_ordered):
            ordered[b] = curve[b] + step[b]
        make_monotone(ordered, stiffness, direction)
        for b in range(n_ordered):
            step[b] = ordered[b] - curve[b]
    share = falling_share(sums, penalty, curve, step)
    for b in range(n_bins):
        step[b] *= share
        curve[b] += step[b]
        effects[first + b] = curve[b]
    if rate == 0.0:
        return 0.0
    inverse_bands(pivots, lower, n_bins, 2, inverse)
    return learn_penalties(penalty, inverse, curve, mu, 0, 1, curvature, noise, rate, n_ordered)


@part
def falling_share(
    sums: FloatArray, penalty: FloatArray, curve: FloatArray, step: FloatArray
) -> float:
    """The share of a main effect's step that lowers the penalised loss most, at most all of it.

    Of the solution itself it is all; a step that was moved to a monotone end may go too far.
    """
    slope = bend = 0.0
    for b in range(step.shape[0]):
        slope += step[b] * (sums[b, 1] - pull_of(penalty, curve, b, 1))
        bend += step[b] * (sums[b, 0] * step[b] + pull_of(penalty, step, b, 1))
    return min(max(slope / bend, 0.0), 1.0) if bend > 0.0 else 0.0


@kernel
def scale_step(moments: FloatArray, energy: float, present: BoolArray) -> tuple[float, float]:
    """The step of (b0, d0) from the stage's moments, halved until the loss does not rise."""
    uu, vv, uv = moments[UU], moments[VV], moments[UV]
    ru, rv = moments[RU], moments[RV]
    backbone, tilt = gauss_newton_scale(uu, vv, uv, ru, rv, energy, present)
    before = scale_loss(uu, vv, uv, ru, rv, energy, 0.0, 0.0)
    while scale_loss(uu, vv, uv, ru, rv, energy, backbone, tilt) > before:
        backbone, tilt = 0.5 * backbone, 0.5 * tilt
        if abs(backbone) + abs(tilt) < 1e-12:
            backbone = tilt = 0.0
            break
    return backbone, tilt


@part
def gauss_newton_scale(
    uu: float, vv: float, uv: float, ru: float, rv: float, energy: float, present: BoolArray
) -> tuple[float, float]:
    """The bounded Gauss-Newton step of (b0, d0): the block of an axis with a single bin."""
    both, gap = energy * 0.5 * (uu + vv), energy * uv
    if not (present[0] and present[1]):
        backbone, tilt = (ru - both) / (uu + 2.0 * both), 0.0
    else:
        first, second = uu + _LEAST_CURVATURE * vv + 2.0 * both, vv + 2.0 * both
        cross = uv + 2.0 * gap
        ru, rv = ru - both, rv - gap
        determinant = first * second - cross * cross
        if determinant > _SINGULAR * first * second:
            backbone = (second * ru - cross * rv) / determinant
            tilt = (first * rv - cross * ru) / determinant
        else:
            backbone, tilt = 0.0, rv / second
    bound = _LARGEST_SCALE_STEP
    return min(max(backbone, -bound), bound), min(max(tilt, -bound), bound)


@part
def scale_loss(
    uu: float, vv: float, uv: float, ru: float, rv: float, energy: float, beta: float, delta: float
) -> float:
    """Half the loss after a step of (b0, d0), up to a constant; exact, as in a block."""
    s11, s22, s12 = 0.25 * (uu + 2.0 * uv + vv), 0.25 * (uu - 2.0 * uv + vv), 0.25 * (vv - uu)
    t1, t2 = 0.5 * (rv + ru), 0.5 * (rv - ru)
    plus, minus = math.exp(beta + delta), math.exp(beta - delta)
    size = 0.5 * energy * (s11 * plus * plus + s22 * minus * minus)
    plus, minus = plus - 1.0, minus - 1.0
    change = plus * (0.5 * plus * s11 - t1) + minus * (0.5 * minus * s22 + t2)
    return size + change - plus * minus * s12


@part
def differences_trace(bands: FloatArray, at: int, stride: int, order: int) -> float:
    """The form d' Z d for the difference d of this order that starts at position ``at``."""
    if order == 1:
        value = bands[0, at] + bands[0, at + stride] - 2.0 * bands[stride, at]
    else:
        value = bands[0, at] + bands[0, at + 2 * stride] + 2.0 * bands[2 * stride, at]
        value += 4.0 * bands[0, at + stride]
        value -= 4.0 * (bands[stride, at] + bands[stride, at + stride])
    return float(value)


@part
def learn_penalties(
    penalty: FloatArray,
    inverse: FloatArray,
    curve: FloatArray,
    mu: FloatArray,
    start: int,
    stride: int,
    curvature: float,
    noise: float,
    rate: float,
    n_ordered: int,
) -> float:
    """Generalised Fellner-Schall update of mu for one curve; return its degrees of freedom.

    The penalties are Gaussian priors on the curve, and mu moves towards the maximum of the
    marginal likelihood (REML): mu_c = noise t_c / (theta' S_c theta) with
    t_c = mu_c [tr(S^-1 S_c) - tr(A^-1 S_c)]. A ``rate`` below one damps the change of log mu.
    ``penalty`` are the bands of S, ``inverse`` those of A^-1; bins stand as in ``fill_penalty``.
    """
    n_bins = curve.shape[0] // stride
    prior, prior_inverse = np.empty((3, n_bins)), np.empty((3, n_bins))
    lower, pivots = np.empty((3, n_bins)), np.empty(n_bins)
    for b in range(n_bins):
        for k in range(3):
            prior[k, b] = penalty[k, start + stride * b]
    factorise(prior, n_bins, 2, pivots, lower)
    inverse_bands(pivots, lower, n_bins, 2, prior_inverse)
    trace, square = np.zeros(3), np.zeros(3)
    for b in range(n_bins):
        i = start + stride * b
        here = curve[i]
        trace[SIZE] += prior_inverse[0, b] - inverse[0, i]
        square[SIZE] += here * here
        if b + 1 < n_ordered:
            square[FIRST] += (curve[i + stride] - here) ** 2
            trace[FIRST] += differences_trace(prior_inverse, b, 1, 1)
            trace[FIRST] -= differences_trace(inverse, i, stride, 1)
        if n_ordered >= SMOOTH_BINS and b + 2 < n_ordered:
            square[SECOND] += (here - 2.0 * curve[i + stride] + curve[i + 2 * stride]) ** 2
            trace[SECOND] += differences_trace(prior_inverse, b, 1, 2)
            trace[SECOND] -= differences_trace(inverse, i, stride, 2)
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
