"""Figures for the pages, read from benchmarks/results: none is typed by hand.

A file that is not there gives the words "not measured"; the pages can be built without any.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from benchmarks import growth, report, tables, task_pages
from benchmarks.report import Protocol
from benchmarks.rows import Rows

RESULTS = Path(__file__).parents[1] / "benchmarks" / "results"
NOT_MEASURED = "not measured"
RIVALS = ("ebm", "lightgbm", "pygam", "xgboost", "tensorsl")
# What a page may say of each task, and what the names of its figures begin with.
TASKS = {
    "": report.FRESH,
    "classes_": task_pages.CLASSIFICATION,
    "counts_": task_pages.COUNT_PART,
    "quantiles_": task_pages.QUANTILE_PART,
}
PAGES = ("fresh_splits", "paper_split", "growth")


def substitutions() -> dict[str, str]:
    """Every figure that a page may name, as text."""
    values: dict[str, str] = {}
    for task, protocol in TASKS.items():
        values |= _against_rivals(task, protocol)
    shapley = _json("shapley_speed")
    values["shapley_times"] = _text(shapley.get("ratio_to_exact"), ",.0f")
    values["shapley_permutation_times"] = _text(shapley.get("ratio_to_permutation"), ",.0f")
    values["shapley_difference"] = _text(shapley.get("largest_difference_to_exact"), ".0e")
    values["shapley_stages"] = _text(shapley.get("stages"), "d")
    values["shapley_size"] = _text(shapley.get("mean_size"), ".2g")
    for n_rows in (1, 1_000, 100_000):
        values[f"onnx_times_{n_rows}"] = _onnx_times(n_rows)
    coverage = _json("coverage")
    values["coverage_nominal"] = _text(coverage.get("nominal"), ".0%")
    for key in ("x1", "x2", "prediction"):
        values[f"coverage_{key}"] = _text(coverage.get("coverage", {}).get(key), ".0%")
    outcomes = _json("outcomes").get("summary", {})
    for key in ("nominal", "median_coverage", "worst_coverage", "lightgbm_median_coverage"):
        values[f"outcomes_{key}"] = _text(outcomes.get(key), ".1%")
    for key in ("tables", "within_3_points", "better_scores"):
        values[f"outcomes_{key}"] = _text(outcomes.get(key), "d")
    for key in ("median_width_ratio", "median_score_ratio"):
        values[f"outcomes_{key}"] = _text(outcomes.get(key), ".2f")
    values["outcomes_worst_table"] = outcomes.get("worst_table", NOT_MEASURED)
    steadiness = _json("steadiness").get("summary", {})
    values["steadiness"] = _text(steadiness.get("median_correlation"), ".2f")
    paper = _json("speed").get("1,000,000 x 10", {})
    values["paper_times"] = _text(paper.get("times_faster"), ".1f")
    values["paper_memory"] = _text(paper.get("memory_ratio"), ".2f")
    fits = _json("memory").get("fits", [])
    values["memory_bytes"] = _text(fits[-1]["bytes_per_row"] if fits else None, ".0f")
    values["memory_table_bytes"] = _text(fits[-1]["table_bytes_per_row"] if fits else None, ".0f")
    values["growth_table"] = _growth_table()
    return values


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


def _against_rivals(task: str, protocol: Protocol) -> dict[str, str]:
    """Our errors and times over each rival's in one task, as the report counts them."""
    rows = protocol.rows(Rows(RESULTS / "runs.jsonl").read())
    tables = [report.cells(rows, column) for column in (protocol.score.column, "cpu_seconds")]
    errors, times = (
        {row["model"]: row for row in report.ratio_rows(report.log_ratios(table))}
        for table in tables
    )
    values = {}
    for rival in RIVALS:
        own = errors.get(rival, {})
        values[f"{task}ratio_{rival}"] = _text(own.get("ratio"), ".2f")
        values[f"{task}wins_{rival}"] = _text(own.get("wins"), "d")
        values[f"{task}tables_{rival}"] = _text(own.get("problems"), "d")
        values[f"{task}worst_{rival}"] = _text(own.get("worst"), ".2f")
        values[f"{task}worst_table_{rival}"] = own.get("worst_problem", NOT_MEASURED)
        values[f"{task}time_{rival}"] = _text(times.get(rival, {}).get("ratio"), ".2g")
    return values


def _onnx_times(n_rows: int) -> str:
    """How many times as long as ours onnxruntime takes for a batch, from model to model."""
    models = _json("onnx_speed").get("models", {}).values()
    ratios = [one["ratio"] for batches in models for one in batches if one["rows"] == n_rows]
    return f"{min(ratios):.2g} to {max(ratios):.2g}" if ratios else NOT_MEASURED


def _growth_table() -> str:
    """How a fit with the defaults grows."""
    rows = Rows(RESULTS / "growth.jsonl").read()
    own = [row for row in rows if row["rival"] == report.OURS and row["status"] == "ok"]
    if not own:
        return f"Growth with rows and features: {NOT_MEASURED}."
    lines = ["| rows | features | seconds | peak memory, MiB |", "|---:|---:|---:|---:|"]
    sizes = tuple(sorted({*growth.BY_ROWS, *growth.BY_FEATURES}))
    columns = [growth.ours(own, column, sizes) for column in ("cpu_seconds", "peak_mib")]
    for (n, p), seconds, memory in zip(sizes, *columns, strict=True):
        lines.append(f"| {n:,} | {p} | {seconds} | {memory} |")
    return "\n".join(lines)


def _text(value: float | None, form: str) -> str:
    return NOT_MEASURED if value is None else format(value, form)
