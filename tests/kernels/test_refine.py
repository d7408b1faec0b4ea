import os

import numpy as np
import pytest
from hypothesis import given

from seplearn.fitting.draws import make_draws
from seplearn.kernels.arrays import Cuts, Draws, RefineRules, SortedRows
from seplearn.kernels.random import bootstrap_counts, draw_below
from seplearn.kernels.refine import (
    best_on_axis,
    fit_single_grid,
    multiply_region,
    refine,
    solve_region,
    start_grid,
)
from seplearn.kernels.sums import rows_of_bag, sort_by_bin
from tests import naive
from tests.problems import problems, rules

pytestmark = pytest.mark.interpreted

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
    in_paper_order = state.sums[:, [0, 2, 3, 1, 4, 5]]
    np.testing.assert_allclose(in_paper_order, expected, atol=1e-9 * scale, rtol=1e-9)


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
    rules = rules._replace(n_columns=problem.codes.shape[1], kappa=np.inf)
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
        make_draws(problem.data, np.arange(problem.codes.shape[1], dtype=np.uint64), True),
        rules,
        streams(problem),
        GO_ON,
    )
    log_factors, _, scalars, n_actions = result
    assert np.isfinite(log_factors).all()
    assert np.isfinite(scalars).all()
    assert n_actions <= 3 * rules.n_splits


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
@pytest.mark.parametrize("kappa", [np.inf, 0.5])
def test_sums_of_a_large_table_are_those_of_its_rows(kappa):
    """Large intervals of large tables are read in another order; the sums must not notice."""
    rng = np.random.default_rng(0)
    n, offset = 250_000, np.array([0, 30, 36])
    codes = np.stack([rng.integers(0, 29, n), rng.integers(0, 6, n)], axis=1).astype(np.uint8)
    residual = np.where(codes[:, 0] > 15, 1.0, -1.0) * (codes[:, 1] % 2) + rng.normal(size=n)
    rules = RefineRules(8, 2, 30, 5.0, 0.0, 1e-3, 0.3, 3.0, kappa, True, False)
    times = rng.poisson(1.0, n).astype(float)
    everyone = sort_by_bin(codes, offset)
    categorical = np.array([False, True])
    state = start_grid(codes, offset, categorical, everyone, residual, times, 1.0, rules)
    n_actions, _ = refine(state, rules, np.arange(1, 4, dtype=np.uint64), GO_ON)
    assert n_actions >= 8
    w, plus, minus, r = state.rows.T
    w = w * np.minimum(1.0, kappa / np.abs(r))
    parts = [w * plus**2, w * r * plus, w * minus**2, -w * plus * minus, -w * r * minus, times]
    for j, first in enumerate(offset[:-1]):
        expected = [np.bincount(codes[:, j], p, offset[j + 1] - first) for p in parts]
        found = state.sums[first : offset[j + 1], :6].T
        np.testing.assert_allclose(found, expected, rtol=1e-8, atol=1e-6)
