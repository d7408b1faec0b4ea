"""A fit leaves a model behind: what it says of itself, and its predictions."""

from __future__ import annotations

import numbers
import textwrap
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, ClassVar

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from seplearn._errors import warn
from seplearn._params import Parameter
from seplearn._rules import check_level
from seplearn.explain.summary import summary
from seplearn.kernels.arrays import CodeArray, FloatArray, IntArray
from seplearn.losses import SHAPES, Loss, SquaredError
from seplearn.model.classes import ClassModels, Model
from seplearn.model.model import SeparationModel
from seplearn.model.provenance import Provenance
from seplearn.model.record import EditRecord, SizePath, StageRecord
from seplearn.table.columns import Table, open_table
from seplearn.table.schema import OffsetColumn, Schema
from seplearn.table.training import read_offset

_WIDTH = 79  # as scikit-learn has it
_MOST_TOLD = 100  # features: with more, a notebook would wait for the summary


class FittedModel(BaseEstimator):
    """An estimator whose fit leaves a model in ``model_``, with what that says and predicts."""

    _kind: ClassVar[str]  # its name in model files
    _parameters: ClassVar[tuple[Parameter, ...]]
    _library: str | None  # whose data frames explanations answer in
    model_: Any  # a SeparationModel, or ClassModels of more than two classes
    target_name_: str | None
    offset_column_: OffsetColumn | None
    missing_texts_: tuple[str, ...]
    evaluation_: Any  # an Evaluation or None; ClassEvaluation of more than two classes
    fit_intercept: bool
    provenance_: Provenance | None

    def _store(
        self,
        schema: Schema,
        model: Model,
        history: list[StageRecord],
        provenance: Provenance | None = None,
    ) -> None:
        self.model_ = model
        self.history_ = history
        self.n_features_in_ = schema.n_features
        if schema.names is not None:
            self.feature_names_in_ = np.array(schema.names, dtype=object)
        elif hasattr(self, "feature_names_in_"):
            del self.feature_names_in_
        self._library, self._integer_labels = schema.library, schema.integer_labels
        self.target_name_ = schema.target
        self.offset_column_, self.missing_texts_ = schema.offset, schema.missing_texts
        self.evaluation_ = None
        self.provenance_ = provenance
        parameters = self.get_params(deep=False)
        self._fitted_loss = {
            name: parameters[name] for name in ("loss", *SHAPES) if name in parameters
        }

    def _plain_parameters(self) -> dict[str, Any]:
        """All parameters, numbers of any kind as int or float, which is what kernels know."""
        return {name: _plain(value) for name, value in self.get_params(deep=False).items()}

    @property
    def _asked_loss(self) -> Loss:
        """What the next fit minimises."""
        return SquaredError()

    @property
    def _loss(self) -> Loss:
        """What the model was fitted to minimise, and is scored by."""
        return self._asked_loss

    @property
    def _loss_parameters(self) -> dict[str, Any]:
        """Parameters as they are, those of the loss as they were when the model was fitted."""
        own: dict[str, Any] = self.get_params(deep=False)
        fitted: dict[str, Any] = self.__dict__.get("_fitted_loss", {})
        return own | fitted

    @property
    def _aim(self) -> str:
        """What of the target is predicted, where that is not its mean."""
        parameters = self._loss_parameters
        is_quantile = parameters.get("loss") == "quantile"
        return f"the {parameters['quantile']:g} quantile of " if is_quantile else ""

    @property
    def _loss_in_words(self) -> str:
        """The loss of the fit, with its shape where it has one."""
        parameters = self._loss_parameters
        if hasattr(self, "classes_"):
            return "log-loss"
        name = str(parameters.get("loss", "squared_error"))
        shape = [f" ({one}={parameters[one]})" for one, loss in SHAPES.items() if loss == name]
        return name + "".join(shape)

    def _outcomes(self, y: Any) -> Any:
        """A target as the numbers that the loss takes, NaN where it is not known."""
        return y

    @property
    def _schema(self) -> Schema:
        names = getattr(self, "feature_names_in_", None)
        library = getattr(self, "_library", None)
        labels = getattr(self, "_integer_labels", None)
        features = None if names is None else tuple(names)
        offset = getattr(self, "offset_column_", None)
        missing = getattr(self, "missing_texts_", ())
        return Schema(
            self.n_features_in_, features, library, self.target_name_, labels, offset, missing
        )

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        return tags

    def _html_repr(self) -> str:
        """What a notebook shows: the parameters, and of a fitted model what it says."""
        parameters = str(super()._html_repr())
        fitted = getattr(self, "model_", None)
        if not isinstance(fitted, SeparationModel | ClassModels):
            return parameters
        if fitted.reference is None or fitted.bins.n_axes > _MOST_TOLD or fitted.is_constant:
            return parameters
        return f"<div>{parameters}{summary(self).brief_html()}</div>"

    @property
    def stages_(self) -> Any:
        check_is_fitted(self)
        return self.model_.stages

    @property
    def stage_names_(self) -> Any:
        check_is_fitted(self)
        return self.model_.stage_names(self._schema.labels)

    @property
    def intercept_(self) -> Any:
        check_is_fitted(self)
        return self.model_.intercept

    @property
    def size_paths_(self) -> tuple[SizePath, ...]:
        check_is_fitted(self)
        paths: tuple[SizePath, ...] = self.model_.size_paths
        return paths

    @property
    def edits_(self) -> tuple[EditRecord, ...]:
        check_is_fitted(self)
        edits: tuple[EditRecord, ...] = self.model_.edits
        return edits

    def __repr__(self, N_CHAR_MAX: int = 700) -> str:
        """The parameters, and below them what was changed after the fit."""
        parameters = super().__repr__(N_CHAR_MAX)
        margin = " " * (len(type(self).__name__) + 1)
        wrapper = textwrap.TextWrapper(
            _WIDTH, subsequent_indent=margin, break_long_words=False, break_on_hyphens=False
        )
        lines = [wrapper.fill(parameters)]
        edits = self.model_.edits if "model_" in self.__dict__ else ()
        lines += [f"# edit {number}: {record}" for number, record in enumerate(edits, 1)]
        return "\n".join(lines)

    @property
    def reading_size_(self) -> int:
        check_is_fitted(self)
        return int(self.model_.reading_size)

    @property
    def turning_points_(self) -> IntArray:
        check_is_fitted(self)
        counts: IntArray = self.model_.turning_points
        return counts

    def predict(self, X: Any) -> FloatArray:
        """Predicted target, shape (n,): the intercept plus main effects and all stages.

        Parameters
        ----------
        X : array-like of shape (n, p)
        """
        sums = self._sums(X)
        prediction: FloatArray = self.model_.link.inverse(sums)
        return prediction

    def _sums(self, X: Any, offset: Any = None) -> FloatArray:
        """The sums of intercept, main effects, stages and offsets: what a link takes."""
        codes = self._codes(X)
        sums: FloatArray = self.model_.predict(codes)
        added = self._read_offset(offset, len(codes))
        return sums if added is None else sums + added

    def _check_offset(self, offset: Any) -> None:
        """Raise where one is given to a model whose sums can have none."""

    def _read_offset(self, offset: Any, n_rows: int) -> FloatArray | None:
        """What is added to the sum of every row, if anything is."""
        self._check_offset(offset)
        return read_offset(offset, n_rows)

    @property
    def _had_offsets(self) -> bool | None:
        """Whether rows of the fit, or of the fits of a merged model, had some; None: not known."""
        if self.provenance_ is not None:
            return self.provenance_.had_offsets
        merges = [edit for edit in self.model_.edits if edit.operation == "merge"]
        known: bool | None = merges[-1].arguments.get("had_offsets") if merges else None
        return known

    def _warn_without_offset(self, offset: Any) -> None:
        """Before outcomes are compared with predictions."""
        if offset is None and self._had_offsets:
            has_rates = self.model_.link.name == "log"
            warn(
                "the model was fitted with offsets and none are given: it is evaluated without "
                "them" + (", so with an exposure counts are compared with rates" * has_rates)
            )

    def _mean_interval(self, X: Any, level: float, offset: Any) -> FloatArray:
        """Central share of the bootstrap replicates' predictions: lower and upper end."""
        share = check_level(level)
        codes = self._codes(X)
        # A constant has no curves of replicates to keep, whatever they were.
        is_known = self.model_.is_constant and getattr(self, "n_bootstrap", 0)
        if not (is_known or self.model_.replicates):
            of_classes = hasattr(self, "classes_")
            asked = "" if of_classes else "(kind='mean')"
            others = "; how likely outcomes are, predict_proba says" if of_classes else ""
            raise ValueError(
                f"predict_interval{asked} needs bootstrap replicates: fit with n_bootstrap=100 "
                "(SepALSRegressor makes none; select_stages with rows given, the edits "
                "merge_stages and recalibrate, and merges of models with different numbers of them "
                f"leave none){others}"
            )
        ends: FloatArray = self.model_.interval(codes, share)
        added = self._read_offset(offset, len(codes))
        found: FloatArray = self.model_.link.inverse(
            ends if added is None else ends + added[:, None]
        )
        return found

    def predict_stages(self, X: Any) -> FloatArray:
        """Contribution of every stage, shape (n, n_stages).

        With ``intercept_``, and the main effects if there are any, they add up to the prediction.
        Of more than two classes the shape is (n, K, most stages of a class), with zeros where a
        class has fewer.

        Parameters
        ----------
        X : array-like of shape (n, p)

        Examples
        --------
        >>> from seplearn import TSLRegressor, datasets
        >>> X, y = datasets.masked_interaction(500, random_state=0)
        >>> model = TSLRegressor(n_stages=1, random_state=0).fit(X, y)
        >>> total = model.intercept_ + model.predict_stages(X).sum(axis=1)
        >>> bool(abs(total - model.predict(X)).max() < 1e-9)
        True
        """
        codes = self._codes(X)
        contributions: FloatArray = self.model_.contributions(codes)
        return contributions

    def predict_effects(self, X: Any) -> FloatArray:
        """Main effect of every feature, shape (n, p); zeros for a model without main effects.

        With ``intercept_`` and the contributions of all stages they add up to the prediction. Of
        more than two classes the shape is (n, K, p).

        Parameters
        ----------
        X : array-like of shape (n, p)

        Examples
        --------
        >>> from seplearn import TSLRegressor, datasets
        >>> X, y = datasets.rents(500, random_state=0)
        >>> model = TSLRegressor(n_stages=1, main_effects=True, random_state=0).fit(X, y)
        >>> parts = model.predict_effects(X).sum(axis=1) + model.predict_stages(X).sum(axis=1)
        >>> bool(abs(model.intercept_ + parts - model.predict(X)).max() < 1e-9)
        True
        """
        codes = self._codes(X)
        values: FloatArray = self.model_.effect_values(codes)
        return values

    def _codes(self, X: Any) -> CodeArray:
        check_is_fitted(self)
        return self._codes_of(open_table(X))

    def _codes_of(self, table: Table) -> CodeArray:
        columns = self._schema.columns_in(table, type(self).__name__)
        codes: CodeArray = self.model_.bins.codes(table, columns)
        return codes


def _plain(value: Any) -> Any:
    if isinstance(value, (bool, np.bool_)):
        return bool(value)
    if isinstance(value, numbers.Integral):
        return int(value)
    return float(value) if isinstance(value, numbers.Real) else value


@contextmanager
def restored_on_failure(estimator: Any) -> Iterator[None]:
    """A fit that fails or is interrupted leaves the estimator as it was, fitted or not."""
    before = dict(estimator.__dict__)
    try:
        yield
    except BaseException:
        estimator.__dict__ = before
        raise
