"""The outer loop of the default fit: choose a size, grow, average, bootstrap."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from seplearn._errors import warn
from seplearn._workers import Workers
from seplearn.fitting.draws import axis_hashes, make_draws, random_streams
from seplearn.fitting.joint.curves import Curves
from seplearn.fitting.joint.fit import JointFit, Move, constant_model
from seplearn.fitting.options import FitOptions, TrainingData
from seplearn.fitting.selection import (
    HeldOut,
    SizePath,
    grow_together,
    held_out_parts,
    inner_workers,
    map_fits,
    path_by_parts,
)
from seplearn.fitting.stagewise import OnStage
from seplearn.kernels.arrays import IntArray
from seplearn.kernels.random import bootstrap_counts
from seplearn.model.edit import mean_model
from seplearn.model.model import SeparationModel
from seplearn.model.record import StageRecord

FEWEST_STAGES = 8  # a start with fewer is not worth having: then there is only one
_BOOTSTRAP_SWEEPS = 10


@dataclass(frozen=True, eq=False)
class Validation:
    """What the number of stages is chosen by; nothing at all when ``chooses`` is False."""

    chooses: bool = False
    eval_set: HeldOut | None = None
    groups: IntArray | None = None
    fraction: float = 0.15


def fit_joint(
    data: TrainingData,
    options: FitOptions,
    validation: Validation,
    n_bootstrap: int,
    seed: np.random.SeedSequence,
    workers: Workers,
    on_stage: OnStage,
) -> tuple[SeparationModel, list[StageRecord]]:
    """Fit the default model.

    Stages are grown from ``n_starts`` random starts, at most ``n_stages`` in all, and the models
    averaged. The number of stages is that with the smallest error on rows held out.
    """
    n_starts = min(options.n_starts, max(1, options.n_stages // FEWEST_STAGES))
    most = options.n_stages // n_starts
    constant = constant_model(data, options)
    if np.ptp(data.target) == 0.0 and options.fit_intercept:
        return constant, []
    starts_seed, parts_seed = seed.spawn(2)
    starts = make_starts(data, options, n_starts, starts_seed, workers)
    if validation.eval_set is not None:
        eval_set = validation.eval_set
        records = _grow_and_choose(starts, eval_set, constant, most, workers, on_stage)
    else:
        path = None
        if validation.chooses:
            path = _path_by_parts(data, options, validation, most, parts_seed, workers)
        records = _grow(starts, most if path is None else path.best, workers, on_stage, path)
    if not records and not options.main_effects:
        _say_constant(validation.chooses)
        return constant, []
    model = mean_model([fit.model() for fit in starts])
    replicates = _bootstrap(data, starts, n_bootstrap, parts_seed, workers)
    return replace(model, replicates=replicates), records


def _path_by_parts(
    data: TrainingData,
    options: FitOptions,
    validation: Validation,
    n_stages: int,
    seed: np.random.SeedSequence,
    workers: Workers,
) -> SizePath | None:
    """The path of sizes on held-out parts of the rows; None where nothing can be held out."""
    shuffle = int(seed.generate_state(1)[0])
    parts = held_out_parts(data, validation.groups, validation.fraction, shuffle)
    return path_by_parts(data, options, parts, n_stages, seed, workers) if parts else None


def make_starts(
    data: TrainingData,
    options: FitOptions,
    n_starts: int,
    seed: np.random.SeedSequence,
    workers: Workers,
) -> list[JointFit]:
    """Fits without stages."""
    inner = inner_workers(n_starts, workers)
    seeds = [np.random.SeedSequence([*seed.generate_state(4), k]) for k in range(n_starts)]
    return map_fits(lambda s: JointFit(data, options, s, inner), seeds, workers)


def _grow_and_choose(
    starts: list[JointFit],
    eval_set: HeldOut,
    constant: SeparationModel,
    n_stages: int,
    workers: Workers,
    on_stage: OnStage,
) -> list[StageRecord]:
    """Grow every start, measure their average on an eval set, and go back to the best size."""
    masses = [float(eval_set.weight.sum())]

    def error(model: SeparationModel) -> float:
        return eval_set.error(model.predict(eval_set.codes))

    snapshots = [[fit.curves.copy() for fit in starts]]
    first = mean_model([fit.model() for fit in starts]) if starts[0].curves.effects else constant
    path = SizePath((), ()).extended([error(first)], masses)
    rounds: list[list[StageRecord]] = []
    for records in grow_together(starts, n_stages, workers):
        path = path.extended([error(mean_model([fit.model() for fit in starts]))], masses)
        loss = path.losses[-1]
        rounds.append([replace(record, validation_loss=loss) for record in records])
        snapshots.append([fit.curves.copy() for fit in starts])
        if path.is_over:
            break
    kept = 0
    while kept < path.best and not _tell(starts, snapshots[kept + 1], rounds[kept], on_stage):
        kept += 1
    kept = min(kept + 1, path.best)  # the stage at which a callback ended the fit stays
    for fit, snapshot in zip(starts, snapshots[kept], strict=True):
        fit.restore(snapshot)
    return _by_start(rounds[:kept], len(starts))


def _grow(
    starts: list[JointFit],
    n_stages: int,
    workers: Workers,
    on_stage: OnStage,
    path: SizePath | None,
) -> list[StageRecord]:
    """Grow every start to a given size."""
    rounds: list[list[StageRecord]] = []
    for records in grow_together(starts, n_stages, workers):
        loss = None if path is None else path.losses[len(rounds) + 1]
        rounds.append([replace(record, validation_loss=loss) for record in records])
        if _tell(starts, [fit.curves for fit in starts], rounds[-1], on_stage):
            break
    return _by_start(rounds, len(starts))


def _tell(
    starts: list[JointFit], curves: list[Curves], records: list[StageRecord], on_stage: OnStage
) -> bool:
    """Tell of the newest stage of every start; whether the fit is to end."""
    share = 1.0 / len(starts)
    ends = [
        on_stage(fit.stage_of(own.stages[-1]).scaled(share), record)
        for fit, own, record in zip(starts, curves, records, strict=True)
    ]
    return any(ends)


def _by_start(rounds: list[list[StageRecord]], n_starts: int) -> list[StageRecord]:
    """The records of the first start's stages, then the second's, ..."""
    return [records[k] for k in range(n_starts) for records in rounds]


def _bootstrap(
    data: TrainingData,
    starts: list[JointFit],
    n_bootstrap: int,
    seed: np.random.SeedSequence,
    workers: Workers,
) -> tuple[SeparationModel, ...]:
    """Refits to bootstrap samples, a few sweeps from the solution: stages and smoothness stay.

    All refits move the same way too: sweeps go on where the fit ended, and a sample with fewer
    distinct rows lets curves swing further out. What they move on average is taken off, so that
    the replicates lie around the model.
    """
    if n_bootstrap == 0:
        return ()
    hashes = axis_hashes(data)
    draws = make_draws(data, hashes, True)
    seeds = seed.generate_state(n_bootstrap, np.uint64)

    def refit(k: int) -> list[Move]:
        counts = np.zeros(len(data.target))
        state = random_streams(seeds[k], hashes)[-1:].copy()
        bootstrap_counts(state, draws.n_draws, draws.order, draws.cumulative, counts)
        return [fit.move(counts * draws.unit, _BOOTSTRAP_SWEEPS) for fit in starts]

    moves = workers.map(refit, range(n_bootstrap))
    centres = [
        Move(*(np.mean(parts, axis=0) for parts in zip(*own, strict=True)))
        for own in zip(*moves, strict=True)
    ]
    return tuple(
        mean_model(
            [fit.moved(*pair) for fit, *pair in zip(starts, replicate, centres, strict=True)]
        )
        for replicate in moves
    )


def _say_constant(chosen: bool) -> None:
    hint = ". early_stopping=False keeps stages that do not help on held-out rows"
    warn("no stage improves on a constant; the model is one" + (hint if chosen else ""))
