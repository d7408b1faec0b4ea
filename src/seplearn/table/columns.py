"""A table of any library, read column by column as numbers or as levels."""

from __future__ import annotations

import datetime
import numbers
import os
from collections.abc import Iterable, Mapping, Sequence
from decimal import Decimal, InvalidOperation
from typing import Any, Protocol, cast

import narwhals as nw
import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_array

from seplearn.kernels.arrays import BoolArray, FloatArray, IntArray

_LIBRARIES = ("pandas", "polars", "pyarrow")
_OTHER_LIBRARIES = ("modin", "cudf")
_DATES = (
    datetime.date, datetime.time, datetime.timedelta, np.datetime64, np.timedelta64,
)  # fmt: skip
_LARGEST_PLAIN = 2**63
# Every value of these has a name as a level, or is missing; nearly all columns have no others.
_PLAIN_TYPES = {str, float, bool, np.bool_, type(None)}


class Table(Protocol):
    """What fitting and predicting need of a table."""

    names: tuple[str, ...] | None
    integer_labels: tuple[int, ...] | None  # of a frame whose columns are numbered, not named
    n_rows: int
    n_columns: int
    library: str | None

    def is_categorical(self, j: int) -> bool:
        """Whether the values of column ``j`` are levels rather than numbers."""
        ...

    def numbers(self, j: int) -> FloatArray:
        """Column ``j`` as float64, missing values as NaN."""
        ...

    def levels(self, j: int) -> list[Any]:
        """The values of column ``j`` as Python objects, missing values as None or NaN."""
        ...

    def rows(self, chosen: BoolArray | IntArray) -> Table:
        """The table with these rows only, by flags; or those of these numbers."""
        ...

    def label(self, j: int) -> str:
        """How an error message names column ``j``."""
        ...


def open_table(X: Any) -> Table:
    """Wrap a pandas, polars or pyarrow table, or anything NumPy makes a 2D array of."""
    try:
        frame = nw.from_native(X, pass_through=True)
    except nw.exceptions.DuplicateError as error:
        raise ValueError(f"names of columns must be distinct: {error}") from error
    if isinstance(frame, nw.LazyFrame):
        raise TypeError(
            "X must be a table in memory, got a lazy frame; call .collect() first, or give it to "
            "fit_files, which reads it part by part"
        )
    if type(X).__module__ == "pyarrow._dataset":
        raise TypeError(
            f"X must be a table in memory, got a pyarrow {type(X).__name__}; call .to_table() "
            "first, or give it to fit_files, which reads it part by part"
        )
    if isinstance(frame, nw.DataFrame):
        return FrameTable(frame)
    if _is_record(X) or (isinstance(X, list) and X and _is_record(X[0])):
        raise TypeError(
            "X must be a table, got a dictionary, or a list of them; make a data frame of it, such "
            "as pandas.DataFrame([row])"
        )
    if isinstance(X, (str, os.PathLike)):
        raise TypeError(
            f"X must be a table, got the text or path {str(X)!r}; read the file first, or give it "
            "to fit_files"
        )
    X = _without_mask(X)
    return ArrayTable(check_array(X, dtype=None, ensure_all_finite=False, input_name="X"))


def _without_mask(values: Any) -> Any:
    """A masked array with missing values where it is masked; anything else as it is."""
    if not isinstance(values, np.ma.MaskedArray):
        return values
    is_number = values.dtype.kind in "iuf"
    plain = np.array(values.data, dtype=np.float64 if is_number else object)
    plain[np.ma.getmaskarray(values)] = np.nan if is_number else None
    return plain


def make_frame(columns: Mapping[str, Any], library: str | None = None) -> Any:
    """A data frame of ``library``, or of the first one that is installed."""
    known = library if library in _LIBRARIES + _OTHER_LIBRARIES else None
    for name in (known, *_LIBRARIES):
        if name is not None:
            try:
                return nw.from_dict(dict(columns), backend=cast("Any", name)).to_native()
            except ImportError:
                continue
    raise ModuleNotFoundError(
        "a data frame needs a data frame library: install pandas, polars or pyarrow"
    )


def _is_record(X: Any) -> bool:
    """Whether X is a row as a dictionary; some sparse matrices are dictionaries too."""
    return isinstance(X, Mapping) and not hasattr(X, "shape")


def read_target(y: Any) -> Any:
    """A Series or a one-column frame as an array; anything else as it is."""
    column = _single_column(y)
    if column is None:
        return _without_mask(y)
    return column.cast(nw.Float64).to_numpy() if _is_wide(column.dtype) else column.to_numpy()


def target_name(y: Any) -> str | None:
    """The name of a Series or of the column of a one-column frame, if it is a text."""
    column = _single_column(y)
    name = None if column is None else column.name
    return name if isinstance(name, str) and name else None


def _single_column(y: Any) -> nw.Series[Any] | None:
    native = nw.from_native(y, pass_through=True, allow_series=True)
    if isinstance(native, nw.DataFrame) and native.shape[1] == 1:
        native = native[:, 0]
    return native if isinstance(native, nw.Series) else None


def _is_wide(kind: Any) -> bool:
    """Whether integers have 128 bits, which NumPy does not know."""
    return kind in (nw.Int128, nw.UInt128)


def _dates_refused(what: str, kind: Any) -> TypeError:
    """The error for dates and times in any kind of table."""
    return TypeError(
        f"{what} holds dates or times ({kind}), which cannot be used as they are; turn "
        "it into numbers or categories first, such as year, month, weekday or days since a start"
    )


class ArrayTable:
    """A 2D array; columns of an object array may each be numbers or levels."""

    def __init__(self, array: np.ndarray[Any, Any]) -> None:
        self.names: tuple[str, ...] | None = None
        self.integer_labels: tuple[int, ...] | None = None
        self.library: str | None = None
        self.n_rows, self.n_columns = array.shape
        self._array = array

    def is_categorical(self, j: int) -> bool:
        kind = self._array.dtype.kind
        if kind == "O":
            return not _all_numbers(self._array[:, j])
        if kind in "mM":
            raise _dates_refused(self.label(j), self._array.dtype)
        return kind not in "iuf"

    def numbers(self, j: int) -> FloatArray:
        column = self._array[:, j]
        if column.dtype.kind not in "iufb":
            return _as_floats(column, self.label(j))
        return np.ascontiguousarray(column, dtype=np.float64)

    def levels(self, j: int) -> list[Any]:
        values: list[Any] = self._array[:, j].tolist()
        return values

    def rows(self, chosen: BoolArray | IntArray) -> Table:
        return ArrayTable(self._array[chosen])

    def label(self, j: int) -> str:
        return f"column {j}"


class FrameTable:
    """A data frame of any library that narwhals knows."""

    def __init__(self, frame: nw.DataFrame[Any]) -> None:
        self.n_rows, self.n_columns = frame.shape
        if self.n_columns == 0 or self.n_rows == 0:
            raise ValueError(
                f"X must have at least 1 sample and 1 feature, got {self.n_rows} sample(s) and "
                f"{self.n_columns} feature(s)"
            )
        names = frame.columns
        text = [isinstance(name, str) for name in names]
        if any(text) and not all(text):
            raise TypeError(
                f"names of columns must be all strings or none, got {names!r}; make texts of them, "
                "as with X.columns = X.columns.map(str)"
            )
        self.names: tuple[str, ...] | None = tuple(names) if all(text) else None
        whole = all(isinstance(name, numbers.Integral) for name in names)
        if not (whole or all(text)):
            shown = ", ".join(map(repr, names[:3])) + (", ..." if len(names) > 3 else "")
            raise TypeError(
                f"names of columns must be texts, or whole numbers, got {shown}; columns are found "
                "by their names: make texts of them, as with X.columns = X.columns.map(str)"
            )
        self.integer_labels: tuple[int, ...] | None = (
            tuple(int(name) for name in names) if whole else None
        )
        self.library: str | None = frame.implementation.name.lower()
        self._frame = frame
        # Taken apart once: to find one column of an Arrow table all of them are walked through.
        self._columns = list(frame.iter_columns())
        self._labels = names

    def is_categorical(self, j: int) -> bool:
        column = self._columns[j]
        kind = column.dtype
        if kind.is_numeric():
            return False
        if kind in (nw.Boolean, nw.String, nw.Categorical, nw.Enum):
            return True
        if kind.is_temporal():
            raise _dates_refused(self.label(j), kind)
        if kind == nw.Object:
            return not _all_numbers(column.to_list())
        if column.null_count() == len(column):  # a column without values has no type
            return False
        own = str(getattr(column.to_native(), "dtype", kind))
        if own.startswith("period"):
            raise _dates_refused(self.label(j), own)
        dense = "; make it dense first" if "Sparse" in own else ""
        raise TypeError(f"{self.label(j)} must hold numbers or categories, got {own}{dense}")

    def numbers(self, j: int) -> FloatArray:
        column = self._columns[j]
        if not column.dtype.is_numeric() or column.dtype == nw.Decimal:
            return _as_floats(column.to_list(), self.label(j))
        if _is_wide(column.dtype):
            column = column.cast(nw.Float64)
        # NumPy rounds integers beyond 2**53, where Arrow would refuse to turn them into floats.
        return np.ascontiguousarray(column.to_numpy(), dtype=np.float64)

    def levels(self, j: int) -> list[Any]:
        return self._columns[j].to_list()

    def rows(self, chosen: BoolArray | IntArray) -> Table:
        if chosen.dtype == np.bool_:
            return FrameTable(self._frame.filter(chosen.tolist()))
        return FrameTable(self._frame[chosen.tolist()])

    def label(self, j: int) -> str:
        return f"column {self._labels[j]!r}"


def is_missing(value: Any) -> bool:
    """None, NaN, NaT and pandas' NA: a value that does not equal itself, or cannot be compared."""
    if value is None:
        return True
    try:
        return bool(value != value)  # noqa: PLR0124  # NaN is not equal to itself
    except (TypeError, InvalidOperation):  # pandas' NA, a signalling NaN
        return True
    except ValueError:  # an array as a cell compares one by one
        return False


def are_missing(values: NDArray[Any]) -> BoolArray:
    """Which values of an array are missing."""
    return np.array([is_missing(value) for value in values.tolist()], dtype=np.bool_)


def level_name(value: Any) -> str:
    """The name of a level, the same for 1, 1.0 and "1", whatever library or dtype it came from."""
    if isinstance(value, str):
        return str(value)
    if isinstance(value, (bool, np.bool_)):
        return str(bool(value))
    try:
        if isinstance(value, numbers.Integral):
            return str(int(value))  # a float would merge integers beyond 2**53
        if isinstance(value, (numbers.Real, Decimal)):
            number = float(value)
            return str(int(number)) if number.is_integer() else repr(number)
    except (OverflowError, ValueError) as error:  # thousands of digits, a fraction beyond floats
        raise ValueError(f"a level must not be too large a number for a name: {error}") from error
    if type(value).__name__ == "Interval" and type(value).__module__.partition(".")[0] == "pandas":
        return str(value)  # of pandas.cut
    raise TypeError(
        f"argument must be a string, a number or an interval of pandas, got {value!r} of type "
        f"{type(value).__name__}; make a text of it"
    )


def check_levels(values: Sequence[Any], label: str) -> None:
    """Raise for a value that cannot be a level, such as a list or a date, naming the column."""
    if set(map(type, values)) <= _PLAIN_TYPES:
        return
    for value in values:
        if not _is_plain_level(value) and not is_missing(value):
            if isinstance(value, _DATES):
                raise _dates_refused(label, type(value).__name__)
            try:
                level_name(value)
            except (TypeError, ValueError) as error:
                raise type(error)(f"{label}: {error}") from error


def _is_plain_level(value: Any) -> bool:
    """Whether a value surely has a name as a level."""
    if isinstance(value, numbers.Integral):
        return -_LARGEST_PLAIN < int(value) < _LARGEST_PLAIN
    return isinstance(value, (str, float, np.bool_))


def _is_number(value: Any) -> bool:
    if isinstance(value, (bool, np.bool_)):
        return False
    return isinstance(value, (numbers.Real, Decimal)) or is_missing(value)


def _all_numbers(values: Iterable[Any]) -> bool:
    return all(_is_number(value) for value in values)


def _as_floats(values: Sequence[Any] | np.ndarray[Any, Any], label: str) -> FloatArray:
    for value in values:
        if not (_is_number(value) or isinstance(value, (bool, np.bool_))):
            kind = type(value).__name__
            hint = " (of a data frame pd.to_numeric makes them)" if isinstance(value, str) else ""
            raise TypeError(f"{label} must hold numbers, got {value!r} of type {kind}{hint}")
    try:
        floats = [np.nan if is_missing(value) else float(value) for value in values]
    except OverflowError as error:
        raise ValueError(f"{label} must hold numbers below 1.8e308 in size: {error}") from error
    return np.array(floats, dtype=np.float64)
