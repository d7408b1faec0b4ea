"""Sweeps of joint refinement: every curve of every stage, one visit after the other.

Rows that are one block at hand are left to a kernel, which has all curves as stacked arrays. Others
are reached through their carrier only, one reduction a visit.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from seplearn.fitting.carriers import Carrier
from seplearn.fitting.joint import rows
from seplearn.fitting.joint.curves import Axes, Curves
from seplearn.kernels.arrays import (
    BoolArray,
    FloatArray,
    Noise,
    SweepRules,
    SweptEffects,
    SweptRows,
    SweptStages,
)
from seplearn.kernels.rows import VV
from seplearn.kernels.scale import begin_stage
from seplearn.kernels.sweep import (
    CONSTANT,
    IDLE,
    MEAN_SQUARE,
    noise_inflation,
    sweep_rows,
    visit_axis,
    visit_effect,
)
from seplearn.losses import Loss

_ROUNDING = 1e-9  # of a loss
_MOST_HALVINGS = 10


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

    @property
    def of_kernels(self) -> SweepRules:
        return SweepRules(
            self.energy, self.fit_intercept, self.rate, self.largest_step, self.negligible
        )


def sweep(
    carrier: Carrier, curves: Curves, axes: Axes, rules: Rules, n_sweeps: int, stop: BoolArray
) -> float:
    """Visit every curve of every stage ``n_sweeps`` times; return the mean squared residual.

    ``stop[0]`` is set from another thread to end early.
    """
    swept = _Swept(carrier, curves, axes)
    block = _at_hand(carrier)
    if rules.loss.is_least_squares and block is not None:
        return swept.sweep_at_hand(block, rules, n_sweeps, stop)
    loss = _mean_loss(carrier, rules.loss) if rules.loss.overshoots else math.inf
    for _ in range(n_sweeps):
        mean_square, mass, loss = settle(carrier, curves, rules, loss)
        if stop[0]:
            return mean_square
        if rules.loss.overshoots:
            loss = _sweep_falling(swept, rules, mean_square, mass, stop, loss)
        else:
            swept.sweep(rules, mean_square, mass, stop)
    return settle(carrier, curves, rules, loss)[0]


def _at_hand(carrier: Carrier) -> rows.RowBlock | None:
    """The rows, if they are one block that kernels can work on as a whole.

    Codes of more than a byte are those of many rows, where what happens between visits takes little
    of the time: not worth another compilation.
    """
    block = carrier.only_block
    return block if block is not None and block.codes.dtype == np.uint8 else None


class _Swept:
    """The curves of a model while they are swept: stacked, so that a kernel can have them all.

    Those of the model are parts of the stacks.
    """

    def __init__(self, carrier: Carrier, curves: Curves, axes: Axes) -> None:
        self.carrier, self.curves, self.axes = carrier, curves, axes
        self._stages, self._effects = _stages(curves, axes), _effects(curves, axes)

    def sweep_at_hand(
        self, block: rows.RowBlock, rules: Rules, n_sweeps: int, stop: BoolArray
    ) -> float:
        """Some sweeps by least squares; the mean squared residual after them."""
        level = np.array([self.curves.intercept, 0.0, 0.0])
        self._sweep_block(block, rules, n_sweeps, level, stop, settles=True)
        self.curves.intercept = float(level[CONSTANT])
        return float(level[MEAN_SQUARE])

    def sweep(self, rules: Rules, mean_square: float, mass: float, stop: BoolArray) -> None:
        """Visit every main effect and every curve of every stage."""
        block = _at_hand(self.carrier)
        if block is not None:
            level = np.array([0.0, mean_square, mass])
            self._sweep_block(block, rules, 1, level, stop, settles=False)
            return
        inflation = noise_inflation(self._stages.freedom, self._effects.freedom, mass)
        noise = Noise(mean_square, inflation, mass)
        self._sweep_effects(rules.of_kernels, noise)
        for k in range(len(self.curves.stages)):
            if stop[0]:
                return
            self._sweep_stage(k, rules.of_kernels, noise)

    def _sweep_block(
        self,
        block: rows.RowBlock,
        rules: Rules,
        n_sweeps: int,
        level: FloatArray,
        stop: BoolArray,
        *,
        settles: bool,
    ) -> None:
        sweep_rows(
            self.axes.layout,
            SweptRows(
                block.codes,
                rows.stacked_products(block),
                block.residual,
                block.working,
                block.weight,
            ),
            self._stages,
            self._effects,
            rules.of_kernels,
            n_sweeps,
            settles,
            level,
            stop,
        )

    def _sweep_effects(self, rules: SweepRules, noise: Noise) -> None:
        """Update the main effect of every axis that has one, by sums over rows elsewhere."""
        effects, step = self._effects, np.zeros(max(self.axes.n_bins))
        resting, left = effects.rest.tolist(), -1
        for j in effects.visits.tolist():
            if resting[j]:
                effects.rest[j] -= 1
                continue
            left = j if left < 0 else left
            sums = self.carrier.total(rows.advance_effect, left, step, j, self.axes.n_bins[j])
            visit_effect(self.axes.layout, effects, j, sums, rules, noise, step)
            left = j
        if left >= 0:
            self.carrier.each(rows.leave_effect, left, step)

    def _sweep_stage(self, k: int, rules: SweepRules, noise: Noise) -> None:
        """Update a stage's scale, then its curves on every axis where it has any, the same way."""
        stages, layout, n_bins = self._stages, self.axes.layout, self.axes.n_bins
        visits = [j for j in stages.visits[k].tolist() if j >= 0]
        moving = [j for j in visits if stages.rest[k, j] == 0]
        if visits and not moving:
            stages.rest[k, visits] -= 1
            return
        moments = self.carrier.total(rows.moments, k)
        if moments[VV] < IDLE * noise.mass:
            return
        stages.rest[k, [j for j in visits if j not in moving]] -= 1
        factors, local = np.empty((2, max(n_bins))), np.empty(2)
        begin_stage(stages, k, moments, rules, noise, factors, local)
        left = visits[0] if visits else 0
        for j in moving:
            sums = self.carrier.total(rows.advance, k, left, factors, j, n_bins[j])
            visit_axis(layout, stages, k, j, sums, rules, noise, local, factors)
            left = j
        self.carrier.each(rows.leave, k, left, factors)


def _stages(curves: Curves, axes: Axes) -> SweptStages:
    """The curves of all stages, stacked."""
    stages, p = curves.stages, len(axes.n_bins)
    visits = np.full((len(stages), p), -1, dtype=np.int64)
    for own, stage in zip(visits, stages, strict=True):
        moving = stage.visits(axes)
        own[: len(moving)] = moving
    n_flat = int(axes.offset[-1])
    return SweptStages(
        visits,
        np.zeros_like(visits),
        curves.stacked("scale", 2),
        curves.stacked("curvature", 2),
        curves.stacked("curves", 2, n_flat),
        curves.stacked("penalties", p, 2, 3),
        curves.stacked("active", p, 2, dtype=np.bool_),
        curves.stacked("present", 2, dtype=np.bool_),
        curves.stacked("freedom", p, 2),
        curves.stacked("reach", p, 2),
    )


def _effects(curves: Curves, axes: Axes) -> SweptEffects:
    own = curves.effects
    visits = np.array([j for j in axes.order if own.active[j]], dtype=np.int64)
    rest = np.zeros(len(axes.n_bins), dtype=np.int64)
    return SweptEffects(visits, rest, own.values, own.penalties, own.freedom)


def _sweep_falling(
    swept: _Swept, rules: Rules, mean_square: float, mass: float, stop: BoolArray, loss: float
) -> float:
    """A sweep, of which half is taken back until it has not raised the penalised loss.

    Penalties are those that the sweep has learned, before it and after it. ``loss`` is that before
    the sweep; that after it is returned.
    """
    carrier, curves, axes = swept.carrier, swept.curves, swept.axes
    before, working = curves.copy(), float(carrier.total(rows.residual_sums)[1])
    swept.sweep(rules, mean_square, mass, stop)
    for own, other in zip(curves.stages, before.stages, strict=True):
        other.curvature = own.curvature
    share = rules.loss.per_half_square / mass
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
