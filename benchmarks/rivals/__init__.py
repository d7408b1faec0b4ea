"""The models we measure, one file each, behind :class:`benchmarks.rivals.interface.Rival`."""

from __future__ import annotations

from benchmarks.rivals import (
    ebm,
    forest,
    lightgbm,
    null,
    ours,
    pygam,
    sepals,
    splines,
    tensorsl,
    xgboost,
)
from benchmarks.rivals.interface import Rival

_FILES = (ours, sepals, tensorsl, ebm, lightgbm, xgboost, forest, pygam, splines, null)
RIVALS: dict[str, Rival] = {rival.name: rival for file in _FILES for rival in file.RIVALS}
