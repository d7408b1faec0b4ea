"""What a model remembers of where it comes from, beside what its fit knows."""

from __future__ import annotations

import hashlib
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from seplearn.cli.tables import (
    PIPE,
)
from seplearn.table.files import file_paths

_LONGEST_DATE = 200
_HASHED_AT_ONCE = 1 << 20


def origin(
    tables: tuple[str, ...], date: str | None, hash_table: bool, exclude: tuple[str, ...]
) -> dict[str, Any]:
    """The date, the columns left out and the checksum of the table, as options ask for them."""
    found: dict[str, Any] = {"excluded": tuple(exclude)}
    if date is not None:
        text = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ") if date == "now" else date.strip()
        if not 0 < len(text) <= _LONGEST_DATE:
            rule = f"'now' or a text of at most {_LONGEST_DATE} letters"
            raise ValueError(f"--date must be {rule}, got {date!r}")
        found["date"] = text
    if hash_table:
        if PIPE in tables:
            raise ValueError("--hash-table needs a table in a file, got a pipe")
        found["table_sha256"] = _hash_of(file_paths(list(tables)))
    return found


def _hash_of(paths: list[Path]) -> str:
    """SHA-256 of a file, or of several one after the other, as ``cat`` puts them."""
    digest = hashlib.sha256()
    for path in paths:
        with path.open("rb") as file:
            while piece := file.read(_HASHED_AT_ONCE):
                digest.update(piece)
    return digest.hexdigest()
