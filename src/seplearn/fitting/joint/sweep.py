"""Sweeps of joint refinement: every curve of every stage, one visit after the other.

The loop runs over curves; rows are reached through their carrier only, one reduction a visit.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from seplearn.fitting.carriers import Carrier
from seplearn.fitting.joint import rows
from seplearn.fitting.joint.curves import Axes, Curves, Effects, StageCurves
from seplearn.kernels.arrays import BoolArray, FloatArray
from seplearn.kernels.block import begin_stage, solve, solve_effect
from seplearn.kernels.rows import VV
from seplearn.losses import Loss

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
        _sweep_effects(carrier, curves.effects, axes, rules, noise)
        for number, stage in enumerate(curves.stages):
            if stop[0]:
                return mean_square
            _sweep_stage(carrier, number, stage, visits[number], axes, rules, noise)
    return settle(carrier, curves, rules)[0]


def settle(carrier: Carrier, curves: Curves, rules: Rules) -> tuple[float, float]:
    """Renew the rows' problem, move the constant; mean squared residual and total weight."""
    carrier.each(rows.renew, rules.loss)
    total, working, square, mass = carrier.total(rows.residual_sums).tolist()
    if rules.fit_intercept:
        shift = total / working
        curves.intercept += shift
        carrier.each(rows.lower, shift)
        square = max(square - shift * total, 0.0)
    return square / mass, mass


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
