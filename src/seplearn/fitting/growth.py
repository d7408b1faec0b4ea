"""The outer loop of the default fit: stage by stage, on all rows or on parts of them."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, TypeAlias, TypeVar

import numpy as np

from seplearn._workers import Workers
from seplearn.fitting.effort import finishing_work, stage_work, work_of
from seplearn.fitting.joint.classes import ClassCurves, ClassFits, constant_models
from seplearn.fitting.joint.curves import Curves
from seplearn.fitting.joint.fit import JointFit, sweeps_of_stage
from seplearn.fitting.joint.setup import constant_model
from seplearn.fitting.options import AllRows, FitOptions, TrainingData
from seplearn.fitting.parts import Part
from seplearn.fitting.progress import ASKED, NO_BETTER, NO_STEP, OnStage, Progress
from seplearn.fitting.selection import ErrorPath, HeldOut, InnerWorkers
from seplearn.kernels.arrays import FloatArray
from seplearn.model.classes import Model
from seplearn.model.record import StageRecord

_Result = TypeVar("_Result")
# Of one sum, or of one for each class: both grow, are measured and finished in the same way.
Fit: TypeAlias = JointFit | ClassFits
Snapshot: TypeAlias = Curves | ClassCurves

# Sizes, that without stages among them, before main effects may be given up. Compared later, on
# twelve small tables, they were no better choice, for a sixth more of the time.
_FEWEST_COMPARED = 3
# A class that so many stages in a row brought nothing gets no more of them.
_MOST_FAILURES = 2


@dataclass(eq=False)
class Growth:
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


@dataclass(frozen=True, eq=False)
class Grown:
    """Fits of the chosen form, the parts they grew on and the weight of all rows they predict."""

    growth: Growth
    parts: list[Part]
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
            yield held, model_of(fit, curves, options).predict(held.codes)
            weight += float(held.weight.sum())


@dataclass(frozen=True, eq=False)
class Finished:
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


def grow_forms(
    parts: list[Part],
    mass: float,
    options: FitOptions,
    seed: np.random.SeedSequence,
    workers: Workers,
    progress: Progress,
) -> list[Growth]:
    """Grow the model on every part, in each form that is asked for, until more brings nothing."""
    forms = _Forms(parts, mass, options, seed, workers, progress)
    forms.begin()
    for _ in range(options.n_new_stages):
        if not forms.grow(progress.on_stage):
            progress.stopped(forms.n_stages, forms.ended)
            break
    return forms.growths


class _Forms:
    """All forms of the model that are asked for, growing side by side on the same parts."""

    def __init__(
        self,
        parts: list[Part],
        mass: float,
        options: FitOptions,
        seed: np.random.SeedSequence,
        workers: Workers,
        progress: Progress,
    ) -> None:
        weights = [part.held_out.weight for part in parts]
        of_means = options.n_starts > 1
        self.growths = [Growth(form, ErrorPath(weights, mass, of_means)) for form in options.forms]
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
            constant, effects = self.growths
            constant.is_over = constant.path.is_behind(effects.path)

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

    def _announce(self, growing: list[Growth]) -> None:
        """Say which stage comes now, and what is left if all that may be grown is."""
        options = self._options
        n_now, most = self._n_before + len(growing[0].path), options.n_stages
        sizes = range(n_now, most + 1)
        rest = len(growing) * sum(self._work(size) for size in sizes) * len(self._parts)
        rest += finishing_work(len(self._parts[0].data.target), options, len(self._parts), most)
        self._progress.stage(n_now, most, rest, chooses=True)

    def _work(self, size: int) -> float:
        """Work of a fit to get the last of so many stages."""
        n_rows = self._parts[0].n_rows(size - 1)
        return work_of(n_rows, sweeps_of_stage(size, self._options.n_stages), size)

    def _grow(self, growth: Growth, k: int) -> StageRecord | None:
        record: StageRecord | None = growth.fits[k].grow()
        self._progress.did(self._work(len(growth.path)))
        return record

    def _grow_classes(self, growth: Growth) -> list[StageRecord | None]:
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

    def _widen(self, growths: list[Growth]) -> None:
        """Let fits of a sample go on with a larger one if it is time."""
        for growth in growths:
            rows = [part.rows(len(growth.path) - 1) for part in self._parts]
            growth.fits = self._workers.map_fits(
                _with_rows, list(zip(growth.fits, rows, strict=True))
            )

    def _start(self, growth: Growth, k: int) -> Fit:
        rows, seed = self._parts[k].rows(0), _start_seed(self._seed, k)
        fit = new_fit(rows, self._options, seed, self._workers, growth.main_effects)
        fit.begin()
        return fit

    def _measure(self, growths: list[Growth]) -> None:
        for growth, own in zip(growths, self._of_every_fit(self._losses, growths), strict=True):
            growth.measure(own)

    def _losses(self, growth: Growth, k: int) -> FloatArray:
        fit, held = growth.fits[k], self._parts[k].held_out
        return held.losses(model_of(fit, fit.curves, self._options).predict(held.codes))

    def _give_up(self) -> None:
        """Grow main effects no further once products alone are about as good.

        Products alone are never given up: they have no main effects to begin with, and catch up.
        Of yes and no they only grow where main effects are no better than a constant, and both
        forms do then: neither tells early that what features do together will be found.
        """
        if not self._options.grows_products_alone:
            return
        products, *rivals = self.growths
        for growth in rivals:
            is_ahead = products.path.is_behind(growth.path)
            if len(growth.path) >= _FEWEST_COMPARED and not is_ahead:
                growth.is_over = True

    def _of_every_fit(
        self, function: Callable[[Growth, int], _Result], growths: list[Growth]
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


def grow_fully(
    data: AllRows,
    options: FitOptions,
    seed: np.random.SeedSequence,
    workers: Workers,
    progress: Progress,
) -> Finished:
    """Grow ``n_stages`` stages from every start, and settle them on all rows."""
    inner, some = InnerWorkers(workers), data.some

    def start(k: int) -> Fit:
        # Nothing is held out by which "auto" could decide.
        fit = new_fit(some, options, _start_seed(seed, k), inner, options.must_have_effects)
        fit.begin()
        return fit

    fits: list[Any] = inner.map_fits(start, range(options.n_starts))
    rounds: list[list[StageRecord | None]] = []
    n_before = options.n_stages - options.n_new_stages
    ended = ""
    for size in range(n_before + 1, n_before + options.n_new_stages + 1):
        _announce_stage(some.n_rows, options, size, progress)
        records = inner.map_fits(lambda fit: fit.grow(), fits)
        progress.did(stage_work(some.n_rows, options, size))
        if all(record is None for record in records):
            ended = NO_STEP
            break
        rounds.append(records)
        if _tell(fits, records, progress.on_stage):
            ended = ASKED
            break
    if ended:
        progress.stopped(n_before + len(rounds), ended)
    work = finishing_work(data.n_rows, options, len(fits), n_before + len(rounds))
    progress.phase("finishing", work)
    if some.n_rows < data.n_rows:
        fits = inner.map_fits(lambda fit: fit.going_on_with(data), fits)
        inner.map_fits(lambda fit: fit.finish(fit.curves), fits)
    else:
        inner.map_fits(lambda fit: fit.settle(), fits)
    return Finished(dict(enumerate(fits)), rounds)


def _announce_stage(n_rows: int, options: FitOptions, size: int, progress: Progress) -> None:
    """Say which stage comes now, where nothing is held out, and what is left."""
    most = options.n_stages
    rest = sum(stage_work(n_rows, options, later) for later in range(size, most + 1))
    rest += finishing_work(n_rows, options, options.n_starts, most)
    progress.stage(size, most, rest)


def _tell(fits: list[Any], records: list[StageRecord | None], on_stage: OnStage) -> bool:
    """Tell of the newest stage of the first fit that found one; whether the fit is to end."""
    for fit, record in zip(fits, records, strict=True):
        if record is not None and fit.newest is not None:
            return on_stage(fit.newest, record)
    return False


def _start_seed(seed: np.random.SeedSequence, k: int) -> np.random.SeedSequence:
    return np.random.SeedSequence([*seed.generate_state(4), k])


def _with_rows(pair: tuple[Any, TrainingData]) -> Any:
    """A fit, going on with some rows unless it has those already."""
    fit, rows = pair
    return fit if rows is fit.data else fit.going_on_with(rows)


def new_fit(
    data: AllRows,
    options: FitOptions,
    seed: np.random.SeedSequence,
    workers: Workers,
    main_effects: bool = False,
) -> Fit:
    """A fit of one sum, or of one for each of several classes, without any curve."""
    if options.has_many_classes:
        return ClassFits(data, options, seed, workers, main_effects)
    return JointFit(data, options, seed, workers, main_effects)


def model_of(fit: Any, curves: Snapshot, options: FitOptions) -> Model:
    """The model of curves of a fit; where there are none, the best constant."""
    model: Model = fit.model_of(curves)
    return constant_of(fit.data, options) if model.is_constant else model


def constant_of(data: AllRows, options: FitOptions) -> Model:
    """The model without any curve."""
    if options.has_many_classes:
        return constant_models(data, options)
    return constant_model(data, options)
