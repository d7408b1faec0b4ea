"""From options to a model: the paper's way or joint refinement."""

from __future__ import annotations

from typing import Any

import numpy as np

from seplearn._errors import out_of_range
from seplearn._workers import Workers
from seplearn.fitting.copies import repeated, without_copies
from seplearn.fitting.jointly import fit_joint
from seplearn.fitting.options import LOG_LOSS, AllRows, FitOptions, most_stages
from seplearn.fitting.parts import Validation
from seplearn.fitting.progress import Progress
from seplearn.fitting.selection import FEWEST_ROWS, N_FOLDS, HeldOut
from seplearn.fitting.stagewise import fit_stagewise
from seplearn.kernels.arrays import IntArray
from seplearn.losses import SHAPES
from seplearn.model.classes import Model, sums_of
from seplearn.model.record import StageRecord
from seplearn.table.training import EvalRows, TargetUnit


def check_options(
    options: FitOptions,
    eval_set: Any,
    groups: Any,
    offset: Any = None,
) -> None:
    """Raise for what contradicts: nothing that is asked for may be ignored silently."""
    given = {"eval_set": eval_set is not None, "groups": groups is not None}
    for name, loss in SHAPES.items():
        value = getattr(options, name)
        if options.loss != loss and value != getattr(FitOptions, name):
            raise ValueError(f"{name}={value} needs loss={loss!r}, got loss={options.loss!r}")
    if options.n_stages == 0 and (options.refine == "scalars" or options.main_effects is False):
        without = "refine='scalars'" if options.refine == "scalars" else "main_effects=False"
        raise out_of_range("n_stages", f"at least 1 with {without}", options.n_stages)
    if options.refine == "scalars":
        given |= {
            "monotonic_cst": any(options.directions),
            "n_bootstrap > 0": options.n_bootstrap > 0,
            "warm_start=True": options.warm_start,
            "early_stopping=True": options.early_stopping != "auto"
            and bool(options.early_stopping),
            "main_effects=True": options.main_effects is True,
            "offset": offset is not None,
            f"loss={options.loss!r}": not options.loss_function.in_paper,
        }
        if any(given.values()):
            raise ValueError(
                f"{_first(given)} needs refine='joint', got refine='scalars', the paper's way of "
                "fitting, which is for numbers by squared error or Huber's"
            )
        return
    if options.products == "single":
        raise ValueError(
            "products='single' has no joint refinement, as it has no backbone and tilt; "
            "give refine='scalars' with it"
        )
    if options.warm_start:
        _check_warm_start(options, eval_set, groups)
    if not options.early_stopping and any(given.values()):
        raise ValueError(
            f"{_first(given)} is for choosing the number of stages, got early_stopping=False "
            "with it"
        )
    if all(given.values()):
        raise ValueError(
            "groups must not be given together with eval_set: groups say which rows of X are held "
            "out together, but with eval_set none are held out"
        )


def _check_warm_start(options: FitOptions, eval_set: Any, groups: Any) -> None:
    for name, allowed, value in (
        ("n_starts", 1, options.n_starts),
        ("keep_bags", False, options.keep_bags),
    ):
        if value != allowed:
            raise ValueError(f"{name} must be {allowed} with warm_start=True, got {value!r}")
    start = options.start
    if start is None:
        return
    if options.n_new_stages < 0:
        rule = f"at least {most_stages(start)}, the stages that warm_start goes on from"
        raise out_of_range("n_stages", rule, options.n_stages)
    models = sums_of(start)
    if options.main_effects is False and any(one.effects is not None for one in models):
        rule = "not be False where warm_start goes on from a model that has some"
        raise ValueError(f"main_effects must {rule}, got {options.main_effects!r}")
    if not options.fit_intercept and any(one.intercept != 0.0 for one in models):
        rule = "be True where warm_start goes on from a model with a constant"
        raise ValueError(f"fit_intercept must {rule}, got {options.fit_intercept!r}")
    if any(stage.kind in ("signed", "same side") for one in models for stage in one.stages):
        raise ValueError(
            "warm_start=True needs a model with refine='joint' to go on from, got one of "
            "refine='scalars': fit it anew with warm_start=False"
        )
    if eval_set is None and groups is not None:
        raise ValueError(
            "groups must not be given where warm_start goes on from a model: it may have seen all "
            "rows of X, and none are held out"
        )
    if eval_set is None and options.early_stopping is True:
        raise ValueError(
            "early_stopping=True needs an eval_set with warm_start=True: the model to go on from "
            "may have seen all rows of X"
        )


def _first(given: dict[str, bool]) -> str:
    return next(name for name, asked in given.items() if asked)


def make_validation(
    data: AllRows,
    options: FitOptions,
    held_out: EvalRows | None,
    unit: TargetUnit,
    groups: IntArray | None,
) -> Validation:
    """What the number of stages is chosen by; groups are of the rows that are looked at."""
    if held_out is not None:
        table, columns, y, offset, weight = held_out
        codes = data.bins.codes(table, columns)
        loss = options.measure(data.some.target, data.some.weight)
        rows = HeldOut(codes, unit.measured(y), weight, offset / unit.scale, loss)
        return Validation(eval_set=rows)
    if options.early_stopping == "auto":
        chooses = data.mass >= FEWEST_ROWS  # a row of weight 2 is two rows
        chooses &= options.start is None  # which may have seen all rows
    else:
        chooses = bool(options.early_stopping)
        if chooses and data.n_rows < N_FOLDS:
            raise ValueError(
                f"early_stopping=True needs at least as many rows as folds ({N_FOLDS}), "
                f"got {data.n_rows}"
            )
    return Validation(chooses=chooses, groups=groups, fraction=options.validation_fraction)


def fit_model(
    data: AllRows,
    options: FitOptions,
    validation: Validation,
    seed: np.random.SeedSequence,
    workers: Workers,
    progress: Progress,
) -> tuple[Model, list[StageRecord]]:
    """Fit the model that ``options`` asks for."""
    if options.refine == "scalars":
        return fit_stagewise(data.loaded, options, seed, workers, progress)
    if options.n_bootstrap > 0:
        data = data.loaded
    given = data
    data, validation = without_copies(given, validation, options.loss_function)
    if data is not given:
        progress.say(
            f"copies and weights make nothing more certain: {given.n_rows:,} rows count for "
            f"{data.mass:,.0f}"
        )
    else:
        data, validation = repeated(data, validation, options.loss == LOG_LOSS)
    return fit_joint(data, options, validation, seed, workers, progress)
