"""Sobol indices against all combinations of bins, Friedman's H against brute force."""

from dataclasses import replace

import numpy as np
import pytest

from seplearn import explain
from seplearn.model import Stage
from tests import naive_explain as naive
from tests.explained import (
    array,
    assert_close,
    every_case,
    hand_made,
    joint,
    levels,
    numeric,
    product,
    tilted,
    weighted_polars,
)


def frequencies_of(model):
    bins = model.bins
    return [bins.frequencies[bins.axis(j)] for j in range(bins.n_axes)]


def row_frequencies(codes, n_bins):
    return [np.bincount(codes[:, j], minlength=b) / len(codes) for j, b in enumerate(n_bins)]


@every_case
def test_sobol_indices_are_those_of_all_combinations(make):
    case = make()
    result = explain.interactions(case.subject)
    expected = naive.sobol(case.model.predict, frequencies_of(case.model))
    parts = (result.variance, result.main, result.total, result.pairwise)
    for found, wanted in zip(parts, expected, strict=True):
        assert_close(found, wanted, 1e-9)


def test_a_background_gives_other_frequencies():
    case = array()
    some, codes = case.X[:30], case.codes[:30]
    result = explain.interactions(case.subject, background=some)
    expected = naive.sobol(case.model.predict, row_frequencies(codes, case.n_bins))
    parts = (result.variance, result.main, result.total, result.pairwise)
    for found, wanted in zip(parts, expected, strict=True):
        assert_close(found, wanted, 1e-9)


@every_case
def test_parts_of_the_variance_are_parts(make):
    result = explain.interactions(make().subject)
    pairs = result.pairwise[np.triu_indices(len(result.main), 1)]
    assert (result.main >= -1e-12).all()
    assert (pairs >= -1e-12).all()
    assert result.main.sum() + pairs.sum() <= 1 + 1e-9
    assert (result.total >= result.main + result.pairwise.sum(axis=1) - 1e-9).all()
    np.testing.assert_array_equal(result.pairwise, result.pairwise.T)
    np.testing.assert_array_equal(np.diag(result.pairwise), 0.0)
    np.testing.assert_array_equal(np.diag(result.h), 0.0)


@every_case
def test_what_pairs_do_with_others_is_the_sum_of_all_their_parts(make):
    case = make()
    result = explain.interactions(case.subject)
    terms = naive.sobol_terms(case.model.predict, frequencies_of(case.model))
    expected = np.zeros_like(result.together)
    for chosen, value in terms.items():
        for j in chosen:
            for k in chosen:
                expected[j, k] += 0.0 if j == k else value
    assert_close(result.together, expected / (sum(terms.values()) or 1.0), 1e-9)
    assert (result.together >= result.pairwise - 1e-9).all()


def two_features():
    axes = [numeric(0.0, 1.0), levels("a", "b")]
    frequencies = [[0.2, 0.5, 0.3, 0.0], [0.6, 0.4, 0, 0, 0]]
    first = tilted([[1, 2, 3, 1], [1, 0.5, 1, 1, 1]], [[0.3, 0, -1, 0], [1, -1, 0, 0, 0]])
    return hand_made(axes, frequencies, [first, product([[1, -1, 4, 1], [2, 1, 1, 1, 1]])], 3.0)


def test_of_two_features_main_and_pair_are_everything():
    model = two_features()
    result = explain.interactions(model)
    values, weight = model.predict(model.reference.codes), model.reference.weight
    assert result.variance == pytest.approx(naive.variance(values, weight))
    assert result.main.sum() + result.pairwise[0, 1] == pytest.approx(1.0)
    np.testing.assert_allclose(result.total, result.main + result.pairwise[0, 1], rtol=1e-9)


def test_the_pure_interaction_of_two_signs():
    """f = x1 x2 with values of -1 and 1: no main effects, H and the pair are one."""
    axes, half = [numeric(0.0), numeric(0.0), numeric(0.0)], [0.5, 0.5, 0.0]
    sign = [-1.0, 1.0, 1.0]
    model = hand_made(axes, [half] * 3, [product([sign, sign, np.ones(3)])])
    result = explain.interactions(model)
    np.testing.assert_allclose(result.main, 0.0, atol=1e-12)
    np.testing.assert_allclose(result.total, [1.0, 1.0, 0.0], atol=1e-12)
    assert result.pairwise[0, 1] == pytest.approx(1.0)
    assert result.h[0, 1] == pytest.approx(1.0)
    np.testing.assert_allclose(result.h_total, [1.0, 1.0, 0.0], atol=1e-6)
    np.testing.assert_allclose(result.pairwise[2], 0.0, atol=1e-12)


def test_additive_features_do_not_interact():
    axes, half = [numeric(0.0), numeric(0.0)], [0.5, 0.5, 0.0]
    one, other = [1.0, 3.0, 1.0], [1.0, 2.0, 1.0]
    stages = [product([one, np.ones(3)]), product([np.ones(3), other], -2.0)]
    result = explain.interactions(hand_made(axes, [half, half], stages, 1.0))
    np.testing.assert_allclose(result.main, [0.5, 0.5], rtol=1e-12)
    np.testing.assert_allclose(result.total, result.main, rtol=1e-12)
    assert result.pairwise[0, 1] == pytest.approx(0.0, abs=1e-12)
    np.testing.assert_allclose(result.h, 0.0, atol=1e-7)
    np.testing.assert_allclose(result.h_total, 0.0, atol=1e-7)


@every_case
def test_friedman_h_is_that_of_brute_force_dependences(make):
    case = make()
    some, codes = case.X[:40], case.codes[:40]
    result = explain.interactions(case.subject, background=some)
    h, h_total = naive.friedman(case.model.predict, codes, np.full(40, 1 / 40))
    np.testing.assert_allclose(result.h, h, atol=1e-7)
    np.testing.assert_allclose(result.h_total, h_total, atol=1e-7)
    assert result.h.max() > 0.01


def test_friedman_h_uses_the_weights_of_the_reference_rows():
    case = weighted_polars()
    rows = case.model.reference
    result = explain.interactions(case.subject)
    heavy = np.argsort(-rows.weight)[:10]
    whole = [
        naive.dependence_at(case.model.predict, rows.codes[heavy], rows.codes, rows.weight, s)
        for s in ((0, 1), (0,), (1,))
    ]
    pair, first, second = (
        explain.partial_dependence(case.subject, s).total for s in ([0, 1], [0], [1])
    )
    at = rows.codes.T
    parts = [pair[at[0], at[1]], first[at[0]], second[at[1]]]
    for brute, part in zip(whole, parts, strict=True):
        assert_close(part[heavy], brute)
    pair, first, second = (part - rows.weight @ part for part in parts)
    expected = np.sqrt(rows.weight @ (pair - first - second) ** 2 / (rows.weight @ pair**2))
    assert result.h[0, 1] == pytest.approx(expected, rel=1e-9)


def test_a_feature_alone_interacts_with_nothing():
    model = hand_made([numeric(0.0)], [[0.5, 0.5, 0.0]], [product([[1, 3, 1]])])
    result = explain.interactions(model)
    np.testing.assert_allclose([result.main[0], result.total[0], result.variance], 1.0)
    np.testing.assert_allclose(result.h_total, 0.0, atol=1e-7)
    assert result.pairwise.shape == (1, 1)


def test_tiny_signed_factors_stay_numbers():
    """Two factors may both be the smallest float that stands for zero: their product is zero."""
    tiny = np.finfo(float).tiny
    axes, half = [numeric(0.0)] * 3, [0.5, 0.5, 0.0]
    factors = [[tiny, -1.0, 1.0], [tiny, 1.0, 1.0], [1.0, 2.0, 1.0]]
    result = explain.interactions(hand_made(axes, [half] * 3, [product(factors)]))
    for part in (result.h, result.h_total, result.main, result.pairwise):
        assert np.isfinite(part).all()


@pytest.mark.parametrize("j", range(5))
def test_a_flat_feature_has_exactly_no_part_in_the_variance(j):
    model = joint().model

    def flattened(branch):
        logs = branch.log_factors.copy()
        logs[model.bins.axis(j)] = 0.0
        return replace(branch, log_factors=logs)

    stages = tuple(Stage(flattened(s.plus), flattened(s.minus)) for s in model.stages)
    result = explain.interactions(replace(model, stages=stages))
    assert result.total[j] == result.main[j] == 0.0
    np.testing.assert_array_equal(result.pairwise[j], 0.0)
    assert result.total.sum() > 0.9
