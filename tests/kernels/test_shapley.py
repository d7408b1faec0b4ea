import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from seplearn.kernels.shapley import add_shapley_values
from tests import naive_explain as naive

pytestmark = pytest.mark.interpreted


def quadrature(p):
    """Nodes and weights on (0, 1) that integrate polynomials of degree p - 1."""
    nodes, weights = np.polynomial.legendre.leggauss((p + 1) // 2)
    return 0.5 + 0.5 * nodes, 0.5 * weights


@st.composite
def products(draw):
    """Factors of some rows and background rows; a few are negative, zero, or equal in both."""
    p, n = draw(st.integers(1, 6)), draw(st.integers(1, 3))
    m = draw(st.sampled_from([1, 2, 3, 32, 33, 40]))  # background rows are done in blocks of 32
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    here, there = rng.normal(size=(n, p)), rng.normal(size=(m, p))
    if draw(st.booleans()):
        here, there = np.exp(here), np.exp(there)
    here[rng.random((n, p)) < 0.15] = 0.0
    there[rng.random((m, p)) < 0.15] = 0.0
    here[:, 0] = there[0, 0]
    return here, there, rng.dirichlet(np.ones(m))


def values_of(here, there, weight, sign=1.0, start=0.0):
    out = np.full(here.shape, start)
    background = np.ascontiguousarray(there.T)
    nodes, weights = quadrature(here.shape[1])
    add_shapley_values(here, background, weight, nodes, weights, sign, out)
    return out


@given(products(), st.sampled_from([1.0, -1.0]))
def test_values_are_those_of_all_coalitions(factors, sign):
    here, there, weight = factors
    expected = [sign * naive.shapley_of_product(row, there, weight) for row in here]
    np.testing.assert_allclose(
        values_of(here, there, weight, sign), expected, rtol=1e-9, atol=1e-12
    )


@given(products())
def test_values_sum_to_the_difference_from_the_mean(factors):
    here, there, weight = factors
    difference = here.prod(axis=1) - weight @ there.prod(axis=1)
    total = values_of(*factors).sum(axis=1)
    np.testing.assert_allclose(total, difference, rtol=1e-9, atol=1e-12)


@given(products())
def test_values_are_added_to_what_is_there(factors):
    here, there, weight = factors
    expected = 7.0 + values_of(here, there, weight)
    found = values_of(here, there, weight, start=7.0)
    np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-12)


def test_many_features():
    """For 40 equal factors every feature has the same share of a^40 - b^40."""
    here, there = np.full((1, 40), 1.1), np.full((1, 40), 0.9)
    expected = (1.1**40 - 0.9**40) / 40
    np.testing.assert_allclose(values_of(here, there, np.ones(1)), expected, rtol=1e-12)
