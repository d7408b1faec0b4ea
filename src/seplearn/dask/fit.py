"""From a table on a cluster to a fitted estimator."""

from __future__ import annotations

from functools import partial
from typing import Any

import dask
import numpy as np

from seplearn._params import check_parameters
from seplearn.dask import partitions
from seplearn.dask.inputs import check_table, partitions_of
from seplearn.dask.partitions import Extent, Look
from seplearn.dask.rows import DaskRows, Shares
from seplearn.dask.shares import joined
from seplearn.dask.tasks import Tasks
from seplearn.estimators.classifier import TSLClassifier
from seplearn.estimators.fitted import restored_on_failure
from seplearn.estimators.labels import (
    check_all_weighed,
    class_eval_rows,
    class_weights,
    numbered_anew,
    weighed_rows,
)
from seplearn.estimators.rows import Asked, check_callback, checked_options, fit_data
from seplearn.estimators.tsl import number_eval_rows
from seplearn.fitting.options import FitOptions
from seplearn.fitting.progress import Callback
from seplearn.kernels.arrays import BoolArray, FloatArray, IntArray
from seplearn.losses import IDENTITY
from seplearn.losses.links import LOG
from seplearn.model.classes import Model
from seplearn.model.provenance import Provenance
from seplearn.model.record import StageRecord
from seplearn.table.binning import Axis, bins_at_most
from seplearn.table.blocks import rows_looked_at
from seplearn.table.columns import Table
from seplearn.table.schema import Schema
from seplearn.table.summaries import axes_of
from seplearn.table.training import NO_TARGET, TargetUnit, WeightUnit, check_several_groups


def fit_on_cluster(
    client: Any,
    estimator: Any,
    X: Any,
    columns: dict[str, Any],
    eval_set: Any,
    callback: Callback | None,
) -> None:
    """Fit an estimator to a table on a cluster; if that fails it is left as it was."""
    check_parameters(estimator._parameters, estimator.get_params(deep=False))
    check_callback(callback)
    check_table(X)
    if "y" not in columns:
        raise ValueError(NO_TARGET)
    classes = isinstance(estimator, TSLClassifier)
    with restored_on_failure(estimator), Tasks(client) as tasks:
        table = ClusterTable(tasks, X, columns, classes)
        name = getattr(columns["y"], "name", None)
        schema = Schema.of(table, name if isinstance(name, str) and hasattr(X, "columns") else None)
        fit = _fit_classes if classes else _fit_numbers
        asked = Asked(eval_set, columns.get("groups"), columns.get("offset"))
        fit(estimator, table, schema, asked, callback)


def _fit_numbers(
    estimator: Any, table: ClusterTable, schema: Schema, asked: Asked, callback: Callback | None
) -> None:
    loss = estimator._asked_loss
    held_out = number_eval_rows(asked.eval_set, schema, loss, asked.offset is not None)
    start = estimator._start(schema, loss, asked.offset is not None)
    parameters = estimator._plain_parameters()
    options, categorical = checked_options(table, parameters, asked, start)
    table.use(None, np.ones(1))
    loss.check_target(np.array([table.extent.low, table.extent.high]))
    model, history, provenance = table.fit(categorical, options, held_out, callback)
    estimator._store_fit(start, schema, model, history, provenance)


def _fit_classes(
    estimator: Any, table: ClusterTable, schema: Schema, asked: Asked, callback: Callback | None
) -> None:
    classes, _ = numbered_anew(table.labels)
    estimator._check_classes(classes, table.n_rows, asked.offset)
    held_out = class_eval_rows(asked.eval_set, schema, classes, asked.offset is not None)
    start = estimator._start_of_classes(schema, classes, asked.offset is not None)
    parameters = estimator._class_parameters(classes)
    options, categorical = checked_options(table, parameters, asked, start)
    weights = class_weights(estimator.class_weight, classes, table.label_counts)
    table.use(classes, weights)
    check_all_weighed(np.array(sorted(table.extent.classes), dtype=np.int64), classes)
    held_out = weighed_rows(held_out, weights)
    model, history, provenance = table.fit(categorical, options, held_out, callback)
    estimator._store_fit(start, schema, model, history, provenance)
    estimator.classes_ = classes


class ClusterTable:
    """A table on workers, as far as the client knows it: names and kinds of columns."""

    def __init__(self, tasks: Tasks, X: Any, columns: dict[str, Any], classes: bool) -> None:
        self._tasks, self._has_classes = tasks, classes
        self._has_offset, self._has_groups = "offset" in columns, "groups" in columns
        self._parts = tasks.compute(_read(X, columns, classes))
        looks: list[Look | None] = tasks.results(
            partial(partitions.look, classes=classes), self._parts
        )
        seen = _alike(looks)
        first = seen[0]
        self.names, self.integer_labels = first.names, first.integer_labels
        self.n_columns, self.library = first.n_columns, first.library
        self.n_rows = sum(one.n_rows for one in seen)
        self._categorical = np.any([one.categorical for one in seen], axis=0)
        self._largest_weight = max(one.largest_weight for one in seen)
        if self._largest_weight == 0.0:
            raise ValueError("sample_weight must have a positive sum, got zeros only")
        types = {one.group_type for one in seen if one.group_type is not None}
        self._group_type = partitions.common_group_type(types) if types else None
        if classes:
            # As objects: in an array of texts a number of another partition would be one more text.
            every = [label for one in seen for label in one.labels[0].tolist()]
            counts = np.concatenate([one.labels[1] for one in seen])
            kind = np.result_type(*(one.labels[0].dtype for one in seen))
            found, self.label_counts = partitions.distinct_labels(np.array(every, object), counts)
            self.labels = found.astype(kind)

    def is_categorical(self, j: int) -> bool:
        return bool(self._categorical[j])

    def numbers(self, j: int) -> FloatArray:
        raise TypeError(f"{self.label(j)} must hold numbers, got levels in some partition")

    def levels(self, j: int) -> list[Any]:
        raise NotImplementedError(f"{self.label(j)} is on the workers")

    def rows(self, chosen: BoolArray | IntArray) -> Table:
        raise NotImplementedError(f"{len(chosen)} rows are on the workers")

    def label(self, j: int) -> str:
        return f"column {self.names[j]!r}" if self.names else f"column {j}"

    def use(self, classes: Any, weights: FloatArray) -> None:
        """Leave out rows of weight zero; number classes, which have weights of their own."""
        sums = self._tasks.results(
            partial(partitions.weight_sums, largest=self._largest_weight), self._parts
        )
        unit = WeightUnit.joined(self._largest_weight, sums)
        use = partial(partitions.used_rows, unit=unit, classes=classes, weights=weights)
        self._used = self._tasks.map(use, self._parts)
        extents: list[Extent] = self._tasks.results(
            partial(partitions.extent, classes=self._has_classes), self._used
        )
        self._lengths = [one.n_rows for one in extents]
        self.extent = Extent(
            sum(self._lengths),
            min(one.low for one in extents),
            max(one.high for one in extents),
            next(one.first for one in extents if one.n_rows),
            frozenset().union(*(one.classes for one in extents)),
        )

    def fit(
        self, categorical: BoolArray, options: FitOptions, held_out: Any, callback: Callback | None
    ) -> tuple[Model, list[StageRecord], Provenance]:
        """Fit a model to the rows in use."""
        groups = self._groups() if self._has_groups else None
        axes = self._axes(categorical, options)
        coded = self._tasks.map(partial(partitions.coded, axes=axes), self._used)
        shares = Shares(self._tasks.client, coded, self._lengths)
        try:
            unit = self._unit(options, shares)
            shares.tell("measure", unit)
            is_constant = self.extent.low == self.extent.high and not self._has_offset
            is_log = options.loss_function.link is LOG
            spread = self._target_unit(False, shares).scale if is_log else 1.0
            rows = DaskRows.of(shares, axes, is_constant, self._has_offset, spread)
            provenance = Provenance.of_fit(rows.n_rows, rows.mass, self._has_offset)
            model, history = fit_data(lambda _: rows, options, unit, held_out, groups, callback)
            return model, history, provenance
        finally:
            shares.close()

    def _groups(self) -> IntArray:
        """The groups of the rows looked at, numbered in the order of their names.

        Only their names come to the client: numbers in the order of all names would have the same
        order.
        """
        two = self._tasks.map(partial(partitions.two_groups, kind=self._group_type), self._used)
        (only,) = self._tasks.results(partitions.only_group, [two])
        if only:
            check_several_groups(only)
        starts = np.cumsum([0, *self._lengths])
        chosen = rows_looked_at(int(starts[-1]))
        if chosen is None:
            chosen = np.arange(starts[-1])
        own = np.split(chosen, np.searchsorted(chosen, starts[1:-1]))
        rows = [numbers - start for numbers, start in zip(own, starts[:-1], strict=True)]
        named = partial(partitions.group_names, kind=self._group_type)
        found = self._tasks.results(named, self._used, rows)
        names = [own for own, _ in found]
        _, numbers = np.unique(np.concatenate(names), return_inverse=True)
        of_names = np.split(numbers, np.cumsum([len(own) for own in names])[:-1])
        return np.concatenate(
            [own[rows] for own, (_, rows) in zip(of_names, found, strict=True)]
        ).astype(np.int64)

    def _unit(self, options: FitOptions, shares: Shares) -> TargetUnit:
        loss = options.loss_function
        if loss.takes_spread:
            unit = self._target_unit(options.fit_intercept, shares)
            chosen = rows_looked_at(sum(self._lengths))
            some = joined(shares.order("take", 0, chosen))
            return loss.calmed(unit, some.target, some.weight, options.fit_intercept)
        if loss.link is IDENTITY:
            return self._target_unit(options.fit_intercept, shares)
        return loss.unit(np.empty(0), np.empty(0), options.fit_intercept)

    def _target_unit(self, has_constant: bool, shares: Shares) -> TargetUnit:
        ends = self.extent.low, self.extent.high, self.extent.first
        return TargetUnit.from_moments(*ends, shares.moments, has_constant)

    def _axes(self, categorical: BoolArray, options: FitOptions) -> tuple[Axis, ...]:
        """The bins, from summaries of partitions that are merged two by two on the workers."""
        labels = [self.label(j) for j in range(self.n_columns)]
        summarise = partial(partitions.summaries_of, categorical=categorical, labels=labels)
        found = self._tasks.map(summarise, self._used)
        while len(found) > 1:
            n_pairs = len(found) // 2
            pairs = found[: 2 * n_pairs : 2], found[1 : 2 * n_pairs : 2]
            found = self._tasks.map(partitions.merged, *pairs) + found[2 * n_pairs :]
        max_bins = bins_at_most(options.max_bins, self.extent.n_rows)
        (summaries,) = self._tasks.gathered(found)
        return axes_of(summaries, max_bins, options.min_category_count)


def _read(X: Any, columns: dict[str, Any], classes: bool) -> list[Any]:
    """Partitions of the table and of what belongs to its rows, to be read together."""
    parts = partitions_of(X, columns)
    tables = parts.pop("X")
    read = dask.delayed(partitions.read_partition)
    return [
        read(k, table, {name: own[k] for name, own in parts.items()}, classes)
        for k, table in enumerate(tables)
    ]


def _alike(looks: list[Look | None]) -> list[Look]:
    """What was seen of partitions with rows, which must have the same columns."""
    seen: list[Look] = []
    for k, one in enumerate(looks):
        if one is None:
            continue
        seen.append(one)
        names, expected = (
            list(x.names or x.integer_labels or range(x.n_columns)) for x in (one, seen[0])
        )
        if names != expected:
            raise ValueError(f"partition {k}: columns must be {expected}, as before, got {names}")
    if not seen:
        raise ValueError(
            f"X must have at least 1 sample, got {len(looks)} partition(s), none of them with rows"
        )
    return seen
