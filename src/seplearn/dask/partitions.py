"""What is made of the partitions of a table on the workers: a look, summaries of columns, codes."""

from __future__ import annotations

import copy
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from seplearn.dask.shares import CodedRows
from seplearn.estimators.labels import OF_ONE_KIND
from seplearn.kernels.arrays import BoolArray, FloatArray, IntArray
from seplearn.table.binning import Axis, code_type
from seplearn.table.columns import Table, open_table, read_target
from seplearn.table.summaries import Summary, add_rows, empty_summaries, merge_all
from seplearn.table.training import WeightSums, WeightUnit, check_known, check_offset_size


@contextmanager
def _naming(number: int) -> Iterator[None]:
    """Errors that name the partition, counted from zero."""
    try:
        yield
    except (TypeError, ValueError) as error:
        raise type(error)(f"partition {number}: {error}") from error


class Partition(NamedTuple):
    """Rows of a partition: their table (None if there are none) and what they have beside it."""

    number: int
    table: Table | None
    columns: dict[str, Any]


def read_partition(number: int, X: Any, columns: dict[str, Any], classes: bool) -> Partition:
    """Check that what belongs together is as long, and that numbers are numbers."""
    with _naming(number):
        own = {name: _one_column(name, given, len(X)) for name, given in columns.items()}
        for name, values in own.items():
            if name == "groups" or (name == "y" and classes):
                check_known(name, values)
            else:
                own[name] = _numbers(name, values)
        return Partition(number, open_table(X) if len(X) else None, own)


def _one_column(name: str, given: Any, n_rows: int) -> NDArray[Any]:
    """A value per row; a table or an array may have them in its only column."""
    values = np.asarray(read_target(given))
    if values.shape not in ((n_rows,), (n_rows, 1)):
        raise ValueError(
            f"{name} must have one value per row of X ({n_rows}), got shape {values.shape}"
        )
    return values.reshape(n_rows)


def _numbers(name: str, values: Any) -> FloatArray:
    if len(values) and values.dtype.kind in "mMc":  # which NumPy would turn into floats
        raise TypeError(f"{name} must hold numbers, got values of type {values.dtype}")
    try:
        numbers: FloatArray = values.astype(np.float64)
    except (TypeError, ValueError) as error:
        raise type(error)(f"{name} must hold numbers: {error}") from error
    least = 0.0 if name == "sample_weight" else -np.inf
    strange = np.flatnonzero(~(np.isfinite(numbers) & (numbers >= least)))
    if len(strange):
        rule = "finite numbers" + " that are not negative" * (name == "sample_weight")
        row = int(strange[0])
        raise ValueError(f"{name} must hold {rule}, got {numbers[row]} in row {row}")
    if name == "offset":
        check_offset_size(name, numbers)
    return numbers


@dataclass(frozen=True, eq=False)
class Look:
    """What the client needs to know of a partition."""

    n_rows: int
    names: tuple[str, ...] | None
    n_columns: int
    library: str | None
    integer_labels: tuple[int, ...] | None
    categorical: tuple[bool, ...]
    largest_weight: float
    labels: Any
    group_type: np.dtype[Any] | None


def look(part: Partition, classes: bool) -> Look | None:
    """A look at a partition; None if it has no rows."""
    table = part.table
    if table is None:
        return None
    with _naming(part.number):
        kinds = tuple(table.is_categorical(j) for j in range(table.n_columns))
        weight = part.columns.get("sample_weight")
        labels = distinct_labels(part.columns["y"], weight) if classes else None
    largest = float(part.columns["sample_weight"].max()) if "sample_weight" in part.columns else 1.0
    group_type = part.columns["groups"].dtype if "groups" in part.columns else None
    return Look(
        table.n_rows, table.names, table.n_columns, table.library, table.integer_labels, kinds,
        largest, labels, group_type,
    )  # fmt: skip


def distinct_labels(
    labels: NDArray[Any], counts: FloatArray | None = None
) -> tuple[NDArray[Any], FloatArray]:
    """The labels there are, sorted, and how many rows have each, or how much these weigh."""
    if labels.dtype == object and len({isinstance(label, str) for label in labels}) > 1:
        raise TypeError(OF_ONE_KIND)
    found, place = np.unique(labels, return_inverse=True)
    return found, np.bincount(place, weights=counts).astype(np.float64)


def weight_sums(part: Partition, largest: float) -> WeightSums:
    """What the weights of a partition tell of the unit of all."""
    weight = part.columns.get("sample_weight", np.ones(len(part.columns["y"])))
    return WeightSums.of(weight, largest)


class Used(NamedTuple):
    """The rows of a partition with a positive weight, which is a number of rows."""

    number: int
    table: Table | None
    y: FloatArray
    weight: FloatArray
    offset: FloatArray
    groups: NDArray[Any]


def used_rows(part: Partition, unit: WeightUnit, classes: Any, weights: FloatArray) -> Used:
    """Leave out rows of weight zero, and number classes, which have weights of their own."""
    given = part.columns
    n = len(given["y"])
    weight = unit.counts(given["sample_weight"]) if "sample_weight" in given else np.ones(n)
    used = weight > 0
    y, weight = given["y"][used], weight[used]
    if classes is not None:
        y = np.searchsorted(classes, y).astype(np.float64)
        weight = weight * weights[y.astype(np.int64)]
    offset = given["offset"][used] if "offset" in given else np.zeros(len(y))
    groups = given["groups"][used] if "groups" in given else np.empty(0)
    table = part.table if used.any() else None
    if table is not None and not used.all():
        table = table.rows(used)
    return Used(part.number, table, y, weight, offset, groups)


class Extent(NamedTuple):
    """Number of rows, smallest, largest and first target, and the classes there are."""

    n_rows: int
    low: float
    high: float
    first: float
    classes: frozenset[int]


def extent(used: Used, classes: bool) -> Extent:
    """What is said of the outcomes of a partition."""
    if len(used.y) == 0:
        return Extent(0, np.inf, -np.inf, np.nan, frozenset())
    found = frozenset(np.unique(used.y).astype(np.int64).tolist()) if classes else frozenset()
    return Extent(len(used.y), float(used.y.min()), float(used.y.max()), float(used.y[0]), found)


def common_group_type(types: set[np.dtype[Any]]) -> np.dtype[Any] | None:
    """The type in which groups of partitions have one name, such as 1 and 1.0; None for texts."""
    if any(kind.kind not in "biufmM" for kind in types):
        return None
    try:
        return np.result_type(*types)
    except TypeError as error:
        found = " and ".join(sorted(str(kind) for kind in types))
        raise TypeError(
            f"groups must hold values of one kind in all partitions, got {found}"
        ) from error


def group_names(
    used: Used, rows: IntArray | None, kind: np.dtype[Any] | None
) -> tuple[NDArray[np.str_], IntArray]:
    """Names of the groups of some rows of a partition, or of all; and which one each row has."""
    groups = used.groups if rows is None else used.groups[rows]
    names = (groups if kind is None or len(groups) == 0 else groups.astype(kind)).astype(str)
    distinct, numbers = np.unique(names, return_inverse=True)
    return distinct, numbers.astype(np.int64)


def two_groups(used: Used, kind: np.dtype[Any] | None) -> set[str]:
    """The names of two groups of a partition, if it has as many."""
    return set(group_names(used, None, kind)[0][:2].tolist())


def only_group(found: list[set[str]]) -> list[str]:
    """The name of the group that all rows have; nothing if there are several."""
    names = set[str]().union(*found)
    return list(names) if len(names) == 1 else []


def summaries_of(used: Used, categorical: BoolArray, labels: Sequence[str]) -> list[Summary]:
    """Summaries of the columns of a partition."""
    summaries = empty_summaries(categorical, labels)
    if used.table is not None:
        with _naming(used.number):
            add_rows(summaries, used.table)
    return summaries


def merged(left: list[Summary], right: list[Summary]) -> list[Summary]:
    """The summaries of both, in objects of their own: a worker may be asked for either again."""
    return merge_all(copy.deepcopy(left), right)


def coded(used: Used, axes: tuple[Axis, ...]) -> CodedRows:
    """The bins of a partition, and its outcomes."""
    kind = code_type(max(axis.n_bins for axis in axes))
    codes = np.empty((len(axes), len(used.y)), dtype=kind)
    if used.table is not None:
        for j, axis in enumerate(axes):
            codes[j] = axis.codes(used.table, j)
    return CodedRows(codes, used.y, used.weight, used.offset)
