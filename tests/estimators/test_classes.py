"""TSLClassifier with more than two classes: scores, probabilities, explanations, files, tools."""

import json
import pickle
import re
import warnings
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.ensemble import StackingClassifier
from sklearn.inspection import permutation_importance
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import accuracy_score, confusion_matrix, log_loss, roc_auc_score
from sklearn.model_selection import GridSearchCV

from seplearn import TSLClassifier, explain, load_model
from seplearn.fitting import growth
from seplearn.losses.links import class_shares
from seplearn.model.evaluation import Evaluation
from tests import naive
from tests.explained import EXPLANATIONS, NAMES, table

QUICK: dict[str, Any] = {
    "n_stages": 2, "early_stopping": False, "n_grids": 2, "n_splits": 8, "max_bins": 10,
    "random_state": 0,
}  # fmt: skip
# So many that no sweeps are added for the sake of few stages; a callback ends the growth.
GROWING: dict[str, Any] = QUICK | {"early_stopping": True, "n_stages": 16, "main_effects": False}
LABELS = np.array(["dry", "mist", "wet"], dtype=object)
ROOT = Path(__file__).parents[2]


def one_round(*_):
    """Ends the growth after its first round."""
    return True


@cache
def data():
    """A table with gaps and levels, and three classes of unequal size."""
    X, y = table()
    return X, LABELS[np.digitize(y, [-0.6, 0.9])]


@cache
def fitted(**given):
    return TSLClassifier(**QUICK, **given).fit(*data())


def test_scores_probabilities_and_classes_agree():
    X, y = data()
    model = fitted()
    scores, shares = model.decision_function(X), model.predict_proba(X)
    assert scores.shape == shares.shape == (400, 3)
    np.testing.assert_allclose(shares, naive.softmax(scores), rtol=1e-12)
    np.testing.assert_allclose(shares.sum(axis=1), 1.0, rtol=1e-14)
    np.testing.assert_allclose(model.predict_log_proba(X), np.log(shares), atol=1e-9)
    np.testing.assert_array_equal(model.predict(X), LABELS[shares.argmax(axis=1)])
    assert model.classes_.tolist() == LABELS.tolist()
    assert model.score(X, y) > 0.7
    np.testing.assert_allclose(shares.mean(axis=0), [np.mean(y == k) for k in LABELS], atol=0.02)


def test_parts_add_up_to_the_scores():
    X, _ = data()
    for model in (fitted(), fitted(main_effects=True), fitted(fit_intercept=False)):
        stages, effects = model.predict_stages(X), model.predict_effects(X)
        assert effects.shape == (400, 3, 5)
        assert stages.shape == (400, 3, max(len(own) for own in model.stages_))
        total = model.intercept_ + stages.sum(axis=2) + effects.sum(axis=2)
        np.testing.assert_allclose(total, model.decision_function(X), atol=1e-9)
        assert [len(own) for own in model.stage_names_] == [len(own) for own in model.stages_]
        assert model.intercept_.sum() == pytest.approx(0.0, abs=1e-12)
    assert not fitted(fit_intercept=False).intercept_.any()


def test_probabilities_of_scores_as_large_as_may_be():
    scores = np.array([[700.0, -700.0, 0.0], [-700.0, -700.0, -700.0], [1e308, -1e308, 1e308]])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        shares = class_shares(scores)
    np.testing.assert_allclose(shares, [[1.0, 0.0, 0.0], [1 / 3] * 3, [0.5, 0.0, 0.5]], atol=1e-300)


KINDS: dict[str, Any] = {
    "strings": lambda y: np.array(["a", "b", "c"])[y],
    "integers": lambda y: np.array([-3, 7, 900])[y],
    "floats": lambda y: np.array([1.0, 2.0, 3.0])[y],
    "categories": lambda y: pd.Series(np.array(["a", "b", "c"])[y], dtype="category"),
}


@pytest.mark.parametrize("make", KINDS.values(), ids=KINDS.keys())
def test_labels_of_every_kind_give_the_same_model(make, tmp_path):
    X, y = data()
    labels = make(np.searchsorted(LABELS.astype(str), y.astype(str)))
    model = TSLClassifier(**QUICK).fit(X, labels)
    np.testing.assert_array_equal(model.decision_function(X), fitted().decision_function(X))
    assert model.classes_.tolist() == sorted(set(np.asarray(labels).tolist()))
    model.save(tmp_path / "m.tsl")
    again = load_model(tmp_path / "m.tsl")
    assert again.classes_.dtype == model.classes_.dtype
    np.testing.assert_array_equal(again.predict(X), model.predict(X))


def test_weights_of_classes_are_those_made_by_hand():
    X, y = data()
    counts = {label: float(np.sum(y == label)) for label in LABELS}
    by_hand = {label: 400 / (3 * n) for label, n in counts.items()}
    balanced = TSLClassifier(**QUICK, class_weight="balanced").fit(X, y)
    as_dict = TSLClassifier(**QUICK, class_weight=by_hand).fit(X, y)
    weight = np.array([by_hand[label] for label in y])
    weighed = TSLClassifier(**QUICK).fit(X, y, sample_weight=weight)
    scores = balanced.decision_function(X)
    np.testing.assert_array_equal(scores, as_dict.decision_function(X))
    np.testing.assert_allclose(scores, weighed.decision_function(X), atol=1e-6)
    shares = np.average(balanced.predict_proba(X), axis=0, weights=weight)
    np.testing.assert_allclose(shares, 1 / 3, atol=0.03)


def test_weight_two_is_the_row_twice():
    X, y = data()
    X = X[[NAMES[2], NAMES[4]]]  # few values, so that there are the same bins
    weight = 1.0 + (np.arange(400) % 4 == 0)
    twice = np.repeat(np.arange(400), weight.astype(int))
    weighed = TSLClassifier(**QUICK).fit(X, y, sample_weight=weight)
    repeated = TSLClassifier(**QUICK).fit(X.iloc[twice], y[twice])
    np.testing.assert_allclose(
        weighed.decision_function(X), repeated.decision_function(X), atol=1e-4
    )


def test_threads_and_copies_predict_the_same_bits():
    X, y = data()
    expected = fitted().decision_function(X)
    two = TSLClassifier(**QUICK, n_jobs=2).fit(X, y)
    np.testing.assert_array_equal(two.decision_function(X), expected)
    again = pickle.loads(pickle.dumps(two))
    np.testing.assert_array_equal(again.decision_function(X), expected)
    np.testing.assert_array_equal(clone(two).fit(X, y).decision_function(X), expected)


@cache
def chosen():
    """Sizes chosen in both forms on parts of the rows."""
    X, y = data()
    return TSLClassifier(**GROWING | {"main_effects": "auto"}).fit(X, y, callback=one_round)


def test_the_size_is_chosen_by_the_log_loss_of_held_out_rows():
    X, y = data()
    train, held = (X[:300], y[:300]), (X[300:], y[300:])
    told: list[Any] = []
    model = TSLClassifier(**GROWING).fit(
        *train, eval_set=held, callback=lambda *pair: told.append(pair) or len(told) == 2
    )
    (path,) = model.size_paths_
    shares = [np.mean(train[1] == label) for label in LABELS]
    constant = log_loss(held[1], np.tile(shares, (100, 1)))
    assert path.losses[0] == pytest.approx(constant, rel=1e-6)
    assert path.losses[-1] < path.losses[0]
    assert len(told) == len(path.losses) - 1
    assert [record.validation_loss for _, record in told] == list(path.losses[1:])
    for bad, why in ((None, "y must hold the outcomes"), (np.array([None] * 3), "y must not have")):
        with pytest.raises(ValueError, match=f"eval_set: {why}"):
            TSLClassifier(1).fit(*train, eval_set=(held[0][:3], bad))
    with pytest.raises(ValueError, match=r"eval_set: y must have the classes seen by fit.*'snow'"):
        TSLClassifier(**GROWING).fit(X, y, eval_set=(X, ["snow"] * 400))
    assert len(chosen().size_paths_) == 2
    assert chosen().score(X, y) > 0.7


def test_a_stage_that_spoils_held_out_rows_is_taken_back(monkeypatch):
    """Of one class; the others get theirs."""
    plain = growth._Trial.keeps
    tried = []

    def refusing(self, k):
        tried.append(k)
        return k != 1 and plain(self, k)

    monkeypatch.setattr(growth._Trial, "keeps", refusing)
    X, y = data()
    model = TSLClassifier(**GROWING | {"n_stages": 4}).fit(
        X[:300], y[:300], eval_set=(X[300:], y[300:])
    )
    assert tried.count(1) == 2  # and then no more
    assert len(model.model_.models[1].stages) == 0
    assert model.model_.models[1].effects is None
    assert len(model.model_.models[0].stages) > 0


def test_rows_of_a_group_are_held_out_together():
    X, y = data()
    groups = np.arange(400) // 10
    model = TSLClassifier(**GROWING).fit(X, y, groups=groups, callback=one_round)
    (path,) = model.size_paths_
    assert path.losses != chosen().size_paths_[0].losses
    assert path.losses[1] < path.losses[0]


@cache
def letters():
    rng = np.random.default_rng(0)
    centres = rng.normal(size=(26, 3)) * 3.0
    numbers = np.repeat(np.arange(26), 20)
    X = centres[numbers] + rng.normal(size=(520, 3))
    return X, np.array([chr(97 + k) for k in numbers])


def test_many_classes():
    X, y = letters()
    options = GROWING | {"main_effects": True, "n_grids": 1}
    model = TSLClassifier(**options).fit(X, y, eval_set=(X[::5], y[::5]), callback=one_round)
    assert model.predict_proba(X).shape == (520, 26)
    assert model.score(X, y) > 0.6


def test_a_class_of_one_row_is_learned_as_far_as_it_goes():
    X, y = data()
    y = y.copy()
    y[7] = "snow"
    for options in (QUICK, GROWING):
        model = TSLClassifier(**options).fit(X, y, callback=one_round)
        shares = model.predict_proba(X)
        assert np.isfinite(model.decision_function(X)).all()
        assert shares[:, 2].mean() < 0.05
        assert model.classes_.tolist() == ["dry", "mist", "snow", "wet"]


def test_separable_rows_get_finite_scores_and_no_warnings():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 3))
    y = np.digitize(X[:, 0], [-0.5, 0.5])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = TSLClassifier(**QUICK | {"max_bins": "auto"}).fit(X, y)
    scores = model.decision_function(X)
    assert np.abs(scores).max() < 200.0
    assert model.score(X, y) > 0.99
    assert log_loss(y, model.predict_proba(X)) < 0.05


@pytest.mark.parametrize(
    ("given", "fit", "message"),
    [
        ({"monotonic_cst": [1, 0]}, {}, "monotonic_cst must be None with more than two classes"),
        ({"class_weight": {"snow": 2.0}}, {}, r"class_weight must name classes of y.*'snow'"),
        ({}, {"sample_weight": [1.0, 1.0, 0.0] * 20}, "every class of y must have a row of.*'c'"),
    ],
)
def test_what_several_classes_cannot_have_is_refused(given, fit, message):
    X = np.random.default_rng(0).normal(size=(60, 2))
    with pytest.raises(ValueError, match=message):
        TSLClassifier(**QUICK, **given).fit(X, ["a", "b", "c"] * 20, **fit)


@cache
def with_bands():
    return fitted(main_effects=True, n_bootstrap=4)


def test_bands_of_probabilities():
    X, _ = data()
    model = with_bands()
    ends = model.predict_interval(X[:50], level=0.8)
    assert ends.shape == (50, 3, 2)
    assert (ends[..., 0] <= ends[..., 1]).all()
    assert (ends >= 0.0).all()
    assert (ends <= 1.0).all()
    inside = (ends[..., 0] <= model.predict_proba(X[:50])) & (
        model.predict_proba(X[:50]) <= ends[..., 1]
    )
    assert inside.mean() > 0.5
    assert len(model.model_.replicates) == 4
    with pytest.raises(ValueError, match="needs bootstrap replicates"):
        fitted().predict_interval(X)


def test_a_saved_model_is_the_same(tmp_path):
    X, y = data()
    model = with_bands()
    told = model.evaluate(X, y, keep=True)
    model.save(tmp_path / "m.tsl")
    again = load_model(tmp_path / "m.tsl")
    for method in ("predict_proba", "decision_function", "predict_interval", "predict_stages"):
        np.testing.assert_array_equal(getattr(again, method)(X), getattr(model, method)(X))
    assert again.evaluation_ == told
    assert again.size_paths_ == model.size_paths_
    assert again.history_ == model.history_
    np.testing.assert_array_equal(again.intercept_, model.intercept_)
    view, other = again.for_class("wet"), model.for_class("wet")
    assert explain.summary(view).frame().equals(explain.summary(other).frame())
    bare = TSLClassifier(**QUICK, background_size=0).fit(X, y)
    bare.save(tmp_path / "bare.tsl")
    assert load_model(tmp_path / "bare.tsl").model_.reference is None


def test_the_scorer_of_the_documentation_reads_the_model_as_json():
    X, _ = data()
    text = (ROOT / "docs" / "model-json.md").read_text(encoding="utf-8")
    scope: dict[str, Any] = {}
    exec(text.split("```python\n")[1].split("```")[0], scope)
    for model in (fitted(), with_bands()):
        plain = json.loads(json.dumps(model.to_dict()))
        assert (plain["version"], plain["link"], plain["classes"]) == (4, "softmax", [*LABELS])
        rows = X[:20].astype(object).where(X[:20].notna(), None).to_dict("records")
        found = [scope["predict"](plain, row) for row in rows]
        np.testing.assert_allclose(found, model.predict_proba(X[:20]), rtol=1e-9)


def test_an_evaluation_has_the_log_loss_the_accuracy_and_every_class():
    X, y = data()
    model = fitted()
    weight = np.linspace(0.1, 2.0, 400)
    found, shares = model.evaluate(X, y, weight), model.predict_proba(X)
    assert found.log_loss == pytest.approx(log_loss(y, shares, sample_weight=weight))
    expected = accuracy_score(y, model.predict(X), sample_weight=weight)
    assert found.accuracy == pytest.approx(expected)
    assert found.n_rows == 400
    expected = confusion_matrix(y, model.predict(X), sample_weight=weight)
    np.testing.assert_allclose(found.confusion, expected, rtol=1e-12)
    shares_of_y = expected.sum(axis=1) / expected.sum()
    constant = -np.sum(shares_of_y * np.log(shares_of_y))
    assert found.explained == pytest.approx(1.0 - found.log_loss / constant)
    assert replace(found, confusion=()).explained is None
    for k, label in enumerate(LABELS):
        happened, share = (y == label).astype(float), shares[:, k]
        plain = Evaluation.of(happened, share, weight)
        own = found.of_class[k]
        assert own.rmse == pytest.approx(plain.rmse, rel=1e-9)
        np.testing.assert_allclose(own.predicted, plain.predicted, rtol=1e-9)
        np.testing.assert_allclose(own.actual, plain.actual, rtol=1e-9)
        assert own.scores["AUC"] == pytest.approx(
            roc_auc_score(happened, share, sample_weight=weight), rel=1e-9
        )
    none = np.zeros(400)
    for refused in (
        lambda: model.evaluate(X, y, offset=none),
        lambda: model.predict_proba(X, none),
        lambda: model.predict(X, none),
        lambda: with_bands().predict_interval(X, offset=none),
        lambda: TSLClassifier(**QUICK).fit(X, y, offset=none),
    ):
        with pytest.raises(ValueError, match="offset must be None with more than two classes"):
            refused()
    with pytest.raises(ValueError, match=r"y must have the classes seen by fit"):
        model.evaluate(X, ["snow"] * 400)


@cache
def of_many_stages():
    X, y = data()
    return TSLClassifier(**QUICK | {"n_stages": 4}, main_effects=False).fit(X, y)


def views():
    model = of_many_stages()
    scores = model.decision_function(data()[0])
    most = int(np.argmax([len(own) for own in model.stages_]))
    yield model.for_class(LABELS[most]), scores[:, most], f"score of {LABELS[most]}"
    yield (
        model.for_class("wet", against="dry"),
        scores[:, 2] - scores[:, 0],
        ("log-odds of wet against dry"),
    )


@pytest.mark.parametrize("which", [0, 1])
def test_explanations_of_a_class_add_up_to_its_score(which):
    X, _ = data()
    view, sums, words = list(views())[which]
    np.testing.assert_allclose(view.decision_function(X), sums, atol=1e-9)
    parts = view.predict_effects(X).sum(axis=1) + view.predict_stages(X).sum(axis=1)
    np.testing.assert_allclose(view.intercept_ + parts, sums, atol=1e-9)
    assert len(view.stage_names_) == len(view.stages_) >= 2
    assert view.reading_size_ > 0
    shares = explain.shapley(view, X[:20])
    np.testing.assert_allclose(shares.base + shares.values.sum(axis=1), sums[:20], atol=1e-9)
    local = explain.local(view, X, 5)
    found = local.intercept + local.effects.sum() + local.contributions.sum()
    assert (local.prediction, found) == pytest.approx((sums[5], sums[5]), abs=1e-9)
    assert explain.partial_dependence(view, 0).mean == pytest.approx(sums.mean(), abs=1e-9)
    assert explain.summary(view).quantity == shares.quantity == words


@pytest.mark.parametrize("name", EXPLANATIONS)
def test_every_explanation_and_its_figure_take_a_class(name):
    for view, _, words in views():
        result = EXPLANATIONS[name](view, data()[0])
        if name not in ("curves", "curve", "interactions"):  # which are of factors and shares
            assert result.quantity == words
        assert len(result.frame()) > 0
        assert result.plot() is not None
    if name in ("importance", "summary"):  # which tell of all classes too
        assert len(EXPLANATIONS[name](fitted(), data()[0]).frame()) > 0
        return
    with pytest.raises(ValueError, match=r"score for each of its classes.*for_class\('dry'\)"):
        EXPLANATIONS[name](fitted(), data()[0])


def test_the_path_of_sizes_and_main_effects_of_a_class():
    view = chosen().for_class("mist")
    assert len(explain.size_path(view).frame()) > 0
    effects = explain.main_effects(with_bands().for_class("dry", against="wet"))
    assert len(effects.frame()) > 0
    with pytest.raises(ValueError, match=r"give one of model\.models"):
        explain.importance(fitted().model_)
    assert explain.importance(fitted().model_.models[0]).values.max() > 0.0


def test_words_about_scores_are_true():
    score, odds = (str(explain.summary(view)) for view, _, _ in views())
    assert "exponential of the difference of their scores" in score
    assert not re.search(r"the (odds|prediction) times", score)
    assert "changes its sign" not in score
    assert "the odds times" in odds
    assert "log-odds of wet against dry changes its sign" in odds


def test_a_class_must_be_one_of_the_model():
    model = fitted()
    message = r"label must be one of the classes \['dry', 'mist', 'wet'\], got 'wett'.*'wet'"
    with pytest.raises(ValueError, match=message):
        model.for_class("wett")
    with pytest.raises(ValueError, match="against must be one of the classes"):
        model.for_class("wet", against=3)
    with pytest.raises(ValueError, match="against must be another class than label"):
        model.for_class("wet", against="wet")
    two = TSLClassifier(**QUICK).fit(data()[0], data()[1] == "wet")
    with pytest.raises(ValueError, match="for_class is for more than two classes"):
        two.for_class(True)
    with pytest.raises(ValueError, match="select_stages is for models of one sum"):
        model.select_stages([0])


def test_tools_of_scikit_learn():
    X, y = data()
    X = X[[NAMES[1], NAMES[4]]].to_numpy(dtype=float)
    quick = TSLClassifier(**QUICK | {"n_stages": 1, "n_grids": 1})
    calibrated = CalibratedClassifierCV(quick, cv=2).fit(X, y)
    assert calibrated.predict_proba(X).shape == (400, 3)
    linear = ("linear", LogisticRegression(max_iter=1000))
    stack = StackingClassifier([("tsl", quick), linear], cv=2).fit(X, y)
    assert stack.score(X, y) > 0.4
    search = GridSearchCV(quick, {"n_splits": [4, 8]}, scoring="neg_log_loss", cv=2).fit(X, y)
    assert -1.1 < search.best_score_ < 0.0
    found = permutation_importance(search, X, y, n_repeats=2, random_state=0)
    assert found.importances_mean.max() > 0.02


def test_labels_that_hardly_repeat_are_no_classes():
    X = np.arange(300.0)[:, None]
    prices = [f"{k},99 \u20ac" for k in range(300)]
    rule = r"y must have classes that repeat, got 300 different labels in 300 rows, such as '0,99 "
    with (
        pytest.warns(UserWarning, match="greater than 50%"),  # of scikit-learn
        pytest.raises(ValueError, match=rule),
    ):
        TSLClassifier(1, random_state=0).fit(X, prices)
