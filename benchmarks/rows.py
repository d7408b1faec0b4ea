"""Results as lines of JSON, one per fit, appended as soon as it is there."""

from __future__ import annotations

import json
import os
from pathlib import Path
from threading import Lock
from typing import Any

KEY = ("problem", "split", "rival", "tag")


def key_of(cell: dict[str, Any]) -> tuple[Any, ...]:
    """What tells a cell, or its row, from the others."""
    return tuple(cell[name] for name in KEY)


class Rows:
    """A file of results; a line that a kill cut short is dropped when the file is read.

    A cell that was run again has several lines: the last counts.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._lock = Lock()

    def read(self) -> list[dict[str, Any]]:
        """The row of every cell."""
        if not self.path.exists():
            return []
        rows: dict[tuple[Any, ...], dict[str, Any]] = {}
        lines = self.path.read_bytes().split(b"\n")
        for number, line in enumerate(lines, 1):
            try:
                row = json.loads(line)
                if row["status"]:  # every row has one
                    rows[key_of(row)] = row
            except (ValueError, TypeError, KeyError) as error:
                if line and number < len(lines) and not _cut_short(line):
                    raise ValueError(
                        f"{self.path}, line {number} is not a result: {error!r}"
                    ) from error
        return list(rows.values())

    def to_do(self, cells: list[dict[str, Any]], *, retry: bool = False) -> list[dict[str, Any]]:
        """Cells without a row of the same parameters; with ``retry`` also those that failed."""
        found = {key_of(row): row for row in self.read()}

        def is_done(cell: dict[str, Any]) -> bool:
            row = found.get(key_of(cell))
            if row is None or row.get("params", cell["params"]) != cell["params"]:
                return False
            return row["status"] == "ok" or not retry

        return [cell for cell in cells if not is_done(cell)]

    def check(self) -> None:
        """Raise, before any work, where the file cannot be written."""
        self.path.parent.mkdir(parents=True, exist_ok=True)
        with self.path.open("a", encoding="utf-8"):
            pass

    def write(self, rows: list[dict[str, Any]]) -> None:
        """Put these rows in the place of all that are there, or leave the file as it is."""
        with self._lock:
            new = self.path.with_name(self.path.name + ".new")
            new.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
            new.replace(self.path)

    def append(self, row: dict[str, Any]) -> None:
        """Add a row; it is on the disk when this returns."""
        with self._lock:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            whole = not self.path.exists() or self.path.read_bytes()[-1:] in (b"", b"\n")
            with self.path.open("a", encoding="utf-8") as file:
                file.write(("" if whole else "\n") + json.dumps(row) + "\n")
                file.flush()
                os.fsync(file.fileno())


def _cut_short(line: bytes) -> bool:
    """Whether a line is the beginning of a row: a kill ended the writing of it."""
    return line.startswith(b'{"problem": ')
