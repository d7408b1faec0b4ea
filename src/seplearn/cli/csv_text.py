"""A CSV as text: its delimiter, its header and, part by part, the cells of its rows.

Parts are cut where records end and handed to Arrow whole. Arrow's own reader of streams would read
ahead in threads that call back into Python, which crashes if Python ends first.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Callable, Iterator
from typing import Any

import pyarrow as pa
from pyarrow import csv as arrow_csv

_SEEN_FIRST = 1 << 20
_BLOCK_BYTES = 1 << 24
_LONGEST_RECORD = 1 << 26
_DELIMITERS = ",;\t|"
_SAMPLE_RECORDS = 20
_NO_TABLES = {
    b"PK\x03\x04": "it looks like a spreadsheet or an archive; save the table as CSV",
    b"\x1f\x8b": "it is compressed; decompress it first (zcat), or give the file by name",
    b"\xff\xfe": "it is UTF-16 text; save it as UTF-8",
    b"\xfe\xff": "it is UTF-16 text; save it as UTF-8",
    b'{"': "it looks like JSON; save the table as CSV",
    b"[{": "it looks like JSON; save the table as CSV",
}
_BYTE_ORDER_MARK = b"\xef\xbb\xbf"


class CsvText:
    """A CSV whose header has been read.

    Attributes
    ----------
    names : list of str
    delimiter : str

    Examples
    --------
    >>> table = CsvText(io.BytesIO(b"a;b" + bytes([10]) + b"1,5;x"), "t.csv")
    >>> table.names, table.delimiter
    (['a', 'b'], ';')
    >>> [part.to_pylist() for _, part in table.parts(["b"])]
    [[{'b': 'x'}]]
    """

    def __init__(self, stream: Any, path: str, start: bytes = b"") -> None:
        csv.field_size_limit(_LONGEST_RECORD)
        self._stream, self._path = stream, path
        self._ahead, self._at_end = start, False
        self._read_the_first_rows()
        self._refuse_other_formats()
        self.delimiter = _delimiter(self._ahead.decode("utf-8", "replace"))
        self._records = _Records(self.delimiter)
        self.names = self._header()

    def _refuse_other_formats(self) -> None:
        for sign, advice in _NO_TABLES.items():
            if self._ahead.startswith(sign):
                raise ValueError(f"{self._path} is not a CSV or Parquet table: {advice}")
        if b"\0" in self._ahead:
            raise ValueError(f"{self._path} is not a CSV or Parquet table: it is not text")

    def parts(self, wanted: list[str]) -> Iterator[tuple[int, pa.Table]]:
        """The wanted columns as text, with the number of the first row of every part."""
        row = 0
        while block := self._block(row):
            part = self._parsed(block, row, wanted)
            if part.num_rows:
                yield row, part
            row += part.num_rows

    def _header(self) -> list[str]:
        while True:
            self._ahead = self._ahead.lstrip(b"\r\n")
            found = self._records.one.match(self._ahead)
            if found is not None and (self._at_end or found.end() < len(self._ahead)):
                break
            if self._at_end:
                found = self._records.one.match(self._ahead + b"\n")
                break
            self._read_on("the header")
        if not self._ahead:
            raise ValueError(f"{self._path} is empty: a table begins with the names of its columns")
        if found is None:
            raise self._unclosed("the header")
        header, self._ahead = self._ahead[: found.end()], self._ahead[found.end() :]
        try:
            text = io.StringIO(header.decode("utf-8"), newline="")
        except UnicodeDecodeError as error:
            raise self._no_utf8("the header") from error
        return next(csv.reader(text, delimiter=self.delimiter))

    def _block(self, row: int) -> bytes:
        """Bytes that end where a record does; none after the last."""
        end = 0
        while not (end or self._at_end):
            self._read_on(f"row {row}")
            end = self._records.end(self._ahead)
            if self._has_one_column and not self._at_end:
                end = _before_empty_lines(self._ahead[:end])
        if self._at_end and self._ahead:
            end = len(self._ahead)
            if self._records.end(self._ahead + b"\n") <= end:
                raise self._unclosed(f"row {row} or later")
        block, self._ahead = self._ahead[:end], self._ahead[end:]
        if self._at_end and self._has_one_column:  # after the last row there may be empty lines
            block = block.rstrip(b"\r\n")
        return block

    @property
    def _has_one_column(self) -> bool:
        """Whether an empty line is a row whose only cell is missing."""
        return len(self.names) == 1

    def _read_on(self, where: str) -> None:
        if len(self._ahead) > _LONGEST_RECORD:
            raise self._unclosed(where)
        self._read(self._stream.read, _BLOCK_BYTES)

    def _read_the_first_rows(self) -> None:
        """Read enough to see the header and a row; from a slow pipe, without waiting for more."""
        read = getattr(self._stream, "read1", self._stream.read)
        while not self._at_end and len(self._ahead) < _SEEN_FIRST:
            self._read(read, 1 << 16)
            if self._ahead.count(b"\n") > 1 and len(self._ahead) > 1 << 14:
                break
        self._ahead = self._ahead.removeprefix(_BYTE_ORDER_MARK)

    def _read(self, read: Callable[[int], bytes], size: int) -> None:
        try:
            more = read(size)
        except (EOFError, OSError, pa.ArrowException) as error:
            raise ValueError(f"{self._path} cannot be read to its end: {error}") from error
        self._at_end = not more
        self._ahead += more

    def _parsed(self, block: bytes, row: int, wanted: list[str]) -> pa.Table:
        names = [str(j) for j in range(len(self.names))]  # positions: a name may occur twice
        places = [str(self.names.index(name)) for name in wanted]
        copy = pa.BufferOutputStream()  # memory of Arrow's own, freed without a word to Python
        copy.write(block)
        try:
            return arrow_csv.read_csv(
                pa.BufferReader(copy.getvalue()),
                read_options=arrow_csv.ReadOptions(
                    column_names=names, use_threads=False, block_size=max(len(block), 64)
                ),
                parse_options=arrow_csv.ParseOptions(
                    delimiter=self.delimiter,
                    newlines_in_values=True,
                    ignore_empty_lines=not self._has_one_column,
                ),
                convert_options=arrow_csv.ConvertOptions(
                    column_types=dict.fromkeys(names, pa.string()),
                    include_columns=places,
                    strings_can_be_null=False,
                ),
            ).rename_columns(wanted)
        except pa.ArrowException as error:
            raise self._in_words(str(error), row) from error

    def _in_words(self, message: str, row: int) -> ValueError:
        """Arrow counts rows of the block, from one, and columns; a reader wants names."""
        number = re.search(r"Row #(\d+)", message)
        where = f"row {row + int(number[1]) - 1}" if number else f"row {row} or later"
        ragged = re.search(r"Expected (\d+) columns, got (\d+)", message)
        if ragged:
            return ValueError(
                f"{self._path}: {where} has {ragged[2]} cells, but the header has {ragged[1]} "
                "(rows count from 0)"
            )
        if "UTF8" in message:
            column = re.search(r"In CSV column #(\d+)", message)
            name = f"column {self.names[int(column[1])]!r} in " if column else ""
            return self._no_utf8(f"{name}{where}")
        return ValueError(f"{self._path}: {where}: {message}")

    def _no_utf8(self, where: str) -> ValueError:
        return ValueError(f"{self._path}: {where} is not UTF-8 text; save the table as UTF-8")

    def _unclosed(self, where: str) -> ValueError:
        return ValueError(
            f"{self._path}: a quote that is opened in {where} is not closed, or a row is longer "
            f"than {_LONGEST_RECORD >> 20} MiB"
        )


class _Records:
    """Where records end, quoted line breaks aside."""

    def __init__(self, delimiter: str) -> None:
        d = re.escape(delimiter).encode()
        quoted = rb'"(?:[^"]++|"")*+"[^%b\r\n]*+' % d
        plain = rb'[^"%b\r\n][^%b\r\n]*+' % (d, d)
        cell = rb"(?:%b|%b|)" % (quoted, plain)
        record = rb"%b(?:%b%b)*+(?:\r\n|\n|\r)" % (cell, d, cell)
        self.one = re.compile(record)
        self._all = re.compile(rb"(?:%b)*+" % record)

    def end(self, block: bytes) -> int:
        """The end of the last record that is whole."""
        block = block.removesuffix(b"\r")  # a line feed that belongs to it may be about to come
        if b'"' not in block:
            return max(block.rfind(b"\n"), block.rfind(b"\r")) + 1
        found = self._all.match(block)
        return 0 if found is None else found.end()


def _before_empty_lines(block: bytes) -> int:
    """Where the last line ends that is not empty; those behind it may be the end of the file."""
    lines = block.rstrip(b"\r\n")
    rest = block[len(lines) :]
    return len(lines) + (2 if rest.startswith(b"\r\n") else 1) if lines else 0


def _delimiter(text: str) -> str:
    """The one that finds most columns in rows that are as long as the header."""
    return max(_DELIMITERS, key=lambda letter: (*_likeness(text, letter), letter == ","))


def _likeness(text: str, delimiter: str) -> tuple[float, int]:
    """Columns that a delimiter finds; if most rows are of another length, hardly more than one."""
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter)
    widths: list[int] = []
    try:
        for record in reader:
            if record:
                widths.append(len(record))
            if len(widths) > _SAMPLE_RECORDS:
                break
    except csv.Error:
        return 0, 0
    if len(widths) > 2:
        widths = widths[:-1]  # the last may be cut short
    if not widths:
        return 0, 0
    same = sum(width == widths[0] for width in widths[1:])
    if 2 * same >= len(widths) - 1:
        return widths[0], widths[0]
    return (1.5 if widths[0] > 1 else 0), widths[0]
