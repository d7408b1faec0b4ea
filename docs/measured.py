"""The pages of benchmarks, written from benchmarks/results when the site is built.

A file that is not there gives the words "not measured"; the pages can be built without any.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from benchmarks import growth, report, tables, task_pages
from benchmarks.rows import Rows

RESULTS = Path(__file__).parents[1] / "benchmarks" / "results"
NOT_MEASURED = "not measured"
PAGES = ("fresh_splits", "paper_split", "growth")


def write_pages(folder: Path) -> None:
    """What `docs/benchmarks.md` includes, with pictures drawn beside it."""
    folder.mkdir(parents=True, exist_ok=True)
    parts = []
    for name in PAGES:
        page = RESULTS / "report" / f"{name}.md"
        if not page.exists():
            continue
        head, _, body = report.shifted(page.read_text(encoding="utf-8")).partition("\n")
        parts.append(head)
        picture = _picture(name)
        if picture is not None:
            picture.savefig(folder / f"{name}.png", dpi=120)
            parts.append(f"![{head.lstrip('# ')}](_generated/{name}.png)")
        parts.append(body)
    if not parts:
        parts.append(f"Accuracy and growth: {NOT_MEASURED}.")
    parts.append("## The paper's way, and explanations\n")
    parts += _tables()
    text = "\n\n".join(part.strip("\n") for part in parts)
    (folder / "benchmarks.md").write_text(text + "\n", encoding="utf-8")
    for page in task_pages.PAGES:
        _write_task_page(page, folder)


def _write_task_page(page: task_pages.Page, folder: Path) -> None:
    """What the page of a task includes, without its title; it says so where nothing is measured."""
    rows = Rows(RESULTS / "runs.jsonl").read()
    pictures = {}
    for part in page.parts:
        if report.points(rows, part):
            report.figure(rows, part).savefig(folder / f"{part.name}.png", dpi=120)
            pictures[part.name] = f"_generated/{part.name}.png"
    _, _, body = page.markdown(rows, pictures).partition("\n")
    (folder / f"{page.name}.md").write_text(body.lstrip("\n"), encoding="utf-8")


def _picture(name: str) -> Any:
    """The figure of a page, drawn from the rows that the page is about; None without rows."""
    if name == "growth":
        rows = Rows(RESULTS / "growth.jsonl").read()
        return growth.figure(rows) if rows else None
    rows = Rows(RESULTS / "runs.jsonl").read()
    protocol = {own.name: own for own in (report.FRESH, report.PAPER)}[name]
    return report.figure(rows, protocol) if protocol.rows(rows) else None


def _tables() -> list[str]:
    """The tables that README has too, each from one file."""
    makers = {
        "speed": tables.speed_table,
        "fidelity": tables.fidelity_table,
        "sepals": tables.sepals_table,
        "memory": tables.memory_line,
        "shapley_speed": tables.shapley_lines,
        "steadiness": tables.steadiness_table,
    }
    out = []
    for name, make in makers.items():
        found = _json(name)
        out.append("\n".join(make(found)) if found else f"{name}: {NOT_MEASURED}.")
    return out


def _json(name: str) -> dict[str, Any]:
    path = RESULTS / f"{name}.json"
    return json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
