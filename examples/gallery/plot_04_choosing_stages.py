"""
How many stages?
================

The default chooses on rows held out. ``history_`` shows what it saw.
"""

# %%
import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import make_friedman1

from seplearn import TSLRegressor

X, y = make_friedman1(1200, n_features=6, noise=1.0, random_state=0)
X_test, y_test = make_friedman1(3000, n_features=6, noise=1.0, random_state=1)

# %%
# At most eight stages are allowed here. The size with the smallest held-out error is then fitted to
# all rows.

chosen = TSLRegressor(n_stages=8, random_state=0).fit(X, y)
held_out = [np.sqrt(record.validation_loss) for record in chosen.history_]
print(f"{len(chosen.stages_)} of 8 stages")

# %%
# With ``early_stopping=False`` the number is the one you ask for. More stages fit the training rows
# better; the held-out rows tell where that ends.

sizes = range(1, 7)
fits = [TSLRegressor(n_stages=n, early_stopping=False, random_state=0).fit(X, y) for n in sizes]
test = [fit.evaluate(X_test, y_test).rmse for fit in fits]
train = [fit.evaluate(X, y).rmse for fit in fits]

figure, ax = plt.subplots(figsize=(6.5, 3.8), layout="constrained")
ax.plot(sizes, train, "o-", color="0.6", label="training rows")
ax.plot(sizes, test, "o-", color="#1f3b57", label="test rows")
ax.plot(range(1, len(held_out) + 1), held_out, "s--", color="#c51b7d", label="held out, history_")
ax.axhline(1.0, color="0.85", zorder=0)
ax.set(xlabel="stages", ylabel="RMSE (noise: 1)")
ax.legend(frameon=False)

# %%
# A smaller model for a page: two stages, and what they cost.

print(f"two stages {test[1]:.3f}, chosen {chosen.evaluate(X_test, y_test).rmse:.3f}")
