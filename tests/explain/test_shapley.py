"""Shapley values against all coalitions of features."""

import numpy as np
import pytest

from seplearn import explain
from tests import naive_explain as naive
from tests.explained import (
    assert_close,
    every_case,
    hand_made,
    joint,
    levels,
    numeric,
    product,
    single,
    tilted,
    weighted_polars,
)


@every_case
def test_values_are_those_of_all_coalitions(make):
    case = make()
    background = case.X[100:160]
    result = explain.shapley(case.subject, case.X[:8], background=background)
    weight = np.full(60, 1 / 60)
    expected = [
        naive.shapley(case.model.predict, row, case.codes[100:160], weight)
        for row in case.codes[:8]
    ]
    assert_close(result.values, expected, 1e-9)
    mean = case.predict(background).mean()
    assert result.base == pytest.approx(mean, rel=1e-9)


@pytest.mark.parametrize("make", [joint, single, weighted_polars])
def test_by_default_the_background_is_the_reference_with_its_weights(make):
    case = make()
    rows = case.model.reference
    result = explain.shapley(case.subject, case.X[:3])
    expected = [
        naive.shapley(case.model.predict, row, rows.codes, rows.weight) for row in case.codes[:3]
    ]
    assert_close(result.values, expected, 1e-9)
    mean = np.sum(rows.weight * case.model.predict(rows.codes))
    assert result.base == pytest.approx(mean, rel=1e-9)


@every_case
def test_values_sum_to_the_prediction(make):
    case = make()
    result = explain.shapley(case.subject, case.X, background=case.X[:50])
    predictions = case.predict(case.X)
    assert_close(result.predictions, predictions)
    assert_close(result.base + result.values.sum(axis=1), predictions, 1e-9)


@pytest.mark.parametrize("make", [joint, single])
def test_threads_do_not_change_a_bit(make):
    case = make()
    rows = case.X.sample(700, replace=True, random_state=0)  # more than two blocks of rows
    one, *others = (
        explain.shapley(case.subject, rows, background=case.X[:40], n_jobs=n).values
        for n in (None, 1, 2, 3)
    )
    for other in others:
        np.testing.assert_array_equal(other, one)
    single_rows = explain.shapley(case.subject, rows[:1], background=case.X[:40]).values
    np.testing.assert_array_equal(single_rows[0], one[0])


AXES = [numeric(0.0), numeric(0.0), levels("a", "b"), numeric(0.0)]
FREQUENCIES = [[0.5, 0.5, 0], [0.5, 0.5, 0], [0.4, 0.6, 0, 0, 0], [0.1, 0.9, 0]]


def alike():
    """Two features with the same curves, one that does nothing, levels; all signs of products."""
    curve, other = [1.0, 3.0, 1.0], [0.5, 2.0, 1.0, 1.0, 1.0]
    flat = np.ones(3)
    first = tilted([curve, curve, other, flat], [flat, flat, np.zeros(5), np.zeros(3)], 0.7, 0.2)
    signed = product([[1, -2, 1], [1, -2, 1], other, flat], -0.8)
    return hand_made(AXES, FREQUENCIES, [first, signed], 5.0)


def test_equal_features_have_equal_values_and_idle_ones_none():
    model = alike()
    rows = [[1.0, 1.0, "a", 1.0], [-1.0, -1.0, "b", -1.0]]
    result = explain.shapley(model, np.array(rows, dtype=object))
    np.testing.assert_allclose(result.values[:, 0], result.values[:, 1], rtol=1e-12)
    np.testing.assert_array_equal(result.values[:, 3], 0.0)
    assert np.abs(result.values[:, [0, 2]]).min() > 0.05


def test_a_product_of_two_by_hand():
    """For f = a b against one background row, the values of a coalition of two are halves."""
    axes, frequencies = [numeric(0.0), numeric(0.0)], [[1.0, 0, 0], [1.0, 0, 0]]
    model = hand_made(axes, frequencies, [product([[2, 5, 1], [3, 7, 1]])])
    result = explain.shapley(model, [[1.0, 1.0], [-1.0, 1.0]])
    np.testing.assert_allclose(result.values[0], [(3 * 3 + 3 * 7) / 2, (4 * 2 + 4 * 5) / 2])
    np.testing.assert_allclose(result.values[1], [0.0, 4 * 2], atol=1e-12)
    assert result.base == pytest.approx(6.0)


def test_mean_size_positions_and_texts():
    case = joint()
    result = explain.shapley(case.subject, case.X[:40], background=case.X[:20])
    np.testing.assert_allclose(result.mean_size, np.abs(result.values).mean(axis=0))
    frequencies = case.model.bins.frequencies[case.model.bins.axis(0)]
    known = frequencies[:-1] / frequencies[:-1].sum()
    for row, code in enumerate(case.codes[:40, 0]):
        missing = np.isnan(case.X.iloc[row, 0])
        rank = np.nan if missing else known[:code].sum() + known[code] / 2
        np.testing.assert_allclose(result.positions[row, 0], rank)
    assert np.isnan(result.positions[:, 3]).all()
    assert [texts[3] for texts in result.texts[:2]] == ["moon", "moon"]
    assert {texts[2] for texts in result.texts} == {"0", "1"}
    assert explain.shapley(case.subject, case.X[:51], background=case.X[:5]).texts == ()


def test_one_feature_has_all_of_it():
    axes, frequencies = [numeric(0.0)], [[0.25, 0.75, 0]]
    model = hand_made(axes, frequencies, [product([[2, 6, 1]])], 1.0)
    result = explain.shapley(model, [[-1.0], [1.0]])
    np.testing.assert_allclose(result.values[:, 0], [2 - 5, 6 - 5])
    assert result.base == pytest.approx(6.0)


def test_frames_keep_the_index_of_the_rows():
    case = joint()
    result = explain.shapley(case.subject, case.X[7:11], background=case.X[:5])
    assert result.frame().index.tolist() == [7, 8, 9, 10]
