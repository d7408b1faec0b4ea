"""The same table in every library, to the last bit."""

import tempfile
from decimal import Decimal
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from seplearn import TSLRegressor, load_model
from seplearn.table.columns import level_name

# Other tests measure the coverage of the same lines.
pytestmark = pytest.mark.no_cover

KINDS = ["float", "int", "level", "flag", "numbers as levels", "constant", "all missing"]


@st.composite
def tables(draw):
    """Columns as Python lists, None for missing, with the names of those to take as levels."""
    n = draw(st.integers(8, 60))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    kinds = draw(st.lists(st.sampled_from(KINDS), min_size=1, max_size=5))
    columns, forced = {}, []
    for j, kind in enumerate(kinds):
        values = {
            "float": lambda: rng.normal(size=n).tolist(),
            "int": lambda: rng.integers(-5, 300, size=n).tolist(),
            "level": lambda: rng.choice(["a", "b", "ü", ""], size=n).tolist(),
            "flag": (rng.random(n) < 0.5).tolist,
            "numbers as levels": lambda: rng.integers(0, 4, size=n).tolist(),
            "constant": lambda: [1.5] * n,
            "all missing": lambda: [float("nan")] * n,
        }[kind]()
        if kind in ("float", "level", "numbers as levels") and draw(st.booleans()):
            values = [None if rng.random() < 0.2 else v for v in values]
        if kind == "numbers as levels":
            forced.append(f"c{j}")
        columns[f"c{j}"] = values
    return columns, forced, rng.normal(size=n)


def views(columns):
    names = list(columns)
    array = np.array([columns[name] for name in names], dtype=object).T
    yield pd.DataFrame(columns)
    yield pd.DataFrame({k: pd.Series(v).convert_dtypes() for k, v in columns.items()})
    yield pl.DataFrame(columns, strict=False)
    yield pa.table({k: pa.array(v, from_pandas=True) for k, v in columns.items()})
    yield pd.DataFrame(array, columns=names)
    yield array


@pytest.mark.filterwarnings("ignore:no stage improves")
@given(tables())
@settings(max_examples=30)
def test_views_of_one_table_agree_to_the_last_bit(case):
    columns, forced, y = case
    assert_views_agree(columns, forced, y, early_stopping=False)


def test_views_of_one_table_choose_the_same_size():
    rng = np.random.default_rng(0)
    n = 40
    x, level = rng.normal(size=n), rng.choice(["a", "b", "ü"], size=n)
    y = np.where(level == "a", 3.0, 1.0) * x + 0.1 * rng.normal(size=n)
    holes = [None if hole else value for value, hole in zip(x.tolist(), x > 1.5, strict=True)]
    columns = {"x": holes, "level": level.tolist(), "k": rng.integers(0, 4, size=n).tolist()}
    assert_views_agree(columns, ["k"], y, n_starts=1, max_bins=8)


def assert_views_agree(columns, forced, y, **options):
    """Fitted to each view, saved and loaded: the same predictions of each."""
    positions = [list(columns).index(name) for name in forced]
    results = []
    for view in views(columns):
        chosen = positions if isinstance(view, np.ndarray) else forced
        model = TSLRegressor(
            2, n_grids=2, n_splits=5, categorical_features=chosen, random_state=0, **options
        ).fit(view, y)
        with tempfile.TemporaryDirectory() as folder:
            model.save(Path(folder) / "m.tsl")
            again = load_model(Path(folder) / "m.tsl")
        results.append(again.predict(view))
        np.testing.assert_array_equal(results[-1], model.predict(view))
    for other in results[1:]:
        np.testing.assert_array_equal(other, results[0])


def test_a_fit_on_one_library_predicts_on_another():
    rng = np.random.default_rng(0)
    columns = {
        "x": rng.normal(size=100).tolist(),
        "level": rng.choice(["a", "b"], size=100).tolist(),
        "money": [Decimal(int(v)) for v in rng.integers(0, 9, size=100)],
    }
    y = np.array(columns["x"]) * (np.array(columns["level"]) == "a")
    model = TSLRegressor(2, early_stopping=False, n_grids=2, random_state=0).fit(
        pd.DataFrame(columns), y
    )
    expected = model.predict(pd.DataFrame(columns))
    np.testing.assert_array_equal(model.predict(pl.DataFrame(columns)), expected)
    np.testing.assert_array_equal(model.predict(pa.table(columns)), expected)
    categories = pl.DataFrame(columns).with_columns(pl.col("level").cast(pl.Categorical))
    np.testing.assert_array_equal(model.predict(categories[["money", "level", "x"]]), expected)


def test_a_column_of_another_kind_is_refused_by_name():
    frame = pd.DataFrame({"x": np.arange(20.0), "level": list("ab") * 10})
    model = TSLRegressor(1, n_grids=1, random_state=0).fit(frame, np.arange(20.0))
    with pytest.raises(TypeError, match="column 'x' must hold numbers, got 'a' of type str"):
        model.predict(pd.DataFrame({"x": list("ab"), "level": list("ab")}))
    # A category that comes back as a number, or a number as another type, is still found.
    numbers = pd.DataFrame({"k": [1, 2] * 10})
    model = TSLRegressor(1, n_grids=1, categorical_features=["k"], random_state=0)
    model.fit(numbers, np.arange(20.0) % 2)
    expected = model.predict(numbers)
    for kind in (float, str, "category", "Int8", object):
        np.testing.assert_array_equal(model.predict(numbers.astype(kind)), expected)


def test_a_boolean_column_may_come_as_numbers():
    rng = np.random.default_rng(0)
    lift, area = rng.random(300) < 0.5, rng.normal(size=300)
    y = np.where(lift, 2.0, -1.0) * area
    fitted = TSLRegressor(2, random_state=0).fit(pd.DataFrame({"lift": lift, "area": area}), y)
    expected = fitted.predict(pd.DataFrame({"lift": lift, "area": area}))
    for other in (lift.astype(int), lift.astype(float), lift.astype(str), lift.astype(object)):
        given = fitted.predict(pd.DataFrame({"lift": other, "area": area}))
        np.testing.assert_array_equal(given, expected)


def test_large_integers_are_levels_of_their_own():
    assert level_name(10**400) == str(10**400)
    ids = np.array([2**53, 2**53 + 1])
    codes = np.arange(300) % 2
    X = pd.DataFrame({"id": pd.Categorical(ids[codes])})
    model = TSLRegressor(2, random_state=0).fit(X, codes.astype(float))
    assert model.score(X, codes.astype(float)) > 0.99


def test_a_cell_that_is_an_array_is_named():
    cells = np.empty(20, dtype=object)
    cells[:] = [np.arange(2.0)] * 20
    with pytest.raises(
        TypeError, match=r"column 'a': argument must be a string, a number or an interval"
    ):
        TSLRegressor(2).fit(pd.DataFrame({"a": cells}), np.arange(20.0))


def test_a_column_of_nothing_but_unseen_levels_is_remarked():
    X = pd.DataFrame({"town": ["Bonn", "Ulm", None] * 30, "x": np.arange(90.0)})
    model = TSLRegressor(1, random_state=0).fit(X, np.arange(90.0))
    with pytest.warns(UserWarning, match=r"'town': none of its values was seen by fit.*'BONN'"):
        model.predict(X.assign(town=X["town"].str.upper()))
    model.predict(X[:1].assign(town="Rome"))  # one new level is nothing to speak of
    model.predict(X.assign(town=None))


@pytest.mark.parametrize("cut", [pd.cut, pd.qcut])
def test_intervals_of_pandas_are_levels(cut):
    random = np.random.default_rng(0)
    X = pd.DataFrame({"a": random.normal(size=300), "z": random.normal(size=300)})
    cells = cut(X["a"], 4)
    model = TSLRegressor(1, early_stopping=False, random_state=0)
    model.fit(X[["z"]].assign(cell=cells), X["a"] + X["z"])
    again = model.predict(X[["z"]].assign(cell=cells.astype(str)))
    assert np.array_equal(model.predict(X[["z"]].assign(cell=cells)), again)
    assert str(cells[0]) in model.model_.bins.axes[1].describe().levels
