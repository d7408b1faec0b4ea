"""House prices along a longitude: how calm curves are, and whether another seed draws the same."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.figure import Figure
from sklearn.model_selection import train_test_split

from seplearn import TSLRegressor, explain
from studies.page import COLOURS, GRID, SERIES, Page, Shown, new_figure, number, rmse, tidy
from studies.reading import wander
from studies.tables import Source

PAPER, FIRST, SECOND = "TSL, paper mode", "TSL", "TSL, another seed"
FEATURE = "long"
TURNS, MOVEMENT = "turns of a curve, median", "dependence on longitude: movement / range"


@dataclass(frozen=True)
class Settings:
    """How large the study is: stages and grids of the paper's mode."""

    n_stages: int = 10
    n_grids: int = 20


FULL = Settings()
TINY = Settings(n_stages=2, n_grids=5)


@dataclass(frozen=True)
class Measured:
    """Models and their dependence on the longitude.

    Attributes
    ----------
    models : dict of str to fitted model
    lines : DataFrame
        Longitude, share of the rows, and the partial dependence of every model, bin by bin.
    sizes : DataFrame
        Test RMSE, curves to read and their turning points, model by model.
    """

    models: dict[str, Any]
    lines: pd.DataFrame
    sizes: pd.DataFrame


def run(settings: Settings, source: Source) -> Page:
    """Measure, draw, tell."""
    X, y = source.load("kings_county")
    return page(measure(X, y, settings))


def measure(X: pd.DataFrame, y: np.ndarray, settings: Settings) -> Measured:
    """Fit all models to one split and read the curves."""
    X_train, X_test, y_train, y_test = train_test_split(X, y, test_size=0.2, random_state=0)
    paper = TSLRegressor.paper(settings.n_stages, n_grids=settings.n_grids, random_state=0)
    candidates: dict[str, TSLRegressor] = {
        PAPER: paper,
        FIRST: TSLRegressor(random_state=0),
        SECOND: TSLRegressor(random_state=1),
    }
    models = {name: model.fit(X_train, y_train) for name, model in candidates.items()}
    lines = _lines(models)
    errors = {name: rmse(y_test, model.predict(X_test)) for name, model in models.items()}
    rows = [
        {
            "model": name,
            "test RMSE": errors[name],
            "stages": len(model.stages_),
            "curves to read": model.reading_size_,
            TURNS: float(np.median(model.turning_points_)),
            MOVEMENT: wander(lines[name].to_numpy()),
        }
        for name, model in models.items()
    ]
    return Measured(models, lines, pd.DataFrame(rows))


def _lines(models: dict[str, Any]) -> pd.DataFrame:
    """The dependence in every bin that has rows; all models have the same bins."""
    tables = {
        name: pd.DataFrame(explain.partial_dependence(model, FEATURE).frame())
        for name, model in models.items()
    }
    first = next(iter(tables.values()))
    lines = first[[FEATURE, "frequency"]].assign(**{name: t["pd"] for name, t in tables.items()})
    return lines[(lines["frequency"] > 0) & lines[FEATURE].notna()].reset_index(drop=True)


def agreement(lines: pd.DataFrame) -> float:
    """Correlation over the rows of the dependence in two fits that differ by their seed."""
    both = np.cov(lines[FIRST], lines[SECOND], aweights=lines["frequency"])
    return float(both[0, 1] / np.sqrt(both[0, 0] * both[1, 1]))


def page(measured: Measured) -> Page:
    """The page, every number from what was measured."""
    sizes = measured.sizes.set_index("model")
    turns, movement = sizes[TURNS], sizes[MOVEMENT]
    return Page(
        name="longitude",
        title="House prices in King County: calm curves",
        summary=[
            (
                "The longitude decides much about a price: the waterfront, the lake, the suburbs "
                "beyond. A curve over it may have many turns for a reason, but not where rows are "
                "few, nor others with another seed. Smoothness is learned for every curve, and a "
                "curve that says nothing is flat."
            ),
            (
                f"Turning points of a curve in the median: {number(turns[FIRST])}, in the paper's "
                f"mode {number(turns[PAPER])}. All ups and downs of the dependence on the "
                f"longitude together come to {number(movement[FIRST], 3)} times its range, in the "
                f"paper's mode to {number(movement[PAPER], 3)} times. With another seed it has a "
                f"correlation of {agreement(measured.lines):.3f} with the first, over the rows. "
                "The paper's mode has calm curves too, but of few steps that see little of it."
            ),
        ],
        claims=[],
        tables={"lines": measured.lines, "sizes": measured.sizes},
        shown_tables={"Errors, sizes and turning points": measured.sizes},
        figures=[
            Shown(
                "dependence",
                _draw(measured.lines),
                "Partial dependence of the price on the longitude, the mean left out; below, the "
                "share of the rows, in steps of a fortieth of the range.",
            )
        ],
        notes=[
            (
                "One split, 80/20. A turn is a change of direction by more than a hundredth of the "
                "curve's range; bins without rows are passed over. Curves to read are backbones, "
                "tilts and main effects that are not exactly flat."
            ),
            "A question of this library's own, not one of the paper's.",
        ],
    )


def _draw(lines: pd.DataFrame) -> Figure:
    figure = new_figure(9.0, 3.4)
    panels = figure.subplots(2, 2, sharex=True, sharey="row", height_ratios=(5, 1))
    values, weight = lines[FEATURE].to_numpy(), lines["frequency"].to_numpy()
    for column, (title, names) in enumerate(
        {"the paper's mode": [PAPER], "the default, two seeds": [FIRST, SECOND]}.items()
    ):
        upper, lower = panels[:, column]
        for k, name in enumerate(names):
            line = lines[name] - np.average(lines[name], weights=weight)
            colour = SERIES[2] if k else COLOURS[name]
            upper.step(values, line / 1000.0, where="mid", color=colour, linewidth=1.2, label=name)
        upper.axhline(0.0, color=GRID, linewidth=0.8, zorder=0)
        tidy(upper, title, "", "price, thousand dollars" if column == 0 else "")
        if len(names) > 1:
            upper.legend(frameon=False, fontsize=8)
        lower.hist(values, bins=40, weights=100.0 * weight, color="0.75")
        tidy(lower, "", "longitude", "% of rows" if column == 0 else "")
    return figure
