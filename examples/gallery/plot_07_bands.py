"""
Bands, and what they are not
============================

``n_bootstrap`` refits the model to bootstrap samples, starting from the solution, each pulled
towards curves drawn from what was learned of their smoothness. The spread of the refits is a band:
where curves and means may lie, given these rows and the stages chosen.
"""

# %%
import matplotlib.pyplot as plt
import numpy as np

from seplearn import TSLRegressor, explain

random = np.random.default_rng(0)


def draw(n):
    X = random.uniform(-2, 2, size=(n, 2))
    return X, np.exp(0.5 * np.sin(2 * X[:, 0])) * (1 + X[:, 1] ** 2)


X, mean = draw(400)
y = mean + random.normal(0, 0.5, size=400)
model = TSLRegressor(n_stages=1, n_bootstrap=40, random_state=0).fit(X, y)

# %%
# Bands of curves and of partial dependence.

explain.curves(model, 0).plot()

# %%
explain.partial_dependence(model, 0).plot()

# %%
# An interval for the *mean* at new rows. It is no interval for single outcomes, whose noise comes
# on top. That other stages might have been chosen is not in it.

X_new, mean_new = draw(300)
low, high = model.predict_interval(X_new, level=0.9, kind="mean").T
inside = (low <= mean_new) & (mean_new <= high)
outcomes = mean_new + random.normal(0, 0.5, size=300)
print(f"true mean inside: {inside.mean():.0%} of the rows")
print(f"new outcome inside: {((low <= outcomes) & (outcomes <= high)).mean():.0%}")
below, above = model.predict_interval(X_new, level=0.9).T  # for outcomes, from rows held out
print(f"inside the interval for outcomes: {((below <= outcomes) & (outcomes <= above)).mean():.0%}")

figure, ax = plt.subplots(figsize=(6.5, 3.6), layout="constrained")
order = np.argsort(mean_new)[::4]
ax.vlines(mean_new[order], low[order], high[order], color="#1f3b57", linewidth=1.2)
ax.plot([mean_new.min(), mean_new.max()], [mean_new.min(), mean_new.max()], color="#c51b7d")
ax.set(xlabel="true mean", ylabel="90 % interval")
