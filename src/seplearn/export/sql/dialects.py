"""What databases call things, and what they cannot do."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

from seplearn._rules import Choice


@dataclass(frozen=True)
class Dialect:
    """How a database spells what a model needs.

    Attributes
    ----------
    number, text : str
        Types of double precision and of texts.
    infinity : str or None
        The infinite number; None where there is none.
    least, greatest : str
        Functions of two numbers.
    literal : callable
        A text as a literal, None for one that no column of this database can hold.
    identifier : callable
        A name in quotes.
    suffix : str
        What makes a number with a point one of double precision.
    binary : str
        What makes a comparison of texts one of their bytes.
    ignores_case : bool
        Whether two columns must differ by more than their case.
    apart : str
        What ends a layer so that it is computed once: databases that put the expression of a
        column wherever its name stands would compute a sum as often as it is used.
    as_number : str
        A column as a number of the type ``number``.
    cut : str
        A text without some character at its end.
    whole : str
        A number that its text should have all digits of, if it is a whole one.
    """

    number: str
    text: str
    infinity: str | None
    least: str
    greatest: str
    literal: Callable[[str], str | None]
    identifier: Callable[[str], str]
    suffix: str = "e0"
    binary: str = ""
    ignores_case: bool = False
    apart: str = ""
    as_number: str = "CAST({name} AS {number})"
    cut: str = "rtrim({}, '{}')"
    whole: str = "{}"

    def real(self, value: float) -> str:
        """A number with all its digits."""
        text = repr(float(value))
        if self.suffix == "e0":
            return text if "e" in text else f"{text}e0"
        return f"({text}){self.suffix}"

    def between(self, low: float, expression: str, high: float) -> str:
        """The expression, or the end that it is beyond; NULL where it is NULL.

        Some databases would leave NULL out of a comparison and give the end.
        """
        inner = f"{self.greatest}({expression}, {self.real(low)})"
        within = f"{self.least}({inner}, {self.real(high)})"
        return f"CASE WHEN {expression} IS NOT NULL THEN {within} END"


def _doubled(quote: str) -> Callable[[str], str]:
    return lambda text: quote + text.replace(quote, quote * 2) + quote


def _with_zeros(function: str) -> Callable[[str], str | None]:
    """Literals in which a zero character is written as a call: it would end the statement."""
    quoted = _doubled("'")
    return lambda text: f" || {function}(0) || ".join(quoted(part) for part in text.split("\0"))


def _without_zeros(text: str) -> str | None:
    return None if "\0" in text else _doubled("'")(text)


def _postgresql_literal(text: str) -> str | None:
    if "\0" in text:  # no text of PostgreSQL has one
        return None
    if "\\" not in text:
        return _doubled("'")(text)
    return "E'" + text.replace("\\", "\\\\").replace("'", "''") + "'"


def _bigquery_quoted(quote: str) -> Callable[[str], str]:
    def quoted(text: str) -> str:
        safe = text.replace("\\", "\\\\").replace(quote, f"\\{quote}")
        safe = re.sub(r"[\x00-\x1f\x7f]", lambda found: f"\\x{ord(found[0]):02x}", safe)
        return f"{quote}{safe}{quote}"

    return quoted


_NAME = _doubled('"')


DIALECTS = {
    "duckdb": Dialect(
        "DOUBLE", "VARCHAR", "CAST('Infinity' AS DOUBLE)", "least", "greatest",
        _with_zeros("chr"), _NAME, ignores_case=True,
    ),
    "postgresql": Dialect(
        "double precision", "text", "'Infinity'::float8", "least", "greatest",
        _postgresql_literal, _NAME, suffix="::float8", apart=" OFFSET 0",
    ),
    "sqlite": Dialect(
        "REAL", "TEXT", "9e999", "min", "max",
        _with_zeros("char"), _NAME, binary=" COLLATE BINARY", ignores_case=True,
        apart=" LIMIT -1 OFFSET 0",
        # A text is a number to SQLite whatever is in it: an empty one, or "NA", would be zero.
        as_number="CASE WHEN typeof({name}) <> 'text' OR {name} GLOB '*[0-9]*' "
        "THEN CAST({name} AS {number}) END",
        # The text of a number with a point has 15 digits, and an exponent if it has more.
        whole="CASE WHEN typeof({0}) = 'real' AND abs({0}) < 9e18 AND {0} = CAST({0} AS INTEGER) "
        "THEN CAST({0} AS INTEGER) ELSE {0} END",
    ),
    "bigquery": Dialect(
        "FLOAT64", "STRING", "CAST('inf' AS FLOAT64)", "LEAST", "GREATEST",
        _bigquery_quoted("'"), _bigquery_quoted("`"), ignores_case=True,
    ),
    "standard": Dialect(
        "DOUBLE PRECISION", "VARCHAR(65535)", None, "LEAST", "GREATEST", _without_zeros, _NAME,
        cut="TRIM(TRAILING '{1}' FROM {0})",
    ),
}  # fmt: skip


DIALECT_NAMES = Choice(tuple(DIALECTS))


def is_unicode(text: str) -> bool:
    """Whether a text has no half of a character, which no database can hold."""
    return not re.search("[\ud800-\udfff]", text)
