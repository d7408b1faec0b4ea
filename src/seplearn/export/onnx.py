"""A model as an ONNX graph: bins by comparison and look-up, curves by look-up, then sums.

Inside, numbers have double precision whatever the inputs have: a value must fall into the bin that
the library puts it into.
"""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from seplearn._rules import Choice
from seplearn.export.json import as_float, level_bins
from seplearn.losses.links import LARGEST_LOG as LARGEST_LINKED
from seplearn.model.stage import LARGEST_LOG

PRECISIONS = Choice(("double", "float"))
# What onnxruntime has known for years; newer ones bring nothing that is needed.
_OPSET, _ML_OPSET, _IR_VERSION = 17, 3, 8
_OUTPUTS = ("prediction", "label", "probabilities", "contributions")
_LARGEST = 1.7976931348623157e308


def to_onnx(plain: dict[str, Any], precision: str, explain: bool, missing: str) -> Any:
    """The graph of the model of a document, as an ``onnx.ModelProto``."""
    try:
        import onnx
    except ImportError as error:
        raise ModuleNotFoundError(
            "to_onnx needs the package onnx: pip install 'seplearn[onnx]'"
        ) from error
    _check_names(plain, missing)
    graph = _Graph(plain, precision, onnx)
    bins = graph.bins(missing)
    parts, names, totals = [], [], []
    for k, terms in enumerate(plain["sums"]):
        own, total = graph.sum(terms, bins)
        parts += own
        names += _part_names(plain, terms, k)
        totals.append(total)
    if plain["offset"] is not None:
        added = graph.offset()
        totals = [graph.node("Add", total, added) for total in totals]
        parts, names = [*parts, added], [*names, "offset"]
    graph.predict(totals)
    if explain:
        graph.output("contributions", graph.node("Concat", *parts, axis=1), len(parts))
    return graph.model(names if explain else None)


def _check_names(plain: dict[str, Any], missing: str) -> None:
    offset = plain["offset"]
    names = [feature["name"] for feature in plain["features"]]
    for name in [*names, *([offset["name"]] if offset else [])]:
        if not name or name in _OUTPUTS:
            raise ValueError(
                "names of features must not be empty, nor those of outputs "
                f"({', '.join(_OUTPUTS)}), got {name!r}"
            )
    for feature in plain["features"]:
        if feature["kind"] == "categorical" and missing in level_bins(feature):
            raise ValueError(
                f"missing_level must be a text that is no level of {feature['name']!r}, got "
                f"{missing!r}"
            )


def _part_names(plain: dict[str, Any], terms: dict[str, Any], k: int) -> list[str]:
    """What the contributions to a sum are; of several classes with the class they are to."""
    to = f" of {plain['classes'][k]}" if len(plain["sums"]) > 1 else ""
    effects = [plain["features"][effect["feature"]]["name"] for effect in terms["effects"]]
    stages = [f"stage {s}: {stage['name']}" for s, stage in enumerate(terms["stages"])]
    names = ["intercept", *(f"main effect of {name}" for name in effects), *stages]
    return [f"{name}{to}" for name in names]


class _Graph:
    """Nodes, constants, inputs and outputs; a tensor is known by its name."""

    def __init__(self, plain: dict[str, Any], precision: str, onnx: Any) -> None:
        self._plain, self._onnx = plain, onnx
        types = onnx.TensorProto
        self._type = types.DOUBLE if precision == "double" else types.FLOAT
        self._nodes: list[Any] = []
        self._constants: list[Any] = []
        self._inputs: list[Any] = []
        self._outputs: list[Any] = []
        # Longer than any run of underscores that the name of a feature begins with.
        names = [feature["name"] for feature in plain["features"]]
        names += [] if plain["offset"] is None else [plain["offset"]["name"]]
        self._prefix = "_" * (1 + max(len(name) - len(name.lstrip("_")) for name in names))

    def node(self, operation: str, *inputs: str, domain: str = "", **attributes: Any) -> str:
        name = f"{self._prefix}{len(self._nodes)}"
        make = self._onnx.helper.make_node
        self._nodes.append(make(operation, list(inputs), [name], name, domain=domain, **attributes))
        return name

    def constant(self, values: Any) -> str:
        name = f"{self._prefix}constant{len(self._constants)}"
        array = np.asarray(values)
        self._constants.append(self._onnx.numpy_helper.from_array(array, name))
        return name

    def as_many(self, value: float, column: str) -> str:
        """A number, as often as an input has rows."""
        array = self._onnx.numpy_helper.from_array(np.array([value]))
        return self.node("ConstantOfShape", self.node("Shape", column), value=array)

    def input(self, name: str, kind: int) -> str:
        make = self._onnx.helper.make_tensor_value_info
        self._inputs.append(make(name, kind, ["rows", 1]))
        return name

    def output(self, name: str, tensor: str, width: int | None, kind: int | None = None) -> None:
        """An output of numbers in the precision asked for, or of another kind as it is."""
        helper = self._onnx.helper
        if kind is None:
            self._nodes.append(helper.make_node("Cast", [tensor], [name], name, to=self._type))
        else:
            self._nodes.append(helper.make_node("Identity", [tensor], [name], name))
        shape = ["rows"] if width is None else ["rows", width]
        self._outputs.append(helper.make_tensor_value_info(name, kind or self._type, shape))

    def bins(self, missing: str) -> list[str]:
        """The bin of every feature, all of which are inputs."""
        types = self._onnx.TensorProto
        found = []
        for feature in self._plain["features"]:
            is_number = feature["kind"] == "numeric"
            value = self.input(feature["name"], self._type if is_number else types.STRING)
            bin_ = self._bin_of_number if is_number else self._bin_of_level
            found.append(bin_(feature, value, missing))
        return found

    def _bin_of_number(self, feature: dict[str, Any], value: str, _: str) -> str:
        types = self._onnx.TensorProto
        edges = [as_float(edge) for edge in feature["edges"]]
        number = self.node("Cast", value, to=types.DOUBLE)
        is_missing = self.node("IsNaN", number)
        # An edge that is never reached, so that there is one.
        below = self.constant(np.array([edges or [math.nan]]))
        counted = self.node("Cast", self.node("LessOrEqual", below, number), to=types.INT64)
        count = self.node("ReduceSum", counted, self.constant([1]), keepdims=1)
        return self.node("Where", is_missing, self.constant([len(edges) + 1]), count)

    def _bin_of_level(self, feature: dict[str, Any], value: str, missing: str) -> str:
        n_levels = len(feature["levels"])
        bins = level_bins(feature) | {missing: n_levels + 1}
        return self.node(
            "LabelEncoder", value, domain="ai.onnx.ml",
            keys_strings=[name.encode("utf-8", "surrogatepass") for name in bins],
            values_int64s=list(bins.values()), default_int64=n_levels + 2,
        )  # fmt: skip

    def curve(self, values: Sequence[float], bin_: str) -> str:
        return self.node("Gather", self.constant(np.array(values, dtype=np.float64)), bin_)

    def added(self, tensors: Sequence[str]) -> str:
        total = tensors[0]
        for tensor in tensors[1:]:
            total = self.node("Add", total, tensor)
        return total

    def bounded(self, low: float, tensor: str, high: float) -> str:
        above = self.node("Max", tensor, self.constant([low]))
        return self.node("Min", above, self.constant([high]))

    def sum(self, terms: dict[str, Any], bins: Sequence[str]) -> tuple[list[str], str]:
        """The constant, main effects and stages of a sum, and what they add up to."""
        start = self.as_many(terms["intercept"], self._plain["features"][0]["name"])
        effects = [self.curve(one["values"], bins[one["feature"]]) for one in terms["effects"]]
        stages = [self.stage(stage, bins, start) for stage in terms["stages"]]
        total = self.bounded(-_LARGEST, self.added([*effects, start, *stages]), _LARGEST)
        return [start, *effects, *stages], total

    def stage(self, stage: dict[str, Any], bins: Sequence[str], any_rows: str) -> str:
        """The sum of its products, as often as there are rows even where none depends on them."""
        zeros = self.node("Sub", any_rows, any_rows)
        return self.added([zeros, *(self._product(one, bins) for one in stage["products"])])

    def _product(self, product: dict[str, Any], bins: Sequence[str]) -> str:
        curves = product["curves"]
        logs = [self.curve(curve["log_size"], bins[curve["feature"]]) for curve in curves]
        log_size = self.added([*logs, self.constant([[product["log_scale"]]])])
        size = self.node("Exp", self.node("Min", log_size, self.constant([LARGEST_LOG])))
        for curve in curves:
            if "negative" in curve:
                signs = [1.0 - 2.0 * is_negative for is_negative in curve["negative"]]
                size = self.node("Mul", size, self.curve(signs, bins[curve["feature"]]))
        return self.node("Mul", size, self.constant([float(product["sign"])]))

    def offset(self) -> str:
        """The column that is added to the sum, or the log of it; NaN where that is not finite."""
        own = self._plain["offset"]
        given = self.input(own["name"], self._type)
        number = self.node("Cast", given, to=self._onnx.TensorProto.DOUBLE)
        added = self.node("Log", number) if own["is_exposure"] else number
        is_finite = self.node("LessOrEqual", self.node("Abs", added), self.constant([_LARGEST]))
        return self.node("Where", is_finite, added, self.constant([math.nan]))

    def predict(self, totals: Sequence[str]) -> None:
        """The prediction, of a classifier label and probabilities."""
        link, total = self._plain["link"], totals[0]
        if link == "softmax":
            together = self.node("Concat", *totals, axis=1)
            self._output_label(self.node("ArgMax", together, axis=1, keepdims=0))
            self.output("probabilities", self.node("Softmax", together, axis=1), len(totals))
            return
        if link == "identity":
            self.output("prediction", total, 1)
            return
        bounded = self.bounded(-LARGEST_LINKED, total, LARGEST_LINKED)
        if link == "log":
            self.output("prediction", self.node("Exp", bounded), 1)
            return
        one = self.constant([1.0])
        chances = [
            self.node("Div", one, self.node("Add", one, self.node("Exp", log_odds)))
            for log_odds in (bounded, self.node("Neg", bounded))
        ]
        is_second = self.node("Greater", total, self.constant([0.0]))
        self._output_label(self.node("Cast", is_second, to=self._onnx.TensorProto.INT64))
        self.output("probabilities", self.node("Concat", *chances, axis=1), 2)

    def _output_label(self, place: str) -> None:
        """The labels at these places."""
        labels = self._plain["classes"]
        is_text = isinstance(labels[0], str)
        known = np.array(labels, dtype=object if is_text else None)
        types, helper = self._onnx.TensorProto, self._onnx.helper
        kind = types.STRING if is_text else helper.np_dtype_to_tensor_dtype(known.dtype)
        flat = self.node("Reshape", place, self.constant([-1]))
        self.output("label", self.node("Gather", self.constant(known), flat), None, kind)

    def model(self, contributions: list[str] | None) -> Any:
        """The whole; the names of contributions stand in its metadata."""
        helper = self._onnx.helper
        graph = helper.make_graph(
            self._nodes, "seplearn", self._inputs, self._outputs, initializer=self._constants
        )
        opsets = [
            helper.make_opsetid("", _OPSET), helper.make_opsetid("ai.onnx.ml", _ML_OPSET)
        ]  # fmt: skip
        model = helper.make_model(graph, opset_imports=opsets, producer_name="seplearn")
        model.ir_version = _IR_VERSION
        if contributions is not None:
            helper.set_model_props(model, {"contributions": json.dumps(contributions)})
        self._onnx.checker.check_model(model, full_check=True)
        return model
