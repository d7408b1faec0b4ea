"""Small fitted models that the tests of explanations share; each is fitted once per session."""

from __future__ import annotations

from dataclasses import dataclass, fields, is_dataclass, replace
from functools import cache, cached_property
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest

from seplearn import TSLRegressor, explain
from seplearn.model import Branch, SeparationModel, Stage
from seplearn.model.reference import Reference
from seplearn.table.binning import Bins, CategoricalAxis, NumericAxis

# Names that a frame of results may want for itself, and one that no expression could be made of.
NAMES = ["x 1; 'y'", "pd", "prediction", "where (value)", "backbone"]
# As many stages as are asked for: none is a main effect, none is left out.
QUICK: dict[str, Any] = {
    "n_stages": 3, "early_stopping": False, "main_effects": False, "max_bins": 10, "n_splits": 15,
    "random_state": 0,
}  # fmt: skip


@dataclass(frozen=True, eq=False)
class Case:
    """What is explained, an estimator or a bare model, and the rows it was fitted to."""

    subject: Any
    X: Any
    y: np.ndarray

    @property
    def model(self) -> SeparationModel:
        return self.subject if isinstance(self.subject, SeparationModel) else self.subject.model_

    @cached_property
    def codes(self):
        return self.estimator._codes(self.X)

    @property
    def estimator(self):
        """The estimator; a bare model borrows the one that binned its rows."""
        return paper().subject if isinstance(self.subject, SeparationModel) else self.subject

    @property
    def n_bins(self):
        return [axis.n_bins for axis in self.model.bins.axes]

    @property
    def uniform(self):
        """The weights of a background table."""
        return np.full(len(self.codes), 1.0 / len(self.codes))

    def predict(self, X):
        if isinstance(self.subject, SeparationModel):
            return self.model.predict(self.estimator._codes(X))
        return self.subject.predict(X)


@cache
def table(n=400, seed=0):
    """Numbers with gaps, a 0/1 feature, levels with a rare one and gaps; a target of both signs.

    It is a sum of three products that have little in common: three stages have enough to say.
    """
    rng = np.random.default_rng(seed)
    number, other = rng.normal(size=n), rng.uniform(-1, 2, size=n)
    flag, few = rng.integers(0, 2, size=n), rng.integers(0, 7, size=n)
    where = rng.choice(["north", "south", "Südost"], size=n, p=[0.5, 0.3, 0.2]).astype(object)
    signal = number**2 * (0.5 + other) * np.where(where == "south", -1.0, 0.7)
    signal += 2.0 * flag * np.sin(few) + 2.0 * (other - 0.5) * np.cos(2.0 * few)
    y = signal + rng.normal(0, 0.2, size=n)
    number[rng.random(n) < 0.1] = np.nan
    where[rng.random(n) < 0.08] = None
    where[:2] = "moon"
    return pd.DataFrame(dict(zip(NAMES, [number, other, flag, where, few], strict=True))), y


@cache
def joint() -> Case:
    X, y = table()
    return Case(TSLRegressor(**QUICK).fit(X, y), X, y)


@cache
def one_branch() -> Case:
    """A positive target and no constant: the first stage is one product."""
    X, y = table()
    options: dict[str, Any] = QUICK | {"n_stages": 2, "fit_intercept": False}
    return Case(TSLRegressor(**options).fit(X, y + 14.0), X, y + 14.0)


@cache
def minus_only() -> Case:
    """A target far below zero: the first stage is one product that subtracts."""
    X, y = table()
    options: dict[str, Any] = QUICK | {"n_stages": 2, "fit_intercept": False, "refine": "scalars"}
    return Case(TSLRegressor(**options).fit(X, y - 40.0), X, y - 40.0)


@cache
def paper() -> Case:
    X, y = table()
    options: dict[str, Any] = {"n_grids": 6, "n_splits": 10, "max_bins": 10, "random_state": 0}
    return Case(TSLRegressor.paper(3, **options, keep_bags=True).fit(X, y), X, y)


def sizes(model):
    """Sizes of lambda+ and lambda- of every stage, none of them zero."""
    return [(abs(s.lambda_plus) or 0.5, abs(s.lambda_minus) or 0.5) for s in model.stages]


@cache
def turned() -> Case:
    """Lambda as ordinary least squares may leave them: (-, -), (+, -) and (0, +)."""
    base = paper()
    (a, b), (c, d), (_, e) = sizes(base.model)
    return Case(base.model.with_scalars([(-a, -b), (c, -d), (0.0, e)], 0.5), base.X, base.y)


@cache
def halved() -> Case:
    """Lambda of which something is missing: (0, 0), (-, 0) and (-, +), both of which subtract."""
    base = paper()
    _, (a, _), (b, c) = sizes(base.model)
    return Case(base.model.with_scalars([(0.0, 0.0), (-a, 0.0), (-b, c)], -1.0), base.X, base.y)


@cache
def single() -> Case:
    X, y = table()
    options: dict[str, Any] = QUICK | {"products": "single", "refine": "scalars"}
    return Case(TSLRegressor(**options).fit(X, y), X, y)


@cache
def bands() -> Case:
    X, y = table()
    return Case(TSLRegressor(**QUICK | {"n_stages": 2}, n_bootstrap=6).fit(X, y), X, y)


@cache
def weighted_polars() -> Case:
    """A polars table; rows have weights, so reference rows and frequencies have too."""
    X, y = table()
    frame = pl.DataFrame(
        {name: [None if pd.isna(value) else value for value in X[name]] for name in NAMES}
    )
    weight = np.random.default_rng(1).uniform(0.5, 3.0, size=len(y))
    return Case(TSLRegressor(**QUICK).fit(frame, y, weight), frame, y)


@cache
def array() -> Case:
    """An array without names."""
    X, y = table()
    numbers = X[[NAMES[0], NAMES[1], NAMES[4]]].to_numpy(dtype=float)
    return Case(TSLRegressor(**QUICK | {"n_stages": 2}).fit(numbers, y), numbers, y)


@cache
def main_effects() -> Case:
    """A curve per feature beside the stages, with bands."""
    X, y = table()
    target = y + 2.0 * X[NAMES[1]].to_numpy() + np.where(X[NAMES[3]] == "north", 1.5, 0.0)
    options = QUICK | {"n_stages": 2, "main_effects": True, "n_bootstrap": 4}
    return Case(TSLRegressor(**options).fit(X, target), X, target)


@cache
def effects_by_hand() -> Case:
    """Main effects of any shape beside stages of every kind."""
    base = turned()
    bins = base.model.bins
    effects, _ = bins.centred(np.random.default_rng(5).normal(0, 2, len(bins.frequencies)))
    return Case(replace(base.model, effects=effects), base.X, base.y)


CASES = {
    "joint": joint,
    "one branch": one_branch,
    "minus only": minus_only,
    "paper": paper,
    "turned lambda": turned,
    "zero lambda": halved,
    "signed": single,
    "bands": bands,
    "weighted polars": weighted_polars,
    "array": array,
    "main effects": main_effects,
    "main effects by hand": effects_by_hand,
}
every_case = pytest.mark.parametrize("make", CASES.values(), ids=CASES.keys())
BY_HAND = (turned, halved, effects_by_hand)
FITTED = {name: make for name, make in CASES.items() if make not in BY_HAND}


def sided(stage, side):
    """A product of a stage as a function of bin codes: to be added (0) or subtracted (1)."""
    branch, sign = (stage.plus, stage.minus)[side], (1.0, -1.0)[side]

    def value(codes, bins):
        return np.zeros(len(codes)) if branch is None else sign * branch.evaluate(codes, bins)

    return value


def assert_close(actual, expected, tolerance=1e-10):
    """Equal up to a share of the largest number: sums of opposite signs have no smaller error."""
    expected = np.asarray(expected)
    size = np.abs(expected[np.isfinite(expected)]).max(initial=1e-300)
    np.testing.assert_allclose(actual, expected, rtol=0, atol=tolerance * size)


def assert_same(one, other):
    """Two results, or parts of results, that are equal to the last bit."""
    assert type(one) is type(other)
    if is_dataclass(one):
        for field in fields(one):
            assert_same(getattr(one, field.name), getattr(other, field.name))
    elif isinstance(one, (tuple, list)):
        assert len(one) == len(other)
        for a, b in zip(one, other, strict=True):
            assert_same(a, b)
    elif isinstance(one, dict):
        assert one.keys() == other.keys()
        assert_same(list(one.values()), list(other.values()))
    else:
        np.testing.assert_array_equal(one, other)


def numeric(*edges, values=None):
    known = None if values is None else np.array(values, dtype=float)
    return NumericAxis(np.array(edges, dtype=float), known)


def levels(*names):
    return CategoricalAxis(names)


def hand_made(axes, frequencies, stages, intercept=0.0):
    """A model on given axes; its reference rows are all combinations of bins that occur."""
    bins = Bins(tuple(axes), np.concatenate([np.array(f, dtype=float) for f in frequencies]))
    grids = np.meshgrid(*(np.arange(axis.n_bins) for axis in axes), indexing="ij")
    codes = np.stack([grid.ravel() for grid in grids], axis=1).astype(np.uint8)
    weight = np.prod(bins.frequencies[bins.flat(codes)], axis=1)
    rows = Reference(codes[weight > 0], weight[weight > 0])
    return SeparationModel(bins, intercept, tuple(stages), reference=rows)


def tilted(backbones, tilts, b0=1.0, d0=0.0):
    """The stage ``2 b0 prod b_j sinh(d0 + sum d_j)``; curves are given in all bins, per axis."""
    beta = np.log(np.concatenate([np.array(b, dtype=float) for b in backbones]))
    delta = np.concatenate([np.array(d, dtype=float) for d in tilts])
    plus = Branch(1.0, float(np.log(b0) + d0), beta + delta)
    return Stage(plus, Branch(-1.0, float(np.log(b0) - d0), beta - delta))


def product(factors, coefficient=1.0):
    """The stage of one product; a negative coefficient makes it subtract, factors may be too."""
    flat = np.concatenate([np.array(f, dtype=float) for f in factors])
    negative = flat < 0 if (flat < 0).any() else None
    branch = Branch(1.0, 0.0, np.log(np.abs(flat)), negative).with_coefficient(coefficient)
    return Stage(branch, None) if coefficient > 0 else Stage(None, branch)


# Every explanation of a model of at least two stages, as a function of the model and a table.
EXPLANATIONS = {
    "curves": lambda model, X: explain.curves(model, 1),
    "curve": lambda model, X: explain.curves(model, 0)[1],
    "partial_dependence": lambda model, X: explain.partial_dependence(model, [1, 0]),
    "reconstruct": lambda model, X: explain.reconstruct(model, 0),
    "ice": lambda model, X: explain.ice(model, 1, max_rows=5),
    "importance": lambda model, X: explain.importance(model),
    "paper_importance": lambda model, X: explain.importance(model, kind="paper"),
    "local": lambda model, X: explain.local(model, X, 3),
    "stages": lambda model, X: explain.stages(model, {1: (None, 1.0)}),
    "roles": lambda model, X: explain.roles(model),
    "tilt": lambda model, X: explain.tilt(model, 0),
    "maps": lambda model, X: explain.maps(model, 0, (1, 0)),
    "shapley": lambda model, X: explain.shapley(model, X[:4]),
    "interactions": lambda model, X: explain.interactions(model),
    "summary": lambda model, X: explain.summary(model),
}
# Of a model with main effects.
EFFECTS = {"main_effects": lambda model, X: explain.main_effects(model)}
# Those that average over rows, with the background given.
OVER_ROWS = {
    "partial_dependence": lambda model, X: explain.partial_dependence(model, 0, background=X),
    "reconstruct": lambda model, X: explain.reconstruct(model, 0, background=X),
    "importance": lambda model, X: explain.importance(model, background=X),
    "paper_importance": lambda model, X: explain.importance(model, background=X, kind="paper"),
    "stages": lambda model, X: explain.stages(model, background=X),
    "roles": lambda model, X: explain.roles(model, background=X),
    "shapley": lambda model, X: explain.shapley(model, X[:4], background=X),
    "interactions": lambda model, X: explain.interactions(model, background=X),
    "summary": lambda model, X: explain.summary(model, background=X),
}
