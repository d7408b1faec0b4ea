"""The products of a stage with some of their factors taken out or averaged over rows."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

import numpy as np

from seplearn.kernels.arrays import BoolArray, CodeArray, FloatArray, IntArray
from seplearn.model.model import SeparationModel
from seplearn.model.reference import Reference
from seplearn.model.stage import Branch, Stage
from seplearn.table.binning import Bins

_GROUPS = 12
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
    """Which pairs of bins of two features have rows in or near them.

    Bins are put together into at most a dozen groups of about equal weight per feature; a pair is
    supported when a row lies in its pair of groups.
    """
    groups = [_groups(bins.frequencies[bins.axis(j)], int(bins.n_ordered[j])) for j in features]
    seen = np.zeros([int(group.max()) + 1 for group in groups], dtype=np.bool_)
    first, second = (group[rows.codes[:, j]] for group, j in zip(groups, features, strict=True))
    seen[first, second] = True
    return seen[np.ix_(*groups)]


def _groups(frequencies: FloatArray, n_ordered: int) -> IntArray:
    """A group number per bin: levels and missing values each have their own."""
    ordered = frequencies[:n_ordered]
    below = np.cumsum(ordered) - 0.5 * ordered
    share = below / max(float(ordered.sum()), 1e-300)
    groups = np.minimum((share * _GROUPS).astype(np.int64), _GROUPS - 1)
    if n_ordered <= _GROUPS:
        groups = np.arange(n_ordered)
    alone = np.arange(len(frequencies) - n_ordered) + _GROUPS
    return np.concatenate([groups, alone])
