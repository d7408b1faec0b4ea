"""Losses against their definitions, and the least-squares problems that stand for them."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import minimize_scalar

from seplearn.losses import LOSSES, Huber, LogLoss, SquaredError
from seplearn.losses.huber import weighted_median

pytestmark = pytest.mark.interpreted

EVERY = [SquaredError(), Huber(), Huber(0.5), Huber(3.0)]
GENERAL = st.sampled_from(EVERY)
SEEDS = st.integers(0, 10**6)


def rows(seed, n=40):
    """Target, prediction and weight; some errors are large, some zero."""
    rng = np.random.default_rng(seed)
    target, prediction = rng.standard_t(2.0, n), rng.normal(size=n)
    prediction[::7] = target[::7]
    return target, prediction, rng.uniform(0.2, 3.0, n)


def naive_loss(off, threshold):
    """Squared up to the threshold, then a straight line that goes on with the same slope."""
    off = abs(off)
    return off**2 if off <= threshold else threshold**2 + 2 * threshold * (off - threshold)


def naive_median(values, weight):
    """The smallest value with at least half of the weight at or below it."""
    half = sum(weight) / 2
    return min(v for v in values if sum(weight[values <= v]) >= half * (1 - 1e-12))


@given(GENERAL, SEEDS)
def test_the_loss_of_rows_is_as_defined(loss, seed):
    target, prediction, _ = rows(seed)
    pairs = zip(target, prediction, strict=True)
    expected = [naive_loss(y - p, loss.grid_threshold) for y, p in pairs]
    np.testing.assert_allclose(loss.of_rows(target, prediction), expected, rtol=1e-12)


@pytest.mark.parametrize("loss", EVERY, ids=repr)
def test_an_infinite_prediction_is_infinitely_wrong(loss):
    target = np.array([-1.0, 0.0, 2.0, 5.0])
    prediction = np.array([np.inf, -np.inf, 1e100, 5.0])
    found = loss.of_rows(target, prediction)
    assert found[:2].tolist() == [np.inf, np.inf]
    assert found[2] > 1e50
    assert found[3] == 0.0
    _, weight = loss.working(target, prediction, np.ones(4))
    assert not np.isnan(weight).any()


@given(GENERAL, SEEDS)
def test_the_working_problem_has_outcomes_that_are_no_farther_than_the_threshold(loss, seed):
    target, prediction, weight = rows(seed)
    response, working = loss.working(target, prediction, weight)
    assert working is weight  # nothing is copied that does not change
    if math.isinf(loss.grid_threshold):
        assert response is target
    off, most = target - prediction, loss.grid_threshold
    near = [p + max(-most, min(most, r)) for p, r in zip(prediction, off, strict=True)]
    np.testing.assert_allclose(response, near, rtol=1e-12)


@given(GENERAL, SEEDS)
def test_the_working_problem_touches_the_loss_from_above(loss, seed):
    """Whatever lowers it lowers the loss at least as much, and it has no other slope."""
    target, prediction, weight = rows(seed)
    response, working = loss.working(target, prediction, weight)
    rng = np.random.default_rng(seed)
    for size in (1e-6, 0.1, 1.0, 10.0):
        moved = prediction + size * rng.normal(size=len(target))
        gain = weight * (loss.of_rows(target, moved) - loss.of_rows(target, prediction))
        modelled = working * ((response - moved) ** 2 - (response - prediction) ** 2)
        assert (gain <= modelled + 1e-12 * (1 + np.abs(modelled))).all()
        if size == 1e-6:
            np.testing.assert_allclose(gain, modelled, atol=1e-9)


@given(SEEDS, st.sampled_from([1e-3, 1.0, 1e3]))
def test_hubers_threshold_comes_from_the_spread_around_the_median(seed, unit):
    residual, _, weight = rows(seed)
    residual = unit * (residual + 5.0)
    deviation = np.abs(residual - naive_median(residual, weight))
    expected = 1.345 * 1.4826 * naive_median(deviation, weight)
    suited = Huber().suited_to(residual, weight)
    assert suited.threshold == suited.grid_threshold == pytest.approx(expected, rel=1e-12)
    assert Huber(7.0).suited_to(residual, weight) == suited  # what it was before says nothing


def test_a_threshold_needs_a_spread():
    residual = np.array([2.0, 2.0, 2.0, 9.0, -1.0])
    assert Huber().suited_to(residual, np.ones(5)) == Huber(math.inf)
    heavy = np.array([1.0, 1.0, 1.0, 9.0, 9.0])
    assert Huber().suited_to(residual, heavy).threshold < math.inf


def test_squared_error_needs_nothing():
    target, prediction, weight = rows(0)
    loss = SquaredError()
    assert loss.suited_to(target - prediction, weight) is loss
    assert loss.constant(target, weight, 0.0 * target) == pytest.approx(
        np.sum(weight * target) / weight.sum()
    )


@given(SEEDS)
def test_hubers_constant_is_the_best_one(seed):
    target, _, weight = rows(seed)
    loss = Huber().suited_to(target, weight)

    def total(level):
        return np.sum(weight * loss.of_rows(target, np.full(len(target), level)))

    best = minimize_scalar(total, bounds=(target.min(), target.max()), method="bounded").fun
    assert total(Huber().constant(target, weight, 0.0 * target)) <= best * (1 + 1e-9)


def test_hubers_constant_without_spread_is_the_mean():
    target = np.array([0.0, 0.0, 0.0, 0.0, 10.0])
    assert Huber().constant(target, np.ones(5), np.zeros(5)) == pytest.approx(2.0)


@given(SEEDS)
def test_a_weighted_median_has_half_of_the_weight_on_each_side(seed):
    values, _, weight = rows(seed, n=1 + seed % 30)
    values = values.round(1)  # with ties
    assert weighted_median(values, weight) == naive_median(values, weight)
    whole = np.ceil(weight).astype(int)
    expanded = np.sort(np.repeat(values, whole))
    assert weighted_median(values, whole.astype(float)) == expanded[(len(expanded) - 1) // 2]


def test_a_problem_that_changes_is_learned_from_at_half_the_rate():
    assert {name: loss.rate for name, loss in LOSSES.items()} == {
        "squared_error": 1.0,
        "huber": 0.5,
        "poisson": 1.0,
        "gamma": 1.0,
        "tweedie": 1.0,
        "quantile": 0.5,
    }
    assert LogLoss().rate == 1.0
