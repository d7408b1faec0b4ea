"""Squared error."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from seplearn.kernels.arrays import FloatArray
from seplearn.losses.base import Working
from seplearn.table.training import TargetUnit


@dataclass(frozen=True)
class SquaredError:
    """The squared difference: a least-squares problem as it stands."""

    meaning: ClassVar[str] = "the squared difference"
    grid_threshold: float = math.inf
    rate: float = 1.0

    def unit(self, y: FloatArray, weight: FloatArray, has_constant: bool) -> TargetUnit:
        return TargetUnit.of(y, weight, has_constant)

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
