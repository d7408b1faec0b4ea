"""Colours, figures and words that all plots share."""

from __future__ import annotations

import io
import re
import textwrap
from collections.abc import Sequence
from itertools import takewhile
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import Formatter, ScalarFormatter

from seplearn._errors import wrong_type
from seplearn._numerals import number_text

# Green and pink of the paper's figures; they stay apart for colour-blind readers.
UP, DOWN = "#2f7d32", "#c51b7d"
BACKBONE, TILT, TOTAL = "#1f3b57", "#7b4ea3", "#1f3b57"
QUIET, GRID = "0.55", "0.85"
SIGNED_MAP, SIZE_MAP, RANK_MAP = "PiYG", "YlGnBu", "viridis"
STAGE_COLOURS = (
    "#1f3b57", "#d1793b", "#4c956c", "#8f5aa5", "#b0413e", "#3d8fb3", "#7a6c5d", "#c9a227",
)  # fmt: skip
_SHORTEST_PART = 5  # of the name of a stage
_LONGEST_NAME = 26
_NEARLY_ALL = 1000.0  # times as large as the span: ticks differ in digits that are not shown


class Canvas(Figure):
    """A figure outside pyplot's state, which a notebook shows all the same."""

    def _repr_png_(self) -> bytes:
        buffer = io.BytesIO()
        self.savefig(buffer, format="png", dpi=110)
        return buffer.getvalue()


def panels(
    ax: Any, rows: int, columns: int, size: tuple[float, float], **options: Any
) -> tuple[Any, Any]:
    """Axes in rows and columns, and what the plot function returns.

    Without ``ax`` they fill a new figure of ``size`` inches; with it they share its place, which
    is then left blank.
    """
    if ax is None:
        figure = Canvas(figsize=size, layout="constrained")
        return figure.subplots(rows, columns, squeeze=False, **options), figure
    if not isinstance(ax, Axes):
        raise wrong_type("ax", "a matplotlib Axes or None", ax)
    if rows == columns == 1:
        return np.array([[ax]]), ax
    place = ax.get_subplotspec()
    if place is None:
        raise ValueError(
            "ax must come from subplots, as several panels take its place; got an Axes at a fixed "
            "position"
        )
    ax.set_axis_off()
    ratios = {name: options.pop(name) for name in ("width_ratios",) if name in options}
    grid = place.subgridspec(rows, columns, **ratios)
    return grid.subplots(squeeze=False, **options), ax


def short(name: str, longest: int = _LONGEST_NAME) -> str:
    """A name that fits beside an axis; dollar signs stay dollar signs."""
    line = " ".join(str(name).split())
    if len(line) > longest:
        head = (longest - 1) * 2 // 3
        line = f"{line[:head]}…{line[-(longest - 1 - head) :]}"
    return as_drawn(line)


def in_legend(name: str) -> str:
    """A short name for a legend, which leaves out names that begin with an underscore."""
    text = short(name or "(no name)", 18)
    return f" {text}" if text.startswith("_") else text


def on_two_lines(text: str, longest: int) -> str:
    """A name that may take two lines along an axis."""
    lines = textwrap.wrap(" ".join(text.split()), longest)
    if len(lines) > 2:
        lines = [lines[0], short(" ".join(lines[1:]), longest)]
    return as_drawn("\n".join(lines))


def as_drawn(text: str) -> str:
    """A text of which matplotlib draws every character: no formula, and no half a character."""
    whole = re.sub("[\ud800-\udfff]", "\N{REPLACEMENT CHARACTER}", text)
    return whole.replace("$", r"\$")


def stage_title(stage: int, name: str, longest: int = 40) -> str:
    """A stage by its number and, as far as there is room, by its name: long features are cut."""
    parts = name.split(" × ")
    for size in range(longest, _SHORTEST_PART, -1):
        told = " × ".join(short(part, size) for part in parts)
        if len(told) <= longest:
            return f"stage {stage}: {told}"
    return f"stage {stage}: {short(name, longest)}"


def short_names(names: Sequence[str], longest: int = _LONGEST_NAME) -> list[str]:
    """Names that fit and stay different: where they are too alike, what they share is cut."""
    brief = [short(name, longest) for name in names]
    alike = [name for name, text in zip(names, brief, strict=True) if brief.count(text) > 1]
    if len(set(alike)) < 2:
        return brief
    head = _shared(alike)
    tail = _shared([name[head:][::-1] for name in alike])

    def middle(name: str) -> str:
        own = name[head : len(name) - tail]
        room = max(0, longest - len(own) - 2)
        begin = name[: min(head, room * 2 // 3)]
        return short(f"{begin}…{own}" + ("…" if tail else ""), longest)

    return [
        middle(name) if name in alike else text for name, text in zip(names, brief, strict=True)
    ]


def _shared(texts: Sequence[str]) -> int:
    """How many first characters all texts share."""
    columns = zip(*texts, strict=False)
    return sum(1 for _ in takewhile(lambda column: len(set(column)) == 1, columns))


def number(value: float) -> str:
    """A number as a label shows it: four digits, thousands apart."""
    if value < 0:
        return "\N{MINUS SIGN}" + number(-value)
    if value != 0 and (abs(value) >= 1e7 or abs(value) < 1e-3):
        return f"{value:.3g}"
    digits = max(0, 3 - int(np.floor(np.log10(abs(value))))) if value else 0
    text = f"{value:,.{digits}f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


def signed_number(value: float) -> str:
    """A number with its sign."""
    return f"+{number(value)}" if value >= 0 else number(value)


def tidy(ax: Axes) -> None:
    """Only the axes that carry numbers, and short numbers."""
    for side in ("top", "right"):
        ax.spines[side].set_visible(False)
    ax.tick_params(labelsize=8)
    for axis in (ax.xaxis, ax.yaxis):
        if isinstance(axis.get_major_formatter(), ScalarFormatter):
            axis.set_major_formatter(Compact())
        axis.get_offset_text().set_fontsize(8)


class Compact(Formatter):
    """Ticks that take little room; what large ones share is told once, at the end of the axis."""

    def __init__(self) -> None:
        self._shared = 0.0

    def set_locs(self, locs: Any) -> None:
        """Look for what all ticks share, where that is nearly all of them."""
        super().set_locs(locs)
        self._shared = 0.0
        places = np.unique(np.asarray(locs, dtype=np.float64))
        span = float(np.ptp(places)) if len(places) > 1 else 0.0
        if span > 0.0 and float(np.abs(places).min()) > _NEARLY_ALL * span:
            step = 10.0 ** np.ceil(np.log10(span))
            self._shared = float(np.round(places.mean() / step) * step)

    def __call__(self, x: float, pos: int | None = None) -> str:  # noqa: ARG002
        return compact(x - self._shared)

    def get_offset(self) -> str:
        """What is to be added to every tick."""
        sign = "\N{MINUS SIGN}" if self._shared < 0.0 else "+"
        return f"{sign} {number_text(abs(self._shared), 15)}" if self._shared else ""


def compact(value: float) -> str:
    """A tick that takes little room: 25k, 1.5M, 0.02, 1e-06."""
    text = f"{value:.6g}"
    for unit, word in ((1e9, "G"), (1e6, "M"), (1e3, "k")):
        if unit * (10 if word == "k" else 1) <= abs(value) < 1000 * unit:
            text = f"{value / unit:g}{word}"
    return text.replace("-", "\N{MINUS SIGN}", 1) if value < 0 else text


def unit_of(quantity: str) -> str:
    """What a number is measured in, for the label of an axis."""
    return "in the unit of y" if quantity == "prediction" else f"in {short(quantity, 40)}"


def stage_colour(stage: int) -> str:
    """The colour of a stage, the same in every figure."""
    return STAGE_COLOURS[stage % len(STAGE_COLOURS)]
