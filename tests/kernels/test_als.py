import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from seplearn.kernels.als import (
    dense_normal_equations,
    mode_sums,
    multiply_in,
    normal_equations,
    products_behind,
    scale_sums,
)
from tests import naive_sepals
from tests.problems import problems

pytestmark = pytest.mark.interpreted


def parts(problem, rank, m=3):
    """Random functions in the bins, random coefficients, and the factors they make."""
    bases = [problem.rng.normal(size=(b, m)) for b in problem.n_bins]
    for basis in bases:
        basis[problem.rng.random(basis.shape) < 0.3] = 0.0
    coefficients = [problem.rng.normal(size=(m, rank)) for _ in bases]
    factors = np.concatenate([b @ c for b, c in zip(bases, coefficients, strict=True)])
    return bases, coefficients, factors


@given(problems(max_rows=25), st.integers(1, 3))
def test_sums_per_bin_make_the_normal_equations_of_all_rows(problem, rank):
    bases, coefficients, factors = parts(problem, rank)
    target = problem.rng.normal(size=len(problem.codes))
    designs = [basis[problem.codes[:, j]] for j, basis in enumerate(bases)]
    codes = np.ascontiguousarray(problem.codes.T)
    behind = np.empty((len(bases), len(target), rank))
    each = tuple(range(rank))
    products_behind(codes, problem.offset, factors, each, behind)
    before = np.ones((len(target), rank))
    for mode, basis in enumerate(bases):
        n_bins, m = basis.shape
        sums = np.empty((n_bins, rank * (rank + 3) // 2))
        mode_sums(codes[mode], before, behind[mode], target, problem.weight, each, sums)
        multiply_in(codes[mode], factors[problem.offset[mode] :], each, before)
        A = naive_sepals.mode_design(designs, coefficients, mode)
        expected = A.T @ (problem.weight[:, None] * A)
        scale = 1.0 + np.abs(expected).max()
        matrix, vector = np.empty((rank * m, rank * m)), np.empty(rank * m)
        normal_equations(basis, sums, matrix, vector)
        np.testing.assert_allclose(np.tril(matrix), np.tril(expected), atol=1e-10 * scale)
        wanted = A.T @ (problem.weight * target)
        np.testing.assert_allclose(vector, wanted, atol=1e-10 * scale)
        k, x = np.tril_indices(m)
        matrix[:], vector[:] = np.nan, np.nan
        dense_normal_equations(basis[:, k] * basis[:, x], basis, sums, matrix, vector)
        np.testing.assert_allclose(np.tril(matrix), np.tril(expected), atol=1e-10 * scale)
        np.testing.assert_allclose(vector, wanted, atol=1e-10 * scale)
    np.testing.assert_allclose(before, naive_sepals.products(designs, coefficients), rtol=1e-10)


@given(problems(max_rows=25), st.integers(1, 3))
def test_the_scales_have_the_normal_equations_of_products_and_a_constant(problem, rank):
    n = len(problem.codes)
    products, target = problem.rng.normal(size=(n, rank)), problem.rng.normal(size=n)
    matrix, vector = np.empty((rank + 1, rank + 1)), np.empty(rank + 1)
    scale_sums(products, target, problem.weight, tuple(range(rank)), matrix, vector)
    A = np.column_stack([products, np.ones(n)])
    expected = A.T @ (problem.weight[:, None] * A)
    scale = 1.0 + np.abs(expected).max()
    np.testing.assert_allclose(matrix, np.tril(expected), atol=1e-12 * scale)
    np.testing.assert_allclose(vector, A.T @ (problem.weight * target), atol=1e-12 * scale)
