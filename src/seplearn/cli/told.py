"""What the commands say of a model: its stages in words, what matters, how good it is."""

from __future__ import annotations

import numpy as np

from seplearn import explain
from seplearn.cli.text import number, shortened, table, wrapped_table
from seplearn.estimator import SeparationEstimator
from seplearn.explain.axes import count, percent
from seplearn.model.evaluation import Evaluation

_MOST_FEATURES = 20
_SMALLEST = 0.001  # smaller stages are told together


def model_text(model: SeparationEstimator) -> str:
    """Stages and features in tables; needs the reference rows of the model."""
    if model.model_.is_constant:
        return f"The model is a constant: {number(model.intercept_)}. No feature helps to predict."
    if model.model_.reference is None:
        return (
            f"{len(model.stages_)} stages. What they do is told over reference rows, and this "
            "model keeps none (background size 0)."
        )
    return f"{_stages(model)}\n\n{_features(model)}"


def _stages(model: SeparationEstimator) -> str:
    roles = explain.roles(model)
    ordered = sorted(roles.stages, key=lambda stage: -stage.weight)
    told = [stage for stage in ordered if stage.weight >= _SMALLEST]
    rows = [(str(stage.stage), percent(stage.weight), stage.sentence) for stage in told]
    if roles.effects:
        effects = f"main effects: {', '.join(roles.effects)}"
        rows.insert(0, ("", percent(roles.effects_weight), effects))
    rest = len(ordered) - len(told)
    if rest:
        share = sum(stage.weight for stage in ordered[len(told) :])
        rows.append(("", percent(share), f"{count(rest, 'smaller stage')} together"))
    return wrapped_table(("stage", "size", "what it does"), rows)


def _features(model: SeparationEstimator) -> str:
    shares = explain.interactions(model)
    order = np.argsort(-shares.total, kind="stable")
    rows = [
        (shortened(shares.names[j]), percent(shares.total[j]), percent(shares.main[j]))
        for j in order[:_MOST_FEATURES]
    ]
    head = ("feature", "share of the variance", "of which alone")
    text = table(head, rows, right=(1, 2))
    rest = len(order) - len(rows)
    return text + (f"\nand {rest} more features" if rest > 0 else "")


def evaluation_text(evaluation: Evaluation) -> str:
    """Errors on one line."""
    return (
        f"RMSE {number(evaluation.rmse)}, mean absolute error {number(evaluation.mae)}, "
        f"R\u00b2 {evaluation.r2:.3f} on {evaluation.n_rows:,} rows"
    )
