"""Factors, backbone and tilt of one stage, a column of panels per feature."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib.figure import Figure

from seplearn.explain.curves import Curve

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from seplearn.kernels.arrays import FloatArray

_PLUS, _MINUS, _BACKBONE, _TILT = "#1b7f5c", "#c0392b", "#22313f", "#8e5ea2"


def plot_curves(
    curves: Sequence[Curve], feature_names: Sequence[str], ranges: Sequence[tuple[float, float]]
) -> Figure:
    """Draw the curves of one stage: factors above, backbone in the middle, tilt below.

    Parameters
    ----------
    curves : sequence of Curve
        What :func:`seplearn.explain.curves` returns.
    feature_names : sequence of str
        One per curve.
    ranges : sequence of (low, high)
        The part of each feature's axis to show.

    Returns
    -------
    matplotlib.figure.Figure
        A figure outside pyplot's state; save it with ``figure.savefig``.
    """
    figure = Figure(figsize=(3.2 * len(curves), 6.6), layout="constrained")
    axes: Any = figure.subplots(3, len(curves), sharex="col", sharey="row", squeeze=False)
    for column, (curve, name, limits) in enumerate(zip(curves, feature_names, ranges, strict=True)):
        factors, backbone, tilt = axes[:, column]
        _steps(factors, curve, curve.plus, limits, color=_PLUS, label=r"$a_+$")
        _steps(factors, curve, curve.minus, limits, color=_MINUS, label=r"$a_-$")
        _steps(backbone, curve, curve.backbone, limits, color=_BACKBONE)
        _steps(tilt, curve, curve.tilt, limits, color=_TILT)
        tilt.axhline(0.0, color="0.7", linewidth=0.8, zorder=0)
        for panel in (factors, backbone):
            panel.set_yscale("log")
            panel.axhline(1.0, color="0.7", linewidth=0.8, zorder=0)
        tilt.set_xlabel(name)
        tilt.set_xlim(limits)
    for row, label in enumerate(("factor", "backbone $b$", "tilt $d$")):
        axes[row, 0].set_ylabel(label)
    if axes[0, 0].get_legend_handles_labels()[0]:
        axes[0, 0].legend(frameon=False)
    figure.suptitle(f"Stage {curves[0].stage + 1}")
    return figure


def _steps(
    panel: Axes, curve: Curve, values: FloatArray | None, limits: tuple[float, float], **style: Any
) -> None:
    """Draw a step curve between its edges, the outermost steps up to the limits."""
    if values is None:
        return
    bounds = np.array([limits[0], *curve.edges, limits[1]])
    bounds[0], bounds[-1] = bounds.min(), bounds.max()
    panel.stairs(values, bounds, baseline=None, linewidth=1.6, **style)
