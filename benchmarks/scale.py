"""Time and peak memory of a fit in memory, from files and on a local Dask cluster.

python -m benchmarks.scale [--rows 1000000] [--columns 20] [--workers 2]

Each way has a process of its own; of a cluster the memory of the largest worker is told too.
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from pyarrow import parquet

from benchmarks import machine
from seplearn import TSLRegressor

SETTINGS: dict[str, Any] = {"n_stages": 2, "random_state": 0, "max_bins": 254}
RESULTS = Path(__file__).parent / "results" / "scale.json"
WAYS = ("memory", "files", "dask")
_PART = 250_000


def write_parts(folder: Path, rows: int, columns: int) -> None:
    """A generated table in several files: numbers of two decimals, two products and noise."""
    rng = np.random.default_rng(0)
    for number, first in enumerate(range(0, rows, _PART)):
        X = np.round(rng.uniform(-1.0, 1.0, (min(_PART, rows - first), columns)), 2)
        y = X[:, 0] * X[:, 1] + np.exp(X[:, 2]) * X[:, 3] + rng.normal(0.0, 0.3, len(X))
        table = {f"x{j}": X[:, j] for j in range(columns)} | {"y": y}
        parquet.write_table(pa.table(table), folder / f"part-{number:04}.parquet")


def peak() -> int:
    """The largest memory of this process so far, in bytes."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


def one_fit(way: str, folder: Path, workers: int) -> dict[str, Any]:
    """Fit the table of a folder in one of the ways."""
    TSLRegressor(1).fit(np.arange(60.0).reshape(30, 2) % 7, np.arange(30.0))
    before, started = peak(), time.perf_counter()
    found: dict[str, Any] = {}
    if way == "memory":
        table = parquet.read_table(folder)
        model = TSLRegressor(**SETTINGS).fit(table.drop_columns(["y"]), table["y"])
    elif way == "files":
        model = TSLRegressor(**SETTINGS).fit_files(folder, "y")
    else:
        model, found = _on_cluster(folder, workers)
    seconds = time.perf_counter() - started
    prediction = model.predict(np.zeros((1, model.n_features_in_)))[0]
    return found | {
        "seconds": seconds, "peak": peak(), "before": before, "prediction": float(prediction),
    }  # fmt: skip


def _on_cluster(folder: Path, workers: int) -> tuple[Any, dict[str, Any]]:
    import dask.dataframe as dd
    from distributed import Client, LocalCluster

    from seplearn.dask import DaskTSLRegressor

    size = {"n_workers": workers, "threads_per_worker": 1, "dashboard_address": None}
    with LocalCluster(**size) as cluster, Client(cluster) as client:
        table = dd.read_parquet(str(folder))
        model = DaskTSLRegressor(client, **SETTINGS).fit(table.drop(columns="y"), table["y"])
        return model.to_local(), {"largest_worker": max(client.run(peak).values())}


def measure(rows: int, columns: int, workers: int) -> dict[str, Any]:
    """All ways, one after the other."""
    with tempfile.TemporaryDirectory() as folder:
        write_parts(Path(folder), rows, columns)
        ways = {}
        for way in WAYS:
            command = [sys.executable, "-m", "benchmarks.scale", "--one", way, folder]
            done = subprocess.run(
                [*command, "--workers", str(workers)], capture_output=True, text=True, check=True
            )
            ways[way] = json.loads(done.stdout.splitlines()[-1])
    for way in WAYS:
        ways[way]["time_ratio"] = ways[way]["seconds"] / ways["memory"]["seconds"]
    return {"rows": rows, "columns": columns, "workers": workers, "settings": SETTINGS,
            "machine": machine.describe(), "ways": ways}  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--columns", type=int, default=20)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--one", nargs=2, metavar=("WAY", "FOLDER"), help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.one:
        print(json.dumps(one_fit(given.one[0], Path(given.one[1]), given.workers)))
        return
    found = measure(given.rows, given.columns, given.workers)
    RESULTS.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
    print(json.dumps(found["ways"], indent=1))


if __name__ == "__main__":
    main()
