"""The harness on generated problems: every fit is a row, none runs twice, a kill loses nothing."""

import io
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

from benchmarks import compare, growth, problems, report, run, tune
from benchmarks.cell import measure, parts_of, row_of
from benchmarks.encoding import numbers_only
from benchmarks.rivals import RIVALS
from benchmarks.rows import KEY, Rows

ROOT = Path(__file__).parents[2]
FAKES = "tests.benchmarks.fake_rivals"
PROBLEM = "made:rents"


def cell(rival, problem=PROBLEM, split=0, **more):
    base = {"problem": problem, "split": split, "rival": rival, "tag": "default", "params": {}}
    return base | {"module": FAKES, "folder": None} | more


def test_a_fit_is_measured_on_rows_it_has_not_seen():
    row = measure(cell("seplearn"))
    train, test = parts_of(cell("seplearn"))
    assert len(test.X) == 600
    y_test = test.y
    error = y_test - train.y.mean()
    assert row["rmse"] == pytest.approx(np.sqrt(np.mean(error**2)))
    assert row["mae"] == pytest.approx(np.mean(np.abs(error)))
    assert row["r2"] == pytest.approx(1 - np.mean(error**2) / np.var(y_test))
    assert row["versions"] == {"numpy": np.__version__}
    assert row["peak_mib"] > 10
    assert row["fit_seconds"] >= 0


@pytest.fixture
def no_processes(monkeypatch):
    """Fits in this process: one of their own would import everything again."""
    monkeypatch.setattr(run.Fits, "fit_apart", lambda self, cell, timeout: row_of(cell))


def test_a_fit_that_raises_dies_or_hangs_is_a_row(tmp_path):
    rows = Rows(tmp_path / "runs.jsonl")
    todo = run.cells([PROBLEM], [0], ["raises", "dies", "hangs"], module=FAKES)
    hangs = [one for one in todo if one["rival"] == "hangs"]  # the others may take their time
    assert run.run(hangs, rows, timeout=2.0, jobs=1) == 1
    assert run.run(todo, rows, timeout=300.0, jobs=2) == 2
    found = {row["rival"]: (row["status"], row["reason"]) for row in rows.read()}
    assert found["raises"] == ("failed", "RuntimeError: no such luck")
    assert found["dies"][0] == "failed"
    assert found["dies"][1].startswith("exit code 9")
    assert found["hangs"] == ("timeout", "more than 2 s")
    page = report.markdown(rows.read(), report.FRESH)
    assert "hangs on made:rents (split 0): timeout, more than 2 s" in page


def test_what_goes_wrong_is_a_row(tmp_path, no_processes):
    rows = Rows(tmp_path / "runs.jsonl")
    bad = ["raises", "absent", "picky", "unknown", "lost"]
    todo = run.cells([PROBLEM], [0], bad, module=FAKES)
    assert run.run(todo, rows, timeout=300.0, jobs=3) == len(bad)
    found = {row["rival"]: (row["status"], row["reason"]) for row in rows.read()}
    assert found["raises"] == ("failed", "RuntimeError: no such luck")
    assert found["lost"] == ("failed", "predictions are not finite")
    assert found["absent"][0] == "skipped"
    assert "no_such_module" in found["absent"][1]
    assert found["picky"] == ("skipped", "picky does not take missing values")
    assert "rival must be one of" in found["unknown"][1]
    assert run.run(todo, rows, timeout=4.0, jobs=1) == 0
    assert run.run(todo[:1], rows, timeout=300.0, jobs=1, retry=True) == 1
    changed = [todo[0] | {"params": {"other": 1}}]
    assert run.run(changed, rows, timeout=300.0, jobs=1) == 1  # other parameters, another fit
    assert len(rows.read()) == len(bad)  # of each cell the last row counts


def test_a_killed_run_is_taken_up(tmp_path, no_processes):
    """Kill the process in the middle, cut its last line short, go on: no row twice, none lost."""
    path = tmp_path / "runs.jsonl"
    todo = run.cells([PROBLEM], [0, 1, 2], ["late"], module=FAKES)
    stuck = [todo[0], *(one | {"params": {"wait": 600.0}} for one in todo[1:])]
    code = (
        "from pathlib import Path; from benchmarks import run; from benchmarks.rows import Rows;"
        f"run.run({stuck!r}, Rows(Path({str(path)!r})), timeout=600, jobs=1)"
    )
    process = subprocess.Popen(
        [sys.executable, "-c", code], cwd=ROOT, stderr=subprocess.DEVNULL, start_new_session=True
    )
    try:
        wait_for(lambda: path.exists() and path.read_text().count("\n") >= 1)
    finally:
        os.killpg(process.pid, signal.SIGKILL)  # with the fit that waits
        process.wait()
    assert len(Rows(path).read()) == 1
    with path.open("a") as file:
        file.write('{"problem": "made:re')
    assert len(Rows(path).read()) == 1
    assert run.run(todo, Rows(path), timeout=60, jobs=1) == 2
    keys = [tuple(row[name] for name in KEY) for row in Rows(path).read()]
    assert sorted(keys) == sorted({(PROBLEM, split, "late", "default") for split in range(3)})


def wait_for(condition, seconds=120.0):
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "nothing happened"
        time.sleep(0.1)


STUCK = """
import time
from pathlib import Path
from benchmarks import tune
from tests.benchmarks import fake_rivals

def fit(*_):
    print("fitting", flush=True)
    time.sleep(600)

tune.tune({cell!r}, Path({folder!r}), 3, 3)
fake_rivals.Mean.fit = fit
tune.tune({cell!r}, Path({folder!r}), 12, 3)
"""


def test_tuning_finds_the_best_and_is_taken_up_after_a_kill(tmp_path):
    """Killed while it fits: one that is killed while it writes leaves a lock for half a minute."""
    code = STUCK.format(cell=cell("shifted"), folder=str(tmp_path))
    command = [sys.executable, "-c", code]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout.readline() == "fitting\n"
        process.kill()
    [so_far] = tune.found(tmp_path)
    assert so_far["trials"] == 3
    best = tune.tune(cell("shifted"), tmp_path, 12, 3)
    assert abs(best["params"]["shift"]) < 25
    assert best["trials"] == 12
    assert best["cv_rmse"] <= so_far["cv_rmse"]
    assert tune.tuned(tmp_path) == {(PROBLEM, "shifted", 0): best["params"]}
    assert tune.tune(cell("shifted"), tmp_path, 12, 3) == best
    trials = tune.open_study(tmp_path, tune.study_name(cell("shifted"), 3, 2_400)).trials
    shifts = [trial.params["shift"] for trial in trials if "shift" in trial.params]
    assert len(set(shifts)) == len(shifts) >= 12
    assert tune.seed_of("one", 0) != tune.seed_of("another", 0)
    with pytest.raises(ValueError, match="nothing to tune"):
        tune.tune(cell("late"), tmp_path, 1)


def test_tuned_parameters_are_run_where_there_are_some():
    params = {("a", "late", 0): {"shift": 1.0}}
    todo = run.cells(["a", "b"], [0, 1], ["late", "worse"], tag="tuned", params=params)
    assert [(c["problem"], c["rival"], c["params"]) for c in todo] == [
        ("a", "late", {"shift": 1.0})
    ]


def test_growth_stops_where_a_model_gave_up(tmp_path, no_processes):
    rows = Rows(tmp_path / "growth.jsonl")
    sizes = ((50, 4), (100, 4))
    for _ in range(2):
        growth.measure(rows, ("seplearn", "raises"), 60.0, [sizes], module=FAKES)
    found = {(row["rival"], row["problem"]): row["status"] for row in rows.read()}
    assert len(rows.read()) == 4
    assert found["seplearn", "grown:100x4"] == "ok"
    assert found["raises", "grown:50x4"] == "failed"
    assert found["raises", "grown:100x4"] == "skipped"
    grown = problems.load("grown:50x4", None)
    assert grown.X.shape == (50, 4)
    assert grown.y.std() > 0.5


def test_rivals_have_the_papers_search_spaces_and_know_what_they_take():
    assert set(RIVALS) >= {"seplearn", "sepals", "tensorsl", "ebm", "lightgbm", "xgboost", "mean"}
    names = {"learning_rate", "max_bins", "min_samples_leaf", "max_rounds", "outer_bags",
             "smoothing_rounds", "interactions", "max_interaction_bins"}  # fmt: skip
    assert set(RIVALS["ebm"].space) == names
    rents = problems.load(PROBLEM, None)
    assert RIVALS["tensorsl"].why_not(rents) == "tensorsl does not take missing values"
    assert RIVALS["lightgbm"].why_not(rents) is None
    X, y = rents.X, rents.y
    train, test = RIVALS["random forest"].tables(X[:2000], y[:2000], X[2000:])
    assert train.dtype == test.dtype == float
    assert not np.isnan(test).any()
    model = RIVALS["mean"].make({}, 0).fit(train, y[:2000])
    assert model.predict(test)[0] == pytest.approx(y[:2000].mean())


def test_encoding_learns_from_training_rows_alone():
    rents = problems.load(PROBLEM, None)
    X, y = rents.X, rents.y
    one, _ = numbers_only(X[:500], y[:500], X[500:600])
    other, _ = numbers_only(X[:500], y[:500], X[700:900])
    np.testing.assert_array_equal(one, other)


def test_published_parameters_get_levels_encoded_as_they_were_found_with():
    rents = problems.load(PROBLEM, None)
    X, y = rents.X, rents.y
    parts = (X[:500], y[:500], X[500:600])
    own, _ = RIVALS["lightgbm"].tables(*parts)
    assert own is parts[0]
    encoded, _ = RIVALS["lightgbm"].tables(*parts, tag="published")
    np.testing.assert_array_equal(encoded, numbers_only(*parts)[0])


def test_problems_are_named_and_unknown_ones_refused():
    friedman = problems.load("made:friedman", None)
    assert friedman.X.shape == (1500, 10)
    assert len(friedman.y) == 1500
    with pytest.raises(ValueError, match="needs --data-dir"):
        problems.load("california_housing", None)
    with pytest.raises(ValueError, match=r"one of \['claims', .* after 'made:', got 'up'"):
        problems.load("made:up", None)


def test_a_slowdown_shows_when_it_is_large_in_both_ways():
    pairs = {"slow": (1.0, 1.3), "tiny": (0.01, 0.03), "same": (1.0, 1.1), "fast": (1.0, 0.5)}
    slower = {row["case"]: row["slower"] for row in compare.verdicts(pairs)}
    assert slower == {"slow": True, "tiny": False, "same": False, "fast": False}


def test_two_trees_are_timed_in_turn_and_the_best_counts(tmp_path):
    seen = []
    speeds = iter([9.0, 9.0, 2.0, 3.0, 1.0, 4.0])  # one round to compile, then two that count

    def measure(tree):
        seen.append(tree.name)
        return {"fit": next(speeds)}

    base, head = tmp_path / "base", tmp_path / "head"
    assert compare.alternate(base, head, 2, measure) == {"fit": (1.0, 3.0)}
    assert seen == ["base", "head"] * 3


def test_the_command_line_runs_and_reports(tmp_path, command_line, capsys):
    options = ["--results", str(tmp_path)]
    asked = ["--problems", "made:friedman", "--rivals", "mean", "--splits", "0"]
    command_line("run", *options, *asked)
    assert "1 new rows" in capsys.readouterr().out
    command_line("run", *options, *asked)
    assert "0 new rows" in capsys.readouterr().out
    command_line("report", *options)
    line = (tmp_path / "runs.jsonl").read_text(encoding="utf-8").splitlines()
    assert len(line) == 1
    assert json.loads(line[0])["status"] == "ok"
    assert (tmp_path / "report" / "fresh_splits.md").exists()


def test_tables_of_openml(monkeypatch):
    """The suite names tasks, a task its table and target; stand-ins answer for the network."""
    answers = {
        "study/353": {"study": {"tasks": {"task_id": [361234, 361235]}}},
        "task/361234": {
            "task": {
                "input": [
                    {"name": "estimation_procedure", "estimation_procedure": {"id": "7"}},
                    {
                        "name": "source_data",
                        "data_set": {"data_set_id": "44956", "target_feature": "rings"},
                    },
                ]
            }
        },
    }
    frame = pd.DataFrame(
        {"sex": ["F", "M", None], "length": [0.4, 0.5, 0.3], "old": [True, False, True]}
    )
    asked = {}

    def fetch(**options):
        asked.update(options)
        return SimpleNamespace(data=frame, target=pd.Series([15, 7, 9]))

    monkeypatch.setattr(
        problems,
        "urlopen",
        lambda url, timeout: io.StringIO(
            json.dumps(answers[url.removeprefix("https://www.openml.org/api/v1/json/")])
        ),
    )
    monkeypatch.setattr("sklearn.datasets.fetch_openml", fetch)
    assert problems.names(None)[:3] == ["openml:361234", "openml:361235", "made:masked_interaction"]
    found = problems.load("openml:361234", None)
    X, y = found.X, found.y
    assert asked == {"data_id": 44956, "target_column": "rings", "as_frame": True}
    assert [str(kind) for kind in X.dtypes] == ["category", "float64", "category"]
    assert y.dtype == float
    assert y.tolist() == [15.0, 7.0, 9.0]
    assert str(frame["sex"].dtype) != "category"


def test_lines_that_are_no_results_are_named(tmp_path):
    path = tmp_path / "runs.jsonl"
    rows = Rows(path)
    good = {"problem": "a", "split": 0, "rival": "b", "tag": "default", "status": "ok"}
    rows.append(good)
    for line in ("123", "{}", "null", "what"):
        path.write_text(json.dumps(good) + "\n" + line + "\n")
        with pytest.raises(ValueError, match=r"runs\.jsonl, line 2 is not a result"):
            rows.read()


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["run", "--timeout", "-5"], "--timeout: must be a number above 0, got '-5'"),
        (["run", "--jobs", "0"], "--jobs: must be a whole number from 1 on, got '0'"),
        (["run", "--splits", "-1"], "--splits: must be a whole number from 0 on"),
        (["run", "--problems", "made:up"], "problem must be one of"),
        (["run", "--problems", "nosuch"], "problem"),
        (["run", "--data-dir", "/no/such"], "--data-dir: must be a folder that exists"),
        (["tune", "--folds", "1"], "--folds: must be a whole number from 2 on, got '1'"),
        (["tune", "--trials", "0"], "--trials: must be a whole number from 1 on, got '0'"),
        (["report", "--results", "/no/such"], "--results must be a folder with runs.jsonl in it"),
        (["compare", "--base", "no-such"], "--base must be a revision that git knows"),
        (
            ["run", "--tag", "tuned", "--problems", "made:rents", "--results", "/no/such"],
            "nothing to run",
        ),
    ],
)
def test_wrong_arguments_are_refused_before_any_work(words, message, command_line, capsys):
    with pytest.raises(SystemExit) as ended:
        command_line(*words)
    assert ended.value.code == 2
    assert message in capsys.readouterr().err


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_run_that_is_ended_ends_its_fits(tmp_path, number):
    """What waits is not started any more, and what fits at the moment is ended too."""
    todo = run.cells([PROBLEM], list(range(20)), ["late"], module=FAKES)
    todo = [one | {"params": {"wait": 600.0}} for one in todo]
    code = (
        "import signal, sys; from pathlib import Path; from benchmarks import run;"
        "from benchmarks.rows import Rows; signal.signal(signal.SIGTERM, lambda *_: sys.exit(143));"
        # What was started in the background ignores it, and hands that on.
        "signal.signal(signal.SIGINT, signal.default_int_handler);"
        f"run.run({todo!r}, Rows(Path({str(tmp_path / 'runs.jsonl')!r})), timeout=600, jobs=1)"
    )
    process = subprocess.Popen([sys.executable, "-c", code], cwd=ROOT, stderr=subprocess.DEVNULL)
    wait_for(lambda: fits_of(process.pid))  # before it git is asked for the commit
    time.sleep(1.0)
    started = fits_of(process.pid)
    process.send_signal(number)
    process.wait(timeout=60)
    wait_for(lambda: not any(Path(f"/proc/{child}").exists() for child in started))
    assert Rows(tmp_path / "runs.jsonl").read() == []


def fits_of(pid):
    """The processes of it that fit."""
    lines = {child: Path(f"/proc/{child}/cmdline") for child in children(pid)}
    return [
        child
        for child, line in lines.items()
        if line.exists() and b"benchmarks.cell" in line.read_bytes()
    ]


def children(pid):
    path = Path(f"/proc/{pid}/task/{pid}/children")
    found = path.read_text().split() if path.exists() else []
    threads = Path(f"/proc/{pid}/task").glob("*/children")
    return found + [child for own in threads for child in own.read_text().split()]
