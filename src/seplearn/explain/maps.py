"""Backbone and tilt of one stage over two features: where it is active, and which way it points."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from seplearn.explain.products import support
from seplearn.explain.result import Explanation, distinct_names
from seplearn.explain.subject import Subject
from seplearn.kernels.arrays import BoolArray, FloatArray
from seplearn.table.binning import Axis


@dataclass(frozen=True, eq=False, repr=False)
class StageMap(Explanation):
    """Backbone and tilt of a stage over the bins of two features, all others neutral.

    Attributes
    ----------
    stage : int
    stage_name : str
        The features that the stage depends on.
    features, names, axes, frequencies
        Of the two features, each a pair.
    backbone : array of shape (n_bins, n_bins)
        ``b_0 b_j b_k`` in the unit of y.
    tilt : array of shape (n_bins, n_bins), or None
        ``d_0 + d_j + d_k``; None for a stage of one product, which never changes its sign.
    support : array of bool of shape (n_bins, n_bins), or None
        The pairs of bins near which there are reference rows; None if the model keeps none.

    Examples
    --------
    >>> from seplearn import TSLRegressor, datasets, explain
    >>> X, y = datasets.masked_interaction(500, as_frame=True, random_state=0)
    >>> model = TSLRegressor(n_stages=1, random_state=0).fit(X, y)
    >>> stage_map = explain.maps(model, 0, ("x1", "x3"))
    >>> stage_map.names, stage_map.tilt.shape == stage_map.backbone.shape
    (('x1', 'x3'), True)
    """

    _figure: ClassVar[str] = "plot_map"

    stage: int
    stage_name: str
    features: tuple[int, int]
    names: tuple[str, str]
    axes: tuple[Axis, Axis]
    frequencies: tuple[FloatArray, FloatArray]
    backbone: FloatArray
    tilt: FloatArray | None
    support: BoolArray | None

    def _columns(self) -> dict[str, Any]:
        """One row per pair of bins."""
        grids = np.meshgrid(*(axis.describe().values for axis in self.axes), indexing="ij")
        names = distinct_names(self.names, {"backbone", "tilt"})
        columns: dict[str, Any] = dict(zip(names, (g.ravel() for g in grids), strict=True))
        columns["backbone"] = self.backbone.ravel()
        tilt = np.full(self.backbone.shape, np.nan) if self.tilt is None else self.tilt
        columns["tilt"] = tilt.ravel()
        return columns


def maps(model: Any, stage: int, features: Any) -> StageMap:
    """Where a stage is active over two features, and which way it points.

    Parameters
    ----------
    model : fitted estimator, ClassView or SeparationModel
        A fitted estimator (of several classes what its ``for_class`` gives), or its ``model_``.
    stage : int
        Counted from zero.
    features : pair of str or int
        Names or positions.

    Examples
    --------
    >>> from seplearn import TSLRegressor, datasets, explain
    >>> X, y = datasets.masked_interaction(1000, random_state=0)
    >>> model = TSLRegressor(n_stages=2, random_state=0).fit(X, y)
    >>> bool((explain.maps(model, 0, (0, 2)).backbone > 0).all())
    True
    """
    subject = Subject.of(model)
    number = subject.stage(stage)
    chosen = subject.features(features)
    if len(chosen) != 2:
        raise ValueError(f"features must be two, got {len(chosen)}: {features!r}")
    parts, bins = subject.model.stages[number], subject.model.bins
    log_backbone, tilts = parts.log_backbone, parts.tilt
    if log_backbone is None:
        raise ValueError(
            f"stage {number} has no backbone: its factors may be negative, or both of its products "
            "act on one side, or its lambda are zero"
        )
    first, second = (bins.axis(j) for j in chosen)
    logs = np.log(parts.backbone_scale) + np.add.outer(log_backbone[first], log_backbone[second])
    tilt = None
    if tilts is not None:
        tilt = parts.tilt_intercept + np.add.outer(tilts[first], tilts[second])
    j, k = chosen
    reference = subject.model.reference
    return StageMap(
        stage=number,
        stage_name=subject.stage_names[number],
        features=(j, k),
        names=(subject.names[j], subject.names[k]),
        axes=(bins.axes[j], bins.axes[k]),
        frequencies=(bins.frequencies[bins.axis(j)].copy(), bins.frequencies[bins.axis(k)].copy()),
        backbone=np.exp(logs),
        tilt=tilt,
        support=None if reference is None else support(bins, reference, chosen),
        library=subject.schema.library,
        quantity=subject.quantity,
    )
