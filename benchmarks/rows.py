"""Results as lines of JSON, one per fit, appended as soon as it is there."""

from __future__ import annotations

import json
import os
from pathlib import Path
from threading import Lock
from typing import Any

KEY = ("problem", "split", "rival", "tag")


class Rows:
    """A file of results; a line that a kill cut short is dropped when the file is read."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._lock = Lock()

    def read(self) -> list[dict[str, Any]]:
        """All whole rows."""
        if not self.path.exists():
            return []
        rows = []
        for line in self.path.read_text(encoding="utf-8").splitlines():
            try:
                rows.append(json.loads(line))
            except json.JSONDecodeError:
                continue
        return rows

    def done(self) -> set[tuple[Any, ...]]:
        """The keys of the cells that have a row."""
        return {tuple(row[name] for name in KEY) for row in self.read()}

    def append(self, row: dict[str, Any]) -> None:
        """Add a row; it is on the disk when this returns."""
        with self._lock:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            whole = not self.path.exists() or self.path.read_bytes()[-1:] in (b"", b"\n")
            with self.path.open("a", encoding="utf-8") as file:
                file.write(("" if whole else "\n") + json.dumps(row) + "\n")
                file.flush()
                os.fsync(file.fileno())
