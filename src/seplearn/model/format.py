"""Model files: safetensors with a JSON header. Loading runs no code and believes nothing."""

from __future__ import annotations

import json
import math
import os
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields, replace
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
from safetensors import SafetensorError
from safetensors.numpy import load as load_tensors
from safetensors.numpy import save as save_tensors

from seplearn._errors import ModelFormatError
from seplearn._files import check_target, replaced
from seplearn.kernels.arrays import FloatArray
from seplearn.model.evaluation import Evaluation
from seplearn.model.model import SeparationModel
from seplearn.model.record import StageRecord
from seplearn.model.reference import Reference
from seplearn.model.stage import Branch, Stage
from seplearn.table.binning import MAX_BINS, MAX_LEVELS, Axis, Bins, CategoricalAxis, NumericAxis
from seplearn.table.schema import Schema

FORMAT = "seplearn-model"
# 2: what joint refinement adds to parameters and history, and bootstrap replicates.
# 3: reference rows, values of numeric features that have few, the library of the table, and
#    which estimator it is.
VERSION = 3
_KEY = "seplearn"
_LARGEST_HEADER = 100 * 2**20
_RECORD_OF_VERSION_1 = {
    "loss", "n_kept", "n_grids", "mean_actions", "scalars", "intercept", "seconds",
}  # fmt: skip


@dataclass(frozen=True, eq=False)
class StoredModel:
    """Everything a file holds."""

    model: SeparationModel
    schema: Schema
    history: tuple[StageRecord, ...]
    params: dict[str, Any]
    estimator: str = "TSLRegressor"
    evaluation: Evaluation | None = None


def write_file(path: str | os.PathLike[str], stored: StoredModel) -> None:
    """Write a model file, all or nothing."""
    check_target(path)
    data = encode(stored)
    with replaced(path) as file:
        file.write(data)


def read_file(path: str | os.PathLike[str]) -> StoredModel:
    """Read a file that :func:`write_file` wrote; raise ModelFormatError for any other."""
    return decode(Path(path).read_bytes(), str(path))


def encode(stored: StoredModel) -> bytes:
    """The bytes of a model file."""
    bins = stored.model.bins
    branches, n_flat = _branches(stored.model), len(bins.frequencies)
    numeric = [axis for axis in bins.axes if isinstance(axis, NumericAxis)]
    edges = [axis.edges for axis in numeric]
    values = [axis.values for axis in numeric if axis.values is not None]
    tensors = {
        "frequencies": bins.frequencies,
        "edges": np.concatenate([*edges, np.empty(0)]),
        "values": np.concatenate([*values, np.empty(0)]),
        "log_factors": np.array([b.log_factors for b in branches]).reshape(len(branches), n_flat),
        "coefficients": np.array(
            [(b.coefficient_sign, b.log_scale) for b in branches], dtype=np.float64
        ).reshape(-1, 2),
        "negative": np.array(
            [b.negative for b in branches if b.negative is not None], dtype=np.uint8
        ).reshape(-1, len(bins.frequencies)),
    } | _replicate_tensors(stored.model, len(branches))
    if stored.model.reference is not None:
        tensors["reference_codes"] = stored.model.reference.codes.astype(np.uint16)
        tensors["reference_weight"] = stored.model.reference.weight
    header = {
        "format": FORMAT,
        "version": VERSION,
        "library": version("seplearn"),
        "estimator": stored.estimator,
        "names": stored.schema.names,
        "frame": stored.schema.library,
        "target": stored.schema.target,
        "evaluation": None if stored.evaluation is None else stored.evaluation.to_plain(),
        "axes": [_axis_header(axis) for axis in bins.axes],
        "intercept": stored.model.intercept,
        "stages": [
            [_branch_header(branch) for branch in (stage.plus, stage.minus)]
            for stage in stored.model.stages
        ],
        "history": [asdict(record) for record in stored.history],
        "params": {name: _plain_parameter(value) for name, value in stored.params.items()},
    }
    contiguous = {name: np.ascontiguousarray(tensor) for name, tensor in tensors.items()}
    data: bytes = save_tensors(contiguous, metadata={_KEY: json.dumps(header)})
    return data


def _branches(model: SeparationModel) -> list[Branch]:
    return [branch for stage in model.stages for branch in stage.branches]


def _replicate_tensors(model: SeparationModel, n_branches: int) -> dict[str, FloatArray]:
    """Curves, coefficients and constants of the bootstrap replicates; their stages are alike."""
    n, n_flat = len(model.replicates), len(model.bins.frequencies)
    branches = [_branches(replicate) for replicate in model.replicates]
    curves = [[b.log_factors for b in row] for row in branches]
    scales = [[b.log_scale for b in row] for row in branches]
    return {
        "replicate_log_factors": np.array(curves, dtype=np.float64).reshape(n, n_branches, n_flat),
        "replicate_log_scales": np.array(scales, dtype=np.float64).reshape(n, n_branches),
        "replicate_intercepts": np.array([r.intercept for r in model.replicates], np.float64),
    }


def _axis_header(axis: Axis) -> dict[str, Any]:
    if isinstance(axis, NumericAxis):
        ends = None if axis.range is None else [_end(end) for end in axis.range]
        known = axis.values is not None
        return {"kind": "numeric", "n_edges": len(axis.edges), "values": known, "range": ends}
    return {"kind": "categorical", "levels": axis.levels, "rare": axis.rare}


def _end(value: float) -> float | None:
    """The end of a range as JSON, which has no infinity."""
    return value if math.isfinite(value) else None


def _range(ends: Any) -> tuple[float, float] | None:
    if ends is None:
        return None
    low, high = ends
    low, high = (
        -math.inf if low is None else _finite(low),
        math.inf if high is None else _finite(high),
    )
    _require(low <= high, "range of a numeric feature")
    return low, high


def _branch_header(branch: Branch | None) -> str:
    if branch is None:
        return "absent"
    return "positive" if branch.negative is None else "signed"


def _plain_parameter(value: Any) -> Any:
    """A parameter as JSON; a RandomState becomes its state."""
    if isinstance(value, np.random.RandomState):
        state: Any = value.get_state(legacy=False)
        key = [int(word) for word in state["state"]["key"]]
        return {"RandomState": [key, state["state"]["pos"], state["has_gauss"], state["gauss"]]}
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, (list, tuple, np.ndarray)):
        return [_plain_parameter(item) for item in value]
    if isinstance(value, Mapping):
        return {str(key): _plain_parameter(item) for key, item in value.items()}
    return value


def _parameter(value: Any) -> Any:
    if isinstance(value, dict) and isinstance(value.get("RandomState"), list):
        key, position, has_gauss, gauss = value["RandomState"]
        random = np.random.RandomState()
        random.set_state(("MT19937", np.array(key, dtype=np.uint32), position, has_gauss, gauss))
        return random
    return value


def decode(data: bytes, source: str) -> StoredModel:
    """The model in the bytes of a file; every number is checked before it is believed."""
    try:
        header = _read_header(data)
        tensors = load_tensors(data)
        return _assemble(header, tensors)
    except ModelFormatError as error:
        raise ModelFormatError(f"{source}: {error}") from error
    except (
        SafetensorError, ValueError, KeyError, TypeError, IndexError, AttributeError, OverflowError,
        RecursionError, MemoryError,
    ) as error:  # fmt: skip
        raise ModelFormatError(f"{source} is not a seplearn model file: {error!r}") from error


def _read_header(data: bytes) -> dict[str, Any]:
    length = int.from_bytes(data[:8], "little")
    _require(
        len(data) >= 8 and length <= min(len(data) - 8, _LARGEST_HEADER),
        "it has no header, or a part of one",
    )
    outer = json.loads(data[8 : 8 + length])
    header = json.loads(outer["__metadata__"][_KEY])
    _require(isinstance(header, dict) and header.get("format") == FORMAT, "unknown format")
    number = header["version"]
    _require(
        isinstance(number, int) and 1 <= number <= VERSION,
        f"format version {number!r} is not one of 1 to {VERSION}; a newer seplearn may read it",
    )
    checked: dict[str, Any] = header
    return checked


def _assemble(header: dict[str, Any], tensors: Mapping[str, Any]) -> StoredModel:
    edges = _tensor(tensors, "edges", (None,), allow_infinite=True)
    values = _tensor(tensors, "values", (None,), True) if "values" in tensors else np.empty(0)
    axes = _axes(header["axes"], edges, values)
    n_flat = sum(axis.n_bins for axis in axes)
    frequencies = _tensor(tensors, "frequencies", (n_flat,))
    bins = Bins(axes, frequencies)
    _require(bool((frequencies >= 0).all()), "frequencies must not be negative")
    _require(np.allclose(bins.means(np.ones(n_flat)), 1.0), "frequencies must sum to one")
    stages = _stages(header["stages"], tensors, n_flat)
    names = header["names"]
    if names is not None:
        _require(_texts(names) and len(set(names)) == len(names) == len(axes), "names of features")
    library = header.get("frame")
    _require(library is None or isinstance(library, str), "library of the table")
    target = header.get("target")
    _require(target is None or isinstance(target, str), "name of the target")
    schema = Schema(len(axes), None if names is None else tuple(names), library, target)
    model = SeparationModel(bins, _finite(header["intercept"]), stages)
    if header["version"] >= 2:
        model = replace(model, replicates=_replicates(model, tensors))
    if "reference_codes" in tensors:
        model = replace(model, reference=_reference(bins, tensors))
    history = tuple(_record(record) for record in header["history"])
    params = header["params"]
    _require(isinstance(params, dict), "parameters must be a table")
    if header["version"] == 1:  # written when there was nothing but the paper's way
        params = {"refine": "scalars"} | params
    params = {k: _parameter(v) for k, v in params.items()}
    estimator = header.get("estimator", "TSLRegressor")
    _require(isinstance(estimator, str), "name of the estimator")
    kept = header.get("evaluation")
    evaluation = None if kept is None else Evaluation.from_plain(kept)
    return StoredModel(model, schema, history, params, estimator, evaluation)


def _axes(headers: Any, edges: FloatArray, values: FloatArray) -> tuple[Axis, ...]:
    _require(isinstance(headers, list) and len(headers) > 0, "a model has at least one feature")
    axes: list[Axis] = []
    used = values_used = 0
    for header in headers:
        if header["kind"] == "numeric":
            size = header["n_edges"]
            _require(isinstance(size, int) and 0 <= size < MAX_BINS, "number of edges")
            own = edges[used : used + size]
            _require(len(own) == size and bool((own[1:] > own[:-1]).all()), "edges must ascend")
            known = None
            if header.get("values"):
                known = values[values_used : values_used + size + 1]
                _require(len(known) == size + 1, "values of a numeric feature")
                values_used += size + 1
            axes.append(NumericAxis(own, known, _range(header.get("range"))))
            used += size
        else:
            _require(header["kind"] == "categorical", "unknown kind of feature")
            levels, rare = header["levels"], header["rare"]
            _require(_texts(levels) and _texts(rare), "levels must be strings")
            distinct = len(set(levels) | set(rare)) == len(levels) + len(rare)
            _require(distinct and len(levels) <= MAX_LEVELS, "levels must be distinct")
            axes.append(CategoricalAxis(tuple(levels), tuple(rare)))
    _require(used == len(edges) and values_used == len(values), "edges or values left over")
    return tuple(axes)


def _stages(headers: Any, tensors: Mapping[str, Any], n_flat: int) -> tuple[Stage, ...]:
    kinds = [kind for pair in headers for kind in pair]
    _require(set(kinds) <= {"absent", "positive", "signed"}, "unknown kind of branch")
    present = [kind for kind in kinds if kind != "absent"]
    log_factors = _tensor(tensors, "log_factors", (len(present), n_flat))
    coefficients = _tensor(tensors, "coefficients", (len(present), 2), allow_infinite=True)
    _require(bool(np.isin(coefficients[:, 0], (-1.0, 0.0, 1.0)).all()), "sign of a coefficient")
    inactive = coefficients[:, 0] == 0.0
    _require(bool((np.isfinite(coefficients[:, 1]) | inactive).all()), "size of a coefficient")
    negative = tensors["negative"]
    _require(negative.shape == (present.count("signed"), n_flat), "shape of 'negative'")
    _require(negative.dtype == np.uint8 and bool((negative <= 1).all()), "values of 'negative'")
    numbers, signed = iter(range(len(present))), iter(negative.astype(bool))

    def branch(kind: str) -> Branch | None:
        if kind == "absent":
            return None
        k = next(numbers)
        signs = next(signed) if kind == "signed" else None
        return Branch(float(coefficients[k, 0]), float(coefficients[k, 1]), log_factors[k], signs)

    return tuple(Stage(branch(plus), branch(minus)) for plus, minus in headers)


def _replicates(model: SeparationModel, tensors: Mapping[str, Any]) -> tuple[SeparationModel, ...]:
    branches = _branches(model)
    intercepts = _tensor(tensors, "replicate_intercepts", (None,))
    shape = (len(intercepts), len(branches))
    curves = _tensor(tensors, "replicate_log_factors", (*shape, len(model.bins.frequencies)))
    scales = _tensor(tensors, "replicate_log_scales", shape)
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
        replicates.append(SeparationModel(model.bins, float(intercept), stages))
    return tuple(replicates)


def _reference(bins: Bins, tensors: Mapping[str, Any]) -> Reference:
    codes = tensors["reference_codes"]
    _require(codes.dtype == np.uint16 and codes.ndim == 2, "type of the reference rows")
    _require(codes.shape[1] == bins.n_axes and len(codes) > 0, "shape of the reference rows")
    _require(bool((codes < np.diff(bins.offset)).all()), "bins of the reference rows")
    weight = _tensor(tensors, "reference_weight", (len(codes),))
    sound = bool((weight >= 0).all()) and np.isclose(weight.sum(), 1.0)
    _require(bool(sound), "weights of the reference rows")
    return Reference(codes, weight)


def _record(values: Any) -> StageRecord:
    known = {field.name for field in fields(StageRecord)}
    _require(_RECORD_OF_VERSION_1 <= set(values) <= known, "fields of the history")
    optional = {
        name: None if values[name] is None else _size(values[name])
        for name in set(values) - _RECORD_OF_VERSION_1
    }
    scalars = tuple((_finite(plus), _finite(minus)) for plus, minus in values["scalars"])
    return StageRecord(
        loss=_size(values["loss"]),
        n_kept=int(values["n_kept"]),
        n_grids=int(values["n_grids"]),
        mean_actions=_finite(values["mean_actions"]),
        scalars=scalars,
        intercept=_finite(values["intercept"]),
        seconds=_finite(values["seconds"]),
        **optional,
    )


def _tensor(
    tensors: Mapping[str, Any],
    name: str,
    shape: tuple[int | None, ...],
    allow_infinite: bool = False,
) -> FloatArray:
    tensor: FloatArray = tensors[name]
    fits = tensor.ndim == len(shape) and all(
        wanted in (None, size) for size, wanted in zip(tensor.shape, shape, strict=True)
    )
    _require(fits and tensor.dtype == np.float64, f"shape or type of {name!r}")
    sound = not np.isnan(tensor).any() if allow_infinite else np.isfinite(tensor).all()
    _require(bool(sound), f"{name!r} must hold finite numbers")
    return tensor


def _texts(values: Any) -> bool:
    return isinstance(values, list) and all(isinstance(value, str) for value in values)


def _finite(value: Any) -> float:
    number = float(value)
    _require(math.isfinite(number), "a number must be finite")
    return number


def _size(value: Any) -> float:
    """Zero or more; infinite when the squares of a huge target overflow."""
    number = float(value)
    _require(number >= 0, "a loss, or what is counted, must not be negative")
    return number


def _require(condition: bool, what: str) -> None:
    if not condition:
        raise ModelFormatError(f"not a valid seplearn model: {what}")
