"""Importance as the paper has it: how much backbone and tilt of a feature vary in each stage."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np

from seplearn.explain.result import Explanation, band_of
from seplearn.explain.sizes import effect_spreads, part_weights
from seplearn.explain.subject import Subject, check_number
from seplearn.kernels.arrays import FloatArray
from seplearn.model.model import SeparationModel
from seplearn.model.reference import Reference
from seplearn.model.stage import Stage
from seplearn.table.binning import Bins
from seplearn.table.columns import make_frame


@dataclass(frozen=True, eq=False, repr=False)
class PaperImportance(Explanation):
    """Variance of backbones and tilts, and what it comes to over all stages.

    Attributes
    ----------
    names : tuple of str
        Of the features.
    stage_names : tuple of str
        The features that every stage depends on.
    backbone, tilt : array of shape (n_stages, p)
        Variance over the rows of b_j and of d_j in every stage. A stage of one product has that
        product's factors for backbones and no tilt.
    stage_weights : array of shape (n_stages,)
        Mean square of every stage's contribution as a share of the sum over stages, and over the
        main effects together, if there are any.
    effects_weight : float
        That of the main effects together.
    effect_spread : array of shape (p,), or None
        Standard deviation over the rows of every main effect, in the unit of y; None for a model
        without main effects. They have no backbone and tilt, so ``combined`` is of stages alone.
    gamma : float
        The weight of the tilt in ``combined``.
    bands : dict
        Bootstrap bands, each (2, p), of "total_backbone", "total_tilt", "combined" and, if there
        are main effects, "effect_spread"; empty for a model without replicates.

    Examples
    --------
    >>> from seplearn import TSLRegressor, datasets, explain
    >>> X, y = datasets.masked_interaction(500, as_frame=True, random_state=0)
    >>> model = TSLRegressor(n_stages=1, random_state=0).fit(X, y)
    >>> importance = explain.importance(model, kind="paper", gamma=0.5)
    >>> list(importance.frame().columns)
    ['feature', 'combined', 'total_backbone', 'total_tilt']
    """

    _figure: ClassVar[str] = "plot_paper_importance"

    names: tuple[str, ...]
    stage_names: tuple[str, ...]
    backbone: FloatArray
    tilt: FloatArray
    stage_weights: FloatArray
    gamma: float
    effects_weight: float = 0.0
    effect_spread: FloatArray | None = None
    bands: dict[str, FloatArray] = field(default_factory=dict)

    @property
    def total_backbone(self) -> FloatArray:
        """Sum over stages of stage weight times backbone variance, shape (p,)."""
        total: FloatArray = self.stage_weights @ self.backbone
        return total

    @property
    def total_tilt(self) -> FloatArray:
        """Sum over stages of stage weight times tilt variance, shape (p,)."""
        total: FloatArray = self.stage_weights @ self.tilt
        return total

    @property
    def combined(self) -> FloatArray:
        """``total_backbone + gamma * total_tilt``, shape (p,)."""
        return self.total_backbone + self.gamma * self.total_tilt

    def _columns(self) -> dict[str, Any]:
        """One row per feature, the most important first."""
        order = np.argsort(-self.combined, kind="stable")
        columns: dict[str, Any] = {"feature": [self.names[j] for j in order]}
        for part in _parts(self.effect_spread):
            columns[part] = getattr(self, part)[order]
            if part in self.bands:
                columns[f"{part}_lower"], columns[f"{part}_upper"] = self.bands[part][:, order]
        return columns

    def stage_frame(self) -> Any:
        """One row per stage and feature, as a data frame."""
        n_stages, p = self.backbone.shape
        columns = {
            "stage": np.repeat(np.arange(n_stages), p),
            "stage_name": np.repeat(np.array(self.stage_names, dtype=object), p),
            "stage_weight": np.repeat(self.stage_weights, p),
            "feature": list(self.names) * n_stages,
            "backbone": self.backbone.ravel(),
            "tilt": self.tilt.ravel(),
        }
        return make_frame(columns, self.library)


def paper_importance(
    subject: Subject, gamma: Any, background: Any, level: float
) -> PaperImportance:
    """The six panels of the paper; arguments as :func:`seplearn.explain.importance` has them."""
    gamma = check_number("gamma", gamma, "a number >= 0", lambda v: 0 <= v < np.inf)
    rows = subject.rows(background)
    bins = subject.model.bins
    counted = bins if background is None else bins.with_frequencies_of(rows.codes, rows.weight)
    replicates = [
        _importance(other, subject, rows, counted, gamma) for other in subject.model.replicates
    ]
    bands = {
        part: band_of([getattr(other, part) for other in replicates], level)
        for part in _parts(subject.model.effects)
        if replicates
    }
    return _importance(subject.model, subject, rows, counted, gamma, bands)


def _parts(effects: FloatArray | None) -> tuple[str, ...]:
    """What there is an importance of; stages first."""
    parts = ("combined", "total_backbone", "total_tilt")
    return parts if effects is None else (*parts, "effect_spread")


def _importance(
    model: SeparationModel,
    subject: Subject,
    rows: Reference,
    counted: Bins,
    gamma: float,
    bands: dict[str, FloatArray] | None = None,
) -> PaperImportance:
    size = len(counted.frequencies)
    pairs = [_flat_backbone_and_tilt(stage, size) for stage in model.stages]
    curves = np.array(pairs).reshape(-1, 2, size)
    centred = curves - counted.repeat_per_bin(counted.means(curves))
    variances = counted.means(centred**2)
    effects_weight, stage_weights = part_weights(model, rows)
    return PaperImportance(
        names=subject.names,
        stage_names=subject.stage_names,
        backbone=variances[:, 0],
        tilt=variances[:, 1],
        stage_weights=stage_weights,
        gamma=gamma,
        effects_weight=effects_weight,
        effect_spread=None if model.effects is None else effect_spreads(model.effects, counted),
        bands=bands or {},
        library=subject.schema.library,
        quantity=subject.quantity,
    )


def _flat_backbone_and_tilt(stage: Stage, size: int) -> tuple[FloatArray, FloatArray]:
    """b_j and d_j in all bins, whatever the signs of the lambda: variances do not see them."""
    if len(stage.active) == 2:
        logs, tilt = stage.halves
        return np.exp(logs), tilt
    factors = [branch.factors(slice(None)) for branch in stage.active]
    return (factors[0] if factors else np.ones(size)), np.zeros(size)
