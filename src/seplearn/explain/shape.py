"""Which bins of a feature are told of in words, and which way a curve goes along them."""

from __future__ import annotations

import numpy as np

from seplearn.explain.statements import CALM
from seplearn.kernels.arrays import FloatArray, IntArray
from seplearn.model.reading import turning_points
from seplearn.table.binning import Bins

_OUTERMOST = 0.01  # of the rows at either end, where a curve is a guess


def way_along(curve: FloatArray) -> str:
    """What a curve does as a whole: "rises", "falls", or nothing that can be said."""
    if turning_points(curve, CALM) or curve[0] == curve[-1]:
        return ""
    return "rises" if curve[-1] > curve[0] else "falls"


def shown_bins(bins: Bins, j: int) -> IntArray:
    """The bins with rows; of numbers, those between the outermost rows, missing values left out.

    All of them where there would be nothing to compare otherwise.
    """
    frequencies = bins.frequencies[bins.axis(j)]
    if bins.is_categorical[j]:
        return np.flatnonzero(frequencies > 0)
    ordered = frequencies[: int(bins.n_ordered[j])]
    below = np.cumsum(ordered)
    whole = float(below[-1]) if len(below) else 0.0
    inside = (below > _OUTERMOST * whole) & (below - ordered < (1.0 - _OUTERMOST) * whole)
    chosen = np.flatnonzero(inside & (ordered > 0))
    if len(chosen) < 2:  # a rare flag is set in fewer rows than are left out
        chosen = np.flatnonzero(ordered > 0)
    return chosen if len(chosen) > 1 else np.flatnonzero(frequencies > 0)
