"""Pages of studies without what makes them slow to draw."""

import pytest
from matplotlib.layout_engine import ConstrainedLayoutEngine


@pytest.fixture
def no_layout(monkeypatch):
    """Everything is drawn, but not moved until nothing overlaps: that takes as long again."""
    monkeypatch.setattr(ConstrainedLayoutEngine, "execute", lambda self, figure: None)
