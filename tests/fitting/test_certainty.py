"""How certain a classifier is, by rows that were held out."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from seplearn import TSLClassifier
from seplearn.fitting import jointly, parts
from seplearn.fitting.certainty import certainty
from tests import naive


def rows_of(truth, random_state=0, n=2_000, n_classes=2):
    """Sums of a model whose log-odds should be ``truth`` times as large, and what happened."""
    rng = np.random.default_rng(random_state)
    sums = rng.normal(scale=1.5, size=(n, n_classes))
    shares = naive.softmax(truth * sums)
    target = (rng.random((n, 1)) > np.cumsum(shares, axis=1)).sum(axis=1).astype(float)
    weight = rng.integers(1, 4, n).astype(float)
    if n_classes == 2:
        sums = sums[:, 1] - sums[:, 0]
    return sums, target, weight, np.zeros(n)


@given(
    st.integers(0, 10_000), st.sampled_from([0.6, 0.8, 1.0, 1.3, 1.7]), st.sampled_from([2, 4]),
    st.integers(5, 50),
)  # fmt: skip
def test_it_is_what_the_naive_twin_finds(seed, truth, n_classes, n):
    sums, target, weight, offset = rows_of(truth, seed, n, n_classes)
    if n_classes == 2:
        offset = np.random.default_rng(seed).normal(size=n)
    own = certainty(sums, target, weight, offset)
    assert own == pytest.approx(naive.certainty(sums, target, weight, offset), abs=2e-3)


@pytest.mark.parametrize("n_classes", [2, 5])
@pytest.mark.parametrize("truth", [0.7, 1.4])
def test_it_finds_how_certain_the_model_should_have_been(truth, n_classes):
    assert certainty(*rows_of(truth, 0, 20_000, n_classes)) == pytest.approx(truth, abs=0.05)


def test_what_chance_may_have_done_is_left_alone():
    found = []
    for seed in range(20):
        sums, target, weight, offset = rows_of(1.0, seed, 400)
        found.append(certainty(sums, target, np.ones_like(weight), offset))
    assert np.mean(np.equal(found, 1.0)) > 0.5
    np.testing.assert_allclose(found, 1.0, atol=0.25)


def test_a_heavy_row_is_several_rows():
    sums, target, weight, offset = rows_of(1.3, n=300)
    copies = np.repeat(np.arange(300), weight.astype(int))
    several = certainty(sums[copies], target[copies], np.ones(len(copies)), offset[copies])
    assert certainty(sums, target, weight, offset) == several != 1.0


@pytest.mark.parametrize(("sign", "factor"), [(1.0, 2.0), (-1.0, 0.5)])
def test_rows_that_are_all_told_apart_do_not_ask_for_any_factor(sign, factor):
    sums, one = np.repeat([-3.0, 3.0], 500), np.ones(1_000)
    target = (sign * sums > 0.0).astype(float)
    assert certainty(sums, target, one, 0.0 * one) == pytest.approx(factor, abs=0.05)


def test_few_rows_that_are_told_apart_prove_nothing():
    """None of them is wrong, so they show no error; the model says that they might be."""
    sums, one = np.repeat([-3.0, 3.0], 10), np.ones(20)
    assert certainty(sums, (sums > 0.0).astype(float), one, 0.0 * one) == 1.0


def test_models_that_say_nothing_or_no_number_stay():
    target, one = np.array([0.0, 1.0, 1.0]), np.ones(3)
    assert certainty(np.zeros(3), target, one, 0.0 * one) == 1.0
    assert certainty(np.zeros((3, 3)), target, one, 0.0 * one) == 1.0
    for far in (-np.inf, np.nan, 1e200, 1e308):
        assert certainty(np.array([far, 1.0, 1.0]), target, one, 0.0 * one) == 1.0
    assert certainty(np.array([-9e9, 9e9, 9e9]), target, one, 0.0 * one) == 1.0


def table(n_classes, n=150):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, 3))
    return X, np.digitize(
        X[:, 0] * X[:, 1] + 0.1 * rng.normal(size=n), [-0.4, 0.4][: n_classes - 1]
    )


@pytest.mark.parametrize("n_classes", [2, 3])
def test_a_model_is_multiplied_whole_and_so_is_what_it_remembers(monkeypatch, n_classes):
    """Constant, main effects, stages, replicates and the last record; the loss is of the model."""
    X, y = table(n_classes)
    settings = {"n_stages": 1, "n_bootstrap": 2, "random_state": 0, "main_effects": True}
    models = []
    for factor in (1.0, 1.25):
        monkeypatch.setattr(jointly, "certainty", lambda *_, own=factor: own)
        models.append(TSLClassifier(**settings).fit(X, y))
    plain, larger = models
    codes = np.random.default_rng(1).integers(0, plain.model_.bins.sizes, (40, 3)).astype(np.uint8)
    np.testing.assert_allclose(
        larger.decision_function(X), 1.25 * plain.decision_function(X), rtol=1e-9, atol=1e-12
    )
    for one, other in zip(plain.model_.replicates, larger.model_.replicates, strict=True):
        np.testing.assert_allclose(other.predict(codes), 1.25 * one.predict(codes), rtol=1e-9)
    before, after = plain.history_[-1], larger.history_[-1]
    np.testing.assert_allclose(after.scalars, 1.25 * np.array(before.scalars))
    shares = larger.predict_proba(X)[np.arange(len(y)), y]
    assert after.loss == pytest.approx(-np.mean(np.log(shares)), rel=1e-9)
    assert [one.loss for one in larger.history_[:-1]] == [one.loss for one in plain.history_[:-1]]


def test_a_fit_asks_rows_that_were_held_out(monkeypatch):
    """Every row once, and never by a model that was fitted to it."""
    X, y = table(2, 300)
    asked = []
    monkeypatch.setattr(jointly, "certainty", lambda *rows: asked.append(rows) or 1.0)
    offsets = np.linspace(-1.0, 1.0, len(X))
    model = TSLClassifier(n_stages=2, random_state=0).fit(X, y, offset=offsets)
    ((sums, target, weight, offset),) = asked
    assert len(sums) == weight.sum() == len(X)
    np.testing.assert_array_equal(np.sort(offset), offsets)
    assert np.mean(target) == np.mean(y)
    chosen = next(path for path in model.size_paths_ if path.chosen is not None)
    eta = sums + offset
    loss = np.average(np.logaddexp(0.0, np.where(target > 0.5, -eta, eta)), weights=weight)
    assert loss == pytest.approx(chosen.losses[chosen.chosen], rel=1e-9)


def test_nothing_is_multiplied_where_no_row_is_held_out(monkeypatch):
    monkeypatch.setattr(jointly, "certainty", pytest.fail)
    X, y = table(2)
    TSLClassifier(n_stages=1, early_stopping=False, random_state=0).fit(X, y)


def test_an_eval_set_tells_nothing_of_certainty(monkeypatch):
    """Its rows may be weighed otherwise, or be of one class."""
    monkeypatch.setattr(jointly, "certainty", pytest.fail)
    X, y = table(2)
    TSLClassifier(n_stages=1, random_state=0).fit(X[:100], y[:100], eval_set=(X[100:], y[100:]))


def test_nor_do_fits_that_grew_on_a_sample(monkeypatch):
    """Finished on all rows they are other models."""
    monkeypatch.setattr(jointly, "certainty", pytest.fail)
    monkeypatch.setattr(parts, "_SAMPLED", 100)
    monkeypatch.setattr(parts, "_SAMPLE", 100)
    TSLClassifier(n_stages=1, random_state=0).fit(*table(2))
