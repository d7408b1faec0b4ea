import numpy as np
import pytest
from hypothesis import given

from seplearn.kernels.arrays import Cuts, RefineRules, SortedRows
from seplearn.kernels.random import bootstrap_counts
from seplearn.kernels.refine import (
    best_on_axis,
    fit_single_grid,
    multiply_region,
    refine,
    refit_scalars,
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
    oracle = naive.Grid(
        problem.codes, problem.n_bins, problem.residual, problem.weight, problem.count, rules
    )
    state = start_grid(
        problem.codes,
        problem.offset,
        sort_by_bin(problem.codes, problem.offset),
        problem.residual,
        problem.weight,
        problem.count,
        rules,
    )
    return state, oracle


def scratch():
    return np.empty((7, 6)), Cuts(np.empty(7, dtype=np.int64), np.empty(7, dtype=np.int64))


def random_action(oracle, rng):
    """A random valid split or resplit as (axis, lo, cut, hi); None when there is none."""
    actions = [(j, *a) for j in range(len(oracle.n_bins)) for a in oracle.candidates(j)]
    return actions[rng.integers(len(actions))] if actions else None


def apply_action(state, rules, axis, lo, cut, hi):
    multiply_region(state, rules, axis, lo, cut)
    multiply_region(state, rules, axis, cut, hi)
    state.is_cut[state.offset[axis] + cut] = True


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
        np.array(refit_scalars(state, rules)) * [oracle.lambda_plus, oracle.lambda_minus],
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
        chosen = (best.axis, best.lo, best.cut, best.hi)
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
            assert (action.lo, action.cut, action.hi) in oracle.candidates(j)
            np.testing.assert_allclose(
                action.gain, oracle.gain(j, action.lo, action.cut, action.hi), rtol=1e-6, atol=1e-9
            )


def loss(state):
    weight, _, _, residual = state.rows.T
    return np.sum(weight * residual**2)


@given(problems(), rules())
def test_refine_adds_up_its_gains(problem, rules):
    rules = rules._replace(n_columns=problem.codes.shape[1], kappa=np.inf)
    state, _ = started(problem, rules)
    before = loss(state)
    n_actions, total = refine(state, rules, streams(problem), GO_ON)
    after = loss(state)
    assert n_actions <= 3 * rules.n_splits
    assert state.is_cut.sum() <= rules.n_splits
    # The gain is of the penalised loss, so the plain loss falls at least as much.
    assert before - after >= total - 1e-9 * (1 + before)


def test_stop_flag_ends_the_refinement():
    rng = np.random.default_rng(0)
    codes = rng.integers(0, 5, size=(50, 2)).astype(np.uint8)
    offset = np.array([0, 5, 10])
    result = fit_single_grid(
        codes,
        offset,
        sort_by_bin(codes, offset),
        rng.normal(size=50),
        np.ones(50),
        True,
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
        sort_by_bin(problem.codes, problem.offset),
        problem.residual,
        problem.weight,
        True,
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
    bootstrap_counts(np.array([12345], dtype=np.uint64), counts)
    assert counts.sum() == n
    # The share of rows left out is exp(-1), with a standard deviation of 0.005 here.
    assert abs((counts == 0).mean() - np.exp(-1)) < 0.02
    assert abs(counts.var() - 1.0) < 0.1
