"""One panel over one feature: steps for numbers, bars for levels, a diamond for missing values."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import PolyCollection
from matplotlib.ticker import LogLocator, MaxNLocator, NullFormatter

from seplearn._numerals import count
from seplearn.kernels.arrays import FloatArray, IntArray
from seplearn.plots.style import GRID, QUIET, Compact, short, short_names, tidy
from seplearn.table.binning import Axis

_SHOWN_LEVELS = 20
_TICKED_VALUES = 8
_DENSITY_CELLS = 40
_OUTSIDE = 0.0025  # share of the training rows beyond each end of what is shown
_POWERS = 100.0  # from the smallest to the largest value, that an axis may be of logarithms
_NO_ROOM = 0.1  # of the width: where the lower half of the rows has less, it is
MISSING_AT = 0.08  # of the width, right of the last step


@dataclass(frozen=True, eq=False)
class FeatureAxis:
    """A feature as the x-axis of panels.

    Attributes
    ----------
    shown : array of int
        The levels, or the ordered bins, that are drawn.
    bounds : array
        Bounds of the steps of a numeric feature; for levels, whole numbers and a half.
    missing : bool
        Whether training rows had missing values.
    may_be_log : bool
        Whether the axis may be of logarithms, where positive values lie over powers of ten.
    """

    name: str
    axis: Axis
    frequencies: FloatArray
    shown: IntArray
    bounds: FloatArray
    missing: bool
    may_be_log: bool = True

    @staticmethod
    def of(
        name: str, axis: Axis, frequencies: FloatArray, curve: FloatArray | None = None
    ) -> FeatureAxis:
        """The axis of a feature: all values that training rows had, but for the outermost few.

        Of many levels those in most rows, with the lowest and the highest of a ``curve`` among
        them: they are what sentences tell of.
        """
        if axis.kind == "categorical":
            seen = np.flatnonzero(frequencies > 0)
            if len(seen) > _SHOWN_LEVELS:
                order = np.argsort(-frequencies[seen], kind="stable")
                if curve is not None:
                    by_value = np.argsort(curve[seen], kind="stable")
                    ends = by_value[[0, 1, -2, -1]]
                    order = np.concatenate([ends, order[~np.isin(order, ends)]])
                seen = seen[np.sort(order[:_SHOWN_LEVELS])]
            bounds = np.arange(max(len(seen), 1) + 1, dtype=np.float64) - 0.5
            return FeatureAxis(name, axis, frequencies, seen, bounds, False)
        first, last = _central_bins(axis, frequencies)
        bounds = axis.describe().bounds[first : last + 2]
        shown = np.arange(first, last + 1)
        return FeatureAxis(name, axis, frequencies, shown, bounds, bool(frequencies[-1] > 0))

    @property
    def low(self) -> float:
        return float(self.bounds[0])

    @property
    def high(self) -> float:
        """The end of what is drawn, without the place of missing values."""
        return float(self.bounds[-1])

    @property
    def is_categorical(self) -> bool:
        return self.axis.kind == "categorical"

    @cached_property
    def is_log(self) -> bool:
        """Whether half of the rows would have hardly any room on an axis of the values."""
        if not self.may_be_log or self.is_categorical or self.ticks is not None:
            return False
        if not 0.0 < self.low * _POWERS < self.high < math.inf:
            return False
        below = np.concatenate([[0.0], np.cumsum(self.frequencies[self.shown])])
        median = float(np.interp(0.5 * below[-1], below, self.bounds))
        return median - self.low < _NO_ROOM * (self.high - self.low)

    def beyond(self, share: float) -> float:
        """A place right of the last step, by a share of the width."""
        if self.is_log:
            return self.high * float((self.high / self.low) ** share)
        return self.high + share * (self.high - self.low)

    @property
    def missing_at(self) -> float:
        """Where missing values are drawn, if there are any."""
        return self.beyond(MISSING_AT)

    @property
    def end(self) -> float:
        """The end of the axis, with the place of missing values."""
        return self.beyond(1.5 * MISSING_AT) if self.missing else self.high

    @property
    def label(self) -> str:
        """The name, and how many levels are left out."""
        hidden = int((self.frequencies > 0).sum()) - len(self.shown)
        more = (
            f" ({count(hidden, 'rarer level')} not shown)" if self.is_categorical and hidden else ""
        )
        return short(self.name, 34) + more + (" (log scale)" if self.is_log else "")

    @property
    def ticks(self) -> tuple[Any, list[str]] | None:
        """Places and words of ticks; None where matplotlib's own are right."""
        description = self.axis.describe()
        if description.kind == "categorical":
            names = short_names([description.labels[b] for b in self.shown], 16)
            return np.arange(len(names)), names
        if description.has_few_values and description.meanings.count("range") <= _TICKED_VALUES:
            finite = description.values[np.isfinite(description.values)]
            return finite, [description.number(value) for value in finite]
        return None

    def dress(self, ax: Axes) -> None:
        """Limits, ticks and the name, along the bottom."""
        tidy(ax)
        if self.is_log:
            _make_log(ax, "x")
        ax.set_xlim(self.low, self.end)
        ax.set_xlabel(self.label, fontsize=9)
        if self.ticks is not None:
            places, words = self.ticks
            upright = len(words) > 12 or sum(len(word) + 1 for word in words) > 32
            size = 7 if len(words) > 8 else 8
            ax.set_xticks(places, words, fontsize=size, rotation=90 if upright else 0)
        if self.missing:
            self._mark_missing(ax)

    def _mark_missing(self, ax: Axes) -> None:
        """A tick of its own for missing values, beyond a line; other ticks make room for it."""
        ax.axvline(self.beyond(0.5 * MISSING_AT), color=GRID, linewidth=0.8, zorder=0)
        if self.ticks is None:
            locator = LogLocator() if self.is_log else MaxNLocator(5)
            ticks = np.asarray(locator.tick_values(self.low, self.high))
            inside = (ticks >= self.low) & (ticks <= self.beyond(-0.1))
            ax.set_xticks(ticks[inside])
        ax.set_xticks([self.missing_at], ["missing"], minor=True)
        ax.tick_params(axis="x", which="minor", labelsize=7, labelcolor=QUIET)

    def dress_upright(self, ax: Axes) -> None:
        """Limits, ticks and the name, along the side."""
        tidy(ax)
        if self.is_log:
            _make_log(ax, "y")
        ax.set_ylim(self.low, self.end)
        ax.set_ylabel(short(self.name) + (" (log scale)" if self.is_log else ""), fontsize=9)
        if self.ticks is not None:
            ax.set_yticks(*self.ticks, fontsize=7)
        if self.missing:
            style: Any = {"fontsize": 7, "color": QUIET, "ha": "right", "va": "center"}
            ax.text(0.98, self.missing_at, "missing", transform=ax.get_yaxis_transform(), **style)

    def density(self, ax: Axes) -> None:
        """A grey silhouette of the training rows along the bottom; it moves no limits."""
        heights, bounds = self.frequencies[self.shown], self.bounds
        if not self.is_categorical:
            below = np.concatenate([[0.0], np.cumsum(heights)])
            spaced = np.geomspace if self.is_log else np.linspace
            cells = spaced(self.low, self.high, _DENSITY_CELLS + 1)
            heights, bounds = np.diff(np.interp(cells, bounds, below)), cells
        heights = 0.1 * heights / max(float(heights.max(initial=0.0)), 1e-300)
        corners = [
            [(left, 0.0), (left, height), (right, height), (right, 0.0)]
            for left, right, height in zip(bounds[:-1], bounds[1:], heights, strict=False)
        ]
        where = ax.get_xaxis_transform()
        grey = PolyCollection(corners, facecolor=GRID, edgecolor="none", transform=where, zorder=0)
        ax.add_collection(grey, autolim=False)


def _make_log(ax: Axes, way: str) -> None:
    """An axis of powers of ten."""
    ax.set(**{f"{way}scale": "log"})
    axis = ax.xaxis if way == "x" else ax.yaxis
    axis.set_major_formatter(Compact())
    axis.set_minor_formatter(NullFormatter())


def _central_bins(axis: Axis, frequencies: FloatArray) -> tuple[int, int]:
    """First and last bin shown: all of a feature with few values; else without the outermost."""
    weight = frequencies[:-1]
    last = len(weight) - 1
    if axis.describe().has_few_values or weight.sum() == 0:
        return 0, last
    below = np.cumsum(weight) / weight.sum()
    first = int(np.searchsorted(below, _OUTSIDE, side="right"))
    return first, min(int(np.searchsorted(below, 1.0 - _OUTSIDE, side="left")), last)


def draw(
    ax: Axes,
    feature: FeatureAxis,
    values: FloatArray,
    *,
    color: str,
    band: FloatArray | None = None,
    baseline: float = 0.0,
    slot: tuple[int, int] = (0, 1),
    label: str | None = None,
    **style: Any,
) -> None:
    """Draw one curve: steps with a filled band, or bars from ``baseline`` with error bars.

    ``slot`` is (k, n): the k-th of n curves in a panel, whose bars then stand side by side.
    """
    if feature.is_categorical:
        _bars(ax, feature, values, color, band, baseline, slot, label, style.get("alpha", 0.85))
        return
    options: Any = {"linewidth": 1.6} | style
    steps = values[feature.shown]
    ax.stairs(steps, feature.bounds, baseline=None, color=color, label=label, **options)
    if band is not None:
        low, high = band[:, feature.shown]
        ax.stairs(
            high, feature.bounds, baseline=low, fill=True, color=color, alpha=0.2, linewidth=0
        )
    if feature.missing:
        at = [feature.missing_at]
        ax.plot(at, values[-1:], "D", color=color, markersize=4.5, alpha=style.get("alpha"))
        if band is not None:
            ax.vlines(at, band[0, -1:], band[1, -1:], color=color, alpha=0.5, linewidth=1.5)


def _bars(
    ax: Axes,
    feature: FeatureAxis,
    values: FloatArray,
    color: str,
    band: FloatArray | None,
    baseline: float,
    slot: tuple[int, int],
    label: str | None,
    alpha: float,
) -> None:
    k, n = slot
    width = 0.8 / n
    at = np.arange(len(feature.shown)) + (k - 0.5 * (n - 1)) * width
    heights = values[feature.shown] - baseline
    ax.bar(at, heights, 0.92 * width, bottom=baseline, color=color, label=label, alpha=alpha)
    if band is not None:
        ax.vlines(at, *band[:, feature.shown], color="0.15", linewidth=1.2)
