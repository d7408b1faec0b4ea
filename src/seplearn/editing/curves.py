"""Models with other curves: the bins of a curve changed, what is left centred again.

A function here takes a model and gives a new one. Centring moves a constant from a curve to the
scale of its product, or to the intercept, so that no prediction changes by it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TypeAlias

import numpy as np
from scipy.special import logsumexp

from seplearn.editing.places import Places
from seplearn.kernels.arrays import FloatArray, IntArray
from seplearn.kernels.isotonic import nearest_monotone
from seplearn.model.model import SeparationModel
from seplearn.model.rebin import centred
from seplearn.model.stage import Branch, Stage
from seplearn.table.binning import Bins

# Of the values of one curve in all its bins: logs of factors, or of signed ones the factors, or
# values of a main effect.
CurveChange: TypeAlias = Callable[[FloatArray], FloatArray]
BranchChange: TypeAlias = Callable[[Branch], Branch]

_EMPTY_BIN = 1e-12  # the weight of a bin without rows


def change_curves(
    model: SeparationModel, feature: int, places: Places, change: CurveChange
) -> SeparationModel:
    """The model with the curves of a feature changed, in some stages and as a main effect."""
    bins = model.bins

    def changed(branch: Branch) -> Branch:
        if feature not in branch.features(bins):
            return branch
        return _with_curve(branch, feature, bins, change)

    new = change_products(model, places.stages, changed)
    return change_effect(new, feature, change) if places.main else new


def change_products(
    model: SeparationModel, stages: tuple[int, ...], change: BranchChange
) -> SeparationModel:
    """The model with the products of some stages changed."""
    changed = tuple(
        Stage(stage.plus and change(stage.plus), stage.minus and change(stage.minus))
        if s in stages
        else stage
        for s, stage in enumerate(model.stages)
    )
    return replace(model, stages=changed)


def change_effect(model: SeparationModel, feature: int, change: CurveChange) -> SeparationModel:
    """The model with one main effect changed; its mean becomes part of the constant."""
    part = model.bins.axis(feature)
    if model.effects is None or not model.effects[part].any():
        return model
    values, mean = centred(change(model.effects[part]), model.bins.frequencies[part])
    effects = model.effects.copy()
    effects[part] = values
    return replace(model, effects=effects, intercept=model.intercept + mean)


def _with_curve(branch: Branch, feature: int, bins: Bins, change: CurveChange) -> Branch:
    part, frequencies = bins.axis(feature), bins.frequencies[bins.axis(feature)]
    curves, sign = branch.log_factors.copy(), branch.coefficient_sign
    if branch.negative is None:
        curves[part], mean = centred(change(curves[part]), frequencies)
        return replace(branch, log_factors=curves, log_scale=branch.log_scale + mean)
    factors = change(branch.factors(part))
    sizes = np.log(np.maximum(np.abs(factors), np.finfo(float).tiny))
    curves[part], mean = centred(sizes, frequencies)
    negative = branch.negative.copy()
    negative[part] = factors < 0
    if negative[part].all() and not curves[part].any():  # a number below zero is no curve
        negative[part], sign = False, -sign
    return Branch(sign, branch.log_scale + mean, curves, negative)


def flatten(model: SeparationModel, feature: int, places: Places) -> SeparationModel:
    """The model with flat curves of a feature; the mean of every product stays."""

    def flat(branch: Branch) -> Branch:
        if feature not in branch.features(model.bins):
            return branch
        part = model.bins.axis(feature)
        sign, log_mean = _mean_factor(model, branch, feature)
        curves = branch.log_factors.copy()
        curves[part] = 0.0
        negative = branch.negative
        if negative is not None:
            negative = negative.copy()
            negative[part] = False
        scale = branch.log_scale + log_mean if sign else 0.0
        return Branch(branch.coefficient_sign * sign, scale, curves, negative)

    new = change_products(model, places.stages, flat)
    if not places.main:
        return new
    frequencies = model.bins.frequencies[model.bins.axis(feature)]
    return change_effect(
        new, feature, lambda curve: np.full(len(curve), np.sum(curve * frequencies))
    )


def _mean_factor(model: SeparationModel, branch: Branch, feature: int) -> tuple[float, float]:
    """Sign and log of the number that a curve is replaced by, so that the product keeps its mean.

    Over the rows that the model keeps: the mean of the factor, where a row counts by what the rest
    of the product is. Without such rows, the mean over all training rows.
    """
    bins, rows = model.bins, model.reference
    part = bins.axis(feature)
    if rows is None:
        own = np.ones(part.stop - part.start)
        if branch.negative is not None:
            own = np.where(branch.negative[part], -1.0, 1.0)
        log, sign = logsumexp(
            branch.log_factors[part], b=own * bins.frequencies[part], return_sign=True
        )
        return (float(sign), float(log)) if np.isfinite(log) else (0.0, 0.0)
    flat_bins = rows.codes[:, feature].astype(np.int64) + part.start
    sizes = branch.log_sizes(rows.codes, bins)
    signs = branch.signs(rows.codes, bins) * rows.weight
    rest_signs = (
        signs
        if branch.negative is None
        else signs * np.where(branch.negative[flat_bins], -1.0, 1.0)
    )
    whole, whole_sign = logsumexp(sizes, b=signs, return_sign=True)
    rest, rest_sign = logsumexp(
        sizes - branch.log_factors[flat_bins], b=rest_signs, return_sign=True
    )
    if not (np.isfinite(whole) and np.isfinite(rest)):
        return 0.0, 0.0
    return float(whole_sign * rest_sign), float(whole - rest)


def monotone(model: SeparationModel, feature: int, direction: int) -> SeparationModel:
    """The model with the nearest curves such that the sum never falls (or rises) with a feature.

    As fits keep ``monotonic_cst``: factors that add rise and factors that subtract fall. The bin of
    missing values has no place in the order and stays as it is.
    """
    bins = model.bins
    n_ordered = int(bins.n_ordered[feature])
    weight = bins.frequencies[bins.axis(feature)][:n_ordered] + _EMPTY_BIN

    def towards(sign: float) -> CurveChange:
        def change(curve: FloatArray) -> FloatArray:
            out = curve.copy()
            nearest_monotone(out[:n_ordered], weight, sign)
            running = np.maximum if sign > 0 else np.minimum
            out[:n_ordered] = running.accumulate(out[:n_ordered])  # not by an ulp
            return out

        return change

    def changed(branch: Branch) -> Branch:
        if branch.coefficient_sign == 0.0 or feature not in branch.features(bins):
            return branch
        return _with_curve(branch, feature, bins, towards(branch.coefficient_sign * direction))

    new = change_products(model, tuple(range(len(model.stages))), changed)
    return change_effect(new, feature, towards(float(direction)))


def taken_from(places: IntArray) -> CurveChange:
    """A change after which every bin has the value of another one."""
    return lambda curve: curve[places]


def smoothed(bins: Bins, feature: int, share: float) -> CurveChange:
    """A change after which every ordered bin has the mean of the rows around it.

    The window holds ``share`` of the rows, and fewer towards both ends, where it stays symmetric: a
    straight line over the rows stays one, and what rises still rises.
    """
    n_ordered = int(bins.n_ordered[feature])
    mass = bins.frequencies[bins.axis(feature)][:n_ordered]
    ends = np.concatenate([[0.0], np.cumsum(mass)])
    middle = 0.5 * (ends[:-1] + ends[1:])
    half = np.minimum(0.5 * share * ends[-1], np.minimum(middle, ends[-1] - middle))
    wide = half > 0.5 * mass  # others hold rows of their own bin only

    def change(curve: FloatArray) -> FloatArray:
        out = curve.copy()
        total = np.concatenate([[0.0], np.cumsum(mass * curve[:n_ordered])])
        low, high = middle[wide] - half[wide], middle[wide] + half[wide]
        rows = np.interp(high, ends, total) - np.interp(low, ends, total)
        out[:n_ordered][wide] = rows / (high - low)
        return out

    return change
