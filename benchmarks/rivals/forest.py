"""Random forest of scikit-learn."""

from __future__ import annotations

from typing import Any

from benchmarks.rivals.interface import Real, Rival, Space, Whole


def make(parameters: dict[str, Any], seed: int) -> Any:
    from sklearn.ensemble import RandomForestRegressor

    return RandomForestRegressor(random_state=seed, n_jobs=-1, **parameters)


SPACE: Space = {
    "n_estimators": Whole(100, 999),
    "max_depth": Whole(5, 19),
    "min_samples_split": Whole(2, 19),
    "min_samples_leaf": Whole(1, 9),
    "max_features": Real(0.3, 0.8),
}
RIVALS = (
    Rival(
        "random forest", make, ("scikit-learn",), takes_levels=False, space=SPACE,
        published="random_forest_blackbox",
    ),
)  # fmt: skip
