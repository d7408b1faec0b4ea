"""The outer loop of the default fit: choose a size, grow, average, bootstrap."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from seplearn._errors import warn
from seplearn.fitting.draws import axis_hashes, make_draws, random_streams
from seplearn.fitting.grid import kappa
from seplearn.fitting.joint import JointFit, Move, constant_model
from seplearn.fitting.options import FitOptions, TrainingData
from seplearn.fitting.selection import (
    HeldOut,
    Path,
    grow_together,
    held_out_parts,
    inner_workers,
    map_fits,
    mean_model,
    path_by_parts,
)
from seplearn.fitting.stagewise import OnStage
from seplearn.fitting.workers import Workers
from seplearn.kernels.arrays import IntArray
from seplearn.kernels.random import bootstrap_counts
from seplearn.model.model import SeparationModel
from seplearn.model.record import StageRecord
from seplearn.model.stage import Stage

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
    path = None
    if validation.eval_set is not None:
        starts = make_starts(data, options, n_starts, starts_seed, workers)
        held = replace(validation.eval_set, kappa=kappa(options, data.target, data.weight))
        path = _path_on(held, starts, constant, most, workers)
    elif validation.chooses:
        shuffle = int(parts_seed.generate_state(1)[0])
        parts = held_out_parts(data, validation.groups, validation.fraction, shuffle)
        if parts:
            path = path_by_parts(data, options, parts, most, parts_seed, workers)
    if path is not None:
        most = path.best
    starts = make_starts(data, options, n_starts, starts_seed, workers)
    records = _grow(starts, most, workers, on_stage, path)
    if not records:
        _say_constant(options, validation.chooses)
        return constant, []
    model = mean_model([fit.model() for fit in starts])
    replicates = _bootstrap(data, starts, n_bootstrap, parts_seed, workers)
    return replace(model, replicates=replicates), records


def make_starts(
    data: TrainingData,
    options: FitOptions,
    n_starts: int,
    seed: np.random.SeedSequence,
    workers: Workers,
) -> list[JointFit]:
    """Fits without stages; called twice with the same seed it gives the same starts."""
    inner = inner_workers(n_starts, workers)
    seeds = [np.random.SeedSequence([*seed.generate_state(4), k]) for k in range(n_starts)]
    return map_fits(lambda s: JointFit(data, options, s, inner), seeds, workers)


def _path_on(
    eval_set: HeldOut,
    starts: list[JointFit],
    constant: SeparationModel,
    n_stages: int,
    workers: Workers,
) -> Path:
    """Error of the averaged model on the rows of an eval set, against the number of stages."""
    masses = [float(eval_set.weight.sum())]

    def error(model: SeparationModel) -> float:
        return eval_set.error(model.predict(eval_set.codes))

    path = Path((), ()).extended([error(constant)], masses)
    for _ in grow_together(starts, n_stages, workers):
        path = path.extended([error(mean_model([fit.model() for fit in starts]))], masses)
        if path.is_over:
            break
    return path


def _grow(
    starts: list[JointFit], n_stages: int, workers: Workers, on_stage: OnStage, path: Path | None
) -> list[StageRecord]:
    """Grow every start; return the records of the first start's stages, then the second's, ..."""
    rounds: list[list[StageRecord]] = []
    for records in grow_together(starts, n_stages, workers):
        loss = None if path is None else path.losses[len(rounds) + 1]
        rounds.append([replace(record, validation_loss=loss) for record in records])
        ends = [on_stage(*pair) for pair in zip(_newest(starts), rounds[-1], strict=True)]
        if any(ends):
            break
    return [records[k] for k in range(len(starts)) for records in rounds]


def _newest(starts: list[JointFit]) -> list[Stage]:
    return [mean_model([fit.model()] * len(starts)).stages[-1] for fit in starts]


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


def _say_constant(options: FitOptions, chosen: bool) -> None:
    hint = ". early_stopping=False keeps stages that do not help on held-out rows"
    warn(
        "no stage improves on a constant; the model is "
        + ("the mean of y" if options.fit_intercept else "zero")
        + (hint if chosen else "")
    )
