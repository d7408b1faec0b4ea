import numpy as np
import pytest
from hypothesis import given

from seplearn.kernels import scalar
from tests import naive
from tests.compiled import as_kernel
from tests.problems import problems, rules

pytestmark = pytest.mark.interpreted

clamp_multiplier = as_kernel(scalar.clamp_multiplier)
solve_two_tensor = as_kernel(scalar.solve_two_tensor)


def statistics(rows):
    w, plus, minus, r = rows.T
    return (  # in the order of the columns of a bin's sums
        np.sum(w * plus**2),
        np.sum(w * r * plus),
        np.sum(w * minus**2),
        np.sum(w * plus * minus),
        np.sum(w * r * minus),
    )


@given(problems(), rules())
def test_solve_agrees_with_the_oracle(problem, rules):
    size = len(problem.residual)
    plus, minus = np.exp(problem.rng.normal(size=(2, size)))
    rows = np.stack([problem.weight, plus, minus, problem.residual], axis=1)
    expected = naive.solve_two_tensor(rows, rules)
    s11, s22, s12, t1, t2 = statistics(rows)
    found = np.array(solve_two_tensor(s11, s22, s12, t1, t2, rules))
    np.testing.assert_allclose(found, expected, rtol=1e-7, atol=1e-9)


@given(problems(), rules(signed=False))
def test_without_a_minus_product_it_is_the_positive_only_update(problem, rules):
    plus = np.exp(problem.rng.normal(size=len(problem.residual)))
    w, r = problem.weight, problem.residual
    u = np.sum(w * r * plus) / (np.sum(w * plus**2) + rules.ridge)
    v_plus, v_minus, _ = solve_two_tensor(
        np.sum(w * plus**2), np.sum(w * r * plus), 0.0, 0.0, 0.0, rules
    )
    assert v_minus == 1.0
    np.testing.assert_allclose(v_plus, np.clip(1 + u, rules.v_min, rules.v_max), rtol=1e-9)


@given(rules())
def test_clamp_keeps_the_sign_of_a_signed_product_only(rules):
    for v in (-50.0, -1.0, -1e-9, 0.0, 1e-9, 1.0, 50.0):
        expected = naive.clamp(v, rules.v_min, rules.v_max, rules.signed)
        assert clamp_multiplier(v, rules) == expected
