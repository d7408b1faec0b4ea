"""Changes that reach a wanted prediction: exact, the smallest, and within the data."""

import re
import sys
from itertools import combinations

import numpy as np
import pandas as pd
import polars as pl
import pytest

from seplearn import TSLClassifier, TSLRegressor, datasets, explain
from seplearn.table.columns import open_table
from tests.explained import NAMES, QUICK, every_case, joint, table, weighted_polars


def known_bins(case, j):
    """Bins of values that training rows had."""
    bins = case.model.bins
    frequencies, meanings = bins.frequencies[bins.axis(j)], bins.axes[j].describe().meanings
    return [b for b, m in enumerate(meanings) if m in ("range", "level") and frequencies[b] > 0]


def distance(bins, j, one, other):
    """The share of the training rows between two bins, straight from its definition."""
    f = bins.frequencies[bins.axis(j)]
    n = int(bins.n_ordered[j])
    if one < n and other < n:
        low, high = sorted((one, other))
        between = f[low] / 2 + f[low + 1 : high].sum() + f[high] / 2
        return between / f[:n].sum()
    return (f[one] + f[other]) / 2 + (1 - f[one] - f[other]) / 3


def every_change(case, codes, size):
    """The features of all changes of one row, and its codes after them."""
    for chosen in combinations(range(case.model.bins.n_axes), size):
        grids = np.meshgrid(*(known_bins(case, j) for j in chosen), indexing="ij")
        tried = np.repeat(codes, grids[0].size, axis=0)
        for j, grid in zip(chosen, grids, strict=True):
            tried[:, j] = grid.ravel()
        yield chosen, tried


def brute_force(case, row, target, ways=()):
    """The smallest size of every feature and pair that reaches the target, by trying all."""
    bins, codes = case.model.bins, case.codes[[row]]
    up = case.model.predict(codes)[0] < target
    found = {}
    for size in (1, 2):
        for chosen, tried in every_change(case, codes, size):
            moved = np.all([tried[:, j] != codes[0, j] for j in chosen], axis=0)
            for j in set(chosen) & set(ways):
                before, after = int(codes[0, j]), tried[:, j].astype(int)
                moved &= (ways[j] * (after - before) > 0) & (before < bins.n_ordered[j])
            sums = case.model.predict(tried)
            good = moved & ((sums >= target) if up else (sums <= target))
            sizes = [
                sum(distance(bins, j, codes[0, j], one[j]) for j in chosen) for one in tried[good]
            ]
            if sizes:
                found[chosen] = min(sizes)
    alone = {key[0]: size for key, size in found.items() if len(key) == 1}
    return {
        key: size
        for key, size in found.items()
        if len(key) == 1 or size < 0.9 * min(alone.get(j, np.inf) for j in key)
    }


@every_case
def test_they_are_the_smallest_of_all(make):
    case = make()
    predictions = case.predict(case.X)
    row = 5
    for target in np.quantile(predictions, [0.1, 0.8]):
        result = explain.counterfactual(case.subject, case.X, row, target=target, max_changes=99)
        expected = brute_force(case, row, target)
        assert expected
        assert [c.size for c in result.changes] == pytest.approx(sorted(expected.values()))
        for change in result.changes:
            assert change.size == pytest.approx(expected[change.features])


@every_case
@pytest.mark.parametrize("way", [-1, 1])
def test_features_may_only_rise_or_only_fall(make, way):
    case = make()
    predictions = case.predict(case.X)
    is_numeric = ~case.model.bins.is_categorical
    ways = {j: way if j % 2 else -way for j in np.flatnonzero(is_numeric).tolist()}
    named = {explain.roles(case.subject).names[j]: direction for j, direction in ways.items()}
    differs = 0
    for row, share in ((5, 0.1), (5, 0.8), (9, 0.6)):
        target = np.quantile(predictions, share)
        options = {"target": target, "max_changes": 99}
        result = explain.counterfactual(case.subject, case.X, row, directions=named, **options)
        expected = brute_force(case, row, target, ways)
        assert {c.features: c.size for c in result.changes} == pytest.approx(expected)
        assert result.directions == named
        for change in result.changes + result.nearest:
            for name, before, after in zip(change.names, change.before, change.after, strict=True):
                assert name not in named or (after - before) * named[name] > 0.0
        differs += brute_force(case, row, target) != expected
    assert differs


def test_a_missing_value_has_no_direction_to_go():
    random = np.random.default_rng(0)
    X = pd.DataFrame({"a": random.normal(size=300), "b": random.normal(size=300)})
    X.loc[:30, "a"] = np.nan
    model = TSLRegressor(**QUICK).fit(X, np.where(X["a"].isna(), 3.0, X["a"]) + X["b"])
    free = explain.counterfactual(model, X, 0, target=2.5)
    assert any("a" in change.names for change in free.changes)
    held = explain.counterfactual(model, X, 0, target=2.5, directions={"a": -1})
    assert held.changes
    assert all("a" not in change.names for change in held.changes)
    far = explain.counterfactual(model, X, 0, target=1e9, directions={"a": -1})
    assert "known values that training rows had and may change, makes" in far.why_none


def test_the_values_given_have_the_prediction_given():
    case = joint()
    for row in (0, 7, 30):
        now = case.predict(case.X)[row]
        result = explain.counterfactual(case.subject, case.X, row, target=now + 1.0)
        assert result.prediction == pytest.approx(now, rel=1e-12)
        assert result.changes
        for change in result.changes:
            X = case.X[row : row + 1].copy()
            for name, before, after in zip(
                change.names, change.before, change.after, strict=True
            ):  # fmt: skip
                own = X[name].iloc[0]
                assert before == own or (pd.isna(before) and pd.isna(own))
                X[name] = [after]
            assert case.predict(X)[0] == pytest.approx(change.prediction, rel=1e-9)
            assert change.prediction >= now + 1.0


def test_values_lie_within_the_data_and_have_few_digits():
    X, y = datasets.rents(400, random_state=0)
    model = TSLRegressor(n_stages=2, early_stopping=False, random_state=0).fit(X, y)
    for target in (500, 1500):
        changes = explain.counterfactual(model, X, 3, target=target).changes
        assert changes
        for change in changes:
            for name, value in zip(change.names, change.after, strict=True):
                if isinstance(value, str):
                    assert value in set(X[name])
                else:
                    assert X[name].min() <= value <= X[name].max()
                    assert len(str(value)) <= 6


def test_fixed_features_stay():
    case = joint()
    now = case.predict(case.X)[2]
    free = explain.counterfactual(case.subject, case.X, 2, target=now - 1.0)
    first = free.changes[0].names[0]
    result = explain.counterfactual(case.subject, case.X, 2, target=now - 1.0, fixed=first)
    assert result.fixed == (first,)
    assert all(first not in change.names for change in result.changes)
    for none in (None, (), np.array([]), pd.Index([]), pl.Series([], dtype=pl.String)):
        free = explain.counterfactual(case.subject, case.X, 2, target=now - 1.0, fixed=none)
        assert free.fixed == ()
    all_fixed = explain.counterfactual(case.subject, case.X, 2, target=now - 1.0, fixed=NAMES)
    assert all_fixed.changes == ()
    assert not all_fixed.is_reached


def test_what_is_reached_needs_no_change():
    case = joint()
    now = case.predict(case.X)[4]
    result = explain.counterfactual(case.subject, case.X, 4, target=now)
    assert result.is_reached
    assert result.changes == ()
    assert result.plot() is not None


def test_frames_hold_texts_and_numbers_in_every_library():
    for case in (joint(), weighted_polars()):
        frame = explain.counterfactual(case.subject, case.X, 3, target=1.5).frame()
        assert len(frame) > 1
        texts, numbers = list(frame.columns)[:6], list(frame.columns)[6:]
        assert all(isinstance(value, str) for name in texts for value in frame[name])
        assert numbers == ["size", "prediction"]
        assert list(frame["size"]) == sorted(frame["size"])


def test_out_of_reach_is_said_by_no_change():
    case = joint()
    result = explain.counterfactual(case.subject, case.X, 4, target=1e9)
    assert not result.is_reached
    assert result.changes == ()
    assert result.wanted == "prediction of at least 1e+09"


@every_case
@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_out_of_reach_the_nearest_changes_are_told(make, sign):
    case = make()
    codes = case.codes[[7]]
    now = case.model.predict(codes)[0]
    result = explain.counterfactual(case.subject, case.X, 7, target=sign * 1e9)
    ways = {}
    for size in (1, 2):
        for _, tried in every_change(case, codes, size):
            way = sign * (case.model.predict(tried) - now)
            ways[size] = max(ways.get(size, 0.0), way.max())
    found = [sign * (change.prediction - now) for change in result.nearest]
    assert found[0] == pytest.approx(ways[1], rel=1e-8)
    if ways[2] > 1.01 * ways[1]:
        assert found[1:] == pytest.approx([ways[2]], rel=1e-8)
    else:
        assert found[1:] == []
    assert [len(change.features) for change in result.nearest] == [1, 2][: len(found)]
    told = str(result).splitlines()
    assert told[0].startswith(result.why_none)
    assert told[1].startswith(result.nearest[0].texts[0])
    assert len(told) == 1 + len(found)


def test_nothing_comes_near_where_all_is_fixed_or_reached():
    case = joint()
    fixed = explain.counterfactual(case.subject, case.X, 4, target=1e9, fixed=NAMES)
    assert fixed.nearest == ()
    assert str(fixed) == fixed.why_none
    far = case.predict(case.X)[4]
    assert explain.counterfactual(case.subject, case.X, 4, target=far).nearest == ()
    best = explain.counterfactual(case.subject, case.X, 4, target=1e9).nearest[-1].prediction
    there = explain.counterfactual(case.subject, case.X, 4, target=best - 1e-9)
    assert there.changes
    assert there.nearest == ()


def test_the_figure_shows_the_nearest_where_no_change_suffices():
    case = joint()
    result = explain.counterfactual(case.subject, case.X, 4, target=1e9)
    (panel,) = result.plot().axes
    assert panel.get_title().endswith("\nno change of one or two suffices: nearest")
    assert len(panel.get_yticklabels()) == len(result.nearest) > 0
    fixed = explain.counterfactual(case.subject, case.X, 4, target=1e9, fixed=NAMES).plot()
    assert fixed.axes[0].texts[0].get_text() == "no change of one or two suffices"


@pytest.fixture(scope="module")
def classes():
    X, y = table()
    three = np.array(["low", "middle", "high"], dtype=object)[np.digitize(y, [-0.5, 0.8])]
    options = QUICK | {"n_stages": 2}
    return X, y, TSLClassifier(**options).fit(X, y > 0), TSLClassifier(**options).fit(X, three)


def with_values(X, row, change):
    one = X[row : row + 1].copy()
    for name, value in zip(change.names, change.after, strict=True):
        one[name] = [value]
    return one


def test_a_probability_or_a_class_of_two(classes):
    X, _, model, _ = classes
    row = int(np.argmin(np.abs(model.predict_proba(X)[:, 1] - 0.3)))
    result = explain.counterfactual(model, X, row, target=0.7)
    assert result.wanted == "probability of True of at least 0.7"
    assert result.changes
    for change in result.changes:
        shown = model.predict_proba(with_values(X, row, change))[0, 1]
        assert shown == pytest.approx(change.prediction, rel=1e-9)
        assert shown >= 0.7
    for target in (True, 1):  # the class, not a probability
        turned = explain.counterfactual(model, X, row, target=target)
        assert turned.wanted == "class True"
        for change in turned.changes:
            assert model.predict(with_values(X, row, change))[0]
            assert change.prediction == model.predict_proba(with_values(X, row, change))[0, 1]
        assert f"For the class True (probability of True: now {turned.prediction:.4g})" in str(
            turned
        )
    assert explain.counterfactual(model, X, row, target=False).is_reached
    sure = int(np.argmax(model.predict_proba(X)[:, 1]))
    back = explain.counterfactual(model, X, sure, target=False)
    assert back.response == "probability of False"
    assert back.prediction == pytest.approx(model.predict_proba(X)[sure, 0], rel=1e-9)
    assert back.changes
    for change in back.changes:
        shown = model.predict_proba(with_values(X, sure, change))[0, 0]
        assert shown == pytest.approx(change.prediction, rel=1e-9)


def test_whole_numbers_stay_whole():
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"age": rng.integers(18, 90, 600), "size": rng.uniform(0, 1, 600)})
    y = np.abs(X["age"] - 50) + 10 * X["size"]
    model = TSLRegressor(n_stages=1, early_stopping=False, random_state=0).fit(X, y)
    for row in range(5):
        for change in explain.counterfactual(model, X, row, target=15).changes:
            for name, value in zip(change.names, change.after, strict=True):
                assert name != "age" or (value == int(value) and 18 <= value <= 89)
    (curve,) = (c for c in model.model_.bins.axes if c.describe().range == (18.0, 89.0))
    middles = curve.describe().values[:-1]
    assert (middles == np.rint(middles)).all()
    assert (curve.codes(open_table(middles[:, None]), 0) == np.arange(len(middles))).all()


def test_where_no_number_is_whole_they_have_few_digits():
    """The row and both ends are whole, as where shares are cut off at 0 and 1; bins are not."""
    rng = np.random.default_rng(0)
    share = np.round(rng.uniform(0, 1, 400), 6)
    share[:2] = 0.0, 1.0
    X = pd.DataFrame({"share": share, "other": rng.normal(size=400)})
    model = TSLRegressor(2, early_stopping=False, random_state=0)
    model.fit(X, 3.0 * np.sin(6.0 * share) + 0.1 * X["other"])
    change = explain.counterfactual(model, X, 0, target=2.0).changes[0]
    (after,) = change.after
    assert change.names == ("share",)
    assert after == round(after, 3)


def test_one_of_several_classes(classes):
    X, _, _, model = classes
    row = int(np.flatnonzero(model.predict(X) == "low")[0])
    result = explain.counterfactual(model, X, row, target="high")
    assert result.response == "probability of high"
    assert result.changes
    k = model.classes_.tolist().index("high")
    for change in result.changes:
        other = with_values(X, row, change)
        assert model.predict(other)[0] == "high"
        assert model.predict_proba(other)[0, k] == pytest.approx(change.prediction, rel=1e-9)


def test_of_several_classes_the_nearest_have_the_largest_probability(classes):
    X, _, _, model = classes
    row = int(np.flatnonzero(model.predict(X) == "low")[0])
    result = explain.counterfactual(model, X, row, target=1.0 - 1e-9, label="high")
    assert result.changes == ()
    k = model.classes_.tolist().index("high")
    shares = [model.predict_proba(with_values(X, row, change))[0, k] for change in result.nearest]
    assert shares == pytest.approx([change.prediction for change in result.nearest], rel=1e-9)
    assert shares == sorted(shares)
    assert shares[0] > result.prediction


@pytest.mark.parametrize("target", [0.15, 0.6])
def test_the_probability_of_one_of_several_classes(classes, target):
    X, _, _, model = classes
    shares = model.predict_proba(X)[:, model.classes_.tolist().index("middle")]
    row = int(np.argmin(np.abs(shares - 0.35)))
    result = explain.counterfactual(model, X, row, target=target, label="middle", fixed="pd")
    assert (
        result.wanted
        == f"probability of middle of at {'least' if target > 0.5 else 'most'} {target}"
    )
    assert result.prediction == pytest.approx(shares[row], rel=1e-9)
    assert result.changes
    for change in result.changes:
        assert "pd" not in change.names
        found = model.predict_proba(with_values(X, row, change))[0, model.classes_ == "middle"]
        assert found == pytest.approx(change.prediction, rel=1e-9)
        assert (change.prediction >= target) == (target > 0.5)


def test_the_view_of_one_class_against_another(classes):
    X, _, _, model = classes
    view = model.for_class("high", against="low")
    row = int(np.argmin(view.decision_function(X)))
    result = explain.counterfactual(view, X, row, target=0.5)
    for change in result.changes:
        assert view.decision_function(with_values(X, row, change))[0] >= 0.0
    assert result.changes


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"target": "high"}, "target must be a finite number, got 'high'"),
        ({"target": np.nan}, "target must be a finite number"),
        ({"target": True}, "target must be a finite number"),
        ({"target": [1.0, 2.0]}, "target must be a number or a class, got"),
        ({"target": None}, "target must be a number or a class, got None"),
        ({"fixed": "nobody"}, "fixed must be one of"),
        ({"directions": ["n"]}, "directions must be a dict from features to 1 or -1"),
        ({"directions": {"nobody": 1}}, "a feature in directions must be one of"),
        ({"directions": {NAMES[0]: 2}}, "must be 1 (may rise) or -1 (may fall), got 2"),
        ({"directions": {NAMES[0]: True}}, "must be 1 (may rise) or -1 (may fall), got True"),
        ({"directions": {0: 1, NAMES[0]: -1}}, "directions must be one direction for"),
        ({"directions": {0: 1}, "fixed": 0}, "for features that are not fixed, as"),
        ({"row": 400}, "row must be an integer from 0 to 399"),
        ({"max_changes": 0}, "max_changes must be an integer >= 1"),
    ],
)
def test_bad_arguments_are_refused_in_words(change, message):
    case = joint()
    options = {"row": 0, "target": 1.0} | change
    with pytest.raises((TypeError, ValueError), match=re.escape(message)):
        explain.counterfactual(case.subject, case.X, **options)


def test_a_classifier_takes_probabilities_and_its_own_classes_only(classes):
    X, _, two, three = classes
    with pytest.raises(ValueError, match="a probability above 0 and below 1 or one of"):
        explain.counterfactual(two, X, 0, target=2.0)
    with pytest.raises(ValueError, match="target must be one of the classes"):
        explain.counterfactual(three, X, 0, target=0.5)
    with pytest.raises(
        ValueError, match=r"target must be a probability above 0 and below 1, got 1[.]5"
    ):
        explain.counterfactual(three, X, 0, target=1.5, label="high")
    with pytest.raises(ValueError, match="label must be one of the classes"):
        explain.counterfactual(three, X, 0, target=0.5, label="higher")
    with pytest.raises(ValueError, match="label must be None for a model that is not of several"):
        explain.counterfactual(two, X, 0, target=0.5, label=True)


def test_pairs_looked_at_in_parts_are_the_same(monkeypatch):
    case = joint()
    target = float(np.quantile(case.predict(case.X), 0.9))
    whole = explain.counterfactual(case.subject, case.X, 5, target=target)
    monkeypatch.setattr(sys.modules[explain.Change.__module__], "_BLOCK_CELLS", 7)
    parts = explain.counterfactual(case.subject, case.X, 5, target=target)
    assert [c.size for c in parts.changes] == [c.size for c in whole.changes]
    assert any(len(c.features) == 2 for c in whole.changes)


def test_large_numbers_are_told_with_all_the_digits_that_they_need():
    """Days since long ago, coordinates in metres: what is told has the prediction that is told."""
    random = np.random.default_rng(0)
    X = pd.DataFrame({"day": 2_450_000.0 + random.uniform(0, 5, 400), "z": random.normal(size=400)})
    y = 3.0 * np.sin(2.0 * (X["day"] - 2_450_000.0)) + X["z"]
    model = TSLRegressor(2, early_stopping=False, random_state=0).fit(X, y)
    now = model.predict(X)[0]
    result = explain.counterfactual(model, X, 0, target=now + 2.0)
    frame = result.frame()
    assert any(change.features == (0,) for change in result.changes)
    for k, change in enumerate(result.changes):
        told = X[:1].copy()
        for order in ("first", "second"):
            if frame[order][k]:
                told[frame[order][k]] = float(frame[f"{order}_to"][k])
        assert model.predict(told)[0] == pytest.approx(change.prediction, rel=1e-9)
        assert all(str(after) in " ".join(change.texts) for after in change.after)
    assert result.values[0].startswith("245000")
    assert "." in result.values[0]
