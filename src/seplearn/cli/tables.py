"""Tables from files and pipes, whole or batch by batch, and tables to them."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from types import TracebackType
from typing import Any, TypeAlias

import pyarrow as pa
from pyarrow import csv, parquet

from seplearn._files import check_target, replaced
from seplearn.cli.csv_text import CsvText
from seplearn.cli.text import is_terminal, printable

PIPE = "-"
_PIPE_NAME = "standard input"
_PARQUET = b"PAR1"
_BATCH_ROWS = 1 << 16
_NAMES_SHOWN = 30


class ParquetRows:
    """A Parquet table; its columns have types of their own.

    Attributes
    ----------
    names : list of str
    delimiter : None
        What a CSV has, and Parquet has not.
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
        problem = f"{path!r} is no file" if file.exists() else f"there is no file {path!r}"
        raise FileNotFoundError(f"{problem}; give a CSV or Parquet file, or - for a pipe")
    with file.open("rb") as beginning:
        is_parquet = beginning.read(4) == _PARQUET
    if is_parquet:
        yield ParquetRows(path, path)
        return
    with pa.input_stream(path) as stream:  # unpacks .gz and the like
        yield CsvText(stream, path)


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


def check_columns(path: str, wanted: Iterable[str], present: list[str]) -> None:
    """Raise if a table lacks columns, or has two of one name."""
    missing = [name for name in wanted if name not in present]
    if missing:
        raise ValueError(
            f"{path} must have the columns {_listed(missing)}; it has {_listed(present)}"
        )
    twice = [name for name in dict.fromkeys(wanted) if present.count(name) > 1]
    if twice:
        raise ValueError(
            f"{path}: names of columns must be distinct, got more than one of {_listed(twice)}"
        )


def _listed(names: list[str]) -> str:
    rest = len(names) - _NAMES_SHOWN
    return str(names) if rest <= 0 else f"{names[:_NAMES_SHOWN]} and {rest} more"


def check_output(path: str, inputs: Sequence[str | None]) -> None:
    """Raise if nothing can be written to ``path``, or if it would replace an input."""
    if path == PIPE:
        return
    target = check_target(path)
    for given in inputs:
        if given not in (None, PIPE) and Path(str(given)).resolve() == target:
            raise ValueError(f"output must not be the input, got {path!r} for both")


class TableWriter:
    """Writes a table part by part to a file, all or nothing, or to a pipe; the ending says how.

    Names and levels are written as they are, but to a terminal so that they do nothing to it.
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
