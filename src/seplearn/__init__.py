"""Separation learning: glass-box models that are sums of products of one-dimensional curves."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from seplearn import datasets, explain, report
    from seplearn import plots as plots  # not in __all__: importing all must not need matplotlib
    from seplearn._errors import ModelFormatError
    from seplearn.editing import Edit, EditEffect
    from seplearn.estimators.class_view import ClassView
    from seplearn.estimators.classifier import TSLClassifier
    from seplearn.estimators.load import load_model
    from seplearn.estimators.merge import merge
    from seplearn.estimators.sepals import SepALSRegressor
    from seplearn.estimators.tsl import TSLRegressor
    from seplearn.export.scorecard import Scorecard
    from seplearn.model import (
        Branch,
        ClassEvaluation,
        ClassModels,
        Confusion,
        EditRecord,
        Evaluation,
        Provenance,
        SeparationModel,
        SizePath,
        Stage,
        StageRecord,
    )

__version__ = "0.2.0"

__all__ = [
    "Branch",
    "ClassEvaluation",
    "ClassModels",
    "ClassView",
    "Confusion",
    "Edit",
    "EditEffect",
    "EditRecord",
    "Evaluation",
    "ModelFormatError",
    "Provenance",
    "Scorecard",
    "SepALSRegressor",
    "SeparationModel",
    "SizePath",
    "Stage",
    "StageRecord",
    "TSLClassifier",
    "TSLRegressor",
    "__version__",
    "datasets",
    "explain",
    "load_model",
    "merge",
    "report",
]

# Names are fetched when they are first used: scikit-learn and numba take a second to import.
_PLACES = {
    "Branch": "seplearn.model",
    "ClassEvaluation": "seplearn.model",
    "ClassModels": "seplearn.model",
    "ClassView": "seplearn.estimators.class_view",
    "Confusion": "seplearn.model",
    "Edit": "seplearn.editing",
    "EditEffect": "seplearn.editing",
    "EditRecord": "seplearn.model",
    "Evaluation": "seplearn.model",
    "ModelFormatError": "seplearn._errors",
    "Scorecard": "seplearn.export.scorecard",
    "SepALSRegressor": "seplearn.estimators.sepals",
    "SeparationModel": "seplearn.model",
    "Stage": "seplearn.model",
    "Provenance": "seplearn.model",
    "SizePath": "seplearn.model",
    "StageRecord": "seplearn.model",
    "TSLClassifier": "seplearn.estimators.classifier",
    "TSLRegressor": "seplearn.estimators.tsl",
    "load_model": "seplearn.estimators.load",
    "merge": "seplearn.estimators.merge",
}
_MODULES = ("datasets", "explain", "plots", "report")


def __getattr__(name: str) -> Any:
    if name in _MODULES:
        return import_module(f"seplearn.{name}")
    if name not in _PLACES:
        raise AttributeError(f"module 'seplearn' has no attribute {name!r}")
    value = getattr(import_module(_PLACES[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*__all__, "plots"})
