"""Tables from files and pipes, whole or batch by batch, and tables to them."""

from __future__ import annotations

import csv as text_csv
import io
import re
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType
from typing import Any
from uuid import uuid4

import pyarrow as pa
from pyarrow import csv, parquet

PIPE = "-"
_PARQUET = b"PAR1"
_DELIMITERS = ",;\t|"
_PEEK = 1 << 20
_BATCH_ROWS = 1 << 16
_BLOCK_BYTES = 1 << 24


def read_table(path: str, as_text: tuple[str, ...] = ()) -> pa.Table:
    """The whole table; columns ``as_text`` keep their spelling, such as ZIP codes."""
    with _opened(path) as (kind, stream):
        if kind == "parquet":
            table = parquet.read_table(stream)
        else:
            types = {name: pa.string() for name in as_text}
            table = csv.read_csv(stream, **_csv_options(stream, types, None))
    _check_names(path, table.column_names)
    return table


def batches(
    path: str, types: Mapping[str, pa.DataType], keep: tuple[str, ...] = ()
) -> Iterator[pa.Table]:
    """The columns of ``types`` and ``keep``, a part of the rows at a time.

    Numbers are read as numbers and levels as text, whatever the first rows look like.
    """
    wanted = [*types, *(name for name in keep if name not in types)]
    with _opened(path) as (kind, stream):
        names = _names(kind, stream)
        if names is not None:
            check_columns(path, wanted, names)
        try:
            for batch in _parts(kind, stream, types, wanted):
                if batch.num_rows:
                    yield pa.Table.from_batches([batch]).select(wanted)
        except pa.ArrowInvalid as error:
            raise ValueError(f"{path}: {_with_name(str(error), names)}") from error


def _parts(
    kind: str, stream: Any, types: Mapping[str, pa.DataType], wanted: list[str]
) -> Iterator[pa.RecordBatch]:
    if kind == "parquet":
        yield from parquet.ParquetFile(stream).iter_batches(_BATCH_ROWS, columns=wanted)
    else:
        known = {name: types.get(name, pa.string()) for name in wanted}
        yield from csv.open_csv(stream, **_csv_options(stream, known, wanted))


def _with_name(message: str, names: list[str] | None) -> str:
    """Arrow counts the columns of a CSV; a reader knows them by name."""

    def name(found: re.Match[str]) -> str:
        return f"column {(names or [])[int(found[1])]!r}" if names else found[0]

    return re.sub(r"In CSV column #(\d+)", name, message)


def column_names(path: str) -> list[str]:
    """The names of the columns of a file."""
    with _opened(path) as (kind, stream):
        names = _names(kind, stream)
        return list(csv.open_csv(stream).schema.names) if names is None else names


def _names(kind: str, stream: Any) -> list[str] | None:
    """Names of columns, without taking anything from the stream."""
    if kind == "parquet":
        return list(parquet.read_schema(stream).names)
    return _header(stream)[1]


def check_columns(path: str, wanted: list[str], present: list[str]) -> None:
    """Raise if a table lacks columns."""
    missing = [name for name in wanted if name not in present]
    if missing:
        raise ValueError(f"{path} must have the columns {missing}; it has {present}")


def _check_names(path: str, names: list[str]) -> None:
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise ValueError(f"{path}: names of columns must be distinct, got more than one of {twice}")


@contextmanager
def _opened(path: str) -> Iterator[tuple[str, Any]]:
    """The kind of a table and a stream of its bytes; that of a CSV can be peeked into."""
    if path == PIPE:
        pipe: Any = sys.stdin.buffer
        stream = pipe if hasattr(pipe, "peek") else io.BufferedReader(pipe, _PEEK)
        if stream.peek(4)[:4] == _PARQUET:
            yield "parquet", pa.BufferReader(stream.read())
        else:
            yield "csv", stream
        return
    file = Path(path)
    if not file.is_file():
        raise FileNotFoundError(
            f"there is no file {path!r}; give a CSV or Parquet file, or - for a pipe"
        )
    with file.open("rb") as start:
        is_parquet = start.read(4) == _PARQUET
    if is_parquet:
        yield "parquet", path
        return
    with io.BufferedReader(pa.input_stream(path), _PEEK) as stream:
        yield "csv", stream


def _header(stream: Any) -> tuple[str, list[str] | None]:
    """Delimiter and names of a CSV; no names when its first line is longer than can be peeked."""
    start = bytes(stream.peek(_PEEK))
    line, newline, _ = start.partition(b"\n")
    text = line.decode("utf-8-sig", "replace").rstrip("\r")
    delimiter = max(_DELIMITERS, key=lambda letter: (text.count(letter), letter == ","))
    if not newline and len(start) >= _PEEK:
        return delimiter, None
    return delimiter, next(text_csv.reader([text], delimiter=delimiter), [])


def _csv_options(
    stream: Any, types: Mapping[str, pa.DataType], columns: list[str] | None
) -> dict[str, Any]:
    return {
        "read_options": csv.ReadOptions(block_size=_BLOCK_BYTES),
        "parse_options": csv.ParseOptions(delimiter=_header(stream)[0], newlines_in_values=True),
        "convert_options": csv.ConvertOptions(
            column_types=dict(types), include_columns=columns, strings_can_be_null=True
        ),
    }


class TableWriter:
    """Writes a table part by part to a file, all or nothing, or to a pipe.

    A file is written beside its place and moved there at the end; its ending says the format.
    """

    def __init__(self, path: str) -> None:
        self._path = path
        self._sink: Any = None
        self._writer: Any = None
        self._temporary: Path | None = None

    def __enter__(self) -> TableWriter:
        if self._path == PIPE:
            self._sink = sys.stdout.buffer
            return self
        target = Path(self._path)
        if target.suffix not in (".csv", ".parquet"):
            raise ValueError(f"output must end in .csv or .parquet, or be -, got {self._path!r}")
        if not target.parent.is_dir():
            raise FileNotFoundError(f"output must be in a folder that exists, got {self._path!r}")
        self._temporary = target.with_name(f".{target.name}.{uuid4().hex}")
        self._sink = self._temporary.open("xb")
        return self

    def write(self, table: pa.Table) -> None:
        if self._writer is None:
            is_parquet = self._path.endswith(".parquet")
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
        if self._temporary is None:
            return
        self._sink.close()
        if kind is None:
            self._temporary.replace(self._path)
        else:
            self._temporary.unlink(missing_ok=True)
