"""``python -m seplearn`` and the command ``seplearn``."""

from __future__ import annotations

import sys


def main() -> None:
    """Run the command line, or say what it needs."""
    try:
        from seplearn.cli import command_line
    except ModuleNotFoundError as error:
        if error.name not in ("click", "pyarrow"):
            raise
        sys.exit(f"the command line needs {error.name}: pip install 'seplearn[cli]'")
    command_line(prog_name="seplearn")


if __name__ == "__main__":
    main()
