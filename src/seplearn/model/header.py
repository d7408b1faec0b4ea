"""What stands in the header of a model file beside sizes: parameters, history, ranges."""

from __future__ import annotations

import math
import numbers
from collections.abc import Mapping
from dataclasses import asdict, fields
from typing import Any

import numpy as np
from numpy.typing import NDArray

from seplearn.model.checks import Supply, count, finite, flag, require, size, table
from seplearn.model.record import EditRecord, SizePath, StageRecord

Labels = NDArray[Any]
_KINDS_OF_LABELS = {"str", "bool", *(f"{u}int{n}" for u in ("", "u") for n in (8, 16, 32, 64))}
_KINDS_OF_LABELS |= {"float32", "float64"}
_WORDS_OF_STATE = 624  # of the Mersenne twister
# What not every way of fitting knows, and 0.1.0 did not.
_OPTIONAL = ("cancellation", "freedom", "validation_loss", "n_sweeps")
_PATH = {field.name for field in fields(SizePath)}
_EDIT = {field.name for field in fields(EditRecord)}
_DEEPEST = 3  # lists in the arguments of an edit
_RECORD = {field.name for field in fields(StageRecord)} - {"scalars"} | {"n_scalars"}


def plain_range(ends: tuple[float, float] | None) -> list[float | None] | None:
    """The range of a feature as JSON; None is an end that is infinite."""
    return None if ends is None else [end if math.isfinite(end) else None for end in ends]


def read_range(ends: Any) -> tuple[float, float] | None:
    """What :func:`plain_range` wrote."""
    if ends is None:
        return None
    require(isinstance(ends, list) and len(ends) == 2, "range of a numeric feature")
    low = -math.inf if ends[0] is None else finite(ends[0])
    high = math.inf if ends[1] is None else finite(ends[1])
    require(low <= high, "range of a numeric feature")
    return low, high


def plain_record(record: StageRecord) -> dict[str, Any]:
    """A record as JSON; its scalars, of which there are many, stand in an array."""
    values = asdict(record)
    return values | {"n_scalars": len(values.pop("scalars"))}


def read_record(values: Any, scalars: Supply) -> StageRecord:
    """What :func:`plain_record` wrote."""
    require(isinstance(values, dict), "the history must hold tables")
    given = table(dict.fromkeys(_OPTIONAL) | values, _RECORD, "the history")
    own = scalars.take(count(given["n_scalars"]))
    return StageRecord(
        loss=size(given["loss"]),
        n_kept=count(given["n_kept"]),
        n_grids=count(given["n_grids"]),
        mean_actions=finite(size(given["mean_actions"])),
        scalars=tuple((float(plus), float(minus)) for plus, minus in own),
        intercept=finite(given["intercept"]),
        seconds=finite(size(given["seconds"])),
        **{name: None if given[name] is None else size(given[name]) for name in _OPTIONAL},
    )


def read_path(values: Any) -> SizePath:
    """A path of sizes, which is written as it is."""
    given = table(values, _PATH, "a path of sizes")
    lists = [given["losses"], given["errors"]]
    require(all(isinstance(part, list) for part in lists), "a path of sizes must hold lists")
    losses, errors = (tuple(size(value) for value in part) for part in lists)
    require(len(losses) == len(errors) > 0, "lengths of a path of sizes")
    chosen = given["chosen"]
    taken = None if chosen is None else count(chosen, len(losses) - 1)
    return SizePath(flag(given["main_effects"]), losses, errors, taken)


def read_edits(values: Any) -> tuple[EditRecord, ...]:
    """Changes made after a fit, which are written as they are."""
    require(isinstance(values, list), "edits must be a list")
    return tuple(_edit(value) for value in values)


def _edit(values: Any) -> EditRecord:
    given = table(values, _EDIT, "an edit")
    operation, arguments, reason = given["operation"], given["arguments"], given["reason"]
    require(type(operation) is str and operation.isidentifier(), "name of an edit")
    require(type(reason) is str and bool(reason.strip()), "reason of an edit")
    require(isinstance(arguments, dict), "arguments of an edit")
    if operation == "make_monotone":  # whose arguments later edits keep to
        direction = arguments.get("direction")
        known = type(arguments.get("feature")) is str and type(direction) is int
        require(known and direction in (-1, 1), "arguments of an edit")
    return EditRecord(operation, {k: _argument(v, _DEEPEST) for k, v in arguments.items()}, reason)


def _argument(value: Any, depth: int) -> Any:
    if isinstance(value, list):
        require(depth > 0, "arguments of an edit are nested too deeply")
        return [_argument(item, depth - 1) for item in value]
    if isinstance(value, float):
        return finite(value)
    require(value is None or type(value) in (bool, int, str), "arguments of an edit")
    return value


def plain_labels(labels: Labels) -> dict[str, Any]:
    """Labels of classes as JSON, with the kind of array they are in."""
    kind = "str" if labels.dtype.kind in "UO" else labels.dtype.name
    return {"kind": kind, "labels": labels.tolist()}


def read_labels(values: Any) -> Labels:
    """What :func:`plain_labels` wrote: at least two labels, none twice."""
    given = table(values, {"kind", "labels"}, "the classes")
    labels, kind = given["labels"], given["kind"]
    require(isinstance(labels, list) and len(labels) >= 2, "a classifier has two classes or more")
    known = type(kind) is str and kind in _KINDS_OF_LABELS
    require(known, "kind of the labels of the classes")
    single = {"str": str, "bool": bool}.get(kind, float if kind.startswith("float") else int)
    require(all(type(label) is single for label in labels), "labels of the classes")
    require(len(set(labels)) == len(labels), "classes must be distinct")
    if single is int:
        limits = np.iinfo(kind)
        inside = all(limits.min <= label <= limits.max for label in labels)
        require(inside, "labels of the classes are too large for their kind")
    with np.errstate(over="ignore"):
        read: Labels = np.array(labels, dtype=object if kind == "str" else kind)
    require(read.tolist() == labels, "labels of the classes are too large for their kind")
    return read


def plain_parameter(value: Any) -> Any:
    """A parameter as JSON; a RandomState becomes its state."""
    if isinstance(value, np.random.RandomState):
        state: Any = value.get_state(legacy=False)
        key = [int(word) for word in state["state"]["key"]]
        return {"RandomState": [key, state["state"]["pos"], state["has_gauss"], state["gauss"]]}
    if isinstance(value, (bool, np.bool_)):
        return bool(value)
    if isinstance(value, numbers.Real):
        return int(value) if isinstance(value, numbers.Integral) else float(value)
    if isinstance(value, (list, tuple, np.ndarray)):
        return [plain_parameter(item) for item in value]
    if isinstance(value, Mapping):
        return {str(key): plain_parameter(item) for key, item in value.items()}
    return value


def read_parameters(values: Any) -> dict[str, Any]:
    """Parameters of an estimator: single values, or one list or table of them."""
    require(isinstance(values, dict), "parameters must be a table")
    return {name: _parameter(name, value) for name, value in values.items()}


def _parameter(name: str, value: Any) -> Any:
    if name == "random_state" and isinstance(value, dict):
        return _random_state(table(value, {"RandomState"}, "a random state")["RandomState"])
    parts = list(value.values()) if isinstance(value, dict) else value
    parts = parts if isinstance(parts, list) else [parts]
    single = all(part is None or isinstance(part, (bool, int, float, str)) for part in parts)
    require(single, f"parameter {name!r} must not be nested")
    return value


def _random_state(state: Any) -> np.random.RandomState:
    """A generator in this state; NumPy itself would read beyond the end of its words."""
    require(isinstance(state, list) and len(state) == 4, "parts of a random state")
    key, position, has_gauss, gauss = state
    words = isinstance(key, list) and len(key) == _WORDS_OF_STATE
    require(words, f"a random state must have {_WORDS_OF_STATE} words")
    checked = np.array([count(word, 2**32 - 1) for word in key], dtype=np.uint32)
    random = np.random.RandomState()
    random.set_state(
        ("MT19937", checked, count(position, _WORDS_OF_STATE), count(has_gauss, 1), finite(gauss))
    )
    return random
