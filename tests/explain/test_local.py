"""The prediction of one row, taken apart and put together again."""

import numpy as np
import pandas as pd
import pytest

from seplearn import TSLRegressor, explain
from tests import naive_explain as naive
from tests.explained import (
    NAMES,
    array,
    assert_close,
    bands,
    every_case,
    joint,
    main_effects,
    turned,
)

ROWS = (0, 1, 7, 33, 399)


@every_case
def test_contributions_sum_to_the_prediction(make):
    case = make()
    predictions = case.predict(case.X)
    for row in ROWS:
        result = explain.local(case.subject, case.X, row)
        total = result.intercept + result.effects.sum() + result.contributions.sum()
        assert total == pytest.approx(predictions[row], rel=1e-9)
        assert result.prediction == pytest.approx(predictions[row], rel=1e-12)
        assert result.intercept == case.model.intercept


@every_case
def test_main_effects_by_definition(make):
    case = make()
    expected = naive.main_effects(case.model, case.codes)
    for row in ROWS:
        result = explain.local(case.subject, case.X, row)
        np.testing.assert_array_equal(result.effects, expected[row])
        frame = result.frame()
        names = list(frame["stage"])
        n_effects = 0 if case.model.effects is None else len(expected[row])
        assert names.count("main effect") == n_effects
        if n_effects:
            own = list(frame["feature"])[len(case.model.stages) : -1]
            assert own == list(result.names)
        assert sum(frame["contribution"]) == pytest.approx(result.prediction, rel=1e-9)


@every_case
def test_products_by_definition(make):
    case = make()
    for row in ROWS:
        result = explain.local(case.subject, case.X, row)
        for s, stage in enumerate(case.model.stages):
            plus, minus = naive.stage_at(stage, case.model.bins, case.codes[row])
            assert result.plus[s] == pytest.approx(plus, rel=1e-10)
            assert result.minus[s] == pytest.approx(minus, rel=1e-10)
            assert result.contributions[s] == pytest.approx(plus - minus, rel=1e-9, abs=1e-12)


@every_case
def test_backbone_and_tilt_rebuild_every_stage_that_has_them(make):
    case = make()
    for row in ROWS:
        result = explain.local(case.subject, case.X, row)
        for s, stage in enumerate(case.model.stages):
            b = result.backbone_scale[s] * result.backbone[s].prod()
            d = result.tilt_intercept[s] + result.tilt[s].sum()
            if stage.is_two_branch:
                expected = 2 * b * np.sinh(d)
            elif stage.is_one_branch:
                assert np.isnan(d)
                expected = b * np.sign(result.contributions[s])
            else:
                assert np.isnan([b, d]).all()
                continue
            assert result.contributions[s] == pytest.approx(expected, rel=1e-9, abs=1e-12)


@every_case
def test_backbone_and_tilt_are_those_of_the_curves(make):
    case = make()
    result = explain.local(case.subject, case.X, 33)
    for s in range(len(case.model.stages)):
        curves = explain.curves(case.subject, s)
        for j, curve in enumerate(curves):
            at = case.codes[33, j]
            for name in ("backbone", "tilt"):
                values = getattr(curve, name)
                expected = np.nan if values is None else values[at]
                np.testing.assert_allclose(getattr(result, name)[s, j], expected, rtol=1e-12)
        np.testing.assert_allclose(result.backbone_scale[s], curves.backbone_scale, rtol=1e-12)
        np.testing.assert_allclose(result.tilt_intercept[s], curves.tilt_intercept, rtol=1e-12)


@every_case
def test_shares_are_sizes_of_log_backbones(make):
    case = make()
    result = explain.local(case.subject, case.X, 7)
    for s, share in enumerate(result.backbone_share):
        if np.isnan(result.backbone[s]).any():
            np.testing.assert_array_equal(share, 0.0)
            continue
        sizes = [abs(np.log(b)) for b in result.backbone[s]]
        assert share.sum() == pytest.approx(1.0)
        np.testing.assert_allclose(share, np.array(sizes) / sum(sizes), rtol=1e-12)


@every_case
def test_small_shares_are_pooled(make):
    case = make()
    result = explain.local(case.subject, case.X, 7)
    for tolerance in (0.0, 0.05, 0.3, 1.1):
        expected = [sum(v for v in share if v < tolerance) for share in result.backbone_share]
        np.testing.assert_allclose(result.other_share(tolerance), expected, rtol=1e-12)
    np.testing.assert_array_equal(result.other_share(), result.other_share(0.05))


def test_values_are_what_a_reader_would_write():
    rows = pd.DataFrame(
        [[1.23456789, 0.5, 1, "never seen", 3], [np.nan, 1e9, 0, None, 0], [0.0, 2, 1, "moon", 6]],
        columns=NAMES,
    )
    model = joint().subject
    assert explain.local(model, rows).values == ("1.23457", "0.5", "1", "never seen", "3")
    assert explain.local(model, rows, 1).values == ("missing", "1000000000", "0", "missing", "0")
    assert explain.local(model, rows, 2).values[3] == "moon"
    assert explain.local(model, rows).names == tuple(NAMES)


def test_values_unlike_all_training_rows_are_remarked():
    rng = np.random.default_rng(0)
    X = pd.DataFrame(
        {
            "size": np.r_[2.5, rng.uniform(3, 9, 298), 9.25],
            "gap": np.where(rng.random(300) < 0.1, np.nan, rng.normal(size=300)),
            "kind": rng.choice(["a", "b"], 300),
        }
    )
    model = TSLRegressor(n_stages=1, early_stopping=False, random_state=0)
    model.fit(X, X["size"] * (X["kind"] == "a"))
    rows = pd.DataFrame(
        [[9.25, np.nan, "a"], [9.26, 0.0, "c"], [-np.inf, 0.0, "b"], [np.nan, 0.0, None]],
        columns=X.columns,
    )
    assert explain.local(model, rows, 0).remarks == {}
    assert explain.local(model, rows, 1).remarks == {
        "size": "above all training values (within 2.5 to 9.25), counts as the largest",
        "kind": "never seen in training, counts as neutral",
    }
    assert "below all training values" in explain.local(model, rows, 2).remarks["size"]
    never = "never missing in training, counts as neutral"
    assert explain.local(model, rows, 3).remarks == {"size": never, "kind": never}
    largest = rows.assign(size=9.25)
    assert model.predict(rows)[1] == model.predict(largest)[1]
    drawn = explain.local(model, rows, 1).plot()
    assert "above all training values" in drawn.axes[0].get_xlabel()


def test_columns_are_found_by_name():
    case = joint()
    one = explain.local(case.subject, case.X, 5)
    other = explain.local(case.subject, case.X[NAMES[::-1]], 5)
    assert one.values == other.values
    np.testing.assert_array_equal(one.contributions, other.contributions)
    np.testing.assert_array_equal(one.backbone, other.backbone)


def test_one_row_of_an_array():
    case = array()
    result = explain.local(case.subject, case.X[5:6])
    assert result.prediction == pytest.approx(case.subject.predict(case.X)[5], rel=1e-12)
    assert result.names == ("x0", "x1", "x2")


def test_tilt_points_up_where_the_stage_does_whatever_the_sign_of_lambda():
    case = turned()
    for row in ROWS:
        result = explain.local(case.subject, case.X, row)
        up = result.tilt_intercept[0] + result.tilt[0].sum() > 0
        assert up == (result.contributions[0] > 0)


def test_bands_are_quantiles_over_the_replicates():
    case = bands()
    result = explain.local(case.subject, case.X, 7, level=0.5)
    codes = case.codes[7:8]
    parts = [m.contributions(codes)[0] for m in case.model.replicates]
    predictions = [m.predict(codes)[0] for m in case.model.replicates]
    assert_close(result.bands, naive.band(parts, 0.5))
    assert_close(result.interval, naive.band(predictions, 0.5))
    assert_close(result.interval, case.subject.predict_interval(case.X[7:8], 0.5, kind="mean")[0])
    plain = explain.local(joint().subject, case.X)
    assert plain.bands is None
    assert plain.effect_bands is None
    assert plain.interval is None


def test_bands_of_main_effects():
    case = main_effects()
    result = explain.local(case.subject, case.X, 7, level=0.5)
    effects = [naive.main_effects(m, case.codes[7:8])[0] for m in case.model.replicates]
    assert_close(result.effect_bands, naive.band(effects, 0.5))
    frame = result.frame()
    n_stages = len(case.model.stages)
    found = frame[["contribution_lower", "contribution_upper"]].to_numpy().T
    np.testing.assert_array_equal(found[:, :n_stages], result.bands)
    np.testing.assert_array_equal(found[:, n_stages:-1], result.effect_bands)
