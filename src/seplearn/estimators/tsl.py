"""TSLRegressor: validates what it is given, has the model fitted, and stores it."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from seplearn._params import (
    TSL_PARAMETERS,
    TSLParameters,
    check_parameters,
    documented,
)
from seplearn._spill import Spill
from seplearn.estimators.base import SeparationRegressor
from seplearn.estimators.files import FeatureRows, Roles, read_outcomes, stored_rows
from seplearn.estimators.fitted import restored_on_failure
from seplearn.estimators.paper import from_paper_names, paper_settings
from seplearn.estimators.rows import Asked, check_callback, checked_options, fit_data, fit_rows
from seplearn.fitting.progress import Callback
from seplearn.kernels.arrays import FloatArray
from seplearn.losses import LOSSES, Loss
from seplearn.model.provenance import Provenance
from seplearn.table.blocks import ends
from seplearn.table.columns import target_name
from seplearn.table.files import open_files
from seplearn.table.schema import Schema
from seplearn.table.training import (
    NO_OUTCOMES,
    EvalRows,
    eval_rows,
    total_weight,
    training_rows,
    warn_of_target,
)


@documented(TSL_PARAMETERS)
@dataclass(eq=False, repr=False)  # once more, so that messages about arguments have this name
class TSLRegressor(TSLParameters, SeparationRegressor):
    """Tensor Separation Learning: a sum of stages, each a difference of two positive products.

    The model is ``m(x) = c + sum_l (lambda_plus prod_j a_plus_j(x_j) - lambda_minus prod_j
    a_minus_j(x_j))`` with step curves ``a > 0``, and beside them, for features that act by
    themselves (``main_effects``), curves ``g_j(x_j)`` that are simply added. A new stage is the
    average of a few bagged grids on the residuals; then the curves of all stages are optimised
    together, each as smooth as the data say. A curve that says nothing is made exactly flat. The
    number of stages is chosen on rows held out.

    Parameters
    ----------
    {parameters}

    Attributes
    ----------
    stages_ : tuple of Stage
        The fitted stages, in the unit of y.
    stage_names_ : tuple of str
        A name per stage: the features it depends on, the one that moves it most first, such as
        "hour × workingday". Of more than three features two are named.
    reading_size_ : int
        Number of curves that are not exactly flat: what there is to read. Of every stage and
        feature a backbone and a tilt (factors, where there are none), and main effects.
    turning_points_ : array of int
        How often each of these curves changes its direction, those over levels left out.
    intercept_ : float
        The constant c.
    history_ : list of StageRecord
        Per stage that was grown: training and validation loss, cancellation index, grids kept,
        actions per grid, all scalars, seconds. The last one tells of the model as it is, the
        others of the fit on its way there. With several starts, those of the first come first.
    size_paths_ : tuple of SizePath
        How well models of growing size predicted rows held out, by which the number of stages was
        chosen; see :func:`seplearn.explain.size_path`.
    edits_ : tuple of EditRecord
        What was changed after the fit, by :meth:`edit`, in this order; empty if nothing was.
    provenance_ : Provenance or None
        Rows and versions of the fit, and what the caller adds: it is saved with the model.
    evaluation_ : Evaluation or None
        What :meth:`evaluate` found with ``keep=True``: it is saved with the model.
    model_ : SeparationModel
        Bins, constant and stages together.
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
    >>> from seplearn import TSLRegressor, datasets
    >>> X, y = datasets.masked_interaction(2000, random_state=0)
    >>> model = TSLRegressor(n_stages=2, random_state=0).fit(X, y)
    >>> model.score(X, y) > 0.95
    True
    >>> stage = model.stages_[0]
    >>> stage.lambda_plus > 0 and stage.lambda_minus > 0
    True
    """

    _kind = "TSLRegressor"
    _parameters = TSL_PARAMETERS

    @property
    def _asked_loss(self) -> Loss:
        return _loss_of(self.get_params(deep=False))

    @property
    def _loss(self) -> Loss:
        return _loss_of(self._loss_parameters)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.positive_only = self.loss in ("poisson", "gamma", "tweedie")
        return tags

    @classmethod
    def paper(cls, n_stages: int | None = None, **overrides: Any) -> Self:
        """The estimator of the paper: its scalars, no constant, 200 grids (500 above 2 stages).

        It is for numbers: ``loss`` may be "squared_error" or "huber", and any other is refused by
        ``fit``, as is an offset. What the paper tunes is set to the middle of its search space;
        give your own values as ``overrides``, in our names or the paper's. ``n_stages`` is 2 unless
        given.

        ======================  ========================  ==========================================
        paper                   here                      difference
        ======================  ========================  ==========================================
        epochs                  n_stages
        n_trees                 n_grids
        n_iter                  n_splits                  resplits do not count
        decay                   decay
        split_try               split_try                 per feature, as in the paper's table of
                                                          parameters; its listing says per interval
        colsample_bytree        colsample                 drawn anew at each step; tensorsl 0.6
                                                          calls it colsample_bysplit
        min_interval_samples    min_interval_samples
        min_split_loss          min_gain                  a share of the total sum of squares
        alpha                   ridge                     alpha divided by the variance of y
        update_clamp            update_clamp              never beyond [1/20, 20]
        similarity_threshold    trim                      measured from the medoid of the grids;
                                                          ``anchor="centroid"`` is the printed rule
        bagged                  bootstrap
        refinement_strategy     loss                      l2 is "squared_error"; Huber's threshold
                                                          is relative to a robust scale
        max_bins                max_bins
        seed                    random_state
        ======================  ========================  ==========================================

        Where the paper is silent or its unit of y would matter: y is divided by its standard
        deviation; a positive-only stage starts at the mean residual, and there is a negative-only
        stage too; 1e-9 of the stage's energy is added to the ridge; the scalars of a single grid
        are refitted under the same clamp as a split; bins have extra cuts in the tails; a fit ends
        early when no grid of a stage finds a step.

        Examples
        --------
        >>> TSLRegressor.paper(epochs=2, n_iter=64, refinement_strategy="l2").n_splits
        64
        """
        overrides = from_paper_names(overrides)
        if n_stages is None:
            n_stages = overrides.pop("n_stages", 2)
        elif "n_stages" in overrides:
            raise TypeError("n_stages is given twice, once as 'epochs'")
        return cls(n_stages, **(paper_settings(n_stages) | overrides))

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
            Numbers, and levels (see ``categorical_features``); either may be missing. An infinite
            number falls into the first or last bin of its column.
        y : array-like of shape (n,), Series or one-column table
            Finite numbers; counts must not be negative, amounts (``loss="gamma"``) be positive.
        sample_weight : array-like of shape (n,), optional
            Non-negative; a row of weight 0 is left out. Weights say what rows count beside each
            other: all together count for the effective number of rows, (sum w)^2 / sum w^2, or,
            with a mean from 0.5 to 1, for their sum if it is less. A weight of 2 beside others of 1
            is the same as having the row twice, on the same bins: copies of a row tell nothing new
            either. But where equal rows were seen more than once, as combinations of levels or
            visits to the same places are, whole numbers with a mean of at most 10 (for the cells of
            a contingency table of any mean) are numbers of rows, each of which tells something; and
            so they are with ``loss="poisson"`` where ``y`` are means of as many counts. Bins do not
            depend on weights.
        eval_set : pair (X, y), optional
            Rows on which the number of stages is chosen, instead of rows held out of ``X``; with
            offsets (X, y, offset).
        groups : array-like of shape (n,), optional
            Rows of one group are held out together when the number of stages is chosen: give it
            when rows of a group are alike (a patient, a building, a day).
        offset : array-like of shape (n,), optional
            Added to the sum of the curves, and not learned. With a log link the log of an exposure
            (years insured, population): the curves then tell of rates.
        callback : callable, optional
            Called as ``callback(stage, record)`` after each new :class:`Stage` of the first of
            the models that grow side by side, with its :class:`StageRecord`; with
            ``main_effects='auto'`` once for each form of the model. If it returns True no more
            stages are grown, and the size is chosen among those that were.

        Returns
        -------
        TSLRegressor
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
        check_parameters(TSL_PARAMETERS, self.get_params(deep=False))
        check_callback(callback)
        rows = training_rows(X, y, sample_weight, groups, offset)
        loss = self._asked_loss
        loss.check_target(rows.y)
        warn_of_target(rows.table, y)
        schema = Schema.of(rows.table, target_name(y))
        asked = Asked(eval_set, groups, offset)
        held_out = number_eval_rows(eval_set, schema, loss, offset is not None)
        provenance = Provenance.of_fit(len(rows.y), total_weight(rows.weight), offset is not None)
        parameters = self._plain_parameters()
        start = self._start(schema, loss, offset is not None)
        model, history = fit_rows(rows, parameters, asked, held_out, callback, start)
        self._store_fit(start, schema, model, history, provenance)

    def fit_files(
        self,
        files: Any,
        target: str,
        *,
        sample_weight: str | None = None,
        offset: str | None = None,
        exposure: str | None = None,
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
        exposure : str, optional
            A column of positive numbers whose log is the offset: years insured, population. For
            losses with a log link.
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
        TSLRegressor
            The fitted estimator itself.

        Examples
        --------
        >>> import pathlib, tempfile
        >>> from seplearn import TSLRegressor, datasets
        >>> X, y = datasets.rents(600, random_state=0)
        >>> table = X.assign(rent=y)
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     for k in range(3):
        ...         path = pathlib.Path(folder) / f"part-{k}.parquet"
        ...         table[200 * k : 200 * (k + 1)].to_parquet(path)
        ...     model = TSLRegressor(n_stages=1, random_state=0)
        ...     model = model.fit_files(f"{folder}/part-*.parquet", target="rent")
        >>> same = TSLRegressor(n_stages=1, random_state=0).fit(X, table["rent"])
        >>> bool((model.predict(X) == same.predict(X)).all())
        True
        """
        roles = Roles(target, sample_weight, offset, features, groups, exposure)
        with restored_on_failure(self), Spill(temporary_folder) as spill:
            self._fit_files(files, roles, eval_set, callback, spill)
        return self

    def _fit_files(
        self, files: Any, roles: Roles, eval_set: Any, callback: Callback | None, spill: Spill
    ) -> None:
        check_parameters(TSL_PARAMETERS, self.get_params(deep=False))
        check_callback(callback)
        rows, loss = open_files(files, spill.path), self._asked_loss
        columns = FeatureRows(rows, roles.check(rows))
        schema = columns.schema(roles)
        roles.check_exposure(loss, self.loss)
        asked = Asked(eval_set, roles.groups, roles.offset_column)
        held_out = number_eval_rows(eval_set, schema, loss, roles.offset_column is not None)
        start = self._start(schema, loss, roles.offset_column is not None)
        parameters = self._plain_parameters()
        options, categorical = checked_options(columns.head, parameters, asked, start)
        outcomes = columns.used(read_outcomes(rows, roles, spill, classes=False), spill)
        _check_column(loss, roles.target, outcomes.y)
        unit = loss.unit(outcomes.y, outcomes.weight, options.fit_intercept)
        model, history = fit_data(
            lambda _: stored_rows(columns, outcomes, categorical, options, unit, spill),
            options, unit, held_out, outcomes.numbered_groups(), callback,
            has_exposure=roles.exposure is not None,
        )  # fmt: skip
        provenance = Provenance.of_fit(
            len(outcomes.y), total_weight(outcomes.weight), outcomes.offset is not None
        )
        self._store_fit(start, schema, model, history, provenance)

    def predict(self, X: Any, offset: Any = None) -> FloatArray:
        """Predicted target, shape (n,): the intercept plus main effects and all stages.

        With a loss that has a log link (``poisson``, ``gamma``, ``tweedie``) that sum is the log of
        the prediction.

        Parameters
        ----------
        X : array-like of shape (n, p)
        offset : array-like of shape (n,), optional
            Added to the sum, as in ``fit``.
        """
        sums = self._sums(X, offset)
        prediction: FloatArray = self.model_.link.inverse(sums)
        return prediction

    def score(self, X: Any, y: Any, sample_weight: Any = None, *, offset: Any = None) -> float:
        """R², the share of the variance of y that is explained: what searches compare by default.

        It is so for every ``loss``; :meth:`evaluate` has the scores that suit each.

        Parameters
        ----------
        X : array-like of shape (n, p)
        y : array-like of shape (n,)
        sample_weight : array-like of shape (n,), optional
        offset : array-like of shape (n,), optional
            As in ``predict``. A search hands it on after ``set_score_request(offset=True)``.

        Examples
        --------
        >>> import numpy as np
        >>> from seplearn import TSLRegressor, datasets
        >>> X, claims, years, *_ = datasets.claims(1000, random_state=0)
        >>> model = TSLRegressor(n_stages=1, loss="poisson", early_stopping=False, random_state=0)
        >>> model = model.fit(X, claims, offset=np.log(years))
        >>> years_as_one = model.score(X, claims, offset=np.zeros(1000))
        >>> model.score(X, claims, offset=np.log(years)) > years_as_one
        True
        """
        from sklearn.metrics import r2_score  # 65 ms, spared whoever only predicts

        if y is None:
            raise ValueError(NO_OUTCOMES)
        predictions = self.predict(X, offset)
        self._warn_without_offset(offset)
        return float(r2_score(y, predictions, sample_weight=sample_weight))

    def predict_sum(self, X: Any, offset: Any = None) -> FloatArray:
        """The sum itself, shape (n,): what explanations add up to.

        It is the prediction, or its log with a loss that has a log link.

        Parameters
        ----------
        X : array-like of shape (n, p)
        offset : array-like of shape (n,), optional

        Examples
        --------
        >>> import numpy as np
        >>> from seplearn import TSLRegressor, datasets
        >>> X, y = datasets.rents(300, random_state=0)
        >>> model = TSLRegressor(n_stages=1, loss="gamma", random_state=0).fit(X, y)
        >>> bool(np.allclose(np.exp(model.predict_sum(X)), model.predict(X)))
        True
        """
        return self._sums(X, offset)

    def staged_predict(self, X: Any) -> Iterator[FloatArray]:
        """Prediction of the model as it was after each stage; needs ``refine="scalars"``.

        Joint refinement changes earlier stages with each new one, so there is no such model: fit
        one with fewer stages instead.

        The r-th is y projected onto the products of the first r stages (onto their non-negative
        combinations with ``scalars="nnls"``): the r-th approximant of orthogonal greedy
        approximation, with the scalars of that moment.

        Parameters
        ----------
        X : array-like of shape (n, p)

        Examples
        --------
        >>> from seplearn import TSLRegressor, datasets
        >>> X, y = datasets.masked_interaction(500, random_state=0)
        >>> model = TSLRegressor.paper(2, n_grids=10, random_state=0).fit(X, y)
        >>> first, second = model.staged_predict(X)
        >>> bool(abs(second - model.predict(X)).max() < 1e-9)
        True
        """
        codes = self._codes(X)
        # With refine='scalars' a record has the scalars of all stages so far, and no cancellation.
        stagewise = all(record.cancellation is None for record in self.history_)
        stagewise &= self.model_.effects is None and not self.model_.edits
        if not stagewise or len(self.history_) != len(self.stages_):
            raise ValueError(
                "staged_predict needs a fit with refine='scalars' as it was, with all its stages: "
                "joint refinement changes earlier stages with each new one. predict_stages(X) has "
                "the contribution of every stage"
            )
        models = (self.model_.with_scalars(r.scalars, r.intercept) for r in self.history_)
        return (model.predict(codes) for model in models)


def _check_column(loss: Loss, target: str, y: FloatArray) -> None:
    """Raise for a column that holds outcomes the loss is not defined for."""
    try:
        loss.check_target(np.array(ends(y)))
    except ValueError as error:
        raise ValueError(f"column {target!r}: {error}") from error


def number_eval_rows(
    eval_set: Any, schema: Schema, loss: Loss, with_offset: bool
) -> EvalRows | None:
    """The rows of an ``eval_set``, if there is one; they must have outcomes that the loss takes."""
    if eval_set is None:
        return None
    rows = eval_rows(eval_set, schema, with_offset)
    try:
        loss.check_domain(rows.y)
    except ValueError as error:
        raise ValueError(f"eval_set: {error}") from error
    return rows


def _loss_of(parameters: dict[str, Any]) -> Loss:
    shape = float(parameters["power"]), float(parameters["quantile"])
    return LOSSES[parameters["loss"]].with_shape(*shape)
