"""Explanations follow the unit of the target: what is a share stays, what has a unit scales.

A model may have a target of any size (see the tests of bad input); its squares may have none.
"""

import numpy as np
import pytest

from seplearn import explain
from seplearn.explain.summary import summary_of_sum
from seplearn.model.edit import scaled
from tests.explained import assert_close, joint, single

FACTORS = [1e-200, 1e-3, 1e6, 1e200]
each_size = pytest.mark.parametrize("factor", FACTORS)


def models(factor):
    return [(make().model, scaled(make().model, factor), make()) for make in (joint, single)]


@each_size
def test_values_scale(factor):
    for model, large, case in models(factor):
        for one, other in (
            (explain.partial_dependence(m, [0, 3]).total for m in (model, large)),
            (explain.ice(m, 1, case.X[:5]).values for m in (model, large)),
            (explain.shapley(m, case.X[:5]).values for m in (model, large)),
            (explain.local(m, case.X[:5]).contributions for m in (model, large)),
            (explain.stages(m).mean_size for m in (model, large)),
        ):
            assert_close(other / factor, one, 1e-9)


@each_size
def test_shares_stay(factor):
    for model, large, case in models(factor):
        for one, other in (
            (explain.stages(m).share for m in (model, large)),
            (explain.local(m, case.X[:5]).backbone_share for m in (model, large)),
            (explain.tilt(m, 0).share for m in (model, large)),
        ):
            assert_close(other, one, 1e-9)


@each_size
def test_stages_are_rebuilt(factor):
    for _, large, _ in models(factor):
        assert explain.reconstruct(large, 1).largest_error < 1e-9


@each_size
def test_importance_stays(factor):
    for model, large, _ in models(factor):
        one, other = (explain.importance(m, kind="paper") for m in (model, large))
        assert_close(other.stage_weights, one.stage_weights, 1e-9)
        assert_close(other.combined, one.combined, 1e-9)


@each_size
def test_what_a_summary_finds_stays(factor):
    for model, large, _ in models(factor):
        one, other = (summary_of_sum(m) for m in (model, large))
        assert [f.name for f in other.features] == [f.name for f in one.features]
        assert_close(other.importance.share, one.importance.share, 1e-9)
        for a, b in zip(one.features, other.features, strict=True):
            assert (a.sign is None) == (b.sign is None)
            assert a.turned == pytest.approx(b.turned)
            assert [c.flips for c in a.turned_by] == [c.flips for c in b.turned_by]
        assert [heading for heading, _ in other.sections] == [h for h, _ in one.sections]
        assert "nan" not in str(other)
        assert "inf" not in str(other)


@each_size
def test_roles_stay(factor):
    for model, large, _ in models(factor):
        assert str(explain.roles(large)) == str(explain.roles(model))


@each_size
def test_interactions_stay(factor):
    for model, large, _ in models(factor):
        one, other = (explain.interactions(m) for m in (model, large))
        for name in ("main", "total", "pairwise"):
            assert_close(getattr(other, name), getattr(one, name), 1e-9)
        np.testing.assert_allclose(other.h, one.h, atol=1e-6)
        np.testing.assert_allclose(other.h_total, one.h_total, atol=1e-6)


@each_size
def test_refitted_stages_follow_the_target(factor):
    case = joint()
    one, other = (case.subject.select_stages([0, 1], case.X, y) for y in (case.y, factor * case.y))
    assert_close(other.predict(case.X) / factor, one.predict(case.X), 1e-6)
