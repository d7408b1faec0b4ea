"""Partial dependence against the average over rows that are really edited."""

import tracemalloc

import numpy as np
import pandas as pd
import pytest

from seplearn import TSLRegressor, explain
from seplearn.model import SeparationModel
from seplearn.model.reference import Reference
from seplearn.table.binning import Bins
from tests import naive_explain as naive
from tests.explained import (
    NAMES,
    array,
    assert_close,
    bands,
    every_case,
    joint,
    numeric,
    sided,
    tilted,
    turned,
    weighted_polars,
)


def sets_of(case):
    """One, two and three features: all single ones, then some that differ in kind."""
    p = case.model.bins.n_axes
    several = [(0, 1, 2), (1, 0), (2, 1)] if p == 3 else [(0, 3), (3, 2), (2, 3, 4), (4, 0, 3)]
    return [(j,) for j in range(p)] + several


@every_case
def test_total_stages_and_products_are_averages_over_the_reference_rows(make):
    case = make()
    model, rows = case.model, case.model.reference
    for features in sets_of(case):
        result = explain.partial_dependence(case.subject, list(features))
        assert result.features == features

        def brute(predict, features=features):
            return naive.partial_dependence(predict, rows.codes, rows.weight, features, case.n_bins)

        assert_close(result.total, brute(model.predict))
        for s, stage in enumerate(model.stages):
            assert_close(result.stages[s], brute(lambda c, g=stage: g.evaluate(c, model.bins)))
            for side, part in enumerate((result.plus, result.minus)):
                value = sided(stage, side)
                assert_close(part[s], brute(lambda c, v=value: v(c, model.bins)))


@every_case
def test_a_background_replaces_the_reference_rows(make):
    case = make()
    some, codes = case.X[50:130], case.codes[50:130]
    result = explain.partial_dependence(case.subject, [1, 0], background=some)
    weight = np.full(80, 1 / 80)
    expected = naive.partial_dependence(case.model.predict, codes, weight, (1, 0), case.n_bins)
    assert_close(result.total, expected)


def edited(table, row, names):
    """The table with the values of one row in these columns."""
    out = table.copy()
    for name in names:
        out[name] = pd.Series([row[name]] * len(out), dtype=out[name].dtype, index=out.index)
    return out


@pytest.mark.filterwarnings("ignore:column .*none of its values was seen")
@pytest.mark.parametrize("names", [NAMES[:1], [NAMES[3]], [NAMES[4], NAMES[0], NAMES[3]], NAMES])
def test_values_at_rows_are_means_of_edited_tables(names):
    case = joint()
    model, background = case.subject, case.X[:150]
    rows = case.X.iloc[:25].copy()
    rows.iloc[3, 3] = "never seen"
    rows.iloc[4, 0] = 1e9
    expected = [model.predict(edited(background, row, names)).mean() for _, row in rows.iterrows()]
    result = explain.partial_dependence(model, names, background=background)
    assert_close(result.at(rows), expected)
    assert_close(result.at(rows[names[::-1]]), expected)


def test_values_at_rows_without_names_are_taken_in_order():
    case = array()
    result = explain.partial_dependence(case.subject, [2, 0], background=case.X)
    expected = naive.dependence_at(
        case.model.predict, case.codes[:9], case.codes, case.uniform, (2, 0)
    )
    assert_close(result.at(case.X[:9][:, [2, 0]]), expected)
    with pytest.raises(ValueError, match=r"X must have the columns \['x2', 'x0'\], got 3 columns"):
        result.at(case.X)
    named = explain.partial_dependence(joint().subject, ["pd"])
    with pytest.raises(ValueError, match=r"X must have the columns \['pd'\], got \['base'\]"):
        named.at(pd.DataFrame({"base": [1.0]}))


@every_case
def test_values_at_rows_and_in_bins_agree(make):
    case = make()
    result = explain.partial_dependence(case.subject, [1, 0])
    at = tuple(case.codes[:, j] for j in (1, 0))
    columns = np.asarray(case.X)[:, [1, 0]].astype(float)
    assert_close(result.at(columns), result.total[at])


@every_case
def test_of_all_features_it_is_the_prediction(make):
    case = make()
    result = explain.partial_dependence(case.subject, range(case.model.bins.n_axes))
    named = isinstance(case.subject, TSLRegressor)  # a bare model knows its features by position
    rows = case.X if named else np.asarray(case.X)
    assert_close(result.at(rows), case.predict(case.X))


@every_case
def test_a_product_is_its_constant_times_its_factors(make):
    """PD_plus = C_plus a_plus with C = lambda E[product of the others]: the proposition."""
    case = make()
    model, rows = case.model, case.model.reference
    for j in range(model.bins.n_axes):
        result = explain.partial_dependence(case.subject, j)
        for s, curve in enumerate(
            explain.curves(case.subject, s)[j] for s in range(len(model.stages))
        ):
            for side, factors in enumerate((curve.plus, curve.minus)):
                found = (result.plus, result.minus)[side][s]
                if factors is None:
                    np.testing.assert_array_equal(found, 0.0)
                    continue
                whole = sided(model.stages[s], side)(rows.codes, model.bins)
                constant = np.sum(rows.weight * whole / factors[rows.codes[:, j]])
                assert_close(result.constants[s, side], constant)
                assert_close(found, constant * factors)


@every_case
def test_backbone_and_tilt_follow_from_the_two_dependences(make):
    """b = sqrt(PD+ PD- / C+ C-) and d = log(PD+ C- / PD- C+) / 2: the second proposition."""
    case = make()
    for s, stage in enumerate(case.model.stages):
        for curve in explain.curves(case.subject, s):
            result = explain.partial_dependence(case.subject, curve.feature)
            plus, minus, (c_plus, c_minus) = result.plus[s], result.minus[s], result.constants[s]
            if not stage.is_two_branch:
                assert np.isnan(result.backbone[s]).all()
                continue
            assert_close(np.sqrt(plus * minus), np.sqrt(c_plus * c_minus) * curve.backbone)
            assert_close(result.backbone[s], np.sqrt(c_plus * c_minus) * curve.backbone)
            turn = np.sign(stage.lambda_plus)  # up is where the branch that adds wins
            tilt = 0.5 * np.log(plus * c_minus / (minus * c_plus))
            np.testing.assert_allclose(turn * tilt, curve.tilt, atol=1e-10)


def test_the_backbone_of_two_features_is_that_of_both_products():
    result = explain.partial_dependence(turned().subject, [0, 4])
    assert_close(result.backbone[0], np.sqrt(result.plus[0] * result.minus[0]))
    assert result.shape == result.backbone[0].shape
    assert np.isnan(result.backbone[1:]).all()


def test_bands_are_quantiles_over_the_replicates():
    case = bands()
    rows = case.model.reference
    result = explain.partial_dependence(case.subject, [0, 3], level=0.5)
    for part, of in (
        ("total", lambda m: m.predict),
        ("stages", lambda m: lambda c: m.contributions(c)[:, 1]),
    ):
        values = [
            naive.partial_dependence(of(m), rows.codes, rows.weight, (0, 3), case.n_bins)
            for m in case.model.replicates
        ]
        found = result.band(part) if part == "total" else result.band(part)[:, 1]
        assert_close(found, naive.band(values, 0.5))
    assert explain.partial_dependence(joint().subject, 0).band() is None


def test_weights_of_the_reference_rows_matter():
    case = weighted_polars()
    rows = case.model.reference
    result = explain.partial_dependence(case.subject, 0).total
    plain = naive.partial_dependence(
        case.model.predict, rows.codes, case.uniform, (0,), case.n_bins
    )
    assert np.abs(result - plain).max() > 1e-3 * np.abs(plain).max()


def wide_model():
    """302 * 302 * 32 combinations of bins in 8 stages: more than an array should hold."""
    axes = tuple(numeric(*np.arange(n)) for n in (300, 300, 30))
    ones = [np.ones(axis.n_bins) for axis in axes]
    bins = Bins(axes, np.concatenate([one / len(one) for one in ones]))
    rows = Reference(np.zeros((1, 3), dtype=np.uint16), np.ones(1))
    return SeparationModel(bins, 1.0, (tilted(ones, ones),) * 8, reference=rows)


def test_too_many_combinations_are_named_and_can_be_read_at_rows():
    result = explain.partial_dependence(wide_model(), [0, 1, 2])
    for part in ("total", "stages", "plus", "minus", "backbone"):
        with pytest.raises(ValueError, match=r"\['x0', 'x1', 'x2'\] have 2918528 combinations"):
            getattr(result, part)
    assert result.at([[1.0, 2.0, 3.0]]) == pytest.approx(1.0 + 8 * 2 * np.sinh(3.0))


def test_too_many_combinations_are_refused_before_memory_is_taken():
    result = explain.partial_dependence(wide_model(), [0, 1, 2])
    tracemalloc.start()
    try:
        with pytest.raises(ValueError, match="too many"):
            result.frame()
        assert tracemalloc.get_traced_memory()[1] < 10_000_000
    finally:
        tracemalloc.stop()


def test_features_by_name_and_by_position():
    frame = pd.DataFrame({"1": [1.0, 2.0, 3.0] * 10, "0": [0.0, 1.0] * 15})
    model = TSLRegressor(1, early_stopping=False, random_state=0).fit(
        frame, frame["1"] * frame["0"]
    )
    by_name = explain.partial_dependence(model, "0")
    assert (by_name.features, by_name.names) == ((1,), ("0",))
    assert explain.partial_dependence(model, 0).names == ("1",)
    assert explain.partial_dependence(model, np.array([1, 0])).names == ("0", "1")


CONTAINERS = {
    "tuple": ("pd", "backbone"),
    "array": np.array(["pd", "backbone"]),
    "columns": pd.Index(["pd", "backbone"]),
    "series": pd.Series(["pd", "backbone"]),
}


@pytest.mark.parametrize("features", CONTAINERS.values(), ids=CONTAINERS.keys())
def test_features_in_any_container(features):
    result = explain.partial_dependence(joint().subject, features)
    assert result.names == ("pd", "backbone")
