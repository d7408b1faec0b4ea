"""
Save, load, JSON and a page
===========================

A file that runs no code when it is read, a form for other languages, a page for people.
"""

# %%
import json
import tempfile
from pathlib import Path

import numpy as np

from seplearn import TSLRegressor, datasets, explain, load_model, report

X, y = datasets.rents(1200, random_state=0)
model = TSLRegressor(n_stages=2, random_state=0)
model.fit(X[:1000], y[:1000])
model.evaluate(X[1000:], y[1000:], keep=True)
folder = Path(tempfile.mkdtemp())

# %%
# The file holds the model, its parameters, the names of columns and the evaluation.

model.save(folder / "rent.tsl")
again = load_model(folder / "rent.tsl")
print(f"{(folder / 'rent.tsl').stat().st_size / 1024:.0f} KiB")
print(f"largest difference {abs(again.predict(X) - model.predict(X)).max()}")

# %%
# Explanations need no training data: up to 1,000 rows are kept as bin numbers.

explain.curves(again, 0).plot(features=["area", "district"])

# %%
# The model as plain numbers. A prediction is a look-up, a product and a sum.

plain = json.loads(json.dumps(model.to_dict()))
(terms,) = plain["sums"]
print(list(plain), len(terms["stages"]), "stages")


def value(product, bins):
    logs = [curve["log_size"][bins[curve["feature"]]] for curve in product["curves"]]
    return product["sign"] * np.exp(product["log_scale"] + sum(logs))


# The lowest bin, or the first level, of every feature.
bins = [0] * len(plain["features"])
effects = [effect["values"][bins[effect["feature"]]] for effect in terms["effects"]]
products = [value(one, bins) for stage in terms["stages"] for one in stage["products"]]
print(f"in the lowest bin of everything: {terms['intercept'] + sum(effects) + sum(products):.1f}")

# %%
# A page for somebody who does not program: it works offline and has a what-if panel.

report.write_report(model, folder / "rent.html", X[1000:], y[1000:])
print(f"{(folder / 'rent.html').stat().st_size / 1024:.0f} KiB of HTML")
