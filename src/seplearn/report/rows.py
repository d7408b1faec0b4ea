"""Rows from which the what-if panel starts: of a table as they are, or the model's own bins."""

from __future__ import annotations

from typing import Any

import numpy as np

from seplearn.estimators.base import SeparationEstimator
from seplearn.model.model import SeparationModel
from seplearn.table.binning import Axis, NumericAxis
from seplearn.table.columns import Table, is_missing, level_name, read_target

MISSING, RARE, UNSEEN = "missing", "rare", "unseen"


def given_rows(
    model: SeparationEstimator, table: Table, y: Any, n_rows: int, seed: int
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
        _numbers(part, column) if isinstance(axis, NumericAxis) else _levels(part, column)
        for axis, column in zip(model.model_.bins.axes, columns, strict=True)
    ]
    targets = None if y is None else np.asarray(read_target(y), dtype=float)
    return [
        {
            "number": int(number),
            "values": list(row),
            "actual": None if targets is None else _known(targets[number]),
        }
        for number, row in zip(numbers, zip(*values, strict=True), strict=True)
    ]


def reference_rows(model: SeparationModel, n_rows: int) -> list[dict[str, Any]]:
    """The rows that the model keeps: the number of a bin for every feature."""
    if model.reference is None:
        return []
    rows = model.reference.codes[:n_rows]
    return [
        {
            "number": number,
            "values": [
                _in_bin(axis, int(code)) for axis, code in zip(model.bins.axes, row, strict=True)
            ],
            "actual": None,
        }
        for number, row in enumerate(rows)
    ]


def _known(value: float) -> float | None:
    return None if np.isnan(value) else float(value)


def _numbers(table: Table, column: int) -> list[Any]:
    """Numbers as the page reads them; what JSON cannot write is written as a word."""
    return [_number(float(value)) for value in table.numbers(column)]


def _number(value: float) -> Any:
    if np.isnan(value):
        return {"is": MISSING}
    return value if np.isfinite(value) else {"number": "Infinity" if value > 0 else "-Infinity"}


def _levels(table: Table, column: int) -> list[Any]:
    values = table.levels(column)
    return [{"is": MISSING} if is_missing(value) else level_name(value) for value in values]


def _in_bin(axis: Axis, code: int) -> Any:
    if isinstance(axis, NumericAxis):
        return {"is": MISSING} if code == axis.n_bins - 1 else {"bin": code}
    if code < len(axis.levels):
        return axis.levels[code]
    return {"is": (RARE, MISSING, UNSEEN)[code - len(axis.levels)]}
