"""Sweeps of joint refinement: every curve of every stage, one visit after the other.

The loop runs over curves; rows are reached through their carrier only, one reduction a visit.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from seplearn.fitting.carriers import Carrier
from seplearn.fitting.joint import rows
from seplearn.fitting.joint.curves import Axes, Curves, Effects, StageCurves
from seplearn.kernels.arrays import BoolArray, FloatArray, IntArray
from seplearn.kernels.block import begin_stage, solve_effect, visit
from seplearn.kernels.rows import UU, VV
from seplearn.losses import Loss

_ROUNDING = 1e-9  # of a loss
_MOST_HALVINGS = 10
_IDLE = 1e-14  # mean square of a stage, in variances of y, below which there is nothing to learn

# What visits to rows that are elsewhere get in their place: codes, products, residuals, weights.
_NO_ROWS = np.empty((0, 0), np.uint8), np.empty((2, 0)), np.empty(0), np.empty(0)
_NO_SUMS = np.empty((0, 8))


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
    negligible : float
        A curve rests for some sweeps after a step that changed predictions by less than this share
        of the noise of a single row, as sums of squares over all rows.
    """

    loss: Loss
    energy: float
    fit_intercept: bool = True
    rate: float = 1.0
    largest_step: float = 0.2
    negligible: float = 0.1


@dataclass(frozen=True)
class _Noise:
    """What a sweep knows of the residuals when it begins."""

    mean_square: float
    inflation: float
    mass: float


class _Visits(NamedTuple):
    """The axes of a stage with a curve that may move, in the order of a sweep.

    ``rest`` (p,) says for how many more sweeps each axis is passed over.
    """

    axes: IntArray
    rest: IntArray

    @property
    def all_rest(self) -> bool:
        return 0 < len(self.axes) == np.count_nonzero(self.rest)  # no other axis ever rests


def _visits(stage: StageCurves, axes: Axes) -> _Visits:
    own = np.array(stage.visits(axes), dtype=np.int64)
    return _Visits(own, np.zeros(len(stage.active), dtype=np.int64))


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
    visits: list[_Visits],
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
    visits: list[_Visits],
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
    of_stages, effects = curves.on_rows
    carrier.each(rows.predict_anew, axes.offset, curves.intercept, effects)
    for stage, own in zip(curves.stages, of_stages, strict=True):
        carrier.each(rows.add_stage, axes.offset, own, stage.scale, stage.present)


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
    visits: _Visits,
    axes: Axes,
    rules: Rules,
    noise: _Noise,
) -> None:
    """Update the scale of one stage, then its curves on every axis where it has any."""
    if visits.all_rest:
        visits.rest[visits.axes] -= 1
        return
    moments = carrier.total(rows.moments, number)
    if moments[VV] < _IDLE * noise.mass:
        return
    energy = rules.energy * noise.mean_square
    stage.curvature[:] = moments[UU], moments[VV]
    local, factors = np.empty(2), np.empty((2, max(axes.n_bins)))
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
    solving = (
        stage.curves,
        stage.penalties,
        stage.active,
        stage.present,
        energy,
        local,
        rules.rate,
        rules.largest_step,
        rules.negligible * noise.mean_square * noise.inflation,
        visits.rest,
        stage.freedom,
        stage.reach,
    )
    left = _visit(carrier, number, visits, axes, factors, solving)
    carrier.each(rows.leave, number, left, factors)


def _visit(
    carrier: Carrier,
    number: int,
    visits: _Visits,
    axes: Axes,
    factors: FloatArray,
    solving: tuple[Any, ...],
) -> int:
    """Visit the axes of a stage; the one that was left last. ``solving`` ends what visits take.

    All of them in one go where the rows are one block at hand. Codes of more than a byte are rare,
    and not worth another compilation.
    """
    left, block = int(visits.axes[0]) if len(visits.axes) else axes.order[0], carrier.only_block
    if block is not None and block.codes.dtype == np.uint8:
        room = np.empty((factors.shape[1], 8))
        of_stage = block.codes, block.products[number], block.residual, block.working
        return visit(visits.axes, axes.layout, *of_stage, left, factors, room, *solving)
    for k, j in enumerate(visits.axes.tolist()):
        sums = _NO_SUMS
        if visits.rest[j] == 0:
            sums = carrier.total(rows.advance, number, left, factors, j, axes.n_bins[j])
        here = visits.axes[k : k + 1]
        left = visit(here, axes.layout, *_NO_ROWS, left, factors, sums, *solving)
    return left


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
