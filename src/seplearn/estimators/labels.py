"""Labels of classes: how they are read, numbered and weighed."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import column_or_1d
from sklearn.utils.multiclass import check_classification_targets

from seplearn.kernels.arrays import FloatArray, IntArray
from seplearn.table.columns import is_missing, read_target
from seplearn.table.schema import Schema
from seplearn.table.training import NO_OUTCOMES, NO_TARGET, EvalRows, eval_rows, one_eval_set

OF_ONE_KIND = "y must have labels of one kind, got strings and numbers"

# With more labels than this there must be two rows for each on average: others are texts of another
# kind, such as prices with a currency.
_MANY_CLASSES, _MOST_DIFFERENT = 100, 0.5


def labels_of(y: Any, may_be_missing: bool = False) -> NDArray[Any]:
    """The labels of all rows."""
    if y is None and may_be_missing:
        raise ValueError(NO_OUTCOMES)
    if y is None:
        raise ValueError(NO_TARGET)
    given = read_target(y)
    # As they are: in an array of strings a number or NaN beside them would be one more string.
    is_plain = isinstance(given, (list, tuple))
    each = np.array(given, dtype=object).ravel().tolist() if is_plain else None
    values = column_or_1d(np.asarray(given), warn=True)
    known = [value for value in each or values.tolist() if not is_missing(value)]
    if len(known) < len(values):
        if not may_be_missing:
            raise ValueError("y must not have missing values, got NaN or None in some row")
        values = np.array(each or values.tolist(), dtype=object)
    if len({isinstance(value, str) for value in known}) > 1:
        raise TypeError(OF_ONE_KIND)
    if values.dtype.kind in "mM":
        raise TypeError("y must have labels that are strings, booleans or numbers, got dates")
    if known:
        check_classification_targets(_in_their_type(known, values))
    if values.dtype.kind == "f" and values.dtype.itemsize not in (4, 8):
        values = _as_doubles(values)
    labels: NDArray[Any] = values.astype(object) if values.dtype.kind == "U" else values
    return labels


def _as_doubles(values: NDArray[Any]) -> NDArray[Any]:
    """Labels of short or long floats as those that files can hold."""
    doubles = values.astype(np.float64)
    if (doubles != values).any():
        raise ValueError(f"y must have labels that are floats of 64 bits, got {values.dtype}")
    return doubles


def _in_their_type(known: list[Any], values: NDArray[Any]) -> NDArray[Any]:
    """Labels as an array of the type they came in: large integers must not become floats."""
    return np.array(known, dtype=None if values.dtype.kind == "O" else values.dtype)


def numbered(labels: NDArray[Any]) -> tuple[NDArray[Any], FloatArray]:
    """The classes, sorted, and the number of that of every row."""
    try:
        classes, numbers = np.unique(labels, return_inverse=True)
    except TypeError as error:
        raise TypeError(OF_ONE_KIND) from error
    if len(classes) == 1:
        raise ValueError(
            f"y must have two classes or more, got one class only: {classes.tolist()[0]!r}"
        )
    return classes, numbers.astype(np.float64)


def check_class_constraints(directions: Any, classes: NDArray[Any]) -> None:
    """Scores that rise with a feature do not make a probability rise: others may rise faster."""
    if directions is not None and len(classes) > 2:
        raise ValueError(
            "monotonic_cst must be None with more than two classes, where a score that may only "
            f"rise says nothing about the probability, got {directions!r} and {len(classes)} "
            "classes"
        )


def check_repeated(classes: NDArray[Any], n_rows: int, target: str = "y") -> None:
    """Raise for labels that hardly repeat: a sum of curves for each of them would take for ever."""
    if len(classes) > _MANY_CLASSES and len(classes) > _MOST_DIFFERENT * n_rows:
        raise ValueError(
            f"{target} must have classes that repeat, got {len(classes):,} different labels in "
            f"{n_rows:,} rows, such as {str(classes[0])!r}; numbers, whose target TSLRegressor "
            "predicts, must not be texts"
        )


def check_class_offset(offset: Any, n_classes: int) -> None:
    """Log-odds are of two classes; which of several scores a number belongs to it does not say."""
    if offset is not None and n_classes > 2:
        raise ValueError(
            "offset must be None with more than two classes: it is added to the log-odds of two, "
            f"got {n_classes} classes"
        )


def numbered_anew(labels: NDArray[Any]) -> tuple[NDArray[Any], FloatArray]:
    """The classes, sorted, and the number among them of labels that are there once each."""
    # More than one row of each, as classes have: labels that are all different look like numbers.
    classes, numbers = numbered(labels_of(np.repeat(labels, 3)))
    return classes, numbers[::3]


def class_weights(given: Any, classes: NDArray[Any], masses: FloatArray) -> FloatArray:
    """A weight per class, whose rows have such a weight by themselves.

    All rows together count for the effective number of rows, as those of any weights that are not
    numbers of rows: ten rows that count for half of a table are ten rows.
    """
    if given is None or not masses.any():
        return np.ones(len(classes))
    masses = np.where(masses > 0.0, masses, masses.max())  # a class without weight is refused later
    shares = _rounded(masses / masses.sum())  # sums depend on the order of rows in the last digits
    if isinstance(given, Mapping):
        unknown = [label for label in given if label not in classes.tolist()]
        if unknown:
            raise ValueError(
                f"class_weight must name classes of y ({classes.tolist()}), got {unknown[0]!r}"
            )
        weights = np.array([float(given.get(k, 1.0)) for k in classes.tolist()])
        _check_none_is_hidden(weights)
    else:
        weights = 1.0 / shares
    weights = _rounded(weights / weights.max())
    effective = float(shares @ weights) / float(shares @ weights**2)
    counted: FloatArray = weights * effective
    return counted


def _rounded(values: FloatArray) -> FloatArray:
    return np.array([float(f"{value:.12g}") for value in values])


def _check_none_is_hidden(weights: FloatArray) -> None:
    largest, smallest = float(weights.max()), float(weights.min())
    if smallest / largest < np.finfo(float).eps:
        raise ValueError(
            "class_weight must have weights of which rounding hides none beside another, got "
            f"{smallest:g} and {largest:g}"
        )


def check_all_weighed(weighed: IntArray, classes: NDArray[Any]) -> None:
    """Raise for a class without any row of positive weight."""
    if len(weighed) == 1:
        only = classes.tolist()[int(weighed[0])]
        raise ValueError(
            f"y must have two classes in the rows of positive weight, got one class only: {only!r}"
        )
    if len(weighed) < len(classes):
        without = next(k for k in range(len(classes)) if k not in weighed)
        raise ValueError(
            "every class of y must have a row of positive weight, got none of "
            f"{classes.tolist()[without]!r}"
        )


def class_eval_rows(
    eval_set: Any, schema: Schema, classes: NDArray[Any], with_offset: bool
) -> EvalRows | None:
    """The rows of an ``eval_set``, whose labels must be known; None where there is none."""
    if eval_set is None:
        return None
    X, y, *more = one_eval_set(eval_set, with_offset)
    if y is None:
        raise ValueError(f"eval_set: {NO_OUTCOMES}")
    try:
        numbers = numbers_of(labels_of(y), classes)
    except ValueError as error:
        raise ValueError(f"eval_set: {error}") from error
    return eval_rows((X, numbers, *more), schema, with_offset)


def weighed_rows(rows: EvalRows | None, weights: FloatArray) -> EvalRows | None:
    """Rows of an ``eval_set`` with the weights of their classes: what the fit is to be good at."""
    return rows and rows._replace(weight=weights[rows.y.astype(np.int64)])


def numbers_of(labels: NDArray[Any], classes: NDArray[Any]) -> FloatArray:
    """The numbers of the classes of rows: of two, 1 for the second class and 0 for the first."""
    known = {label: number for number, label in enumerate(classes.tolist())}
    unknown = sorted(set(labels.tolist()) - set(known), key=str)
    if unknown:
        raise ValueError(
            f"y must have the classes seen by fit ({classes.tolist()}), got {unknown[0]!r}"
        )
    return np.array([known[label] for label in labels.tolist()], dtype=np.float64)
