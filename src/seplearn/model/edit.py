"""Models made of models: an average, a choice of stages."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from seplearn.model.model import SeparationModel


def mean_model(models: Sequence[SeparationModel]) -> SeparationModel:
    """The average of models, which is again a model: all stages, each divided by their number."""
    share = 1.0 / len(models)
    stages = tuple(stage.scaled(share) for model in models for stage in model.stages)
    intercept = sum(model.intercept for model in models) * share
    bags = tuple(bag for model in models for bag in model.bags)
    effects = [model.effects for model in models if model.effects is not None]
    return replace(
        models[0],
        intercept=intercept,
        stages=stages,
        bags=bags,
        effects=np.sum(effects, axis=0) * share if effects else None,
    )
