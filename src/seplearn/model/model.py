"""The model as a whole: a constant, main effects, and a sum of stages."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple

import numpy as np

from seplearn.kernels.arrays import CodeArray, FloatArray, IntArray
from seplearn.kernels.evaluate import log_products
from seplearn.losses import IDENTITY, Link
from seplearn.model.bag import Bag
from seplearn.model.reading import read_curves, stage_name
from seplearn.model.record import EditRecord, SizePath
from seplearn.model.reference import Reference
from seplearn.model.spread import OutcomeSpread
from seplearn.model.stage import Stage
from seplearn.table.binning import Bins


class Penalties(NamedTuple):
    """Strengths of the penalties on curves, relative to what the rows say of them.

    Attributes
    ----------
    stages : array of shape (n_stages, p, 2, 3)
        Of backbones and tilts on first differences, size and second differences.
    effects : array of shape (p, 3)
        Of main effects.
    """

    stages: FloatArray
    effects: FloatArray


_BLOCK = 10_000  # rows at a time, where every replicate predicts them


def central_share(
    predict: Sequence[Callable[[CodeArray], FloatArray]], codes: CodeArray, level: float
) -> FloatArray:
    """The central share ``level`` of several predictions of rows: the two ends come last."""
    ends = (0.5 - 0.5 * level, 0.5 + 0.5 * level)
    quantiles = []
    for start in range(0, max(len(codes), 1), _BLOCK):
        part = codes[start : start + _BLOCK]
        quantiles.append(
            np.moveaxis(np.quantile([of(part) for of in predict], ends, axis=0), 0, -1)
        )
    return np.concatenate(quantiles)


@dataclass(frozen=True, eq=False)
class SeparationModel:
    """``eta(x) = intercept + main effects + sum of stages``, all on the same bins.

    The prediction is ``link.inverse(eta)``: without a link, eta itself. All explanations are of
    eta, which is a sum.

    Attributes
    ----------
    effects : array of shape (n_flat,) or None
        The main effect of every feature in each of its bins, of mean zero over the training rows.
    replicates : tuple of SeparationModel
        The same stages refitted to bootstrap samples, from which bands are made; may be empty.
    reference : Reference or None
        Training rows, as bins, over which explanations average.
    size_paths : tuple of SizePath
        How well models of growing size predicted held-out rows, if the size was chosen so.
    link : Link
        How the sum becomes a prediction.
    edits : tuple of EditRecord
        What was changed after the fit, in this order.
    spread : OutcomeSpread or None
        How far outcomes lie from predictions, if the fit held rows out; not after edits.
    penalties : Penalties or None
        How smooth the fit found its curves, for another fit to go on from; not saved in files.
    bags : tuple of Bag
        The grids every stage was made from, if they were kept; not saved in files.

    Examples
    --------
    >>> from seplearn import TSLRegressor, datasets
    >>> X, y = datasets.masked_interaction(500, random_state=0)
    >>> model = TSLRegressor(n_stages=1, random_state=0).fit(X, y)
    >>> model.model_.intercept == model.intercept_, len(model.model_.stages)
    (True, 1)
    >>> model.model_.reference.codes.shape
    (500, 3)
    """

    bins: Bins = field(repr=False)
    intercept: float
    stages: tuple[Stage, ...]
    replicates: tuple[SeparationModel, ...] = field(default=(), repr=False)
    reference: Reference | None = field(default=None, repr=False)
    bags: tuple[Bag, ...] = field(default=(), repr=False)
    effects: FloatArray | None = field(default=None, repr=False)
    size_paths: tuple[SizePath, ...] = field(default=(), repr=False)
    link: Link = IDENTITY
    edits: tuple[EditRecord, ...] = ()
    penalties: Penalties | None = field(default=None, repr=False)
    spread: OutcomeSpread | None = field(default=None, repr=False)

    def with_scalars(
        self, scalars: Sequence[tuple[float, float]], intercept: float
    ) -> SeparationModel:
        """The first ``len(scalars)`` stages with other (lambda_plus, lambda_minus)."""
        stages = tuple(
            stage.with_scalars(*pair)
            for stage, pair in zip(self.stages[: len(scalars)], scalars, strict=True)
        )
        return replace(self, intercept=intercept, stages=stages)

    def predict(self, codes: CodeArray) -> FloatArray:
        """The sum eta for rows given as bin codes: without a link, the prediction."""
        total = np.full(len(codes), self.intercept)
        if self.effects is not None:
            log_products(codes, self.bins.offset, self.effects, total)
            total += self.intercept
        with np.errstate(over="ignore"):
            for stage in self.stages:
                total += stage.evaluate(codes, self.bins)
        largest = sys.float_info.max
        return np.clip(total, -largest, largest, out=total)

    def effect_values(self, codes: CodeArray) -> FloatArray:
        """The main effect of every feature, shape (n, p); zeros where the model has none."""
        if self.effects is None:
            return np.zeros((len(codes), self.bins.n_axes))
        values: FloatArray = self.effects[self.bins.flat(codes)]
        return values

    def contributions(self, codes: CodeArray) -> FloatArray:
        """Contribution of every stage, shape (n, n_stages).

        With the intercept and the main effects they add up to the prediction.
        """
        out = np.empty((len(codes), len(self.stages)))
        for s, stage in enumerate(self.stages):
            out[:, s] = stage.evaluate(codes, self.bins)
        return out

    @property
    def is_constant(self) -> bool:
        """Whether there is nothing but the intercept."""
        return not self.stages and self.effects is None

    @property
    def reading_size(self) -> int:
        """Number of curves that are not exactly flat: what there is to read.

        Of every stage and feature one for the backbone and one for the tilt, and one per main
        effect; of a stage without backbone one for each factor.
        """
        return sum(1 for _ in read_curves(self.stages, self.effects, self.bins))

    @property
    def turning_points(self) -> IntArray:
        """How often every curve over numbers that is not flat changes its direction.

        Plateaus, ways back of less than 1 % of a curve's range and bins without training rows are
        passed over. Backbones and tilts stage by stage, then main effects.
        """
        curves = read_curves(self.stages, self.effects, self.bins)
        counts = [c.turning_points for c in curves if c.turning_points is not None]
        return np.array(counts, dtype=np.int64)

    def stage_names(self, names: Sequence[str]) -> tuple[str, ...]:
        """A name per stage, made of the ``names`` of the features it depends on."""
        return tuple(stage_name(stage, self.bins, names) for stage in self.stages)

    def interval(self, codes: CodeArray, level: float) -> FloatArray:
        """Central share ``level`` of the replicates' predictions, shape (n, 2).

        A constant has no replicates: it is its intercept, which is both ends.
        """
        if self.is_constant:
            return np.full((len(codes), 2), self.intercept)
        return central_share([other.predict for other in self.replicates], codes, level)
