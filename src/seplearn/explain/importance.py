"""Feature importance: the mean size of a feature's exact Shapley value."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Literal, overload

import numpy as np

from seplearn._errors import out_of_range
from seplearn._rules import check_level
from seplearn._workers import ThreadWorkers, n_threads
from seplearn.explain.class_importance import ClassImportance, class_importance_of
from seplearn.explain.paper_importance import PaperImportance, paper_importance
from seplearn.explain.result import Explanation, band_of
from seplearn.explain.shapley import affordable_rows, row_parts, values_at
from seplearn.explain.sizes import few_rows, shares
from seplearn.explain.subject import Subject
from seplearn.kernels.arrays import FloatArray
from seplearn.model.classes import ClassModels
from seplearn.model.model import SeparationModel
from seplearn.model.reference import Reference

_KINDS = ("shapley", "paper")


@dataclass(frozen=True, eq=False, repr=False)
class Importance(Explanation):
    """Mean size of the Shapley values of every feature, in the unit of y.

    Attributes
    ----------
    names : tuple of str
        Of the features.
    values : array of shape (p,)
        By how much a feature moves a prediction away from the mean prediction, up or down, on
        average over the rows: the mean of the absolute Shapley value.
    n_rows : int
        Rows over which the mean is taken; each is compared with each of them.
    bands : array of shape (2, p), or None
        How much replicates differ from each other, about the importance of the model itself; None
        for a model without replicates.

    Examples
    --------
    >>> from seplearn import TSLRegressor, datasets, explain
    >>> X, y = datasets.masked_interaction(500, as_frame=True, random_state=0)
    >>> model = TSLRegressor(n_stages=1, random_state=0).fit(X, y)
    >>> importance = explain.importance(model)
    >>> importance.values.shape, importance.n_rows
    ((3,), 500)
    >>> list(importance.frame().columns)
    ['feature', 'importance', 'share']
    """

    _figure: ClassVar[str] = "plot_importance"

    names: tuple[str, ...]
    values: FloatArray
    n_rows: int
    bands: FloatArray | None = None

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
        return columns


@overload
def importance(
    model: Any, *, kind: Literal["shapley"] = ..., gamma: None = ..., background: Any = ...,
    level: float = ..., n_jobs: int | None = ...,
) -> Importance | ClassImportance: ...  # fmt: skip


@overload
def importance(
    model: Any, *, kind: Literal["paper"], gamma: float | None = ..., background: Any = ...,
    level: float = ..., n_jobs: int | None = ...,
) -> PaperImportance: ...  # fmt: skip


def importance(
    model: Any,
    *,
    kind: Literal["shapley", "paper"] = "shapley",
    gamma: float | None = None,
    background: Any = None,
    level: float = 0.9,
    n_jobs: int | None = None,
) -> Importance | ClassImportance | PaperImportance:
    """How important every feature is, in the unit of the prediction.

    By default the mean absolute Shapley value over the rows of the background, each exact. All
    stages and main effects count together, so what cancels between them is not counted. Of more
    than two classes, what moves the log of each probability beside those of the others.

    Parameters
    ----------
    model : fitted estimator, ClassView or SeparationModel
        A fitted estimator, or, but of several classes, its ``model_``. For the paper's panels of
        several classes what its ``for_class`` gives.
    kind : {"shapley", "paper"}
        "paper" gives the paper's panels instead: variances of backbones and tilts, stage by stage
        and summed with the stages' weights. They are no measure of the model as a whole: a sharp
        backbone in a small stage can be the largest of them.
    gamma : float, optional
        For ``kind="paper"``, how much a variance of the tilt counts beside one of the backbone;
        1 if not given.
    background : table, optional
        Rows to average over. By default the reference rows kept in the model. Shapley values take
        at most 1000 of them, at equal steps, and fewer (never less than 100) for a model so large,
        or with so many bootstrap replicates, that it would take long: see ``n_rows`` of the result.
    level : float
        Share of the bootstrap replicates inside bands, for a model with ``n_bootstrap``.
    n_jobs : int, optional
        Threads, as joblib counts them; the values do not depend on it.

    Returns
    -------
    Importance, ClassImportance or PaperImportance
        For more than two classes the second, for ``kind="paper"`` the third.

    Examples
    --------
    >>> from seplearn import TSLRegressor, datasets, explain
    >>> X, y = datasets.masked_interaction(1000, random_state=0)
    >>> model = TSLRegressor(n_stages=2, random_state=0).fit(X, y)
    >>> explain.importance(model).order[-1] in (0, 1, 2)
    True
    >>> int(explain.importance(model, kind="paper").total_tilt.argmax())
    2
    """
    if kind not in _KINDS:
        raise out_of_range("kind", f"one of {_KINDS}", kind)
    models = getattr(model, "model_", None)
    are_several = isinstance(models, ClassModels) and kind == "shapley"
    subject = Subject.of_any(model) if are_several else Subject.of(model)
    level = check_level(level)
    if kind == "paper":
        return paper_importance(subject, 1.0 if gamma is None else gamma, background, level)
    if gamma is not None:
        raise ValueError(f"gamma must come with kind='paper', got {gamma!r} and kind={kind!r}")
    rows = subject.rows(background)
    if isinstance(models, ClassModels):
        labels = model.classes_.tolist()
        return class_importance_of(models, subject, labels, rows, level, n_jobs)
    return mean_sizes(subject, rows, level, n_jobs)


def mean_sizes(
    subject: Subject, rows: Reference, level: float = 0.9, n_jobs: int | None = None
) -> Importance:
    """Mean absolute Shapley values over rows already binned."""
    own, replicates = (subject.model,), subject.model.replicates
    used = few_rows(rows, affordable_rows(own))
    (values,) = _sizes(own, used, n_jobs)
    bands = None
    if replicates:
        others = _sizes(replicates, few_rows(rows, affordable_rows(replicates)), n_jobs)
        # Replicates vary more from row to row than the model does, so that their sizes are larger;
        # how they differ from each other is what there is to tell.
        bands = np.maximum(values + band_of(list(others - others.mean(axis=0)), level), 0.0)
    return Importance(
        names=subject.names,
        values=values,
        n_rows=len(used.codes),
        bands=bands,
        library=subject.schema.library,
        quantity=subject.quantity,
    )


def _sizes(models: Sequence[SeparationModel], rows: Reference, n_jobs: int | None) -> FloatArray:
    """Of every model, the mean sizes over rows, which all are compared with."""
    parts = row_parts(rows)

    def size(task: tuple[SeparationModel, slice]) -> FloatArray:
        model, part = task
        mean: FloatArray = rows.weight[part] @ np.abs(values_at(model, rows.codes[part], rows))
        return mean

    with ThreadWorkers(n_threads(n_jobs)) as workers:
        sizes = workers.map(size, [(model, part) for model in models for part in parts])
    total: FloatArray = np.array(sizes).reshape(len(models), len(parts), -1).sum(axis=1)
    return total
