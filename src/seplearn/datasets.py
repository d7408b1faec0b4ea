"""Generated data for examples and studies; nothing is downloaded."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from sklearn.utils import check_random_state

from seplearn.kernels.arrays import FloatArray
from seplearn.table.columns import make_frame

MASKED_INTERACTION_NOISE = 0.25
_DISTRICTS = {"harbour": 1.35, "hill": 1.2, "market": 1.05, "mill": 0.8, "station": 0.9}
_REGIONS = {"city": 1.5, "coast": 1.0, "hills": 0.8, "plain": 0.65, "suburb": 1.15}


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


class Claims(NamedTuple):
    """Motor insurance policies: what :func:`claims` returns.

    Attributes
    ----------
    X : data frame
        A row per policy.
    n_claims : array of shape (n_samples,)
        Claims while it was insured.
    exposure : array of shape (n_samples,)
        Years it was insured, at most one.
    rate : array of shape (n_samples,)
        The true number of claims to expect in a year, which no model is told.
    amount : array of shape (n_samples,)
        What all claims of the policy cost together; zero for most.

    Examples
    --------
    >>> from seplearn import datasets
    >>> found = datasets.claims(100, random_state=0)
    >>> found.X.shape[0] == len(found.rate) == 100
    True
    """

    X: Any
    n_claims: FloatArray
    exposure: FloatArray
    rate: FloatArray
    amount: FloatArray


def claims(
    n_samples: int = 100_000, *, random_state: int | np.random.RandomState | None = None
) -> Claims:
    """Claims of invented motor insurance policies: counts, exposures, amounts, and the true rate.

    ``n_claims`` is Poisson with the mean ``exposure * rate``, about one claim in ten policy years.
    The rate is a product. Young drivers have more claims, and the more so the stronger their car;
    old drivers have some more; the bonus class, which runs from 50 (no claim for years) to 150,
    the age of the vehicle, the region and the use for work multiply it. The colour says nothing. A
    claim costs a gamma variable with a mean of about 1200, more for strong cars.

    Parameters
    ----------
    n_samples : int
        Rows, one per policy.
    random_state : int or RandomState, optional
        Seed.

    Returns
    -------
    Claims
        ``X, n_claims, exposure, rate, amount``.

    Examples
    --------
    >>> import numpy as np
    >>> from seplearn import datasets
    >>> table = datasets.claims(2000, random_state=0)
    >>> list(table.X.columns)
    ['driver_age', 'vehicle_age', 'power', 'bonus', 'region', 'work', 'colour']
    >>> bool(0.5 < table.n_claims.sum() / (table.exposure @ table.rate) < 1.5)
    True
    """
    random = check_random_state(random_state)
    driver_age = np.floor(np.clip(18.0 + 62.0 * random.beta(1.6, 2.4, n_samples), 18, 79))
    vehicle_age = np.minimum(random.geometric(0.14, n_samples) - 1, 25)
    power = np.round(np.clip(random.gamma(6.0, 16.0, n_samples), 30, 300))
    # Years without a claim lower the bonus class, so that it goes with age.
    years = np.clip(driver_age - 18.0 - random.exponential(9.0, n_samples), 0.0, None)
    bonus = np.round(np.clip(110.0 - 5.0 * years + random.normal(0.0, 9.0, n_samples), 50, 150))
    region = random.choice(list(_REGIONS), n_samples, p=[0.3, 0.25, 0.2, 0.15, 0.1])
    work = (random.rand(n_samples) < 0.15).astype(np.int64)
    exposure = np.where(random.rand(n_samples) < 0.6, 1.0, random.uniform(0.02, 1.0, n_samples))
    young = np.exp(-(driver_age - 18.0) / 6.0)
    rate = (
        0.058
        * np.array([_REGIONS[name] for name in region])
        * np.exp(young * (0.5 + 1.2 * (power - 100.0) / 100.0).clip(-0.4, 2.0))
        * np.exp(0.02 * np.maximum(driver_age - 65.0, 0.0))
        * np.exp(0.018 * (bonus - 50.0))
        * np.where(vehicle_age < 1, 1.25, np.exp(-0.015 * vehicle_age))
        * np.where(work == 1, 1.3, 1.0)
    )
    n_claims = random.poisson(exposure * rate).astype(np.float64)
    shape = np.where(n_claims > 0, 2.0 * n_claims, 1.0)  # the sum of as many gamma variables
    amount = random.gamma(shape, 600.0 * (power / 100.0) ** 0.4)
    columns = {
        "driver_age": driver_age,
        "vehicle_age": vehicle_age,
        "power": power,
        "bonus": bonus,
        "region": region.tolist(),
        "work": work,
        "colour": random.choice(["black", "blue", "red", "white"], n_samples).tolist(),
    }
    amount = np.where(n_claims > 0, np.round(amount, 2), 0.0)
    return Claims(make_frame(columns), n_claims, exposure, rate, amount)
