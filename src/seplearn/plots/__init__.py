"""Figures of explanations. Needs matplotlib: ``pip install 'seplearn[plots]'``.

Every function takes an explanation, or an evaluation, and ``ax``, and returns the Axes given or a
new figure; none touches pyplot or its settings. ``explanation.plot(...)`` calls the right one.
"""

from seplearn.plots.bags import plot_bags
from seplearn.plots.card import plot_card
from seplearn.plots.class_importance import plot_class_importance
from seplearn.plots.class_response import plot_class_response
from seplearn.plots.compare import plot_comparison
from seplearn.plots.counterfactual import plot_counterfactual
from seplearn.plots.curves import plot_curve, plot_curves
from seplearn.plots.decisions import plot_decisions
from seplearn.plots.dependence import plot_partial_dependence
from seplearn.plots.drift import plot_drift
from seplearn.plots.effects import plot_main_effects
from seplearn.plots.evaluation import (
    plot_calibration,
    plot_confusion,
    plot_gain,
    plot_precision_recall,
    plot_roc,
)
from seplearn.plots.ice import plot_ice
from seplearn.plots.importance import plot_importance, plot_paper_importance
from seplearn.plots.interactions import plot_interactions
from seplearn.plots.local import plot_local
from seplearn.plots.maps import plot_map
from seplearn.plots.reconstruction import plot_reconstruction
from seplearn.plots.response import plot_response
from seplearn.plots.roles import plot_roles
from seplearn.plots.segments import plot_segments
from seplearn.plots.shapley import plot_shapley
from seplearn.plots.size_path import plot_size_path
from seplearn.plots.stability import plot_stability
from seplearn.plots.stages import plot_stages
from seplearn.plots.summary import plot_summary
from seplearn.plots.tilt import plot_tilt

__all__ = [
    "plot_bags",
    "plot_calibration",
    "plot_card",
    "plot_class_importance",
    "plot_class_response",
    "plot_comparison",
    "plot_confusion",
    "plot_counterfactual",
    "plot_curve",
    "plot_curves",
    "plot_decisions",
    "plot_drift",
    "plot_gain",
    "plot_ice",
    "plot_importance",
    "plot_interactions",
    "plot_local",
    "plot_main_effects",
    "plot_map",
    "plot_paper_importance",
    "plot_partial_dependence",
    "plot_precision_recall",
    "plot_reconstruction",
    "plot_response",
    "plot_roc",
    "plot_roles",
    "plot_segments",
    "plot_shapley",
    "plot_size_path",
    "plot_stability",
    "plot_stages",
    "plot_summary",
    "plot_tilt",
]
