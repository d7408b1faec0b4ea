import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from seplearn.fitting.options import TrainingData
from seplearn.fitting.scalars import Projection, least_squares
from seplearn.model.stage import Branch, Stage
from seplearn.table.binning import Bins, NumericAxis
from tests import naive
from tests.problems import problems


def random_branches(problem, n, signed=False):
    out = []
    for k in range(n):
        logs = np.log(np.concatenate(problem.random_factors()))
        negative = problem.rng.random(len(logs)) < 0.4 if signed else None
        out.append(Branch(1.0 if signed or k % 2 == 0 else -1.0, 0.0, logs, negative))
    return out


@given(
    problems(max_rows=40),
    st.integers(1, 5),
    st.sampled_from(["nnls", "ols"]),
    st.booleans(),
    st.booleans(),
)
def test_backfit_agrees_with_the_oracle(problem, n, scalars, fit_intercept, signed):
    data = problem.data
    branches = random_branches(problem, n, signed)
    projection = Projection(data, scalars, fit_intercept)
    for branch in branches:
        projection.append(branch)
    scales = projection.solve()
    columns = [branch.evaluate(data.codes, data.bins) for branch in branches]
    rule = "ols" if signed else scalars
    expected = naive.backfit(columns, data.target, data.weight, rule, fit_intercept)
    loss, best = (np.sum(data.weight * (data.target - f) ** 2) for f in (scales.fitted, expected))
    assert loss == pytest.approx(best, rel=1e-6, abs=1e-9)
    refitted = scales.apply([Stage(branch, None) for branch in branches])
    total = scales.intercept + sum(s.evaluate(data.codes, data.bins) for s in refitted)
    np.testing.assert_allclose(total, scales.fitted, rtol=1e-9, atol=1e-9)
    if rule == "nnls":
        assert (scales.signs >= 0).all()


@given(problems(max_rows=40))
def test_the_projection_is_orthogonal(problem):
    """The orthogonal greedy view: what is left is orthogonal to every product fitted so far."""
    data = problem.data
    projection = Projection(data, "ols", True)
    branches = random_branches(problem, 3)
    for branch in branches:
        projection.append(branch)
    left = data.weight * (data.target - projection.solve().fitted)
    assert left.sum() == pytest.approx(0.0, abs=1e-7)
    for branch in branches:
        assert left @ branch.evaluate(data.codes, data.bins) == pytest.approx(0.0, abs=1e-5)


def test_equal_columns_share_their_coefficient():
    gram, right = np.ones((2, 2)), np.ones(2)
    for free in (False, True):
        coefficients = least_squares(gram, right, free)
        assert coefficients.sum() == pytest.approx(1.0)
        assert np.abs(coefficients).max() <= 1.0 + 1e-9


def test_a_constant_product_leaves_everything_to_the_intercept():
    rng = np.random.default_rng(0)
    codes = rng.integers(0, 2, size=(30, 1)).astype(np.uint8)
    bins = Bins((NumericAxis(np.array([0.5])),), np.array([0.5, 0.5, 0.0]))
    data = TrainingData(bins, codes, 3.0 + codes[:, 0] + rng.normal(0, 0.1, 30), np.ones(30))
    for scalars in ("nnls", "ols"):
        projection = Projection(data, scalars, True)
        projection.append(Branch(1.0, 0.0, np.zeros(3)))
        alone = projection.solve()
        assert alone.signs.tolist() == [0.0]
        np.testing.assert_allclose(alone.fitted, data.target.mean())
        projection.append(Branch(1.0, 0.0, np.array([-0.5, 0.5, 0.0])))
        both = projection.solve()
        assert both.signs.tolist() == [0.0, 1.0]
        assert np.abs(both.fitted - data.target).max() < 0.5
