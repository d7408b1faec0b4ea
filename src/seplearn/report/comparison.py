"""What the page of two models shows, as plain numbers and texts."""

from __future__ import annotations

from importlib.metadata import version
from typing import Any

import numpy as np

from seplearn.explain.axes import row_texts
from seplearn.explain.compare import Comparison
from seplearn.explain.response import Response
from seplearn.explain.subject import Subject
from seplearn.export.describe import describe_feature
from seplearn.report.encoding import doubles, encoded
from seplearn.table.columns import open_table

_MOST_POINTS = 1_000
_MOST_COLUMNS = 8


def comparison_content(
    comparison: Comparison, first: Subject, X: Any, title: str | None
) -> dict[str, Any]:
    """Everything the scripts of the page read; the model in it is empty, as it predicts nothing."""
    n = comparison.predictions.shape[1]
    some = np.arange(min(n, _MOST_POINTS)) * n // min(n, _MOST_POINTS)
    spread = float(np.std(comparison.predictions[0]))
    name_of = f"{comparison.models[0]} and {comparison.models[1]}"
    return {
        "title": title or f"{name_of}, side by side",
        "library": version("seplearn"),
        "features": [],
        "sums": [
            {
                "intercept": 0.0,
                "effects": None,
                "effect_bands": None,
                "stages": [],
                "spread": spread,
            }
        ],
        "link": "identity",
        "classes": None,
        "spread": spread,
        "models": list(comparison.models),
        "response": comparison.response,
        "quantity": comparison.quantity,
        "sentences": list(comparison.sentences),
        "scores": None if comparison.scores is None else list(comparison.scores),
        "points": [doubles(part) for part in comparison.predictions[:, some]],
        "names": list(comparison.names),
        "sizes": comparison.sizes.tolist(),
        "curves": [
            {"name": name, "size": float(size), "pair": [_curve(one) for one in pair]}
            for name, size, pair in zip(
                comparison.names, comparison.sizes, comparison.curves, strict=False
            )
        ],
        "rows": _rows(comparison, first, X),
    }


def _curve(response: Response | None) -> dict[str, Any] | None:
    if response is None:
        return None
    feature = describe_feature(response.name, response.axis, response.frequencies)
    return {
        "feature": encoded(feature),
        "average": doubles(response.average),
        "mean": response.mean,
    }


def _rows(comparison: Comparison, first: Subject, X: Any) -> list[dict[str, Any]]:
    """The rows that differ most, with the values of the features that make them differ."""
    table = open_table(X)
    chosen = np.zeros(table.n_rows, dtype=bool)
    chosen[comparison.worst] = True
    columns = first.schema.places_in(table, first.owner)
    texts = row_texts(first.model.bins.axes, table.rows(chosen), columns)
    place = {int(row): k for k, row in enumerate(np.flatnonzero(chosen))}
    shown = [name for name in comparison.names if name in first.names][:_MOST_COLUMNS]
    found = []
    for k, row in enumerate(comparison.worst.tolist()):
        values = texts[place[row]]
        found.append(
            {
                "row": row,
                "predictions": comparison.predictions[:, row].tolist(),
                "feature": comparison.names[int(np.abs(comparison.worst_values[k]).argmax())],
                "values": [[name, values[first.names.index(name)]] for name in shown],
            }
        )
    return found
