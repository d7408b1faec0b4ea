"""The outer loop: a stage on the residuals, all scalars refitted, again."""

from __future__ import annotations

import time
from dataclasses import replace

import numpy as np

from seplearn._workers import Workers
from seplearn.fitting.aggregate import Aggregate, combine
from seplearn.fitting.draws import make_draws, random_streams
from seplearn.fitting.grid import Grid, fit_grid, refine_rules
from seplearn.fitting.options import FitOptions, TrainingData
from seplearn.fitting.progress import ASKED, NO_STEP, Progress
from seplearn.fitting.scalars import Projection
from seplearn.kernels.arrays import Draws, FloatArray, RandomState
from seplearn.model.bag import Bag
from seplearn.model.model import SeparationModel
from seplearn.model.record import StageRecord
from seplearn.model.stage import Stage


def fit_stagewise(
    data: TrainingData,
    options: FitOptions,
    seed: np.random.SeedSequence,
    workers: Workers,
    progress: Progress,
) -> tuple[SeparationModel, list[StageRecord]]:
    """Fit the paper's TSL: forward stagewise with a joint refit of all scalars after each stage.

    This is orthogonal greedy approximation: the residual a new stage sees is orthogonal to all
    earlier products (up to the sign constraint of the scalars).
    """
    hashes, draws = workers.map(lambda part: _prepared(part, options.bootstrap), [data])[0]
    projection = Projection(data, options.scalars, options.fit_intercept)
    fitted = np.zeros_like(data.target)
    if options.fit_intercept:
        fitted[:] = np.average(data.target, weights=data.weight)
    stages: list[Stage] = []
    records: list[StageRecord] = []
    bags: list[Bag] = []
    model = SeparationModel(data.bins, float(fitted[0]), ())
    n_splits = options.n_splits
    for k in range(options.n_stages):
        progress.stage(k + 1, options.n_stages, float(options.n_stages - k))
        started = time.perf_counter()
        seeds = seed.spawn(1)[0].generate_state(options.n_grids, np.uint64)
        streams = [random_streams(s, hashes) for s in seeds]
        grids, aggregate = fit_stage(
            data, options, data.target - fitted, n_splits, draws, streams, workers
        )
        if stages and all(grid.n_actions == 0 for grid in grids):
            progress.stopped(k, NO_STEP)
            break
        stages.append(aggregate.stage)
        if options.keep_bags:
            bags.append(aggregate.bag(grids))
        for branch in aggregate.stage.branches:
            projection.append(branch)
        scales = projection.solve()
        fitted = scales.fitted
        model = SeparationModel(data.bins, scales.intercept, tuple(scales.apply(stages)))
        records.append(
            _record(model, data, options, grids, aggregate, fitted, time.perf_counter() - started)
        )
        progress.did(1.0)
        if progress.on_stage(model.stages[-1], records[-1]):
            progress.stopped(k + 1, ASKED)
            break
        n_splits = max(1, round(n_splits * options.decay))
    return replace(model, bags=tuple(bags)), records


def _prepared(data: TrainingData, bootstrap: bool) -> tuple[RandomState, Draws]:
    """What all stages share; made in a worker, so that the calling thread can be interrupted."""
    _ = data.sorted_rows
    return data.axis_hashes, make_draws(data, bootstrap)


def fit_stage(
    data: TrainingData,
    options: FitOptions,
    residual: FloatArray,
    n_splits: int,
    draws: Draws,
    streams: list[np.ndarray],
    workers: Workers,
) -> tuple[list[Grid], Aggregate]:
    """Algorithm 11: bag grids on the outer residuals and combine them; scalars are left at one."""
    single = options.products == "single"
    branches = (True, False) if single else stage_branches(residual)
    rules = refine_rules(options, data, residual, branches, n_splits)

    def fit_bag(random: np.ndarray) -> Grid:
        return fit_grid(data, residual, branches, draws, rules, random, workers.stop)

    grids = workers.map(fit_bag, streams)
    return grids, combine(grids, data, branches, options, workers)


def stage_branches(residual: FloatArray) -> tuple[bool, bool]:
    """Which of (+, -) a stage has: one only when no residual asks for the other."""
    if (residual >= 0).all():
        return True, False
    if (residual <= 0).all():
        return False, True
    return True, True


def _record(
    model: SeparationModel,
    data: TrainingData,
    options: FitOptions,
    grids: list[Grid],
    aggregate: Aggregate,
    fitted: FloatArray,
    seconds: float,
) -> StageRecord:
    loss = options.loss_function.suited_to(data.target - fitted, data.weight)
    return StageRecord(
        loss=float(np.average(loss.of_rows(data.target, fitted), weights=data.weight)),
        n_kept=len(aggregate.kept),
        n_grids=len(grids),
        mean_actions=float(np.mean([grid.n_actions for grid in grids])),
        scalars=tuple((stage.lambda_plus, stage.lambda_minus) for stage in model.stages),
        intercept=model.intercept,
        seconds=seconds,
    )
