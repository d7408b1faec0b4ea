"""Where a stage of a joint fit starts: on some rows, with neighbouring bins joined."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from seplearn.fitting.draws import random_streams
from seplearn.fitting.joint import start
from seplearn.fitting.joint.start import JoinedBins, StageStarts
from seplearn.fitting.options import TrainingData
from seplearn.fitting.stagewise import fit_stage
from seplearn.table.binning import Bins, CategoricalAxis, NumericAxis
from tests.fitting.small_fits import CROWDED, new_fit, options, small_data

pytestmark = pytest.mark.interpreted
MOST = 12


def wide_data(n=400, n_bins=40, seed=0):
    """An axis of many bins, of which the last are rare; levels; an axis of few bins."""
    rng = np.random.default_rng(seed)
    axes = (
        NumericAxis(np.arange(1.0, n_bins)),
        CategoricalAxis(tuple(f"level {i}" for i in range(30))),
        NumericAxis(np.arange(1.0, 5.0)),
    )
    many = np.minimum(
        rng.geometric(4 / n_bins, n) - 1, n_bins
    )  # the last bin is that of missing values
    codes = np.stack([many, rng.integers(0, 30, n), rng.integers(0, 6, n)], axis=1)
    weight = rng.integers(1, 4, n).astype(float)
    target = np.sin(many / 8.0) * codes[:, 2] + rng.normal(0, 0.1, n)
    bins = Bins(axes, np.zeros(sum(axis.n_bins for axis in axes)))
    codes = codes.astype(np.uint8)
    return TrainingData(bins.with_frequencies_of(codes, weight), codes, target, weight)


def test_bins_are_joined_by_where_their_rows_are():
    data = wide_data()
    joined = JoinedBins.at_most(MOST, data.bins)
    frequencies = data.bins.frequencies[data.bins.axis(0)]
    known = frequencies[:-1].sum()
    before, below, group, groups = 0, 0.0, 0, []
    for b, share in enumerate(frequencies[:-1]):
        place = int((below + share / 2) / known * (MOST - 8) + 1e-6)
        at_an_end = b <= 4 or b >= 40 - 4  # four cuts at each end, whatever lies between them
        if b and (at_an_end or place > before):
            group += 1
        groups.append(group)
        before, below = place, below + share
    groups.append(group + 1)  # missing values stay by themselves
    np.testing.assert_array_equal(joined.of[:41], groups)
    first = joined.bins.axes[0]
    assert isinstance(first, NumericAxis)
    begins = [b for b in range(1, 40) if groups[b] > groups[b - 1]]
    np.testing.assert_array_equal(first.edges, data.bins.axes[0].edges[np.array(begins) - 1])
    assert first.n_bins <= MOST + 1
    assert joined.bins.axes[1:] == data.bins.axes[1:]  # levels and few bins stay as they are
    np.testing.assert_array_equal(joined.of[41:], joined.bins.offset[1] + np.arange(33 + 6))


def test_rows_on_joined_bins_are_the_same_rows():
    data = wide_data()
    joined = JoinedBins.at_most(MOST, data.bins)
    rows = joined.data(data)
    where = joined.bins.flat(rows.codes)
    np.testing.assert_array_equal(where, joined.of[data.bins.flat(data.codes)])
    own = joined.bins.with_frequencies_of(rows.codes, data.weight)
    np.testing.assert_allclose(rows.bins.frequencies, own.frequencies, rtol=1e-12, atol=1e-15)
    np.testing.assert_array_equal(rows.target, data.target)
    np.testing.assert_array_equal(rows.weight, data.weight)


def test_weights_are_copies_of_rows():
    data = wide_data()
    copies = np.repeat(np.arange(data.n_rows), data.weight.astype(int))
    repeated = replace(data, weight=np.ones(data.n_rows)).rows(copies)
    one, other = (JoinedBins.at_most(MOST, d.bins) for d in (data, repeated))
    np.testing.assert_array_equal(one.of, other.of)


def test_a_stage_starts_with_the_grids_of_joined_bins(monkeypatch):
    monkeypatch.setattr(start, "most_bins", lambda n_axes: MOST)
    asked = options(directions=(0, 0, 0), n_splits=8, n_grids=2, keep_bags=True)
    data = wide_data()
    fit = new_fit(data, directions=(0, 0, 0))
    hashes = data.axis_hashes
    starts = StageStarts(data, asked)

    def streams():
        return [random_streams(np.uint64(seed), hashes) for seed in (1, 2)]

    grids, aggregate = starts.fit(data.target, streams(), fit._workers)
    joined = JoinedBins.at_most(MOST, data.bins)
    narrow, mean = fit_stage(
        joined.data(data), asked, data.target, 8, starts._draws, streams(), fit._workers
    )
    rows = joined.data(data).codes
    for grid, small in zip(grids, narrow, strict=True):
        np.testing.assert_array_equal(grid.log_factors, small.log_factors[:, joined.of])
        np.testing.assert_array_equal(grid.scalars, small.scalars)
        assert grid.negative.shape == joined.of.shape
    assert aggregate.stage.plus is not None
    for branch, own in zip(aggregate.stage.branches, mean.stage.branches, strict=True):
        np.testing.assert_array_equal(
            branch.evaluate(data.codes, data.bins), own.evaluate(rows, joined.bins)
        )
        np.testing.assert_allclose(data.bins.means(branch.log_factors), 0.0, atol=1e-12)
    assert aggregate.stage.plus.log_factors[:40].any()


def test_grids_are_fitted_to_some_of_many_rows(monkeypatch):
    data, seen = small_data(), []

    def watched(some, asked, pull, *more):
        seen.append((some, pull.copy()))
        return fit_stage(some, asked, pull, *more)

    monkeypatch.setattr(start, "fit_stage", watched)
    for n_rows in (CROWDED, 20):
        monkeypatch.setattr(start, "GRID_ROWS", n_rows)
        new_fit(data).grow()
        some, pull = seen.pop()
        assert len(some.target) == n_rows
        np.testing.assert_array_equal(pull, some.target)  # of the same rows: nothing is fitted yet
    places = np.flatnonzero(np.isin(data.target, some.target))
    assert len(places) == 20
    assert places[-1] >= 20  # whichever rows come first in the table


def test_only_many_features_have_their_bins_joined(monkeypatch):
    """8,192 bins in all, of which few features have enough; never fewer than 32 of a feature."""
    assert [start.most_bins(p) for p in (1, 32, 100, 256, 1000)] == [8192, 256, 81, 32, 32]
    data = wide_data(n=3_000, n_bins=100)
    for in_all, lowest, highest in ((300, 100, 100), (150, 33, 50), (3, 16, 32)):
        monkeypatch.setattr(start, "GRID_BINS", in_all)
        starts = StageStarts(data, options(directions=(0, 0, 0)))
        n_ordered = starts._data.bins.n_ordered
        assert lowest <= n_ordered[0] <= highest
        assert list(n_ordered[1:]) == [0, 5]
