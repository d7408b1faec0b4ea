"""The paper authors' own package."""

from __future__ import annotations

from typing import Any

from benchmarks.data import active
from benchmarks.rivals.interface import OneOf, Real, Rival, Space, Whole
from benchmarks.tasks import REGRESSION


def make(parameters: dict[str, Any], seed: int) -> Any:
    from tensorsl import TSLRegressor

    own = active(parameters)
    if "colsample_bytree" in own:  # the published name of what version 0.6 calls otherwise
        own["colsample_bysplit"] = own.pop("colsample_bytree")
        own["tilt_tau"] = 0.0
    if "bagged" in parameters:  # published; the published figures were made without either
        own |= {"bootstrap": False, "colsample_bysplit": 1.0}
    return TSLRegressor(**({"seed": seed, "verbosity": 0} | own))


SPACE: Space = {
    "alpha": Real(1e-6, 1.0, log=True),
    "colsample_bytree": Real(0.3, 1.0),
    "decay": Real(0.2, 1.0),
    "epochs": Whole(1, 10),
    "min_interval_samples": Whole(1, 99),
    "n_iter": Whole(10, 250),
    "n_trees": OneOf((500,)),
    "refinement_strategy": OneOf(("l2", "huber")),
    "similarity_threshold": Real(0.0, 1.0),
    "split_try": Whole(2, 19),
    "update_clamp": Real(0.5, 35.0),
}
RIVALS = (
    Rival(
        "tensorsl", {REGRESSION: make}, ("tensorsl",), takes_levels=False, takes_missing=False,
        space=SPACE, published="tsl_r10",
    ),
)  # fmt: skip
