"""Along which features the predictions of a model may only rise, or only fall, and do."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from seplearn._rules import is_real
from seplearn.editing import curves
from seplearn.model.classes import sums_of
from seplearn.model.model import SeparationModel

_ROUNDING = 1e-9  # by which a curve may leave its direction and be put back


def directions_of(
    estimator: Any, more: Sequence[tuple[str, Mapping[str, Any]]] = ()
) -> dict[int, int]:
    """Features along which the predictions of a fitted estimator may only rise (1) or fall (-1).

    By its parameter and by its edits, and by ``more`` operations with their arguments. Edits before
    a merge are those of one of several models: what all of them kept is in the parameter.
    """
    names = estimator._schema.labels
    directions = _asked_directions(estimator)
    edits = [(record.operation, record.arguments) for record in estimator.model_.edits]
    merges = [k for k, (operation, _) in enumerate(edits) if operation == "merge"]
    for operation, arguments in [*edits[merges[-1] + 1 if merges else 0 :], *more]:
        if operation == "make_monotone" and arguments["feature"] in names:
            directions[names.index(arguments["feature"])] = int(arguments["direction"])
    return directions


def kept_directions(estimator: Any) -> dict[int, int]:
    """Those of :func:`directions_of` along which the predictions really rise or fall.

    A parameter that was set after the fit says nothing of the model.
    """
    model = estimator.model_
    models = sums_of(model)
    return {
        j: way
        for j, way in directions_of(estimator).items()
        if all(keeps(one, j, way) for one in models)
    }


def keeps(model: SeparationModel, feature: int, direction: int) -> bool:
    """Whether the sum of a model only rises (1) or only falls (-1) with a numeric feature."""
    if model.bins.is_categorical[feature]:
        return False
    return _farthest(model, curves.monotone(model, feature, direction)) <= _ROUNDING


def _asked_directions(estimator: Any) -> dict[int, int]:
    """What the parameter ``monotonic_cst`` says of features, if the estimator has it."""
    given = getattr(estimator, "monotonic_cst", None)
    if not isinstance(given, Iterable):  # None, or set to what a fit would refuse
        return {}
    schema = estimator._schema
    asked = given.items() if isinstance(given, Mapping) else zip(schema.labels, given, strict=False)
    places = [(schema.place_of(name), value) for name, value in asked]
    return {
        j: int(value)
        for j, value in places
        if j is not None and is_real(value) and value in (-1, 1)
    }


def _farthest(model: SeparationModel, other: SeparationModel) -> float:
    """The largest difference between curves of two models with the same products."""
    far = 0.0
    for one, two in zip(model.stages, other.stages, strict=True):
        for branch, moved in zip(one.active, two.active, strict=True):
            far = max(far, float(np.abs(branch.log_factors - moved.log_factors).max()))
    if model.effects is not None and other.effects is not None:
        size = float(np.abs(model.effects).max()) or 1.0
        far = max(far, float(np.abs(model.effects - other.effects).max()) / size)
    return far
