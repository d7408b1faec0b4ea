import numpy as np
import pytest

from seplearn import TSLRegressor, datasets, explain

OPTIONS = {"early_stopping": False, "n_stages": 2, "n_grids": 3, "n_splits": 10, "random_state": 0}


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
        with pytest.raises(ValueError, match="stage must be an integer from 0 to 1, got"):
            explain.curves(model, stage)
    with pytest.raises(TypeError, match="model must be a fitted estimator or its model_, got 3"):
        explain.curves(3, 0)
