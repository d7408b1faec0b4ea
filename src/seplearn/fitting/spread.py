"""How far outcomes lie from predictions: learned from the rows that fits held out."""

from __future__ import annotations

import math
import sys
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from seplearn._workers import SerialWorkers
from seplearn.fitting.joint.fit import N_SWEEPS, JointFit
from seplearn.fitting.options import FitOptions, TrainingData
from seplearn.kernels.arrays import BoolArray, CodeArray, FloatArray, IntArray
from seplearn.losses import LOSSES
from seplearn.losses.base import weighted_mean
from seplearn.losses.huber import weighted_quantile
from seplearn.model.model import SeparationModel
from seplearn.model.spread import MOST_SCORES, OutcomeSpread
from seplearn.table.binning import Bins, NumericAxis, find_edges
from seplearn.table.training import TargetUnit

_FEWEST_ROWS = 100  # fewer tell one width for all rows, and no curves of it
_N_FOLDS = 3  # five told widths no better: intervals of twelve small tables were as good
_BINS_OF_PREDICTIONS = 32
# Sizes of residuals that widths are learned from, as a share and a multiple of the usual: a
# residual of zero has no log, and a single wild outcome must not widen all intervals near it.
_SMALLEST, _WILD_SHARE = 1e-3, 0.99
_LOSS = "gamma"  # of positive sizes whose spread is proportional to their mean


@dataclass(frozen=True, eq=False)
class Predicted:
    """Rows as a model predicts them that has not seen them."""

    codes: CodeArray
    target: FloatArray
    prediction: FloatArray
    weight: FloatArray


class OutcomeLearning:
    """Learns the width of outcomes from rows held out, and how outcomes lie in units of it.

    The scores of a row are in units of a width learned from other rows: in units of one that has
    seen them they would be too small. So there are several fits, one for each fold and one of all
    rows: whoever has threads may run them side by side.

    Parameters
    ----------
    rows : Predicted
        Rows that were held out.
    bins : Bins
        What their codes mean.
    options : FitOptions
        Those of the model.
    stop : array of one bool
        Set where the fits are to end.
    """

    def __init__(self, rows: Predicted, bins: Bins, options: FitOptions, stop: BoolArray) -> None:
        self._rows, self._bins = rows, bins
        self._off = rows.target - rows.prediction
        sizes = np.abs(self._off)
        self._usual = weighted_mean(sizes, rows.weight)
        self._problem: _Widths | None = None
        if len(sizes) >= _FEWEST_ROWS and math.isfinite(self._usual) and self._usual > 0.0:
            self._problem = _Widths.of(rows, sizes / self._usual, bins, options, stop)

    @property
    def fits(self) -> list[Callable[[], SeparationModel]]:
        """What is to be fitted, in any order; nothing where all rows have the same width."""
        if self._problem is None:
            return []
        return [partial(self._problem.fit_without, fold) for fold in range(_N_FOLDS + 1)]

    def spread(self, models: list[SeparationModel]) -> OutcomeSpread:
        """What these fits found, in their order."""
        problem, rows = self._problem, self._rows
        if problem is not None:
            elsewhere = problem.widths_elsewhere(models)
            if problem.are_told_by(elsewhere):
                scores = self._off / (self._usual * np.exp(elsewhere))
                return replace(
                    problem.widths_of(models[-1], elsewhere).scaled(self._usual, 0.0),
                    edges=problem.edges,
                    scores=_quantiles(scores, rows.weight),
                )
        return _one_width(rows, self._bins, self._usual)


def _one_width(rows: Predicted, bins: Bins, usual: float) -> OutcomeSpread:
    """The same width for all rows."""
    width = usual if math.isfinite(usual) and usual > 0.0 else 1.0
    scores = (rows.target - rows.prediction) / width
    log = math.log(width)
    return OutcomeSpread(
        constant=log,
        curves=np.zeros(len(bins.frequencies)),
        edges=np.empty(0),
        by_prediction=np.zeros(1),
        least=log,
        most=log,
        scores=_quantiles(scores, rows.weight),
    )


def _quantiles(scores: FloatArray, weight: FloatArray) -> FloatArray:
    """All scores in ascending order, a weight being a number of rows; of many the quantiles."""
    n = min(max(int(weight.sum() + 1e-6), 1), MOST_SCORES)
    order = np.argsort(scores, kind="stable")
    below = np.cumsum(weight[order])
    ranks = np.arange(1, n + 1) / (n + 1) * below[-1]
    kept = scores[order[np.searchsorted(below, ranks * (1.0 - 1e-12))]]
    finite: FloatArray = np.clip(kept, -sys.float_info.max, sys.float_info.max)
    return finite


@dataclass(frozen=True, eq=False)
class _Widths:
    """The sizes of residuals as a target: main effects of all features and of the prediction."""

    data: TrainingData  # the last of its axes is that of the prediction
    edges: FloatArray
    folds: IntArray
    options: FitOptions
    stop: BoolArray

    @staticmethod
    def of(
        rows: Predicted, sizes: FloatArray, bins: Bins, options: FitOptions, stop: BoolArray
    ) -> _Widths:
        edges = find_edges(rows.prediction, _BINS_OF_PREDICTIONS)
        levels = np.searchsorted(edges, rows.prediction, "right")
        codes = np.column_stack([rows.codes, levels.astype(rows.codes.dtype)])
        axes = Bins((*bins.axes, NumericAxis(edges)), np.empty(0))
        wild = weighted_quantile(sizes, rows.weight, _WILD_SHARE)
        target = np.maximum(np.minimum(sizes, wild), _SMALLEST * min(wild, 1.0) or _SMALLEST)
        data = TrainingData(
            axes.with_frequencies_of(codes, rows.weight),
            codes,
            target,
            rows.weight,
            spread=TargetUnit.of(target, rows.weight, False).scale,
        )
        # By ranks, so that folds are alike and do not depend on the order of the rows.
        folds = np.empty(len(sizes), dtype=np.int64)
        folds[np.lexsort((rows.target, rows.prediction))] = np.arange(len(sizes)) % _N_FOLDS
        wanted = replace(
            options,
            loss=_LOSS,
            main_effects=True,
            fit_intercept=True,
            smoothness="auto",
            directions=(0,) * (bins.n_axes + 1),
            start=None,
        )
        return _Widths(data, edges, folds, wanted, stop)

    def fit_without(self, fold: int) -> SeparationModel:
        """The model of all rows but those of a fold; the last fold has none."""
        own = self.folds == fold
        data = self.data.rows(np.flatnonzero(~own)) if own.any() else self.data
        seed, workers = np.random.SeedSequence(0), SerialWorkers(self.stop)
        fit = JointFit(data, self.options, seed, workers, main_effects=True)
        # With the 18 or 22 sweeps of a model intervals scored 0.2 % better (16 tables).
        fit.refine(N_SWEEPS, rate=1.0)
        fit.prune_at_last()
        return fit.model()

    def widths_elsewhere(self, models: list[SeparationModel]) -> FloatArray:
        """The log of every row's width, by the model that was learned without its fold."""
        logs = np.empty(len(self.folds))
        for fold, model in enumerate(models):
            own = self.folds == fold
            logs[own] = model.predict(self.data.codes[own])
        return logs

    def are_told_by(self, logs: FloatArray) -> bool:
        """Whether these widths predict sizes better than a single one does."""
        loss, target, weight = LOSSES[_LOSS], self.data.target, self.data.weight
        single = np.full(len(target), loss.constant(target, weight, self.data.offset))
        return loss.mean_of(target, logs, weight) < loss.mean_of(target, single, weight)

    def widths_of(self, model: SeparationModel, elsewhere: FloatArray) -> OutcomeSpread:
        """The widths of a model, within those that were found for rows not seen."""
        effects = np.zeros(len(model.bins.frequencies)) if model.effects is None else model.effects
        n_ordered = len(self.edges) + 1
        first = int(model.bins.offset[-2])
        return OutcomeSpread(
            constant=model.intercept,
            curves=effects[:first].copy(),
            edges=self.edges,
            by_prediction=effects[first : first + n_ordered].copy(),
            least=float(elsewhere.min()),
            most=float(elsewhere.max()),
            scores=np.empty(0),
        )
