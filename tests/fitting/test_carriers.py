"""Sums over blocks of rows: the same for any number of blocks, to the last bit for any threads."""

from __future__ import annotations

import threading

import numpy as np
import pytest

from seplearn._workers import SerialWorkers, ThreadWorkers
from seplearn.fitting.carriers import LocalCarrier
from seplearn.fitting.joint import rows
from seplearn.losses import Huber
from seplearn.table import blocks

N_BINS = (5, 7)
OFFSET = np.array([0, 5, 12])
BOTH = np.ones(2, dtype=np.bool_)


def make_carrier(workers, n=230):
    """Two stages on two axes, at their first Huber sweep."""
    rng = np.random.default_rng(0)
    codes = np.stack([rng.integers(0, b, n) for b in N_BINS], axis=1).astype(np.uint8)
    target, weight = rng.normal(size=n), rng.uniform(0.5, 2.0, n)
    carrier = LocalCarrier(
        rows.row_blocks(codes, target, weight, np.full(len(target), 0.1), target - 0.1), workers
    )
    for _ in range(2):
        curves, scale = rng.normal(0, 0.5, (2, 12)), rng.normal(0, 0.3, 2)
        carrier.each(rows.add_stage, OFFSET, curves, scale, BOTH)
    carrier.each(rows.renew, Huber(0.8))
    return carrier


def every_sum(carrier):
    """All that a sweep asks of the rows, and the rows after it."""
    factors = [np.exp(np.linspace(-0.2, 0.3, 2 * b)).reshape(2, b) for b in N_BINS]
    step = np.linspace(-0.5, 0.5, N_BINS[1])
    found = [
        carrier.total(rows.residual_sums),
        carrier.total(rows.moments, 1),
        carrier.total(rows.cancellation_sums, OFFSET, np.linspace(-0.3, 0.4, 12)),
        carrier.total(rows.advance, 0, 0, factors[0], 1, N_BINS[1]),
    ]
    carrier.each(rows.leave, 0, 1, factors[1])
    found.append(carrier.total(rows.advance_effect, 1, step, 0, N_BINS[0]))
    carrier.each(rows.leave_effect, 1, step)
    carrier.each(rows.lower, 0.25)
    found.append(np.concatenate([block.residual for block in carrier.blocks]))
    for stage in range(2):
        parts = [block.products[stage] for block in carrier.blocks]
        found.append(np.concatenate(parts, axis=1))
    return found


@pytest.fixture
def small_blocks(monkeypatch):
    monkeypatch.setattr(blocks, "ROWS_PER_BLOCK", 40)


SERIAL = SerialWorkers(np.zeros(1, dtype=np.bool_))


def test_sums_over_several_blocks_are_those_of_one(monkeypatch):
    whole = make_carrier(SERIAL)
    assert len(whole.blocks) == 1
    monkeypatch.setattr(blocks, "ROWS_PER_BLOCK", 40)
    parts = make_carrier(SERIAL)
    assert [len(block.weight) for block in parts.blocks] == [40, 40, 40, 40, 40, 30]
    for one, several in zip(every_sum(whole), every_sum(parts), strict=True):
        np.testing.assert_allclose(several, one, rtol=1e-12, atol=1e-12 * np.abs(one).max())


@pytest.mark.usefixtures("small_blocks")
@pytest.mark.parametrize("n_threads", [1, 2, 3])
def test_threads_change_no_bit(n_threads):
    expected = every_sum(make_carrier(SERIAL))
    with ThreadWorkers(n_threads) as workers:
        found = every_sum(make_carrier(workers))
    for ours, theirs in zip(found, expected, strict=True):
        np.testing.assert_array_equal(ours, theirs)


def test_sums_are_added_in_the_order_of_the_blocks_whichever_ends_first():
    parts = [np.array([1e16]), np.array([1.0]), np.array([-1e16])]  # (1e16 + 1) - 1e16 is 0
    last_is_done = threading.Event()

    def part_of(number):
        if number == 2:
            last_is_done.set()
        assert number == 2 or last_is_done.wait(60)
        return parts[number].copy()

    with ThreadWorkers(3) as workers:
        total = LocalCarrier([0, 1, 2], workers).total(part_of)
    assert total.tolist() == [0.0]


@pytest.mark.usefixtures("small_blocks")
def test_other_weights_leave_the_rows_alone():
    carrier = make_carrier(SERIAL)
    before = [(block.residual.copy(), block.products[0].copy()) for block in carrier.blocks]
    weight = np.arange(230.0)
    other = LocalCarrier(rows.reweighted(carrier.blocks, weight), SERIAL)
    np.testing.assert_array_equal(np.concatenate([b.weight for b in other.blocks]), weight)
    every_sum(other)
    for block, (residual, products) in zip(carrier.blocks, before, strict=True):
        np.testing.assert_array_equal(block.residual, residual)
        np.testing.assert_array_equal(block.products[0], products)


@pytest.mark.usefixtures("small_blocks")
def test_residuals_of_blocks_are_views_of_one_array():
    residual = np.zeros(100)
    blocks = rows.row_blocks(
        np.zeros((100, 1), np.uint8), residual, np.ones(100), np.zeros(100), residual
    )
    LocalCarrier(blocks, SERIAL).each(rows.lower, 1.0)
    assert (residual == -1.0).all()


class Shifted:
    """A loss whose least-squares problem has another response."""

    def working(self, target, prediction, weight):
        return target + 0.5 * prediction, 2.0 * weight


@pytest.mark.usefixtures("small_blocks")
def test_a_new_response_moves_the_residual_and_not_the_prediction():
    carrier = make_carrier(SERIAL)
    for _ in range(2):
        predictions = [block.response - block.residual for block in carrier.blocks]
        carrier.each(rows.renew, Shifted())
        for block, prediction in zip(carrier.blocks, predictions, strict=True):
            np.testing.assert_allclose(block.response, block.target + 0.5 * prediction)
            np.testing.assert_allclose(block.response - block.residual, prediction, atol=1e-12)
            np.testing.assert_array_equal(block.working, 2.0 * block.weight)
