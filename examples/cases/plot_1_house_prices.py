"""
House prices: from a CSV to a page that somebody signs
======================================================

A table of neighbourhoods, a command line, and a question: what makes homes dear? At the end there
is one file that somebody who knows the place can read, try, correct, and put their name to.
"""

# %%
# The table
# ---------
#
# 8,000 block groups of California in 1990: median household income and median home value in
# thousands of dollars, the age of houses, rooms, bedrooms and people per household, where it is.
# The figures are those of the United States census of 1990, a work of the government and not under
# copyright, as put together by Pace and Barry (1997).
#
# A quarter is laid aside. Nobody looks at it before the model is fitted.

import contextlib
import hashlib
import shlex
import tempfile
from pathlib import Path

import matplotlib.pyplot as plt
import pandas as pd
from click.testing import CliRunner

from seplearn import explain, load_model
from seplearn.cli import command_line

blocks = pd.read_csv("data/california_blocks.csv.gz")
unseen = blocks.sample(2000, random_state=0)
known = blocks.drop(unseen.index)

folder = Path(tempfile.mkdtemp())
known.to_csv(folder / "known.csv", index=False)
unseen.to_csv(folder / "unseen.csv", index=False)
known.describe().round(1)

# %%
# One command
# -----------
#
# From here on commands are what you would type; ``shell`` only runs them in the folder of the two
# files. ``--stages 3`` asks for a model of one page, ``--monotone income=up`` says what is known
# before any data: a richer neighbourhood is not cheaper because of it. ``--hash-table`` puts the
# checksum of the table into the model.


def shell(command):
    """Run a command and print what a terminal would show."""
    with contextlib.chdir(folder):
        result = CliRunner().invoke(command_line, shlex.split(command)[1:])
    print(f"$ {command}\n{result.output}")


shell(
    "seplearn fit known.csv --target price --stages 3 --monotone income=up --n-bootstrap 20"
    " --hash-table -o prices.tsl"
)

# %%
# What it says, sentence by sentence
# ----------------------------------
#
# These sentences are no interpretation of ours: each is computed exactly from the curves, over all
# stages together. Read them as a valuer would. The place comes first, income third. Richer, fewer
# people to a household, more rooms: dearer. Age by itself says next to nothing.
#
# One thing needs a warning. Latitude and longitude lead with large numbers because California lies
# across the map: a step to the north takes away what a step to the west gives back. Neither means
# much without the other, and the sentence that they *act together* says where to look: at both at
# once.

# %%
# A card to sign
# --------------
#
# A card has all that the model says of one feature: on average with its band, for single rows, and
# where the features it acts together with are low or high. This is what somebody who knows the
# subject can check.

model = load_model(folder / "prices.tsl")
explain.card(model, "income").plot()

# %%
# The place has two coordinates, so its card is a map: the mean price over longitude and latitude,
# other things being as they are. Cells fade where there are no block groups. The dear strip is the
# coast, with the Bay Area at the upper left and Los Angeles at the lower right.

explain.partial_dependence(model, ["longitude", "latitude"]).plot()

# %%
# Does it hold on new rows?
# -------------------------
#
# Now the quarter that was laid aside.

shell("seplearn evaluate prices.tsl unseen.csv")

# %%
X, y = unseen.drop(columns="price"), unseen["price"]
low, high = model.predict_interval(X, level=0.9).T
print(f"{((low <= y) & (y <= high)).mean():.0%} of the prices lie inside intervals of nominal 90 %")

figure, axes = plt.subplots(1, 2, figsize=(9.6, 3.6), layout="constrained")
predicted = model.predict(X)
axes[0].scatter(predicted, y, s=4, color="#1f3b57", alpha=0.35, linewidth=0)
axes[0].plot([0, 600], [0, 600], color="#c51b7d", linewidth=1)
axes[0].set(xlabel="predicted, thousand dollars", ylabel="price", xlim=(0, 600), ylim=(0, 520))
axes[0].set_title("prices end at 500", fontsize=10)
top = known["price"].to_numpy() >= 500
axes[1].hist(known["price"], bins=60, color="#1f3b57")
axes[1].set(xlabel="price, thousand dollars", ylabel="block groups")
axes[1].set_title(f"{top.mean():.0%} of them were cut off there", fontsize=10)

# %%
# That is the first finding, and it is about the table: **values above 500,000 dollars were
# recorded as 500,000**. The model learned it faithfully. So the page will have to say that it is
# no judge of the dearest places, and a price near 500 means "at least".

# %%
# Where is it bad? ``segments`` cuts every feature into parts and looks for those in which the
# error is larger than elsewhere.

explain.segments(model, X, y).plot(max_segments=8)

# %%
# What does not look right
# ------------------------
#
# The second finding is on the card of ``rooms``. Up to eight rooms to a household are a large
# house. Twenty are no house at all: in ski and beach resorts most homes stand empty on the day of
# the census, so that rooms are counted and households are not. The curve goes on rising there,
# slowly, by the few rows it has.

many = known["rooms"] > 9
print(
    f"{many.sum()} of {len(known):,} block groups have more than 9 rooms to a household,", end=" "
)
print(f"up to {known['rooms'].max():.0f}")
explain.card(model, "rooms").plot()

# %%
# The curve is held constant from 9 rooms on. An edit needs a reason. It is made on a copy, its
# effect is measured before anything is written, and it stays in the file for everyone who gets the
# model. This one costs next to nothing.

shell(
    "seplearn edit prices.tsl unseen.csv --clip rooms - 9"
    ' --reason "above 9 rooms to a household most homes are empty: resorts, not large houses"'
    " -o reviewed.tsl"
)

# %%
# One neighbourhood
# -----------------
#
# Somebody will ask about their own. ``--row 3`` explains one prediction: exact Shapley values from
# the average to the price, then stage by stage. North takes away what west gives: see the warning
# above.

shell("seplearn explain reviewed.tsl unseen.csv --row 3")

# %%
# The page
# --------
#
# One HTML file, offline, with everything above: the sentences, a card of every feature,
# calibration, the edit with its reason, where the model comes from, and a panel in which values
# can be changed.

shell(
    "seplearn report reviewed.tsl unseen.csv --rows 50"
    " --title 'Home values, California 1990' -o prices.html"
)

# %%
# Its checksum is what is signed. A signature of the page covers the model too, because the page
# holds the whole of it, and the model holds the checksum of the table it was fitted to:

for name in ("known.csv", "reviewed.tsl", "prices.html"):
    print(hashlib.sha256((folder / name).read_bytes()).hexdigest()[:16], "...", name)
for record in load_model(folder / "reviewed.tsl").edits_:
    print(record)

# %%
# .. code-block:: text
#
#    sha256sum known.csv reviewed.tsl prices.html > SHA256SUMS
#    ssh-keygen -Y sign -f ~/.ssh/id_ed25519 -n file SHA256SUMS        # or gpg --detach-sign
#
# The same commands with the same versions give the same curves, bit for bit, so that whoever
# doubts the page can make it again: ``seplearn export reviewed.tsl --json`` is then the same text.
# (The model file itself also holds how long the fit took.) See :doc:`/guide/reproducibility`,
# :doc:`/guide/report` and :doc:`/guide/editing`.
