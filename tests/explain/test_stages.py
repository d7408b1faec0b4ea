"""What stages contribute, in a region or in all, and smaller models made of some of them."""

from dataclasses import replace

import numpy as np
import pytest

from seplearn import TSLRegressor, datasets, explain, load_model
from seplearn.model import edit
from tests import naive
from tests import naive_explain as oracle
from tests.explained import (
    NAMES,
    array,
    assert_close,
    assert_same,
    bands,
    every_case,
    joint,
    main_effects,
    minus_only,
    one_branch,
    paper,
    single,
    weighted_polars,
)


def by_hand(contributions, weight):
    """Mean, mean size and share of every stage over rows that count by their weight."""
    weight = weight / weight.sum()
    mean = [sum(w * c for w, c in zip(weight, column, strict=True)) for column in contributions.T]
    size = [
        sum(w * abs(c) for w, c in zip(weight, column, strict=True)) for column in contributions.T
    ]
    squares = [
        sum(w * c * c for w, c in zip(weight, column, strict=True)) for column in contributions.T
    ]
    return mean, size, np.array(squares) / sum(squares)


@every_case
def test_over_all_rows(make):
    case = make()
    rows = case.model.reference
    result = explain.stages(case.subject)
    effects = oracle.main_effects(case.model, rows.codes).sum(axis=1)
    parts = np.column_stack([case.model.contributions(rows.codes), effects])
    mean, size, share = by_hand(parts, rows.weight)
    assert_close([*result.mean, result.effects_mean], mean)
    assert_close([*result.mean_size, result.effects_mean_size], size)
    assert_close(result.share, share[:-1])
    total = case.model.intercept + result.mean.sum() + result.effects_mean
    assert total == pytest.approx(rows.weight @ case.model.predict(rows.codes), rel=1e-9)
    assert result.weight == pytest.approx(1.0)
    assert result.n_rows == len(rows.weight)


def edges_around(case, j, first, last):
    """Two values, inside the first and the last of some neighbouring bins."""
    edges = case.model.bins.axes[j].edges
    return edges[first - 1] + 1e-9, edges[last] - 1e-9


def inside_numeric(codes, first, last):
    return (first <= codes) & (codes <= last)


def regions(case):
    """Regions, and the rows in each by hand."""
    codes = case.codes
    low, high = edges_around(case, 0, 3, 6)
    n_edges = len(case.model.bins.axes[0].edges)
    middle = inside_numeric(codes[:, 0], 3, 6)
    below, above = inside_numeric(codes[:, 0], 0, 6), inside_numeric(codes[:, 0], 3, n_edges)
    where = np.array([str(value) for value in case.X[NAMES[3]]])
    return [
        ({NAMES[0]: (low, high)}, middle),
        ({0: (None, high)}, below),
        ({0: (low, None)}, above),
        ({0: (None, None)}, inside_numeric(codes[:, 0], 0, n_edges)),
        ({NAMES[3]: "south"}, where == "south"),
        ({3: ["south", "moon"]}, (where == "south") | (where == "moon")),
        (
            {3: ("north", "Südost"), NAMES[0]: [low, None]},
            np.isin(where, ["north", "Südost"]) & above,
        ),
        ({2: (1, 1)}, codes[:, 2] == 1),
    ]


@pytest.mark.parametrize("make", [joint, single, weighted_polars])
@pytest.mark.parametrize("number", range(8))
def test_in_a_region(make, number):
    case = make()
    region, inside = regions(case)[number]
    assert 0 < inside.sum() < len(inside)
    contributions, weight = case.model.contributions(case.codes), case.model.reference.weight
    result = explain.stages(case.subject, region)
    mean, size, share = by_hand(contributions[inside], weight[inside])
    assert_close(result.mean, mean)
    assert_close(result.mean_size, size)
    assert_close(result.share, share)
    assert result.n_rows == inside.sum()
    assert result.weight == pytest.approx(weight[inside].sum())


def test_bins_of_both_ends_belong_to_the_region_and_missing_values_to_none():
    case = joint()
    edges = case.model.bins.axes[1].edges
    at_edges = explain.stages(case.subject, {1: (edges[2], edges[4])})  # an edge opens its bin
    assert at_edges.n_rows == inside_numeric(case.codes[:, 1], 3, 5).sum()
    just_below = explain.stages(case.subject, {1: (edges[2] - 1e-9, edges[4] - 1e-9)})
    assert just_below.n_rows == inside_numeric(case.codes[:, 1], 2, 4).sum()
    everything = explain.stages(case.subject, {0: (-np.inf, np.inf)})
    assert everything.n_rows == case.X[NAMES[0]].notna().sum()


def test_a_region_of_another_background():
    case = joint()
    some = case.X[:90]
    result = explain.stages(case.subject, {"prediction": (1, 1)}, background=some)
    flagged = case.subject.predict_stages(some[some["prediction"] == 1])
    assert_close(result.mean, flagged.mean(axis=0))
    assert_close(result.mean_size, np.abs(flagged).mean(axis=0))
    assert result.n_rows == len(flagged)
    assert result.weight == pytest.approx(len(flagged) / 90)


def test_a_background_without_names_is_warned_of_once():
    X, y = datasets.masked_interaction(300, as_frame=True, random_state=0)
    model = TSLRegressor(n_stages=1, early_stopping=False, random_state=0).fit(X, y)
    with pytest.warns(UserWarning, match="does not have valid feature names") as warned:
        nameless = explain.stages(model, {"x1": (0.0, None)}, background=X.to_numpy())
    assert len(warned) == 1
    assert_close(nameless.mean, explain.stages(model, {"x1": (0.0, None)}, background=X).mean)


@every_case
@pytest.mark.parametrize("kept", [[0], [1, 0]])
def test_a_part_of_the_stages_is_their_sum(make, kept):
    case = make()
    model = edit.select_stages(case.model, kept)
    contributions = case.model.contributions(case.codes)[:, kept]
    effects = oracle.main_effects(case.model, case.codes)
    expected = case.model.intercept + effects.sum(axis=1) + contributions.sum(axis=1)
    assert_close(model.predict(case.codes), expected)
    np.testing.assert_array_equal(model.contributions(case.codes), contributions)
    if isinstance(case.subject, TSLRegressor):
        small = case.subject.select_stages(kept)
        assert type(small) is type(case.subject)
        np.testing.assert_array_equal(small.predict(case.X), model.predict(case.codes))


def test_the_original_is_left_as_it_is():
    case = bands()
    X, y = case.X, case.y
    before = (
        case.subject.predict(X),
        case.subject.predict_interval(X, kind="mean"),
        case.subject.history_,
    )
    model = case.subject.model_
    for small in (
        case.subject.select_stages([1]),
        case.subject.select_stages(1, X, y),
    ):
        assert small is not case.subject
        assert small.history_ == []
        assert len(small.stages_) == 1
        assert small.get_params() == case.subject.get_params()
    assert case.subject.model_ is model
    after = (
        case.subject.predict(X),
        case.subject.predict_interval(X, kind="mean"),
        case.subject.history_,
    )
    assert_same(before, after)


def test_replicates_and_bags_are_reduced_too():
    case = bands()
    small = case.subject.select_stages([1])
    expected = [
        r.intercept + r.contributions(case.codes)[:, 1] for r in case.subject.model_.replicates
    ]
    found = [r.predict(case.codes) for r in small.model_.replicates]
    assert_close(found, expected)
    assert_close(
        small.predict_interval(case.X, 0.5, kind="mean").T,
        np.quantile(expected, (0.25, 0.75), axis=0),
    )
    bagged = paper().subject.select_stages([2, 0])
    assert_same(explain.bags(bagged, 0).backbones, explain.bags(paper().subject, 2).backbones)
    assert_same(explain.bags(bagged, 1).kept, explain.bags(paper().subject, 0).kept)


def unit_columns(stages, codes, bins):
    """The products with lambda one and the sign they have in a stage."""
    signed = [(s.plus, 1.0) for s in stages] + [(s.minus, -1.0) for s in stages]
    return [
        branch.with_coefficient(sign).evaluate(codes, bins)
        for branch, sign in signed
        if branch is not None
    ]


REFITS = {
    "joint": (joint, "nnls", True),
    "no intercept": (one_branch, "nnls", False),
    "scalars": (minus_only, "nnls", False),
    "paper": (paper, "ols", False),
    "signed": (single, "ols", True),  # signed products get any coefficient
    "array": (array, "nnls", True),
    "main effects": (main_effects, "nnls", True),  # which stay as they are
}


@pytest.mark.parametrize(("make", "scalars", "intercept"), REFITS.values(), ids=REFITS.keys())
@pytest.mark.parametrize(("factor", "weighted"), [(2.0, False), (2.0, True), (-2.0, False)])
def test_refitted_lambda_are_the_least_squares_optimum(make, scalars, intercept, factor, weighted):
    """Turned around, the target tells non-negative lambda from those of any sign."""
    case = make()
    kept, rows = [1, 0], slice(20, 180)
    X, y, codes = case.X[rows], factor * case.y[rows] + 1.0, case.codes[rows]
    weight = np.random.default_rng(0).uniform(0.5, 2.0, size=160) if weighted else None
    small = case.subject.select_stages(kept, X, y, weight)
    stages = [case.model.stages[s] for s in kept]
    columns = unit_columns(stages, codes, case.model.bins)
    plain = np.ones(160) if weight is None else weight
    effects = oracle.main_effects(case.model, codes).sum(axis=1)
    best = effects + naive.backfit(columns, y - effects, plain, scalars, intercept)
    # Where products nearly coincide, coefficients are not determined; what they predict is.
    np.testing.assert_allclose(small.predict(X), best, rtol=1e-5, atol=1e-6 * y.std())
    loss = np.sum(plain * (y - small.predict(X)) ** 2)
    assert loss <= np.sum(plain * (y - best) ** 2) * (1 + 1e-9)
    assert loss < np.sum(plain * (y - case.subject.select_stages(kept).predict(X)) ** 2)
    assert small.model_.replicates == ()


def test_refitting_keeps_the_curves():
    case = joint()
    small = case.subject.select_stages([2, 1], case.X[:200], case.y[:200])
    for stage, before in zip(small.stages_, (2, 1), strict=True):
        original = case.model.stages[before]
        np.testing.assert_array_equal(stage.plus.log_factors, original.plus.log_factors)
        np.testing.assert_array_equal(stage.minus.log_factors, original.minus.log_factors)
        assert stage.lambda_plus >= 0
        assert stage.lambda_minus >= 0


def test_what_is_left_can_be_explained_saved_and_loaded(tmp_path):
    case = joint()
    for small in (
        case.subject.select_stages([2, 0]),
        case.subject.select_stages([1], case.X[:50], case.y[:50]),
    ):
        small.save(tmp_path / "small.tsl")
        again = load_model(tmp_path / "small.tsl")
        np.testing.assert_array_equal(again.predict(case.X), small.predict(case.X))
        assert_same(explain.importance(again), explain.importance(small))
        assert_same(explain.shapley(again, case.X[:3]), explain.shapley(small, case.X[:3]))
        assert len(explain.roles(small).sentences) == len(small.stages_)


def test_a_refit_that_leaves_nothing_can_still_be_explained():
    """A constant target gives every lambda zero: the log of their size is minus infinity."""
    case = joint()
    small = case.subject.select_stages([0], case.X, np.full(len(case.y), 7.0))
    np.testing.assert_allclose(small.predict(case.X), 7.0)
    np.testing.assert_allclose(small.predict_stages(case.X), 0.0, atol=1e-12)
    # With some builds of LAPACK rounding is left instead of zero.
    small.model_ = replace(small.model_, stages=(small.model_.stages[0].with_scalars(0.0, 0.0),))
    assert explain.roles(small).sentences == ("contributes nothing",)
    np.testing.assert_allclose(explain.partial_dependence(small, 0).total, 7.0)
    assert explain.stages(small).share.tolist() == [0.0]
    np.testing.assert_array_equal(explain.shapley(small, case.X[:2]).values, 0.0)
