"""All that a model says of one feature, in units of the prediction: what an expert checks."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np

from seplearn._numerals import count, listed, percent
from seplearn._rules import check_level
from seplearn.explain.axes import value_text
from seplearn.explain.dependence import PartialDependence, dependence_on
from seplearn.explain.ice import IndividualExpectation, lines_of
from seplearn.explain.importance import Importance, mean_sizes
from seplearn.explain.interactions import Interactions, interactions
from seplearn.explain.response import Response, response_of
from seplearn.explain.result import Explanation, band_of, distinct_names
from seplearn.explain.sentences import NOTHING_ALONE_TEXT, rounded_text, turned_text
from seplearn.explain.signs import SignChange, sign_of_curve
from seplearn.explain.statements import NOTHING_ALONE, is_mixed, is_turned, way_of, zero_is_a_border
from seplearn.explain.subject import Subject
from seplearn.explain.summary import FeatureSummary, summaries_of
from seplearn.explain.tilt import Flip, places
from seplearn.kernels.arrays import FloatArray
from seplearn.model.reference import Reference
from seplearn.table.binning import Axis, Bins

_DRAWN_PARTNERS = 2
_SMALLEST_STRENGTH = 0.001  # of the variance: with less, two features do not act together
_SMALLEST_SHARED = 0.02  # of its own part of the variance: with less, a feature acts by itself
_LINES = 20
_LOW_MIDDLE_HIGH = (0.1, 0.5, 0.9)  # of the training rows below
_TOLD_PARTNERS, _TOLD_LEVELS = 5, 8
_TAKEN_BACK = 2.0  # times as much as on average: a main effect that varies so is taken back


@dataclass(frozen=True, eq=False)
class Partner:
    """A feature with which another acts together.

    Attributes
    ----------
    feature : int
    name : str
    strength : float
        Share of the prediction's variance that would be gone if the two did not act together: all
        parts in which both take part, with other features or not.
    h : float
        Friedman's H of the two.
    values : tuple
        Of a partner that is drawn: low, middle and high values of it, below which lie a tenth, half
        and nine tenths of the training rows; or its most frequent levels.
    curves : tuple of PartialDependence
        Partial dependence on the feature of the card, the partner held at each of ``values``.

    Examples
    --------
    >>> from seplearn import TSLRegressor, datasets, explain
    >>> X, y = datasets.masked_interaction(500, as_frame=True, random_state=0)
    >>> model = TSLRegressor(n_stages=1, random_state=0).fit(X, y)
    >>> partner = explain.card(model, "x1").partners[0]
    >>> len(partner.values), partner.curves[0].names
    (3, ('x1',))
    """

    feature: int
    name: str
    strength: float
    h: float
    values: tuple[Any, ...] = ()
    curves: tuple[PartialDependence, ...] = ()


@dataclass(frozen=True, eq=False, repr=False)
class FeatureCard(Explanation):
    """What a model says of one feature; ``print(card)`` tells it in sentences.

    Attributes
    ----------
    feature : int
    name : str
    axis : NumericAxis or CategoricalAxis
    frequencies : array of shape (n_bins,)
        Share of the training weight in each bin.
    importance, share : float
        Mean size of its Shapley value, and that as a share of the sum over features.
    rank, n_features : int
        Its place among all features by importance, from 1, and how many there are.
    alone, total : float
        Sobol indices: the share of the variance that it explains by itself, and that would be gone
        without it.
    dependence : PartialDependence
        The mean prediction against the feature; ``dependence.band()`` is its band, if there is one.
    response : Response or None
        For a model with a link, the same in probabilities, rates or amounts, and the odds ratio or
        relativity.
    effect : array of shape (n_bins,), or None
        Its main effect; None for a model without main effects.
    effect_band : array of shape (2, n_bins), or None
    ice : IndividualExpectation
        Some rows with the feature moved through its bins.
    lines : array of shape (n_rows, n_bins)
        The same as predictions: for a model with a link probabilities, rates or amounts.
    partners : tuple of Partner
        The features it acts together with, the strongest first; the first two have curves.
    crossing : SignChange or None
        Where partial dependence crosses the mean prediction: above it the feature speaks for more,
        below for less.
    sign : SignChange or None
        Where the prediction itself changes its sign, as in :class:`Summary`.
    summary : FeatureSummary
        What :class:`Summary` has of the feature: for how many rows it acts the other way round,
        and who decides.

    Examples
    --------
    >>> from seplearn import TSLRegressor, datasets, explain
    >>> X, y = datasets.rents(600, random_state=0)
    >>> model = TSLRegressor(n_stages=2, random_state=0).fit(X, y)
    >>> card = explain.card(model, "area")
    >>> card.rank, card.dependence.total.shape == card.frequencies.shape
    (1, True)
    >>> list(card.frame().columns)[:3]
    ['area', 'frequency', 'pd']
    """

    _figure: ClassVar[str] = "plot_card"

    feature: int
    name: str
    axis: Axis
    frequencies: FloatArray
    importance: float
    share: float
    rank: int
    n_features: int
    alone: float
    total: float
    dependence: PartialDependence
    response: Response | None
    effect: FloatArray | None
    effect_band: FloatArray | None
    ice: IndividualExpectation
    lines: FloatArray
    partners: tuple[Partner, ...]
    crossing: SignChange | None
    sign: SignChange | None
    summary: FeatureSummary

    @property
    def is_taken_back(self) -> bool:
        """Whether the main effect varies much more than what the feature does on average."""
        if self.effect is None:
            return False
        whole = self.dependence.total
        on_average, alone = (
            np.sqrt(np.cov(values, aweights=self.frequencies, ddof=0))
            for values in (whole, self.effect)
        )
        return bool(alone > _TAKEN_BACK * on_average)

    @property
    def sentences(self) -> tuple[str, ...]:
        """What there is to say of the feature, in words."""
        if self.importance == 0.0:
            return (f"The {self.quantity} does not depend on {self.name}.",)
        size = rounded_text(self.importance, self.importance)
        place = f"place {self.rank} of {self.n_features}, {percent(self.share)} of all importance"
        told = [f"{self.name} moves the {self.quantity} by {size} on average: {place}."]
        if way_of(self.summary) == NOTHING_ALONE:
            told.append(NOTHING_ALONE_TEXT)
        elif self.crossing is not None:
            where = _crossing_words(self.crossing)
            told.append(f"On average it speaks for a higher {self.quantity} {where}.")
        if self.is_taken_back:
            told.append(
                "Stages take most of its main effect back: neither tells by itself what it does."
            )
        if is_turned(self.summary):
            told.append(turned_text(self.summary, self.quantity))
        elif is_mixed(self.summary):
            told.append("In some rows it acts along another curve than in others.")
        if self.sign is not None and self.sign.flips and zero_is_a_border(self.quantity):
            spots = " and ".join(places(self.sign.flips))
            told.append(f"The {self.quantity} itself changes its sign {spots}.")
        if self.partners:
            shown = self.partners[:_TOLD_PARTNERS]
            names = ", ".join(f"{one.name} ({percent(one.strength)})" for one in shown)
            rest = len(self.partners) - len(shown)
            more = f" and {count(rest, 'other feature')}" if rest else ""
            told.append(
                f"It acts together with {names}{more}: shares of the variance, were "
                "features independent of each other."
            )
        else:
            told.append(self._without_partners())
        return tuple(told)

    def _without_partners(self) -> str:
        shared = 1.0 - self.alone / self.total if self.total > 0.0 else 0.0
        if shared < _SMALLEST_SHARED:
            return "It acts by itself: with no other feature together."
        return (
            f"Of what it does {percent(shared)} depends on other features; together with none of "
            f"them does it make {percent(_SMALLEST_STRENGTH)} of the variance."
        )

    def __str__(self) -> str:
        return "\n".join(self.sentences)

    def _columns(self) -> dict[str, Any]:
        """One row per bin: averages, bands, the main effect, and curves beside the partners."""
        numbers: dict[str, Any] = {"frequency": self.frequencies, "pd": self.dependence.total}
        numbers |= _ends("pd", self.dependence.band())
        if self.response is not None:
            numbers["average"] = self.response.average
            numbers |= _ends("average", self.response.average_band)
            if self.response.factor is not None:
                name = self.response.factor_name.replace(" ", "_")
                numbers[name] = self.response.factor
                numbers |= _ends(name, self.response.factor_band)
        if self.effect is not None:
            numbers["main_effect"] = self.effect
            numbers |= _ends("main_effect", self.effect_band)
        for partner in self.partners:
            for value, curve in zip(partner.values, partner.curves, strict=True):
                (column,) = distinct_names([f"{partner.name} = {value_text(value)}"], numbers)
                numbers[column] = curve.total
        (name,) = distinct_names([self.name], numbers)
        return {name: self.axis.describe().values} | numbers


def _ends(name: str, band: FloatArray | None) -> dict[str, FloatArray]:
    return {} if band is None else {f"{name}_lower": band[0], f"{name}_upper": band[1]}


def _crossing_words(change: SignChange) -> str:
    if change.up or change.down:
        known = [level for level in change.up if not level.startswith("(")] or list(change.up)
        rest = len(known) - _TOLD_LEVELS
        more = f" and {count(rest, 'other level')}" if rest > 0 else ""
        return f"for {', '.join(known[:_TOLD_LEVELS])}{more}"
    return listed(_ranges(change.flips))


def _ranges(flips: Sequence[Flip]) -> list[str]:
    """Where a curve is above, from flip to flip; upward ones and others take turns.

    Of a feature with few values by the values themselves.
    """
    ranges, start, above = [], None, ""
    for flip, place in zip(flips, places(flips), strict=True):
        word = place.removeprefix("at ")
        last, first = (word, word) if flip.between is None else map("{:.6g}".format, flip.between)
        if flip.upward:
            start, above = first, f"above {word}" if flip.between is None else f"from {first} on"
        elif start is None:
            ranges.append(f"below {word}" if flip.between is None else f"up to {last}")
        else:
            ranges.append(f"at {start}" if start == last else f"from {start} to {last}")
            start = None
    return ranges if start is None else [*ranges, above]


def card(model: Any, feature: Any, *, background: Any = None, level: float = 0.9) -> FeatureCard:
    """All that the model says of one feature, put together for somebody who knows the subject.

    Its partial dependence with bands and single rows, the density of the training rows, its main
    effect, what it acts together with and how it then looks, where it changes sign. All exact, from
    :func:`partial_dependence`, :func:`response`, :func:`ice`, :func:`importance` and
    :func:`interactions`.

    Parameters
    ----------
    model : TSLRegressor, TSLClassifier, ClassView or SeparationModel
        A fitted estimator, or its ``model_``.
    feature : str or int
        Name or position.
    background : table, optional
        Rows to average over. By default the reference rows kept in the model.
    level : float
        Share of the bootstrap replicates inside bands, for a model with ``n_bootstrap``.

    Examples
    --------
    >>> from seplearn import TSLRegressor, datasets, explain
    >>> X, y = datasets.masked_interaction(1000, as_frame=True, random_state=0)
    >>> model = TSLRegressor(n_stages=2, random_state=0).fit(X, y)
    >>> card = explain.card(model, "x1")
    >>> sorted(partner.name for partner in card.partners)
    ['x2', 'x3']
    """
    subject = Subject.of(model)
    j = subject.feature(feature)
    level = check_level(level)
    rows = subject.rows(background)
    alone = replace(subject, model=replace(subject.model, replicates=()))
    sizes = mean_sizes(alone, rows)
    together = interactions(model, background=None if background is None else rows)
    told = summaries_of(subject, rows, sizes, together, [j])
    (found,) = cards_of(subject, told, rows, sizes, together, level)
    return found


def cards_of(
    subject: Subject,
    told: Iterable[FeatureSummary],
    rows: Reference,
    sizes: Importance,
    together: Interactions,
    level: float,
) -> tuple[FeatureCard, ...]:
    """Cards of features that a summary over the same rows tells of, importance already known."""
    return tuple(_card(subject, one, rows, sizes, together, level) for one in told)


def _card(
    subject: Subject,
    told: FeatureSummary,
    rows: Reference,
    sizes: Importance,
    together: Interactions,
    level: float,
) -> FeatureCard:
    j, name = told.feature, told.name
    model, bins = subject.model, subject.model.bins
    axis = bins.axis(j)
    dependence = _with_bands(subject, (j,), rows, level)
    ice = lines_of(subject, j, rows.codes, _LINES)
    effects = [one.effects[axis] for one in model.replicates if one.effects is not None]
    return FeatureCard(
        feature=j,
        name=name,
        axis=bins.axes[j],
        frequencies=bins.frequencies[axis].copy(),
        importance=told.importance,
        share=told.share,
        rank=sizes.order.index(j) + 1,
        n_features=len(subject.names),
        alone=told.alone,
        total=told.total,
        dependence=dependence,
        response=response_of(subject, j, rows, level) if model.link.factor else None,
        effect=None if model.effects is None else model.effects[axis].copy(),
        effect_band=band_of(effects, level),
        ice=ice,
        lines=model.link.inverse(ice.values),
        partners=_partners(subject, j, rows, together),
        crossing=sign_of_curve(dependence.total - dependence.mean, bins, j, name),
        sign=told.sign,
        summary=told,
        library=subject.schema.library,
        quantity=subject.quantity,
    )


def _with_bands(
    subject: Subject, features: tuple[int, ...], rows: Reference, level: float
) -> PartialDependence:
    replicates = tuple(dependence_on(r, subject, features, rows) for r in subject.model.replicates)
    result = dependence_on(subject.model, subject, features, rows)
    return replace(result, replicates=replicates, level=level, library=subject.schema.library)


def _partners(
    subject: Subject, j: int, rows: Reference, together: Interactions
) -> tuple[Partner, ...]:
    strengths = together.together[j]
    order = [k for k in np.argsort(-strengths, kind="stable") if k != j]
    strong = [int(k) for k in order if strengths[k] >= _SMALLEST_STRENGTH]
    partners = []
    for place, k in enumerate(strong):
        partner = Partner(k, subject.names[k], float(strengths[k]), float(together.h[j, k]))
        if place < _DRAWN_PARTNERS:
            codes = typical_bins(subject.model.bins, k)
            both = dependence_on(subject.model, subject, (j, k), rows)
            values = subject.model.bins.axes[k].describe().values
            partner = replace(
                partner,
                values=tuple(values[code] for code in codes),
                curves=tuple(both.held(1, code) for code in codes),
            )
        partners.append(partner)
    return tuple(partners)


def typical_bins(bins: Bins, j: int) -> Sequence[int]:
    """Bins of a low, a middle and a high value of a feature, or of its most frequent levels."""
    frequencies = bins.frequencies[bins.axis(j)]
    ordered = frequencies[: int(bins.n_ordered[j])]
    if not ordered.sum() > 0.0:
        often = np.argsort(-frequencies, kind="stable")[: len(_LOW_MIDDLE_HIGH)]
        return [int(b) for b in np.sort(often) if frequencies[b] > 0.0]
    below = np.cumsum(ordered) / ordered.sum()
    found = np.searchsorted(below, _LOW_MIDDLE_HIGH)
    return list(dict.fromkeys(np.minimum(found, len(ordered) - 1).tolist()))
