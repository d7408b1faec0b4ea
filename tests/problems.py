"""Small random problems for the property tests."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from hypothesis import strategies as st

from seplearn.fitting.options import TrainingData
from seplearn.kernels.arrays import RefineRules
from seplearn.table.binning import Bins, NumericAxis


@dataclass(frozen=True)
class Problem:
    """Binned rows with a target, weights and bootstrap counts."""

    codes: np.ndarray
    n_bins: list[int]
    residual: np.ndarray
    weight: np.ndarray
    count: np.ndarray
    rng: np.random.Generator
    categorical: np.ndarray
    unit: float = 0.7

    @property
    def offset(self):
        return np.cumsum([0, *self.n_bins])

    @property
    def data(self):
        frequencies = [
            np.bincount(self.codes[:, j], self.weight, minlength=b) / self.weight.sum()
            for j, b in enumerate(self.n_bins)
        ]
        axes = tuple(NumericAxis(np.arange(1.0, b - 1)) for b in self.n_bins)
        bins = Bins(axes, np.concatenate(frequencies))
        return TrainingData(bins, self.codes, self.residual, self.weight)

    def random_factors(self, spread=0.5):
        return [np.exp(self.rng.normal(0, spread, b)) for b in self.n_bins]


@st.composite
def problems(draw, max_rows=30, max_axes=3, max_bins=5, dtype=np.uint8):
    n = draw(st.integers(2, max_rows))
    p = draw(st.integers(1, max_axes))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    n_bins = [int(b) for b in rng.integers(2, max_bins + 1, size=p)]
    categorical = rng.random(p) < 0.4
    codes = np.stack([rng.integers(0, b, size=n) for b in n_bins], axis=1).astype(dtype)
    count = rng.integers(0, 4, size=n).astype(float)
    count[0] += 1.0
    return Problem(
        codes, n_bins, rng.normal(size=n), rng.uniform(0.2, 2.0, n), count, rng, categorical
    )


@st.composite
def rules(draw, /, **fixed):
    clamp = draw(st.sampled_from([0.3, 0.7, 3.0]))
    values = {
        "n_splits": 4,
        "n_columns": 10**6,
        "split_try": 10**6,
        "min_interval_samples": float(draw(st.integers(1, 4))),
        "min_gain": 1e-9,
        "ridge": draw(st.sampled_from([1e-6, 1e-2, 1.0])),
        "v_min": math.exp(-clamp),
        "v_max": math.exp(clamp),
        "threshold": draw(st.sampled_from([math.inf, 0.8])),
        "two_branches": draw(st.booleans()),
        "signed": draw(st.booleans()),
    }
    if values["signed"]:
        values["two_branches"] = False
    return RefineRules(**(values | fixed))


def random_curves(axis, present, rng):
    """Beta and delta, shape (2, n_bins): they keep the axis's constraint and are not flat."""
    beta, delta = rng.normal(0, 0.3, (2, axis.n_bins))
    logs = [beta + delta, beta - delta]
    for side, sign in ((0, axis.direction), (1, -axis.direction)):
        ordered = logs[side][: axis.n_ordered]  # a view: sorted in place
        if sign:
            ordered[:] = sign * np.sort(sign * ordered)
    if not all(present):
        return np.array([logs[0] if present[0] else logs[1], np.zeros(axis.n_bins)])
    return np.array([logs[0] + logs[1], logs[0] - logs[1]]) / 2
