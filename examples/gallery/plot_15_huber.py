"""
Outliers: Huber's error
=======================

A few wild targets pull a squared-error fit towards them. ``loss="huber"`` weighs them down.
"""

# %%
import matplotlib.pyplot as plt
import numpy as np

from seplearn import TSLRegressor, explain

random = np.random.default_rng(0)
X = random.uniform(-3, 3, size=(1500, 2))
mean = np.exp(np.sin(X[:, 0])) * (1 + X[:, 1] ** 2 / 4)
y = mean + random.normal(0, 0.3, size=1500)
wild = random.random(1500) < 0.05
y[wild] += random.normal(0, 15, size=wild.sum())

# %%
# One row in twenty is off by about fifteen. The error is measured against the true mean.

options = {"n_stages": 2, "early_stopping": False, "random_state": 0}
models = {
    "squared error": TSLRegressor(**options).fit(X, y),
    "Huber": TSLRegressor(**options, loss="huber").fit(X, y),
    "squared error, wild rows given weight 0": TSLRegressor(**options).fit(X, y, ~wild * 1.0),
}
for name, model in models.items():
    print(f"{name}: {np.sqrt(np.mean((model.predict(X) - mean) ** 2)):.3f}")

# %%
figure, axes = plt.subplots(1, 3, figsize=(11, 3.2), layout="constrained", sharey=True)
for ax, (name, model) in zip(axes, models.items(), strict=True):
    explain.ice(model, 0, X[:40]).plot(ax=ax)
    ax.set_title(name.split(",")[0] if "wild" not in name else "wild rows left out", fontsize=10)
