"""A model as one SELECT, in layers: values, logs of products, stages, their sum, the prediction.

Columns of layers have the number of their sum in their name; of several classes each has one.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import Any

from seplearn._errors import out_of_range, wrong_type
from seplearn._rules import Choice
from seplearn.export.json import as_float, level_bins
from seplearn.losses.links import LARGEST_LOG as LARGEST_LINKED
from seplearn.model.stage import LARGEST_LOG

_SMALLEST_LOG = -708.0  # PostgreSQL refuses an exponential below the smallest normal number
_LARGEST = 1.7976931348623157e308
_POWERS_FROM = 10**15  # smaller whole numbers have all their digits in every database
_WHOLE = re.compile("-?[0-9]+")
_TRUTH_VALUES = ("False", "True")
_TERMS_TOGETHER = 50  # SQLite refuses expressions that are nested deeper than 1000
_RANGES_TOGETHER = 16
# The table, in the innermost query: a name beside it is never taken for a text, as SQLite takes one
# in double quotes that no column has.
_SOURCE = "source_rows"
RESULT_NAMES = ("prediction", "intercept", "offset", "sum")
RESULT_BEGINNINGS = ("stage ", "main effect of ", "probability of ", "sum of ", "intercept of ")


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


def to_sql(
    plain: dict[str, Any],
    table: str | Sequence[str],
    dialect: str,
    explain: bool,
    keep: Sequence[str],
) -> str:
    """One SELECT that predicts every row of a table as the model of a document does."""
    own = DIALECTS[dialect]
    source = ".".join(own.identifier(part) for part in _table_parts(table))
    _check_names(plain, own, dialect, keep)
    own_columns = replace(own, identifier=lambda name: f"{_SOURCE}.{own.identifier(name)}")
    kept = [(f"keep_{k}", name) for k, name in enumerate(keep)]
    carried = [(alias, alias) for alias, _ in kept]
    if plain["offset"] is not None:
        carried.append(("offset_value", "offset_value"))
    told_later = [*_carried_effects(plain), *_carried_stages(plain)] if explain else []
    layers = [
        [
            *((alias, own_columns.identifier(name)) for alias, name in kept),
            *_values(plain, own_columns),
        ],
        [*carried, *_effects(plain, own), *_logs(plain, own)],
        [*carried, *_carried_effects(plain), *_stages(plain, own)],
        [*carried, *told_later, *_totals(plain, own)],
    ]
    if plain["link"] == "softmax":
        layers += _softmax_layers([*carried, *told_later], len(plain["sums"]), own)
    query = f"{source} AS {_SOURCE}"
    for depth, columns in enumerate(layers):
        query = _select(columns, query, f"layer_{depth}", own.apart if depth else "")
    told = [*_output(plain, own), *(_parts(plain, own) if explain else [])]
    outputs = [(name, alias) for alias, name in kept]
    outputs += [(_alias(name, dialect), expression) for name, expression in told]
    _check_outputs([name for name, _ in outputs], own, dialect)
    final = [(own.identifier(name), expression) for name, expression in outputs]
    names = ", ".join(ascii(feature["name"]) for feature in plain["features"])
    head = f"-- Written by seplearn from a fitted model of {names}.\n"
    return head + _select(final, query, None) + "\n"


def _table_parts(table: str | Sequence[str]) -> list[str]:
    rule = "a name, or a sequence of names such as ('schema', 'table')"
    parts = [table] if isinstance(table, str) else table
    if not isinstance(parts, (list, tuple)) or not all(isinstance(part, str) for part in parts):
        raise wrong_type("table", rule, table)
    if not parts or not all(part and _can_be_named(part) for part in parts):
        raise out_of_range("table", rule, table)
    return list(parts)


def _check_names(plain: dict[str, Any], own: Dialect, dialect: str, keep: Sequence[str]) -> None:
    if not isinstance(keep, (list, tuple)) or not all(isinstance(name, str) for name in keep):
        raise wrong_type("keep", "a sequence of names of columns", keep)
    for name in keep:
        if name in RESULT_NAMES or name.startswith(RESULT_BEGINNINGS):
            raise out_of_range("keep", "names that predictions do not have", name)
    names = [plain["features"][j]["name"] for j in _used(plain)]
    for name in (*names, *keep, *([plain["offset"]["name"]] if plain["offset"] else [])):
        if not name or not _can_be_named(name):
            raise ValueError(f"names of columns must be texts that SQL can write, got {name!r}")
    folded: dict[str, str] = {}
    for name in names:
        other = folded.setdefault(name.casefold() if own.ignores_case else name, name)
        if other != name:
            raise ValueError(
                f"names of features must differ by more than their case, which {dialect} ignores, "
                f"got {other!r} and {name!r}"
            )


def _check_outputs(names: Sequence[str], own: Dialect, dialect: str) -> None:
    """Raise where columns of the result, some named after classes, cannot be told apart."""
    seen: dict[str, str] = {}
    for name in names:
        if not _can_be_named(name):
            raise ValueError(f"columns of the result must have names of SQL, got {name!r}")
        folded = name.casefold() if own.ignores_case else name
        if folded in seen:
            raise ValueError(
                f"columns of the result must have names that {dialect} tells apart, got "
                f"{seen[folded]!r} and {name!r}"
            )
        seen[folded] = name


def _can_be_named(text: str) -> bool:
    return "\0" not in text and _is_unicode(text)


def _is_unicode(text: str) -> bool:
    """Whether a text has no half of a character, which no database can hold."""
    return not re.search("[\ud800-\udfff]", text)


def _alias(name: str, dialect: str) -> str:
    """The name of a column of the result; BigQuery has rules for its characters."""
    return re.sub(r"[^\w &%=+:'<>#|-]", "_", name) if dialect == "bigquery" else name


def _select(
    columns: Sequence[tuple[str, str]], source: str, alias: str | None, end: str = ""
) -> str:
    """A SELECT; as a part of another one in brackets, with a name.

    A column that is handed on has its own name as its expression.
    """
    body = (
        ",\n".join(e if e == name else f"{e} AS {name}" for name, e in columns) or "1 AS no_column"
    )
    text = f"SELECT\n{body}\nFROM {source}{end}"
    return text if alias is None else f"(\n{text}\n) AS {alias}"


def _used(plain: dict[str, Any]) -> list[int]:
    """The features that any curve depends on."""
    used = set()
    for terms in plain["sums"]:
        used |= {effect["feature"] for effect in terms["effects"]}
        products = [one for stage in terms["stages"] for one in stage["products"]]
        used |= {curve["feature"] for product in products for curve in product["curves"]}
    return sorted(used)


def _values(plain: dict[str, Any], own: Dialect) -> list[tuple[str, str]]:
    columns = []
    for j in _used(plain):
        feature = plain["features"][j]
        name = own.identifier(feature["name"])
        if feature["kind"] == "numeric":
            columns.append((f"value_{j}", _number(name, own)))
            continue
        is_whole = _are_whole(feature)
        value = f"CAST({own.whole.format(name) if is_whole else name} AS {own.text})"
        columns.append((f"value_{j}", _as_whole(value, own) if is_whole else value))
    offset = plain["offset"]
    if offset is not None:
        columns.append(("offset_value", _offset(offset, own)))
    return columns


def _number(name: str, own: Dialect) -> str:
    return own.as_number.format(name=name, number=own.number)


def _are_whole(feature: dict[str, Any]) -> bool:
    """Whether all levels are whole numbers, or truth values, which a column may have as numbers."""
    if feature["kind"] == "numeric":
        return False
    texts = level_bins(feature)
    return all(text in _TRUTH_VALUES or _WHOLE.fullmatch(text) for text in texts)


def _as_whole(text: str, own: Dialect) -> str:
    """The text of a number without zeros after a point: 7 for 7.0 and for 7.00."""
    short = own.cut.format(own.cut.format(text, "0"), ".")
    return f"CASE WHEN replace({text}, '.', '') <> {text} THEN {short} ELSE {text} END"


def _offset(offset: dict[str, Any], own: Dialect) -> str:
    """What is added to the sum; NULL where `predict` would refuse it: NaN, infinities, no exposure.

    To DuckDB and PostgreSQL NaN is larger than every number.
    """
    value = _number(own.identifier(offset["name"]), own)
    largest = own.real(_LARGEST)
    if offset["is_exposure"]:
        return f"CASE WHEN {value} > 0 AND {value} <= {largest} THEN ln({value}) END"
    return f"CASE WHEN {value} >= {own.real(-_LARGEST)} AND {value} <= {largest} THEN {value} END"


def _effects(plain: dict[str, Any], own: Dialect) -> list[tuple[str, str]]:
    columns = []
    for k, terms in enumerate(plain["sums"]):
        for effect in terms["effects"]:
            j = effect["feature"]
            curve = _curve(plain["features"][j], j, effect["values"], own)
            columns.append((f"effect_{k}_{j}", curve))
    return columns


def _carried_effects(plain: dict[str, Any]) -> list[tuple[str, str]]:
    sums = enumerate(plain["sums"])
    names = [f"effect_{k}_{e['feature']}" for k, terms in sums for e in terms["effects"]]
    return [(name, name) for name in names]


def _carried_stages(plain: dict[str, Any]) -> list[tuple[str, str]]:
    sums = enumerate(plain["sums"])
    names = [f"stage_{k}_{s}" for k, terms in sums for s in range(len(terms["stages"]))]
    return [(name, name) for name in names]


def _products(plain: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    """All products, with the end of the names of their columns."""
    for k, terms in enumerate(plain["sums"]):
        for s, stage in enumerate(terms["stages"]):
            for p, product in enumerate(stage["products"]):
                yield f"{k}_{s}_{p}", product


def _logs(plain: dict[str, Any], own: Dialect) -> list[tuple[str, str]]:
    """The log of every product's size, and its sign where that depends on the row."""
    columns = []
    for place, product in _products(plain):
        curves = [(plain["features"][c["feature"]], c) for c in product["curves"]]
        logs = [_curve(f, c["feature"], c["log_size"], own) for f, c in curves]
        total = _added([*logs, own.real(product["log_scale"])])
        columns.append((f"log_{place}", total))
        signs = [
            _curve(f, c["feature"], [1.0 - 2.0 * b for b in c["negative"]], own)
            for f, c in curves
            if "negative" in c
        ]
        if signs:
            columns.append((f"sign_{place}", " * ".join(signs)))
    return columns


def _stages(plain: dict[str, Any], own: Dialect) -> list[tuple[str, str]]:
    values: dict[str, list[str]] = {name: [] for name, _ in _carried_stages(plain)}
    for place, product in _products(plain):
        value = f"exp({own.between(_SMALLEST_LOG, f'log_{place}', LARGEST_LOG)})"
        if any("negative" in curve for curve in product["curves"]):
            value = f"sign_{place} * {value}"
        stage = f"stage_{place.rpartition('_')[0]}"
        values[stage].append(f"{'- ' if product['sign'] < 0 else ''}{value}")
    return [(name, _added(parts) or own.real(0.0)) for name, parts in values.items()]


def _totals(plain: dict[str, Any], own: Dialect) -> list[tuple[str, str]]:
    columns = []
    for k, terms in enumerate(plain["sums"]):
        names = [f"effect_{k}_{effect['feature']}" for effect in terms["effects"]]
        names += [f"stage_{k}_{s}" for s in range(len(terms["stages"]))]
        total = _added([own.real(terms["intercept"]), *names])
        bounded = own.between(-_LARGEST, total, _LARGEST)
        added = "" if plain["offset"] is None else " + offset_value"
        columns.append((f"total_{k}", f"{bounded}{added}"))
    return columns


def _softmax_layers(
    carried: Sequence[tuple[str, str]], n_classes: int, own: Dialect
) -> list[list[tuple[str, str]]]:
    """The largest score, and what the probability of every class is proportional to.

    Halves are taken from each other: the difference of huge numbers would be beyond all numbers,
    which some databases refuse.
    """
    names = [f"total_{k}" for k in range(n_classes)]
    totals = [(name, name) for name in names]
    two, floor = own.real(2.0), own.real(_SMALLEST_LOG / 2)
    halves = [f"{own.greatest}({name} / {two} - top / {two}, {floor})" for name in names]
    sizes = [(f"size_{k}", f"exp({two} * {half})") for k, half in enumerate(halves)]
    return [
        [*carried, *totals, ("top", f"{own.greatest}({', '.join(names)})")],
        [*carried, *totals, ("top", "top"), *sizes],
    ]


def _output(plain: dict[str, Any], own: Dialect) -> list[tuple[str, str]]:
    """The prediction, of a classifier with the probability of every class."""
    if plain["link"] == "identity":
        return [("prediction", "total_0")]
    if plain["link"] == "log":
        return [("prediction", f"exp({own.between(-LARGEST_LINKED, 'total_0', LARGEST_LINKED)})")]
    names = [f"probability of {label}" for label in plain["classes"]]
    if plain["link"] == "softmax":
        return _softmax_output(plain["classes"], names, own)
    first, second = (_label(label, own) for label in plain["classes"])
    chances = [
        f"1 / (1 + exp({own.between(-LARGEST_LINKED, log_odds, LARGEST_LINKED)}))"
        for log_odds in ("total_0", "- total_0")
    ]
    likelier = f"CASE WHEN total_0 > 0 THEN {second} WHEN total_0 <= 0 THEN {first} END"
    return [("prediction", likelier), *zip(names, chances, strict=True)]


def _softmax_output(
    classes: Sequence[Any], names: Sequence[str], own: Dialect
) -> list[tuple[str, str]]:
    """The first class whose score is the largest, and the shares of all."""
    *others, last = (_label(label, own) for label in classes)
    cases = [(f"total_{k} = top", label) for k, label in enumerate(others)]
    everything = _added([f"size_{k}" for k in range(len(classes))])
    shares = [f"size_{k} / ({everything})" for k in range(len(classes))]
    return [("prediction", _cases(cases, last)), *zip(names, shares, strict=True)]


def _parts(plain: dict[str, Any], own: Dialect) -> list[tuple[str, str]]:
    """What adds up to the prediction, or to the column ``sum`` that a link makes it of.

    Of several classes the names of columns end with that of the class.
    """
    columns = []
    for k, terms in enumerate(plain["sums"]):
        label = plain["classes"][k] if len(plain["sums"]) > 1 else None
        of, on = ("", "") if label is None else (f" of {label}", f" for {label}")
        if plain["link"] != "identity":
            columns.append((f"sum{of}", f"total_{k}"))
        columns.append((f"intercept{of}", own.real(terms["intercept"])))
        if plain["offset"] is not None:
            columns.append(("offset", "offset_value"))
        for effect in terms["effects"]:
            j = effect["feature"]
            name = plain["features"][j]["name"]
            columns.append((f"main effect of {name}{on}", f"effect_{k}_{j}"))
        columns += [(f"stage {s}{of}", f"stage_{k}_{s}") for s in range(len(terms["stages"]))]
    return columns


def _label(label: Any, own: Dialect) -> str:
    if isinstance(label, str):
        literal = own.literal(label)
        if literal is None or not _is_unicode(label):
            raise ValueError(f"labels of classes must be texts that SQL can write, got {label!r}")
        return literal
    if isinstance(label, bool):
        return "TRUE" if label else "FALSE"
    if isinstance(label, int) and not -(2**63) <= label < 2**63:
        raise ValueError(f"labels of classes must be texts, or numbers of 64 bits, got {label}")
    return own.real(label) if isinstance(label, float) else str(label)


def _curve(feature: dict[str, Any], j: int, values: Sequence[float], own: Dialect) -> str:
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
    return _cases(_in_groups([*told, (rest, own.real(values[len(edges)]))]), own.real(values[-1]))


def _curve_of_levels(
    feature: dict[str, Any], value: str, values: Sequence[float], own: Dialect
) -> str:
    """What a level is given; names that are given the same share a line."""
    n_levels = len(feature["levels"])
    bins = _bins_of_texts(feature)
    together: dict[float, list[str]] = {}
    for name, b in bins.items():
        literal = own.literal(name) if _is_unicode(name) else None
        if literal is not None:
            together.setdefault(values[b], []).append(literal)
    missing, unseen = values[n_levels + 1], values[n_levels + 2]
    cases = [(f"{value} IS NULL", own.real(missing))]
    for given, names in together.items():
        if given != unseen:
            listed = f"= {names[0]}" if len(names) == 1 else f"IN ({', '.join(names)})"
            cases.append((f"{value}{own.binary} {listed}", own.real(given)))
    return _cases(cases, own.real(unseen))


def _bins_of_texts(feature: dict[str, Any]) -> dict[str, int]:
    """The bin of every text that a column may be cast to for a level."""
    bins = level_bins(feature)
    if not _are_whole(feature):
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
        groups.append((last, _cases(others, given) if others else given))
    return groups


def _cases(cases: Sequence[tuple[str, str]], otherwise: str) -> str:
    lines = [f"  WHEN {condition} THEN {given}" for condition, given in cases]
    return "\n".join(["CASE", *lines, f"  ELSE {otherwise} END"])


def _added(terms: Sequence[str]) -> str:
    """A sum, in brackets of a few terms each where there are many."""
    while len(terms) > _TERMS_TOGETHER:
        parts = range(0, len(terms), _TERMS_TOGETHER)
        terms = [f"({' + '.join(terms[k : k + _TERMS_TOGETHER])})" for k in parts]
    return " + ".join(terms)
