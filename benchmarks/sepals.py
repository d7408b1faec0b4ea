"""SepALS: the published test RMSE with the published parameters, and time beside plain NumPy.

The paper's split (80/20, ``random_state=42``), three seeds of ours, of which the median counts. The
plain fit is the oracle of the tests: the same start, basis and sweeps, one dense least-squares
problem per mode.

    python -m benchmarks.sepals [--data-dir FOLDER]
"""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any, Literal

import numpy as np
from sklearn.model_selection import train_test_split
from tqdm import tqdm

from benchmarks import data, machine
from seplearn import SepALSRegressor

RESULTS = Path(__file__).parent / "results" / "sepals.json"
KINDS = {"sepals_r2": "r <= 2", "sepals_r10": "r <= 10"}
SEEDS = (0, 1, 2)
N_SWEEPS = 30
Basis = Literal["tent", "monomial"]
SPEED_CASES: tuple[tuple[int, Basis, int], ...] = (
    (2, "monomial", 3),
    (2, "tent", 4),
    (10, "monomial", 5),
    (10, "tent", 4),
)


def fidelity(folder: Path, entry: dict[str, Any], kind: str) -> dict[str, Any]:
    """One dataset: test RMSE of three seeds beside the published one."""
    published = data.tuned_parameters(folder)[entry["name"]][kind]
    parameters = {k: v for k, v in published["params"].items() if k != "refit_scales"}
    X, y = data.load(folder, entry)
    X, X_test, y, y_test = train_test_split(X, y, test_size=0.2, random_state=42)
    started, ratios = time.perf_counter(), []
    for seed in SEEDS:
        model = SepALSRegressor(**parameters, random_state=seed, n_jobs=-1).fit(X, y)
        rmse = float(np.sqrt(np.mean((y_test - model.predict(X_test)) ** 2)))
        ratios.append(rmse / published["test_rmse"])
    return {
        "dataset": entry["name"],
        "model": KINDS[kind],
        "published_rmse": published["test_rmse"],
        "ratios": ratios,
        "ratio": float(np.median(ratios)),
        "seconds": (time.perf_counter() - started) / len(SEEDS),
        "basis": parameters["basis"],
        "degree": parameters["degree"],
        "rank": parameters["rank"],
    }


def speed(n_rows: int, rank: int, basis: Basis, degree: int) -> dict[str, Any]:
    """Sweeps on 8 features, ours and plain, one after the other, twice."""
    rng = np.random.default_rng(0)
    X = rng.uniform(-1, 1, size=(n_rows, 8))
    y = X[:, 0] ** 2 * X[:, 1] + np.sin(3 * X[:, 2]) * X[:, 3] + rng.normal(0, 0.1, n_rows)
    model = SepALSRegressor(
        rank=rank, basis=basis, degree=degree, max_sweeps=N_SWEEPS, tol=0.0, ridge=1e-6,
        smoothness=1e-3, n_init=1, random_state=0,
    )  # fmt: skip
    model.fit(X[:500], y[:500])  # compiled before the clock runs
    ours, plain = [], []
    for _ in range(2):
        started = time.perf_counter()
        model.fit(X, y)
        ours.append(time.perf_counter() - started)
        started = time.perf_counter()
        plain_fit(X, y, rank, basis, degree)
        plain.append(time.perf_counter() - started)
    return {
        "rows": n_rows,
        "rank": rank,
        "basis": basis,
        "degree": degree,
        "seconds": ours,
        "plain_seconds": plain,
        "times_faster": float(np.mean(plain) / np.mean(ours)),
    }


def plain_fit(X: np.ndarray, y: np.ndarray, rank: int, basis: str, degree: int) -> None:
    """The sweeps with NumPy's least squares, a dense problem per mode."""
    from seplearn.fitting.basis import monomials, tents
    from tests import naive_sepals

    u = (X - X.min(axis=0)) / np.ptp(X, axis=0)
    make = tents if basis == "tent" else monomials
    pairs = [make(column if basis == "tent" else 2 * column - 1, degree) for column in u.T]
    rng = np.random.default_rng(0)
    start = [0.1 * rng.normal(size=(len(order), rank)) for _, order in pairs]
    for coefficients in start:
        coefficients[0] += 1.0
    designs, penalties = [d for d, _ in pairs], [1e-6 + 1e-3 * order**2 for _, order in pairs]
    weight = np.ones(len(y))
    naive_sepals.fit(designs, penalties, start, y - y.mean(), weight, N_SWEEPS, True)


def main() -> None:
    folder = data.asked_folder(__doc__, data.LISTED, data.PUBLISHED)
    if folder is None:
        return
    cells = data.published_cells(folder, KINDS)
    speeds = [speed(20_000, *case) for case in SPEED_CASES]
    rows = [fidelity(folder, *cell) for cell in tqdm(cells)]
    result = {
        "rows": rows,
        "reached": sum(row["ratio"] <= 1.05 for row in rows),
        "cells": len(rows),
        "speed": speeds,
        "commit": machine.commit(),
        "machine": machine.describe("seplearn", "numpy", "numba"),
    }
    RESULTS.write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")
    for row in rows:
        print(f"{row['dataset']:32s} {row['model']:8s} {row['ratio']:8.3f}")
    print(f"within 5 % of the published RMSE, or better: {result['reached']} of {len(rows)}")
    print([round(case["times_faster"], 1) for case in speeds])


if __name__ == "__main__":
    main()
