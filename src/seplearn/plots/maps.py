"""Backbone and tilt of a stage over two features."""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.colors import LogNorm

from seplearn.explain.maps import StageMap
from seplearn.kernels.arrays import FloatArray
from seplearn.plots.panel import FeatureAxis
from seplearn.plots.style import SIGNED_MAP, SIZE_MAP, panels, stage_title, unit_of
from seplearn.plots.surface import draw_surface, signed_norm, supported


def plot_map(stage_map: StageMap, ax: Any = None) -> Any:
    """Draw where the stage is active (backbone, logarithmic) and which way it points (tilt).

    Parameters
    ----------
    stage_map : StageMap
        What :func:`seplearn.explain.maps` returns.
    ax : Axes, optional
        Its place is taken by the panels; without it there is a new figure.

    Examples
    --------
    >>> from seplearn import TSLRegressor, datasets, explain, plots
    >>> X, y = datasets.masked_interaction(500, as_frame=True, random_state=0)
    >>> model = TSLRegressor(n_stages=1, random_state=0).fit(X, y)
    >>> figure = plots.plot_map(explain.maps(model, 0, ("x1", "x3")))
    >>> figure.axes != []
    True
    """
    features = [
        FeatureAxis.of(*parts)
        for parts in zip(stage_map.names, stage_map.axes, stage_map.frequencies, strict=True)
    ]
    n_panels = 1 if stage_map.tilt is None else 2
    axes, shown = panels(ax, 1, n_panels, (4.8 * n_panels, 3.7))
    known = supported(stage_map.support, stage_map.frequencies)
    style: Any = {"cmap": SIZE_MAP, "norm": _log_norm(stage_map.backbone[known])}
    style |= {"label": f"backbone, {unit_of(stage_map.quantity)}", "support": stage_map.support}
    draw_surface(axes[0, 0], features, stage_map.backbone, **style)
    axes[0, 0].set_title(
        f"{stage_title(stage_map.stage, stage_map.stage_name)}\nwhere it is active", fontsize=10
    )
    if stage_map.tilt is not None:
        norm = signed_norm(float(np.clip(np.abs(stage_map.tilt[known]).max(), 1.0, 3.0)))
        style |= {"cmap": SIGNED_MAP, "norm": norm, "label": "tilt"}
        draw_surface(axes[0, 1], features, stage_map.tilt, **style)
        axes[0, 1].set_title("\nwhich way it points", fontsize=10)
    return shown


def _log_norm(values: FloatArray) -> LogNorm:
    """Six decades at most: what is fainter is as good as off."""
    high = float(values.max())
    low = max(float(values.min()), 1e-6 * high)
    return LogNorm(low, high) if low < high else LogNorm(0.5 * high, 2.0 * high)
