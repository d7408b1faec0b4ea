"""Numbers, shares and counts as a sentence has them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np


def percent(share: float) -> str:
    """A share in percent, with a decimal where it rounds to less than one, or to all.

    Examples
    --------
    >>> percent(0.5), percent(0.004), percent(0.0), percent(0.9967), percent(1.0)
    ('50 %', '0.4 %', '0 %', '99.7 %', '100 %')
    """
    is_near_an_end = 0 < share < 0.0095 or 0.995 <= share < 0.9995
    return f"{100 * share:.{1 if is_near_an_end else 0}f} %"


def count(n: int, what: str) -> str:
    """A number of things in words.

    Examples
    --------
    >>> count(1, "other stage"), count(1200, "row")
    ('1 other stage', '1,200 rows')
    """
    return f"{n:,} {what}{'' if n == 1 else 's'}"


def listed(words: Sequence[str], most: int | None = None, last: str = "and") -> str:
    """Words in a row, of many the first.

    Examples
    --------
    >>> listed("abc"), listed("abcdefg", most=2), listed("a")
    ('a, b and c', 'a, b and 5 more', 'a')
    """
    if most is not None and len(words) > most:
        words = [*words[:most], f"{len(words) - most} more"]
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} {last} {words[-1]}"


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
