"""Cards of features in a real browser: their numbers are those of Python."""

import numpy as np
import pandas as pd
import pytest

from seplearn import TSLClassifier, TSLRegressor, datasets, explain, report
from tests.report.test_page import HOSTILE, LEVELS

# Opens a card and its table, and gives the numbers of a column by bin.
NUMBERS = """([feature, column]) => {
  const card = document.querySelector(`[data-card="${feature}"]`);
  card.open = true;
  return new Promise((done) => setTimeout(() => {
    const box = card.querySelector(".all-values");
    box.open = true;
    setTimeout(() => done([...box.querySelectorAll("tbody tr")].map((row) =>
      [Number(row.dataset.bin), Number(row.children[column].dataset.value)])), 50);
  }, 50));
}"""


@pytest.fixture(scope="module")
def flats():
    X, y = datasets.rents(900, random_state=0)
    rng = np.random.default_rng(0)
    X = X.assign(street=rng.choice([f"street {k}" for k in range(25)], len(X)))
    X.loc[rng.random(len(X)) < 0.1, "year"] = np.nan
    return X, y + 30.0 * X["street"].str[-1:].astype(int).to_numpy()


@pytest.fixture(scope="module")
def model(flats):
    X, y = flats
    options = {"n_stages": 3, "early_stopping": False, "n_bootstrap": 3, "random_state": 0}
    return TSLRegressor(**options, main_effects=True).fit(X[:700], y[:700])


@pytest.fixture(scope="module")
def path(model, flats, tmp_path_factory):
    X, y = flats
    path = tmp_path_factory.mktemp("cards") / "report.html"
    report.write_report(model, path, X[700:], y[700:])
    return path


def test_averages_are_the_partial_dependence(model, flats, path, open_page):
    background = flats[0][700:]
    opened = open_page(path)
    listed = [int(j) for j in opened.page.evaluate(
        "[...document.querySelectorAll('[data-card]')].map((box) => box.dataset.card)"
    )]  # fmt: skip
    assert listed == [one.feature for one in explain.summary(model, background=background).features]
    assert len(listed) > 5
    for j in listed:
        card = explain.card(model, j, background=background)
        for b, value in opened.page.evaluate(NUMBERS, [j, 2]):
            assert value == pytest.approx(card.dependence.total[b], rel=1e-9)
        shown = dict(opened.page.evaluate(NUMBERS, [j, 1]))
        assert shown.keys() == set(np.flatnonzero(card.frequencies > 0).tolist())


def test_probabilities_and_log_odds_of_a_classifier(flats, tmp_path, open_page):
    X, y = flats
    classes = np.where(y > np.median(y), "dear", "cheap")
    model = TSLClassifier(2, early_stopping=False, random_state=0).fit(X[:700], classes[:700])
    path = tmp_path / "dear.html"
    report.write_report(model, path, X[700:], classes[700:])
    opened = open_page(path)
    for name in ("area", "district"):
        card = explain.card(model, name, background=X[700:])
        for b, value in opened.page.evaluate(NUMBERS, [card.feature, 2]):
            assert value == pytest.approx(card.response.average[b], rel=1e-9)
        for b, value in opened.page.evaluate(NUMBERS, [card.feature, 3]):
            assert value == pytest.approx(card.dependence.total[b], rel=1e-9)
    captions = opened.page.locator("[data-card] figcaption").all_text_contents()
    assert any("Odds ratio" in caption for caption in captions)


def test_products_of_any_sign_have_the_same_averages(flats, tmp_path, open_page):
    X, y = flats
    model = TSLRegressor.paper(2, n_grids=3, products="single", random_state=0).fit(X, y)
    path = tmp_path / "single.html"
    report.write_report(model, path)
    opened = open_page(path)
    card = explain.card(model, "area")
    found = opened.page.evaluate(NUMBERS, [card.feature, 2])
    assert len(found) > 10
    for b, value in found:
        assert value == pytest.approx(card.dependence.total[b], rel=1e-9)


def test_only_what_is_open_is_drawn(path, open_page):
    opened = open_page(path)
    count = "document.querySelectorAll('[data-card] svg').length"
    first = opened.page.evaluate(count)
    assert 0 < first < 8
    opened.page.evaluate("document.querySelectorAll('[data-card]')[2].open = true")
    opened.page.wait_for_function(f"{count} > {first}")


def test_partners_are_drawn_at_low_middle_and_high(model, flats, path, open_page):
    opened = open_page(path)
    card = explain.card(model, "area", background=flats[0][700:])
    opened.page.evaluate(NUMBERS, [card.feature, 1])
    figures = opened.page.locator(f"[data-card='{card.feature}'] figure[data-partner]")
    drawn = figures.evaluate_all("(all) => all.map((one) => Number(one.dataset.partner))")
    assert drawn == [partner.feature for partner in card.partners[:2]]
    assert drawn
    paths = figures.first.locator("path").count()
    assert paths == len(card.partners[0].values)


def test_many_levels_are_found_and_sorted_by_keyboard(model, flats, path, open_page):
    opened = open_page(path)
    j = list(model.feature_names_in_).index("street")
    opened.page.evaluate(NUMBERS, [j, 1])
    box = opened.page.locator(f"[data-card='{j}'] .all-values")
    assert box.locator("tbody tr").count() == 25
    box.locator("[type=search]").focus()
    opened.page.keyboard.type("STREET 1")
    names = box.locator("tbody td:first-child").all_text_contents()
    assert len(names) == 11
    assert all(name.startswith("street 1") for name in names)
    head = box.locator("th button").nth(2)
    head.focus()
    opened.page.keyboard.press("Enter")
    values = box.locator("tbody td:nth-child(3)").evaluate_all(
        "(cells) => cells.map((cell) => Number(cell.dataset.value))"
    )
    assert values == sorted(values, reverse=True)
    opened.page.keyboard.press("Enter")
    assert box.locator("th").nth(2).get_attribute("aria-sort") == "ascending"


def test_cards_open_by_keyboard(path, open_page):
    opened = open_page(path)
    second = opened.page.locator("[data-card]").nth(1)
    second.locator("> summary").focus()
    opened.page.keyboard.press("Enter")
    assert second.get_attribute("open") is not None
    second.locator("svg").first.wait_for()


def test_hostile_names_are_text_in_cards(tmp_path, open_page):
    random = np.random.default_rng(0)
    X = pd.DataFrame({name: random.normal(size=500) for name in HOSTILE})
    X = X.assign(level=random.choice(LEVELS, 500))
    y = X[HOSTILE[0]] * X[HOSTILE[3]] * 2 + (X["level"] == LEVELS[0]) + X[HOSTILE[1]]
    model = TSLRegressor(2, early_stopping=False, random_state=0).fit(X, y)
    path = tmp_path / "hostile.html"
    report.write_report(model, path, X, y)
    opened = open_page(path, width=400)
    opened.page.evaluate("document.querySelectorAll('details').forEach((d) => { d.open = true; })")
    opened.page.wait_for_timeout(300)
    opened.page.evaluate("document.querySelectorAll('details').forEach((d) => { d.open = true; })")
    opened.page.wait_for_timeout(200)
    assert opened.page.locator("[data-card]").count() > 3
    assert opened.page.evaluate("document.images.length") == 0
    assert opened.page.evaluate("document.scripts.length") == 2
    assert opened.page.evaluate("document.documentElement.scrollWidth") <= 400


def test_hundreds_of_features_are_listed_and_found_but_not_drawn(tmp_path, open_page):
    random = np.random.default_rng(0)
    X = pd.DataFrame(random.normal(size=(300, 80))).rename(columns=lambda k: f"f{k}")
    options = {"n_stages": 1, "early_stopping": False, "main_effects": True, "smoothness": 1.0}
    model = TSLRegressor(**options, max_bins=8, n_splits=3, random_state=0).fit(X, X.sum(axis=1))
    path = tmp_path / "wide.html"
    report.write_report(model, path, X[:120])
    opened = open_page(path)
    assert opened.page.locator("[data-card]").count() > 60
    assert opened.page.locator("[data-card] svg").count() < 8
    assert opened.page.locator("#more-features svg").count() == 0
    opened.page.locator("#find-feature").fill("f73")
    assert opened.page.locator("[data-card]:visible").count() == 1
