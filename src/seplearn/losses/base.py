"""A loss: how far a prediction is off, and the weighted least squares that bring it closer."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from typing import ClassVar, NamedTuple

import numpy as np
from scipy.special import stdtrit

from seplearn.kernels.arrays import FloatArray
from seplearn.losses.links import IDENTITY, Link
from seplearn.table.blocks import looked_at
from seplearn.table.training import TargetUnit

NORMAL_90 = 1.6449  # standard deviations on either side that hold 90 % of a normal variable
ACTUAL_OVER_EXPECTED = "actual / expected"
_LARGEST_RESPONSE = 100.0  # that a row asks of the sum in one sweep


class Working(NamedTuple):
    """A weighted least-squares problem that stands for the loss near some predictions."""

    response: FloatArray
    weight: FloatArray


class Loss(ABC):
    """What a fit minimises, as a function of the target and of the sum eta of all curves.

    The prediction is ``link.inverse(eta)``. Sweeps and grids solve weighted least-squares problems
    only. A loss that is not one is replaced before every sweep by one that touches it at the sums
    of that moment. What is here suits a loss in the square of the target's unit, without a link.
    """

    meaning: ClassVar[str]
    """What it is, for the documentation of the parameter ``loss``: part of a sentence."""
    link: ClassVar[Link] = IDENTITY
    degree: ClassVar[int] = 2
    """The loss of a target times c is c to this power times as large."""
    per_half_square: ClassVar[float] = 2.0
    """The loss of a row over the half square of the least squares that stand for it."""
    is_least_squares: ClassVar[bool] = False
    """Whether it is a least-squares problem itself, the same in every sweep."""
    overshoots: ClassVar[bool] = False
    """Whether a sweep may raise the loss because the least-squares problem is no bound of it."""
    takes_spread: ClassVar[bool] = False
    """Whether :meth:`suited_to` takes anything from the residuals of the rows."""
    averages_targets: ClassVar[bool] = False
    """Whether targets may be averaged with predictions in the last sweeps.

    The best prediction must be the mean, and its noise estimated, which is smaller then.
    """
    sees_sides: ClassVar[bool] = False
    """Whether rows only say on which side of the prediction they are.

    Where all are on one side, as of zero, they say nothing.
    """
    in_paper: ClassVar[bool] = False
    """Whether the paper's way of fitting, ``refine="scalars"``, can minimise it."""
    has_shares: ClassVar[bool] = False
    """Whether outcomes are never negative, so that a part of the rows has a share of their sum."""
    name: ClassVar[str | None] = None
    """Of its mean over rows in evaluations; None where the root mean squared error tells it."""
    rate: float = 1.0
    """Share of the update of penalties made in the first sweeps after a new stage.

    Below one where the least-squares problem changes much from sweep to sweep.
    """

    starts_low: bool = False
    """Whether a new stage starts with such a share of its products that a constant is no better."""

    @property
    def grid_threshold(self) -> float:
        """The residual beyond which a row counts linearly while a grid is refined."""
        return math.inf

    def with_shape(self, power: float, quantile: float) -> Loss:  # noqa: ARG002
        """The loss with the parameters it has, of those that some losses have."""
        return self

    def check_domain(self, y: FloatArray) -> None:  # noqa: B027
        """Raise for a target for which the loss is not defined."""

    def check_target(self, y: FloatArray) -> None:
        """Raise for a target to which no model can be fitted."""
        self.check_domain(y)

    def unit(self, y: FloatArray, weight: FloatArray, has_constant: bool) -> TargetUnit:
        """What the target is measured in while it is fitted."""
        unit = TargetUnit.of(y, weight, has_constant)
        if not self.takes_spread:
            return unit
        return self.calmed(unit, looked_at(y), looked_at(weight), has_constant)

    def calmed(
        self,
        unit: TargetUnit,
        y: FloatArray,  # noqa: ARG002
        weight: FloatArray,  # noqa: ARG002
        has_constant: bool,  # noqa: ARG002
    ) -> TargetUnit:
        """The unit without what a few wild outcomes add to it, by rows enough to tell."""
        return unit

    def noise(self, found: float) -> float:
        """The noise that smoothness is learned against, where residuals have this mean square."""
        return found

    def are_means_of_counts(self, target: FloatArray, weight: FloatArray) -> bool:  # noqa: ARG002
        """Whether targets are means of so many counts as the weights say, which are known then."""
        return False

    def told_by(self, target: FloatArray, weight: FloatArray) -> float:  # noqa: ARG002
        """The share of the rows that tell much, by which it is decided how many are held out."""
        return 1.0

    def suited_to(self, residual: FloatArray, weight: FloatArray) -> Loss:  # noqa: ARG002
        """The loss with what it takes from the spread of the residuals, such as a threshold."""
        return self

    def nearer(self, mass: float) -> Loss | None:  # noqa: ARG002
        """A loss by way of which a fit to rows of this total weight gets to this one, if need be.

        Far from its minimum a loss may say too little of what the curves should be.
        """
        return None

    @abstractmethod
    def constant(self, target: FloatArray, weight: FloatArray, offset: FloatArray) -> float:
        """The best constant to add to the offsets of all rows."""

    @abstractmethod
    def working(self, target: FloatArray, eta: FloatArray, weight: FloatArray) -> Working:
        """The problem of the next sweep; arrays that need no change are handed through."""

    @abstractmethod
    def of_rows(self, target: FloatArray, eta: FloatArray) -> FloatArray:
        """The loss of every row, before weights."""

    def mean_of(self, target: FloatArray, eta: FloatArray, weight: FloatArray) -> float:
        """The mean of the loss over rows; weights of any size."""
        return weighted_mean(self.of_rows(target, eta), weight)

    def scores(
        self,
        target: FloatArray,
        eta: FloatArray,
        weight: FloatArray,
    ) -> dict[str, float]:
        """What tells how good predictions are, by name; the loss itself first.

        Root mean squared error, mean absolute error and R2 are told of all models, and not here.
        """
        return {} if self.name is None else {self.name: self.mean_of(target, eta, weight)}

    def level(self, target: FloatArray, eta: FloatArray, weight: FloatArray) -> dict[str, float]:
        """All outcomes over all that was predicted, by name, where outcomes are never negative."""
        if not self.has_shares:
            return {}
        with np.errstate(over="ignore", divide="ignore", invalid="ignore"):
            expected = np.float64(weighted_mean(self.link.inverse(eta), weight))
            ratio = float(weighted_mean(target, weight) / expected)
        return {ACTUAL_OVER_EXPECTED: ratio} if math.isfinite(ratio) else {}

    def typical(self, target: FloatArray, weight: FloatArray) -> float:
        """What predictions of rows with these outcomes should be: their mean, or a quantile."""
        return weighted_mean(target, weight)

    def seen(self, target: FloatArray, prediction: FloatArray, weight: FloatArray) -> float:  # noqa: ARG002
        """What the outcomes of some rows tell beside the mean of their predictions."""
        return self.typical(target, weight)

    def typical_band(self, target: FloatArray, weight: FloatArray) -> tuple[float, float]:
        """Where that lies for many more rows like these, with a probability of about 90 %."""
        return band_of_mean(target, weight)

    def restrained(self, target: FloatArray, eta: FloatArray) -> FloatArray:
        """The loss that sweeps lower: with what keeps sums from running away, if any."""
        return self.of_rows(target, eta)

    def pull(
        self,
        target: FloatArray,  # noqa: ARG002
        eta: FloatArray,  # noqa: ARG002
        residual: FloatArray,
        weight: FloatArray,  # noqa: ARG002
    ) -> FloatArray:
        """What the grids of a new stage are fitted to, each row counting the same."""
        return residual


def weighted_mean(values: FloatArray, weight: FloatArray) -> float:
    """Weights are divided by the largest: their sum may overflow."""
    return float(np.average(values, weights=weight / weight.max()))


def rows_counted(weight: FloatArray) -> float:
    """Of how many rows of equal weight a mean would vary as much."""
    shares = weight / weight.max()
    return float(shares.sum() ** 2 / (shares**2).sum())


def reach_of_90(weight: FloatArray) -> float:
    """How many standard errors on either side of a mean of such rows hold 90 %: few rows, more."""
    return float(stdtrit(max(rows_counted(weight) - 1.0, 1.0), 0.95))


def mean_and_error(values: FloatArray, weight: FloatArray) -> tuple[float, float]:
    """The mean and its standard error; zero for a single row, which says nothing of it."""
    mean, n = weighted_mean(values, weight), len(values)
    shares, off = weight / weight.max(), values - mean
    size = float(np.abs(off).max()) or 1.0  # squares of large outcomes overflow
    spread = size * math.sqrt(float(np.sum((shares * off / size) ** 2))) / float(shares.sum())
    return mean, spread * math.sqrt(n / (n - 1.0)) if n > 1 else 0.0


def band_of_mean(values: FloatArray, weight: FloatArray) -> tuple[float, float]:
    """Where the mean of many more such rows lies, with a probability of about 90 %."""
    mean, error = mean_and_error(values, weight)
    reach = reach_of_90(weight) * error
    return mean - reach, mean + reach


def bounded_working(
    eta: FloatArray, gradient: FloatArray, curvature: FloatArray, weight: FloatArray
) -> Working:
    """The Newton problem of a loss, with rows that ask for less than a bound.

    A row far off asks for a step out of all proportion where the loss is nearly flat: its
    curvature is raised until the step keeps the bound. The gradient stays what it is, and so does
    the place where all gradients cancel.
    """
    least = np.maximum(np.abs(gradient) / _LARGEST_RESPONSE, np.finfo(float).tiny)
    steep = np.maximum(curvature, least)
    return Working(eta + gradient / steep, weight * steep)
