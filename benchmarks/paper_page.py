"""What the page of the paper's split says besides its errors: the printed figures, readability."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from benchmarks.report import OURS, PAPER, cells, is_extra, summary

_PRINTED_ERRORS = "reference/paper_results.csv"
_PRINTED = {
    "tsl_r10": "paper's TSL, R <= 10",
    "ebm": "EBM",
    "best interpretable": "best of 8 interpretable models",
    "best black box": "best of 3 black boxes",
}
_BLACK_BOXES = ["lightgbm_blackbox", "random_forest_blackbox", "xgboost_blackbox"]


def lines(
    rows: list[dict[str, Any]], folder: Path | None, studies: Sequence[dict[str, Any]] = ()
) -> list[str]:
    """All parts; the printed figures need the folder that holds them."""
    chosen = [row for row in PAPER.rows(rows) if not is_extra(row["problem"])]
    has_tuned = any(row["model"] == f"{OURS}, tuned" for row in chosen)
    out = (tuning(studies) if has_tuned else []) + readability(chosen)
    if folder is not None and has_printed_errors(folder):
        out = printed(cells(chosen), printed_errors(folder)) + out
    return out


def has_printed_errors(folder: Path | None) -> bool:
    """Whether the paper's own figures are there."""
    return folder is not None and (folder / _PRINTED_ERRORS).exists()


def printed_errors(folder: Path) -> pd.DataFrame:
    """The paper's table, with the best interpretable model and the best black box."""
    table = pd.read_csv(folder / _PRINTED_ERRORS).set_index("dataset")
    table["best black box"] = table[_BLACK_BOXES].min(axis=1)
    table["best interpretable"] = table.drop(columns=[*_BLACK_BOXES, "best black box"]).min(axis=1)
    return table


def printed(errors: pd.DataFrame, table: pd.DataFrame) -> list[str]:
    """Our errors over the printed figures, for which levels were encoded before the split."""
    if OURS not in errors:
        return []
    errors = errors.droplevel("split")
    head = [
        "",
        "| ours / printed in the paper | RMSE ratio | 90 % interval | median | ours better on |",
        "|---|---|---|---|---|",
    ]
    pairs = [(OURS, name, title) for name, title in _PRINTED.items()]
    pairs += [(f"{OURS}, 2 stages", "tsl_r2", "paper's TSL, R <= 2, ours with 2 stages")]
    several = f"{OURS}, 4 starts"
    pairs += [
        (several, name, f"{_PRINTED[name]}, ours with 4 starts")
        for name in ("best interpretable", "best black box")
    ]
    tuned = f"{OURS}, tuned"
    if tuned in errors:
        pairs += [(tuned, "best black box", "best of 3 black boxes, ours tuned")]
        errors["same tables"] = errors[OURS].where(errors[tuned].notna())
        pairs += [("same tables", "best black box", "the same tables, ours not tuned")]
    out = []
    for mine, name, title in pairs:
        if mine in errors:
            found = summary(np.log(errors[mine] / table[name].reindex(errors.index)).dropna())
            out.append(
                f"| {title} | {found['ratio']:.3f} | {found['interval']} | {found['median']:.3f} "
                f"| {found['wins']} of {found['problems']} |"
            )
    words = (
        "The same against the figures printed in the paper. All of those are tuned, and were made "
        "with levels encoded by target means over all rows; ours got the levels as they are."
    )
    return [words, *head, *out, ""]


def tuning(studies: Sequence[dict[str, Any]]) -> list[str]:
    """How ours was tuned."""
    ours = [study for study in studies if study["rival"] == OURS]
    if not ours:
        return []
    words = (
        f"`{OURS}, tuned`: {min(s['trials'] for s in ours)} trials or more per table, "
        f"{min(s['folds'] for s in ours)} folds, at most {max(s['rows'] for s in ours):,} training "
        f"rows; {len(ours)} tables."
    )
    return [words, ""]


def readability(rows: list[dict[str, Any]]) -> list[str]:
    """How much stages cancel, what it costs to hold them back, and how far seeds are apart."""
    errors = cells(rows)
    out = []
    other = f"{OURS}, another seed"
    if {OURS, other} <= set(errors):
        gap = np.log(errors[OURS] / errors[other]).abs().droplevel("split")
        out.append(
            f"- Two seeds end {np.expm1(gap.median()):.2%} apart (median over problems; largest "
            f"{np.expm1(gap.max()):.1%}, {gap.idxmax()})."
        )
    for model in (OURS, f"{OURS}, 10 stages", f"{OURS}, 10 stages, free"):
        index = [r["facts"]["cancellation"] for r in rows if r["model"] == model and "facts" in r]
        if index:
            out.append(
                f"- Cancellation index of `{model}`: median {np.median(index):.2f}, "
                f"largest {max(index):.1f}."
            )
    if {f"{OURS}, 10 stages", f"{OURS}, 10 stages, free"} <= set(errors):
        logs = np.log(errors[f"{OURS}, 10 stages"] / errors[f"{OURS}, 10 stages, free"])
        out.append(
            "- What readability costs: 10 stages with the default `energy` against a tenth of it, "
            f"RMSE x {np.exp(logs.mean()):.4f} (geometric mean)."
        )
    return [*out, ""] if out else []
