"""How often the groups of a column are called a class, and how often rightly: a rule by groups."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from sklearn.utils.validation import check_is_fitted

from seplearn._errors import out_of_range, wrong_type
from seplearn._numerals import count, number_text, percent
from seplearn._rules import is_real
from seplearn.explain.parts import divided
from seplearn.explain.result import Explanation
from seplearn.explain.subject import Subject
from seplearn.kernels.arrays import BoolArray, FloatArray, IntArray
from seplearn.losses.base import Loss, weighted_mean
from seplearn.model.classes import ClassModels
from seplearn.model.reading import brief
from seplearn.table.columns import open_table

_FEWEST = 5  # rows: of fewer no share is compared
_OVERALL = ("called", "actual", "found", "wrong", "right")


@dataclass(frozen=True, eq=False, repr=False)
class Decisions(Explanation):
    """How often rows of every group are called a class, and how often that is right.

    Bands are 90 % score intervals (Wilson's) of shares; NaN is what no row tells.

    Attributes
    ----------
    label : str
        The class that is told of.
    threshold : float
        Rows with a larger probability of the second class are called that, others the first.
    feature : str
        What the rows are divided by.
    groups : tuple of str
    rows : array of int
        Rows in every group.
    share : array
        Their share of the weight of all.
    called, called_lower, called_upper : array
        The share of a group that is called the class.
    ratio : array
        ``called`` divided by the largest of all groups of five rows or more: a rule of thumb asks
        for 0.8 at least.
    actual : array
        The share that is of the class.
    found, found_lower, found_upper : array
        Of those that are of the class, the share called it (true positives).
    wrong, wrong_lower, wrong_upper : array
        Of those that are not, the share called it all the same (false positives).
    right : array
        Of those called it, the share that is.
    overall : dict
        ``called``, ``actual``, ``found``, ``wrong`` and ``right`` of all rows together.

    Examples
    --------
    >>> from seplearn import TSLClassifier, datasets, explain
    >>> X, y = datasets.rents(900, random_state=0)
    >>> model = TSLClassifier(n_stages=1, random_state=0).fit(X[:600], y[:600] > 800)
    >>> found = explain.decisions(model, X[600:], y[600:] > 800, by="district")
    >>> found.label, bool((found.called <= found.called_upper).all())
    ('True', True)
    """

    _figure: ClassVar[str] = "plot_decisions"

    label: str
    threshold: float
    feature: str
    groups: tuple[str, ...]
    rows: IntArray
    share: FloatArray
    called: FloatArray
    called_lower: FloatArray
    called_upper: FloatArray
    ratio: FloatArray
    actual: FloatArray
    found: FloatArray
    found_lower: FloatArray
    found_upper: FloatArray
    wrong: FloatArray
    wrong_lower: FloatArray
    wrong_upper: FloatArray
    right: FloatArray
    overall: dict[str, float]

    @property
    def has_outcomes(self) -> bool:
        """Whether it is known of which class the rows are."""
        return not math.isnan(self.overall["actual"])

    def __str__(self) -> str:
        """A sentence, and the numbers."""
        return f"{self.sentence}\n{super().__str__()}"

    @property
    def sentence(self) -> str:
        """Which groups are called the class most and least often."""
        own = np.flatnonzero(self.rows >= _FEWEST)
        everywhere = (
            f"{percent(self.overall['called'])} of the rows are called {self.label}, at a "
            f"threshold of {number_text(self.threshold, 3)}"
        )
        if len(own) < 2:
            return f"{everywhere}."
        most, least = own[np.argmax(self.called[own])], own[np.argmin(self.called[own])]
        if math.isclose(self.called[most], self.called[least]):
            of_groups = f"in every group of {count(_FEWEST, 'row')} or more"
            return f"{everywhere}; {percent(self.called[most])} {of_groups}."
        return (
            f"{everywhere}; most often {brief(self.groups[most])} ({percent(self.called[most])}), "
            f"least often {brief(self.groups[least])} ({percent(self.called[least])}), "
            f"{number_text(float(self.ratio[least]), 2)} of that."
        )

    def _columns(self) -> dict[str, Any]:
        """One row per group; without outcomes nothing of what they tell."""
        names = ["rows", "share", "called", "called_lower", "called_upper", "ratio"]
        if self.has_outcomes:
            names += ["actual", "found", "found_lower", "found_upper"]
            names += ["wrong", "wrong_lower", "wrong_upper", "right"]
        return {"group": list(self.groups)} | {name: getattr(self, name) for name in names}


def decisions(
    model: Any,
    X: Any,
    y: Any = None,
    sample_weight: Any = None,
    *,
    by: Any,
    threshold: float = 0.5,
    label: Any = None,
    offset: Any = None,
) -> Decisions:
    """How often the groups of a column are called a class, and how often that is right.

    A row is called the second class where its probability is above the threshold, else the first.
    Whether groups ought to be called equally often, or found equally often, or be right equally
    often, is a question that no numbers answer; all three cannot hold where groups differ.

    Parameters
    ----------
    model : TSLClassifier
        Of two classes.
    X : table
        Rows that the model was not fitted to.
    y : array-like of shape (n,), optional
        Their classes. Rows where it is missing are left out. Without it only how often the class is
        called is known.
    sample_weight : array-like of shape (n,), optional
    by : str or array-like of shape (n,)
        A column of ``X``, which the model need not know, or values of the rows: the groups are its
        levels (the 50 most frequent, and the others together), or at most ten ranges.
    threshold : float
        A probability of the second class, from 0 to 1.
    label : a class, optional
        The one told of; the second by default. For credit that is given where the second class, of
        loans not paid back, is not called, it is the first.
    offset : array-like of shape (n,), optional
        As in ``predict``.

    Examples
    --------
    >>> from seplearn import TSLClassifier, datasets, explain
    >>> X, y = datasets.rents(900, random_state=0)
    >>> model = TSLClassifier(n_stages=1, random_state=0)
    >>> model = model.fit(X[["area", "year"]][:600], y[:600] > 800)
    >>> unseen = X[["area", "year", "district"]][600:]
    >>> found = explain.decisions(model, unseen, y[600:] > 800, by="district", threshold=0.7)
    >>> set(found.groups) == set(unseen["district"])
    True
    """
    classes = _two_classes(model)
    labels = classes.tolist()
    if label is not None and (not np.isscalar(label) or label not in labels):
        raise out_of_range("label", f"one of the classes {labels}", label)
    if not is_real(threshold) or not 0.0 <= threshold <= 1.0:
        raise out_of_range("threshold", "between 0 and 1", threshold)
    if by is None:
        raise wrong_type("by", "a column of X, or one value per row", by)
    subject = Subject.of(model)
    model._warn_without_offset(offset)
    outcomes = np.zeros(open_table(X).n_rows) if y is None else model._outcomes(y)
    found = divided(subject, X, outcomes, sample_weight, by, offset)
    own = subject.model.predict(found.codes)
    if found.rows.offset is not None:
        own = own + found.rows.offset
    is_second = label is None or labels.index(label) == 1
    called = (subject.model.link.inverse(own) > threshold) == is_second
    actual = None if y is None else (found.rows.y == 1.0) == is_second
    (parts,) = found.parts
    counted = _Counted(called, actual, found.rows.weight / found.rows.weight.max(), model._loss)
    present = np.flatnonzero(np.bincount(parts.of_row, minlength=len(parts.groups.labels)))
    told = [counted.told(parts.of_row == g) for g in present]
    columns: dict[str, Any] = {name: np.array([one[name] for one in told]) for name in told[0]}
    overall = counted.told(np.ones(len(called), dtype=bool))
    return Decisions(
        label=brief(str(labels[int(is_second)])), threshold=float(threshold), feature=parts.name,
        groups=tuple(parts.groups.labels[g] for g in present), **columns,
        ratio=_of_largest(columns["called"], columns["rows"]),
        overall={name: overall[name] for name in _OVERALL}, library=subject.schema.library,
    )  # fmt: skip


def _two_classes(model: Any) -> Any:
    """The classes of a fitted classifier of two."""
    if not hasattr(model, "classes_") and hasattr(model, "predict_proba"):
        check_is_fitted(model)
    classes = getattr(model, "classes_", None)
    if classes is None:
        raise wrong_type("model", "a fitted classifier of two classes", model)
    if isinstance(model.model_, ClassModels):
        raise out_of_range("model", "of two classes", classes.tolist())
    return classes


@dataclass(frozen=True, eq=False)
class _Counted:
    """What rows are called, and what they are, if that is known."""

    called: BoolArray
    actual: BoolArray | None
    weight: FloatArray
    loss: Loss

    def told(self, own: BoolArray) -> dict[str, Any]:
        """The shares of some rows."""
        out = {
            "rows": int(own.sum()),
            "share": float(self.weight[own].sum() / self.weight.sum()),
        } | self._band("called", self.called, own)
        nothing = np.zeros_like(own)
        actual = nothing if self.actual is None else self.actual
        is_known = nothing if self.actual is None else own
        out["actual"] = self._share(actual, is_known)
        out |= self._band("found", self.called, is_known & actual)
        out |= self._band("wrong", self.called, is_known & ~actual)
        out["right"] = self._share(actual, is_known & self.called)
        return out

    def _share(self, flags: BoolArray, own: BoolArray) -> float:
        return (
            weighted_mean(flags[own].astype(np.float64), self.weight[own])
            if own.any()
            else math.nan
        )

    def _band(self, name: str, flags: BoolArray, own: BoolArray) -> dict[str, float]:
        """A share, and a band of it."""
        low, high = math.nan, math.nan
        if own.any():
            low, high = self.loss.typical_band(flags[own].astype(np.float64), self.weight[own])
        return {name: self._share(flags, own), f"{name}_lower": low, f"{name}_upper": high}


def _of_largest(called: FloatArray, rows: IntArray) -> FloatArray:
    """Every share divided by the largest; unknown where rows are few, or where none is called."""
    own = rows >= _FEWEST
    largest = called[own].max(initial=0.0)
    ratio = np.full(len(called), math.nan)
    if largest > 0.0:
        ratio[own] = called[own] / largest
    return ratio
