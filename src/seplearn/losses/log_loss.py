"""The log-loss of yes and no: minus the log of the probability given to what happened."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from scipy.optimize import brentq

from seplearn.kernels.arrays import FloatArray
from seplearn.losses.base import (
    NORMAL_90,
    Loss,
    Working,
    bounded_working,
    rows_counted,
    weighted_mean,
)
from seplearn.losses.links import LOGIT, Link
from seplearn.table.training import TargetUnit

# Half of it times the square of the log-odds is added to the loss of a row in sweeps. Rows that are
# certain say nothing about how certain they are: products would send them to odds that no table
# can show. Beyond log-odds of about seven it weighs more than what a certain row still gains.
_RESTRAINT = 1e-4
# Of several classes a row has log-odds of every one, and most of them are to be far below zero: a
# tenth of it lowered the log-loss of held-out rows by 9 % (car, vehicle, segment; two splits each).
_RESTRAINT_OF_SEVERAL = 1e-5
# Where few rows are of one class, those that are left uncertain are soon followed one by one. Of
# several classes it smoothed too much.
_LEAST_NOISE = 0.5


@dataclass(frozen=True)
class LogLoss(Loss):
    """Of a target 0 or 1, whose log-odds are the sum of the curves."""

    meaning: ClassVar[str] = "minus the log of the probability of what happened"
    link: ClassVar[Link] = LOGIT
    name: ClassVar[str | None] = "log-loss"
    has_shares: ClassVar[bool] = True
    degree: ClassVar[int] = 0
    per_half_square: ClassVar[float] = 1.0
    overshoots: ClassVar[bool] = True
    restraint: float = _RESTRAINT
    least_noise: float = _LEAST_NOISE
    # Of several classes it made the log-loss 0.25 to 0.4 of what it was on car and 0.94 on letter;
    # of two 1.05 on kr_vs_kp and 1.01 on phoneme (inside training parts).
    starts_low: bool = False

    def unit(self, y: FloatArray, weight: FloatArray, has_constant: bool) -> TargetUnit:  # noqa: ARG002
        return TargetUnit(0.0, 1.0)

    def noise(self, found: float) -> float:
        """Half-way, as logs, from what is found to the one that it is in theory; a half at least.

        Rows that a model is certain of leave nothing to be found. Against one, a table of nearly
        certain rows would be smoothed until it is uncertain; against what is found, few events
        would be followed (log-loss 1.13 and 1.02 of what half-way gave on six tables). Without the
        least it was 1.05 of what it is (seven tables, three splits inside training parts).
        """
        return max(math.sqrt(found), self.least_noise)

    def constant(self, target: FloatArray, weight: FloatArray, offset: FloatArray) -> float:
        """The log-odds of the mean; with offsets, what makes the mean probability that mean."""
        mean = float(np.average(target, weights=weight))
        least = 0.5 / (float(weight.sum()) + 1.0)
        mean = min(max(mean, least), 1.0 - least)  # finite where all rows are alike
        level = math.log(mean / (1.0 - mean))
        low, high = level - float(offset.max()), level - float(offset.min())

        def excess(constant: float) -> float:
            return float(np.average(self.link.inverse(constant + offset), weights=weight)) - mean

        if not excess(low) < 0.0 < excess(high):  # offsets that are all alike
            return level - float(np.average(offset, weights=weight))
        return float(brentq(excess, low, high, xtol=1e-12))

    def working(self, target: FloatArray, eta: FloatArray, weight: FloatArray) -> Working:
        share = self.link.inverse(eta)
        gradient = target - share - self.restraint * eta
        return bounded_working(eta, gradient, share * (1.0 - share) + self.restraint, weight)

    def restrained(self, target: FloatArray, eta: FloatArray) -> FloatArray:
        return self.of_rows(target, eta) + 0.5 * self.restraint * eta**2

    def of_rows(self, target: FloatArray, eta: FloatArray) -> FloatArray:
        losses: FloatArray = np.logaddexp(0.0, np.where(target > 0.5, -eta, eta))
        return losses

    def scores(self, target: FloatArray, eta: FloatArray, weight: FloatArray) -> dict[str, float]:
        """The loss, squared errors of probabilities, and how well they sort and decide."""
        is_right = (eta > 0.0) == (target > 0.5)
        return super().scores(target, eta, weight) | {
            "Brier score": weighted_mean((target - self.link.inverse(eta)) ** 2, weight),
            "AUC": _area_under_roc(target, eta, weight),
            "accuracy": weighted_mean(is_right.astype(np.float64), weight),
        }

    def typical_band(self, target: FloatArray, weight: FloatArray) -> tuple[float, float]:
        """Wilson's interval of a share, which holds no share below zero or above one."""
        share, n = weighted_mean(target, weight), rows_counted(weight)
        square = NORMAL_90**2 / n
        middle = (share + 0.5 * square) / (1.0 + square)
        half = math.sqrt(square * (share * (1.0 - share) + 0.25 * square)) / (1.0 + square)
        return max(middle - half, 0.0), min(middle + half, 1.0)

    def pull(
        self,
        target: FloatArray,
        eta: FloatArray,
        residual: FloatArray,  # noqa: ARG002
        weight: FloatArray,  # noqa: ARG002
    ) -> FloatArray:
        """The gradient, in log-odds where yes and no are as likely: four times as much."""
        gradient: FloatArray = 4.0 * (target - self.link.inverse(eta))
        return gradient


OF_SEVERAL_CLASSES = LogLoss(_RESTRAINT_OF_SEVERAL, least_noise=0.0, starts_low=True)
"""Of one of several classes, the sums of the others as they are."""


def _area_under_roc(target: FloatArray, eta: FloatArray, weight: FloatArray) -> float:
    """How likely a row with yes has larger log-odds than one with no, ties counting half.

    One half where all rows are alike, which cannot be sorted.
    """
    _, place = np.unique(eta, return_inverse=True)
    weight = weight / weight.max()
    yes = np.bincount(place, weights=weight * target)
    no = np.bincount(place, weights=weight * (1.0 - target))
    pairs = float(yes.sum() * no.sum())
    if pairs == 0.0:
        return 0.5
    below = np.cumsum(no) - 0.5 * no
    return min(float(yes @ below) / pairs, 1.0)


class ClassLogLoss:
    """Of the number of a class among several, whose sums are in the columns of ``eta``.

    It is what is measured; what is minimised for one class after the other is :class:`LogLoss`.
    """

    def of_rows(self, target: FloatArray, eta: FloatArray) -> FloatArray:
        """Minus the log of the probability of the class that happened, before weights."""
        with np.errstate(over="ignore", invalid="ignore"):
            away = eta - eta.max(axis=1, keepdims=True)
        own = away[np.arange(len(target)), target.astype(np.int64)]
        losses: FloatArray = np.log(np.exp(away).sum(axis=1)) - own
        return losses
