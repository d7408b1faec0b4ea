"""What every edit does to a model, and what it leaves alone."""

import json
import math
from functools import cache
from typing import Any

import numpy as np
import pandas as pd
import pytest

from seplearn import (
    SepALSRegressor,
    TSLClassifier,
    TSLRegressor,
    datasets,
    explain,
    load_model,
    report,
)
from seplearn.editing.curves import smoothed
from seplearn.table.binning import Bins, NumericAxis

QUICK: dict[str, Any] = {"n_stages": 3, "early_stopping": False, "random_state": 0}


@cache
def table() -> tuple[pd.DataFrame, Any]:
    X, y = datasets.rents(500, random_state=0)
    X.loc[::17, "year"] = np.nan
    return X, y


@cache
def fitted(main_effects: bool = True) -> Any:
    return TSLRegressor(**QUICK, main_effects=main_effects, n_bootstrap=4).fit(*table())


@cache
def classes() -> Any:
    X, y = table()
    labels = np.array(["low", "middle", "high"])[np.digitize(y, [700.0, 1000.0])]
    return TSLClassifier(**QUICK).fit(X, labels), labels


def bins_of(model, feature, values):
    """Rows that differ in one feature only, and what a model predicts for them."""
    X = pd.concat([table()[0].iloc[:1]] * len(values), ignore_index=True)
    X[feature] = values
    return X


def test_an_edit_is_of_the_model_it_began_with():
    X, y = table()
    model = TSLRegressor(n_stages=1, early_stopping=False, random_state=0).fit(X, y)
    edit, before = model.edit().flatten(0), model.predict(X)
    expected = model.edit().flatten(0).apply(reason="r").predict(X)
    other = X.iloc[:, :2].set_axis(["p", "q"], axis=1)
    model.fit(other, 100.0 * np.asarray(y))
    edited = edit.apply(reason="r")
    np.testing.assert_array_equal(edited.predict(X), expected)
    assert edited.feature_names_in_.tolist() == list(X)
    assert (before != expected).any()


def test_a_record_is_not_changed_by_who_reads_it():
    edited = fitted().edit().clip("area", (-1, 100)).apply(reason="r")
    edited.to_dict()["edits"][0]["arguments"]["limits"][0] = 99
    edited.edits_[0].to_plain()["arguments"]["limits"][0] = 99
    assert edited.edits_[0].arguments["limits"] == [-1.0, 100.0]


def test_what_changes_nothing_is_said_to_change_nothing():
    X, _ = table()
    model = fitted()
    once = model.edit().make_monotone("area", 1).apply(reason="r")
    assert (
        str(once.edit().make_monotone("area", 1).effect(X))
        == f"None of {len(X):,} predictions changes."
    )


def test_a_model_with_offsets_is_recalibrated_with_offsets():
    X, y = table()
    added = np.linspace(0.0, 1.0, len(X))
    options = {"n_stages": 1, "early_stopping": False, "random_state": 0}
    model = TSLRegressor(**options).fit(X, y + added, offset=added)
    with pytest.raises(
        ValueError, match="offset must be given to recalibrate: the model was fitted"
    ):
        model.edit().recalibrate(X, y)
    assert model.edit().recalibrate(X, y + added, offset=added).apply(reason="r").edits_


def test_a_flat_curve_says_nothing_and_the_mean_stays():
    X, _ = table()
    model = fitted(main_effects=False)
    s = next(
        k for k, stage in enumerate(model.stages_) if len(stage.features(model.model_.bins)) > 1
    )
    j = model.stages_[s].features(model.model_.bins)[0]
    flat = model.edit().flatten(j, stage=s).apply(reason="r")
    assert j not in flat.stages_[s].features(flat.model_.bins)
    before, after = model.predict_stages(X), flat.predict_stages(X)
    np.testing.assert_allclose(after[:, s].mean(), before[:, s].mean(), rtol=1e-9)
    others = [k for k in range(before.shape[1]) if k != s]
    np.testing.assert_array_equal(after[:, others], before[:, others])


def test_without_rows_the_mean_is_that_of_independent_features():
    X, y = table()
    model = TSLRegressor(**QUICK, main_effects=False, background_size=0).fit(X, y)
    bins, plus = model.model_.bins, model.stages_[0].plus
    j = plus.features(bins)[0]
    flat = model.edit().flatten(j, stage=0).apply(reason="r").stages_[0].plus
    mean = np.sum(plus.factors(bins.axis(j)) * bins.frequencies[bins.axis(j)])
    assert flat.coefficient == pytest.approx(plus.coefficient * mean, rel=1e-12)
    dropped = model.edit().drop_stage(0).apply(reason="r")
    assert np.isfinite(dropped.intercept_)
    with pytest.raises(ValueError, match="background_size above 0"):
        model.edit().merge_stages(0, 1)


def test_a_dropped_feature_is_in_no_curve_but_its_column_is_still_read():
    X, _ = table()
    model = fitted().edit().drop_feature("area").apply(reason="r")
    other = X.assign(area=X["area"].sample(frac=1.0, random_state=0).to_numpy())
    np.testing.assert_array_equal(model.predict(other), model.predict(X))
    assert "area" in explain.summary(model).unused
    np.testing.assert_allclose(model.predict(X).mean(), fitted().predict(X).mean(), rtol=1e-9)


def test_a_clipped_curve_is_constant_outside_and_the_same_inside():
    model = fitted()
    clipped = model.edit().clip("area", (50, 100)).apply(reason="r")
    inside = bins_of(model, "area", np.linspace(52, 98, 20))
    np.testing.assert_allclose(clipped.predict(inside), model.predict(inside), rtol=1e-12)
    low, high = (
        bins_of(model, "area", ends) for ends in ([50.0, 20.0, -1e9], [100.0, 1e9, np.inf])
    )
    for outside in (low, high):
        found = clipped.predict(outside)
        np.testing.assert_allclose(found, model.predict(outside)[0], rtol=1e-12)
    missing = bins_of(model, "area", [np.nan])
    np.testing.assert_allclose(clipped.predict(missing), model.predict(missing), rtol=1e-12)


def test_one_main_effect_can_be_clipped_alone():
    X, _ = table()
    model = fitted()
    clipped = model.edit().clip("area", (50, 100), stage="main").apply(reason="r")
    np.testing.assert_array_equal(clipped.predict_stages(X), model.predict_stages(X))
    frequencies = clipped.model_.bins.frequencies
    assert abs(np.sum(clipped.model_.effects * frequencies)) < 1e-9
    assert clipped.intercept_ != model.intercept_


@pytest.mark.parametrize("direction", [1, -1])
@pytest.mark.parametrize("main_effects", [True, False])
def test_a_monotone_prediction_is_monotone_in_every_row(direction, main_effects):
    X, _ = table()
    model = fitted(main_effects)
    edges = model.model_.bins.axes[list(X.columns).index("distance")].edges
    values = np.concatenate([[-1.0], edges])
    changed = model.edit().make_monotone("distance", direction).apply(reason="r")
    for row in range(15):
        rows = pd.concat([X.iloc[row : row + 1]] * len(values), ignore_index=True)
        rows["distance"] = values
        assert (direction * np.diff(changed.predict(rows)) >= 0).all()
    for replicate in changed.model_.replicates:
        codes = changed._codes(rows)
        assert (direction * np.diff(replicate.predict(codes)) >= 0).all()


def test_what_is_monotone_already_stays_as_it_is():
    X, y = table()
    model = TSLRegressor(**QUICK, monotonic_cst={"distance": -1}).fit(X, y)
    again = model.edit().make_monotone("distance", -1).apply(reason="r")
    np.testing.assert_allclose(again.predict(X), model.predict(X), rtol=1e-12)


def test_edits_keep_constraints_or_are_refused():
    X, y = table()
    X = X[["area", "distance", "year"]]
    directions = {"distance": -1}
    model = TSLRegressor(**QUICK, monotonic_cst=directions, main_effects=False).fit(X, y)
    smooth = model.edit().smooth("distance", 0.3).clip("distance", (1, 5)).apply(reason="r")
    for one in smooth.stages_:
        part = smooth.model_.bins.axis(1)
        for branch in one.active:
            steps = np.diff(branch.log_factors[part][:-1])
            assert (-branch.coefficient_sign * steps >= 0).all()
    with pytest.raises(ValueError, match=r"direction must agree with monotonic_cst.*got 1"):
        model.edit().make_monotone("distance", 1)
    free = fitted(main_effects=False)
    edit = free.edit().make_monotone("area", 1)
    with pytest.raises(ValueError, match="must agree with"):
        edit.make_monotone("area", -1)
    with pytest.raises(ValueError, match="must agree with"):
        edit.apply(reason="r").edit().make_monotone("area", -1)


def test_a_change_that_would_break_a_constraint_is_refused(monkeypatch):
    X, y = table()
    model = TSLRegressor(**QUICK, monotonic_cst=[0, 0, 0, 0, 0, -1, 0], main_effects=True)
    edit = model.fit(X, y).edit()
    before = repr(edit)
    monkeypatch.setattr(
        "seplearn.editing.curves.smoothed", lambda *_: lambda curve: -curve
    )  # stands for any change that turns a curve around
    with pytest.raises(ValueError, match="no longer only fall with 'distance'"):
        edit.smooth("distance")
    assert repr(edit) == before
    edit.smooth("area")


def test_a_level_like_another_is_predicted_like_it():
    X, _ = table()
    model = fitted().edit().set_level("district", "hill", like="market")
    model.set_level("district", "(unseen)", like="market")
    changed = model.apply(reason="r")
    X = X[:9]  # of more rows without a known level there is a warning
    named = [changed.predict(X.assign(district=name)) for name in ("hill", "market", "moon")]
    for found in named:
        np.testing.assert_allclose(found, fitted().predict(X.assign(district="market")), rtol=1e-12)


def test_smoothing_takes_out_noise_and_leaves_lines_and_order():
    mass = np.full(50, 0.018)
    bins = Bins((NumericAxis(np.arange(49.0)),), np.append(mass, 0.1))
    noise = np.append(np.random.default_rng(0).normal(size=50), 7.0)
    smooth = smoothed(bins, 0, 0.2)(noise)
    assert np.std(smooth[5:45]) < 0.5 * np.std(noise[5:45])
    assert smooth[-1] == 7.0  # missing values
    line = np.append(np.arange(50.0), 0.0)
    np.testing.assert_allclose(smoothed(bins, 0, 0.2)(line), line, atol=1e-9)
    rising = np.append(np.cumsum(np.abs(noise[:50])), 0.0)
    assert (np.diff(smoothed(bins, 0, 0.5)(rising)[:-1]) > 0).all()
    np.testing.assert_array_equal(smoothed(bins, 0, 0.001)(noise), noise)


def test_smoothing_where_bins_have_no_rows():
    empty = Bins((NumericAxis(np.arange(3.0)),), np.array([0.0, 0.0, 0.0, 0.0, 1.0]))
    curve = np.array([1.0, 5.0, 2.0, 4.0, 3.0])
    np.testing.assert_array_equal(smoothed(empty, 0, 1.0)(curve), curve)
    gap = Bins((NumericAxis(np.arange(3.0)),), np.array([0.5, 0.0, 0.0, 0.5, 0.0]))
    np.testing.assert_allclose(smoothed(gap, 0, 0.5)(curve), [1.0, 2.5, 2.5, 4.0, 3.0])


def test_only_the_curve_that_is_meant_is_smoothed():
    X, _ = table()
    model = fitted()
    smooth = model.edit().smooth("area", 0.3, stage="main").apply(reason="r")
    np.testing.assert_array_equal(smooth.predict_stages(X), model.predict_stages(X))
    assert (smooth.predict_effects(X) != model.predict_effects(X)).any()


def test_a_dropped_stage_leaves_its_mean():
    X, _ = table()
    model = fitted(main_effects=False)
    smaller = model.edit().drop_stage(1).apply(reason="r")
    stages = model.predict_stages(X)
    expected = model.predict(X) - stages[:, 1] + stages[:, 1].mean()
    np.testing.assert_allclose(smaller.predict(X), expected, rtol=1e-9)
    assert smaller.stage_names_ == (model.stage_names_[0], *model.stage_names_[2:])
    assert len(smaller.model_.replicates) == len(model.model_.replicates)
    assert smaller.size_paths_ == ()


def test_a_model_of_which_nothing_is_left_is_a_constant(tmp_path):
    X, _ = table()
    edit = fitted().edit()
    while edit.stage_names:
        edit.drop_stage(0)
    for feature in X.columns:
        edit.flatten(feature)
    changed = edit.apply(reason="r")
    assert changed.model_.is_constant
    changed.save(tmp_path / "m.tsl")
    assert set(load_model(tmp_path / "m.tsl").predict(X)) == {changed.intercept_}
    np.testing.assert_allclose(changed.intercept_, fitted().predict(X).mean(), rtol=1e-9)


def test_stages_that_are_alike_merge_without_loss():
    X, y = table()
    one = TSLRegressor(**(QUICK | {"n_stages": 1}), main_effects=False).fit(X, y)
    half = one.model_.stages[0]
    twice = one._with_model(
        type(one.model_)(
            one.model_.bins, one.intercept_, (half.scaled(0.3), half.scaled(0.7)),
            reference=one.model_.reference,
        )
    )  # fmt: skip
    merged = twice.edit().merge_stages(0, 1).apply(reason="r")
    assert len(merged.stages_) == 1
    spread = float(np.std(one.predict(X)))
    np.testing.assert_allclose(merged.predict(X), one.predict(X), atol=1e-6 * spread)


def test_a_merged_stage_is_nearer_than_either_alone():
    X, _ = table()
    model = fitted(main_effects=False)
    merged = model.edit().merge_stages(2, 0).apply(reason="r")
    assert len(merged.stages_) == 2
    np.testing.assert_array_equal(merged.predict_stages(X)[:, 1], model.predict_stages(X)[:, 1])
    both = model.predict_stages(X)[:, [0, 2]]

    def error(found):
        return np.std(found - both.sum(axis=1))

    alone = min(error(both[:, 0]), error(both[:, 1]))
    assert error(merged.predict_stages(X)[:, 0]) < 0.8 * alone
    assert merged.model_.replicates == ()


def test_recalibration_finds_another_unit_and_level():
    X, y = table()
    model = fitted()
    other = 3.0 * model.predict(X) - 100.0
    again = model.edit().recalibrate(X, other).apply(reason="r")
    np.testing.assert_allclose(again.predict(X), other, rtol=1e-6)
    for one, two in zip(model.stages_, again.stages_, strict=True):
        np.testing.assert_array_equal(one.plus.log_factors, two.plus.log_factors)
    fitted_again = model.edit().recalibrate(X, y).effect(X, y)
    assert fitted_again.evaluation_after.rmse <= fitted_again.evaluation_before.rmse


@pytest.mark.parametrize("unit", [1e-300, 1e-170, 1e290])
def test_recalibration_finds_a_unit_of_any_size(unit):
    X, y = table()
    plain, other = (
        fitted().edit().recalibrate(X, y * size).apply(reason="r").predict(X)
        for size in (1.0, unit)
    )
    np.testing.assert_allclose(other / unit, plain, rtol=1e-6)


@pytest.mark.parametrize("loss", ["poisson", "quantile", "huber"])
def test_recalibration_lowers_the_own_loss(loss):
    X, y = table()
    y = np.round(y) if loss == "poisson" else y
    model = TSLRegressor(**QUICK, loss=loss, main_effects=True).fit(X[:300], y[:300])
    new = 2.0 * y[300:]
    effect = model.edit().recalibrate(X[300:], new).effect(X[300:], new)
    assert effect.evaluation_after.rmse < 0.5 * effect.evaluation_before.rmse
    for name, value in effect.evaluation_before.scores.items():
        if name in ("Poisson deviance", "pinball loss"):
            assert effect.evaluation_after.scores[name] < 0.5 * value


def test_recalibration_with_offsets_and_without_a_constant():
    X, y = table()
    model = TSLRegressor(**QUICK, loss="gamma").fit(X, y)
    same = model.edit().recalibrate(X, y).apply(reason="r")
    offset = np.full(len(y), 1.0)
    moved = model.edit().recalibrate(X, y * np.e, offset=offset).apply(reason="r")
    np.testing.assert_allclose(moved.predict(X), same.predict(X), rtol=1e-6)
    paper = TSLRegressor.paper(2, n_grids=4, random_state=0).fit(X, y)
    again = paper.edit().recalibrate(X, 2.0 * y).apply(reason="r")
    assert again.intercept_ == paper.intercept_ == 0.0
    with pytest.raises(ValueError, match="as it was"):
        again.staged_predict(X)


def test_a_classifier_is_edited_in_probabilities():
    X, y = table()
    late = np.where(y > 900.0, "yes", "no")
    model = TSLClassifier(**QUICK).fit(X, late)
    effect = model.edit().drop_feature("area").effect(X, late)
    assert effect.largest_move <= 1.0
    assert effect.evaluation_after.scores["AUC"] < effect.evaluation_before.scores["AUC"]
    assert "AUC" in str(effect)
    turned = np.where(y > 900.0, "no", "yes")[:200]
    again = model.edit().recalibrate(X[:200], turned).apply(reason="r")
    assert again.evaluate(X, late).scores["log-loss"] > model.evaluate(X, late).scores["log-loss"]


def test_several_classes_are_edited_one_by_one_or_all():
    (model, labels), (X, _) = classes(), table()
    names = model.classes_.tolist()
    k = names.index("high")
    one = model.edit().flatten("area", label="high").apply(reason="r")
    others = [i for i in range(3) if i != k]
    before, after = model.decision_function(X), one.decision_function(X)
    np.testing.assert_array_equal(after[:, others], before[:, others])
    assert (after[:, k] != before[:, k]).any()
    assert one.edits_[0].arguments == {"feature": "area", "label": "high"}
    every = model.edit().drop_feature("area").apply(reason="r")
    np.testing.assert_array_equal(
        every.decision_function(X.assign(area=1.0)), every.decision_function(X)
    )
    effect = model.edit().recalibrate(X, labels, label="high").effect(X, labels)
    assert effect.evaluation_after.log_loss <= effect.evaluation_before.log_loss
    assert effect.frame().shape == (10, 4)


def test_the_baseline_is_edited_where_it_makes_sense():
    X, y = table()
    model = SepALSRegressor(random_state=0).fit(X, y)
    edit = model.edit().clip("area", (40, 90)).flatten("floor", stage=0).smooth("year", 0.1)
    changed = edit.recalibrate(X, y).drop_stage(1).apply(reason="r")
    assert changed.n_sweeps_ == model.n_sweeps_
    again = model.edit().replay(changed.edits_).apply()
    np.testing.assert_array_equal(again.predict(X), changed.predict(X))
    for refused in (lambda e: e.make_monotone("area", 1), lambda e: e.merge_stages(0, 1)):
        with pytest.raises(ValueError, match="curves of either sign"):
            refused(model.edit())


def test_bands_follow_an_edit():
    X, _ = table()
    model = fitted()
    changed = model.edit().clip("area", (50, 100)).drop_stage(0).apply(reason="r")
    bands = changed.predict_interval(X, kind="mean")
    assert len(changed.model_.replicates) == 4
    assert np.isfinite(bands).all()
    high = bins_of(model, "area", [100.0, 1e9])
    inside, outside = changed.predict_interval(high, kind="mean")
    np.testing.assert_allclose(outside, inside, rtol=1e-12)
    with pytest.raises(ValueError, match="merge_stages and recalibrate"):
        model.edit().recalibrate(*table()).apply(reason="r").predict_interval(X, kind="mean")


def test_edits_are_told_everywhere(tmp_path):
    model = fitted().edit().flatten("area", stage=0).clip("year", (None, 2000))
    changed = model.apply(reason="a <b> reason")
    told = "flatten(feature='area', stage=0)"
    assert repr(changed).endswith(
        f"\n# edit 1: {told}: a <b> reason"
        "\n# edit 2: clip(feature='year', limits=[None, 2000]): a <b> reason"
    )
    assert [one["operation"] for one in changed.to_dict()["edits"]] == ["flatten", "clip"]
    page = report.report_html(changed)
    assert json.dumps(told)[1:-1].replace("'", "\\u0027") in page or told in page
    assert "# edit" not in repr(fitted())


def test_effect_without_a_target_and_its_words():
    X, _ = table()
    effect = fitted().edit().set_level("district", "hill", like="market").effect(X)
    assert effect.evaluation_before is None
    assert effect.changed == pytest.approx(np.mean(X["district"] == "hill"))
    moves = effect.frame()["move"].abs()
    assert moves.is_monotonic_decreasing
    assert moves.iloc[0] == pytest.approx(effect.largest_move)
    assert f"row {effect.rows[0]}" in str(effect)
    with pytest.raises(ValueError, match="sample_weight must come with y"):
        fitted().edit().effect(X, sample_weight=np.ones(len(X)))


@pytest.mark.parametrize(
    ("call", "told"),
    [
        (lambda e: e.flatten("aera"), r"feature must be one of .*got 'aera' \(did you mean 'area"),
        (lambda e: e.flatten("area", stage=9), r"stage must be an integer from 0 to .*got 9"),
        (lambda e: e.flatten("area", stage=-1), "stage must be an integer from 0"),
        (lambda e: e.flatten("area", stage=True), "stage must be an integer from 0"),
        (lambda e: e.flatten("area", stage="all"), "stage must be the number of a stage or 'main'"),
        (lambda e: e.flatten("area", label="x"), "label must be None for a model of one sum"),
        (lambda e: e.clip("district", (1, 2)), "must be a feature of numbers for clip.*district"),
        (lambda e: e.clip("area", (2, 1)), r"limits must be a pair .*got \(2, 1\)"),
        (lambda e: e.clip("area", (1, np.nan)), "limits must be a pair"),
        (lambda e: e.clip("area", (1, 2, 3)), "limits must be a pair"),
        (lambda e: e.clip("area", (np.inf, np.inf)), "limits must be a pair"),
        (lambda e: e.clip("area", (-np.inf, -np.inf)), "limits must be a pair"),
        (lambda e: e.clip("area", (10**400, None)), "limits must be a pair"),
        (lambda e: e.clip("area", ("a", "b")), "limits must be a pair"),
        (lambda e: e.smooth("area", 0.0), "share must be a number >= 0.001 and <= 1, got 0.0"),
        (lambda e: e.smooth("district"), "feature must be a feature of numbers for smooth"),
        (lambda e: e.set_level("area", "a", like="b"), "must be a feature of levels for set_level"),
        (lambda e: e.set_level("district", "hil", like="market"), "level must be.*'hil'.*'hill'"),
        (lambda e: e.set_level("district", "hill", like="moon"), "like must be one of .*'moon'"),
        (lambda e: e.set_level("district", "hill", like="hill"), "like must be another level"),
        (lambda e: e.make_monotone("district", 1), "must be a feature of numbers for make_mono"),
        (lambda e: e.make_monotone("area", 0), r"direction must be 1 \(rising\) or .*got 0"),
        (lambda e: e.make_monotone("area", "up"), "direction must be 1"),
        (lambda e: e.drop_stage("main"), "stage must be an integer from 0"),
        (lambda e: e.merge_stages(0, 0), "second must be another stage than first, got 0"),
        (lambda e: e.merge_stages(0, 7), "second must be an integer from 0"),
        (lambda e: e.recalibrate(table()[0], table()[1][:5]), "inconsistent numbers of samples"),
        (lambda e: e.apply(reason="why"), "apply needs a change"),
    ],
)  # fmt: skip
def test_what_makes_no_sense_is_refused(call, told):
    edit = fitted(main_effects=False).edit()
    with pytest.raises(ValueError, match=told):
        call(edit)
    assert "no changes yet" in repr(edit)


@pytest.mark.parametrize("reason", ["", "  \n"])
def test_an_edit_needs_a_reason(reason):
    edit = fitted().edit().flatten("area")
    with pytest.raises(ValueError, match="reason must be a text that says why, got"):
        edit.apply(reason=reason)
    with pytest.raises(TypeError, match="reason must be a text that says why, got None"):
        edit.apply()
    with pytest.raises(TypeError, match="limits must be a pair"):
        edit.clip("area", 3)


def test_what_makes_no_sense_for_the_model_is_refused():
    (model, labels), (X, _) = classes(), table()
    for call, told in (
        (lambda e: e.flatten("area", stage=0), "label must be one of the classes.*with stage"),
        (lambda e: e.flatten("area", label="hgh"), "label must be one of.*did you mean 'high'"),
        (lambda e: e.drop_stage(0), "label must be one of the classes"),
        (lambda e: e.make_monotone("area", 1), "says nothing about the probability"),
        (lambda e: e.recalibrate(X, labels), "label must be one of the classes"),
        (
            lambda e: e.recalibrate(X, labels, label="low", offset=np.ones(len(X))),
            "offset is for models of one sum",
        ),
    ):
        with pytest.raises(ValueError, match=told):
            call(model.edit())
    without = fitted(main_effects=False)
    with pytest.raises(ValueError, match="but the model has no main effects"):
        without.edit().flatten("area", stage="main")


def test_what_a_model_has_itself_is_not_replayed():
    small = fitted(main_effects=False).select_stages([0])
    edited = small.edit().clip("area", (20, 120)).apply(reason="few are larger")
    again = small.edit().replay(edited.edits_).apply()
    X = table()[0]
    np.testing.assert_array_equal(again.predict(X), edited.predict(X))
    assert again.edits_ == edited.edits_
    with pytest.raises(ValueError, match="apply needs a change"):
        edited.edit().replay(edited.edits_).apply()
    with pytest.raises(TypeError, match=r"edits must be records of edits.*array\(\[1, 2\]\)"):
        edited.edit().replay([np.array([1, 2])] * 2)
    with pytest.raises(ValueError, match=r"edits must be of one of the operations.*'select_stages"):
        fitted(main_effects=False).edit().replay(edited.edits_)


def test_records_that_do_not_fit_are_refused():
    model = fitted(main_effects=False)
    record = model.edit().drop_stage(0).apply(reason="r").edits_[0]
    scales = model.edit().recalibrate(*table()).apply(reason="r").edits_
    kind = type(record)
    with pytest.raises(ValueError, match="edits must be for a model with"):
        fitted().edit().drop_stage(0).replay(scales)
    with pytest.raises(TypeError, match="edits must be records of edits, as in edits_, got None"):
        model.edit().replay(None)
    with pytest.raises(ValueError, match=r"edits must be of one of the operations.*'merge'"):
        model.edit().replay([kind("merge", {}, "r")])
    with pytest.raises(ValueError, match="edits must be of one of the operations"):
        model.edit().replay([kind("apply", {}, "r")])
    with pytest.raises(ValueError, match=r"sound arguments, got drop_stage\(more=1\)"):
        model.edit().replay([kind("drop_stage", {"more": 1}, "r")])
    for wrong in (
        {"n_rows": 1},
        {"products": "ab"},
        {"products": [[1.0, "a"]]},
        {"products": [[2.0, 1.0]]},
        {"intercept": math.nan},
    ):
        damaged = kind("recalibrate", {**scales[0].arguments, **wrong}, "r")
        if wrong == {"n_rows": 1}:
            damaged = kind("recalibrate", wrong, "r")
        with pytest.raises(ValueError, match="not a valid seplearn model"):
            model.edit().replay([damaged])
    for far in (
        {"intercept": -1e308},
        {"products": [[1.0, 709.0]] * len(scales[0].arguments["products"])},
    ):
        damaged = kind("recalibrate", {**scales[0].arguments, **far}, "r")
        with pytest.raises(ValueError, match="edits must be such that scales of recalibrate"):
            model.edit().replay([damaged])
    with pytest.raises(ValueError, match="reason must be a text that says why, got ''"):
        model.edit().replay([kind("drop_stage", {"stage": 0}, "")])
    with pytest.raises(TypeError, match="reason must be a text that says why, got 5"):
        model.edit().replay([kind("drop_stage", {"stage": 0}, 5)])
    with pytest.raises(TypeError, match="edits must be records with their arguments by name"):
        model.edit().replay([kind("drop_stage", None, "r")])
    with pytest.raises(TypeError, match="edits must be records"):
        model.edit().replay(["flatten"])
    edit = model.edit()
    with pytest.raises(ValueError, match="stage must be"):
        edit.replay([record, record, record, record])
    assert "no changes yet" in repr(edit)
    assert scales[0].what.startswith("recalibrate(n_rows=500, intercept=")
    assert "products=[...]" in scales[0].what


def test_rare_levels_share_a_value():
    X, y = table()
    X = X.assign(district=np.where(np.arange(len(X)) < 2, "moon", X["district"]))
    model = TSLRegressor(**QUICK).fit(X, y)
    with pytest.raises(ValueError, match=r"got 'moon'; it is one of the rare levels"):
        model.edit().set_level("district", "moon", like="hill")
    changed = model.edit().set_level("district", "(rare)", like="hill").apply(reason="r")
    np.testing.assert_allclose(
        changed.predict(X.assign(district="moon")), model.predict(X.assign(district="hill")),
        rtol=1e-12,
    )  # fmt: skip


def test_only_a_fitted_estimator_can_be_edited():
    with pytest.raises(ValueError, match="not fitted"):
        TSLRegressor().edit()


def test_recalibration_leaves_what_its_rows_do_not_tell_of():
    rng = np.random.default_rng(0)
    district = np.resize(list("ABC"), 300)
    level = pd.Series(district).map({"A": 10.0, "B": 20.0, "C": 30.0}).to_numpy()
    X = pd.DataFrame({"district": district})
    options = {"n_stages": 0, "early_stopping": False, "random_state": 0}
    fitted = TSLRegressor(**options).fit(X, level + 0.1 * rng.normal(size=300))
    there = district == "A"
    found = fitted.edit().recalibrate(X[there], np.full(100, 11.0)).apply(reason="dearer")
    each = pd.DataFrame({"district": list("ABC")})
    np.testing.assert_allclose(found.predict(each), [11.0, 21.0, 31.0], atol=0.2)


def test_a_recalibration_that_could_not_be_repeated_is_refused():
    X, y = datasets.masked_interaction(300, random_state=0)
    fitted = TSLRegressor(1, early_stopping=False, random_state=0).fit(X, y)
    with pytest.raises(ValueError, match="y must be such that scales of recalibrate are at most"):
        fitted.edit().recalibrate(X, y * 1e302)
    large = fitted.edit().recalibrate(X, y * 1e290).apply(reason="another unit")
    again = fitted.edit().replay(large.edits_).apply(reason="again")
    np.testing.assert_array_equal(again.predict(X), large.predict(X))
