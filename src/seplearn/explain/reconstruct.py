"""A stage rebuilt from nothing but its one-dimensional partial dependences (the Proposition)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from seplearn.explain.dependence import dependence_on
from seplearn.explain.products import SIDE_SIGN
from seplearn.explain.result import Explanation
from seplearn.explain.subject import Subject
from seplearn.kernels.arrays import CodeArray, FloatArray
from seplearn.model.reference import Reference


@dataclass(frozen=True, eq=False, repr=False)
class Reconstruction(Explanation):
    """A stage at some rows: as the model computes it, and from its partial dependences.

    Attributes
    ----------
    stage : int
    stage_name : str
        The features that the stage depends on.
    normalizers : array of shape (2,)
        log of mean product over mean product of partial dependences, ``log(m_bar / Z)``, of the
        + and of the - product: with the curves all that is needed. NaN for an absent product.
    direct, rebuilt : array of shape (n,)
        The stage's contribution at every row, both ways.

    Examples
    --------
    >>> from seplearn import TSLRegressor, datasets, explain
    >>> X, y = datasets.masked_interaction(500, as_frame=True, random_state=0)
    >>> model = TSLRegressor(n_stages=1, random_state=0).fit(X, y)
    >>> rebuilt = explain.reconstruct(model, 0, X[:10])
    >>> rebuilt.direct.shape, rebuilt.largest_error < 1e-12
    ((10,), True)
    """

    _figure: ClassVar[str] = "plot_reconstruction"

    stage: int
    stage_name: str
    normalizers: FloatArray
    direct: FloatArray
    rebuilt: FloatArray

    @property
    def largest_error(self) -> float:
        """Largest difference, relative to the largest contribution."""
        size = float(np.abs(self.direct).max())
        return float(np.abs(self.direct - self.rebuilt).max()) / size if size > 0 else 0.0

    def _columns(self) -> dict[str, Any]:
        return {"direct": self.direct, "rebuilt": self.rebuilt}


def reconstruct(model: Any, stage: int, X: Any = None, *, background: Any = None) -> Reconstruction:
    """Rebuild a stage from its one-dimensional partial dependences.

    ``m(x) = (m_bar / Z) prod_j PD_j(x_j)`` for each product, where m_bar is the mean of the
    product and Z the mean of the right-hand product over the background: the curves in a plot of
    partial dependences, with one number each, are the whole stage.

    Parameters
    ----------
    model : fitted estimator, ClassView or SeparationModel
        A fitted estimator (of several classes what its ``for_class`` gives), or its ``model_``.
    stage : int
        Counted from zero.
    X : table, optional
        Rows at which the two are compared; by default those of the background.
    background : table, optional
        Rows to average over. By default the reference rows kept in the model.

    Examples
    --------
    >>> from seplearn import TSLRegressor, datasets, explain
    >>> X, y = datasets.masked_interaction(1000, random_state=0)
    >>> model = TSLRegressor(n_stages=2, random_state=0).fit(X, y)
    >>> explain.reconstruct(model, 0).largest_error < 1e-12
    True
    """
    subject = Subject.of(model)
    number = subject.stage(stage)
    rows = subject.rows(background)
    codes = rows.codes if X is None else subject.codes(X)
    parts, bins = subject.model.stages[number], subject.model.bins
    dependences = [dependence_on(subject.model, subject, (j,), rows) for j in range(bins.n_axes)]
    rebuilt = np.zeros(len(codes))
    normalizers = np.full(2, np.nan)
    for side, branch in enumerate(parts.sides):
        if branch is None:
            continue
        curves = [(d.plus, d.minus)[side][number] for d in dependences]
        if any((curve == 0.0).any() for curve in curves):
            raise ValueError(
                f"stage {number} cannot be rebuilt: factors with signs average to zero over the "
                "background, so its partial dependences show nothing of it"
            )
        at_rows, signs_at_rows = _log_product(curves, rows.codes)
        mean, sign = _log_mean(branch.evaluate(rows.codes, bins) * SIDE_SIGN[side], rows)
        z, z_sign = _log_mean(signs_at_rows * np.exp(at_rows - at_rows.max()), rows)
        normalizers[side] = mean - z - at_rows.max()
        logs, signs = _log_product(curves, codes)
        rebuilt += SIDE_SIGN[side] * sign * z_sign * signs * np.exp(normalizers[side] + logs)
    return Reconstruction(
        stage=number,
        stage_name=subject.stage_names[number],
        normalizers=normalizers,
        direct=parts.evaluate(codes, bins),
        rebuilt=rebuilt,
        library=subject.schema.library,
        quantity=subject.quantity,
    )


def _log_product(curves: list[FloatArray], codes: CodeArray) -> tuple[FloatArray, FloatArray]:
    """Log size and sign of prod_j PD_j(x_j): a product of many has no float of its own."""
    values = np.array([curve[codes[:, j]] for j, curve in enumerate(curves)])
    return np.log(np.abs(values)).sum(axis=0), np.prod(np.sign(values), axis=0)


def _log_mean(values: FloatArray, rows: Reference) -> tuple[float, float]:
    mean = float(values @ rows.weight)
    return float(np.log(abs(mean))), float(np.sign(mean))
