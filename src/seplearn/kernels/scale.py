"""The scale of a stage: a step of b0 and d0, and the noise that its curves are up to."""

from __future__ import annotations

import math

from seplearn.kernels.arrays import BoolArray, FloatArray, Noise, SweepRules, SweptStages
from seplearn.kernels.compiler import kernel, part
from seplearn.kernels.rows import RRUU, RRVV, RU, RV, UU, UUUU, UV, VV, VVVV

_LARGEST_SCALE_STEP = 0.3
_LEAST_CURVATURE = 1e-6  # of the backbone's scale, in units of the tilt's
_SINGULAR = 1e-12
# Share of the rows carrying a stage that is left for the noise at least: without this bound curves
# of nearly noise-free tables would be smoothed away.
_LEAST_LEFT = 0.5
_TINY = 1e-300


@part
def move_scale(
    stages: SweptStages,
    k: int,
    moments: FloatArray,
    rules: SweepRules,
    noise: Noise,
    factors: FloatArray,
    local: FloatArray,
) -> None:
    """From the moments of a stage: a step of its scale, and the noise that its curves are up to.

    ``factors`` (2, any) is what the step multiplies the products with; ``local`` (2,) what the
    smoothness of backbones and tilts is learned against in the visits that follow.
    """
    curvature, scale, freedom = stages.curvature[k], stages.scale[k], stages.freedom[k]
    curvature[0], curvature[1] = moments[UU], moments[VV]
    spent = 1.0
    for j in range(freedom.shape[0]):
        spent += 0.5 * (freedom[j, 0] + freedom[j, 1])
    least, inflation = noise.mean_square * noise.inflation, noise.inflation
    own = local_noise(moments[UU], moments[RRUU], moments[UUUU], spent, inflation)
    local[0] = max(own, least)
    own = local_noise(moments[VV], moments[RRVV], moments[VVVV], spent, inflation)
    local[1] = max(own, least)
    backbone, tilt = scale_step(moments, rules.energy * noise.mean_square, stages.present[k])
    scale[0] += backbone
    scale[1] += tilt
    plus, minus = math.exp(backbone + tilt), math.exp(backbone - tilt)
    for b in range(factors.shape[1]):
        factors[0, b], factors[1, b] = plus, minus


@kernel
def begin_stage(
    stages: SweptStages,
    k: int,
    moments: FloatArray,
    rules: SweepRules,
    noise: Noise,
    factors: FloatArray,
    local: FloatArray,
) -> None:
    """:func:`move_scale` for rows that are elsewhere."""
    move_scale(stages, k, moments, rules, noise, factors, local)


@part
def local_noise(
    square: float, residual: float, fourth: float, spent: float, inflation: float
) -> float:
    """What the smoothness of backbone or tilt is learned against.

    It is the noise of the rows where the stage is large. Where few rows carry the stage, as in a
    heavy tail, its curves have taken much of their noise away: residuals are made good for the
    freedom spent on so many rows as effectively count.
    """
    carrying = square * square / max(fourth, _TINY)
    left = max(carrying - spent, _LEAST_LEFT * carrying)
    own = max(inflation, carrying / left) if carrying > 0.0 else inflation
    return float(residual / max(square, _TINY) * own)


@part
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
