"""Sweeps of joint refinement: every curve of every stage, one block after the other."""

from __future__ import annotations

import math

import numpy as np

from seplearn.kernels.arrays import (
    Block,
    BoolArray,
    CodeArray,
    FloatArray,
    JointState,
    SweepRules,
    SweepTable,
)
from seplearn.kernels.block import learn_penalties, new_block, update_block
from seplearn.kernels.compiler import kernel, part
from seplearn.kernels.sums import add_five, huber_weight

_LARGEST_SCALE_STEP = 0.3
_LEAST_CURVATURE = 1e-6  # of the backbone's scale, in units of the tilt's
_SINGULAR = 1e-12


@part
def multiply_and_sum(
    left: CodeArray,
    factors: FloatArray,
    entered: CodeArray,
    products: FloatArray,
    residual: FloatArray,
    weight: FloatArray,
    kappa: float,
    sums: FloatArray,
) -> None:
    """Apply the factors of the axis just left and sum over the bins of the axis entered.

    One pass over the rows does both: they are read and written once per block instead of twice.
    """
    for row in range(residual.shape[0]):
        i = np.uint64(row)
        b = np.uint64(left[i])
        plus, minus = products[0, i] * factors[0, b], products[1, i] * factors[1, b]
        r = residual[i] - (plus - products[0, i]) + (minus - products[1, i])
        products[0, i], products[1, i], residual[i] = plus, minus, r
        w = huber_weight(weight[i], r, kappa)
        w_plus, w_minus = w * plus, w * minus
        add_five(
            sums,
            np.uint64(entered[i]),
            w_plus * plus,
            w_plus * r,
            w_minus * minus,
            w_plus * minus,
            w_minus * r,
        )


@part
def multiply_last(
    left: CodeArray, factors: FloatArray, products: FloatArray, residual: FloatArray
) -> None:
    """Apply the factors of the last axis of a stage."""
    for row in range(residual.shape[0]):
        i = np.uint64(row)
        b = np.uint64(left[i])
        plus, minus = products[0, i] * factors[0, b], products[1, i] * factors[1, b]
        residual[i] -= (plus - products[0, i]) - (minus - products[1, i])
        products[0, i], products[1, i] = plus, minus


@part
def centre_residual(
    residual: FloatArray, weight: FloatArray, rules: SweepRules, intercept: FloatArray
) -> float:
    """Move the intercept by the mean residual; return the mean squared residual after it."""
    total = mass = 0.0
    for i in range(residual.shape[0]):
        w = huber_weight(weight[i], residual[i], rules.kappa)
        total += w * residual[i]
        mass += w
    shift = total / mass if rules.fit_intercept else 0.0
    intercept[0] += shift
    square = mass = 0.0
    for i in range(residual.shape[0]):
        residual[i] -= shift
        w = huber_weight(weight[i], residual[i], rules.kappa)
        square += w * residual[i] * residual[i]
        mass += weight[i]
    return square / mass


@part
def stage_moments(
    products: FloatArray, residual: FloatArray, weight: FloatArray, kappa: float
) -> tuple[float, float, float, float, float, float, float]:
    """Sums over rows of u^2, v^2, uv, ru, rv and of r^2 u^2, r^2 v^2, for the stage as a whole."""
    uu = vv = uv = ru = rv = ruu = rvv = 0.0
    for i in range(residual.shape[0]):
        r = residual[i]
        w = huber_weight(weight[i], r, kappa)
        u, v = products[0, i] - products[1, i], products[0, i] + products[1, i]
        wu, wv = w * u, w * v
        uu += wu * u
        vv += wv * v
        uv += wu * v
        ru += wu * r
        rv += wv * r
        ruu += wu * u * r * r
        rvv += wv * v * r * r
    return uu, vv, uv, ru, rv, ruu, rvv


@part
def scale_step(
    uu: float, vv: float, uv: float, ru: float, rv: float, energy: float, present: BoolArray
) -> tuple[float, float]:
    """The Gauss-Newton step of (b0, d0): the block of an axis with a single bin."""
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
def falling_scale_step(
    uu: float, vv: float, uv: float, ru: float, rv: float, energy: float, present: BoolArray
) -> tuple[float, float]:
    """The step of (b0, d0), halved until the loss does not rise."""
    backbone, tilt = scale_step(uu, vv, uv, ru, rv, energy, present)
    before = scale_loss(uu, vv, uv, ru, rv, energy, 0.0, 0.0)
    while scale_loss(uu, vv, uv, ru, rv, energy, backbone, tilt) > before:
        backbone, tilt = 0.5 * backbone, 0.5 * tilt
        if abs(backbone) + abs(tilt) < 1e-12:
            backbone = tilt = 0.0
            break
    return backbone, tilt


@part
def load_curve(block: Block, curves: FloatArray, first: int, n_bins: int) -> None:
    """Copy a stage's curves on one axis into the block, interleaved, and clear its sums."""
    for b in range(n_bins):
        block.curve[2 * b], block.curve[2 * b + 1] = curves[0, first + b], curves[1, first + b]
        block.sums[b, :] = 0.0


@part
def store_curve(block: Block, curves: FloatArray, first: int, n_bins: int) -> None:
    """Copy the block's curves back."""
    for b in range(n_bins):
        curves[0, first + b], curves[1, first + b] = block.curve[2 * b], block.curve[2 * b + 1]


@part
def learn_smoothness(
    block: Block,
    mu: FloatArray,
    curvature: tuple[float, float],
    noise: tuple[float, float],
    present: BoolArray,
    rate: float,
    n_bins: int,
    n_ordered: int,
) -> float:
    """Learn the penalties of backbone and, with two products, tilt; return their freedom."""
    freedom = learn_penalties(block, mu, 0, curvature[0], noise[0], rate, n_bins, n_ordered)
    if present[0] and present[1]:
        freedom += learn_penalties(block, mu, 1, curvature[1], noise[1], rate, n_bins, n_ordered)
    return freedom


@part
def sweep_stage(
    table: SweepTable,
    state: JointState,
    rules: SweepRules,
    block: Block,
    stage: int,
    mean_square: float,
    inflation: float,
) -> None:
    """Update the scale of one stage, then its curves on every axis.

    The noise that smoothness is learned against is that of the rows where the stage is large, at
    least that of all rows.
    """
    products, curves, present = state.products[stage], state.curves[stage], state.present[stage]
    uu, vv, uv, ru, rv, ruu, rvv = stage_moments(
        products, state.residual, table.weight, rules.kappa
    )
    if vv < 1e-14 * table.weight.sum():
        return
    noise_backbone = max(ruu / max(uu, 1e-300), mean_square) * inflation
    noise_tilt = max(rvv / vv, mean_square) * inflation
    energy = rules.energy * mean_square
    backbone, tilt = falling_scale_step(uu, vv, uv, ru, rv, energy, present)
    state.scales[stage, 0] += backbone
    state.scales[stage, 1] += tilt
    left = table.visits[0]
    block.factors[0, :] = math.exp(backbone + tilt)
    block.factors[1, :] = math.exp(backbone - tilt)
    for j in table.visits:
        first, n_bins = table.offset[j], table.offset[j + 1] - table.offset[j]
        load_curve(block, curves, first, n_bins)
        multiply_and_sum(
            table.codes[left],
            block.factors,
            table.codes[j],
            products,
            state.residual,
            table.weight,
            rules.kappa,
            block.sums,
        )
        left = j
        for b in range(n_bins):
            block.energy[0, b] = energy * block.sums[b, 0]
            block.energy[1, b] = energy * block.sums[b, 2]
        mu, n_ordered = state.penalties[stage, j], table.n_ordered[j]
        curvature = update_block(block, mu, n_bins, n_ordered, table.direction[j], present, rules)
        store_curve(block, curves, first, n_bins)
        if rules.learns:
            state.freedom[stage, j] = learn_smoothness(
                block,
                mu,
                curvature,
                (noise_backbone, noise_tilt),
                present,
                rules.rate,
                n_bins,
                n_ordered,
            )
    multiply_last(table.codes[left], block.factors, products, state.residual)


@kernel
def sweep(
    table: SweepTable, state: JointState, rules: SweepRules, n_sweeps: int, stop: BoolArray
) -> float:
    """Visit every curve of every stage ``n_sweeps`` times; return the mean squared residual."""
    n_stages = state.scales.shape[0]
    sizes = np.diff(table.offset)
    block = new_block(sizes.max())
    total = table.weight.sum()
    for _ in range(n_sweeps):
        mean_square = centre_residual(state.residual, table.weight, rules, state.intercept)
        spent = min(state.freedom.sum() + 2.0 * n_stages + 1.0, 0.5 * total)
        inflation = total / (total - spent)
        for stage in range(n_stages):
            if stop[0]:
                return mean_square
            sweep_stage(table, state, rules, block, stage, mean_square, inflation)
    return centre_residual(state.residual, table.weight, rules, state.intercept)


@kernel
def fill_products(table: SweepTable, state: JointState, stage: int) -> None:
    """P+ and P- of one stage on every row, taken off the residual."""
    beta, delta = state.curves[stage]
    plus, minus = state.products[stage]
    has_plus, has_minus = state.present[stage]
    plus[:] = state.scales[stage, 0] + state.scales[stage, 1]
    minus[:] = state.scales[stage, 0] - state.scales[stage, 1]
    p, n = table.codes.shape
    for j in range(p):
        for i in range(n):
            b = table.offset[j] + np.int64(table.codes[j, i])
            plus[i] += beta[b] + delta[b]
            minus[i] += beta[b] - delta[b]
    for i in range(n):
        plus[i] = math.exp(plus[i]) if has_plus else 0.0
        minus[i] = math.exp(minus[i]) if has_minus else 0.0
        state.residual[i] -= plus[i] - minus[i]
