"""How predictions fare on rows with a known target: errors, calibration, residuals."""

from __future__ import annotations

import math
import sys
from dataclasses import asdict, dataclass, fields
from typing import Any

import numpy as np

from seplearn.kernels.arrays import FloatArray
from seplearn.model.checks import count, finite, require, table

_N_GROUPS = 10
_BARS = np.linspace(-1.0, 1.0, 24 + 1)  # edges of bars, symmetric about zero
_OUTER = 0.01  # share of the residuals on either side that are counted in the outermost bars
_LARGEST = sys.float_info.max
_SMALLEST_SHARE = 1e-15  # that a class is given, when its log is taken


@dataclass(frozen=True)
class Evaluation:
    """Errors of predictions on some rows; sums over many rows only, no single row.

    They are the same measures whatever loss a model was fitted with, so that models compare.

    Attributes
    ----------
    n_rows : int
    rmse, mae : float
        Root mean squared and mean absolute error, in the unit of y.
    r2 : float
        Share of the variance of y that is explained; 0 where y does not vary.
    predicted, actual : tuple of float
        Calibration: mean prediction and mean target in groups of rows of the same size, ordered
        by prediction.
    residual_edges, residual_counts : tuple of float
        Histogram of y minus prediction; what lies farther out is counted in the outermost bars.

    Examples
    --------
    >>> from seplearn import TSLRegressor, datasets
    >>> X, y = datasets.masked_interaction(1000, random_state=0)
    >>> model = TSLRegressor(n_stages=1, random_state=0).fit(X[:800], y[:800])
    >>> result = model.evaluate(X[800:], y[800:])
    >>> result.mae < result.rmse, len(result.predicted)
    (True, 10)
    """

    n_rows: int
    rmse: float
    mae: float
    r2: float
    predicted: tuple[float, ...]
    actual: tuple[float, ...]
    residual_edges: tuple[float, ...]
    residual_counts: tuple[float, ...]

    @staticmethod
    def of(y: FloatArray, prediction: FloatArray, weight: FloatArray | None = None) -> Evaluation:
        """Compare predictions with the target.

        Examples
        --------
        >>> import numpy as np
        >>> Evaluation.of(np.array([1.0, 2.0, 3.0]), np.array([1.0, 2.0, 5.0])).mae
        0.6666666666666666
        """
        weight = np.ones(len(y)) if weight is None else weight
        unit = _unit(max(float(np.abs(y).max()), float(np.abs(prediction).max())))
        y, prediction = y / unit, prediction / unit  # so that no sum and no square overflows
        residual = y - prediction
        rmse = _root_mean_square(residual, weight)
        groups = _groups(prediction, weight)
        reach = float(np.quantile(np.abs(residual), 1.0 - 2.0 * _OUTER)) or 1.0
        return Evaluation(
            n_rows=len(y),
            rmse=_times(rmse, unit),
            mae=_times(_mean(np.abs(residual), weight), unit),
            r2=_explained(y, rmse, weight),
            predicted=tuple(_times(_mean(prediction[g], weight[g]), unit) for g in groups),
            actual=tuple(_times(_mean(y[g], weight[g]), unit) for g in groups),
            residual_edges=tuple((_times(reach, unit) * _BARS).tolist()),
            residual_counts=_counts(residual, reach * _BARS, weight),
        )

    def to_plain(self) -> dict[str, Any]:
        """As it stands in a file."""
        return {k: list(v) if isinstance(v, tuple) else v for k, v in asdict(self).items()}

    @staticmethod
    def from_plain(values: Any) -> Evaluation:
        """Read what :meth:`to_plain` wrote; raise ModelFormatError for anything else."""
        given = table(values, {field.name for field in fields(Evaluation)}, "the evaluation")
        single = {name: finite(given[name]) for name in ("rmse", "mae", "r2")}
        lists = {name: _numbers(given[name]) for name in given.keys() - {"n_rows", *single}}
        sizes = {name: len(numbers) for name, numbers in lists.items()}
        groups, bars = sizes["predicted"], sizes["residual_counts"]
        alike = groups == sizes["actual"] and sizes["residual_edges"] == bars + 1 == len(_BARS)
        require(alike and groups <= _N_GROUPS, "lengths of lists of the evaluation")
        return Evaluation(n_rows=count(given["n_rows"]), **single, **lists)  # type: ignore[arg-type]


@dataclass(frozen=True)
class ClassEvaluation:
    """How probabilities of several classes fare on rows with a known class.

    Attributes
    ----------
    n_rows : int
    log_loss : float
        Mean of minus the log of the probability given to the class that happened; a probability
        counts as at least 1e-15.
    accuracy : float
        Share of the rows whose class was the most likely one.
    of_class : tuple of Evaluation
        The probability of every class beside whether it happened, 1 or 0.

    Examples
    --------
    >>> import numpy as np
    >>> shares = np.array([[0.5, 0.25, 0.25], [0.25, 0.25, 0.5]])
    >>> ClassEvaluation.of(np.array([0.0, 1.0]), shares).accuracy
    0.5
    """

    n_rows: int
    log_loss: float
    accuracy: float
    of_class: tuple[Evaluation, ...]

    @staticmethod
    def of(
        numbers: FloatArray, shares: FloatArray, weight: FloatArray | None = None
    ) -> ClassEvaluation:
        """Compare probabilities (n, K) with the numbers of the classes that happened."""
        weight = np.ones(len(numbers)) if weight is None else weight
        own = shares[np.arange(len(numbers)), numbers.astype(np.int64)]
        right = (shares.argmax(axis=1) == numbers).astype(np.float64)
        return ClassEvaluation(
            n_rows=len(numbers),
            log_loss=_mean(-np.log(np.maximum(own, _SMALLEST_SHARE)), weight),
            accuracy=_mean(right, weight),
            of_class=tuple(
                Evaluation.of((numbers == k).astype(np.float64), share, weight)
                for k, share in enumerate(shares.T)
            ),
        )

    def to_plain(self) -> dict[str, Any]:
        """As it stands in a file."""
        return {
            "n_rows": self.n_rows,
            "log_loss": self.log_loss,
            "accuracy": self.accuracy,
            "of_class": [one.to_plain() for one in self.of_class],
        }

    @staticmethod
    def from_plain(values: Any, n_classes: int) -> ClassEvaluation:
        """Read what :meth:`to_plain` wrote; raise ModelFormatError for anything else."""
        names = {field.name for field in fields(ClassEvaluation)}
        given = table(values, names, "the evaluation")
        own = given["of_class"]
        require(isinstance(own, list) and len(own) == n_classes, "evaluations of the classes")
        return ClassEvaluation(
            n_rows=count(given["n_rows"]),
            log_loss=finite(given["log_loss"]),
            accuracy=finite(given["accuracy"]),
            of_class=tuple(Evaluation.from_plain(one) for one in own),
        )


def _numbers(values: Any) -> tuple[float, ...]:
    require(isinstance(values, list), "numbers of the evaluation must be a list")
    return tuple(finite(value) for value in values)


def _unit(size: float) -> float:
    """A power of two of about this size: dividing by it rounds nothing."""
    return math.ldexp(1.0, math.frexp(size)[1] - 1) if size > 0 else 1.0


def _mean(values: FloatArray, weight: FloatArray) -> float:
    """Weights are divided by the largest: their sum may overflow."""
    return float(np.average(values, weights=weight / weight.max()))


def _root_mean_square(values: FloatArray, weight: FloatArray) -> float:
    """Divided by the largest before squaring, so that no square vanishes."""
    size = float(np.abs(values).max()) or 1.0
    return size * float(np.sqrt(_mean((values / size) ** 2, weight)))


def _times(value: float, unit: float) -> float:
    """The product, or the largest number where it is beyond all numbers."""
    return float(np.clip(value * unit, -_LARGEST, _LARGEST))


def _explained(y: FloatArray, rmse: float, weight: FloatArray) -> float:
    """R2; where it is beyond all numbers, one of about that size."""
    spread = _root_mean_square(y - _mean(y, weight), weight)
    if spread == 0.0 or y.min() == y.max():
        return 0.0
    return 1.0 - min(rmse / spread, math.sqrt(_LARGEST) / 2) ** 2


def _counts(residual: FloatArray, edges: FloatArray, weight: FloatArray) -> tuple[float, ...]:
    """Weight of the rows in every bar."""
    largest = float(weight.max())
    inside = residual.clip(edges[0], edges[-1])
    shares = np.histogram(inside, edges, weights=weight / largest)[0]
    return tuple(_times(share, largest) for share in shares.tolist())


def _groups(prediction: FloatArray, weight: FloatArray) -> list[np.ndarray[Any, Any]]:
    """Positions of the rows in about ten groups, ordered by prediction; at least one row each."""
    order = np.argsort(prediction, kind="stable")
    order = order[weight[order] > 0]
    return [part for part in np.array_split(order, min(_N_GROUPS, len(order))) if len(part)]
