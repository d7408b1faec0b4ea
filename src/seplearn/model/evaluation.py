"""How predictions fare on rows with a known target: errors, calibration, residuals."""

from __future__ import annotations

from dataclasses import asdict, dataclass, fields
from typing import Any

import numpy as np

from seplearn._errors import ModelFormatError
from seplearn.kernels.arrays import FloatArray

_N_GROUPS = 10
_N_BARS = 24
_OUTER = 0.01  # share of the residuals on either side that are counted in the outermost bars


@dataclass(frozen=True)
class Evaluation:
    """Errors of predictions on some rows; sums over many rows only, no single row.

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
    >>> told = model.evaluate(X[800:], y[800:])
    >>> told.mae < told.rmse, len(told.predicted)
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
        residual = y - prediction
        rmse = _root_mean_square(residual, weight)
        spread = _root_mean_square(y - np.average(y, weights=weight), weight)
        groups = _groups(prediction, weight)
        edges = _edges(residual)
        inside = residual.clip(edges[0], edges[-1])
        return Evaluation(
            n_rows=len(y),
            rmse=rmse,
            mae=float(np.average(np.abs(residual), weights=weight)),
            r2=1.0 - (rmse / spread) ** 2 if spread > 0 else 0.0,
            predicted=tuple(float(np.average(prediction[g], weights=weight[g])) for g in groups),
            actual=tuple(float(np.average(y[g], weights=weight[g])) for g in groups),
            residual_edges=tuple(edges.tolist()),
            residual_counts=tuple(np.histogram(inside, edges, weights=weight)[0].tolist()),
        )

    def to_plain(self) -> dict[str, Any]:
        """As it stands in a file."""
        return {k: list(v) if isinstance(v, tuple) else v for k, v in asdict(self).items()}

    @staticmethod
    def from_plain(values: Any) -> Evaluation:
        """Read what :meth:`to_plain` wrote; raise ModelFormatError for anything else."""
        known = {field.name for field in fields(Evaluation)}
        if not isinstance(values, dict) or set(values) != known:
            raise ModelFormatError("not a valid seplearn model: fields of the evaluation")
        lists = {k: tuple(float(x) for x in v) for k, v in values.items() if isinstance(v, list)}
        single = {k: float(v) for k, v in values.items() if k not in lists}
        numbers = [*single.values(), *(x for v in lists.values() for x in v)]
        if not np.isfinite(numbers).all() or len(lists) != 4:
            raise ModelFormatError("not a valid seplearn model: numbers of the evaluation")
        n_rows = int(single.pop("n_rows"))
        return Evaluation(n_rows=n_rows, **single, **lists)  # type: ignore[arg-type]


def _root_mean_square(values: FloatArray, weight: FloatArray) -> float:
    """Divided by the largest before squaring, so that no unit overflows."""
    size = float(np.abs(values).max()) or 1.0
    return size * float(np.sqrt(np.average((values / size) ** 2, weights=weight)))


def _groups(prediction: FloatArray, weight: FloatArray) -> list[np.ndarray[Any, Any]]:
    """Positions of the rows in about ten groups, ordered by prediction; at least one row each."""
    order = np.argsort(prediction, kind="stable")
    order = order[weight[order] > 0]
    return [part for part in np.array_split(order, min(_N_GROUPS, len(order))) if len(part)]


def _edges(residual: FloatArray) -> FloatArray:
    """Edges of bars that are symmetric about zero."""
    reach = float(np.quantile(np.abs(residual), 1.0 - 2.0 * _OUTER)) or 1.0
    edges: FloatArray = np.linspace(-reach, reach, _N_BARS + 1)
    return edges
