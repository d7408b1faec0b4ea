"""The average of models is exact for every row, and a model like any other."""

import copy
from functools import cache
from typing import Any

import numpy as np
import pandas as pd
import pytest

from seplearn import SepALSRegressor, TSLClassifier, TSLRegressor, explain, load_model, merge

QUICK: dict[str, Any] = {"n_stages": 2, "early_stopping": False, "random_state": 0}


@cache
def tables() -> tuple[pd.DataFrame, pd.DataFrame]:
    """Two tables whose columns have other edges, levels, rare levels and kinds of truth values."""
    first, second = (_table(n, seed) for n, seed in ((300, 0), (400, 1)))
    first.loc[:1, "place"] = ["rare in both", "rare in the first"]
    second.loc[:1, "place"] = ["rare in both", "c"]
    first["flag"] = np.random.default_rng(2).choice(["True", "False", "perhaps"], len(first))
    return first, second


def _table(n, seed):
    rng = np.random.default_rng(seed)
    places = np.array(["a", "b", "c" if seed == 0 else "d", None], dtype=object)
    return pd.DataFrame(
        {
            "x": rng.normal(seed, 1.0, n),
            "n": np.where(rng.random(n) < 0.1, np.nan, rng.integers(0, 5 + seed, n)),
            "place": rng.choice(places, n),
            "flag": rng.random(n) < 0.5,
            "both": rng.random(n) < 0.5,
        }
    )


def target(X):
    sign = np.where(X["flag"].astype(str) == "True", 1.0, -1.0)
    return X["x"].to_numpy() * (1.0 + np.nan_to_num(X["n"])) * sign + 2.0 * (X["place"] == "a")


def rows(n=400):
    rng = np.random.default_rng(3)
    places = ["a", "b", "c", "d", "rare in both", "rare in the first", "never seen", None]
    flags = ["True", "False", "perhaps", "0", "1", "other", None]
    numbers = [np.nan, 0, 1, 2.5, 3, 5, 7, -1, 1e300, np.inf, -np.inf]
    return pd.DataFrame(
        {
            "x": np.where(rng.random(n) < 0.1, np.nan, rng.normal(0.0, 3.0, n)),
            "n": rng.choice(numbers, n),
            "place": rng.choice(np.array(places, dtype=object), n),
            "flag": rng.choice(np.array(flags, dtype=object), n),
            "both": rng.choice(np.array([True, False, None, "0", "1", "x"], dtype=object), n),
        }
    )


@cache
def pair(kind: str) -> list[Any]:
    out: list[Any] = []
    for k, X in enumerate(tables()):
        y = target(X)
        if kind == "squares":
            out.append(TSLRegressor(**QUICK, main_effects=bool(k), n_bootstrap=2).fit(X, y))
        elif kind == "counts":
            out.append(TSLRegressor(**QUICK, loss="poisson").fit(X, np.round(np.exp(y / 4))))
        elif kind == "two classes":
            out.append(TSLClassifier(**QUICK, main_effects=True).fit(X, y > 0))
        elif kind == "three classes":
            labels = np.digitize(y, [-1, 1])
            out.append(TSLClassifier(**QUICK, main_effects=True, n_bootstrap=2).fit(X, labels))
        else:
            out.append(SepALSRegressor(random_state=0).fit(X, y))
    return out


KINDS = ("squares", "counts", "two classes", "three classes", "signed")


@pytest.mark.parametrize("kind", KINDS)
def test_sums_are_averaged_for_every_row(kind, tmp_path):
    first, second = pair(kind)
    both = merge([first, second], weights=[1, 3])
    X = rows()
    expected = 0.25 * first._sums(X) + 0.75 * second._sums(X)
    np.testing.assert_allclose(both._sums(X), expected, rtol=1e-9, atol=1e-9)
    both.save(tmp_path / "m.tsl")
    loaded = load_model(tmp_path / "m.tsl")
    np.testing.assert_array_equal(loaded._sums(X), both._sums(X))
    assert loaded.edits_ == both.edits_
    assert type(both) is type(first)


def test_the_merged_bins_are_those_of_a_model():
    both = merge(pair("squares"))
    bins = both.model_.bins
    np.testing.assert_allclose(bins.means(np.ones(len(bins.frequencies))), 1.0)
    place, flag, truth = (axis for axis in bins.axes[2:])
    assert place.rare == ("rare in both",)
    assert place.levels == ("a", "b", "c", "d", "rare in the first")
    assert flag.levels == ("0", "1", "False", "True", "perhaps")
    assert truth.levels == ("False", "True")
    np.testing.assert_array_equal(bins.axes[1].values, np.arange(6.0))
    edges = [set(one.model_.bins.axes[0].edges) for one in pair("squares")]
    assert set(bins.axes[0].edges) == edges[0] | edges[1]
    ends = [one.model_.bins.axes[0].range for one in pair("squares")]
    assert bins.axes[0].range == (min(e[0] for e in ends), max(e[1] for e in ends))
    for stage in both.stages_:
        for branch in stage.branches:
            np.testing.assert_allclose(bins.means(branch.log_factors), 0.0, atol=1e-12)


def test_a_bin_that_is_split_shares_its_rows():
    both = merge(pair("squares"), weights=[1, 1])
    bins = both.model_.bins
    ordered = slice(0, len(bins.axes[0].edges) + 1)
    below = np.cumsum(bins.frequencies[bins.axis(0)][ordered])
    values = np.concatenate([X["x"] for X in tables()])
    weight = np.concatenate([np.full(len(X), 0.5 / len(X)) for X in tables()])
    actual = [np.sum(weight[values < edge]) for edge in bins.axes[0].edges]
    np.testing.assert_allclose(below[:-1], actual, atol=0.01)


def test_a_merged_model_is_explained_edited_and_has_bands():
    both = merge(pair("squares"))
    X = rows(20)
    shares = explain.shapley(both, X)
    np.testing.assert_allclose(shares.base + shares.values.sum(axis=1), both.predict(X), rtol=1e-9)
    assert "x" in str(explain.summary(both))
    assert len(both.model_.replicates) == 2
    centre = np.mean([one.predict_interval(X, kind="mean") for one in pair("squares")], axis=0)
    assert np.isfinite(both.predict_interval(X, kind="mean") - centre).all()
    changed = both.edit().flatten("x", stage=0).apply(reason="r")
    assert [record.operation for record in changed.edits_] == ["merge", "flatten"]


def test_edits_of_merged_models_are_kept():
    first, second = pair("squares")
    edited = second.edit().clip("x", (-1, 1)).apply(reason="why")
    both = merge([first, edited], reason="together")
    clip, record = both.edits_
    assert clip == edited.edits_[0]
    about = {"weights": [0.5, 0.5], "n_edits": [0, 1], "had_offsets": False}
    assert record.arguments == about
    assert record.reason == "together"


def test_constraints_stay_only_if_all_models_have_them():
    X, _ = tables()
    y = target(X)
    one, other = (
        TSLRegressor(**QUICK, monotonic_cst=given).fit(X, y) for given in ({"x": 1}, None)
    )
    assert merge([one, one]).monotonic_cst == {"x": 1}
    assert merge([one, other]).monotonic_cst is None
    assert one.monotonic_cst == {"x": 1}
    as_list = TSLRegressor(**QUICK, monotonic_cst=[1, 1, 0, 0, 0]).fit(X, y)
    assert merge([one, as_list]).monotonic_cst == {"x": 1}
    made = other.edit().make_monotone("x", 1).make_monotone("n", -1).apply(reason="known")
    both = merge([one, made])
    assert both.monotonic_cst == {"x": 1}
    turned = both.edit().make_monotone("n", 1).apply(reason="free in the first")
    along = pd.DataFrame([X.iloc[0]] * 7).assign(n=range(7))
    assert np.diff(turned.predict(along)).min() >= 0.0
    with pytest.raises(ValueError, match="direction must agree with monotonic_cst"):
        both.edit().make_monotone("x", -1)
    arrays = X[["x", "n"]].to_numpy()
    nameless = TSLRegressor(**QUICK, monotonic_cst=[0, 1]).fit(arrays, y)
    assert merge([nameless, nameless]).monotonic_cst == [0, 1]


def test_offsets_constants_and_targets_of_the_parts_are_not_forgotten(tmp_path):
    X, y = tables()[0][["x", "n"]], pd.Series(target(tables()[0]), name="rent")
    added = np.linspace(0.0, 1.0, len(X))
    plain, free = (TSLRegressor(**QUICK, fit_intercept=c).fit(X, y) for c in (True, False))
    offset = TSLRegressor(**QUICK).fit(X, y + added, offset=added)
    assert merge([free, plain]).fit_intercept is True
    assert merge([free, free]).fit_intercept is False
    with pytest.raises(ValueError, match="models must all have been fitted with offsets, or none"):
        merge([offset, plain])
    both = merge([offset, offset])
    both.save(tmp_path / "m.tsl")
    for one in (both, load_model(tmp_path / "m.tsl"), merge([both, both])):
        with pytest.warns(
            UserWarning, match="the model was fitted with offsets and none are given"
        ):
            one.evaluate(X, y)
    with pytest.raises(ValueError, match="models must all have been fitted with offsets, or none"):
        merge([both, plain])
    with pytest.raises(ValueError, match="models must all have been fitted with offsets, or none"):
        merge([both, merge([plain, free])])
    offset.provenance_ = None  # as of a file of 0.1: others may still tell
    with pytest.raises(ValueError, match="models must all have been fitted with offsets, or none"):
        merge([offset, both, plain])
    assert merge([offset, both]).edits_[-1].arguments["had_offsets"] is True
    assert "had_offsets" not in merge([offset, plain]).edits_[-1].arguments
    with pytest.warns(UserWarning, match="models of different targets are averaged: 'rent', 'x'"):
        merge([plain, TSLRegressor(**QUICK).fit(X, y.rename("x"))])


def test_columns_that_are_only_numbered_must_be_the_same():
    X, y = tables()[0][["x", "n"]].set_axis([0, 1], axis=1), target(tables()[0])
    one, turned = TSLRegressor(**QUICK).fit(X, y), TSLRegressor(**QUICK).fit(X[[1, 0]], y)
    with pytest.raises(ValueError, match=r"same features in the same order, got \(0, 1\) and \(1,"):
        merge([one, turned])
    array = TSLRegressor(**QUICK).fit(X.to_numpy(), y)
    np.testing.assert_allclose(
        merge([one, array]).predict(X), 0.5 * one.predict(X) + 0.5 * array.predict(X), rtol=1e-9
    )
    other = TSLRegressor(**QUICK).fit(X.set_axis([1, 2], axis=1), y)  # not those, but as many
    np.testing.assert_allclose(
        merge([other, array]).predict(X.to_numpy()), array.predict(X.to_numpy())
    )
    for models in ([array, turned], [turned, array], [array, one, other]):
        with pytest.raises(ValueError, match="same features in the same order"):
            merge(models)
    along = X.set_axis([2, 1], axis=1)  # found by number, whichever model comes first
    np.testing.assert_array_equal(
        merge([other, array]).predict(along), merge([array, other]).predict(along)
    )
    again = TSLRegressor(**QUICK, warm_start=True).fit(X, y)
    with pytest.raises(
        ValueError, match=r"columns of the fit that warm_start goes on from, \[0, 1"
    ):
        again.set_params(n_stages=3).fit(X[[1, 0]], y)


def test_a_merge_has_the_constraints_that_its_models_really_keep():
    X, y = tables()[0][["x", "n"]], target(tables()[0])
    plain = TSLRegressor(**QUICK).fit(X, -X["x"].fillna(0.0))
    plain.set_params(monotonic_cst={"x": 1})  # after the fit
    assert merge([plain, plain]).monotonic_cst is None
    assert plain.edit().make_monotone("x", -1).apply(reason="r").edits_
    for senseless in (5, {"place": 1}):
        plain.set_params(monotonic_cst=senseless)
        assert merge([plain, plain]).monotonic_cst is None
    mixed = TSLRegressor(**QUICK).fit(tables()[0], y).set_params(monotonic_cst={"place": 1})
    assert merge([mixed, mixed]).monotonic_cst is None
    free = TSLRegressor(**QUICK | {"refine": "scalars"}, scalars="ols").fit(X, y)
    edited = free.edit().make_monotone("x", 1).apply(reason="r")
    every = range(len(edited.stages_))
    refitted = edited.select_stages(every, X, y - 3.0 * X["x"].fillna(0.0))
    along = pd.DataFrame({"x": np.linspace(-1.0, 1.0, 50), "n": 1.0})
    assert np.diff(refitted.predict(along)).min() >= -1e-12
    assert merge([refitted, refitted]).monotonic_cst == {"x": 1}


def test_constants_have_intervals_if_all_of_them_do():
    X = tables()[0]
    with_them, without = (
        TSLRegressor(**QUICK, n_bootstrap=n).fit(X, np.full(len(X), 2.0)) for n in (2, 0)
    )
    known = merge([with_them, with_them]).predict_interval(X, kind="mean")
    np.testing.assert_array_equal(known, np.full((len(X), 2), 2.0))
    for models in ([with_them, without], [without, with_them]):
        with pytest.raises(ValueError, match="needs bootstrap replicates"):
            merge(models).predict_interval(X, kind="mean")


def test_models_without_rows_are_merged_without_rows():
    first = TSLRegressor(**QUICK, background_size=0).fit(tables()[0], target(tables()[0]))
    assert merge([first, pair("squares")[1]]).model_.reference is None


def test_what_cannot_be_averaged_is_refused():
    first, second = pair("squares")
    counts, signed = pair("counts")[0], pair("signed")[0]
    X, y = tables()[0], target(tables()[0])
    fewer = TSLRegressor(**QUICK).fit(X[["x", "n"]], y)
    coded = TSLRegressor(**QUICK).fit(X.assign(place=np.arange(len(X)) % 7), y)
    two = pair("two classes")[0]
    words = TSLClassifier(**QUICK).fit(X, np.where(y > 0, "yes", "no"))
    balanced = TSLClassifier(**QUICK, class_weight="balanced").fit(X, y > 0)
    for models, told in (
        ([first], "models must be two or more"),
        ([first, counts], r"models must have the same loss, got \('squared_error', 'identity'\)"),
        ([first, signed], "models must have the same kind, got 'TSLRegressor' and 'SepALS"),
        ([first, fewer], "models must have the same features in the same order"),
        ([first, coded], "models must have the same kind of feature 'place', got 'categ"),
        ([two, words], "models must have the same classes"),
        ([two, balanced], "models must have the same class_weight, got None and 'balanced'"),
        ([first, TSLRegressor()], "not fitted"),
    ):
        with pytest.raises(ValueError, match=told):
            merge(models)
    wrong: list[Any] = [first, [first, "second"], "models"]
    for given in wrong:
        with pytest.raises(TypeError, match="models must be"):
            merge(given)
    for weights in ([1], [1, 0], [1, -1], [1, np.nan], [1, np.inf], [1, "2"], [1e300, 1e-300]):
        with pytest.raises(ValueError, match="weights must be 2 positive numbers"):
            merge([first, second], weights=weights)
    with pytest.raises(TypeError, match="weights must be 2 positive numbers"):
        merge([first, second], weights=3)
    with pytest.raises(ValueError, match="reason must be a text"):
        merge([first, second], reason=" ")


def test_too_many_bins_or_levels_are_refused(monkeypatch):
    monkeypatch.setattr("seplearn.editing.merge.MAX_BINS", 100)
    with pytest.raises(ValueError, match=r"at most 100 bins of a feature together, got .* of 'x'"):
        merge(pair("squares"))
    monkeypatch.undo()
    monkeypatch.setattr("seplearn.editing.merge.MAX_LEVELS", 3)
    with pytest.raises(ValueError, match="at most 3 levels of a feature together, got 5 of 'plac"):
        merge(pair("squares"))


def test_a_class_without_curves_keeps_as_many_replicates_as_the_others(tmp_path):
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(200, 2)), columns=["a", "b"])
    y = np.digitize(X["a"], [-0.5, 0.5])
    options: dict[str, Any] = {"n_stages": 0, "early_stopping": False, "n_bootstrap": 2}
    models = [TSLClassifier(**options, random_state=s).fit(X, y) for s in (0, 1)]
    flat = [
        one.edit().flatten("a", label=1).flatten("b", label=1).apply(reason="r") for one in models
    ]
    both = merge(flat)
    both.save(tmp_path / "both.tsl")
    np.testing.assert_array_equal(
        load_model(tmp_path / "both.tsl").predict_interval(X), both.predict_interval(X)
    )


def test_zeros_and_ones_are_the_truth_values_of_another_model():
    rng = np.random.default_rng(0)
    truth = rng.random(400) < 0.5
    y = truth + rng.normal(0.0, 0.1, 400)
    named = TSLRegressor(**QUICK).fit(pd.DataFrame({"new": truth}), y)
    coded = TSLRegressor(**QUICK).fit(pd.DataFrame({"new": truth.astype(int).astype(str)}), 3.0 * y)
    for models in ([named, coded], [coded, named]):
        both = merge(models)
        assert both.model_.bins.axes[0].levels == ("False", "True")
        for spelled in (truth, truth.astype(int), truth.astype(str)):
            own = pd.DataFrame({"new": truth})
            expected = (named.predict(own) + coded.predict(own.astype(int))) / 2.0
            found = both.predict(pd.DataFrame({"new": spelled}))
            np.testing.assert_allclose(found, expected, rtol=1e-9)


def test_texts_for_missing_values_are_those_of_all_models():
    first, second = (copy.copy(one) for one in pair("squares"))
    first.missing_texts_, second.missing_texts_ = ("?", "-999"), ("-999", "none")
    with pytest.warns(UserWarning, match="models with different texts for missing values"):
        assert merge([first, second]).missing_texts_ == ("?", "-999", "none")


def test_constraints_of_numbered_columns_are_constraints_too(tmp_path):
    rng = np.random.default_rng(0)
    X = rng.uniform(-1.0, 1.0, (300, 2))
    y = X[:, 0] + 0.3 * X[:, 1] ** 3 + rng.normal(0.0, 0.1, 300)
    frame = pd.DataFrame(X, columns=[7, 5])
    for table, key, kept in ((X, 1, [0, 1]), (frame, 5, [0, 1])):
        model = TSLRegressor(**QUICK, monotonic_cst={key: 1}).fit(table, y)
        assert merge([model, model]).monotonic_cst == kept
        with pytest.raises(ValueError, match="direction must agree with monotonic_cst"):
            model.edit().make_monotone(model._schema.labels[1], -1)
        model.save(tmp_path / "numbered.tsl")
        again = load_model(tmp_path / "numbered.tsl")
        assert again.monotonic_cst == {key: 1}
        np.testing.assert_array_equal(again.fit(table, y).predict(table), model.predict(table))
