"""Figures of the California study."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.colors import LogNorm, SymLogNorm
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter

from seplearn import explain
from studies.page import COLOURS, QUIET, SERIES, new_figure, tidy
from studies.reading import bins_of

_MOST_DOTS = 6_000
_HIGHEST = 700_000.0
_BLUES = ("#8db8d8", "#3d8fb3", "#1f3b57")


def _thousands(value: float, _: Any = None) -> str:
    return f"{value / 1000:g}k".replace("-", "−")


def surfaces(model: Any, features: tuple[str, str]) -> Figure:
    """Backbone, tilt and partial dependence of every stage over the whole plane."""
    n_stages = len(model.stages_)
    figure = new_figure(9.0, 2.9 * n_stages)
    axes = figure.subplots(n_stages, 2, width_ratios=(2.05, 1), squeeze=False)
    dependence = explain.partial_dependence(model, features)
    for s, (left, right) in enumerate(axes):
        explain.maps(model, s, features).plot(ax=left)
        dependence.plot(ax=right, stage=s)
        right.set_title(f"stage {s}: 2D partial dependence", fontsize=9)
    return figure


def stage_maps(model: Any, X: pd.DataFrame, features: tuple[str, str]) -> Figure:
    """Small maps at the rows: backbones above, partial dependence below, a column per stage."""
    shown = X.iloc[:: max(1, len(X) // _MOST_DOTS)]
    dependence = explain.partial_dependence(model, features)
    n_stages = dependence.n_stages
    columns = min(n_stages, 5)
    rows = -(-n_stages // columns)
    figure = new_figure(1.55 * columns + 1.4, 3.9 * rows + 0.2)
    axes = figure.subplots(2 * rows, columns, sharex=True, sharey=True, squeeze=False)
    at = [bins_of(axis, shown[key]) for axis, key in zip(dependence.axes, features, strict=True)]
    values = dependence.stages[:, at[0], at[1]]
    reach = float(np.quantile(np.abs(values), 0.98)) or 1.0
    norms = (LogNorm(1e-2, 1.0), SymLogNorm(0.05 * reach, vmin=-reach, vmax=reach))
    places = [(shown[key].to_numpy()) for key in features]
    for s in range(n_stages):
        top, bottom = axes[2 * (s // columns) : 2 * (s // columns) + 2, s % columns]
        stage_map = explain.maps(model, s, features)
        backbone = stage_map.backbone[at[0], at[1]]
        sizes = _dots(top, places, backbone / backbone.max(), "YlGnBu", norms[0])
        signs = _dots(bottom, places, values[s], "PiYG", norms[1])
        tidy(top, f"stage {s}: backbone")
        tidy(bottom, f"stage {s}: 2D PD")
        bottom.set_xticks([-124, -120, -116])
    for ax in axes.flat:
        if not ax.collections:
            ax.set_axis_off()
    style: dict[str, Any] = {"ax": axes, "shrink": 0.7 / rows, "pad": 0.02, "location": "right"}
    for mesh, label in ((sizes, "backbone / its largest"), (signs, "dollars")):
        bar = figure.colorbar(mesh, **style)
        bar.set_label(label, fontsize=8)
        bar.ax.tick_params(labelsize=7)
    bar.set_ticks([-reach, -0.1 * reach, 0.0, 0.1 * reach, reach])
    bar.formatter = FuncFormatter(lambda value, _: _thousands(round(value, -3)))
    bar.update_ticks()
    return figure


def _dots(ax: Axes, places: list[np.ndarray], values: np.ndarray, cmap: str, norm: Any) -> Any:
    ax.set_facecolor("0.96")
    across, up = places
    return ax.scatter(
        across, up, c=np.clip(values, norm.vmin, norm.vmax), s=1.2, cmap=cmap, norm=norm,
        linewidths=0, rasterized=True,
    )  # fmt: skip


def lines(found: dict[str, tuple[np.ndarray, dict[str, np.ndarray]]]) -> Figure:
    """Partial dependence of all models on each coordinate."""
    figure = new_figure(8.8, 3.4)
    axes = figure.subplots(1, len(found), sharey=True)
    for ax, (name, (values, curves)) in zip(axes, found.items(), strict=True):
        for k, (model, curve) in enumerate(curves.items()):
            ours = model.endswith("stages")
            colour, width = (_BLUES[k % 3], 1.6) if ours else (COLOURS[model], 1.1)
            ax.plot(values, curve, color=colour, linewidth=width, label=model)
        tidy(ax, "", name, "mean prediction, dollars" if ax is axes[0] else "")
        ax.yaxis.set_major_formatter(FuncFormatter(_thousands))
        ax.set_ylim(0.0, min(_HIGHEST, 1.05 * max(c.max() for c in curves.values())))
    figure.legend(
        *axes[0].get_legend_handles_labels(), loc="outside lower center", ncols=7, fontsize=7,
        frameon=False,
    )  # fmt: skip
    return figure


def products(model: Any, features: tuple[str, ...]) -> Figure:
    """Both products of every stage against the leading features."""
    n_stages = len(model.stages_)
    figure = new_figure(8.8, 2.5 * n_stages)
    axes = figure.subplots(n_stages, len(features), squeeze=False)
    for column, name in zip(axes.T, features, strict=True):
        dependence = explain.partial_dependence(model, name)
        for s, ax in enumerate(column):
            dependence.plot(ax=ax, stage=s)
            ax.set_title(ax.get_title(), fontsize=7.5)
            ax.tick_params(labelsize=7)
            if name == "medianIncome":
                ax.set_xlim(0.0, 12.0)
    return figure


def importance(model: Any) -> Figure:
    """The six panels of the paper."""
    figure = explain.importance(model, kind="paper").plot()
    figure.set_size_inches(9.6, 6.2)
    for ax in figure.axes:
        for text in ax.texts:  # ten columns are narrow: one decimal, and nothing for small numbers
            value = float(text.get_text().replace(",", "") or 0.0)
            text.set_text(f"{value:.1f}" if value >= 0.05 else "")
    return figure


def local(point: explain.LocalExplanation) -> Figure:
    """One prediction, stage by stage."""
    figure = point.plot(max_features=6)
    figure.set_size_inches(11.0, 4.6)
    return figure


def selection(table: pd.DataFrame) -> Figure:
    """Error in each region against the number of stages kept."""
    regions = list(dict.fromkeys(table["region"]))
    figure = new_figure(8.8, 3.1)
    axes = np.atleast_1d(figure.subplots(1, max(len(regions), 1)))
    for ax, region in zip(axes, regions, strict=False):
        part = table[table["region"] == region]
        for column, colour in (("as they are", SERIES[1]), ("refitted", SERIES[0])):
            style: dict[str, Any] = {"marker": "o", "markersize": 3.5, "label": column}
            ax.plot(part["stages kept"], part[column], color=colour, **style)
        ax.plot(
            part["stages kept"], part["whole model"], color=QUIET, linestyle="--",
            label="whole model",
        )  # fmt: skip
        whole = part["whole model"].iloc[0]
        ax.set_ylim(0.85 * whole, 3.0 * whole)
        ax.yaxis.set_major_formatter(FuncFormatter(_thousands))
        tidy(ax, f"{region} ({part['rows'].iloc[0]:,} rows)", "stages kept")
    axes[0].set_ylabel("test RMSE there, dollars", fontsize=8)
    axes[0].legend(frameon=False, fontsize=7)
    return figure
