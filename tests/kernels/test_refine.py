import os
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from seplearn.fitting.draws import make_draws
from seplearn.kernels import random as random_parts
from seplearn.kernels import refine as refine_parts
from seplearn.kernels import sums as sums_parts
from seplearn.kernels.arrays import Cuts, Draws, RefineRules, SortedRows
from seplearn.kernels.refine import fit_single_grid
from seplearn.kernels.sums import COUNT, sort_by_bin
from tests import naive
from tests.compiled import as_kernel
from tests.problems import problems, rules

pytestmark = pytest.mark.interpreted

bootstrap_counts = as_kernel(random_parts.bootstrap_counts)
draw_below = as_kernel(random_parts.draw_below)
best_on_axis = as_kernel(refine_parts.best_on_axis)
multiply_region = as_kernel(refine_parts.multiply_region)
order_levels = as_kernel(refine_parts.order_levels)
refine = as_kernel(refine_parts.refine)
solve_region = as_kernel(refine_parts.solve_region)
start_grid = as_kernel(refine_parts.start_grid)
valid_cuts = as_kernel(refine_parts.valid_cuts)
fill_sums = as_kernel(sums_parts.fill_sums)
rows_of_bag = as_kernel(sums_parts.rows_of_bag)

GO_ON = np.zeros(1, dtype=np.bool_)


def streams(problem):
    size = problem.codes.shape[1] + 2
    return problem.rng.integers(1, 2**63, size=size, dtype=np.uint64)


def started(problem, rules):
    """The kernel's state and the oracle's grid for the same bag, before any action."""
    state = start_grid(
        problem.codes,
        problem.offset,
        problem.categorical,
        sort_by_bin(problem.codes, problem.offset),
        problem.residual,
        problem.count,
        problem.unit,
        rules,
    )
    return state, naive.Grid(problem, rules)


def scratch():
    return np.empty((7, 6)), Cuts(np.empty(7, dtype=np.int64), np.empty(7, dtype=np.int64))


def random_action(oracle, rng):
    """A random valid split or resplit as (axis, left bins, right bins); None when there is none."""
    actions = [(j, *a) for j in range(len(oracle.n_bins)) for a in oracle.candidates(j)]
    return actions[rng.integers(len(actions))] if actions else None


def apply_action(state, rules, axis, left, right):
    """Apply an action of the oracle: bring the left bins to the front of their interval first."""
    first = state.offset[axis]
    at = np.flatnonzero(
        np.isin(state.bin_at[first : state.offset[axis + 1]] - first, [*left, *right])
    )
    lo, cut, hi = at[0], at[0] + len(left), at[-1] + 1
    assert hi - lo == len(left) + len(right)
    state.bin_at[first + lo : first + hi] = first + np.array([*left, *right])
    multiply_region(state, rules, axis, lo, cut)
    multiply_region(state, rules, axis, cut, hi)
    state.is_cut[first + cut] = True


def bins_of(state, action):
    """(axis, left bins, right bins) of an action of the kernel."""
    bins = state.bin_at[state.offset[action.axis] : state.offset[action.axis + 1]]
    bins = bins - state.offset[action.axis]
    left, right = bins[action.lo : action.cut], bins[action.cut : action.hi]
    return action.axis, left.tolist(), right.tolist()


def assert_sums_agree(state, oracle):
    expected = oracle.sums()
    scale = np.abs(expected).max() + 1.0
    np.testing.assert_allclose(state.sums[:, :6], expected, atol=1e-9 * scale, rtol=1e-9)


@given(problems(), rules())
def test_sums_after_any_sequence_of_actions(problem, rules):
    state, oracle = started(problem, rules)
    assert_sums_agree(state, oracle)
    for _ in range(5):
        action = random_action(oracle, problem.rng)
        if action is None:
            return
        apply_action(state, rules, *action)
        oracle.apply(*action)
        assert_sums_agree(state, oracle)
    signs = np.where(state.negative, -1.0, 1.0)
    np.testing.assert_allclose(
        signs * np.exp(state.log_factors[0]), np.concatenate(oracle.plus), rtol=1e-9
    )
    np.testing.assert_allclose(
        np.exp(state.log_factors[1]), np.concatenate(oracle.minus), rtol=1e-9
    )
    np.testing.assert_allclose(
        np.array(solve_region(state, rules, 0, problem.offset[1]))
        * [oracle.lambda_plus, oracle.lambda_minus],
        oracle.refitted_scalars(),
        rtol=1e-6,
        atol=1e-9,
    )


@given(problems(max_rows=40, max_bins=9), rules(threshold=np.inf, two_branches=True, signed=False))
def test_levels_are_ordered_by_the_push_they_ask_for(problem, rules):
    state, oracle = started(problem, rules)
    oracle.plus, oracle.minus = problem.random_factors(1.0), problem.random_factors(1.0)
    state.rows[:], state.sums[:] = oracle.rows(), 0.0
    fill_sums(state, rules.threshold)
    for j in np.flatnonzero(problem.categorical):
        part = slice(problem.offset[j], problem.offset[j + 1])
        state.is_cut[part.stop - 2] = True
        order_levels(state, j)
        levels = (state.bin_at[part] - part.start).tolist()
        pushes = [oracle.push(j, level) for level in levels]
        assert sorted(levels[-2:]) == [len(levels) - 2, len(levels) - 1]  # an interval of their own
        assert pushes[:-2] == sorted(pushes[:-2])
        assert pushes[-2:] == sorted(pushes[-2:])


@given(problems(), rules())
def test_the_chosen_action_is_the_best_of_all(problem, rules):
    state, oracle = started(problem, rules)
    prefix, cuts = scratch()
    random = np.ones(1, dtype=np.uint64)
    for _ in range(3):
        actions = [
            best_on_axis(state, j, rules, random, prefix, cuts) for j in range(len(problem.n_bins))
        ]
        best = max(actions, key=lambda action: action.gain)
        expected = oracle.best_gain()
        if expected <= rules.min_gain:
            assert best.gain == rules.min_gain
            return
        np.testing.assert_allclose(best.gain, expected, rtol=1e-6, atol=1e-9)
        if best.hi == 0:
            return
        chosen = bins_of(state, best)
        np.testing.assert_allclose(oracle.gain(*chosen), expected, rtol=1e-6, atol=1e-9)
        apply_action(state, rules, *chosen)
        oracle.apply(*chosen)


@given(problems(), rules(split_try=1))
def test_sampled_cuts_are_valid_ones(problem, rules):
    state, oracle = started(problem, rules)
    prefix, cuts = scratch()
    for j in range(len(problem.n_bins)):
        action = best_on_axis(state, j, rules, streams(problem), prefix, cuts)
        if action.hi > 0:
            _, left, right = bins_of(state, action)
            valid = [(set(a), set(b)) for a, b in oracle.candidates(j)]
            assert (set(left), set(right)) in valid
            np.testing.assert_allclose(
                action.gain, oracle.gain(j, left, right), rtol=1e-6, atol=1e-9
            )


def loss(state):
    weight, _, _, residual = state.rows.T
    return np.sum(weight * residual**2)


@given(problems(), rules())
def test_refine_adds_up_its_gains(problem, rules):
    rules = rules._replace(n_columns=problem.codes.shape[1], threshold=np.inf)
    state, oracle = started(problem, rules)
    before = loss(state)
    n_actions, total = refine(state, rules, streams(problem), GO_ON)
    after = loss(state)
    assert n_actions <= 3 * rules.n_splits
    assert (n_actions > 0) == (oracle.best_gain() > rules.min_gain)
    assert state.is_cut.sum() <= rules.n_splits + np.sum(~problem.categorical)
    # The gain is of the penalised loss, so the plain loss falls at least as much.
    assert before - after >= total - 1e-9 * (1 + before)


def test_stop_flag_ends_the_refinement():
    rng = np.random.default_rng(0)
    codes = rng.integers(0, 5, size=(50, 2)).astype(np.uint8)
    offset = np.array([0, 5, 10])
    result = fit_single_grid(
        codes,
        offset,
        np.zeros(2, dtype=np.bool_),
        sort_by_bin(codes, offset),
        rng.normal(size=50),
        Draws(True, 50, 1.0, np.ones(50), np.arange(50), np.empty(0)),
        rules_for_stop(),
        np.arange(1, 5, dtype=np.uint64),
        np.ones(1, dtype=np.bool_),
    )
    assert result[3] == 0


def rules_for_stop():
    return RefineRules(5, 2, 5, 1.0, 0.0, 1e-3, 0.5, 2.0, np.inf, True, False)


@given(problems(), rules())
def test_one_column_per_step_is_a_column_of_the_table(problem, rules):
    rules = rules._replace(n_columns=1)
    result = fit_single_grid(
        problem.codes,
        problem.offset,
        problem.categorical,
        sort_by_bin(problem.codes, problem.offset),
        problem.residual,
        make_draws(problem.data, True),
        rules,
        streams(problem),
        GO_ON,
    )
    log_factors, _, scalars, n_actions = result
    assert np.isfinite(log_factors).all()
    assert np.isfinite(scalars).all()
    assert n_actions <= 3 * rules.n_splits


@given(st.lists(st.sampled_from([0.0, 1.0, 2.0, 3.0]), min_size=1, max_size=7), st.integers(1, 3))
def test_cuts_that_divide_the_rows_alike_are_offered_once(counts, min_samples):
    prefix, cuts = scratch()
    prefix[: len(counts), COUNT] = np.cumsum(counts)
    found = cuts.at[: valid_cuts(prefix, 0, len(counts), float(min_samples), cuts, 0)].tolist()
    sides = [(sum(counts[:cut]), sum(counts[cut:])) for cut in range(len(counts) + 1)]
    expected = {pair for pair in sides if min(pair) >= min_samples}
    assert sorted(sides[cut] for cut in found) == sorted(expected)


def table_of_steps(n_bins, seed=0):
    """Three ordered axes, all of them with much to gain."""
    rng = np.random.default_rng(seed)
    codes = rng.integers(0, n_bins, size=(90, 3)).astype(np.uint8)
    offset = (n_bins + 1) * np.arange(4)
    residual = codes @ np.array([1.0, -1.0, 0.5]) + rng.normal(0, 0.1, 90)
    return codes, offset, np.zeros(3, dtype=np.bool_), sort_by_bin(codes, offset), residual


def test_columns_and_cuts_are_drawn_anew_at_every_step():
    codes, offset, *rest = table_of_steps(5)
    rules = rules_for_stop()._replace(n_splits=1, n_columns=1, split_try=1)
    seen = set()
    for seed in range(60):
        state = start_grid(codes, offset, *rest, np.ones(90), 1.0, rules)
        before = state.is_cut.copy()
        random = np.random.default_rng(seed).integers(1, 2**60, size=5, dtype=np.uint64)
        random[:3] += np.arange(1, 4, dtype=np.uint64) << np.uint64(60)  # in the columns' order
        refine(state, rules, random, GO_ON)
        seen |= set(np.flatnonzero(state.is_cut & ~before))
    assert seen == {first + cut for first in offset[:3] for cut in range(1, 5)}


def test_columns_without_anything_to_gain_do_not_end_a_grid():
    codes, _, categorical, _, residual = table_of_steps(5)
    codes[:, :2], offset = 0, 6 * np.arange(4)
    rules = rules_for_stop()._replace(n_columns=1)
    for seed in range(8):
        rest = categorical, sort_by_bin(codes, offset), residual
        state = start_grid(codes, offset, *rest, np.ones(90), 1.0, rules)
        random = np.random.default_rng(seed).integers(1, 2**60, size=5, dtype=np.uint64)
        assert refine(state, rules, random, GO_ON)[0] >= 4


@pytest.mark.parametrize("n_splits", [2, 4])
@pytest.mark.parametrize("n_columns", [1, 3])
def test_resplits_come_on_top_of_splits_twice_as_many_at_most(n_splits, n_columns):
    codes, offset, *rest = table_of_steps(2)  # a single cut on each axis
    rules = rules_for_stop()._replace(
        n_splits=n_splits, n_columns=n_columns, v_min=0.99, v_max=1.01
    )
    state = start_grid(codes, offset, *rest, np.ones(90), 1.0, rules)
    n_missing = state.is_cut.sum()
    n_actions, _ = refine(state, rules, np.arange(1, 6, dtype=np.uint64), GO_ON)
    n_cuts = state.is_cut.sum() - n_missing
    assert n_actions > n_cuts > 0
    # Such small steps always leave something to gain: the loop ends by its limits alone.
    assert n_actions == 3 * n_splits if n_cuts < n_splits else n_cuts == n_splits


@given(problems(), rules(n_splits=0), st.booleans())
def test_a_grid_without_splits_is_the_projection_of_its_bag(problem, rules, bootstrap):
    random = streams(problem)
    everyone = sort_by_bin(problem.codes, problem.offset)
    draws = make_draws(problem.data, bootstrap)
    count = draws.times.copy()
    if bootstrap:
        count[:] = 0.0
        stream = random[problem.codes.shape[1] + 1 :].copy()
        bootstrap_counts(stream, draws.n_draws, draws.order, draws.cumulative, count)
    log_factors, _, scalars, n_actions = fit_single_grid(
        problem.codes, problem.offset, problem.categorical, everyone, problem.residual, draws,
        rules, random, GO_ON,
    )  # fmt: skip
    oracle = naive.Grid(replace(problem, count=count, unit=draws.unit), rules)
    assert n_actions == 0
    assert (log_factors == 0).all()
    np.testing.assert_allclose(scalars, oracle.refitted_scalars(), rtol=1e-6, atol=1e-9)


@given(problems())
def test_rows_of_a_bag_are_sorted_by_bin_on_every_axis(problem):
    everyone = sort_by_bin(problem.codes, problem.offset)
    bag = SortedRows(np.empty_like(everyone.order), np.empty_like(everyone.start))
    rows_of_bag(everyone, problem.offset, problem.count, bag)
    for rows, chosen in ((everyone, np.ones(len(problem.codes), bool)), (bag, problem.count > 0)):
        for j, n_bins in enumerate(problem.n_bins):
            for b in range(n_bins):
                first = problem.offset[j] + j + b
                found = rows.order[j, rows.start[first] : rows.start[first + 1]]
                expected = np.flatnonzero((problem.codes[:, j] == b) & chosen)
                np.testing.assert_array_equal(found, expected)


def test_bootstrap_counts_are_those_of_a_sample_with_replacement():
    n = 4000
    counts = np.zeros(n)
    bootstrap_counts(np.array([12345], dtype=np.uint64), n, np.arange(n), np.empty(0), counts)
    assert counts.sum() == n
    # The share of rows left out is exp(-1), with a standard deviation of 0.005 here.
    assert abs((counts == 0).mean() - np.exp(-1)) < 0.02
    assert abs(counts.var() - 1.0) < 0.1


@given(problems())
def test_weighted_bootstrap_agrees_with_the_oracle(problem):
    n_draws = 25
    counts = np.zeros(len(problem.weight))
    cumulative = np.cumsum(problem.weight)
    order = np.arange(len(counts))
    bootstrap_counts(np.array([7], dtype=np.uint64), n_draws, order, cumulative, counts)
    state = np.array([7], dtype=np.uint64)
    draws = [int(draw_below(state, n_draws)) for _ in range(n_draws)]
    assert counts.tolist() == naive.bootstrap_counts(draws, n_draws, problem.weight.tolist())


def test_drawing_weighted_rows_is_drawing_repeated_rows():
    weight = np.array([2.0, 1.0, 3.0])
    state = np.array([5], dtype=np.uint64)
    weighted, repeated = np.zeros(3), np.zeros(6)
    bootstrap_counts(state.copy(), 6, np.arange(3), np.cumsum(weight), weighted)
    bootstrap_counts(state.copy(), 6, np.arange(6), np.empty(0), repeated)
    assert weighted.tolist() == [repeated[:2].sum(), repeated[2], repeated[3:].sum()]


@pytest.mark.skipif(
    os.environ.get("NUMBA_DISABLE_JIT") == "1", reason="too many rows for the interpreter"
)
@pytest.mark.parametrize("threshold", [np.inf, 0.5])
def test_sums_of_a_large_table_are_those_of_its_rows(threshold):
    """Large intervals of large tables are read in another order; the sums must not notice."""
    rng = np.random.default_rng(0)
    n, offset = 250_000, np.array([0, 30, 36])
    codes = np.stack([rng.integers(0, 29, n), rng.integers(0, 6, n)], axis=1).astype(np.uint8)
    residual = np.where(codes[:, 0] > 15, 1.0, -1.0) * (codes[:, 1] % 2) + rng.normal(size=n)
    rules = RefineRules(8, 2, 30, 5.0, 0.0, 1e-3, 0.3, 3.0, threshold, True, False)
    times = rng.poisson(1.0, n).astype(float)
    everyone = sort_by_bin(codes, offset)
    categorical = np.array([False, True])
    state = start_grid(codes, offset, categorical, everyone, residual, times, 1.0, rules)
    start = state.rows[0, 1:3].copy()
    n_actions, _ = refine(state, rules, np.arange(1, 4, dtype=np.uint64), GO_ON)
    assert n_actions >= 8
    in_bag = times > 0
    for side in range(2):
        logs = state.log_factors[side][codes.astype(np.int64) + offset[:2]].sum(axis=1)
        found = state.rows[in_bag, 1 + side]
        np.testing.assert_allclose(found, start[side] * np.exp(logs[in_bag]), rtol=1e-9)
    w, plus, minus, r = state.rows.T
    w = w * np.minimum(1.0, threshold / np.abs(r))
    parts = [w * plus**2, w * r * plus, w * minus**2, w * plus * minus, w * r * minus, times]
    for j, first in enumerate(offset[:-1]):
        expected = [np.bincount(codes[:, j], p, offset[j + 1] - first) for p in parts]
        found = state.sums[first : offset[j + 1], :6].T
        np.testing.assert_allclose(found, expected, rtol=1e-8, atol=1e-6)
