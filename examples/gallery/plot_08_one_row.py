"""
Why this prediction?
====================

One row, from the constant to the prediction, stage by stage.
"""

# %%
from seplearn import TSLRegressor, datasets, explain

X, y = datasets.rents(2000, random_state=0)
model = TSLRegressor(n_stages=3, random_state=0).fit(X, y)
local = explain.local(model, X, row=7)
print(f"{local.intercept:.2f} + {local.contributions.round(2)} = {local.prediction:.2f}")

# %%
# On top what every stage adds. Below, which features make the stage large at this flat (pale bars
# make it smaller), and which push it up or down.

local.plot()

# %%
# The numbers, one row per stage and feature.

local.feature_frame().head(7)
