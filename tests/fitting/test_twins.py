"""Look-alike stages become one: which, how, and that the model stays what it was."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from seplearn import TSLClassifier, TSLRegressor, datasets
from seplearn.fitting import jointly, twins
from seplearn.fitting.joint import fit as joint_fit
from seplearn.fitting.twins import Seen, find_families, with_families
from seplearn.losses import LogLoss, SquaredError
from seplearn.model.classes import ClassModels
from seplearn.model.model import SeparationModel
from seplearn.model.stage import Branch, Stage
from tests.fitting.small_fits import AXES, new_fit, random_branch, small_data


def near(branch, rng, size):
    """The branch with curves a little different."""
    noise = random_branch(branch.coefficient_sign, rng).log_factors
    return Branch(branch.coefficient_sign, branch.log_scale, branch.log_factors + size * noise)


def two_sided(rng):
    return Stage(random_branch(1.0, rng), random_branch(-1.0, rng).scaled(0.4))


def model_of(data, stages, intercept=0.3):
    return SeparationModel(data.bins, intercept, tuple(stages))


def seen(data):
    return data.codes, data.weight / data.weight.sum()


def naive_change(model, members, codes, weight, has_constant):
    """Geometric means by powers, scales by dense least squares: the change, and what is left."""

    def product(k, side):
        branch = model.stages[k].sides[side]
        value = np.full(len(codes), np.exp(branch.log_scale))
        for j in range(codes.shape[1]):
            value *= np.exp(branch.log_factors[model.bins.axis(j)])[codes[:, j]]
        return value

    sides = [s for s in (0, 1) if model.stages[members[0]].sides[s] is not None]
    sizes = [sum(np.sum(weight * product(k, s)) for s in sides) for k in members]
    powers = np.array(sizes) / np.sum(sizes)
    columns = [
        (1, -1)[s] * np.prod([product(k, s) ** a for k, a in zip(members, powers)], axis=0)  # noqa: B905
        for s in sides
    ]
    if has_constant:
        columns.append(np.ones(len(codes)))
    target = sum((1, -1)[s] * product(k, s) for k in members for s in sides)
    root = np.sqrt(weight)[:, None]
    matrix = np.column_stack(columns)
    found = np.linalg.lstsq(root * matrix, root[:, 0] * target, rcond=None)[0]
    return float(np.sum(weight * (target - matrix @ found) ** 2)), matrix @ found


@given(seed=st.integers(0, 10**6), has_constant=st.booleans(), lone=st.booleans())
def test_a_family_is_the_geometric_mean_of_its_members(seed, has_constant, lone):
    rng, data = np.random.default_rng(seed), small_data(60, seed=seed)
    first = Stage(None, random_branch(-1.0, rng)) if lone else two_sided(rng)
    stages = [first] + [
        Stage(*(branch and near(branch.scaled(scale), rng, 0.2) for branch in first.sides))
        for scale in (0.5, 2.0)
    ]
    model, (codes, weight) = model_of(data, stages), seen(data)
    (family,) = find_families(model, codes, weight, np.inf, has_constant)
    assert family.members == (0, 1, 2)
    change, prediction = naive_change(model, family.members, codes, weight, has_constant)
    assert family.change == pytest.approx(change, rel=1e-6, abs=1e-14)
    merged = with_families(model, [family])
    assert merged.predict(codes) == pytest.approx(model.intercept + prediction, rel=1e-9, abs=1e-9)
    assert (family.constant == 0.0) or has_constant


def test_halves_of_a_stage_become_the_stage_again():
    rng, data = np.random.default_rng(0), small_data(80)
    whole, other = two_sided(rng), Stage(random_branch(1.0, rng), None)
    model = model_of(data, [whole.scaled(0.25), other, whole.scaled(0.75)])
    families = find_families(model, *seen(data), 1e-12)
    assert [family.members for family in families] == [(0, 2), (1,)]
    merged = with_families(model, families)
    assert merged.predict(data.codes) == pytest.approx(model.predict(data.codes), rel=1e-12)
    for one, before in zip(merged.stages[0].branches, whole.branches, strict=True):
        assert one.log_scale == pytest.approx(before.log_scale)
        assert one.log_factors == pytest.approx(before.log_factors)
    assert merged.stages[1] is other


def test_what_all_members_leave_flat_stays_flat_and_what_rises_rises():
    rng, data = np.random.default_rng(1), small_data(80)
    rising, flat = data.bins.axis(0), data.bins.axis(1)

    def shaped():
        plus = random_branch(1.0, rng).log_factors
        plus[rising] = np.sort(plus[rising])
        minus = random_branch(-1.0, rng).log_factors
        minus[rising], minus[flat] = 0.0, plus[flat]  # no tilt on this axis
        return Stage(Branch(1.0, 0.0, plus), Branch(-1.0, 0.0, minus))

    model = model_of(data, [shaped(), shaped().scaled(3.0)])
    (stage,) = with_families(model, find_families(model, *seen(data), np.inf)).stages
    assert (np.diff(stage.plus.log_factors[rising]) >= 0).all()
    assert (stage.minus.log_factors[rising] == 0.0).all()
    assert (stage.plus.log_factors[flat] == stage.minus.log_factors[flat]).all()
    assert (stage.plus.log_factors[data.bins.axis(2)] == 0.0).all()


def test_stages_of_another_kind_stay_apart():
    rng, data = np.random.default_rng(2), small_data(80)
    stages = [
        two_sided(rng), Stage(random_branch(1.0, rng), None), Stage(None, random_branch(-1.0, rng))
    ]  # fmt: skip
    families = find_families(model_of(data, stages), *seen(data), np.inf)
    assert [family.members for family in families] == [(0,), (1,), (2,)]


def test_every_merger_costs_less_than_is_allowed():
    rng, data = np.random.default_rng(3), small_data(200)
    kinds = [two_sided(rng) for _ in range(3)]
    stages = [
        Stage(*(near(branch, rng, size) for branch in kind.sides))
        for kind in kinds
        for size in (0.02, 0.05, 0.1, 0.3)
    ]
    model, (codes, weight) = model_of(data, stages), seen(data)
    for least in (1e-5, 1e-3, 1e-1):
        families = find_families(model, codes, weight, least)
        merged = with_families(model, families)
        n_gone = len(stages) - len(merged.stages)
        assert sum(family.change for family in families) < least * max(n_gone, 1)
        assert n_gone > 0


@pytest.mark.parametrize("has_constant", [True, False])
def test_few_rows_tell_most_stages_apart_but_never_twins(has_constant):
    rng, data = np.random.default_rng(5), small_data(1_000)
    kinds = [two_sided(rng) for _ in range(4)]
    near_twins = [Stage(*(near(branch, rng, 0.1) for branch in kind.sides)) for kind in kinds]
    lone = [Stage(random_branch(1.0, rng), None) for _ in range(2)]
    model, (codes, weight) = model_of(data, [*kinds, *near_twins, *lone]), seen(data)
    products = twins._Products.of(model.stages, model.bins, codes, weight, has_constant)
    alike = [*combinations(range(8), 2), (8, 9)]
    changes = {k: naive_change(model, k, codes, weight, has_constant)[0] for k in alike}
    for least in np.quantile(list(changes.values()), [0.1, 0.3, 0.7, 1.0]):
        possible = set(products.possible_twins(1.000001 * least))
        assert {pair for pair, change in changes.items() if change <= least} <= possible
    n_true = sum(change < 1e-3 for change in changes.values())
    assert n_true <= len(products.possible_twins(1e-3)) < len(changes) / 2


def test_numbers_too_large_are_no_twins():
    rng, data = np.random.default_rng(4), small_data(40)
    huge = replace(random_branch(1.0, rng), log_scale=700.0)
    model = model_of(data, [Stage(huge, None), Stage(near(huge, rng, 0.1), None)])
    assert len(find_families(model, *seen(data), 1e300)) == 2


def test_a_fit_merges_twins_before_its_last_sweeps(monkeypatch):
    monkeypatch.setattr(joint_fit, "ALIKE", 0.1)  # curves of two stages part with every sweep
    rng, data = np.random.default_rng(5), small_data(400)
    stage = two_sided(rng)
    signal = stage.evaluate(data.codes, data.bins)
    data = replace(data, target=signal + 0.1 * rng.normal(size=400))
    fit = new_fit(data, directions=(0,) * len(AXES))
    fit._append(stage, None)
    fit._append(stage, None)
    first, second = fit.curves.stages
    first.scale -= [np.log(2.0), 0.0]
    second.curves, second.scale = first.curves.copy(), first.scale.copy()
    fit.restore(fit.curves)
    fit.refine(3, rate=1.0)
    fit.settle()
    assert len(fit.curves.stages) == 1
    assert np.mean((fit.sums - signal) ** 2) < 0.1**2
    assert fit.sums == pytest.approx(fit.model().predict(data.codes), rel=1e-9, abs=1e-9)


@pytest.fixture(scope="module")
def table():
    return datasets.masked_interaction(400, random_state=0)


def averaged(monkeypatch, alike, estimator, X, y):
    monkeypatch.setattr(jointly, "ALIKE", alike)
    return estimator.fit(X, y)


def test_starts_that_agree_are_told_once(table, monkeypatch):
    X, y = table
    settings = {"n_starts": 3, "n_stages": 1, "n_bootstrap": 2, "random_state": 0}
    apart = averaged(monkeypatch, 0.0, TSLRegressor(**settings), X, y)
    model = averaged(monkeypatch, 1e-2, TSLRegressor(**settings), X, y)
    assert len(model.stages_) < len(apart.stages_) == 3
    assert model.reading_size_ < apart.reading_size_
    change = model.predict(X) - apart.predict(X)
    assert 0.0 < np.mean(change**2) < 3e-2 * np.mean((y - apart.predict(X)) ** 2)
    for replicate in model.model_.replicates:
        assert len(replicate.stages) == len(model.stages_)
    here, there = (one.predict_interval(X, kind="mean") for one in (model, apart))
    assert np.mean(np.ptp(here, axis=1)) == pytest.approx(np.mean(np.ptp(there, axis=1)), rel=0.1)


def test_classes_have_families_of_their_own(table, monkeypatch):
    X, y = table
    three = np.digitize(y, np.quantile(y, [0.3, 0.6]))
    settings = {"n_starts": 2, "n_stages": 1, "early_stopping": False, "random_state": 0}
    apart = averaged(monkeypatch, 0.0, TSLClassifier(**settings), X, three)
    model = averaged(monkeypatch, 1e3, TSLClassifier(**settings), X, three)
    assert [len(own) for own in apart.model_.stages] == [2, 2, 2]
    assert min(len(own) for own in model.model_.stages) == 1
    assert model.model_.intercept.mean() == pytest.approx(0.0, abs=1e-12)
    assert model.predict_proba(X).sum(axis=1) == pytest.approx(np.ones(len(X)))


def test_rows_weigh_what_the_loss_says(monkeypatch):
    rng, data = np.random.default_rng(6), small_data(50)
    model = model_of(data, [two_sided(rng)])
    own = Seen.by(model, data, SquaredError())
    assert own.weight == pytest.approx(data.weight[None] / data.weight.sum())
    three = replace(data, target=rng.integers(0, 3, 50).astype(float))
    models = ClassModels((model, model_of(data, [two_sided(rng)]), model_of(data, [])))
    sums = np.column_stack([one.predict(data.codes) for one in models.models])
    chances = np.exp(sums) / np.exp(sums).sum(axis=1, keepdims=True)
    found = Seen.by(models, three, LogLoss()).weight
    expected = (chances * (1 - chances)).T * data.weight / data.weight.sum()
    assert found == pytest.approx(expected, rel=0.01)  # the loss adds a little that restrains sums
    monkeypatch.setattr(twins, "_ROWS", 20)
    fewer = Seen.by(model, data, SquaredError())
    assert fewer.codes.shape == (20, len(AXES))
    assert fewer.weight.sum() == pytest.approx(1.0)
