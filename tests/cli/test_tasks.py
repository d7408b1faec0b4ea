"""Classes, counts and offsets on the command line."""

import io
import json
import re
from typing import Any

import numpy as np
import pandas as pd
import pytest

from seplearn import TSLClassifier, TSLRegressor, explain, load_model
from tests.cli.conftest import QUICK, rows, run

N = 400


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("tasks")
    random = np.random.default_rng(0)
    a, b = random.uniform(-1.0, 1.0, (2, N))
    yes = random.random(N) < 1.0 / (1.0 + np.exp(1.0 - 4.0 * a * b - a))
    years = random.uniform(0.2, 3.0, N)
    table = pd.DataFrame({"a": a, "b": b})
    table["bought"] = np.where(yes, "yes", "no")
    table["flag"] = yes
    table["zero_one"] = yes.astype(int)
    table["three"] = random.choice(["x", "y", "z"], N)
    table["years"] = years
    table["log_years"] = np.log(years)
    table["claims"] = random.poisson(years * 0.5 * np.exp(a))
    table.to_csv(folder / "all.csv", index=False)
    table.to_parquet(folder / "all.parquet")
    table[["a", "b"]].to_csv(folder / "features.csv", index=False)
    return folder


OTHERS = ("bought", "flag", "zero_one", "three", "years", "log_years", "claims")


def fit(folder, target, *options, name="all.csv", used=()):
    left_out = [part for other in OTHERS if other not in (target, *used)
                for part in ("--exclude", other)]  # fmt: skip
    return run("fit", folder / name, "--target", target, *left_out, *QUICK, *options)


def frame(folder):
    return pd.read_csv(folder / "all.csv")


@pytest.fixture(scope="module")
def classifier(folder):
    path = folder / "bought.tsl"
    done = fit(folder, "bought", "--n-bootstrap", "3", "-o", path)
    assert done.exit_code == 0, done.output
    assert "'bought' holds the classes 'no', 'yes': the model is a classifier" in done.stderr
    text = r"error \(rows held out\): log-loss 0\.\d+, Brier score 0\.\d+, AUC 0\.\d+, accuracy 0\."
    assert re.search(text, done.stdout)
    assert "RMSE" not in done.stdout
    assert "What moves the log-odds of yes" in done.stdout
    return path


@pytest.fixture(scope="module")
def counts(folder):
    path = folder / "claims.tsl"
    done = fit(folder, "claims", "--task", "count", "--exposure", "years", "-o", path,
               "--n-bootstrap", "3", "--main-effects", "yes", used=["years"])  # fmt: skip
    assert done.exit_code == 0, done.output
    assert "Poisson deviance" in done.stdout
    assert "of the Poisson deviance explained" in done.stdout
    assert "log of the prediction" in done.stdout
    return path


def test_the_fit_is_that_of_the_classifier(folder, classifier):
    loaded = load_model(classifier)
    assert isinstance(loaded, TSLClassifier)
    table = frame(folder)
    model = TSLClassifier(**loaded.get_params()).fit(table[["a", "b"]], table["bought"])
    found, expected = (m.predict_proba(table[["a", "b"]]) for m in (loaded, model))
    np.testing.assert_allclose(found, expected, atol=0.02)  # rows in another order
    assert loaded.evaluation_.scores["AUC"] > 0.6


def test_predict_writes_classes_and_probabilities(folder, classifier):
    model, table = load_model(classifier), frame(folder)
    done = run("predict", classifier, folder / "all.csv", "--stages", "--interval")
    found = pd.DataFrame(rows(done.stdout))
    X = table[["a", "b"]]
    assert found["prediction"].tolist() == model.predict(X).tolist()
    probability = found[["probability of no", "probability of yes"]].astype(float)
    np.testing.assert_allclose(probability, model.predict_proba(X), rtol=1e-12)
    parts = found.filter(regex="intercept|stage|main effect").astype(float).sum(axis=1)
    np.testing.assert_allclose(parts, found["sum"].astype(float), atol=1e-9)
    ends = found[["lower", "upper"]].astype(float)
    np.testing.assert_allclose(ends, model.predict_interval(X), rtol=1e-12)
    refused = run("predict", classifier, folder / "all.csv", "--interval", "--kind", "outcome")
    assert "predict_proba says how likely" in refused.stderr
    clash = run("predict", classifier, folder / "all.csv", "--keep", "sum")
    assert "--keep must not be a name that predictions have, got 'sum'" in clash.stderr


def test_evaluate_says_how_good_a_classifier_is(folder, classifier):
    model, table = load_model(classifier), frame(folder)
    expected = model.evaluate(table[["a", "b"]], table["bought"])
    told = json.loads(run("evaluate", classifier, folder / "all.csv", "--json").stdout)
    assert told["scores"] == pytest.approx(expected.scores)
    done = run("evaluate", classifier, folder / "all.parquet")
    assert f"AUC {expected.scores['AUC']:.4f}".rstrip("0") in done.stdout
    assert "by their probability of yes" in done.stdout
    assert re.search(rf"yes +{expected.confusion().misses:g} +{expected.confusion().hits:g}\n",
                     done.stdout)  # fmt: skip
    weighted = run("evaluate", classifier, folder / "all.csv", "--weight", "years", "--json")
    assert json.loads(weighted.stdout)["scores"] != told["scores"]


def test_a_model_worse_than_a_constant_is_told_so(folder, classifier, tmp_path):
    table = frame(folder)
    table["bought"] = np.where(table["bought"] == "yes", "no", "yes")
    table.to_csv(tmp_path / "opposite.csv", index=False)
    told = run("evaluate", classifier, tmp_path / "opposite.csv").stdout
    assert "worse than a constant" in told


def test_rows_of_unknown_class_are_left_out_and_strange_classes_refused(
    folder, classifier, tmp_path
):
    table = frame(folder)[["a", "b", "bought"]]
    table.loc[:9, "bought"] = ""
    table.to_csv(tmp_path / "holes.csv", index=False)
    done = run("evaluate", classifier, tmp_path / "holes.csv")
    assert "10 rows without 'bought' not used" in done.stderr
    assert f"on {N - 10} rows" in done.stdout
    table.loc[12, "bought"] = "maybe"
    table.to_csv(tmp_path / "odd.csv", index=False)
    done = run("evaluate", classifier, tmp_path / "odd.csv")
    assert done.exit_code == 2
    assert "must have the classes that the model knows" in done.stderr
    assert "got 'maybe' in row 12" in done.stderr
    fitted = run("fit", tmp_path / "holes.csv", "--target", "bought", *QUICK)
    assert "10 rows without 'bought' left out" in fitted.stderr


@pytest.mark.parametrize("name", ["all.csv", "all.parquet"])
def test_truth_values_are_classes_and_numbers_stay_numbers(folder, tmp_path, name):
    path = tmp_path / "m.tsl"
    done = fit(folder, "flag", "-o", path, name=name)
    assert "holds the classes 'False', 'True': the model is a classifier" in done.stderr
    assert load_model(path).classes_.tolist() == [False, True]
    done = run("evaluate", path, folder / "all.csv")
    assert done.exit_code == 0, done.output
    done = fit(folder, "zero_one", "-o", path, name=name)
    assert "--task classification takes them as classes" in done.stderr
    assert isinstance(load_model(path), TSLRegressor)
    done = fit(folder, "zero_one", "--task", "classification", "-o", path, name=name)
    assert "Note" not in done.stderr
    assert load_model(path).classes_.tolist() == [0, 1]
    for other in ("all.csv", "all.parquet"):
        assert run("evaluate", path, folder / other).exit_code == 0


def test_a_validation_table_has_classes_too(folder):
    done = fit(folder, "bought", "--class-weight", "balanced", "--validation", folder / "all.csv")
    assert done.exit_code == 0, done.output
    assert f"on {N} rows" in done.stdout


def test_counts_take_their_exposure_from_a_column(folder, counts):
    model, table = load_model(counts), frame(folder)
    assert model.loss == "poisson"
    assert list(model.feature_names_in_) == ["a", "b"]
    assert model.offset_column_ == ("years", True)
    X, offset = table[["a", "b"]], np.log(table["years"])
    done = run("predict", counts, folder / "all.csv", "--stages", "--interval", "--kind", "mean")
    found = pd.DataFrame(rows(done.stdout)).astype(float)
    np.testing.assert_allclose(found["prediction"], model.predict(X, offset), rtol=1e-9)
    np.testing.assert_allclose(np.exp(found["sum"]), found["prediction"], rtol=1e-9)
    np.testing.assert_allclose(found["offset"], offset, rtol=1e-9)
    assert (found["lower"] < found["upper"]).all()
    assert (found["upper"] / table["years"]).corr(pd.Series(model.predict(X))) > 0.9
    rates = pd.DataFrame(rows(run("predict", counts, folder / "features.csv",
                                  "--without-offset").stdout)).astype(float)  # fmt: skip
    np.testing.assert_allclose(rates["prediction"], model.predict(X), rtol=1e-9)
    lacks = run("predict", counts, folder / "features.csv")
    assert lacks.exit_code == 2
    assert "must have the column 'years' with the exposure of every row" in lacks.stderr
    assert "by their predicted rate" in run("evaluate", counts, folder / "all.csv").stdout
    told = json.loads(run("evaluate", counts, folder / "all.csv", "--json").stdout)
    expected = model.evaluate(X, table["claims"], offset=offset)
    assert told["scores"] == pytest.approx(expected.scores)


def predicted(done):
    """The predictions that a command wrote."""
    return pd.read_csv(io.StringIO(done.stdout))["prediction"]


@pytest.mark.filterwarnings("default:offset")
def test_an_exposure_is_no_log_and_an_offset_may_be_one_by_mistake(folder, tmp_path):
    table = frame(folder)[["a", "b", "claims"]]
    table = table.assign(part=frame(folder)["years"] / 3.0, days=lambda t: 1.0 + t["part"])
    table.to_parquet(tmp_path / "one.parquet")
    table.to_parquet(tmp_path / "two.parquet")
    both = (tmp_path / "one.parquet", tmp_path / "two.parquet")
    asked = ("--target", "claims", "--loss", "poisson", "--validation", "0", *QUICK)
    for tables in (both[:1], both):
        kept = run("fit", *tables, *asked, "--exposure", "days", "--exclude", "part")
        assert kept.exit_code == 0, kept.output
        assert "np.log" not in kept.stderr  # logs between 0 and 1 look like years
        wrong = run("fit", *tables, *asked, "--offset", "part", "--exclude", "days")
        assert "give its log, offset=np.log(exposure)" in wrong.stderr


def test_another_column_may_have_the_offset(folder, counts, tmp_path):
    table = frame(folder).rename(columns={"years": "time"})
    table.to_csv(tmp_path / "renamed.csv", index=False)
    done = run("predict", counts, tmp_path / "renamed.csv", "--offset", "time")
    plain = run("predict", counts, folder / "all.csv")
    # A number that was read and written may be off in its last digit.
    np.testing.assert_allclose(predicted(done), predicted(plain), rtol=1e-12)
    table.loc[3, "time"] = 0
    table.to_csv(tmp_path / "zero.csv", index=False)
    done = run("predict", counts, tmp_path / "zero.csv", "--offset", "time")
    assert "'time' must hold positive numbers, as an exposure, got 0 in row 3" in done.stderr
    path = tmp_path / "m.tsl"
    done = fit(folder, "claims", "--loss", "poisson", "--offset", "log_years", "-o", path,
               used=["log_years"])  # fmt: skip
    assert done.exit_code == 0, done.output
    X = frame(folder)[["a", "b"]]
    other = load_model(counts).predict(X)
    # A log that was written and read is off in its last digit, and a fit may go another way there.
    assert np.corrcoef(np.log(load_model(path).predict(X)), np.log(other))[0, 1] > 0.98


def test_explain_info_and_summary_say_what_is_summed(folder, classifier, counts):
    local = explain.local(load_model(classifier), frame(folder)[["a", "b"]], 3)
    told = run("explain", classifier, folder / "all.csv", "--row", 3).stdout
    probability = 1.0 / (1.0 + np.exp(-local.prediction))
    assert told.startswith("row 3, bought: log-odds of yes ")
    assert f"probability of yes {probability:.4g}" in told.splitlines()[0]
    assert "\nlog-odds of yes " in told
    likelier = "yes" if local.prediction > 0 else "no"
    other = run("explain", classifier, folder / "all.csv", "--row", 3, "--wanted", "yes").stdout
    assert ("class yes already" in other) == (likelier == "yes")
    unknown = run("explain", classifier, folder / "all.csv", "--wanted", "maybe")
    assert "--wanted must be a number or one of the classes no, yes" in unknown.output
    told = run("explain", counts, folder / "all.csv").stdout
    assert told.startswith("row 0, claims: log of the prediction ")
    assert "without what 'years' adds" in told
    as_json = run("explain", counts, folder / "all.csv", "--json").stdout
    assert json.loads(as_json)["quantity"] == "log of the prediction"
    told = run("info", classifier).stdout
    assert "add up to the log-odds of yes; the probability of yes follows from it" in told
    assert "classes: no, yes" in told
    assert "offset: the log of column 'years'" in run("info", counts).stdout
    assert "The log-odds of yes has mean" in run("summary", classifier).stdout
    table = pd.DataFrame(rows(run("curves", counts).stdout))
    effects = table[table["effect"] != ""].astype({"effect": float, "relativity": float})
    assert len(effects)
    np.testing.assert_allclose(np.exp(effects["effect"]), effects["relativity"], rtol=1e-9)


BAD = [
    ("three", ["--monotone", "a=up"], "--monotone is for two classes, but 'three' has 3"),
    ("bought", ["--task", "regression"], "column 'bought' must hold numbers"),
    ("bought", ["--loss", "huber"], "--loss is for numbers, but 'bought' holds classes"),
    ("three", ["--offset", "years"], "--offset is for two classes, whose log-odds it is added to"),
    ("bought", ["--exposure", "years"], "tweedie), got classes"),
    ("claims", ["--class-weight", "balanced"], "--class-weight is for classes"),
    ("claims", ["--task", "count", "--loss", "gamma"], "--task count has the loss poisson"),
    ("log_years", ["--task", "count"], "'log_years' with --loss poisson: y must be zero or pos"),
    ("claims", ["--loss", "gamma"], "'claims' with --loss gamma: y must be positive"),
    ("claims", ["--exposure", "years"], "--exposure is for counts and amounts, whose prediction"),
    ("claims", ["--exposure", "log_years"], "must hold positive numbers, as an exposure, got -"),
    ("claims", ["--exposure", "years", "--offset", "log_years"], "together with --exposure"),
    ("claims", ["--exposure", "claims"], "--exposure must not name a column that --target names"),
    ("claims", ["--offset", "bought"], "column 'bought' must hold numbers"),
]


@pytest.mark.parametrize(("target", "options", "message"), BAD)
def test_what_does_not_go_together_is_refused(folder, target, options, message):
    used = [option for option in options if option in OTHERS]
    done = fit(folder, target, *options, used=used)
    assert done.exit_code == 2
    assert message in " ".join(done.stderr.split())
    assert "Traceback" not in done.stderr
    assert done.stdout == ""


def test_log_odds_take_their_offset_from_a_column(folder, tmp_path):
    path = tmp_path / "m.tsl"
    done = fit(folder, "bought", "--offset", "log_years", "-o", path, used=["log_years"])
    assert done.exit_code == 0, done.output
    model, table = load_model(path), frame(folder)
    assert model.offset_column_ == ("log_years", False)
    X, offset = table[["a", "b"]], table["log_years"]
    found = pd.DataFrame(rows(run("predict", path, folder / "all.csv", "--stages").stdout))
    expected = model.predict_proba(X, offset)
    np.testing.assert_allclose(found["probability of yes"].astype(float), expected[:, 1], rtol=1e-9)
    assert found["prediction"].tolist() == model.predict(X, offset).tolist()
    parts = found.filter(regex="intercept|offset|stage|main effect").astype(float).sum(axis=1)
    np.testing.assert_allclose(parts, found["sum"].astype(float), atol=1e-9)
    told = json.loads(run("evaluate", path, folder / "all.csv", "--json").stdout)
    expected = model.evaluate(X, table["bought"], offset=offset)
    assert told["scores"] == pytest.approx(expected.scores)
    assert (
        "must have the column 'log_years'" in run("predict", path, folder / "features.csv").stderr
    )
    assert "without what 'log_years' adds" in run("explain", path, folder / "all.csv").stdout
    done = run("report", path, folder / "all.csv", "-o", tmp_path / "page.html")
    assert done.exit_code == 0, done.output


def test_offsets_are_for_models_that_have_them(folder, counts, tmp_path):
    table = frame(folder)
    quick: dict[str, Any] = {"n_stages": 1, "early_stopping": False, "random_state": 0}
    three = TSLClassifier(**quick).fit(table[["a", "b"]], np.digitize(table["a"], [-0.3, 0.3]))
    three.save(tmp_path / "three.tsl")
    done = run("predict", tmp_path / "three.tsl", folder / "all.csv", "--offset", "years")
    assert "counts or two classes, got a TSLClassifier of more" in done.stderr
    done = run("predict", counts, folder / "all.csv", "--offset", "years", "--without-offset")
    assert "--offset must not be given together with --without-offset" in done.stderr


def test_dates_are_no_classes(tmp_path):
    table = tmp_path / "t.csv"
    table.write_text("a,day\n" + "\n".join(f"{k},2024-01-{k + 1:02}" for k in range(20)))
    done = run("fit", table, "--target", "day", *QUICK)
    assert "must hold numbers or classes, got dates or times such as '2024-01-01'" in done.stderr
    typed = pd.DataFrame({"a": range(20), "day": pd.date_range("2026-01-01", periods=20)})
    typed.to_parquet(tmp_path / "t.parquet")
    for task in ("auto", "classification"):
        done = run("fit", tmp_path / "t.parquet", "--target", "day", "--task", task, *QUICK)
        assert "--target must hold numbers or classes, got 'day', with dates" in done.stderr


def test_offsets_whose_column_is_not_known_are_missed(folder, tmp_path):
    X = frame(folder)
    model = TSLRegressor(n_stages=1, loss="poisson", early_stopping=False, random_state=0)
    model.fit(X[["a", "b"]], X["claims"], offset=X["log_years"]).save(tmp_path / "m.tsl")
    note = "fitted with offsets and does not know their column"
    assert note in run("predict", tmp_path / "m.tsl", folder / "all.csv").stderr
    plain = run("predict", tmp_path / "m.tsl", folder / "all.csv", "--without-offset").stderr
    assert note not in plain
    named = run("predict", tmp_path / "m.tsl", folder / "all.csv", "--offset", "log_years").stderr
    assert f"{note}; column 'log_years' is added to the log of the prediction as it is" in " ".join(
        named.split()
    )


def test_cells_of_a_contingency_table_are_the_rows_that_were_seen(tmp_path):
    """None are held out for the error: those of a cell are all of their kind."""
    rows = [
        ("a", "f", "yes", 90),
        ("a", "f", "no", 30),
        ("a", "m", "yes", 25),
        ("a", "m", "no", 80),
        ("b", "f", "yes", 70),
        ("b", "f", "no", 25),
        ("b", "m", "yes", 40),
        ("b", "m", "no", 99),
    ]
    path = tmp_path / "cells.csv"
    pd.DataFrame(rows, columns=["ward", "sex", "well", "n"]).to_csv(path, index=False)
    done = run("fit", path, "--target", "well", "--weight", "n", "-o", tmp_path / "m.tsl")
    assert done.exit_code == 0, done.output
    assert "rows are the cells of a contingency table" in done.stderr
    assert "error (" not in done.stdout
    model = load_model(tmp_path / "m.tsl")
    assert model.provenance_.weight == 459.0
    told = model.predict_proba(pd.DataFrame({"ward": ["a", "a"], "sex": ["f", "m"]}))[:, 1]
    assert told[0] > 0.6
    assert told[1] < 0.45
    measured = run("fit", path, "--target", "well", "--weight", "n", "--validation", path)
    assert f"error ({path})" in measured.stdout
