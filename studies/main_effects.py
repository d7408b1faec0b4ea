"""The paper's examples with main effects beside the products, and without."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import numpy as np
import pandas as pd
from matplotlib.figure import Figure
from sklearn.model_selection import train_test_split

from seplearn import TSLRegressor, datasets
from studies import bimodal_bags, identifiability
from studies.page import SERIES, Page, Shown, listed, new_figure, rmse, tidy
from studies.tables import Source, Table

FORMS: dict[str, Literal["auto"] | bool] = {"without": False, "with": True, "chosen": "auto"}
REAL = ("california_housing", "bike_sharing", "kings_county")
CURVES = "curves to read"


@dataclass(frozen=True)
class Settings:
    """Rows of made examples, rows at most of tables, and how many seeds an example has."""

    n_rows: int = 5_000
    most_rows: int = 20_000
    n_seeds: int = 3


FULL = Settings()
TINY = Settings(n_rows=600, most_rows=500, n_seeds=1)

# The paper's made examples: rows of a seed.
MADE: dict[str, Callable[[int, int], Table]] = {
    "masked interaction": lambda n, seed: datasets.masked_interaction(
        n, as_frame=True, random_state=seed
    ),
    "bimodal bags": bimodal_bags.sample,
    "two squares": identifiability.sample,
}


def run(settings: Settings, source: Source) -> Page:
    """Measure, draw, tell."""
    return page(measure({name: source.load(name) for name in REAL}, settings))


def measure(tables: dict[str, Table], settings: Settings) -> pd.DataFrame:
    """A row for every example, form and seed: error, size, and whether there are main effects."""
    rows = []
    for seed in range(settings.n_seeds):
        examples = {name: make(2 * settings.n_rows, seed) for name, make in MADE.items()}
        examples |= {name: (X[: settings.most_rows], y[: settings.most_rows])
                     for name, (X, y) in tables.items()}  # fmt: skip
        for name, (X, y) in examples.items():
            size = 0.5 if name in MADE else 0.2
            parts = train_test_split(X, y, test_size=size, random_state=seed)
            rows += [_row(name, form, seed, *parts) for form in FORMS]
    return pd.DataFrame(rows)


def _row(
    name: str,
    form: str,
    seed: int,
    X: pd.DataFrame,
    X_test: pd.DataFrame,
    y: np.ndarray,
    y_test: np.ndarray,
) -> dict[str, object]:
    model = TSLRegressor(main_effects=FORMS[form], random_state=seed).fit(X, y)
    return {
        "example": name,
        "main effects": form,
        "seed": seed,
        "RMSE": rmse(y_test, model.predict(X_test)),
        "products": len(model.stages_),
        CURVES: model.reading_size_,
        "has them": model.model_.effects is not None,
    }


def by_form(measured: pd.DataFrame) -> pd.DataFrame:
    """Means over seeds, an example a row; errors beside those without main effects."""
    means = measured.groupby(["example", "main effects"], sort=False).mean(numeric_only=True)
    rows = []
    for name in measured["example"].unique():
        own = means.loc[name]
        error = own["RMSE"]
        rows.append(
            {
                "example": name,
                "RMSE without": error["without"],
                "with / without": error["with"] / error["without"],
                "chosen / without": error["chosen"] / error["without"],
                "chosen has them": f"{100 * own['has them']['chosen']:.0f} %",
                "curves without": own[CURVES]["without"],
                "curves with": own[CURVES]["with"],
                "curves chosen": own[CURVES]["chosen"],
            }
        )
    return pd.DataFrame(rows)


def page(measured: pd.DataFrame) -> Page:
    """The page, every number from what was measured."""
    table = by_form(measured)
    n_seeds = measured["seed"].nunique()
    return Page(
        name="main_effects",
        title="Main effects beside products, and without",
        summary=_summary(table),
        claims=[],
        tables={"fits": measured, "forms": table},
        shown_tables={f"Test errors and sizes, means over {n_seeds} seeds": table},
        figures=[
            Shown(
                "errors",
                _draw(table),
                "Test RMSE with main effects, and of the form that a fit chooses by rows held out, "
                "over that of products alone.",
            )
        ],
        notes=[
            (
                "A made example has as many rows to test as to fit, another sample with every "
                "seed; a table is split 80/20. Curves to read are backbones, tilts and main "
                "effects that are not exactly flat."
            ),
            "The paper's model has no main effects; they are this library's addition.",
        ],
    )


def _summary(table: pd.DataFrame) -> list[str]:
    better = table[table["with / without"] < 0.99]["example"].tolist()
    worse = table[table["with / without"] > 1.01]["example"].tolist()
    said = []
    for verb, names in (("lower", better), ("raise", worse)):
        if names:
            said.append(f"they {verb} the error by more than 1 % on {listed(names)}")
    told = "; ".join(said) or "they change no error by more than 1 %"
    least, most = table["chosen / without"].min(), table["chosen / without"].max()
    return [
        (
            "The paper's model is a sum of products alone. This library may begin with a main "
            "effect for each feature, and asks rows held out which form predicts better."
        ),
        (
            f"With main effects always, {told}. The form that is chosen has between "
            f"{least:.3f} and {most:.3f} times the error of products alone."
        ),
    ]


def _draw(table: pd.DataFrame) -> Figure:
    figure = new_figure(7.0, 2.6)
    ax = figure.subplots()
    places = np.arange(len(table))[::-1]
    for colour, column, word in (
        (SERIES[1], "with / without", "with main effects"),
        (SERIES[0], "chosen / without", "chosen"),
    ):
        ax.plot(table[column], places, "o", color=colour, label=word, markersize=6)
    ax.axvline(1.0, color="0.6", linewidth=0.8)
    ax.set_yticks(places, table["example"])
    tidy(ax, "", "RMSE / RMSE of products alone", "")
    ax.legend(frameon=False, fontsize=8, loc="best")
    return figure
