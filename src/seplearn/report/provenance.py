"""Where a model comes from, in words: for the page of a report and for ``seplearn info``."""

from __future__ import annotations

from typing import Any

from seplearn.editing.directions import kept_directions
from seplearn.estimators.base import SeparationEstimator
from seplearn.model.classes import ClassModels, sums_of
from seplearn.model.reading import brief, read_curves

_OWN_LINES = ("random_state", "monotonic_cst", "loss", "n_jobs", "verbose")
_NOT_KNOWN = "not known: the model was merged, or comes from an earlier version"
_MOST_NAMES = 40


def told_provenance(estimator: SeparationEstimator) -> list[tuple[str, str]]:
    """Pairs of what and its words, of every fitted estimator."""
    parameters = estimator.get_params(deep=False)
    used, unused = _features(estimator)
    merged = any(edit.operation == "merge" for edit in estimator.edits_)
    of_which = " of the first of the merged models" if merged else ""
    lines = [
        ("Target", brief(estimator.target_name_ or "without a name")),
        *_of_the_fit(estimator),
        *_missing_texts(estimator),
        ("Features used", _listed(used)),
        ("Features not used", _listed(unused)),
        ("Loss", estimator._loss_in_words),
        ("Offsets", _offsets(estimator)),
        ("Constraints", _constraints(estimator)),
        ("Edits by hand", _edits(estimator)),
        ("Bands", _bands(estimator)),
        (f"Seed{of_which}", str(parameters.get("random_state"))),
        (f"Other parameters{of_which}", changed_parameters(estimator, _OWN_LINES)),
    ]
    return lines


def changed_parameters(estimator: SeparationEstimator, beside: tuple[str, ...] = ()) -> str:
    """Parameters that are not the defaults, as they are given."""
    defaults = type(estimator)().get_params()
    changed = {
        name: value
        for name, value in estimator.get_params().items()
        if name not in beside and not _same(value, defaults[name])
    }
    return ", ".join(f"{name}={value!r}" for name, value in changed.items()) or "defaults"


def _same(value: Any, default: Any) -> bool:
    return type(value) is type(default) and bool(value == default)


def _of_the_fit(estimator: SeparationEstimator) -> list[tuple[str, str]]:
    own = estimator.provenance_
    if own is None:
        return [("Training rows", _NOT_KNOWN)]
    weight = "" if own.weight == own.n_rows else f", of weight {own.weight:,.6g}"
    lines = [
        ("Training rows", f"{own.n_rows:,}{weight}"),
        ("Versions", ", ".join(f"{name} {text}" for name, text in own.versions.items())),
    ]
    optional = (
        ("Date", own.date),
        ("SHA-256 of the training table", own.table_sha256),
        ("Rows left out", None if own.n_left_out is None else f"{own.n_left_out:,}"),
        ("Columns left out", _listed(list(own.excluded)) if own.excluded else None),
    )
    return lines + [(what, text) for what, text in optional if text is not None]


def _missing_texts(estimator: SeparationEstimator) -> list[tuple[str, str]]:
    texts = [repr(text) for text in estimator.missing_texts_]
    return [("Texts for missing values", _listed(texts))] if texts else []


def _features(estimator: SeparationEstimator) -> tuple[list[str], list[str]]:
    """Names of the features that some curve is not flat along, and of the others."""
    model = estimator.model_
    models = sums_of(model)
    moving = {
        curve.feature for one in models for curve in read_curves(one.stages, one.effects, one.bins)
    }
    labels = estimator._schema.labels
    used = [name for j, name in enumerate(labels) if j in moving]
    return used, [name for j, name in enumerate(labels) if j not in moving]


def _offsets(estimator: SeparationEstimator) -> str:
    """Whether predictions are on top of something, as a rate is of its exposure."""
    own = estimator.offset_column_
    if own is not None:
        return f"{brief(own.name)}, an {own.argument}"
    words = {True: "given beside the table", False: "none", None: "not known"}
    return words[estimator._had_offsets]


def _constraints(estimator: SeparationEstimator) -> str:
    """Those that the model keeps, by its parameter or by an edit."""
    words = {1: "rises", -1: "falls"}
    labels = estimator._schema.labels
    kept = kept_directions(estimator).items()
    return ", ".join(f"{words[way]} with {brief(labels[j])}" for j, way in kept) or "none"


def _edits(estimator: SeparationEstimator) -> str:
    n = len(estimator.edits_)
    return "none" if n == 0 else f"{n}, each with its reason in the record"


def _bands(estimator: SeparationEstimator) -> str:
    """Whether there is something to say how sure curves are."""
    model = estimator.model_
    one = model.models[0] if isinstance(model, ClassModels) else model
    n = len(one.replicates)
    return f"from {n} refits" if n else "none: it was fitted without n_bootstrap"


def _listed(names: list[str]) -> str:
    shown = ", ".join(brief(name) for name in names[:_MOST_NAMES]) or "none"
    more = len(names) - _MOST_NAMES
    return f"{shown} and {more:,} more" if more > 0 else shown
