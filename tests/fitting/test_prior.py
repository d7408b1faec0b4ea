"""Curves drawn from what their smoothness says of them."""

import numpy as np
import pandas as pd
import pytest

from seplearn import TSLClassifier, TSLRegressor, explain
from seplearn.fitting.joint.prior import Strength, _root
from seplearn.kernels.block import HOLD
from tests.fitting.small_fits import small_data, started


def dense_penalty(mu, n_bins, n_ordered):
    first = np.diff(np.eye(n_bins)[:n_ordered], axis=0)
    matrix = mu[0] * first.T @ first + (mu[1] + HOLD / n_bins) * np.eye(n_bins)
    if n_ordered >= 20:
        second = np.diff(first, axis=0)
        matrix += mu[2] * second.T @ second
    return matrix


def test_a_draw_has_the_covariance_that_penalties_say():
    fit = started(small_data())
    axes = fit._axes
    mu, strength = np.array([0.3, 0.01, 2.0]), Strength(50.0, 0.4)
    for j, n_bins in enumerate(axes.n_bins):
        root = _root(mu, strength, axes, j)
        upper = sum(np.diag(root[2 - k, k:], k) for k in range(min(3, n_bins)))
        wanted = dense_penalty(mu, n_bins, int(axes.bins.n_ordered[j])) * 50.0 / 0.4
        np.testing.assert_allclose(upper.T @ upper, wanted, rtol=1e-9, atol=1e-9)


def test_rows_see_curves_and_anchor_and_penalties_see_the_difference():
    data = small_data()
    fit = started(data, main_effects=True)
    fit.refine(2, rate=1.0)
    before = fit.model().predict(data.codes)
    anchor = fit.prior.draw(np.uint64(7), fit._axes)
    assert np.abs(anchor.stages).max() > 0.0
    frequencies = data.bins.frequencies
    assert not anchor.stages[:, :, frequencies == 0.0].any()  # of these nothing is known
    leaning = fit.reweighted(data.weight, fit.prior, np.uint64(7))
    np.testing.assert_array_equal(
        leaning.curves.stages[0].curves, fit.curves.stages[0].curves - anchor.stages[0]
    )
    leaning.restore(leaning.curves)
    np.testing.assert_allclose(leaning.sums, before, atol=1e-9)
    still = fit.move(data.weight, 0, fit.prior, np.uint64(7))
    np.testing.assert_allclose(still.curves, 0.0, atol=1e-9)


def test_bands_of_a_sum_are_those_of_its_posterior():
    """Of curves that are added, penalised and with normal noise the posterior is known."""
    random = np.random.default_rng(0)
    level = np.arange(600) % 60
    y = 0.4 * random.normal(size=60)[level] + random.normal(size=600)
    X = pd.DataFrame({"level": level.astype(str)})
    model = TSLRegressor(
        1, main_effects=True, n_bootstrap=100, random_state=0, early_stopping=False
    ).fit(X, y)
    assert model.model_.effects is not None
    found = np.std([one.effects for one in model.model_.replicates], axis=0)[:60]
    counts = model.model_.bins.frequencies[:60] * 600
    residual = y - model.predict(X)
    noise = np.mean(residual**2)
    prior = model.model_.penalties.effects[0, 1] + HOLD / len(model.model_.bins.frequencies)
    posterior = np.sqrt(noise / (counts + prior * 600))
    alone = np.sqrt(noise * counts) / (counts + prior * 600)
    assert np.median(found / posterior) == pytest.approx(1.0, abs=0.1)
    assert np.median(found / alone) > 1.15  # what the rows alone would give is clearly less


def test_a_given_smoothness_is_no_prior_and_constraints_hold():
    assert started(small_data(), smoothness=0.5).prior is None
    X = np.random.default_rng(0).uniform(size=(200, 2))
    y = 3.0 * X[:, 0] + X[:, 1] + np.random.default_rng(1).normal(size=200)
    model = TSLRegressor(
        1, monotonic_cst=[1, 0], n_bootstrap=5, early_stopping=False, random_state=0
    ).fit(X, y)
    grid = np.column_stack([np.linspace(0, 1, 200), np.full(200, 0.5)])
    for replicate in model.model_.replicates:
        one = explain.partial_dependence(replicate, 0, background=grid).total
        assert (np.diff(one[:-1]) >= -1e-9).all()  # the last is that of missing values


def test_classes_lean_each_its_own_way():
    random = np.random.default_rng(0)
    X = random.normal(size=(150, 1))
    y = np.digitize(X[:, 0] + random.normal(size=150), [-0.5, 0.5])
    model = TSLClassifier(
        1, main_effects=True, n_bootstrap=3, early_stopping=False, random_state=0
    ).fit(X, y)
    sums = [
        np.array([replicate.effects for replicate in one.replicates]) - one.effects
        for one in model.model_.models
        if one.effects is not None
    ]
    assert len(sums) > 1
    assert abs(np.corrcoef(sums[0].ravel(), sums[1].ravel())[0, 1]) < 0.95
