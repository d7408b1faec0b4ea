"""Fit time of the default model beside ``tensorsl`` and EBM, and its growth with rows and features.

All fits of a case run one after the other in the same process; ours has two threads, ``tensorsl``
two, EBM what it takes by default. ``tensorsl`` has the paper's tuned parameters for R <= 10 (those
of california_housing also on bike_sharing, for which none are published).
"""

from __future__ import annotations

import json
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.model_selection import train_test_split

from benchmarks import data, machine
from benchmarks.encoding import numbers_only
from benchmarks.rivals import RIVALS
from benchmarks.speed import theirs
from seplearn import TSLRegressor

RESULTS = Path(__file__).parent / "results" / "joint_speed.json"
TABLES = ("california_housing", "bike_sharing")
GROWTH = {"n_stages": 8, "random_state": 0, "n_jobs": 2}
ROWS = (10_000, 100_000, 1_000_000)
FEATURES = (5, 20, 80)


def seconds(function: Callable[[], Any]) -> tuple[float, Any]:
    started = time.perf_counter()
    result = function()
    return time.perf_counter() - started, result


def beside_rivals(folder: Path, name: str) -> dict[str, Any]:
    """One table: ours twice (first and last), the rivals in between."""
    entry = next(e for e in data.datasets(folder) if e["name"] == name)
    X, y = data.load_table(folder, entry)
    X, X_test, y, y_test = train_test_split(X, y, test_size=0.2, random_state=0)
    published = data.tuned_parameters(folder)["california_housing"]["tsl_r10"]["params"]
    X_numbers, X_test_numbers = numbers_only(X, y, X_test)

    def ours() -> Any:
        return TSLRegressor(random_state=0, n_jobs=2).fit(X, y).predict(X_test)

    fits = {
        "seplearn": ours,
        "tensorsl": lambda: theirs(X_numbers, y, data.active(published), 0).predict(X_test_numbers),
        "ebm": lambda: RIVALS["ebm"].make({}, 0).fit(X, y).predict(X_test),
        "seplearn, again": ours,
    }
    TSLRegressor(n_stages=2, n_jobs=2).fit(X[:500], y[:500])  # compiles
    out: dict[str, Any] = {}
    for model, fit in fits.items():
        taken, prediction = seconds(fit)
        error = float(np.sqrt(np.mean((y_test - prediction) ** 2)))
        out[model] = {"seconds": taken, "rmse": error}
        print(name, model, out[model], flush=True)
    mine = np.mean([out[m]["seconds"] for m in ("seplearn", "seplearn, again")])
    out["times_faster"] = {m: out[m]["seconds"] / mine for m in ("tensorsl", "ebm")}
    return out


def growth() -> list[dict[str, Any]]:
    """Seconds per million cells; linear growth keeps it level."""
    rng = np.random.default_rng(0)
    rows = []
    for n, p in [(n, 20) for n in ROWS] + [(20_000, p) for p in FEATURES]:
        X = rng.normal(size=(n, p)).astype(np.float32)
        y = np.exp(0.5 * X[:, 0]) * (1 + X[:, 1] ** 2) - X[:, 2] * X[:, 3] + rng.normal(size=n)
        taken, model = seconds(lambda X=X, y=y: TSLRegressor(**GROWTH).fit(X, y))
        visits = sum(range(1, len(model.stages_) + 1))
        rows.append(
            {
                "rows": n,
                "features": p,
                "seconds": taken,
                "stages": len(model.stages_),
                "microseconds_per_cell": 1e6 * taken / (n * p),
                "nanoseconds_per_cell_and_stage_visit": 1e9 * taken / (n * p * visits),
            }
        )
        print(rows[-1], flush=True)
    return rows


def run(folder: Path) -> dict[str, Any]:
    """Measure what the result file does not have yet."""
    warnings.filterwarnings("ignore")
    result: dict[str, Any] = {}
    if RESULTS.exists():
        result = json.loads(RESULTS.read_text(encoding="utf-8"))
    steps: dict[str, Callable[[], Any]] = {
        "growth": growth,
        **{name: lambda name=name: beside_rivals(folder, name) for name in TABLES},
    }
    for name, step in steps.items():
        if name not in result:
            result[name] = step()
            result["commit"] = machine.commit()
            result["machine"] = machine.describe("seplearn", "tensorsl", "interpret-core")
            RESULTS.write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")
    return result
