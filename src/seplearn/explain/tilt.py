"""Where a stage gets its sign from: whose tilt varies, and where the sign flips."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any, ClassVar

import numpy as np

from seplearn.explain.axes import place_texts
from seplearn.explain.result import Explanation
from seplearn.explain.subject import Subject, check_number
from seplearn.kernels.arrays import BoolArray, FloatArray
from seplearn.table.binning import Axis
from seplearn.table.description import AxisDescription

_SMALLEST_RUN = 0.01  # of the training weight: a shorter excursion of the sign is no flip


@dataclass(frozen=True)
class Flip:
    """A value of a numeric feature at which a stage changes its sign.

    Attributes
    ----------
    at : float
        The edge between the bins.
    upward : bool
        Whether the stage is negative below and positive above.
    between : pair of float, optional
        The values on either side, for a feature with few values.
    span : float
        The width of where most values of the feature lie; texts round to a hundredth of it.

    Examples
    --------
    >>> from seplearn import TSLRegressor, datasets, explain
    >>> X, y = datasets.masked_interaction(2000, as_frame=True, random_state=0)
    >>> model = TSLRegressor(n_stages=1, random_state=0).fit(X, y)
    >>> flip = explain.tilt(model, 0).flips[2][0]
    >>> abs(flip.at + 1.0) < 0.2
    True
    """

    at: float
    upward: bool
    between: tuple[float, float] | None = None
    span: float = field(default=0.0, compare=False)


def places(flips: Sequence[Flip]) -> list[str]:
    """Where flips along one feature are, in words, with as many digits as tell them apart."""
    words = place_texts([flip.at for flip in flips], max((f.span for f in flips), default=0.0))
    return [
        f"at {word}" if flip.between is None else "between {:.6g} and {:.6g}".format(*flip.between)
        for word, flip in zip(words, flips, strict=True)
    ]


@dataclass(frozen=True, eq=False, repr=False)
class TiltDiagnostics(Explanation):
    """Which features carry the direction of one stage.

    Only the variation of a tilt means something, not its level, which can be moved into the
    intercept d_0. So a feature says nothing about direction when its tilt is constant.

    Attributes
    ----------
    stage : int
    stage_name : str
        The features that the stage depends on.
    names : tuple of str
        Of the features.
    intercept : float
        d_0; NaN for a stage that has no tilt.
    spread : array of shape (p,)
        Standard deviation of every tilt over the training rows.
    share : array of shape (p,)
        Its square as a share of the sum over features.
    constant : array of bool of shape (p,)
        Where the spread is below ``tolerance`` times that of all tilts together.
    flips : tuple of tuple of Flip
        For each numeric feature whose tilt varies, where ``d_0 + d_j(x_j)`` changes its sign:
        where the stage does when the tilts of all other features are at their mean, which is
        zero. Excursions of less than 1 % of the training rows are passed over.
    up, down : tuple of tuple of str
        For each categorical feature whose tilt varies, the levels with a positive and a negative
        ``d_0 + d_j``.

    Examples
    --------
    >>> from seplearn import TSLRegressor, datasets, explain
    >>> X, y = datasets.masked_interaction(2000, as_frame=True, random_state=0)
    >>> model = TSLRegressor(n_stages=1, random_state=0).fit(X, y)
    >>> tilt = explain.tilt(model, 0)
    >>> tilt.names[tilt.share.argmax()], [len(flips) for flips in tilt.flips]
    ('x3', [0, 0, 1])
    """

    _figure: ClassVar[str] = "plot_tilt"

    stage: int
    stage_name: str
    names: tuple[str, ...]
    axes: tuple[Axis, ...]
    frequencies: tuple[FloatArray, ...]
    intercept: float
    tilts: tuple[FloatArray, ...]
    spread: FloatArray
    share: FloatArray
    constant: BoolArray
    flips: tuple[tuple[Flip, ...], ...]
    up: tuple[tuple[str, ...], ...]
    down: tuple[tuple[str, ...], ...]

    def _columns(self) -> dict[str, Any]:
        return {
            "stage": np.full(len(self.names), self.stage),
            "stage_name": [self.stage_name] * len(self.names),
            "feature": list(self.names),
            "spread": self.spread,
            "share": self.share,
            "constant": self.constant,
            "flips": [", ".join(f"{flip.at:.6g}" for flip in flips) for flips in self.flips],
        }


def tilt(model: Any, stage: int, *, tolerance: float = 0.05) -> TiltDiagnostics:
    """Whose tilt varies in a stage, and where the stage changes its sign.

    Parameters
    ----------
    model : fitted estimator, ClassView or SeparationModel
        A fitted estimator (of several classes what its ``for_class`` gives), or its ``model_``.
    stage : int
        Counted from zero.
    tolerance : float
        A tilt with less than this share of the spread of all tilts counts as constant.

    Examples
    --------
    >>> from seplearn import TSLRegressor, datasets, explain
    >>> X, y = datasets.masked_interaction(2000, random_state=0)
    >>> model = TSLRegressor(n_stages=2, random_state=0).fit(X, y)
    >>> diagnostics = explain.tilt(model, 0)
    >>> int(diagnostics.spread.argmax())
    2
    """
    subject = Subject.of(model)
    number = subject.stage(stage)
    rule = "a number from 0 to 1"
    tolerance = check_number("tolerance", tolerance, rule, lambda v: 0 <= v <= 1)
    return diagnose(subject, number, tolerance)


def diagnose(subject: Subject, stage: int, tolerance: float) -> TiltDiagnostics:
    """The diagnostics of one stage of a subject."""
    model, bins = subject.model, subject.model.bins
    d0, tilts = model.stages[stage].tilt_intercept, model.stages[stage].tilt
    if tilts is None:
        tilts = np.zeros(len(bins.frequencies))
    variance = bins.means(tilts**2) - bins.means(tilts) ** 2
    spread = np.sqrt(np.maximum(variance, 0.0))
    whole = float(np.sum(spread**2))
    parts = [tilts[bins.axis(j)] for j in range(bins.n_axes)]
    frequencies = [bins.frequencies[bins.axis(j)].copy() for j in range(bins.n_axes)]
    found = zip(bins.axes, parts, frequencies, strict=True)
    constant = spread <= tolerance * np.sqrt(whole)
    described = [
        ((), (), ()) if flat else _signs(axis, d0 + part, weight)
        for flat, (axis, part, weight) in zip(constant, found, strict=True)
    ]
    return TiltDiagnostics(
        stage=stage,
        stage_name=subject.stage_names[stage],
        names=subject.names,
        axes=bins.axes,
        frequencies=tuple(frequencies),
        intercept=d0,
        tilts=tuple(parts),
        spread=spread,
        share=spread**2 / whole if whole > 0 else np.zeros(bins.n_axes),
        constant=constant,
        flips=tuple(flips for flips, _, _ in described),
        up=tuple(up for _, up, _ in described),
        down=tuple(down for _, _, down in described),
        library=subject.schema.library,
        quantity=subject.quantity,
    )


def _signs(
    axis: Axis, total: FloatArray, weight: FloatArray
) -> tuple[tuple[Flip, ...], tuple[str, ...], tuple[str, ...]]:
    if np.isnan(total).any():
        return (), (), ()
    description = axis.describe()
    if description.kind == "categorical":
        seen = [(name, total[b]) for b, name in enumerate(description.levels) if weight[b] > 0]
        up = tuple(name for name, value in seen if value > 0)
        return (), up, tuple(name for name, value in seen if value < 0)
    return find_flips(description, total[:-1], weight[:-1]), (), ()


def find_flips(
    description: AxisDescription, total: FloatArray, weight: FloatArray
) -> tuple[Flip, ...]:
    """Edges at which ``total`` changes its sign, excursions of little weight left out."""
    runs: list[list[Any]] = []  # [sign, first bin, weight]
    for b in np.flatnonzero(weight > 0):
        sign = bool(total[b] > 0)
        if runs and runs[-1][0] == sign:
            runs[-1][2] += weight[b]
        else:
            runs.append([sign, int(b), float(weight[b])])
    kept = [run for run in runs if run[2] >= _SMALLEST_RUN * weight.sum()]
    return tuple(
        flip_at(description, after[1], upward=after[0])
        for before, after in pairwise(kept)
        if before[0] != after[0]
    )


def flip_at(description: AxisDescription, b: int, upward: bool) -> Flip:
    """The flip at the lower edge of bin ``b``."""
    between = None
    if description.has_few_values:
        between = (float(description.values[b - 1]), float(description.values[b]))
    # Edges lie as dense as values: those in the middle tell where most values are.
    finite = description.edges[np.isfinite(description.edges)]
    low, high = np.quantile(finite, (0.1, 0.9)) if len(finite) else (0.0, 0.0)
    return Flip(float(description.lower[b]), upward, between, float(high - low))
