"""Main effects: the additive part of a model, and models that have nothing else."""

import dataclasses
import json
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from seplearn import TSLRegressor, datasets, explain, load_model
from seplearn.model.edit import scaled
from seplearn.table.binning import CategoricalAxis, NumericAxis
from tests import naive_explain as naive
from tests.explained import (
    CASES,
    EXPLANATIONS,
    NAMES,
    QUICK,
    assert_close,
    effects_by_hand,
    every_case,
    hand_made,
    joint,
    levels,
    main_effects,
    numeric,
    table,
    tilted,
)

with_effects = pytest.mark.parametrize("make", [main_effects, effects_by_hand])


@every_case
def test_intercept_effects_and_stages_add_up_to_the_prediction(make):
    case = make()
    model, estimator = case.model, case.subject
    effects, stages = model.effect_values(case.codes), model.contributions(case.codes)
    total = model.intercept + effects.sum(axis=1) + stages.sum(axis=1)
    assert_close(total, case.predict(case.X), 1e-12)
    np.testing.assert_array_equal(
        model.effect_values(case.codes), naive.main_effects(model, case.codes)
    )
    if isinstance(estimator, TSLRegressor):
        effects = estimator.predict_effects(case.X)
        assert effects.shape == (len(case.codes), model.bins.n_axes)
        total = estimator.intercept_ + effects.sum(axis=1) + estimator.predict_stages(case.X).sum(1)
        assert_close(total, estimator.predict(case.X), 1e-9)
        assert effects.any() == (model.effects is not None)


@with_effects
def test_curves_are_what_the_model_adds(make):
    case = make()
    result = explain.main_effects(case.subject)
    found = np.stack([v[case.codes[:, j]] for j, v in enumerate(result.values)], axis=1)
    np.testing.assert_array_equal(found, naive.main_effects(case.model, case.codes))
    weight = case.model.reference.weight
    expected = naive.main_effects(case.model, case.model.reference.codes)
    assert_close(result.spread, [naive.variance(g, weight) ** 0.5 for g in expected.T])
    for values, frequencies in zip(result.values, result.frequencies, strict=True):
        assert frequencies @ values == pytest.approx(0.0, abs=1e-9)
    unseen = result.values[3][-1], result.frequencies[3][-1]
    assert unseen == (0.0, 0.0)  # a level never seen is neutral


@with_effects
def test_the_frame_has_a_row_per_bin(make):
    result = explain.main_effects(make().subject)
    frame = result.frame()
    np.testing.assert_array_equal(frame["effect"], np.concatenate(result.values))
    np.testing.assert_array_equal(frame["frequency"], np.concatenate(result.frequencies))
    words = frame[frame["feature"] == result.names[3]]["level"]
    assert list(words) == ["S\u00fcdost", "north", "south", "(rare)", "(missing)", "(unseen)"]
    numbers = frame[frame["feature"] == result.names[1]]
    assert numbers["lower"].iloc[0] == -np.inf
    np.testing.assert_array_equal(numbers["lower"].iloc[1:-1], result.axes[1].edges)
    assert ("effect_lower" in frame) == (make is main_effects)


def test_bands_are_quantiles_over_the_replicates():
    case = main_effects()
    result = explain.main_effects(case.subject, level=0.5)
    ends = naive.band([m.effects for m in case.model.replicates], 0.5)
    np.testing.assert_allclose(np.concatenate(result.bands, axis=1), ends, rtol=1e-12)
    assert explain.main_effects(effects_by_hand().subject).bands == ()
    frame = result.frame()
    assert (frame["effect_lower"] <= frame["effect_upper"]).all()


@with_effects
def test_partial_dependence_tells_main_effects_apart(make):
    case = make()
    some, codes = case.X[:70], case.codes[:70]
    weight = np.full(70, 1 / 70)

    def additive(rows):
        return naive.main_effects(case.model, rows).sum(axis=1)

    for features in ((1,), (3, 0), (4, 3, 2)):
        result = explain.partial_dependence(case.subject, list(features), background=some)
        expected = naive.partial_dependence(additive, codes, weight, features, case.n_bins)
        assert_close(result.effects, expected)
        assert_close(result.intercept + result.effects + result.stages.sum(axis=0), result.total)
        assert_close(result.frame()["main_effects"].to_numpy(), expected.ravel())
    pair = explain.partial_dependence(case.subject, [1, 0], background=some)
    columns = np.asarray(case.X)[:, [1, 0]].astype(float)
    assert_close(pair.at(columns), pair.total[case.codes[:, 1], case.codes[:, 0]])
    if case.model.replicates:
        values = [
            naive.partial_dependence(
                lambda c, m=m: naive.main_effects(m, c).sum(axis=1),
                codes,
                weight,
                (1,),
                case.n_bins,
            )
            for m in case.model.replicates
        ]
        result = explain.partial_dependence(case.subject, 1, background=some, level=0.5)
        assert_close(result.band("effects"), naive.band(values, 0.5))


def test_models_without_main_effects_have_none_to_show():
    for name, make in CASES.items():
        if make in (main_effects, effects_by_hand):
            continue
        with pytest.raises(ValueError, match="model has no main effects: none were fitted, or"):
            explain.main_effects(make().subject)
        assert not explain.partial_dependence(make().subject, 0).effects.any(), name
    assert "main_effects" not in explain.partial_dependence(joint().subject, 0).frame()


def additive(intercept=2.0):
    """Three features: a step of 1 and of -1, levels that are worth 2 and -3, and nothing."""
    axes = [numeric(0.0), levels("a", "b"), numeric(0.0)]
    frequencies = [[0.5, 0.5, 0.0], [0.6, 0.4, 0, 0, 0], [0.5, 0.5, 0.0]]
    effects = np.array([-1.0, 1.0, 0.0, 2.0, -3.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0])
    return replace(hand_made(axes, frequencies, [], intercept), effects=effects)


ROWS = np.array([[1.0, "a", 0.0], [-1.0, "b", 1.0], [np.nan, "never", 0.0]], dtype=object)


def test_a_model_of_main_effects_alone():
    model = additive()
    codes = model.reference.codes
    rows = np.array([[0, 0, 0], [1, 1, 0]], dtype=np.uint8)
    np.testing.assert_array_equal(model.predict(rows), [3.0, 0.0])
    together = explain.interactions(model)
    assert together.variance == pytest.approx(1.0 + 6.0)
    np.testing.assert_allclose(together.main, [1 / 7, 6 / 7, 0.0], atol=1e-12)
    np.testing.assert_allclose(together.total, together.main, atol=1e-12)
    for part in (together.pairwise, together.h, together.h_total):
        np.testing.assert_allclose(part, 0.0, atol=1e-7)
    shapley = explain.shapley(model, ROWS)
    expected = [[1.0, 2.0, 0.0], [-1.0, -3.0, 0.0], [0.0, 0.0, 0.0]]
    np.testing.assert_allclose(shapley.values, expected, atol=1e-12)
    assert shapley.base == pytest.approx(2.0)
    assert str(explain.roles(model)) == "main effects (100 %): x1, x0"
    assert explain.importance(model, kind="paper").effects_weight == 1.0
    local = explain.local(model, ROWS, 1)
    np.testing.assert_array_equal(local.effects, [-1.0, -3.0, 0.0])
    assert list(local.frame()["stage"]) == ["main effect"] * 3 + ["intercept"]
    np.testing.assert_allclose(explain.partial_dependence(model, 0).total, [1.0, 3.0, 2.0])
    values = explain.ice(model, 1, max_rows=1000).values
    np.testing.assert_array_equal(values, naive.individual(model.predict, codes, 1, 5))
    assert explain.stages(model).effects_mean == pytest.approx(0.0, abs=1e-12)


@pytest.mark.parametrize("name", ["curves", "tilt", "maps", "reconstruct"])
def test_what_shows_a_stage_says_that_there_is_none(name):
    with pytest.raises(ValueError, match="model has no stages, only an intercept and main effects"):
        EXPLANATIONS[name](additive(), ROWS)


def test_a_main_effect_may_cancel_what_products_say_alone():
    """What is left of a feature that does nothing by itself is its interaction."""
    axes, half = [numeric(0.0), numeric(0.0)], [0.5, 0.5, 0.0]
    stage = tilted([np.ones(3)] * 2, [[-1, 1, 0], [-0.5, 0.5, 0]], d0=0.7)
    model = hand_made(axes, [half, half], [stage])
    mean = explain.partial_dependence(model, 0).total
    against = np.concatenate([-(mean - mean[:2].mean()), np.zeros(3)])
    result = explain.interactions(replace(model, effects=against))
    assert result.main[0] == pytest.approx(0.0, abs=1e-12)
    frequencies = [np.array(half)] * 2
    expected = naive.sobol(replace(model, effects=against).predict, frequencies)
    parts = (result.variance, result.main, result.total, result.pairwise)
    for found, wanted in zip(parts, expected, strict=True):
        assert_close(found, wanted, 1e-9)
    assert result.total[0] == pytest.approx(result.pairwise[0, 1])


@pytest.mark.parametrize("factor", [1e-200, 1e200])
def test_main_effects_of_any_size_are_shares_all_the_same(factor):
    model = effects_by_hand().model
    large = scaled(model, factor)
    one, other = (explain.interactions(m) for m in (model, large))
    for name in ("main", "total", "pairwise"):
        assert_close(getattr(other, name), getattr(one, name), 1e-9)
    np.testing.assert_allclose(other.h, one.h, atol=1e-6)
    a, b = (explain.importance(m, kind="paper") for m in (model, large))
    assert b.effects_weight == pytest.approx(a.effects_weight)
    assert_close(b.effect_spread / factor, a.effect_spread)
    assert str(explain.roles(large)) == str(explain.roles(model))


def test_an_estimator_without_stages_is_saved_with_its_bands(tmp_path):
    X, _ = table()
    y = 3.0 * X[NAMES[1]] + np.where(X[NAMES[2]] > 0, 1.0, -1.0)
    model = TSLRegressor(**QUICK | {"main_effects": True}, n_bootstrap=3).fit(X, y)
    bare = [replace(m, stages=()) for m in (model.model_, *model.model_.replicates)]
    model._store(model._schema, replace(bare[0], replicates=tuple(bare[1:])), [])
    assert model.score(X, y) > 0.9
    model.save(tmp_path / "m.tsl")
    again = load_model(tmp_path / "m.tsl")
    np.testing.assert_array_equal(again.predict(X), model.predict(X))
    low, high = again.predict_interval(X, kind="mean").T
    np.testing.assert_array_equal(
        model.predict_interval(X, kind="mean"), again.predict_interval(X, kind="mean")
    )
    assert (low <= high).all()
    assert (low < high).any()
    with pytest.raises(ValueError, match="staged_predict needs a fit with refine='scalars'"):
        model.staged_predict(X)


def test_main_effects_need_joint_refinement():
    X, y = table()
    with pytest.raises(ValueError, match="main_effects=True needs refine='joint', got refine="):
        TSLRegressor(refine="scalars", main_effects=True).fit(X, y)


def test_monotone_main_effects_stay_monotone(tmp_path):
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"up": rng.normal(size=300), "other": rng.normal(size=300)})
    y = X["up"] + 0.5 * np.sin(5 * X["up"]) + X["other"] ** 2
    options = QUICK | {"n_stages": 1, "main_effects": True, "monotonic_cst": {"up": 1}}
    model = TSLRegressor(**options).fit(X, y)
    values = explain.main_effects(model).values[0][:-1]
    assert (np.diff(values) >= 0).all()


def test_what_an_explanation_holds_is_no_part_of_the_model():
    X, y = datasets.rents(300, random_state=0)
    model = TSLRegressor(
        n_stages=1, main_effects=True, early_stopping=False, loss="gamma", random_state=0
    ).fit(X, y)
    before = model.to_dict()
    results = [
        explain.main_effects(model),
        explain.partial_dependence(model, 0),
        explain.ice(model, 0, X=X),
        explain.curves(model, 0),
        explain.response(model, 0),
        explain.card(model, "area"),
        explain.tilt(model, 0),
    ]
    for array in arrays_in(results):
        array[...] = 7
    assert json.dumps(model.to_dict()) == json.dumps(before)


def arrays_in(value):
    """All arrays of numbers in results, but for the bins, which are the model's."""
    if isinstance(value, np.ndarray):
        yield from [value] if value.flags.writeable and value.dtype.kind in "fi" else []
    elif isinstance(value, (list, tuple)):
        for one in value:
            yield from arrays_in(one)
    elif dataclasses.is_dataclass(value) and not isinstance(value, (NumericAxis, CategoricalAxis)):
        for field in dataclasses.fields(value):
            yield from arrays_in(getattr(value, field.name))
