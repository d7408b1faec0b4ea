"""Predictions of single rows in which one feature is moved through its bins."""

import numpy as np
import pytest

from seplearn import explain
from tests import naive_explain as naive
from tests.explained import assert_close, every_case, joint, weighted_polars


@every_case
def test_values_are_predictions_of_edited_rows(make):
    case = make()
    model = case.model
    for j, n_bins in enumerate(case.n_bins):
        result = explain.ice(case.subject, j, case.X[:40])
        assert_close(result.values, naive.individual(model.predict, case.codes[:40], j, n_bins))
        for s, stage in enumerate(model.stages):
            part = explain.ice(case.subject, j, case.X[:40], stage=s)
            assert part.stage == s

            def alone(codes, stage=stage):
                return stage.evaluate(codes, model.bins)

            assert_close(part.values, naive.individual(alone, case.codes[:40], j, n_bins))


@every_case
def test_in_its_own_bin_a_row_has_its_prediction(make):
    case = make()
    result = explain.ice(case.subject, 1, case.X, max_rows=1000)
    np.testing.assert_array_equal(result.own, case.codes[:, 1])
    own = result.values[np.arange(len(result.own)), result.own]
    assert_close(own, case.predict(case.X))


@every_case
def test_their_mean_is_the_partial_dependence(make):
    case = make()
    for j in range(case.model.bins.n_axes):
        dependence = explain.partial_dependence(case.subject, j, background=case.X)
        result = explain.ice(case.subject, j, case.X, max_rows=1000)
        assert_close(result.values.mean(axis=0), dependence.total)
        part = explain.ice(case.subject, j, case.X, stage=0, max_rows=1000)
        assert_close(part.values.mean(axis=0), dependence.stages[0])


def test_without_a_table_the_reference_rows_are_shown():
    case = weighted_polars()
    rows = case.model.reference
    result = explain.ice(case.subject, "pd", max_rows=1000)
    expected = naive.individual(case.model.predict, rows.codes, 1, case.n_bins[1])
    assert_close(result.values, expected)
    # Averaged with what each row stands for, they are the partial dependence.
    assert_close(rows.weight @ result.values, explain.partial_dependence(case.subject, 1).total)


@pytest.mark.parametrize(("n", "rows"), [(3, [0, 133, 266]), (1, [0]), (400, range(400))])
def test_rows_are_taken_at_equal_steps(n, rows):
    case = joint()
    whole = explain.ice(case.subject, 0, case.X, max_rows=400).values
    some = explain.ice(case.subject, 0, case.X, max_rows=n).values
    assert_close(some, whole[list(rows)])
    assert len(explain.ice(case.subject, 0, case.X).values) == 200


def test_it_says_which_feature_and_how_often():
    case = joint()
    result = explain.ice(case.subject, "backbone", case.X[:2])
    assert (result.feature, result.name, result.stage) == (4, "backbone", None)
    counts = np.bincount(case.codes[:, 4], minlength=8) / len(case.codes)
    np.testing.assert_allclose(result.frequencies, counts, rtol=1e-12)
