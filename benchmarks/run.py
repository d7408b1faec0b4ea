"""Fit models to problems: one row per fit, whatever happens to it.

A cell is (problem, split, rival, tag); the tag says which parameters: "default", "published" or
"tuned". A cell that has a row is not run again, so a run can be ended at any moment and taken up.

    python -m benchmarks run --rivals seplearn lightgbm --splits 0 1
"""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor, as_completed
from pathlib import Path
from typing import Any

from tqdm import tqdm

from benchmarks import machine
from benchmarks.rows import KEY, Rows

ROOT = Path(__file__).parents[1]


def cells(
    problems: Iterable[str],
    splits: Iterable[int],
    rivals: Iterable[str],
    *,
    folder: Path | None = None,
    tag: str = "default",
    params: dict[tuple[str, str], dict[str, Any]] | None = None,
    module: str = "benchmarks.rivals",
) -> list[dict[str, Any]]:
    """All cells asked for; with ``params`` only those of a (problem, rival) that has some."""
    out = []
    listed = list(problems)
    for rival in rivals:
        for split in splits:
            for problem in listed:
                if params is not None and (problem, rival) not in params:
                    continue
                cell = {"problem": problem, "split": split, "rival": rival, "tag": tag}
                cell |= {"module": module, "folder": str(folder) if folder else None}
                out.append(cell | {"params": (params or {}).get((problem, rival), {})})
    return out


def run_cell(cell: dict[str, Any], timeout: float) -> dict[str, Any]:
    """One cell in a process of its own; a crash or a time-out is a row too."""
    started = time.strftime("%Y-%m-%dT%H:%M:%S")
    command = [sys.executable, "-m", "benchmarks.cell"]
    try:
        done = subprocess.run(
            command, input=json.dumps(cell), capture_output=True, text=True, timeout=timeout,
            cwd=ROOT, check=False,
        )  # fmt: skip
        row = _last_line(done)
    except subprocess.TimeoutExpired:
        row = {"status": "timeout", "reason": f"more than {timeout:g} s"}
    kept = {name: cell[name] for name in KEY}
    return kept | {"params": cell["params"], "started": started} | row


def _last_line(done: subprocess.CompletedProcess[str]) -> dict[str, Any]:
    lines = done.stdout.strip().splitlines()
    try:
        return json.loads(lines[-1])
    except (IndexError, json.JSONDecodeError):
        words = done.stderr.strip().splitlines()[-1:] or ["no output"]
        return {"status": "failed", "reason": f"exit code {done.returncode}: {words[0]}"[:500]}


def run(todo: list[dict[str, Any]], rows: Rows, *, timeout: float, jobs: int) -> int:
    """Run the cells that have no row; how many that were."""
    done = rows.done()
    missing = [cell for cell in todo if tuple(cell[name] for name in KEY) not in done]
    about = {"commit": machine.commit(), "machine": machine.describe("numpy")}
    with ThreadPoolExecutor(jobs) as pool:
        futures = [pool.submit(run_cell, cell, timeout) for cell in missing]
        for future in tqdm(as_completed(futures), total=len(futures), desc="fits"):
            rows.append(future.result() | about)
    return len(missing)
