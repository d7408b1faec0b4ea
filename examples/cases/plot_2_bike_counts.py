"""
Bikes by the hour: what three models show of one interaction
============================================================

On working days bikes are rented at eight and at five, on other days in the afternoon. Everybody
knows it before any model does, so here is a fair question: which model *shows* it, and how much
work is it to see?
"""

# %%
# The question
# ------------
#
# Every hour of 2012 in Washington, D.C.: how many bikes were rented, the weather, the kind of day.
# The table is that of Fanaee-T (UCI Machine Learning Repository, 2013), under CC BY 4.0. Hours of
# one day are alike, so days are laid aside as a whole, every fifth of them, and the fit is told
# which hours belong together.

import time

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from sklearn.metrics import mean_poisson_deviance

from seplearn import TSLRegressor, explain

table = pd.read_csv("data/bike_hours.csv.gz")
X = table[["hour", "workingday", "month", "weather", "temp", "humidity", "windspeed"]]
y = table["count"].to_numpy()
day = (table["hour"].diff() < 0).cumsum().to_numpy()
test = day % 5 == 0
train = ~test

KINDS = {"no": ("weekend or holiday", "#c51b7d"), "yes": ("working day", "#1f3b57")}
observed = table[train].groupby(["workingday", "hour"])["count"].mean()
figure, ax = plt.subplots(figsize=(7.4, 3.2), layout="constrained")
for kind, (name, colour) in KINDS.items():
    ax.plot(observed[kind], "o-", color=colour, markersize=4, label=name)
ax.set(xlabel="hour", ylabel="mean count", xticks=range(0, 24, 4))
ax.legend(frameon=False)

# %%
# Three models, the same rows
# ---------------------------
#
# Counts want a Poisson deviance and a log link, which all three have. Ours has at most four
# stages; EBM has two outer bags instead of fourteen, which saves minutes and costs it little;
# LightGBM has its defaults. Rivals that are not installed are left out.

models, seconds = {}, {}
started = time.process_time()
model = TSLRegressor(n_stages=4, loss="poisson", random_state=0)
model.fit(X[train], y[train], groups=day[train])
models["seplearn"] = model.predict
seconds["seplearn"] = time.process_time() - started

try:
    from interpret.glassbox import ExplainableBoostingRegressor

    started = time.process_time()
    ebm = ExplainableBoostingRegressor(
        objective="poisson_deviance", outer_bags=2, interactions=4, n_jobs=1, random_state=0
    )
    ebm.fit(X[train], y[train])
    models["EBM"] = ebm.predict
    seconds["EBM"] = time.process_time() - started
except ModuleNotFoundError:
    print("interpret-core is not installed: EBM is left out of this page")


def coded(rows):
    """The rows as LightGBM takes them."""
    levels = {name: pd.Categorical(rows[name], sorted(X[name].unique())) for name in LEVELS}
    return rows.assign(**levels)


LEVELS = ("workingday", "weather")
try:
    from lightgbm import LGBMRegressor

    started = time.process_time()
    boosted = LGBMRegressor(objective="poisson", n_jobs=1, random_state=0, verbose=-1)
    boosted.fit(coded(X[train]), y[train])
    models["LightGBM"] = lambda rows: boosted.predict(coded(rows))
    seconds["LightGBM"] = time.process_time() - started
except ModuleNotFoundError:
    print("lightgbm is not installed: LightGBM is left out of this page")

for name, predict in models.items():
    deviance = mean_poisson_deviance(y[test], predict(X[test]))
    print(f"{name:9} deviance on unseen days {deviance:5.2f}, CPU {seconds[name]:.1f} s")

# %%
# One split of one table is an anecdote, and no model was tuned;
# :doc:`/benchmarks-counts-and-quantiles` has more. All three know the pattern. What can be *seen*
# of it?
#
# Ours
# ----
#
# The summary says it in words before anything is drawn. Look at ``workingday``: by itself it does
# next to nothing, and then the sentence that matters, at the end: what it does **is turned upside
# down** for about half of the rows, and the hours at which it turns.

print(explain.summary(model))

# %%
# The figure behind the sentence is one line per kind of day: the mean of the log of the
# prediction, all stages together, exactly.

explain.partial_dependence(model, ["hour", "workingday"]).plot(lines=True)

# %%
# And behind that a stage that has *hour × workingday* in its name: a difference of two products.
# Where the product that is added (green) and the one that is subtracted (pink) run together, a
# feature scales the stage; where they part, it directs it. The backbone of ``workingday`` is
# exactly flat and its tilt is not: it directs and does nothing else. Commuting is a direction. The
# hours say when it is strong.

explain.curves(model, 1).plot(features=["hour", "workingday"])

# %%
# EBM
# ---
#
# An EBM has a curve for the hour, a bar for the kind of day, and a surface for the pair, which add
# up. The curve of the hour is an average over both kinds of day, which no day is like; the surface
# is what is left. To see a working day one has to add three pictures in one's head, or by
# ``eval_terms``, as here.

hours = np.arange(24)
grid = pd.concat([X[:1]] * 48, ignore_index=True)
grid = grid.assign(hour=np.tile(hours, 2), workingday=np.repeat(["no", "yes"], 24))


def lines_of(values):
    """Logs over hours for both kinds of day, moved to mean zero."""
    values = np.asarray(values, dtype=float).reshape(2, 24)
    return dict(zip(KINDS, values - values.mean(), strict=True))


def draw(ax, lines, title, **style):
    """Both kinds of day over the hours."""
    for kind, (name, colour) in KINDS.items():
        ax.plot(hours, lines[kind], color=colour, label=name, **style)
    ax.set(xlabel="hour", xticks=range(0, 24, 4))
    ax.set_title(title, fontsize=10)


shown = {"seplearn": lines_of(explain.partial_dependence(model, ["hour", "workingday"]).at(grid))}
if "EBM" in models:
    names = list(ebm.term_names_)
    own, kind, pair = (names.index(n) for n in ("hour", "workingday", "hour & workingday"))
    terms = ebm.eval_terms(grid)
    shown["EBM"] = lines_of(terms[:, [own, kind, pair]].sum(axis=1))
    figure, axes = plt.subplots(1, 3, figsize=(10.4, 3.2), layout="constrained", sharey=True)
    axes[0].plot(hours, terms[:24, own], color="0.35")
    axes[0].set(xlabel="hour", ylabel="added to the log", xticks=range(0, 24, 4))
    axes[0].set_title("EBM: the curve of hour", fontsize=10)
    pairs = terms[:, pair].reshape(2, 24)
    draw(axes[1], dict(zip(KINDS, pairs, strict=True)), "EBM: the surface, as two lines")
    axes[1].legend(frameon=False, fontsize=9)
    draw(axes[2], lines_of(terms[:, [own, kind, pair]].sum(axis=1)), "EBM: the three added up")

# %%
# LightGBM with SHAP
# ------------------
#
# A boosted forest shows nothing by itself. SHAP values (here LightGBM's own,
# ``pred_contrib=True``) share out every prediction. The share of the hour falls into two clouds,
# which is how one notices an interaction. But an interaction of two is halved: half of it is in
# the cloud of the hour, the other half in that of the kind of day, on another figure.

if "LightGBM" in models:
    columns = list(X.columns)
    shares = boosted.predict(coded(X[test]), pred_contrib=True)[:, :-1]
    figure, axes = plt.subplots(1, 2, figsize=(9.6, 3.4), layout="constrained", sharey=True)
    for ax, name in zip(axes, ("hour", "workingday"), strict=True):
        for kind, (label, colour) in KINDS.items():
            at = (X[test]["workingday"] == kind).to_numpy()
            ax.scatter(
                X[test]["hour"][at] + (0.15 if kind == "yes" else -0.15),
                shares[at, columns.index(name)],
                s=5, color=colour, alpha=0.4, linewidth=0, label=label,
            )  # fmt: skip
        ax.set(xlabel="hour", xticks=range(0, 24, 4))
        ax.set_title(f"SHAP values of {name}", fontsize=10)
    axes[0].set(ylabel="added to the log")
    axes[0].legend(frameon=False, fontsize=9, markerscale=2)
    both = pd.Series(shares[:, columns.index("hour")] + shares[:, columns.index("workingday")])
    keys = [X[test]["workingday"].to_numpy(), X[test]["hour"].to_numpy()]
    shown["LightGBM"] = lines_of(both.groupby(keys).mean())

# %%
# Side by side
# ------------
#
# When the work is done all agree with the days that were laid aside (dots), as they should:
# predictions of the three differ by little. What differs is the way there: one line and one
# sentence, a sum of three terms, two clouds and a mean.

unseen = np.log(table[test].groupby(["workingday", "hour"])["count"].mean())
points = lines_of(unseen)
figure, axes = plt.subplots(
    1, len(shown), figsize=(3.5 * len(shown), 3.3), layout="constrained", sharey=True, squeeze=False
)
for ax, (name, lines) in zip(axes[0], shown.items(), strict=True):
    draw(ax, lines, name)
    for kind, (_, colour) in KINDS.items():
        ax.plot(hours, points[kind], "o", color=colour, markersize=3.5, alpha=0.6)
axes[0, 0].set(ylabel="log of the rate, mean zero")
axes[0, 0].legend(frameon=False, fontsize=9)

# %%
# In numbers: by what a working day multiplies the rate.

ratios = pd.DataFrame(
    {
        name: np.exp(lines["yes"] - lines["no"])
        for name, lines in (("observed", points), *shown.items())
    }
)
ratios.loc[[3, 8, 13, 17, 22]].round(2)

# %%
# What none of them can say
# -------------------------
#
# All three lines are averages over the weather and the season as they were. None is an effect of
# *making* a day a working day. And counts of neighbouring hours depend on each other more than a
# Poisson deviance believes: intervals would have to come from whole days, which is what ``groups``
# is for. See :doc:`/guide/classes-and-counts`.
