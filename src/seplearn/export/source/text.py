"""Texts that the sources of all languages are put together from."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Iterable, Sequence
from typing import Any

from seplearn.export.json import as_float

_WIDTH = 100


def head_lines(plain: dict[str, Any]) -> list[str]:
    """What the program is, for its first comment; hostile names are spelled in plain characters."""
    target = "the target" if plain["target"] is None else ascii(plain["target"])
    names = ", ".join(ascii(feature["name"]) for feature in plain["features"])
    what = {
        "identity": f"Predicts {target}.",
        "log": f"Predicts {target}; constant, main effects and stages add up to its log.",
        "logit": f"Predicts the class of {target}; constant, main effects and stages add up to the "
        "log-odds of the second class.",
        "softmax": f"Predicts the class of {target}; constant, main effects and stages of a class "
        "add up to its score, the log of what its probability is proportional to.",
    }[plain["link"]]
    lines = [
        "Written by seplearn from a fitted model; needs nothing else.",
        what,
        f"Features: {names}.",
    ]
    # A comment must not end within a name, nor be continued by one that ends in a backslash.
    safe = [line.replace("*/", "* /").replace("/*", "/ *").replace("??/", "?? /") for line in lines]
    return [part for line in safe for part in wrapped(line)]


def wrapped(text: str, indent: str = "") -> list[str]:
    """A long text in lines, broken at spaces only."""
    return textwrap.wrap(
        text, _WIDTH, initial_indent=indent, subsequent_indent=indent,
        break_long_words=False, break_on_hyphens=False,
    )  # fmt: skip


def listed(items: Iterable[str], opening: str, closing: str) -> str:
    """Items between brackets, one to a line: texts may hold spaces, at which others are broken."""
    return "\n".join([opening, *(f"    {item}," for item in items), closing])


def joined(items: Iterable[str], opening: str, closing: str, indent: str = "    ") -> str:
    """Numbers and the like between commas and brackets, in lines."""
    text = ", ".join(items)
    lines = wrapped(f"{text},", indent) if text else []
    return "\n".join([opening, *lines, closing])


def numbers(values: Sequence[Any], infinity: str) -> list[str]:
    """Numbers with all their digits; every language here reads what Python's repr writes."""
    floats = [as_float(value) for value in values]
    return [infinity if value == math.inf else repr(value) for value in floats]
