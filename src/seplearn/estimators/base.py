"""What all estimators of the package share: a fitted model is changed, evaluated and refitted."""

from __future__ import annotations

import copy
from dataclasses import replace
from typing import Any, Self

import numpy as np
from sklearn.base import ClassifierMixin, RegressorMixin
from sklearn.utils.validation import check_is_fitted

from seplearn._errors import warn
from seplearn._rules import Choice, check_level
from seplearn.editing import Edit
from seplearn.editing.directions import directions_of
from seplearn.editing.edit import check_reason
from seplearn.estimators.exported import ExportedModel
from seplearn.explain.subject import Subject
from seplearn.fitting.options import TrainingData
from seplearn.fitting.refit import refit_scalars
from seplearn.kernels.arrays import FloatArray
from seplearn.losses import IDENTITY, Loss, SquaredError
from seplearn.model.classes import ClassModels, Model
from seplearn.model.edit import select_stages, with_edits
from seplearn.model.evaluation import Evaluation
from seplearn.model.model import SeparationModel
from seplearn.model.provenance import Provenance
from seplearn.model.record import EditRecord, StageRecord
from seplearn.model.spread import OutcomeSpread
from seplearn.table.schema import Schema
from seplearn.table.training import TrainingRows, known_rows, training_rows

KINDS_OF_INTERVALS = Choice(("outcome", "mean"))
NEEDS_HELD_OUT = (
    "needs a fit that held rows out: 20 rows or more with early_stopping='auto', or an eval_set, "
    "refine='joint' and a target that varies (SepALSRegressor and files of 0.1.0 have no such "
    "rows, select_stages, edits and merges leave none)"
)


class SeparationEstimator(ExportedModel):
    """What every estimator of the package is, whatever it predicts."""

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

    def _store_fit(
        self,
        start: Model | None,
        schema: Schema,
        model: Model,
        history: list[StageRecord],
        provenance: Provenance,
    ) -> None:
        """Keep what a fit made; of the fit that it went on from what the table does not tell."""
        earlier = [] if start is None else self.history_
        if start is not None:
            schema = replace(
                schema,
                missing_texts=schema.missing_texts or self.missing_texts_,
                offset=self.offset_column_ if provenance.had_offsets else schema.offset,
            )
        self._store(schema, model, [*earlier, *history], provenance)

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
        self._check_offset(offset)
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

    def _needs_offset(self, offset: Any, doing: str) -> None:
        """Raise before a model is fitted to outcomes that it has other sums for."""
        if offset is None and self._had_offsets:
            raise ValueError(
                f"offset must be given to {doing}: the model was fitted with offsets, and without "
                "them rates would be fitted to counts; zeros say that there are none"
            )


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
