"""XGBoost."""

from __future__ import annotations

from typing import Any

from benchmarks.rivals.interface import Real, Rival, Space, Whole
from benchmarks.rivals.rates import Rates
from benchmarks.tasks import CLASSES, COUNTS, QUANTILES, REGRESSION

FIXED = {"enable_categorical": True, "tree_method": "hist"}


def make(parameters: dict[str, Any], seed: int) -> Any:
    from xgboost import XGBRegressor

    return XGBRegressor(**(FIXED | {"random_state": seed} | parameters))


def classes(parameters: dict[str, Any], seed: int) -> Any:
    from xgboost import XGBClassifier

    return XGBClassifier(**(FIXED | {"random_state": seed} | parameters))


def counts(parameters: dict[str, Any], seed: int) -> Any:
    return Rates(make({"objective": "count:poisson"} | parameters, seed))


def quantile(parameters: dict[str, Any], seed: int) -> Any:
    level = parameters.pop("level")
    return make({"objective": "reg:quantileerror", "quantile_alpha": level} | parameters, seed)


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
MAKERS = {REGRESSION: make, CLASSES: classes, COUNTS: counts, QUANTILES: quantile}
RIVALS = (Rival("xgboost", MAKERS, ("xgboost",), space=SPACE, published="xgboost_blackbox"),)
