"""The page of more than two classes: a class to choose, and probabilities of all of them."""

import re
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import pytest

from seplearn import TSLClassifier, explain, report
from seplearn.model.classes import ClassModels
from seplearn.report.content import page_content
from tests.report.test_cards import NUMBERS
from tests.report.test_links import entered
from tests.report.test_one_row import FIND, check_shapley
from tests.report.test_page import SET_ROW, link, random_rows

N, DRY, MANY = 600, "<b>dry</b>", 26
QUICK: dict[str, Any] = {"n_stages": 2, "early_stopping": False, "random_state": 0}
BARS = "(rows) => rows.map((row) => Number(row.dataset.exact))"


@pytest.fixture(scope="module")
def table():
    random = np.random.default_rng(0)
    X = pd.DataFrame(random.uniform(-1.0, 1.0, (N, 2)), columns=["a", "b"])
    X["place"] = random.choice(["hill", "mill"], N)
    X.loc[3, "place"] = "lane"
    scores = np.column_stack([0.0 * X["a"], 3.0 * X["a"], 4.0 * X["a"] * X["b"]])
    shares = np.exp(scores) / np.exp(scores).sum(axis=1, keepdims=True)
    drawn = (shares.cumsum(axis=1) < random.random(N)[:, None]).sum(axis=1)
    return X, pd.Series(np.array([DRY, "mist", "wet"], dtype=object)[drawn], name="sky")


@pytest.fixture(scope="module")
def model(table):
    X, y = table
    fitted = TSLClassifier(**QUICK, n_bootstrap=3, main_effects=True).fit(X[:400], y[:400])
    fitted.evaluate(X[400:], y[400:], keep=True)
    return fitted


@pytest.fixture(scope="module")
def path(model, table, tmp_path_factory):
    X, y = table
    path = tmp_path_factory.mktemp("several") / "page.html"
    report.write_report(model, path, X[400:], y[400:])
    return path


def bars(opened):
    return opened.page.locator("#classes tr").evaluate_all(BARS)


def test_the_bars_are_the_probabilities(model, table, path, open_page):
    opened = open_page(path)
    rows = random_rows(table[0], 24, 1)
    expected, scores = model.predict_proba(rows), model.decision_function(rows)
    assert len(np.unique(expected[:, 0])) > 18
    for k, row in enumerate(entered(model, rows)):
        if k % 8 == 0:
            opened.page.locator("#class").select_option(index=k // 8)
        shown = float(opened.page.evaluate(SET_ROW, row))
        assert shown == pytest.approx(expected[k, k // 8], abs=1e-9)
        assert bars(opened) == pytest.approx(expected[k].tolist(), abs=1e-9)
        told = float(opened.page.locator("#exact-sum").text_content())
        assert told == pytest.approx(scores[k, k // 8], abs=1e-9)
        named = opened.page.locator("#prediction").text_content()
        assert named == str(model.classes_[expected[k].argmax()])


def test_cards_and_shapley_values_are_of_the_class_chosen(model, table, path, open_page):
    opened = open_page(path)
    background, n_used = table[0][400:], 0
    for k, label in enumerate(model.classes_):
        opened.page.locator("#class").select_option(index=k)
        view = model.for_class(label)
        used = [one.feature for one in explain.summary(view, background=background).features]
        boxes = opened.page.locator("[data-card]")
        listed = boxes.evaluate_all("(all) => all.map((one) => Number(one.dataset.card))")
        assert listed == used
        n_used += len(used)
        for j in used:
            curve = explain.card(view, j, background=background).dependence.total
            shown = dict(opened.page.evaluate(NUMBERS, [j, 2]))
            assert shown == pytest.approx({b: curve[b] for b in shown}, rel=1e-9, abs=1e-12)
        if used:
            head = opened.page.locator(".values th").nth(2).text_content()
            assert head == f"score of {label}"
            check_shapley(opened, view, random_rows(table[0], 3, k), background)
    assert n_used > 2  # the score of a class may be a constant


def test_changes_reach_the_probability_of_the_class_chosen(model, table, path, open_page):
    opened = open_page(path)
    X, seen = table[0][400:].reset_index(drop=True), 0
    shares = model.predict_proba(X)
    for k, label in enumerate(model.classes_):
        opened.page.locator("#class").select_option(index=k)
        row = int(np.argmin(np.abs(shares[:, k] - 0.4)))
        opened.page.evaluate(SET_ROW, entered(model, X[row : row + 1])[0])
        for target, fixed in ((0.2, []), (0.5, [1])):
            result = explain.counterfactual(model, X, row, target=target, label=label, fixed=fixed)
            found = opened.page.evaluate(FIND, [target, dict.fromkeys(fixed, "0")])
            sizes = [change.size for change in result.changes or result.nearest]
            assert [size for size, _ in found] == pytest.approx(sizes)
            if result.changes:
                assert all((value - target) * (target - 0.4) >= 0.0 for _, value in found)
            seen += len(result.changes)
        kept = opened.page.locator(".way").evaluate_all("all => all.filter((w) => w.value === '0')")
        assert len(kept) == 1  # and stays for the next class
    assert seen > 4


def test_all_that_is_told_is_of_the_class_chosen(model, path, table, open_page):
    opened, told = open_page(path), 0
    for k, label in enumerate(model.classes_):
        opened.page.locator("#class").select_option(index=k)
        view = model.for_class(label)
        summary = explain.summary(view, background=table[0][400:])
        short = opened.page.locator("#short").inner_text()
        if not summary.features:  # a constant, which is told in a sentence of its own
            continue
        told += 1
        assert all(line in short for _, part in summary.sections for line in part)
        first = opened.page.locator("#matters table").first.inner_text().split("\n")[0]
        assert first.startswith(summary.features[0].name)
        names = opened.page.locator("#stages .stage summary b").all_text_contents()
        stages = [name for name in names if name != "Main effects"]
        assert sorted(stages) == [f"Stage {s}: {n}" for s, n in enumerate(view.stage_names_)]
        assert f"From the constant to the score of {label}" in opened.page.text_content("#falls")
        effects = view.predict_effects(table[0])
        box = opened.page.locator("[data-stage=effects]")
        assert box.count() == int(view.model_.effects is not None)
        if box.count():
            box.locator("summary").click()
            box.locator("svg").first.wait_for()
            assert box.locator("svg").count() == int(effects.any(axis=0).sum())
    assert told > 1


def test_a_probability_as_a_feature_changes_is_that_of_the_class(model, table, path, open_page):
    """Through the scores of all classes: that of its own may be flat where others are not."""
    opened = open_page(path)
    opened.page.locator("#class").select_option(index=2)
    row = table[0][10:11]
    opened.page.evaluate(SET_ROW, entered(model, row)[0])
    opened.page.wait_for_timeout(100)
    told = opened.page.locator("[data-feature='1'] .effect").text_content()
    everywhere = pd.concat([row] * 400).assign(b=table[0]["b"][:400].to_numpy())
    moved = model.predict_proba(everywhere)[:, 2]
    low, high = (float(word) for word in told.split(" to "))
    assert (low, high) == pytest.approx((moved.min(), moved.max()), abs=0.006)
    assert high - low > 0.05


def test_bars_choose_classes_and_links_keep_them(model, path, open_page):
    opened = open_page(path)
    opened.page.locator("#row").select_option(index=7)
    opened.page.locator("[data-feature='0'] [type=number]").fill("0.625")
    opened.page.locator("#classes button", has_text="wet").click()
    assert opened.page.locator("#class").input_value() == "2"
    assert opened.page.locator("#classes [aria-pressed=true]").text_content() == "wet"
    assert "probability of wet was" in opened.page.locator("#compared").text_content()
    fragment = link(opened)
    again = open_page(path, fragment=fragment)
    assert again.page.locator("#class").input_value() == "2"
    assert again.exact == opened.exact
    assert bars(again) == bars(opened)
    broken = open_page(path, fragment="#class=99&0=n0.5")
    assert broken.page.locator("#class").input_value() == "0"


def test_mistakes_and_every_class_are_told_of(model, table, path, open_page):
    X, y = table
    opened = open_page(path)
    expected = model.evaluate(X[400:], y[400:])
    mistakes = opened.page.locator("table.mistakes").first
    cells = [float(text or 0) for text in mistakes.locator("td").all_text_contents()]
    assert cells == [size for row in expected.confusion for size in row]
    assert mistakes.locator("tbody th").all_text_contents() == model.classes_.tolist()
    quality = opened.page.locator("#quality-body")
    told = re.findall(r"(\d+) %", opened.page.locator("#short").inner_text())
    assert min(abs(float(share) - 100.0 * expected.accuracy) for share in told) < 0.5 + 1e-9
    opened.page.locator("#class").select_option(index=1)
    assert "Probability of mist, beside all other classes" in quality.inner_text()
    called, is_mist = model.predict_proba(X[400:])[:, 1] > 0.5, (y[400:] == "mist").to_numpy()
    cells = quality.locator(".confusion").first.locator("td").all_text_contents()
    pairs = [(a, b) for a in (False, True) for b in (False, True)]
    counts = [int(((is_mist == a) & (called == b)).sum()) for a, b in pairs]
    assert [int(text) for text in cells] == counts


@pytest.mark.parametrize("width", [400, 1280])
def test_nothing_scrolls_sideways(path, open_page, width):
    opened = open_page(path, width=width)
    opened.page.evaluate("document.querySelectorAll('details').forEach((d) => { d.open = true; })")
    opened.page.wait_for_timeout(100)
    assert opened.page.evaluate("document.documentElement.scrollWidth") <= width


@pytest.fixture(scope="module")
def letters():
    """As many classes as there are letters, of which some have no curve."""
    random = np.random.default_rng(0)
    X = pd.DataFrame(random.normal(size=(520, 4)), columns=[f"x{j}" for j in range(4)])
    place = np.clip(np.round(X["x0"] * 4 + X["x1"] * X["x2"] * 3 + 13), 0, MANY - 1)
    y = np.array([chr(97 + k) for k in range(MANY)])[place.astype(int)]
    quick = QUICK | {
        "n_stages": 1,
        "n_grids": 1,
        "n_splits": 8,
        "max_bins": 20,
        "main_effects": False,
    }
    return TSLClassifier(**quick).fit(X, y), X, y


def test_the_page_of_many_classes_stays_small(letters, tmp_path, open_page):
    model, X, y = letters
    path = tmp_path / "letters.html"
    report.write_report(model, path, X[:300], y[:300])
    assert path.stat().st_size < 2_000_000
    opened = open_page(path, width=400)
    assert opened.page.locator("#class option").count() == len(model.classes_)
    row = X[400:401]
    opened.page.evaluate(SET_ROW, entered(model, row)[0])
    assert bars(opened) == pytest.approx(model.predict_proba(row)[0].tolist(), abs=1e-9)
    assert opened.page.evaluate("document.documentElement.scrollWidth") <= 400
    drawn = opened.page.locator("#stages svg").count()  # of one class, and of that the first stage
    opened.page.locator("#class").select_option(index=20)
    assert opened.page.locator("#stages svg").count() <= drawn + len(X.columns) * 2


def test_a_stage_has_curves_of_its_own_features_only(letters):
    model, X, _ = letters
    content = page_content(model, X[:300], None, None, None, 5, 0)
    sizes = [len(axis.describe().meanings) for axis in model.model_.bins.axes]
    for own, stages in zip(content["sums"], model.stages_, strict=True):
        for told, stage in zip(own["stages"], stages, strict=True):
            features = stage.features(model.model_.bins)
            n_bins = sum(sizes[j] for j in features)
            assert told["features"] == list(features)
            curves = [told["log_backbone"], *(p["log_factors"] for p in told["products"])]
            known = [text for text in curves if text is not None]
            assert {len(text) for text in known} == {4 * -(-8 * n_bins // 3)}


def test_a_class_without_curves_has_a_page(table, tmp_path, open_page):
    X, y = table
    y = y.where(np.arange(N) != 5, "hail")
    model = TSLClassifier(**QUICK, background_size=0, main_effects=False).fit(X, y)
    one, hail, *others = model.model_.models
    model.model_ = ClassModels((one, replace(hail, stages=()), *others))
    path = tmp_path / "hail.html"
    report.write_report(model, path)
    opened = open_page(path)
    opened.page.locator("#class").select_option(label="hail")
    assert "The score of hail is the same for all rows" in opened.page.inner_text("#short")
    assert "The score of hail is a constant" in opened.page.inner_text("#matters")
    assert "The score of hail is a constant" in opened.page.inner_text("#cards")
    assert opened.page.locator("#wanted").count() == 1  # its probability takes all scores
    found = opened.page.evaluate(SET_ROW, entered(model, X[:1])[0])
    assert float(found) == pytest.approx(model.predict_proba(X[:1])[0, 1], abs=1e-9)
