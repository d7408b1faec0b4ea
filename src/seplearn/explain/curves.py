"""The curves of a stage: factors, backbone and tilt, exactly as the model uses them."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from seplearn._errors import out_of_range, wrong_type
from seplearn.kernels.arrays import FloatArray
from seplearn.model.model import SeparationModel
from seplearn.model.stage import Branch
from seplearn.table.binning import Axis


@dataclass(frozen=True, eq=False)
class Curve:
    """The step curves of one feature in one stage.

    Attributes
    ----------
    stage, feature : int
        Numbers from zero.
    name : str
        Name of the feature.
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
    """

    stage: int
    feature: int
    name: str
    axis: Axis
    frequencies: FloatArray
    plus: FloatArray | None
    minus: FloatArray | None
    backbone: FloatArray | None
    tilt: FloatArray | None
    bands: dict[str, FloatArray] = field(default_factory=dict)


def curves(model: Any, stage: int, level: float = 0.9) -> tuple[Curve, ...]:
    """The curves of all features in one stage.

    Parameters
    ----------
    model : TSLRegressor or SeparationModel
        A fitted estimator, or its ``model_`` (features are then named by position).
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
    fitted = getattr(model, "model_", model)
    if not isinstance(fitted, SeparationModel):
        raise wrong_type("model", "a fitted estimator or its model_", model)
    if not fitted.stages:
        raise ValueError("model has no stages, only its intercept, so there are no curves")
    if stage not in range(len(fitted.stages)):
        raise out_of_range("stage", f"an integer from 0 to {len(fitted.stages) - 1}", stage)
    positions = [str(j) for j in range(fitted.bins.n_axes)]
    names = [str(name) for name in getattr(model, "feature_names_in_", positions)]
    if not 0 < level < 1:
        raise out_of_range("level", "a number between 0 and 1", level)
    return tuple(_with_bands(fitted, stage, j, name, level) for j, name in enumerate(names))


def _with_bands(model: SeparationModel, stage: int, j: int, name: str, level: float) -> Curve:
    curve = _curve(model, stage, j, name)
    replicates = [_curve(replicate, stage, j, name) for replicate in model.replicates]
    ends = (0.5 - 0.5 * level, 0.5 + 0.5 * level)
    bands = {
        part: np.quantile([getattr(other, part) for other in replicates], ends, axis=0)
        for part in ("plus", "minus", "backbone", "tilt")
        if replicates and getattr(curve, part) is not None
    }
    return replace(curve, bands=bands)


def _curve(model: SeparationModel, stage: int, j: int, name: str) -> Curve:
    parts, axis = model.stages[stage], model.bins.axis(j)
    adding, taking = parts.oriented
    backbone = tilt = None
    if parts.is_two_branch and adding is not None and taking is not None:
        backbone = np.exp(0.5 * (adding.log_factors[axis] + taking.log_factors[axis]))
        tilt = 0.5 * (adding.log_factors[axis] - taking.log_factors[axis])
    elif parts.is_one_branch:
        backbone = np.exp((adding or taking or parts.branches[0]).log_factors[axis])
    return Curve(
        stage=stage,
        feature=j,
        name=name,
        axis=model.bins.axes[j],
        frequencies=model.bins.frequencies[axis],
        plus=_active_factors(parts.plus, axis),
        minus=_active_factors(parts.minus, axis),
        backbone=backbone,
        tilt=tilt,
    )


def _active_factors(branch: Branch | None, axis: slice) -> FloatArray | None:
    return None if branch is None or branch.coefficient_sign == 0.0 else branch.factors(axis)
