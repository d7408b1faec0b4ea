"""Tables for models that take numbers only; all of it is learned from the training rows."""

from __future__ import annotations

import numpy as np
import pandas as pd

from benchmarks.data import target_means


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
