import numpy as np
import pytest

from seplearn.fitting.basis import (
    AxisBasis,
    axis_basis,
    compressed,
    monomials,
    neutral_where_unseen,
    tents,
)
from seplearn.table.binning import CategoricalAxis, NumericAxis
from tests import naive_sepals


def test_tents_are_those_of_the_definition():
    u = np.linspace(0, 1, 23)
    values, levels = tents(u, 4)
    np.testing.assert_allclose(values, [naive_sepals.tents(x, 4) for x in u])
    assert levels.tolist() == [0, 0, 1, 2, 2, *[3] * 4, *[4] * 8]


def test_tents_span_all_lines_between_knots():
    knots = np.linspace(0, 1, 2**3 + 1)
    heights = np.random.default_rng(0).normal(size=len(knots))
    u = np.linspace(0, 1, 100)
    solution = np.linalg.lstsq(tents(knots, 3)[0], heights, rcond=None)[0]
    np.testing.assert_allclose(tents(u, 3)[0] @ solution, np.interp(u, knots, heights), atol=1e-9)


def test_powers():
    values, degrees = monomials(np.array([-1.0, 0.5]), 3)
    np.testing.assert_allclose(values, [[1.0, -1, 1, -1], [1, 0.5, 0.25, 0.125]])
    assert degrees.tolist() == [0, 1, 2, 3]


@pytest.mark.parametrize(
    ("kind", "is_tent", "expected"),
    [
        ("degree", False, [0, 1, 2, 3, 4]),
        ("degree2", False, [0, 1, 4, 9, 16]),
        ("tent_level", False, [0, 1, 2, 2, 3]),
        ("degree2", True, [0, 1, 4, 9, 16]),
        ("tent_level", True, [0, 1, 2, 3, 4]),
    ],
)
def test_kinds_of_penalties(kind, is_tent, expected):
    basis = AxisBasis(np.ones((1, 5)), np.arange(5.0))
    assert basis.penalties(kind, is_tent).tolist() == expected


def test_missing_values_and_levels_have_a_function_each():
    numbers = NumericAxis(np.array([0.5, 1.5]))
    shares = np.array([0.3, 0.3, 0.3, 0.1])
    found = axis_basis(numbers, np.array([0.0, 1.0, 2.0, 0.0]), shares, "monomial", 2)
    np.testing.assert_allclose(
        found.values,
        [[1.0, -1, 1, 0], [1.0, 0, 0, 0], [1.0, 1, 1, 0], [1.0, 0, 2 / 3, 1]],
        atol=1e-15,
    )
    assert found.order.tolist() == [0, 1, 2, 0]
    levels = CategoricalAxis(("a", "b"))
    shares = np.array([0.5, 0.4, 0.0, 0.1, 0.0])
    found = axis_basis(levels, np.zeros(5), shares, "tent", 3)
    np.testing.assert_allclose(
        found.values[[0, 1, 3]], [[1.0, 0, 0], [0.0, 1, 0], [5 / 9, 4 / 9, 1]]
    )
    assert not found.values[[2, 4]].any()


@pytest.mark.parametrize("basis", ["tent", "monomial"])
def test_a_curve_has_its_mean_where_there_were_no_rows(basis):
    """Whatever its coefficients: that is what makes a value never seen neutral."""
    rng = np.random.default_rng(0)
    shares = np.array([0.2, 0.0, 0.5, 0.3, 0.0])
    for axis in (NumericAxis(np.array([0.5, 1.5, 2.5])), CategoricalAxis(("a", "b"))):
        found = axis_basis(axis, np.array([0.0, 1.0, 2.0, 3.0, 0.0]), shares, basis, 3)
        functions = neutral_where_unseen(found.values, shares)
        curve = functions @ rng.normal(size=functions.shape[1])
        np.testing.assert_allclose(curve[[1, 4]], shares @ curve)


def test_constant_and_infinite_columns_have_a_basis():
    one = axis_basis(NumericAxis(np.empty(0)), np.array([7.0, 0.0]), np.array([1.0, 0]), "tent", 3)
    assert np.isfinite(one.values).all()
    infinite = axis_basis(
        NumericAxis(np.array([0.0, 1.0])), np.array([-np.inf, 0.5, np.inf, 0.0]),
        np.array([0.3, 0.4, 0.3, 0.0]), "monomial", 2,
    )  # fmt: skip
    assert np.isfinite(infinite.values).all()


def test_compressed_functions_have_the_same_penalised_solutions():
    rng = np.random.default_rng(0)
    values, levels = tents(np.linspace(0, 1, 9), 5)
    penalty = 1e-3 + levels
    functions, price = compressed(AxisBasis(values, levels), penalty)
    assert functions.shape[1] <= 9 < values.shape[1]
    target, weight = rng.normal(size=9), rng.uniform(0.5, 2, 9)

    def curve(basis, prices):
        matrix = basis.T @ (weight[:, None] * basis) + np.diag(prices)
        return basis @ np.linalg.solve(matrix, basis.T @ (weight * target))

    np.testing.assert_allclose(curve(functions, price), curve(values, penalty), rtol=1e-8)
    few = AxisBasis(values[:, :4], levels[:4])
    assert compressed(few, penalty[:4])[0] is few.values


def test_a_column_of_nothing_but_missing_values_has_one_function():
    numbers = NumericAxis(np.array([0.5]))
    for basis in ("tent", "monomial"):
        found = axis_basis(numbers, np.zeros(3), np.array([0.0, 0.0, 1.0]), basis, 2)
        assert found.values.tolist() == [[0.0], [0.0], [1.0]]
