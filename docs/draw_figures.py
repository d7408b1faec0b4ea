"""Draw the pictures of the pages again: python docs/draw_figures.py.

Pages show a picture about 740 pixels wide, the first page about 340. Figures are drawn that small,
so that their letters can be read there.
"""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path
from typing import Any

import matplotlib
import matplotlib.pyplot as plt
import pandas as pd
from matplotlib.figure import Figure

from seplearn import TSLRegressor, datasets, explain
from seplearn.report import write_report

FOLDER = Path(__file__).parent / "figures"
TITLE = 10
DPI = 150  # enough for sharp letters; the source archive has to stay small


def main() -> None:
    """Fit both models and draw."""
    matplotlib.use("agg")
    X, y = datasets.masked_interaction(10_000, as_frame=True, random_state=0)
    masked = TSLRegressor(n_stages=2, random_state=0).fit(X, y)
    flats, rents = datasets.rents(random_state=0)
    rents = pd.Series(rents, name="rent")
    rent = TSLRegressor(n_stages=4, n_bootstrap=50, random_state=0).fit(flats, rents)
    figures = {
        "first.png": first(rent),
        "curves.png": explain.curves(masked, 0).plot(),
        "hidden.png": hidden(masked),
        "local.png": local(rent, flats),
        "interactions.png": interactions(rent),
        "pd_floor_lift.png": floor_and_lift(rent),
        "shapley.png": shapley(rent, flats),
        "card.png": card(rent, "area"),
        "card_floor.png": card(rent, "floor"),
    }
    print(explain.summary(rent))  # the sentences beside the card in README
    for name, figure in figures.items():
        figure.savefig(FOLDER / name, dpi=DPI)
    picture_of_page(rent, flats, rents)


def first(model: TSLRegressor) -> Figure:
    """What turns round: the floor with a lift and without, for the first page."""
    figure, ax = plt.subplots(figsize=(3.9, 3.1), layout="constrained")
    explain.partial_dependence(model, ["floor", "lift"]).plot(ax=ax, lines=True)
    ax.set_title("a high floor: dearer with a lift only", fontsize=TITLE)
    return figure


def hidden(model: TSLRegressor) -> Figure:
    """x1 in three views: its average is flat, single rows and the stage are not."""
    figure, (left, middle, right) = plt.subplots(1, 3, figsize=(8.2, 2.9), layout="constrained")
    dependence = explain.partial_dependence(model, "x1")
    dependence.plot(ax=left)
    explain.ice(model, "x1").plot(ax=middle)
    dependence.plot(ax=right, stage=0)
    left.set_ylim(middle.get_ylim())
    left.set_title("partial dependence: flat", fontsize=TITLE)
    middle.set_title("200 rows: not flat", fontsize=TITLE)
    right.set_title("products of stage 0", fontsize=TITLE)
    return figure


def local(model: TSLRegressor, flats: object) -> Figure:
    """One rent, stage by stage."""
    figure: Figure = explain.local(model, flats, row=7).plot(max_features=5)
    figure.set_size_inches(9.6, 3.1)  # a place so narrow would get the waterfall alone
    return figure


def interactions(model: TSLRegressor) -> Figure:
    """Which features of a flat act together."""
    figure, ax = plt.subplots(figsize=(9.0, 3.0), layout="constrained")
    explain.interactions(model).plot(ax=ax, max_features=6)
    return figure


def floor_and_lift(model: TSLRegressor) -> Figure:
    """Two features that act together: in the stage that has both, and in the whole model."""
    figure, (left, right) = plt.subplots(1, 2, figsize=(8.2, 2.9), layout="constrained")
    dependence = explain.partial_dependence(model, ["floor", "lift"])
    bins = model.model_.bins
    both = {*dependence.features}
    stage = next(s for s, one in enumerate(model.stages_) if both <= {*one.features(bins)})
    dependence.plot(ax=left, stage=stage)
    dependence.plot(ax=right)
    left.set_title(f"stage {stage}: {model.stage_names_[stage]}", fontsize=TITLE)
    right.set_title("the whole model", fontsize=TITLE)
    return figure


def shapley(model: TSLRegressor, flats: Any) -> Figure:
    """What moves 300 rents."""
    figure, ax = plt.subplots(figsize=(7.0, 3.6), layout="constrained")
    explain.shapley(model, flats[:300]).plot(ax=ax)
    return figure


def card(model: TSLRegressor, feature: str) -> Figure:
    """All that the model says of a feature."""
    figure: Figure = explain.card(model, feature).plot()
    figure.set_size_inches(9.6, 3.4)
    return figure


def picture_of_page(model: TSLRegressor, flats: Any, rents: Any) -> None:
    """The what-if panel of the report with one value changed; needs Chromium and Playwright."""
    chromium = shutil.which("chromium") or shutil.which("google-chrome")
    if chromium is None:
        print("report.png stays as it is: there is no Chromium")
        return
    from playwright.sync_api import sync_playwright

    with tempfile.TemporaryDirectory() as folder, sync_playwright() as driver:
        path = Path(folder) / "rent.html"
        write_report(model, path, flats, rents)
        browser = driver.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        page = browser.new_page(viewport={"width": 1160, "height": 820}, color_scheme="light")
        page.goto(path.as_uri())
        page.locator("[data-feature='0'] [type=number]").fill("95")
        page.locator("#exact").wait_for()
        page.evaluate("document.activeElement.blur()")
        page.evaluate("document.getElementById('whatif').scrollIntoView()")
        page.wait_for_timeout(500)
        page.screenshot(path=FOLDER / "report.png")
        browser.close()


if __name__ == "__main__":
    main()
