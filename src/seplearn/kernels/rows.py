"""Row passes of joint refinement: what a visit to a curve reads from the rows and writes to them.

Every kernel here works on one block of rows and returns sums over them; how blocks are carried and
in which order their sums are added is not its concern. ``products`` (2, n) are P+ and P- of the one
stage that is visited, ``residual`` is the working response minus the prediction, ``weight`` the
working weight.
"""

from __future__ import annotations

import math

import numpy as np

from seplearn.kernels.arrays import BoolArray, CodeArray, FloatArray, IntArray
from seplearn.kernels.compiler import kernel, part
from seplearn.kernels.four_rows import (
    FOUR,
    add_row,
    apply_to_four,
    apply_to_four_and_add,
    apply_to_row,
)

N_MOMENTS = 9
# Sums of w u^2, ..., w r^2 v^2 and of w u^4, w v^4, with u = P+ - P-, v = P+ + P-, residual r, of
# rows brought to the same noise: the weight of a row counts once everywhere (weight 2 is two
# rows), but what the loss adds to it in the working weight counts twice in products of squares.
UU, VV, UV, RU, RV, RRUU, RRVV, UUUU, VVVV = range(N_MOMENTS)


@part
def apply_and_add(
    left: CodeArray,
    factors: FloatArray,
    entered: CodeArray,
    products: FloatArray,
    residual: FloatArray,
    weight: FloatArray,
    sums: FloatArray,
) -> None:
    """Apply the factors of the axis just left and add to the sums of the axis entered.

    One pass over the rows does both: they are read and written once per visit instead of twice.
    """
    n = residual.shape[0]
    whole = n - n % FOUR
    for row in range(0, whole, FOUR):
        apply_to_four_and_add(
            left, factors, entered, products, residual, weight, sums, np.uint64(row)
        )
    for row in range(whole, n):
        apply_to_row(left, factors, products, residual, np.uint64(row))
        add_row(entered, products, residual, weight, sums, np.uint64(row))


@kernel
def advance(
    left: CodeArray,
    factors: FloatArray,
    entered: CodeArray,
    products: FloatArray,
    residual: FloatArray,
    weight: FloatArray,
    sums: FloatArray,
) -> None:
    """:func:`apply_and_add` for one of several blocks of rows."""
    apply_and_add(left, factors, entered, products, residual, weight, sums)


@part
def apply_factors(
    left: CodeArray, factors: FloatArray, products: FloatArray, residual: FloatArray
) -> None:
    """Apply the factors of the last axis of a stage."""
    n = residual.shape[0]
    whole = n - n % FOUR
    for row in range(0, whole, FOUR):
        apply_to_four(left, factors, products, residual, np.uint64(row))
    for row in range(whole, n):
        apply_to_row(left, factors, products, residual, np.uint64(row))


@kernel
def leave(left: CodeArray, factors: FloatArray, products: FloatArray, residual: FloatArray) -> None:
    """:func:`apply_factors` for one of several blocks of rows."""
    apply_factors(left, factors, products, residual)


@part
def sum_moments(
    products: FloatArray,
    residual: FloatArray,
    working: FloatArray,
    weight: FloatArray,
    moments: FloatArray,
) -> None:
    """The stage's moments over the rows; see the names of their places above."""
    uu = vv = uv = ru = rv = rruu = rrvv = uuuu = vvvv = 0.0
    for i in range(residual.shape[0]):
        r, w = residual[i], working[i]
        again = w / weight[i] if weight[i] > 0.0 else 0.0
        u, v = products[0, i] - products[1, i], products[0, i] + products[1, i]
        wu, wv = w * u, w * v
        uu += wu * u
        vv += wv * v
        uv += wu * v
        ru += wu * r
        rv += wv * r
        rruu += wu * u * r * r * again
        rrvv += wv * v * r * r * again
        uuuu += wu * u * u * u * again
        vvvv += wv * v * v * v * again
    moments[UU] = uu
    moments[VV] = vv
    moments[UV] = uv
    moments[RU] = ru
    moments[RV] = rv
    moments[RRUU] = rruu
    moments[RRVV] = rrvv
    moments[UUUU] = uuuu
    moments[VVVV] = vvvv


@kernel
def fill_moments(
    products: FloatArray,
    residual: FloatArray,
    working: FloatArray,
    weight: FloatArray,
    moments: FloatArray,
) -> None:
    """:func:`sum_moments` for one of several blocks of rows."""
    sum_moments(products, residual, working, weight, moments)


@part
def add_residuals(
    residual: FloatArray, working: FloatArray, weight: FloatArray
) -> tuple[float, float, float, float]:
    """Sums over rows of w r, of w and of w r^2 with the working weight, and of the weight."""
    total = mass = square = everyone = 0.0
    for i in range(residual.shape[0]):
        weighted = working[i] * residual[i]
        total += weighted
        mass += working[i]
        square += weighted * residual[i]
        everyone += weight[i]
    return total, mass, square, everyone


@kernel
def weighted_residuals(
    residual: FloatArray, working: FloatArray, weight: FloatArray
) -> tuple[float, float, float, float]:
    """:func:`add_residuals` for one of several blocks of rows."""
    return add_residuals(residual, working, weight)


@part
def take_off_and_add(
    left: CodeArray,
    step: FloatArray,
    entered: CodeArray,
    residual: FloatArray,
    weight: FloatArray,
    sums: FloatArray,
) -> None:
    """As :func:`apply_and_add` for main effects: take a step off the residual, sum w and w r."""
    for row in range(residual.shape[0]):
        i = np.uint64(row)
        r = residual[i] - step[np.uint64(left[i])]
        residual[i] = r
        b = np.uint64(entered[i])
        sums[b, 0] += weight[i]
        sums[b, 1] += weight[i] * r


@kernel
def advance_effect(
    left: CodeArray,
    step: FloatArray,
    entered: CodeArray,
    residual: FloatArray,
    weight: FloatArray,
    sums: FloatArray,
) -> None:
    """:func:`take_off_and_add` for one of several blocks of rows."""
    take_off_and_add(left, step, entered, residual, weight, sums)


@part
def take_off(left: CodeArray, step: FloatArray, residual: FloatArray) -> None:
    """Take the step of the last main effect off the residual."""
    for row in range(residual.shape[0]):
        i = np.uint64(row)
        residual[i] -= step[np.uint64(left[i])]


@kernel
def leave_effect(left: CodeArray, step: FloatArray, residual: FloatArray) -> None:
    """:func:`take_off` for one of several blocks of rows."""
    take_off(left, step, residual)


@kernel
def fill_products(
    codes: CodeArray,
    offset: IntArray,
    curves: FloatArray,
    scale: FloatArray,
    present: BoolArray,
    products: FloatArray,
    residual: FloatArray,
) -> None:
    """P+ and P- of a stage on every row, taken off the residual."""
    p, n = codes.shape
    for i in range(n):
        products[0, i] = scale[0] + scale[1]
        products[1, i] = scale[0] - scale[1]
    for j in range(p):
        for i in range(n):
            b = np.uint64(offset[j] + np.int64(codes[j, i]))
            products[0, i] += curves[0, b] + curves[1, b]
            products[1, i] += curves[0, b] - curves[1, b]
    for i in range(n):
        products[0, i] = math.exp(products[0, i]) if present[0] else 0.0
        products[1, i] = math.exp(products[1, i]) if present[1] else 0.0
        residual[i] -= products[0, i] - products[1, i]


@kernel
def take_off_effects(
    codes: CodeArray, offset: IntArray, effects: FloatArray, residual: FloatArray
) -> None:
    """Take all main effects off the residual."""
    p, n = codes.shape
    for j in range(p):
        for i in range(n):
            residual[i] -= effects[np.uint64(offset[j] + np.int64(codes[j, i]))]
