"""Fit models to problems: one row per fit, whatever happens to it.

A cell is (problem, split, rival, tag); the tag says which parameters: "default", "published" or
"tuned". A cell that has a row is not run again, so a run can be ended at any moment and taken up.

    python -m benchmarks run --rivals seplearn lightgbm --splits 0 1
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import suppress
from pathlib import Path
from typing import Any

from tqdm import tqdm

from benchmarks import machine
from benchmarks.rows import KEY, Rows

ROOT = Path(__file__).parents[1]
Parameters = dict[tuple[str, str, int], dict[str, Any]]


def cells(
    problems: Iterable[str],
    splits: Iterable[int],
    rivals: Iterable[str],
    *,
    folder: Path | None = None,
    tag: str = "default",
    params: Parameters | None = None,
    module: str = "benchmarks.rivals",
) -> list[dict[str, Any]]:
    """All cells asked for; with ``params`` only those that have some."""
    out = []
    listed = list(problems)
    for rival in rivals:
        for split in splits:
            for problem in listed:
                if params is not None and (problem, rival, split) not in params:
                    continue
                cell = {"problem": problem, "split": split, "rival": rival, "tag": tag}
                cell |= {"module": module, "folder": str(folder) if folder else None}
                out.append(cell | {"params": (params or {}).get((problem, rival, split), {})})
    return out


class Fits:
    """The processes that fit at this moment, so that all can be ended."""

    def __init__(self) -> None:
        self._running: set[subprocess.Popen[str]] = set()
        self._ended = False

    def run_cell(self, cell: dict[str, Any], timeout: float) -> dict[str, Any]:
        """The row of one cell, whatever happens to it."""
        started = time.strftime("%Y-%m-%dT%H:%M:%S")
        row = self.fit_apart(cell, timeout)
        kept = {name: cell[name] for name in KEY}
        return kept | {"params": cell["params"], "started": started} | row

    def fit_apart(self, cell: dict[str, Any], timeout: float) -> dict[str, Any]:
        """One cell in a process of its own; a crash or a time-out is a row too."""
        with subprocess.Popen(
            [sys.executable, "-m", "benchmarks.cell", str(os.getpid())], stdin=subprocess.PIPE,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=ROOT,
            start_new_session=True,
        ) as process:  # fmt: skip
            self._running.add(process)
            try:
                if self._ended:
                    _kill(process)
                out, errors = process.communicate(json.dumps(cell), timeout)
                return _last_line(out, errors, process.returncode)
            except subprocess.TimeoutExpired:
                return {"status": "timeout", "reason": f"more than {timeout:g} s"}
            finally:
                _kill(process)
                self._running.discard(process)

    def end(self) -> None:
        """End all of them, and whatever is started from now on."""
        self._ended = True
        for process in list(self._running):
            _kill(process)


def _kill(process: subprocess.Popen[str]) -> None:
    """End a process and whatever it started."""
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()


def _last_line(out: str, errors: str, code: int) -> dict[str, Any]:
    lines = out.strip().splitlines()
    try:
        return json.loads(lines[-1])
    except (IndexError, json.JSONDecodeError):
        words = errors.strip().splitlines()[-1:] or ["no output"]
        return {"status": "failed", "reason": f"exit code {code}: {words[0]}"[:500]}


def run(
    todo: list[dict[str, Any]], rows: Rows, *, timeout: float, jobs: int, retry: bool = False
) -> int:
    """Run the cells that have no row; how many that were."""
    missing = rows.to_do(todo, retry=retry)
    about = {"commit": machine.commit(), "machine": machine.describe("numpy"), "jobs": jobs}
    rows.check()
    pool, fits = ThreadPoolExecutor(jobs), Fits()
    try:
        futures = [pool.submit(fits.run_cell, cell, timeout) for cell in missing]
        for future in tqdm(as_completed(futures), total=len(futures), desc="fits"):
            rows.append(future.result() | about)
    finally:  # also when interrupted: nothing goes on that nobody waits for
        pool.shutdown(wait=False, cancel_futures=True)
        fits.end()
    return len(missing)
