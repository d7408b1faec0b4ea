"""Bases of the SepALS baseline: monomials, hierarchical tents, and indicators for levels."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from seplearn.kernels.arrays import FloatArray
from seplearn.table.binning import Axis

Basis = Literal["tent", "monomial"]
PenaltyKind = Literal["degree", "degree2", "tent_level"]


@dataclass(frozen=True, eq=False)
class AxisBasis:
    """Basis functions of one axis, evaluated in its bins.

    Attributes
    ----------
    values : array of shape (n_bins, m)
        phi_k in bin b; a row of zeros where training had no rows.
    order : array of shape (m,)
        What the smoothness penalty grows with: the degree of a monomial, the level of a tent, zero
        for the constant and for indicators.
    """

    values: FloatArray
    order: FloatArray

    def penalties(self, kind: PenaltyKind, is_tent: bool) -> FloatArray:
        """The weight of each coefficient in the smoothness penalty."""
        if kind == "degree2":
            return self.order**2
        if kind == "tent_level" and not is_tent:
            # A monomial of degree k bends as often as a tent of level 1 + log2 k.
            levels = np.floor(np.log2(np.maximum(self.order, 1.0))) + 1.0
            return np.where(self.order > 0, levels, 0.0)
        return self.order


def monomials(t: FloatArray, degree: int) -> tuple[FloatArray, FloatArray]:
    """1, t, ..., t**degree for t in [-1, 1], and their degrees."""
    powers = np.arange(degree + 1)
    return t[:, None] ** powers, powers.astype(np.float64)


def tents(u: FloatArray, degree: int) -> tuple[FloatArray, FloatArray]:
    """The hierarchical tents up to level ``degree`` for u in [0, 1], and their levels.

    Level 0 is the constant and the straight line; level l has 2**(l - 1) tents of half-width
    2**-l around the odd multiples of 2**-l.
    """
    columns, levels = [np.ones_like(u), u], [0, 0]
    for level in range(1, degree + 1):
        for k in range(2 ** (level - 1)):
            centre = (2 * k + 1) / 2**level
            columns.append(np.maximum(0.0, 1.0 - np.abs(u - centre) * 2**level))
            levels.append(level)
    return np.stack(columns, axis=1), np.array(levels, dtype=np.float64)


def axis_basis(
    axis: Axis, centres: FloatArray, frequencies: FloatArray, basis: Basis, degree: int
) -> AxisBasis:
    """The basis of one axis.

    ``centres`` are the mean training values of the ordered bins. Every level has an indicator of
    its own. So have missing and rare values, which may be a single row's, but for them it says how
    far they are from the mean of the others, and its penalty pulls them there, not to zero.
    """
    seen = frequencies > 0
    is_main = np.isin(axis.describe().meanings, ("range", "level"))
    main = np.flatnonzero(seen & is_main)
    if axis.kind == "categorical" or not len(main):
        functions, order = np.eye(len(main)), np.zeros(len(main))
    else:
        u = _unit(centres[main])
        functions, order = tents(u, degree) if basis == "tent" else monomials(2.0 * u - 1.0, degree)
    apart = np.setdiff1d(np.flatnonzero(seen), main)
    m = functions.shape[1]
    values = np.zeros((axis.n_bins, m + len(apart)))
    values[apart, m + np.arange(len(apart))] = 1.0
    if len(main):
        values[apart, :m] = frequencies[main] @ functions / frequencies[main].sum()
        values[main, :m] = functions
    used = values.any(axis=0)  # a tent between two values touches neither
    order = np.concatenate([order, np.zeros(len(apart))])
    return AxisBasis(values[:, used], order[used])


def _unit(values: FloatArray) -> FloatArray:
    """Values moved to [0, 1]; a constant to the middle."""
    low, high = float(values.min()), float(values.max())
    if not np.isfinite(high - low):  # infinite values: their ranks
        return (np.arange(len(values)) + 0.5) / len(values)
    return (values - low) / (high - low) if high > low else np.full(len(values), 0.5)


def compressed(basis: AxisBasis, penalty: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Functions and penalties of the same penalised curves, no more of them than bins with rows.

    With c = D^-1/2 u the penalty c'Dc is |u|^2 and the curve Phi D^-1/2 u; only the part of u in
    the row space of that matrix matters, so its singular vectors serve as coordinates.
    """
    n_seen = int(basis.values.any(axis=1).sum())
    if basis.values.shape[1] <= n_seen:
        return basis.values, penalty
    scaled = basis.values / np.sqrt(penalty)
    left, sizes, _ = np.linalg.svd(scaled, full_matrices=False)
    keep = sizes > 1e-12 * sizes[0]
    return left[:, keep] * sizes[keep], np.ones(int(keep.sum()))


def neutral_where_unseen(functions: FloatArray, frequencies: FloatArray) -> FloatArray:
    """Functions (n_bins, m) with their mean over the training rows in bins without rows.

    Every curve made of them has its own mean there. So the prediction for a value never seen is the
    mean of those for the training values of that feature, however products cancel.
    """
    seen = frequencies > 0
    mean = frequencies @ functions / frequencies.sum()
    return np.where(seen[:, None], functions, mean)
