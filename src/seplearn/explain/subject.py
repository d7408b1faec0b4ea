"""What is explained: a fitted model, the names of its features, and the rows averaged over."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from seplearn._errors import did_you_mean, out_of_range, wrong_type
from seplearn.kernels.arrays import CodeArray
from seplearn.model.classes import ClassModels
from seplearn.model.model import SeparationModel
from seplearn.model.reading import brief
from seplearn.model.reference import Reference
from seplearn.table.columns import open_table
from seplearn.table.schema import Schema

_SHOWN_NAMES = 30


@dataclass(frozen=True, eq=False)
class Subject:
    """A model with the schema of its table; turns what a user names into numbers."""

    model: SeparationModel
    schema: Schema
    owner: str
    words: str | None = None  # what is explained, where the link does not tell all
    response: str = "prediction"  # what the link makes of that

    @staticmethod
    def of(model: Any) -> Subject:
        """The subject of a fitted estimator, or of its ``model_`` (features named by position).

        Or of one class of several, which ``for_class`` of a classifier gives.
        """
        if isinstance(model, SeparationModel):
            return Subject(model, Schema(model.bins.n_axes, None), "the model")
        of_one_class = getattr(model, "subject", None)
        if isinstance(of_one_class, Subject):
            return of_one_class
        if isinstance(model, BaseEstimator) and hasattr(type(model), "_store"):
            check_is_fitted(model)
        fitted = getattr(model, "model_", None)
        if isinstance(fitted, ClassModels):
            labels = model.classes_.tolist()
            raise ValueError(
                f"model has a score for each of its classes {labels}, and an explanation is of one "
                f"of them: give model.for_class({labels[0]!r}), or the log-odds between two, "
                f"model.for_class({labels[0]!r}, against={labels[1]!r})"
            )
        if isinstance(model, ClassModels):
            raise ValueError("model has a score for each of its classes: give one of model.models")
        if not isinstance(fitted, SeparationModel):
            rule = (
                "a fitted estimator of seplearn or its model_ (of a pipeline pipe[-1], of a search "
                "its best_estimator_)"
            )
            raise wrong_type("model", rule, model)
        classes = getattr(model, "classes_", None)
        owner = type(model).__name__
        if classes is None:
            return Subject(fitted, model._schema, owner)
        second = brief(str(classes[1]))
        words = f"{fitted.link.scale} of {second}"
        return Subject(fitted, model._schema, owner, words, f"probability of {second}")

    @staticmethod
    def of_any(model: Any) -> Subject:
        """The same, and of several classes the first: all have the columns and bins of one table.

        For what is not about curves.
        """
        fitted = getattr(model, "model_", None)
        if isinstance(fitted, ClassModels):
            return Subject(fitted.models[0], model._schema, type(model).__name__)
        return Subject.of(model)

    @property
    def quantity(self) -> str:
        """What is explained: the sum that a link makes a prediction of, in words."""
        return self.words or self.model.link.scale

    @property
    def names(self) -> tuple[str, ...]:
        return self.schema.labels

    @cached_property
    def stage_names(self) -> tuple[str, ...]:
        """A name per stage, made of the features it depends on."""
        return self.model.stage_names(self.names)

    @property
    def n_stages(self) -> int:
        return len(self.model.stages)

    def stage(self, stage: Any) -> int:
        """A stage of the model, counted from zero."""
        if self.n_stages == 0:
            what, way_out = "its intercept", "so there is nothing to show"
            if not self.model.is_constant:
                what, way_out = "an intercept and main effects", "which explain.main_effects shows"
            raise ValueError(f"model has no stages, only {what}, {way_out}")
        return check_position("stage", stage, self.n_stages, f" (the model has {self.n_stages})")

    def stages(self, stages: Any) -> tuple[int, ...]:
        """Distinct stages of the model, in the order given."""
        if isinstance(stages, (int, np.integer)):
            stages = [stages]
        if isinstance(stages, str) or not hasattr(stages, "__iter__"):
            raise wrong_type("stages", "numbers of stages, counted from zero", stages)
        chosen = tuple(self.stage(stage) for stage in stages)
        if not chosen or len(set(chosen)) < len(chosen):
            raise out_of_range("stages", "one or more distinct stages", list(stages))
        return chosen

    def feature(self, feature: Any, argument: str = "feature") -> int:
        """A feature given by name or by position."""
        if isinstance(feature, str) and feature in self.names:
            return self.names.index(feature)
        if is_position(feature, len(self.names)):
            return int(feature)
        shown = list(self.names[:_SHOWN_NAMES])
        more = ", ..." if len(self.names) > _SHOWN_NAMES else ""
        rule = f"one of {shown}{more} or a position from 0 to {len(self.names) - 1}"
        raise ValueError(
            f"{argument} must be {rule}, got {feature!r}{did_you_mean(feature, self.names)}"
        )

    def features(self, features: Any, argument: str = "features") -> tuple[int, ...]:
        """Distinct features, given one or several."""
        if isinstance(features, str) or not hasattr(features, "__iter__"):
            features = [features]
        elif isinstance(features, np.ndarray):
            features = np.atleast_1d(features)
        one = argument.removesuffix("s")
        chosen = tuple(self.feature(feature, one) for feature in features)
        if not chosen or len(set(chosen)) < len(chosen):
            raise out_of_range(argument, "one or more distinct features", list(features))
        return chosen

    def codes(self, X: Any) -> CodeArray:
        """Bins of the rows of a table with the model's columns."""
        table = open_table(X)
        return self.model.bins.codes(table, self.schema.columns_in(table, self.owner))

    def rows(self, background: Any, name: str = "background") -> Reference:
        """The rows of the argument ``name``: those of a table, or those the model keeps."""
        if isinstance(background, Reference):
            return background
        if background is not None:
            try:
                codes = self.codes(background)
            except (TypeError, ValueError) as error:
                kind = TypeError if isinstance(error, TypeError) else ValueError
                raise kind(f"{name}: {error}") from error
            return Reference(codes, np.full(len(codes), 1.0 / len(codes)))
        if self.model.reference is None:
            raise ValueError(
                f"{name} must be given: the model keeps no reference rows (it was fitted with "
                "background_size=0)"
            )
        return self.model.reference


def is_position(value: Any, size: int) -> bool:
    """Whether a value is a whole number from zero to below ``size``."""
    is_number = isinstance(value, (int, np.integer)) and not isinstance(value, bool)
    return is_number and 0 <= int(value) < size


def check_position(name: str, value: Any, size: int, hint: str = "") -> int:
    """A whole number from zero to below ``size``."""
    if not is_position(value, size):
        raise out_of_range(name, f"an integer from 0 to {size - 1}{hint}", value)
    return int(value)


def check_number(name: str, value: Any, rule: str, allows: Callable[[float], bool]) -> float:
    """A number for which ``allows`` holds; ``rule`` is what it says in words."""
    is_number = isinstance(value, (int, float, np.number)) and not isinstance(value, bool)
    if not is_number or not allows(float(value)):
        raise out_of_range(name, rule, value)
    return float(value)
