import warnings

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from seplearn import TSLRegressor
from seplearn.table.binning import (
    Bins,
    CategoricalAxis,
    NumericAxis,
    bin_table,
    bins_at_most,
    find_edges,
    find_numeric_axis,
    in_order,
)
from seplearn.table.columns import open_table


def binned(X, weight=None, categorical=None, max_bins=255, min_category_count=1):
    weight = np.ones(len(X)) if weight is None else weight
    categorical = np.zeros(X.shape[1], bool) if categorical is None else np.array(categorical)
    return bin_table(
        open_table(X),
        weight,
        categorical,
        max_bins,
        min_category_count,
        lambda f, js: [*map(f, js)],
    )


def encode(X, edges):
    return np.stack([NumericAxis(e).codes(open_table(X), j) for j, e in enumerate(edges)], axis=1)


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
    bins, codes = binned(X, max_bins=max_bins)
    assert codes.dtype == dtype
    np.testing.assert_array_equal(codes, bins.codes(open_table(X), [0, 1]))
    np.testing.assert_array_equal(codes[:, ::-1], bins.codes(open_table(X), [0, 1])[:, ::-1])


def test_frequencies_are_weighted_shares():
    X = np.array([[0.0], [1.0], [1.0], [np.nan]])
    bins, codes = binned(X, weight=np.array([2.0, 1.0, 1.0, 4.0]))
    assert codes[:, 0].tolist() == [0, 1, 1, 2]
    np.testing.assert_allclose(bins.frequencies, [0.25, 0.25, 0.5])


def test_infinities_are_the_ends_of_the_axis():
    X = np.array([[-np.inf], [np.inf], [0.0], [1.0]])
    bins, codes = binned(X)
    assert codes[:, 0].tolist() == [0, 3, 1, 2]
    assert bins.codes(open_table(np.array([[-5.0], [7.0]])), [0])[:, 0].tolist() == [0, 2]
    both = np.array([[-np.inf], [np.inf]])
    assert binned(both)[1][:, 0].tolist() == [0, 1]


def test_levels_have_a_bin_each_and_three_more():
    column = np.array([["b"], ["a"], ["b"], [None], ["rare"], ["a"]], dtype=object)
    bins, codes = binned(column, categorical=[True], min_category_count=2)
    axis = bins.axes[0]
    assert (axis.levels, axis.rare) == (("a", "b"), ("rare",))
    assert codes[:, 0].tolist() == [1, 0, 1, 3, 2, 0]
    later = np.array([["a"], ["rare"], [np.nan], ["new"]], dtype=object)
    assert bins.codes(open_table(later), [0])[:, 0].tolist() == [0, 2, 3, 4]
    np.testing.assert_allclose(bins.frequencies, [2 / 6, 2 / 6, 1 / 6, 1 / 6, 0.0])


def test_numbers_as_levels_are_found_again_as_floats():
    bins, codes = binned(np.array([[10], [2], [10]]), categorical=[True])
    assert codes[:, 0].tolist() == [0, 1, 0]
    assert bins.codes(open_table(np.array([[2.0], [10.0], [3.0]])), [0])[:, 0].tolist() == [1, 0, 4]


@pytest.mark.parametrize(
    "values", [[True, 1, "a", False, 0], [1, True, 0, False, "a"]], ids=["True first", "1 first"]
)
def test_true_is_not_the_level_1(values):
    column = np.array([*values, np.True_, 1.0, "1", "True"], dtype=object)[:, None]
    bins, codes = binned(column, categorical=[True])
    [axis] = bins.axes
    assert axis.levels == ("0", "1", "False", "True", "a")
    assert [axis.levels[code] for code in codes[:, 0]] == [
        *map(str, values), "True", "1", "1", "True",
    ]  # fmt: skip


def test_booleans_are_found_again_as_numbers_and_apart_from_other_numbers():
    bins, _ = binned(np.array([[True], [False]], dtype=object), categorical=[True])
    later = open_table(np.array([[1], [True], [0.0], [2], ["True"]], dtype=object))
    assert bins.axes[0].codes(later, 0).tolist() == [1, 1, 0, 4, 1]
    numbers, _ = binned(np.array([["a"], [1], [0]], dtype=object), categorical=[True])
    later = open_table(np.array([[1], [True], [1.0], [False]], dtype=object))
    assert numbers.axes[0].codes(later, 0).tolist() == [1, 5, 1, 5]


def test_ten_thousand_levels():
    names = np.array([[f"level {k}"] for k in range(10_000)] * 2)
    _bins, codes = binned(names, categorical=[True], min_category_count=2)
    assert codes.dtype == np.uint16
    assert len(np.unique(codes)) == 10_000
    with pytest.warns(UserWarning, match=r"column 0: 100 % of its values .* \(10,000 levels"):
        assert binned(names, categorical=[True], min_category_count=3)[1].max() == 0


def test_dates_as_texts_are_told_to_be_dates():
    days = np.datetime_as_string(np.arange("2020-01-01", "2020-04-10", dtype="datetime64[D]"))
    with pytest.warns(UserWarning, match="Make numbers of dates, such as year, month"):
        binned(days[:, None], categorical=[True], min_category_count=2)


def test_too_many_levels_are_refused():
    names = np.arange(60_001)[:, None]
    with pytest.raises(ValueError, match="column 0 must have at most 60000 levels, got 60001"):
        binned(names, categorical=[True])


def test_means_and_spread_work_per_axis():
    axes = (NumericAxis(np.array([0.0])), NumericAxis(np.array([])))
    bins = Bins(axes, np.array([0.25, 0.75, 0.0, 1.0, 0.0]))
    np.testing.assert_allclose(bins.means(np.array([4.0, 8.0, 9.0, 5.0, 9.0])), [7.0, 5.0])
    np.testing.assert_allclose(bins.repeat_per_bin(np.array([1.0, 2.0])), [1.0, 1.0, 1.0, 2.0, 2.0])
    assert bins.n_axes == 2
    assert bins.axis(1) == slice(3, 5)
    centred, taken_off = bins.centred(np.array([4.0, 8.0, 9.0, 5.0, 9.0]))
    np.testing.assert_allclose(centred, [-3.0, 1.0, 0.0, 0.0, 0.0])
    assert taken_off == pytest.approx(12.0)


@pytest.mark.filterwarnings("ignore:a column:UserWarning")
@given(
    st.lists(st.floats(allow_nan=False, width=64), min_size=1, max_size=20),
    st.booleans(),
)
def test_the_range_holds_all_values_and_is_hardly_wider(values, with_missing):
    column = np.array([*values, *[np.nan] * with_missing])
    low, high = find_numeric_axis(column, 255).range
    assert low <= min(values)
    assert max(values) <= high
    width = max(values) - min(values)
    if 1e-200 < width < 1e200 and width > 1e-9 * max(map(abs, values)):
        assert high - low <= 1.05 * width


def test_the_range_is_round_unless_values_are_few():
    column = np.random.default_rng(0).normal(size=500) * 37
    low, high = find_numeric_axis(column, 255).range
    assert {low, high}.isdisjoint(column)
    assert low == round(low)
    assert high == round(high)
    assert find_numeric_axis(np.repeat([0.125, 7.75], 20), 255).range == (0.125, 7.75)
    assert find_numeric_axis(np.full(5, np.nan), 255).range is None


def test_curves_are_drawn_straight_through_bins_without_rows():
    axes = (NumericAxis(np.arange(5.0)), CategoricalAxis(("a", "b")), NumericAxis(np.arange(2.0)))
    shares = [0.0, 0.4, 0.0, 0.0, 0.6, 0.0, 0.0, *[0.0, 1.0, 0.0, 0.0, 0.0], *[0.5, 0.2, 0.3, 0.0]]
    curve = np.arange(16.0) ** 2
    expected = curve.copy()
    expected[:6] = [1.0, 1.0, 6.0, 11.0, 16.0, 16.0]
    Bins(axes, np.array(shares)).bridge_gaps(curve)
    np.testing.assert_allclose(curve, expected)
    Bins(axes, np.zeros(16)).bridge_gaps(curve)  # nothing to bridge from
    np.testing.assert_allclose(curve, expected)


def test_the_range_of_large_numbers_that_hardly_differ():
    low, high = find_numeric_axis(1e15 + np.arange(1000.0), 255).range
    assert low <= 1e15
    assert 1e15 + 999.0 <= high <= 1e15 + 1100.0


@pytest.mark.parametrize(
    ("end", "others", "share", "warns"),
    [
        (-999.0, np.arange(1.0, 100.0), 0.1, True),
        (9999.0, np.arange(-5.0, 50.0), 0.02, True),
        (-1.0, np.linspace(0.0, 0.5, 30), 0.1, True),
        (-999.0, np.arange(1.0, 100.0), 0.0045, False),  # nine rows
        (-1.0, np.arange(0.0, 10.0), 0.1, False),  # a neighbour
        (0.0, np.arange(1000.0, 1500.0), 0.6, False),  # many amounts are zero
        (250.0, np.arange(1.0, 100.0), 0.1, False),
        (np.inf, np.arange(1.0, 100.0), 0.1, False),
        (-999.0, np.array([1.0]), 0.5, False),  # two values are a code
    ],
)
def test_numbers_that_stand_for_missing_values_are_warned_of(end, others, share, warns):
    random = np.random.default_rng(0)
    column = np.where(np.arange(2000) < share * 2000, end, random.choice(others, 2000))
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        axis = find_numeric_axis(column, 255, "column 'score'")
    assert [str(one.message).split(",")[0] for one in told] == (
        [f"column 'score': {share:.0%} of its values are {end:g}".replace("%", " %")] * warns
    )
    np.testing.assert_array_equal(axis.edges, find_edges(column, 255))


def test_fewer_than_ten_rows_of_a_number_stand_for_nothing():
    column = np.append(np.arange(100.0), np.full(9, -999.0))
    find_numeric_axis(column, 255)  # warnings are errors here
    with pytest.warns(UserWarning, match="9 % of its values are -999"):
        find_numeric_axis(np.append(column, -999.0), 255)


def test_files_are_searched_for_them_too(tmp_path):
    random = np.random.default_rng(0)
    table = pd.DataFrame({"score": random.integers(1, 100, 400)}).assign(
        y=lambda t: 1.0 * t["score"]
    )
    table.loc[:40, "score"] = -999
    table.to_parquet(tmp_path / "t.parquet")
    with pytest.warns(
        UserWarning, match="'score': 10 % of its values are -999, far off all others"
    ):
        TSLRegressor(1, early_stopping=False, random_state=0).fit_files(tmp_path / "t.parquet", "y")


def test_versions_look_like_intervals_and_are_texts():
    names = ["[2.0.0, 10.0.0)", "[10.0.0, 11.0.0)"]
    assert in_order(names) == tuple(sorted(names))


def test_intervals_are_in_the_order_of_their_ends():
    ages = pd.cut(np.arange(1.0, 121.0), [0, 5, 18, 65, 120])
    X = pd.DataFrame({"age": ages})
    model = TSLRegressor(n_stages=0, early_stopping=False, random_state=0).fit(X, ages.codes * 1.0)
    assert model.model_.bins.axes[0].levels == ("(0, 5]", "(5, 18]", "(18, 65]", "(65, 120]")
    assert in_order(["(-1.1, 1.3]", "(-3.5, -1.1]", "(1.3, inf)"]) == (
        "(-3.5, -1.1]", "(-1.1, 1.3]", "(1.3, inf)"
    )  # fmt: skip
    assert in_order(["(5, 18]", "(18, 65]", "other"]) == ("(18, 65]", "(5, 18]", "other")


def test_few_rows_have_fewer_bins_than_rows():
    sizes = [10, 24, 100, 199, 200, 49_999, 50_000]
    assert [bins_at_most("auto", n) for n in sizes] == [6, 6, 25, 49, 255, 255, 511]
    assert bins_at_most(100, 10) == 100
