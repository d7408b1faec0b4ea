"""One fit in a process of its own: it may crash or hang without harm to the run.

Reads a cell as JSON from standard input and writes its row as the last line of standard output. The
number of the process that waits for it may be given: it ends with that process.

    echo '{"problem": "made:rents", "split": 0, "rival": "lightgbm"}' | python -m benchmarks.cell
"""

from __future__ import annotations

import importlib
import json
import os
import resource
import sys
import time
import warnings
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from threading import Thread
from typing import Any

import numpy as np
from sklearn.model_selection import train_test_split

from benchmarks import problems
from benchmarks.rivals.interface import Rival
from benchmarks.tasks import Problem

TEST_SHARE = 0.2
WARM_UP_ROWS = 300


def rival_of(cell: dict[str, Any]) -> Rival:
    """The model of a cell; ``module`` says where it is defined."""
    module = importlib.import_module(cell.get("module", "benchmarks.rivals"))
    rivals = module.RIVALS
    if cell["rival"] not in rivals:
        raise ValueError(f"rival must be one of {sorted(rivals)}, got {cell['rival']!r}")
    return rivals[cell["rival"]]


def parts_of(cell: dict[str, Any]) -> tuple[Problem, Problem]:
    """Training and test part of the cell's split."""
    folder = Path(cell["folder"]) if cell.get("folder") else None
    problem = problems.load(cell["problem"], folder)
    rows, held = train_test_split(
        np.arange(len(problem.y)), test_size=TEST_SHARE, random_state=cell["split"],
        stratify=problem.task.strata(problem.y),
    )  # fmt: skip
    return problem.rows(rows), problem.rows(held)


def measure(cell: dict[str, Any]) -> dict[str, Any]:
    """Fit and predict; scores on the test part, times and the peak of memory."""
    rival = rival_of(cell)
    train, test = parts_of(cell)
    task = train.task
    why_not = rival.why_not(train) or rival.why_not(test)
    if why_not is not None:
        return {"status": "skipped", "reason": why_not}
    X, X_test = rival.tables(train.X, task.targets(train.y), test.X, cell.get("tag", "default"))
    parameters = dict(cell.get("params") or {})
    model = rival.make(parameters, cell.get("seed", cell["split"]), task)
    if rival.warm_up:
        few = train.rows(np.arange(min(WARM_UP_ROWS, len(train.y))))
        _fit(rival.make(parameters, 0, task), X[:WARM_UP_ROWS], few)
    started, cpu_started = time.perf_counter(), time.process_time()
    _fit(model, X, train)
    fitted, cpu_fitted = time.perf_counter(), time.process_time()
    prediction = task.predict(model, X_test, test.offset)
    ended = time.perf_counter()
    if not np.isfinite(prediction).all():
        return {"status": "failed", "reason": "predictions are not finite"}
    return {
        "status": "ok",
        **task.scores(test, prediction),
        "fit_seconds": fitted - started,
        "predict_seconds": ended - fitted,
        "cpu_seconds": cpu_fitted - cpu_started,
        "peak_mib": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024.0,
        "cores": len(os.sched_getaffinity(0)),
        "rows": len(train.y) + len(test.y),
        "facts": rival.facts(model),
        "versions": {name: _version(name) for name in rival.packages},
    }


def row_of(cell: dict[str, Any]) -> dict[str, Any]:
    """What was measured, or why nothing was: whatever a rival raises becomes its row."""
    try:
        return measure(cell)
    except ImportError as error:
        return {"status": "skipped", "reason": f"not installed: {error}"}
    except Exception as error:
        return {"status": "failed", "reason": f"{type(error).__name__}: {error}"[:500]}


def _fit(model: Any, X: Any, problem: Problem) -> None:
    given = {} if problem.offset is None else {"offset": problem.offset}
    model.fit(X, problem.y, **given)


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return "unknown"


def _end_with(parent: int) -> None:
    """End this process when the run that started it is gone, however it was ended."""
    while os.getppid() == parent:
        time.sleep(0.5)
    os._exit(1)


def main() -> None:
    warnings.filterwarnings("ignore")
    parent = int(sys.argv[1]) if len(sys.argv) > 1 else os.getppid()
    Thread(target=_end_with, args=(parent,), daemon=True).start()
    print(json.dumps(row_of(json.load(sys.stdin))))


if __name__ == "__main__":
    main()
