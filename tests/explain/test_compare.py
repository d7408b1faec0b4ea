"""Two models side by side: exact differences, and a paired test that knows chance from more."""

import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone

from seplearn import TSLClassifier, TSLRegressor, datasets, explain, merge
from tests.explained import QUICK, joint, single, table


@pytest.fixture(scope="module")
def flats():
    return datasets.rents(600, random_state=0)


@pytest.fixture(scope="module")
def pair(flats):
    X, y = flats
    options = {"early_stopping": False, "random_state": 0}
    full = TSLRegressor(2, **options).fit(X[:400], y[:400])
    return full, TSLRegressor(2, **options).fit(X[:400].drop(columns=["lift", "area"]), y[:400])


@pytest.fixture(scope="module")
def comparison(pair, flats):
    X, y = flats
    return explain.compare(pair[0], pair[1], X[400:], y[400:], models=("full", "small"))


def test_predictions_and_scores_are_those_of_the_models(comparison, pair, flats):
    X, y = flats
    expected = [pair[0].predict(X[400:]), pair[1].predict(X[400:])]
    np.testing.assert_array_equal(comparison.predictions, expected)
    for model, scores in zip(pair, comparison.scores, strict=True):
        assert scores["RMSE"] == model.evaluate(X[400:], y[400:]).rmse
    worst = np.argsort(-np.abs(expected[1] - expected[0]))[:10]
    assert comparison.worst.tolist() == worst.tolist()


def test_models_with_offsets_and_without_are_compared_as_they_are():
    rng = np.random.default_rng(0)
    X, years = rng.uniform(size=(600, 2)), rng.uniform(0.1, 5.0, size=600)
    y = rng.poisson(years * np.exp(X[:, 0]))
    options = {"loss": "poisson", "early_stopping": False, "random_state": 0}
    known = TSLRegressor(1, **options).fit(X[:400], y[:400], offset=np.log(years[:400]))
    plain = TSLRegressor(1, **options).fit(X[:400], y[:400])
    added = np.log(years[400:])
    own = [known.evaluate(X[400:], y[400:], offset=added), plain.evaluate(X[400:], y[400:])]
    there = explain.compare(known, plain, X[400:], y[400:], offset=(added, None))
    back = explain.compare(plain, known, X[400:], y[400:], offset=(None, added))
    name = "Poisson deviance"
    assert [scores[name] for scores in there.scores] == [one.scores[name] for one in own]
    assert there.scores == back.scores[::-1]
    assert there.loss_difference == pytest.approx(-back.loss_difference)
    assert there.loss_difference > 0.0


def test_features_explain_the_difference_exactly(comparison, pair, flats):
    X = flats[0][400:]
    own = [explain.shapley(model, X, background=X) for model in pair]
    names = list(comparison.names)
    assert set(names) == set(X)
    aligned = np.zeros((2, len(X), len(names)))
    for k, one in enumerate(own):
        for j, name in enumerate(one.names):
            aligned[k][:, names.index(name)] = one.values[:, j]
    difference = aligned[1] - aligned[0]
    np.testing.assert_allclose(comparison.sizes, np.abs(difference).mean(axis=0), rtol=1e-9)
    np.testing.assert_allclose(comparison.worst_values, difference[comparison.worst], atol=1e-9)
    assert list(comparison.sizes) == sorted(comparison.sizes, reverse=True)
    assert names[0] == "area"
    total = (own[1].base - own[0].base) + comparison.worst_values.sum(axis=1)
    np.testing.assert_allclose(total, comparison.differences[comparison.worst], rtol=1e-9)


def test_curves_are_the_average_predictions(comparison, pair, flats):
    X = flats[0][400:]
    for name, (first, second) in zip(comparison.names, comparison.curves, strict=True):
        expected = explain.response(pair[0], name, background=X)
        np.testing.assert_allclose(first.average, expected.average, rtol=1e-9)
        assert (second is None) == (name in ("lift", "area"))


def test_the_paired_test_is_of_the_rows(comparison, flats):
    y = flats[1][400:]
    squares = (comparison.predictions - y) ** 2
    difference = squares[1] - squares[0]
    assert comparison.loss_difference == pytest.approx(difference.mean())
    error = difference.std(ddof=1) / np.sqrt(len(y))
    assert comparison.loss_error == pytest.approx(error)
    assert comparison.p_value < 1e-4
    assert "mean squared error of full is smaller" in str(comparison)
    assert "chance" not in str(comparison)


def test_what_may_be_chance_is_said(pair, flats):
    X, _ = flats
    noise = np.random.default_rng(0).normal(0, 1e5, len(X))
    result = explain.compare(*pair, X, noise)
    assert result.p_value > 0.05
    assert "which may be chance" in str(result)


def test_a_model_beside_itself(pair, flats):
    X, y = flats
    result = explain.compare(pair[0], pair[0], X[:50], y[:50])
    assert (result.differences == 0.0).all()
    assert result.p_value == 1.0
    assert result.plot() is not None
    assert len(result.row_frame()) == 10


def test_classifiers_are_compared_by_log_loss():
    X, y = table()
    options = QUICK | {"n_stages": 1}
    first = TSLClassifier(**options).fit(X, y > 0)
    second = TSLClassifier(**options | {"random_state": 3, "n_splits": 3}).fit(X, y > 0)
    result = explain.compare(first, second, X, y > 0)
    assert result.response == "probability of True"
    assert result.loss == "log-loss"
    np.testing.assert_allclose(result.predictions[0], first.predict_proba(X)[:, 1])
    expected = result.scores[1]["log-loss"] - result.scores[0]["log-loss"]
    assert result.loss_difference == pytest.approx(expected, rel=1e-9)


def test_views_of_classes_are_compared_without_outcomes():
    X, y = table()
    three = np.array(["low", "middle", "high"], dtype=object)[np.digitize(y, [-0.5, 0.8])]
    model = TSLClassifier(**QUICK | {"n_stages": 1}).fit(X, three)
    views = model.for_class("high", against="low"), model.for_class("high", against="low")
    assert (explain.compare(*views, X).differences == 0.0).all()
    with pytest.raises(TypeError, match="first must be an estimator where y is given"):
        explain.compare(*views, X, y)
    with pytest.raises(ValueError, match="got the score of one class of several"):
        explain.compare(model.for_class("high"), model.for_class("low"), X)


def test_signed_products_too():
    result = explain.compare(joint().subject, single().subject, joint().X, joint().y)
    assert result.sizes[0] > 0.0
    assert result.frame().shape == (5, 5)
    assert result.plot(max_curves=2) is not None


def test_bad_arguments_are_refused_in_words(pair, flats):
    X, y = flats
    counts = TSLRegressor(1, loss="poisson", early_stopping=False).fit(X[:100], np.abs(y[:100]))
    with pytest.raises(ValueError, match="must predict the same thing"):
        explain.compare(pair[0], counts, X)
    with pytest.raises(TypeError, match="models must be two different names"):
        explain.compare(pair[0], pair[1], X, models=("one", "one"))
    with pytest.raises(ValueError, match=r"missing \['rooms'\]"):
        explain.compare(*pair, X.drop(columns="rooms"))
    with pytest.raises(ValueError, match="max_curves must be an integer >= 0"):
        explain.compare(*pair, X, max_curves=-1)


def test_two_quantiles_have_no_loss_in_common(flats):
    X, y = flats
    options = {"n_stages": 0, "loss": "quantile", "early_stopping": False, "random_state": 0}
    low, high = (TSLRegressor(**options, quantile=q).fit(X[:400], y[:400]) for q in (0.1, 0.9))
    result = explain.compare(low, high, X[400:], y[400:])
    assert result.loss is None
    assert result.p_value is None
    assert len(result.scores) == 2
    assert "smaller by" not in str(result)
    again = explain.compare(high, high, X[400:], y[400:])
    assert again.loss == "pinball loss"
    assert again.p_value == 1.0
    (only,) = again.sentences
    assert (
        only
        == "The prediction of the second model is always that of the first model, over 200 rows."
    )


def test_one_row_tells_of_no_chance_and_offsets_are_said_to_be_left_out(pair, flats):
    X, y = flats
    one = explain.compare(*pair, X[400:401], y[400:401])
    assert "which one row says nothing of" in str(one)
    assert "p = " not in str(one)
    assert "offsets" not in str(one)
    added = explain.compare(pair[0], pair[1], X[400:], y[400:], offset=np.ones(200))
    assert "over 200 rows, without the offsets, which errors have; its mean is" in str(added)


def test_each_model_may_read_the_table_in_its_own_way():
    rng = np.random.default_rng(0)
    table = pd.DataFrame({"code": rng.integers(1, 6, 300), "x": rng.normal(size=300)})
    words = table.assign(code=[f"0{c}" for c in table["code"]])
    y = table["code"].to_numpy() + table["x"]
    options = {"early_stopping": False, "random_state": 0}
    numbers = TSLRegressor(1, **options).fit(table, y)
    levels = TSLRegressor(1, **options).fit(words, y)
    result = explain.compare(numbers, levels, (table, words), y)
    assert result.scores[1]["RMSE"] == levels.evaluate(words, y).rmse
    np.testing.assert_array_equal(result.predictions[1], levels.predict(words))
    listed = explain.compare(numbers, levels, [table, words], y)
    assert listed.loss_difference == result.loss_difference
    with pytest.raises(ValueError, match="X must have the same rows for both models, got 300 and"):
        explain.compare(numbers, levels, (table, words[1:]))


def test_columns_that_are_numbered_are_compared_by_their_number():
    X, y = datasets.masked_interaction(300, as_frame=True, random_state=0)
    first = X.set_axis([0, 1, 2], axis=1)
    options = {"early_stopping": False, "random_state": 0}
    one = TSLRegressor(1, **options).fit(first, y)
    turned = TSLRegressor(1, **options).fit(first[[2, 1, 0]], y)
    result = explain.compare(one, turned, first)
    shap = [explain.shapley(model, first, background=first).values for model in (one, turned)]
    expected = np.abs(shap[1][:, ::-1] - shap[0]).mean(axis=0)
    own = dict(zip(result.names, result.sizes, strict=True))
    assert [own[name] for name in ("x0", "x1", "x2")] == pytest.approx(expected, abs=1e-12)
    fewer = TSLRegressor(1, **options).fit(first[[2]], y)
    assert set(explain.compare(one, fewer, first).names) == {"x0", "x1", "x2"}
    three, other = (
        TSLRegressor(1, **options).fit(first.set_axis([own, 1, 2], axis=1), y) for own in (3, 7)
    )
    seven = explain.compare(three, other, first.assign(**{"7": 0}).set_axis([3, 1, 2, 7], axis=1))
    assert set(seven.names) == {"x0", "x1", "x2", "column 7"}


@pytest.mark.parametrize("unit", [1e-200, 1e200])
def test_the_paired_test_is_the_same_in_any_unit(unit):
    rng = np.random.default_rng(0)
    X = rng.uniform(size=(300, 2))
    y = X[:, 0] + 0.1 * rng.normal(size=300)
    options = {"early_stopping": False, "random_state": 0}
    first = TSLRegressor(1, **options).fit(X, unit * y)
    with pytest.warns(UserWarning, match="no stage improves on a constant"):
        other = TSLRegressor(1, **options).fit(0.0 * X, unit * y)
    found = [explain.compare(first, one, X, unit * y) for one in (other, first)]
    assert found[0].p_value < 1e-20
    assert "of the first model is smaller" in str(found[0])
    assert found[1].p_value == 1.0


def test_losses_that_always_differ_by_as_much_tell_of_no_chance():
    X = np.arange(40.0)[:, None]
    models = [TSLRegressor(random_state=0).fit(X, np.full(40, level)) for level in (0.0, 1.0)]
    found = explain.compare(*models, X, np.zeros(40))
    assert (found.loss_difference, found.loss_error, found.p_value) == (1.0, 0.0, None)
    assert "of the first model is smaller by 1 in each of 40 rows." in str(found)


def test_features_are_those_of_one_column_of_the_table(flats):
    """Whatever the columns were called where the models were fitted."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 3))
    y = X[:, 0] * X[:, 1] + X[:, 2]
    options = {"n_stages": 1, "early_stopping": False, "random_state": 0}
    plain = TSLRegressor(**options).fit(X, y)
    for labels in ([2, 1, 0], [1, 2, 3], ["a", "b", "c"]):
        other = TSLRegressor(**options).fit(pd.DataFrame(X, columns=labels), y)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # X has no names
            found = explain.compare(other, plain, X)
        assert len(found.names) == 3
        assert not found.sizes.any()


def test_what_only_rounding_tells_apart_is_the_same(pair, flats):
    X, y = flats
    found = explain.compare(pair[0], merge([pair[0], pair[0]]), X, y)
    assert found.differences.any()
    assert not found.differ
    assert found.sentences == (
        "The prediction of the second model is always that of the first model, over 600 rows.",
    )
    assert (found.loss_difference, found.p_value) == (0.0, 1.0)


@pytest.mark.parametrize("level", [1e8, 1e10])
def test_far_from_zero_models_differ_as_they_do_near_it(flats, level):
    X, y = flats
    rich, poor = (
        TSLRegressor(k, early_stopping=False, random_state=0).fit(X, y + level) for k in (2, 1)
    )
    found = explain.compare(rich, poor, X, y + level)
    assert "differs from that of" in found.sentences[0]
    assert found.loss_difference > 0.0
    same = explain.compare(rich, merge([rich, rich]), X, y + level)
    assert len(same.sentences) == 1
    assert (same.differ, same.loss_difference) == (False, 0.0)


def test_sentences_tell_of_the_rows_whose_losses_are_compared(pair, flats):
    X, y = flats
    known = np.where(np.arange(600) < 3, y, np.nan)
    found = explain.compare(*pair, X, known)
    assert found.n_paired == 3
    assert "paired over 3 rows; p = " in str(found)
    known[1:] = np.nan
    assert "which one row says nothing of" in str(explain.compare(*pair, X, known))
    twice = explain.compare(*pair, X.iloc[[0, 0]], y[[0, 0]])
    assert twice.p_value is None
    assert "in each of 2 rows." in str(twice)


def test_the_same_sums_with_other_offsets_are_told_apart():
    rng = np.random.default_rng(0)
    X, added = rng.normal(size=(300, 2)), rng.normal(size=300)
    y = X[:, 0] + added
    model = TSLRegressor(1, early_stopping=False, random_state=0).fit(X, y, offset=added)
    found = explain.compare(model, model, X, y, offset=(added, np.zeros(300)))
    assert "is always that of" in found.sentences[0]
    assert "The mean squared error of the first model is smaller by" in found.sentences[1]
    alone = explain.compare(model, model, X, None, offset=added)
    assert "without the offsets" not in str(alone)


def test_the_level_and_levels_never_seen_are_told_of():
    rng = np.random.default_rng(0)
    place, x = rng.choice(list("abc"), 600, p=[0.5, 0.3, 0.2]), rng.uniform(size=600)
    X, claims = pd.DataFrame({"place": place, "x": x}), rng.poisson(1.0 + 2.0 * x)
    plain = TSLRegressor(1, loss="poisson", early_stopping=False, random_state=0)
    parts = (place != "c", 1), (place != "a", 2)
    last, this = (clone(plain).fit(X[own], times * claims[own]) for own, times in parts)
    found = explain.compare(last, this, X, claims, models=("last", "this"))
    one, other = found.predictions.mean(axis=1)
    assert other > 1.5 * one
    assert f"its mean is {other:.3g} instead of {one:.3g}, " in found.sentences[0]
    assert found.sentences[0].endswith(" % more.")
    shares = [("last", "place", np.mean(place == "c")), ("this", "place", np.mean(place == "a"))]
    assert found.unseen == tuple(shares)
    assert f"{np.mean(place == 'a'):.0%}".replace("%", " %") in found.sentences[-1]
    assert found.sentences[-1].endswith("of the rows have a level of place that this never saw.")
    ratios = [scores["actual / expected"] for scores in found.scores]
    assert ratios == pytest.approx([claims.mean() / one, claims.mean() / other])
    assert not found.lacks_offsets


def test_offsets_that_are_not_given_are_missed_in_words():
    X, claims, years, *_ = datasets.claims(600, random_state=0)
    model = TSLRegressor(1, loss="poisson", early_stopping=False, random_state=0)
    model.fit(X, claims, offset=np.log(years))
    other = clone(model).fit(X[:300], claims[:300], offset=np.log(years[:300]))
    with pytest.warns(UserWarning, match="evaluated without them"):
        found = explain.compare(model, other, X, claims)
    assert "Offsets of the fit were not given" in str(found)
