"""Fit time, error and memory beside ``tensorsl`` 0.6.0, in one run, the two alternating.

Compilation is not timed: both get one small fit first. Both use two threads and 255 bins.

    python -m benchmarks.speed [--data-dir FOLDER]
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

os.environ.setdefault("RAYON_NUM_THREADS", "2")

import numpy as np
from sklearn.model_selection import train_test_split

from seplearn import TSLRegressor

THREADS = int(os.environ["RAYON_NUM_THREADS"])
RESULTS = Path(__file__).parent / "results" / "speed.json"
LARGE = {"n_stages": 2, "n_grids": 4, "n_splits": 30}


def ours(X: np.ndarray, y: np.ndarray, parameters: dict[str, Any], seed: int) -> Any:
    """Fit with the published parameters; their alpha is in squared units of y."""
    translated = parameters | {"alpha": parameters["alpha"] / y.var()}
    model = TSLRegressor.paper(**translated, max_bins=255, random_state=seed, n_jobs=THREADS)
    return model.fit(X, y)


def theirs(X: np.ndarray, y: np.ndarray, parameters: dict[str, Any], seed: int) -> Any:
    """Fit with the published parameters under the names that version 0.6 gives them."""
    from tensorsl import TSLRegressor as Reference

    renamed = dict(parameters)
    renamed["colsample_bysplit"] = renamed.pop("colsample_bytree")
    model = Reference(**renamed, tilt_tau=0.0, max_bins=255, seed=seed, verbosity=0)
    return model.fit(X, y)


RIVALS = {"seplearn": ours, "tensorsl": theirs}


def measured_fit(name: str, parts: list[np.ndarray], parameters: dict[str, Any], seed: int) -> Any:
    X, X_test, y, y_test = parts
    started = time.perf_counter()
    model = RIVALS[name](X, y, parameters, seed)
    seconds = time.perf_counter() - started
    rmse = float(np.sqrt(np.mean((y_test - model.predict(X_test)) ** 2)))
    return {"model": name, "split": seed, "seconds": seconds, "rmse": rmse}


def california(folder: Path, kind: str) -> dict[str, Any]:
    """The tuned parameters of the paper on three splits."""
    from benchmarks import data

    entry = next(e for e in data.datasets(folder) if e["name"] == "california_housing")
    X, y = data.load(folder, entry)
    published = data.tuned_parameters(folder)["california_housing"][kind]["params"]
    parameters = data.active(published)
    for fit in RIVALS.values():
        fit(X[:500], y[:500], parameters | {"n_trees": 2}, 0)
    rows = []
    for seed in range(3):
        parts = train_test_split(X, y, test_size=0.2, random_state=seed)
        for name in RIVALS:
            rows.append(measured_fit(name, parts, parameters, seed))
            print(json.dumps({"case": kind, **rows[-1]}), flush=True)
    return {"fits": rows, **ratios(rows)}


def ratios(rows: list[dict[str, Any]]) -> dict[str, float]:
    """How many times faster ours is, and its RMSE relative to the rival's, from the means."""
    mean = {
        (name, key): np.mean([row[key] for row in rows if row["model"] == name])
        for name in RIVALS
        for key in ("seconds", "rmse")
    }
    return {
        "times_faster": float(mean["tensorsl", "seconds"] / mean["seplearn", "seconds"]),
        "rmse_ratio": float(mean["seplearn", "rmse"] / mean["tensorsl", "rmse"]),
    }


def generated(n: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 10))
    signal = np.exp(0.5 * X[:, 0]) * np.sin(X[:, 1]) + X[:, 2] * X[:, 3]
    return X, signal + rng.normal(size=n)


def large_fit(name: str) -> dict[str, Any]:
    """One fit of 1,000,000 x 10 rows in this process, with its peak memory."""
    X, y = generated(1_000_000, 0)
    X_test, y_test = generated(100_000, 1)
    parameters = {
        "epochs": LARGE["n_stages"],
        "n_trees": LARGE["n_grids"],
        "n_iter": LARGE["n_splits"],
        "alpha": 1e-3,
        "colsample_bytree": 0.8,
        "decay": 1.0,
        "min_interval_samples": 20,
        "refinement_strategy": "l2",
        "similarity_threshold": 0.0,
        "split_try": 10,
        "update_clamp": 3.0,
    }
    RIVALS[name](X[:500], y[:500], parameters, 0)
    fit = measured_fit(name, [X, X_test, y, y_test], parameters, 0)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    return fit | {"peak_gib": peak}


def large() -> dict[str, Any]:
    """Both, each in a process of its own, so that peaks do not mix; two rounds, alternating."""
    rows = []
    for _ in range(2):
        for name in RIVALS:
            command = [sys.executable, "-m", "benchmarks.speed", "--large-fit", name]
            done = subprocess.run(command, capture_output=True, text=True, check=True)
            rows.append(json.loads(done.stdout.splitlines()[-1]))
            print(json.dumps({"case": "1,000,000 x 10", **rows[-1]}), flush=True)
    peak = {name: max(r["peak_gib"] for r in rows if r["model"] == name) for name in RIVALS}
    memory = {"memory_ratio": peak["seplearn"] / peak["tensorsl"]}
    return {"settings": LARGE, "fits": rows, **ratios(rows), **memory}


LARGE_CASE = "1,000,000 x 10"
CASES: dict[str, Callable[[Path], dict[str, Any]]] = {
    "california_housing, R <= 2": lambda folder: california(folder, "tsl_r2"),
    LARGE_CASE: lambda _: large(),
    "california_housing, R <= 10": lambda folder: california(folder, "tsl_r10"),
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data-dir", type=Path, help="folder with data/ and reference/")
    parser.add_argument("--case", choices=CASES, nargs="+", default=list(CASES))
    parser.add_argument("--large-fit", choices=RIVALS, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.large_fit:
        print(json.dumps(large_fit(arguments.large_fit)))
        return
    from benchmarks import data, machine

    folder = arguments.data_dir
    results = json.loads(RESULTS.read_text(encoding="utf-8")) if RESULTS.exists() else {}
    results["machine"] = machine.describe("seplearn", "tensorsl", "numba", "numpy")
    results["threads"] = THREADS
    RESULTS.parent.mkdir(exist_ok=True)
    for case in arguments.case:
        if case != LARGE_CASE and not data.has_files(folder, data.LISTED, data.PUBLISHED):
            continue
        results[case] = {"commit": machine.commit(), **CASES[case](folder)}
        RESULTS.write_text(json.dumps(results, indent=1) + "\n", encoding="utf-8")
        numbers = {k: round(v, 3) for k, v in results[case].items() if isinstance(v, float)}
        print(f"{case}: {numbers}")


if __name__ == "__main__":
    main()
