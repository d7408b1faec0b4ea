"""Cuts between values, bins between cuts."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np

from seplearn.kernels.arrays import CodeArray, FloatArray, IntArray
from seplearn.kernels.evaluate import assign_bins

MapColumns: TypeAlias = Callable[[Callable[[int], Any], Iterable[int]], list[Any]]

MAX_BINS = 4095
_TAIL_CUTS = 12  # cuts at ranks 1, 2, 4, ..., 2**11 from each end, as far as quantiles are coarser


def find_edges(column: FloatArray, max_bins: int) -> FloatArray:
    """Ascending edges that divide ``column`` into at most ``max_bins`` bins.

    A value x is in bin b when exactly b edges are <= x. With few distinct values every one gets
    a bin. Otherwise the edges are quantiles, and in both tails also the ranks 1, 2, 4, 8, ...,
    because the last quantile bin of a heavy tail spans orders of magnitude.

    Examples
    --------
    >>> import numpy as np
    >>> find_edges(np.array([3.0, 1.0, 1.0, 2.0]), max_bins=255)
    array([1.5, 2.5])
    """
    ordered = np.sort(column)
    begins_run = np.flatnonzero(ordered[1:] != ordered[:-1]) + 1
    if len(begins_run) < max_bins:
        ranks = begins_run
    else:
        ranks = _quantile_and_tail_ranks(begins_run, len(ordered), max_bins - 1)
    return _between(ordered[ranks - 1], ordered[ranks])


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
    middle = low / 2 + high / 2
    return np.where((low < middle) & (middle <= high), middle, high)


@dataclass(frozen=True, eq=False)
class Bins:
    """The bins of every axis and how often training rows fell into them.

    Bins of all axes lie one after the other in flat arrays; axis j occupies
    ``offset[j]:offset[j + 1]``.

    Attributes
    ----------
    edges : tuple of arrays
        Ascending edges of each axis.
    frequencies : array of shape (n_flat,)
        Share of the training weight in each bin; sums to one on every axis.
    """

    edges: tuple[FloatArray, ...]
    frequencies: FloatArray

    @cached_property
    def offset(self) -> IntArray:
        return np.cumsum([0, *(len(edges) + 1 for edges in self.edges)], dtype=np.int64)

    @property
    def n_axes(self) -> int:
        return len(self.edges)

    def axis(self, j: int) -> slice:
        """Where axis ``j`` lies in a flat array."""
        return slice(int(self.offset[j]), int(self.offset[j + 1]))

    def codes(self, X: FloatArray) -> CodeArray:
        """Bin of every value of a table of shape (n, p)."""
        return encode(X, self.edges)

    def means(self, flat: FloatArray) -> FloatArray:
        """Training-frequency-weighted mean of a flat array (..., n_flat) on every axis."""
        return np.add.reduceat(flat * self.frequencies, self.offset[:-1], axis=-1)

    def spread(self, per_axis: FloatArray) -> FloatArray:
        """Repeat a value per axis (..., p) over the bins of that axis (..., n_flat)."""
        return np.repeat(per_axis, np.diff(self.offset), axis=-1)


def encode(X: FloatArray, edges: tuple[FloatArray, ...]) -> CodeArray:
    """Bin codes of a table (n, p), one column at a time: no second copy of the table."""
    codes = np.empty(X.shape, dtype=_code_type(edges))
    for j, axis_edges in enumerate(edges):
        assign_bins(np.ascontiguousarray(X[:, j], dtype=np.float64), axis_edges, codes[:, j])
    return codes


def _code_type(edges: Iterable[FloatArray]) -> np.dtype[np.unsignedinteger[Any]]:
    return np.dtype(np.uint8 if all(len(e) < 256 for e in edges) else np.uint16)


def bin_table(
    X: FloatArray, weight: FloatArray, max_bins: int, map_columns: MapColumns
) -> tuple[Bins, CodeArray]:
    """Find the bins of a training table and encode it, streaming column by column.

    ``map_columns`` applies a function to column numbers and returns the results in order; it may
    do so in threads.
    """

    def bin_column(j: int) -> tuple[FloatArray, FloatArray, CodeArray]:
        column = np.ascontiguousarray(X[:, j], dtype=np.float64)
        edges = find_edges(column, max_bins)
        codes = np.empty(len(column), dtype=_code_type([edges]))
        assign_bins(column, edges, codes)
        counts = np.bincount(codes, weights=weight, minlength=len(edges) + 1)
        return edges, counts.astype(np.float64), codes

    edges, counts, columns = zip(*map_columns(bin_column, range(X.shape[1])), strict=True)
    codes: CodeArray = np.stack(columns, axis=1, dtype=_code_type(edges))
    return Bins(tuple(edges), np.concatenate(counts) / weight.sum()), codes
