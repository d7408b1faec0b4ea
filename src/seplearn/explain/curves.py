"""The curves of a stage: factors, backbone and tilt, exactly as the model uses them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from seplearn.kernels.arrays import FloatArray
from seplearn.model.model import SeparationModel
from seplearn.model.stage import Branch


@dataclass(frozen=True, eq=False)
class Curve:
    """The step curves of one feature in one stage.

    Attributes
    ----------
    stage, feature : int
        Numbers from zero.
    edges : array of shape (n_bins - 1,)
        Where the steps are; bin b holds the values with exactly b edges at or below them.
    plus, minus : array of shape (n_bins,), or None
        The factors a_plus and a_minus; None for an absent branch.
    backbone : array of shape (n_bins,), or None
        sqrt(a_plus a_minus): how strongly the feature gates the stage. With a single positive
        branch it is that branch's factor. None when factors may be negative.
    tilt : array of shape (n_bins,), or None
        log(a_plus / a_minus) / 2: which way the feature pushes. None unless both are there.
    """

    stage: int
    feature: int
    edges: FloatArray
    plus: FloatArray | None
    minus: FloatArray | None
    backbone: FloatArray | None
    tilt: FloatArray | None


def curves(model: SeparationModel, stage: int) -> tuple[Curve, ...]:
    """The curves of all features in one stage.

    Parameters
    ----------
    model : SeparationModel
        ``model_`` of a fitted estimator.
    stage : int
        Number of the stage, from zero.

    Examples
    --------
    >>> from seplearn import TSLRegressor, datasets, explain
    >>> X, y = datasets.masked_interaction(1000, random_state=0)
    >>> estimator = TSLRegressor(n_stages=1, random_state=0).fit(X, y)
    >>> [curve.backbone.shape == curve.tilt.shape for curve in explain.curves(estimator.model_, 0)]
    [True, True, True]
    """
    parts = model.stages[stage]
    return tuple(_curve(model, stage, j, parts.plus, parts.minus) for j in range(model.bins.n_axes))


def _curve(
    model: SeparationModel, stage: int, j: int, plus: Branch | None, minus: Branch | None
) -> Curve:
    axis = model.bins.axis(j)
    present = [b.log_factors[axis] for b in (plus, minus) if b is not None and b.coefficient_sign]
    backbone = tilt = None
    if present and not model.stages[stage].is_signed:
        backbone = np.exp(np.mean(present, axis=0))
    if model.stages[stage].is_two_branch:
        tilt = 0.5 * (present[0] - present[1])
    return Curve(
        stage=stage,
        feature=j,
        edges=model.bins.edges[j],
        plus=_factor(plus, axis),
        minus=_factor(minus, axis),
        backbone=backbone,
        tilt=tilt,
    )


def _factor(branch: Branch | None, axis: slice) -> FloatArray | None:
    if branch is None or branch.coefficient_sign == 0.0:
        return None
    size = np.exp(branch.log_factors[axis])
    return size if branch.negative is None else np.where(branch.negative[axis], -size, size)
