"""Rows, targets and weights as a fit takes them, and the unit a target is measured in."""

import datetime
from decimal import Decimal

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from seplearn.table.columns import open_table
from seplearn.table.schema import Schema
from seplearn.table.training import (
    TargetUnit,
    WeightSums,
    WeightUnit,
    eval_rows,
    group_names,
    known_rows,
    rows_with_target,
    training_rows,
)

X = np.arange(6.0).reshape(3, 2)
ONES = np.ones(1000)


@pytest.mark.parametrize("level", [0.0, 5.0, -1e9, 1e12, 1e15])
def test_a_target_keeps_the_digits_in_which_it_varies(level):
    signal = np.round(np.random.default_rng(0).normal(0.0, 8.0, 1000), 0)
    unit = TargetUnit.of(level + signal, ONES, has_constant=True)
    measured = unit.measured(level + signal)
    expected = (signal + level - unit.origin) / unit.scale
    np.testing.assert_allclose(measured, expected, atol=1e-9)
    np.testing.assert_allclose(unit.scale, signal.std(), rtol=1e-12)
    assert (unit.origin == 0.0) == (abs(level) < 1e7)
    assert TargetUnit.of(level + signal, ONES, has_constant=False).origin == 0.0


def test_a_huge_target_that_hardly_varies_does_not_overflow():
    unit = TargetUnit.of(np.array([1e200, 2e200]), np.array([1.0, 1e-14]), has_constant=True)
    np.testing.assert_allclose([unit.origin, unit.scale], [1e200, 1e193], rtol=1e-6)


def test_the_unit_of_a_constant_is_its_size():
    assert TargetUnit.of(np.full(5, -3.0), np.ones(5), has_constant=True) == TargetUnit(0.0, 3.0)
    assert TargetUnit.of(np.zeros(5), np.ones(5), has_constant=True) == TargetUnit(0.0, 1.0)


@pytest.mark.parametrize("size", [5e-324, 1e-305, 1e305, 1.7e308])
def test_a_target_at_the_ends_of_what_a_float_holds_is_refused(size):
    with pytest.raises(ValueError, match=r"^y must be of a size between 1e-303 and 1e\+303"):
        TargetUnit.of(np.array([0.0, size]), np.ones(2), has_constant=True)


DATES = pd.date_range("2020-01-01", periods=3)


@pytest.mark.parametrize(
    "y",
    [
        DATES.to_numpy(),
        pd.Series(DATES),
        pl.Series([datetime.date(2020, 1, 1)] * 3),
        pa.chunked_array([pa.array(DATES)]),
        pd.Series(pd.to_timedelta([1, 2, 3], "s")),
        [datetime.datetime(2020, 1, 1)] * 3,
        np.array(["a", "b", "c"]),
    ],
    ids=["array", "pandas", "polars", "pyarrow", "durations", "list", "texts"],
)
def test_a_target_that_is_no_number_is_refused(y):
    with pytest.raises((TypeError, ValueError), match=r"^y must hold numbers"):
        rows_with_target(X, y)


@pytest.mark.parametrize("value", [10**400, Decimal("sNaN")])
def test_odd_numbers_in_a_target_are_named(value):
    with pytest.raises(ValueError, match=r"^y must hold numbers"):
        rows_with_target(X, np.array([1, 2, value], dtype=object))


def test_masked_values_are_missing():
    masked = np.ma.masked_array([1.0, 2.0, 3.0], [False, True, False])
    with pytest.raises(ValueError, match="y contains NaN"):
        rows_with_target(X, masked)
    assert known_rows(X, masked, None).y.tolist() == [1.0, 3.0]
    with pytest.raises(ValueError, match="sample_weight contains NaN"):
        training_rows(X, X[:, 0], masked)


def test_weights_of_any_size_count_rows():
    for weight in ([1e308, 1e308, 0.5e308], [5e-324, 5e-324, 1e-323]):
        rows = training_rows(X, X[:, 0], np.array(weight))
        shares = np.array(weight) / max(weight)
        effective = shares.sum() ** 2 / np.sum(shares**2)
        assert rows.weight.sum() == pytest.approx(effective)
        np.testing.assert_allclose(rows.weight / rows.weight.max(), shares)


def test_weights_that_leave_few_rows_are_told():
    weight = np.r_[np.linspace(0.1, 1.0, 299), 80.0]
    with pytest.warns(UserWarning, match="sample_weight: 300 rows count for 9 only, as a few"):
        WeightUnit.of(weight)
    for usual in (weight[:299], np.rint(10.0 * weight), np.ones(300)):
        WeightUnit.of(usual)


def counted(weight):
    return WeightUnit.of(np.array(weight)).counts(np.array(weight))


def test_whole_numbers_are_numbers_of_rows_and_others_count_as_effective_rows():
    np.testing.assert_array_equal(counted([1.0, 20.0, 0.0, 3.0]), [1.0, 20.0, 0.0, 3.0])
    np.testing.assert_array_equal(counted([0.7, 0.5, 0.9]), [0.7, 0.5, 0.9])  # effective: 2.84
    np.testing.assert_allclose(counted([1.5, 20.0, 0.0, 3.0]).sum(), 24.5**2 / 411.25)
    np.testing.assert_allclose(counted([10.0, 200.0, 30.0]).sum(), 240.0**2 / 41000.0)
    np.testing.assert_array_equal(counted([0.2, 0.2, 0.2]), [1.0, 1.0, 1.0])


@pytest.mark.filterwarnings("ignore:sample_weight")
def test_the_unit_of_weights_is_the_same_however_rows_are_divided():
    weight = np.exp(3.0 * np.random.default_rng(0).normal(size=5000))
    largest = weight.max()
    for parts in (2, 7, 100):
        own = [WeightSums.of(part, largest) for part in np.array_split(weight[::-1], parts)]
        assert WeightUnit.joined(largest, own) == WeightUnit.of(weight)


def test_a_weight_that_is_nothing_beside_another_leaves_no_row():
    rows = training_rows(X, X[:, 0], np.array([1e290, 1e-290, 3e290]))
    np.testing.assert_allclose(rows.weight, [0.4, 1.2])
    assert rows.table.n_rows == 2


def test_groups_weights_and_offsets_are_read_alike_from_all_containers():
    y, column = np.arange(3.0), np.array([[1.0], [1.0], [2.0]])
    expected = training_rows(X, y, column[:, 0], [1, 1.0, 2], column[:, 0])
    far = pd.Series([2**63, -1, 2**63 + 1, 0], dtype=object)  # no double tells them apart
    assert len(set(group_names(far, 4))) == 4
    mixed = pd.Series([1, 1.0, 2], dtype=object)
    for groups in (mixed, np.array([1, 1.0, 2], dtype=object), column):
        found = training_rows(X, y, column, groups, column)
        np.testing.assert_array_equal(found.groups, expected.groups)
        np.testing.assert_array_equal(found.weight, expected.weight)
        np.testing.assert_array_equal(found.offset, expected.offset)
    assert len(set(expected.groups)) == 2
    np.testing.assert_array_equal(known_rows(X, y, 2.0).weight, [2.0, 2.0, 2.0])
    np.testing.assert_array_equal(known_rows(X, y, column).weight, column[:, 0])


def test_several_evaluation_sets_and_no_outcomes_are_named():
    schema = Schema.of(open_table(X))
    one = (X, np.arange(3.0))
    with pytest.raises(
        ValueError, match=r"eval_set must be one set \(X, y\) of rows, got 2 of them"
    ):
        eval_rows([one, one], schema)
    with pytest.raises(ValueError, match="y must hold the outcomes of the rows, got None"):
        known_rows(X, None, None)
