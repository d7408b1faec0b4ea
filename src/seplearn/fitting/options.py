"""What a fit is asked to do, after validation: plain values with the paper's meaning."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Literal

import numpy as np

from seplearn.fitting.losses import Loss
from seplearn.kernels.arrays import CodeArray, FloatArray, IntArray, SortedRows
from seplearn.kernels.sums import sort_by_bin
from seplearn.table.binning import Bins

Anchor = Literal["medoid", "centroid"]
Scalars = Literal["nnls", "ols"]
Products = Literal["difference", "single"]
Refine = Literal["joint", "scalars"]


@dataclass(frozen=True)
class FitOptions:
    """The hyperparameters of the algorithm; :class:`seplearn.TSLRegressor` explains each."""

    n_stages: int
    n_grids: int
    n_splits: int
    decay: float
    split_try: int
    colsample: float
    min_interval_samples: int
    min_gain: float
    ridge: float
    update_clamp: float
    anchor: Anchor
    trim: float
    bootstrap: bool
    loss: Loss
    products: Products
    scalars: Scalars
    fit_intercept: bool
    refine: Refine
    main_effects: bool
    n_starts: int
    smoothness: Literal["auto"] | float
    energy: float
    keep_bags: bool
    directions: tuple[int, ...]  # of every axis: 1 increasing, -1 decreasing, 0 free


@dataclass(frozen=True, eq=False)
class TrainingData:
    """Rows as bin codes, a target of unit weighted standard deviation, and positive weights."""

    bins: Bins
    codes: CodeArray
    target: FloatArray
    weight: FloatArray

    def rows(self, chosen: IntArray) -> TrainingData:
        """Some of the rows, on the same bins, whose frequencies are then those of these rows."""
        codes = np.ascontiguousarray(self.codes[chosen])
        weight = self.weight[chosen]
        return TrainingData(self.bins.counted(codes, weight), codes, self.target[chosen], weight)

    @cached_property
    def sorted_rows(self) -> SortedRows:
        """Rows sorted by bin on every axis; all bags pick from it."""
        return sort_by_bin(self.codes, self.bins.offset)
