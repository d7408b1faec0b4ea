"""A sum for each of several classes, fitted together: softmax by blocks.

With the sums of all other classes as they are, the log-loss of a row as a function of the sum of
one class is the log-loss of "this class or not" with an offset: minus the log of the sum of the
exponentials of the others. So a fit of several classes is a fit of yes and no for each, whose
offset is renewed before every sweep.
"""

from __future__ import annotations

import copy
import math
import time
from dataclasses import dataclass, replace

import numpy as np

from seplearn._workers import Workers
from seplearn.fitting.joint import rows
from seplearn.fitting.joint.curves import Curves
from seplearn.fitting.joint.fit import (
    DAMPED,
    DEARER_FREEDOM,
    LAST_SWEEPS,
    N_SWEEPS,
    NO_SEED,
    SWEEPS_AFTER_PRUNING,
    JointFit,
    Move,
)
from seplearn.fitting.joint.prior import Prior
from seplearn.fitting.options import AllRows, FitOptions
from seplearn.fitting.twins import Seen
from seplearn.kernels.arrays import FloatArray
from seplearn.model.classes import ClassModels
from seplearn.model.model import SeparationModel
from seplearn.model.record import StageRecord
from seplearn.model.stage import Stage

_SWEEPS_OF_ALL = 6  # over all classes in turn, after some of them have got a stage


@dataclass(frozen=True, eq=False)
class ClassCurves:
    """The curves of all classes, as they are being fitted."""

    of_class: tuple[Curves, ...]

    def copy(self) -> ClassCurves:
        """The same in arrays of its own: a snapshot."""
        return ClassCurves(tuple(curves.copy() for curves in self.of_class))

    def scaled(self, factor: float) -> ClassCurves:
        """The sums of all classes times a positive number."""
        return ClassCurves(tuple(curves.scaled(factor) for curves in self.of_class))

    @property
    def freedom(self) -> float:
        """Effective degrees of freedom of all curves."""
        return sum(curves.freedom for curves in self.of_class)


class ClassFits:
    """Models of all classes that grow together, each a :class:`JointFit` of "this class or not".

    A class without rows, as a part of a table may have it, keeps a constant for its sum.
    """

    def __init__(
        self,
        data: AllRows,
        options: FitOptions,
        seed: np.random.SeedSequence,
        workers: Workers,
        main_effects: bool = False,
    ) -> None:
        self.data, self._options = data, options
        seeds = seed.spawn(options.n_classes)
        self.fits = [
            JointFit(of_class(data, options, k), options, seeds[k], workers, main_effects)
            for k in range(options.n_classes)
        ]
        self._take_over()
        self.newest: Stage | None = None

    def _take_over(self) -> None:
        """What all fits share, or follows from them."""
        first, *others = (fit.carrier for fit in self.fits)
        self._together = first.beside(others)
        self._together.each(rows.share_codes)
        is_there = self.data.class_masses(self.n_classes) > 0.0
        self._varies = [bool(there) and is_there.sum() > 1 for there in is_there]

    @property
    def curves(self) -> ClassCurves:
        return ClassCurves(tuple(fit.curves for fit in self.fits))

    @property
    def n_classes(self) -> int:
        return len(self.fits)

    def begin(self) -> None:
        """Refine what the models start with: curves of an earlier fit, or main effects."""
        start = self._options.start
        if isinstance(start, ClassModels):
            for fit, model in zip(self.fits, start.models, strict=True):
                fit.go_on_from(model)
            self._sweep(LAST_SWEEPS, DAMPED)
            return
        if not any(fit.curves.effects.active.any() for fit in self.fits):
            return
        self._sweep(N_SWEEPS, rate=1.0)
        self._sweep(self.fits[0].n_sweeps - N_SWEEPS, DAMPED)
        self._prune_quiet()

    def grow(self) -> StageRecord | None:
        """Add a stage to every class in which one finds something, then sweep over all of them."""
        started = time.perf_counter()
        records = [self.grow_class(k) for k in range(self.n_classes)]
        return self.end_round(records, started)

    def grow_class(self, k: int) -> StageRecord | None:
        """Add a stage to the sum of one class, the others as they are.

        None when it finds no step, or says nothing.
        """
        if not self._varies[k]:
            return None
        self._together.each(rows.face_all_others, k, self._options.loss_function)
        return self.fits[k].grow()

    def end_round(self, records: list[StageRecord | None], started: float) -> StageRecord | None:
        """Sweep over all classes after some got a stage; one record of what they did."""
        grown = [k for k, record in enumerate(records) if record is not None]
        if not grown:
            return None
        own = [record for record in records if record is not None]
        self.newest = self.fits[grown[0]].newest
        self._sweep(_SWEEPS_OF_ALL, DAMPED)
        self._prune_quiet()
        return self.described(
            StageRecord(
                loss=math.nan,
                n_kept=sum(record.n_kept for record in own),
                n_grids=sum(record.n_grids for record in own),
                mean_actions=float(np.mean([record.mean_actions for record in own])),
                scalars=(),
                intercept=math.nan,
                seconds=time.perf_counter() - started,
            )
        )

    def described(self, record: StageRecord) -> StageRecord:
        """The record with what the models as they stand have to say.

        Scalars are those of the first class, then of the second and so on; the constants of all
        classes have the mean that is told, which is zero.
        """
        own = [fit.described(record) for fit in self.fits]
        return replace(
            record,
            loss=self.loss,
            scalars=tuple(pair for one in own for pair in one.scalars),
            intercept=0.0,
            cancellation=float(np.mean([one.cancellation for one in own])),
            freedom=None if own[0].freedom is None else self.curves.freedom,
        )

    def _sweep(self, n_sweeps: int, rate: float) -> None:
        """Sweep over all classes in turn, ``n_sweeps`` times."""
        for _ in range(n_sweeps):
            self._sweep_once(rate)

    def _sweep_once(self, rate: float) -> None:
        """Sweep over every class, the others as they are at that moment.

        The logs of the sums of exponentials run from both ends, so that nothing is ever taken off
        one of them, which would lose all digits where a class is certain.
        """
        self._together.each(rows.look_ahead)
        for k, (fit, varies) in enumerate(zip(self.fits, self._varies, strict=True)):
            self._together.each(rows.face_others, k, self._options.loss_function)
            if varies:
                fit.refine(1, rate)
            self._together.each(rows.look_back, k)

    def finish(self, snapshot: ClassCurves) -> None:
        """Take over curves that grew on some of the rows, and settle them on all."""
        self.restore(snapshot)
        self._sweep(LAST_SWEEPS, DAMPED)
        self.settle()

    def settle(self) -> None:
        """Flatten what says nothing in the end, merge twins, and let the rest make up for it."""
        loss = self.loss
        for fit in self.fits:
            fit.prune_at_last(self.n_classes - 1, loss)
        seen = Seen.by(self.model(), self.data.some, self._options.loss_function)
        for fit, weight in zip(self.fits, seen.weight, strict=True):
            fit.merge_twins(seen.codes, weight)
        self._sweep(SWEEPS_AFTER_PRUNING, DAMPED)

    def _prune_quiet(self) -> None:
        for fit in self.fits:
            fit.prune_quiet()

    def going_on_with(self, data: AllRows) -> ClassFits:
        """The fits as they are, with other rows from here on."""
        other = copy.copy(self)
        other.data = data
        other.fits = [
            fit.going_on_with(of_class(data, self._options, k)) for k, fit in enumerate(self.fits)
        ]
        other._take_over()
        return other

    def restore(self, snapshot: ClassCurves) -> None:
        """Go back to curves of an earlier moment; rows follow."""
        for fit, curves in zip(self.fits, snapshot.of_class, strict=True):
            fit.restore(curves)

    def model(self) -> ClassModels:
        """The models as they stand."""
        return ClassModels(tuple(fit.model() for fit in self.fits)).centred()

    def model_of(self, curves: ClassCurves) -> ClassModels:
        """The models of curves on the bins of these fits, such as those of an earlier moment."""
        pairs = zip(self.fits, curves.of_class, strict=True)
        return ClassModels(tuple(fit.model_of(own) for fit, own in pairs)).centred()

    @property
    def sums(self) -> FloatArray:
        """The sums of all classes on all rows, shape (n, K)."""
        return np.column_stack([fit.sums for fit in self.fits])

    @property
    def noises(self) -> list[float]:
        """The noise around the sum of every class."""
        return [fit.noise for fit in self.fits]

    @property
    def loss(self) -> float:
        """Weighted mean log-loss on the training rows."""
        total, mass = self._together.total(rows.class_loss_sums)
        return float(total / mass)

    @property
    def expected_error(self) -> float:
        """Mean loss to be expected on other rows, by generalised cross-validation.

        A row tells of as many differences between sums as there are classes but one.
        """
        mass = self.data.mass
        left = mass - DEARER_FREEDOM * self.curves.freedom / (self.n_classes - 1)
        return self.loss * (mass / left) ** 2 if left > 0.0 else math.inf

    @property
    def prior(self) -> tuple[Prior | None, ...]:
        """What the learned smoothness says of the curves of every class."""
        return tuple(fit.prior for fit in self.fits)

    def move(
        self,
        weight: FloatArray,
        n_sweeps: int,
        prior: tuple[Prior | None, ...] = (),
        seed: np.uint64 = NO_SEED,
    ) -> tuple[Move, ...]:
        """What sweeps with other weights change in every class, the penalties as they are.

        With priors they pull the curves towards draws of them.
        """
        other, priors = copy.copy(self), prior or (None,) * self.n_classes
        # Another seed for every class, or all of them would lean the same way.
        other.fits = [
            fit.reweighted(weight, own, seed ^ np.uint64(k))
            for k, (fit, own) in enumerate(zip(self.fits, priors, strict=True))
        ]
        other._take_over()
        other._sweep(n_sweeps, rate=0.0)
        return tuple(fit.move_to(moved) for fit, moved in zip(self.fits, other.fits, strict=True))

    def moved(self, move: tuple[Move, ...], centre: tuple[Move, ...]) -> ClassModels:
        """The models with a move away from ``centre`` added to their curves."""
        pairs = zip(self.fits, move, centre, strict=True)
        return ClassModels(tuple(fit.moved(*pair) for fit, *pair in pairs)).centred()


def of_class(data: AllRows, options: FitOptions, k: int) -> AllRows:
    """The rows with the target "this class or not", the others at their best constants."""
    constants = class_constants(data, options)
    offset = -float(np.logaddexp.reduce(np.delete(constants, k)))
    return data.one_class(k, offset)


def class_constants(data: AllRows, options: FitOptions) -> FloatArray:
    """The logs of the shares of the classes, of mean zero; zeros where there is no intercept.

    A class without rows has half a row.
    """
    if not options.fit_intercept:
        return np.zeros(options.n_classes)
    logs = np.log(np.maximum(data.class_masses(options.n_classes), 0.5))
    constants: FloatArray = logs - logs.mean()
    return constants


def constant_models(data: AllRows, options: FitOptions) -> ClassModels:
    """Models without any curve."""
    constants = class_constants(data, options).tolist()
    return ClassModels(tuple(SeparationModel(data.bins, level, ()) for level in constants))
