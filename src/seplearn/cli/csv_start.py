"""What the first lines of a CSV tell: its delimiter, its decimal point, its columns."""

from __future__ import annotations

import csv
import io
import re
from dataclasses import dataclass
from typing import Any

ENOUGH = 1 << 20
_DELIMITERS = ",;\t|"
_SAMPLE_RECORDS = 200
_COMMA = re.compile(r"-?(\d+|\d{1,3}(\.\d{3})+),\d+")
_POINT = re.compile(r"-?\d*\.\d+([eE][-+]?\d+)?")
_NO_TABLES = {
    b"PK": "it looks like a spreadsheet or an archive; save the table as CSV",
    b"\x1f\x8b": "it is packed; unpack it first, such as with zcat, or give the file by name",
    b"\xff\xfe": "it is UTF-16 text; save it as UTF-8",
    b"\xfe\xff": "it is UTF-16 text; save it as UTF-8",
}


@dataclass(frozen=True)
class CsvStart:
    """How a CSV is to be read.

    Attributes
    ----------
    names : list of str, or None
        None when the header does not end within what was looked at.
    """

    delimiter: str
    decimal_point: str
    names: list[str] | None

    @staticmethod
    def of(start: bytes, path: str) -> CsvStart:
        """From the first bytes of a file; raises for bytes that are no text.

        Examples
        --------
        >>> CsvStart.of(b"a;b" + bytes([10]) + b"1,5;x", "t.csv")
        CsvStart(delimiter=';', decimal_point=',', names=['a', 'b'])
        """
        for sign, advice in _NO_TABLES.items():
            if start.startswith(sign):
                raise ValueError(f"{path} is not a CSV or Parquet table: {advice}")
        if b"\0" in start:
            raise ValueError(f"{path} is not a CSV or Parquet table: it is not text")
        text = start.decode("utf-8-sig", "replace")
        readings = {letter: _records(text, letter) for letter in _DELIMITERS}
        delimiter = max(_DELIMITERS, key=lambda letter: (_columns(readings[letter]), letter == ","))
        records = readings[delimiter]
        whole = len(records) > 1 or len(start) < ENOUGH
        point = "," if delimiter != "," and _decimal_comma(records[1:]) else "."
        return CsvStart(delimiter, point, records[0] if whole and records else None)


def _records(text: str, delimiter: str) -> list[list[str]]:
    """The first records; the last one may be cut short and is left out if there are several."""
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter)
    records: list[list[str]] = []
    try:
        for record in reader:
            if record:
                records.append(record)
            if len(records) > _SAMPLE_RECORDS:
                break
    except csv.Error:
        return records
    return records[:-1] if len(records) > 2 else records


def _columns(records: list[list[str]]) -> int:
    """Columns that a reading finds; none if its records are not of one length."""
    if not records:
        return 0
    widths = {len(record) for record in records[:20]}
    return len(records[0]) if len(widths) == 1 else 0


def _decimal_comma(records: list[list[str]]) -> bool:
    cells = [cell.strip() for record in records for cell in record]
    commas = sum(_COMMA.fullmatch(cell) is not None for cell in cells)
    return commas > 0 and not any(_POINT.fullmatch(cell) for cell in cells)


class Rewound(io.RawIOBase):
    """A stream whose first bytes have been read already: they are given once more."""

    def __init__(self, start: bytes, rest: Any) -> None:
        self._start, self._rest = memoryview(start), rest

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        if len(self._start):
            size = min(len(buffer), len(self._start))
            buffer[:size] = self._start[:size]
            self._start = self._start[size:]
            return size
        more = self._rest.read(len(buffer))
        buffer[: len(more)] = more
        return len(more)


def first_bytes(stream: Any) -> bytes:
    """Enough of a stream to see its header and a row; what is there at once of a slow pipe."""
    start = b""
    read = getattr(stream, "read1", stream.read)
    while len(start) < ENOUGH:
        more = read(1 << 16)
        start += more
        if not more or (start.count(b"\n") > 1 and len(start) > 1 << 14):
            break
    return start
