"""Real tables for benchmarks, prepared as the paper's published benchmark prepares them."""

from __future__ import annotations

import argparse
import json
import re
from collections.abc import Collection
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

# Names in the published parameter files that the fit does not depend on.
_INERT = {
    "bagged",
    "complexity_penalty",
    "min_split_loss",
    "prior_sample_size",
    "split_strategy",
    "tilt_rho",
    "tilt_tau",
}


REGRESSION_TABLES, CLASS_TABLES = "data", "data_classification"
LISTED = f"{REGRESSION_TABLES}/datasets.json"  # which tables there are
PUBLISHED = "reference/tuned_parameters.json"  # what the paper's authors found


def asked_folder(description: str | None, *needed: str) -> Path | None:
    """The folder of ``--data-dir`` of a script that needs files of it; None, said, without them."""
    parser = argparse.ArgumentParser(description=(description or "").splitlines()[0])
    about = "folder with data/ (tables) and reference/ (published parameters and errors)"
    parser.add_argument("--data-dir", type=Path, help=about)
    folder: Path | None = parser.parse_args().data_dir
    return folder if has_files(folder, *needed) else None


def has_files(folder: Path | None, *needed: str) -> bool:
    """Whether a folder is given and has these files; says what is skipped for lack of them."""
    if folder is None:
        print(f"skipped: needs --data-dir, a folder with {' and '.join(needed)}")
        return False
    missing = [name for name in needed if not (folder / name).exists()]
    if missing:
        print(f"skipped: {folder} has no {' and no '.join(missing)}")
    return not missing


def datasets(folder: Path, tables: str = REGRESSION_TABLES) -> list[dict[str, Any]]:
    """The list of tables of a folder, smallest first."""
    entries = json.loads((folder / tables / "datasets.json").read_text(encoding="utf-8"))
    return sorted(entries, key=lambda entry: entry["n_rows"] * entry["n_features"])


def tuned_parameters(folder: Path) -> dict[str, Any]:
    """Published tuned parameters and test RMSE: dataset -> model -> {params, test_rmse}."""
    text = (folder / PUBLISHED).read_text(encoding="utf-8")
    return json.loads(text)


def published_cells(folder: Path, kinds: Collection[str]) -> list[tuple[dict[str, Any], str]]:
    """(table, model) of all published figures of the models named, smallest table first."""
    published = tuned_parameters(folder)
    return [
        (entry, kind)
        for entry in datasets(folder)
        for kind in kinds
        if kind in published.get(entry["name"], {})
    ]


def active(parameters: dict[str, Any]) -> dict[str, Any]:
    """The published TSL parameters without those that have no effect."""
    return {name: value for name, value in parameters.items() if name not in _INERT}


def load(folder: Path, entry: dict[str, Any]) -> tuple[np.ndarray, np.ndarray]:
    """Numbers, then booleans, then categories as smoothed target means over the whole table.

    Encoding before the split leaks the target; it is what the published figures were made with,
    and serves comparison with them only.
    """
    table = pd.read_parquet(folder / "data" / f"{entry['name']}.parquet")
    y = table.pop(entry["target"]).to_numpy(dtype=float)
    kinds = {name: table[name].dtype.kind for name in table}
    plain = [n for n in table if kinds[n] in "iuf"] + [n for n in table if kinds[n] == "b"]
    encoded = [target_means(table[n], y) for n in table if n not in plain]
    return np.column_stack([table[plain].to_numpy(dtype=float), *encoded]), y


def load_table(folder: Path, entry: dict[str, Any]) -> tuple[pd.DataFrame, np.ndarray]:
    """The table as it is: numbers stay numbers, everything else becomes ``category``."""
    table, target = _read(folder / REGRESSION_TABLES, entry)
    return table, target.to_numpy(dtype=float)


def load_classes(folder: Path, entry: dict[str, Any]) -> tuple[pd.DataFrame, np.ndarray]:
    """The same, with the number of its class for every row: classes are sorted by name."""
    table, target = _read(folder / CLASS_TABLES, entry)
    return table, np.unique(target.astype(str), return_inverse=True)[1]


def _read(folder: Path, entry: dict[str, Any]) -> tuple[pd.DataFrame, pd.Series]:
    table = pd.read_parquet(folder / f"{entry['name']}.parquet")
    target = table.pop(entry["target"])
    for name in table:
        if table[name].dtype.kind not in "iufb" or name in entry["categorical"]:
            table[name] = table[name].astype("category")
        elif table[name].dtype.kind == "b":
            table[name] = table[name].astype(float)
    # LightGBM and XGBoost refuse names with these.
    return table.rename(columns=lambda name: re.sub(r'[\[\]{}<>":,]', "_", name)), target


def target_means(column: pd.Series, y: np.ndarray) -> np.ndarray:
    """Mean of y per level, drawn to the overall mean by a logistic weight of the level's count.

    The weight is 1 / (1 + exp(-(count - 20) / 10)), as in category_encoders' TargetEncoder.
    """
    levels = pd.DataFrame({"level": column.astype(object), "y": y}).groupby("level")["y"]
    weight = 1.0 / (1.0 + np.exp(-(levels.count() - 20.0) / 10.0))
    values = weight * levels.mean() + (1.0 - weight) * y.mean()
    return column.astype(object).map(values).to_numpy(dtype=float)
