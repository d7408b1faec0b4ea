"""What the bins of a column need to know of it, gathered part by part and merged in any grouping.

Numbers: every distinct value and how often it occurs, so that bins are those of the whole column.
From ``DISTINCT_KEPT`` distinct values on, neighbours are put together where they are many, and
quantiles are close instead of exact. Levels: their names and counts.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import numpy as np

from seplearn.kernels.arrays import BoolArray, FloatArray, IntArray
from seplearn.table.binning import (
    Axis,
    CategoricalAxis,
    axis_of_levels,
    axis_of_values,
    name_counts,
)
from seplearn.table.columns import Table

DISTINCT_KEPT = 1 << 17
_TAIL = 4096  # values at either end that are never put together: tails are cut at small ranks


@dataclass(eq=False)
class NumberSummary:
    """Distinct values of a column with their counts, in layers.

    A layer has at most ``DISTINCT_KEPT`` values. One that would have more is thinned out to about
    half of them and goes a layer up, where two are merged again. So a row is thinned out once per
    layer, and there are as many layers as the column has doublings: a rank is off by at most
    ``4 / DISTINCT_KEPT`` of the rows for each of them.

    Attributes
    ----------
    layers : list of (values, counts) or None
    n_missing : int
    is_exact : bool
        Whether all distinct values are known, each with its count.
    label : str
        What the column is called in messages.
    """

    layers: list[tuple[FloatArray, IntArray] | None] = field(default_factory=lambda: [None])
    n_missing: int = 0
    is_exact: bool = True
    label: str = "a column"

    def add(self, column: FloatArray) -> None:
        """Take more rows."""
        known = column[~np.isnan(column)]
        self.n_missing += len(column) - len(known)
        if len(known):
            values, counts = np.unique(known, return_counts=True)
            self._put(0, values, counts.astype(np.int64))

    def merge(self, other: NumberSummary) -> None:
        """Take the rows of another summary."""
        self.n_missing += other.n_missing
        self.is_exact &= other.is_exact
        for number, layer in enumerate(other.layers):
            if layer is not None:
                self._put(number, *layer)

    def _put(self, number: int, values: FloatArray, counts: IntArray) -> None:
        while len(self.layers) <= number:
            self.layers.append(None)
        there = self.layers[number]
        if there is not None:
            values, counts = _merged([there, (values, counts)])
        if len(values) <= DISTINCT_KEPT:
            self.layers[number] = values, counts
            return
        self.is_exact = False
        self.layers[number] = None
        self._put(number + 1, *_thinned(values, counts))

    def axis(self, max_bins: int) -> Axis:
        """The axis of the column."""
        present = [layer for layer in self.layers if layer is not None]
        if not present:
            return axis_of_values(np.empty(0), np.empty(0, np.int64), max_bins)
        return axis_of_values(*_merged(present), max_bins, self.label)


def _merged(layers: list[tuple[FloatArray, IntArray]]) -> tuple[FloatArray, IntArray]:
    if len(layers) == 1:
        return layers[0]
    values, place = np.unique(np.concatenate([v for v, _ in layers]), return_inverse=True)
    counts = np.zeros(len(values), np.int64)
    np.add.at(counts, place, np.concatenate([c for _, c in layers]))
    return values, counts


def _thinned(values: FloatArray, counts: IntArray) -> tuple[FloatArray, IntArray]:
    """Neighbours put together, their counts at the last of them; those at both ends stay alone."""
    tail = min(_TAIL, DISTINCT_KEPT // 8)
    most = max(4 * int(counts.sum()) // DISTINCT_KEPT, 2)
    ends = np.cumsum(counts) // most  # in which stretch of so many rows a value ends
    is_last = np.append(ends[1:] != ends[:-1], True)
    is_last[:tail] = is_last[-tail - 1 :] = True
    is_heavy = counts >= most  # such a value stays alone, and with it its place between others
    is_last |= is_heavy
    is_last[:-1] |= is_heavy[1:]
    last = np.flatnonzero(is_last)
    return values[last], np.diff(np.cumsum(counts)[last], prepend=0)


@dataclass(eq=False)
class LevelSummary:
    """Names of the levels of a column with their counts."""

    label: str
    counts: Counter[str] = field(default_factory=Counter)
    is_exact: bool = True

    def add(self, values: list[Any]) -> None:
        """Take more rows."""
        self.counts.update(name_counts(values, self.label))

    def merge(self, other: LevelSummary) -> None:
        """Take the rows of another summary."""
        self.counts.update(other.counts)

    def axis(self, min_count: int) -> CategoricalAxis:
        """The axis of the column."""
        return axis_of_levels(self.counts, min_count, self.label)


Summary: TypeAlias = NumberSummary | LevelSummary


def empty_summaries(categorical: BoolArray, labels: Iterable[str]) -> list[Summary]:
    """A summary per column, of no rows."""
    pairs = zip(categorical, labels, strict=True)
    return [
        LevelSummary(label) if levels else NumberSummary(label=label) for levels, label in pairs
    ]


def add_rows(summaries: list[Summary], table: Table) -> None:
    """Take the rows of a table, column by column."""
    for j, summary in enumerate(summaries):
        if isinstance(summary, LevelSummary):
            summary.add(table.levels(j))
        else:
            summary.add(table.numbers(j))


def merge_all(left: list[Summary], right: list[Summary]) -> list[Summary]:
    """The first summaries with the rows of the second ones."""
    for own, other in zip(left, right, strict=True):
        own.merge(other)  # type: ignore[arg-type]
    return left


def axes_of(summaries: list[Summary], max_bins: int, min_count: int) -> tuple[Axis, ...]:
    """The axes of all columns."""
    return tuple(
        summary.axis(min_count if isinstance(summary, LevelSummary) else max_bins)
        for summary in summaries
    )
