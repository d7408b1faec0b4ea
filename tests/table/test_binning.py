import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from seplearn.table.binning import Bins, bin_table, encode, find_edges


def in_order(function, columns):
    return [function(j) for j in columns]


columns = st.lists(
    st.one_of(st.integers(-5, 5).map(float), st.floats(-1e300, 1e300)), min_size=1, max_size=200
)


@given(columns, st.integers(2, 40))
def test_edges_are_ascending_few_and_separate_values(values, max_bins):
    column = np.array(values)
    edges = find_edges(column, max_bins)
    assert len(edges) < max_bins
    assert (np.diff(edges) > 0).all()
    distinct = np.unique(column)
    bins = np.searchsorted(edges, distinct, side="right")
    # No bin between two edges is empty: every cut lies between two neighbouring values.
    np.testing.assert_array_equal(np.unique(bins), np.arange(len(edges) + 1))
    if len(distinct) <= max_bins:
        assert len(edges) == len(distinct) - 1


@given(columns, st.integers(2, 40))
def test_a_monotone_transform_changes_the_edges_only(values, max_bins):
    column = np.array(values)
    ranks = np.unique(column, return_inverse=True)[1].astype(float)
    for transformed in (ranks, ranks**3 - 7.0):
        codes = encode(column[:, None], (find_edges(column, max_bins),))
        other = encode(transformed[:, None], (find_edges(transformed, max_bins),))
        np.testing.assert_array_equal(codes, other)


def test_both_tails_are_cut_at_ranks_one_two_four():
    column = np.random.default_rng(0).permutation(np.arange(100_000.0))
    edges = find_edges(column, 255)
    below = np.searchsorted(np.sort(column), edges)
    for rank in (1, 2, 4, 8, 16, 32, 64, 128, 256):
        assert rank in below
        assert len(column) - rank in below
    assert 250 <= len(edges) <= 254


def test_ties_do_not_cost_bins():
    rng = np.random.default_rng(1)
    column = np.where(rng.random(20_000) < 0.8, 0.0, rng.normal(size=20_000))
    edges = find_edges(column, 255)
    assert len(edges) >= 240
    codes = encode(column[:, None], (edges,))[:, 0]
    assert len(np.unique(codes[column == 0.0])) == 1
    assert len(np.unique(codes[column != 0.0])) >= 240


def test_neighbouring_floats_are_told_apart():
    low = 1.0
    high = np.nextafter(low, 2.0)
    edges = find_edges(np.array([low, high]), 255)
    assert encode(np.array([[low], [high]]), (edges,))[:, 0].tolist() == [0, 1]
    largest = np.finfo(float).max
    assert find_edges(np.array([-largest, largest]), 255).tolist() == [0.0]


def test_a_constant_column_has_one_bin():
    assert len(find_edges(np.full(10, 3.0), 255)) == 0


@pytest.mark.parametrize(("max_bins", "dtype"), [(255, np.uint8), (1000, np.uint16)])
def test_codes_are_as_small_as_they_can_be(max_bins, dtype):
    X = np.random.default_rng(0).normal(size=(3000, 2))
    bins, codes = bin_table(X, np.ones(3000), max_bins, in_order)
    assert codes.dtype == dtype
    np.testing.assert_array_equal(codes, bins.codes(X))


def test_frequencies_are_weighted_shares():
    X = np.array([[0.0], [1.0], [1.0]])
    bins, _ = bin_table(X, np.array([2.0, 1.0, 1.0]), 255, in_order)
    np.testing.assert_allclose(bins.frequencies, [0.5, 0.5])


def test_means_and_spread_work_per_axis():
    bins = Bins((np.array([0.0]), np.array([])), np.array([0.25, 0.75, 1.0]))
    np.testing.assert_allclose(bins.means(np.array([4.0, 8.0, 5.0])), [7.0, 5.0])
    np.testing.assert_allclose(bins.spread(np.array([1.0, 2.0])), [1.0, 1.0, 2.0])
    assert bins.n_axes == 2
    assert bins.axis(1) == slice(2, 3)
