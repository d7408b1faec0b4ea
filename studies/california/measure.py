"""Fit California housing and read the models: lines, maps, points, regions."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from scipy.signal import find_peaks
from sklearn.model_selection import train_test_split

from seplearn import SepALSRegressor, TSLRegressor, explain
from studies import rivals
from studies.page import error_table, rmse
from studies.reading import bins_of, central_values, predictions_over

MAP = ("longitude", "latitude")
Region = Mapping[str, tuple[float | None, float | None]]
REGIONS: dict[str, Region] = {
    "San Francisco Bay": {"longitude": (-122.6, -121.8), "latitude": (37.2, 38.1)},
    "Los Angeles coast": {"longitude": (-118.6, -117.8), "latitude": (33.6, 34.15)},
    "eastern desert": {"longitude": (-118.5, None), "latitude": (34.5, 38.0)},
}
# The two points of the paper's appendix, and their median house values.
_COLUMNS = (
    "longitude", "latitude", "housingMedianAge", "totalRooms", "totalBedrooms", "population",
    "households", "medianIncome",
)  # fmt: skip
POINTS = {
    "desert": ((-118.43, 37.40, 19, 2460, 405, 1225, 425, 4.16), 141_500.0),
    "coast": ((-118.25, 34.05, 52, 2806, 1944, 2232, 1605, 0.68), 350_000.0),
}
# Test RMSE in the paper, every model tuned.
_PUBLISHED = {
    "TSL, paper mode": 54_558.0,
    "TSL, paper mode, 10 stages": 49_376.0,
    "EBM": 48_866.0,
    "SepALS": 62_162.0,
    "XGBoost": 44_971.0,
}
PAPER_MODE = {2: "TSL, paper mode", 10: "TSL, paper mode, 10 stages"}


@dataclass(frozen=True)
class Settings:
    """How large the study is.

    Attributes
    ----------
    stages : tuple of int
        Sizes of the models that are read; the last one explains points and is cut down.
    rivals : tuple of str
        Models to compare with, if installed.
    ebm_bags : int
        Outer bags of EBM, fewer than its default to save time.
    sepals_rank : int
    n_grids : int
        Bagged grids of the paper's mode, which is fitted with 2 and with 10 stages.
    n_background : int
        Rows over which rivals' predictions are averaged.
    """

    stages: tuple[int, ...] = (2, 4, 10)
    rivals: tuple[str, ...] = ("EBM", "XGBoost")
    ebm_bags: int = 2
    sepals_rank: int = 10
    n_grids: int = 100
    n_background: int = 500


FULL = Settings()
TINY = Settings(stages=(2, 3, 4), rivals=(), sepals_rank=2, n_grids=10, n_background=50)


@dataclass(frozen=True)
class Measured:
    """Models, and what is read off them.

    Attributes
    ----------
    X, y, X_test, y_test
        The paper's split, 80 % and 20 %.
    models : dict of str to fitted model
    errors : DataFrame
        Test RMSE, and the paper's.
    lines : dict of str to (values, dict of str to array)
        For latitude and longitude, partial dependence of every model.
    points : dict of str to LocalExplanation
        Of the model with the most stages; ``paper_points`` has those of the paper's mode.
    selection : DataFrame
        Test RMSE in a region against the number of stages kept.
    """

    X: pd.DataFrame
    y: np.ndarray
    X_test: pd.DataFrame
    y_test: np.ndarray
    models: dict[str, Any]
    errors: pd.DataFrame
    lines: dict[str, tuple[np.ndarray, dict[str, np.ndarray]]]
    points: dict[str, explain.LocalExplanation]
    paper_points: dict[str, explain.LocalExplanation]
    selection: pd.DataFrame


def model_name(n_stages: int) -> str:
    """How a model of so many stages is called on the page."""
    return f"TSL, {n_stages} stages"


def measure(X: pd.DataFrame, y: np.ndarray, settings: Settings) -> Measured:
    """Fit all models to the paper's split and read them."""
    X = X.astype(float)
    X_train, X_test, y_train, y_test = train_test_split(X, y, test_size=0.2, random_state=42)
    models = _fitted(X_train, y_train, settings)
    background = X_train.sample(settings.n_background, random_state=0)
    shown = {name: model for name, model in models.items() if name != PAPER_MODE[10]}
    lines = {name: _line(name, shown, X_train, background) for name in MAP[::-1]}
    largest = models[model_name(settings.stages[-1])]
    selection = _selection(largest, (X_train, y_train), (X_test, y_test))
    return Measured(
        X=X_train,
        y=y_train,
        X_test=X_test,
        y_test=y_test,
        models=models,
        errors=error_table(models, X_test, y_test, _PUBLISHED),
        lines=lines,
        points=_local(largest, X),
        paper_points=_local(models[PAPER_MODE[10]], X),
        selection=selection,
    )


def _local(model: TSLRegressor, X: pd.DataFrame) -> dict[str, explain.LocalExplanation]:
    """The paper's two points explained, as rows with the columns of a table."""
    rows = {name: pd.DataFrame([values], columns=_COLUMNS) for name, (values, _) in POINTS.items()}
    return {name: explain.local(model, row.astype(float)[list(X)]) for name, row in rows.items()}


def _fitted(X: pd.DataFrame, y: np.ndarray, settings: Settings) -> dict[str, Any]:
    common: dict[str, Any] = {"random_state": 0, "n_jobs": -1}
    # Stages alone, as in the paper: they are kept one by one, and summed at single points.
    models: dict[str, Any] = {
        model_name(n): TSLRegressor(n_stages=n, early_stopping=False, main_effects=False, **common)
        for n in settings.stages
    }
    for n, name in PAPER_MODE.items():
        models[name] = TSLRegressor.paper(n, n_grids=settings.n_grids, **common)
    models["SepALS"] = SepALSRegressor(
        rank=settings.sepals_rank, degree=5, **rivals.LITTLE_PENALTY, **common
    )
    left_out = rivals.missing(settings.rivals)
    if "EBM" in settings.rivals and "EBM" not in left_out:
        models["EBM"] = rivals.make("EBM", 0, outer_bags=settings.ebm_bags)
    if "XGBoost" in settings.rivals and "XGBoost" not in left_out:
        models["XGBoost"] = rivals.make("XGBoost", 0)
    return {name: model.fit(X, y) for name, model in models.items()}


def _line(
    feature: str, models: dict[str, Any], X: pd.DataFrame, background: pd.DataFrame
) -> tuple[np.ndarray, dict[str, np.ndarray]]:
    """Partial dependence of all models on one coordinate, over the same rows."""
    values = central_values(X[feature], n=161)
    found = {
        name: predictions_over(model, background, **{feature: values}).mean(axis=0)
        for name, model in models.items()
    }
    return values, found


def in_region(X: pd.DataFrame, region: Region) -> np.ndarray:
    """Which rows lie in a region."""
    inside = np.ones(len(X), dtype=bool)
    for name, (low, high) in region.items():
        column = X[name].to_numpy()
        inside &= (column >= (-np.inf if low is None else low)) & (
            column <= (np.inf if high is None else high)
        )
    return inside


def _selection(
    model: TSLRegressor,
    training: tuple[pd.DataFrame, np.ndarray],
    test: tuple[pd.DataFrame, np.ndarray],
) -> pd.DataFrame:
    """Keep the stages that contribute most in a region: as they are, and with λ refitted there."""
    rows = []
    for name, region in REGIONS.items():
        (X, y), (X_test, y_test) = (
            (table[in_region(table, region)], target[in_region(table, region)])
            for table, target in (training, test)
        )
        if len(X_test) < 5 or len(X) < 5:
            continue
        order = np.argsort(-explain.stages(model, region, background=X).mean_size, kind="stable")
        for kept in range(1, len(order) + 1):
            chosen = order[:kept].tolist()
            plain = model.select_stages(chosen)
            refitted = model.select_stages(chosen, X, y)
            rows.append(
                {
                    "region": name,
                    "rows": len(X),
                    "stages kept": kept,
                    "stages": " ".join(map(str, sorted(chosen))),
                    "as they are": rmse(y_test, plain.predict(X_test)),
                    "refitted": rmse(y_test, refitted.predict(X_test)),
                    "whole model": rmse(y_test, model.predict(X_test)),
                }
            )
    return pd.DataFrame(rows)


def peaks(values: np.ndarray, curve: np.ndarray, prominence: float = 0.12) -> list[float]:
    """Where a curve has peaks that stand out by a share of its range."""
    found, _ = find_peaks(curve, prominence=prominence * np.ptp(curve))
    return [float(values[k]) for k in found]


def stages_by_region(measured: Measured, name: str) -> pd.DataFrame:
    """Mean 2D partial dependence of every stage at the training rows of every region."""
    dependence = explain.partial_dependence(measured.models[name], MAP)
    at = [bins_of(axis, measured.X[key]) for axis, key in zip(dependence.axes, MAP, strict=True)]
    surfaces = dependence.stages[:, at[0], at[1]]
    rows = []
    for region, bounds in REGIONS.items():
        inside = in_region(measured.X, bounds)
        if inside.any():
            means = {f"stage {s}": float(part[inside].mean()) for s, part in enumerate(surfaces)}
            rows.append({"region": region, "rows": int(inside.sum()), **means})
    return pd.DataFrame(rows)
