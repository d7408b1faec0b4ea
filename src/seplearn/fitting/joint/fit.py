"""Joint refinement: after each new stage all curves of all stages are optimised together."""

from __future__ import annotations

import copy
import math
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import cached_property
from typing import NamedTuple

import numpy as np

from seplearn._workers import SerialWorkers, Workers
from seplearn.fitting.aggregate import Aggregate
from seplearn.fitting.carriers import Carrier, LocalCarrier
from seplearn.fitting.draws import random_streams
from seplearn.fitting.grid import Grid
from seplearn.fitting.joint import rows
from seplearn.fitting.joint.coordinates import curves_of, monotone, to_model, to_stage
from seplearn.fitting.joint.curves import Curves, StageCurves
from seplearn.fitting.joint.prior import Prior, Strength
from seplearn.fitting.joint.prune import Pruning, prune
from seplearn.fitting.joint.setup import (
    best_constant,
    energy_price,
    first_penalties,
    make_axes,
    starting_curves,
)
from seplearn.fitting.joint.start import StageStarts
from seplearn.fitting.joint.sweep import Rules, put_on_rows, sweep
from seplearn.fitting.options import AllRows, FitOptions
from seplearn.fitting.scalars import least_squares
from seplearn.fitting.twins import ALIKE, Seen, find_families, with_families
from seplearn.kernels.arrays import CodeArray, FloatArray, RandomState
from seplearn.kernels.block import LEAST_BACKBONE
from seplearn.kernels.evaluate import weighted_dot
from seplearn.kernels.rows import RRUU, RRVV, UU, VV
from seplearn.losses import IDENTITY, Loss
from seplearn.losses.base import weighted_mean
from seplearn.model.bag import Bag
from seplearn.model.model import Penalties, SeparationModel
from seplearn.model.record import StageRecord
from seplearn.model.stage import Branch, Stage
from seplearn.table.blocks import share_looked_at

# Over everything, after each new stage, at least. Few rows allow more sweeps, and where they have
# little noise they need them: with 12 the cross-validated error of six such tables was 3 % higher,
# and 24 were no better than 16; of eight tables of more rows 24 raised the error a little. Those
# beyond 12 learn at half the rate: at the full one rounding errors would grow from sweep to sweep.
N_SWEEPS = 12
SWEEPS_OF_FEW_ROWS = 16
# The first of many stages are swept with every one that follows: half as long is enough then, and
# of eight tables of more rows the cross-validated error fell by half a percent.
_SWEPT_FULLY = 4
SWEEPS_OF_MANY_STAGES = 6
_FEW_ROWS = 5_000
DAMPED = 0.5  # the rate of sweeps over curves that have mostly settled
# A model that is to stay small is swept longer: its few curves must carry everything. In a large
# one more sweeps fit noise in early stages that later ones would have left alone.
STAGE_SWEEPS = 200
# Of a new branch, in standard deviations of y: zero has no log. A hundredth or a hundred times as
# much changed the cross-validated error of eight small tables by less than 1 %, as other seeds do.
_SMALLEST_LAMBDA = 1e-3
_MOST_HALVINGS = 30  # of a new stage that is worse than a constant
# A curve says nothing if predictions without it differ by less than this share of the noise, both
# as mean squares. While the model grows a curve may still come to say something: the share is
# smaller then.
_QUIET = 1e-5
# At the end the share is one of the loss where that is smaller than the noise, as it is for rare
# events and for classes that are nearly certain. By the noise log-loss was 1.02 of what it is
# (kr_vs_kp, sick, mammography, phoneme; splits inside training parts), with a tenth fewer curves;
# of claims of insurance, the deviance was 1.01 and true effects were missing.
_QUIET_AT_LAST = 1e-3
_QUIET_ROWS = 1.0  # at the end, a curve that moves less than the noise of so many rows is quiet too
LAST_SWEEPS = 12  # over all rows, by a model that grew on a part of them
SWEEPS_AFTER_PRUNING = 6
# Degrees of freedom count as so many when fits are compared: by itself the criterion now and then
# prefers a fit that follows the noise, which few rows cannot tell from a good one.
DEARER_FREEDOM = 1.4
NO_SEED = np.uint64(0)


def sweeps_of_stage(size: int, n_stages: int) -> int:
    """About how many sweeps follow the last of ``size`` stages, of at most ``n_stages``."""
    usual = N_SWEEPS if size <= _SWEPT_FULLY else SWEEPS_OF_MANY_STAGES
    return max(usual, STAGE_SWEEPS // n_stages)


class Move(NamedTuple):
    """A change of curves (one array a stage), scales, main effects and constant."""

    curves: FloatArray
    scales: FloatArray
    effects: FloatArray
    intercept: float


class JointFit:
    """A model that grows stage by stage and is swept as a whole in between.

    The first stage sees the target itself, not its deviation from the mean: a positive target
    starts as one positive product, the intercept follows in the sweeps. Only where the mean is far
    from zero beside the spread does it see the deviations; or where main effects, which come first,
    leave only what they do not explain.
    """

    def __init__(
        self,
        data: AllRows,
        options: FitOptions,
        seed: np.random.SeedSequence,
        workers: Workers,
        main_effects: bool = False,
    ) -> None:
        self.data, self._options, self._seed, self._workers = data, options, seed, workers
        self._hashes = data.some.axis_hashes
        self._axes = make_axes(data, options, self._hashes)
        self.curves = starting_curves(data, options, main_effects, self._axes.order)
        self._carrier: Carrier = data.carrier(self.curves.intercept, workers)
        if options.loss_function.link is not IDENTITY:  # the target itself is no sum of curves
            self._carrier.each(rows.begin, options.loss_function, self.curves.intercept)
        self._aim = options.loss_function
        if self._aim.takes_spread:  # a wild outcome is no more to a first stage than to later ones
            level = best_constant(data.some, self._aim) - self.curves.intercept
            self._carrier.each(rows.renew, self._loss_now, level)
        self.mean_square = math.inf
        self._energy = energy_price(data.some, options)
        self._mass = data.mass
        self.n_sweeps = SWEEPS_OF_FEW_ROWS if self._mass <= _FEW_ROWS else N_SWEEPS
        self.newest: Stage | None = None

    def begin(self) -> None:
        """Refine what the model starts with: curves of an earlier fit, or main effects."""
        start = self._options.start
        if isinstance(start, SeparationModel):
            self.go_on_from(start)
            self.refine(LAST_SWEEPS, rate=DAMPED)
            return
        if self.curves.effects.active.any():
            with self._by_way_of_nearer():
                self._refine_after_change(rate=1.0)
            self.prune_quiet()

    def go_on_from(self, model: SeparationModel) -> None:
        """Take over the curves of a model on the same bins."""
        self.restore(curves_of(model, self.curves.effects, self.data, self._options, self._axes))

    def grow(self) -> StageRecord | None:
        """Add a stage, refine everything and flatten what says nothing.

        None when no grid of the new stage finds a step, or when a stage says nothing at all.
        """
        started = time.perf_counter()
        seeds = self._seed.spawn(1)[0].generate_state(self._options.n_grids, np.uint64)
        streams = [random_streams(s, self._hashes) for s in seeds]
        with self._by_way_of_nearer():
            grids, aggregate = self._start_of_stage(streams)
            idle = all(grid.n_actions == 0 for grid in grids)
            # Without an intercept a first stage is worth having even if it is a constant.
            if idle and (self._options.fit_intercept or bool(self.curves.stages)):
                return None
            self._append(aggregate.stage, aggregate.bag(grids) if self._options.keep_bags else None)
            self._refine_after_change(self._options.loss_function.rate)
        self.newest = to_stage(self.curves.stages[-1], self._axes)
        if self.prune_quiet():
            return None
        self.refine(max(0, STAGE_SWEEPS // self._options.n_stages - self.n_sweeps), rate=DAMPED)
        grown = StageRecord(
            loss=math.nan,
            n_kept=len(aggregate.kept),
            n_grids=len(grids),
            mean_actions=float(np.mean([grid.n_actions for grid in grids])),
            scalars=(),
            intercept=math.nan,
            seconds=time.perf_counter() - started,
        )
        return self.described(grown)

    def _start_of_stage(self, streams: list[RandomState]) -> tuple[list[Grid], Aggregate]:
        """Grids on what the loss asks of the rows, for a stage to start from."""
        data = self.data.loaded
        pull = self._aim.pull(data.target, self._eta, self._residual, data.weight)
        return self._starts.fit(pull, streams, self._workers)

    @cached_property
    def _first_penalties(self) -> FloatArray:
        return first_penalties(self.data, self._options)

    @cached_property
    def _starts(self) -> StageStarts:
        return StageStarts(self.data.loaded, self._options)

    def described(self, record: StageRecord) -> StageRecord:
        """The record with what the model as it stands has to say."""
        return replace(
            record,
            loss=self.loss,
            scalars=tuple(stage.lambdas for stage in self.curves.stages),
            intercept=self.curves.intercept,
            cancellation=self.cancellation,
            freedom=self.curves.freedom if self._learns else None,
        )

    def refine(self, n_sweeps: int, rate: float, rests: bool = True) -> None:
        """Sweep over everything; curves that hardly move may rest.

        Few sweeps must learn fast (``rate=1``). Many, so, would never settle: rounding errors grow
        from sweep to sweep unless the learning is damped.
        """
        rules = self._rules(rate)
        if not rests:
            rules = replace(rules, negligible=0.0)
        self.mean_square = sweep(
            self._carrier, self.curves, self._axes, rules, n_sweeps, self._workers.stop
        )
        self.curves.fix_gauge(self.data.bins)

    def _centre(self) -> None:
        """Give the model the best constant beside its curves, where sweeps only approach it."""
        if self._aim.sees_sides and self._options.fit_intercept:
            misses, weight = self._misses
            shift = self._aim.constant(misses, weight, np.zeros(len(misses)))
            self.curves.intercept += shift
            self._carrier.each(rows.lower, shift)

    @contextmanager
    def _by_way_of_nearer(self) -> Iterator[None]:
        """Lower another loss meanwhile if this one is better reached from there."""
        nearer = self._aim.nearer(self._mass)
        if nearer is None:
            yield
            return
        self._aim_at(nearer)
        yield
        self._aim_at(self._options.loss_function)
        self._refine_after_change(DAMPED)
        self._centre()

    def _aim_at(self, loss: Loss) -> None:
        """Let sweeps lower this loss from here on."""
        self._aim = loss
        self._centre()
        self._carrier.each(rows.renew, self._loss_now)

    def _refine_after_change(self, rate: float) -> None:
        """Sweep over everything while there is much to learn."""
        if len(self.curves.stages) > _SWEPT_FULLY:
            self.refine(SWEEPS_OF_MANY_STAGES, rate)
            return
        self.refine(N_SWEEPS, rate)
        if self.n_sweeps > N_SWEEPS:
            self.refine(self.n_sweeps - N_SWEEPS, DAMPED)

    def finish(self, snapshot: Curves) -> None:
        """Take over curves that grew on some of the rows, and settle them on all."""
        self.restore(snapshot)
        self.refine(LAST_SWEEPS, rate=DAMPED)
        self.settle()

    def settle(self) -> None:
        """Flatten what says nothing in the end, merge twins, and let the rest make up for it."""
        self.prune_at_last()
        if len(self.curves.stages) > 1:
            seen = Seen.by(self.model(), self.data.some, self._options.loss_function)
            self.merge_twins(seen.codes, seen.weight[0])
        self.refine(SWEEPS_AFTER_PRUNING, rate=DAMPED)
        self._centre()

    def merge_twins(self, codes: CodeArray, weight: FloatArray) -> None:
        """Make stages one that say nearly the same, or that one stage could say."""
        model, least = self.model(), ALIKE * self.noise
        families = find_families(model, codes, weight, least, self._options.fit_intercept)
        if len(families) == len(model.stages):
            return
        merged = with_families(model, families)
        self.go_on_from(merged)
        for stage, bag in zip(self.curves.stages, merged.bags, strict=False):
            stage.bag = bag

    def prune_quiet(self) -> int:
        """Flatten curves that say nothing while the model grows; how many stages said nothing."""
        return self._prune(_QUIET)

    def prune_at_last(self, n_sums: int = 1, loss: float | None = None) -> None:
        """Flatten curves that say nothing in the end.

        Where a row has several sums to be known, what it may lose by that is divided among them;
        ``loss`` is then the one of all.
        """
        square = 2.0 * (self.loss if loss is None else loss) / self._loss_now.per_half_square
        share = _QUIET_AT_LAST / n_sums
        if square < self.mean_square:
            share *= square / self.mean_square
        self._prune(max(share, _QUIET_ROWS / self._mass))

    def _prune(self, share: float) -> int:
        """Flatten curves that move predictions by less than a share of the noise."""
        return prune(
            self._carrier,
            self.curves,
            self._axes,
            Pruning(
                least=share * self._mass * self.noise,
                mass=float(self._carrier.total(rows.residual_sums)[1]),
                folds=self._options.may_have_effects,
                drops=self._options.fit_intercept,
            ),
        )

    @property
    def noise(self) -> float:
        """Mean squared residual, made good for the freedom that was spent to lower it."""
        spent = min(self.curves.freedom, 0.5 * self._mass)
        return self.mean_square * self._mass / (self._mass - spent)

    @property
    def noises(self) -> list[float]:
        """The noise around every sum, of which there is one."""
        return [self.noise]

    @property
    def _eta(self) -> FloatArray:
        """The sums of offset and curves on all rows."""
        return self._carrier.gather(rows.eta)

    @property
    def carrier(self) -> Carrier:
        """Where the rows are."""
        return self._carrier

    @property
    def expected_error(self) -> float:
        """Mean loss to be expected on other rows, by generalised cross-validation.

        Infinite where nearly all freedom is spent: what such a fit leaves says nothing.
        """
        left = self._mass - DEARER_FREEDOM * self.curves.freedom
        return self.loss * (self._mass / left) ** 2 if left > 0.0 else math.inf

    def going_on_with(self, data: AllRows) -> JointFit:
        """The fit as it is, with other rows from here on."""
        fit = JointFit(data, self._options, self._seed, self._workers)
        fit.restore(self.curves)
        fit.mean_square = self.mean_square
        return fit

    def restore(self, snapshot: Curves) -> None:
        """Go back to curves of an earlier moment; rows follow."""
        self.curves = snapshot.copy()
        put_on_rows(self._carrier, self.curves, self._axes)

    @property
    def sums(self) -> FloatArray:
        """The sums of the curves on all rows, without the offset."""
        return self._carrier.gather(rows.sums)

    def _append(self, stage: Stage, bag: Bag | None) -> None:
        """Add a stage with its least-squares scalars; the curves keep the constraints."""
        data, directions = self.data, self._axes.direction
        branches = [b and monotone(b, self._axes) for b in (stage.plus, stage.minus)]
        scalars = iter(self._scalars([branch for branch in branches if branch is not None]))
        logs = [(b.log_factors, math.log(next(scalars))) for b in branches if b is not None]
        (plus, log_plus), (minus, log_minus) = logs[0], logs[-1]
        present = np.array([branch is not None for branch in branches])
        active = np.zeros((len(directions), 2), dtype=np.bool_)
        active[list(self._axes.order)] = (True, bool(present.all()))
        added = StageCurves(
            curves=np.array([0.5 * (plus + minus), 0.5 * (plus - minus)]),
            scale=np.array([0.5 * (log_plus + log_minus), 0.5 * (log_plus - log_minus)]),
            present=present,
            active=active,
            penalties=self._first_penalties.copy(),
            curvature=np.zeros(2),
            freedom=np.zeros((data.bins.n_axes, 2)),
            reach=np.zeros((data.bins.n_axes, 2)),
            bag=bag,
        )
        self.curves.stages.append(added)
        self._carrier.each(
            rows.add_stage, self._axes.offset, added.curves, added.scale, added.present
        )

    def _scalars(self, branches: list[Branch]) -> FloatArray:
        """Non-negative least squares of the residual on the new products, at least a little."""
        data, residual, weight = self.data.loaded, self._residual, self._working
        columns = [branch.evaluate(data.codes, data.bins) for branch in branches]
        gram = np.array([[weighted_dot(a, b, weight) for b in columns] for a in columns])
        right = np.array([weighted_dot(column, residual, weight) for column in columns])
        scalars: FloatArray = np.maximum(least_squares(gram, right, False), _SMALLEST_LAMBDA)
        if self._options.loss_function.starts_low:
            signs = [branch.coefficient_sign for branch in branches]
            scalars *= self._share_to_take(np.column_stack(columns) @ (signs * scalars))
        return scalars

    def _share_to_take(self, step: FloatArray) -> float:
        """How much of a step of all sums to take: half of it, until no constant would be better.

        Least squares are what the loss is near the sums of this moment, not farther off. A loss
        that is somewhat raised soon falls: where none was, stages stayed small and learned slowly.
        Where no share is good enough the step is no way down by itself, and sweeps see to it.
        """
        data, loss, eta = self.data.loaded, self._options.loss_function, self._eta
        level = loss.constant(data.target, data.weight, data.offset) + data.offset
        most = max(self._restrained_loss(level), self._restrained_loss(eta))
        for halvings in range(_MOST_HALVINGS):
            share = 0.5**halvings
            if self._restrained_loss(eta + share * step) <= most:
                return share
        return 1.0

    def _restrained_loss(self, eta: FloatArray) -> float:
        """The mean of what sweeps lower, if the sums of all rows were these."""
        data, loss = self.data.loaded, self._options.loss_function
        return weighted_mean(loss.restrained(data.target, eta), data.weight)

    def model(self) -> SeparationModel:
        """The model as it stands."""
        bags = tuple(stage.bag for stage in self.curves.stages if stage.bag is not None)
        penalties = Penalties(
            np.array([stage.penalties for stage in self.curves.stages]),
            self.curves.effects.penalties.copy(),
        )
        return replace(self.model_of(self.curves), bags=bags, penalties=penalties)

    def model_of(self, curves: Curves) -> SeparationModel:
        """The model of curves on the bins of this fit, such as those of an earlier moment."""
        return to_model(curves, self._axes)

    @property
    def loss(self) -> float:
        """Weighted mean loss on the training rows."""
        total, mass = self._carrier.total(rows.loss_sums, self._loss_now.of_rows)
        return float(total / mass)

    @property
    def cancellation(self) -> float:
        """Mean of sum_k P_k over mean |sum_k s_k P_k| on the training rows; 1 is the least.

        A main effect counts as a product of its size and sign.
        """
        size, net = self._carrier.total(
            rows.cancellation_sums, self._axes.offset, self.curves.effects.values
        )
        return float(size / net) if net > 0 else 1.0

    @property
    def prior(self) -> Prior | None:
        """What the learned smoothness says of the curves; None where it was given."""
        if not self._learns:
            return None
        stages = []
        for k, stage in enumerate(self.curves.stages):
            strengths = self._strengths(self._carrier.total(rows.moments, k))
            stages.append((stage.penalties, stage.active, strengths))
        effects, mass = self.curves.effects, float(self._working.sum())
        of_effects = (effects.penalties, effects.active, Strength(mass, self.noise))
        return Prior.of(stages, of_effects, self._axes, self._hashes)

    def _strengths(self, moments: FloatArray) -> list[Strength]:
        """How strong the priors of backbone and tilt are, by the noise where the stage is large."""
        curvatures = max(moments[UU], LEAST_BACKBONE * moments[VV]), moments[VV]
        found = []
        for curvature, square, residual in zip(curvatures, (UU, VV), (RRUU, RRVV), strict=True):
            own = moments[residual] / moments[square] if moments[square] > 0.0 else 0.0
            noise = self.noise * max(own / self.mean_square, 1.0) if self.mean_square > 0 else 0.0
            found.append(Strength(float(curvature), float(noise)))
        return found

    def move(
        self,
        weight: FloatArray,
        n_sweeps: int,
        prior: Prior | None = None,
        seed: np.uint64 = NO_SEED,
    ) -> Move:
        """What sweeps with other weights change, the penalties as they are.

        With a prior they pull the curves towards a draw of it.
        """
        other = self.reweighted(weight, prior, seed)
        other.refine(n_sweeps, rate=0.0, rests=False)  # bands are made of small steps
        return self.move_to(other)

    def reweighted(
        self, weight: FloatArray, prior: Prior | None = None, seed: np.uint64 = NO_SEED
    ) -> JointFit:
        """The fit as it is, to go on with other weights of the rows; see :meth:`move`."""
        other = copy.copy(self)
        other.curves = self.curves.copy()
        if prior is not None:
            other.curves.lean_on(prior.draw(seed, self._axes))
        # Moves are made side by side: a thread of the pool must not wait for others of it.
        other._workers = SerialWorkers(self._workers.stop)
        blocks = rows.reweighted(self._blocks, weight)
        other._carrier = LocalCarrier(blocks, other._workers)
        return other

    def move_to(self, other: JointFit) -> Move:
        """How the curves of another fit with the same stages differ from these."""
        there, here = _arrays(other.curves), _arrays(self.curves)
        return Move(
            there.curves - here.curves,
            there.scales - here.scales,
            there.effects - here.effects,
            there.intercept - here.intercept,
        )

    def moved(self, move: Move, centre: Move) -> SeparationModel:
        """The model with a move away from ``centre`` added to its curves."""
        curves = self.curves.copy()
        for k, stage in enumerate(curves.stages):
            stage.curves += move.curves[k] - centre.curves[k]
            stage.scale += move.scales[k] - centre.scales[k]
        curves.effects.values += move.effects - centre.effects
        curves.intercept += float(move.intercept - centre.intercept)
        return to_model(curves, self._axes)

    @property
    def _loss_now(self) -> Loss:
        """The loss, suited to how far the sums of this moment are off."""
        return self._aim.suited_to(*self._misses) if self._aim.takes_spread else self._aim

    @property
    def _misses(self) -> tuple[FloatArray, FloatArray]:
        """How far the sums of this moment are off, of rows enough to know it, and their weights."""
        share = share_looked_at(self.data.n_rows)
        misses = self._carrier.gather(rows.some_misses, share)
        return misses, self._carrier.gather(rows.some_weights, share)

    @property
    def _residual(self) -> FloatArray:
        """The residuals of all rows in that problem."""
        return self._carrier.gather(rows.values, "residual")

    @property
    def _working(self) -> FloatArray:
        """The weights of all rows in the least-squares problem of this moment."""
        return self._carrier.gather(rows.values, "working")

    @property
    def _blocks(self) -> list[rows.RowBlock]:
        """The blocks of rows in memory."""
        assert isinstance(self._carrier, LocalCarrier)
        return self._carrier.blocks

    @property
    def _learns(self) -> bool:
        """Whether the smoothness of curves is learned, not given."""
        return self._options.smoothness == "auto"

    def _rules(self, rate: float) -> Rules:
        return Rules(
            loss=self._loss_now,
            energy=self._energy,
            fit_intercept=self._options.fit_intercept,
            rate=rate if self._learns else 0.0,
        )


def _arrays(curves: Curves) -> Move:
    of_stages, effects = curves.on_rows
    return Move(
        np.array(of_stages),
        np.array([stage.scale for stage in curves.stages]),
        effects,
        curves.intercept,
    )
