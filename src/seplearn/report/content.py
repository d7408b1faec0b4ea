"""What the page shows, as plain numbers and texts: the model's tables and its explanations."""

from __future__ import annotations

from importlib.metadata import version
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from seplearn import explain
from seplearn._errors import wrong_type
from seplearn._rules import Interval
from seplearn.estimators.base import SeparationEstimator
from seplearn.explain.subject import Subject
from seplearn.export.describe import describe
from seplearn.kernels.arrays import FloatArray
from seplearn.model.reference import Reference
from seplearn.report.cards import page_cards
from seplearn.report.encoding import encoded, rounded
from seplearn.report.rows import given_rows, reference_rows
from seplearn.table.columns import Table, open_table, read_target

_N_BACKGROUND = 1_000
_FEWEST_BACKGROUND = 100  # fewer rows say nothing about what matters
_N_PAIRS = 10
_MOST_CLASSES = 2


def page_content(
    model: Any, X: Any, y: Any, offset: Any, title: str | None, n_rows: int, random_state: int
) -> dict[str, Any]:
    """Everything the scripts of the page read."""
    _check(model, X, y, n_rows)
    outcomes = None if y is None else _known_or_nan(model, y)
    table = None if X is None else open_table(X)
    background = model.model_.reference
    if table is not None and (background is None or table.n_rows >= _FEWEST_BACKGROUND):
        background = _drawn(model, table, random_state)
    name = model.target_name_ or "the target"
    names = model.stage_names_
    description = describe(model.model_, model._schema.labels)
    return {
        "title": title or f"What the model says about {name}",
        "target": name,
        "library": version("seplearn"),
        "kind": model._kind,
        "intercept": description["intercept"],
        "effects": encoded(description["effects"]),
        "effect_bands": _effect_bands(model),
        "features": [encoded(feature) for feature in description["features"]],
        "stages": [
            encoded(_page_stage(stage)) | {"name": names[s], "bands": _bands(model, s)}
            for s, stage in enumerate(description["stages"])
        ],
        "quality": _qualities(model, X, y, outcomes, offset),
        **_meaning(model, background),
        **_explained(model, background),
        "rows": reference_rows(model.model_, n_rows)
        if table is None
        else given_rows(model, table, outcomes, n_rows, random_state),
        "rows_are": "reference" if table is None else "given",
    }


def _check(model: Any, X: Any, y: Any, n_rows: int) -> None:
    if not isinstance(model, SeparationEstimator):
        raise wrong_type("model", "a fitted estimator of seplearn", model)
    check_is_fitted(model)
    n_classes = len(getattr(model, "classes_", ()))
    if n_classes > _MOST_CLASSES:
        raise ValueError(f"the page shows classifiers of two classes, got {n_classes} classes")
    if X is None and y is not None:
        raise ValueError("y must come with X, the rows it belongs to")
    Interval(0, whole=True).check("n_rows", n_rows)


def _drawn(model: SeparationEstimator, table: Table, seed: int) -> Reference:
    """Rows of a table over which sizes are taken; few enough for exact averages."""
    codes = model._codes_of(table)
    if len(codes) > _N_BACKGROUND:
        draw = np.random.default_rng(seed).choice(len(codes), _N_BACKGROUND, replace=False)
        codes = codes[np.sort(draw)]
    return Reference(codes, np.full(len(codes), 1.0 / len(codes)))


def _spread(values: FloatArray) -> float:
    size = float(np.abs(values).max()) or 1.0  # squares of large targets overflow
    return size * float(np.std(values / size))


def _known_or_nan(model: SeparationEstimator, y: Any) -> FloatArray:
    """Outcomes as numbers, of a classifier 0 and 1; NaN where one is not known."""
    return np.asarray(read_target(model._outcomes(y)), dtype=np.float64)


def _meaning(model: SeparationEstimator, background: Reference | None) -> dict[str, Any]:
    """What the sum of all parts is, and what the link makes of it."""
    subject, link = Subject.of(model), model.model_.link
    sums = None if background is None else model.model_.predict(background.codes)
    offset = model.offset_column_
    return {
        "link": link.name,
        "quantity": subject.quantity,
        "response": subject.response,
        "spread": None if sums is None else _spread(sums),
        "response_spread": None if sums is None else _spread(link.inverse(sums)),
        "classes": [str(label) for label in getattr(model, "classes_", ())] or None,
        "offset": None if offset is None else offset._asdict(),
    }


def _qualities(
    model: SeparationEstimator, X: Any, y: Any, outcomes: FloatArray | None, offset: Any
) -> list[dict[str, Any]]:
    """Errors on the rows given, and those remembered by the model."""
    given, kept = [], model.evaluation_
    if outcomes is not None and not np.isnan(outcomes).all():
        given = [model.evaluate(X, y, offset=offset).to_plain() | {"where": "given"}]
    return given if kept is None else [*given, kept.to_plain() | {"where": "kept"}]


def _page_stage(description: dict[str, Any]) -> dict[str, Any]:
    """A stage as the page has it: of two products it makes the factors of backbone and tilt."""
    if description["kind"] != "two products":
        return description
    return description | {
        "products": [part | {"log_factors": None} for part in description["products"]]
    }


def _bands(model: SeparationEstimator, s: int) -> dict[str, Any]:
    """Bands of the curves by which a stage is read."""
    curves = explain.curves(model, s)
    bands: dict[str, Any] = {}
    for part in ("backbone", "tilt"):
        if part in curves[0].bands:
            ends = np.concatenate([curve.bands[part] for curve in curves], axis=1)
            bands[part] = rounded(np.log(ends) if part == "backbone" else ends)
    return bands


def _effect_bands(model: SeparationEstimator) -> dict[str, Any] | None:
    """Bands of the main effects, if there are any."""
    if model.model_.effects is None or not model.model_.replicates:
        return None
    return rounded(np.concatenate(explain.main_effects(model).bands, axis=1))


def _explained(model: SeparationEstimator, background: Reference | None) -> dict[str, Any]:
    """Explanations that average over rows; None where there are no rows to average over."""
    if background is None:
        return dict.fromkeys(("summary", "roles", "effect_roles", "matters", "pairs", "cards"))
    roles = explain.roles(model, background=background)
    summary = explain.summary(model, background=background)
    together = summary.interactions
    paper = explain.importance(model, kind="paper", background=background)
    first, second = np.triu_indices(len(together.names), 1)
    order = np.argsort(-together.pairwise[first, second], kind="stable")[:_N_PAIRS]
    return {
        "summary": [
            {"heading": heading, "sentences": list(sentences)}
            for heading, sentences in summary.sections
        ],
        "roles": [
            {
                "sentence": stage.sentence,
                "weight": stage.weight,
                "roles": [role.role for role in stage.features],
                "strength": [max(role.scaling, role.directing) for role in stage.features],
            }
            for stage in roles.stages
        ],
        "effect_roles": {"features": list(roles.effects), "weight": roles.effects_weight},
        "matters": {
            "main": together.main.tolist(),
            "total": together.total.tolist(),
            "importance": summary.importance.values.tolist(),
            "backbone": paper.total_backbone.tolist(),
            "tilt": paper.total_tilt.tolist(),
        },
        "cards": page_cards(Subject.of(model), summary, background),
        "pairs": [
            [int(first[k]), int(second[k]), float(together.pairwise[first[k], second[k]])]
            for k in order
        ],
    }
