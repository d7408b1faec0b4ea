"""Bins in words and numbers: what frames and figures show of an axis."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from seplearn.kernels.arrays import FloatArray
from seplearn.table.binning import Axis, CategoricalAxis, NumericAxis
from seplearn.table.columns import Table, is_missing, level_name

RARE, MISSING, UNSEEN = "(rare)", "(missing)", "(unseen)"


def percent(share: float) -> str:
    """A share in percent, with a decimal where it rounds to less than one.

    Examples
    --------
    >>> percent(0.5), percent(0.004), percent(0.0)
    ('50 %', '0.4 %', '0 %')
    """
    return f"{100 * share:.{1 if 0 < share < 0.0095 else 0}f} %"


def count(n: int, what: str) -> str:
    """A number of things in words.

    Examples
    --------
    >>> count(1, "other stage"), count(1200, "row")
    ('1 other stage', '1,200 rows')
    """
    return f"{n:,} {what}{'' if n == 1 else 's'}"


def number_text(value: float, digits: int) -> str:
    """A number with so many significant digits, without an exponent where that can be read.

    Examples
    --------
    >>> number_text(1234.5, 3), number_text(-0.00123, 2), number_text(1.5e12, 3)
    ('1230', '-0.0012', '1.5e+12')
    """
    rounded = float(f"{value:.{digits}g}")
    if rounded != 0.0 and not 1e-5 <= abs(rounded) < 1e7:
        return f"{rounded:.{digits}g}"
    text = np.format_float_positional(rounded, trim="-")
    return "0" if text == "-0" else text


def level_names(axis: CategoricalAxis) -> list[str]:
    """A name per bin."""
    return [*axis.levels, RARE, MISSING, UNSEEN]


def outer_bounds(axis: NumericAxis) -> tuple[float, float]:
    """Where the first bin begins and the last ends, for showing: as wide as their neighbours."""
    if axis.values is not None:
        finite = axis.values[np.isfinite(axis.values)]
        edges = axis.edges[np.isfinite(axis.edges)]
        if len(edges) and len(finite):
            return float(2 * finite[0] - edges[0]), float(2 * finite[-1] - edges[-1])
        return (float(finite[0]) - 0.5, float(finite[0]) + 0.5) if len(finite) else (0.0, 1.0)
    edges = axis.edges[np.isfinite(axis.edges)]
    if len(edges) == 0:
        return 0.0, 1.0
    if len(edges) == 1:
        margin = 0.5 * abs(float(edges[0])) or 1.0
        return float(edges[0]) - margin, float(edges[0]) + margin
    return float(2 * edges[0] - edges[1]), float(2 * edges[-1] - edges[-2])


def bin_bounds(axis: NumericAxis) -> FloatArray:
    """Finite bounds of the ordered bins, one more than there are bins."""
    low, high = outer_bounds(axis)
    bounds = np.concatenate([[low], axis.edges, [high]])
    finite = bounds[np.isfinite(bounds)]
    clipped: FloatArray = np.clip(bounds, finite.min(), finite.max())
    return clipped


def bin_values(axis: Axis) -> Any:
    """A value in every bin: the only one, the middle, the level; NaN for missing numbers.

    The outermost bins are open; their values lie where training values were.
    """
    if isinstance(axis, CategoricalAxis):
        return np.array(level_names(axis), dtype=object)
    if axis.values is not None:
        return np.append(axis.values, np.nan)
    bounds = bin_bounds(axis)
    if axis.range is not None:
        bounds = np.clip(bounds, *axis.range)
    return np.append(bounds[:-1] / 2 + bounds[1:] / 2, np.nan)


def row_texts(
    axes: Sequence[Axis], table: Table, columns: Sequence[int]
) -> tuple[tuple[str, ...], ...]:
    """The values of a table's rows, as a reader would write them."""
    texts = [
        [_text(value) for value in table.levels(column)]
        if isinstance(axis, CategoricalAxis)
        else [_text(value) for value in table.numbers(column)]
        for axis, column in zip(axes, columns, strict=True)
    ]
    return tuple(zip(*texts, strict=True))


def remark(axis: Axis, frequencies: FloatArray, code: int, value: Any) -> str:
    """What is made of a value that no training row is like; empty for any other.

    ``code`` is the bin of the value, ``frequencies`` are those of the axis' bins.
    """
    if is_missing(value):
        return "" if frequencies[code] > 0 else "never missing in training, counts as neutral"
    if isinstance(axis, CategoricalAxis):
        is_new = code == len(axis.levels) + 2
        return "never seen in training, counts as neutral" if is_new else ""
    if axis.range is None or axis.range[0] <= value <= axis.range[1]:
        return ""
    ends = " to ".join(_text(end) for end in axis.range)
    side, like = ("above", "largest") if value > axis.range[1] else ("below", "smallest")
    return f"{side} all training values (within {ends}), counts as the {like}"


def _text(value: Any) -> str:
    if is_missing(value):
        return "missing"
    return f"{value:.6g}" if isinstance(value, float) else level_name(value)
