"""Importance as the paper defines it: variances of backbone and tilt, weighted over stages."""

import numpy as np
import pytest

from seplearn import explain
from tests import naive_explain as naive
from tests.explained import (
    assert_close,
    bands,
    every_case,
    hand_made,
    joint,
    levels,
    main_effects,
    numeric,
    product,
    tilted,
    weighted_polars,
)


@every_case
def test_over_a_background_it_is_the_definition(make):
    case = make()
    some, codes = case.X[:120], case.codes[:120]
    result = explain.importance(case.subject, background=some, kind="paper")
    backbone, tilt, weights = naive.importance(case.model, codes, np.full(120, 1 / 120))
    assert_close(result.backbone, backbone)
    assert_close(result.tilt, tilt)
    assert_close(result.stage_weights, weights)


@every_case
def test_by_default_it_is_over_the_training_rows(make):
    case = make()
    rows = case.model.reference  # here all training rows, with their weights
    result = explain.importance(case.subject, kind="paper")
    backbone, tilt, weights = naive.importance(case.model, rows.codes, rows.weight)
    assert_close(result.backbone, backbone)
    assert_close(result.tilt, tilt)
    assert_close(result.stage_weights, weights)


@every_case
def test_stages_are_weighted_and_summed(make):
    result = explain.importance(make().subject, gamma=2.5, kind="paper")
    assert result.stage_weights.sum() + result.effects_weight == pytest.approx(1.0)
    assert (result.stage_weights >= 0).all()
    backbone = sum(w * row for w, row in zip(result.stage_weights, result.backbone, strict=True))
    tilt = sum(w * row for w, row in zip(result.stage_weights, result.tilt, strict=True))
    assert_close(result.total_backbone, backbone)
    assert_close(result.total_tilt, tilt)
    assert_close(result.combined, backbone + 2.5 * tilt)
    assert result.gamma == 2.5


@every_case
def test_main_effects_have_a_weight_and_a_spread_of_their_own(make):
    case = make()
    some, codes = case.X[:120], case.codes[:120]
    for given, rows, weight in (
        ({"background": some}, codes, np.full(120, 1 / 120)),
        ({}, case.model.reference.codes, case.model.reference.weight),
    ):
        result = explain.importance(case.subject, **given, kind="paper")
        effects = naive.main_effects(case.model, rows)
        whole = np.sum(weight * effects.sum(axis=1) ** 2)
        squares = [np.sum(weight * part**2) for part in case.model.contributions(rows).T]
        assert result.effects_weight == pytest.approx(whole / (whole + sum(squares)), rel=1e-9)
        if case.model.effects is None:
            assert result.effect_spread is None
            assert result.effects_weight == 0.0
            continue
        assert_close(result.effect_spread, [naive.variance(g, weight) ** 0.5 for g in effects.T])
        order = np.argsort(-result.combined, kind="stable")
        found = result.frame()["effect_spread"].to_numpy()
        np.testing.assert_array_equal(found, result.effect_spread[order])


def test_gamma_is_one_unless_given_and_may_be_zero():
    result = explain.importance(joint().subject, kind="paper")
    np.testing.assert_array_equal(result.combined, result.total_backbone + result.total_tilt)
    none = explain.importance(joint().subject, gamma=0, kind="paper")
    np.testing.assert_array_equal(none.combined, none.total_backbone)


def test_a_model_made_by_hand():
    """b is 1 or 3, d is 1 or -1, each half the time; the second stage is small."""
    axes = [numeric(0.0), levels("a", "b")]
    frequencies = [[0.5, 0.5, 0.0], [0.5, 0.5, 0, 0, 0]]
    first = tilted([[1, 3, 1], np.ones(5)], [np.zeros(3), [1, -1, 0, 0, 0]])
    second = product([[1, 1, 1], [1, 2, 1, 1, 1]], 0.01)
    result = explain.importance(hand_made(axes, frequencies, [first, second]), kind="paper")
    np.testing.assert_allclose(result.backbone, [[1.0, 0.0], [0.0, 0.25]], atol=1e-12)
    np.testing.assert_allclose(result.tilt, [[0, 1], [0, 0]], atol=1e-12)
    squares = np.array([4 * np.sinh(1) ** 2 * 5, 0.01**2 * 2.5])
    np.testing.assert_allclose(result.stage_weights, squares / squares.sum(), rtol=1e-12)


def test_weights_of_training_rows_count():
    case = weighted_polars()
    plain = naive.importance(case.model, case.codes, case.uniform)[0]
    weighted = explain.importance(case.subject, kind="paper").backbone
    varying = plain > 1e-3  # not the curves that are flat
    assert np.abs(weighted[varying] / plain[varying] - 1).max() > 1e-3


def test_stages_that_contribute_nothing_have_no_weight():
    axes, frequencies = [numeric(0.0)], [[0.5, 0.5, 0.0]]
    nothing = tilted([[1, 2, 1]], [[0, 1, 0]]).with_scalars(0.0, 0.0)
    result = explain.importance(hand_made(axes, frequencies, [nothing, nothing]), kind="paper")
    np.testing.assert_array_equal(result.stage_weights, 0.0)
    np.testing.assert_array_equal(result.combined, 0.0)


def test_bands_are_quantiles_over_the_replicates():
    case = bands()
    rows = case.model.reference
    result = explain.importance(case.subject, gamma=3.0, level=0.5, kind="paper")
    totals: dict[str, list[np.ndarray]] = {"total_backbone": [], "total_tilt": [], "combined": []}
    for replicate in case.model.replicates:
        backbone, tilt, weights = naive.importance(replicate, rows.codes, rows.weight)
        totals["total_backbone"].append(weights @ backbone)
        totals["total_tilt"].append(weights @ tilt)
        totals["combined"].append(weights @ backbone + 3.0 * weights @ tilt)
    assert result.bands.keys() == totals.keys()
    for name, values in totals.items():
        assert_close(result.bands[name], naive.band(values, 0.5))
    assert explain.importance(joint().subject, kind="paper").bands == {}


def test_bands_of_main_effects():
    case = main_effects()
    rows = case.model.reference
    spreads = [
        [naive.variance(g, rows.weight) ** 0.5 for g in naive.main_effects(m, rows.codes).T]
        for m in case.model.replicates
    ]
    result = explain.importance(case.subject, level=0.5, kind="paper")
    assert_close(result.bands["effect_spread"], naive.band(spreads, 0.5))
