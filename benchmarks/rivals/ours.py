"""Our own models, in the presets the README speaks of."""

from __future__ import annotations

from typing import Any

from benchmarks.rivals.interface import OneOf, Real, Rival, Whole


def _tsl(preset: dict[str, Any]) -> Any:
    def make(parameters: dict[str, Any], seed: int) -> Any:
        from seplearn import TSLRegressor

        return TSLRegressor(random_state=seed, n_jobs=-1, **(preset | parameters))

    return make


def _paper(parameters: dict[str, Any], seed: int) -> Any:
    from seplearn import TSLRegressor

    return TSLRegressor.paper(random_state=seed, n_jobs=-1, **parameters)


SPACE = {
    "n_stages": Whole(8, 64),
    "n_starts": Whole(1, 4),
    "energy": Real(1e-3, 0.5, log=True),
    "colsample": Real(0.4, 1.0),
    "n_splits": Whole(15, 80),
    "min_interval_samples": Whole(2, 40),
    "max_bins": OneOf((127, 255, 511, 1023)),
}
RIVALS = (
    Rival("seplearn", _tsl({}), ("seplearn",), space=SPACE),
    Rival("seplearn, 2 stages", _tsl({"n_stages": 2}), ("seplearn",)),
    Rival("seplearn, 10 stages", _tsl({"n_stages": 10, "early_stopping": False}), ("seplearn",)),
    Rival("seplearn, paper", _paper, ("seplearn",)),
)
