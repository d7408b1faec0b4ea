"""The scikit-learn estimator: validate, hand over, store."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
from joblib import effective_n_jobs
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.utils import check_random_state
from sklearn.utils.validation import _check_sample_weight, check_is_fitted, validate_data
from tqdm.auto import tqdm

from seplearn._params import TSL_PARAMETERS, check_parameters, documented, from_paper_names
from seplearn.fitting.options import FitOptions, TrainingData
from seplearn.fitting.stagewise import OnStage, StageRecord, fit_stagewise
from seplearn.fitting.workers import ThreadWorkers
from seplearn.kernels.arrays import CodeArray, FloatArray
from seplearn.model.stage import Stage
from seplearn.table.binning import bin_table


@documented(TSL_PARAMETERS)
class TSLRegressor(RegressorMixin, BaseEstimator):
    """Tensor Separation Learning: a sum of stages, each a difference of two positive products.

    The model is ``m(x) = c + sum_l (lambda_plus prod_j a_plus_j(x_j) - lambda_minus prod_j
    a_minus_j(x_j))`` with step curves ``a > 0``. Stages are fitted one after the other to the
    residuals, each as the average of bagged grids, and after each stage all lambda are refitted
    together.

    Parameters
    ----------
    {parameters}

    Attributes
    ----------
    stages_ : tuple of Stage
        The fitted stages, in the unit of y.
    intercept_ : float
        The constant c.
    history_ : list of StageRecord
        Per stage: training loss, grids kept, actions per grid, all scalars, seconds.
    model_ : SeparationModel
        Bins, constant and stages together.
    n_features_in_ : int
        Number of features seen by ``fit``.
    feature_names_in_ : array of str
        Names of the features, when ``fit`` got a table with string names.

    Examples
    --------
    >>> from seplearn import TSLRegressor, datasets
    >>> X, y = datasets.masked_interaction(2000, random_state=0)
    >>> model = TSLRegressor(n_stages=2, random_state=0).fit(X, y)
    >>> model.predict(X[:3]).shape
    (3,)
    >>> stage = model.stages_[0]
    >>> stage.lambda_plus > 0 and stage.lambda_minus > 0
    True
    """

    def __init__(
        self,
        n_stages: int = 10,
        *,
        n_grids: int = 20,
        n_splits: int = 60,
        decay: float = 0.7,
        split_try: int = 10,
        colsample: float = 0.8,
        min_interval_samples: int = 5,
        min_gain: float = 0.0,
        ridge: float = 1e-3,
        update_clamp: float = 0.7,
        anchor: str = "medoid",
        trim: float = 0.25,
        bootstrap: bool = True,
        loss: str = "squared_error",
        products: str = "difference",
        scalars: str = "nnls",
        fit_intercept: bool = True,
        max_bins: int = 255,
        random_state: int | np.random.RandomState | None = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.n_stages = n_stages
        self.n_grids = n_grids
        self.n_splits = n_splits
        self.decay = decay
        self.split_try = split_try
        self.colsample = colsample
        self.min_interval_samples = min_interval_samples
        self.min_gain = min_gain
        self.ridge = ridge
        self.update_clamp = update_clamp
        self.anchor = anchor
        self.trim = trim
        self.bootstrap = bootstrap
        self.loss = loss
        self.products = products
        self.scalars = scalars
        self.fit_intercept = fit_intercept
        self.max_bins = max_bins
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    @classmethod
    def paper(cls, n_stages: int = 2, **overrides: Any) -> TSLRegressor:
        """The estimator of the paper: its scalars, no constant, 200 grids (500 above 2 stages).

        What the paper tunes is set to a middle of its search space; give your own values as
        ``overrides``, in our names or the paper's.

        ======================  ========================  ==========================================
        paper                   here                      difference
        ======================  ========================  ==========================================
        epochs                  n_stages
        n_trees                 n_grids
        n_iter                  n_splits                  resplits do not count
        decay                   decay
        split_try               split_try
        colsample_bytree        colsample                 drawn anew at each step
        min_interval_samples    min_interval_samples
        min_split_loss          min_gain                  a share of the total sum of squares
        alpha                   ridge                     alpha divided by the variance of y
        update_clamp            update_clamp              never beyond [1/20, 20]
        similarity_threshold    trim
        bagged                  bootstrap
        refinement_strategy     loss                      l2 is "squared_error"; Huber's threshold
                                                          is relative to a robust scale
        max_bins                max_bins
        seed                    random_state
        ======================  ========================  ==========================================

        Examples
        --------
        >>> TSLRegressor.paper(epochs=2, n_iter=64, refinement_strategy="l2").n_splits
        64
        """
        overrides = from_paper_names(TSL_PARAMETERS, overrides)
        n_stages = overrides.pop("n_stages", n_stages)
        settings: dict[str, Any] = {
            "n_grids": 200 if n_stages <= 2 else 500,
            "n_splits": 60,
            "decay": 0.7,
            "colsample": 0.65,
            "min_interval_samples": 20,
            "ridge": 1e-3,
            "update_clamp": 5.0,
            "trim": 0.5,
            "scalars": "ols",
            "fit_intercept": False,
        }
        return cls(n_stages, **(settings | overrides))

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> TSLRegressor:
        """Fit the model.

        Parameters
        ----------
        X : array-like of shape (n, p)
            Finite numbers.
        y : array-like of shape (n,)
            Finite numbers.
        sample_weight : array-like of shape (n,), optional
            Non-negative weights; every sum over rows is weighted by them. A row of weight zero
            counts as absent.

        Returns
        -------
        TSLRegressor
            The fitted estimator itself.
        """
        with _restored_on_failure(self):
            self._fit(X, y, sample_weight)
        return self

    def _fit(self, X: Any, y: Any, sample_weight: Any) -> None:
        check_parameters(TSL_PARAMETERS, self.get_params(deep=False))
        X, y = validate_data(self, X, y, y_numeric=True, dtype=[np.float64, np.float32])
        if sample_weight is not None and not np.any(sample_weight):
            raise ValueError("sample_weight must have a positive sum, got zeros only")
        weight = _check_sample_weight(sample_weight, X, dtype=np.float64, ensure_non_negative=True)
        y = y.astype(np.float64, copy=False)
        if not weight.all():
            X, y, weight = X[weight > 0], y[weight > 0], weight[weight > 0]
        scale = _target_scale(y, weight)
        with (
            ThreadWorkers(effective_n_jobs(self.n_jobs)) as workers,
            _progress(self.n_stages, bool(self.verbose)) as on_stage,
        ):
            bins, codes = bin_table(X, weight, self.max_bins, workers.map)
            data = TrainingData(bins, codes, y / scale, weight)
            seed = np.random.SeedSequence(check_random_state(self.random_state).randint(2**31))
            model, records = fit_stagewise(data, self._options(), seed, workers, on_stage)
        self.model_ = model.scaled(scale)
        self.history_ = [record.scaled(scale) for record in records]

    def _options(self) -> FitOptions:
        names = FitOptions.__dataclass_fields__
        return FitOptions(**{name: getattr(self, name) for name in names})

    @property
    def stages_(self) -> tuple[Stage, ...]:
        check_is_fitted(self)
        return self.model_.stages

    @property
    def intercept_(self) -> float:
        check_is_fitted(self)
        return self.model_.intercept

    def predict(self, X: Any) -> FloatArray:
        """Predicted target, shape (n,): the intercept plus the contributions of all stages.

        Parameters
        ----------
        X : array-like of shape (n, p)
        """
        codes = self._codes(X)
        return self.model_.predict(codes)

    def predict_stages(self, X: Any) -> FloatArray:
        """Contribution of every stage, shape (n, n_stages).

        Their sum over stages plus ``intercept_`` is the prediction.

        Parameters
        ----------
        X : array-like of shape (n, p)
        """
        codes = self._codes(X)
        return self.model_.contributions(codes)

    def staged_predict(self, X: Any) -> Iterator[FloatArray]:
        """Prediction of the model as it stood after each stage.

        The r-th is the projection of y onto the products of the first r stages: the r-th
        approximant of orthogonal greedy approximation, with the scalars of that moment.

        Parameters
        ----------
        X : array-like of shape (n, p)
        """
        codes = self._codes(X)
        for record in self.history_:
            yield self.model_.with_scalars(record.scalars, record.intercept).predict(codes)

    def _codes(self, X: Any) -> CodeArray:
        check_is_fitted(self)
        X = validate_data(self, X, reset=False, dtype=[np.float64, np.float32])
        return self.model_.bins.codes(X)


def _target_scale(y: FloatArray, weight: FloatArray) -> float:
    """The weighted standard deviation of y; for a constant y its size, for zeros one."""
    mean = float(np.average(y, weights=weight))
    deviation = float(np.sqrt(np.average((y - mean) ** 2, weights=weight)))
    if deviation > 1e-14 * abs(mean):
        return deviation
    return abs(mean) or 1.0


@contextmanager
def _restored_on_failure(estimator: TSLRegressor) -> Iterator[None]:
    """A fit that fails or is interrupted leaves the estimator as it was, fitted or not."""
    before = dict(estimator.__dict__)
    try:
        yield
    except BaseException:
        estimator.__dict__ = before
        raise


@contextmanager
def _progress(n_stages: int, shown: bool) -> Iterator[OnStage]:
    """A bar over the stages with the share of the target's variance left in the residuals."""
    with tqdm(total=n_stages, desc="TSL stages", disable=not shown, leave=True) as bar:

        def on_stage(record: StageRecord) -> None:
            bar.set_postfix_str(f"loss {record.loss:.4g}", refresh=False)
            bar.update()

        yield on_stage
