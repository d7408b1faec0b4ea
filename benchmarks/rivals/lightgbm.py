"""LightGBM."""

from __future__ import annotations

from typing import Any

from benchmarks.rivals.interface import Real, Rival, Space, Whole


def make(parameters: dict[str, Any], seed: int) -> Any:
    from lightgbm import LGBMRegressor

    return LGBMRegressor(random_state=seed, verbose=-1, **parameters)


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
RIVALS = (Rival("lightgbm", make, ("lightgbm",), space=SPACE, published="lightgbm_blackbox"),)
