"""Separation learning: glass-box models that are sums of products of one-dimensional curves."""

from seplearn import datasets, explain
from seplearn.fitting.stagewise import StageRecord
from seplearn.model import Branch, SeparationModel, Stage
from seplearn.regressor import TSLRegressor

__version__ = "0.1.0"

__all__ = [
    "Branch",
    "SeparationModel",
    "Stage",
    "StageRecord",
    "TSLRegressor",
    "__version__",
    "datasets",
    "explain",
]
