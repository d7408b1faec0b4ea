"""
An effect that averages away
============================

In ``y = x1² x2 (1 + x3)`` the mean of 1 + x3 is zero. So the partial dependence of x1 is flat,
although x1 moves every single prediction.
"""

# %%
import matplotlib.pyplot as plt

from seplearn import TSLRegressor, datasets, explain

X, y = datasets.masked_interaction(4000, as_frame=True, random_state=0)
model = TSLRegressor(n_stages=2, random_state=0).fit(X, y)

# %%
# The average on the left, single rows in the middle, the first stage on the right: its two
# products both grow with x1², and only their difference is small on average. What they share is
# the backbone (dotted), which cannot cancel.

figure, axes = plt.subplots(1, 3, figsize=(11, 3.4), layout="constrained")
dependence = explain.partial_dependence(model, "x1")
dependence.plot(ax=axes[0])
explain.ice(model, "x1", max_rows=100).plot(ax=axes[1])
dependence.plot(ax=axes[2], stage=0)
axes[0].set_ylim(axes[1].get_ylim())
axes[0].set_title("partial dependence: flat", fontsize=10)
axes[1].set_title("100 rows: not flat", fontsize=10)

# %%
# In numbers: how far the average moves, and how far the rows do.

values = explain.ice(model, "x1", max_rows=100).values
print(f"partial dependence moves by {dependence.total.max() - dependence.total.min():.1f}")
print(f"the median row moves by {sorted(values.max(axis=1) - values.min(axis=1))[50]:.1f}")
