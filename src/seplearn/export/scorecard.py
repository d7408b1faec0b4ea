"""A model as a table of points to add up by hand, where it is such a model."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any, NamedTuple

from seplearn._numerals import count, number_text
from seplearn.export.json import as_float
from seplearn.model.reading import brief
from seplearn.model.stage import LARGEST_LOG
from seplearn.table.columns import make_frame

_SUMS = {
    "identity": "prediction",
    "log": "log of the prediction",
    "logit": "log-odds of {second}",
}
_DIGITS = 6  # of a number in a printed card
_MOST_FEATURES, _MOST_ROWS, _WIDEST = 20, 6, 40  # of a printed card, of a feature in it, of a name


class ScorecardRow(NamedTuple):
    """The points of one range or level of a feature; ranges hold their lower end.

    ``meaning`` is "range", "level", or what no range and no level is: "rare", "missing", "unseen"
    (and "base" of the constant). ``lower`` and ``upper`` are NaN but for ranges.
    """

    feature: str
    meaning: str
    range: str
    lower: float
    upper: float
    points: float


@dataclass(frozen=True, repr=False)
class Scorecard:
    """Points per range or level of every feature: the base and one of each add up to a score.

    ``print(card)`` shows the first ranges of every feature, :meth:`frame` has all.

    Attributes
    ----------
    base : float
        What everybody starts with.
    rows : tuple of ScorecardRow
        (feature, meaning, range, lower, upper, points), feature by feature.
    score : str
        What the sum of points is, divided by ``scale``, in words.
    scale : float
        Points per unit of it.

    Examples
    --------
    >>> from seplearn import TSLRegressor, datasets
    >>> X, y = datasets.rents(600, random_state=0)
    >>> model = TSLRegressor(random_state=0).fit(X[["area"]], y)
    >>> card = model.to_scorecard(digits=0)
    >>> card.score, {row.feature for row in card.rows}
    ('prediction', {'area'})
    >>> str(card).startswith("Points add up to the prediction. 1 feature, ")
    True
    """

    base: float
    rows: tuple[ScorecardRow, ...]
    score: str
    scale: float
    library: str | None = None

    def __repr__(self) -> str:
        features = len({row.feature for row in self.rows})
        size = f"<{count(features, 'feature')}, {count(len(self.rows), 'row')}>"
        numbers = f"base={self.base!r}, score={self.score!r}, scale={self.scale!r}"
        return f"Scorecard({numbers}, rows={size})"

    def __str__(self) -> str:
        """What points add up to, the base, and the first ranges of every feature."""
        parts = [list(own) for _, own in groupby(self.rows, lambda row: row.feature)]
        unit = "" if self.scale == 1.0 else f", times {number_text(self.scale, _DIGITS)}"
        size = f"{count(len(parts), 'feature')}, {count(len(self.rows), 'row')}"
        lines = [
            f"Points add up to the {self.score}{unit}. {size}.",
            f"base {number_text(self.base, _DIGITS)}",
            *(line for own in parts[:_MOST_FEATURES] for line in _printed(own)),
        ]
        rest = len(parts) - _MOST_FEATURES
        if rest > 0:
            lines.append(f"... {count(rest, 'more feature')}")
        return "\n".join(lines)

    def frame(self) -> Any:
        """A data frame with a row per range or level; the base comes first, of no feature."""
        base = ScorecardRow("", "base", "(base)", math.nan, math.nan, self.base)
        columns = zip(*(base, *self.rows), strict=True)
        named = dict(zip(ScorecardRow._fields, map(list, columns), strict=True))
        return make_frame(named, self.library)


def to_scorecard(
    plain: dict[str, Any], scale: float, digits: int | None, library: str | None
) -> Scorecard:
    """The scorecard of the model of a document; raises for a model that is none, saying why."""
    terms, *others = plain["sums"]
    if others:
        raise ValueError(
            "a scorecard adds up points to one score, and the probability of one of several "
            f"classes follows from the scores of all: this model has {len(plain['sums'])} classes"
        )
    stages = [stage for stage in terms["stages"] if stage["products"]]
    labels = plain["classes"] or ("", "")
    total = _SUMS[plain["link"]].format(second=repr(labels[1]))
    offset = plain["offset"]
    if offset is not None:
        total += f" less {'the log of ' if offset['is_exposure'] else ''}{offset['name']}"
    if all(len(_features_of(stage)) <= 1 for stage in stages):
        base, curves = _added_curves(plain, terms, stages)
        score = total
    else:
        product = _only_product(terms, stages)
        base, curves = product["log_scale"], _log_curves(product)
        rest, sign = terms["intercept"], "-" if product["sign"] < 0 else ""
        inner = f"{total} {'+' if rest < 0 else '-'} {abs(rest):.17g}" if rest else total
        score = f"log of {sign}({inner})"
    rows = [
        row
        for j in sorted(curves)
        for row in _rows(plain["features"][j], [_points(v, scale, digits) for v in curves[j]])
    ]
    return Scorecard(_points(base, scale, digits), tuple(rows), score, scale, library)


def _features_of(stage: dict[str, Any]) -> set[int]:
    return {curve["feature"] for product in stage["products"] for curve in product["curves"]}


def _added_curves(
    plain: dict[str, Any], terms: dict[str, Any], stages: Sequence[dict[str, Any]]
) -> tuple[float, dict[int, list[float]]]:
    """The constant, and what every feature adds: its main effect, and stages of it alone."""
    base = terms["intercept"]
    curves = {effect["feature"]: list(effect["values"]) for effect in terms["effects"]}
    for stage in stages:
        features = _features_of(stage)
        if not features:
            base += sum(p["sign"] * math.exp(p["log_scale"]) for p in stage["products"])
            continue
        (j,) = features
        values = curves.setdefault(j, [0.0] * _n_bins(plain["features"][j]))
        for product in stage["products"]:
            for b, value in enumerate(_factors(product, len(values))):
                values[b] += value
    return base, curves


def _factors(product: dict[str, Any], n_bins: int) -> list[float]:
    """A product of at most one feature, in each of its bins."""
    size = [product["log_scale"]] * n_bins
    sign = [float(product["sign"])] * n_bins
    for curve in product["curves"]:
        negative = curve.get("negative", [False] * n_bins)
        size = [a + b for a, b in zip(size, curve["log_size"], strict=True)]
        sign = [-s if n else s for s, n in zip(sign, negative, strict=True)]
    return [s * math.exp(min(a, LARGEST_LOG)) for s, a in zip(sign, size, strict=True)]


def _only_product(terms: dict[str, Any], stages: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """The one positive product that a model consists of, beside its constant."""
    many = next(stage for stage in stages if len(_features_of(stage)) > 1)
    name = f"{many['name']!r} multiplies several features"
    (product, *others) = many["products"]
    reason = None
    if terms["effects"]:
        reason = f"this one has main effects, and {name}"
    elif len(stages) > 1:
        reason = f"this one has {len(stages)} stages, of which {name}"
    elif others:
        reason = f"{name}, and is a difference of two products"
    elif any("negative" in curve for curve in product["curves"]):
        reason = f"{name}, and has negative factors, of which there is no log"
    if reason is not None:
        raise ValueError(
            "a scorecard needs a model of main effects alone, or of a single positive product: "
            f"{reason}. Fit with n_stages=0 (command line: --stages 0) for main effects alone"
        )
    found: dict[str, Any] = product
    return found


def _log_curves(product: dict[str, Any]) -> dict[int, list[float]]:
    return {curve["feature"]: curve["log_size"] for curve in product["curves"]}


def _points(value: float, scale: float, digits: int | None) -> float:
    points = value * scale
    return points if digits is None else round(points, digits) + 0.0  # not -0.0


def _n_bins(feature: dict[str, Any]) -> int:
    if feature["kind"] == "numeric":
        return len(feature["edges"]) + 2
    return len(feature["levels"]) + 3


def _rows(feature: dict[str, Any], points: Sequence[float]) -> list[ScorecardRow]:
    name, nothing = feature["name"], math.nan
    if feature["kind"] == "categorical":
        meanings = [("level", level) for level in feature["levels"]]
        meanings += [(other, f"({other})") for other in ("rare", "missing", "unseen")]
        rows = [
            ScorecardRow(name, meaning, label, nothing, nothing, value)
            for (meaning, label), value in zip(meanings, points, strict=True)
        ]
        return [row for row in rows if feature["rare"] or row.meaning != "rare"]
    edges = [-math.inf, *(as_float(edge) for edge in feature["edges"]), math.inf]
    rows = []
    lower = edges[0]
    for b, upper in enumerate(edges[1:]):
        is_last = b == len(edges) - 2
        if is_last or points[b] != points[b + 1]:  # neighbours with the same points are one range
            row = ScorecardRow(name, "range", _words(lower, upper), lower, upper, points[b])
            rows.append(row)
            lower = upper
    missing = ScorecardRow(name, "missing", "(missing)", nothing, nothing, points[-1])
    return [*rows, missing]


def _words(lower: float, upper: float, text: Callable[[float], str] = repr) -> str:
    if lower == -math.inf:
        return "any number" if upper == math.inf else f"below {text(upper)}"
    return (
        f"{text(lower)} and above" if upper == math.inf else f"{text(lower)} to below {text(upper)}"
    )


def _printed(rows: Sequence[ScorecardRow]) -> list[str]:
    """The first rows of a feature below its name, and between which points the others are."""
    shown = rows if len(rows) <= _MOST_ROWS + 1 else rows[:_MOST_ROWS]
    names = [
        brief(row.range, _WIDEST) if math.isnan(row.lower) else _words(row.lower, row.upper, _short)
        for row in shown
    ]
    points = [_short(row.points) for row in shown]
    left, right = (max(map(len, texts)) for texts in (names, points))
    cells = zip(names, points, strict=True)
    lines = ["", brief(rows[0].feature, _WIDEST)]
    lines += [f"  {name:<{left}}  {value:>{right}}" for name, value in cells]
    rest = [row.points for row in rows[len(shown) :]]
    if rest:
        lines.append(f"  ... {len(rest)} more, {_short(min(rest))} to {_short(max(rest))}")
    return lines


def _short(value: float) -> str:
    return number_text(value, _DIGITS)
