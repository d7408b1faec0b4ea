"""Fits that were made again: rows that came out the same say so, others are replaced."""

from __future__ import annotations

import json
from collections import Counter
from typing import Any

from benchmarks.report import OURS
from benchmarks.rows import Rows, key_of

# What another run of the same code may find otherwise; all else is a result.
_OF_THE_RUN = frozenset((
    "started", "fit_seconds", "predict_seconds", "cpu_seconds", "peak_mib", "cores", "jobs",
    "machine", "versions", "commit", "confirmed",
))  # fmt: skip
_DIRTY = "-dirty"


def confirm(rows: Rows, again: Rows) -> dict[str, int]:
    """Put fits that were made again beside the rows that are there, and count what happened.

    A row whose results are the same to the last bit keeps its times, which belong to those of the
    rivals, and gets the commit it is ``confirmed`` at, and what rows did not tell when it was
    measured. Where results of a problem differ, all its new rows take the place of the old, so that
    times of one machine stay together; so does one row beside one that was measured with changes
    that were not committed.
    """
    made = [row for row in again.read() if row["status"] == "ok"]
    if not made:
        raise ValueError(f"--again must have fits with a result, got none in {again.path}")
    unclear = sorted({str(row.get("commit")) for row in made if not _is_clean(row)})
    if unclear:
        raise ValueError(f"rows in {again.path} must be of a commit, got {unclear[0]}")
    found = {key_of(row): row for row in rows.read()}
    counts = Counter({"confirmed": 0, "replaced": 0, "new": 0})
    known = {key: row for key, row in found.items() if _is_clean(row)}
    changed = {
        row["problem"]
        for row in made
        if (old := known.get(key_of(row))) is not None and _differ(old, row)
    }
    for row in made:
        old = found.get(key_of(row))
        if old == row:
            continue  # it was brought here before, and confirms nothing
        if old is not None and key_of(row) in known and row["problem"] not in changed:
            more = {name: row[name] for name in row.keys() - old.keys() - _OF_THE_RUN}
            found[key_of(row)] = old | more | {"confirmed": row["commit"]}
            counts["confirmed"] += 1
        else:
            found[key_of(row)] = row
            counts["new" if old is None else "replaced"] += 1
    rows.write(list(found.values()))
    return dict(counts)


def line(rows: list[dict[str, Any]]) -> str:
    """Which code our rows are of."""
    own = [row for row in rows if row["status"] == "ok" and row["rival"].startswith(OURS)]
    made = Counter(row["commit"] for row in own)
    again = Counter(row["confirmed"] for row in own if "confirmed" in row)
    text = f"Our {len(own):,} fits: " + _told(made)
    if again:
        text += "; with the same figures to the last bit made again: " + _told(again)
    return text + "."


def _told(commits: Counter[str]) -> str:
    return ", ".join(f"{count:,} at {name}" for name, count in commits.most_common())


def _is_clean(row: dict[str, Any]) -> bool:
    return not str(row.get("commit", _DIRTY)).endswith(_DIRTY)


def _differ(old: dict[str, Any], new: dict[str, Any]) -> bool:
    """Whether results that both rows tell are other ones; as text, in which NaN is NaN."""
    told = sorted((old.keys() & new.keys()) - _OF_THE_RUN)
    lost = old.keys() - new.keys() - _OF_THE_RUN
    texts = (json.dumps([row[name] for name in told], sort_keys=True) for row in (old, new))
    return bool(lost) or len(set(texts)) > 1
