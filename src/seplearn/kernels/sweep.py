"""Sweeps: visits to every main effect, then to every curve of one stage after the other.

Rows that are one block at hand are swept in one call, as often as is asked for. Of rows that are
elsewhere only sums arrive, and every visit is a call.

``places`` (p, 4) are first bin, bins, ordered bins and direction (1, -1 or 0) of every axis.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from seplearn.kernels.arrays import (
    BoolArray,
    FloatArray,
    IntArray,
    Noise,
    SweepRules,
    SweptEffects,
    SweptRows,
    SweptStages,
)
from seplearn.kernels.block import solve_axis, solve_effect
from seplearn.kernels.compiler import kernel, part, section
from seplearn.kernels.rows import (
    N_MOMENTS,
    VV,
    add_residuals,
    apply_and_add,
    apply_factors,
    sum_moments,
    take_off,
    take_off_and_add,
)
from seplearn.kernels.scale import move_scale
from seplearn.kernels.sums import MINUS_MINUS, PLUS_MINUS, PLUS_PLUS

IDLE = 1e-14  # mean square of a stage, in variances of y, below which there is nothing to learn
_NEAR_ONE = 0.1  # a factor farther from one is on its way, however little rows see of it
_REST = 3  # sweeps for which an axis is not visited after a step that changed next to nothing
# A new effect starts stiff and takes small steps until its smoothness is learned: it rests only
# once a visit has changed its degrees of freedom by less than this share.
_STEADY = 0.05
CONSTANT, MEAN_SQUARE, MASS = range(3)  # places in ``level``


class Room(NamedTuple):
    """Scratch for sweeps over rows at hand."""

    factors: FloatArray  # (2, most bins): what the last step multiplies the products with
    sums: FloatArray  # (most bins, 8)
    moments: FloatArray  # (9,)
    local: FloatArray  # (2,): what the smoothness of a stage's curves is learned against
    step: FloatArray  # (most bins,): what the last visit added to a main effect
    sums_of_effects: FloatArray  # (most bins, 2)


@part
def new_room(places: IntArray) -> Room:
    """Scratch for axes of any size."""
    most = 0
    for j in range(places.shape[0]):
        most = max(most, places[j, 1])
    return Room(
        np.empty((2, most)),
        np.empty((most, 8)),
        np.empty(N_MOMENTS),
        np.empty(2),
        np.empty(most),
        np.empty((most, 2)),
    )


@kernel
def sweep_rows(
    places: IntArray,
    rows: SweptRows,
    stages: SweptStages,
    effects: SweptEffects,
    rules: SweepRules,
    n_sweeps: int,
    settles: bool,
    level: FloatArray,
    stop: BoolArray,
) -> None:
    """Sweep over rows at hand, ``n_sweeps`` times.

    ``level`` (3,) has the constant of the model, the mean squared residual and the total weight of
    the rows. If ``settles`` the constant moves and all three are renewed here, before every sweep
    and after the last; else they are those of this moment. ``stop[0]`` is set from another thread
    to end early.
    """
    room = new_room(places)
    for _ in range(n_sweeps):
        if settles:
            settle(rows, rules.fit_intercept, level)
        if stop[0]:
            return
        inflation = inflation_of(stages.freedom, effects.freedom, level[MASS])
        noise = Noise(level[MEAN_SQUARE], inflation, level[MASS])
        sweep_effects(places, rows, effects, rules, noise, room)
        for k in range(stages.scale.shape[0]):
            if stop[0]:
                break
            sweep_stage(places, rows, stages, k, rules, noise, room)
    if settles:
        settle(rows, rules.fit_intercept, level)


@part
def settle(rows: SweptRows, fit_intercept: bool, level: FloatArray) -> None:
    """Move the constant to where the mean residual is zero; the mean squared residual there."""
    total, working, square, mass = add_residuals(rows.residual, rows.working, rows.weight)
    if fit_intercept:
        shift = total / working
        level[CONSTANT] += shift
        for i in range(rows.residual.shape[0]):
            rows.residual[i] -= shift
        square = max(square - shift * (2.0 * total - shift * working), 0.0)
    level[MEAN_SQUARE], level[MASS] = square / mass, mass


@part
def inflation_of(of_stages: FloatArray, of_effects: FloatArray, mass: float) -> float:
    """Rows over what freedom leaves of them; a stage's scales count as two, the constant as one."""
    spent = 2.0 * of_stages.shape[0] + 1.0
    for k in range(of_stages.shape[0]):
        for j in range(of_stages.shape[1]):
            spent += of_stages[k, j, 0] + of_stages[k, j, 1]
    for j in range(of_effects.shape[0]):
        spent += of_effects[j]
    return float(mass / (mass - min(spent, 0.5 * mass)))


@kernel
def noise_inflation(of_stages: FloatArray, of_effects: FloatArray, mass: float) -> float:
    """:func:`inflation_of` for rows that are elsewhere."""
    return inflation_of(of_stages, of_effects, mass)


@part
def all_rest(visits: IntArray, rest: IntArray) -> bool:
    """Whether there are axes to visit and all of them rest, then for one sweep less."""
    n_visits = 0
    for j in visits:
        if j >= 0:
            if rest[j] == 0:
                return False
            n_visits += 1
    for j in visits:
        if j >= 0:
            rest[j] -= 1
    return n_visits > 0


@part
def is_passed_over(j: int, rest: IntArray) -> bool:
    """Whether an axis is none, or rests, then for one sweep less."""
    if j < 0:
        return True
    if rest[j] == 0:
        return False
    rest[j] -= 1
    return True


@section
def sweep_effects(
    places: IntArray,
    rows: SweptRows,
    effects: SweptEffects,
    rules: SweepRules,
    noise: Noise,
    room: Room,
) -> None:
    """Update the main effect of every axis that has one."""
    if effects.visits.shape[0] == 0 or all_rest(effects.visits, effects.rest):
        return
    left, step = effects.visits[0], room.step
    step[:] = 0.0
    for j in effects.visits:
        if is_passed_over(j, effects.rest):
            continue
        sums = room.sums_of_effects[: places[j, 1]]
        sums[:, :] = 0.0
        take_off_and_add(rows.codes[left], step, rows.codes[j], rows.residual, rows.working, sums)
        update_effect(places, effects, j, sums, rules, noise, step)
        left = j
    take_off(rows.codes[left], step, rows.residual)


@section
def update_effect(
    places: IntArray,
    effects: SweptEffects,
    j: int,
    sums: FloatArray,
    rules: SweepRules,
    noise: Noise,
    step: FloatArray,
) -> None:
    """One visit to the main effect of an axis; it rests if that changed next to nothing."""
    inflated = noise.mean_square * noise.inflation
    spent = solve_effect(places, effects, j, sums, inflated, rules.rate, step)
    is_steady = rules.rate == 0.0 or abs(spent - effects.freedom[j]) < _STEADY * spent
    if rules.rate > 0.0:
        effects.freedom[j] = spent
    change = 0.0
    for b in range(sums.shape[0]):
        change += sums[b, 0] * step[b] * step[b]
    if is_steady and change < rules.negligible * inflated:
        effects.rest[j] = _REST


@kernel
def visit_effect(
    places: IntArray,
    effects: SweptEffects,
    j: int,
    sums: FloatArray,
    rules: SweepRules,
    noise: Noise,
    step: FloatArray,
) -> None:
    """:func:`update_effect` for rows that are elsewhere."""
    update_effect(places, effects, j, sums, rules, noise, step)


@section
def sweep_stage(
    places: IntArray,
    rows: SweptRows,
    stages: SweptStages,
    k: int,
    rules: SweepRules,
    noise: Noise,
    room: Room,
) -> None:
    """Update the scale of one stage, then its curves on every axis where it has any."""
    visits, rest = stages.visits[k], stages.rest[k]
    if all_rest(visits, rest):
        return
    products, factors = rows.products[k], room.factors
    sum_moments(products, rows.residual, rows.working, rows.weight, room.moments)
    if room.moments[VV] < IDLE * noise.mass:
        return
    move_scale(stages, k, room.moments, rules, noise, factors, room.local)
    left = max(visits[0], 0)
    for j in visits:
        if is_passed_over(j, rest):
            continue
        sums = room.sums[: places[j, 1]]
        sums[:, :] = 0.0
        apply_and_add(
            rows.codes[left], factors, rows.codes[j], products, rows.residual, rows.working, sums
        )
        update_axis(places, stages, k, j, sums, rules, noise, room.local, factors)
        left = j
    apply_factors(rows.codes[left], factors, products, rows.residual)


@section
def update_axis(
    places: IntArray,
    stages: SweptStages,
    k: int,
    j: int,
    sums: FloatArray,
    rules: SweepRules,
    noise: Noise,
    local: FloatArray,
    factors: FloatArray,
) -> None:
    """One visit to the curves of a stage on an axis; it rests if that changed next to nothing."""
    energy = rules.energy * noise.mean_square
    solve_axis(places, stages, k, j, sums, rules, energy, local, factors)
    if has_settled(sums, factors, rules.negligible * noise.mean_square * noise.inflation):
        stages.rest[k, j] = _REST


@kernel
def visit_axis(
    places: IntArray,
    stages: SweptStages,
    k: int,
    j: int,
    sums: FloatArray,
    rules: SweepRules,
    noise: Noise,
    local: FloatArray,
    factors: FloatArray,
) -> None:
    """:func:`update_axis` for rows that are elsewhere."""
    update_axis(places, stages, k, j, sums, rules, noise, local, factors)


@part
def has_settled(sums: FloatArray, factors: FloatArray, negligible: float) -> bool:
    """Whether the factors of a step are near one, and change predictions next to nothing.

    What they change is the sum over rows of the squared change of the prediction.
    """
    change = largest = 0.0
    for b in range(sums.shape[0]):
        plus, minus = factors[0, b] - 1.0, factors[1, b] - 1.0
        change += plus * plus * sums[b, PLUS_PLUS] + minus * minus * sums[b, MINUS_MINUS]
        change -= 2.0 * plus * minus * sums[b, PLUS_MINUS]
        largest = max(largest, abs(plus), abs(minus))
    return change < negligible and largest < _NEAR_ONE
