"""From tables in files to rows that a fit can take: never more of them in memory than it needs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from seplearn._errors import wrong_type
from seplearn._spill import Spill
from seplearn.estimators.rows import spread_of
from seplearn.fitting.options import FitOptions
from seplearn.fitting.stored import StoredRows
from seplearn.kernels.arrays import BoolArray, CodeArray, FloatArray, IntArray
from seplearn.table.binning import Axis, Bins, bin_masses, bins_at_most, code_type
from seplearn.table.blocks import BLOCKS_PER_SUM, block_parts, summed_parts, tree_sum
from seplearn.table.columns import FrameTable, open_table
from seplearn.table.files import FilePart, RowFiles
from seplearn.table.schema import OffsetColumn, Schema
from seplearn.table.summaries import Summary, add_rows, axes_of, empty_summaries
from seplearn.table.training import TargetUnit, WeightUnit, total_weight


@dataclass(frozen=True)
class Roles:
    """What columns of the files are for; all others are features unless some are named."""

    target: str
    sample_weight: str | None = None
    offset: str | None = None
    features: Sequence[str] | None = None

    def check(self, files: RowFiles) -> list[str]:
        """The features; raises for a column that is not there, or is named twice."""
        used: dict[str, str] = {}
        for argument in ("target", "sample_weight", "offset"):
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
        for name in features:
            files.check_column("features", name)
            if name in used:
                raise ValueError(f"features must not have the column of {used[name]}, got {name!r}")
        if not features:
            raise ValueError("features must have at least one column, got none")
        return features

    @property
    def numbers(self) -> list[str]:
        """Columns beside the target that have to hold numbers."""
        return [name for name in (self.sample_weight, self.offset) if name is not None]


@dataclass(frozen=True, eq=False)
class Outcomes:
    """What the rows of files have beside features, of all rows or of those with a weight.

    Attributes
    ----------
    labels : array or None
        Of a classifier the distinct labels in the order of their numbers in ``y``.
    """

    y: FloatArray
    weight: FloatArray
    offset: FloatArray | None
    labels: NDArray[Any] | None = None

    def relabelled(self, numbers: FloatArray, weights: FloatArray) -> IntArray:
        """Give labels other numbers and classes other weights, in place; the classes there are."""
        there = np.zeros(len(numbers), np.bool_)
        for part in block_parts(len(self.y)):
            self.y[part] = numbers[self.y[part].astype(np.int64)]
            own = self.y[part].astype(np.int64)
            self.weight[part] *= weights[own]
            there[own] = True
        return np.flatnonzero(there)

    def some(self, used: BoolArray, spill: Spill) -> Outcomes:
        """The rows that are used."""

        def kept(column: FloatArray) -> FloatArray:
            with spill.column(np.float64) as out:
                for part in block_parts(len(column)):
                    out.append(column[part][used[part]])
                found: FloatArray = out.finished()
            return found

        offset = None if self.offset is None else kept(self.offset)
        return Outcomes(kept(self.y), kept(self.weight), offset, self.labels)


def read_outcomes(files: RowFiles, roles: Roles, spill: Spill, classes: bool) -> Outcomes:
    """The target, weights and offsets of all rows, checked, in files of their own."""
    for argument in ("target", "sample_weight", "offset"):
        name = getattr(roles, argument)
        allowed: tuple[str, ...] = ("number",)
        if argument == "target":
            allowed += ("truth value", *(("text",) if classes else ()))
        if name is not None and files.kind(name) not in (*allowed, "null"):
            kinds = ", ".join(f"{kind}s" for kind in allowed)
            raise TypeError(
                f"{argument} must be a column of {kinds}, got {name!r}, which holds "
                f"{files.kind(name)}s"
            )
    numbering = _Labels() if classes else None
    with (
        spill.column(np.float64) as y,
        spill.column(np.float64) as weight,
        spill.column(np.float64) as offset,
    ):
        for part in files.parts([roles.target, *roles.numbers]):
            y.append(_numbers(part, roles.target) if numbering is None else
                     numbering.numbers(part, roles.target))  # fmt: skip
            if roles.sample_weight is not None:
                weight.append(_numbers(part, roles.sample_weight, least=0.0))
            if roles.offset is not None:
                offset.append(_numbers(part, roles.offset))
        target: FloatArray = y.finished()
        if len(target) == 0:
            raise ValueError("files must have rows, got none")
        weights: FloatArray = weight.finished()
        offsets: FloatArray | None = None if roles.offset is None else offset.finished()
    if roles.sample_weight is None:
        weights = spill.array(target.shape, np.float64)
        weights[:] = 1.0
    elif not weights.any():
        raise ValueError("sample_weight must have a positive sum, got zeros only")
    labels = None if numbering is None else numbering.labels
    return Outcomes(target, weights, offsets, labels)


def _numbers(part: FilePart, name: str, least: float = -np.inf) -> FloatArray:
    """A column of numbers, all of them known; what is not is named with its row."""
    values = open_table(part.table.select([name])).numbers(0)
    strange = np.flatnonzero(~(np.isfinite(values) & (values >= least)))
    if len(strange):
        row = int(strange[0])
        rule = "finite numbers" if least == -np.inf else "finite numbers that are not negative"
        raise ValueError(
            f"{part.file}: column {name!r} must hold {rule}, got {values[row]} in row "
            f"{part.first + row}"
        )
    return values


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
            raise ValueError(
                f"{part.file}: column {name!r} must not have missing values, got one in row "
                f"{part.first + int(strange[0])}"
            )
        own = [self._number.setdefault(label, len(self._number)) for label in labels]
        numbers: FloatArray = np.array([*own, 0], dtype=np.float64)[indices]
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
    for part in block_parts(len(used)):
        outcomes.weight[part] = unit.counts(outcomes.weight[part])
        used[part] = outcomes.weight[part] > 0
    return (outcomes if used.all() else outcomes.some(used, spill)), used


class FeatureRows:
    """The features of the rows that are used, read again and again."""

    def __init__(self, files: RowFiles, names: list[str]) -> None:
        self._files, self._names = files, names
        self._used: BoolArray = np.empty(0, np.bool_)
        self.head = files.head(names)

    def schema(self, roles: Roles) -> Schema:
        """What a model remembers of the columns."""
        own = Schema.of(self.head, roles.target)
        offset = None if roles.offset is None else OffsetColumn(roles.offset, False)
        return replace(own, library=self._files.library, offset=offset)

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
            spill.let_go(flat[: first * len(axes)])
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
        if outcomes.offset is not None:
            outcomes.offset[part] /= unit.scale
    masses = tree_sum(_masses(codes, outcomes.weight, axes))
    frequencies = masses / total_weight(outcomes.weight)
    spread = spread_of(outcomes.y, outcomes.weight, options)
    return StoredRows(
        Bins(axes, frequencies), codes, outcomes.y, outcomes.weight, outcomes.offset, spread, spill
    )
