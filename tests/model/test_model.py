import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from seplearn.model import Branch, SeparationModel, Stage
from seplearn.table.binning import Bins, NumericAxis
from tests import naive
from tests.problems import problems


def random_branch(problem, sign, signed=False):
    logs = np.log(np.concatenate(problem.random_factors()))
    negative = problem.rng.random(len(logs)) < 0.5 if signed else None
    return Branch(sign, float(problem.rng.normal()), logs, negative)


def flat_factors(branch):
    signs = 1.0 if branch.negative is None else np.where(branch.negative, -1.0, 1.0)
    return signs * np.exp(branch.log_factors)


@st.composite
def models(draw):
    problem = draw(problems())
    stages = []
    for kind in draw(
        st.lists(st.sampled_from(["two", "plus", "minus", "zero", "single"]), max_size=4)
    ):
        plus = random_branch(problem, 0.0 if kind == "zero" else 1.0, signed=kind == "single")
        minus = random_branch(problem, -1.0)
        keep_minus = kind in ("two", "minus", "zero")
        stages.append(Stage(None if kind == "minus" else plus, minus if keep_minus else None))
    return problem, SeparationModel(problem.data.bins, float(problem.rng.normal()), tuple(stages))


@given(models())
def test_prediction_is_the_sum_of_products(case):
    problem, model = case
    plain = [[(b.coefficient, flat_factors(b)) for b in stage.branches] for stage in model.stages]
    expected = naive.predict(problem.codes, model.intercept, plain, problem.offset)
    np.testing.assert_allclose(model.predict(problem.codes), expected, rtol=1e-9, atol=1e-12)


@given(models())
def test_contributions_sum_to_the_prediction(case):
    problem, model = case
    parts = model.contributions(problem.codes)
    assert parts.shape == (len(problem.codes), len(model.stages))
    np.testing.assert_allclose(
        model.intercept + parts.sum(axis=1), model.predict(problem.codes), rtol=1e-9, atol=1e-12
    )


@given(models(), st.sampled_from([0.01, 3.0, 1e6]))
def test_scaling_a_model_scales_its_predictions(case, factor):
    problem, model = case
    np.testing.assert_allclose(
        model.scaled(factor).predict(problem.codes),
        factor * model.predict(problem.codes),
        rtol=1e-9,
        atol=1e-9 * factor,
    )


@given(models())
def test_scalars_can_be_put_back(case):
    problem, model = case
    scalars = [(stage.lambda_plus, stage.lambda_minus) for stage in model.stages]
    again = model.with_scalars(scalars, model.intercept)
    np.testing.assert_allclose(
        again.predict(problem.codes), model.predict(problem.codes), rtol=1e-9, atol=1e-12
    )


def test_a_stage_says_what_it_is():
    logs = np.zeros(2)
    plus, minus = Branch(1.0, np.log(2.0), logs), Branch(-1.0, np.log(3.0), logs)
    two = Stage(plus, minus)
    assert two.is_two_branch
    assert not two.is_signed
    assert (two.lambda_plus, two.lambda_minus) == pytest.approx((2.0, 3.0))
    assert not Stage(plus, None).is_two_branch
    assert Stage(None, minus).lambda_plus == 0.0
    assert not Stage(plus, minus.with_coefficient(0.0)).is_two_branch
    assert Stage(plus, minus.with_coefficient(0.0)).is_one_branch
    # Ordinary least squares may give negative lambda: two branches on one side, or changed sides.
    both_add = Stage(plus, minus.with_coefficient(3.0))
    assert both_add.lambda_minus == pytest.approx(-3.0)
    assert not both_add.is_two_branch
    turned = Stage(plus.with_coefficient(-2.0), minus.with_coefficient(3.0))
    assert turned.is_two_branch
    assert [branch.coefficient for branch in turned.oriented] == pytest.approx([3.0, -2.0])
    signed = Stage(Branch(1.0, 0.0, logs, np.array([True, False])), None)
    assert signed.is_signed
    assert not signed.is_two_branch


def test_large_and_small_factors_meet_without_overflow():
    bins = Bins((NumericAxis(np.array([])), NumericAxis(np.array([]))), np.ones(4))
    branch = Branch(1.0, -1500.0, np.array([1000.0, 0.0, 501.0, 0.0]))
    np.testing.assert_allclose(branch.evaluate(np.zeros((1, 2), dtype=np.uint8), bins), np.e)
