"""
As accurate as a black box?
===========================

Side by side with scikit-learn's histogram gradient boosting on Friedman's three functions. Boosting
has its defaults; TSL has at most six stages instead of 32, which is faster and shorter to read. One
table is an anecdote: the benchmark page has many.
"""

# %%
import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import make_friedman1, make_friedman2, make_friedman3
from sklearn.ensemble import HistGradientBoostingRegressor
from sklearn.metrics import root_mean_squared_error

from seplearn import TSLRegressor

makers = {
    "friedman1": lambda n, seed: make_friedman1(n, noise=1.0, random_state=seed),
    "friedman2": lambda n, seed: make_friedman2(n, noise=60.0, random_state=seed),
    "friedman3": lambda n, seed: make_friedman3(n, noise=0.1, random_state=seed),
}
errors = {}
for name, make in makers.items():
    (X, y), (X_test, y_test) = make(800, 0), make(3000, 1)
    tsl = TSLRegressor(n_stages=6, random_state=0).fit(X, y)
    boosted = HistGradientBoostingRegressor(random_state=0).fit(X, y)
    predictions = [m.predict(X_test) for m in (tsl, boosted)]
    found = [root_mean_squared_error(y_test, p) for p in predictions]
    errors[name] = found
    print(f"{name}: TSL {found[0]:.3f} ({len(tsl.stages_)} stages)", end=", ")
    print(f"boosting {found[1]:.3f}")

# %%
# Errors as multiples of boosting's: below one, the glass box is ahead.

figure, ax = plt.subplots(figsize=(6.0, 2.8), layout="constrained")
ratios = [own / other for own, other in errors.values()]
ax.barh(list(errors), np.array(ratios) - 1, left=1, color="#1f3b57", height=0.5)
ax.axvline(1, color="#c51b7d")
ax.set(xlabel="RMSE of TSL / RMSE of gradient boosting")
ax.invert_yaxis()
