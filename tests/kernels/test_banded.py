import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from seplearn.kernels.banded import factorise, inverse_bands, solve_factorised
from seplearn.kernels.isotonic import make_monotone

pytestmark = pytest.mark.interpreted


def random_banded(n, q, seed):
    """A positive definite matrix with q off-diagonals, dense and as bands."""
    rng = np.random.default_rng(seed)
    factor = np.tril(rng.normal(size=(n, n)))
    factor[np.tril_indices(n, -q - 1)] = 0.0
    dense = factor @ factor.T + 0.1 * np.eye(n)
    bands = np.zeros((q + 1, n))
    for k in range(min(q, n - 1) + 1):
        bands[k, : n - k] = np.diag(dense, k)
    return dense, bands


@given(st.integers(1, 12), st.sampled_from([1, 2, 4]), st.integers(0, 10**6))
def test_solution_and_inverse_agree_with_dense_algebra(n, q, seed):
    dense, bands = random_banded(n, q, seed)
    x = np.random.default_rng(seed + 1).normal(size=n)
    expected, inverse = np.linalg.solve(dense, x), np.linalg.inv(dense)
    inverse_pivots, lower, selected = np.zeros(n), np.zeros((q + 1, n)), np.zeros((q + 1, n))
    factorise(bands, n, q, inverse_pivots, lower)
    solve_factorised(inverse_pivots, lower, n, q, x)
    inverse_bands(inverse_pivots, lower, n, q, selected)
    np.testing.assert_allclose(x, expected, rtol=1e-7, atol=1e-9)
    for k in range(min(q, n - 1) + 1):
        np.testing.assert_allclose(selected[k, : n - k], np.diag(inverse, k), rtol=1e-7, atol=1e-9)


@given(st.lists(st.floats(-5, 5), min_size=1, max_size=9), st.sampled_from([1.0, -1.0]))
def test_the_monotone_sequence_is_sklearns(values, sign):
    from sklearn.isotonic import isotonic_regression

    values = np.array(values)
    weights = np.linspace(1.0, 2.0, len(values))
    expected = isotonic_regression(values, sample_weight=weights, increasing=sign > 0)
    make_monotone(values, weights, sign)
    np.testing.assert_allclose(values, expected, rtol=1e-9, atol=1e-12)
    assert (np.diff(sign * values) >= 0).all()
