"""Reading curves and predictions at chosen values, for models of any kind."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from seplearn.explain import Curve


def curve_at(curve: Curve, part: str, values: np.ndarray) -> np.ndarray:
    """One of a curve's parts ("plus", "minus", "backbone", "tilt") at values of the feature."""
    return getattr(curve, part)[bins_of(curve.axis, values)]


def bins_of(axis: Any, values: np.ndarray) -> np.ndarray:
    """The bins of values on a numeric axis: as many as there are edges at or below each."""
    return np.searchsorted(axis.edges, values, side="right")


def predictions_over(model: Any, rows: pd.DataFrame, **values: np.ndarray) -> np.ndarray:
    """Predictions of every row (first axis) with some features set to the k-th of their values.

    Their mean over the rows is partial dependence, for any model that predicts; a row of them is
    an individual conditional expectation.
    """
    n = len(next(iter(values.values())))
    repeated = rows.loc[rows.index.repeat(n)].reset_index(drop=True)
    for name, given in values.items():
        column = pd.Series(np.tile(np.asarray(given), len(rows)))
        repeated[name] = column.astype(rows[name].dtype)
    return np.asarray(model.predict(repeated)).reshape(len(rows), n)


def central_values(column: Any, n: int = 81, share: float = 0.98) -> np.ndarray:
    """Values at equal steps over the central share of a column: where rows are."""
    low, high = np.quantile(np.asarray(column), [0.5 - share / 2, 0.5 + share / 2])
    return np.linspace(low, high, n)


def wander(curve: np.ndarray) -> float:
    """Total movement of a curve over its range: 1 for a monotone one, more the more it turns."""
    reach = float(np.ptp(curve))
    return float(np.abs(np.diff(curve)).sum()) / reach if reach > 0 else 1.0
