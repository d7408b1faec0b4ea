"""The block update and the learning of penalties against dense algebra on the rows."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from seplearn.kernels.arrays import SweepRules
from seplearn.kernels.block import (
    fill_penalty,
    fill_system,
    learn_penalties,
    new_block,
    objective,
    objective_at_rest,
    update_block,
)
from tests import naive

pytestmark = pytest.mark.interpreted

RULES = SweepRules(0.0, 1e6, math.inf, True, True, 1.0)


class Case:
    """Rows of one stage on one axis, and a block filled from them."""

    def __init__(self, n_bins, n_ordered, seed, energy=0.0, branches=(True, True)):
        rng = np.random.default_rng(seed)
        n = 4 * n_bins
        self.n_bins, self.n_ordered, self.energy = n_bins, n_ordered, energy
        self.present = np.array(branches)
        self.codes = rng.integers(0, n_bins, size=n)
        self.plus = np.exp(rng.normal(size=n)) * branches[0]
        self.minus = np.exp(rng.normal(size=n)) * branches[1]
        self.residual, self.weight = rng.normal(size=n), rng.uniform(0.5, 2.0, n)
        self.curve = rng.normal(0, 0.3, 2 * n_bins) * np.repeat([1.0, all(branches)], n_bins)
        self.mu = np.exp(rng.normal(-4, 2, (2, 3)))
        self.block = new_block(n_bins)
        w, p, m, r = self.weight, self.plus, self.minus, self.residual
        for c, values in enumerate((w * p * p, w * p * r, w * m * m, w * p * m, w * m * r)):
            self.block.sums[:, c] = np.bincount(self.codes, values, minlength=n_bins)
        self.block.energy[0] = energy * self.block.sums[:, 0]
        self.block.energy[1] = energy * self.block.sums[:, 2]
        self.block.curve[:] = self.interleaved(self.curve)

    def interleaved(self, vector):
        return vector.reshape(2, self.n_bins).T.ravel()

    def separated(self, vector):
        return vector.reshape(self.n_bins, 2).T.ravel()

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

    def fill(self):
        for side, curvature in enumerate(naive.curvatures(self.plus, self.minus, self.weight)):
            fill_penalty(self.block.penalty, self.mu, side, curvature, self.n_bins, self.n_ordered)
        fill_system(self.block, self.n_bins, self.present)


def cases(branches=((True, True),)):
    sizes = st.sampled_from([(2, 0), (3, 2), (6, 5), (5, 0), (23, 22), (21, 20)])
    return st.builds(
        lambda size, seed, energy, there: Case(size[0], size[1], seed, energy, there),
        sizes,
        st.integers(0, 10**6),
        st.sampled_from([0.0, 0.05]),
        st.sampled_from(branches),
    )


@given(cases())
def test_the_step_solves_the_dense_system(case):
    A, _, right = case.system
    expected = np.linalg.solve(A, right)
    mu = case.mu.copy()
    case.fill()
    np.testing.assert_allclose(case.separated(case.block.step), right, rtol=1e-8, atol=1e-9)
    before = case.block.curve.copy()
    update_block(case.block, mu, case.n_bins, case.n_ordered, 0, case.present, RULES)
    taken = case.separated(case.block.curve - before)
    shares = taken / expected  # the whole step, or halved until the loss falls
    np.testing.assert_allclose(shares, shares[0], rtol=1e-5)
    assert any(math.isclose(shares[0], 0.5**k, rel_tol=1e-5) for k in range(9)) or shares[0] == 0


@given(cases(((True, True), (True, False), (False, True))), st.floats(0.0, 1.0))
def test_the_objective_is_that_of_the_rows(case, share):
    case.fill()
    rng = np.random.default_rng(0)
    step = rng.normal(0, 0.5, 2 * case.n_bins) * np.repeat([1.0, case.present.all()], case.n_bins)
    case.block.step[:] = case.interleaved(step)
    rest = objective_at_rest(case.block, case.n_bins)
    assert (case.block.factors == 1.0).all()
    assert rest == pytest.approx(objective(case.block, case.n_bins, 0.0), rel=1e-12)
    ours = objective(case.block, case.n_bins, share) - rest
    theirs = case.loss(share * step) - case.loss(0.0 * step)
    assert ours == pytest.approx(theirs, rel=1e-7, abs=1e-9)


@given(cases(((True, True), (True, False), (False, True))), st.sampled_from([0, 1, -1]))
def test_a_step_never_raises_the_objective_and_keeps_constraints(case, direction):
    if direction != 0:  # constraints hold before a step
        ordered = np.sort(case.curve[: case.n_ordered]) * 0.0
        case.curve[: case.n_ordered] = ordered
        case.curve[case.n_bins : case.n_bins + case.n_ordered] = ordered
        case.block.curve[:] = case.interleaved(case.curve)
    before = case.curve.copy()
    update_block(
        case.block, case.mu.copy(), case.n_bins, case.n_ordered, direction, case.present, RULES
    )
    step = case.separated(case.block.curve) - before
    assert case.loss(step) <= case.loss(0.0 * step) * (1 + 1e-10) + 1e-12
    if not case.present.all():
        assert (step[case.n_bins :] == 0).all()
    beta, delta = np.split(before + step, 2)
    sides = zip((beta + delta, beta - delta), (1, -1), case.present, strict=True)
    for side, sign in [(side, sign) for side, sign, there in sides if there]:
        rises = np.diff(side[: case.n_ordered]) * sign * direction
        assert (rises >= -1e-12).all()


@given(cases(), st.floats(0.1, 3.0))
def test_learned_penalties_agree_with_dense_traces(case, noise):
    A, S, _ = case.system
    strengths = naive.curvatures(case.plus, case.minus, case.weight)
    mu = case.mu.copy()
    update_block(case.block, mu, case.n_bins, case.n_ordered, 0, case.present, RULES)
    curve = case.separated(case.block.curve)
    for side in range(2):
        expected, freedom = naive.learned_penalties(
            A, S, curve, case.mu, side, strengths[side], noise, case.n_bins, case.n_ordered
        )
        ours = learn_penalties(
            case.block, mu, side, strengths[side], noise, 1.0, case.n_bins, case.n_ordered
        )
        assert ours == pytest.approx(freedom, rel=1e-5, abs=1e-6)
        np.testing.assert_allclose(mu[side], expected, rtol=1e-4)
