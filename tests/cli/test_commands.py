"""Every command through click's runner: what it writes, what it says, what it refuses."""

import datetime
import gzip
import json
import os
import re
import subprocess
import sys
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from pyarrow import parquet

from seplearn import SepALSRegressor, TSLRegressor, datasets, explain, load_model
from seplearn._numerals import count
from seplearn._params import TSL_PARAMETERS
from seplearn.cli.fit import fit as fit_command
from seplearn.cli.main import _COMMANDS
from seplearn.cli.tables import column_names
from seplearn.kernels.rows import advance
from tests.cli.conftest import QUICK, rows, run


def unseen(files):
    return pd.read_csv(files / "unseen.csv")


def predicted(files):
    return load_model(files / "rent.tsl").predict(unseen(files).drop(columns=["rent", "id"]))


def test_fit_is_the_estimator_and_tells_what_it_found(files, tmp_path):
    done = run("fit", files / "flats.csv", "--target", "rent", "--exclude", "id", *QUICK,
               "--validation", "0", "-o", tmp_path / "m.tsl")  # fmt: skip
    assert done.exit_code == 0
    table = pd.read_csv(files / "flats.csv").drop(columns="id")
    options: dict[str, Any] = {"n_stages": 2, "early_stopping": False, "random_state": 0}
    model = TSLRegressor(**options).fit(table.drop(columns="rent"), table["rent"])
    loaded = load_model(tmp_path / "m.tsl")
    X = unseen(files).drop(columns=["rent", "id"])
    np.testing.assert_array_equal(loaded.predict(X), model.predict(X))
    assert loaded.target_name_ == "rent"
    assert loaded.evaluation_ is None
    assert "rent from 7 features, 500 rows" in done.stdout
    assert explain.roles(loaded).sentences[0][:20] in done.stdout
    assert "area" in done.stdout
    assert "error" not in done.stdout


def test_the_error_is_of_rows_held_out(files):
    kept = load_model(files / "rent.tsl").evaluation_
    assert kept.n_rows == 100
    assert 0.5 < kept.r2 < 1
    done = run("fit", files / "flats.csv", "--target", "rent", "--exclude", "id", *QUICK,
               "--validation", files / "unseen.csv")  # fmt: skip
    assert done.exit_code == 0
    model = load_model(files / "rent.tsl")  # the same rows in another order: nearly the same model
    X = unseen(files)
    error = model.evaluate(X.drop(columns=["rent", "id"]), X["rent"])
    assert f"on {len(X)} rows" in done.stdout
    told = float(done.stdout.split("RMSE ")[1].split(",")[0])
    assert told == pytest.approx(error.rmse, rel=0.2)


def test_a_validation_table_is_looked_at_before_the_fit_and_may_lack_outcomes(files, tmp_path):
    fit = ["fit", files / "flats.csv", "--target", "rent", "--exclude", "id", *QUICK]
    done = run(*fit, "--validation", tmp_path / "none.csv", "--stages", "1000000")
    assert "there is no file" in done.stderr  # and not after a million stages
    frame = unseen(files)
    frame.drop(columns="area").to_csv(tmp_path / "lacks.csv", index=False)
    done = run(*fit, "--validation", tmp_path / "lacks.csv", "--stages", "1000000")
    assert "must have the columns ['area']" in done.stderr
    frame.assign(rent=np.nan).to_csv(tmp_path / "none_known.csv", index=False)
    done = run(*fit, "--validation", tmp_path / "none_known.csv", "--stages", "1000000")
    assert "must have values of 'rent', got none" in done.stderr
    done = run(*fit, "--validation", "-", "--stages", "1000000")
    assert "--validation must be a table in a file, got '-'" in done.stderr
    frame.loc[:49, "rent"] = np.nan
    frame.to_csv(tmp_path / "half.csv", index=False)
    done = run(*fit, "--validation", tmp_path / "half.csv")
    assert done.exit_code == 0, done.output
    assert "on 150 rows" in done.stdout


def test_a_model_whose_error_cannot_be_told_is_saved(files, tmp_path):
    fit = ["fit", files / "flats.csv", "--target", "rent", "--exclude", "id", *QUICK]
    odd = unseen(files).astype({"area": object})
    odd.loc[odd.index[3], "area"] = "large"
    odd.to_csv(tmp_path / "odd.csv", index=False)
    done = run(*fit, "--validation", tmp_path / "odd.csv", "-o", tmp_path / "m.tsl")
    assert done.exit_code != 0
    assert "large" in done.stderr
    assert "is not known" in done.stderr
    assert load_model(tmp_path / "m.tsl").evaluation_ is None


def test_rows_of_a_validation_table_have_their_weights(files, tmp_path):
    frame = pd.read_csv(files / "flats.csv").assign(w=1.0)
    frame.to_csv(tmp_path / "flats.csv", index=False)
    rows = unseen(files)
    rows.assign(w=np.arange(len(rows)) % 3).to_csv(tmp_path / "unseen.csv", index=False)
    fit = ["fit", tmp_path / "flats.csv", "--target", "rent", "--exclude", "id", "--weight", "w",
           *QUICK, "-o", tmp_path / "m.tsl"]  # fmt: skip
    done = run(*fit, "--validation", tmp_path / "unseen.csv")
    assert done.exit_code == 0, done.output
    model = load_model(tmp_path / "m.tsl")
    X, y = rows.drop(columns=["rent", "id"]), rows["rent"]
    expected = model.evaluate(X, y, np.arange(len(rows)) % 3)
    assert model.evaluation_.rmse == pytest.approx(expected.rmse, rel=1e-9)
    done = run(*fit, "--validation", files / "unseen.csv")
    assert "has no column 'w': its rows count alike" in done.stderr
    assert load_model(tmp_path / "m.tsl").evaluation_.rmse != expected.rmse


def test_progress_in_lines_where_there_is_no_terminal(files):
    fit = ["fit", files / "flats.csv", "--target", "rent", "--exclude", "id"]
    done = run(*fit, *QUICK[:-1], "-v")
    assert done.exit_code == 0, done.output
    assert "fit 1 of 2: to 80% of the rows" in done.stderr
    assert done.stderr.count("growing, stage 2 of 2") == 2
    assert "growing" not in done.stdout
    assert "growing" not in run(*fit, *QUICK[:-1], "--validation", "0").output
    assert "--quiet must not be given together with --verbose" in run(*fit, *QUICK, "-v").stderr


def test_every_command_is_listed_and_found_by_its_name():
    told = run("--help").stdout.split("Commands:")[1]
    assert [line.split()[0] for line in told.strip().splitlines()] == list(_COMMANDS)
    for name in _COMMANDS:
        done = run(name, "--help")
        assert done.exit_code == 0
        assert f" {name} [OPTIONS]" in done.stdout.splitlines()[0]
    assert run("fitt").exit_code == 2


def test_help_does_not_wait_for_what_commands_need():
    code = (
        "import sys; from seplearn.cli import command_line; "
        "command_line(['--help'], standalone_mode=False); "
        "print([m for m in ('numpy', 'numba', 'sklearn', 'pyarrow') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "[]"


def test_options_are_the_estimators_parameters(files, tmp_path):
    known = {p.name for p in fit_command.params}
    elsewhere = {"categorical_features", "monotonic_cst", "keep_bags", "warm_start"}
    assert {p.name for p in TSL_PARAMETERS} - known == elsewhere
    done = run("fit", files / "flats.csv", "--target", "rent", "--exclude", "id", *QUICK,
               "--categorical", "rooms", "--monotone", "area=up", "--loss", "huber",
               "--smoothness", "0.5", "--max-bins", "31", "--fit-intercept", "no",
               "--weight", "year", "-o", tmp_path / "m.tsl")  # fmt: skip
    assert done.exit_code == 0, done.output
    model = load_model(tmp_path / "m.tsl")
    given = model.get_params()
    assert (given["loss"], given["smoothness"], given["max_bins"]) == ("huber", 0.5, 31)
    assert given["fit_intercept"] is False
    assert given["monotonic_cst"] == {"area": 1}
    assert "year" not in model.feature_names_in_
    assert len(model.model_.bins.axes[1].levels) > 3
    told = " ".join(run("fit", "--help").stdout.split())
    assert "Parameters of the model" in told
    options = {name for p in fit_command.params for name in p.opts}
    assert set(re.findall(r"--[a-z][a-z-]*", told)) <= options | {"--help"}
    assert "With --refine scalars each stage" in told
    assert "--early-stopping yes, --n-bootstrap and --monotone are refused" in told
    assert "--fit-intercept yes|no Whether the model has a constant. [default: yes]" in told


def test_predict_writes_what_the_model_predicts(files, tmp_path):
    expected = predicted(files)
    done = run("predict", files / "rent.tsl", files / "unseen.csv", "--keep", "id")
    found = rows(done.stdout)
    assert [row["id"] for row in found] == list(unseen(files)["id"])
    np.testing.assert_array_equal([float(row["prediction"]) for row in found], expected)
    for name in ("out.csv", "out.parquet"):
        target = tmp_path / name
        done = run("predict", files / "rent.tsl", files / "unseen.parquet", "-o", target,
                   "--stages", "--interval", "--kind", "mean", "--level", "0.8")  # fmt: skip
        assert done.exit_code == 0, done.output
        assert done.stdout == ""
        frame = pd.read_csv(target) if name.endswith("csv") else pd.read_parquet(target)
        np.testing.assert_allclose(frame["prediction"], expected, rtol=1e-12)
        parts = frame[["intercept", "stage 0", "stage 1"]].sum(axis=1)
        np.testing.assert_allclose(parts, expected, rtol=1e-9)
        assert (frame["lower"] <= frame["upper"]).all()
    assert len(list(tmp_path.iterdir())) == 2


def test_pipes_and_packed_files_are_read(files, tmp_path):
    text = (files / "unseen.csv").read_bytes()
    expected = predicted(files)
    piped = run("predict", files / "rent.tsl", "-", input=text)
    np.testing.assert_array_equal([float(r["prediction"]) for r in rows(piped.stdout)], expected)
    piped = run("predict", files / "rent.tsl", "-", input=(files / "unseen.parquet").read_bytes())
    np.testing.assert_array_equal([float(r["prediction"]) for r in rows(piped.stdout)], expected)
    packed = tmp_path / "unseen.csv.gz"
    packed.write_bytes(gzip.compress(text))
    done = run("predict", files / "rent.tsl", packed)
    np.testing.assert_array_equal([float(r["prediction"]) for r in rows(done.stdout)], expected)
    fitted = run("fit", "-", "--target", "rent", "--exclude", "id", *QUICK,
                 input=(files / "flats.csv").read_bytes())  # fmt: skip
    assert fitted.exit_code == 0
    assert "7 features" in fitted.stdout


@pytest.mark.filterwarnings("default:column 'id'")
def test_an_identifier_among_the_features_is_noted(files):
    done = run("fit", files / "flats.csv", "--target", "rent", *QUICK, "--validation", 0.2)
    assert done.exit_code == 0
    told = "Note: column 'id': 100 % of its values are levels in fewer than 5 rows"
    assert done.stderr.count(told) == 1  # though two models are fitted


@pytest.mark.parametrize("delimiter", [";", "\t", "|"])
def test_other_delimiters_are_seen(files, tmp_path, delimiter):
    path = tmp_path / "other.csv"
    unseen(files).to_csv(path, sep=delimiter, index=False)
    done = run("predict", files / "rent.tsl", path)
    found = [float(row["prediction"]) for row in rows(done.stdout)]
    np.testing.assert_array_equal(found, predicted(files))


def test_levels_are_known_by_any_spelling(tmp_path):
    """What was a number, a truth value or a text in training may be spelt otherwise later."""
    random = np.random.default_rng(0)
    frame = pd.DataFrame({"flag": random.random(400) < 0.5, "zone": random.integers(1, 4, 400)})
    y = 3.0 * frame["flag"] + frame["zone"] ** 2
    model = TSLRegressor(2, early_stopping=False, categorical_features=["zone"], random_state=0)
    model.fit(frame, y).save(tmp_path / "m.tsl")
    csv = tmp_path / "new.csv"
    csv.write_text("flag,zone\ntrue,1\nTRUE,1.0\nTrue,3\nfalse,2\nmaybe,9\n,\n")
    found = [float(r["prediction"]) for r in rows(run("predict", tmp_path / "m.tsl", csv).stdout)]
    new = pd.DataFrame({"flag": [True, True, True, False, "maybe", None],
                        "zone": ["1", "1", "3", "2", "9", None]})  # fmt: skip
    np.testing.assert_array_equal(found, model.predict(new))
    assert found[0] != found[3]
    new[:4].astype({"flag": bool, "zone": float}).to_parquet(tmp_path / "new.parquet")
    done = run("predict", tmp_path / "m.tsl", tmp_path / "new.parquet")
    np.testing.assert_array_equal([float(r["prediction"]) for r in rows(done.stdout)], found[:4])


def test_codes_with_leading_zeros_stay_text(tmp_path):
    table = tmp_path / "t.csv"
    lines = [f"{zip_},{y}" for zip_, y in [("01234", 1.0), ("1234", 9.0)] * 100]
    table.write_text("zip,y\n" + "\n".join(lines))
    model = tmp_path / "m.tsl"
    run("fit", table, "--target", "y", "--categorical", "zip", *QUICK, "-o", model)
    new = tmp_path / "new.csv"
    new.write_text("zip\n01234\n1234\n")
    found = [float(r["prediction"]) for r in rows(run("predict", model, new).stdout)]
    np.testing.assert_allclose(found, [1.0, 9.0], atol=0.5)


def test_help_shows_how_several_features_are_kept():
    told = " ".join(run("explain", "--help").stdout.split())
    assert "repeat the option: --fixed age --fixed gender" in told


def test_explain_draws_and_tells_numbers(files):
    local = explain.local(
        load_model(files / "rent.tsl"), unseen(files).drop(columns=["rent", "id"]), 3
    )
    done = run("explain", files / "rent.tsl", files / "unseen.csv", "--row", "3")
    lines = done.stdout.splitlines()
    assert lines[0].startswith("row 3: prediction of rent ")
    start = lines.index("How the parts of the model come to it:") + 2
    words = [line.split()[0] for line in lines[start : start + 4]]
    assert words == ["constant", "stage", "stage", "prediction"]
    assert "district" in done.stdout
    told = json.loads(
        run("explain", files / "rent.tsl", files / "unseen.csv", "--row", 3, "--json").stdout
    )
    assert told["prediction"] == local.prediction
    sizes = [stage["contribution"] for stage in told["stages"]]
    assert told["intercept"] + sum(sizes) == pytest.approx(told["prediction"], rel=1e-9)
    assert told["remarks"] == {}


def test_explain_begins_with_what_every_feature_does(files):
    X = unseen(files).drop(columns=["rent", "id"])
    shapley = explain.shapley(load_model(files / "rent.tsl"), X[3:4])
    lines = run("explain", files / "rent.tsl", files / "unseen.csv", "--row", 3).stdout.splitlines()
    first = next(k for k, line in enumerate(lines) if line.startswith("average"))
    assert first < lines.index("How the parts of the model come to it:")
    order = np.argsort(-np.abs(shapley.values[0]), kind="stable")
    used = [shapley.names[j] for j in order if shapley.values[0, j] != 0.0]
    assert [line.split()[0] for line in lines[first + 1 : first + 1 + len(used)]] == used
    done = run("explain", files / "rent.tsl", files / "unseen.csv", "--row", 3, "--json")
    told = json.loads(done.stdout)
    assert told["shapley"]["average"] == shapley.base
    assert list(told["shapley"]["values"].values()) == shapley.values[0].tolist()
    assert told["changes"] is None


def test_explain_says_what_would_change_it(files):
    model, X = load_model(files / "rent.tsl"), unseen(files).drop(columns=["rent", "id"])
    wanted = float(model.predict(X[3:4])[0]) * 1.2
    call = ["explain", files / "rent.tsl", files / "unseen.csv", "--row", 3, "--wanted", wanted]
    expected = explain.counterfactual(model, X, 3, target=wanted, fixed=["area"])
    assert expected.changes
    told = json.loads(run(*call, "--fixed", "area", "--json").stdout)["changes"]
    assert told["wanted"] == expected.wanted
    assert [one["features"] for one in told["changes"]] == [
        list(change.names) for change in expected.changes
    ]
    assert [one["prediction"] for one in told["changes"]] == [
        change.prediction for change in expected.changes
    ]
    drawn = run(*call, "--fixed", "area").stdout
    assert f"For {expected.goal} one of these would do." in " ".join(drawn.split())
    assert expected.changes[0].texts[0] in drawn
    held = explain.counterfactual(model, X, 3, target=wanted, directions={"area": 1})
    told = json.loads(run(*call, "--only", "area=up", "--json").stdout)["changes"]
    assert [one["features"] for one in told["changes"]] == [list(c.names) for c in held.changes]
    assert any("area" in change.names for change in held.changes)
    far = run(*call[:-1], "1e9").stdout
    assert "No change of one or two features" in far
    nearest = explain.counterfactual(model, X, 3, target=1e9).nearest
    assert nearest[0].texts[0] in far
    told = json.loads(run(*call[:-1], "1e9", "--json").stdout)["changes"]
    assert [one["prediction"] for one in told["nearest"]] == [one.prediction for one in nearest]
    now = repr(float(model.predict(X[3:4])[0]))
    assert "nothing has to change" in run(*call[:-1], now).stdout


def test_explain_without_reference_rows_tells_the_stages(files, tmp_path):
    X, y = datasets.rents(300, random_state=0)
    options = {"early_stopping": False, "main_effects": False, "random_state": 0}
    model = TSLRegressor(1, background_size=0, **options).fit(X, y)
    model.save(tmp_path / "m.tsl")
    X.head(1).to_csv(tmp_path / "one.csv", index=False)
    done = run("explain", tmp_path / "m.tsl", tmp_path / "one.csv")
    assert "average" not in done.stdout
    assert "constant" in done.stdout
    as_json = run("explain", tmp_path / "m.tsl", tmp_path / "one.csv", "--json").stdout
    assert json.loads(as_json)["shapley"] is None


@pytest.fixture(scope="module")
def additive(files, tmp_path_factory):
    path = tmp_path_factory.mktemp("additive") / "m.tsl"
    done = run("fit", files / "flats.csv", "--target", "rent", "--exclude", "id", *QUICK,
               "--main-effects", "yes", "-o", path)  # fmt: skip
    assert done.exit_code == 0, done.output
    assert "main effects: " in done.stdout
    return path


def test_main_effects_are_predicted_told_and_written(additive, files):
    model = load_model(additive)
    X = unseen(files).drop(columns=["rent", "id"])
    done = run("predict", additive, files / "unseen.csv", "--stages")
    found = pd.DataFrame(rows(done.stdout)).astype(float)
    effects = found[[f"main effect of {name}" for name in X]].to_numpy()
    np.testing.assert_allclose(effects, model.predict_effects(X), rtol=1e-12)
    parts = found.drop(columns="prediction").sum(axis=1)
    np.testing.assert_allclose(parts, model.predict(X), rtol=1e-9)
    local = explain.local(model, X, 3)
    done = run("explain", additive, files / "unseen.csv", "--row", 3)
    told = {name for name in X if f"main effect of {name}" in done.stdout}
    assert told == {name for name, value in zip(X, local.effects, strict=True) if value != 0.0}
    assert set() < told < set(X)  # some have one, and who has none is not listed with a zero
    done = run("explain", additive, files / "unseen.csv", "--row", 3, "--json")
    told = json.loads(done.stdout)
    assert told["main_effects"] == dict(zip(X, local.effects.tolist(), strict=True))
    steps = [stage["contribution"] for stage in told["stages"]] + [*told["main_effects"].values()]
    assert told["intercept"] + sum(steps) == pytest.approx(told["prediction"])
    stages = count(len(model.stages_), "stage")
    assert f"{stages}, main effects, 7 features" in run("info", additive).stdout
    curves = pd.DataFrame(rows(run("curves", additive).stdout))
    own = curves[curves["stage"] == ""]
    np.testing.assert_allclose(own["effect"].astype(float), model.model_.effects, rtol=1e-12)
    assert (curves[curves["stage"] != ""]["effect"] == "").all()
    assert set(curves["stage"]) == {*map(str, range(len(model.stages_))), ""}


def test_explain_lists_what_is_in_the_stage_and_no_tilt_of_a_single_product(files, tmp_path):
    X = pd.DataFrame(np.random.default_rng(0).uniform(1.0, 3.0, (400, 3)), columns=list("abc"))
    model = TSLRegressor(1, main_effects=False, random_state=0).fit(X, X["a"] * X["b"])
    model.save(tmp_path / "m.tsl")
    X.head(1).to_csv(tmp_path / "one.csv", index=False)
    (stage,) = model.stages_
    names = [list("abc")[j] for j in stage.features(model.model_.bins)]
    done = run("explain", tmp_path / "m.tsl", tmp_path / "one.csv")
    assert done.stdout.startswith("row 0: prediction ")
    lines = done.stdout.splitlines()
    start = next(k for k, line in enumerate(lines) if line.startswith("feature"))
    listed = [line.split()[0] for line in lines[start + 1 : lines.index("", start)]]
    assert sorted(listed) == names == ["a", "b"]
    assert ("tilt" in done.stdout) == (stage.tilt is not None)


def test_explain_remarks_on_values_unlike_the_training_rows(files, tmp_path):
    strange = unseen(files).drop(columns=["rent", "id"]).head(1).assign(area=1e5)
    strange.to_csv(tmp_path / "strange.csv", index=False)
    done = run("explain", files / "rent.tsl", tmp_path / "strange.csv")
    assert "\narea: above all training values (" in done.stdout


def test_explain_of_signed_factors_says_that_they_have_no_backbone(files, tmp_path):
    X, y = datasets.rents(300, random_state=0)
    SepALSRegressor(random_state=0).fit(X, y).save(tmp_path / "s.tsl")
    X.head(1).to_csv(tmp_path / "one.csv", index=False)
    done = run("explain", tmp_path / "s.tsl", tmp_path / "one.csv")
    assert "have signs: no backbone, no tilt." in done.stdout


def test_summary_tells_the_whole_model(files, tmp_path):
    model = load_model(files / "rent.tsl")
    told = " ".join(run("summary", files / "rent.tsl").stdout.split())
    expected = explain.summary(model)
    for heading, sentences in expected.sections:
        assert heading in told
        assert all(sentence in told for sentence in sentences)
    assert f"{model.reading_size_} curves to read" in told
    fitted = " ".join(run("info", files / "rent.tsl").stdout.split())
    assert told in fitted
    assert model.stage_names_[0] in fitted
    explained = run("explain", files / "rent.tsl", files / "unseen.csv").stdout
    assert f"has {model.reading_size_} curves to read" in explained
    other = " ".join(run("summary", files / "rent.tsl", files / "unseen.csv").stdout.split())
    assert "over 200 rows given" in other
    header = (files / "unseen.csv").read_text().splitlines()[0]
    (tmp_path / "empty.csv").write_text(header + "\n")
    nothing = run("summary", files / "rent.tsl", tmp_path / "empty.csv")
    assert nothing.exit_code == 2
    assert "has no rows" in nothing.output


def test_curves_info_and_report(files, tmp_path):
    model = load_model(files / "rent.tsl")
    found = rows(run("curves", files / "rent.tsl").stdout)
    expected = [explain.curves(model, s).frame() for s in range(2)]
    assert len(found) == sum(map(len, expected))
    assert float(found[7]["frequency"]) == expected[0]["frequency"].iloc[7]
    told = run("info", files / "rent.tsl").stdout
    assert "TSLRegressor for rent: 2 stages, 7 features" in told
    first = explain.summary(model).sections[0][1][0][:30]
    assert told.startswith(first)
    assert "nan" not in run("curves", files / "rent.tsl").stdout
    assert "error when it was fitted: RMSE" in told
    assert "5 levels" in told
    page = tmp_path / "page.html"
    for table in ([], [files / "unseen.csv"], [files / "unseen.parquet"]):
        done = run("report", files / "rent.tsl", *table, "-o", page, "--title", "Rents")
        assert done.exit_code == 0, done.output
        assert "Rents" in page.read_text(encoding="utf-8")


def test_the_demo_shows_every_step(tmp_path):
    done = run("demo", "-o", tmp_path / "demo")
    assert done.exit_code == 0, done.output
    assert {p.name for p in (tmp_path / "demo").iterdir()} == {
        "flats.csv", "unseen.csv", "rent.tsl", "rent.html",
    }  # fmt: skip
    assert done.stdout.count("$ seplearn") == 3


def test_the_demo_replaces_no_file_of_somebody_else(tmp_path):
    own = tmp_path / "rent.tsl"
    own.write_text("of somebody else")
    done = run("demo", "-o", tmp_path)
    assert done.exit_code == 2
    assert "output must be a folder that is new or empty" in done.stderr
    assert [p.name for p in tmp_path.iterdir()] == ["rent.tsl"]
    assert own.read_text() == "of somebody else"


@pytest.mark.skipif(not hasattr(os, "symlink"), reason="no links on this system")
def test_links_in_a_circle_are_told_in_a_line(files, tmp_path):
    loop = tmp_path / "loop.csv"
    loop.symlink_to(loop)
    model, table = files / "rent.tsl", files / "unseen.csv"
    for done in (
        run("predict", model, table, "-o", loop),
        run("predict", model, table, "-o", loop / "p.csv"),
        run("predict", loop, table, "-o", tmp_path / "p.csv"),
    ):
        assert done.exit_code == 2, done.exception
        assert "links" in done.stderr
    assert [p.name for p in tmp_path.iterdir()] == ["loop.csv"]


@pytest.mark.parametrize("ending", ["csv", "csv.gz", "parquet"])
def test_names_of_files_need_not_be_utf8(files, tmp_path, ending):
    table, out = (
        tmp_path / os.fsdecode(b"\xff" + end.encode()) for end in (f".{ending}", ".out.csv")
    )
    try:
        if ending == "parquet":
            unseen(files).to_parquet(tmp_path / "plain")
            (tmp_path / "plain").rename(table)
        else:
            raw = (files / "unseen.csv").read_bytes()
            table.write_bytes(gzip.compress(raw) if ending == "csv.gz" else raw)
    except OSError:
        pytest.skip("no such names on this system")
    done = run("predict", files / "rent.tsl", table, "-o", out)
    assert done.exit_code == 0, done.output
    found = [float(row["prediction"]) for row in rows(out.read_text(encoding="utf-8"))]
    np.testing.assert_array_equal(found, predicted(files))


@pytest.mark.parametrize("value", [datetime.date(2020, 1, 1), b"\xff", [1], {"a": 1}])
def test_outcomes_and_weights_that_are_no_numbers_are_named(files, tmp_path, value):
    table = pa.Table.from_pandas(unseen(files)[:5].drop(columns="rent"))
    path = tmp_path / "odd.parquet"
    column = pa.array([value] * 5)
    parquet.write_table(table.append_column("rent", column), path)
    message = "odd.parquet: column 'rent' must hold numbers, got "
    for command in (["evaluate"], ["report", "-o", tmp_path / "r.html"]):
        done = run(command[0], files / "rent.tsl", path, *command[1:])
        assert done.exit_code == 2, done.exception
        assert message in done.stderr
    done = run("evaluate", files / "rent.tsl", path, "--target", "area", "--weight", "rent")
    assert message in done.stderr


BAD = [
    (["fit", "{d}/none.csv", "--target", "rent"], "there is no file"),
    (["fit", "{d}/flats.csv"], "--target"),
    (["fit", "{d}/flats.csv", "--target", "price"], "must have the columns ['price']"),
    (["fit", "{d}/flats.csv", "--target", "rents"], "(did you mean 'rent'?)"),
    (
        ["fit", "{d}/flats.csv", "--target", "district", "--task", "regression"],
        "column 'district' must hold numbers, but 500 of 500 cells",
    ),
    (["fit", "{d}/flats.csv", "--target", "rent", "--exclude", "x"], "must have the columns ['x']"),
    (
        ["fit", "{d}/flats.csv", "--target", "rent", "--exclude", "id", "--exclude", "rent"],
        "--exclude must not name a column that --target names, got 'rent'",
    ),
    (
        ["fit", "{d}/flats.csv", "--target", "rent", "--weight", "rent"],
        "--weight must not name a column that --target names, got 'rent'",
    ),
    (
        ["fit", "{d}/flats.csv", "--target", "rent", "--weight", "id", "--exclude", "id"],
        "--exclude must not name a column that --weight names, got 'id'",
    ),
    (
        ["fit", "{d}/flats.csv", "--target", "rent", "--categorical", "rent"],
        "--categorical must not name a column that --target names, got 'rent'",
    ),
    (
        ["fit", "{d}/flats.csv", "--target", "rent", "--exclude", "id", "--categorical", "id"],
        "--categorical must not name a column that --exclude names, got 'id'",
    ),
    (["fit", "{d}/flats.csv", "--target", "rent", "--validation", "1.5"], "--validation must be"),
    (["fit", "{d}/flats.csv", "--target", "rent", "--validation", "0.0001"], "none on one side"),
    (["fit", "{d}/flats.csv", "--target", "rent", "--stages", "-1"], "must be an integer >= 0"),
    (["fit", "{d}/flats.csv", "--target", "rent", "--loss", "mae"], "must be one of"),
    (["fit", "{d}/flats.csv", "--target", "rent", "--monotone", "area"], "--monotone must be"),
    (["fit", "{d}/flats.csv", "--target", "rent", "-o", "{d}/no/m.tsl"], "folder that exists"),
    (["fit", "{d}/empty.csv", "--target", "rent"], "empty.csv is empty"),
    (["fit", "{d}/twice.csv", "--target", "b"], "distinct"),
    (["fit", "{d}/alone.csv", "--target", "rent"], "no column is left"),
    (["fit", "{d}/hollow.csv", "--target", "b"], "must have values"),
    (["predict", "{d}/none.tsl", "{d}/unseen.csv"], "there is no model file"),
    (["predict", "{d}", "{d}/unseen.csv"], "must be a file"),
    (["predict", "{d}/flats.csv", "{d}/unseen.csv"], "not a valid seplearn model"),
    (["predict", "{d}/rent.tsl", "{d}/alone.csv"], "must have the columns ['area'"),
    (
        ["predict", "{d}/rent.tsl", "{d}/words.csv"],
        "column 'area'",
    ),
    (["predict", "{d}/rent.tsl", "{d}/norows.csv"], "has no rows"),
    (["predict", "{d}/rent.tsl", "{d}/unseen.csv", "-o", "{d}/x.txt"], ".csv or .parquet"),
    (["predict", "{d}/rent.tsl", "{d}/unseen.csv", "--keep", "x"], "must have the columns ['x']"),
    (
        [
            "predict",
            "{d}/rent.tsl",
            "{d}/unseen.csv",
            "--interval",
            "--kind",
            "mean",
            "--level",
            "2",
        ],
        "level must be",
    ),
    (
        ["predict", "{d}/rent.tsl", "{d}/unseen.csv", "--interval", "-o", "{d}/none.csv"],
        "--interval for the outcome needs a fit that held rows out",
    ),
    (["explain", "{d}/rent.tsl", "{d}/unseen.csv", "--row", "999"], "0 to 199"),
    (["explain", "{d}/rent.tsl", "{d}/unseen.csv", "--row", "-1"], "--row"),
    (["explain", "{d}/rent.tsl", "{d}/unseen.csv", "--fixed", "area"], "come with --wanted"),
    (["explain", "{d}/rent.tsl", "{d}/unseen.csv", "--only", "area=up"], "come with --wanted"),
    (
        ["explain", "{d}/rent.tsl", "{d}/unseen.csv", "--wanted", "1", "--only", "area"],
        "--only must be COLUMN=up or COLUMN=down, got 'area'",
    ),
    (
        ["explain", "{d}/rent.tsl", "{d}/unseen.csv", "--wanted", "1", "--only", "aera=up"],
        "did you mean 'area'",
    ),
    (
        ["explain", "{d}/rent.tsl", "{d}/unseen.csv", "--wanted", "much"],
        "--wanted must be a number, got 'much'",
    ),
    (
        ["explain", "{d}/rent.tsl", "{d}/unseen.csv", "--wanted", "1", "--fixed", "aera"],
        "did you mean 'area'",
    ),
    (["report", "{d}/rent.tsl", "-"], "standard input is empty"),
    (["report", "{d}/rent.tsl", "{d}/unseen.csv", "--target", "x"], "must have the columns ['x']"),
    (["report", "{d}/rent.tsl", "-o", "{d}/no/page.html"], "folder that exists"),
    (["guess"], "No such command"),
]


@pytest.mark.parametrize(("arguments", "message"), BAD)
def test_errors_are_one_line_with_code_2(files, arguments, message):
    head = "area,rooms,floor,lift,district,distance,year"
    (files / "empty.csv").write_text("")
    (files / "twice.csv").write_text("a,a,b\n1,2,3\n")
    (files / "alone.csv").write_text("rent\n1\n2\n")
    (files / "hollow.csv").write_text("a,b\n1,\n2,\n")
    (files / "words.csv").write_text(f"{head}\nlarge,1,1,1,hill,2,1990\n")
    (files / "norows.csv").write_text(f"{head}\n")
    before = sorted(files.iterdir())
    done = run(*(a.format(d=files) for a in arguments))
    assert done.exit_code == 2
    assert message in " ".join(done.stderr.split())
    assert "Traceback" not in done.stderr
    error = [line for line in done.stderr.splitlines() if line.startswith("Error: ")]
    assert len(error) == 1
    assert done.stdout == ""
    assert sorted(files.iterdir()) == before


def test_rows_without_a_target_are_left_out(files, tmp_path):
    frame = pd.read_csv(files / "flats.csv")
    frame.loc[::10, "rent"] = np.nan
    frame.to_csv(tmp_path / "holes.csv", index=False)
    done = run("fit", tmp_path / "holes.csv", "--target", "rent", "--exclude", "id", *QUICK)
    assert "Note: 50 rows without 'rent' left out" in done.stderr
    assert "450 rows" in done.stdout


def test_a_constant_and_a_model_without_rows_are_told(tmp_path):
    (tmp_path / "t.csv").write_text("a,y\n" + "\n".join(f"{k % 7},3" for k in range(60)))
    done = run("fit", tmp_path / "t.csv", "--target", "y", *QUICK, "-o", tmp_path / "m.tsl")
    assert "The model is a constant: 3" in done.stdout
    assert "has no curves" in run("curves", tmp_path / "m.tsl").stderr
    assert run("explain", tmp_path / "m.tsl", tmp_path / "t.csv").exit_code == 0
    (tmp_path / "u.csv").write_text("a,y\n" + "\n".join(f"{k % 7},{k % 7}" for k in range(60)))
    done = run("fit", tmp_path / "u.csv", "--target", "y", *QUICK, "--background-size", "0")
    assert "keeps none" in done.stdout


def test_a_model_without_names_takes_columns_as_they_stand(tmp_path):
    X = np.random.default_rng(0).normal(size=(200, 2))
    TSLRegressor(1, early_stopping=False, random_state=0).fit(X, X[:, 0]).save(tmp_path / "m.tsl")
    (tmp_path / "two.csv").write_text("first,second\n1,2\n")
    (tmp_path / "three.csv").write_text("a,b,c\n1,2,3\n")
    assert len(rows(run("predict", tmp_path / "m.tsl", tmp_path / "two.csv").stdout)) == 1
    assert (
        "must have 2 columns" in run("predict", tmp_path / "m.tsl", tmp_path / "three.csv").stderr
    )


def test_nothing_is_written_over_an_input_or_a_device(files, tmp_path):
    table, model = tmp_path / "t.csv", files / "rent.tsl"
    table.write_bytes((files / "unseen.csv").read_bytes())
    before = table.read_bytes()
    for arguments in (
        ["predict", model, table, "-o", table],
        ["report", model, table, "-o", table],
        ["fit", table, "--target", "rent", *QUICK, "-o", table],
        ["report", model, "-o", model],
    ):
        done = run(*arguments)
        assert done.exit_code == 2
        assert "output must not be the input" in done.stderr
    assert table.read_bytes() == before
    assert "got the device" in run("report", model, "-o", "/dev/null").stderr
    assert "got the folder" in run("fit", table, "--target", "rent", "-o", tmp_path).stderr
    (tmp_path / "link.csv").symlink_to(tmp_path / "real.csv")
    assert run("predict", model, table, "-o", tmp_path / "link.csv").exit_code == 0
    assert (tmp_path / "link.csv").is_symlink()
    assert len(rows((tmp_path / "real.csv").read_text())) == 200


def test_decimal_commas_are_numbers(files, tmp_path):
    path = tmp_path / "euro.csv"
    unseen(files).to_csv(path, sep=";", decimal=",", index=False)
    found = [float(r["prediction"]) for r in rows(run("predict", files / "rent.tsl", path).stdout)]
    np.testing.assert_array_equal(found, predicted(files))
    done = run("fit", path, "--target", "rent", "--exclude", "id", *QUICK, "-o", tmp_path / "m.tsl")
    assert done.exit_code == 0, done.output
    assert not hasattr(load_model(tmp_path / "m.tsl").model_.bins.axes[0], "levels")


@pytest.mark.parametrize(
    ("text", "names"),
    [
        (b"a,b\r1,2\r3,4\r", ["a", "b"]),
        (b'"first\nline","b, c"\r\n1,2\r\n', ["first\nline", "b, c"]),
        (b'"age, in years, full";x\n1;2\n3;4\n', ["age, in years, full", "x"]),
        (b"\xef\xbb\xbfa,b\r\n1,2\r\n", ["a", "b"]),
        (b"only\n1\n2\n", ["only"]),
    ],
)
def test_headers_of_any_make_are_read(tmp_path, text, names):
    path = tmp_path / "t.csv"
    path.write_bytes(text)
    assert column_names(str(path)) == names
    X = pd.DataFrame({name: np.arange(60.0) for name in names})
    y = X[names[0]].rename("y")
    TSLRegressor(1, early_stopping=False, random_state=0).fit(X, y).save(tmp_path / "m.tsl")
    assert run("predict", tmp_path / "m.tsl", path).exit_code == 0


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"PK\x03\x04rest", "spreadsheet"),
        (b"\x1f\x8brest", "compressed"),
        ("a,y\n1,2\n".encode("utf-16"), "UTF-16"),
        (b"\x00\x01\x02", "not text"),
        (b'{"a": 1, "y": 2}', "JSON"),
        (b'[{"a": 1, "y": 2}]', "JSON"),
        ("a,y\ncaf\xe9,2\nbar,3\n".encode("latin-1"), "is not UTF-8 text"),
        (b"a,y\n1,2\n3\n", "row 1 has 1 cells, but the header has 2"),
        (b"start,end,y\n2020-01-01,2021-01-01,3\n2020-01-02,2021-01-01,4\n",
         "--exclude start --exclude end"),
        (b"a,y\n1,inf\n2,3\n", "column 'y' must hold finite numbers, got inf in row 0"),
    ],
)  # fmt: skip
def test_what_is_no_table_is_named(tmp_path, data, message):
    path = tmp_path / "t.csv"
    path.write_bytes(data)
    done = run("fit", path, "--target", "y", *QUICK)
    assert done.exit_code == 2
    assert message in done.stderr
    assert str(path) in done.stderr or "column" in done.stderr


def test_kept_columns_are_kept_once_and_under_their_own_name(files):
    done = run("predict", files / "rent.tsl", files / "unseen.csv", "--keep", "id", "--keep", "id")
    assert list(rows(done.stdout)[0]) == ["id", "prediction"]
    done = run("predict", files / "rent.tsl", files / "unseen.csv", "--keep", "prediction")
    assert "--keep must not be a name that predictions have" in done.stderr


def test_rows_without_an_outcome_keep_their_number_in_the_report(files, tmp_path):
    frame = unseen(files)
    frame.loc[:99, "rent"] = np.nan
    frame.to_csv(tmp_path / "half.csv", index=False)
    done = run("report", files / "rent.tsl", tmp_path / "half.csv", "-o", tmp_path / "r.html")
    assert "Note: 100 rows without 'rent'" in done.stderr
    text = (tmp_path / "r.html").read_text(encoding="utf-8")
    content = json.loads(text.split('id="content">')[1].split("</script>")[0])
    assert [row["number"] for row in content["rows"]] == list(range(200))
    assert content["rows"][5]["actual"] is None
    assert content["rows"][150]["actual"] == frame["rent"][150]
    assert content["rows"][150]["values"][0] == frame["area"][150]
    assert content["quality"][0]["n_rows"] == 100


def test_a_huge_target_is_saved_and_read(tmp_path):
    (tmp_path / "t.csv").write_text("a,y\n" + "\n".join(f"{k},{k}e160" for k in range(120)))
    model = tmp_path / "m.tsl"
    assert (
        run("fit", tmp_path / "t.csv", "--target", "y", "--stages", "1", "-o", model).exit_code == 0
    )
    assert run("info", model).exit_code == 0


def test_compile_fills_the_cache_for_few_and_for_many_bins():
    """In this process the kernels of several blocks are there, for codes of one byte and of two."""
    told = run("compile")
    assert told.exit_code == 0
    assert "kernels are compiled" in told.stderr
    compiled = getattr(advance, "signatures", None)
    if compiled is not None:  # None where compilation is switched off
        assert {"uint8", "uint16"} <= {str(signature[0].dtype) for signature in compiled}


def test_what_is_missing_for_one_model_is_missing_for_both(tmp_path):
    rng = np.random.default_rng(0)
    x = rng.normal(size=200)
    table = pd.DataFrame({"x": x, "y": x + rng.normal(0.0, 0.1, 200)})
    coded = table.assign(y=np.where(x > 1.0, -999.0, table["y"]))
    for name, own in (("plain", table), ("coded", coded)):
        own.to_csv(tmp_path / f"{name}.csv", index=False)
        more = ["--missing", "-999"] * (name == "coded")
        done = run("fit", tmp_path / f"{name}.csv", "--target", "y", *QUICK, *more,
                   "-o", tmp_path / f"{name}.tsl")  # fmt: skip
        assert done.exit_code == 0, done.output
    pair = [tmp_path / "plain.tsl", tmp_path / "coded.tsl"]
    n_rows = int((x <= 1.0).sum())
    for models in (pair, pair[::-1]):
        told = run("compare", *models, tmp_path / "coded.csv").stdout
        assert f"{n_rows} rows" in told


def test_two_models_are_compared(files, additive, tmp_path):
    page = tmp_path / "diff.html"
    done = run("compare", files / "rent.tsl", additive, files / "unseen.csv", "-o", page)
    assert done.exit_code == 0, done.output
    X = unseen(files)
    first, second = load_model(files / "rent.tsl"), load_model(additive)
    expected = explain.compare(first, second, X, X["rent"], models=("rent", "m"))
    told = " ".join(done.stdout.split())
    assert all(sentence in told for sentence in expected.sentences)
    assert "RMSE" in told
    assert f"\n{expected.worst[0]:>3}  " in done.stdout
    assert "</html>" in page.read_text(encoding="utf-8")
    plain = run("compare", files / "rent.tsl", files / "rent.tsl", files / "unseen.csv")
    assert plain.exit_code == 0, plain.output
    assert "(first)" in plain.stdout


def test_a_comparison_overwrites_no_model(files, additive):
    done = run("compare", files / "rent.tsl", additive, files / "unseen.csv", "-o", additive)
    assert done.exit_code == 2


def test_no_table_of_several_is_overwritten(files, tmp_path):
    flats = (files / "flats.csv").read_bytes()
    for name in ("p1.csv", "p2.csv"):
        (tmp_path / name).write_bytes(flats)
    for tables in (tmp_path / "p*.csv", tmp_path):
        done = run("fit", tables, "--target", "rent", *QUICK, "-o", tmp_path / "p1.csv")
        assert done.exit_code == 2
        assert "output must not be" in done.stderr
    assert (tmp_path / "p1.csv").read_bytes() == flats
    done = run("fit", tmp_path, "--target", "rent", *QUICK, "-o", tmp_path / "m.tsl")
    assert "output must not be in the folder that tables are read from" in done.stderr
    assert not (tmp_path / "m.tsl").exists()


def test_only_tables_and_programs_go_to_a_pipe(files, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    model, flats = files / "rent.tsl", files / "flats.csv"
    for command in (
        ("fit", flats, "--target", "rent", *QUICK),
        ("report", model),
        ("compare", model, model, flats),
        ("merge", model, model),
        ("edit", model, "--flatten", "area", "--reason", "r"),
    ):
        done = run(*command, "-o", "-")
        assert done.exit_code == 2, command
        assert "output must be a file, got '-'" in done.stderr
    assert not list(tmp_path.iterdir())
    assert run("curves", model, "-o", "-").stdout.startswith('"stage"')
    assert "model must be a file, got '-'" in run("summary", "-").stderr
    assert "it is read twice" in run("compare", model, model, "-").stderr


@pytest.mark.parametrize("values", [(0.5, 1.5), (0.0, 1.0)])
def test_numbers_with_decimals_are_classes_where_that_is_asked(tmp_path, values):
    a = np.random.default_rng(0).normal(size=300)
    labels = np.where(a > 0, values[1], values[0])
    labels[::50] = np.nan
    table = pa.table({"a": a, "k": pa.array(labels, from_pandas=False)})
    parquet.write_table(table, tmp_path / "t.parquet")
    model = tmp_path / "m.tsl"
    done = run("fit", tmp_path / "t.parquet", "--target", "k", "--task", "classification",
               *QUICK, "-o", model)  # fmt: skip
    assert done.exit_code == 0, done.output
    expected = ["0.5", "1.5"] if values == (0.5, 1.5) else [0, 1]
    assert load_model(model).classes_.tolist() == expected
    told = json.loads(run("evaluate", model, tmp_path / "t.parquet", "--json").stdout)
    assert told["n_rows"] == 294


def test_rows_without_an_outcome_are_counted_however_they_are_spelled(files, tmp_path):
    frame = unseen(files)
    texts = frame["rent"].astype(object)
    texts[:3], texts[3] = "NaN", ""
    frame.assign(rent=texts).to_csv(tmp_path / "t.csv", index=False)
    done = run("evaluate", files / "rent.tsl", tmp_path / "t.csv")
    assert "4 rows without 'rent' not used" in done.stderr
    assert f"on {len(frame) - 4} rows" in done.stdout


def test_explanations_without_an_offset_say_so(files, tmp_path):
    frame = pd.read_csv(files / "flats.csv")
    frame.assign(base=frame["rent"] * 0.5).to_csv(tmp_path / "t.csv", index=False)
    model, table = tmp_path / "m.tsl", tmp_path / "t.csv"
    done = run("fit", table, "--target", "rent", "--offset", "base", "--exclude", "id", *QUICK,
               "-o", model)  # fmt: skip
    assert done.exit_code == 0, done.output
    told = run("explain", model, table, "--row", "3", "--wanted", "10").stdout
    assert told.count("ithout what 'base' adds") == 2
    assert json.loads(run("explain", model, table, "--json").stdout)["without_offset"] == "base"
    other = tmp_path / "other.csv"
    pd.read_csv(table).rename(columns={"base": "start"}).to_csv(other, index=False)
    edit = ["edit", model, other, "--flatten", "area", "--reason", "r", "-o", tmp_path / "e.tsl"]
    assert "--offset names another column" in run(*edit).stderr
    assert run(*edit, "--offset", "start").exit_code == 0
    done = run("predict", files / "rent.tsl", table, "--offset", "base")
    assert "knows of no offset; column 'base' is added to the prediction as it is" in done.stderr


def test_contradicting_directions_are_refused(files, tmp_path):
    done = run("fit", files / "flats.csv", "--target", "rent", "--monotone", "area=up",
               "--monotone", "area=down", *QUICK, "-o", tmp_path / "m.tsl")  # fmt: skip
    assert "--monotone must name one direction for 'area', got up and down" in done.stderr


def test_options_of_intervals_need_one(files):
    model, table = files / "rent.tsl", files / "unseen.csv"
    for option in (("--level", "0.5"), ("--kind", "mean")):
        done = run("predict", model, table, *option)
        assert done.exit_code == 2
        assert f"{option[0]} needs --interval" in done.stderr
    wide, narrow = (
        rows(run("predict", model, table, "--interval", "--kind", "mean", *level).stdout)[0]
        for level in ((), ("--level", "0.5"))
    )
    assert float(wide["upper"]) > float(narrow["upper"]) > float(narrow["lower"])


def test_each_model_reads_the_columns_as_it_was_fitted(tmp_path):
    random = np.random.default_rng(0)
    codes = random.integers(1, 6, 300)
    table = pd.DataFrame({"code": [f"0{c}" for c in codes], "x": random.normal(size=300)})
    path, numbers, levels = (tmp_path / name for name in ("codes.csv", "n.tsl", "l.tsl"))
    table.assign(y=codes + table["x"]).to_csv(path, index=False)
    for name, more in ((numbers, []), (levels, ["--categorical", "code"])):
        done = run("fit", path, "--target", "y", *QUICK, "--validation", "0", "-o", name, *more)
        assert done.exit_code == 0, done.output
    alone = [json.loads(run("evaluate", one, path, "--json").stdout) for one in (numbers, levels)]
    for pair in ((numbers, levels), (levels, numbers)):
        done = run("compare", *pair, path)
        assert done.exit_code == 0, done.output
        assert "-0.5" not in done.stdout
    line = next(line for line in done.stdout.splitlines() if line.startswith("RMSE"))
    told = [float(number) for number in line.split()[1:]]
    assert told == pytest.approx([one["rmse"] for one in alone][::-1], rel=1e-3)


def test_models_made_here_answer_in_the_data_frames_of_python(files, tmp_path):
    assert isinstance(explain.importance(load_model(files / "rent.tsl")).frame(), pd.DataFrame)
    done = run("edit", files / "rent.tsl", "--drop-feature", "floor", "--reason", "r",
               "-o", tmp_path / "e.tsl")  # fmt: skip
    assert done.exit_code == 0, done.output
    assert load_model(tmp_path / "e.tsl")._schema.library is None
    of_arrow = TSLRegressor(1, early_stopping=False).fit(
        pa.table({"x": [1.0, 2.0] * 50}), [1.0, 2.0] * 50
    )
    of_arrow.save(tmp_path / "a.tsl")
    done = run("edit", tmp_path / "a.tsl", "--clip", "x", "1", "2", "--reason", "r",
               "-o", tmp_path / "b.tsl")  # fmt: skip
    assert done.exit_code == 0, done.output
    assert load_model(tmp_path / "b.tsl")._schema.library == "pyarrow"


def test_a_column_without_its_option_is_no_table(files):
    done = run("fit", files / "flats.csv", "--target", "rent", "--exclude", "id", "floor")
    assert done.exit_code == 2
    assert "there is no table 'floor'; an option for several columns is given once" in done.output
