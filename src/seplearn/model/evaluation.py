"""How predictions fare on rows with a known target: errors, calibration, residuals, ranking."""

from __future__ import annotations

import math
import sys
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field, fields
from typing import Any, NamedTuple

import numpy as np

from seplearn._errors import out_of_range
from seplearn._numerals import count as counted
from seplearn._numerals import number_text, percent
from seplearn.kernels.arrays import BoolArray, FloatArray, IntArray
from seplearn.losses import LogLoss, Loss, SquaredError
from seplearn.losses.base import weighted_mean
from seplearn.losses.quantile import COVERED
from seplearn.model.checks import count, finite, require, table

_N_GROUPS = 10
_BARS = np.linspace(-1.0, 1.0, 24 + 1)  # edges of bars, symmetric about zero
_OUTER = 0.01  # share of the residuals on either side that are counted in the outermost bars
_MOST_CUTS = 200
_HUNDREDTHS = np.arange(1, 100) / 100  # thresholds at which classes are counted exactly
_MOST_SCORES, _LONGEST_NAME = 20, 200
_LARGEST = sys.float_info.max
_ROUNDING = 1e-12  # a share explained that is less below zero is zero
_SMALLEST_SHARE = 1e-15  # that a class is given, when its log is taken
_OTHERS = "all others"  # of several classes, what one of them is told apart from


class Confusion(NamedTuple):
    """How often either class was called either way, where the second is called above a threshold.

    ``hits`` and ``false_alarms`` are the rows called the second class that are, and that are not;
    ``misses`` and ``rejections`` those called the first class that are the second, and the first.
    They are whole numbers, or weights of rows.

    Examples
    --------
    >>> from seplearn import TSLClassifier, datasets
    >>> X, y = datasets.masked_interaction(600, random_state=0)
    >>> model = TSLClassifier(n_stages=1, random_state=0).fit(X[:400], y[:400] > 0)
    >>> found = model.evaluate(X[400:], y[400:] > 0).confusion(0.5)
    >>> found.hits + found.false_alarms + found.misses + found.rejections
    200
    """

    threshold: float
    hits: float
    false_alarms: float
    misses: float
    rejections: float


def confusion_at(
    threshold: float, probability: FloatArray, is_second: BoolArray, weight: FloatArray
) -> Confusion:
    """The confusion of rows by their probabilities of the second class, at any threshold.

    Examples
    --------
    >>> flags, weight = np.array([False, True, True]), np.ones(3)
    >>> confusion_at(0.333, np.array([0.34, 0.33, 0.9]), flags, weight)[1:]
    (1, 1, 1, 0)
    """
    called = probability > threshold
    cells = (called & is_second, called & ~is_second, ~called & is_second, ~called & ~is_second)
    return _confusion(threshold, [float(weight[cell].sum()) for cell in cells])


def _confusion(threshold: float, sizes: Sequence[float]) -> Confusion:
    """Numbers of rows as whole numbers, where all of them are."""
    return Confusion(threshold, *(map(int, sizes) if all(map(_is_whole, sizes)) else sizes))


@dataclass(frozen=True)
class Evaluation:
    """Errors of predictions on some rows; sums over many rows only, no single row.

    ``print(evaluation)`` tells them on a line; ``plots.plot_calibration(evaluation)`` and its
    neighbours draw them.

    Attributes
    ----------
    n_rows : int
    rmse, mae : float
        Root mean squared and mean absolute error, in the unit of y; of a classifier those of the
        probability of its second class.
    r2 : float
        Share of the variance of y that is explained; 0 where y does not vary.
    predicted, actual : tuple of float
        Calibration: mean prediction and mean target in groups of rows of the same size, ordered
        by prediction. Of a model of quantiles ``actual`` is the quantile of the group's target;
        with an exposure (an offset beside a log link) both are rates.
    residual_edges, residual_counts : tuple of float
        Histogram of y minus prediction; what lies farther out is counted in the outermost bars.
    scores : dict of str to float
        Scores that suit the loss the model was fitted with, by name: of a classifier "log-loss",
        "Brier score", "AUC" and "accuracy", of counts "Poisson deviance", of quantiles "pinball
        loss"; of classes, counts and amounts also "actual / expected", all outcomes over all
        predictions. Empty for squared error and Huber's.
    explained : float
        D2: by how much the loss is smaller than that of the best constant (on top of the offsets),
        as a share of the latter. Of squared error and Huber's it is R2.
    actual_lower, actual_upper : tuple of float
        Ends of a 90 % interval for what ``actual`` would be with many more rows.
    cuts, weight_above, outcome_above : tuple of float
        Of classes, counts and amounts: at most 201 predictions from the highest to the lowest; for
        each the weight of the rows predicted as high or higher, and the sum of their outcomes.
        With offsets rows are ordered by their rate, and each weighs as much as its exposure.
    classes : tuple of str
        Of a classifier: outcomes of the first are 0, of the second 1. Empty for numbers. Of one
        class of several, "all others" and its name.

    Examples
    --------
    >>> from seplearn import TSLRegressor, datasets
    >>> X, y = datasets.masked_interaction(1000, random_state=0)
    >>> model = TSLRegressor(n_stages=1, random_state=0).fit(X[:800], y[:800])
    >>> result = model.evaluate(X[800:], y[800:])
    >>> result.mae < result.rmse, len(result.predicted)
    (True, 10)
    """

    n_rows: int
    rmse: float
    mae: float
    r2: float
    predicted: tuple[float, ...] = field(repr=False)
    actual: tuple[float, ...] = field(repr=False)
    residual_edges: tuple[float, ...] = field(repr=False)
    residual_counts: tuple[float, ...] = field(repr=False)
    scores: dict[str, float] = field(default_factory=dict)
    explained: float = 0.0
    actual_lower: tuple[float, ...] = field(default=(), repr=False)
    actual_upper: tuple[float, ...] = field(default=(), repr=False)
    cuts: tuple[float, ...] = field(default=(), repr=False)
    weight_above: tuple[float, ...] = field(default=(), repr=False)
    outcome_above: tuple[float, ...] = field(default=(), repr=False)
    classes: tuple[str, ...] = ()

    def __str__(self) -> str:
        parts = _score_texts(self)
        if not self.classes and COVERED not in self.scores:  # which are about means
            parts.append(f"RMSE {number_text(self.rmse, 4)}")
            parts.append(f"mean absolute error {number_text(self.mae, 4)}")
            if self.n_rows > 1:  # of one row there is no variance to explain
                parts.append(f"R\u00b2 {self.r2:.3f}")
        return f"{', '.join(parts)} on {counted(self.n_rows, 'row')}"

    @staticmethod
    def of(
        y: FloatArray,
        eta: FloatArray,
        weight: FloatArray | None = None,
        *,
        loss: Loss | None = None,
        offset: FloatArray | None = None,
        classes: tuple[str, ...] = (),
    ) -> Evaluation:
        """Compare predictions with the target.

        Parameters
        ----------
        y : array of shape (n,)
            Numbers; of a classifier 0 and 1.
        eta : array of shape (n,)
            The sums that the link of the loss makes predictions of: for most losses they are the
            predictions. Offsets are in them already.
        weight : array of shape (n,), optional
        loss : Loss, optional
            Squared error by default.
        offset : array of shape (n,), optional
            The part of ``eta`` that was given, not learned.
        classes : tuple of str
            Names of the two classes, if there are any.

        Examples
        --------
        >>> import numpy as np
        >>> Evaluation.of(np.array([1.0, 2.0, 3.0]), np.array([1.0, 2.0, 5.0])).mae
        0.6666666666666666
        """
        loss = SquaredError() if loss is None else loss
        loss.check_domain(y)
        weight = np.ones(len(y)) if weight is None else weight
        rows = _Rows.measured(y, eta, weight, np.zeros(len(y)) if offset is None else offset, loss)
        return Evaluation(
            n_rows=len(y),
            **rows.errors(),
            **rows.calibration(),
            **rows.residuals(),
            **(rows.ranking(bool(classes)) if loss.has_shares else {}),
            classes=classes,
        )

    def confusion(self, threshold: float = 0.5) -> Confusion:
        """How often either class was called either way.

        The second class is called where its probability is above the threshold. Hundredths are
        counted exactly, at 0.5 it is what ``predict`` calls; of other thresholds that of an
        evaluation of more than 200 different probabilities is the next of ``cuts``.
        :func:`seplearn.explain.decisions` counts at any threshold.

        Parameters
        ----------
        threshold : float
            Between 0 and 1.

        Examples
        --------
        >>> from seplearn import TSLClassifier, datasets
        >>> X, y = datasets.masked_interaction(600, random_state=0)
        >>> model = TSLClassifier(1, early_stopping=False, random_state=0)
        >>> model = model.fit(X[:400], y[:400] > 0)
        >>> counts = model.evaluate(X[400:], y[400:] > 0).confusion()
        >>> sum(counts[1:])
        200
        """
        self._check_classes("a confusion matrix")
        if not 0.0 <= threshold <= 1.0:
            raise out_of_range("threshold", "between 0 and 1", threshold)
        k = int(np.sum(np.array(self.cuts) > threshold)) - 1
        above, hits = (self.weight_above[k], self.outcome_above[k]) if k >= 0 else (0.0, 0.0)
        everything, yes = self.weight_above[-1], self.outcome_above[-1]
        misses = yes - hits
        return _confusion(threshold, (hits, above - hits, misses, everything - above - misses))

    def roc(self) -> tuple[FloatArray, FloatArray]:
        """Share of the first class, and of the second, called the second: from (0, 0) to (1, 1)."""
        self._check_classes("a ROC curve")
        above, hits = (np.array([0.0, *part]) for part in (self.weight_above, self.outcome_above))
        return _share(above - hits), _share(hits)

    def precision_recall(self) -> tuple[FloatArray, FloatArray]:
        """Recall, and precision: of the second class those found, and of those called it, right."""
        self._check_classes("a precision-recall curve")
        above, hits = np.array(self.weight_above), np.array(self.outcome_above)
        return _share(hits), hits / above

    def gain(self) -> tuple[FloatArray, FloatArray]:
        """Share of the rows (or exposure) predicted highest, and their share of all outcomes."""
        if not self.cuts:
            raise ValueError("gain is for classes, counts and amounts, which are never negative")
        parts = (np.array([0.0, *part]) for part in (self.weight_above, self.outcome_above))
        rows, outcomes = (_share(part) for part in parts)
        return rows, outcomes

    def _check_classes(self, what: str) -> None:
        if len(self.classes) != 2 or not self.cuts:
            raise ValueError(f"{what} is for classes; this is an evaluation of numbers")

    def to_plain(self) -> dict[str, Any]:
        """As it stands in a file."""
        return {k: list(v) if isinstance(v, tuple) else v for k, v in asdict(self).items()}

    @staticmethod
    def from_plain(values: Any) -> Evaluation:
        """Read what :meth:`to_plain` wrote; raise ModelFormatError for anything else."""
        require(isinstance(values, dict), "fields of the evaluation")
        added = {
            name: value
            for name, value in asdict(_NOTHING).items()
            if name not in _FIRST and name not in values
        }
        plain = {k: list(v) if isinstance(v, tuple) else v for k, v in added.items()} | values
        given = table(plain, {one.name for one in fields(Evaluation)}, "the evaluation")
        single = {name: finite(given[name]) for name in ("rmse", "mae", "r2", "explained")}
        lists = {name: _numbers(given[name]) for name in _LISTS}
        _check_lists(lists)
        classes = given["classes"]
        named = isinstance(classes, list) and all(type(one) is str for one in classes)
        require(named and len(classes) in (0, 2), "classes of the evaluation")
        return Evaluation(
            n_rows=count(given["n_rows"]),
            scores=_read_scores(given["scores"]),
            classes=tuple(classes),
            **single,  # type: ignore[arg-type]
            **lists,  # type: ignore[arg-type]
        )


# What evaluations of 0.1.0 have.
_FIRST = {
    "n_rows", "rmse", "mae", "r2", "predicted", "actual", "residual_edges", "residual_counts",
}  # fmt: skip
_NOTHING = Evaluation(0, 0.0, 0.0, 0.0, (), (), (), ())
_LISTS = {name for name, value in asdict(_NOTHING).items() if value == ()} - {"classes"}


@dataclass(frozen=True)
class ClassEvaluation:
    """How probabilities of several classes fare on rows with a known class.

    Attributes
    ----------
    n_rows : int
    log_loss : float
        Mean of minus the log of the probability given to the class that happened; a probability
        counts as at least 1e-15.
    accuracy : float
        Share of the rows whose class was the most likely one.
    of_class : tuple of Evaluation
        The probability of every class beside whether it happened, 1 or 0: an evaluation of this
        class and all others.
    confusion : tuple of tuples of float
        Of the rows of every class, how many (by weight) were called each class: those that the
        most likely one is. Empty in evaluations that were kept without it.

    Examples
    --------
    >>> import numpy as np
    >>> shares = np.array([[0.5, 0.25, 0.25], [0.25, 0.25, 0.5]])
    >>> found = ClassEvaluation.of(np.array([0.0, 1.0]), shares)
    >>> found.accuracy, found.confusion[1]
    (0.5, (0.0, 0.0, 1.0))
    """

    n_rows: int
    log_loss: float
    accuracy: float
    of_class: tuple[Evaluation, ...] = field(repr=False)
    confusion: tuple[tuple[float, ...], ...] = field(default=(), repr=False)

    def __str__(self) -> str:
        return f"{', '.join(_score_texts(self))} on {counted(self.n_rows, 'row')}"

    @property
    def classes(self) -> tuple[str, ...]:
        """Names of the classes, in the order of ``of_class``."""
        return tuple(one.classes[-1] if one.classes else "" for one in self.of_class)

    @property
    def scores(self) -> dict[str, float]:
        """Log-loss and accuracy by name, as evaluations of other models have theirs."""
        return {"log-loss": self.log_loss, "accuracy": self.accuracy}

    @property
    def explained(self) -> float | None:
        """One minus the log-loss beside that of the classes' own shares; None if unknown."""
        pairs = np.array(self.confusion or [[0.0]])
        happened = (pairs / (pairs.max() or 1.0)).sum(axis=1)
        if np.count_nonzero(happened) < 2:
            return None
        share = happened[happened > 0] / happened.sum()
        return 1.0 - self.log_loss / float(-np.sum(share * np.log(share)))

    @staticmethod
    def of(
        numbers: FloatArray,
        shares: FloatArray,
        weight: FloatArray | None = None,
        *,
        classes: Sequence[str] | None = None,
    ) -> ClassEvaluation:
        """Compare probabilities (n, K) with the numbers of the classes that happened.

        Without ``classes`` their numbers are their names.
        """
        names = range(shares.shape[1]) if classes is None else classes
        weight = np.ones(len(numbers)) if weight is None else weight
        actual, called = numbers.astype(np.int64), shares.argmax(axis=1)
        own = shares[np.arange(len(numbers)), actual]
        right = (called == actual).astype(np.float64)
        return ClassEvaluation(
            n_rows=len(numbers),
            log_loss=weighted_mean(-np.log(np.maximum(own, _SMALLEST_SHARE)), weight),
            accuracy=weighted_mean(right, weight),
            of_class=tuple(
                Evaluation.of(
                    (numbers == k).astype(np.float64),
                    log_odds,
                    weight,
                    loss=LogLoss(),
                    classes=(_OTHERS, str(name)),
                )
                for k, (name, log_odds) in enumerate(zip(names, _log_odds(shares).T, strict=True))
            ),
            confusion=_pairs_counted(actual, called, weight, shares.shape[1]),
        )

    def to_plain(self) -> dict[str, Any]:
        """As it stands in a file."""
        return {
            "n_rows": self.n_rows,
            "log_loss": self.log_loss,
            "accuracy": self.accuracy,
            "of_class": [one.to_plain() for one in self.of_class],
            "confusion": [list(row) for row in self.confusion],
        }

    @staticmethod
    def from_plain(values: Any, n_classes: int) -> ClassEvaluation:
        """Read what :meth:`to_plain` wrote; raise ModelFormatError for anything else."""
        names = {field.name for field in fields(ClassEvaluation)}
        lacks = isinstance(values, dict) and "confusion" not in values
        given = table(values | {"confusion": []} if lacks else values, names, "the evaluation")
        own, pairs = given["of_class"], given["confusion"]
        require(isinstance(own, list) and len(own) == n_classes, "evaluations of the classes")
        require(isinstance(pairs, list), "confusion of the evaluation")
        confusion = tuple(_numbers(row) for row in pairs)
        sizes = [len(row) for row in confusion]
        require(sizes in ([], [n_classes] * n_classes), "confusion of the evaluation")
        require(all(size >= 0.0 for row in confusion for size in row), "negative confusion")
        return ClassEvaluation(
            n_rows=count(given["n_rows"]),
            log_loss=finite(given["log_loss"]),
            accuracy=finite(given["accuracy"]),
            of_class=tuple(Evaluation.from_plain(one) for one in own),
            confusion=confusion,
        )


def _pairs_counted(
    actual: IntArray, called: IntArray, weight: FloatArray, n_classes: int
) -> tuple[tuple[float, ...], ...]:
    """The weight of the rows of every class (first) that were called every class."""
    largest = float(weight.max())
    places = actual * n_classes + called
    sums = np.bincount(places, weights=weight / largest, minlength=n_classes**2)
    rows = sums.reshape(n_classes, n_classes).tolist()
    return tuple(tuple(_times(size, largest) for size in row) for row in rows)


def _log_odds(shares: FloatArray) -> FloatArray:
    """Of probabilities, each at least as far from certainty as counts."""
    bounded = np.clip(shares, _SMALLEST_SHARE, 1.0 - _SMALLEST_SHARE)
    log_odds: FloatArray = np.log(bounded) - np.log1p(-bounded)
    return log_odds


def _numbers(values: Any) -> tuple[float, ...]:
    require(isinstance(values, list), "numbers of the evaluation must be a list")
    return tuple(finite(value) for value in values)


def _check_lists(lists: dict[str, tuple[float, ...]]) -> None:
    sizes = {name: len(numbers) for name, numbers in lists.items()}
    groups, bars, cuts = sizes["predicted"], sizes["residual_counts"], sizes["cuts"]
    alike = groups == sizes["actual"] and sizes["residual_edges"] == bars + 1 == len(_BARS)
    ends = {sizes["actual_lower"], sizes["actual_upper"]}
    alike &= ends in ({0}, {groups}) and {sizes["weight_above"], sizes["outcome_above"]} == {cuts}
    few = groups <= _N_GROUPS and cuts <= _MOST_CUTS + len(_HUNDREDTHS)
    require(alike and few, "lengths of lists of the evaluation")
    bars_ascend = bool((np.diff(lists["residual_edges"]) >= 0).all())
    require(bars_ascend and min(lists["residual_counts"]) >= 0, "residuals of the evaluation")
    if cuts:
        falls = bool((np.diff(lists["cuts"]) < 0).all())
        sums = np.array([lists["weight_above"], lists["outcome_above"]])
        rises = bool((sums >= 0).all() and (sums[0] > 0).all() and (np.diff(sums) >= 0).all())
        require(falls and rises, "ranking of the evaluation")


def _read_scores(values: Any) -> dict[str, float]:
    require(isinstance(values, dict) and len(values) <= _MOST_SCORES, "scores of the evaluation")
    short = all(len(name) <= _LONGEST_NAME for name in values)
    require(short, "names of scores of the evaluation")
    return {name: finite(value) for name, value in values.items()}


@dataclass(frozen=True, eq=False)
class _Rows:
    """Outcomes and sums of rows, measured in a power of two so that no square overflows.

    A loss that is not the same in every unit (of degree zero) is asked in the unit of y.
    """

    y: FloatArray
    eta: FloatArray
    prediction: FloatArray
    weight: FloatArray
    offset: FloatArray
    loss: Loss
    unit: float

    @staticmethod
    def measured(
        y: FloatArray, eta: FloatArray, weight: FloatArray, offset: FloatArray, loss: Loss
    ) -> _Rows:
        prediction = loss.link.inverse(eta)
        unit = _unit(max(float(np.abs(y).max()), float(np.abs(prediction).max())))
        own = unit if loss.degree else 1.0
        return _Rows(y / unit, eta / own, prediction / unit, weight, offset / own, loss, unit)

    @property
    def _y_of_loss(self) -> FloatArray:
        return self.y if self.loss.degree else self.y * self.unit

    def errors(self) -> dict[str, Any]:
        """Root mean squared and mean absolute error, R2, and what suits the loss."""
        residual = self.y - self.prediction
        rmse = _root_mean_square(residual, self.weight)
        rows = self._y_of_loss, self.eta, self.weight
        scores = self.loss.scores(*rows) | self.loss.level(*rows)
        explained = r2 = _explained(self.y, rmse, self.weight)
        if self.loss.name is not None:
            explained = self._loss_explained(scores[self.loss.name])
            for _ in range(self.loss.degree):
                scores[self.loss.name] = _times(scores[self.loss.name], self.unit)
        return {
            "rmse": _times(rmse, self.unit),
            "mae": _times(weighted_mean(np.abs(residual), self.weight), self.unit),
            "r2": r2,
            "scores": {name: _times(value, 1.0) for name, value in scores.items()},
            "explained": explained,
        }

    def _loss_explained(self, value: float) -> float:
        """D2: the loss beside that of the best constant."""
        y, loss = self._y_of_loss, self.loss
        if y.min() == y.max():
            return 0.0
        best = loss.constant(y, self.weight, self.offset)
        simple = loss.mean_of(y, best + self.offset, self.weight)
        return 1.0 - min(value / simple, _LARGEST / 2) if simple > 0.0 else 0.0

    def calibration(self) -> dict[str, Any]:
        """Predictions and outcomes in groups of rows, with bands; with an exposure, rates."""
        exposure = self.loss.link.exposure(self.offset)
        unit = self.unit if self.loss.degree else 1.0  # what the loss is asked in
        y, prediction = (part * (self.unit / unit) / exposure for part in (self.y, self.prediction))
        weight = self.weight * exposure if self.offset.any() else self.weight
        groups = _groups(prediction, weight)
        bands = [self.loss.typical_band(y[g], weight[g]) for g in groups]
        columns = {
            "predicted": [weighted_mean(prediction[g], weight[g]) for g in groups],
            "actual": [self.loss.typical(y[g], weight[g]) for g in groups],
            "actual_lower": [low for low, _ in bands],
            "actual_upper": [high for _, high in bands],
        }
        return {name: tuple(_times(v, unit) for v in values) for name, values in columns.items()}

    def residuals(self) -> dict[str, Any]:
        """The histogram of outcomes minus predictions."""
        residual = self.y - self.prediction
        reach = float(np.quantile(np.abs(residual), 1.0 - 2.0 * _OUTER)) or 1.0
        return {
            "residual_edges": tuple((_times(reach, self.unit) * _BARS).tolist()),
            "residual_counts": _counts(residual, reach * _BARS, self.weight),
        }

    def ranking(self, has_classes: bool) -> dict[str, Any]:
        """Weights and outcomes of the rows with the highest predictions, at some cuts."""
        exposure = self.loss.link.exposure(self.offset)
        rate = self.loss.link.inverse(self.eta - np.log(exposure))
        distinct, place = np.unique(-rate, return_inverse=True)  # the highest first
        largest, size = _unit(float(self.weight.max())), _unit(float(exposure.max()))
        weight = self.weight / largest  # by powers of two: whole numbers of rows stay whole
        above: FloatArray = np.cumsum(np.bincount(place, weights=weight * (exposure / size)))
        outcome: FloatArray = np.cumsum(np.bincount(place, weights=weight * self.y))
        at = _cut_places(above, outcome)
        if has_classes:  # exactly what ``predict`` calls the second class, and other thresholds do
            called = np.searchsorted(distinct, -_HUNDREDTHS)
            at = np.unique([*at, *(called[called > 0] - 1)])
        return {
            "cuts": tuple((-distinct[at]).tolist()),
            "weight_above": tuple(_times(_times(v, size), largest) for v in above[at].tolist()),
            "outcome_above": tuple(
                _times(_times(v, self.unit), largest) for v in outcome[at].tolist()
            ),
        }


def _cut_places(above: FloatArray, outcome: FloatArray) -> IntArray:
    """All places, or some at about equal steps of weight and of outcomes with the last."""
    if len(above) <= _MOST_CUTS:
        return np.arange(len(above))
    way = above / above[-1] + (outcome / outcome[-1] if outcome[-1] > 0 else 0.0)
    steps = np.linspace(0.0, way[-1], _MOST_CUTS + 1)[1:]
    places = np.minimum(np.searchsorted(way, steps), len(way) - 1)
    places[-1] = len(way) - 1
    return np.unique(places)


def _share(sums: FloatArray) -> FloatArray:
    """Of the last; zeros where that is zero."""
    return sums / sums[-1] if sums[-1] > 0 else np.zeros(len(sums))


def _unit(size: float) -> float:
    """A power of two of about this size: dividing by it rounds nothing."""
    return math.ldexp(1.0, math.frexp(size)[1] - 1) if size > 0 else 1.0


def _root_mean_square(values: FloatArray, weight: FloatArray) -> float:
    """Divided by the largest before squaring, so that no square vanishes."""
    size = float(np.abs(values).max()) or 1.0
    return size * float(np.sqrt(weighted_mean((values / size) ** 2, weight)))


def _times(value: float, unit: float) -> float:
    """The product, or the largest number where it is beyond all numbers."""
    return float(np.clip(value * unit, -_LARGEST, _LARGEST))


def _explained(y: FloatArray, rmse: float, weight: FloatArray) -> float:
    """R2; where it is beyond all numbers, one of about that size."""
    spread = _root_mean_square(y - weighted_mean(y, weight), weight)
    if spread == 0.0 or y.min() == y.max():
        return 0.0
    return 1.0 - min(rmse / spread, math.sqrt(_LARGEST) / 2) ** 2


def _counts(residual: FloatArray, edges: FloatArray, weight: FloatArray) -> tuple[float, ...]:
    """Weight of the rows in every bar."""
    largest = float(weight.max())
    inside = residual.clip(edges[0], edges[-1])
    shares = np.histogram(inside, edges, weights=weight / largest)[0]
    return tuple(_times(share, largest) for share in shares.tolist())


def _groups(prediction: FloatArray, weight: FloatArray) -> list[np.ndarray[Any, Any]]:
    """Positions of the rows in at most ten groups, ordered by prediction.

    Rows with the same prediction are in one group: their order says nothing.
    """
    order = np.argsort(prediction, kind="stable")
    order = order[weight[order] > 0]
    equal = np.array_split(order, min(_N_GROUPS, len(order)))
    cuts = np.cumsum([len(part) for part in equal])[:-1]
    changes = np.flatnonzero(np.diff(prediction[order]) > 0.0) + 1
    if not len(changes):
        return [order]
    after = np.minimum(np.searchsorted(changes, cuts), len(changes) - 1)
    before = np.maximum(after - 1, 0)
    is_nearer = cuts - changes[before] < changes[after] - cuts
    nearest = np.where(is_nearer & (changes[before] <= cuts), changes[before], changes[after])
    return np.split(order, np.unique(nearest))


def _is_whole(value: float) -> bool:
    return float(value).is_integer()


def _score_texts(evaluation: Evaluation | ClassEvaluation) -> list[str]:
    """Scores that suit the loss, and how much better than a constant that is."""
    parts = [f"{name} {number_text(value, 4)}" for name, value in evaluation.scores.items()]
    share = evaluation.explained
    if parts and share is not None:
        better = f"{percent(max(share, 0.0))} of the {next(iter(evaluation.scores))} explained"
        parts.append(better if share > -_ROUNDING else "worse than a constant")
    return parts
