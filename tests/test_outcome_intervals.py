"""Intervals of single outcomes, from rows that the fit held out."""

import numpy as np
import pytest

from seplearn import SepALSRegressor, TSLClassifier, TSLRegressor, load_model, merge
from seplearn.fitting.spread import _quantiles

QUICK = {"n_stages": 2, "random_state": 0}


def table(n, seed):
    """Noise that grows ninefold along the first feature."""
    random = np.random.default_rng(seed)
    X = random.uniform(-1.0, 1.0, size=(n, 3))
    y = 5.0 + 4.0 * X[:, 1] + 2.0 * X[:, 0] * X[:, 1] + 3.0 ** X[:, 0] * random.normal(size=n)
    return X, y


@pytest.fixture(scope="module")
def fitted():
    return TSLRegressor(**QUICK).fit(*table(1500, 0))


def share_inside(ends, y):
    return float(np.mean((ends[:, 0] <= y) & (y <= ends[:, 1])))


@pytest.mark.parametrize("level", [0.5, 0.9, 0.98])
def test_as_many_outcomes_lie_inside_as_promised(fitted, level):
    X, y = table(4000, 1)
    low, high = fitted.predict_interval(X, level).T
    assert share_inside(np.column_stack([low, high]), y) == pytest.approx(level, abs=0.03)
    assert np.mean(y < low) == pytest.approx(np.mean(y > high), abs=0.03)


def test_widths_follow_the_row_so_that_the_share_holds_where_noise_is_small_or_large(fitted):
    X, y = table(4000, 1)
    ends = fitted.predict_interval(X)
    quiet, loud = X[:, 0] < -0.5, X[:, 0] > 0.5
    # One width for all would hold them all where it is quiet, and 0.69 of them where it is loud.
    assert 0.86 < share_inside(ends[quiet], y[quiet]) < 0.97
    assert 0.85 < share_inside(ends[loud], y[loud]) < 0.95
    widths = ends[:, 1] - ends[:, 0]
    assert widths[loud].mean() > 3.0 * widths[quiet].mean()


def test_intervals_nest_are_saved_and_follow_the_unit(fitted, tmp_path):
    X, _ = table(200, 2)
    narrow, wide = fitted.predict_interval(X, 0.5), fitted.predict_interval(X, 0.95)
    assert (wide[:, 0] < narrow[:, 0]).all()
    assert (narrow[:, 1] < wide[:, 1]).all()
    fitted.save(tmp_path / "m.tsl")
    np.testing.assert_array_equal(load_model(tmp_path / "m.tsl").predict_interval(X, 0.95), wide)
    Z, y = table(1500, 0)
    other = TSLRegressor(**QUICK, n_jobs=2).fit(Z, 1024.0 * y)
    np.testing.assert_allclose(other.predict_interval(X, 0.95), 1024.0 * wide, rtol=1e-6)


@pytest.mark.parametrize(
    "options", [{"loss": "huber"}, {"loss": "quantile", "quantile": 0.8}], ids=["huber", "quantile"]
)
def test_any_loss_of_numbers_has_them(options):
    X, y = table(3000, 1)
    model = TSLRegressor(**QUICK, **options).fit(*table(800, 0))
    assert share_inside(model.predict_interval(X), y) == pytest.approx(0.9, abs=0.04)


def test_counts_have_them_with_their_exposure_and_never_below_zero():
    random = np.random.default_rng(0)
    X = random.uniform(-1.0, 1.0, size=(3000, 2))
    offset = random.normal(size=3000)
    y = random.poisson(3.0 * np.exp(X[:, 0] + offset))
    model = TSLRegressor(**QUICK, loss="poisson").fit(X[:1500], y[:1500], offset=offset[:1500])
    ends = model.predict_interval(X[1500:], offset=offset[1500:])
    assert share_inside(ends, y[1500:]) == pytest.approx(0.9, abs=0.05)
    assert (ends >= 0.0).all()
    assert np.corrcoef(np.log(ends[:, 1]), offset[1500:] + X[1500:, 0])[0, 1] > 0.9


def test_an_eval_set_is_held_out_too_and_so_is_what_a_constant_is_off():
    X, y = table(600, 0)
    unseen = table(2000, 1)
    random = np.random.default_rng(0)
    model = TSLRegressor(**QUICK).fit(X, y, eval_set=table(300, 3))
    assert share_inside(model.predict_interval(unseen[0]), unseen[1]) == pytest.approx(
        0.9, abs=0.05
    )
    with pytest.warns(UserWarning, match="no stage improves on a constant"):
        constant = TSLRegressor(**QUICK).fit(X, random.normal(size=600))
    ends = constant.predict_interval(X)
    assert np.ptp(ends, axis=0) == pytest.approx([0.0, 0.0])
    assert ends[0] == pytest.approx([-1.64, 1.64], abs=0.25)


def test_weights_are_numbers_of_rows():
    scores = np.array([3.0, -1.0, 2.0])
    repeated = np.repeat(scores, [1, 2, 3])
    found = _quantiles(scores, np.array([1.0, 2.0, 3.0]))
    np.testing.assert_array_equal(found, np.sort(repeated))
    np.testing.assert_array_equal(_quantiles(repeated, np.ones(6)), np.sort(repeated))
    many = _quantiles(np.arange(100_000.0), np.ones(100_000))
    np.testing.assert_allclose(many, np.arange(1, 1001) / 1001 * 1e5, atol=1.0)


def test_few_rows_cannot_promise_much(fitted):
    X, y = table(30, 0)
    model = TSLRegressor(**QUICK).fit(X, y)
    assert np.isfinite(model.predict_interval(X, 0.9)).all()
    for level in (0.94, 0.99):
        with pytest.raises(ValueError, match=r"level must be at most 0.9355, as 30 held-out"):
            model.predict_interval(X, level)
    # One of twenty is just enough: rounding must not say otherwise.
    nineteen = TSLRegressor(**QUICK, early_stopping=True).fit(X[:19], y[:19])
    assert np.isfinite(nineteen.predict_interval(X, 0.9)).all()


def test_what_has_no_rows_held_out_says_so(fitted):
    X, y = table(200, 0)
    bare = [
        TSLRegressor(n_stages=1, early_stopping=False).fit(X, y),
        SepALSRegressor().fit(X, y),
        fitted.select_stages([0]),
        fitted.edit().flatten(0).apply(reason="x"),
        merge([fitted, fitted]),
    ]
    for model in bare:
        with pytest.raises(
            ValueError,
            match=r"kind='outcome'\) is not for an edited or merged model"
            if model.edits_
            else r"kind='outcome'\) needs a fit that held rows out",
        ):
            model.predict_interval(X)


def test_kinds_are_checked_and_classes_refer_to_probabilities(fitted):
    X, y = table(100, 0)
    with pytest.raises(ValueError, match="kind must be one of 'outcome', 'mean', got 'median'"):
        fitted.predict_interval(X, kind="median")
    with pytest.raises(TypeError, match="kind must be one of"):
        fitted.predict_interval(X, kind=1)
    with pytest.raises(ValueError, match="level must be a number between 0 and 1"):
        fitted.predict_interval(X, 1.5)
    classes = TSLClassifier(n_stages=1, early_stopping=False).fit(X, y > 5)
    with pytest.raises(ValueError, match="predict_proba says how likely"):
        classes.predict_interval(X, kind="outcome")
