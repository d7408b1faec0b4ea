"""``python -m seplearn`` and the command ``seplearn``."""

from __future__ import annotations

import signal
import sys
from typing import Any


def main() -> None:
    """Run the command line, or say what it needs."""
    try:
        from seplearn.cli import command_line
    except ModuleNotFoundError as error:
        if error.name not in ("click", "pyarrow"):
            raise
        sys.exit(f"the command line needs {error.name}: pip install 'seplearn[cli]'")
    signal.signal(signal.SIGTERM, _terminated)
    command_line(prog_name="seplearn")


def _terminated(number: int, _: Any) -> None:
    """End as by an exception, so that half-written files are removed."""
    sys.exit(128 + number)


if __name__ == "__main__":
    main()
