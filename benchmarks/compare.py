"""Two versions of the package side by side in one run, to see what got slower.

The base revision is checked out beside the working tree. Each case runs alternately in both, in
processes that have compiled their kernels before; the best of the repetitions counts. A case is
slower when it takes more by the relative and by the absolute threshold.

    python -m benchmarks compare --base main~5
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from benchmarks import machine

ROOT = Path(__file__).parents[1]
RELATIVE, ABSOLUTE = 0.15, 0.05  # share, seconds

# Run with the package of one version; prints {case: seconds}. Only what both versions have.
TIMED = """
import json, sys, time
import numpy as np
from seplearn import TSLRegressor, datasets, explain
X, y = datasets.masked_interaction(20_000, random_state=0)
wide = np.random.default_rng(0).normal(size=(4_000, 20))
short, noisy = wide[:1_000, :8], wide[:1_000, 0] * wide[:1_000, 1] + wide[:1_000, 19]
options = {"random_state": 0, "n_jobs": 1}
small = TSLRegressor(2, early_stopping=False, **options).fit(X[:2000], y[:2000])
cases = {
    "fit, 2 stages": lambda: TSLRegressor(2, early_stopping=False, **options).fit(X, y),
    "fit, 1,000 rows": lambda: TSLRegressor(**options).fit(short, noisy),
    "fit, 20 features": lambda: TSLRegressor(8, **options).fit(wide, wide[:, 0] * wide[:, 1]),
    "fit, the paper's way": lambda: TSLRegressor.paper(2, n_grids=20, **options).fit(X, y),
    "predict 20,000 rows": lambda: [small.predict(X) for _ in range(20)],
    "curves": lambda: [explain.curves(small, 0) for _ in range(50)],
}
out = {}
for name, case in cases.items():
    started = time.perf_counter()
    case()
    out[name] = time.perf_counter() - started
print(json.dumps(out))
"""


@contextmanager
def checked_out(revision: str) -> Iterator[Path]:
    """A folder with the tree of a revision."""
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder) / "base"
        command = ["git", "worktree", "add", "--detach", "--force", str(place), revision]
        subprocess.run(command, cwd=ROOT, check=True, capture_output=True)
        try:
            yield place
        finally:
            remove = ["git", "worktree", "remove", "--force", str(place)]
            subprocess.run(remove, cwd=ROOT, check=False, capture_output=True)


def resolved(revision: str) -> str:
    """The commit that a revision means."""
    command = ["git", "rev-parse", "--short", "--verify", "--quiet", f"{revision}^{{commit}}"]
    done = subprocess.run(command, cwd=ROOT, check=False, capture_output=True, text=True)
    if done.returncode != 0:
        raise ValueError(f"--base must be a revision that git knows, got {revision!r}")
    return done.stdout.strip()


def times(tree: Path) -> dict[str, float]:
    """Seconds of every case with the package of ``tree``."""
    environment = os.environ | {"PYTHONPATH": str(tree / "src")}
    done = subprocess.run(
        [sys.executable, "-c", TIMED], env=environment, capture_output=True, text=True, check=True
    )
    return json.loads(done.stdout.strip().splitlines()[-1])


def alternate(
    base: Path, head: Path, repetitions: int, measure: Callable[[Path], dict[str, float]] = times
) -> dict[str, tuple[float, float]]:
    """Best seconds of (base, head) for every case; a first round of each only compiles."""
    best: dict[str, list[float]] = {}
    for tree in (base, head):
        measure(tree)
    for _ in range(repetitions):
        for side, tree in enumerate((base, head)):
            for case, seconds in measure(tree).items():
                pair = best.setdefault(case, [float("inf")] * 2)
                pair[side] = min(pair[side], seconds)
    return {case: (pair[0], pair[1]) for case, pair in best.items()}


def verdicts(
    pairs: dict[str, tuple[float, float]], relative: float = RELATIVE, absolute: float = ABSOLUTE
) -> list[dict[str, Any]]:
    """A row per case: both times, their ratio, and whether the head is slower."""
    return [
        {
            "case": case,
            "base": base,
            "head": head,
            "ratio": head / base,
            "slower": head > base * (1.0 + relative) and head > base + absolute,
        }
        for case, (base, head) in pairs.items()
    ]


def markdown(rows: list[dict[str, Any]]) -> str:
    """The verdicts as a table."""
    lines = ["| case | base, s | head, s | head / base | |", "|---|---|---|---|---|"]
    for row in rows:
        numbers = f"{row['base']:.3f} | {row['head']:.3f} | {row['ratio']:.2f}"
        lines.append(f"| {row['case']} | {numbers} | {'slower' if row['slower'] else ''} |")
    return "\n".join(lines) + "\n"


def main(
    base: str, repetitions: int, relative: float, absolute: float, output: Path | None = None
) -> int:
    """Compare the working tree with a revision; 1 if anything is slower."""
    base = resolved(base)
    with checked_out(base) as tree:
        rows = verdicts(alternate(tree, ROOT, repetitions), relative, absolute)
    table = markdown(rows)
    print(table)
    if output is not None:
        head = f"Base {base}, head {machine.commit()}; best of {repetitions} runs, alternating.\n\n"
        output.write_text(head + table, encoding="utf-8")
    return int(any(row["slower"] for row in rows))
