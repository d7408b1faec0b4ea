"""How many stages: the size with the smallest error on rows that were held out."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TypeVar

import numpy as np

from seplearn._workers import SerialWorkers, Workers
from seplearn.fitting.draws import axis_hashes, row_keys
from seplearn.fitting.joint.fit import JointFit, constant_model
from seplearn.fitting.options import FitOptions, TrainingData
from seplearn.kernels.arrays import CodeArray, FloatArray, IntArray
from seplearn.losses import Loss
from seplearn.model.record import StageRecord

_Fit = TypeVar("_Fit")
_Result = TypeVar("_Result")

N_FOLDS = 5
FEWEST_ROWS = 20  # below, early_stopping="auto" is off
# Fewer rows are dealt out several times: what a single deal says of them is mostly luck.
_DEALT_ONCE = 250
_MOST_DEALS = 5
_ROWS_IN_FOLDS = 5_000  # up to here every row is held out once
_ROWS_IN_TWO_PARTS = 20_000  # up to here two parts are held out, one after the other; above, one
# A part may be spoilt by one row: the median part decides if its error with another size is at most
# this share, which is half the root mean squared error.
_FAR_BETTER = 0.25
# Up to so many different rows, each with so many copies, copies are held out from one another.
_FEW_ROWS = 50 * N_FOLDS
_MANY_COPIES = 5
_GOLDEN = (5**0.5 - 1) / 2  # its multiples fill [0, 1) evenly, however many are taken
_PATIENCE = 4  # stages without improvement after which no larger model is tried


@dataclass(frozen=True, eq=False)
class HeldOut:
    """Rows that are predicted, never fitted."""

    codes: CodeArray
    target: FloatArray
    weight: FloatArray
    loss: Loss

    def error(self, prediction: FloatArray) -> float:
        """Weighted sum of the loss over the rows; infinite where a prediction is no number.

        NaN would be taken for the smallest of all errors.
        """
        with np.errstate(over="ignore"):
            total = float(np.sum(self.weight * self.loss.of_rows(self.target, prediction)))
        return math.inf if math.isnan(total) else total


@dataclass(frozen=True)
class SizePath:
    """Mean error on held-out rows, as :class:`HeldOut` counts it, for 0, 1, 2, ... stages.

    Attributes
    ----------
    losses : tuple of float
        Over all held-out rows.
    typical : tuple of float
        That of the median part. One part may hold a row that a model sends far off, which then
        outweighs everything in the mean.
    """

    losses: tuple[float, ...]
    typical: tuple[float, ...]

    def extended(self, parts: Sequence[float], masses: Sequence[float]) -> SizePath:
        """With the next size: summed errors of all parts, and their weights."""
        whole = sum(parts) / sum(masses)
        median = float(np.median(np.divide(parts, masses)))
        return SizePath((*self.losses, whole), (*self.typical, median))

    @property
    def best(self) -> int:
        """The size of the smallest loss, unless the median part does far better with another."""
        mean, median = int(np.argmin(self.losses)), int(np.argmin(self.typical))
        is_far_better = self.typical[median] < _FAR_BETTER * self.typical[mean]
        return median if is_far_better else mean

    @property
    def is_over(self) -> bool:
        """Whether the last sizes tried brought nothing."""
        return len(self.losses) > self.best + _PATIENCE


def held_out_parts(
    data: TrainingData, groups: IntArray | None, validation_fraction: float, seed: int
) -> list[tuple[IntArray, IntArray]]:
    """Pairs (rows to fit, rows to predict); none where all rows are one group.

    Rows are dealt out by their content, or by their group: equal rows and rows of one group are
    never on both sides, and the parts do not depend on the order of the rows. Only copies in a
    table of few different rows are dealt out among all parts.
    """
    total = float(data.weight.sum())
    keys = row_keys(data, axis_hashes(data)) if groups is None else groups.astype(np.uint64)
    distinct, inverse = np.unique(keys, return_inverse=True)
    has_copies = groups is None and len(distinct) <= min(_FEW_ROWS, len(keys) / _MANY_COPIES)
    if total <= _ROWS_IN_FOLDS:
        share, n_parts = 1.0 / N_FOLDS, N_FOLDS
    else:
        share, n_parts = validation_fraction, 2 if total <= _ROWS_IN_TWO_PARTS else 1
    edges = [min(k * share, 1.0) for k in range(n_parts + 1)]
    random = np.random.default_rng(seed)
    parts = []
    for _ in range(min(max(math.ceil(_DEALT_ONCE / total), 1), _MOST_DEALS)):
        shuffled = random.permutation(len(distinct))[inverse]
        position = _spread(shuffled, data.target) if has_copies else shuffled / len(distinct)
        for low, high in pairwise(edges):
            held = (low <= position) & (position < high)
            if held.any() and not held.all():
                parts.append((np.flatnonzero(~held), np.flatnonzero(held)))
    return parts


def _spread(keys: IntArray, target: FloatArray) -> FloatArray:
    """A place in [0, 1) for every row, copies of a row evenly apart.

    In a table of few different rows one of them is a cell of its own, say a combination of
    levels: held out with all its copies it could not be learned.
    """
    place = np.empty(len(keys))
    place[np.lexsort((target, keys))] = np.arange(len(keys)) * _GOLDEN % 1.0
    return place


def grow_together(
    fits: Sequence[JointFit], n_stages: int, workers: Workers
) -> Iterator[list[StageRecord]]:
    """Add a stage to every fit, again and again; end when one of them finds no more step."""
    for _ in range(n_stages):
        records = map_fits(lambda fit: fit.grow(), fits, workers)
        if any(record is None for record in records):
            return
        yield [record for record in records if record is not None]


def map_fits(
    function: Callable[[_Fit], _Result], fits: Sequence[_Fit], workers: Workers
) -> list[_Result]:
    """Apply to several fits in threads; to one in this thread, which then has all workers."""
    return [function(fits[0])] if len(fits) == 1 else workers.map(function, fits)


def inner_workers(n_fits: int, workers: Workers) -> Workers:
    """What a fit maps its work with: one of several fits runs in a thread already."""
    return workers if n_fits == 1 else SerialWorkers(workers.stop)


def path_by_parts(
    data: TrainingData,
    options: FitOptions,
    parts: list[tuple[IntArray, IntArray]],
    n_stages: int,
    seed: np.random.SeedSequence,
    workers: Workers,
) -> SizePath:
    """Fit the path of sizes without each part and predict it."""
    inner = inner_workers(len(parts), workers)
    seeds = seed.spawn(len(parts))

    def start(k: int) -> JointFit:
        return JointFit(fitted[k], options, seeds[k], inner)

    fitted = [data.rows(rows) for rows, _ in parts]
    fits = map_fits(start, range(len(parts)), workers)
    loss = options.loss_function.suited_to(data.target, data.weight)
    held = [HeldOut(data.codes[r], data.target[r], data.weight[r], loss) for _, r in parts]
    masses = [float(part.weight.sum()) for part in held]
    first = [
        fit.model() if options.main_effects else constant_model(rows, options)
        for fit, rows in zip(fits, fitted, strict=True)
    ]
    errors = [
        part.error(model.predict(part.codes)) for part, model in zip(held, first, strict=True)
    ]
    path = SizePath((), ()).extended(errors, masses)

    def error_of(pair: tuple[HeldOut, JointFit]) -> float:
        return pair[0].error(pair[1].model().predict(pair[0].codes))

    for _ in range(n_stages):
        records = map_fits(lambda fit: fit.grow(), fits, workers)
        if all(record is None for record in records):  # one that finds no step stays as it is
            break
        errors = map_fits(error_of, list(zip(held, fits, strict=True)), workers)
        path = path.extended(errors, masses)
        if path.is_over:
            break
    return path
