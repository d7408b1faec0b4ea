"""Figures of the masked interaction."""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from seplearn import explain
from studies.page import COLOURS, GRID, new_figure, plain_log, tidy
from studies.reading import curve_at

_RANGES = {"x1": (-2.5, 2.5), "x2": (-4.5, 2.5), "x3": (-3.0, 1.0)}


def dependence_and_rows(
    values: np.ndarray, dependence: dict[str, np.ndarray], ice: dict[str, np.ndarray]
) -> Figure:
    """Partial dependence of all models in one panel, then single rows, a panel per model."""
    columns = 4 if len(ice) > 5 else 3
    rows = -(-(len(ice) + 1) // columns)
    figure = new_figure(8.8, 2.6 * rows)
    axes = figure.subplots(rows, columns, sharex=True, sharey=True, squeeze=False).ravel()
    for name, curve in dependence.items():
        axes[0].plot(values, curve, color=COLOURS[name], linewidth=1.4, label=name)
    axes[0].legend(frameon=False, fontsize=6.5, loc="lower center", ncols=2, columnspacing=0.8)
    tidy(axes[0], "partial dependence", "x1", "prediction")
    for ax, (name, curves) in zip(axes[1:], ice.items(), strict=False):
        ax.plot(values, curves.T, color=COLOURS[name], linewidth=0.6, alpha=0.5)
        ax.plot(values, dependence[name], color="0.1", linewidth=1.6)
        tidy(ax, f"rows: {name}", "x1")
    for ax in axes[len(ice) + 1 :]:
        ax.set_axis_off()
    reach = float(np.quantile(np.abs(np.concatenate(list(ice.values()))), 0.995))
    axes[0].set_ylim(-reach, reach)
    return figure


def products(model: Any) -> Figure:
    """Both products of every stage against every feature."""
    n_stages = len(model.stages_)
    figure = new_figure(8.6, 2.5 * n_stages)
    axes = figure.subplots(n_stages, 3, squeeze=False)
    for column, name in zip(axes.T, _RANGES, strict=True):
        dependence = explain.partial_dependence(model, name)
        for stage, ax in enumerate(column):
            dependence.plot(ax=ax, stage=stage)
            ax.set_xlim(*_RANGES[name])
            _fit_height(ax, dependence, stage, name)
            ax.set_title(ax.get_title(), fontsize=8)
            ax.tick_params(labelsize=7)
    return figure


def _fit_height(ax: Axes, dependence: Any, stage: int, name: str) -> None:
    """The range of the values shown: rare values at the ends must not flatten all others."""
    low, high = _RANGES[name]
    edges = dependence.axes[0].edges
    shown = slice(np.searchsorted(edges, low), np.searchsorted(edges, high) + 1)
    top = max(dependence.plus[stage][shown].max(), dependence.minus[stage][shown].max())
    ax.set_ylim(-0.06 * top, 1.12 * top)


def backbone_and_tilt(models: dict[str, Any]) -> Figure:
    """Backbones and tilts of the first stage of two models."""
    figure = new_figure(8.6, 4.6)
    axes = figure.subplots(2, 3, sharex="col")
    for name, model in models.items():
        for column, curve in zip(axes.T, explain.curves(model, 0), strict=True):
            values = np.linspace(*_RANGES[curve.name], 400)
            for ax, part in zip(column, ("backbone", "tilt"), strict=True):
                shown = curve_at(curve, part, values)
                ax.plot(values, shown, color=COLOURS[name], linewidth=1.4, label=name)
                tidy(ax, f"{part} of {curve.name}", curve.name if part == "tilt" else "")
    for ax in axes[0]:
        plain_log(ax)
    for ax in axes[1]:
        ax.set_ylim(-4.0, 4.0)
        ax.axhline(0.0, color=GRID, linewidth=0.8, zorder=0)
    axes[1, 2].axvline(-1.0, color=GRID, linewidth=0.8, zorder=0)
    axes[0, 0].legend(frameon=False, fontsize=7)
    return figure


def signed_factors(model: Any) -> Figure:
    """SepALS's factors, and the same with two signs changed."""
    figure = new_figure(8.6, 2.7)
    scale = explain.curves(model, 0).lambda_plus
    for k, (ax, curve) in enumerate(
        zip(figure.subplots(1, 3), explain.curves(model, 0), strict=True)
    ):
        values = np.linspace(*_RANGES[curve.name], 400)
        factor = curve_at(curve, "plus", values)
        sign = -1.0 if k < 2 else 1.0
        ax.plot(values, factor, color=COLOURS["SepALS"], linewidth=1.6, label="as fitted")
        style: dict[str, Any] = {"color": "0.35", "linewidth": 1.2, "linestyle": "--"}
        ax.plot(values, sign * factor, label="two signs changed", **style)
        ax.axhline(0.0, color=GRID, linewidth=0.8, zorder=0)
        tidy(ax, f"$g_{k + 1}$", curve.name)
    figure.axes[0].legend(frameon=False, fontsize=7, loc="upper center")
    figure.suptitle(f"scale s = {scale:.3g}", fontsize=9)
    return figure
