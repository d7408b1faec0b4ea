"""Generated data for examples and studies; nothing is downloaded."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils import check_random_state

from seplearn.kernels.arrays import FloatArray
from seplearn.table.columns import make_frame

MASKED_INTERACTION_NOISE = 0.25
_DISTRICTS = {"harbour": 1.35, "hill": 1.2, "market": 1.05, "mill": 0.8, "station": 0.9}


def masked_interaction(
    n_samples: int = 10_000,
    *,
    as_frame: bool = False,
    random_state: int | np.random.RandomState | None = None,
) -> tuple[Any, FloatArray]:
    """The paper's masked interaction: ``y = x1**2 * x2 * (1 + x3) + noise``.

    x1 ~ N(0, 1), x2 ~ N(-1, 1.5**2), x3 ~ N(-1, 0.8**2), noise ~ N(0, 0.25**2), all independent.
    The partial dependence of x1 is zero everywhere, although x1 matters a great deal: the
    average over x3, which is -1, hides it.

    Parameters
    ----------
    n_samples : int
        Rows.
    as_frame : bool
        Whether X is a data frame with the columns x1, x2, x3 (pandas, polars or pyarrow, the first
        of them that is installed) instead of an array.
    random_state : int or RandomState, optional
        Seed.

    Examples
    --------
    >>> X, y = masked_interaction(1000, random_state=0)
    >>> X.shape, y.shape
    ((1000, 3), (1000,))
    """
    random = check_random_state(random_state)
    X = random.normal([0.0, -1.0, -1.0], [1.0, 1.5, 0.8], size=(n_samples, 3))
    signal = X[:, 0] ** 2 * X[:, 1] * (1.0 + X[:, 2])
    y: FloatArray = signal + random.normal(0.0, MASKED_INTERACTION_NOISE, size=n_samples)
    return make_frame(dict(zip(("x1", "x2", "x3"), X.T, strict=True))) if as_frame else X, y


def rents(
    n_samples: int = 3_000, *, random_state: int | np.random.RandomState | None = None
) -> tuple[Any, FloatArray]:
    """Monthly rents of invented flats: levels, missing values, whole numbers, a 0/1 column.

    The rent is a price per square metre times the area, falling with the distance to the centre
    and different from district to district, plus what a high floor is worth: much with a lift, less
    than nothing without. The distance is missing for one flat in ten.

    Parameters
    ----------
    n_samples : int
        Rows.
    random_state : int or RandomState, optional
        Seed.

    Returns
    -------
    X : data frame
        Of pandas, polars or pyarrow, the first of them that is installed.
    y : array of shape (n_samples,)

    Examples
    --------
    >>> X, y = rents(500, random_state=0)
    >>> list(X.columns)
    ['area', 'rooms', 'floor', 'lift', 'district', 'distance', 'year']
    """
    random = check_random_state(random_state)
    area = random.gamma(9.0, 8.0, n_samples) + 15.0
    rooms = np.clip(np.round(area / 28.0 + random.normal(0.0, 0.6, n_samples)), 1, 7)
    floor = random.randint(0, 9, n_samples)
    lift = (random.rand(n_samples) < 0.25 + 0.06 * floor).astype(np.int64)
    district = random.choice(list(_DISTRICTS), n_samples, p=[0.15, 0.2, 0.3, 0.15, 0.2])
    distance = random.gamma(2.0, 2.5, n_samples)
    year = random.randint(1880, 2024, n_samples)
    price = np.array([_DISTRICTS[name] for name in district]) * np.exp(-distance / 15.0)
    view = np.where(lift == 1, 14.0, -9.0) * floor
    age = np.where(year < 1950, -60.0, np.where(year > 2000, 90.0, 0.0))
    y = 12.0 * area * price + view + age + random.normal(0.0, 25.0, n_samples)
    columns = {
        "area": np.round(area, 1),
        "rooms": rooms,
        "floor": floor,
        "lift": lift,
        "district": district.tolist(),
        "distance": np.where(random.rand(n_samples) < 0.1, np.nan, np.round(distance, 2)),
        "year": year,
    }
    return make_frame(columns), y
