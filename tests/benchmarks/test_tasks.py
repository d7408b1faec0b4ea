"""Classes, counts and quantiles in the harness: splits, scores, rivals, names, pages."""

import json
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from sklearn import metrics
from sklearn.model_selection import train_test_split

from benchmarks import __main__ as commands
from benchmarks import problems, report, run, task_pages, tasks, tune
from benchmarks.cell import measure, parts_of
from benchmarks.encoding import numbers_only
from benchmarks.rivals import RIVALS, ours
from benchmarks.rivals.rates import Rates
from benchmarks.rows import Rows
from benchmarks.tasks import Classes, Counts, Problem, Quantile


def cell(problem, rival, split=0, **more):
    return {"problem": problem, "rival": rival, "split": split} | more


def rows_of(y, task, **more):
    return Problem(pd.DataFrame({"x": np.arange(len(y))}), np.asarray(y), task, **more)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_scores_of_classes_are_those_of_scikit_learn(n_classes):
    random = np.random.default_rng(0)
    probabilities = random.dirichlet(np.ones(n_classes), 200)
    y = random.integers(0, n_classes, 200)
    found = Classes(n_classes).scores(rows_of(y, Classes(n_classes)), probabilities)
    assert found["log_loss"] == pytest.approx(metrics.log_loss(y, probabilities))
    assert found["accuracy"] == metrics.accuracy_score(y, probabilities.argmax(axis=1))
    brier = metrics.brier_score_loss(y, probabilities, scale_by_half=True)
    assert found["brier"] == pytest.approx(brier)
    assert ("auc" in found) == (n_classes == 2)
    if n_classes == 2:
        assert found["auc"] == pytest.approx(metrics.roc_auc_score(y, probabilities[:, 1]))


def test_a_probability_of_nothing_costs_much_but_not_everything():
    certain = np.array([[1.0, 0.0], [1.0, 0.0]])
    found = Classes(2).scores(rows_of([0, 1], Classes(2)), certain)
    assert found["log_loss"] == pytest.approx(-np.log(tasks.LEAST_PROBABILITY) / 2)
    with pytest.raises(ValueError, match=r"shape \(2, 3\), got \(2, 2\)"):
        Classes(3).scores(rows_of([0, 1], Classes(3)), certain)


def test_the_calibration_error_is_the_distance_of_probability_and_share():
    random = np.random.default_rng(1)
    p = random.permutation(np.repeat(np.linspace(0.05, 0.95, 15), 40))
    y = (random.random(600) < p).astype(int)
    both, indicators = np.column_stack([1 - p, p]), np.eye(2)[y]
    shares = [abs(p[p == v].mean() - y[p == v].mean()) for v in np.unique(p)]
    assert tasks.calibration_error(both, indicators) == pytest.approx(np.mean(shares))
    order = random.permutation(600)  # equal probabilities stay together, whatever their order
    again = tasks.calibration_error(both[order], indicators[order])
    assert again == pytest.approx(tasks.calibration_error(both, indicators))
    for constant in (0.7, y.mean()):  # one bin, however many were asked for
        same = np.tile([1 - constant, constant], (600, 1))
        off = abs(constant - y.mean())
        assert tasks.calibration_error(same, indicators) == pytest.approx(off, abs=1e-12)


def test_scores_of_counts_and_quantiles_are_those_of_scikit_learn():
    random = np.random.default_rng(2)
    truth = random.gamma(2.0, 1.0, 300)
    y, guess = random.poisson(truth).astype(float), truth + 0.5
    found = Counts().scores(rows_of(y, Counts(), truth=truth), guess)
    assert found["deviance"] == pytest.approx(metrics.mean_poisson_deviance(y, guess))
    known = metrics.mean_poisson_deviance(y, truth)
    assert found["deviance_ratio"] == pytest.approx(found["deviance"] / known)
    assert set(Counts().scores(rows_of(y, Counts()), guess)) == {"deviance"}
    with pytest.raises(ValueError, match="means of counts must be above 0, got 0"):
        Counts().scores(rows_of(y, Counts()), np.zeros(300))
    found = Quantile(0.9).scores(rows_of(y, Quantile(0.9)), guess)
    assert found["pinball"] == pytest.approx(metrics.mean_pinball_loss(y, guess, alpha=0.9))
    assert found["share_below"] == np.mean(y <= guess)


def test_splits_keep_the_shares_of_classes_and_those_of_regression_are_what_they_were():
    train, test = parts_of(cell("made:rents_in_three", "mean"))
    assert np.bincount(train.y).tolist() == [800] * 3
    assert np.bincount(test.y).tolist() == [200] * 3
    rents = problems.load("made:rents", None)
    X, _, _, y_test = train_test_split(rents.X, rents.y, test_size=0.2, random_state=7)
    train, test = parts_of(cell("made:rents", "mean", split=7))
    pd.testing.assert_frame_equal(train.X, X)
    np.testing.assert_array_equal(test.y, y_test)


@pytest.mark.parametrize(
    ("problem", "score"),
    [
        ("made:rents_above", "log_loss"),
        ("made:rents_in_three", "log_loss"),
        ("made:claims", "deviance_ratio"),
        ("quantile-0.9:made:rents", "pinball"),
    ],
)
def test_a_linear_model_is_better_than_a_constant(problem, score):
    null, linear = (measure(cell(problem, name)) for name in ("mean", "linear with splines"))
    assert null["status"] == linear["status"] == "ok"
    assert linear[score] < null[score]
    assert linear["cpu_seconds"] >= 0.0
    if problem == "made:claims":
        assert 1.0 < linear["deviance_ratio"] < 1.02 < null["deviance_ratio"]


def test_rates_weigh_their_exposures():
    y, exposure = np.array([1.0, 0.0, 3.0]), np.array([0.5, 0.25, 1.25])
    X = np.zeros((3, 1))
    model = RIVALS["mean"].make({}, 0, Counts()).fit(X, y, offset=np.log(exposure))
    assert isinstance(model, Rates)
    np.testing.assert_allclose(model.predict(X, offset=np.log(exposure)), 2.0 * exposure)
    np.testing.assert_allclose(model.predict(X), 2.0)


def test_our_models_have_the_loss_of_the_task():
    make = RIVALS["seplearn"].make
    assert make({}, 0, Counts()).loss == "poisson"
    quantile = make({}, 0, Quantile(0.9))
    assert (quantile.loss, quantile.quantile) == ("quantile", 0.9)
    assert type(make({"n_stages": 2}, 3, Classes(3))).__name__ == "TSLClassifier"
    assert len(ours._stages(SimpleNamespace(stages_=(("a", "b"), (), ("c",))))) == 3
    assert len(ours._stages(SimpleNamespace(stages_=("a", "b")))) == 2


def test_what_a_rival_cannot_do_is_said():
    three = problems.load("made:rents_in_three", None)
    assert RIVALS["pygam"].why_not(three) == "pygam has no model of more than 2 classes"
    assert RIVALS["ebm"].why_not(three) is None
    row = measure(cell("quantile-0.9:made:rents", "ebm"))
    assert row == {"status": "skipped", "reason": "ebm has no model of quantiles"}
    with pytest.raises(ValueError, match="only regression is tuned, got a problem of classes"):
        tune._training_part(RIVALS["lightgbm"], cell("made:rents_above", "lightgbm"), None)


def test_levels_are_encoded_by_the_share_of_every_class():
    X = pd.DataFrame({"a": pd.Categorical(["u", "v"] * 50), "b": np.arange(100.0)})
    y = np.array([0, 1] * 25 + [0, 2] * 25)
    train, test = numbers_only(X, Classes(3).targets(y), X[:1])
    assert train.shape == (100, 4)
    assert test.shape == (1, 4)
    weight = 1 / (1 + np.exp(-3.0))  # of 50 rows
    shares = weight * np.array([0.0, 0.5, 0.5]) + (1 - weight) * np.array([0.5, 0.25, 0.25])
    np.testing.assert_allclose(train[1, :3], shares)
    np.testing.assert_array_equal(test, train[:1])


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("classes:adult", r"needs --data-dir, the folder with data_classification/datasets\.json"),
        ("counts:bike_sharing", r"needs --data-dir, the folder with data/datasets\.json"),
        ("counts:made:rents", "must have a target of whole numbers from 0 on"),
        ("counts:made:claims", "problem after 'counts:' must be one of regression"),
        ("quantile-1.5:made:rents", "problem must be like 'quantile-0.9:bike_sharing'"),
        ("quantile-0.0:made:rents", "problem must be like 'quantile-0.9:bike_sharing'"),
        ("quantile-0.5:classes:adult", "problem after 'quantile-0.5:' must be one of regression"),
    ],
)
def test_names_that_are_no_problems_are_refused(name, message):
    with pytest.raises(ValueError, match=message):
        problems.load(name, None)


def test_without_a_folder_there_are_generated_problems():
    assert problems.names(None, tasks.COUNTS) == ["made:claims"]
    assert problems.names(None, tasks.CLASSES) == ["made:rents_above", "made:rents_in_three"]
    assert problems.names(None, tasks.QUANTILES)[0] == "quantile-0.1:made:rents"
    for kind in (tasks.CLASSES, tasks.COUNTS, tasks.QUANTILES):
        assert {problems.kind_of(name) for name in problems.names(None, kind)} == {kind}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A folder with one table of classes: a level, a missing value, a name rivals refuse."""
    home = tmp_path_factory.mktemp("shared")
    (home / "data_classification").mkdir()
    table = pd.DataFrame(
        {"colour": pd.Categorical(["red", None] * 30), "size[mm]": np.arange(60.0),
         "class": pd.Categorical(["b", "a", "c"] * 20)}
    )  # fmt: skip
    table.to_parquet(home / "data_classification" / "tiny.parquet")
    entry = {"name": "tiny", "target": "class", "n_rows": 60, "n_features": 2}
    listed = json.dumps([entry | {"categorical": ["colour"]}])
    (home / "data_classification" / "datasets.json").write_text(listed, encoding="utf-8")
    return home


def test_tables_of_classes_are_read_and_run(folder, tmp_path):
    tiny = problems.load("classes:tiny", folder)
    assert tiny.y[:3].tolist() == [1, 0, 2]
    assert tiny.task == Classes(3)
    assert list(tiny.X.columns) == ["colour", "size_mm_"]
    assert problems.names(folder, tasks.CLASSES)[0] == "classes:tiny"
    with pytest.raises(ValueError, match=r"one of \['classes:tiny'\], got 'classes:large'"):
        problems.check("classes:large", folder)
    parser = commands._parser()
    asked = parser.parse_args(["run", "--task", "classes", "--data-dir", str(folder)])
    assert commands._names(asked, asked.task)[0] == "classes:tiny"
    rivals = commands._rivals(asked, asked.task)
    assert "linear with splines" in rivals
    assert "tensorsl" not in rivals
    rows = Rows(tmp_path / "runs.jsonl")
    todo = run.cells(["classes:tiny"], [0], ["linear with splines"], folder=folder)
    run.run(todo, rows, timeout=300.0, jobs=1)
    [row] = rows.read()
    assert row["status"] == "ok"
    assert row["log_loss"] > 0.5
    page = task_pages.PAGES[0].markdown(rows.read())
    assert "Of `seplearn` nothing is measured yet" in page
    assert "| classes:tiny | 1." in page


def class_rows():
    scores = {"seplearn": (0.2, 0.9), "fast": (0.4, 0.8), "mean": (0.6, 0.5)}
    shared = {"split": 0, "tag": "default", "status": "ok", "cores": 1, "commit": "abc"}
    return [
        shared | {"problem": problem, "rival": rival, "log_loss": loss, "accuracy": right,
                  "calibration_error": loss / 10, "brier": loss / 3, "cpu_seconds": 1.0 + loss,
                  "facts": {"reading_size": 7, "stages": 2, "features": 5}}
        for problem in ("classes:a", "classes:b", "made:rents_above")
        for rival, (loss, right) in scores.items()
    ]  # fmt: skip


def test_the_page_of_classes_compares_all_scores(tmp_path):
    page, csv, picture = task_pages.PAGES[0].write(class_rows(), tmp_path)
    text = page.read_text(encoding="utf-8")
    assert text.startswith("# Classification\n")
    assert "| fast | 2 | 0.500 |  | 0.500 | 2 | 0.500 (classes:a) |" in text
    assert "| ours / | calibration error | Brier score | accuracy | CPU time of the fit |" in text
    assert "| fast | 0.500 (2 of 2) | 0.500 (2 of 2) | +10.00 | 0.857 |" in text
    assert "| classes:a | 0.2 (***) | 2.000 (**) | 3.000 (*) |" in text
    assert "## Log-loss: ours, and the others' as multiples of it" in text
    assert "## Calibration error" in text
    assert "| classes:a | 7 | 2 | 5 |" in text
    assert len(pd.read_csv(csv)) == 9
    assert picture.stat().st_size > 5_000


def test_a_page_takes_rows_of_its_task_alone():
    assert report.FRESH.rows(class_rows()) == []
    assert report.PAPER.rows([row | {"split": 42} for row in class_rows()]) == []
    text = task_pages.PAGES[1].markdown(class_rows())
    assert text.startswith("# Counts and quantiles\n\n## Counts\n")
    assert text.count("Nothing of this is measured yet.") == 2


def test_counts_are_told_beside_the_true_rate():
    shared = {"split": 0, "tag": "default", "status": "ok", "problem": "made:claims"}
    rows = [
        shared | {"rival": rival, "deviance": ratio / 2, "deviance_ratio": ratio}
        for rival, ratio in (("seplearn", 1.01), ("fast", 1.25))
    ]
    text = task_pages.PAGES[1].markdown(rows)
    assert "### Deviance over that of the true rate" in text
    assert "| made:claims | 1.01 | 1.25 |" in text
    assert "| fast | 1 |" not in text  # generated problems are not counted


def test_distinct_rows_are_taken_once(monkeypatch):
    table = pd.DataFrame({"a": [1, 1, 1, 2], "b": pd.Categorical(["x", "x", "x", "y"])})
    given = Problem(table, np.array([0.0, 0.0, 1.0, 0.0]))
    monkeypatch.setitem(problems.MADE, "twice", problems.Made(lambda: given))
    found = problems.load("distinct:made:twice", None)
    assert found.X["a"].tolist() == [1, 1, 2]
    assert found.y.tolist() == [0.0, 1.0, 0.0]
    assert problems.kind_of("distinct:made:claims") == "counts"
    with pytest.raises(ValueError, match="after 'made:'"):
        problems.check("distinct:made:nothing", None)
