"""What a joint fit begins with: its axes, its first curves and penalties, the constant."""

from __future__ import annotations

import numpy as np

from seplearn.fitting.joint.curves import Axes, Curves, Effects
from seplearn.fitting.options import AllRows, FitOptions, TrainingData
from seplearn.fitting.smoothing import fixed_penalties, starting_penalties
from seplearn.kernels.arrays import FloatArray, RandomState
from seplearn.losses import IDENTITY, Loss
from seplearn.model.model import SeparationModel

# A target whose mean is farther from zero, in standard deviations, starts at its mean: a level that
# says nothing is not for products to carry.
_LARGEST_LEVEL = 4.0


def energy_price(data: TrainingData, options: FitOptions) -> float:
    """The price of the products' size.

    Without an intercept products must carry the level of the target, which is no cancellation;
    it would cost more than all the rest, so the price is in units of the target's mean square.
    Sweeps multiply it by the noise that is left. That is a share of the variance of the target, as
    its unit is the standard deviation; with a link it is made a share of the noise around a
    constant, or large counts would pay for being large.
    """
    loss = options.loss_function
    if loss.link is not IDENTITY:
        return options.energy / _around_constant(data, loss)[1]
    if options.fit_intercept:
        return options.energy
    return options.energy / float(np.average(data.target**2, weights=data.weight) or 1.0)


def make_axes(data: AllRows, options: FitOptions, hashes: RandomState) -> Axes:
    """The features as sweeps see them; the order of visits depends on content alone.

    An axis on which all rows share a bin has nothing to say and is not visited.
    """
    used = np.add.reduceat(data.bins.frequencies > 0, data.bins.offset[:-1], dtype=np.int64)
    order = np.argsort(hashes, kind="stable")
    varying = order[used[order] > 1]
    return Axes(
        bins=data.bins,
        direction=np.array(options.directions, dtype=np.int64),
        order=tuple(int(j) for j in (varying if len(varying) else order[:1])),
    )


def starting_curves(
    data: AllRows, options: FitOptions, main_effects: bool, order: tuple[int, ...]
) -> Curves:
    """A model without stages: zero, or the best constant for a target far from it or main effects.

    With a link it is always the best constant: zero says nothing about a sum of curves that is a
    log. As it is where rows only say whether they are above or below.
    """
    loss, some = options.loss_function, data.some
    best = best_constant(some, loss)
    may_be_zero = loss.link is IDENTITY and not loss.sees_sides and not main_effects
    far = not may_be_zero or abs(best) > _LARGEST_LEVEL
    n_axes = data.bins.n_axes
    varying = np.isin(np.arange(n_axes), order) if main_effects else np.zeros(n_axes, np.bool_)
    penalties = first_penalties(data, options)[:, 0]
    effects = Effects(
        values=np.zeros(int(data.bins.offset[-1])),
        active=varying,
        penalties=penalties.copy(),
        freedom=np.zeros(n_axes),
        first_penalties=penalties.copy(),
    )
    return Curves(best if options.fit_intercept and far else 0.0, effects)


def best_constant(data: TrainingData, loss: Loss) -> float:
    """What a model without curves should predict."""
    return loss.constant(data.target, data.weight, data.offset)


def first_penalties(data: AllRows, options: FitOptions) -> FloatArray:
    """Penalties of a new stage, shape (p, 2, 3)."""
    if not isinstance(options.smoothness, str):
        return fixed_penalties(data, options.smoothness)
    # In units of what rows say of a sum that is off by one: a row of a rare event says little.
    return starting_penalties(data) / _information(data.some, options.loss_function)


def _information(data: TrainingData, loss: Loss) -> float:
    """Curvature of the loss per row at the best constant, over the noise; 1 for squared error."""
    if loss.link is IDENTITY:
        return 1.0
    curvature, noise = _around_constant(data, loss)
    return curvature / noise


def _around_constant(data: TrainingData, loss: Loss) -> tuple[float, float]:
    """Curvature of a loss with a link per row at the best constant, and the noise around it.

    Of squared error both are 1, as the target is measured in its standard deviation.
    """
    level = best_constant(data, loss) + data.offset
    response, working = loss.working(data.target, level, data.weight)
    mass = float(data.weight.sum())
    found = float(np.sum(working * (response - level) ** 2)) / mass
    return float(working.sum()) / mass, max(loss.noise(found), 1e-300)


def constant_model(data: AllRows, options: FitOptions) -> SeparationModel:
    """The model without any stage: the best constant, or zero where there is no intercept."""
    if not options.fit_intercept:
        return SeparationModel(data.bins, 0.0, ())
    return SeparationModel(data.bins, best_constant(data.some, options.loss_function), ())
