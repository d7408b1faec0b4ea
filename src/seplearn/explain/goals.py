"""What a counterfactual is to reach: a number, a class, or the probability of a class."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from seplearn._errors import out_of_range, wrong_type
from seplearn._numerals import number_text
from seplearn._rules import is_real
from seplearn.explain.subject import Subject
from seplearn.kernels.arrays import BoolArray, FloatArray
from seplearn.losses.links import Link, class_shares
from seplearn.model.reading import brief


class Goal(NamedTuple):
    """What is wanted of sums, which are of shape (number of sums, ...)."""

    response: str
    wanted: str
    reached: Callable[[FloatArray], BoolArray]
    prediction: Callable[[FloatArray], FloatArray]
    is_up: bool = True
    is_of_a_class: bool = False

    def nearness(self, sums: FloatArray) -> FloatArray:
        """The nearer to the goal, the larger."""
        return self.prediction(sums) if self.is_up else -self.prediction(sums)


def goal_of(model: Any, subject: Subject, target: Any, label: Any, now: FloatArray) -> Goal:
    """What the sums of a row, now so large, are to reach."""
    classes = getattr(model, "classes_", None)
    labels = [] if classes is None else classes.tolist()
    if not np.isscalar(target):
        raise wrong_type("target", "a number or a class", target)
    if len(now) > 1:
        return _goal_of_several(labels, target, label, now)
    if label is not None:
        raise out_of_range("label", "None for a model that is not of several classes", label)

    def prediction(sums: FloatArray) -> FloatArray:
        return subject.model.link.inverse(sums[0])

    if target in labels:
        place = labels.index(target)
        return _goal_of_two(labels[place], place == 1, subject.model.link)
    number = _checked(target, subject.model.link.name, labels)
    return _at_least_or_most(number, subject.response, prediction, now)


def _goal_of_two(label: Any, is_second: bool, link: Link) -> Goal:
    """That a class is the likelier of two; the sum is the log-odds of the second."""
    sign = 1.0 if is_second else -1.0
    reached = np.greater if is_second else np.less_equal
    name = brief(str(label))
    return Goal(
        f"probability of {name}", f"class {name}", lambda sums: reached(sums[0], 0.0),
        lambda sums: link.inverse(sign * sums[0]), is_of_a_class=True,
    )  # fmt: skip


def _goal_of_several(labels: list[Any], target: Any, label: Any, now: FloatArray) -> Goal:
    """That a class is the likeliest, or that it has a probability."""
    argument, chosen = ("target", target) if label is None else ("label", label)
    if not np.isscalar(chosen) or chosen not in labels:
        hint = " (a probability needs label)" if label is None and is_real(chosen) else ""
        raise out_of_range(argument, f"one of the classes {labels}{hint}", chosen)
    k = labels.index(chosen)
    name = brief(str(chosen))

    def probability(sums: FloatArray) -> FloatArray:
        flat = sums.reshape(len(sums), -1).T
        return class_shares(flat)[:, k].reshape(sums.shape[1:])

    response = f"probability of {name}"
    if label is not None:
        return _at_least_or_most(_checked(target, "logit", []), response, probability, now)
    return Goal(
        response, f"class {name}", lambda sums: sums.argmax(axis=0) == k, probability,
        is_of_a_class=True,
    )  # fmt: skip


def _at_least_or_most(
    number: float, response: str, prediction: Callable[[FloatArray], FloatArray], now: FloatArray
) -> Goal:
    """A prediction on the other side of a number than the row's, or just there."""
    is_below = bool(prediction(now[:, None])[0] < number)
    wanted = f"{response} of at {'least' if is_below else 'most'} {number_text(number, 6)}"
    enough = np.greater_equal if is_below else np.less_equal

    def reached(sums: FloatArray) -> BoolArray:
        return enough(prediction(sums), number)

    return Goal(response, wanted, reached, prediction, is_below)


def _checked(target: Any, link: str, labels: list[Any]) -> float:
    """A prediction that the link allows."""
    low, high, rule = {
        "logit": (0.0, 1.0, "a probability above 0 and below 1"),
        "log": (0.0, math.inf, "a positive number"),
    }.get(link, (-math.inf, math.inf, "a finite number"))
    if not is_real(target) or not low < target < high:
        rule += f" or one of the classes {labels}" if labels else ""
        raise out_of_range("target", rule, target)
    return float(target)
