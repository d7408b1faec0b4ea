"""Generated data for examples and studies; nothing is downloaded."""

from __future__ import annotations

import numpy as np
from sklearn.utils import check_random_state

from seplearn.kernels.arrays import FloatArray

MASKED_INTERACTION_NOISE = 0.25


def masked_interaction(
    n_samples: int = 10_000, *, random_state: int | np.random.RandomState | None = None
) -> tuple[FloatArray, FloatArray]:
    """The paper's masked interaction: ``y = x1**2 * x2 * (1 + x3) + noise``.

    x1 ~ N(0, 1), x2 ~ N(-1, 1.5**2), x3 ~ N(-1, 0.8**2), noise ~ N(0, 0.25**2), all independent.
    The partial dependence of x1 is zero everywhere, although x1 matters a great deal: the
    average over x3, which is -1, hides it.

    Examples
    --------
    >>> X, y = masked_interaction(1000, random_state=0)
    >>> X.shape, y.shape
    ((1000, 3), (1000,))
    """
    random = check_random_state(random_state)
    X = random.normal([0.0, -1.0, -1.0], [1.0, 1.5, 0.8], size=(n_samples, 3))
    signal = X[:, 0] ** 2 * X[:, 1] * (1.0 + X[:, 2])
    return X, signal + random.normal(0.0, MASKED_INTERACTION_NOISE, size=n_samples)
