"""Hypothesis profiles: no deadlines (the first example of a kernel compiles it), no randomness."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import HealthCheck, Phase, settings

import seplearn


def drop_stale_kernels():
    """Delete cached kernels older than any kernel source.

    A cached kernel is renewed when its own file changes, but not when a kernel that it calls in
    another file does.
    """
    folder = Path(seplearn.__file__).parent / "kernels"
    newest = max(source.stat().st_mtime for source in folder.glob("*.py"))
    for cached in (folder / "__pycache__").glob("*.nb[ic]"):
        if cached.stat().st_mtime < newest:
            cached.unlink(missing_ok=True)


drop_stale_kernels()

settings.register_profile(
    "seplearn",
    deadline=None,
    derandomize=True,
    max_examples=60,
    suppress_health_check=[HealthCheck.too_slow],
)
# For tests/mutants.py: that an example fails is enough, it need not be the simplest one.
settings.register_profile(
    "mutants",
    parent=settings.get_profile("seplearn"),
    max_examples=25,
    phases=[Phase.explicit, Phase.generate],
)
settings.register_profile("interpreted", parent=settings.get_profile("seplearn"), max_examples=8)
INTERPRETED = os.environ.get("NUMBA_DISABLE_JIT") == "1"
settings.load_profile("interpreted" if INTERPRETED else "seplearn")


def pytest_collection_modifyitems(items):
    """Measure no coverage where others do: measuring takes up to half as long again.

    Tests of kernels are measured in the run that is interpreted; what examples in docstrings show
    has tests of its own.
    """
    for item in items:
        is_example = isinstance(item, pytest.DoctestItem)
        if not INTERPRETED and (is_example or item.get_closest_marker("interpreted")):
            item.add_marker(pytest.mark.no_cover)
