"""The estimator that the target and the options of fit ask for."""

from __future__ import annotations

from typing import Any

import click
import numpy as np

from seplearn._params import CLASSIFIER_PARAMETERS
from seplearn.cli.lines import note, printable
from seplearn.cli.parameters import option_name
from seplearn.cli.training import Columns, Roles, refused_dates_of
from seplearn.cli.training_files import distinct_values
from seplearn.estimators.classifier import TSLClassifier
from seplearn.estimators.labels import check_repeated
from seplearn.estimators.tsl import TSLRegressor
from seplearn.losses import LOSSES, SHAPES
from seplearn.losses.links import LOG
from seplearn.table.files import DATE, RowFiles
from seplearn.table.schema import OffsetColumn

TASKS = ("auto", "regression", "classification", "count")
_COUNT_LOSS = "poisson"
_MOST_SHOWN_CLASSES = 5
_TWO = 2


def look_at_outcomes(files: RowFiles, roles: Roles, model: TSLRegressor | TSLClassifier) -> None:
    """Say what is made of the target of several tables, and refuse what it cannot have."""
    if isinstance(model, TSLClassifier):
        classes = np.array(sorted(distinct_values(files, roles.target)))
        has_offset, directions = roles.offset is not None, model.monotonic_cst
        _check_for_two(roles.target, len(classes), has_offset, directions)
        _say_classes(roles.target, classes, roles.task)
    elif roles.task == "auto" and len(distinct_values(files, roles.target, _TWO + 1)) == _TWO:
        _say_two_values(roles.target)


def asked_estimator_of_kind(
    roles: Roles, kind: str, class_weight: str | None, parameters: dict[str, Any]
) -> TSLRegressor | TSLClassifier:
    """What is to be fitted to a target of this kind."""
    if kind == DATE:
        raise refused_dates_of(roles.target)
    is_class = roles.task == "classification"
    if is_class or (roles.task == "auto" and kind in ("text", "truth value")):
        return _classifier(roles.target, class_weight, parameters)
    return _regressor(roles.target, roles.task, class_weight, parameters)


def _classifier(target: str, class_weight: str | None, parameters: dict[str, Any]) -> TSLClassifier:
    known = {parameter.name for parameter in CLASSIFIER_PARAMETERS}
    foreign = [option_name(name) for name in given_options(parameters) if name not in known]
    if foreign:
        raise ValueError(f"{foreign[0]} is for numbers, but {target!r} holds classes")
    own = {name: value for name, value in parameters.items() if name in known}
    return TSLClassifier(class_weight=class_weight, **own)


def _regressor(
    target: str, task: str, class_weight: str | None, parameters: dict[str, Any]
) -> TSLRegressor:
    if class_weight is not None:
        raise ValueError(f"--class-weight is for classes, but {target!r} holds numbers")
    parameters = parameters | _loss_of(task, parameters)
    _check_shape(parameters)
    return TSLRegressor(**parameters)


def _loss_of(task: str, parameters: dict[str, Any]) -> dict[str, Any]:
    """The loss that a task has, if it has one of its own."""
    if task != "count":
        return {}
    if "loss" in given_options(parameters) and parameters["loss"] != _COUNT_LOSS:
        loss = parameters["loss"]
        raise ValueError(f"--task count has the loss {_COUNT_LOSS}, got --loss {loss}")
    return {"loss": _COUNT_LOSS}


def _check_shape(parameters: dict[str, Any]) -> None:
    """Raise for a parameter of another loss than the one to be fitted."""
    for name, loss in SHAPES.items():
        if name in given_options(parameters) and parameters["loss"] != loss:
            raise ValueError(f"--{name} is for --loss {loss}, got --loss {parameters['loss']}")


def asked_offset(exposure: str | None, offset: str | None) -> OffsetColumn | None:
    """The column of the offset or exposure, if one is named."""
    if exposure is not None and offset is not None:
        raise ValueError("--offset must not be given together with --exposure, whose log it is")
    if exposure is not None:
        return OffsetColumn(exposure, True)
    return None if offset is None else OffsetColumn(offset, False)


def asked_estimator(
    data: Columns, task: str, class_weight: str | None, parameters: dict[str, Any]
) -> TSLRegressor | TSLClassifier:
    """What is to be fitted, by what the target holds; options that it has not are refused."""
    if data.has_classes:
        classifier = _classifier(data.target, class_weight, parameters)
        constraints, has_offset = parameters["monotonic_cst"], data.offset is not None
        _check_for_two(data.target, len(data.classes), has_offset, constraints)
        check_repeated(data.classes, len(data.y), printable(data.target))
        _say_classes(data.target, data.classes, task)
        return classifier
    regressor = _regressor(data.target, task, class_weight, parameters)
    _check_domain(data, regressor.get_params())
    if task == "auto" and len(np.unique(data.y)) == _TWO:
        _say_two_values(data.target)
    return regressor


def _say_two_values(target: str) -> None:
    note(
        f"{target!r} has two values only and is taken as a number; --task classification takes "
        "them as classes"
    )


def check_exposure(model: TSLRegressor | TSLClassifier, offset: OffsetColumn | None) -> None:
    """Raise for an exposure whose log would be added to the prediction itself, or to log-odds."""
    if offset is not None and offset.is_exposure and model._loss.link is not LOG:
        parameters = model.get_params()
        got = f"--loss {parameters['loss']}" if "loss" in parameters else "classes"
        raise ValueError(
            "--exposure is for counts and amounts, whose prediction it multiplies (--task count, "
            f"--loss poisson, gamma or tweedie), got {got}"
        )


def given_options(parameters: dict[str, Any]) -> list[str]:
    """The parameters that stand on the command line."""
    context = click.get_current_context()
    source = click.core.ParameterSource.COMMANDLINE
    return [name for name in parameters if context.get_parameter_source(name) is source]


def _check_for_two(
    target: str, n: int, has_offset: bool, directions: dict[str, int] | None
) -> None:
    """Raise for what two classes may have, but not more."""
    if has_offset and n > _TWO:
        raise ValueError(
            f"--offset is for two classes, whose log-odds it is added to, but {target!r} has {n}"
        )
    if directions is not None and n > _TWO:
        raise ValueError(
            f"--monotone is for two classes, but {target!r} has {n}: a score that may only "
            "rise says nothing about the probability"
        )


def _say_classes(target: str, classes: Any, task: str) -> None:
    """What auto made of the target, and what a model of more than two classes is, in a line."""
    labels = [str(label) for label in classes.tolist()]
    sums = f", with a score for each of the {len(labels)}" if len(labels) > _TWO else ""
    if task != "auto" and not sums:
        return
    shown = ", ".join(repr(label) for label in labels[:_MOST_SHOWN_CLASSES])
    more = ", ..." if len(labels) > _MOST_SHOWN_CLASSES else ""
    asked = "" if task != "auto" else ", as with --task classification"
    note(f"{target!r} holds the classes {shown}{more}: the model is a classifier{sums}{asked}")


def _check_domain(data: Columns, parameters: dict[str, Any]) -> None:
    """Raise before the fit for outcomes that the loss is not defined for."""
    loss = LOSSES[parameters["loss"]].with_shape(parameters["power"], parameters["quantile"])
    try:
        loss.check_target(data.y)
    except ValueError as error:
        name = parameters["loss"]
        raise ValueError(f"{data.target!r} with --loss {name}: {error}") from error
