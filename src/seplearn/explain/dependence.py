"""Partial dependence of any order, exact: of a product its factors times a constant."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import reduce
from typing import Any, ClassVar

import numpy as np

from seplearn._errors import out_of_range
from seplearn._rules import check_level
from seplearn.explain.products import SIDE_SIGN, constants, side_factors, support
from seplearn.explain.result import Explanation, band_of, distinct_names
from seplearn.explain.subject import Subject
from seplearn.kernels.arrays import BoolArray, FloatArray
from seplearn.model.model import SeparationModel
from seplearn.model.reference import Reference
from seplearn.table.binning import Axis
from seplearn.table.columns import Table, open_table

_MOST_POINTS = 20_000_000
_PARTS = ("total", "effects", "stages", "plus", "minus", "backbone")


@dataclass(frozen=True, eq=False, repr=False)
class PartialDependence(Explanation):
    """Average prediction against the values of some features, per product, stage and in all.

    It is held as what it is, a small model on the features S: per stage and product a constant
    ``C = lambda E[prod_{k not in S} a_k(X_k)]`` and the factors of S; and the main effects of S.
    The arrays over all combinations of bins are made when asked for.

    Attributes
    ----------
    features : tuple of int
        S, as positions; ``names`` has their names.
    axes : tuple of NumericAxis or CategoricalAxis
        The bins of each.
    frequencies : tuple of array
        Share of the training weight in each bin.
    intercept : float
        The constant of the model.
    mean : float
        Mean prediction over the background.
    constants : array of shape (n_stages, 2)
        C of the + and of the - product.
    factors : tuple of array of shape (n_stages, 2, n_bins)
        The factors of both products, for each feature of S.
    stage_names : tuple of str
        Per stage, the features it depends on.
    is_two_branch : tuple of bool
        Per stage, whether one product adds and the other subtracts, so that there is a backbone.
    support : array of bool of shape ``shape``, or None
        For two features, the pairs of bins near which there are background rows.
    effect_curves : tuple of array of shape (n_bins,), or None
        The main effect of each feature of S; None for a model without main effects.
    effect_rest : float
        The mean of all other main effects over the background.
    replicates : tuple of PartialDependence
        The same of the bootstrap replicates; ``level`` is the share of them inside a band.

    Examples
    --------
    >>> from seplearn import TSLRegressor, datasets, explain
    >>> X, y = datasets.masked_interaction(500, as_frame=True, random_state=0)
    >>> model = TSLRegressor(n_stages=1, random_state=0).fit(X, y)
    >>> dependence = explain.partial_dependence(model, ["x1", "x3"])
    >>> dependence.total.shape == dependence.shape
    True
    >>> dependence.at(X[["x1", "x3"]]).shape
    (500,)
    """

    _figure: ClassVar[str] = "plot_partial_dependence"

    features: tuple[int, ...]
    names: tuple[str, ...]
    axes: tuple[Axis, ...]
    frequencies: tuple[FloatArray, ...]
    intercept: float
    mean: float
    constants: FloatArray
    factors: tuple[FloatArray, ...]
    stage_names: tuple[str, ...]
    is_two_branch: tuple[bool, ...]
    support: BoolArray | None = None
    effect_curves: tuple[FloatArray, ...] | None = None
    effect_rest: float = 0.0
    replicates: tuple[PartialDependence, ...] = ()
    level: float = 0.9

    @property
    def n_stages(self) -> int:
        return len(self.constants)

    @property
    def shape(self) -> tuple[int, ...]:
        """Bins of every feature of S."""
        return tuple(axis.n_bins for axis in self.axes)

    @property
    def plus(self) -> FloatArray:
        """Partial dependence of the + product of every stage, of shape ``(n_stages, *shape)``."""
        return self._over_grid(lambda s: self._product(s, 0))

    @property
    def minus(self) -> FloatArray:
        """Partial dependence of the - product of every stage, to be subtracted."""
        return self._over_grid(lambda s: self._product(s, 1))

    @property
    def stages(self) -> FloatArray:
        """Signed partial dependence of every stage: ``plus - minus``."""
        return self._over_grid(lambda s: self._product(s, 0) - self._product(s, 1))

    @property
    def total(self) -> FloatArray:
        """Partial dependence of the model, of shape ``shape``.

        The intercept plus the main effects plus all stages.
        """
        total: FloatArray = self.intercept + self.stages.sum(axis=0)
        return total if self.effect_curves is None else total + self.effects

    @property
    def effects(self) -> FloatArray:
        """Partial dependence of the main effects, of shape ``shape``.

        Those of S, and the mean of all others; zeros for a model without main effects.
        """
        self._check_points()
        if self.effect_curves is None:
            return np.zeros(self.shape)
        return reduce(np.add.outer, self.effect_curves, np.array(self.effect_rest))

    @property
    def backbone(self) -> FloatArray:
        """``sqrt(C_plus C_minus) prod_{j in S} b_j`` of every stage.

        What both products share, in the unit of y; NaN for a stage without two opposed products.
        """

        def geometric(s: int) -> FloatArray:
            if not self.is_two_branch[s]:
                return np.full(self.shape, np.nan)
            return np.sqrt(self._product(s, 0) * self._product(s, 1))

        return self._over_grid(geometric)

    def band(self, part: str = "total") -> FloatArray | None:
        """Lower and upper end of the bootstrap band of "total", "stages" or another part.

        None for a model without replicates.
        """
        if part not in _PARTS:
            raise out_of_range("part", f"one of {_PARTS}", part)
        band: FloatArray | None = band_of([getattr(r, part) for r in self.replicates], self.level)
        return band

    def at(self, X: Any) -> FloatArray:
        """Partial dependence of the model at the rows of a table, shape (n,).

        The way to read it for many features, where all combinations of bins are too many.

        Parameters
        ----------
        X : table or array
            With columns of these names; an array has these features only, in this order.
        """
        table = open_table(X)
        columns = self._columns_in(table)
        codes = [axis.codes(table, c) for axis, c in zip(self.axes, columns, strict=True)]
        value = np.full(table.n_rows, self.intercept + self.effect_rest)
        for curve, code in zip(self.effect_curves or (), codes, strict=False):
            value += curve[code]
        for s in range(self.n_stages):
            for side, sign in enumerate(SIDE_SIGN):
                parts = (f[s, side][code] for f, code in zip(self.factors, codes, strict=True))
                value += reduce(np.multiply, parts, sign * self.constants[s, side])
        return value

    def held(self, place: int, code: int) -> PartialDependence:
        """The same with one of the features, counted from zero, held in one of its bins.

        It is partial dependence on the other features; ``replicates`` are held too.
        """
        factors = self.factors[place][:, :, code]
        curves, rest = self.effect_curves, self.effect_rest
        if curves is not None:
            rest += float(curves[place][code])

        def others(parts: tuple[Any, ...]) -> tuple[Any, ...]:
            return parts[:place] + parts[place + 1 :]

        return replace(
            self,
            features=others(self.features),
            names=others(self.names),
            axes=others(self.axes),
            frequencies=others(self.frequencies),
            constants=self.constants * factors,
            factors=others(self.factors),
            support=None,
            effect_curves=None if curves is None else others(curves),
            effect_rest=rest,
            replicates=tuple(one.held(place, code) for one in self.replicates),
        )

    def _columns_in(self, table: Table) -> list[int]:
        if table.names is not None and set(self.names) <= set(table.names):
            return [table.names.index(name) for name in self.names]
        if table.n_columns != len(self.features) or table.names is not None:
            got = f"{table.n_columns} columns" if table.names is None else list(table.names)
            raise ValueError(f"X must have the columns {list(self.names)}, got {got}")
        return list(range(len(self.features)))

    def _over_grid(self, value: Callable[[int], FloatArray]) -> FloatArray:
        self._check_points()
        return np.array([value(s) for s in range(self.n_stages)]).reshape(-1, *self.shape)

    def _check_points(self) -> None:
        points = int(np.prod(self.shape))
        if points * max(1, self.n_stages) > _MOST_POINTS:
            raise ValueError(
                f"features {list(self.names)} have {points} combinations of bins, too many for "
                "an array per stage; at(X) gives the values at the rows of a table"
            )

    def _product(self, s: int, side: int) -> FloatArray:
        curves = (f[s, side] for f in self.factors)
        return reduce(np.multiply.outer, curves, self.constants[s, side])

    def _columns(self) -> dict[str, Any]:
        """One row per combination of bins."""
        numbers = {"pd": self.total} | self._ends()
        if len(self.features) == 1:
            numbers = {"frequency": self.frequencies[0]} | numbers
        if self.effect_curves is not None:
            numbers["main_effects"] = self.effects
        for s, (stage, plus, minus) in enumerate(
            zip(self.stages, self.plus, self.minus, strict=True)
        ):
            numbers |= {f"stage_{s}": stage, f"stage_{s}_plus": plus, f"stage_{s}_minus": minus}
        grids = np.meshgrid(*(axis.describe().values for axis in self.axes), indexing="ij")
        names = distinct_names(self.names, numbers)
        columns = dict(zip(names, (grid.ravel() for grid in grids), strict=True))
        return columns | {name: values.ravel() for name, values in numbers.items()}

    def _ends(self) -> dict[str, FloatArray]:
        band = self.band()
        return {} if band is None else {"pd_lower": band[0], "pd_upper": band[1]}


def partial_dependence(
    model: Any, features: Any, *, background: Any = None, level: float = 0.9
) -> PartialDependence:
    """Partial dependence on one, two or any number of features, exact for the model.

    For every stage and product it is the factors of these features times a constant, the mean of
    the product of all other factors over the background; main effects of these features are added.
    No grid is averaged, nothing is sampled.

    Parameters
    ----------
    model : fitted estimator, ClassView or SeparationModel
        A fitted estimator (of several classes what its ``for_class`` gives), or its ``model_``,
        whose features are named by position.
    features : str, int, or several
        Names or positions.
    background : table, optional
        Rows to average over. By default the reference rows kept in the model.
    level : float
        Share of the bootstrap replicates inside bands, for a model with ``n_bootstrap``.

    Examples
    --------
    >>> from seplearn import TSLRegressor, datasets, explain
    >>> X, y = datasets.masked_interaction(1000, random_state=0)
    >>> model = TSLRegressor(n_stages=2, random_state=0).fit(X, y)
    >>> pd = explain.partial_dependence(model, 0, background=X)
    >>> edited = X.copy()
    >>> edited[:, 0] = 1.5
    >>> bool(abs(pd.at([[1.5]])[0] - model.predict(edited).mean()) < 1e-10)
    True
    """
    subject = Subject.of(model)
    chosen = subject.features(features)
    level = check_level(level)
    rows = subject.rows(background)
    replicates = tuple(
        dependence_on(replicate, subject, chosen, rows) for replicate in subject.model.replicates
    )
    result = dependence_on(subject.model, subject, chosen, rows)
    return replace(
        result,
        replicates=replicates,
        level=level,
        library=subject.schema.library,
        quantity=subject.quantity,
    )


def dependence_on(
    model: SeparationModel, subject: Subject, features: tuple[int, ...], rows: Reference
) -> PartialDependence:
    """Partial dependence of a model, or of a replicate of it, over rows already binned."""
    bins = model.bins
    effects, curves = model.effect_values(rows.codes), None
    if model.effects is not None:
        curves = tuple(model.effects[bins.axis(j)].copy() for j in features)
    others = np.delete(effects, features, axis=1).sum(axis=1)
    return PartialDependence(
        features=features,
        names=tuple(subject.names[j] for j in features),
        axes=tuple(bins.axes[j] for j in features),
        frequencies=tuple(bins.frequencies[bins.axis(j)].copy() for j in features),
        intercept=model.intercept,
        mean=float(model.predict(rows.codes) @ rows.weight),
        constants=constants(model, rows, features),
        factors=tuple(
            np.array([side_factors(stage, bins.axis(j)) for stage in model.stages]).reshape(
                -1, 2, bins.axes[j].n_bins
            )
            for j in features
        ),
        stage_names=subject.stage_names,
        is_two_branch=tuple(stage.is_two_branch for stage in model.stages),
        support=support(bins, rows, features) if len(features) == 2 else None,
        effect_curves=curves,
        effect_rest=float(others @ rows.weight),
        quantity=subject.quantity,
    )
