"""Linear models of scikit-learn on splines of numbers and indicators of levels."""

from __future__ import annotations

from typing import Any

import numpy as np

from benchmarks.rivals.interface import Rival
from benchmarks.rivals.rates import Rates
from benchmarks.tasks import CLASSES, COUNTS, QUANTILES

_MOST_STEPS = 1000  # the default of 100 ends before the minimum


def _features() -> Any:
    """Splines of five knots, indicators of levels; a missing value has an indicator, too."""
    from sklearn.compose import make_column_selector, make_column_transformer
    from sklearn.feature_selection import VarianceThreshold
    from sklearn.impute import SimpleImputer
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import OneHotEncoder, SplineTransformer

    numbers, levels = (make_column_selector(dtype_include=kind) for kind in ("number", "category"))
    # A constant column has no splines.
    splines = make_pipeline(
        SimpleImputer(strategy="median", add_indicator=True), VarianceThreshold(),
        SplineTransformer(),
    )  # fmt: skip
    indicators = OneHotEncoder(handle_unknown="ignore")
    return make_column_transformer((splines, numbers), (indicators, levels))


class _Linear:
    """Features, then a linear model whose penalty is one over the number of rows.

    So is that of ``LogisticRegression()`` when its loss is taken as a mean. The other two have a
    default of 1, which shrinks all coefficients to nothing.
    """

    def __init__(self, model: Any) -> None:
        self.model, self.features = model, _features()

    def fit(self, X: Any, y: np.ndarray, **weights: np.ndarray) -> _Linear:
        if "alpha" in self.model.get_params():
            self.model.set_params(alpha=1.0 / len(y))
        self.model.fit(self.features.fit_transform(X), y, **weights)
        return self

    def predict(self, X: Any) -> np.ndarray:
        return self.model.predict(self.features.transform(X))

    def predict_proba(self, X: Any) -> np.ndarray:
        return self.model.predict_proba(self.features.transform(X))


def classes(parameters: dict[str, Any], seed: int) -> Any:
    from sklearn.linear_model import LogisticRegression

    fixed = {"max_iter": _MOST_STEPS, "random_state": seed}
    return _Linear(LogisticRegression(**(fixed | parameters)))


def counts(parameters: dict[str, Any], seed: int) -> Any:  # noqa: ARG001
    from sklearn.linear_model import PoissonRegressor

    return Rates(_Linear(PoissonRegressor(**({"max_iter": _MOST_STEPS} | parameters))))


def quantile(parameters: dict[str, Any], seed: int) -> Any:  # noqa: ARG001
    from sklearn.linear_model import QuantileRegressor

    level = parameters.pop("level")
    return _Linear(QuantileRegressor(**({"quantile": level} | parameters)))


MAKERS = {CLASSES: classes, COUNTS: counts, QUANTILES: quantile}
RIVALS = (Rival("linear with splines", MAKERS, ("scikit-learn",)),)
