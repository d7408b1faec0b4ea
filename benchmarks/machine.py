"""What a result file says about where it was made."""

from __future__ import annotations

import os
import platform
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


def _processor() -> str:
    information = Path("/proc/cpuinfo")
    if information.exists():
        for line in information.read_text(encoding="utf-8").splitlines():
            if line.startswith("model name"):
                return line.split(":", 1)[1].strip()
    return platform.processor() or platform.machine()
