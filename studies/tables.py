"""The real tables: from a local folder, or else from OpenML."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Protocol

import numpy as np
import pandas as pd

Table = tuple[pd.DataFrame, np.ndarray]

# OpenML's number of each table, and its target.
_OPENML = {
    "california_housing": (44977, "medianHouseValue"),
    "bike_sharing": (42712, "count"),
    "kings_county": (44989, "price"),
}


class MissingDataError(ValueError):
    """A table that is neither in the folder nor to be had from OpenML."""


class Source(Protocol):
    """Anything that has the tables."""

    def load(self, name: str) -> Table:
        """Features and target."""
        ...


class Folder:
    """Tables of a folder: ``data/datasets.json`` lists them, ``data/<name>.parquet`` holds them."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        if not (folder / "data" / "datasets.json").exists():
            raise MissingDataError(
                f"--data-dir must be a folder with data/datasets.json, got {str(folder)!r}; leave "
                "it out to take the tables from OpenML"
            )

    def load(self, name: str) -> Table:
        """Features, levels as ``category``, and target."""
        listing = (self.folder / "data" / "datasets.json").read_text(encoding="utf-8")
        entries = {entry["name"]: entry for entry in json.loads(listing)}
        path = self.folder / "data" / f"{name}.parquet"
        if name not in entries or not path.exists():
            raise MissingDataError(
                f"the folder {str(self.folder)!r} has no table {name!r}; leave --data-dir out to "
                "take it from OpenML"
            )
        return _prepared(pd.read_parquet(path), entries[name]["target"])


class OpenML:
    """The same tables from OpenML; needs the network."""

    def load(self, name: str) -> Table:
        """Features, levels as ``category``, and target."""
        from sklearn.datasets import fetch_openml

        number, target = _OPENML[name]
        try:
            table = fetch_openml(data_id=number, as_frame=True, parser="auto").frame
        except OSError as error:
            raise MissingDataError(
                f"OpenML did not answer for {name!r} ({error}); give --data-dir, a folder with "
                "data/datasets.json and the tables"
            ) from error
        return _prepared(table, target)


def _prepared(table: pd.DataFrame, target: str) -> Table:
    names = {name.lower().replace("_", ""): name for name in table}
    found = names.get(target.lower().replace("_", ""), target)
    y = table[found].to_numpy(dtype=float)
    X = table.drop(columns=found)
    for name in X:
        if X[name].dtype.kind == "b" or set(X[name].unique()) <= {"True", "False"}:
            X[name] = (X[name].astype(str) == "True").astype(float)
        elif X[name].dtype.kind not in "iuf":
            X[name] = X[name].astype("category")
    return X, y
