"""Explanations: a fitted model in, frozen results out; each is exact for the model.

Every result holds its numbers as attributes, gives them as a data frame with ``frame()`` and draws
them with ``plot()``. Stages are counted from zero, as in ``estimator.stages_``; features are given
by name or by position.
"""

from seplearn.explain.bags import BagCurves, bags
from seplearn.explain.card import FeatureCard, Partner, card
from seplearn.explain.class_importance import ClassImportance
from seplearn.explain.class_response import ClassResponse
from seplearn.explain.class_summary import ClassFeature, ClassSummary
from seplearn.explain.compare import Comparison, compare
from seplearn.explain.counterfactual import Counterfactual, counterfactual
from seplearn.explain.curves import Curve, StageCurves, curves
from seplearn.explain.decisions import Decisions, decisions
from seplearn.explain.dependence import PartialDependence, partial_dependence
from seplearn.explain.drift import Drift, drift
from seplearn.explain.effects import MainEffects, main_effects
from seplearn.explain.ice import IndividualExpectation, ice
from seplearn.explain.importance import Importance, importance
from seplearn.explain.interactions import Interactions, interactions
from seplearn.explain.local import LocalExplanation, local
from seplearn.explain.maps import StageMap, maps
from seplearn.explain.nearest import Change
from seplearn.explain.paper_importance import PaperImportance
from seplearn.explain.reconstruct import Reconstruction, reconstruct
from seplearn.explain.response import Response, response
from seplearn.explain.roles import FeatureRole, Roles, StageRoles, roles
from seplearn.explain.segments import Segments, segments
from seplearn.explain.shapley import ShapleyValues, shapley
from seplearn.explain.signs import SignChange
from seplearn.explain.size_path import SizeChoice, size_path
from seplearn.explain.stability import Stability, stability
from seplearn.explain.stages import StageContributions, stages
from seplearn.explain.statements import Statement
from seplearn.explain.summary import FeatureSummary, Summary, summary
from seplearn.explain.tilt import Flip, TiltDiagnostics, tilt

__all__ = [
    "BagCurves",
    "Change",
    "ClassFeature",
    "ClassImportance",
    "ClassResponse",
    "ClassSummary",
    "Comparison",
    "Counterfactual",
    "Curve",
    "Decisions",
    "Drift",
    "FeatureCard",
    "FeatureRole",
    "FeatureSummary",
    "Flip",
    "Importance",
    "IndividualExpectation",
    "Interactions",
    "LocalExplanation",
    "MainEffects",
    "PaperImportance",
    "PartialDependence",
    "Partner",
    "Reconstruction",
    "Response",
    "Roles",
    "Segments",
    "ShapleyValues",
    "SignChange",
    "SizeChoice",
    "Stability",
    "StageContributions",
    "StageCurves",
    "StageMap",
    "StageRoles",
    "Statement",
    "Summary",
    "TiltDiagnostics",
    "bags",
    "card",
    "compare",
    "counterfactual",
    "curves",
    "decisions",
    "drift",
    "ice",
    "importance",
    "interactions",
    "local",
    "main_effects",
    "maps",
    "partial_dependence",
    "reconstruct",
    "response",
    "roles",
    "segments",
    "shapley",
    "size_path",
    "stability",
    "stages",
    "summary",
    "tilt",
]
