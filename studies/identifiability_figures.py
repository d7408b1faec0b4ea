"""Figures of the study of non-identifiability."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from matplotlib.colors import LogNorm
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle
from matplotlib.ticker import FuncFormatter, NullFormatter

from studies.page import DARK, QUIET, SERIES, new_figure, plain_log, tidy

Curves = Callable[[float, np.ndarray], tuple[np.ndarray, np.ndarray]]


def factorisations(scalings: tuple[float, ...], values: np.ndarray, curves: Curves) -> Figure:
    """Values on the square above, curves below, a column per scaling."""
    figure = new_figure(8.6, 5.2)
    axes = figure.subplots(2, len(scalings), height_ratios=(1.25, 1), sharey="row")
    norm = LogNorm(0.2, 8.0)
    for (top, bottom), scaling in zip(axes.T, scalings, strict=True):
        first, second = curves(scaling, values)
        mesh = top.pcolormesh(
            values, values, np.outer(second, first), norm=norm, cmap="viridis", rasterized=True
        )
        for corner in (-1.0, 0.0):
            top.add_patch(Rectangle((corner, corner), 1, 1, fill=False, edgecolor="k", linewidth=2))
        tidy(top, f"c = {scaling:.3g}", "x1", "x2" if top is axes[0, 0] else "")
        bottom.plot(values, first, color=SERIES[0], label="curve of x1")
        bottom.plot(values, second, color=SERIES[1], label="curve of x2")
        plain_log(bottom)
        tidy(bottom, "", "x1 or x2")
    axes[1, 0].legend(frameon=False, fontsize=7)
    bar = figure.colorbar(mesh, ax=axes[0, :], pad=0.01, ticks=[0.2, 0.5, 1, 2, 5])
    bar.ax.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    bar.ax.yaxis.set_minor_formatter(NullFormatter())
    bar.ax.tick_params(labelsize=7)
    bar.set_label("value", fontsize=8)
    return figure


def fitted(fits: Mapping[str, Any], values: np.ndarray) -> Figure:
    """Curves of all fits, and their levels, a row per kind of fit."""
    figure = new_figure(8.6, 1.75 * len(fits))
    axes = figure.subplots(len(fits), 3, sharex="col", sharey="col", width_ratios=(1, 1, 0.9))
    for row, (kind, each) in zip(axes, fits.items(), strict=True):
        for j, ax in enumerate(row[:2]):
            shown = np.exp(each.curves[:, j])
            ax.plot(values, shown.T, color=DARK, linewidth=0.7, alpha=0.5)
            plain_log(ax)
            tidy(ax, f"{kind}: x{j + 1}")
        first, second = each.levels.T
        total = (first + second).mean()
        span = np.array([-0.9, 0.3])
        row[2].plot(span, total - span, color=QUIET, linestyle="--", linewidth=0.9)
        row[2].plot(first, second, "o", color=SERIES[1], markersize=3.5, alpha=0.7)
        tidy(row[2], f"levels, {len(first)} fits", "", "of x2")
    for ax, name in zip(axes[-1], ("x1", "x2", "level of x1"), strict=True):
        ax.set_xlabel(name, fontsize=8)
    return figure
