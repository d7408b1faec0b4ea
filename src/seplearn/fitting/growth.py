"""The outer loop of the default fit: grow on parts of the rows, choose a size, finish on all."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import cycle, islice
from operator import call
from typing import Any, TypeAlias, TypeVar

import numpy as np

from seplearn._errors import warn
from seplearn._workers import Workers
from seplearn.fitting.certainty import certainty
from seplearn.fitting.draws import make_draws, random_streams, row_order
from seplearn.fitting.joint.classes import ClassCurves, ClassFits, constant_models
from seplearn.fitting.joint.curves import Curves
from seplearn.fitting.joint.fit import (
    LAST_SWEEPS,
    SWEEPS_AFTER_PRUNING,
    JointFit,
    Move,
    constant_model,
    sweeps_of_stage,
)
from seplearn.fitting.options import LOG_LOSS, AllRows, FitOptions, TrainingData, most_stages
from seplearn.fitting.progress import ASKED, NO_BETTER, NO_STEP, OnStage, Progress, stages_text
from seplearn.fitting.selection import (
    ErrorPath,
    HeldOut,
    InnerWorkers,
    held_out_parts,
)
from seplearn.fitting.spread import Predicted, outcome_spread
from seplearn.fitting.twins import ALIKE, Family, Seen, find_families, told_as_one
from seplearn.kernels.arrays import FloatArray, IntArray
from seplearn.kernels.random import draw_bootstrap
from seplearn.losses import ClassLogLoss, Loss
from seplearn.model.classes import ClassModels, Model
from seplearn.model.edit import mean_of, of_each, scaled, with_replicates
from seplearn.model.record import SizePath, StageRecord
from seplearn.model.spread import OutcomeSpread
from seplearn.table.blocks import ROWS_PER_BLOCK

_Result = TypeVar("_Result")
# Of one sum, or of one for each class: both grow, are measured and finished in the same way.
Fit: TypeAlias = JointFit | ClassFits
Snapshot: TypeAlias = Curves | ClassCurves

_BOOTSTRAP_SWEEPS = 10
# Sizes, that without stages among them, before main effects may be given up. Compared later, on
# twelve small tables, they were no better choice, for a sixth more of the time.
_FEWEST_COMPARED = 3
# Of more rows a model grows on a sample, which doubles as the model becomes larger; it is finished
# on all rows. A table of this size itself would lose by it.
_SAMPLED = 50_000
_SAMPLE = 30_000
_LARGEST_SAMPLE = 120_000
_STAGES_TO_DOUBLE = 4
# For estimates of time: what a stage takes beside its sweeps, as if of more rows and stages.
_ROWS_OF_OVERHEAD = 2_000
_STAGES_OF_OVERHEAD = 4
# A class that so many stages in a row brought nothing gets no more of them.
_MOST_FAILURES = 2


@dataclass(frozen=True, eq=False)
class Validation:
    """What the number of stages is chosen by; nothing at all when ``chooses`` is False."""

    chooses: bool = False
    eval_set: HeldOut | None = None
    groups: IntArray | None = None
    fraction: float = 0.15


@dataclass(frozen=True, eq=False)
class _Part:
    """Rows that a fit grows on, in an order of which every head is a sample; rows it predicts."""

    data: TrainingData
    kept: IntArray
    held_out: HeldOut
    _samples: dict[int, TrainingData] = field(default_factory=dict)

    def n_rows(self, n_stages: int) -> int:
        """How many rows a model of so many stages grows on: of a large table a sample."""
        n = len(self.kept)
        if n > _SAMPLED:
            n = min(n, _LARGEST_SAMPLE, _SAMPLE * 2 ** (n_stages // _STAGES_TO_DOUBLE))
        return n

    def rows(self, n_stages: int) -> TrainingData:
        """The rows that a model of so many stages grows on."""
        n = self.n_rows(n_stages)
        if n not in self._samples:
            self._samples.clear()
            everyone = n == len(self.data.target)
            self._samples[n] = self.data if everyone else self.data.rows(np.sort(self.kept[:n]))
        return self._samples[n]


@dataclass(eq=False)
class _Growth:
    """Fits without their parts, as they grow side by side in one form of the model."""

    main_effects: bool
    path: ErrorPath
    fits: list[Any] = field(default_factory=list)  # all of them a JointFit, or ClassFits
    snapshots: list[list[Any]] = field(default_factory=list)
    rounds: list[list[StageRecord | None]] = field(default_factory=list)
    is_over: bool = False
    failures: dict[int, int] = field(default_factory=dict)
    """How often in a row a stage of a class brought nothing on held-out rows."""

    def measure(self, losses: list[FloatArray]) -> None:
        """Take down what the fits lose on the rows of their parts, and where they stand."""
        self.path.add(losses)
        self.snapshots.append([fit.curves.copy() for fit in self.fits])
        self.is_over = self.path.is_over

    def take_down(self, records: list[StageRecord | None]) -> None:
        """Keep the records of a stage that was measured."""
        loss = self.path.losses[-1]
        self.rounds.append([record and replace(record, validation_loss=loss) for record in records])

    def tell(self, on_stage: OnStage) -> bool:
        """Tell of the newest stage; whether the fit is to end."""
        return _tell(self.fits, self.rounds[-1], on_stage)


class _Forms:
    """All forms of the model that are asked for, growing side by side on the same parts."""

    def __init__(
        self,
        parts: list[_Part],
        mass: float,
        options: FitOptions,
        seed: np.random.SeedSequence,
        workers: Workers,
        progress: Progress,
    ) -> None:
        weights = [part.held_out.weight for part in parts]
        of_means = options.n_starts > 1
        self.growths = [_Growth(form, ErrorPath(weights, mass, of_means)) for form in options.forms]
        self._parts, self._options, self._seed = parts, options, seed
        self._workers, self._progress = InnerWorkers(workers), progress
        self._n_before = options.n_stages - options.n_new_stages
        self.ended = ""  # why there are no more stages than there are

    @property
    def n_stages(self) -> int:
        """How many stages the largest of all fits has got."""
        return self._n_before + max(len(growth.path) for growth in self.growths) - 1

    def begin(self) -> None:
        """The fits without any stage."""
        for part in self._parts:
            part.rows(0)  # once, before fits ask for them side by side
        started = self._of_every_fit(self._start, self.growths)
        for growth, fits in zip(self.growths, started, strict=True):
            growth.fits = fits
        self._measure(self.growths)
        if len(self.growths) > 1 and not self._options.grows_products_alone:
            self.growths[0].is_over = True  # a constant, for main effects to be better than

    def grow(self, on_stage: OnStage) -> bool:
        """One more stage wherever more may bring something; whether there may be another one."""
        growing = [growth for growth in self.growths if not growth.is_over]
        self._widen(growing)
        self._announce(growing)
        if self._options.has_many_classes:
            records = [self._grow_classes(growth) for growth in growing]
        else:
            records = self._of_every_fit(self._grow, growing)
        moved = []
        for growth, own in zip(growing, records, strict=True):
            growth.is_over = all(record is None for record in own)
            if not growth.is_over:  # one fit that finds no step stays as it is
                moved.append((growth, own))
        self._measure([growth for growth, _ in moved])
        is_to_end = False
        for growth, own in moved:
            growth.take_down(own)
            is_to_end = is_to_end or growth.tell(on_stage)
        self._give_up()
        self.ended = self._why(is_to_end, bool(moved))
        return not is_to_end and not all(growth.is_over for growth in self.growths)

    def _why(self, is_to_end: bool, has_moved: bool) -> str:
        """Why growth ends here, if it does."""
        if is_to_end:
            return ASKED
        return NO_BETTER if has_moved else NO_STEP

    def _announce(self, growing: list[_Growth]) -> None:
        """Say which stage comes now, and what is left if all that may be grown is."""
        options = self._options
        n_now, most = self._n_before + len(growing[0].path), options.n_stages
        sizes = range(n_now, most + 1)
        rest = len(growing) * sum(self._work(size) for size in sizes) * len(self._parts)
        rest += _finishing_work(len(self._parts[0].data.target), options, len(self._parts), most)
        self._progress.stage(n_now, most, rest, chooses=True)

    def _work(self, size: int) -> float:
        """Work of a fit to get the last of so many stages."""
        n_rows = self._parts[0].n_rows(size - 1)
        return _work(n_rows, sweeps_of_stage(size, self._options.n_stages), size)

    def _grow(self, growth: _Growth, k: int) -> StageRecord | None:
        record: StageRecord | None = growth.fits[k].grow()
        self._progress.did(self._work(len(growth.path)))
        return record

    def _grow_classes(self, growth: _Growth) -> list[StageRecord | None]:
        """A stage more for every class that predicts held-out rows better with it.

        Classes are tried one after the other, the sums of the others as they are, in all fits
        alike: a class of few rows may learn a product that sends others far off, and no class
        should have to do without more stages because of it.
        """
        started, trial = time.perf_counter(), _Trial(growth.fits, [p.held_out for p in self._parts])
        n_classes = self._options.n_classes
        rounds: dict[int, list[StageRecord | None]] = {}
        while not rounds:
            open_ = [k for k in range(n_classes) if growth.failures.get(k, 0) < _MOST_FAILURES]
            if not open_ or self._workers.stop[0]:
                break
            for k in open_:
                before = [fit.fits[k].curves.copy() for fit in growth.fits]
                records = self._workers.map_fits(partial(ClassFits.grow_class, k=k), growth.fits)
                self._progress.did(self._work(len(growth.path)) * len(growth.fits) / n_classes)
                if any(records) and trial.keeps(k):
                    rounds[k], growth.failures[k] = records, 0
                    continue
                growth.failures[k] = growth.failures.get(k, 0) + 1
                for fit, curves in zip(growth.fits, before, strict=True):
                    fit.fits[k].restore(curves)
        nothing: list[StageRecord | None] = [None] * len(growth.fits)
        own = zip(*(rounds.get(k, nothing) for k in range(n_classes)), strict=True)
        return self._workers.map_fits(
            lambda pair: pair[0].end_round(list(pair[1]), started),
            list(zip(growth.fits, own, strict=True)),
        )

    def _widen(self, growths: list[_Growth]) -> None:
        """Let fits of a sample go on with a larger one if it is time."""
        for growth in growths:
            rows = [part.rows(len(growth.path) - 1) for part in self._parts]
            growth.fits = self._workers.map_fits(
                _with_rows, list(zip(growth.fits, rows, strict=True))
            )

    def _start(self, growth: _Growth, k: int) -> Fit:
        rows, seed = self._parts[k].rows(0), _start_seed(self._seed, k)
        fit = _new_fit(rows, self._options, seed, self._workers, growth.main_effects)
        fit.begin()
        return fit

    def _measure(self, growths: list[_Growth]) -> None:
        for growth, own in zip(growths, self._of_every_fit(self._losses, growths), strict=True):
            growth.measure(own)

    def _losses(self, growth: _Growth, k: int) -> FloatArray:
        fit, held = growth.fits[k], self._parts[k].held_out
        return held.losses(_model_of(fit, fit.curves, self._options).predict(held.codes))

    def _give_up(self) -> None:
        """Grow main effects no further once products alone are about as good.

        Products alone are never given up: they have no main effects to begin with, and catch up.
        """
        products, *rivals = self.growths
        for growth in rivals:
            is_ahead = products.path.is_behind(growth.path)
            if len(growth.path) >= _FEWEST_COMPARED and not is_ahead:
                growth.is_over = True

    def _of_every_fit(
        self, function: Callable[[_Growth, int], _Result], growths: list[_Growth]
    ) -> list[list[_Result]]:
        """Apply to every fit of some growths; a list for each of them."""
        n_parts = len(self._parts)
        pairs = [(growth, k) for growth in growths for k in range(n_parts)]
        found = self._workers.map_fits(lambda pair: function(*pair), pairs)
        return [found[first : first + n_parts] for first in range(0, len(found), n_parts)]


class _Trial:
    """Whether the newest stage of a class is worth having, by the held-out rows of all parts."""

    def __init__(self, fits: list[ClassFits], held_out: list[HeldOut]) -> None:
        self._fits, self._held_out = fits, held_out
        self._sums = [
            np.column_stack([own.model().predict(held.codes) for own in fit.fits])
            for fit, held in zip(fits, held_out, strict=True)
        ]
        self._loss = self._mean_loss(self._sums)

    def keeps(self, k: int) -> bool:
        """Whether the loss is smaller with what class ``k`` has become; if so, go on from there."""
        trial = [sums.copy() for sums in self._sums]
        for sums, fit, held in zip(trial, self._fits, self._held_out, strict=True):
            sums[:, k] = fit.fits[k].model().predict(held.codes)
        loss = self._mean_loss(trial)
        if not loss < self._loss:
            return False
        self._sums, self._loss = trial, loss
        return True

    def _mean_loss(self, sums: list[FloatArray]) -> float:
        losses = [held.losses(own) for held, own in zip(self._held_out, sums, strict=True)]
        weights = [held.weight for held in self._held_out]
        return float(np.average(np.concatenate(losses), weights=np.concatenate(weights)))


def _with_rows(pair: tuple[Any, TrainingData]) -> Any:
    """A fit, going on with some rows unless it has those already."""
    fit, rows = pair
    return fit if rows is fit.data else fit.going_on_with(rows)


def _new_fit(
    data: AllRows,
    options: FitOptions,
    seed: np.random.SeedSequence,
    workers: Workers,
    main_effects: bool = False,
) -> Fit:
    if options.has_many_classes:
        return ClassFits(data, options, seed, workers, main_effects)
    return JointFit(data, options, seed, workers, main_effects)


def _model_of(fit: Any, curves: Snapshot, options: FitOptions) -> Model:
    """The model of curves of a fit; where there are none, the best constant."""
    model: Model = fit.model_of(curves)
    return _constant(fit.data, options) if model.is_constant else model


def _constant(data: AllRows, options: FitOptions) -> Model:
    """The model without any curve."""
    if options.has_many_classes:
        return constant_models(data, options)
    return constant_model(data, options)


def _work(n_rows: int, n_sweeps: int, size: int) -> float:
    """Work of sweeps over so many stages, as measured: a row of a stage is a unit of it."""
    return (n_rows + _ROWS_OF_OVERHEAD) * float(n_sweeps) * (size + _STAGES_OF_OVERHEAD)


def _finishing_work(n_rows: int, options: FitOptions, n_fits: int, size: int) -> float:
    """Work after growth, by fits of so many stages; bands are a part of it."""
    n_sweeps = LAST_SWEEPS + SWEEPS_AFTER_PRUNING
    return _work(n_rows, n_sweeps, size) * n_fits + _band_work(n_rows, options, size)


def _band_work(n_rows: int, options: FitOptions, size: int) -> float:
    """Work of all refits to bootstrap samples."""
    one = _work(n_rows, _BOOTSTRAP_SWEEPS, size)
    return one * options.n_bootstrap * options.n_starts


def fit_joint(
    data: AllRows,
    options: FitOptions,
    validation: Validation,
    n_bootstrap: int,
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
        return _constant(data, options), []
    starts_seed, bootstrap_seed = seed.spawn(2)
    parts, mass = _parts(data.some, options, validation)
    paths: tuple[SizePath, ...] = ()
    spread, factor = None, 1.0
    if parts:
        growths = _grow_forms(parts, mass, options, starts_seed, workers, progress)
        growth = _better(growths, options.prefers_effects)
        grown = _Grown(growth, parts, mass)
        finished, spread = _finish(data, options, grown, workers, progress)
        paths = tuple(other.path.record(other.main_effects, other is growth) for other in growths)
        if options.loss == LOG_LOSS and validation.eval_set is None:
            factor = _certainty(grown, options)
    else:
        finished = _grow_fully(data, options, starts_seed, workers, progress)
    starts = list(finished.starts.values())
    model = mean_of([fit.model() for fit in starts])
    families = _twins_of_starts(model, starts, data.some, options)
    model = told_as_one(model, families)
    if model.is_constant:
        _say_constant(validation.chooses)
        constant = _constant(data, options)
        return of_each(constant, lambda one: replace(one, size_paths=paths, spread=spread)), []
    if n_bootstrap > 0:
        progress.phase(
            f"bands, {n_bootstrap} refits", _band_work(data.n_rows, options, most_stages(model))
        )
        refits = _bootstrap(data.loaded, starts, n_bootstrap, bootstrap_seed, workers, progress)
        model = with_replicates(model, [told_as_one(refit, families) for refit in refits])
    model = of_each(model, lambda one: replace(one, size_paths=paths, spread=spread))
    if factor != 1.0:
        model = of_each(model, lambda one: scaled(one, factor, degree=0))
        finished.multiply(factor)
    return model, finished.history()


def _twins_of_starts(
    model: Model, starts: list[Any], data: TrainingData, options: FitOptions
) -> list[list[Family]]:
    """Which stages of an average of starts are told as one, for every sum.

    A single start has merged its own before its last sweeps.
    """
    if len(starts) == 1:
        return []
    models = model.models if isinstance(model, ClassModels) else (model,)
    noises = np.mean([fit.noises for fit in starts], axis=0)
    seen = Seen.by(model, data, options.loss_function)
    return [
        find_families(own, seen.codes, weight, ALIKE * noise, options.fit_intercept)
        for own, weight, noise in zip(models, seen.weight, noises, strict=True)
    ]


def _parts(
    data: TrainingData, options: FitOptions, validation: Validation
) -> tuple[list[_Part], float]:
    """What every fit grows on and what it predicts, and the weight of all rows predicted.

    There are no parts where nothing can be held out. A row that several fits predict counts once.
    """
    if validation.eval_set is not None:
        order = row_order(data)
        parts = [_Part(data, order, validation.eval_set)] * options.n_starts
        return parts, float(validation.eval_set.weight.sum())
    if not validation.chooses:
        return [], 0.0
    loss = options.measure(data.target, data.weight)
    pairs = held_out_parts(
        data,
        validation.groups,
        validation.fraction,
        options.n_starts,
        options.loss == LOG_LOSS,
        options.loss_function.told_by(data.target, data.weight),
    )
    parts = [_Part(data, kept, _held_out(data, held, loss)) for kept, held in pairs]
    if not parts:
        return [], 0.0
    predicted = np.unique(np.concatenate([held for _, held in pairs]))
    n_fits = max(len(parts), options.n_starts)
    return list(islice(cycle(parts), n_fits)), float(data.weight[predicted].sum())


def _held_out(data: TrainingData, rows: IntArray, loss: Loss | ClassLogLoss) -> HeldOut:
    return HeldOut(data.codes[rows], data.target[rows], data.weight[rows], data.offset[rows], loss)


def _grow_forms(
    parts: list[_Part],
    mass: float,
    options: FitOptions,
    seed: np.random.SeedSequence,
    workers: Workers,
    progress: Progress,
) -> list[_Growth]:
    """Grow the model on every part, in each form that is asked for, until more brings nothing."""
    forms = _Forms(parts, mass, options, seed, workers, progress)
    forms.begin()
    for _ in range(options.n_new_stages):
        if not forms.grow(progress.on_stage):
            progress.stopped(forms.n_stages, forms.ended)
            break
    return forms.growths


def _start_seed(seed: np.random.SeedSequence, k: int) -> np.random.SeedSequence:
    return np.random.SeedSequence([*seed.generate_state(4), k])


def _tell(fits: list[Any], records: list[StageRecord | None], on_stage: OnStage) -> bool:
    """Tell of the newest stage of the first fit that found one; whether the fit is to end."""
    for fit, record in zip(fits, records, strict=True):
        if record is not None and fit.newest is not None:
            return on_stage(fit.newest, record)
    return False


def _better(growths: list[_Growth], prefers_effects: bool) -> _Growth:
    """Products alone, or the form with main effects, unless the other predicts clearly better."""
    better, *rivals = reversed(growths) if prefers_effects else growths
    for other in rivals:
        if other.path.is_clearly_better(better.path):
            better = other
    return better


@dataclass(frozen=True, eq=False)
class _Grown:
    """Fits of the chosen form, the parts they grew on and the weight of all rows they predict."""

    growth: _Growth
    parts: list[_Part]
    mass: float

    def predicted(self, options: FitOptions) -> Iterator[tuple[HeldOut, FloatArray]]:
        """Rows that each fit held out, with the sums that its model of the chosen size predicts.

        A row is told once, however many fits predict it.
        """
        weight = 0.0
        snapshots = self.growth.snapshots[self.growth.path.chosen]
        for part, fit, curves in zip(self.parts, self.growth.fits, snapshots, strict=True):
            if weight >= self.mass * (1.0 - 1e-9):
                break
            held = part.held_out
            yield held, _model_of(fit, curves, options).predict(held.codes)
            weight += float(held.weight.sum())


def _finish(
    data: AllRows, options: FitOptions, grown: _Grown, workers: Workers, progress: Progress
) -> tuple[_Finished, OutcomeSpread | None]:
    """Finish the fits of the chosen size on all rows; keep those that promise the least error.

    The last sweeps of those see targets half-way to the mean prediction of all fits, so that what
    only one of the fits believes counts half.
    """
    growth = grown.growth
    size = growth.path.chosen
    inner = InnerWorkers(workers)
    n_fits = len(growth.fits)
    form = f"{stages_text(size)}{' and main effects' if growth.main_effects else ''}"
    work = _finishing_work(data.n_rows, options, n_fits, size)
    progress.phase(f"finishing {form} on all rows", work)

    def finish(snapshot: Any, seen: AllRows = data) -> Any:
        fit: Any = _new_fit(seen, options, np.random.SeedSequence(0), inner)
        fit.finish(snapshot)
        progress.did(_work(data.n_rows, LAST_SWEEPS + SWEEPS_AFTER_PRUNING, size))
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
    return _Finished(dict(zip(best, calm or chosen, strict=True)), growth.rounds[:size]), spread


def _learning_beside(
    tasks: list[Callable[[], Any]],
    n_rows: int,
    grown: _Grown,
    options: FitOptions,
    workers: InnerWorkers,
) -> tuple[list[Any], OutcomeSpread | None]:
    """Do what is left on so many rows; learn meanwhile how far outcomes lie from predictions."""
    if options.loss == LOG_LOSS:  # whose probabilities say how far
        return workers.map_fits(call, tasks), None
    learning: Callable[[], Any] = partial(_spread, grown, options, workers)
    if n_rows > ROWS_PER_BLOCK:  # several blocks of rows: each task has use for all threads
        return workers.map_fits(call, tasks), workers.map_fits(call, [learning])[0]
    *done, spread = workers.map_fits(call, [*tasks, learning])
    return done, spread


def _certainty(grown: _Grown, options: FitOptions) -> float:
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


def _spread(grown: _Grown, options: FitOptions, workers: Workers) -> OutcomeSpread:
    """How far outcomes lie from predictions, by rows that were held out."""
    inverse = options.loss_function.link.inverse
    predicted = list(grown.predicted(options))
    rows = Predicted(
        np.concatenate([held.codes for held, _ in predicted]),
        np.concatenate([held.target for held, _ in predicted]),
        np.concatenate([inverse(sums + held.offset) for held, sums in predicted]),
        np.concatenate([held.weight for held, _ in predicted]),
    )
    return outcome_spread(rows, grown.parts[0].data.bins, options, workers)


@dataclass(frozen=True, eq=False)
class _Finished:
    """The fits that the model is made of, by their place among all that grew, and their past."""

    starts: dict[int, Any]  # all of them a JointFit, or ClassFits
    rounds: list[list[StageRecord | None]]

    def multiply(self, factor: float) -> None:
        """Make the fits a number of times what they are, as the model is."""
        for fit in self.starts.values():
            fit.restore(fit.curves.scaled(factor))

    def history(self) -> list[StageRecord]:
        """The records of every start, one after the other; the last of each is as it is now."""
        history: list[StageRecord] = []
        for k, fit in self.starts.items():
            own = [record for records in self.rounds if (record := records[k]) is not None]
            history += [*own[:-1], *(fit.described(record) for record in own[-1:])]
        return history


def _grow_fully(
    data: AllRows,
    options: FitOptions,
    seed: np.random.SeedSequence,
    workers: Workers,
    progress: Progress,
) -> _Finished:
    """Grow ``n_stages`` stages from every start, and settle them on all rows."""
    inner, some = InnerWorkers(workers), data.some

    def start(k: int) -> Fit:
        # Nothing is held out by which "auto" could decide.
        fit = _new_fit(some, options, _start_seed(seed, k), inner, options.must_have_effects)
        fit.begin()
        return fit

    fits: list[Any] = inner.map_fits(start, range(options.n_starts))
    rounds: list[list[StageRecord | None]] = []
    n_before = options.n_stages - options.n_new_stages
    ended = ""
    for size in range(n_before + 1, n_before + options.n_new_stages + 1):
        _announce_stage(some.n_rows, options, size, progress)
        records = inner.map_fits(lambda fit: fit.grow(), fits)
        progress.did(_stage_work(some.n_rows, options, size))
        if all(record is None for record in records):
            ended = NO_STEP
            break
        rounds.append(records)
        if _tell(fits, records, progress.on_stage):
            ended = ASKED
            break
    if ended:
        progress.stopped(n_before + len(rounds), ended)
    work = _finishing_work(data.n_rows, options, len(fits), n_before + len(rounds))
    progress.phase("finishing", work)
    if some.n_rows < data.n_rows:
        fits = inner.map_fits(lambda fit: fit.going_on_with(data), fits)
        inner.map_fits(lambda fit: fit.finish(fit.curves), fits)
    else:
        inner.map_fits(lambda fit: fit.settle(), fits)
    return _Finished(dict(enumerate(fits)), rounds)


def _stage_work(n_rows: int, options: FitOptions, size: int) -> float:
    """Work of all starts to get the last of so many stages, on all rows."""
    n_sweeps = sweeps_of_stage(size, options.n_stages)
    return _work(n_rows, n_sweeps, size) * options.n_starts


def _announce_stage(n_rows: int, options: FitOptions, size: int, progress: Progress) -> None:
    """Say which stage comes now, where nothing is held out, and what is left."""
    most = options.n_stages
    rest = sum(_stage_work(n_rows, options, later) for later in range(size, most + 1))
    rest += _finishing_work(n_rows, options, options.n_starts, most)
    progress.stage(size, most, rest)


def _bootstrap(
    data: TrainingData,
    starts: list[Any],
    n_bootstrap: int,
    seed: np.random.SeedSequence,
    workers: Workers,
    progress: Progress,
) -> list[Model]:
    """Refits to bootstrap samples, a few sweeps from the solution: stages and smoothness stay.

    Each is pulled towards curves drawn from what the smoothness says of them, so that bands have
    the bias of smoothing too.

    All refits move the same way too: sweeps go on where the fit ended, and a sample with fewer
    distinct rows lets curves swing further out. What they move on average is taken off, so that
    the replicates lie around the model.
    """
    hashes = data.axis_hashes
    draws = make_draws(data, True)
    seeds = seed.generate_state(n_bootstrap, np.uint64)
    priors = [fit.prior for fit in starts]
    size = most_stages(starts[0].model())
    work = _work(len(data.target), _BOOTSTRAP_SWEEPS, size) * len(starts)

    def refit(k: int) -> list[Any]:
        counts = np.zeros(len(data.target))
        state = random_streams(seeds[k], hashes)[-1:].copy()
        draw_bootstrap(state, draws.n_draws, draws.order, draws.cumulative, counts)
        own = [
            fit.move(counts * draws.unit, _BOOTSTRAP_SWEEPS, prior, seeds[k])
            for fit, prior in zip(starts, priors, strict=True)
        ]
        progress.did(work)
        return own

    moves = workers.map(refit, range(n_bootstrap))
    centres = [_mean_move(own) for own in zip(*moves, strict=True)]
    return [
        mean_of([fit.moved(*pair) for fit, *pair in zip(starts, replicate, centres, strict=True)])
        for replicate in moves
    ]


def _mean_move(moves: tuple[Any, ...]) -> Any:
    """The mean of moves of one sum, or of the moves of every class."""
    if isinstance(moves[0], Move):
        return Move(*(np.mean(parts, axis=0) for parts in zip(*moves, strict=True)))
    return tuple(_mean_move(own) for own in zip(*moves, strict=True))


def _say_constant(chosen: bool) -> None:
    hint = ". early_stopping=False keeps stages that do not help on held-out rows"
    warn("no stage improves on a constant; the model is one" + (hint if chosen else ""))
