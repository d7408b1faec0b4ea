"""The page of two models in a real browser."""

import numpy as np
import pandas as pd
import pytest

from seplearn import TSLRegressor, explain, report
from tests.report.test_page import HOSTILE, LEVELS


@pytest.fixture(scope="module")
def written(tmp_path_factory):
    random = np.random.default_rng(0)
    X = pd.DataFrame({name: random.normal(size=300) for name in HOSTILE})
    X = X.assign(level=random.choice(LEVELS, 300))
    X.loc[::7, HOSTILE[1]] = np.nan
    y = X[HOSTILE[0]] * 2 + (X["level"] == LEVELS[0]) + X[HOSTILE[3]] ** 2
    options = {"early_stopping": False, "random_state": 0, "max_bins": 30}
    first = TSLRegressor(1, **options).fit(X[:200], y[:200])
    second = TSLRegressor(2, **options).fit(X[:200].drop(columns=HOSTILE[3]), y[:200])
    path = tmp_path_factory.mktemp("compare") / "diff.html"
    names = ("<b>old</b>", "</script>new")
    result = report.write_comparison(first, second, path, X[200:], y[200:], models=names)
    return path, result, (first, second), X


@pytest.mark.parametrize("width", [400, 1280])
def test_it_opens_quietly_and_shows_what_python_found(written, browser, width):
    path, result, models, X = written
    context = browser.new_context(viewport={"width": width, "height": 900}, offline=True)
    page, complaints = context.new_page(), []
    page.on("console", lambda message: complaints.append(message.text))
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.on("dialog", lambda dialog: complaints.append(dialog.message))
    page.goto(path.as_uri())
    for sentence in result.sentences:
        assert sentence in page.locator("#short").text_content()
    shown = page.locator("#rows td[data-value]").evaluate_all(
        "(cells) => cells.map((cell) => Number(cell.dataset.value))"
    )
    np.testing.assert_allclose(shown, result.differences[result.worst], rtol=1e-12)
    drawn = page.locator("[data-curve]").evaluate_all(
        "(all) => all.map((one) => one.dataset.curve)"
    )
    assert drawn == [n for n, size in zip(result.names, result.sizes, strict=True) if size > 0]
    assert len(drawn) > 2
    assert page.locator("#curves svg").count() == len(drawn)
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert page.evaluate("document.images.length") == 0
    assert complaints == []
    context.close()
    again = explain.compare(*models, X[200:])
    assert again.names == result.names
