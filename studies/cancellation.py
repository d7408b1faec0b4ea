"""Signal cancellation: exact Shapley values of zero for a feature that acts.

Two functions of a feature x1 that scales and of switches that direct. In one group of rows the
main effect and the interactions of x1 cancel in its Shapley value, while the prediction moves with
x1 as much as anywhere.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import product
from math import factorial
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from seplearn import TSLRegressor, explain
from studies.page import DARK, DOWN, GRID, QUIET, Page, Shown, new_figure, number, rmse, tidy
from studies.reading import curve_at
from studies.tables import Source


@dataclass(frozen=True)
class Example:
    """A function of x1 and of switches.

    Attributes
    ----------
    name, formula : str
    groups : tuple of tuple of float
        Values of the switches; rows are spread over the groups evenly.
    amplitude : function of the switches
        What x1's curve g(x1) is multiplied by.
    blind : tuple of float
        The group in which the Shapley value of x1 is zero.
    n_stages : int
        Stages that are enough for it.
    """

    name: str
    formula: str
    groups: tuple[tuple[float, ...], ...]
    amplitude: Callable[[tuple[float, ...]], float]
    blind: tuple[float, ...]
    n_stages: int

    @property
    def names(self) -> list[str]:
        return [f"x{j + 1}" for j in range(1 + len(self.groups[0]))]


# With x2 = 1 in one row of three: main effect g, interaction -2 g in that group, and half of the
# interaction is x1's share: g - g = 0.
ONE_SWITCH = Example(
    "one switch",
    "2 g(x1) for x2 = 0 (two rows of three), −g(x1) for x2 = 1",
    ((0.0,), (0.0,), (1.0,)),
    lambda switches: -1.0 if switches[0] else 2.0,
    (1.0,),
    1,
)
# x2, x3 = ±1: no main effect of x1 at all. For both 1, pairs give x1 half of 2 g, the triple a
# third of -3 g: again nothing, although the function is -g there.
TWO_SWITCHES = Example(
    "two switches",
    "g(x1) (x2 + x3 − 3 x2 x3), x2, x3 = ±1",
    tuple(product((-1.0, 1.0), repeat=2)),
    lambda switches: switches[0] + switches[1] - 3.0 * switches[0] * switches[1],
    (1.0, 1.0),
    3,
)
EXAMPLES = (ONE_SWITCH, TWO_SWITCHES)


def g(x1: np.ndarray) -> np.ndarray:
    """The curve of x1, positive: loud at both ends, quiet in the middle."""
    return 0.1 + x1**2


@dataclass(frozen=True)
class Settings:
    """How large the study is: different values of x1, each combined with every group."""

    n_values: int = 400


FULL = Settings()
TINY = Settings(n_values=60)


@dataclass(frozen=True)
class Measured:
    """One example: its rows, the fitted model, and three views of x1.

    Attributes
    ----------
    X, y : table and target
        Every value of x1 with every group: x1 is independent of the switches, exactly.
    model : fitted TSLRegressor
    shapley : array of shape (n,)
        Shapley values of x1 by the closed form, for the fitted model.
    true_shapley : array of shape (n,)
        Those of the function itself, by going through all coalitions.
    """

    example: Example
    X: pd.DataFrame
    y: np.ndarray
    model: TSLRegressor
    shapley: np.ndarray
    true_shapley: np.ndarray

    @property
    def blind(self) -> np.ndarray:
        """The rows of the group in which x1 gets nothing."""
        return (self.X[self.example.names[1:]].to_numpy() == self.example.blind).all(axis=1)

    @property
    def dependence(self) -> explain.PartialDependence:
        return explain.partial_dependence(self.model, "x1", background=self.X)

    def numbers(self) -> dict[str, Any]:
        """How much x1 acts in the group, and what each view says of it."""
        blind = self.blind
        prediction = self.model.predict(self.X)
        values = np.unique(self.X["x1"])
        curve = self.dependence.at(values[:, None])
        backbone = curve_at(_loudest(self.model)["x1"], "backbone", values)
        return {
            "example": self.example.name,
            "RMSE": rmse(self.y, prediction),
            "prediction moves by": float(prediction[blind].std()),
            "true Shapley value, largest": float(np.abs(self.true_shapley[blind]).max()),
            "fitted Shapley value, sd": float(self.shapley[blind].std()),
            "elsewhere, sd": float(self.shapley[~blind].std()),
            "PD moves by": float(curve.std()),
            "PD and prediction, correlation": _correlation(
                self.dependence.at(self.X[["x1"]].to_numpy()[blind]), prediction[blind]
            ),
            "backbone and g, correlation": _correlation(backbone, g(values)),
        }


def _correlation(first: np.ndarray, second: np.ndarray) -> float:
    return float(np.corrcoef(first, second)[0, 1])


def _loudest(model: TSLRegressor) -> explain.StageCurves:
    """The curves of the stage with the largest contributions."""
    return explain.curves(model, int(np.argmax(explain.stages(model).mean_size)))


def run(settings: Settings, source: Source | None = None) -> Page:  # noqa: ARG001
    """Measure, draw, tell."""
    return page([measure(example, settings) for example in EXAMPLES])


def measure(example: Example, settings: Settings) -> Measured:
    """Fit the function without noise and share its predictions out among the features."""
    values = np.linspace(-2.0, 2.0, settings.n_values)
    rows = [(x1, *group) for x1 in values for group in example.groups]
    X = pd.DataFrame(rows, columns=example.names)
    y = function(example, X.to_numpy())
    options: dict[str, Any] = {"early_stopping": False, "random_state": 0, "n_jobs": -1}
    # Without a constant, as in the paper: what x1 does is then in products with it alone.
    model = TSLRegressor(n_stages=example.n_stages, fit_intercept=False, **options).fit(X, y)
    shown = explain.shapley(model, X, background=X, n_jobs=-1)
    return Measured(example, X, y, model, shown.values[:, 0], true_shapley(example, X.to_numpy()))


def function(example: Example, rows: np.ndarray) -> np.ndarray:
    """The example's values at rows."""
    amplitudes = [example.amplitude(tuple(switches)) for switches in rows[:, 1:]]
    return g(rows[:, 0]) * np.array(amplitudes)


def true_shapley(example: Example, rows: np.ndarray) -> np.ndarray:
    """Shapley values of x1 for the function itself, its features distributed as in the rows.

    x1 and the switches are independent in the rows, so means over coalitions are products of the
    mean of g and means over groups.
    """
    groups = np.array(example.groups)
    amplitude = np.array([example.amplitude(tuple(group)) for group in groups])
    n_switches = groups.shape[1]
    p = n_switches + 1
    gain = g(rows[:, 0]) - g(rows[:, 0]).mean()
    total = np.zeros(len(rows))
    for known in product((False, True), repeat=n_switches):
        chosen = np.array(known)
        same = (groups[None, :, :] == rows[:, None, 1:]) | ~chosen
        inside = same.all(axis=2)
        mean = (inside * amplitude).sum(axis=1) / inside.sum(axis=1)
        total += _weight(int(chosen.sum()), p) * gain * mean
    return total


def _weight(size: int, p: int) -> float:
    """Share of the orders of p features in which exactly ``size`` given ones come before x1."""
    return factorial(size) * factorial(p - size - 1) / factorial(p)


def page(measured: list[Measured]) -> Page:
    """The page, every number from what was measured."""
    numbers = [each.numbers() for each in measured]
    shown = {
        each["example"]: pd.DataFrame({"what": list(each)[1:], "value": list(each.values())[1:]})
        for each in numbers
    }
    caption = (
        "x1 by partial dependence, Shapley values (pink: the group in which they cancel) and the "
        "backbone of the loudest stage; the predictions themselves on the left."
    )
    return Page(
        name="cancellation",
        title="Signal cancellation: Shapley values of zero for a feature that acts",
        summary=_summary(*numbers),
        claims=_claims(*numbers),
        tables={"numbers": pd.DataFrame(numbers), "rows": _rows(measured)},
        shown_tables=shown,
        figures=[Shown("three_views", _draw(measured), caption)],
        notes=_notes(measured),
    )


def _rows(measured: list[Measured]) -> pd.DataFrame:
    """Predictions and Shapley values of every row."""
    parts = []
    for each in measured:
        columns = {"prediction": each.model.predict(each.X), "shapley": each.shapley}
        columns |= {"true_shapley": each.true_shapley, "blind": each.blind}
        parts.append(each.X.assign(example=each.example.name, **columns))
    return pd.concat(parts)


def _summary(one: dict[str, Any], two: dict[str, Any]) -> list[str]:
    what = (
        "g(x1) = 0.1 + x1² is multiplied by an amplitude that depends on switches. In one group of "
        "rows the interactions of x1 take back in its Shapley value what its main effect or its "
        "other interactions give: the value is zero for every x1, and yet the prediction moves "
        f"with x1 by {number(one['prediction moves by'], 3)} and "
        f"{number(two['prediction moves by'], 3)} (standard deviation) there."
    )
    seen = (
        "The first example has one switch. Partial dependence shows a curve, but of the wrong "
        "direction for this group (correlation with its predictions "
        f"{one['PD and prediction, correlation']:.3f}). The second has two, and partial dependence "
        f"is flat as well (it moves by {number(two['PD moves by'], 2)}). The backbone of x1 has "
        f"the form of g in both (correlation {one['backbone and g, correlation']:.3f} and "
        f"{two['backbone and g, correlation']:.3f}): it is positive and cannot cancel."
    )
    return [what, seen]


def _claims(one: dict[str, Any], two: dict[str, Any]) -> list[tuple[str, str]]:
    def both(key: str) -> str:
        return f"{number(one[key], 2)} and {number(two[key], 2)}"

    shapley = (
        "In the group, largest size of the Shapley value of x1, for the function: "
        f"{both('true Shapley value, largest')}; for the fitted model (standard deviation): "
        f"{both('fitted Shapley value, sd')}, against {both('elsewhere, sd')} in the other groups"
    )
    dependence = (
        f"It moves by {number(one['PD moves by'], 2)} in the first example and by "
        f"{number(two['PD moves by'], 2)} in the second, which has no main effect"
    )
    backbone = (
        "Correlation of the backbone of x1 with g: "
        f"{one['backbone and g, correlation']:.3f} and {two['backbone and g, correlation']:.3f}"
    )
    return [
        ("A Shapley value of zero does not mean that the feature is inactive.", shapley),
        ("Partial dependence recovers the main effect only.", dependence),
        ("The backbone is a size that cannot cancel.", backbone),
    ]


def _notes(measured: list[Measured]) -> list[str]:
    roles = "; ".join(
        f"{each.example.name}: “{explain.roles(each.model).sentences[0]}”" for each in measured
    )
    exact = (
        "Shapley values are interventional and exact: for the functions by going through all "
        "coalitions, for the fitted models by `explain.shapley`. They differ from zero by as much "
        "as the fit differs from the function."
    )
    functions = "; ".join(f"{example.name}: {example.formula}" for example in EXAMPLES)
    return [f"The functions: {functions}.", exact, f"`explain.roles` says: {roles}."]


def _draw(measured: list[Measured]) -> Figure:
    figure = new_figure(8.8, 2.6 * len(measured))
    axes = figure.subplots(len(measured), 4, squeeze=False, sharex=True)
    for row, each in zip(axes, measured, strict=True):
        x1, blind = each.X["x1"].to_numpy(), each.blind
        for ax, shown in zip(row[[0, 2]], (each.model.predict(each.X), each.shapley), strict=True):
            ax.plot(x1[~blind], shown[~blind], ".", color=QUIET, markersize=2)
            ax.plot(x1[blind], shown[blind], ".", color=DOWN, markersize=3)
            ax.axhline(0.0, color=GRID, linewidth=0.8, zorder=0)
        values = np.linspace(-2.0, 2.0, 300)
        row[1].plot(values, each.dependence.at(values[:, None]), color=DARK, linewidth=1.6)
        row[1].axhline(0.0, color=GRID, linewidth=0.8, zorder=0)
        for ax in row[1:3]:
            ax.set_ylim(row[0].get_ylim())
        backbone = curve_at(_loudest(each.model)["x1"], "backbone", values)
        row[3].plot(values, backbone, color=DARK, linewidth=1.6)
        row[3].set_ylim(0.0, None)
        titles = ("predictions", "partial dependence", "Shapley values of x1", "backbone of x1")
        for ax, title in zip(row, titles, strict=True):
            tidy(ax, title, "x1")
        row[0].set_ylabel(each.example.name, fontsize=9)
    return figure
