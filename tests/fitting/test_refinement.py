"""Joint refinement part by part, on tables small enough for dense algebra and the interpreter."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from scipy.optimize import nnls

from seplearn._workers import SerialWorkers
from seplearn.fitting.joint.fit import JointFit
from seplearn.fitting.joint.setup import (
    constant_model,
    energy_price,
    make_axes,
    starting_curves,
)
from seplearn.losses import LOSSES
from seplearn.model.stage import Stage
from seplearn.table import blocks
from seplearn.table.binning import CategoricalAxis
from tests import naive_sweep
from tests.fitting.small_fits import (
    AXES,
    CROWDED,
    DIRECTIONS,
    ROOMY,
    new_fit,
    options,
    random_branch,
    small_data,
    split,
    started,
    twin,
)
from tests.naive_sweep import centre

pytestmark = pytest.mark.interpreted


def huber_threshold(residual, weight):
    def median(values):
        order = np.argsort(values)
        below = np.cumsum(weight[order])
        return values[order][np.argmax(below >= below[-1] / 2)]

    return 1.345 * 1.4826 * median(np.abs(residual - median(residual)))


WAYS = {
    "default": ({}, lambda fit, data: {}),
    "damped": ({}, lambda fit, data: {"rate": 0.5}),
    "no intercept": (
        {"fit_intercept": False, "energy": 0.3},
        lambda fit, data: {
            "fit_intercept": False,
            "energy": 0.3 / np.average(data.target**2, weights=data.weight),
        },
    ),
    "fixed smoothness": ({"smoothness": 0.3}, lambda fit, data: {"learns": False}),
    "huber": (
        {"loss": "huber"},
        lambda fit, data: {"threshold": huber_threshold(fit._residual, data.weight)},
    ),
    "main effects": ({"main_effects": True}, lambda fit, data: {}),
}


@pytest.mark.parametrize("way", WAYS.values(), ids=WAYS.keys())
def test_refining_is_sweeping_and_centring(way):
    given, rules_of = way
    data = small_data()
    fit = started(data, **given)
    expected = {"energy": options(**given).energy, "largest_step": 0.2} | rules_of(fit, data)
    oracle = twin(fit, data, **expected)
    fit.refine(2, rate=expected.get("rate", 1.0))
    mean_square = naive_sweep.sweep(oracle, 2)
    centre(oracle)
    assert fit.mean_square == pytest.approx(mean_square, rel=1e-7)
    for k, stage in enumerate(oracle.stages):
        own = fit.curves.stages[k]
        found = split(data, own.curves)
        for ours, theirs in zip(found, stage.curves, strict=True):
            np.testing.assert_allclose(ours, theirs, rtol=1e-6, atol=1e-9)
        np.testing.assert_allclose(own.scale, stage.scale, rtol=1e-6, atol=1e-9)
        np.testing.assert_allclose(own.penalties, stage.mu, rtol=1e-6)
        np.testing.assert_allclose(own.reach, stage.reach, rtol=1e-6, atol=1e-12)
    own = fit.curves.effects
    theirs = np.concatenate(oracle.effects.values)
    np.testing.assert_allclose(own.values, theirs, rtol=1e-6, atol=1e-9)
    np.testing.assert_allclose(own.penalties, oracle.effects.mu, rtol=1e-6)
    assert (np.abs(own.values).sum() > 0.1) == ("main_effects" in given)
    predicted = oracle.eta
    np.testing.assert_allclose(fit.model().predict(data.codes), predicted, rtol=1e-7)


def nearest_monotone(branch, data):
    """The curves of a branch, brought to their constraints bin by bin."""
    parts = split(data, branch.log_factors.copy())
    for j, direction in enumerate(DIRECTIONS):
        ordered = slice(0, data.bins.n_ordered[j])
        sign, mass = direction * branch.coefficient_sign, data.bins.frequencies[data.bins.axis(j)]
        if direction:
            values = naive_sweep.isotonic(sign * parts[j][ordered], mass[ordered] + 1e-12)
            parts[j][ordered] = sign * values
    return parts


@pytest.mark.parametrize("signs", [(1.0, -1.0), (1.0,), (-1.0,)])
@pytest.mark.parametrize("level", [0.0, 3.0, -3.0])
def test_a_new_stage_has_monotone_curves_and_least_squares_scalars(signs, level):
    data, rng = small_data(level=level), np.random.default_rng(3)
    fit = started(data)
    left_over = fit._residual.copy()
    branches = {sign: random_branch(sign, rng) for sign in signs}
    fit._append(Stage(branches.get(1.0), branches.get(-1.0)), None)
    added, columns = fit.curves.stages[-1], []
    for sign, branch in branches.items():
        parts = nearest_monotone(branch, data)
        beta, delta = added.curves
        if len(signs) == 1:
            assert (delta == 0).all()
        np.testing.assert_allclose(beta + sign * delta, np.concatenate(parts), atol=1e-12)
        logs = sum(part[data.codes[:, j]] for j, part in enumerate(parts))
        columns.append(sign * np.exp(logs))
    root = np.sqrt(data.weight)
    scalars = nnls(root[:, None] * np.stack(columns, axis=1), root * left_over)[0]
    scalars = np.maximum(scalars, 1e-3)
    b0, d0 = added.scale
    np.testing.assert_allclose([np.exp(b0 + sign * d0) for sign in signs], scalars, rtol=1e-9)
    assert added.present.tolist() == [1.0 in signs, -1.0 in signs]
    wanted = dict(zip(signs, scalars, strict=True))
    np.testing.assert_allclose(added.lambdas, [wanted.get(sign, 0.0) for sign in (1.0, -1.0)])
    said = np.stack(columns, axis=1) @ scalars
    np.testing.assert_allclose(fit._residual, left_over - said, rtol=1e-9, atol=1e-12)
    assert (added.freedom == 0.0).all()  # nothing is learned yet
    varies = np.array([True, True, False, True])  # an axis on which all rows are alike stays flat
    np.testing.assert_array_equal(added.active, varies[:, None] & [True, len(signs) == 2])


def deviance(data, eta):
    """Of counts, weighted, up to what the counts themselves add to it."""
    return 2.0 * np.average(np.exp(eta) - data.target * eta, weights=data.weight)


@pytest.mark.parametrize("size", [0.1, 3.0, 8.0, 90.0])
@pytest.mark.parametrize("level", [-0.5, 0.0])
def test_of_a_step_that_is_worse_than_a_constant_a_half_is_taken_until_it_is_not(size, level):
    rng = np.random.default_rng(4)
    counts, offset = rng.poisson(0.8, 60).astype(np.float64), rng.normal(0.0, 0.5, 60)
    data = replace(small_data(60), target=counts, given_offset=offset)
    fit = new_fit(data, loss="poisson", main_effects=True)
    if level == 0.0:
        fit.refine(4, rate=1.0)  # better than a constant
    fit.curves.intercept += level  # or worse than the best one
    fit.restore(fit.curves)
    eta, step = fit._eta, np.where(np.arange(60) % 7 == 0, size, 0.0)
    constant = np.log(np.average(counts, weights=data.weight)
                      / np.average(np.exp(offset), weights=data.weight))  # fmt: skip
    most = max(deviance(data, eta), deviance(data, constant + offset))
    assert (most == deviance(data, eta)) == (level < 0.0)
    shares = 0.5 ** np.arange(31)
    expected = next(one for one in shares if deviance(data, eta + one * step) <= most)
    assert fit._share_to_take(step) == expected
    assert size == 3.0 or (expected == 1.0) == (size == 0.1)


def test_a_step_that_is_no_way_down_is_taken_whole():
    data = replace(small_data(60), target=np.ones(60))
    fit = new_fit(data, loss="poisson", main_effects=True)
    fit.curves.intercept += 1.0
    fit.restore(fit.curves)
    assert fit._share_to_take(np.ones(60)) == 1.0
    assert fit._share_to_take(-np.full(60, 3.0)) == 0.5


@pytest.mark.parametrize(("loss", "share"), [("poisson", 0.25), ("squared_error", 1.0)])
def test_new_products_have_the_share_that_is_no_worse_than_a_constant(loss, share, monkeypatch):
    target = np.random.default_rng(4).poisson(0.8, 60).astype(np.float64)
    data, rng = replace(small_data(60), target=target), np.random.default_rng(1)
    branches = random_branch(1.0, rng), random_branch(-1.0, rng)
    asked, found = [], []
    for given in (1.0, 0.25):
        monkeypatch.setattr(
            JointFit, "_share_to_take", lambda _, step, one=given: asked.append(step) or one
        )
        fit = new_fit(data, loss=loss, directions=(0, 0, 0, 0))
        fit._append(Stage(*branches), None)
        found.append(np.array(fit.curves.stages[0].lambdas))
    np.testing.assert_allclose(found[1], share * found[0], rtol=1e-12)
    columns = [branch.evaluate(data.codes, data.bins) for branch in branches]
    wanted = found[0][0] * columns[0] - found[0][1] * columns[1]
    assert len(asked) == (0 if loss == "squared_error" else 2)
    for step in asked:
        np.testing.assert_allclose(step, wanted, rtol=1e-9)


@pytest.mark.parametrize("n", [CROWDED, ROOMY])
def test_penalties_start_in_units_of_the_number_of_bins(n):
    data = small_data(n)
    fit = started(data)
    stiffness = max(1.0, 500 * len(AXES) / data.weight.sum()) ** 1.5
    assert (stiffness > 1.0) == (n == CROWDED)
    for stage in range(2):
        for j, axis in enumerate(AXES):
            size = 1e-2 if isinstance(axis, CategoricalAxis) else 1e-5
            wanted = [3e-4 * axis.n_bins / 255, size, 3e-5 * axis.n_bins / 255]
            for side in range(2):
                found = fit.curves.stages[stage].penalties[j, side]
                np.testing.assert_allclose(found, stiffness * np.array(wanted))


def level_and_excess(data):
    mean = np.average(data.target, weights=data.weight)
    return mean, np.average((data.target / mean - 1.0) ** 2, weights=data.weight)


def yes_or_no(data, restraint=1e-4):
    """Curvature of the log-loss at the mean, over its noise, which is nearly one there."""
    mean = np.clip(np.average(data.target, weights=data.weight), 0.01, 0.99)
    bend = mean * (1.0 - mean) + restraint
    slope = data.target - mean - restraint * np.log(mean / (1.0 - mean))
    return bend / np.average(slope**2 / bend, weights=data.weight) ** 0.5


@pytest.mark.parametrize("loss", ["log_loss", "poisson", "gamma"])
def test_penalties_of_a_loss_with_a_link_start_in_units_of_what_a_row_says(loss):
    """Counts have at least the noise of Poisson, amounts what is found, yes and no half of it."""
    plain, random = small_data(), np.random.default_rng(3)
    targets = {
        "log_loss": random.random(CROWDED) < 0.2,
        "poisson": random.integers(3, 5, CROWDED),
        "gamma": random.gamma(0.5, 4.0, CROWDED),
    }
    data = replace(plain, target=targets[loss].astype(float))
    mean, excess = level_and_excess(data)
    assert loss != "poisson" or mean * excess < 1.0
    said = {"log_loss": yes_or_no(data), "poisson": mean, "gamma": 1.0 / excess}
    first = new_fit(data, loss=loss).curves.effects.penalties
    usual = new_fit(plain).curves.effects.penalties
    np.testing.assert_allclose(first * said[loss], usual, rtol=1e-9)


@pytest.mark.parametrize("smoothness", [0.0, 0.7])
def test_a_fixed_smoothness_is_the_integral_of_the_squared_slope(smoothness):
    fit = started(small_data(), smoothness=smoothness)
    for j, axis in enumerate(AXES):
        # Relative to the sum of curvature over bins: mean curvature times (B / 255)^2.
        first = smoothness / axis.n_bins * (axis.n_bins / 255) ** 2
        for side in range(2):
            found = fit.curves.stages[0].penalties[j, side]
            np.testing.assert_allclose(found, [max(first, 1e-9), 1e-5, 1e-9])


@pytest.mark.parametrize("level", [0.0, 3.5, -3.5, 6.0, -6.0])
@pytest.mark.parametrize("fit_intercept", [True, False])
def test_a_fit_starts_at_zero_or_far_from_it_at_the_mean(level, fit_intercept):
    data = small_data(level=level)
    fit = new_fit(data, fit_intercept=fit_intercept)
    mean = np.average(data.target, weights=data.weight)
    expected = mean if abs(level) > 4 and fit_intercept else 0.0
    assert fit.curves.intercept == pytest.approx(expected)
    np.testing.assert_allclose(fit._residual, data.target - expected)
    given = options(fit_intercept=fit_intercept)
    with_effects = starting_curves(data, given, True, (0, 3))  # they come after the mean
    assert with_effects.intercept == pytest.approx(mean if fit_intercept else 0.0)
    assert with_effects.effects.active.tolist() == [True, False, False, True]
    without = starting_curves(data, given, False, (0, 3)).effects
    assert not without.active.any()
    assert not without.values.any()


def test_an_axis_without_anything_to_say_is_not_visited():
    data = small_data()
    hashes = np.array([7, 3, 1, 5], dtype=np.uint64)
    assert make_axes(data, options(), hashes).order == (1, 3, 0)
    alone = data.rows(np.zeros(5, dtype=np.int64))
    assert make_axes(alone, options(), hashes).order == (2,)


def test_the_price_of_energy_without_an_intercept_is_in_units_of_the_target():
    data = small_data(level=9.0)
    assert energy_price(data, options(energy=0.2)) == 0.2
    square = np.sum(data.weight * data.target**2) / data.weight.sum()
    given = options(energy=0.2, fit_intercept=False)
    assert energy_price(data, given) == pytest.approx(0.2 / square)


@pytest.mark.parametrize("main_effects", [False, True])
def test_cancellation_is_what_is_said_over_what_remains(main_effects):
    data = small_data()
    fit = started(data, main_effects=main_effects)
    fit.refine(1, rate=1.0)
    size = net = 0.0
    products = np.array([pair for block in fit._carrier.blocks for pair in block.products])
    effects = split(data, fit.curves.effects.values)
    for w, codes, row in zip(data.weight, data.codes, products.transpose(2, 0, 1), strict=True):
        said = [values[code] for values, code in zip(effects, codes, strict=True)]
        size += w * (sum(plus + minus for plus, minus in row) + sum(np.abs(said)))
        net += w * abs(sum(plus - minus for plus, minus in row) + sum(said))
    assert fit.cancellation == pytest.approx(size / net)
    assert new_fit(data).cancellation == 1.0


def arrays_of(fit):
    """Everything that a fit stands on, copied."""
    curves = fit.curves.copy()
    products = [pair for block in fit._carrier.blocks for pair in block.products]
    values = [value for part in (*curves.stages, curves.effects) for value in vars(part).values()]
    arrays = [value for value in values if value is not None]  # no bags were kept
    return [np.array(array) for array in (curves.intercept, fit._residual, *products, *arrays)]


@pytest.mark.parametrize("main_effects", [False, True])
def test_a_move_is_sweeps_with_other_weights_and_learns_nothing(main_effects):
    data = small_data()
    fit = started(data, main_effects=main_effects)
    fit.refine(1, rate=1.0)
    before = arrays_of(fit)
    weight = data.weight * np.random.default_rng(5).poisson(1.0, len(data.weight))
    oracle = twin(fit, data, energy=options().energy, learns=False, negligible=0.0)
    oracle.weight = weight
    move = fit.move(weight, 2)
    for array, now in zip(before, arrays_of(fit), strict=True):
        np.testing.assert_array_equal(array, now)
    naive_sweep.sweep(oracle, 2)
    oracle.weight = data.weight  # means are those of the table
    centre(oracle)
    for k, stage in enumerate(oracle.stages):
        own = fit.curves.stages[k]
        theirs = np.concatenate(stage.curves, axis=1)
        np.testing.assert_allclose(own.curves + move.curves[k], theirs, atol=1e-7)
        np.testing.assert_allclose(own.scale + move.scales[k], stage.scale, atol=1e-7)
    if main_effects:
        theirs = np.concatenate(oracle.effects.values)
        np.testing.assert_allclose(fit.curves.effects.values + move.effects, theirs, atol=1e-7)
    assert fit.curves.intercept + move.intercept == pytest.approx(oracle.intercept)
    oracle.weight = weight
    there = fit.moved(move, type(move)(*(0.0 * part for part in move))).predict(data.codes)
    np.testing.assert_allclose(there, data.target - oracle.residual, rtol=1e-6)
    back = fit.moved(move, move).predict(data.codes)
    np.testing.assert_allclose(back, fit.model().predict(data.codes), rtol=1e-12)


@pytest.mark.parametrize("main_effects", [False, True])
@pytest.mark.parametrize("block", [17, 1000])
def test_a_fit_goes_back_to_a_snapshot_and_its_rows_follow(main_effects, block, monkeypatch):
    monkeypatch.setattr(blocks, "ROWS_PER_BLOCK", block)
    data = small_data()
    fit = started(data, main_effects=main_effects)
    fit.refine(1, rate=1.0)
    before, snapshot = arrays_of(fit), fit.curves.copy()
    predicted = fit.model().predict(data.codes)
    rng = np.random.default_rng(2)
    fit._append(Stage(random_branch(1.0, rng), random_branch(-1.0, rng)), None)
    fit.refine(2, rate=1.0)
    assert np.abs(fit.model().predict(data.codes) - predicted).max() > 0.01
    for _ in range(2):  # going back must not spend the snapshot
        fit.restore(snapshot)
        for array, now in zip(before, arrays_of(fit), strict=True):
            np.testing.assert_allclose(now, array, rtol=1e-9, atol=1e-9)
        np.testing.assert_array_equal(fit.model().predict(data.codes), predicted)
        np.testing.assert_allclose(fit._residual, data.target - predicted, atol=1e-9)
        parts = [block.residual for block in fit._carrier.blocks]
        np.testing.assert_array_equal(np.concatenate(parts), fit._residual)
        fit.refine(1, rate=1.0)


def test_bags_go_back_with_their_stages():
    data = small_data()
    product = np.sin(data.codes[:, 0]) * (data.codes[:, 3] - 10.0)
    data = replace(data, target=product / product.std() + 0.3 * data.target)
    fit = new_fit(data, keep_bags=True, n_grids=2, n_splits=4, n_stages=200)
    snapshots = [fit.curves.copy()]
    for _ in range(2):
        fit.grow()
        snapshots.append(fit.curves.copy())
    assert len(fit.model().bags) == len(fit.model().stages) == 2
    first = fit.model().bags[0]
    fit.restore(snapshots[1])
    assert len(fit.model().stages) == 1
    assert fit.model().bags == (first,)


def test_main_effects_come_first_and_are_swept_before_any_stage():
    data = small_data(level=1.0)
    fit = new_fit(data, main_effects=True)
    mean = np.average(data.target, weights=data.weight)
    assert fit.curves.intercept == pytest.approx(mean)  # though it is near zero
    np.testing.assert_array_equal(fit.curves.effects.penalties, backbone_penalties(data))
    oracle = twin(fit, data, energy=options().energy)
    fit.begin()
    naive_sweep.sweep(oracle, 12)
    centre(oracle)
    oracle.rules = replace(oracle.rules, rate=0.5)
    mean_square = naive_sweep.sweep(oracle, 4)
    centre(oracle)
    mass, freedom = data.weight.sum(), oracle.effects.freedom.sum()
    naive_sweep.prune(oracle, 1e-5 * mass * mean_square * mass / (mass - freedom))
    # One feature is constant, and one says nothing.
    assert oracle.effects.active.tolist() == [True, True, False, False]
    np.testing.assert_array_equal(fit.curves.effects.active, oracle.effects.active)
    theirs = np.concatenate(oracle.effects.values)
    np.testing.assert_allclose(fit.curves.effects.values, theirs, rtol=1e-5, atol=1e-7)
    np.testing.assert_allclose(fit._residual, oracle.residual, atol=1e-6)
    model = fit.model()
    np.testing.assert_allclose(model.predict(data.codes), data.target - fit._residual, atol=1e-9)
    assert fit.curves.freedom == pytest.approx(oracle.effects.freedom.sum(), rel=1e-5)


def backbone_penalties(data):
    """What main effects start with: the penalties of a new stage's backbone."""
    return np.stack([mu[0] for mu in started(data).curves.stages[0].penalties])


def test_flattened_curves_are_not_visited_again():
    data = small_data()
    fit = started(data)
    fit.refine(1, rate=1.0)
    first, lone = fit.curves.stages
    idle = np.zeros((len(AXES), 2), dtype=bool)
    idle[0, 1] = idle[1] = True
    first.flatten(idle, fit._axes)
    part = data.bins.axis(1)
    assert (first.curves[:, part] == 0.0).all()
    assert (first.curves[1, data.bins.axis(0)] == 0.0).all()
    assert (first.curves[0, data.bins.axis(0)] != 0.0).any()
    for numbers in (first.freedom, first.reach):
        assert (numbers[[0, 1, 1], [1, 0, 1]] == 0.0).all()
        assert numbers[0, 0] > 0.0
    assert set(first.visits(fit._axes)) == {0, 3}
    assert set(lone.visits(fit._axes)) == {0, 1, 3}


def test_a_model_without_stages_is_the_best_constant():
    data = small_data(level=2.0)
    mean = np.average(data.target, weights=data.weight)
    assert constant_model(data, options()).intercept == pytest.approx(mean)
    assert constant_model(data, options(fit_intercept=False)).intercept == 0.0
    robust = constant_model(data, options(loss="huber")).intercept
    assert robust == LOSSES["huber"].constant(data.target, data.weight, data.offset) != mean


def test_rounding_is_taken_out_of_constrained_curves():
    data = small_data(ROOMY)  # every bin has rows: a gap would be bridged
    fit = started(data)
    part, falling = data.bins.axis(0), data.bins.axis(3)
    first, second = fit.curves.stages
    first.curves[0, part] = 0.0
    first.curves[1, part] = [0.1, 0.2, 0.2 - 1e-15, 0.3, 0.3, -1.0]
    second.curves[0, falling] = np.append(np.linspace(0.0, 1.0, 24), -2.0)
    second.curves[0, falling.start + 7] -= 0.05
    model = fit.model()
    plus, minus = (branch.log_factors for branch in model.stages[0].branches)
    np.testing.assert_array_equal(plus[part], [0.1, 0.2, 0.2, 0.3, 0.3, -1.0])
    np.testing.assert_array_equal(minus[part], -plus[part])
    lone = model.stages[1].minus.log_factors[falling]
    assert (np.diff(lone[:-1]) >= 0).all()
    assert lone[7] == lone[6] > 0.2
    assert lone[-1] == -2.0


class Recorded(JointFit):
    """A fit that only remembers how it was to be refined, and what was to be pruned."""

    calls: list[tuple[object, float]]
    n_dropped = 0

    def refine(self, n_sweeps, rate, rests=True):
        assert rests
        self.mean_square = 0.0
        self.__dict__.setdefault("calls", []).append((n_sweeps, rate))

    def _prune(self, share):
        self.calls.append(("prune", share))
        return self.n_dropped


def recorded(data, main_effects=False, **given):
    workers = SerialWorkers(np.zeros(1, dtype=bool))
    given = options(n_grids=1, n_splits=1, **given)
    return Recorded(data, given, np.random.SeedSequence(0), workers, main_effects)


WHILE_IT_GROWS, AT_LAST = ("prune", 1e-5), ("prune", 1e-3)


def many_rows():
    """The same data with weights of more than 5,000 rows, which are swept half as often."""
    data = small_data()
    return replace(data, weight=data.weight * 5_001.0 / data.weight.sum())


@pytest.mark.parametrize(
    ("given", "calls"),
    [
        ({"n_stages": 2}, [(12, 1.0), WHILE_IT_GROWS, (88, 0.5)]),
        ({"n_stages": 10}, [(12, 1.0), WHILE_IT_GROWS, (8, 0.5)]),
        ({"n_stages": 50}, [(12, 1.0), WHILE_IT_GROWS, (0, 0.5)]),
        ({"n_stages": 10, "loss": "huber"}, [(12, 0.5), WHILE_IT_GROWS, (8, 0.5)]),
    ],
)
def test_small_models_are_swept_longer_and_many_sweeps_are_damped(given, calls):
    fit = recorded(many_rows(), **given)
    record = fit.grow()
    assert fit.calls == calls
    assert record.n_grids == record.n_kept == 1
    assert record.freedom == 0.0  # nothing was swept
    assert record.cancellation == fit.cancellation
    assert len(record.scalars) == len(fit.curves.stages) == 1


def test_few_rows_are_swept_longer():
    fit = recorded(small_data(), n_stages=5)
    fit.grow()
    assert fit.calls == [(12, 1.0), (4, 0.5), WHILE_IT_GROWS, (24, 0.5)]


def test_many_stages_are_swept_half_as_long():
    fit = recorded(small_data(), n_stages=50)
    for _ in range(5):
        fit.calls = []
        assert fit.grow() is not None
        last, fit.calls = fit.calls, []
        expected = [(12, 1.0), (4, 0.5)] if len(fit.curves.stages) <= 4 else [(6, 1.0)]
        assert last == [*expected, WHILE_IT_GROWS, (0, 0.5)]
    assert len(fit.curves.stages) == 5


def test_a_fit_that_lost_a_stage_has_found_nothing():
    fit = recorded(small_data())
    fit.n_dropped = 1
    assert fit.grow() is None
    assert fit.calls == [(12, 1.0), (4, 0.5), WHILE_IT_GROWS]


def test_main_effects_are_refined_before_all_else():
    fit = recorded(small_data(), main_effects=True)
    fit.begin()
    assert fit.calls == [(12, 1.0), (4, 0.5), WHILE_IT_GROWS]
    without = recorded(small_data())
    without.begin()
    assert not hasattr(without, "calls")


def test_curves_of_some_rows_are_finished_on_all():
    data = small_data()
    part = started(data.rows(np.arange(30)), main_effects=True)
    part.refine(2, rate=1.0)
    snapshot = part.curves.copy()
    fit = recorded(data)
    fit.finish(snapshot)
    # A curve that moves less than the noise of one row says nothing in the end.
    assert fit.calls == [(12, 0.5), ("prune", 1.0 / data.weight.sum()), (6, 0.5)]
    many = recorded(many_rows())
    many.finish(snapshot)
    assert many.calls[1] == AT_LAST
    # Nothing was swept here: all rows are predicted by the curves of some.
    np.testing.assert_allclose(
        data.target - fit._residual, predictions(snapshot, data), rtol=1e-12, atol=1e-12
    )
    assert fit.curves is not snapshot
    fit.calls.clear()
    fit.settle()
    assert fit.calls == [("prune", 1.0 / data.weight.sum()), (6, 0.5)]


def predictions(curves, data):
    """What curves say of the rows of a table, one bin after the other."""
    said = np.full(len(data.target), curves.intercept)
    for j in range(len(AXES)):
        said += split(data, curves.effects.values)[j][data.codes[:, j]]
    for stage in curves.stages:
        for sign, scale in zip((1.0, -1.0), stage.lambdas, strict=True):
            logs = split(data, stage.curves[0] + sign * stage.curves[1])
            log = sum(part[data.codes[:, j]] for j, part in enumerate(logs))
            said += sign * scale * np.exp(log)
    return said


def test_the_newest_stage_is_told_as_it_was_before_anything_was_flattened():
    data = small_data()
    fit = new_fit(data, n_grids=1, n_splits=1, main_effects="auto")
    fit.grow()
    assert fit.newest is not None
    assert fit.newest.plus is not None
    assert len(fit.newest.branches) > 0
    codes = data.codes
    assert np.ptp(fit.newest.plus.evaluate(codes, data.bins)) > 0


def test_a_stage_that_finds_nothing_is_left_out_unless_it_is_all_there_is():
    data = small_data(level=3.0)
    idle = {"min_gain": math.inf, "n_grids": 2}
    assert new_fit(data, **idle).grow() is None
    without = new_fit(data, fit_intercept=False, **idle)
    assert without.grow() is not None
    assert without.grow() is None
    assert len(without.curves.stages) == 1
