"""From rows to tables and a figure: Markdown, CSV and PNG, written by nothing but this.

python -m benchmarks report
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

OURS = "seplearn"
_STARS = {1: "***", 2: "**", 3: "*"}
_N_BOOTSTRAP = 2_000


def means(rows: list[dict[str, Any]], tag: str, column: str = "rmse") -> pd.DataFrame:
    """Mean over splits, problems by rivals; NaN where a rival has no row for a split of ours."""
    frame = pd.DataFrame([r for r in rows if r["tag"] == tag and r["status"] == "ok"])
    if frame.empty:
        return pd.DataFrame()
    return frame.pivot_table(index="problem", columns="rival", values=column, aggfunc="mean")


def paired(rows: list[dict[str, Any]], tag: str) -> pd.DataFrame:
    """Log ratios of our RMSE to each rival's on the same splits, averaged: problems by rivals."""
    frame = pd.DataFrame([r for r in rows if r["tag"] == tag and r["status"] == "ok"])
    if frame.empty or OURS not in set(frame["rival"]):
        return pd.DataFrame()
    table = frame.pivot_table(index=["problem", "split"], columns="rival", values="rmse")
    logs = np.log(table[[OURS]].to_numpy() / table.drop(columns=OURS))
    return logs.groupby(level="problem").mean()


def with_ranks(table: pd.DataFrame) -> pd.DataFrame:
    """The errors as text, the three smallest of every problem starred, as in the paper."""
    ranks = table.rank(axis=1, method="min")
    text = table.map(lambda value: "" if np.isnan(value) else f"{value:.4g}")
    stars = ranks.fillna(0).map(lambda rank: _STARS.get(int(rank), ""))
    return text + stars.map(lambda star: f" ({star})" if star else "")


def ratio_rows(logs: pd.DataFrame, seed: int = 0) -> list[dict[str, Any]]:
    """Geometric-mean ratios with an interval from resampled problems, wins, the worst problem."""
    random = np.random.default_rng(seed)
    out = []
    for rival in logs:
        own = logs[rival].dropna()
        if own.empty:
            continue
        draws = random.integers(0, len(own), size=(_N_BOOTSTRAP, len(own)))
        low, high = np.quantile(own.to_numpy()[draws].mean(axis=1), (0.05, 0.95))
        out.append(
            {
                "rival": rival,
                "problems": len(own),
                "ratio": float(np.exp(own.mean())),
                "low": float(np.exp(low)),
                "high": float(np.exp(high)),
                "wins": int((own < 0).sum()),
                "worst": float(np.exp(own.max())),
                "worst_problem": str(own.idxmax()),
            }
        )
    return out


def markdown(rows: list[dict[str, Any]], tag: str) -> str:
    """The page of one tag."""
    table = means(rows, tag)
    lines = [f"# Errors on held-out rows: {tag} parameters", ""]
    ratios = ratio_rows(paired(rows, tag))
    if ratios:
        what = (
            f"Geometric mean of `{OURS}`'s RMSE over the rival's, same splits; below 1 is better "
            "for us. The interval (90 %) is from resampled problems."
        )
        lines += [
            what,
            "",
            "| rival | problems | ratio | interval | ours better on | worst problem |",
            "|---|---|---|---|---|---|",
        ]
        lines += [
            f"| {r['rival']} | {r['problems']} | {r['ratio']:.3f} | {r['low']:.3f} to "
            f"{r['high']:.3f} | {r['wins']} | {r['worst']:.3f} ({r['worst_problem']}) |"
            for r in ratios
        ]
        lines.append("")
    lines += markdown_table(with_ranks(table), "RMSE") + markdown_table(
        _seconds(rows, tag), "Seconds to fit"
    )
    return "\n".join(lines + _others(rows, tag)) + "\n"


def _seconds(rows: list[dict[str, Any]], tag: str) -> pd.DataFrame:
    return means(rows, tag, "fit_seconds").map(lambda v: "" if np.isnan(v) else f"{v:.2f}")


def markdown_table(table: pd.DataFrame, title: str) -> list[str]:
    """A heading and the table of texts under it."""
    head = ["problem", *map(str, table.columns)]
    lines = [f"## {title}", "", "| " + " | ".join(head) + " |", "|---" * len(head) + "|"]
    lines += ["| " + " | ".join([str(name), *row]) + " |" for name, row in table.iterrows()]
    return [*lines, ""]


def _others(rows: list[dict[str, Any]], tag: str) -> list[str]:
    """What has no error, and why."""
    other = [r for r in rows if r["tag"] == tag and r["status"] != "ok"]
    lines = ["## Without a result", ""] if other else []
    return lines + [
        f"- {r['rival']} on {r['problem']}, split {r['split']}: {r['status']}, {r['reason']}"
        for r in other
    ]


def figure(rows: list[dict[str, Any]], tag: str) -> Any:
    """Accuracy against time: a point per rival, geometric means relative to ours."""
    from matplotlib.figure import Figure

    canvas = Figure(figsize=(6.4, 4.2), layout="constrained")
    axes = canvas.subplots()
    errors, seconds = means(rows, tag), means(rows, tag, "fit_seconds")
    if OURS in errors:
        for rival in errors:
            known = errors[[OURS, rival]].dropna().index
            if len(known):
                ratio = errors.loc[known, rival] / errors.loc[known, OURS]
                time = seconds.loc[known, rival] / seconds.loc[known, OURS]
                x, y = np.exp(np.log(time).mean()), np.exp(np.log(ratio).mean())
                axes.scatter(x, y, s=40, color="#c51b7d" if rival == OURS else "#1f3b57")
                axes.annotate(rival, (x, y), xytext=(5, 4), textcoords="offset points", fontsize=8)
        axes.set_xscale("log")
        axes.axhline(1.0, color="0.85", zorder=0)
    axes.set_xlabel(f"time to fit, relative to {OURS}")
    axes.set_ylabel(f"RMSE, relative to {OURS}")
    return canvas


def write(rows: list[dict[str, Any]], tag: str, folder: Path) -> list[Path]:
    """Page, table of all rows and figure of one tag."""
    folder.mkdir(parents=True, exist_ok=True)
    page, table, picture = (folder / f"{tag}.{end}" for end in ("md", "csv", "png"))
    page.write_text(markdown(rows, tag), encoding="utf-8")
    columns = ["problem", "split", "rival", "status", "rmse", "mae", "r2", "fit_seconds",
               "predict_seconds", "peak_mib", "reason", "commit"]  # fmt: skip
    chosen = [row for row in rows if row["tag"] == tag]
    pd.DataFrame(chosen).reindex(columns=columns).to_csv(table, index=False)
    figure(rows, tag).savefig(picture, dpi=120)
    return [page, table, picture]
