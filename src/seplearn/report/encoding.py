"""Arrays as texts, as the scripts of the page read them."""

from __future__ import annotations

import base64
from typing import Any

import numpy as np

from seplearn.kernels.arrays import FloatArray


def encoded(value: Any) -> Any:
    """A description in which arrays are texts."""
    if isinstance(value, dict):
        return {key: encoded(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [encoded(item) for item in value]
    if not isinstance(value, np.ndarray):
        return value
    return _bytes(value.astype(np.uint8)) if value.dtype == np.bool_ else doubles(value)


def doubles(values: FloatArray) -> str:
    """Eight bytes a number, little-endian, in base64: exact, infinities included, and short."""
    return _bytes(np.asarray(values, dtype="<f8"))


def rounded(values: FloatArray) -> dict[str, Any]:
    """Numbers for drawing, in 65,536 steps."""
    low, high = float(values.min()), float(values.max())
    step = (high - low) / 65_535.0 or 1.0
    steps = np.round((values - low) / step).astype("<u2")
    return {"low": low, "step": step, "data": _bytes(steps)}


def _bytes(values: np.ndarray[Any, Any]) -> str:
    return base64.b64encode(values.tobytes()).decode("ascii")
