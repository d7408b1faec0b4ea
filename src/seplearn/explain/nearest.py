"""The smallest changes of one or two features that reach a goal, or come nearest."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations
from typing import Any, TypeAlias

import numpy as np

from seplearn.explain.axes import exact_text, value_text
from seplearn.explain.goals import Goal
from seplearn.explain.ice import sums_along, sums_over_pair
from seplearn.explain.sizes import middle_ranks
from seplearn.explain.subject import Subject
from seplearn.kernels.arrays import BoolArray, CodeArray, FloatArray, IntArray
from seplearn.model.model import SeparationModel
from seplearn.model.reading import read_curves
from seplearn.table.binning import Bins
from seplearn.table.description import AxisDescription

_MOST_PAIRED = 40  # features looked at in pairs
_WORTH_A_SECOND = 0.9  # of the change of one feature alone: at most so much must two take
_NEARER = 1.01  # times as far as one feature must two lead, where neither reaches the goal
_ROUNDING = 1e-9  # of the way: changes that differ by less come equally near
_BLOCK_CELLS = 2_000_000  # combinations of two values looked at together
_DIGITS = range(3, 18)
_Block: TypeAlias = tuple[FloatArray, FloatArray, tuple[int, ...], tuple[IntArray, ...]]


@dataclass(frozen=True)
class Change:
    """Other values for one or two features of a row, and what is then predicted.

    Attributes
    ----------
    features : tuple of int
    names : tuple of str
        Of the features.
    before, after : tuple
        The values of the row, and those that reach the goal: numbers, or levels as texts.
    sizes : tuple of float
        How far each feature is moved, as a share of the training rows that it passes.
    prediction : float
        With the changed values.

    Examples
    --------
    >>> from seplearn import TSLRegressor, datasets, explain
    >>> X, y = datasets.rents(600, random_state=0)
    >>> model = TSLRegressor(n_stages=2, random_state=0).fit(X, y)
    >>> change = explain.counterfactual(model, X, row=0, target=1200).changes[0]
    >>> edited = X[:1].assign(**dict(zip(change.names, change.after)))
    >>> bool(abs(model.predict(edited)[0] - change.prediction) < 1e-9)
    True
    """

    features: tuple[int, ...]
    names: tuple[str, ...]
    before: tuple[Any, ...]
    after: tuple[Any, ...]
    sizes: tuple[float, ...]
    prediction: float

    @property
    def size(self) -> float:
        """How far all of them are moved together."""
        return sum(self.sizes)

    @property
    def texts(self) -> tuple[str, ...]:
        """The change of every feature in words."""
        parts = zip(self.names, self.before, self.after, strict=True)
        return tuple(f"{name} from {value_text(a)} to {exact_text(b)}" for name, a, b in parts)


def _value_in(axis: AxisDescription, b: int, before: Any) -> Any:
    """A value in bin ``b``: of a range, with few digits, about as near to the old one as can be.

    Whole numbers stay whole where the bin has any.
    """
    if axis.kind == "categorical":
        return axis.levels[b]
    middle = float(axis.values[b])
    if axis.has_few_values or axis.range is None:
        return middle
    low, high = max(axis.lower[b], axis.range[0]), min(axis.upper[b], axis.range[1])
    near, away = (low, 1.0) if before < low else (high, -1.0) if before >= high else (middle, 1.0)
    if not math.isfinite(near):
        return middle
    found = list(_short_numbers(near, away))
    if all(float(value).is_integer() for value in (before, *axis.range)):
        nearest = float(min(max(before, math.ceil(low)), math.floor(high)))
        found = [value for value in (*found, nearest) if value.is_integer()] + found
    for value in found:
        if low <= value <= high and axis.lower[b] <= value < axis.upper[b]:
            return value
    return middle


def _short_numbers(near: float, away: float) -> Iterator[float]:
    """Numbers beside one, on the side that is away from another, those with few digits first."""
    for digits in _DIGITS:
        step = 10.0 ** (math.floor(math.log10(abs(near))) - digits + 1) if near else 1.0
        rounded = away * math.ceil(away * near / step) * step
        for value in (rounded, rounded + away * step):
            yield float(f"{value:.{digits}g}")


class Search:
    """All changes of one row within the data."""

    def __init__(
        self,
        subject: Subject,
        models: tuple[SeparationModel, ...],
        goal: Goal,
        codes: CodeArray,
        values: list[Any],
        fixed: tuple[int, ...],
        directions: dict[int, int],
    ) -> None:
        self._subject, self._models, self.goal = subject, models, goal
        self._codes, self._values = codes, values
        bins = subject.model.bins
        curves = (read_curves(one.stages, one.effects, one.bins) for one in models)
        used = {curve.feature for of_model in curves for curve in of_model} - set(fixed)
        ranks, own = middle_ranks(bins), codes[0].astype(np.int64).tolist()
        self._others = {j: _other_bins(bins, j, own[j], directions.get(j)) for j in sorted(used)}
        self._others = {j: bins for j, bins in self._others.items() if len(bins)}
        self._costs = {j: _costs(bins, ranks, j, own[j])[b] for j, b in self._others.items()}
        self._along = {
            j: np.array([sums_along(one, codes, j)[0] for one in models])[:, others]
            for j, others in self._others.items()
        }

    def changes(self) -> Iterator[Change]:
        """The smallest change of every feature, and of every pair that needs less."""
        alone: dict[int, float] = {}
        for j, bins in self._others.items():
            best = _smallest(self.goal.reached(self._along[j]), self._costs[j])
            alone[j] = math.inf if best is None else float(self._costs[j][best])
            if best is not None:
                yield self._change((j,), (int(bins[best]),))
        for j, k in self._pairs():
            found = self._pair(j, k, _WORTH_A_SECOND * min(alone[j], alone[k]))
            if found is not None:
                yield self._change((j, k), found)

    def nearest(self, now: FloatArray) -> Iterator[Change]:
        """Of one feature, then of two, the change that comes nearest, if nearer than before it."""
        start = float(self.goal.nearness(now[:, None])[0])
        best = 0.0
        alone = ((self._along[j], self._costs[j], (j,), (b,)) for j, b in self._others.items())
        for blocks in (alone, self._all_pairs()):
            found = None
            for sums, costs, features, bins in blocks:
                way = self.goal.nearness(sums) - start
                if way.max() > best:
                    best = float(way.max())
                    flat = _smallest(way >= best - _ROUNDING * best, costs) or 0
                    place = np.unravel_index(flat, costs.shape)
                    at = (int(own[k]) for own, k in zip(bins, place, strict=True))
                    found = features, tuple(at)
            if found is not None:
                yield self._change(*found)
            best *= _NEARER

    def _pairs(self) -> Iterator[tuple[int, int]]:
        reach = {j: float(np.ptp(along, axis=1).max()) for j, along in self._along.items()}
        paired = sorted(reach, key=lambda j: -reach[j])[:_MOST_PAIRED]
        return combinations(sorted(paired), 2)

    def _all_pairs(self) -> Iterator[_Block]:
        for j, k in self._pairs():
            second = self._others[k]
            for part, costs in self._parts(j, k):
                first = self._others[j][part]
                yield self._sums(j, k, part), costs, (j, k), (first, second)

    def _parts(self, j: int, k: int) -> Iterator[tuple[slice, FloatArray]]:
        """Bins of the first of two features looked at together, with the costs of all pairs."""
        step = max(1, _BLOCK_CELLS // (len(self._others[k]) * len(self._models)))
        for start in range(0, len(self._others[j]), step):
            part = slice(start, start + step)
            yield part, np.add.outer(self._costs[j][part], self._costs[k])

    def _sums(self, j: int, k: int, part: slice) -> FloatArray:
        bins = self._others[j][part], self._others[k]
        return np.array([sums_over_pair(one, self._codes, (j, k), bins) for one in self._models])

    def _pair(self, j: int, k: int, below: float) -> tuple[int, int] | None:
        """The bins of the smallest change of two features, if it is smaller than ``below``."""
        first, second = self._others[j], self._others[k]
        found: tuple[int, int] | None = None
        for part, costs in self._parts(j, k):
            if costs.min() >= below:
                continue
            best = _smallest(self.goal.reached(self._sums(j, k, part)) & (costs < below), costs)
            if best is not None:
                a, b = np.unravel_index(best, costs.shape)
                below = float(costs[a, b])
                found = int(first[part][a]), int(second[b])
        return found

    def _change(self, features: tuple[int, ...], bins: tuple[int, ...]) -> Change:
        codes = self._codes.copy()
        codes[0, list(features)] = bins
        sums = np.array([model.predict(codes) for model in self._models])
        axes = [self._subject.model.bins.axes[j].describe() for j in features]
        before = tuple(self._values[j] for j in features)
        sizes = tuple(
            float(self._costs[j][np.flatnonzero(self._others[j] == b)[0]])
            for j, b in zip(features, bins, strict=True)
        )
        return Change(
            features=features,
            names=tuple(self._subject.names[j] for j in features),
            before=before,
            after=tuple(map(_value_in, axes, bins, before)),
            sizes=sizes,
            prediction=float(self.goal.prediction(sums)[0]),
        )


def _other_bins(bins: Bins, j: int, own: int, way: int | None) -> IntArray:
    """The bins of known values that training rows had, without the row's own.

    With a direction only those above the row's, or below it; none where that has no place in the
    order.
    """
    frequencies = bins.frequencies[bins.axis(j)]
    meanings = bins.axes[j].describe().meanings
    found = np.array(
        [
            b
            for b, meaning in enumerate(meanings)
            if meaning in ("range", "level") and frequencies[b] > 0.0 and b != own
        ],
        dtype=np.int64,
    )
    if way is not None:
        found = found[(way * (found - own) > 0) & (own < bins.n_ordered[j])]
    return found


def _costs(bins: Bins, ranks: FloatArray, j: int, own: int) -> FloatArray:
    """How far every bin is from the row's, as a share of the training rows between them.

    Values without an order are as far as they are on average over all orders: every other level
    lies between two in a third of them.
    """
    frequencies = bins.frequencies[bins.axis(j)]
    both = frequencies + frequencies[own]
    costs: FloatArray = 0.5 * both + np.maximum(1.0 - both, 0.0) / 3.0
    here = ranks[bins.axis(j)]
    if np.isnan(here[own]):
        return costs
    return np.where(np.isnan(here), costs, np.abs(here - here[own]))


def _smallest(reached: BoolArray, costs: FloatArray) -> int | None:
    """The flat place of the smallest cost among those reached."""
    return int(np.argmin(np.where(reached, costs, math.inf))) if reached.any() else None
