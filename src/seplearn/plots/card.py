"""A card: all that a model says of one feature, in panels of one figure."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from matplotlib import colormaps
from matplotlib.axes import Axes

from seplearn._numerals import number_text, percent
from seplearn.explain.axes import folded
from seplearn.explain.card import FeatureCard, Partner
from seplearn.kernels.arrays import FloatArray
from seplearn.plots.panel import FeatureAxis, draw
from seplearn.plots.response import draw_average, draw_factor
from seplearn.plots.style import (
    GRID,
    QUIET,
    RANK_MAP,
    STAGE_COLOURS,
    TOTAL,
    as_drawn,
    on_two_lines,
    panels,
    short,
)

_COLUMNS = {4: 2, 5: 3}  # of so many panels
_LETTERS = 54  # on a line of a panel


def plot_card(card: FeatureCard, ax: Any = None) -> Any:
    """Draw the card of a feature.

    First the average prediction against the feature, with its band and faint lines of single rows
    (for a model with a link in probabilities or rates, then odds ratios or relativities); the main
    effect; then the curve of the feature at low, middle and high values of the two features that
    it acts together with most. Grey below: where the training rows are.

    Parameters
    ----------
    card : FeatureCard
        What :func:`seplearn.explain.card` returns.
    ax : Axes, optional
        Its place is taken by the panels.

    Examples
    --------
    >>> from seplearn import TSLRegressor, datasets, explain, plots
    >>> X, y = datasets.masked_interaction(500, as_frame=True, random_state=0)
    >>> model = TSLRegressor(n_stages=1, random_state=0).fit(X, y)
    >>> figure = plots.plot_card(explain.card(model, "x1"))
    >>> figure.axes != []
    True
    """
    curve = card.dependence.total
    feature = FeatureAxis.of(card.name, card.axis, card.frequencies, curve)
    drawn = _panels(card, feature)
    columns = _COLUMNS.get(len(drawn), len(drawn))
    rows = math.ceil(len(drawn) / columns)
    axes, shown = panels(ax, rows, columns, (4.2 * columns, 3.4 * rows))
    for panel, paint in zip(axes.flat, drawn, strict=False):
        paint(panel)
    for panel in axes.flat[len(drawn) :]:
        panel.set_axis_off()
    if ax is None:
        lines = [line for text in card.sentences for line in folded(text, _LETTERS * columns)]
        text = as_drawn("\n".join(lines))
        shown.set_size_inches(4.2 * columns, 3.4 * rows + 0.17 * len(lines) + 0.1)
        shown.suptitle(text, fontsize=9, ha="left", x=0.02)
    return shown


def _panels(card: FeatureCard, feature: FeatureAxis) -> list[Callable[[Axes], None]]:
    found: list[Callable[[Axes], None]] = [lambda ax: _average(ax, card, feature)]
    response = card.response
    if response is not None and response.factor is not None:
        factor = response.factor
        found.append(lambda ax: draw_factor(ax, response, feature, factor))
    effect = card.effect
    if effect is not None and effect.any():
        found.append(lambda ax: _effect(ax, card, feature, effect))
    drawn = (partner for partner in card.partners if partner.curves)
    return found + [partial(_beside, card=card, feature=feature, partner=one) for one in drawn]


def _average(ax: Axes, card: FeatureCard, feature: FeatureAxis) -> None:
    _lines(ax, feature, card.lines)
    if card.response is not None:
        draw_average(ax, card.response, feature)
        return
    mean = card.dependence.mean
    feature.density(ax)
    band = card.dependence.band()
    draw(ax, feature, card.dependence.total, color=TOTAL, band=band, baseline=mean, zorder=3)
    ax.axhline(mean, color=QUIET, linewidth=0.8, linestyle=":", zorder=0)
    feature.dress(ax)
    ax.set_ylabel(on_two_lines(card.quantity, 34), fontsize=9)
    ax.set_title("on average, and some rows (dotted: the mean)", fontsize=9)


def _lines(ax: Axes, feature: FeatureAxis, values: FloatArray) -> None:
    """Single rows, faint, behind what holds on average."""
    style: Any = {"color": QUIET, "alpha": 0.35, "linewidth": 0.6, "zorder": 1}
    if feature.is_categorical:
        at = np.arange(len(feature.shown))
        ax.plot(at, values[:, feature.shown].T, marker=".", markersize=2.5, **style)
        return
    ends = np.repeat(feature.bounds, 2)[1:-1]
    ax.plot(ends, np.repeat(values[:, feature.shown], 2, axis=1).T, **style)


def _effect(ax: Axes, card: FeatureCard, feature: FeatureAxis, effect: FloatArray) -> None:
    feature.density(ax)
    draw(ax, feature, effect, color=TOTAL, band=card.effect_band, baseline=0.0)
    ax.axhline(0.0, color=GRID, linewidth=0.8, zorder=0)
    feature.dress(ax)
    ax.set_ylabel(f"added to the {short(card.quantity, 26)}", fontsize=9)
    ax.set_title("main effect: what it adds outside the stages", fontsize=9)


def _words(partner: Partner) -> list[str]:
    """The values of a partner, with as many digits as tell them apart."""
    for digits in range(4, 16):
        words = [v if isinstance(v, str) else number_text(v, digits) for v in partner.values]
        if len(set(words)) == len(words):
            break
    return [short(word, 16) for word in words]


def _beside(ax: Axes, card: FeatureCard, feature: FeatureAxis, partner: Partner) -> None:
    """The curve of the feature, one for each of a few values of its partner."""
    feature.density(ax)
    n = len(partner.curves)
    has_order = not any(isinstance(value, str) for value in partner.values)
    for k, (label, curve) in enumerate(zip(_words(partner), partner.curves, strict=True)):
        color: Any = STAGE_COLOURS[k]
        if has_order and n > 1:
            color = colormaps[RANK_MAP](0.85 * k / (n - 1))
        draw(
            ax, feature, curve.total, color=color, slot=(k, n), label=label,
            baseline=card.dependence.mean,
        )  # fmt: skip
    ax.axhline(card.dependence.mean, color=GRID, linewidth=0.8, zorder=0)
    feature.dress(ax)
    ax.set_ylabel(on_two_lines(card.quantity, 34), fontsize=9)
    ax.set_title(
        f"with {short(partner.name, 24)} ({percent(partner.strength)} of the variance)", fontsize=9
    )
    style: Any = {"title": short(partner.name, 20), "title_fontsize": 7, "fontsize": 7}
    if feature.is_categorical:
        ax.margins(y=0.35)
        style |= {"loc": "upper center", "ncols": 3}
    ax.legend(frameon=False, handlelength=1.2, **style)
