"""What a result file says about where it was made."""

from __future__ import annotations

import os
import platform
import subprocess
from importlib.metadata import version
from pathlib import Path


def describe(*packages: str) -> dict[str, object]:
    """Processor, cores, memory, Python and package versions."""
    return {
        "processor": _processor(),
        "cores": os.cpu_count(),
        "memory_gib": round(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30, 1),
        "python": platform.python_version(),
        "versions": {name: version(name) for name in packages},
    }


def commit() -> str:
    """The commit that is measured, marked when files other than results differ from it."""
    name = _git("describe", "--always", "--exclude=*")
    changed = _git("status", "--porcelain", "--untracked-files=no", "--", ":!benchmarks/results")
    return f"{name}-dirty" if name and changed else name or "unknown"


def _git(*command: str) -> str:
    root = Path(__file__).parents[1]
    done = subprocess.run(["git", *command], capture_output=True, text=True, check=False, cwd=root)
    return done.stdout.strip()


def _processor() -> str:
    information = Path("/proc/cpuinfo")
    if information.exists():
        for line in information.read_text(encoding="utf-8").splitlines():
            if line.startswith("model name"):
                return line.split(":", 1)[1].strip()
    return platform.processor() or platform.machine()
