"""Scorecards: points add up to the sum, and what is no scorecard is refused."""

import copy
import math
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from seplearn import TSLClassifier, TSLRegressor, explain
from seplearn.model.reading import brief
from seplearn.model.stage import Stage
from tests.export.models import QUICK, model, records, rows


def changed(fitted, **parts):
    """A copy whose model has other parts."""
    other = copy.copy(fitted)
    other.model_ = replace(fitted.model_, **parts)
    return other


def additive(name="effects"):
    return changed(model(name), stages=())


def points_of(card, row):
    """The sum of points of a row, looked up as a reader would."""
    total = card.base
    for feature in dict.fromkeys(r.feature for r in card.rows):
        own = [r for r in card.rows if r.feature == feature]
        total += _found(own, row[feature]).points
    return total


def _found(own, value):
    if any(not math.isnan(r.lower) for r in own):
        ranges = [r for r in own if not math.isnan(r.lower)]
        if value is None:
            return own[-1]
        inside = [r for r in ranges if r.lower <= value < r.upper]
        return inside[0] if inside else ranges[-1]
    named = {r.range: r for r in own}
    if value is None:
        return named["(missing)"]
    fallback = "(rare)" if str(value) == "r'are" and "(rare)" in named else "(unseen)"
    return named.get(str(value), named[fallback])


@pytest.mark.parametrize("name", ["effects", "log"])
def test_points_of_main_effects_add_up_to_the_sum(name):
    fitted, X = additive(name), rows()
    card = fitted.to_scorecard()
    found = [points_of(card, row) for row in records(X)]
    np.testing.assert_allclose(found, fitted._sums(X), rtol=1e-9)
    counts = "log of the prediction less the log of y'ears"  # the exposure, which has no points
    assert card.score == {"effects": "prediction", "log": counts}[name]


def test_points_of_one_product_add_up_to_its_log():
    fitted, X = model("identity"), rows()
    alone = {"stages": (Stage(fitted.stages_[0].plus, None),), "effects": None}
    below = changed(fitted, **alone, intercept=-2.5)
    assert below.to_scorecard().score == "log of (prediction + 2.5)"
    one = changed(fitted, **alone, intercept=2.5)
    card = one.to_scorecard()
    assert card.score == "log of (prediction - 2.5)"
    found = [math.exp(points_of(card, row)) for row in records(X)]
    np.testing.assert_allclose(found, one.predict_stages(X)[:, 0], rtol=1e-9)
    less = changed(fitted, stages=(Stage(None, fitted.stages_[0].minus),), intercept=0.0)
    assert less.to_scorecard().score == "log of -(prediction)"


def test_stages_of_one_feature_are_added():
    X = np.linspace(0, 1, 200)[:, None]
    fitted = TSLRegressor(**QUICK, refine="scalars").fit(X, np.sin(6 * X[:, 0]))
    assert len(fitted.stages_) > 0
    card = fitted.to_scorecard()
    found = [points_of(card, {"x0": value}) for value in X[:, 0]]
    np.testing.assert_allclose(found, fitted.predict(X), rtol=1e-9)


def test_points_may_be_scaled_and_rounded():
    fitted, X = additive(), rows()
    exact, card = fitted.to_scorecard(), fitted.to_scorecard(scale=10, digits=0)
    assert all(row.points == int(row.points) for row in card.rows)
    assert len(card.rows) < len(exact.rows)  # neighbours with the same points became one
    n_features = len({row.feature for row in card.rows})
    found = np.array([points_of(card, row) for row in records(X)])
    assert np.abs(found - 10 * fitted._sums(X)).max() <= 0.5 * (n_features + 1)


@pytest.mark.parametrize("scale", [20 / math.log(2), -20 / math.log(2)])
def test_points_of_either_sign_are_the_scaled_log_odds(scale):
    X = np.linspace(0, 1, 200)[:, None]
    y = np.random.default_rng(0).random(200) < X[:, 0]
    fitted = TSLClassifier(**QUICK | {"n_stages": 0}).fit(X, y)
    card = fitted.to_scorecard(scale=scale)
    found = [points_of(card, {"x0": value}) for value in X[:, 0]]
    np.testing.assert_allclose(found, scale * fitted.decision_function(X), rtol=1e-9, atol=1e-9)
    rounded = fitted.to_scorecard(scale=scale, digits=0)
    off = [points_of(rounded, {"x0": v}) for v in X[:, 0]] - scale * fitted.decision_function(X)
    assert np.abs(off).max() <= 1.0


def test_a_printed_card_shows_the_first_ranges_of_every_feature():
    card = additive().to_scorecard(scale=np.float64(-2.5))
    lines = str(card).splitlines()
    features = {row.feature for row in card.rows}
    size = f"{len(features)} features, {len(card.rows)} rows"
    assert lines[0] == f"Points add up to the prediction, times -2.5. {size}."
    assert lines[1].split()[0] == "base"
    assert float(lines[1].split()[1]) == pytest.approx(card.base, rel=1e-5)
    assert {brief(name) for name in features} <= set(lines)
    assert len(lines) < 10 * (len(features) + 1)
    for row in card.rows:
        own = [other for other in card.rows if other.feature == row.feature]
        if row is own[0]:
            first = lines[lines.index(brief(row.feature)) + 1]
            assert float(first.split()[-1]) == pytest.approx(row.points, rel=1e-5)
        if len(own) > 7:
            rest = [other.points for other in own[6:]]
            assert any(f"... {len(rest)} more, " in line for line in lines)
    assert repr(card).endswith(f"scale=-2.5, rows=<{size}>)")
    assert len(repr(card)) < 200
    wide = replace(card, rows=tuple(card.rows[0]._replace(feature=f"x{j}") for j in range(25)))
    assert str(wide).endswith("... 5 more features")
    assert "25 features, 25 rows" in str(wide)
    assert len(str(replace(card, rows=())).splitlines()) == 2


def test_a_classifier_tells_log_odds_of_its_second_class():
    X = np.linspace(0, 1, 200)[:, None]
    noise = np.random.default_rng(0).normal(size=200)
    fitted = TSLClassifier(**QUICK).fit(X, np.where(4 * X[:, 0] + noise > 2, "b", "a"))
    card = fitted.to_scorecard()
    assert card.score == "log-odds of 'b'"
    found = [points_of(card, {"x0": value}) for value in X[:, 0]]
    np.testing.assert_allclose(found, fitted.decision_function(X), rtol=1e-9, atol=1e-9)


def test_levels_in_brackets_are_told_from_what_is_no_level():
    names = ["(rare)", "(missing)", "(unseen)", "other"]
    X = pd.DataFrame({"kind": np.resize(names, 400)})
    y = np.resize([0.0, 1.0, 2.0, 5.0], 400)
    fitted = TSLRegressor(**QUICK | {"n_stages": 0}).fit(X, y)
    card = fitted.to_scorecard()
    points = {row.range: row.points for row in card.rows if row.meaning == "level"}
    found = [card.base + points[name] for name in names]
    np.testing.assert_allclose(found, fitted.predict(X[:4]), rtol=1e-9)
    others = [(row.meaning, row.range) for row in card.rows if row.meaning != "level"]
    assert others == [("missing", "(missing)"), ("unseen", "(unseen)")]
    assert {"base", "level", "missing", "unseen"} == set(card.frame()["meaning"])
    effects = explain.main_effects(fitted).frame()
    own = effects[effects["meaning"] == "level"]
    assert set(own["level"]) == set(names)
    assert effects["meaning"].tolist()[-3:] == ["rare", "missing", "unseen"]


def test_the_frame_begins_with_the_base():
    card = additive().to_scorecard()
    frame = card.frame()
    assert frame["range"].tolist()[0] == "(base)"
    assert frame["points"].tolist() == [card.base, *(row.points for row in card.rows)]


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("effects", "this one has main effects, and '.*' multiplies several features"),
        ("paper", "this one has 2 stages, of which '.*' multiplies several features"),
    ],
)
def test_other_models_are_refused_with_the_reason(name, reason):
    way_out = r"[.] Fit with n_stages=0 \(command line: --stages 0\)"
    with pytest.raises(ValueError, match=f"a scorecard needs a model of main.*{reason}{way_out}"):
        model(name).to_scorecard()


def test_differences_and_negative_factors_are_refused():
    fitted = model("identity")
    with pytest.raises(ValueError, match="is a difference of two products"):
        changed(fitted, stages=fitted.stages_[:1], effects=None).to_scorecard()
    signed = model("signed")
    with pytest.raises(ValueError, match="has negative factors, of which there is no log"):
        changed(signed, stages=signed.stages_[:1]).to_scorecard()


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ({"scale": 0}, ValueError, "scale must be a finite number other than 0, got 0"),
        ({"scale": np.float64("inf")}, ValueError, "a finite number other than 0, got inf"),
        ({"scale": "2"}, TypeError, "scale must be a finite number other than 0, got '2'"),
        ({"digits": 1.5}, TypeError, "digits must be None or an integer, got 1.5"),
    ],
)
def test_bad_arguments_are_refused(arguments, error, message):
    with pytest.raises(error, match=message):
        additive().to_scorecard(**arguments)


def test_several_classes_have_no_scorecard():
    with pytest.raises(ValueError, match="scores of all: this model has 3 classes"):
        model("classes").to_scorecard()
