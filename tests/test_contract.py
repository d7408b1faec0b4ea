"""What scikit-learn and its users expect of an estimator."""

import copy
import io
import multiprocessing
import pickle
import threading
from typing import Any

import joblib
import numpy as np
import pandas as pd
import polars as pl
import pytest
import sklearn
from sklearn.base import clone
from sklearn.compose import ColumnTransformer
from sklearn.ensemble import BaggingRegressor, StackingRegressor
from sklearn.inspection import partial_dependence, permutation_importance
from sklearn.linear_model import LinearRegression
from sklearn.metrics import accuracy_score, r2_score
from sklearn.model_selection import GridSearchCV, GroupKFold, cross_validate
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeRegressor
from sklearn.utils.estimator_checks import check_estimator
from sklearn.utils.fixes import parse_version

from seplearn import TSLClassifier, TSLRegressor, datasets, explain

# Other tests measure the coverage of the same lines.
pytestmark = pytest.mark.no_cover

QUICK: dict[str, Any] = {
    "n_stages": 2,
    "early_stopping": False,
    "n_grids": 3,
    "n_splits": 8,
    "random_state": 0,
}


@pytest.fixture(scope="module")
def data():
    return datasets.masked_interaction(400, random_state=0)


def outcomes(estimator):
    results = check_estimator(estimator, on_skip=None, on_fail=None)
    return {(r["check_name"], r["status"]) for r in results}


@pytest.mark.filterwarnings("ignore")
def test_check_estimator():
    few = {"n_stages": 2, "n_starts": 1, "n_grids": 1}
    ours = outcomes(TSLRegressor(**few, max_bins=7, main_effects=False))
    theirs = outcomes(DecisionTreeRegressor(max_depth=1))
    failed = {name for name, status in ours if status == "failed"}
    assert failed == set()
    skipped, allowed = ({n for n, s in group if s == "skipped"} for group in (ours, theirs))
    assert skipped <= allowed
    assert len(ours) >= 50


def test_losses_that_take_no_negative_target_say_so():
    tags = [
        TSLRegressor(loss=loss).__sklearn_tags__().target_tags.positive_only
        for loss in ("squared_error", "poisson", "gamma", "tweedie", "quantile")
    ]
    assert tags == [False, True, True, True, False]


def test_sparse_columns_are_told_to_be_so():
    frame = pd.get_dummies(pd.Series(["a", "b"] * 20), sparse=True)
    with pytest.raises(TypeError, match=r"got Sparse\[bool, False\]; make it dense first"):
        TSLRegressor(n_stages=1).fit(frame, np.arange(40.0))


def test_pipeline_and_column_transformer(data):
    X, y = data
    frame = pd.DataFrame(X, columns=["a", "b", "c"]).assign(d=np.where(X[:, 0] > 0, "up", "down"))
    scale = ColumnTransformer([("scale", StandardScaler(), ["a", "b"])], remainder="passthrough")
    for library in ("pandas", "polars"):
        model = make_pipeline(clone(scale).set_output(transform=library), TSLRegressor(**QUICK))
        assert model.fit(frame, y).score(frame, y) > 0.3
        names = model[-1].feature_names_in_.tolist()
        assert names == ["scale__a", "scale__b", "remainder__c", "remainder__d"]


@pytest.mark.parametrize("fitted", [False, True])
def test_search_and_cross_validation_in_processes(data, fitted):
    X, y = data
    model = TSLRegressor(**QUICK, n_jobs=2)
    if fitted:
        model.fit(X, y)
    search = GridSearchCV(model, {"n_splits": [4, 8]}, cv=3, n_jobs=2).fit(X, y)
    assert search.best_estimator_.score(X, y) > 0.3
    folds = cross_validate(model, X, y, cv=3, n_jobs=2, return_estimator=True)
    here = cross_validate(model, X, y, cv=3, return_estimator=True)
    for one, other in zip(folds["estimator"], here["estimator"], strict=True):
        np.testing.assert_array_equal(one.predict(X), other.predict(X))


@pytest.mark.parametrize("kind", [TSLRegressor, TSLClassifier])
def test_weights_offsets_and_groups_are_routed(data, kind, monkeypatch):
    """What belongs to rows reaches every fit and every score of a search, also in a pipeline."""
    X, _ = data
    y = np.arange(len(X)) % 2
    row = np.arange(len(X))
    weight, offset, groups = 1.0 + row, np.where(row % 3, y, 1 - y), row // 20
    fits = []

    def record(self, X, y, sample_weight, eval_set, groups, offset, callback):
        fits.append((sample_weight, offset, groups))
        self.model_ = None  # so that a pipeline takes it for fitted

    monkeypatch.setattr(kind, "_fit", record)
    monkeypatch.setattr(kind, "predict", lambda self, X, offset=None: offset)
    with sklearn.config_context(enable_metadata_routing=True):
        model = kind().set_fit_request(sample_weight=True, offset=True, groups=True)
        model.set_score_request(sample_weight=True, offset=True)
        if parse_version(sklearn.__version__) >= parse_version("1.8"):  # before, only weights pass
            model = make_pipeline(StandardScaler().set_fit_request(sample_weight=False), model)
        rows = {"sample_weight": weight, "offset": offset, "groups": groups}
        found = cross_validate(model, X, y, cv=GroupKFold(2), params=rows, error_score="raise")
    score = accuracy_score if kind is TSLClassifier else r2_score
    for k, (train, test) in enumerate(GroupKFold(2).split(X, y, groups)):
        np.testing.assert_array_equal(fits[k], (weight[train], offset[train], groups[train]))
        expected = score(y[test], offset[test], sample_weight=weight[test])
        assert found["test_score"][k] == expected != score(y[test], offset[test])


def test_ensembles_and_inspection(data):
    X, y = data
    stack = StackingRegressor([("tsl", TSLRegressor(**QUICK)), ("ols", LinearRegression())], cv=3)
    assert stack.fit(X, y).score(X, y) > 0.3
    bagged = BaggingRegressor(TSLRegressor(**QUICK), 2, n_jobs=2, random_state=0).fit(X, y)
    assert bagged.score(X, y) > 0.2
    model = TSLRegressor(**QUICK).fit(X, y)
    assert partial_dependence(model, X, [2], grid_resolution=5)["average"].shape == (1, 5)
    assert permutation_importance(model, X, y, n_repeats=2).importances_mean[0] > 0


def test_partial_dependence_of_scikit_learn_takes_what_the_guide_says():
    random = np.random.default_rng(0)
    numbers = random.normal(size=200)
    X = pd.DataFrame({"size": numbers, "kind": random.choice(["a", "b"], 200)})
    X.loc[::7, "size"] = np.nan
    model = TSLRegressor(**QUICK).fit(X, numbers)
    for name in X:
        partial_dependence(model, X, [name], grid_resolution=5)
    X["kind"] = X["kind"].astype(object).where(np.arange(200) % 5 > 0, None)
    model = TSLRegressor(**QUICK).fit(X, numbers)
    partial_dependence(model, X, ["size"], grid_resolution=5)
    with pytest.raises(ValueError, match="mixed data types"):
        partial_dependence(model, X, ["kind"], grid_resolution=5)
    own = explain.partial_dependence(model, "kind").frame()
    assert {"a", "b", "(missing)"} <= set(own["kind"])


def test_copies_predict_the_same_bits(data):
    X, y = data
    model = TSLRegressor(**QUICK).fit(X, y)
    file = io.BytesIO()
    joblib.dump(model, file)
    file.seek(0)
    copies = [pickle.loads(pickle.dumps(model)), copy.deepcopy(model), joblib.load(file)]
    for again in copies:
        np.testing.assert_array_equal(again.predict(X), model.predict(X))
        assert repr(again) == repr(model)


def test_columns_are_matched_by_name(data):
    X, y = data
    frame = pd.DataFrame(X, columns=["a", "b", "c"])
    model = TSLRegressor(**QUICK).fit(frame, y)
    expected = model.predict(frame)
    np.testing.assert_array_equal(model.predict(frame[["c", "a", "b"]]), expected)
    np.testing.assert_array_equal(model.predict(pl.from_pandas(frame)), expected)
    with pytest.raises(ValueError, match=r"missing \['b'\] and unknown \['z'\]"):
        model.predict(frame.rename(columns={"b": "z"}))
    with pytest.warns(UserWarning, match="does not have valid feature names"):
        np.testing.assert_array_equal(model.predict(X), expected)
    model.fit(X, y)
    assert not hasattr(model, "feature_names_in_")
    np.testing.assert_array_equal(model.predict(frame), expected)


def test_targets_in_every_wrapping(data):
    X, y = data
    expected = TSLRegressor(**QUICK).fit(X, y).predict(X)
    for wrapped in (pd.Series(y), pl.Series(y), pd.DataFrame({"y": y}), y.tolist()):
        np.testing.assert_array_equal(TSLRegressor(**QUICK).fit(X, wrapped).predict(X), expected)


def count_threads(X, y):
    """Threads of a fit with n_jobs=-1, seen from inside it."""
    seen = []

    def watch(stage, record):
        seen.append(sum(thread.name.startswith("seplearn") for thread in threading.enumerate()))

    TSLRegressor(**(QUICK | {"n_grids": 8}), n_jobs=-1).fit(X, y, callback=watch)
    return max(seen)


def test_joblib_workers_do_not_oversubscribe(data):
    assert count_threads(*data) <= joblib.cpu_count()
    inside = joblib.Parallel(n_jobs=2)(joblib.delayed(count_threads)(*data) for _ in range(2))
    assert sum(inside) <= max(2, joblib.cpu_count())


def fit_in_child(connection, X, y):
    connection.send(TSLRegressor(**QUICK, n_jobs=2).fit(X, y).predict(X))


@pytest.mark.skipif("fork" not in multiprocessing.get_all_start_methods(), reason="no fork here")
@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")
def test_a_forked_child_can_fit_after_its_parent(data):
    X, y = data
    expected = TSLRegressor(**QUICK, n_jobs=2).fit(X, y).predict(X)
    context = multiprocessing.get_context("fork")
    here, there = context.Pipe()
    child = context.Process(target=fit_in_child, args=(there, X, y))
    child.start()
    assert here.poll(120)
    np.testing.assert_array_equal(here.recv(), expected)
    child.join()


def test_two_fits_at_once(data):
    X, y = data
    expected = TSLRegressor(**QUICK).fit(X, y).predict(X)
    found = {}

    def work(k):
        found[k] = TSLRegressor(**QUICK, n_jobs=2).fit(X, y).predict(X)

    threads = [threading.Thread(target=work, args=(k,)) for k in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for k in range(2):
        np.testing.assert_array_equal(found[k], expected)


def test_the_fit_depends_on_neither_location_nor_scale(data):
    X, y = data
    scores = [
        TSLRegressor(**(QUICK | {"n_stages": 4}))
        .fit(X, scale * y + shift)
        .score(X, scale * y + shift)
        for shift, scale in ((0, 1), (0, 1e-8), (0, 1e6), (100, 1), (-1e4, 1))
    ]
    assert max(scores) - min(scores) < 0.02


def test_many_levels_and_missing_values_carry_signal():
    rng = np.random.default_rng(0)
    level = rng.integers(0, 40, size=4000)
    effect = rng.normal(size=40)
    number = np.where(rng.random(4000) < 0.3, np.nan, rng.normal(size=4000))
    y = effect[level] * np.where(np.isnan(number), 3.0, 1.0) + 0.1 * rng.normal(size=4000)
    frame = pd.DataFrame({"level": [f"L{k}" for k in level], "number": number})
    model = TSLRegressor(random_state=0).fit(frame[:3000], y[:3000])
    assert model.score(frame[3000:], y[3000:]) > 0.9
    new = pd.DataFrame({"level": ["never seen", None], "number": [0.0, 0.0]})
    assert np.isfinite(model.predict(new)).all()
    # An unseen level is neutral: the same as without the feature's factors.
    assert model.predict(new)[0] == model.predict(new)[1]


def test_splits_on_levels_are_subsets():
    rng = np.random.default_rng(0)
    level = rng.integers(0, 6, size=600)
    y = np.where(np.isin(level, [0, 3, 5]), 1.0, -1.0)
    frame = pd.DataFrame({"level": level.astype(str)})
    one_split = {"refine": "scalars", "n_grids": 1, "n_splits": 1, "bootstrap": False}
    model = TSLRegressor(1, **one_split, update_clamp=3.0).fit(frame, y)
    prediction = model.predict(pd.DataFrame({"level": list("012345")}))
    assert len(np.unique(prediction.round(9))) == 2
    assert (prediction[[0, 3, 5]] > prediction[[1, 2, 4]].max()).all()
