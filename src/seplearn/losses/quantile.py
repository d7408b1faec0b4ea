"""The pinball loss, whose best prediction is a quantile."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from seplearn.kernels.arrays import FloatArray
from seplearn.losses.base import NORMAL_90, Loss, Working, rows_counted, weighted_mean
from seplearn.losses.huber import unit_of_most, weighted_median, weighted_quantile
from seplearn.table.training import TargetUnit

COVERED = "share of outcomes not above the prediction"
_ROUNDING = 0.05  # of the corner of the loss, in robust scales of the residuals
_REACH = 0.5  # between which outcomes their density is measured, of the share on the smaller side
# Of what the density says: residuals of the rows fitted are smaller than those of others. With 0.5
# small tables were followed too closely, with 1 real ones not closely enough.
_OF_NOISE = 0.7
# What residuals may make of it at most: so many times that, or a share of what most outcomes are
# off, which is more where many of them are equal.
_MOST_FOUND = 2.0
_MOST, _OF_MOST = 0.9, 0.5
# Beyond a quantile there must be this share of the rows, and so many of them, for a fit to find its
# way there from a constant.
_NEAR_SHARE = 0.02
_NEAR_ROWS = 50.0
_ALIKE = 1e-13  # outcomes this close to a prediction, as a share of their size, are at it


@dataclass(frozen=True)
class Quantile(Loss):
    """Share q of an outcome's excess, and 1 - q of what it falls short.

    It is minimised by least squares that lie above it and touch it at the residuals of the moment
    (Hunter and Lange, 2000), its corner rounded off a little.
    """

    meaning: ClassVar[str] = (
        "the pinball loss, whose best prediction is not exceeded with the probability ``quantile``"
    )
    name: ClassVar[str | None] = "pinball loss"
    degree: ClassVar[int] = 1
    takes_spread: ClassVar[bool] = True
    per_half_square: ClassVar[float] = 1.0
    sees_sides: ClassVar[bool] = True
    rate: float = 0.5
    quantile: float = 0.5
    corner: float = 1e-3
    spacing: float = 0.0
    """One over the density of the outcomes at the quantile; 0 where it is not known."""
    most: float = math.inf
    """How far nine of ten outcomes are from the median at most."""

    def with_shape(self, power: float, quantile: float) -> Quantile:  # noqa: ARG002
        return replace(self, quantile=quantile)

    def suited_to(self, residual: FloatArray, weight: FloatArray) -> Quantile:
        middle = weighted_median(residual, weight)
        off = np.abs(residual - middle)
        scale = weighted_median(off, weight)
        reach = _REACH * min(self.quantile, 1.0 - self.quantile)
        low = weighted_quantile(residual, weight, self.quantile - reach)
        high = weighted_quantile(residual, weight, self.quantile + reach)
        spacing = (high - low) / (2.0 * reach)
        most = weighted_quantile(off, weight, _MOST)
        return replace(self, corner=max(_ROUNDING * scale, 1e-6), spacing=spacing, most=most)

    def noise(self, found: float) -> float:
        """What sides of q and 1 - q say of a sum, over the density of outcomes there.

        That is the variance of a quantile of many rows times the curvature of the mean loss. The
        least squares of the moment have residuals of another size: a fifth of this noise at the
        quantile 0.9 of normal outcomes, so that curves followed single rows. A wild outcome adds
        to them without bound, to this noise it does not.
        """
        expected = _OF_NOISE * self.quantile * (1.0 - self.quantile) * self.spacing
        most = max(_MOST_FOUND * expected, _OF_MOST * self.most)
        return max(expected, min(found, most)) if most > 0.0 else found

    def calmed(
        self, unit: TargetUnit, y: FloatArray, weight: FloatArray, has_constant: bool
    ) -> TargetUnit:
        """The unit without wild outcomes, but with those around the quantile.

        Where most outcomes are nearly alike, as claims are nearly all zero, the others lie there.
        """
        low = weighted_quantile(y, weight, 0.5 * self.quantile)
        high = weighted_quantile(y, weight, 0.5 + 0.5 * self.quantile)
        return unit_of_most(unit, y, weight, has_constant, least=0.5 * (high - low))

    def nearer(self, mass: float) -> Quantile | None:
        least = min(max(_NEAR_SHARE, _NEAR_ROWS / mass), 0.5)
        nearest = min(max(self.quantile, least), 1.0 - least)
        return None if nearest == self.quantile else replace(self, quantile=nearest)

    def constant(self, target: FloatArray, weight: FloatArray, offset: FloatArray) -> float:
        return weighted_quantile(target - offset, weight, self.quantile)

    def working(self, target: FloatArray, eta: FloatArray, weight: FloatArray) -> Working:
        away = np.abs(target - eta) + self.corner
        shift = (2.0 * self.quantile - 1.0) * away
        return Working(target + shift, weight * (0.5 / away))

    def of_rows(self, target: FloatArray, eta: FloatArray) -> FloatArray:
        off = target - eta
        losses: FloatArray = np.maximum(self.quantile * off, (self.quantile - 1.0) * off)
        return losses

    def scores(self, target: FloatArray, eta: FloatArray, weight: FloatArray) -> dict[str, float]:
        """The loss, and how often an outcome did not exceed its quantile."""
        return super().scores(target, eta, weight) | {COVERED: self.seen(target, eta, weight)}

    def seen(self, target: FloatArray, prediction: FloatArray, weight: FloatArray) -> float:
        """The share of outcomes not above their predictions, some of which are at them.

        Predictions are sums, so that outcomes at them may seem to be above by rounding.
        """
        size = np.abs(target)
        largest = np.maximum(np.maximum(size, np.abs(prediction)), weighted_median(size, weight))
        is_covered = target <= prediction + _ALIKE * largest
        return weighted_mean(is_covered.astype(np.float64), weight)

    def typical(self, target: FloatArray, weight: FloatArray) -> float:
        return weighted_quantile(target, weight, self.quantile)

    def typical_band(self, target: FloatArray, weight: FloatArray) -> tuple[float, float]:
        """The outcomes at the ranks between which the quantile lies."""
        spread = NORMAL_90 * np.sqrt(self.quantile * (1.0 - self.quantile) / rows_counted(weight))
        ends = np.clip([self.quantile - spread, self.quantile + spread], 0.0, 1.0)
        low, high = (weighted_quantile(target, weight, float(end)) for end in ends)
        return low, high

    def pull(
        self,
        target: FloatArray,
        eta: FloatArray,
        residual: FloatArray,  # noqa: ARG002
        weight: FloatArray,
    ) -> FloatArray:
        """The side on which an outcome lies, in the size of a typical residual."""
        side = np.where(target > eta, self.quantile, self.quantile - 1.0)
        size = float(np.average(np.abs(target - eta), weights=weight))
        return side * (2.0 * size)
