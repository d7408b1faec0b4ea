"""The oracle of joint refinement: a sweep written from the maths, with dense matrices.

A stage is P+ - P- with P+- = exp(b0 +- d0 + sum_j (beta_j +- delta_j)(x_j)); main effects are
sums of curves. Products and residuals are computed from the curves whenever they are asked for,
systems are solved as they stand, and losses are taken over the rows. What one block of a sweep
minimises is in ``naive.py``.
"""

from __future__ import annotations

import copy
import math
from dataclasses import dataclass

import numpy as np

from tests import naive


@dataclass
class Axis:
    codes: np.ndarray  # (n,): bin of each row
    n_bins: int
    n_ordered: int  # leading bins that have an order
    direction: int = 0  # of the prediction: 1 rises, -1 falls, 0 free

    def at_rows(self, values):
        """Values of bins, at the rows."""
        return values[self.codes]


@dataclass
class Stage:
    curves: list[np.ndarray]  # per axis (2, n_bins): beta and delta
    scale: np.ndarray  # (2,): b0 and d0
    present: tuple[bool, bool]
    mu: list[np.ndarray]  # per axis (2, 3)
    freedom: np.ndarray  # (axes, 2)
    active: np.ndarray  # (axes, 2): which of beta and delta may move; the others are flat
    reach: np.ndarray  # (axes, 2): what the predictions would lose with a curve
    curvature: tuple[float, float] = (0.0, 0.0)  # along b0 and d0, when its last sweep began
    rest: np.ndarray | None = None  # per axis: sweeps for which it is not visited

    @property
    def has_tilt(self):
        return all(self.present)


@dataclass
class Effects:
    values: list[np.ndarray]  # per axis (n_bins,)
    active: np.ndarray  # per axis: whether it may move
    mu: np.ndarray  # (axes, 3)
    freedom: np.ndarray  # per axis
    rest: np.ndarray | None = None  # per axis: for how many more sweeps it is not visited


@dataclass
class Rules:
    energy: float = 0.05
    largest_step: float = 0.2
    threshold: float = math.inf
    fit_intercept: bool = True
    learns: bool = True
    rate: float = 1.0
    negligible: float = 0.1
    family: str = "squares"  # or "logistic", "poisson"
    restraint: float = 1e-4  # of log-odds
    least_noise: float = 0.5  # of yes and no


@dataclass
class Fit:
    axes: list[Axis]
    visits: list[int]
    weight: np.ndarray
    target: np.ndarray
    stages: list[Stage]
    rules: Rules
    intercept: float = 0.0
    weights: np.ndarray | None = None  # the rows' weights in this sweep
    effects: Effects | None = None
    offset: np.ndarray | float = 0.0
    response: np.ndarray | None = None  # what the sums are fitted to in this sweep
    n_halved: int = 0  # sweeps of which a part was taken back
    n_constants_halved: int = 0
    n_rested: int = 0  # visits that were not made

    def products(self, stage):
        """P+ and P- of a stage on every row; zero where the stage has none."""
        out = []
        for sign, there in zip((1.0, -1.0), stage.present, strict=True):
            logs = np.full(len(self.weight), stage.scale[0] + sign * stage.scale[1])
            for axis, (beta, delta) in zip(self.axes, stage.curves, strict=True):
                logs = logs + axis.at_rows(beta + sign * delta)
            out.append(there * np.exp(logs))
        return np.array(out)

    @property
    def eta(self):
        stages = (self.products(stage) for stage in self.stages)
        said = self.offset + self.intercept + sum(plus - minus for plus, minus in stages)
        if self.effects is not None:
            pairs = zip(self.axes, self.effects.values, strict=True)
            said = said + sum(axis.at_rows(values) for axis, values in pairs)
        return said

    @property
    def residual(self):
        return (self.target if self.response is None else self.response) - self.eta

    def weigh(self):
        """The least-squares problem at the sums of this moment; it holds until the next sweep.

        Of least squares Huber's outcomes, at most the threshold away. Of others the problem of
        Newton's method: the response eta + gradient / curvature with the weight curvature, which is
        raised for a row that would ask for a step of more than 100. Log-odds are held near zero by
        the restraint, half of it times their square.
        """
        if self.rules.family == "squares":
            off, most = self.target - self.eta, self.rules.threshold
            self.response = self.eta + np.clip(off, -most, most)
            self.weights = self.weight
            return
        eta = self.eta
        if self.rules.family == "logistic":
            mean = 1.0 / (1.0 + np.exp(-eta))
            gradient = self.target - mean - self.rules.restraint * eta
            curvature = mean * (1.0 - mean) + self.rules.restraint
        else:
            curvature = np.exp(eta)
            gradient = self.target - curvature
        curvature = np.maximum(curvature, np.abs(gradient) / 100.0)
        self.response = eta + gradient / curvature
        self.weights = self.weight * curvature

    @property
    def loss(self):
        """Sum of the losses of all rows: minus the log-likelihood, up to what is the same."""
        eta = self.eta
        if self.rules.family == "logistic":
            rows = np.log1p(np.exp(eta)) - self.target * eta
            rows = rows + 0.5 * self.rules.restraint * eta**2
        else:
            rows = np.exp(eta) - self.target * eta
        return np.sum(self.weight * rows)

    @property
    def mean_square(self):
        """The noise: of yes and no half-way to one, as logs, and of counts at least one."""
        found = np.sum(self.weights * self.residual**2) / np.sum(self.weight)
        of_odds = max(found**0.5, self.rules.least_noise)
        noise = {"squares": found, "logistic": of_odds, "poisson": max(found, 1.0)}
        return noise[self.rules.family]


def sweep(fit, n_sweeps=1):
    """Every scale and every curve of every stage in turn; returns the mean squared residual.

    A curve whose step changed next to nothing rests for the next three sweeps.
    """
    for stage in fit.stages:
        stage.rest = np.zeros(len(fit.axes), dtype=int)
    if fit.effects is not None:
        fit.effects.rest = np.zeros(len(fit.axes), dtype=int)
    for _ in range(n_sweeps):
        fit.weigh()
        move_intercept(fit)
        before = copy.deepcopy(fit)
        sweep_once(fit)
        if fit.rules.family != "squares":
            halve(fit, before)
    fit.weigh()
    move_intercept(fit)
    return fit.mean_square


def sweep_classes(fits, n_sweeps=1):
    """Softmax: every class in turn, the sums of the others as they are at that moment.

    With those fixed, minus the log of a class's probability is that of yes and no whose log-odds
    are its own sum minus the log of the sum of the exponentials of the others.
    """
    for _ in range(n_sweeps):
        for k, fit in enumerate(fits):
            others = [other.eta - other.offset for j, other in enumerate(fits) if j != k]
            fit.offset = -np.log(np.sum(np.exp(others), axis=0))
            sweep(fit)


def sweep_once(fit):
    mean_square, inflation = fit.mean_square, noise_inflation(fit)
    for j in fit.visits if fit.effects else ():
        if fit.effects.active[j]:
            visit_effect(fit, j, mean_square * inflation)
    for stage in fit.stages:
        sweep_stage(fit, stage, mean_square, inflation)


def halve(fit, before):
    """Go half of the way back until the loss with the penalties learned is no larger than it was.

    At most ten times: what is left then is a thousandth of the sweep.
    """
    start = before.loss + roughness(before, fit)
    for k in range(10):
        if fit.loss + roughness(fit, fit) <= start + 1e-9 * abs(start):
            return
        fit.n_halved += k == 0
        for stage, old in zip(fit.stages, before.stages, strict=True):
            pairs = zip(stage.curves, old.curves, strict=True)
            stage.curves = [(new + was) / 2 for new, was in pairs]
            stage.scale = (stage.scale + old.scale) / 2
        if fit.effects is not None:
            pairs = zip(fit.effects.values, before.effects.values, strict=True)
            fit.effects.values = [(new + was) / 2 for new, was in pairs]
        fit.intercept = (fit.intercept + before.intercept) / 2


def roughness(fit, learned):
    """Half the penalties of the curves of a fit, as strong as those of another are."""
    total = 0.0
    for j, axis in enumerate(fit.axes):
        shape = axis.n_bins, axis.n_ordered
        for stage, other in zip(fit.stages, learned.stages, strict=True):
            for side in np.flatnonzero(stage.active[j]):
                S = naive.penalty(other.mu[j][side], other.curvature[side], *shape)
                total += stage.curves[j][side] @ S @ stage.curves[j][side] / 2
        if fit.effects is not None and fit.effects.active[j]:
            S = naive.penalty(learned.effects.mu[j], np.sum(learned.weights), *shape)
            total += fit.effects.values[j] @ S @ fit.effects.values[j] / 2
    return total


def move_intercept(fit):
    """The mean residual; of a loss that is no square half of it, and so on, until it falls."""
    if not fit.rules.fit_intercept:
        return
    start, shift = fit.intercept, np.average(fit.residual, weights=fit.weights)
    fit.intercept = start + shift
    if fit.rules.family == "squares":
        return
    moved = fit.loss
    fit.intercept = start
    before = fit.loss
    fit.intercept = start + shift
    fit.n_constants_halved += moved > before
    for _ in range(10):
        if fit.loss <= before:
            return
        shift = shift / 2
        fit.intercept = start + shift


def noise_inflation(fit):
    """n / (n - freedom): the curves', two for each scale, one for the constant; at most half."""
    total = np.sum(fit.weight)
    spent = sum(np.sum(stage.freedom) for stage in fit.stages) + 2 * len(fit.stages) + 1
    spent += np.sum(fit.effects.freedom) if fit.effects else 0.0
    return total / (total - min(spent, total / 2))


def visit_effect(fit, j, noise):
    """One that hardly moves rests, once its degrees of freedom hardly change either."""
    effects = fit.effects
    if effects.rest[j] > 0:
        effects.rest[j] -= 1
        fit.n_rested += 1
        return
    before, freedom = fit.eta, effects.freedom[j]
    update_effect(fit, j, noise)
    change = np.sum(fit.weights * (fit.eta - before) ** 2)
    spent = effects.freedom[j]
    is_steady = not fit.rules.learns or abs(spent - freedom) < 0.05 * spent
    if is_steady and change < fit.rules.negligible * noise:
        effects.rest[j] = 3


def update_effect(fit, j, noise):
    """The main effect of one axis: penalised least squares; monotone, where it must be."""
    axis, effects, w = fit.axes[j], fit.effects, fit.weights
    curve, mass = effects.values[j], np.sum(w)
    S = naive.penalty(effects.mu[j], mass, axis.n_bins, axis.n_ordered)
    A = np.diag(axis_sums(axis, w)) + S
    right = axis_sums(axis, w * fit.residual) - S @ curve
    step = np.linalg.solve(A, right)
    if axis.direction:
        part = slice(0, axis.n_ordered)
        goal = axis.direction * (curve + step)[part]
        step[part] = axis.direction * isotonic(goal, np.diag(A)[part]) - curve[part]
        bend = step @ A @ step  # the way there may be too far, or not begin downhill
        step = step * np.clip(step @ right / bend, 0.0, 1.0) if bend > 0 else 0 * step
    effects.values[j] = curve + step
    if fit.rules.learns:
        effects.mu[j], effects.freedom[j] = naive.learned_penalties(
            A, S, effects.values[j], [effects.mu[j]], 0, mass, noise, axis.n_bins, axis.n_ordered,
            fit.rules.rate,
        )  # fmt: skip


def sweep_stage(fit, stage, mean_square, inflation):
    own = [j for j in fit.visits if stage.active[j].any()]
    if own and all(stage.rest[j] > 0 for j in own):
        stage.rest[own] -= 1
        fit.n_rested += len(own)
        return
    plus, minus = fit.products(stage)
    if np.sum(fit.weights * (plus + minus) ** 2) < 1e-14 * np.sum(fit.weight):
        return
    stage.curvature = tuple(
        np.sum(fit.weights * moved**2) for moved in (plus - minus, plus + minus)
    )
    noise = [
        max(noise_where_large(fit, stage, moved, inflation), mean_square * inflation)
        for moved in (plus - minus, plus + minus)
    ]
    energy = fit.rules.energy * mean_square
    stage.scale = stage.scale + scale_step(fit, stage, energy)
    for j in own:
        if stage.rest[j] > 0:
            stage.rest[j] -= 1
            fit.n_rested += 1
            continue
        before, (beta, delta) = fit.eta, stage.curves[j]
        update_axis(fit, stage, j, energy, noise)
        change = np.sum(fit.weights * (fit.eta - before) ** 2)
        beta, delta = stage.curves[j] - [beta, delta]
        factors = np.exp([beta + delta, beta - delta])
        is_near = np.all(np.abs(factors - 1.0) < 0.1)
        if is_near and change < fit.rules.negligible * mean_square * inflation:
            stage.rest[j] = 3


def noise_where_large(fit, stage, moved, inflation):
    """Mean squared residual, rows counted by the square of what a step moves in them.

    So few rows may count that the freedom of the stage's curves, half of it for each side and one
    for the scale, is a good part of them: at most half.
    """
    share = fit.weights * moved**2
    if not np.any(share > 0):
        return 0.0
    # What the loss says of a row counts twice, its weight once.
    again = fit.weights / np.maximum(fit.weight, 1e-300)
    carrying = np.sum(share) ** 2 / np.sum(share * again * moved**2)
    spent = min(np.sum(stage.freedom) / 2 + 1, carrying / 2)
    own = carrying / (carrying - spent)
    return np.sum(share * again * fit.residual**2) / np.sum(share) * max(own, inflation)


def scale_step(fit, stage, energy):
    """The bounded Gauss-Newton step of (b0, d0), halved until the exact loss does not rise."""
    plus, minus = fit.products(stage)
    w, r = fit.weights, fit.residual
    design = np.stack([plus - minus, plus + minus], axis=1)
    sizes = energy * np.array([np.sum(w * plus**2), np.sum(w * minus**2)])
    both, gap = sizes.sum(), sizes[0] - sizes[1]
    matrix = design.T @ (w[:, None] * design) + 2 * np.array([[both, gap], [gap, both]])
    right = design.T @ (w * r) - [both, gap]
    if stage.has_tilt:
        matrix[0, 0] += 1e-6 * np.sum(w * (plus + minus) ** 2)
        step = np.linalg.solve(matrix, right)
    else:
        step = np.array([right[0] / matrix[0, 0], 0.0])

    def loss(step):
        new_plus, new_minus = plus * np.exp(step.sum()), minus * np.exp(step[0] - step[1])
        new = r - (new_plus - plus) + (new_minus - minus)
        return np.sum(w * new**2) + energy * np.sum(w * (new_plus**2 + new_minus**2))

    step = np.clip(step, -0.3, 0.3)
    while loss(step) > loss(0 * step):
        step = step / 2
        if np.abs(step).sum() < 1e-12:
            return 0 * step
    return step


def update_axis(fit, stage, j, energy, noise):
    """One block: beta and delta of a stage on one axis, then what is to be learned from them."""
    axis, mu = fit.axes[j], stage.mu[j]
    w, r = fit.weights, fit.residual
    plus, minus = fit.products(stage)
    curve = stage.curves[j].ravel()
    A, S, right = naive.block_system(
        axis.codes, plus, minus, r, w, curve, mu, axis.n_bins, axis.n_ordered, energy
    )
    free = np.repeat(stage.active[j], axis.n_bins)  # what is not free is zero and stays it
    step = np.zeros_like(curve)
    step[free] = np.linalg.solve(A[np.ix_(free, free)], right[free])
    step = np.clip(step, -fit.rules.largest_step, fit.rules.largest_step)
    if axis.direction:
        sizes = [axis_sums(axis, w * product**2) for product in (plus, minus)]
        stiffness = np.diag(S)[free]  # of the backbone; of the tilt where it alone may move
        end = monotone_end(axis, stage.present, curve + step, sizes, stiffness)
        if stage.has_tilt and not stage.active[j].all():  # beta alone cannot go both ways
            end[: axis.n_ordered] = 0.0
            end[axis.n_bins : axis.n_bins + axis.n_ordered] *= stage.active[j, 1]
        step = end - curve

    def loss(share):
        return naive.block_objective(axis.codes, plus, minus, r, w, curve, S, share * step, energy)

    shares = [0.5**k for k in range(8)]
    share = next((share for share in shares if loss(share) <= loss(0.0)), 0.0)
    stage.curves[j] = (curve + share * step).reshape(2, -1)
    stage.reach[j] = reaches(axis, plus, minus, w, stage.curves[j])
    if fit.rules.learns:
        strengths = naive.curvatures(plus, minus, w)
        learn(axis, stage, j, A, S, free, strengths, noise, fit.rules.rate)


def reaches(axis, plus, minus, w, curves):
    """By how much predictions would change, to first order, were a curve flat: sums of squares."""
    out = []
    for moved, curve in zip((plus - minus, plus + minus), curves, strict=True):
        share = w * moved**2
        level = np.average(axis.at_rows(curve), weights=share) if share.any() else 0.0
        out.append(np.sum(share * (axis.at_rows(curve) - level) ** 2))
    return out


def axis_sums(axis, values):
    return np.array([np.sum(values[axis.codes == b]) for b in range(axis.n_bins)])


def monotone_end(axis, present, end, sizes, stiffness):
    """The end of a step, moved to monotone curves: + factors go with the direction, - against it.

    A bin counts by the curvature of its product and the stiffness of its backbone, or of the tilt
    where the backbone is flat. A lone product is all backbone.
    """
    beta, delta = end.reshape(2, -1).copy()
    logs = [beta + delta, beta - delta]
    for side, sign in enumerate((axis.direction, -axis.direction)):
        mass = (sizes[side] + stiffness[: axis.n_bins])[: axis.n_ordered]
        logs[side][: axis.n_ordered] = sign * isotonic(sign * logs[side][: axis.n_ordered], mass)
    if not all(present):
        logs = [logs[0], logs[0]] if present[0] else [logs[1], logs[1]]
    return np.concatenate([(logs[0] + logs[1]) / 2, (logs[0] - logs[1]) / 2])


def isotonic(values, mass):
    """The nearest rising sequence, by the max-min formula over all stretches around a position."""
    n, moment, total = len(values), np.cumsum([0, *(mass * values)]), np.cumsum([0, *mass])

    def mean(a, b):
        return (moment[b + 1] - moment[a]) / (total[b + 1] - total[a])

    return np.array(
        [max(min(mean(a, b) for b in range(i, n)) for a in range(i + 1)) for i in range(n)]
    )


def learn(axis, stage, j, A, S, free, strengths, noise, rate):
    """New penalties of the curves on an axis, and the freedom that they had."""
    curve, before = stage.curves[j].ravel(), stage.mu[j]
    stage.mu[j] = before.copy()
    A = np.where(np.outer(free, free), A, S)  # the rows of a flat curve are those of its penalty
    for side in np.flatnonzero(stage.active[j]):
        stage.mu[j][side], stage.freedom[j, side] = naive.learned_penalties(
            A, S, curve, before, side, strengths[side], noise[side],
            axis.n_bins, axis.n_ordered, rate,
        )  # fmt: skip


def centre(fit):
    """Curves of mean zero over the rows; what is taken off goes to scales and constant."""
    for stage in fit.stages:
        for axis, curves in zip(fit.axes, stage.curves, strict=True):
            stage.scale = stage.scale + take_off_mean(fit, axis, curves)
    for axis, values in zip(fit.axes, fit.effects.values, strict=True):
        fit.intercept += take_off_mean(fit, axis, values)


def take_off_mean(fit, axis, curves):
    """In place; the means. Bins without an order or rows say nothing."""
    mean = np.average(curves[..., axis.codes], weights=fit.weight, axis=-1)
    unused = ~np.isin(np.arange(axis.n_bins), axis.codes)
    curves -= mean[..., None]
    curves[..., unused & (np.arange(axis.n_bins) >= axis.n_ordered)] = 0.0
    return mean


def prune(fit, least, folds=True, drops=True):
    """Flatten curves of small reach; constants and stages of one feature leave the stages."""
    for stage in fit.stages:
        for j, axis in enumerate(fit.axes):
            beta, delta = (reach < least for reach in stage.reach[j])
            if axis.direction and stage.has_tilt and not beta:  # no backbone rises and falls
                delta = False
            for side, quiet in enumerate((beta, delta)):
                if quiet and stage.active[j, side]:
                    stage.curves[j][side] = 0.0
                    stage.active[j, side] = False
                    stage.freedom[j, side] = stage.reach[j, side] = 0.0
    left = []
    for stage in fit.stages:
        used = [j for j in range(len(fit.axes)) if stage.active[j].any()]
        scales = [there * np.exp(stage.scale @ (1, sign)) for there, sign in signed(stage)]
        if not used and drops:
            fit.intercept += scales[0] - scales[1]
        elif len(used) == 1 and folds:
            fold(fit, stage, used[0], scales)
        else:
            left.append(stage)
    fit.stages = left
    prune_effects(fit, least)


def signed(stage):
    return zip(stage.present, (1, -1), strict=True)


def fold(fit, stage, j, scales):
    """A stage of one feature is a main effect: what it says in every bin."""
    beta, delta = stage.curves[j]
    said = scales[0] * np.exp(beta + delta) - scales[1] * np.exp(beta - delta)
    fit.intercept += take_off_mean(fit, fit.axes[j], said)
    fit.effects.values[j] = fit.effects.values[j] + said
    fit.effects.active[j] = True
    fit.effects.freedom[j] += np.sum(stage.freedom[j])


def prune_effects(fit, least):
    for j, axis in enumerate(fit.axes):
        if np.sum(fit.weight * axis.at_rows(fit.effects.values[j]) ** 2) < least:
            fit.effects.values[j] = np.zeros(axis.n_bins)
            fit.effects.active[j] = False
            fit.effects.freedom[j] = 0.0
