"""Joint refinement: after each new stage all curves of all stages are optimised together."""

from __future__ import annotations

import math
import time
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from seplearn.fitting.draws import axis_hashes, make_draws, random_streams
from seplearn.fitting.grid import kappa
from seplearn.fitting.options import FitOptions, TrainingData
from seplearn.fitting.scalars import least_squares
from seplearn.fitting.smoothing import fixed_penalties, starting_penalties
from seplearn.fitting.stagewise import fit_stage
from seplearn.fitting.workers import Workers
from seplearn.kernels.arrays import FloatArray, JointState, RandomState, SweepRules, SweepTable
from seplearn.kernels.evaluate import weighted_dot
from seplearn.kernels.isotonic import make_monotone
from seplearn.kernels.sweep import fill_products, sweep
from seplearn.model.bag import Bag
from seplearn.model.model import SeparationModel
from seplearn.model.record import StageRecord
from seplearn.model.stage import Branch, Stage

N_SWEEPS = 12  # over everything, after each new stage, at least
# A model that is to stay small is swept longer: its few curves must carry everything. In a large
# one more sweeps fit noise in early stages that later ones would have left alone.
STAGE_SWEEPS = 200
_LARGEST_STEP = 0.2  # of a log-factor in one block update
_SMALLEST_LAMBDA = 1e-3  # of a new branch, in standard deviations of y
_STARTING_FREEDOM = 5.0  # of a curve, before it is known
# A target whose mean is farther from zero, in standard deviations, starts at its mean: a level that
# says nothing is not for products to carry.
_LARGEST_LEVEL = 4.0


class Move(NamedTuple):
    """A change of curves, scales and constant."""

    curves: FloatArray
    scales: FloatArray
    intercept: FloatArray


class JointFit:
    """A model that grows stage by stage and is swept as a whole in between.

    The first stage sees the target itself, not its deviation from the mean: a positive target
    starts as one positive product, the intercept follows in the sweeps. Only where the mean is far
    from zero beside the spread does it see the deviations.
    """

    def __init__(
        self,
        data: TrainingData,
        options: FitOptions,
        seed: np.random.SeedSequence,
        workers: Workers,
    ) -> None:
        self._data, self._options, self._seed, self._workers = data, options, seed, workers
        self._hashes = axis_hashes(data)
        self._draws = make_draws(data, self._hashes, options.bootstrap)
        self._table = sweep_table(data, options, self._hashes)
        self.state = empty_state(data, options)
        self.mean_square = math.inf
        self._energy = energy_price(data, options)
        self._bags: list[Bag] = []

    def grow(self) -> StageRecord | None:
        """Add a stage and refine everything; None when no grid of the new stage finds a step."""
        started = time.perf_counter()
        seeds = self._seed.spawn(1)[0].generate_state(self._options.n_grids, np.uint64)
        streams = [random_streams(s, self._hashes) for s in seeds]
        grids, aggregate = fit_stage(
            self._data,
            self._options,
            self.state.residual,
            self._options.n_splits,
            self._draws,
            streams,
            self._workers,
        )
        idle = all(grid.n_actions == 0 for grid in grids)
        # Without an intercept a first stage is worth having even if it is a constant.
        if idle and (self._options.fit_intercept or len(self.state.scales) > 0):
            return None
        if self._options.keep_bags:
            self._bags.append(aggregate.bag(grids))
        self._append(aggregate.stage)
        self.refine(N_SWEEPS, rate=0.5 if self._options.loss == "huber" else 1.0)
        self.refine(max(0, STAGE_SWEEPS // self._options.n_stages - N_SWEEPS), rate=0.5)
        model = self.model()
        return StageRecord(
            loss=self.mean_square,
            n_kept=len(aggregate.kept),
            n_grids=len(grids),
            mean_actions=float(np.mean([grid.n_actions for grid in grids])),
            scalars=tuple((stage.lambda_plus, stage.lambda_minus) for stage in model.stages),
            intercept=model.intercept,
            seconds=time.perf_counter() - started,
            cancellation=self.cancellation,
            freedom=float(self.state.freedom.sum()),
        )

    def refine(self, n_sweeps: int, rate: float) -> None:
        """Sweep over everything, in a worker, so that the calling thread can be interrupted.

        Few sweeps must learn fast (``rate=1``). Many, so, would never settle: rounding errors grow
        from sweep to sweep unless the learning is damped.
        """
        rules, stop = self._rules()._replace(rate=rate), self._workers.stop

        def run(state: JointState) -> float:
            return float(sweep(self._table, state, rules, n_sweeps, stop))

        self.mean_square = self._workers.map(run, [self.state])[0]
        fix_gauge(self.state, self._data)

    def _append(self, stage: Stage) -> None:
        """Add a stage with its least-squares scalars; the curves keep the constraints."""
        data, state = self._data, self.state
        frequencies = data.bins.frequencies
        branches = [b and _monotone(b, self._table, frequencies) for b in (stage.plus, stage.minus)]
        scalars = iter(self._scalars([branch for branch in branches if branch is not None]))
        logs = [(b.log_factors, math.log(next(scalars))) for b in branches if b is not None]
        (plus, log_plus), (minus, log_minus) = logs[0], logs[-1]
        curves = np.array([[0.5 * (plus + minus), 0.5 * (plus - minus)]])
        scales = np.array([[0.5 * (log_plus + log_minus), 0.5 * (log_plus - log_minus)]])
        smoothness = self._options.smoothness
        if isinstance(smoothness, str):
            penalties = starting_penalties(data)
        else:
            penalties = fixed_penalties(data, smoothness)
        present = np.array([[branch is not None for branch in branches]])
        products = np.empty((1, 2, len(data.target)))
        freedom = np.full((1, data.bins.n_axes), _STARTING_FREEDOM)
        self.state = JointState(
            np.concatenate([state.curves, curves]),
            np.concatenate([state.scales, scales]),
            np.concatenate([state.present, present]),
            np.concatenate([state.products, products]),
            state.residual,
            state.intercept,
            np.concatenate([state.penalties, penalties]),
            np.concatenate([state.freedom, freedom]),
        )
        fill_products(self._table, self.state, len(self.state.scales) - 1)

    def _scalars(self, branches: list[Branch]) -> FloatArray:
        """Non-negative least squares of the residual on the new products, at least a little."""
        data, residual = self._data, self.state.residual
        columns = [branch.evaluate(data.codes, data.bins) for branch in branches]
        gram = np.array([[weighted_dot(a, b, data.weight) for b in columns] for a in columns])
        right = np.array([weighted_dot(column, residual, data.weight) for column in columns])
        scalars: FloatArray = np.maximum(least_squares(gram, right, False), _SMALLEST_LAMBDA)
        return scalars

    def model(self) -> SeparationModel:
        """The model as it stands."""
        return replace(to_model(self.state, self._data, self._table), bags=tuple(self._bags))

    @property
    def cancellation(self) -> float:
        """Mean of sum_k P_k over mean |sum_k s_k P_k| on the training rows; 1 is the least."""
        weight = self._data.weight
        size, net = self.state.products.sum(axis=(0, 1)), np.zeros(len(weight))
        for plus, minus in self.state.products:
            net += plus - minus
        total = float(np.sum(weight * np.abs(net)))
        return float(np.sum(weight * size)) / total if total > 0 else 1.0

    def move(self, weight: FloatArray, n_sweeps: int) -> Move:
        """What sweeps with other weights change, the penalties as they are."""
        state = copied(self.state)
        rules = self._rules()._replace(learns=False)
        table = self._table._replace(weight=weight)
        sweep(table, state, rules, n_sweeps, self._workers.stop)
        fix_gauge(state, self._data)
        here = self.state
        return Move(
            state.curves - here.curves,
            state.scales - here.scales,
            state.intercept - here.intercept,
        )

    def moved(self, move: Move, centre: Move) -> SeparationModel:
        """The model with a move away from ``centre`` added to its curves."""
        here = self.state
        state = here._replace(
            curves=here.curves + move.curves - centre.curves,
            scales=here.scales + move.scales - centre.scales,
            intercept=here.intercept + move.intercept - centre.intercept,
        )
        return to_model(state, self._data, self._table)

    def _rules(self) -> SweepRules:
        return SweepRules(
            energy=self._energy,
            largest_step=_LARGEST_STEP,
            kappa=kappa(self._options, self.state.residual, self._data.weight),
            fit_intercept=self._options.fit_intercept,
            learns=self._options.smoothness == "auto",
            rate=1.0,
        )


def energy_price(data: TrainingData, options: FitOptions) -> float:
    """The price of the products' size.

    Without an intercept products must carry the level of the target, which is no cancellation;
    it would cost more than all the rest, so the price is in units of the target's mean square.
    """
    if options.fit_intercept:
        return options.energy
    return options.energy / float(np.average(data.target**2, weights=data.weight) or 1.0)


def copied(state: JointState) -> JointState:
    """The same state in arrays of its own."""
    arrays: Any = (array.copy() for array in state)
    return JointState(*arrays)


def fix_gauge(state: JointState, data: TrainingData) -> None:
    """Give every log-factor mean zero on its axis; what is taken off goes into the scales."""
    centred, taken_off = data.bins.centred(state.curves)
    state.curves[:] = centred
    state.scales[:] += taken_off


def to_model(state: JointState, data: TrainingData, table: SweepTable) -> SeparationModel:
    """From backbone and tilt to branches."""
    stages = []
    for (beta, delta), (b0, d0), present in zip(
        state.curves, state.scales, state.present, strict=True
    ):
        plus = _exact(Branch(1.0, float(b0 + d0), beta + delta), table)
        minus = _exact(Branch(-1.0, float(b0 - d0), beta - delta), table)
        stages.append(Stage(plus if present[0] else None, minus if present[1] else None))
    return SeparationModel(data.bins, float(state.intercept[0]), tuple(stages))


def sweep_table(data: TrainingData, options: FitOptions, hashes: RandomState) -> SweepTable:
    """The rows in the layout of the sweeps; the order of visits depends on content alone.

    An axis on which all rows share a bin has nothing to say and is not visited.
    """
    used = np.add.reduceat(data.bins.frequencies > 0, data.bins.offset[:-1], dtype=np.int64)
    order = np.argsort(hashes, kind="stable")
    varying = order[used[order] > 1]
    return SweepTable(
        codes=np.ascontiguousarray(data.codes.T),
        offset=data.bins.offset,
        n_ordered=data.bins.n_ordered,
        direction=np.array(options.directions, dtype=np.int64),
        visits=varying if len(varying) else order[:1],
        weight=data.weight,
    )


def empty_state(data: TrainingData, options: FitOptions) -> JointState:
    """A model without stages: zero, or for a target far from zero its mean."""
    n, p, n_flat = len(data.target), data.bins.n_axes, int(data.bins.offset[-1])
    mean = float(np.average(data.target, weights=data.weight))
    level = mean if options.fit_intercept and abs(mean) > _LARGEST_LEVEL else 0.0
    return JointState(
        np.empty((0, 2, n_flat)),
        np.empty((0, 2)),
        np.empty((0, 2), dtype=np.bool_),
        np.empty((0, 2, n)),
        data.target - level,
        np.array([level]),
        np.empty((0, p, 2, 3)),
        np.empty((0, p)),
    )


def constant_model(data: TrainingData, options: FitOptions) -> SeparationModel:
    """The model without any stage: the mean, or zero where there is no intercept."""
    mean = float(np.average(data.target, weights=data.weight)) if options.fit_intercept else 0.0
    return SeparationModel(data.bins, mean, ())


def _monotone(branch: Branch, table: SweepTable, frequencies: FloatArray) -> Branch:
    """The branch with the nearest curves that keep the constraints."""
    curves = branch.log_factors.copy()
    for j in np.flatnonzero(table.direction):
        part = slice(int(table.offset[j]), int(table.offset[j] + table.n_ordered[j]))
        weight = frequencies[part] + 1e-12
        make_monotone(curves[part], weight, float(branch.coefficient_sign * table.direction[j]))
    return Branch(branch.coefficient_sign, branch.log_scale, curves)


def _exact(branch: Branch, table: SweepTable) -> Branch:
    """The branch with rounding taken out of its constrained curves: none falls by an ulp."""
    for j in np.flatnonzero(table.direction):
        part = slice(int(table.offset[j]), int(table.offset[j] + table.n_ordered[j]))
        rises = branch.coefficient_sign * table.direction[j] > 0
        running = np.maximum if rises else np.minimum
        branch.log_factors[part] = running.accumulate(branch.log_factors[part])
    return branch
