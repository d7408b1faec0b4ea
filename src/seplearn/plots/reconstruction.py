"""A stage as the model computes it against the same from partial dependences."""

from __future__ import annotations

from typing import Any

from seplearn.explain.reconstruct import Reconstruction
from seplearn.plots.style import BACKBONE, GRID, panels, stage_title, tidy


def plot_reconstruction(reconstruction: Reconstruction, ax: Any = None) -> Any:
    """Draw a point per row: on the diagonal the two agree.

    Parameters
    ----------
    reconstruction : Reconstruction
        What :func:`seplearn.explain.reconstruct` returns.
    ax : Axes, optional
        Where to draw.

    Examples
    --------
    >>> from seplearn import TSLRegressor, datasets, explain, plots
    >>> X, y = datasets.masked_interaction(500, as_frame=True, random_state=0)
    >>> model = TSLRegressor(n_stages=1, random_state=0).fit(X, y)
    >>> figure = plots.plot_reconstruction(explain.reconstruct(model, 0))
    >>> figure.axes != []
    True
    """
    axes, shown = panels(ax, 1, 1, (4.2, 3.8))
    panel = axes[0, 0]
    panel.axline((0.0, 0.0), slope=1.0, color=GRID, linewidth=1.0, zorder=0)
    style: Any = {"s": 8, "color": BACKBONE, "alpha": 0.5, "linewidths": 0}
    panel.scatter(reconstruction.direct, reconstruction.rebuilt, **style)
    panel.set_xlabel(stage_title(reconstruction.stage, reconstruction.stage_name), fontsize=9)
    panel.set_ylabel("rebuilt from 1D partial dependences", fontsize=9)
    panel.set_title(f"largest difference {reconstruction.largest_error:.1e}", fontsize=10)
    tidy(panel)
    return shown
