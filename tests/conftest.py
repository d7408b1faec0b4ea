"""Hypothesis profiles: no deadlines (the first example of a kernel compiles it), no randomness."""

from __future__ import annotations

import os

from hypothesis import HealthCheck, settings

settings.register_profile(
    "seplearn",
    deadline=None,
    derandomize=True,
    max_examples=60,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.register_profile("interpreted", parent=settings.get_profile("seplearn"), max_examples=8)
settings.load_profile("interpreted" if os.environ.get("NUMBA_DISABLE_JIT") == "1" else "seplearn")
