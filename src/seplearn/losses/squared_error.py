"""Squared error."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from seplearn.kernels.arrays import FloatArray
from seplearn.losses.base import Loss, Working


@dataclass(frozen=True)
class SquaredError(Loss):
    """The squared difference: a least-squares problem as it stands."""

    meaning: ClassVar[str] = "the squared difference"
    is_least_squares: ClassVar[bool] = True
    averages_targets: ClassVar[bool] = True
    in_paper: ClassVar[bool] = True

    def constant(self, target: FloatArray, weight: FloatArray, offset: FloatArray) -> float:
        return float(np.average(target - offset, weights=weight))

    def working(self, target: FloatArray, eta: FloatArray, weight: FloatArray) -> Working:  # noqa: ARG002
        return Working(target, weight)

    def of_rows(self, target: FloatArray, eta: FloatArray) -> FloatArray:
        off: FloatArray = (target - eta) ** 2
        return off
