"""A model with everything that is hard to draw, fitted once."""

from functools import cache
from typing import Any

import numpy as np
import pandas as pd

from seplearn import TSLRegressor

LONG = "income of the household in the last twelve months ($)"
QUICK: dict[str, Any] = {
    "early_stopping": False, "main_effects": False, "n_grids": 2, "n_splits": 10, "random_state": 0,
}  # fmt: skip


def table(n=500):
    rng = np.random.default_rng(0)
    levels = rng.choice([f"level {k}" for k in range(25)], size=n)
    return pd.DataFrame(
        {
            LONG: np.where(rng.random(n) < 0.15, np.nan, rng.lognormal(8, 1, n)),
            "0/1": rng.integers(0, 2, n),
            "region": rng.choice(
                ["north", "south", "<b>east</b>", None], n, p=[0.4, 0.3, 0.2, 0.1]
            ),
            "many": levels,
            "constant": np.full(n, 3.0),
            "x": rng.normal(size=n),
        }
    )


def target(X):
    rng = np.random.default_rng(1)
    x, income = X["x"].to_numpy(), np.log(X[LONG].fillna(1000.0).to_numpy())
    signal = np.where(X["region"] == "north", 2.0, 1.0) * np.sin(2 * x) * (income - 7)
    return signal + 0.5 * X["0/1"].to_numpy() + rng.normal(0, 0.1, len(X))


@cache
def fitted(n_bootstrap=5, scale=1.0):
    """Two-branch stages, with bands."""
    X = table()
    return TSLRegressor(2, n_bootstrap=n_bootstrap, **QUICK).fit(X, scale * target(X))


@cache
def one_branch():
    """Stages that only add."""
    X = table()
    return TSLRegressor(1, fit_intercept=False, **QUICK).fit(X, np.exp(target(X) / 4))


@cache
def signed():
    """Factors with signs: no backbone, no tilt."""
    X = table()
    options: dict[str, Any] = QUICK | {"products": "single", "refine": "scalars"}
    return TSLRegressor(2, **options).fit(X, target(X))


@cache
def wide():
    """30 features with long names that differ in one place, ten stages.

    The smoothness is given: learned, it would leave out most stages and features.
    """
    rng = np.random.default_rng(2)
    names = [f"measurement number {j} of the day before" for j in range(30)]
    X = pd.DataFrame(rng.normal(size=(300, 30)), columns=names)
    y = X.iloc[:, 0] * X.iloc[:, 1] + X.iloc[:, 2]
    return TSLRegressor(10, smoothness=1.0, **QUICK).fit(X, y)


@cache
def additive():
    """Main effects beside stages, with bands."""
    X = table()
    y = target(X) + 2.0 * X["x"] + np.where(X["region"] == "south", 1.0, 0.0)
    options: dict[str, Any] = QUICK | {"main_effects": True}
    return TSLRegressor(2, n_bootstrap=3, **options).fit(X, y)
