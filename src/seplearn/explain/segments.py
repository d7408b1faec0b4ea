"""Where a model is good and where it is bad: errors by parts of every feature, or by a column."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from scipy.special import logsumexp

from seplearn._errors import wrong_type
from seplearn.explain.parts import Parts, divided
from seplearn.explain.result import Explanation
from seplearn.explain.subject import Subject
from seplearn.kernels.arrays import FloatArray, IntArray
from seplearn.losses.base import (
    Loss,
    band_of_mean,
    mean_and_error,
    reach_of_90,
    rows_counted,
    weighted_mean,
)
from seplearn.losses.links import class_shares
from seplearn.losses.log_loss import ClassLogLoss, LogLoss
from seplearn.losses.quantile import Quantile
from seplearn.model.classes import ClassModels
from seplearn.table.training import TrainingRows

_FEWEST = 5  # rows: of fewer no band is told
_RMSE = "RMSE"
_ROUNDING = 1e-13  # of the largest residual: what is less beside it is no number


@dataclass(frozen=True, eq=False, repr=False)
class Segments(Explanation):
    """Errors of predictions in parts of the rows, the worst first.

    A part is worse than another if its error is larger, less what chance may do to a mean of so few
    of these rows. It is told by how much the losses of all rows differ: those of the part alone may
    be alike only because nothing has gone wrong there yet.

    Attributes
    ----------
    measure : str
        What ``error`` is: "RMSE", or the mean of the loss of the fit, such as "log-loss".
    overall : float
        The error of all rows.
    n_rows : int
        How many rows that is.
    features, segments : tuple of str
        Of every part: the feature and its values, in words.
    rows : array of int
        Rows in every part.
    share : array
        Their share of the weight of all.
    error, error_lower, error_upper : array
        The error and a band of it of about 90 %, less where few rows have most of the loss; NaN
        where there are fewer than five rows, or weights that count as fewer.
    residual, residual_lower, residual_upper : array
        The mean of outcome minus prediction, of a quantile that quantile of it: above zero where
        predictions are too low. A 90 % band.
    prediction, outcome : array
        The means of both; of a classifier of the probability of the second class, and how often it
        occurs (of several classes of the likeliest one, and how often it is right); of a quantile
        the mean prediction, and the share of outcomes not above theirs, which should be that
        quantile.
    is_of_likeliest : bool
        Whether that is how probable the likeliest of several classes is, and how often it is right.

    Examples
    --------
    >>> from seplearn import TSLRegressor, datasets, explain
    >>> X, y = datasets.rents(900, random_state=0)
    >>> model = TSLRegressor(n_stages=1, random_state=0).fit(X[:600], y[:600])
    >>> worst = explain.segments(model, X[600:], y[600:])
    >>> worst.measure, bool(worst.error[0] > worst.overall)
    ('RMSE', True)
    """

    _figure: ClassVar[str] = "plot_segments"

    measure: str
    overall: float
    n_rows: int
    features: tuple[str, ...]
    segments: tuple[str, ...]
    rows: IntArray
    share: FloatArray
    error: FloatArray
    error_lower: FloatArray
    error_upper: FloatArray
    residual: FloatArray
    residual_lower: FloatArray
    residual_upper: FloatArray
    prediction: FloatArray
    outcome: FloatArray
    is_of_likeliest: bool = False

    @property
    def outcome_is_share(self) -> bool:
        """Whether ``outcome`` is the share of outcomes not above their predictions."""
        return self.measure == Quantile.name

    def _columns(self) -> dict[str, Any]:
        """One row per part."""
        return {
            "feature": list(self.features),
            "segment": list(self.segments),
            "rows": self.rows,
            "share": self.share,
            "error": self.error,
            "error_lower": self.error_lower,
            "error_upper": self.error_upper,
            "residual": self.residual,
            "residual_lower": self.residual_lower,
            "residual_upper": self.residual_upper,
            "prediction": self.prediction,
            "outcome": self.outcome,
        }


def segments(
    model: Any,
    X: Any,
    y: Any,
    sample_weight: Any = None,
    *,
    by: Any = None,
    offset: Any = None,
    label: Any = None,
) -> Segments:
    """Errors and mean residuals in parts of the rows: where a model is bad, and for whom.

    Of more than two classes the error is the log-loss of all of them; the prediction is how
    probable the likeliest class is, and the outcome how often it is right. Where the residual is
    below zero the model is too certain.

    Parameters
    ----------
    model : TSLRegressor, SepALSRegressor or TSLClassifier
        A fitted estimator.
    X : table
        Rows that the model was not fitted to; errors on training rows say little.
    y : array-like of shape (n,)
        Their outcomes. Rows where it is missing are left out.
    sample_weight : array-like of shape (n,), optional
    by : str or array-like of shape (n,), optional
        A column of ``X``, which the model need not know, or values of the rows: the parts are its
        levels (of many the 50 most frequent, and the others together), or at most ten ranges.
        Without it they are those of every feature of the model that varies.
    offset : array-like of shape (n,), optional
        As in ``predict``.
    label : a class, optional
        Of more than two classes: the one that is told of, beside all others together.

    Examples
    --------
    >>> from seplearn import TSLRegressor, datasets, explain
    >>> X, y = datasets.rents(900, random_state=0)
    >>> model = TSLRegressor(n_stages=1, random_state=0).fit(X[["area", "year"]][:600], y[:600])
    >>> unseen = X[["area", "year", "district"]][600:]
    >>> by_district = explain.segments(model, unseen, y[600:], by="district")
    >>> set(by_district.segments) == set(unseen["district"])
    True
    """
    subject = Subject.of_any(model)
    if not hasattr(model, "_loss"):
        raise wrong_type("model", "a fitted estimator", model)
    models = model.model_
    if label is not None and not isinstance(models, ClassModels):
        raise ValueError(
            f"label must be None for a model that is not of several classes, got {label!r}"
        )
    k = None if label is None else model._number_of("label", label)
    model._check_offset(offset)
    model._warn_without_offset(offset)
    found = divided(subject, X, model._outcomes(y), sample_weight, by, offset)
    sums = models.predict(found.codes)
    if isinstance(models, ClassModels):
        measured = (
            _of_all_classes(found.rows, sums) if k is None else _of_class(found.rows, sums, k)
        )
    else:
        measured = _Measured.of(found.rows, sums, model._loss)
    return measured.told(found.parts, subject.schema.library)


@dataclass(frozen=True, eq=False)
class _Measured:
    """What every row is off, and by which measure that is told."""

    outcome: FloatArray
    prediction: FloatArray
    weight: FloatArray
    losses: FloatArray
    loss: Loss
    unit: float = 1.0  # of errors that are squared: squares of large outcomes overflow
    is_of_likeliest: bool = False

    @staticmethod
    def of(rows: TrainingRows, sums: FloatArray, loss: Loss) -> _Measured:
        eta = sums if rows.offset is None else sums + rows.offset
        prediction = loss.link.inverse(eta)
        loss.check_domain(rows.y)
        unit = 1.0
        if loss.name is None:
            off = rows.y - prediction
            unit = float(np.abs(off).max()) or 1.0
            losses: FloatArray = (off / unit) ** 2
        else:
            with np.errstate(over="ignore"):
                losses = loss.of_rows(rows.y, eta)
        return _Measured(rows.y, prediction, rows.weight, losses, loss, unit)

    @property
    def measure(self) -> str:
        """What the errors are called."""
        return self.loss.name or _RMSE

    def told(self, parts: list[Parts], library: str | None) -> Segments:
        """The errors of all parts that have rows, the worst first."""
        found = [
            self._part(own, int(g))
            for own in parts
            for g in np.flatnonzero(np.bincount(own.of_row, minlength=len(own.groups.labels)))
        ]
        found.sort(key=lambda told: told[0])
        columns = {name: [row[name] for _, row in found] for name in found[0][1]}
        numbers: dict[str, Any] = {
            name: np.array(values) for name, values in columns.items() if name not in _WORDS
        }
        return Segments(
            measure=self.measure,
            overall=self._in_unit(weighted_mean(self.losses, self.weight)),
            n_rows=len(self.losses),
            features=tuple(columns["features"]),
            segments=tuple(columns["segments"]),
            **numbers,
            is_of_likeliest=self.is_of_likeliest,
            library=library,
        )

    @cached_property
    def _spread(self) -> float:
        """Standard deviation of the losses of all rows."""
        off = self.losses - weighted_mean(self.losses, self.weight)
        size = float(np.abs(off).max()) or 1.0
        return size * math.sqrt(weighted_mean((off / size) ** 2, self.weight))

    def _part(self, parts: Parts, g: int) -> tuple[tuple[bool, float], dict[str, Any]]:
        """What is told of a part, behind a key that sorts the worst first, too few rows last."""
        own = parts.of_row == g
        weight, n = self.weight[own], int(own.sum())
        mean, error = mean_and_error(self.losses[own], weight)
        residual, low, high = self._residual(self.outcome[own] - self.prediction[own], weight)
        is_known = rows_counted(weight) > _FEWEST - 0.5  # five equal weights may round to less
        reach = reach_of_90(weight) if is_known else math.nan
        chance = reach * self._spread / math.sqrt(rows_counted(weight)) if is_known else 0.0
        largest = self.weight.max()
        return (not is_known, chance - mean), {
            "features": parts.name,
            "segments": parts.groups.labels[g],
            "rows": n,
            "share": float((weight / largest).sum() / (self.weight / largest).sum()),
            "error": self._in_unit(mean),
            "error_lower": self._in_unit(max(mean - reach * error, 0.0)),
            "error_upper": self._in_unit(mean + reach * error),
            "residual": residual,
            "residual_lower": low if is_known else math.nan,
            "residual_upper": high if is_known else math.nan,
            "prediction": weighted_mean(self.prediction[own], weight),
            "outcome": self.loss.seen(self.outcome[own], self.prediction[own], weight),
        }

    def _residual(self, off: FloatArray, weight: FloatArray) -> tuple[float, float, float]:
        """What predictions should have been higher by, and a band of it."""
        if self.loss.sees_sides:
            middle = self.loss.typical(off, weight)
            if abs(middle) < _ROUNDING * np.abs(off).max():  # a row that the fit put there
                middle = 0.0
            return middle, *self.loss.typical_band(off, weight)
        return weighted_mean(off, weight), *band_of_mean(off, weight)

    def _in_unit(self, loss: float) -> float:
        return self.unit * math.sqrt(loss) if self.measure == _RMSE else loss


def _of_all_classes(rows: TrainingRows, sums: FloatArray) -> _Measured:
    """The log-loss of several classes, and whether the likeliest is right."""
    is_right = (sums.argmax(axis=1) == rows.y).astype(np.float64)
    certainty = class_shares(sums).max(axis=1)
    losses = ClassLogLoss().of_rows(rows.y, sums)
    return _Measured(is_right, certainty, rows.weight, losses, LogLoss(), is_of_likeliest=True)


def _of_class(rows: TrainingRows, sums: FloatArray, k: int) -> _Measured:
    """One class beside all others together: its log-odds are a sum like that of two classes."""
    others = logsumexp(np.delete(sums, k, axis=1), axis=1)
    of_one = rows._replace(y=(rows.y == k).astype(np.float64))
    return _Measured.of(of_one, sums[:, k] - others, LogLoss())


_WORDS = ("features", "segments")
