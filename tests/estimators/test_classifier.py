"""TSLClassifier: labels, probabilities, weights, and what scikit-learn expects of a classifier."""

import pickle
import warnings
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.base import clone, is_classifier
from sklearn.calibration import CalibratedClassifierCV
from sklearn.ensemble import StackingClassifier
from sklearn.exceptions import NotFittedError
from sklearn.inspection import permutation_importance
from sklearn.linear_model import LogisticRegression, Perceptron
from sklearn.metrics import log_loss
from sklearn.model_selection import GridSearchCV
from sklearn.utils.estimator_checks import check_estimator

from seplearn import TSLClassifier, datasets, explain, load_model
from seplearn.fitting.draws import make_draws
from tests.fitting.small_fits import small_data

QUICK: dict[str, Any] = {
    "n_stages": 2, "early_stopping": False, "n_grids": 3, "n_splits": 8, "random_state": 0,
}  # fmt: skip


@pytest.fixture(scope="module")
def data():
    X, y = datasets.masked_interaction(400, random_state=0)
    return X, y > 0


@pytest.fixture(scope="module")
def fitted(data):
    return TSLClassifier(**QUICK).fit(*data)


def words(y):
    return np.where(y, "yes", "no")


# What a label may be: from yes and no to what fit gets, and the classes that it should find.
LABELS: dict[str, Any] = {
    "strings": (words, ["no", "yes"]),
    "objects": (lambda y: words(y).astype(object), ["no", "yes"]),
    "a list": (lambda y: words(y).tolist(), ["no", "yes"]),
    "booleans": (lambda y: y, [False, True]),
    "integers": (lambda y: np.where(y, 7, -3), [-3, 7]),
    "bytes of integers": (lambda y: y.astype(np.uint8), [0, 1]),
    "floats": (lambda y: np.where(y, 2.0, 1.0), [1.0, 2.0]),
    "short floats": (lambda y: np.where(y, 2.0, 1.0).astype(np.float16), [1.0, 2.0]),
    "large integers": (
        lambda y: np.where(y, np.uint64(2**64 - 1), np.uint64(3)),
        [3, 2**64 - 1],
    ),
    "a pandas Series": (lambda y: pd.Series(words(y), name="bought"), ["no", "yes"]),
    "pandas categories": (lambda y: pd.Series(words(y), dtype="category"), ["no", "yes"]),
    "pandas nullable": (lambda y: pd.Series(y, dtype="boolean"), [False, True]),
    "a pandas table": (lambda y: pd.DataFrame({"bought": words(y)}), ["no", "yes"]),
    "a polars Series": (lambda y: pl.Series(words(y)), ["no", "yes"]),
    "polars categories": (lambda y: pl.Series(words(y)).cast(pl.Categorical), ["no", "yes"]),
    "polars booleans": (pl.Series, [False, True]),
}


@pytest.mark.parametrize("kind", LABELS)
def test_labels_of_every_kind_give_the_same_model(data, fitted, kind, tmp_path):
    X, y = data
    make, classes = LABELS[kind]
    model = TSLClassifier(**QUICK).fit(X, make(y))
    assert model.classes_.tolist() == classes
    assert [type(label) for label in model.classes_.tolist()] == [type(c) for c in classes]
    np.testing.assert_array_equal(model.decision_function(X), fitted.decision_function(X))
    np.testing.assert_array_equal(
        model.predict(X), np.array(classes)[fitted.predict(X).astype(int)]
    )
    assert model.score(X, make(y)) == fitted.score(X, y)
    assert model.evaluate(X, make(y)).scores["accuracy"] == pytest.approx(fitted.score(X, y))
    model.save(tmp_path / "model.tsl")
    again = load_model(tmp_path / "model.tsl")
    assert again.classes_.tolist() == classes
    assert again.classes_.dtype == model.classes_.dtype
    np.testing.assert_array_equal(again.predict(X), model.predict(X))


def test_it_is_a_classifier_and_not_fitted_at_first(data):
    model = TSLClassifier()
    assert is_classifier(model)
    for method in (model.predict, model.predict_proba, model.decision_function):
        with pytest.raises(NotFittedError):
            method(data[0])


def test_classes_probabilities_and_log_odds_agree(data, fitted):
    X, _ = data
    odds, shares = fitted.decision_function(X), fitted.predict_proba(X)
    assert shares.shape == (400, 2)
    np.testing.assert_allclose(shares.sum(axis=1), 1.0, rtol=1e-15)
    np.testing.assert_allclose(np.log(shares[:, 1]) - np.log(shares[:, 0]), odds, atol=1e-12)
    np.testing.assert_allclose(fitted.predict_log_proba(X), np.log(shares), atol=1e-9)
    far = fitted.predict_log_proba(X, offset=np.full(len(X), 900.0) - odds)
    np.testing.assert_allclose(far, [[-900.0, 0.0]] * len(X), atol=1e-9)
    np.testing.assert_array_equal(fitted.predict(X), fitted.classes_[shares.argmax(axis=1)])
    np.testing.assert_array_equal(fitted.predict(X), odds > 0)
    parts = fitted.predict_effects(X).sum(axis=1) + fitted.predict_stages(X).sum(axis=1)
    np.testing.assert_allclose(fitted.intercept_ + parts, odds, atol=1e-9)
    assert fitted.score(X, data[1]) > 0.75


def test_exchanged_labels_are_the_other_log_odds_of_a_constant():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(200, 1)), np.arange(200) % 5 == 0
    with pytest.warns(UserWarning, match="no stage improves on a constant"):
        model = TSLClassifier(**(QUICK | {"min_gain": 1.0}), main_effects=False).fit(X, y)
    np.testing.assert_allclose(model.predict_proba(X)[:, 1], 0.2, rtol=1e-9)
    with pytest.warns(UserWarning, match="no stage improves on a constant"):
        other = TSLClassifier(**(QUICK | {"min_gain": 1.0}), main_effects=False).fit(X, ~y)
    np.testing.assert_allclose(other.decision_function(X), -model.decision_function(X), rtol=1e-9)


def test_mean_probabilities_are_shares_of_the_rows(data, fitted):
    """The constant is free, so that the sum of all gradients is nearly zero."""
    X, y = data
    assert fitted.predict_proba(X)[:, 1].mean() == pytest.approx(y.mean(), abs=0.01)


def test_balanced_weights_are_those_made_by_hand(data):
    X, y = data
    rare = y & (np.arange(400) % 3 > 0)
    counts = np.bincount(rare)
    by_hand = 400 / (2 * counts)
    balanced, as_dict, as_weights = (
        TSLClassifier(**QUICK, class_weight="balanced").fit(X, rare),
        TSLClassifier(**QUICK, class_weight=dict(zip([False, True], by_hand, strict=True))).fit(
            X, rare
        ),
        TSLClassifier(**QUICK).fit(X, rare, sample_weight=by_hand[rare.astype(int)]),
    )
    expected = as_weights.decision_function(X)
    np.testing.assert_array_equal(balanced.decision_function(X), as_dict.decision_function(X))
    np.testing.assert_allclose(balanced.decision_function(X), expected, rtol=1e-6, atol=1e-6)
    shares = balanced.predict_proba(X)[:, 1]
    weight = by_hand[rare.astype(int)]
    assert np.average(shares, weights=weight) == pytest.approx(0.5, abs=0.02)
    plain = TSLClassifier(**QUICK).fit(X, rare).predict_proba(X)[:, 1]
    assert plain.mean() == pytest.approx(rare.mean(), abs=0.02)


def test_balanced_weights_are_those_of_the_rows_that_count(data):
    X, y = data
    weight = np.where((np.arange(400) % 2 == 0) & y, 0.0, 1.5)
    model = TSLClassifier(**QUICK, class_weight="balanced")
    one = model.fit(X, y, sample_weight=weight).predict_proba(X)
    used = weight > 0
    other = model.fit(X[used], y[used], sample_weight=weight[used]).predict_proba(X)
    np.testing.assert_allclose(one, other, rtol=1e-9)


@pytest.mark.parametrize("given", ["balanced", {0: 1, 1: 9}, {0: 2, 1: 2}])
def test_weights_of_classes_make_nothing_of_noise(given):
    rng = np.random.default_rng(4)
    X, y = rng.normal(size=(300, 3)), (rng.random(300) < 0.1).astype(int)
    with pytest.warns(UserWarning, match="no stage improves on a constant"):
        model = TSLClassifier(n_stages=2, random_state=0, class_weight=given).fit(X, y)
    assert np.ptp(model.predict_proba(X)[:, 1]) == 0.0


def test_a_class_that_is_not_weighed_counts_once(data):
    X, y = data
    one = TSLClassifier(**QUICK, class_weight={True: 3.0}).fit(X, y)
    both = TSLClassifier(**QUICK, class_weight={True: 3.0, False: 1.0}).fit(X, y)
    np.testing.assert_array_equal(one.decision_function(X), both.decision_function(X))


def test_weight_two_is_the_row_twice(data):
    X, y = data
    X = X.round().clip(-3.0, 3.0)  # few values, so that there are the same bins
    weight = 1.0 + (np.arange(400) % 4 == 0)
    twice = np.repeat(np.arange(400), weight.astype(int))
    weighed = TSLClassifier(**QUICK).fit(X, y, sample_weight=weight)
    repeated = TSLClassifier(**QUICK).fit(X[twice], y[twice])
    np.testing.assert_allclose(
        weighed.decision_function(X), repeated.decision_function(X), atol=1e-5
    )


@pytest.mark.parametrize(
    ("labels", "error", "message"),
    [
        (["a"] * 40, ValueError, "y must have two classes or more, got one class only: 'a'"),
        ([1.0] * 40, ValueError, r"got one class only: 1\.0"),
        (["a", None] * 20, ValueError, "y must not have missing values"),
        (["a", np.nan] * 20, ValueError, "y must not have missing values"),
        (("a", np.nan) * 20, ValueError, "y must not have missing values"),
        (("a", 1) * 20, TypeError, "y must have labels of one kind"),
        (np.array([1.0, np.nan] * 20), ValueError, "y must not have missing values"),
        (pd.Series(["a", None] * 20, dtype="category"), ValueError, "missing values"),
        (pl.Series(["a", None] * 20), ValueError, "missing values"),
        (["a", 1] * 20, TypeError, "y must have labels of one kind, got strings and numbers"),
        (np.linspace(0.0, 1.0, 40), ValueError, "Unknown label type: continuous"),
        (pd.to_datetime(["2026-01-01", "2026-01-02"] * 20), TypeError, "got dates"),
        (["a", "b"] * 10, ValueError, "X has 40, y has 20"),
        (None, ValueError, "fit requires y"),
    ],
)  # fmt: skip
def test_bad_labels_are_refused(labels, error, message):
    X = np.random.default_rng(0).normal(size=(40, 2))
    model = TSLClassifier(**QUICK)
    with pytest.raises(error, match=message):
        model.fit(X, labels)
    assert not hasattr(model, "classes_")


@pytest.mark.parametrize(
    ("given", "error", "message"),
    [
        ({"maybe": 2.0}, ValueError, r"class_weight must name classes of y \(\['no', 'yes'\]\)"),
        ({"yes": 0.0}, ValueError, "a dict of a positive weight per class"),
        ({"yes": np.inf}, ValueError, "a dict of a positive weight per class"),
        ({"yes": "2"}, ValueError, "a dict of a positive weight per class"),
        ("equal", ValueError, "class_weight must be None, 'balanced' or a dict"),
        (3.0, TypeError, "class_weight must be None, 'balanced' or a dict"),
        ({"yes": 1e300, "no": 1e-300}, ValueError, "class_weight must have weights of which"),
    ],
)
def test_bad_weights_of_classes_are_refused(data, given, error, message):
    X, y = data
    with pytest.raises(error, match=message):
        TSLClassifier(**QUICK, class_weight=given).fit(X, words(y))


def test_weights_of_classes_matter_by_their_ratio_where_they_are_no_numbers_of_rows(data):
    # As numbers of rows the large ones would ask for more draws than a life is long.
    X, y = data
    large, small = (
        TSLClassifier(**QUICK, class_weight={"yes": 2.0 * unit, "no": unit}).fit(X, words(y))
        for unit in (2.0**900, 2.0**-900)
    )
    np.testing.assert_array_equal(large.decision_function(X), small.decision_function(X))


def test_weights_of_rows_and_classes_together_ask_for_few_draws():
    data = small_data()
    heavy = replace(data, weight=data.weight * 1e9)
    draws = make_draws(heavy, bootstrap=True)
    assert draws.n_draws == len(data.weight)
    assert draws.unit * draws.n_draws == pytest.approx(heavy.weight.sum())


def test_labels_of_two_kinds_are_refused_in_an_array_too(data):
    X, y = data
    with pytest.raises(TypeError, match="y must have labels of one kind"):
        TSLClassifier(**QUICK).fit(X, np.array([1, "1"], dtype=object)[y.astype(int)])


def test_both_classes_must_have_weight(data):
    X, y = data
    with pytest.raises(ValueError, match=r"in the rows of positive weight, got one .*: 'yes'"):
        TSLClassifier(**QUICK).fit(X, words(y), sample_weight=y.astype(float))


def test_separable_rows_get_finite_log_odds_and_no_warnings():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 3))
    y = X[:, 0] > 0.1
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = TSLClassifier(**QUICK).fit(X, y)
    odds = model.decision_function(X)
    assert np.isfinite(odds).all()
    assert np.abs(odds).max() < 100.0
    assert np.isfinite(model.predict_proba(X)).all()
    assert model.score(X, y) > 0.99
    assert log_loss(y, model.predict_proba(X)[:, 1]) < 0.05


def rare_events(n, seed):
    """One row in a hundred, more of them where the first feature is large."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3))
    odds = -5.6 + 1.5 * X[:, 0]
    return X, rng.random(n) < 1.0 / (1.0 + np.exp(-odds))


def test_rare_events_are_predicted_better_than_by_their_share():
    X, y = rare_events(2000, seed=0)
    assert 10 <= y.sum() <= 40
    model = TSLClassifier(n_stages=2, random_state=0).fit(X, y)
    X_new, y_new = rare_events(20_000, seed=1)
    found = log_loss(y_new, model.predict_proba(X_new)[:, 1])
    share = np.full(len(y_new), y.mean())
    assert found < 0.97 * log_loss(y_new, share)
    assert model.predict_proba(X_new)[:, 1].mean() == pytest.approx(y_new.mean(), abs=0.005)


def test_log_odds_keep_monotone_constraints():
    rng = np.random.default_rng(0)
    X = rng.uniform(-1.0, 1.0, size=(400, 2))
    y = rng.random(400) < 1.0 / (1.0 + np.exp(-3.0 * np.sin(4.0 * X[:, 0]) + X[:, 1]))
    model = TSLClassifier(**QUICK, monotonic_cst=[1, -1]).fit(X, y)
    path = np.linspace(-1.0, 1.0, 200)
    for other in (-0.8, 0.0, 0.7):
        rising = model.decision_function(np.column_stack([path, np.full(200, other)]))
        falling = model.decision_function(np.column_stack([np.full(200, other), path]))
        assert (np.diff(rising) >= 0.0).all()
        assert (np.diff(falling) <= 0.0).all()
    assert np.ptp(rising) > 0.0


def test_a_saved_classifier_is_the_same(data, tmp_path):
    X, y = data
    model = TSLClassifier(**QUICK, class_weight={1: 2.0, 2: 1.5}, n_bootstrap=2).fit(X, y + 1)
    model.save(tmp_path / "model.tsl")
    again = load_model(tmp_path / "model.tsl")
    assert isinstance(again, TSLClassifier)
    assert again.get_params() == model.get_params()
    assert again.model_.link is model.model_.link
    for method in ("predict", "predict_proba", "decision_function", "predict_interval"):
        np.testing.assert_array_equal(getattr(again, method)(X), getattr(model, method)(X))
    refitted = clone(again).fit(X, y + 1)
    np.testing.assert_array_equal(refitted.decision_function(X), model.decision_function(X))


@pytest.mark.parametrize(
    ("labels", "weights"),
    [((False, True), {0: 1.0, 1: 3.0}), ((1.0, 2.0), {1: 1.0, 2: 3.0}), ((0, 1), {True: 3.0})],
)
def test_weights_of_classes_spelled_in_another_way_are_saved_by_their_labels(
    data, tmp_path, labels, weights
):
    X, y = data
    given = np.array(labels)[y.astype(int)]
    model = TSLClassifier(**QUICK, class_weight=weights).fit(X, given)
    model.save(tmp_path / "model.tsl")
    again = load_model(tmp_path / "model.tsl")
    assert again.class_weight == weights
    np.testing.assert_array_equal(
        clone(again).fit(X, given).decision_function(X), model.decision_function(X)
    )


def test_copies_and_threads_predict_the_same_bits(data, fitted):
    X, y = data
    expected = fitted.decision_function(X)
    again = pickle.loads(pickle.dumps(fitted))
    np.testing.assert_array_equal(again.decision_function(X), expected)
    assert again.classes_.tolist() == fitted.classes_.tolist()
    two = TSLClassifier(**QUICK, n_jobs=2).fit(X, y)
    np.testing.assert_array_equal(two.decision_function(X), expected)
    assert clone(two).get_params() == two.get_params()
    fewer = fitted.select_stages([0])
    assert fewer.classes_.tolist() == fitted.classes_.tolist()
    assert fewer.predict_proba(X).shape == (400, 2)


def test_two_classes_start_with_main_effects_and_several_ask_which_form(data):
    X, y = data
    options = QUICK | {"early_stopping": True, "n_stages": 1}
    constant, path = TSLClassifier(**options).fit(X, words(y)).size_paths_
    assert (constant.main_effects, len(constant.losses), constant.chosen) == (False, 1, None)
    assert path.main_effects
    assert len(path.losses) == 2
    assert path.chosen is not None
    three = np.digitize(X[:, 0], np.quantile(X[:, 0], [0.3, 0.6]))
    paths = TSLClassifier(**options).fit(X, three).size_paths_
    assert [path.main_effects for path in paths] == [False, True]
    (alone,) = TSLClassifier(**options, main_effects=False).fit(X, words(y)).size_paths_
    assert not alone.main_effects


def test_the_size_is_chosen_by_the_log_loss_of_held_out_rows(data):
    X, y = data
    options = QUICK | {"early_stopping": True, "main_effects": False}
    model = TSLClassifier(**options).fit(
        X[:300], words(y[:300]), eval_set=(X[300:], words(y[300:]))
    )
    path = model.size_paths_[0]
    share = np.mean(y[:300])
    constant = log_loss(y[300:], np.full(100, share))
    assert path.losses[0] == pytest.approx(constant, rel=1e-6)
    weighed = TSLClassifier(**options, class_weight="balanced").fit(
        X[:300], words(y[:300]), eval_set=(X[300:], words(y[300:]))
    )
    weights = np.where(y[300:], 0.5 / share, 0.5 / (1.0 - share))
    constant = log_loss(y[300:], np.full(100, 0.5), sample_weight=weights)
    assert weighed.size_paths_[0].losses[0] == pytest.approx(constant, rel=1e-6)
    with pytest.raises(ValueError, match=r"eval_set: y must have the classes seen by fit.*'maybe'"):
        TSLClassifier(**options).fit(X, words(y), eval_set=(X, ["maybe"] * 400))
    with pytest.raises(ValueError, match=r"eval_set must be one set \(X, y\) of rows, got 2 of"):
        TSLClassifier(**options).fit(X, words(y), eval_set=[(X, words(y))] * 2)
    with pytest.raises(TypeError, match=r"eval_set must be a pair \(X, y\)"):
        TSLClassifier(**options).fit(X, words(y), eval_set=X)


def test_labels_of_objects_are_those_they_are(data):
    X, y = data
    plain = TSLClassifier(**QUICK).fit(X, y > 0)
    objects = TSLClassifier(**QUICK).fit(X, pd.Series(y > 0, dtype=object))
    np.testing.assert_array_equal(plain.predict_proba(X), objects.predict_proba(X))
    whole = TSLClassifier(**QUICK).fit(X, np.where(y > 0, 7, 3).astype(object))
    assert whole.classes_.tolist() == [3, 7]
    with pytest.raises(ValueError, match="y must not have missing labels; evaluate leaves such"):
        whole.score(X, np.where(y > 0, 7.0, np.nan))


def test_no_rows_to_evaluate_are_refused(data, fitted):
    with pytest.raises(ValueError, match=r"Found array with 0 sample\(s\)"):
        fitted.evaluate(data[0], [])


def test_a_failed_fit_leaves_the_classifier_as_it_was(data, fitted):
    X, y = data
    model = pickle.loads(pickle.dumps(fitted))
    with pytest.raises(ValueError, match="two classes"):
        model.fit(X, np.ones(400))
    np.testing.assert_array_equal(model.predict(X), fitted.predict(X))
    with pytest.raises(ValueError, match="X and y must not be given"):
        model.select_stages([0], X, y)


def outcomes(estimator):
    results = check_estimator(estimator, on_skip=None, on_fail=None)
    return {(r["check_name"], r["status"]) for r in results}


@pytest.mark.no_cover
@pytest.mark.filterwarnings("ignore")
def test_check_estimator():
    few = {"n_stages": 6, "n_grids": 1, "n_splits": 3, "early_stopping": False}
    # Bins for all values of a column: otherwise they depend on how often a row is there.
    ours = outcomes(TSLClassifier(**few, max_bins=32, main_effects=False))
    theirs = outcomes(Perceptron())
    failed = {name for name, status in ours if status == "failed"}
    assert failed == set()
    skipped, allowed = ({n for n, s in group if s == "skipped"} for group in (ours, theirs))
    assert skipped <= allowed
    assert len(ours) >= 50


def test_tools_of_scikit_learn(data):
    X, y = data
    y = words(y)
    quick = TSLClassifier(**(QUICK | {"n_stages": 1}))
    calibrated = CalibratedClassifierCV(quick, cv=2).fit(X, y)
    assert calibrated.score(X, y) > 0.6
    stack = StackingClassifier([("tsl", quick), ("linear", LogisticRegression())], cv=2)
    assert stack.fit(X, y).score(X, y) > 0.6
    search = GridSearchCV(quick, {"n_splits": [4, 8]}, scoring="neg_log_loss", cv=2).fit(X, y)
    assert -0.69 < search.best_score_ < 0.0
    importance = permutation_importance(search, X, y, n_repeats=2, random_state=0)
    assert importance.importances_mean.max() > 0.05


def test_explanations_add_up_to_the_log_odds(data, fitted):
    X, _ = data
    odds = fitted.decision_function(X)
    shares = explain.shapley(fitted, X[:20])
    np.testing.assert_allclose(shares.base + shares.values.sum(axis=1), odds[:20], atol=1e-9)
    local = explain.local(fitted, X, 5)
    parts = local.intercept + local.effects.sum() + local.contributions.sum()
    assert local.prediction == pytest.approx(odds[5], abs=1e-9)
    assert parts == pytest.approx(odds[5], abs=1e-9)
    assert explain.partial_dependence(fitted, 0).mean == pytest.approx(odds.mean(), abs=1e-9)
    assert explain.importance(fitted).values.argmax() in (0, 1, 2)
    assert str(explain.summary(fitted))
    assert str(explain.interactions(fitted))


@pytest.fixture(scope="module")
def shifted():
    """Log-odds of which a large part is known: the offset."""
    rng = np.random.default_rng(0)
    X, offset = rng.uniform(-1.0, 1.0, (800, 2)), rng.normal(0.0, 2.0, 800)
    learned = 2.0 * X[:, 0] + 2.0 * X[:, 0] * X[:, 1]
    y = rng.random(800) < 1.0 / (1.0 + np.exp(-learned - offset))
    return X, y, offset, learned


def test_an_offset_is_added_to_the_log_odds_and_not_learned(shifted):
    X, y, offset, learned = shifted
    model = TSLClassifier(**QUICK).fit(X, y, offset=offset)
    sums = model.decision_function(X)
    assert np.sqrt(np.mean((sums - learned) ** 2)) < 0.6
    without = TSLClassifier(**QUICK).fit(X, y).decision_function(X)
    assert np.corrcoef(sums, learned)[0, 1] > np.corrcoef(without, learned)[0, 1]
    np.testing.assert_allclose(model.decision_function(X, offset), sums + offset, rtol=1e-12)
    shares = model.predict_proba(X, offset)
    np.testing.assert_allclose(shares[:, 1], 1.0 / (1.0 + np.exp(-sums - offset)), rtol=1e-9)
    assert shares[:, 1].mean() == pytest.approx(y.mean(), abs=0.01)
    assert model.predict(X, offset).tolist() == (sums + offset > 0).tolist()
    told = model.evaluate(X, y, offset=offset)
    assert told.scores["log-loss"] == pytest.approx(log_loss(y, shares))


def test_the_same_offset_for_all_rows_moves_the_constant_alone(data):
    X, y = data
    plain = TSLClassifier(**QUICK).fit(X, y)
    moved = TSLClassifier(**QUICK).fit(X, y, offset=np.full(len(y), 1.5))
    found = moved.decision_function(X, np.full(len(y), 1.5))
    np.testing.assert_allclose(found, plain.decision_function(X), atol=1e-3)


def test_an_eval_set_has_offsets_where_the_rows_have(shifted):
    X, y, offset, _ = shifted
    options = QUICK | {"early_stopping": True, "n_stages": 1}
    model = TSLClassifier(**options).fit(
        X[:600], y[:600], offset=offset[:600], eval_set=(X[600:], y[600:], offset[600:])
    )
    best = min(min(one.losses) for one in model.size_paths_)
    shares = model.predict_proba(X[600:], offset[600:])
    assert best < log_loss(y[600:], model.predict_proba(X[600:]))
    assert best == pytest.approx(log_loss(y[600:], shares), rel=0.1)
    with pytest.raises(TypeError, match=r"eval_set must be three \(X, y, offset\)"):
        TSLClassifier(**options).fit(X, y, offset=offset, eval_set=(X, y))
    with pytest.raises(ValueError, match="offset must have one value per row"):
        TSLClassifier(**options).fit(X, y, offset=offset[:5])
    with pytest.raises(ValueError, match="offset must hold finite numbers"):
        model.predict_proba(X, np.full(800, np.inf))


def test_a_rare_class_that_counts_more_is_learned():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(4000, 4))
    log_odds = X[:, 0] + X[:, 1] * X[:, 2] - 4.0
    y = rng.random(4000) < 1.0 / (1.0 + np.exp(-log_odds))
    for class_weight in (None, "balanced", {False: 1, True: 50}):
        model = TSLClassifier(class_weight=class_weight, random_state=0).fit(X, y)
        found = np.corrcoef(model.decision_function(X), log_odds)[0, 1]
        assert found > 0.6, class_weight


@pytest.mark.parametrize(("seed", "loss"), [(4, 0.6), (5, 0.5)])
def test_what_three_features_decide_together_is_found(seed, loss):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(1000, 6))
    yes = 0.5 + 0.4 * np.prod(np.sign(X[:, :3]), axis=1)
    y = rng.random(1000) < yes
    model = TSLClassifier(random_state=0).fit(X, y)
    assert np.corrcoef(model.predict_proba(X)[:, 1], yes)[0, 1] > 0.8
    assert min(min(path.losses) for path in model.size_paths_) < loss  # neither form is given up
