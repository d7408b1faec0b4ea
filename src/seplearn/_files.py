"""Files that are written whole or not at all."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO
from uuid import uuid4

from seplearn._errors import wrong_type


def resolved(path: str | os.PathLike[str]) -> Path:
    """Where a path leads through links; raises for links that lead in a circle."""
    if not isinstance(path, (str, os.PathLike)):
        raise wrong_type("path", "that of a file, as a text or a pathlib.Path", path)
    try:
        place = Path(path).resolve()
        in_circle = place.is_symlink()  # as Python 3.13 leaves it
    except RuntimeError:  # as Python 3.12 says it
        in_circle = True
    if in_circle:
        raise OSError(f"path must not lead in a circle of links, got {str(path)!r}")
    return place


def check_target(path: str | os.PathLike[str]) -> Path:
    """Where a file will be written, through links; raises if there is no place for a file."""
    target = resolved(path)
    if not target.parent.is_dir():
        raise FileNotFoundError(f"path must be in a folder that exists, got {str(path)!r}")
    if target.is_dir():
        raise IsADirectoryError(f"path must be that of a file, got the folder {str(path)!r}")
    if target.exists() and not target.is_file():
        raise ValueError(f"path must be that of a file, got the device {str(path)!r}")
    if not os.access(target.parent, os.W_OK):
        raise PermissionError(f"path must be in a folder that can be written to, got {str(path)!r}")
    return target


@contextmanager
def replaced(path: str | os.PathLike[str]) -> Iterator[BinaryIO]:
    """A file that takes the place of ``path`` if the block ends well, and else leaves no trace."""
    target = check_target(path)
    # A name of its own: one made from the target's would be too long where that just fits.
    temporary = target.with_name(f".seplearn-{uuid4().hex}")
    try:
        with temporary.open("xb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        if target.exists():  # who may read it stays as it was
            temporary.chmod(stat.S_IMODE(target.stat().st_mode))
        temporary.replace(target)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise
