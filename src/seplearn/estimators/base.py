"""What all estimators of the package share: a fitted model that predicts and is saved."""

from __future__ import annotations

import copy
import math
import numbers
import os
import textwrap
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.utils.validation import check_is_fitted

from seplearn._errors import out_of_range, warn, wrong_type
from seplearn._params import Parameter, check_parameters
from seplearn._rules import Choice, Flag, check_level, is_real, is_whole
from seplearn.editing import Edit
from seplearn.editing.directions import directions_of
from seplearn.editing.edit import check_reason
from seplearn.explain.subject import Subject
from seplearn.explain.summary import summary
from seplearn.export.json import to_plain
from seplearn.export.onnx import PRECISIONS, to_onnx
from seplearn.export.scorecard import Scorecard, to_scorecard
from seplearn.export.source import LANGUAGES, to_source
from seplearn.export.sql import DIALECT_NAMES, to_sql
from seplearn.fitting.options import TrainingData
from seplearn.fitting.refit import refit_scalars
from seplearn.kernels.arrays import CodeArray, FloatArray, IntArray
from seplearn.losses import IDENTITY, SHAPES, Loss, SquaredError
from seplearn.model.classes import ClassModels, Model
from seplearn.model.edit import select_stages, with_edits
from seplearn.model.evaluation import Evaluation
from seplearn.model.format import StoredModel, write_file
from seplearn.model.model import SeparationModel
from seplearn.model.provenance import Provenance
from seplearn.model.record import EditRecord, SizePath, StageRecord
from seplearn.model.spread import OutcomeSpread
from seplearn.table.columns import Table, open_table
from seplearn.table.schema import OffsetColumn, Schema
from seplearn.table.training import TrainingRows, known_rows, read_offset, training_rows

_WIDTH = 79  # as scikit-learn has it
_MOST_TOLD = 100  # features: with more, a notebook would wait for the summary
KINDS_OF_INTERVALS = Choice(("outcome", "mean"))
NEEDS_HELD_OUT = (
    "needs a fit that held rows out: 20 rows or more with early_stopping='auto', or an eval_set, "
    "refine='joint' and a target that varies (SepALSRegressor and files of 0.1.0 have no such "
    "rows, select_stages, edits and merges leave none)"
)


class SeparationEstimator(BaseEstimator):
    """An estimator whose fit leaves a model behind in ``model_``."""

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
        if not isinstance(fitted, SeparationModel):
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

    def _read_offset(self, offset: Any, n_rows: int) -> FloatArray | None:
        """What is added to the sum of every row, if anything is."""
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

    def _warn_without_offset_column(self) -> None:
        """Before the model is written for tables, in which offsets are a column."""
        if self._had_offsets and self.offset_column_ is None:
            warn(
                "the model was fitted with offsets, and does not know which column they are: what "
                "is written predicts without them (fit_files and the command line name it)"
            )

    def _needs_offset(self, offset: Any, doing: str) -> None:
        """Raise before a model is fitted to outcomes that it has other sums for."""
        if offset is None and self._had_offsets:
            raise ValueError(
                f"offset must be given to {doing}: the model was fitted with offsets, and without "
                "them rates would be fitted to counts; zeros say that there are none"
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

    def select_stages(
        self,
        stages: Any,
        X: Any = None,
        y: Any = None,
        sample_weight: Any = None,
        *,
        offset: Any = None,
        reason: str = "a part of the model",
    ) -> Self:
        """A smaller model made of some stages, as they are or with their lambda refitted.

        Parameters
        ----------
        stages : int or sequence of int
            The stages to keep, counted from zero.
        X, y : table and target, optional
            With them the lambda and the intercept are refitted to these rows (a region, say), as
            ``scalars`` and ``fit_intercept`` tell (lambda are not negative where ``monotonic_cst``
            is set); the curves stay, and there are no bands.
            Without them all stays as it is and the other stages are left out. It is done by least
            squares, so for models of ``loss="squared_error"`` only; ``edit().recalibrate`` is for
            all losses.
        sample_weight : array-like, optional
            Of the rows.
        offset : array-like of shape (n,), optional
            Added to the sums of these rows, as in ``fit``.
        reason : str
            Why, for the record in ``edits_``.

        Returns
        -------
        The same kind of estimator
            A new one, with an empty ``history_`` and a record of this in ``edits_``; this one is
            left as it is.

        Examples
        --------
        >>> from seplearn import TSLRegressor, datasets
        >>> X, y = datasets.masked_interaction(1000, random_state=0)
        >>> model = TSLRegressor(n_stages=2, early_stopping=False, random_state=0).fit(X, y)
        >>> small = model.select_stages([0])
        >>> difference = model.predict(X) - small.predict(X) - model.predict_stages(X)[:, 1]
        >>> bool(abs(difference).max() < 1e-9)
        True
        """
        check_is_fitted(self)
        if isinstance(self.model_, ClassModels):
            raise ValueError("select_stages is for models of one sum; this one has one per class")
        chosen = Subject.of(self).stages(stages)
        if (X is None) != (y is None):
            raise ValueError("X and y must be given both, to refit the lambda, or neither")
        for name, given in (("sample_weight", sample_weight), ("offset", offset)):
            if X is None and given is not None:
                raise ValueError(f"{name} must come with X and y, whose rows it is of")
        check_reason(reason)
        about: dict[str, Any] = {"stages": list(chosen)}
        model = select_stages(self.model_, chosen)
        if X is not None:
            self._can_refit()
            self._needs_offset(offset, "fit lambda to these rows")
            rows = training_rows(X, y, sample_weight, None, offset)
            model = self._refitted(model, rows)
            about["n_rows"] = len(rows.y)
        edits = (*model.edits, EditRecord("select_stages", about, reason))
        return self._with_model(with_edits(model, edits), [])

    def _can_refit(self) -> None:
        if not isinstance(self._loss, SquaredError):
            raise ValueError(
                "X and y must not be given: lambda are refitted by least squares, which is not "
                "this model's loss; edit().recalibrate(X, y) fits scales by the loss itself"
            )

    def _refitted(self, model: SeparationModel, rows: TrainingRows) -> SeparationModel:
        """The model with lambda and intercept fitted to other rows by least squares."""
        target = rows.y if rows.offset is None else rows.y - rows.offset
        data = TrainingData(model.bins, self._codes_of(rows.table), target, rows.weight)
        scalars: Any = getattr(self, "scalars", "nnls")  # SepALS has no such parameter
        if directions_of(self):  # a stage turned round would break them
            scalars = "nnls"
        return refit_scalars(model, data, scalars, bool(self.fit_intercept))

    def _with_model(self, model: Model, history: list[StageRecord] | None = None) -> Self:
        """An estimator like this one with another model; what was measured of this one is gone."""
        other = copy.copy(self)
        kept = list(self.history_) if history is None else history
        other._store(self._schema, model, kept, self.provenance_)
        other._fitted_loss = self._fitted_loss
        return other

    def _start(self, schema: Schema, loss: Loss, has_offset: bool) -> Any:
        """The model that another fit goes on from; None if there is none with curves."""
        if not self.get_params(deep=False).get("warm_start") or "model_" not in self.__dict__:
            return None
        known, given = self._schema.keys_beside(schema), schema.keys_beside(self._schema)
        if known != given:
            raise ValueError(
                "X must have the columns of the fit that warm_start goes on from, "
                f"{list(known)}, got {list(given)}"
            )
        own = self.model_.link
        if loss.link is not own and not isinstance(self.model_, ClassModels):
            raise ValueError(
                "loss must have the link of the fit that warm_start goes on from, "
                f"{own.name!r}, got {loss.link.name!r}"
            )
        if self.model_.is_constant:
            return None
        if self._had_offsets and not has_offset:
            warn(
                "the fit that warm_start goes on from had offsets and this one has none: with an "
                "exposure, curves of rates are the beginning of curves of counts"
            )
        return self.model_

    def edit(self) -> Edit:
        """Begin to change the fitted model: see :class:`seplearn.Edit`.

        Curves can be flattened, clipped, smoothed or made monotone, levels set like others, stages
        dropped or merged, the scales fitted to other rows. ``apply`` gives a new estimator, with
        every change and its reason in ``edits_``; this one stays as it is.

        Examples
        --------
        >>> from seplearn import TSLRegressor, datasets
        >>> X, y = datasets.masked_interaction(500, as_frame=True, random_state=0)
        >>> model = TSLRegressor(n_stages=1, random_state=0).fit(X, y)
        >>> edit = model.edit().make_monotone("x2", 1)
        >>> effect = edit.effect(X, y)
        >>> edited = edit.apply(reason="more of x2 never means less")
        >>> len(edited.edits_), len(model.edits_)
        (1, 0)
        """
        check_is_fitted(self)
        return Edit(self)

    def evaluate(
        self, X: Any, y: Any, sample_weight: Any = None, *, offset: Any = None, keep: bool = False
    ) -> Evaluation:
        """Errors, scores, calibration and residuals of predictions of rows with a known target.

        Parameters
        ----------
        X : array-like of shape (n, p)
            Rows that the model was not fitted to; errors on training rows say little.
        y : array-like of shape (n,)
            Rows where it is NaN, that is unknown, are left out.
        sample_weight : array-like of shape (n,), optional
        offset : array-like of shape (n,), optional
            As in ``predict``.
        keep : bool
            Remember the result in ``evaluation_``: it is then saved with the model and shown by
            reports.

        Examples
        --------
        >>> from seplearn import TSLRegressor, datasets
        >>> X, y = datasets.masked_interaction(1000, random_state=0)
        >>> model = TSLRegressor(n_stages=1, random_state=0).fit(X[:800], y[:800])
        >>> model.evaluate(X[800:], y[800:]).n_rows
        200
        """
        check_is_fitted(self)
        rows = known_rows(X, self._outcomes(y), sample_weight, offset)
        self._warn_without_offset(offset)
        sums = self.model_.predict(self._codes_of(rows.table))
        sums = sums if rows.offset is None else sums + rows.offset
        classes = tuple(str(label) for label in getattr(self, "classes_", ()))
        result = Evaluation.of(
            rows.y, sums, rows.weight, loss=self._loss, offset=rows.offset, classes=classes
        )
        if keep:
            self.evaluation_ = result
        return result

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the fitted estimator to a file; :func:`seplearn.load_model` reads it.

        The file is written beside its place and then moved there, so an interrupted save leaves
        no half-written file.

        Parameters
        ----------
        path : str or path
            Conventionally ending in ``.tsl``.
        """
        check_is_fitted(self)
        params = self._loss_parameters
        check_parameters(self._parameters, params)  # they may have been set after the fit
        history = tuple(self.history_)
        stored = StoredModel(
            self.model_,
            self._schema,
            history,
            self._stored_parameters(params),
            self._kind,
            self.evaluation_,
            getattr(self, "classes_", None),
            self.provenance_,
        )
        write_file(path, stored)

    def _stored_parameters(self, params: dict[str, Any]) -> dict[str, Any]:
        """The parameters as a file is to have them."""
        return params

    def to_dict(self) -> dict[str, Any]:
        """The model as plain numbers and lists for ``json.dump``; see ``docs/model-json.md``.

        Examples
        --------
        >>> from seplearn import TSLRegressor, datasets
        >>> X, y = datasets.masked_interaction(500, random_state=0)
        >>> model = TSLRegressor(n_stages=1, random_state=0).fit(X, y)
        >>> plain = model.to_dict()
        >>> plain["version"], plain["link"], len(plain["sums"][0]["stages"])
        (4, 'identity', 1)
        """
        check_is_fitted(self)
        classes = getattr(self, "classes_", None)
        return to_plain(self.model_, self._schema, None if classes is None else classes.tolist())

    def to_source(self, language: str, *, explain: bool = False) -> str:
        """The source of a program that predicts as this model does, and needs nothing else.

        It has a function ``predict`` for a row: in Python a mapping of names to values, in
        JavaScript an object (the source is a module), in C (C99) a ``struct row``. Of a classifier
        it gives the class, and ``predict_proba`` (``predictProba``) the probabilities. It takes an
        offset as well, but for more than two classes. A value may be missing: None, null, NaN,
        NULL.

        Parameters
        ----------
        language : {"python", "c", "javascript"}
        explain : bool
            Add a function ``explain`` that gives the parts of the sum: main effects and stages; of
            more than two classes those of each.

        Examples
        --------
        >>> from seplearn import TSLRegressor, datasets
        >>> X, y = datasets.masked_interaction(500, random_state=0)
        >>> model = TSLRegressor(n_stages=1, random_state=0).fit(X, y)
        >>> program = {}
        >>> exec(model.to_source("python"), program)
        >>> row = {"x0": 0.1, "x1": -0.2, "x2": None}
        >>> expected = model.predict([[0.1, -0.2, float("nan")]])[0]
        >>> bool(abs(program["predict"](row) - expected) < 1e-9)
        True
        """
        LANGUAGES.check("language", language)
        Flag().check("explain", explain)
        return to_source(self.to_dict(), language, explain)

    def to_sql(
        self,
        table: str | Sequence[str] = "t",
        dialect: str = "duckdb",
        *,
        explain: bool = False,
        keep: Sequence[str] = (),
    ) -> str:
        """One SELECT that predicts every row of a table of a database.

        Its column ``prediction`` is what ``predict`` gives; of a classifier there is a column
        ``probability of ...`` for every class too. NULL is a missing value, and so is NaN. Levels
        are compared as texts. Where the model knows the column of its offsets, that is added.

        Parameters
        ----------
        table : str or sequence of str
            The table, or schema and table.
        dialect : {"duckdb", "postgresql", "sqlite", "bigquery", "standard"}
        explain : bool
            Add columns for the constant, every main effect and every stage; with a link the
            column ``sum`` is what they add up to. Of more than two classes there are those of each,
            with the label at the end of their names.
        keep : sequence of str
            Columns of the table to copy, such as an identifier.

        Examples
        --------
        >>> import sqlite3
        >>> from seplearn import TSLRegressor, datasets
        >>> X, y = datasets.masked_interaction(500, as_frame=True, random_state=0)
        >>> model = TSLRegressor(n_stages=1, random_state=0).fit(X, y)
        >>> database = sqlite3.connect(":memory:")
        >>> _ = X.to_sql("points", database, index=False)
        >>> rows = database.execute(model.to_sql("points", "sqlite")).fetchall()
        >>> bool(abs(rows[0][0] - model.predict(X)[0]) < 1e-9)
        True
        """
        DIALECT_NAMES.check("dialect", dialect)
        Flag().check("explain", explain)
        self._warn_without_offset_column()
        return to_sql(self.to_dict(), table, dialect, explain, keep)

    def to_onnx(
        self, *, precision: str = "double", explain: bool = False, missing_level: str = ""
    ) -> Any:
        """The model as an ONNX graph; needs the package ``onnx``.

        An input of shape (rows, 1) per feature, by its name: numbers, NaN where they are missing,
        or texts for levels. Where the model knows the column of its offsets, that is an input too.
        The output is ``prediction``, of a classifier ``label`` and ``probabilities``.

        Parameters
        ----------
        precision : {"double", "float"}
            Of the inputs and outputs; inside it is double.
        explain : bool
            Add an output ``contributions``: the constant, every main effect and every stage, whose
            names are in the metadata of the model, as JSON. They add up to the sum, of more than
            two classes to the score of the class that a name ends with.
        missing_level : str
            The text that says that a level is missing; ONNX has no missing texts.

        Returns
        -------
        onnx.ModelProto

        Examples
        --------
        >>> import numpy as np
        >>> import onnxruntime  # doctest: +SKIP
        >>> from seplearn import TSLRegressor, datasets
        >>> X, y = datasets.masked_interaction(500, random_state=0)
        >>> model = TSLRegressor(n_stages=1, random_state=0).fit(X, y)
        >>> graph = model.to_onnx().SerializeToString()  # doctest: +SKIP
        >>> session = onnxruntime.InferenceSession(graph)  # doctest: +SKIP
        >>> columns = {f"x{j}": X[:, [j]] for j in range(3)}
        >>> (found,) = session.run(None, columns)  # doctest: +SKIP
        >>> bool(np.allclose(found[:, 0], model.predict(X)))  # doctest: +SKIP
        True
        """
        PRECISIONS.check("precision", precision)
        Flag().check("explain", explain)
        if not isinstance(missing_level, str):
            raise wrong_type("missing_level", "a text", missing_level)
        self._warn_without_offset_column()
        return to_onnx(self.to_dict(), precision, explain, missing_level)

    def to_scorecard(self, *, scale: float = 1.0, digits: int | None = None) -> Scorecard:
        """The model as a table of points to add up, if it is such a model.

        It is one if every feature acts by itself, or if it is a single positive product beside the
        constant, whose log the points then add up to. Any other model is refused, and so is one of
        more than two classes. A fit with ``n_stages=0`` has main effects alone.

        Parameters
        ----------
        scale : float
            Points per unit of the sum; ``20 / math.log(2)`` makes 20 points double the odds, and
            ``-20 / math.log(2)`` halve them: many points are then few of the outcome.
        digits : int, optional
            Decimals that points are rounded to; neighbouring ranges with the same points are one.
            Without it points are exact.

        Examples
        --------
        >>> from seplearn import TSLRegressor, datasets
        >>> X, y = datasets.rents(600, random_state=0)
        >>> model = TSLRegressor(random_state=0).fit(X[["area"]], y)
        >>> card = model.to_scorecard()
        >>> list(card.frame().columns)
        ['feature', 'meaning', 'range', 'lower', 'upper', 'points']
        """
        rule = "a finite number other than 0"
        if not is_real(scale):
            raise wrong_type("scale", rule, scale)
        if scale == 0 or not math.isfinite(scale):
            raise out_of_range("scale", rule, scale)
        if digits is not None and not is_whole(digits):
            raise wrong_type("digits", "None or an integer", digits)
        check_is_fitted(self)
        library = self._schema.library
        return to_scorecard(self.to_dict(), float(scale), digits, library)

    def _codes(self, X: Any) -> CodeArray:
        check_is_fitted(self)
        return self._codes_of(open_table(X))

    def _codes_of(self, table: Table) -> CodeArray:
        columns = self._schema.columns_in(table, type(self).__name__)
        codes: CodeArray = self.model_.bins.codes(table, columns)
        return codes


class SeparationRegressor(RegressorMixin, SeparationEstimator):
    """One that predicts numbers."""

    def predict_interval(
        self, X: Any, level: float = 0.9, *, kind: str = "outcome", offset: Any = None
    ) -> FloatArray:
        """Interval of single outcomes by default, shape (n, 2): lower and upper end.

        With ``kind="outcome"`` a share ``level`` of outcomes should lie inside, about as many below
        it as above. It is conformal: its ends are quantiles of what outcomes of rows that the fit
        had held out were off, in units of a width that is learned from them and follows features
        and prediction. It needs no ``n_bootstrap``, but a fit that held rows out
        (``early_stopping``, an ``eval_set``). The share holds on average over rows from the same
        source, not in each corner of the table.

        With ``kind="mean"`` it tells where the mean may lie, given these rows and the stages and
        the smoothness that were chosen. Outcomes vary more.

        Parameters
        ----------
        X : array-like of shape (n, p)
        level : float
            Share of outcomes inside; with ``kind="mean"`` of the bootstrap replicates. Between 0
            and 1.
        kind : {"outcome", "mean"}
            The latter needs ``n_bootstrap`` > 0.
        offset : array-like of shape (n,), optional
            Added to the sums, as in ``predict``.

        Examples
        --------
        >>> from seplearn import TSLRegressor, datasets
        >>> X, y = datasets.masked_interaction(2000, random_state=0)
        >>> model = TSLRegressor(n_stages=1, n_bootstrap=10, random_state=0).fit(X[:500], y[:500])
        >>> low, high = model.predict_interval(X[500:]).T
        >>> bool(abs(((low <= y[500:]) & (y[500:] <= high)).mean() - 0.9) < 0.05)
        True
        >>> ends = model.predict_interval(X[500:], kind="mean")
        >>> bool((ends[:, 1] - ends[:, 0]).mean() < (high - low).mean())
        True
        """
        KINDS_OF_INTERVALS.check("kind", kind)
        if kind == "mean":
            return self._mean_interval(X, level, offset)
        share = check_level(level)
        codes = self._codes(X)
        spread: OutcomeSpread | None = self.model_.spread
        if spread is None:
            if self.edits_:
                raise ValueError(
                    "predict_interval(kind='outcome') is not for an edited or merged model: how "
                    "far outcomes lie was learned from the predictions of the fit"
                )
            raise ValueError(f"predict_interval(kind='outcome') {NEEDS_HELD_OUT}")
        sums = self.model_.predict(codes)
        added = self._read_offset(offset, len(codes))
        prediction = self.model_.link.inverse(sums if added is None else sums + added)
        ends = spread.interval(codes, self.model_.bins, prediction, share)
        # With a log link no outcome is negative.
        return ends if self.model_.link is IDENTITY else np.maximum(ends, 0.0)


class SeparationClassifier(ClassifierMixin, SeparationEstimator):
    """One that predicts classes."""

    classes_: Any  # an array of labels

    def predict_interval(
        self, X: Any, level: float = 0.9, *, kind: str = "mean", offset: Any = None
    ) -> FloatArray:
        """Bootstrap interval of the probability of the second class, shape (n, 2).

        Of more than two classes those of all, shape (n, K, 2). Where the probability may lie,
        given these rows and the stages and the smoothness that were chosen.

        Parameters
        ----------
        X : array-like of shape (n, p)
        level : float
            Share of the bootstrap replicates inside, between 0 and 1; needs ``n_bootstrap`` > 0.
        kind : {"mean"}
            How likely single outcomes are, ``predict_proba`` says.
        offset : array-like of shape (n,), optional
            Added to the sums, as in ``predict``.

        Examples
        --------
        >>> from seplearn import TSLClassifier, datasets
        >>> X, y = datasets.masked_interaction(500, random_state=0)
        >>> model = TSLClassifier(n_stages=1, n_bootstrap=10, random_state=0).fit(X, y > 0)
        >>> low, high = model.predict_interval(X[:5], level=0.8).T
        >>> bool((low <= high).all())
        True
        """
        KINDS_OF_INTERVALS.check("kind", kind)
        if kind == "outcome":
            raise ValueError(
                "kind must be 'mean' for a classifier, whose outcomes are classes, got 'outcome'; "
                "predict_proba says how likely each of them is"
            )
        return self._mean_interval(X, level, offset)


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
