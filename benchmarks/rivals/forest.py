"""Random forest of scikit-learn."""

from __future__ import annotations

from typing import Any

from benchmarks.rivals.interface import Real, Rival, Space, Whole
from benchmarks.rivals.rates import Rates
from benchmarks.tasks import CLASSES, COUNTS, REGRESSION


def make(parameters: dict[str, Any], seed: int) -> Any:
    from sklearn.ensemble import RandomForestRegressor

    return RandomForestRegressor(random_state=seed, n_jobs=-1, **parameters)


def classes(parameters: dict[str, Any], seed: int) -> Any:
    from sklearn.ensemble import RandomForestClassifier

    return RandomForestClassifier(random_state=seed, n_jobs=-1, **parameters)


def counts(parameters: dict[str, Any], seed: int) -> Any:
    return Rates(make({"criterion": "poisson"} | parameters, seed))


SPACE: Space = {
    "n_estimators": Whole(100, 999),
    "max_depth": Whole(5, 19),
    "min_samples_split": Whole(2, 19),
    "min_samples_leaf": Whole(1, 9),
    "max_features": Real(0.3, 0.8),
}
MAKERS = {REGRESSION: make, CLASSES: classes, COUNTS: counts}
RIVALS = (
    Rival(
        "random forest", MAKERS, ("scikit-learn",), takes_levels=False, space=SPACE,
        published="random_forest_blackbox",
    ),
)  # fmt: skip
