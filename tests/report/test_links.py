"""The page of a classifier and of counts: probabilities and rates beside their sums."""

import copy
import re
from typing import Any

import numpy as np
import pandas as pd
import pytest

from seplearn import TSLClassifier, TSLRegressor, report
from seplearn.report.content import page_content
from seplearn.table.schema import OffsetColumn
from tests.report.test_page import SET_ROW, on_the_page

N, NO = 600, "<b>no</b>"
QUICK: dict[str, Any] = {"n_stages": 2, "early_stopping": False, "random_state": 0}


@pytest.fixture(scope="module")
def table():
    random = np.random.default_rng(0)
    X = pd.DataFrame(random.uniform(-1.0, 1.0, (N, 2)), columns=["a", "b"])
    X["place"] = random.choice(["hill", "mill"], N)
    eta = 4.0 * X["a"] * X["b"] + X["a"] - 0.5 + (X["place"] == "hill")
    years = random.uniform(0.2, 3.0, N)
    y = np.where(random.random(N) < 1.0 / (1.0 + np.exp(-eta)), "yes", NO)
    claims = random.poisson(years * 0.5 * np.exp(X["a"])).astype(float)
    return X, pd.Series(y, name="bought"), pd.Series(claims, name="claims"), np.log(years)


@pytest.fixture(scope="module")
def classifier(table):
    X, y, _, _ = table
    model = TSLClassifier(**QUICK, n_bootstrap=3).fit(X[:400], y[:400])
    model.evaluate(X[400:], y[400:], keep=True)
    return model


@pytest.fixture(scope="module")
def counts(table):
    X, _, claims, offset = table
    model = TSLRegressor(**QUICK, loss="poisson").fit(X[:400], claims[:400], offset=offset[:400])
    model.offset_column_ = OffsetColumn("years", True)
    return model


def test_content_says_what_is_summed_and_what_follows(table, classifier, counts):
    X, y, claims, offset = table
    content = page_content(classifier, X[400:], y[400:], None, None, 5, 0)
    assert content["link"] == "logit"
    (own,) = content["sums"]
    assert (own["quantity"], own["response"]) == ("log-odds of yes", "probability of yes")
    assert content["classes"] == [NO, "yes"]
    assert {row["actual"] for row in content["rows"]} <= {0.0, 1.0}
    (given,) = content["quality"]  # what is kept is the same, and is not told twice
    assert given["where"] == "given"
    assert given["scores"] == classifier.evaluation_.scores
    both = page_content(classifier, X[:400], y[:400], None, None, 5, 0)["quality"]
    assert [quality["where"] for quality in both] == ["given", "kept"]
    assert len(given["cuts"]) == len(given["outcome_above"]) <= 201
    holes = y.astype(object).where(np.arange(N) % 2 == 0, None)
    half = page_content(classifier, X, holes, None, None, 5, 0)["quality"][0]
    assert half["n_rows"] == N // 2
    nothing = page_content(classifier, X, [None] * N, None, None, 5, 0)
    assert [quality["where"] for quality in nothing["quality"]] == ["kept"]
    content = page_content(counts, X[400:], claims[400:], offset[400:], None, 5, 0)
    (quality,) = content["quality"]
    expected = counts.evaluate(X[400:], claims[400:], offset=offset[400:])
    assert quality["scores"] == expected.scores
    assert content["offset"] == {"name": "years", "is_exposure": True}
    assert content["classes"] is None
    nameless = copy.copy(counts)  # as after a fit in Python
    nameless.offset_column_ = None
    told = page_content(nameless, X[400:], claims[400:], offset[400:], None, 5, 0)
    assert (told["offset"], told["had_offsets"]) == (None, True)
    assert (told["lacks_offsets"], told["drift"]["weighted"]) == (False, False)
    with pytest.warns(UserWarning, match="was fitted with offsets and none are given"):
        lacking = page_content(nameless, X[400:], claims[400:], None, None, 5, 0)
    assert lacking["lacks_offsets"]
    balanced = TSLClassifier(1, class_weight="balanced", early_stopping=False, random_state=0)
    balanced.fit(X[:400], claims[:400] > 0)
    with pytest.warns(UserWarning, match="was fitted with weights"):
        weighted = page_content(balanced, X[400:], claims[400:] > 0, None, None, 5, 0)
    assert weighted["drift"]["weighted"]
    assert not page_content(classifier, X, y, None, None, 5, 0)["had_offsets"]


def entered(model, X):
    axes = model.model_.bins.axes
    return [[on_the_page(axis, v) for axis, v in zip(axes, row, strict=True)]
            for row in X.itertuples(index=False)]  # fmt: skip


def test_probability_and_log_odds_are_the_models(table, classifier, open_page, tmp_path):
    X, y, _, _ = table
    path = tmp_path / "page.html"
    report.write_report(classifier, path, X[400:], y[400:])
    opened = open_page(path)
    expected = classifier.predict_proba(X[:30])[:, 1]
    sums = classifier.decision_function(X[:30])
    for row, value, total in zip(entered(classifier, X[:30]), expected, sums, strict=True):
        assert float(opened.page.evaluate(SET_ROW, row)) == pytest.approx(value, rel=1e-9)
        shown = float(opened.page.locator("#exact-sum").text_content())
        assert shown == pytest.approx(total, rel=1e-9, abs=1e-9)
    assert f"called {NO}" in opened.page.locator("#quality-body").text_content()  # as it is
    told = opened.page.locator("#whatif-body").text_content()
    assert "bought: probability of yes" in told
    assert "Log-odds of yes: " in told
    assert "From the constant to the log-odds of yes" in told
    assert "What moves the log-odds of yes" in opened.page.locator("#short-body").text_content()
    quality = opened.page.locator("#quality-body")
    assert quality.locator(".band").count() == len(classifier.evaluation_.predicted)
    counts = classifier.evaluation_.confusion()
    table_at_half = quality.locator(".confusion").first
    cells = [int(text) for text in table_at_half.locator("td").all_text_contents()]
    assert cells == [counts.rejections, counts.false_alarms, counts.misses, counts.hits]
    slider = quality.locator("input.threshold").first
    slider.evaluate("(node) => { node.value = 0; node.dispatchEvent(new Event('input')); }")
    cells = [int(text) for text in table_at_half.locator("td").all_text_contents()]
    assert cells == [0, counts.rejections + counts.false_alarms, 0, counts.misses + counts.hits]


def test_rates_are_the_models(table, counts, open_page, tmp_path):
    X, _, claims, offset = table
    path = tmp_path / "page.html"
    report.write_report(counts, path, X[400:], claims[400:], offset=offset[400:])
    opened = open_page(path)
    expected, sums = counts.predict(X[:20]), counts.predict_sum(X[:20])
    for row, value, total in zip(entered(counts, X[:20]), expected, sums, strict=True):
        assert float(opened.page.evaluate(SET_ROW, row)) == pytest.approx(value, rel=1e-9)
        shown = float(opened.page.locator("#exact-sum").text_content())
        assert shown == pytest.approx(total, rel=1e-9, abs=1e-9)
    assert "for one unit of years" in opened.page.locator("#whatif-body").text_content()
    told = opened.page.locator("#quality-body").text_content()
    assert "Poisson deviance" in told
    rows, outcomes = counts.evaluate(X[400:], claims[400:], offset=offset[400:]).gain()
    share = round(100 * float(np.interp(0.1, rows, outcomes)))
    assert f"predicted highest has {share} % of all outcomes" in told
    assert "The tenth of the exposure (years) predicted highest" in told
    options = opened.page.locator("#row option").all_text_contents()[1:]
    outcomes = [re.search(r"[(]outcome (.*)[)]", option).group(1) for option in options]
    assert outcomes
    assert set(outcomes) <= {str(n) for n in range(int(claims.max()) + 1)}  # no 0.000


def test_a_column_called_exposure_is_named_once(table, counts, open_page, tmp_path):
    X, _, claims, offset = table
    path = tmp_path / "page.html"
    model = copy.copy(counts)
    model.offset_column_ = OffsetColumn("exposure", True)
    report.write_report(model, path, X[400:], claims[400:], offset=offset[400:])
    told = open_page(path).page.locator("#quality-body").text_content()
    assert "share of the exposure, predicted highest first" in told
    assert "The tenth of the exposure predicted highest" in told
