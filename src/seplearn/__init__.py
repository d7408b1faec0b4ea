"""Separation learning: glass-box models that are sums of products of one-dimensional curves."""

from seplearn import datasets, explain, report
from seplearn._errors import ModelFormatError
from seplearn.loading import load_model
from seplearn.model import Branch, Evaluation, SeparationModel, Stage, StageRecord
from seplearn.regressor import TSLRegressor
from seplearn.sepals import SepALSRegressor

__version__ = "0.1.0"

__all__ = [
    "Branch",
    "Evaluation",
    "ModelFormatError",
    "SepALSRegressor",
    "SeparationModel",
    "Stage",
    "StageRecord",
    "TSLRegressor",
    "__version__",
    "datasets",
    "explain",
    "load_model",
    "report",
]
