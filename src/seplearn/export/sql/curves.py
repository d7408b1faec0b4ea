"""The curve of a feature as an expression: which bin a value is in, and its number there."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from decimal import Decimal
from typing import Any

from seplearn.export.json import as_float, level_bins
from seplearn.export.sql.dialects import Dialect, is_unicode

_POWERS_FROM = 10**15  # smaller whole numbers have all their digits in every database
_TRUTH_VALUES = ("False", "True")
_WHOLE = re.compile("-?[0-9]+")
_TERMS_TOGETHER = 50  # SQLite refuses expressions that are nested deeper than 1000
_RANGES_TOGETHER = 16


def curve_expression(feature: dict[str, Any], j: int, values: Sequence[float], own: Dialect) -> str:
    """What the curve of feature ``j`` gives for its column ``value_j``."""
    if feature["kind"] == "numeric":
        return _curve_of_numbers(feature["edges"], f"value_{j}", values, own)
    return _curve_of_levels(feature, f"value_{j}", values, own)


def _curve_of_numbers(
    edges: Sequence[Any], value: str, values: Sequence[float], own: Dialect
) -> str:
    """What a number of a range is given; NULL and NaN are below nothing, and come last."""
    cases = []
    for k, edge in enumerate(map(as_float, edges)):
        if values[k] == values[k + 1]:
            continue
        if math.isfinite(edge):
            cases.append((f"{value} < {own.real(edge)}", values[k]))
        elif own.infinity is not None:
            cases.append((f"{value} < {own.infinity}", values[k]))
        else:  # nothing is infinite, and so nothing above this edge
            cases.append((f"{value} IS NOT NULL", values[k]))
    infinity = own.infinity
    rest = f"{value} IS NOT NULL" if infinity is None else f"{value} <= {infinity}"
    told = [(condition, own.real(given)) for condition, given in cases]
    return case_expression(
        _in_groups([*told, (rest, own.real(values[len(edges)]))]), own.real(values[-1])
    )


def _curve_of_levels(
    feature: dict[str, Any], value: str, values: Sequence[float], own: Dialect
) -> str:
    """What a level is given; names that are given the same share a line."""
    n_levels = len(feature["levels"])
    bins = _bins_of_texts(feature)
    together: dict[float, list[str]] = {}
    for name, b in bins.items():
        literal = own.literal(name) if is_unicode(name) else None
        if literal is not None:
            together.setdefault(values[b], []).append(literal)
    missing, unseen = values[n_levels + 1], values[n_levels + 2]
    cases = [(f"{value} IS NULL", own.real(missing))]
    for given, names in together.items():
        if given != unseen:
            listed = f"= {names[0]}" if len(names) == 1 else f"IN ({', '.join(names)})"
            cases.append((f"{value}{own.binary} {listed}", own.real(given)))
    return case_expression(cases, own.real(unseen))


def _bins_of_texts(feature: dict[str, Any]) -> dict[str, int]:
    """The bin of every text that a column may be cast to for a level."""
    bins = level_bins(feature)
    if not are_whole(feature):
        return bins
    # Databases write truth values in small letters, and a float of 1e16 with a power of ten.
    small = {name.lower(): bins[name] for name in _TRUTH_VALUES if name in bins}
    numbers = [name for name in bins if _WHOLE.fullmatch(name)]
    large = {text: bins[name] for name in numbers for text in _with_a_power(int(name))}
    return bins | small | large | ({"-0": bins["0"]} if "0" in bins else {})


def _with_a_power(value: int) -> list[str]:
    """How databases spell a large whole number that is a float: 1e+16, or 1.0e+16."""
    if abs(value) < _POWERS_FROM or int(float(value)) != value:
        return []
    digits, power = f"{Decimal(repr(float(value))).normalize():e}".split("e")
    return [f"{digits}e{power}"] + ([] if "." in digits else [f"{digits}.0e{power}"])


def _in_groups(cases: Sequence[tuple[str, str]]) -> list[tuple[str, str]]:
    """Ranges in ascending order as groups of ranges, where there are many.

    A database tries one condition after the other: so it tries far fewer of them.
    """
    if len(cases) <= _RANGES_TOGETHER:
        return list(cases)
    groups = []
    for first in range(0, len(cases), _RANGES_TOGETHER):
        *others, (last, given) = cases[first : first + _RANGES_TOGETHER]
        groups.append((last, case_expression(others, given) if others else given))
    return groups


def case_expression(cases: Sequence[tuple[str, str]], otherwise: str) -> str:
    """What the first condition that holds is given."""
    lines = [f"  WHEN {condition} THEN {given}" for condition, given in cases]
    return "\n".join(["CASE", *lines, f"  ELSE {otherwise} END"])


def sum_expression(terms: Sequence[str]) -> str:
    """A sum, in brackets of a few terms each where there are many."""
    while len(terms) > _TERMS_TOGETHER:
        parts = range(0, len(terms), _TERMS_TOGETHER)
        terms = [f"({' + '.join(terms[k : k + _TERMS_TOGETHER])})" for k in parts]
    return " + ".join(terms)


def are_whole(feature: dict[str, Any]) -> bool:
    """Whether all levels are whole numbers, or truth values, which a column may have as numbers."""
    if feature["kind"] == "numeric":
        return False
    texts = level_bins(feature)
    return all(text in _TRUTH_VALUES or _WHOLE.fullmatch(text) for text in texts)
