"""The block update and the learning of penalties against dense algebra on the rows."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import nnls

from seplearn.kernels import block
from seplearn.kernels.arrays import Noise, SweepRules, SweptEffects, SweptStages
from seplearn.kernels.sums import MINUS_MINUS, MINUS_R, PLUS_MINUS, PLUS_PLUS, PLUS_R
from seplearn.kernels.sweep import visit_axis, visit_effect
from tests import naive
from tests.compiled import as_kernel
from tests.naive_sweep import Axis, isotonic, reaches
from tests.problems import random_curves

pytestmark = pytest.mark.interpreted

fill_curves = as_kernel(block.fill_curves)
fill_powers = as_kernel(block.fill_powers)
fill_system = as_kernel(block.fill_system)
learn_penalties = as_kernel(block.learn_penalties)
loss_change = as_kernel(block.loss_change)
new_block = as_kernel(block.new_block)
penalty_change = as_kernel(block.penalty_change)
solve_both = as_kernel(block.solve_both)
start_of = as_kernel(block.start_of)

ANY_STEP = 1e6


class Case:
    """Rows of one stage on one axis, and a block filled from them."""

    def __init__(self, n_bins, n_ordered, seed, energy=0.0, branches=(True, True), direction=0):
        rng = np.random.default_rng(seed)
        n = 4 * n_bins
        self.n_bins, self.n_ordered, self.energy = n_bins, n_ordered, energy
        self.present = np.array(branches)
        self.codes = rng.integers(0, n_bins, size=n)
        self.plus = np.exp(rng.normal(size=n)) * branches[0]
        self.minus = np.exp(rng.normal(size=n)) * branches[1]
        self.residual, self.weight = rng.normal(size=n), rng.uniform(0.5, 2.0, n)
        self.direction = direction if n_ordered > 0 else 0
        axis = Axis(self.codes, n_bins, n_ordered, self.direction)
        self.curve = random_curves(axis, branches, rng).ravel()
        self.mu = np.exp(rng.normal(-4, 2, (2, 3)))
        w, p, m, r = self.weight, self.plus, self.minus, self.residual
        self.sums = np.zeros((n_bins, 8))
        places = {
            PLUS_PLUS: w * p * p,
            PLUS_R: w * p * r,
            MINUS_MINUS: w * m * m,
            PLUS_MINUS: w * p * m,
            MINUS_R: w * m * r,
        }
        for column, values in places.items():
            self.sums[:, column] = np.bincount(self.codes, values, minlength=n_bins)
        self.stride = 2 if self.free.all() else 1
        self.block = new_block(n_bins, self.stride)

    @property
    def free(self):
        """A lone product has no tilt that could move."""
        return np.array([True, bool(self.present.all())])

    @property
    def rows(self):
        """Where the bins of the curves that move stand in a block, between its margins."""
        return slice(2 * self.stride, -2 * self.stride)

    def interleaved(self, vector):
        return vector.reshape(2, self.n_bins)[: self.stride].T.ravel()

    def separated(self, vector):
        return vector.reshape(self.n_bins, self.stride).T.ravel()

    @property
    def system(self):
        return naive.block_system(
            self.codes, self.plus, self.minus, self.residual, self.weight, self.curve, self.mu,
            self.n_bins, self.n_ordered, self.energy,
        )  # fmt: skip

    def loss(self, step):
        _, S, _ = self.system
        return naive.block_objective(
            self.codes, self.plus, self.minus, self.residual, self.weight, self.curve, S, step,
            self.energy,
        )  # fmt: skip

    @property
    def strengths(self):
        return naive.curvatures(self.plus, self.minus, self.weight)

    def fill(self):
        curves = self.curve.reshape(2, self.n_bins)
        fill_curves(
            self.block, curves, self.mu, 0, self.n_bins, self.n_ordered, self.stride,
            self.strengths, self.free,
        )  # fmt: skip
        fill_system(self.block, self.sums, self.stride, self.energy, self.free)

    def visit(self, noise=(1.0, 1.0), rate=0.0, first=3):
        """One visit: the step taken, new penalties and the freedom; the factors are the step's.

        The curves stand somewhere in a model of several axes, which keep theirs.
        """
        curves = np.full((2, first + self.n_bins + 2), np.nan)
        here = slice(first, first + self.n_bins)
        curves[:, here] = self.curve.reshape(2, -1)
        mu, factors, sums = self.mu.copy(), np.full((2, self.n_bins), np.nan), self.sums.copy()
        freedom, reach = np.full(2, np.nan), np.zeros(2)
        place = np.array([[first, self.n_bins, self.n_ordered, self.direction]])
        scale, curvature = np.full((1, 2), np.nan), np.full((1, 2), np.nan)
        stages = SweptStages(
            np.zeros((1, 1), np.int64), np.zeros((1, 1), np.int64), scale, curvature, curves[None],
            mu[None, None], self.free[None, None], self.present[None], freedom[None, None],
            reach[None, None],
        )  # fmt: skip
        rules = SweepRules(self.energy, False, rate, ANY_STEP, 0.0)
        quiet = Noise(1.0, math.nan, math.nan)
        visit_axis(place, stages, 0, 0, sums, rules, quiet, np.array(noise), factors)
        assert np.isnan([scale, curvature]).all()  # the scale moves when a stage begins
        np.testing.assert_array_equal(sums, self.sums)
        assert np.isnan(np.delete(curves, np.r_[here], axis=1)).all()
        step = curves[:, here].ravel() - self.curve
        beta, delta = step.reshape(2, -1)
        np.testing.assert_allclose(factors, np.exp([beta + delta, beta - delta]), rtol=1e-9)
        axis = Axis(self.codes, self.n_bins, self.n_ordered)
        expected = reaches(axis, self.plus, self.minus, self.weight, curves[:, here])
        np.testing.assert_allclose(reach, expected, rtol=1e-8, atol=1e-10)
        return step, mu, freedom


def cases(branches=((True, True),), directions=(0,)):
    sizes = st.sampled_from([(2, 0), (3, 2), (6, 5), (5, 0), (23, 22), (21, 20)])
    return st.builds(
        lambda size, *given: Case(*size, *given),
        sizes,
        st.integers(0, 10**6),
        st.sampled_from([0.0, 0.05]),
        st.sampled_from(branches),
        st.sampled_from(directions),
    )


@given(cases())
def test_the_step_solves_the_dense_system(case):
    A, _, right = case.system
    expected = np.linalg.solve(A, right)
    case.fill()
    np.testing.assert_allclose(
        case.separated(case.block.step[case.rows]), right, rtol=1e-8, atol=1e-9
    )
    taken, mu, freedom = case.visit()
    np.testing.assert_array_equal(mu, case.mu)  # a rate of zero learns nothing
    assert np.isnan(freedom).all()  # nor does it touch what is known of the freedom
    shares = [0.5**k for k in range(8)]  # the whole step, or halved until the loss falls
    rest = case.loss(0.0 * expected)
    share = next((share for share in shares if case.loss(share * expected) <= rest), 0.0)
    np.testing.assert_allclose(taken, share * expected, rtol=1e-7, atol=1e-9)


@given(cases(((True, True), (True, False), (False, True))), st.floats(0.0, 1.0))
def test_the_objective_is_that_of_the_rows(case, share):
    case.fill()
    rng = np.random.default_rng(0)
    step = rng.normal(0, 0.5, 2 * case.n_bins) * np.repeat([1.0, case.present.all()], case.n_bins)
    case.block.step[case.rows] = case.interleaved(step)
    factors = np.empty((2, case.n_bins))
    given = case.block, case.sums, case.stride, case.energy, case.free
    change, size = loss_change(*given, share, factors)
    at_rest, slope, bend = penalty_change(case.block, case.stride)
    theirs = case.loss(share * step) - case.loss(0.0 * step)
    assert change + share * slope + share**2 * bend == pytest.approx(theirs, rel=1e-7, abs=1e-9)
    _, S, _ = case.system
    assert at_rest == pytest.approx(0.5 * case.curve @ S @ case.curve, rel=1e-9)
    sizes = np.sum(case.weight * (case.plus**2 + case.minus**2))
    assert size == pytest.approx(0.5 * case.energy * sizes, rel=1e-9)
    beta, delta = share * step.reshape(2, -1)
    np.testing.assert_allclose(factors, np.exp([beta + delta, beta - delta]), rtol=1e-13)
    assert loss_change(*given, 0.0, factors)[0] == 0.0
    assert (factors == 1.0).all()


@given(
    st.sampled_from([0.2, 0.25, 0.26, 3.0]).flatmap(lambda most: st.lists(st.floats(-most, most))),
    st.sampled_from([1.0, 0.5, 0.0]),
)
def test_powers_are_exponentials_of_a_share_of_the_step(steps, share):
    own = new_block(max(len(steps), 1), 1)
    own.step[2 : 2 + len(steps)] = steps
    own.step[2 + len(steps) :] = 0.0
    fill_powers(own, share)
    expected = np.exp(share * np.outer([1.0, -1.0], own.step))
    np.testing.assert_allclose(own.powers, expected, rtol=5e-16)


@given(cases(((True, True), (True, False), (False, True)), directions=(0, 1, -1)))
def test_a_step_never_raises_the_objective_and_keeps_constraints(case):
    step, _, _ = case.visit()
    assert case.loss(step) <= case.loss(0.0 * step) * (1 + 1e-10) + 1e-12
    if not case.present.all():
        assert (step[case.n_bins :] == 0).all()
    beta, delta = np.split(case.curve + step, 2)
    sides = zip((beta + delta, beta - delta), (1, -1), case.present, strict=True)
    for side, sign in [(side, sign) for side, sign, there in sides if there]:
        rises = np.diff(side[: case.n_ordered]) * sign * case.direction
        assert (rises >= -1e-12).all()


@given(cases(), st.sampled_from([1e-3, 0.3, 3.0]), st.sampled_from([0.5, 1.0]))
def test_learned_penalties_agree_with_dense_traces(case, noise, rate):
    A, S, _ = case.system
    step, mu, freedom = case.visit((noise, 2.0 * noise), rate)
    for side in range(2):
        expected, spent = naive.learned_penalties(
            A, S, case.curve + step, case.mu, side, case.strengths[side], (1 + side) * noise,
            case.n_bins, case.n_ordered, rate,
        )  # fmt: skip
        np.testing.assert_allclose(mu[side], expected, rtol=1e-7)
        assert freedom[side] == pytest.approx(spent, rel=1e-7)


@given(cases())
def test_a_flat_curve_among_little_noise_does_not_stiffen_without_end(case):
    A, S, _ = case.system
    case.fill()
    solve_both(case.block, True)
    flat = 1e-8 * case.curve
    case.block.curve[case.rows] = case.interleaved(flat)
    for side in range(2):
        mu = case.mu[side].copy()
        expected, freedom = naive.learned_penalties(
            A, S, flat, case.mu, side, case.strengths[side], 1e-12, case.n_bins, case.n_ordered
        )
        ours = learn_penalties(
            case.block, mu, start_of(side, 2), 2, case.strengths[side], 1e-12, 1.0, case.n_bins,
            case.n_ordered,
        )  # fmt: skip
        assert ours == pytest.approx(freedom, rel=1e-7)
        np.testing.assert_allclose(mu, expected, rtol=1e-7)


def visited_effect(place, step, sums, effects, mu, noise, rate):
    """One visit to a main effect by sums of rows that are elsewhere; the freedom it has then."""
    freedom, none = np.full(1, np.nan), np.zeros(1, np.int64)
    swept = SweptEffects(none, none.copy(), effects, mu[None], freedom)
    rules = SweepRules(0.0, False, rate, ANY_STEP, 0.0)
    visit_effect(place, swept, 0, sums, rules, Noise(noise, 1.0, math.nan), step)
    return freedom[0]


class EffectCase:
    """Rows, and the main effect of one axis: it keeps the constraint and is not flat."""

    def __init__(self, n_bins, n_ordered, seed, direction=0):
        rng = np.random.default_rng(seed)
        n = 4 * n_bins
        self.n_bins, self.n_ordered = n_bins, n_ordered
        self.direction = direction if n_ordered > 0 else 0
        self.codes = rng.integers(0, n_bins, size=n)
        self.residual, self.weight = 3.0 * rng.normal(size=n), rng.uniform(0.5, 2.0, n)
        self.curve = rng.normal(size=n_bins)
        if self.direction:
            ordered = np.sort(self.direction * self.curve[:n_ordered])
            self.curve[:n_ordered] = self.direction * ordered
        self.mu = np.exp(rng.normal(-4, 2, 3))
        self.mass = self.weight.sum()  # the curvature of the loss along a main effect
        self.S = naive.penalty(self.mu, self.mass, n_bins, n_ordered)

    @property
    def system(self):
        design = np.eye(self.n_bins)[self.codes]
        A = design.T @ (self.weight[:, None] * design) + self.S
        right = design.T @ (self.weight * self.residual) - self.S @ self.curve
        return A, right

    def loss(self, step):
        """Half the penalised loss after a step, from the rows."""
        end = self.curve + step
        left = self.residual - step[self.codes]
        return 0.5 * (np.sum(self.weight * left**2) + end @ self.S @ end)

    def visit(self, noise=1.0, rate=0.0, first=2):
        effects = np.full(first + self.n_bins + 1, np.nan)
        here = slice(first, first + self.n_bins)
        effects[here] = self.curve
        parts = (self.weight, self.weight * self.residual)
        sums = np.stack([np.bincount(self.codes, p, self.n_bins) for p in parts], axis=1)
        mu, step = self.mu.copy(), np.full(self.n_bins, np.nan)
        place = np.array([[first, self.n_bins, self.n_ordered, self.direction]])
        freedom = visited_effect(place, step, sums, effects, mu, noise, rate)
        assert np.isnan(np.delete(effects, np.r_[here])).all()
        np.testing.assert_allclose(effects[here], self.curve + step, atol=1e-12)
        return step, mu, freedom


def effect_cases(directions=(0,)):
    sizes = st.sampled_from([(2, 0), (3, 2), (6, 5), (5, 0), (23, 22), (21, 20), (20, 19)])
    given = st.integers(0, 10**6), st.sampled_from(directions)
    return st.builds(lambda size, *rest: EffectCase(*size, *rest), sizes, *given)


@given(effect_cases())
def test_a_main_effect_is_penalised_least_squares(case):
    step, mu, freedom = case.visit()
    np.testing.assert_allclose(step, np.linalg.solve(*case.system), rtol=1e-8, atol=1e-9)
    np.testing.assert_array_equal(mu, case.mu)  # a rate of zero learns nothing
    assert np.isnan(freedom)  # nor does it touch what is known of the freedom


@given(effect_cases((1, -1)))
def test_a_main_effect_keeps_its_constraint_and_never_raises_the_loss(case):
    step, _, _ = case.visit()
    rises = np.diff((case.curve + step)[: case.n_ordered]) * case.direction
    assert (rises >= -1e-12).all()
    assert case.loss(step) <= case.loss(0.0 * step) * (1 + 1e-10)
    A, right = case.system
    full = np.linalg.solve(A, right)
    if case.n_ordered > 0:
        part = slice(0, case.n_ordered)
        goal = case.direction * (case.curve + full)[part]
        full[part] = case.direction * isotonic(goal, np.diag(A)[part]) - case.curve[part]
    share = min(max(full @ right / (full @ A @ full), 0.0), 1.0)
    np.testing.assert_allclose(step, share * full, rtol=1e-7, atol=1e-9)


def best_monotone(case):
    """The curve of the smallest penalised loss under the constraint, by its increments."""
    A, right = case.system
    increments = np.eye(case.n_bins)
    part = slice(0, case.n_ordered)
    increments[part, part] = case.direction * np.tri(case.n_ordered)
    free = np.r_[0, case.n_ordered : case.n_bins]  # the first value, and bins without an order
    columns = np.hstack([increments, -increments[:, free]])
    root = np.linalg.cholesky(A)
    goal = np.linalg.solve(root, right + A @ case.curve)
    return columns @ nnls(root.T @ columns, goal, maxiter=10_000)[0]


@given(effect_cases((1, -1)))
def test_a_main_effect_stays_at_its_best_under_the_constraint(case):
    """There the unconstrained solution, made monotone, lies uphill: none of that step is taken."""
    best = best_monotone(case)
    case.residual = case.residual - (best - case.curve)[case.codes]
    case.curve = best
    step, _, _ = case.visit()
    np.testing.assert_allclose(step, 0.0, atol=1e-7)
    rises = np.diff((case.curve + step)[: case.n_ordered]) * case.direction
    assert (rises >= -1e-9).all()


@given(effect_cases((0, 1)), st.sampled_from([1e-3, 0.3, 3.0]), st.sampled_from([0.5, 1.0]))
def test_penalties_of_a_main_effect_agree_with_dense_traces(case, noise, rate):
    step, mu, freedom = case.visit(noise, rate)
    A, _ = case.system
    expected, spent = naive.learned_penalties(
        A, case.S, case.curve + step, [case.mu], 0, case.mass, noise, case.n_bins, case.n_ordered,
        rate,
    )  # fmt: skip
    np.testing.assert_allclose(mu, expected, rtol=1e-7)
    assert freedom == pytest.approx(spent, rel=1e-7)


def test_a_main_effect_without_rows_stays_where_nothing_pulls_it():
    effects, mu, step = np.zeros(6), np.full(3, 1e-3), np.empty(6)
    sums = np.zeros((6, 2))
    sums[1] = 2.0, 1.0  # all rows in one bin, among ordered ones
    visited_effect(np.array([[0, 6, 5, 0]]), step, sums, effects, mu, 1.0, 0.0)
    assert np.isfinite(step).all()
    assert step[5] == 0.0
    assert 0.0 < step[1] < 0.5
