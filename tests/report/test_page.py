"""The page in a real browser: its numbers are the model's, and nothing else happens."""

import copy
import math
from dataclasses import replace
from importlib import resources
from typing import Any

import numpy as np
import pandas as pd
import pytest

from seplearn import SepALSRegressor, TSLRegressor, datasets, explain, report

HOSTILE = (
    "<script>alert('name')</script>",
    "\"quotes\" & 'more' &amp; <b>bold</b>",
    "\N{PARROT} \N{FAMILY}\u202e backwards",
    "long " + "x" * 495,
    "{{data}}{{script}}",
)
LEVELS = ("</script><img src=x onerror=alert(1)>", "<!--", "\\u003c \\n", "y" * 500)


@pytest.fixture(scope="module")
def flats():
    X, y = datasets.rents(1_500, random_state=0)
    X = X.assign(street=np.where(np.arange(len(X)) % 500 == 0, "lane", "road"))
    return X, pd.Series(y, name="rent")


@pytest.fixture(scope="module")
def model(flats):
    X, y = flats
    options: dict[str, Any] = {
        "n_stages": 3,
        "early_stopping": False,
        "n_bootstrap": 5,
        "random_state": 0,
    }
    return TSLRegressor(**options).fit(X[:1_200], y[:1_200])


@pytest.fixture(scope="module")
def path(model, flats, tmp_path_factory):
    X, y = flats
    path = tmp_path_factory.mktemp("page") / "report.html"
    report.write_report(model, path, X[1_200:], y[1_200:])
    return path


SET_ROW = """(row) => {
  for (const [j, value] of row.entries()) {
    const box = document.querySelector(`[data-feature="${j}"]`);
    const fire = (node, kind) => node.dispatchEvent(new Event(kind, { bubbles: true }));
    const select = box.querySelector("select:not(.way)");
    if (select) {
      select.value = [...select.options].find((option) => option.text === value).value;
      fire(select, "change");
      continue;
    }
    const missing = box.querySelector("[type=checkbox]");
    if (missing.checked !== (value === null)) { missing.click(); }
    const number = box.querySelector("[type=number]");
    if (value !== null) { number.value = value; fire(number, "input"); }
  }
  return document.getElementById("exact").textContent;
}"""


def on_the_page(axis, value):
    """What is entered for a value: a number, None for a missing one, or the text of an option."""
    if not hasattr(axis, "levels"):
        return None if pd.isna(value) else float(value)
    if pd.isna(value):
        return "(missing)"
    if value in axis.rare:
        count = len(axis.rare)
        return f"(one of {count} rare level{'s' if count > 1 else ''})"
    return value if value in axis.levels else "(any other)"


def random_rows(X, n, seed):
    """Each value from some row, or missing, unseen, or far outside."""
    random = np.random.default_rng(seed)
    rows = pd.DataFrame({c: X[c].to_numpy()[random.integers(0, len(X), n)] for c in X})
    for column in rows:
        strange = random.random(n)
        if rows[column].dtype.kind in "if":
            rows[column] = rows[column].astype(float)
            rows.loc[strange < 0.1, column] = np.nan
            rows.loc[strange > 0.9, column] = random.normal(0, 1e4, n)[strange > 0.9]
        else:
            rows[column] = rows[column].astype(object)
            rows.loc[strange < 0.1, column] = None
            rows.loc[strange > 0.9, column] = "atlantis"
    return rows


def test_the_number_shown_is_the_prediction(model, flats, path, open_page):
    opened = open_page(path)
    rows = random_rows(flats[0], 70, 1)
    rows.loc[0, "street"] = "lane"  # a rare level
    expected = model.predict(rows)
    assert len(np.unique(expected)) > 60
    axes = model.model_.bins.axes
    for row, value in zip(rows.itertuples(index=False), expected, strict=True):
        entered = [on_the_page(axis, v) for axis, v in zip(axes, row, strict=True)]
        shown = float(opened.page.evaluate(SET_ROW, entered))
        assert shown == pytest.approx(value, rel=1e-9)


def test_the_table_of_a_stage_has_its_own_features_only(model, path, open_page):
    opened = open_page(path)
    counts = [len(stage.features(model.model_.bins)) for stage in model.stages_]
    assert min(counts) < 6  # rows that the table has room for
    for s, stage in enumerate(model.stages_):
        opened.page.evaluate("(s) => document.querySelector(`[data-fall='${s}']`).click()", s)
        listed = opened.page.locator("#at-stage tbody tr td:first-child").all_text_contents()
        own = {model.feature_names_in_[j] for j in stage.features(model.model_.bins)}
        assert len(listed) == min(6, len(own))
        assert set(listed) <= own


@pytest.fixture(scope="module")
def additive(flats):
    """A model with main effects and bands."""
    X, y = flats
    options = {"n_stages": 2, "early_stopping": False, "n_bootstrap": 3, "random_state": 0}
    return TSLRegressor(**options, main_effects=True).fit(X[:1_200], y[:1_200])


def entered(model, row):
    return [on_the_page(axis, v) for axis, v in zip(model.model_.bins.axes, row, strict=True)]


def test_main_effects_are_part_of_the_number_shown(additive, flats, tmp_path, open_page):
    path = tmp_path / "additive.html"
    report.write_report(additive, path, flats[0][1_200:])
    opened = open_page(path)
    rows = random_rows(flats[0], 25, 2)
    expected = additive.predict(rows)
    sums = additive.predict_effects(rows).sum(axis=1)
    for row, value, added in zip(rows.itertuples(index=False), expected, sums, strict=True):
        shown = float(opened.page.evaluate(SET_ROW, entered(additive, row)))
        assert shown == pytest.approx(value, rel=1e-9)
        step = opened.page.locator("#falls tr", has_text="main effects").text_content()
        assert f"{abs(added):,.0f}" in step
    n_stages = len(additive.stages_)
    assert opened.page.locator("#falls tr").count() == n_stages + 3  # effects, both ends
    n_acting = sum(v.any() for v in explain.main_effects(additive).values)
    assert n_acting < len(additive.feature_names_in_)  # not every feature has one
    told = f"the main effects of {n_acting} features plus what {n_stages} stage"
    assert told in opened.page.inner_text("#short")


def test_curves_of_main_effects_are_drawn(additive, flats, tmp_path, open_page):
    path = tmp_path / "additive.html"
    report.write_report(additive, path, flats[0][1_200:])
    opened = open_page(path)
    box = opened.page.locator("[data-stage=effects]")
    told = explain.roles(additive, background=flats[0][1_200:])
    assert ", ".join(told.effects) in box.inner_text()
    box.locator("summary").click()
    box.locator("svg").first.wait_for()  # drawn when the browser tells that the box is open
    acting = [v.any() for v in explain.main_effects(additive).values]
    assert box.locator("svg").count() == sum(acting) > 3
    opened.page.evaluate(SET_ROW, [99.0])  # the dot follows
    assert box.locator("svg").count() == sum(acting)


def test_a_model_of_main_effects_alone_has_a_page(additive, flats, tmp_path, open_page):
    model = copy.copy(additive)
    bare = replace(additive.model_, stages=(), replicates=())
    model._store(additive._schema, bare, [])
    path = tmp_path / "bare.html"
    report.write_report(model, path)
    opened = open_page(path)
    rows = random_rows(flats[0], 5, 3)
    for row, value in zip(rows.itertuples(index=False), model.predict(rows), strict=True):
        shown = float(opened.page.evaluate(SET_ROW, entered(model, row)))
        assert shown == pytest.approx(value, rel=1e-9)
    assert "There are no stages: features add" in opened.page.inner_text("#stages")
    assert opened.page.locator("#matters svg, #matters table").count() > 0


def test_values_unlike_all_training_rows_are_remarked(model, path, open_page):
    opened = open_page(path)
    low, high = model.model_.bins.axes[0].range
    control = opened.page.locator("[data-feature='0']")
    words = ((high + 1, "Above all training values"), (low - 1, "it counts as the smallest"))
    for value, word in words:
        opened.page.evaluate(SET_ROW, [value])
        assert word in control.inner_text()
    opened.page.evaluate(SET_ROW, [high])
    assert "training values" not in control.inner_text()


def test_sliders_move_the_prediction_by_keyboard(model, flats, path, open_page):
    opened = open_page(path)
    before = opened.exact
    slider = opened.page.locator("[data-feature='0'] [type=range]")
    slider.focus()
    for _ in range(25):
        opened.page.keyboard.press("ArrowRight")
    assert opened.exact > before  # larger flats cost more
    shown = opened.page.locator("#prediction").text_content().replace(",", "")
    assert float(shown) == pytest.approx(opened.exact, abs=0.51)
    assert "by your changes" in opened.page.locator("#compared").text_content()
    opened.page.locator("#reset").click()
    assert opened.exact == before


def test_rows_of_the_table_can_be_started_from(model, flats, path, open_page):
    X, y = flats
    opened = open_page(path)
    options = opened.page.locator("#row option").all_text_contents()
    assert len(options) == 201
    for k in (1, 77, 200):
        opened.page.locator("#row").select_option(index=k)
        number = int(options[k].split()[1])
        row = X[1_200:].iloc[[number]]
        assert opened.exact == pytest.approx(model.predict(row)[0], rel=1e-9)
        falls = opened.page.locator("#falls").text_content()
        contributions = explain.local(model, row).contributions
        for s, value in enumerate(contributions):
            text = f"{value:+,.0f}".replace("-", "\N{MINUS SIGN}")
            assert f"stage {s}" in falls
            assert text in falls or abs(value) < 0.5
        assert f"{y[1_200 + number]:,.0f}" in opened.page.locator("#compared").text_content()


def link(opened):
    """The part of the address that holds the state; it is written after a moment of rest."""
    # A later timer of the page itself: however slow the machine, it fires after the earlier one.
    return opened.page.evaluate("new Promise((done) => setTimeout(() => done(location.hash), 300))")


def test_a_link_restores_the_state(path, open_page):
    first = open_page(path)
    first.page.locator("#row").select_option(index=5)
    first.page.locator("[data-feature='0'] [type=number]").fill("123.25")
    first.page.locator("[data-feature='5'] [aria-label$='is missing']").click()
    first.page.locator("#feature-4").select_option(label="harbour")
    first.page.locator("#feature-7").select_option(label="(any other)")
    fragment = link(first)
    again = open_page(path, fragment=fragment)
    assert again.exact == first.exact
    assert link(again) == fragment
    assert again.page.locator("[data-feature='5'] [aria-label$='is missing']").is_checked()
    number = first.page.locator("[data-feature='0'] [type=number]")
    first.page.locator("#row").select_option(index=5)
    assert "&0=n" not in link(first)
    nearly = float(number.input_value()) * (1 + 1e-10)
    number.fill(repr(nearly))
    assert f"&0=n{nearly!r}" in link(first)  # a change too small for its text is one
    broken = open_page(path, fragment="#row=99999&0=nowhere&4=lno+such&77=m&1=n")
    assert np.isfinite(broken.exact)


@pytest.mark.parametrize("width", [400, 820, 1280])
def test_nothing_scrolls_sideways(path, open_page, width):
    opened = open_page(path, width=width, scheme="dark")
    opened.page.evaluate("document.querySelectorAll('details').forEach((d) => { d.open = true; })")
    opened.page.wait_for_timeout(200)
    assert opened.page.evaluate("document.documentElement.scrollWidth") <= width
    paper = opened.page.evaluate("getComputedStyle(document.body).backgroundColor")
    opened.page.locator("#theme").click()
    assert opened.page.evaluate("getComputedStyle(document.body).backgroundColor") != paper


def test_multiples_beside_an_axis_do_not_cover_each_other(browser):
    scripts = resources.files("seplearn.report") / "page" / "charts.js"
    page = browser.new_page()
    page.add_script_tag(content=scripts.read_text(encoding="utf-8"))
    for low, high in ((0.6, 1.35), (0.75, 1.5), (0.9, 1.12), (0.3, 2.2), (0.01, 90.0)):
        ends = math.log(low), math.log(high)
        ticks = sorted(page.evaluate("(ends) => multipleTicks(...ends)", ends))
        assert 0.0 in ticks  # times one: where the feature changes nothing
        assert min(np.diff([*ticks, math.inf])) > (ends[1] - ends[0]) / 8


def test_it_tells_how_good_the_model_is_and_what_stages_say(model, flats, path, open_page):
    X, y = flats
    opened = open_page(path)
    told = model.evaluate(X[1_200:], y[1_200:])
    assert f"{told.rmse:.3g}" in opened.page.locator("#quality").inner_text()
    assert f"{100 * told.r2:.0f} %" in opened.page.locator("#quality").inner_text()
    sentences = explain.roles(model, background=X[1_200:]).sentences
    stages = opened.page.locator("#stages").inner_text()
    assert all(sentence in stages for sentence in sentences)
    assert all(name in stages for name in model.stage_names_)
    summary, short = explain.summary(model, background=X[1_200:]), opened.page.locator("#short")
    assert all(line in short.inner_text() for _, part in summary.sections for line in part)
    first = opened.page.locator("#matters table").first.inner_text().split("\n")[0]
    assert first.startswith(summary.features[0].name)
    assert opened.page.locator("#stages details[open] svg").count() > 0
    tilts = explain.importance(model, background=X[1_200:], kind="paper").total_tilt
    opened.page.locator("#importance summary").click()
    turning = opened.page.locator("#importance table").nth(1).inner_text().split("\n")[0]
    assert turning.startswith(X.columns[int(np.argmax(tilts))])
    opened.page.evaluate("dispatchEvent(new Event('beforeprint'))")
    assert opened.page.locator("#stages details:not([open])").count() == 0


def test_hostile_names_and_levels_are_text(tmp_path, open_page):
    random = np.random.default_rng(0)
    numbers = {name: random.normal(size=600) for name in HOSTILE}
    X = pd.DataFrame(numbers | {"level": random.choice(LEVELS, 600)})
    y = pd.Series(X[HOSTILE[0]] * 2 + (X["level"] == LEVELS[0]), name="</title><script>alert(1)")
    model = TSLRegressor(2, early_stopping=False, random_state=0).fit(X, y)
    path = tmp_path / "hostile.html"
    report.write_report(model, path, X[:50], y[:50])
    opened = open_page(path, width=400)
    labels = opened.page.locator(".control label[for]").all_text_contents()
    assert sorted(labels) == sorted([*HOSTILE, "level"])
    texts = opened.page.locator("[data-feature='5'] option").all_text_contents()
    assert texts[:4] == sorted(LEVELS)
    assert opened.page.evaluate("document.images.length") == 0
    assert opened.page.evaluate("document.scripts.length") == 2
    assert opened.page.evaluate("document.documentElement.scrollWidth") <= 400
    opened.page.locator("#feature-5").select_option(label=LEVELS[0])
    fragment = link(opened)
    assert open_page(path, fragment=fragment).exact == opened.exact


ALIKE = {
    "begin alike": (
        [f"a long name of district {k} north" for k in range(3)],
        ["\u2026rict 0 north", "\u2026rict 1 north", "\u2026rict 2 north"],
    ),
    "one is the start of others": (
        ["a long name of a district", "a long name of a district 2", "short"],
        ["\u2026f a district", "\u2026f a distric\u2026", "short"],
    ),
    "named like a bin": (["(rare)", "yes", "no"], ["(rare)", "yes", "no"]),
}


@pytest.mark.parametrize(("names", "shown"), ALIKE.values(), ids=ALIKE.keys())
def test_levels_that_begin_alike_can_be_told_apart(names, shown, tmp_path, open_page):
    random = np.random.default_rng(0)
    numbers = np.r_[np.repeat(np.arange(3), 40), [0]]
    levels = np.r_[np.array(names, dtype=object)[numbers[:-1]], ["seen once"]]
    y = 100_000.0 * numbers + random.normal(size=121)
    model = TSLRegressor(n_stages=0, early_stopping=False, random_state=0)
    path = tmp_path / "levels.html"
    report.write_report(model.fit(pd.DataFrame({"level": levels}), y), path)
    opened = open_page(path)
    texts = opened.page.locator("[data-feature='0'] text.name").evaluate_all(
        "all => all.map((one) => one.lastChild.textContent)"
    )
    assert set(shown) <= set(texts)
    opened.check_quiet()


def test_other_kinds_of_models_have_pages_too(flats, tmp_path, open_page):
    X, y = flats
    single = TSLRegressor.paper(2, n_grids=3, products="single", random_state=0)
    constant = TSLRegressor(1, early_stopping=False, random_state=0)
    models = {
        "signed": SepALSRegressor(rank=2, random_state=0).fit(X, y),
        "single": single.fit(X, y),
        "constant": constant.fit(X[:50], np.full(50, 3.0)),
        "bare": TSLRegressor(1, background_size=0, random_state=0, early_stopping=False).fit(X, y),
    }
    for name, model in models.items():
        path = tmp_path / f"{name}.html"
        report.write_report(model, path)
        opened = open_page(path)
        rows = X[:3].assign(street="road")
        for k in range(3):
            axes, row = model.model_.bins.axes, rows.iloc[k]
            entered = [on_the_page(axis, v) for axis, v in zip(axes, row, strict=True)]
            shown = float(opened.page.evaluate(SET_ROW, entered))
            assert shown == pytest.approx(model.predict(rows[k : k + 1])[0], rel=1e-9), name


@pytest.fixture(scope="module")
def houses():
    """Years of which there are two, and sizes with a heavy tail, far from zero."""
    random = np.random.default_rng(0)
    n = 400
    X = pd.DataFrame(
        {
            "year": random.choice([2014.0, 2015.0], n, p=[0.7, 0.3]),
            "share": random.choice([0.1 + 0.2, 1 / 3, 0.7], n),
            "size": 1000.0 + np.round(random.lognormal(0, 2, n), 3),
            "alike": np.full(n, 17.0),
        }
    )
    y = X["year"] - 2014 + np.log(X["size"] - 999) * X["share"]
    model = TSLRegressor(2, early_stopping=False, random_state=0).fit(X, y)
    return model, X


SLIDE = "(node, place) => { node.value = place; node.dispatchEvent(new Event('input')); }"


def test_the_typical_row_and_the_ends_of_sliders_lie_in_the_data(houses, tmp_path, open_page):
    model, X = houses
    path = tmp_path / "houses.html"
    report.write_report(model, path)
    opened = open_page(path)
    for j, name in enumerate(X):
        box = opened.page.locator(f"[data-feature='{j}']")
        few = set(X[name].unique()) if X[name].nunique() < 10 else None
        low, high = model.model_.bins.axes[j].range
        last = int(box.locator("[type=range]").get_attribute("max"))
        for place in (None, 0, last):
            if place is not None:
                box.locator("[type=range]").evaluate(SLIDE, place)
            value = float(box.locator("[type=number]").input_value())
            assert low <= value <= high, (name, place, value)
            assert few is None or value in few, (name, place, value)
            assert "training values" not in box.inner_text()
            assert place is None or int(box.locator("[type=range]").input_value()) == place


def test_edits_are_told_as_text(model, tmp_path, open_page):
    edited = model.edit().clip("area", (20, 90)).apply(reason="<img src=x onerror=alert(1)>")
    report.write_report(edited, tmp_path / "report.html")
    opened = open_page(tmp_path / "report.html")
    told = opened.page.locator("#edits li").all_inner_texts()
    assert told == ["clip(feature='area', limits=[20, 90]): <img src=x onerror=alert(1)>"]
    opened.check_quiet()


@pytest.mark.parametrize("loss", ["squared_error", "poisson"])
def test_intervals_of_outcomes_are_those_of_the_model(loss, flats, tmp_path, open_page):
    X, y = flats
    y = y if loss == "squared_error" else (y // 300).rename("rooms let")
    model = TSLRegressor(1, loss=loss, n_grids=1, random_state=0).fit(X[:400], y[:400])
    path = tmp_path / "outcomes.html"
    report.write_report(model, path, X[1_200:], y[1_200:])
    opened = open_page(path)
    rows = random_rows(X, 15, 4)
    widths = set()
    for level in (0.9, 0.5):
        opened.page.select_option("#outcome-level", label=f"{level:.0%}".replace("%", " %"))
        expected = model.predict_interval(rows, level)
        for row, ends in zip(rows.itertuples(index=False), expected, strict=True):
            opened.page.evaluate(SET_ROW, entered(model, row))
            shown = opened.page.inner_text("#exact-outcomes").split(" to ")
            assert [float(end) for end in shown] == pytest.approx(list(ends), rel=1e-9, abs=1e-9)
            widths.add(round(float(ends[1] - ends[0]), 6))
    assert len(widths) > (5 if loss == "squared_error" else 1)  # they follow the row
    low, high = model.predict_interval(X[1_200:]).T
    inside = np.mean((low <= y[1_200:]) & (y[1_200:] <= high))
    assert f"{inside:.0%}".replace("%", " %") in opened.page.inner_text("#quality")
    assert "in intervals meant for 90 %" in opened.page.inner_text("#quality")


def test_a_model_without_held_out_rows_has_no_intervals_of_outcomes(path, open_page):
    assert open_page(path).page.locator("#outcomes").count() == 0
