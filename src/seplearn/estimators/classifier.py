"""TSLClassifier: classes, told by log-odds or scores that are sums of products of curves."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy.special import logsumexp
from sklearn.utils.validation import check_is_fitted

from seplearn._errors import did_you_mean
from seplearn._params import (
    CLASSIFIER_PARAMETERS,
    ClassifierParameters,
    check_parameters,
    documented,
)
from seplearn._spill import Spill
from seplearn.estimators.base import SeparationClassifier
from seplearn.estimators.class_view import ClassView
from seplearn.estimators.files import FeatureRows, Roles, read_outcomes, stored_rows
from seplearn.estimators.fitted import restored_on_failure
from seplearn.estimators.labels import (
    check_all_weighed,
    check_class_constraints,
    check_class_offset,
    check_repeated,
    class_eval_rows,
    class_weights,
    labels_of,
    numbered,
    numbered_anew,
    numbers_of,
    weighed_rows,
)
from seplearn.estimators.rows import Asked, check_callback, checked_options, fit_data, fit_rows
from seplearn.fitting.options import LOG_LOSS, weigh_classes
from seplearn.fitting.progress import Callback
from seplearn.kernels.arrays import FloatArray
from seplearn.losses import LogLoss, Loss
from seplearn.losses.links import LOGIT, class_shares
from seplearn.model.classes import ClassModels
from seplearn.model.evaluation import ClassEvaluation, Evaluation
from seplearn.model.provenance import Provenance
from seplearn.model.reading import brief
from seplearn.table.blocks import blocked_sum
from seplearn.table.columns import are_missing, is_missing, read_target, target_name
from seplearn.table.files import open_files
from seplearn.table.schema import Schema
from seplearn.table.training import (
    NO_OUTCOMES,
    known_rows,
    total_weight,
    training_rows,
    warn_of_target,
)


@documented(CLASSIFIER_PARAMETERS)
@dataclass(eq=False, repr=False)  # once more, so that messages about arguments have this name
class TSLClassifier(ClassifierParameters, SeparationClassifier):
    """Classes by Tensor Separation Learning: log-odds that are a sum of products of curves.

    Of two classes, the log-odds of the second are the sum that the prediction of
    :class:`TSLRegressor` is: a constant, main effects, and stages, each a difference of two
    positive products. They are fitted in the same way, to the log-loss. Rows held out for choosing
    the size also tell how certain the model may be: where they clearly ask for it, everything is
    multiplied by one number. All explanations are exact on the scale of log-odds.

    Of more than two, every class has such a sum, its **score**, and the probability of a class is
    the exponential of its score divided by the sum of the exponentials of all. All scores are
    fitted together to the log-loss, and the size is chosen by that of held-out rows.
    :meth:`for_class` gives one score, or the log-odds between two classes, to
    :mod:`seplearn.explain`. ``monotonic_cst`` is for two classes only.

    Parameters
    ----------
    {parameters}

    Attributes
    ----------
    classes_ : array of shape (K,)
        The labels, sorted. Of two, log-odds and probabilities above one half speak for the second.
    stages_ : tuple of Stage
        The fitted stages, in log-odds; of more than two classes a tuple for each of them.
    stage_names_ : tuple of str
        A name per stage: the features it depends on, the one that moves it most first; of more
        than two classes a tuple for each of them.
    reading_size_ : int
        Number of curves that are not exactly flat: what there is to read.
    turning_points_ : array of int
        How often each of these curves changes its direction, those over levels left out.
    intercept_ : float or array of shape (K,)
        The constant c; of more than two classes one for each, and their mean is zero.
    history_ : list of StageRecord
        Per stage that was grown, of more than two classes per round, in which a class gets a stage
        or none; losses are log-losses.
    size_paths_ : tuple of SizePath
        How well models of growing size predicted rows held out.
    edits_ : tuple of EditRecord
        What was changed after the fit, by :meth:`edit`, in this order; empty if nothing was.
    provenance_ : Provenance or None
        Rows and versions of the fit, and what the caller adds: it is saved with the model.
    evaluation_ : Evaluation, ClassEvaluation or None
        What :meth:`evaluate` found with ``keep=True``: it is saved with the model.
    model_ : SeparationModel or ClassModels
        Bins, constant and stages together; of more than two classes a model for each of them.
    n_features_in_ : int
        Number of features seen by ``fit``.
    feature_names_in_ : array of str
        Names of the features, when ``fit`` got a table with string names.
    target_name_ : str or None
        Name of the target, when ``fit`` got a Series or a table.
    offset_column_ : OffsetColumn or None
        The column that offsets come from, and whether it is an exposure, where the fit was told
        its name: by ``fit_files`` or the command line.
    missing_texts_ : tuple of str
        Texts that stand for missing values in the tables of the command line, by ``seplearn fit
        --missing``. In Python missing values are NaN, None or NA.

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
    def _asked_loss(self) -> Loss:
        return LogLoss()

    def fit(
        self,
        X: Any,
        y: Any,
        sample_weight: Any = None,
        *,
        eval_set: Any = None,
        groups: Any = None,
        offset: Any = None,
        callback: Callback | None = None,
    ) -> Self:
        """Fit the model.

        Parameters
        ----------
        X : pandas, polars or pyarrow table, or array-like of shape (n, p)
            Numbers, and levels (see ``categorical_features``); either may be missing.
        y : array-like of shape (n,), Series or one-column table
            Two or more different labels: strings, booleans or numbers.
        sample_weight : array-like of shape (n,), optional
            Non-negative; a row of weight 0 is left out. Weights say what rows count beside each
            other; whole numbers may also say how often a row was seen, as in
            :class:`~seplearn.TSLRegressor`.
        eval_set : pair (X, y), optional
            Rows on which the number of stages is chosen, instead of rows held out of ``X``; with
            offsets (X, y, offset). They count as their class does by ``class_weight``, and do not
            tell how certain the model may be.
        groups : array-like of shape (n,), optional
            Rows of one group are held out together when the number of stages is chosen.
        offset : array-like of shape (n,), optional
            Added to the log-odds of the second class, and not learned: those that another model
            gives, say, or that are known. Of more than two classes it is refused.
        callback : callable, optional
            Called as ``callback(stage, record)`` after each new stage; True ends the growth. Of
            more than two classes after each round, with the stage of the first class that got one.

        Returns
        -------
        TSLClassifier
            The fitted estimator itself.
        """
        with restored_on_failure(self):
            self._fit(X, y, sample_weight, eval_set, groups, offset, callback)
        return self

    def _fit(
        self,
        X: Any,
        y: Any,
        sample_weight: Any,
        eval_set: Any,
        groups: Any,
        offset: Any,
        callback: Callback | None,
    ) -> None:
        check_parameters(CLASSIFIER_PARAMETERS, self.get_params(deep=False))
        check_callback(callback)
        name = target_name(y)
        labels = labels_of(y)
        classes, numbers = numbered(labels)
        self._check_classes(classes, len(numbers), offset)
        rows = training_rows(X, numbers, sample_weight, groups, offset)
        check_all_weighed(np.unique(rows.y).astype(np.int64), classes)
        weights = class_weights(
            self.class_weight, classes, weigh_classes(rows.y, rows.weight, len(classes))
        )
        rows = rows._replace(weight=rows.weight * weights[rows.y.astype(np.int64)])
        warn_of_target(rows.table, y)
        schema = Schema.of(rows.table, name)
        held_out = weighed_rows(
            class_eval_rows(eval_set, schema, classes, offset is not None), weights
        )
        provenance = Provenance.of_fit(len(rows.y), total_weight(rows.weight), offset is not None)
        start = self._start_of_classes(schema, classes, offset is not None)
        asked = Asked(eval_set, groups, offset)
        parameters = self._class_parameters(classes)
        model, history = fit_rows(rows, parameters, asked, held_out, callback, start)
        self._store_fit(start, schema, model, history, provenance)
        self.classes_ = classes

    def _check_classes(self, classes: NDArray[Any], n_rows: int, offset: Any) -> None:
        check_repeated(classes, n_rows)
        check_class_constraints(self.monotonic_cst, classes)
        check_class_offset(offset, len(classes))

    def _class_parameters(self, classes: NDArray[Any]) -> dict[str, Any]:
        """The parameters of a fit to so many classes."""
        parameters = self._plain_parameters() | {"loss": LOG_LOSS, "n_classes": len(classes)}
        del parameters["class_weight"]
        return parameters

    def _stored_parameters(self, params: dict[str, Any]) -> dict[str, Any]:
        """With weights by the labels themselves: a key may be another spelling, as 1 is of True."""
        weights = params["class_weight"]
        if not isinstance(weights, Mapping):
            return params
        labels = {label: label for label in self.classes_.tolist()}
        return params | {"class_weight": {labels.get(key, key): w for key, w in weights.items()}}

    def _start_of_classes(self, schema: Schema, classes: NDArray[Any], has_offset: bool) -> Any:
        """The model of the same classes that another fit goes on from, if there is one."""
        start = self._start(schema, self._asked_loss, has_offset)
        if start is not None and self.classes_.tolist() != classes.tolist():
            raise ValueError(
                "y must have the classes of the fit that warm_start goes on from, "
                f"{self.classes_.tolist()}, got {classes.tolist()}"
            )
        return start

    def fit_files(
        self,
        files: Any,
        target: str,
        *,
        sample_weight: str | None = None,
        offset: str | None = None,
        groups: str | None = None,
        features: Sequence[str] | None = None,
        eval_set: Any = None,
        callback: Callback | None = None,
        temporary_folder: str | os.PathLike[str] | None = None,
    ) -> Self:
        """Fit the model to a table in files that need not fit into memory.

        The files are read part by part: the target once, the features twice, for bins and for the
        bin of every value, a byte or two that is kept in a temporary folder. The model is the one
        that ``fit`` makes of the same rows in the same order, to the last bit, if no column of
        numbers has more than 131,072 distinct values; of one that has, quantiles are close to
        exact ones.

        Parameters
        ----------
        files : path, pattern, list of them, pyarrow Dataset or polars LazyFrame
            Parquet, Arrow IPC or CSV files with the same columns; those of a pattern or a folder
            in the order of their names.
        target : str
            The column to predict.
        sample_weight, offset, groups : str, optional
            Columns with what ``fit`` takes as arrays.
        features : list of str, optional
            The columns to predict from; all others than those named above if not given.
        eval_set : pair (X, y), optional
            As in ``fit``: tables in memory.
        callback : callable, optional
            As in ``fit``.
        temporary_folder : str or path, optional
            Where the temporary folder is made; by default where the system has such folders. It is
            gone when the fit ends.

        Returns
        -------
        TSLClassifier
            The fitted estimator itself.

        Examples
        --------
        >>> import pathlib, tempfile
        >>> from seplearn import TSLClassifier, datasets
        >>> X, y = datasets.rents(600, random_state=0)
        >>> table = X.assign(dear=y > 900.0)
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     for k in range(3):
        ...         path = pathlib.Path(folder) / f"part-{k}.parquet"
        ...         table[200 * k : 200 * (k + 1)].to_parquet(path)
        ...     model = TSLClassifier(n_stages=1, early_stopping=False, random_state=0)
        ...     model = model.fit_files(f"{folder}/part-*.parquet", target="dear")
        >>> same = TSLClassifier(n_stages=1, early_stopping=False, random_state=0)
        >>> same = same.fit(X, table["dear"])
        >>> bool((model.predict(X) == same.predict(X)).all())
        True
        """
        roles = Roles(target, sample_weight, offset, features, groups)
        with restored_on_failure(self), Spill(temporary_folder) as spill:
            self._fit_files(files, roles, eval_set, callback, spill)
        return self

    def _fit_files(
        self, files: Any, roles: Roles, eval_set: Any, callback: Callback | None, spill: Spill
    ) -> None:
        check_parameters(CLASSIFIER_PARAMETERS, self.get_params(deep=False))
        check_callback(callback)
        rows = open_files(files, spill.path)
        columns = FeatureRows(rows, roles.check(rows))
        schema = columns.schema(roles)
        given = read_outcomes(rows, roles, spill, classes=True)
        assert given.labels is not None
        classes, numbers = numbered_anew(given.labels)
        self._check_classes(classes, len(given.y), roles.offset)
        held_out = class_eval_rows(eval_set, schema, classes, roles.offset is not None)
        start = self._start_of_classes(schema, classes, roles.offset is not None)
        outcomes = columns.used(given, spill)
        masses = np.zeros(len(classes))
        masses[numbers.astype(np.int64)] = blocked_sum(
            partial(weigh_classes, n_classes=len(classes)), outcomes.y, outcomes.weight
        )
        weights = class_weights(self.class_weight, classes, masses)
        weighed = outcomes.relabelled(numbers, weights)
        check_all_weighed(weighed, classes)
        options, categorical = checked_options(
            columns.head,
            self._class_parameters(classes),
            Asked(eval_set, roles.groups, roles.offset),
            start,
        )
        unit = options.loss_function.unit(outcomes.y, outcomes.weight, options.fit_intercept)
        model, history = fit_data(
            lambda _: stored_rows(columns, outcomes, categorical, options, unit, spill),
            options, unit, weighed_rows(held_out, weights), outcomes.numbered_groups(), callback,
        )  # fmt: skip
        provenance = Provenance.of_fit(
            len(outcomes.y), total_weight(outcomes.weight), outcomes.offset is not None
        )
        self._store_fit(start, schema, model, history, provenance)
        self.classes_ = classes

    def decision_function(self, X: Any, offset: Any = None) -> FloatArray:
        """The sums that explanations add up to.

        Of two classes the log-odds of the second, shape (n,). Of more the scores of all, shape
        (n, K): the difference of two is the log of the odds between these classes.

        Parameters
        ----------
        X : array-like of shape (n, p)
        offset : array-like of shape (n,), optional
            Added to the log-odds, as in ``fit``; for two classes only.
        """
        return self._sums(X, offset)

    def predict_proba(self, X: Any, offset: Any = None) -> FloatArray:
        """Probabilities of the classes, shape (n, K).

        Parameters
        ----------
        X : array-like of shape (n, p)
        offset : array-like of shape (n,), optional
            Added to the log-odds, as in ``fit``; for two classes only.

        Examples
        --------
        >>> import numpy as np
        >>> from seplearn import TSLClassifier, datasets
        >>> X, y = datasets.masked_interaction(300, random_state=0)
        >>> model = TSLClassifier(n_stages=1, early_stopping=False, random_state=0)
        >>> model = model.fit(X, y > 0, offset=np.ones(300))
        >>> model.predict_proba(X[:2], offset=np.ones(2)).shape
        (2, 2)
        """
        sums, link = self._sums(X, offset), self.model_.link
        if sums.ndim == 2:
            return class_shares(sums)
        # One minus the other would lose the digits of a small one.
        return np.column_stack([link.inverse(-sums), link.inverse(sums)])

    def predict_log_proba(self, X: Any, offset: Any = None) -> FloatArray:
        """Logs of the probabilities of the classes, shape (n, K), exact for small ones too.

        Parameters
        ----------
        X : array-like of shape (n, p)
        offset : array-like of shape (n,), optional
            Added to the log-odds, as in ``fit``; for two classes only.

        Examples
        --------
        >>> import numpy as np
        >>> from seplearn import TSLClassifier, datasets
        >>> X, y = datasets.masked_interaction(300, random_state=0)
        >>> model = TSLClassifier(n_stages=1, early_stopping=False, random_state=0).fit(X, y > 0)
        >>> bool(np.allclose(np.exp(model.predict_log_proba(X)), model.predict_proba(X)))
        True
        """
        sums = self._sums(X, offset)
        if sums.ndim == 1:
            return -np.column_stack([np.logaddexp(0.0, sums), np.logaddexp(0.0, -sums)])
        logs: FloatArray = sums - logsumexp(sums, axis=1, keepdims=True)
        return logs

    def for_class(self, label: Any, against: Any = None) -> ClassView:
        """What the model says of one of several classes, for explanations and for reading.

        Parameters
        ----------
        label : a label of ``classes_``
        against : another label of ``classes_``, optional
            Without it the view is of the score of the class. The score is the log of what the
            probability is proportional to, so that only differences of scores matter: a class may
            have a flat score and be likely where all others have low ones. With it the view is of
            the score of the class minus that of the other: the log of the odds of the one against
            the other, which says all by itself.

        Returns
        -------
        ClassView
            With ``decision_function``, ``predict_stages``, ``stages_`` and so on, of this one sum;
            every function of :mod:`seplearn.explain` takes it for a model.

        Examples
        --------
        >>> import numpy as np
        >>> from seplearn import TSLClassifier, datasets, explain
        >>> X, y = datasets.masked_interaction(300, random_state=0)
        >>> three = np.array(["low", "middle", "high"])[np.digitize(y, [-1.0, 1.0])]
        >>> model = TSLClassifier(n_stages=1, early_stopping=False, random_state=0).fit(X, three)
        >>> high = model.for_class("high", against="low")
        >>> shares = explain.shapley(high, X[:5])
        >>> total = shares.base + shares.values.sum(axis=1)
        >>> log_odds = np.log(model.predict_proba(X[:5]))
        >>> bool(np.allclose(total, log_odds[:, 0] - log_odds[:, 1]))
        True
        """
        check_is_fitted(self)
        if not isinstance(self.model_, ClassModels):
            raise ValueError(
                "for_class is for more than two classes; two have one sum, the log-odds of "
                f"{self.classes_.tolist()[1]!r}, and explanations take the model itself"
            )
        k = self._number_of("label", label)
        owner = type(self).__name__
        name = str(self.classes_[k])
        if against is None:
            score = f"score of {brief(name)}"
            return ClassView(self.model_.models[k], self._schema, owner, score, score)
        j = self._number_of("against", against)
        if j == k:
            raise ValueError(f"against must be another class than label, got {label!r} for both")
        pair = f"of {brief(name)} against {brief(str(self.classes_[j]))}"
        model = replace(self.model_.difference(k, j), link=LOGIT)
        return ClassView(
            model, self._schema, owner, f"log-odds {pair}", f"probability {pair} alone"
        )

    def _number_of(self, argument: str, label: Any) -> int:
        labels = self.classes_.tolist()
        if not np.isscalar(label) or label not in labels:
            raise ValueError(
                f"{argument} must be one of the classes {labels}, got {label!r}"
                f"{did_you_mean(label, labels)}"
            )
        return int(labels.index(label))

    def evaluate(  # type: ignore[override]
        self, X: Any, y: Any, sample_weight: Any = None, *, offset: Any = None, keep: bool = False
    ) -> Evaluation | ClassEvaluation:
        """Errors and calibration of the probabilities.

        Of two classes, of the probability of the second. ``scores`` has the log-loss, the Brier
        score, the area under the ROC curve and the accuracy. An outcome is 1 for the second class
        and 0 for the first: ``predicted`` and ``actual`` tell how often the second class occurs
        where it is given some probability.

        Of more classes, the log-loss and the accuracy, and such an evaluation of the probability of
        every class in ``of_class``, where an outcome is 1 for this class and 0 for all others.

        Parameters
        ----------
        X : array-like of shape (n, p)
            Rows that the model was not fitted to; errors on training rows say little.
        y : array-like of shape (n,)
            Their classes; rows where it is missing are left out.
        sample_weight : array-like of shape (n,), optional
        offset : array-like of shape (n,), optional
            Added to the log-odds; for two classes only.
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
        check_is_fitted(self)
        if not isinstance(self.model_, ClassModels):
            return super().evaluate(X, y, sample_weight, offset=offset, keep=keep)
        self._check_offset(offset)
        rows = known_rows(X, self._outcomes(y), sample_weight)
        shares = class_shares(self.model_.predict(self._codes_of(rows.table)))
        names = [str(label) for label in self.classes_.tolist()]
        result = ClassEvaluation.of(rows.y, shares, rows.weight, classes=names)
        if keep:
            self.evaluation_ = result
        return result

    def _outcomes(self, y: Any) -> FloatArray:
        labels = labels_of(y, may_be_missing=True)
        known = np.array([not is_missing(label) for label in labels.tolist()], dtype=bool)
        numbers = np.full(len(labels), np.nan)
        numbers[known] = numbers_of(labels[known], self.classes_)
        return numbers

    def _check_offset(self, offset: Any) -> None:
        check_class_offset(offset, len(self.classes_))

    def predict(self, X: Any, offset: Any = None) -> NDArray[Any]:
        """The class that is most likely, shape (n,).

        Parameters
        ----------
        X : array-like of shape (n, p)
        offset : array-like of shape (n,), optional
            Added to the log-odds, as in ``fit``; for two classes only.
        """
        sums = self._sums(X, offset)
        likely = sums.argmax(axis=1) if sums.ndim == 2 else (sums > 0.0).astype(np.int64)
        labels: NDArray[Any] = self.classes_[likely]
        return labels

    def score(self, X: Any, y: Any, sample_weight: Any = None, *, offset: Any = None) -> float:
        """The share of the rows whose class is predicted: what searches compare by default.

        Parameters
        ----------
        X : array-like of shape (n, p)
        y : array-like of shape (n,)
        sample_weight : array-like of shape (n,), optional
        offset : array-like of shape (n,), optional
            As in ``predict``. A search hands it on after ``set_score_request(offset=True)``.
        """
        from sklearn.metrics import accuracy_score  # 65 ms, spared whoever only predicts

        if y is None:
            raise ValueError(NO_OUTCOMES)
        if are_missing(np.asarray(read_target(y), dtype=object).ravel()).any():
            raise ValueError("y must not have missing labels; evaluate leaves such rows out")
        predictions = self.predict(X, offset)
        self._warn_without_offset(offset)
        return float(accuracy_score(y, predictions, sample_weight=sample_weight))
