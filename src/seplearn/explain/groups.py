"""The bins of a feature put together into a few groups, so that each has rows enough to count."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from seplearn.kernels.arrays import FloatArray, IntArray
from seplearn.table.binning import Axis
from seplearn.table.description import AxisDescription

_MOST_LEVELS = 50
_OTHERS = "(other levels)"


class Groups(NamedTuple):
    """Groups of the bins of a feature.

    ``of_bin`` is the group of every bin, ``labels`` says what each group holds.
    """

    of_bin: IntArray
    labels: tuple[str, ...]

    def sums(self, per_bin: FloatArray) -> FloatArray:
        """What the bins of every group have together."""
        sums: FloatArray = np.zeros(len(self.labels))
        np.add.at(sums, self.of_bin, per_bin)
        return sums


def bin_groups(axis: Axis, frequencies: FloatArray, most_ranges: int) -> Groups:
    """Neighbouring ranges in at most so many groups of about the same weight; levels as they are.

    Of more than 50 levels the most frequent keep a group of their own. Rare, missing and unseen
    values have a group each.

    Examples
    --------
    >>> import numpy as np
    >>> from seplearn.table.binning import NumericAxis
    >>> axis = NumericAxis(np.array([1.0, 2.0, 3.0]))
    >>> bin_groups(axis, np.array([0.25, 0.25, 0.25, 0.25, 0.0]), 2).labels
    ('below 2', '2 and above', '(missing)')
    """
    described = axis.describe()
    if described.kind == "numeric":
        return _of_ranges(described, frequencies, most_ranges)
    return _of_levels(described, frequencies)


def _of_ranges(described: AxisDescription, frequencies: FloatArray, most: int) -> Groups:
    n = described.meanings.count("range")
    shares = frequencies[:n]
    total = float(shares.sum())
    if int((shares > 0).sum()) <= most:
        # A range without rows belongs to the one before it, the first of all to the next.
        ranks = np.maximum(np.cumsum(shares > 0) - 1, 0)
    else:
        middles = (np.cumsum(shares) - 0.5 * shares) / total
        ranks = np.minimum((middles * most).astype(np.int64), most - 1)
    _, group = np.unique(ranks, return_inverse=True)
    labels = [_range_label(described, np.flatnonzero(group == g)) for g in range(group.max() + 1)]
    return Groups(np.append(group, len(labels)), (*labels, "(missing)"))


def _range_label(described: AxisDescription, members: IntArray) -> str:
    """What neighbouring ranges hold together."""
    first, last = int(members[0]), int(members[-1])
    if first == last:
        return described.labels[first]
    if described.has_few_values:
        return f"{described.number(described.values[first])} to " + described.number(
            described.values[last]
        )
    return described.range_text(first, last)


def _of_levels(described: AxisDescription, frequencies: FloatArray) -> Groups:
    n = len(described.levels)
    if n <= _MOST_LEVELS:
        return Groups(np.arange(len(described.labels)), described.labels)
    kept = np.sort(np.argsort(-frequencies[:n], kind="stable")[:_MOST_LEVELS])
    group = np.full(len(described.labels), _MOST_LEVELS)
    group[kept] = np.arange(_MOST_LEVELS)
    others = described.labels[n:]
    group[n:] = _MOST_LEVELS + 1 + np.arange(len(others))
    return Groups(group, (*(described.labels[k] for k in kept), _OTHERS, *others))
