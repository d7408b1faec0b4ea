"""What a study leaves behind: a Markdown page, its figures, and the numbers behind them as CSV."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

# One colour per model on every page; up and down are those of the explanations' own figures.
COLOURS = {
    "TSL": "#1f3b57",
    "TSL, 2 stages": "#3d8fb3",
    "TSL, paper mode": "#d1793b",
    "EBM": "#4c956c",
    "XGBoost": "#8f5aa5",
    "SepALS": "#b0413e",
}
UP, DOWN, DARK, QUIET, GRID = "#2f7d32", "#c51b7d", "#1f3b57", "0.55", "0.85"
SERIES = ("#1f3b57", "#d1793b", "#4c956c", "#8f5aa5", "#b0413e", "#3d8fb3", "#7a6c5d", "#c9a227")
_DPI = 110


@dataclass(frozen=True)
class Shown:
    """A figure and the sentence below it."""

    name: str
    figure: Figure
    caption: str


@dataclass(frozen=True)
class Page:
    """The outcome of one study.

    Attributes
    ----------
    name, title : str
        The study's name, which all its files begin with, and the page's heading.
    summary : sequence of str
        Paragraphs: what was done and what is seen.
    claims : sequence of (str, str)
        What the paper says, and what is measured here; none for a question of our own.
    tables : dict of str to DataFrame
        Written as CSV files.
    shown_tables : dict of str to DataFrame
        Small tables that stand on the page itself, under a heading.
    figures : sequence of Shown
    notes : sequence of str
        Where the setting differs from the paper's, and what is left out.
    """

    name: str
    title: str
    summary: Sequence[str]
    claims: Sequence[tuple[str, str]]
    tables: dict[str, pd.DataFrame]
    figures: Sequence[Shown]
    shown_tables: dict[str, pd.DataFrame] = field(default_factory=dict)
    notes: Sequence[str] = ()

    def write(self, folder: Path, seconds: float | None = None) -> None:
        """Write all files of the study into a folder."""
        folder.mkdir(parents=True, exist_ok=True)
        for name, table in self.tables.items():
            path = folder / f"{self.name}_{name}.csv"
            table.to_csv(path, index=False, float_format="%.6g", lineterminator="\n")
        for shown in self.figures:
            shown.figure.savefig(folder / f"{self.name}_{shown.name}.png", dpi=_DPI)
        text = self.markdown()
        if seconds is not None:
            text += f"\nMeasured in {seconds:.0f} s.\n"
        (folder / f"{self.name}.md").write_text(text, encoding="utf-8")

    def markdown(self) -> str:
        """The page."""
        parts = [f"# {self.title}", *self.summary]
        if self.claims:
            claims = pd.DataFrame(self.claims, columns=["the paper says", "measured here"])
            parts.append(markdown_table(claims))
        for heading, table in self.shown_tables.items():
            parts += [f"**{heading}**", markdown_table(table)]
        for shown in self.figures:
            parts.append(f"![{shown.caption}]({self.name}_{shown.name}.png)\n\n*{shown.caption}*")
        if self.notes:
            parts.append("## Notes")
            parts.append("\n".join(f"- {note}" for note in self.notes))
        files = ", ".join(f"[{name}]({self.name}_{name}.csv)" for name in self.tables)
        parts.append(f"Numbers: {files}.")
        return "\n\n".join(parts) + "\n"


def markdown_table(table: pd.DataFrame) -> str:
    """A table as Markdown; numbers are rounded to four digits."""
    rows = [list(table.columns), ["---"] * table.shape[1]]
    rows += [[_cell(value) for value in row] for row in table.itertuples(index=False)]
    return "\n".join("| " + " | ".join(map(str, row)) + " |" for row in rows)


def _cell(value: Any) -> str:
    if isinstance(value, (float, np.floating)):
        return number(float(value))
    return str(value).replace("|", "\\|")


def number(value: float, digits: int = 4) -> str:
    """A number with so many digits that count, thousands apart, without an exponent if it can."""
    if not np.isfinite(value):
        return "–"
    if value != 0 and (abs(value) < 1e-4 or abs(value) >= 1e9):
        return f"{value:.{max(digits - 2, 1)}e}"
    whole = int(np.floor(np.log10(abs(value)))) + 1 if value else 1
    places = max(0, digits - whole)
    text = f"{value:,.{places}f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


def dollars(value: float) -> str:
    """Dollars to the hundred; the sign stands in front."""
    return f"{'−' if value < 0 else ''}${abs(round(value, -2)):,.0f}"


def listed(words: Sequence[str]) -> str:
    """Words in a sentence: a, b and c."""
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} and {words[-1]}"


def new_figure(width: float, height: float) -> Figure:
    """A figure outside pyplot's state, whose parts keep clear of each other."""
    return Figure(figsize=(width, height), layout="constrained")


def tidy(ax: Axes, title: str = "", x: str = "", y: str = "") -> None:
    """Words of one size on every figure, and only the axes that carry numbers."""
    for side in ("top", "right"):
        ax.spines[side].set_visible(False)
    ax.tick_params(labelsize=8)
    ax.set_title(title, fontsize=9)
    ax.set_xlabel(x, fontsize=8)
    ax.set_ylabel(y, fontsize=8)


def plain_log(ax: Axes) -> None:
    """A logarithmic vertical axis with plain numbers at 1, 2, 5 where there is room for them."""
    ax.set_yscale("log")
    ax.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    ax.yaxis.set_minor_formatter(NullFormatter())
    low, high = ax.get_ylim()
    if high < 100 * low:
        ax.yaxis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0)))


def rmse(y: np.ndarray, prediction: np.ndarray) -> float:
    """Root mean squared error."""
    return float(np.sqrt(np.mean((np.asarray(y) - np.asarray(prediction)) ** 2)))


def error_table(
    models: dict[str, Any], X: pd.DataFrame, y: np.ndarray, published: dict[str, float]
) -> pd.DataFrame:
    """Test RMSE of every model, and the paper's where it has one."""
    return pd.DataFrame(
        {
            "model": list(models),
            "RMSE": [rmse(y, model.predict(X)) for model in models.values()],
            "the paper, tuned": [published.get(name, np.nan) for name in models],
        }
    )
