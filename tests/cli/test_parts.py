"""``seplearn fit`` with several tables, which are read part by part."""

import hashlib

import numpy as np
import pandas as pd
import pytest

from seplearn import TSLRegressor, datasets, load_model
from tests.cli.conftest import QUICK, run


@pytest.fixture(scope="module")
def parts(tmp_path_factory):
    folder = tmp_path_factory.mktemp("parts")
    X, y = datasets.rents(400, random_state=0)
    frame = X.assign(rent=y, id=np.arange(400.0))
    for k in range(2):
        frame[200 * k : 200 * (k + 1)].to_parquet(folder / f"part-{k}.parquet", index=False)
    frame.assign(rent=np.where(y > 900.0, "dear", "cheap")).to_parquet(folder / "classes.parquet")
    return folder, frame


@pytest.mark.parametrize("way", ["pattern", "list"])
def test_the_model_is_that_of_one_table(parts, tmp_path, way):
    folder, frame = parts
    tables = sorted(folder.glob("part-*")) if way == "list" else [folder / "part-*.parquet"]
    done = run("fit", *tables, "--target", "rent", "--exclude", "id", *QUICK,
               "--validation", folder / "part-1.parquet", "-o", tmp_path / "m.tsl")  # fmt: skip
    assert done.exit_code == 0, done.output
    assert "rent from" in done.output
    assert "error (" in done.output
    features = frame.drop(columns=["rent", "id"])
    expected = TSLRegressor(n_stages=2, early_stopping=False, random_state=0)
    expected.fit(features, frame["rent"])
    found = load_model(tmp_path / "m.tsl").predict(features)
    np.testing.assert_array_equal(found, expected.predict(features))


def test_texts_make_a_classifier(parts):
    folder, _ = parts
    tables = [folder / "classes.parquet", folder / "classes.parquet"]
    done = run("fit", *tables, "--target", "rent", "--exclude", "id", *QUICK)
    assert done.exit_code == 0, done.output
    assert "not saved" in done.output


def test_counts_with_an_exposure(parts, tmp_path):
    folder, frame = parts
    done = run("fit", folder / "part-*.parquet", "--target", "rent", "--exclude", "id", *QUICK,
               "--task", "count", "--exposure", "area",
               "--validation", folder / "part-1.parquet", "-o", tmp_path / "m.tsl")  # fmt: skip
    assert done.exit_code == 0, done.output
    found = load_model(tmp_path / "m.tsl")
    features = frame.drop(columns=["rent", "id", "area"])
    expected = TSLRegressor(n_stages=2, early_stopping=False, random_state=0, loss="poisson")
    offset = np.log(frame["area"])
    wanted = expected.fit(features, frame["rent"], offset=offset).predict(features, offset)
    np.testing.assert_array_equal(found.predict(features, offset), wanted)
    assert found.offset_column_ == ("area", True)


def test_the_model_remembers_where_it_comes_from(parts, tmp_path):
    folder, frame = parts
    done = run("fit", folder / "part-*.parquet", "--target", "rent", "--exclude", "id", *QUICK,
               "--hash-table", "--date", "2026-11-16", "-o", tmp_path / "m.tsl")  # fmt: skip
    assert done.exit_code == 0, done.output
    found = load_model(tmp_path / "m.tsl").provenance_
    whole = b"".join(path.read_bytes() for path in sorted(folder.glob("part-*.parquet")))
    assert found.table_sha256 == hashlib.sha256(whole).hexdigest()
    assert (found.n_rows, found.weight) == (len(frame), len(frame))
    assert (found.date, found.excluded) == ("2026-11-16", ("id",))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--validation", "0.3"], "--validation must be a table, or 0"),
        (["--validation", "-"], "--validation must be a table in a file, got '-'"),
        (["--exposure", "id"], "--exposure is for counts and amounts"),
        (["--weight", "nothing"], "--weight must be a column"),
        (["--exclude", "nothing"], "--exclude must be a column"),
        (["--class-weight", "balanced"], "--class-weight is for classes"),
        (["--task", "count", "--loss", "huber"], "--task count has the loss"),
        (["--quantile", "0.9"], "--quantile is for --loss quantile, got --loss squared_error"),
        (["--power", "1.3", "--loss", "gamma"], "--power is for --loss tweedie, got --loss gamma"),
        (["--task", "classification", "--loss", "huber"], "--loss is for numbers"),
    ],
)
def test_what_several_tables_cannot_have_is_refused(parts, options, message):
    done = run("fit", parts[0] / "part-*.parquet", "--target", "rent", *options)
    assert done.exit_code == 2
    assert message in done.output


def test_outcomes_and_dates_that_no_model_can_have_are_named(tmp_path):
    for k in range(2):
        table = pd.DataFrame({"day": pd.date_range("2026-01-01", periods=20), "n": range(20)})
        table.assign(y=k - 1.0, x=range(20)).to_parquet(tmp_path / f"{k}.parquet")
    start = ["fit", tmp_path / "*.parquet", *QUICK]
    found = run(*start, "--target", "y", "--exclude", "day", "--loss", "poisson")
    assert "column 'y': y must be zero or positive for this loss" in found.output
    assert "(--exclude day)" in run(*start, "--target", "y").output
    assert (
        "--target must hold numbers or classes, got 'day'" in run(*start, "--target", "day").output
    )


def test_a_pattern_without_a_file_is_named(tmp_path):
    done = run("fit", tmp_path / "part-*.csv", "--target", "rent")
    assert done.exit_code == 2
    assert "which names none" in done.output


def _written(folder, frame, **how):
    """A table as one CSV, and as two."""
    frame.to_csv(folder / "whole.csv", index=False, **how)
    half = len(frame) // 2
    for k, rows in enumerate((frame[:half], frame[half:])):
        rows.to_csv(folder / f"part-{k}.csv", index=False, **how)
    return folder / "whole.csv", [folder / "part-0.csv", folder / "part-1.csv"]


@pytest.fixture(scope="module")
def messy():
    """Codes, empty levels, markers, truth values and numbers of a marker."""
    rng = np.random.default_rng(0)
    n = 400
    kind = rng.choice(["a", "b", ""], n)
    code = rng.choice(["01", "1", "02"], n)
    size = rng.normal(size=n).round(2)
    is_new = rng.random(n) < 0.5
    y = (kind == "a") + 2.0 * (kind == "") + (code == "01") + size + is_new
    return pd.DataFrame({
        "kind": kind, "code": code,
        "size": np.where(size > 1.5, "-999.0", np.where(size < -1.2, "?", size.astype(str))),
        "is_new": np.where(is_new, "TRUE", "false"), "y": y,
    })  # fmt: skip


@pytest.mark.parametrize("sep", [",", ";"])
def test_cells_of_several_csvs_mean_what_they_mean_in_one(messy, tmp_path, sep):
    whole, parts = _written(tmp_path, messy, sep=sep)
    options = ["--target", "y", "--categorical", "code", "--missing", "-999", *QUICK]
    one = run("fit", whole, "--validation", "0", *options, "-o", tmp_path / "one.tsl")
    several = run("fit", *parts, "--validation", "0", *options, "-o", tmp_path / "several.tsl")
    assert one.exit_code == several.exit_code == 0, several.output
    assert "cells are not numbers and count as missing: '?' in row" in several.output
    assert f" of {parts[0]}" in several.output
    predicted = [
        run("predict", tmp_path / name, whole).output for name in ("one.tsl", "several.tsl")
    ]
    assert predicted[0] == predicted[1]
    levels = load_model(tmp_path / "several.tsl").model_.bins.axes[1].describe().levels
    assert set(levels) == {"01", "1", "02"}


def test_a_column_of_several_csvs_is_judged_by_all_cells(messy, tmp_path):
    _, parts = _written(tmp_path, messy)
    last = pd.read_csv(parts[1], dtype=str)
    last.loc[3, "size"] = "much"
    last.to_csv(parts[1], index=False)
    done = run("fit", *parts, "--target", "y")
    assert done.exit_code == 2
    assert f"cannot be read as one: 'much' in row 3 of {parts[1]}" in done.output
    done = run("fit", *parts, "--target", "y", *QUICK, "--missing", "much", "--missing", "-999")
    assert done.exit_code == 0, done.output


def test_classes_of_several_csvs_are_those_of_one(messy, tmp_path):
    table = messy.assign(y=np.where(messy["y"] > 1.0, "1.0", "0"))
    whole, parts = _written(tmp_path, table)
    options = ["--target", "y", "--task", "classification", *QUICK, "--validation", "0",
               "--missing", "-999"]  # fmt: skip
    for name, tables in (("one", [whole]), ("several", parts)):
        done = run("fit", *tables, *options, "-o", tmp_path / f"{name}.tsl")
        assert done.exit_code == 0, done.output
    models = [load_model(tmp_path / f"{name}.tsl") for name in ("one", "several")]
    assert models[0].classes_.tolist() == models[1].classes_.tolist() == [0, 1]


def test_csvs_may_stand_beside_parquet_files(messy, tmp_path):
    _, parts = _written(tmp_path, messy)
    typed = pd.read_csv(parts[1], na_values=["?", "-999.0"], dtype={"code": str})
    typed.to_parquet(tmp_path / "part-1.parquet", index=False)
    done = run("fit", parts[0], tmp_path / "part-1.parquet", "--target", "y", *QUICK,
               "--categorical", "code", "--missing", "-999.0")  # fmt: skip
    assert done.exit_code == 0, done.output


def test_a_missing_text_that_no_cell_has_is_remarked_on(messy, tmp_path):
    whole, parts = _written(tmp_path, messy)
    for tables in ([whole], parts):
        done = run("fit", *tables, "--target", "y", *QUICK, "--missing", "-99", "--validation", "0")
        assert "--missing -99: no cell of the table has this text" in done.output


def test_codes_are_noted_wherever_they_begin(tmp_path):
    plz = np.arange(10_115, 10_135).repeat(5)
    table = pd.DataFrame({"plz": plz, "y": np.arange(100.0)})
    table[:10].assign(plz=np.nan).to_csv(tmp_path / "0.csv", index=False)
    for k, rows in enumerate((table[:10], table[10:]), 1):
        rows.to_csv(tmp_path / f"{k}.csv", index=False)
    done = run("fit", *(tmp_path / f"{k}.csv" for k in range(3)), "--target", "y", *QUICK)
    assert "column 'plz' is taken as numbers, but its name is that of a code" in done.output


def test_what_is_made_of_the_target_is_said_of_several_tables_too(messy, tmp_path):
    _, parts = _written(tmp_path, messy.assign(few=np.resize([0, 1], 400), yes="no"))
    base = ["fit", *parts, *QUICK, "--missing", "-999"]
    assert "'few' has two values only" in run(*base, "--target", "few").output
    told = run(*base, "--target", "is_new").output
    assert "'is_new' holds the classes 'False', 'True': the model is a classifier" in told
    three = run(*base, "--target", "code", "--task", "classification", "--offset", "y")
    assert "--offset is for two classes, whose log-odds it is added to" in three.output
    rising = run(*base, "--target", "code", "--task", "classification", "--monotone", "y=up")
    assert "--monotone is for two classes, but 'code' has 3" in rising.output
    missing = run(*base, "--target", "size")
    assert "column 'size' must not have missing values, got one in row" in missing.output


def test_columns_and_options_are_checked_before_rows_are_read(messy, tmp_path):
    whole, parts = _written(tmp_path, messy.assign(size="oops"))
    (tmp_path / "notes.txt").write_text("nothing\n", encoding="utf-8")
    base = ["fit", *parts, *QUICK]
    assert "--target must be a column" in run(*base, "--target", "yy").output
    assert "--exclude must be a column" in run(*base, "--target", "y", "--exclude", "zz").output
    stray = run("fit", whole, tmp_path / "notes.txt", *QUICK, "--target", "y")
    assert "notes.txt must have the columns of" in stray.output
