"""Lines on a terminal: shown as they are, whatever is in them; notes, and who looks."""

from __future__ import annotations

import json
import math
import re
from typing import Any, TextIO

import click

# What moves the cursor, colours, hides or turns text around: control characters, marks of the
# direction of writing, separators of lines, halves of characters.
_NOT_SHOWN = re.compile(
    "[\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff\ud800-\udfff]"
)


def printable(text: str) -> str:
    r"""A text on one line that a terminal shows as it is: an escape is shown as ``\x1b``.

    Examples
    --------
    >>> print(printable("red" + chr(27) + "[31m"))
    red\x1b[31m
    """
    return _NOT_SHOWN.sub(lambda found: found[0].encode("unicode_escape").decode(), text)


def say(text: str, err: bool = False) -> None:
    """Print lines, whatever names of columns or levels are in them."""
    click.echo("\n".join(printable(line) for line in text.split("\n")), err=err)


def say_json(value: Any) -> None:
    """Print a JSON document, in which an infinite number is a text and one that is none null."""
    click.echo(json.dumps(_in_json(value), allow_nan=False))


def _in_json(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _in_json(own) for key, own in value.items()}
    if isinstance(value, (list, tuple)):
        return [_in_json(own) for own in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None if math.isnan(value) else ("Infinity" if value > 0 else "-Infinity")
    return value


def note(text: str) -> None:
    """Print a note to standard error, on one line."""
    click.echo(f"Note: {printable(' '.join(text.split()))}", err=True)


def is_terminal(stream: TextIO | None) -> bool:
    """Whether somebody looks at a stream; one that is closed is None."""
    return stream is not None and stream.isatty()
