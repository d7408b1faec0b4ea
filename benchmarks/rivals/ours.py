"""Our own models, in the presets the README speaks of."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from benchmarks.rivals.interface import Maker, OneOf, Real, Rival, Whole
from benchmarks.tasks import CLASSES, COUNTS, QUANTILES, REGRESSION


def _tsl(preset: dict[str, Any]) -> Maker:
    def make(parameters: dict[str, Any], seed: int) -> Any:
        from seplearn import TSLRegressor

        return TSLRegressor(**({"random_state": seed, "n_jobs": -1} | preset | parameters))

    return make


def _classes(parameters: dict[str, Any], seed: int) -> Any:
    from seplearn import TSLClassifier

    return TSLClassifier(**({"random_state": seed, "n_jobs": -1} | parameters))


def _quantile(parameters: dict[str, Any], seed: int) -> Any:
    level = parameters.pop("level")
    return _tsl({"loss": "quantile", "quantile": level})(parameters, seed)


def _another_seed(parameters: dict[str, Any], seed: int) -> Any:
    return _tsl({})(parameters, seed + 1)


def _paper(parameters: dict[str, Any], seed: int) -> Any:
    from seplearn import TSLRegressor

    return TSLRegressor.paper(random_state=seed, n_jobs=-1, **parameters)


def _facts(model: Any) -> dict[str, float]:
    """How much there is to read, and how hard that is."""
    last = model.history_[-1].cancellation if model.history_ else None
    stages = _stages(model)
    used = [len(stage.features(model.model_.bins)) for stage in stages]
    turns = model.turning_points_
    return {
        "stages": len(stages),
        "cancellation": 1.0 if last is None else last,
        "reading_size": model.reading_size_,
        "features": model.n_features_in_,
        "features_per_stage": float(np.median(used)) if used else 0.0,
        "turning_points": float(np.median(turns)) if len(turns) else 0.0,
    }


def _stages(model: Any) -> list[Any]:
    """All stages; of more than two classes each has its own."""
    groups = [own if isinstance(own, tuple) else (own,) for own in model.stages_]
    return [stage for group in groups for stage in group]


def _rival(name: str, makers: Maker | Mapping[str, Maker], **options: Any) -> Rival:
    by_kind = makers if isinstance(makers, Mapping) else {REGRESSION: makers}
    return Rival(name, by_kind, ("seplearn", "numba"), warm_up=True, facts=_facts, **options)


_TEN = {"n_stages": 10, "early_stopping": False}
SPACE = {
    "early_stopping": OneOf((False,)),  # the number of stages is tuned like the rest
    "n_stages": Whole(4, 32),
    "n_starts": Whole(1, 2),
    "energy": Real(1e-3, 0.5, log=True),
    "colsample": Real(0.4, 1.0),
    "n_splits": Whole(15, 80),
    "min_interval_samples": Whole(2, 40),
    "max_bins": OneOf((127, 255, 511, 1023)),
}
DEFAULT = {
    REGRESSION: _tsl({}),
    CLASSES: _classes,
    COUNTS: _tsl({"loss": "poisson"}),
    QUANTILES: _quantile,
}
RIVALS = (
    _rival("seplearn", DEFAULT, space=SPACE),
    _rival("seplearn, another seed", _another_seed),
    _rival("seplearn, 4 starts", _tsl({"n_starts": 4})),
    _rival("seplearn, 2 stages", _tsl({"n_stages": 2})),
    _rival("seplearn, main effects only", _tsl({"n_stages": 0})),
    _rival("seplearn, 10 stages", _tsl(_TEN)),
    _rival("seplearn, 10 stages, free", _tsl(_TEN | {"energy": 0.007})),
    _rival("seplearn, paper", _paper),
)
