"""A model as the source of a program that needs nothing but its language."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from seplearn._rules import Choice
from seplearn.export.source.c import c_source
from seplearn.export.source.javascript import javascript_source
from seplearn.export.source.python import python_source

_WRITERS: dict[str, Callable[[dict[str, Any], bool], str]] = {
    "python": python_source,
    "c": c_source,
    "javascript": javascript_source,
}
LANGUAGES = Choice(tuple(_WRITERS))


def to_source(plain: dict[str, Any], language: str, explain: bool) -> str:
    """The source that predicts as the model of a document does."""
    return _WRITERS[language](plain, explain)
