"""LightGBM."""

from __future__ import annotations

from typing import Any

from benchmarks.rivals.interface import Real, Rival, Space, Whole
from benchmarks.rivals.rates import Rates
from benchmarks.tasks import CLASSES, COUNTS, QUANTILES, REGRESSION


def make(parameters: dict[str, Any], seed: int) -> Any:
    from lightgbm import LGBMRegressor

    return LGBMRegressor(random_state=seed, verbose=-1, **parameters)


def classes(parameters: dict[str, Any], seed: int) -> Any:
    from lightgbm import LGBMClassifier

    return LGBMClassifier(random_state=seed, verbose=-1, **parameters)


def counts(parameters: dict[str, Any], seed: int) -> Any:
    return Rates(make({"objective": "poisson"} | parameters, seed))


def quantile(parameters: dict[str, Any], seed: int) -> Any:
    level = parameters.pop("level")
    return make({"objective": "quantile", "alpha": level} | parameters, seed)


SPACE: Space = {
    "n_estimators": Whole(100, 999),
    "learning_rate": Real(0.01, 0.3),
    "num_leaves": Whole(31, 126),
    "max_depth": Whole(3, 9),
    "min_child_samples": Whole(5, 29),
    "subsample": Real(0.5, 1.0),
    "reg_alpha": Real(0.0, 10.0),
    "reg_lambda": Real(0.0, 10.0),
}
MAKERS = {REGRESSION: make, CLASSES: classes, COUNTS: counts, QUANTILES: quantile}
RIVALS = (Rival("lightgbm", MAKERS, ("lightgbm",), space=SPACE, published="lightgbm_blackbox"),)
