"""What a fit is asked to do, after validation: plain values with the paper's meaning."""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Literal, Protocol

import numpy as np

from seplearn._params import TSLParameters
from seplearn._workers import Workers
from seplearn.fitting.carriers import Carrier, LocalCarrier
from seplearn.fitting.joint.rows import eta, row_blocks
from seplearn.kernels.arrays import CodeArray, FloatArray, IntArray, RandomState, SortedRows
from seplearn.kernels.sums import sort_by_bin
from seplearn.losses import LOSSES, ClassLogLoss, LogLoss, Loss
from seplearn.losses.huber import weighted_median
from seplearn.losses.links import LOG
from seplearn.losses.log_loss import OF_SEVERAL_CLASSES
from seplearn.model.classes import Model, sums_of
from seplearn.table.binning import Bins
from seplearn.table.blocks import blocked_sum, rows_looked_at
from seplearn.table.training import total_weight

LOG_LOSS = "log_loss"
# In standard deviations outcomes of equal rows are no farther off than the root of their number. In
# a robust unit wild outcomes are; all count as so far off then, or six decimals of a mean that they
# move would be no more than rounding, and what is drawn would hang on the order of the rows.
_FARTHEST, _FAR = 1e3, 30.0
Scalars = Literal["nnls", "ols"]


@dataclass(kw_only=True)
class FitOptions(TSLParameters):
    """The parameters, and what they come to for the columns of the training table."""

    directions: tuple[int, ...]  # of every axis: 1 increasing, -1 decreasing, 0 free
    start: Model | None = None  # on the training bins, in the unit of the fit: to go on from
    n_classes: int = 2  # of a classifier; with more the target of a row is the number of its class

    @property
    def has_many_classes(self) -> bool:
        """Whether every class has a sum of its own; one is enough for two."""
        return self.n_classes > 2

    @property
    def n_new_stages(self) -> int:
        """Stages that may be added to those there are; of several classes to every one."""
        if self.start is None:
            return self.n_stages
        return self.n_stages - most_stages(self.start)

    @property
    def may_have_effects(self) -> bool:
        """Whether curves of single features may be added to the stages.

        They have mean zero, so their level is a constant: a model that is to have none gets them
        only when they are asked for.
        """
        by_error = self.main_effects == "auto" and self.fit_intercept
        return self.must_have_effects or by_error

    @property
    def must_have_effects(self) -> bool:
        """Whether they come first without any question: asked for, or there is nothing else."""
        return self.main_effects is True or self.n_stages == 0

    @property
    def forms(self) -> tuple[bool, ...]:
        """With main effects, or without: the forms that rows held out choose among."""
        is_open = self.may_have_effects and not self.must_have_effects and self.start is None
        return (False, True) if is_open else (self.must_have_effects,)

    @property
    def grows_products_alone(self) -> bool:
        """Whether the form without main effects grows beside the other, or stays a constant.

        Log-odds of yes and no are a sum by custom, and nearly always by the rows too: growing
        products alone beside it took 1.7 times the time, for the same log-loss (8 tables, 6 splits
        inside training parts: main effects first had 0.992 of it). So they stay a constant, unless
        main effects are no better than that. Of several classes main effects first had 1.2 times
        the loss.
        """
        return self.loss != LOG_LOSS or self.has_many_classes

    @property
    def prefers_effects(self) -> bool:
        """Whether main effects have the benefit of the doubt, where both forms grow.

        Rates are products of relativities by custom, so their logs are sums. Of 36 generated tables
        of rare claims rates were 0.9 as far from the true ones as with products alone preferred.
        """
        return self.loss_function.link is LOG

    @cached_property
    def loss_function(self) -> Loss:
        """What the parameter ``loss`` names, or the log-loss of a classifier."""
        of_classes = OF_SEVERAL_CLASSES if self.has_many_classes else LogLoss()
        known = LOSSES | {LOG_LOSS: of_classes}
        return known[self.loss].with_shape(self.power, self.quantile)

    def measure(self, target: FloatArray, weight: FloatArray) -> Loss | ClassLogLoss:
        """What predictions of held-out rows are measured by, suited to the training target."""
        if self.has_many_classes:
            return ClassLogLoss()
        return self.loss_function.suited_to(target, weight)


def most_stages(model: Model) -> int:
    """How many stages a model has, of several classes that with the most of them."""
    models = sums_of(model)
    return max(len(one.stages) for one in models)


def weigh_classes(target: FloatArray, weight: FloatArray, n_classes: int) -> FloatArray:
    """The weight of each class, whose numbers are the target."""
    numbers = target.astype(np.int64)
    return np.bincount(numbers, weights=weight, minlength=n_classes).astype(np.float64)


class AllRows(Protocol):
    """The training rows, wherever they are: what a fit to all of them needs."""

    @property
    def bins(self) -> Bins: ...

    @property
    def n_rows(self) -> int: ...

    @property
    def mass(self) -> float:
        """The sum of the weights."""
        ...

    @property
    def some(self) -> TrainingData:
        """The rows in memory, of a large table some, evenly spread: what a model grows on."""
        ...

    @property
    def loaded(self) -> TrainingData:
        """All rows in memory, for what needs them there."""
        ...

    def carrier(self, intercept: float, workers: Workers) -> Carrier:
        """The rows in blocks, with what a constant leaves of the target."""
        ...

    @property
    def is_constant(self) -> bool:
        """Whether all rows have the same target, and no offsets."""
        ...

    def half_way(self, carriers: Sequence[Carrier]) -> AllRows:
        """The rows with targets half-way to the mean of the sums that fits have reached."""
        ...

    def weighing(self, share: float) -> AllRows:
        """The rows with this share of their weights."""
        ...

    def class_masses(self, n_classes: int) -> FloatArray:
        """The weight of each of several classes, whose numbers are the target."""
        ...

    def one_class(self, k: int, offset: float) -> AllRows:
        """The rows with the target "class ``k`` or not", and the same offset for all."""
        ...


@dataclass(frozen=True, eq=False)
class TrainingData:
    """Rows as bin codes, a target in the unit of the loss, positive weights, and offsets.

    The offset of a row is added to the sum of its curves; None is zero for all.
    """

    bins: Bins
    codes: CodeArray
    target: FloatArray
    weight: FloatArray
    given_offset: FloatArray | None = None
    spread: float = 1.0  # standard deviation of the target of all rows, where that is not its unit

    @cached_property
    def offset(self) -> FloatArray:
        """What is added to the sum of the curves of every row."""
        return np.zeros(len(self.target)) if self.given_offset is None else self.given_offset

    @property
    def n_rows(self) -> int:
        return len(self.target)

    @cached_property
    def mass(self) -> float:
        """The sum of the weights."""
        return total_weight(self.weight)

    @cached_property
    def some(self) -> TrainingData:
        """The rows themselves, of a large table some, evenly spread: what a model grows on."""
        chosen = rows_looked_at(self.n_rows)
        return self if chosen is None else self.rows(chosen)

    @property
    def loaded(self) -> TrainingData:
        return self

    def carrier(self, intercept: float, workers: Workers) -> LocalCarrier:
        """The rows in blocks, with what a constant leaves of the target."""
        residual = self.target - self.offset - intercept
        blocks = row_blocks(self.codes, self.target, self.weight, self.offset, residual)
        return LocalCarrier(blocks, workers)

    @property
    def is_constant(self) -> bool:
        """Whether all rows have the same target, and no offsets."""
        return self.given_offset is None and bool(np.ptp(self.target) == 0.0)

    def half_way(self, carriers: Sequence[Carrier]) -> TrainingData:
        """The rows with targets half-way to the mean of the sums that fits have reached."""
        mean = np.mean([carrier.gather(eta) for carrier in carriers], axis=0)
        return replace(self, target=0.5 * (self.target + mean))

    def weighing(self, share: float) -> TrainingData:
        """The rows with this share of their weights."""
        return replace(self, weight=share * self.weight)

    def class_masses(self, n_classes: int) -> FloatArray:
        """The weight of each of several classes, whose numbers are the target."""
        return blocked_sum(partial(weigh_classes, n_classes=n_classes), self.target, self.weight)

    def one_class(self, k: int, offset: float) -> TrainingData:
        """The rows with the target "class ``k`` or not", and the same offset for all."""
        target = (self.target == k).astype(np.float64)
        return replace(self, target=target, given_offset=np.full(len(target), offset))

    def rows(self, chosen: IntArray) -> TrainingData:
        """Some of the rows, on the same bins, whose frequencies are then those of these rows."""
        codes = np.ascontiguousarray(self.codes[chosen])
        weight = self.weight[chosen]
        offset = None if self.given_offset is None else self.given_offset[chosen]
        bins = self.bins.with_frequencies_of(codes, weight)
        return TrainingData(bins, codes, self.target[chosen], weight, offset, self.spread)

    @property
    def deviation(self) -> FloatArray:
        """From the mean, in standard deviations of all rows: whatever the unit of the target is.

        With wild outcomes from the median, and no farther than most outcomes may be.
        """
        deviation: FloatArray = self.target - np.average(self.target, weights=self.weight)
        if np.abs(deviation).max() <= _FARTHEST * self.spread:
            return deviation / self.spread
        off = (self.target - weighted_median(self.target, self.weight)) / self.spread
        return np.clip(off, -_FAR, _FAR)

    @cached_property
    def axis_hashes(self) -> RandomState:
        """A number per axis: of its mean bin and its covariance with the target, to 6 decimals."""
        deviation = self.weight * self.deviation / self.weight.sum()
        hashes = []
        for j, axis in enumerate(self.bins.axes):
            numbers = np.arange(axis.n_bins)
            pushes = np.bincount(self.codes[:, j], weights=deviation, minlength=axis.n_bins)
            mean = (self.bins.frequencies[self.bins.axis(j)] * numbers).sum()
            moments = (mean, abs((pushes * numbers).sum()))
            hashes.append(zlib.crc32("|".join(f"{moment:.6f}" for moment in moments).encode()))
        return np.array(hashes, dtype=np.uint64)

    @cached_property
    def row_keys(self) -> RandomState:
        """A hash of every row's bins and of how far its target is off, to 6 decimals."""
        keys = mixed(np.rint(np.abs(self.deviation) * 1e6).astype(np.uint64))
        for j, (axis, own) in enumerate(zip(self.bins.axes, self.axis_hashes, strict=True)):
            bins = np.arange(axis.n_bins, dtype=np.uint64) << np.uint64(32)
            keys += mixed(bins ^ own)[self.codes[:, j]]
        return keys

    @cached_property
    def sorted_rows(self) -> SortedRows:
        """Rows sorted by bin on every axis; all bags pick from it."""
        return sort_by_bin(self.codes, self.bins.offset)


def mixed(z: RandomState) -> RandomState:
    """The finaliser of splitmix64: spreads neighbouring inputs over all 64 bits."""
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return z ^ (z >> np.uint64(31))
