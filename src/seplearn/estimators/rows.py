"""From training rows and parameters to a model: what the estimators of TSL share."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from sklearn.utils import check_random_state

from seplearn._errors import wrong_type
from seplearn._workers import ThreadWorkers, Workers, n_threads
from seplearn.estimators.exposure import warn_of_exposure
from seplearn.fitting.fit import check_options, fit_model, make_validation
from seplearn.fitting.options import AllRows, FitOptions, TrainingData
from seplearn.fitting.progress import Callback, Progress
from seplearn.fitting.reference import reference_rows
from seplearn.kernels.arrays import BoolArray, FloatArray, IntArray
from seplearn.losses.links import LOG, SOFTMAX
from seplearn.model.classes import Model
from seplearn.model.edit import of_each, scaled
from seplearn.model.model import SeparationModel
from seplearn.model.rebin import rebinned
from seplearn.model.record import StageRecord
from seplearn.table.binning import bin_table, bins_at_most
from seplearn.table.blocks import looked_at
from seplearn.table.columns import Table
from seplearn.table.constraints import feature_directions
from seplearn.table.schema import categorical_columns
from seplearn.table.training import EvalRows, TargetUnit, TrainingRows


class Asked(NamedTuple):
    """Arguments of ``fit`` as they were given, which may contradict parameters."""

    eval_set: Any
    groups: Any
    offset: Any = None


def check_callback(callback: Any) -> None:
    """Raise for anything that cannot be called."""
    if callback is not None and not callable(callback):
        raise wrong_type("callback", "a callable or None", callback)


def _check_kinds(start: Model | None, categorical: BoolArray) -> None:
    if start is not None and not np.array_equal(start.bins.is_categorical, categorical):
        changed = np.flatnonzero(start.bins.is_categorical != categorical).tolist()
        raise ValueError(
            "X must have columns of the kinds of the fit that warm_start goes on from, numbers or "
            f"levels, got another kind in columns {changed}"
        )


def checked_options(
    table: Table, parameters: dict[str, Any], asked: Asked, start: Model | None
) -> tuple[FitOptions, BoolArray]:
    """What a fit is to do for the columns of a table, and which of them hold levels."""
    categorical = categorical_columns(table, parameters["categorical_features"])
    directions = feature_directions(table, parameters["monotonic_cst"], categorical)
    options = FitOptions(**parameters, directions=directions, start=start)
    _check_kinds(start, categorical)
    check_options(options, *asked)
    return options, categorical


def fit_rows(
    rows: TrainingRows,
    parameters: dict[str, Any],
    asked: Asked,
    held_out: EvalRows | None,
    callback: Callback | None,
    start: Model | None = None,
) -> tuple[Model, list[StageRecord]]:
    """Bin the table, fit the model, from another one if given, and bring it to the unit of y."""
    options, categorical = checked_options(rows.table, parameters, asked, start)
    unit = options.loss_function.unit(rows.y, rows.weight, options.fit_intercept)

    def binned(workers: Workers) -> TrainingData:
        bins, codes = bin_table(
            rows.table, rows.weight, categorical, bins_at_most(options.max_bins, len(rows.y)),
            options.min_category_count,
            workers.map,
        )  # fmt: skip
        offset = None if rows.offset is None else rows.offset / unit.scale
        target = unit.measured(rows.y)
        spread = spread_of(target, rows.weight, options)
        return TrainingData(bins, codes, target, rows.weight, offset, spread)

    groups = None if rows.groups is None else looked_at(rows.groups)
    return fit_data(binned, options, unit, held_out, groups, callback)


def spread_of(target: FloatArray, weight: FloatArray, options: FitOptions) -> float:
    """Standard deviation of a target as it is fitted, where that is not its unit."""
    # With another link it is 1: the target is in standard deviations, or it is 0 and 1.
    is_log = options.loss_function.link is LOG
    return TargetUnit.of(target, weight, False).scale if is_log else 1.0


def _checked(model: SeparationModel) -> SeparationModel:
    """The model, if it predicts numbers; beside huge offsets curves may have become none."""
    if model.reference is not None and np.isnan(model.predict(model.reference.codes)).any():
        raise ValueError(
            "offset and y must be of sizes that sums can hold side by side, got a fit whose sums "
            "are no numbers: an offset has the scale of the sum, so that of an exposure it is the "
            "log"
        )
    return model


def fit_data(
    binned: Callable[[Workers], AllRows],
    options: FitOptions,
    unit: TargetUnit,
    held_out: EvalRows | None,
    groups: IntArray | None,
    callback: Callback | None,
    *,
    has_exposure: bool = False,
) -> tuple[Model, list[StageRecord]]:
    """Fit a model to what ``binned`` makes of the rows, and bring it to the unit of y.

    Groups are those of the rows that are looked at, numbered in the order of their names. Offsets
    that are known to be the logs of an exposure are not looked at.
    """
    loss, start = options.loss_function, options.start
    with (
        ThreadWorkers(n_threads(options.n_jobs)) as workers,
        Progress(unit, loss.degree, bool(options.verbose), callback) as progress,
    ):
        data = binned(workers)
        if not has_exposure:
            warn_of_exposure(loss, data.some)
        if start is not None:
            inwards = (1.0 / unit.scale, -unit.origin / unit.scale)
            own = of_each(start, lambda one: scaled(rebinned(one, data.bins), *inwards))
            options = replace(options, start=own)
        validation = make_validation(data, options, held_out, unit, groups)
        seed = np.random.SeedSequence(check_random_state(options.random_state).randint(2**31))
        model, records = fit_model(data, options, validation, seed, workers, progress)
        reference = reference_rows(data.some, int(options.background_size))
    to_y = (unit.scale, unit.origin, loss.degree)
    link = SOFTMAX if options.has_many_classes else loss.link
    model = of_each(model, lambda one: scaled(replace(one, reference=reference, link=link), *to_y))
    of_each(model, _checked)
    if start is not None:  # what was grown is only a part of its stages
        model = of_each(model, lambda one: replace(one, size_paths=()))
    return model, [record.scaled(*to_y) for record in records]
