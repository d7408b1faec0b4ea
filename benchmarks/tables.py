"""The tables and sentences of README and docs, each made of one result file."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from benchmarks import confirm, headline, report
from benchmarks.rows import Rows

RESULTS = Path(__file__).parent / "results"

_WAYS = {"memory": "`fit`", "files": "`fit_files`", "lightgbm": "LightGBM, in memory"} | {
    f"{own}dask, {size} workers": f"{words}Dask, {size} workers"
    for own, words in (("", ""), ("lightgbm ", "LightGBM, "))
    for size in (2, 4)
}


def read(name: str) -> dict[str, Any]:
    return json.loads((RESULTS / f"{name}.json").read_text(encoding="utf-8"))


def speed_table(speed: dict[str, Any]) -> list[str]:
    where = speed["machine"]
    lines = [
        (
            f"Beside the paper authors' `tensorsl` {where['versions']['tensorsl']}, "
            f"{speed['threads']} threads each, fits alternating in one run ({where['cores']} cores "
            f"of {where['processor']}, {where['memory_gib']:g} GiB):"
        ),
        "",
        "| fit | times faster | RMSE, ours / theirs | peak memory, ours / theirs |",
        "|---|---|---|---|",
    ]
    for case, result in speed.items():
        if isinstance(result, dict) and "times_faster" in result:
            memory = f"{result['memory_ratio']:.2f}" if "memory_ratio" in result else ""
            lines.append(
                f"| {case} | {result['times_faster']:.1f} | {result['rmse_ratio']:.3f} | {memory} |"
            )
    return lines


def fidelity_table(fidelity: dict[str, Any]) -> list[str]:
    lines = [
        (
            "The paper's own test RMSE, with its published tuned parameters on its split (1 is "
            "equal, below 1 is better; geometric mean over datasets). Levels are encoded by target "
            "means over the whole table, test rows included, as they were for the published "
            "figures:"
        ),
        "",
        "| stages, reading of the parameters | datasets | ours / published | worst dataset |",
        "|---|---|---|---|",
    ]
    for case, numbers in fidelity["summary"].items():
        lines.append(
            f"| {case} | {numbers['datasets']} | {numbers['geometric_mean_ratio']:.3f} "
            f"| {numbers['worst_ratio']:.3f} |"
        )
    return lines


def sepals_table(sepals: dict[str, Any]) -> list[str]:
    """How near the baseline comes to its published errors, and how much faster than NumPy."""
    tables = len({row["dataset"] for row in sepals["rows"]})
    far = [row for row in sepals["rows"] if row["ratio"] > 1.05]
    words = ", ".join(f"{row['dataset']} ({row['model']}) {row['ratio']:.2f}" for row in far)
    lines = [
        (
            f"`SepALSRegressor` with its published tuned parameters, prepared likewise, median of "
            f"{len(sepals['rows'][0]['ratios'])} seeds: the published RMSE within 5 %, or less, in "
            f"{sepals['reached']} of {sepals['cells']} cases ({tables} tables, rank at most 2 and "
            f"at most 10). Ours over published in the others: {words}. It depends on the start: "
            "of many products ALS finds another minimum from another one. A fit beside the same "
            "sweeps with NumPy's least squares, mode by mode:"
        ),
        "",
        "| rank | basis | degree | rows | times faster |",
        "|---|---|---|---|---|",
    ]
    return lines + [
        f"| {case['rank']} | {case['basis']} | {case['degree']} | {case['rows']:,} "
        f"| {case['times_faster']:.0f} |"
        for case in sepals["speed"]
    ]


def memory_line(memory: dict[str, Any]) -> list[str]:
    largest = memory["fits"][-1]
    size = f"{largest['rows']:,} x {largest['columns']} float32 rows"
    line = (
        f"A fit of 10 stages of 20 grids with `refine='scalars'` to {size} peaks at "
        f"{largest['peak_gib']:.1f} GiB: {largest['bytes_per_row']:.0f} bytes a row, of which "
        f"{largest['table_bytes_per_row']:.0f} are the table itself."
    )
    return [line]


def fresh_table() -> list[str]:
    """Our errors over those of rivals' defaults; our own variants have pages of their own."""
    rows = [
        row
        for row in Rows(RESULTS / "runs.jsonl").read()
        if row["rival"] == report.OURS or not row["rival"].startswith((report.OURS, "mean"))
    ]
    logs = report.log_ratios(report.cells(report.FRESH.rows(rows)))
    return [report.FRESH.about(rows), "", *report.ratio_table(logs)]


def part_of(page: str, first: str) -> list[str]:
    """The table of a page of the report whose first line begins so."""
    lines = (RESULTS / "report" / page).read_text(encoding="utf-8").splitlines()
    start = next(k for k, line in enumerate(lines) if line.startswith(first))
    if not lines[start].startswith("|"):
        start = next(k for k in range(start, len(lines)) if lines[k].startswith("|"))
    end = next((k for k in range(start, len(lines)) if not lines[k].startswith("|")), len(lines))
    return lines[start:end]


def summary_lines() -> list[str]:
    """What the first page of the reports says of accuracy, time and memory."""
    rows = Rows(RESULTS / "runs.jsonl").read()
    speed, fidelity = speed_table(read("speed")), fidelity_table(read("fidelity"))
    return [
        "# Results",
        "",
        (
            "Written from the result files, every row of which names the commit it was measured "
            "at; `make benchmarks` measures what they lack. Problem by problem: [regression]"
            "(fresh_splits.md), [classification](classification.md), [counts and quantiles]"
            "(counts_and_quantiles.md), [the paper's split](paper_split.md), [time and memory "
            "against rows and features](growth.md). "
        )
        + confirm.line(rows),
        "",
        *headline.lines(rows),
        *headline.other_tasks(rows),
        "",
        "**Defaults against defaults** (RMSE of ours over the rival's; below 1 is better for us).",
        *fresh_table(),
        "",
        (
            "**Against the paper's printed figures**, on its split: theirs tuned by 200 trials, "
            "with levels encoded by target means over all rows; ours with its defaults where "
            "nothing else is said, and levels as they are. The defaults were chosen by "
            "cross-validation inside the training part of this split, one rule after a look at "
            "the test part of one table ([which](paper_split.md)). Tuned black boxes are ahead "
            "on the tables where ours is not."
        ),
        "",
        *part_of("paper_split.md", "| ours / printed"),
        "",
        *_growth_lines(),
        "",
        "**The paper's way** (`TSLRegressor.paper`). " + speed[0],
        *speed[1:],
        "",
        *fidelity,
        "",
        (
            '"As published" means no bootstrap and every column offered at each step: so read, '
            "the published parameters give the published figures."
        ),
        "",
        *memory_line(read("memory")),
    ]


def _growth_lines() -> list[str]:
    return [
        (
            "**CPU time to fit**, defaults, one core each; the others' as multiples of ours, of "
            "which the median over splits and their range are given. Generated tables of 10 "
            "features, four of which act, in two products:"
        ),
        "",
        *part_of("growth.md", "## Time to fit against rows"),
    ]


def coverage_lines(coverage: dict[str, Any]) -> list[str]:
    share = coverage["coverage"]
    line = (
        f"{share['x1']:.0%} (first curve) and {share['x2']:.0%} (second) of the cases, and the "
        f"true mean of a row in {share['prediction']:.0%}."
    )
    return [line]


def shapley_lines(speed: dict[str, Any]) -> list[str]:
    line = (
        f"Shapley values of a model of {speed['stages']} stages on {speed['features']} features "
        f"and {speed['background']} background rows differ from those of `shap`'s exact explainer "
        f"by at most {speed['largest_difference_to_exact']:.0e}; their mean size is "
        f"{speed['mean_size']:.2g}. They take {speed['ratio_to_exact']:.0f} times less time than "
        f"that explainer and {speed['ratio_to_permutation']:.0f} times less than `shap`'s "
        "permutation explainer, which is off by "
        f"{speed['mean_difference_to_permutation'] / speed['mean_size']:.1%} on average."
    )
    return [line]


def scale_table(scale: dict[str, Any]) -> list[str]:
    """Every way to fit a large table, with what it took."""
    lines = [
        "| rows | way | seconds | of CPU | peak, GB | largest worker, GB | kB a sweep | RMSE |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for rows, ways in sorted(scale["tables"].items(), key=lambda item: int(item[0])):
        for way, found in ways.items():
            worker = f"{found['largest_worker'] / 1e9:.2f}" if "largest_worker" in found else ""
            wire = [found.get(f"bytes_{side}_per_sweep", 0.0) for side in ("sent", "received")]
            sent = f"{sum(wire) / 1e3:,.0f}" if any(wire) else ""
            is_here = found["processor"] == scale["machine"]["processor"]
            name = _WAYS.get(way, way) + ("" if is_here else ", on another machine")
            lines.append(
                f"| {int(rows):,} | {name} | {found['seconds']:,.0f} "
                f"| {found['cpu_seconds']:,.0f} | {found['peak'] / 1e9:.2f} | {worker} | {sent} "
                f"| {found['rmse']:.4f} |"
            )
    return lines


def steadiness_table(steadiness: dict[str, Any]) -> list[str]:
    """What two seeds agree on, table by table, the least steady first."""
    found = steadiness["summary"]
    lines = [
        (
            f"**Another seed.** Two fits of the same rows (80/20 splits, at most "
            f"{steadiness['most_rows']:,} rows, this version's defaults, seeds 0 and 1) and how "
            "alike their partial dependence curves are: correlation over the rows, averaged over "
            f"features by importance. The median over {found['tables']} tables is "
            f"{found['median_correlation']:.3f}. Features that go together in the table can share "
            "an effect in more than one way, and their curves then differ where predictions do "
            f"not. The number of products differs by at most 2 on "
            f"{found['products_at_most_2_apart']} tables; test errors differ by "
            f"{found['median_error_apart']:.1%} in the median and by "
            f"{found['largest_error_apart']:.0%} on {found['largest_error_table']}."
        ),
        "",
        "| table | correlation of the curves | products | curves to read | larger RMSE / smaller |",
        "|---|---|---|---|---|",
    ]
    for row in sorted(steadiness["rows"], key=lambda row: row["correlation"]):
        products, curves = (" and ".join(map(str, row[key])) for key in ("products", "curves"))
        lines.append(
            f"| {row['dataset']} | {row['correlation']:.3f} | {products} | {curves} "
            f"| {max(row['rmse']) / min(row['rmse']):.3f} |"
        )
    return lines
