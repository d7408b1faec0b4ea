"""Curves that say nothing become flat: which ones, and that rows, curves and models stay one."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from seplearn.fitting.joint import fit as joint_fit
from seplearn.fitting.joint.prune import Pruning, fold, prune
from seplearn.model.stage import Stage
from seplearn.table import blocks
from tests import naive_sweep
from tests.fitting.small_fits import (
    AXES,
    DIRECTIONS,
    random_branch,
    small_data,
    split,
    started,
    twin,
)

pytestmark = pytest.mark.interpreted

LEAST = 0.5  # between the reaches that the tests give to curves
BOTH, PLUS, MINUS = (1.0, -1.0), (1.0,), (-1.0,)
FREE = (0, 0, 0, 0)


def stage_of(signs, rng):
    branches = {sign: random_branch(sign, rng) for sign in signs}
    return Stage(branches.get(1.0), branches.get(-1.0))


def fitted(seed, kinds=(BOTH, PLUS, MINUS, BOTH), directions=DIRECTIONS, main_effects=True):
    """A fit whose curves are centred, with random reaches: about half of them say nothing."""
    rng, data = np.random.default_rng(seed), small_data(80, seed=seed)
    fit = started(data, main_effects=main_effects, directions=directions)
    for signs in kinds:
        fit._append(stage_of(signs, rng), None)
    fit.refine(1, rate=1.0)
    for stage in fit.curves.stages:
        stage.reach[stage.active] = rng.uniform(0.0, 1.0, stage.active.sum())
    return fit, data


def keep(stage, *curves):
    """Let only these curves (feature, side) of a stage say something."""
    stage.reach[:] = 0.0
    for j, side in curves:
        stage.reach[j, side] = 1.0


def pruned(fit, data, folds=True, drops=True, least=LEAST):
    rules = Pruning(least, data.weight.sum(), folds, drops)
    return prune(fit._carrier, fit.curves, fit._axes, rules)


def assert_like(fit, data, oracle):
    """Curves are the oracle's, and rows are what they say."""
    assert len(fit.curves.stages) == len(oracle.stages)
    for k, (own, stage) in enumerate(zip(fit.curves.stages, oracle.stages, strict=True)):
        np.testing.assert_array_equal(own.curves, np.concatenate(stage.curves, axis=1))
        np.testing.assert_array_equal(own.scale, stage.scale)
        np.testing.assert_array_equal(own.active, stage.active)
        np.testing.assert_array_equal(own.freedom, stage.freedom)
        np.testing.assert_array_equal(own.reach, stage.reach)
        found = np.concatenate([block.products[k] for block in fit._carrier.blocks], axis=1)
        np.testing.assert_allclose(found, oracle.products(stage), rtol=1e-12)
    effects = fit.curves.effects
    theirs = np.concatenate(oracle.effects.values)
    np.testing.assert_allclose(effects.values, theirs, rtol=1e-12, atol=1e-13)
    np.testing.assert_array_equal(effects.active, oracle.effects.active)
    np.testing.assert_allclose(effects.freedom, oracle.effects.freedom, rtol=1e-12)
    assert fit.curves.intercept == pytest.approx(oracle.intercept, rel=1e-12, abs=1e-12)
    np.testing.assert_allclose(fit._residual, oracle.residual, atol=1e-12)
    said = fit.model().predict(data.codes)
    np.testing.assert_allclose(said, data.target - fit._residual, atol=1e-11)
    n_products = {len(block.products) for block in fit._carrier.blocks}
    assert n_products == {len(fit.curves.stages)}


@pytest.mark.parametrize("folds", [True, False])
@pytest.mark.parametrize("drops", [True, False])
@pytest.mark.parametrize("directions", [FREE, DIRECTIONS])
@pytest.mark.parametrize("block", [17, 1000])
def test_pruning_is_that_of_the_oracle(folds, drops, directions, block, monkeypatch):
    monkeypatch.setattr(blocks, "ROWS_PER_BLOCK", block)
    for seed in range(3):
        fit, data = fitted(seed, directions=directions)
        stages = fit.curves.stages
        keep(stages[0])  # a constant
        keep(stages[1], (1, 0))  # a feature of its own: levels
        keep(stages[3])
        keep(stages[4], (3, 0), (3, 1))
        oracle = twin(fit, data, directions=directions)
        before = fit.model().reading_size
        n_dropped = pruned(fit, data, folds, drops)
        naive_sweep.prune(oracle, LEAST, folds, drops)
        assert_like(fit, data, oracle)
        assert n_dropped == 2 * drops
        assert len(fit.curves.stages) == 6 - 2 * drops - 2 * folds
        assert 0 < fit.model().reading_size < before


@pytest.mark.parametrize("signs", [BOTH, PLUS, MINUS])
@pytest.mark.parametrize("j", [0, 1, 3])
def test_a_stage_of_one_feature_is_its_main_effect(signs, j):
    """The missing bin of one axis, the levels of another, and ordered bins: no row moves."""
    data = small_data(80)
    fit = started(data, directions=FREE)
    fit._append(stage_of(signs, np.random.default_rng(4)), None)
    fit.refine(1, rate=1.0)
    stage = fit.curves.stages[-1]
    idle = np.ones((len(AXES), 2), dtype=bool)
    idle[j] = False
    stage.flatten(idle, fit._axes)
    stage.scale[0] = 0.5  # large enough to see
    before, freedom, seen = fit.model(), stage.freedom.sum(), data.codes
    fit.curves.effects.penalties[j] = 1e3  # as of a main effect that had come to say nothing
    fold(fit.curves, fit.curves.stages.pop(), j, fit._axes)
    after, effects = fit.model(), fit.curves.effects
    assert len(after.stages) == len(before.stages) - 1
    np.testing.assert_allclose(after.predict(seen), before.predict(seen), rtol=1e-12, atol=1e-12)
    own = split(data, effects.values)[j]
    assert np.average(own[seen[:, j]], weights=data.weight) == pytest.approx(0.0, abs=1e-12)
    assert np.ptp(own) > 0.05
    assert (np.delete(effects.values, np.r_[data.bins.axis(j)]) == 0.0).all()
    assert effects.active.tolist() == [k == j for k in range(len(AXES))]
    assert effects.freedom[j] == freedom > 0.0
    np.testing.assert_array_equal(effects.penalties, effects.first_penalties)


def test_folding_adds_to_the_main_effect_that_is_there():
    fit, data = fitted(1, kinds=(PLUS,), directions=FREE)
    for stage in fit.curves.stages[:2]:
        keep(stage, (0, 0), (0, 1))
        stage.active[0, 1] = stage.present.all()
    before, freedom = fit.curves.effects.values.copy(), fit.curves.effects.freedom.copy()
    said = data.target - fit._residual
    oracle = twin(fit, data, directions=FREE)
    naive_sweep.prune(oracle, LEAST)
    pruned(fit, data)
    assert_like(fit, data, oracle)
    assert fit.curves.effects.freedom[0] > freedom[0]
    assert not np.array_equal(fit.curves.effects.values, before)
    assert not np.array_equal(data.target - fit._residual, said)  # flattened curves said something


def test_a_constant_stage_goes_to_the_intercept_and_no_row_moves():
    fit, data = fitted(2, directions=FREE)
    for stage in fit.curves.stages[:2]:
        stage.flatten(stage.active.copy(), fit._axes)
    fit.restore(fit.curves)
    for stage in fit.curves.stages[2:]:
        stage.reach[:] = 1.0
    fit.curves.effects.values[:] *= 100.0
    fit.restore(fit.curves)
    before, level = fit.model().predict(data.codes), fit.curves.intercept
    worth = sum(plus - minus for plus, minus in (s.lambdas for s in fit.curves.stages[:2]))
    assert pruned(fit, data) == 2
    np.testing.assert_allclose(fit.model().predict(data.codes), before, rtol=1e-12, atol=1e-12)
    assert fit.curves.intercept == pytest.approx(level + worth, rel=1e-12)
    assert len(fit.curves.stages) == 4


def test_main_effects_that_say_nothing_are_exactly_zero():
    fit, data = fitted(3, directions=FREE)
    for stage in fit.curves.stages:
        stage.reach[:] = 1.0
    effects = fit.curves.effects
    part = data.bins.axis(1)
    codes = data.codes[:, 1]
    square = np.sum(data.weight * effects.values[part][codes] ** 2)
    others = [
        np.sum(data.weight * values[data.codes[:, j]] ** 2)
        for j, values in enumerate(split(data, effects.values))
        if j in (0, 3)
    ]
    effects.values[part] *= 0.5 * np.sqrt(min(others) / square)  # a quarter of the least of them
    fit.restore(fit.curves)
    oracle = twin(fit, data, directions=FREE)
    least = 0.5 * min(others)
    pruned(fit, data, least=least)
    naive_sweep.prune(oracle, least)
    assert_like(fit, data, oracle)
    effects = fit.curves.effects
    assert effects.active.tolist() == [True, False, False, True]
    assert (effects.values[part] == 0.0).all()
    assert effects.freedom[1] == 0.0
    assert (fit.model().effects[part] == 0.0).all()


def test_a_model_all_of_whose_main_effects_are_flat_has_none():
    fit, data = fitted(3, directions=FREE)
    for stage in fit.curves.stages:
        stage.reach[:] = 1e9
    assert fit.model().effects is not None
    pruned(fit, data, least=1e8)
    assert len(fit.curves.stages) == 6
    assert fit.model().effects is None


@pytest.mark.parametrize("quiet", [(1,), (0,), (0, 1)])
def test_constraints_survive_pruning_and_folding(quiet):
    """Without its tilt a backbone would rise in one product and fall in the other."""
    for seed in range(4):
        fit, data = fitted(seed, kinds=(BOTH, PLUS))
        for stage in fit.curves.stages:
            stage.reach[stage.active] = 1.0
        first, _, third, fourth = fit.curves.stages
        third.scale[0] = fourth.scale[0] = 1.0  # their main effects are to be seen
        fit.restore(fit.curves)
        first, _, third, fourth = fit.curves.stages
        first.reach[np.ix_((0, 3), quiet)] = 0.1
        keep(third, (0, 0), (0, 1))
        keep(fourth, (3, 0))
        oracle = twin(fit, data)
        pruned(fit, data)
        naive_sweep.prune(oracle, LEAST)
        assert_like(fit, data, oracle)
        assert third not in fit.curves.stages
        assert fourth not in fit.curves.stages
        assert first.active[0].tolist() == [0 not in quiet, quiet != (0, 1)]
        model = fit.model()
        assert fit.curves.effects.active[0]
        for j in (0, 3):
            ordered = slice(data.bins.offset[j], data.bins.offset[j] + data.bins.n_ordered[j])
            assert (np.diff(model.effects[ordered]) * DIRECTIONS[j] >= 0).all()
            for branch in (branch for stage in model.stages for branch in stage.branches):
                rises = np.diff(branch.log_factors[ordered])
                assert (rises * DIRECTIONS[j] * branch.coefficient_sign >= 0).all()


def test_flat_curves_are_exactly_flat_in_the_model():
    fit, data = fitted(0, directions=FREE)
    keep(fit.curves.stages[0], (0, 0), (1, 1))
    pruned(fit, data)
    fit.refine(2, rate=1.0)
    plus, minus = (branch.log_factors for branch in fit.model().stages[0].branches)
    for j in range(len(AXES)):
        axis = data.bins.axis(j)
        beta, delta = 0.5 * (plus + minus)[axis], 0.5 * (plus - minus)[axis]
        assert (beta == 0.0).all() == (j != 0)
        assert (delta == 0.0).all() == (j != 1)


@pytest.mark.parametrize(
    ("given", "folds", "drops"),
    [
        ({"main_effects": True}, True, True),
        ({"main_effects": "auto"}, True, True),
        ({"main_effects": False}, False, True),
        ({"main_effects": "auto", "fit_intercept": False}, False, False),
        ({"main_effects": True, "fit_intercept": False}, True, False),
    ],
)
def test_a_fit_prunes_what_is_small_beside_its_noise(given, folds, drops):
    data = small_data(500)
    fit = started(data, directions=FREE, **given)
    fit.refine(1, rate=1.0)
    mass, freedom = data.weight.sum(), fit.curves.freedom
    assert freedom > 1.0
    noise = fit.mean_square * mass / (mass - freedom)
    assert fit.noise == pytest.approx(noise, rel=1e-12)
    expected = fit.mean_square * (mass / (mass - 1.4 * freedom)) ** 2
    assert fit.expected_error == pytest.approx(expected, rel=1e-12)
    share, first = 1e-3, fit.curves.stages[0]
    first.reach[:] = 2.0 * share * mass * noise
    first.reach[0, 0], first.reach[1, 1] = (share * mass * noise * k for k in (0.99, 1.01))
    keep(fit.curves.stages[1], (1, 0))
    fit.curves.stages[1].reach[1, 0] = 1e9
    oracle = twin(fit, data, directions=FREE)
    fit._prune(share)
    naive_sweep.prune(oracle, share * mass * noise, folds, drops)
    assert_like(fit, data, oracle)
    assert fit.curves.stages[0].active[:2].tolist() == [[False, True], [True, True]]
    assert len(fit.curves.stages) == 2 - folds
    keep(fit.curves.stages[0])
    assert fit._prune(share) == drops


def test_no_noise_is_left_where_all_freedom_is_spent():
    data = small_data(80)
    fit = started(data)
    fit.refine(1, rate=1.0)
    fit.curves.stages[0].freedom[:] = 1e6
    assert fit.noise == pytest.approx(2.0 * fit.mean_square)
    assert fit.expected_error == math.inf  # a small error there is no promise


@pytest.mark.parametrize(("loss", "per_half_square", "of_noise"), [
    (1.0, 2.0, 0.25), (1.0, 1.0, 0.5), (3.0, 1.0, 1.0), (9.0, 2.0, 1.0),
])  # fmt: skip
def test_what_may_be_lost_at_last_is_a_share_of_the_noise_or_of_a_smaller_loss(
    loss, per_half_square, of_noise, monkeypatch
):
    fit, data = fitted(5)
    fit.mean_square = 4.0
    asked = []
    monkeypatch.setattr(joint_fit, "prune", lambda *given: asked.append(given[-1].least) or 0)
    monkeypatch.setattr(type(fit._loss_now), "per_half_square", per_half_square)
    monkeypatch.setattr(joint_fit, "_QUIET_ROWS", 0.0)
    fit.prune_at_last(2, loss)
    monkeypatch.setattr(joint_fit, "_QUIET_ROWS", 3.0)
    fit.prune_at_last(2, loss)
    expected = [5e-4 * of_noise * data.weight.sum() * fit.noise, 3.0 * fit.noise]
    assert asked == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("loss", ["poisson", "squared_error"])
def test_the_loss_of_rare_events_decides_what_says_nothing(loss, monkeypatch):
    counts = np.random.default_rng(1).poisson(0.2, 80).astype(np.float64)
    data = replace(small_data(80, seed=1), target=counts)
    fit = started(data, loss=loss, main_effects=True)
    fit.refine(2, rate=1.0)
    asked = []
    monkeypatch.setattr(joint_fit, "prune", lambda *given: asked.append(given[-1].least) or 0)
    monkeypatch.setattr(joint_fit, "_QUIET_ROWS", 0.0)
    fit.prune_at_last()
    share = min(1.0, fit.loss / fit.mean_square)
    assert (share < 0.99) == (loss == "poisson")
    assert asked == pytest.approx([1e-3 * share * data.weight.sum() * fit.noise], rel=1e-9)
