"""Non-identifiability: on a support that is not a rectangle, one function has many curves.

Rows lie in A = [-1, 0]^2 and B = [0, 1]^2 only. On A the function is a1(x1) a2(x2), on B
b1(x1) b2(x2). Dividing a1 by c and multiplying a2 by it changes nothing that can be observed.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from seplearn import SepALSRegressor, TSLRegressor, explain
from studies import identifiability_figures as draw
from studies import rivals
from studies.page import Page, Shown, number, rmse
from studies.reading import bins_of, curve_at
from studies.tables import Source

VALUES = np.linspace(-0.985, 0.985, 120)
SCALINGS = (1 / 3, 1.0, 3.0)
_NOISE = 0.05
_JUMP = 1.5  # of the curve of x2 at zero; that of x1 has none
_LEFT, _RIGHT = VALUES < 0, VALUES > 0

GRIDS, PAPER, JOINT = "single grids, paper mode", "paper mode", "joint refinement"
BRIDGED, RECTANGLE = "joint, 2 % of the rows outside", "joint, rows in the whole square"
_KINDS = (PAPER, JOINT, BRIDGED, RECTANGLE)


@dataclass(frozen=True)
class Settings:
    """Rows to fit, seeds, and bagged grids of the paper's mode."""

    n_rows: int = 5_000
    n_seeds: int = 20
    n_grids: int = 100


FULL = Settings()
TINY = Settings(n_rows=1_500, n_seeds=4, n_grids=20)


def curves(scaling: float, x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Both curves of one factorisation at values x; ``scaling`` moves a constant between them."""
    first = np.where(x < 0, (1.0 + 0.5 * x) / scaling, 1.0 + x**2)
    second = np.where(x < 0, np.exp(-x) * scaling, _JUMP - 0.8 * x)
    return first, second


def value(X: np.ndarray, scaling: float = 1.0) -> np.ndarray:
    """The product of both curves at rows; on A and B it does not depend on ``scaling``."""
    return curves(scaling, X[:, 0])[0] * curves(scaling, X[:, 1])[1]


def sample(n_rows: int, seed: int, outside: float = 0.0) -> tuple[pd.DataFrame, np.ndarray]:
    """Rows of A and B, half each, with a share of them moved to the two empty squares."""
    random = np.random.default_rng(seed)
    x = random.random((n_rows, 2)) * np.where(random.random(n_rows) < 0.5, -1.0, 1.0)[:, None]
    n_outside = round(outside * n_rows)
    x[:n_outside, 1] *= -1.0
    y = value(x) + random.normal(0.0, _NOISE, n_rows)
    return pd.DataFrame(x, columns=["x1", "x2"]), y


@dataclass(frozen=True)
class Fits:
    """Fits of one kind, each with rows and a seed of its own; or the grids of a single fit.

    Attributes
    ----------
    curves : array of shape (n_fits, 2, n_values)
        Log curves of x1 and x2.
    inside, outside : array of shape (n_fits,)
        RMSE against the function on the support, and mean log prediction in an empty square; NaN
        for grids.
    """

    curves: np.ndarray
    inside: np.ndarray
    outside: np.ndarray

    @property
    def levels(self) -> np.ndarray:
        """How much higher each log curve is on the left than on the right, (n_fits, 2)."""
        left, right = (self.curves[:, :, side].mean(axis=2) for side in (_LEFT, _RIGHT))
        return left - right

    @property
    def shapes(self) -> np.ndarray:
        """The curves without their levels on the left and on the right."""
        moved = self.curves.copy()
        for side in (_LEFT, _RIGHT):
            moved[:, :, side] -= moved[:, :, side].mean(axis=2, keepdims=True)
        return moved

    def row(self, kind: str) -> dict[str, Any]:
        """What the fits agree on, and what not."""
        first, second = self.levels.T
        return {
            "fit": kind,
            "level of x1, mean": first.mean(),
            "level of x1, sd": first.std(),
            "sum of both levels, mean": (first + second).mean(),
            "sum of both levels, sd": (first + second).std(),
            "shapes, sd": float(self.shapes.std(axis=0).mean()),
            "RMSE on the support": float(self.inside.mean()),
            "log prediction outside, sd": float(self.outside.std()),
        }


@dataclass(frozen=True)
class Measured:
    """Fits of every kind, and SepALS's signs.

    Attributes
    ----------
    signs : DataFrame
        Per start, the signs of SepALS's factors of x1 and x2 on the left and on the right.
    """

    fits: dict[str, Fits]
    signs: pd.DataFrame

    @property
    def table(self) -> pd.DataFrame:
        return pd.DataFrame([fits.row(kind) for kind, fits in self.fits.items()])


def run(settings: Settings, source: Source | None = None) -> Page:  # noqa: ARG001
    """Measure, draw, tell."""
    return page(measure(settings), settings)


def measure(settings: Settings) -> Measured:
    """Fit every kind with every seed; then SepALS from different starts."""
    fits = {GRIDS: _grids(settings)} | {kind: _fits(kind, settings) for kind in _KINDS}
    return Measured(fits, _sepals_signs(settings))


def _grids(settings: Settings) -> Fits:
    """The bagged grids of one fit, each a representation of its own."""
    model = _estimator(PAPER, settings, 0, keep_bags=True).fit(*sample(settings.n_rows, 0))
    bags = explain.bags(model, 0)
    pairs = [
        np.log(backbones[:, bins_of(axis, VALUES)])
        for backbones, axis in zip(bags.backbones, bags.axes, strict=True)
    ]
    unknown = np.full(len(bags.scale), np.nan)
    return Fits(np.stack(pairs, axis=1), unknown, unknown)


def _fits(kind: str, settings: Settings) -> Fits:
    inside, _ = sample(4_000, 10_000)
    empty = inside.assign(x1=-inside["x1"].abs(), x2=inside["x2"].abs())
    found, errors, outside = [], [], []
    for seed in range(settings.n_seeds):
        X, y = sample(settings.n_rows, seed, {BRIDGED: 0.02, RECTANGLE: 0.5}.get(kind, 0.0))
        model = _estimator(kind, settings, seed).fit(X, y)
        pair = explain.curves(model, 0)
        found.append([np.log(curve_at(curve, "backbone", VALUES)) for curve in pair])
        errors.append(rmse(value(inside.to_numpy()), model.predict(inside)))
        outside.append(float(np.log(model.predict(empty)).mean()))
    return Fits(np.array(found), np.array(errors), np.array(outside))


def _estimator(kind: str, settings: Settings, seed: int, **options: Any) -> TSLRegressor:
    common: dict[str, Any] = {"random_state": seed, "n_jobs": -1, **options}
    if kind == PAPER:
        return TSLRegressor.paper(1, n_grids=settings.n_grids, **common)
    # Without a constant the positive target gives a single positive product.
    return TSLRegressor(n_stages=1, early_stopping=False, fit_intercept=False, **common)


def _sepals_signs(settings: Settings) -> pd.DataFrame:
    X, y = sample(settings.n_rows, 0)
    rows = []
    for seed in range(settings.n_seeds):
        options: dict[str, Any] = {"n_init": 1, "fit_intercept": False, "random_state": seed}
        model = SepALSRegressor(
            rank=1, basis="tent", degree=5, **rivals.LITTLE_PENALTY, **options
        ).fit(X, y)
        row: dict[str, Any] = {"start": seed, "RMSE": rmse(y, model.predict(X))}
        for curve in explain.curves(model, 0):
            shown = curve_at(curve, "plus", VALUES)
            for side, where in (("left", _LEFT), ("right", _RIGHT)):
                row[f"{curve.name}, {side}"] = "+" if np.median(shown[where]) > 0 else "−"
        rows.append(row)
    return pd.DataFrame(rows)


def largest_difference() -> float:
    """Between the three factorisations of the study, on the support: none but rounding."""
    X, _ = sample(2_000, 0)
    found = np.array([value(X.to_numpy(), scaling) for scaling in SCALINGS])
    return float(np.ptp(found, axis=0).max())


def level(scaling: float) -> float:
    """How much higher the log curve of x1 is on the left than on the right, in the function."""
    first = np.log(curves(scaling, VALUES)[0])
    return float(first[_LEFT].mean() - first[_RIGHT].mean())


def balanced_scaling() -> float:
    """The scaling at which both curves jump equally at zero: what smoothness alone asks for.

    The jumps add up to a given number; the sum of their squares is least when they are equal.
    """
    return float(np.sqrt(_JUMP))


def page(measured: Measured, settings: Settings) -> Page:
    """The page, every number from what was measured."""
    table = measured.table
    by = table.set_index("fit")
    return Page(
        name="identifiability",
        title="Non-identifiability: one function on A ∪ B, many curves",
        summary=_summary(by, settings),
        claims=_claims(by, measured.signs),
        tables={"levels": table, "signs": measured.signs, "fits": _single_fits(measured)},
        shown_tables={"What fits agree on": by.T.reset_index(names="fit")},
        figures=_figures(measured),
        notes=_notes(settings),
    )


def _summary(by: pd.DataFrame, settings: Settings) -> list[str]:
    def told(kind: str, column: str) -> str:
        return number(float(by.loc[kind, column]), 2)

    spread, mean, total = "level of x1, sd", "level of x1, mean", "sum of both levels, sd"
    what = (
        "Rows lie in two squares that touch in a corner. A constant c can be moved from the curve "
        "of x1 to that of x2 on the left half of both: three such factorisations differ by "
        f"{number(largest_difference(), 2)} on the support, and by a factor of "
        f"{number(SCALINGS[-1] / SCALINGS[0], 2)} outside it."
    )
    seen = (
        f"Over {settings.n_seeds} samples the level of the curve of x1 (left against right, in "
        f"logarithms) varies by {told(PAPER, spread)} in the paper's mode, whose single grids vary "
        f"by {told(GRIDS, spread)}, and by {told(JOINT, spread)} after joint refinement; the sum "
        f"of both levels, which the data do determine, by {told(PAPER, total)}, "
        f"{told(GRIDS, total)} and {told(JOINT, total)}."
    )
    gauge = (
        "**What the gauge fixes:** the constants of whole curves, which go into λ. **What it "
        "cannot fix:** the constant of a part of a curve."
    )
    joint = (
        "**What joint refinement does:** it finds the shapes within each square (spread "
        f"{told(JOINT, 'shapes, sd')} against {told(PAPER, 'shapes, sd')}; RMSE on the support "
        f"{told(JOINT, 'RMSE on the support')} against {told(PAPER, 'RMSE on the support')}), and "
        "its penalties choose a level. Were only jumps at zero priced, both curves would jump "
        f"equally, at a level of {number(level(balanced_scaling()), 2)}; it ends at "
        f"{told(JOINT, mean)}, the paper's mode at {told(PAPER, mean)}, and the function with c = "
        f"1 has {number(level(1.0), 2)}."
    )
    limits = (
        "**What neither can do:** know it. Both repeat themselves from sample to sample and yet "
        "disagree: little spread is no proof that a curve is determined. The level is a "
        "convention, and so is every prediction in the empty squares. **What does fix it:** rows. "
        f"With 2 % of them in the empty squares the level is {told(BRIDGED, mean)} ± "
        f"{told(BRIDGED, spread)}."
    )
    return [what, seen, gauge, joint, limits]


def _claims(by: pd.DataFrame, signs: pd.DataFrame) -> list[tuple[str, str]]:
    patterns = signs.drop(columns=["start", "RMSE"]).agg("".join, axis=1).value_counts()
    grids, square = by.loc[GRIDS], by.loc[RECTANGLE]
    levels = (
        f"Level of x1 in single grids: {grids['level of x1, mean']:.2f} ± "
        f"{grids['level of x1, sd']:.2f}; their sum of levels: ± "
        f"{grids['sum of both levels, sd']:.3f}"
    )
    resolved = (
        f"There the level of x1 is {square['level of x1, mean']:.3f} ± "
        f"{square['level of x1, sd']:.3f}; that of the function is {level(1.0):.3f}"
    )
    seen = (
        f"SepALS, {len(signs)} starts, signs of (x1 left, x1 right, x2 left, x2 right): "
        + ", ".join(f"{key} {n} times" for key, n in patterns.items())
        + ("; no start led to another pattern" if len(patterns) == 1 else "")
    )
    return [
        (
            "Region-wise rescaling leaves predictions on the support unchanged.",
            f"Largest difference {number(largest_difference(), 2)}",
        ),
        ("Positivity does not remove it: levels of positive curves stay free.", levels),
        ("On the full rectangle the ambiguity is resolved.", resolved),
        ("Without positivity, signs may differ between regions and between fits.", seen),
    ]


def _figures(measured: Measured) -> list[Shown]:
    same = (
        "Three factorisations of one function. Above, their values on the whole square; in the "
        "outlined squares, where rows are, they agree. Below, their curves."
    )
    fits = (
        "Fitted curves with different rows and seeds. Last column: how much higher the curves of "
        "x1 and x2 are on the left; the data determine the sum only, the dashed line."
    )
    return [
        Shown("same_function", draw.factorisations(SCALINGS, VALUES, curves), same),
        Shown("fits", draw.fitted(measured.fits, VALUES), fits),
    ]


def _notes(settings: Settings) -> list[str]:
    function = (
        f"{settings.n_rows:,} rows, noise {_NOISE}; a1 = 1 + x/2, a2 = exp(−x), b1 = 1 + x², "
        f"b2 = {_JUMP} − 0.8 x. One stage without a constant; as the target is positive it is a "
        "single product."
    )
    signs = (
        "SepALS starts from factors near one, which explains its signs; factors of other signs fit "
        "these rows just as well."
    )
    own = "Every fit has rows and a seed of its own; single grids share one sample."
    return [function, signs, own]


def _single_fits(measured: Measured) -> pd.DataFrame:
    """The levels of every single fit."""
    parts = [
        pd.DataFrame(fits.levels, columns=["level of x1", "level of x2"]).assign(
            fit=kind, number=range(len(fits.levels)), rmse=fits.inside
        )
        for kind, fits in measured.fits.items()
    ]
    return pd.concat(parts, ignore_index=True)
