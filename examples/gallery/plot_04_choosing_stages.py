"""
How many stages?
================

The default chooses on rows held out, and keeps what it saw.
"""

# %%
import matplotlib.pyplot as plt
from sklearn.datasets import make_friedman1

from seplearn import TSLRegressor, explain

X, y = make_friedman1(1200, n_features=6, noise=1.0, random_state=0)
X_test, y_test = make_friedman1(3000, n_features=6, noise=1.0, random_state=1)

# %%
# At most eight stages are allowed here, with and without main effects. The smallest size that
# predicts held-out rows about as well as the best is taken; its fits are finished on all rows.

chosen = TSLRegressor(n_stages=8, random_state=0).fit(X, y)
size = explain.size_path(chosen)
print(size)
size.plot()

# %%
# Here features act mostly by themselves, so that main effects are taken and stages have little left
# to do. Without them, and with ``early_stopping=False``, the number of stages is the one you ask
# for. More stages fit the training rows better; rows the fit has not seen tell where that ends.

sizes = range(1, 7)
options = {"early_stopping": False, "main_effects": False, "random_state": 0}
fits = [TSLRegressor(n_stages=n, **options).fit(X, y) for n in sizes]
test = [fit.evaluate(X_test, y_test).rmse for fit in fits]
train = [fit.evaluate(X, y).rmse for fit in fits]

figure, ax = plt.subplots(figsize=(6.5, 3.8), layout="constrained")
ax.plot(sizes, train, "o-", color="0.6", label="training rows")
ax.plot(sizes, test, "o-", color="#1f3b57", label="test rows")
ax.axhline(1.0, color="0.85", zorder=0)
ax.set(xlabel="stages, no main effects", ylabel="RMSE (noise: 1)")
ax.legend(frameon=False)

# %%
# What a form costs: its error on new rows, and how many curves there are to read.

for name, fit in (("chosen", chosen), ("two stages alone", fits[1]), ("six", fits[5])):
    rmse = fit.evaluate(X_test, y_test).rmse
    print(f"{name}: RMSE {rmse:.3f}, {fit.reading_size_} curves to read")
