"""The bagged grids from which a stage was made."""

from __future__ import annotations

from dataclasses import dataclass, replace

from seplearn.kernels.arrays import FloatArray, IntArray
from seplearn.model.stage import Stage


@dataclass(frozen=True, eq=False)
class Bag:
    """All grids of one stage, before averaging.

    Attributes
    ----------
    log_factors : array of shape (n_grids, 2, n_flat)
        Centred log-factors of the + and of the - product; zeros for an absent one.
    scalars : array of shape (n_grids, 2)
        lambda+ and lambda- of every grid, in the unit of y.
    kept : array of int
        The grids that were averaged.
    anchor : int
        The grid they were compared with.
    stage : Stage
        Their mean, with unit scalars.
    """

    log_factors: FloatArray
    scalars: FloatArray
    kept: IntArray
    anchor: int
    stage: Stage

    def scaled(self, factor: float) -> Bag:
        """The bag of the same fit to a target ``factor`` times as large."""
        return replace(self, scalars=self.scalars * factor)
