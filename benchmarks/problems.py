"""Tables to measure on: a local folder, the CTR-23 suite of OpenML, and generated ones.

A problem is named by a word: ``california_housing`` is a file of the folder, ``openml:361255`` a
task of OpenML, ``made:rents`` a generated table, ``grown:1000x20`` one of that many rows and
features.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.request import urlopen

import numpy as np
import pandas as pd

from benchmarks import data

_SUITE = 353  # CTR-23 among the studies of OpenML
_API = "https://www.openml.org/api/v1/json"

Table = tuple[pd.DataFrame, np.ndarray]


def names(folder: Path | None) -> list[str]:
    """All problems: the tables of the folder, or else the suite of OpenML; then the made ones."""
    made = [f"made:{name}" for name in MADE]
    if folder is not None and (folder / "data" / "datasets.json").exists():
        return [entry["name"] for entry in data.datasets(folder)] + made
    tasks = _ask(f"study/{_SUITE}")["study"]["tasks"]["task_id"]
    return [f"openml:{task}" for task in tasks] + made


def check(name: str, folder: Path | None) -> None:
    """Raise, before any work, for a name that is no problem."""
    kind, _, rest = name.partition(":")
    if kind == "made" and rest not in MADE:
        raise ValueError(f"problem must be one of {sorted(MADE)} after 'made:', got {rest!r}")
    if kind == "grown" and not re.fullmatch(r"[1-9]\d*x[1-9]\d*", rest):
        raise ValueError(f"problem must be like 'grown:1000x20', got {name!r}")
    if kind == "openml" and not rest.isdigit():
        raise ValueError(f"problem must be like 'openml:361255', got {name!r}")
    if kind in ("made", "grown", "openml"):
        return
    if folder is None or not (folder / "data" / "datasets.json").exists():
        raise ValueError(f"problem {name!r} needs --data-dir, the folder with data/datasets.json")
    entries = [entry["name"] for entry in data.datasets(folder)]
    if name not in entries:
        raise ValueError(f"problem must be one of {sorted(entries)}, got {name!r}")


def load(name: str, folder: Path | None) -> Table:
    """A table with categorical columns of dtype ``category``, and its target."""
    check(name, folder)
    kind, _, rest = name.partition(":")
    if kind == "made":
        return MADE[rest]()
    if kind == "grown":
        rows, _, features = rest.partition("x")
        return grown(int(rows), int(features))
    if kind == "openml":
        return _from_openml(int(rest))
    assert folder is not None
    entries = {entry["name"]: entry for entry in data.datasets(folder)}
    return data.load_table(folder, entries[name])


def _from_openml(task: int) -> Table:
    """The table of an OpenML task; needs the network."""
    from sklearn.datasets import fetch_openml

    inputs = _ask(f"task/{task}")["task"]["input"]
    source = next(part["data_set"] for part in inputs if part["name"] == "source_data")
    found = fetch_openml(
        data_id=int(source["data_set_id"]), target_column=source["target_feature"], as_frame=True
    )
    X = found.data.copy()
    for column in X:
        if X[column].dtype.kind not in "iuf":
            X[column] = X[column].astype("category")
    return X, found.target.to_numpy(dtype=float)


def _ask(path: str) -> Any:
    """An answer of OpenML; needs the network."""
    with urlopen(f"{_API}/{path}", timeout=60) as answer:
        return json.load(answer)


def grown(n_rows: int, n_features: int, seed: int = 0) -> Table:
    """Normal features, four of which act, in two products; noise of variance one."""
    random = np.random.default_rng(seed)
    X = random.standard_normal((n_rows, n_features), dtype=np.float32)
    y = np.exp(0.5 * X[:, 0]) * (1 + X[:, 1] ** 2) - X[:, 2] * X[:, 3] + random.normal(size=n_rows)
    return pd.DataFrame(X, columns=[f"x{j}" for j in range(n_features)]), y


def _masked() -> Table:
    from seplearn import datasets

    X, y = datasets.masked_interaction(5_000, random_state=0)
    return pd.DataFrame(X, columns=["x1", "x2", "x3"]), y


def _rents() -> Table:
    from seplearn import datasets

    X, y = datasets.rents(3_000, random_state=0)
    return X.assign(district=X["district"].astype("category")), y


def _friedman() -> Table:
    from sklearn.datasets import make_friedman1

    X, y = make_friedman1(1_500, noise=0.5, random_state=0)
    return pd.DataFrame(X, columns=[f"x{j}" for j in range(X.shape[1])]), y


MADE: dict[str, Callable[[], Table]] = {
    "masked_interaction": _masked,
    "rents": _rents,
    "friedman": _friedman,
}
