"""Explainable Boosting Machine of the interpret package."""

from __future__ import annotations

from typing import Any

from benchmarks.rivals.interface import Real, Rival, Space, Whole
from benchmarks.rivals.rates import Rates
from benchmarks.tasks import CLASSES, COUNTS, REGRESSION


def make(parameters: dict[str, Any], seed: int) -> Any:
    from interpret.glassbox import ExplainableBoostingRegressor

    return ExplainableBoostingRegressor(random_state=seed, **parameters)


def classes(parameters: dict[str, Any], seed: int) -> Any:
    from interpret.glassbox import ExplainableBoostingClassifier

    return ExplainableBoostingClassifier(random_state=seed, **parameters)


def counts(parameters: dict[str, Any], seed: int) -> Any:
    return Rates(make({"objective": "poisson_deviance"} | parameters, seed))


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
MAKERS = {REGRESSION: make, CLASSES: classes, COUNTS: counts}
RIVALS = (Rival("ebm", MAKERS, ("interpret-core",), space=SPACE, published="ebm"),)
