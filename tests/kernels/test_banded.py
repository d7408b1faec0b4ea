import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from seplearn.kernels import banded, isotonic
from tests.compiled import as_kernel

pytestmark = pytest.mark.interpreted

backward_row = as_kernel(banded.backward_row)
factorise_row = as_kernel(banded.factorise_row)
forward_row = as_kernel(banded.forward_row)
inverse_row = as_kernel(banded.inverse_row)
make_monotone = as_kernel(isotonic.make_monotone)


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


@given(st.integers(1, 12), st.sampled_from([1, 2, 4]), st.integers(1, 3), st.integers(0, 10**6))
def test_solution_and_inverse_agree_with_dense_algebra(n, q, stride, seed):
    """Of several matrices that stand interleaved; of one of them for a right side too."""
    margin = q * stride
    rows = range(margin, margin + n * stride)
    bands = np.zeros((q + 1, n * stride + 2 * margin))
    dense = []
    for k in range(stride):
        matrix, own = random_banded(n, q, seed + k)
        bands[:, margin + k : margin + n * stride : stride] = own
        dense.append(matrix)
    pivots, lower = np.zeros(bands.shape[1]), np.zeros_like(bands)
    x = np.zeros(bands.shape[1])
    x[list(rows)] = np.random.default_rng(seed + 9).normal(size=len(rows))
    expected = [np.linalg.solve(dense[0], x[list(rows)])] if stride == 1 else []
    for i in rows:
        factorise_row(bands, pivots, lower, i, q, stride)
        if stride == 1:
            forward_row(lower, x, i, q)
    for i in reversed(rows):
        if stride == 1:
            backward_row(pivots, lower, x, i, q)
        inverse_row(pivots, lower, bands, i, q, stride)
    for solution in expected:
        np.testing.assert_allclose(x[list(rows)], solution, rtol=1e-7, atol=1e-9)
    for first, matrix in enumerate(dense):
        inverse = np.linalg.inv(matrix)
        own = bands[:, margin + first : margin + n * stride : stride]
        for k in range(min(q, n - 1) + 1):
            np.testing.assert_allclose(own[k, : n - k], np.diag(inverse, k), rtol=1e-7, atol=1e-9)


@given(st.lists(st.floats(-5, 5), min_size=1, max_size=9), st.sampled_from([1.0, -1.0]))
def test_the_monotone_sequence_is_sklearns(values, sign):
    from sklearn.isotonic import isotonic_regression

    values = np.array(values)
    weights = np.linspace(1.0, 2.0, len(values))
    expected = isotonic_regression(values, sample_weight=weights, increasing=sign > 0)
    make_monotone(values, weights, sign)
    np.testing.assert_allclose(values, expected, rtol=1e-9, atol=1e-12)
    assert (np.diff(sign * values) >= 0).all()
