"""Two models side by side: which is better, where they differ, and which features make it so."""

from __future__ import annotations

import math
from collections.abc import Hashable
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from scipy.special import stdtr

from seplearn._errors import wrong_type
from seplearn._numerals import count, number_text, percent
from seplearn._rules import Interval
from seplearn.explain.response import Response, response_of
from seplearn.explain.result import Explanation
from seplearn.explain.shapley import values_at
from seplearn.explain.sizes import largest, shares
from seplearn.explain.subject import Subject
from seplearn.kernels.arrays import CodeArray, FloatArray, IntArray
from seplearn.losses.base import mean_and_error
from seplearn.losses.links import SOFTMAX
from seplearn.losses.quantile import Quantile
from seplearn.model.evaluation import Evaluation
from seplearn.model.reference import Reference
from seplearn.table.columns import make_frame, open_table
from seplearn.table.training import known_rows

_MOST_ROWS = 300  # compared with as many others
_WORST_ROWS = 10
_TOLD_FEATURES = 3
_SURE = 0.05
_LEAST_P = 1e-12  # below it a probability says more of rounding than of chance
_ROUNDING, _OF_LARGEST = 1e-9, 1e-14  # of a value, and of the largest of all


@dataclass(frozen=True, eq=False, repr=False)
class Comparison(Explanation):
    """What two models predict for the same rows; ``print(comparison)`` tells it in sentences.

    Differences are the second model minus the first.

    Attributes
    ----------
    models : (str, str)
        What the models are called.
    response : str
        What is predicted: "prediction", or "probability of" a class.
    predictions : array of shape (2, n)
        Of both models for all rows.
    scores : pair of dict, or None
        Errors of both by name, the loss first; None without ``y``.
    loss : str or None
        The loss by which rows are compared.
    loss_difference, loss_error : float or None
        Mean over the rows of the difference of their losses, negative where the second model is
        better, and its standard error.
    p_value : float or None
        How likely a difference at least as large is for models that are equally good: a paired
        test over the rows, which must be others than those the models were fitted to. None where
        all rows differ by the same, and as the four before where the models aim at different
        things, as two quantiles do.
    n_paired : int
        Over how many rows losses are compared: those with a known target.
    unseen : tuple of (str, str, float)
        Which model never saw some levels of which feature, and the share of rows with those.
    lacks_offsets : bool
        Whether a model was fitted with offsets and its errors are without, as none were given.
    without_offsets : bool
        Whether predictions leave out offsets, which the scores have.
    names : tuple of str
        Features of either model, those first that make the models differ most.
    sizes : array of shape (p,)
        Mean size of the difference of the two Shapley values of every feature, in units of
        ``quantity``: together they are the difference of the predictions, less its mean.
    importance : array of shape (2, p)
        Mean size of the Shapley values in either model.
    worst : array of int
        The rows whose predictions differ most, the most different first.
    worst_values : array of shape (len(worst), p)
        The differences of the Shapley values of these rows.
    curves : tuple of pairs of Response
        Of the first features, the average prediction of either model against the feature; None for
        a model that does not have it.

    Examples
    --------
    >>> from seplearn import TSLRegressor, datasets, explain
    >>> X, y = datasets.rents(800, random_state=0)
    >>> small, large = (TSLRegressor(n, random_state=0).fit(X[:600], y[:600]) for n in (1, 3))
    >>> comparison = explain.compare(small, large, X[600:], y[600:])
    >>> comparison.predictions.shape, len(comparison.names)
    ((2, 200), 7)
    >>> list(comparison.frame().columns)
    ['feature', 'difference', 'share', 'importance_first', 'importance_second']
    """

    _figure: ClassVar[str] = "plot_comparison"

    models: tuple[str, str]
    response: str
    predictions: FloatArray
    scores: tuple[dict[str, float], dict[str, float]] | None
    loss: str | None
    loss_difference: float | None
    loss_error: float | None
    p_value: float | None
    names: tuple[str, ...]
    sizes: FloatArray
    importance: FloatArray
    worst: IntArray
    worst_values: FloatArray
    curves: tuple[tuple[Response | None, Response | None], ...]
    without_offsets: bool = False
    n_paired: int = 0
    unseen: tuple[tuple[str, str, float], ...] = ()
    lacks_offsets: bool = False

    @property
    def differences(self) -> FloatArray:
        """Predictions of the second model less those of the first, shape (n,)."""
        difference: FloatArray = self.predictions[1] - self.predictions[0]
        return difference

    @property
    def differ(self) -> bool:
        """Whether any prediction differs by more than rounding does."""
        return not _is_rounding(self.predictions)

    @property
    def sentences(self) -> tuple[str, ...]:
        """What there is to say, in words."""
        first, second = self.models
        over = f"over {count(len(self.differences), 'row')}"
        if self.without_offsets and self.scores is not None:
            over += ", without the offsets, which errors have"
        if not self.differ:
            same = f"The {self.response} of {second} is always that of {first}, {over}."
            by_offsets = self.without_offsets and self.loss_difference
            return (same, self._which_is_better()) if by_offsets else (same,)
        size = number_text(float(np.abs(self.differences).mean()), 3)
        by = f"by {size} on average, {over}{self._levels()}"
        told = [f"The {self.response} of {second} differs from that of {first} {by}."]
        if self.loss_difference is not None:
            told.append(self._which_is_better())
        if self.lacks_offsets:
            told.append("Offsets of the fit were not given: errors are those without them.")
        leading = [
            f"{name} ({percent(share)})"
            for name, share in zip(self.names, shares(self.sizes), strict=True)
            if share > 0.0
        ]
        if leading:
            most = ", ".join(leading[:_TOLD_FEATURES])
            told.append(f"What makes them differ most: {most} of all that features do differently.")
        told += [
            f"{percent(share)} of the rows have a level of {name} that {model} never saw."
            for model, name, share in self.unseen
        ]
        return tuple(told)

    def _levels(self) -> str:
        """Whether one model predicts more than the other over all rows."""
        one, other = self.predictions.mean(axis=1).tolist()
        before, after = number_text(one, 3), number_text(other, 3)
        if before == after:
            return f"; both have the mean {before}"
        if self.predictions.min() < 0.0 or one <= 0.0:
            return f"; its mean is {after} instead of {before}"
        way = "more" if other > one else "less"
        by = percent(abs(other / one - 1.0))
        return f"; its mean is {after} instead of {before}, {by} {way}"

    def _which_is_better(self) -> str:
        first, second = self.models
        difference, error = (
            0.0 if own is None else own for own in (self.loss_difference, self.loss_error)
        )
        if difference == 0.0 and self.p_value == 1.0:
            return f"The {self.loss} of both is the same."
        better = second if math.copysign(1.0, difference) < 0 else first
        told = f"The {self.loss} of {better} is smaller"
        over = f"paired over {count(self.n_paired, 'row')}"
        if 0.0 < abs(difference) < math.inf:  # squares of huge or tiny units are no numbers
            told += f" by {number_text(abs(difference), 3)}"
            over = f"standard error {number_text(error, 2)}, {over}"
        if self.p_value is None:
            alone = ", which one row says nothing of" if self.n_paired == 1 else ""
            return f"{told}{alone or f' in each of {self.n_paired:,} rows'}."
        sure = "" if self.p_value < _SURE else ", which may be chance"
        p = f"= {number_text(self.p_value, 2)}" if self.p_value > _LEAST_P else f"< {_LEAST_P:g}"
        return f"{told} ({over}; p {p}){sure}."

    def __str__(self) -> str:
        return "\n".join(self.sentences)

    def _columns(self) -> dict[str, Any]:
        """One row per feature, those first that make the models differ most."""
        return {
            "feature": list(self.names),
            "difference": self.sizes,
            "share": shares(self.sizes),
            "importance_first": self.importance[0],
            "importance_second": self.importance[1],
        }

    def row_frame(self) -> Any:
        """One row per row whose predictions differ most, as a data frame.

        ``feature`` is the one that does most of the difference.
        """
        first, second = self.predictions[:, self.worst]
        columns = {
            "row": self.worst,
            "first": first,
            "second": second,
            "difference": second - first,
            "feature": [self.names[j] for j in np.abs(self.worst_values).argmax(axis=1)],
        }
        return make_frame(columns, self.library)


def compare(
    first: Any,
    second: Any,
    X: Any,
    y: Any = None,
    *,
    offset: Any = None,
    models: tuple[str, str] = ("the first model", "the second model"),
    max_curves: int = 12,
) -> Comparison:
    """Compare two models on the rows of a table.

    How good they are and whether that is chance, where their predictions differ most, and which
    features make them differ. Shapley values add up, so the difference of those of two models is
    that of the difference of their predictions: exact, as every value is. They are taken over at
    most 300 of the rows, at equal steps, each against each.

    Parameters
    ----------
    first, second : TSLRegressor, TSLClassifier, SepALSRegressor or ClassView
        Fitted, with the same link. They may have different features.
    X : table, or two of them
        With the columns of both models; rows that neither was fitted to. Two (in a tuple or list)
        are a table for each model, of the same rows: where one reads as levels what the other
        reads as numbers.
    y : array-like of shape (n,), optional
        The target of these rows, NaN where it is not known.
    offset : array-like of shape (n,), or a tuple of two, optional
        Of these rows, for errors of models that were fitted with offsets; all else is without. A
        tuple has one for each model, None for a model that was fitted without.
    models : pair of str
        What to call them.
    max_curves : int
        Features of which curves are computed, at most.

    Examples
    --------
    >>> from seplearn import TSLRegressor, datasets, explain
    >>> X, y = datasets.rents(800, random_state=0)
    >>> full = TSLRegressor(2, random_state=0).fit(X[:600], y[:600])
    >>> without = TSLRegressor(2, random_state=0).fit(X[:600].drop(columns="lift"), y[:600])
    >>> comparison = explain.compare(full, without, X[600:], y[600:])
    >>> comparison.scores[0]["RMSE"] < comparison.scores[1]["RMSE"]
    True
    """
    subjects = Subject.of(first), Subject.of(second)
    _check(subjects, models)
    Interval(0, whole=True).check("max_curves", max_curves)
    tables = tables_of_both(X)
    codes = _codes(subjects, tables)
    sums = np.array([s.model.predict(c) for s, c in zip(subjects, codes, strict=True)])
    predictions = subjects[0].model.link.inverse(sums)
    keys = _keys(subjects, tables)
    names = _names(subjects, keys)
    n = len(codes[0])
    some = np.arange(min(n, _MOST_ROWS)) * n // min(n, _MOST_ROWS)
    worst = np.argsort(-np.abs(predictions[1] - predictions[0]), kind="stable")[:_WORST_ROWS]
    values = _shapley(subjects, codes, keys, some, some)
    sizes = np.abs(values[1] - values[0]).mean(axis=0)
    order = np.argsort(-sizes, kind="stable")
    far = _shapley(subjects, codes, keys, worst, some)
    scores, paired = (None, None) if y is None else _errors((first, second), tables, y, offset)
    loss, difference, error, p_value, n_paired = paired or (None, None, None, None, 0)
    rows = [Reference(c[some], np.full(len(some), 1.0 / len(some))) for c in codes]
    every = list(dict.fromkeys([*keys[0], *keys[1]]))
    return Comparison(
        models=(str(models[0]), str(models[1])),
        response=subjects[0].response,
        predictions=predictions,
        scores=scores,
        loss=loss,
        loss_difference=difference,
        loss_error=error,
        p_value=p_value,
        names=tuple(names[j] for j in order),
        sizes=sizes[order],
        importance=np.abs(values).mean(axis=1)[:, order],
        worst=worst,
        worst_values=(far[1] - far[0])[:, order],
        curves=tuple(_curves(subjects, keys, every[j], rows) for j in order[:max_curves]),
        without_offsets=any(own is not None for own in _of_both(offset)),
        n_paired=n_paired,
        unseen=_unseen(subjects, codes, models),
        lacks_offsets=y is not None and _lacks_offsets((first, second), offset),
        library=subjects[0].schema.library,
        quantity=subjects[0].quantity,
    )


def _check(subjects: tuple[Subject, Subject], models: Any) -> None:
    if not isinstance(models, (tuple, list)) or len(models) != 2 or models[0] == models[1]:
        raise wrong_type("models", "two different names", models)
    links = [subject.model.link for subject in subjects]
    if SOFTMAX in links:
        raise ValueError(
            "first and second must predict the same thing, got the score of one class of several, "
            "which has a meaning only beside the others: compare the log-odds between two classes, "
            "for_class(label, against=another)"
        )
    if links[0] is not links[1] or subjects[0].response != subjects[1].response:
        raise ValueError(
            "first and second must predict the same thing, got a model whose sum is the "
            f"{subjects[0].quantity} and one whose sum is the {subjects[1].quantity}"
        )


def tables_of_both(X: Any) -> tuple[Any, Any]:
    """A table for each of two models: two of them, or the same for both."""
    is_pair = isinstance(X, (tuple, list)) and len(X) == 2
    if is_pair and all(len(getattr(own, "shape", ())) == 2 for own in X):
        return X[0], X[1]
    return X, X


def _codes(subjects: tuple[Subject, Subject], tables: tuple[Any, Any]) -> list[CodeArray]:
    """The bins of the same rows in both models."""
    codes = [subject.codes(own) for subject, own in zip(subjects, tables, strict=True)]
    if len(codes[0]) != len(codes[1]):
        raise ValueError(
            f"X must have the same rows for both models, got {len(codes[0])} and {len(codes[1])}"
        )
    return codes


def _unseen(
    subjects: tuple[Subject, Subject], codes: list[CodeArray], models: tuple[str, str]
) -> tuple[tuple[str, str, float], ...]:
    """The rows with levels that a model never saw, of which it has learned nothing."""
    found = []
    for name, subject, own in zip(models, subjects, codes, strict=True):
        bins = subject.model.bins
        for j in np.flatnonzero(bins.is_categorical).tolist():
            share = float(np.mean(own[:, j] == bins.axes[j].n_bins - 1))
            if share > 0.0:
                found.append((str(name), subject.names[j], share))
    return tuple(found)


_Keys = tuple[tuple[Hashable, ...], tuple[Hashable, ...]]


def _keys(subjects: tuple[Subject, Subject], tables: tuple[Any, Any]) -> _Keys:
    """What the features of both models are known by, here: the columns of a table of both."""
    one, other = subjects[0].schema, subjects[1].schema
    if tables[0] is not tables[1]:
        return one.keys_beside(other), other.keys_beside(one)
    table = open_table(tables[0])
    known = table.integer_labels or range(table.n_columns)
    read, read_too = (
        tuple(known[place] for place in own.schema.places_in(table, own.owner)) for own in subjects
    )
    return read, read_too


def _names(subjects: tuple[Subject, Subject], keys: _Keys) -> tuple[str, ...]:
    """Names of the features of either model, those of the first before those of the second.

    Without names the models count their columns, and may have counted differently.
    """
    shown = dict(zip(keys[0], subjects[0].names, strict=True))
    for key, name in zip(keys[1], subjects[1].names, strict=True):
        shown.setdefault(key, f"column {key}" if name in subjects[0].names else name)
    return tuple(shown.values())


def _shapley(
    subjects: tuple[Subject, Subject],
    codes: list[Any],
    keys: _Keys,
    rows: IntArray,
    background: IntArray,
) -> FloatArray:
    """Shapley values of some rows in both models, (2, n, p); zero where a model has no such one."""
    place = {key: j for j, key in enumerate(dict.fromkeys([*keys[0], *keys[1]]))}
    out = np.zeros((2, len(rows), len(place)))
    weight = np.full(len(background), 1.0 / len(background))
    for k, subject in enumerate(subjects):
        against = Reference(codes[k][background], weight)
        own = [place[key] for key in keys[k]]
        out[k][:, own] = values_at(subject.model, codes[k][rows], against)
    return out


def _curves(
    subjects: tuple[Subject, Subject], keys: _Keys, key: Hashable, rows: list[Reference]
) -> tuple[Response | None, Response | None]:
    found = [
        response_of(subject, known.index(key), own, 0.9) if key in known else None
        for subject, known, own in zip(subjects, keys, rows, strict=True)
    ]
    return found[0], found[1]


def _of_both(offset: Any) -> tuple[Any, Any]:
    """The offsets of either model: two of them, or the same for both."""
    is_pair = isinstance(offset, tuple) and len(offset) == 2
    if is_pair and all(own is None or np.ndim(own) > 0 for own in offset):
        return offset[0], offset[1]
    return offset, offset


def _lacks_offsets(models: tuple[Any, Any], offset: Any) -> bool:
    return any(
        own is None and model._had_offsets
        for model, own in zip(models, _of_both(offset), strict=True)
    )


def _errors(
    models: tuple[Any, Any], tables: tuple[Any, Any], y: Any, offset: Any
) -> tuple[Any, Any]:
    """Scores of both, and the paired difference of their losses."""
    offsets = _of_both(offset)
    for name, model in zip(("first", "second"), models, strict=True):
        if not hasattr(model, "evaluate"):
            raise wrong_type(name, "an estimator where y is given", model)
    scores = tuple(
        _scores(model.evaluate(X, y, offset=own))
        for model, X, own in zip(models, tables, offsets, strict=True)
    )
    losses = [model._loss for model in models]
    if losses[0] != losses[1] and any(isinstance(own, Quantile) for own in losses):
        return scores, None
    rows = [
        known_rows(X, model._outcomes(y), None, own)
        for model, X, own in zip(models, tables, offsets, strict=True)
    ]
    sums = [
        m.model_.predict(m._codes_of(r.table)) + (0.0 if r.offset is None else r.offset)
        for m, r in zip(models, rows, strict=True)
    ]
    own, unit = losses[0], 1.0
    same = _is_rounding(np.array(sums))
    if own == losses[1] and own.name is not None:
        name = own.name
        each = [own.of_rows(r.y, s) for r, s in zip(rows, sums, strict=True)]
    else:
        name = "mean squared error"
        link = models[0].model_.link
        off = [r.y - link.inverse(s) for r, s in zip(rows, sums, strict=True)]
        unit = largest(np.concatenate(off))  # squares of large numbers overflow
        each = [(one / unit) ** 2 for one in off]
    paired = (0.0, 0.0, 1.0) if same else _paired(each, unit)
    return scores, (name, *paired, len(each[0]))


def _paired(each: list[FloatArray], unit: float) -> tuple[float, float, float | None]:
    """The mean difference of the losses of rows, its standard error, and the p-value.

    Losses are given in units of ``unit**2``. Where all rows differ by the same there is no p-value.
    """
    differences = each[1] - each[0]
    mean, error = mean_and_error(differences, np.ones(len(differences)))
    p_value = None
    if error > 0.0:  # by Student's t: of few rows the error itself is uncertain
        p_value = 2.0 * float(stdtr(len(differences) - 1, -abs(mean) / error))
    return mean * unit * unit, error * unit * unit, p_value


def _is_rounding(values: FloatArray) -> bool:
    """Whether what two models say, shape (2, n), is the same but for rounding.

    Values that lie close together far from zero are compared by how far they spread: beside their
    level alone any difference would look like rounding.
    """
    sizes = np.abs(values).max(axis=0)
    with np.errstate(over="ignore"):
        apart = np.abs(values[1] - values[0])
        spread = values.max(initial=-math.inf) - values.min(initial=math.inf)
    least = _ROUNDING * np.minimum(sizes, spread) + _OF_LARGEST * sizes.max(initial=0.0)
    return bool(np.all(apart <= least))


def _scores(evaluation: Evaluation) -> dict[str, float]:
    """All errors by name, those of the loss first."""
    found = dict(evaluation.scores)
    if evaluation.classes:
        return found
    return found | {
        "RMSE": evaluation.rmse,
        "mean absolute error": evaluation.mae,
        "R²": evaluation.r2,
    }
