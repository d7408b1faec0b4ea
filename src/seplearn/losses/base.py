"""A loss: how far a prediction is off, and the weighted least squares that bring it closer."""

from __future__ import annotations

from typing import NamedTuple, Protocol

from seplearn.kernels.arrays import FloatArray
from seplearn.table.training import TargetUnit


class Working(NamedTuple):
    """A weighted least-squares problem that stands for the loss near some predictions."""

    response: FloatArray
    weight: FloatArray


class Loss(Protocol):
    """What a fit minimises.

    Sweeps and grids solve weighted least-squares problems only. A loss that is not one is replaced
    before every sweep by one that touches it at the predictions of that moment.
    """

    @property
    def meaning(self) -> str:
        """What it is, for the documentation of the parameter ``loss``: part of a sentence."""
        ...

    @property
    def grid_threshold(self) -> float:
        """The residual beyond which a row counts linearly while a grid is refined."""
        ...

    @property
    def rate(self) -> float:
        """Share of the update of penalties made in the first sweeps after a new stage.

        Below one where the least-squares problem changes from sweep to sweep.
        """
        ...

    def unit(self, y: FloatArray, weight: FloatArray, has_constant: bool) -> TargetUnit:
        """What the target is measured in while it is fitted."""
        ...

    def suited_to(self, residual: FloatArray, weight: FloatArray) -> Loss:
        """The loss with what it takes from the spread of the residuals, such as a threshold."""
        ...

    def constant(self, target: FloatArray, weight: FloatArray) -> float:
        """The best prediction that is the same for all rows."""
        ...

    def working(self, target: FloatArray, prediction: FloatArray, weight: FloatArray) -> Working:
        """The problem of the next sweep; arrays that need no change are handed through."""
        ...

    def of_rows(self, target: FloatArray, prediction: FloatArray) -> FloatArray:
        """The loss of every row, before weights, in the square of the target's unit."""
        ...
