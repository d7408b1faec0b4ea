"""A stage rebuilt from nothing but its one-dimensional partial dependences."""

import numpy as np
import pytest

from seplearn import explain
from seplearn.model import Branch, SeparationModel, Stage
from seplearn.model.reference import Reference
from seplearn.table.binning import Bins
from tests.explained import (
    CASES,
    array,
    assert_close,
    every_case,
    hand_made,
    joint,
    numeric,
    product,
    sided,
    tilted,
)


@every_case
def test_the_stage_is_rebuilt_at_the_reference_rows(make):
    case = make()
    for s in range(len(case.model.stages)):
        result = explain.reconstruct(case.subject, s)
        expected = case.model.contributions(case.model.reference.codes)[:, s]
        assert_close(result.direct, expected)
        assert_close(result.rebuilt, expected, 1e-9)
        assert result.largest_error < 1e-9


@every_case
def test_the_normalizer_is_mean_product_over_mean_product_of_dependences(make):
    case = make()
    model, rows = case.model, case.model.reference
    curves = [explain.partial_dependence(case.subject, j) for j in range(model.bins.n_axes)]
    for s, stage in enumerate(model.stages):
        found = explain.reconstruct(case.subject, s).normalizers
        for side in (0, 1):
            mean = np.sum(rows.weight * sided(stage, side)(rows.codes, model.bins))
            if mean == 0:
                assert np.isnan(found[side])
                continue
            parts = [((c.plus, c.minus)[side][s])[rows.codes[:, j]] for j, c in enumerate(curves)]
            z = np.sum(rows.weight * np.prod(parts, axis=0))
            assert found[side] == pytest.approx(np.log(abs(mean / z)), abs=1e-9)


def far_rows(case):
    """Rows of values beyond all others, never seen levels and gaps."""
    rows = case.X.head(6).copy()
    rows.iloc[0, 0], rows.iloc[1, 0], rows.iloc[2, 0] = 1e12, -1e12, np.nan
    rows.iloc[:, 1] = [-99.0, 99.0, np.nan, 0.5, np.inf, -np.inf]
    rows.iloc[:4, 3] = ["never seen", "moon", None, "south"]
    return rows


@pytest.mark.parametrize("make", [CASES["joint"], CASES["one branch"], CASES["signed"]])
def test_rows_far_outside_the_background_are_rebuilt_too(make):
    case = make()
    rows = far_rows(case)
    narrow = case.X[case.X["pd"] > 1.5]  # dependences over few rows still are the whole stage
    for s in range(len(case.model.stages)):
        result = explain.reconstruct(case.subject, s, rows, background=narrow)
        assert_close(result.direct, case.subject.predict_stages(rows)[:, s])
        assert_close(result.rebuilt, result.direct, 1e-9)


def test_any_combination_of_bins_is_rebuilt():
    rows = np.stack(np.meshgrid(*[[-5.0, 0.0, 5.0]] * 3), axis=-1).reshape(-1, 3)
    model = array().subject
    for s in range(len(model.stages_)):
        result = explain.reconstruct(model, s, rows)
        assert_close(result.rebuilt, model.predict_stages(rows)[:, s], 1e-9)


def test_signs_survive_an_even_number_of_features():
    """Of two negative dependences the product is positive, the stage is not."""
    axes, frequencies = [numeric(0.0), numeric(0.0)], [[0.5, 0.5, 0.0], [0.25, 0.75, 0.0]]
    both = tilted([[1, 2, 1], [3, 1, 1]], [[1, -1, 0], [0.5, 0, 0]])
    stages = [
        both.with_scalars(-2.0, -3.0),
        both.with_scalars(2.0, -3.0),
        product([[-1, 2, 1], [3, 1, 1]], -2.0),
        product([[1, -4, 1], [-2, 1, 1]], 2.0),
    ]
    model = hand_made(axes, frequencies, stages)
    for s, stage in enumerate(stages):
        result = explain.reconstruct(model, s)
        assert_close(result.rebuilt, stage.evaluate(model.reference.codes, model.bins), 1e-9)


def test_a_stage_whose_dependences_vanish_cannot_be_rebuilt_and_says_so():
    """Signed factors may have mean zero; then partial dependences show nothing of the stage."""
    axes, half = [numeric(0.0), numeric(0.0)], [0.5, 0.5, 0.0]
    model = hand_made(axes, [half, half], [product([[1, 2, 1], [-1, 1, 1]])])
    np.testing.assert_array_equal(explain.partial_dependence(model, 0).total, 0.0)
    with pytest.raises(ValueError, match="stage 0 cannot be rebuilt"):
        explain.reconstruct(model, 0)


def test_many_features_neither_overflow_nor_vanish():
    """A product of 80 partial dependences has no float of its own."""
    rng = np.random.default_rng(0)
    p = 80
    bins = Bins((numeric(0.0),) * p, np.tile([0.5, 0.5, 0.0], p))
    factors = rng.normal(0, 0.2, size=(2, 3 * p))
    stage = Stage(Branch(1.0, 30.0, factors[0]), Branch(-1.0, 29.0, factors[1]))
    codes = rng.integers(0, 2, size=(50, p)).astype(np.uint8)
    model = SeparationModel(bins, 0.0, (stage,), reference=Reference(codes, np.full(50, 1 / 50)))
    result = explain.reconstruct(model, 0)
    assert np.isfinite(result.normalizers).all()
    assert_close(result.rebuilt, model.predict(codes), 1e-9)
    assert abs(result.normalizers[0]) > 750  # its exponential would be zero or infinite


def test_an_error_would_be_seen():
    result = explain.reconstruct(joint().subject, 0)
    wrong = type(result)(0, "", result.normalizers, result.direct, result.rebuilt * 1.01)
    assert wrong.largest_error == pytest.approx(0.01)
