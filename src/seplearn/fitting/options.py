"""What a fit is asked to do, after validation: plain values with the paper's meaning."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Literal

import numpy as np

from seplearn._params import TSLParameters
from seplearn.kernels.arrays import CodeArray, FloatArray, IntArray, SortedRows
from seplearn.kernels.sums import sort_by_bin
from seplearn.losses import LOSSES, ClassLogLoss, LogLoss, Loss
from seplearn.losses.log_loss import OF_SEVERAL_CLASSES
from seplearn.model.classes import ClassModels, Model
from seplearn.table.binning import Bins

LOG_LOSS = "log_loss"
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
    def loss_function(self) -> Loss:
        """What the parameter ``loss`` names, or the log-loss of a classifier."""
        several = LogLoss(OF_SEVERAL_CLASSES, least_noise=0.0)
        of_classes = several if self.has_many_classes else LogLoss()
        known = LOSSES | {LOG_LOSS: of_classes}
        return known[self.loss].with_shape(self.power, self.quantile)

    def measure(self, target: FloatArray, weight: FloatArray) -> Loss | ClassLogLoss:
        """What predictions of held-out rows are measured by, suited to the training target."""
        if self.has_many_classes:
            return ClassLogLoss()
        return self.loss_function.suited_to(target, weight)


def most_stages(model: Model) -> int:
    """How many stages a model has, of several classes that with the most of them."""
    models = model.models if isinstance(model, ClassModels) else (model,)
    return max(len(one.stages) for one in models)


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

    def rows(self, chosen: IntArray) -> TrainingData:
        """Some of the rows, on the same bins, whose frequencies are then those of these rows."""
        codes = np.ascontiguousarray(self.codes[chosen])
        weight = self.weight[chosen]
        offset = None if self.given_offset is None else self.given_offset[chosen]
        bins = self.bins.with_frequencies_of(codes, weight)
        return TrainingData(bins, codes, self.target[chosen], weight, offset, self.spread)

    @cached_property
    def sorted_rows(self) -> SortedRows:
        """Rows sorted by bin on every axis; all bags pick from it."""
        return sort_by_bin(self.codes, self.bins.offset)
