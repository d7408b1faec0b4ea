"""Values, shares and counts in words."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Sequence
from typing import Any

import numpy as np

from seplearn._numerals import number_text
from seplearn.kernels.arrays import FloatArray
from seplearn.table.binning import Axis
from seplearn.table.columns import Table, is_missing, level_name

_LARGEST_CODE = 2.0**53  # up to there every whole number is one of its own
_DIGITS = 6
_MORE_DECIMALS = 12
_STUCK = "\N{NO-BREAK SPACE}"


def folded(text: str, width: int, start: str = "", further: str = "") -> list[str]:
    """A sentence in lines of at most ``width`` letters; no line begins with a percent sign.

    Examples
    --------
    >>> folded("It is 50 % of them.", 8)
    ['It is', '50 % of', 'them.']
    """
    joined = text.replace(" %", _STUCK + "%")
    lines = textwrap.wrap(joined, width, initial_indent=start, subsequent_indent=further)
    return [line.replace(_STUCK, " ") for line in lines]


def place_texts(values: Sequence[float], span: float) -> list[str]:
    """Places along a feature, to a hundredth of ``span``, or finer where they would look alike.

    Examples
    --------
    >>> place_texts([-122.341, -122.187], 1.2), place_texts([-0.9987], 4.0)
    (['-122.34', '-122.19'], ['-1'])
    >>> place_texts([0.50012, 0.50034], 100.0)
    ['0.5001', '0.5003']
    """
    decimals = math.ceil(2.0 - math.log10(span)) if 0.0 < span < math.inf else 6
    words: list[str] = []
    for more in range(_MORE_DECIMALS):
        words = [number_text(round(value, decimals + more), 15) for value in values]
        if len(set(words)) == len(set(values)):
            break
    return words


def span_at(values: FloatArray, k: int) -> float:
    """The span by which the place of one of some ascending values is told.

    That of all values, or a hundred times the distance to the next if they lie closer together
    there, as the small ones of incomes do: a hundredth of all would be zero for most of them.

    Examples
    --------
    >>> span_at(np.array([1.0, 2.0, 4.0, 9000.0]), 0), span_at(np.array([1.0, 2.0, 3.0]), 0)
    (100.0, 2.0)
    """
    near = np.diff(values[max(k - 1, 0) : k + 2]).max(initial=0.0)
    return float(min(values[-1] - values[0], 100.0 * near))


def row_texts(
    axes: Sequence[Axis], table: Table, columns: Sequence[int]
) -> tuple[tuple[str, ...], ...]:
    """The values of a table's rows, as a reader would write them."""
    texts = [
        [value_text(value) for value in axis.read(table, column)]
        for axis, column in zip(axes, columns, strict=True)
    ]
    return tuple(zip(*texts, strict=True))


def remark(
    axis: Axis, frequencies: FloatArray, code: int, value: Any, is_neutral: bool = True
) -> str:
    """What is made of a value that no training row is like; empty for any other.

    ``code`` is the bin of the value, ``frequencies`` are those of the axis' bins. A bin without
    training rows is neutral unless an edit made it something else.
    """
    description = axis.describe()
    meaning, ends = description.meanings[code], description.range
    counts = ", counts as neutral" if is_neutral else ", counts as an edit says"
    if meaning == "missing":
        return "" if frequencies[code] > 0 else f"never missing in training{counts}"
    if meaning == "unseen":
        return f"never seen in training{counts}"
    if ends is None or ends[0] <= value <= ends[1]:
        return ""
    side, like = ("above", "largest") if value > ends[1] else ("below", "smallest")
    within = " to ".join(value_text(end) for end in ends)
    return f"{side} all training values (within {within}), counts as the {like}"


def value_text(value: Any) -> str:
    """A value of a row as a reader would write it.

    Examples
    --------
    >>> value_text(0.25), value_text("north"), value_text(None)
    ('0.25', 'north', 'missing')
    """
    if is_missing(value):
        return "missing"
    if not isinstance(value, float):
        return level_name(value)
    is_code = value.is_integer() and abs(value) < _LARGEST_CODE  # or a day: 20240131
    if is_code:
        return f"{value:.0f}"
    # Two decimals of large numbers too: a day as 2450003.6, a coordinate in metres.
    whole = len(f"{abs(value):.0f}") if abs(value) < _LARGEST_CODE else 0
    return f"{value:.{max(_DIGITS, whole + 2)}g}"


def exact_text(value: Any) -> str:
    """A value as it is, to be entered again.

    Examples
    --------
    >>> exact_text(2450003.625), exact_text(12.0), exact_text("north")
    ('2450003.625', '12', 'north')
    >>> exact_text(1.6000000001234568e18)
    '1.6000000001234568e+18'
    """
    is_finite = isinstance(value, float) and math.isfinite(value)
    is_code = is_finite and value.is_integer() and abs(value) < _LARGEST_CODE
    return repr(float(value)) if is_finite and not is_code else value_text(value)
