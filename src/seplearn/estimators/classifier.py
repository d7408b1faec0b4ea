"""TSLClassifier: yes or no, told by log-odds that are a sum of products of curves."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import column_or_1d
from sklearn.utils.multiclass import check_classification_targets

from seplearn._params import (
    CLASSIFIER_PARAMETERS,
    ClassifierParameters,
    check_parameters,
    documented,
)
from seplearn.estimators.base import SeparationClassifier, restored_on_failure
from seplearn.estimators.rows import Asked, check_callback, fit_rows
from seplearn.fitting.options import LOG_LOSS
from seplearn.fitting.progress import Callback
from seplearn.kernels.arrays import FloatArray
from seplearn.losses import LogLoss, Loss
from seplearn.model.evaluation import Evaluation
from seplearn.table.columns import is_missing, read_target, target_name
from seplearn.table.schema import Schema
from seplearn.table.training import EvalRows, TrainingRows, eval_rows, training_rows

_N_CLASSES = 2
_OF_ONE_KIND = "y must have labels of one kind, got strings and numbers"


@documented(CLASSIFIER_PARAMETERS)
@dataclass(eq=False, repr=False)  # once more, so that messages about arguments have this name
class TSLClassifier(ClassifierParameters, SeparationClassifier):
    """Yes or no by Tensor Separation Learning: log-odds that are a sum of products of curves.

    The log-odds of the second class are the sum that the prediction of :class:`TSLRegressor` is: a
    constant, main effects, and stages, each a difference of two positive products. They are fitted
    in the same way, to the log-loss. All explanations are exact on the scale of log-odds.

    Parameters
    ----------
    {parameters}

    Attributes
    ----------
    classes_ : array of shape (2,)
        The labels, sorted. Log-odds and probabilities above one half speak for the second.
    stages_ : tuple of Stage
        The fitted stages, in log-odds.
    stage_names_ : tuple of str
        A name per stage: the features it depends on, the one that moves it most first.
    reading_size_ : int
        Number of curves that are not exactly flat: what there is to read.
    turning_points_ : array of int
        How often each of these curves changes its direction, those over levels left out.
    intercept_ : float
        The constant c.
    history_ : list of StageRecord
        Per stage that was grown; losses are log-losses.
    size_paths_ : tuple of SizePath
        How well models of growing size predicted rows held out.
    model_ : SeparationModel
        Bins, constant and stages together.
    n_features_in_ : int
        Number of features seen by ``fit``.
    feature_names_in_ : array of str
        Names of the features, when ``fit`` got a table with string names.

    Examples
    --------
    >>> from seplearn import TSLClassifier, datasets
    >>> X, y = datasets.masked_interaction(1000, random_state=0)
    >>> model = TSLClassifier(random_state=0).fit(X, y > 0)
    >>> model.classes_.tolist(), bool(model.score(X, y > 0) > 0.7)
    ([False, True], True)
    >>> model.predict_proba(X[:3]).shape
    (3, 2)
    """

    _kind = "TSLClassifier"
    _parameters = CLASSIFIER_PARAMETERS

    @property
    def _loss(self) -> Loss:
        return LogLoss()

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        return tags

    def fit(
        self,
        X: Any,
        y: Any,
        sample_weight: Any = None,
        *,
        eval_set: Any = None,
        groups: Any = None,
        callback: Callback | None = None,
    ) -> TSLClassifier:
        """Fit the model.

        Parameters
        ----------
        X : pandas, polars or pyarrow table, or array-like of shape (n, p)
            Numbers, and levels (see ``categorical_features``); either may be missing.
        y : array-like of shape (n,), Series or one-column table
            Two different labels: strings, booleans or numbers.
        sample_weight : array-like of shape (n,), optional
            Non-negative; a weight is a number of rows.
        eval_set : pair (X, y), optional
            Rows on which the number of stages is chosen, instead of rows held out of ``X``.
        groups : array-like of shape (n,), optional
            Rows of one group are held out together when the number of stages is chosen.
        callback : callable, optional
            Called as ``callback(stage, record)`` after each new stage; True ends the growth.

        Returns
        -------
        TSLClassifier
            The fitted estimator itself.
        """
        with restored_on_failure(self):
            self._fit(X, y, sample_weight, eval_set, groups, callback)
        return self

    def _fit(
        self,
        X: Any,
        y: Any,
        sample_weight: Any,
        eval_set: Any,
        groups: Any,
        callback: Callback | None,
    ) -> None:
        check_parameters(CLASSIFIER_PARAMETERS, self.get_params(deep=False))
        check_callback(callback)
        name = target_name(y)
        labels = _labels(y)
        classes, numbers = _two_classes(labels)
        weights = _class_weights(self.class_weight, classes, labels)
        rows = training_rows(X, numbers, sample_weight, groups)
        _check_both_weighed(rows, classes)
        rows = rows._replace(weight=rows.weight * weights[rows.y.astype(np.int64)])
        schema = Schema.of(rows.table, name)
        held_out = None if eval_set is None else _eval_rows(eval_set, schema, classes)
        parameters = self._plain_parameters() | {"loss": LOG_LOSS}
        del parameters["class_weight"]
        model, history = fit_rows(rows, parameters, Asked(eval_set, groups), held_out, callback)
        self._store(schema, model, history)
        self.classes_ = classes

    def decision_function(self, X: Any) -> FloatArray:
        """Log-odds of the second class, shape (n,): the sum that explanations add up to.

        Parameters
        ----------
        X : array-like of shape (n, p)
        """
        return self._sums(X)

    def predict_proba(self, X: Any) -> FloatArray:
        """Probabilities of the two classes, shape (n, 2).

        Parameters
        ----------
        X : array-like of shape (n, p)
        """
        sums, link = self._sums(X), self.model_.link
        # One minus the other would lose the digits of a small one.
        return np.column_stack([link.inverse(-sums), link.inverse(sums)])

    def evaluate(
        self, X: Any, y: Any, sample_weight: Any = None, *, offset: Any = None, keep: bool = False
    ) -> Evaluation:
        """Scores and calibration of the probability of the second class.

        ``scores`` has the log-loss, the Brier score, the area under the ROC curve and the accuracy.
        An outcome is 1 for the second class and 0 for the first: ``predicted`` and ``actual`` tell
        how often the second class occurs where it is given some probability.

        Parameters
        ----------
        X : array-like of shape (n, p)
            Rows that the model was not fitted to; errors on training rows say little.
        y : array-like of shape (n,)
            Their classes; rows where it is missing are left out.
        sample_weight : array-like of shape (n,), optional
        offset : array-like of shape (n,), optional
            Added to the log-odds.
        keep : bool
            Remember the result in ``evaluation_``: it is then saved with the model.

        Examples
        --------
        >>> from seplearn import TSLClassifier, datasets
        >>> X, y = datasets.masked_interaction(600, random_state=0)
        >>> model = TSLClassifier(n_stages=1, random_state=0).fit(X[:400], y[:400] > 0)
        >>> model.evaluate(X[400:], y[400:] > 0).n_rows
        200
        """
        return super().evaluate(X, y, sample_weight, offset=offset, keep=keep)

    def _outcomes(self, y: Any) -> FloatArray:
        labels = _labels(y, may_be_missing=True)
        known = np.array([not is_missing(label) for label in labels.tolist()])
        numbers = np.full(len(labels), np.nan)
        numbers[known] = _numbers(labels[known], self.classes_, "y")
        return numbers

    def predict(self, X: Any) -> NDArray[Any]:
        """The class that is more likely, shape (n,).

        Parameters
        ----------
        X : array-like of shape (n, p)
        """
        likely = self._sums(X) > 0.0
        labels: NDArray[Any] = self.classes_[likely.astype(np.int64)]
        return labels


def _labels(y: Any, may_be_missing: bool = False) -> NDArray[Any]:
    """The labels of all rows."""
    if y is None:
        raise ValueError("fit requires y to be passed, but the target y is None")
    given = read_target(y)
    # As they are: in an array of strings a number or NaN beside them would be one more string.
    each = np.array(given, dtype=object).ravel().tolist() if isinstance(given, list) else None
    values = column_or_1d(np.asarray(given), warn=True)
    known = [value for value in each or values.tolist() if not is_missing(value)]
    if len(known) < len(values):
        if not may_be_missing:
            raise ValueError("y must not have missing values, got NaN or None in some row")
        values = np.array(each or values.tolist(), dtype=object)
    if each and len({isinstance(value, str) for value in known}) > 1:
        raise TypeError(_OF_ONE_KIND)
    if values.dtype.kind in "mM":
        raise TypeError("y must have labels that are strings, booleans or numbers, got dates")
    if known:
        check_classification_targets(np.array(known) if may_be_missing else values)
    labels: NDArray[Any] = values.astype(object) if values.dtype.kind == "U" else values
    return labels


def _two_classes(labels: NDArray[Any]) -> tuple[NDArray[Any], FloatArray]:
    try:
        classes, numbers = np.unique(labels, return_inverse=True)
    except TypeError as error:
        raise TypeError(_OF_ONE_KIND) from error
    if len(classes) == 1:
        raise ValueError(f"y must have two classes, got one class only: {classes.tolist()[0]!r}")
    if len(classes) != _N_CLASSES:
        raise ValueError(
            f"Only binary classification is supported: y must have two classes, got {len(classes)}."
            " sklearn.multiclass.OneVsRestClassifier(TSLClassifier()) fits a model per class"
        )
    return classes, numbers.astype(np.float64)


def _class_weights(given: Any, classes: NDArray[Any], labels: NDArray[Any]) -> FloatArray:
    """A weight per class, as many rows as before in all."""
    counts = np.array([np.sum(labels == label) for label in classes], dtype=np.float64)
    if given is None:
        return np.ones(len(classes))
    if isinstance(given, Mapping):
        unknown = [label for label in given if label not in classes.tolist()]
        if unknown:
            raise ValueError(
                f"class_weight must name classes of y ({classes.tolist()}), got {unknown[0]!r}"
            )
        return np.array([float(given.get(label, 1.0)) for label in classes.tolist()])
    weights: FloatArray = counts.sum() / (len(classes) * counts)
    return weights


def _check_both_weighed(rows: TrainingRows, classes: NDArray[Any]) -> None:
    if np.ptp(rows.y) == 0.0:
        only = classes.tolist()[int(rows.y[0])]
        raise ValueError(
            f"y must have two classes in the rows of positive weight, got one class only: {only!r}"
        )


def _eval_rows(eval_set: Any, schema: Schema, classes: NDArray[Any]) -> EvalRows:
    """The rows of an ``eval_set``, whose labels must be known."""
    pair = eval_set[0] if isinstance(eval_set, list) and len(eval_set) == 1 else eval_set
    if not isinstance(pair, (tuple, list)) or len(pair) != 2:
        raise TypeError(f"eval_set must be a pair (X, y), got {type(eval_set).__name__}")
    return eval_rows((pair[0], _numbers(_labels(pair[1]), classes, "eval_set: y")), schema)


def _numbers(labels: NDArray[Any], classes: NDArray[Any], name: str) -> FloatArray:
    """1 for the second class and 0 for the first."""
    unknown = sorted(set(labels.tolist()) - set(classes.tolist()), key=str)
    if unknown:
        raise ValueError(
            f"{name} must have the classes seen by fit ({classes.tolist()}), got {unknown[0]!r}"
        )
    numbers: FloatArray = (labels == classes[1]).astype(np.float64)
    return numbers
