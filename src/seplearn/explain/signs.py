"""Where signs change over all stages and main effects together, and for which share of the rows."""

from __future__ import annotations

import itertools
from dataclasses import dataclass

import numpy as np

from seplearn.explain.products import SIDE_SIGN, rest_of_products, side_factors
from seplearn.explain.sizes import few_rows, largest
from seplearn.explain.tilt import Flip, flip_at
from seplearn.kernels.arrays import FloatArray, IntArray
from seplearn.model.model import SeparationModel
from seplearn.model.reference import Reference
from seplearn.table.binning import Bins

_SMALLEST_SIDE = 0.02  # of the size of a shape: a smaller excursion of the sign is no flip
_FEWEST_NEGATIVE = 0.01  # of the predictions: with fewer, the sign says nothing
_HARDLY = 0.05
_MOST_ROWS = 1_000
_MOST_STEPS, _SAME = 500, 1e-10
_LEAST_AGREEMENT = 0.85  # of what is predicted has the sign that is told of its side
_LEAST_SHARE = 0.5  # of the rows whose prediction changes its sign


@dataclass(frozen=True)
class SignChange:
    """Where something changes its sign along one feature, at one place for most of the rows.

    Attributes
    ----------
    feature : int
    name : str
        Of the feature.
    flips : tuple of Flip
        The places, for a numeric feature. ``upward`` is as for most of the rows.
    up, down : tuple of str
        For levels, those on either side; ``up`` are those with the sign that is positive for most
        of the rows.
    share : float
        Share of the rows that change their sign there, one way or the other.

    Examples
    --------
    >>> from seplearn import TSLRegressor, datasets, explain
    >>> X, y = datasets.masked_interaction(2000, as_frame=True, random_state=0)
    >>> model = TSLRegressor(n_stages=2, random_state=0).fit(X, y)
    >>> change = explain.summary(model)["x3"].sign
    >>> change.name, len(change.flips), abs(change.flips[0].at + 1.0) < 0.2
    ('x3', 1, True)
    """

    feature: int
    name: str
    flips: tuple[Flip, ...]
    up: tuple[str, ...]
    down: tuple[str, ...]
    share: float


@dataclass(frozen=True)
class Factored:
    """Values of rows over the bins of a feature, ``left @ right``, and what rows and bins weigh."""

    left: FloatArray  # (n, K)
    right: FloatArray  # (K, n_bins)
    weight: FloatArray  # (n,)
    frequencies: FloatArray  # (n_bins,)

    @property
    def shape(self) -> FloatArray:
        """The curve over the bins that rows share but for a factor, in squares as near as can be.

        It is the leading right singular vector of the table, found by powers of a matrix of K x K,
        which is much smaller than the table.
        """
        rows = (self.left.T * self.weight) @ self.left
        step = rows @ ((self.right * self.frequencies) @ self.right.T)
        mixture = rows[:, int(np.argmax(np.diag(step)))]
        for _ in range(_MOST_STEPS):
            after = step @ (mixture / largest(mixture))
            after /= largest(after)
            done = np.abs(after - mixture).max() < _SAME
            mixture = after
            if done:
                break
        curve: FloatArray = mixture @ self.right
        return curve / largest(curve)

    def common_part(self, shape: FloatArray) -> float:
        """The share of the squares that is left if every row has a multiple of the shape."""
        inner = (self.right * self.frequencies) @ self.right.T
        squares = float((((self.left.T * self.weight) @ self.left) * inner).sum())
        factors = self.left @ (self.right @ (shape * self.frequencies))
        size = float(self.frequencies @ shape**2)
        return float(self.weight @ factors**2) / (size * squares) if size * squares > 0.0 else 1.0

    @property
    def centred(self) -> Factored:
        """The same values less their mean over the bins, row by row."""
        means = self.right @ self.frequencies
        return Factored(self.left, self.right - means[:, None], self.weight, self.frequencies)


def prediction_along(model: SeparationModel, rows: Reference, j: int) -> Factored:
    """The predictions of rows with one feature moved through its bins."""
    axis = model.bins.axis(j)
    others = np.delete(model.effect_values(rows.codes), j, axis=1).sum(axis=1)
    own = np.zeros(axis.stop - axis.start) if model.effects is None else model.effects[axis]
    still = np.column_stack([model.intercept + others, np.ones(len(others))])
    left, right = _products(model, rows, [j])
    curves = np.vstack([np.ones_like(own), own, _curves(model, axis)])
    return _in_unit(np.hstack([still, left]), curves, rows, model.bins.frequencies[axis], right)


def effect_along(
    model: SeparationModel, rows: Reference, j: int, k: int, shape: FloatArray
) -> Factored:
    """How much of a ``shape`` over feature j is in rows in which feature k is moved.

    It is the factor by which the effect of feature j has this shape: where it is negative, the
    effect is turned upside down.
    """
    bins, axis = model.bins, model.bins.axis(j)
    measured = shape * bins.frequencies[axis]
    measured -= bins.frequencies[axis] * measured.sum()
    alone = 0.0 if model.effects is None else float(model.effects[axis] @ measured)
    left, right = _products(model, rows, [j, k])
    left = left * (_curves(model, axis) @ measured)
    moved = bins.axis(k)
    curves = np.vstack([np.ones(moved.stop - moved.start), _curves(model, moved)])
    still = np.full((len(left), 1), alone)
    return _in_unit(np.hstack([still, left]), curves, rows, bins.frequencies[moved], right)


def _products(
    model: SeparationModel, rows: Reference, features: list[int]
) -> tuple[FloatArray, FloatArray]:
    """Both products of all stages without some factors, (n, 2 S), and the signs they have."""
    rest = rest_of_products(model, rows.codes, features).reshape(-1, len(rows.codes)).T
    return rest, np.tile(SIDE_SIGN, len(model.stages))


def _curves(model: SeparationModel, axis: slice) -> FloatArray:
    """The factors of both products of all stages over the bins of a feature, (2 S, n_bins)."""
    curves = [side_factors(stage, axis) for stage in model.stages]
    return np.array(curves).reshape(-1, axis.stop - axis.start)


def _in_unit(
    left: FloatArray, right: FloatArray, rows: Reference, frequencies: FloatArray, signs: FloatArray
) -> Factored:
    """Signed, and in a unit in which squares neither overflow nor vanish."""
    left[:, left.shape[1] - len(signs) :] *= signs
    sizes = np.abs(right).max(axis=1)
    left = left * sizes
    right = right / np.where(sizes > 0.0, sizes, 1.0)[:, None]
    return Factored(left / largest(left), right, rows.weight, frequencies)


def sign_change(values: Factored, bins: Bins, j: int, name: str) -> SignChange | None:
    """Where values change their sign along feature j, at one place for most of the rows.

    The shape that all rows share but for a factor has the sign of each of them, or the opposite.
    There is a common change when this shape has both signs (each with at least 2 % of its size)
    and at least 85 % of all values, counted by size, have the sign that is told of their side.
    """
    shape, description = values.shape, bins.axes[j].describe()
    weight = values.frequencies * np.abs(shape)
    is_categorical = description.kind == "categorical"
    parts = _sides(shape, values.frequencies) if is_categorical else _runs(shape[:-1], weight[:-1])
    if len(parts) < 2:
        return None
    table = values.left @ values.right
    size = values.weight[:, None] * values.frequencies * np.abs(table)
    told = _signs_told(shape, parts)
    if not is_categorical:
        told[-1] = np.sign(shape[-1])  # of missing values, which have no place
    as_told = np.sign(table) * told
    towards = np.where((size * as_told).sum(axis=1) >= 0, 1.0, -1.0)
    agreed = (size * (as_told * towards[:, None] > 0)).sum()
    if agreed < _LEAST_AGREEMENT * size.sum():
        return None
    sums = np.array([table[:, part] @ values.frequencies[part] for part in parts])
    turns = np.all(sums[:-1] * sums[1:] < 0, axis=0)
    share = float(values.weight[turns].sum() / values.weight.sum())
    way = 1.0 if size.sum(axis=1) @ towards >= 0 else -1.0  # that of most rows
    if is_categorical:
        up, down = (
            tuple(description.labels[b] for b in side)
            for side in (parts if way > 0 else parts[::-1])
        )
        return SignChange(j, name, (), up, down, share)
    flips = tuple(
        flip_at(description, int(after[0]), upward=bool(way * shape[after[0]] > 0))
        for after in parts[1:]
    )
    return SignChange(j, name, flips, (), (), share)


def sign_of_prediction(
    model: SeparationModel, rows: Reference, j: int, name: str
) -> SignChange | None:
    """Where the prediction changes its sign along a feature, for at least half of the rows."""
    values = prediction_along(model, few_rows(rows, _MOST_ROWS), j)
    found = sign_change(values, model.bins, j, name)
    return found if found is not None and found.share >= _LEAST_SHARE else None


def has_both_signs(model: SeparationModel, rows: Reference) -> bool:
    """Whether the sign of the prediction says something: enough rows have either."""
    return signs_differ(float(rows.weight[model.predict(rows.codes) < 0].sum()))


def signs_differ(negative: float) -> bool:
    """The same, given the share of rows with a negative prediction."""
    return _FEWEST_NEGATIVE <= negative <= 1.0 - _FEWEST_NEGATIVE


def sign_of_curve(curve: FloatArray, bins: Bins, j: int, name: str) -> SignChange | None:
    """Where one curve over the bins of a feature changes its sign."""
    curve = curve / largest(curve)
    axis = bins.frequencies[bins.axis(j)]
    return sign_change(Factored(np.ones((1, 1)), curve[None], np.ones(1), axis), bins, j, name)


def _signs_told(shape: FloatArray, parts: list[IntArray]) -> FloatArray:
    """The sign that is told of every bin, one for each part; zero where none is told."""
    signs = np.zeros(len(shape))
    for part in parts:
        signs[part] = np.sign(shape[part[0]])
    return signs


def _sides(shape: FloatArray, frequencies: FloatArray) -> list[IntArray]:
    """Levels with a positive and with a negative value; only one side if the other is small.

    A level whose value is next to nothing beside the mean size is on neither side.
    """
    weight = frequencies * np.abs(shape)
    usual = weight.sum() / frequencies.sum()
    clear = (frequencies > 0) & (np.abs(shape) > _HARDLY * usual)
    sides = [np.flatnonzero(clear & (shape > 0)), np.flatnonzero(clear & (shape < 0))]
    least = _SMALLEST_SIDE * weight.sum()
    return [side for side in sides if len(side) and weight[side].sum() >= least]


def usual_shape(effect: Factored) -> tuple[FloatArray, float, float]:
    """The shape that most rows have, and the shares that have it upside down and hardly at all.

    That is by less than 5 % of what is usual.
    """
    shape = effect.shape
    factors = effect.left @ (effect.right @ (shape * effect.frequencies))
    moved = np.abs(factors) > _HARDLY * np.sqrt(effect.weight @ factors**2)
    below = float(effect.weight[moved & (factors < 0)].sum())
    above = float(effect.weight[moved & (factors > 0)].sum())
    whole = float(effect.weight.sum())
    idle = max(1.0 - (below + above) / whole, 0.0)
    return (shape if above >= below else -shape), min(below, above) / whole, idle


def _runs(shape: FloatArray, weight: FloatArray) -> list[IntArray]:
    """Neighbouring bins with one sign, small excursions put to what is before them.

    Each starts where its sign does; bins before the first one are left out.
    """
    runs: list[tuple[bool, list[int]]] = []
    for b in np.flatnonzero(weight > 0).tolist():
        if runs and runs[-1][0] == (shape[b] > 0):
            runs[-1][1].append(b)
        else:
            runs.append((bool(shape[b] > 0), [b]))
    least = _SMALLEST_SIDE * weight.sum()
    starts: list[tuple[bool, int]] = []
    for sign, run in runs:
        if weight[run].sum() >= least and (not starts or starts[-1][0] != sign):
            starts.append((sign, run[0]))
    first = [start for _, start in starts]
    return [np.arange(*ends) for ends in itertools.pairwise([*first, len(shape)])]
