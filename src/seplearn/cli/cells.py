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
_NUMERIC_SHARE = 0.9  # of the cells: a column with fewer numbers holds levels
_MIXED_SHARE = 0.5  # ... with a note if more than this share are numbers
_SHOWN = 3
_LONGEST_SHOWN = 40

_PLAIN = r"^[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?$|^[+-]?(?i:inf|infinity|nan)$"
_GROUPED_POINT = r"^[+-]?\d{1,3}(,\d{3})+\.\d+$"
_COMMA = r"^[+-]?(\d+,\d*|,\d+)([eE][+-]?\d+)?$|^[+-]?\d{1,3}(\.\d{3})+,\d+$"
_UNCLEAR = r"^[+-]?\d{1,3}([., '_\x{a0}\x{202f}\x{2019}]\d{3})+([.,]\d+)?$|^[+-]?\d+,\d+$"
_THOUSANDS = r"^[+-]?[1-9]\d{0,2}\.\d{3}$"
_WORDS = {
    word: value
    for value, words in ((True, ("true", "True", "TRUE")), (False, ("false", "False", "FALSE")))
    for word in words
}
_INTEGER = r"^-?(0|[1-9]\d*)(\.0+)?$"
_DATES = (pa.date32(), pa.time32("s"), pa.timestamp("ns"), pa.timestamp("ns", tz="UTC"))
_CODE_NAME = re.compile(
    r"(?:^|[^a-z])(?:id|ids|key|code|codes|uuid|identifier|zip|zipcode|postcode|postal|plz|sku)"
    r"(?:$|[^a-z])"
)
_FEW_ROWS = 20  # too few to tell codes from amounts

missing_option = click.option(
    "--missing",
    multiple=True,
    metavar="TEXT",
    help="A cell with this text is a missing value, in any column; may be repeated.",
)


@dataclass
class Found:
    """Cells of one sort: how many, and the first of them with their rows."""

    count: int = 0
    first: list[tuple[int, str]] = field(default_factory=list)

    def add(self, cells: Any, is_one: BoolArray, first_row: int) -> None:
        """Count the cells that are of this sort."""
        places = np.flatnonzero(is_one)
        self.count += len(places)
        for place in places[: _SHOWN - len(self.first)]:
            self.first.append((first_row + int(place), cells[int(place)].as_py()))

    def __str__(self) -> str:
        shown = ", ".join(f"{_short(text)} in row {row}" for row, text in self.first)
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
        self._commas_separate = delimiter == ","
        self.rows = self.n_numbers = self.n_unclear = self.n_thousands = 0
        self.markers, self.odd = Found(), Found()
        self.points, self.commas, self.zeros = Found(), Found(), Found()

    def read(self, cells: Any) -> Any:
        """Float64; null for cells that are empty, a marker or not a number."""
        trimmed = pc.utf8_trim_whitespace(cells)
        trimmed = pc.if_else(pc.equal(trimmed, ""), pa.scalar(None, pa.string()), trimmed)
        try:
            numbers = trimmed.cast(pa.float64())
            self._look_at_points(trimmed, _mask(pc.match_substring(trimmed, ".")))
        except pa.ArrowException:
            numbers = self._read_one_by_one(trimmed)
        self.zeros.add(trimmed, _mask(pc.match_substring_regex(trimmed, r"^0\d+$")), self.rows)
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
        self._look_at_points(cells, _mask(pc.and_(readable, has_point)))
        self.commas.add(cells, _mask(comma), self.rows)
        others = _mask(pc.and_(pc.is_valid(cells), pc.invert(readable)))
        is_marker = _mask(_is_in(pc.utf8_lower(cells), MARKERS))
        self.markers.add(cells, others & is_marker, self.rows)
        self.odd.add(cells, others & ~is_marker, self.rows)
        self.n_unclear += int((others & _mask(unclear)).sum())
        return pc.if_else(readable, as_points, pa.scalar(None, pa.string())).cast(pa.float64())

    def _look_at_points(self, cells: Any, has_point: BoolArray) -> None:
        self.points.add(cells, has_point, self.rows)
        if not self._commas_separate:
            thousands = _mask(pc.match_substring_regex(cells, _THOUSANDS))
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


class TrainingCells:
    """Reads the columns of a training table, each as what it seems to hold; notes unclear ones."""

    def __init__(self, delimiter: str) -> None:
        self._delimiter = delimiter
        self._readers: list[NumberReader] = []

    def numbers(self, name: str, cells: pa.ChunkedArray) -> pa.ChunkedArray:
        """A column that has to hold numbers, such as the target."""
        reader, numbers = self._read(name, cells)
        reader.check("must hold numbers")
        return self._accepted(reader, numbers)

    def target(self, name: str, cells: pa.ChunkedArray) -> pa.ChunkedArray:
        """Numbers if all cells are, empty ones and markers aside, and else classes."""
        cells = empty_as_missing(cells)
        truths = _truth_values(name, cells)
        if truths is not None:
            return truths
        reader, numbers = self._read(name, cells)
        if reader.n_cells == 0 or reader.share >= _NUMERIC_SHARE:
            reader.check("must hold numbers", ", or --task classification if they are classes")
            return self._accepted(reader, numbers)
        if _dates(cells) is not None:
            raise ValueError(
                f"column {name!r} must hold numbers or classes, got dates or times such as "
                f"{_first(cells)!r}; turn them into numbers first, such as days since a start"
            )
        _note_odd_levels(reader)
        return cells

    def feature(self, name: str, cells: pa.ChunkedArray) -> pa.ChunkedArray:
        """Numbers if all cells are, empty ones and markers aside, and else levels.

        A column of which nine cells in ten are numbers is refused: the others are likely to be
        mistakes.
        """
        cells = empty_as_missing(cells)
        truths = _truth_values(name, cells)
        if truths is not None:
            return truths
        reader, numbers = self._read(name, cells)
        if reader.n_cells == 0 or reader.share >= _NUMERIC_SHARE:
            levels = f", or --categorical {shlex.quote(name)} if the column holds levels"
            reader.check("looks like numbers", levels)
            note_codes(name, numbers, str(reader.zeros))
            return self._accepted(reader, numbers)
        dates = _dates(cells)
        if dates is not None:
            return dates
        _note_odd_levels(reader)
        return cells

    def _read(self, name: str, cells: pa.ChunkedArray) -> tuple[NumberReader, pa.ChunkedArray]:
        reader = NumberReader(name, self._delimiter)
        return reader, reader.read(cells)

    def _accepted(self, reader: NumberReader, numbers: pa.ChunkedArray) -> pa.ChunkedArray:
        self._readers.append(reader)
        check_decimal_marks(self._readers)
        reader.note_markers()
        return numbers


def _note_odd_levels(reader: NumberReader) -> None:
    """Note levels among which there are numbers, or markers of missing values."""
    if reader.share > _MIXED_SHARE:
        note(
            f"column {reader.name!r}: {reader.n_numbers:,} of {reader.n_cells:,} cells are "
            f"numbers, others are not ({reader.odd}); all count as levels"
        )
    elif reader.markers.count:
        note(
            f"column {reader.name!r}: {reader.markers.count:,} cells are levels like the others, "
            f"though they may mean that a value is missing ({reader.markers}); "
            f"{reader.markers.missing_options()} makes them so"
        )


def training_levels(name: str, cells: pa.ChunkedArray) -> pa.ChunkedArray:
    """A column that is asked to hold levels, named as Python writes integers and booleans."""
    cells = empty_as_missing(cells)
    truths = _truth_values(name, cells)
    if truths is not None:
        return truths
    distinct = [text for text in pc.unique(cells).to_pylist() if text is not None]
    if all(re.fullmatch(_INTEGER[1:-1], text) for text in distinct):
        return pc.replace_substring_regex(cells, r"\.0+$", "")
    return cells


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
        same = whole.cast(pa.string()) if is_text else whole.cast(kind)
    except pa.ArrowException:
        same = None
    if same is not None and same.equals(column):
        return whole
    return column if is_text else pa.chunked_array([_spelled(column)])


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
        cells = _markers_as_missing(cells)
        for word, value in _WORDS.items():
            cells = pc.if_else(pc.equal(cells, word), str(value), cells)
        return cells
    if known and all(re.fullmatch(r"-?(0|[1-9]\d*)", level) for level in known):
        whole = pc.match_substring_regex(cells, _INTEGER)
        return pc.if_else(whole, pc.replace_substring_regex(cells, r"\.0+$", ""), cells)
    return cells


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
    kind, numbers = column.type, ("is_floating", "is_integer", "is_decimal", "is_null")
    if not any(getattr(pa.types, is_one)(kind) for is_one in numbers):
        example = next((value for value in column.to_pylist() if value is not None), None)
        raise ValueError(f"column {name!r} must hold numbers, got {kind} such as {example!r}")


def as_floats(column: Any) -> Any:
    """Whole numbers as float64, rounded beyond 2**53 as anywhere else; others as they are."""
    if pa.types.is_integer(column.type):
        return column.cast(pa.float64(), safe=False)
    return column


def empty_as_missing(cells: Any) -> Any:
    """An empty cell is a missing value."""
    return pc.if_else(pc.equal(cells, ""), pa.scalar(None, cells.type), cells)


def texts_as_missing(column: Any, missing: tuple[str, ...]) -> Any:
    """A column, of texts or of numbers, in which the values ``missing`` are missing."""
    if not missing:
        return column
    if pa.types.is_string(column.type):
        is_missing = _is_in(pc.utf8_trim_whitespace(column), {text.strip() for text in missing})
    elif pa.types.is_floating(column.type) or pa.types.is_integer(column.type):
        is_missing = _is_in(column.cast(pa.float64(), safe=False), _as_numbers(missing))
    else:
        return column
    return pc.if_else(is_missing, pa.scalar(None, column.type), column)


def _as_numbers(texts: tuple[str, ...]) -> list[float]:
    reader = NumberReader("", None)
    return [value for value in reader.read(pa.array(texts)).to_pylist() if value is not None]


def _is_in(column: Any, values: Iterable[Any]) -> Any:
    return pc.is_in(column, value_set=pa.array(list(values), column.type), skip_nulls=True)


def _mask(values: Any) -> BoolArray:
    mask: BoolArray = np.asarray(pc.fill_null(values, False))
    return mask


def _truth_values(name: str, cells: pa.ChunkedArray) -> pa.ChunkedArray | None:
    """True and False if all cells are, empty ones and markers aside; else None."""
    known = _markers_as_missing(cells)
    distinct = pc.unique(known).to_pylist() if _first(known) in _WORDS else []
    if not distinct or not {text for text in distinct if text is not None} <= _WORDS.keys():
        return None
    markers = Found()
    markers.add(cells, _mask(pc.xor(pc.is_null(cells), pc.is_null(known))), 0)
    if markers.count:
        note(
            f"column {name!r}: {markers.count:,} cells are neither true nor false and count as "
            f"missing: {markers}"
        )
    return pc.equal(pc.utf8_lower(known), "true")


def _markers_as_missing(cells: Any) -> Any:
    is_marker = _is_in(pc.utf8_lower(pc.utf8_trim_whitespace(cells)), MARKERS)
    return pc.if_else(is_marker, pa.scalar(None, pa.string()), cells)


def _dates(cells: pa.ChunkedArray) -> pa.ChunkedArray | None:
    """Dates and times as ISO 8601 writes them, markers aside."""
    cells = _markers_as_missing(cells)
    first = _first(cells)
    for kind in _DATES if first is not None else ():
        try:
            pa.array([first]).cast(kind)
            return cells.cast(kind)
        except pa.ArrowException:
            continue
    return None


def _first(cells: pa.ChunkedArray) -> str | None:
    known = cells.drop_null().slice(0, 1)
    return known[0].as_py() if len(known) else None


def _short(text: str) -> str:
    return repr(text if len(text) <= _LONGEST_SHOWN else f"{text[: _LONGEST_SHOWN - 3]}...")


def note_codes(name: str, column: pa.ChunkedArray, zeros: str = "") -> None:
    """Note whole numbers that look like codes: they are taken as amounts."""
    if zeros:
        why: str | None = f"some begin with a zero ({zeros})"
    else:
        why = _why_codes(name, np.asarray(column.drop_null()))
    if why:
        option = shlex.quote(name)
        note(
            f"column {name!r} is taken as numbers, but {why}: --categorical {option} makes its "
            f"values levels, --exclude {option} leaves it out"
        )


def _why_codes(name: str, values: np.ndarray[Any, Any]) -> str | None:
    if len(values) < _FEW_ROWS or not np.isfinite(values).all() or (values % 1).any():
        return None
    distinct = np.unique(values)
    steps = np.diff(distinct)
    if len(distinct) == len(values) and (steps == 1).all():
        return "it numbers the rows"
    words = re.sub(r"([a-z])([A-Z])", r"\1 \2", name).lower().replace("_", " ")
    if len(distinct) > 2 and _CODE_NAME.search(words):
        return "its name is that of a code"
    digits = {len(str(int(abs(value)))) for value in distinct}
    same_length = len(digits) == 1 and min(digits) >= 5 and distinct[0] > 0
    if same_length and 2 * len(distinct) <= len(values) and len(distinct) >= 10:
        step = np.gcd.reduce(steps.astype(np.int64)) if distinct[-1] < 2**53 else 1
        if step == 1:
            return f"whole numbers of {digits.pop()} digits that repeat may be codes"
    return None
