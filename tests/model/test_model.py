import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from seplearn.model import Branch, SeparationModel, Stage
from seplearn.model.edit import mean_model, scaled, select_stages
from seplearn.model.record import SizePath
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
        scaled(model, factor).predict(problem.codes),
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


def test_a_stage_says_how_it_is_read():
    """Every kind, with the backbone and the tilt that it has."""
    rising, falling = np.array([-0.5, 0.5]), np.array([0.25, -0.25])
    plus, minus = Branch(1.0, np.log(2.0), rising), Branch(-1.0, np.log(8.0), falling)
    stages = {
        "two products": Stage(plus, minus),
        "one product": Stage(plus.with_coefficient(0.0), minus),
        "same side": Stage(plus, minus.with_coefficient(3.0)),
        "signed": Stage(Branch(1.0, 0.0, rising, np.array([True, False])), None),
        "nothing": Stage(plus.with_coefficient(0.0), None),
    }
    assert {stage.kind for stage in stages.values()} == set(stages)
    two, one = stages["two products"], stages["one product"]
    np.testing.assert_array_equal(two.log_backbone, [-0.125, 0.125])
    np.testing.assert_array_equal(two.tilt, [-0.375, 0.375])
    assert two.backbone_scale == pytest.approx(4.0)
    assert two.tilt_intercept == pytest.approx(-np.log(2.0))
    turned = two.with_scalars(-2.0, -8.0)
    np.testing.assert_array_equal(turned.tilt, -two.tilt)
    assert turned.tilt_intercept == pytest.approx(np.log(2.0))
    np.testing.assert_array_equal(one.log_backbone, falling)
    assert one.backbone_scale == pytest.approx(8.0)
    for name, stage in stages.items():
        assert stage.kind == name
        assert (stage.tilt is None) == (name != "two products")
        assert np.isnan(stage.tilt_intercept) == (name != "two products")
        assert (stage.log_backbone is None) == (name not in ("two products", "one product"))
        assert np.isnan(stage.backbone_scale) == (name not in ("two products", "one product"))


def test_a_stage_depends_on_features_whose_curves_are_not_exactly_flat():
    axes = tuple(NumericAxis(np.array([0.0])) for _ in range(4))
    bins = Bins(axes, np.tile([0.5, 0.5, 0.0], 4))
    plus, minus = np.zeros(12), np.zeros(12)
    plus[3], minus[6] = 1e-300, -0.1
    stage = Stage(Branch(1.0, 0.0, plus), Branch(-1.0, 0.0, minus))
    assert stage.features(bins) == (1, 2)
    assert stage.with_scalars(1.0, 0.0).features(bins) == (1,)
    assert stage.with_scalars(0.0, 0.0).features(bins) == ()
    negative = np.zeros(12, dtype=bool)
    negative[9] = True
    assert Stage(Branch(1.0, 0.0, plus, negative), None).features(bins) == (1, 3)


def test_large_and_small_factors_meet_without_overflow():
    bins = Bins((NumericAxis(np.array([])), NumericAxis(np.array([]))), np.ones(4))
    branch = Branch(1.0, -1500.0, np.array([1000.0, 0.0, 501.0, 0.0]))
    np.testing.assert_allclose(branch.evaluate(np.zeros((1, 2), dtype=np.uint8), bins), np.e)


def test_a_path_of_sizes_is_scaled_by_the_square_and_never_becomes_no_number():
    path = SizePath(True, (4.0, 1.0, math.inf), (0.5, 0.0, math.inf), 1)
    assert path.scaled(3.0) == SizePath(True, (36.0, 9.0, math.inf), (4.5, 0.0, math.inf), 1)
    assert path.scaled(1e200).errors == (math.inf, 0.0, math.inf)  # inf times 0 would be NaN
    assert path.scaled(1e-200).losses[0] == 0.0


@given(models())
def test_an_average_is_the_mean_of_the_predictions(case):
    problem, model = case
    rng = np.random.default_rng(0)
    n_flat = len(model.bins.frequencies)
    others = [
        model,
        replace(model, intercept=3.0, stages=model.stages[:1]),
        replace(model, effects=rng.normal(size=n_flat)),
        replace(model, effects=rng.normal(size=n_flat), stages=()),
    ]
    expected = np.mean([other.predict(problem.codes) for other in others], axis=0)
    found = mean_model(others)
    np.testing.assert_allclose(found.predict(problem.codes), expected, rtol=1e-9, atol=1e-12)
    assert len(found.stages) == sum(len(other.stages) for other in others)
    assert mean_model([model]).effects is None


def test_a_choice_of_stages_has_no_path_and_another_unit_has_its_own():
    bins = Bins((NumericAxis(np.array([0.0])),), np.array([0.5, 0.5, 0.0]))
    stage = Stage(Branch(1.0, 0.0, np.zeros(3)), None)
    path = SizePath(False, (4.0, 1.0), (0.5, 0.0), 1)
    model = SeparationModel(bins, 0.0, (stage,), size_paths=(path,))
    assert scaled(model, 2.0, 7.0).size_paths == (path.scaled(2.0),)
    assert select_stages(model, [0]).size_paths == ()
