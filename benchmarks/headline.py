"""What is read beside what is claimed: our presets with their errors, their size and their time.

The first table of the page of fresh splits and of the README, and what rows that repeat do to it.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from benchmarks.problems import DISTINCT
from benchmarks.report import FRESH, OURS, Protocol, Row, cells, log_ratios, real
from benchmarks.task_pages import CLASSIFICATION, COUNT_PART, QUANTILE_PART

PRESETS = {
    OURS: "`TSLRegressor()`",
    f"{OURS}, 2 stages": "`n_stages=2`",
    f"{OURS}, main effects only": "`n_stages=0`, main effects only",
    f"{OURS}, 4 starts": "`n_starts=4`, a mean of four",
}
_RIVALS = ("lightgbm", "ebm", "xgboost", "random forest", "pygam", "tensorsl")
_OTHERS = ("lightgbm", "ebm", "xgboost", "random forest", "linear with splines")
_FAST = "lightgbm"


def lines(rows: list[Row]) -> list[str]:
    """The table of presets; nothing where ours has no rows."""
    chosen = [row for row in FRESH.rows(rows) if row["status"] == "ok"]
    errors, times = cells(chosen), cells(chosen, "cpu_seconds")
    presets = [name for name in PRESETS if name in errors]
    rivals = [name for name in _RIVALS if name in errors]
    if not presets or not rivals:
        return []
    head = ["", "products", "curves to read", "curves a feature", *(f"/ {own}" for own in rivals)]
    head.append(f"CPU time / {_FAST}")
    out = ["| " + " | ".join(head) + " |", "|---" * len(head) + "|"]
    for name in presets:
        size = _reading(chosen, name)
        against = [_against(errors, name, rival) for rival in rivals]
        line = [PRESETS[name], *size, *against, _times(times, errors, name)]
        out.append("| " + " | ".join(line) + " |")
    shown = {*presets, *rivals}
    own = [row for row in rows if row["rival"] in shown and ":" not in row["problem"]]
    return [f"{_about(rivals)} {FRESH.seeds(own)}", "", *out, ""]


def _about(rivals: list[str]) -> str:
    return (
        "**Accuracy and size of every preset.** The RMSE of a preset over a rival's (geometric "
        "mean over tables, below 1 is better for us; on how many tables ours is better), and of "
        "the same fits the medians of what there is to read: products, curves that are not flat "
        "(a quarter of the fits have fewer than the first number in brackets, a quarter more than "
        "the second), such curves for each feature of the table. "
        f"Rivals: {', '.join(rivals)}, all with their defaults. CPU time of a fit, choosing its "
        "size included, over LightGBM's on the same rows, one core each: that of the default in "
        "the same minutes, those of the other presets in other minutes, in which the machine "
        'may be faster or slower by a tenth and more; "(on n of N)" tells on how many tables both '
        "were timed on the machine of most fits."
    )


def _of_both(table: pd.DataFrame, name: str, rival: str) -> pd.Series:
    """Logs of a preset's number over a rival's, real tables by splits that both have."""
    if name not in table or rival not in table:
        return pd.Series(dtype=float)
    pair = table[[name, rival]].rename(columns={name: OURS}).dropna()
    found = real(log_ratios(pair))
    return -found[rival] if len(found) else pd.Series(dtype=float)


def _against(errors: pd.DataFrame, name: str, rival: str) -> str:
    logs = _of_both(errors, name, rival)
    if logs.empty:
        return ""
    return f"{np.exp(logs.mean()):.3f} ({(logs < 0).sum()} of {len(logs)})"


def _times(times: pd.DataFrame, errors: pd.DataFrame, name: str) -> str:
    """CPU time over the fast rival's, and on how many tables, if not on all that have an error."""
    logs, whole = _of_both(times, name, _FAST), _of_both(errors, name, _FAST)
    if logs.empty:
        return ""
    partly = f" (on {len(logs)} of {len(whole)})" if len(logs) < len(whole) else ""
    return f"{np.exp(logs.mean()):.1f}{partly}"


def _reading(rows: list[Row], name: str) -> list[str]:
    """Medians over fits of real tables: products, curves (and quartiles), curves a feature."""
    own = [row for row in rows if row["model"] == name and ":" not in row["problem"]]
    facts = [row["facts"] for row in own if row.get("facts", {}).get("features")]
    if not facts:
        return ["", "", ""]
    products = np.median([one["stages"] for one in facts])
    low, curves, high = np.quantile([one["reading_size"] for one in facts], (0.25, 0.5, 0.75))
    shares = np.median([one["reading_size"] / one["features"] for one in facts])
    return [f"{products:g}", f"{curves:.0f} ({low:.0f} to {high:.0f})", f"{shares:.1f}"]


def other_tasks(rows: list[Row]) -> list[str]:
    """Classes, counts and quantiles: the default's loss over a rival's, a line for each task."""
    two = [row for row in rows if row.get("auc") is not None]  # which only two classes have
    several = [row for row in rows if row.get("auc") is None]
    parts = (
        ("two classes", CLASSIFICATION, two),
        ("several classes", CLASSIFICATION, several),
        ("counts", COUNT_PART, rows),
        ("quantiles", QUANTILE_PART, rows),
    )
    out = [_task_line(name, part, own) for name, part, own in parts]
    if not any(out):
        return []
    head = ["", *(f"/ {rival}" for rival in _OTHERS), f"CPU time / {_FAST}"]
    about = (
        "**Classes, counts, quantiles**: the default's loss over a rival's, measured in the same "
        "way. Each quantile level of a table counts as one problem."
    )
    table = ["| " + " | ".join(head) + " |", "|---" * len(head) + "|", *filter(None, out)]
    return [about, "", *table]


def _task_line(name: str, part: Protocol, rows: list[Row]) -> str | None:
    chosen = [row for row in part.rows(rows) if row["status"] == "ok"]
    errors, times = cells(chosen, part.score.column), cells(chosen, "cpu_seconds")
    if OURS not in errors:
        return None
    against = [_against(errors, OURS, rival) for rival in _OTHERS]
    line = [f"{name}: {part.score.title}", *against, _times(times, errors, OURS)]
    return "| " + " | ".join(line) + " |"


def repeated(rows: list[Row]) -> list[str]:
    """Tables whose rows repeat: our error beside others', as they are and every row once."""
    chosen = FRESH.rows(rows)
    errors = cells(chosen)
    if OURS not in errors:
        return []
    logs = log_ratios(errors)
    names = [str(name) for name in logs.index if str(name).startswith(DISTINCT)]
    rivals = [name for name in ("lightgbm", "xgboost", "random forest", "ebm") if name in logs]
    sizes = {row["problem"]: row["rows"] for row in chosen if row.get("rows")}
    out = []
    for name in names:
        whole = name.removeprefix(DISTINCT)
        if whole not in logs.index or whole not in sizes or name not in sizes:
            continue
        share = 1.0 - sizes[name] / sizes[whole]
        beside = [_beside(logs, whole, name, rival) for rival in rivals]
        out.append(f"| {whole} | {share:.1%} | " + " | ".join(beside) + " |")
    if not out:
        return []
    head = ["table", "rows that repeat another", *(f"/ {rival}" for rival in rivals)]
    return [
        "## Rows that repeat",
        "",
        (
            "A row whose copy is in the training part can be known by heart, which trees do. Our "
            "RMSE over the other's on the table as it is, and on its distinct rows (n/a: not "
            "measured):"
        ),
        "",
        "| " + " | ".join(head) + " |",
        "|---" * len(head) + "|",
        *out,
        "",
    ]


def _beside(logs: pd.DataFrame, whole: str, distinct: str, rival: str) -> str:
    both: list[Any] = [np.exp(-logs.loc[name, rival]) for name in (whole, distinct)]
    return ", ".join("n/a" if np.isnan(value) else f"{value:.3f}" for value in both)
