"""More than two classes on the command line: every command that knows one sum knows several."""

import json
import re
import sqlite3
from typing import Any

import numpy as np
import pandas as pd
import pytest

from seplearn import TSLClassifier, explain, load_model
from seplearn.cli.text import classes_text
from seplearn.model.evaluation import ClassEvaluation
from tests.cli.conftest import QUICK, rows, run

N = 400
FEATURES = ["a", "b", "place"]
LABELS = ["dry", "hail", "mist", "wet"]


@pytest.fixture(scope="module")
def weather(tmp_path_factory):
    """A table of four classes, one of which has a single row, and a model of it."""
    folder = tmp_path_factory.mktemp("several")
    random = np.random.default_rng(0)
    a, b = random.uniform(-1.0, 1.0, (2, N))
    place = random.choice(["hill", "mill"], N)
    scores = np.column_stack([np.zeros(N), 3.0 * a, 3.0 * a * b + (place == "hill")])
    shares = np.exp(scores) / np.exp(scores).sum(axis=1, keepdims=True)
    drawn = (shares.cumsum(axis=1) < random.random(N)[:, None]).sum(axis=1)
    table = pd.DataFrame({"a": a, "b": b, "place": place})
    table["sky"] = np.array(["dry", "mist", "wet"], dtype=object)[drawn]
    table.loc[7, "sky"] = "hail"
    table["number"] = drawn + 3
    table.to_csv(folder / "sky.csv", index=False)
    done = run("fit", folder / "sky.csv", "--target", "sky", "--exclude", "number", *QUICK,
               "--n-bootstrap", "3", "--main-effects", "yes", "-o", folder / "sky.tsl")  # fmt: skip
    assert done.exit_code == 0, done.output
    assert "the model is a classifier, with a score for each of the 4, as with" in done.stderr
    assert re.search(r"\nmist +\S+ +\d+ +\d+ +a \(", done.stdout)
    assert re.search(r"error \(rows held out\): log-loss 0\.\d+, accuracy 0\.\d+, ", done.stdout)
    return folder


@pytest.fixture(scope="module")
def model(weather):
    return load_model(weather / "sky.tsl")


@pytest.fixture(scope="module")
def table(weather):
    return pd.read_csv(weather / "sky.csv")


def test_an_average_says_how_many_stages_it_has(weather, model, tmp_path):
    done = run("merge", weather / "sky.tsl", weather / "sky.tsl", "-o", tmp_path / "both.tsl")
    assert done.exit_code == 0, done.output
    n_stages = sum(len(own) for own in load_model(tmp_path / "both.tsl").stages_)
    assert f"4 classes, {n_stages} stages in all, 3 features" in done.stderr


def test_the_fit_is_that_of_the_classifier(model, table):
    assert isinstance(model, TSLClassifier)
    assert model.classes_.tolist() == LABELS
    again = TSLClassifier(**model.get_params()).fit(table[FEATURES], table["sky"])
    found, expected = (m.predict_proba(table[FEATURES]) for m in (model, again))
    np.testing.assert_allclose(found, expected, atol=0.02)  # rows in another order
    assert model.evaluation_.log_loss < 1.0


def test_the_only_row_of_a_class_is_fitted_to(weather):
    """Held out, it would be of a class that the model does not know."""
    done = run("fit", weather / "sky.csv", "--target", "sky", "--exclude", "number", *QUICK,
               "--stages", "1", "--validation", "0.95")  # fmt: skip
    assert done.exit_code == 0, done.output
    done = run("fit", weather / "sky.csv", "--target", "sky", *QUICK, "--validation", "0.995")
    assert "--validation leaves 2 rows to fit to, fewer than the 4 classes" in done.stderr


def test_numbers_are_classes_where_it_is_asked_for(weather, tmp_path):
    path = tmp_path / "m.tsl"
    done = run("fit", weather / "sky.csv", "--target", "number", "--exclude", "sky", *QUICK,
               "--stages", "1", "--task", "classification", "-o", path)  # fmt: skip
    assert "a classifier, with a score for each of the 3\n" in done.stderr
    assert load_model(path).classes_.tolist() == [3, 4, 5]
    assert run("evaluate", path, weather / "sky.csv", "--class", "4").exit_code == 0


def test_predict_writes_the_class_and_every_probability(weather, model, table):
    done = run("predict", weather / "sky.tsl", weather / "sky.csv", "--stages", "--interval",
               "--keep", "sky")  # fmt: skip
    found, X = pd.DataFrame(rows(done.stdout)), table[FEATURES]
    assert found["prediction"].tolist() == model.predict(X).tolist()
    ends, scores = model.predict_interval(X), model.decision_function(X)
    shares = model.predict_proba(X)
    for k, label in enumerate(LABELS):
        own = found[[f"{name} of {label}" for name in ("probability", "lower", "upper", "sum")]]
        expected = np.column_stack([shares[:, k], ends[:, k], scores[:, k]])
        np.testing.assert_allclose(own.astype(float), expected, rtol=1e-9)
        added = f"intercept of {label}$|stage . of {label}$|main effect of .* for {label}$"
        parts = found.filter(regex=added).astype(float).sum(axis=1)
        np.testing.assert_allclose(parts, scores[:, k], atol=1e-9)
    clash = run("predict", weather / "sky.tsl", weather / "sky.csv", "--keep", "sum of dry")
    assert "--keep must not be a name that predictions have" in clash.stderr


def test_evaluate_tells_of_every_class_and_of_mistakes(weather, model, table):
    expected = model.evaluate(table[FEATURES], table["sky"])
    done = run("evaluate", weather / "sky.tsl", weather / "sky.csv", "--class", "wet")
    assert f"log-loss {expected.log_loss:.4f}".rstrip("0") in done.stdout
    assert "by their probability of wet" in done.stdout
    counts = " +".join(f"{size:g}" for size in expected.confusion[2])
    assert re.search(rf"\nmist +{counts}\n", done.stdout)
    told = json.loads(run("evaluate", weather / "sky.tsl", weather / "sky.csv", "--json").stdout)
    assert told["log_loss"] == pytest.approx(expected.log_loss)
    assert told["confusion"] == [list(row) for row in expected.confusion]
    wrong = run("evaluate", weather / "sky.tsl", weather / "sky.csv", "--class", "wett")
    assert "--class must be one of the classes" in wrong.stderr
    assert "did you mean 'wet'?" in wrong.stderr


def test_of_many_classes_the_most_frequent_mistakes_are_listed():
    called = np.eye(9)[[0, 1, 1, 1, *range(1, 9)]]
    actual = np.array([0, 2, 2, 3, *range(1, 9)], dtype=float)
    labels = [f"c{k}" for k in range(9)]
    told = classes_text(ClassEvaluation.of(actual, called), labels)
    assert re.search(r"actual +called +rows\nc2 +c1 +2\nc3 +c1 +1$", told)
    right = ClassEvaluation.of(np.arange(9.0), np.eye(9))
    assert classes_text(right, labels).endswith("No row was called wrongly.")


def test_explain_is_of_the_likeliest_class_or_of_the_one_named(weather, model, table):
    X = table[FEATURES]
    label = model.predict(X[3:4])[0]
    done = run("explain", weather / "sky.tsl", weather / "sky.csv", "--row", 3)
    assert done.stdout.startswith(f"row 3, sky: {label} is most likely\n")
    assert f"\nscore of {label} " in done.stdout
    shares = model.predict_proba(X[3:4])[0]
    for own, share in zip(LABELS, shares, strict=True):
        assert re.search(rf"\n{own} +{float(f'{share:.4g}'):g}", done.stdout)
    done = run("explain", weather / "sky.tsl", weather / "sky.csv", "--row", 3, "--class", "wet",
               "--against", "dry", "--json")  # fmt: skip
    told = json.loads(done.stdout)
    assert told["quantity"] == "log-odds of wet against dry"
    assert told["prediction"] == pytest.approx(np.log(shares[3] / shares[0]))
    assert told["probabilities"]["mist"] == pytest.approx(shares[2])
    text = run("explain", weather / "sky.tsl", weather / "sky.csv", "--class", "wet", "--against",
               "dry").stdout  # fmt: skip
    assert "probability of wet against dry alone" in text


def test_shapley_values_and_changes_are_of_the_class_named(weather, model, table):
    X = table[FEATURES]
    row = int(np.argmin(np.abs(model.predict_proba(X)[:, 3] - 0.4)))
    call = ["explain", weather / "sky.tsl", weather / "sky.csv", "--row", row, "--class", "wet"]
    told = json.loads(run(*call, "--wanted", "0.45", "--fixed", "a", "--json").stdout)
    values = explain.shapley(model.for_class("wet"), X[row : row + 1]).values[0]
    assert list(told["shapley"]["values"].values()) == pytest.approx(values.tolist(), abs=1e-12)
    of_wet = explain.counterfactual(model, X, row, target=0.45, label="wet", fixed="a")
    assert told["changes"]["wanted"] == "probability of wet of at least 0.45" == of_wet.wanted
    sizes = [change["size"] for change in told["changes"]["changes"]]
    assert sizes == pytest.approx([change.size for change in of_wet.changes])
    assert sizes
    told = json.loads(run(*call, "--against", "dry", "--wanted", "0.05", "--json").stdout)
    assert told["changes"]["wanted"] == "probability of wet against dry alone of at most 0.05"
    text = run(*call, "--against", "dry", "--wanted", "mist").stdout
    assert "What every feature does to the log-odds of wet against dry" in text
    assert "class mist" in text


def test_models_are_compared_by_the_odds_between_two_classes(weather, model, table, tmp_path):
    other = TSLClassifier(1, early_stopping=False, random_state=0)
    other.fit(table[["a", "b"]], table["sky"]).save(tmp_path / "other.tsl")
    call = ["compare", weather / "sky.tsl", tmp_path / "other.tsl", weather / "sky.csv"]
    pair = ["--class", "wet", "--against", "dry"]
    done = run(*call, *pair, "-o", tmp_path / "diff.html")
    assert done.exit_code == 0, done.output
    views = [one.for_class("wet", against="dry") for one in (model, other)]
    expected = explain.compare(*views, table, models=("sky", "other"))
    assert expected.sentences[0] in " ".join(done.stdout.split())
    assert (tmp_path / "diff.html").exists()
    for options in ([], ["--class", "wet"]):
        refused = " ".join(run(*call, *options).stderr.split())
        assert "--class and --against must name two of the classes dry, hail, mist, wet" in refused


def test_a_number_that_is_wanted_needs_a_class(weather):
    done = run("explain", weather / "sky.tsl", weather / "sky.csv", "--wanted", "0.5")
    assert done.exit_code != 0
    assert (
        "--wanted must be with --class a probability or one of the classes dry, hail"
        in " ".join(done.stderr.split())
    )


def test_summary_and_curves_are_of_all_classes_or_of_one(weather, model):
    told = run("summary", weather / "sky.tsl").stdout
    assert "With --class LABEL it tells more of one class" in " ".join(told.split())
    assert re.findall(r"(?m)^== (.*) ==$", told) == LABELS
    one = run("summary", weather / "sky.tsl", "--class", "wet").stdout
    assert "==" not in one
    assert "The score of wet has mean" in one
    found = pd.DataFrame(rows(run("curves", weather / "sky.tsl").stdout))
    assert set(found["class"]) == {
        label for label in LABELS if not model.for_class(label).model_.is_constant
    }
    wet = pd.DataFrame(rows(run("curves", weather / "sky.tsl", "--class", "wet").stdout))
    assert (wet["class"] == "wet").all()
    effects = explain.main_effects(model.for_class("wet")).frame()
    own = wet[wet["effect"] != ""]
    np.testing.assert_allclose(own["effect"].astype(float), effects["effect"], rtol=1e-9)


def test_info_tells_of_every_class(weather, model):
    told = run("info", weather / "sky.tsl").stdout
    n_stages = sum(len(own) for own in model.stages_)
    assert f"TSLClassifier for sky: 4 classes, {n_stages} stage" in told
    assert "of a class add up to its score" in told
    assert "classes: dry, hail, mist, wet" in told
    assert "error when it was fitted: log-loss" in told


def test_a_model_without_curves_or_rows_is_told_of_too(weather, table, tmp_path):
    X, y = table[FEATURES], table["sky"]
    quick: dict[str, Any] = {"n_stages": 1, "early_stopping": False, "random_state": 0}
    bare = TSLClassifier(**quick, background_size=0).fit(X, y)
    bare.save(tmp_path / "bare.tsl")
    assert "the model keeps no rows to tell" in run("info", tmp_path / "bare.tsl").stdout
    with pytest.warns(UserWarning, match="no stage improves on a constant"):
        flat = TSLClassifier(**quick).fit(np.zeros((N, 1)), y)
    flat.save(tmp_path / "flat.tsl")
    told = run("info", tmp_path / "flat.tsl").stdout
    assert "The model has the same probabilities for all rows: dry 0." in told
    assert "is a constant: it has no curves" in run("curves", tmp_path / "flat.tsl").stderr


def test_classes_are_for_models_that_have_them(files, weather):
    done = run("summary", files / "rent.tsl", "--class", "wet")
    assert "--class and --against are for models of more than two classes" in done.stderr
    done = run("summary", weather / "sky.tsl", "--against", "wet")
    assert "--against needs --class" in done.stderr
    done = run("summary", weather / "sky.tsl", "--class", "wet", "--against", "snow")
    assert "--against must be one of the classes" in done.stderr


def test_report_writes_a_page(weather, tmp_path):
    page = tmp_path / "sky.html"
    done = run("report", weather / "sky.tsl", weather / "sky.csv", "-o", page)
    assert done.exit_code == 0, done.output
    assert "score of mist" in page.read_text(encoding="utf-8")


def test_export_writes_every_probability(weather, model, table):
    done = run("export", weather / "sky.tsl", "--sql", "sqlite", "--table", "sky", "--explain")
    assert done.exit_code == 0, done.output
    database = sqlite3.connect(":memory:")
    table.to_sql("sky", database, index=False)
    found = pd.read_sql(done.stdout, database)
    shares = model.predict_proba(table[FEATURES])
    names = [f"probability of {label}" for label in LABELS]
    np.testing.assert_allclose(found[names], shares, rtol=1e-9)
    assert found["prediction"].tolist() == model.predict(table[FEATURES]).tolist()
    for language in ("python", "c", "javascript"):
        assert run("export", weather / "sky.tsl", "--source", language).exit_code == 0
    refused = run("export", weather / "sky.tsl", "--scorecard")
    assert "this model has 4 classes" in refused.stderr


def test_the_class_that_is_edited_is_named(weather, model, tmp_path):
    given = ["edit", weather / "sky.tsl", "--reason", "r", "-o", tmp_path / "new.tsl"]
    done = run(*given, "--class", "mist", "--drop-stage", "0", "--flatten", "a@main")
    assert done.exit_code == 0, done.output
    new = load_model(tmp_path / "new.tsl")
    lost = [len(before) - len(after) for before, after in
            zip(model.stages_, new.stages_, strict=True)]  # fmt: skip
    assert lost == [int(label == "mist") for label in LABELS]
    without = run(*given, "--drop-stage", "0")
    assert "--class must be given for what belongs to one class" in without.stderr
    assert "--monotone is not for models of more" in run(
        *given, "--class", "mist", "--monotone", "a=up").stderr  # fmt: skip
    assert "--drop-feature changes all classes" in run(
        *given, "--class", "mist", "--drop-feature", "a").stderr  # fmt: skip
    table = run(*given[:2], weather / "sky.csv", *given[2:], "--recalibrate", "--class", "mist")
    assert table.exit_code == 0, table.output
