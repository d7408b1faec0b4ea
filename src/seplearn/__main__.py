"""``python -m seplearn`` and the command ``seplearn``."""

from __future__ import annotations

import signal
import sys
from typing import Any


def main() -> None:
    """Run the command line, or say what it needs."""
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, _end)
    try:
        from seplearn.cli import command_line
    except ModuleNotFoundError as error:
        if error.name not in ("click", "pyarrow"):
            raise
        sys.exit(f"the command line needs {error.name}: pip install 'seplearn[cli]'")
    command_line(prog_name="seplearn")


def _end(number: int, _: Any) -> None:
    """End as by an exception, so that half-written files are removed; at once if asked again."""
    signal.signal(number, signal.SIG_DFL)
    sys.exit(128 + number)


if __name__ == "__main__":
    main()
