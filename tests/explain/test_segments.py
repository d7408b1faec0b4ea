"""Where a model is bad."""

import json

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import stats

from seplearn import SepALSRegressor, TSLClassifier, TSLRegressor, explain
from seplearn.report.trust import page_segments
from tests.cli.conftest import run


def table(n, seed):
    """The outcomes of level b are noisy, those of level c are lower than any model here knows."""
    random = np.random.default_rng(seed)
    X = pd.DataFrame(
        {"number": random.normal(size=n), "level": random.choice(["a", "b", "c"], size=n)}
    )
    noise = np.where(X["level"] == "b", 2.0, 0.3) * random.normal(size=n)
    return X, (2.0 * X["number"] + noise).rename("y")


@pytest.fixture(scope="module")
def model():
    return TSLRegressor(n_stages=1, early_stopping=False, random_state=0).fit(*table(600, 0))


def test_every_part_of_every_feature_is_told_the_worst_first(model):
    X, y = table(1000, 1)
    found = explain.segments(model, X, y)
    frame = found.frame()
    assert frame.iloc[0][["feature", "segment"]].tolist() == ["level", "b"]
    assert frame.groupby("feature")["rows"].sum().tolist() == [1000, 1000]
    assert frame.groupby("feature")["share"].sum().tolist() == pytest.approx([1.0, 1.0])
    spread = np.std((y - model.predict(X)) ** 2)
    chance = stats.t(frame["rows"] - 1).ppf(0.95) * spread / np.sqrt(frame["rows"])
    assert ((frame["error"] ** 2 - chance).diff().dropna() <= 1e-12).all()
    own = (X["level"] == "b").to_numpy()
    off = y[own] - model.predict(X)[own]
    first = frame.iloc[0]
    assert first["error"] == pytest.approx(np.sqrt(np.mean(off**2)))
    assert first["residual"] == pytest.approx(off.mean())
    assert first["outcome"] - first["prediction"] == pytest.approx(off.mean())
    apart = np.std(off**2, ddof=1) / np.sqrt(own.sum()) * stats.t(own.sum() - 1).ppf(0.95)
    ends = np.sqrt(np.mean(off**2) + np.array([-apart, apart]))
    assert first[["error_lower", "error_upper"]].tolist() == pytest.approx(ends, rel=1e-3)
    assert found.overall == pytest.approx(model.evaluate(X, y).rmse)


def test_a_part_that_is_all_rows_tells_nothing(model):
    X, y = table(200, 1)
    found = explain.segments(model, X.assign(level="a"), y)
    assert set(found.features) == {"number"}
    alone = explain.segments(model, X.assign(level="a", number=0.0), y)
    assert alone.frame()["rows"].tolist() == [200]
    with pytest.raises(ValueError, match=r"by must be one column, .* got \['number', 'level'\]"):
        explain.segments(model, X, y, by=["number", "level"])


def test_ranges_hold_the_rows_they_say(model):
    X, y = table(1000, 1)
    frame = explain.segments(model, X, y, by="number").frame()
    lowest = frame[frame["segment"].str.startswith("below")].iloc[0]
    edge = float(lowest["segment"].split()[1])
    assert lowest["rows"] == pytest.approx((X["number"] < edge).sum(), abs=1)
    assert len(frame) == 10


def test_groups_of_a_column_that_the_model_does_not_know(model):
    X, y = table(1000, 1)
    group = np.where(np.arange(1000) % 2 == 0, "even", "odd")
    worse = y - 3.0 * (group == "odd")
    frame = explain.segments(model, X.assign(group=group), worse, by="group").frame()
    assert frame["segment"].tolist() == ["odd", "even"]
    assert frame["feature"].unique().tolist() == ["group"]
    assert frame["residual"][0] == pytest.approx(-3.0, abs=0.4)
    assert frame["residual_upper"][0] < 0 < frame["residual_upper"][1]
    by_values = explain.segments(model, X, worse, by=pd.Series(group, name="group")).frame()
    pd.testing.assert_frame_equal(frame, by_values)


def test_unknown_outcomes_and_weights_of_zero_are_left_out_of_groups_too(model):
    X, y = table(400, 1)
    group = np.arange(400) // 100
    outcomes, weight = y.copy(), np.ones(400)
    outcomes[:100], weight[100:200] = np.nan, 0.0
    found = explain.segments(model, X, outcomes, weight, by=group)
    assert sorted(found.segments) == ["2", "3"]
    assert found.rows.tolist() == [100, 100]
    doubled = explain.segments(model, X, y, np.where(group == 0, 2.0, 1.0), by=group)
    assert doubled.share[doubled.segments.index("0")] == pytest.approx(0.4)


def test_few_rows_have_no_band_and_come_last(model):
    X, y = table(100, 1)
    y[:2] += 100.0
    found = explain.segments(model, X, y, by=np.array(["few"] * 2 + ["many"] * 98))
    assert found.segments == ("many", "few")
    assert np.isnan([found.error_lower[1], found.residual_upper[1]]).all()
    assert found.error[1] > 50


def test_parts_with_hardly_an_error_are_not_worse_than_those_with_few_large_ones(model):
    X, _ = table(60, 1)
    group = np.repeat(["good", "bad", "fair"], 20)
    miss = np.where(group == "good", 0.01, 0.05)
    miss[20] = 4.0  # one row of the bad part, whose own band reaches down to zero
    found = explain.segments(model, X, model.predict(X) + miss, by=group)
    assert found.segments == ("bad", "fair", "good")
    assert found.error_lower[0] < found.error_lower[2]


def test_other_losses_have_their_own_measure():
    X, y = table(600, 0)
    two = TSLClassifier(n_stages=1, early_stopping=False, random_state=0).fit(X, y > 0)
    found = explain.segments(two, X, y > 0)
    assert found.measure == "log-loss"
    assert found.overall == pytest.approx(two.evaluate(X, y > 0).scores["log-loss"])
    assert ((found.prediction > 0) & (found.prediction < 1)).all()
    counts = np.random.default_rng(0).poisson(np.exp(X["number"]))
    exposed = TSLRegressor(n_stages=1, early_stopping=False, loss="poisson", random_state=0)
    exposed.fit(X, counts, offset=np.ones(600))
    found = explain.segments(exposed, X, counts, offset=np.ones(600))
    assert found.measure == "Poisson deviance"
    assert abs(found.residual).max() < 3
    for compared in (
        lambda: explain.segments(exposed, X, counts),
        lambda: exposed.score(X, counts),
    ):
        with pytest.warns(
            UserWarning, match="the model was fitted with offsets and none are given"
        ):
            compared()
    plain = SepALSRegressor().fit(X, y)
    assert explain.segments(plain, X, y).measure == "RMSE"


def test_what_cannot_be_divided_is_refused(model):
    X, y = table(60, 0)
    with pytest.raises(ValueError, match=r"by must be a column of X, got 'lvel'.*'level'"):
        explain.segments(model, X, y, by="lvel")
    with pytest.raises(ValueError, match=r"by must have one value per row \(60\), got 59"):
        explain.segments(model, X, y, by=np.arange(59))
    with pytest.raises(ValueError, match="by must have one value per row, got shape"):
        explain.segments(model, X, y, by=np.zeros((60, 2)))
    with pytest.raises(TypeError, match="model must be a fitted estimator, got"):
        explain.segments(model.model_, X.to_numpy(), y)
    with pytest.raises(ValueError, match="label must be None for a model that is not of several"):
        explain.segments(model, X, y, label="b")


@pytest.fixture(scope="module")
def three():
    X, y = table(400, 0)
    labels = np.array(["low", "middle", "high"])[np.digitize(y, [-0.5, 0.5])]
    return TSLClassifier(n_stages=1, early_stopping=False, random_state=0).fit(X, labels), labels


def test_several_classes_have_no_offset(three):
    X, _ = table(400, 0)
    model, labels = three
    with pytest.raises(ValueError, match="offset must be None with more than two classes"):
        explain.segments(model, X, labels, offset=np.ones(400))


def test_of_several_classes_the_likeliest_is_told_of(three):
    model, _ = three
    X, y = table(300, 1)
    labels = np.array(["low", "middle", "high"])[np.digitize(y, [-0.5, 0.5])]
    weight = np.random.default_rng(0).uniform(0.5, 2.0, 300)
    found = explain.segments(model, X, labels, weight, by="level")
    assert found.measure == "log-loss"
    assert found.is_of_likeliest
    share = model.predict_proba(X)
    number = np.searchsorted(model.classes_, labels)
    loss = -np.log(share[np.arange(300), number])
    assert found.overall == pytest.approx(np.average(loss, weights=weight))
    for k, level in enumerate(found.segments):
        own = (X["level"] == level).to_numpy()
        right = share.argmax(axis=1) == number
        means = [np.average(v[own], weights=weight[own]) for v in (loss, share.max(axis=1), right)]
        told = [found.error[k], found.prediction[k], found.outcome[k]]
        np.testing.assert_allclose(told, means)
        assert found.residual[k] == pytest.approx(means[2] - means[1])
        assert found.residual_lower[k] < found.residual[k] < found.residual_upper[k]
    title = found.plot().axes[1].get_title()
    assert title == "share right minus mean certainty"


def test_one_of_several_classes_is_beside_all_others(three):
    model, labels = three
    X, _ = table(400, 0)
    found = explain.segments(model, X, labels, by="level", label="high")
    assert not found.is_of_likeliest
    share, is_high = model.predict_proba(X)[:, 0], labels == "high"
    loss = -np.log(np.where(is_high, share, 1.0 - share))
    assert found.overall == pytest.approx(loss.mean())
    for k, level in enumerate(found.segments):
        own = (X["level"] == level).to_numpy()
        np.testing.assert_allclose(
            [found.error[k], found.prediction[k], found.outcome[k]],
            [loss[own].mean(), share[own].mean(), is_high[own].mean()],
        )
    with pytest.raises(ValueError, match="label must be one of the classes"):
        explain.segments(model, X, labels, label="huge")


def test_the_command_and_the_page_tell_of_several_classes(three, tmp_path):
    model, labels = three
    X, _ = table(400, 0)
    path, rows = tmp_path / "m.tsl", tmp_path / "t.csv"
    model.save(path)
    X.assign(y=labels, group=np.where(np.arange(400) % 3, "a", "b")).to_csv(rows, index=False)
    done = run("evaluate", path, rows, "--target", "y", "--by", "group")
    assert done.exit_code == 0, done.output
    assert "certainty" in done.stdout
    of_high = run("evaluate", path, rows, "--target", "y", "--by", "group", "--class", "high")
    assert "certainty" not in of_high.stdout
    assert "predicted" in of_high.stdout
    content = page_segments(model, X, labels, None, "level")
    assert content["worst"]["is_of_likeliest"]
    assert len(content["groups"]["parts"]) == X["level"].nunique()


def test_the_command_tells_of_groups(model, tmp_path):
    X, y = table(300, 1)
    path = tmp_path / "m.tsl"
    model.save(path)
    group = np.where(np.arange(300) % 3 == 0, "third", "other")
    X.assign(y=y, group=group, size=np.arange(300)).to_csv(tmp_path / "t.csv", index=False)
    done = run("evaluate", path, tmp_path / "t.csv", "--by", "group")
    assert done.exit_code == 0, done.output
    expected = explain.segments(model, X, y, by=group)
    lines = done.stdout.splitlines()
    head = next(k for k, line in enumerate(lines) if "90 % band" in line)
    assert [line.split()[0] for line in lines[head + 1 : head + 3]] == list(expected.segments)
    told = json.loads(run("evaluate", path, tmp_path / "t.csv", "--by", "level", "--json").stdout)
    found = told["groups"]
    assert found["groups"][0]["segment"] == "b"
    assert found["overall"] == pytest.approx(told["rmse"])
    numbers = run("evaluate", path, tmp_path / "t.csv", "--by", "size")
    assert "below 29.5" in numbers.stdout
    assert (
        "must have the columns ['x']"
        in run("evaluate", path, tmp_path / "t.csv", "--by", "x").stderr
    )


def test_frames_are_of_the_training_library_and_figures_show_the_worst(model):
    X, y = table(200, 1)
    twin = TSLRegressor(n_stages=1, early_stopping=False, random_state=0).fit(pl.DataFrame(X), y)
    found = explain.segments(twin, pl.DataFrame(X), y)
    assert isinstance(found.frame(), pl.DataFrame)
    assert pl.Object not in found.frame().dtypes
    figure = explain.segments(model, X, y).plot(max_segments=3)
    labels = [label.get_text() for label in figure.axes[0].get_yticklabels()]
    assert len(labels) == 3
    assert labels[0] == "level: b"


def test_rows_whose_weights_count_as_few_have_no_band(model):
    X, y = table(40, 1)
    weight = np.where(np.arange(40) < 2, 1.0, 1e-6)
    found = explain.segments(model, X.assign(half=np.arange(40) % 2), y, weight, by="half")
    assert np.isnan(found.error_lower).all()
