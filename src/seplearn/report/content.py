"""What the page shows, as plain numbers and texts: the model's tables and its explanations."""

from __future__ import annotations

import base64
from importlib.metadata import version
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from seplearn import explain
from seplearn._errors import wrong_type
from seplearn._rules import Interval
from seplearn.estimators.base import SeparationEstimator
from seplearn.explain.axes import bin_bounds, bin_values
from seplearn.kernels.arrays import FloatArray
from seplearn.model.reference import Reference
from seplearn.model.stage import Branch, Stage
from seplearn.report.rows import given_rows, reference_rows
from seplearn.table.binning import Axis, NumericAxis
from seplearn.table.columns import Table, open_table, read_target

_N_BACKGROUND = 1_000
_FEWEST_BACKGROUND = 100  # fewer rows say nothing about what matters
_N_PAIRS = 10


def page_content(
    model: Any, X: Any, y: Any, title: str | None, n_rows: int, random_state: int
) -> dict[str, Any]:
    """Everything the scripts of the page read."""
    _check(model, X, y, n_rows)
    table = None if X is None else open_table(X)
    background = model.model_.reference
    if table is not None and (background is None or table.n_rows >= _FEWEST_BACKGROUND):
        background = _drawn(model, table, random_state)
    name = model.target_name_ or "the target"
    return {
        "title": title or f"What the model says about {name}",
        "target": name,
        "library": version("seplearn"),
        "kind": model._kind,
        "intercept": model.intercept_,
        "spread": None if background is None else _spread(model, background),
        "features": _features(model),
        "stages": [_stage(model, s) for s in range(len(model.stages_))],
        "quality": _qualities(model, X, y),
        **_told(model, background),
        "rows": reference_rows(model.model_, n_rows)
        if table is None
        else given_rows(model, table, y, n_rows, random_state),
        "rows_are": "reference" if table is None else "given",
    }


def _check(model: Any, X: Any, y: Any, n_rows: int) -> None:
    if not isinstance(model, SeparationEstimator):
        raise wrong_type("model", "a fitted TSLRegressor or SepALSRegressor", model)
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


def _spread(model: SeparationEstimator, background: Reference) -> float:
    predictions = model.model_.predict(background.codes)
    size = float(np.abs(predictions).max()) or 1.0  # squares of large targets overflow
    return size * float(np.std(predictions / size))


def _qualities(model: SeparationEstimator, X: Any, y: Any) -> list[dict[str, Any]]:
    """Errors on the rows given, and those remembered by the model."""
    given, kept = [], model.evaluation_
    if y is not None and not np.isnan(np.asarray(read_target(y), dtype=float)).all():
        given = [model.evaluate(X, y).to_plain() | {"where": "given"}]
    return given if kept is None else [*given, kept.to_plain() | {"where": "kept"}]


def _features(model: SeparationEstimator) -> list[dict[str, Any]]:
    bins = model.model_.bins
    return [
        _feature(label, axis, bins.frequencies[bins.axis(j)])
        for j, (label, axis) in enumerate(zip(model._schema.labels, bins.axes, strict=True))
    ]


def _feature(name: str, axis: Axis, frequencies: FloatArray) -> dict[str, Any]:
    shared = {"name": name, "frequencies": _doubles(frequencies)}
    if isinstance(axis, NumericAxis):
        return shared | {
            "kind": "numeric",
            "edges": _doubles(axis.edges),
            "bounds": _doubles(bin_bounds(axis)),
            "centres": _doubles(bin_values(axis)[:-1].astype(np.float64)),
            "few": axis.values is not None,
            "range": _doubles(np.array(axis.range or (-np.inf, np.inf))),
        }
    return shared | {"kind": "levels", "levels": list(axis.levels), "rare": list(axis.rare)}


def _stage(model: SeparationEstimator, s: int) -> dict[str, Any]:
    """The products of a stage, the one that adds first, and bands of its curves."""
    stage = model.stages_[s]
    curves = explain.curves(model, s)
    parts = [p for p in ("backbone", "tilt") if getattr(curves[0], p) is not None]
    bands = {}
    if curves[0].bands:
        for part in parts:
            ends = np.concatenate([curve.bands[part] for curve in curves], axis=1)
            bands[part] = _rounded(np.log(ends) if part == "backbone" else ends)
    return {
        "kind": _kind(stage),
        "branches": [_branch(branch) for branch in _oriented(stage)],
        "bands": bands,
    }


def _kind(stage: Stage) -> str:
    """Which curves the page draws: backbone and tilt, factors of one product, or signed factors."""
    if stage.is_two_branch:
        return "two"
    return "one" if stage.is_one_branch else "signed"


def _oriented(stage: Stage) -> list[Branch]:
    """The branch that adds before the one that takes away, where that can be said."""
    if stage.is_two_branch or stage.is_one_branch:
        return [branch for branch in stage.oriented if branch is not None]
    return list(stage.branches)


def _branch(branch: Branch) -> dict[str, Any]:
    return {
        "sign": branch.coefficient_sign,
        "log_scale": branch.log_scale if branch.coefficient_sign else 0.0,
        "log_factors": _doubles(branch.log_factors),
        "negative": None
        if branch.negative is None
        else base64.b64encode(branch.negative.astype(np.uint8).tobytes()).decode("ascii"),
    }


def _told(model: SeparationEstimator, background: Reference | None) -> dict[str, Any]:
    """Explanations that average over rows; None where there are no rows to average over."""
    if background is None:
        return {"roles": None, "matters": None, "pairs": None}
    roles = explain.roles(model, background=background)
    together = explain.interactions(model, background=background)
    importance = explain.importance(model, background=background)
    first, second = np.triu_indices(len(together.names), 1)
    order = np.argsort(-together.pairwise[first, second], kind="stable")[:_N_PAIRS]
    return {
        "roles": [
            {
                "sentence": stage.sentence,
                "weight": stage.weight,
                "roles": [role.role for role in stage.features],
                "strength": [max(role.scaling, role.directing) for role in stage.features],
            }
            for stage in roles.stages
        ],
        "matters": {
            "main": together.main.tolist(),
            "total": together.total.tolist(),
            "backbone": importance.total_backbone.tolist(),
            "tilt": importance.total_tilt.tolist(),
        },
        "pairs": [
            [int(first[k]), int(second[k]), float(together.pairwise[first[k], second[k]])]
            for k in order
        ],
    }


def _doubles(values: FloatArray) -> str:
    """Eight bytes a number, little-endian, in base64: exact, infinities included, and short."""
    return base64.b64encode(np.asarray(values, dtype="<f8").tobytes()).decode("ascii")


def _rounded(values: FloatArray) -> dict[str, Any]:
    """Numbers for drawing, in 65,536 steps."""
    low, high = float(values.min()), float(values.max())
    step = (high - low) / 65_535.0 or 1.0
    steps = np.round((values - low) / step).astype("<u2")
    return {"low": low, "step": step, "data": base64.b64encode(steps.tobytes()).decode("ascii")}
