"""Tables from files and pipes and to them, and saved models."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from types import TracebackType
from typing import Any, BinaryIO, TypeAlias

import pyarrow as pa
from pyarrow import csv, parquet

from seplearn._errors import did_you_mean
from seplearn._files import check_target, replaced, resolved
from seplearn.cli.csv_text import CsvText
from seplearn.cli.lines import is_terminal, printable
from seplearn.estimators.base import SeparationEstimator
from seplearn.estimators.load import load_model

PIPE = "-"
_PIPE_NAME = "standard input"
LIBRARY = "pyarrow"  # whose tables commands read
_PARQUET = b"PAR1"
_CODECS = {".gz": "gzip", ".bz2": "bz2", ".zst": "zstd", ".lz4": "lz4"}
_BATCH_ROWS = 1 << 16
_NAMES_SHOWN = 30


class ParquetRows:
    """A Parquet table; its columns have types of their own.

    Attributes
    ----------
    names : list of str
    delimiter : None
        Parquet has none.
    """

    delimiter = None

    def __init__(self, source: Any, path: str) -> None:
        self._path = path
        try:
            self._file = parquet.ParquetFile(source)
            self.names = list(self._file.schema_arrow.names)
        except (pa.ArrowException, OSError) as error:
            raise ValueError(f"{path} is not a valid Parquet table: {error}") from error

    def parts(self, wanted: list[str]) -> Iterator[tuple[int, pa.Table]]:
        """The wanted columns, with the number of the first row of every part."""
        row = 0
        try:
            for batch in self._file.iter_batches(_BATCH_ROWS, columns=wanted):
                if batch.num_rows:
                    yield row, pa.Table.from_batches([batch]).select(wanted)
                row += batch.num_rows
        except (pa.ArrowException, OSError) as error:
            raise ValueError(f"{self._path}: {error}") from error


OpenTable: TypeAlias = CsvText | ParquetRows


@contextmanager
def opened(path: str) -> Iterator[OpenTable]:
    """A table whose columns are known and whose rows can be read once, part by part."""
    if path == PIPE:
        if sys.stdin is None:
            raise ValueError("there is no standard input to read a table from")
        start = sys.stdin.buffer.read(len(_PARQUET))
        if start == _PARQUET:
            yield ParquetRows(pa.BufferReader(start + sys.stdin.buffer.read()), _PIPE_NAME)
        else:
            yield CsvText(sys.stdin.buffer, _PIPE_NAME, start)
        return
    file = Path(path)
    if not file.is_file():
        problem = f"{path!r} is not a file" if file.exists() else f"there is no file {path!r}"
        raise FileNotFoundError(f"{problem}; give a CSV or Parquet file, or - for a pipe")
    # Opened here: Arrow opens no file whose name is not UTF-8.
    with file.open("rb") as content:
        is_parquet = content.read(len(_PARQUET)) == _PARQUET
        content.seek(0)
        if is_parquet:
            yield ParquetRows(content, path)
            return
        yield CsvText(_unpacked(content, file.suffix), path)


def _unpacked(content: BinaryIO, ending: str) -> Any:
    """What is in a file whose name ends in .gz or the like; of others the content itself."""
    codec = _CODECS.get(ending.lower())
    return content if codec is None else pa.CompressedInputStream(content, codec)


def read_columns(table: OpenTable, wanted: list[str]) -> dict[str, pa.ChunkedArray]:
    """Whole columns, of a CSV as text."""
    parts = [part for _, part in table.parts(wanted)]
    if not parts:
        return {name: pa.chunked_array([], pa.string()) for name in wanted}
    whole = pa.concat_tables(parts)
    return {name: whole[name] for name in wanted}


def column_names(path: str) -> list[str]:
    """The names of the columns of a file."""
    with opened(path) as table:
        return table.names


def in_a_file(given: str, path: str) -> str:
    """The path of a table that is read twice, which a pipe cannot be."""
    if path == PIPE:
        raise ValueError(f"{given} must be a table in a file, got '-': it is read twice")
    return path


def check_columns(path: str, wanted: Iterable[str], present: list[str]) -> None:
    """Raise if a table lacks columns, or has two of one name."""
    missing = [name for name in wanted if name not in present]
    if missing:
        raise ValueError(
            f"{path} must have the columns {listed(missing)}; it has {listed(present)}"
            + did_you_mean(missing[0], present)
        )
    twice = [name for name in dict.fromkeys(wanted) if present.count(name) > 1]
    if twice:
        raise ValueError(
            f"{path}: names of columns must be distinct, got more than one of {listed(twice)}"
        )


def listed(names: list[str]) -> str:
    """Names in a message, of many the first."""
    rest = len(names) - _NAMES_SHOWN
    return str(names) if rest <= 0 else f"{names[:_NAMES_SHOWN]} and {rest} more"


def check_output(path: str, inputs: Sequence[str | Path | None], may_be_pipe: bool = False) -> None:
    """Raise if nothing can be written to ``path``, or if it would replace an input."""
    if path == PIPE:
        if not may_be_pipe:
            raise ValueError("output must be a file, got '-': this is not written to a pipe")
        return
    target = check_target(path)
    for given in inputs:
        if given in (None, PIPE):
            continue
        own = resolved(str(given))
        if own == target:
            raise ValueError(f"output must not be the input, got {path!r} for both")
        if own.is_dir() and target.is_relative_to(own):
            raise ValueError(
                f"output must not be in the folder that tables are read from, got {path!r}: it "
                "would be read as one of them the next time"
            )


class TableWriter:
    """Writes a table part by part to a file, all or nothing, or to a pipe; the ending says how.

    Names and levels are written as they are; on a terminal control characters are shown as text.
    """

    def __init__(self, path: str) -> None:
        self._path = path
        self._writer: Any = None
        self._stack = ExitStack()
        if path != PIPE and Path(path).suffix.lower() not in (".csv", ".parquet"):
            raise ValueError(f"output must end in .csv or .parquet, or be -, got {path!r}")
        if path == PIPE and sys.stdout is None:
            raise ValueError("there is no standard output to write a table to; give -o")

    def __enter__(self) -> TableWriter:
        self._sink = (
            sys.stdout.buffer
            if self._path == PIPE
            else self._stack.enter_context(replaced(self._path))
        )
        self._to_terminal = self._path == PIPE and is_terminal(sys.stdout)
        return self

    def write(self, table: pa.Table) -> None:
        if self._to_terminal:
            table = _printable_table(table)
        if self._writer is None:
            is_parquet = self._path.lower().endswith(".parquet")
            make = parquet.ParquetWriter if is_parquet else csv.CSVWriter
            self._writer = make(self._sink, table.schema)
        self._writer.write_table(table)
        self._sink.flush()

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._writer is not None:
            self._writer.close()
        self._stack.__exit__(kind, error, trace)


def _printable_table(table: pa.Table) -> pa.Table:
    columns = [
        pa.array([None if text is None else printable(text) for text in column.to_pylist()])
        if pa.types.is_string(column.type)
        else column
        for column in table.columns
    ]
    return pa.table(columns, [printable(name) for name in table.column_names])


def open_model(path: str, *, for_commands: bool = True) -> SeparationEstimator:
    """The model in a file; the error for a missing file says how to make one.

    ``for_commands`` it answers in the tables that commands know; otherwise as it would in Python.
    """
    try:
        estimator = load_model(path)
        if for_commands:
            estimator._library = estimator._library or LIBRARY
        return estimator
    except FileNotFoundError as error:
        if path == PIPE:
            raise ValueError("model must be a file, got '-': it is not read from a pipe") from None
        message = (
            f"there is no model file {path!r}; seplearn fit TABLE --target NAME -o {path} makes one"
        )
        raise FileNotFoundError(message) from error
    except IsADirectoryError as error:
        raise ValueError(f"model must be a file, got the folder {path!r}") from error


def save_model(estimator: SeparationEstimator, path: str) -> None:
    """Save a model that, loaded in Python, answers in whichever data frames are installed there.

    Its training table was pyarrow's only because commands read tables so.
    """
    own = estimator._library
    try:
        estimator._library = None
        estimator.save(path)
    finally:
        estimator._library = own
