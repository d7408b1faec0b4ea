"""Backbone and tilt of a stage over two features."""

import numpy as np
import pytest

from seplearn import explain
from tests.explained import every_case, joint, one_branch, single, turned


@every_case
def test_maps_are_products_and_sums_of_curves(make):
    case = make()
    for s, stage in enumerate(case.model.stages):
        if not (stage.is_two_branch or stage.is_one_branch):
            with pytest.raises(ValueError, match=f"stage {s} has no backbone"):
                explain.maps(case.subject, s, (0, 1))
            continue
        curves = explain.curves(case.subject, s)
        for j, k in ((0, 1), (2, 0)):
            result = explain.maps(case.subject, s, (j, k))
            assert result.features == (j, k)
            assert result.backbone.shape == (case.n_bins[j], case.n_bins[k])
            for a in range(0, case.n_bins[j], 2):
                for b in range(case.n_bins[k]):
                    own = curves.backbone_scale * curves[j].backbone[a] * curves[k].backbone[b]
                    assert result.backbone[a, b] == pytest.approx(own, rel=1e-10)
                    if stage.is_two_branch:
                        own = curves.tilt_intercept + curves[j].tilt[a] + curves[k].tilt[b]
                        assert result.tilt[a, b] == pytest.approx(own, rel=1e-10, abs=1e-12)
                    else:
                        assert result.tilt is None


def test_a_map_of_two_features_is_the_stage_with_all_others_neutral():
    """2 b sinh(d) of a map is the stage where the factors of all other features are one."""
    case = joint()
    model = case.model
    result = explain.maps(case.subject, 1, ("pd", "where (value)"))
    stage = model.stages[1]
    value = np.zeros(1)
    for branch in stage.branches:
        parts = [branch.factors(model.bins.axis(j)) for j in (1, 3)]
        value = value + branch.coefficient * np.multiply.outer(*parts)
    np.testing.assert_allclose(2 * result.backbone * np.sinh(result.tilt), value, atol=1e-12)
    assert result.names == ("pd", "where (value)")
    assert result.axes == (model.bins.axes[1], model.bins.axes[3])
    for j, frequencies in zip((1, 3), result.frequencies, strict=True):
        np.testing.assert_array_equal(frequencies, model.bins.frequencies[model.bins.axis(j)])


def test_one_product_has_a_map_without_tilt():
    result = explain.maps(one_branch().subject, 0, (0, 1))
    assert result.tilt is None
    assert explain.maps(turned().subject, 0, (0, 1)).tilt is not None


@pytest.mark.parametrize("features", [(0,), (0, 1, 2), 0, "pd"])
def test_a_map_has_two_features(features):
    with pytest.raises(ValueError, match="features must be two, got"):
        explain.maps(joint().subject, 0, features)


def test_signed_factors_have_no_map():
    with pytest.raises(ValueError, match="its factors may be negative"):
        explain.maps(single().subject, 0, (0, 1))
