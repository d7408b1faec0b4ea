"""Exact Shapley values: ours beside the ``shap`` package's exact and permutation explainers.

One model of at most 10 stages on 12 features, 1,000 rows to explain, 100 background rows. The
three run in turn in one process with one thread each. shap's exact explainer evaluates all 2**12
coalitions of every row, so it is given the first 20 rows and its time per row is compared; the
permutation explainer gets all rows. Values are compared on the rows they share.

    python -m benchmarks.shapley_speed
"""

from __future__ import annotations

import argparse
import json
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks import machine
from seplearn import TSLRegressor, explain

RESULTS = Path(__file__).parent / "results" / "shapley_speed.json"
N_FEATURES, N_STAGES, N_ROWS, N_BACKGROUND, N_EXACT = 12, 10, 1_000, 100, 20


def make_model() -> tuple[TSLRegressor, np.ndarray]:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(4_000, N_FEATURES))
    y = X[:, 0] * X[:, 1] * (1 + X[:, 2]) + np.sin(X[:, 3:6]).sum(axis=1) * np.exp(X[:, 6] / 2)
    options: dict[str, Any] = {"early_stopping": False, "random_state": 0, "n_jobs": -1}
    return TSLRegressor(N_STAGES, **options).fit(X, y + rng.normal(0, 0.2, len(y))), X


def timed(function: Callable[[], Any]) -> tuple[float, Any]:
    started = time.perf_counter()
    result = function()
    return time.perf_counter() - started, result


def main() -> None:
    argparse.ArgumentParser(description=__doc__.splitlines()[0]).parse_args()
    import shap

    warnings.filterwarnings("ignore", category=FutureWarning)
    model, X = make_model()
    rows, background = X[:N_ROWS], X[-N_BACKGROUND:]
    masker = shap.maskers.Independent(background, max_samples=N_BACKGROUND)
    exact = shap.explainers.Exact(model.predict, masker)
    permutation = shap.explainers.Permutation(model.predict, masker, seed=0)
    explain.shapley(model, rows[:2], background=background)  # compiled before the clock runs
    exact(rows[:1])
    ours, mine = timed(lambda: explain.shapley(model, rows, background=background))
    exact_time, theirs = timed(lambda: exact(rows[:N_EXACT]))
    permutation_time, sampled = timed(lambda: permutation(rows))
    again, _ = timed(lambda: explain.shapley(model, rows, background=background))
    per_row = 1e3 * np.array([ours, again]) / N_ROWS
    size = float(np.abs(mine.values).mean())
    result = {
        "features": N_FEATURES,
        "stages": len(model.stages_),
        "rows": N_ROWS,
        "background": N_BACKGROUND,
        "ms_per_row": {
            "seplearn, first": float(per_row[0]),
            "seplearn, again": float(per_row[1]),
            "shap exact": 1e3 * exact_time / N_EXACT,
            "shap permutation": 1e3 * permutation_time / N_ROWS,
        },
        "ratio_to_exact": float(1e3 * exact_time / N_EXACT / per_row.max()),
        "ratio_to_permutation": float(1e3 * permutation_time / N_ROWS / per_row.max()),
        "largest_difference_to_exact": float(np.abs(mine.values[:N_EXACT] - theirs.values).max()),
        "mean_difference_to_permutation": float(np.abs(mine.values - sampled.values).mean()),
        "mean_size": size,
        "commit": machine.commit(),
        "machine": machine.describe("seplearn", "shap", "numpy", "numba"),
    }
    RESULTS.write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")
    print(json.dumps(result, indent=1))


if __name__ == "__main__":
    main()
