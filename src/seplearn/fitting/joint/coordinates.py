"""Between the curves of a joint fit, backbone and tilt, and the branches of a model."""

from __future__ import annotations

import numpy as np

from seplearn.fitting.joint.curves import Axes, Curves, Effects, StageCurves
from seplearn.fitting.joint.setup import first_penalties
from seplearn.fitting.options import AllRows, FitOptions
from seplearn.kernels.arrays import FloatArray
from seplearn.kernels.isotonic import nearest_monotone
from seplearn.model.model import SeparationModel
from seplearn.model.stage import Branch, Stage


def to_model(curves: Curves, axes: Axes) -> SeparationModel:
    """From backbone and tilt to branches."""
    stages = tuple(to_stage(stage, axes) for stage in curves.stages)
    effects = None
    if curves.effects.active.any():
        effects = curves.effects.values.copy()
        axes.bins.bridge_gaps(effects)
        _make_exact(effects, axes, 1.0)
    return SeparationModel(axes.bins, curves.intercept, stages, effects=effects)


def to_stage(stage: StageCurves, axes: Axes) -> Stage:
    """From backbone and tilt of a stage to its branches."""
    pair: list[Branch | None] = []
    both = np.array([stage.curves[0] + stage.curves[1], stage.curves[0] - stage.curves[1]])
    axes.bins.bridge_gaps(both)
    for sign, there, log_factors in zip((1.0, -1.0), stage.present, both, strict=True):
        _make_exact(log_factors, axes, sign)
        scale = float(stage.scale[0] + sign * stage.scale[1])
        pair.append(Branch(sign, scale, log_factors) if there else None)
    return Stage(*pair)


def curves_of(
    model: SeparationModel, effects: Effects, data: AllRows, options: FitOptions, axes: Axes
) -> Curves:
    """The curves of a model in the coordinates of a fit; ``effects`` are what it would start with.

    They are as smooth as the fit of the model found them, or, where that is not known, as new ones
    are. They keep the constraints.
    """
    own = effects.copy()
    known = model.penalties
    if model.effects is not None:
        own.values = model.effects.copy()
        for j in axes.constrained:
            first, n_ordered, direction = axes.places[j]
            part = slice(first, first + n_ordered)
            nearest_monotone(own.values[part], axes.bins.frequencies[part] + 1e-12, direction)
        varies = np.isin(np.arange(data.bins.n_axes), axes.order)
        moves = np.logical_or.reduceat(own.values != 0.0, axes.offset[:-1])
        own.active = (own.active | moves) & varies
        if known is not None and options.smoothness == "auto":
            own.penalties[moves] = known.effects[moves]
    penalties = np.array([first_penalties(data, options)] * len(model.stages))
    if known is not None and options.smoothness == "auto":
        penalties = known.stages
    pairs = zip(model.stages, penalties, strict=True)
    stages = [_stage_curves(stage, mu, axes) for stage, mu in pairs if stage.active]
    return Curves(model.intercept, own, stages)


def _stage_curves(stage: Stage, penalties: FloatArray, axes: Axes) -> StageCurves:
    """A stage in the coordinates of its refinement; only curves that are not flat may move."""
    branches = [branch and monotone(branch, axes) for branch in stage.oriented]
    there = [branch for branch in branches if branch is not None]
    plus, minus = there[0], there[-1]
    n_axes = axes.bins.n_axes
    active = np.zeros((n_axes, 2), dtype=np.bool_)
    used = [j for j in stage.features(axes.bins) if j in axes.order]
    active[used] = (True, len(there) == 2)
    return StageCurves(
        curves=0.5
        * np.array([plus.log_factors + minus.log_factors, plus.log_factors - minus.log_factors]),
        scale=0.5 * np.array([plus.log_scale + minus.log_scale, plus.log_scale - minus.log_scale]),
        present=np.array([branch is not None for branch in branches]),
        active=active,
        penalties=penalties.copy(),
        curvature=np.zeros(2),
        freedom=np.zeros((n_axes, 2)),
        reach=np.zeros((n_axes, 2)),
    )


def monotone(branch: Branch, axes: Axes) -> Branch:
    """The branch with the nearest curves that keep the constraints."""
    curves = branch.log_factors.copy()
    for j in axes.constrained:
        first, n_ordered, direction = axes.places[j]
        part = slice(first, first + n_ordered)
        weight = axes.bins.frequencies[part] + 1e-12
        nearest_monotone(curves[part], weight, float(branch.coefficient_sign * direction))
    return Branch(branch.coefficient_sign, branch.log_scale, curves)


def _make_exact(values: FloatArray, axes: Axes, sign: float) -> None:
    """Take rounding out of constrained curves: none falls by an ulp where it must not."""
    for j in axes.constrained:
        first, n_ordered, direction = axes.places[j]
        part = slice(first, first + n_ordered)
        running = np.maximum if sign * direction > 0 else np.minimum
        values[part] = running.accumulate(values[part])
