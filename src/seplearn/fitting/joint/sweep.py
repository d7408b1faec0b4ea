"""Sweeps of joint refinement: every curve of every stage, one visit after the other.

The loop runs over curves; rows are reached through their carrier only, one reduction a visit.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from seplearn.fitting.carriers import Carrier
from seplearn.fitting.joint import rows
from seplearn.fitting.joint.curves import Axes, Curves, Effects, StageCurves
from seplearn.kernels.arrays import BoolArray, FloatArray
from seplearn.kernels.block import begin_stage, solve, solve_effect
from seplearn.kernels.rows import UU, VV
from seplearn.losses import Loss

_ROUNDING = 1e-9  # of a loss
_MOST_HALVINGS = 10
_IDLE = 1e-14  # mean square of a stage, in variances of y, below which there is nothing to learn


@dataclass(frozen=True)
class Rules:
    """How a sweep moves.

    Attributes
    ----------
    loss : Loss
    energy : float
        Price of the products' size, as a multiple of the mean squared residual.
    fit_intercept : bool
    rate : float
        Share of the update of the logs of penalties that is made; 0 leaves them as they are.
    largest_step : float
        Of a log-factor in one visit.
    """

    loss: Loss
    energy: float
    fit_intercept: bool = True
    rate: float = 1.0
    largest_step: float = 0.2


@dataclass(frozen=True)
class _Noise:
    """What a sweep knows of the residuals when it begins."""

    mean_square: float
    inflation: float
    mass: float


class _Visit(NamedTuple):
    """What a visit to one axis of a stage works on: views, made once for all sweeps."""

    axis: int
    n_bins: int
    penalties: FloatArray
    place: tuple[int, int, int]
    active: BoolArray
    factors: FloatArray
    freedom: FloatArray
    reach: FloatArray


def _visits(stage: StageCurves, axes: Axes) -> list[_Visit]:
    """The axes of a stage with a curve that may move, in the order of a sweep."""
    return [
        _Visit(
            j,
            axes.n_bins[j],
            stage.penalties[j],
            axes.places[j],
            stage.active[j],
            np.empty((2, axes.n_bins[j])),
            stage.freedom[j],
            stage.reach[j],
        )
        for j in stage.visits(axes)
    ]


def sweep(
    carrier: Carrier, curves: Curves, axes: Axes, rules: Rules, n_sweeps: int, stop: BoolArray
) -> float:
    """Visit every curve of every stage ``n_sweeps`` times; return the mean squared residual.

    ``stop[0]`` is set from another thread to end early.
    """
    visits = [_visits(stage, axes) for stage in curves.stages]
    for _ in range(n_sweeps):
        mean_square, mass = settle(carrier, curves, rules)
        if stop[0]:
            return mean_square
        noise = _Noise(mean_square, _inflation(curves, mass), mass)
        if rules.loss.overshoots:
            _sweep_falling(carrier, curves, visits, axes, rules, noise, stop)
        else:
            _sweep_once(carrier, curves, visits, axes, rules, noise, stop)
    return settle(carrier, curves, rules)[0]


def _sweep_once(
    carrier: Carrier,
    curves: Curves,
    visits: list[list[_Visit]],
    axes: Axes,
    rules: Rules,
    noise: _Noise,
    stop: BoolArray,
) -> None:
    """Visit every main effect and every curve of every stage."""
    _sweep_effects(carrier, curves.effects, axes, rules, noise)
    for number, stage in enumerate(curves.stages):
        if stop[0]:
            return
        _sweep_stage(carrier, number, stage, visits[number], axes, rules, noise)


def _sweep_falling(
    carrier: Carrier,
    curves: Curves,
    visits: list[list[_Visit]],
    axes: Axes,
    rules: Rules,
    noise: _Noise,
    stop: BoolArray,
) -> None:
    """A sweep, of which half is taken back until it has not raised the penalised loss.

    Penalties are those that the sweep has learned, before it and after it.
    """
    before, loss_before = curves.copy(), _mean_loss(carrier, rules.loss)
    working = float(carrier.total(rows.residual_sums)[1])
    _sweep_once(carrier, curves, visits, axes, rules, noise, stop)
    for own, other in zip(curves.stages, before.stages, strict=True):
        other.curvature = own.curvature
    share = rules.loss.per_half_square / noise.mass
    bound = loss_before + share * before.penalty(axes, curves, working)
    for _ in range(_MOST_HALVINGS):
        penalty = share * curves.penalty(axes, curves, working)
        if _mean_loss(carrier, rules.loss) + penalty <= bound * (1.0 + _ROUNDING):
            return
        curves.move_halfway_to(before)
        put_on_rows(carrier, curves, axes)


def _mean_loss(carrier: Carrier, loss: Loss) -> float:
    total, mass = carrier.total(rows.loss_sums, loss.restrained)
    return float(total / mass)


def put_on_rows(carrier: Carrier, curves: Curves, axes: Axes) -> None:
    """Let the rows have the sums and the products of these curves."""
    carrier.each(rows.predict_anew, axes.offset, curves.intercept, curves.effects.values)
    for stage in curves.stages:
        carrier.each(rows.add_stage, axes.offset, stage.curves, stage.scale, stage.present)


def settle(carrier: Carrier, curves: Curves, rules: Rules) -> tuple[float, float]:
    """Renew the rows' problem, move the constant; mean squared residual and total weight."""
    carrier.each(rows.renew, rules.loss)
    total, working, square, mass = carrier.total(rows.residual_sums).tolist()
    if rules.fit_intercept:
        shift = _move_intercept(carrier, curves, total / working, rules.loss)
        square = max(square - shift * (2.0 * total - shift * working), 0.0)
    return rules.loss.noise(square / mass), mass


def _move_intercept(carrier: Carrier, curves: Curves, shift: float, loss: Loss) -> float:
    """Move the constant, half of it taken back until the loss does not rise; the step taken."""
    before = _mean_loss(carrier, loss) if loss.overshoots else math.inf
    curves.intercept += shift
    carrier.each(rows.lower, shift)
    for _ in range(_MOST_HALVINGS if loss.overshoots else 0):
        if _mean_loss(carrier, loss) <= before:
            break
        shift *= 0.5
        curves.intercept -= shift
        carrier.each(rows.lower, -shift)
    return shift


def _inflation(curves: Curves, mass: float) -> float:
    """N / (n - freedom), the freedom counting two for a stage's scales and one for the constant."""
    spent = min(curves.freedom + 2.0 * len(curves.stages) + 1.0, 0.5 * mass)
    return mass / (mass - spent)


def _sweep_stage(
    carrier: Carrier,
    number: int,
    stage: StageCurves,
    visits: list[_Visit],
    axes: Axes,
    rules: Rules,
    noise: _Noise,
) -> None:
    """Update the scale of one stage, then its curves on every axis where it has any."""
    moments = carrier.total(rows.moments, number)
    if moments[VV] < _IDLE * noise.mass:
        return
    energy = rules.energy * noise.mean_square
    stage.curvature[:] = moments[UU], moments[VV]
    left = visits[0].axis if visits else axes.order[0]
    local, factors = np.empty(2), np.empty((2, axes.n_bins[left]))
    begin_stage(
        moments,
        energy,
        stage.present,
        stage.freedom,
        noise.mean_square,
        noise.inflation,
        stage.scale,
        factors,
        local,
    )
    for visit in visits:
        sums = carrier.total(rows.advance, number, left, factors, visit.axis, visit.n_bins)
        left, factors = visit.axis, visit.factors
        solve(
            sums,
            stage.curves,
            visit.penalties,
            *visit.place,
            visit.active,
            stage.present,
            energy,
            local,
            rules.rate,
            rules.largest_step,
            factors,
            visit.freedom,
            visit.reach,
        )
    carrier.each(rows.leave, number, left, factors)


def _sweep_effects(
    carrier: Carrier, effects: Effects, axes: Axes, rules: Rules, noise: _Noise
) -> None:
    """Update the main effect of every axis."""
    visits = [j for j in axes.order if effects.active[j]]
    if not visits:
        return
    left = visits[0]
    step = np.zeros(axes.n_bins[left])
    for j in visits:
        n_bins = axes.n_bins[j]
        sums = carrier.total(rows.advance_effect, left, step, j, n_bins)
        left, step = j, np.empty(n_bins)
        freedom = solve_effect(
            sums,
            effects.values,
            effects.penalties[j],
            *axes.places[j],
            noise.mean_square * noise.inflation,
            rules.rate,
            step,
        )
        if rules.rate > 0.0:
            effects.freedom[j] = freedom
    carrier.each(rows.leave_effect, left, step)
