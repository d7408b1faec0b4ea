"""The baseline: against plain least squares, as an estimator, and through the explanations."""

from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.utils.estimator_checks import check_estimator

from seplearn import SepALSRegressor, datasets, explain, load_model
from seplearn._params import SepALSParameters
from seplearn._workers import SerialWorkers
from seplearn.fitting.basis import axis_basis
from seplearn.fitting.options import TrainingData
from seplearn.fitting.sepals import fit_sepals
from seplearn.table.binning import bin_centres, bin_table
from seplearn.table.columns import open_table
from tests import naive_sepals

QUICK: dict[str, Any] = {"rank": 2, "degree": 3, "max_sweeps": 15, "random_state": 0}


def mixed(n=400):
    rng = np.random.default_rng(0)
    X = pd.DataFrame(
        {
            "x": np.where(rng.random(n) < 0.1, np.nan, rng.uniform(-1, 1, n)),
            "z": rng.uniform(-1, 1, n),
            "level": rng.choice(["a", "b", None], n, p=[0.5, 0.4, 0.1]),
        }
    )
    sign = X["level"].map({"a": 1.0, "b": -1.0}).fillna(0.3).astype(float)
    y = np.nan_to_num(X["x"], nan=0.4) ** 2 * sign * (1 + X["z"]) + rng.normal(0, 0.05, n)
    return X, y.to_numpy()


@pytest.mark.no_cover
@pytest.mark.filterwarnings("ignore")
def test_check_estimator():
    results = check_estimator(SepALSRegressor(n_init=1), on_skip=None, on_fail=None)
    failed = {r["check_name"] for r in results if r["status"] == "failed"}
    assert failed == set()


@pytest.mark.parametrize("basis", ["tent", "monomial"])
@pytest.mark.parametrize("fit_intercept", [True, False])
def test_a_fit_is_that_of_plain_least_squares(basis, fit_intercept):
    """The same start, the same sweeps; once by sums over bins, once by a dense problem per mode."""
    rng = np.random.default_rng(1)
    X = rng.uniform(-1, 1, size=(150, 3))
    y = X[:, 0] ** 2 * X[:, 1] + 0.5 * X[:, 2] + 2.0 * (not fit_intercept)
    weight = rng.uniform(0.5, 2.0, 150)
    table = open_table(X)
    bins, codes = bin_table(table, weight, np.zeros(3, bool), 4095, 5, lambda f, c: [*map(f, c)])
    data, centres = TrainingData(bins, codes, y, weight), bin_centres(table, bins, codes)
    options = SepALSParameters(
        2, basis=basis, degree=3, ridge=1e-2, smoothness=0.1, penalty_kind="degree", max_sweeps=4,
        tol=0.0, n_init=1, fit_intercept=fit_intercept,
    )  # fmt: skip
    axes = [
        axis_basis(bins.axes[j], centres[bins.axis(j)], bins.frequencies[bins.axis(j)], basis, 3)
        for j in range(3)
    ]
    seed = np.random.SeedSequence(7)
    model, loss, n_sweeps = fit_sepals(
        data, centres, options, seed, SerialWorkers(np.zeros(1, bool))
    )
    designs = [axis.values[codes[:, j]] for j, axis in enumerate(axes)]
    random = np.random.default_rng(np.random.SeedSequence(7).spawn(1)[0])
    start = []
    for design, axis in zip(designs, axes, strict=True):
        c = 0.1 * random.normal(size=(axis.values.shape[1], 2))
        c[0] += 1.0  # the constant is the first function of both bases
        start.append(c / np.sqrt(weight / weight.sum() @ (design @ c) ** 2))
    penalties = [1e-2 + 0.1 * axis.order for axis in axes]
    expected = naive_sepals.fit(designs, penalties, start, y, weight, 4, fit_intercept)
    assert n_sweeps == 4
    np.testing.assert_allclose(model.predict(codes), expected, rtol=1e-6, atol=1e-6)
    assert loss == pytest.approx(np.average((y - expected) ** 2, weights=weight), rel=1e-6)


def test_it_finds_one_smooth_product():
    X, y = datasets.masked_interaction(5000, random_state=0)
    X_test, y_test = datasets.masked_interaction(5000, random_state=1)
    little: dict[str, Any] = {"ridge": 1e-6, "smoothness": 1e-3}
    model = SepALSRegressor(1, basis="monomial", degree=2, random_state=0, **little).fit(X, y)
    error = np.sqrt(np.mean((y_test - model.predict(X_test)) ** 2))
    assert error < 1.05 * datasets.MASKED_INTERACTION_NOISE


def test_levels_and_missing_values_are_learned():
    X, y = mixed()
    model = SepALSRegressor(**QUICK).fit(X, y)
    assert model.score(X, y) > 0.9
    with pytest.warns(UserWarning, match="none of its values was seen by fit"):
        assert np.isfinite(model.predict(X.assign(level="never seen"))).all()


def test_results_do_not_depend_on_threads_and_follow_the_unit_of_y():
    X, y = mixed()
    one = SepALSRegressor(**QUICK).fit(X, y).predict(X)
    two = SepALSRegressor(**QUICK, n_jobs=2).fit(X, y).predict(X)
    np.testing.assert_array_equal(one, two)
    np.testing.assert_allclose(SepALSRegressor(**QUICK).fit(X, 8.0 * y).predict(X), 8.0 * one)


def test_a_weight_is_a_repetition():
    X, y = mixed(200)
    weight = np.arange(200) % 3
    repeated = np.repeat(np.arange(200), weight)
    options: dict[str, Any] = QUICK | {"min_category_count": 1, "max_sweeps": 3}
    one = SepALSRegressor(**options).fit(X, y, weight).predict(X)
    other = SepALSRegressor(**options).fit(X.iloc[repeated], y[repeated]).predict(X)
    np.testing.assert_allclose(one, other, rtol=1e-6, atol=1e-6)


def test_it_is_saved_and_explained_exactly(tmp_path):
    X, y = mixed()
    model = SepALSRegressor(**QUICK).fit(X, y)
    model.save(tmp_path / "m.tsl")
    again = load_model(tmp_path / "m.tsl")
    assert isinstance(again, SepALSRegressor)
    assert again.get_params() == model.get_params()
    assert again.n_sweeps_ == model.n_sweeps_ > 0
    record = again.history_[0]
    assert (record.n_sweeps, record.mean_actions) == (model.n_sweeps_, 0.0)
    # Files of 0.1.0 have the number in the field for the steps of a grid.
    again.history_ = [replace(record, n_sweeps=None, mean_actions=7.0)]
    assert again.n_sweeps_ == 7
    with pytest.raises(AttributeError, match="n_sweeps_ is of a fit"):
        again.select_stages([0]).n_sweeps_  # noqa: B018
    np.testing.assert_array_equal(again.predict(X), model.predict(X))
    edited = X.assign(z=0.25)
    dependence = explain.partial_dependence(again, "z", background=X)
    assert dependence.at(edited[:1]) == pytest.approx(model.predict(edited).mean(), rel=1e-9)
    local = explain.local(again, X, 3)
    assert local.intercept + local.contributions.sum() == pytest.approx(model.predict(X)[3])
    values = explain.shapley(again, X[:4])
    np.testing.assert_allclose(values.base + values.values.sum(axis=1), model.predict(X[:4]))


def test_its_curves_have_signs_and_say_that_they_have_no_backbone():
    X, y = mixed()
    model = SepALSRegressor(**QUICK).fit(X, y)
    curve = explain.curves(model, 0)["level"]
    assert curve.backbone is None
    assert curve.tilt is None
    stages = [explain.curves(model, s) for s in range(2)]
    assert any((curve.plus < 0).any() for curves in stages for curve in curves)
    with pytest.raises(ValueError, match="stage 0 has no backbone: its factors may be negative"):
        explain.maps(model, 0, ("x", "z"))
    texts = explain.curves(model, 0)["x"].plot().axes[1].texts
    assert texts[0].get_text() == "no backbone:\nfactors have signs"


def test_a_restart_can_only_help_and_more_sweeps_are_bounded():
    X, y = mixed()
    losses = [
        SepALSRegressor(**QUICK | {"n_init": n, "tol": 0.0}).fit(X, y).history_[0].loss
        for n in (1, 4)
    ]
    assert losses[1] <= losses[0]
    assert SepALSRegressor(**QUICK | {"max_sweeps": 2, "tol": 0.0}).fit(X, y).n_sweeps_ == 2


def test_bad_parameters_are_named():
    X, y = mixed(50)
    bad: dict[str, Any] = {"rank": 0, "basis": "spline", "degree": 40, "ridge": -1.0}
    for name, value in bad.items():
        with pytest.raises((TypeError, ValueError), match=f"{name} must be"):
            SepALSRegressor(**{name: value}).fit(X, y)


def test_it_has_no_offsets():
    X, y = datasets.masked_interaction(200, random_state=0)
    model = SepALSRegressor(rank=1, n_init=1, random_state=0).fit(X, y)
    with pytest.raises(ValueError, match="offset must be None, as SepALSRegressor is fitted"):
        model.evaluate(X, y, offset=np.zeros(200))


def test_a_constant_is_fitted():
    X = np.ones((20, 2))
    model = SepALSRegressor(random_state=0).fit(X, np.full(20, 3.0))
    np.testing.assert_allclose(model.predict(X), 3.0)


def test_sweeps_that_overflow_end_with_the_way_out(monkeypatch):
    def fail(matrix, vector):
        return matrix, vector, 1

    monkeypatch.setattr("seplearn.fitting.sepals.dposv", fail)
    X, y = mixed(60)
    with pytest.raises(ValueError, match="diverged from every start; raise ridge or smoothness"):
        SepALSRegressor(**QUICK).fit(X, y)


def small_problem(seed, n=60):
    """Two products that cancel where there are rows, and nothing that holds them elsewhere."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 2))
    level = np.array(list("abcd"))[np.digitize(X[:, 1], [-1.0, 0.0, 1.0])]
    y = X[:, 0] * X[:, 1] + 0.1 * rng.normal(size=n)
    return pd.DataFrame({"x": X[:, 0], "z": X[:, 1], "level": level}), y


@pytest.mark.filterwarnings("ignore:column .level")
@pytest.mark.parametrize("seed", [9, 15, 21])
@pytest.mark.parametrize("basis", ["tent", "monomial"])
@pytest.mark.parametrize(("column", "value"), [("x", np.nan), ("level", "new"), ("level", None)])
def test_a_value_never_seen_gives_a_prediction_between_those_of_training_values(
    seed, basis, column, value
):
    X, y = small_problem(seed)
    X = X[["x", "level"]] if column == "level" else X[["x", "z"]]
    weight = 10.0 ** np.random.default_rng(seed).choice([-200.0, 0.0, 0.5], len(y))
    model = SepALSRegressor(rank=4, basis=basis, random_state=0).fit(X, y, weight)
    unseen = model.predict(X.assign(**{column: value}))
    with_each = np.array([model.predict(X.assign(**{column: known})) for known in X[column]])
    slack = 1e-9 * np.abs(with_each).max()
    assert (unseen >= with_each.min(axis=0) - slack).all()
    assert (unseen <= with_each.max(axis=0) + slack).all()


@pytest.mark.parametrize("seed", range(4))
def test_a_single_missing_value_in_training_does_not_spoil_the_others(seed):
    X, y = small_problem(seed)
    X = X[["x", "z"]].copy()
    X.iloc[0, 0] = X.iloc[1, 1] = np.nan
    for basis in ("tent", "monomial"):
        model = SepALSRegressor(basis=basis, random_state=0).fit(X, y)
        for column in X.columns:
            assert np.abs(model.predict(X.assign(**{column: np.nan}))).max() < 3 * np.abs(y).max()
