"""Predictions averaged over rows, odds ratios and relativities, beside the slow way."""

import sys
from typing import Any

import numpy as np
import pandas as pd
import pytest

from seplearn import TSLClassifier, TSLRegressor, explain
from seplearn.plots.multiples import ticks_between

QUICK: dict[str, Any] = {"n_stages": 2, "early_stopping": False, "random_state": 0}
N = 400


@pytest.fixture(scope="module")
def table():
    random = np.random.default_rng(0)
    X = pd.DataFrame(random.uniform(-1.0, 1.0, (N, 2)), columns=["a", "b"])
    X.loc[::20, "b"] = np.nan
    X["place"] = random.choice(["hill", "mill", "sea"], N)
    eta = 3.0 * X["a"] * X["b"].fillna(0.3) + (X["place"] == "hill") - 0.3
    return X, random.random(N) < 1.0 / (1.0 + np.exp(-eta)), random.poisson(np.exp(eta)) * 1.0


@pytest.fixture(scope="module")
def classifier(table):
    X, y, _ = table
    return TSLClassifier(**QUICK, main_effects=True, n_bootstrap=3).fit(X, y)


@pytest.fixture(scope="module")
def counts(table):
    X, _, y = table
    return TSLRegressor(**QUICK, main_effects=True, loss="poisson").fit(X, y)


def test_averages_are_those_of_edited_rows(table, classifier):
    X, _, _ = table
    found = explain.response(classifier, "place", background=X)
    for level in ("hill", "mill", "sea"):
        edited = X.assign(place=level)
        at = found.axis.levels.index(level)
        expected = classifier.predict_proba(edited)[:, 1].mean()
        assert found.average[at] == pytest.approx(expected, rel=1e-9)
    assert found.mean == pytest.approx(classifier.predict_proba(X)[:, 1].mean(), rel=1e-9)
    assert found.n_rows == N
    assert (found.average_band[0] <= found.average_band[1]).all()


def test_many_rows_are_averaged_part_by_part(table, counts, monkeypatch):
    X, _, _ = table
    whole = explain.response(counts, "b", background=X)
    monkeypatch.setattr(sys.modules["seplearn.explain.response"], "_BLOCK", 7)
    np.testing.assert_allclose(
        explain.response(counts, "b", background=X).average, whole.average, rtol=1e-12
    )


def test_factors_are_exponentials_of_partial_dependence(table, classifier, counts):
    X, _, _ = table
    for model, name in ((classifier, "odds ratio"), (counts, "relativity")):
        dependence = explain.partial_dependence(model, "a", background=X)
        assert dependence.quantity == model.model_.link.scale + (
            " of True" if model is classifier else ""
        )
        found = explain.response(model, "a", background=X)
        assert found.factor_name == name
        np.testing.assert_allclose(np.log(found.factor), dependence.total - dependence.mean)
        based = explain.response(model, "a", base=0.3, background=X)
        ratio = based.factor / found.factor
        np.testing.assert_allclose(ratio, ratio[0])
        assert based.factor[np.searchsorted(based.axis.edges, 0.3, side="right")] == 1.0
    assert found.average_band is None
    column = name.replace(" ", "_")
    np.testing.assert_array_equal(found.frame()[column], found.factor)


def test_main_effects_have_factors(classifier, counts, table):
    effects = explain.main_effects(classifier)
    for values, factors in zip(effects.values, effects.factors, strict=True):
        np.testing.assert_allclose(np.log(factors), values, atol=1e-12)
    frame = effects.frame()
    np.testing.assert_allclose(np.log(frame["odds_ratio"]), frame["effect"], atol=1e-12)
    assert (frame["odds_ratio_lower"] <= frame["odds_ratio_upper"]).all()
    assert "relativity" in explain.main_effects(counts).frame().columns
    X, _, y = table
    plain = explain.main_effects(TSLRegressor(**QUICK, main_effects=True).fit(X, y))
    assert "relativity" not in plain.frame().columns
    with pytest.raises(ValueError, match="the model has no link"):
        _ = plain.factors
    with pytest.raises(ValueError, match="factors must be False for a model without a link"):
        plain.plot(factors=True)


def test_a_model_without_a_link_has_an_average_only(table):
    X, _, y = table
    model = TSLRegressor(**QUICK).fit(X, y)
    found = explain.response(model, "b", background=X)
    np.testing.assert_allclose(
        found.average, explain.partial_dependence(model, "b", background=X).total, rtol=1e-9
    )
    assert found.factor is None
    assert len(found.plot().axes) == 1
    with pytest.raises(ValueError, match="base must not be given"):
        explain.response(model, "b", base=0.0)


def test_a_base_must_be_a_value_that_was_seen(classifier):
    with pytest.raises(ValueError, match=r"base must be a value of 'place' that training rows had"):
        explain.response(classifier, "place", base="moon")
    with pytest.raises((TypeError, ValueError), match="base must be a value of 'a'"):
        explain.response(classifier, "a", base="moon")


def test_figures_say_what_is_drawn(table, classifier):
    left, right = explain.response(classifier, "place", base="hill").plot().axes
    assert left.get_ylabel() == "probability of True"
    assert left.get_title() == f"average over {N} rows (dotted: their mean)"
    assert right.get_title() == "odds ratio, one at hill"
    assert all(text.get_text().startswith("×") for text in right.get_yticklabels())
    figure = explain.main_effects(classifier).plot(factors=True)
    assert figure.axes[0].get_ylabel() == "odds ratio"
    plain = explain.main_effects(classifier).plot().axes[0]
    assert plain.get_ylabel() == "main effect on the\nlog-odds of True"
    X, _, _ = table
    assert (
        explain.importance(classifier).plot().axes[0].get_xlabel().endswith("in log-odds of True")
    )
    shapley = explain.shapley(classifier, X[:5]).plot().axes[0]
    assert shapley.get_xlabel() == "Shapley value, in log-odds of True"


def test_multiples_are_round_and_enough():
    assert np.exp(ticks_between(-5.0, 5.0)).round(9).tolist() == [0.01, 0.1, 1.0, 10.0, 100.0]
    narrow = np.exp(ticks_between(np.log(0.62), np.log(1.05)))
    assert narrow.round(9).tolist() == [0.7, 0.8, 0.9, 1.0]


@pytest.fixture(scope="module")
def of_three(table):
    X, *_ = table
    rng = np.random.default_rng(3)
    scores = np.column_stack(
        [np.zeros(len(X)), np.nan_to_num(X.iloc[:, 0]), rng.normal(size=len(X))]
    )
    return TSLClassifier(
        n_stages=2, early_stopping=False, n_bootstrap=3, main_effects=True, random_state=0
    ).fit(X, np.array(["b", "a", "c"])[scores.argmax(axis=1)])


def test_probabilities_of_several_classes_are_those_of_edited_rows(table, of_three, monkeypatch):
    X, *_ = table
    for name in X.columns:
        result = explain.response(of_three, name, background=X)
        assert result.classes == of_three.classes_.tolist()
        values = result.axis.describe().values
        for b in range(0, len(values) - 1, 7):
            if result.axis.describe().meanings[b] in ("range", "level"):
                edited = of_three.predict_proba(X.assign(**{name: values[b]}))
                np.testing.assert_allclose(result.average[:, b], edited.mean(axis=0), rtol=1e-9)
        np.testing.assert_allclose(result.average.sum(axis=0), 1.0, rtol=1e-9)
        np.testing.assert_allclose(result.mean, of_three.predict_proba(X).mean(axis=0), rtol=1e-9)
        assert result.average_band.shape == (2, *result.average.shape)
        monkeypatch.setattr("seplearn.explain.class_response._CELLS", 100)
        parts = explain.response(of_three, name, background=X)
        np.testing.assert_allclose(parts.average, result.average, rtol=1e-9)
        monkeypatch.undo()


def test_several_classes_are_drawn_one_upon_the_other(table, of_three):
    X, *_ = table
    result = explain.response(of_three, X.columns[0])
    (panel,) = result.plot().axes
    assert panel.get_ylim() == (0.0, 1.0)
    told = [text.get_text() for text in panel.get_legend().get_texts()]
    assert told == [str(label) for label in of_three.classes_[::-1]]
    assert f"probability of {of_three.classes_[0]}_lower" in result.frame()
    with pytest.raises(ValueError, match="base must not be given: odds are of two classes"):
        explain.response(of_three, 0, base=0.0)
    with pytest.raises(ValueError, match="no probability by itself; give the classifier"):
        explain.response(of_three.for_class("a"), 0)
