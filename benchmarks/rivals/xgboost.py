"""XGBoost."""

from __future__ import annotations

from typing import Any

from benchmarks.rivals.interface import Real, Rival, Space, Whole


def make(parameters: dict[str, Any], seed: int) -> Any:
    from xgboost import XGBRegressor

    fixed = {"random_state": seed, "enable_categorical": True, "tree_method": "hist"}
    return XGBRegressor(**(fixed | parameters))


SPACE: Space = {
    "n_estimators": Whole(100, 999),
    "learning_rate": Real(0.01, 0.3),
    "max_depth": Whole(3, 9),
    "subsample": Real(0.5, 1.0),
    "colsample_bylevel": Real(0.5, 1.0),
    "gamma": Real(0.001, 5.0, log=True),
    "reg_alpha": Real(0.001, 10.0, log=True),
    "reg_lambda": Real(0.0, 10.0),
}
RIVALS = (Rival("xgboost", make, ("xgboost",), space=SPACE, published="xgboost_blackbox"),)
