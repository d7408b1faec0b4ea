"""
A first model, and what its features do
=======================================

Fit, measure on rows the model has not seen, and read a sentence per stage.
"""

# %%
# The data are generated: ``y = x1² x2 (1 + x3) + noise``. The noise has a standard deviation of
# 0.25, so no model can have a smaller error than that.

from seplearn import TSLRegressor, datasets, explain

X, y = datasets.masked_interaction(3000, as_frame=True, random_state=0)
X_test, y_test = datasets.masked_interaction(3000, as_frame=True, random_state=1)
model = TSLRegressor(n_stages=2, random_state=0).fit(X, y)

result = model.evaluate(X_test, y_test)
print(f"R² {result.r2:.3f}, RMSE {result.rmse:.3f}")

# %%
# Two stages, each one product of curves minus another. ``roles`` says what every feature does in
# them: one that *scales* makes the stage larger or smaller, one that *directs* decides about its
# sign.

roles = explain.roles(model)
print(roles)

# %%
# The same as a figure: how much of a stage changes when a feature's backbone is held still
# (scaling) or its tilt is (directing).

roles.plot()

# %%
# And the curves behind the sentence. The tilt of x3 crosses zero at -1, where 1 + x3 does.

explain.curves(model, 0).plot()
