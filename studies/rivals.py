"""The models that TSL stands beside; one that is not installed is left out, and pages say so."""

from __future__ import annotations

import importlib.util
from collections.abc import Sequence
from typing import Any

# Of SepALS: these tables are made of smooth products, which a penalty would only bend.
LITTLE_PENALTY: dict[str, Any] = {"ridge": 1e-6, "smoothness": 1e-3}
_PACKAGES = {"EBM": "interpret", "XGBoost": "xgboost"}


def missing(names: Sequence[str]) -> list[str]:
    """Those of the rivals whose package is not installed."""
    return [name for name in names if importlib.util.find_spec(_PACKAGES[name]) is None]


def make(name: str, seed: int, **options: Any) -> Any:
    """A rival with its defaults and these options, not yet fitted."""
    if name == "EBM":
        from interpret.glassbox import ExplainableBoostingRegressor

        return ExplainableBoostingRegressor(random_state=seed, **options)
    from xgboost import XGBRegressor

    return XGBRegressor(random_state=seed, tree_method="hist", **options)


def missing_note(names: Sequence[str]) -> list[str]:
    """A note for the page on rivals left out; none if all are there."""
    left_out = missing(names)
    if not left_out:
        return []
    packages = ", ".join(_PACKAGES[name] for name in left_out)
    return [f"Left out, because not installed: {', '.join(left_out)} (`pip install {packages}`)."]
