"""
Who acts together with whom
===========================

Sobol indices and Friedman's H, both exact for the fitted model.
"""

# %%
# In ``make_friedman1`` the first two features act together; the next three each act alone; the
# last is noise.

from sklearn.datasets import make_friedman1

from seplearn import TSLRegressor, explain

X, y = make_friedman1(1500, n_features=6, noise=0.5, random_state=0)
model = TSLRegressor(n_stages=6, early_stopping=False, random_state=0).fit(X, y)
interactions = explain.interactions(model)

# %%
# ``main`` is what a feature explains alone, ``total`` what is lost without it.

interactions.feature_frame().round(3)

# %%
# Pairs, the strongest first.

interactions.frame().head(5).round(3)

# %%
interactions.plot()
