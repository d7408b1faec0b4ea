"""What bins mean: the one description that frames, figures, pages and remarks are made from."""

import numpy as np
import pytest

from seplearn.table.binning import CategoricalAxis, NumericAxis, find_edges, find_numeric_axis
from seplearn.table.columns import open_table


def test_ranges_hold_the_values_that_are_coded_so():
    axis = NumericAxis(find_edges(np.linspace(-3, 5, 40), 9), None, (-3.0, 5.0))
    told = axis.describe()
    values = np.array([-9.0, -3.0, -1.2, 0.0, *axis.edges, 4.9, 5.0, 99.0, np.nan])
    codes = axis.codes(open_table(values[:, None]), 0)
    for value, code in zip(values[:-1], codes[:-1], strict=True):
        assert told.meanings[code] == "range"
        assert told.lower[code] <= value < told.upper[code]
    assert told.meanings[codes[-1]] == "missing"
    assert np.isnan([told.lower[-1], told.upper[-1], told.values[-1]]).all()
    np.testing.assert_array_equal(told.edges, axis.edges)


def test_a_typical_value_lies_in_its_bin_and_in_the_data():
    column = np.random.default_rng(0).lognormal(size=500)
    axis = NumericAxis(find_edges(column, 30), None, (0.0, 30.0))
    told = axis.describe()
    codes = axis.codes(open_table(told.values[:-1, None]), 0)
    np.testing.assert_array_equal(codes, np.arange(30))
    assert ((told.values[:-1] >= 0.0) & (told.values[:-1] <= 30.0)).all()
    assert len(told.bounds) == 31
    assert np.isfinite(told.bounds).all()


def test_levels_and_what_is_none_of_them():
    axis = CategoricalAxis(("a", "b"), ("x", "y"))
    told = axis.describe()
    for value, meaning, label in (
        ("b", "level", "b"),
        ("y", "rare", "(rare)"),
        (None, "missing", "(missing)"),
        ("new", "unseen", "(unseen)"),
    ):
        code = axis.codes(open_table(np.array([[value]], dtype=object)), 0)[0]
        assert (told.meanings[code], told.labels[code]) == (meaning, label)
        assert told.values[code] == label
    assert (told.levels, told.rare, told.range) == (("a", "b"), ("x", "y"), None)
    assert len(told.edges) == len(told.bounds) == 0


@pytest.mark.parametrize(
    ("axis", "labels"),
    [
        (NumericAxis(np.array([])), ("any number", "(missing)")),
        (NumericAxis(np.array([0.5])), ("below 0.5", "0.5 and above", "(missing)")),
        (
            NumericAxis(np.array([0.5, 1.5]), np.array([0.0, 1.0, 2.0]), (0.0, 2.0)),
            ("0", "1", "2", "(missing)"),
        ),
    ],
)
def test_labels_of_numbers(axis, labels):
    assert axis.describe().labels == labels


def test_an_axis_reads_its_column():
    table = open_table(np.array([[1, "u"], [None, None]], dtype=object))
    np.testing.assert_array_equal(NumericAxis(np.array([])).read(table, 0), [1.0, np.nan])
    assert CategoricalAxis(("u",)).read(table, 1) == ["u", None]


def test_numbers_of_many_digits_are_told_apart():
    days = 20240101.0 + np.arange(200) % 5
    labels = find_numeric_axis(days, 255).describe().labels
    assert labels[:5] == tuple(str(day) for day in range(20240101, 20240106))
    seconds = 1.7e9 + np.arange(1000.0)
    assert len(set(find_numeric_axis(seconds, 255).describe().labels)) == 256
    assert find_numeric_axis(np.arange(200.0) / 3.0, 8).describe().labels[1].count("to") == 1
