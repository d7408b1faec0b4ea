"""What the harness knows of a model: how it is made, what it takes, what may be tuned."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd

from benchmarks.encoding import numbers_only
from benchmarks.tasks import CLASSES, Classes, Problem, Task


@dataclass(frozen=True)
class Whole:
    """An integer from ``low`` to ``high``, both included."""

    low: int
    high: int


@dataclass(frozen=True)
class Real:
    """A number from ``low`` to ``high``; ``log`` for a uniform logarithm."""

    low: float
    high: float
    log: bool = False


@dataclass(frozen=True)
class OneOf:
    """One of a few values."""

    options: tuple[Any, ...]


Space = Mapping[str, Whole | Real | OneOf]
Maker = Callable[[dict[str, Any], int], Any]


@dataclass(frozen=True)
class Rival:
    """A model with its defaults.

    Attributes
    ----------
    makers : mapping of kinds of tasks to functions of (parameters, seed)
        What these return has ``fit(X, y)`` and ``predict(X)``, or ``predict_proba(X)`` for classes;
        for counts both take an ``offset`` too. For quantiles the parameters have the ``level``.
        Imports are made inside, so that a rival that is not installed is a row that says so.
    packages : tuple of str
        Whose versions a result names.
    takes_levels : bool
        Otherwise levels become their mean target in the training part.
    takes_missing : bool
        Otherwise tables with missing values are skipped.
    most_classes : int or None
        Tables of more classes are skipped.
    space : mapping
        What is tuned, as in the paper's appendix; empty if nothing is.
    published : str or None
        The model's name among the published tuned parameters.
    warm_up : bool
        A small fit is made before the clock runs, for what is compiled or loaded only once.
    facts : function of the fitted model
        What a row tells of it besides its errors.
    """

    name: str
    makers: Mapping[str, Maker]
    packages: tuple[str, ...]
    takes_levels: bool = True
    takes_missing: bool = True
    most_classes: int | None = None
    space: Space = field(default_factory=dict)
    published: str | None = None
    warm_up: bool = False
    facts: Callable[[Any], dict[str, float]] = lambda _: {}

    def make(self, parameters: dict[str, Any], seed: int, task: Task | None = None) -> Any:
        """A model to fit; of regression unless another task is given."""
        task = task or Task()
        return self.makers[task.kind](task.parameters | parameters, seed)

    def why_not(self, problem: Problem) -> str | None:
        """Why the model cannot be fitted to these rows, or None."""
        task = problem.task
        if task.kind not in self.makers:
            return f"{self.name} has no model of {task.kind}"
        if isinstance(task, Classes) and task.n_classes > (self.most_classes or task.n_classes):
            return f"{self.name} has no model of more than {self.most_classes} {CLASSES}"
        if not self.takes_missing and bool(problem.X.isna().any(axis=None)):
            return f"{self.name} does not take missing values"
        return None

    def tables(
        self, X: pd.DataFrame, y: np.ndarray, X_test: pd.DataFrame, tag: str = "default"
    ) -> tuple[Any, Any]:
        """Both tables in the form the model takes; ``y`` is what levels are encoded by.

        Published parameters were found with encoded levels, so with them all models get numbers.
        """
        as_they_are = self.takes_levels and tag != "published"
        return (X, X_test) if as_they_are else numbers_only(X, y, X_test)
