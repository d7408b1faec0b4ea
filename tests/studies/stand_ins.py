"""Small generated tables with columns of the real ones."""

from __future__ import annotations

import numpy as np
import pandas as pd


def houses(n=1200):
    """Prices that fall with the distance from the coast and rise with income."""
    random = np.random.default_rng(0)
    along = random.random(n)
    inland = random.gamma(1.0, 0.7, n)
    columns = {
        "longitude": -122.6 + 5.0 * along + inland,
        "latitude": 38.2 - 5.0 * along + 0.7 * inland,
        "housingMedianAge": random.integers(1, 52, n),
        "totalRooms": random.integers(200, 6000, n),
        "totalBedrooms": random.integers(50, 1200, n),
        "population": random.integers(100, 3000, n),
        "households": random.integers(50, 1000, n),
        "medianIncome": random.gamma(4.0, 1.0, n),
    }
    price = 60_000 * np.exp(-inland) * columns["medianIncome"] + 50_000
    return pd.DataFrame(columns), price + random.normal(0.0, 5_000.0, n)


def bikes(n=2000):
    """Commuters at 8 and 17 on working days, a midday hump on others."""
    random = np.random.default_rng(0)
    weekday = random.integers(0, 7, n)
    columns = {
        "season": pd.Categorical(random.choice(["spring", "summer", "fall", "winter"], n)),
        "year": random.integers(0, 2, n),
        "month": random.integers(1, 13, n),
        "hour": random.integers(0, 24, n),
        "holiday": np.zeros(n),
        "weekday": weekday,
        "workingday": ((weekday > 0) & (weekday < 6)).astype(float),
        "weather": pd.Categorical(random.choice(["clear", "misty", "rain"], n)),
        "temp": random.uniform(0.0, 40.0, n),
        "feel_temp": random.uniform(0.0, 45.0, n),
        "humidity": random.random(n),
        "windspeed": random.uniform(0.0, 50.0, n),
    }
    hour = columns["hour"]
    commuting = 300.0 * (np.isin(hour, (8, 17)))
    midday = 250.0 * np.exp(-(((hour - 13.0) / 4.0) ** 2))
    y = np.where(columns["workingday"] > 0, 40.0 + commuting, 30.0 + midday)
    return pd.DataFrame(columns), y * (1.0 + 0.3 * columns["year"]) + random.normal(0.0, 5.0, n)


def sales(n=1000):
    """Prices that fall along the longitude and rise with the area; rows thin out in the east."""
    random = np.random.default_rng(0)
    columns = {
        "long": -122.5 + random.gamma(2.0, 0.15, n),
        "lat": random.uniform(47.2, 47.8, n),
        "sqft_living": random.gamma(4.0, 500.0, n),
    }
    price = 300.0 * columns["sqft_living"] * np.exp(-122.5 - columns["long"])
    return pd.DataFrame(columns), price + random.normal(0.0, 30_000.0, n)
