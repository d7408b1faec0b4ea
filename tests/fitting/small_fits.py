"""A table small enough for dense algebra and the interpreter, fits to it, and the oracle's view."""

from __future__ import annotations

import numpy as np

from seplearn._params import TSL_PARAMETERS
from seplearn._workers import SerialWorkers
from seplearn.fitting.joint.fit import JointFit
from seplearn.fitting.options import FitOptions, TrainingData
from seplearn.model.stage import Branch, Stage
from seplearn.table.binning import Axis, Bins, CategoricalAxis, NumericAxis
from tests import naive_sweep

# Ordered bins and the missing one; levels (the last of them and two more bins without rows); an
# axis on which all rows are alike; enough bins for second differences.
AXES: tuple[Axis, ...] = (
    NumericAxis(np.arange(1.0, 5.0)),
    CategoricalAxis(("a", "b", "c")),
    NumericAxis(np.arange(1.0, 3.0)),
    NumericAxis(np.arange(1.0, 24.0)),
)
DIRECTIONS = (1, 0, 0, -1)
CROWDED, ROOMY = 50, 2500  # rows: fewer, and more, than 500 for each feature


def small_data(n=CROWDED, level=0.0, seed=0):
    rng = np.random.default_rng(seed)
    used = (6, 4, 1, 24)
    codes = np.stack([rng.integers(0, b, n) for b in used], axis=1).astype(np.uint8)
    weight = rng.uniform(0.5, 2.0, n)
    target = rng.normal(size=n) + level
    n_flat = sum(axis.n_bins for axis in AXES)
    return TrainingData(
        Bins(AXES, np.zeros(n_flat)).with_frequencies_of(codes, weight), codes, target, weight
    )


def options(**given):
    values = {p.name: p.default for p in TSL_PARAMETERS} | {"directions": DIRECTIONS} | given
    return FitOptions(**values)


def new_fit(data, **given):
    workers = SerialWorkers(np.zeros(1, dtype=bool))
    asked = options(**{"main_effects": False} | given)
    return JointFit(data, asked, np.random.SeedSequence(0), workers, asked.main_effects is True)


def random_branch(sign, rng):
    """Curves of any shape, flat on the axis on which all rows are alike."""
    curves = [rng.normal(0, 0.3, axis.n_bins) * (j != 2) for j, axis in enumerate(AXES)]
    return Branch(sign, 0.0, np.concatenate(curves))


def started(data, **given):
    """A stage of two products and a lone - product, before any sweep."""
    fit, rng = new_fit(data, **given), np.random.default_rng(1)
    fit._append(Stage(random_branch(1.0, rng), random_branch(-1.0, rng)), None)
    fit._append(Stage(None, random_branch(-1.0, rng)), None)
    return fit


def split(data, flat):
    """A flat array (..., n_flat) as one array per axis."""
    return np.split(flat, data.bins.offset[1:-1], axis=-1)


def twin(fit, data, directions=DIRECTIONS, **rules):
    """The oracle's view of the same fit."""
    axes = [
        naive_sweep.Axis(data.codes[:, j], axis.n_bins, data.bins.n_ordered[j], directions[j])
        for j, axis in enumerate(AXES)
    ]
    stages = [
        naive_sweep.Stage(
            split(data, stage.curves.copy()), stage.scale.copy(), tuple(stage.present),
            list(stage.penalties.copy()), stage.freedom.copy(), stage.active.copy(),
            stage.reach.copy(),
        )
        for stage in fit.curves.stages
    ]  # fmt: skip
    own = fit.curves.effects.copy()
    values = split(data, own.values)
    effects = naive_sweep.Effects(values, own.active, own.penalties, own.freedom)
    return naive_sweep.Fit(
        axes, list(fit._axes.order), data.weight, data.target, stages,
        naive_sweep.Rules(**rules), fit.curves.intercept, effects=effects,
    )  # fmt: skip
