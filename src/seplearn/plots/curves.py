"""Factors, backbone and tilt of one stage: a row of panels per feature."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.ticker import FuncFormatter, LogLocator, MaxNLocator, NullFormatter

from seplearn._errors import out_of_range
from seplearn.explain.curves import Curve, StageCurves
from seplearn.plots.panel import FeatureAxis, draw
from seplearn.plots.style import BACKBONE, DOWN, GRID, TILT, UP, number, panels, stage_title

_NARROW_RANGE = 0.4  # decades
_LETTERS_PER_INCH = 11  # of a title
_LEAST_FACTOR, _LEAST_TILT = 1.1, 0.1  # less of a range would magnify what is nothing
_PARTS = ("factors", "backbone", "tilt")
_TITLES = {"factors": "factors $a_+$, $a_-$", "backbone": "backbone $b$", "tilt": "tilt $d$"}


def plot_curves(
    curves: StageCurves,
    ax: Any = None,
    *,
    features: Sequence[str | int] | None = None,
    max_features: int = 6,
) -> Any:
    """Draw the curves of a stage: factors, backbone and tilt beside each other.

    Parameters
    ----------
    curves : StageCurves
        What :func:`seplearn.explain.curves` returns.
    ax : Axes, optional
        Its place is taken by the panels; without it there is a new figure.
    features : sequence of str or int, optional
        Features to show. By default those that vary most in this stage.
    max_features : int
        How many, unless ``features`` says which.

    Returns
    -------
    Axes or Figure
        The Axes given, or the new figure.

    Examples
    --------
    >>> from seplearn import TSLRegressor, datasets, explain, plots
    >>> X, y = datasets.masked_interaction(500, as_frame=True, random_state=0)
    >>> model = TSLRegressor(n_stages=1, random_state=0).fit(X, y)
    >>> figure = plots.plot_curves(explain.curves(model, 0))
    >>> figure.axes != []
    True
    """
    if features is not None:
        chosen = [curves[feature] for feature in features]
    else:
        chosen = _most_varying(curves, max_features)
    parts = _parts_of(curves)
    if len(parts) == 1:
        rows, columns = math.ceil(len(chosen) / 3), min(len(chosen), 3)
        cells = [(curve, parts[0]) for curve in chosen]
    else:
        rows, columns = len(chosen), len(parts)
        cells = [(curve, part) for curve in chosen for part in parts]
    shared = True if len(parts) == 1 else "col"
    width = 3.2 * columns
    axes, shown = panels(ax, rows, columns, (width, 1.0 + 1.75 * rows), sharey=shared)
    for panel, (curve, part) in zip(axes.flat, cells, strict=False):
        _draw_part(panel, curve, part)
    for panel in axes.flat[len(cells) :]:
        panel.set_axis_off()
    for panel, part in zip(axes[0], parts * columns, strict=False):
        panel.set_title(_TITLES[part], fontsize=10)
    _add_legend(axes[0, 0])
    title = _in_lines(_title_parts(curves, len(chosen)), int(_LETTERS_PER_INCH * width))
    _head(axes, shown, title, ax is None)
    return shown


def plot_curve(curve: Curve, ax: Any = None, *, part: str | None = None) -> Any:
    """Draw the curves of one feature in one stage.

    Parameters
    ----------
    curve : Curve
        One of what :func:`seplearn.explain.curves` returns.
    ax : Axes, optional
        Where to draw; its place is taken by three panels unless ``part`` is given.
    part : {"factors", "backbone", "tilt"}, optional
        Draw only this.

    Examples
    --------
    >>> from seplearn import TSLRegressor, datasets, explain, plots
    >>> X, y = datasets.masked_interaction(500, as_frame=True, random_state=0)
    >>> model = TSLRegressor(n_stages=1, random_state=0).fit(X, y)
    >>> figure = plots.plot_curve(explain.curves(model, 0)["x1"], part="tilt")
    >>> figure.axes != []
    True
    """
    if part is not None and part not in _PARTS:
        raise out_of_range("part", f"one of {_PARTS}", part)
    parts = _PARTS if part is None else (part,)
    axes, shown = panels(ax, 1, len(parts), (3.4 * len(parts), 2.7))
    for panel, one in zip(axes[0], parts, strict=True):
        _draw_part(panel, curve, one)
        panel.set_title(_TITLES[one], fontsize=10)
        if one == "factors":
            _add_legend(panel)
    if part is not None:
        axes[0, 0].set_title(
            f"{_TITLES[part]}\n{stage_title(curve.stage, curve.stage_name, 30)}", fontsize=10
        )
    else:
        _head(axes, shown, _capital(stage_title(curve.stage, curve.stage_name)), ax is None)
    return shown


def _head(axes: Any, shown: Any, text: str, own_figure: bool) -> None:
    """A title over all panels; in the place of an Axes, a line above that of the middle one."""
    if own_figure:
        shown.suptitle(text, fontsize=11)
    else:
        middle = axes[0, axes.shape[1] // 2]
        middle.set_title(f"{text}\n{middle.get_title()}", fontsize=10)


def _parts_of(curves: StageCurves) -> tuple[str, ...]:
    """All three parts of a stage with two products; of one product the one curve there is."""
    if curves[0].tilt is not None:
        return _PARTS
    return ("factors",) if curves[0].backbone is None else ("backbone",)


def _most_varying(curves: StageCurves, most: int) -> list[Curve]:
    """The curves with the largest variance of log-factors, flat ones left out, in their order."""
    order = sorted(curves, key=_spread, reverse=True)[: max(1, most)]
    order = [curve for curve in order if _spread(curve) > 0.0] or order[:1]
    return sorted(order, key=lambda curve: curve.feature)


def _spread(curve: Curve) -> float:
    factors = [a for a in (curve.plus, curve.minus) if a is not None]
    logs = [np.log(np.abs(a)) for a in factors]
    return sum(float(np.sum(curve.frequencies * log**2)) for log in logs)


def _capital(text: str) -> str:
    return text[0].upper() + text[1:]


def _title_parts(curves: StageCurves, n_shown: int) -> list[str]:
    parts = [_capital(stage_title(curves.stage, curves.stage_name))]
    if curves.lambda_plus:
        parts.append(rf"$\lambda_+$ = {number(curves.lambda_plus)}")
    if curves.lambda_minus:
        parts.append(rf"$\lambda_-$ = {number(curves.lambda_minus)}")
    if curves[0].backbone is not None and curves[0].tilt is None:
        parts.append(f"one product, which {'adds' if curves.lambda_plus > 0 else 'subtracts'}")
    n_features = sum(_spread(curve) > 0.0 for curve in curves)
    if n_shown < n_features:
        parts.append(f"({n_shown} of its {n_features} features)")
    return parts


def _in_lines(parts: list[str], most: int) -> str:
    """Parts of a title beside each other, a new line where one has no more room."""
    lines = [parts[0]]
    for part in parts[1:]:
        longer = f"{lines[-1]}   {part}"
        if len(longer) <= most:
            lines[-1] = longer
        else:
            lines.append(part)
    return "\n".join(lines)


def _draw_part(ax: Axes, curve: Curve, part: str) -> None:
    feature = FeatureAxis.of(curve.name, curve.axis, curve.frequencies)
    if part == "factors":
        _draw_factors(ax, curve, feature)
    else:
        values = getattr(curve, part)
        if values is None:
            _say_none(ax, curve, part)
            return
        color, neutral = (BACKBONE, 1.0) if part == "backbone" else (TILT, 0.0)
        draw(ax, feature, values, color=color, band=curve.bands.get(part), baseline=neutral)
        ax.axhline(neutral, color=GRID, linewidth=0.8, zorder=0)
        if part == "backbone":
            log_scale(ax)
        else:
            _widen(ax)
    feature.density(ax)
    feature.dress(ax)


def _draw_factors(ax: Axes, curve: Curve, feature: FeatureAxis) -> None:
    drawn = [("plus", UP, "$a_+$"), ("minus", DOWN, "$a_-$")]
    drawn = [item for item in drawn if getattr(curve, item[0]) is not None]
    signed = any((getattr(curve, part) < 0).any() for part, _, _ in drawn)
    for k, (part, color, label) in enumerate(drawn):
        draw(
            ax,
            feature,
            getattr(curve, part),
            color=color,
            band=curve.bands.get(part),
            baseline=0.0 if signed else 1.0,
            slot=(k, len(drawn)),
            label=label,
            linewidth=2.8 - 1.5 * k,
        )
    ax.axhline(0.0 if signed else 1.0, color=GRID, linewidth=0.8, zorder=0)
    if drawn and not signed:
        log_scale(ax)


def _add_legend(ax: Axes) -> None:
    if len(ax.get_legend_handles_labels()[0]) > 1:
        ax.legend(frameon=False, fontsize=8, loc="best", handlelength=1.2)


def _say_none(ax: Axes, curve: Curve, part: str) -> None:
    """Why a panel is empty."""
    ax.set_axis_off()
    if curve.backbone is not None:
        word = "one product:\nthe sign is fixed"
    elif curve.plus is None and curve.minus is None:
        word = "the stage\ncontributes nothing"
    else:
        word = f"no {part}:\nfactors have signs"
    ax.text(
        0.5, 0.5, word, ha="center", va="center", transform=ax.transAxes, fontsize=8, color="0.5"
    )


def _widen(ax: Axes) -> None:
    """A range of tilts in which a curve at rest looks so."""
    low, high = ax.get_ylim()
    slack = 0.5 * max(0.0, _LEAST_TILT - (high - low))
    ax.set_ylim(low - slack, high + slack, auto=None)


def log_scale(ax: Axes) -> None:
    """A logarithmic y-axis with plain numbers, few of them; a curve at rest looks so."""
    ax.set_yscale("log")
    low, high = ax.get_ylim()
    slack = math.sqrt(max(1.0, _LEAST_FACTOR * low / high))
    low, high = low / slack, high * slack
    ax.set_ylim(low, high, auto=None)
    decades = np.log10(high / low)
    subs = (1.0,) if decades > 2.5 else (1.0, 2.0, 5.0) if decades > 0.8 else (1.0, 1.5, 2, 3, 5, 7)
    even = MaxNLocator(5)  # in a narrow range there may be none of those numbers
    locator = LogLocator(subs=subs, numticks=8) if decades > _NARROW_RANGE else even
    ax.yaxis.set_major_locator(locator)
    ax.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    ax.yaxis.set_minor_formatter(NullFormatter())
