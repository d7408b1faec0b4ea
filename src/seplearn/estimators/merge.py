"""One estimator that is the average of several."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from itertools import combinations
from typing import Any, TypeVar

import numpy as np
from sklearn.utils.validation import check_is_fitted

from seplearn._errors import out_of_range, warn, wrong_type
from seplearn._rules import is_real
from seplearn.editing.directions import kept_directions
from seplearn.editing.edit import check_reason
from seplearn.editing.merge import merged
from seplearn.estimators.base import SeparationEstimator
from seplearn.model.edit import of_each, with_edits
from seplearn.model.record import EditRecord

AnyEstimator = TypeVar("AnyEstimator", bound=SeparationEstimator)


def merge(
    models: Iterable[AnyEstimator], weights: Any = None, *, reason: str = "an average"
) -> AnyEstimator:
    """The average of fitted models of the same features and loss, which is again such a model.

    It has all stages of all models, each divided by their number (or times its weight), and their
    main effects averaged. Numeric features get all edges of all models, levels all that any model
    knows, so that the average is exact for every row, missing values and levels never seen
    included. (Levels 0 and 1 of one model are the False and True of another.) With a link it is the
    sums that are averaged: logs of predictions, log-odds, scores.

    How often training rows fell into the new bins, which weighs averages in explanations, is
    estimated from the old ones.

    Parameters
    ----------
    models : sequence of fitted estimators
        Two or more of the same kind, with the same features in the same order, the same loss, the
        same classes and weights of classes, and offsets all or none.
    weights : sequence of float, optional
        A positive number per model, by default equal ones; they are divided by their sum.
    reason : str
        Why, for the record in ``edits_``. Edits of the models come before it; ``n_edits`` says how
        many each of them had.

    Returns
    -------
    The same kind of estimator
        A new one, with the parameters of the first. Its ``monotonic_cst`` has what all of them
        keep, by that parameter or by :meth:`~seplearn.Edit.make_monotone`; its ``n_bootstrap`` is
        the smallest.

    Examples
    --------
    >>> import numpy as np
    >>> from seplearn import TSLRegressor, datasets, merge
    >>> X, y = datasets.rents(600, random_state=0)
    >>> north = TSLRegressor(n_stages=1, random_state=0).fit(X[:300], y[:300])
    >>> south = TSLRegressor(n_stages=1, random_state=0).fit(X[300:], y[300:])
    >>> both = merge([north, south], weights=[1, 3])
    >>> expected = 0.25 * north.predict(X) + 0.75 * south.predict(X)
    >>> bool(np.allclose(both.predict(X), expected, rtol=0, atol=1e-9))
    True
    """
    given = _checked(models)
    shares = _shares(weights, len(given))
    check_reason(reason)
    first = given[0]
    model = merged([one.model_ for one in given], shares, first._schema.labels)
    about = {"weights": shares, "n_edits": [len(one.edits_) for one in given]}
    had = {one._had_offsets for one in given}
    if True in had or None not in had:
        about["had_offsets"] = True in had  # what a provenance would say
    edits = (*(edit for one in given for edit in one.edits_), EditRecord("merge", about, reason))
    out: AnyEstimator = first._with_model(of_each(model, lambda one: with_edits(one, edits)), [])
    out.provenance_ = None  # of one of several fits it would be wrong
    numbered = [one._schema for one in given if one._schema.integer_labels is not None]
    out.missing_texts_ = tuple(dict.fromkeys(text for one in given for text in one.missing_texts_))
    out._integer_labels = numbered[0].integer_labels if numbered else None
    if "monotonic_cst" in out.get_params(deep=False):
        out.set_params(monotonic_cst=_common_constraints(given))
    out.set_params(fit_intercept=any(one.fit_intercept for one in given))
    if "n_bootstrap" in out.get_params(deep=False):  # of constants it says that there are intervals
        out.set_params(n_bootstrap=min(one.n_bootstrap for one in given))
    return out


def _checked(models: Any) -> Sequence[Any]:
    if isinstance(models, (str, SeparationEstimator)) or not hasattr(models, "__iter__"):
        raise wrong_type("models", "two or more fitted estimators of seplearn", models)
    given = list(models)
    if len(given) < 2:
        raise out_of_range("models", "two or more fitted estimators", given)
    for model in given:
        if not isinstance(model, SeparationEstimator):
            raise wrong_type("models", "fitted estimators of seplearn", model)
        check_is_fitted(model)
    for one, other in combinations(given, 2):  # all: an array goes with either of two numberings
        for what, own, theirs in _must_agree(one, other):
            if own != theirs:
                raise ValueError(f"models must have the same {what}, got {own!r} and {theirs!r}")
    if {True, False} <= {one._had_offsets for one in given}:
        raise ValueError("models must all have been fitted with offsets, or none of them")
    if len({frozenset(one.missing_texts_) for one in given}) > 1:
        told = ", ".join(str(list(one.missing_texts_)) for one in given)
        warn(
            f"models with different texts for missing values ({told}) are averaged: in tables of "
            "the command line all of them stand for missing values, also where one model knows "
            "such a value"
        )
    targets = list(dict.fromkeys(repr(one.target_name_) for one in given if one.target_name_))
    if len(targets) > 1:
        warn(f"models of different targets are averaged: {', '.join(targets)}")
    return given


def _must_agree(first: Any, other: Any) -> Iterable[tuple[str, Any, Any]]:
    """What two models must have in common, in words."""
    yield "kind", type(first).__name__, type(other).__name__
    one, two = first._schema, other._schema
    yield "features in the same order", one.keys_beside(two), two.keys_beside(one)
    axes = zip(one.labels, first.model_.bins.axes, other.model_.bins.axes, strict=True)
    for name, own, theirs in axes:
        yield f"kind of feature {name!r}", own.kind, theirs.kind
    for what, of in (
        ("loss", lambda one: (one._loss_in_words, one.model_.link.name)),
        ("classes", lambda one: np.asarray(getattr(one, "classes_", ())).tolist()),
        ("class_weight", lambda one: getattr(one, "class_weight", None)),
        ("column of offsets", lambda one: one._schema.offset),
    ):
        yield what, of(first), of(other)


def _shares(weights: Any, n: int) -> list[float]:
    """Weights that sum to one."""
    if weights is None:
        return [1.0 / n] * n
    rule = f"{n} positive numbers, one per model"
    if isinstance(weights, str) or not hasattr(weights, "__iter__"):
        raise wrong_type("weights", rule, weights)
    given = list(weights)
    if len(given) != n or not all(is_real(w) and 0 < w < math.inf for w in given):
        raise out_of_range("weights", rule, given)
    largest = max(float(w) for w in given)
    total = math.fsum(float(w) / largest for w in given)
    shares = [float(w) / largest / total for w in given]
    if min(shares) == 0.0:
        raise out_of_range("weights", f"{rule}, none lost beside the largest", given)
    return shares


def _common_constraints(given: Sequence[Any]) -> Any:
    """What all models keep, as the parameter ``monotonic_cst`` says it; None if that is nothing."""
    first = given[0]
    each = [kept_directions(one) for one in given]
    common = {
        j: way for j, way in each[0].items() if all(other.get(j) == way for other in each[1:])
    }
    if not common:
        return None
    schema = first._schema
    if schema.names is None:
        return [common.get(j, 0) for j in range(schema.n_features)]
    return {schema.names[j]: way for j, way in common.items()}
