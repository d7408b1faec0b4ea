"""Huber's error: squared up to a threshold, linear beyond it, so that wild outcomes pull less."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from seplearn.kernels.arrays import FloatArray
from seplearn.losses.base import Loss, Working
from seplearn.table.training import TargetUnit

_THRESHOLD = 1.345  # 95 % efficiency under normal errors, in units of a robust scale
_NORMAL = 1.4826  # the standard deviation of a normal sample over its median absolute deviation
_LOCATION_STEPS = 50
# Standard deviations in robust scales from which the latter are the unit. Where the signal is a
# thousandth of the unit, or less, penalties and first steps are far too large for it.
_WILD = 20.0
_LARGEST_IN_UNIT = 1e12  # standard deviations, in the unit: their squares are summed


@dataclass(frozen=True)
class Huber(Loss):
    """The squared difference r^2 up to the threshold k, 2k|r| - k^2 beyond it.

    It is minimised as a squared error towards outcomes that are at most k away from what is
    predicted at the moment. So a wild outcome counts for no more than k in the noise either, that
    smoothness is learned against; with the weights min(1, k / |r|) it would count for k |r|.
    """

    meaning: ClassVar[str] = (
        "the same up to a threshold k and linear beyond it, so that a wild outcome pulls no more "
        "than one that is k away; k is 1.345 times a robust scale of the residuals"
    )
    takes_spread: ClassVar[bool] = True
    in_paper: ClassVar[bool] = True
    threshold: float = math.inf
    rate: float = 0.5

    @property
    def grid_threshold(self) -> float:
        return self.threshold

    def suited_to(self, residual: FloatArray, weight: FloatArray) -> Huber:
        """The threshold: 1.345 times a robust scale of the residuals around their median.

        The scale is 1.4826 times the median absolute deviation, so the threshold has the unit of
        the residuals. When more than half of them are equal it is infinite, as for squared error.
        """
        deviation = np.abs(residual - weighted_median(residual, weight))
        scale = _NORMAL * weighted_median(deviation, weight)
        return Huber(_THRESHOLD * scale if scale > 0 else math.inf)

    def calmed(
        self, unit: TargetUnit, y: FloatArray, weight: FloatArray, has_constant: bool
    ) -> TargetUnit:
        return unit_of_most(unit, y, weight, has_constant)

    def constant(self, target: FloatArray, weight: FloatArray, offset: FloatArray) -> float:
        """The mean with Huber's weights, found step by step from the median."""
        target = target - offset
        level = weighted_median(target, weight)
        own = self.suited_to(target, weight)
        for _ in range(_LOCATION_STEPS):
            level = float(np.average(target, weights=own._weights(target - level, weight)))
        return level

    def working(self, target: FloatArray, eta: FloatArray, weight: FloatArray) -> Working:
        if not self._bends:
            return Working(target, weight)
        near: FloatArray = eta + np.clip(target - eta, -self.threshold, self.threshold)
        return Working(near, weight)

    def of_rows(self, target: FloatArray, eta: FloatArray) -> FloatArray:
        off = np.abs(target - eta)
        if not self._bends:
            squared: FloatArray = off**2
            return squared
        linear = self.threshold * (2.0 * off - self.threshold)
        return np.where(off <= self.threshold, off**2, linear)

    @property
    def _bends(self) -> bool:
        return math.isfinite(self.threshold)

    def _weights(self, residual: FloatArray, weight: FloatArray) -> FloatArray:
        if not self._bends:
            return weight
        off = np.maximum(np.abs(residual), self.threshold)
        scaled: FloatArray = weight * (self.threshold / off)
        return scaled


def unit_of_most(
    unit: TargetUnit, y: FloatArray, weight: FloatArray, has_constant: bool, least: float = 0.0
) -> TargetUnit:
    """Median and robust scale of a target as its unit, if the standard deviation is far larger.

    The scale is at least ``least``: what most outcomes are off may not be what is looked for.
    """
    middle = weighted_median(y, weight)
    scale = max(_NORMAL * weighted_median(np.abs(y - middle), weight), least)
    if scale == 0.0 or unit.scale <= _WILD * scale:
        return unit
    return TargetUnit(middle if has_constant else 0.0, max(scale, unit.scale / _LARGEST_IN_UNIT))


def weighted_median(values: FloatArray, weight: FloatArray) -> float:
    """The smallest value with at least half of the weight at or below it."""
    return weighted_quantile(values, weight, 0.5)


def weighted_quantile(values: FloatArray, weight: FloatArray, share: float) -> float:
    """The smallest value with at least this share of the weight at or below it."""
    order = np.argsort(values, kind="stable")
    below = np.cumsum(weight[order])
    return float(values[order[np.searchsorted(below, below[-1] * share)]])
