"""The size of a model from its errors on held-out rows."""

from __future__ import annotations

import math

import numpy as np
import pytest

from seplearn import datasets
from seplearn._workers import SerialWorkers
from seplearn.fitting.options import TrainingData
from seplearn.fitting.selection import ErrorPath, HeldOut, held_out_parts
from seplearn.losses import Huber, SquaredError
from seplearn.table.binning import bin_table
from seplearn.table.columns import open_table


def path_of(*sizes, weights=None, mass=None, of_means=False):
    """A path of losses: sizes of parts of rows, or of parts of one row each."""
    losses = [[np.atleast_1d(part).astype(float) for part in parts] for parts in sizes]
    weights = [np.ones(len(part)) for part in losses[0]] if weights is None else weights
    total = sum(weight.sum() for weight in weights)
    path = ErrorPath(weights, total if mass is None else mass, of_means)
    for parts in losses:
        path.add(parts)
    return path


def test_the_smallest_mean_error_is_the_best_size():
    path = path_of([9, 9, 9], [4, 5, 6], [3, 3, 7], [4, 4, 6])
    np.testing.assert_allclose(path.losses, [9, 5, 13 / 3, 14 / 3])
    assert path.best == 2
    assert len(path) == 4


def test_one_part_that_is_far_off_does_not_decide():
    """Two parts say that three stages are far better; one row of the third sends it far off."""
    path = path_of([9, 9, 9], [8, 8, 8], [3, 3, 90], [1, 1, 80])
    assert int(np.argmin(path.losses)) == 1
    assert path.best == path.chosen == 3  # the mean says nothing of smaller sizes either
    assert path_of([9, 9, 9], [8, 8, 8], [3, 3, math.inf], [1, 1, math.inf]).best == 3


@pytest.mark.parametrize("few", [2.01, 2.0])
def test_a_part_that_is_somewhat_worse_does(few):
    path = path_of([9, 9, 9], [8, 8, 8], [few, few, 90])
    assert path.best == (1 if few >= 2 else 2)  # a quarter of the typical error is not enough


def test_parts_are_weighed():
    weights = [np.array([1.0]), np.array([1.0, 3.0])]
    path = path_of([[2.0], [8.0, 4.0]], [[1.0], [9.0, 5.0]], weights=weights)
    np.testing.assert_allclose(path.losses, [(2 + 8 + 12) / 5, (1 + 9 + 15) / 5])
    assert path.best == 0
    # Parts with errors 2 and 5, 1 and 6: their medians are alike.
    heavy = [np.array([9.0]), np.array([0.5, 0.5])]
    assert path_of([[2.0], [8.0, 4.0]], [[1.0], [9.0, 5.0]], weights=heavy).best == 1


@pytest.mark.parametrize(("n_after", "over"), [(2, False), (3, True)])
def test_a_path_is_over_when_the_last_sizes_brought_nothing(n_after, over):
    assert path_of([9, 9], [5, 5], *[[4, 7]] * n_after).is_over is over


@pytest.mark.parametrize(("n_after", "over"), [(1, False), (2, True)])
def test_a_path_is_over_soon_when_the_last_size_is_worse_by_a_standard_error(n_after, over):
    assert path_of([9, 9], [5, 5], *[[6, 6]] * n_after).is_over is over
    assert path_of([9, 9], [5, 5], [4, 7], [4, 4.9], *[[6, 6]] * n_after).is_over is over


@pytest.mark.parametrize(("n_after", "over"), [(7, False), (8, True)])
@pytest.mark.parametrize("after", [[4, 7], [6, 6]])
def test_a_path_goes_on_for_longer_where_fits_are_averaged(after, n_after, over):
    assert path_of([9, 9], [5, 5], *[after] * n_after, of_means=True).is_over is over


@pytest.mark.parametrize(("n_after", "over"), [(3, False), (4, True)])
def test_a_path_is_over_when_better_sizes_are_not_worth_choosing(n_after, over):
    """Every size is better than the one before it, by less than anyone would pay for."""
    better = [[5 - 2e-3 * k, 5 + 1e-3 * k] for k in range(1, n_after + 1)]
    path = path_of([9, 7], [5, 5], *better)
    assert (path.best, path.chosen) == (1 + n_after, 1)
    assert path.is_over is over


def naive_difference(one, other, weight, mass):
    """Weighted mean of row-by-row differences, and its standard error if ``mass`` rows count."""
    pairs = list(
        zip(np.concatenate(one), np.concatenate(other), np.concatenate(weight), strict=True)
    )
    total = sum(w for _, _, w in pairs)
    mean = sum(w * (a - b) for a, b, w in pairs) / total
    variance = sum(w * (a - b - mean) ** 2 for a, b, w in pairs) / total
    return mean, math.sqrt(variance / mass)


def naive_is_worse(size, one, other, weight, mass):
    """By more than a standard error, 1 % (beside some stage), or by far in the median part."""
    nothing = [0 * part for part in other]
    worse, allowed = naive_difference(one, other, weight, mass)
    if size > 0:
        allowed = min(allowed, 0.01 * naive_difference(other, nothing, weight, 1)[0])
    medians = [
        np.median([np.sum(w * part) / np.sum(w) for w, part in zip(weight, model, strict=True)])
        for model in (one, other)
    ]
    return worse > allowed or medians[0] > 1.25 * medians[1]


def random_sizes(rng, n_sizes=6, rows=(7, 4, 9)):
    """Losses of the same rows for several sizes: what rows have in common outweighs the rest."""
    common = [rng.exponential(3.0, n) for n in rows]
    return [
        [part + level + 0.5 * rng.normal(size=len(part)) for part in common]
        for level in rng.uniform(0.0, 0.3, n_sizes)
    ]


@pytest.mark.parametrize("times", [1, 3])
def test_the_size_is_the_smallest_that_is_not_worse_than_the_best(times):
    rng, chosen = np.random.default_rng(0), set()
    for _ in range(80):
        weights = [rng.uniform(0.5, 3.0, n) for n in (7, 4, 9)]
        mass = sum(part.sum() for part in weights) / times  # rows were dealt out several times
        sizes = random_sizes(rng)
        path = path_of(*sizes, weights=weights, mass=mass)
        means = [
            naive_difference(size, [0 * part for part in size], weights, 1)[0] for size in sizes
        ]
        np.testing.assert_allclose(path.losses, means)
        best = int(np.argmin(means))
        wanted = best
        for k in reversed(range(best)):
            worse, error = naive_difference(sizes[k], sizes[best], weights, mass)
            np.testing.assert_allclose(path.difference(k, path, best), (worse, error))
            is_worse = naive_is_worse(k, sizes[k], sizes[best], weights, mass)
            assert path.is_worse(k, path, best) == is_worse
            if not is_worse:
                wanted = k
        assert path.chosen == wanted
        chosen.add(wanted - best)
    assert len(chosen) > 2  # the rule matters


def test_a_smaller_model_costs_at_most_one_per_cent():
    rng = np.random.default_rng(3)
    rows, noise = rng.exponential(100.0, 50), 30 * rng.normal(size=50)
    noise -= noise.mean()  # the standard error is large
    for price, chosen in ((0.009, 1), (0.011, 2)):
        more = rows + noise + price * rows.mean()
        path = path_of([2 * rows], [more], [rows])
        difference, error = path.difference(1, path, 2)
        assert difference < error
        assert path.chosen == chosen
        assert path_of([more], [rows]).chosen == 0  # a first stage must be worth its error


def test_where_few_rows_have_nearly_all_of_the_loss_the_median_part_decides():
    """Two rows of the last part are off by far with any size."""
    sizes = [[3.0, 3.0], [3.0, 3.0], [900.0, 100.0]], [[2.0, 2.0], [2.0, 2.0], [400.0, 500.0]]
    path = path_of(*sizes)
    difference, error = path.difference(0, path, 1)
    assert difference <= error
    assert path.chosen == 1


def test_what_rows_have_in_common_says_nothing_of_a_difference():
    rng = np.random.default_rng(1)
    rows = rng.exponential(100.0, 50)
    path = path_of([rows + 0.1], [rows])
    difference, error = path.difference(0, path, 1)
    assert difference == pytest.approx(0.1)
    assert error < 1e-12
    assert path.chosen == 1


@pytest.mark.parametrize(("excess", "behind"), [(-0.3, False), (0.2, False), (0.25, True)])
def test_a_form_is_behind_if_its_best_is_worse_by_more_than_a_standard_error(excess, behind):
    """The differences of twenty rows are spread by one: the standard error is 0.22."""
    rows = np.linspace(1.0, 9.0, 20)
    spread = np.tile([-1.0, 1.0], 10)
    other = path_of([rows + 9.0], [rows], [rows + 5.0])
    path = path_of([rows + 9.0], [rows + 7.0], [rows + spread + excess])
    assert path.is_behind(other) is behind
    assert not path.is_behind(path)
    assert not path_of([np.full(20, math.inf)]).is_behind(other)  # which says nothing of the error


def test_an_infinite_loss_is_worse_than_any_other():
    ends = [3.0, 4.0, 5.0]
    path = path_of([ends], [[1.0, math.inf, 1.0]], [[2.0, 3.0, 4.0]], [[1.98, 3.02, 3.98]])
    assert path.losses[1] == math.inf
    assert path.best == 3
    assert path.chosen == 2
    assert path.is_worse(1, path, 0)
    assert not path.is_worse(0, path, 1)
    assert path.difference(1, path, 0) == (math.inf, math.inf)
    assert path.difference(0, path, 1) == (-math.inf, math.inf)
    record = path.record(False, True)
    assert record.errors[1] == math.inf  # a file must not hold NaN
    assert record.chosen == 2
    nothing = path_of([[math.inf, 1.0]], [[math.inf, 2.0]])
    assert nothing.chosen == 0
    assert not nothing.is_worse(0, nothing, 1)
    assert nothing.record(True, False).errors == (math.inf, math.inf)


def test_a_loss_whose_square_overflows_is_worse():
    path = path_of([[1e200, 1.0, 1.0]], [[1.0, 1.0, 1.0]])
    assert path.is_worse(0, path, 1)
    assert path.chosen == 1


def test_a_record_tells_the_path():
    rng = np.random.default_rng(14)
    sizes = random_sizes(rng)
    nearly = [part + np.resize([0.011, -0.01], len(part)) for part in sizes[-1]]
    path = path_of([2 * part for part in nearly], nearly, sizes[-1])
    assert path.best > path.chosen
    record = path.record(True, True)
    assert record.main_effects
    assert record.losses == tuple(path.losses)
    assert record.chosen == path.chosen
    assert path.record(False, False).chosen is None
    for size in range(len(path)):
        assert record.errors[size] == path.difference(size, path, path.best)[1]
    assert record.errors[path.best] == 0.0


@pytest.mark.parametrize("loss", [SquaredError(), Huber(1.5)])
def test_the_losses_of_held_out_rows_are_those_of_the_loss(loss):
    rng = np.random.default_rng(0)
    target, weight = rng.normal(size=50) * 3, rng.uniform(size=50)
    prediction = rng.normal(size=50)
    expected = [
        naive_loss(abs(y - predicted), loss.grid_threshold)
        for y, predicted in zip(target, prediction, strict=True)
    ]
    held = HeldOut(np.zeros((50, 1), dtype=np.uint16), target, weight, np.zeros(50), loss)
    np.testing.assert_allclose(held.losses(prediction), expected, rtol=1e-12)
    for odd in (np.inf, np.nan, 1e200):  # NaN would be the smallest of all errors
        assert (held.losses(np.full(50, odd)) > 1e150).all()


def naive_loss(off, threshold):
    return off**2 if off <= threshold else 2 * threshold * off - threshold**2


def training_data(X, y, weight=None):
    weight = np.ones(len(y)) if weight is None else weight
    none = np.zeros(X.shape[1], dtype=bool)
    workers = SerialWorkers(np.zeros(1, dtype=bool))
    bins, codes = bin_table(open_table(X), weight, none, 30, 5, workers.map)
    return TrainingData(bins, codes, y / y.std(), weight)


def test_groups_are_never_on_both_sides():
    data = training_data(*datasets.masked_interaction(400, random_state=0))
    groups = np.repeat(np.arange(40), 10)
    parts = held_out_parts(data, groups, 0.15)
    assert len(parts) == 5
    assert sorted(np.concatenate([held for _, held in parts])) == list(range(400))
    for fitted, held in parts:
        assert not set(groups[fitted]) & set(groups[held])


@pytest.mark.parametrize(("n_rows", "n_deals"), [(20, 5), (100, 3), (249, 2), (250, 1)])
def test_few_rows_are_dealt_out_several_times(n_rows, n_deals):
    data = training_data(*datasets.masked_interaction(n_rows, random_state=0))
    parts = held_out_parts(data, None, 0.15)
    assert len(parts) == 5 * n_deals
    held = np.bincount(np.concatenate([rows for _, rows in parts]), minlength=n_rows)
    assert (held == n_deals).all()
    assert len({tuple(rows) for _, rows in parts}) == len(parts)


@pytest.mark.parametrize(
    ("fraction", "n_starts", "n_parts"),
    [(0.15, 1, 2), (0.15, 2, 2), (0.15, 4, 4), (0.15, 9, 7), (0.5, 4, 2), (0.3, 9, 4)],
)
def test_of_many_rows_every_start_holds_out_a_part_as_long_as_there_are_any(
    fraction, n_starts, n_parts
):
    data = training_data(*datasets.masked_interaction(5001, random_state=0))
    parts = held_out_parts(data, None, fraction, n_starts)
    assert len(parts) == n_parts
    times = np.bincount(np.concatenate([held for _, held in parts]), minlength=5001)
    assert times.max() == 1  # parts share no rows
    last = 1.0 - fraction * (n_parts - 1) if n_parts > 1.0 / fraction else fraction
    shares = [len(held) / 5001 for _, held in parts]
    np.testing.assert_allclose(shares, [*[fraction] * (n_parts - 1), last], atol=0.001)
    for kept, held in parts:
        np.testing.assert_array_equal(np.union1d(kept, held), np.arange(5001))


def test_up_to_so_many_rows_all_are_held_out_once_whatever_the_number_of_starts():
    data = training_data(*datasets.masked_interaction(5000, random_state=0))
    assert len(held_out_parts(data, None, 0.15, 1)) == 5
    parts = held_out_parts(data, None, 0.15, 9)
    assert sorted(np.concatenate([held for _, held in parts])) == list(range(5000))
    assert len(parts) == 5


def test_rows_that_tell_little_count_less():
    """All rows are held out once as long as those that tell much are few."""
    data = training_data(*datasets.masked_interaction(6000, random_state=0))
    assert len(held_out_parts(data, None, 0.15, telling=5000.0 / 6000.0)) == 5
    assert len(held_out_parts(data, None, 0.15, telling=0.85)) == 2


def test_weights_are_numbers_of_rows():
    X, y = datasets.masked_interaction(300, random_state=0)
    data = training_data(X, y, np.full(300, 20.0))
    assert len(held_out_parts(data, None, 0.15)) == 2
    assert len(held_out_parts(training_data(X, y, np.full(300, 0.5)), None, 0.15)) == 10
