"""The paper's baseline."""

from __future__ import annotations

from typing import Any

from benchmarks.rivals.interface import OneOf, Real, Rival, Space, Whole
from benchmarks.tasks import REGRESSION


def make(parameters: dict[str, Any], seed: int) -> Any:
    from seplearn import SepALSRegressor

    known = {name: value for name, value in parameters.items() if name != "refit_scales"}
    return SepALSRegressor(random_state=seed, n_jobs=-1, **known)


SPACE: Space = {
    "rank": Whole(1, 10),
    "degree": Whole(2, 10),
    "basis": OneOf(("tent", "monomial")),
    "ridge": Real(1e-12, 1e-2, log=True),
    "smoothness": Real(1e-10, 10.0, log=True),
    "penalty_kind": OneOf(("degree", "degree2", "tent_level")),
    "max_sweeps": Whole(10, 100),
    "tol": Real(1e-10, 1e-4, log=True),
    "n_init": Whole(1, 5),
    "fit_intercept": OneOf((True, False)),
}
RIVALS = (
    Rival(
        "sepals", {REGRESSION: make}, ("seplearn",), space=SPACE, published="sepals_r10",
        warm_up=True,
    ),
    Rival(
        "sepals, rank 2", {REGRESSION: make}, ("seplearn",), space={**SPACE, "rank": Whole(1, 2)},
        published="sepals_r2", warm_up=True,
    ),
)  # fmt: skip
