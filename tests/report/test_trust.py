"""What the page says to whoever has to rely on the model."""

import json
import re

import numpy as np
import pandas as pd
import pytest

from seplearn import TSLClassifier, TSLRegressor, explain, report
from seplearn.report.provenance import told_provenance
from tests.cli.conftest import run

QUICK = {"n_stages": 1, "n_grids": 1, "early_stopping": False, "random_state": 0}


def table(n, seed):
    """Outcomes of the group that the model does not know are lower than it can say."""
    random = np.random.default_rng(seed)
    X = pd.DataFrame({"x": random.normal(size=n), "level": random.choice(["a", "b"], size=n)})
    group = random.choice(["<i>many</i>", "few"], size=n)
    y = 2.0 * X["x"] + random.normal(size=n) - 3.0 * (group == "few")
    return X, pd.Series(y, name="y"), X.assign(group=group)


@pytest.fixture(scope="module")
def model():
    X, y, _ = table(300, 0)
    return TSLRegressor(**QUICK).fit(X, y)


def content(text):
    [found] = re.findall(r'id="content">(.*?)</script>', text)
    return json.loads(found)


def test_the_page_tells_who_is_treated_worse(model, tmp_path, open_page):
    _, y, known = table(400, 1)
    path = tmp_path / "trust.html"
    found = explain.stability(model, *table(300, 0)[:2], n_refits=1)
    report.write_report(model, path, known, y, by="group", stability=found)
    told = content(path.read_text(encoding="utf-8"))
    groups = explain.segments(model, known, y, by="group")
    assert [part["segment"] for part in told["segments"]["groups"]["parts"]] == [*groups.segments]
    for name in ("error", "residual_lower", "prediction", "outcome"):
        shown = [part[name] for part in told["segments"]["groups"]["parts"]]
        assert shown == pytest.approx(getattr(groups, name).tolist(), rel=1e-12)
    worst = explain.segments(model, known, y)
    worse = [
        s for s, error in zip(worst.segments, worst.error, strict=True) if error > worst.overall
    ]
    shown = [part["segment"] for part in told["segments"]["worst"]["parts"]]
    assert shown == worse[:10]
    assert 0 < len(worse) < len(worst.segments)
    page = open_page(path).page
    quality = page.inner_text("#quality")
    assert "By group" in quality
    assert "<i>many</i>" in quality  # as text
    assert f"{groups.rows[0]:,}" in quality
    assert "Are these rows like those it was fitted to?" in quality
    assert found.sentences[0] in page.inner_text("#stability")


def test_a_page_without_them_says_what_was_not_looked_at(model, tmp_path, open_page):
    path = tmp_path / "bare.html"
    report.write_report(model, path)
    told = content(path.read_text(encoding="utf-8"))
    assert told["segments"] is told["drift"] is told["stability"] is None
    assert "was not looked at" in open_page(path).page.inner_text("#stability")


def test_rows_unlike_those_of_the_fit_are_told(model, tmp_path, open_page):
    X, y, _ = table(400, 2)
    path = tmp_path / "drift.html"
    report.write_report(model, path, X.assign(x=X["x"] + 5.0), y)
    assert "x (unlike): " in open_page(path).page.inner_text("#quality")


def test_edits_and_bands_are_told_of_every_model(model):
    told = dict(told_provenance(model))
    assert told["Edits by hand"] == "none"
    assert told["Bands"].startswith("none")
    edited = model.edit().flatten("level").apply(reason="a test")
    assert dict(told_provenance(edited))["Edits by hand"].startswith("1, ")


@pytest.mark.parametrize(
    ("arguments", "kind", "message"),
    [
        ({"by": "group"}, ValueError, "by must come with X and y"),
        ({"by": 3}, TypeError, "by must be the name of a column of X"),
        ({"stability": "yes"}, TypeError, "stability must be what explain.stability returned"),
    ],
)
def test_bad_arguments_are_refused(model, arguments, kind, message):
    with pytest.raises(kind, match=message):
        report.report_html(model, table(50, 3)[2], **arguments)


def test_several_classes_have_parts_and_groups():
    X, y, known = table(200, 4)
    three = np.digitize(y, [-2.0, 1.0])
    model = TSLClassifier(**QUICK).fit(X, three)
    told = content(report.report_html(model, known, three, by="group"))["segments"]
    assert told["worst"]["is_of_likeliest"]
    assert told["worst"]["measure"] == "log-loss"
    expected = explain.segments(model, known, three, by="group")
    assert [part["segment"] for part in told["groups"]["parts"]] == list(expected.segments)
    found = [part["outcome"] for part in told["groups"]["parts"]]
    np.testing.assert_allclose(found, expected.outcome, rtol=1e-3)


def test_the_command_takes_a_column_too(model, tmp_path):
    _, y, known = table(100, 5)
    known.assign(y=y).to_csv(tmp_path / "t.csv", index=False)
    model.save(tmp_path / "m.tsl")
    done = run("report", tmp_path / "m.tsl", tmp_path / "t.csv", "--target", "y", "--by", "group",
               "-o", tmp_path / "r.html")  # fmt: skip
    assert done.exit_code == 0, done.output
    parts = content((tmp_path / "r.html").read_text(encoding="utf-8"))["segments"]["groups"]
    assert {part["segment"] for part in parts["parts"]} == {"<i>many</i>", "few"}
    refused = run("report", tmp_path / "m.tsl", "--by", "group", "-o", tmp_path / "r.html")
    assert "--by needs a TABLE" in refused.stderr


def test_several_classes_are_told_apart_before_the_score_of_one():
    X, y, _ = table(200, 4)
    three = np.digitize(y, [-2.0, 1.0])
    model = TSLClassifier(**QUICK).fit(X, three)
    told = content(report.report_html(model))["whole"]
    assert told[0]["sentences"][0].startswith("The model tells 3 classes of")
    assert "for_class" not in str(told)
    assert told[1]["heading"].startswith("What tells the classes apart")
    two = TSLClassifier(**QUICK).fit(X, three == 0)
    assert content(report.report_html(two))["whole"] is None
