"""One prediction: a waterfall of main effects and stages, what gates a stage, what turns it."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from matplotlib.axes import Axes
from matplotlib.patches import Patch

from seplearn._numerals import count
from seplearn.explain.local import LocalExplanation
from seplearn.kernels.arrays import FloatArray, IntArray
from seplearn.plots.bars import heatmap, name_rows
from seplearn.plots.style import (
    DOWN,
    GRID,
    QUIET,
    SIGNED_MAP,
    STAGE_COLOURS,
    UP,
    number,
    panels,
    short,
    short_names,
    signed_number,
    tidy,
)
from seplearn.plots.surface import signed_norm

_MOST_REMARKS = 5
_ROOM = 9.0  # inches that three panels need
_LARGE_CONSTANT = 3.0  # times as large as all that follows: its bar would leave that no room
_LETTER = 0.02  # width of a letter in a bar, in widths of the panel
_STRONG_TILT = 2.0  # one product is then 50 times the other: nothing is left to turn


def plot_local(
    local: LocalExplanation,
    ax: Any = None,
    *,
    max_stages: int = 10,
    max_features: int = 8,
    tolerance: float = 0.05,
) -> Any:
    """Draw how a prediction comes about, by main effects and stage by stage.

    Left, a waterfall from the constant to the prediction in the unit of y. In the middle, which
    features make each stage large or small at this row. Right, which way they push it: the sum of a
    row of tilts, with the stage's own, decides its sign. Where no stage has a backbone, as in a
    model of main effects alone, there is only the waterfall.

    Parameters
    ----------
    local : LocalExplanation
        What :func:`seplearn.explain.local` returns.
    ax : Axes, optional
        Its place is taken by the panels, or by the waterfall alone where it is narrower than nine
        inches; without it there is a new figure.
    max_stages : int
        The largest contributions are shown one by one, the others together.
    max_features : int
        Features shown by name.
    tolerance : float
        A smaller share of a stage's backbone belongs to "other".

    Examples
    --------
    >>> from seplearn import TSLRegressor, datasets, explain, plots
    >>> X, y = datasets.masked_interaction(500, as_frame=True, random_state=0)
    >>> model = TSLRegressor(n_stages=1, random_state=0).fit(X, y)
    >>> figure = plots.plot_local(explain.local(model, X, row=3))
    >>> figure.axes != []
    True
    """
    order = np.argsort(-np.abs(local.contributions), kind="stable")
    named = order[:max_stages]
    steps = _steps(local, order, max_stages, max_features)
    rows = len(steps) + 1
    height = 1.7 + 0.36 * rows
    is_narrow = ax is not None and ax.get_window_extent().width < _ROOM * ax.get_figure().dpi
    if is_narrow or np.isnan(local.backbone[named]).all():
        axes, shown = panels(ax, 1, 1, (7.0, height))
    else:
        axes, shown = panels(ax, 1, 3, (13.5, height), width_ratios=(1.25, 1, 1.1))
    _waterfall(axes[0, 0], local, steps)
    remarks = [f"{short(name)}: {text}" for name, text in local.remarks.items()]
    axes[0, 0].set_xlabel("\n".join(remarks[:_MOST_REMARKS]), fontsize=7, color=QUIET)
    if axes.shape[1] > 1:
        features = _loudest(local, named, max_features)
        _backbone_shares(axes[0, 1], local, named, features, tolerance)
        _tilts(axes[0, 2], local, named, max_features)
    return shown


class _Step(NamedTuple):
    """A bar of the waterfall, with its name as it is drawn."""

    name: str
    value: float
    band: FloatArray | None = None


def _steps(
    local: LocalExplanation, order: IntArray, max_stages: int, max_features: int
) -> list[_Step]:
    """The constant, the largest main effects, the largest stages; others together."""
    steps = [_Step("constant", local.intercept)]
    if local.effects.any():
        largest = np.argsort(-np.abs(local.effects), kind="stable")
        largest = largest[local.effects[largest] != 0.0]
        pairs = zip(short_names(local.names, 24), local.values, strict=True)
        names = [f"main effect of {name} ({short(value, 12)})" for name, value in pairs]
        parts = (local.effects, local.effect_bands, names, largest, max_features)
        steps += _largest(*parts, "other main effect")
    names = short_names([f"stage {s}: {name}" for s, name in enumerate(local.stage_names)], 36)
    parts = (local.contributions, local.bands, names, order, max_stages)
    return steps + _largest(*parts, "other stage")


def _largest(
    values: FloatArray,
    bands: FloatArray | None,
    names: list[str],
    order: IntArray,
    most: int,
    others: str,
) -> list[_Step]:
    steps = [
        _Step(names[k], float(values[k]), None if bands is None else bands[:, k])
        for k in order[:most]
    ]
    rest = order[most:]
    if len(rest):
        steps.append(_Step(count(len(rest), others), float(values[rest].sum())))
    return steps


def _waterfall(ax: Axes, local: LocalExplanation, steps: list[_Step]) -> None:
    ends = np.cumsum([0.0, *(step.value for step in steps)])
    start = _first_end(ends)
    ends[0] = start
    for row, (_, value, _) in enumerate(steps):
        if row == 0 and start != 0.0:
            ax.plot(start, row, "D", color=QUIET, markersize=4.5)
        else:
            ax.barh(row, value, 0.7, left=ends[row], color=UP if value >= 0 else DOWN, alpha=0.9)
        ax.vlines(ends[row + 1], row - 0.35, row + 1.35, color=QUIET, linewidth=0.8)
    spans = np.sort([ends[:-1], ends[1:]], axis=0)  # of the bars, and the bands on them
    banded = {row: step.band for row, step in enumerate(steps) if step.band is not None}
    if banded:
        rows = list(banded)
        bands = ends[rows] + np.column_stack(list(banded.values()))
        ax.hlines(rows, *bands, color="0.1")
        spans[0, rows] = np.minimum(spans[0, rows], bands[0])
        spans[1, rows] = np.maximum(spans[1, rows], bands[1])
    _write_steps(ax, steps, spans, start)
    last = len(steps)
    ax.plot(local.prediction, last, "o", color="0.1", markersize=6)
    if local.interval is not None:
        ax.hlines(last, *local.interval, color="0.1", linewidth=2)
    ax.axvline(start, color=GRID, linewidth=0.8, zorder=0)
    name_rows(ax, [*(step.name for step in steps), short(local.quantity, 36)], are_short=True)
    tidy(ax)
    told = [f"{short(name, 60)} {number(value)}" for name, value in local.told]
    ax.set_title("\n".join(told), fontsize=10)


def _first_end(ends: FloatArray) -> float:
    """Where the bars begin: at zero, or at a constant that is much larger than what follows."""
    span = float(np.ptp(ends[1:]))
    return float(ends[1]) if 0.0 < _LARGE_CONSTANT * span < abs(ends[1]) else 0.0


def _write_steps(ax: Axes, steps: list[_Step], spans: FloatArray, start: float) -> None:
    """The contribution beside each bar, on the side where there is room."""
    low, high = min(start, float(spans.min())), max(start, float(spans.max()))
    span = (high - low) or 1.0
    ax.set_xlim(low - 0.22 * span, high + 0.22 * span)
    for row, (_, value, _) in enumerate(steps):
        left, right = spans[:, row]
        to_right = right + 0.2 * span <= high + 0.22 * span
        at, side = (right + 0.015 * span, "left") if to_right else (left - 0.015 * span, "right")
        ax.text(at, row, signed_number(value), va="center", ha=side, fontsize=7.5)


def _loudest(local: LocalExplanation, named: IntArray, most: int) -> IntArray:
    """Features with the largest share of a stage's backbone, weighted by the contributions."""
    weight = np.abs(local.contributions[named])
    scores = weight @ local.backbone_share[named]
    return np.argsort(-scores, kind="stable")[:most]


def _backbone_shares(
    ax: Axes, local: LocalExplanation, named: IntArray, features: IntArray, tolerance: float
) -> None:
    """A stacked bar per stage; pale where the feature makes the stage smaller."""
    share = np.where(local.backbone_share < tolerance, 0.0, local.backbone_share)[named]
    features = np.array([j for j in features if share[:, j].any()], dtype=np.int64)
    left, at = np.zeros(len(named)), np.arange(len(named))
    names = short_names([local.names[j] for j in features], 18)
    keys = []
    for k, j in enumerate(features):
        color = STAGE_COLOURS[k % len(STAGE_COLOURS)]
        alpha = np.where(local.backbone[named, j] < 1.0, 0.45, 1.0)
        ax.barh(
            at, share[:, j], 0.7, left=left, edgecolor="white", color=[(color, a) for a in alpha]
        )  # fmt: skip
        _write_inside(ax, names[k], left, share[:, j], alpha)
        keys.append(Patch(color=color, label=f"{names[k]} = {short(local.values[j], 12)}"))
        left = left + share[:, j]
    rest = local.backbone_share[named].sum(axis=1) - left
    if (rest > 1e-9).any():
        ax.barh(at, rest, 0.7, left=left, color=GRID, edgecolor="white")
        keys.append(Patch(color=GRID, label="other"))
    if not share.any():
        middle = 0.5 * (len(named) - 1)
        ax.text(0.5, middle, "none: every backbone is neutral here", ha="center", color=QUIET)
    name_rows(ax, [f"stage {s}" for s in named])
    ax.set_xlim(0.0, 1.0)
    ax.xaxis.set_major_formatter(lambda value, _: f"{100 * value:.0f} %")
    tidy(ax)
    ax.set_title("share of the backbone (pale: smaller)", fontsize=10)
    place: Any = {"loc": "upper center", "bbox_to_anchor": (0.5, -0.12), "ncols": 2}
    if keys:
        ax.legend(handles=keys, frameon=False, fontsize=7, handlelength=1, columnspacing=1, **place)


def _write_inside(
    ax: Axes, name: str, left: FloatArray, width: FloatArray, alpha: FloatArray
) -> None:
    """The feature's name in its bars, where it fits: colours alone are hard to match when pale."""
    for row in np.flatnonzero(width >= 0.03 + _LETTER * len(name)):
        ax.text(
            left[row] + 0.5 * width[row], float(row), name, ha="center", va="center", fontsize=7,
            color="white" if alpha[row] == 1.0 else "0.1",
        )  # fmt: skip


def _tilts(ax: Axes, local: LocalExplanation, named: IntArray, most: int) -> None:
    """A row per stage, a column per feature, and first the intercept."""
    tilt = np.nan_to_num(local.tilt[named])
    sizes = np.abs(tilt).max(axis=0)
    features = np.argsort(-sizes, kind="stable")[:most]
    features = features[sizes[features] > 0.0]
    values = np.column_stack([local.tilt_intercept[named], local.tilt[named][:, features]])
    words = [[f"{v:+.1f}" if abs(v) >= 0.05 else "" for v in row] for row in values]
    fixed_words: dict[int, str] = {}
    for row, s in enumerate(named):
        if np.isnan(values[row]).all():
            values[row] = 0.0
            fixed = local.contributions[s]
            if fixed and not np.isnan(local.backbone[s]).any():
                fixed_words[row] = f"one product: always {'adds' if fixed > 0 else 'subtracts'}"
    columns = ["intercept", *(local.names[j] for j in features)]
    rows = [f"stage {s}" for s in named]
    norm = signed_norm(float(np.clip(np.nanmax(np.abs(values)), 0.5, _STRONG_TILT)))
    heatmap(ax, rows, columns, values, cmap=SIGNED_MAP, norm=norm, title="tilt", words=words)
    for row, text in fixed_words.items():
        middle = 0.5 * (len(columns) - 1)
        ax.text(middle, row, text, ha="center", va="center", fontsize=7, color=QUIET)
