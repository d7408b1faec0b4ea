"""A model brought to other bins of the same features."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from seplearn.kernels.arrays import FloatArray, IntArray
from seplearn.model.model import SeparationModel
from seplearn.model.stage import Branch, Stage
from seplearn.table.binning import Axis, Bins, CategoricalAxis, NumericAxis


def rebinned(model: SeparationModel, bins: Bins) -> SeparationModel:
    """The model as near as curves on other bins allow: every bin has the old value at its middle.

    Levels keep their values; one that the model does not know begins as unseen ones are.
    """
    pairs = zip(bins.axes, model.bins.axes, model.bins.offset[:-1], strict=True)
    source = np.concatenate(
        [_bins_of_typical_values(axis, old) + first for axis, old, first in pairs]
    )
    return with_bins(replace(model, replicates=()), bins, source)


def with_bins(model: SeparationModel, bins: Bins, source: IntArray) -> SeparationModel:
    """The model on other bins, in each the value of the flat old bin that ``source`` names.

    What belongs to the old bins, bags and reference rows, is left out.
    """

    def moved(branch: Branch | None) -> Branch | None:
        if branch is None:
            return None
        curves, mean = _centred(branch.log_factors[source], bins)
        negative = None if branch.negative is None else branch.negative[source]
        return Branch(branch.coefficient_sign, branch.log_scale + mean, curves, negative)

    effects, level = None, 0.0
    if model.effects is not None:
        effects, level = _centred(model.effects[source], bins)
    return replace(
        model,
        bins=bins,
        intercept=model.intercept + level,
        stages=tuple(Stage(moved(stage.plus), moved(stage.minus)) for stage in model.stages),
        effects=effects,
        replicates=tuple(with_bins(other, bins, source) for other in model.replicates),
        bags=(),
        reference=None,
    )


def centred(curve: FloatArray, frequencies: FloatArray) -> tuple[FloatArray, float]:
    """A curve of mean zero over the training rows, and the mean; a flat one is exactly zero."""
    if curve.min() == curve.max():
        return np.zeros(len(curve)), float(curve[0])
    mean = float(np.sum(curve * frequencies))
    return curve - mean, mean


def _centred(curves: FloatArray, bins: Bins) -> tuple[FloatArray, float]:
    """Curves of mean zero on every axis, and the sum of the means."""
    out, total = curves.copy(), 0.0
    for j in range(bins.n_axes):
        part = bins.axis(j)
        out[part], mean = centred(curves[part], bins.frequencies[part])
        total += mean
    return out, total


def _bins_of_typical_values(axis: Axis, old: Axis) -> IntArray:
    """The old bin of what is typical of every new one."""
    if isinstance(axis, NumericAxis) and isinstance(old, NumericAxis):
        typical = axis.describe().values[:-1]
        inside = np.searchsorted(old.edges, typical, side="right")
        return np.append(inside, old.n_bins - 1).astype(np.int64)
    return old_levels(axis, old)


def old_levels(axis: Axis, old: Axis) -> IntArray:
    """The old bin of every level; rare, missing and unseen ones stay what they are."""
    assert isinstance(axis, CategoricalAxis)
    assert isinstance(old, CategoricalAxis)
    n = len(old.levels)
    places = {level: b for b, level in enumerate(old.levels)} | dict.fromkeys(old.rare, n)
    others = {other: places[level] for other, level in old.describe().other_names.items()}
    places = others | places
    # A truth value may be 0 or 1 in a model that was merged with one of truth values.
    other_name = {level: other for other, level in axis.describe().other_names.items()}
    named = [
        places.get(level, places.get(other_name.get(level, level), n + 2)) for level in axis.levels
    ]
    return np.array([*named, n, n + 1, n + 2], dtype=np.int64)
