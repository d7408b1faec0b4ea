"""Cards of features for the page: what it cannot compute itself, in as few numbers as can be.

The page has the curves of the model. Partial dependence is the sum of these curves times constants,
so that a card is a few constants, and the page makes the same numbers of them as Python does.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from seplearn._numerals import number_text
from seplearn.explain.card import FeatureCard, cards_of
from seplearn.explain.dependence import PartialDependence
from seplearn.explain.products import SIDE_SIGN
from seplearn.explain.subject import Subject
from seplearn.explain.summary import Summary
from seplearn.model.reference import Reference
from seplearn.model.stage import Stage
from seplearn.report.encoding import doubles, rounded

_LEVEL = 0.9
_MOST_PARTNERS = 8


def page_cards(subject: Subject, summary: Summary, rows: Reference) -> list[dict[str, Any]]:
    """A card for every feature that is used, the most important first."""
    shares = summary.interactions
    cards = cards_of(subject, summary.features, rows, summary.importance, shares, _LEVEL)
    return [_card(card, subject.model.stages) for card in cards]


def _card(card: FeatureCard, stages: Sequence[Stage]) -> dict[str, Any]:
    band, response = card.dependence.band(), card.response
    return {
        "feature": card.feature,
        "importance": card.importance,
        "share": card.share,
        "sentences": list(card.sentences[1:]),
        "mean": card.dependence.mean,
        "curve": _curve(card.dependence, stages),
        "band": None if band is None else rounded(band),
        "average": None if response is None else doubles(response.average),
        "average_mean": None if response is None else response.mean,
        "average_band": None
        if response is None or response.average_band is None
        else rounded(response.average_band),
        "partners": [
            {
                "feature": partner.feature,
                "strength": partner.strength,
                "values": [_brief(value) for value in partner.values],
                "curves": [_curve(curve, stages) for curve in partner.curves],
            }
            for partner in card.partners[:_MOST_PARTNERS]
        ],
    }


def _brief(value: Any) -> str:
    return value if isinstance(value, str) else number_text(float(value), 4)


def _curve(dependence: PartialDependence, stages: Sequence[Stage]) -> dict[str, Any]:
    """What the curves of every product are multiplied by, and what is added to all of them."""
    constants = [
        SIDE_SIGN[side] * dependence.constants[s, side]
        for s, stage in enumerate(stages)
        for side, branch in enumerate((stage.plus, stage.minus))
        if branch is not None
    ]
    rest = dependence.intercept + dependence.effect_rest
    return {"constants": doubles(np.array(constants)), "rest": rest}
