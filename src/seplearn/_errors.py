"""Exceptions of the package.

ValueError, TypeError
    A bad argument; the message names it, the rule and the value received.
ModelFormatError (a ValueError)
    A file or document that is not a model this version can read.
"""

from __future__ import annotations

import difflib
import numbers
import sys
import threading
import warnings
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any, TypeAlias

_LONGEST_VALUE = 120


class ModelFormatError(ValueError):
    """A file or document is not a model that this version can read.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from seplearn import ModelFormatError, load_model
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder) / "m.tsl"
    ...     _ = path.write_bytes(b"no model")
    ...     try:
    ...         load_model(path)
    ...     except ModelFormatError:
    ...         print("refused")
    refused
    """


def out_of_range(name: str, rule: str, value: Any) -> ValueError:
    """The error for a value that breaks a rule."""
    return ValueError(f"{name} must be {rule}, got {_shown(value)}")


def wrong_type(name: str, rule: str, value: Any) -> TypeError:
    """The error for a value of the wrong type."""
    return TypeError(f"{name} must be {rule}, got {_shown(value)} of type {type(value).__name__}")


def did_you_mean(given: Any, names: Iterable[Any]) -> str:
    """The end of a message about an unknown name: the known name most like it, if there is one.

    Names may be numbers, as labels of classes are: 0 is most like "0".
    """
    known = {str(name): name for name in names}
    spelled = {text.casefold(): text for text in reversed(list(known))}
    close = [spelled[word] for word in (str(given).casefold(),) if word in spelled]
    close = close or difflib.get_close_matches(str(given), list(known), n=1)
    return f" (did you mean {known[close[0]]!r}?)" if close else ""


HeldWarnings: TypeAlias = list[tuple[str, type[UserWarning]]]
_of_thread = threading.local()


@contextmanager
def held_warnings() -> Iterator[HeldWarnings]:
    """Warnings of this thread are kept: only the thread that waits for it knows whose they are."""
    held: HeldWarnings = []
    _of_thread.held = held
    try:
        yield held
    finally:
        del _of_thread.held


def warn(message: str, category: type[UserWarning] = UserWarning) -> None:
    """Give a warning that points at the caller's line outside this package."""
    held: HeldWarnings | None = getattr(_of_thread, "held", None)
    if held is not None:
        held.append((message, category))
        return
    level, frame = 2, sys._getframe(1)
    while frame.f_back is not None and _is_ours(frame.f_globals.get("__name__", "")):
        level, frame = level + 1, frame.f_back
    warnings.warn(message, category, stacklevel=level)


def _is_ours(module: str) -> bool:
    return module == "seplearn" or module.startswith("seplearn.")


def _shown(value: Any) -> str:
    """A value as a message shows it: a table is not printed whole, a number of numpy is one."""
    is_of_numpy = isinstance(value, numbers.Number) and hasattr(value, "item")
    text = repr(value.item() if is_of_numpy else value)
    return text if len(text) <= _LONGEST_VALUE else f"{text[: _LONGEST_VALUE - 3]}..."
