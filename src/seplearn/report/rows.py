"""Rows from which the what-if panel starts: of a table as they are, or the model's own bins."""

from __future__ import annotations

from typing import Any

import numpy as np

from seplearn.estimators.base import SeparationEstimator
from seplearn.kernels.arrays import FloatArray
from seplearn.model.classes import Model
from seplearn.table.binning import Axis
from seplearn.table.columns import Table, is_missing, level_name
from seplearn.table.description import AxisDescription


def given_rows(
    model: SeparationEstimator, table: Table, y: FloatArray | None, n_rows: int, seed: int
) -> list[dict[str, Any]]:
    """Up to ``n_rows`` rows of a table: the number, the values and, if known, the target."""
    columns = model._schema.columns_in(table, type(model).__name__)
    random = np.random.default_rng(seed)
    numbers = np.sort(random.permutation(table.n_rows)[:n_rows])
    chosen = np.zeros(table.n_rows, dtype=bool)
    chosen[numbers] = True
    if not len(numbers):
        return []
    part = table.rows(chosen)
    values = [
        [_plain(axis, value) for value in axis.read(part, column)]
        for axis, column in zip(model.model_.bins.axes, columns, strict=True)
    ]
    return [
        {
            "number": int(number),
            "values": list(row),
            "actual": None if y is None else _known(y[number]),
            "weight": 1.0,
        }
        for number, row in zip(numbers, zip(*values, strict=True), strict=True)
    ]


def reference_rows(model: Model, n_rows: int) -> list[dict[str, Any]]:
    """The rows that the model keeps: the number of a bin for every feature."""
    if model.reference is None:
        return []
    rows = model.reference.codes[:n_rows]
    features = [axis.describe() for axis in model.bins.axes]
    return [
        {
            "number": number,
            "values": [
                _in_bin(description, int(code))
                for description, code in zip(features, row, strict=True)
            ],
            "actual": None,
            "weight": float(model.reference.weight[number]),
        }
        for number, row in enumerate(rows)
    ]


def _known(value: float) -> float | None:
    return None if np.isnan(value) else float(value)


def _plain(axis: Axis, value: Any) -> Any:
    """A value as the page reads it; what JSON cannot write is written as a word."""
    if is_missing(value):
        return {"is": "missing"}
    if axis.kind == "categorical":
        return level_name(value)
    if np.isfinite(value):
        return float(value)
    return {"number": "Infinity" if value > 0 else "-Infinity"}


def _in_bin(description: AxisDescription, code: int) -> Any:
    meaning = description.meanings[code]
    if meaning == "range":
        return {"bin": code}
    return description.levels[code] if meaning == "level" else {"is": meaning}
