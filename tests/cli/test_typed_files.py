"""Columns of Parquet, in one table or several: read as cells of a CSV that mean the same."""

from __future__ import annotations

import decimal

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from pyarrow import parquet

from seplearn import load_model
from tests.cli.conftest import run

QUICK = ["--stages", "0", "--validation", "0", "--quiet", "--early-stopping", "no"]
N = 80
X = np.random.default_rng(0).normal(size=N)
SIGN = X > 0.0


def in_two(folder, columns):
    """The paths of one table, and of the same in two parts."""
    table = pa.table(columns)
    whole, first, second = (folder / f"{name}.parquet" for name in ("whole", "first", "second"))
    for path, part in ((whole, table), (first, table[:40]), (second, table[40:])):
        parquet.write_table(part, path)
    return [whole], [first, second]


def as_decimals(values, kind):
    return pa.array([decimal.Decimal(str(value)) for value in values], kind)


@pytest.mark.parametrize(
    "kind",
    [pa.float32(), pa.float64(), pa.decimal128(10, 2)],
    ids=["float32", "float64", "decimal"],
)
def test_a_number_that_is_missing_is_so_in_every_type(kind, tmp_path):
    values = np.where(np.arange(N) % 8 == 0, -99.9, np.round(X, 2))
    y = np.where(values == -99.9, 0.3, X)
    pd.DataFrame({"a": values, "y": y}).to_csv(tmp_path / "t.csv", index=False)
    model = tmp_path / "m.tsl"
    done = run("fit", tmp_path / "t.csv", "--target", "y", "--missing=-99.90", "-o", model, *QUICK)
    assert done.exit_code == 0, done.output
    column = as_decimals(values, kind) if pa.types.is_decimal(kind) else pa.array(values, kind)
    parquet.write_table(pa.table({"a": column}), tmp_path / "t.parquet")
    own, other = (run("predict", model, tmp_path / f"t.{end}").stdout for end in ("csv", "parquet"))
    assert own.splitlines()[1] == other.splitlines()[1]  # of the first row, where it is missing
    asked = ("--target", "a", "--missing=-99.9", *QUICK)
    done = run("fit", *in_two(tmp_path, {"a": column, "b": X})[0], *asked)
    assert "no cell of the table has this text" not in done.stderr


def test_a_truth_value_may_mean_that_one_is_missing(tmp_path):
    whole, _ = in_two(tmp_path, {"a": SIGN, "b": X, "y": X})
    done = run("fit", *whole, "--target", "y", "--missing", "false", *QUICK)
    assert done.exit_code == 0, done.output
    assert "no cell of the table has this text" not in done.stderr


@pytest.mark.parametrize(
    ("labels", "expected"),
    [
        (pa.array(SIGN * 1.0), [0, 1]),
        (pa.array(np.where(SIGN, 2.5, 1.5)), ["1.5", "2.5"]),
        (as_decimals(SIGN.astype(int), pa.decimal128(5, 0)), [0, 1]),
    ],
    ids=["whole", "not whole", "decimal"],
)
def test_numbers_that_are_classes_are_the_same_in_several_tables(labels, expected, tmp_path):
    for tables in in_two(tmp_path, {"x": X, "y": labels}):
        asked = ("--target", "y", "--task", "classification", "-o", tmp_path / "m.tsl")
        done = run("fit", *tables, *asked, *QUICK)
        assert done.exit_code == 0, done.output
        assert load_model(tmp_path / "m.tsl").classes_.tolist() == expected


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--target", "y", "--task", "regression"], "column 'y' must hold numbers, got bool"),
        (["--target", "y", "--task", "count"], "column 'y' must hold numbers, got bool"),
        (["--target", "x", "--weight", "text"], "column 'text' must hold numbers, got string"),
        (["--target", "x", "--weight", "w"], "that are not negative, got -1.0 in row 5"),
    ],
)
def test_columns_that_must_hold_numbers(options, message, tmp_path):
    weight = np.where(np.arange(N) == 5, -1.0, 1.0)
    for tables in in_two(tmp_path, {"x": X, "y": SIGN, "w": weight, "text": ["b", "c"] * 40}):
        done = run("fit", *tables, *options, *QUICK)
        assert done.exit_code == 2
        assert message in done.stderr


def test_codes_are_noted_in_several_tables_too(tmp_path):
    for tables in in_two(tmp_path, {"zip": np.arange(N) + 10_000, "y": X}):
        told = run("fit", *tables, "--target", "y", *QUICK).stderr
        assert "column 'zip' is taken as numbers, but it numbers the rows" in told


@pytest.mark.filterwarnings("ignore:no stage improves")
def test_a_csv_without_values_in_a_column_is_of_the_type_of_the_others(tmp_path):
    table = pd.DataFrame({"city": ["a", "b", "c", "a"] * 20, "y": X})
    pa_table = pa.Table.from_pandas(table, preserve_index=False)
    parquet.write_table(pa_table, tmp_path / "one.parquet")
    table.assign(city=None).to_csv(tmp_path / "two.csv", index=False)
    (tmp_path / "two.csv.parts").mkdir()  # a pattern means files, no folders
    done = run("fit", f"{tmp_path}/one*", tmp_path / "two.csv", "--target", "y", *QUICK)
    assert done.exit_code == 0, done.output
    done = run("fit", f"{tmp_path}/two*", "--target", "y", *QUICK)
    assert done.exit_code == 0, done.output
