"""Row passes over a stage: four rows at a time and what is left over, against plain NumPy."""

import os

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numba.core.errors import TypingError

from seplearn.kernels.rows import advance, leave
from tests import naive

pytestmark = pytest.mark.interpreted

N_LEFT, N_ENTERED = 3, 5


class Rows:
    """Rows of two axes with the products of a stage, and the factors of a step on the first."""

    def __init__(self, n, seed):
        rng = np.random.default_rng(seed)
        self.left = rng.integers(0, N_LEFT, n).astype(np.uint8)
        self.entered = rng.integers(0, N_ENTERED, n).astype(np.uint8)
        self.factors = rng.uniform(0.5, 2.0, (2, N_LEFT + 4))  # scratch is wider than an axis
        self.products = rng.uniform(0.1, 3.0, (2, n))
        self.residual = rng.normal(size=n)
        self.weight = rng.integers(0, 3, n) * 0.7

    def expected(self):
        """Products and residual after the step, and the sums of the axis entered."""
        step = naive.apply_factors(self.left, self.factors, self.products, self.residual)
        return *step, naive.five_sums(self.entered, *step, self.weight, N_ENTERED)


# Up to fifteen rows: every number left over after groups of four, and groups that share bins.
rows = st.builds(Rows, st.integers(0, 15), st.integers(0, 99))


def agree(found, expected):
    np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-12)


@given(rows)
def test_factors_are_applied_and_sums_added(rows):
    products, residual, sums = rows.expected()
    found = np.zeros_like(sums)
    advance(rows.left, rows.factors, rows.entered, rows.products, rows.residual, rows.weight, found)
    agree(rows.products, products)
    agree(rows.residual, residual)
    agree(found, sums)


@given(rows)
def test_factors_of_the_last_axis_are_applied(rows):
    products, residual, _ = rows.expected()
    leave(rows.left, rows.factors, rows.products, rows.residual)
    agree(rows.products, products)
    agree(rows.residual, residual)


@pytest.mark.skipif(
    os.environ.get("NUMBA_DISABLE_JIT") == "1", reason="for the interpreter any array will do"
)
@pytest.mark.parametrize(("kernel", "name"), [(leave, "products"), (advance, "weight")])
def test_arrays_with_gaps_are_refused(kernel, name):
    """What is emitted takes neighbours in an array for neighbours in memory."""
    rows = Rows(8, 0)
    setattr(rows, name, np.repeat(getattr(rows, name), 2, axis=-1)[..., ::2])
    arguments = [rows.left, rows.factors, rows.products, rows.residual]
    if kernel is advance:
        arguments.insert(2, rows.entered)
        arguments += [rows.weight, np.zeros((N_ENTERED, 8))]
    with pytest.raises(TypingError):
        kernel(*arguments)
