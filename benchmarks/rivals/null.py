"""What any model must beat: the mean of the training target, or what stands for it in a task."""

from __future__ import annotations

from typing import Any

from benchmarks.rivals.interface import Rival
from benchmarks.rivals.rates import Rates
from benchmarks.tasks import CLASSES, COUNTS, QUANTILES, REGRESSION


def make(parameters: dict[str, Any], seed: int) -> Any:  # noqa: ARG001
    from sklearn.dummy import DummyRegressor

    return DummyRegressor(**parameters)


def classes(parameters: dict[str, Any], seed: int) -> Any:
    from sklearn.dummy import DummyClassifier

    return DummyClassifier(random_state=seed, **parameters)


def counts(parameters: dict[str, Any], seed: int) -> Any:
    return Rates(make(parameters, seed))


def quantile(parameters: dict[str, Any], seed: int) -> Any:
    return make({"strategy": "quantile", "quantile": parameters.pop("level")} | parameters, seed)


MAKERS = {REGRESSION: make, CLASSES: classes, COUNTS: counts, QUANTILES: quantile}
RIVALS = (Rival("mean", MAKERS, ("scikit-learn",)),)
