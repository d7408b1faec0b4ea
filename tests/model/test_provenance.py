"""Where a model comes from: in its file, in its report, on the command line."""

import hashlib
from dataclasses import replace

import numpy as np
import pytest

from seplearn import (
    ModelFormatError,
    SepALSRegressor,
    TSLClassifier,
    TSLRegressor,
    datasets,
    load_model,
    merge,
)
from seplearn.model.format import decode
from seplearn.report import report_html
from seplearn.report.provenance import told_provenance
from tests.cli.conftest import QUICK, run
from tests.model.damage import joined, parts


@pytest.fixture(scope="module")
def table():
    return datasets.rents(200, random_state=0)


@pytest.fixture(scope="module")
def model(table):
    X, y = table
    weight = np.where(np.arange(200) < 10, 0.0, 2.0)
    chosen = {"monotonic_cst": {"area": 1}, "n_stages": 1, "early_stopping": False}
    return TSLRegressor(**chosen, random_state=7).fit(X, y, sample_weight=weight)


def test_a_file_remembers_its_fit_and_is_the_same_twice(table, model, tmp_path, monkeypatch):
    monkeypatch.delenv("SOURCE_DATE_EPOCH", raising=False)
    assert model.provenance_.n_rows == 190
    assert model.provenance_.weight == 380.0
    assert model.provenance_.date is None
    assert set(model.provenance_.versions) > {"python", "seplearn", "numpy", "numba", "scipy"}
    model.save(tmp_path / "m.tsl")
    model.save(tmp_path / "again.tsl")
    assert (tmp_path / "m.tsl").read_bytes() == (tmp_path / "again.tsl").read_bytes()
    assert load_model(tmp_path / "m.tsl").provenance_ == model.provenance_


def test_the_date_is_that_of_the_environment_or_of_the_caller(table, monkeypatch, tmp_path):
    X, y = table
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "86400")
    plain = TSLClassifier(n_stages=1, early_stopping=False).fit(X, y > 800)
    assert plain.provenance_.date == "1970-01-02T00:00:00Z"
    plain.provenance_ = replace(plain.provenance_, date="in spring", excluded=("name",))
    plain.save(tmp_path / "m.tsl")
    assert load_model(tmp_path / "m.tsl").provenance_ == plain.provenance_
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "soon")
    with pytest.raises(ValueError, match="SOURCE_DATE_EPOCH must be seconds since 1970"):
        SepALSRegressor().fit(X[["area"]], y)


def test_it_is_told_in_words_in_the_report_too(model):
    told = dict(told_provenance(model))
    assert told["Training rows"] == "190, of weight 380"
    assert told["Constraints"] == "rises with area"
    assert told["Offsets"] == "none"
    assert told["Seed"] == "7"
    assert told["Loss"] == "squared_error"
    assert "n_stages=1" in told["Other parameters"]
    used, unused = told["Features used"], told["Features not used"]
    names = [name for text in (used, unused) if text != "none" for name in text.split(", ")]
    assert sorted(names) == sorted(model.feature_names_in_)
    marked = replace(model.provenance_, date="<b>now</b>")
    other = model.select_stages([0])
    other.provenance_ = marked
    page = report_html(other)
    assert "<dd>190, of weight 380</dd>" in page
    assert "<dd>&lt;b&gt;now&lt;/b&gt;</dd>" in page


def test_edits_keep_it_and_merges_do_not(model):
    edited = model.edit().flatten("area", stage=0).apply(reason="x")
    assert edited.provenance_ == model.provenance_
    both = merge([model, model])
    assert both.provenance_ is None
    assert "not known" in dict(told_provenance(both))["Training rows"]
    assert "not known" in report_html(both)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("n_rows", -1),
        ("weight", -1.0),
        ("versions", ["1"]),
        ("versions", {"numpy": 2}),
        ("date", ""),
        ("table_sha256", "abc"),
        ("excluded", "area"),
        ("n_left_out", -1),
        ("more", 1),
    ],
)
def test_files_that_tell_nonsense_are_refused(model, tmp_path, name, value):
    model.save(tmp_path / "m.tsl")
    header, arrays, checksum = parts((tmp_path / "m.tsl").read_bytes())
    header["provenance"][name] = value
    with pytest.raises(ModelFormatError):
        decode(joined(header, arrays, checksum), "file")


def test_the_command_line_remembers_what_it_is_asked_to(table, tmp_path, monkeypatch):
    monkeypatch.delenv("SOURCE_DATE_EPOCH", raising=False)
    X, y = table
    path = tmp_path / "t.csv"
    rents = y.copy()
    rents[:3] = np.nan
    X.assign(rent=rents, id=range(200)).to_csv(path, index=False)
    model = tmp_path / "m.tsl"
    start = ["fit", path, "--target", "rent", "--exclude", "id", "--validation", "0", *QUICK]
    done = run(*start, "-o", model, "--hash-table", "--date", "2026-11-16")
    assert done.exit_code == 0, done.output
    found = load_model(model).provenance_
    assert found.table_sha256 == hashlib.sha256(path.read_bytes()).hexdigest()
    assert (found.date, found.excluded, found.n_rows) == ("2026-11-16", ("id",), 197)
    assert found.n_left_out == 3
    told = run("info", model).stdout
    for line in ("training rows: 197", "rows left out: 3", "columns left out: id", "seed: 0"):
        assert line in told
    assert "--date must be" in run(*start, "--date", " ").stderr
    piped = run("fit", "-", *start[2:], "--hash-table", input=path.read_bytes())
    assert "--hash-table needs a table in a file" in piped.stderr
