"""Generalised additive model of pyGAM, splines of every feature."""

from __future__ import annotations

from typing import Any

from benchmarks.rivals.interface import Rival


def make(parameters: dict[str, Any], seed: int) -> Any:  # noqa: ARG001
    from pygam import LinearGAM

    return LinearGAM(**parameters)


RIVALS = (Rival("pygam", make, ("pygam",), takes_levels=False, takes_missing=False),)
