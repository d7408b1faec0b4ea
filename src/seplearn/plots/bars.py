"""Horizontal bars and heatmaps with a row per feature or stage."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import Normalize
from matplotlib.ticker import MaxNLocator

from seplearn.kernels.arrays import FloatArray
from seplearn.plots.style import short_names, tidy

_WRITTEN_CELLS = 120  # a heatmap with more cells does not write its numbers


def bars(
    ax: Axes,
    names: Sequence[str],
    values: FloatArray,
    *,
    color: Any,
    band: FloatArray | None = None,
    title: str = "",
) -> None:
    """A bar per name, the first on top, with error bars from ``band`` (2, n)."""
    at = np.arange(len(names))
    ax.barh(at, values, 0.75, color=color)
    if band is not None:
        ax.hlines(at, *band, color="0.15", linewidth=1.3)
    name_rows(ax, names)
    ax.xaxis.set_major_locator(MaxNLocator(4))
    tidy(ax)
    ax.set_title(title, fontsize=10)


def name_rows(ax: Axes, names: Sequence[str], longest: int = 26, are_short: bool = False) -> None:
    """Ticks with names along the side, the first on top; shortened here unless they are short."""
    size = 8 if len(names) <= 20 else 6.5
    drawn = names if are_short else short_names(names, longest)
    ax.set_yticks(np.arange(len(names)), drawn, fontsize=size)
    ax.set_ylim(len(names) - 0.5, -0.5)


def spacing(count: int) -> int:
    """Which stages have a tick when there are many: each, every second, every fifth."""
    return 1 if count <= 12 else 2 if count <= 24 else 5


def name_stages(ax: Axes, names: Sequence[str], effects: bool) -> None:
    """Upright ticks below bars, a number and a name each; main effects, if any, stand at -1."""
    words = [f"{s}: {name}" for s, name in enumerate(names)]
    places = list(range(len(words)))[:: spacing(len(words) // 3)]  # upright they need little room
    shown = short_names(words, 30)
    ticks = [(-1, "main effects")] * effects + [(s, shown[s]) for s in places]
    ax.set_xticks([at for at, _ in ticks], [word for _, word in ticks], rotation=90, fontsize=8)
    ax.set_xlabel("stage", fontsize=9)


def heatmap(
    ax: Axes,
    rows: Sequence[str],
    columns: Sequence[str],
    values: FloatArray,
    *,
    cmap: str,
    norm: Normalize,
    title: str = "",
    words: Sequence[Sequence[str]] | None = None,
    longest_column: int = 16,
) -> None:
    """Coloured cells with the rows' and columns' names; ``words`` are written into them."""
    if not len(columns):
        ax.text(0.5, 0.5, "nothing to show", ha="center", transform=ax.transAxes, color="0.4")
        ax.set_title(title, fontsize=10)
        ax.set_axis_off()
        return
    mesh = ax.imshow(values, cmap=cmap, norm=norm, aspect="auto", interpolation="nearest")
    name_rows(ax, rows)
    shown = short_names(columns, longest_column)
    upright = max((len(name) for name in shown), default=0) > 3
    every = 1 if upright else spacing(len(columns))
    places = np.arange(0, len(columns), every)
    size = 8 if len(places) <= 16 else 6.5
    ax.set_xticks(places, shown[::every], rotation=90 if upright else 0, fontsize=size)
    ax.tick_params(length=0)
    ax.set_title(title, fontsize=10)
    for spine in ax.spines.values():
        spine.set_visible(False)
    beyond = values > (np.inf if norm.vmax is None else norm.vmax)
    few = words is not None and values.size <= _WRITTEN_CELLS
    for i, row in enumerate(words or ()):
        for j, word in enumerate(row):
            if few or beyond[i, j]:  # where colours end, a number tells
                colour = mesh.cmap(mesh.norm(values[i, j]))
                dark = np.dot(colour[:3], (0.299, 0.587, 0.114)) < 0.5
                ink = "white" if dark and np.isfinite(values[i, j]) else "0.15"
                ax.text(j, i, word, ha="center", va="center", fontsize=7, color=ink)
    if not few:
        extend = "max" if beyond.any() else "neither"
        bar = ax.figure.colorbar(mesh, ax=ax, pad=0.02, extend=extend)
        bar.ax.tick_params(labelsize=7)
