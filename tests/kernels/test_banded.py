import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from seplearn.kernels import banded, isotonic
from tests.compiled import as_kernel

pytestmark = pytest.mark.interpreted

factorise_two, forward_two = as_kernel(banded.factorise_two), as_kernel(banded.forward_two)
backward_two, inverse_two = as_kernel(banded.backward_two), as_kernel(banded.inverse_two)
factorise_four, forward_four = as_kernel(banded.factorise_four), as_kernel(banded.forward_four)
backward_four, inverse_four = as_kernel(banded.backward_four), as_kernel(banded.inverse_four)
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


def in_margins(values, margin):
    """Rows (of bands) with zeros before and after them."""
    return np.pad(values, [(0, 0)] * (np.ndim(values) - 1) + [(margin, margin)])


def assert_bands_of_inverse(bands, dense):
    inverse = np.linalg.inv(dense)
    for k in range(min(len(bands), len(dense))):
        own = bands[k, : len(dense) - k]
        np.testing.assert_allclose(own, np.diag(inverse, k), rtol=1e-7, atol=1e-9)


# What is done to a row of a matrix of so many off-diagonals that stands alone.
ROW = {
    2: (
        lambda bands, pivots, lower, i: factorise_two(bands, pivots, lower, i, 1),
        forward_two,
        backward_two,
        lambda pivots, lower, inverse, i: inverse_two(pivots, lower, inverse, i, 1),
    ),
    4: (factorise_four, forward_four, backward_four, inverse_four),
}


@pytest.mark.parametrize("q", ROW)
@given(st.integers(1, 12), st.integers(0, 10**6))
def test_solution_and_inverse_agree_with_dense_algebra(q, n, seed):
    factorise, forward, backward, invert = ROW[q]
    dense, own = random_banded(n, q, seed)
    right = np.random.default_rng(seed + 9).normal(size=n)
    bands, x = in_margins(own, q), in_margins(right, q)
    pivots, lower = np.zeros(n + 2 * q), np.zeros((q + 1, n + 2 * q))
    for i in range(q, n + q):
        factorise(bands, pivots, lower, i)
        forward(lower, x, i)
    for i in reversed(range(q, n + q)):
        backward(pivots, lower, x, i)
        invert(pivots, lower, bands, i)
    np.testing.assert_allclose(x[q:-q], np.linalg.solve(dense, right), rtol=1e-7, atol=1e-9)
    assert_bands_of_inverse(bands[:, q:-q], dense)


@given(st.integers(1, 12), st.integers(1, 3), st.integers(0, 10**6))
def test_interleaved_matrices_are_inverted_each_for_itself(n, stride, seed):
    matrices = [random_banded(n, 2, seed + k) for k in range(stride)]
    own = np.stack([bands for _, bands in matrices], axis=2).reshape(3, -1)
    margin, size = 2 * stride, n * stride
    bands = in_margins(own, margin)
    pivots, lower = np.zeros(bands.shape[1]), np.zeros_like(bands)
    for i in range(margin, margin + size):
        factorise_two(bands, pivots, lower, i, stride)
    for i in reversed(range(margin, margin + size)):
        inverse_two(pivots, lower, bands, i, stride)
    for k, (dense, _) in enumerate(matrices):
        assert_bands_of_inverse(bands[:, margin + k : margin + size : stride], dense)


@given(st.lists(st.floats(-5, 5), min_size=1, max_size=9), st.sampled_from([1.0, -1.0]))
def test_the_monotone_sequence_is_sklearns(values, sign):
    from sklearn.isotonic import isotonic_regression

    values = np.array(values)
    weights = np.linspace(1.0, 2.0, len(values))
    expected = isotonic_regression(values, sample_weight=weights, increasing=sign > 0)
    make_monotone(values, weights, sign)
    np.testing.assert_allclose(values, expected, rtol=1e-9, atol=1e-12)
    assert (np.diff(sign * values) >= 0).all()
