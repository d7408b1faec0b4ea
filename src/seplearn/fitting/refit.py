"""New scales for the stages of a fitted model; their curves stay."""

from __future__ import annotations

from dataclasses import replace

from seplearn.fitting.options import Scalars, TrainingData
from seplearn.fitting.scalars import Projection
from seplearn.model.model import SeparationModel


def refit_scalars(
    model: SeparationModel, data: TrainingData, scalars: Scalars, fit_intercept: bool
) -> SeparationModel:
    """The model with the lambda and the constant that fit ``data`` best; it has no replicates.

    Main effects stay as they are: the stages are fitted to what these leave.
    """
    effects = model.effect_values(data.codes).sum(axis=1)
    rest = replace(data, target=data.target - effects)
    projection = Projection(rest, scalars, fit_intercept)
    unit = [stage.with_scalars(1.0, 1.0) for stage in model.stages]
    for stage in unit:
        for branch in stage.branches:
            projection.append(branch)
    scales = projection.solve()
    stages = tuple(scales.apply(unit))
    return replace(model, intercept=scales.intercept, stages=stages, replicates=())
