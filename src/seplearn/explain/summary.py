"""The whole model in plain sentences, from exact effects over all stages and main effects."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np

from seplearn.explain.class_summary import ClassSummary, class_summary_of
from seplearn.explain.dependence import dependence_on
from seplearn.explain.importance import Importance, mean_sizes
from seplearn.explain.interactions import Interactions, interactions
from seplearn.explain.result import Explanation
from seplearn.explain.sections import in_html, in_lines
from seplearn.explain.sentences import told
from seplearn.explain.shape import shown_bins, way_along
from seplearn.explain.signs import (
    SignChange,
    effect_along,
    has_both_signs,
    prediction_along,
    sign_change,
    sign_of_prediction,
    signs_differ,
    usual_shape,
)
from seplearn.explain.size_path import SizeChoice, size_path
from seplearn.explain.sizes import few_rows
from seplearn.explain.statements import COMMON, Statement, statements_of
from seplearn.explain.subject import Subject
from seplearn.kernels.arrays import FloatArray, IntArray
from seplearn.model.classes import ClassModels
from seplearn.model.reading import read_curves
from seplearn.model.reference import Reference
from seplearn.table.binning import Axis

_SMALLEST_SHARE = 0.01  # of all importance: who has less takes no part in what is told of turns
_SMALLEST_PART = 0.05  # of a feature's variance, for it to act together with others
_FEWEST_TURNED = 0.05  # of the rows
_MOST_TURNED = 12  # features looked at in pairs
_PAIR_ROWS = 300


@dataclass(frozen=True, eq=False)
class FeatureSummary:
    """What one feature does in the whole model.

    Attributes
    ----------
    feature : int
    name : str
    importance : float
        Mean absolute Shapley value, in the unit of y.
    share : float
        The same as a share of the sum over features.
    alone, total : float
        Sobol indices: the share of the prediction's variance that it explains by itself, and that
        would be gone without it.
    axis : NumericAxis or CategoricalAxis
    bins : array of int
        The bins that have rows; of a numeric feature without the outermost 1 % on either side.
    curve : array
        Partial dependence in these bins: the prediction on average over all other features.
    sign : SignChange or None
        Where the prediction changes its sign along this feature, at one place for most rows; None
        where it does not, and for a model that hardly ever predicts a negative number.
    turned : float
        Share of the rows for which the effect of the feature has the shape that most rows have, but
        upside down.
    way : {"rises", "falls", ""}
        What the prediction does along the feature for most of the rows that it moves; empty where
        it turns, for levels, and where nothing of this was looked at.
    turned_by : tuple of SignChange
        Features along which it is turned upside down, and where.
    idle : float
        Share of the rows for which it does hardly anything: less than 5 % of what is usual.
    common : float
        How much of what the feature does, in squares, is a multiple of one shape in every row.
        Where it is less than 85 %, rows have different shapes, and no turns are told.
    missing : float
        Of numbers of which some are missing in training: the partial dependence there. Else NaN.

    Examples
    --------
    >>> from seplearn import TSLRegressor, datasets, explain
    >>> X, y = datasets.masked_interaction(2000, as_frame=True, random_state=0)
    >>> model = TSLRegressor(n_stages=2, random_state=0).fit(X, y)
    >>> x1 = explain.summary(model)["x1"]
    >>> x1.sign is None, sorted(change.name for change in x1.turned_by)
    (True, ['x2', 'x3'])
    """

    feature: int
    name: str
    importance: float
    share: float
    alone: float
    total: float
    axis: Axis
    bins: IntArray
    curve: FloatArray
    sign: SignChange | None = None
    turned: float = 0.0
    way: str = ""
    turned_by: tuple[SignChange, ...] = ()
    idle: float = 0.0
    common: float = 1.0
    missing: float = math.nan


@dataclass(frozen=True, eq=False, repr=False)
class Summary(Explanation):
    """What a model says as a whole; ``print(summary)`` tells it in sentences.

    Attributes
    ----------
    target : str or None
        Its name, if it has one.
    aim : str
        What of it is predicted, as "the 0.9 quantile of "; empty for its mean.
    names : tuple of str
        Of all features.
    stage_names : tuple of str
    has_effects : bool
        Whether the model has main effects.
    reading_size : int
        Number of curves that are not flat.
    turning_points : array of int
        How often those over numbers turn.
    mean, spread : float
        Mean and standard deviation of the prediction over the rows.
    negative : float
        Share of the rows with a negative prediction.
    n_rows : int
        Rows that all this is over.
    over_training : bool
        Whether these are the reference rows that the model keeps, not rows that were given.
    is_weighted : bool
        Whether rows of the fit had weights, by which reference rows were drawn.
    twins : tuple of tuple of str
        Features in some curve that put all these rows in the same bins, as copies do.
    features : tuple of FeatureSummary
        Those in at least one curve, the most important first.
    unused : tuple of str
        Features in no curve.
    importance : Importance
    interactions : Interactions
    size : SizeChoice or None
        Why it has so many stages, if that was chosen on held-out rows.

    Examples
    --------
    >>> from seplearn import TSLRegressor, datasets, explain
    >>> X, y = datasets.masked_interaction(2000, as_frame=True, random_state=0)
    >>> model = TSLRegressor(n_stages=2, random_state=0).fit(X, y)
    >>> summary = explain.summary(model)
    >>> [bool(summary[name].sign) for name in ("x1", "x2", "x3")]
    [False, True, True]
    >>> "changes its sign" in str(summary)
    True
    """

    _figure: ClassVar[str] = "plot_summary"

    target: str | None
    names: tuple[str, ...]
    stage_names: tuple[str, ...]
    has_effects: bool
    reading_size: int
    turning_points: IntArray
    mean: float
    spread: float
    negative: float
    n_rows: int
    features: tuple[FeatureSummary, ...]
    unused: tuple[str, ...]
    importance: Importance
    interactions: Interactions
    size: SizeChoice | None = None
    over_training: bool = False
    is_weighted: bool = False
    twins: tuple[tuple[str, ...], ...] = ()
    aim: str = ""

    def __getitem__(self, feature: str | int) -> FeatureSummary:
        for one in self.features:
            if feature in (one.name, one.feature):
                return one
        names = [one.name for one in self.features]
        raise KeyError(f"feature must be one of {names}, got {feature!r}")

    @property
    def has_signs(self) -> bool:
        """Whether the sign of the prediction says something: some are negative, some positive."""
        return signs_differ(self.negative)

    @property
    def sections(self) -> tuple[tuple[str, tuple[str, ...]], ...]:
        """Headings and the sentences below them."""
        return told(self)

    @property
    def statements(self) -> tuple[Statement, ...]:
        """What these sentences claim, without their numbers: see :func:`stability`."""
        return statements_of(self)

    def __str__(self) -> str:
        return in_lines(self.sections)

    def _words_html(self) -> str:
        """The sentences, below their headings."""
        return in_html(self.sections)

    def _figure_html(self) -> str:
        """The bars alone: the sentences are in words already."""
        return self.importance._figure_html()

    def brief_html(self) -> str:
        """The sentences and a small figure, for the page of a notebook that shows a model."""
        return self._words_html() + self._figure_html()

    def _columns(self) -> dict[str, Any]:
        """One row per feature, the most important first; those in no curve last."""
        features, rest = self.features, len(self.unused)

        def numbers(values: Iterable[float], unused: float = 0.0) -> FloatArray:
            return np.array([*values, *[unused] * rest], dtype=np.float64)

        turners = (", ".join(by.name for by in one.turned_by) for one in features)
        return {
            "feature": [*(one.name for one in features), *self.unused],
            "importance": numbers(one.importance for one in features),
            "alone": numbers(one.alone for one in features),
            "total": numbers(one.total for one in features),
            "lowest": numbers((one.curve.min() for one in features), np.nan),
            "highest": numbers((one.curve.max() for one in features), np.nan),
            "sign_flips": [*(_flips(one.sign) for one in features), *[""] * rest],
            "turned": numbers(one.turned for one in features),
            "idle": numbers((one.idle for one in features), 1.0),
            "turned_by": [*turners, *[""] * rest],
            "common": numbers((one.common for one in features), 1.0),
        }


def _of_missing(subject: Subject, j: int, curve: FloatArray, bins: IntArray) -> float:
    """The curve where a number is missing, if any was in training and others were not."""
    own = subject.model.bins
    last = int(own.n_ordered[j])  # missing values come after the ordered bins
    is_there = not own.is_categorical[j] and bool(own.frequencies[own.axis(j)][last] > 0.0)
    return float(curve[last]) if is_there and last not in bins else math.nan


def _flips(change: SignChange | None) -> str:
    return "" if change is None else ", ".join(f"{flip.at:.6g}" for flip in change.flips)


def summary(model: Any, *, background: Any = None) -> Summary | ClassSummary:
    """What the model says as a whole, in sentences, each computed from exact effects.

    What moves the prediction and by how much, what acts together, where the prediction changes its
    sign, whose effect is turned upside down by whom, what is not used; all over stages and main
    effects together, so that what cancels between stages is not told.

    *The prediction changes its sign along a feature* when there are places such that, for most rows
    and with all other features as they are, it has one sign before and the other behind. Rows
    share a curve over the feature up to a factor (of either sign), as near as can be: the places
    are those where this curve crosses zero, and at least 85 % of all predictions along the
    feature, counted by size, must have the sign it says. *The effect of a feature is turned upside
    down* when this holds for the factor by which rows have the common curve of the feature's
    effect, as another feature is moved. It is told only of a feature whose effect is, by 85 % of
    its squares, a multiple of one curve in every row: else rows have different curves.

    Of more than two classes what tells them apart is said in mean probabilities, of all of them
    at once; all this of the score of one, or of the log-odds of two, for what ``for_class`` gives.

    Parameters
    ----------
    model : fitted estimator, ClassView or SeparationModel
        A fitted estimator, or, but of several classes, its ``model_``.
    background : table, optional
        Rows to average over. By default the reference rows kept in the model. Signs are looked at
        over 1000 of them at most, turns for the twelve most important features, and who turns an
        effect, and where, over 300 rows.

    Examples
    --------
    >>> from seplearn import TSLRegressor, datasets, explain
    >>> X, y = datasets.rents(1000, random_state=0)
    >>> model = TSLRegressor(n_stages=2, random_state=0).fit(X, y)
    >>> summary = explain.summary(model)
    >>> summary.features[0].name
    'area'
    """
    models = getattr(model, "model_", None)
    if isinstance(models, ClassModels):
        return class_summary_of(model, models, background)
    return summary_of_sum(model, background)


def summary_of_sum(model: Any, background: Any = None) -> Summary:
    """The summary of a model of one sum."""
    subject = Subject.of(model)
    rows = subject.rows(background)
    fitted, provenance = subject.model, getattr(model, "provenance_", None)
    # Sentences have no bands: refits to bootstrap samples would only take time.
    alone = replace(subject, model=replace(fitted, replicates=()))
    sizes = mean_sizes(alone, rows)
    shares = interactions(model, background=None if background is None else rows)
    used = {curve.feature for curve in read_curves(fitted.stages, fitted.effects, fitted.bins)}
    prediction = fitted.predict(rows.codes)
    unit = float(np.abs(prediction).max()) or 1.0
    # Between the ends, whatever rounding says: predictions that are all the same have no spread.
    mean = float(np.clip(rows.weight @ prediction, prediction.min(), prediction.max()))
    return Summary(
        target=subject.schema.target,
        names=subject.names,
        stage_names=subject.stage_names,
        has_effects=fitted.effects is not None and bool(fitted.effects.any()),
        reading_size=fitted.reading_size,
        turning_points=fitted.turning_points,
        mean=mean,
        spread=unit * float(np.sqrt(rows.weight @ ((prediction - mean) / unit) ** 2)),
        negative=float(rows.weight[prediction < 0].sum()),
        n_rows=len(rows.codes),
        features=summaries_of(subject, rows, sizes, shares, [j for j in sizes.order if j in used]),
        unused=tuple(name for j, name in enumerate(subject.names) if j not in used),
        importance=sizes,
        interactions=shares,
        size=size_path(model) if fitted.size_paths else None,
        over_training=rows is fitted.reference,
        twins=_twins(subject, rows, used),
        is_weighted=bool(provenance is not None and provenance.is_weighted),
        aim=getattr(model, "_aim", ""),
        library=subject.schema.library,
        quantity=subject.quantity,
    )


def _twins(subject: Subject, rows: Reference, used: set[int]) -> tuple[tuple[str, ...], ...]:
    """Features of more than two values that no row tells apart."""
    alike: dict[bytes, list[str]] = {}
    for j in sorted(used):
        codes = np.ascontiguousarray(rows.codes[:, j])
        if len(np.unique(codes)) > 2:
            alike.setdefault(codes.tobytes(), []).append(subject.names[j])
    return tuple(tuple(names) for names in alike.values() if len(names) > 1)


def summaries_of(
    subject: Subject, rows: Reference, sizes: Importance, shares: Interactions, told: Iterable[int]
) -> tuple[FeatureSummary, ...]:
    """What the features ``told`` do, over rows already binned, importance already known."""
    model = subject.model
    has_signs = has_both_signs(model, rows)
    together = [
        j
        for j in sizes.order
        if sizes.share[j] >= _SMALLEST_SHARE
        and shares.total[j] - shares.main[j] >= _SMALLEST_PART * shares.total[j]
    ][:_MOST_TURNED]
    found = []
    for j in told:
        name, bins = subject.names[j], shown_bins(model.bins, j)
        turned: dict[str, Any] = {}
        if j in together:
            turned = _turns(subject, rows, j, together)
        curve = dependence_on(model, subject, (j,), rows).total
        found.append(
            FeatureSummary(
                feature=j,
                name=name,
                importance=float(sizes.values[j]),
                share=float(sizes.share[j]),
                alone=float(shares.main[j]),
                total=float(shares.total[j]),
                axis=model.bins.axes[j],
                bins=bins,
                curve=curve[bins],
                missing=_of_missing(subject, j, curve, bins),
                sign=sign_of_prediction(model, rows, j, name) if has_signs else None,
                **turned,
            )
        )
    return tuple(found)


def _turns(subject: Subject, rows: Reference, j: int, others: list[int]) -> dict[str, Any]:
    """For which share of the rows the effect is upside down, its usual way, and who turns it."""
    model = subject.model
    effect = prediction_along(model, rows, j).centred
    shape, turned, idle = usual_shape(effect)
    common = effect.common_part(shape)
    if common < COMMON:
        return {"common": common}
    way = way_along(shape[shown_bins(model.bins, j)]) if not model.bins.is_categorical[j] else ""
    found = {"turned": turned, "way": way, "idle": idle, "common": common}
    if turned < _FEWEST_TURNED:
        return found
    few = few_rows(rows, _PAIR_ROWS)
    changes = [
        sign_change(effect_along(model, few, j, k, shape), model.bins, k, subject.names[k])
        for k in others
        if k != j
    ]
    return found | {"turned_by": tuple(change for change in changes if change is not None)}
