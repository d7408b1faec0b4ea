"""Rules for what stands in a file, each applied before the value is used."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from seplearn._errors import ModelFormatError
from seplearn.kernels.arrays import FloatArray


def require(condition: bool, what: str) -> None:
    """Refuse the file unless ``condition`` holds."""
    if not condition:
        raise ModelFormatError(f"not a valid seplearn model: {what}")


def number(value: Any) -> float:
    """A number that may be infinite; a text or True is none."""
    require(type(value) in (int, float), "a number is expected where something else stands")
    out = float(value)
    require(not math.isnan(out), "a number must not be NaN")
    return out


def finite(value: Any) -> float:
    """A number that is not infinite."""
    out = number(value)
    require(math.isfinite(out), "a number must be finite")
    return out


def size(value: Any) -> float:
    """Zero or more; infinite when the squares of a huge target overflow."""
    out = number(value)
    require(out >= 0, "a loss, a time or a degree of freedom must not be negative")
    return out


def count(value: Any, most: int = 2**53) -> int:
    """A whole number from zero to ``most``."""
    whole = type(value) is int and 0 <= value <= most
    require(whole, f"a count must be an integer from 0 to {most}")
    return int(value)


def flag(value: Any) -> bool:
    """True or False."""
    require(type(value) is bool, "True or False is expected where something else stands")
    return bool(value)


def text_or_none(value: Any, what: str) -> str | None:
    """A text, or nothing."""
    require(value is None or type(value) is str, what)
    return None if value is None else str(value)


def table(value: Any, fields: set[str], what: str) -> dict[str, Any]:
    """An object with exactly these fields."""
    require(isinstance(value, dict) and set(value) == fields, f"fields of {what}")
    return dict(value)


def floats(
    array: np.ndarray[Any, Any],
    name: str,
    shape: tuple[int | None, ...],
    largest: float | None = None,
) -> FloatArray:
    """An array of float64 of this shape (None is any size), finite and at most ``largest``.

    With ``largest=math.inf`` infinite numbers are allowed, NaN never is.
    """
    fits = array.ndim == len(shape) and all(
        wanted in (None, size) for size, wanted in zip(array.shape, shape, strict=True)
    )
    require(fits and array.dtype == np.float64, f"shape or type of {name!r}")
    if largest == math.inf:
        require(not np.isnan(array).any(), f"{name!r} must hold finite or infinite numbers")
    else:
        require(bool(np.isfinite(array).all()), f"{name!r} must hold finite numbers")
        small = largest is None or not array.size or float(np.abs(array).max()) <= largest
        require(small, f"{name!r} must hold numbers of at most {largest}")
    return array


class Supply:
    """Items that lie one after the other; each reader takes as many as are its own."""

    def __init__(self, items: Any, what: str) -> None:
        self._items, self._what, self._used = items, what, 0

    def take(self, n: int) -> Any:
        """The next ``n`` items."""
        part = self._items[self._used : self._used + n]
        require(len(part) == n, f"there are too few {self._what}")
        self._used += n
        return part

    def finish(self) -> None:
        """Refuse the file if items are left."""
        require(self._used == len(self._items), f"{self._what} are left over")
