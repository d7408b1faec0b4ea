"""Factors, backbone and tilt of one stage, a column of panels per feature."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib.figure import Figure

from seplearn.explain.curves import Curve
from seplearn.table.binning import CategoricalAxis, NumericAxis

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from seplearn.kernels.arrays import FloatArray

_PLUS, _MINUS, _BACKBONE, _TILT = "#1b7f5c", "#c0392b", "#22313f", "#8e5ea2"


def plot_curves(
    curves: Sequence[Curve], ranges: Sequence[tuple[float, float]] | None = None
) -> Figure:
    """Draw the curves of one stage: factors above, backbone in the middle, tilt below.

    Parameters
    ----------
    curves : sequence of Curve
        What :func:`seplearn.explain.curves` returns.
    ranges : sequence of (low, high), optional
        The part of each numeric feature's axis to show; by default between its outermost edges.

    Returns
    -------
    matplotlib.figure.Figure
        A figure outside pyplot's state; save it with ``figure.savefig``.
    """
    figure = Figure(figsize=(3.2 * len(curves), 6.6), layout="constrained")
    axes: Any = figure.subplots(3, len(curves), sharex="col", sharey="row", squeeze=False)
    factors_drawn = [a for curve in curves for a in (curve.plus, curve.minus) if a is not None]
    signed = any((factors < 0).any() for factors in factors_drawn)
    ranges = ranges or [_edge_range(curve) for curve in curves]
    for column, (curve, limits) in enumerate(zip(curves, ranges, strict=True)):
        factors, backbone, tilt = axes[:, column]
        _steps(factors, curve, "plus", limits, color=_PLUS, label=r"$a_+$")
        _steps(factors, curve, "minus", limits, color=_MINUS, label=r"$a_-$")
        _steps(backbone, curve, "backbone", limits, color=_BACKBONE)
        _steps(tilt, curve, "tilt", limits, color=_TILT)
        tilt.axhline(0.0, color="0.7", linewidth=0.8, zorder=0)
        for panel in (factors, backbone):
            panel.set_yscale("linear" if signed else "log")
            panel.axhline(0.0 if signed else 1.0, color="0.7", linewidth=0.8, zorder=0)
        tilt.set_xlabel(curve.name)
        if not isinstance(curve.axis, CategoricalAxis):
            tilt.set_xlim(limits)
    for row, label in enumerate(("factor", "backbone $b$", "tilt $d$")):
        axes[row, 0].set_ylabel(label)
    if axes[0, 0].get_legend_handles_labels()[0]:
        axes[0, 0].legend(frameon=False)
    figure.suptitle(f"Stage {curves[0].stage + 1}")
    return figure


def _edge_range(curve: Curve) -> tuple[float, float]:
    """From the first to the last finite edge, and a little more."""
    edges = curve.axis.edges if isinstance(curve.axis, NumericAxis) else np.empty(0)
    edges = edges[np.isfinite(edges)]
    if len(edges) == 0:
        return -1.0, 1.0
    margin = 0.02 * float(np.ptp(edges)) or 1.0
    return float(edges[0]) - margin, float(edges[-1]) + margin


def _steps(panel: Axes, curve: Curve, part: str, limits: tuple[float, float], **style: Any) -> None:
    """Draw a step curve between its edges, the outermost steps up to the limits, and its band.

    Missing values, if training had any, are a point at the right edge; levels are points in a row.
    """
    values: FloatArray | None = getattr(curve, part)
    if values is None:
        return
    band = curve.bands.get(part)
    if isinstance(curve.axis, CategoricalAxis):
        seen = np.flatnonzero(curve.frequencies > 0)
        names = [*curve.axis.levels, "(rare)", "(missing)", "(unseen)"]
        panel.plot(np.arange(len(seen)), values[seen], "o", markersize=4, **style)
        if band is not None:
            panel.vlines(np.arange(len(seen)), *band[:, seen], color=style["color"], alpha=0.4)
        panel.set_xticks(np.arange(len(seen)), [names[b] for b in seen], rotation=90, fontsize=7)
        return
    bounds = np.array([limits[0], *curve.axis.edges, limits[1]])
    bounds[0], bounds[-1] = bounds.min(), bounds.max()
    panel.stairs(values[:-1], bounds, baseline=None, linewidth=1.6, **style)
    if band is not None:
        low, high = band[:, :-1]
        panel.stairs(high, bounds, baseline=low, fill=True, color=style["color"], alpha=0.2)
    if curve.frequencies[-1] > 0:
        style.pop("label", None)
        panel.plot([limits[1]], values[-1:], "D", markersize=5, clip_on=False, **style)
