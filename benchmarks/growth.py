"""Time and memory against the number of rows and of features, every model with its defaults.

The same cells as any other run, on generated tables (:func:`benchmarks.problems.grown`). Our time
depends on how many stages a split makes it choose, so there are several splits, of smaller tables
at least. When a fit took too long or crashed, larger ones of the same model are rows that say so
and are not tried.

    python -m benchmarks growth
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from tqdm import tqdm

from benchmarks import machine, run
from benchmarks.rows import KEY, Rows, key_of

RIVALS = ("seplearn", "tensorsl", "ebm", "lightgbm", "xgboost")
Sizes = tuple[tuple[int, int], ...]
BY_ROWS = tuple((n, 10) for n in (1_000, 10_000, 100_000, 1_000_000, 10_000_000))
BY_FEATURES = tuple((10_000, p) for p in (5, 10, 20, 50, 100, 200))
_SMALL = 1_000_000  # values in a table of which all splits are measured; of larger ones the first


def measure(
    rows: Rows,
    rivals: tuple[str, ...],
    timeout: float,
    series: Iterable[Sizes] = (BY_ROWS, BY_FEATURES),
    splits: tuple[int, ...] = (0,),
    **options: Any,
) -> None:
    """Run what has no row, small tables first, one fit at a time."""
    for sizes in tqdm(list(series), desc="rows, features"):
        for rival in tqdm(rivals, desc="models", leave=False):
            too_much: str | None = None
            for n, p in sizes:
                own = splits if n * p <= _SMALL else splits[:1]
                for cell in run.cells([f"grown:{n}x{p}"], own, [rival], **options):
                    _measure_cell(rows, cell, timeout, too_much)
                    if _status(rows, cell) != "ok":
                        too_much = too_much or cell["problem"]


def _measure_cell(rows: Rows, cell: dict[str, Any], timeout: float, too_much: str | None) -> None:
    if not rows.to_do([cell]):
        return
    if too_much is None:
        row = run.Fits().run_cell(cell, timeout)
    else:
        row = {name: cell[name] for name in KEY} | {"status": "skipped"}
        row["reason"] = f"{too_much} did not end well"
    rows.append(row | {"commit": machine.commit(), "machine": machine.describe("numpy")})


def _status(rows: Rows, cell: dict[str, Any]) -> str:
    keyed = {key_of(row): row for row in rows.read()}
    return str(keyed[key_of(cell)]["status"])


def table(rows: list[dict[str, Any]], column: str, sizes: Sizes, how: Any = np.median) -> Any:
    """Sizes by rivals, the median over splits; NaN where there is no result."""
    found: dict[tuple[str, str], list[float]] = {}
    for row in rows:
        if row["status"] == "ok" and column in row:  # rows of old have no CPU time
            found.setdefault((row["problem"], row["rival"]), []).append(row[column])
    names = [f"grown:{n}x{p}" for n, p in sizes]
    rivals = [r for r in RIVALS if any((name, r) in found for name in names)]
    values = [[how(found.get((name, rival), [np.nan])) for rival in rivals] for name in names]
    return pd.DataFrame(values, index=[f"{n:,} x {p}" for n, p in sizes], columns=rivals)


def ours(rows: list[dict[str, Any]], column: str, sizes: Sizes) -> Any:
    """Our number, with its range where several splits differ in the digits shown."""
    low, middle, high = (
        table(rows, column, sizes, how)["seplearn"].map(_digits)
        for how in (np.min, np.median, np.max)
    )
    spread = " (" + low + " to " + high + ")"
    return middle + spread.where(low != high, "")


def markdown(rows: list[dict[str, Any]]) -> str:
    """Times and memory beside ours, size by size."""
    from benchmarks.report import markdown_table

    cores = sorted({row["cores"] for row in rows if row["status"] == "ok"})
    what = (
        f"Generated tables, defaults of every model, {' or '.join(map(str, cores))} core(s) for "
        "each fit, one after the other. CPU times and memory are given as multiples of ours; below "
        "1 is better for the rival. Where several splits were measured it is their median, of ours "
        "with the range: its time depends on how many stages it chooses. Memory is the peak of the "
        "process, table included."
    )
    lines = ["# Time and memory against rows and features", "", what, ""]
    for sizes in (BY_ROWS, BY_FEATURES):
        for column, title in (("cpu_seconds", "Time to fit"), ("peak_mib", "Peak memory")):
            numbers = table(rows, column, sizes)
            if "seplearn" not in numbers:
                continue
            unit = "s" if column == "cpu_seconds" else "MiB"
            shown = numbers.div(numbers["seplearn"], axis=0).map(_multiple)
            shown.insert(0, f"ours, {unit}", ours(rows, column, sizes))
            against = "rows" if sizes is BY_ROWS else "features"
            lines += markdown_table(shown.drop(columns="seplearn"), f"{title} against {against}")
    return "\n".join(lines + _without(rows)) + "\n"


def _without(rows: list[dict[str, Any]]) -> list[str]:
    """What has no result, and why; and what was not run."""
    lines = [
        f"- {row['rival']} on {row['problem'].removeprefix('grown:')}: {row['status']}, "
        f"{row['reason'].replace('grown:', '')}"
        for row in rows
        if row["status"] != "ok"
    ]
    tried = {(row["rival"], row["problem"]) for row in rows}
    lines += [
        f"- {rival} on {n}x{p}: not run"
        for rival in sorted({rival for rival, _ in tried})
        for n, p in sorted({*BY_ROWS, *BY_FEATURES})
        if (rival, f"grown:{n}x{p}") not in tried
    ]
    return ["## Without a result", "", *lines] if lines else []


def _digits(value: float) -> str:
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"


def _multiple(value: float) -> str:
    return "" if np.isnan(value) else f"{value:.2g}" if value < 10 else f"{value:.0f}"


def figure(rows: list[dict[str, Any]]) -> Any:
    """Two by two: time and memory against rows and features, logarithmic."""
    from matplotlib.figure import Figure

    canvas = Figure(figsize=(9.0, 6.4), layout="constrained")
    panels = canvas.subplots(2, 2, sharey="row")
    words = {"cpu_seconds": "seconds to fit", "peak_mib": "peak memory, MiB"}
    for across, (sizes, place) in enumerate(((BY_ROWS, 0), (BY_FEATURES, 1))):
        for down, (column, label) in enumerate(words.items()):
            axes, numbers = panels[down, across], table(rows, column, sizes)
            for rival in numbers:
                mine = rival == "seplearn"
                axes.plot([size[place] for size in sizes], numbers[rival], marker="o",
                          markersize=4, label=rival, linewidth=2.4 if mine else 1.3,
                          zorder=3 if mine else 2)  # fmt: skip
            axes.set(xscale="log", yscale="log")
            axes.grid(alpha=0.25)
            axes.set_xlabel("rows (10 features)" if place == 0 else "features (10,000 rows)")
            axes.set_ylabel(label if across == 0 else "")
    lines = panels[0, 0].get_legend_handles_labels()
    canvas.legend(*lines, loc="outside upper center", ncols=len(RIVALS), frameon=False)
    return canvas


def write(rows: list[dict[str, Any]], folder: Path) -> list[Path]:
    """Page and figure."""
    folder.mkdir(parents=True, exist_ok=True)
    page, picture = folder / "growth.md", folder / "growth.png"
    page.write_text(markdown(rows), encoding="utf-8")
    figure(rows).savefig(picture, dpi=120)
    return [page, picture]
