"""The fitted model: immutable stages on bins; it predicts and knows nothing of fitting."""

from seplearn.model.classes import ClassModels
from seplearn.model.evaluation import ClassEvaluation, Confusion, Evaluation
from seplearn.model.model import SeparationModel
from seplearn.model.provenance import Provenance
from seplearn.model.record import EditRecord, SizePath, StageRecord
from seplearn.model.stage import Branch, Stage

__all__ = [
    "Branch",
    "ClassEvaluation",
    "ClassModels",
    "Confusion",
    "EditRecord",
    "Evaluation",
    "Provenance",
    "SeparationModel",
    "SizePath",
    "Stage",
    "StageRecord",
]
