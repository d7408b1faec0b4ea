"""A model as one SELECT, in layers: values, logs of products, stages, their sum, the prediction.

Columns of layers have the number of their sum in their name; of several classes each has one.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

from seplearn._errors import out_of_range, wrong_type
from seplearn.export.sql.curves import are_whole, case_expression, curve_expression, sum_expression
from seplearn.export.sql.dialects import DIALECTS, Dialect, is_unicode
from seplearn.losses.links import LARGEST_LOG as LARGEST_LINKED
from seplearn.model.stage import LARGEST_LOG

_SMALLEST_LOG = -708.0  # PostgreSQL refuses an exponential below the smallest normal number
_LARGEST = 1.7976931348623157e308
# The table, in the innermost query: a name beside it is never taken for a text, as SQLite takes one
# in double quotes that no column has.
_SOURCE = "source_rows"
RESULT_NAMES = ("prediction", "intercept", "offset", "sum")
RESULT_BEGINNINGS = ("stage ", "main effect of ", "probability of ", "sum of ", "intercept of ")


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
    return "\0" not in text and is_unicode(text)


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
        is_whole = are_whole(feature)
        value = f"CAST({own.whole.format(name) if is_whole else name} AS {own.text})"
        columns.append((f"value_{j}", _as_whole(value, own) if is_whole else value))
    offset = plain["offset"]
    if offset is not None:
        columns.append(("offset_value", _offset(offset, own)))
    return columns


def _number(name: str, own: Dialect) -> str:
    return own.as_number.format(name=name, number=own.number)


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
            curve = curve_expression(plain["features"][j], j, effect["values"], own)
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
        logs = [curve_expression(f, c["feature"], c["log_size"], own) for f, c in curves]
        total = sum_expression([*logs, own.real(product["log_scale"])])
        columns.append((f"log_{place}", total))
        signs = [
            curve_expression(f, c["feature"], [1.0 - 2.0 * b for b in c["negative"]], own)
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
    return [(name, sum_expression(parts) or own.real(0.0)) for name, parts in values.items()]


def _totals(plain: dict[str, Any], own: Dialect) -> list[tuple[str, str]]:
    columns = []
    for k, terms in enumerate(plain["sums"]):
        names = [f"effect_{k}_{effect['feature']}" for effect in terms["effects"]]
        names += [f"stage_{k}_{s}" for s in range(len(terms["stages"]))]
        total = sum_expression([own.real(terms["intercept"]), *names])
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
    everything = sum_expression([f"size_{k}" for k in range(len(classes))])
    shares = [f"size_{k} / ({everything})" for k in range(len(classes))]
    return [("prediction", case_expression(cases, last)), *zip(names, shares, strict=True)]


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
        if literal is None or not is_unicode(label):
            raise ValueError(f"labels of classes must be texts that SQL can write, got {label!r}")
        return literal
    if isinstance(label, bool):
        return "TRUE" if label else "FALSE"
    if isinstance(label, int) and not -(2**63) <= label < 2**63:
        raise ValueError(f"labels of classes must be texts, or numbers of 64 bits, got {label}")
    return own.real(label) if isinstance(label, float) else str(label)
