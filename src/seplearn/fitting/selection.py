"""How many stages: the smallest size that predicts rows held out about as well as the best."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TypeVar

import numpy as np

from seplearn._workers import SerialWorkers, Workers
from seplearn.fitting.options import TrainingData
from seplearn.kernels.arrays import CodeArray, FloatArray, IntArray
from seplearn.losses import ClassLogLoss, Loss
from seplearn.model.record import SizePath

_Fit = TypeVar("_Fit")
_Result = TypeVar("_Result")

N_FOLDS = 5
FEWEST_ROWS = 20  # below, early_stopping="auto" is off
# Fewer rows are dealt out several times: what a single deal says of them is mostly luck.
_DEALT_ONCE = 250
_MOST_DEALS = 5
_ROWS_IN_FOLDS = 5_000  # of those that tell much: up to here every row is held out once
_N_PARTS = 2  # above, so many parts are held out, each by a fit of its own; more if more starts are
_MOST_HELD_OUT = 100_000.0  # rows of a part: more would not tell sizes apart any better
# A part may be spoilt by one row: the median part decides if its error with another size is at most
# this share, which is half the root mean squared error.
_FAR_BETTER = 0.25
# A smaller model may cost at most this share of the loss, half as much of the root mean square: of
# heavy tails a standard error may be many times that.
_LARGEST_PRICE = 0.01
_CLEARLY_WORSE = 1.25  # times the loss of the median part, about 12 % in the root mean square
# Up to so many different rows, each with so many copies, copies are held out from one another.
FEW_DIFFERENT = 50 * N_FOLDS
MANY_COPIES = 5
_GOLDEN = (5**0.5 - 1) / 2  # its multiples fill [0, 1) evenly, however many are taken
# Stages without improvement after which no larger model is tried; fewer where the last one is worse
# than the best by more than a standard error.
_PATIENCE = 3
_LEAST_PATIENCE = 2
# Where several fits are averaged, for the last per cents and not for reading, no stage is given up
# before so many brought nothing: errors 1.4 % lower on twelve small tables, in 1.6 times the time.
_PATIENCE_OF_MEANS = 8


@dataclass(frozen=True, eq=False)
class HeldOut:
    """Rows that are predicted, never fitted."""

    codes: CodeArray
    target: FloatArray
    weight: FloatArray
    offset: FloatArray
    loss: Loss | ClassLogLoss

    def losses(self, prediction: FloatArray) -> FloatArray:
        """The loss of every row; infinite where a prediction is no number.

        Predictions are sums: one of every row, or one of every row and class. NaN would be taken
        for the smallest of all losses.
        """
        with np.errstate(over="ignore"):
            losses = self.loss.of_rows(self.target, (prediction.T + self.offset).T)
        return np.where(np.isnan(losses), math.inf, losses)


class ErrorPath:
    """Losses of held-out rows, as models of 0, 1, 2, ... stages predict them.

    Parameters
    ----------
    weights : list of arrays
        Weights of the rows of each held-out part.
    mass : float
        Weight of all rows in the parts. One that is in several is no more rows for that.
    of_means : bool
        Whether several fits are to be averaged: then more sizes are tried.
    """

    def __init__(self, weights: list[FloatArray], mass: float, of_means: bool = False) -> None:
        self._patience = _PATIENCE_OF_MEANS if of_means else _PATIENCE
        self._least_patience = _PATIENCE_OF_MEANS if of_means else _LEAST_PATIENCE
        self._masses = [float(weight.sum()) for weight in weights]
        self._weight = np.concatenate(weights)
        self._total = float(self._weight.sum())
        self._mass = mass
        self._rows: list[FloatArray] = []
        self._known: dict[tuple[int, ErrorPath, int], tuple[float, float]] = {}
        self.losses: list[float] = []
        self._typical: list[float] = []

    def __len__(self) -> int:
        return len(self.losses)

    def add(self, losses: list[FloatArray]) -> None:
        """The losses of the rows of every part for the next size."""
        ends = np.cumsum([len(part) for part in losses])[:-1]
        rows = np.concatenate(losses)
        sums = [
            float(np.sum(weight * part))
            for weight, part in zip(np.split(self._weight, ends), losses, strict=True)
        ]
        self._rows.append(rows)
        self.losses.append(sum(sums) / sum(self._masses))
        self._typical.append(float(np.median(np.divide(sums, self._masses))))

    @property
    def best(self) -> int:
        """The size of the smallest loss, unless the median part does far better with another.

        One part may hold a row that a model sends far off, which then outweighs everything in the
        mean.
        """
        mean, median = int(np.argmin(self.losses)), int(np.argmin(self._typical))
        is_far_better = self._typical[median] < _FAR_BETTER * self._typical[mean]
        return median if is_far_better else mean

    @property
    def chosen(self) -> int:
        """The smallest size that is not worse than the best: see :meth:`is_worse`."""
        best = self.best
        if best != int(np.argmin(self.losses)):  # a mean spoilt by a row says nothing of others
            return best
        return next(size for size in range(best + 1) if not self.is_worse(size, self, best))

    @property
    def is_over(self) -> bool:
        """Whether the last sizes tried brought nothing, or no reason to choose another one."""
        last = len(self) - 1
        n_tried = last - min(self.best, self.chosen + 1)
        if n_tried < self._least_patience:
            return False
        difference, error = self.difference(last, self, self.best)
        return n_tried >= self._patience or difference > error

    def is_worse(self, size: int, other: ErrorPath, other_size: int) -> bool:
        """Whether the loss is larger than that of another model by more than a standard error.

        Or by more than 1 %, unless it is that of no stage at all: a stage must be worth a standard
        error. Or that of the median part is larger by far: where few rows have nearly all of the
        loss, as in a table without noise, the standard error is as large as any difference.
        """
        price = _LARGEST_PRICE * other.losses[other_size] if size > 0 else math.inf
        return self._exceeds(size, other, other_size, price)

    def is_behind(self, other: ErrorPath) -> bool:
        """Whether the best so far is worse than that of another by more than a standard error."""
        difference, error = self.difference(self.best, other, other.best)
        return math.isfinite(error) and difference > error

    def is_clearly_better(self, other: ErrorPath) -> bool:
        """Whether the chosen size loses less than that of another by more than a standard error.

        Or the median part does by far, as in :meth:`is_worse`.
        """
        return other._exceeds(other.chosen, self, self.chosen, math.inf)

    def loses_no_more(self, other: ErrorPath) -> bool:
        """Whether the loss of the chosen size is that of another's or smaller."""
        return self.losses[self.chosen] <= other.losses[other.chosen]

    def _exceeds(self, size: int, other: ErrorPath, other_size: int, most: float) -> bool:
        """Whether the loss is larger by more than a standard error or ``most``; or by far."""
        difference, error = self.difference(size, other, other_size)
        error = min(error, most)
        is_larger = difference > (error if math.isfinite(error) else 0.0)
        return is_larger or self._typical[size] > _CLEARLY_WORSE * other._typical[other_size]

    def difference(self, size: int, other: ErrorPath, other_size: int) -> tuple[float, float]:
        """How much larger the loss is than that of another model, and its standard error.

        The same rows are predicted by both, so their differences are compared: most of what makes
        losses vary, the rows themselves, cancels. Where a loss is infinite so is the error.
        """
        pair = size, other, other_size
        if pair not in self._known:  # asked again after every stage
            self._known[pair] = self._difference(size, other, other_size)
        return self._known[pair]

    def _difference(self, size: int, other: ErrorPath, other_size: int) -> tuple[float, float]:
        with np.errstate(invalid="ignore", over="ignore"):
            rows = self._rows[size] - other._rows[other_size]
            mean = float(np.sum(rows * self._weight)) / self._total
            variance = float(np.sum((rows - mean) ** 2 * self._weight)) / self._total
        return mean, math.sqrt(variance / self._mass) if math.isfinite(variance) else math.inf

    def record(self, main_effects: bool, chosen: bool) -> SizePath:
        """What a model remembers of it."""
        best = self.best
        errors = [self.difference(size, self, best)[1] for size in range(len(self))]
        return SizePath(
            main_effects, tuple(self.losses), tuple(errors), self.chosen if chosen else None
        )


def held_out_parts(
    data: TrainingData,
    groups: IntArray | None,
    validation_fraction: float,
    n_starts: int = 1,
    classes: bool = False,
    telling: float = 1.0,
    copies: IntArray | None = None,
) -> list[tuple[IntArray, IntArray]]:
    """Pairs (rows to fit, rows to predict); none where all rows are one group.

    Rows to fit come in an order of which every head is a sample of them.

    Rows are dealt out by their content, or by their group: equal rows and rows of one group are
    never on both sides, and the parts do not depend on the order of the rows, nor on the seed of
    the fit: it should matter little. Only copies in a table of few different rows are dealt out
    among all parts; and where the target is one of a few ``classes``, as there are many copies
    then and each part should have its share of every class. Kept together there, one row with a
    thousand copies was all that a part had of its class, and a constant was chosen. So they are
    unless rows of the same number in ``copies`` are known to be no more than copies.

    Where only a share of the rows is ``telling``, more of them are held out.
    """
    total = float(data.weight.sum())
    keys = data.row_keys if groups is None else groups.astype(np.uint64)
    distinct, inverse = np.unique(keys, return_inverse=True)
    are_few = len(distinct) <= min(FEW_DIFFERENT, len(keys) / MANY_COPIES)
    are_few = are_few and groups is None and copies is None
    if telling * total <= _ROWS_IN_FOLDS:
        share, n_parts = 1.0 / N_FOLDS, N_FOLDS
    else:
        share = min(validation_fraction, _MOST_HELD_OUT / total)
        n_parts = max(_N_PARTS, n_starts)
    edges = [min(k * share, 1.0) for k in range(n_parts + 1)]
    random = np.random.default_rng(0)
    parts = []
    for _ in range(min(max(math.ceil(_DEALT_ONCE / total), 1), _MOST_DEALS)):
        shuffled = random.permutation(len(distinct))[inverse]
        if classes and groups is None:
            position = _spread_classes(data.target, shuffled, copies)
        elif are_few:
            position = _spread(shuffled, data.target)
        else:
            position = shuffled / len(distinct)
        order = np.argsort(position, kind="stable")
        for low, high in pairwise(edges):
            held = (low <= position) & (position < high)
            if held.any() and not held.all():
                parts.append((order[~held[order]], np.flatnonzero(held)))
    return parts


def _spread_classes(target: FloatArray, shuffled: IntArray, copies: IntArray | None) -> FloatArray:
    if copies is None:
        return _spread(target, shuffled)
    _, first, row = np.unique(copies, return_index=True, return_inverse=True)
    return _spread(target[first], shuffled[first])[row]


def _spread(first: FloatArray | IntArray, second: FloatArray | IntArray) -> FloatArray:
    """A place in [0, 1) for every row, rows that are alike evenly apart.

    Rows are alike when they agree in the first number, even more so when in both. In a table of
    few different rows one of them is a cell of its own, say a combination of levels: held out with
    all its copies it could not be learned.
    """
    place = np.empty(len(first))
    place[np.lexsort((second, first))] = np.arange(len(first)) * _GOLDEN % 1.0
    return place


class InnerWorkers:
    """The workers of a fit that may be one of several, and a map over such fits.

    Several fits run in threads, each of them serially. One by itself runs in the calling thread and
    has all threads for its own work. Whether it is by itself may change as others end.
    """

    def __init__(self, workers: Workers) -> None:
        self.stop = workers.stop
        self._outer = workers
        self._own: Workers = workers

    def map_fits(self, function: Callable[[_Fit], _Result], fits: Sequence[_Fit]) -> list[_Result]:
        """Apply to every fit and return the results in their order."""
        if len(fits) == 1:
            self._own = self._outer
            return [function(fits[0])]
        self._own = SerialWorkers(self.stop)
        return self._outer.map(function, fits)

    def map(self, function: Callable[[_Fit], _Result], items: Iterable[_Fit]) -> list[_Result]:
        """What a fit maps its own work with."""
        return self._own.map(function, items)
