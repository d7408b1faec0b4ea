"""What the columns of a training table in CSV hold: found out part by part, then read so.

All cells of a column are looked at before any is read, so that one table and several, of which no
two parts are in memory at once, are read alike.
"""

from __future__ import annotations

import re
import shlex
from typing import Any, Literal, TypeAlias

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from seplearn.cli.cells import (
    INTEGER,
    WORDS,
    Found,
    NumberReader,
    as_classes,
    check_decimal_marks,
    empty_as_missing,
    markers_as_missing,
    mask_of,
)
from seplearn.cli.lines import note

_NUMERIC_SHARE = 0.9  # of the cells: a column with fewer numbers holds levels
_MIXED_SHARE = 0.5  # ... with a note if more than this share are numbers
_DATES = (pa.date32(), pa.time32("s"), pa.timestamp("ns"), pa.timestamp("ns", tz="UTC"))
_CODE_NAME = re.compile(
    r"(?:^|[^a-z])(?:id|ids|key|code|codes|uuid|identifier|zip|zipcode|postcode|postal|plz|sku)"
    r"(?:$|[^a-z])"
)
_FEW_ROWS = 20  # too few to tell codes from amounts
ROWS_FOR_CODES = 1 << 16  # enough to tell, where a table is read part by part

Purpose: TypeAlias = Literal["feature", "levels", "numbers", "target", "classes"]
_Kind: TypeAlias = Literal["numbers", "truth values", "dates", "levels", "integers", "classes"]


class TrainingColumn:
    """A column of a CSV: looked at whole, then read as what it holds.

    Parameters
    ----------
    name : str
    purpose : str
        "feature" may hold numbers or levels, "target" numbers or classes; "numbers", "levels" and
        "classes" are asked for.

    Examples
    --------
    >>> cells = pa.chunked_array([["1.5", "", "2"]])
    >>> column = TrainingColumn("area", "feature")
    >>> column.begin(",")
    >>> column.look_at(cells)
    >>> column.decide()
    >>> column.type, column.read(cells).to_pylist()
    (DataType(double), [1.5, None, 2.0])
    """

    def __init__(self, name: str, purpose: Purpose) -> None:
        self.name, self._purpose = name, purpose
        self.reader = NumberReader(name, None)
        self._delimiter: str | None = None
        self._truth_markers, self._has_truth, self._is_truth = Found(), False, True
        self._date_kinds: list[Any] | None = None
        self._is_integer = self._is_class_number = True
        self._first_numbers: list[Any] = []
        self._first_text: str | None = None
        self._kind: _Kind = "levels"

    def begin(self, delimiter: str | None, file: str = "") -> None:
        """Go on with a file; its name is told beside numbers of rows."""
        self._delimiter = delimiter
        self.reader.begin(delimiter, file)

    def look_at(self, cells: Any) -> None:
        """See what the next cells may be."""
        cells = empty_as_missing(cells)
        known = markers_as_missing(cells)
        if self._purpose != "numbers":
            self._look_for_truth_values(cells, known)
        if self._purpose in ("feature", "target", "numbers"):
            numbers = self.reader.read(cells)
            is_told = self._purpose == "feature"  # whether its numbers may be codes
            if is_told and sum(map(len, self._first_numbers)) < ROWS_FOR_CODES:
                self._first_numbers.append(np.asarray(numbers.drop_null()))
            if self._purpose != "numbers":
                self._look_for_dates(known)
        else:
            self.reader.rows += len(cells)
            self._is_integer &= _all_match(cells, INTEGER)
            if self._purpose == "classes":
                whole = as_classes(_without_decimals(cells))
                self._is_class_number &= pa.types.is_integer(whole.type)

    def decide(self) -> None:
        """Settle what the column holds; raises for cells that are none of it, notes unclear ones.

        A column of which nine cells in ten are numbers is refused: the others are likely to be
        mistakes.
        """
        if self._purpose == "numbers":
            self.reader.check("must hold numbers")
            self._kind = "numbers"
        elif self._is_truth and self._has_truth:
            self._note_markers_among_truth_values()
            self._kind = "truth values"
        elif self._purpose in ("levels", "classes"):
            is_number = self._purpose == "classes" and self._is_integer and self._is_class_number
            self._kind = "classes" if is_number else "integers" if self._is_integer else "levels"
        elif self.reader.n_cells == 0 or self.reader.share >= _NUMERIC_SHARE:
            self._check_numbers()
            self._kind = "numbers"
        elif self._date_kinds:
            self._kind = "dates"
            if self._purpose == "target":
                raise ValueError(
                    f"column {self.name!r} must hold numbers or classes, got dates or times such "
                    f"as {self._first_text!r}; turn them into numbers first, such as days since a "
                    "start"
                )
        else:
            _note_odd_levels(self.reader)
        self._first_numbers = []

    @property
    def is_empty(self) -> bool:
        """Whether it may be of any type, as none of its cells has a value."""
        return self._purpose == "feature" and self.reader.n_cells == 0

    @property
    def holds_numbers(self) -> bool:
        return self._kind == "numbers"

    @property
    def type(self) -> Any:
        """The Arrow type of what :meth:`read` gives."""
        if self._kind == "dates":
            assert self._date_kinds
            return self._date_kinds[0]
        types = {"numbers": pa.float64(), "truth values": pa.bool_(), "classes": pa.int64()}
        return types.get(self._kind, pa.string())

    def read(self, cells: Any) -> Any:
        """Cells that were looked at, as what the column holds."""
        cells = empty_as_missing(cells)
        if self._kind == "numbers":
            reader = NumberReader(self.name, self._delimiter)
            numbers = reader.read(cells)
            reader.check("must hold numbers, as when it was looked at first")
            return numbers
        if self._kind == "truth values":
            return pc.equal(pc.utf8_lower(markers_as_missing(cells)), "true")
        if self._kind == "dates":
            return markers_as_missing(cells).cast(self.type)
        if self._kind == "classes":
            return _without_decimals(cells).cast(pa.int64())
        return _without_decimals(cells) if self._kind == "integers" else cells

    def _look_for_truth_values(self, cells: Any, known: Any) -> None:
        if not self._is_truth:
            return
        first = _first(known)
        distinct = set() if first is None else {first}
        if distinct <= WORDS.keys():  # else all cells need not be compared
            distinct |= set(pc.unique(known.drop_null()).to_pylist())
        self._is_truth = distinct <= WORDS.keys()
        self._has_truth |= bool(distinct)
        is_marker = mask_of(pc.xor(pc.is_null(cells), pc.is_null(known)))
        self.reader.add(self._truth_markers, cells, is_marker)

    def _look_for_dates(self, known: Any) -> None:
        """Which ways to write dates and times, as ISO 8601 does, all cells so far follow."""
        first = _first(known)
        if first is None:
            return
        if self._date_kinds is None:
            self._date_kinds, self._first_text = list(_DATES), first
        self._date_kinds = [
            kind for kind in self._date_kinds if _casts(pa.array([first]), kind)
        ]  # the first tells most columns apart
        self._date_kinds = [kind for kind in self._date_kinds if _casts(known, kind)]

    def _check_numbers(self) -> None:
        if self._purpose == "target":
            other = ", or --task classification if they are classes"
            self.reader.check("must hold numbers", other)
            return
        levels = f", or --categorical {shlex.quote(self.name)} if the column holds levels"
        self.reader.check("looks like numbers", levels)
        if self._first_numbers:
            note_codes(self.name, np.concatenate(self._first_numbers), str(self.reader.zeros))

    def _note_markers_among_truth_values(self) -> None:
        if self._truth_markers.count:
            note(
                f"column {self.name!r}: {self._truth_markers.count:,} cells are neither true nor "
                f"false and count as missing: {self._truth_markers}"
            )


class TrainingTable:
    """Settles what the columns of one table hold, whose points and commas are judged together."""

    def __init__(self) -> None:
        self._readers: list[NumberReader] = []

    def decide(self, column: TrainingColumn) -> None:
        """Settle it for a column of which all cells were looked at."""
        column.decide()
        if column.holds_numbers:
            self._readers.append(column.reader)
            check_decimal_marks(self._readers)
            column.reader.note_markers()


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


def _without_decimals(cells: Any) -> Any:
    """Integers as Python writes them."""
    return pc.replace_substring_regex(cells, r"\.0+$", "")


def _all_match(cells: Any, pattern: str) -> bool:
    """Whether all cells that are not missing do."""
    return bool(pc.all(pc.match_substring_regex(cells, pattern), min_count=0).as_py())


def _casts(cells: Any, kind: Any) -> bool:
    try:
        cells.cast(kind)
    except pa.ArrowException:
        return False
    return True


def _first(cells: Any) -> str | None:
    known = cells.drop_null().slice(0, 1)
    return known[0].as_py() if len(known) else None


def note_codes(name: str, numbers: np.ndarray[Any, Any], zeros: str = "") -> None:
    """Note whole numbers that look like codes: they are taken as amounts."""
    if zeros:
        why: str | None = f"some begin with a zero ({zeros})"
    else:
        why = _why_codes(name, numbers)
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
