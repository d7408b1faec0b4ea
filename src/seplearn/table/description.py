"""What the bins of a feature mean, in words and numbers, for whoever shows or writes them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal, TypeAlias

import numpy as np

from seplearn.kernels.arrays import FloatArray

AxisKind: TypeAlias = Literal["numeric", "categorical"]
Meaning: TypeAlias = Literal["range", "level", "rare", "missing", "unseen"]

_OTHER_NAMES = {"False": "0", "True": "1"}  # of the levels of a boolean column


@dataclass(frozen=True, eq=False)
class AxisDescription:
    """The bins of one feature.

    Attributes
    ----------
    kind : {"numeric", "categorical"}
    meanings : tuple of {"range", "level", "rare", "missing", "unseen"}
        Of every bin. Ranges or levels come first.
    lower, upper : array of shape (n_bins,)
        A range holds the values with ``lower <= value < upper``; NaN for any other bin.
    levels, rare : tuple of str
        Levels with a bin each, in the order of the bins, and those that share one.
    values : array of shape (n_bins,)
        A value in every bin: the only one, the middle, the level; NaN for missing numbers. Where
        all training values may have been whole, the whole number next to the middle. The outermost
        ranges are open; their values lie where training values were.
    has_few_values : bool
        Whether every range holds a single training value, which is then its one in ``values``.
    range : (float, float), optional
        Where the training values of a numeric feature lie, if there were any.
    bounds : array
        Finite bounds of the ranges for drawing, one more than there are ranges; empty for levels.

    Examples
    --------
    >>> import numpy as np
    >>> from seplearn.table.binning import CategoricalAxis, NumericAxis
    >>> NumericAxis(np.array([1.5, 3.0])).describe().labels
    ('below 1.5', '1.5 to 3', '3 and above', '(missing)')
    >>> CategoricalAxis(("north", "south"), rare=("moon",)).describe().labels
    ('north', 'south', '(rare)', '(missing)', '(unseen)')
    """

    kind: AxisKind
    meanings: tuple[Meaning, ...]
    lower: FloatArray
    upper: FloatArray
    levels: tuple[str, ...]
    rare: tuple[str, ...]
    values: Any
    has_few_values: bool
    range: tuple[float, float] | None
    bounds: FloatArray

    @staticmethod
    def of_numbers(
        edges: FloatArray, values: FloatArray | None, ends: tuple[float, float] | None
    ) -> AxisDescription:
        """Ranges between ``edges``, and missing values."""
        bounds = _drawn_bounds(edges, values)
        if values is not None:
            typical = values
        else:
            inside = bounds if ends is None else np.clip(bounds, *ends)
            typical = _middles(edges, inside, ends)
        n_ranges = len(edges) + 1
        return AxisDescription(
            kind="numeric",
            meanings=(*["range"] * n_ranges, "missing"),  # type: ignore[arg-type]
            lower=np.concatenate([[-np.inf], edges, [np.nan]]),
            upper=np.concatenate([edges, [np.inf, np.nan]]),
            levels=(),
            rare=(),
            values=np.append(typical, np.nan),
            has_few_values=values is not None,
            range=ends,
            bounds=bounds,
        )

    @staticmethod
    def of_levels(levels: tuple[str, ...], rare: tuple[str, ...]) -> AxisDescription:
        """A bin per level; rare levels, missing values and levels never seen."""
        others: tuple[Meaning, ...] = ("rare", "missing", "unseen")
        nothing = np.full(len(levels) + len(others), np.nan)
        return AxisDescription(
            kind="categorical",
            meanings=(*["level"] * len(levels), *others),  # type: ignore[arg-type]
            lower=nothing,
            upper=nothing,
            levels=levels,
            rare=rare,
            values=np.array([*levels, *(f"({other})" for other in others)], dtype=object),
            has_few_values=False,
            range=None,
            bounds=np.empty(0),
        )

    @property
    def edges(self) -> FloatArray:
        """Between the ranges: bin b holds the values with exactly b edges at or below them."""
        return self.lower[1 : len(self.bounds) - 1] if self.kind == "numeric" else np.empty(0)

    @property
    def other_names(self) -> dict[str, str]:
        """Names that mean a level too, and which: truth values are often written 0 and 1.

        Examples
        --------
        >>> AxisDescription.of_levels(("False", "True"), ()).other_names
        {'0': 'False', '1': 'True'}
        """
        names = (*self.levels, *self.rare)
        if not set(names) <= set(_OTHER_NAMES):
            return {}
        return {_OTHER_NAMES[name]: name for name in names}

    @cached_property
    def labels(self) -> tuple[str, ...]:
        """Every bin in words."""
        return tuple(self._label(b) for b in range(len(self.meanings)))

    def _label(self, b: int) -> str:
        meaning = self.meanings[b]
        if meaning == "level":
            return self.levels[b]
        if meaning != "range":
            return f"({meaning})"
        if self.has_few_values:
            return self.number(self.values[b])
        return self.range_text(b, b)

    def range_text(self, first: int, last: int) -> str:
        """The numbers of neighbouring bins in words."""
        lower, upper = self.lower[first], self.upper[last]
        if lower == -np.inf:
            return "any number" if upper == np.inf else f"below {self.number(upper)}"
        if upper == np.inf:
            return f"{self.number(lower)} and above"
        return f"{self.number(lower)} to {self.number(upper)}"

    def number(self, value: float) -> str:
        """A number with as many digits as tell values, or ends of ranges, apart: six or more."""
        return f"{value:.{self._digits}g}"

    @cached_property
    def _digits(self) -> int:
        told = np.asarray(self.values if self.has_few_values else self.edges, dtype=np.float64)
        n_different = len(np.unique(told))
        for digits in range(6, 17):
            if len({f"{value:.{digits}g}" for value in told.tolist()}) >= n_different:
                return digits
        return 17


def _middles(edges: FloatArray, inside: FloatArray, ends: tuple[float, float] | None) -> FloatArray:
    """The middle of every range, or a whole number near it where all values may be whole.

    Edges are half-way between values: those of whole numbers are halves.
    """
    middles: FloatArray = inside[:-1] / 2 + inside[1:] / 2
    if ends is None or not np.isfinite(ends).all():
        return middles
    if np.mod(edges, 0.5).any() or np.mod(ends, 1.0).any():
        return middles
    whole = np.rint(middles)
    is_inside = np.searchsorted(edges, whole, side="right") == np.arange(len(edges) + 1)
    return np.where(is_inside, whole, middles)


def _drawn_bounds(edges: FloatArray, values: FloatArray | None) -> FloatArray:
    low, high = _outer_bounds(edges, values)
    bounds = np.concatenate([[low], edges, [high]])
    finite = bounds[np.isfinite(bounds)]
    clipped: FloatArray = np.clip(bounds, finite.min(), finite.max())
    return clipped


def _outer_bounds(edges: FloatArray, values: FloatArray | None) -> tuple[float, float]:
    """Where the first range begins and the last ends: as wide as their neighbours."""
    edges = edges[np.isfinite(edges)]
    if values is not None:
        finite = values[np.isfinite(values)]
        if len(edges) and len(finite):
            return _beyond(finite[0], edges[0]), _beyond(finite[-1], edges[-1])
        return (float(finite[0]) - 0.5, float(finite[0]) + 0.5) if len(finite) else (0.0, 1.0)
    if len(edges) == 0:
        return 0.0, 1.0
    if len(edges) == 1:
        margin = 0.5 * abs(float(edges[0])) or 1.0
        return float(edges[0]) - margin, float(edges[0]) + margin
    return _beyond(edges[0], edges[1]), _beyond(edges[-1], edges[-2])


def _beyond(end: float, inner: float) -> float:
    """As far from the end as that is from a number within, as far as numbers go."""
    largest = np.finfo(np.float64).max
    with np.errstate(over="ignore"):
        return float(np.clip(2 * np.float64(end) - np.float64(inner), -largest, largest))
