"""The outer loop of the default fit: grow on parts of the rows, choose a size, finish on all."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from itertools import cycle, islice

import numpy as np

from seplearn._errors import warn
from seplearn._workers import Workers
from seplearn.fitting.draws import axis_hashes, make_draws, random_streams
from seplearn.fitting.joint.curves import Curves
from seplearn.fitting.joint.fit import JointFit, Move, constant_model
from seplearn.fitting.options import LOG_LOSS, FitOptions, TrainingData
from seplearn.fitting.selection import (
    ErrorPath,
    HeldOut,
    held_out_parts,
    inner_workers,
    map_fits,
)
from seplearn.fitting.stagewise import OnStage
from seplearn.kernels.arrays import FloatArray, IntArray
from seplearn.kernels.random import bootstrap_counts
from seplearn.losses import Loss
from seplearn.model.edit import mean_model
from seplearn.model.model import SeparationModel
from seplearn.model.record import StageRecord

_BOOTSTRAP_SWEEPS = 10


@dataclass(frozen=True, eq=False)
class Validation:
    """What the number of stages is chosen by; nothing at all when ``chooses`` is False."""

    chooses: bool = False
    eval_set: HeldOut | None = None
    groups: IntArray | None = None
    fraction: float = 0.15


@dataclass(frozen=True, eq=False)
class _Part:
    """Rows that a fit grows on, and rows that it predicts."""

    rows: TrainingData
    held_out: HeldOut


@dataclass(eq=False)
class _Growth:
    """Fits without their parts, as they grow side by side in one form of the model."""

    main_effects: bool
    path: ErrorPath
    snapshots: list[list[Curves]] = field(default_factory=list)
    rounds: list[list[StageRecord | None]] = field(default_factory=list)

    @property
    def reading_size(self) -> float:
        """Number of curves to be read at the chosen size, on average over the parts."""
        return float(np.mean([curves.reading_size for curves in self.snapshots[self.path.chosen]]))


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

    Every fit holds out a part of the rows while it grows. Their errors there choose the number of
    stages, and whether main effects come first. Then the fits are finished on all rows, and the
    best of them, or the average of ``n_starts``, is the model.
    """
    constant = constant_model(data, options)
    if np.ptp(data.target) == 0.0 and options.fit_intercept and data.given_offset is None:
        return constant, []
    starts_seed, bootstrap_seed = seed.spawn(2)
    parts, mass = _parts(data, options, validation)
    if parts:
        growths = _grow_forms(parts, mass, options, starts_seed, workers, on_stage)
        growth = _better(growths)
        starts, records = _finish(data, options, growth, workers)
        paths = tuple(other.path.record(other.main_effects, other is growth) for other in growths)
    else:
        starts, records = _grow_fully(data, options, starts_seed, workers, on_stage)
        paths = ()
    constant = replace(constant, size_paths=paths)
    model = mean_model([fit.model() for fit in starts])
    if model.is_constant:
        _say_constant(validation.chooses)
        return constant, []
    replicates = _bootstrap(data, starts, n_bootstrap, bootstrap_seed, workers)
    return replace(model, replicates=replicates, size_paths=paths), records


def _parts(
    data: TrainingData, options: FitOptions, validation: Validation
) -> tuple[list[_Part], float]:
    """What every fit grows on and what it predicts, and the weight of all rows predicted.

    There are no parts where nothing can be held out. A row that several fits predict counts once.
    """
    if validation.eval_set is not None:
        parts = [_Part(data, validation.eval_set)] * options.n_starts
        return parts, float(validation.eval_set.weight.sum())
    if not validation.chooses:
        return [], 0.0
    loss = options.loss_function.suited_to(data.target, data.weight)
    pairs = held_out_parts(
        data, validation.groups, validation.fraction, options.n_starts, options.loss == LOG_LOSS
    )
    parts = [_Part(data.rows(kept), _held_out(data, held, loss)) for kept, held in pairs]
    if not parts:
        return [], 0.0
    predicted = np.unique(np.concatenate([held for _, held in pairs]))
    n_fits = max(len(parts), options.n_starts)
    return list(islice(cycle(parts), n_fits)), float(data.weight[predicted].sum())


def _held_out(data: TrainingData, rows: IntArray, loss: Loss) -> HeldOut:
    return HeldOut(data.codes[rows], data.target[rows], data.weight[rows], data.offset[rows], loss)


def _grow_forms(
    parts: list[_Part],
    mass: float,
    options: FitOptions,
    seed: np.random.SeedSequence,
    workers: Workers,
    on_stage: OnStage,
) -> list[_Growth]:
    """Grow the model on every part, in each form that is asked for."""
    chosen_by_error = options.main_effects == "auto" and options.may_have_effects
    forms = (False, True) if chosen_by_error else (options.main_effects is True,)
    growths = []
    for main_effects in forms:
        growth, ended = _grow(parts, mass, options, main_effects, seed, workers, on_stage)
        growths.append(growth)
        if ended:
            break
    return growths


def _grow(
    parts: list[_Part],
    mass: float,
    options: FitOptions,
    main_effects: bool,
    seed: np.random.SeedSequence,
    workers: Workers,
    on_stage: OnStage,
) -> tuple[_Growth, bool]:
    """Grow until more stages bring nothing; and whether a callback ended it."""
    held = [part.held_out for part in parts]
    growth = _Growth(main_effects, ErrorPath([part.weight for part in held], mass))
    inner = inner_workers(len(parts), workers)

    def start(k: int) -> JointFit:
        fit = JointFit(parts[k].rows, options, _start_seed(seed, k), inner, main_effects)
        fit.begin()
        return fit

    def losses(k: int) -> FloatArray:
        model = fits[k].model()
        if model.is_constant:
            model = constant_model(parts[k].rows, options)
        return held[k].losses(model.predict(held[k].codes))

    def measure() -> None:
        growth.path.add(map_fits(losses, range(len(parts)), workers))
        growth.snapshots.append([fit.curves.copy() for fit in fits])

    fits = map_fits(start, range(len(parts)), workers)
    measure()
    for _ in range(options.n_stages):
        records = map_fits(lambda fit: fit.grow(), fits, workers)
        if all(record is None for record in records):  # one that finds no step stays as it is
            break
        measure()
        loss = growth.path.losses[-1]
        told = [record and replace(record, validation_loss=loss) for record in records]
        growth.rounds.append(told)
        if _tell(fits, told, on_stage):
            return growth, True
        if growth.path.is_over:
            break
    return growth, False


def _start_seed(seed: np.random.SeedSequence, k: int) -> np.random.SeedSequence:
    return np.random.SeedSequence([*seed.generate_state(4), k])


def _tell(fits: list[JointFit], records: list[StageRecord | None], on_stage: OnStage) -> bool:
    """Tell of the newest stage of the first fit that found one; whether the fit is to end."""
    for fit, record in zip(fits, records, strict=True):
        if record is not None and fit.newest is not None:
            return on_stage(fit.newest, record)
    return False


def _better(growths: list[_Growth]) -> _Growth:
    """The form with fewer curves to read, unless it predicts clearly worse."""
    smaller, *larger = sorted(growths, key=lambda growth: growth.reading_size)
    for other in larger:
        if smaller.path.is_worse(smaller.path.chosen, other.path, other.path.chosen):
            return other
    return smaller


def _finish(
    data: TrainingData, options: FitOptions, growth: _Growth, workers: Workers
) -> tuple[list[JointFit], list[StageRecord]]:
    """Finish the fits of the chosen size on all rows; keep those that promise the least error."""
    size = growth.path.chosen
    snapshots = growth.snapshots[size]
    inner = inner_workers(len(snapshots), workers)

    def finish(snapshot: Curves) -> JointFit:
        fit = JointFit(data, options, np.random.SeedSequence(0), inner)
        fit.finish(snapshot)
        return fit

    fits = map_fits(finish, snapshots, workers)
    order = sorted(range(len(fits)), key=lambda k: (fits[k].expected_error, fits[k].curves.freedom))
    starts = {k: fits[k] for k in order[: options.n_starts]}
    return list(starts.values()), _history(growth.rounds[:size], starts)


def _history(
    rounds: list[list[StageRecord | None]], starts: dict[int, JointFit]
) -> list[StageRecord]:
    """The records of every start, one after the other; the last of each is of the model as it is.

    ``starts`` says which of the fits in a round each of them is.
    """
    history: list[StageRecord] = []
    for k, fit in starts.items():
        own = [record for records in rounds if (record := records[k]) is not None]
        history += [*own[:-1], *(fit.described(record) for record in own[-1:])]
    return history


def _grow_fully(
    data: TrainingData,
    options: FitOptions,
    seed: np.random.SeedSequence,
    workers: Workers,
    on_stage: OnStage,
) -> tuple[list[JointFit], list[StageRecord]]:
    """Grow ``n_stages`` stages on all rows, from every start."""
    inner = inner_workers(options.n_starts, workers)

    def start(k: int) -> JointFit:
        # Nothing is held out by which "auto" could decide.
        fit = JointFit(data, options, _start_seed(seed, k), inner, options.main_effects is True)
        fit.begin()
        return fit

    fits = map_fits(start, range(options.n_starts), workers)
    rounds: list[list[StageRecord | None]] = []
    for _ in range(options.n_stages):
        records = map_fits(lambda fit: fit.grow(), fits, workers)
        if all(record is None for record in records):
            break
        rounds.append(records)
        if _tell(fits, records, on_stage):
            break
    for fit in fits:
        fit.settle()
    return fits, _history(rounds, dict(enumerate(fits)))


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
