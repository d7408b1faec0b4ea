"""Importance by default: the mean size of exact Shapley values."""

import sys
from dataclasses import replace

import numpy as np
import pytest

from seplearn import explain
from seplearn.explain.shapley import _FEWEST_ROWS, values_at
from seplearn.explain.sizes import few_rows
from seplearn.model import Branch
from seplearn.model.reference import Reference
from tests import naive_explain as naive
from tests.explained import assert_close, bands, every_case, joint


@every_case
def test_it_is_the_mean_size_of_shapley_values(make):
    case = make()
    rows = case.model.reference
    some = case.X[:60]
    result = explain.importance(case.subject, background=some)
    shapley = explain.shapley(case.subject, some, background=some)
    assert_close(result.values, np.abs(shapley.values).mean(axis=0))
    assert result.n_rows == 60
    whole = explain.importance(case.subject)
    assert whole.n_rows == len(rows.codes)
    values = np.array(
        [naive.shapley(case.model.predict, row, rows.codes, rows.weight) for row in rows.codes[:2]]
    )
    found = values_at(case.model, rows.codes[:2], rows)
    assert_close(found, values)


def test_features_in_no_curve_of_a_product_take_no_part():
    model = joint().model
    stage = model.stages[0]
    flat = [
        Branch(b.coefficient_sign, b.log_scale, np.where(at, 0.0, b.log_factors))
        for b in stage.branches
        for at in [np.arange(len(b.log_factors)) >= model.bins.axis(2).start]
    ]
    sparse = replace(model, stages=(replace(stage, plus=flat[0], minus=flat[1]),), effects=None)
    rows = model.reference
    assert sparse.stages[0].features(model.bins) == (0, 1)
    found = values_at(sparse, rows.codes[:3], rows)
    for row, values in zip(rows.codes[:3], found, strict=True):
        assert_close(values, naive.shapley(sparse.predict, row, rows.codes, rows.weight))
    assert (found[:, 2:] == 0.0).all()
    assert (explain.importance(sparse).values[2:] == 0.0).all()


def test_bands_are_of_the_replicates():
    case = bands()
    result = explain.importance(case.subject, level=0.8)
    others = [
        explain.importance(replace(other, reference=case.model.reference)).values
        for other in case.model.replicates
    ]
    ends = np.quantile(others - np.mean(others, axis=0), (0.1, 0.9), axis=0)
    assert_close(result.bands, np.maximum(result.values + ends, 0.0))
    assert (result.bands[0] <= result.values).all()
    assert (result.bands[1] >= result.values).all()
    without = explain.importance(replace(case.model, replicates=()))
    assert_close(result.values, without.values)  # whatever the number of replicates
    frame = result.frame()
    assert frame["importance"].is_monotonic_decreasing
    assert frame["share"].sum() == pytest.approx(1.0)
    np.testing.assert_array_equal(frame["importance_lower"], result.bands[0, list(result.order)])


def test_fewer_rows_where_it_would_take_long(monkeypatch):
    case = joint()
    whole = explain.importance(case.subject)
    module = sys.modules["seplearn.explain.shapley"]  # the name is that of the function
    monkeypatch.setattr(module, "_MOST_WORK", 1)
    few = explain.importance(case.subject)
    assert few.n_rows == _FEWEST_ROWS < whole.n_rows
    np.testing.assert_allclose(few.values, whole.values, rtol=0.5, atol=0.1 * whole.values.max())
    np.testing.assert_array_equal(few.values, explain.importance(case.subject, n_jobs=2).values)


def test_rows_without_weight_are_left_out_of_the_few():
    weight = np.zeros(10)
    weight[[3, 7]] = 0.25, 0.75
    rows = few_rows(Reference(np.arange(10, dtype=np.uint16)[:, None], weight), 4)
    assert rows.codes.ravel().tolist() == [3, 7]
    assert rows.weight.tolist() == [0.25, 0.75]


def test_kind_and_gamma_are_checked():
    with pytest.raises(ValueError, match=r"kind must be one of \('shapley', 'paper'\), got 'gain'"):
        explain.importance(joint().subject, kind="gain")  # type: ignore[call-overload]
    with pytest.raises(ValueError, match="gamma must come with kind='paper', got 2"):
        explain.importance(joint().subject, gamma=2)  # type: ignore[call-overload]
