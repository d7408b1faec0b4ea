"""
An effect that averages away
============================

In ``y = x1² x2 (1 + x3)`` every prediction depends on x1. Its partial dependence is a flat line,
and there are rows whose Shapley values say that x1 does nothing. This is the example of the paper,
and the reason why stages are made of *positive* curves.
"""

# %%
# The function, and a model of two stages
# ---------------------------------------
#
# Generated rows, because the truth has to be known: x1 has mean 0, x2 and x3 have mean -1, the
# noise has a standard deviation of 0.25, below which no error can fall. **The mean of 1 + x3 is
# zero.** That is the whole trick: whatever x1 does, x3 makes it positive for half of the rows and
# negative for the other half.

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

from seplearn import TSLRegressor, datasets, explain

X, y = datasets.masked_interaction(4000, as_frame=True, random_state=0)
X_test, y_test = datasets.masked_interaction(4000, as_frame=True, random_state=1)
model = TSLRegressor(n_stages=2, random_state=0).fit(X, y)
print(f"RMSE on new rows {model.evaluate(X_test, y_test).rmse:.3f}")

# %%
# Partial dependence cancels
# --------------------------
#
# The average on the left is flat. Single rows in the middle are not: half of them are parabolas
# that open upwards, half downwards. On the right the two products of the first stage: both grow
# with x1², and only their *difference* is small on average. What they share is the backbone
# (dotted), which is positive and cannot cancel.

figure, axes = plt.subplots(1, 3, figsize=(10.4, 3.3), layout="constrained")
dependence = explain.partial_dependence(model, "x1")
rows = explain.ice(model, "x1", max_rows=100)
dependence.plot(ax=axes[0])
rows.plot(ax=axes[1])
dependence.plot(ax=axes[2], stage=0)
axes[0].set_ylim(axes[1].get_ylim())
axes[0].set_title("partial dependence: flat", fontsize=10)
axes[1].set_title("100 rows: not flat", fontsize=10)
axes[2].set_title("the two products of stage 0", fontsize=10)

# %%
# How far the average moves with x1, and how far single rows do:

moved = np.ptp(rows.values, axis=1)
print(
    f"the average moves by {np.ptp(dependence.total):.1f}, the median row by {np.median(moved):.1f}"
)

# %%
# Shapley values: a cloud
# -----------------------
#
# They are taken at single rows, so they do not vanish here. But what three features do together is
# shared out among the three, sign and all. So the values of x1 against x1 (left) are a cloud
# around zero, pink where x2 (1 + x3) is negative: nobody would guess a parabola, nor that it is
# the same for all rows but for a factor. With x1 and x2 held still and x3 moved (right), the
# shares of all three turn over at x3 = -1, as if all three had changed.

shares = explain.shapley(model, X_test[:800])
moving = X_test[:9].assign(x1=2.0, x2=-2.0, x3=np.linspace(-2.6, 0.6, 9))
moved_shares = explain.shapley(model, moving)
figure, axes = plt.subplots(1, 2, figsize=(9.4, 3.4), layout="constrained")
below = X_test["x2"][:800] * (1 + X_test["x3"][:800]) < 0
colours = np.where(below, "#c51b7d", "#1f3b57")
axes[0].scatter(X_test["x1"][:800], shares.values[:, 0], s=6, c=colours, alpha=0.5, linewidth=0)
axes[0].set(xlabel="x1", ylabel="Shapley value of x1", ylim=(-8, 8))
for j, (name, colour) in enumerate(zip(X.columns, ("#1f3b57", "#3d8fb5", "0.5"), strict=True)):
    axes[1].plot(
        moving["x3"], moved_shares.values[:, j], "o-", color=colour, markersize=4, label=name
    )
axes[1].axhline(0, color="0.85", zorder=0)
axes[1].set(xlabel="x3, with x1 = 2 and x2 = -2", ylabel="Shapley values")
axes[1].legend(frameon=False)

# %%
# Where they cancel altogether
# ----------------------------
#
# A switch is enough. Let ``y = 2 g(x1)`` for two rows of three, where the switch is off, and
# ``-g(x1)`` for the third, with g(x1) = 0.1 + x1². For rows with the switch on, the main effect of
# x1 is +g and its half of the interaction is -g. The Shapley value of x1 is **zero, for every
# x1**, while the prediction is a parabola.

random = np.random.default_rng(0)
x1 = np.tile(random.uniform(-2, 2, 1000), 3)
on = np.repeat([0, 0, 1], 1000)
switched = pd.DataFrame({"x1": x1, "switch": on})
target = (0.1 + x1**2) * np.where(on, -1.0, 2.0) + random.normal(0, 0.05, 3000)
two = TSLRegressor(n_stages=1, fit_intercept=False, early_stopping=False, random_state=0)
two.fit(switched, target)  # without a constant, as in the paper

values = np.linspace(-1.9, 1.9, 60)
where_on = pd.DataFrame({"x1": values, "switch": 1})
figure, axes = plt.subplots(1, 3, figsize=(10.4, 3.1), layout="constrained")
axes[0].plot(values, two.predict(where_on), color="#1f3b57")
axes[0].set_title("the prediction, switch on", fontsize=10)
shares = explain.shapley(two, where_on, background=switched)
axes[1].plot(values, shares.values[:, 0], color="#c51b7d")
axes[0].set_ylim(-4, 2)
axes[1].set_ylim(-4, 2)
axes[1].set_title("Shapley value of x1, switch on", fontsize=10)
explain.curves(two, 0)["x1"].plot(ax=axes[2], part="backbone")
axes[2].set_title("backbone of x1", fontsize=10)
for ax in axes:
    ax.set(xlabel="x1")

# %%
# Nothing is wrong with Shapley values; they answer how a prediction *differs from the average*,
# shared out fairly. "Does x1 matter, and how?" is another question. The backbone answers it.
#
# Reading the stage
# -----------------
#
# Back to the three features. A stage is ``2 b sinh(d)``: backbones multiply to b, the size; tilts
# add up to d, whose sign is that of the stage. x1 and x2 *scale*, x3 *directs*, and it flips where
# 1 + x3 does.

print(explain.roles(model))
explain.curves(model, 0).plot()

# %%
# The identity by hand, for one row:

row = explain.local(model, X, row=5)
b = row.backbone_scale[0] * np.prod(row.backbone[0])
d = row.tilt_intercept[0] + np.sum(row.tilt[0])
print(f"2 b sinh(d) = {2 * b * np.sinh(d):.9f}")
print(f"stage 0     = {model.predict_stages(X)[5, 0]:.9f}")

# %%
# A map of two features: left where the stage is active, on a logarithmic scale; right which way it
# points.

explain.maps(model, 0, ("x1", "x3")).plot()

# %%
# And the whole
# -------------
#
# What x2 does is only half told by one stage: x2 is on in the first stage below zero and in the
# second above it, so that it flips the *prediction* at 0. That lies between the stages. The
# summary reads all of them together:

print(explain.summary(model))

# %%
# How far to trust it
# -------------------
#
# x2 and 1 + x3 enter alike, so another sample may end with x2 directing at 0 and x3 scaling. Both
# readings are right, and predictions are the same: :doc:`/limits` says what that means for
# conclusions. The paper's own figures of this example, measured again, are in
# ``studies/results/masked_interaction.md``.
