"""seplearn edit and seplearn merge: new models of saved ones, and what is refused."""

import numpy as np
import pandas as pd
import pytest

from seplearn import TSLRegressor, load_model
from tests.cli.conftest import run


@pytest.fixture
def unseen(files):
    return pd.read_csv(files / "unseen.csv").drop(columns=["rent", "id"])


def test_a_model_is_edited_and_says_so(files, unseen, tmp_path):
    model, new = files / "rent.tsl", tmp_path / "new.tsl"
    done = run("edit", model, files / "unseen.csv", "--clip", "area@0", "-", "100", "--flatten",
               "floor", "--smooth", "distance", "0.2", "--level", "district", "hill", "market",
               "--monotone", "distance=down", "--recalibrate", "--reason", "they said so",
               "-o", new)  # fmt: skip
    assert done.exit_code == 0, done.output
    assert "predictions change" in done.stdout
    assert "RMSE" in done.stdout
    edited = load_model(new)
    assert [record.operation for record in edited.edits_] == [
        "flatten", "clip", "smooth", "set_level", "make_monotone", "recalibrate",
    ]  # fmt: skip
    again = load_model(model).edit().replay(edited.edits_).apply()
    np.testing.assert_array_equal(again.predict(unseen), edited.predict(unseen))
    shown = run("info", new).stdout
    assert "edit 2: clip(feature='area', limits=[None, 100], stage=0): they said so" in shown


def test_the_target_may_be_named(files, unseen, tmp_path):
    table, (old, new) = pd.read_csv(files / "unseen.csv"), (tmp_path / "a.tsl", tmp_path / "b.tsl")
    TSLRegressor(1, early_stopping=False).fit(unseen, table["rent"].to_numpy()).save(old)
    given = ("edit", old, files / "unseen.csv", "--recalibrate", "--reason", "r", "-o", new)
    refused = run(*given)
    assert refused.exit_code == 2
    assert "--target names its column" in refused.stderr
    done = run(*given, "--target", "rent")
    assert done.exit_code == 0, done.output
    assert "edited 1 time" in done.stderr


def test_stages_keep_their_numbers_within_a_command(files, unseen, tmp_path):
    model = load_model(files / "rent.tsl")
    both = tmp_path / "both.tsl"
    done = run("merge", files / "rent.tsl", files / "rent.tsl", "--weight", "1", "--weight", "3",
               "-o", both)  # fmt: skip
    assert done.exit_code == 0, done.output
    np.testing.assert_allclose(load_model(both).predict(unseen), model.predict(unseen), rtol=1e-9)
    n = len(model.stages_)
    last = 2 * n - 1
    done = run("edit", both, "--drop-stage", "0", "--drop-stage", str(last), "--merge-stages",
               "1", str(n), "--reason", "r", "-o", tmp_path / "few.tsl")  # fmt: skip
    if n < 2:
        pytest.skip("the model has too few stages")
    assert done.exit_code == 0, done.output
    assert len(load_model(tmp_path / "few.tsl").stages_) == 2 * n - 3
    names = [record.arguments for record in load_model(tmp_path / "few.tsl").edits_[1:]]
    assert names == [{"first": 1, "second": n}, {"stage": 0}, {"stage": last - 2}]


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["--flatten", "aera"], "did you mean 'area'"),
        (["--flatten", "area@9"], "stage must be an integer from 0"),
        (["--clip", "area", "low", "9"], "--clip must have numbers after the column, got 'low'"),
        (["--drop-stage", "0", "--drop-stage", "0"], "stages must be among those left"),
        (["--monotone", "area"], "--monotone must be COLUMN=up or COLUMN=down"),
        (["--recalibrate"], "--recalibrate needs TABLE"),
        ([], "apply needs a change"),
        (["--flatten", "area", "--reason", " "], "reason must be a text that says why"),
    ],
)
def test_what_cannot_be_done_is_refused_in_one_line(files, tmp_path, arguments, told):
    out = tmp_path / "new.tsl"
    done = run("edit", files / "rent.tsl", "--reason", "r", *arguments, "-o", out)
    assert done.exit_code == 2
    assert told in done.stderr
    assert not out.exists()


def test_inputs_are_not_overwritten(files):
    model = files / "rent.tsl"
    for done in (
        run("merge", model, model, "-o", model),
        run("edit", model, "--flatten", "area", "--reason", "r", "-o", model),
    ):
        assert done.exit_code == 2
        assert "output must not be the input" in done.stderr
    done = run("edit", model, files / "unseen.parquet", "--recalibrate", "--reason", "r", "-o",
               files / "none.tsl")  # fmt: skip
    assert "must have the target" in done.stderr


def test_a_column_may_have_the_name_of_a_place(tmp_path):
    X = pd.DataFrame({"x@1": np.linspace(0.0, 1.0, 100), "x": np.linspace(1.0, 0.0, 100) ** 2})
    TSLRegressor(n_stages=0, random_state=0).fit(X, X["x@1"].to_numpy()).save(tmp_path / "m.tsl")
    done = run("edit", tmp_path / "m.tsl", "--flatten", "x@1", "--reason", "r",
               "-o", tmp_path / "n.tsl")  # fmt: skip
    assert done.exit_code == 0, done.output
    assert load_model(tmp_path / "n.tsl").edits_[0].arguments["feature"] == "x@1"


def test_a_class_is_refused_where_there_is_one_sum(files, tmp_path):
    done = run("edit", files / "rent.tsl", "--class", "a", "--flatten", "floor", "--reason", "r",
               "-o", tmp_path / "n.tsl")  # fmt: skip
    assert "--class is for models of more than two classes, this one has one sum" in done.stderr
