"""From training rows and parameters to a model: what the estimators of TSL share."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from sklearn.utils import check_random_state

from seplearn._errors import wrong_type
from seplearn._workers import ThreadWorkers, n_threads
from seplearn.fitting.fit import check_options, fit_model, make_validation
from seplearn.fitting.options import FitOptions, TrainingData
from seplearn.fitting.progress import Callback, progress
from seplearn.fitting.reference import reference_rows
from seplearn.kernels.arrays import BoolArray
from seplearn.losses.links import LOG, SOFTMAX
from seplearn.model.classes import Model
from seplearn.model.edit import of_each, scaled
from seplearn.model.rebin import rebinned
from seplearn.model.record import StageRecord
from seplearn.table.binning import bin_table, bins_at_most
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


def fit_rows(
    rows: TrainingRows,
    parameters: dict[str, Any],
    asked: Asked,
    held_out: EvalRows | None,
    callback: Callback | None,
    start: Model | None = None,
) -> tuple[Model, list[StageRecord]]:
    """Bin the table, fit the model, from another one if given, and bring it to the unit of y."""
    categorical = categorical_columns(rows.table, parameters["categorical_features"])
    directions = feature_directions(rows.table, parameters["monotonic_cst"], categorical)
    options = FitOptions(**parameters, directions=directions, start=start)
    _check_kinds(start, categorical)
    check_options(options, options.early_stopping, options.n_bootstrap, *asked)
    loss = options.loss_function
    unit = loss.unit(rows.y, rows.weight, options.fit_intercept)
    with (
        ThreadWorkers(n_threads(options.n_jobs)) as workers,
        progress(options.n_stages, unit, bool(options.verbose), callback) as on_stage,
    ):
        bins, codes = bin_table(
            rows.table, rows.weight, categorical, bins_at_most(options.max_bins, len(rows.y)),
            options.min_category_count,
            workers.map,
        )  # fmt: skip
        if start is not None:
            inwards = (1.0 / unit.scale, -unit.origin / unit.scale)
            own = of_each(start, lambda one: scaled(rebinned(one, bins), *inwards))
            options = replace(options, start=own)
        offset = None if rows.offset is None else rows.offset / unit.scale
        target = unit.measured(rows.y)
        # With another link it is 1: the target is in standard deviations, or it is 0 and 1.
        spread = TargetUnit.of(target, rows.weight, False).scale if loss.link is LOG else 1.0
        data = TrainingData(bins, codes, target, rows.weight, offset, spread)
        validation = make_validation(data, options, held_out, unit, rows.groups)
        seed = np.random.SeedSequence(check_random_state(options.random_state).randint(2**31))
        model, records = fit_model(
            data, options, validation, options.n_bootstrap, seed, workers, on_stage
        )
        reference = reference_rows(data.some, int(options.background_size))
    to_y = (unit.scale, unit.origin, loss.degree)
    link = SOFTMAX if options.has_many_classes else loss.link
    model = of_each(model, lambda one: scaled(replace(one, reference=reference, link=link), *to_y))
    if start is not None:  # what was grown is only a part of its stages
        model = of_each(model, lambda one: replace(one, size_paths=()))
    return model, [record.scaled(*to_y) for record in records]
