"""Can the tests fail? Change one line of the package at a time and see that a test notices.

    python -m tests.mutants                    # all of tests/mutant_list.py
    python -m tests.mutants block sweep.py:81  # with one of these words in what is printed of them

Each mutant is made in a copy of the package; the tests that should notice are run on it without
compilation wherever that will do. Exit code 1: one survived, did not even import, or did not end;
a text is not in its file exactly once; or the tests fail without any change.
"""

from __future__ import annotations

import argparse
import multiprocessing
import os
import re
import shutil
import sys
import tempfile
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from tests.mutant_list import GROUPS, Group

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "src" / "seplearn"
SECONDS = 600  # after which a mutant counts as one that does not end
FAILED = 1  # pytest's exit code when tests ran and some failed; other codes are other troubles
# Imported once, by the process that all others are forked from; not hypothesis, which pytest
# wants to import by itself.
LIBRARIES = ["numba", "scipy.optimize", "sklearn.isotonic", "pandas", "pytest"]


@dataclass(frozen=True)
class Mutant:
    group: Group
    old: str
    new: str

    @property
    def name(self) -> str:
        """Where it is and what it changes, on one line."""
        text = (PACKAGE / self.group.file).read_text(encoding="utf-8")
        line = text[: text.index(self.old)].count("\n") + 1
        old, new = (re.sub(r"\s+", " ", part).strip() or "nothing" for part in (self.old, self.new))
        return f"{self.group.file}:{line}  {old}  ->  {new}"


@dataclass(frozen=True)
class Outcome:
    verdict: str
    by: str
    seconds: float


def stale(mutants: list[Mutant]) -> list[str]:
    """Complaints about mutants whose old text is not in its file exactly once, or is no change."""
    complaints = []
    for mutant in mutants:
        text = (PACKAGE / mutant.group.file).read_text(encoding="utf-8")
        times = text.count(mutant.old)
        if times != 1 or mutant.old == mutant.new:
            complaints.append(f"{mutant.group.file}: {times} times, must be 1: {mutant.old!r}")
    return complaints


@contextmanager
def changed_package(group: Group, old: str = "", new: str = "") -> Iterator[Path]:
    """A folder with a copy of the package, in which one text is replaced."""
    with tempfile.TemporaryDirectory(prefix="mutant-") as folder:
        copy = Path(folder) / "seplearn"
        # Kernels that stay as they are need not be compiled again.
        kept = group.compiled and not group.file.startswith("kernels")
        useless = "*.pyc" if kept else "__pycache__"
        shutil.copytree(PACKAGE, copy, ignore=shutil.ignore_patterns(useless))
        if old:
            file = copy / group.file
            file.write_text(file.read_text(encoding="utf-8").replace(old, new), encoding="utf-8")
        yield Path(folder)


def run_in_child(group: Group, folder: str, report: str) -> None:
    """Run the group's tests on the package in ``folder``; what they print goes into ``report``."""
    import numba
    import pytest

    with Path(report).open("w", encoding="utf-8") as file:
        os.dup2(file.fileno(), sys.stdout.fileno())
        os.dup2(file.fileno(), sys.stderr.fileno())
    os.chdir(ROOT)
    os.environ["NUMBA_DISABLE_JIT"] = "0" if group.compiled else "1"
    numba.config.DISABLE_JIT = 0 if group.compiled else 1  # type: ignore[attr-defined]
    sys.path[:0] = [folder]
    import seplearn

    if not Path(seplearn.__file__).is_relative_to(folder):
        sys.exit(f"the tests would import {seplearn.__file__}, not the copy made for them")
    options = ["-x", "-q", "-p", "no:cacheprovider", "--hypothesis-profile=mutants", "--tb=line"]
    code = pytest.main([*options, *group.tests])
    sys.stdout.flush()
    os._exit(code)  # nothing else is to be said by a process that is thrown away


def run_tests(group: Group, folder: Path) -> tuple[int | None, str]:
    """Exit code and output of the group's tests, in a process that has imported libraries."""
    report = folder / "report.txt"
    children = multiprocessing.get_context("forkserver")
    children.set_forkserver_preload(LIBRARIES)
    process = children.Process(target=run_in_child, args=(group, str(folder), str(report)))
    process.start()
    process.join(SECONDS)
    if process.is_alive():
        process.kill()
        process.join()
        return None, ""
    said = report.read_text(encoding="utf-8") if report.exists() else ""
    return process.exitcode, said


def outcome(group: Group, old: str = "", new: str = "") -> Outcome:
    started = time.monotonic()
    with changed_package(group, old, new) as folder:
        code, output = run_tests(group, folder)
    known = {0: "passed", FAILED: "failed", None: "did not end"}
    failures = re.findall(r"^FAILED \S+?::(.*?)(?: - .*)?$", output, re.MULTILINE)
    by = failures[0] if failures else "" if code in known else output[-400:]
    if code == FAILED and not failures:  # the process itself failed
        return Outcome("broken", output[-400:], time.monotonic() - started)
    verdict = known.get(code, f"broken, exit code {code}")
    return Outcome(verdict, by, time.monotonic() - started)


def unchanged_tests_pass(groups: list[Group], jobs: ThreadPoolExecutor) -> bool:
    every = list(dict.fromkeys((group.tests, group.compiled) for group in groups))
    plain = [next(g for g in groups if (g.tests, g.compiled) == key) for key in every]
    results = list(jobs.map(outcome, plain))
    for group, result in zip(plain, results, strict=True):
        print(f"{result.seconds:5.0f} s  unchanged  {' '.join(group.tests)}: {result.verdict}")
        if result.verdict != "passed":
            print(f"         {result.by}")
    return all(result.verdict == "passed" for result in results)


def main() -> int:
    parser = argparse.ArgumentParser(description="Do the tests notice one changed line?")
    parser.add_argument("words", nargs="*", help="in what is printed of a mutant; default: all")
    parser.add_argument("--jobs", type=int, default=2, help="mutants tested at a time")
    given = parser.parse_args()
    mutants = [Mutant(group, old, new) for group in GROUPS for old, new in group.mutants]
    complaints = stale(mutants)
    if given.words and not complaints:
        mutants = [m for m in mutants if any(word in m.name for word in given.words)]
    if complaints or not mutants:
        print("\n".join(complaints) or f"no mutant has any of the words {given.words}")
        return 1
    groups = list(dict.fromkeys(mutant.group for mutant in mutants))
    survivors = 0
    with ThreadPoolExecutor(given.jobs) as jobs:
        if not unchanged_tests_pass(groups, jobs):
            return 1
        results = jobs.map(lambda mutant: outcome(mutant.group, mutant.old, mutant.new), mutants)
        for mutant, result in zip(mutants, results, strict=True):
            noticed = result.verdict == "failed"
            survivors += not noticed
            verdict = "noticed" if noticed else f"NOT NOTICED ({result.verdict})"
            print(f"{result.seconds:5.0f} s  {verdict}  {mutant.name}")
            print(f"         {result.by}", flush=True)
    print(f"{len(mutants)} mutants, {survivors} not noticed")
    return 1 if survivors else 0


if __name__ == "__main__":
    sys.exit(main())
