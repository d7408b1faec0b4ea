"""Whether rows are like those a model was fitted to: ranges, levels, shares, missing values."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from scipy.stats import chi2, norm

from seplearn._errors import out_of_range, warn
from seplearn._numerals import percent
from seplearn.explain.groups import bin_groups
from seplearn.explain.result import Explanation
from seplearn.explain.subject import Subject, check_number
from seplearn.kernels.arrays import BoolArray, FloatArray
from seplearn.table.binning import NumericAxis
from seplearn.table.columns import open_table
from seplearn.table.training import checked_weight

SMALL, LARGE = 0.1, 0.25  # the usual thresholds of the population stability index
UNLIKE = 0.01  # share of rows with values that no training row is like
_MISSING_MORE = 0.05  # by which the share of missing values may differ
_N_GROUPS = 10
_SMALLEST_SHARE = 1e-4  # of a group in training: its log is taken
_FEWEST_KNOWN = 1_000  # training rows, of a model that keeps none of them
_FALSE_ALARMS = 0.001  # how often one of all features exceeds what chance explains
_OFTEN_WATCHED = 0.05  # how often one is to be watched, for numbers beyond all training values


@dataclass(frozen=True, eq=False)
class RowCounts:
    """What there is to count in a table; those of its parts can be added.

    ``per_bin`` are the rows in every bin of every feature, ``outside`` those with a number beyond
    all training values.
    """

    n_rows: int
    per_bin: FloatArray
    outside: FloatArray

    def __add__(self, other: RowCounts) -> RowCounts:
        return RowCounts(
            self.n_rows + other.n_rows, self.per_bin + other.per_bin, self.outside + other.outside
        )


@dataclass(frozen=True, eq=False, repr=False)
class Drift(Explanation):
    """How the rows of a table differ from those that a model was fitted to, feature by feature.

    Attributes
    ----------
    names : tuple of str
    n_rows : int
    verdicts : tuple of {"ok", "watch", "drift"}
        Of every feature.
    reasons : tuple of str
        Why, in words; empty where all is well.
    psi : array of shape (p,)
        Population stability index: the sum over groups of values of (share now - share in
        training) times the log of their ratio. Groups are at most ten ranges of about the same
        weight in training, levels, and missing values; each has half a row more now, as an empty
        one has no log. Usually below 0.1 is taken for stable, above
        0.25 for another population.
    psi_by_chance : array of shape (p,)
        What it would hardly exceed if these rows were drawn like the training rows: few rows have
        a large index by themselves. Below it no verdict rests on the index.
    outside : array of shape (p,)
        Share of rows with a number beyond all training values.
    unseen : array of shape (p,)
        Share of rows with a level never seen in training.
    missing, missing_before : array of shape (p,)
        Share of rows without a value, now and in training.

    Examples
    --------
    >>> from seplearn import TSLRegressor, datasets, explain
    >>> X, y = datasets.rents(600, random_state=0)
    >>> model = TSLRegressor(n_stages=1, random_state=0).fit(X, y)
    >>> explain.drift(model, X).has_drifted
    False
    >>> drift = explain.drift(model, X.assign(area=X["area"] + 200))
    >>> drift.has_drifted, drift.verdicts[list(X).index("area")]
    (True, 'drift')
    """

    _figure: ClassVar[str] = "plot_drift"

    names: tuple[str, ...]
    n_rows: int
    verdicts: tuple[str, ...]
    reasons: tuple[str, ...]
    psi: FloatArray
    psi_by_chance: FloatArray
    outside: FloatArray
    unseen: FloatArray
    missing: FloatArray
    missing_before: FloatArray
    limit: float = LARGE

    @property
    def has_drifted(self) -> bool:
        """Whether any feature has."""
        return "drift" in self.verdicts

    def _columns(self) -> dict[str, Any]:
        """One row per feature."""
        return {
            "feature": list(self.names),
            "verdict": list(self.verdicts),
            "psi": self.psi,
            "psi_by_chance": self.psi_by_chance,
            "outside": self.outside,
            "unseen": self.unseen,
            "missing": self.missing,
            "missing_before": self.missing_before,
            "reason": list(self.reasons),
        }


def drift(
    model: Any,
    X: Any,
    sample_weight: Any = None,
    *,
    psi: float = LARGE,
    unlike: float = UNLIKE,
) -> Drift:
    """Compare the rows of a table with those that a model was fitted to.

    A model keeps how often training rows fell into every bin, so no training table is needed.
    A feature has drifted if its shares differ by a population stability index above ``psi`` and
    beyond chance; if more than ``unlike`` of the rows, and more than by chance, have a number
    beyond all training values, a level never seen, or no value where there always was one; or if
    many more or fewer values are missing. It is to be watched if the index is above 0.1, if more
    rows than by chance lie beyond all training values, or if any row has a level never seen, or no
    value where there always was one.

    Parameters
    ----------
    model : TSLRegressor, TSLClassifier, SepALSRegressor or SeparationModel
        A fitted estimator, or its ``model_``.
    X : table
        With the columns of the training table; others are ignored, as in ``predict``.
    sample_weight : array-like of shape (n,), optional
        What these rows count, for a model that was fitted with such weights: shares in training
        are then shares of weights.
    psi : float
        Population stability index above which a feature has drifted, at least 0.1.
    unlike : float
        Share of rows that may be unlike all training rows, from 0 to 1.

    Examples
    --------
    >>> from seplearn import TSLRegressor, datasets, explain
    >>> X, y = datasets.rents(600, random_state=0)
    >>> model = TSLRegressor(n_stages=1, random_state=0).fit(X, y)
    >>> drift = explain.drift(model, X.assign(district="harbour"))
    >>> drift.reasons[list(X).index("district")].split(" (")[0]
    'shares of values differ'
    """
    subject = Subject.of_any(model)
    if sample_weight is None:
        warn_of_weights(model)
    counts = count_rows(subject, X, sample_weight)
    return drift_of(subject, counts, n_training_rows(model), psi=psi, unlike=unlike)


def warn_of_weights(model: Any) -> None:
    """Warn where shares in training are of weights, which these rows have not."""
    provenance = getattr(model, "provenance_", None)
    if provenance is not None and provenance.is_weighted:
        warn(
            "the model was fitted with weights (sample_weight or class_weight): what it kept are "
            "shares of weights, from which those of rows may differ without any drift"
        )


def n_training_rows(model: Any) -> int:
    """How many rows a model was fitted to, or at least: it may keep some."""
    provenance = getattr(model, "provenance_", None)
    if provenance is not None:
        return int(provenance.n_rows)
    reference = Subject.of_any(model).model.reference
    return _FEWEST_KNOWN if reference is None else len(reference.codes)


def check_limits(psi: Any, unlike: Any) -> tuple[float, float]:
    """The limits of :func:`drift`, or an error that names the wrong one."""
    return (
        check_number("psi", psi, f"a number of at least {SMALL}", lambda v: SMALL <= v < math.inf),
        check_number("unlike", unlike, "a number from 0 to 1", lambda v: 0.0 <= v <= 1.0),
    )


def count_rows(subject: Subject, X: Any, sample_weight: Any = None) -> RowCounts:
    """Count the rows of a table, or of a part of one; weights are measured by their mean."""
    table, bins = open_table(X), subject.model.bins
    columns = subject.schema.columns_in(table, subject.owner)
    codes = bins.codes(table, columns)
    outside = np.zeros(bins.n_axes)
    for j, (axis, column) in enumerate(zip(bins.axes, columns, strict=True)):
        if isinstance(axis, NumericAxis) and axis.range is not None:
            values = axis.read(table, column)
            outside[j] = np.sum((values < axis.range[0]) | (values > axis.range[1]))
    weight = np.ones(len(codes))
    if sample_weight is not None:
        weight = checked_weight(sample_weight, np.zeros(len(codes)))
        weight = weight / weight.mean()
    cells = np.repeat(weight, bins.n_axes)
    flat, size = bins.flat(codes).ravel(), int(bins.offset[-1])
    per_bin = np.bincount(flat, cells, minlength=size).astype(np.float64)
    return RowCounts(len(codes), per_bin, outside)


def drift_of(subject: Subject, counts: RowCounts, n_before: int, *, psi: Any, unlike: Any) -> Drift:
    """What the counted rows say beside so many training rows."""
    limits = check_limits(psi, unlike)
    if counts.n_rows == 0:
        raise out_of_range("X", "a table of one row or more", "no rows")
    features = [_Feature.of(subject, counts, n_before, j) for j in range(len(subject.names))]
    told = [feature.verdict(*limits) for feature in features]

    numbers: dict[str, Any] = {
        name: np.array([getattr(feature, name) for feature in features])
        for name in ("psi", "psi_by_chance", "outside", "unseen", "missing", "missing_before")
    }
    return Drift(
        names=subject.names,
        n_rows=counts.n_rows,
        verdicts=tuple(verdict for verdict, _ in told),
        reasons=tuple(reason for _, reason in told),
        **numbers,
        limit=limits[0],
        library=subject.schema.library,
        quantity=subject.quantity,
    )


@dataclass(frozen=True)
class _Feature:
    """The shares of one feature, now and before."""

    n_rows: int
    psi: float
    psi_by_chance: float
    outside: float
    unseen: float
    missing: float
    missing_before: float
    most_missing: float  # by which the share of missing values differs by chance
    most_unlike: float  # rows that by chance alone are unlike all training rows
    most_beyond: float  # rows that often are beyond all training values: nothing to watch

    @staticmethod
    def of(subject: Subject, counts: RowCounts, n_before: int, j: int) -> _Feature:
        bins, n = subject.model.bins, counts.n_rows
        meanings = np.array(bins.axes[j].describe().meanings)
        before, now = bins.frequencies[bins.axis(j)], counts.per_bin[bins.axis(j)] / n
        groups = bin_groups(bins.axes[j], before, _N_GROUPS)
        rate = _FALSE_ALARMS / bins.n_axes
        index, n_groups = _stability(groups.sums(before), groups.sums(now), n)
        missing = min(float(before[meanings == "missing"].sum()), 1.0)  # shares of weights round
        return _Feature(
            n_rows=n,
            psi=index,
            psi_by_chance=float(chi2.isf(rate, max(n_groups - 1, 1))) * (1 / n + 1 / n_before),
            outside=float(counts.outside[j]) / n,
            unseen=float(now[meanings == "unseen"].sum()),
            missing=float(now[meanings == "missing"].sum()),
            missing_before=missing,
            most_missing=_MISSING_MORE
            + float(norm.isf(rate)) * math.sqrt(missing * (1.0 - missing) * (1 / n + 1 / n_before)),
            most_unlike=_most_new(rate, n, n_before),
            most_beyond=_most_new(_OFTEN_WATCHED / bins.n_axes, n, n_before),
        )

    def verdict(self, psi: float, unlike: float) -> tuple[str, str]:
        """What to think of it, and why."""
        new_gaps = self.missing if self.missing_before == 0.0 else 0.0
        strange = {
            "beyond all training values": self.outside,
            "levels never seen in training": self.unseen,
            "missing, which it never was in training": new_gaps,
        }
        counted = dict(strange)
        if self.outside * self.n_rows <= self.most_beyond:
            del counted["beyond all training values"]
        some = [f"{what}: {percent(share)} of the rows" for what, share in counted.items() if share]
        many = any(
            share > unlike and share * self.n_rows > self.most_unlike for share in strange.values()
        )
        is_shifted = self.psi > max(psi, self.psi_by_chance)
        more_missing = self.missing_before > 0.0 and (
            abs(self.missing - self.missing_before) > self.most_missing
        )
        if more_missing:
            some.append(f"missing: {percent(self.missing)}, was {percent(self.missing_before)}")
        is_to_watch = self.psi > max(SMALL, self.psi_by_chance)
        if is_to_watch:
            some.append(f"shares of values differ (stability index {self.psi:.2g})")
        word = "ok"
        if many or is_shifted or more_missing:
            word = "drift"
        elif some:
            word = "watch"
        return word, "; ".join(some)


def _most_new(rate: float, n: int, n_before: int) -> float:
    """How many of all rows' largest are new ones by chance, and more no oftener than ``rate``.

    Of rows in any order, that the k largest are all among the new ones has the probability
    (n / (n + n_before)) ** k.
    """
    return -math.log(rate) / math.log1p(n_before / n)


def _stability(before: FloatArray, now: FloatArray, n_rows: int) -> tuple[float, int]:
    """The population stability index, and of how many groups."""
    used: BoolArray = (before > 0.0) | (now > 0.0)
    before, now = before[used], now[used]
    # Half a row more in every group: an empty one has no log.
    counted = (now * n_rows + 0.5) / (n_rows + 0.5 * len(now))
    known = np.maximum(before, _SMALLEST_SHARE)
    known = known / known.sum()
    return float(np.sum((counted - known) * np.log(counted / known))), len(now)
