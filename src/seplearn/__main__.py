"""``python -m seplearn`` and the command ``seplearn``."""

from __future__ import annotations

import io
import signal
import sys
from importlib.util import find_spec
from typing import NoReturn


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
        if error.name != "click":
            raise
        _say_what_is_missing("click")
    if find_spec("pyarrow") is None:  # commands import it when they are called
        _say_what_is_missing("pyarrow")
    command_line(prog_name="seplearn")


def _say_what_is_missing(name: str) -> NoReturn:
    sys.exit(f"the command line needs {name}: pip install 'seplearn[cli]'")


if __name__ == "__main__":
    main()
