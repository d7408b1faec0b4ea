"""Training rows: a table, a target and weights that belong together."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Hashable, Sequence
from dataclasses import dataclass
from itertools import compress
from numbers import Real
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_array, column_or_1d
from sklearn.utils.validation import _check_sample_weight

from seplearn._errors import out_of_range, warn, wrong_type
from seplearn._numerals import count
from seplearn.kernels.arrays import FloatArray, IntArray
from seplearn.table.blocks import block_parts, blocked_sum, ends
from seplearn.table.columns import (
    Table,
    are_missing,
    is_missing,
    open_table,
    read_target,
    target_name,
)
from seplearn.table.schema import Schema

# Products of a model may be some powers of ten larger than the target.
_SMALLEST_TARGET, _LARGEST_TARGET = 1e-303, 1e303
LARGEST_OFFSET = _LARGEST_TARGET  # beside larger ones no sum of curves is a number
MOST_PER_ROW = 10.0  # weights of a larger mean are no numbers of rows
NO_TARGET = "fit requires y to be passed, but the target y is None"  # as scikit-learn has it
NO_OUTCOMES = "y must hold the outcomes of the rows, got None"
_FEW_OF_ALL = 0.05  # of the rows: if they count for fewer it is told
_CELLS_PER_ROW = 4  # at most, in a contingency table
_CELLS_OF_THEIR_OWN = 0.5  # the share of rows, at least: cells may have been counted in two places
_LARGEST_TABLE = 1e10  # rows that a contingency table counts: beyond it weights are something else
_MOST_SEEN = 50_000  # rows that are made of a contingency table
_LEVEL_TAKEN_OFF = 1e6  # standard deviations: from here on more than six of 16 digits are lost


class TrainingRows(NamedTuple):
    """What ``fit`` was given: rows that belong together, all checked."""

    table: Table
    y: FloatArray
    weight: FloatArray
    groups: IntArray | None
    offset: FloatArray | None = None


def training_rows(
    X: Any, y: Any, sample_weight: Any, groups: Any = None, offset: Any = None
) -> TrainingRows:
    """The rows with a positive weight; weights are numbers of rows."""
    table, y = rows_with_target(X, y)
    given = checked_weight(sample_weight, y)
    weight = WeightUnit.of(given).counts(given)
    rows = _weighted_rows(table, y, weight, groups)
    added = read_offset(offset, len(y))
    if added is not None:
        rows = rows._replace(offset=added[weight > 0])
    times = given[weight > 0]
    return _seen(rows, times) if are_cells(rows.table, rows.y, times) else rows


def _seen(cells: TrainingRows, times: FloatArray) -> TrainingRows:
    """The rows that were seen, of the cells of a contingency table.

    Of very many a row stands for several of its cell; each part that is held out has some all the
    same.
    """
    most = times.max()
    while np.minimum(times, most).sum() > _MOST_SEEN:
        most = most // 2.0
    rows = np.minimum(times, most)
    of = np.repeat(np.arange(len(times)), rows.astype(np.int64))
    groups = None if cells.groups is None else cells.groups[of]
    offset = None if cells.offset is None else cells.offset[of]
    return TrainingRows(cells.table.rows(of), cells.y[of], (times / rows)[of], groups, offset)


def are_cells(table: Table, y: FloatArray, weight: FloatArray) -> bool:
    """Whether rows are the cells of a contingency table, and weights how often each was seen.

    Whole numbers above zero. Not more than half of the rows have the values and the target of
    another, and they are at least a quarter of all combinations of values.
    """
    if weight.max() > _LARGEST_TABLE or (weight % 1.0).any() or len(y) > _MOST_SEEN:
        return False
    if not len(y) < weight.sum() <= _LARGEST_TABLE:
        return False
    combinations, rows = 1, [y]
    for j in range(table.n_columns):
        values = table.levels(j) if table.is_categorical(j) else table.numbers(j).tolist()
        if not all(isinstance(value, Hashable) for value in values):
            return False  # a list, say: told of where columns are read
        numbers: dict[Any, int] = {}
        codes = [numbers.setdefault(None if is_missing(v) else v, len(numbers)) for v in values]
        rows.append(np.array(codes, dtype=np.float64))
        combinations *= len(numbers)
        is_measured = 2 * len(numbers) > len(y)  # cells share their values
        if is_measured or combinations > _CELLS_PER_ROW * len(y):
            return False
    return len(np.unique(np.column_stack(rows), axis=0)) >= _CELLS_OF_THEIR_OWN * len(y)


def read_offset(offset: Any, n_rows: int) -> FloatArray | None:
    """What is added to the sum of the curves of every row: finite numbers, or None."""
    if offset is None:
        return None
    numbers = _of_one_column(_real_numbers(offset, "offset"))
    if numbers.shape != (n_rows,):
        raise ValueError(
            f"offset must have one value per row ({n_rows}), got shape {numbers.shape}"
        )
    if not np.isfinite(numbers).all():
        raise ValueError(
            "offset must hold finite numbers, got NaN or infinity; of an exposure it is the log"
        )
    check_offset_size("offset", numbers)
    return numbers


def _of_one_column(values: NDArray[Any]) -> NDArray[Any]:
    """The values of an array with one column as those of one without columns."""
    return values[:, 0] if values.ndim == 2 and values.shape[1] == 1 else values


def check_offset_size(name: str, numbers: FloatArray) -> None:
    """Raise for offsets beside which no sum of curves would be a number."""
    size = float(np.abs(numbers).max(initial=0.0))
    if size > LARGEST_OFFSET:
        raise out_of_range(name, f"of a size of at most {LARGEST_OFFSET:g}", size)


def known_rows(X: Any, y: Any, sample_weight: Any, offset: Any = None) -> TrainingRows:
    """The rows with a positive weight and a known target; weights stay as they are."""
    table, y = rows_with_target(X, y, may_be_unknown=True)
    known = ~np.isnan(y)
    added = read_offset(offset, len(y))
    if not known.any():
        raise ValueError(f"y must be known in some row, got {len(y)} rows without a value")
    weight = np.ones(len(y))
    if sample_weight is not None:
        weight = _of_every_row(sample_weight, len(y))
    if weight.shape != y.shape:
        raise ValueError(
            f"sample_weight must have one value per row ({len(y)}), got shape {weight.shape}"
        )
    weight = checked_weight(weight[known], y[known])
    rows = _weighted_rows(table.rows(known), y[known], weight, None)
    return rows if added is None else rows._replace(offset=added[known][weight > 0])


def _real_numbers(values: Any, name: str) -> FloatArray:
    """Numbers that belong to rows; NumPy would count dates, and drop parts of complex numbers."""
    if isinstance(values, str):
        raise wrong_type(name, "numbers, one for each row", values)
    try:
        given = np.asarray(read_target(values))
        if given.dtype.kind not in "mMc":
            return given.astype(np.float64)
    except (TypeError, ValueError) as error:
        raise TypeError(f"{name} must hold numbers: {error}") from error
    except OverflowError as error:
        raise ValueError(f"{name} must hold numbers below 1.8e308 in size: {error}") from error
    kind = "complex ones" if given.dtype.kind == "c" else "dates or times"
    raise TypeError(f"{name} must hold numbers, got {kind} ({given.dtype})")


def _of_every_row(sample_weight: Any, n_rows: int) -> FloatArray:
    """Weights as they are given, or the one that is given for all rows."""
    weight = _of_one_column(_real_numbers(sample_weight, "sample_weight"))
    return np.full(n_rows, weight) if weight.ndim == 0 else weight


def checked_weight(sample_weight: Any, y: FloatArray) -> FloatArray:
    """A weight for every row; ones where none are given."""
    if sample_weight is not None:
        sample_weight = _of_every_row(sample_weight, len(y))
        if not sample_weight.any():
            raise ValueError("sample_weight must have a positive sum, got zeros only")
    weight: FloatArray = _check_sample_weight(
        sample_weight, y, dtype=np.float64, ensure_non_negative=True
    )
    return weight


def _weighted_rows(table: Table, y: FloatArray, weight: FloatArray, groups: Any) -> TrainingRows:
    names = None if groups is None else group_names(groups, len(y))
    if not weight.all():
        used = weight > 0
        table, y, weight = table.rows(used), y[used], weight[used]
        names = None if names is None else list(compress(names, used))
    numbers = None if names is None else group_numbers(names)
    return TrainingRows(table, y, weight, numbers)


def rows_with_target(X: Any, y: Any, *, may_be_unknown: bool = False) -> tuple[Table, FloatArray]:
    """A table and a target of the same length."""
    table = open_table(X)
    if y is None and may_be_unknown:
        raise ValueError(NO_OUTCOMES)
    if y is None:
        raise ValueError(NO_TARGET)
    y = column_or_1d(_numbers(read_target(y), may_be_unknown), warn=True)
    if len(y) != table.n_rows:
        raise ValueError(
            f"Found input variables with inconsistent numbers of samples: X has {table.n_rows}, "
            f"y has {len(y)}"
        )
    return table, y


def warn_of_target(table: Table, y: Any) -> None:
    """Warn if the column with the name of the target is the target."""
    name = target_name(y)
    if name is None or table.names is None or name not in table.names:
        return
    column = table.levels(table.names.index(name))
    target = np.asarray(read_target(y)).ravel().tolist()
    if len(column) == len(target) and all(map(_are_equal, column, target)):
        warn(
            f"X must not have the target among its columns, but {name!r} is y: a model that sees "
            "its target learns nothing else"
        )


def _are_equal(cell: Any, value: Any) -> bool:
    """Whether a cell is this value; what is missing, or a list, cannot be compared."""
    return isinstance(cell, Hashable) and not is_missing(cell) and bool(cell == value)


class EvalRows(NamedTuple):
    """What an ``eval_set`` has: a table, where its features are, a target, offsets and weights."""

    table: Table
    columns: list[int]
    y: FloatArray
    offset: FloatArray
    weight: FloatArray


def eval_rows(eval_set: Any, schema: Schema, with_offset: bool = False) -> EvalRows:
    """The rows of an ``eval_set``: a pair (X, y), or with offsets three of them."""
    X, y, *more = one_eval_set(eval_set, with_offset)
    try:
        table, y = rows_with_target(X, y)
        offset = read_offset(more[0], len(y)) if with_offset else None
        added = np.zeros(len(y)) if offset is None else offset
        return EvalRows(table, schema.columns_in(table, "eval_set"), y, added, np.ones(len(y)))
    except ValueError as error:
        raise ValueError(f"eval_set: {error}") from error


def one_eval_set(eval_set: Any, with_offset: bool) -> Sequence[Any]:
    """The parts of an ``eval_set``, as many as there must be."""
    n_parts, parts = (3, "(X, y, offset)") if with_offset else (2, "(X, y)")
    if isinstance(eval_set, list) and len(eval_set) == 1:
        eval_set = eval_set[0]  # as LightGBM and XGBoost take it
    if isinstance(eval_set, list) and eval_set and all(isinstance(s, tuple) for s in eval_set):
        raise ValueError(f"eval_set must be one set {parts} of rows, got {len(eval_set)} of them")
    if not isinstance(eval_set, (tuple, list)) or len(eval_set) != n_parts:
        kind = "three" if with_offset else "a pair"
        raise TypeError(f"eval_set must be {kind} {parts}, got {type(eval_set).__name__}")
    return eval_set


def group_names(groups: Any, n: int) -> list[str]:
    """What the group of every row is called; values that are equal are called the same."""
    values = _of_one_column(np.asarray(read_target(groups)))
    if values.dtype.kind == "O" and all(isinstance(value, Real) for value in values.tolist()):
        numbers = np.array(values.tolist())  # 1 and 1.0 are one group here as in a list
        values = numbers if numbers.tolist() == values.tolist() else values
    if values.ndim != 1 or len(values) != n:
        raise ValueError(f"groups must have one value per row ({n}), got shape {values.shape}")
    check_known("groups", values)
    return [str(value) for value in values]


def check_known(argument: str, values: NDArray[Any]) -> None:
    """Raise where a value is missing, naming its row."""
    missing = np.flatnonzero(are_missing(values))
    if len(missing):
        row = int(missing[0])
        raise ValueError(f"{argument} must not have missing values, got {values[row]} in row {row}")


def group_numbers(names: Collection[str]) -> IntArray:
    """The number of the group of every row, in the order of their names; at least two."""
    # Not an array of texts, in which every one takes as much room as the longest.
    numbers = {name: number for number, name in enumerate(sorted(set(names)))}
    check_several_groups(list(numbers))
    return np.array([numbers[name] for name in names], dtype=np.int64)


def check_several_groups(names: Sequence[str]) -> None:
    """Raise where all rows are of one group."""
    if len(names) < 2:
        raise ValueError(f"groups must hold at least two groups, got only {names[0]!r}")


class WeightSums(NamedTuple):
    """What the weights of some rows tell of the unit of all: sums without rounding.

    Sums have the same bits then, whichever rows are together in a file or on a worker.
    """

    n_rows: int
    shares: tuple[float, ...]
    squares: tuple[float, ...]
    are_whole: bool

    @staticmethod
    def of(weight: FloatArray, largest: float) -> WeightSums:
        """Of weights of which the largest of all rows is known."""
        shares = _shares(weight, largest)
        shares = shares[shares > 0]
        are_whole = not (weight % 1.0).any()
        return WeightSums(len(shares), exact_sum(shares), exact_sum(shares**2), are_whole)


def exact_sum(values: FloatArray) -> tuple[float, ...]:
    """A few numbers whose sum is that of all values, before any rounding."""
    rest, parts = values.tolist(), []
    while (part := math.fsum(rest)) != 0.0:
        parts.append(part)
        rest.append(-part)
    return tuple(parts)


class WeightUnit(NamedTuple):
    """What weights are measured in: the largest, and how many rows it counts for.

    Whole numbers whose mean may be a number of rows, from 0.5 to 10, are numbers of rows. Others
    only say what rows count beside each other. All together then count for the effective number of
    rows, (sum w)^2 / sum w^2, or for their sum if that is less and may be a number of rows: a few
    rows of large weight tell no more than a few rows, however often they are counted.
    """

    largest: float
    rows_of_largest: float

    @staticmethod
    def of(weight: FloatArray) -> WeightUnit:
        """The unit of the weights of all rows."""
        largest = ends(weight)[1]
        parts = block_parts(len(weight))
        return WeightUnit.joined(largest, [WeightSums.of(weight[p], largest) for p in parts])

    @staticmethod
    def joined(largest: float, sums: Sequence[WeightSums]) -> WeightUnit:
        """The same from what parts of the rows tell."""
        total = math.fsum(part for one in sums for part in one.shares)
        squares = math.fsum(part for one in sums for part in one.squares)
        effective, n_rows = total / squares, sum(one.n_rows for one in sums)
        mean = total / n_rows * largest
        is_mean_of_rows = 0.5 <= mean <= MOST_PER_ROW
        if is_mean_of_rows and all(one.are_whole for one in sums):
            return WeightUnit(largest, largest)
        if effective * total < _FEW_OF_ALL * n_rows:
            warn(
                f"sample_weight: {count(n_rows, 'row')} count for {effective * total:,.0f} only, "
                "as a few weights are much larger than the others"
            )
        return WeightUnit(largest, min(largest, effective) if is_mean_of_rows else effective)

    def counts(self, weight: FloatArray) -> FloatArray:
        """Weights as numbers of rows."""
        shares = _shares(weight, self.largest)
        if self.rows_of_largest == self.largest:  # as they are, to the last digit
            return np.where(shares > 0, weight, 0.0)
        return shares * self.rows_of_largest


def total_weight(weight: FloatArray) -> float:
    """The sum of the weights of all rows, the same wherever they are."""
    return float(blocked_sum(np.sum, weight))


def _shares(weight: FloatArray, largest: float) -> FloatArray:
    """Weights over the largest, as a sum of weights may overflow.

    One so small that rounding hides it in every sum counts as zero: otherwise its row might be
    alone in a bin, and nothing would be learned about that bin.
    """
    shares = weight / largest
    shares[shares < np.finfo(float).eps] = 0.0
    return shares


def _numbers(y: Any, may_be_unknown: bool) -> FloatArray:
    finite = "allow-nan" if may_be_unknown else True
    if getattr(getattr(y, "dtype", None), "kind", None) in ("m", "M"):
        raise TypeError(
            f"y must hold numbers, got dates or times ({y.dtype}); turn them into numbers first, "
            "such as days since a start"
        )
    try:
        array: FloatArray = check_array(
            y, ensure_2d=False, dtype=np.float64, ensure_all_finite=finite, input_name="y"
        )
    except ArithmeticError as error:
        raise ValueError(f"y must hold numbers: {error}") from error
    except (TypeError, ValueError) as error:
        if "contains NaN" in str(error):
            n_missing = int(are_missing(np.ravel(y)).sum())
            raise ValueError(
                f"Input y contains NaN: the target of {count(n_missing, 'row')} of {len(y):,} is "
                "missing; leave these rows out"
            ) from error
        if "convert" in str(error) or "float()" in str(error):
            hint = " (TSLClassifier is for classes)" if "string" in str(error) else ""
            raise type(error)(f"y must hold numbers: {error}{hint}") from error
        raise
    return array


@dataclass(frozen=True)
class TargetUnit:
    """What a fit measures the target in: ``(y - origin) / scale``; which unit, the loss says.

    Attributes
    ----------
    origin : float
        Zero, or the mean of a target that hardly varies in comparison with it: divided by the
        scale alone such a target would lose the digits in which it varies. A model without a
        constant has origin zero. The median where the scale is a robust one.
    scale : float
        The weighted standard deviation of y; for a constant y its size, for zeros one. Of some
        losses a robust scale if that is far smaller.
    """

    origin: float
    scale: float

    @staticmethod
    def of(y: FloatArray, weight: FloatArray, has_constant: bool) -> TargetUnit:
        """The standard deviation of a target, for a loss that is the same in every unit.

        Raises for numbers at the ends of what a float can hold.
        """
        return TargetUnit.from_moments(
            *ends(y), float(y[0]), lambda *unit: _mean_and_deviation(y, weight, *unit), has_constant
        )

    @staticmethod
    def from_moments(
        low: float,
        high: float,
        first: float,
        moments: Callable[[float, float], tuple[float, float]],
        has_constant: bool,
    ) -> TargetUnit:
        """The same from the ends of a target, its first value, and what tells its moments.

        ``moments(origin, width)`` is the weighted mean and standard deviation of
        ``(y - origin) / width``.
        """
        size = max(abs(low), abs(high))
        if size and not _SMALLEST_TARGET <= size <= _LARGEST_TARGET:
            rule = (
                f"of a size between {_SMALLEST_TARGET:g} and {_LARGEST_TARGET:g}, or all zero; "
                "give it in another unit"
            )
            raise out_of_range("y", rule, size)
        # Squares of values up to one neither overflow nor underflow.
        level, deviation = moments(0.0, size or 1.0)
        if has_constant and deviation * _LEVEL_TAKEN_OFF < abs(level):
            # Differences to a value are exact: their mean has all its digits.
            width = max(high - first, first - low) or 1.0
            mean, deviation = moments(first, width)
            if deviation > 0.0:
                return TargetUnit(first + width * mean, width * deviation)
        return TargetUnit(0.0, (size or 1.0) * (deviation if deviation > 1e-14 else 1.0))

    def measured(self, y: FloatArray) -> FloatArray:
        """A target in this unit."""
        return (y - self.origin) / self.scale


def _mean_and_deviation(
    y: FloatArray, weight: FloatArray, origin: float, width: float
) -> tuple[float, float]:
    """Of ``(y - origin) / width``, block by block: y may lie in a file."""
    top, mass = blocked_sum(lambda v, w: weighted_sums(v, w, origin, width), y, weight)
    mean = float(top / mass)
    square = blocked_sum(lambda v, w: weighted_squares(v, w, origin, width, mean), y, weight)
    return mean, float(np.sqrt(square / mass))


def weighted_sums(
    y: FloatArray, weight: FloatArray, origin: float, width: float
) -> tuple[float, float]:
    """Weighted sum of ``(y - origin) / width``, and the sum of the weights."""
    return float(np.multiply((y - origin) / width, weight).sum()), float(weight.sum())


def weighted_squares(
    y: FloatArray, weight: FloatArray, origin: float, width: float, mean: float
) -> float:
    """Weighted sum of the squares of ``(y - origin) / width - mean``."""
    return float(np.multiply(((y - origin) / width - mean) ** 2, weight).sum())
