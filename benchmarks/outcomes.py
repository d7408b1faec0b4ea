"""How often intervals hold the outcomes of rows not seen, and how wide they are.

80/20 splits with ``random_state`` 0 and 1, of the training part at most 10,000 rows, defaults. Ours
is ``predict_interval(kind="outcome")``; beside it LightGBM with its defaults, a model of the 5 %
and one of the 95 % quantile. The level is 90 %; widths are means over the test rows, ours over
LightGBM's. The score is the interval score (width, plus 20 times what an outcome lies outside),
which the true quantiles make smallest: it counts both, so that narrow intervals that hold too
little do not win.

    python -m benchmarks.outcomes [--data-dir FOLDER]

Without the tables it measures nothing and says so.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from sklearn.model_selection import train_test_split
from tqdm import tqdm

from benchmarks import data, machine
from benchmarks.rivals.lightgbm import quantile
from seplearn import TSLRegressor

RESULTS = Path(__file__).parent / "results" / "outcomes.json"
SPLITS, LEVEL, MOST_ROWS = (0, 1), 0.9, 10_000


def measure(folder: Path, entry: dict[str, Any], split: int) -> dict[str, Any]:
    """One split of a table: coverage, width and score of both kinds of intervals."""
    X, y = data.load_table(folder, entry)
    X, X_test, y, y_test = train_test_split(X, y, test_size=0.2, random_state=split)
    X, y = X[:MOST_ROWS], y[:MOST_ROWS]
    model = TSLRegressor(random_state=0).fit(X, y)
    return {
        "dataset": entry["name"],
        "split": split,
        "rows": len(y),
        "seplearn": told(model.predict_interval(X_test, LEVEL), y_test),
        "lightgbm": told(of_quantiles(X, y, X_test), y_test),
    }


def of_quantiles(X: pd.DataFrame, y: np.ndarray, X_test: pd.DataFrame) -> np.ndarray:
    """The interval between two quantiles, each of a model of its own."""
    tails = (0.5 - 0.5 * LEVEL, 0.5 + 0.5 * LEVEL)
    ends = [quantile({"level": tail}, 0).fit(X, y).predict(X_test) for tail in tails]
    return np.column_stack(ends)


def told(ends: np.ndarray, y: np.ndarray) -> dict[str, float]:
    """Share of outcomes inside, mean width, interval score."""
    low, high = ends.T
    outside = np.maximum(low - y, 0.0) + np.maximum(y - high, 0.0)
    return {
        "coverage": float(np.mean((low <= y) & (y <= high))),
        "width": float(np.mean(high - low)),
        "score": float(np.mean(high - low + 2.0 / (1.0 - LEVEL) * outside)),
    }


def summary(rows: list[dict[str, Any]]) -> dict[str, Any]:
    """Medians over tables, each the mean of its splits; widths and scores over LightGBM's."""
    tables = sorted({row["dataset"] for row in rows})

    def mean(name: str, whose: str, what: str) -> float:
        return float(np.mean([row[whose][what] for row in rows if row["dataset"] == name]))

    def ratios(what: str) -> list[float]:
        return [mean(name, "seplearn", what) / mean(name, "lightgbm", what) for name in tables]

    held = {name: mean(name, "seplearn", "coverage") for name in tables}
    others = [mean(name, "lightgbm", "coverage") for name in tables]
    worst = min(tables, key=lambda name: held[name])
    return {
        "tables": len(tables),
        "nominal": LEVEL,
        "median_coverage": float(np.median(list(held.values()))),
        "worst_coverage": held[worst],
        "worst_table": worst,
        "within_3_points": sum(abs(share - LEVEL) <= 0.03 for share in held.values()),
        "lightgbm_median_coverage": float(np.median(others)),
        "median_width_ratio": float(np.median(ratios("width"))),
        "median_score_ratio": float(np.median(ratios("score"))),
        "better_scores": int(np.sum(np.array(ratios("score")) < 1.0)),
    }


def main() -> None:
    folder = data.asked_folder(__doc__, data.LISTED)
    if folder is None:
        return
    packages = ("seplearn", "numba", "numpy", "lightgbm")
    where = {"machine": machine.describe(*packages), "commit": machine.commit()}
    rows = []
    for entry in tqdm(data.datasets(folder), desc="tables"):
        rows += [measure(folder, entry, split) for split in SPLITS]
        results = {**where, "most_rows": MOST_ROWS, "summary": summary(rows), "rows": rows}
        RESULTS.write_text(json.dumps(results, indent=1) + "\n", encoding="utf-8")
    print(json.dumps(summary(rows), indent=1))


if __name__ == "__main__":
    main()
