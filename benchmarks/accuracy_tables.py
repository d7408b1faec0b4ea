"""The tables of the accuracy benchmark, from its rows."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pandas as pd

PAPER_SPLIT = 42
PUBLISHED = {
    "tsl_r10": "paper's TSL, R <= 10, tuned",
    "ebm": "EBM, tuned",
    "best interpretable": "best of 8 interpretable models, tuned",
    "best black box": "best of 3 black boxes, tuned",
}
BLACK_BOXES = ["lightgbm_blackbox", "random_forest_blackbox", "xgboost_blackbox"]


def geometric_mean(ratios: pd.Series) -> float:
    return float(np.exp(np.log(ratios.dropna()).mean()))


def published_errors(folder: Path) -> pd.DataFrame:
    """The paper's table, with the best interpretable model and the best black box."""
    table = pd.read_csv(folder / "reference" / "paper_results.csv").set_index("dataset")
    table["best black box"] = table[BLACK_BOXES].min(axis=1)
    table["best interpretable"] = table.drop(columns=[*BLACK_BOXES, "best black box"]).min(axis=1)
    return table


def errors_on(rows: pd.DataFrame, split: int) -> pd.DataFrame:
    return rows[rows["split"] == split].pivot_table(index="dataset", columns="model", values="rmse")


def paper_summary(rows: pd.DataFrame, published: pd.DataFrame) -> list[str]:
    ours = errors_on(rows, PAPER_SPLIT).join(published, rsuffix=" (paper)")
    lines = ["| ours / published, geometric mean | RMSE ratio | ours better on |", "|---|---|---|"]
    for column, title in PUBLISHED.items():
        ratio = (ours["seplearn"] / ours[column]).dropna()
        lines.append(
            f"| {title} | {geometric_mean(ratio):.3f} | {(ratio < 1).sum()} of {len(ratio)} |"
        )
    if "seplearn, 2 stages" in ours:
        ratio = (ours["seplearn, 2 stages"] / ours["tsl_r2"]).dropna()
        lines.append(
            f"| 2 stages against the paper's TSL, R <= 2, tuned | {geometric_mean(ratio):.3f} "
            f"| {(ratio < 1).sum()} of {len(ratio)} |"
        )
    return lines


def readability_summary(rows: pd.DataFrame) -> list[str]:
    errors = errors_on(rows, PAPER_SPLIT)
    lines = []
    if "seplearn, another seed" in errors:
        gap = (errors["seplearn"] / errors["seplearn, another seed"]).map(np.log).abs()
        lines.append(
            f"- Two seeds end {np.expm1(gap.median()):.2%} apart (median over datasets; largest "
            f"{np.expm1(gap.max()):.1%}, {gap.idxmax()})."
        )
    for model in ("seplearn", "seplearn, 10 stages", "seplearn, 10 stages, free"):
        part = rows[(rows["split"] == PAPER_SPLIT) & (rows["model"] == model)]
        if len(part):
            lines.append(
                f"- Cancellation index of `{model}`: median {part['cancellation'].median():.2f}, "
                f"largest {part['cancellation'].max():.1f}."
            )
    if "seplearn, 10 stages, free" in errors:
        ratio = geometric_mean(errors["seplearn, 10 stages"] / errors["seplearn, 10 stages, free"])
        lines.append(
            f"- What readability costs: 10 stages with the default `energy` against a tenth of it, "
            f"RMSE x {ratio:.4f} (geometric mean)."
        )
    return lines


def fresh_ratios(rows: pd.DataFrame) -> pd.DataFrame:
    """RMSE of ours over a rival's, geometric mean over the splits both were fitted on."""
    fresh = rows[rows["split"] != PAPER_SPLIT]
    errors = fresh.pivot_table(index=["dataset", "split"], columns="model", values="rmse")
    logs = np.log(errors.drop(columns="seplearn").rdiv(errors["seplearn"], axis=0))
    return np.exp(logs.groupby("dataset").mean())


def fresh_summary(rows: pd.DataFrame) -> list[str]:
    ratios = fresh_ratios(rows)
    lines = [
        "| ours / rival's default, fresh splits | RMSE ratio | ours better on | worst dataset |",
        "|---|---|---|---|",
    ]
    for rival in ratios:
        column = ratios[rival].dropna()
        if len(column):
            lines.append(
                f"| {rival} | {geometric_mean(column):.3f} | {(column < 1).sum()} of {len(column)} "
                f"| {column.max():.3f} ({column.idxmax()}) |"
            )
    return lines


def dataset_table(rows: pd.DataFrame, published: pd.DataFrame) -> list[str]:
    """Every dataset: the paper's split, and ratios to rivals' defaults on fresh splits."""
    errors, ratios = errors_on(rows, PAPER_SPLIT), fresh_ratios(rows)
    part = rows[(rows["split"] == PAPER_SPLIT) & (rows["model"] == "seplearn")]
    part = part.set_index("dataset")
    names = [*PUBLISHED, *ratios.columns]
    lines = [
        "| dataset | RMSE, paper's split | stages | cancellation | " + " | ".join(names) + " |",
        "|---" * (4 + len(names)) + "|",
    ]
    for dataset in sorted(errors.index, key=str.lower):
        ours = errors.loc[dataset, "seplearn"]
        cells = []
        for name in PUBLISHED:
            other = published[name].get(dataset, np.nan)
            cells.append("" if np.isnan(other) else f"{ours / other:.3f}")
        for name in ratios:
            other = ratios[name].get(dataset, np.nan)
            cells.append("" if np.isnan(other) else f"{other:.3f}")
        look = part.loc[dataset]
        lines.append(
            f"| {dataset} | {ours:.4g} | {look['stages']:.0f} | {look['cancellation']:.1f} | "
            + " | ".join(cells)
            + " |"
        )
    return lines


def speed_summary(path: Path) -> list[str]:
    """Fit times side by side, and per cell."""
    if not path.exists():
        return ["Not measured yet."]
    result = json.loads(path.read_text(encoding="utf-8"))
    lines = ["| table | model | seconds | RMSE | times ours |", "|---|---|---|---|---|"]
    for table, case in result.items():
        if isinstance(case, dict) and "times_faster" in case:
            for model in ("seplearn", "seplearn, again", "tensorsl", "ebm"):
                times = case["times_faster"].get(model)
                lines.append(
                    f"| {table} | {model} | {case[model]['seconds']:.1f} "
                    f"| {case[model]['rmse']:.5g} | {'' if times is None else f'{times:.0f}'} |"
                )
    lines += ["", "| rows | features | stages | seconds | ns per cell and visit of a stage |"]
    lines += ["|---|---|---|---|---|"]
    for row in result.get("growth", []):
        lines.append(
            f"| {row['rows']:,} | {row['features']} | {row['stages']} | {row['seconds']:.1f} "
            f"| {row['nanoseconds_per_cell_and_stage_visit']:.0f} |"
        )
    return lines


def write(folder: Path, rows: pd.DataFrame, path: Path) -> None:
    """Write the Markdown page."""
    published = published_errors(folder)
    lines = [
        "# Accuracy of the default model",
        "",
        "Written by `python -m benchmarks accuracy` from `accuracy.csv`. Below 1 is better for us.",
        "",
        "## The paper's split: untuned against tuned",
        "",
        *paper_summary(rows, published),
        "",
        *readability_summary(rows),
        "",
        "## Fresh splits: defaults against defaults",
        "",
        *fresh_summary(rows),
        "",
        "## Fit time, side by side",
        "",
        "`tensorsl` with the paper's tuned parameters for R <= 10, EBM with its defaults. Growth:",
        "up to 8 stages, their number chosen; every later sweep visits a stage again.",
        "",
        *speed_summary(path.with_name("joint_speed.json")),
        "",
        "## Every dataset",
        "",
        "Ratios of our RMSE to: the published tuned models (paper's split), and rivals' defaults",
        "(fresh splits). Published models saw target-encoded levels, encoded before the split.",
        "",
        *dataset_table(rows, published),
    ]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
