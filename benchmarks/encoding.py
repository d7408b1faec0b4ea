"""Tables for models that take numbers only; all of it is learned from the training rows."""

from __future__ import annotations

import numpy as np
import pandas as pd

from benchmarks.data import target_means


def numbers_only(
    X: pd.DataFrame, y: np.ndarray, X_test: pd.DataFrame
) -> tuple[np.ndarray, np.ndarray]:
    """Both parts as float arrays; what is learned for it is learned from the training part.

    Levels become the mean of the target; of a target of several columns, the mean of each.
    """
    train, test = [], []
    for name in X:
        column, column_test = X[name], X_test[name]
        if isinstance(column.dtype, pd.CategoricalDtype):
            for target in y.reshape(len(y), -1).T:
                means = target_means(column, target)
                by_level = pd.Series(means, index=column.astype(object)).groupby(level=0).first()
                fill = float(np.mean(target))
                train.append(_filled(pd.Series(means), fill))
                test.append(_filled(column_test.astype(object).map(by_level), fill))
        else:
            fill = float(column.median())
            train.append(_filled(column, fill))
            test.append(_filled(column_test, fill))
    return np.ascontiguousarray(np.column_stack(train)), np.ascontiguousarray(np.column_stack(test))


def _filled(column: pd.Series, value: float) -> np.ndarray:
    return column.astype(float).fillna(value).to_numpy()
