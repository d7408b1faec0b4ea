"""Which training rows stay with the model."""

from __future__ import annotations

import numpy as np

from seplearn.fitting.draws import row_order
from seplearn.fitting.options import TrainingData
from seplearn.model.reference import Reference


def reference_rows(data: TrainingData, size: int) -> Reference | None:
    """All rows of a small table, else ``size`` of them; None when ``size`` is zero.

    Rows are sorted by a hash of their content and taken at equal steps of cumulative weight: a
    random sample that does not depend on the order of the rows, in which a row of weight 2, or a
    row that stands twice in the table, is twice as likely.
    """
    if size == 0:
        return None
    if len(data.weight) <= size:
        return Reference(data.codes.copy(), data.weight / data.weight.sum())
    order = row_order(data)
    below = np.cumsum(data.weight[order])
    steps = (np.arange(size) + 0.5) / size * below[-1]
    chosen = order[np.searchsorted(below, steps)]
    return Reference(np.ascontiguousarray(data.codes[chosen]), np.full(size, 1.0 / size))
