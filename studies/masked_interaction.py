"""Masked interaction: x1 acts strongly, its average effect is zero, and what each model shows.

y = x1**2 * x2 * (1 + x3) + noise,  E[1 + x3] = 0
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from seplearn import SepALSRegressor, TSLRegressor, datasets, explain
from studies import masked_figures as draw
from studies import rivals
from studies.page import Page, Shown, number, rmse
from studies.reading import central_values, curve_at, predictions_over
from studies.tables import Source

PAPER, SHORT, DEFAULT = "TSL, paper mode", "TSL, 2 stages", "TSL"
_PAPER_SEPALS = 0.2612  # test RMSE in the paper's appendix


@dataclass(frozen=True)
class Settings:
    """How large the study is.

    Attributes
    ----------
    n_rows, large_rows, n_test : int
        Rows of the sample whose models are read, of the larger one whose errors stand beside
        theirs, and to test.
    n_grids : int
        Bagged grids of the paper's mode.
    n_repeats : int
        Fresh samples of ``repeat_rows`` rows, on which roles and flips are read again.
    n_curves : int
        Rows drawn one by one.
    rivals : tuple of str
        Models to compare with, if installed.
    ebm_bags, ebm_rows : int
        Outer bags and rows of EBM, which keep its time in bounds.
    """

    n_rows: int = 10_000
    large_rows: int = 100_000
    n_test: int = 50_000
    n_grids: int = 200
    n_repeats: int = 20
    repeat_rows: int = 10_000
    n_curves: int = 60
    rivals: tuple[str, ...] = ("EBM", "XGBoost")
    ebm_bags: int = 4
    ebm_rows: int = 50_000


FULL = Settings()
TINY = Settings(
    n_rows=3_000,
    large_rows=6_000,
    n_test=2_000,
    n_grids=20,
    n_repeats=3,
    repeat_rows=3_000,
    n_curves=10,
    rivals=(),
)


@dataclass(frozen=True)
class Measured:
    """Fitted models and the numbers read off them.

    Attributes
    ----------
    models : dict of str to fitted model
    errors : DataFrame
        Test RMSE per model, fitted to the sample and to the larger one.
    large_roles : Roles
        What the two stages do that are fitted to the larger sample.
    values : array of shape (n,)
        Values of x1 at which predictions are taken.
    ice : dict of str to array of shape (n_curves, n)
        Predictions of single rows with x1 moved.
    dependence : dict of str to array of shape (n,)
        Their mean over many rows; ``true_dependence`` that of the function itself.
    repeats : DataFrame
        What ``explain.roles`` says on fresh samples, in the paper's mode and in the default.
    """

    models: dict[str, Any]
    errors: pd.DataFrame
    large_roles: explain.Roles
    values: np.ndarray
    ice: dict[str, np.ndarray]
    dependence: dict[str, np.ndarray]
    true_dependence: np.ndarray
    repeats: pd.DataFrame

    @property
    def flatness(self) -> pd.DataFrame:
        """How far PD and single rows move with x1, as standard deviations over x1."""
        moved = {name: float(np.mean(curves.std(axis=1))) for name, curves in self.ice.items()}
        rows = [
            {"model": name, "PD moves by": float(curve.std()), "a single row moves by": moved[name]}
            for name, curve in self.dependence.items()
        ]
        truth = {"model": "the function itself", "PD moves by": float(self.true_dependence.std())}
        return pd.DataFrame([*rows, truth])


def run(settings: Settings, source: Source | None = None) -> Page:  # noqa: ARG001
    """Measure, draw, tell."""
    measured = measure(settings)
    return page(measured, settings)


def measure(settings: Settings) -> Measured:
    """Fit all models to one sample and read x1 off each of them."""
    X_test, y_test = datasets.masked_interaction(settings.n_test, as_frame=True, random_state=1)
    samples = [
        _fitted(settings, *datasets.masked_interaction(n_rows, as_frame=True, random_state=0))
        for n_rows in (settings.n_rows, settings.large_rows)
    ]
    models, large = samples
    floor = datasets.MASKED_INTERACTION_NOISE
    errors = pd.DataFrame({"model": list(models)})
    for n_rows, fitted in zip((settings.n_rows, settings.large_rows), samples, strict=True):
        found = np.array([rmse(y_test, model.predict(X_test)) for model in fitted.values()])
        errors[f"RMSE, {n_rows:,} rows"] = found
        errors[f"/ noise floor, {n_rows:,} rows"] = found / floor
    values = central_values(X_test["x1"])
    rows = X_test.iloc[: min(1_000, len(X_test))]
    curves = {name: predictions_over(m, rows, x1=values) for name, m in models.items()}
    return Measured(
        models=models,
        errors=errors,
        large_roles=explain.roles(large[SHORT]),
        values=values,
        ice={name: each[: settings.n_curves] for name, each in curves.items()},
        dependence={name: each.mean(axis=0) for name, each in curves.items()},
        true_dependence=values**2 * float(np.mean(rows["x2"] * (1.0 + rows["x3"]))),
        repeats=_repeats(settings),
    )


def _fitted(settings: Settings, X: pd.DataFrame, y: np.ndarray) -> dict[str, Any]:
    common: dict[str, Any] = {"random_state": 0, "n_jobs": -1}
    models: dict[str, Any] = {
        PAPER: TSLRegressor.paper(2, n_grids=settings.n_grids, **common),
        SHORT: TSLRegressor(n_stages=2, early_stopping=False, **common),
        DEFAULT: TSLRegressor(**common),
        "SepALS": SepALSRegressor(
            rank=1, basis="monomial", degree=2, **rivals.LITTLE_PENALTY, **common
        ),
    }
    for model in models.values():
        model.fit(X, y)
    left_out = rivals.missing(settings.rivals)
    if "EBM" in settings.rivals and "EBM" not in left_out:
        ebm = rivals.make("EBM", 0, outer_bags=settings.ebm_bags)
        models["EBM"] = ebm.fit(X[: settings.ebm_rows], y[: settings.ebm_rows])
    if "XGBoost" in settings.rivals and "XGBoost" not in left_out:
        models["XGBoost"] = rivals.make("XGBoost", 0, max_depth=3, n_estimators=100).fit(X, y)
    return models


def _repeats(settings: Settings) -> pd.DataFrame:
    """Roles of the loudest stage on fresh samples: whether the reading is a matter of luck."""
    rows = []
    for seed in range(settings.n_repeats):
        X, y = datasets.masked_interaction(
            settings.repeat_rows, as_frame=True, random_state=100 + seed
        )
        fits = {
            PAPER: TSLRegressor.paper(2, n_grids=settings.n_grids, random_state=seed, n_jobs=-1),
            SHORT: TSLRegressor(n_stages=2, early_stopping=False, random_state=seed, n_jobs=-1),
        }
        for name, model in fits.items():
            first = _loudest(explain.roles(model.fit(X, y)))
            directs = [role for role in first.features if "directs" in role.role]
            flips = [flip.at for role in directs for flip in role.flips if role.name == "x3"]
            rows.append(
                {
                    "model": name,
                    "sample": seed,
                    "sentence": first.sentence,
                    "directs": ", ".join(role.name for role in directs),
                    "x3 flips at": min(flips, key=lambda at: abs(at + 1.0), default=np.nan),
                }
            )
    return pd.DataFrame(rows)


def _loudest(roles: explain.Roles) -> explain.StageRoles:
    return max(roles.stages, key=lambda stage: stage.weight)


def backbone_likeness(model: TSLRegressor, values: np.ndarray) -> float:
    """Correlation of the backbone of x1 in the first stage with x1 squared."""
    backbone = curve_at(explain.curves(model, 0)["x1"], "backbone", values)
    return float(np.corrcoef(backbone, values**2)[0, 1])


def flipped_difference(model: SepALSRegressor, X: pd.DataFrame) -> float:
    """Largest change of the predictions when the factors of x1 and x2 both change their sign."""
    factors = [curve_at(curve, "plus", X[curve.name].to_numpy()) for curve in _factors(model)]
    scale = explain.curves(model, 0).lambda_plus
    product = scale * factors[0] * factors[1] * factors[2]
    flipped = scale * (-factors[0]) * (-factors[1]) * factors[2]
    return float(np.abs(product - flipped).max())


def _factors(model: SepALSRegressor) -> explain.StageCurves:
    return explain.curves(model, 0)


def sign_patterns(settings: Settings, n_seeds: int = 12) -> pd.DataFrame:
    """The sign of SepALS's factor of x2 below zero, with one sample and different starts."""
    X, y = datasets.masked_interaction(settings.repeat_rows, as_frame=True, random_state=0)
    rows = []
    for seed in range(n_seeds):
        options: dict[str, Any] = {"n_init": 1, "random_state": seed, "n_jobs": -1}
        model = SepALSRegressor(
            rank=1, basis="monomial", degree=2, **rivals.LITTLE_PENALTY, **options
        ).fit(X, y)
        at = curve_at(_factors(model)["x2"], "plus", np.array([-2.0]))[0]
        rows.append({"start": seed, "g2(-2)": float(at), "RMSE": rmse(y, model.predict(X))})
    return pd.DataFrame(rows)


def page(measured: Measured, settings: Settings) -> Page:
    """The page, every number from what was measured."""
    signs = sign_patterns(settings)
    curves = pd.DataFrame({"x1": measured.values, **measured.dependence})
    roles = explain.roles(measured.models[SHORT])
    return Page(
        name="masked_interaction",
        title="Masked interaction: x1² x2 (1 + x3)",
        summary=_summary(measured, roles),
        claims=_claims(measured, signs),
        tables={
            "errors": measured.errors,
            "partial_dependence": curves,
            "flatness": measured.flatness,
            "repeats": measured.repeats,
            "sepals_signs": signs,
            "roles": roles.frame(),
        },
        shown_tables={
            "Test RMSE (noise floor 0.25)": measured.errors,
            "How far predictions move with x1": measured.flatness,
        },
        figures=_figures(measured),
        notes=_notes(settings),
    )


def _summary(measured: Measured, roles: explain.Roles) -> list[str]:
    flat = measured.flatness.set_index("model")
    worst = flat["PD moves by"].max()
    least = flat["a single row moves by"].min()
    told = measured.repeats[measured.repeats["model"] == SHORT]
    right = int((told["directs"] == "x3").sum())
    return [
        (
            "The average over x3 hides x1 from partial dependence: over the central 98 % of x1 no "
            f"model's curve moves by more than {number(worst, 2)} (standard deviation), while "
            f"single rows move by at least {number(least, 2)} on average."
        ),
        "What `explain.roles` says of the model with two stages:",
        "```\n" + str(roles) + "\n```",
        (
            f"So it is on {right} of {len(told)} fresh samples. It need not be: x2 and 1 + x3 "
            "enter alike, and a model in which x2 directs at 0 and x3 scales is equally right. The "
            f"larger sample gives “{measured.large_roles.sentences[0]}” for its first stage."
        ),
    ]


def _claims(measured: Measured, signs: pd.DataFrame) -> list[tuple[str, str]]:
    errors = measured.errors.set_index("model").iloc[:, 2]  # of the larger sample, as the paper's
    flat = measured.flatness.set_index("model")["PD moves by"]
    likeness = {
        name: backbone_likeness(measured.models[name], measured.values) for name in (PAPER, SHORT)
    }
    positive = int((signs["g2(-2)"] > 0).sum())
    reached = (
        f"SepALS {errors['SepALS']:.4f}; TSL with two stages {errors[SHORT]:.4f}, with its "
        f"defaults {errors[DEFAULT]:.4f}, in paper mode {errors[PAPER]:.4f} (larger sample)"
    )
    flipped = (
        f"Two factors negated: predictions differ by {number(measured_flip(measured), 2)}. Over "
        f"{len(signs)} starts the factor of x2 below zero is positive in {positive}, negative in "
        f"{len(signs) - positive}: which of them is a habit of the start, not of the data"
    )
    return [
        (
            "The partial dependence of x1 is flat for every model.",
            "Standard deviation over x1: "
            + "; ".join(f"{name} {number(moved, 2)}" for name, moved in flat.items()),
        ),
        (
            "The backbone of x1 in stage 1 is its quadratic effect.",
            "Correlation with x1²: "
            + "; ".join(f"{name} {value:.3f}" for name, value in likeness.items()),
        ),
        ("x1, x2 scale; x3 directs, with the flip at x3 = −1.", _flip_words(measured.repeats)),
        (f"SepALS of rank 1 reaches an RMSE of {_PAPER_SEPALS} (noise 0.25).", reached),
        ("The sign of a SepALS factor is not identified.", flipped),
    ]


def _flip_words(repeats: pd.DataFrame) -> str:
    """On how many fresh samples x3 alone directs, and where it flips."""
    told = []
    for name, part in repeats.groupby("model", sort=False):
        right = part[part["directs"] == "x3"]["x3 flips at"]
        words = f"{name}: {len(right)} of {len(part)} fresh samples"
        told.append(words + f", flip at {right.mean():.3f} ± {right.std():.3f}" * bool(len(right)))
    return "; ".join(told)


def measured_flip(measured: Measured) -> float:
    """The difference that two negated factors of SepALS make on fresh rows: none."""
    X, _ = datasets.masked_interaction(1_000, as_frame=True, random_state=2)
    return flipped_difference(measured.models["SepALS"], X)


def _figures(measured: Measured) -> list[Shown]:
    return [
        Shown(
            "pd_ice",
            draw.dependence_and_rows(measured.values, measured.dependence, measured.ice),
            "Partial dependence of x1 (top left, all models) and predictions of single rows with "
            "x1 moved; the vertical scale is the same in all panels.",
        ),
        Shown(
            "stages_default",
            draw.products(measured.models[SHORT]),
            "Two stages, default fit: both products of each stage against each feature, the gap "
            "coloured by its sign, the backbone dotted.",
        ),
        Shown(
            "stages_paper",
            draw.products(measured.models[PAPER]),
            "The same in the paper's mode.",
        ),
        Shown(
            "backbone_tilt",
            draw.backbone_and_tilt({name: measured.models[name] for name in (PAPER, SHORT)}),
            "Backbone and tilt of the first stage. Only the variation of a tilt has a meaning: "
            "that of x1 is flat, that of x3 falls or rises through zero at −1.",
        ),
        Shown(
            "sepals_factors",
            draw.signed_factors(measured.models["SepALS"]),
            "The factors of SepALS as fitted, and with two signs changed: the same predictions.",
        ),
    ]


def _notes(settings: Settings) -> list[str]:
    rows = (
        f"Figures are of models fitted to {settings.n_rows:,} rows, errors also of models fitted "
        f"to {settings.large_rows:,}, as many as in the paper; {settings.n_test:,} rows are "
        "tested. Nothing is tuned, where the paper tunes every model with 20,000 trials."
    )
    background = (
        "Partial dependence is a mean over 1,000 test rows, in which x2 (1 + x3) is not exactly "
        "zero on average; so even the function's own moves a little."
    )
    notes = [rows, background]
    if "EBM" in settings.rivals and not rivals.missing(["EBM"]):
        notes.append(
            f"EBM has {settings.ebm_bags} outer bags and at most {settings.ebm_rows:,} rows, to "
            "save time; it has pairs of features only, so it cannot express this function at all."
        )
    return notes + rivals.missing_note(settings.rivals)
