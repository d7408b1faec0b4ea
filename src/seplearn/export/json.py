"""The model as a JSON document; ``docs/model-json.md`` tells how to read it.

Every other export is written from this document: what it does not tell, no export knows.
"""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from importlib.resources import files
from typing import Any

import numpy as np

from seplearn.export.describe import describe
from seplearn.model.classes import ClassModels, Model
from seplearn.table.schema import Schema

# 1 to 3 held factors as they are, which may be beyond the largest number, and flat ones too.
JSON_VERSION = 4
_FEATURE = {
    "numeric": ("name", "kind", "edges"),
    "categorical": ("name", "kind", "levels", "rare", "other_names"),
}
_INFINITY = "Infinity"  # JSON has no such number


def to_plain(model: Model, schema: Schema, classes: Sequence[Any] | None = None) -> dict[str, Any]:
    """The model as plain numbers, strings and lists.

    ``classes`` are the labels of a classifier, by default numbers where each has a sum. There is
    one sum in ``sums``, or one for every class, in their order.
    """
    if isinstance(model, ClassModels):
        models, classes = model.models, classes or range(len(model.models))
    else:
        models = (model,)
    descriptions = [describe(one, schema.labels) for one in models]
    offset = schema.offset
    return {
        "format": "seplearn-json",
        "version": JSON_VERSION,
        "target": schema.target,
        "features": [_feature(feature) for feature in descriptions[0]["features"]],
        "link": model.link.name,
        "classes": None if classes is None else list(classes),
        "offset": None if offset is None else offset._asdict(),
        "edits": descriptions[0]["edits"],
        "sums": [
            _sum(description, one.stage_names(schema.labels))
            for description, one in zip(descriptions, models, strict=True)
        ],
    }


def json_schema() -> dict[str, Any]:
    """The JSON Schema of what :func:`to_plain` gives.

    Examples
    --------
    >>> json_schema()["title"]
    'A model of seplearn, version 4'
    """
    text = files("seplearn.export").joinpath("model.schema.json").read_text(encoding="utf-8")
    schema: dict[str, Any] = json.loads(text)
    return schema


def as_float(edge: float | str) -> float:
    """An edge of a document as a number."""
    return math.inf if edge == _INFINITY else float(edge)


def _feature(description: dict[str, Any]) -> dict[str, Any]:
    """The part of a feature that tells the bin of a value."""
    chosen = {key: description[key] for key in _FEATURE[description["kind"]]}
    if "edges" in chosen:
        edges = chosen["edges"].tolist()
        chosen["edges"] = [_INFINITY if edge == math.inf else edge for edge in edges]
    return {key: list(v) if isinstance(v, tuple) else v for key, v in chosen.items()}


def _sum(description: dict[str, Any], names: Sequence[str]) -> dict[str, Any]:
    """A constant, main effects and stages; a curve that says nothing is left out."""
    effects, inner = description["effects"], description["offset"][1:-1]
    curves = [] if effects is None else np.split(effects, inner)
    return {
        "intercept": description["intercept"],
        "effects": [
            {"feature": j, "values": curve.tolist()}
            for j, curve in enumerate(curves)
            if curve.any()
        ],
        "stages": [
            {
                "name": name,
                "products": [_product(one, inner) for one in stage["products"] if one["sign"]],
            }
            for name, stage in zip(names, description["stages"], strict=True)
        ],
    }


def _product(product: dict[str, Any], inner: Any) -> dict[str, Any]:
    negative = product["negative"]
    sizes = np.split(product["log_factors"], inner)
    signs = [None] * len(sizes) if negative is None else np.split(negative, inner)
    curves = []
    for j, (size, sign) in enumerate(zip(sizes, signs, strict=True)):
        signs_told = {} if sign is None or not sign.any() else {"negative": sign.tolist()}
        if size.any() or signs_told:
            curves.append({"feature": j, "log_size": size.tolist()} | signs_told)
    return {"sign": int(product["sign"]), "log_scale": product["log_scale"], "curves": curves}


def level_bins(feature: dict[str, Any]) -> dict[str, int]:
    """The bin of every text that means a level of a categorical feature of a document.

    Missing values have the bin ``len(levels) + 1``, all other texts the one after it.
    """
    bins = {level: b for b, level in enumerate(feature["levels"])}
    bins |= dict.fromkeys(feature["rare"], len(feature["levels"]))
    return bins | {other: bins[level] for other, level in feature["other_names"].items()}
