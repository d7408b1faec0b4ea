"""How certain a classifier may be: one factor on its log-odds, by rows that were held out.

Penalties and the restraint on certain rows leave log-odds too small where classes are nearly told
apart; many curves on few rows make them too large. Rows that the model never saw know how much.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.optimize import brentq
from scipy.special import softmax

from seplearn.kernels.arrays import FloatArray, IntArray

# Held-out rows that are all told apart would ask for any factor.
_LEAST, _MOST = 0.5, 2.0
_LARGEST, _SMALLEST = 1e100, 1e-100  # log-odds and curvatures whose squares are numbers
_DIGITS = 3  # of the factor; what rounding does to the sums over rows must not change it


class _Slopes(NamedTuple):
    """First and second derivatives of the log-loss of every row by the factor."""

    first: FloatArray
    second: FloatArray


def certainty(
    sums: FloatArray, target: FloatArray, weight: FloatArray, offset: FloatArray
) -> float:
    """The factor on the log-odds of a model that held-out rows ask for.

    Its distance from one is multiplied by 1 - (standard error / distance)**2, at least by zero: so
    it is one where the rows do not clearly ask for another. The standard error is the larger of
    what the rows show and what the model says they should; rows that are all told apart show none.

    Parameters
    ----------
    sums : array of shape (n,) or (n, K)
        Log-odds of class 1, or the sums of every class, as the model predicts them.
    target : array of shape (n,)
        Number of the class that happened.
    weight : array of shape (n,)
        Weights of the rows; one of weight 2 is two rows.
    offset : array of shape (n,)
        What is added to the log-odds of class 1 besides, and has no factor.
    """
    if sums.ndim == 1:
        sums, offsets = _of_two(sums), _of_two(offset)
    else:
        offsets = np.zeros_like(sums)
    if not np.abs(sums).max() < _LARGEST:  # nor is NaN
        return 1.0
    label = target.astype(np.int64)

    def slope(factor: float) -> float:
        return float(weight @ _slopes(factor, sums, offsets, label).first)

    # The loss is convex in the factor.
    if slope(_LEAST) >= 0.0:
        found = _LEAST
    elif slope(_MOST) <= 0.0:
        found = _MOST
    else:
        found = float(brentq(slope, _LEAST, _MOST))
    first, second = _slopes(found, sums, offsets, label)
    bend = float(weight @ second)
    if bend < _SMALLEST or found == 1.0:
        return 1.0
    variance = max(float(weight @ first**2) / bend, 1.0) / bend
    certain = max(1.0 - variance / (found - 1.0) ** 2, 0.0)
    return round(1.0 + certain * (found - 1.0), _DIGITS)


def _of_two(log_odds: FloatArray) -> FloatArray:
    """Sums of both classes whose difference is the log-odds of class 1."""
    return np.column_stack([np.zeros_like(log_odds), log_odds])


def _slopes(factor: float, sums: FloatArray, offsets: FloatArray, label: IntArray) -> _Slopes:
    share = softmax(factor * sums + offsets, axis=1)
    mean = (share * sums).sum(axis=1)
    own = sums[np.arange(len(label)), label]
    return _Slopes(mean - own, (share * (sums - mean[:, None]) ** 2).sum(axis=1))
