"""Small models of every link and kind with hostile names, and rows that are hard to get right."""

from __future__ import annotations

import copy
from dataclasses import replace
from functools import cache
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from seplearn import TSLClassifier, TSLRegressor
from seplearn.model.classes import ClassModels
from seplearn.model.edit import scaled
from seplearn.model.stage import Stage
from seplearn.table.schema import OffsetColumn

QUICK: dict[str, Any] = {"n_stages": 2, "early_stopping": False, "random_state": 0}
SIZE = "si\"ze'; DROP TABLE t; -- */ \\"
WIDTH = "\N{PARROT} width\n(cm)"
KIND = "kind"
FLAG = "flag"
LEVELS = ["it's", 'a "b"', "back\\slash", "\N{PARROT}\n%s {0}", "7", "", "*/ ??/ `x` $y"]
RARE = "r'are"


def training_table(n: int = 300) -> pd.DataFrame:
    rng = np.random.default_rng(0)
    kind = rng.choice(np.array([*LEVELS, None], dtype=object), n)
    kind[0] = RARE
    width = np.where(rng.random(n) < 0.1, np.nan, rng.normal(size=n))
    width[:3] = np.inf, -np.inf, np.inf
    return pd.DataFrame(
        {SIZE: rng.uniform(-3, 3, n), WIDTH: width, KIND: kind, FLAG: rng.random(n) < 0.5}
    )


def target(X: pd.DataFrame) -> Any:
    rng = np.random.default_rng(1)
    width = np.clip(np.nan_to_num(X[WIDTH].to_numpy()), -2, 2)
    shape = X[SIZE] * np.where(X[FLAG], 1.0, -1.0) + width + X[KIND].isin(LEVELS[:3])
    return shape.to_numpy() + 0.1 * rng.normal(size=len(X))


def rows(n: int = 60) -> pd.DataFrame:
    """Rows of which each column has missing, rare, unseen, far-out and infinite values."""
    rng = np.random.default_rng(2)
    numbers = [-1e300, 1e300, np.inf, -np.inf, np.nan, 0.0, -0.0, 5e-324, 0.1 + 0.2]
    edges = list(model("identity").model_.bins.axes[0].edges[:20])
    size = np.array([*numbers, *edges, *rng.uniform(-4, 4, n)])
    n = len(size)
    width = rng.permutation(np.resize([*numbers, *rng.normal(size=40)], n))
    levels = np.array([*LEVELS, RARE, "never seen", None, "True", "0"], dtype=object)
    flags = np.array([True, False, None], dtype=object)
    return pd.DataFrame(
        {SIZE: size, WIDTH: width, KIND: rng.choice(levels, n), FLAG: rng.choice(flags, n)}
    )


def records(X: pd.DataFrame) -> list[dict[str, Any]]:
    """Rows as a program would hand them over: missing values as None."""
    return [
        {name: None if pd.isna(value) else value for name, value in row.items()}
        for row in X.astype(object).to_dict("records")
    ]


MODELS = (
    "identity", "effects", "log", "logit", "signed", "constant", "paper", "flat", "huge", "classes",
    "certain",
)  # fmt: skip
CLASSES = np.array(["it's", 'n"o', "*/ \N{PARROT}\\ ??/"], dtype=object)


@cache
def model(name: str) -> Any:
    """A fitted model, shared: no test changes it."""
    X = training_table()
    y = target(X)
    if name == "logit":
        return TSLClassifier(**QUICK).fit(X, np.where(y > 0, "it's", 'n"o'))
    if name in ("classes", "certain"):
        fitted = TSLClassifier(**QUICK, main_effects=name == "classes", min_category_count=2)
        fitted.fit(X, CLASSES[np.digitize(y, [-1.0, 1.0])])
        if name == "certain":  # scores whose difference is beyond the largest number
            factor = 2e307 / float(np.abs(fitted.decision_function(X)).max())
            pairs = zip(fitted.model_.models, (-1e308, 1e308, 1e308), strict=True)
            fitted.model_ = ClassModels(tuple(scaled(one, factor, level) for one, level in pairs))
        return fitted
    if name == "log":
        fitted = TSLRegressor(**QUICK, loss="poisson", main_effects=True)
        fitted.fit(X, np.round(np.exp(y / 2)), offset=np.zeros(len(y)))
        fitted.offset_column_ = OffsetColumn("y'ears", True)
        return fitted
    if name == "flat":
        return with_flat_stages(model("identity"))
    if name == "huge":  # products beyond half the largest number
        other = copy.copy(model("identity"))
        other.model_ = scaled(other.model_, 1e308 / max(1.0, abs(other.model_.intercept)))
        return other
    variants: dict[str, dict[str, Any]] = {
        "identity": {"main_effects": False},
        "effects": {"main_effects": True, "min_category_count": 2},
        "signed": {"products": "single", "refine": "scalars"},
        "constant": {},
        "paper": {"refine": "scalars", "scalars": "ols", "fit_intercept": False},
    }
    return TSLRegressor(**(QUICK | variants[name])).fit(
        X, np.full(len(y), 3.0) if name == "constant" else y
    )


def with_flat_stages(fitted: Any) -> Any:
    """A copy with a stage that is the same in every bin, and one of which nothing is left."""
    plus = fitted.stages_[0].plus
    flat = replace(plus, log_factors=np.zeros_like(plus.log_factors))
    other = copy.copy(fitted)
    nothing = Stage(plus.with_scale(0.0, 0.0), None)
    stages = (*fitted.stages_, Stage(flat, None), nothing)
    other.model_ = replace(fitted.model_, stages=stages)
    return other


class Sum(NamedTuple):
    """What an export may tell of a sum: its parts by name, and what they add up to."""

    label: Any  # of the class; None where there is one sum
    total: Any
    stages: Any
    stage_names: tuple[str, ...]
    effects: Any


def sums_of(fitted: Any, X: pd.DataFrame) -> list[Sum]:
    """The only sum of a model for some rows, or the scores of all classes."""
    if not is_of_classes(fitted):
        stages, effects = fitted.predict_stages(X), fitted.predict_effects(X)
        return [Sum(None, fitted._sums(X), stages, fitted.stage_names_, effects)]
    views = [(label, fitted.for_class(label)) for label in fitted.classes_]
    return [
        Sum(
            label, view.decision_function(X), view.predict_stages(X), view.stage_names_,
            view.predict_effects(X),
        )
        for label, view in views
    ]  # fmt: skip


def is_of_classes(fitted: Any) -> bool:
    """Whether a model has a score for each of several classes."""
    return hasattr(fitted, "classes_") and len(fitted.classes_) > 2


def predicted(name: str, X: pd.DataFrame) -> Any:
    """What the library says: of two classes the probability of the second, of more of all."""
    fitted = model(name)
    if is_of_classes(fitted):
        return fitted.predict_proba(X)
    return fitted.predict_proba(X)[:, 1] if name == "logit" else fitted.predict(X)
