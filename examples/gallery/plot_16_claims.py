"""
Counts with an exposure: claims a year
======================================

Policies are insured for part of a year. The log of that time is the offset, and curves tell of the
yearly rate. The table is made up, so that the true rate is known.
"""

# %%
import matplotlib.pyplot as plt
import numpy as np

from seplearn import TSLRegressor, datasets, explain, plots

table = datasets.claims(20_000, random_state=0)
X, y, years = table.X, table.n_claims, np.log(table.exposure)
train, test = slice(0, 15_000), slice(15_000, None)
model = TSLRegressor(
    n_stages=2, loss="poisson", main_effects=True, early_stopping=False, random_state=0, n_jobs=-1
)
model.fit(X[train], y[train], offset=years[train])

# %%
# Most of what happens is chance: the true rate itself explains a few per cent of the deviance.

result = model.evaluate(X[test], y[test], offset=years[test])
print(result.scores, f"{result.explained:.1%} explained")
off = np.abs(model.predict(X[test]) / table.rate[test] - 1.0)
print(f"rates are off by {np.median(off):.0%} in the median")

figure, axes = plt.subplots(1, 2, figsize=(9, 3.8), layout="constrained")
plots.plot_calibration(result, ax=axes[0])
plots.plot_gain(result, ax=axes[1])

# %%
# Relativities: by what a region multiplies the rate, beside the city.

figure, ax = plt.subplots(figsize=(9, 3.3), layout="constrained")
explain.response(model, "region", base="city").plot(ax=ax)
