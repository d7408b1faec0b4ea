"""TSLRegressor with losses of counts, amounts and quantiles, and with offsets."""

import warnings
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy.stats import norm
from sklearn.base import clone
from sklearn.metrics import mean_gamma_deviance, mean_pinball_loss, mean_poisson_deviance

from seplearn import SepALSRegressor, TSLRegressor, datasets, explain, load_model, plots

QUICK: dict[str, Any] = {
    "n_stages": 2, "early_stopping": False, "n_grids": 3, "n_splits": 8, "random_state": 0,
}  # fmt: skip


def rate(X):
    """Claims a year: three times as many on one side, fewer with the second feature."""
    return 0.3 * np.where(X[:, 0] > 0.0, 3.0, 1.0) * np.exp(-0.5 * X[:, 1])


def claims(n, seed):
    """Features, years insured and claims."""
    rng = np.random.default_rng(seed)
    X, years = rng.uniform(-1.0, 1.0, size=(n, 2)), rng.uniform(0.1, 5.0, n)
    return X, years, rng.poisson(years * rate(X)).astype(float)


@pytest.fixture(scope="module")
def insured():
    return claims(1500, seed=0)


@pytest.fixture(scope="module")
def counted(insured):
    X, years, y = insured
    return TSLRegressor(**QUICK, loss="poisson").fit(X, y, offset=np.log(years))


@pytest.fixture(scope="module")
def amounts():
    rng = np.random.default_rng(1)
    X = rng.uniform(-1.0, 1.0, size=(500, 2))
    return X, rng.gamma(4.0, 0.25, 500) * np.exp(X[:, 0] - X[:, 0] * X[:, 1])


def test_rates_of_claims_are_found(insured, counted):
    _, years, y = insured
    X_new, years_new, y_new = claims(4000, seed=1)
    found = counted.predict(X_new)
    assert np.median(np.abs(found / rate(X_new) - 1.0)) < 0.12
    expected = counted.predict(X_new, np.log(years_new))
    np.testing.assert_allclose(expected, years_new * found, rtol=1e-12)
    best = mean_poisson_deviance(y_new, years_new * rate(X_new))
    flat = mean_poisson_deviance(y_new, years_new * y.sum() / years.sum())
    assert mean_poisson_deviance(y_new, expected) < best + 0.2 * (flat - best)


def test_predicted_claims_are_as_many_as_there_were(insured, counted):
    X, years, y = insured
    assert counted.predict(X, np.log(years)).sum() == pytest.approx(y.sum(), rel=1e-3)
    assert counted.predict(X).min() > 0.0
    # Without the exposure the model is of claims a row.
    plain = TSLRegressor(**QUICK, loss="poisson").fit(X, y)
    assert plain.predict(X).sum() == pytest.approx(y.sum(), rel=1e-3)


def test_sums_are_logs_and_explanations_add_up_to_them(insured, counted):
    X = insured[0]
    sums = counted.predict_sum(X)
    np.testing.assert_allclose(np.exp(sums), counted.predict(X), rtol=1e-12)
    np.testing.assert_allclose(counted.predict_sum(X, np.ones(len(X))), sums + 1.0, rtol=1e-12)
    shares = explain.shapley(counted, X[:10])
    np.testing.assert_allclose(shares.base + shares.values.sum(axis=1), sums[:10], atol=1e-9)


def test_a_shifted_offset_is_another_unit_of_time(insured, counted):
    X, years, y = insured
    monthly = TSLRegressor(**QUICK, loss="poisson").fit(X, y, offset=np.log(12.0 * years))
    np.testing.assert_allclose(12.0 * monthly.predict(X), counted.predict(X), rtol=1e-5)


def test_an_offset_of_squared_error_is_taken_off():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 2))
    y, offset = X[:, 0] * X[:, 1] + 0.1 * rng.normal(size=300), rng.normal(size=300)
    model = TSLRegressor(**QUICK).fit(X, y + offset, offset=offset)
    assert np.corrcoef(model.predict(X), y)[0, 1] > 0.9
    np.testing.assert_allclose(
        model.predict(X, offset), model.predict(X) + offset, rtol=1e-12, atol=1e-12
    )


def test_offsets_beside_which_nothing_is_a_number_are_refused():
    rng = np.random.default_rng(0)
    X, counts = rng.normal(size=(60, 2)), rng.poisson(2.0, 60) + 1.0
    model = TSLRegressor(**QUICK, loss="poisson", fit_intercept=False)
    with np.errstate(all="ignore"), pytest.raises(ValueError, match="of an exposure it is the log"):
        model.fit(X, counts, offset=np.full(60, 500.0))
    assert "model_" not in vars(model)


def test_offsets_in_every_wrapping(insured, counted):
    X, years, y = insured
    logs = np.log(years)
    expected = counted.predict(X, logs)
    for wrapped in (logs.tolist(), pd.Series(logs), pd.DataFrame({"log": logs})):
        np.testing.assert_array_equal(counted.predict(X, wrapped), expected)
    again = TSLRegressor(**QUICK, loss="poisson").fit(X, y, offset=pd.Series(logs))
    np.testing.assert_array_equal(again.predict(X), counted.predict(X))


@pytest.mark.parametrize(
    ("offset", "error", "message"),
    [
        (np.zeros(3), ValueError, r"offset must have one value per row \(1500\), got shape \(3,\)"),
        (np.full(1500, np.nan), ValueError, "offset must hold finite numbers"),
        (np.log(np.zeros(1500) + 1e-320) * np.inf, ValueError, "of an exposure it is the log"),
        (["much"] * 1500, TypeError, "offset must hold numbers"),
    ],
)
def test_bad_offsets_are_refused(insured, counted, offset, error, message):
    X, _, y = insured
    with pytest.raises(error, match=message):
        TSLRegressor(**QUICK, loss="poisson").fit(X, y, offset=offset)
    with pytest.raises(error, match=message):
        counted.predict(X, offset)


def test_an_eval_set_has_offsets_where_the_rows_have(insured):
    X, years, y = insured
    logs = np.log(years)
    options = QUICK | {"early_stopping": True, "loss": "poisson"}
    first, rest = slice(0, 1000), slice(1000, None)
    model = TSLRegressor(**options).fit(
        X[first], y[first], offset=logs[first], eval_set=(X[rest], y[rest], logs[rest])
    )
    level = years[rest] * y[first].sum() / years[first].sum()
    constant = mean_poisson_deviance(y[rest], level)
    assert model.size_paths_[0].losses[0] == pytest.approx(constant, rel=1e-6)
    with pytest.raises(TypeError, match=r"eval_set must be three \(X, y, offset\)"):
        TSLRegressor(**options).fit(X, y, offset=logs, eval_set=(X, y))
    with pytest.raises(ValueError, match=r"eval_set: offset must have one value per row"):
        TSLRegressor(**options).fit(X, y, offset=logs, eval_set=(X, y, logs[:5]))
    with pytest.raises(TypeError, match=r"eval_set must be a pair \(X, y\)"):
        TSLRegressor(**options).fit(X, y, eval_set=(X, y, logs))


@pytest.mark.parametrize(
    ("loss", "y", "message"),
    [
        ({"loss": "poisson"}, [1.0, -2.0], "y must be zero or positive for this loss.*got -2"),
        ({"loss": "tweedie"}, [1.0, -2.0], "y must be zero or positive for this loss.*got -2"),
        ({"loss": "tweedie", "power": 2}, [1.0, 0.0], "y must be positive for this loss.*got 0"),
        ({"loss": "gamma"}, [1.0, 0.0], "y must be positive for this loss.*got 0"),
        ({"loss": "poisson"}, [0.0, 0.0], "y must be positive in some row for this loss"),
    ],
)
def test_targets_outside_the_domain_are_refused(loss, y, message):
    X, y = np.arange(40.0)[:, None], np.array(y * 20)
    with pytest.raises(ValueError, match=message):
        TSLRegressor(**QUICK, **loss).fit(X, y)
    if y.any():  # rows to choose by may have no events at all
        options = QUICK | loss | {"early_stopping": True}
        with pytest.raises(ValueError, match=f"eval_set: {message}"):
            TSLRegressor(**options).fit(X, np.arange(1.0, 41.0), eval_set=(X, y))


def test_shapes_outside_their_range_are_refused():
    X, y = np.arange(40.0)[:, None], np.arange(1.0, 41.0)
    with pytest.raises(ValueError, match="power must be"):
        TSLRegressor(**QUICK, loss="tweedie", power=2.5).fit(X, y)
    with pytest.raises(ValueError, match="quantile must be"):
        TSLRegressor(**QUICK, loss="quantile", quantile=1.0).fit(X, y)


@pytest.mark.parametrize("shape", [{"quantile": 0.9}, {"power": 1.3, "loss": "quantile"}])
def test_the_shape_of_another_loss_is_refused(shape):
    X, y = np.arange(20.0).reshape(10, 2), np.arange(10.0)
    with pytest.raises(ValueError, match="needs loss="):
        TSLRegressor(**QUICK, **shape).fit(X, y)


@pytest.mark.parametrize("loss", ["poisson", "gamma", "tweedie", "quantile"])
def test_the_way_of_the_paper_has_least_squares_only(amounts, loss):
    with pytest.raises(ValueError, match=f"loss='{loss}' needs refine='joint'"):
        TSLRegressor(**QUICK, loss=loss, refine="scalars").fit(*amounts)


def test_the_way_of_the_paper_has_no_offsets(amounts):
    X, y = amounts
    with pytest.raises(ValueError, match="offset needs refine='joint'"):
        TSLRegressor(**QUICK, refine="scalars").fit(X, y, offset=np.zeros(len(y)))


# The noise of few amounts is below one count: there Poisson's losses depend on the unit.
UNITS = {"gamma": (1e-300, 1e3, 1e300), "tweedie": (1e-3, 1e30), "poisson": (1e9,)}


@pytest.mark.parametrize("loss", UNITS)
def test_a_target_in_another_unit_shifts_the_log(amounts, loss):
    X, y = amounts
    start = 1e3 if loss == "poisson" else 1.0
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = TSLRegressor(**QUICK, loss=loss).fit(X, start * y)
        sums = model.predict_sum(X)
        assert np.ptp(sums) > 1.0  # something is found
        for unit in UNITS[loss]:
            other = TSLRegressor(**QUICK, loss=loss).fit(X, start * y * unit)
            shift = other.predict_sum(X) - np.log(unit)
            np.testing.assert_allclose(shift, sums, atol=2e-3)


def test_amounts_are_predicted_well(amounts):
    X, y = amounts
    model = TSLRegressor(**QUICK, loss="gamma").fit(X, y)
    assert model.predict(X).min() > 0.0
    flat = mean_gamma_deviance(y, np.full(len(y), y.mean()))
    assert mean_gamma_deviance(y, model.predict(X)) < 0.65 * flat
    assert model.history_[-1].loss == pytest.approx(mean_gamma_deviance(y, model.predict(X)))


def test_totals_of_which_many_are_zero(amounts):
    X, y = amounts
    y = y * (np.random.default_rng(2).random(len(y)) < 0.5)
    model = TSLRegressor(**QUICK, loss="tweedie", power=1.6).fit(X, y)
    assert model.predict(X).min() > 0.0
    assert model.predict(X).sum() == pytest.approx(y.sum(), rel=0.05)


@pytest.mark.parametrize("share", [0.1, 0.5, 0.9])
def test_a_quantile_is_exceeded_as_often_as_it_should(share):
    rng = np.random.default_rng(0)
    X = rng.uniform(-1.0, 1.0, size=(1000, 2))
    y = X[:, 0] + (1.0 + X[:, 1]) * rng.normal(size=1000)
    model = TSLRegressor(**QUICK, loss="quantile", quantile=share).fit(X, y)
    assert np.mean(y <= model.predict(X)) == pytest.approx(share, abs=0.04)
    wide, narrow = (np.mean(y[s] <= model.predict(X)[s]) for s in (X[:, 1] > 0, X[:, 1] <= 0))
    assert abs(wide - narrow) < 0.12


@pytest.mark.parametrize("share", [0.1, 0.9])
def test_a_far_quantile_does_not_follow_single_rows(share):
    rng = np.random.default_rng(0)
    X = rng.uniform(size=(2400, 2))
    mean = 1.0 + 4.0 * X[:, 0] * X[:, 1]
    y = mean + rng.normal(size=2400)
    model = TSLRegressor(**QUICK, loss="quantile", quantile=share).fit(X[:400], y[:400])
    loss = mean_pinball_loss(y[400:], model.predict(X[400:]), alpha=share)
    truth = mean[400:] + norm.ppf(share)
    assert loss < 1.1 * mean_pinball_loss(y[400:], truth, alpha=share)
    constant = np.full(2000, np.quantile(y[:400], share))
    assert loss < 0.9 * mean_pinball_loss(y[400:], constant, alpha=share)


@pytest.mark.parametrize(("share", "main_effects"), [(0.01, "auto"), (0.99, False)])
def test_a_far_quantile_of_a_clear_signal_is_found(share, main_effects):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(3600, 4))
    signal = X[:, 0] + X[:, 1] * X[:, 2]
    y = signal + 0.3 * rng.normal(size=len(X))
    X, y, Z, z, unseen = X[:600], y[:600], X[600:], y[600:], signal[600:]
    model = TSLRegressor(loss="quantile", quantile=share, main_effects=main_effects, random_state=0)
    found = mean_pinball_loss(z, model.fit(X, y).predict(Z), alpha=share)
    constant = mean_pinball_loss(z, np.full(len(z), np.quantile(y, share)), alpha=share)
    best = mean_pinball_loss(z, unseen + 0.3 * norm.ppf(share), alpha=share)
    assert found < best + 0.35 * (constant - best)


def test_training_rows_are_on_either_side_as_they_should():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(500, 3))
    y = X[:, 0] + rng.normal(size=500)
    weight = rng.integers(1, 4, size=500)
    for share in (0.05, 0.5, 0.8):
        model = TSLRegressor(**QUICK, loss="quantile", quantile=share)
        below = np.average(y <= model.fit(X, y, weight).predict(X) + 1e-9, weights=weight)
        assert share - 1e-9 <= below <= share + 4 / weight.sum()


@pytest.mark.parametrize("loss", ["huber", "quantile"])
@pytest.mark.parametrize(
    "shape",
    [
        {},
        {"main_effects": False},
        {"early_stopping": False, "n_stages": 2},
        {"fit_intercept": False, "early_stopping": False, "n_stages": 2},
    ],
)
def test_one_wild_outcome_is_no_more_than_one(loss, shape):
    rng = np.random.default_rng(0)
    X = rng.uniform(-1.0, 1.0, size=(2400, 3))
    signal = 2.0 * X[:, 0] + X[:, 1] * X[:, 2]
    y = signal[:400] + 0.5 * rng.standard_normal(400)
    found = []
    for wild in (0.0, 1e4, 1e12):
        y[0] = signal[0] + wild
        model = TSLRegressor(random_state=0, loss=loss, **shape).fit(X[:400], y)
        found.append(np.mean((model.predict(X[400:]) - signal[400:]) ** 2))
    assert max(found) < 0.25 * np.var(signal)


def test_the_order_of_rows_does_not_matter_beside_a_wild_outcome():
    rng = np.random.default_rng(0)
    X = rng.uniform(-1.0, 1.0, size=(400, 3))
    y = 2.0 * X[:, 0] + X[:, 1] * X[:, 2] + 0.5 * rng.standard_normal(400)
    y[7] += 1e9
    order = rng.permutation(400)
    first, second = (TSLRegressor(**QUICK, loss="huber").fit(X[k], y[k]) for k in (..., order))
    np.testing.assert_allclose(first.predict(X), second.predict(X), rtol=0, atol=1e-3)


@pytest.mark.parametrize("tiny", [1e-3, 1e-8])
def test_a_quantile_is_found_among_the_few_outcomes_that_differ(tiny):
    rng = np.random.default_rng(0)
    X = rng.uniform(-1.0, 1.0, size=(1500, 3))
    large = 2.0 + X[:, 0] + X[:, 1] * X[:, 2] + 0.3 * rng.standard_normal(1500)
    y = np.where(rng.uniform(size=1500) < 0.4, large, tiny * rng.standard_normal(1500))
    model = TSLRegressor(random_state=0, loss="quantile", quantile=0.9).fit(X[:1000], y[:1000])
    assert model.evaluate(X[1000:], y[1000:]).explained > 0.2


def test_a_wild_outcome_counts_once_among_those_below_predictions():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 1))
    y = X[:, 0] + rng.normal(size=300)
    model = TSLRegressor(**QUICK, loss="quantile").fit(X, y)
    expected = np.mean(y[1:] <= model.predict(X[1:]) + 1e-9) * 299 / 300
    y[0] = 1e13
    found = model.evaluate(X, y).scores["share of outcomes not above the prediction"]
    assert found == pytest.approx(expected, abs=1e-9)


def test_the_best_constant_of_tied_outcomes_is_no_worse_than_a_constant():
    X = np.random.default_rng(0).uniform(-1.0, 1.0, size=(300, 1))
    above = np.random.default_rng(19).gamma(2.0, 1.0, 300)
    y = np.where(np.arange(300) % 5 > 0, 1.9, 1.9 + above)
    model = TSLRegressor(0, loss="quantile", random_state=0)
    with pytest.warns(UserWarning, match="constant"):
        found = model.fit(X, y).evaluate(X, y)
    assert found.scores["share of outcomes not above the prediction"] == pytest.approx(0.8)
    assert "0 % of the pinball loss explained" in str(found)


def test_parts_of_rows_are_off_a_quantile_by_that_of_their_residuals():
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"x": rng.normal(size=1000), "c": rng.choice(["a", "b"], 1000)})
    y = X["x"] + rng.normal(size=1000)
    model = TSLRegressor(**QUICK, loss="quantile", quantile=0.9).fit(X, y)
    parts = explain.segments(model, X, y, by="c")
    off = y - model.predict(X)
    for k, name in enumerate(parts.segments):
        own = X["c"] == name
        expected = np.quantile(off[own], 0.9, method="inverted_cdf")
        assert parts.residual[k] == pytest.approx(expected)
        assert parts.residual_lower[k] < parts.residual[k] < parts.residual_upper[k]
        assert parts.residual_lower[k] < 0.0 < parts.residual_upper[k]
        assert parts.outcome[k] == pytest.approx(np.mean(off[own] <= 1e-9))
    assert parts.outcome_is_share
    panel = plots.plot_calibration(model.evaluate(X, y)).axes[0]
    assert panel.get_ylabel() == "quantile of the outcomes"


def test_a_quantile_of_outcomes_that_are_all_positive_is_no_constant(amounts):
    X, y = amounts
    model = TSLRegressor(**QUICK, loss="quantile", quantile=0.5, main_effects=False).fit(X, y)
    assert len(model.stages_) > 0
    assert np.corrcoef(model.predict(X), y)[0, 1] > 0.5


@pytest.mark.parametrize("loss", ["poisson", "gamma", "tweedie"])
def test_weight_two_is_the_row_twice(amounts, loss):
    X, y = amounts
    X, y = (4.0 * X).round(), y + 0.1  # few values, so that there are the same bins
    weight = 1.0 + (np.arange(len(y)) % 4 == 0)
    twice = np.repeat(np.arange(len(y)), weight.astype(int))
    weighed = TSLRegressor(**QUICK, loss=loss).fit(X, y, sample_weight=weight)
    repeated = TSLRegressor(**QUICK, loss=loss).fit(X[twice], y[twice])
    np.testing.assert_allclose(weighed.predict(X), repeated.predict(X), atol=1e-3)


def test_weight_two_is_the_row_twice_for_a_quantile():
    rng = np.random.default_rng(0)
    X = rng.integers(-3, 4, size=(300, 2)).astype(float)
    y = X[:, 0] * X[:, 1] + rng.normal(size=300)
    weight = 1.0 + (np.arange(300) % 4 == 0)
    twice = np.repeat(np.arange(300), weight.astype(int))
    weighed = TSLRegressor(**QUICK, loss="quantile").fit(X, y, sample_weight=weight)
    repeated = TSLRegressor(**QUICK, loss="quantile").fit(X[twice], y[twice])
    np.testing.assert_allclose(weighed.predict(X), repeated.predict(X), atol=1e-3)


def test_a_saved_model_keeps_its_link(insured, counted, tmp_path):
    X, years, _ = insured
    counted.save(tmp_path / "model.tsl")
    again = load_model(tmp_path / "model.tsl")
    np.testing.assert_array_equal(
        again.predict(X, np.log(years)), counted.predict(X, np.log(years))
    )
    assert again.model_.link.name == "log"


@pytest.mark.parametrize("loss", ["gamma", "quantile", "huber"])
def test_lambda_are_refitted_by_the_loss_of_the_model_or_not_at_all(amounts, loss):
    X, y = amounts
    model = TSLRegressor(**QUICK, loss=loss, main_effects=False).fit(X, y)
    with pytest.raises(ValueError, match=r"not this model's loss; edit\(\)\.recalibrate\(X, y\)"):
        model.select_stages([0], X, y)


def test_refitted_lambda_keep_the_constraints():
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"a": rng.normal(size=300), "c": rng.integers(0, 4, 300)})
    y = 3.0 * X["a"] + X["a"] * X["c"] + 0.3 * rng.normal(size=300)
    options = QUICK | {"main_effects": False, "monotonic_cst": {"a": 1}, "scalars": "ols"}
    model = TSLRegressor(**options).fit(X, y)
    other = model.select_stages(list(range(len(model.stages_))), X, -y)
    along = pd.DataFrame({"a": np.linspace(-2.0, 2.0, 30), "c": 1})
    assert np.diff(other.predict(along)).min() >= 0.0


def test_lambda_are_refitted_to_what_offsets_leave():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 2))
    y, offset = X[:, 0] * X[:, 1] + 0.1 * rng.normal(size=300), 5.0 * rng.normal(size=300)
    model = TSLRegressor(**QUICK, main_effects=False).fit(X, y + offset, offset=offset)
    small = model.select_stages([0], X, y + offset, offset=offset)
    np.testing.assert_allclose(
        small.predict(X),
        model.select_stages([0], X, y, offset=np.zeros(300)).predict(X),
        rtol=1e-9, atol=1e-9,
    )  # fmt: skip
    with pytest.raises(ValueError, match="offset must be given to fit lambda to these rows"):
        model.select_stages([0], X, y)
    assert str(small.edits_[0]) == "select_stages(stages=[0], n_rows=300): a part of the model"
    with pytest.raises(ValueError, match="offset must come with X and y"):
        model.select_stages([0], offset=offset)


def test_intervals_of_rates_are_rates(insured):
    X, years, y = insured
    model = TSLRegressor(**QUICK, loss="poisson", n_bootstrap=4).fit(X, y, offset=np.log(years))
    low, high = model.predict_interval(X, kind="mean").T
    assert (low > 0.0).all()
    assert (low <= high).all()


def test_evaluations_have_the_deviance_and_are_kept_with_the_model(insured, counted, tmp_path):
    X, years, y = insured
    told = counted.evaluate(X, y, offset=np.log(years), keep=True)
    expected = mean_poisson_deviance(y, counted.predict(X, np.log(years)))
    level = y.sum() / counted.predict(X, np.log(years)).sum()
    assert told.scores == pytest.approx({"Poisson deviance": expected, "actual / expected": level})
    assert told.explained > 0.1
    assert len(told.cuts) > 100
    counted.save(tmp_path / "m.tsl")
    assert load_model(tmp_path / "m.tsl").evaluation_ == told
    counted.evaluation_ = None


def test_a_loss_set_after_the_fit_is_that_of_the_next_fit(amounts, tmp_path):
    X, y = amounts
    options = QUICK | {"n_stages": 1, "loss": "quantile", "quantile": 0.5}
    model = TSLRegressor(**options).fit(X, y)
    told, said = model.evaluate(X, y).scores, str(explain.summary(model))
    other = clone(model).set_params(quantile=0.9)
    model.set_params(quantile=0.9)
    changed = model.edit().flatten(0).apply(reason="r")
    model.save(tmp_path / "m.tsl")
    loaded = load_model(tmp_path / "m.tsl")
    assert told == model.evaluate(X, y).scores == loaded.evaluate(X, y).scores
    assert said == str(explain.summary(model))
    assert "0.5 quantile" in said
    assert changed._loss == loaded._loss == model._loss
    assert loaded.quantile == 0.5
    assert model.quantile == 0.9
    np.testing.assert_array_equal(model.fit(X, y).predict(X), other.fit(X, y).predict(X))
    assert model.evaluate(X, y).scores != told
    counted = TSLRegressor(**QUICK | {"n_stages": 1, "loss": "poisson"}).fit(X, y)
    deviance = counted.evaluate(X, y).scores
    assert counted.set_params(loss="gamma").evaluate(X, y).scores == deviance


def test_the_papers_estimators_say_that_they_are_for_numbers(amounts):
    X, y = amounts
    with pytest.raises(ValueError, match=r"loss='poisson' needs refine='joint'.*numbers by squ"):
        TSLRegressor.paper(loss="poisson").fit(X, y)
    with pytest.raises(TypeError, match="unexpected keyword argument 'loss'"):
        SepALSRegressor(loss="poisson")
    assert "by squared error only" in (SepALSRegressor.__doc__ or "")


def test_a_fit_that_goes_on_without_offsets_says_so():
    rng = np.random.default_rng(0)
    X, added = rng.uniform(size=(200, 1)), rng.uniform(-1.0, 1.0, 200)
    y = rng.poisson(np.exp(X[:, 0] + added))
    options = {"loss": "poisson", "early_stopping": False, "random_state": 0}
    model = TSLRegressor(1, warm_start=True, **options).fit(X, y, offset=added)
    model.set_params(n_stages=2).fit(X, y, offset=added)
    with pytest.warns(UserWarning, match="warm_start goes on from had offsets and this one has"):
        model.set_params(n_stages=3).fit(X, y)


def test_an_evaluation_that_forgets_the_offsets_says_so(tmp_path):
    table = datasets.claims(600, random_state=0)
    X, y, years = table.X, table.n_claims, np.log(table.exposure)
    quick = {"n_stages": 1, "early_stopping": False, "random_state": 0}
    model = TSLRegressor(loss="poisson", **quick).fit(X, y, offset=years)
    model.save(tmp_path / "m.tsl")
    for fitted in (model, load_model(tmp_path / "m.tsl")):
        assert fitted.provenance_.had_offsets
        with pytest.warns(UserWarning, match="fitted with offsets and none are given"):
            fitted.evaluate(X, y)
        fitted.evaluate(X, y, offset=years)
    without = TSLRegressor(loss="poisson", **quick).fit(X, y)
    assert without.provenance_.had_offsets is False
    without.evaluate(X, y)


def test_a_quantile_is_told_as_one():
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"x": rng.normal(size=300)})
    y = (X["x"] + rng.normal(size=300)).rename("rent")
    model = TSLRegressor(**QUICK, loss="quantile", quantile=0.9).fit(X, y)
    assert "The model predicts the 0.9 quantile of rent from" in str(explain.summary(model))
    assert "R\u00b2" not in str(model.evaluate(X, y))
    titles = [
        panel.get_title() for panel in plots.plot_segments(explain.segments(model, X, y)).axes
    ]
    assert titles[1] == "quantile of outcome minus prediction"


@pytest.mark.filterwarnings("ignore:no stage improves")
def test_an_exposure_that_is_not_a_log_is_warned_of(insured, tmp_path):
    X, _, y = insured
    parts = np.random.default_rng(0).uniform(0.05, 1.0, len(y))
    model = TSLRegressor(**QUICK, loss="poisson")
    with pytest.warns(UserWarning, match="at most 1 .* give its log, offset=np.log"):
        model.fit(X, y, offset=parts)
    for offset in (np.log(parts), np.log(50.0 * parts), 3.0 * parts, np.full(len(y), 0.5)):
        model.fit(X, y, offset=offset)
    hours = np.random.default_rng(1).uniform(0.2, 8.0, len(y))
    seen = np.random.default_rng(2).poisson(hours)
    model.fit(X, seen, offset=np.log(hours))
    model.fit(X, 1000 * seen, offset=np.log(1000.0 * hours))
    for power in (0.3, 0.5, 0.77):  # of a log too, rates may fall with the size of the exposure
        logs = np.random.default_rng(3).uniform(0.7, 8.0, len(y))
        model.fit(X, np.random.default_rng(4).poisson(np.exp(power * logs)), offset=logs)
    for exposure in (hours, 100.0 * hours):
        with pytest.warns(UserWarning, match=r"a factor of exp\(.*give its log"):
            model.fit(X, seen, offset=exposure)
    TSLRegressor(**QUICK).fit(X, y, offset=parts)
    table = pd.DataFrame(X, columns=["a", "b"]).assign(seen=seen, hours=hours, days=1.0 + parts)
    table.to_parquet(tmp_path / "t.parquet")
    with pytest.warns(UserWarning, match=r"a factor of exp\(.*give its log"):
        model.fit_files(tmp_path / "t.parquet", "seen", offset="hours", features=["a", "b"])
    for name in ("hours", "days"):  # logs of the latter are between 0 and 1
        model.fit_files(tmp_path / "t.parquet", "seen", exposure=name, features=["a", "b"])
    with pytest.raises(ValueError, match="y must hold the outcomes of the rows, got None"):
        model.score(X, None)
