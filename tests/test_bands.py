"""Bootstrap replicates: intervals of predictions and bands of curves."""

from typing import Any

import numpy as np
import pytest

from seplearn import TSLRegressor, datasets, explain, load_model
from seplearn.plots import plot_curves

OPTIONS: dict[str, Any] = {
    "n_stages": 2,
    "early_stopping": False,
    "n_bootstrap": 12,
    "random_state": 0,
}


@pytest.fixture(scope="module")
def fitted():
    X, y = datasets.masked_interaction(600, random_state=0)
    return TSLRegressor(**OPTIONS).fit(X, y), X, y


def test_intervals_hold_the_prediction_mostly_and_nest(fitted):
    model, X, _ = fitted
    narrow, wide = (
        model.predict_interval(X, 0.5, kind="mean"),
        model.predict_interval(X, 0.95, kind="mean"),
    )
    assert narrow.shape == (600, 2)
    assert (wide[:, 0] <= narrow[:, 0]).all()
    assert (narrow[:, 1] <= wide[:, 1]).all()
    prediction = model.predict(X)
    assert np.mean((wide[:, 0] <= prediction) & (prediction <= wide[:, 1])) > 0.8


def test_replicates_are_models_of_the_same_stages(fitted):
    model, X, y = fitted
    replicates = model.model_.replicates
    assert len(replicates) == 12
    for replicate in replicates:
        assert len(replicate.stages) == 2
        codes = model._codes(X)
        assert np.mean((replicate.predict(codes) - y) ** 2) < 0.5 * y.var()
    assert len({replicate.intercept for replicate in replicates}) == 12


def test_bands_are_saved_scaled_and_independent_of_threads(fitted, tmp_path):
    model, X, y = fitted
    interval = model.predict_interval(X, kind="mean")
    model.save(tmp_path / "m.tsl")
    np.testing.assert_array_equal(
        load_model(tmp_path / "m.tsl").predict_interval(X, kind="mean"), interval
    )
    threads = TSLRegressor(**OPTIONS, n_jobs=2).fit(X, y)
    np.testing.assert_array_equal(threads.predict_interval(X, kind="mean"), interval)
    many = np.concatenate([X] * (10_000 // len(X) + 1))  # more rows than are predicted at a time
    again = np.concatenate([interval] * (10_000 // len(X) + 1))
    np.testing.assert_array_equal(model.predict_interval(many, kind="mean"), again)
    scaled = TSLRegressor(**OPTIONS).fit(X, 4.0 * y)
    np.testing.assert_allclose(scaled.predict_interval(X, kind="mean"), 4.0 * interval, rtol=1e-9)


def test_curves_have_bands_and_they_are_drawn(fitted):
    model, X, y = fitted
    curves = explain.curves(model, 0, level=0.8)
    for curve in curves:
        assert set(curve.bands) == {"plus", "minus", "backbone", "tilt"}
        for part, (low, high) in curve.bands.items():
            assert (low <= high).all()
            assert low.shape == getattr(curve, part).shape
    plain = explain.curves(TSLRegressor(**OPTIONS | {"n_bootstrap": 0}).fit(X, y), 0)
    assert plain[0].bands == {}
    patches = [len(plot_curves(c).axes[0].patches) for c in (plain, curves)]
    assert patches == [2, 4]


@pytest.mark.parametrize("level", [0, 1, 1.0, 2, -0.5, np.nan, "0.9", True, None])
def test_one_rule_for_the_level_of_every_band(fitted, level):
    model, X, _ = fitted
    for call in (
        lambda: model.predict_interval(X, level, kind="mean"),
        lambda: explain.curves(model, 0, level=level),
    ):
        with pytest.raises(ValueError, match="level must be a number between 0 and 1, got"):
            call()


def test_what_needs_replicates_says_so(fitted):
    _, X, y = fitted
    bare = TSLRegressor(n_stages=1, early_stopping=False).fit(X, y)
    constant = TSLRegressor(n_stages=1, early_stopping=False).fit(X, np.full(len(X), 3.0))
    for model in (bare, constant):
        with pytest.raises(ValueError, match=r"predict_interval\(kind='mean'\) needs bootstrap"):
            model.predict_interval(X, kind="mean")
