"""The model as a JSON document; ``docs/model-json.md`` tells how to read it."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from seplearn.export.describe import describe
from seplearn.kernels.arrays import FloatArray
from seplearn.losses import IDENTITY
from seplearn.model.classes import ClassModels, Model
from seplearn.model.model import SeparationModel
from seplearn.table.schema import Schema

# 2: main effects. 3: a link. 4: a sum for each of several classes. A model is written in the oldest
# version that can tell it, which older readers know.
JSON_VERSION = 4
_SUM = ("intercept", "stages", "effects")  # of every class
_FEATURE = {"numeric": ("name", "kind", "edges"), "categorical": ("name", "kind", "levels", "rare")}


def to_plain(model: Model, schema: Schema, classes: list[Any] | None = None) -> dict[str, Any]:
    """The model as plain numbers, strings and lists; ``classes`` are named where each has a sum."""
    if isinstance(model, ClassModels):
        own = [to_plain(one, schema) for one in model.models]
        return {
            "format": "seplearn-json",
            "version": JSON_VERSION,
            "features": own[0]["features"],
            "classes": classes or list(range(len(own))),
            "sums": [{key: one[key] for key in _SUM if key in one} for one in own],
            "link": model.link.name,
        }
    description = describe(model, schema.labels)
    inner = description["offset"][1:-1]
    stages = [
        [
            {
                "coefficient": product["sign"] * math.exp(product["log_scale"]),
                "factors": [part.tolist() for part in np.split(_factors(product), inner)],
            }
            for product in stage["products"]
        ]
        for stage in description["stages"]
    ]
    effects = description["effects"]
    plain = {
        "format": "seplearn-json",
        "version": _version(model),
        "intercept": description["intercept"],
        "features": [_feature(feature) for feature in description["features"]],
        "stages": stages,
    }
    if effects is not None:
        plain["effects"] = [part.tolist() for part in np.split(effects, inner)]
    if model.link is not IDENTITY:
        plain["link"] = model.link.name
    return plain


def _version(model: SeparationModel) -> int:
    if model.link is not IDENTITY:
        return 3
    return 1 if model.effects is None else 2


def _feature(description: dict[str, Any]) -> dict[str, Any]:
    """The part of a feature that tells the bin of a value."""
    chosen = {key: description[key] for key in _FEATURE[description["kind"]]}
    return {k: v if isinstance(v, str) else np.asarray(v).tolist() for k, v in chosen.items()}


def _factors(product: dict[str, Any]) -> FloatArray:
    sizes: FloatArray = np.exp(product["log_factors"])
    negative = product["negative"]
    return sizes if negative is None else np.where(negative, -sizes, sizes)
