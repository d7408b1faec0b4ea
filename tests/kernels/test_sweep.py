"""Sweeps against the oracle: the same scales, curves, penalties, freedom and rows."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from seplearn.kernels.arrays import JointState, SweepRules, SweepTable
from seplearn.kernels.sweep import fill_products, sweep
from tests import naive_sweep
from tests.naive_sweep import Axis, Fit, Rules, Stage
from tests.problems import random_curves

pytestmark = pytest.mark.interpreted

GO_ON = np.zeros(1, dtype=np.bool_)
BOTH, PLUS, MINUS = (True, True), (True, False), (False, True)
# (bins, of which ordered): levels, a missing bin, just enough bins for second differences, one
# fewer, a single ordered bin beside the missing one.
SIZES = ((4, 0), (6, 5), (21, 20), (20, 19), (2, 1))


def random_fit(
    seed,
    *,
    present=(BOTH, PLUS, MINUS),
    directions=(0, 1, 0, -1, 0),
    n=60,
    noise=0.4,
    log_mu=-5.0,
    freedom=2.0,
    size=1.0,
    scale=(-0.5, 0.0),
    scale_spread=0.2,
    **rules,
):
    """Stages on every kind of axis, and a target that lies ``noise`` from what they say.

    ``size`` multiplies their curves. The last ordered bin of one axis has no rows.
    """
    rng = np.random.default_rng(seed)
    axes = [
        Axis(rng.integers(0, bins - (j == 2), n), bins, ordered, direction)
        for j, ((bins, ordered), direction) in enumerate(zip(SIZES, directions, strict=True))
    ]
    stages = [
        Stage(
            [size * random_curves(axis, there, rng) for axis in axes],
            (np.array(scale) + scale_spread * rng.normal(size=2)) * [1.0, all(there)],
            there,
            [np.exp(log_mu + rng.normal(size=(2, 3))) for _ in axes],
            np.full(len(axes), freedom),
        )
        for there in present
    ]
    visits = rng.permutation(len(axes))[: 5 - seed % 2]
    fit = Fit(axes, list(visits), rng.uniform(0.5, 2.0, n), np.zeros(n), stages, Rules(**rules))
    fit.target = noise * rng.normal(size=n) - fit.residual
    return fit


def kernel_arguments(fit, dtype=np.uint8):
    """The fit in the arrays of the kernels; products and residual are theirs to fill."""
    n, sizes = len(fit.weight), [axis.n_bins for axis in fit.axes]
    table = SweepTable(
        codes=np.array([axis.codes for axis in fit.axes], dtype=dtype),
        offset=np.cumsum([0, *sizes]),
        n_ordered=np.array([axis.n_ordered for axis in fit.axes]),
        direction=np.array([axis.direction for axis in fit.axes]),
        visits=np.array(fit.visits),
        weight=fit.weight.copy(),
    )
    state = JointState(
        curves=np.array([np.concatenate(stage.curves, axis=1) for stage in fit.stages]),
        scales=np.array([stage.scale for stage in fit.stages]),
        present=np.array([stage.present for stage in fit.stages]),
        products=np.full((len(fit.stages), 2, n), np.nan),
        residual=fit.target - fit.intercept,
        intercept=np.array([fit.intercept]),
        penalties=np.array([stage.mu for stage in fit.stages]),
        freedom=np.array([stage.freedom for stage in fit.stages]),
    )
    for stage in range(len(fit.stages)):
        fill_products(table, state, stage)
    return table, state, SweepRules(**vars(fit.rules))


def close(found, expected, rtol=1e-8, atol=1e-10):
    np.testing.assert_allclose(found, expected, rtol=rtol, atol=atol)


def assert_same(state, fit, rtol=1e-8):
    """Rows are those of the oracle's curves, so rows and curves of the kernel belong together."""
    for k, stage in enumerate(fit.stages):
        close(state.scales[k], stage.scale, rtol)
        close(state.curves[k], np.concatenate(stage.curves, axis=1), rtol)
        close(state.products[k], fit.products(stage), rtol)
        close(state.penalties[k], np.array(stage.mu), max(rtol, 1e-7), atol=0.0)
        close(state.freedom[k], stage.freedom, max(rtol, 1e-7))
    close(state.residual, fit.residual, rtol, atol=1e-9)
    close(state.intercept[0], fit.intercept, rtol)


def assert_monotone(state, table):
    for (beta, delta), there in zip(state.curves, state.present, strict=True):
        for j, direction in enumerate(table.direction):
            part = slice(table.offset[j], table.offset[j] + table.n_ordered[j])
            for sign, present in zip((1, -1), there, strict=True):
                rises = np.diff((beta + sign * delta)[part]) * sign * direction
                assert (rises >= -1e-12).all() or not present


def check(fit, n_sweeps, dtype=np.uint8):
    table, state, rules = kernel_arguments(fit, dtype)
    close(state.residual, fit.residual)
    mean_square = sweep(table, state, rules, n_sweeps, GO_ON)
    expected = naive_sweep.sweep(fit, n_sweeps)
    assert mean_square == pytest.approx(expected, rel=1e-8)
    assert_same(state, fit)
    assert_monotone(state, table)


CASES = {
    "plain": {},
    "damped learning": {"rate": 0.5},
    "nothing learned": {"learns": False},
    "no intercept": {"fit_intercept": False},
    "no energy": {"energy": 0.0},
    "dear energy": {"energy": 3.0},
    "huber": {"kappa": 0.3},
    "large steps, halved": {"largest_step": 1e6, "noise": 4.0, "log_mu": -9.0},
    "large steps, constrained": {"largest_step": 5.0, "noise": 4.0, "directions": (0, -1, 1, 1, 1)},
    "small steps": {"largest_step": 0.01},
    "much freedom spent": {"freedom": 50.0},
    "equal products": {"size": 0.0, "scale_spread": 0.0, "present": (BOTH,)},
    "lopsided products": {"scale": (-0.5, 2.5), "present": (BOTH, BOTH), "size": 0.2, "noise": 0.7},
    "an idle stage": {"scale": (-30.0, 0.0), "present": (BOTH,)},
    "target far away": {"noise": 30.0},
    "mu at its lower bounds": {"noise": 1e-5, "log_mu": np.log(3e-9)},
    "mu at its upper bounds": {"noise": 30.0, "size": 0.0, "log_mu": np.log([5e2, 5e4, 5e6])},
}


@pytest.mark.parametrize("case", CASES.values(), ids=CASES.keys())
def test_a_sweep_is_that_of_the_oracle(case):
    for seed in range(4):
        check(random_fit(seed, **case), 1)


@pytest.mark.parametrize("name", ["plain", "huber", "damped learning", "no intercept"])
def test_several_sweeps_are_those_of_the_oracle(name):
    check(random_fit(7, **CASES[name]), 4, np.uint16)


@given(
    st.integers(0, 10**6),
    st.lists(st.sampled_from([BOTH, PLUS, MINUS]), min_size=1, max_size=3),
    st.tuples(st.just(0), *[st.sampled_from([-1, 0, 1])] * 4),
    st.fixed_dictionaries(
        {
            "energy": st.sampled_from([0.0, 0.02, 0.5]),
            "largest_step": st.sampled_from([0.2, 2.0]),
            "kappa": st.sampled_from([math.inf, 1.0]),
            "fit_intercept": st.booleans(),
            "learns": st.booleans(),
            "rate": st.sampled_from([0.5, 1.0]),
            "noise": st.sampled_from([0.1, 1.0, 5.0]),
            "n": st.sampled_from([15, 60]),
        }
    ),
)
@settings(max_examples=30)
def test_a_sweep_of_any_fit_is_that_of_the_oracle(seed, present, directions, case):
    check(random_fit(seed, present=present, directions=directions, **case), 1)


def test_a_stopped_sweep_moves_no_curve():
    table, state, rules = kernel_arguments(random_fit(0))
    before = state.curves.copy(), state.scales.copy(), state.penalties.copy()
    sweep(table, state, rules, 3, np.ones(1, dtype=np.bool_))
    for array, now in zip(before, (state.curves, state.scales, state.penalties), strict=True):
        np.testing.assert_array_equal(array, now)
