"""Curves that say nothing become exactly flat, so that what is left can be read.

A curve says nothing when the model would predict nearly the same without it: when the mean squared
change of the predictions is a small share of the noise, or of a loss that is smaller. A stage none
of whose curves is left is a constant, and one of a single feature is a main effect.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from seplearn.fitting.carriers import Carrier
from seplearn.fitting.joint import rows
from seplearn.fitting.joint.curves import Axes, Curves, Effects, StageCurves
from seplearn.kernels.arrays import BoolArray


@dataclass(frozen=True)
class Pruning:
    """What is flattened, and what becomes of stages of few features.

    Attributes
    ----------
    least : float
        Sum over rows of the squared change of the prediction below which a curve says nothing.
    mass : float
        Total weight of the rows.
    folds : bool
        Whether a stage of one feature becomes its main effect.
    drops : bool
        Whether a stage without any feature moves to the constant.
    """

    least: float
    mass: float
    folds: bool
    drops: bool


def prune(carrier: Carrier, curves: Curves, axes: Axes, rules: Pruning) -> int:
    """Flatten all curves that say nothing; return how many stages had nothing to say at all."""
    for number, stage in enumerate(curves.stages):
        idle = stage.active & _says_nothing(stage, axes, rules.least)
        if idle.any():
            _flatten(carrier, number, stage, idle, axes)
    n_dropped = 0
    for number in reversed(range(len(curves.stages))):
        used = np.flatnonzero(curves.stages[number].active.any(axis=1))
        if len(used) == 0 and rules.drops:
            plus, minus = curves.stages.pop(number).lambdas
            curves.intercept += plus - minus
            n_dropped += 1
        elif len(used) == 1 and rules.folds:
            fold(curves, curves.stages.pop(number), int(used[0]), axes)
        else:
            continue
        carrier.each(rows.drop_stage, number)
    _prune_effects(carrier, curves.effects, axes, rules)
    return n_dropped


def _says_nothing(stage: StageCurves, axes: Axes, least: float) -> BoolArray:
    """Which curves (p, 2) say nothing.

    Under a constraint one product rises and the other falls: without a tilt there is no backbone
    that could do both, so they stay or go together.
    """
    quiet: BoolArray = stage.reach < least
    quiet[:, 1] &= quiet[:, 0] | (axes.direction == 0)
    return quiet


def _flatten(
    carrier: Carrier, number: int, stage: StageCurves, idle: BoolArray, axes: Axes
) -> None:
    """Take curves out of the products of all rows, and out of the stage."""
    beta, delta = np.where(axes.bins.repeat_per_bin(idle.T), -stage.curves, 0.0)
    factors = np.exp(np.array([beta + delta, beta - delta]))
    for j in np.flatnonzero(idle.any(axis=1)).tolist():
        carrier.each(rows.leave, number, j, factors[:, axes.bins.axis(j)].copy())
    stage.flatten(idle, axes)


def fold(curves: Curves, stage: StageCurves, j: int, axes: Axes) -> None:
    """Add a stage of one feature to the feature's main effect; no prediction changes."""
    axis, effects = axes.bins.axis(j), curves.effects
    plus, minus = stage.lambdas
    beta, delta = stage.curves[:, axis]
    values = np.zeros_like(effects.values)
    values[axis] = plus * np.exp(beta + delta) - minus * np.exp(beta - delta)
    values, level = axes.bins.centred(values)
    effects.values += values
    effects.active[j] = True
    effects.freedom[j] += stage.freedom[j].sum()
    # What was learned of a curve that said little, or nothing, would flatten the new one.
    effects.penalties[j] = effects.first_penalties[j]
    curves.intercept += float(level)


def _prune_effects(carrier: Carrier, effects: Effects, axes: Axes, rules: Pruning) -> None:
    """The same for main effects."""
    if not effects.active.any():
        return
    reach = rules.mass * axes.bins.means(effects.values**2)
    for j in np.flatnonzero(effects.active & (reach < rules.least)).tolist():
        axis = axes.bins.axis(j)
        carrier.each(rows.leave_effect, j, -effects.values[axis])
        effects.values[axis] = effects.freedom[j] = 0.0
        effects.active[j] = False
