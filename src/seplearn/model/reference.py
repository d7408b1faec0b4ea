"""Training rows that stay with a model, so that averages over rows need no training table."""

from __future__ import annotations

from dataclasses import dataclass

from seplearn.kernels.arrays import CodeArray, FloatArray


@dataclass(frozen=True, eq=False)
class Reference:
    """A sample of rows as bin codes, never as values.

    Attributes
    ----------
    codes : array of shape (n, p)
        The bin of every row on every axis.
    weight : array of shape (n,)
        What each row stands for; sums to one.
    """

    codes: CodeArray
    weight: FloatArray
