"""seplearn export: every form, to files and pipes, and what is refused."""

import json
import sqlite3
import sys
from typing import Any

import numpy as np
import pandas as pd
import pytest

from seplearn import TSLRegressor, load_model
from tests.cli.conftest import rows, run


def unseen(files):
    return pd.read_csv(files / "unseen.csv").drop(columns="rent")


def test_json_is_the_plain_form(files, tmp_path):
    done = run("export", files / "rent.tsl", "--json")
    expected = load_model(files / "rent.tsl").to_dict()
    assert done.exit_code == 0
    assert json.loads(done.stdout) == expected
    assert run("export", files / "rent.tsl", "--json", "-o", tmp_path / "m.json").stdout == ""
    assert json.loads((tmp_path / "m.json").read_text(encoding="utf-8")) == expected


def test_a_program_predicts(files, tmp_path):
    done = run("export", files / "rent.tsl", "--source", "python", "--explain", "-o",
               tmp_path / "rent.py")  # fmt: skip
    assert done.exit_code == 0, done.output
    scope: dict[str, Any] = {}
    exec((tmp_path / "rent.py").read_text(encoding="utf-8"), scope)
    X = unseen(files)[:5]
    found = [scope["predict"](row) for row in X.to_dict("records")]
    model = load_model(files / "rent.tsl")
    np.testing.assert_allclose(found, model.predict(X.drop(columns="id")), rtol=1e-9)
    assert "explain" in scope
    for language in ("c", "javascript"):
        assert "predict" in run("export", files / "rent.tsl", "--source", language).stdout


def test_a_query_predicts(files):
    done = run("export", files / "rent.tsl", "--sql", "sqlite", "--table", "main.flats",
               "--keep", "id")  # fmt: skip
    assert done.exit_code == 0, done.output
    database = sqlite3.connect(":memory:")
    X = unseen(files)
    X.to_sql("flats", database, index=False)
    found = pd.read_sql(done.stdout, database)
    assert list(found.columns) == ["id", "prediction"]
    expected = load_model(files / "rent.tsl").predict(X.drop(columns="id"))
    np.testing.assert_allclose(found["prediction"], expected, rtol=1e-9)


def test_a_graph_is_written_to_a_file_or_a_pipe_but_no_terminal(files, tmp_path, monkeypatch):
    onnx = pytest.importorskip("onnx", reason="onnx is not installed")
    model = files / "rent.tsl"
    assert run("export", model, "--onnx", "-o", tmp_path / "m.onnx").exit_code == 0
    content = (tmp_path / "m.onnx").read_bytes()
    onnx.checker.check_model(onnx.load_from_string(content))
    assert run("export", model, "--onnx").stdout_bytes == content
    monkeypatch.setattr("seplearn.cli.export.is_terminal", lambda stream: True)
    done = run("export", model, "--onnx")
    assert (done.exit_code, done.stdout_bytes) == (2, b"")
    assert "--onnx is not for a terminal" in done.stderr


def test_a_scorecard_is_a_table(files, tmp_path):
    frame = pd.read_csv(files / "flats.csv")
    model = TSLRegressor(n_stages=1, early_stopping=False, random_state=0)
    model.fit(frame[["area"]], frame["rent"]).save(tmp_path / "m.tsl")
    done = run("export", tmp_path / "m.tsl", "--scorecard", "--digits", "0", "--scale", "2")
    assert done.exit_code == 0, done.output
    card = model.to_scorecard(scale=2.0, digits=0)
    found = rows(done.stdout)
    assert [float(row["points"]) for row in found] == [card.base, *(r.points for r in card.rows)]
    assert found[0]["range"] == "(base)"
    assert "points add up to the prediction, times 2.0" in done.stderr


def test_control_characters_do_not_act_on_a_terminal(files, tmp_path, monkeypatch):
    frame = pd.read_csv(files / "flats.csv").rename(columns={"area": "ar\x1b[31mea"})
    names = list(frame.columns)
    model = TSLRegressor(n_stages=1, early_stopping=False, random_state=0)
    model.fit(frame[names[:2]], frame["rent"]).save(tmp_path / "m.tsl")
    piped = run("export", tmp_path / "m.tsl", "--sql", "sqlite").stdout
    assert 'CAST(source_rows."ar\x1b[31mea" AS REAL)' in piped
    monkeypatch.setattr("seplearn.cli.export.is_terminal", lambda stream: True)
    assert "\x1b" not in run("export", tmp_path / "m.tsl", "--sql", "sqlite").stdout


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "one of --json, --source, --sql, --onnx, --scorecard must be given, got none"),
        (["--json", "--sql", "duckdb"], "must be given, got --json and --sql"),
        (["--json", "--explain"], "--explain goes with --source, --sql or --onnx only"),
        (["--source", "c", "--keep", "id"], "--keep goes with --sql only"),
        (["--json", "--table", "flats"], "--table goes with --sql only"),
        (["--json", "--missing-level", "NA"], "--missing-level goes with --onnx only"),
        (["--json", "--digits", "0"], "--digits goes with --scorecard only"),
        (["--scorecard", "--explain"], "--explain goes with --source, --sql or --onnx only"),
        (["--scorecard"], "a scorecard needs a model of main effects alone"),
        (["--source", "cobol"], "'cobol' is not one of"),
        (["--sql", "duckdb", "--keep", "sum"], "keep must be names that predictions do not have"),
    ],
)
def test_what_does_not_fit_together_is_refused_and_nothing_written(
    files, tmp_path, arguments, message
):
    (tmp_path / "old").write_text("old", encoding="utf-8")
    done = run("export", files / "rent.tsl", *arguments, "-o", tmp_path / "old")
    assert done.exit_code == 2
    assert message in " ".join(done.stderr.split())
    assert (tmp_path / "old").read_text(encoding="utf-8") == "old"
    assert [path.name for path in tmp_path.iterdir()] == ["old"]


def test_a_model_is_not_overwritten_by_its_export(files):
    before = (files / "rent.tsl").read_bytes()
    done = run("export", files / "rent.tsl", "--json", "-o", files / "rent.tsl")
    assert done.exit_code == 2
    assert (files / "rent.tsl").read_bytes() == before


def test_a_package_that_is_not_there_is_named_on_one_line(files, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "onnx", None)
    done = run("export", files / "rent.tsl", "--onnx", "-o", tmp_path / "m.onnx")
    assert done.exit_code == 2
    assert "to_onnx needs the package onnx" in done.stderr
    assert "Traceback" not in done.output
