import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from seplearn._params import TSL_PARAMETERS
from seplearn._workers import ThreadWorkers
from seplearn.fitting.aggregate import anchor_of, combine, cosine, n_kept
from seplearn.fitting.grid import Grid, centred
from seplearn.fitting.options import FitOptions
from tests import naive
from tests.problems import problems


def options(trim, anchor="medoid", products="difference"):
    values = {p.name: p.default for p in TSL_PARAMETERS}
    values |= {"trim": trim, "anchor": anchor, "products": products, "directions": ()}
    return FitOptions(**values)


def random_grids(problem, n_grids, spread=0.5):
    grids = []
    for _ in range(n_grids):
        logs = [np.log(np.concatenate(problem.random_factors(spread))) for _ in range(2)]
        raw = Grid(
            np.array(logs), np.zeros(len(logs[0]), bool), np.exp(problem.rng.normal(size=2)), 1
        )
        grids.append(centred(raw, problem.data))
    return grids


def split(flat, problem):
    return np.split(flat, problem.offset[1:-1])


def as_bag(grid, problem):
    plus, minus = (split(np.exp(logs), problem) for logs in grid.log_factors)
    return plus, minus, *grid.scalars


@given(
    problems(),
    st.sampled_from([1, 3, 4, 5, 6]),
    st.sampled_from([0.0, 0.3, 0.5, 0.9, 1.0]),
    st.sampled_from(["medoid", "centroid"]),
)
# Two grids are equally far from their centroid, so either may be the anchor: not tested.
def test_combine_agrees_with_the_oracle(problem, n_grids, trim, anchor):
    grids = random_grids(problem, n_grids)
    with ThreadWorkers(2) as workers:
        result = combine(grids, problem.data, (True, True), options(trim, anchor), workers)
    bags = [as_bag(grid, problem) for grid in grids]
    plus, minus, kept, scores = naive.combine(problem.codes, problem.weight, bags, trim, anchor)
    gaps = np.diff(np.sort(scores))
    if len(gaps) and gaps.min() < 1e-9:
        return  # equal scores: either choice is right
    assert result.kept.tolist() == kept
    stage = result.stage
    np.testing.assert_allclose(np.exp(stage.plus.log_factors), np.concatenate(plus), rtol=1e-9)
    np.testing.assert_allclose(np.exp(stage.minus.log_factors), np.concatenate(minus), rtol=1e-9)


@given(problems())
def test_centring_moves_the_constant_into_lambda(problem):
    factors = problem.random_factors()
    flat = np.log(np.concatenate(factors))
    raw = Grid(np.array([flat, -flat]), np.zeros(len(flat), bool), np.array([2.0, 3.0]), 1)
    result = centred(raw, problem.data)
    for side, given_factors, scalar in ((0, factors, 2.0), (1, [1 / f for f in factors], 3.0)):
        expected, expected_scalar = naive.centre(
            problem.codes, problem.weight, given_factors, scalar
        )
        # A bin without training rows and without order is neutral.
        bins = problem.data.bins
        known = (bins.frequencies > 0) | bins.is_ordered
        neutral = np.where(known, np.concatenate(expected), 1.0)
        np.testing.assert_allclose(np.exp(result.log_factors[side]), neutral, rtol=1e-9)
        assert result.scalars[side] == pytest.approx(expected_scalar, rel=1e-9)


@pytest.mark.parametrize("anchor", ["medoid", "centroid"])
@pytest.mark.parametrize("branches", [(True, False), (False, True)])
def test_one_branch_stages_are_compared_by_their_branch(branches, anchor):
    problem = fixed_problem()
    grids = random_grids(problem, 5)
    odd = Grid(grids[0].log_factors, grids[0].negative, np.array([99.0, 99.0]), 1)
    alike = [Grid(g.log_factors * 1e-3, g.negative, g.scalars, 1) for g in grids[1:]]
    with ThreadWorkers(1) as workers:
        result = combine([odd, *alike], problem.data, branches, options(0.2, anchor), workers)
    assert result.kept.tolist() == [1, 2, 3, 4]
    assert (result.stage.plus is not None, result.stage.minus is not None) == branches


def fixed_problem():
    from tests.problems import Problem

    rng = np.random.default_rng(5)
    codes = rng.integers(0, 4, size=(40, 2)).astype(np.uint8)
    return Problem(
        codes, [4, 4], rng.normal(size=40), np.ones(40), np.ones(40), rng, np.zeros(2, bool)
    )


def test_signed_factors_are_aligned_before_they_are_averaged():
    problem = fixed_problem()
    n_flat = problem.offset[-1]
    logs = problem.rng.normal(0, 0.3, n_flat)
    negative = problem.rng.random(n_flat) < 0.3
    first_axis = np.arange(n_flat) < 4
    one = Grid(np.array([logs, 0 * logs]), negative, np.array([1.0, 0.0]), 1)
    # The same product with both factors turned around, and with the sign moved into lambda.
    turned = Grid(np.array([logs, 0 * logs]), ~negative, np.array([1.0, 0.0]), 1)
    half = Grid(np.array([logs, 0 * logs]), negative ^ first_axis, np.array([1.0, 0.0]), 1)
    grids = [one, turned, half]
    with ThreadWorkers(1) as workers:
        stage = combine(
            grids, problem.data, (True, False), options(0.0, products="single"), workers
        ).stage
        trimmed = combine(
            grids, problem.data, (True, False), options(0.4, products="single"), workers
        )
    values = np.abs(stage.plus.evaluate(problem.codes, problem.data.bins))
    expected = np.exp(np.array([logs[[a, 4 + b]].sum() for a, b in problem.codes.astype(int)]))
    np.testing.assert_allclose(values / values[0], expected / expected[0], rtol=1e-9)
    assert len(trimmed.kept) == 2


def test_anchor_is_closest_to_the_centroid():
    assert anchor_of(np.array([[0.0, 0.0], [1.0, 1.0], [5.0, 5.0]])) == 1


@given(st.integers(1, 600), st.floats(0, 1))
def test_number_kept(n_grids, trim):
    kept = n_kept(n_grids, trim)
    assert 1 <= kept <= n_grids
    assert abs(kept - max(1, math.ceil((1 - trim) * n_grids))) <= 1
    assert n_kept(10, 0.9) == 1
    assert n_kept(10, 0.0) == 10
    assert n_kept(10, 0.3) == 7


def test_cosine_of_nothing():
    zero, one, weight = np.zeros(3), np.ones(3), np.ones(3)
    assert cosine(zero, zero, weight) == 1.0
    assert cosine(zero, one, weight) == 0.0
    assert cosine(one, -one, weight) == pytest.approx(-1.0)
