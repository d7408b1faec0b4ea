"""A classifier of several classes as a whole: what matters for all of them, and in sentences."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import pytest

from seplearn import SizePath, TSLClassifier, explain, plots
from seplearn.explain import class_summary
from seplearn.explain.class_importance import class_importance_of
from seplearn.explain.subject import Subject

QUICK: dict[str, Any] = {"n_stages": 2, "early_stopping": False, "random_state": 0}
N = 300


@pytest.fixture(scope="module")
def table():
    random = np.random.default_rng(0)
    X = pd.DataFrame(random.uniform(-1.0, 1.0, (N, 4)), columns=["a", "b", "noise", "same"])
    X["same"] = 1.0
    X["place"] = random.choice(["hill", "mill", "sea"], N)
    score = X["a"] * X["b"] + 0.8 * X["a"] + 0.4 * (X["place"] == "sea")
    y = np.array(["low", "middle", "high"])[np.digitize(score, [-0.1, 0.5])]
    return X, pd.Series(y, name="level")


@pytest.fixture(scope="module")
def model(table):
    return TSLClassifier(**QUICK, main_effects=True, n_bootstrap=3).fit(*table)


@pytest.fixture(scope="module")
def summary(model):
    return explain.summary(model)


def test_importance_is_of_the_log_of_a_probability_beside_those_of_all(table, model):
    """As the log-odds against every class say, each explained by itself."""
    X = table[0][:60]
    found = explain.importance(model, background=X)
    assert found.n_rows == 60
    for k, label in enumerate(model.classes_):
        others = [other for other in model.classes_ if other != label]
        odds = [
            explain.shapley(model.for_class(label, against=other), X, background=X).values
            for other in others
        ]
        expected = np.abs(np.sum(odds, axis=0) / 3).mean(axis=0)
        np.testing.assert_allclose(found.of_class[k], expected, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(found.values, found.of_class.mean(axis=0))
    assert found.share.sum() == pytest.approx(1.0)
    assert found.values[list(found.order)].tolist() == sorted(found.values, reverse=True)


def test_what_all_scores_share_changes_nothing(model):
    """The same main effect added to all scores changes no probability, and no importance."""
    models, labels = model.model_, model.classes_.tolist()
    wave = np.sin(np.arange(len(models.bins.frequencies)))
    shifted = models.each(lambda one: replace(one, effects=one.effects + wave, replicates=()))
    subject = Subject.of_any(model)
    one, other = (
        class_importance_of(own, subject, labels, models.reference) for own in (models, shifted)
    )
    np.testing.assert_allclose(other.of_class, one.of_class, rtol=1e-9, atol=1e-12)


def test_bands_lie_about_the_importance(model):
    found = explain.importance(model, level=0.99)
    assert found.bands.shape == (2, 5)
    used = found.values > 0.0
    assert (found.bands[0] <= found.values + 1e-12)[used].all()
    assert (found.values <= found.bands[1] + 1e-12)[used].all()
    frame = found.frame()
    assert list(frame.columns) == [
        "feature", "importance", "share", "importance_lower", "importance_upper",
        "for high", "for low", "for middle",
    ]  # fmt: skip


def test_threads_change_nothing(model):
    one, two = (explain.importance(model, n_jobs=n) for n in (1, 2))
    np.testing.assert_array_equal(one.of_class, two.of_class)


def test_panels_of_the_paper_are_of_one_class(model):
    with pytest.raises(ValueError, match="an explanation is of one of them"):
        explain.importance(model, kind="paper")
    assert explain.importance(model.for_class("low"), kind="paper").names[0] == "a"


def test_sentences_tell_mean_probabilities(table, model, summary):
    X, _ = table
    text = str(summary)
    assert text.startswith("The model tells 3 classes of level apart by 5 features with ")
    assert summary.frequencies.sum() == pytest.approx(1.0)
    two = r"between (\S+) % at (\S+) and (\S+) % at (\S+);"
    found = re.search(rf"a: (\d+) %\. The probability of middle is {two}", text)
    assert found is not None, text
    share, *ends = (float(part) for part in found.groups())
    assert share == pytest.approx(100.0 * summary["a"].share, abs=0.5)
    for told, place in (ends[:2], ends[2:]):
        middle = model.predict_proba(X.assign(a=place))[:, list(model.classes_).index("middle")]
        assert told == pytest.approx(100.0 * middle.mean(), abs=4.0)  # the place is rounded
    assert "Not used:\n- " in text
    assert "same" in summary.unused


def test_levels_are_told_by_the_ends(model, summary):
    response = explain.response(model, "place")
    place = summary["place"]
    k = int(place.ranges.argmax())
    curve = response.average[k][place.bins]
    names = [response.axis.levels[b] for b in place.bins[[curve.argmin(), curve.argmax()]]]
    told = f"The probability of {model.classes_[k]} is between "
    assert place.sentence.startswith(told)
    assert all(f"% for {name}" in place.sentence for name in names)


def test_every_class_is_told_of(model, summary):
    (told,) = (lines for heading, lines in summary.sections if heading.startswith("What every"))
    assert len(told) == 3
    most = model.classes_[summary.frequencies.argmax()]
    assert told[0].startswith(f"{most}, ")
    for label in model.classes_:
        view = model.for_class(label)
        (line,) = (line for line in told if line.startswith(f"{label}, "))
        assert all(name in line for name in view.stage_names_[:3])


def test_frame_figure_and_notebook(model, summary):
    frame = summary.frame()
    assert list(frame["feature"])[: len(summary.features)] == [f.name for f in summary.features]
    assert len(frame) == 5
    assert list(frame.columns[2:]) == ["range of high", "range of low", "range of middle"]
    figure = plots.plot_summary(summary)
    assert [text.get_text() for text in figure.axes[0].get_legend().texts] == [
        "high", "low", "middle",
    ]  # fmt: skip
    assert "What every class goes by" in model._repr_html_()
    with pytest.raises(KeyError, match="feature must be one of"):
        summary["rain"]


def test_rare_classes_are_told_by_what_they_are():
    """A probability of 0.1 % that is ten times as large somewhere is moved."""
    rng = np.random.default_rng(1)
    X, u = pd.DataFrame({"a": rng.uniform(-1.0, 1.0, 9000)}), rng.random(9000)
    y = np.where(u < 0.003 * np.exp(1.2 * X["a"]), "hot", "fine")
    y = np.where(u > 1.0 - 0.003 * np.exp(-1.2 * X["a"]), "_cold", y)
    rare = TSLClassifier(0, early_stopping=False, random_state=0).fit(X, y)
    summary = explain.summary(rare)
    assert re.search("(hot|_cold) (rises|falls|is between)", summary["a"].sentence)
    legend = plots.plot_class_importance(explain.importance(rare)).axes[0].get_legend()
    assert [text.get_text().strip() for text in legend.texts] == ["_cold", "fine", "hot"]


def test_large_models_are_told_over_fewer_rows(model, monkeypatch):
    monkeypatch.setattr(class_summary, "_MOST_WORK", 1)
    few = explain.summary(model)
    assert few.n_rows == 200
    assert "over 200 training rows kept in the model" in str(few)
    assert few.over_training


def test_rows_that_are_given(table, model):
    few = explain.summary(model, background=table[0][:50])
    assert few.n_rows == 50
    assert not few.over_training
    assert "over 50 rows given" in str(few)
    assert "over 1 row given" in str(explain.summary(model, background=table[0][:1]))


def test_why_it_is_so_large(table):
    chosen = TSLClassifier(n_stages=2, random_state=0).fit(*table)
    choice = explain.size_path(chosen)
    assert choice.of_class
    assert choice.n_stages == sum(map(len, chosen.stages_))
    assert f"Its size: {choice}." in str(explain.summary(chosen))


def test_stages_that_are_gone_are_told_of():
    path = SizePath(True, (1.0, 0.5), (0.1, 0.0), 1)
    choice = explain.SizeChoice((path,), n_stages=0, of_class=True)
    assert "the finished model has no stage all the same" in str(choice)
    assert "1 of 1 round of stages grown" in str(choice)
    alone = SizePath(True, (0.5, 0.4), (0.0, 0.2), 0)
    assert "with 1 round of stages beside them" in str(explain.SizeChoice((alone,), 0, True))


@pytest.mark.filterwarnings("ignore:no stage improves")
def test_a_constant_has_nothing_to_tell(table):
    X, y = table
    constant = TSLClassifier(random_state=0).fit(X[["same"]], y)
    summary = explain.summary(constant)
    assert summary.features == ()
    assert "by 1 feature with constants" in str(summary)
    assert "What tells" not in str(summary)
    assert str(summary).count("its score is a constant") == 3


def test_many_classes(table):
    """Labels that are numbers; of more than twelve classes the rarer ones are only counted."""
    rng = np.random.default_rng(1)
    X = rng.uniform(0.0, 15.0, (600, 2))
    many = TSLClassifier(**QUICK | {"n_stages": 1}).fit(X, X[:, 0].astype(int))
    summary = explain.summary(many)
    assert "3 more, which are rarer." in str(summary)
    figure = plots.plot_class_importance(explain.importance(many))
    assert figure.axes[0].get_legend().texts[-1].get_text() == "7 more"
