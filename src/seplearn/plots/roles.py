"""Who scales and who directs, stage by stage."""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.colors import Normalize

from seplearn.explain.roles import Roles
from seplearn.plots.bars import heatmap
from seplearn.plots.style import panels


def plot_roles(roles: Roles, ax: Any = None, *, max_features: int = 20) -> Any:
    """Draw how strongly every feature scales and directs every stage.

    A cell says by how much of its size the stage would change were the feature's backbone (left)
    or tilt (right) held still. Effects below the threshold are left blank; a star marks a
    directing feature along which the stage flips its sign.

    Parameters
    ----------
    roles : Roles
        What :func:`seplearn.explain.roles` returns.
    ax : Axes, optional
        Its place is taken by the two panels; without it there is a new figure.
    max_features : int
        The strongest are shown, this many at most.

    Examples
    --------
    >>> from seplearn import TSLRegressor, datasets, explain, plots
    >>> X, y = datasets.masked_interaction(500, as_frame=True, random_state=0)
    >>> model = TSLRegressor(n_stages=1, random_state=0).fit(X, y)
    >>> figure = plots.plot_roles(explain.roles(model))
    >>> figure.axes != []
    True
    """
    scaling = np.array([[r.scaling for r in stage.features] for stage in roles.stages])
    directing = np.array([[r.directing for r in stage.features] for stage in roles.stages])
    shape = (len(roles.stages), len(roles.names))
    scaling, directing = (v.reshape(shape).T for v in (scaling, directing))
    weights = np.array([stage.weight for stage in roles.stages])
    order = np.argsort(-(scaling + directing) @ weights, kind="stable")[:max_features]
    n_stages = len(roles.stages)
    size = (min(3.0 + 0.75 * max(n_stages, 3), 14.0), 2.8 + 0.27 * max(len(order), 4))
    axes, shown = panels(ax, 1, 2, size, sharey=True)
    names = [roles.names[j] for j in order]
    stages = [f"{stage.stage}: {stage.stage_name}" for stage in roles.stages]
    flips = np.array([[bool(r.flips) for r in stage.features] for stage in roles.stages], bool)
    parts = ((scaling, "scales", "Blues"), (directing, "directs (* flips the sign)", "Purples"))
    for panel, (values, title, cmap) in zip(axes[0], parts, strict=True):
        part = values[order]
        stars = flips.reshape(shape).T[order] & title.startswith("directs")
        words = [
            ["" if v < roles.threshold else f"{v:.2f}{'*' if star else ''}" for v, star in pairs]
            for pairs in (zip(*pair, strict=True) for pair in zip(part, stars, strict=True))
        ]
        heatmap(
            panel, names, stages, part, cmap=cmap, norm=Normalize(0.0, 1.5), title=title,
            words=words, longest_column=28,
        )  # fmt: skip
        panel.set_xlabel("stage", fontsize=9)
    return shown
