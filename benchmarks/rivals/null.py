"""The mean of the training target: what any model must beat."""

from __future__ import annotations

from typing import Any

from benchmarks.rivals.interface import Rival


def make(parameters: dict[str, Any], seed: int) -> Any:  # noqa: ARG001
    from sklearn.dummy import DummyRegressor

    return DummyRegressor(**parameters)


RIVALS = (Rival("mean", make, ("scikit-learn",)),)
