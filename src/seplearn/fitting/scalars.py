"""Backfit: the scalars of all stages refitted together, an orthogonal projection onto them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.optimize import nnls

from seplearn.fitting.options import Scalars, TrainingData
from seplearn.kernels.arrays import FloatArray
from seplearn.kernels.evaluate import weighted_dot
from seplearn.model.stage import Branch, Stage

_NOISE = 1e-12  # what is smaller than this share of a Gram matrix is rounding


class Projection:
    """The products of all stages on the training rows, and the target projected onto them.

    Columns are scaled to a largest value of one; the logs of their sizes are remembered, so that
    a product may be of any size. The Gram matrix grows by one row with every column. Its first
    column is the product of ones: the intercept, if there is one.

    Least squares whatever the loss, as in the paper: there Huber's error is for the splits alone,
    and how fast the error falls with the stages is proved for orthogonal projections.
    """

    def __init__(self, data: TrainingData, scalars: Scalars, fit_intercept: bool) -> None:
        self._data = data
        self._fit_intercept = fit_intercept
        self._columns: list[FloatArray] = [np.ones(len(data.target))]
        self._log_sizes: list[float] = []
        self._free = scalars == "ols"
        self._gram = np.array([[data.weight.sum()]])
        self._with_target = np.array([np.sum(data.weight * data.target)])

    def append(self, branch: Branch) -> None:
        """Add the column of a branch, with its sign; a signed product may get any coefficient."""
        data = self._data
        column = branch.log_sizes(data.codes, data.bins)
        log_size = float(column.max())
        np.exp(column - log_size, out=column)
        column *= branch.signs(data.codes, data.bins)
        self._columns.append(column)
        self._log_sizes.append(log_size)
        self._free |= branch.negative is not None
        new = np.array([weighted_dot(column, other, data.weight) for other in self._columns])
        self._gram = np.block([[self._gram, new[:-1, None]], [new[None, :]]])
        target = weighted_dot(column, data.target, data.weight)
        self._with_target = np.append(self._with_target, target)

    def solve(self) -> Scales:
        """Least squares of the target on all columns; the intercept is projected out first."""
        matrix, right = self._gram[1:, 1:], self._with_target[1:]
        sums, total, target_sum = self._gram[1:, 0], self._gram[0, 0], self._with_target[0]
        if self._fit_intercept:
            matrix = matrix - np.outer(sums, sums) / total
            right = right - sums * target_sum / total
        # A product that is constant on the rows is the intercept once more: it gets nothing.
        varies = np.diag(matrix) > _NOISE * np.diag(self._gram)[1:]
        coefficients = np.zeros(len(right))
        if varies.any():
            part = matrix[np.ix_(varies, varies)]
            coefficients[varies] = least_squares(part, right[varies], self._free)
        intercept = (
            float((target_sum - sums @ coefficients) / total) if self._fit_intercept else 0.0
        )
        fitted = np.full(len(self._data.target), intercept)
        for coefficient, column in zip(coefficients, self._columns[1:], strict=True):
            fitted += coefficient * column
        with np.errstate(divide="ignore"):
            log_scales = np.log(np.abs(coefficients)) - np.array(self._log_sizes)
        return Scales(np.sign(coefficients), log_scales, intercept, fitted)


@dataclass(frozen=True, eq=False)
class Scales:
    """Refitted coefficients, relative to each branch's own sign, and what they predict."""

    signs: FloatArray
    log_scales: FloatArray
    intercept: float
    fitted: FloatArray

    def apply(self, stages: Sequence[Stage]) -> list[Stage]:
        """The stages whose branches were appended, with their refitted coefficients."""
        numbers = iter(range(len(self.signs)))

        def refitted(branch: Branch | None) -> Branch | None:
            if branch is None:
                return None
            k = next(numbers)
            sign = float(self.signs[k]) * branch.coefficient_sign
            return branch.with_scale(sign, float(self.log_scales[k]))

        return [Stage(refitted(stage.plus), refitted(stage.minus)) for stage in stages]


def least_squares(matrix: FloatArray, right: FloatArray, free: bool) -> FloatArray:
    """Minimise c'Gc - 2c'h, with c >= 0 unless ``free``, from the Gram matrix G and h.

    Columns are scaled to unit norm and directions that are rounding noise are left at zero, so
    that two proportional products do not get huge opposite coefficients.
    """
    norms = np.sqrt(np.diag(matrix))
    values, vectors = np.linalg.eigh(matrix / np.outer(norms, norms))
    keep = values > _NOISE * values.max()
    root = np.sqrt(values[keep])
    # G = A'A and h = A'b: an ordinary least-squares problem with as many rows as directions.
    a = root[:, None] * vectors[:, keep].T
    b = (vectors[:, keep].T @ (right / norms)) / root
    if free:
        solution = np.linalg.lstsq(a, b, rcond=None)[0]
    else:
        solution, _ = nnls(a, b, maxiter=100 * len(right))
    coefficients: FloatArray = solution / norms
    return coefficients
