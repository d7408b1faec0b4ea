"""Generalised additive model of pyGAM, splines of every feature."""

from __future__ import annotations

from typing import Any

import numpy as np

from benchmarks.rivals.interface import Rival
from benchmarks.tasks import CLASSES, COUNTS, REGRESSION


def make(parameters: dict[str, Any], seed: int) -> Any:  # noqa: ARG001
    from pygam import LinearGAM

    return LinearGAM(**parameters)


class _TwoClasses:
    """pyGAM gives the probability of the second class alone."""

    def __init__(self, model: Any) -> None:
        self.model = model

    def fit(self, X: Any, y: np.ndarray) -> _TwoClasses:
        self.model.fit(X, y)
        return self

    def predict_proba(self, X: Any) -> np.ndarray:
        second = np.asarray(self.model.predict_proba(X), dtype=float)
        return np.column_stack([1.0 - second, second])


class _Counts:
    """pyGAM takes exposures, not their logs."""

    def __init__(self, model: Any) -> None:
        self.model = model

    def fit(self, X: Any, y: np.ndarray, offset: np.ndarray | None = None) -> _Counts:
        self.model.fit(X, y, exposure=None if offset is None else np.exp(offset))
        return self

    def predict(self, X: Any, offset: np.ndarray | None = None) -> np.ndarray:
        return self.model.predict(X, exposure=None if offset is None else np.exp(offset))


def classes(parameters: dict[str, Any], seed: int) -> Any:  # noqa: ARG001
    from pygam import LogisticGAM

    return _TwoClasses(LogisticGAM(**parameters))


def counts(parameters: dict[str, Any], seed: int) -> Any:  # noqa: ARG001
    from pygam import PoissonGAM

    return _Counts(PoissonGAM(**parameters))


MAKERS = {REGRESSION: make, CLASSES: classes, COUNTS: counts}
RIVALS = (
    Rival("pygam", MAKERS, ("pygam",), takes_levels=False, takes_missing=False, most_classes=2),
)
