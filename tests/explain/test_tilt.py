"""Whose tilt varies in a stage, and where its sign flips, on stages made by hand."""

import numpy as np
import pytest

from seplearn import explain
from seplearn.explain import Flip
from tests.explained import every_case, hand_made, joint, levels, numeric, product, tilted

QUARTERS = [0.25, 0.25, 0.25, 0.25, 0.0]
HALVES = [0.5, 0.5, 0.0, 0.0, 0.0]
AXES = [numeric(-1.0, 0.0, 1.0), levels("a", "b"), numeric(-1.0, 0.0, 1.0)]
FREQUENCIES = [QUARTERS, HALVES, QUARTERS]
FLAT = np.zeros(5)


def model_with(*tilts, d0=0.0, frequencies=FREQUENCIES, axes=AXES):
    ones = [np.ones(axis.n_bins) for axis in axes]
    return hand_made(axes, frequencies, [tilted(ones, tilts, 2.0, d0)])


def test_spreads_and_shares():
    numbers, words = [-1, -1, 1, 1, 9], [2, -2, 0, 0, 9]  # what no row has does not count
    result = explain.tilt(model_with(numbers, words, FLAT, d0=0.5), 0)
    np.testing.assert_allclose(result.spread, [1.0, 2.0, 0.0], atol=1e-7)
    np.testing.assert_allclose(result.share, [0.2, 0.8, 0.0], atol=1e-12)
    assert result.constant.tolist() == [False, False, True]
    assert result.intercept == pytest.approx(0.5)
    assert result.stage == 0


@pytest.mark.parametrize(
    ("tilt", "d0", "expected"),
    [
        ([-1, -1, 1, 1], 0.0, [Flip(0.0, True)]),
        ([1, 1, -1, -1], 0.0, [Flip(0.0, False)]),
        ([1, -1, -1, 1], 0.0, [Flip(-1.0, False), Flip(1.0, True)]),
        ([-2, 2, -2, 2], 0.0, [Flip(-1.0, True), Flip(0.0, False), Flip(1.0, True)]),
        ([-3, 1, 1, 1], 0.0, [Flip(-1.0, True)]),
        ([-3, 1, 1, 1], -2.0, []),  # the intercept holds the stage below zero everywhere
        ([-1, -1, 1, 1], 3.0, []),
        ([-1.5, -0.5, 0.5, 1.5], 1.0, [Flip(-1.0, True)]),
    ],
)
def test_flips_of_a_numeric_feature(tilt, d0, expected):
    result = explain.tilt(model_with([*tilt, 0.0], FLAT, FLAT, d0=d0), 0)
    assert list(result.flips[0]) == expected
    assert result.flips[1:] == ((), ())


def test_levels_go_up_and_down():
    axes = [levels("a", "b", "c", "never"), numeric(0.0)]
    frequencies = [[0.25, 0.5, 0.25, 0, 0, 0, 0], [0.5, 0.5, 0.0]]
    words = [2, -1, 0.5, 5, 0, 0, 0]
    model = model_with(words, np.zeros(3), axes=axes, frequencies=frequencies)
    result = explain.tilt(model, 0)
    assert result.up == (("a", "c"), ())
    assert result.down == (("b",), ())
    assert result.flips == ((), ())
    shifted = model_with(words, np.zeros(3), d0=-1.0, axes=axes, frequencies=frequencies)
    assert explain.tilt(shifted, 0).up[0] == ("a",)
    assert explain.tilt(shifted, 0).down[0] == ("b", "c")


@pytest.mark.parametrize(
    ("size", "flips"), [(0.005, []), (0.02, [Flip(0.0, False), Flip(1.0, True)])]
)
def test_excursions_of_less_than_a_hundredth_are_no_flips(size, flips):
    rest = (1 - size) / 3
    frequencies = [[rest, rest, size, rest, 0.0], HALVES, QUARTERS]
    model = model_with([1, 1, -9, 1, 0], FLAT, FLAT, d0=0.5, frequencies=frequencies)
    assert list(explain.tilt(model, 0).flips[0]) == flips


def test_a_short_excursion_beside_a_flip_leaves_one_flip():
    frequencies = [[0.5, 0.003, 0.003, 0.494, 0.0], HALVES, QUARTERS]
    model = model_with([-1, 1, -1, 1, 0], FLAT, FLAT, frequencies=frequencies)
    assert list(explain.tilt(model, 0).flips[0]) == [Flip(1.0, True)]


def test_bins_without_rows_and_missing_values_flip_nothing():
    frequencies = [[0.4, 0.0, 0.0, 0.3, 0.3], HALVES, QUARTERS]
    for empty in ([7, -7], [7, 7], [-7, -7]):
        model = model_with([-1, *empty, 1, -5], FLAT, FLAT, frequencies=frequencies)
        assert list(explain.tilt(model, 0).flips[0]) == [Flip(1.0, True)]


def test_a_tilt_below_the_tolerance_is_constant():
    small = [-0.04, -0.04, 0.04, 0.04, 0]
    model = model_with([-1, -1, 1, 1, 0], FLAT, small)
    assert explain.tilt(model, 0).constant.tolist() == [False, True, True]
    assert explain.tilt(model, 0).flips[2] == ()
    loose = explain.tilt(model, 0, tolerance=0.03)
    assert loose.constant.tolist() == [False, True, False]
    assert loose.flips[2] == (Flip(0.0, True),)
    np.testing.assert_allclose(loose.spread[2], 0.04, rtol=1e-9)


def test_a_turned_stage_flips_the_other_way():
    model = model_with([-1, -1, 1, 1, 0], [3, -3, 0, 0, 0], FLAT)
    turned = model.with_scalars([(-2.0, -2.0)], 0.0)
    result = explain.tilt(turned, 0)
    assert list(result.flips[0]) == [Flip(0.0, False)]
    assert (result.up[1], result.down[1]) == (("b",), ("a",))


@pytest.mark.parametrize(
    "stage",
    [
        product([[1, 2, 3, 4, 1], [*HALVES[:2], 1, 1, 1], np.ones(5)]),
        product([[1, -2, 3, 4, 1], np.ones(5), np.ones(5)]),
        tilted([np.ones(5)] * 3, [QUARTERS] * 3).with_scalars(1.0, -1.0),
        tilted([np.ones(5)] * 3, [QUARTERS] * 3).with_scalars(0.0, 0.0),
    ],
    ids=["one product", "signed", "one side", "nothing"],
)
def test_a_stage_without_tilt_says_so(stage):
    result = explain.tilt(hand_made(AXES, FREQUENCIES, [stage]), 0)
    assert np.isnan(result.intercept)
    assert result.constant.all()
    np.testing.assert_array_equal(result.spread, 0.0)
    np.testing.assert_array_equal(result.share, 0.0)
    assert result.flips == ((), (), ())


@every_case
def test_spreads_of_fitted_stages_are_roots_of_the_tilt_importance(make):
    case = make()
    variances = explain.importance(case.subject, kind="paper").tilt
    for s, stage in enumerate(case.model.stages):
        result = explain.tilt(case.subject, s)
        if stage.is_two_branch:
            np.testing.assert_allclose(result.spread**2, variances[s], atol=1e-12)
            assert result.share.sum() == pytest.approx(1.0)


def test_flips_are_where_the_stage_changes_its_sign_with_all_other_tilts_at_their_mean():
    case = joint()
    for s in range(3):
        curves, result = explain.curves(case.subject, s), explain.tilt(case.subject, s)
        for j, flips in enumerate(result.flips):
            if not flips:
                continue
            total = curves.tilt_intercept + curves[j].tilt[:-1]
            below = np.searchsorted(curves[j].axis.edges, [flip.at for flip in flips])
            for flip, b in zip(flips, below, strict=True):
                assert (total[b + 1] > 0) == flip.upward
                assert (total[b] > 0) != flip.upward
