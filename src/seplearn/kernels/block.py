"""One block of joint refinement: the backbone and the tilt of one stage on one axis.

With u = P+ - P- and v = P+ + P- a small change (beta, delta) of a bin's log-factors moves the
prediction of its rows by u beta + v delta. Other bins of the axis share no row with it, so the
Gauss-Newton system has a 2x2 block [sum u^2, sum uv; sum uv, sum v^2] per bin; only penalties tie
bins together. The five sums that a grid keeps give these blocks, and the exact loss after any step.
"""

from __future__ import annotations

import math

import numpy as np

from seplearn.kernels.arrays import Block, BoolArray, FloatArray, SweepRules
from seplearn.kernels.banded import factorise, inverse_bands, solve_factorised
from seplearn.kernels.compiler import part
from seplearn.kernels.isotonic import make_monotone

FIRST, SIZE, SECOND = 0, 1, 2  # the penalties of a curve: first differences, size, second ones
SMOOTH_BINS = 20  # ordered bins from which on a curve has a penalty on second differences
# Share of the curvature that holds every log-factor near zero whatever is learned: the penalty
# matrix must have an inverse, and a level without rows must stay neutral.
_HOLD = 1e-4
# Backbone curvature counts as at least this share of the tilt's: where P+ and P- are equal the
# backbone has none, and penalties in units of it would vanish.
_LEAST_BACKBONE = 1e-3
_LOWEST, _HIGHEST = 1e-9, (1e3, 1e5, 1e7)  # bounds of mu for FIRST, SIZE, SECOND
_LARGEST_CHANGE = 10.0  # of mu in one update
_FEWEST_FREEDOM = 1e-4  # of one penalty: keeps mu positive
_SMALLEST_SQUARE = 1e-12


@part
def new_block(n_bins: int) -> Block:
    """Scratch for axes of up to ``n_bins`` bins."""
    return Block(
        np.zeros((n_bins, 8)),
        np.zeros((2, n_bins)),
        np.zeros(2 * n_bins),
        np.zeros(2 * n_bins),
        np.ones((2, n_bins)),
        np.zeros((3, 2 * n_bins)),
        np.zeros((5, 2 * n_bins)),
        np.zeros((5, 2 * n_bins)),
        np.zeros((5, 2 * n_bins)),
        np.zeros(2 * n_bins),
        np.zeros((3, n_bins)),
        np.zeros((3, n_bins)),
    )


@part
def curvatures(sums: FloatArray, n_bins: int) -> tuple[float, float]:
    """Curvature of the loss along the backbone and along the tilt: sum u^2 and sum v^2."""
    uu = vv = 0.0
    for b in range(n_bins):
        squares, cross = sums[b, 0] + sums[b, 2], 2.0 * sums[b, 3]
        uu += squares - cross
        vv += squares + cross
    return max(uu, _LEAST_BACKBONE * vv), vv


@part
def fill_penalty(
    penalty: FloatArray, mu: FloatArray, side: int, curvature: float, n_bins: int, n_ordered: int
) -> None:
    """S = sum_c mu_c S_c of the backbone (side 0) or the tilt (side 1), in interleaved bands.

    Differences run over the ordered bins; the others (levels, the missing bin) have their size
    penalised alone.
    """
    first = mu[side, FIRST] * curvature if n_ordered > 1 else 0.0
    second = mu[side, SECOND] * curvature if n_ordered >= SMOOTH_BINS else 0.0
    size = (mu[side, SIZE] + _HOLD / n_bins) * curvature
    for b in range(n_bins):
        i = 2 * b + side
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
def fill_system(block: Block, n_bins: int, present: BoolArray) -> None:
    """The Gauss-Newton system of the penalised loss: its matrix, and in ``step`` its right side.

    The energy sum_i E+ e^(2(beta + delta)) + E- e^(2(beta - delta)), halved, adds its gradient and
    Hessian. A one-branch stage has no tilt: its rows of the system are those of the penalty.
    """
    size = 2 * n_bins
    curve, penalty, system, step = block.curve, block.penalty, block.system, block.step
    for i in range(size):
        pull = penalty[0, i] * curve[i]
        if i + 2 < size:
            pull += penalty[1, i] * curve[i + 2]
        if i + 4 < size:
            pull += penalty[2, i] * curve[i + 4]
        if i >= 2:
            pull += penalty[1, i - 2] * curve[i - 2]
        if i >= 4:
            pull += penalty[2, i - 4] * curve[i - 4]
        step[i] = -pull
        system[0, i], system[1, i] = penalty[0, i], 0.0
        system[2, i], system[3, i], system[4, i] = penalty[1, i], 0.0, penalty[2, i]
    two = present[0] and present[1]
    for b in range(n_bins):
        s11, t1, s22, s12, t2 = block.sums[b, :5]
        both, gap = block.energy[0, b] + block.energy[1, b], block.energy[0, b] - block.energy[1, b]
        system[0, 2 * b] += s11 + s22 - 2.0 * s12 + 2.0 * both
        step[2 * b] += t1 - t2 - both
        if two:
            system[1, 2 * b] = s11 - s22 + 2.0 * gap
            system[0, 2 * b + 1] += s11 + s22 + 2.0 * s12 + 2.0 * both
            step[2 * b + 1] += t1 + t2 - gap


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
        s11, t1, s22, s12, t2 = block.sums[b, :5]
        energy = block.energy[0, b] * plus * plus + block.energy[1, b] * minus * minus
        plus, minus = plus - 1.0, minus - 1.0
        total += plus * (0.5 * plus * s11 - t1) + minus * (0.5 * minus * s22 + t2)
        total += 0.5 * energy - plus * minus * s12
    return total + penalty_after(block, n_bins, share)


@part
def constrain(block: Block, n_ordered: int, direction: int, present: BoolArray) -> None:
    """Change the step so that it ends on monotone curves.

    The prediction rises with x_j if every + factor does and every - factor falls. Both ends of the
    step are then monotone, hence also every point between: halving it keeps the constraint. A lone
    product has no tilt, and only its own factor is constrained.
    """
    plus, minus = np.empty(n_ordered), np.empty(n_ordered)
    plus_weight, minus_weight = np.empty(n_ordered), np.empty(n_ordered)
    for b in range(n_ordered):
        beta = block.curve[2 * b] + block.step[2 * b]
        delta = block.curve[2 * b + 1] + block.step[2 * b + 1]
        plus[b], minus[b] = beta + delta, beta - delta
        plus_weight[b] = block.sums[b, 0] + block.penalty[0, 2 * b]
        minus_weight[b] = block.sums[b, 2] + block.penalty[0, 2 * b]
    make_monotone(plus, plus_weight, direction)
    make_monotone(minus, minus_weight, -direction)
    if not present[1]:
        minus[:] = plus
    elif not present[0]:
        plus[:] = minus
    for b in range(n_ordered):
        block.step[2 * b] = 0.5 * (plus[b] + minus[b]) - block.curve[2 * b]
        block.step[2 * b + 1] = 0.5 * (plus[b] - minus[b]) - block.curve[2 * b + 1]


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
def update_block(
    block: Block,
    mu: FloatArray,
    n_bins: int,
    n_ordered: int,
    direction: int,
    present: BoolArray,
    rules: SweepRules,
) -> tuple[float, float]:
    """Solve for the step from the block's sums and take it; return the two curvatures.

    ``factors`` is what the rows' products are to be multiplied with, ``inverse`` the bands of the
    system's inverse at the point the step started from.
    """
    uu, vv = curvatures(block.sums, n_bins)
    fill_penalty(block.penalty, mu, 0, uu, n_bins, n_ordered)
    fill_penalty(block.penalty, mu, 1, vv, n_bins, n_ordered)
    fill_system(block, n_bins, present)
    size = 2 * n_bins
    factorise(block.system, size, 4, block.inverse_pivots, block.lower)
    solve_factorised(block.inverse_pivots, block.lower, size, 4, block.step)
    if rules.learns:
        inverse_bands(block.inverse_pivots, block.lower, size, 4, block.inverse)
    tilts = present[0] and present[1]
    for b in range(n_bins):
        for side in range(2):
            step = min(max(block.step[2 * b + side], -rules.largest_step), rules.largest_step)
            block.step[2 * b + side] = step if tilts or side == 0 else 0.0
    if direction != 0:
        constrain(block, n_ordered, direction, present)
    take_step(block, n_bins)
    return uu, vv


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
    block: Block,
    mu: FloatArray,
    side: int,
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
    """
    for b in range(n_bins):
        for k in range(3):
            block.prior[k, b] = block.penalty[k, 2 * b + side]
    factorise(block.prior, n_bins, 2, block.inverse_pivots, block.lower)
    inverse_bands(block.inverse_pivots, block.lower, n_bins, 2, block.prior_inverse)
    trace, square = np.zeros(3), np.zeros(3)
    for b in range(n_bins):
        i, here = 2 * b + side, block.curve[2 * b + side]
        trace[SIZE] += block.prior_inverse[0, b] - block.inverse[0, i]
        square[SIZE] += here * here
        if b + 1 < n_ordered:
            square[FIRST] += (block.curve[i + 2] - here) ** 2
            trace[FIRST] += differences_trace(block.prior_inverse, b, 1, 1)
            trace[FIRST] -= differences_trace(block.inverse, i, 2, 1)
        if n_ordered >= SMOOTH_BINS and b + 2 < n_ordered:
            square[SECOND] += (here - 2.0 * block.curve[i + 2] + block.curve[i + 4]) ** 2
            trace[SECOND] += differences_trace(block.prior_inverse, b, 1, 2)
            trace[SECOND] -= differences_trace(block.inverse, i, 2, 2)
    freedom = 0.0
    for c in range(3):
        if (c == FIRST and n_ordered < 2) or (c == SECOND and n_ordered < SMOOTH_BINS):
            continue
        t = max(mu[side, c] * curvature * trace[c], _FEWEST_FREEDOM)
        change = noise * t / max(square[c], _SMALLEST_SQUARE) / curvature / mu[side, c]
        change = min(max(change**rate, 1.0 / _LARGEST_CHANGE), _LARGEST_CHANGE)
        mu[side, c] = min(max(mu[side, c] * change, _LOWEST), _HIGHEST[c])
        freedom += t
    return freedom
