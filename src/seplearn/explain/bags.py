"""The bagged grids behind a stage: whether they agree on one representation."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from seplearn.explain.result import Explanation
from seplearn.explain.subject import Subject
from seplearn.kernels.arrays import BoolArray, FloatArray
from seplearn.table.binning import Axis


@dataclass(frozen=True, eq=False, repr=False)
class BagCurves(Explanation):
    """Backbones of all grids of a stage, and which of them were averaged.

    Attributes
    ----------
    stage : int
    stage_name : str
        The features that the stage depends on.
    names, axes, frequencies
        Of the features.
    backbones : tuple of array of shape (n_grids, n_bins)
        Per feature, the backbone of every grid; of a one-branch stage its factor.
    combined : tuple of array of shape (n_bins,)
        Per feature, the backbone of their average.
    scale : array of shape (n_grids,)
        lambda_plus + lambda_minus of every grid, in the unit of y.
    kept : array of bool of shape (n_grids,)
        The grids that were averaged.
    anchor : int
        The grid they were chosen by their likeness to.

    Examples
    --------
    >>> from seplearn import TSLRegressor, datasets, explain
    >>> X, y = datasets.masked_interaction(500, random_state=0)
    >>> model = TSLRegressor.paper(1, n_grids=20, keep_bags=True, random_state=0).fit(X, y)
    >>> bags = explain.bags(model, 0)
    >>> bags.scale.shape, bool(bags.kept[bags.anchor])
    ((20,), True)
    """

    _figure: ClassVar[str] = "plot_bags"

    stage: int
    stage_name: str
    names: tuple[str, ...]
    axes: tuple[Axis, ...]
    frequencies: tuple[FloatArray, ...]
    backbones: tuple[FloatArray, ...]
    combined: tuple[FloatArray, ...]
    scale: FloatArray
    kept: BoolArray
    anchor: int

    def _columns(self) -> dict[str, Any]:
        """One row per grid, feature and bin."""
        n_grids = len(self.scale)
        sizes = [axis.n_bins for axis in self.axes]
        grid = [np.repeat(np.arange(n_grids), size) for size in sizes]
        return {
            "grid": np.concatenate(grid),
            "kept": self.kept[np.concatenate(grid)],
            "scale": self.scale[np.concatenate(grid)],
            "feature": np.repeat(np.array(self.names, dtype=object), np.array(sizes) * n_grids),
            "bin": np.concatenate([np.tile(np.arange(size), n_grids) for size in sizes]),
            "backbone": np.concatenate([curves.ravel() for curves in self.backbones]),
        }


def bags(model: Any, stage: int) -> BagCurves:
    """The grids a stage was made from; the model must be fitted with ``keep_bags=True``.

    With ``refine="scalars"`` their average is the stage; joint refinement only starts from it.

    Parameters
    ----------
    model : fitted estimator, ClassView or SeparationModel
        A fitted estimator (of several classes what its ``for_class`` gives), or its ``model_``. A
        loaded model has no bags.
    stage : int
        Counted from zero.

    Examples
    --------
    >>> from seplearn import TSLRegressor, datasets, explain
    >>> X, y = datasets.masked_interaction(500, random_state=0)
    >>> model = TSLRegressor.paper(1, n_grids=20, keep_bags=True, random_state=0).fit(X, y)
    >>> int(explain.bags(model, 0).kept.sum())
    10
    """
    subject = Subject.of(model)
    number = subject.stage(stage)
    if not subject.model.bags:
        raise ValueError(
            "model keeps no bags; fit it with keep_bags=True (they are not saved, and log-odds "
            "between two classes, edits and merges have none)"
        )
    bag, bins = subject.model.bags[number], subject.model.bins
    log_backbone = bag.stage.log_backbone
    if log_backbone is None:
        raise ValueError(f"stage {number} has no backbone: its factors may be negative")
    present = [side for side, b in enumerate((bag.stage.plus, bag.stage.minus)) if b is not None]
    curves = np.exp(bag.log_factors[:, present].mean(axis=1))
    mean = np.exp(log_backbone)
    axes = [bins.axis(j) for j in range(bins.n_axes)]
    return BagCurves(
        stage=number,
        stage_name=subject.stage_names[number],
        names=subject.names,
        axes=bins.axes,
        frequencies=tuple(bins.frequencies[axis].copy() for axis in axes),
        backbones=tuple(curves[:, axis] for axis in axes),
        combined=tuple(mean[axis] for axis in axes),
        scale=bag.scalars.sum(axis=1),
        kept=np.isin(np.arange(len(bag.scalars)), bag.kept),
        anchor=bag.anchor,
        library=subject.schema.library,
        quantity=subject.quantity,
    )
