"""The outer loop: fits without their parts, a size and a form by their errors, then all rows."""

from __future__ import annotations

import threading
from collections import Counter
from dataclasses import replace
from itertools import zip_longest
from types import SimpleNamespace

import numpy as np
import pytest

from seplearn import TSLRegressor, datasets
from seplearn._workers import ThreadWorkers
from seplearn.fitting import growth, jointly, spread
from seplearn.fitting import parts as fitting_parts
from seplearn.fitting.joint import fit as joint_fit
from seplearn.fitting.joint.fit import JointFit
from seplearn.fitting.parts import Validation
from seplearn.fitting.selection import ErrorPath, HeldOut
from seplearn.losses import SquaredError
from seplearn.table import blocks
from seplearn.table.columns import open_table
from tests.fitting.small_fits import options, small_data


def rows_and_target(n, seed, noise):
    """Two products of three features, none of which is far out."""
    rng = np.random.default_rng(seed)
    U = rng.uniform(-1, 1, size=(n, 3))
    y = np.exp(U[:, 0]) * np.sin(2 * U[:, 1]) + 0.7 * U[:, 0] * np.cos(3 * U[:, 2])
    return U, y + rng.normal(0, noise, n)


X, Y = rows_and_target(250, 0, 0.05)
NOISY = rows_and_target(250, 0, 0.4)[1]
HELD = rows_and_target(400, 1, 0.4)
CODES = np.random.default_rng(2).integers(0, 15, size=(100, 3)).astype(np.uint8)
ONE = {"n_stages": 3, "n_grids": 2, "max_bins": 15, "random_state": 0}
PLAIN = ONE | {"main_effects": False}
TWO = PLAIN | {"n_starts": 2}


@pytest.fixture
def small_blocks(monkeypatch):
    monkeypatch.setattr(blocks, "ROWS_PER_BLOCK", 100)


@pytest.fixture
def flat_maps(monkeypatch):
    """Work in threads must not wait for other work in the same threads: all could be waiting."""
    plain = ThreadWorkers.map

    def checked(self, function, items):
        if threading.current_thread().name.startswith("seplearn"):
            raise AssertionError("a thread of the pool waits for the pool")
        return plain(self, function, items)

    monkeypatch.setattr(ThreadWorkers, "map", checked)


def everything(fitted):
    """All numbers of a fitted model, its replicates and its way there included."""
    model = fitted.model_
    arrays = [fitted.predict(X)]
    for path in model.size_paths:
        arrays += [np.array(path.losses), np.array(path.errors), np.array(path.chosen or -1)]
    for part in (model, *model.replicates):
        arrays.append(np.array([part.intercept]))
        if part.effects is not None:
            arrays.append(part.effects)
        for branch in (branch for stage in part.stages for branch in stage.branches):
            arrays += [np.array([branch.log_scale]), branch.log_factors]
    return arrays


CASES = {
    "default": (ONE | {"n_bootstrap": 3}, {}),
    "two starts": (TWO | {"n_bootstrap": 2}, {}),
    "two starts, eval set": (TWO, {"eval_set": HELD}),
    "one start, eval set": (PLAIN, {"eval_set": HELD}),
    "one start, bootstrap": (PLAIN | {"n_bootstrap": 3, "early_stopping": False}, {}),
    "two starts, no choice": (ONE | {"n_starts": 2, "early_stopping": False}, {}),
    "huber and main effects": (
        ONE | {"loss": "huber", "main_effects": True, "early_stopping": False},
        {},
    ),
}


@pytest.mark.usefixtures("small_blocks", "flat_maps")
@pytest.mark.parametrize("case", CASES.values(), ids=CASES.keys())
def test_bits_do_not_depend_on_the_number_of_threads(case):
    given, fitted_with = case
    fits = [TSLRegressor(**given, n_jobs=n).fit(X, Y, **fitted_with) for n in (1, 2, 3)]
    one, *others = [everything(fit) for fit in fits]
    assert len(fits[0].stages_) >= given.get("n_starts", 1)
    assert len(fits[0].model_.replicates) == given.get("n_bootstrap", 0)
    for other in others:
        for ours, theirs in zip(one, other, strict=True):
            np.testing.assert_array_equal(ours, theirs)


def test_rows_in_blocks_give_the_same_model_up_to_rounding(monkeypatch):
    whole = TSLRegressor(**PLAIN, early_stopping=False).fit(X, Y)
    monkeypatch.setattr(blocks, "ROWS_PER_BLOCK", 100)
    parts = TSLRegressor(**PLAIN, early_stopping=False).fit(X, Y)
    np.testing.assert_allclose(parts.predict(X), whole.predict(X), atol=1e-6)


@pytest.fixture
def seen(monkeypatch):
    """The models of every fit after each stage that it grew, and the fits that were finished."""
    seen = SimpleNamespace(
        began={}, grown={}, calls=Counter(), finished=[], snapshots=[], snapshots_after=[]
    )
    begin, grow, finish = JointFit.begin, JointFit.grow, JointFit.finish

    def watched_begin(self):
        begin(self)
        seen.began[id(self)] = self
        seen.grown[id(self)] = [self.model()]

    def watched_grow(self):
        record = grow(self)
        seen.calls[id(self)] += 1
        seen.grown[id(self)].append(self.model())
        return record

    def watched_finish(self, snapshot):
        seen.snapshots.append(snapshot.intercept)
        finish(self, snapshot)
        seen.finished.append(self)
        seen.snapshots_after.append(self.curves.intercept)

    # Widths of outcomes are learned by fits of their own, which are not watched here.
    monkeypatch.setattr(spread, "_FEWEST_ROWS", np.inf)
    monkeypatch.setattr(JointFit, "begin", watched_begin)
    monkeypatch.setattr(JointFit, "grow", watched_grow)
    monkeypatch.setattr(JointFit, "finish", watched_finish)
    return seen


def test_with_an_eval_set_every_start_is_measured_on_it(seen, monkeypatch):
    monkeypatch.setattr(joint_fit, "_QUIET", 0.0)  # no stage is taken to say nothing
    model = TSLRegressor(**TWO | {"n_stages": 12}).fit(X, NOISY, eval_set=HELD)
    (path,) = model.size_paths_
    best = int(np.argmin(path.losses))
    assert 0 < best < 8  # growing ends because more stages bring nothing
    assert list(seen.calls.values()) == [len(path.losses) - 1] * 2
    assert len(path.losses) - 1 == best + 8  # of an average, so many are tried in vain
    codes = model.model_.bins.codes(open_table(HELD[0]), range(3))
    unit = NOISY.std()
    squares = [
        [(unit * own.predict(codes) + (0.0 if own.stages else NOISY.mean()) - HELD[1]) ** 2
         for own in models]
        for models in seen.grown.values()
    ]  # fmt: skip
    np.testing.assert_allclose(path.losses[1:], np.mean(squares, axis=(0, 2))[1:], rtol=1e-9)
    assert path.losses[0] == pytest.approx(np.mean((NOISY.mean() - HELD[1]) ** 2))
    # The same 400 rows were predicted twice: they are 400 all the same.
    off = np.array(squares)[:, path.chosen] - np.array(squares)[:, best]
    assert path.errors[path.chosen] == pytest.approx(off.std() / 20.0, rel=1e-9)
    told = [record.validation_loss for record in model.history_]
    assert told == list(path.losses[1 : path.chosen + 1]) * 2


@pytest.mark.parametrize(("silent", "n_sizes"), [((0, 1), 2), ((1,), 4)])
def test_growing_ends_when_no_fit_has_more_to_say(seen, monkeypatch, silent, n_sizes):
    grow = JointFit.grow

    def sometimes(self):
        number = list(seen.began).index(id(self))
        return None if number in silent and seen.calls[id(self)] == 1 else grow(self)

    monkeypatch.setattr(JointFit, "grow", sometimes)
    told = []
    model = TSLRegressor(**TWO).fit(
        X, NOISY, eval_set=HELD, callback=lambda *pair: told.append(pair)
    )
    (path,) = model.size_paths_
    assert len(path.losses) == n_sizes
    assert len(told) == n_sizes - 1
    assert path.chosen > 0
    of_the_second = path.chosen if silent == (0, 1) else 1
    assert len(model.history_) == path.chosen + of_the_second


def test_every_part_is_predicted_by_the_fit_that_does_not_know_it(seen):
    model = TSLRegressor(**PLAIN | {"max_bins": 60}).fit(X, NOISY)
    (path,) = model.size_paths_
    assert len(seen.began) == 5
    square = mass = 0.0
    for key, fit in seen.began.items():
        known = {tuple(row) for row in fit.data.codes.tolist()}
        codes = model.model_.bins.codes(open_table(X), range(3))
        held = np.array([tuple(row) not in known for row in codes.tolist()])
        predicted = NOISY.std() * seen.grown[key][1].predict(codes[held])
        square += np.sum((predicted - NOISY[held]) ** 2)
        mass += held.sum()
    assert mass == len(X)  # no two rows are in the same bins
    assert path.losses[1] == pytest.approx(square / mass, rel=1e-9)


@pytest.mark.parametrize("n_starts", [1, 4])
def test_the_fits_that_promise_least_error_are_averaged(seen, n_starts, monkeypatch):
    monkeypatch.setattr(jointly, "ALIKE", 0.0)  # all stages of all starts
    model = TSLRegressor(**PLAIN | {"n_starts": n_starts, "n_stages": 2, "random_state": 3}).fit(
        X, NOISY
    )
    assert len(seen.finished) == 5 + n_starts
    first, last_sweeps = seen.finished[:5], seen.finished[5:]
    promised = [fit.expected_error for fit in first]
    kept = np.argsort(promised)[:n_starts]
    assert promised[-1] != min(promised)  # otherwise any order would do
    assert promised != sorted(promised)
    codes = model.model_.bins.codes(open_table(X), range(3))
    said = np.mean([fit.model().predict(codes) for fit in last_sweeps], axis=0)
    np.testing.assert_allclose(model.predict(X), NOISY.std() * said, rtol=1e-9)
    stages = sum(len(fit.curves.stages) for fit in last_sweeps)
    assert len(model.stages_) == stages
    half_way = 0.5 * (NOISY / NOISY.std() + np.mean([fit._eta for fit in first], axis=0))
    chosen = model.size_paths_[0].chosen
    assert len(model.history_) == chosen * n_starts
    for start, (k, fit) in enumerate(zip(kept, last_sweeps, strict=True)):
        np.testing.assert_allclose(fit.data.target, half_way, rtol=1e-12)  # all rows
        assert seen.snapshots[5 + start] == seen.snapshots_after[k]  # goes on where it was
        last = model.history_[(start + 1) * chosen - 1]
        loss = np.mean((NOISY - NOISY.std() * fit.model().predict(codes)) ** 2)
        assert last.loss == pytest.approx(loss, rel=1e-9)  # of the target itself
        assert last.freedom == fit.curves.freedom
        assert last.intercept == pytest.approx(fit.curves.intercept * NOISY.std(), rel=1e-9)
        scalars = [stage.lambdas for stage in fit.curves.stages]
        np.testing.assert_allclose(last.scalars, np.multiply(scalars, NOISY.std()), rtol=1e-9)


@pytest.mark.parametrize("loss", ["huber", "quantile"])
def test_targets_are_not_averaged_if_the_prediction_is_no_mean(seen, loss):
    TSLRegressor(**PLAIN, loss=loss).fit(X, NOISY)
    assert len(seen.finished) == 5


def test_bands_are_those_of_the_target_itself(seen):
    """Refits to targets half-way to the predictions would differ half as much."""
    model = TSLRegressor(**PLAIN | {"n_stages": 1}, n_bootstrap=30).fit(X, NOISY)
    plain = seen.finished[0]
    rng = np.random.default_rng(0)
    moves = [plain.move(rng.poisson(1.0, len(X)).astype(float), 10) for _ in range(30)]
    centre = type(moves[0])(*(np.mean(parts, axis=0) for parts in zip(*moves, strict=True)))
    codes = model.model_.bins.codes(open_table(X), range(3))
    wanted = [NOISY.std() * plain.moved(move, centre).predict(codes) for move in moves]
    found = [replicate.predict(codes) for replicate in model.model_.replicates]
    ratio = np.median(np.std(found, axis=0) / np.std(wanted, axis=0))
    assert 0.75 < ratio < 1.5


def test_of_fits_that_spent_all_freedom_the_one_with_least_is_kept(seen, monkeypatch):
    monkeypatch.setattr(JointFit, "expected_error", np.inf)
    model = TSLRegressor(**PLAIN | {"n_stages": 2}).fit(X, NOISY)
    freedom = [fit.curves.freedom for fit in seen.finished[:5]]
    assert freedom[0] != min(freedom)
    assert seen.snapshots[5] == seen.snapshots_after[int(np.argmin(freedom))]
    assert model.history_[-1].freedom == seen.finished[5].curves.freedom


def test_a_fit_that_follows_the_noise_is_not_the_best_of_them():
    """Without a price of freedom the fit that leaves nothing of few rows would be kept."""
    new, truth = datasets.masked_interaction(5000, random_state=99)
    for seed in (2, 6):
        known, y = datasets.masked_interaction(250, random_state=seed)
        model = TSLRegressor(4, main_effects=False, random_state=0).fit(known, y)
        assert model.score(new, truth) > 0.5


def test_more_starts_than_parts_grow_on_the_same_parts(seen, monkeypatch):
    monkeypatch.setattr(jointly, "ALIKE", 0.0)  # all stages of all starts
    model = TSLRegressor(**PLAIN | {"n_starts": 6, "n_stages": 1}).fit(X, NOISY)
    assert 2 * len(seen.began) == len(seen.finished) == 12
    firsts, sixths = (fit.data.codes for fit in list(seen.began.values())[::5])
    np.testing.assert_array_equal(firsts, sixths)
    assert len(model.stages_) == 6
    assert len({stage.plus.log_scale for stage in model.stages_}) == 6  # by other random numbers


def test_a_fit_does_not_depend_on_how_many_grow_beside_it(seen):
    for n_starts in (1, 6):
        TSLRegressor(**PLAIN | {"n_starts": n_starts, "n_stages": 2}).fit(X, NOISY)
    first, again = (list(seen.grown.values())[k] for k in (0, 5))
    for one, other in zip(first, again, strict=True):
        np.testing.assert_array_equal(one.predict(CODES), other.predict(CODES))
    assert len(first) == 3


@pytest.mark.parametrize("main_effects", [True, "auto", False])
def test_without_a_choice_all_stages_are_grown_on_all_rows(seen, main_effects):
    given = TWO | {"main_effects": main_effects, "n_stages": 2, "early_stopping": False}
    model = TSLRegressor(**given).fit(X, NOISY)
    assert model.size_paths_ == ()
    assert list(seen.calls.values()) == [2, 2]
    assert seen.finished == []
    assert len(model.history_) == 4
    assert all(record.validation_loss is None for record in model.history_)
    for fit in seen.began.values():
        assert len(fit.data.target) == len(X)
        begins_with = seen.grown[id(fit)][0]
        assert (begins_with.effects is not None) == (main_effects is True)
    codes = model.model_.bins.codes(open_table(X), range(3))
    said = np.mean([fit.model().predict(codes) for fit in seen.began.values()], axis=0)
    np.testing.assert_allclose(model.predict(X), NOISY.std() * said, rtol=1e-9)
    for record, fit in zip(model.history_[1::2], seen.began.values(), strict=True):
        assert record.loss == pytest.approx(fit.loss * NOISY.var(), rel=1e-9)


@pytest.mark.parametrize("main_effects", [False, True, "auto"])
def test_a_callback_hears_of_every_round_of_the_first_fit(seen, main_effects):
    told = []
    model = TSLRegressor(**ONE | {"main_effects": main_effects}).fit(
        X, NOISY, callback=lambda *pair: told.append(pair)
    )
    paths = model.size_paths_
    forms = [False, True] if main_effects == "auto" else [main_effects]
    assert [path.main_effects for path in paths] == forms
    assert sum(path.chosen is not None for path in paths) == 1
    assert len(told) == sum(len(path.losses) - 1 for path in paths)
    rounds = zip_longest(*(path.losses[1:] for path in paths))  # forms grow side by side
    losses = [loss for own in rounds for loss in own if loss is not None]
    assert [record.validation_loss for _, record in told] == losses
    first = next(iter(seen.grown.values()))
    assert told[0][1].intercept == pytest.approx(first[1].intercept * NOISY.std(), rel=1e-9)
    assert all(stage.branches for stage, _ in told)


@pytest.mark.parametrize("main_effects", [False, "auto"])
def test_true_from_a_callback_ends_growing_and_the_size_is_chosen_among_what_was_grown(
    seen, main_effects
):
    told = []

    def watch(_stage, record):
        told.append(record)
        return len(told) == 2

    model = TSLRegressor(**ONE | {"main_effects": main_effects}).fit(X, NOISY, callback=watch)
    n_forms = len(model.size_paths_)
    assert n_forms == (2 if main_effects == "auto" else 1)
    n_rounds = 2 // n_forms  # forms grow side by side
    assert [len(path.losses) for path in model.size_paths_] == [1 + n_rounds] * n_forms
    assert len(told) == 2
    assert set(seen.calls.values()) == {n_rounds}
    (chosen,) = (path.chosen for path in model.size_paths_ if path.chosen is not None)
    assert chosen <= n_rounds
    assert len(model.history_) == chosen


def test_true_from_a_callback_ends_a_fit_without_a_choice():
    model = TSLRegressor(**TWO, early_stopping=False).fit(X, NOISY, callback=lambda *_: True)
    assert len(model.history_) == len(model.stages_) == 2  # one of each start


def test_true_from_a_callback_ends_growing_at_once():
    told = []
    TSLRegressor(**ONE).fit(X, NOISY, callback=lambda *pair: told.append(pair) or True)
    assert len(told) == 1  # not of the other form, which grew in the same round


@pytest.mark.parametrize(("ahead", "n_sizes"), [(False, 3), (True, 5)])
def test_main_effects_are_grown_no_further_unless_ahead(monkeypatch, ahead, n_sizes):
    """From the second stage on; products alone go on in any case."""
    monkeypatch.setattr(ErrorPath, "is_behind", lambda *_: ahead)
    monkeypatch.setattr(ErrorPath, "is_over", False)
    monkeypatch.setattr(joint_fit, "_QUIET", 0.0)  # no stage is taken to say nothing
    model = TSLRegressor(**ONE | {"n_stages": 4}).fit(X, Y)
    products, effects = model.size_paths_
    assert (products.main_effects, effects.main_effects) == (False, True)
    assert (len(products.losses), len(effects.losses)) == (5, n_sizes)


def growth_of(main_effects, *sizes):
    """A form that was grown to several sizes, with losses of rows."""
    path = ErrorPath([np.ones(len(sizes[0]))], float(len(sizes[0])))
    for losses in sizes:
        path.add([np.array(losses, dtype=float)])
    return growth.Growth(main_effects, path)


ROWS = np.random.default_rng(0).exponential(3.0, 20)
SPREAD = np.tile([-1.0, 1.0], 10)  # of differences: their standard error is 1 / sqrt(20)


def test_what_was_measured_stays_as_it_was():
    grown = growth.Growth(False, ErrorPath([np.ones(20)], 20.0))
    grown.fits = [SimpleNamespace(curves=["first"])]
    grown.measure([ROWS])
    grown.fits[0].curves.append("second")
    grown.measure([ROWS])
    assert grown.snapshots == [[["first"]], [["first", "second"]]]


@pytest.mark.parametrize(("better", "taken"), [(0.22, 0), (0.23, 1), (-1.0, 0)])
def test_a_form_is_preferred_unless_the_other_is_clearly_better(better, taken):
    pair = [growth_of(False, ROWS + better + SPREAD), growth_of(True, ROWS)]
    assert jointly._better(pair, prefers_effects=False) is pair[taken]
    pair = [growth_of(False, ROWS), growth_of(True, ROWS + better + SPREAD)]
    assert jointly._better(pair, prefers_effects=True) is pair[1 - taken]


@pytest.mark.parametrize(("better", "is_sum"), [(-0.01, False), (0.0, True), (0.01, True)])
def test_a_sum_of_single_features_is_taken_where_it_predicts_no_worse(better, is_sum):
    constant = ROWS + 9.0
    products = growth_of(False, constant, ROWS + better + SPREAD)
    for with_more in (False, True):
        sizes = [constant, ROWS] if with_more else [ROWS]
        pair = [products, growth_of(True, *sizes)]
        assert jointly._better(pair, prefers_effects=False) is pair[is_sum and not with_more]
    nothing = growth_of(False, ROWS + 0.2 + SPREAD)
    pair = [nothing, growth_of(True, ROWS)]
    assert jointly._better(pair, prefers_effects=False) is nothing  # a constant is simpler still


@pytest.mark.parametrize(("loss", "prefers"), [("poisson", True), ("squared_error", False)])
def test_main_effects_are_preferred_for_rates(loss, prefers, monkeypatch):
    asked = []
    plain = jointly._better

    def better(growths, prefers_effects):
        asked.append(prefers_effects)
        return plain(growths, prefers_effects)

    monkeypatch.setattr(jointly, "_better", better)
    TSLRegressor(**ONE, loss=loss).fit(X, np.exp(Y))
    assert asked == [prefers]


@pytest.mark.parametrize(("loss", "n_parts"), [("poisson", 5), ("squared_error", 2)])
def test_rows_with_nothing_to_count_do_not_make_a_table_large(loss, n_parts):
    data = replace(small_data(5100), target=np.repeat([0.0, 1.0], [3000, 2100]))
    parts, _ = fitting_parts.parts_of(data, options(loss=loss), Validation(chooses=True))
    assert len(parts) == n_parts


def test_forms_are_compared_at_the_sizes_that_they_chose():
    effects = growth_of(True, ROWS + 50.0, ROWS)  # chooses one stage
    products = growth_of(False, ROWS, ROWS - 0.001 - SPREAD)  # chooses none
    assert (effects.path.chosen, products.path.chosen) == (1, 0)
    assert jointly._better([products, effects], False) is products
    spoilt = growth_of(False, ROWS + math_inf())
    assert jointly._better([spoilt], False) is spoilt
    assert jointly._better([spoilt, effects], False) is effects  # whose loss is not infinite
    equal = [growth_of(form, ROWS) for form in (False, True)]
    assert jointly._better(equal, False) is equal[0]
    assert jointly._better(equal, True) is equal[1]


def test_one_part_that_is_far_better_decides_for_main_effects():
    """Where one row has nearly all of the loss the standard error is as large as anything."""
    spoilt = np.zeros(20)
    spoilt[0] = 1e6
    pair = [growth_of(False, ROWS + spoilt), growth_of(True, ROWS / 2.0)]
    assert jointly._better(pair, False) is pair[1]


def math_inf():
    out = np.zeros(20)
    out[3] = np.inf
    return out


def test_auto_finds_the_form_that_suits_the_table():
    rng = np.random.default_rng(0)
    U = rng.uniform(-1, 1, size=(300, 4))
    added = np.sin(3 * U).sum(axis=1) + rng.normal(0, 0.1, 300)
    model = TSLRegressor(**ONE).fit(U, added)
    assert [path.chosen is not None for path in model.size_paths_] == [False, True]
    assert model.model_.effects is not None
    multiplied = np.exp(U.sum(axis=1)) + rng.normal(0, 0.1, 300)
    model = TSLRegressor(**ONE).fit(U, multiplied)
    assert [path.chosen is not None for path in model.size_paths_] == [True, False]
    assert len(model.stages_) <= 2


@pytest.mark.parametrize("more", [{}, {"early_stopping": False}, {"n_starts": 2}])
def test_without_main_effects_a_model_never_has_them(more):
    """Not even where a single feature is all there is."""
    rng = np.random.default_rng(0)
    U = rng.uniform(-1, 1, size=(200, 2))
    target = np.sin(3 * U[:, 0]) + rng.normal(0, 0.1, 200)
    model = TSLRegressor(**PLAIN | more).fit(U, target)
    assert model.model_.effects is None
    assert len(model.stages_) > 0
    allowed = TSLRegressor(**ONE | more).fit(U[:, :1], target)
    assert allowed.model_.effects is not None
    assert allowed.stages_ == ()


@pytest.mark.parametrize("more", [{}, {"early_stopping": False}, {"fit_intercept": False}])
def test_without_stages_a_model_is_its_main_effects(more):
    rng = np.random.default_rng(0)
    U = rng.uniform(-1, 1, size=(300, 3))
    target = np.sin(3 * U[:, 0]) + U[:, 1] ** 2 + rng.normal(0, 0.1, 300)
    model = TSLRegressor(**ONE | {"n_stages": 0} | more).fit(U, target - target.mean())
    assert model.stages_ == ()
    assert model.reading_size_ == 2  # the third feature says nothing
    assert model.score(U, target - target.mean()) > 0.95
    other = TSLRegressor(**ONE | {"n_stages": 0, "main_effects": True} | more)
    np.testing.assert_array_equal(other.fit(U, target - target.mean()).predict(U), model.predict(U))


@pytest.mark.parametrize("without", [{"main_effects": False}, {"refine": "scalars"}])
def test_without_stages_and_main_effects_there_is_no_model(without):
    ((name, value),) = without.items()
    with pytest.raises(ValueError, match=f"n_stages must be at least 1 with {name}={value!r}"):
        TSLRegressor(n_stages=0, **without).fit(X, Y)


@pytest.mark.parametrize("early_stopping", [True, False])
def test_without_an_intercept_auto_has_no_constant_by_way_of_main_effects(early_stopping):
    rng = np.random.default_rng(0)
    U = rng.uniform(-1, 1, size=(200, 2))
    target = 3.0 + np.sin(3 * U[:, 0]) + rng.normal(0, 0.1, 200)
    given = ONE | {"fit_intercept": False, "early_stopping": early_stopping}
    model = TSLRegressor(**given).fit(U, target)
    assert model.intercept_ == 0.0
    assert model.model_.effects is None
    assert model.score(U, target) > 0.9
    assert [path.main_effects for path in model.size_paths_] == [False] * early_stopping


def parts_of(data, **given):
    validation = given.pop("validation", Validation(chooses=True))
    return fitting_parts.parts_of(data, options(**given), validation)


def test_rows_that_several_fits_predict_count_once():
    data = small_data(90)
    parts, mass = parts_of(data)
    assert len(parts) == 15  # dealt out three times
    assert mass == pytest.approx(data.weight.sum())
    parts, mass = parts_of(data, n_starts=17)
    assert len(parts) == 17
    assert mass == pytest.approx(data.weight.sum())
    held = HeldOut(data.codes, data.target, np.ones(90), np.zeros(90), SquaredError())
    parts, mass = parts_of(data, n_starts=3, validation=Validation(eval_set=held))
    assert len(parts) == 3
    assert mass == 90.0
    assert all(part.held_out is held and part.rows(0) is data for part in parts)
    assert parts_of(data, validation=Validation(chooses=False))[0] == []
    one_group = Validation(chooses=True, groups=np.zeros(90, dtype=np.int64))
    assert parts_of(data, validation=one_group)[0] == []


def test_of_many_rows_those_that_no_fit_predicts_do_not_count():
    data = small_data(6000)
    parts, mass = parts_of(data, n_starts=2)
    assert len(parts) == 2
    assert mass == pytest.approx(sum(part.held_out.weight.sum() for part in parts))
    assert mass < 0.35 * data.weight.sum()


def test_the_sample_of_a_large_table_grows_with_the_model(monkeypatch):
    monkeypatch.setattr(fitting_parts, "_SAMPLED", 3000)
    monkeypatch.setattr(fitting_parts, "_SAMPLE", 2000)
    monkeypatch.setattr(fitting_parts, "_LARGEST_SAMPLE", 5000)
    monkeypatch.setattr(fitting_parts, "_STAGES_TO_DOUBLE", 2)
    data = small_data(6000)
    (part, _), _ = parts_of(data)
    assert len(part.kept) > 5000
    samples = [part.rows(n_stages) for n_stages in range(5)]
    assert [len(sample.target) for sample in samples] == [2000, 2000, 4000, 4000, 5000]
    assert samples[0] is samples[1]
    targets = [set(sample.target.tolist()) for sample in samples]
    assert targets[0] < targets[2] < targets[4]  # a larger sample has the rows of the smaller one
    for part in parts_of(small_data(2900))[0]:
        assert len(part.rows(0).target) + len(part.held_out.target) == 2900


def test_a_fit_goes_on_where_it_was_with_other_rows(monkeypatch):
    monkeypatch.setattr(fitting_parts, "_SAMPLED", 100)
    monkeypatch.setattr(fitting_parts, "_SAMPLE", 100)
    monkeypatch.setattr(fitting_parts, "_STAGES_TO_DOUBLE", 1)
    went_on = []
    plain = JointFit.going_on_with

    def watched(self, data):
        fit = plain(self, data)
        went_on.append((len(data.target), fit))
        np.testing.assert_array_equal(fit.curves.intercept, self.curves.intercept)
        for own, old in zip(fit.curves.stages, self.curves.stages, strict=True):
            np.testing.assert_array_equal(own.curves, old.curves)
        assert fit.curves is not self.curves
        return fit

    monkeypatch.setattr(JointFit, "going_on_with", watched)
    model = TSLRegressor(**PLAIN | {"n_stages": 2}).fit(X, Y)
    assert [n for n, _ in went_on] == [fit.data.n_rows for _, fit in went_on]
    assert len(went_on) == 5 + 1  # and that which took over the curves of the last sweeps
    assert model.score(X, Y) > 0.9
