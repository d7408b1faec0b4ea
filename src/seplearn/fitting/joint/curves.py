"""Everything small in a joint fit: the curves of all stages, main effects, and their penalties."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from seplearn.kernels.arrays import BoolArray, FloatArray, IntArray
from seplearn.kernels.roughness import half_penalties
from seplearn.model.bag import Bag
from seplearn.table.binning import Bins


@dataclass(frozen=True, eq=False)
class Axes:
    """What a sweep needs to know of the features.

    Attributes
    ----------
    bins : Bins
    direction : array of shape (p,)
        1 increasing, -1 decreasing, 0 free.
    order : tuple of int
        The axes that vary, in the order in which a sweep visits them.
    """

    bins: Bins
    direction: IntArray
    order: tuple[int, ...]

    @property
    def offset(self) -> IntArray:
        return self.bins.offset

    @cached_property
    def places(self) -> list[tuple[int, int, int]]:
        """First bin, ordered bins and direction of every axis."""
        columns = (self.offset[:-1], self.bins.n_ordered, self.direction)
        return list(zip(*(column.tolist() for column in columns), strict=True))

    @cached_property
    def layout(self) -> IntArray:
        """First bin, bins, ordered bins and direction of every axis, shape (p, 4)."""
        columns = (self.offset[:-1], self.n_bins, self.bins.n_ordered, self.direction)
        return np.column_stack(columns).astype(np.int64)

    @cached_property
    def n_bins(self) -> list[int]:
        """Bins of every axis."""
        sizes: list[int] = self.bins.sizes.tolist()
        return sizes

    @cached_property
    def constrained(self) -> list[int]:
        """The axes on which curves have a direction."""
        axes: list[int] = np.flatnonzero(self.direction).tolist()
        return axes


@dataclass(eq=False)
class StageCurves:
    """A stage in the coordinates of its refinement.

    It is P+ - P- with P+- = exp(b0 +- d0 + sum_j (beta_j +- delta_j)): beta is the log of the
    backbone, delta the tilt. Of a one-branch stage the tilt is zero, and the product that is absent
    is zero on every row.

    Attributes
    ----------
    curves : array of shape (2, n_flat)
        beta and delta.
    scale : array of shape (2,)
        b0 and d0.
    present : array of shape (2,)
        Which of (+, -) the stage has.
    active : array of shape (p, 2)
        Which curves may move; the others are exactly flat and are not visited.
    penalties : array of shape (p, 2, 3)
        mu of beta and delta on first differences, size and second differences, in units of the
        total curvature of the loss along the curve.
    curvature : array of shape (2,)
        Curvature of the loss along the scales b0 and d0, when the last sweep began.
    freedom : array of shape (p, 2)
        Effective degrees of freedom of the curves.
    reach : array of shape (p, 2)
        Sum over rows of the squared change of the prediction if the curve were flat.
    bag : Bag or None
        The grids the stage started from, if they are kept.
    """

    curves: FloatArray
    scale: FloatArray
    present: BoolArray
    active: BoolArray
    penalties: FloatArray
    curvature: FloatArray
    freedom: FloatArray
    reach: FloatArray
    bag: Bag | None = None

    def copy(self) -> StageCurves:
        """The same in arrays of its own."""
        return StageCurves(
            self.curves.copy(),
            self.scale.copy(),
            self.present.copy(),
            self.active.copy(),
            self.penalties.copy(),
            self.curvature.copy(),
            self.freedom.copy(),
            self.reach.copy(),
            self.bag,
        )

    @property
    def lambdas(self) -> tuple[float, float]:
        """lambda+ and lambda-; zero for a product that is absent."""
        b0, d0 = self.scale
        plus, minus = math.exp(b0 + d0), math.exp(b0 - d0)
        return plus if self.present[0] else 0.0, minus if self.present[1] else 0.0

    def scaled(self, factor: float) -> StageCurves:
        """The stage times a positive number, in arrays of its own."""
        other = self.copy()
        other.scale[0] += math.log(factor)
        return other

    def visits(self, axes: Axes) -> list[int]:
        """The axes with a curve that may move, in the order of a sweep."""
        moves = (self.active[:, 0] | self.active[:, 1]).tolist()
        return [j for j in axes.order if moves[j]]

    def penalty(self, axes: Axes, mu: FloatArray) -> float:
        """Half the penalties of all curves at the strengths ``mu`` (p, 2, 3)."""
        n_ordered = axes.bins.n_ordered
        return half_penalties(self.curves, axes.offset, n_ordered, self.active, mu, self.curvature)

    def flatten(self, idle: BoolArray, axes: Axes) -> None:
        """Make curves (p, 2) exactly flat for good.

        Their means are zero already, so the stage keeps its scale.
        """
        self.active &= ~idle
        self.curves[axes.bins.repeat_per_bin(idle.T)] = 0.0
        self.freedom[idle] = self.reach[idle] = 0.0


@dataclass(eq=False)
class Effects:
    """Main effects: a curve per feature in units of the prediction.

    Attributes
    ----------
    values : array of shape (n_flat,)
    active : array of shape (p,)
        Which curves may move; the others are exactly zero and are not visited.
    penalties : array of shape (p, 3)
    freedom : array of shape (p,)
    first_penalties : array of shape (p, 3)
        Where the learning of a curve that is new begins.
    """

    values: FloatArray
    active: BoolArray
    penalties: FloatArray
    freedom: FloatArray
    first_penalties: FloatArray

    def penalty(self, axes: Axes, mu: FloatArray, curvature: float) -> float:
        """Half the penalties of all main effects at the strengths ``mu`` (p, 3)."""
        return half_penalties(
            self.values[None],
            axes.offset,
            axes.bins.n_ordered,
            self.active[:, None],
            mu[:, None],
            np.array([curvature]),
        )

    def copy(self) -> Effects:
        """The same in arrays of its own."""
        return Effects(*(array.copy() for array in vars(self).values()))


class Anchor(NamedTuple):
    """Curves that penalties pull towards, of all stages (k, 2, n_flat) and main effects."""

    stages: FloatArray
    effects: FloatArray


@dataclass(eq=False)
class Curves:
    """The model as it is being fitted.

    With an ``anchor`` curves are told as what they differ from it, which is what penalties see;
    rows see both together.
    """

    intercept: float
    effects: Effects
    stages: list[StageCurves] = field(default_factory=list)
    anchor: Anchor | None = None

    def copy(self) -> Curves:
        """The same in arrays of its own: a snapshot."""
        stages = [stage.copy() for stage in self.stages]
        return Curves(self.intercept, self.effects.copy(), stages, self.anchor)

    def scaled(self, factor: float) -> Curves:
        """The model times a positive number, in arrays of its own."""
        effects = self.effects.copy()
        effects.values *= factor
        stages = [stage.scaled(factor) for stage in self.stages]
        return Curves(self.intercept * factor, effects, stages)

    def stacked(self, name: str, *shape: int, dtype: type = np.float64) -> Any:
        """An attribute of all stages as one array; those of the stages become parts of it."""
        parts = [getattr(stage, name) for stage in self.stages]
        if (whole := whole_of(parts)) is not None:
            return whole
        stack: Any = np.array(parts, dtype=dtype).reshape(len(parts), *shape)
        for stage, part in zip(self.stages, stack, strict=True):
            setattr(stage, name, part)
        return stack

    def lean_on(self, anchor: Anchor) -> None:
        """Have the same curves, pulled towards others from here on."""
        self.anchor = anchor
        for stage, own in zip(self.stages, anchor.stages, strict=True):
            stage.curves = stage.curves - own
        self.effects.values = self.effects.values - anchor.effects

    @property
    def on_rows(self) -> tuple[list[FloatArray], FloatArray]:
        """The curves of all stages and the main effects as rows see them."""
        own = [stage.curves for stage in self.stages]
        if self.anchor is None:
            return own, self.effects.values
        both = [curves + more for curves, more in zip(own, self.anchor.stages, strict=True)]
        return both, self.effects.values + self.anchor.effects

    def penalty(self, axes: Axes, strengths: Curves, working: float) -> float:
        """Half the penalties of all curves, at the strengths of others with the same stages.

        ``working`` is the total weight of the rows, along which main effects are penalised.
        """
        total = self.effects.penalty(axes, strengths.effects.penalties, working)
        for own, other in zip(self.stages, strengths.stages, strict=True):
            total += own.penalty(axes, other.penalties)
        return total

    def move_halfway_to(self, other: Curves) -> None:
        """Take the mean of these curves and others of the same stages, in the same arrays."""
        for own, theirs in zip(self.stages, other.stages, strict=True):
            own.curves[:] = 0.5 * (own.curves + theirs.curves)
            own.scale[:] = 0.5 * (own.scale + theirs.scale)
        self.effects.values[:] = 0.5 * (self.effects.values + other.effects.values)
        self.intercept = 0.5 * (self.intercept + other.intercept)

    @property
    def freedom(self) -> float:
        """Effective degrees of freedom of all curves."""
        of_stages = sum(float(stage.freedom.sum()) for stage in self.stages)
        return of_stages + float(self.effects.freedom.sum())

    def fix_gauge(self, bins: Bins) -> None:
        """Give every curve mean zero on its axis; what is taken off goes to scales and constant."""
        if self.stages:
            all_curves, taken_off = bins.centred(self.stacked("curves", 2, len(bins.frequencies)))
            for stage, curves, off in zip(self.stages, all_curves, taken_off, strict=True):
                stage.curves = curves
                stage.scale += off
        if self.effects.values.any():
            self.effects.values, level = bins.centred(self.effects.values)
            self.intercept += float(level)


def whole_of(parts: Sequence[FloatArray]) -> FloatArray | None:
    """The array that these are all the parts of, but for room behind them; None if there is none.

    Parts are only ever added at the end and dropped: those that share an array are in its order,
    and none is missing if the last is where it belongs.
    """
    whole = parts[0].base if parts else None
    if not isinstance(whole, np.ndarray) or any(part.base is not whole for part in parts):
        return None
    n = len(parts)
    is_whole = whole[n - 1 : n].shape == (1, *parts[-1].shape)
    return whole[:n] if is_whole and whole[n - 1].ctypes.data == parts[-1].ctypes.data else None
