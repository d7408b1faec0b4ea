"""How the rows of a table differ from training rows, feature by feature."""

from __future__ import annotations

from typing import Any

import numpy as np

from seplearn.explain.drift import SMALL, Drift
from seplearn.plots.bars import bars
from seplearn.plots.style import DOWN, GRID, QUIET, TILT, panels

_COLOURS = {"ok": QUIET, "watch": TILT, "drift": DOWN}


def plot_drift(drift: Drift, ax: Any = None, *, max_features: int = 30) -> Any:
    """Draw the stability index of every feature, the largest on top, coloured by the verdict.

    Parameters
    ----------
    drift : Drift
        What :func:`seplearn.explain.drift` returns.
    ax : Axes, optional
        Where to draw.
    max_features : int
        How many features are drawn: those that have drifted first.

    Examples
    --------
    >>> from seplearn import TSLRegressor, datasets, explain, plots
    >>> X, y = datasets.masked_interaction(500, as_frame=True, random_state=0)
    >>> model = TSLRegressor(n_stages=1, random_state=0).fit(X, y)
    >>> figure = plots.plot_drift(explain.drift(model, X + 1.0))
    >>> len(figure.axes)
    1
    """
    words = tuple(_COLOURS)
    severity = np.array([words.index(verdict) for verdict in drift.verdicts])
    order = np.lexsort((-drift.psi, -severity))[: max(1, max_features)]
    axes, shown = panels(ax, 1, 1, (5.0, 1.2 + 0.26 * len(order)))
    panel = axes[0, 0]
    for limit in (SMALL, drift.limit):
        panel.axvline(limit, color=GRID, linewidth=0.8, zorder=0)
    bars(
        panel,
        [drift.names[j] for j in order],
        drift.psi[order],
        color=[_COLOURS[drift.verdicts[j]] for j in order],
        title=f"{drift.n_rows:,} rows beside training rows\n(purple: watch, pink: drift)",
    )
    panel.scatter(drift.psi_by_chance[order], np.arange(len(order)), marker="|", color="0.15")
    panel.set_xlabel("population stability index (mark: by chance)", fontsize=9)
    return shown
