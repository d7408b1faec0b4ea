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
    plus_plus: float,
    plus_r: float,
    minus_minus: float,
    plus_minus: float,
    minus_r: float,
    rules: RefineRules,
) -> tuple[float, float, float]:
    """Multipliers (v+, v-) of a region and the error reduction Delta at those clamped values.

    Minimises  sum_i w_i (r_i - (u+ m+ - u- m-))^2 + ridge (u+^2 + u-^2)  over u = v - 1, from the
    region's five sums in the order of their columns. Without a minus product (its sums are zero) it
    reduces to the positive-only update, with v- = 1.
    """
    a = plus_plus + rules.ridge
    d = minus_minus + rules.ridge
    inverse_det = 1.0 / (a * d - plus_minus * plus_minus)
    v_plus = clamp_multiplier(1.0 + (d * plus_r - plus_minus * minus_r) * inverse_det, rules)
    v_minus = clamp_multiplier(1.0 + (plus_minus * plus_r - a * minus_r) * inverse_det, rules)
    u_plus = v_plus - 1.0
    u_minus = v_minus - 1.0
    gain = u_plus * (2.0 * plus_r - a * u_plus + 2.0 * plus_minus * u_minus) - u_minus * (
        2.0 * minus_r + d * u_minus
    )
    return v_plus, v_minus, gain
