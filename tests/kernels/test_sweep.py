"""Sweeps against the oracle: the same scales, curves, penalties, freedom and rows."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from seplearn._workers import SerialWorkers
from seplearn.fitting.carriers import LocalCarrier
from seplearn.fitting.joint import rows
from seplearn.fitting.joint.curves import Axes, Curves, Effects, StageCurves
from seplearn.fitting.joint.sweep import Rules as SweepRules
from seplearn.fitting.joint.sweep import sweep
from seplearn.losses import Huber, LogLoss, SquaredError
from seplearn.losses.power import Poisson
from seplearn.table import blocks
from seplearn.table.binning import Bins, CategoricalAxis, NumericAxis
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
    active=None,
    effects=None,
    offset=None,
    **rules,
):
    """Stages on every kind of axis, and a target that lies ``noise`` from what they say.

    Of yes and no, and of counts, it is the log-odds or the log of the mean that does. ``size``
    multiplies the curves, ``effects`` is the size of main effects, ``offset`` that of offsets. The
    last ordered bin of one axis has no rows.
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
            np.full((len(axes), 2), freedom / 2),
            np.array([[True, all(there)]] * len(axes)),
            np.zeros((len(axes), 2)),
        )
        for there in present
    ]
    if active is not None:
        for stage in stages:
            stage.active = stage.active & active
            for axis, curve, free in zip(axes, stage.curves, stage.active, strict=True):
                curve[~free] = 0.0
                if axis.direction and stage.has_tilt and not free[1]:
                    curve[:] = 0.0  # one backbone for a rising and a falling product
    visits = rng.permutation(len(axes))[: 5 - seed % 2]
    fit = Fit(axes, list(visits), rng.uniform(0.5, 2.0, n), np.zeros(n), stages, Rules(**rules))
    if effects is not None:
        curves = [effects * random_curves(axis, PLUS, rng)[0] for axis in axes]
        mu = np.exp(log_mu + rng.normal(size=(len(axes), 3)))
        moves = np.arange(len(axes)) != seed % 7  # one of them rests, in most fits
        fit.effects = naive_sweep.Effects(curves, moves, mu, np.full(len(axes), freedom))
    if offset is not None:
        fit.offset = offset * rng.normal(size=n)
    around = fit.eta + noise * rng.normal(size=n)
    if fit.rules.family == "logistic":
        fit.target = (rng.random(n) < 1.0 / (1.0 + np.exp(-around))).astype(float)
    elif fit.rules.family == "poisson":
        fit.target = rng.poisson(np.exp(np.minimum(around, 5.0))).astype(float)
    else:
        fit.target = around
    return fit


def table_axis(axis):
    """The axis of a table with as many bins, of which as many have an order."""
    if axis.n_ordered:
        return NumericAxis(np.arange(1.0, axis.n_ordered))
    return CategoricalAxis(tuple(f"level {k}" for k in range(axis.n_bins - 3)))


def refined(fit, dtype=np.uint8):
    """The fit as sweeps take it: rows, curves, features and rules."""
    bins = Bins(tuple(table_axis(axis) for axis in fit.axes), np.zeros(0))
    directions = np.array([axis.direction for axis in fit.axes])
    axes = Axes(bins, directions, tuple(int(j) for j in fit.visits))
    stages = [
        StageCurves(
            curves=np.concatenate(stage.curves, axis=1),
            scale=stage.scale.copy(),
            present=np.array(stage.present),
            active=np.array(stage.active),
            penalties=np.array(stage.mu),
            curvature=np.array(stage.curvature),
            freedom=stage.freedom.copy(),
            reach=stage.reach.copy(),
        )
        for stage in fit.stages
    ]
    codes = np.array([axis.codes for axis in fit.axes], dtype=dtype).T
    offset = np.zeros(len(fit.target)) + fit.offset
    blocks = rows.row_blocks(
        codes, fit.target, fit.weight, offset, fit.target - offset - fit.intercept
    )
    carrier = LocalCarrier(blocks, SerialWorkers(GO_ON))
    effects = no_effects(bins)
    if fit.effects is not None:
        own = fit.effects
        values = np.concatenate(own.values)
        mu = own.mu.copy()
        effects = Effects(values, own.active.copy(), mu, own.freedom.copy(), mu.copy())
    curves = Curves(fit.intercept, effects, stages)
    carrier.each(rows.predict_anew, axes.offset, curves.intercept, effects.values)
    for stage in stages:
        carrier.each(rows.add_stage, axes.offset, stage.curves, stage.scale, stage.present)
    given = dict(vars(fit.rules))
    threshold, learns = given.pop("threshold"), given.pop("learns")
    squares = SquaredError() if math.isinf(threshold) else Huber(threshold)
    logistic = LogLoss(given.pop("restraint"), given.pop("least_noise"))
    loss = {"logistic": logistic, "poisson": Poisson()}.get(given.pop("family"), squares)
    rules = SweepRules(loss=loss, **(given | {"rate": given["rate"] * learns}))
    return carrier, curves, axes, rules


def no_effects(bins):
    """Main effects of which none is there."""
    n = bins.n_axes
    idle = np.zeros(n, dtype=np.bool_)
    values, mu = np.zeros(int(bins.offset[-1])), np.ones((n, 3))
    return Effects(values, idle, mu, np.zeros(n), mu.copy())


def close(found, expected, rtol=1e-8, atol=1e-10):
    np.testing.assert_allclose(found, expected, rtol=rtol, atol=atol)


def assert_same(carrier, curves, fit, rtol=1e-8):
    """Rows are those of the oracle's curves, so rows and curves of the sweep belong together."""
    for k, (own, stage) in enumerate(zip(curves.stages, fit.stages, strict=True)):
        close(own.scale, stage.scale, rtol)
        close(own.curves, np.concatenate(stage.curves, axis=1), rtol)
        found = np.concatenate([block.products[k] for block in carrier.blocks], axis=1)
        close(found, fit.products(stage), rtol)
        close(own.penalties, np.array(stage.mu), max(rtol, 1e-7), atol=0.0)
        close(own.freedom, stage.freedom, max(rtol, 1e-7))
        close(own.reach, stage.reach, max(rtol, 1e-7))
    if fit.effects is not None:
        close(curves.effects.values, np.concatenate(fit.effects.values), rtol)
        close(curves.effects.penalties, fit.effects.mu, max(rtol, 1e-7), atol=0.0)
        close(curves.effects.freedom, fit.effects.freedom, max(rtol, 1e-7))
    residual = np.concatenate([block.residual for block in carrier.blocks])
    close(residual, fit.residual, rtol, atol=1e-9)
    close(curves.intercept, fit.intercept, rtol)


def assert_monotone(curves, axes):
    if curves.effects is not None:
        for first, n_ordered, direction in axes.places:
            rises = np.diff(curves.effects.values[first : first + n_ordered]) * direction
            assert (rises >= -1e-12).all()
    for stage in curves.stages:
        beta, delta = stage.curves
        for first, n_ordered, direction in axes.places:
            part = slice(first, first + n_ordered)
            for sign, present in zip((1, -1), stage.present, strict=True):
                rises = np.diff((beta + sign * delta)[part]) * sign * direction
                assert (rises >= -1e-12).all() or not present


def check(fit, n_sweeps, dtype=np.uint8):
    carrier, curves, axes, rules = refined(fit, dtype)
    close(np.concatenate([block.residual for block in carrier.blocks]), fit.residual)
    mean_square = sweep(carrier, curves, axes, rules, n_sweeps, GO_ON)
    expected = naive_sweep.sweep(fit, n_sweeps)
    assert mean_square == pytest.approx(expected, rel=1e-8)
    assert_same(carrier, curves, fit)
    assert_monotone(curves, axes)


CERTAIN = {"family": "logistic", "size": 0.3, "effects": 3.0, "noise": 0.1}
CASES: dict[str, Any] = {
    "plain": {},
    "damped learning": {"rate": 0.5},
    "nothing learned": {"learns": False},
    "no intercept": {"fit_intercept": False},
    "no energy": {"energy": 0.0},
    "dear energy": {"energy": 3.0},
    "huber": {"threshold": 0.3},
    "large steps, halved": {"largest_step": 1e6, "noise": 4.0, "log_mu": -9.0},
    "large steps, constrained": {"largest_step": 5.0, "noise": 4.0, "directions": (0, -1, 1, 1, 1)},
    "small steps": {"largest_step": 0.01},
    "much freedom spent": {"freedom": 50.0},
    "equal products": {"size": 0.0, "scale_spread": 0.0, "present": (BOTH,)},
    "lopsided products": {"scale": (-0.5, 2.5), "present": (BOTH, BOTH), "size": 0.2, "noise": 0.7},
    "an idle stage": {"scale": (-30.0, 0.0), "present": (BOTH,)},
    "target far away": {"noise": 30.0},
    "main effects": {"effects": 1.0},
    "main effects alone": {"effects": 1.0, "present": (), "noise": 2.0},
    "main effects, constrained": {"effects": 1.0, "noise": 4.0, "directions": (0, -1, 1, 1, 1)},
    "main effects, huber, damped": {"effects": 0.5, "threshold": 0.3, "rate": 0.5},
    "main effects, nothing learned": {"effects": 1.0, "learns": False},
    "mu at its lower bounds": {"noise": 1e-5, "log_mu": np.log(3e-9)},
    "mu at its upper bounds": {"noise": 30.0, "size": 0.0, "log_mu": np.log([5e2, 5e4, 5e6])},
    "offsets": {"offset": 2.0},
    "logistic": {"family": "logistic"},
    "logistic, main effects": {"family": "logistic", "effects": 1.0, "noise": 2.0},
    "logistic, far off": {"family": "logistic", "noise": 6.0, "log_mu": -9.0, "effects": 2.0},
    "logistic, certain": CERTAIN,
    "logistic, certain, no least": CERTAIN | {"least_noise": 0.0},
    "poisson": {"family": "poisson", "size": 0.5, "effects": 0.5},
    "poisson with offsets": {"family": "poisson", "size": 0.5, "offset": 1.0, "rate": 0.5},
    "poisson, far off": {"family": "poisson", "size": 0.5, "noise": 4.0, "effects": 1.0},
    "poisson, no intercept": {"family": "poisson", "size": 0.5, "fit_intercept": False},
}


@pytest.mark.parametrize("case", CASES.values(), ids=CASES.keys())
def test_a_sweep_is_that_of_the_oracle(case):
    for seed in range(4):
        check(random_fit(seed, **case), 1)


@pytest.mark.parametrize(
    "name",
    [
        "plain", "huber", "damped learning", "no intercept", "main effects", "logistic",
        "poisson with offsets", "poisson, far off",
    ],
)  # fmt: skip
def test_several_sweeps_are_those_of_the_oracle(name):
    check(random_fit(7, **CASES[name]), 4, np.uint16)


@pytest.mark.parametrize("dtype", [np.uint8, np.uint16])
@pytest.mark.parametrize(
    "case",
    [
        {"negligible": 0.5},
        {"negligible": 50.0, "size": 0.1},
        {"negligible": 0.5, "effects": 1.0, "present": ()},
        {"negligible": 0.5, "effects": 1.0, "family": "poisson", "size": 0.5},
    ],
)
def test_curves_that_hardly_move_rest_for_some_sweeps(case, dtype):
    for seed in range(4):
        fit = random_fit(seed, **case)
        n_visits = 9 * sum(stage.active[j].any() for stage in fit.stages for j in fit.visits)
        n_visits += 9 * sum(fit.effects.active[j] for j in fit.visits) if fit.effects else 0
        check(fit, 9, dtype)
        assert n_visits / 20 < fit.n_rested < n_visits


def test_a_tenth_of_the_noise_of_a_row_is_negligible():
    assert SweepRules(SquaredError(), 0.0).negligible == Rules().negligible == 0.1


@pytest.mark.parametrize("name", ["logistic, far off", "poisson, far off"])
def test_sweeps_that_go_too_far_are_among_those_of_the_oracle(name):
    fits = [random_fit(seed, **CASES[name]) for seed in range(4)]
    for fit in fits:
        naive_sweep.sweep(fit, 1)
    assert sum(fit.n_halved for fit in fits) >= 1
    if name.startswith("poisson"):
        assert sum(fit.n_constants_halved for fit in fits) >= 1


@given(st.integers(0, 10**6), st.sampled_from([None, 1.0]))
def test_penalties_are_those_of_the_oracle(seed, effects):
    """Its matrices have a little more on the size, which no comparison needs."""
    fit = random_fit(seed, effects=effects)
    strong = random_fit(seed, effects=effects, log_mu=2.0, size=0.5, scale=(0.5, 0.3))
    for stage in strong.stages:
        stage.curvature = (3.0, 7.0)
    for old, new in zip(fit.stages, strong.stages, strict=True):
        old.curvature = new.curvature
    strong.weights = np.full(60, 0.5)
    _, curves, axes, _ = refined(fit)
    _, others, _, _ = refined(strong)
    expected = naive_sweep.roughness(fit, strong)
    assert curves.penalty(axes, others, 30.0) == pytest.approx(expected, rel=1e-4)
    curves.move_halfway_to(others)
    ends = zip(fit.stages, strong.stages, strict=True)
    for stage, (one, other) in zip(curves.stages, ends, strict=True):
        close(stage.scale, (one.scale + other.scale) / 2)
        means = [(a + b) / 2 for a, b in zip(one.curves, other.curves, strict=True)]
        close(stage.curves, np.concatenate(means, axis=1))


@given(
    st.integers(0, 10**6),
    st.lists(st.sampled_from([BOTH, PLUS, MINUS]), min_size=1, max_size=3),
    st.tuples(st.just(0), *[st.sampled_from([-1, 0, 1])] * 4),
    st.fixed_dictionaries(
        {
            "energy": st.sampled_from([0.0, 0.02, 0.5]),
            "largest_step": st.sampled_from([0.2, 2.0]),
            "threshold": st.sampled_from([math.inf, 1.0]),
            "fit_intercept": st.booleans(),
            "learns": st.booleans(),
            "rate": st.sampled_from([0.5, 1.0]),
            "noise": st.sampled_from([0.1, 1.0, 5.0]),
            "n": st.sampled_from([15, 60]),
            "effects": st.sampled_from([None, 1.0]),
        }
    ),
)
@settings(max_examples=30)
def test_a_sweep_of_any_fit_is_that_of_the_oracle(seed, present, directions, case):
    check(random_fit(seed, present=present, directions=directions, **case), 1)


def moved(own, old):
    """Which arrays of a stage, or of the main effects, are not what they were."""
    return [name for name, was in vars(old).items() if not np.array_equal(vars(own)[name], was)]


def test_a_stopped_sweep_moves_no_curve():
    carrier, curves, axes, rules = refined(random_fit(0, effects=1.0))
    before = curves.copy()
    sweep(carrier, curves, axes, rules, 3, np.ones(1, dtype=np.bool_))
    pairs = zip(curves.stages, before.stages, strict=True)
    assert [moved(*pair) for pair in pairs] == [[]] * len(before.stages)
    assert moved(curves.effects, before.effects) == []


def test_a_sweep_that_is_stopped_on_its_way_ends_with_the_stage():
    stop = np.zeros(1, dtype=np.bool_)

    class Stopping(LocalCarrier):
        only_block = None  # rows are asked for one thing after the other

        def total(self, function, *arguments):
            stop[0] = function is rows.moments or stop[0]
            return super().total(function, *arguments)

    carrier, curves, axes, rules = refined(random_fit(0))
    before = curves.copy()
    sweep(Stopping(carrier.blocks, SerialWorkers(GO_ON)), curves, axes, rules, 3, stop)
    assert "curves" in moved(curves.stages[0], before.stages[0])
    for own, old in zip(curves.stages[1:], before.stages[1:], strict=True):
        assert moved(own, old) == []


def test_rows_in_blocks_are_the_same_rows(monkeypatch):
    monkeypatch.setattr(blocks, "ROWS_PER_BLOCK", 17)
    carrier, *_ = refined(random_fit(3))
    assert [len(block.weight) for block in carrier.blocks] == [17, 17, 17, 9]
    for name in ("plain", "huber", "main effects"):
        check(random_fit(3, **CASES[name]), 2)


FLAT_TILTS = np.array([[True, False]] * 5)
FLAT_BACKBONES = np.array([[False, True]] * 5)
SOME_AXES = np.array([[True, True], [False, False], [False, True], [True, False], [False, False]])


@pytest.mark.parametrize("active", [FLAT_TILTS, FLAT_BACKBONES, SOME_AXES])
@pytest.mark.parametrize("directions", [(0, 0, 0, 0, 0), (0, 1, -1, -1, 1)])
def test_flat_curves_stay_exactly_flat(active, directions):
    fit = random_fit(5, directions=directions, present=(BOTH, PLUS), active=active)
    carrier, curves, axes, rules = refined(fit)
    check(fit, 2)
    sweep(carrier, curves, axes, rules, 2, GO_ON)
    for stage in curves.stages:
        for j, side in zip(*np.nonzero(~stage.active), strict=True):
            assert (stage.curves[side, axes.bins.axis(j)] == 0.0).all()
