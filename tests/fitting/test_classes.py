"""Several classes: a fit of yes and no for each, with the others in its offset."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from seplearn._workers import SerialWorkers
from seplearn.fitting.joint import classes
from seplearn.fitting.joint.classes import ClassFits, class_constants, constant_models, of_class
from seplearn.fitting.joint.fit import JointFit
from seplearn.losses import ClassLogLoss
from seplearn.losses.log_loss import OF_SEVERAL_CLASSES
from seplearn.model.stage import Stage
from seplearn.table import blocks
from tests import naive, naive_sweep
from tests.fitting.small_fits import options, random_branch, small_data, split, twin

FREE = (0, 0, 0, 0)
SERIAL = SerialWorkers(np.zeros(1, dtype=bool))


def class_data(n=120, n_classes=3, seed=0):
    """Rows whose class depends on the bins of the first axis and of the last."""
    data = small_data(n, seed=seed)
    rng = np.random.default_rng(seed)
    sums = rng.normal(size=(n, n_classes))
    sums[:, 0] += 0.6 * data.codes[:, 0]
    sums[:, 1] -= 0.2 * data.codes[:, 3]
    target = sums.argmax(axis=1).astype(float)
    target[:n_classes] = np.arange(n_classes)
    return type(data)(data.bins, data.codes, target, data.weight)


def asked(n_classes=3, **given):
    chosen = {"loss": "log_loss", "n_classes": n_classes, "directions": FREE}
    return options(**({"main_effects": False} | chosen | given))


def new_fits(data, n_classes=3, main_effects=False, **given):
    seed = np.random.SeedSequence(0)
    return ClassFits(data, asked(n_classes, **given), seed, SERIAL, main_effects)


def twins(fits):
    """The oracle's view of the fit of every class."""
    given = {
        "family": "logistic",
        "restraint": OF_SEVERAL_CLASSES.restraint,
        "least_noise": 0.0,
        "rate": 1.0,
    }
    return [twin(fit, fit.data, FREE, energy=fit._energy, **given) for fit in fits.fits]


@settings(max_examples=8)
@given(st.integers(0, 10**6), st.booleans(), st.integers(3, 4))
def test_sweeps_over_classes_are_those_of_the_oracle(seed, main_effects, n_classes):
    """With all that is learned: curves, constants, penalties and freedom of every class."""
    fits = new_fits(class_data(60, n_classes, seed), n_classes, main_effects)
    rng = np.random.default_rng(seed)
    for fit in fits.fits[1:]:
        fit._append(Stage(random_branch(1.0, rng), random_branch(-1.0, rng)), None)
    others = twins(fits)
    fits._sweep(2, rate=1.0)
    for _ in range(2):
        naive_sweep.sweep_classes(others)
        for other in others:  # a fit fixes the gauge after every sweep of a class
            fix_gauge(other, fits.data.bins)
    for fit, other in zip(fits.fits, others, strict=True):
        np.testing.assert_allclose(fit.sums, other.eta - other.offset, rtol=1e-6, atol=1e-7)
        assert fit.curves.intercept == pytest.approx(other.intercept, rel=1e-6, abs=1e-7)
        np.testing.assert_allclose(fit.curves.effects.penalties, other.effects.mu, rtol=1e-4)
        np.testing.assert_allclose(
            fit.curves.effects.freedom, other.effects.freedom, rtol=1e-5, atol=1e-8
        )
        for own, theirs in zip(fit.curves.stages, other.stages, strict=True):
            np.testing.assert_allclose(own.penalties, np.array(theirs.mu), rtol=1e-4)
            np.testing.assert_allclose(own.freedom, theirs.freedom, rtol=1e-5, atol=1e-8)


def fix_gauge(fit, bins):
    """Curves of mean zero, as after every turn of a class."""
    for stage in fit.stages:
        flat, taken_off = bins.centred(np.concatenate(stage.curves, axis=1))
        stage.curves = np.split(flat, bins.offset[1:-1], axis=-1)
        stage.scale = stage.scale + taken_off
    flat, level = bins.centred(np.concatenate(fit.effects.values))
    fit.effects.values = np.split(flat, bins.offset[1:-1], axis=-1)
    fit.intercept += float(level)


def test_blocks_in_turn_end_where_newton_s_method_for_all_classes_does():
    """Main effects whose penalties stay as they are: softmax regression on bins."""
    data = class_data(400)
    fits = new_fits(data, main_effects=True, smoothness=100.0)
    fits._sweep(40, rate=0.0)
    used = [0, 1, 3]
    columns = [np.eye(data.bins.axes[j].n_bins)[data.codes[:, j]] for j in used]
    design = np.column_stack([np.ones(400), *columns])
    penalty = np.zeros((design.shape[1],) * 2)
    mu = split(data, np.arange(int(data.bins.offset[-1])))
    first = 1
    for j in used:
        n_bins, n_ordered = len(mu[j]), int(data.bins.n_ordered[j])
        weak = fits.fits[0].curves.effects.penalties[j]
        own = slice(first, first + n_bins)
        penalty[own, own] = naive.penalty(weak, 1.0, n_bins, n_ordered)
        first += n_bins
    penalties = [float(fit._working.sum()) * penalty for fit in fits.fits]
    numbers = data.target.astype(int)
    found = naive.softmax_fit(design, numbers, data.weight, penalties, 12)
    expected = naive.softmax(design @ found)
    np.testing.assert_allclose(naive.softmax(fits.sums), expected, atol=0.01)
    spread = np.abs(expected - expected.mean(axis=0)).max()
    assert spread > 0.3


@given(st.integers(0, 10**6))
def test_the_log_loss_of_classes_is_minus_the_log_of_a_probability(seed):
    rng = np.random.default_rng(seed)
    sums, numbers = 3.0 * rng.normal(size=(20, 4)), rng.integers(0, 4, 20)
    expected = -np.log(naive.softmax(sums)[np.arange(20), numbers])
    found = ClassLogLoss().of_rows(numbers.astype(float), sums)
    np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-12)
    far = ClassLogLoss().of_rows(np.array([0.0, 1.0]), np.array([[700.0, -700.0]] * 2))
    np.testing.assert_allclose(far, [0.0, 1400.0])


def test_the_loss_of_a_class_moves_as_that_of_all():
    """With the others fixed the two differ by what does not depend on the class."""
    data = class_data(50)
    rng = np.random.default_rng(1)
    sums = rng.normal(size=(50, 3))
    own = of_class(data, asked(), 1)
    offset = -np.logaddexp(sums[:, 0], sums[:, 2])
    loss = asked().loss_function
    moved = sums + rng.normal(size=(50, 1)) * np.array([0.0, 1.0, 0.0])
    of_one = [loss.of_rows(own.some.target, s[:, 1] + offset) for s in (sums, moved)]
    of_all = [ClassLogLoss().of_rows(data.target, s) for s in (sums, moved)]
    np.testing.assert_allclose(np.subtract(*of_one), np.subtract(*of_all), atol=1e-12)


def test_a_sweep_never_raises_the_loss_of_all_without_penalties():
    data = class_data(300)
    fits = new_fits(data, main_effects=True, smoothness=0.0)
    losses = [fits.loss]
    for _ in range(6):
        fits._sweep(1, rate=0.0)
        losses.append(fits.loss)
    assert (np.diff(losses) <= 1e-6).all()
    assert losses[-1] < 0.8 * losses[0]


def test_constants_are_logs_of_shares_with_mean_zero():
    data = class_data(90)
    masses = np.bincount(data.target.astype(int), weights=data.weight)
    expected = np.log(masses) - np.log(masses).mean()
    np.testing.assert_allclose(class_constants(data, asked()), expected)
    model = constant_models(data, asked())
    np.testing.assert_allclose(model.intercept, expected)
    assert model.is_constant
    shares = naive.softmax(model.predict(data.codes[:2]))
    np.testing.assert_allclose(shares, np.tile(masses / masses.sum(), (2, 1)))
    assert not constant_models(data, asked(fit_intercept=False)).intercept.any()
    fits = new_fits(data)
    np.testing.assert_allclose(fits.model().intercept, expected, atol=1e-9)


def test_a_class_without_rows_stays_a_constant():
    data = class_data(80)
    fits = new_fits(data, n_classes=4, main_effects=True)
    fits.begin()
    assert fits.grow_class(3) is None
    models = fits.model().models
    assert models[3].is_constant
    assert np.exp(fits.sums - np.logaddexp.reduce(fits.sums, axis=1)[:, None])[:, 3].max() < 0.2
    assert all(np.isfinite(model.predict(data.codes)).all() for model in models)


def test_classes_share_the_bins_of_the_rows(monkeypatch):
    monkeypatch.setattr(blocks, "ROWS_PER_BLOCK", 50)
    data = class_data(120)
    fits = new_fits(data)
    first, *others = [[block.codes for block in fit._carrier.blocks] for fit in fits.fits]
    assert len(first) == 3
    for codes in others:
        assert all(a is b for a, b in zip(first, codes, strict=True))
    whole = new_fits(data, main_effects=True)
    fits = new_fits(data, main_effects=True)
    monkeypatch.setattr(blocks, "ROWS_PER_BLOCK", 1 << 16)
    fits._sweep(3, 1.0)
    whole._sweep(3, 1.0)
    np.testing.assert_allclose(fits.sums, whole.sums, atol=1e-6)


def test_a_record_tells_of_all_classes():
    fits = new_fits(class_data(200))
    record = fits.grow()
    counts = [len(fit.curves.stages) for fit in fits.fits]
    assert record is not None
    assert len(record.scalars) == sum(counts) > 1
    assert record.loss == pytest.approx(fits.loss)
    assert record.freedom == pytest.approx(sum(fit.curves.freedom for fit in fits.fits))
    assert record.cancellation >= 1.0
    assert fits.newest is not None
    assert fits.expected_error > fits.loss


def test_a_round_in_which_no_class_finds_anything_is_none(monkeypatch):
    fits = new_fits(class_data(80))
    before = fits.sums
    monkeypatch.setattr(JointFit, "grow", lambda self: None)
    assert fits.grow() is None
    np.testing.assert_allclose(fits.sums, before, atol=1e-12)


def test_snapshots_moves_and_other_rows():
    data = class_data(200)
    fits = new_fits(data, main_effects=True)
    fits.begin()
    snapshot, before = fits.curves.copy(), fits.sums
    still = fits.move(data.weight, 0)
    assert all(np.abs(move.effects).max() < 1e-12 for move in still)
    np.testing.assert_array_equal(fits.sums, before)
    moves = fits.move(data.weight * np.linspace(0.2, 2.0, 200), 3)
    assert max(np.abs(move.effects).max() for move in moves) > 0.01
    np.testing.assert_allclose(
        fits.moved(moves, moves).predict(data.codes), fits.model().predict(data.codes), atol=1e-9
    )
    fits._sweep(2, 1.0)
    assert np.abs(fits.sums - before).max() > 1e-4
    fits.restore(snapshot)
    np.testing.assert_allclose(fits.sums, before, atol=1e-9)
    part = data.rows(np.arange(0, 200, 2))
    other = fits.going_on_with(part)
    assert other.data is part
    np.testing.assert_allclose(other.sums, before[::2], atol=1e-9)
    assert classes.ClassCurves(snapshot.of_class).freedom > 0.0
