"""Approximation rate: greedy sums of positive separable steps against 2 |D f|_1 / sqrt(r).

A function anchored at zero is the integral of its mixed derivative c over steps,
``f(x) = int c(t) prod_j 1(t_j <= x_j) dt``, so orthogonal greedy approximation by such steps has
an error of at most ``2 |c|_1 / sqrt(r)`` after r of them.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from seplearn import TSLRegressor
from studies.page import DARK, QUIET, SERIES, Page, Shown, listed, new_figure, number, rmse, tidy
from studies.tables import Source

_GREEDY, _PAPER, _JOINT = "greedy steps", "TSL, paper mode", "TSL, joint"


@dataclass(frozen=True)
class Target:
    """A function on the unit cube, zero where a coordinate is, with a known mixed derivative.

    Attributes
    ----------
    name, formula : str
    value, derivative : function of an array of shape (..., p)
        f, and its mixed derivative c.
    norm : function of p
        The L1 norm of the mixed derivative, exactly.
    """

    name: str
    formula: str
    value: Callable[[np.ndarray], np.ndarray]
    derivative: Callable[[np.ndarray], np.ndarray]
    norm: Callable[[int], float]


def _wave(name: str, formula: str, k: int) -> Target:
    """The integral of cos(k pi sum t) from zero to x: the real part of a product of integrals.

    The sum of t modulo one is uniform when one coordinate is, so the mean of its size is 2 / pi.
    """

    def value(x: np.ndarray) -> np.ndarray:
        w = 1j * np.pi * k
        return np.prod((np.exp(w * x) - 1.0) / w, axis=-1).real

    def derivative(t: np.ndarray) -> np.ndarray:
        return np.cos(k * np.pi * t.sum(axis=-1))

    return Target(name, formula, value, derivative, lambda _: 2 / np.pi)


TARGETS = (
    Target(
        "ramp",
        "c = 2 mean(t), f = mean(x) Π x",
        lambda x: np.prod(x, axis=-1) * np.mean(x, axis=-1),
        lambda t: 2.0 * t.mean(axis=-1),
        lambda _: 1.0,
    ),
    _wave("wave", "c = cos(π Σ t)", 1),
    _wave("ripple", "c = cos(3π Σ t)", 3),
)


@dataclass(frozen=True)
class Settings:
    """How large the study is.

    Attributes
    ----------
    cells : tuple of (p, m)
        Dimensions, and cells per axis of the grid on which greedy approximation is exact.
    n_steps : int
        Greedy steps.
    stages : tuple of int
        Numbers of stages fitted; a stage has up to two products.
    n_rows, n_test : int
        Uniform rows without noise to which stages are fitted, and fresh ones to measure on.
    n_grids : int
        Bagged grids of the paper's mode.
    """

    cells: tuple[tuple[int, int], ...] = ((2, 100), (3, 30), (4, 14), (5, 9), (6, 7))
    n_steps: int = 64
    stages: tuple[int, ...] = (1, 2, 4, 8)
    n_rows: int = 10_000
    n_test: int = 20_000
    n_grids: int = 40


FULL = Settings()
TINY = Settings(
    cells=((2, 12), (3, 6)), n_steps=12, stages=(1, 2), n_rows=1_000, n_test=1_000, n_grids=8
)


def run(settings: Settings, source: Source | None = None) -> Page:  # noqa: ARG001
    """Measure, draw, tell."""
    return page(measure(settings), settings)


def measure(settings: Settings) -> pd.DataFrame:
    """Error against r for all targets, dimensions and methods, a row each."""
    parts = []
    for target in TARGETS:
        for p, m in settings.cells:
            values = target.value(cell_centres(p, m))
            parts.append(_rows(target, p, _GREEDY, greedy_errors(values, settings.n_steps)))
            for method, errors in fitted_errors(target, p, settings).items():
                parts.append(_rows(target, p, method, errors))
    return pd.concat(parts, ignore_index=True)


def _rows(target: Target, p: int, method: str, errors: dict[int, float]) -> pd.DataFrame:
    r = np.array(list(errors))
    norm = target.norm(p)
    found = np.array(list(errors.values()))
    columns = {"function": target.name, "p": p, "method": method, "r": r, "error": found}
    size = errors[0]
    bound = np.divide(2.0 * norm, np.sqrt(r), out=np.full(len(r), np.inf), where=r > 0)
    more = {"bound": bound, "norm of D f": norm, "norm of f": size}
    more["sharper bound"] = bound * weighted_norm(target, p) / norm
    return pd.DataFrame({**columns, **more})


def weighted_norm(target: Target, p: int, n_points: int = 100_000) -> float:
    """The integral of |c(t)| times the norm of the step at t, by random points.

    The proof weighs steps by their norms, prod_j sqrt(1 - t_j), before it bounds these by one; with
    them the bound is smaller.
    """
    t = np.random.default_rng(0).random((n_points, p))
    steps = np.sqrt(np.prod(1.0 - t, axis=-1))
    return float(np.mean(np.abs(target.derivative(t)) * steps))


def cell_centres(p: int, m: int) -> np.ndarray:
    """The middles of m**p cells of the unit cube, shape (m, ..., m, p)."""
    axis = (np.arange(m) + 0.5) / m
    return np.stack(np.meshgrid(*[axis] * p, indexing="ij"), axis=-1)


def greedy_errors(values: np.ndarray, n_steps: int) -> dict[int, float]:
    """Errors of orthogonal greedy approximation by steps, exact for the measure on the cells.

    The atoms are all ``prod_j 1(i_j >= t_j)`` on the grid, divided by their norms. The inner
    products of a residual with all of them are its sums over upper corners, so the best is found
    by cumulative sums instead of a search.
    """
    n = values.size
    norms = np.sqrt(_corner_sums(np.ones_like(values)) / n)
    basis: list[np.ndarray] = []
    residual = values.copy()
    errors = {0: float(np.sqrt(np.mean(residual**2)))}
    for r in range(1, n_steps + 1):
        scores = np.abs(_corner_sums(residual)) / n / norms
        at = np.unravel_index(int(np.argmax(scores)), values.shape)
        atom = np.zeros_like(values)
        atom[tuple(slice(i, None) for i in at)] = 1.0
        for _ in range(2):  # twice, as once leaves rounding behind
            for other in basis:
                atom -= np.mean(atom * other) * other
        size = np.sqrt(np.mean(atom**2))
        if size > 1e-10:
            basis.append(atom / size)
            residual = residual - np.mean(residual * basis[-1]) * basis[-1]
        errors[r] = float(np.sqrt(np.mean(residual**2)))
    return errors


def _corner_sums(values: np.ndarray) -> np.ndarray:
    """Sum over all cells at or above each cell."""
    for axis in range(values.ndim):
        values = np.flip(np.cumsum(np.flip(values, axis), axis), axis)
    return values


def fitted_errors(target: Target, p: int, settings: Settings) -> dict[str, dict[int, float]]:
    """Errors of fitted stages on fresh rows; r counts products, two a stage."""
    random = np.random.default_rng(p)
    X, X_test = random.random((settings.n_rows, p)), random.random((settings.n_test, p))
    y, y_test = target.value(X), target.value(X_test)
    zero = {0: float(np.sqrt(np.mean(y_test**2)))}
    common: dict[str, Any] = {"random_state": 0, "n_jobs": -1}
    most = max(settings.stages)
    paper = TSLRegressor.paper(most, n_grids=settings.n_grids, decay=1.0, **common).fit(X, y)
    staged = [rmse(y_test, prediction) for prediction in paper.staged_predict(X_test)]
    found = {_PAPER: zero | {2 * s: staged[s - 1] for s in settings.stages}, _JOINT: dict(zero)}
    for s in settings.stages:
        options = {"early_stopping": False, "fit_intercept": False, "n_starts": 1, **common}
        model = TSLRegressor(n_stages=s, **options).fit(X, y)
        found[_JOINT][2 * s] = rmse(y_test, model.predict(X_test))
    return found


def over_bound(table: pd.DataFrame) -> pd.DataFrame:
    """The rows whose error exceeds the bound; none, if the theorem holds."""
    return table[table["error"] > table["bound"] * (1 + 1e-12)]


def rates(table: pd.DataFrame) -> pd.DataFrame:
    """Slope of log error against log r from 4 steps on, and the error left, per function and p."""
    rows = []
    for (name, p, method), part in table.groupby(["function", "p", "method"], sort=False):
        tail = part[part["r"] >= min(4, part["r"].max() // 2)]
        left = tail[tail["error"] > 1e-12]
        slope = np.polyfit(np.log(left["r"]), np.log(left["error"]), 1)[0]
        last = part.iloc[-1]
        row = {"function": name, "p": p, "method": method, "r": int(last["r"]), "slope": slope}
        row |= {"error / norm of f": last["error"] / last["norm of f"]}
        row |= {"error / bound": last["error"] / last["bound"]}
        rows.append(row)
    return pd.DataFrame(rows)


def trivial_until(table: pd.DataFrame) -> pd.DataFrame:
    """Up to which r the bound is larger than the norm of f itself, so that zero fulfils it."""
    first = table[(table["method"] == _GREEDY) & (table["r"] == 0)]
    until = (2 * first["norm of D f"] / first["norm of f"]) ** 2
    return first[["function", "p"]].assign(until=until.round().astype(int))


def page(table: pd.DataFrame, settings: Settings) -> Page:
    """The page, every number from what was measured."""
    found = rates(table)
    return Page(
        name="approximation",
        title="Approximation rate: error against the number of products",
        summary=_summary(table, found, settings),
        claims=_claims(table, found, settings),
        tables={"errors": table, "rates": found, "trivial": trivial_until(table)},
        shown_tables={"Error at the last r": found},
        figures=_figures(table, settings),
        notes=_notes(settings),
    )


def _summary(table: pd.DataFrame, found: pd.DataFrame, settings: Settings) -> list[str]:
    greedy = found[found["method"] == _GREEDY]
    counted = table[table["r"] > 0]
    first, last = settings.cells[0][0], settings.cells[-1][0]
    setting = (
        "Three functions with a known mixed derivative, zero where any coordinate is, in "
        f"{first} to {last} dimensions; the measure is uniform. Greedy approximation runs on the "
        "cells of a grid, over all steps at once, so its choice is the exact maximum and its error "
        "the exact norm on the grid, for which the bound holds too. Beside it, stages fitted to "
        f"{settings.n_rows:,} rows without noise, two products each."
    )
    seen = (
        f"The bound holds in {len(counted) - len(over_bound(table))} of {len(counted)} "
        "measurements. It is far from tight: greedy steps end below "
        f"{number(greedy['error / bound'].max(), 2)} of it. {_trivial_words(table, settings)} What "
        "is worth looking at is the slope, and how much more a fitted product does than a step."
    )
    return [setting, seen]


def _claims(table: pd.DataFrame, found: pd.DataFrame, settings: Settings) -> list[tuple[str, str]]:
    slopes = found[found["method"] == _GREEDY]["slope"]
    largest = float((table["error"] / table["bound"]).max())
    sharper = float((table["error"] / table["sharper bound"]).max())
    joint, paper = (found[found["method"] == m]["error / norm of f"] for m in (_JOINT, _PAPER))
    bound = (
        f"{len(over_bound(table))} violations; largest ratio of error and bound "
        f"{number(largest, 3)}. With the steps' own norms left in the proof, a sharper bound, also "
        f"kept: at most {number(sharper, 3)} of it"
    )
    rate = (
        f"Slopes of greedy steps from r = 4 on: {slopes.min():.2f} to {slopes.max():.2f}, median "
        f"{slopes.median():.2f}; {int((slopes > -0.5).sum())} of {len(slopes)} are flatter than "
        "−1/2, where so few steps have hardly begun (the bound allows it: it lies far above)"
    )
    stages = (
        f"With {2 * max(settings.stages)} products the error left is, as a share of ‖f‖ (median "
        f"over functions and p): greedy steps {number(_matched(table, settings), 2)}, paper mode "
        f"{number(paper.median(), 2)}, joint refinement {number(joint.median(), 2)}"
    )
    return [
        ("‖f − f_r‖ ≤ 2 ‖D f‖₁ / √r for greedy approximation by positive products.", bound),
        ("The rate is O(r^−1/2) in every dimension.", rate),
        ("Fitted stages follow the greedy algorithm.", stages),
    ]


def _notes(settings: Settings) -> list[str]:
    cells = ", ".join(f"{m} cells per axis for p = {p}" for p, m in settings.cells)
    dictionary = (
        "The dictionary of the greedy algorithm is that of the proof, products of steps 1(t ≤ x). "
        "The theorem's is larger (all positive products of step curves), and fitted stages use it: "
        "one of their products can do what many single steps do."
    )
    fitted = (
        "Fitted stages have a statistical error on top, which more stages do not lower, and their "
        "greedy step is not exact; no theorem covers them."
    )
    return [dictionary, fitted, f"The grid is coarser in higher dimensions: {cells}."]


def _trivial_words(table: pd.DataFrame, settings: Settings) -> str:
    """For which dimensions the bound says nothing in the range shown."""
    least = trivial_until(table).groupby("p")["until"].min()
    idle = [str(p) for p, until in least.items() if until > settings.n_steps]
    if not idle:
        return ""
    return (
        "The norm of f falls with p while that of D f does not, so that even the zero function "
        f"keeps the bound over all r ≤ {settings.n_steps}, for all three functions, when p is "
        f"{listed(idle)}."
    )


def _matched(table: pd.DataFrame, settings: Settings) -> float:
    """Greedy steps with as many products as the largest fit, error as a share of f, median."""
    r = min(2 * max(settings.stages), settings.n_steps)
    part = table[(table["method"] == _GREEDY) & (table["r"] == r)]
    return float((part["error"] / part["norm of f"]).median())


def _figures(table: pd.DataFrame, settings: Settings) -> list[Shown]:
    return [
        Shown(
            "greedy",
            _draw_greedy(table, settings),
            "Greedy steps: error as a share of ‖D f‖₁ against their number, one line per "
            "dimension; dashed the bound 2/√r, dotted a line of slope −1/2.",
        ),
        Shown(
            "stages",
            _draw_stages(table, settings),
            "Fitted stages (two products each) and greedy steps, error as a share of ‖f‖.",
        ),
    ]


def _draw_greedy(table: pd.DataFrame, settings: Settings) -> Figure:
    figure = new_figure(8.6, 3.3)
    axes = figure.subplots(1, len(TARGETS), sharey=True)
    r = np.arange(1, settings.n_steps + 1)
    for ax, target in zip(axes, TARGETS, strict=True):
        part = table[(table["function"] == target.name) & (table["method"] == _GREEDY)]
        for (p, _), colour in zip(settings.cells, SERIES, strict=False):
            line = part[(part["p"] == p) & (part["r"] > 0)]
            share = (line["error"] / line["norm of D f"]).where(line["error"] > 1e-9)
            ax.loglog(line["r"], share, color=colour, linewidth=1.4, label=f"p = {p}")
        ax.loglog(r, 2 / np.sqrt(r), color=DARK, linestyle="--", linewidth=1.0, label="bound")
        ax.loglog(r, 0.03 / np.sqrt(r), color=QUIET, linestyle=":", linewidth=1.0)
        tidy(ax, f"{target.name}: {target.formula}", "steps r")
    axes[0].set_ylabel("error / ‖D f‖₁", fontsize=8)
    figure.legend(
        *axes[0].get_legend_handles_labels(), loc="outside lower center", ncols=6, fontsize=7,
        frameon=False,
    )  # fmt: skip
    return figure


def _draw_stages(table: pd.DataFrame, settings: Settings) -> Figure:
    styles = {_GREEDY: (QUIET, ""), _PAPER: (SERIES[1], "o"), _JOINT: (DARK, "s")}
    dimensions = [p for p, _ in settings.cells]
    figure = new_figure(8.6, 5.6)
    axes = figure.subplots(len(TARGETS), len(dimensions), sharex=True, sharey=True, squeeze=False)
    for row, target in zip(axes, TARGETS, strict=True):
        for ax, p in zip(row, dimensions, strict=True):
            part = table[(table["function"] == target.name) & (table["p"] == p) & (table["r"] > 0)]
            for method, (colour, mark) in styles.items():
                line = part[part["method"] == method]
                share = (line["error"] / line["norm of f"]).where(line["error"] > 1e-9)
                style: dict[str, Any] = {"color": colour, "marker": mark, "markersize": 3.5}
                ax.loglog(line["r"], share, linewidth=1.3, label=method, **style)
            tidy(ax, f"{target.name}, p = {p}")
            ax.grid(color="0.93", linewidth=0.6)
    for ax in axes[-1]:
        ax.set_xlabel("products r", fontsize=8)
    for ax in axes[:, 0]:
        ax.set_ylabel("error / ‖f‖", fontsize=8)
    figure.legend(
        *axes[0, 0].get_legend_handles_labels(), loc="outside lower center", ncols=3, fontsize=8,
        frameon=False,
    )  # fmt: skip
    return figure
