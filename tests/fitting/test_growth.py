"""The outer loop: the same bits for any number of threads, sizes from an eval set, callbacks."""

from __future__ import annotations

import threading
from collections import Counter

import numpy as np
import pytest

from seplearn import TSLRegressor, datasets
from seplearn._workers import ThreadWorkers
from seplearn.fitting.joint import rows
from seplearn.fitting.joint.fit import JointFit

X, Y = datasets.masked_interaction(250, random_state=0)
HELD = datasets.masked_interaction(400, random_state=1)
TWO_STARTS = {"n_stages": 16, "n_starts": 2, "n_grids": 6, "max_bins": 15, "random_state": 0}
ONE_START = TWO_STARTS | {"n_stages": 3, "n_starts": 1}


@pytest.fixture
def small_blocks(monkeypatch):
    monkeypatch.setattr(rows, "ROWS_PER_BLOCK", 100)


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
    """All numbers of a fitted model, its replicates included."""
    model = fitted.model_
    arrays = [fitted.predict(X)]
    for part in (model, *model.replicates):
        arrays.append(np.array([part.intercept]))
        if part.effects is not None:
            arrays.append(part.effects)
        for branch in (branch for stage in part.stages for branch in stage.branches):
            arrays += [np.array([branch.log_scale]), branch.log_factors]
    return arrays


CASES = {
    "two starts": (TWO_STARTS | {"n_bootstrap": 3}, {}),
    "two starts, eval set": (TWO_STARTS, {"eval_set": HELD}),
    "one start, eval set": (ONE_START, {"eval_set": HELD}),
    "one start, bootstrap": (ONE_START | {"n_bootstrap": 3, "early_stopping": False}, {}),
    "huber and main effects": (
        ONE_START | {"loss": "huber", "main_effects": True, "early_stopping": False},
        {},
    ),
}


@pytest.mark.usefixtures("small_blocks", "flat_maps")
@pytest.mark.parametrize("case", CASES.values(), ids=CASES.keys())
def test_bits_do_not_depend_on_the_number_of_threads(case):
    given, fitted_with = case
    fits = [TSLRegressor(**given, n_jobs=n).fit(X, Y, **fitted_with) for n in (1, 2, 3)]
    one, *others = [everything(fit) for fit in fits]
    assert len(fits[0].stages_) >= given["n_starts"]
    assert len(fits[0].model_.replicates) == given.get("n_bootstrap", 0)
    for other in others:
        for ours, theirs in zip(one, other, strict=True):
            np.testing.assert_array_equal(ours, theirs)


def test_rows_in_blocks_give_the_same_model_up_to_rounding(monkeypatch):
    whole = TSLRegressor(**ONE_START, early_stopping=False).fit(X, Y)
    monkeypatch.setattr(rows, "ROWS_PER_BLOCK", 100)
    parts = TSLRegressor(**ONE_START, early_stopping=False).fit(X, Y)
    np.testing.assert_allclose(parts.predict(X), whole.predict(X), atol=1e-6)


@pytest.fixture
def grown(monkeypatch):
    """How often each fit was grown, while the test runs."""
    calls, plain = Counter(), JointFit.grow

    def counted(self):
        calls[id(self)] += 1
        return plain(self)

    monkeypatch.setattr(JointFit, "grow", counted)
    return calls


def test_with_an_eval_set_starts_are_grown_once_and_every_kept_stage_is_told(grown):
    told = []
    noisy = Y + np.random.default_rng(0).normal(0, 0.5, len(Y))
    model = TSLRegressor(**TWO_STARTS).fit(
        X, noisy, eval_set=HELD, callback=lambda *pair: told.append(pair)
    )
    kept = len(model.stages_) // 2
    assert 0 < kept < 8  # the size was chosen: otherwise this says little
    assert list(grown.values()) == [min(8, kept + 4)] * 2  # four more bring nothing
    losses = [record.validation_loss for record in model.history_]
    assert losses[:kept] == losses[kept:]
    assert losses[-1] == min(losses)
    assert [record for _, record in told] == [
        model.history_[start * kept + k] for k in range(kept) for start in range(2)
    ]
    error = np.mean((model.predict(HELD[0]) - HELD[1]) ** 2)
    assert losses[-1] == pytest.approx(error, rel=1e-9)


@pytest.mark.parametrize("ends_at", [1, 2, 3])
def test_true_from_a_callback_ends_the_fit_at_that_stage(ends_at):
    told = []

    def watch(_stage, record):
        told.append(record)
        return len(told) == ends_at

    model = TSLRegressor(**TWO_STARTS).fit(X, Y, eval_set=HELD, callback=watch)
    rounds = (ends_at + 1) // 2  # a round is a stage of each start
    assert len(told) == len(model.stages_) == len(model.history_) == 2 * rounds
    error = np.mean((model.predict(HELD[0]) - HELD[1]) ** 2)
    assert told[-1].validation_loss == pytest.approx(error, rel=1e-9)


def test_without_an_eval_set_a_callback_is_told_of_the_model_alone(grown):
    told = []
    model = TSLRegressor(**TWO_STARTS).fit(
        X, Y, callback=lambda *pair: told.append(pair) or len(told) == 4
    )
    assert len(told) == len(model.stages_) == 4
    assert sorted(grown.values())[:2] == [2, 2]  # the starts; the rest are fits to other rows
