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
        (["--missing", "x"], "--missing is for a single table"),
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
