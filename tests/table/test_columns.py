import datetime
from decimal import Decimal

import narwhals as nw
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from seplearn.table.columns import check_levels, is_missing, level_name, open_table, read_target

LIBRARIES = {"pandas": pd.DataFrame, "polars": pl.DataFrame, "pyarrow": pa.table}


@pytest.mark.parametrize("library", LIBRARIES.values(), ids=LIBRARIES.keys())
def test_frames_give_numbers_and_levels(library):
    columns = {
        "n": [1.5, None, 3.0],
        "i": [1, 2, 3],
        "s": ["a", None, "b"],
        "b": [True, False, True],
    }
    table = open_table(library(columns))
    assert table.names == ("n", "i", "s", "b")
    assert (table.n_rows, table.n_columns) == (3, 4)
    assert [table.is_categorical(j) for j in range(4)] == [False, False, True, True]
    np.testing.assert_array_equal(table.numbers(0), [1.5, np.nan, 3.0])
    np.testing.assert_array_equal(table.numbers(1), [1.0, 2.0, 3.0])
    names = [None if is_missing(v) else level_name(v) for v in table.levels(2)]
    assert names == ["a", None, "b"]
    assert [level_name(v) for v in table.levels(3)] == ["True", "False", "True"]
    chosen = table.rows(np.array([True, False, True]))
    np.testing.assert_array_equal(chosen.numbers(1), [1.0, 3.0])


NUMERIC = {
    "Int64": pd.array([1, None, 3], dtype="Int64"),
    "Float32": pd.array([1.0, None, 3.0], dtype="Float32"),
    "float32": np.array([1.0, np.nan, 3.0], dtype=np.float32),
    "Decimal": [Decimal(1), None, Decimal(3)],
    "object": np.array([1, None, 3.0], dtype=object),
    "arrow": pd.array([1, None, 3], dtype=pd.ArrowDtype(pa.int64())),
}


@pytest.mark.parametrize("values", NUMERIC.values(), ids=NUMERIC.keys())
def test_numbers_of_every_kind(values):
    table = open_table(pd.DataFrame({"x": values}))
    assert not table.is_categorical(0)
    np.testing.assert_array_equal(table.numbers(0), [1.0, np.nan, 3.0])


def test_polars_and_arrow_decimals():
    for frame in (
        pl.DataFrame({"x": pl.Series([Decimal("1.5"), None], dtype=pl.Decimal(10, 2))}),
        pa.table({"x": pa.array([Decimal("1.5"), None], pa.decimal128(10, 2))}),
    ):
        np.testing.assert_array_equal(open_table(frame).numbers(0), [1.5, np.nan])


CATEGORICAL = {
    "category": pd.Series(["a", None, "b"], dtype="category"),
    "string": pd.array(["a", None, "b"], dtype="string"),
    "object": np.array(["a", None, "b"], dtype=object),
    "polars Categorical": pl.Series(["a", None, "b"], dtype=pl.Categorical),
    "polars Enum": pl.Series(["a", None, "b"], dtype=pl.Enum(["b", "a"])),
}


@pytest.mark.parametrize("values", CATEGORICAL.values(), ids=CATEGORICAL.keys())
def test_levels_of_every_kind(values):
    frame = pl.DataFrame if isinstance(values, pl.Series) else pd.DataFrame
    table = open_table(frame({"x": values}))
    assert table.is_categorical(0)
    names = [None if is_missing(v) else level_name(v) for v in table.levels(0)]
    assert names == ["a", None, "b"]


def test_a_level_has_one_name_whatever_its_type():
    assert {level_name(v) for v in (1, 1.0, np.int8(1), np.float32(1), "1", Decimal(1))} == {"1"}
    assert level_name(0.5) == "0.5"
    assert level_name(pd.Interval(0.5, 1.0)) == "(0.5, 1.0]"
    assert level_name(np.bool_(True)) == level_name(True) == "True"
    with pytest.raises(
        TypeError,
        match="must be a string, a number or an interval of pandas, got \\{'a': 1\\} of type dict",
    ):
        level_name({"a": 1})


def test_missing_values_of_every_kind():
    assert all(is_missing(v) for v in (None, np.nan, float("nan"), pd.NA, pd.NaT))
    assert not any(is_missing(v) for v in (0, "", "nan", False, 1.5))


DATES = {
    "pandas": pd.DataFrame({"day": pd.to_datetime(["2020-01-01", "2020-01-02"])}),
    "polars": pl.DataFrame({"day": [datetime.date(2020, 1, 1), datetime.date(2020, 1, 2)]}),
    "duration": pl.DataFrame({"day": [datetime.timedelta(1), datetime.timedelta(2)]}),
    "period": pd.DataFrame({"day": pd.period_range("2020-01-01", periods=2, freq="D")}),
}


@pytest.mark.parametrize("frame", DATES.values(), ids=DATES.keys())
def test_dates_are_refused_with_a_hint(frame):
    with pytest.raises(
        TypeError, match=r"column .day. holds dates or times .* such as year, month"
    ):
        open_table(frame).is_categorical(0)


def test_what_cannot_be_a_column():
    with pytest.raises(TypeError, match=r"column 'x' must hold numbers or categories, got List"):
        open_table(pl.DataFrame({"x": [[1], [2]]})).is_categorical(0)
    with pytest.raises(TypeError, match=r"lazy frame; call \.collect"):
        open_table(pl.LazyFrame({"x": [1]}))
    with pytest.raises(TypeError, match="names of columns must be all strings or none"):
        open_table(pd.DataFrame({"a": [1], 2: [1]}))
    for labels in (
        [("ph", 1), ("ph", 2)],
        [0.5, 1.5],
        pd.to_datetime(["2024-01-01", "2024-01-02"]),
    ):
        odd = pd.DataFrame([[1.0, 2.0]], columns=labels)
        with pytest.raises(
            TypeError, match="names of columns must be texts, or whole numbers, got"
        ):
            open_table(odd)
        assert open_table(odd.set_axis(odd.columns.map(str), axis=1)).n_columns == 2
    with pytest.raises(ValueError, match="0 sample"):
        open_table(pd.DataFrame({"a": []}))
    with pytest.raises(TypeError, match="column 'x' must hold numbers, got 'a' of type str"):
        open_table(pl.DataFrame({"x": ["a"]})).numbers(0)
    assert open_table(pd.DataFrame({0: [1.0], 1: [2.0]})).names is None


def test_object_arrays_are_read_column_by_column():
    table = open_table(np.array([[1, "a", True], [None, "b", False]], dtype=object))
    assert [table.is_categorical(j) for j in range(3)] == [False, True, True]
    np.testing.assert_array_equal(table.numbers(0), [1.0, np.nan])
    with pytest.raises(TypeError, match="column 1 must hold numbers, got 'a' of type str"):
        table.numbers(1)
    np.testing.assert_array_equal(table.rows(np.array([False, True])).numbers(0), [np.nan])
    assert open_table(np.array([[True], [False]])).is_categorical(0)
    assert open_table(np.array([["a"], ["b"]])).is_categorical(0)


def test_targets_as_series_and_frames():
    for y in (pd.Series([1, 2]), pl.Series([1, 2]), pd.DataFrame({"y": [1, 2]})):
        np.testing.assert_array_equal(read_target(y), [1, 2])
    assert read_target([1, 2]) == [1, 2]


def test_what_can_be_no_level_is_named_with_its_column():
    for value in ([1], {1: 2}):
        with pytest.raises(
            TypeError, match="column 'x': argument must be a string, a number or an interval"
        ):
            check_levels(["a", value], "column 'x'")
    check_levels(["a", 1, 2.5, True, None, np.nan, Decimal(1)], "column 'x'")


def test_equal_names_are_refused():
    frame = pd.DataFrame([[1, 2]], columns=["a", "a"])
    with pytest.raises(ValueError, match="names of columns must be distinct"):
        open_table(frame)


BIG = 2**60 + 1


@pytest.mark.parametrize(
    "frame",
    [
        pa.table({"x": [BIG, None, 3]}),
        pa.table({"x": pa.chunked_array([[BIG], [None, 3]])}),
        pd.DataFrame({"x": pd.array([BIG, None, 3], dtype="int64[pyarrow]")}),
        pd.DataFrame({"x": pd.array([BIG, None, 3], dtype="Int64")}),
        pl.DataFrame({"x": [BIG, None, 3]}),
        pl.DataFrame({"x": pl.Series([BIG, None, 3], dtype=pl.Int128)}),
    ],
    ids=["arrow", "chunks", "pandas-arrow", "pandas", "polars", "128 bits"],
)
def test_integers_beyond_two_to_the_53_are_rounded(frame):
    np.testing.assert_array_equal(open_table(frame).numbers(0), [float(BIG), np.nan, 3.0])


def test_masked_arrays_keep_their_mask():
    mask = [[True, False], [False, True]]
    numbers = open_table(np.ma.masked_array([[1, 2], [3, 4]], mask))
    np.testing.assert_array_equal(numbers.numbers(0), [np.nan, 3.0])
    texts = open_table(np.ma.masked_array([["a", "b"], ["c", "d"]], mask))
    assert texts.levels(0) == [None, "c"]


@pytest.mark.parametrize("kind", ["datetime64[ns]", "timedelta64[ns]"])
def test_arrays_of_dates_are_refused_with_a_hint(kind):
    with pytest.raises(TypeError, match=r"column 0 holds dates or times .* days since a start"):
        open_table(np.zeros((3, 1), dtype=kind)).is_categorical(0)


def test_dates_among_levels_are_refused_with_a_hint():
    with pytest.raises(TypeError, match="column 'd' holds dates or times"):
        check_levels(["a", datetime.date(2020, 1, 1)], "column 'd'")


def test_odd_numbers_in_objects():
    table = open_table(np.array([[Decimal("sNaN"), 10**400], [Decimal(2), 1]], dtype=object))
    np.testing.assert_array_equal(table.numbers(0), [np.nan, 2.0])
    with pytest.raises(ValueError, match=r"column 1 must hold numbers below 1\.8e308"):
        table.numbers(1)


def test_columns_of_a_frame_are_looked_up_once(monkeypatch):
    """To find one column of an Arrow table all are walked through: p times is p squared."""
    table = open_table(pa.table({f"c{j}": [1.0, 2.0] for j in range(50)}))
    monkeypatch.setattr(nw.DataFrame, "__getitem__", lambda *_: pytest.fail("walked through"))
    assert [table.numbers(j)[0] for j in range(50)] == [1.0] * 50
    assert not any(table.is_categorical(j) for j in range(50))
