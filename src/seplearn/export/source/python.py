"""A model as a Python module without imports from outside the standard library."""

from __future__ import annotations

from typing import Any

from seplearn.export.json import level_bins
from seplearn.export.source.text import head_lines, joined, numbers
from seplearn.losses.links import LARGEST_LOG as LARGEST_LINKED
from seplearn.model.stage import LARGEST_LOG

_IMPORTS = """
from bisect import bisect_right
from math import exp, inf, isfinite
from numbers import Integral
"""

_FUNCTIONS = '''
LARGEST = 1.7976931348623157e308


def _is_missing(value):
    try:
        return value is None or bool(value != value)
    except TypeError:
        return True


def _level_name(name, value):
    """The name of a level: the same for 1, 1.0 and "1"."""
    if hasattr(value, "item"):
        value = value.item()
    if isinstance(value, (str, bool)):
        return str(value)
    if isinstance(value, (list, tuple, dict, set)):
        raise TypeError(f"{name!r} must be a text or a number, got {value!r}")
    if isinstance(value, Integral):
        return str(int(value))
    number = float(value)
    return str(int(number)) if number.is_integer() else repr(number)


def _bin(feature, row):
    """The bin of a row's value; the row must have the feature, but its value may be missing."""
    name, edges, bins, n_levels = feature
    value = row[name]
    if edges is None:
        if _is_missing(value):
            return n_levels + 1
        return bins.get(_level_name(name, value), n_levels + 2)
    if _is_missing(value):
        return len(edges) + 1
    if isinstance(value, str):
        raise TypeError(f"{name!r} must be a number, got {value!r}")
    return bisect_right(edges, float(value))


def _value(product, bins):
    sign, log_scale, curves = product
    log_size = 0.0
    for feature, sizes, negative in curves:
        log_size += sizes[bins[feature]]
        if negative is not None and negative[bins[feature]]:
            sign = -sign
    return sign * exp(min(log_size + log_scale, LARGEST_LOG))


def _bins(row):
    return [_bin(feature, row) for feature in FEATURES]


def _parts(terms, bins):
    """Main effects and stages of a row."""
    effects = [values[bins[feature]] for feature, values in terms["effects"]]
    stages = [sum((_value(p, bins) for p in products), 0.0) for _, products in terms["stages"]]
    return effects, stages


def _total(terms, effects, stages):
    total = sum(effects, 0.0) + terms["intercept"]
    for stage in stages:
        total += stage
    return min(max(total, -LARGEST), LARGEST)


def _sums(row):
    bins = _bins(row)
    return [_total(terms, *_parts(terms, bins)) for terms in SUMS]
'''

_ONE_SUM = """

def _sum(row, offset):
    if not isfinite(offset):
        raise ValueError(f"offset must be a finite number, got {offset!r}")
    return _sums(row)[0] + offset
"""

_PREDICT = {
    "identity": '''

def predict(row, offset=0.0):
    """The prediction for a row, a mapping of names of features to values; None is missing."""
    return _sum(row, offset)
''',
    "log": '''

def predict(row, offset=0.0):
    """The prediction for a row, a mapping of names of features to values; None is missing.

    ``offset`` is added to the log of the prediction: the log of an exposure, say.
    """
    return exp(min(max(_sum(row, offset), -LARGEST_SUM), LARGEST_SUM))
''',
    "logit": '''

def _probability(log_odds):
    small = exp(-min(abs(log_odds), LARGEST_SUM))
    if log_odds >= 0.0:
        return 1.0 / (1.0 + small)
    return small / (1.0 + small) if log_odds > -LARGEST_SUM else 0.0


def predict_proba(row, offset=0.0):
    """The probability of every class, in the order of CLASSES; offset is added to the log-odds."""
    log_odds = _sum(row, offset)
    return [_probability(-log_odds), _probability(log_odds)]


def predict(row, offset=0.0):
    """The likelier class for a row, a mapping of names of features to values; None is missing."""
    return CLASSES[1] if _sum(row, offset) > 0.0 else CLASSES[0]
''',
    "softmax": '''

def predict_proba(row):
    """The probability of every class, in the order of CLASSES."""
    sums = _sums(row)
    top = max(sums)
    sizes = [exp(one - top) for one in sums]
    return [size / sum(sizes) for size in sizes]


def predict(row):
    """The likeliest class for a row, a mapping of names of features to values; None is missing."""
    sums = _sums(row)
    return CLASSES[sums.index(max(sums))]
''',
}

_EXPLAIN_SUM = """

def _explain(terms, bins):
    effects, stages = _parts(terms, bins)
    return {
        "intercept": terms["intercept"],
        "effects": {FEATURES[j][0]: value for (j, _), value in zip(terms["effects"], effects)},
        "stages": [(name, value) for (name, _), value in zip(terms["stages"], stages)],
        "sum": _total(terms, effects, stages),
    }
"""

_EXPLAIN = '''

def explain(row):
    """What adds up to the "sum": the constant, main effects by feature, and stages in order."""
    return _explain(SUMS[0], _bins(row))
'''

_EXPLAIN_CLASSES = '''

def explain(row):
    """Of every class, in the order of CLASSES, what adds up to its "sum", the score.

    The constant, main effects by feature, and stages in order.
    """
    bins = _bins(row)
    return [_explain(terms, bins) for terms in SUMS]
'''


def python_source(plain: dict[str, Any], explain: bool) -> str:
    """A module with ``predict(row)``, of a classifier ``predict_proba(row)`` too.

    With ``explain`` there is a function of that name for the parts of the sum, or of every class.
    """
    head = "\n".join(f"# {line}" for line in head_lines(plain))
    features = ",\n".join(_feature(feature) for feature in plain["features"])
    sums = "".join(f"{_sum(terms)},\n" for terms in plain["sums"])
    data = [
        f"LARGEST_LOG = {LARGEST_LOG!r}  # of a product; more is beyond all numbers",
        f"LARGEST_SUM = {LARGEST_LINKED!r}  # its exponential is near the largest number",
        "# Of every feature its name, and either edges, at or below which values are counted, or",
        "# the bin of every level, and the number of levels. Missing and unseen values come last.",
        f"FEATURES = (\n{features},\n)",
        "# A constant, main effects as (feature, value per bin), and stages as (name, products); a",
        "# product has a sign, a log-scale, and curves (feature, log of the size per bin, signs).",
        f"SUMS = (\n{sums})",
    ]
    if plain["classes"] is not None:
        data.append(f"CLASSES = {_literal(plain['classes'])}")
    one_sum = [_ONE_SUM] * (len(plain["sums"]) == 1)
    parts = [head, _IMPORTS, "\n".join(data), _FUNCTIONS, *one_sum, _PREDICT[plain["link"]]]
    text = "\n".join([*parts[:3], ""]) + "".join(parts[3:])
    if not explain:
        return text
    return text + _EXPLAIN_SUM + (_EXPLAIN if len(plain["sums"]) == 1 else _EXPLAIN_CLASSES)


def _literal(values: list[Any]) -> str:
    return "(" + "".join(f"{value!a}, " for value in values).rstrip() + ")"


def _tuple(items: list[str]) -> str:
    return joined(items, "(", ")") if items else "()"


def _feature(feature: dict[str, Any]) -> str:
    name = ascii(feature["name"])
    if feature["kind"] == "numeric":
        return f"({name}, {_tuple(numbers(feature['edges'], 'inf'))}, None, 0)"
    pairs = [f"{level!a}: {b}" for level, b in level_bins(feature).items()]
    bins = "{\n" + "".join(f"    {pair},\n" for pair in pairs) + "}"
    return f"({name}, None, {bins}, {len(feature['levels'])})"


def _sum(terms: dict[str, Any]) -> str:
    effects = "".join(
        f"({effect['feature']}, {_tuple(numbers(effect['values'], 'inf'))}),\n"
        for effect in terms["effects"]
    )
    stages = "".join(
        f"({stage['name']!a}, (\n{''.join(_product(one) for one in stage['products'])})),\n"
        for stage in terms["stages"]
    )
    intercept = numbers([terms["intercept"]], "inf")[0]
    return f'{{\n"intercept": {intercept},\n"effects": (\n{effects}),\n"stages": (\n{stages}),\n}}'


def _product(product: dict[str, Any]) -> str:
    curves = "".join(_curve(curve) for curve in product["curves"])
    return f"({float(product['sign'])!r}, {product['log_scale']!r}, (\n{curves})),\n"


def _curve(curve: dict[str, Any]) -> str:
    negative = curve.get("negative")
    signs = "None" if negative is None else _tuple([str(int(one)) for one in negative])
    return f"({curve['feature']}, {_tuple(numbers(curve['log_size'], 'inf'))}, {signs}),\n"
