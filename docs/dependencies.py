"""What seplearn needs, with versions and licences, as a table: python docs/dependencies.py.

Everything is read from the metadata of the packages that are installed.
"""

from __future__ import annotations

import re
from importlib import metadata
from pathlib import Path

from packaging.requirements import Requirement

EXTRAS = ("plots", "cli", "onnx")
_SHORTEST = 3  # letters of a licence's name; less is a remark such as "-"


def table() -> str:
    """A row per package: those that are always needed first, then those of extras."""
    groups = _groups()
    lines = ["| package | version | licence | needed for |", "|---|---|---|---|"]
    for name in sorted(groups, key=lambda key: (groups[key] != "", key.lower())):
        try:
            found = metadata.distribution(name)
        except metadata.PackageNotFoundError:
            lines.append(f"| {name} | not installed | | {groups[name]} |")
            continue
        why = groups[name] or "everything"
        lines.append(f"| {found.name} | {found.version} | {licence(found.metadata)} | {why} |")
    return "\n".join(lines) + "\n"


def licence(about: metadata.PackageMetadata) -> str:
    """The licence as the package names it: an expression, else classifiers, else a short text."""
    expression = about.get("License-Expression")
    if expression:
        return str(expression)
    names = [
        one.rpartition(" :: ")[2]
        for one in about.get_all("Classifier") or []
        if one.startswith("License ::") and one != "License :: OSI Approved"
    ]
    first = str(about.get("License") or "").strip().partition("\n")[0]
    return ", ".join(names) or (first if len(first) >= _SHORTEST else "not named")


def _groups() -> dict[str, str]:
    """Every package that is needed, at any depth: "" if always, else the extra it is needed for."""
    found: dict[str, str] = {}
    for extra in ("", *EXTRAS):
        waiting = _needs("seplearn", extra)
        while waiting:
            name = waiting.pop()
            if name not in found:
                found[name] = f"`{extra}`" if extra else ""
                waiting += _needs(name, "")
    return found


def _needs(name: str, extra: str) -> list[str]:
    """What a package asks for here, by normalised name."""
    try:
        requires = metadata.requires(name) or []
    except metadata.PackageNotFoundError:
        return []
    wanted = [Requirement(text) for text in requires]
    return [
        re.sub(r"[-_.]+", "-", one.name).lower()
        for one in wanted
        if one.marker is None or one.marker.evaluate({"extra": extra})
    ]


def write(folder: Path) -> None:
    """What `docs/licences.md` includes."""
    (folder / "licences.md").write_text(table(), encoding="utf-8")


if __name__ == "__main__":
    print(table(), end="")
