"""Copies of rows: they tell nothing of their own, and are held out together."""

from __future__ import annotations

import math
from itertools import combinations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import r2_score, roc_auc_score

from seplearn import TSLClassifier, TSLRegressor, datasets
from seplearn._workers import SerialWorkers
from seplearn.fitting import copies
from seplearn.fitting.copies import without_copies
from seplearn.fitting.options import TrainingData
from seplearn.fitting.parts import Validation
from seplearn.fitting.selection import held_out_parts
from seplearn.losses import SquaredError
from seplearn.losses.log_loss import LogLoss
from seplearn.losses.power import Poisson
from seplearn.table.binning import bin_table
from seplearn.table.columns import open_table
from seplearn.table.training import are_cells


def training_data(X, y, weight=None, offset=None):
    weight = np.ones(len(y)) if weight is None else weight
    none = np.zeros(X.shape[1], dtype=bool)
    workers = SerialWorkers(np.zeros(1, dtype=bool))
    bins, codes = bin_table(open_table(X), weight, none, 255, 5, workers.map)
    return TrainingData(bins, codes, y, weight, offset)


def weighed(data):
    found, validation = without_copies(data, Validation(chooses=True), SquaredError())
    assert isinstance(found, TrainingData)
    return found.weight, validation.copies


def curve_and_product(n_rows, seed):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, 4))
    truth = 2 * X[:, 0] + X[:, 1] * X[:, 2]
    return X, truth, truth + rng.normal(0, 0.5, n_rows), rng


def naive_share(table, weight):
    """What a row tells of what its weight says, counted row by row, and whether rows are copies."""
    are_numbers = all(own == int(own) for own in weight)
    unit = float(math.gcd(*map(int, weight))) if are_numbers else 1.0
    told, copies = {}, {}
    for row, own in zip(map(tuple, table.tolist()), weight, strict=True):
        told[row] = told.get(row, 0.0) + own
        copies[row] = copies.get(row, 0.0) + (own / unit if are_numbers else 1.0)
    targets = {row[0] for row in told}
    of_cell = {}
    for row in told:
        of_cell.setdefault(row[1:], []).append(row)
    by_target = len(targets) >= 0.95 * len(told)
    kept = [r for r in told if by_target or len(of_cell[r[1:]]) == 1]
    parts = [[row for row in kept if row[0] == target] for target in sorted(targets)]
    parts = parts if len(targets) == 2 else [kept]
    are_many = any(
        len(part) <= 0.8 * sum(unclumped([copies[row] for row in part])) for part in parts
    )
    if not are_many:
        own = [[w for r, w in zip(table, weight, strict=True) if r[0] == t] for t in targets]
        own = own if len(targets) == 2 else [list(weight)]
        return (unit if are_numbers else too_certain(own, False)), False
    if naive_seen(told, copies, of_cell, kept, by_target):
        return 1.0, False
    return too_certain([[told[row] for row in part] for part in parts], are_numbers), True


def naive_seen(told, copies, of_cell, kept, by_target):
    """Whether equal rows were seen more than once."""
    n_columns, few = len(next(iter(told))), len(told) <= 50
    if by_target and len(told) > 20:
        cells = [row[1:] for row in kept]
        return few and any(
            len({cell[:k] + cell[k + 1 :] for cell in cells}) < 0.95 * len(cells)
            for k in range(n_columns - 1)
        )
    if few or len(kept) <= 50:
        return True
    unlike, every = [], [row for row in told for _ in range(int(copies[row]))]
    for rows in of_cell.values():
        own = [row[0] for row in rows for _ in range(int(copies[row]))]
        if len(own) > 1:
            pairs = list(combinations(own, 2))
            unlike.append(sum(one != other for one, other in pairs) / len(pairs))
    shares = np.unique([row[0] for row in every], return_counts=True)[1] / len(every)
    if np.mean(unlike) >= 0.05 * (1.0 - np.sum(shares**2)) > 0.0:
        return True
    return any(
        len({row[:k] + row[k + 1 :] for row in kept}) < 0.95 * len(kept) for k in range(n_columns)
    )


def unclumped(copies):
    most = 10.0 * float(np.median(copies)) if copies else 0.0
    return [min(own, most) for own in copies]


def too_certain(parts, as_classes):
    parts = [unclumped(part) for part in parts]
    whole = sum(map(sum, parts))
    squares = [sum(own * own for own in part) for part in parts]
    if len(parts) == 1 or not as_classes:
        return max(1.0, sum(squares) / whole)
    noises = [(whole - sum(part)) / whole for part in parts]
    each = zip(noises, squares, parts, strict=True)
    return max(1.0, sum(noise * square / sum(part) for noise, square, part in each))


@given(st.data())
@settings(max_examples=100, deadline=None)
def test_weights_sum_to_what_different_rows_tell(data):
    """As the slow way says: rows counted one by one, columns left out one by one."""
    seed = data.draw(st.integers(0, 10_000))
    n, n_values = (
        data.draw(st.sampled_from([15, 30, 45, 80, 120])),
        data.draw(st.sampled_from([2, 6, 30, 1000])),
    )
    rng = np.random.default_rng(seed)
    X = rng.integers(0, n_values, (n, data.draw(st.integers(1, 3)))).astype(float)
    y = rng.integers(0, data.draw(st.sampled_from([2, 10**6])), n).astype(float)
    picked = np.arange(n)
    if data.draw(st.booleans()):
        picked = rng.integers(0, n, data.draw(st.integers(n, 3 * n)))
    weight = rng.integers(1, data.draw(st.sampled_from([2, 5, 60])), len(picked)).astype(float)
    if data.draw(st.booleans()):
        weight = rng.uniform(0.05, 0.3, len(picked)) * data.draw(st.sampled_from([1.0, 20.0]))
    offset = rng.integers(0, 2, n)[rng.integers(0, n, len(picked))].astype(float)
    given_offset = offset if data.draw(st.booleans()) else None
    table = np.column_stack([y[picked], X[picked]] + ([] if given_offset is None else [offset]))
    found, numbers = weighed(training_data(X[picked], y[picked], weight, given_offset))
    times, are_copies = naive_share(table, weight)
    np.testing.assert_allclose(found, weight / times, rtol=1e-12)
    are_there_twice = len(np.unique(table, axis=0)) < len(picked)
    assert (numbers is not None) == (are_copies and are_there_twice)


WAYS = ["bootstrap", "five of each", "weights", "means of so many", "bins of many rows"]


@pytest.mark.parametrize("way", WAYS)
def test_copies_make_no_worse_model_than_their_different_rows(way):
    n = 900 if way == "bins of many rows" else 300
    X, truth, y, rng = curve_and_product(n, seed=1)
    picked, weight = np.arange(n), np.ones(n)
    if way in ("weights", "means of so many"):
        weight = rng.integers(1, 11, n).astype(float)
    if way == "means of so many":
        y = truth + (y - truth) / np.sqrt(weight)
    else:
        picked = np.repeat(picked, 5) if way == "five of each" else rng.integers(0, n, n)
    model = TSLRegressor(random_state=0).fit(X[picked], y[picked], sample_weight=weight[picked])
    new, truth, _, _ = curve_and_product(2000, seed=2)
    assert r2_score(truth, model.predict(new)) > 0.95  # 0.47 to 0.7 if copies told something


def test_the_same_weight_for_all_rows_says_nothing():
    X, _, y, _ = curve_and_product(300, seed=0)
    options = {"n_stages": 2, "random_state": 0}
    one = TSLRegressor(**options).fit(X, y)
    five = TSLRegressor(**options).fit(X, y, sample_weight=np.full(300, 5.0))
    np.testing.assert_allclose(one.predict(X), five.predict(X), atol=1e-3)


def test_rows_that_were_seen_more_than_once_are_rows():
    """Combinations of levels: their number says how certain each is, in rows or in weights."""
    rng = np.random.default_rng(0)
    X = rng.integers(0, 6, (2000, 3)).astype(float)
    y = (rng.random(2000) < 0.1 + 0.1 * X[:, 0]).astype(float)
    assert len(np.unique(np.column_stack([X, y]), axis=0)) > copies._FEW_ROWS
    given = training_data(X, y)
    assert without_copies(given, Validation(), SquaredError())[0] is given
    times = rng.integers(1, 9, 2000).astype(float)
    given = training_data(X, y, times)
    assert without_copies(given, Validation(), SquaredError())[0] is given


def test_a_handful_of_different_rows_is_no_sign_of_copies():
    """Two levels and two outcomes: targets tell such rows apart, and were measured all the same."""
    X = np.tile([[0.0, 5.0], [1.0, 7.0], [2.0, 9.0]], (20, 1))
    given = training_data(X, X[:, 0])
    assert without_copies(given, Validation(), SquaredError())[0] is given


def test_few_copies_are_left_as_they_are():
    X, _, y, _ = curve_and_product(400, seed=0)
    for n_copies, told in ((95, True), (112, False)):
        picked = np.r_[np.arange(400), np.arange(n_copies)]
        given = training_data(X[picked], y[picked])
        assert (without_copies(given, Validation(), SquaredError())[0] is given) == told


def visited(rng, n_places, n_visits):
    """Places with what is measured there, each visited so often; few visits have the outcome."""
    place = np.repeat(np.arange(n_places), n_visits)
    X = rng.normal(size=(n_places, 3))[place]
    return X, (rng.random(len(place)) < 1.0 / (1.0 + np.exp(3.5 - X[:, 0]))).astype(float)


def standing_still(rng):
    """Measurements of machines, and many rows of each while it stood still."""
    X = np.c_[rng.normal(size=(800, 4)), rng.integers(0, 8, 800)]
    still = np.c_[np.zeros((640, 4)), np.repeat(np.arange(8), 80)]
    return np.r_[X, still], np.r_[X[:, 0] + rng.normal(size=800), np.zeros(640)]


def levels_as_columns(rng):
    """Two levels always differ in two of the columns that say which one it is."""
    levels = rng.integers(0, 6, (800, 3))
    y = rng.random(800) < 1.0 / (1.0 + np.exp(3.5 - 0.4 * levels[:, 0]))
    return np.eye(6)[levels].reshape(800, 18), y.astype(float)


@pytest.mark.parametrize(
    "make", [lambda rng: visited(rng, 400, 6), standing_still, levels_as_columns]
)
def test_equal_rows_of_ordinary_tables_are_no_copies(make):
    given, validation = training_data(*make(np.random.default_rng(0))), Validation(chooses=True)
    found = without_copies(given, validation, SquaredError())
    assert found[0] is given
    assert found[1] is validation


def test_few_rows_that_are_there_six_times_are_as_good_as_once():
    X, truth, y, _ = curve_and_product(45, seed=4)
    y = X[:, 0] + 0.2 * (y - truth)
    once = TSLRegressor(random_state=0).fit(X[:, :2], y)
    weighted = TSLRegressor(random_state=0).fit(X[:, :2], y, np.full(45, 6.0))
    copied = TSLRegressor(random_state=0).fit(np.repeat(X[:, :2], 6, axis=0), np.repeat(y, 6))
    new = np.random.default_rng(5).normal(size=(1000, 2))
    np.testing.assert_allclose(once.predict(new), weighted.predict(new), atol=1e-9)
    assert r2_score(new[:, 0], copied.predict(new)) > 0.9


@pytest.mark.parametrize("weight", [0.7, 3.0])
def test_the_same_weight_of_rows_with_some_copies_says_nothing(weight):
    """As where no weights are given, a few rows that are there twice change nothing."""
    X, _, y, _ = curve_and_product(400, seed=0)
    picked = np.r_[np.arange(400), np.arange(50)]
    given = training_data(X[picked], y[picked], np.full(450, weight))
    found, validation = without_copies(given, Validation(chooses=True), SquaredError())
    assert isinstance(found, TrainingData)
    np.testing.assert_allclose(found.weight, min(weight, 1.0))
    assert validation.copies is None


def test_the_order_of_columns_does_not_change_what_rows_count_for():
    X, _, y, rng = curve_and_product(150, seed=0)
    picked = rng.integers(0, 150, 220)
    one, other = (
        weighed(training_data(X[picked][:, order], (y > 1.0).astype(float)[picked]))[0]
        for order in ([0, 1, 2, 3], [2, 0, 3, 1])
    )
    np.testing.assert_array_equal(one, other)
    assert one[0] < 1.0


@pytest.mark.parametrize("outcomes", [1, 12])
def test_a_clump_of_equal_rows_does_not_silence_the_others(outcomes):
    """Rows that are zero, or missing, everywhere: of one outcome, or of several."""
    X, truth, _, rng = curve_and_product(700, seed=0)
    y = np.rint(truth)
    X[:300] = 0.0
    y[:300] = rng.integers(0, outcomes, 300)
    given, validation = training_data(X, y), Validation(chooses=True)
    found = without_copies(given, validation, LogLoss())
    assert found[0] is given
    assert found[1] is validation
    numbers = np.where(np.arange(700) < 300, 0.0, truth)
    given = training_data(X, numbers)
    assert without_copies(given, validation, SquaredError())[0] is given


def test_where_most_cells_have_several_outcomes_rows_are_rows():
    rng = np.random.default_rng(0)
    X = np.r_[rng.integers(0, 6, (1500, 2)).astype(float), rng.uniform(6.0, 9.0, (80, 2))]
    y = rng.integers(0, 9, 1580).astype(float)
    weight = rng.integers(1, 4, 1580).astype(float)
    given = training_data(X, y, weight)
    assert without_copies(given, Validation(), LogLoss())[0] is given


def test_a_few_rows_of_one_outcome_do_not_decide_for_all():
    """Of most combinations both outcomes were seen, one of them seldom."""
    rng = np.random.default_rng(0)
    X = np.repeat(rng.normal(size=(120, 3)), 2, axis=0)
    y = np.tile([0.0, 1.0], 120)
    weight = np.where(np.arange(240) % 4 < 2, [99.0, 1.0] * 120, [1.0, 99.0] * 120)
    alone, five = rng.normal(size=(20, 3)), np.full(20, 5.0)
    given = training_data(np.r_[X, alone], np.r_[y, np.ones(20)], np.r_[weight, five])
    assert without_copies(given, Validation(), LogLoss())[0] is given


def test_weights_of_classes_hide_no_weights_of_rows():
    """Those of the rows may sum to more than their number, and with those of classes to less."""
    X, truth, _, rng = curve_and_product(600, seed=0)
    y = (truth > 3.0).astype(float)
    times = rng.integers(1, 11, 600)
    weight = times * np.where(y == 1.0, 0.5, 0.02)
    assert weight.sum() < 600
    found, _ = weighed(training_data(X, y, weight))
    np.testing.assert_allclose(found, weight * weight.sum() / (weight**2).sum())


def test_means_of_counts_are_as_certain_as_their_counts():
    X, truth, _, rng = curve_and_product(300, seed=0)
    times = rng.integers(1, 11, 300).astype(float)
    means = rng.poisson(times * np.exp(0.3 * truth)) / times
    given = training_data(X, means, times)
    assert without_copies(given, Validation(), Poisson())[0] is given
    assert without_copies(given, Validation(), SquaredError())[0] is not given
    counts = training_data(X, rng.poisson(np.exp(0.3 * truth)).astype(float), times)
    assert without_copies(counts, Validation(), Poisson())[0] is not counts


def test_classes_balanced_by_copies():
    rng = np.random.default_rng(1)
    X = rng.normal(size=(1500, 5))
    y = rng.random(1500) < 1 / (1 + np.exp(3 - X[:, 0] - X[:, 1] * X[:, 2]))
    rare = np.flatnonzero(y)
    picked = np.r_[np.arange(1500), rng.choice(rare, 1500 - 2 * len(rare))]
    model = TSLClassifier(random_state=0).fit(X[picked], y[picked])
    plain = TSLClassifier(random_state=0, class_weight="balanced").fit(X, y)
    new = rng.normal(size=(4000, 5))
    score = new[:, 0] + new[:, 1] * new[:, 2]
    own, other = (roc_auc_score(score > 1.5, m.decision_function(new)) for m in (model, plain))
    assert own > 0.93, own  # 0.8 if copies told something, or were on both sides
    assert own > other - 0.03


def test_a_few_copies_of_a_rare_class_tell_nothing_either():
    """They are few among all rows, and most of those of their class."""
    X, truth, _, rng = curve_and_product(1500, seed=1)
    y = (truth + rng.logistic(size=1500) > 5.0).astype(float)
    rare = np.flatnonzero(y)
    assert 50 < len(rare) < 120
    picked = np.r_[np.arange(1500), np.tile(rare, 2)]
    found, _ = weighed(training_data(X[picked], y[picked]))
    share = 3 * len(rare) / len(picked)
    np.testing.assert_allclose(found, 1.0 / (3.0 * (1.0 - share) + share), rtol=0.02)
    few = np.r_[np.arange(1500), rare[: len(rare) // 6]]
    given = training_data(X[few], y[few])
    assert without_copies(given, Validation(), LogLoss())[0] is given
    numbers = training_data(X[picked], np.where(y, 3.0, np.rint(truth))[picked])
    assert without_copies(numbers, Validation(), SquaredError())[0] is numbers


def test_copies_of_classes_are_held_out_together_with_their_share_of_each():
    X, _, y, rng = curve_and_product(500, seed=3)
    picked = rng.integers(0, 500, 700)
    data = training_data(X[picked], (y > 2.0).astype(float)[picked])
    _, validation = without_copies(data, Validation(chooses=True), LogLoss())
    parts = held_out_parts(data, None, 0.15, classes=True, copies=validation.copies)
    assert len(parts) == 5
    for kept, held in parts:
        assert not set(picked[kept]) & set(picked[held])
        assert 0.1 < data.target[held].mean() < 0.35
    every = [set(held) for _, held in parts]
    assert not any(a & b for a, b in combinations(every, 2))
    assert sum(map(len, every)) == 700


def test_rows_are_repeated_with_all_that_belongs_to_them():
    rng = np.random.default_rng(0)
    X = rng.integers(0, 3, (30, 2)).astype(float)
    times = rng.integers(1, 4, 30).astype(float)
    given = training_data(X, np.arange(30.0), times, offset=np.arange(30.0))
    validation = Validation(chooses=True, groups=np.arange(30))
    data, parts = copies.repeated(given, validation, has_classes=True)
    assert isinstance(data, TrainingData)
    of = np.repeat(np.arange(30), times.astype(int))
    np.testing.assert_array_equal(data.codes, given.codes[of])
    for own in (data.target, data.given_offset, parts.groups):
        np.testing.assert_array_equal(own, of)
    np.testing.assert_array_equal(data.weight, 1.0)


@pytest.mark.parametrize(
    ("n_rows", "times", "has_classes", "are_repeated"),
    [
        (30, 2.0, True, True),
        (30, 1.0, True, False),
        (30, 2.5, True, False),
        (30, 2.0, False, False),  # of numbers as many rows as that are held out well as they are
        (30, 6.0, False, True),
        (400, 6.0, False, False),
        (30, 40_000.0, True, False),
    ],
)
def test_what_is_repeated(n_rows, times, has_classes, are_repeated):
    rng = np.random.default_rng(0)
    X, y = rng.integers(0, 3, (n_rows, 2)).astype(float), rng.normal(size=n_rows)
    given = training_data(X, y, np.full(n_rows, times))
    data, _ = copies.repeated(given, Validation(chooses=True), has_classes)
    assert (data is not given) == are_repeated


def test_some_of_many_rows_tell_whether_they_differ_in_much(monkeypatch):
    monkeypatch.setattr(copies, "_LOOKED_AT", 60)
    rng = np.random.default_rng(0)
    X, _, y, _ = curve_and_product(400, seed=0)
    y = (y > 1.0).astype(float)
    picked = rng.integers(0, 400, 800)
    found, numbers = weighed(training_data(X[picked], y[picked]))
    assert numbers is not None
    assert found[0] < 0.6
    levels = rng.integers(0, 6, (400, 5)).astype(float)  # the outcome follows from them
    given = training_data(
        levels, (levels.sum(axis=1) > 14).astype(float), rng.integers(1, 9, 400) * 1.0
    )
    assert without_copies(given, Validation(), SquaredError())[0] is given


def test_a_fit_that_is_told_of_says_so(capsys):
    X, _, y, _ = curve_and_product(200, seed=0)
    options = {"n_stages": 1, "early_stopping": False, "verbose": True}
    TSLRegressor(**options).fit(np.repeat(X, 3, axis=0), np.repeat(y, 3))
    assert "nothing more certain: 600 rows count for 200" in capsys.readouterr().err
    TSLRegressor(**options).fit(X, y)
    assert "certain" not in capsys.readouterr().err


def test_the_order_of_copies_does_not_matter():
    X, y = datasets.rents(400, random_state=0)
    rng = np.random.default_rng(0)
    picked = rng.integers(0, 400, 400)
    order = rng.permutation(400)
    options = {"n_stages": 2, "random_state": 0}
    one = TSLRegressor(**options).fit(X.iloc[picked], y[picked])
    other = TSLRegressor(**options).fit(X.iloc[picked[order]], y[picked[order]])
    np.testing.assert_allclose(one.predict(X), other.predict(X), rtol=1e-6)


def cells(n_observations, seed):
    """A contingency table: combinations of levels, an outcome, and how often they were seen."""
    rng = np.random.default_rng(seed)
    rows = pd.DataFrame(
        {
            "grade": rng.choice(["first", "second", "third", "crew"], n_observations),
            "sex": rng.choice(["f", "m"], n_observations),
            "age": rng.choice(["child", "adult"], n_observations, p=[0.1, 0.9]),
        }
    )
    odds = -1.0 + 2.0 * (rows["sex"] == "f") + 0.8 * (rows["grade"] == "first")
    rows["lived"] = rng.random(n_observations) < 1.0 / (1.0 + np.exp(-odds))
    return rows.groupby([*rows.columns]).size().rename("n").reset_index()


@pytest.mark.parametrize("n_observations", [300, 2000])
def test_cells_with_their_counts_are_the_rows_that_were_seen(n_observations):
    """With more than ten of each too, and with cells that were never seen."""
    table = cells(n_observations, seed=0)
    table.loc[len(table)] = ["first", "m", "infant", True, 0]
    rows = table.loc[table.index.repeat(table["n"])]
    features = ["grade", "sex", "age"]
    weighted = TSLClassifier(random_state=0).fit(table[features], table["lived"], table["n"])
    repeated = TSLClassifier(random_state=0).fit(rows[features], rows["lived"])
    one, other = (m.predict_proba(table[features][:-1])[:, 1] for m in (weighted, repeated))
    np.testing.assert_array_equal(one, other)
    assert np.ptp(one) > 0.3
    assert weighted.provenance_.weight == n_observations


def test_cells_may_be_counted_in_two_places_and_very_many():
    table = cells(2000, seed=0)
    features = ["grade", "sex", "age"]

    def fitted(rows):
        model = TSLClassifier(random_state=0).fit(rows[features], rows["lived"], rows["n"])
        return model.predict_proba(table[features])[:, 1], model.provenance_

    whole, _ = fitted(table)
    twice, _ = fitted(
        pd.concat([table.assign(n=table["n"] // 2), table.assign(n=-(-table["n"] // 2))])
    )
    np.testing.assert_allclose(whole, twice, atol=0.02)  # parts hold out other rows
    assert np.ptp(whole) > 0.3
    many, provenance = fitted(table.assign(n=table["n"] * 10_000))
    odds = table.pivot_table(index=features, columns="lived", values="n", fill_value=0)
    seen = odds.loc[list(map(tuple, table[features].to_numpy()))]
    share = (seen[True] / (seen[True] + seen[False])).to_numpy()
    assert np.average(np.abs(many - share), weights=table["n"]) < 0.02
    assert provenance.weight == pytest.approx(2e7)


def test_amounts_of_cells_are_counted_too():
    rng = np.random.default_rng(0)
    grid = np.array([(a, b) for a in range(5) for b in range(4)], dtype=float)
    times = rng.integers(1, 400, 20)
    y = grid[:, 0] * (grid[:, 1] + 1.0)
    weighted = TSLRegressor(random_state=0).fit(grid, y, sample_weight=times)
    assert weighted.score(grid, y, sample_weight=times) > 0.95


def test_what_is_no_table_of_cells_has_weights():
    """Rows that are there twice, whatever their weights, and features of many values."""
    table = cells(300, seed=1)
    codes = table[["grade", "sex", "age"]].apply(lambda column: pd.factorize(column)[0] * 1.0)
    X, y, n = codes.to_numpy(), table["lived"].to_numpy(float), table["n"].to_numpy(float)
    assert are_cells(open_table(X), y, n)
    assert are_cells(open_table(np.r_[X, X]), np.r_[y, y], np.r_[n, n])  # counted in two places
    assert not are_cells(open_table(np.r_[X, X, X]), np.r_[y, y, y], np.r_[n, n, n])
    assert not are_cells(open_table(X), y, n + 0.5)
    assert not are_cells(open_table(X), y, np.ones(len(n)))
    assert are_cells(open_table(X), y, n * 1e6)
    assert not are_cells(open_table(X), y, n * 1e9)
    assert not are_cells(open_table(np.c_[X, np.arange(len(n))]), y, n)
    assert not are_cells(open_table(np.c_[X[:, :1], np.arange(len(n))]), y, n)
    assert not are_cells(open_table(np.arange(20.0)[:, None]), np.arange(20.0), 3.0 + np.arange(20))
    few_of_many = np.random.default_rng(0).integers(0, 4, (len(n), 6)).astype(float)
    assert not are_cells(open_table(few_of_many), y, n)  # of 4,096 combinations
    missing = np.where(X == 3.0, np.nan, X)
    assert are_cells(open_table(missing), y, n)
