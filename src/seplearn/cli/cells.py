"""What the text cells of a column mean: numbers, levels, truth values, dates or missing values.

A CSV has text only, so every command asks here. In a column of numbers an empty cell is missing,
and so are the usual markers, with a note; any other cell that is not a number is refused. In a
column of levels only an empty cell is missing. ``--missing TEXT`` makes a text a missing value in
columns of both kinds. Whole numbers that may be codes, such as ZIP codes, are taken as
amounts, with a note.
"""

from __future__ import annotations

import math
import re
import shlex
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

import click
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from seplearn.cli.lines import note
from seplearn.kernels.arrays import BoolArray

# Texts that usually mean a missing value, in small letters.
MARKERS = frozenset((
    "?", "??", "-", "--", "---", ".", "..", "...", "*", "\u2013", "\u2014",
    "n/a", "na", "n.a.", "n.a", "<na>", "#n/a", "#na", "(na)", "nan", "-nan", "nat",
    "null", "(null)", "none", "nil", "\\n", "missing", "unknown", "undefined",
    "#null!", "#value!", "#div/0!", "#ref!", "#num!", "#name?",
))  # fmt: skip
_SHOWN = 3
_LONGEST_SHOWN = 40

_PLAIN = r"^[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?$|^[+-]?(?i:inf|infinity|nan)$"
_GROUPED_POINT = r"^[+-]?\d{1,3}(,\d{3})+\.\d+$"
_COMMA = r"^[+-]?(\d+,\d*|,\d+)([eE][+-]?\d+)?$|^[+-]?\d{1,3}(\.\d{3})+,\d+$"
_UNCLEAR = r"^[+-]?\d{1,3}([., '_\x{a0}\x{202f}\x{2019}]\d{3})+([.,]\d+)?$|^[+-]?\d+,\d+$"
_THOUSANDS = r"^[+-]?[1-9]\d{0,2}\.\d{3}$"
WORDS = {
    word: value
    for value, words in ((True, ("true", "True", "TRUE")), (False, ("false", "False", "FALSE")))
    for word in words
}
INTEGER = r"^-?(0|[1-9]\d*)(\.0+)?$"

missing_option = click.option(
    "--missing",
    multiple=True,
    metavar="TEXT",
    help="A cell with this text is a missing value, in any column; may be repeated. A model "
    "remembers those of its training table.",
)


@dataclass
class Found:
    """Cells of one sort: how many, and the first of them with their rows."""

    count: int = 0
    first: list[tuple[str, str]] = field(default_factory=list)

    def add(self, cells: Any, is_one: BoolArray, first_row: int, of_file: str = "") -> None:
        """Count the cells that are of this sort."""
        places = np.flatnonzero(is_one)
        self.count += len(places)
        for place in places[: _SHOWN - len(self.first)]:
            self.first.append((f"row {first_row + int(place)}{of_file}", cells[int(place)].as_py()))

    def __str__(self) -> str:
        shown = ", ".join(f"{_short(text)} in {where}" for where, text in self.first)
        return shown + (", ..." if self.count > len(self.first) else "")

    def missing_options(self) -> str:
        """The option that makes these texts missing values."""
        texts = dict.fromkeys(text for _, text in self.first if len(text) <= _LONGEST_SHOWN)
        options = " ".join(f"--missing {shlex.quote(text)}" for text in texts)
        return options or "--missing TEXT"


class NumberReader:
    """Reads the cells of one column as numbers, part by part, and counts the other cells.

    Decimal commas are numbers where commas do not separate the columns; a column has either
    decimal points or decimal commas.
    """

    def __init__(self, name: str, delimiter: str | None) -> None:
        self.name = name
        self.begin(delimiter)
        self.n_numbers = self.n_unclear = self.n_thousands = 0
        self.markers, self.odd = Found(), Found()
        self.points, self.commas, self.zeros = Found(), Found(), Found()

    def begin(self, delimiter: str | None, file: str = "") -> None:
        """Go on with another file, which is then named beside the number of a row."""
        self.rows, self._of_file = 0, f" of {file}" if file else ""
        self._commas_separate = delimiter == ","

    def read(self, cells: Any) -> Any:
        """Float64; null for cells that are empty, a marker or not a number."""
        trimmed = pc.utf8_trim_whitespace(cells)
        trimmed = pc.if_else(pc.equal(trimmed, ""), pa.scalar(None, pa.string()), trimmed)
        try:
            numbers = trimmed.cast(pa.float64())
            self._look_at_points(trimmed, mask_of(pc.match_substring(trimmed, ".")))
        except pa.ArrowException:
            numbers = self._read_one_by_one(trimmed)
        self.add(self.zeros, trimmed, mask_of(pc.match_substring_regex(trimmed, r"^0\d+$")))
        self.n_numbers += len(numbers) - numbers.null_count
        self.rows += len(cells)
        return numbers

    def _read_one_by_one(self, cells: Any) -> Any:
        plain, grouped, comma, unclear = (
            pc.fill_null(pc.match_substring_regex(cells, pattern), False)
            for pattern in (_PLAIN, _GROUPED_POINT, _COMMA, _UNCLEAR)
        )
        if self._commas_separate:
            comma = pc.and_(comma, False)
        without_commas = pc.replace_substring(cells, ",", "")
        without_points = pc.replace_substring(pc.replace_substring(cells, ".", ""), ",", ".")
        as_points = pc.if_else(comma, without_points, without_commas)
        readable = pc.or_(pc.or_(plain, grouped), comma)
        has_point = pc.and_(pc.match_substring(cells, "."), pc.invert(comma))
        self._look_at_points(cells, mask_of(pc.and_(readable, has_point)))
        self.add(self.commas, cells, mask_of(comma))
        others = mask_of(pc.and_(pc.is_valid(cells), pc.invert(readable)))
        is_marker = mask_of(_is_in(pc.utf8_lower(cells), MARKERS))
        self.add(self.markers, cells, others & is_marker)
        self.add(self.odd, cells, others & ~is_marker)
        self.n_unclear += int((others & mask_of(unclear)).sum())
        return pc.if_else(readable, as_points, pa.scalar(None, pa.string())).cast(pa.float64())

    def add(self, found: Found, cells: Any, is_one: BoolArray) -> None:
        """Count the cells that are of this sort, by the number of their rows."""
        found.add(cells, is_one, self.rows, self._of_file)

    def _look_at_points(self, cells: Any, has_point: BoolArray) -> None:
        self.add(self.points, cells, has_point)
        if not self._commas_separate:
            thousands = mask_of(pc.match_substring_regex(cells, _THOUSANDS))
            self.n_thousands += int((has_point & thousands).sum())

    @property
    def share(self) -> float:
        """How many of the cells that are neither empty nor markers look like numbers."""
        cells = self.n_numbers + self.odd.count
        return (self.n_numbers + self.n_unclear) / cells if cells else 0.0

    @property
    def n_cells(self) -> int:
        """Cells that are not empty."""
        return self.n_numbers + self.odd.count + self.markers.count

    def check(self, rule: str, other_remedy: str = "") -> None:
        """Raise for cells that are no numbers, and for two kinds of decimal points."""
        if self.odd.count:
            raise ValueError(
                f"column {self.name!r} {rule}, but {self.odd.count:,} of {self.n_cells:,} cells "
                f"cannot be read as one: {self.odd} (rows count from 0); correct them, or give "
                f"{self.odd.missing_options()} if they mean that a value is missing{other_remedy}"
            )
        if self.points.count and self.commas.count:
            raise ValueError(
                f"column {self.name!r} {rule}, but it has decimal points ({self.points}) and "
                f"decimal commas ({self.commas}); write all in one way{other_remedy}"
            )

    def note_markers(self) -> None:
        """Note markers of missing values."""
        if self.markers.count:
            note(
                f"column {self.name!r}: {self.markers.count:,} of {self.n_cells:,} cells are not "
                f"numbers and count as missing: {self.markers}"
            )


def check_decimal_marks(readers: Iterable[NumberReader]) -> None:
    """Raise if points may separate thousands: others in the file have decimal commas."""
    readers = list(readers)
    commas = next((reader for reader in readers if reader.commas.count), None)
    for reader in readers if commas is not None else ():
        if reader.points.count and reader.points.count == reader.n_thousands:
            assert commas is not None
            raise ValueError(
                f"column {reader.name!r} has points that may separate thousands ({reader.points}), "
                f"as column {commas.name!r} has decimal commas ({commas.commas}); write it with "
                "decimal commas too, and without points"
            )


def as_classes(column: Any) -> Any:
    """Labels of classes: truth values, whole numbers or texts, as which other numbers are told."""
    kind = column.type
    is_text = pa.types.is_string(kind)
    if not (is_text or pa.types.is_floating(kind) or pa.types.is_decimal(kind)):
        return column
    if pa.types.is_floating(kind):
        column = pc.if_else(pc.is_nan(column), pa.scalar(None, kind), column)
    try:
        whole = column.cast(pa.float64()).cast(pa.int64())
        is_whole = (whole.cast(pa.string()) if is_text else whole.cast(pa.float64())).equals(
            column if is_text else column.cast(pa.float64())
        )
    except pa.ArrowException:
        is_whole = False
    if is_whole:
        return whole
    return column if is_text else pa.chunked_array([_spelled(column)])


def as_class_type(column: Any, kind: Any) -> Any:
    """Numbers as labels of the type that :func:`as_classes` gave those of all rows."""
    numbers = column.cast(pa.float64())
    numbers = pc.if_else(pc.is_nan(numbers), pa.scalar(None, pa.float64()), numbers)
    return _spelled(numbers) if kind == pa.string() else numbers.cast(kind)


def _spelled(column: Any) -> Any:
    """Numbers as Python writes them."""
    numbers = column.cast(pa.float64()).to_pylist()
    return pa.array([None if number is None else str(number) for number in numbers], pa.string())


def class_texts(column: Any, classes: Iterable[str], is_csv: bool) -> list[str | None]:
    """Labels as texts, spelled as the classes of a model; None where one is missing."""
    if is_csv:
        column = spelled_as(column, classes)
    elif pa.types.is_floating(column.type):
        known = set(classes)
        return [_number_as_class(value, known) for value in column.to_pylist()]
    return [None if label is None else str(label) for label in column.to_pylist()]


def _number_as_class(value: float | None, known: set[str]) -> str | None:
    """A number as the label that a model has for it, of which 1 and 1.0 are spellings."""
    if value is None or math.isnan(value):
        return None
    whole = str(int(value)) if value.is_integer() else ""
    return whole if whole in known else str(value)


def spelled_as(cells: Any, known: Iterable[str]) -> Any:
    """Levels spelled as a model knows them: 'true' is its True, and '1.0' its 1.

    Only where all its levels are truth values (markers are then missing values), or all are
    integers; any other text stays as it is.
    """
    cells, known = empty_as_missing(cells), set(known)
    if known and known <= {"True", "False"}:
        cells = markers_as_missing(cells)
        for word, value in WORDS.items():
            cells = pc.if_else(pc.equal(cells, word), str(value), cells)
        return cells
    if known and all(re.fullmatch(r"-?(0|[1-9]\d*)", level) for level in known):
        whole = pc.match_substring_regex(cells, INTEGER)
        return pc.if_else(whole, pc.replace_substring_regex(cells, r"\.0+$", ""), cells)
    return cells


_ARE_NUMBERS = (pa.types.is_integer, pa.types.is_floating, pa.types.is_decimal)


def as_plain_text(column: Any) -> Any:
    """A column whose texts, if it holds any, have the type that this module works on."""
    kind = column.type
    if pa.types.is_dictionary(kind):
        return as_plain_text(column.cast(kind.value_type))
    if kind in (pa.large_string(), pa.string_view()):
        return column.cast(pa.string())
    return _in_own_memory(column) if kind == pa.string() else column


def _in_own_memory(column: Any) -> Any:
    """Texts that are no part of a longer array: ``if_else`` of pyarrow 17 to 22 spoils such."""
    chunks = column.chunks if isinstance(column, pa.ChunkedArray) else [column]
    if not any(chunk.offset for chunk in chunks):
        return column
    return column.take(pa.array(np.arange(len(column))))


def check_numbers(name: str, column: Any) -> None:
    """Raise for a column whose type is not one of numbers."""
    kind = column.type
    if not (pa.types.is_null(kind) or any(is_one(kind) for is_one in _ARE_NUMBERS)):
        example = next((value for value in column.to_pylist() if value is not None), None)
        told = "" if example is None else f" such as {example!r}"
        raise ValueError(f"column {name!r} must hold numbers, got {kind}{told}")


def as_floats(column: Any) -> Any:
    """Whole numbers as float64, rounded beyond 2**53 as anywhere else; others as they are."""
    if pa.types.is_integer(column.type):
        return column.cast(pa.float64(), safe=False)
    return column


def empty_as_missing(cells: Any) -> Any:
    """An empty cell is a missing value."""
    return pc.if_else(pc.equal(cells, ""), pa.scalar(None, cells.type), cells)


def texts_as_missing(column: Any, missing: Iterable[str]) -> Any:
    """A column, of texts or of numbers, in which the values ``missing`` are missing."""
    for text in missing:
        column, _ = text_as_missing(column, text)
    return column


def text_as_missing(column: Any, text: str) -> tuple[Any, bool]:
    """A column in which one value is missing, and whether there is any such cell.

    A number is meant however many zeros end it: -999 is also -999.0, and -999,0 too. (Not -999,000:
    there a comma may separate thousands.)
    """
    text = text.strip()
    if pa.types.is_string(column.type):
        trimmed = pc.utf8_trim_whitespace(column)
        number = re.fullmatch(r"([+-]?\d+)(?:\.(\d*))?", text)
        if number is None:
            is_missing = pc.equal(trimmed, text)
        else:
            decimals = (number[2] or "").rstrip("0")
            rest = rf"[.,]{decimals}0*" if decimals else r"(\.0*|,0{0,2})?"
            is_missing = pc.match_substring_regex(trimmed, f"^{re.escape(number[1])}{rest}$")
    else:
        is_missing = _is_value(column, text)
        if is_missing is None:
            return column, False
    is_there = bool(pc.any(is_missing).as_py())
    return pc.if_else(is_missing, pa.scalar(None, column.type), column), is_there


def _is_value(column: Any, text: str) -> Any:
    """Where a column that is not of texts has the value that a text tells; None where it cannot."""
    kind = column.type
    if pa.types.is_boolean(kind):
        return None if text not in WORDS else pc.equal(column, WORDS[text])
    if not any(is_one(kind) for is_one in _ARE_NUMBERS):
        return None
    (value,) = NumberReader("", None).read(pa.array([text])).to_pylist()
    if value is None:
        return None
    if kind == pa.float32():  # which -99.9 is no value of
        value = float(np.float32(value))
    return pc.equal(column.cast(pa.float64(), safe=False), value)


def _is_in(column: Any, values: Iterable[Any]) -> Any:
    return pc.is_in(column, value_set=pa.array(list(values), column.type), skip_nulls=True)


def mask_of(values: Any) -> BoolArray:
    """Truth values as an array; what is missing is false."""
    mask: BoolArray = np.asarray(pc.fill_null(values, False))
    return mask


def markers_as_missing(cells: Any) -> Any:
    """Cells in which the usual markers are missing values."""
    is_marker = _is_in(pc.utf8_lower(pc.utf8_trim_whitespace(cells)), MARKERS)
    return pc.if_else(is_marker, pa.scalar(None, pa.string()), cells)


def _short(text: str) -> str:
    return repr(text if len(text) <= _LONGEST_SHOWN else f"{text[: _LONGEST_SHOWN - 3]}...")
