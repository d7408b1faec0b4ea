"""SepALS: a sum of signed products by alternating least squares, the paper's baseline."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.linalg.lapack import dposv

from seplearn._params import SepALSParameters
from seplearn._workers import Workers
from seplearn.fitting.basis import axis_basis, compressed, neutral_where_unseen
from seplearn.fitting.options import TrainingData
from seplearn.kernels.als import (
    dense_normal_equations,
    mode_sums,
    multiply_in,
    normal_equations,
    products_behind,
    scale_sums,
)
from seplearn.kernels.arrays import CodeArray, FloatArray
from seplearn.model.model import SeparationModel
from seplearn.model.stage import Branch, Stage

# Shares of the mean diagonal added where a system is singular to rounding.
_JITTERS = (1e-12, 1e-10, 1e-8, 1e-6)
_FEW_FUNCTIONS = 40  # of an axis whose pairs are kept
# Normal equations lose five digits where the smallest eigenvalue is this share of the largest.
_ALIKE = 1e-5
_NOISE = 0.1  # of the coefficients a restart begins with


@dataclass(frozen=True, eq=False)
class _Axis:
    """One axis as least squares sees it: functions in its bins, the price of each product's."""

    part: slice
    basis: FloatArray
    penalty: FloatArray
    pairs: FloatArray | None  # products of two functions, where these are few


@dataclass(frozen=True, eq=False)
class _Solution:
    """Where one restart ended."""

    factors: FloatArray
    scales: FloatArray
    intercept: float
    loss: float
    n_sweeps: int


def fit_sepals(
    data: TrainingData,
    centres: FloatArray,
    options: SepALSParameters,
    seed: np.random.SeedSequence,
    workers: Workers,
) -> tuple[SeparationModel, float, int]:
    """Fit from ``n_init`` random starts; the model with the smallest loss, the loss, its sweeps.

    ``centres`` (n_flat) are the mean training values of the ordered bins.
    """
    axes = _axes(data, centres, options)
    starts = seed.spawn(options.n_init)
    solutions = workers.map(lambda start: _converged(data, axes, options, start), starts)
    found = [solution for solution in solutions if solution is not None]
    if not found:
        raise ValueError(
            "the sweeps diverged from every start; raise ridge or smoothness, or lower degree or "
            f"rank, got ridge={options.ridge:g}, smoothness={options.smoothness:g}"
        )
    best = min(found, key=lambda solution: solution.loss)
    return _to_model(best, data), best.loss, best.n_sweeps


def _axes(data: TrainingData, centres: FloatArray, options: SepALSParameters) -> list[_Axis]:
    axes = []
    for j, axis in enumerate(data.bins.axes):
        part = data.bins.axis(j)
        frequencies = data.bins.frequencies[part]
        basis = axis_basis(axis, centres[part], frequencies, options.basis, options.degree)
        weights = basis.penalties(options.penalty_kind, options.basis == "tent")
        penalty = options.ridge + options.smoothness * weights
        functions, penalty = compressed(basis, np.maximum(penalty, 1e-300))
        functions = np.ascontiguousarray(neutral_where_unseen(functions, frequencies))
        penalty = np.tile(penalty, options.rank)
        axes.append(_Axis(part, functions, penalty, _pairs(functions)))
    return axes


def _pairs(functions: FloatArray) -> FloatArray | None:
    m = functions.shape[1]
    if m > _FEW_FUNCTIONS:
        return None
    k, x = np.tril_indices(m)
    return np.ascontiguousarray(functions[:, k] * functions[:, x])


def _converged(
    data: TrainingData, axes: list[_Axis], options: SepALSParameters, seed: np.random.SeedSequence
) -> _Solution | None:
    """One restart, or None where products overflow."""
    try:
        solution = _descend(data, axes, options, seed)
    except np.linalg.LinAlgError:
        return None
    return solution if np.isfinite(solution.loss) else None


def _descend(
    data: TrainingData, axes: list[_Axis], options: SepALSParameters, seed: np.random.SeedSequence
) -> _Solution:
    """One restart: sweeps over all modes until the loss stays."""
    each, codes = tuple(range(options.rank)), np.ascontiguousarray(data.codes.T)
    factors = _start(data, axes, options.rank, np.random.default_rng(seed))
    behind = np.empty((len(axes), len(data.target), options.rank))
    products = np.ones((len(data.target), options.rank))
    for axis, own in zip(axes, codes, strict=True):
        multiply_in(own, factors[axis.part], each, products)
    scales, intercept, loss = _refit_scales(data, products, options.fit_intercept)
    n_sweeps, before = 0, 0.0
    # A sweep may raise the loss, as penalties are not part of it; only standing still is the end.
    while n_sweeps < options.max_sweeps and abs(before - loss) > options.tol * before:
        before, n_sweeps = loss, n_sweeps + 1
        products_behind(codes, data.bins.offset, factors, each, behind)
        products[:] = 1.0
        target = data.target - intercept
        for axis, own, rest in zip(axes, codes, behind, strict=True):
            _update_mode(data, axis, own, (products, rest), target, factors)
            multiply_in(own, factors[axis.part], each, products)
        scales, intercept, loss = _refit_scales(data, products, options.fit_intercept)
    return _Solution(factors, scales, intercept, loss, n_sweeps)


def _start(
    data: TrainingData, axes: list[_Axis], rank: int, random: np.random.Generator
) -> FloatArray:
    """Factors near one, each a random combination of the basis functions away from it."""
    factors = np.ones((int(data.bins.offset[-1]), rank))
    for axis in axes:
        coefficients = random.normal(size=(axis.basis.shape[1], rank))
        factors[axis.part] += _NOISE * (axis.basis @ coefficients)
        _normalise(data, axis, factors)
    return factors


def _normalise(data: TrainingData, axis: _Axis, factors: FloatArray) -> None:
    """Mean square one over the training rows."""
    frequencies = data.bins.frequencies[axis.part]
    sizes = np.sqrt(frequencies @ factors[axis.part] ** 2)
    factors[axis.part] /= np.where(sizes > 0, sizes, 1.0)


def _update_mode(
    data: TrainingData,
    axis: _Axis,
    codes: CodeArray,
    others: tuple[FloatArray, FloatArray],
    target: FloatArray,
    factors: FloatArray,
) -> None:
    """Least squares in the coefficients of one mode, all products at once.

    ``others`` are the products of the modes before and behind it.
    """
    rank, (n_bins, m) = factors.shape[1], axis.basis.shape
    sums = np.empty((n_bins, rank * (rank + 3) // 2))
    mode_sums(codes, *others, target, data.weight, tuple(range(rank)), sums)
    matrix, vector = np.zeros((rank * m, rank * m)), np.empty(rank * m)
    if axis.pairs is None:
        normal_equations(axis.basis, sums, matrix, vector)
    else:
        dense_normal_equations(axis.pairs, axis.basis, sums, matrix, vector)
    coefficients = _solve(matrix, axis.penalty, vector).reshape(rank, m)
    factors[axis.part] = axis.basis @ coefficients.T
    _normalise(data, axis, factors)


def _solve(matrix: FloatArray, penalty: FloatArray, vector: FloatArray) -> FloatArray:
    """Solve (A + D) c = h for a symmetric A whose lower triangle is given."""
    diagonal = matrix.reshape(-1)[:: len(vector) + 1]  # a view
    size = float(diagonal.mean()) or 1.0
    diagonal += penalty
    added = 0.0
    for jitter in (0.0, *_JITTERS):
        diagonal += (jitter - added) * size
        added = jitter
        solution: FloatArray
        # LAPACK counts columns first: the transposed upper triangle is the lower one, uncopied.
        _, solution, failed = dposv(matrix.T, vector)
        if not failed:
            return solution
    raise np.linalg.LinAlgError("no positive definite system")


def _refit_scales(
    data: TrainingData, products: FloatArray, fit_intercept: bool
) -> tuple[FloatArray, float, float]:
    """Least squares of the target on all products, and the constant; the mean squared error."""
    rank = products.shape[1]
    matrix, vector = np.empty((rank + 1, rank + 1)), np.empty(rank + 1)
    scale_sums(products, data.target, data.weight, tuple(range(rank)), matrix, vector)
    n_used = rank + fit_intercept
    solution = _well_posed(matrix[:n_used, :n_used], vector[:n_used])
    if solution is None:
        columns = np.column_stack([products, np.ones(len(products))])[:, :n_used]
        root = np.sqrt(data.weight)
        solution = np.linalg.lstsq(columns * root[:, None], data.target * root, rcond=None)[0]
    intercept = float(solution[rank]) if fit_intercept else 0.0
    residual = data.target - intercept - products @ solution[:rank]
    loss = float(np.average(residual**2, weights=data.weight))
    return solution[:rank], intercept, loss


def _well_posed(matrix: FloatArray, vector: FloatArray) -> FloatArray | None:
    """The solution of normal equations, or None where products are too alike for them.

    The condition is that of the columns at length one, squared.
    """
    lengths = np.sqrt(np.diag(matrix))
    if not (np.isfinite(lengths).all() and lengths.all()):
        return None
    values, vectors = np.linalg.eigh(matrix / np.outer(lengths, lengths))
    if values[0] < _ALIKE * values[-1]:
        return None
    solution: FloatArray = vectors @ (vectors.T @ (vector / lengths) / values) / lengths
    return solution


def _to_model(solution: _Solution, data: TrainingData) -> SeparationModel:
    """Every product as a stage of one signed branch."""
    stages = [
        Stage(Branch.of_signed(factors, float(scale), data.bins), None)
        for factors, scale in zip(solution.factors.T, solution.scales, strict=True)
    ]
    return SeparationModel(data.bins, solution.intercept, tuple(stages))
