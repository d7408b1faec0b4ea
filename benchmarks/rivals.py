"""The models we measure ourselves against, with their defaults, behind one small interface.

A rival is a function of (training table, y, test table, seed) that returns the test predictions.
Tables are pandas frames with categorical columns of dtype ``category``; each rival gets them in
the form its own documentation recommends. The imports are local: a rival that is not installed
is missing from a result, it does not end the run.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pandas as pd

from benchmarks.data import target_means

Rival = Callable[[pd.DataFrame, np.ndarray, pd.DataFrame, int], np.ndarray]


def lightgbm(X: pd.DataFrame, y: np.ndarray, X_test: pd.DataFrame, seed: int) -> np.ndarray:
    from lightgbm import LGBMRegressor

    return LGBMRegressor(random_state=seed, verbose=-1).fit(X, y).predict(X_test)


def xgboost(X: pd.DataFrame, y: np.ndarray, X_test: pd.DataFrame, seed: int) -> np.ndarray:
    from xgboost import XGBRegressor

    model = XGBRegressor(random_state=seed, enable_categorical=True, tree_method="hist")
    return model.fit(X, y).predict(X_test).astype(float)


def ebm(X: pd.DataFrame, y: np.ndarray, X_test: pd.DataFrame, seed: int) -> np.ndarray:
    from interpret.glassbox import ExplainableBoostingRegressor

    return ExplainableBoostingRegressor(random_state=seed).fit(X, y).predict(X_test)


def tensorsl(X: pd.DataFrame, y: np.ndarray, X_test: pd.DataFrame, seed: int) -> np.ndarray:
    """Numbers only: levels become their mean target, missing numbers the median, of training."""
    from tensorsl import TSLRegressor

    X, X_test = numbers_only(X, y, X_test)
    return TSLRegressor(seed=seed, verbosity=0).fit(X, y).predict(X_test)


RIVALS: dict[str, Rival] = {
    "lightgbm": lightgbm,
    "xgboost": xgboost,
    "tensorsl": tensorsl,
    "ebm": ebm,
}


def numbers_only(
    X: pd.DataFrame, y: np.ndarray, X_test: pd.DataFrame
) -> tuple[np.ndarray, np.ndarray]:
    """Both parts as float arrays; what is learned for it is learned from the training part."""
    train, test = [], []
    for name in X:
        column, column_test = X[name], X_test[name]
        if isinstance(column.dtype, pd.CategoricalDtype):
            means = pd.Series(target_means(column, y), index=column.astype(object)).groupby(level=0)
            column = pd.Series(target_means(column, y), index=column.index)
            column_test = column_test.astype(object).map(means.first())
            fill = float(np.mean(y))
        else:
            fill = float(column.median())
        train.append(column.astype(float).fillna(fill).to_numpy())
        test.append(column_test.astype(float).fillna(fill).to_numpy())
    return np.ascontiguousarray(np.column_stack(train)), np.ascontiguousarray(np.column_stack(test))
