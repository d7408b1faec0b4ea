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
from seplearn.kernels.block import begin_stage, sweep_effects, sweep_stage
from seplearn.kernels.rows import N_MOMENTS, VV
from seplearn.losses import Loss

_ROUNDING = 1e-9  # of a loss
_MOST_HALVINGS = 10
_IDLE = 1e-14  # mean square of a stage, in variances of y, below which there is nothing to learn

# What visits to rows that are elsewhere get in their place: codes, products, residuals, weights.
_NO_CODES, _NO_ROWS = np.empty((0, 0), np.uint8), np.empty(0)
_NO_PRODUCTS = np.empty((2, 0))
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

    @property
    def inflated(self) -> float:
        return self.mean_square * self.inflation


class _Visits(NamedTuple):
    """The axes of a stage with a curve that may move, in the order of a sweep.

    ``rest`` (p,) says for how many more sweeps each axis is passed over.
    """

    axes: IntArray
    rest: IntArray

    def first(self, axes: Axes) -> int:
        """The axis that is visited first, or any where there is none."""
        return int(self.axes[0]) if len(self.axes) else axes.order[0]

    def are_passed_over(self) -> bool:
        """Whether all axes rest, then for one sweep less."""
        if not 0 < len(self.axes) == np.count_nonzero(self.rest):  # no other axis ever rests
            return False
        self.rest[self.axes] -= 1
        return True


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
    loss = _mean_loss(carrier, rules.loss) if rules.loss.overshoots else math.inf
    for _ in range(n_sweeps):
        mean_square, mass, loss = settle(carrier, curves, rules, loss)
        if stop[0]:
            return mean_square
        noise = _Noise(mean_square, _inflation(curves, mass), mass)
        if rules.loss.overshoots:
            loss = _sweep_falling(carrier, curves, visits, axes, rules, noise, stop, loss)
        else:
            _sweep_once(carrier, curves, visits, axes, rules, noise, stop)
    return settle(carrier, curves, rules, loss)[0]


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
    loss: float,
) -> float:
    """A sweep, of which half is taken back until it has not raised the penalised loss.

    Penalties are those that the sweep has learned, before it and after it. ``loss`` is that before
    the sweep; that after it is returned.
    """
    before, working = curves.copy(), float(carrier.total(rows.residual_sums)[1])
    _sweep_once(carrier, curves, visits, axes, rules, noise, stop)
    for own, other in zip(curves.stages, before.stages, strict=True):
        other.curvature = own.curvature
    share = rules.loss.per_half_square / noise.mass
    bound = loss + share * before.penalty(axes, curves, working)
    for _ in range(_MOST_HALVINGS):
        penalty = share * curves.penalty(axes, curves, working)
        loss = _mean_loss(carrier, rules.loss)
        if loss + penalty <= bound * (1.0 + _ROUNDING):
            return loss
        curves.move_halfway_to(before)
        put_on_rows(carrier, curves, axes)
    return _mean_loss(carrier, rules.loss)


def _mean_loss(carrier: Carrier, loss: Loss) -> float:
    total, mass = carrier.total(rows.loss_sums, loss.restrained)
    return float(total / mass)


def put_on_rows(carrier: Carrier, curves: Curves, axes: Axes) -> None:
    """Let the rows have the sums and the products of these curves."""
    of_stages, effects = curves.on_rows
    carrier.each(rows.predict_anew, axes.offset, curves.intercept, effects)
    for stage, own in zip(curves.stages, of_stages, strict=True):
        carrier.each(rows.add_stage, axes.offset, own, stage.scale, stage.present)


def settle(
    carrier: Carrier, curves: Curves, rules: Rules, loss: float
) -> tuple[float, float, float]:
    """Renew the rows' problem and move the constant.

    The mean squared residual, the total weight, and the loss, which was ``loss`` before; it is
    known of losses that a step may raise.
    """
    carrier.each(rows.renew, rules.loss)
    total, working, square, mass = carrier.total(rows.residual_sums).tolist()
    if rules.fit_intercept:
        shift, loss = _move_intercept(carrier, curves, total / working, rules.loss, loss)
        square = max(square - shift * (2.0 * total - shift * working), 0.0)
    return rules.loss.noise(square / mass), mass, loss


def _move_intercept(
    carrier: Carrier, curves: Curves, shift: float, loss: Loss, before: float
) -> tuple[float, float]:
    """Move the constant, half of it taken back until the loss does not rise: the step, the loss."""
    curves.intercept += shift
    carrier.each(rows.lower, shift)
    if not loss.overshoots:
        return shift, before
    for _ in range(_MOST_HALVINGS):
        after = _mean_loss(carrier, loss)
        if after <= before:
            return shift, after
        shift *= 0.5
        curves.intercept -= shift
        carrier.each(rows.lower, -shift)
    return shift, _mean_loss(carrier, loss)


def _inflation(curves: Curves, mass: float) -> float:
    """N / (n - freedom), the freedom counting two for a stage's scales and one for the constant."""
    spent = min(curves.freedom + 2.0 * len(curves.stages) + 1.0, 0.5 * mass)
    return mass / (mass - spent)


class _Solving(NamedTuple):
    """What the kernel takes beside axes and rows, in its order: see :func:`sweep_stage`."""

    idle: float
    scale: FloatArray
    curvature: FloatArray
    curves: FloatArray
    mu: FloatArray
    free: BoolArray
    present: BoolArray
    energy: float
    mean_square: float
    inflation: float
    noise: FloatArray
    rate: float
    largest_step: float
    negligible: float
    rest: IntArray
    freedom: FloatArray
    reach: FloatArray

    @staticmethod
    def of(stage: StageCurves, visits: _Visits, rules: Rules, noise: _Noise) -> _Solving:
        return _Solving(
            _IDLE * noise.mass,
            stage.scale,
            stage.curvature,
            stage.curves,
            stage.penalties,
            stage.active,
            stage.present,
            rules.energy * noise.mean_square,
            noise.mean_square,
            noise.inflation,
            np.empty(2),
            rules.rate,
            rules.largest_step,
            rules.negligible * noise.inflated,
            visits.rest,
            stage.freedom,
            stage.reach,
        )


def _sweep_stage(
    carrier: Carrier,
    number: int,
    stage: StageCurves,
    visits: _Visits,
    axes: Axes,
    rules: Rules,
    noise: _Noise,
) -> None:
    """Update the scale of one stage, then its curves on every axis where it has any.

    All in one go where the rows are one block at hand.
    """
    if visits.are_passed_over():
        return
    most, block = max(axes.n_bins), _at_hand(carrier)
    solving = _Solving.of(stage, visits, rules, noise)
    if block is None:
        _sweep_stage_elsewhere(carrier, number, visits, axes, np.empty((2, most)), solving)
        return
    sweep_stage(
        visits.axes,
        axes.layout,
        block.codes,
        block.products[number],
        block.residual,
        block.working,
        block.weight,
        visits.first(axes),
        np.empty((2, most)),
        np.empty((most, 8)),
        np.empty(N_MOMENTS),
        *solving,
    )


def _at_hand(carrier: Carrier) -> rows.RowBlock | None:
    """The rows, if they are one block that kernels can work on as a whole.

    Codes of more than a byte are rare, and not worth another compilation.
    """
    block = carrier.only_block
    return block if block is not None and block.codes.dtype == np.uint8 else None


def _sweep_stage_elsewhere(
    carrier: Carrier,
    number: int,
    visits: _Visits,
    axes: Axes,
    factors: FloatArray,
    solving: _Solving,
) -> None:
    """The same, sums over rows asked for one after the other."""
    moments = carrier.total(rows.moments, number)
    if moments[VV] < solving.idle:
        return
    begin_stage(
        moments,
        solving.energy,
        solving.present,
        solving.freedom,
        solving.mean_square,
        solving.inflation,
        solving.scale,
        solving.curvature,
        factors,
        solving.noise,
    )
    left = visits.first(axes)
    for k, j in enumerate(visits.axes.tolist()):
        sums = _NO_SUMS
        if visits.rest[j] == 0:
            sums = carrier.total(rows.advance, number, left, factors, j, axes.n_bins[j])
        here = visits.axes[k : k + 1]
        left = sweep_stage(
            here,
            axes.layout,
            _NO_CODES,
            _NO_PRODUCTS,
            _NO_ROWS,
            _NO_ROWS,
            _NO_ROWS,
            left,
            factors,
            sums,
            moments,
            *solving,
        )
    carrier.each(rows.leave, number, left, factors)


def _sweep_effects(
    carrier: Carrier, effects: Effects, axes: Axes, rules: Rules, noise: _Noise
) -> None:
    """Update the main effect of every axis that has one."""
    visits = np.array([j for j in axes.order if effects.active[j]], dtype=np.int64)
    if len(visits) == 0:
        return
    most, block, left = max(axes.n_bins), _at_hand(carrier), int(visits[0])
    step = np.zeros(most)
    solving: tuple[Any, ...] = (
        effects.values,
        effects.penalties,
        noise.inflated,
        rules.rate,
        effects.freedom,
    )
    if block is not None:
        at_hand = (block.codes, block.residual, block.working)
        room = np.empty((most, 2))
        sweep_effects(visits, axes.layout, *at_hand, left, step, room, *solving)
        return
    no_rows = (_NO_CODES, _NO_ROWS, _NO_ROWS)
    for k, j in enumerate(visits.tolist()):
        sums = carrier.total(rows.advance_effect, left, step, j, axes.n_bins[j])
        here = visits[k : k + 1]
        left = sweep_effects(here, axes.layout, *no_rows, left, step, sums, *solving)
    carrier.each(rows.leave_effect, left, step)
