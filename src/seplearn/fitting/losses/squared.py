"""Squared error."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from seplearn.fitting.losses.base import Working
from seplearn.kernels.arrays import FloatArray


@dataclass(frozen=True)
class SquaredError:
    """The squared difference: a least-squares problem as it stands."""

    grid_threshold: float = math.inf
    rate: float = 1.0

    def suited_to(self, residual: FloatArray, weight: FloatArray) -> SquaredError:  # noqa: ARG002
        return self

    def constant(self, target: FloatArray, weight: FloatArray) -> float:
        return float(np.average(target, weights=weight))

    def working(
        self,
        target: FloatArray,
        prediction: FloatArray,  # noqa: ARG002
        weight: FloatArray,
    ) -> Working:
        return Working(target, weight)

    def of_rows(self, target: FloatArray, prediction: FloatArray) -> FloatArray:
        off: FloatArray = (target - prediction) ** 2
        return off
