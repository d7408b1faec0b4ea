"""Whatever is asked wrongly is answered by a message that names it, never by a crash."""

import numpy as np
import pandas as pd
import pytest
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LinearRegression

from seplearn import TSLRegressor, explain, load_model
from seplearn.model import Stage
from tests.explained import (
    EXPLANATIONS,
    NAMES,
    OVER_ROWS,
    array,
    bands,
    hand_made,
    joint,
    levels,
    numeric,
    product,
    table,
    turned,
)

X, Y = table()
EITHER = (TypeError, ValueError)
CALLS = EXPLANATIONS | {"bags": lambda model, X: explain.bags(model, 0)}
every_call = pytest.mark.parametrize("call", CALLS.values(), ids=CALLS.keys())

WITH_FEATURE = {
    "partial_dependence": explain.partial_dependence,
    "second": lambda model, feature: explain.partial_dependence(model, [0, feature]),
    "ice": explain.ice,
    "maps": lambda model, feature: explain.maps(model, 0, (0, feature)),
    "stages": lambda model, feature: explain.stages(model, {feature: (0, 1)}),
}
with_feature = pytest.mark.parametrize("call", WITH_FEATURE.values(), ids=WITH_FEATURE.keys())
WITH_STAGE = {
    "curves": explain.curves,
    "tilt": explain.tilt,
    "maps": lambda model, stage: explain.maps(model, stage, (0, 1)),
    "reconstruct": explain.reconstruct,
    "bags": explain.bags,
    "ice": lambda model, stage: explain.ice(model, 0, stage=stage),
    "select_stages": lambda model, stage: model.select_stages([stage]),
}
WITH_LEVEL = {
    "curves": lambda level: explain.curves(joint().subject, 0, level=level),
    "partial_dependence": lambda level: explain.partial_dependence(joint().subject, 0, level=level),
    "importance": lambda level: explain.importance(joint().subject, level=level),
    "local": lambda level: explain.local(joint().subject, X, level=level),
}


@every_call
def test_models_that_are_none(call):
    for other in (3, None, "model.tsl", TSLRegressor, LinearRegression(), [joint().subject]):
        with pytest.raises(TypeError, match=r"model must be a fitted estimator of seplearn.*got"):
            call(other, X)


@every_call
def test_estimators_that_are_not_fitted(call):
    with pytest.raises(NotFittedError, match="not fitted yet"):
        call(TSLRegressor(), X)


@with_feature
@pytest.mark.parametrize("feature", ["predicton", "", 5, -1, 1.0, None, True])
def test_features_that_are_not_there_are_told_from_those_that_are(call, feature):
    with pytest.raises(ValueError, match="feature must be one of") as caught:
        call(joint().subject, feature)
    message = str(caught.value)
    assert all(repr(name) in message for name in NAMES)
    assert "or a position from 0 to 4" in message
    assert repr(feature) in message
    assert ("did you mean 'prediction'?" in message) == (feature == "predicton")


def test_of_very_many_features_only_some_are_listed():
    wide = pd.DataFrame(np.random.default_rng(0).normal(size=(30, 60)))
    wide.columns = [f"feature {j}" for j in range(60)]
    model = TSLRegressor(1, early_stopping=False, n_splits=2, random_state=0).fit(
        wide, wide.iloc[:, 0].to_numpy()
    )
    with pytest.raises(ValueError, match="or a position from 0 to 59") as caught:
        explain.ice(model, "featur 59")
    assert "'feature 29', ..." in str(caught.value).replace("]", "")
    assert "did you mean 'feature 59'?" in str(caught.value)


@pytest.mark.parametrize("features", [[0, 0], ["pd", 1], np.array([2, 2])])
def test_features_twice(features):
    for call in (explain.partial_dependence, lambda m, f: explain.maps(m, 0, f)):
        with pytest.raises(ValueError, match="features must be one or more distinct features, got"):
            call(joint().subject, features)


def test_no_features():
    with pytest.raises(
        ValueError, match=r"features must be one or more distinct features, got \[\]"
    ):
        explain.partial_dependence(joint().subject, [])


def test_several_features_where_one_is_meant():
    with pytest.raises(ValueError, match="feature must be one of"):
        explain.ice(joint().subject, ["pd", "backbone"])


@pytest.mark.parametrize("call", WITH_STAGE.values(), ids=WITH_STAGE.keys())
@pytest.mark.parametrize("stage", [3, -1, "first", 1.0, True, [0]])
def test_stages_that_are_not_there(call, stage):
    with pytest.raises(ValueError, match=r"stage must be an integer from 0 to 2 .*got"):
        call(joint().subject, stage)


@pytest.mark.parametrize("stages", ["01", 1.5, None, {"stage": 0}.values])
def test_stages_that_are_no_sequence(stages):
    with pytest.raises(TypeError, match="stages must be numbers of stages, counted from zero, got"):
        joint().subject.select_stages(stages)


@pytest.mark.parametrize("stages", [[], [0, 0], (1, 2, 1)])
def test_stages_twice_or_none(stages):
    with pytest.raises(ValueError, match="stages must be one or more distinct stages, got"):
        joint().subject.select_stages(stages)


def test_a_table_without_target_and_a_target_without_table():
    for given in ({"X": X}, {"y": Y}):
        with pytest.raises(ValueError, match="X and y must be given both"):
            joint().subject.select_stages([0], **given)


def test_a_target_that_does_not_belong_to_the_table():
    for y, message in ((Y[:-1], "inconsistent"), (np.full(400, np.nan), "y contains NaN")):
        with pytest.raises(ValueError, match=message):
            joint().subject.select_stages([0], X, y)


def test_weights_without_rows_to_weigh():
    with pytest.raises(ValueError, match="sample_weight"):
        joint().subject.select_stages([0], sample_weight=np.ones(400))


BACKGROUNDS = {
    "missing and unknown": (
        X.rename(columns={"pd": "PD"}),
        r"background: X must have the columns seen by fit; missing \['pd'\] and unknown \['PD'\]",
    ),
    "a column less": (X.drop(columns="pd"), r"background: .*missing \['pd'\]"),
    "no rows": (X[:0], "background: X must have at least 1 sample"),
    "one dimension": (np.arange(5.0), "background: Expected 2D array"),
    "fewer columns": (
        np.ones((4, 2)),
        "background: X has 2 features, but TSLRegressor is expecting 5",
    ),
}


@pytest.mark.parametrize(("background", "message"), BACKGROUNDS.values(), ids=BACKGROUNDS.keys())
@pytest.mark.parametrize("name", [name for name in OVER_ROWS if name != "shapley"])
def test_backgrounds_of_other_columns(name, background, message):
    with pytest.raises(ValueError, match=message):
        OVER_ROWS[name](joint().subject, background)


@pytest.mark.parametrize(("background", "message"), BACKGROUNDS.values(), ids=BACKGROUNDS.keys())
def test_backgrounds_of_shapley_values(background, message):
    with pytest.raises(ValueError, match=message):
        explain.shapley(joint().subject, X[:2], background=background)


def test_a_background_of_words_where_numbers_are_meant():
    words = X.assign(pd="many")
    with pytest.raises(TypeError, match="background: column 'pd' must hold numbers, got 'many'"):
        explain.partial_dependence(joint().subject, 0, background=words)


def test_tables_to_explain_with_other_columns():
    other = X.drop(columns="pd")
    for call in (explain.local, explain.shapley, lambda m, t: explain.ice(m, 0, t)):
        with pytest.raises(ValueError, match=r"X must have the columns seen by fit; missing"):
            call(joint().subject, other)
        with pytest.raises(ValueError, match="at least 1 sample"):
            call(joint().subject, X[:0])


@pytest.mark.parametrize("row", [400, -1, 1.0, "first", None, True])
def test_rows_that_are_not_there(row):
    with pytest.raises(
        ValueError, match=r"row must be an integer from 0 to 399 \(a position, .*\), got"
    ):
        explain.local(joint().subject, X, row)


@pytest.mark.parametrize("call", WITH_LEVEL.values(), ids=WITH_LEVEL.keys())
@pytest.mark.parametrize("level", [0, 1, -0.5, 90, "0.9", None, True, np.nan])
def test_levels_of_bands(call, level):
    with pytest.raises(ValueError, match="level must be a number between 0 and 1, got"):
        call(level)


NUMBERS = {
    "gamma": (
        lambda value: explain.importance(joint().subject, gamma=value, kind="paper"),
        "a number >= 0",
    ),
    "threshold": (
        lambda value: explain.roles(joint().subject, threshold=value),
        "a number between 0 and 1",
    ),
    "tolerance": (
        lambda value: explain.tilt(joint().subject, 0, tolerance=value),
        "a number from 0 to 1",
    ),
    "max_rows": (
        lambda value: explain.ice(joint().subject, 0, X, max_rows=value),
        "an integer >= 1",
    ),
}


@pytest.mark.parametrize("name", NUMBERS)
@pytest.mark.parametrize("value", [-1, np.nan])
def test_numbers_out_of_range(name, value):
    call, rule = NUMBERS[name]
    with pytest.raises(ValueError, match=f"{name} must be {rule}, got"):
        call(value)


@pytest.mark.parametrize("name", NUMBERS)
@pytest.mark.parametrize("value", ["0.5", [0.5]])
def test_numbers_that_are_none(name, value):
    call, rule = NUMBERS[name]
    with pytest.raises(EITHER, match=f"{name} must be {rule}, got"):
        call(value)


def test_rows_are_counted_in_whole_numbers():
    with pytest.raises(EITHER, match="max_rows must be an integer >= 1, got"):
        explain.ice(joint().subject, 0, X, max_rows=2.5)


REGIONS = {
    "not a mapping": ([("pd", (0, 1))], TypeError, "region must be a mapping of feature to"),
    "an empty list": ([], TypeError, "region must be a mapping of feature to"),
    "a feature": ("pd", TypeError, "region must be a mapping of feature to"),
    "one number": (
        {"pd": 1.0},
        TypeError,
        r"region must be a pair \(low, high\) for 'pd', got 1.0",
    ),
    "three": ({"pd": (0, 1, 2)}, TypeError, r"region must be a pair \(low, high\) for 'pd'"),
    "words": ({"pd": ("a", "b")}, TypeError, r"region must be a pair \(low, high\) for 'pd'"),
    "a word": ({"pd": "12"}, TypeError, r"region must be a pair \(low, high\) for 'pd'"),
    "turned": ({"pd": (1, 0)}, ValueError, "region must be a pair with low <= high for 'pd'"),
    "no number": ({"pd": (np.nan, 1)}, ValueError, "region must be a pair with low <= high"),
    "unknown level": (
        {3: "nowhere"},
        ValueError,
        r"region must be levels of 'where \(value\)' among \['Südost', 'north', 'south'\], got",
    ),
    "one unknown level": ({3: ["south", "nowhere"]}, ValueError, "got 'nowhere'"),
    "a missing level": ({3: None}, EITHER, r"region must be levels of 'where \(value\)'"),
    "a list in a list": ({3: [["south"]]}, EITHER, r"region must be levels of 'where"),
    "no level": ({3: []}, ValueError, "region must hold at least one row of the background"),
    "unknown feature": ({"pdd": (0, 1)}, ValueError, "did you mean 'pd'"),
}


@pytest.mark.parametrize(("region", "error", "message"), REGIONS.values(), ids=REGIONS.keys())
def test_regions(region, error, message):
    with pytest.raises(error, match=message):
        explain.stages(joint().subject, region)


def test_regions_without_rows_say_of_how_many():
    empty = {"prediction": (1, 1), "pd": (1.9, None), 3: "moon"}
    with pytest.raises(ValueError, match="region must hold at least one row") as caught:
        explain.stages(joint().subject, empty)
    assert "which holds none of 400" in str(caught.value)


def test_rows_that_are_dictionaries():
    row = dict.fromkeys(NAMES, 0.0)
    for given in (row, [row, row]):
        with pytest.raises(TypeError, match=r"X must be a table, got a dictionary.*DataFrame"):
            explain.local(joint().subject, given)


def test_tables_are_not_printed_whole():
    with pytest.raises(TypeError, match="region must be a mapping") as caught:
        explain.stages(joint().subject, X)
    assert len(str(caught.value)) < 300


def test_jobs_that_are_none():
    with pytest.raises(ValueError, match="n_jobs"):
        explain.shapley(joint().subject, X[:2], n_jobs=0)


def test_parts_without_a_band():
    for case in (joint(), bands()):
        with pytest.raises(ValueError, match="part must be"):
            explain.partial_dependence(case.subject, 0).band("totals")


def test_curves_of_features_that_are_not_there():
    curves = explain.curves(joint().subject, 0)
    with pytest.raises(KeyError, match="feature must be one of"):
        curves["pdd"]
    with pytest.raises(IndexError):
        curves[5]


@pytest.fixture(scope="module")
def constant(tmp_path_factory):
    """A model without stages, from its file."""
    model = TSLRegressor(2, early_stopping=False).fit(X, np.full(400, 3.0))
    path = tmp_path_factory.mktemp("constant") / "m.tsl"
    model.save(path)
    assert model.stages_ == ()
    return load_model(path)


@pytest.mark.parametrize("name", ["curves", "curve", "reconstruct", "tilt", "maps", "bags"])
def test_a_model_without_stages_has_none_to_show(constant, name):
    with pytest.raises(ValueError, match="model has no stages, only its intercept"):
        CALLS[name](constant, X)


def test_a_model_without_stages_has_no_stage_for_single_rows(constant):
    with pytest.raises(ValueError, match="model has no stages, only its intercept"):
        explain.ice(constant, 0, stage=0)


def test_a_model_without_stages_has_none_to_select(constant):
    with pytest.raises(ValueError, match="model has no stages, only its intercept"):
        constant.select_stages([0])
    with pytest.raises(NotFittedError, match="not fitted yet"):
        TSLRegressor().select_stages([0])


def test_a_model_without_stages_is_a_constant_to_all_others(constant):
    np.testing.assert_array_equal(explain.partial_dependence(constant, [0, 3]).total, 3.0)
    np.testing.assert_array_equal(explain.partial_dependence(constant, 1).at(X), 3.0)
    np.testing.assert_array_equal(explain.ice(constant, 0, X).values, 3.0)
    np.testing.assert_array_equal(explain.importance(constant, kind="paper").combined, np.zeros(5))
    assert len(explain.importance(constant, kind="paper").stage_weights) == 0
    local = explain.local(constant, X)
    assert (local.prediction, local.intercept, local.contributions.size) == (3.0, 3.0, 0)
    assert local.backbone_share.shape == (0, 5)
    assert explain.stages(constant).mean.size == 0
    assert str(explain.roles(constant)) == "no stages: the prediction is a constant"
    values = explain.shapley(constant, X[:3])
    np.testing.assert_array_equal(values.values, np.zeros((3, 5)))
    assert values.base == pytest.approx(3.0)


@pytest.mark.parametrize(
    "name", ["partial_dependence", "ice", "importance", "local", "stages", "roles", "shapley"]
)
def test_a_model_without_stages_has_frames(constant, name):
    assert isinstance(CALLS[name](constant, X).frame(), pd.DataFrame)


def test_a_model_without_stages_has_no_interactions(constant):
    result = explain.interactions(constant)
    assert result.variance == 0.0
    for part in (result.main, result.total, result.h_total):
        np.testing.assert_array_equal(part, np.zeros(5))
    np.testing.assert_array_equal(result.pairwise, np.zeros((5, 5)))
    np.testing.assert_array_equal(result.h, np.zeros((5, 5)))


def without_products():
    """Stages in which nothing is left: a product of lambda zero, and no product at all."""
    axes, frequencies = [numeric(0.0), levels("a", "b")], [[0.5, 0.5, 0.0], [0.5, 0.5, 0, 0, 0]]
    zero = product([[1, 2, 1], np.ones(5)]).with_scalars(0.0, 0.0)
    return hand_made(axes, frequencies, [zero, Stage(None, None)], 2.0)


@pytest.mark.parametrize("name", [name for name in EXPLANATIONS if name not in ("maps", "bags")])
def test_stages_without_products(name):
    rows = np.array([[0.5, "a"], [-0.5, "b"], [0.5, "b"], [0.5, "never"]], dtype=object)
    swapped = {
        "curve": lambda: explain.curves(without_products(), 1)[0],
        "stages": lambda: explain.stages(without_products(), {0: (None, 1.0)}),
        "tilt": lambda: explain.tilt(without_products(), 1),
        "reconstruct": lambda: explain.reconstruct(without_products(), 1),
    }
    result = swapped[name]() if name in swapped else EXPLANATIONS[name](without_products(), rows)
    assert len(result.frame()) > 0


def test_a_map_of_nothing():
    for stage in (0, 1):
        with pytest.raises(ValueError, match="its lambda are zero"):
            explain.maps(without_products(), stage, (0, 1))


def test_bare_models_name_features_by_position():
    with pytest.raises(ValueError, match=r"one of \['x0', 'x1', 'x2', 'x3', 'x4'\] or a position"):
        explain.ice(turned().subject, "pd")
    with pytest.raises(ValueError, match=r"one of \['x0', 'x1', 'x2'\] or a position from 0 to 2"):
        explain.ice(array().subject, "pd")
