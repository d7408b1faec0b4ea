"""From tables in files to rows that a fit can take: never more of them in memory than it needs."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from itertools import compress
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from seplearn._errors import wrong_type
from seplearn._spill import Spill, let_go
from seplearn.estimators.rows import spread_of
from seplearn.fitting.options import FitOptions
from seplearn.fitting.stored import StoredRows
from seplearn.kernels.arrays import BoolArray, CodeArray, FloatArray, IntArray
from seplearn.losses import Loss
from seplearn.losses.links import LOG
from seplearn.table.binning import Axis, Bins, bin_masses, bins_at_most, code_type
from seplearn.table.blocks import (
    BLOCKS_PER_SUM,
    block_parts,
    ends,
    looked_at,
    summed_parts,
    tree_sum,
)
from seplearn.table.columns import FrameTable, open_table
from seplearn.table.files import DATE, FilePart, RowFiles
from seplearn.table.schema import OffsetColumn, Schema
from seplearn.table.summaries import Summary, add_rows, axes_of, empty_summaries
from seplearn.table.training import (
    LARGEST_OFFSET,
    TargetUnit,
    WeightUnit,
    group_numbers,
    total_weight,
)


class _Rule(NamedTuple):
    """What numbers of a column must be, beside finite."""

    text: str
    allows: Callable[[FloatArray], Any]


_FINITE = _Rule("finite numbers", lambda _: True)
_NOT_NEGATIVE = _Rule("finite numbers that are not negative", lambda values: values >= 0.0)
_OFFSETS = _Rule(
    f"numbers of a size of at most {LARGEST_OFFSET:g}",
    lambda values: np.abs(values) <= LARGEST_OFFSET,
)
_POSITIVE = _Rule("positive numbers, as an exposure", lambda values: values > 0.0)


@dataclass(frozen=True)
class Roles:
    """What columns of the files are for; all others are features unless some are named."""

    target: str
    sample_weight: str | None = None
    offset: str | None = None
    features: Sequence[str] | None = None
    groups: str | None = None
    exposure: str | None = None

    def check(self, files: RowFiles) -> list[str]:
        """The features; raises for a column that is not there, or is named twice."""
        if self.offset is not None and self.exposure is not None:
            raise ValueError("offset must not be given together with exposure, whose log it is")
        used: dict[str, str] = {}
        for argument in ("target", "sample_weight", "offset", "exposure", "groups"):
            name = getattr(self, argument)
            if name is None and argument != "target":
                continue
            files.check_column(argument, name)
            if name in used:
                raise ValueError(
                    f"{argument} must be another column than {used[name]}, got {name!r} for both"
                )
            used[name] = argument
        if self.features is None:
            features = [name for name in files.names if name not in used]
        elif isinstance(self.features, str):
            raise wrong_type("features", "a list of names of columns", self.features)
        else:
            features = list(self.features)
        for k, name in enumerate(features):
            files.check_column("features", name)
            if name in features[:k]:
                raise ValueError(f"features must name a column once, got {name!r} twice")
            if name in used:
                raise ValueError(f"features must not have the column of {used[name]}, got {name!r}")
        if not features:
            raise ValueError("features must have at least one column, got none")
        return features

    @property
    def numbers(self) -> list[str]:
        """Columns beside the target that have to hold numbers."""
        given = (self.sample_weight, self.offset, self.exposure)
        return [name for name in given if name is not None]

    @property
    def group_columns(self) -> list[str]:
        """The column of groups, if there is one."""
        return [] if self.groups is None else [self.groups]

    @property
    def offset_column(self) -> OffsetColumn | None:
        """Where offsets come from."""
        if self.exposure is not None:
            return OffsetColumn(self.exposure, True)
        return None if self.offset is None else OffsetColumn(self.offset, False)

    def check_exposure(self, loss: Loss, name: str) -> None:
        """Raise where the log of an exposure would be added to the prediction itself."""
        if self.exposure is not None and loss.link is not LOG:
            raise ValueError(
                "exposure is for counts and amounts, whose prediction it multiplies "
                f"(loss='poisson', 'gamma' or 'tweedie'), got loss={name!r}"
            )


@dataclass(frozen=True, eq=False)
class Outcomes:
    """What the rows of files have beside features, of all rows or of those with a weight.

    Attributes
    ----------
    labels : array or None
        Of a classifier the distinct labels in the order of their numbers in ``y``.
    groups : array or None
        The number of the group of every row.
    group_names : list
        Their names, in the order of these numbers.
    """

    y: FloatArray
    weight: FloatArray
    offset: FloatArray | None
    labels: NDArray[Any] | None = None
    groups: IntArray | None = None
    group_names: list[str] = field(default_factory=list)

    def relabelled(self, numbers: FloatArray, weights: FloatArray) -> IntArray:
        """Give labels other numbers and classes other weights, in place; the classes there are."""
        there = np.zeros(len(numbers), np.bool_)
        for part in block_parts(len(self.y)):
            self.y[part] = numbers[self.y[part].astype(np.int64)]
            own = self.y[part].astype(np.int64)
            self.weight[part] *= weights[own]
            there[own] = True
            let_go(self.y[part])
            let_go(self.weight[part])
        return np.flatnonzero(there)

    def some(self, used: BoolArray, spill: Spill) -> Outcomes:
        """The rows that are used."""

        def kept(column: NDArray[Any]) -> NDArray[Any]:
            with spill.column(column.dtype) as out:
                for part in block_parts(len(column)):
                    out.append(column[part][used[part]])
                    let_go(column[part])
                return out.finished()

        return replace(
            self,
            y=kept(self.y),
            weight=kept(self.weight),
            offset=None if self.offset is None else kept(self.offset),
            groups=None if self.groups is None else kept(self.groups),
        )

    def numbered_groups(self) -> IntArray | None:
        """The groups of the rows looked at, numbered in the order of the names that there are."""
        if self.groups is None:
            return None
        is_there = np.zeros(len(self.group_names), np.bool_)
        for part in block_parts(len(self.groups)):
            is_there[self.groups[part]] = True
            let_go(self.groups[part])
        numbers = np.zeros(len(is_there), np.int64)
        numbers[is_there] = group_numbers(list(compress(self.group_names, is_there)))
        for part in block_parts(len(self.groups)):
            self.groups[part] = numbers[self.groups[part]]
            let_go(self.groups[part])
        return looked_at(self.groups)


def read_outcomes(files: RowFiles, roles: Roles, spill: Spill, classes: bool) -> Outcomes:
    """The target, weights and offsets of all rows, checked, in files of their own."""
    for argument in ("target", "sample_weight", "offset", "exposure"):
        name = getattr(roles, argument)
        allowed: tuple[str, ...] = ("number",)
        if argument == "target":
            allowed += ("truth value", *(("text",) if classes else ()))
        if name is not None and files.kind(name) not in (*allowed, "null"):
            kinds = " or ".join(f"{kind}s" for kind in allowed)
            held = "dates or times" if files.kind(name) == DATE else f"{files.kind(name)}s"
            raise TypeError(f"{argument} must be a column of {kinds}, got {name!r}, with {held}")
    with ExitStack() as stack:
        columns = _OutcomeColumns(roles, classes, spill, stack)
        for part in files.parts([roles.target, *roles.numbers, *roles.group_columns]):
            columns.append(part)
        return columns.outcomes(spill)


class _OutcomeColumns:
    """Columns of files that are no features, as they are read."""

    def __init__(self, roles: Roles, classes: bool, spill: Spill, stack: ExitStack) -> None:
        self._roles = roles
        self._labels = _Labels() if classes else None
        self._groups = _Labels()
        kinds = {"y": np.float64, "weight": np.float64, "offset": np.float64, "groups": np.int64}
        self._columns = {
            name: stack.enter_context(spill.column(kind)) for name, kind in kinds.items()
        }

    def append(self, part: FilePart) -> None:
        """Take the rows of a part."""
        roles, columns, labels = self._roles, self._columns, self._labels
        read = _numbers if labels is None else labels.numbers
        columns["y"].append(read(part, roles.target))
        if roles.sample_weight is not None:
            columns["weight"].append(_numbers(part, roles.sample_weight, _NOT_NEGATIVE))
        if roles.exposure is not None:
            columns["offset"].append(np.log(_numbers(part, roles.exposure, _POSITIVE)))
        elif roles.offset is not None:
            columns["offset"].append(_numbers(part, roles.offset, _OFFSETS))
        if roles.groups is not None:
            columns["groups"].append(self._groups.numbers(part, roles.groups))

    def outcomes(self, spill: Spill) -> Outcomes:
        """What was read; raises where nothing can be learned from it."""
        roles, columns, labels = self._roles, self._columns, self._labels
        y: FloatArray = columns["y"].finished()
        if len(y) == 0:
            raise ValueError("files must have rows, got none")
        weight: FloatArray = columns["weight"].finished()
        if roles.sample_weight is None:
            weight = spill.array(y.shape, np.float64)
            for part in block_parts(len(weight)):
                weight[part] = 1.0
                let_go(weight[part])
        elif ends(weight)[1] == 0.0:
            raise ValueError("sample_weight must have a positive sum, got zeros only")
        has_offset, has_groups = roles.offset_column is not None, roles.groups is not None
        return Outcomes(
            y,
            weight,
            columns["offset"].finished() if has_offset else None,
            None if labels is None else labels.labels,
            columns["groups"].finished() if has_groups else None,
            [str(label) for label in self._groups.labels],
        )


def _numbers(part: FilePart, name: str, rule: _Rule = _FINITE) -> FloatArray:
    """A column of numbers, all of them known; what is not is named with its row."""
    values = open_table(part.table.select([name])).numbers(0)
    strange = np.flatnonzero(~(np.isfinite(values) & rule.allows(values)))
    if len(strange):
        row = int(strange[0])
        if np.isnan(values[row]):
            raise _missing_value(part, name, row)
        raise ValueError(
            f"{part.file}: column {name!r} must hold {rule.text}, got {values[row]} in row "
            f"{part.first + row}"
        )
    return values


def _missing_value(part: FilePart, name: str, row: int) -> ValueError:
    return ValueError(
        f"{part.file}: column {name!r} must not have missing values, got one in row "
        f"{part.first + row}; leave such rows out of the files"
    )


class _Labels:
    """Numbers labels in the order in which they appear."""

    def __init__(self) -> None:
        self._number: dict[Any, int] = {}
        self._columns: list[Any] = []

    def numbers(self, part: FilePart, name: str) -> FloatArray:
        encoded = part.table[name].combine_chunks()
        encoded = encoded if hasattr(encoded, "indices") else encoded.dictionary_encode()
        labels = encoded.dictionary.to_pylist()
        indices = encoded.indices.fill_null(-1).to_numpy(zero_copy_only=False)
        unknown = np.array([label is None or label != label for label in labels] + [True])  # noqa: PLR0124
        strange = np.flatnonzero(unknown[indices])
        if len(strange):
            raise _missing_value(part, name, int(strange[0]))
        own = np.zeros(len(labels))
        for k in np.unique(indices).tolist():  # a category may have no row, and is no class then
            own[k] = self._number.setdefault(labels[k], len(self._number))
        numbers: FloatArray = own[indices]
        return numbers

    @property
    def labels(self) -> NDArray[Any]:
        """The labels, in the order of their numbers."""
        found = list(self._number)
        if found and isinstance(found[0], str):
            return np.array(found, dtype=object)
        return np.array(found)


def used_rows(outcomes: Outcomes, spill: Spill) -> tuple[Outcomes, BoolArray]:
    """The rows with a positive weight, which is a number of rows now, and which they are."""
    unit = WeightUnit.of(outcomes.weight)
    used: BoolArray = spill.array(outcomes.y.shape, np.bool_)
    n_used = 0
    for part in block_parts(len(used)):
        outcomes.weight[part] = unit.counts(outcomes.weight[part])
        used[part] = outcomes.weight[part] > 0
        n_used += int(used[part].sum())
        let_go(outcomes.weight[part])
        let_go(used[part])
    return (outcomes if n_used == len(used) else outcomes.some(used, spill)), used


class FeatureRows:
    """The features of the rows that are used, read again and again."""

    def __init__(self, files: RowFiles, names: list[str]) -> None:
        self._files, self._names = files, names
        self._used: BoolArray = np.empty(0, np.bool_)
        self.head = files.head(names)

    def schema(self, roles: Roles) -> Schema:
        """What a model remembers of the columns."""
        own = Schema.of(self.head, roles.target)
        return replace(own, library=self._files.library, offset=roles.offset_column)

    def used(self, outcomes: Outcomes, spill: Spill) -> Outcomes:
        """The outcomes of rows with a positive weight, from here on the only ones that are read."""
        outcomes, self._used = used_rows(outcomes, spill)
        return outcomes

    def _tables(self) -> Iterator[tuple[str, FrameTable]]:
        first = 0
        for part in self._files.parts(self._names):
            used = self._used[first : first + part.table.num_rows]
            first += part.table.num_rows
            if len(used) < part.table.num_rows:
                break
            if used.any():
                table = open_table(part.table if used.all() else part.table.filter(used))
                assert isinstance(table, FrameTable)
                yield part.file, table
            let_go(used)
        if first != len(self._used):
            raise ValueError(
                f"files must not change while they are read, got {len(self._used)} rows at first "
                f"and {'more' if first > len(self._used) else first} now"
            )

    def axes(self, categorical: BoolArray, n_rows: int, options: FitOptions) -> tuple[Axis, ...]:
        """The bins of all columns."""
        labels = [self.head.label(j) for j in range(len(self._names))]
        summaries: list[Summary] = empty_summaries(categorical, labels)
        for file, table in self._tables():
            try:
                add_rows(summaries, table)
            except (TypeError, ValueError) as error:
                raise type(error)(f"{file}: {error}") from error
        max_bins = bins_at_most(options.max_bins, n_rows)
        return axes_of(summaries, max_bins, options.min_category_count)

    def codes(self, axes: tuple[Axis, ...], n_rows: int, spill: Spill) -> list[CodeArray]:
        """The bins of all rows, block by block, an axis after the other."""
        kind = code_type(max(axis.n_bins for axis in axes))
        flat = spill.array((n_rows * len(axes),), kind)
        blocks = [
            flat[part.start * len(axes) : part.stop * len(axes)].reshape(len(axes), -1)
            for part in block_parts(n_rows)
        ]
        whole = len(blocks[0][0])
        first = 0
        for _, table in self._tables():
            for j, axis in enumerate(axes):
                column = axis.codes(table, j)
                done = 0
                while done < len(column):
                    number, start = divmod(first + done, whole)
                    place = blocks[number][j, start:]
                    taken = min(len(place), len(column) - done)
                    place[:taken] = column[done : done + taken]
                    done += taken
            first += table.n_rows
            let_go(flat[: first * len(axes)])
        return blocks


def _masses(
    codes: list[CodeArray], weight: FloatArray, axes: tuple[Axis, ...]
) -> Iterator[FloatArray]:
    """The weight in every bin of every axis, of the blocks of a sum at a time."""
    for number, part in enumerate(summed_parts(len(weight))):
        first = number * BLOCKS_PER_SUM
        own = np.concatenate(codes[first : first + BLOCKS_PER_SUM], axis=1)
        pairs = zip(own, axes, strict=True)
        yield np.concatenate([bin_masses(c, weight[part], axis.n_bins) for c, axis in pairs])
        for block in codes[first : first + BLOCKS_PER_SUM]:
            let_go(block)


def stored_rows(
    features: FeatureRows,
    outcomes: Outcomes,
    categorical: BoolArray,
    options: FitOptions,
    unit: TargetUnit,
    spill: Spill,
) -> StoredRows:
    """Bin the features, and bring the outcomes to the unit of the fit, in place."""
    n_rows = len(outcomes.y)
    axes = features.axes(categorical, n_rows, options)
    codes = features.codes(axes, n_rows, spill)
    for part in block_parts(n_rows):
        outcomes.y[part] = unit.measured(outcomes.y[part])
        let_go(outcomes.y[part])
        if outcomes.offset is not None:
            outcomes.offset[part] /= unit.scale
            let_go(outcomes.offset[part])
    masses = tree_sum(_masses(codes, outcomes.weight, axes))
    frequencies = masses / total_weight(outcomes.weight)
    spread = spread_of(outcomes.y, outcomes.weight, options)
    return StoredRows(
        Bins(axes, frequencies), codes, outcomes.y, outcomes.weight, outcomes.offset, spread, spill
    )
