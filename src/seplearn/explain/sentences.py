"""A summary in plain sentences."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import TYPE_CHECKING

import numpy as np

from seplearn._numerals import count, listed, percent
from seplearn.explain.axes import place_texts, span_at
from seplearn.explain.signs import SignChange
from seplearn.explain.statements import (
    DOWN_AND_UP,
    LEVELS,
    LOWERS,
    NOTHING_ALONE,
    RAISES,
    SMALLEST,
    UP_AND_DOWN,
    inner_end,
    is_mixed,
    is_score,
    is_turned,
    movers,
    pairs_together,
    turns_text,
    way_of,
    worth_telling,
    zero_is_a_border,
)
from seplearn.explain.tilt import places
from seplearn.losses.links import LOGIT
from seplearn.model.reading import brief

if TYPE_CHECKING:
    from seplearn.explain.summary import FeatureSummary, Summary

NOTHING_ALONE_TEXT = "By itself it does next to nothing: what it does depends on others."
_MOST_NAMES, _MOST_LEVELS, _MOST_PLACES = 8, 4, 3
_HARDLY = 0.1  # of what it matters that a number is missing: less along the others is not told
_FEW = 0.02  # of the rows: fewer that a feature hardly moves are not told of
_LONG_NUMBER = 5  # digits: one of four may be a year
_ROUNDING = 1e-9  # of the variance
_LARGE_LOG = math.log(100.0)  # of a factor: by more it is said to be divided


def told(summary: Summary) -> tuple[tuple[str, tuple[str, ...]], ...]:
    """Headings and sentences; the first part has no heading."""
    if not summary.features:
        same = f"Every {summary.quantity} is the same."
        if is_score(summary.quantity):
            same += (
                " Its probability varies all the same, with the scores of the other classes: see "
                "explain.response of the classifier, or for_class(label, against=another)."
            )
        return (("", (*_opening(summary), same)),)
    parts = [
        ("", _opening(summary)),
        (f"What moves the {summary.quantity}, and by how much on average", _movers(summary)),
        ("What acts together", _together(summary)),
        (f"Where the {summary.quantity} changes its sign{_meaning(summary)}", _signs(summary)),
        ("Whose effect is turned upside down", _turned(summary)),
    ]
    if summary.unused:
        unused = listed([brief(name) for name in summary.unused], _MOST_NAMES)
        parts.append(("Not used", (f"{unused}: in no curve.",)))
    return tuple((heading, sentences) for heading, sentences in parts if sentences)


def _opening(summary: Summary) -> tuple[str, ...]:
    parts = [count(len(summary.stage_names), "stage")] if summary.stage_names else []
    parts += ["main effects"] * summary.has_effects
    made = listed(parts) if parts else "a constant"
    read = count(summary.reading_size, "curve")
    text = (
        f"The model predicts {summary.aim}{brief(summary.target or 'the target')} from "
        f"{count(len(summary.names), 'feature')} by {made}: {read} to read."
    )
    turns = summary.turning_points
    if len(turns) == 1:
        text += f" It turns {count(int(turns[0]), 'time')}, however little." if turns[0] else ""
    elif len(turns):
        median = f"{np.median(turns):g}"
        text += (
            f" Turning points of a curve, however small: {median} in the median, {turns.max()} at "
            "most."
        )
    size = () if summary.size is None else (f"Its size: {summary.size}.",)
    mean, spread = (rounded_text(v, summary.spread) for v in (summary.mean, summary.spread))
    if summary.over_training:
        rows = f"{count(summary.n_rows, 'training row')} kept in the model"
        rows += ", by their weights in the fit" * summary.is_weighted
    else:
        rows = f"{count(summary.n_rows, 'row')} given"
    what = "Predictions have" if summary.quantity == "prediction" else f"The {summary.quantity} has"
    spoken = f"{what} mean {mean} and standard deviation {spread}; averages here are over {rows}."
    if is_score(summary.quantity):
        spoken += (
            " The odds between two classes are the exponential of the difference of their scores."
        )
    return (text, *size, spoken)


def _movers(summary: Summary) -> tuple[str, ...]:
    shown = movers(summary)
    lines = []
    for one in shown:
        size = rounded_text(one.importance, one.importance)
        lines.append(
            f"{brief(one.name)}: {size} ({percent(one.share)}). {_dependence(one, summary)}"
        )
    rest = summary.features[len(shown) :]
    if rest:
        share = percent(sum(one.share for one in rest))
        together = " together" if len(rest) > 1 else ""
        lines.append(
            f"{listed([brief(one.name) for one in rest], _MOST_NAMES)}: {share}{together}."
        )
    lines += [
        f"{listed([brief(name) for name in names], _MOST_NAMES)} are in the same bins in every "
        "row: which of them has which part of an effect is arbitrary, only their sum tells."
        for names in summary.twins
    ]
    return tuple(lines)


def _dependence(one: FeatureSummary, summary: Summary) -> str:
    """The partial dependence on a feature in words."""
    way = way_of(one)
    if way == NOTHING_ALONE:
        return NOTHING_ALONE_TEXT
    if way == LEVELS:
        return _levels(one, summary)
    curve, missing = one.curve, _where_missing(one, summary)
    if missing and np.ptp(curve) < _HARDLY * abs(one.missing - float(curve.mean())):
        usual = rounded_text(float(curve.mean()), summary.spread)
        return f"What matters is whether it is missing: {usual} where it is not.{missing}"
    values = np.asarray(one.axis.describe().values, dtype=float)[one.bins]
    low, high = int(np.argmin(curve)), int(np.argmax(curve))

    def point(k: int) -> str:
        place = rounded_text(values[k], span_at(values, k))
        return f"{rounded_text(curve[k], summary.spread)} at {place}"

    last = len(curve) - 1
    if way in (RAISES, LOWERS):
        times = _times(float(curve[last] - curve[0]), summary.quantity)
        return f"It {way} the {summary.quantity} from {point(0)} to {point(last)}{times}.{missing}"
    if way in (UP_AND_DOWN, DOWN_AND_UP):
        first, then = way.split(", then ")
        return (
            f"It {first} the {summary.quantity} from {point(0)} to {point(inner_end(one) or 0)}, "
            f"then {then} it to {point(last)}.{missing}"
        )
    times = _times(float(curve[high] - curve[low]), summary.quantity)
    return (
        f"The {summary.quantity} turns {turns_text(one)}: lowest is {point(low)}, highest "
        f"{point(high)}{times}.{missing}"
    )


def _where_missing(one: FeatureSummary, summary: Summary) -> str:
    """What is predicted where a number is missing, as it was in training."""
    if not math.isfinite(one.missing):
        return ""
    return f" Where it is missing: {rounded_text(one.missing, summary.spread)}."


def _times(difference: float, quantity: str) -> str:
    """What a difference of logs is on the scale that people know: a factor.

    The score of a class has none: the odds follow from the scores of the other classes too.
    """
    if quantity == "prediction" or is_score(quantity):
        return ""
    what = "odds" if quantity.startswith(LOGIT.scale) else "prediction"
    if difference < -_LARGE_LOG:  # 8e-06 times is harder to read than divided by 130,000
        return f", the {what} divided by {_factor_text(-difference)}"
    return f", the {what} times {_factor_text(difference)}"


def _factor_text(log: float) -> str:
    """A factor with three digits, thousands set apart."""
    digits = f"{math.exp(min(log, 700.0)):.3g}"
    return f"{float(digits):,.0f}" if 1e3 <= float(digits) < 1e9 else digits


def rounded_text(value: float, span: float) -> str:
    """A number to about a hundredth of ``span``; thousands are set apart in long ones."""
    text = place_texts([float(value)], span)[0]
    whole, point, rest = text.partition(".")
    is_long = whole.lstrip("-").isdigit() and len(whole.lstrip("-")) >= _LONG_NUMBER
    return f"{int(whole):,}{point}{rest}" if is_long else text


def _levels(one: FeatureSummary, summary: Summary) -> str:
    labels = one.axis.describe().labels
    order = np.argsort(one.curve, kind="stable")
    words = [
        f"{rounded_text(one.curve[k], summary.spread)} for {brief(labels[one.bins[k]])}"
        for k in order
    ]
    if len(words) > _MOST_LEVELS:
        words = [words[0], words[1], "...", words[-2], words[-1]]
    times = _times(float(one.curve.max() - one.curve.min()), summary.quantity)
    return f"From low to high: {', '.join(words)}{times}."


def _together(summary: Summary) -> tuple[str, ...]:
    shares = summary.interactions
    if not shares.total.any():
        return ()
    alone, two = float(shares.main.sum()), float(np.triu(shares.pairwise, 1).sum())
    if alone > 1.0 - _ROUNDING:
        return ("Nothing does: what every feature does is the same whatever the others are.",)
    more = max(0.0, 1.0 - alone - two)
    whole = (
        f"Of the variance of the {summary.quantity}, were features independent of each other, they "
        f"explain {percent(alone)} by themselves, pairs {percent(two)}, three or more together "
        f"{percent(more)}."
    )
    names = [brief(name) for name in shares.names]
    lines = [whole] + [
        f"{names[first]} and {names[second]}: {percent(shares.pairwise[first, second])}."
        for first, second in pairs_together(summary)
    ]
    if more >= SMALLEST:
        parts = [one for one in summary.features if one.total - one.alone >= SMALLEST]
        with_others = [f"{brief(one.name)} {percent(one.total - one.alone)}" for one in parts]
        if with_others:
            lines.append(f"Each with all others: {listed(with_others, _MOST_NAMES)}.")
    return tuple(lines)


def _meaning(summary: Summary) -> str:
    """What a change of sign is on the scale that people know."""
    if not summary.quantity.startswith(LOGIT.scale):
        return ""
    between = " between the two" if " against " in summary.quantity else ""
    return f", and the probability{between} crosses one half"


def _signs(summary: Summary) -> tuple[str, ...]:
    if not zero_is_a_border(summary.quantity):
        return ()
    if not summary.has_signs:
        word = "positive" if summary.negative < 0.5 else "negative"
        share = percent(max(summary.negative, 1.0 - summary.negative))
        return (f"Nowhere to speak of: {share} of the {_many(summary)} are {word}.",)
    shown = worth_telling(summary)
    lines = [
        f"It changes its sign along {brief(change.name)} {_where(change)}, for "
        f"{percent(change.share)} of the rows."
        for change in (one.sign for one in shown)
        if change is not None
    ]
    if not lines:
        text = (
            f"{percent(summary.negative)} of the {_many(summary)} are negative, but along no "
            "feature does the sign change at one place for most rows."
        )
        return (text,)
    steady = [brief(one.name) for one in shown if one.sign is None]
    if steady:
        not_along = listed(steady, _MOST_NAMES, "or")
        lines.append(f"It does not change its sign along {not_along} at one place for most rows.")
    return tuple(lines)


def _many(summary: Summary) -> str:
    """What is told of, for many rows."""
    return (
        "predictions" if summary.quantity == "prediction" else f"values of the {summary.quantity}"
    )


def _turned(summary: Summary) -> tuple[str, ...]:
    lines = [turned_text(one, summary.quantity) for one in summary.features if is_turned(one)]
    mixed = [brief(one.name) for one in summary.features if is_mixed(one)]
    if mixed:
        acts = "acts" if len(mixed) == 1 else "act"
        named = listed(mixed, _MOST_NAMES)
        curve = "along another curve than in others; explain.ice draws them"
        lines.append(f"In some rows {named} {acts} {curve}.")
    none = "No feature to speak of acts the other way round for some of the rows."
    return tuple(lines) or (none,)


def turned_text(one: FeatureSummary, quantity: str) -> str:
    """For how many rows a feature acts the other way round, and who decides."""
    idle = one.idle if one.idle >= _FEW else 0.0
    usual, turned = percent(1.0 - one.turned - idle), percent(one.turned)
    if one.way:
        other = "falls" if one.way == "rises" else "rises"
        rest = f", {other} for {turned}, and hardly moves for {percent(idle)}"
        what = f"The {quantity} {one.way} with {brief(one.name)} for {usual} of the rows"
        what += rest if idle else f" and {other} for {turned}"
    else:
        rest = f", and next to nothing for {percent(idle)}" if idle else ""
        what = f"What {brief(one.name)} does is upside down for {turned} of the rows{rest}"
    return f"{what}; {_who(one.turned_by)}."


def _who(changes: Iterable[SignChange]) -> str:
    words = [f"{brief(change.name)} ({_where(change)})" for change in changes]
    if not words:
        return "which these are depends on several features together"
    return f"{listed(words)} {'decides' if len(words) == 1 else 'decide'} which"


def _where(change: SignChange) -> str:
    """The places of a change of sign in words."""
    if not change.flips:
        up, down = (
            listed([brief(level) for level in side], _MOST_LEVELS)
            for side in (change.up, change.down)
        )
        return f"between {up} on one side and {down} on the other"
    words = places(change.flips)
    if len(words) > _MOST_PLACES:
        return f"{len(words)} times, first {words[0]}, last {words[-1]}"
    return listed(words)
