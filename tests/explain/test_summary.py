"""The whole model in sentences: numbers against definitions, sentences against models by hand."""

import math
import re
from dataclasses import replace
from functools import cache
from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd
import pytest

from seplearn import TSLClassifier, TSLRegressor, datasets, explain
from seplearn.explain.sentences import _times
from seplearn.explain.signs import Factored, prediction_along, sign_change, usual_shape
from seplearn.explain.statements import way_of
from seplearn.model import SeparationModel
from tests.explained import (
    assert_close,
    every_case,
    hand_made,
    joint,
    levels,
    main_effects,
    numeric,
    product,
    tilted,
)


@cache
def masked(seed):
    X, y = datasets.masked_interaction(10_000, as_frame=True, random_state=seed)
    return TSLRegressor(n_stages=2, random_state=seed).fit(X, y)


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_x2_and_x3_flip_the_sign_of_the_masked_interaction_and_x1_does_not(seed):
    summary = explain.summary(masked(seed))
    assert summary["x1"].sign is None
    for name, place in (("x2", 0.0), ("x3", -1.0)):
        (flip,) = summary[name].sign.flips
        assert abs(flip.at - place) < 0.1
        assert summary[name].sign.share > 0.9
        assert f"It changes its sign along {name} at " in str(summary)
    assert "It does not change its sign along x1 at one place" in str(summary)
    assert {change.name for change in summary["x1"].turned_by} == {"x2", "x3"}
    assert "By itself it does next to nothing" in str(summary)


def test_what_cancels_between_stages_is_not_told():
    """Two stages and their opposites make no difference to what is said."""
    model = masked(0)
    doubled = model.model_.stages + tuple(
        replace(stage, plus=None if stage.minus is None else _turned(stage.minus),
                minus=None if stage.plus is None else _turned(stage.plus))
        for stage in model.model_.stages
    ) + model.model_.stages  # fmt: skip
    same = replace(model.model_, stages=doubled)
    one, other = explain.summary(model.model_), explain.summary(same)
    for name in ("x0", "x1", "x2"):
        assert other[name].importance == pytest.approx(one[name].importance, rel=1e-6)
        assert (other[name].sign is None) == (one[name].sign is None)
        if one[name].sign is not None:
            assert other[name].sign.flips == one[name].sign.flips


def _turned(branch):
    return replace(branch, coefficient_sign=-branch.coefficient_sign)


@every_case
def test_the_numbers_are_those_of_the_other_explanations(make):
    case = make()
    summary = explain.summary(case.subject)
    shares, sizes = explain.interactions(case.subject), explain.importance(case.subject)
    rows = case.model.reference
    prediction = case.model.predict(rows.codes)
    assert summary.mean == pytest.approx(rows.weight @ prediction)
    variance = rows.weight @ (prediction - summary.mean) ** 2
    assert summary.spread == pytest.approx(variance**0.5)
    assert summary.reading_size == case.model.reading_size
    assert [one.importance for one in summary.features] == sorted(
        (sizes.values[one.feature] for one in summary.features), reverse=True
    )
    for one in summary.features:
        assert (one.alone, one.total) == (shares.main[one.feature], shares.total[one.feature])
        whole = explain.partial_dependence(case.subject, one.feature).total
        assert_close(one.curve, whole[one.bins])
    names = {one.name for one in summary.features}
    assert names | set(summary.unused) == set(summary.names)
    used = [one.name for one in summary.features]
    assert list(summary.frame()["feature"]) == [*used, *summary.unused]
    assert all(
        sentence.endswith((".", "which.")) for _, part in summary.sections for sentence in part
    )


@every_case
def test_the_factored_table_is_the_prediction(make):
    case = make()
    rows = case.model.reference
    for j in range(case.model.bins.n_axes):
        table = prediction_along(case.model, rows, j)
        found = table.left @ table.right
        expected = explain.ice(case.subject, j, max_rows=10**6).values
        k = np.unravel_index(np.argmax(np.abs(expected)), expected.shape)
        assert_close(found * (expected[k] / found[k]), expected)
        assert found[k] * expected[k] > 0


def test_the_shape_is_the_leading_singular_vector():
    random = np.random.default_rng(0)
    left, right = random.normal(size=(40, 3)), random.normal(size=(3, 12))
    weight, frequencies = random.uniform(size=40), random.uniform(size=12)
    table = np.sqrt(weight)[:, None] * (left @ right) * np.sqrt(frequencies)
    expected = np.linalg.svd(table)[2][0] / np.sqrt(frequencies)
    found = Factored(left, right, weight, frequencies).shape
    np.testing.assert_allclose(found / found[0], expected / expected[0], rtol=1e-6, atol=1e-8)


AXES = [numeric(-1.0, 0.0, 1.0), levels("a", "b", "c")]
FREQUENCIES = [[0.25] * 4 + [0.0], [0.5, 0.25, 0.25, 0.0, 0.0, 0.0]]


def by_hand(first, second):
    """One product of factors with signs: both given bin by bin."""
    return hand_made(AXES, FREQUENCIES, [product([[*first, 1.0], [*second, 1.0, 1.0, 1.0]])])


def test_a_sign_that_flips_at_one_place():
    summary = explain.summary(by_hand([-2, -1, 1, 2], [1, 1, 2]))
    (flip,) = summary["x0"].sign.flips
    assert (flip.at, flip.upward, summary["x0"].sign.share) == (0.0, True, 1.0)
    assert summary["x1"].sign is None
    assert "It changes its sign along x0 at 0, for 100 % of the rows." in str(summary)
    assert "It does not change its sign along x1 at one place" in str(summary)
    assert summary.negative == 0.5


def test_levels_on_either_side():
    change = explain.summary(by_hand([1, 1, 1, 2], [3, -1, -2]))["x1"].sign
    assert (change.up, change.down, change.flips) == (("a",), ("b", "c"), ())
    text = str(explain.summary(by_hand([1, 1, 1, 2], [3, -1, -2])))
    assert "along x1 between a on one side and b and c on the other" in text


def test_a_rare_level_far_off_hides_no_sign_of_the_others():
    values = [1.0, -1.0, 30.0]
    model = hand_made([levels("a", "b", "c")], [[0.5, 0.49, 0.01, 0.0, 0.0, 0.0]],
                      [product([[*values, 1, 1, 1]])])  # fmt: skip
    change = sign_change(prediction_along(model, model.reference, 0), model.bins, 0, "x0")
    assert {change.up, change.down} == {("a", "c"), ("b",)}


def test_two_places_and_small_excursions():
    change = explain.summary(by_hand([-2, 3, 2, -2], [1, 1, 1]))["x0"].sign
    assert [flip.at for flip in change.flips] == [-1.0, 1.0]
    assert [flip.upward for flip in change.flips] == [True, False]
    assert explain.summary(by_hand([2, -0.01, 3, 2], [1, 1, -1]))["x0"].sign is None


def test_the_direction_is_that_of_most_rows():
    change = explain.summary(by_hand([-2, -1, 1, 2], [-3, 1, -1]))["x0"].sign
    assert [flip.upward for flip in change.flips] == [False]
    assert change.share == 1.0


def test_predictions_of_one_sign_have_no_sign_to_tell():
    summary = explain.summary(by_hand([1, 2, 3, 4], [1, 1, 2]))
    assert not summary.has_signs
    assert "Nowhere to speak of: 100 % of the predictions are positive." in str(summary)
    assert all(one.sign is None for one in summary.features)
    down = explain.summary(replace(by_hand([1, 2, 3, 4], [1, 1, 2]), intercept=-9.0))
    assert "100 % of the predictions are negative" in str(down)


def test_an_effect_turned_upside_down_above_a_large_constant():
    """The prediction stays positive; only directions can tell."""
    model = replace(by_hand([-2, -1, 1, 2], [3, -2, -2]), intercept=100.0)
    summary = explain.summary(model)
    one = summary["x0"]
    assert one.sign is None
    assert one.turned == pytest.approx(0.5)
    (change,) = one.turned_by
    assert (change.name, set(change.up) | set(change.down)) == ("x1", {"a", "b", "c"})
    assert "with x0 for 50 % of the rows" in str(summary)
    assert "x1 (between a on one side and b and c on the other) decides which" in str(summary)
    (back,) = summary["x1"].turned_by
    assert [flip.at for flip in back.flips] == [0.0]


def test_effects_that_only_grow_are_not_turned():
    model = replace(by_hand([1, 2, 3, 4], [1, 2, 4]), intercept=-5.0)
    assert all(one.turned == 0.0 for one in explain.summary(model).features)
    assert "No feature to speak of acts the other way round" in str(explain.summary(model))


def test_rows_that_hardly_have_a_shape_count_on_neither_side():
    left = np.array([[1.0], [1.0], [-0.001], [-1.0]])
    effect = Factored(left, np.array([[-1.0, 0.0, 1.0]]), np.full(4, 0.25), np.full(3, 1 / 3))
    shape, share, idle = usual_shape(effect)
    assert share == idle == pytest.approx(1 / 4)
    assert shape[2] * shape[0] < 0


def test_rows_that_a_feature_hardly_moves_are_told_of():
    rng = np.random.default_rng(0)
    way, x = rng.choice(["up", "down", "none"], 600, p=[0.3, 0.2, 0.5]), rng.integers(0, 6, 600)
    y = np.select([way == "up", way == "down"], [x, -x], 0.0) + 0.01 * rng.normal(size=600)
    model = TSLRegressor(4, early_stopping=False, random_state=0)
    model.fit(pd.DataFrame({"x": x, "way": way}), y)
    one = explain.summary(model)["x"]
    shares = {level: float((way == level).mean()) for level in ("up", "down", "none")}
    assert (one.turned, one.idle) == pytest.approx((shares["down"], shares["none"]), abs=0.06)
    (line,) = (s for s in str(explain.summary(model)).splitlines() if "hardly moves for" in s)
    assert "way (between up on one side and down on the other) decides which" in line


def test_rows_that_disagree_have_no_common_place():
    left = np.eye(3)
    right = np.array([[-1.0, 1.0, 1.0, 1.0], [-1.0, -1.0, 1.0, 1.0], [-1.0, -1.0, -1.0, 1.0]])
    values = Factored(left, right, np.full(3, 1 / 3), np.full(4, 0.25))
    bins = by_hand([1, 1, 1, 1], [1, 1, 1]).bins
    padded = replace(values, right=np.hstack([right, np.zeros((3, 1))]),
                     frequencies=np.append(values.frequencies, 0.0))  # fmt: skip
    change = sign_change(padded, bins, 0, "x0")
    assert change is None or change.share < 0.9


def test_levels_that_hardly_move_some_rows_are_told_of_too():
    """A fifth of the rows has the effect of x0 upside down, half of them hardly at all."""
    axes = [levels("a", "b"), levels("u", "v", "w")]
    shares = [[0.5, 0.5, 0.0, 0.0, 0.0], [0.3, 0.2, 0.5, 0.0, 0.0, 0.0]]
    model = hand_made(axes, shares, [product([[1, -1, 1, 1, 1], [1, -1, 1e-3, 1, 1, 1]])])
    summary = explain.summary(model)
    one = summary["x0"]
    assert (one.turned, one.idle) == pytest.approx((0.2, 0.5))
    assert not one.way
    text = "What x0 does is upside down for 20 % of the rows, and next to nothing for 50 %; x1"
    assert text in str(summary)
    assert summary.frame()["idle"].tolist() == [pytest.approx(0.5), 0.0]


def test_small_islands_of_the_other_sign_count_against_a_common_place():
    """Bins of 1 % each: each island is too small to be told of, all together are not."""
    bins = hand_made([numeric(*range(99))], [[0.01] * 100 + [0.0]], []).bins
    for every, told in ((20, True), (4, False)):
        curve = np.where(np.arange(100) < 50, -1.0, 1.0)
        curve[::every] *= -1.0
        values = Factored(np.ones((1, 1)), np.append(curve, 0.0)[None], np.ones(1),
                          np.append(np.full(100, 0.01), 0.0))  # fmt: skip
        change = sign_change(values, bins, 0, "x")
        assert (change is not None) == told
        if change is not None:
            assert [flip.at for flip in change.flips] == [49.0]


def test_a_sign_that_changes_for_few_rows_is_not_told():
    """The prediction is x0 for two fifths of the rows and has one sign for the others."""
    axes = [numeric(-1.0, 0.0, 1.0), levels("a", "b")]
    shares = [[0.25] * 4 + [0.0], [0.4, 0.6, 0.0, 0.0, 0.0]]
    along = product([[-10, -5, 5, 10, 1], [1.0, 0.01, 1, 1, 1]])
    model = hand_made(axes, shares, [along, product([[1, 1, 1, 1, 1], [0.01, 1, 1, 1, 1]])])
    change = sign_change(prediction_along(model, model.reference, 0), model.bins, 0, "x0")
    assert change.share == pytest.approx(0.4)
    assert explain.summary(model)["x0"].sign is None


def test_a_sum_of_single_features_has_nothing_that_acts_together():
    X = np.random.default_rng(0).normal(size=(200, 2))
    y = X[:, 0] + X[:, 1]
    told = str(explain.summary(TSLRegressor(0, random_state=0).fit(X, y)))
    assert "Nothing does: what every feature does is the same whatever the others are." in told
    assert "pairs" not in told


def test_unused_features_are_named():
    summary = explain.summary(by_hand([1, 2, 3, 4], [1, 1, 1]))
    assert summary.unused == ("x1",)
    assert [one.name for one in summary.features] == ["x0"]
    assert "Not used:\n- x1: in no curve." in str(summary)
    with pytest.raises(KeyError, match=r"feature must be one of \['x0'\], got 'x1'"):
        summary["x1"]


def test_a_constant_that_rounding_moves_has_no_spread():
    """The mean of 107 numbers that are all 0.1 is another number."""
    model = TSLRegressor(random_state=0).fit(np.arange(107.0)[:, None], np.full(107, 0.1))
    weight = np.full(107, 1.0 / 107)
    assert weight @ np.full(107, 0.1) != 0.1
    assert explain.summary(model).spread == 0.0


def test_a_constant_is_told_in_a_sentence():
    model = replace(by_hand([1, 2, 3, 4], [1, 1, 1]), stages=())
    summary = explain.summary(model)
    assert "by a constant: 0 curves to read." in str(summary)
    assert str(summary).endswith("Every prediction is the same.")
    assert summary.frame()["importance"].tolist() == [0.0, 0.0]


def test_curves_in_words():
    def told(first):
        return str(explain.summary(by_hand(first, [1, 1, 1])))

    assert "It raises the prediction from 1 at -1.5 to 4 at 1.5." in told([1, 2, 3, 4])
    assert "It lowers the prediction from 4 at -1.5 to 1 at 1.5." in told([4, 3, 3, 1])
    peak = "It raises the prediction from 1 at -1.5 to 4 at 0.5, then lowers it to 2 at 1.5."
    assert peak in told([1, 2, 4, 2])
    turning = "The prediction turns 2 times: lowest is 1 at -1.5, highest 5 at 1.5."
    assert turning in told([1, 4, 2, 5])
    model = by_hand([1, 1, 1, 1], [3, 1, 2])
    assert "From low to high: 1 for b, 2 for c, 3 for a." in str(explain.summary(model))


def test_reading_size_and_turning_points_come_first():
    model = main_effects().model
    first = str(explain.summary(model)).split("\n")[0]
    assert f"{len(model.stages)} stages and main effects: {model.reading_size} curves" in first
    assert f"{np.median(model.turning_points):g} in the median" in first
    assert f"{model.turning_points.max()} at most" in first


def test_rows_are_needed_and_may_be_given():
    model = replace(joint().model, reference=None)
    with pytest.raises(ValueError, match="background must be given"):
        explain.summary(model)
    assert isinstance(model, SeparationModel)
    summary = explain.summary(joint().subject, background=joint().X[:50])
    assert summary.n_rows == 50


def test_two_products_by_hand():
    """Tilts that turn the whole: the sign follows the tilt of x0 alone."""
    stage = tilted([[1, 1, 1, 1, 1], [1, 2, 3, 1, 1, 1]], [[-1, -0.5, 0.5, 1, 0], [0] * 6])
    summary = explain.summary(hand_made(AXES, FREQUENCIES, [stage]))
    assert [flip.at for flip in summary["x0"].sign.flips] == [0.0]
    assert summary["x1"].sign is None


def test_long_numbers_have_their_thousands_apart():
    def told(unit):
        return str(explain.summary(by_hand([1 * unit, 2 * unit, 3 * unit, 4 * unit], [1, 1, 1])))

    assert "from 1000 at -1.5 to 4000 at 1.5." in told(1_000)  # as years are written
    assert "from 10,000 at -1.5 to 40,000 at 1.5." in told(10_000)
    assert "from -10,000 at -1.5 to -40,000 at 1.5." in told(-10_000)
    assert "to 4e+20 at 1.5." in told(1e20)


def test_negative_predictions_without_a_common_place_are_told():
    """One cell of twelve is negative: for most rows the sign changes along neither feature."""
    model = replace(by_hand([0.1, 0.1, 0.1, 1], [0.1, 0.1, -2]), intercept=1.0)
    summary = explain.summary(model)
    assert summary.has_signs
    assert "of the predictions are negative, but along no feature does" in str(summary)


def test_a_rare_flag_is_told_as_it_is():
    rng = np.random.default_rng(0)
    x, flag = rng.normal(size=1000), (np.arange(1000) % 125 == 0).astype(float)
    known = np.where(np.arange(1000) % 4 == 0, 1.0, np.nan)
    X = pd.DataFrame({"x": x, "flag": flag, "known": known})
    y = x + 50.0 * flag + 3.0 * (known == 1.0)
    options = {"n_stages": 0, "early_stopping": False, "random_state": 0}
    told = str(explain.summary(TSLRegressor(**options).fit(X, y)))
    assert re.search(r"flag: .* It raises the prediction from \S+ at 0 to \S+ at 1\.", told)
    assert re.search(r"known: .* for \(missing\), \S+ for 1\.", told)


def test_numbers_of_which_one_is_infinite():
    rng = np.random.default_rng(0)
    far = np.where(rng.random(200) < 0.5, np.inf, 0.0)
    X = pd.DataFrame({"far": far, "x": rng.normal(size=200)})
    options = {"n_stages": 0, "early_stopping": False, "random_state": 0}
    model = TSLRegressor(**options).fit(X, np.where(np.isinf(far), 5.0, -5.0))
    assert "far" in str(explain.summary(model))
    assert "far" in str(explain.card(model, "far"))


@pytest.mark.parametrize(
    ("curve", "way"),
    [
        ([0.2, 0.6, 1.0, 0.5, 0.0, 0.05], "raises, then lowers"),
        ([0.8, 0.4, 0.0, 0.5, 1.0, 0.95], "lowers, then raises"),
        ([0.0, 0.5, 1.0, 0.5, 0.0], "raises, then lowers"),
        ([0.0, 0.5, 1.0], "raises"),
    ],
)
def test_the_turn_that_is_told_is_the_larger_one(curve, way):
    axis = SimpleNamespace(
        kind="numeric", describe=lambda: SimpleNamespace(meanings=["range"] * len(curve))
    )
    bins = np.arange(len(curve))
    one: Any = SimpleNamespace(total=1.0, alone=1.0, axis=axis, curve=np.array(curve), bins=bins)
    assert way_of(one) == way


def test_no_sign_is_told_where_zero_is_no_border():
    rng = np.random.default_rng(0)
    x = rng.uniform(-1.0, 1.0, size=600)
    X = pd.DataFrame({"x": x})
    options = {"n_stages": 0, "early_stopping": False, "random_state": 0}
    counts = TSLRegressor(loss="poisson", **options).fit(X, rng.poisson(np.exp(2.0 * x)))
    assert all(one.kind != "sign" for one in explain.summary(counts).statements)
    assert "changes its sign" not in str(explain.card(counts, "x"))
    three = TSLClassifier(**options).fit(
        X, np.digitize(x + 0.2 * rng.normal(size=600), [-0.3, 0.3])
    )
    assert all(one.kind != "sign" for one in explain.summary(three.for_class(2)).statements)
    odds = str(explain.summary(three.for_class(2, against=0)))
    assert "and the probability between the two crosses one half" in odds


def test_shares_are_of_all_rows_and_not_of_some():
    X, y = datasets.rents(2000, random_state=0)
    model = TSLRegressor(2, random_state=0).fit(X, y)
    one = explain.summary(model, background=X)["floor"]
    ends = [model.predict(X.assign(floor=floor)) for floor in (X["floor"].min(), X["floor"].max())]
    rises = float((ends[1] > ends[0]).mean())
    usual = 1.0 - one.turned - one.idle
    assert (usual if one.way == "rises" else one.turned) == pytest.approx(rises, abs=0.01)


@pytest.mark.parametrize(
    "effect", [lambda x, z: 4 * x**2 + 2 * x * z, lambda x, z: 2 * z * np.sign(x) + 6 * (x > 0.86)]
)
def test_rows_with_other_curves_are_not_said_to_have_the_same_upside_down(effect):
    rng = np.random.default_rng(0)
    x, z = rng.uniform(-1.0, 1.0, 1000), rng.choice([-1.0, 1.0], 1000)
    X = pd.DataFrame({"x": x, "z": z})
    model = TSLRegressor(4, random_state=0).fit(X, effect(x, z) + 6 * z)
    summary = explain.summary(model)
    one = summary["x"]
    assert one.common < 0.85
    assert (one.turned, one.way, one.turned_by) == (0.0, "", ())
    assert "In some rows x acts along another curve than in others" in str(summary)
    assert "No feature to speak of acts the other way round" not in str(summary)
    kinds = {(one.kind, one.features) for one in summary.statements}
    assert ("mixed", ("x",)) in kinds
    assert ("none turned", ()) not in kinds
    assert "In some rows it acts along another curve" in str(explain.card(model, "x"))
    table = np.array([model.predict(X.assign(x=v)) for v in np.sort(x)[10:-10:5]])
    table -= table.mean(axis=0)
    share = np.linalg.svd(table, compute_uv=False)[0] ** 2 / (table**2).sum()
    assert one.common == pytest.approx(share, abs=0.1)


def test_copies_of_a_column_are_told_of():
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(400, 3)), columns=["a", "b", "c"])
    X = X.assign(copy=np.exp(X["a"]), flag=rng.integers(0, 2, 400))
    X["same_flag"] = X["flag"]
    model = TSLRegressor(3, early_stopping=False, random_state=0)
    model.fit(X, X["a"] * X["b"] + X["c"] + X["flag"] + 0.1 * rng.normal(size=400))
    summary = explain.summary(model)
    assert summary.twins == (("a", "copy"),)
    assert "a and copy are in the same bins in every row" in str(summary)


@pytest.mark.parametrize(
    ("log", "text"),
    [(math.log(999.7), "times 1,000"), (math.log(0.05), "times 0.05"),
     (math.log(7.72e-6), "divided by 130,000"), (math.log(2.5e12), "times 2.5e+12")],
)  # fmt: skip
def test_factors_can_be_read(log, text):
    assert _times(log, "log-odds of yes") == f", the odds {text}"


def test_places_among_small_values_of_a_skewed_feature_are_told_apart():
    """A hundredth of all incomes is more than most of them."""
    income = np.random.default_rng(0).lognormal(8.0, 2.0, size=1000)
    y = -np.abs(np.log(income) - 5.0)  # highest at 148
    model = TSLRegressor(n_stages=0, random_state=0).fit(pd.DataFrame({"income": income}), y)
    (told,) = re.findall(r"from \S+ at (\S+) to \S+ at (\S+), then", str(explain.summary(model)))
    assert float(told[0]) > 0.0
    assert 120 < float(told[1]) < 180
