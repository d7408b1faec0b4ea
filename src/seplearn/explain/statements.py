"""What a summary claims, one statement at a time: a kind, the features it is about, what is said.

Two summaries make the same claim if their statements are equal; numbers are no part of it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from seplearn._numerals import count
from seplearn.losses.links import LOG, SOFTMAX
from seplearn.model.reading import brief, turning_points

if TYPE_CHECKING:
    from seplearn.explain.summary import FeatureSummary, Summary

CALM = 0.1  # of a curve's range: in words, a smaller way back is no turn
MOST_FEATURES, MOST_PAIRS = 12, 6
SMALLEST = 0.01  # a smaller share is not told one by one
COMMON = 0.85  # of what a feature does is a multiple of one shape, or shapes are told to differ
TURNED = 0.05  # of the rows: an effect that is upside down for fewer is not told of
_HARDLY_ALONE = 0.1  # of what a feature explains: less is next to nothing
NOTHING_ALONE, RAISES, LOWERS = "nothing by itself", "raises", "lowers"
UP_AND_DOWN, DOWN_AND_UP, TURNS, LEVELS = "raises, then lowers", "lowers, then raises", "turns", ""


@dataclass(frozen=True)
class Statement:
    """One thing that a summary says.

    Attributes
    ----------
    kind : str
        "used", "unused", "matters most", "way" (what the prediction does along a feature on
        average), "lowest level", "highest level", "together" (two features), "sign" (the
        prediction changes it along a feature), "turned" (the effect of the first feature is upside
        down for some rows; of the second, if there is one, which rows these are depends), "mixed"
        (it acts along another curve in some rows than in others) or "none turned".
    features : tuple of str
        Names of the features that it is about.
    value : str
        What is said of them: the way, such as "raises", or a level; empty where the kind says all.

    Examples
    --------
    >>> from seplearn import TSLRegressor, datasets, explain
    >>> X, y = datasets.rents(500, random_state=0)
    >>> model = TSLRegressor(n_stages=1, early_stopping=False, random_state=0).fit(X, y)
    >>> explain.summary(model).statements[0]
    Statement(kind='matters most', features=('area',), value='')
    """

    kind: str
    features: tuple[str, ...] = ()
    value: str = ""

    def told(self, quantity: str = "prediction") -> str:
        """The statement in words, about a quantity such as the log-odds."""
        first, second = (*(brief(name) for name in self.features), "", "")[:2]
        ways = {
            NOTHING_ALONE: f"{first} does next to nothing by itself",
            TURNS: f"{first} turns the {quantity} several times",
        }
        return {
            "used": f"{first} is used",
            "unused": f"{first} is not used",
            "matters most": f"{first} matters most",
            "way": ways.get(self.value, f"{first} {self.value} the {quantity}"),
            "lowest level": f"{brief(self.value)} is the lowest level of {first}",
            "highest level": f"{brief(self.value)} is the highest level of {first}",
            "together": f"{first} and {second} act together",
            "sign": f"the {quantity} changes its sign along {first}",
            "turned": f"{second} decides which way {first} acts"
            if second
            else f"the effect of {first} is upside down for some rows",
            "mixed": f"in some rows {first} acts along another curve than in others",
            "none turned": "no effect is turned upside down",
        }[self.kind]


def statements_of(summary: Summary) -> tuple[Statement, ...]:
    """Everything that the sentences of a summary claim, in their order."""
    shown = movers(summary)
    said = [Statement("matters most", (one.name,)) for one in shown[:1]]
    for one in shown:
        said += [Statement("used", (one.name,)), *_of_way(one)]
    said += [
        Statement("together", (summary.names[first], summary.names[second]))
        for first, second in pairs_together(summary)
    ]
    if summary.has_signs and zero_is_a_border(summary.quantity):
        said += [
            Statement("sign", (one.name,)) for one in worth_telling(summary) if one.sign is not None
        ]
    turned = [one for one in summary.features if is_turned(one)]
    for one in turned:
        said.append(Statement("turned", (one.name,)))
        said += [Statement("turned", (one.name, by.name)) for by in one.turned_by]
    mixed = [one for one in summary.features if is_mixed(one)]
    said += [Statement("mixed", (one.name,)) for one in mixed]
    if summary.features and not turned and not mixed:
        said.append(Statement("none turned"))
    return (*said, *(Statement("unused", (name,)) for name in summary.unused))


def _of_way(one: FeatureSummary) -> list[Statement]:
    way = way_of(one)
    if way != LEVELS:
        return [Statement("way", (one.name,), way)]
    labels = one.axis.describe().labels
    ends = int(np.argmin(one.curve)), int(np.argmax(one.curve))
    kinds = ("lowest level", "highest level")
    return [
        Statement(kind, (one.name,), str(labels[one.bins[end]]))
        for kind, end in zip(kinds, ends, strict=True)
    ]


def movers(summary: Summary) -> tuple[FeatureSummary, ...]:
    """The features that are told of one by one, the most important first."""
    return worth_telling(summary)[:MOST_FEATURES]


def is_score(quantity: str) -> bool:
    """Whether a quantity is the score of one of several classes, which has no natural zero."""
    return quantity.startswith(SOFTMAX.scale)


def zero_is_a_border(quantity: str) -> bool:
    """Whether it says something that a quantity is positive.

    It does not of logs, as a prediction above one is nothing special, nor of scores of classes, of
    which only differences mean something.
    """
    return quantity != LOG.scale and not is_score(quantity)


def worth_telling(summary: Summary) -> tuple[FeatureSummary, ...]:
    """The features that are not too small to be told of."""
    return tuple(one for one in summary.features if one.share >= SMALLEST)


def way_of(one: FeatureSummary) -> str:
    """What the prediction does along a feature on average; empty for what has no way to go."""
    if one.total > 0 and one.alone < _HARDLY_ALONE * one.total:
        return NOTHING_ALONE
    if one.axis.kind == "categorical" or one.axis.describe().meanings[one.bins[-1]] == "missing":
        return LEVELS
    curve, turns = one.curve, turning_points(one.curve, CALM)
    last = len(curve) - 1
    if turns == 0 and curve[last] == curve[0]:
        return LEVELS  # of a single value
    if turns == 0:
        return RAISES if curve[last] > curve[0] else LOWERS
    inner = inner_end(one)
    if turns == 1 and inner is not None:
        return UP_AND_DOWN if inner == int(np.argmax(curve)) else DOWN_AND_UP
    return TURNS


def inner_end(one: FeatureSummary) -> int | None:
    """The place of a curve's lowest or highest value, whichever is further from both ends.

    None where both are at the ends, or as low and high as these.
    """
    places = int(np.argmin(one.curve)), int(np.argmax(one.curve))
    apart = [float(np.abs(one.curve[k] - one.curve[[0, -1]]).min()) for k in places]
    return places[int(np.argmax(apart))] if max(apart) > 0.0 else None


def turns_text(one: FeatureSummary) -> str:
    """How often a curve turns."""
    return count(turning_points(one.curve, CALM), "time")


def pairs_together(summary: Summary) -> list[tuple[int, int]]:
    """The pairs of features that act together, the strongest first."""
    shares = summary.interactions
    first, second = np.triu_indices(len(shares.names), 1)
    pairs = shares.pairwise[first, second]
    strongest = [k for k in np.argsort(-pairs, kind="stable") if pairs[k] >= SMALLEST]
    return [(int(first[k]), int(second[k])) for k in strongest[:MOST_PAIRS]]


def is_turned(one: FeatureSummary) -> bool:
    """Whether it is told that the effect of a feature is upside down for some rows."""
    return one.turned >= TURNED and one.share >= SMALLEST


def is_mixed(one: FeatureSummary) -> bool:
    """Whether it is told that what a feature does has different shapes in different rows."""
    return one.common < COMMON and one.share >= SMALLEST
