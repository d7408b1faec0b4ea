"""Explainable Boosting Machine of the interpret package."""

from __future__ import annotations

from typing import Any

from benchmarks.rivals.interface import Real, Rival, Space, Whole


def make(parameters: dict[str, Any], seed: int) -> Any:
    from interpret.glassbox import ExplainableBoostingRegressor

    return ExplainableBoostingRegressor(random_state=seed, **parameters)


SPACE: Space = {
    "learning_rate": Real(0.005, 0.05, log=True),
    "max_bins": Whole(64, 256),
    "min_samples_leaf": Whole(10, 200),
    "max_rounds": Whole(10, 500),
    "outer_bags": Whole(4, 20),
    "smoothing_rounds": Whole(0, 500),
    "interactions": Whole(0, 20),
    "max_interaction_bins": Whole(16, 64),
}
RIVALS = (Rival("ebm", make, ("interpret-core",), space=SPACE, published="ebm"),)
