"""Exact interventional Shapley values: for products the sum over coalitions has a closed form."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from seplearn._workers import ThreadWorkers, n_threads
from seplearn.explain.axes import row_texts
from seplearn.explain.products import scaled_factors
from seplearn.explain.result import Explanation, distinct_names
from seplearn.explain.sizes import middle_ranks
from seplearn.explain.subject import Subject
from seplearn.kernels.arrays import CodeArray, FloatArray
from seplearn.kernels.shapley import add_shapley_values
from seplearn.model.model import SeparationModel
from seplearn.model.reference import Reference
from seplearn.table.columns import open_table

_BLOCK_ROWS = 256
_PART_ROWS = 100
# Factors multiplied for one row and one background row count one each; this many take about a
# second on one core.
_MOST_WORK = 300_000_000
_FEWEST_ROWS, _MOST_ROWS = 100, 1_000
_TOLD_ROWS = 50


@dataclass(frozen=True, eq=False, repr=False)
class ShapleyValues(Explanation):
    """How the difference between a prediction and the mean prediction is shared by the features.

    Attributes
    ----------
    names : tuple of str
        Of the features.
    values : array of shape (n, p)
        Shapley values, in the unit of y; ``base + values.sum(axis=1)`` is the prediction.
    base : float
        Mean prediction over the background.
    predictions : array of shape (n,)
    positions : array of shape (n, p)
        Where each value lies among the training rows, from 0 (lowest) to 1; NaN for missing
        values and levels. For colouring.
    texts : tuple of tuple of str
        The values of the rows in words, row by row; empty for more than 50 rows.
    index : pandas index, or None
        Of the rows, if they have one; ``frame()`` has it too.

    Examples
    --------
    >>> from seplearn import TSLRegressor, datasets, explain
    >>> X, y = datasets.masked_interaction(500, as_frame=True, random_state=0)
    >>> model = TSLRegressor(n_stages=1, random_state=0).fit(X, y)
    >>> shapley = explain.shapley(model, X[:20])
    >>> shapley.values.shape, shapley.mean_size.shape
    ((20, 3), (3,))
    >>> list(shapley.frame().columns)
    ['x1', 'x2', 'x3', 'base', 'prediction']
    """

    _figure: ClassVar[str] = "plot_shapley"

    names: tuple[str, ...]
    values: FloatArray
    base: float
    predictions: FloatArray
    positions: FloatArray
    texts: tuple[tuple[str, ...], ...] = ()
    index: Any = None

    @property
    def mean_size(self) -> FloatArray:
        """Mean absolute value of each feature over the rows, shape (p,)."""
        mean: FloatArray = np.abs(self.values).mean(axis=0)
        return mean

    def frame(self) -> Any:
        """A column per feature, then ``base`` and ``prediction``: every row sums up."""
        frame = super().frame()
        if self.index is not None and type(frame).__module__.startswith("pandas"):
            frame.index = self.index
        return frame

    def _columns(self) -> dict[str, Any]:
        """A column per feature, then ``base`` and ``prediction``: every row sums up."""
        names = distinct_names(self.names, {"base", "prediction"})
        columns: dict[str, Any] = dict(zip(names, self.values.T, strict=True))
        columns["base"] = np.full(len(self.values), self.base)
        columns["prediction"] = self.predictions
        return columns


def shapley(
    model: Any, X: Any, *, background: Any = None, n_jobs: int | None = None
) -> ShapleyValues:
    """Exact interventional Shapley values, without sampling and without listing coalitions.

    A coalition's value is the mean prediction with its features from the row and all others from
    a background row. For a product the average over coalitions is an integral of a polynomial,
    which a few Gauss-Legendre nodes give exactly; a main effect is all its feature's. Time grows
    with rows times background rows times, product by product, the square of the number of features
    it depends on.

    Parameters
    ----------
    model : fitted estimator, ClassView or SeparationModel
        A fitted estimator (of several classes what its ``for_class`` gives), or its ``model_``.
    X : table
        The rows to explain.
    background : table, optional
        Rows the features are taken from. By default the reference rows kept in the model.
    n_jobs : int, optional
        Threads, as joblib counts them; the values do not depend on it.

    Examples
    --------
    >>> from seplearn import TSLRegressor, datasets, explain
    >>> X, y = datasets.masked_interaction(1000, random_state=0)
    >>> model = TSLRegressor(n_stages=2, random_state=0).fit(X, y)
    >>> shapley = explain.shapley(model, X[:5])
    >>> total = shapley.base + shapley.values.sum(axis=1)
    >>> bool(abs(total - model.predict(X[:5])).max() < 1e-9)
    True
    """
    subject = Subject.of(model)
    fitted = subject.model
    table = open_table(X)
    columns = subject.schema.columns_in(table, subject.owner)
    codes = fitted.bins.codes(table, columns)
    rows = subject.rows(background)
    with ThreadWorkers(n_threads(n_jobs)) as workers:
        blocks = [codes[start : start + _BLOCK_ROWS] for start in range(0, len(codes), _BLOCK_ROWS)]
        values = np.concatenate(workers.map(lambda block: values_at(fitted, block, rows), blocks))
    texts: tuple[tuple[str, ...], ...] = ()
    if len(codes) <= _TOLD_ROWS:
        texts = row_texts(fitted.bins.axes, table, columns)
    return ShapleyValues(
        names=subject.names,
        values=values,
        base=float(fitted.predict(rows.codes) @ rows.weight),
        predictions=fitted.predict(codes),
        positions=middle_ranks(fitted.bins)[fitted.bins.flat(codes)],
        texts=texts,
        index=getattr(X, "index", None) if table.library == "pandas" else None,
        library=subject.schema.library,
        quantity=subject.quantity,
    )


def values_at(model: SeparationModel, codes: CodeArray, rows: Reference) -> FloatArray:
    """Shapley values of rows given as bin codes, against background rows."""
    at, background = (model.bins.flat(part) for part in (codes, rows.codes))
    # What is additive needs no coalitions: a main effect is its feature's own.
    out = model.effect_values(codes) - rows.weight @ model.effect_values(rows.codes)
    for stage in model.stages:
        for branch in stage.active:
            # A flat curve moves nothing: its feature takes no part in the game of this product.
            used = list(branch.features(model.bins))
            if not used:
                continue
            nodes, weights = np.polynomial.legendre.leggauss((len(used) + 1) // 2)
            nodes, weights = 0.5 + 0.5 * nodes, 0.5 * weights
            factors = scaled_factors(branch, len(used))
            here = factors[at[:, used]]
            there = np.ascontiguousarray(factors[background[:, used]].T)
            sign, values = branch.coefficient_sign, np.zeros(here.shape)
            add_shapley_values(here, there, rows.weight, nodes, weights, sign, values)
            out[:, used] += values
    return out


def affordable_rows(models: Sequence[SeparationModel]) -> int:
    """How many rows can be compared with as many others in reasonable time."""
    work = 1
    for model in models:
        for stage in model.stages:
            for branch in stage.active:
                used = len(branch.features(model.bins))
                work += used * ((used + 1) // 2)
    return int(np.clip(math.isqrt(_MOST_WORK // work), _FEWEST_ROWS, _MOST_ROWS))


def row_parts(rows: Reference) -> list[slice]:
    """Rows by the hundred: what one thread does at a time."""
    return [slice(k, k + _PART_ROWS) for k in range(0, len(rows.codes), _PART_ROWS)]
