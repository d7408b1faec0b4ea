"""Whether rows are like training rows."""

import json

import numpy as np
import pandas as pd
import polars as pl
import pytest

from seplearn import TSLClassifier, TSLRegressor, explain, load_model
from tests.cli.conftest import run


def table(n, seed):
    random = np.random.default_rng(seed)
    frame = pd.DataFrame(
        {
            "number": random.normal(size=n),
            "gaps": np.where(random.random(n) < 0.2, np.nan, random.normal(size=n)),
            "level": random.choice(["a", "b", "c"], size=n, p=[0.6, 0.3, 0.1]),
            "few": random.integers(0, 4, size=n).astype(float),
        }
    )
    return frame, frame["number"] + (frame["level"] == "a")


@pytest.fixture(scope="module")
def model():
    return TSLRegressor(n_stages=1, early_stopping=False, random_state=0).fit(*table(2000, 0))


def verdict(drift, name):
    return drift.verdicts[drift.names.index(name)]


@pytest.mark.parametrize("n", [1, 3, 10, 30, 100, 1000, 20_000])
def test_rows_from_the_same_source_have_not_drifted_however_few(model, n):
    for seed in range(1, 6):
        drift = explain.drift(model, table(n, seed)[0])
        assert not drift.has_drifted, drift.reasons
        assert drift.n_rows == n


def test_rows_from_the_same_source_are_rarely_to_be_watched(model):
    told = [explain.drift(model, table(n, seed)[0]) for n in (30, 1000) for seed in range(10, 40)]
    assert sum(set(one.verdicts) != {"ok"} for one in told) <= 9


CHANGES = {
    "shifted": (lambda X: X.assign(number=0.7 * X["number"] + 0.8), "number", "shares of values"),
    "far out": (lambda X: X.assign(number=X["number"] + 50), "number", "beyond all training"),
    "new levels": (lambda X: X.assign(level="z"), "level", "levels never seen in training: 100 %"),
    "other shares": (lambda X: X.assign(level="b"), "level", "shares of values differ"),
    "no gaps": (lambda X: X.assign(gaps=X["gaps"].fillna(0.1)), "gaps", "missing: 0 %, was"),
    "new gaps": (lambda X: X.assign(few=np.nan), "few", "which it never was in training: 100 %"),
}


@pytest.mark.filterwarnings("ignore:.*unseen")
@pytest.mark.parametrize(("change", "name", "reason"), CHANGES.values(), ids=CHANGES.keys())
def test_what_has_changed_is_named(model, change, name, reason):
    drift = explain.drift(model, change(table(500, 1)[0]))
    assert drift.has_drifted
    assert verdict(drift, name) == "drift"
    assert reason in drift.reasons[drift.names.index(name)]
    assert [n for n in drift.names if verdict(drift, n) == "drift"] == [name]


def test_the_index_is_what_it_is_called(model):
    X, _ = table(500, 1)
    drift = explain.drift(model, X.assign(level=["a"] * 250 + ["b"] * 250))
    shares = np.array([0.5, 0.5, 0.0])
    counted = (shares * 500 + 0.5) / 501.5
    known = model.model_.bins.frequencies[model.model_.bins.axis(2)][:3]
    expected = np.sum((counted - known) * np.log(counted / known))
    assert drift.psi[2] == pytest.approx(expected, rel=1e-9)


def test_a_strange_row_is_to_be_watched_and_limits_can_be_moved(model):
    X, _ = table(100, 1)
    X.loc[0, "number"] = 99.0  # one of a hundred may be the largest of all by chance
    alone = explain.drift(model, X)
    assert verdict(alone, "number") == "ok"
    assert alone.outside[alone.names.index("number")] == 0.01
    X.loc[:1, "number"] = 99.0
    assert verdict(explain.drift(model, X), "number") == "watch"
    X.loc[:4, "number"] = 99.0
    assert verdict(explain.drift(model, X), "number") == "drift"
    assert verdict(explain.drift(model, X, unlike=0.06), "number") == "watch"
    moved = table(500, 1)[0].assign(number=lambda X: X["number"] + 0.5)
    assert verdict(explain.drift(model, moved, psi=0.11), "number") == "drift"
    assert verdict(explain.drift(model, moved, psi=5.0), "number") == "watch"


def test_models_of_several_classes_are_checked_too():
    X, y = table(300, 0)
    three = TSLClassifier(n_stages=1, early_stopping=False).fit(X, np.digitize(y, [0, 1]))
    assert not explain.drift(three, table(300, 1)[0]).has_drifted


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"psi": 0.01}, "psi must be a number of at least 0.1, got 0.01"),
        ({"unlike": 2}, "unlike must be a number from 0 to 1, got 2"),
        ({"psi": "x"}, "psi must be"),
    ],
)
def test_bad_limits_are_refused(model, options, message):
    with pytest.raises(ValueError, match=message):
        explain.drift(model, table(50, 1)[0], **options)


def test_no_rows_are_refused(model):
    with pytest.raises(ValueError, match="at least 1 sample"):
        explain.drift(model, table(50, 1)[0][:0])


def test_the_command_answers_pipelines(model, tmp_path):
    path, X = tmp_path / "m.tsl", table(400, 1)[0]
    model.save(path)
    X.assign(other=1).to_csv(tmp_path / "same.csv", index=False)
    X.assign(number=X["number"] + 9).to_csv(tmp_path / "new.csv", index=False)
    done = run("check", path, tmp_path / "same.csv")
    assert done.exit_code == 0
    assert done.stdout.startswith("none of 4 features, in 400 rows, have drifted")
    done = run("check", path, tmp_path / "new.csv")
    assert done.exit_code == 1
    assert "1 of 4 features, in 400 rows, has drifted" in done.stdout
    assert "beyond all training values" in done.stdout
    told = json.loads(run("check", path, tmp_path / "new.csv", "--json").stdout)
    assert told["has_drifted"] is True
    expected = explain.drift(load_model(path), pd.read_csv(tmp_path / "new.csv"))
    assert [row["psi"] for row in told["features"]] == pytest.approx(expected.psi.tolist())
    assert run("check", path, tmp_path / "none.csv").exit_code == 2
    assert run("check", path, tmp_path / "new.csv", "--psi", "0").exit_code == 2


def test_frames_are_of_the_training_library_and_figures_show_what_drifted_first(model):
    X, y = table(300, 0)
    twin = TSLRegressor(n_stages=1, early_stopping=False, random_state=0).fit(pl.DataFrame(X), y)
    frame = explain.drift(twin, pl.DataFrame(X)).frame()
    assert isinstance(frame, pl.DataFrame)
    assert pl.Object not in frame.dtypes
    figure = explain.drift(model, X.assign(few=np.nan)).plot(max_features=2)
    labels = [label.get_text() for label in figure.axes[0].get_yticklabels()]
    assert len(labels) == 2
    assert labels[0] == "few"


@pytest.mark.filterwarnings("ignore:the model was fitted with weights")
def test_a_column_without_any_values_has_not_drifted():
    X = pd.DataFrame({"a": np.arange(20.0), "empty": np.nan})
    for n in range(60, 72):  # shares of weights add up to one, and sometimes to a bit more
        own = pd.concat([X] * 4).head(n)
        model = TSLClassifier(1, early_stopping=False, class_weight="balanced", random_state=0)
        model.fit(own, own["a"] % 3 == 0)
        assert explain.drift(model, own).verdicts == ("ok", "ok")


@pytest.mark.parametrize("balanced", [False, True])
def test_a_fit_with_weights_is_warned_of_and_compared_by_weights(balanced):
    rng = np.random.default_rng(0)
    X = pd.DataFrame(
        {"level": rng.choice(["a", "b"], 500, p=[0.9, 0.1]), "x": rng.normal(size=500)}
    )
    rare = (X["level"] == "b").to_numpy()
    weight = np.where(rare, 9.0, 1.0)
    if balanced:
        model = TSLClassifier(1, class_weight="balanced", random_state=0).fit(X, rare)
    else:
        model = TSLRegressor(1, random_state=0).fit(X, X["x"] + rare, weight)
    with pytest.warns(UserWarning, match="was fitted with weights"):
        assert explain.drift(model, X).has_drifted
    if not balanced:
        assert not explain.drift(model, X, weight).has_drifted


@pytest.mark.parametrize(("n_rows", "kept", "shift"), [(60, 0, 0.0), (4000, 30, 0.6)])
def test_chance_goes_by_the_rows_of_the_fit_and_not_by_those_kept(n_rows, kept, shift):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n_rows, 2))
    model = TSLRegressor(0, background_size=kept, random_state=0).fit(X, X[:, 0])
    now = rng.normal(size=(2000, 2)) + shift
    assert explain.drift(model, now).has_drifted == bool(shift)
