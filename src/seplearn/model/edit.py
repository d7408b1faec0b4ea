"""Models made of models: an average, a choice of stages, another unit."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from seplearn.model.classes import ClassModels, Model
from seplearn.model.model import SeparationModel
from seplearn.model.record import EditRecord


def of_each(model: Model, change: Callable[[SeparationModel], SeparationModel]) -> Model:
    """A model changed; of several classes that of each."""
    return model.each(change) if isinstance(model, ClassModels) else change(model)


def with_replicates(model: Model, replicates: Sequence[Model]) -> Model:
    """The model with others as its bootstrap replicates."""
    if isinstance(model, SeparationModel):
        own = tuple(other for other in replicates if isinstance(other, SeparationModel))
        return replace(model, replicates=own)
    others = [other.models for other in replicates if isinstance(other, ClassModels)]
    pairs = zip(model.models, zip(*others, strict=True), strict=True)
    return ClassModels(tuple(replace(one, replicates=tuple(own)) for one, own in pairs))


def mean_of(models: Sequence[Model]) -> Model:
    """The average of models; of several classes the averages for each of them."""
    one = [model for model in models if isinstance(model, SeparationModel)]
    if one:
        return mean_model(one)
    each = zip(*(model.models for model in models if isinstance(model, ClassModels)), strict=True)
    return ClassModels(tuple(mean_model(own) for own in each))


def mean_model(models: Sequence[SeparationModel]) -> SeparationModel:
    """The average of models, which is again a model: all stages, each divided by their number."""
    return weighted_mean_model(models, [1.0 / len(models)] * len(models))


def weighted_mean_model(
    models: Sequence[SeparationModel], shares: Sequence[float]
) -> SeparationModel:
    """The average of models on the same bins, each counting by its positive share."""
    pairs = list(zip(models, shares, strict=True))
    effects = [share * model.effects for model, share in pairs if model.effects is not None]
    return replace(
        models[0],
        intercept=sum(share * model.intercept for model, share in pairs),
        stages=tuple(stage.scaled(share) for model, share in pairs for stage in model.stages),
        bags=tuple(bag for model in models for bag in model.bags),
        effects=np.sum(effects, axis=0) if effects else None,
        penalties=models[0].penalties if len(models) == 1 else None,
        spread=None,
    )


def with_edits(model: SeparationModel, edits: tuple[EditRecord, ...]) -> SeparationModel:
    """The model with other records of changes."""
    return replace(model, edits=edits)


def scaled(
    model: SeparationModel, factor: float, origin: float = 0.0, degree: int = 2
) -> SeparationModel:
    """The model times a positive number, and a constant added.

    Its losses on held-out rows are in the target's unit to the power of ``degree``.
    """
    return replace(
        model,
        intercept=model.intercept * factor + origin,
        stages=tuple(stage.scaled(factor) for stage in model.stages),
        replicates=tuple(scaled(other, factor, origin, degree) for other in model.replicates),
        bags=tuple(bag.scaled(factor) for bag in model.bags),
        effects=None if model.effects is None else model.effects * factor,
        size_paths=tuple(path.scaled(factor, degree) for path in model.size_paths),
        spread=model.spread and model.spread.scaled(factor, origin),
    )


def select_stages(model: SeparationModel, stages: Sequence[int]) -> SeparationModel:
    """The model with some of its stages, as they are; the constant and main effects stay."""
    return replace(
        model,
        stages=tuple(model.stages[s] for s in stages),
        replicates=tuple(select_stages(other, stages) for other in model.replicates),
        bags=tuple(model.bags[s] for s in stages) if model.bags else (),
        size_paths=(),
        penalties=None,
        spread=None,
    )
