"""The figures of README and docs, written there from the result files: none is typed by hand.

A page names a figure in a mark before it, ``<!-- ratio_ebm -->0.84<!-- / -->``, and so has its text
wherever it is read. Tables stand between the same marks on lines of their own.

    python -m benchmarks.figures
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

from benchmarks import growth, headline, report, tables, task_pages
from benchmarks.report import Protocol
from benchmarks.rows import Rows

ROOT = Path(__file__).parents[1]
RESULTS = Path(__file__).parent / "results"
SUMMARY = RESULTS / "report" / "README.md"
NOT_MEASURED = "not measured"
RIVALS = ("ebm", "lightgbm", "pygam", "xgboost", "tensorsl")
# What a page may say of each task, and what the names of its figures begin with.
TASKS = {
    "": report.FRESH,
    "classes_": task_pages.CLASSIFICATION,
    "counts_": task_pages.COUNT_PART,
    "quantiles_": task_pages.QUANTILE_PART,
}
_MARKED = re.compile(r"<!-- (\w+) -->(.*?)<!-- / -->", re.DOTALL)
# Markdown takes a line that begins with a comment for HTML and leaves its words unread.
_AT_A_LINES_START = re.compile(r"^(?:[ >]|[-*] )*<!-- \w+ -->(?=[^\n])", re.MULTILINE)


def pages() -> list[Path]:
    """All pages that may name figures."""
    docs = ROOT / "docs"
    return [ROOT / "README.md", *sorted(docs.glob("*.md")), *sorted(docs.glob("guide/*.md"))]


def filled(text: str, values: dict[str, str]) -> str:
    """A page with the figures that it names."""
    misplaced = _AT_A_LINES_START.search(text)
    if misplaced:
        raise ValueError(f"a figure must not begin a line of text, but {misplaced[0]!r} does")

    def _figure(mark: re.Match[str]) -> str:
        name, before = mark.groups()
        if name not in values:
            raise KeyError(f"no figure is named {name!r}")
        value = f"\n{values[name]}\n" if before.startswith("\n") else values[name]
        return f"<!-- {name} -->{value}<!-- / -->"

    return _MARKED.sub(_figure, text)


def named() -> dict[str, str]:
    """Every figure that a page may name, as text."""
    values: dict[str, str] = {}
    for task, protocol in TASKS.items():
        values |= against_rivals(task, protocol)
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
    values["steadiness_worst"] = _text(steadiness.get("worst_correlation"), ".2f")
    values["steadiness_worst_table"] = steadiness.get("worst_table", NOT_MEASURED)
    values["steadiness_error"] = _text(steadiness.get("median_error_apart"), ".1%")
    values["steadiness_worst_error"] = _text(steadiness.get("largest_error_apart"), ".0%")
    values["steadiness_error_table"] = steadiness.get("largest_error_table", NOT_MEASURED)
    paper = _json("speed").get("1,000,000 x 10", {})
    values["paper_times"] = _text(paper.get("times_faster"), ".1f")
    values["paper_memory"] = _text(paper.get("memory_ratio"), ".2f")
    fits = _json("memory").get("fits", [])
    values["memory_bytes"] = _text(fits[-1]["bytes_per_row"] if fits else None, ".0f")
    values["memory_table_bytes"] = _text(fits[-1]["table_bytes_per_row"] if fits else None, ".0f")
    values["growth_bytes"] = _text(_bytes_per_row(), ".0f")
    return values | _blocks()


def _blocks() -> dict[str, str]:
    """The tables and sentences that stand on lines of their own."""
    rows = Rows(RESULTS / "runs.jsonl").read()
    lines = {"headline": [*headline.lines(rows), *headline.other_tasks(rows)] if rows else []}
    makers = {
        "coverage": tables.coverage_lines,
        "shapley_speed": tables.shapley_lines,
        "scale": tables.scale_table,
    }
    for name, make in makers.items():
        found = _json(name)
        lines[name] = make(found) if found else []
    lines["growth"] = _growth_table()
    return {f"{name}_lines": "\n".join(own) or NOT_MEASURED for name, own in lines.items()}


def _json(name: str) -> dict[str, Any]:
    path = RESULTS / f"{name}.json"
    return json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}


def against_rivals(task: str, protocol: Protocol) -> dict[str, str]:
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
        values[f"{task}median_{rival}"] = _text(own.get("median"), ".2f")
        values[f"{task}wins_{rival}"] = _text(own.get("wins"), "d")
        values[f"{task}tables_{rival}"] = _text(own.get("problems"), "d")
        values[f"{task}worst_{rival}"] = _text(own.get("worst"), ".2f")
        values[f"{task}worst_table_{rival}"] = own.get("worst_problem", NOT_MEASURED)
        values[f"{task}time_{rival}"] = _text(times.get(rival, {}).get("ratio"), ".2g")
        values[f"{task}timed_{rival}"] = _text(times.get(rival, {}).get("problems"), "d")
    return values


def _bytes_per_row() -> float | None:
    """Of a fit with the defaults to the largest table: the whole process over the rows."""
    rows = Rows(RESULTS / "growth.jsonl").read()
    own = [row for row in rows if row["rival"] == report.OURS and row["status"] == "ok"]
    if not own:
        return None
    largest = max(own, key=lambda row: row["rows"])
    return float(largest["peak_mib"] * 2**20 / largest["rows"])


def _onnx_times(n_rows: int) -> str:
    """How many times as long as ours onnxruntime takes for a batch, from model to model."""
    models = _json("onnx_speed").get("models", {}).values()
    ratios = [one["ratio"] for batches in models for one in batches if one["rows"] == n_rows]
    return f"{min(ratios):.2g} to {max(ratios):.2g}" if ratios else NOT_MEASURED


def _growth_table() -> list[str]:
    """How a fit with the defaults grows."""
    rows = Rows(RESULTS / "growth.jsonl").read()
    own = [row for row in rows if row["rival"] == report.OURS and row["status"] == "ok"]
    if not own:
        return []
    lines = ["| rows | features | CPU seconds | peak memory, MiB |", "|---:|---:|---:|---:|"]
    sizes = tuple(sorted({*growth.BY_ROWS, *growth.BY_FEATURES}))
    columns = [growth.ours(own, column, sizes) for column in ("cpu_seconds", "peak_mib")]
    for (n, p), seconds, memory in zip(sizes, *columns, strict=True):
        lines.append(f"| {n:,} | {p} | {seconds} | {memory} |")
    return lines


def _text(value: float | None, form: str) -> str:
    return NOT_MEASURED if value is None else format(value, form)


def main() -> None:
    values = named()
    for page in pages():
        page.write_text(filled(page.read_text(encoding="utf-8"), values), encoding="utf-8")
    SUMMARY.write_text("\n".join(tables.summary_lines()) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
