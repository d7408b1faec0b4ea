"""Models of more than two classes on the command line: which class a command is asked about."""

from __future__ import annotations

from typing import Any

import click

from seplearn._errors import did_you_mean
from seplearn.estimators.base import SeparationEstimator
from seplearn.estimators.class_view import ClassView
from seplearn.estimators.classifier import TSLClassifier
from seplearn.model.classes import ClassModels

class_option = click.option(
    "--class",
    "label",
    metavar="LABEL",
    help="Of a model of more than two classes: the class whose score is shown.",
)
against_option = click.option(
    "--against",
    metavar="LABEL",
    help="With --class: another class; the log-odds between the two are shown.",
)


def of_several(estimator: SeparationEstimator) -> TSLClassifier | None:
    """The classifier, if it has a score for each of several classes."""
    if isinstance(estimator, TSLClassifier) and isinstance(estimator.model_, ClassModels):
        return estimator
    return None


def class_views(
    estimator: SeparationEstimator, label: str | None, against: str | None = None
) -> list[tuple[Any, ClassView | SeparationEstimator]]:
    """What can be read and explained: the class asked for, or all; of one sum the model itself.

    The first of a pair is the label of the class, None for a model of one sum.
    """
    several = of_several(estimator)
    if several is None:
        if label is not None or against is not None:
            raise ValueError(
                "--class and --against are for models of more than two classes, got one of "
                f"{_kind(estimator)}"
            )
        return [(None, estimator)]
    if label is None:
        if against is not None:
            raise ValueError("--against needs --class, the class whose odds are asked for")
        return [(own, several.for_class(own)) for own in several.classes_.tolist()]
    own = known_label(several, "--class", label)
    other = None if against is None else known_label(several, "--against", against)
    return [(own, several.for_class(own, other))]


def known_label(classifier: TSLClassifier, option: str, text: str) -> Any:
    """The label that is spelled so."""
    labels = {str(one): one for one in classifier.classes_.tolist()}
    if text not in labels:
        raise ValueError(
            f"{option} must be one of the classes {list(labels)}, got {text!r}"
            f"{did_you_mean(text, list(labels))}"
        )
    return labels[text]


def _kind(estimator: SeparationEstimator) -> str:
    return "two classes" if isinstance(estimator, TSLClassifier) else "numbers"
