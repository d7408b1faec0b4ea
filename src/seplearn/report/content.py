"""What the page shows, as plain numbers and texts: the model's tables and its explanations."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from importlib.metadata import version
from typing import Any, TypeAlias

import numpy as np
from sklearn.utils.validation import check_is_fitted

from seplearn import explain
from seplearn._errors import wrong_type
from seplearn._rules import Interval
from seplearn.estimators.base import SeparationEstimator
from seplearn.estimators.class_view import ClassView
from seplearn.estimators.classifier import TSLClassifier
from seplearn.explain.class_summary import class_summary_of
from seplearn.explain.subject import Subject
from seplearn.explain.summary import summary_of_sum
from seplearn.export.describe import describe_feature, describe_stage
from seplearn.kernels.arrays import FloatArray
from seplearn.losses.links import class_shares
from seplearn.model.classes import ClassModels
from seplearn.model.evaluation import ClassEvaluation, Evaluation
from seplearn.model.reading import brief
from seplearn.model.reference import Reference
from seplearn.model.stage import Stage
from seplearn.report.cards import page_cards
from seplearn.report.encoding import encoded, rounded
from seplearn.report.outcomes import outcome_coverage, page_outcomes
from seplearn.report.rows import given_rows, reference_rows
from seplearn.report.trust import check_trust, page_drift, page_segments, page_stability
from seplearn.table.binning import Bins
from seplearn.table.columns import Table, open_table, read_target

_N_BACKGROUND = 1_000
_FEWEST_BACKGROUND = 100  # fewer rows say nothing about what matters
_N_PAIRS = 10

_Sum: TypeAlias = "SeparationEstimator | ClassView"  # what has one sum to explain


def page_content(
    model: Any,
    X: Any,
    y: Any,
    offset: Any,
    title: str | None,
    n_rows: int,
    random_state: int,
    by: Any = None,
    stability: Any = None,
) -> dict[str, Any]:
    """Everything the scripts of the page read; ``sums`` has one sum, or one for every class."""
    _check(model, X, y, n_rows)
    check_trust(y, by, stability)
    outcomes = None if y is None else _known_or_nan(model, y)
    table = None if X is None else open_table(X)
    background = model.model_.reference
    if table is not None and (background is None or table.n_rows >= _FEWEST_BACKGROUND):
        background = _drawn(model, table, random_state)
    name = model.target_name_ or "the target"
    bins, offset_column = model.model_.bins, model.offset_column_
    return {
        "title": title or f"What the model says about {name}",
        "target": name,
        "library": version("seplearn"),
        "kind": model._kind,
        "link": model.model_.link.name,
        "classes": [str(label) for label in getattr(model, "classes_", ())] or None,
        "offset": None if offset_column is None else offset_column._asdict(),
        "had_offsets": offset_column is not None or bool(model._had_offsets),
        "lacks_offsets": bool(model._had_offsets and offset is None and outcomes is not None),
        "features": [
            encoded(describe_feature(label, axis, bins.frequencies[bins.axis(j)]))
            for j, (label, axis) in enumerate(zip(model._schema.labels, bins.axes, strict=True))
        ],
        "whole": _whole(model, background),
        "sums": _sums(model, background),
        "outcomes": page_outcomes(model),
        "coverage": None if outcomes is None else outcome_coverage(model, X, outcomes, offset),
        "segments": None
        if outcomes is None or np.isnan(outcomes).all()
        else page_segments(model, X, y, offset, by),
        "drift": None if X is None else page_drift(model, X),
        "stability": page_stability(stability),
        "quality": _qualities(model, X, y, outcomes, offset),
        "rows": reference_rows(model.model_, n_rows)
        if table is None
        else given_rows(model, table, outcomes, n_rows, random_state),
        "edits": [{"what": record.what, "reason": record.reason} for record in model.edits_],
        "rows_are": "reference" if table is None else "given",
        "averaged_over": "reference" if background is model.model_.reference else "given",
    }


def _check(model: Any, X: Any, y: Any, n_rows: int) -> None:
    if not isinstance(model, SeparationEstimator):
        raise wrong_type("model", "a fitted estimator of seplearn", model)
    check_is_fitted(model)
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
    """Outcomes as numbers, of a classifier those of the classes; NaN where one is not known."""
    return np.asarray(read_target(model._outcomes(y)), dtype=np.float64)


def _whole(model: SeparationEstimator, background: Reference | None) -> list[dict[str, Any]] | None:
    """What tells several classes apart; of a model of one sum that is the summary of the sum."""
    models = model.model_
    if background is None or not isinstance(models, ClassModels) or models.is_constant:
        return None
    sections = class_summary_of(model, models, background).sections
    # The last sentence of the first section says how to ask for more in Python.
    told = [(sections[0][0], sections[0][1][:-1]), *sections[1:]]
    return _as_dicts(told)


def _as_dicts(sections: Iterable[tuple[str, Sequence[str]]]) -> list[dict[str, Any]]:
    return [{"heading": heading, "sentences": list(told)} for heading, told in sections]


def _sums(model: SeparationEstimator, background: Reference | None) -> list[dict[str, Any]]:
    """What the page tells of the only sum of a model, or of the score of every class."""
    sums = None if background is None else model.model_.predict(background.codes)
    if not isinstance(model, TSLClassifier) or not isinstance(model.model_, ClassModels):
        responses = None if sums is None else model.model_.link.inverse(sums)
        return [_sum(model, Subject.of(model).response, sums, responses, background)]
    shares = None if sums is None else class_shares(sums)
    return [
        _sum(
            model.for_class(label), f"probability of {brief(str(label))}",
            None if sums is None else sums[:, k], None if shares is None else shares[:, k],
            background,
        )
        for k, label in enumerate(model.classes_.tolist())
    ]  # fmt: skip


def _sum(
    view: _Sum,
    response: str,
    sums: FloatArray | None,
    responses: FloatArray | None,
    background: Reference | None,
) -> dict[str, Any]:
    """Constant, main effects and stages, what they add up to and what follows from that."""
    subject = Subject.of(view)
    model, names = subject.model, subject.stage_names
    return {
        "intercept": model.intercept,
        "effects": encoded(model.effects),
        "effect_bands": _effect_bands(view),
        "stages": [
            encoded(_page_stage(stage, model.bins))
            | {"name": names[s], "bands": _bands(view, s, stage.features(model.bins))}
            for s, stage in enumerate(model.stages)
        ],
        "quantity": subject.quantity,
        "response": response,
        "spread": None if sums is None else _spread(sums),
        "response_spread": None if responses is None else _spread(responses),
        **_explained(view, background),
    }


def _qualities(
    model: SeparationEstimator, X: Any, y: Any, outcomes: FloatArray | None, offset: Any
) -> list[dict[str, Any]]:
    """Errors on the rows given, and those remembered by the model if they are others."""
    given, kept = None, model.evaluation_
    if outcomes is not None and not np.isnan(outcomes).all():
        given = model.evaluate(X, y, offset=offset)
    parts = {"given": given, "kept": None if kept == given else kept}
    return [_quality(own, where) for where, own in parts.items() if own is not None]


def _quality(result: Evaluation | ClassEvaluation, where: str) -> dict[str, Any]:
    shared = {"scores": result.scores, "explained": result.explained, "where": where}
    return result.to_plain() | shared


def _page_stage(stage: Stage, bins: Bins) -> dict[str, Any]:
    """A stage as the page has it: curves of its own features only, as all others are flat.

    Of two products it makes the factors itself, of backbone and tilt.
    """
    description = describe_stage(stage, bins)
    own = [bins.axis(j) for j in description["features"]]

    def cut(values: Any) -> Any:
        return None if values is None else np.concatenate([values[:0], *(values[a] for a in own)])

    is_told = description["kind"] == "two products"
    return description | {
        "log_backbone": cut(description["log_backbone"]),
        "tilt": cut(description["tilt"]),
        "products": [
            part
            | {
                "log_factors": None if is_told else cut(part["log_factors"]),
                "negative": cut(part["negative"]),
            }
            for part in description["products"]
        ],
    }


def _bands(view: _Sum, s: int, features: tuple[int, ...]) -> dict[str, Any]:
    """Bands of the curves by which a stage is read."""
    curves = explain.curves(view, s)
    bands: dict[str, Any] = {}
    for part in ("backbone", "tilt"):
        if features and part in curves[0].bands:
            ends = np.concatenate([curves[j].bands[part] for j in features], axis=1)
            bands[part] = rounded(np.log(ends) if part == "backbone" else ends)
    return bands


def _effect_bands(view: _Sum) -> dict[str, Any] | None:
    """Bands of the main effects, if there are any."""
    if view.model_.effects is None or not view.model_.replicates:
        return None
    return rounded(np.concatenate(explain.main_effects(view).bands, axis=1))


def _explained(view: _Sum, background: Reference | None) -> dict[str, Any]:
    """Explanations that average over rows; None where there are no rows to average over."""
    if background is None:
        return dict.fromkeys(("summary", "roles", "effect_roles", "matters", "pairs", "cards"))
    roles = explain.roles(view, background=background)
    summary = summary_of_sum(view, background)
    together = summary.interactions
    paper = explain.importance(view, kind="paper", background=background)
    first, second = np.triu_indices(len(together.names), 1)
    order = np.argsort(-together.pairwise[first, second], kind="stable")[:_N_PAIRS]
    return {
        "summary": _as_dicts(summary.sections),
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
        "cards": page_cards(Subject.of(view), summary, background),
        "pairs": [
            [int(first[k]), int(second[k]), float(together.pairwise[first[k], second[k]])]
            for k in order
        ],
    }
