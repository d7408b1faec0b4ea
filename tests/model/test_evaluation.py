"""Scores, calibration and ranking of evaluations, beside scikit-learn's."""

import json
import math

import numpy as np
import pytest
from sklearn import metrics

from seplearn import ModelFormatError
from seplearn.losses import LOSSES, LogLoss
from seplearn.losses.links import LOG
from seplearn.model.evaluation import ClassEvaluation, Evaluation

N = 400


@pytest.fixture(scope="module")
def random():
    return np.random.default_rng(0)


@pytest.fixture(scope="module")
def classes(random):
    """Log-odds with ties, outcomes and weights."""
    eta = np.round(random.normal(-0.3, 1.5, N), 1)
    y = (random.random(N) < LogLoss().link.inverse(eta)).astype(float)
    return y, eta, random.integers(1, 4, N).astype(float)


@pytest.fixture(scope="module")
def told(classes):
    y, eta, weight = classes
    return Evaluation.of(y, eta, weight, loss=LogLoss(), classes=("no", "yes"))


def test_scores_of_classes_are_those_of_scikit_learn(classes, told):
    y, eta, weight = classes
    p = LogLoss().link.inverse(eta)
    expected = {
        "log-loss": metrics.log_loss(y, p, sample_weight=weight),
        "Brier score": metrics.brier_score_loss(y, p, sample_weight=weight),
        "AUC": metrics.roc_auc_score(y, p, sample_weight=weight),
        "accuracy": metrics.accuracy_score(y, p > 0.5, sample_weight=weight),
        "actual / expected": (weight @ y) / (weight @ p),
    }
    assert told.scores == pytest.approx(expected, abs=1e-12)
    explained = metrics.d2_log_loss_score(y, p, sample_weight=weight)
    assert told.explained == pytest.approx(explained, abs=1e-12)


def test_it_is_printed_on_a_line(classes, told):
    y, _, _ = classes
    assert str(told).startswith("log-loss 0.")
    assert "% of the log-loss explained on 400 rows" in str(told)
    numbers = str(Evaluation.of(1e5 * y, 1e5 * y - 12345.6))
    assert numbers == "RMSE 12350, mean absolute error 12350, R\u00b2 0.937 on 400 rows"
    shares = np.array([[0.5, 0.25, 0.25], [0.25, 0.25, 0.5]])
    several = str(ClassEvaluation.of(np.array([0.0, 1.0]), shares))
    assert several.startswith("log-loss 1.04, accuracy 0.5")
    assert several.endswith(" on 2 rows")


def test_the_ranking_gives_roc_and_precision(classes, told):
    y, eta, weight = classes
    false, true, _ = metrics.roc_curve(y, eta, sample_weight=weight, drop_intermediate=False)
    np.testing.assert_allclose(np.column_stack(told.roc()), np.column_stack([false, true]))
    precision, recall, _ = metrics.precision_recall_curve(y, eta, sample_weight=weight)
    found = np.column_stack(told.precision_recall())
    np.testing.assert_allclose(found, np.column_stack([recall, precision])[-2::-1])
    rows, outcomes = told.gain()
    assert rows[0] == outcomes[0] == 0.0
    assert rows[-1] == outcomes[-1] == 1.0


def test_the_confusion_at_one_half_is_that_of_the_class_called(classes, told):
    y, eta, weight = classes
    (rejections, alarms), (misses, hits) = metrics.confusion_matrix(
        y, eta > 0, sample_weight=weight
    )
    assert told.confusion() == (0.5, hits, alarms, misses, rejections)
    assert told.confusion(0.0)[1:] == (hits + misses, alarms + rejections, 0.0, 0.0)
    assert told.confusion(1.0)[1:3] == (0.0, 0.0)


def test_one_half_is_a_cut_however_many_rows_there_are():
    eta = np.random.default_rng(1).normal(size=5000)
    y = (eta + np.random.default_rng(2).normal(size=5000) > 0).astype(float)
    told = Evaluation.of(y, eta, loss=LogLoss(), classes=("a", "b"))
    assert len(told.cuts) < 300
    assert told.confusion().hits + told.confusion().false_alarms == (eta > 0).sum()
    for threshold in (0.01, 0.3, 0.37, 0.97):  # every hundredth
        called = 1.0 / (1.0 + np.exp(-eta)) > threshold
        hits, alarms = (called & (y == 1)).sum(), (called & (y == 0)).sum()
        assert told.confusion(threshold)[1:3] == (hits, alarms)
    assert Evaluation.from_plain(json.loads(json.dumps(told.to_plain()))) == told
    assert metrics.auc(*told.roc()) == pytest.approx(told.scores["AUC"], abs=1e-3)


def test_rows_are_counted_in_whole_numbers_and_weights_are_not():
    y, eta = np.array([0.0, 0.0, 1.0, 1.0]), np.array([-1.0, 1.0, -1.0, 2.0])
    rows = Evaluation.of(y, eta, loss=LogLoss(), classes=("a", "b")).confusion()
    assert repr(rows).endswith("hits=1, false_alarms=1, misses=1, rejections=1)")
    halves = Evaluation.of(y, eta, np.full(4, 0.5), loss=LogLoss(), classes=("a", "b")).confusion()
    assert repr(halves).endswith("hits=0.5, false_alarms=0.5, misses=0.5, rejections=0.5)")


@pytest.mark.parametrize(("name", "power"), [("poisson", 1.0), ("gamma", 2.0), ("tweedie", 1.5)])
def test_scores_of_counts_and_amounts_are_those_of_scikit_learn(random, name, power):
    eta, weight = random.normal(0.5, 0.5, N), random.uniform(0.5, 2.0, N)
    y = random.poisson(np.exp(eta)).astype(float) if power < 2 else random.gamma(2.0, np.exp(eta))
    told = Evaluation.of(y, eta, weight, loss=LOSSES[name])
    score, level = told.scores.values()
    mean = np.exp(eta)
    assert level == pytest.approx((weight @ y) / (weight @ mean), rel=1e-9)
    deviance = metrics.mean_tweedie_deviance(y, mean, sample_weight=weight, power=power)
    assert score == pytest.approx(deviance, rel=1e-9)
    explained = metrics.d2_tweedie_score(y, mean, sample_weight=weight, power=power)
    assert told.explained == pytest.approx(explained, rel=1e-9)
    assert min(told.actual_lower) > 0


def test_scores_of_quantiles_are_those_of_scikit_learn_in_any_unit(random):
    eta = random.normal(size=N)
    y, weight = eta + random.normal(size=N), random.uniform(0.5, 2.0, N)
    loss = LOSSES["quantile"].with_shape(1.5, 0.8)
    plain, large = (Evaluation.of(y * u, eta * u, weight, loss=loss) for u in (1.0, 2.0**900))
    pinball = metrics.mean_pinball_loss(y, eta, sample_weight=weight, alpha=0.8)
    explained = metrics.d2_pinball_score(y, eta, sample_weight=weight, alpha=0.8)
    assert plain.scores["pinball loss"] == pytest.approx(pinball)
    assert plain.explained == pytest.approx(explained, abs=0.01)  # quantiles between two outcomes
    assert large.scores["pinball loss"] == pytest.approx(pinball * 2.0**900)
    assert large.explained == plain.explained
    assert not plain.cuts
    inside = [low <= at <= high for low, at, high in
              zip(plain.actual_lower, plain.actual, plain.actual_upper, strict=True)]  # fmt: skip
    assert all(inside)


def test_counts_are_ranked_by_their_rate_and_weigh_as_their_exposure(random):
    rate, years = np.array([0.5, 0.1, 0.2]), np.array([1.0, 4.0, 2.0])
    offset = np.log(years)
    y = np.array([1.0, 0.0, 1.0])
    told = Evaluation.of(y, np.log(rate) + offset, loss=LOSSES["poisson"], offset=offset)
    np.testing.assert_allclose(told.cuts, [0.5, 0.2, 0.1])
    np.testing.assert_allclose(told.weight_above, [1.0, 3.0, 7.0])
    np.testing.assert_allclose(told.outcome_above, [1.0, 2.0, 2.0])
    constant = np.log(y.sum() / years.sum())
    ratio = LOSSES["poisson"].of_rows(y, np.log(rate) + offset).mean()
    ratio /= LOSSES["poisson"].of_rows(y, constant + offset).mean()
    assert told.explained == pytest.approx(1.0 - ratio)


def test_outcomes_outside_the_domain_are_refused():
    with pytest.raises(ValueError, match="y must be zero or positive for this loss"):
        Evaluation.of(np.array([-1.0, 2.0]), np.zeros(2), loss=LOSSES["poisson"])


@pytest.mark.parametrize("y", [np.zeros(4), np.ones(4)])
@pytest.mark.parametrize("eta", [np.zeros(4), np.array([-800.0, 0.0, 1.0, 800.0])])
def test_rows_that_are_all_alike_have_finite_scores(y, eta):
    for loss in (LogLoss(), LOSSES["poisson"], LOSSES["tweedie"].with_shape(1.5, 0.5)):
        told = Evaluation.of(y, eta, loss=loss, classes=("a", "b") if loss == LogLoss() else ())
        assert all(math.isfinite(value) for value in told.scores.values())
        assert told.explained == 0.0
        assert Evaluation.from_plain(json.loads(json.dumps(told.to_plain()))) == told
        rows, outcomes = told.gain()
        assert np.isfinite(rows).all()
        assert np.isfinite(outcomes).all()


def test_bands_of_shares_hold_no_impossible_share():
    lower, upper = LogLoss().typical_band(np.zeros(10), np.ones(10))
    assert lower == 0.0 < upper < 0.5
    assert LOG.exposure(np.array([0.0, 1e9]))[1] < math.inf
    assert LOSSES["gamma"].typical_band(np.ones(1), np.ones(1)) == (1.0, 1.0)


@pytest.mark.parametrize("unit", [1.0, 8.0])
def test_a_group_without_any_count_may_yet_have_some(unit):
    y, eta = np.zeros(100), np.full(100, -3.0)
    y[50], eta[50:] = 1.0, 3.0
    told = Evaluation.of(y, eta, np.full(100, unit), loss=LOSSES["poisson"])
    assert told.actual[0] == told.actual_lower[0] == 0.0
    assert told.actual_upper[0] == pytest.approx(math.log(10.0) / (50 * unit))
    large = Evaluation.of(y * 1e300, eta + 690.0, loss=LOSSES["poisson"])
    assert all(math.isfinite(value) for value in large.actual_upper)


def test_curves_of_classes_are_refused_for_numbers(told):
    numbers = Evaluation.of(np.arange(5.0), np.ones(5))
    for curve in (numbers.roc, numbers.precision_recall, numbers.confusion):
        with pytest.raises(ValueError, match="for classes; this is an evaluation of numbers"):
            curve()
    with pytest.raises(ValueError, match="never negative"):
        numbers.gain()
    with pytest.raises(ValueError, match="threshold must be between 0 and 1, got 2"):
        told.confusion(2)


def test_evaluations_of_older_files_are_read():
    whole = Evaluation.of(np.arange(5.0), np.ones(5)).to_plain()
    first = ("n_rows", "rmse", "mae", "r2", "predicted", "actual", "residual_edges",
             "residual_counts")  # fmt: skip
    read = Evaluation.from_plain({name: whole[name] for name in first})
    assert read.rmse == whole["rmse"]
    assert read.scores == {}
    assert read.cuts == ()


@pytest.mark.parametrize("change", [
    {"cuts": [0.5]},
    {"cuts": [0.1, 0.5], "weight_above": [1.0, 2.0], "outcome_above": [0.0, 1.0]},
    {"cuts": [0.5, 0.1], "weight_above": [2.0, 1.0], "outcome_above": [0.0, 1.0]},
    {"cuts": [0.5, 0.1], "weight_above": [0.0, 1.0], "outcome_above": [0.0, 1.0]},
    {"scores": [1.0]},
    {"scores": {"x" * 1000: 1.0}},
    {"scores": {"AUC": "good"}},
    {"classes": [1, 2]},
    {"classes": "ab"},
    {"explained": None},
    {"actual_lower": [1.0]},
])  # fmt: skip
def test_damaged_evaluations_are_refused(told, change):
    plain = told.to_plain()
    assert Evaluation.from_plain(plain) == told
    with pytest.raises(ModelFormatError):
        Evaluation.from_plain(plain | change)


@pytest.mark.parametrize(
    "confusion",
    [[[1.0, 2.0]], [[1.0], [2.0]], [[1.0, 2.0], [3.0, -4.0]], [[1.0, 2.0], [3.0, "4"]], 5],
)
def test_a_damaged_table_of_mistakes_is_refused(confusion):
    shares = np.array([[0.5, 0.5], [0.25, 0.75]])
    plain = ClassEvaluation.of(np.array([0.0, 1.0]), shares).to_plain()
    assert ClassEvaluation.from_plain(plain, 2).to_plain() == plain
    without = {name: value for name, value in plain.items() if name != "confusion"}
    assert ClassEvaluation.from_plain(without, 2).confusion == ()  # as files once were
    with pytest.raises(ModelFormatError):
        ClassEvaluation.from_plain(plain | {"confusion": confusion}, 2)


def test_rows_with_the_same_prediction_are_in_one_group_whatever_their_order():
    rng = np.random.default_rng(0)
    eta = rng.choice([-1.0, 0.5], 1000, p=[0.7, 0.3])
    y = (rng.random(1000) < 1.0 / (1.0 + np.exp(-eta))) * 1.0
    told = []
    for order in (np.arange(1000), np.argsort(y, kind="stable")):
        own = y[order], eta[order], np.ones(1000)
        found = Evaluation.of(*own, loss=LogLoss(), offset=None, classes=("no", "yes"))
        told.append((found.predicted, found.actual))
    assert np.array(told[0]) == pytest.approx(np.array(told[1]))
    assert len(told[0][0]) == 2
    assert told[0][1] == pytest.approx([y[eta < 0].mean(), y[eta > 0].mean()])
    counts = []
    for _ in range(20):  # of values that repeat, all of one are told together
        values = rng.choice(rng.normal(size=30), 200)
        found = Evaluation.of(values, values, np.ones(200), loss=LOSSES["squared_error"])
        assert np.all(np.diff(found.predicted) > 0.0)
        counts.append(len(found.predicted))
    assert 1 < min(counts) <= max(counts) <= 10


def test_of_one_row_no_share_of_the_variance_is_told():
    one = Evaluation.of(np.array([1.0]), np.array([1.5]))
    assert str(one) == "RMSE 0.5, mean absolute error 0.5 on 1 row"
