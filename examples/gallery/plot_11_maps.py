"""
A map of two features
=====================

Where is a stage active, and which way does it point?
"""

# %%
from seplearn import TSLRegressor, datasets, explain

X, y = datasets.masked_interaction(4000, as_frame=True, random_state=0)
model = TSLRegressor(n_stages=2, random_state=0).fit(X, y)

# %%
# Left the backbone, on a logarithmic scale; right the tilt, all other features neutral. Cells are
# faded where no rows are near: nothing was learned there.

explain.maps(model, 0, ("x1", "x3")).plot()

# %%
# The mean prediction over the same two features, per stage and in all.

explain.partial_dependence(model, ["x1", "x3"]).plot(stage="all")

# %%
# How much the stages contribute where x2 is below -2.

explain.stages(model, {"x2": (None, -2.0)}).frame()
