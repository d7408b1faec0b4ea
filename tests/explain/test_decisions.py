"""How often groups are called a class, and how often rightly."""

import json
import math

import numpy as np
import pandas as pd
import polars as pl
import pytest

from seplearn import TSLClassifier, TSLRegressor, explain
from tests.cli.conftest import run

Z = 1.6448536269514722  # the 95 % quantile of the normal distribution


def table(n, seed):
    """Group "a" is risky more often; the model sees a stand-in for it, and a number."""
    random = np.random.default_rng(seed)
    group = random.choice(["a", "b", "c"], size=n, p=[0.5, 0.3, 0.2])
    X = pd.DataFrame({"number": random.normal(size=n), "stand": (group == "a") * 1.0})
    log_odds = 1.5 * X["number"] + 1.2 * X["stand"] - 0.8
    risky = random.random(n) < 1.0 / (1.0 + np.exp(-log_odds))
    return X.assign(group=group), np.where(risky, "risky", "good")


@pytest.fixture(scope="module")
def model():
    X, y = table(600, 0)
    options = {"n_stages": 1, "early_stopping": False, "random_state": 0}
    return TSLClassifier(**options).fit(X.drop(columns="group"), y)


@pytest.fixture(scope="module")
def rows():
    return table(500, 1)


def wilson(share, n):
    middle = (share + Z**2 / (2 * n)) / (1 + Z**2 / n)
    half = Z / (1 + Z**2 / n) * math.sqrt(share * (1 - share) / n + Z**2 / (4 * n**2))
    return middle - half, middle + half


@pytest.mark.parametrize("threshold", [0.3, 0.5])
@pytest.mark.parametrize("label", ["risky", "good"])
def test_shares_are_those_counted_by_hand(model, rows, threshold, label):
    X, y = rows
    found = explain.decisions(model, X, y, by="group", threshold=threshold, label=label)
    above = model.predict_proba(X.drop(columns="group"))[:, 1] > threshold
    called, actual = above == (label == "risky"), y == label
    assert found.label == label
    assert found.feature == "group"
    assert found.groups == ("a", "b", "c")
    for k, group in enumerate(found.groups):
        own = (X["group"] == group).to_numpy()
        assert found.rows[k] == own.sum()
        assert found.share[k] == pytest.approx(own.mean())
        assert found.called[k] == pytest.approx(called[own].mean())
        assert found.actual[k] == pytest.approx(actual[own].mean())
        assert found.found[k] == pytest.approx(called[own & actual].mean())
        assert found.wrong[k] == pytest.approx(called[own & ~actual].mean())
        assert found.right[k] == pytest.approx(actual[own & called].mean())
        band = found.wrong_lower[k], found.wrong_upper[k]
        assert band == pytest.approx(wilson(found.wrong[k], (own & ~actual).sum()), rel=1e-4)
        band = found.called_lower[k], found.called_upper[k]
        assert band == pytest.approx(wilson(found.called[k], own.sum()), rel=1e-4)
    assert found.ratio == pytest.approx(found.called / found.called.max())
    assert found.overall["called"] == pytest.approx(called.mean())
    assert found.overall["found"] == pytest.approx(called[actual].mean())


def test_at_one_half_rows_are_called_what_predict_calls(model, rows):
    X, y = rows
    called = model.predict(X.drop(columns="group")) == "risky"
    found = explain.decisions(model, X, y, by=X["group"].to_numpy())
    assert found.feature == "group"
    assert found.overall["called"] == called.mean()


def test_weights_count_as_copies(model, rows):
    X, y = rows
    times = np.random.default_rng(3).integers(0, 4, size=len(y))
    weighted = explain.decisions(model, X, y, times, by="group")
    places = np.repeat(np.arange(len(y)), times)
    copied = explain.decisions(model, X.iloc[places], y[places], by="group")
    for name in ("share", "called", "actual", "found", "wrong", "right"):
        assert getattr(weighted, name) == pytest.approx(getattr(copied, name))
    assert weighted.rows.sum() == (times > 0).sum()


def test_without_outcomes_only_what_is_called_is_told(model, rows):
    X, y = rows
    bare = explain.decisions(model, X, by="group")
    assert not bare.has_outcomes
    assert list(bare.frame().columns) == [
        "group", "rows", "share", "called", "called_lower", "called_upper", "ratio",
    ]  # fmt: skip
    assert bare.called == pytest.approx(explain.decisions(model, X, y, by="group").called)
    assert len(bare.plot().axes) == 1
    unknown = explain.decisions(model, X, np.where(X["group"] == "a", None, y), by="group")
    assert unknown.groups == ("b", "c")


def test_the_sentence_names_the_groups_most_and_least_often_called(model, rows):
    X, y = rows
    found = explain.decisions(model, X, y, by="group")
    most = found.groups[int(np.argmax(found.called))]
    assert f"most often {most} (" in found.sentence
    assert found.sentence.startswith(f"{100 * found.overall['called']:.0f} % of the rows are")
    assert str(found).startswith(found.sentence)
    assert len(found.plot().axes) == 3
    few = explain.decisions(model, X[:60], y[:60], by=["only"] * 56 + ["rare"] * 4)
    assert np.isnan(few.ratio[list(few.groups).index("rare")])
    assert "most often" not in few.sentence
    nobody = explain.decisions(model, X, y, by="group", threshold=1.0)
    assert nobody.sentence.endswith("in every group of 5 rows or more.")
    assert np.isnan(nobody.ratio).all()
    assert np.isnan(nobody.right).all()


def test_a_name_that_the_frame_has_too_is_kept_apart(model, rows):
    X, y = rows
    found = explain.decisions(model, X.rename(columns={"group": "called"}), y, by="called")
    assert list(found.frame()["group"]) == ["a", "b", "c"]
    assert found.feature == "called"


def test_features_offsets_and_other_libraries(model, rows):
    X, y = rows
    own = explain.decisions(model, X.drop(columns="group"), y, by="stand")
    assert own.groups == ("0", "1")
    frame = explain.decisions(model, pl.from_pandas(X), y, by="group")
    assert frame.called.tolist() == explain.decisions(model, X, y, by="group").called.tolist()
    offset = np.full(len(y), -1.0)
    shifted = explain.decisions(model, X, y, by="group", offset=offset)
    called = model.predict(X.drop(columns="group"), offset=offset) == "risky"
    assert shifted.overall["called"] == called.mean()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"threshold": 1.5}, "threshold must be between 0 and 1, got 1.5"),
        ({"threshold": None}, "threshold must be between 0 and 1, got None"),
        ({"label": "bad"}, r"label must be one of the classes \['good', 'risky'\]"),
        ({"by": "groups"}, r"by must be a column of X, got 'groups' \(did you mean 'group'\?\)"),
        ({"by": None}, "by must be a column of X, or one value per row, got None"),
        ({"by": ["a", "b"]}, "by must have one value per row"),
    ],
)
def test_bad_arguments_are_refused_in_words(model, rows, change, message):
    X, y = rows
    with pytest.raises((TypeError, ValueError), match=message):
        explain.decisions(model, X, y, **{"by": "group"} | change)


def test_other_models_are_refused(rows):
    X = rows[0].drop(columns="group")
    options = {"n_stages": 1, "early_stopping": False, "random_state": 0}
    numbers = TSLRegressor(**options).fit(X, 2.0 * X["number"])
    with pytest.raises(TypeError, match="model must be a fitted classifier of two classes"):
        explain.decisions(numbers, X, by="stand")
    three = TSLClassifier(**options).fit(X, np.digitize(X["number"], [-0.5, 0.5]))
    with pytest.raises(ValueError, match=r"model must be of two classes, got \[0, 1, 2\]"):
        explain.decisions(three, X, by="stand")


def test_on_the_command_line(model, rows, tmp_path):
    X, y = rows
    path = tmp_path / "risk.tsl"
    model.save(path)
    X.assign(y=y).to_csv(tmp_path / "t.csv", index=False)
    call = ["evaluate", path, tmp_path / "t.csv", "--target", "y"]
    expected = explain.decisions(model, X, y, by="group", threshold=0.3)
    done = run(*call, "--by", "group", "--threshold", "0.3")
    assert expected.sentence in " ".join(done.stdout.split())
    assert "called risky" in done.stdout
    told = json.loads(run(*call, "--by", "group", "--threshold", "0.3", "--json").stdout)
    assert [one["called"] for one in told["decisions"]["groups"]] == expected.called.tolist()
    assert told["decisions"]["overall"] == expected.overall
    odd = json.loads(run(*call, "--threshold", "0.333", "--json").stdout)["confusion"]
    called = model.predict_proba(X.drop(columns="group"))[:, 1] > 0.333
    actual = y == "risky"
    cells = (called & actual, called & ~actual, ~called & actual, ~called & ~actual)
    assert list(odd.values()) == [0.333, *(int(cell.sum()) for cell in cells)]
    text = run(*call, "--threshold", "0.333").stdout
    assert "At a threshold of 0.333 (risky):" in text
    assert {str(int(cell.sum())) for cell in cells} < set(text.split())
    counts = model.evaluate(X.drop(columns="group"), y).confusion(0.3)
    confusion = run(*call, "--threshold", "0.3").stdout.split("called good")[1].split()
    assert {str(counts.hits), str(counts.misses)} < set(confusion)
    numbers = TSLRegressor(n_stages=1, random_state=0, early_stopping=False)
    numbers.fit(X[["stand"]], X["number"] + X["stand"]).save(tmp_path / "n.tsl")
    call = ["evaluate", tmp_path / "n.tsl", tmp_path / "t.csv", "--target", "number"]
    refused = run(*call, "--threshold", "0.3")
    assert "--threshold is for models of two classes" in refused.stderr


def test_groups_that_are_called_alike_are_told_by_their_own_share(model, rows):
    X, _ = rows
    often = X.assign(group=np.where(model.predict(X.drop(columns="group")) == "risky", "few", "a"))
    few = np.flatnonzero(often["group"] == "few")[:4]
    own = pd.concat([often[often["group"] == "a"], often.iloc[few]])
    own.loc[own.index[:50], "group"] = "b"
    told = explain.decisions(model, own, by="group").sentence
    assert told.endswith("; 0 % in every group of 5 rows or more.")


def test_the_largest_groups_are_drawn_and_the_others_counted(model, rows):
    X, y = rows
    groups = np.array([f"group {k:02d}" for k in range(40)])[np.arange(len(X)) % 40]
    groups[:300] = "zz"
    found = explain.decisions(model, X.drop(columns="group"), y, by=groups)
    figure = found.plot()
    figure.canvas.draw()
    panel = figure.axes[0]
    assert panel.get_xlabel() == "11 smaller groups not shown"
    drawn = [text.get_text() for text in panel.get_yticklabels()]
    assert len(drawn) == 30
    assert drawn[-1].startswith("zz (")
    ticks = [text.get_text() for text in panel.get_xticklabels()]
    assert len(set(ticks)) == len(ticks)
