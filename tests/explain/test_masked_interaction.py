"""The paper's masked interaction, y = x1^2 x2 (1 + x3): what one average hides, a stage shows."""

from functools import cache

import numpy as np
import pytest

from seplearn import TSLRegressor, datasets, explain

X, Y = datasets.masked_interaction(10_000, random_state=0)

both_sizes = pytest.mark.parametrize("n_stages", [1, 2])


@cache
def fitted(n_stages):
    return TSLRegressor(n_stages=n_stages, random_state=0).fit(X, Y)


@cache
def dependence(n_stages):
    return explain.partial_dependence(fitted(n_stages), 0, background=X)


def at_rows(curve, n_stages):
    """A curve of the first feature at the training rows."""
    return curve[fitted(n_stages)._codes(X)[:, 0]]


@both_sizes
def test_the_signed_dependence_of_the_first_feature_is_flat(n_stages):
    signed = at_rows(dependence(n_stages).total, n_stages)
    backbone = at_rows(dependence(n_stages).backbone[0], n_stages)
    assert np.ptp(np.quantile(signed, (0.01, 0.99))) < 0.1 * Y.std()
    assert np.ptp(signed) < 0.1 * np.ptp(backbone)
    assert np.ptp(np.quantile(backbone, (0.01, 0.99))) > Y.std()


@both_sizes
def test_its_backbone_is_a_parabola(n_stages):
    for curve in dependence(n_stages).backbone:
        assert np.corrcoef(at_rows(curve, n_stages), X[:, 0] ** 2)[0, 1] > 0.98


@both_sizes
def test_two_features_scale_and_the_third_directs_with_one_flip(n_stages):
    result = explain.roles(fitted(n_stages))
    assert len(result.stages) == n_stages
    for stage in result.stages:
        assert [feature.role for feature in stage.features] == ["scales", "scales", "directs"]
        (flip,) = stage.features[2].flips
        assert flip.at == pytest.approx(-1.0, abs=0.1)
        assert stage.sentence == f"x0, x1 scale; x2 directs, flipping at {flip.at:.2f}".replace(
            ".00", ""
        )


@both_sizes
def test_the_tilt_belongs_to_the_third_feature(n_stages):
    for s in range(n_stages):
        result = explain.tilt(fitted(n_stages), s)
        assert result.share[2] > 0.99
        assert result.constant.tolist() == [True, True, False]
    importance = explain.importance(fitted(n_stages), kind="paper")
    assert importance.total_tilt.argmax() == 2
    assert importance.total_backbone[:2].min() > 100 * importance.total_backbone[2]


def test_two_stages_take_the_two_sides_of_the_second_feature():
    flips = [stage.features[2].flips[0].upward for stage in explain.roles(fitted(2)).stages]
    assert sorted(flips) == [False, True]
    assert fitted(2).score(X, Y) > 0.98


def test_hardly_anything_is_done_alone():
    result = explain.interactions(fitted(2))
    assert result.main[0] < 0.01
    assert result.total[0] > 0.5
    assert result.pairwise[0, 2] > 0.1


def test_single_rows_show_what_the_average_hides():
    rows = explain.ice(fitted(2), 0, X)
    spread = np.ptp(rows.values[:, 1:-2], axis=1)
    assert np.median(spread) > 3 * np.ptp(dependence(2).total[1:-2])
