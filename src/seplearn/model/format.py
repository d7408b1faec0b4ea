"""Model files: arrays with a JSON header. Loading runs no code and believes nothing."""

from __future__ import annotations

import io
import json
import math
import os
import stat
import sys
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from importlib.metadata import version
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from seplearn._errors import ModelFormatError
from seplearn._files import check_target, replaced, resolved
from seplearn.kernels.arrays import FloatArray
from seplearn.losses import IDENTITY, LINKS
from seplearn.losses.links import SOFTMAX
from seplearn.model.checks import Supply, count, finite, flag, floats, require, table, text_or_none
from seplearn.model.classes import ClassModels, Model, sums_of
from seplearn.model.container import Arrays, pack, pack_texts, unpack, unpack_texts
from seplearn.model.evaluation import ClassEvaluation, Evaluation
from seplearn.model.header import (
    Labels,
    plain_labels,
    plain_parameter,
    plain_range,
    plain_record,
    read_edits,
    read_labels,
    read_parameters,
    read_path,
    read_range,
    read_record,
)
from seplearn.model.model import SeparationModel
from seplearn.model.provenance import Provenance
from seplearn.model.record import SizePath, StageRecord
from seplearn.model.reference import Reference
from seplearn.model.spread import MOST_SCORES, OutcomeSpread
from seplearn.model.stage import Branch, Stage
from seplearn.model.version3 import as_version_4
from seplearn.table.binning import MAX_BINS, MAX_LEVELS, Axis, Bins, CategoricalAxis, NumericAxis
from seplearn.table.schema import OffsetColumn, Schema

FORMAT = "seplearn-model"
# 3: that of release 0.1.0.
# 4: a checksum; names, levels and the scalars of the history in arrays; main effects.
VERSION = 4
_HEADER = {
    "format", "version", "library", "estimator", "names", "frame", "target", "evaluation", "axes",
    "intercept", "stages", "history", "size_paths", "params",
}  # fmt: skip
_ARRAYS = {
    "frequencies", "edges", "values", "log_factors", "coefficients", "negative",
    "replicate_log_factors", "replicate_log_scales", "replicate_intercepts", "history_scalars",
    "name_ends", "names",
}  # fmt: skip
_REFERENCE_ARRAYS = {"reference_codes", "reference_weight"}  # of a model that keeps rows
_EFFECT_ARRAYS = {"effects", "replicate_effects"}  # of a model with main effects
_SPREAD_ARRAYS = {  # of a model that knows how outcomes vary
    "spread_curves", "spread_edges", "spread_by_prediction", "spread_scores",
}  # fmt: skip
_LINK = "link"  # of a model whose sum is not the prediction itself
_CLASSES = "classes"  # of a classifier
_OFFSET = "offset"  # of a model whose offsets came from a column with a name
_MISSING = "missing"  # of a model whose training table had texts for missing values
_SUMS = "sums"  # of a classifier of more than two classes: constant, stages, main effects of each
_EDITS = "edits"  # of a model that was changed after its fit
_SPREAD = "spread"  # of a model that knows how outcomes vary: single numbers of it
_PROVENANCE = "provenance"  # of a model whose fit is known
_OPTIONAL = {_LINK, _CLASSES, _OFFSET, _MISSING, _SUMS, _EDITS, _SPREAD, _PROVENANCE}
_SPREAD_NUMBERS = ("constant", "least", "most")
_LABELS = "integer_labels"  # of columns that were numbered, not named
_LARGEST_LOG_FACTOR = 1500.0  # twice the log of the smallest factor that a fit makes
_LARGEST_LOG_SCALE = math.log(sys.float_info.max)
_LARGEST_EFFECT = sys.float_info.max / 1024  # a sum over a thousand features is a number
# Each takes more memory than it takes in a file; so do stages without products, in every replicate.
_MOST_REPLICATES = 1_000_000


@dataclass(frozen=True, eq=False)
class StoredModel:
    """Everything a file holds."""

    model: Model
    schema: Schema
    history: tuple[StageRecord, ...]
    params: dict[str, Any]
    estimator: str = "TSLRegressor"
    evaluation: Evaluation | ClassEvaluation | None = None
    classes: Labels | None = None
    provenance: Provenance | None = None


def write_file(path: str | os.PathLike[str], stored: StoredModel) -> None:
    """Write a model file, all or nothing; what could not be read again is not written."""
    check_target(path)
    data = encode(stored)
    try:
        decode(data, "the file")
    except ModelFormatError as error:
        raise ValueError(f"the model cannot be saved: {error}") from error
    with replaced(path) as file:
        file.write(data)


def read_file(path: str | os.PathLike[str]) -> StoredModel:
    """Read a file that :func:`write_file` wrote; raise ModelFormatError for any other."""
    resolved(path)  # refuses what is no path
    place = Path(path)
    kind = place.stat().st_mode  # before it is opened: a pipe would wait for a writer
    if not stat.S_ISREG(kind) and not stat.S_ISDIR(kind):
        raise ModelFormatError(f"{path} must be a file, got a device or a pipe")
    with place.open("rb") as file:
        size = os.fstat(file.fileno()).st_size
        if size > _memory():
            raise ModelFormatError(f"{path} is larger than the memory of this machine")
        return _read(file, size, str(path))


def _memory() -> float:
    """Bytes of memory this machine has, where the system tells."""
    if "SC_PHYS_PAGES" not in getattr(os, "sysconf_names", {}):
        return math.inf
    return float(os.sysconf("SC_PHYS_PAGES")) * os.sysconf("SC_PAGE_SIZE")


def encode(stored: StoredModel) -> bytes:
    """The bytes of a model file."""
    bins, names = stored.model.bins, stored.schema.names
    models = sums_of(stored.model)  # their arrays lie one after the other
    texts = [*(names or ())]
    for axis in bins.axes:
        if isinstance(axis, CategoricalAxis):
            texts += [*axis.levels, *axis.rare]
    scalars = [pair for record in stored.history for pair in record.scalars]
    header = {
        "format": FORMAT,
        "version": VERSION,
        "library": version("seplearn"),
        "estimator": stored.estimator,
        "names": names is not None,
        "frame": stored.schema.library,
        "target": stored.schema.target,
        "evaluation": None if stored.evaluation is None else stored.evaluation.to_plain(),
        "axes": [_axis_header(axis) for axis in bins.axes],
        "intercept": 0.0 if len(models) > 1 else models[0].intercept,
        "stages": [
            [_branch_header(branch) for branch in (stage.plus, stage.minus)]
            for model in models
            for stage in model.stages
        ],
        "history": [plain_record(record) for record in stored.history],
        "size_paths": [asdict(path) for path in stored.model.size_paths],
        "params": {name: plain_parameter(value) for name, value in stored.params.items()},
    } | _optional_header(stored)
    arrays = (
        _bin_arrays(bins)
        | _branch_arrays(models)
        | _replicate_arrays(models)
        | _effect_arrays(models)
        | dict(zip(("names", "name_ends"), pack_texts(texts), strict=True))
        | {"history_scalars": np.array(scalars, dtype=np.float64).reshape(-1, 2)}
        | _label_array(stored.schema)
        | _spread_arrays(models[0].spread)
    )
    return pack(json.dumps(header), arrays)


def _optional_header(stored: StoredModel) -> dict[str, Any]:
    """What only some models have."""
    header: dict[str, Any] = {}
    models = sums_of(stored.model)  # their arrays lie one after the other
    if stored.model.link is not IDENTITY:
        header[_LINK] = stored.model.link.name
    if stored.classes is not None:
        header[_CLASSES] = plain_labels(stored.classes)
    if stored.schema.offset is not None:
        header[_OFFSET] = stored.schema.offset._asdict()
    if stored.schema.missing_texts:
        header[_MISSING] = list(stored.schema.missing_texts)
    if stored.model.edits:
        header[_EDITS] = [record.to_plain() for record in stored.model.edits]
    if stored.provenance is not None:
        header[_PROVENANCE] = stored.provenance.to_plain()
    spread = models[0].spread
    if spread is not None:
        header[_SPREAD] = {name: getattr(spread, name) for name in _SPREAD_NUMBERS}
    if len(models) > 1:
        header[_SUMS] = [
            {
                "intercept": model.intercept,
                "n_stages": len(model.stages),
                "effects": model.effects is not None,
            }
            for model in models
        ]
    return header


def _spread_arrays(spread: OutcomeSpread | None) -> Arrays:
    names = () if spread is None else _SPREAD_ARRAYS
    return {name: getattr(spread, name.removeprefix(f"{_SPREAD}_")) for name in sorted(names)}


def _read_spread(values: Any, arrays: Arrays, n_flat: int) -> OutcomeSpread | None:
    require((values is None) == (not _SPREAD_ARRAYS & set(arrays)), "spread of outcomes")
    if values is None:
        return None
    given = table(values, set(_SPREAD_NUMBERS), "the spread of outcomes")
    constant, least, most = (finite(given[name]) for name in _SPREAD_NUMBERS)
    require(-_LARGEST_LOG_FACTOR <= least <= most <= _LARGEST_LOG_SCALE, "widths of outcomes")
    edges = floats(arrays["spread_edges"], "spread_edges", (None,))
    scores = floats(arrays["spread_scores"], "spread_scores", (None,))
    ascending = (edges[1:] >= edges[:-1]).all() and (scores[1:] >= scores[:-1]).all()
    require(bool(ascending), "edges and scores of outcomes must ascend")
    require(0 < len(scores) <= MOST_SCORES, "number of scores of outcomes")
    levels = _log_factors(arrays, "spread_by_prediction", (len(edges) + 1,))
    curves = _log_factors(arrays, "spread_curves", (n_flat,))
    return OutcomeSpread(constant, curves, edges, levels, least, most, scores)


def _label_array(schema: Schema) -> Arrays:
    """The numbers of columns that have no names; those beyond 64 bits are not kept."""
    labels = schema.integer_labels
    if labels is None or max(abs(label) for label in labels) >= 2**63:
        return {}
    return {_LABELS: np.array(labels, dtype=np.int64)}


def _read_labels(arrays: Arrays, n_features: int) -> tuple[int, ...] | None:
    if _LABELS not in arrays:
        return None
    labels = arrays[_LABELS]
    require(labels.dtype == np.int64 and labels.shape == (n_features,), "labels of the columns")
    return tuple(labels.tolist())


def _axis_header(axis: Axis) -> dict[str, Any]:
    if isinstance(axis, NumericAxis):
        known, ends = axis.values is not None, plain_range(axis.range)
        return {"kind": "numeric", "n_edges": len(axis.edges), "values": known, "range": ends}
    return {"kind": "categorical", "n_levels": len(axis.levels), "n_rare": len(axis.rare)}


def _branch_header(branch: Branch | None) -> str:
    if branch is None:
        return "absent"
    return "positive" if branch.negative is None else "signed"


def _bin_arrays(bins: Bins) -> Arrays:
    numeric = [axis for axis in bins.axes if isinstance(axis, NumericAxis)]
    edges = [axis.edges for axis in numeric]
    values = [axis.values for axis in numeric if axis.values is not None]
    return {
        "frequencies": bins.frequencies,
        "edges": np.concatenate([*edges, np.empty(0)]),
        "values": np.concatenate([*values, np.empty(0)]),
    }


def _branches(models: Sequence[SeparationModel]) -> list[Branch]:
    return [branch for model in models for stage in model.stages for branch in stage.branches]


def _branch_arrays(models: Sequence[SeparationModel]) -> Arrays:
    branches, n_flat = _branches(models), len(models[0].bins.frequencies)
    scales = [(b.coefficient_sign, b.log_scale) for b in branches]
    negative = [b.negative for b in branches if b.negative is not None]
    arrays: Arrays = {
        "log_factors": np.array([b.log_factors for b in branches]).reshape(len(branches), n_flat),
        "coefficients": np.array(scales, dtype=np.float64).reshape(-1, 2),
        "negative": np.array(negative, dtype=np.uint8).reshape(-1, n_flat),
    }
    reference = models[0].reference
    if reference is not None:
        arrays["reference_codes"] = reference.codes.astype(np.uint16)
        arrays["reference_weight"] = reference.weight
    return arrays


def _replicate_arrays(models: Sequence[SeparationModel]) -> Arrays:
    """Curves, coefficients and constants of the bootstrap replicates; their stages are alike."""
    replicates = list(zip(*(model.replicates for model in models), strict=True))
    shape = len(replicates), len(_branches(models))
    branches = [_branches(own) for own in replicates]
    curves = np.array([[b.log_factors for b in row] for row in branches], dtype=np.float64)
    scales = np.array([[b.log_scale for b in row] for row in branches], dtype=np.float64)
    constants = np.array([[r.intercept for r in own] for own in replicates], dtype=np.float64)
    return {
        "replicate_log_factors": curves.reshape(*shape, len(models[0].bins.frequencies)),
        "replicate_log_scales": scales.reshape(shape),
        "replicate_intercepts": _of_one_or_more(constants.reshape(-1, len(models))),
    }


def _effect_arrays(models: Sequence[SeparationModel]) -> Arrays:
    """The main effects of the models that have any, and of their replicates."""
    some = [model for model in models if model.effects is not None]
    if not some:
        return {}
    n_flat = len(models[0].bins.frequencies)
    others = [[r.effects for r in own] for own in zip(*(m.replicates for m in some), strict=True)]
    effects = np.array([model.effects for model in some], dtype=np.float64)
    refitted = np.array(others, dtype=np.float64).reshape(-1, len(some), n_flat)
    if len(models) == 1:
        return {"effects": effects[0], "replicate_effects": refitted[:, 0]}
    return {"effects": effects, "replicate_effects": refitted}


def _of_one_or_more(columns: FloatArray) -> FloatArray:
    """A column per model; of a single one without the second dimension."""
    return columns[:, 0] if columns.shape[1] == 1 else columns


def decode(data: bytes, source: str) -> StoredModel:
    """The model in the bytes of a file; every number is checked before it is believed."""
    return _read(io.BytesIO(data), len(data), source)


def _read(file: BinaryIO, size: int, source: str) -> StoredModel:
    try:
        known = _ARRAYS | _REFERENCE_ARRAYS | _EFFECT_ARRAYS | _SPREAD_ARRAYS | {_LABELS}
        container = unpack(file, size, known)
        header, arrays = _read_header(container.text), container.arrays
        is_new = header["version"] == VERSION
        require(container.has_checksum == is_new, "a checksum belongs to files from version 4 on")
        if is_new:
            return _assemble(header, arrays, unpack_texts(arrays["names"], arrays["name_ends"]))
        newer = (_EFFECT_ARRAYS | _SPREAD_ARRAYS) & set(arrays)
        require(not newer, "main effects and spreads belong to files from version 4 on")
        return _assemble(*as_version_4(header, arrays))
    except ModelFormatError as error:
        raise ModelFormatError(f"{source}: {error}") from error
    except (
        ValueError, KeyError, TypeError, IndexError, AttributeError, OverflowError, RecursionError,
        MemoryError,
    ) as error:  # fmt: skip
        raise ModelFormatError(f"{source} is not a seplearn model file: {error!r}") from error


def _read_header(text: str) -> dict[str, Any]:
    header = json.loads(text)
    require(isinstance(header, dict) and header.get("format") == FORMAT, "unknown format")
    number = header.get("version")
    require(
        type(number) is int and 3 <= number <= VERSION,
        f"format version {number!r} is not one of 3 to {VERSION}; a newer seplearn may read it",
    )
    unknown = sorted(set(header) - _HEADER - _OPTIONAL)
    require(not unknown, f"unknown fields {unknown[:3]} of the header")
    return dict(header)


def _assemble(header: dict[str, Any], arrays: Arrays, all_texts: list[str]) -> StoredModel:
    link, classes = header.pop(_LINK, IDENTITY.name), header.pop(_CLASSES, None)
    offset = _read_offset(header.pop(_OFFSET, None))
    missing = header.pop(_MISSING, [])
    is_listed = isinstance(missing, list) and all(type(text) is str for text in missing)
    require(is_listed, "texts of missing values must be texts")
    sums = header.pop(_SUMS, None)
    edits = read_edits(header.pop(_EDITS, []))
    spread, provenance = header.pop(_SPREAD, None), header.pop(_PROVENANCE, None)
    table(header, _HEADER, "the header")
    require(type(link) is str and link in LINKS, "unknown link")
    require((link == SOFTMAX.name) == (sums is not None), "sums belong to several classes")
    require(isinstance(header["axes"], list), "axes must be a list")
    texts = Supply(all_texts, "texts")
    names = tuple(texts.take(len(header["axes"]))) if flag(header["names"]) else None
    require(names is None or len(set(names)) == len(names), "names must be distinct")
    bins = _bins(header["axes"], arrays, texts)
    texts.finish()
    target = text_or_none(header["target"], "name of the target")
    library = text_or_none(header["frame"], "library of the table")
    reference = _reference(bins, arrays) if _REFERENCE_ARRAYS & set(arrays) else None
    shared = SeparationModel(
        bins,
        finite(header["intercept"]),
        _stages(header["stages"], arrays, bins),
        reference=reference,
        size_paths=_size_paths(header["size_paths"]),
        link=LINKS[link],
        edits=edits,
        spread=_read_spread(spread, arrays, len(bins.frequencies)),
    )
    require(link in ("identity", "log") or shared.spread is None, "classes have no spread")
    model = _one_model(shared, arrays) if sums is None else _class_models(shared, sums, arrays)
    scalars = Supply(floats(arrays["history_scalars"], "scalars", (None, 2), math.inf), "scalars")
    require(isinstance(header["history"], list), "history must be a list")
    history = tuple(read_record(record, scalars) for record in header["history"])
    scalars.finish()
    require(type(header["estimator"]) is str, "name of the estimator")
    kept, labels = header["evaluation"], _read_labels(arrays, bins.n_axes)
    return StoredModel(
        model,
        Schema(bins.n_axes, names, library, target, labels, offset, tuple(missing)),
        history,
        read_parameters(header["params"]),
        header["estimator"],
        None if kept is None else _evaluation(kept, model),
        None if classes is None else read_labels(classes),
        None if provenance is None else Provenance.from_plain(provenance),
    )


def _read_offset(values: Any) -> OffsetColumn | None:
    if values is None:
        return None
    given = table(values, set(OffsetColumn._fields), "the column of offsets")
    require(type(given["name"]) is str, "name of the column of offsets")
    return OffsetColumn(given["name"], flag(given["is_exposure"]))


def _one_model(shared: SeparationModel, arrays: Arrays) -> SeparationModel:
    effects = None
    if _EFFECT_ARRAYS & set(arrays):
        effects = _effects(arrays, (len(shared.bins.frequencies),))
    model = replace(shared, effects=effects)
    most = 0 if model.is_constant else _MOST_REPLICATES
    return replace(model, replicates=_replicates(model, arrays, most))


def _class_models(shared: SeparationModel, sums: Any, arrays: Arrays) -> ClassModels:
    """A model for every class, each with its share of the stages and arrays."""
    require(isinstance(sums, list) and len(sums) > 2, "sums of three classes or more")
    given = [table(one, {"intercept", "n_stages", "effects"}, "a sum") for one in sums]
    n_flat, n_effects = len(shared.bins.frequencies), sum(flag(one["effects"]) for one in given)
    has_effects = bool(_EFFECT_ARRAYS & set(arrays))
    require(has_effects == (n_effects > 0), "main effects of the sums")
    stages = Supply(shared.stages, "stages")
    effects = Supply(_effects(arrays, (n_effects, n_flat)) if has_effects else (), "effects")
    models = [
        replace(
            shared,
            intercept=finite(one["intercept"]),
            stages=tuple(stages.take(count(one["n_stages"]))),
            effects=effects.take(1)[0] if one["effects"] else None,
        )
        for one in given
    ]
    stages.finish()
    effects.finish()
    most = 0 if all(model.is_constant for model in models) else _MOST_REPLICATES
    parts = _arrays_of_classes(models, arrays, n_effects)
    return ClassModels(
        tuple(
            replace(model, replicates=_replicates(model, own, most))
            for model, own in zip(models, parts, strict=True)
        )
    )


def _arrays_of_classes(
    models: list[SeparationModel], arrays: Arrays, n_effects: int
) -> Iterator[Arrays]:
    """The arrays of the replicates of every class, as a model of one sum has them."""
    intercepts = floats(arrays["replicate_intercepts"], "replicate_intercepts", (None, len(models)))
    n, n_branches = len(intercepts), len(_branches(models))
    n_flat = len(models[0].bins.frequencies)
    curves = _log_factors(arrays, "replicate_log_factors", (n, n_branches, n_flat))
    scales = floats(arrays["replicate_log_scales"], "replicate_log_scales", (n, n_branches))
    effects = np.empty((n, 0, n_flat))
    if n_effects:
        shape = (n, n_effects, n_flat)
        effects = floats(arrays["replicate_effects"], "replicate_effects", shape, _LARGEST_EFFECT)
    branch = effect = 0
    for k, model in enumerate(models):
        own = slice(branch, branch + len(_branches([model])))
        yield {
            "replicate_intercepts": intercepts[:, k],
            "replicate_log_factors": curves[:, own],
            "replicate_log_scales": scales[:, own],
        } | ({} if model.effects is None else {"replicate_effects": effects[:, effect]})
        branch, effect = own.stop, effect + (model.effects is not None)


def _evaluation(values: Any, model: Model) -> Evaluation | ClassEvaluation:
    if isinstance(model, ClassModels):
        return ClassEvaluation.from_plain(values, len(model.models))
    return Evaluation.from_plain(values)


def _size_paths(values: Any) -> tuple[SizePath, ...]:
    require(isinstance(values, list), "paths of sizes must be a list")
    paths = tuple(read_path(path) for path in values)
    chosen = sum(path.chosen is not None for path in paths)
    require(not paths or chosen == 1, "one path of sizes must be chosen")
    return paths


def _bins(headers: list[Any], arrays: Arrays, texts: Supply) -> Bins:
    require(len(headers) > 0, "a model has at least one feature")
    edges = Supply(floats(arrays["edges"], "edges", (None,), math.inf), "edges")
    values = Supply(floats(arrays["values"], "values", (None,), math.inf), "values")
    axes = tuple(_axis(header, edges, values, texts) for header in headers)
    edges.finish()
    values.finish()
    n_flat = sum(axis.n_bins for axis in axes)
    bins = Bins(axes, floats(arrays["frequencies"], "frequencies", (n_flat,)))
    require(bool((bins.frequencies >= 0).all()), "frequencies must not be negative")
    require(np.allclose(bins.means(np.ones(n_flat)), 1.0), "frequencies must sum to one")
    return bins


def _axis(header: Any, edges: Supply, values: Supply, texts: Supply) -> Axis:
    require(isinstance(header, dict), "a feature must be a table")
    if header.get("kind") == "numeric":
        given = table(header, {"kind", "n_edges", "values", "range"}, "a numeric feature")
        own = edges.take(count(given["n_edges"], MAX_BINS - 1))
        ascends = bool((own[1:] > own[:-1]).all() and (own > -np.inf).all())
        require(ascends, "edges must ascend")
        known = values.take(len(own) + 1) if flag(given["values"]) else None
        if known is not None:
            bins = np.searchsorted(own, known, side="right")
            require(bool((bins == np.arange(len(known))).all()), "values must lie in their bins")
        return NumericAxis(own, known, read_range(given["range"]))
    given = table(header, {"kind", "n_levels", "n_rare"}, "a categorical feature")
    require(given["kind"] == "categorical", "unknown kind of feature")
    levels = tuple(texts.take(count(given["n_levels"], MAX_LEVELS)))
    rare = tuple(texts.take(count(given["n_rare"])))
    distinct = len({*levels, *rare}) == len(levels) + len(rare)
    require(distinct, "levels must be distinct")
    return CategoricalAxis(levels, rare)


def _stages(headers: Any, arrays: Arrays, bins: Bins) -> tuple[Stage, ...]:
    require(isinstance(headers, list), "stages must be a list")
    require(all(isinstance(pair, list) and len(pair) == 2 for pair in headers), "a stage is a pair")
    kinds = [kind for pair in headers for kind in pair]
    require(set(kinds) <= {"absent", "positive", "signed"}, "unknown kind of branch")
    present = [kind for kind in kinds if kind != "absent"]
    n_flat = len(bins.frequencies)
    log_factors = _log_factors(arrays, "log_factors", (len(present), n_flat))
    coefficients = floats(arrays["coefficients"], "coefficients", (len(present), 2), math.inf)
    require(bool(np.isin(coefficients[:, 0], (-1.0, 0.0, 1.0)).all()), "sign of a coefficient")
    active = coefficients[:, 0] != 0.0
    _check_log_scales(coefficients[active, 1])
    negative = arrays["negative"]
    require(negative.shape == (present.count("signed"), n_flat), "shape of 'negative'")
    require(negative.dtype == np.uint8 and bool((negative <= 1).all()), "values of 'negative'")
    numbers, signed = iter(range(len(present))), iter(negative.astype(bool))

    def branch(kind: str) -> Branch | None:
        if kind == "absent":
            return None
        k = next(numbers)
        signs = next(signed) if kind == "signed" else None
        return Branch(float(coefficients[k, 0]), float(coefficients[k, 1]), log_factors[k], signs)

    return tuple(Stage(branch(plus), branch(minus)) for plus, minus in headers)


def _effects(arrays: Arrays, shape: tuple[int, ...]) -> FloatArray:
    return floats(arrays["effects"], "effects", shape, _LARGEST_EFFECT)


def _log_factors(arrays: Arrays, name: str, shape: tuple[int, ...]) -> FloatArray:
    return floats(arrays[name], name, shape, _LARGEST_LOG_FACTOR)


def _check_log_scales(values: FloatArray) -> None:
    """The log of a coefficient that is a number, or vanishes."""
    sound = np.isfinite(values) & (values <= _LARGEST_LOG_SCALE)
    require(bool(sound.all()), "size of a coefficient")


def _replicates(model: SeparationModel, arrays: Arrays, most: int) -> tuple[SeparationModel, ...]:
    branches = _branches([model])
    intercepts = floats(arrays["replicate_intercepts"], "replicate_intercepts", (None,))
    require(len(intercepts) <= most, "number of replicates")
    n_empty = sum(stage.plus is None and stage.minus is None for stage in model.stages)
    require(n_empty * len(intercepts) <= most, "number of stages without products")
    shape = (len(intercepts), len(branches))
    n_flat = len(model.bins.frequencies)
    effects: FloatArray | list[None] = [None] * len(intercepts)
    if model.effects is not None:
        wanted = (len(intercepts), n_flat)
        effects = floats(arrays["replicate_effects"], "replicate_effects", wanted, _LARGEST_EFFECT)
    curves = _log_factors(arrays, "replicate_log_factors", (*shape, n_flat))
    scales = floats(arrays["replicate_log_scales"], "replicate_log_scales", shape)
    _check_log_scales(scales)
    replicates = []
    for k, intercept in enumerate(intercepts):
        refitted = iter(
            replace(branch, log_scale=float(scale), log_factors=curve)
            for branch, scale, curve in zip(branches, scales[k], curves[k], strict=True)
        )
        stages = tuple(
            Stage(stage.plus and next(refitted), stage.minus and next(refitted))
            for stage in model.stages
        )
        replicates.append(SeparationModel(model.bins, float(intercept), stages, effects=effects[k]))
    return tuple(replicates)


def _reference(bins: Bins, arrays: Arrays) -> Reference:
    codes = arrays["reference_codes"]
    require(codes.dtype == np.uint16 and codes.ndim == 2, "type of the reference rows")
    require(codes.shape[1] == bins.n_axes and len(codes) > 0, "shape of the reference rows")
    require(bool((codes < bins.sizes).all()), "bins of the reference rows")
    weight = floats(arrays["reference_weight"], "reference_weight", (len(codes),))
    sound = bool((weight >= 0).all()) and np.isclose(weight.sum(), 1.0)
    require(bool(sound), "weights of the reference rows")
    return Reference(codes, weight)
