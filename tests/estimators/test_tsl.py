import os
import pickle
import signal
import threading
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from sklearn.base import clone, is_regressor
from sklearn.exceptions import NotFittedError
from sklearn.utils.validation import check_is_fitted

from seplearn import TSLRegressor, datasets

QUICK: dict[str, Any] = {
    "n_stages": 3, "early_stopping": False, "n_grids": 4, "n_splits": 12, "random_state": 0,
}  # fmt: skip
SCALARS: dict[str, Any] = QUICK | {"refine": "scalars"}


@pytest.fixture(scope="module")
def data():
    return datasets.masked_interaction(1500, random_state=0)


def test_another_seed_is_another_model(data):
    X, y = data
    one, other = (TSLRegressor(**(QUICK | {"random_state": s})).fit(X, y) for s in (0, 1))
    assert not np.array_equal(one.predict(X), other.predict(X))


@pytest.mark.parametrize("refine", ["joint", "scalars"])
def test_history_follows_the_fit(data, refine):
    X, y = data
    model = TSLRegressor(**QUICK | {"refine": refine, "main_effects": "auto"}).fit(X, y)
    assert len(model.history_) == 3
    if refine == "scalars":  # otherwise a stage may become a main effect
        assert len(model.stages_) == 3
        assert model.model_.effects is None
    losses = [record.loss for record in model.history_]
    falling = zip(losses[1:-1], losses, strict=False)
    assert all(after < before for after, before in falling)  # the end makes curves flat
    assert losses[-1] < 0.6 * losses[0]
    assert losses[-1] == pytest.approx(np.mean((y - model.predict(X)) ** 2), rel=1e-9)
    last = model.history_[-1]
    assert last.n_grids == 4
    assert last.n_kept == 2
    assert 0 < last.mean_actions <= 36
    assert last.intercept == pytest.approx(model.intercept_, rel=1e-9)
    np.testing.assert_allclose(
        last.scalars, [(s.lambda_plus, s.lambda_minus) for s in model.stages_], rtol=1e-9
    )


def test_staged_predictions_are_the_greedy_approximants(data):
    X, y = data
    model = TSLRegressor(**SCALARS).fit(X, y)
    staged = list(model.staged_predict(X))
    for record, prediction in zip(model.history_, staged, strict=True):
        assert np.mean((y - prediction) ** 2) == pytest.approx(record.loss, rel=1e-9)
    np.testing.assert_allclose(staged[-1], model.predict(X), rtol=1e-9)
    np.testing.assert_allclose(
        next(TSLRegressor(**(SCALARS | {"n_stages": 1})).fit(X, y).staged_predict(X)),
        staged[0],
        rtol=1e-9,
    )


def test_staged_predictions_need_a_fit_that_has_them(data):
    X, y = data
    model = TSLRegressor(**QUICK).fit(X, y)
    for fitted in (model, model.set_params(refine="scalars")):
        with pytest.raises(ValueError, match="staged_predict needs a fit with refine='scalars'"):
            fitted.staged_predict(X)
    paper = TSLRegressor(**SCALARS).fit(X, y)
    with pytest.raises(ValueError, match="staged_predict needs a fit"):
        paper.select_stages([0], X, y).staged_predict(X)
    with pytest.raises(ValueError, match="X has 1 features"):
        paper.staged_predict(X[:, :1])  # at once, not at the first of them


def test_it_finds_the_masked_interaction():
    X, y = datasets.masked_interaction(5000, random_state=0)
    X_test, y_test = datasets.masked_interaction(5000, random_state=1)
    model = TSLRegressor(n_stages=4, random_state=0, n_jobs=2).fit(X, y)
    error = np.sqrt(np.mean((y_test - model.predict(X_test)) ** 2))
    assert error < 0.35 * y_test.std()


def test_decay_gives_later_stages_fewer_splits(data):
    X, y = data
    model = TSLRegressor(**(SCALARS | {"n_splits": 40, "decay": 0.1})).fit(X, y)
    actions = [record.mean_actions for record in model.history_]
    assert actions[0] >= 40
    assert actions[1] <= 12
    assert actions[2] <= 3


def test_min_gain_stops_a_grid_and_then_the_fit(data):
    X, y = data
    model = TSLRegressor(**(SCALARS | {"min_gain": 0.5, "n_stages": 10})).fit(X, y)
    assert 0 < len(model.stages_) < 10
    with pytest.warns(UserWarning, match="no stage improves on a constant"):
        constant = TSLRegressor(**(QUICK | {"min_gain": 2.0})).fit(X, y)
    np.testing.assert_allclose(constant.predict(X), y.mean(), rtol=1e-9)


@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_targets_of_one_sign_give_a_one_branch_stage(data, sign):
    X, y = data
    y = sign * (np.abs(y) + 0.1)
    model = TSLRegressor(**(QUICK | {"fit_intercept": False})).fit(X, y)
    first = model.stages_[0]
    assert (first.minus is None) == (sign > 0)
    assert (first.plus is None) == (sign < 0)
    assert (sign * model.predict_stages(X)[:, 0] > 0).all()
    assert model.score(X, y) > 0.5


def test_the_mirrored_target_gives_the_mirrored_model(data):
    X, y = data
    y = np.abs(y) + 0.1
    options: dict[str, Any] = QUICK | {"fit_intercept": False}
    up, down = (TSLRegressor(**options).fit(X, s * y).predict(X) for s in (1, -1))
    np.testing.assert_allclose(up, -down, rtol=1e-7)


def test_huber_ignores_wild_rows():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(2000, 2))
    signal = np.exp(0.5 * X[:, 0]) * (1 + (X[:, 1] > 0))
    wild = signal + np.where(rng.random(2000) < 0.03, 100.0, 0.0)
    errors = {}
    for loss in ("squared_error", "huber"):
        model = TSLRegressor(1, n_grids=4, fit_intercept=False, loss=loss, random_state=0)
        errors[loss] = np.std(model.fit(X, wild).predict(X) - signal)
    assert errors["huber"] < 0.2 * errors["squared_error"]


def test_single_products_change_sign():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(2000, 2))
    y = X[:, 0] * X[:, 1]
    model = TSLRegressor(
        **(QUICK | {"products": "single", "refine": "scalars", "n_splits": 40, "n_stages": 1})
    ).fit(X, y)
    assert model.stages_[0].plus.negative.any()
    assert model.stages_[0].minus is None
    assert model.score(X, y) > 0.8


@pytest.mark.parametrize("total", [1e-6, 1.0, 1e9, 1e308])
def test_weights_that_are_no_counts_still_fit(total):
    X, y = datasets.masked_interaction(300, random_state=0)
    weight = np.random.default_rng(0).uniform(0.5, 2.0, 300)
    weight *= total / weight.sum()
    model = TSLRegressor(**QUICK).fit(X, y, sample_weight=weight)
    same = TSLRegressor(**QUICK).fit(X, y, sample_weight=weight / weight.mean())
    # Sweeps of few rows let rounding errors grow, here up to 3 %: alike, not equal.
    assert np.std(model.predict(X) - same.predict(X)) < 0.05 * np.std(y)
    tiny = TSLRegressor(**QUICK).fit(X, y, sample_weight=np.full(300, 1e-3))
    equal = TSLRegressor(**QUICK).fit(X, y)
    assert np.std(tiny.predict(X) - equal.predict(X)) < 0.02 * np.std(y)


def test_rows_of_weight_zero_are_absent(data):
    X, y = data
    absent = np.arange(len(y)) % 7 == 0
    spoiled_X, spoiled_y = np.where(absent[:, None], 1e6, X), np.where(absent, -1e6, y)
    one = TSLRegressor(**QUICK).fit(spoiled_X, spoiled_y, sample_weight=~absent).predict(X)
    other = TSLRegressor(**QUICK).fit(X[~absent], y[~absent]).predict(X)
    np.testing.assert_array_equal(one, other)


def test_a_weight_of_two_is_the_row_twice():
    """Up to rounding, bootstrap included, where every value has a bin of its own."""
    rng = np.random.default_rng(0)
    X = rng.integers(0, 6, size=(300, 3)).astype(float)
    y = X[:, 0] * (1 + X[:, 1]) + rng.normal(size=300)
    times = rng.integers(1, 4, size=300)
    for options in (
        {},
        {"loss": "huber"},
        {"bootstrap": False},
        {"early_stopping": True, "n_stages": 2},
        {"products": "single", "refine": "scalars"},
    ):
        model = TSLRegressor(**(QUICK | options))
        weighted = clone(model).fit(X, y, sample_weight=times).predict(X)
        repeated = clone(model).fit(np.repeat(X, times, axis=0), np.repeat(y, times)).predict(X)
        np.testing.assert_allclose(weighted, repeated, rtol=1e-6, atol=1e-6 * y.std())


def test_paper_mode_fits_in_the_units_of_y(data):
    X, y = data
    model = TSLRegressor.paper(2, n_trees=10, refinement_strategy="huber", seed=0).fit(X, y + 50)
    assert model.intercept_ == 0.0
    assert model.stages_[0].minus is None
    assert model.score(X, y + 50) > 0.5


def test_huber_weighs_down_outliers_of_a_shifted_target():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(2000, 2))
    signal = 100.0 + np.exp(0.5 * X[:, 0])
    wild = signal + np.where(rng.random(2000) < 0.03, 50.0, 0.0)
    errors = [
        np.std(TSLRegressor.paper(1, n_trees=5, loss=loss, seed=0).fit(X, wild).predict(X) - signal)
        for loss in ("huber", "squared_error")
    ]
    assert errors[0] < 0.5 * errors[1]


@pytest.mark.parametrize("value", [3.5, -2.0, 0.0, 0.1])
@pytest.mark.parametrize(
    "options", [{}, {"fit_intercept": False}, {"products": "single", "refine": "scalars"}]
)
def test_a_constant_target_gives_a_constant_model(value, options):
    X = np.random.default_rng(0).normal(size=(50, 3))
    model = TSLRegressor(**(QUICK | options)).fit(X, np.full(50, value))
    np.testing.assert_allclose(model.predict(X), value, rtol=1e-9, atol=1e-6)


def test_constant_features_and_few_rows():
    X = np.column_stack([np.ones(20), np.arange(20.0)])
    model = TSLRegressor(**(QUICK | {"min_interval_samples": 1})).fit(X, X[:, 1] > 9)
    assert model.predict([[1.0, 0.0], [1.0, 19.0]]).round().tolist() == [0.0, 1.0]
    assert TSLRegressor(**QUICK).fit([[1.0]], [2.0]).predict([[7.0]]) == pytest.approx(2.0)
    with pytest.warns(UserWarning, match="no stage improves on a constant"):
        constant = TSLRegressor(**QUICK).fit(np.ones((9, 2)), np.arange(9.0))
    np.testing.assert_allclose(constant.predict(np.ones((9, 2))), 4.0)


def test_targets_of_other_types(data):
    X, y = data
    for target in (y.astype(np.float32), np.round(y).astype(int), y > 0):
        model = TSLRegressor(**QUICK).fit(X.astype(np.float32), target)
        assert model.predict(X.astype(np.float32)).dtype == np.float64
        assert np.isfinite(model.predict(X)).all()


def test_values_outside_the_training_range_get_the_edge_bin(data):
    X, y = data
    model = TSLRegressor(**QUICK).fit(X, y)
    edge = np.tile(X.max(axis=0), (1, 1))
    np.testing.assert_array_equal(model.predict(edge), model.predict(edge + 1e9))


def test_it_is_a_scikit_learn_regressor(data):
    X, y = data
    model = TSLRegressor(**QUICK)
    assert is_regressor(model)
    with pytest.raises(NotFittedError):
        model.predict(X)
    with pytest.raises(NotFittedError):
        _ = model.stages_
    with pytest.raises(NotFittedError):
        _ = model.intercept_
    fitted = clone(model).fit(X, y)
    assert clone(fitted).get_params() == model.get_params()
    again = pickle.loads(pickle.dumps(fitted))
    np.testing.assert_array_equal(again.predict(X), fitted.predict(X))
    assert fitted.n_features_in_ == 3
    assert "n_stages=3" in repr(model)


def test_progress_goes_to_standard_error_and_only_when_asked(data, capfd):
    X, y = data
    TSLRegressor(**QUICK).fit(X, y)
    assert capfd.readouterr() == ("", "")
    TSLRegressor(**QUICK, verbose=True).fit(X, y)
    printed = capfd.readouterr()
    assert printed.out == ""
    assert "stage 3 of" in printed.err
    assert "loss" in printed.err


@pytest.mark.skipif(os.name != "posix", reason="sends a signal")
def test_interrupting_a_fit_leaves_everything_as_it_was(data):
    X, y = data
    model = TSLRegressor(**QUICK).fit(X[:, 1:], y)
    before = model.predict(X[:, 1:])
    # One grid that would take minutes: the signal arrives while a kernel runs.
    many = np.tile(X, (40, 1)) + np.random.default_rng(0).normal(size=(60_000, 3))
    model.set_params(n_stages=1, n_grids=1, n_splits=1_000_000, max_bins=4095)
    timer = threading.Timer(2.0, os.kill, (os.getpid(), signal.SIGINT))
    # A process started in the background may have been told to ignore the signal.
    handler = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        timer.start()
        with pytest.raises(KeyboardInterrupt):
            model.fit(many, np.tile(y, 40))
        timer.join()
    finally:
        signal.signal(signal.SIGINT, handler)
    for thread in threading.enumerate():
        if thread.name.startswith("seplearn"):
            thread.join()  # the kernel sees the stop flag: otherwise this would wait for it
    assert model.n_features_in_ == 2
    np.testing.assert_array_equal(model.predict(X[:, 1:]), before)
    with pytest.raises(NotFittedError):
        check_is_fitted(clone(model))
    assert TSLRegressor(**QUICK).fit(X, y).score(X, y) > 0.5


def test_paper_mode_and_its_names():
    two, ten = TSLRegressor.paper(), TSLRegressor.paper(10)
    assert (two.n_stages, two.n_grids) == (2, 200)
    assert (ten.n_stages, ten.n_grids) == (10, 500)
    assert two.scalars == "ols"
    assert not two.fit_intercept
    named = TSLRegressor.paper(
        epochs=4,
        n_trees=7,
        n_iter=11,
        similarity_threshold=0.25,
        update_clamp=2.0,
        colsample_bytree=0.5,
        refinement_strategy="huber",
        alpha=0.1,
        seed=3,
    )
    assert (named.n_stages, named.n_grids, named.n_splits) == (4, 7, 11)
    assert (named.trim, named.colsample, named.loss, named.ridge) == (0.25, 0.5, "huber", 0.1)
    assert named.random_state == 3
    theirs = TSLRegressor.paper(colsample_bysplit=0.5, update_clamp=np.inf, verbosity=0)
    assert (theirs.colsample, theirs.update_clamp, theirs.verbose) == (0.5, 300.0, 0)
    with pytest.raises(TypeError, match="'tilt_tau' of tensorsl has no counterpart here"):
        TSLRegressor.paper(tilt_tau=0.01)
    with pytest.raises(TypeError, match="n_stages is given twice"):
        TSLRegressor.paper(10, epochs=4)
    with pytest.raises(TypeError, match="unknown parameter 'n_tree'"):
        TSLRegressor.paper(n_tree=5)
    with pytest.raises(TypeError, match="n_splits is given twice, once as 'n_iter'"):
        TSLRegressor.paper(n_splits=5, n_iter=6)


def test_a_callback_sees_every_stage_and_may_stop_the_fit(data):
    X, y = data
    seen = []

    def watch(stage, record):
        seen.append((stage, record))
        return np.int64(len(seen)) == 2  # a truth value of NumPy

    model = TSLRegressor(**QUICK).fit(X, y, callback=watch)
    assert len(seen) == len(model.stages_) == len(model.history_) == 2
    assert seen[0][0].is_two_branch
    told = [record for _, record in seen]
    assert told[:-1] == model.history_[:-1]
    assert told[-1].seconds == model.history_[-1].seconds
    assert told[-1].loss == pytest.approx(model.history_[-1].loss, rel=0.05)  # before the end
    with pytest.raises(TypeError, match="callback must be a callable or None, got 3"):
        TSLRegressor(**QUICK).fit(X, y, callback=3)


def test_numpy_scalars_are_good_parameters(data):
    X, y = data
    plain = TSLRegressor(**QUICK).fit(X, y).predict(X)
    numbers: dict[str, Any] = {k: np.uint64(v) for k, v in QUICK.items() if k.startswith("n_")}
    numbers["early_stopping"] = np.bool_(False)
    numbers |= {"random_state": np.int64(0), "trim": np.float64(0.5)}
    scalars = TSLRegressor(**numbers).fit(X, y)
    np.testing.assert_array_equal(scalars.predict(X), plain)


def test_numbers_of_any_kind_are_parameters():
    X, y = datasets.masked_interaction(200, random_state=0)
    given = {"n_stages": np.int8(2), "n_grids": np.uint64(2), "trim": np.float32(0.5)}
    odd = {"energy": Fraction(1, 4), "ridge": np.longdouble(0.25), "fit_intercept": np.True_}
    plain = {"n_stages": 2, "n_grids": 2, "trim": 0.5, "energy": 0.25, "ridge": 0.25}
    fits = [
        TSLRegressor(**kind, early_stopping=False, random_state=0).fit(X, y).predict(X)
        for kind in (given | odd, plain)
    ]
    np.testing.assert_array_equal(*fits)


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_eighty_rows_are_not_followed_one_by_one(seed):
    rng = np.random.default_rng(seed)
    X, new = rng.normal(size=(80, 3)), rng.normal(size=(1000, 3))
    model = TSLRegressor(random_state=0).fit(X, X.sum(axis=1) + rng.normal(size=80))
    assert model.score(new, new.sum(axis=1)) > 0.75
