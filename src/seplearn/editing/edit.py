"""A session of changes to a fitted model, made on a copy and kept with their reasons."""

from __future__ import annotations

import copy
import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np
from scipy.special import logsumexp

from seplearn._errors import did_you_mean, out_of_range, wrong_type
from seplearn._rules import Interval, is_real, is_whole
from seplearn.editing import curves
from seplearn.editing.directions import directions_of, keeps
from seplearn.editing.effect import EditEffect
from seplearn.editing.places import Places
from seplearn.editing.scales import Rows, Scales, fitted_scales, rescaled
from seplearn.editing.stages import drop_stage, merge_stages
from seplearn.explain.subject import Subject, check_position
from seplearn.kernels.arrays import FloatArray
from seplearn.losses.links import class_shares
from seplearn.losses.log_loss import OF_SEVERAL_CLASSES
from seplearn.model.checks import count, finite, require, table
from seplearn.model.classes import ClassModels, Model
from seplearn.model.edit import of_each, with_edits
from seplearn.model.model import SeparationModel
from seplearn.model.record import EditRecord
from seplearn.table.binning import CategoricalAxis, NumericAxis
from seplearn.table.columns import level_name
from seplearn.table.training import training_rows

MAIN = "main"
_SHOWN_LEVELS = 20
_LARGEST_SCALE = math.log(1e300)  # of what an edit leaves: products and sums of it are numbers
_SHARE = Interval(0.001, 1.0)

ModelChange = Callable[[SeparationModel], SeparationModel]


class Edit:
    """Changes to a fitted model, collected one by one; ``apply`` makes a new estimator.

    ``model.edit()`` begins one. Every method changes the model as it is after the changes before
    it, and gives the edit itself, so that calls can be chained; one that raises changes nothing.
    The estimator it began with is never touched.

    **Which curves.** ``stage`` is the number of a stage as explanations count them, from zero, or
    ``"main"`` for the main effect; without it all curves of the feature are meant. After
    ``drop_stage(1)`` the stage that was 2 is 1. Of a classifier of more than two classes,
    ``label`` is the class whose score is changed; stages are numbered in each class by itself, so
    that a number needs it.

    **What is kept.** Curves are centred again after every change, which no prediction shows. Bands
    (bootstrap replicates) follow a change, but for ``merge_stages`` and ``recalibrate``, after
    which there are none. A change after which the prediction would no longer keep
    ``monotonic_cst``, or a ``make_monotone`` before it, is refused.

    Examples
    --------
    >>> from seplearn import TSLRegressor, datasets
    >>> X, y = datasets.rents(600, random_state=0)
    >>> model = TSLRegressor(n_stages=1, random_state=0).fit(X, y)
    >>> edit = model.edit().clip("area", (20, 120)).set_level("district", "hill", like="market")
    >>> effect = edit.effect(X, y)
    >>> edited = edit.apply(reason="flats above 120 square metres are too few")
    >>> [record.operation for record in edited.edits_], model.edits_
    (['clip', 'set_level'], ())
    >>> again = model.edit().replay(edited.edits_).apply()
    >>> bool((again.predict(X) == edited.predict(X)).all())
    True
    """

    def __init__(self, estimator: Any) -> None:
        self._estimator = copy.copy(estimator)  # which may be fitted again meanwhile
        self._model: Model = estimator.model_
        self._done: list[tuple[str, dict[str, Any], str | None]] = []

    def flatten(self, feature: Any, *, stage: Any = None, label: Any = None) -> Edit:
        """Replace curves of a feature by their mean, so that it says nothing there any more.

        The mean of every product stays: over the rows that the model keeps, or without such rows
        as if features were independent of each other.

        Parameters
        ----------
        feature : str or int
        stage : int or "main", optional
        label : a class, optional
        """
        j = self._feature(feature)
        return self._change_curves(
            "flatten", j, stage, label, {}, lambda m, places: curves.flatten(m, j, places)
        )

    def drop_feature(self, feature: Any) -> Edit:
        """Replace all curves of a feature by their means: predictions no longer depend on it.

        Tables must still have its column, whatever stands in it.

        Parameters
        ----------
        feature : str or int
        """
        j = self._feature(feature)
        return self._change_curves(
            "drop_feature", j, None, None, {}, lambda m, places: curves.flatten(m, j, places)
        )

    def clip(self, feature: Any, limits: Any, *, stage: Any = None, label: Any = None) -> Edit:
        """Hold curves of a numeric feature constant outside a range.

        Curves are steps: the step in which a limit lies is the last that counts. Missing values
        keep theirs.

        Parameters
        ----------
        feature : str or int
        limits : (low, high)
            Numbers, or None for no limit.
        stage : int or "main", optional
        label : a class, optional
        """
        j = self._feature(feature)
        axis = self._numeric(j, "clip")
        low, high = _limits(limits)
        first, last = np.searchsorted(axis.edges, (low, high), side="right")
        places = np.arange(axis.n_bins)
        places[:-1] = np.clip(places[:-1], first, last)
        ends = [end if np.isfinite(end) else None for end in (low, high)]
        change = curves.taken_from(places)
        return self._change_curves(
            "clip", j, stage, label, {"limits": ends},
            lambda m, where: curves.change_curves(m, j, where, change),
        )  # fmt: skip

    def smooth(
        self, feature: Any, share: float = 0.1, *, stage: Any = None, label: Any = None
    ) -> Edit:
        """Smooth curves of a numeric feature: every step gets the mean over the rows around it.

        Parameters
        ----------
        feature : str or int
        share : float
            How many of the rows: 0.1 is a window of a tenth of them. Towards both ends, where rows
            lie on one side only, it gets narrower.
        stage : int or "main", optional
        label : a class, optional
        """
        j = self._feature(feature)
        self._numeric(j, "smooth")
        _SHARE.check("share", share)
        change = curves.smoothed(self._model.bins, j, float(share))
        return self._change_curves(
            "smooth", j, stage, label, {"share": float(share)},
            lambda m, where: curves.change_curves(m, j, where, change),
        )  # fmt: skip

    def set_level(
        self, feature: Any, level: Any, *, like: Any, stage: Any = None, label: Any = None
    ) -> Edit:
        """Give a level of a feature the values of another level.

        Parameters
        ----------
        feature : str or int
        level, like : level, or "(missing)", "(rare)", "(unseen)"
            Levels that were too rare for a value of their own share that of "(rare)".
        stage : int or "main", optional
        label : a class, optional
        """
        j = self._feature(feature)
        changed, other = self._level(j, "level", level), self._level(j, "like", like)
        if changed == other:
            raise out_of_range("like", "another level than level", like)
        places = np.arange(self._model.bins.axes[j].n_bins)
        places[changed] = other
        labels = self._model.bins.axes[j].describe().labels
        change = curves.taken_from(places)
        return self._change_curves(
            "set_level", j, stage, label, {"level": labels[changed], "like": labels[other]},
            lambda m, where: curves.change_curves(m, j, where, change),
        )  # fmt: skip

    def make_monotone(self, feature: Any, direction: int) -> Edit:
        """Replace all curves of a numeric feature by the nearest for which predictions only rise.

        Or only fall. As ``monotonic_cst`` in a fit: factors of products that add rise, those of
        products that subtract fall, and so does the main effect. Missing values have no place in
        the order. The nearest is meant in the unit of curves, rows counting the same.

        Parameters
        ----------
        feature : str or int
        direction : {1, -1}
            1 for predictions that rise with the feature, -1 for those that fall.
        """
        j = self._feature(feature)
        self._numeric(j, "make_monotone")
        if not is_whole(direction) or direction not in (-1, 1):
            raise out_of_range("direction", "1 (rising) or -1 (falling)", direction)
        if isinstance(self._model, ClassModels):
            raise ValueError(
                "make_monotone is for one sum: of several classes a score that may only rise says "
                "nothing about the probability"
            )
        if self._directions().get(j) == -direction and keeps(self._model, j, -direction):
            raise ValueError(
                "direction must agree with monotonic_cst and earlier make_monotone of the feature, "
                f"got {direction}"
            )
        signed = [s for s, stage in enumerate(self._model.stages) if stage.is_signed]
        if any(j in self._model.stages[s].features(self._model.bins) for s in signed):
            raise ValueError(
                f"make_monotone is for products of positive curves, got stage {signed[0]} with "
                "curves of either sign"
            )
        way = int(direction)
        arguments = {"feature": self.feature_names[j], "direction": way}
        return self._change("make_monotone", arguments, None, lambda m: curves.monotone(m, j, way))

    def drop_stage(self, stage: Any, *, label: Any = None) -> Edit:
        """Leave out a stage; its mean over the rows the model keeps goes to the constant.

        Parameters
        ----------
        stage : int
        label : a class, optional
        """
        s = self._stage("stage", stage, self._one_sum("stage", label))
        return self._change("drop_stage", {"stage": s}, label, lambda m: drop_stage(m, s))

    def merge_stages(self, first: Any, second: Any, *, label: Any = None) -> Edit:
        """Make one stage of two, as near to their sum as one stage can be.

        Its curves are weighted geometric means of those of the two; the weights, scales and a
        constant are chosen by least squares over the rows that the model keeps. It has the smaller
        of the two numbers. :meth:`effect` tells what is lost.

        Parameters
        ----------
        first, second : int
        label : a class, optional
        """
        model = self._one_sum("first", label)
        one, other = (self._stage(n, s, model) for n, s in (("first", first), ("second", second)))
        if one == other:
            raise out_of_range("second", "another stage than first", second)
        signed = [s for s in (one, other) if model.stages[s].is_signed]
        if signed:
            raise ValueError(
                f"merge_stages is for products of positive curves, got stage {signed[0]} with "
                "curves of either sign"
            )
        rows = model.reference
        if rows is None:
            raise ValueError(
                "merge_stages needs rows that the model keeps: fit with background_size above 0"
            )
        return self._change(
            "merge_stages", {"first": one, "second": other}, label,
            lambda m: merge_stages(m, rows, one, other), keeps_replicates=False,
        )  # fmt: skip

    def recalibrate(
        self, X: Any, y: Any, sample_weight: Any = None, *, offset: Any = None, label: Any = None
    ) -> Edit:
        """Fit the constant and the scales to other rows, by the model's own loss; curves stay.

        Every product gets a scale, and the main effects one together. No product changes its side,
        so that constraints are kept; one that does not help gets the scale zero, one that is the
        same for all these rows stays. Without ``fit_intercept`` the constant stays. The rows should
        vary in what the model uses: of main effects that hardly vary the scale is a guess. The
        record has the numbers found, not the rows.

        Parameters
        ----------
        X : array-like of shape (n, p)
        y : array-like of shape (n,)
        sample_weight : array-like of shape (n,), optional
        offset : array-like of shape (n,), optional
            Added to the sums, as in ``fit``.
        label : a class, optional
            Needed with more than two classes: the score of the class is fitted, given the others.
        """
        model, estimator = self._one_sum("label", label), self._estimator
        estimator._needs_offset(offset, "recalibrate")
        rows = training_rows(X, estimator._outcomes(y), sample_weight, None, offset)
        codes = estimator._codes_of(rows.table)
        added = np.zeros(len(codes)) if rows.offset is None else rows.offset
        target, loss = rows.y, estimator._loss
        if isinstance(self._model, ClassModels):
            if offset is not None:
                raise ValueError("offset is for models of one sum, got one with several classes")
            k = self._class_number(label)
            others = [m.predict(codes) for i, m in enumerate(self._model.models) if i != k]
            added, target = -logsumexp(others, axis=0), (rows.y == k).astype(np.float64)
            loss = OF_SEVERAL_CLASSES
        loss.check_domain(target)
        has_constant = bool(estimator.fit_intercept)
        found = fitted_scales(model, Rows(codes, target, rows.weight, added), loss, has_constant)
        _check_numbers(rescaled(model, found), "y")
        return self._rescale(found, len(codes), label)

    def _rescale(self, scales: Scales, n_rows: int, label: Any) -> Edit:
        arguments = {"n_rows": n_rows, **scales._asdict()}
        return self._change(
            "recalibrate", arguments, label, lambda m: rescaled(m, scales), keeps_replicates=False
        )

    def replay(self, edits: Iterable[EditRecord]) -> Edit:
        """Make the changes of records, such as the ``edits_`` of another model.

        On the estimator that a model was edited from they give the same model, to the last bit:
        records that this estimator has itself, and that come first, are not made again.

        Parameters
        ----------
        edits : iterable of EditRecord
            Their reasons are kept.
        """
        if not isinstance(edits, Iterable):
            raise wrong_type("edits", "records of edits, as in edits_", edits)
        records, own = list(edits), list(self._estimator.edits_)
        for record in records:
            if not isinstance(record, EditRecord):
                raise wrong_type("edits", "records of edits, as in edits_", record)
        if not self._done and records[: len(own)] == own:
            records = records[len(own) :]
        for record in records:
            if record.operation not in _OPERATIONS:
                rule = f"of one of the operations {list(_OPERATIONS)}"
                raise out_of_range("edits", rule, record.operation)
            if not isinstance(record.arguments, Mapping):
                raise wrong_type("edits", "records with their arguments by name", record.arguments)
            check_reason(record.reason)
        before = self._model, list(self._done)
        try:
            for record in records:
                self._replay(record)
        except BaseException:
            self._model, self._done = before
            raise
        return self

    def _replay(self, record: EditRecord) -> None:
        arguments = dict(record.arguments)
        try:
            if record.operation == "recalibrate":
                self._replay_scales(arguments)
            else:
                getattr(self, record.operation)(**arguments)
        except TypeError as error:
            raise ValueError(f"edits must have sound arguments, got {record.what}") from error
        self._done[-1] = (*self._done[-1][:2], record.reason)

    def _replay_scales(self, arguments: dict[str, Any]) -> None:
        label = arguments.pop("label", None)
        given = table(arguments, {"n_rows", *Scales._fields}, "the scales of an edit")
        require(isinstance(given["products"], list), "the scales of an edit must be a list")
        scales = Scales(
            finite(given["intercept"]),
            finite(given["effects"]),
            [_sign_and_scale(pair) for pair in given["products"]],
        )
        model = self._one_sum("label", label)
        n_products = sum(len(stage.branches) for stage in model.stages)
        if len(scales.products) != n_products:
            rule = f"for a model with {len(scales.products)} products in recalibrate"
            raise out_of_range("edits", rule, n_products)
        self._rescale(scales, count(given["n_rows"]), label)
        _check_numbers(self._one_sum("label", label), "edits")

    @property
    def feature_names(self) -> tuple[str, ...]:
        """The features of the model; x0, x1, ... where the table had no names."""
        names: tuple[str, ...] = self._estimator._schema.labels
        return names

    @property
    def stage_names(self) -> Any:
        """Names of the stages as they are now, by their numbers; of several classes for each."""
        return self._model.stage_names(self.feature_names)

    def n_stages(self, label: Any = None) -> int:
        """How many stages there are now; of several classes of the one asked for."""
        return len(self._one_sum("stage", label).stages)

    def effect(
        self, X: Any, y: Any = None, sample_weight: Any = None, *, offset: Any = None
    ) -> EditEffect:
        """What the changes so far do to predictions of rows, and to their errors.

        Parameters
        ----------
        X : array-like of shape (n, p)
        y : array-like of shape (n,), optional
            With it errors are told too.
        sample_weight : array-like of shape (n,), optional
            For the errors.
        offset : array-like of shape (n,), optional
        """
        before, after = self._estimator, self._estimator._with_model(self._model)
        evaluations = [None, None]
        if y is not None:
            evaluations = [
                one.evaluate(X, y, sample_weight, offset=offset) for one in (before, after)
            ]
        elif sample_weight is not None:
            raise ValueError("sample_weight must come with y, for whose errors it is")
        return EditEffect.of(
            _predicted(before, X, offset),
            _predicted(after, X, offset),
            evaluations,
            self._estimator._schema.library,
        )

    def apply(self, reason: str | None = None) -> Any:
        """A new estimator with all changes; the one that is edited stays as it is.

        Its ``edits_`` has the changes, each with the reason, after those it had before. It has no
        ``evaluation_``: what was measured was another model.

        Parameters
        ----------
        reason : str
            Why, for whoever reads the model later. Replayed changes have theirs already.
        """
        if not self._done:
            raise ValueError("apply needs a change: none was made in this edit")
        if any(own is None for _, _, own in self._done):
            check_reason(reason)
        records = [
            EditRecord(operation, arguments, str(reason) if own is None else own)
            for operation, arguments, own in self._done
        ]
        edits = (*self._model.edits, *records)
        model = of_each(self._model, lambda one: with_edits(one, edits))
        return self._estimator._with_model(model)

    def __repr__(self) -> str:
        calls = [
            EditRecord(operation, arguments, "").what for operation, arguments, _ in self._done
        ]
        return f"Edit({type(self._estimator).__name__}: {'; '.join(calls) or 'no changes yet'})"

    # What a user names, as numbers.

    @property
    def _any_sum(self) -> SeparationModel:
        model = self._model
        return model.models[0] if isinstance(model, ClassModels) else model

    def _feature(self, feature: Any) -> int:
        return Subject(self._any_sum, self._estimator._schema, "the model").feature(feature)

    def _numeric(self, j: int, operation: str) -> NumericAxis:
        axis = self._model.bins.axes[j]
        if not isinstance(axis, NumericAxis):
            rule = f"a feature of numbers for {operation}, which needs their order"
            raise out_of_range("feature", rule, self.feature_names[j])
        return axis

    def _level(self, j: int, argument: str, level: Any) -> int:
        axis = self._model.bins.axes[j]
        if not isinstance(axis, CategoricalAxis):
            raise out_of_range(
                "feature", "a feature of levels for set_level", self.feature_names[j]
            )
        description = axis.describe()
        name = level_name(level)
        name = description.other_names.get(name, name)
        if name in description.labels:
            return description.labels.index(name)
        shown = list(description.labels[:_SHOWN_LEVELS])
        more = " and others" if len(description.labels) > _SHOWN_LEVELS else ""
        hint = did_you_mean(name, description.labels)
        if name in axis.rare:
            hint = "; it is one of the rare levels, which share '(rare)'"
        raise ValueError(f"{argument} must be one of {shown}{more}, got {level!r}{hint}")

    def _class_number(self, label: Any) -> int:
        number: int = self._estimator._number_of("label", label)
        return number

    def _one_sum(self, argument: str, label: Any) -> SeparationModel:
        """The sum that is meant, where it must be one."""
        model = self._model
        if not isinstance(model, ClassModels):
            if label is not None:
                raise out_of_range("label", "None for a model of one sum", label)
            return model
        if label is None:
            what = "" if argument == "label" else f" with {argument}, which is of one class"
            labels = self._estimator.classes_.tolist()
            raise out_of_range("label", f"one of the classes {labels}{what}", label)
        return model.models[self._class_number(label)]

    def _stage(self, argument: str, stage: Any, model: SeparationModel) -> int:
        n = len(model.stages)
        if n == 0:
            raise ValueError(
                f"{argument} must be the number of a stage, and the model has none, got {stage!r}"
            )
        return check_position(argument, stage, n, f" (the model has {n})")

    def _places(self, stage: Any, model: SeparationModel) -> Places:
        if stage is None:
            return Places(tuple(range(len(model.stages))), main=True)
        if not isinstance(stage, str):
            return Places((self._stage("stage", stage, model),), main=False)
        if stage != MAIN:
            raise out_of_range("stage", f"the number of a stage or {MAIN!r}", stage)
        if model.effects is None:
            raise ValueError(f"stage must be the number of a stage, got {MAIN!r}, but the model "
                             "has no main effects")  # fmt: skip
        return Places((), main=True)

    # Changing.

    def _change_curves(
        self,
        operation: str,
        feature: int,
        stage: Any,
        label: Any,
        arguments: dict[str, Any],
        change: Callable[[SeparationModel, Places], SeparationModel],
    ) -> Edit:
        is_number = stage is not None and not isinstance(stage, str)
        model = self._model
        if is_number or label is not None or not isinstance(model, ClassModels):
            places = self._places(stage, self._one_sum("stage", label))
        else:
            with_effects = [one for one in model.models if one.effects is not None]
            self._places(stage, (with_effects or model.models)[0])
            places = None
        given = {"feature": self.feature_names[feature], **arguments}
        if is_number and places is not None:
            given["stage"] = places.stages[0]
        elif stage is not None:
            given["stage"] = MAIN

        def changed(one: SeparationModel) -> SeparationModel:
            everywhere = tuple(range(len(one.stages))) if stage is None else ()
            return change(one, places or Places(everywhere, main=True))

        return self._change(operation, given, label, changed)

    def _change(
        self,
        operation: str,
        arguments: dict[str, Any],
        label: Any,
        change: ModelChange,
        keeps_replicates: bool = True,
    ) -> Edit:
        """Change the model and remember it; or raise and change nothing."""
        before = self._model
        if not isinstance(before, ClassModels):
            one_sum = _changed(before, change, keeps_replicates)
            one_sum = self._constrained(before, one_sum, operation)
            after: Model = replace(one_sum, replicates=()) if one_sum.is_constant else one_sum
        else:
            chosen = None if label is None else self._class_number(label)
            if chosen is not None:
                arguments["label"] = self._estimator.classes_.tolist()[chosen]
            models = [
                _changed(one, change, keeps_replicates) if chosen in (None, k) else one
                for k, one in enumerate(before.models)
            ]
            after = _of_classes(models, keeps_replicates)
        self._model = after
        self._done.append((operation, arguments, None))
        return self

    def _directions(self) -> dict[int, int]:
        """Features along which predictions may only rise (1) or only fall (-1)."""
        now = [(operation, arguments) for operation, arguments, _ in self._done]
        return directions_of(self._estimator, now)

    def _constrained(
        self, before: SeparationModel, after: SeparationModel, operation: str
    ) -> SeparationModel:
        """The changed model, if it keeps the constraints; rounding is taken out."""
        for j, direction in self._directions().items():
            if not keeps(before, j, direction):
                continue  # the parameter was set after the fit
            if not keeps(after, j, direction):
                way = "rise" if direction > 0 else "fall"
                raise ValueError(
                    f"{operation} must keep monotonic_cst and earlier edits: predictions would no "
                    f"longer only {way} with {self.feature_names[j]!r}"
                )
            replicates = tuple(curves.monotone(r, j, direction) for r in after.replicates)
            after = replace(curves.monotone(after, j, direction), replicates=replicates)
        return after


_OPERATIONS = (
    "flatten", "drop_feature", "clip", "smooth", "set_level", "make_monotone", "drop_stage",
    "merge_stages", "recalibrate",
)  # fmt: skip


def _changed(
    model: SeparationModel, change: ModelChange, keeps_replicates: bool
) -> SeparationModel:
    """The model changed, and its replicates in the same way; grids it was made of are gone.

    So is what outcomes of held-out rows said of predictions that were others.
    """
    new = change(replace(model, replicates=(), bags=(), penalties=None, spread=None))
    replicates = tuple(
        replace(change(replace(other, reference=model.reference)), reference=None)
        for other in model.replicates
        if keeps_replicates
    )
    effects = [one.effects for one in (new, *replicates) if one.effects is not None]
    if not any(values.any() for values in effects):
        new = replace(new, effects=None)
        replicates = tuple(replace(other, effects=None) for other in replicates)
    return replace(new, replicates=replicates)


def _of_classes(models: list[SeparationModel], keeps_replicates: bool) -> ClassModels:
    """The models of classes: all have replicates and the path of sizes, or none of them has."""
    has_replicates = keeps_replicates and not all(model.is_constant for model in models)
    has_paths = all(model.size_paths for model in models)
    return ClassModels(
        tuple(
            replace(
                model,
                replicates=model.replicates if has_replicates else (),
                size_paths=model.size_paths if has_paths else (),
            )
            for model in models
        )
    )


def _sign_and_scale(pair: Any) -> list[float]:
    """Sign and log-scale of a product, as a record has them."""
    require(isinstance(pair, list) and len(pair) == 2, "a scale of an edit must be a pair")
    sign, scale = (finite(value) for value in pair)
    require(sign in (-1.0, 0.0, 1.0), "sign of a scale of an edit")
    return [sign, scale]


def _check_numbers(model: SeparationModel, argument: str) -> None:
    """Raise where scales leave a model whose predictions would be no numbers."""
    levels = [abs(model.intercept)]
    if model.effects is not None:
        levels.append(float(np.abs(model.effects).max()))
    logs = [branch.log_scale for stage in model.stages for branch in stage.branches]
    largest = max([*(math.log(max(level, 1e-300)) for level in levels), *logs])
    if not largest <= _LARGEST_SCALE:
        rule = "such that scales of recalibrate are at most 1e300"
        raise out_of_range(argument, rule, math.exp(min(largest, 709)))


def _limits(limits: Any) -> tuple[float, float]:
    rule = "a pair (low, high) of numbers or None, low not above high"
    if isinstance(limits, str) or not hasattr(limits, "__iter__"):
        raise wrong_type("limits", rule, limits)
    given = list(limits)
    known = len(given) == 2 and all(end is None or is_real(end) for end in given)
    if not known:
        raise out_of_range("limits", rule, limits)
    try:
        low = -np.inf if given[0] is None else float(given[0])
        high = np.inf if given[1] is None else float(given[1])
    except OverflowError as error:
        raise out_of_range("limits", rule, limits) from error
    # NaN too, and infinities that leave nothing between them: a record has no word for these.
    if not low <= high or low == np.inf or high == -np.inf:
        raise out_of_range("limits", rule, limits)
    return low, high


def check_reason(reason: Any) -> None:
    """Raise for anything but a text with something in it."""
    rule = "a text that says why"
    if not isinstance(reason, str):
        raise wrong_type("reason", rule, reason)
    if not reason.strip():
        raise out_of_range("reason", rule, reason)


def _predicted(estimator: Any, X: Any, offset: Any) -> FloatArray:
    sums: FloatArray = estimator._sums(X, offset)
    if sums.ndim == 2:
        return class_shares(sums)
    prediction: FloatArray = estimator.model_.link.inverse(sums)
    return prediction
