"""A model in terms that any language knows: numbers, texts, lists, and arrays of numbers.

Whatever writes a model for others, as JSON or into the page of a report, writes this description or
a part of it, and decides only what an array looks like.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from seplearn.kernels.arrays import FloatArray
from seplearn.model.model import SeparationModel
from seplearn.model.stage import Branch, Stage
from seplearn.table.binning import Axis, Bins


def describe(model: SeparationModel, names: Sequence[str]) -> dict[str, Any]:
    """The features and their bins, the constant, main effects (None without any), stages, edits.

    Curves are flat arrays in which the bins of all features lie one after the other, those of
    feature j at ``offset[j]:offset[j + 1]``.
    """
    bins = model.bins
    return {
        "offset": bins.offset,
        "features": [
            describe_feature(name, axis, bins.frequencies[bins.axis(j)])
            for j, (name, axis) in enumerate(zip(names, bins.axes, strict=True))
        ],
        "intercept": model.intercept,
        "effects": model.effects,
        "stages": [describe_stage(stage, bins) for stage in model.stages],
        "edits": [record.to_plain() for record in model.edits],
    }


def describe_feature(name: str, axis: Axis, frequencies: FloatArray) -> dict[str, Any]:
    """A feature and what its bins mean."""
    description = axis.describe()
    shared = {"name": name, "kind": description.kind, "frequencies": frequencies}
    if description.kind == "categorical":
        return shared | {
            "levels": description.levels,
            "rare": description.rare,
            "other_names": description.other_names,
        }
    return shared | {
        "edges": description.edges,
        "bounds": description.bounds,
        "values": description.values[:-1],
        "has_few_values": description.has_few_values,
        "range": np.array(description.range or (-np.inf, np.inf)),
    }


def describe_stage(stage: Stage, bins: Bins) -> dict[str, Any]:
    """What a stage is made of, and how it is read.

    ``features`` are those it depends on; ``log_backbone`` and ``tilt`` are None where it has none.
    """
    return {
        "kind": stage.kind,
        "features": stage.features(bins),
        "log_backbone": stage.log_backbone,
        "tilt": stage.tilt,
        "products": [_product(branch) for branch in stage.branches],
    }


def _product(branch: Branch) -> dict[str, Any]:
    return {
        "sign": branch.coefficient_sign,
        "log_scale": branch.log_scale if branch.coefficient_sign else 0.0,
        "log_factors": branch.log_factors,
        "negative": branch.negative,
    }
