"""The curves of a stage: factors, backbone and tilt, exactly as the model uses them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

import numpy as np

from seplearn._errors import did_you_mean
from seplearn._rules import check_level
from seplearn.explain.result import Explanation, band_of
from seplearn.explain.subject import Subject
from seplearn.kernels.arrays import FloatArray
from seplearn.model.model import SeparationModel
from seplearn.table.binning import Axis

PARTS = ("plus", "minus", "backbone", "tilt")


@dataclass(frozen=True, eq=False, repr=False)
class Curve(Explanation):
    """The step curves of one feature in one stage.

    Attributes
    ----------
    stage, feature : int
        Numbers from zero.
    name : str
        Name of the feature.
    stage_name : str
        The features that the stage depends on.
    axis : NumericAxis or CategoricalAxis
        The bins. A numeric axis has ``edges``: bin b holds the values with exactly b edges at or
        below them, and the last bin is that of missing values. A categorical axis has ``levels``,
        a bin each, then a bin for rare levels, for missing values and for levels never seen.
    frequencies : array of shape (n_bins,)
        Share of the training weight in each bin; a level without any is neutral.
    plus, minus : array of shape (n_bins,), or None
        The factors a_plus and a_minus; None for an absent branch.
    backbone : array of shape (n_bins,), or None
        sqrt(a_plus a_minus): how strongly the feature gates the stage. With a single positive
        branch it is that branch's factor. None when factors may be negative, or when both branches
        act on one side (a negative lambda).
    tilt : array of shape (n_bins,), or None
        log(a_plus / a_minus) / 2: which way the feature pushes, up when positive, also where both
        lambda are negative. None unless one branch adds and the other subtracts.
    bands : dict
        Bootstrap bands of what is not None among "plus", "minus", "backbone" and "tilt", each of
        shape (2, n_bins): lower and upper end. Empty for a model without replicates.

    Examples
    --------
    >>> from seplearn import TSLRegressor, datasets, explain
    >>> X, y = datasets.masked_interaction(500, as_frame=True, random_state=0)
    >>> model = TSLRegressor(n_stages=1, random_state=0).fit(X, y)
    >>> curve = explain.curves(model, 0)["x3"]
    >>> bool(abs(curve.backbone**2 / (curve.plus * curve.minus) - 1).max() < 1e-9)
    True
    >>> list(curve.frame().columns[:6])
    ['stage', 'stage_name', 'feature', 'bin', 'lower', 'upper']
    """

    _figure: ClassVar[str] = "plot_curve"

    stage: int
    feature: int
    name: str
    stage_name: str
    axis: Axis
    frequencies: FloatArray
    plus: FloatArray | None
    minus: FloatArray | None
    backbone: FloatArray | None
    tilt: FloatArray | None
    bands: dict[str, FloatArray] = field(default_factory=dict)

    def _columns(self) -> dict[str, Any]:
        """One row per bin; numeric bins have bounds, categorical ones a level.

        The meaning tells a level from the bins beside levels: rare, missing, unseen.
        """
        n = self.axis.n_bins
        description = self.axis.describe()
        columns: dict[str, Any] = {
            "stage": np.full(n, self.stage),
            "stage_name": [self.stage_name] * n,
            "feature": [self.name] * n,
            "bin": np.arange(n),
            "lower": description.lower,
            "upper": description.upper,
            "level": description.labels if description.kind == "categorical" else [""] * n,
            "meaning": list(description.meanings),
            "frequency": self.frequencies,
        }
        for part in PARTS:
            own: FloatArray | None = getattr(self, part)
            columns[part] = np.full(n, np.nan) if own is None else own
            if self.bands:
                ends = self.bands.get(part, np.full((2, n), np.nan))
                columns[f"{part}_lower"], columns[f"{part}_upper"] = ends
        return columns


@dataclass(frozen=True, eq=False, repr=False)
class StageCurves(Explanation):
    """The curves of all features in one stage; ``curves[name]`` or ``curves[j]`` is one of them.

    Attributes
    ----------
    stage : int
        Counted from zero.
    stage_name : str
        The features that the stage depends on, the one that moves it most first.
    curves : tuple of Curve
        In the order of the features.
    lambda_plus, lambda_minus : float
        The scalars of the two products; zero for an absent one.
    backbone_scale : float
        b_0 = sqrt(lambda_plus lambda_minus); the scale of the only product of a one-branch stage;
        NaN for other stages.
    tilt_intercept : float
        d_0 = log(lambda_plus / lambda_minus) / 2; NaN where there is no tilt.

    Examples
    --------
    >>> from seplearn import TSLRegressor, datasets, explain
    >>> X, y = datasets.masked_interaction(500, as_frame=True, random_state=0)
    >>> model = TSLRegressor(n_stages=1, random_state=0).fit(X, y)
    >>> stage = explain.curves(model, 0)
    >>> [curve.name for curve in stage]
    ['x1', 'x2', 'x3']
    >>> bool(abs(stage.backbone_scale**2 - stage.lambda_plus * stage.lambda_minus) < 1e-9)
    True
    """

    _figure: ClassVar[str] = "plot_curves"

    stage: int
    stage_name: str
    curves: tuple[Curve, ...]
    lambda_plus: float
    lambda_minus: float
    backbone_scale: float
    tilt_intercept: float

    def __len__(self) -> int:
        return len(self.curves)

    def __iter__(self) -> Iterator[Curve]:
        return iter(self.curves)

    def __getitem__(self, feature: str | int) -> Curve:
        if isinstance(feature, str):
            names = [curve.name for curve in self.curves]
            if feature not in names:
                hint = did_you_mean(feature, names)
                raise KeyError(f"feature must be one of {names}, got {feature!r}{hint}")
            return self.curves[names.index(feature)]
        return self.curves[feature]

    def _columns(self) -> dict[str, Any]:
        """The rows of all curves, one below the other."""
        tables = [curve._columns() for curve in self.curves]
        return {name: np.concatenate([table[name] for table in tables]) for name in tables[0]}


def curves(model: Any, stage: int, *, level: float = 0.9) -> StageCurves:
    """The curves of all features in one stage.

    Parameters
    ----------
    model : fitted estimator, ClassView or SeparationModel
        A fitted estimator (of several classes what its ``for_class`` gives), or its ``model_``,
        whose features are named by position.
    stage : int
        Number of the stage, from zero.
    level : float
        Share of the bootstrap replicates inside the bands, for a model fitted with
        ``n_bootstrap``. The bands are pointwise, conditional on the stages and the smoothness.

    Examples
    --------
    >>> from seplearn import TSLRegressor, datasets, explain
    >>> X, y = datasets.masked_interaction(1000, random_state=0)
    >>> estimator = TSLRegressor(n_stages=1, random_state=0).fit(X, y)
    >>> [curve.backbone.shape == curve.tilt.shape for curve in explain.curves(estimator, 0)]
    [True, True, True]
    """
    subject = Subject.of(model)
    number = subject.stage(stage)
    level = check_level(level)
    parts = subject.model.stages[number]
    library = subject.schema.library
    stage_name = subject.stage_names[number]
    return StageCurves(
        quantity=subject.quantity,
        stage=number,
        stage_name=stage_name,
        curves=tuple(
            replace(
                _with_bands(subject.model, number, j, name, level),
                stage_name=stage_name,
                library=library,
            )
            for j, name in enumerate(subject.names)
        ),
        lambda_plus=parts.lambda_plus,
        lambda_minus=parts.lambda_minus,
        backbone_scale=parts.backbone_scale,
        tilt_intercept=parts.tilt_intercept,
        library=library,
    )


def _with_bands(model: SeparationModel, stage: int, j: int, name: str, level: float) -> Curve:
    curve = _curve(model, stage, j, name)
    if not model.replicates:
        return curve
    replicates = [_curve(replicate, stage, j, name) for replicate in model.replicates]
    bands = {
        part: band_of([getattr(other, part) for other in replicates], level)
        for part in PARTS
        if getattr(curve, part) is not None
    }
    return replace(curve, bands=bands)


def _curve(model: SeparationModel, stage: int, j: int, name: str) -> Curve:
    parts, axis = model.stages[stage], model.bins.axis(j)
    log_backbone, tilt = parts.log_backbone, parts.tilt
    plus, minus = (None if b is None else b.factors(axis) for b in parts.sides)
    return Curve(
        stage=stage,
        feature=j,
        name=name,
        stage_name="",
        axis=model.bins.axes[j],
        frequencies=model.bins.frequencies[axis].copy(),
        plus=plus,
        minus=minus,
        backbone=None if log_backbone is None else np.exp(log_backbone[axis]),
        tilt=None if tilt is None else tilt[axis],
    )
