"""Files of version 0.1.0: names, levels and scalars stood in the header; there was no checksum."""

from __future__ import annotations

from typing import Any

import numpy as np

from seplearn.model.checks import finite, require
from seplearn.model.container import Arrays

_LATER: dict[str, Any] = {
    "estimator": "TSLRegressor",
    "frame": None,
    "target": None,
    "evaluation": None,
    "size_paths": [],
}
_AXIS = {"values": False, "range": None}


def as_version_4(
    header: dict[str, Any], arrays: Arrays
) -> tuple[dict[str, Any], Arrays, list[str]]:
    """Header, arrays and texts as version 4 has them; what they hold is checked there."""
    names = header["names"]
    texts = [] if names is None else _texts(names)
    axes = []
    for axis in header["axes"]:
        if "levels" in axis:
            levels, rare = _texts(axis["levels"]), _texts(axis["rare"])
            texts += [*levels, *rare]
            sizes = {"n_levels": len(levels), "n_rare": len(rare)}
            axes.append({k: v for k, v in axis.items() if k not in ("levels", "rare")} | sizes)
        else:
            axes.append(_AXIS | axis)
    history, scalars = [], []
    for record in header["history"]:
        own = [(finite(plus), finite(minus)) for plus, minus in record["scalars"]]
        scalars += own
        other = {k: v for k, v in record.items() if k != "scalars"}
        history.append(other | {"n_scalars": len(own)})
    newer = {"names": names is not None, "axes": axes, "history": history}
    values = {"values": np.empty(0)} | arrays
    all_scalars = np.array(scalars, dtype=np.float64).reshape(-1, 2)
    return _LATER | header | newer, values | {"history_scalars": all_scalars}, texts


def _texts(values: Any) -> list[str]:
    sound = isinstance(values, list) and all(isinstance(value, str) for value in values)
    require(sound, "names and levels must be texts")
    return list(values)
