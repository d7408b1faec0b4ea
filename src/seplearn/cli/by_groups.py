"""What ``seplearn evaluate --by`` tells of the groups of a column."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pyarrow as pa

from seplearn import explain
from seplearn._numerals import count, percent
from seplearn.cli.model_rows import Outcomes
from seplearn.cli.text import number, shortened, signed
from seplearn.cli.text import table as text_table
from seplearn.estimators.base import SeparationEstimator
from seplearn.estimators.classifier import TSLClassifier
from seplearn.explain.decisions import Decisions
from seplearn.explain.segments import Segments
from seplearn.model.evaluation import Confusion, confusion_at

_MOST_SHOWN = 50


def by_groups(
    estimator: SeparationEstimator, rows: Outcomes, by: str, label: Any = None
) -> Segments:
    """Errors in the groups of a column; a feature of the model is read as the model reads it."""
    return explain.segments(
        estimator, with_column(rows, by), rows.y, rows.weight,
        by=by, offset=rows.offset, label=label,
    )  # fmt: skip


def confusion_of(
    estimator: SeparationEstimator, rows: Outcomes, threshold: float
) -> Confusion | None:
    """How often either of two classes is called either way, counted row by row; else nothing."""
    if not isinstance(estimator, TSLClassifier) or len(estimator.classes_) != 2:
        return None
    second = estimator._outcomes(rows.y)
    known = ~np.isnan(second)
    weight = np.ones(len(second)) if rows.weight is None else np.asarray(rows.weight)
    probability = estimator.predict_proba(rows.features, rows.offset)[:, 1]
    return confusion_at(threshold, probability[known], second[known] == 1.0, weight[known])


def calls_by_groups(
    estimator: SeparationEstimator, rows: Outcomes, by: str, threshold: float
) -> Decisions | None:
    """How often the groups are called the second of two classes; of numbers nothing."""
    if len(getattr(estimator, "classes_", ())) != 2:
        return None
    return explain.decisions(
        estimator, with_column(rows, by), rows.y, rows.weight,
        by=by, threshold=threshold, offset=rows.offset,
    )  # fmt: skip


def with_column(rows: Outcomes, by: str) -> pa.Table:
    """The features, and beside them a column that the model may not know."""
    features = rows.features
    if by not in features.column_names:
        features = features.append_column(by, _plain(rows.kept))
    return features


def _plain(column: Any) -> Any:
    """Texts as levels; what is a number in every row of a CSV as numbers."""
    try:
        return column.cast(pa.float64()) if pa.types.is_string(column.type) else column
    except pa.ArrowInvalid:
        return column


def groups_text(groups: Segments) -> str:
    """A line per group, the worst first."""
    shown = range(min(len(groups.rows), _MOST_SHOWN))
    rows = [
        [
            shortened(groups.segments[k], 28),
            f"{groups.rows[k]:,}",
            number(groups.error[k]),
            _band(groups.error_lower[k], groups.error_upper[k]),
            number(groups.prediction[k]),
            percent(groups.outcome[k]) if groups.outcome_is_share else number(groups.outcome[k]),
            signed(groups.residual[k]),
        ]
        for k in shown
    ]
    words = ("predicted", "not above" if groups.outcome_is_share else "actual")
    if groups.is_of_likeliest:
        words = ("certainty", "right")
    head = (
        shortened(groups.features[0], 28),
        "rows",
        groups.measure,
        "90 % band",
        *words,
        "off by",
    )
    rest = len(groups.rows) - len(rows)
    more = f"\nand {count(rest, 'other group')}, all of them in --json" if rest else ""
    return text_table(head, rows, right=(1, 2, 3, 4, 5, 6)) + more


def calls_text(calls: Decisions) -> str:
    """A line per group, in their own order."""
    shown = range(min(len(calls.groups), _MOST_SHOWN))
    shares = (calls.called, calls.actual, calls.found, calls.wrong)
    rows = [
        [
            shortened(calls.groups[k], 28), f"{calls.rows[k]:,}",
            *("" if math.isnan(share[k]) else percent(share[k]) for share in shares),
        ]
        for k in shown
    ]  # fmt: skip
    label = shortened(calls.label, 20)
    head = [shortened(calls.feature, 28), "rows", f"called {label}", "actual", "found", "wrongly"]
    rest = len(calls.groups) - len(rows)
    more = f"\nand {count(rest, 'other group')}, all of them in --json" if rest else ""
    return text_table(head, rows, right=(1, 2, 3, 4, 5)) + more


def calls_as_json(calls: Decisions) -> dict[str, object]:
    """All numbers."""
    return {
        "label": calls.label, "threshold": calls.threshold, "overall": calls.overall,
        "groups": _rows_as_json(calls),
    }  # fmt: skip


def _band(low: float, high: float) -> str:
    return "" if math.isnan(low) else f"{number(low)} to {number(high)}"


def groups_as_json(groups: Segments) -> dict[str, object]:
    """All numbers."""
    rows = _rows_as_json(groups)
    return {"measure": groups.measure, "overall": groups.overall, "groups": rows}


def _rows_as_json(result: Decisions | Segments) -> list[dict[str, object]]:
    columns = {name: list(values) for name, values in result._columns().items()}
    return [
        {
            name: value if isinstance(value, str) else value.item()
            for name, value in zip(columns, row, strict=True)
        }
        for row in zip(*columns.values(), strict=True)
    ]
