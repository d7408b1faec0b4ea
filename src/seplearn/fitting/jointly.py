"""The default fit: grow on parts of the rows, choose a size and a form, finish on all rows."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from operator import call
from typing import Any

import numpy as np

from seplearn._errors import warn
from seplearn._workers import Workers
from seplearn.fitting.bands import bootstrap
from seplearn.fitting.certainty import certainty
from seplearn.fitting.effort import band_work, finishing_work, work_of
from seplearn.fitting.growth import (
    Finished,
    Grown,
    Growth,
    constant_of,
    grow_forms,
    grow_fully,
    new_fit,
)
from seplearn.fitting.joint.fit import LAST_SWEEPS, SWEEPS_AFTER_PRUNING, JointFit
from seplearn.fitting.options import LOG_LOSS, AllRows, FitOptions, TrainingData, most_stages
from seplearn.fitting.parts import Validation, parts_of
from seplearn.fitting.progress import Progress, stages_text
from seplearn.fitting.selection import InnerWorkers
from seplearn.fitting.spread import OutcomeLearning, Predicted
from seplearn.fitting.twins import ALIKE, Family, Seen, find_families, told_as_one
from seplearn.kernels.arrays import BoolArray
from seplearn.model.classes import Model, sums_of
from seplearn.model.edit import mean_of, of_each, scaled, with_replicates
from seplearn.model.record import SizePath, StageRecord
from seplearn.model.spread import OutcomeSpread
from seplearn.table.blocks import ROWS_PER_BLOCK

# Of more rows the last sweeps have use for all threads, their blocks being many; with two blocks,
# one of them nearly empty, one thread often waits for the other.
_ROWS_BESIDE = 2 * ROWS_PER_BLOCK


def fit_joint(
    data: AllRows,
    options: FitOptions,
    validation: Validation,
    seed: np.random.SeedSequence,
    workers: Workers,
    progress: Progress,
) -> tuple[Model, list[StageRecord]]:
    """Fit the default model.

    Every fit holds out a part of the rows while it grows. Their errors there choose the number of
    stages, and whether main effects come first. Then the fits are finished on all rows, and the
    best of them, or the average of ``n_starts``, is the model. The rows held out tell how far
    outcomes lie from predictions; of classes, how large log-odds should be.
    """
    if data.is_constant and options.fit_intercept:
        return constant_of(data, options), []
    starts_seed, bootstrap_seed = seed.spawn(2)
    parts, mass = parts_of(data.some, options, validation)
    paths: tuple[SizePath, ...] = ()
    spread, factor = None, 1.0
    if parts:
        growths = grow_forms(parts, mass, options, starts_seed, workers, progress)
        growth = _better(growths, options.prefers_effects)
        grown = Grown(growth, parts, mass)
        finished, spread = _finish(data, options, grown, workers, progress)
        paths = tuple(other.path.record(other.main_effects, other is growth) for other in growths)
        if options.loss == LOG_LOSS and validation.eval_set is None:
            factor = _certainty(grown, options)
    else:
        finished = grow_fully(data, options, starts_seed, workers, progress)
    starts = list(finished.starts.values())
    model = mean_of([fit.model() for fit in starts])
    families = _twins_of_starts(model, starts, data.some, options)
    model = told_as_one(model, families)
    if model.is_constant:
        _say_constant(validation.chooses)
        constant = constant_of(data, options)
        return of_each(constant, lambda one: replace(one, size_paths=paths, spread=spread)), []
    n_bootstrap = options.n_bootstrap
    if n_bootstrap > 0:
        progress.phase(
            f"bands, {n_bootstrap} refits", band_work(data.n_rows, options, most_stages(model))
        )
        refits = bootstrap(data.loaded, starts, n_bootstrap, bootstrap_seed, workers, progress)
        model = with_replicates(model, [told_as_one(refit, families) for refit in refits])
    model = of_each(model, lambda one: replace(one, size_paths=paths, spread=spread))
    if factor != 1.0:
        model = of_each(model, lambda one: scaled(one, factor, degree=0))
        finished.multiply(factor)
    return model, finished.history()


def _better(growths: list[Growth], prefers_effects: bool) -> Growth:
    """Products alone, or the form with main effects, unless the other predicts clearly better.

    Main effects without any stage, the simplest form to read, need only predict no worse.
    """
    better, *rivals = reversed(growths) if prefers_effects else growths
    for other in rivals:
        is_sum = other.main_effects and other.path.chosen == 0 < better.path.chosen
        if other.path.is_clearly_better(better.path) or (
            is_sum and other.path.loses_no_more(better.path)
        ):
            better = other
    return better


def _finish(
    data: AllRows, options: FitOptions, grown: Grown, workers: Workers, progress: Progress
) -> tuple[Finished, OutcomeSpread | None]:
    """Finish the fits of the chosen size on all rows; keep those that promise the least error.

    The last sweeps of those see targets half-way to the mean prediction of all fits, so that what
    only one of the fits believes counts half.
    """
    growth = grown.growth
    size = growth.path.chosen
    inner = InnerWorkers(workers)
    n_fits = len(growth.fits)
    form = f"{stages_text(size)}{' and main effects' if growth.main_effects else ''}"
    work = finishing_work(data.n_rows, options, n_fits, size)
    progress.phase(f"finishing {form} on all rows", work)

    def finish(snapshot: Any, seen: AllRows = data) -> Any:
        fit: Any = new_fit(seen, options, np.random.SeedSequence(0), inner)
        fit.finish(snapshot)
        progress.did(work_of(data.n_rows, LAST_SWEEPS + SWEEPS_AFTER_PRUNING, size))
        return fit

    def calmed(fit: JointFit) -> JointFit:
        same = fit.going_on_with(data)
        same.restore(finish(fit.curves, calmer).curves)
        return same

    fits = inner.map_fits(finish, growth.snapshots[size])
    order = sorted(range(len(fits)), key=lambda k: (fits[k].expected_error, fits[k].curves.freedom))
    best = order[: options.n_starts]
    chosen = [fits[k] for k in best]
    calming: list[Callable[[], Any]] = []
    if len(fits) > 1 and options.loss_function.averages_targets:
        # Half-way to the mean prediction of all fits, which is that of their sums: see the loss.
        calmer = data.half_way([fit.carrier for fit in fits])
        calming = [partial(calmed, fit) for fit in chosen]
    calm, spread = _learning_beside(calming, data.n_rows, grown, options, inner)
    return Finished(dict(zip(best, calm or chosen, strict=True)), growth.rounds[:size]), spread


def _learning_beside(
    tasks: list[Callable[[], Any]],
    n_rows: int,
    grown: Grown,
    options: FitOptions,
    workers: InnerWorkers,
) -> tuple[list[Any], OutcomeSpread | None]:
    """Do what is left on so many rows; learn meanwhile how far outcomes lie from predictions."""
    if options.loss == LOG_LOSS:  # whose probabilities say how far
        return workers.map_fits(call, tasks), None
    learning = _learning(grown, options, workers.stop)
    if n_rows > _ROWS_BESIDE:
        done, widths = workers.map_fits(call, tasks), workers.map_fits(call, learning.fits)
    else:
        found = workers.map_fits(call, [*tasks, *learning.fits])
        done, widths = found[: len(tasks)], found[len(tasks) :]
    return done, learning.spread(widths)


def _certainty(grown: Grown, options: FitOptions) -> float:
    """The factor on all log-odds that held-out rows ask for.

    One where fits grew on a sample: finished on all rows, they are other models.
    """
    pairs = zip(grown.parts, grown.growth.fits, strict=True)
    if any(fit.data.n_rows < len(part.kept) for part, fit in pairs):
        return 1.0
    held_out, sums = zip(*grown.predicted(options), strict=True)
    return certainty(
        np.concatenate(sums),
        np.concatenate([held.target for held in held_out]),
        np.concatenate([held.weight for held in held_out]),
        np.concatenate([held.offset for held in held_out]),
    )


def _learning(grown: Grown, options: FitOptions, stop: BoolArray) -> OutcomeLearning:
    """What learns how far outcomes lie from predictions, by rows that were held out."""
    inverse = options.loss_function.link.inverse
    predicted = list(grown.predicted(options))
    rows = Predicted(
        np.concatenate([held.codes for held, _ in predicted]),
        np.concatenate([held.target for held, _ in predicted]),
        np.concatenate([inverse(sums + held.offset) for held, sums in predicted]),
        np.concatenate([held.weight for held, _ in predicted]),
    )
    return OutcomeLearning(rows, grown.parts[0].data.bins, options, stop)


def _twins_of_starts(
    model: Model, starts: list[Any], data: TrainingData, options: FitOptions
) -> list[list[Family]]:
    """Which stages of an average of starts are told as one, for every sum.

    A single start has merged its own before its last sweeps.
    """
    if len(starts) == 1:
        return []
    models = sums_of(model)
    noises = np.mean([fit.noises for fit in starts], axis=0)
    seen = Seen.by(model, data, options.loss_function)
    return [
        find_families(own, seen.codes, weight, ALIKE * noise, options.fit_intercept)
        for own, weight, noise in zip(models, seen.weight, noises, strict=True)
    ]


def _say_constant(chosen: bool) -> None:
    hint = ". early_stopping=False keeps stages that do not help on held-out rows"
    warn("no stage improves on a constant; the model is one" + (hint if chosen else ""))
