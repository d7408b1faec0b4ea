"""One row in the page: Shapley values and changes that reach a wanted prediction, as in Python."""

import re
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from seplearn import TSLClassifier, TSLRegressor, datasets, explain, report
from tests.report.test_page import SET_ROW, on_the_page, random_rows

# The page draws in the next frame: asked for earlier, its drawing comes before this reading.
SHAPLEY = """() => new Promise((done) => requestAnimationFrame(() => done(
  [...document.querySelectorAll("#shapley tr[data-value]")].map((row) =>
    [row.dataset.of ?? null, Number(row.dataset.value)]))))"""
FIND = """([wanted, ways]) => {
  for (const choice of document.querySelectorAll(".way")) {
    choice.value = ways[choice.closest(".control").dataset.feature] ?? "";
    choice.dispatchEvent(new Event("change"));
  }
  document.getElementById("wanted").value = wanted;
  document.getElementById("find").click();
  return [...document.querySelectorAll("#changes li")].map((one) =>
    [Number(one.dataset.size), Number(one.dataset.prediction)]);
}"""
MOVES = """(items) => items.map((one) =>
  [...one.querySelectorAll("div")].map((move) => move.textContent).join("\\n"))"""


@pytest.fixture(scope="module")
def flats():
    X, y = datasets.rents(700, random_state=0)
    X.loc[::9, "year"] = np.nan
    return X, y


@pytest.fixture(scope="module")
def model(flats):
    X, y = flats
    options = {"n_stages": 3, "early_stopping": False, "random_state": 0, "main_effects": True}
    return TSLRegressor(**options).fit(X[:500], y[:500])


@pytest.fixture(scope="module")
def path(model, flats, tmp_path_factory):
    path = tmp_path_factory.mktemp("row") / "report.html"
    report.write_report(model, path, flats[0][500:], flats[1][500:])
    return path


def entered(model, row):
    return [on_the_page(axis, v) for axis, v in zip(model.model_.bins.axes, row, strict=True)]


def check_shapley(opened, model, rows, background, base=True):
    expected = explain.shapley(model, rows, background=background)
    size = np.abs(expected.values).max()
    for row, values in zip(rows.itertuples(index=False), expected.values, strict=True):
        opened.page.evaluate(SET_ROW, entered(model, row))
        (_, average), *steps = opened.page.evaluate(SHAPLEY)
        if base:
            assert average == pytest.approx(expected.base, rel=1e-9)
        shown = {int(j): value for j, value in steps if j is not None}
        assert shown.keys() == set(np.flatnonzero(values).tolist())
        for j, value in shown.items():
            assert value == pytest.approx(values[j], rel=1e-9, abs=1e-9 * size)


def test_shapley_values_are_those_of_python(model, flats, path, open_page):
    rows = random_rows(flats[0], 8, 1)
    check_shapley(open_page(path), model, rows, flats[0][500:])


def test_products_of_any_sign_too(flats, tmp_path, open_page):
    X, y = flats
    model = TSLRegressor.paper(2, n_grids=3, products="single", random_state=0).fit(X, y)
    path = tmp_path / "single.html"
    report.write_report(model, path, X[500:])
    check_shapley(open_page(path), model, random_rows(X, 4, 2), X[500:])


def test_reference_rows_count_by_their_weight(flats, tmp_path, open_page):
    X, y = flats
    weight = np.random.default_rng(0).uniform(0.1, 3.0, len(y))[:150]
    model = TSLRegressor(1, early_stopping=False, random_state=0).fit(X[:150], y[:150], weight)
    assert len(np.unique(model.model_.reference.weight)) > 10
    path = tmp_path / "weighted.html"
    report.write_report(model, path)
    check_shapley(open_page(path), model, X[:3], None)


def test_without_rows_the_stages_are_told(model, flats, tmp_path, open_page):
    path = tmp_path / "bare.html"
    report.write_report(model, path, flats[0][500:], n_rows=0)
    opened = open_page(path)
    assert opened.page.locator("#shapley").count() == 0
    assert opened.page.locator("#falls").is_visible()


def test_changes_are_those_of_python(model, flats, path, open_page):
    opened = open_page(path)
    X = flats[0][500:].reset_index(drop=True)
    seen = 0
    for k in (0, 5, 11):
        opened.page.evaluate(SET_ROW, entered(model, X.loc[k]))
        for factor, fixed, ways in (
            (0.7, [], {}), (1.3, ["area"], {}), (0.9, [], {"area": 1, "year": -1}),
            (1.1, ["district"], {"area": -1}),
        ):  # fmt: skip
            target = float(model.predict(X[k : k + 1])[0]) * factor
            expected = explain.counterfactual(
                model, X, k, target=target, fixed=fixed, directions=ways
            ).changes
            choices = dict.fromkeys(fixed, 0) | ways
            chosen = {list(X).index(name): str(way) for name, way in choices.items()}
            found = opened.page.evaluate(FIND, [target, chosen])
            if not expected:
                continue
            assert len(found) == min(6, len(expected))
            assert [size for size, _ in found] == pytest.approx([c.size for c in expected[:6]])
            for _, prediction in found:
                assert (prediction - target) * (factor - 1.0) >= 0.0
            seen += len(found)
    assert seen > 16


def test_out_of_reach_the_nearest_changes_are_those_of_python(model, flats, path, open_page):
    opened = open_page(path)
    X = flats[0][500:].reset_index(drop=True)
    of_two = 0
    for k, target, ways in ((0, 1e5, {}), (5, -1e5, {}), (7, 1e5, {"area": -1, "year": 1})):
        opened.page.evaluate(SET_ROW, entered(model, X.loc[k]))
        expected = explain.counterfactual(model, X, k, target=target, directions=ways)
        assert not expected.changes
        chosen = {list(X).index(name): str(way) for name, way in ways.items()}
        found = opened.page.evaluate(FIND, [target, chosen])
        nearest = [(change.size, change.prediction) for change in expected.nearest]
        assert np.array(found) == pytest.approx(np.array(nearest), rel=1e-9)
        assert "Nearest to it" in opened.page.inner_text("#changes")
        of_two += sum(len(change.features) == 2 for change in expected.nearest)
    assert of_two
    everything = dict.fromkeys(range(X.shape[1]), "0")
    assert opened.page.evaluate(FIND, [1e5, everything]) == []
    assert "Nearest" not in opened.page.inner_text("#changes")


def test_proposed_values_are_those_of_python(model, flats, path, open_page):
    """Few digits, and whole numbers where the row and the data have them."""
    opened = open_page(path)
    X = flats[0][500:].reset_index(drop=True)
    whole = []
    for k in (1, 2, 3):
        opened.page.evaluate(SET_ROW, entered(model, X.loc[k]))
        target = 0.8 * float(model.predict(X[k : k + 1])[0])
        opened.page.evaluate(FIND, [target, {}])
        changes = explain.counterfactual(model, X, k, target=target).changes[:6]
        told = [list(zip(change.names, change.after, strict=True)) for change in changes]
        shown = [
            [re.fullmatch(r"(\w+) .* \u2192 (.*)", text).groups() for text in texts.split("\n")]
            for texts in opened.page.locator("#changes li").evaluate_all(MOVES)
        ]
        assert sorted(map(as_text, shown)) == sorted(map(as_text, told))
        values = [value for moves in told for _, value in moves if not isinstance(value, str)]
        whole += [value for value in values if value == int(value)]
    assert whole


def as_text(moves):
    """Numbers of the page as those of Python."""
    numbers = [(name, re.sub(r"\.0$", "", str(value))) for name, value in moves]
    return sorted(numbers)


def test_a_change_can_be_tried_by_keyboard(model, flats, path, open_page):
    opened = open_page(path)
    now = opened.exact
    opened.page.locator("#wanted").fill(str(1.2 * now))
    opened.page.keyboard.press("Enter")
    first = opened.page.locator("#changes li").first
    promised = float(first.get_attribute("data-prediction"))
    first.locator("button").focus()
    opened.page.keyboard.press("Enter")
    assert opened.exact == pytest.approx(promised, rel=1e-12)
    assert opened.exact >= 1.2 * now


def test_probabilities_are_wanted_of_a_classifier(flats, tmp_path, open_page):
    X, y = flats
    classes = np.where(y > np.median(y), "dear", "cheap")
    model = TSLClassifier(1, early_stopping=False, random_state=0).fit(X[:500], classes[:500])
    path = tmp_path / "dear.html"
    report.write_report(model, path, X[500:])
    opened = open_page(path)
    rows = X[500:].reset_index(drop=True)
    k = int(np.argmin(np.abs(model.predict_proba(rows)[:, 1] - 0.4)))
    opened.page.evaluate(SET_ROW, entered(model, rows.loc[k]))
    found = opened.page.evaluate(FIND, [0.6, {}])
    expected = explain.counterfactual(model, rows, k, target=0.6).changes
    assert [size for size, _ in found] == pytest.approx([c.size for c in expected[:6]])
    assert found
    assert opened.page.evaluate(FIND, [7, {}]) == []
    assert "between 0 and 1" in opened.page.inner_text("#changes")


def test_a_range_too_small_for_the_decimals_is_told_in_words(tmp_path, open_page):
    random = np.random.default_rng(0)
    X = pd.DataFrame(random.uniform(-1.0, 1.0, (500, 2)), columns=["a", "b"])
    model = TSLRegressor(1, early_stopping=False, main_effects=True, random_state=0)
    model = model.fit(X, 1000.0 * X["a"] + 300.0 * X["b"])
    effects, own = model.model_.effects.copy(), model.model_.bins.axis(1)
    effects[own] *= 0.1 / np.ptp(effects[own])
    model.model_ = replace(model.model_, effects=effects, stages=())
    a = next(a for a, value in zip(X["a"], model.predict(X), strict=True) if abs(value % 1) < 0.3)
    path = tmp_path / "small.html"
    report.write_report(model, path)
    opened = open_page(path)
    opened.page.evaluate(SET_ROW, [a, 0.0])
    opened.page.evaluate(SHAPLEY)
    assert (
        opened.page.locator("[data-feature='1'] .effect").inner_text() == "hardly any effect here"
    )


def test_the_range_told_is_that_of_the_curve_drawn(tmp_path, open_page):
    random = np.random.default_rng(0)
    X = pd.DataFrame({"x": np.append(random.uniform(0, 1, 998), [50.0, 60.0])})
    model = TSLRegressor(1, main_effects=True, smoothness=1e-6, random_state=0)
    model = model.fit(X, np.append(X["x"][:998], [900.0, 1000.0]))
    assert model.predict(X).max() > 10.0
    path = tmp_path / "tail.html"
    report.write_report(model, path)
    told = open_page(path).page.locator(".control .effect").inner_text()
    assert float(told.split(" to ")[1].replace(",", "")) < 10.0


def test_truth_values_may_be_written_as_numbers(open_page, tmp_path):
    random = np.random.default_rng(0)
    X = pd.DataFrame({"x": random.normal(size=300), "flag": random.random(300) < 0.5})
    y = X["x"] + 4.0 * X["flag"]
    model = TSLRegressor(1, early_stopping=False, random_state=0).fit(X, y)
    report.write_report(model, tmp_path / "r.html", X.astype({"flag": int})[:20], y[:20])
    for k in (0, 7):
        opened = open_page(tmp_path / "r.html", fragment=f"#row={k}")
        assert opened.exact == pytest.approx(model.predict(X)[k], rel=1e-9)
    assert np.ptp(model.predict(X)) > 4.0
