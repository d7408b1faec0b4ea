"""What every stage contributes over some rows."""

from __future__ import annotations

from typing import Any

import numpy as np

from seplearn.explain.stages import StageContributions
from seplearn.plots.bars import name_stages
from seplearn.plots.style import DOWN, GRID, UP, panels, short, tidy, unit_of


def plot_stages(contributions: StageContributions, ax: Any = None) -> Any:
    """Draw the mean size of what every stage, and main effects together, add; the mean as a mark.

    Parameters
    ----------
    contributions : StageContributions
        What :func:`seplearn.explain.stages` returns.
    ax : Axes, optional
        Where to draw.

    Examples
    --------
    >>> from seplearn import TSLRegressor, datasets, explain, plots
    >>> X, y = datasets.masked_interaction(500, as_frame=True, random_state=0)
    >>> model = TSLRegressor(n_stages=1, random_state=0).fit(X, y)
    >>> figure = plots.plot_stages(explain.stages(model))
    >>> figure.axes != []
    True
    """
    axes, shown = panels(ax, 1, 1, (max(4.0, 1.5 + 0.35 * len(contributions.mean)), 4.2))
    panel = axes[0, 0]
    stages = np.arange(len(contributions.mean))
    at, mean, size = stages, contributions.mean, contributions.mean_size
    has_effects = contributions.effects_mean_size > 0.0
    if has_effects:
        at = np.append(-1, at)
        mean = np.append(contributions.effects_mean, mean)
        size = np.append(contributions.effects_mean_size, size)
    panel.bar(at, size, 0.75, color="0.8", label="mean size")
    colors = [UP if value >= 0 else DOWN for value in mean]
    panel.vlines(at, 0.0, mean, colors=colors, linewidth=3)
    panel.scatter(at, mean, c=colors, s=28, label="mean", zorder=3)
    panel.axhline(0.0, color=GRID, linewidth=0.8, zorder=0)
    panel.set_ylabel(f"contribution, {unit_of(contributions.quantity)}", fontsize=9)
    where = short(contributions.region, 40) or "all rows"
    panel.set_title(f"{where} ({100 * contributions.weight:.3g} % of the rows)", fontsize=10)
    panel.legend(frameon=False, fontsize=8)
    tidy(panel)
    name_stages(panel, contributions.stage_names, has_effects)
    return shown
