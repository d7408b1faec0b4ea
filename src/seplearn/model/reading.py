"""How much there is to read in a model: names of stages, curves that are not flat, their turns."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np

from seplearn.kernels.arrays import FloatArray
from seplearn.model.stage import Stage
from seplearn.table.binning import Bins

CurvePart: TypeAlias = Literal["backbone", "tilt", "plus", "minus", "main effect"]

_NAMED_FEATURES = 3  # a stage of more is named by two of them and how many there are besides
_LONGEST_FEATURE = 24
_TIMES = " \N{MULTIPLICATION SIGN} "
_SMALLEST_TURN = 0.01  # of a curve's own range


@dataclass(frozen=True, eq=False)
class ReadCurve:
    """A curve that is not flat.

    Attributes
    ----------
    stage : int or None
        None for a main effect.
    feature : int
    part : {"backbone", "tilt", "plus", "minus", "main effect"}
        Of a stage without backbone the factors of its products.
    turning_points : int or None
        How often it changes its direction; None for levels, which have no order.
    """

    stage: int | None
    feature: int
    part: CurvePart
    turning_points: int | None


def feature_weights(stage: Stage, bins: Bins) -> FloatArray:
    """How much every feature moves a stage, shape (p,).

    The variance of its log-factors over the training rows, summed over the products; where factors
    have signs, the variance of the sign is added.
    """
    weights = np.zeros(bins.n_axes)
    for branch in stage.active:
        weights += _variance(branch.log_factors, bins)
        if branch.negative is not None:
            weights += _variance(np.where(branch.negative, -1.0, 1.0), bins)
    return weights


def _variance(curves: FloatArray, bins: Bins) -> FloatArray:
    variance: FloatArray = bins.means((curves - bins.repeat_per_bin(bins.means(curves))) ** 2)
    return variance


def stage_name(stage: Stage, bins: Bins, names: Sequence[str]) -> str:
    """The features a stage depends on, the one that moves it most first: ``hour × workingday``.

    Of more than three features the first two are named: ``hour × workingday × 5 more``.
    """
    if stage.kind == "nothing":
        return "nothing"
    used = stage.features(bins)
    if not used:
        return "constant"
    weights = feature_weights(stage, bins)
    order = sorted(used, key=lambda j: -weights[j])
    words = [brief(names[j], _LONGEST_FEATURE) for j in order]
    if len(words) > _NAMED_FEATURES:
        words = [*words[: _NAMED_FEATURES - 1], f"{len(words) - _NAMED_FEATURES + 1} more"]
    return _TIMES.join(words)


def brief(name: str, longest: int = 60) -> str:
    """A name on one line, cut when it is long."""
    line = " ".join(str(name).split()) or "(no name)"
    return line if len(line) <= longest else line[: longest - 1] + "…"


def read_curves(
    stages: Sequence[Stage], effects: FloatArray | None, bins: Bins
) -> Iterator[ReadCurve]:
    """All curves of a model that are not exactly flat: of every stage, then main effects."""
    for s, stage in enumerate(stages):
        for part, moves, curve in _curves_of(stage):
            yield from _not_flat(s, part, moves, curve, bins)
    if effects is not None:
        yield from _not_flat(None, "main effect", effects, effects, bins)


def _curves_of(stage: Stage) -> Iterator[tuple[CurvePart, FloatArray, FloatArray]]:
    """What a stage is read by: a name, where it is not neutral, and the curves in all bins."""
    if stage.log_backbone is not None:
        yield "backbone", stage.log_backbone, stage.log_backbone
        if stage.tilt is not None:
            yield "tilt", stage.tilt, stage.tilt
        return
    parts: tuple[CurvePart, CurvePart] = ("plus", "minus")
    for part, branch in zip(parts, stage.sides, strict=True):
        if branch is not None:
            factors = branch.factors(slice(None))
            yield part, factors - 1.0, factors


def _not_flat(
    stage: int | None, part: CurvePart, moves: FloatArray, curve: FloatArray, bins: Bins
) -> Iterator[ReadCurve]:
    for j in np.flatnonzero(np.logical_or.reduceat(moves != 0.0, bins.offset[:-1])):
        turns = None
        if not bins.is_categorical[j]:
            ordered = slice(int(bins.offset[j]), int(bins.offset[j] + bins.n_ordered[j]))
            turns = turning_points(curve[ordered][bins.frequencies[ordered] > 0])
        yield ReadCurve(stage, int(j), part, turns)


def turning_points(curve: FloatArray, least: float = _SMALLEST_TURN) -> int:
    """How often a curve changes its direction.

    Plateaus are passed over, and so is a way back of less than ``least`` of the curve's range.

    Examples
    --------
    >>> import numpy as np
    >>> turning_points(np.array([0.0, 1.0, 1.0, 2.0])), turning_points(np.array([0.0, 2.0, 1.0]))
    (0, 1)
    """
    if len(curve) < 3:
        return 0
    smallest = least * float(curve.max() - curve.min())
    low = high = float(curve[0])  # since the last turn
    direction, turns = 0, 0
    for value in curve[1:].tolist():
        low, high = min(low, value), max(high, value)
        back = value - low if direction < 0 else high - value if direction > 0 else 0.0
        if direction == 0:
            if high - low > smallest:
                direction = 1 if value > low else -1
        elif back > smallest:
            direction, turns = -direction, turns + 1
            low = high = value
    return turns
