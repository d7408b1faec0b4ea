"""Bins in words and numbers: what frames and figures show of an axis."""

from __future__ import annotations

from typing import Any

import numpy as np

from seplearn.kernels.arrays import FloatArray
from seplearn.table.binning import Axis, CategoricalAxis, NumericAxis

RARE, MISSING, UNSEEN = "(rare)", "(missing)", "(unseen)"


def level_names(axis: CategoricalAxis) -> list[str]:
    """A name per bin."""
    return [*axis.levels, RARE, MISSING, UNSEEN]


def outer_bounds(axis: NumericAxis) -> tuple[float, float]:
    """Where the first bin begins and the last ends, for showing: as wide as their neighbours."""
    if axis.values is not None:
        finite = axis.values[np.isfinite(axis.values)]
        edges = axis.edges[np.isfinite(axis.edges)]
        if len(edges) and len(finite):
            return float(2 * finite[0] - edges[0]), float(2 * finite[-1] - edges[-1])
        return (float(finite[0]) - 0.5, float(finite[0]) + 0.5) if len(finite) else (0.0, 1.0)
    edges = axis.edges[np.isfinite(axis.edges)]
    if len(edges) == 0:
        return 0.0, 1.0
    if len(edges) == 1:
        margin = 0.5 * abs(float(edges[0])) or 1.0
        return float(edges[0]) - margin, float(edges[0]) + margin
    return float(2 * edges[0] - edges[1]), float(2 * edges[-1] - edges[-2])


def bin_bounds(axis: NumericAxis) -> FloatArray:
    """Finite bounds of the ordered bins, one more than there are bins."""
    low, high = outer_bounds(axis)
    bounds = np.concatenate([[low], axis.edges, [high]])
    finite = bounds[np.isfinite(bounds)]
    clipped: FloatArray = np.clip(bounds, finite.min(), finite.max())
    return clipped


def bin_values(axis: Axis) -> Any:
    """A value in every bin: the only one, the middle, the level; NaN for missing numbers."""
    if isinstance(axis, CategoricalAxis):
        return np.array(level_names(axis), dtype=object)
    if axis.values is not None:
        return np.append(axis.values, np.nan)
    bounds = bin_bounds(axis)
    return np.append(bounds[:-1] / 2 + bounds[1:] / 2, np.nan)


def value_text(axis: Axis, code: int) -> str:
    """A bin for a label: a level, a value, or the interval of a bin."""
    if isinstance(axis, CategoricalAxis):
        return level_names(axis)[code]
    if code == len(axis.edges) + 1:
        return MISSING
    if axis.values is not None:
        return f"{axis.values[code]:.4g}"
    low = "" if code == 0 else f"{axis.edges[code - 1]:.4g}"
    high = "" if code == len(axis.edges) else f"{axis.edges[code]:.4g}"
    if low and high:
        return f"{low} to {high}"
    return f">= {low}" if low else f"< {high}" if high else "any"
