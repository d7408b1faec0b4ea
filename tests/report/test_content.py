"""What goes into a page: its size, what it refuses, and that it is written whole or not at all."""

import copy
import json
import re
import warnings
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import pytest

from seplearn import TSLRegressor, datasets, explain, report
from seplearn.model.evaluation import Evaluation
from seplearn.model.stage import Stage


@pytest.fixture(scope="module")
def fitted():
    X, y = datasets.rents(800, random_state=0)
    model = TSLRegressor(2, early_stopping=False, random_state=0).fit(X[:600], y[:600])
    return model, X, y


def content(text):
    [found] = re.findall(r'<script type="application/json" id="content">(.*?)</script>', text)
    return json.loads(found)


def test_the_page_says_what_the_summary_says(fitted):
    model, _, _ = fitted
    told = content(report.report_html(model))
    summary = explain.summary(model, background=model.model_.reference)
    assert [(part["heading"], tuple(part["sentences"])) for part in told["sums"][0]["summary"]] == [
        *summary.sections
    ]
    assert told["sums"][0]["matters"]["importance"] == summary.importance.values.tolist()
    assert [stage["name"] for stage in told["sums"][0]["stages"]] == list(model.stage_names_)
    bare = copy.copy(model)
    bare.model_ = replace(model.model_, reference=None)
    assert content(report.report_html(bare))["sums"][0]["summary"] is None


def test_the_page_of_a_large_model_stays_small():
    random = np.random.default_rng(0)
    X = random.normal(size=(1_500, 30))
    y = X[:, 0] * X[:, 1] + X[:, 2] + random.normal(size=1_500)
    options: dict[str, Any] = {
        "n_stages": 10,
        "early_stopping": False,
        "main_effects": False,
        "smoothness": 1.0,  # learned, it would leave out most stages and features
        "n_bootstrap": 2,
        "random_state": 0,
    }
    text = report.report_html(TSLRegressor(**options).fit(X, y), X, y)
    told = content(text)
    assert len(told["sums"][0]["stages"]) == 10
    assert all(set(stage["bands"]) <= {"backbone", "tilt"} for stage in told["sums"][0]["stages"])
    assert any(stage["bands"] for stage in told["sums"][0]["stages"])
    assert len(text.encode()) < 3_300_000


def test_rows_are_drawn_and_keep_their_target(fitted):
    model, X, y = fitted
    told = content(report.report_html(model, X[600:], y[600:], n_rows=20, random_state=3))
    assert len(told["rows"]) == 20
    for row in told["rows"]:
        assert row["actual"] == y[600 + row["number"]]
        assert row["values"][0] == X["area"].iloc[600 + row["number"]]
    none = content(report.report_html(model, X[600:], n_rows=0))
    assert none["rows"] == []
    assert none["quality"] == []


def test_without_a_table_the_models_own_rows_serve(fitted):
    model, X, y = fitted
    model.evaluate(X[600:], y[600:], keep=True)
    told = content(report.report_html(model))
    assert told["rows_are"] == "reference"
    assert len(told["rows"]) == 200
    assert told["quality"][0]["where"] == "kept"
    assert told["quality"][0]["rmse"] == model.evaluate(X[600:], y[600:]).rmse


def test_a_few_rows_do_not_decide_what_matters(fitted):
    model, X, y = fitted
    few = content(report.report_html(model, X[:1], y[:1]))
    assert few["sums"][0]["matters"] == content(report.report_html(model))["sums"][0]["matters"]
    assert max(few["sums"][0]["matters"]["total"]) > 0.3


def test_a_stage_names_the_features_it_depends_on(fitted):
    model = copy.copy(fitted[0])
    bins = model.model_.bins
    stage = next(stage for stage in model.stages_ if stage.is_two_branch)
    left_out, *others = stage.features(bins)
    part = bins.axis(left_out)
    flat = [replace(b, log_factors=b.log_factors.copy()) for b in stage.branches]
    for branch in flat:
        branch.log_factors[part] = 0.0
    stages = (Stage(*flat), stage.with_scalars(1.0, -1.0), stage.with_scalars(0.0, 1.0))
    model._store(model._schema, replace(model.model_, stages=stages), [])
    told = content(report.report_html(model))["sums"][0]["stages"]
    assert [one["kind"] for one in told] == ["two products", "same side", "one product"]
    assert told[0]["features"] == others
    assert len(others) > 0
    # Of two products the page makes the factors itself, of backbone and tilt.
    assert [p["log_factors"] is None for p in told[0]["products"]] == [True, True]
    assert told[0]["tilt"] is not None
    assert told[1]["log_backbone"] is None
    assert (told[2]["log_backbone"] is None, told[2]["tilt"]) == (False, None)


def test_infinite_values_are_written(fitted):
    X = pd.DataFrame({"x": [-np.inf, *np.linspace(0, 1, 97), np.nan, np.inf]})
    model = TSLRegressor(1, early_stopping=False, random_state=0).fit(X, np.arange(100.0))
    told = content(report.report_html(model, X))
    values = [row["values"][0] for row in told["rows"]]
    assert values[0] == {"number": "-Infinity"}
    assert values[-2:] == [{"is": "missing"}, {"number": "Infinity"}]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"model": 3}, "model must be a fitted estimator of seplearn"),
        ({"model": TSLRegressor()}, "not fitted"),
        ({"X": None}, "y must come with X"),
        ({"n_rows": -1}, "n_rows must be an integer >= 0"),
        ({"y": np.ones(3)}, "inconsistent numbers of samples"),
        ({"X": np.ones((200, 3))}, "features"),
    ],
)
def test_bad_arguments_are_refused_before_anything_is_written(fitted, tmp_path, change, message):
    model, X, y = fitted
    arguments = {"model": model, "X": X[600:], "y": y[600:]} | change
    with pytest.raises((TypeError, ValueError), match=message):
        report.write_report(path=tmp_path / "page.html", **arguments)
    assert list(tmp_path.iterdir()) == []


def test_a_failed_write_leaves_the_old_page(fitted, tmp_path, monkeypatch):
    path = tmp_path / "page.html"
    path.write_text("old")

    def interrupted(self, target):
        raise KeyboardInterrupt

    monkeypatch.setattr("pathlib.Path.replace", interrupted)
    with pytest.raises(KeyboardInterrupt):
        report.write_report(fitted[0], path)
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]
    with pytest.raises(FileNotFoundError, match="folder that exists"):
        report.write_report(fitted[0], tmp_path / "no" / "page.html")


def test_an_evaluation_counts_rows_and_groups():
    y = np.arange(100.0)
    prediction = y + np.where(y % 2 == 0, 1.0, -1.0)
    told = Evaluation.of(y, prediction)
    assert (told.n_rows, told.rmse, told.mae) == (100, 1.0, 1.0)
    assert told.r2 == pytest.approx(1 - 1 / np.var(y))
    assert len(told.predicted) == 10
    np.testing.assert_allclose(np.diff(told.actual), 10.0, atol=1.0)
    assert sum(told.residual_counts) == 100
    weighted = Evaluation.of(y, prediction, np.where(y < 50, 1.0, 0.0))
    assert max(weighted.actual) < 50
    assert Evaluation.of(1e200 * y, 1e200 * prediction).rmse == pytest.approx(1e200)


def test_targets_of_any_size_have_a_page():
    X, y = datasets.masked_interaction(300, random_state=0)
    model = TSLRegressor(2, early_stopping=False, random_state=0).fit(X, 1e200 * y)
    assert content(report.report_html(model, X, 1e200 * y))["rows"]


def test_a_page_beyond_all_numbers_is_refused_in_words():
    X, y = datasets.masked_interaction(300, random_state=0)
    model = TSLRegressor(1, early_stopping=False, random_state=0).fit(X, y)
    branches = [
        replace(b, log_scale=709.0, log_factors=50.0 * b.log_factors)
        for b in model.stages_[0].branches
    ]
    model.model_ = replace(model.model_, stages=(Stage(*branches),))
    with (
        np.errstate(all="ignore"),
        warnings.catch_warnings(action="ignore"),
        pytest.raises(ValueError, match="beyond the largest number; if y is that large"),
    ):
        report.report_html(model)


def test_half_a_character_in_a_title_is_no_obstacle(tmp_path):
    X, y = datasets.rents(100, random_state=0)
    y = pd.Series(y, name="</title>\ud800")
    model = TSLRegressor(n_stages=0, early_stopping=False, random_state=0).fit(X, y)
    report.write_report(model, tmp_path / "r.html")
    page = (tmp_path / "r.html").read_text(encoding="utf-8")
    assert page.count("</title>") == 1
    assert "&lt;/title&gt;\N{REPLACEMENT CHARACTER}" in page
    report.write_comparison(model, model, tmp_path / "c.html", X, models=("\udcff.tsl", "b.tsl"))
    assert "\N{REPLACEMENT CHARACTER}.tsl" in (tmp_path / "c.html").read_text(encoding="utf-8")
