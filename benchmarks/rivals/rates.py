"""Counts with exposures for models that know no offset."""

from __future__ import annotations

from typing import Any

import numpy as np


class Rates:
    """Counts by a model of rates, in which a row weighs its exposure.

    For a Poisson model with a log link this is the same as the log of the exposure as an offset.

    Parameters
    ----------
    model : estimator
        Its ``fit`` takes weights.
    weights : str
        The name that ``fit`` knows them by.
    """

    def __init__(self, model: Any, weights: str = "sample_weight") -> None:
        self.model, self._weights = model, weights

    def fit(self, X: Any, y: np.ndarray, offset: np.ndarray | None = None) -> Rates:
        if offset is None:
            self.model.fit(X, y)
        else:
            exposure = np.exp(offset)
            self.model.fit(X, y / exposure, **{self._weights: exposure})
        return self

    def predict(self, X: Any, offset: np.ndarray | None = None) -> np.ndarray:
        rates = np.asarray(self.model.predict(X), dtype=float)
        return rates if offset is None else rates * np.exp(offset)
