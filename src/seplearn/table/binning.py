"""Bins: intervals of numbers, one per level, and one each for rare, missing and unseen values."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar, TypeAlias

import numpy as np

from seplearn._errors import warn
from seplearn._numerals import percent
from seplearn.kernels.arrays import BoolArray, CodeArray, FloatArray, IntArray
from seplearn.kernels.evaluate import assign_bins
from seplearn.table.blocks import blocked_sum
from seplearn.table.columns import Table, check_levels, is_missing, level_name
from seplearn.table.description import AxisDescription, AxisKind

MapColumns: TypeAlias = Callable[[Callable[[int], Any], Iterable[int]], list[Any]]

MAX_BINS = 4095
MAX_LEVELS = 60_000
_MANY_ROWS = 50_000
_ISO_DATE = re.compile(r"\d{4}-\d{2}-\d{2}")
_VERY_FEW_ROWS, _ROWS_PER_BIN, _FEWEST_BINS = 200, 4, 6
_FEW_VALUES = 32  # a numeric feature with at most so many distinct values keeps them
_ROWS_PER_VALUE = 5  # ... if on average at least so many rows share a value: no row is given away
# Of a number that stands for missing values: other distinct values, rows with it, and their share.
_PLACEHOLDER_BESIDE, _PLACEHOLDER_ROWS, _PLACEHOLDER_SHARE = 4, 10, 0.01
_END = r"-?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?"
_INTERVAL = re.compile(rf"[\[(](-inf|{_END}), (inf|{_END})[\])]")
_TAIL_CUTS = 12  # cuts at ranks 1, 2, 4, ..., 2**11 from each end, as far as quantiles are coarser


@dataclass(frozen=True, eq=False)
class NumericAxis:
    """Ordered bins between ``edges``, and last the bin of missing values.

    Attributes
    ----------
    values : array of shape (len(edges) + 1,), optional
        The one training value in each ordered bin, for a feature with few distinct values.
    range : (float, float), optional
        Where the training values lie; None if all were missing. Rounded outwards unless ``values``
        are known: a model keeps no value of a row.
    """

    kind: ClassVar[AxisKind] = "numeric"

    edges: FloatArray
    values: FloatArray | None = None
    range: tuple[float, float] | None = None

    @property
    def n_bins(self) -> int:
        return len(self.edges) + 2

    def describe(self) -> AxisDescription:
        """What every bin means."""
        return AxisDescription.of_numbers(self.edges, self.values, self.range)

    def read(self, table: Table, j: int) -> FloatArray:
        """The values of column ``j``: numbers, NaN where they are missing."""
        return table.numbers(j)

    def codes(self, table: Table, j: int) -> CodeArray:
        """Bin of every value of column ``j``."""
        values = table.numbers(j)
        codes = np.empty(len(values), dtype=code_type(self.n_bins))
        assign_bins(values, self.edges, codes)
        return codes


@dataclass(frozen=True, eq=False)
class CategoricalAxis:
    """A bin per level, and last three more: rare levels, missing values, levels never seen."""

    kind: ClassVar[AxisKind] = "categorical"

    levels: tuple[str, ...]
    rare: tuple[str, ...] = ()

    @property
    def n_bins(self) -> int:
        return len(self.levels) + 3

    def describe(self) -> AxisDescription:
        """What every bin means."""
        return AxisDescription.of_levels(self.levels, self.rare)

    def read(self, table: Table, j: int) -> list[Any]:
        """The values of column ``j``, as they are: :func:`level_name` names a level."""
        return table.levels(j)

    def codes(self, table: Table, j: int) -> CodeArray:
        """Bin of every value of column ``j``."""
        coder = _LevelCoder(self)
        values = _told_apart(table.levels(j))
        check_levels(values, table.label(j))
        codes = map(coder.__getitem__, values)
        return np.fromiter(codes, dtype=code_type(self.n_bins), count=table.n_rows)


Axis: TypeAlias = NumericAxis | CategoricalAxis


_MANY_NUMBERS, _MOSTLY = 20, 0.9  # levels that are numbers, and what share of all they are
_MANY_RARE = 50  # levels; of few rare ones a column may well be made
_MANY_UNSEEN = 10  # with fewer rows a column of nothing but unseen levels is no surprise


def _told_apart(values: list[Any]) -> list[Any]:
    """Values of which only those of one level are equal: for Python True is 1, and False 0."""
    truths = {bool, np.bool_}
    if truths.isdisjoint(map(type, values)):
        return values
    return [level_name(v) if type(v) in truths else v for v in values]


class _LevelCoder(dict[Any, int]):
    """The bin of every value that was asked for; each distinct value is named only once."""

    def __init__(self, axis: CategoricalAxis) -> None:
        super().__init__()
        n_levels = len(axis.levels)
        self._bins = {level: b for b, level in enumerate(axis.levels)}
        self._bins |= dict.fromkeys(axis.rare, n_levels)
        other_names = axis.describe().other_names
        self._bins |= {other: self._bins[level] for other, level in other_names.items()}
        self._missing, self._unseen = n_levels + 1, n_levels + 2

    def __missing__(self, value: Any) -> int:
        if is_missing(value):
            return self._missing
        bin_ = self._bins.get(level_name(value), self._unseen)
        self[value] = bin_
        return bin_


def _warn_if_all_unseen(axis: CategoricalAxis, codes: CodeArray, table: Table, j: int) -> None:
    """Warn of a column without any known level: it is probably spelled in another way.

    A few new levels are normal.
    """
    known = codes != axis.n_bins - 2
    if known.any() and (codes[known] == axis.n_bins - 1).all():
        value = table.levels(j)[int(np.argmax(known))]
        warn(
            f"{table.label(j)}: none of its values was seen by fit, such as {value!r}; all count "
            f"as unseen. Levels seen: {', '.join(axis.levels[:5])}"
        )


def bins_at_most(max_bins: int | str, n_rows: int) -> int:
    """The parameter ``max_bins`` as a number; 'auto' allows more bins where there are many rows.

    Of very few rows a curve with a bin for each could follow all of them, noise included: so few
    cannot tell such a fit from a good one.
    """
    if not isinstance(max_bins, str):
        return int(max_bins)
    if n_rows < _VERY_FEW_ROWS:
        return max(n_rows // _ROWS_PER_BIN, _FEWEST_BINS)
    return 255 if n_rows < _MANY_ROWS else 511


def find_edges(column: FloatArray, max_bins: int) -> FloatArray:
    """Ascending edges that divide ``column``, without its NaN, into at most ``max_bins`` bins.

    A value x is in bin b when exactly b edges are <= x. With few distinct values every one gets
    a bin. Otherwise the edges are quantiles, and in both tails also the ranks 1, 2, 4, 8, ...,
    because the last quantile bin of a heavy tail spans orders of magnitude.

    Examples
    --------
    >>> import numpy as np
    >>> find_edges(np.array([3.0, 1.0, 1.0, np.nan, 2.0]), max_bins=255)
    array([1.5, 2.5])
    """
    return _edges_between(*_distinct(column), max_bins)


def find_numeric_axis(column: FloatArray, max_bins: int, label: str = "a column") -> NumericAxis:
    """The axis of a column of numbers; it keeps the values if there are few, each in many rows."""
    return axis_of_values(*_distinct(column), max_bins, label)


def axis_of_values(
    values: FloatArray, counts: IntArray, max_bins: int, label: str = "a column"
) -> NumericAxis:
    """The axis of a column with these distinct values, ascending, each in so many rows."""
    _warn_of_placeholder(values, counts, label)
    edges = _edges_between(values, counts, max_bins)
    if len(values) == 0:
        return NumericAxis(edges)
    if len(edges) < _FEW_VALUES:
        is_shared = counts.sum() >= _ROWS_PER_VALUE * len(values)
        if len(values) == len(edges) + 1 and is_shared:
            return NumericAxis(edges, values, (float(values[0]), float(values[-1])))
    return NumericAxis(edges, None, _rounded_range(float(values[0]), float(values[-1])))


def _warn_of_placeholder(values: FloatArray, counts: IntArray, label: str) -> None:
    """Warn of a number that many rows have, far off all others, as -999 for what is not known."""
    if len(values) < _PLACEHOLDER_BESIDE or not np.isfinite(values[[0, -1]]).all():
        return
    for place, others in ((0, values[1:]), (-1, values[:-1])):
        end, share = float(values[place]), float(counts[place] / counts.sum())
        low, high = float(others[0]), float(others[-1])
        gap = low / 2 - end / 2 if place == 0 else end / 2 - high / 2  # halves do not overflow
        is_nothing = (end < 0.0 <= low) or set(f"{abs(end):.0f}") == {"9"}
        is_many = share >= _PLACEHOLDER_SHARE and counts[place] >= _PLACEHOLDER_ROWS
        if is_nothing and is_many and gap > high / 2 - low / 2:
            warn(
                f"{label}: {percent(share)} of its values are {end:g}, far off all others "
                f"({low:g} to {high:g}). If that stands for values that are missing make it NaN: "
                "a number is taken for a neighbour of the nearest one"
            )


def _distinct(column: FloatArray) -> tuple[FloatArray, IntArray]:
    """The distinct values of a column without its NaN, ascending, and how often each occurs."""
    ordered = np.sort(column)  # NaN last
    ordered = ordered[: len(ordered) - int(np.isnan(ordered).sum())]
    begins_run = np.flatnonzero(ordered[1:] != ordered[:-1]) + 1
    starts = np.concatenate([np.zeros(min(len(ordered), 1), np.int64), begins_run])
    return ordered[starts], np.diff(starts, append=len(ordered))


def _edges_between(values: FloatArray, counts: IntArray, max_bins: int) -> FloatArray:
    begins_run = np.cumsum(counts)[:-1]
    if len(begins_run) < max_bins:
        return _between(values[:-1], values[1:])
    ranks = _quantile_and_tail_ranks(begins_run, int(counts.sum()), max_bins - 1)
    after = np.searchsorted(begins_run, ranks) + 1  # the value whose run begins there
    return _between(values[after - 1], values[after])


def _rounded_range(low: float, high: float) -> tuple[float, float]:
    """Where the values lie, outwards to multiples of a thousandth to a hundredth of the width."""
    width = high - low if math.isfinite(high - low) else 0.0
    size = max([width, *(abs(end) for end in (low, high) if math.isfinite(end) and not width)])
    step = max(10.0 ** (math.floor(math.log10(size)) - 2), 1e-300) if size > 0 else 1.0
    ends = []
    for end, outwards in ((low, -1.0), (high, 1.0)):
        rounded = outwards * float(np.ceil(outwards * end / step)) * step
        digits = 12 if abs(end) < 1e9 * step else 17
        rounded = float(f"{rounded:.{digits}g}")  # 0.3, not 0.30000000000000004
        inside = outwards * rounded < outwards * end
        rounded = rounded + outwards * step if inside else rounded
        ends.append(outwards * max(outwards * rounded, outwards * end))
    return ends[0], ends[1]


def _quantile_and_tail_ranks(begins_run: IntArray, n: int, max_cuts: int) -> IntArray:
    """At most ``max_cuts`` ranks at which a run of equal values begins.

    Ranks that fall into one long run of ties coincide; the number of quantiles asked for is
    therefore raised until the cuts that remain fill the budget.
    """
    tails = 2 ** np.arange(min(_TAIL_CUTS, max_cuts // 8))
    tails = tails[tails < n // max_cuts]
    fixed = np.concatenate([tails, n - tails])

    def ranks_with(n_quantiles: int) -> IntArray:
        quantiles = np.arange(1, n_quantiles) * n // n_quantiles
        return _nearest_run_start(np.concatenate([fixed, quantiles]), begins_run)

    few = max(2, max_cuts - len(fixed))
    many = 2 * few
    while many < n and len(ranks_with(many)) <= max_cuts:
        few, many = many, 2 * many
    while few + 1 < many:
        middle = (few + many) // 2
        if len(ranks_with(middle)) <= max_cuts:
            few = middle
        else:
            many = middle
    return ranks_with(few)


def _nearest_run_start(ranks: IntArray, begins_run: IntArray) -> IntArray:
    """Move every rank to the nearest beginning of a run; each is kept once."""
    after = np.searchsorted(begins_run, ranks).clip(1, len(begins_run) - 1)
    left, right = begins_run[after - 1], begins_run[after]
    return np.unique(np.where(ranks - left <= right - ranks, left, right))


def _between(low: FloatArray, high: FloatArray) -> FloatArray:
    """A value e with low < e <= high: the midpoint, or ``high`` where rounding leaves none."""
    with np.errstate(invalid="ignore"):  # between -inf and inf there is no midpoint
        middle = low / 2 + high / 2
    return np.where((low < middle) & (middle <= high), middle, high)


def find_levels(values: list[Any], min_count: int, label: str) -> CategoricalAxis:
    """The levels of a column in their order; those in fewer rows share a bin."""
    return axis_of_levels(name_counts(values, label), min_count, label)


def name_counts(values: list[Any], label: str) -> Counter[str]:
    """How many rows have each level, by its name."""
    check_levels(values, label)
    named: Counter[str] = Counter()
    for value, count in Counter(_told_apart(values)).items():
        if not is_missing(value):
            named[level_name(value)] += count
    return named


def in_order(names: Iterable[str]) -> tuple[str, ...]:
    """Levels as texts are ordered; intervals by their ends.

    Examples
    --------
    >>> in_order(["north", "east"]), in_order(["(5, 18]", "(18, 65]", "(0, 5]"])
    (('east', 'north'), ('(0, 5]', '(5, 18]', '(18, 65]'))
    """
    texts = sorted(names)
    found = [_INTERVAL.fullmatch(text) for text in texts]
    ends = {one[0]: (float(one[1]), float(one[2])) for one in found if one is not None}
    return tuple(texts) if len(ends) < len(texts) else tuple(sorted(texts, key=ends.__getitem__))


def axis_of_levels(named: Counter[str], min_count: int, label: str) -> CategoricalAxis:
    """The axis of a column with these levels, each in so many rows."""
    levels = in_order(name for name, count in named.items() if count >= min_count)
    if len(levels) > MAX_LEVELS:
        raise ValueError(
            f"{label} must have at most {MAX_LEVELS} levels, got {len(levels)}; drop it, or raise "
            "min_category_count so that rare levels share a bin"
        )
    axis = CategoricalAxis(levels, in_order(set(named) - set(levels)))
    _warn_if_mostly_rare(axis, named, min_count, label)
    _warn_if_mostly_numbers(named, label)
    return axis


def _warn_if_mostly_numbers(named: Counter[str], label: str) -> None:
    """Warn of a column of numbers that a few other texts make one of levels, without any order."""
    others = [level for level in named if not _is_number(level)]
    n_numbers = len(named) - len(others)
    if others and n_numbers >= _MANY_NUMBERS and n_numbers >= _MOSTLY * len(named):
        warn(
            f"{label}: {n_numbers:,} of its {len(named):,} levels are numbers, but not "
            f"{others[0]!r}: all of them are levels, without order. If it should be numbers make "
            "the others missing"
        )


def _is_number(level: str) -> bool:
    try:
        return math.isfinite(float(level))
    except ValueError:
        return False


def _warn_if_mostly_rare(
    axis: CategoricalAxis, named: Counter[str], min_count: int, label: str
) -> None:
    """Warn of a column whose texts hardly repeat: an identifier, or numbers that are texts."""
    share = sum(named[level] for level in axis.rare) / max(named.total(), 1)
    if len(axis.rare) < _MANY_RARE or share <= 0.5:
        return
    way_out = "Leave it out if it names rows, or make numbers of it if it holds numbers as texts"
    if _ISO_DATE.match(axis.rare[0]):
        way_out = "Make numbers of dates, such as year, month, weekday or days since a start"
    warn(
        f"{label}: {percent(share)} of its values are levels in fewer than {min_count} rows each "
        f"({len(axis.rare):,} levels, such as {axis.rare[0]!r}), which count as one level. "
        f"{way_out}"
    )


@dataclass(frozen=True, eq=False)
class Bins:
    """The bins of every axis and how often training rows fell into them.

    Bins of all axes lie one after the other in flat arrays; axis j occupies
    ``offset[j]:offset[j + 1]``.

    Attributes
    ----------
    axes : tuple of NumericAxis or CategoricalAxis
    frequencies : array of shape (n_flat,)
        Share of the training weight in each bin; sums to one on every axis.
    """

    axes: tuple[Axis, ...]
    frequencies: FloatArray

    @cached_property
    def offset(self) -> IntArray:
        return np.cumsum([0, *self.sizes], dtype=np.int64)

    @cached_property
    def sizes(self) -> IntArray:
        """How many bins every axis has."""
        return np.array([axis.n_bins for axis in self.axes], dtype=np.int64)

    @property
    def n_axes(self) -> int:
        return len(self.axes)

    @cached_property
    def is_categorical(self) -> BoolArray:
        return np.array([isinstance(axis, CategoricalAxis) for axis in self.axes])

    @cached_property
    def n_ordered(self) -> IntArray:
        """How many leading bins of each axis have an order."""
        sizes = [len(a.edges) + 1 if isinstance(a, NumericAxis) else 0 for a in self.axes]
        return np.array(sizes, dtype=np.int64)

    @cached_property
    def is_ordered(self) -> BoolArray:
        """Which flat bins have an order: those between edges."""
        position = np.arange(self.offset[-1]) - self.repeat_per_bin(self.offset[:-1])
        ordered: BoolArray = position < self.repeat_per_bin(self.n_ordered)
        return ordered

    @cached_property
    def is_known(self) -> BoolArray:
        """Which flat bins have training rows, or lie between bins that do."""
        known: BoolArray = self.is_ordered | (self.frequencies > 0)
        return known

    def bridge_gaps(self, curve: FloatArray) -> None:
        """Draw flat curves (..., n_flat) straight through ordered bins without rows, in place.

        Nothing is known there but the values on both sides. A held-out row often falls into such a
        bin where rows are few.
        """
        gaps, before, after, share = self._bridges
        left = curve[..., before]
        curve[..., gaps] = left + share * (curve[..., after] - left)

    @cached_property
    def _bridges(self) -> tuple[IntArray, IntArray, IntArray, FloatArray]:
        """Ordered bins without rows, those with rows on both sides, and how far between they are.

        At an end of an axis both sides are the nearest bin with rows.
        """
        is_gap = self.is_ordered & (self.frequencies == 0)
        bridges = [np.empty((3, 0), dtype=np.int64)]
        for j in np.unique(np.searchsorted(self.offset, np.flatnonzero(is_gap), "right") - 1):
            first = int(self.offset[j])
            own = is_gap[first : first + int(self.n_ordered[j])]
            gaps, known = np.flatnonzero(own), np.flatnonzero(~own)
            if len(known):
                after = np.searchsorted(known, gaps)
                ends = known[np.clip([after - 1, after], 0, len(known) - 1)]
                bridges.append(first + np.vstack([gaps, ends]))
        gaps, before, after = np.concatenate(bridges, axis=1)
        return gaps, before, after, (gaps - before) / np.maximum(after - before, 1)

    def axis(self, j: int) -> slice:
        """Where axis ``j`` lies in a flat array."""
        return slice(int(self.offset[j]), int(self.offset[j + 1]))

    def codes(self, table: Table, columns: Iterable[int]) -> CodeArray:
        """Bins of all rows; ``columns`` are the positions of the axes in ``table``."""
        widest = max(axis.n_bins for axis in self.axes)
        codes = np.empty((table.n_rows, self.n_axes), dtype=code_type(widest))
        for j, (axis, column) in enumerate(zip(self.axes, columns, strict=True)):
            codes[:, j] = axis.codes(table, column)
            # Where all levels were rare, as those of an identifier, new ones are to be expected.
            if isinstance(axis, CategoricalAxis) and axis.levels and table.n_rows >= _MANY_UNSEEN:
                _warn_if_all_unseen(axis, codes[:, j], table, column)
        return codes

    def with_frequencies_of(self, codes: CodeArray, weight: FloatArray) -> Bins:
        """The same bins with the frequencies of other rows."""
        counts = [
            np.bincount(codes[:, j], weights=weight, minlength=axis.n_bins)
            for j, axis in enumerate(self.axes)
        ]
        return Bins(self.axes, np.concatenate(counts) / weight.sum())

    def flat(self, codes: CodeArray) -> IntArray:
        """Where the bins of rows lie in a flat array."""
        return self.offset[:-1] + codes.astype(np.int64)

    def means(self, flat: FloatArray) -> FloatArray:
        """Training-frequency-weighted mean of a flat array (..., n_flat) on every axis."""
        return np.add.reduceat(flat * self.frequencies, self.offset[:-1], axis=-1)

    def repeat_per_bin(self, per_axis: FloatArray | IntArray | BoolArray) -> Any:
        """Repeat a value per axis (..., p) over the bins of that axis (..., n_flat)."""
        return np.repeat(per_axis, self.sizes, axis=-1)

    def centred(self, log_factors: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Log-factors of mean zero on every axis, and the sum of the means that were subtracted.

        A level without training rows is neutral, as are missing values if there were none: the
        log-factor is zero. An ordered bin without rows keeps what its neighbours say.
        """
        means = self.means(log_factors)
        out = np.where(self.is_known, log_factors - self.repeat_per_bin(means), 0.0)
        return out, means.sum(axis=-1)


def code_type(n_bins: int) -> np.dtype[np.unsignedinteger[Any]]:
    """The smallest type that has a number for each of so many bins."""
    return np.dtype(np.uint8 if n_bins <= 256 else np.uint16)


def bin_table(
    table: Table,
    weight: FloatArray,
    categorical: BoolArray,
    max_bins: int,
    min_category_count: int,
    map_columns: MapColumns,
) -> tuple[Bins, CodeArray]:
    """Find the bins of a training table and encode it, streaming column by column.

    ``map_columns`` applies a function to column numbers and returns the results in order; it may
    do so in threads.
    """

    def bin_column(j: int) -> tuple[Axis, FloatArray, CodeArray]:
        axis: Axis
        if categorical[j]:
            axis = find_levels(table.levels(j), min_category_count, table.label(j))
        else:
            axis = find_numeric_axis(table.numbers(j), max_bins, table.label(j))
        codes = axis.codes(table, j)
        return axis, bin_masses(codes, weight, axis.n_bins), codes

    axes, counts, columns = zip(*map_columns(bin_column, range(table.n_columns)), strict=True)
    widest = max(axis.n_bins for axis in axes)
    codes: CodeArray = np.stack(columns, axis=1, dtype=code_type(widest))
    return Bins(tuple(axes), np.concatenate(counts) / blocked_sum(np.sum, weight)), codes


def bin_masses(codes: CodeArray, weight: FloatArray, n_bins: int) -> FloatArray:
    """The weight of the rows in every bin of an axis."""
    return blocked_sum(lambda c, w: np.bincount(c, weights=w, minlength=n_bins), codes, weight)


def bin_centres(table: Table, bins: Bins, codes: CodeArray) -> FloatArray:
    """Mean training value of every ordered bin, in a flat array; zero elsewhere."""
    centres = np.zeros(int(bins.offset[-1]))
    for j, axis in enumerate(bins.axes):
        if isinstance(axis, NumericAxis):
            values = table.numbers(j)
            known = ~np.isnan(values)
            counts = np.bincount(codes[known, j], minlength=axis.n_bins)
            with np.errstate(invalid="ignore"):  # infinite values of both signs
                sums = np.bincount(codes[known, j], weights=values[known], minlength=axis.n_bins)
            centres[bins.axis(j)] = sums / np.maximum(counts, 1)
    return centres
