"""Figures for the pages, read from benchmarks/results: none is typed by hand.

A file that is not there gives the words "not measured"; the pages can be built without any.
"""

from __future__ import annotations

import csv
import json
import math
import re
import shutil
from collections import defaultdict
from pathlib import Path
from typing import Any

RESULTS = Path(__file__).parents[1] / "benchmarks" / "results"
NOT_MEASURED = "not measured"
OURS = "seplearn"
PAPER_SPLIT = "42"
RIVALS = ("ebm", "lightgbm", "xgboost", "tensorsl")
PAGES = ("fresh_splits", "paper_split", "growth")


def substitutions() -> dict[str, str]:
    """Every figure that a page may name, as text."""
    values = {"not_measured": NOT_MEASURED}
    logs = _log_ratios(_errors())
    for rival in RIVALS:
        own = logs.get(rival, [])
        mean = math.exp(sum(own) / len(own)) if own else None
        values[f"ratio_{rival}"] = _text(mean, ".2f")
        values[f"wins_{rival}"] = f"{sum(v < 0 for v in own)}" if own else NOT_MEASURED
        values[f"tables_{rival}"] = f"{len(own)}" if own else NOT_MEASURED
    shapley = _json("shapley_speed")
    values["shapley_times"] = _text(shapley.get("ratio_to_exact"), ",.0f")
    values["shapley_permutation_times"] = _text(shapley.get("ratio_to_permutation"), ",.0f")
    values["shapley_difference"] = _text(shapley.get("largest_difference_to_exact"), ".0e")
    coverage = _json("coverage")
    values["coverage_nominal"] = _text(coverage.get("nominal"), ".0%")
    for key in ("x1", "x2", "prediction"):
        values[f"coverage_{key}"] = _text(coverage.get("coverage", {}).get(key), ".0%")
    paper = _json("speed").get("1,000,000 x 10", {})
    values["paper_times"] = _text(paper.get("times_faster"), ".1f")
    values["paper_memory"] = _text(paper.get("memory_ratio"), ".2f")
    fits = _json("memory").get("fits", [])
    values["memory_bytes"] = _text(fits[-1]["bytes_per_row"] if fits else None, ".0f")
    values["memory_table_bytes"] = _text(fits[-1]["table_bytes_per_row"] if fits else None, ".0f")
    values["growth_table"] = _growth_table()
    return values


def write_pages(folder: Path) -> None:
    """What `docs/benchmarks.md` includes, with pictures beside it."""
    folder.mkdir(parents=True, exist_ok=True)
    report = RESULTS / "report"
    parts = []
    for name in PAGES:
        page, picture = report / f"{name}.md", report / f"{name}.png"
        if not page.exists():
            continue
        head, _, body = _shifted(page.read_text(encoding="utf-8"), 1).partition("\n")
        parts.append(head)
        if picture.exists():
            shutil.copy(picture, folder)
            parts.append(f"![{head.lstrip('# ')}](_generated/{name}.png)")
        parts.append(body)
    if not any((report / f"{name}.md").exists() for name in PAGES[:2]):
        older = RESULTS / "accuracy.md"
        parts.insert(0, _without_title(older) if older.exists() else f"Accuracy: {NOT_MEASURED}.")
    parts.append("## The paper's way, and explanations\n")
    parts += _tables()
    text = "\n\n".join(part.strip("\n") for part in parts)
    (folder / "benchmarks.md").write_text(text + "\n", encoding="utf-8")


def _tables() -> list[str]:
    """The tables that README has too, each from one file."""
    from benchmarks import tables

    makers = {
        "speed": tables.speed_table,
        "fidelity": tables.fidelity_table,
        "memory": tables.memory_line,
    }
    out = []
    for name, make in makers.items():
        found = _json(name)
        out.append("\n".join(make(found)) if found else f"{name}: {NOT_MEASURED}.")
    return out


def _json(name: str) -> dict[str, Any]:
    path = RESULTS / f"{name}.json"
    return json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}


def _errors() -> dict[tuple[str, str], dict[str, float]]:
    """RMSE by (table, split) and model: defaults, on fresh splits."""
    found: dict[tuple[str, str], dict[str, float]] = defaultdict(dict)
    fresh, older = RESULTS / "report" / "fresh_splits.csv", RESULTS / "accuracy.csv"
    path = fresh if fresh.exists() else older
    if not path.exists():
        return found
    with path.open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            model = row["rival"] if "rival" in row else row["model"]
            usable = row.get("status", "ok") == "ok" and row.get("tag", "default") == "default"
            if usable and row["split"] != PAPER_SPLIT and row["rmse"]:
                table = row["problem"] if "problem" in row else row["dataset"]
                found[table, row["split"]][model] = float(row["rmse"])
    return found


def _log_ratios(errors: dict[tuple[str, str], dict[str, float]]) -> dict[str, list[float]]:
    """Log of our error over each rival's, a number per table: the mean over splits both have."""
    logs: dict[str, dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
    for (table, _), models in errors.items():
        for rival, error in models.items():
            if rival != OURS and OURS in models:
                logs[rival][table].append(math.log(models[OURS] / error))
    return {
        rival: [sum(own) / len(own) for own in tables.values()] for rival, tables in logs.items()
    }


def _growth_table() -> str:
    """How a fit with the defaults grows: of the last run, or of an older file."""
    path = RESULTS / "growth.jsonl"
    text = path.read_text(encoding="utf-8") if path.exists() else ""
    # The last line may have been cut short by a kill.
    rows = [json.loads(line) for line in text.splitlines() if line.endswith("}")]
    own = [row for row in rows if row["rival"] == OURS and row["status"] == "ok"]
    if own:
        lines = ["| rows | features | seconds | peak memory, MiB |", "|---:|---:|---:|---:|"]
        by_size = {tuple(map(int, r["problem"].split(":")[1].split("x"))): r for r in own}
        for (n, p), r in sorted(by_size.items()):
            lines.append(f"| {n:,} | {p} | {r['fit_seconds']:.1f} | {r['peak_mib']:,.0f} |")
        return "\n".join(lines)
    grown = _json("joint_speed").get("growth", [])
    lines = ["| rows | features | seconds | stages |", "|---:|---:|---:|---:|"]
    for g in grown:
        lines.append(f"| {g['rows']:,} | {g['features']} | {g['seconds']:.1f} | {g['stages']} |")
    return "\n".join(lines) if grown else f"Growth with rows and features: {NOT_MEASURED}."


def _text(value: float | None, form: str) -> str:
    return NOT_MEASURED if value is None else format(value, form)


def _shifted(text: str, by: int) -> str:
    """Headings some levels down: a page becomes a section."""
    return re.sub(r"^(#+ )", "#" * by + r"\1", text, flags=re.MULTILINE)


def _without_title(path: Path) -> str:
    return path.read_text(encoding="utf-8").partition("\n## ")[2].join(("## ", ""))
