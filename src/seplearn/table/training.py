"""Training rows: a table, a target and weights that belong together."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils import check_array, column_or_1d
from sklearn.utils.validation import _check_sample_weight

from seplearn.kernels.arrays import FloatArray
from seplearn.table.columns import Table, open_table, read_target


def training_rows(X: Any, y: Any, sample_weight: Any) -> tuple[Table, FloatArray, FloatArray]:
    """The table, target and weights of the rows with a positive weight, all checked."""
    table = open_table(X)
    if y is None:
        raise ValueError("TSLRegressor requires y to be passed, but the target y is None")
    y = column_or_1d(_numbers(read_target(y)), warn=True)
    if len(y) != table.n_rows:
        raise ValueError(
            f"Found input variables with inconsistent numbers of samples: X has {table.n_rows}, "
            f"y has {len(y)}"
        )
    if sample_weight is not None and not np.asarray(sample_weight).any():
        raise ValueError("sample_weight must have a positive sum, got zeros only")
    weight = _check_sample_weight(sample_weight, y, dtype=np.float64, ensure_non_negative=True)
    if not weight.all():
        table, y, weight = table.rows(weight > 0), y[weight > 0], weight[weight > 0]
    return table, y, _as_counts(weight)


def _as_counts(weight: FloatArray) -> FloatArray:
    """Weights as they are when they can count rows, else divided by their mean."""
    size = float(weight.max())
    share = float(np.mean(weight / size))  # of the largest weight: a sum of weights may overflow
    return weight if 0.5 <= share * size <= 10.0 else weight / size / share


def _numbers(y: Any) -> FloatArray:
    try:
        array: FloatArray = check_array(y, ensure_2d=False, dtype=np.float64, input_name="y")
    except (TypeError, ValueError) as error:
        if "could not convert" in str(error):
            raise ValueError(f"y must hold numbers: {error}") from error
        raise
    return array


def target_scale(y: FloatArray, weight: FloatArray) -> float:
    """The weighted standard deviation of y; for a constant y its size, for zeros one."""
    size = float(np.abs(y).max()) or 1.0
    unit = y / size  # squares of unit values neither overflow nor underflow
    mean = float(np.average(unit, weights=weight))
    deviation = float(np.sqrt(np.average((unit - mean) ** 2, weights=weight)))
    return size * (deviation if deviation > 1e-14 else 1.0)
