"""One bagged grid: the rules it follows, and its curves."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from seplearn.fitting.options import FitOptions, TrainingData
from seplearn.kernels.arrays import BoolArray, Draws, FloatArray, RandomState, RefineRules
from seplearn.kernels.refine import fit_single_grid

_LARGEST_CLAMP = math.log(20.0)  # larger single updates make bags that cannot be averaged
# Share of a stage's energy added to every ridge. Where the two products are proportional, as in
# the first step of every grid, the 2x2 determinant is this ridge plus rounding noise.
_NUMERICAL_RIDGE = 1e-9


@dataclass(frozen=True, eq=False)
class Grid:
    """The curves of one grid tensor, as log-factors on the bins.

    Attributes
    ----------
    log_factors : array of shape (2, n_flat)
        Of the + and of the - product.
    negative : array of shape (n_flat,)
        Where the factor of a signed product is negative.
    scalars : array of shape (2,)
        lambda+ and lambda-; zero for an absent branch.
    n_actions : int
        Splits and resplits made.
    """

    log_factors: FloatArray
    negative: BoolArray
    scalars: FloatArray
    n_actions: int


def refine_rules(
    options: FitOptions,
    data: TrainingData,
    residual: FloatArray,
    branches: tuple[bool, bool],
    n_splits: int,
) -> RefineRules:
    """The hyperparameters of a single grid for one stage, in the units of the kernels."""
    p = data.bins.n_axes
    clamp = min(options.update_clamp, _LARGEST_CLAMP)
    energy = float(np.sum(data.weight * residual**2))
    return RefineRules(
        n_splits=n_splits,
        n_columns=max(1, math.floor(options.colsample * p + 1e-9)),
        split_try=options.split_try,
        min_interval_samples=float(options.min_interval_samples),
        min_gain=max(options.min_gain, 1e-15) * float(data.weight.sum()),
        ridge=options.ridge + _NUMERICAL_RIDGE * energy + np.finfo(float).tiny,
        v_min=math.exp(-clamp),
        v_max=math.exp(clamp),
        threshold=options.loss_function.suited_to(residual, data.weight).grid_threshold,
        two_branches=branches == (True, True),
        signed=options.products == "single",
    )


def fit_grid(
    data: TrainingData,
    residual: FloatArray,
    branches: tuple[bool, bool],
    draws: Draws,
    rules: RefineRules,
    random: RandomState,
    stop: BoolArray,
) -> Grid:
    """Fit one grid tensor to the outer residuals (Algorithm 1).

    ``branches`` says which of (+, -) the stage has. A negative-only stage is the positive-only
    stage of the mirrored residuals.
    """
    mirrored = branches == (False, True)
    log_factors, negative, scalars, n_actions = fit_single_grid(
        data.codes,
        data.bins.offset,
        data.bins.is_categorical,
        data.sorted_rows,
        -residual if mirrored else residual,
        draws,
        rules,
        random,
        stop,
    )
    if mirrored:
        log_factors, scalars = log_factors[::-1], scalars[::-1]
    return centred(Grid(log_factors, negative, scalars, n_actions), data)


def centred(grid: Grid, data: TrainingData) -> Grid:
    """Fix the gauge: every log-factor has mean zero on its axis, the rest goes into lambda."""
    log_factors, taken_off = data.bins.centred(grid.log_factors)
    scalars = grid.scalars * np.exp(taken_off)
    return Grid(log_factors, grid.negative, scalars, grid.n_actions)
