"""The model as a JSON document, for readers without this library."""

from __future__ import annotations

from typing import Any

from seplearn.model.model import SeparationModel
from seplearn.table.binning import NumericAxis
from seplearn.table.schema import Schema

JSON_VERSION = 1


def to_plain(model: SeparationModel, schema: Schema) -> dict[str, Any]:
    """The model as plain numbers, strings and lists; see ``docs/model-json.md``."""
    bins = model.bins
    features: list[dict[str, Any]] = []
    for name, axis in zip(schema.labels, bins.axes, strict=True):
        if isinstance(axis, NumericAxis):
            features.append({"name": name, "kind": "numeric", "edges": axis.edges.tolist()})
        else:
            levels, rare = list(axis.levels), list(axis.rare)
            features.append({"name": name, "kind": "categorical", "levels": levels, "rare": rare})
    stages = [
        [
            {
                "coefficient": branch.coefficient,
                "factors": [branch.factors(bins.axis(j)).tolist() for j in range(bins.n_axes)],
            }
            for branch in stage.branches
        ]
        for stage in model.stages
    ]
    head = {"format": "seplearn-json", "version": JSON_VERSION, "intercept": model.intercept}
    return head | {"features": features, "stages": stages}
