"""The paper's baseline as a scikit-learn estimator: separable functions by least squares."""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from seplearn._errors import out_of_range
from seplearn._params import SEPALS_PARAMETERS, SepALSParameters, check_parameters, documented
from seplearn._workers import ThreadWorkers, n_threads
from seplearn.estimators.base import SeparationRegressor
from seplearn.estimators.fitted import restored_on_failure
from seplearn.fitting.options import TrainingData
from seplearn.fitting.reference import reference_rows
from seplearn.fitting.sepals import fit_sepals
from seplearn.kernels.arrays import CodeArray
from seplearn.model.edit import scaled
from seplearn.model.model import SeparationModel
from seplearn.model.provenance import Provenance
from seplearn.model.reading import brief
from seplearn.model.record import StageRecord
from seplearn.model.stage import LARGEST_LOG
from seplearn.table.binning import bin_centres, bin_table
from seplearn.table.columns import target_name
from seplearn.table.schema import Schema, categorical_columns
from seplearn.table.training import TargetUnit, training_rows, warn_of_target


@documented(SEPALS_PARAMETERS)
@dataclass(eq=False, repr=False)  # once more, so that messages about arguments have this name
class SepALSRegressor(SepALSParameters, SeparationRegressor):
    """A sum of products of signed curves, fitted by alternating least squares.

    The model is ``m(x) = c + sum_l s_l prod_j g_lj(x_j)`` with factors of any sign, each a
    combination of tents or monomials. A sweep goes through the features: it fits the factors of
    one feature in all products by penalised least squares, then those of the next. After every
    sweep the scales are refitted.

    It is for numbers, by squared error only: it has no other loss, no link and no offset. Classes,
    counts and quantiles are for :class:`TSLClassifier` and :class:`TSLRegressor`.

    It is the baseline of the paper: very good on smooth functions, but a factor has no meaning of
    its own, because two of them may change their signs together. So :mod:`seplearn.explain` has its
    curves and partial dependence, but no backbone and no tilt.

    Curves are evaluated at the mean of the training values in each bin and constant within it.
    Levels and missing values have a factor each.

    Parameters
    ----------
    {parameters}

    Attributes
    ----------
    stages_ : tuple of Stage
        The products, each a stage of one signed branch, in the unit of y.
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
    n_sweeps_ : int
        Number of sweeps of the start that was kept.
    history_ : list of StageRecord
        One record, of the fit as a whole; its grids are the random starts.
    size_paths_ : tuple of SizePath
        Empty: no rows are held out.
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
    offset_column_ : None
        It takes no offsets.
    missing_texts_ : tuple of str
        Empty: the command line fits no such model. Missing values are NaN, None or NA.

    Examples
    --------
    >>> from seplearn import SepALSRegressor, datasets
    >>> X, y = datasets.masked_interaction(2000, random_state=0)
    >>> model = SepALSRegressor(rank=1, basis="monomial", degree=2, random_state=0).fit(X, y)
    >>> model.score(X, y) > 0.98
    True
    """

    _kind = "SepALSRegressor"
    _parameters = SEPALS_PARAMETERS

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Fit the model.

        Parameters
        ----------
        X : pandas, polars or pyarrow table, or array-like of shape (n, p)
            Numbers, and levels (see ``categorical_features``); either may be missing.
        y : array-like of shape (n,), Series or one-column table
            Finite numbers.
        sample_weight : array-like of shape (n,), optional
            Non-negative; see :meth:`TSLRegressor.fit`.

        Returns
        -------
        SepALSRegressor
            The fitted estimator itself.
        """
        with restored_on_failure(self):
            self._fit(X, y, sample_weight)
        return self

    def _fit(self, X: Any, y: Any, sample_weight: Any) -> None:
        check_parameters(SEPALS_PARAMETERS, self.get_params(deep=False))
        rows = training_rows(X, y, sample_weight)
        provenance = Provenance.of_fit(len(rows.y), float(rows.weight.sum()), had_offsets=False)
        warn_of_target(rows.table, y)
        schema = Schema.of(rows.table, target_name(y))
        categorical = categorical_columns(rows.table, self.categorical_features)
        unit = TargetUnit.of(rows.y, rows.weight, bool(self.fit_intercept))
        options = SepALSParameters(**self._plain_parameters())
        seed = np.random.SeedSequence(check_random_state(self.random_state).randint(2**31))
        started = time.perf_counter()
        with ThreadWorkers(n_threads(self.n_jobs)) as workers:
            bins, codes = bin_table(
                rows.table, rows.weight, categorical, int(self.max_bins), self.min_category_count,
                workers.map,
            )  # fmt: skip
            data = TrainingData(bins, codes, unit.measured(rows.y), rows.weight)
            centres = bin_centres(rows.table, bins, codes)
            model, loss, n_sweeps = fit_sepals(data, centres, options, seed, workers)
        model = replace(model, reference=reference_rows(data, int(self.background_size)))
        record = StageRecord(
            loss=loss,
            n_kept=1,
            n_grids=options.n_init,
            mean_actions=0.0,
            scalars=tuple((stage.lambda_plus, stage.lambda_minus) for stage in model.stages),
            intercept=model.intercept,
            seconds=time.perf_counter() - started,
            n_sweeps=n_sweeps,
        )
        to_y = (unit.scale, unit.origin)
        in_y = scaled(model, *to_y)
        _check_sizes(in_y, codes, float(np.abs(rows.y).max()))
        self._store(schema, in_y, [record.scaled(*to_y)], provenance)

    def _check_offset(self, offset: Any) -> None:
        if offset is not None:
            raise ValueError(
                f"offset must be None, as {self._kind} is fitted without, got {brief(offset)}"
            )

    @property
    def n_sweeps_(self) -> int:
        check_is_fitted(self)
        if not self.history_:
            raise AttributeError(
                "n_sweeps_ is of a fit: a model of select_stages or of merge has none"
            )
        record = self.history_[0]
        # Files of 0.1.0 have the number in the field for the steps of a grid.
        return int(record.mean_actions if record.n_sweeps is None else record.n_sweeps)


def _check_sizes(model: SeparationModel, codes: CodeArray, largest: float) -> None:
    """Raise where products that cancel are beyond all numbers, though the target is not."""
    for branch in (branch for stage in model.stages for branch in stage.active):
        logs = branch.log_sizes(codes, model.bins)
        if max(branch.log_scale, float(logs.max())) > LARGEST_LOG:
            rule = "small enough for the products that it is fitted by; give it in another unit"
            raise out_of_range("y", rule, largest)
