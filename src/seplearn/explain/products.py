"""The products of a stage with some of their factors taken out or averaged over rows."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

import numpy as np

from seplearn.kernels.arrays import BoolArray, CodeArray, FloatArray
from seplearn.model.model import SeparationModel
from seplearn.model.reference import Reference
from seplearn.model.stage import Branch, Stage
from seplearn.table.binning import Bins

_NEAR_RANKS = 1.0 / 16.0  # of the rows between two bins that are near each other, at most
_NEAR_VALUES = 0.1  # and of the range of values, which leaves out
_OUTSIDE = 0.0025  # of the rows at either end, as figures do
SIDE_SIGN = np.array([1.0, -1.0])  # a stage is its + product minus its - product


def side_factors(stage: Stage, axis: slice) -> FloatArray:
    """Factors of both products on one axis, shape (2, n_bins); ones for an absent product."""
    size = axis.stop - axis.start
    return np.array([np.ones(size) if b is None else b.factors(axis) for b in stage.sides])


def scaled_factors(branch: Branch, n_axes: int) -> FloatArray:
    """Factors in all bins, the size of lambda spread over the axes to keep products in range."""
    factors: FloatArray = branch.factors(slice(None)) * np.exp(branch.log_scale / n_axes)
    return factors


def without(branch: Branch, bins: Bins, features: Iterable[int]) -> Branch:
    """The product of the factors of all other features."""
    log_factors = branch.log_factors.copy()
    negative: BoolArray | None = None if branch.negative is None else branch.negative.copy()
    for j in features:
        log_factors[bins.axis(j)] = 0.0
        if negative is not None:
            negative[bins.axis(j)] = False
    return replace(branch, log_factors=log_factors, negative=negative)


def rest_of_products(
    model: SeparationModel, codes: CodeArray, features: Iterable[int]
) -> FloatArray:
    """Both products without the factors of S, lambda prod_{k not in S} a_k(x_k).

    Shape (n_stages, 2, n), both with the sign of their lambda: the stage is the first times its
    factors on S minus the second times its.
    """
    left_out = tuple(features)
    out = np.zeros((len(model.stages), 2, len(codes)))
    for s, stage in enumerate(model.stages):
        for side, branch in enumerate(stage.sides):
            if branch is not None:
                rest = without(branch, model.bins, left_out)
                out[s, side] = SIDE_SIGN[side] * rest.evaluate(codes, model.bins)
    return out


def constants(model: SeparationModel, rows: Reference, features: Iterable[int]) -> FloatArray:
    """C = lambda E[prod_{k not in S} a_k(X_k)] of both products, shape (n_stages, 2)."""
    means: FloatArray = rest_of_products(model, rows.codes, features) @ rows.weight
    return means


def support(bins: Bins, rows: Reference, features: tuple[int, ...]) -> BoolArray:
    """Which pairs of bins of two features have rows in or near them."""
    first, second = (_near(bins, j) for j in features)
    seen = np.zeros((len(first), len(second)))
    seen[tuple(rows.codes[:, j] for j in features)] = 1.0
    found: BoolArray = (first @ seen @ second) > 0.0
    return found


def _near(bins: Bins, j: int) -> FloatArray:
    """1 where two bins of a feature are near each other: in the order of rows and in their values.

    The outer bins of a skewed feature are wide, those in its middle are many: it takes both. Levels
    and missing values are near themselves alone.
    """
    n = int(bins.n_ordered[j])
    near = np.eye(len(bins.frequencies[bins.axis(j)]))
    frequencies = bins.frequencies[bins.axis(j)][:n]
    total = float(frequencies.sum())
    if bins.is_categorical[j] or total <= 0.0:
        return near
    ranks = (np.cumsum(frequencies) - 0.5 * frequencies) / total
    values = bins.axes[j].describe().values[:n]
    is_near = np.abs(ranks[:, None] - ranks) <= _NEAR_RANKS
    with np.errstate(over="ignore", invalid="ignore"):  # values near the largest that there are
        low, high = np.interp([_OUTSIDE, 1.0 - _OUTSIDE], ranks, values)
        is_near &= np.abs(values[:, None] - values) <= _NEAR_VALUES * (high - low)
    near[:n, :n] = np.maximum(near[:n, :n], is_near)
    return near
