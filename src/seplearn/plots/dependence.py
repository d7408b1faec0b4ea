"""Partial dependence: curves with their two products, surfaces, lines; per stage and summed."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, Literal, TypeAlias

import numpy as np
from matplotlib import colormaps
from matplotlib.axes import Axes

from seplearn._errors import out_of_range
from seplearn.explain.dependence import PartialDependence
from seplearn.kernels.arrays import FloatArray, IntArray
from seplearn.plots.panel import FeatureAxis, draw
from seplearn.plots.style import (
    BACKBONE,
    DOWN,
    GRID,
    QUIET,
    RANK_MAP,
    SIGNED_MAP,
    STAGE_COLOURS,
    TOTAL,
    UP,
    as_drawn,
    number,
    panels,
    short,
    stage_title,
)
from seplearn.plots.surface import draw_surface, signed_norm, supported, usual_reach

Part: TypeAlias = int | Literal["effects"] | None  # a stage, main effects, or the whole model

_MOST_LINES = 6
_COLUMNS = 4


def plot_partial_dependence(
    dependence: PartialDependence,
    ax: Any = None,
    *,
    stage: int | str | None = None,
    lines: bool | None = None,
) -> Any:
    """Draw partial dependence on one or two features.

    Parameters
    ----------
    dependence : PartialDependence
        What :func:`seplearn.explain.partial_dependence` returns.
    ax : Axes, optional
        Where to draw; with ``stage="all"`` its place is taken by several panels.
    stage : int, "effects" or "all", optional
        A stage: for one feature its two products, the gap between them coloured by its sign, and
        what they share, ``sqrt(C_plus C_minus) b``, dotted. "effects": the main effects. "all":
        main effects, if there are any, and every stage, then their sum. By default the whole model.
    lines : bool, optional
        For two features: lines over the first, one for each of a few values of the second, instead
        of coloured cells. By default when the second has at most six values.

    Returns
    -------
    Axes or Figure
        The Axes given, or the new figure.

    Examples
    --------
    >>> from seplearn import TSLRegressor, datasets, explain, plots
    >>> X, y = datasets.masked_interaction(500, as_frame=True, random_state=0)
    >>> model = TSLRegressor(n_stages=1, random_state=0).fit(X, y)
    >>> figure = plots.plot_partial_dependence(explain.partial_dependence(model, "x1"), stage=0)
    >>> figure.axes != []
    True
    """
    if len(dependence.features) > 2:
        raise ValueError(
            f"only partial dependence on one or two features can be drawn, got {dependence.names}; "
            "its numbers are in frame() and at(X)"
        )
    drawn = _panels_asked(dependence, stage)
    draw_one = _painter(dependence, lines, together=stage == "all")
    columns = min(len(drawn), _COLUMNS)
    rows = math.ceil(len(drawn) / columns)
    width, height = (4.6, 3.4) if len(drawn) == 1 else (3.5, 2.9)
    axes, shown = panels(ax, rows, columns, (width * columns, height * rows))
    for panel, one in zip(axes.flat, drawn, strict=False):
        draw_one(panel, one)
    for panel in axes.flat[len(drawn) :]:
        panel.set_axis_off()
    return shown


def _panels_asked(dependence: PartialDependence, stage: int | str | None) -> list[Part]:
    """What to draw: stages, "effects", or None, the whole model."""
    effects: list[Part] = [] if dependence.effect_curves is None else ["effects"]
    if stage is None:
        return [None]
    if stage == "all":
        return [*effects, *range(dependence.n_stages), None]
    if stage == "effects" and effects:
        return effects
    if not isinstance(stage, (int, np.integer)) or not 0 <= stage < dependence.n_stages:
        words = "'effects', 'all' or None" if effects else "'all' or None"
        rule = f"an integer from 0 to {dependence.n_stages - 1}, {words}"
        raise out_of_range("stage", rule, stage)
    return [int(stage)]


def _painter(
    dependence: PartialDependence, lines: bool | None, together: bool
) -> Callable[[Axes, Part], None]:
    """How one panel is drawn; stages that are drawn ``together`` share their colours."""
    curve = dependence.total if len(dependence.names) == 1 else None
    features = [
        FeatureAxis.of(*parts, curve)
        for parts in zip(dependence.names, dependence.axes, dependence.frequencies, strict=True)
    ]
    if len(features) == 1:
        return lambda ax, s: _curve(ax, dependence, features[0], s)
    n_values = int((dependence.frequencies[1] > 0).sum())
    if lines if lines is not None else n_values <= _MOST_LINES:
        return lambda ax, s: _lines(ax, dependence, features, s)
    known = supported(dependence.support, dependence.frequencies)
    reach = max((usual_reach(stage[known]) for stage in dependence.stages), default=0.0)
    return lambda ax, s: _surface(ax, dependence, features, s, reach if together else 0.0)


def _curve(ax: Axes, dependence: PartialDependence, feature: FeatureAxis, s: Part) -> None:
    feature.density(ax)
    if s is None:
        mean = dependence.mean
        draw(
            ax, feature, dependence.total, color=TOTAL, band=dependence.band(), baseline=mean
        )  # fmt: skip
        ax.axhline(mean, color=QUIET, linewidth=0.8, linestyle=":", zorder=0)
        ax.set_title(
            f"partial dependence (dotted: mean {as_drawn(dependence.quantity)})", fontsize=9
        )
        ax.set_ylabel(as_drawn(dependence.quantity), fontsize=9)
    elif s == "effects":
        band = dependence.band("effects")
        draw(ax, feature, dependence.effects, color=TOTAL, band=band, baseline=0.0)
        ax.axhline(0.0, color=GRID, linewidth=0.8, zorder=0)
        ax.set_title("main effects", fontsize=9)
    else:
        _products(ax, dependence, feature, s)
        ax.set_title(_constants(dependence, s), fontsize=9)
    feature.dress(ax)


def _products(ax: Axes, dependence: PartialDependence, feature: FeatureAxis, s: int) -> None:
    """The two products of a stage, the gap between them by its sign, and their backbone."""
    plus, minus, backbone = (getattr(dependence, part)[s] for part in ("plus", "minus", "backbone"))
    if not feature.is_categorical:
        _shade(ax, feature, plus, minus)
    bands = [dependence.band(part) for part in ("plus", "minus")]
    ends = [None if band is None else band[:, s] for band in bands]
    present = [k for k in (0, 1) if dependence.constants[s, k] != 0.0]
    slots = len(present) + int(dependence.is_two_branch[s] and feature.is_categorical)
    styles = [(plus, UP, "$PD_+$"), (minus, DOWN, "$PD_-$")]
    for place, k in enumerate(present):
        values, color, label = styles[k]
        slot = (place, max(slots, 1))
        draw(ax, feature, values, color=color, band=ends[k], slot=slot, label=label)
    if dependence.is_two_branch[s]:
        style: dict[str, Any] = {} if feature.is_categorical else {"linestyle": ":"}
        draw(
            ax, feature, backbone, color=BACKBONE, slot=(2, 3), label=r"$\sqrt{C_+C_-}\,b$", **style
        )  # fmt: skip
    ax.axhline(0.0, color=GRID, linewidth=0.8, zorder=0)
    if present and feature.is_categorical:
        ax.margins(y=0.3)
        ax.legend(frameon=False, fontsize=7, loc="upper center", handlelength=1.0, ncols=3)
    elif present:
        ax.legend(frameon=False, fontsize=7, loc="best", handlelength=1.4)
    else:
        ax.text(
            0.5, 0.5, "the stage contributes nothing", ha="center", transform=ax.transAxes,
            fontsize=8, color=QUIET,
        )  # fmt: skip


def _shade(ax: Axes, feature: FeatureAxis, plus: FloatArray, minus: FloatArray) -> None:
    plus, minus = plus[feature.shown], minus[feature.shown]
    low = np.minimum(plus, minus)
    for color, above in ((UP, plus > minus), (DOWN, plus < minus)):
        top = np.where(above, np.maximum(plus, minus), low)
        ax.stairs(
            top, feature.bounds, baseline=low, fill=True, color=color, alpha=0.18, linewidth=0
        )


def _constants(dependence: PartialDependence, s: int) -> str:
    plus, minus = dependence.constants[s]
    parts = [stage_title(s, dependence.stage_names[s], 26)]
    parts += [f"$C_+$ = {number(plus)}"] * bool(plus) + [f"$C_-$ = {number(minus)}"] * bool(minus)
    return "\n".join([parts[0], "   ".join(parts[1:])]).strip()


def _values(dependence: PartialDependence, s: Part) -> tuple[FloatArray, str]:
    if s is None:
        return dependence.total, "partial dependence"
    if s == "effects":
        return dependence.effects, "main effects"
    return dependence.stages[s], stage_title(s, dependence.stage_names[s], 34)


def _surface(
    ax: Axes,
    dependence: PartialDependence,
    features: list[FeatureAxis],
    s: Part,
    reach: float,
) -> None:
    values, title = _values(dependence, s)
    centre = dependence.mean if s is None else 0.0
    inside = values[supported(dependence.support, dependence.frequencies)]
    reach = max(usual_reach(inside, centre), 0.0 if s is None else reach)
    norm = signed_norm(reach, centre)
    label = as_drawn(dependence.quantity) if s is None else "contribution"
    draw_surface(
        ax, features, values, cmap=SIGNED_MAP, norm=norm, label=label, support=dependence.support
    )
    ax.set_title(title, fontsize=10)


def _lines(ax: Axes, dependence: PartialDependence, features: list[FeatureAxis], s: Part) -> None:
    values, title = _values(dependence, s)
    first, second = features
    chosen = _few_bins(second.frequencies)
    first.density(ax)
    centre = dependence.mean if s is None else 0.0
    if s is None or s == "effects":
        band = dependence.band("total" if s is None else "effects")
    else:
        band = dependence.band("stages")
        band = None if band is None else band[:, s]
    for k, b in enumerate(chosen):
        label = short(_word(second, int(b)), 18)
        style: Any = {"color": _line_colour(second, k, len(chosen)), "slot": (k, len(chosen))}
        style |= {"band": None if band is None else band[:, :, b], "baseline": centre}
        draw(ax, first, values[:, b], label=label, **style)
    ax.axhline(centre, color=GRID, linewidth=0.8, zorder=0)
    first.dress(ax)
    ax.set_title(title, fontsize=10)
    ax.set_ylabel(as_drawn(dependence.quantity) if s is None else "contribution", fontsize=9)
    style = {"title": short(second.name, 20), "title_fontsize": 7, "fontsize": 7}
    if first.is_categorical:
        ax.margins(y=0.35)
        style |= {"loc": "upper center", "ncols": 3}
    ax.legend(frameon=False, handlelength=1.2, **style)


def _line_colour(feature: FeatureAxis, k: int, n: int) -> Any:
    """Ordered colours for values that have an order, different ones for levels."""
    if feature.is_categorical or n <= 2:
        return STAGE_COLOURS[k % len(STAGE_COLOURS)]
    return colormaps[RANK_MAP](0.9 * k / (n - 1))


def _word(feature: FeatureAxis, b: int) -> str:
    """A bin in a legend: a level, or a number in the middle of it."""
    value = feature.axis.describe().values[b]
    if isinstance(value, str):
        return value
    return "missing" if np.isnan(value) else f"{value:.4g}"


def _few_bins(frequencies: FloatArray) -> IntArray:
    """All bins with rows, or some at equal steps of rank."""
    seen = np.flatnonzero(frequencies > 0)
    if len(seen) <= _MOST_LINES:
        return seen
    below = np.cumsum(frequencies[seen])
    steps = (np.arange(_MOST_LINES) + 0.5) / _MOST_LINES * below[-1]
    chosen: IntArray = seen[np.searchsorted(below, steps)]
    return chosen
