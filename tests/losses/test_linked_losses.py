"""Losses of yes and no, counts, amounts and quantiles against formulas and scikit-learn."""

import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import minimize_scalar
from scipy.stats import norm
from sklearn import metrics

from seplearn.losses import LOSSES, LogLoss
from seplearn.losses.power import Gamma, Poisson, Tweedie
from seplearn.losses.quantile import Quantile
from seplearn.table.training import TargetUnit

pytestmark = pytest.mark.interpreted

SMOOTH = [LogLoss(), Poisson(), Gamma(), Tweedie(), Tweedie(power=1.2), Tweedie(power=1.9)]
ENDS = [Tweedie(power=1.0), Tweedie(power=2.0)]
QUANTILES = [Quantile(), Quantile(quantile=0.1), Quantile(quantile=0.9, corner=0.05)]
SEEDS = st.integers(0, 10**6)


def target_of(loss, n, rng):
    """A target for which the loss is defined, with zeros where it may have them."""
    if isinstance(loss, LogLoss):
        yes = (rng.random(n) < 0.4).astype(float)
        yes[:2] = 0.0, 1.0
        return yes
    if isinstance(loss, Quantile):
        return rng.standard_t(3.0, n)
    counts = rng.poisson(2.0, n).astype(float)
    counts[:2] = 0.0, 3.0
    if loss.power == 1.0:
        return counts
    amounts = rng.gamma(2.0, 1.5, n)
    return amounts if loss.power == 2.0 else amounts * (counts > 0)


def rows(loss, seed, n=40):
    """Target, sums of a moderate size, weights and offsets."""
    rng = np.random.default_rng(seed)
    target = target_of(loss, n, rng)
    return target, 1.5 * rng.normal(size=n), rng.uniform(0.2, 3.0, n), rng.normal(size=n)


def metric(loss, target, prediction, weight):
    """The mean loss, as scikit-learn has it."""
    if isinstance(loss, LogLoss):
        return metrics.log_loss(target, prediction, sample_weight=weight)
    if isinstance(loss, Quantile):
        return metrics.mean_pinball_loss(
            target, prediction, sample_weight=weight, alpha=loss.quantile
        )
    return metrics.mean_tweedie_deviance(target, prediction, sample_weight=weight, power=loss.power)


@pytest.mark.parametrize("loss", [*SMOOTH, *ENDS, *QUANTILES], ids=repr)
def test_the_loss_of_rows_is_that_of_scikit_learn(loss):
    for seed in range(10):
        target, eta, weight, _ = rows(loss, seed)
        found = np.average(loss.of_rows(target, eta), weights=weight)
        expected = metric(loss, target, loss.link.inverse(eta), weight)
        assert found == pytest.approx(expected, rel=1e-10)


def test_losses_by_name_are_those_of_the_metrics_with_that_name():
    target, prediction = np.array([0.5, 1.0, 4.0]), np.array([1.0, 0.8, 2.0])
    pairs = {
        "poisson": metrics.mean_poisson_deviance(target, prediction),
        "gamma": metrics.mean_gamma_deviance(target, prediction),
        "tweedie": metrics.mean_tweedie_deviance(target, prediction, power=1.5),
    }
    for name, expected in pairs.items():
        found = np.mean(LOSSES[name].of_rows(target, np.log(prediction)))
        assert found == pytest.approx(expected, rel=1e-12)
    by_hand = 0.5 * np.mean(np.abs(target - prediction))
    assert np.mean(LOSSES["quantile"].of_rows(target, prediction)) == pytest.approx(by_hand)


@pytest.mark.parametrize("loss", SMOOTH, ids=repr)
def test_a_perfect_prediction_loses_nothing(loss):
    target = np.array([0.3, 1.0, 1e-5, 1e5]) if loss.degree == 0 else np.ones(4)
    if isinstance(loss, LogLoss):
        target, eta = np.array([0.0, 1.0]), np.array([-800.0, 800.0])
    else:
        eta = np.log(target)
    lost = loss.of_rows(target, eta)
    assert (lost >= 0.0).all()
    np.testing.assert_allclose(lost / np.maximum(target, 1.0), 0.0, atol=1e-12)


def slope(loss, target, eta, size=1e-5):
    """The derivative of the loss of rows by their sums."""
    ends = (loss.restrained(target, eta + step) for step in (size, -size))
    return np.subtract(*ends) / (2.0 * size)


def restraint(loss):
    """How strongly sums are held near zero."""
    return 1e-4 if isinstance(loss, LogLoss) else 0.0


def test_certain_rows_are_restrained():
    eta = np.array([-30.0, 0.0, 30.0])
    added = LogLoss().restrained(np.zeros(3), eta) - LogLoss().of_rows(np.zeros(3), eta)
    np.testing.assert_allclose(added, 0.5e-4 * eta**2, atol=1e-12)
    _, working = LogLoss().working(np.array([0.0]), np.array([-50.0]), np.ones(1))
    assert working[0] == pytest.approx(1e-4)


@pytest.mark.parametrize("loss", SMOOTH, ids=repr)
def test_the_working_problem_has_the_slope_and_the_curvature_of_the_loss(loss):
    """The curvature is the expected one: the square of the link's slope over the variance."""
    for seed in range(5):
        target, eta, weight, _ = rows(loss, seed)
        response, working = loss.working(target, eta, weight)
        pull = loss.per_half_square * working * (response - eta)
        np.testing.assert_allclose(pull, -weight * slope(loss, target, eta), rtol=1e-6, atol=1e-6)
        low, mean, high = (loss.link.inverse(eta + size) for size in (-1e-5, 0.0, 1e-5))
        variance = mean * (1.0 - mean) if isinstance(loss, LogLoss) else mean**loss.power
        expected = weight * ((high - low) / 2e-5) ** 2 / variance
        expected += weight * restraint(loss)
        near = np.abs(response - eta) < 99.0  # others ask for too much, and get less
        assert near.sum() > 30
        np.testing.assert_allclose(working[near], expected[near], rtol=1e-6)


@pytest.mark.parametrize("loss", [*SMOOTH, *ENDS, *QUANTILES], ids=repr)
def test_extreme_sums_give_numbers_and_no_warnings(loss):
    eta = np.repeat([-700.0, -300.0, -40.0, 0.0, 40.0, 300.0, 700.0], 40)
    target = np.tile(rows(loss, 3)[0], 7)
    weight = np.full(len(eta), 0.5)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        response, working = loss.working(target, eta, weight)
        losses = loss.of_rows(target, eta)
        pull = loss.pull(target, eta, target - eta, weight)
    for numbers in (response, working, working * (response - eta), losses, pull):
        assert np.isfinite(numbers).all()
    assert (working > 0.0).all()
    assert (losses >= 0.0).all()
    if loss in SMOOTH:  # a row far off asks for a bounded step
        assert np.abs(response - eta).max() <= 100.0 * (1 + 1e-9)


@given(st.sampled_from(SMOOTH), SEEDS)
def test_the_bound_of_a_step_leaves_the_slope_as_it_is(loss, seed):
    rng = np.random.default_rng(seed)
    target, _, weight, _ = rows(loss, seed)
    eta = rng.uniform(-30.0, 30.0, len(target))
    response, working = loss.working(target, eta, weight)
    mean = loss.link.inverse(eta)
    spread = mean * (1.0 - mean) if isinstance(loss, LogLoss) else mean**loss.power
    by_link = spread if isinstance(loss, LogLoss) else mean
    gradient = weight * (target - mean) * by_link / np.maximum(spread, 1e-300)
    gradient -= weight * restraint(loss) * eta
    np.testing.assert_allclose(working * (response - eta), gradient, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("loss", [*SMOOTH, *QUANTILES], ids=repr)
@pytest.mark.parametrize("size", [0.0, 1.0, 4.0])
def test_the_constant_is_the_best_one(loss, size):
    for seed in range(5):
        target, _, weight, offset = rows(loss, seed)
        offset = size * offset

        def total(level, target=target, weight=weight, offset=offset):
            return np.sum(weight * loss.of_rows(target, level + offset))

        found = loss.constant(target, weight, offset)
        around = (found - 5.0, found + 5.0)
        best = minimize_scalar(total, bounds=around, method="bounded", options={"xatol": 1e-10})
        assert total(found) <= best.fun * (1.0 + 1e-9)


@pytest.mark.parametrize("loss", [s for s in SMOOTH if not isinstance(s, LogLoss)], ids=repr)
def test_a_constant_with_offsets_far_from_zero_is_a_number(loss):
    target, _, weight, offset = rows(loss, 1)
    near = loss.constant(target, weight, offset)
    for shift in (-600.0, 600.0):
        assert loss.constant(target, weight, offset + shift) == pytest.approx(near - shift)
    for size in (1e4, 1e10, 1e150):  # the row with the largest offset decides, or the smallest
        assert np.isfinite(loss.constant(target, weight, size * offset))


def test_a_constant_of_yes_alone_is_finite():
    weight, none = np.ones(9), np.zeros(9)
    yes = LogLoss().constant(np.ones(9), weight, none)
    assert yes == pytest.approx(np.log((10.0 - 0.5) / 0.5))
    assert LogLoss().constant(none, weight, none) == pytest.approx(-yes)


@pytest.mark.parametrize(
    ("loss", "target", "message"),
    [
        (Poisson(), [1.0, -1.0], r"y must be zero or positive for this loss.*got -1"),
        (Tweedie(), [1.0, -0.5], r"y must be zero or positive for this loss.*got -0\.5"),
        (Gamma(), [1.0, 0.0], r"y must be positive for this loss.*got 0"),
        (Tweedie(power=2.0), [1.0, 0.0], r"y must be positive for this loss.*got 0"),
        (Poisson(), [0.0, 0.0], "y must be positive in some row for this loss, got zeros only"),
    ],
)
def test_a_target_outside_the_domain_is_refused(loss, target, message):
    with pytest.raises(ValueError, match=message):
        loss.check_target(np.array(target))


@pytest.mark.parametrize("loss", [*SMOOTH, *QUANTILES], ids=repr)
def test_a_target_inside_the_domain_is_taken(loss):
    loss.check_target(rows(loss, 0)[0])


def test_shapes_are_taken_by_the_losses_that_have_them():
    assert Tweedie().with_shape(1.3, 0.2) == Tweedie(power=1.3)
    assert Quantile(corner=0.4).with_shape(1.3, 0.2) == Quantile(quantile=0.2, corner=0.4)
    for loss in (LogLoss(), Poisson(), Gamma()):
        assert loss.with_shape(1.3, 0.2) is loss


@given(st.sampled_from(QUANTILES), SEEDS)
def test_the_least_squares_of_a_quantile_touch_the_rounded_loss_from_above(loss, seed):
    """That is (q - 1/2) r + (|r| - e log(e + |r|)) / 2 with the corner e."""
    target, eta, weight, _ = rows(loss, seed)
    response, working = loss.working(target, eta, weight)
    rng = np.random.default_rng(seed)

    def rounded(off):
        away = np.abs(off) - loss.corner * np.log(loss.corner + np.abs(off))
        return (loss.quantile - 0.5) * off + 0.5 * away

    for size in (1e-6, 0.1, 1.0, 10.0):
        moved = eta + size * rng.normal(size=len(target))
        gain = weight * (rounded(target - moved) - rounded(target - eta))
        halves = 0.5 * loss.per_half_square * working
        modelled = halves * ((response - moved) ** 2 - (response - eta) ** 2)
        assert (gain <= modelled + 1e-9 * (1 + np.abs(modelled))).all()
        if size == 1e-6:
            np.testing.assert_allclose(gain, modelled, atol=1e-8)


@given(st.sampled_from(QUANTILES), SEEDS)
def test_the_rounded_corner_is_small_beside_the_spread(loss, seed):
    residual = rows(loss, seed)[0]
    weight = np.ones(len(residual))
    suited = loss.suited_to(residual, weight)
    middle = np.sort(residual)[(len(residual) - 1) // 2]
    spread = np.sort(np.abs(residual - middle))[(len(residual) - 1) // 2]
    assert suited.corner == pytest.approx(0.05 * spread)
    assert suited.quantile == loss.quantile
    assert loss.suited_to(np.zeros(5), np.ones(5)).corner == 1e-6


def test_the_constant_of_log_odds_with_offsets_that_are_far_apart():
    target = np.repeat([1.0, 1.0, 0.0], [100, 450, 450])
    offset = np.repeat([1000.0, 0.0], [100, 900])
    assert LogLoss().constant(target, np.ones(1000), offset) == pytest.approx(0.0, abs=1e-9)
    alike = LogLoss().constant(target, np.ones(1000), np.full(1000, 3.0))
    assert alike == pytest.approx(np.log(0.55 / 0.45) - 3.0)


@pytest.mark.parametrize("share", [0.1, 0.5, 0.9])
def test_the_noise_of_a_quantile_is_that_of_sides_over_the_density(share):
    outcomes = norm.ppf((np.arange(20_000) + 0.5) / 20_000)
    loss = Quantile(quantile=share)
    suited = loss.suited_to(outcomes - norm.ppf(share), np.ones(20_000))
    reach = 0.5 * min(share, 1.0 - share)
    spacing = (norm.ppf(share + reach) - norm.ppf(share - reach)) / (2.0 * reach)
    assert suited.noise(0.0) == pytest.approx(0.7 * share * (1.0 - share) * spacing, rel=1e-3)
    assert suited.noise(0.0) == pytest.approx(
        0.7 * share * (1.0 - share) / norm.pdf(norm.ppf(share)), rel=0.1
    )
    least = suited.noise(0.0)
    assert suited.noise(1.5 * least) == 1.5 * least
    # Wild outcomes add no more.
    assert suited.noise(1e9) == pytest.approx(max(2.0 * least, 0.5 * norm.ppf(0.95)), rel=1e-3)
    tied = loss.suited_to(np.repeat([0.0, 3.0], [800, 200]), np.ones(1000))
    assert (tied.noise(0.3), tied.noise(7.0)) == (0.3, 1.5)
    # Nothing can be said of outcomes that are all equal, or that were not looked at.
    assert loss.noise(0.3) == loss.suited_to(np.zeros(9), np.ones(9)).noise(0.3) == 0.3


@given(SEEDS)
def test_the_constant_of_a_quantile_has_its_share_of_the_rows_below(seed):
    loss = Quantile(quantile=0.3)
    target, _, _, offset = rows(loss, seed)
    level = loss.constant(target, np.ones(40), offset)
    assert np.sum(target - offset <= level) == 12


def test_a_quantile_with_few_rows_beyond_is_reached_from_a_nearer_one():
    def nearer(share, mass):
        found = Quantile(quantile=share, corner=0.2).nearer(mass)
        assert found is None or found == Quantile(quantile=found.quantile, corner=0.2)
        return None if found is None else found.quantile

    assert [nearer(share, 1e6) for share in (0.001, 0.02, 0.5, 0.98)] == [0.02, None, None, None]
    assert nearer(0.999, 1e6) == pytest.approx(0.98)
    assert [nearer(share, 500.0) for share in (0.05, 0.1, 0.9)] == [0.1, None, None]
    assert nearer(0.95, 500.0) == pytest.approx(0.9)
    assert [nearer(share, 60.0) for share in (0.1, 0.5, 0.9)] == [0.5, None, 0.5]
    assert Poisson().nearer(10.0) is None


def test_new_stages_start_from_the_slope_of_the_loss():
    eta, weight = np.array([-1.0, 0.0, 0.5]), np.array([1.0, 2.0, 1.0])
    yes = np.array([1.0, 0.0, 1.0])
    likely = 1.0 / (1.0 + np.exp(-eta))
    np.testing.assert_allclose(LogLoss().pull(yes, eta, yes, weight), 4.0 * (yes - likely))
    counts = np.array([0.0, 2.0, 100.0])
    mean = np.exp(eta)
    root = np.sqrt(mean / np.average(mean, weights=weight))
    excess = np.minimum(counts / mean - 1.0, 20.0)
    np.testing.assert_allclose(Poisson().pull(counts, eta, counts, weight), root * excess)
    np.testing.assert_allclose(Gamma().pull(counts, eta, counts, weight), excess)
    off = np.array([2.0, -1.0, 3.0])
    sides = 2.0 * 7.0 / 4.0 * np.array([0.9, -0.1, 0.9])
    loss = Quantile(quantile=0.9)
    np.testing.assert_allclose(loss.pull(eta + off, eta, off, weight), sides)


def test_the_table_of_losses_and_what_a_fit_asks_of_them():
    asked = {
        name: (loss.link.name, loss.degree, loss.per_half_square, loss.overshoots)
        for name, loss in (LOSSES | {"log_loss": LogLoss()}).items()
    }
    assert asked == {
        "squared_error": ("identity", 2, 2.0, False),
        "huber": ("identity", 2, 2.0, False),
        "poisson": ("log", 0, 2.0, True),
        "gamma": ("log", 0, 2.0, True),
        "tweedie": ("log", 0, 2.0, True),
        "quantile": ("identity", 1, 1.0, False),
        "log_loss": ("logit", 0, 1.0, True),
    }
    noise = {name: (loss.noise(0.25), loss.noise(4.0)) for name, loss in LOSSES.items()}
    assert noise.pop("poisson") == (1.0, 4.0)
    assert set(noise.values()) == {(0.25, 4.0)}
    assert (LogLoss().noise(0.25), LogLoss().noise(4.0)) == (0.5, 2.0)


def test_rows_with_nothing_to_count_tell_little():
    counts, weight = np.array([0.0, 3.0, 1.0, 0.0]), np.array([1.0, 2.0, 1.0, 4.0])
    told = {name: loss.told_by(counts, weight) for name, loss in LOSSES.items()}
    assert told == {
        "squared_error": 1.0,
        "huber": 1.0,
        "poisson": 0.375,
        "gamma": 0.375,
        "tweedie": 0.375,
        "quantile": 1.0,
    }
    assert LogLoss().told_by(np.minimum(counts, 1.0), weight) == 1.0
    low = {name for name, loss in LOSSES.items() if loss.starts_low}
    assert low == {"poisson", "gamma", "tweedie"}


def test_the_unit_of_a_quantile_holds_the_outcomes_around_it():
    y = np.concatenate([1e-6 * np.arange(93.0), 100.0 + np.arange(7.0)])
    usual = TargetUnit.of(y, np.ones(100), True)
    assert Quantile(quantile=0.9).unit(y, np.ones(100), True) == usual
    wild = Quantile(quantile=0.5).unit(y, np.ones(100), True)
    assert wild.scale < 1e-4  # to a median seven of a hundred are outliers
