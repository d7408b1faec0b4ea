"""
Levels and missing values
=========================

Columns of text are levels, each with a factor of its own. A missing value has a factor too: it is
neither filled in nor dropped.
"""

# %%
from seplearn import TSLRegressor, datasets, explain

X, y = datasets.rents(2000, random_state=0)
X.head()

# %%
# One flat in ten has no distance. Nothing has to be said about it, nor about the text column. The
# noise is 25; the rest of the error comes mostly from the distances nobody knows.

model = TSLRegressor(n_stages=3, random_state=0).fit(X[:1600], y[:1600])
print(f"RMSE on unseen flats {model.evaluate(X[1600:], y[1600:]).rmse:.1f}")
print(explain.roles(model))

# %%
# The mean rent against the district, and against the distance with the missing ones apart, at the
# right end.

explain.partial_dependence(model, "district").plot()

# %%
explain.partial_dependence(model, "distance").plot()

# %%
# A district that was never seen gets a factor of one: it neither raises nor lowers the stage.

new = X[:1].assign(district="island")
print(f"as it is: {model.predict(X[:1])[0]:.0f}; never seen: {model.predict(new)[0]:.0f}")
