"""How often the band of a curve holds the truth, for a function that is one product.

The target is ``exp(sin(2 x1)) * (1 + x2**2) + noise`` on 2,000 rows, x uniform on [-1.5, 1.5]; a
model of one positive product without intercept can be right. The truth of a bin is the mean of
the true log-curve over its rows, in the model's gauge. Counted over bins, weighted by their rows,
and over 100 repetitions; the nominal level is 90 %.

    python -m benchmarks.coverage
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
from tqdm import tqdm

from benchmarks import machine
from seplearn import TSLRegressor, explain
from seplearn.table.binning import NumericAxis

RESULTS = Path(__file__).parent / "results" / "coverage.json"
N_ROWS, N_REPETITIONS, N_BOOTSTRAP, LEVEL = 2_000, 100, 100, 0.9
Curve = Callable[[np.ndarray], np.ndarray]
TRUE_LOGS: tuple[Curve, ...] = (lambda x: np.sin(2 * x), lambda x: np.log1p(x**2))


def one_repetition(seed: int) -> dict[str, float]:
    rng = np.random.default_rng(seed)
    X = rng.uniform(-1.5, 1.5, size=(N_ROWS, 2))
    truth = np.exp(sum(f(X[:, j]) for j, f in enumerate(TRUE_LOGS)))
    y = truth + rng.normal(0.0, 0.5, N_ROWS)
    model = TSLRegressor(
        1,
        early_stopping=False,
        fit_intercept=False,
        n_bootstrap=N_BOOTSTRAP,
        random_state=seed,
        n_jobs=-1,
    ).fit(X, np.maximum(y, 1e-3))
    out = {}
    for j, curve in enumerate(explain.curves(model, 0, level=LEVEL)):
        assert isinstance(curve.axis, NumericAxis)  # every column is one of numbers
        codes = np.searchsorted(curve.axis.edges, X[:, j], side="right")
        logs = TRUE_LOGS[j](X[:, j])
        counts = np.bincount(codes, minlength=len(curve.frequencies) - 1)
        means = np.bincount(codes, logs, minlength=len(counts)) / np.maximum(counts, 1)
        means -= np.sum(means * counts) / counts.sum()
        low, high = np.log(curve.bands["backbone"][:, :-1])
        inside = (low <= means) & (means <= high)
        out[f"x{j + 1}"] = float(np.sum(counts * inside) / counts.sum())
    low, high = model.predict_interval(X, LEVEL, kind="mean").T
    return out | {"prediction": float(np.mean((low <= truth) & (truth <= high)))}


def main() -> None:
    argparse.ArgumentParser(description=__doc__.splitlines()[0]).parse_args()
    rows = [one_repetition(seed) for seed in tqdm(range(N_REPETITIONS))]
    coverage = {name: float(np.mean([row[name] for row in rows])) for name in rows[0]}
    result = {
        "rows": N_ROWS,
        "repetitions": N_REPETITIONS,
        "bootstrap": N_BOOTSTRAP,
        "nominal": LEVEL,
        "coverage": coverage,
        "commit": machine.commit(),
        "machine": machine.describe("seplearn", "numpy", "numba"),
    }
    RESULTS.write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")
    print(json.dumps(coverage))


if __name__ == "__main__":
    main()
