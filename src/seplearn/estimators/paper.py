"""The paper's words for parameters, and its settings."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from seplearn._params import TSL_PARAMETERS

# tensorsl 0.6 has another name than the paper for one parameter, and some parameters of its own.
_TENSORSL_NAMES = {"colsample_bysplit": "colsample_bytree", "verbosity": "verbose"}
_WITHOUT_COUNTERPART = (
    "complexity_penalty", "consensus", "must_fill_all_k", "split_strategy", "tilt_rho", "tilt_tau",
    "top_k", "visualdb",
)  # fmt: skip


def from_paper_names(values: Mapping[str, Any]) -> dict[str, Any]:
    """Translate keywords in the paper's vocabulary into ours; ours pass through.

    Examples
    --------
    >>> from_paper_names({"n_iter": 64, "refinement_strategy": "l2", "ridge": 0.1})
    {'n_splits': 64, 'loss': 'squared_error', 'ridge': 0.1}
    """
    by_paper_name = {p.paper_name: p for p in TSL_PARAMETERS if p.paper_name is not None}
    by_name = {p.name: p for p in TSL_PARAMETERS}
    out: dict[str, Any] = {}
    for given, value in values.items():
        name = _TENSORSL_NAMES.get(given, given)
        parameter = by_name.get(name) or by_paper_name.get(name)
        if parameter is None:
            known = sorted(by_name) + sorted(set(by_paper_name) - set(by_name))
            if given in _WITHOUT_COUNTERPART:
                raise TypeError(f"{given!r} of tensorsl has no counterpart here; leave it out")
            raise TypeError(f"unknown parameter {given!r}; known are {', '.join(known)}")
        if parameter.name in out:
            raise TypeError(f"{parameter.name} is given twice, once as {given!r}")
        words = dict(parameter.paper_words)
        out[parameter.name] = words.get(value, value) if isinstance(value, str) else value
    if out.get("update_clamp") == math.inf:
        out["update_clamp"] = 300.0  # the largest allowed; no multiplier goes beyond 20 anyway
    return out


def paper_settings(n_stages: int) -> dict[str, Any]:
    """The paper's settings; what the paper tunes is in the middle of its search space."""
    return {
        "refine": "scalars",
        "max_bins": 255,
        "n_grids": 200 if n_stages in (1, 2) else 500,
        "n_splits": 60,
        "decay": 0.7,
        "colsample": 0.65,
        "min_interval_samples": 20,
        "ridge": 1e-3,
        "update_clamp": 5.0,
        "trim": 0.5,
        "scalars": "ols",
        "fit_intercept": False,
    }
