"""Individual conditional expectation: the prediction of single rows against one feature."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from seplearn.explain.products import SIDE_SIGN, rest_of_products, side_factors
from seplearn.explain.result import Explanation, distinct_names
from seplearn.explain.subject import Subject, check_number
from seplearn.kernels.arrays import CodeArray, FloatArray, IntArray
from seplearn.model.model import SeparationModel
from seplearn.table.binning import Axis


@dataclass(frozen=True, eq=False, repr=False)
class IndividualExpectation(Explanation):
    """Predictions of rows in which one feature is moved through all its bins.

    Attributes
    ----------
    feature, name, axis, frequencies
        The feature, its name, its bins and how often training rows fall into them.
    values : array of shape (n_rows, n_bins)
        Prediction of each row with the feature in each bin; of the chosen stage alone, without
        the intercept and main effects, when a stage was chosen.
    own : array of int of shape (n_rows,)
        The bin in which each row really is.
    stage : int or None
        The stage shown; None for the whole model.
    stage_name : str or None
        The features that this stage depends on.

    Examples
    --------
    >>> from seplearn import TSLRegressor, datasets, explain
    >>> X, y = datasets.masked_interaction(500, as_frame=True, random_state=0)
    >>> model = TSLRegressor(n_stages=1, random_state=0).fit(X, y)
    >>> ice = explain.ice(model, "x1", max_rows=50)
    >>> ice.values.shape == (50, ice.axis.n_bins)
    True
    """

    _figure: ClassVar[str] = "plot_ice"

    feature: int
    name: str
    axis: Axis
    frequencies: FloatArray
    values: FloatArray
    own: IntArray
    stage: int | None
    stage_name: str | None = None

    def _columns(self) -> dict[str, Any]:
        """One row per row and bin."""
        n_rows, n_bins = self.values.shape
        value = np.tile(self.axis.describe().values, n_rows)
        what = self.quantity if self.stage is None else "contribution"
        (name,) = distinct_names([self.name], {"row", what})
        rows = np.repeat(np.arange(n_rows), n_bins)
        return {"row": rows, name: value, what: self.values.ravel()}


def ice(
    model: Any, feature: Any, X: Any = None, *, stage: int | None = None, max_rows: int = 200
) -> IndividualExpectation:
    """How the prediction of single rows moves with one feature.

    Parameters
    ----------
    model : fitted estimator, ClassView or SeparationModel
        A fitted estimator (of several classes what its ``for_class`` gives), or its ``model_``.
    feature : str or int
        Name or position.
    X : table, optional
        The rows. By default the reference rows kept in the model.
    stage : int, optional
        Show one stage, counted from zero, instead of the prediction.
    max_rows : int
        Of more rows, as many are taken at equal steps.

    Examples
    --------
    >>> from seplearn import TSLRegressor, datasets, explain
    >>> X, y = datasets.masked_interaction(1000, random_state=0)
    >>> model = TSLRegressor(n_stages=2, random_state=0).fit(X, y)
    >>> ice = explain.ice(model, 0, X[:3])
    >>> bool(abs(ice.values[0, ice.own[0]] - model.predict(X[:1])[0]) < 1e-9)
    True
    """
    subject = Subject.of(model)
    j = subject.feature(feature)
    max_rows = int(check_number("max_rows", max_rows, "an integer >= 1", _is_count))
    codes = subject.rows(None, "X").codes if X is None else subject.codes(X)
    return lines_of(subject, j, codes, max_rows, None if stage is None else subject.stage(stage))


def lines_of(
    subject: Subject, j: int, codes: CodeArray, max_rows: int, stage: int | None = None
) -> IndividualExpectation:
    """The predictions, or a stage, of at most so many rows already binned, at equal steps."""
    fitted, bins = subject.model, subject.model.bins
    if len(codes) > max_rows:
        codes = codes[np.arange(max_rows) * len(codes) // max_rows]
    values = sums_along(fitted, codes, j, stage)
    return IndividualExpectation(
        feature=j,
        name=subject.names[j],
        axis=bins.axes[j],
        frequencies=bins.frequencies[bins.axis(j)].copy(),
        values=values,
        own=codes[:, j].astype(np.int64),
        stage=stage,
        stage_name=None if stage is None else subject.stage_names[stage],
        library=subject.schema.library,
        quantity=subject.quantity,
    )


def sums_along(
    model: SeparationModel, codes: CodeArray, j: int, stage: int | None = None
) -> FloatArray:
    """The sum, or one stage, of rows in which feature j is moved through its bins."""
    rest = rest_of_products(model, codes, [j])
    values = np.zeros((len(codes), model.bins.axes[j].n_bins))
    if stage is None:
        values += model.intercept + _effects(model, codes, j)
    for s in range(len(model.stages)) if stage is None else [stage]:
        factors = side_factors(model.stages[s], model.bins.axis(j))
        values += (SIDE_SIGN[:, None] * rest[s]).T @ factors
    return values


def sums_over_pair(
    model: SeparationModel,
    codes: CodeArray,
    features: tuple[int, int],
    bins: tuple[IntArray, IntArray],
) -> FloatArray:
    """The sum of one row in which two features are moved through some of their bins."""
    rest = rest_of_products(model, codes, features)[:, :, 0]
    effects = model.effect_values(codes)[0]
    others = float(np.delete(effects, features).sum())
    axes = [model.bins.axis(j) for j in features]
    values = np.full((len(bins[0]), len(bins[1])), model.intercept + others)
    if model.effects is not None:
        first, second = (model.effects[axis][b] for axis, b in zip(axes, bins, strict=True))
        values += np.add.outer(first, second)
    for s, stage in enumerate(model.stages):
        one, other = (side_factors(stage, a)[:, b] for a, b in zip(axes, bins, strict=True))
        values += ((SIDE_SIGN * rest[s])[:, None] * one).T @ other
    return values


def _effects(model: SeparationModel, codes: CodeArray, j: int) -> FloatArray | float:
    """The main effects of rows in which feature j is moved through its bins."""
    if model.effects is None:
        return 0.0
    others = np.delete(model.effect_values(codes), j, axis=1).sum(axis=1)
    moved: FloatArray = np.add.outer(others, model.effects[model.bins.axis(j)])
    return moved


def _is_count(value: float) -> bool:
    return value >= 1 and value.is_integer()
