"""Test RMSE of the default model: beside the paper's tuned models, and beside rivals' defaults.

Two protocols, over all datasets of the folder:

- the paper's split (80/20, ``random_state=42``), where every published model was tuned by 200
  trials of 10-fold cross-validation and ours is not tuned at all;
- five fresh splits (seeds 0 to 4; 0 and 1 for the slow EBM), every model with its defaults.

One row per fit goes to ``results/accuracy.csv`` as soon as it is there; a fit that has a row is
not repeated, so the run can be ended and taken up again. Fit times side by side with ``tensorsl``
and EBM, and their growth, go to ``results/joint_speed.json``. The tables are written from both.

    python -m benchmarks accuracy
"""

from __future__ import annotations

import argparse
import os
import time
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

os.environ.setdefault("RAYON_NUM_THREADS", "2")

import numpy as np
import pandas as pd
from sklearn.model_selection import train_test_split
from tqdm import tqdm

from benchmarks import accuracy_tables, data, joint_speed, machine
from benchmarks.rivals import RIVALS
from seplearn import TSLRegressor

RESULTS = Path(__file__).parent / "results"
ROWS = RESULTS / "accuracy.csv"
COLUMNS = [
    "dataset", "split", "model", "rmse", "seconds", "stages", "cancellation", "commit",
]  # fmt: skip
PAPER_SPLIT = 42
FRESH_SPLITS = range(5)
SLOW_SPLITS = range(2)  # of EBM
OURS: dict[str, dict[str, Any]] = {
    "seplearn": {},
    "seplearn, another seed": {"random_state": 1},
    "seplearn, 2 stages": {"n_stages": 2},
    "seplearn, 10 stages": {"n_stages": 10, "early_stopping": False},
    "seplearn, 10 stages, free": {"n_stages": 10, "early_stopping": False, "energy": 0.007},
}


def cells(names: list[str]) -> Iterator[tuple[str, int, str]]:
    """All (dataset, split, model) to be measured, the fast models first."""
    for model in OURS:
        yield from ((name, PAPER_SPLIT, model) for name in names)
    yield from ((name, split, "seplearn") for split in FRESH_SPLITS for name in names)
    for rival in ("lightgbm", "xgboost", "tensorsl", "ebm"):
        splits = SLOW_SPLITS if rival == "ebm" else FRESH_SPLITS
        yield from ((name, split, rival) for split in splits for name in names)


def measure(folder: Path, entry: dict[str, Any], split: int, model: str) -> dict[str, Any]:
    """One fit: its error on the test part, and for ours what the model looks like."""
    X, y = data.load_table(folder, entry)
    X, X_test, y, y_test = train_test_split(X, y, test_size=0.2, random_state=split)
    row: dict[str, Any] = {"dataset": entry["name"], "split": split, "model": model}
    started = time.perf_counter()
    if model in OURS:
        options = {"random_state": 0, "n_jobs": -1} | OURS[model]
        fitted = TSLRegressor(**options).fit(X, y)
        prediction = fitted.predict(X_test)
        row["stages"] = len(fitted.stages_)
        row["cancellation"] = fitted.history_[-1].cancellation if fitted.history_ else 1.0
    else:
        rival = RIVALS[model]
        X, X_test = rival.tables(X, y, X_test)
        prediction = rival.make({}, split).fit(X, y).predict(X_test)
    row["seconds"] = time.perf_counter() - started
    row["rmse"] = float(np.sqrt(np.mean((y_test - prediction) ** 2)))
    row["commit"] = machine.commit()
    return row


def read_rows() -> pd.DataFrame:
    if not ROWS.exists():
        return pd.DataFrame(columns=COLUMNS)
    return pd.read_csv(ROWS)


def append(row: dict[str, Any]) -> None:
    line = pd.DataFrame([row], columns=COLUMNS)
    line.to_csv(ROWS, mode="a", header=not ROWS.exists(), index=False)


def main(arguments: argparse.Namespace) -> None:
    warnings.filterwarnings("ignore", message="no stage improves on a constant")
    folder = arguments.data_dir
    if not arguments.report:
        rows = read_rows()
        if arguments.again:
            rows = rows[~rows["model"].isin(arguments.again)]
            rows.to_csv(ROWS, index=False)
        entries = {entry["name"]: entry for entry in data.datasets(folder)}
        done = set(zip(rows["dataset"], rows["split"], rows["model"], strict=True))
        wanted = arguments.models
        todo = [
            cell
            for cell in cells(list(entries))
            if cell not in done and (wanted is None or cell[2] in wanted)
        ]
        for name, split, model in tqdm(todo, desc="fits"):
            append(measure(folder, entries[name], split, model))
        if wanted is None or "speed" in wanted:
            joint_speed.run(folder)
    accuracy_tables.write(folder, read_rows(), RESULTS / "accuracy.md")
