"""Algorithm 12 of the paper: bagged grids become one stage.

All grids share the bins, so aligning them on a union grid is nothing; they arrive centred.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from seplearn._workers import Workers
from seplearn.fitting.grid import Grid
from seplearn.fitting.options import FitOptions, TrainingData
from seplearn.kernels.arrays import BoolArray, FloatArray, IntArray
from seplearn.kernels.evaluate import distances_to, weighted_dot
from seplearn.model.bag import Bag
from seplearn.model.stage import Branch, Stage
from seplearn.table.binning import Bins


@dataclass(frozen=True, eq=False)
class Aggregate:
    """The curves of a stage before its scalars are fitted, and the grids they are the mean of."""

    stage: Stage
    kept: IntArray
    anchor: int

    def bag(self, grids: list[Grid]) -> Bag:
        """What is worth keeping of the grids it was made from."""
        curves = np.array([grid.log_factors for grid in grids])
        scalars = np.array([grid.scalars for grid in grids])
        return Bag(curves, scalars, self.kept, self.anchor, self.stage)


def anchor_of(scalars: FloatArray) -> int:
    """The grid closest to the centroid of the points (lambda+, lambda-), shape (n_grids, 2)."""
    return int(np.argmin(((scalars - scalars.mean(axis=0)) ** 2).sum(axis=1)))


def n_kept(n_grids: int, trim: float) -> int:
    """ceil((1 - trim) n_grids), at least one; rounding noise in (1 - trim) does not add a grid."""
    return max(1, math.ceil((1.0 - trim) * n_grids - 1e-9))


def cosine(a: FloatArray, b: FloatArray, weight: FloatArray) -> float:
    """Weighted cosine similarity; two zero vectors are alike, a zero and another are not."""
    aa, bb = weighted_dot(a, a, weight), weighted_dot(b, b, weight)
    if aa == 0.0 or bb == 0.0:
        return 1.0 if aa == bb else 0.0
    return weighted_dot(a, b, weight) / math.sqrt(aa) / math.sqrt(bb)


def combine(
    grids: list[Grid],
    data: TrainingData,
    branches: tuple[bool, bool],
    options: FitOptions,
    workers: Workers,
) -> Aggregate:
    """Anchor, filter, average: the stage's curves with unit scalars."""
    signed = options.products == "single"
    keep = n_kept(len(grids), options.trim)
    central = anchor_of(np.array([grid.scalars for grid in grids]))
    anchor = grids[central]
    if keep == len(grids):
        scores = np.zeros(keep)
        scores[central] = 1.0
    elif options.anchor == "medoid" and not signed:
        scores = _closeness_to_medoid(grids, data.bins, branches, workers)
    else:
        scores = _similarities(grids, anchor, data, branches, signed, workers)
    # A stable sort: the earlier grid wins among equals.
    kept = np.sort(np.argsort(-scores, kind="stable")[:keep])
    nearest = int(np.argmax(scores))
    survivors = [grids[c] for c in kept]
    if signed:
        return Aggregate(_mean_signed(survivors, anchor, data.bins), kept, nearest)
    mean = np.mean([grid.log_factors for grid in survivors], axis=0)
    return Aggregate(_stage_of(mean, branches), kept, nearest)


def _stage_of(
    log_factors: FloatArray, branches: tuple[bool, bool], negative: BoolArray | None = None
) -> Stage:
    """The curves of a grid as a stage with unit scalars."""
    plus = Branch(1.0, 0.0, log_factors[0], negative) if branches[0] else None
    minus = Branch(-1.0, 0.0, log_factors[1]) if branches[1] else None
    return Stage(plus, minus)


def _closeness_to_medoid(
    grids: list[Grid], bins: Bins, branches: tuple[bool, bool], workers: Workers
) -> FloatArray:
    """Minus the distance of every grid to the one with the smallest sum of distances to all.

    The distance of two grids is that of their centred log-curves, bins weighted by frequency.
    """
    present = np.flatnonzero(branches)
    weight = np.sqrt(bins.frequencies)
    points = np.array([(grid.log_factors[present] * weight).ravel() for grid in grids])
    distances = np.empty((len(grids), len(grids)))
    workers.map(lambda c: distances_to(points, c, distances[c]), range(len(grids)))
    closeness: FloatArray = -distances[np.argmin(distances.sum(axis=1))]
    return closeness


def _similarities(
    grids: list[Grid],
    anchor: Grid,
    data: TrainingData,
    branches: tuple[bool, bool],
    signed: bool,
    workers: Workers,
) -> FloatArray:
    """Similarity of every grid to the anchor on the training rows, in [0, 1]."""

    def product(branch: Branch) -> FloatArray:
        logs = branch.log_sizes(data.codes, data.bins)
        # A cosine does not see the scale, so the largest value may as well be one.
        sizes: FloatArray = np.exp(logs - logs.max())
        return sizes * branch.signs(data.codes, data.bins)

    def vectors(grid: Grid) -> tuple[FloatArray, FloatArray]:
        """The backbone and the tilt of every row; a signed product stands for its backbone."""
        stage = _stage_of(grid.log_factors, branches, grid.negative if signed else None)
        log_backbone, tilt = stage.log_backbone, stage.tilt
        return (
            product(stage.branches[0] if log_backbone is None else Branch(1.0, 0.0, log_backbone)),
            zeros if tilt is None else Branch(1.0, 0.0, tilt).log_sizes(data.codes, data.bins),
        )

    zeros = np.zeros(len(data.codes))
    anchor_backbone, anchor_tilt = vectors(anchor)

    def score(grid: Grid) -> float:
        backbone, tilt = vectors(grid)
        similar_backbone = cosine(anchor_backbone, backbone, data.weight)
        if signed:  # a product and its negative differ by lambda only
            similar_backbone = abs(similar_backbone)
        similar_tilt = cosine(anchor_tilt, tilt, data.weight)
        return (similar_backbone + 1.0) * (similar_tilt + 1.0) / 4.0

    return np.array(workers.map(score, grids))


def _mean_signed(grids: list[Grid], anchor: Grid, bins: Bins) -> Stage:
    """Arithmetic mean of signed factors, each axis first given unit size and the anchor's sign.

    A level without training rows has the mean of its axis, sign included: it is neutral.
    """

    def unit_factors(grid: Grid) -> FloatArray:
        factors: FloatArray = np.where(grid.negative, -1.0, 1.0) * np.exp(grid.log_factors[0])
        factors /= bins.repeat_per_bin(np.sqrt(bins.means(factors**2)))
        return factors

    reference = unit_factors(anchor)
    total = np.zeros_like(reference)
    for grid in grids:
        factors = unit_factors(grid)
        agreement = np.sign(bins.means(factors * reference))
        total += factors * bins.repeat_per_bin(np.where(agreement == 0, 1.0, agreement))
    mean = total / len(grids)
    mean = np.where(bins.is_known, mean, bins.repeat_per_bin(bins.means(mean)))
    return Stage(Branch.of_signed(mean, 1.0, bins).with_scale(1.0, 0.0), None)
