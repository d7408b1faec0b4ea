"""Peak memory of a fit with frozen curves against rows, each size in a process of its own.

python -m benchmarks.memory [--rows 100000 1000000 5000000] [--columns 20]
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks import machine
from seplearn import TSLRegressor

# Curves are frozen as in the paper, grids are fewer; what is not named here is the default.
SETTINGS: dict[str, Any] = {
    "n_stages": 10,
    "refine": "scalars",
    "n_grids": 20,
    "n_splits": 60,
    "decay": 0.7,
    "trim": 0.25,
    "max_bins": 255,
}

RESULTS = Path(__file__).parent / "results" / "memory.json"


def one_fit(rows: int, columns: int, jobs: int | None) -> dict[str, float | None]:
    """Fit generated float32 rows with ``SETTINGS``; memory in bytes, its own and per row."""
    rng = np.random.default_rng(0)
    TSLRegressor(1, n_grids=1).fit(np.zeros((9, 2)), np.arange(9.0))
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    X = rng.standard_normal((rows, columns), dtype=np.float32)
    y = np.exp(0.5 * X[:, 0]) * np.sin(X[:, 1]) + X[:, 2] * X[:, 3]
    y += rng.standard_normal(rows, dtype=np.float32)
    started = time.perf_counter()
    TSLRegressor(**SETTINGS, random_state=0, n_jobs=jobs).fit(X, y)
    seconds = time.perf_counter() - started
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    return {
        "rows": rows,
        "columns": columns,
        "jobs": jobs,
        "seconds": seconds,
        "peak_gib": peak / 2**30,
        "table_bytes_per_row": X.nbytes / rows,
        "bytes_per_row": (peak - before) / rows,
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, nargs="+", default=[100_000, 1_000_000, 5_000_000])
    parser.add_argument("--columns", type=int, default=20)
    parser.add_argument("--jobs", type=int, help="threads; the default is the estimator's")
    parser.add_argument("--one", action="store_true", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.one:
        print(json.dumps(one_fit(arguments.rows[0], arguments.columns, arguments.jobs)))
        return
    where = {"machine": machine.describe("seplearn", "numba", "numpy"), "commit": machine.commit()}
    fits = []
    for rows in arguments.rows:
        command = [sys.executable, "-m", "benchmarks.memory", "--one", "--rows", str(rows)]
        command += ["--columns", str(arguments.columns)]
        command += [] if arguments.jobs is None else ["--jobs", str(arguments.jobs)]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
        fits.append(json.loads(done.stdout.splitlines()[-1]))
        print(json.dumps(fits[-1]), flush=True)
    results = {**where, "fits": fits}
    RESULTS.parent.mkdir(exist_ok=True)
    RESULTS.write_text(json.dumps(results, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
