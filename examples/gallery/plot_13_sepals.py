"""
The baseline: signed products by least squares
==============================================

``SepALSRegressor`` fits products of smooth, signed curves. With a basis and a rank that suit a
smooth function it is hard to beat; its curves have no backbone and no tilt.
"""

# %%
import matplotlib.pyplot as plt

from seplearn import SepALSRegressor, TSLRegressor, datasets, explain

X, y = datasets.masked_interaction(3000, as_frame=True, random_state=0)
X_test, y_test = datasets.masked_interaction(3000, as_frame=True, random_state=1)

tsl = TSLRegressor(n_stages=2, random_state=0).fit(X, y)
als = SepALSRegressor(rank=1, basis="monomial", degree=2, smoothness=1e-3, random_state=0)
als.fit(X, y)
for name, model in (("TSL", tsl), ("SepALS", als)):
    print(f"{name}: RMSE {model.evaluate(X_test, y_test).rmse:.3f}; noise 0.25")

# %%
# One product of three polynomials is exactly this function, so SepALS wins. Its factors may be
# negative: that of x2 says "down" only together with the sign of all the others.

figure, axes = plt.subplots(1, 2, figsize=(8.5, 3.2), layout="constrained")
explain.curves(als, 0)["x2"].plot(ax=axes[0], part="factors")
axes[0].set_title("SepALS: x2, one signed factor", fontsize=10)
explain.curves(tsl, 0)["x2"].plot(ax=axes[1], part="factors")
axes[1].set_title("TSL: x2 in stage 0, two positive factors", fontsize=10)
