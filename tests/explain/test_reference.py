"""The training rows that stay with a model."""

from typing import Any

import numpy as np
import pandas as pd
import pytest

from seplearn import TSLRegressor
from seplearn.model.reference import Reference
from tests.explained import QUICK, joint, table, weighted_polars

FEW: dict[str, Any] = QUICK | {"n_stages": 1, "n_splits": 4}


def counted(rows):
    """The rows with their weights, whatever their order."""
    frame = pd.DataFrame(rows.codes).assign(weight=rows.weight)
    return frame.groupby(list(frame.columns[:-1])).sum()["weight"].round(12)


def frequencies(rows, n_bins):
    return np.concatenate(
        [np.bincount(rows.codes[:, j], rows.weight, minlength=b) for j, b in enumerate(n_bins)]
    )


def test_a_small_table_is_kept_whole():
    case = joint()
    rows = case.model.reference
    np.testing.assert_array_equal(rows.codes, case.codes)
    np.testing.assert_allclose(rows.weight, 1 / 400, rtol=1e-12)


def test_weights_are_in_proportion():
    weight = np.random.default_rng(1).uniform(0.5, 3.0, size=400)  # those of the case
    rows = weighted_polars().model.reference
    np.testing.assert_allclose(rows.weight, weight / weight.sum(), rtol=1e-12)
    np.testing.assert_allclose(
        frequencies(rows, weighted_polars().n_bins), weighted_polars().model.bins.frequencies
    )


def test_rows_of_no_weight_are_not_kept():
    X, y = table()
    weight = np.where(np.arange(400) < 100, 0.0, 2.0)
    rows = TSLRegressor(**FEW).fit(X, y, weight).model_.reference
    assert len(rows.weight) == 300
    np.testing.assert_allclose(rows.weight, 1 / 300, rtol=1e-12)


def large_table(n=4000):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, 3)).round(1)
    return X, X[:, 0] * X[:, 1] + rng.normal(0, 0.1, n)


def test_a_sample_has_the_weighted_frequencies():
    X, y = large_table()
    weight = np.where(X[:, 0] > 0, 4.0, 0.5)
    size = 500
    model = TSLRegressor(**FEW, background_size=size).fit(X, y, weight).model_
    rows = model.reference
    assert rows.codes.shape == (size, 3)
    np.testing.assert_allclose(rows.weight, 1 / size, rtol=1e-12)
    n_bins = [axis.n_bins for axis in model.bins.axes]
    found = frequencies(rows, n_bins)
    wanted = model.bins.frequencies
    error = np.sqrt(wanted * (1 - wanted) / size) + 1e-12
    assert (np.abs(found - wanted) / error).max() < 4.0
    # The frequencies of rows that all count the same are far away: the weights are seen.
    pairs = zip(model.bins.axes, X.T, strict=True)
    codes = np.stack([np.searchsorted(axis.edges, x, "right") for axis, x in pairs], axis=1)
    plain = frequencies(Reference(codes, np.full(4000, 1 / 4000)), n_bins)
    assert (np.abs(found - plain) / error).max() > 8.0


def test_a_row_of_double_weight_is_a_row_twice():
    X, y = large_table(1500)
    weight = np.where(np.arange(1500) % 3 == 0, 2.0, 1.0)
    repeated = np.repeat(np.arange(1500), weight.astype(int))
    options: dict[str, Any] = FEW | {
        "background_size": 200,
        "max_bins": 255,
    }  # a bin per value, in both
    weighted = TSLRegressor(**options).fit(X, y, weight).model_
    twice = TSLRegressor(**options).fit(X[repeated], y[repeated]).model_
    pd.testing.assert_series_equal(counted(weighted.reference), counted(twice.reference))


@pytest.mark.parametrize("size", [150, 1000])
def test_threads_do_not_change_the_rows(size):
    X, y = table()
    one, other = (
        TSLRegressor(**FEW, background_size=size, n_jobs=n).fit(X, y).model_.reference
        for n in (1, 3)
    )
    np.testing.assert_array_equal(one.codes, other.codes)
    np.testing.assert_array_equal(one.weight, other.weight)


@pytest.mark.parametrize("size", [150, 1000])
@pytest.mark.parametrize("weighted", [False, True])
def test_the_order_of_the_rows_does_not_matter(size, weighted):
    X, y = table()
    order = np.random.default_rng(3).permutation(400)
    weight = np.random.default_rng(4).uniform(0.5, 2.0, 400) if weighted else np.ones(400)
    options: dict[str, Any] = FEW | {"background_size": size}
    one = TSLRegressor(**options).fit(X, y, weight)
    other = TSLRegressor(**options).fit(X.iloc[order], y[order], weight[order])
    pd.testing.assert_series_equal(counted(one.model_.reference), counted(other.model_.reference))


def test_the_seed_does_not_matter_but_the_content_does():
    X, y = table()
    options: dict[str, Any] = FEW | {"background_size": 100}
    one, other = (
        TSLRegressor(**options | {"random_state": seed}).fit(X, y).model_.reference.codes
        for seed in (0, 1)
    )
    np.testing.assert_array_equal(one, other)
    assert len(np.unique(one, axis=0)) > 80  # a sample, not a few rows again and again
