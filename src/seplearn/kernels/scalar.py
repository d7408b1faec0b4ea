"""SolveTwoTensor: the multipliers of one region in closed form, clamped, and what they gain."""

from __future__ import annotations

from seplearn.kernels.arrays import RefineRules
from seplearn.kernels.compiler import part


@part
def clamp_multiplier(v: float, rules: RefineRules) -> float:
    """Bring ``v`` into [v_min, v_max]; a signed product keeps the sign of ``v``."""
    if rules.signed and v < 0.0:
        return -min(max(-v, rules.v_min), rules.v_max)
    return min(max(v, rules.v_min), rules.v_max)


@part
def solve_two_tensor(
    s11: float, s22: float, s12: float, t1: float, t2: float, rules: RefineRules
) -> tuple[float, float, float]:
    """Multipliers (v+, v-) of a region and the error reduction Delta at those clamped values.

    Minimises  sum_i w_i (r_i - (u+ m+ - u- m-))^2 + ridge (u+^2 + u-^2)  over u = v - 1, from the
    region's S11, S22, S12, t1, t2. Without a minus product (S22 = S12 = t2 = 0) it reduces to the
    positive-only update, with v- = 1.
    """
    a = s11 + rules.ridge
    d = s22 + rules.ridge
    inverse_det = 1.0 / (a * d - s12 * s12)
    v_plus = clamp_multiplier(1.0 + (d * t1 - s12 * t2) * inverse_det, rules)
    v_minus = clamp_multiplier(1.0 + (a * t2 - s12 * t1) * inverse_det, rules)
    u_plus = v_plus - 1.0
    u_minus = v_minus - 1.0
    gain = u_plus * (2.0 * t1 - a * u_plus - 2.0 * s12 * u_minus) + u_minus * (
        2.0 * t2 - d * u_minus
    )
    return v_plus, v_minus, gain
