"""
Reading backbone and tilt
=========================

A stage with two products is ``2 b sinh(d)``: the backbones of the features multiply to b, their
tilts add up to d.
"""

# %%
import numpy as np

from seplearn import TSLRegressor, datasets, explain

X, y = datasets.masked_interaction(4000, as_frame=True, random_state=0)
model = TSLRegressor(n_stages=2, random_state=0).fit(X, y)
curves = explain.curves(model, 0)

# %%
# The identity, by hand, for one row. ``local`` looks up the curves at the row's values.

row = explain.local(model, X, row=5)
b = row.backbone_scale[0] * np.prod(row.backbone[0])
d = row.tilt_intercept[0] + np.sum(row.tilt[0])
print(f"2 b sinh(d) = {2 * b * np.sinh(d):.9f}")
print(f"stage 0     = {model.predict_stages(X)[5, 0]:.9f}")

# %%
# The backbone of x2 is almost zero on one side: the stage is off there, whatever the others say.

curves["x2"].plot(part="backbone")

# %%
# A flat tilt does not direct. Whose tilt varies, and where does the sign of the stage flip?

tilt = explain.tilt(model, 0)
tilt.frame()

# %%
tilt.plot()
