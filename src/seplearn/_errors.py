"""Exceptions and warnings of the package.

ValueError, TypeError
    A bad argument; the message names it, the rule and the value received.
"""

from __future__ import annotations

from typing import Any


def out_of_range(name: str, rule: str, value: Any) -> ValueError:
    """The error for a value that breaks a rule."""
    return ValueError(f"{name} must be {rule}, got {value!r}")


def wrong_type(name: str, rule: str, value: Any) -> TypeError:
    """The error for a value of a type that cannot be meant."""
    return TypeError(f"{name} must be {rule}, got {value!r} of type {type(value).__name__}")
