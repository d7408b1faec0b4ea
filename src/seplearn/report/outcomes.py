"""Intervals of single outcomes, for the what-if panel: widths that the page can compute itself."""

from __future__ import annotations

from typing import Any

import numpy as np

from seplearn.estimators.base import SeparationEstimator, SeparationRegressor
from seplearn.kernels.arrays import FloatArray
from seplearn.model.model import SeparationModel
from seplearn.report.encoding import doubles

_LEVELS = (0.5, 0.8, 0.9, 0.95, 0.99)
_MEASURED = 0.9


def page_outcomes(model: SeparationEstimator) -> dict[str, Any] | None:
    """What makes the interval of a row; None where there are no intervals of outcomes."""
    fitted = model.model_
    if not isinstance(fitted, SeparationModel) or fitted.spread is None:
        return None
    spread, bins = fitted.spread, fitted.bins
    own = [(j, spread.curves[bins.axis(j)]) for j in range(bins.n_axes)]
    levels = [level for level in _LEVELS if level <= spread.highest_level]
    if not levels:
        return None
    return {
        "constant": spread.constant,
        "curves": [{"feature": j, "values": doubles(curve)} for j, curve in own if curve.any()],
        "edges": doubles(spread.edges),
        "by_prediction": doubles(spread.by_prediction),
        "least": spread.least,
        "most": spread.most,
        "levels": [{"level": level, "scores": list(spread.ends(level))} for level in levels],
    }


def outcome_coverage(
    model: SeparationEstimator, X: Any, outcomes: FloatArray, offset: Any
) -> dict[str, Any] | None:
    """How many of the outcomes given lie in their intervals, and how wide these are."""
    fitted = model.model_
    if not isinstance(model, SeparationRegressor) or getattr(fitted, "spread", None) is None:
        return None
    known = ~np.isnan(outcomes)
    if fitted.spread.highest_level < _MEASURED or not known.any():
        return None
    low, high = model.predict_interval(X, _MEASURED, offset=offset)[known].T
    inside = (low <= outcomes[known]) & (outcomes[known] <= high)
    return {
        "level": _MEASURED,
        "share": float(inside.mean()),
        "width": float(np.median(high - low)),
        "n_rows": int(known.sum()),
    }
