"""Sweeps keep rows, curves and intercept together, and move downhill."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from seplearn.kernels.arrays import JointState, SweepRules, SweepTable
from seplearn.kernels.sweep import fill_products, scale_loss, scale_step, stage_moments, sweep

pytestmark = pytest.mark.interpreted

STOP = np.zeros(1, dtype=bool)


def random_fit(seed, n=40):
    """Two axes (the second with a missing bin and a constraint), a two-branch and a lone stage."""
    rng = np.random.default_rng(seed)
    sizes = np.array([4, 6])
    offset = np.array([0, 4, 10])
    codes = np.stack([rng.integers(0, size, n) for size in sizes]).astype(np.uint8)
    weight = rng.uniform(0.5, 2.0, n)
    table = SweepTable(
        codes, offset, np.array([0, 5]), np.array([0, 1]), np.array([1, 0]),
        weight,
    )  # fmt: skip
    present = np.array([[True, True], [[True, False], [False, True]][seed % 2]])
    curves = rng.normal(0, 0.3, (2, 2, 10))
    curves[:, :, 4:9] = 0.0  # the constrained axis starts flat
    curves[1, 1] = 0.0
    state = JointState(
        curves, rng.normal(-0.5, 0.2, (2, 2)), present, np.empty((2, 2, n)), rng.normal(size=n),
        np.zeros(1), np.exp(rng.normal(-5, 1, (2, 2, 2, 3))), np.full((2, 2), 2.0),
    )  # fmt: skip
    state.scales[1, 1] = 0.0
    target = state.residual.copy()
    for stage in range(2):
        fill_products(table, state, stage)
    return table, state, target


def prediction(table, state):
    total = np.full(table.codes.shape[1], state.intercept[0])
    for (beta, delta), (b0, d0), present in zip(
        state.curves, state.scales, state.present, strict=True
    ):
        for sign, there in ((1.0, present[0]), (-1.0, present[1])):
            logs = b0 + sign * d0
            for j, first in enumerate(table.offset[:-1]):
                logs = logs + (beta + sign * delta)[first + table.codes[j]]
            total += sign * there * np.exp(logs)
    return total


@given(st.integers(0, 10**6), st.sampled_from([math.inf, 0.8]), st.booleans())
@settings(max_examples=20)
def test_a_sweep_keeps_rows_and_curves_together(seed, kappa, learns):
    table, state, target = random_fit(seed)
    rules = SweepRules(0.05, 0.2, kappa, True, learns, 1.0)
    before = state.penalties.copy()
    mean_square = sweep(table, state, rules, 3, STOP)
    np.testing.assert_allclose(
        state.residual, target - prediction(table, state), rtol=1e-9, atol=1e-9
    )
    weight = table.weight * np.minimum(1.0, kappa / np.abs(state.residual))
    assert mean_square == pytest.approx(
        np.sum(weight * state.residual**2) / table.weight.sum(), rel=1e-9
    )
    assert learns != np.array_equal(before, state.penalties)
    assert (state.curves[1, 1] == 0).all()  # a lone product has no tilt
    beta, delta = state.curves[0][:, 4:9]
    assert (np.diff(beta + delta) >= -1e-12).all()
    assert (np.diff(beta - delta) <= 1e-12).all()


@given(st.integers(0, 10**6), st.sampled_from([0.0, 0.1]))
@settings(max_examples=20)
def test_the_scale_step_is_the_gauss_newton_step_and_its_loss_exact(seed, energy):
    table, state, _ = random_fit(seed)
    plus, minus = state.products[0]
    r, w = state.residual, table.weight
    uu, vv, uv, ru, rv, _, _ = stage_moments(state.products[0], r, w, math.inf)
    beta, delta = scale_step(uu, vv, uv, ru, rv, energy, state.present[0])
    u, v = plus - minus, plus + minus
    design = np.stack([u, v], axis=1)
    extra = energy * np.array(
        [[np.sum(w * (plus**2 + minus**2)), np.sum(w * (plus**2 - minus**2))]] * 2
    )
    extra[1] = extra[1, ::-1]
    matrix = design.T @ (w[:, None] * design) + 2 * extra + np.diag([1e-6 * np.sum(w * v * v), 0])
    expected = np.linalg.solve(matrix, design.T @ (w * r) - extra[0])
    np.testing.assert_allclose([beta, delta], np.clip(expected, -0.3, 0.3), rtol=1e-7, atol=1e-9)

    def loss(b, d):
        p, m = plus * math.exp(b + d), minus * math.exp(b - d)
        rows = (r - (p - plus) + (m - minus)) ** 2 + energy * (p**2 + m**2)
        return 0.5 * np.sum(w * rows)

    after = scale_loss(uu, vv, uv, ru, rv, energy, 0.2, -0.1)
    before = scale_loss(uu, vv, uv, ru, rv, energy, 0.0, 0.0)
    assert after - before == pytest.approx(loss(0.2, -0.1) - loss(0.0, 0.0), rel=1e-9)
