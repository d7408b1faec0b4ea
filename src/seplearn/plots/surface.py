"""A quantity over two features, as coloured cells."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import LogNorm, Normalize, TwoSlopeNorm

from seplearn.kernels.arrays import BoolArray, FloatArray, IntArray
from seplearn.plots.multiples import ticks_between
from seplearn.plots.panel import MISSING_AT, FeatureAxis
from seplearn.plots.style import Compact, number

_GREY = 0.7  # of cells without rows


def cells(feature: FeatureAxis) -> tuple[FloatArray, IntArray]:
    """Bounds of the cells along a feature and the bin of each; -1 is the gap before missing."""
    if not feature.missing:
        return feature.bounds[: len(feature.shown) + 1], feature.shown
    ends = [feature.beyond(0.5 * MISSING_AT), feature.end]
    missing = feature.axis.n_bins - 1
    return np.concatenate([feature.bounds, ends]), np.append(feature.shown, [-1, missing])


def draw_surface(
    ax: Axes,
    features: Sequence[FeatureAxis],
    values: FloatArray,
    *,
    cmap: str,
    norm: Normalize,
    label: str,
    support: BoolArray | None = None,
) -> None:
    """Cells of ``values`` (bins of the first feature by bins of the second) with a colour bar.

    Cells without ``support`` are grey, not pale, which is a colour too: no rows are near them.
    """
    first, second = features
    (x, columns), (y, rows) = cells(first), cells(second)
    shown = values[np.ix_(columns, rows)].astype(float)
    shown[columns < 0, :] = np.nan
    shown[:, rows < 0] = np.nan
    mesh = ax.pcolormesh(x, y, shown.T, cmap=cmap, norm=norm, rasterized=True)
    if support is not None:
        known = support[np.ix_(columns, rows)]
        empty = np.ma.masked_where(known, np.full_like(shown, _GREY))
        style: Any = {"cmap": "gray", "vmin": 0.0, "vmax": 1.0, "alpha": 0.8, "rasterized": True}
        ax.pcolormesh(x, y, empty.T, **style)
        if not known[np.ix_(columns >= 0, rows >= 0)].all():
            label += "; grey: no rows near"
    first.dress(ax)
    second.dress_upright(ax)
    bar = ax.figure.colorbar(mesh, ax=ax, pad=0.02)
    if isinstance(norm, LogNorm):
        ticks = np.exp(ticks_between(*(np.log(end or 1.0) for end in (norm.vmin, norm.vmax))))
        bar.set_ticks(ticks.tolist(), labels=[number(tick) for tick in ticks])
        bar.minorticks_off()
    else:
        bar.formatter = Compact()
        bar.update_ticks()
    bar.set_label(label, fontsize=8)
    bar.ax.tick_params(labelsize=7)


def signed_norm(reach: float, centre: float = 0.0) -> Normalize:
    """Colours that are white at ``centre`` and reach equally far on both sides."""
    reach = reach or 1.0
    return TwoSlopeNorm(centre, centre - reach, centre + reach)


def supported(support: BoolArray | None, frequencies: Sequence[FloatArray]) -> BoolArray:
    """The cells that colours are made for: those near rows, or at least with values that occur."""
    occurs = np.multiply.outer(*(weight > 0 for weight in frequencies))
    return occurs if support is None else occurs & support


def usual_reach(values: FloatArray, centre: float = 0.0) -> float:
    """How far 99 of 100 values lie from ``centre``: a corner must not bleach all the rest."""
    return float(np.quantile(np.abs(values - centre), 0.99)) if values.size else 0.0
