"""Arrays in files of a temporary folder, for what would not fit into memory.

Space is taken before an array is handed out: a full disk is an error then, where writing to a page
that has none behind it would end the process. Files are unlinked as soon as they are mapped, where
the system lets them: nothing is left behind, whatever happens.
"""

from __future__ import annotations

import errno
import math
import mmap
import os
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
import numpy.typing as npt

from seplearn._errors import wrong_type

# Up to so many bytes of all arrays may stay in memory; of more, those that were worked on are let
# go. They are in the file.
RESIDENT = 1 << 30
_ZEROS = bytes(1 << 20)


def _checked_folder(parent: Any) -> str | None:
    """Where the temporary folder is to be made; None lets the system say."""
    if parent is None:
        return None
    rule = "a folder that exists and can be written to"
    if not isinstance(parent, (str, os.PathLike)):
        raise wrong_type("temporary_folder", f"{rule}, or None", parent)
    folder = os.fspath(parent)
    if not Path(folder).is_dir():
        raise NotADirectoryError(f"temporary_folder must be {rule}, got {folder!r}")
    if not os.access(folder, os.W_OK):
        raise PermissionError(f"temporary_folder must be {rule}, got {folder!r}")
    return folder


class _Pages(mmap.mmap):
    """A file in memory that knows which folder it belongs to."""

    spill: Spill


def let_go(array: npt.NDArray[Any]) -> None:
    """Free the memory of an array's pages; what was written to them stays in the file.

    Nothing happens to an array that lies in no file, or where all of them together are small.
    """
    base: Any = array
    while isinstance(base, np.ndarray):
        top, base = base, base.base
    pages = getattr(base, "obj", base)  # behind the view that an array has of a buffer
    if not isinstance(pages, _Pages) or not pages.spill.is_large:
        return
    if hasattr(mmap, "MADV_DONTNEED") and array.flags.c_contiguous:
        start = array.ctypes.data - top.ctypes.data
        first = start - start % mmap.PAGESIZE
        pages.madvise(mmap.MADV_DONTNEED, first, start + array.nbytes - first)


class Spill:
    """A temporary folder with arrays in files, gone at the end of the ``with`` block.

    Parameters
    ----------
    parent : str or path, optional
        Where the folder is made; by default where temporary files go.
    """

    def __init__(self, parent: str | os.PathLike[str] | None = None) -> None:
        self._parent = _checked_folder(parent)
        self._size = self._number = 0
        self._lock = threading.Lock()

    def __enter__(self) -> Spill:
        self._folder = tempfile.TemporaryDirectory(
            prefix="seplearn-", dir=self._parent, ignore_cleanup_errors=True
        )
        self.path = Path(self._folder.name)
        return self

    def __exit__(self, *_: object) -> None:
        self._folder.cleanup()

    def array(self, shape: tuple[int, ...], dtype: npt.DTypeLike) -> npt.NDArray[Any]:
        """An array of zeros in a file of its own."""
        size = math.prod(shape) * np.dtype(dtype).itemsize
        path = self._new_path()
        with self.spells_out_full_disk(size), path.open("x+b") as file:
            _take_space(file, size)
            return self._mapped(file, path, shape, dtype)

    @contextmanager
    def column(self, dtype: npt.DTypeLike) -> Iterator[Column]:
        """A column of numbers whose length is known at its end only."""
        path = self._new_path()
        with path.open("x+b") as file:
            yield Column(self, file, path, np.dtype(dtype))

    @property
    def is_large(self) -> bool:
        """Whether all arrays together are more than may stay in memory."""
        return self._size > RESIDENT

    @contextmanager
    def spells_out_full_disk(self, size: int) -> Iterator[None]:
        """An error that says which folder is full, and how much was asked for."""
        try:
            yield
        except OSError as error:
            if error.errno not in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG):
                raise
            raise OSError(
                error.errno,
                f"the temporary folder has no room for {size:,} bytes more ({error.strerror}); "
                "give another one as temporary_folder, or set TMPDIR",
                str(self.path),
            ) from error

    def _new_path(self) -> Path:
        with self._lock:
            self._number += 1
            return self.path / f"{self._number}"

    def _mapped(
        self, file: BinaryIO, path: Path, shape: tuple[int, ...], dtype: npt.DTypeLike
    ) -> npt.NDArray[Any]:
        size = math.prod(shape) * np.dtype(dtype).itemsize
        if size == 0:
            return np.empty(shape, dtype)
        mapped = _Pages(file.fileno(), size)
        mapped.spill = self
        with suppress(OSError):  # Windows keeps files that are in use
            path.unlink()
        with self._lock:
            self._size += size
        return np.frombuffer(mapped, dtype).reshape(shape)


class Column:
    """A column that grows at its end."""

    def __init__(self, spill: Spill, file: BinaryIO, path: Path, dtype: np.dtype[Any]) -> None:
        self._spill, self._file, self._path, self._dtype = spill, file, path, dtype
        self._length = 0

    def append(self, values: npt.NDArray[Any]) -> None:
        """Write values of more rows."""
        values = np.ascontiguousarray(values, self._dtype)
        with self._spill.spells_out_full_disk(values.nbytes):
            self._file.write(values.tobytes())
        self._length += values.size

    def finished(self) -> npt.NDArray[Any]:
        """The whole column."""
        size = self._length * self._dtype.itemsize
        with self._spill.spells_out_full_disk(size):
            self._file.flush()
        return self._spill._mapped(self._file, self._path, (self._length,), self._dtype)


def _take_space(file: BinaryIO, size: int) -> None:
    if size and hasattr(os, "posix_fallocate"):
        os.posix_fallocate(file.fileno(), 0, size)
        return
    for first in range(0, size, len(_ZEROS)):
        file.write(_ZEROS[: size - first])
    file.flush()
