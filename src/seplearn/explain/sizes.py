"""How large things are: shares, and what main effects and stages weigh over some rows."""

from __future__ import annotations

import numpy as np

from seplearn.kernels.arrays import FloatArray
from seplearn.model.model import SeparationModel
from seplearn.model.reference import Reference
from seplearn.table.binning import Bins


def part_weights(model: SeparationModel, rows: Reference) -> tuple[float, FloatArray]:
    """Mean square of what main effects add, and of every stage, as shares of the sum of all."""
    effects = model.effect_values(rows.codes).sum(axis=1)
    parts = np.column_stack([effects, model.contributions(rows.codes)])
    weights = mean_square_shares(parts, rows.weight)
    return float(weights[0]), weights[1:]


def mean_square_shares(parts: FloatArray, weight: FloatArray) -> FloatArray:
    """The size of parts of a prediction (n, k): mean squares as shares of their sum."""
    return shares(weight @ (parts / largest(parts)) ** 2)


def effect_spreads(effects: FloatArray, counted: Bins) -> FloatArray:
    """Standard deviation of every main effect over rows that were counted by bin."""
    unit = largest(effects)
    centred = (effects - counted.repeat_per_bin(counted.means(effects))) / unit
    spreads: FloatArray = unit * np.sqrt(counted.means(centred**2))
    return spreads


def middle_ranks(bins: Bins) -> FloatArray:
    """Where every ordered bin lies among the training rows, from 0 (lowest) to 1; else NaN."""
    ranks = np.full(len(bins.frequencies), np.nan)
    for j in np.flatnonzero(~bins.is_categorical):
        ordered = slice(int(bins.offset[j]), int(bins.offset[j] + bins.n_ordered[j]))
        below = np.cumsum(bins.frequencies[ordered])
        ranks[ordered] = (below - 0.5 * bins.frequencies[ordered]) / max(float(below[-1]), 1e-300)
    return ranks


def largest(values: FloatArray) -> float:
    """The largest size, by which values of any unit are divided before they are squared."""
    return float(np.abs(values).max(initial=0.0)) or 1.0


def shares(values: FloatArray) -> FloatArray:
    """Non-negative values divided by their sum; zeros when all are."""
    whole = float(values.sum())
    return values / whole if whole > 0 else np.zeros_like(values)


def few_rows(rows: Reference, most: int) -> Reference:
    """At most so many of the rows that count, at equal steps."""
    if len(rows.codes) <= most:
        return rows
    counted = np.flatnonzero(rows.weight > 0.0)
    most = min(most, len(counted))
    chosen = counted[np.arange(most) * len(counted) // most]
    weight = rows.weight[chosen]
    return Reference(rows.codes[chosen], weight / weight.sum())
