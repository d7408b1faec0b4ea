"""Tables from files and pipes, whole or batch by batch, and tables to them."""

from __future__ import annotations

import io
import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any

import pyarrow as pa
from pyarrow import csv, parquet

from seplearn._files import check_target, replaced
from seplearn.cli.csv_start import CsvStart, Rewound, first_bytes

PIPE = "-"
_PARQUET = b"PAR1"
_BATCH_ROWS = 1 << 16
_BLOCK_BYTES = 1 << 24


def read_table(path: str, as_text: tuple[str, ...] = ()) -> pa.Table:
    """The whole table; columns ``as_text`` keep their spelling, such as ZIP codes."""
    with _opened(path) as source:
        try:
            if source.start is None:
                table = parquet.read_table(source.stream)
            else:
                types = {name: pa.string() for name in as_text}
                table = csv.read_csv(source.stream, **_csv_options(source.start, types, None))
        except (pa.ArrowException, EOFError) as error:
            names = None if source.start is None else source.start.names
            raise ValueError(f"{path}: {_in_words(str(error), names)}") from error
    _check_names(path, table.column_names)
    _check_text(path, table)
    return table


def batches(
    path: str, types: Mapping[str, pa.DataType], keep: tuple[str, ...] = ()
) -> Iterator[pa.Table]:
    """The columns of ``types`` and ``keep``, a part of the rows at a time.

    Numbers are read as numbers and levels as text, whatever the first rows look like.
    """
    wanted = [*types, *(name for name in keep if name not in types)]
    with _opened(path) as source:
        names = _names(source)
        if names is not None:
            check_columns(path, wanted, names)
        try:
            for batch in _parts(source, types, wanted):
                if batch.num_rows:
                    yield pa.Table.from_batches([batch]).select(wanted)
        except (pa.ArrowException, EOFError) as error:
            raise ValueError(f"{path}: {_in_words(str(error), names)}") from error


def _parts(
    source: _Source, types: Mapping[str, pa.DataType], wanted: list[str]
) -> Iterator[pa.RecordBatch]:
    if source.start is None:
        yield from parquet.ParquetFile(source.stream).iter_batches(_BATCH_ROWS, columns=wanted)
    else:
        known = {name: types.get(name, pa.string()) for name in wanted}
        yield from csv.open_csv(source.stream, **_csv_options(source.start, known, wanted))


def _in_words(message: str, names: list[str] | None) -> str:
    """Arrow counts the columns of a CSV; a reader knows them by name."""

    def name(found: re.Match[str]) -> str:
        return f"column {names[int(found[1])]!r}" if names else found[0]

    text = re.sub(r"In CSV column #(\d+)", name, message)
    return f"{text}; save the table as UTF-8" if "UTF8" in text else text


def column_names(path: str) -> list[str]:
    """The names of the columns of a file."""
    with _opened(path) as source:
        names = _names(source)
        return list(csv.open_csv(source.stream).schema.names) if names is None else names


def _names(source: _Source) -> list[str] | None:
    """Names of columns, without taking anything from the stream."""
    if source.start is None:
        return list(parquet.read_schema(source.stream).names)
    return source.start.names


def check_columns(path: str, wanted: list[str], present: list[str]) -> None:
    """Raise if a table lacks columns."""
    missing = [name for name in wanted if name not in present]
    if missing:
        raise ValueError(f"{path} must have the columns {missing}; it has {present}")


def _check_names(path: str, names: list[str]) -> None:
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise ValueError(f"{path}: names of columns must be distinct, got more than one of {twice}")


def _check_text(path: str, table: pa.Table) -> None:
    """Arrow takes text that is not UTF-8 for bytes."""
    for name, kind in zip(table.column_names, table.schema.types, strict=True):
        if pa.types.is_binary(kind) or pa.types.is_large_binary(kind):
            raise ValueError(f"{path}: column {name!r} is not UTF-8 text; save the table as UTF-8")


@dataclass(frozen=True)
class _Source:
    """The bytes of a table; ``start`` says how to read a CSV, and is None for Parquet."""

    stream: Any
    start: CsvStart | None


@contextmanager
def _opened(path: str) -> Iterator[_Source]:
    if path == PIPE:
        yield _source(sys.stdin.buffer, path)
        return
    file = Path(path)
    if not file.is_file():
        raise FileNotFoundError(
            f"there is no file {path!r}; give a CSV or Parquet file, or - for a pipe"
        )
    with file.open("rb") as beginning:
        is_parquet = beginning.read(4) == _PARQUET
    if is_parquet:
        yield _Source(path, None)
        return
    with pa.input_stream(path) as stream:  # unpacks .gz and the like
        yield _source(stream, path)


def _source(stream: Any, path: str) -> _Source:
    """A stream that has been looked into."""
    start = first_bytes(stream)
    if start[:4] == _PARQUET:
        return _Source(pa.BufferReader(start + stream.read()), None)
    return _Source(io.BufferedReader(Rewound(start, stream), 1 << 20), CsvStart.of(start, path))


def _csv_options(
    start: CsvStart, types: Mapping[str, pa.DataType], columns: list[str] | None
) -> dict[str, Any]:
    return {
        "read_options": csv.ReadOptions(block_size=_BLOCK_BYTES),
        "parse_options": csv.ParseOptions(delimiter=start.delimiter, newlines_in_values=True),
        "convert_options": csv.ConvertOptions(
            column_types=dict(types),
            include_columns=columns,
            strings_can_be_null=True,
            decimal_point=start.decimal_point,
        ),
    }


def check_output(path: str, inputs: Sequence[str | None]) -> None:
    """Raise if nothing can be written to ``path``, or if it would replace an input."""
    if path == PIPE:
        return
    target = check_target(path)
    for given in inputs:
        if given not in (None, PIPE) and Path(str(given)).resolve() == target:
            raise ValueError(f"output must not be the input, got {path!r} for both")


class TableWriter:
    """Writes a table part by part to a file, all or nothing, or to a pipe; the ending says how."""

    def __init__(self, path: str) -> None:
        self._path = path
        self._writer: Any = None
        self._stack = ExitStack()
        if path != PIPE and Path(path).suffix.lower() not in (".csv", ".parquet"):
            raise ValueError(f"output must end in .csv or .parquet, or be -, got {path!r}")

    def __enter__(self) -> TableWriter:
        self._sink = (
            sys.stdout.buffer
            if self._path == PIPE
            else self._stack.enter_context(replaced(self._path))
        )
        return self

    def write(self, table: pa.Table) -> None:
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
