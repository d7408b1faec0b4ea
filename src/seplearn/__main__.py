"""``python -m seplearn`` and the command ``seplearn``."""

from __future__ import annotations

import io
import signal
import sys


def main() -> None:
    """Run the command line, or say what it needs."""
    received: list[int] = []

    def end(number: int, _: object) -> None:
        """End by an exception, so that half-written files are removed; at once if asked again."""
        signal.signal(number, signal.SIG_DFL)
        received.append(number)
        sys.stderr = io.StringIO()  # what libraries say of it is of no use
        sys.exit(128 + number)

    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, end)
    try:
        _run()
    finally:
        if received:  # imports and callbacks of libraries may lose the exception, or raise another
            sys.exit(128 + received[0])


def _run() -> None:
    try:
        from seplearn.cli import command_line
    except ModuleNotFoundError as error:
        if error.name not in ("click", "pyarrow"):
            raise
        sys.exit(f"the command line needs {error.name}: pip install 'seplearn[cli]'")
    command_line(prog_name="seplearn")


if __name__ == "__main__":
    main()
