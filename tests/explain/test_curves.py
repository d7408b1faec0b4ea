from typing import Any

import numpy as np
import pytest

from seplearn import TSLRegressor, datasets, explain
from tests import naive_explain as naive
from tests.explained import NAMES, assert_close, bands, every_case, joint, turned

OPTIONS: dict[str, Any] = {
    "early_stopping": False,
    "n_stages": 2,
    "n_grids": 3,
    "n_splits": 10,
    "random_state": 0,
}


@pytest.mark.parametrize(
    ("shift", "options"),
    [
        (0.0, {}),
        (100.0, {"fit_intercept": False}),
        (0.0, {"products": "single", "refine": "scalars"}),
    ],
)
def test_curves_rebuild_the_stages(shift, options):
    X, y = datasets.masked_interaction(500, random_state=0)
    model = TSLRegressor(**(OPTIONS | options)).fit(X, y + shift)
    contributions = model.predict_stages(X)
    for s, stage in enumerate(model.stages_):
        plus, minus = stage.lambda_plus, stage.lambda_minus
        backbone, tilt = np.sqrt(abs(plus * minus)), 0.0
        for curve in explain.curves(model.model_, s):
            at = np.searchsorted(curve.axis.edges, X[:, curve.feature], side="right")
            plus = plus * (1.0 if curve.plus is None else curve.plus[at])
            minus = minus * (1.0 if curve.minus is None else curve.minus[at])
            if stage.is_two_branch:
                backbone = backbone * curve.backbone[at]
                tilt = tilt + curve.tilt[at]
            elif stage.is_signed:
                assert curve.backbone is None
                assert curve.tilt is None
            else:
                assert curve.tilt is None
                only = curve.plus if curve.minus is None else curve.minus
                np.testing.assert_allclose(curve.backbone, only, rtol=1e-12)
        np.testing.assert_allclose(plus - minus, contributions[:, s], rtol=1e-9, atol=1e-12)
        if stage.is_two_branch:
            d0 = 0.5 * np.log(stage.lambda_plus / stage.lambda_minus)
            np.testing.assert_allclose(
                2 * backbone * np.sinh(d0 + tilt), contributions[:, s], rtol=1e-9, atol=1e-9
            )


def test_backbone_and_tilt_follow_the_sign_of_lambda():
    X, y = datasets.masked_interaction(500, random_state=0)
    model = TSLRegressor(**OPTIONS).fit(X, y).model_
    turned = model.with_scalars([(-s.lambda_plus, -s.lambda_minus) for s in model.stages], 0.0)
    both = model.with_scalars([(s.lambda_plus, -s.lambda_minus) for s in model.stages], 0.0)
    for one, other, none in zip(
        *(explain.curves(m, 0) for m in (model, turned, both)), strict=True
    ):
        np.testing.assert_array_equal(other.tilt, -one.tilt)
        np.testing.assert_array_equal(other.backbone, one.backbone)
        assert none.tilt is None
        assert none.backbone is None


def test_only_stages_of_the_model_have_curves():
    X, y = datasets.masked_interaction(300, random_state=0)
    model = TSLRegressor(**OPTIONS).fit(X, y).model_
    for stage in (2, -1, "first"):
        with pytest.raises(ValueError, match=r"an integer from 0 to 1 \(the model has 2\), got"):
            explain.curves(model, stage)
    with pytest.raises(TypeError, match=r"model must be .* \(of a pipeline pipe\[-1\].*, got 3"):
        explain.curves(3, 0)
    with pytest.raises(KeyError, match=r"got 'x11' \(did you mean 'x1'\?\)"):
        explain.curves(model, 0)["x11"]


def products_at(curves, codes):
    """Both products of a stage at rows given as bins, from the curves and lambda alone."""
    plus, minus = (np.full(len(codes), v) for v in (curves.lambda_plus, curves.lambda_minus))
    for curve in curves:
        at = codes[:, curve.feature]
        plus *= 1.0 if curve.plus is None else curve.plus[at]
        minus *= 1.0 if curve.minus is None else curve.minus[at]
    return plus, minus


@every_case
def test_every_kind_of_stage_is_rebuilt_in_both_ways(make):
    """As the difference of its products, and as 2 b sinh(d) or b where it has a backbone."""
    case = make()
    contributions = case.model.contributions(case.codes)
    for s, stage in enumerate(case.model.stages):
        curves = explain.curves(case.subject, s)
        plus, minus = products_at(curves, case.codes)
        assert_close(plus - minus, contributions[:, s])
        if not (stage.is_two_branch or stage.is_one_branch):
            assert all(curve.backbone is None and curve.tilt is None for curve in curves)
            assert np.isnan([curves.backbone_scale, curves.tilt_intercept]).all()
            continue
        backbones = [curve.backbone[case.codes[:, j]] for j, curve in enumerate(curves)]
        b = curves.backbone_scale * np.prod(backbones, axis=0)
        if stage.is_one_branch:
            assert all(curve.tilt is None for curve in curves)
            assert np.isnan(curves.tilt_intercept)
            assert_close(b, np.abs(contributions[:, s]))
            continue
        d = curves.tilt_intercept + sum(c.tilt[case.codes[:, j]] for j, c in enumerate(curves))
        assert_close(2 * b * np.sinh(d), contributions[:, s], 1e-9)


@every_case
def test_curves_by_definition(make):
    case = make()
    bins = case.model.bins
    for s, stage in enumerate(case.model.stages):
        for j, curve in enumerate(explain.curves(case.subject, s)):
            assert (curve.stage, curve.feature) == (s, j)
            np.testing.assert_array_equal(curve.frequencies, bins.frequencies[bins.axis(j)])
            if not stage.is_two_branch:
                continue
            turn = np.sign(stage.lambda_plus)
            for b in range(case.n_bins[j]):
                backbone, tilt = naive.backbone_and_tilt(stage, bins, j, b)
                assert curve.backbone[b] == pytest.approx(backbone, rel=1e-12)
                assert curve.tilt[b] == pytest.approx(turn * tilt, rel=1e-9, abs=1e-12)


def test_scales_are_the_mean_and_half_the_difference_of_log_lambda():
    for case, turn in ((joint(), 1), (turned(), -1)):
        stage, curves = case.model.stages[0], explain.curves(case.subject, 0)
        assert curves.lambda_plus == stage.lambda_plus
        assert curves.lambda_minus == stage.lambda_minus
        root = np.sqrt(stage.lambda_plus * stage.lambda_minus)
        assert curves.backbone_scale == pytest.approx(root, rel=1e-12)
        d0 = 0.5 * np.log(stage.lambda_plus / stage.lambda_minus)
        assert curves.tilt_intercept == pytest.approx(turn * d0, rel=1e-9)


def test_curves_are_found_by_name_and_number():
    curves = explain.curves(joint().subject, 1)
    assert len(curves) == 5
    assert [curve.name for curve in curves] == NAMES
    for j, name in enumerate(NAMES):
        assert curves[name] is curves[j] is curves.curves[j]


def test_an_absent_branch_has_no_curve():
    """Lambda zero is as good as no product: nothing of it reaches the prediction."""
    last = explain.curves(turned().subject, 2)
    assert all(curve.plus is None for curve in last)
    assert all(curve.minus is not None for curve in last)
    assert (last.lambda_plus, last.lambda_minus > 0) == (0.0, True)


def test_bands_are_quantiles_over_the_replicates():
    case = bands()
    bins = case.model.bins
    for curve in explain.curves(case.subject, 1, level=0.5):
        part = bins.axis(curve.feature)
        stages = [replicate.stages[1] for replicate in case.model.replicates]
        plus = [np.exp(stage.plus.log_factors[part]) for stage in stages]
        minus = [np.exp(stage.minus.log_factors[part]) for stage in stages]
        expected = {
            "plus": plus,
            "minus": minus,
            "backbone": np.sqrt(np.multiply(plus, minus)),
            "tilt": 0.5 * np.log(np.divide(plus, minus)),
        }
        assert curve.bands.keys() == expected.keys()
        for name, values in expected.items():
            np.testing.assert_allclose(
                curve.bands[name], naive.band(values, 0.5), rtol=1e-9, atol=1e-12
            )
    assert all(curve.bands == {} for curve in explain.curves(joint().subject, 0))
