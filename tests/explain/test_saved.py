"""Explanations of a model from a file, and what a file reveals."""

import copy
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from safetensors.numpy import load

from seplearn import TSLRegressor, explain, load_model
from seplearn.model import Stage
from tests.explained import (
    EFFECTS,
    EXPLANATIONS,
    FITTED,
    NAMES,
    OVER_ROWS,
    QUICK,
    assert_close,
    assert_same,
    joint,
    table,
)

GOLDEN = Path(__file__).parents[1] / "golden"
WITHOUT_ROWS = ("curves", "curve", "local", "tilt")


def through_a_file(model, folder):
    model.save(folder / "m.tsl")
    return load_model(folder / "m.tsl")


@pytest.mark.parametrize("make", FITTED.values(), ids=FITTED.keys())
def test_a_loaded_model_is_explained_alike_without_training_data(make, tmp_path):
    case = make()
    again = through_a_file(case.subject, tmp_path)
    effects = {} if case.model.effects is None else EFFECTS
    for name, explanation in (EXPLANATIONS | effects).items():
        if name == "maps" and case.model.stages[0].is_signed:
            continue
        mine, theirs = (explanation(model, case.X[:5]) for model in (case.subject, again))
        assert_same(theirs, mine)
        assert type(theirs.frame()) is type(mine.frame())


def test_a_flat_curve_stays_exactly_flat(tmp_path):
    """In the model, in its file and in what explains it."""
    model = copy.copy(joint().subject)
    bins = model.model_.bins
    stage = next(stage for stage in model.stages_ if {2, 4} < set(stage.features(bins)))
    others = tuple(j for j in stage.features(bins) if j != 2)

    def flattened(branch, j):
        logs = branch.log_factors.copy()
        logs[bins.axis(j)] = 0.0
        return replace(branch, log_factors=logs)

    stage = Stage(flattened(stage.plus, 2), flattened(flattened(stage.minus, 2), 4))
    model._store(model._schema, replace(model.model_, stages=(stage,)), [])
    again = through_a_file(model, tmp_path)
    assert again.stages_[0].features(bins) == others
    curve = explain.curves(again, 0)[2]
    np.testing.assert_array_equal(curve.backbone, 1.0)
    np.testing.assert_array_equal(curve.tilt, 0.0)
    assert explain.roles(again).stages[0].features[2].role == "idle"
    np.testing.assert_array_equal(explain.local(again, joint().X, 3).backbone_share[0, 2], 0.0)
    np.testing.assert_allclose(explain.shapley(again, joint().X[:4]).values[:, 2], 0.0, atol=1e-12)
    assert explain.interactions(again).total[2] == 0.0


@pytest.fixture(scope="module")
def bare(tmp_path_factory):
    """A model that keeps no reference rows, from its file."""
    X, y = table()
    model = TSLRegressor(**QUICK, background_size=0).fit(X, y)
    assert model.model_.reference is None
    return through_a_file(model, tmp_path_factory.mktemp("files"))


@pytest.mark.parametrize("name", OVER_ROWS)
def test_without_reference_rows_a_background_is_asked_for(bare, name):
    X = table()[0]
    with pytest.raises(ValueError, match=r"background must be given: .*background_size=0"):
        EXPLANATIONS[name](bare, X)
    # The rows are all that was missing.
    assert_same(OVER_ROWS[name](bare, X), OVER_ROWS[name](joint().subject, X))


def test_without_reference_rows_single_rows_are_asked_for_by_their_name(bare):
    X = table()[0]
    with pytest.raises(ValueError, match="X must be given"):
        explain.ice(bare, 0)
    assert_same(explain.ice(bare, 0, X), explain.ice(joint().subject, 0, X))


@pytest.mark.parametrize("name", WITHOUT_ROWS)
def test_what_averages_over_nothing_needs_no_rows(bare, name):
    case = joint()
    mine, theirs = (EXPLANATIONS[name](model, case.X) for model in (bare, case.subject))
    assert_same(mine, theirs)


def test_maps_without_rows_know_of_no_support(bare):
    case = joint()
    mine, theirs = (explain.maps(model, 0, (0, 1)) for model in (bare, case.subject))
    assert mine.support is None
    np.testing.assert_array_equal(mine.backbone, theirs.backbone)
    mine.plot().draw_without_rendering()


def test_stages_are_selected_without_reference_rows(bare):
    X, y = table()
    assert_close(bare.select_stages([0]).predict(X), bare.intercept_ + bare.predict_stages(X)[:, 0])
    assert len(bare.select_stages([0], X, y).stages_) == 1


def stored(model, folder):
    model.save(folder / "m.tsl")
    return (folder / "m.tsl").read_bytes()


def test_a_file_without_background_holds_no_rows(tmp_path):
    X, y = table()
    model = TSLRegressor(**QUICK, background_size=0).fit(X, y)
    data = stored(model, tmp_path)
    assert not [name for name in load(data) if "reference" in name]
    assert b"reference" not in data
    # The same model with rows does hold them, or the test above would prove nothing.
    assert "reference_codes" in load(stored(joint().subject, tmp_path))


def test_at_most_so_many_rows_are_kept(tmp_path):
    X, y = table()
    for size, kept in ((1, 1), (150, 150), (400, 400), (5000, 400)):
        model = TSLRegressor(**QUICK, background_size=size).fit(X, y)
        codes = load(stored(model, tmp_path))["reference_codes"]
        assert codes.shape == (kept, 5)


def values_found(data, values):
    """Those of the values whose bytes, or digits, are in a file."""
    return [v for v in values if np.float64(v).tobytes() in data or repr(float(v)).encode() in data]


@pytest.mark.parametrize("options", [{}, {"background_size": 0}, {"n_bootstrap": 2}])
def test_a_file_never_has_a_value_of_a_continuous_column(options, tmp_path):
    X, y = table()
    for max_bins in (10, 255):
        model = TSLRegressor(**QUICK | {"max_bins": max_bins} | options).fit(X, y)
        data = stored(model, tmp_path)
        for column in NAMES[:2]:
            assert values_found(data, X[column].dropna()) == []
        assert values_found(data, y) == []
    assert values_found(data, [float(v) for v in model.model_.bins.axes[1].edges[:3]]) != []


def test_nor_does_the_file_of_a_small_table(tmp_path):
    """Thirty distinct measurements are as private as three thousand."""
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"measured": rng.normal(size=30)})
    model = TSLRegressor(1, early_stopping=False, background_size=0, random_state=0)
    model.fit(X, X["measured"] ** 2)
    assert values_found(stored(model, tmp_path), X["measured"]) == []


def test_values_that_many_rows_share_are_remembered(tmp_path):
    again = through_a_file(joint().subject, tmp_path)
    np.testing.assert_array_equal(again.model_.bins.axes[2].values, [0.0, 1.0])
    np.testing.assert_array_equal(again.model_.bins.axes[4].values, np.arange(7.0))
    assert again.model_.bins.axes[0].values is None


def test_a_file_without_reference_rows_is_explained():
    path = GOLDEN / "single-v4.tsl"
    model = load_model(path)
    rows = pd.read_json(path.with_suffix(".json"), typ="series")["rows"]
    X = pd.DataFrame(rows)
    with pytest.raises(ValueError, match="background must be given"):
        explain.partial_dependence(model, 0)
    for explanation in OVER_ROWS.values():
        explanation(model, X)
    result = explain.shapley(model, X, background=X)
    assert_close(result.base + result.values.sum(axis=1), model.predict(X), 1e-9)
    local = explain.local(model, X, 1)
    assert local.prediction == pytest.approx(model.predict(X)[1], rel=1e-12)
    assert isinstance(local.frame(), pd.DataFrame)
