"""Time and peak memory of a fit in memory, from files and on a local Dask cluster.

python -m benchmarks.scale [--rows 1000000 10000000] [--ways memory files dask] [--workers 2 4]

Each way has a process of its own; of a cluster the memory of the largest worker is told too, and
what the fit sends over the wire. LightGBM stands beside it, in memory and on the same cluster. What
was measured before stays in the result file unless it is measured again; the table of a run is
written to ``--folder``, and kept there, to be measured again without being written again.
"""

from __future__ import annotations

import argparse
import json
import pickle
import re
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

COLUMNS = 20
SETTINGS: dict[str, Any] = {"random_state": 0}  # the default model
LIGHTGBM: dict[str, Any] = {"n_estimators": 100, "random_state": 0, "verbose": -1}
RESULTS = Path(__file__).parent / "results" / "scale.json"
WAYS = ("memory", "files", "dask", "lightgbm", "lightgbm dask")
_PART = 250_000
_TEST_ROWS = 100_000


def write_parts(folder: Path, rows: int, columns: int) -> None:
    """A generated table in several files: numbers of two decimals, two products and noise."""
    rng = np.random.default_rng(0)
    for number, first in enumerate(range(0, rows, _PART)):
        X, y = _generated(rng, min(_PART, rows - first), columns)
        table = {f"x{j}": X[:, j] for j in range(columns)} | {"y": y}
        parquet.write_table(pa.table(table), folder / f"part-{number:04}.parquet")


def _generated(rng: np.random.Generator, rows: int, columns: int) -> tuple[Any, Any]:
    X = np.round(rng.uniform(-1.0, 1.0, (rows, columns)), 2)
    y = X[:, 0] * X[:, 1] + np.exp(X[:, 2]) * X[:, 3] + rng.normal(0.0, 0.3, rows)
    return X, y


def peak() -> int:
    """The largest memory of this process since it began, in bytes (Linux)."""
    status = Path("/proc/self/status").read_text(encoding="utf-8")
    found = re.search(r"VmHWM:\s*(\d+) kB", status)
    assert found is not None, "VmHWM is what Linux tells of a process"
    return int(found[1]) * 1024


def one_fit(way: str, folder: Path, workers: int) -> dict[str, Any]:
    """Fit the table of a folder in one of the ways."""
    TSLRegressor(1, early_stopping=False).fit(*_generated(np.random.default_rng(2), 500, COLUMNS))
    before, started, cpu_started = peak(), time.perf_counter(), time.process_time()
    found: dict[str, Any] = {}
    if way == "memory":
        table = parquet.read_table(folder)
        model = TSLRegressor(**SETTINGS).fit(table.drop_columns(["y"]), table["y"])
    elif way == "files":
        model = TSLRegressor(**SETTINGS).fit_files(folder, "y")
    elif way == "lightgbm":
        model = _lightgbm(folder)
    else:
        fit = _lightgbm_on_cluster if way == "lightgbm dask" else _seplearn_on_cluster
        model, found = _on_cluster(fit, folder, workers)
    cpu = time.process_time() - cpu_started + found.pop("cpu_of_workers", 0.0)
    found |= {"seconds": time.perf_counter() - started, "cpu_seconds": cpu}
    found |= {"peak": peak(), "before": before}
    X, y = _generated(np.random.default_rng(1), _TEST_ROWS, COLUMNS)
    frame = X if way.startswith("lightgbm") else pa.table({f"x{j}": x for j, x in enumerate(X.T)})
    predicted = model.predict(frame)
    return found | {"rmse": float(np.sqrt(np.mean((predicted - y) ** 2)))}


def _lightgbm(folder: Path) -> Any:
    import lightgbm

    table = parquet.read_table(folder).to_pandas()
    return lightgbm.LGBMRegressor(**LIGHTGBM, n_jobs=1).fit(
        table.drop(columns="y").to_numpy(), table["y"].to_numpy()
    )


def _on_cluster(fit: Any, folder: Path, workers: int) -> tuple[Any, dict[str, Any]]:
    import dask.dataframe as dd
    from distributed import Client, LocalCluster

    size = {"n_workers": workers, "threads_per_worker": 1, "dashboard_address": None}
    with LocalCluster(**size) as cluster, Client(cluster) as client:
        cpu_before = sum(client.run(time.process_time).values())
        model, found = fit(client, dd.read_parquet(str(folder)))
        cpu = sum(client.run(time.process_time).values()) - cpu_before
        largest = max(client.run(peak).values())
        return model, found | {"largest_worker": largest, "cpu_of_workers": cpu}


def _lightgbm_on_cluster(client: Any, table: Any) -> tuple[Any, dict[str, Any]]:
    import lightgbm

    model = lightgbm.DaskLGBMRegressor(client=client, **LIGHTGBM)
    rows = table.to_dask_array(lengths=True)  # the target is the last column
    return model.fit(rows[:, :-1], rows[:, -1]).to_local(), {}


def _seplearn_on_cluster(client: Any, table: Any) -> tuple[Any, dict[str, Any]]:
    from seplearn.dask import DaskTSLRegressor
    from seplearn.dask.rows import Shares

    wire = _Wire(Shares)
    model = DaskTSLRegressor(client, **SETTINGS).fit(table.drop(columns="y"), table["y"])
    return model.to_local(), wire.per_sweep()


class _Wire:
    """Counts what orders to the workers and their answers have to carry."""

    def __init__(self, shares: Any) -> None:
        self._sweeps = self._trips = self._sent = self._received = 0
        tell, order = shares.tell, shares.order

        def told(own: Any, name: str, *arguments: Any) -> None:
            tell(own, name, *arguments)
            if name in ("each", "total"):  # what sweeps do; the rest happens once a fit
                self._sweeps += arguments[1].__name__ == "renew"
                self._sent += len(own._orders[-1]) * len(own._places)

        def ordered(own: Any, name: str, *arguments: Any) -> Any:
            found = order(own, name, *arguments)
            if name == "total":
                self._trips += 1
                self._received += sum(len(pickle.dumps(one)) for one in found)
            return found

        shares.tell, shares.order = told, ordered

    def per_sweep(self) -> dict[str, Any]:
        sweeps = max(self._sweeps, 1)
        return {
            "sweeps": self._sweeps,
            "round_trips_per_sweep": self._trips / sweeps,
            "bytes_sent_per_sweep": self._sent / sweeps,
            "bytes_received_per_sweep": self._received / sweeps,
        }


def measure(rows: int, ways: list[str], workers: list[int], folder: Path) -> None:
    """Some ways, one after the other; each is written down as soon as it is known."""
    if not any(folder.iterdir()):
        write_parts(folder, rows, COLUMNS)
    for way in ways:
        for size in workers if "dask" in way else [1]:
            command = [sys.executable, "-m", "benchmarks.scale", "--one", way, str(folder)]
            done = subprocess.run(
                [*command, "--workers", str(size)], stdout=subprocess.PIPE, text=True, check=True
            )
            found = json.loads(done.stdout.splitlines()[-1])
            print(rows, way, found, flush=True)
            name = f"{way}, {size} workers" if "dask" in way else way
            where = machine.describe("seplearn", "lightgbm", "distributed")
            about = {"commit": machine.commit(), "processor": where["processor"]}
            _keep(rows, name, found | about, where)


def _keep(rows: int, name: str, found: dict[str, Any], where: dict[str, Any]) -> None:
    """Put what was measured into the result file, beside what is there.

    What is there may be of another machine: the file tells the last one, every way its own.
    """
    tables: dict[str, Any] = {}
    if RESULTS.exists():
        tables = json.loads(RESULTS.read_text(encoding="utf-8"))["tables"]
    tables.setdefault(str(rows), {})[name] = found
    whole = {
        "columns": COLUMNS, "settings": SETTINGS, "lightgbm": LIGHTGBM,
        "machine": where, "tables": tables,
    }  # fmt: skip
    RESULTS.write_text(json.dumps(whole, indent=1) + "\n", encoding="utf-8")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, nargs="+", default=[1_000_000, 10_000_000])
    parser.add_argument("--ways", nargs="+", choices=WAYS, default=list(WAYS))
    parser.add_argument("--workers", type=int, nargs="+", default=[2, 4])
    parser.add_argument("--folder", type=Path, help="where tables are written to and kept")
    parser.add_argument("--one", nargs=2, metavar=("WAY", "FOLDER"), help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.one:
        print(json.dumps(one_fit(given.one[0], Path(given.one[1]), given.workers[0])))
        return
    with tempfile.TemporaryDirectory() as temporary:
        for rows in given.rows:
            folder = (given.folder or Path(temporary)) / str(rows)
            folder.mkdir(parents=True, exist_ok=True)
            measure(rows, given.ways, given.workers, folder)


if __name__ == "__main__":
    main()
