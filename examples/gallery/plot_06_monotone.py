"""
Monotone constraints
====================

Where you know that the prediction may only rise, or only fall, say so. It holds exactly, for every
row, not on average.
"""

# %%
import matplotlib.pyplot as plt
import numpy as np

from seplearn import TSLRegressor, explain

random = np.random.default_rng(0)
X = random.uniform(0, 10, size=(600, 2))
y = 3 * np.sin(0.22 * X[:, 0]) * (1 + 0.1 * X[:, 1]) + random.normal(0, 0.5, size=600)

options = {"n_stages": 2, "early_stopping": False, "random_state": 0}
free = TSLRegressor(**options).fit(X, y)
rising = TSLRegressor(**options, monotonic_cst=[1, 0]).fit(X, y)

# %%
# With a data frame the constraint is ``{"name": 1}``; an array has no names, so it is a list.
#
# The outcome falls at the upper end of x0: the highest doses, say, were given to those who were
# worse off. If more is known not to harm, the constraint keeps the model from learning the
# opposite.

figure, axes = plt.subplots(1, 2, figsize=(8.5, 3.4), layout="constrained", sharey=True)
for ax, model, title in zip(axes, (free, rising), ("free", "may only rise with x0"), strict=True):
    explain.ice(model, 0, max_rows=60).plot(ax=ax)
    ax.set_title(title, fontsize=10)

# %%
# Checked at every row and every bin: the smallest step from a bin to the next.

for model in (free, rising):
    steps = np.diff(explain.ice(model, 0).values[:, :-1], axis=1)
    print(f"smallest step {steps.min():+.4f}")
