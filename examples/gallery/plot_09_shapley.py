"""
Exact Shapley values
====================

For a product the average over all coalitions has a closed form, so nothing is sampled.
"""

# %%
import numpy as np

from seplearn import TSLRegressor, datasets, explain

X, y = datasets.rents(2000, random_state=0)
model = TSLRegressor(n_stages=3, random_state=0).fit(X, y)
shapley = explain.shapley(model, X[:300])

# %%
# Base and values sum to the prediction, to rounding.

error = np.abs(shapley.base + shapley.values.sum(axis=1) - model.predict(X[:300])).max()
print(f"largest difference {error:.0e}")

# %%
# A point per row and feature; colour is where the value lies among the training rows.

shapley.plot()

# %%
# One row.

explain.shapley(model, X[7:8]).plot()

# %%
# They share out what features do together, like any additive attribution. A value of zero does not
# say that the feature does nothing.
