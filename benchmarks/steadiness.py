"""How much of what a model says depends on its seed: two fits of the same rows, side by side.

80/20 splits with ``random_state=0``, of the training part at most 10,000 rows, defaults, seeds 0
and 1. Both fits have the same bins. The partial dependence curves of a feature are correlated over
them, weighted by the rows in each; the mean over features is weighted by importance (share of the
mean absolute Shapley value, averaged over both fits). Two constants are alike.

    python -m benchmarks.steadiness [--data-dir FOLDER]
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.model_selection import train_test_split
from tqdm import tqdm

from benchmarks import data, machine
from seplearn import TSLRegressor, explain

RESULTS = Path(__file__).parent / "results" / "steadiness.json"
SEEDS = (0, 1)
MOST_ROWS = 10_000


def measure(folder: Path, entry: dict[str, Any]) -> dict[str, Any]:
    """One table: how alike the curves of two seeds are, their sizes and their errors."""
    X, y = data.load_table(folder, entry)
    X, X_test, y, y_test = train_test_split(X, y, test_size=0.2, random_state=0)
    X, y = X[:MOST_ROWS], y[:MOST_ROWS]
    one, other = models = [TSLRegressor(random_state=seed).fit(X, y) for seed in SEEDS]
    errors = [np.sqrt(np.mean((y_test - model.predict(X_test)) ** 2)) for model in models]
    shares = np.mean([explain.importance(model).share for model in models], axis=0)
    alike = [alikeness(one, other, feature) for feature in range(X.shape[1])]
    both_constant = not shares.any()
    return {
        "dataset": entry["name"],
        "rows": len(y),
        "correlation": 1.0 if both_constant else float(np.average(alike, weights=shares)),
        "products": [len(model.stages_) for model in models],
        "curves": [model.reading_size_ for model in models],
        "rmse": [float(error) for error in errors],
        "features": {
            name: {"correlation": r, "share": float(share)}
            for name, r, share in zip(X, alike, shares, strict=True)
        },
    }


def alikeness(one: TSLRegressor, other: TSLRegressor, feature: int) -> float:
    """Correlation of two partial dependence curves over the rows; 1 where both are flat."""
    first, second = (explain.partial_dependence(model, feature) for model in (one, other))
    (weight,) = first.frequencies
    np.testing.assert_array_equal(weight, second.frequencies[0])
    curves = np.array([part.total - weight @ part.total for part in (first, second)])
    scales = np.sqrt(curves**2 @ weight)
    flat = scales <= 1e-9 * abs(first.mean)
    if flat.any():
        return float(flat.all())
    return float(weight @ np.prod(curves, axis=0) / np.prod(scales))


def summary(rows: list[dict[str, Any]]) -> dict[str, Any]:
    """Medians over tables, and the worst of them."""
    worst = min(rows, key=lambda row: row["correlation"])
    apart = np.array([abs(np.subtract(*row["products"])) for row in rows])
    ratios = {row["dataset"]: max(row["rmse"]) / min(row["rmse"]) - 1.0 for row in rows}
    furthest = max(ratios, key=lambda name: ratios[name])
    return {
        "tables": len(rows),
        "median_correlation": float(np.median([row["correlation"] for row in rows])),
        "worst_correlation": worst["correlation"],
        "worst_table": worst["dataset"],
        "products_at_most_2_apart": int(np.sum(apart <= 2)),
        "median_error_apart": float(np.median(list(ratios.values()))),
        "largest_error_apart": ratios[furthest],
        "largest_error_table": furthest,
    }


def main() -> None:
    folder = data.asked_folder(__doc__, data.LISTED)
    if folder is None:
        return
    where = {"machine": machine.describe("seplearn", "numba", "numpy"), "commit": machine.commit()}
    rows = []
    for entry in tqdm(data.datasets(folder), desc="tables"):
        rows.append(measure(folder, entry))
        results = {**where, "seeds": SEEDS, "most_rows": MOST_ROWS, "summary": summary(rows)}
        RESULTS.write_text(json.dumps(results | {"rows": rows}, indent=1) + "\n", encoding="utf-8")
    print(json.dumps(summary(rows), indent=1))


if __name__ == "__main__":
    main()
