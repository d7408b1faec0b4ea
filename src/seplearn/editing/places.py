"""Which curves of a model an edit is about."""

from __future__ import annotations

from typing import NamedTuple


class Places(NamedTuple):
    """Stages, counted from zero, and whether main effects are meant too."""

    stages: tuple[int, ...]
    main: bool
