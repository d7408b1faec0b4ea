"""The shared models are what their names say; otherwise the tests on them would prove little."""

import pytest

from seplearn import TSLRegressor
from seplearn.table.binning import CategoricalAxis
from tests import explained


def kinds(case):
    names = ("is_two_branch", "is_one_branch", "is_signed")
    return [next((n for n in names if getattr(s, n)), "none") for s in case.model.stages]


def signs(case):
    return [
        tuple((value > 0) - (value < 0) for value in (s.lambda_plus, s.lambda_minus))
        for s in case.model.stages
    ]


def test_kinds_of_stages():
    two, one, none = "is_two_branch", "is_one_branch", "none"
    assert kinds(explained.joint()) == [two, two, two]
    assert kinds(explained.one_branch()) == [one, two]
    assert signs(explained.one_branch())[0] == (1, 0)
    assert kinds(explained.minus_only()) == [one, two]
    assert signs(explained.minus_only())[0] == (0, 1)
    assert kinds(explained.turned()) == [two, none, one]
    assert signs(explained.turned()) == [(-1, -1), (1, -1), (0, 1)]
    assert kinds(explained.halved()) == [none, one, none]
    assert signs(explained.halved()) == [(0, 0), (-1, 0), (-1, 1)]
    assert kinds(explained.single()) == ["is_signed"] * 3


def test_signed_factors_have_both_signs():
    for stage in explained.single().model.stages:
        assert 0 < stage.plus.negative.sum() < len(stage.plus.negative)


@pytest.mark.parametrize("make", explained.FITTED.values(), ids=explained.FITTED.keys())
def test_models_fit(make):
    case = make()
    assert case.subject.score(case.X, case.y) > 0.25


def test_tables_have_gaps_and_a_rare_level():
    bins = explained.joint().model.bins
    where = bins.axes[3]
    assert isinstance(where, CategoricalAxis)
    assert where.rare == ("moon",)
    assert where.levels == ("Südost", "north", "south")
    frequencies = bins.frequencies[bins.axis(3)]
    assert (frequencies[:5] > 0).all()  # levels, rare, missing
    assert frequencies[5] == 0  # never seen
    assert bins.frequencies[bins.axis(0)][-1] > 0.05
    assert bins.axes[2].values.tolist() == [0.0, 1.0]


def test_reference_rows_have_weights_where_rows_had():
    weight = explained.weighted_polars().model.reference.weight
    assert weight.max() > 3 * weight.min()
    assert len(explained.bands().model.replicates) == 6


@pytest.mark.parametrize("level", [40.0, 100.0, -40.0])
def test_a_target_far_from_zero_is_fitted_without_a_constant(level):
    # One-branch stages come from such targets, so that explanations of them mean something.
    X, y = explained.table()
    model = TSLRegressor(1, fit_intercept=False, early_stopping=False, random_state=0)
    assert model.fit(X, y + level).predict(X).mean() == pytest.approx(level, rel=0.2)
