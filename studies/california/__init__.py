"""California housing: where stages act on the map, and what explains single predictions."""

from __future__ import annotations

from studies.california.measure import FULL, TINY, Settings, measure
from studies.california.page import page
from studies.page import Page
from studies.tables import Source

__all__ = ["FULL", "TINY", "Settings", "measure", "page", "run"]


def run(settings: Settings, source: Source) -> Page:
    """Measure, draw, tell."""
    X, y = source.load("california_housing")
    return page(measure(X, y, settings), settings)
