"""Feature importance of a classifier of more than two classes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np

from seplearn._workers import ThreadWorkers, n_threads
from seplearn.explain.result import Explanation, band_of, distinct_names
from seplearn.explain.shapley import affordable_rows, row_parts, values_at
from seplearn.explain.sizes import few_rows, shares
from seplearn.explain.subject import Subject
from seplearn.kernels.arrays import FloatArray
from seplearn.model.classes import ClassModels
from seplearn.model.model import SeparationModel
from seplearn.model.reference import Reference


@dataclass(frozen=True, eq=False, repr=False)
class ClassImportance(Explanation):
    """Mean size of the Shapley values of every feature, for each of several classes.

    What is shared out is the score of a class minus the mean of all scores: the log of its
    probability over the geometric mean of all probabilities. It says the same whatever is added
    to all scores, which changes no probability.

    Attributes
    ----------
    names : tuple of str
        Of the features.
    classes : list
        The labels, in the order of ``classes_``.
    of_class : array of shape (n_classes, p)
        The mean absolute Shapley value for every class.
    n_rows : int
        Rows over which the mean is taken; each is compared with each of them.
    bands : array of shape (2, p), or None
        How much replicates differ from each other, about ``values``; None for a model without
        replicates.

    Examples
    --------
    >>> import numpy as np
    >>> from seplearn import TSLClassifier, datasets, explain
    >>> X, y = datasets.rents(600, random_state=0)
    >>> three = np.array(["cheap", "fair", "dear"])[np.digitize(y, [600, 900])]
    >>> model = TSLClassifier(1, early_stopping=False, random_state=0).fit(X, three)
    >>> importance = explain.importance(model)
    >>> importance.classes, importance.of_class.shape
    (['cheap', 'dear', 'fair'], (3, 7))
    >>> importance.names[importance.order[0]]
    'area'
    """

    _figure: ClassVar[str] = "plot_class_importance"

    names: tuple[str, ...]
    classes: list[Any]
    of_class: FloatArray
    n_rows: int
    bands: FloatArray | None = None

    @property
    def values(self) -> FloatArray:
        """The mean over classes, shape (p,)."""
        mean: FloatArray = self.of_class.mean(axis=0)
        return mean

    @property
    def share(self) -> FloatArray:
        """``values`` divided by their sum, shape (p,)."""
        return shares(self.values)

    @property
    def order(self) -> tuple[int, ...]:
        """The features, the most important first."""
        return tuple(np.argsort(-self.values, kind="stable").tolist())

    def _columns(self) -> dict[str, Any]:
        """One row per feature, the most important first."""
        order = list(self.order)
        columns: dict[str, Any] = {
            "feature": [self.names[j] for j in order],
            "importance": self.values[order],
            "share": self.share[order],
        }
        if self.bands is not None:
            columns["importance_lower"], columns["importance_upper"] = self.bands[:, order]
        words = distinct_names([f"for {label}" for label in self.classes], columns)
        return columns | dict(zip(words, self.of_class[:, order], strict=True))


def class_importance_of(
    models: ClassModels,
    subject: Subject,
    classes: Sequence[Any],
    rows: Reference,
    level: float = 0.9,
    n_jobs: int | None = None,
) -> ClassImportance:
    """The importance for all classes over rows already binned."""
    used = few_rows(rows, affordable_rows(models.models))
    of_class = _sizes(models.models, used, n_jobs)
    found = ClassImportance(
        names=subject.names,
        classes=list(classes),
        of_class=of_class,
        n_rows=len(used.codes),
        library=subject.schema.library,
        quantity="score beside the mean of all",
    )
    if not models.replicates:
        return found
    every = [model for replicate in models.replicates for model in replicate.models]
    few = few_rows(rows, affordable_rows(every))
    others = np.array([_sizes(one.models, few, n_jobs).mean(axis=0) for one in models.replicates])
    about_itself = band_of(list(others - others.mean(axis=0)), level)
    return replace(found, bands=np.maximum(found.values + about_itself, 0.0))


def _sizes(models: Sequence[SeparationModel], rows: Reference, n_jobs: int | None) -> FloatArray:
    """Mean sizes of what is left of the values without their mean over classes, (K, p)."""
    parts = row_parts(rows)

    def size(part: slice) -> FloatArray:
        values = np.array([values_at(model, rows.codes[part], rows) for model in models])
        mean: FloatArray = rows.weight[part] @ np.abs(values - values.mean(axis=0))
        return mean

    with ThreadWorkers(n_threads(n_jobs)) as workers:
        total: FloatArray = np.sum(workers.map(size, parts), axis=0)
    return total
