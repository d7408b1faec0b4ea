"""How often what a summary says holds when the model is fitted anew."""

from __future__ import annotations

import html
from collections.abc import Sequence
from dataclasses import dataclass
from inspect import signature
from typing import Any, ClassVar

import numpy as np
from sklearn.base import BaseEstimator, clone

from seplearn._errors import out_of_range, wrong_type
from seplearn._numerals import count
from seplearn.explain.result import Explanation
from seplearn.explain.statements import Statement
from seplearn.explain.subject import Subject, is_position
from seplearn.explain.summary import summary_of_sum
from seplearn.kernels.arrays import BoolArray, FloatArray, IntArray
from seplearn.model.classes import ClassModels
from seplearn.table.columns import read_target
from seplearn.table.training import (
    NO_OUTCOMES,
    checked_weight,
    group_names,
    group_numbers,
    read_offset,
)

_STEADY = 0.9  # of the refits: what holds in so many is called steady
_SAMPLE = 1.0 - np.exp(-1.0)  # share of different rows in a bootstrap sample
_MOST_REFITS = 10_000
_MOST_DRAWS = 1_000  # of a sample with every class in it
# Of a refit: what a summary does not need, and what must not carry over.
_OF_REFITS = {"n_bootstrap": 0, "keep_bags": False, "warm_start": False, "verbose": 0}


@dataclass(frozen=True, eq=False, repr=False)
class Stability(Explanation):
    """Statements of a summary, and in which share of the refits each holds.

    ``print(stability)`` tells it in sentences.

    Attributes
    ----------
    statements : tuple of Statement
        Those of the model in the order of its summary; then those that most refits make and the
        model does not.
    of_model : array of bool
        Whether the model makes the statement.
    over_seeds : array
        Share of the refits with other seeds, to the same rows, that make it too.
    over_samples : array
        The same of refits to samples of the rows, with other seeds as well.
    n_refits : int
        Refits of either kind.
    stages : array of int, of shape (2, n_refits)
        How many stages each refit has; seeds first.
    has_edits : bool
        Whether the model was edited: refits are not.

    Examples
    --------
    >>> from seplearn import TSLRegressor, datasets, explain
    >>> X, y = datasets.rents(300, random_state=0)
    >>> model = TSLRegressor(n_stages=1, early_stopping=False, random_state=0).fit(X, y)
    >>> found = explain.stability(model, X, y, n_refits=2)
    >>> found.statements[0].told(), float(found.over_seeds[0])
    ('area matters most', 1.0)
    """

    _figure: ClassVar[str] = "plot_stability"

    statements: tuple[Statement, ...]
    of_model: BoolArray
    over_seeds: FloatArray
    over_samples: FloatArray
    n_refits: int
    stages: IntArray
    has_edits: bool = False

    @property
    def sentences(self) -> tuple[str, ...]:
        """What holds and what does not, in words."""
        own = np.flatnonzero(self.of_model).tolist()
        steady = int(np.sum(self.over_samples[own] >= _STEADY))
        with_seeds = int(np.sum(self.over_seeds[own] >= _STEADY))
        low, high = (f"{end(self.stages)}" for end in (np.min, np.max))
        sizes = low if low == high else f"{low} to {high}"
        whole = (
            f"Of {count(len(own), 'statement')} of the summary, {steady} hold in at least nine of "
            f"ten of {count(self.n_refits, 'fit')} to other samples of the rows, and {with_seeds} "
            f"with other seeds alone. These fits have {sizes} stages."
        )
        lines = [whole]
        lines += [self._told(k) for k in own if self.over_samples[k] < _STEADY]
        others = np.flatnonzero(~self.of_model).tolist()
        lines += [f"Not said by the model: {self._told(k)}" for k in others]
        if self.has_edits:
            lines.append("The model was edited or merged after its fit, and these fits were not.")
        return tuple(lines)

    def _told(self, k: int) -> str:
        words = self.statements[k].told(self.quantity)
        samples, seeds = (round(s[k] * self.n_refits) for s in (self.over_samples, self.over_seeds))
        n = self.n_refits
        return f"{words}: {samples} of {n} samples, {seeds} of {n} seeds."

    def __str__(self) -> str:
        first, *others = self.sentences
        return "\n".join([first, *(f"- {line}" for line in others)])

    def _words_html(self) -> str:
        first, *others = (html.escape(line) for line in self.sentences)
        return f"<p>{first}</p><ul>{''.join(f'<li>{line}</li>' for line in others)}</ul>"

    def _columns(self) -> dict[str, Any]:
        """One row per statement."""
        return {
            "statement": [one.told(self.quantity) for one in self.statements],
            "kind": [one.kind for one in self.statements],
            "features": [", ".join(one.features) for one in self.statements],
            "value": [one.value for one in self.statements],
            "of_model": self.of_model,
            "over_seeds": self.over_seeds,
            "over_samples": self.over_samples,
        }


def stability(
    model: Any,
    X: Any,
    y: Any,
    sample_weight: Any = None,
    *,
    groups: Any = None,
    offset: Any = None,
    n_refits: int = 10,
    label: Any = None,
    against: Any = None,
    background: Any = None,
    random_state: int = 0,
) -> Stability:
    """How often each statement of :func:`summary` holds when the model is fitted anew.

    The model is fitted ``n_refits`` times to the same rows with other seeds, and as often to
    samples of the rows, its size chosen anew each time. A statement is the claim without its
    numbers: that a feature raises the prediction, that two act together, where a sign changes. One
    that other seeds do not repeat should not be relied on at all; one that other samples do not
    repeat says more of these rows than of others like them. It takes the time of twice as many
    fits.

    A sample has the different rows of a bootstrap sample, 63 % of all, and each once: copies of a
    row look like certainty, and curves would follow them that are smooth on any other table.

    Parameters
    ----------
    model : TSLRegressor, TSLClassifier or SepALSRegressor
        A fitted estimator.
    X, y : table and array-like of shape (n,)
        The rows that it was fitted to.
    sample_weight, groups, offset : array-like of shape (n,), optional
        As they were given to ``fit``. Rows of one group are drawn together, and stay with their
        weights and offsets.
    n_refits : int
        Fits with other seeds, and fits to samples.
    label, against : labels, optional
        Of more than two classes which to tell of, as in :meth:`~seplearn.TSLClassifier.for_class`.
    background : table, optional
        Rows that summaries average over; by default each fit's own reference rows.
    random_state : int
        Seed of the seeds and of the samples.

    Examples
    --------
    >>> from seplearn import TSLRegressor, datasets, explain
    >>> X, y = datasets.masked_interaction(200, as_frame=True, random_state=0)
    >>> model = TSLRegressor(n_stages=1, early_stopping=False, random_state=0).fit(X, y)
    >>> frame = explain.stability(model, X, y, n_refits=1).frame()
    >>> bool(frame["over_samples"].between(0, 1).all())
    True
    """
    _check_model(model)
    if not is_position(n_refits, _MOST_REFITS + 1) or n_refits == 0:
        raise out_of_range("n_refits", f"an integer from 1 to {_MOST_REFITS}", n_refits)
    model._needs_offset(offset, "fit it anew")
    for name, given in (("groups", groups), ("offset", offset)):
        if given is not None and name not in signature(model.fit).parameters:
            raise ValueError(f"{name} must be None for {type(model).__name__}: its fit has none")
    subject = Subject.of(_viewed(model, label, against))
    rows = _Rows.of(X, y, sample_weight, groups, offset, hasattr(model, "classes_"))
    said = list(summary_of_sum(_viewed(model, label, against), background).statements)
    random = np.random.default_rng(random_state)
    held: list[list[set[Statement]]] = [[], []]
    stages: list[list[int]] = [[], []]
    for kind, resampled in enumerate((False, True)):
        for _ in range(n_refits):
            refit = _viewed(rows.fitted(model, random, resampled), label, against)
            held[kind].append(set(summary_of_sum(refit, background).statements))
            stages[kind].append(len(Subject.of(refit).model.stages))
    others = [one for one in _by_most(held[0] + held[1]) if one not in said]
    every = [*said, *others]
    shares = [[float(np.mean([one in found for found in kind])) for one in every] for kind in held]
    return Stability(
        statements=tuple(every),
        of_model=np.repeat([True, False], [len(said), len(others)]),
        over_seeds=np.array(shares[0]),
        over_samples=np.array(shares[1]),
        n_refits=int(n_refits),
        stages=np.array(stages, dtype=np.int64),
        has_edits=bool(getattr(model, "edits_", ())),
        library=subject.schema.library,
        quantity=subject.quantity,
    )


def _check_model(model: Any) -> None:
    Subject.of_any(model)  # whatever it is, it must be fitted
    if not (isinstance(model, BaseEstimator) and hasattr(model, "fit")):
        raise wrong_type("model", "a fitted estimator, which can be fitted anew", model)


def _viewed(model: Any, label: Any, against: Any) -> Any:
    """What is explained of a model: of several classes one."""
    if label is None and against is None:
        if isinstance(getattr(model, "model_", None), ClassModels):
            labels = model.classes_.tolist()
            raise ValueError(
                f"label must be one of the classes {labels}, got None; give label=, whose score is "
                "then explained"
            )
        return model
    if not hasattr(model, "for_class"):
        raise ValueError(f"label must be None for {type(model).__name__}, got {label!r}")
    return model.for_class(label, against)


def _by_most(held: Sequence[set[Statement]]) -> list[Statement]:
    """Statements that more than half make, in a fixed order."""
    every = sorted(set().union(*held), key=lambda one: (one.kind, one.features, one.value))
    return [one for one in every if 2 * sum(one in found for found in held) > len(held)]


@dataclass(frozen=True, eq=False)
class _Rows:
    """The rows of the fit, and how samples of them are drawn."""

    X: Any
    y: Any
    weight: FloatArray
    arguments: dict[str, Any]
    units: IntArray  # rows of one number are drawn together
    classes: IntArray  # the number of the class of every row; zeros where there are none

    @staticmethod
    def of(
        X: Any, y: Any, sample_weight: Any, groups: Any, offset: Any, has_classes: bool
    ) -> _Rows:
        if y is None:
            raise ValueError(NO_OUTCOMES)
        if np.ndim(read_target(y)) == 0:
            raise wrong_type("y", "the outcomes of the rows", y)
        n = len(np.asarray(read_target(y)))
        weight = checked_weight(sample_weight, np.zeros(n))
        read_offset(offset, n)  # refused before any fit
        units = np.arange(n) if groups is None else group_numbers(group_names(groups, n))
        classes = _numbered(y) if has_classes else np.zeros(n, dtype=np.int64)
        given = {"groups": groups, "offset": offset}
        arguments = {name: values for name, values in given.items() if values is not None}
        return _Rows(X, y, weight, arguments, units, classes)

    def fitted(self, model: Any, random: np.random.Generator, resampled: bool) -> Any:
        """The model fitted anew, with another seed."""
        refit = clone(model).set_params(**model._loss_parameters)  # as they were in the fit
        known = refit.get_params()
        refit.set_params(**{name: _OF_REFITS[name] for name in _OF_REFITS if name in known})
        refit.set_params(random_state=int(random.integers(2**31)))
        weight = self.weight * self._drawn(random) if resampled else self.weight
        return refit.fit(self.X, self.y, weight, **self.arguments)

    def _drawn(self, random: np.random.Generator) -> FloatArray:
        """One for every row of a sample, which has every class, and zero for the others."""
        masses_of_units = np.bincount(self.units, weights=self.weight)
        weighed = np.flatnonzero(masses_of_units > 0.0)
        # Groups are held out from one another, so that a sample has two of them.
        n_drawn = max(min(len(weighed), 2), round(_SAMPLE * len(weighed)))
        for _ in range(_MOST_DRAWS):
            is_drawn = np.zeros(len(masses_of_units))
            is_drawn[random.permutation(weighed)[:n_drawn]] = 1.0
            drawn: FloatArray = is_drawn[self.units]
            masses = np.bincount(self.classes, weights=drawn * self.weight)
            if masses.all():
                return drawn
        raise ValueError(
            "y, sample_weight and groups must leave rows of every class in samples, got "
            f"{_MOST_DRAWS} samples without"
        )


def _numbered(values: Any) -> IntArray:
    """A number for every row, the same for equal values."""
    plain = np.asarray(read_target(values), dtype=object).ravel()
    names = np.array([f"{type(value).__name__} {value}" for value in plain.tolist()])
    numbers: IntArray = np.unique(names, return_inverse=True)[1].astype(np.int64)
    return numbers
