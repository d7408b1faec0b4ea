"""Whether a model may be relied on: for whom it is worse, and what its claims rest on."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from seplearn import explain
from seplearn._errors import wrong_type
from seplearn.estimators.base import SeparationEstimator
from seplearn.explain.segments import Segments
from seplearn.explain.stability import Stability

_MOST_PARTS = 10
_MOST_GROUPS = 50
_NUMBERS = (
    "error", "error_lower", "error_upper", "residual", "residual_lower", "residual_upper",
    "prediction", "outcome",
)  # fmt: skip


def check_trust(y: Any, by: Any, stability: Any) -> None:
    """Raise for arguments that cannot be told of, before any work."""
    if by is not None and not isinstance(by, str):
        raise wrong_type("by", "the name of a column of X, or None", by)
    if by is not None and y is None:
        raise ValueError(f"by must come with X and y, whose errors it divides, got {by!r} alone")
    if stability is not None and not isinstance(stability, Stability):
        raise wrong_type("stability", "what explain.stability returned, or None", stability)


def page_segments(
    model: SeparationEstimator, X: Any, y: Any, offset: Any, by: Any
) -> dict[str, Any]:
    """Where errors are largest, and the groups of a column."""
    groups = None if by is None else explain.segments(model, X, y, by=by, offset=offset)
    worst = explain.segments(model, X, y, offset=offset)
    worse = np.flatnonzero(worst.error > worst.overall).tolist()
    shown = [] if groups is None else list(range(len(groups.rows)))
    return {
        "worst": _told(worst, worse[:_MOST_PARTS]),
        "groups": None if groups is None else _told(groups, shown[:_MOST_GROUPS]),
    }


def _told(parts: Segments, shown: list[int]) -> dict[str, Any]:
    return {
        "measure": parts.measure,
        "overall": parts.overall,
        "n_rows": parts.n_rows,
        "n_parts": len(parts.rows),
        "outcome_is_share": parts.outcome_is_share,
        "is_of_likeliest": parts.is_of_likeliest,
        "parts": [
            {
                "feature": parts.features[k],
                "segment": parts.segments[k],
                "rows": int(parts.rows[k]),
                **{name: _finite(getattr(parts, name)[k]) for name in _NUMBERS},
            }
            for k in shown
        ],
    }


def _finite(value: float) -> float | None:
    return float(value) if math.isfinite(value) else None


def page_drift(model: SeparationEstimator, X: Any) -> dict[str, Any]:
    """Which features of the rows given are unlike those of the training rows."""
    drift, provenance = explain.drift(model, X), model.provenance_
    told = zip(drift.names, drift.verdicts, drift.reasons, strict=True)
    return {
        "n_rows": drift.n_rows,
        "weighted": provenance is not None and provenance.is_weighted,
        "features": [
            {"name": name, "verdict": verdict, "reason": reason}
            for name, verdict, reason in told
            if verdict != "ok"
        ],
    }


def page_stability(stability: Stability | None) -> dict[str, Any] | None:
    """Which statements hold in fits anew."""
    if stability is None:
        return None
    first, *others = stability.sentences
    return {"whole": first, "others": others}
