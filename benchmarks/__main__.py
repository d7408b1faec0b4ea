"""Entry point of the measurements: ``python -m benchmarks accuracy``."""

from __future__ import annotations

import argparse
from pathlib import Path

from benchmarks import accuracy, data


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    command = commands.add_parser("accuracy", help=accuracy.__doc__.splitlines()[0])
    command.add_argument("--data-dir", type=Path, default=data.DEFAULT_FOLDER)
    only = "only these models; 'speed' for the fit times"
    command.add_argument("--models", nargs="*", default=None, help=only)
    command.add_argument("--again", nargs="*", default=[], help="forget the rows of these first")
    command.add_argument("--report", action="store_true", help="write the tables, fit nothing")
    accuracy.main(parser.parse_args())


if __name__ == "__main__":
    main()
