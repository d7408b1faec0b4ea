"""Rules for the values of parameters; ``str`` of a rule is its wording in messages."""

from __future__ import annotations

import math
import numbers
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from seplearn._errors import out_of_range, wrong_type


def is_real(value: Any) -> bool:
    """Whether ``value`` is a number; True and False are not."""
    return isinstance(value, numbers.Real) and not isinstance(value, (bool, np.bool_))


def is_whole(value: Any) -> bool:
    """Whether ``value`` is an integer; True and False are not."""
    return isinstance(value, numbers.Integral) and is_real(value)


def check_level(level: Any) -> float:
    """The share of bootstrap replicates inside a band; all of them would be no band."""
    if not is_real(level) or not 0 < level < 1:
        raise out_of_range("level", "a number between 0 and 1", level)
    return float(level)


@dataclass(frozen=True)
class Interval:
    """Numbers between two bounds; ``whole`` for integers, ``above`` to exclude the lower bound."""

    low: float
    high: float = math.inf
    whole: bool = False
    above: bool = False

    def __str__(self) -> str:
        kind = "an integer" if self.whole else "a number"
        lower = f"{'>' if self.above else '>='} {self.low:g}"
        return f"{kind} {lower}" + ("" if math.isinf(self.high) else f" and <= {self.high:g}")

    def check(self, name: str, value: Any) -> None:
        if not (is_whole(value) if self.whole else is_real(value)):
            raise wrong_type(name, str(self), value)
        inside = self.low < value if self.above else self.low <= value
        if not inside or value > self.high or value == math.inf:
            raise out_of_range(name, str(self), value)
        if self.whole and value >= 2**31:
            raise out_of_range(name, f"{self} and < 2**31", value)


@dataclass(frozen=True)
class Choice:
    """One of a few words."""

    options: tuple[str, ...]

    def __str__(self) -> str:
        return "one of " + ", ".join(repr(option) for option in self.options)

    def check(self, name: str, value: Any) -> None:
        if not isinstance(value, str):
            raise wrong_type(name, str(self), value)
        if value not in self.options:
            raise out_of_range(name, str(self), value)


@dataclass(frozen=True)
class ClassWeights:
    """None, "balanced", or a positive weight per class; whether they are classes, the fit sees."""

    def __str__(self) -> str:
        return "None, 'balanced' or a dict of a positive weight per class"

    def check(self, name: str, value: Any) -> None:
        if value is None or (isinstance(value, str) and value == "balanced"):
            return
        if not isinstance(value, Mapping):
            kind = out_of_range if isinstance(value, str) else wrong_type
            raise kind(name, str(self), value)
        for weight in value.values():
            if not is_real(weight) or not 0 < weight < math.inf:
                raise out_of_range(name, str(self), value)


@dataclass(frozen=True)
class Flag:
    """True or False."""

    def __str__(self) -> str:
        return "True or False"

    def check(self, name: str, value: Any) -> None:
        if not isinstance(value, (bool, np.bool_)):
            raise wrong_type(name, str(self), value)


@dataclass(frozen=True)
class Seed:
    """What scikit-learn takes as a random state."""

    def __str__(self) -> str:
        return "None, an integer in [0, 2**32), or a numpy.random.RandomState"

    def check(self, name: str, value: Any) -> None:
        if value is None or isinstance(value, np.random.RandomState):
            return
        if not is_whole(value):
            raise wrong_type(name, str(self), value)
        if not 0 <= int(value) < 2**32:
            raise out_of_range(name, str(self), value)


@dataclass(frozen=True)
class Jobs:
    """What joblib takes as a number of jobs."""

    def __str__(self) -> str:
        return "None or an integer other than 0"

    def check(self, name: str, value: Any) -> None:
        if value is None:
            return
        if not is_whole(value):
            raise wrong_type(name, str(self), value)
        if value == 0:
            raise out_of_range(name, str(self), value)


@dataclass(frozen=True)
class Verbosity:
    """How much is shown while a fit runs."""

    def __str__(self) -> str:
        return "True, False or an integer >= 0"

    def check(self, name: str, value: Any) -> None:
        if isinstance(value, (bool, np.bool_)):
            return
        if not is_whole(value):
            raise wrong_type(name, str(self), value)
        if value < 0:
            raise out_of_range(name, str(self), value)


@dataclass(frozen=True)
class Columns:
    """Columns of a table."""

    def __str__(self) -> str:
        return "'auto', None, or a list of column names, positions or booleans"

    def check(self, name: str, value: Any) -> None:
        if value is None or (isinstance(value, str) and value == "auto"):
            return
        if isinstance(value, str):
            raise out_of_range(name, str(self), value)
        if not isinstance(value, (list, tuple, np.ndarray)):
            raise wrong_type(name, str(self), value)
        kinds = (str, numbers.Integral, np.bool_)
        if not all(isinstance(item, kinds) for item in value):
            raise wrong_type(name, str(self), value)


@dataclass(frozen=True)
class WordOr:
    """A word, or what another rule allows."""

    word: str
    otherwise: Interval | Flag

    def __str__(self) -> str:
        return f"{self.word!r} or {self.otherwise}"

    def check(self, name: str, value: Any) -> None:
        if isinstance(value, str):
            if value != self.word:
                raise out_of_range(name, str(self), value)
            return
        self.otherwise.check(name, value)


@dataclass(frozen=True)
class Directions:
    """Monotone constraints."""

    def __str__(self) -> str:
        return "None, a dict from names of columns to 1, -1 or 0, or a list of these numbers"

    def check(self, name: str, value: Any) -> None:
        if value is not None and not isinstance(value, (Mapping, list, tuple, np.ndarray)):
            raise wrong_type(name, str(self), value)


Rule = (
    ClassWeights
    | Interval
    | Choice
    | Flag
    | Seed
    | Jobs
    | Verbosity
    | Columns
    | WordOr
    | Directions
)
