import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from seplearn.kernels import random
from seplearn.kernels.evaluate import (
    assign_bins,
    distances_to,
    log_products,
    product_signs,
    weighted_dot,
)
from tests import naive
from tests.compiled import as_kernel
from tests.problems import problems

pytestmark = pytest.mark.interpreted

draw_below = as_kernel(random.draw_below)
draw_head = as_kernel(random.draw_head)

finite = st.floats(-1e6, 1e6)


@given(st.lists(finite, max_size=12, unique=True), st.lists(finite, min_size=1, max_size=20))
def test_bins_are_counts_of_edges_at_or_below(edges, values):
    edges = np.sort(np.array(edges, dtype=float))
    values = np.array([*values, *edges])
    codes = np.empty(len(values), dtype=np.uint8)
    assign_bins(values, edges, codes)
    assert codes.tolist() == [naive.edges_rule(edges, value) for value in values]
    assign_bins(np.full(len(values), np.nan), edges, codes)
    assert (codes == len(edges) + 1).all()


@given(problems(dtype=np.uint16))
def test_products_of_factors(problem):
    factors = problem.random_factors()
    signs = [problem.rng.choice([-1.0, 1.0], size=b) for b in problem.n_bins]
    logs, parity = np.empty((2, len(problem.codes)))
    log_products(problem.codes, problem.offset, np.log(np.concatenate(factors)), logs)
    product_signs(problem.codes, problem.offset, np.concatenate(signs) < 0, parity)
    np.testing.assert_allclose(np.exp(logs), naive.product(problem.codes, factors), rtol=1e-12)
    np.testing.assert_array_equal(parity, naive.product(problem.codes, signs))


@given(problems())
def test_distances(problem):
    points = problem.rng.normal(size=(5, 3))
    found = np.empty(5)
    distances_to(points, 2, found)
    np.testing.assert_allclose(found, np.linalg.norm(points - points[2], axis=1), rtol=1e-12)
    assert found[2] == 0.0


@given(problems())
def test_weighted_dot(problem):
    a, b = problem.rng.normal(size=(2, len(problem.weight)))
    expected = sum(w * x * y for w, x, y in zip(problem.weight, a, b, strict=True))
    assert weighted_dot(a, b, problem.weight) == pytest.approx(expected, rel=1e-9, abs=1e-12)


@given(problems())
def test_distances_are_euclidean(problem):
    points = problem.rng.normal(size=(4, 3))
    out = np.empty(4)
    for c in range(4):
        distances_to(points, c, out)
        np.testing.assert_allclose(out, np.linalg.norm(points - points[c], axis=1), rtol=1e-12)


@given(st.integers(1, 2**63 - 1), st.integers(1, 1000))
def test_draws_stay_below_their_bound(seed, n):
    state = np.array([seed], dtype=np.uint64)
    assert all(0 <= draw_below(state, n) < n for _ in range(20))


def test_draws_are_uniform():
    state = np.array([99], dtype=np.uint64)
    counts = np.bincount([draw_below(state, 8) for _ in range(8000)], minlength=8)
    # Chi-squared with 7 degrees of freedom: 24.3 is its 99.9 % point.
    assert ((counts - 1000.0) ** 2 / 1000.0).sum() < 24.3


@given(st.integers(1, 2**63 - 1), st.integers(1, 20), st.data())
def test_a_head_is_a_sample_without_replacement(seed, n, data):
    k = data.draw(st.integers(0, n))
    items = np.arange(100, 100 + n)
    draw_head(np.array([seed], dtype=np.uint64), k, n, items)
    assert sorted(items) == list(range(100, 100 + n))


def test_every_item_is_as_often_in_a_head_as_any_other():
    state, counts = np.array([4711], dtype=np.uint64), np.zeros(5)
    for _ in range(2000):
        items = np.arange(5)
        draw_head(state, 2, 5, items)
        counts[items[:2]] += 1.0
    # Each is in a head with probability 0.4: 800 times, with a standard deviation of 22.
    assert np.abs(counts - 800.0).max() < 88.0
