"""Stages left out, and two stages made one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import product

import numpy as np
from scipy.optimize import least_squares as nonlinear_least_squares

from seplearn.fitting.scalars import least_squares
from seplearn.kernels.arrays import FloatArray
from seplearn.model.edit import select_stages
from seplearn.model.model import SeparationModel
from seplearn.model.reference import Reference
from seplearn.model.stage import Branch, Stage

_LARGEST_POWER = 4.0  # of a curve in a merged one
_SMALLEST_POWER = 1e-6  # below it a curve says nothing and is left out
_LARGEST_LOG = 300.0  # of a product while it is fitted: its square is a number
_SMALLEST_SHARE = 1e-3  # of the size of both stages, for a product to start from
_MOST_EVALUATIONS = 200


def drop_stage(model: SeparationModel, stage: int) -> SeparationModel:
    """The model without a stage, whose mean becomes part of the constant."""
    mean = _mean(model, model.stages[stage])
    others = [s for s in range(len(model.stages)) if s != stage]
    return replace(select_stages(model, others), intercept=model.intercept + mean)


def _mean(model: SeparationModel, stage: Stage) -> float:
    """Mean of a stage over the rows the model keeps, else as if features were independent."""
    rows = model.reference
    if rows is not None:
        return float(np.sum(stage.evaluate(rows.codes, model.bins) * rows.weight))
    total = 0.0
    for branch in stage.active:
        means = model.bins.means(branch.factors(slice(None)))
        total += branch.coefficient * float(np.prod(means))
    return total


def merge_stages(
    model: SeparationModel, rows: Reference, first: int, second: int
) -> SeparationModel:
    """The model with one stage for two, at the place of the first.

    The curves are weighted geometric means of those of the two stages: what both leave flat stays
    flat, and what rises in both still rises. Weights, scales and a constant are chosen by least
    squares over ``rows``.
    """
    low, high = sorted((first, second))
    pair = (model.stages[low], model.stages[high])
    with np.errstate(over="ignore"):
        target = sum((stage.evaluate(rows.codes, model.bins) for stage in pair), np.zeros(1))
    size = float(np.abs(target).max()) or 1.0
    stage, constant = _Merger.of(model, rows, pair, target / size).merged()
    smaller = select_stages(model, [s for s in range(len(model.stages)) if s != high])
    stages = list(smaller.stages)
    stages[low] = stage.scaled(size)
    return replace(smaller, stages=tuple(stages), intercept=model.intercept + size * constant)


@dataclass(frozen=True, eq=False)
class _Side:
    """The curves of the products of two stages that add, or that subtract."""

    sign: float
    curves: FloatArray  # (n_parents, n_flat)
    logs: FloatArray  # (n_rows, n_parents, n_features): their values in the bins of the rows


@dataclass(frozen=True, eq=False)
class _Merger:
    """A least-squares problem: powers of curves, log-scales of one or two products, a constant."""

    model: SeparationModel
    features: tuple[int, ...]
    sides: tuple[_Side, ...]
    root_weight: FloatArray
    target: FloatArray

    @staticmethod
    def of(
        model: SeparationModel, rows: Reference, pair: Sequence[Stage], target: FloatArray
    ) -> _Merger:
        features = tuple(sorted({j for stage in pair for j in stage.features(model.bins)}))
        flat = model.bins.flat(rows.codes)[:, list(features)]
        sides = []
        for sign in (1.0, -1.0):
            parents = [b for stage in pair for b in stage.active if b.coefficient_sign == sign]
            if parents:
                curves = np.array([branch.log_factors for branch in parents])
                sides.append(_Side(sign, curves, np.moveaxis(curves[:, flat], 0, 1)))
        return _Merger(model, features, tuple(sides), np.sqrt(rows.weight), target)

    def merged(self) -> tuple[Stage, float]:
        """The stage, and the constant that goes with it."""
        start = self._start()
        lower, upper = np.full(len(start), -np.inf), np.full(len(start), np.inf)
        for _, powers in self._parts():
            lower[powers], upper[powers] = 0.0, _LARGEST_POWER
        found = nonlinear_least_squares(
            self._residuals, start, self._slopes, (lower, upper), max_nfev=_MOST_EVALUATIONS
        ).x
        pair: dict[float, Branch] = {}
        for side, (scale, powers) in zip(self.sides, self._parts(), strict=True):
            pair[side.sign] = self._branch(side, found[scale], found[powers])
        return Stage(pair.get(1.0), pair.get(-1.0)), float(found[0])

    def _parts(self) -> list[tuple[int, slice]]:
        """Where the log-scale and the powers of every side are among the numbers to find."""
        parts, begin = [], 1
        for side in self.sides:
            end = begin + 1 + len(side.curves) * len(self.features)
            parts.append((begin, slice(begin + 1, end)))
            begin = end
        return parts

    def _branch(self, side: _Side, log_scale: float, powers: FloatArray) -> Branch:
        bins = self.model.bins
        each = powers.reshape(len(side.curves), len(self.features))
        shares = np.zeros((len(side.curves), bins.n_axes))
        shares[:, list(self.features)] = np.where(each < _SMALLEST_POWER, 0.0, each)
        curves = np.sum(side.curves * bins.repeat_per_bin(shares), axis=0)
        return Branch(side.sign, float(log_scale), curves)

    def _products(self, x: FloatArray) -> list[FloatArray]:
        """Every side's product on the rows, with its sign."""
        out = []
        for side, (scale, powers) in zip(self.sides, self._parts(), strict=True):
            each = x[powers].reshape(side.logs.shape[1:])
            logs = x[scale] + np.sum(side.logs * each, axis=(1, 2))
            out.append(side.sign * np.exp(np.minimum(logs, _LARGEST_LOG)))
        return out

    def _residuals(self, x: FloatArray) -> FloatArray:
        total = x[0] + sum(self._products(x), np.zeros(1)) - self.target
        residuals: FloatArray = self.root_weight * total
        return residuals

    def _slopes(self, x: FloatArray) -> FloatArray:
        columns = [np.ones((len(self.target), 1))]
        for side, values in zip(self.sides, self._products(x), strict=True):
            columns.append(values[:, None])
            columns.append(values[:, None] * side.logs.reshape(len(values), -1))
        slopes: FloatArray = self.root_weight[:, None] * np.hstack(columns)
        return slopes

    def _start(self) -> FloatArray:
        """The best of: the curves of one stage, of the other, half of both; for either side."""
        best, smallest = np.zeros(0), np.inf
        for shares in product(*(_starting_shares(len(side.curves)) for side in self.sides)):
            x = np.zeros(self._parts()[-1][1].stop)
            for own, (_, powers) in zip(shares, self._parts(), strict=True):
                x[powers] = np.repeat(own, len(self.features))
            self._scale(x)
            loss = float(np.sum(self._residuals(x) ** 2))
            if loss < smallest:
                best, smallest = x, loss
        return best

    def _scale(self, x: FloatArray) -> None:
        """The best scales and constant for these powers, in place."""
        weight = self.root_weight**2
        columns = self._products(x)
        tops = [float(np.abs(column).max()) for column in columns]
        shown = np.array([column / top for column, top in zip(columns, tops, strict=True)])
        around = shown - (shown @ weight)[:, None]
        right = around @ (weight * (self.target - self.target @ weight))
        gram = (around * weight) @ around.T
        found = np.zeros(len(columns))
        varies = np.diag(gram) > 0.0
        if varies.any():
            found[varies] = least_squares(gram[np.ix_(varies, varies)], right[varies], False)
        found = np.maximum(found, _SMALLEST_SHARE)
        x[0] = float(weight @ (self.target - found @ shown))
        for share, top, (scale, _) in zip(found, tops, self._parts(), strict=True):
            x[scale] += np.log(share) - np.log(top)


def _starting_shares(n_parents: int) -> list[list[float]]:
    return [[1.0]] if n_parents == 1 else [[1.0, 0.0], [0.0, 1.0], [0.5, 0.5]]
