from fractions import Fraction
from typing import Any

import numpy as np
import pandas as pd
import pytest

from seplearn import SepALSRegressor, TSLClassifier, TSLRegressor
from seplearn._errors import did_you_mean
from seplearn.report import write_report
from seplearn.table.training import training_rows

X = np.random.default_rng(0).normal(size=(20, 2))
Y = X[:, 0]

PARAMETERS = [
    ("n_stages", -1, ValueError, "n_stages must be an integer >= 0, got -1"),
    ("n_stages", 2.0, TypeError, "n_stages must be an integer >= 0, got 2.0 of type float"),
    ("n_stages", True, TypeError, "n_stages must be an integer"),
    ("n_grids", -1, ValueError, "n_grids must be an integer >= 1, got -1"),
    ("n_splits", "many", TypeError, "n_splits must be an integer >= 1, got 'many' of type str"),
    ("decay", 0.0, ValueError, "decay must be a number > 0 and <= 1, got 0.0"),
    ("decay", 1.5, ValueError, "decay must be a number > 0 and <= 1, got 1.5"),
    ("split_try", 0, ValueError, "split_try"),
    ("smoothness", 1e15, ValueError, "smoothness"),
    ("energy", 1e308, ValueError, "energy must be a number >= 0 and <= 1e\\+06, got 1e\\+308"),
    ("colsample", 0, ValueError, "colsample must be a number > 0 and <= 1, got 0"),
    ("colsample", None, TypeError, "colsample must be a number > 0 and <= 1, got None"),
    ("min_interval_samples", 0, ValueError, "min_interval_samples"),
    ("min_gain", -0.1, ValueError, "min_gain must be a number >= 0, got -0.1"),
    ("min_gain", float("inf"), ValueError, "min_gain"),
    ("ridge", -1, ValueError, "ridge must be a number >= 0, got -1"),
    ("ridge", float("nan"), ValueError, "ridge"),
    ("update_clamp", 0, ValueError, "update_clamp must be a number > 0 and <= 300, got 0"),
    ("trim", 1.01, ValueError, "trim must be a number >= 0 and <= 1, got 1.01"),
    ("bootstrap", 1, TypeError, "bootstrap must be True or False, got 1 of type int"),
    (
        "loss",
        "l2",
        ValueError,
        "loss must be one of 'squared_error', 'huber', .*, got 'l2'",
    ),
    ("loss", None, TypeError, "loss must be one of"),
    ("products", "triple", ValueError, "products"),
    ("scalars", "lasso", ValueError, "scalars"),
    ("fit_intercept", "yes", TypeError, "fit_intercept must be True or False"),
    ("n_splits", 10**400, ValueError, "n_splits must be an integer >= 1 and < 2"),
    ("categorical_features", "all", ValueError, "categorical_features must be 'auto', None, or"),
    ("categorical_features", 3, TypeError, "categorical_features must be 'auto', None, or"),
    ("categorical_features", [1.5], TypeError, "categorical_features must be 'auto', None, or"),
    ("min_category_count", 0, ValueError, "min_category_count must be an integer >= 1, got 0"),
    ("max_bins", 1, ValueError, "max_bins must be an integer >= 2 and <= 4095, got 1"),
    ("max_bins", 4096, ValueError, "max_bins"),
    ("random_state", -1, ValueError, "random_state must be None, an integer"),
    ("random_state", "seed", TypeError, "random_state"),
    ("random_state", True, TypeError, "random_state"),
    ("n_jobs", 0, ValueError, "n_jobs must be None or an integer other than 0, got 0"),
    ("n_jobs", 1.5, TypeError, "n_jobs"),
    ("verbose", -1, ValueError, "verbose must be True, False or an integer >= 0, got -1"),
    ("verbose", "loud", TypeError, "verbose must be True, False or an integer >= 0"),
]


@pytest.mark.parametrize(("name", "value", "error", "message"), PARAMETERS)
def test_parameters(name, value, error, message):
    with pytest.raises(error, match=message.replace("(", r"\(")):
        TSLRegressor(**{name: value}).fit(X, Y)


def replaced(array, value):
    out = array.copy()
    out[3] = value
    return out


DATA = [
    (X, replaced(Y, np.nan), "Input y contains NaN: the target of 1 row of .* is missing; leave"),
    (X, replaced(Y, -np.inf), "Input y contains infinity"),
    (X, Y[:-1], "inconsistent numbers of samples: X has 20, y has 19"),
    (X, ["low", "high"] * 10, "y must hold numbers: could not convert string to float: 'low'"),
    (X, None, "requires y to be passed, but the target y is None"),
    (X[:0], Y[:0], "0 sample"),
    (X[:, :0], Y, "0 feature"),
    (X[:, 0], Y, "Expected 2D array, got 1D array"),
    (X[None], Y, "Found array with dim 3"),
    (X, np.stack([Y, Y], axis=1), "y should be a 1d array"),
    (X.astype(complex), Y, "Complex data not supported"),
]


@pytest.mark.parametrize(("x", "y", "message"), DATA)
def test_data(x, y, message):
    model = TSLRegressor(n_stages=1)
    with pytest.raises(ValueError, match=message):
        model.fit(x, y)
    assert not hasattr(model, "model_")
    assert not hasattr(model, "n_features_in_")


def test_who_gives_classes_to_a_regressor_is_told_of_the_classifier():
    with pytest.raises(ValueError, match=r"could not convert .* \(TSLClassifier is for classes\)"):
        TSLRegressor(n_stages=1).fit(X, ["low", "high"] * 10)


def test_names_of_files_and_columns_are_no_data(tmp_path):
    for file in ("flats.csv", tmp_path / "flats.csv"):
        with pytest.raises(TypeError, match=r"X must be a table, got the .*flats.csv'; read the"):
            TSLRegressor(n_stages=1).fit(file, Y)
    with pytest.raises(TypeError, match="offset must be numbers, one for each row, got 'years'"):
        TSLRegressor(n_stages=1).fit(X, Y, offset="years")
    with pytest.raises(
        ValueError, match=r"offset must be of a size of at most 1e\+303, got 1e\+308"
    ):
        TSLRegressor(n_stages=1).fit(X, Y, offset=np.full(len(Y), -1e308))
    model = TSLRegressor(n_stages=1, early_stopping=False, random_state=0).fit(X, Y)
    with pytest.raises(TypeError, match=r"path must be that of a file, as a text or .* got array"):
        write_report(model, X, Y)


def test_a_target_among_the_features_is_warned_of():
    table = pd.DataFrame({"a": X[:, 0], "rent": Y})
    options: dict[str, Any] = {"n_stages": 1, "early_stopping": False, "random_state": 0}
    with pytest.warns(UserWarning, match="must not have the target .* but 'rent' is y"):
        TSLRegressor(**options).fit(table, table["rent"])
    TSLRegressor(**options).fit(table, 2.0 * table["rent"])  # pandas keeps the name
    table["dear"] = np.where(Y > 0, "yes", "no")
    with pytest.warns(UserWarning, match="must not have the target .* but 'dear' is y"):
        TSLClassifier(**options).fit(table, table["dear"])


def test_numbers_among_which_a_text_stands_are_warned_of():
    ages = [str(k % 40) for k in range(200)]
    table = pd.DataFrame({"age": [*ages[:-1], "?"]})
    message = r"column 'age': 40 of its 41 levels are numbers, but not '\?': all of them are levels"
    with pytest.warns(UserWarning, match=message):
        TSLRegressor(1, early_stopping=False, random_state=0).fit(table, np.arange(200.0) % 40)
    codes = pd.DataFrame({"code": ages})  # as postcodes are: levels, if all of them are numbers
    TSLRegressor(1, early_stopping=False, random_state=0).fit(codes, np.arange(200.0) % 40)


def test_levels_that_hardly_repeat_are_warned_of():
    names = pd.DataFrame({"a": np.arange(100.0), "id": [f"C{k}" for k in range(100)]})
    model = TSLRegressor(n_stages=1, early_stopping=False, random_state=0)
    message = "column 'id': 100 % of its values are levels in fewer than 5 rows each .100 levels"
    for seed in range(4):  # whichever of the two columns a grid draws first
        model.set_params(random_state=seed, n_grids=1)
        with pytest.warns(UserWarning, match=message):
            model.fit(names, names["a"].rename("y"))
        assert model.score(names, names["a"]) > 0.99
    names["id"] = [f"C{k % 20}" for k in range(100)]
    model.fit(names, names["a"].rename("y"))  # each in five rows: as levels are


WEIGHTS = [
    (np.zeros(20), "sample_weight must have a positive sum, got zeros only"),
    (-np.ones(20), "Negative values"),
    (np.ones(19), "sample_weight.shape == \\(19,\\), expected \\(20,\\)"),
    (np.full(20, np.nan), "sample_weight contains NaN"),
    (float("nan"), "sample_weight contains NaN"),
    (float("inf"), "sample_weight contains infinity"),
]


@pytest.mark.parametrize(("weight", "message"), WEIGHTS)
def test_weights(weight, message):
    with pytest.raises(ValueError, match=message):
        TSLRegressor(n_stages=1).fit(X, Y, sample_weight=weight)


def test_prediction_tables():
    model = TSLRegressor(n_stages=1, n_grids=2, random_state=0).fit(X, Y)
    for table in (X[:, :1], np.hstack([X, X])):
        with pytest.raises(ValueError, match="features"):
            model.predict(table)
    with pytest.raises(ValueError, match="0 sample"):
        model.predict(X[:0])


@pytest.fixture(scope="module")
def of_size_one():
    return TSLRegressor(n_stages=2, n_grids=3, random_state=0).fit(X, Y).predict(X)


@pytest.mark.parametrize("scale", [1e-300, 1e-200, 1e-8, 1e8, 1e200, 1e300])
def test_targets_of_any_size(scale, of_size_one):
    model = TSLRegressor(n_stages=2, n_grids=3, random_state=0).fit(X, scale * Y)
    np.testing.assert_allclose(model.predict(X) / scale, of_size_one, rtol=1e-6, atol=1e-9)


DATES = np.arange(20).astype("M8[D]")
AT_ROWS = [
    (DATES, TypeError, "must hold numbers, got dates or times"),
    (DATES - DATES[0], TypeError, "must hold numbers, got dates or times"),
    (np.ones(20) + 1j, TypeError, "must hold numbers, got complex ones"),
    (np.array([10**400] + 19 * [1], dtype=object), ValueError, "must hold numbers below 1.8e308"),
    (["many"] * 20, TypeError, "must hold numbers: could not convert"),
]


@pytest.mark.parametrize("name", ["sample_weight", "offset"])
@pytest.mark.parametrize(("values", "error", "message"), AT_ROWS)
def test_what_belongs_to_rows_is_numbers(name, values, error, message):
    with pytest.raises(error, match=f"{name} {message}"):
        TSLRegressor(n_stages=1).fit(X, Y, **{name: values})


@pytest.mark.parametrize("level", [10**5000, Fraction(10**400, 3)], ids=["digits", "fraction"])
def test_levels_too_large_to_name_are_refused_by_column(level):
    levels = np.array([[level], ["a"]] * 10, dtype=object)
    with pytest.raises(ValueError, match="column 0: a level must not be too large"):
        TSLRegressor(n_stages=1).fit(levels, Y)


SIZES = [
    ("poisson", 1e-13, "at most 1e\\+100 in all rows and at least 1e-12 in some"),
    ("poisson", 1e160, "at most 1e\\+100 in all rows"),
    ("tweedie", 1e-40, "at least 1e-24 in some for this loss; give it in another unit"),
    ("gamma", 1e306, "at most 1e\\+303 in all rows"),
]


@pytest.mark.parametrize(("loss", "size", "message"), SIZES)
def test_targets_of_which_nothing_could_be_learned_are_refused(loss, size, message):
    with pytest.raises(ValueError, match=f"y must be .*{message}"):
        TSLRegressor(n_stages=1, loss=loss).fit(X, (np.abs(Y) + 1.0) * size)


def test_products_of_the_baseline_beyond_all_numbers_are_refused():
    # Its products are e**25 times as large as this target, and cancel each other.
    random = np.random.default_rng(0)
    table = random.normal(size=(120, 2))
    y = 2.0 * table[:, 0] + table[:, 1] ** 2 + 0.1 * random.normal(size=120)
    with pytest.raises(ValueError, match="y must be small enough for the products"):
        SepALSRegressor(random_state=0).fit(table, y * 1e300)


def test_groups_are_told_apart_whatever_their_names():
    groups = np.array(["a", "a\0"] * 10, dtype=object)
    rows = training_rows(X, Y, None, groups)
    assert rows.groups.tolist() == [0, 1] * 10


def test_a_name_in_other_letters_is_recognised():
    assert did_you_mean("t3", ["TSH", "T3", "t4"]) == " (did you mean 'T3'?)"
    assert did_you_mean("floorx", ["floor", "area"]) == " (did you mean 'floor'?)"
    assert did_you_mean("nothing", ["area"]) == ""
    assert did_you_mean("0", [0, 1]) == " (did you mean 0?)"


def test_warnings_of_threads_point_at_the_line_that_fits():
    X = pd.DataFrame({"id": [f"a{k}" for k in range(200)], "x": np.arange(200.0)})
    with pytest.warns(UserWarning, match="column 'id'") as found:
        TSLRegressor(1, early_stopping=False, random_state=0, n_jobs=2).fit(X, X["x"] ** 2)
    assert {warning.filename for warning in found} == {__file__}
