"""Where the learning of smoothness starts, or what replaces it."""

from __future__ import annotations

import numpy as np

from seplearn.fitting.options import AllRows
from seplearn.kernels.arrays import FloatArray
from seplearn.kernels.block import FIRST, SECOND, SIZE

# Relative to the curvature of the loss along the curve; chosen over all datasets at once, see
# docs/why-it-is-built-so.md. Differences are between neighbouring bins, so a curve over few bins
# has large ones and starts with a smaller penalty.
_FIRST_START = 3e-4 / 255
_SECOND_START = 3e-5 / 255
_SIZE_START = 1e-5
_LEVEL_START = 1e-2  # levels have no neighbours to be compared with: they start close to neutral
# With many features for few rows every curve must start stiff: curves that all fit the noise a
# little leave no residual from which the noise could be learned.
_ROWS_PER_FEATURE = 500.0
_STIFFNESS = 1.5
_NEGLIGIBLE = 1e-9


def starting_penalties(data: AllRows) -> FloatArray:
    """Starting mu of a new stage, shape (p, 2, 3); they are learned from there on."""
    bins = data.bins.sizes
    crowding = _ROWS_PER_FEATURE * data.bins.n_axes / data.mass
    stiffness = max(1.0, crowding) ** _STIFFNESS
    mu = np.empty((data.bins.n_axes, 2, 3))
    mu[..., FIRST] = (_FIRST_START * bins * stiffness)[:, None]
    mu[..., SECOND] = (_SECOND_START * bins * stiffness)[:, None]
    size = np.where(data.bins.is_categorical, _LEVEL_START, _SIZE_START)
    mu[..., SIZE] = (size * stiffness)[:, None]
    return mu


def fixed_penalties(data: AllRows, smoothness: float) -> FloatArray:
    """The same roughness penalty for all curves, shape (p, 2, 3).

    It is the integral of the squared slope over an axis of unit length, discretised; hence the
    square of the number of bins.
    """
    bins = data.bins.sizes
    mu = np.full((data.bins.n_axes, 2, 3), _NEGLIGIBLE)
    mu[..., FIRST] = np.maximum(smoothness * bins / 255.0**2, _NEGLIGIBLE)[:, None]
    mu[..., SIZE] = _SIZE_START
    return mu
