"""Fits made again: the same ones are confirmed, others replaced, and none is lost."""

import json

import pytest

from benchmarks.__main__ import _confirm
from benchmarks.confirm import confirm, line
from benchmarks.rows import Rows


def row(problem, rmse=1.0, **more):
    base = {"problem": problem, "split": 0, "rival": "seplearn", "tag": "default", "params": {}}
    own = {"status": "ok", "rmse": rmse, "r2": float("nan"), "facts": {"stages": 2}}
    return base | own | {"commit": "aaa", "cpu_seconds": 2.0, "machine": {}} | more


@pytest.fixture
def files(tmp_path):
    def write(name, *rows):
        path = tmp_path / name
        path.write_text("".join(json.dumps(one) + "\n" for one in rows))
        return Rows(path)

    return write


def test_the_same_figures_keep_their_times_and_others_give_way(files):
    old = [row("same"), row("other"), row("unclear", commit="aaa-dirty"), row("alone")]
    old += [row("shape"), row("beside", rmse=2.0), row("beside", split=1)]
    rows = files("runs.jsonl", *old)
    now = {"commit": "bbb", "cpu_seconds": 1.0, "machine": {"processor": "faster"}}
    new = [row("same", **now), row("other", rmse=1.0 + 1e-15, **now), row("unclear", **now)]
    new += [row("shape", facts={"stages": 3}, **now), row("late", **now)]
    new += [row("beside", **now), row("beside", split=1, **now)]
    failed = row("alone", **now) | {"status": "timeout"}
    counts = confirm(rows, files("again.jsonl", *new, failed))
    assert counts == {"confirmed": 1, "replaced": 5, "new": 1}
    found = {one["problem"]: one for one in rows.read()}
    assert list(found) == ["same", "other", "unclear", "alone", "shape", "beside", "late"]
    assert found["same"]["confirmed"] == "bbb"
    assert (found["same"]["commit"], found["same"]["cpu_seconds"]) == ("aaa", 2.0)
    for name in ("other", "unclear", "shape", "beside", "late"):
        assert (found[name]["commit"], found[name]["cpu_seconds"]) == ("bbb", 1.0)
        assert "confirmed" not in found[name]
    assert found["alone"]["status"] == "ok"
    assert list(rows.path.parent.glob("*.new")) == []
    assert line(rows.read()) == (
        "Our 8 fits: 6 at bbb, 2 at aaa; with the same figures to the last bit made again: "
        "1 at bbb."
    )


def test_a_row_does_not_confirm_itself(files):
    rows = files("runs.jsonl", row("same"))
    before = rows.path.read_bytes()
    counts = confirm(rows, files("again.jsonl", row("same")))
    assert counts == {"confirmed": 0, "replaced": 0, "new": 0}
    folder = rows.path.parent
    with pytest.raises(ValueError, match="--again must be another folder than --results"):
        _confirm(folder, folder)
    assert rows.path.read_bytes() == before


def test_rows_of_no_commit_confirm_nothing(files):
    rows = files("runs.jsonl", row("same"))
    before = rows.path.read_bytes()
    with pytest.raises(ValueError, match="must be of a commit, got bbb-dirty"):
        confirm(rows, files("again.jsonl", row("same", commit="bbb-dirty")))
    with pytest.raises(ValueError, match="--again must have fits with a result"):
        confirm(rows, files("again.jsonl", row("same", status="failed")))
    nameless = {name: value for name, value in row("same").items() if name != "commit"}
    with pytest.raises(ValueError, match="must be of a commit, got None"):
        confirm(rows, files("again.jsonl", nameless))
    assert rows.path.read_bytes() == before


def test_the_command_says_what_it_found(files, command_line, capsys):
    rows = files("runs.jsonl", row("same"))
    again = rows.path.parent / "again"
    again.mkdir()
    words = ["confirm", "--results", str(rows.path.parent), "--again", str(again)]
    with pytest.raises(SystemExit):
        command_line(*words)
    assert "--again must be a folder with runs.jsonl or growth.jsonl" in capsys.readouterr().err
    (again / "runs.jsonl").write_text(json.dumps(row("same", commit="bbb")) + "\n")
    command_line(*words)
    assert "runs.jsonl: 1 confirmed, 0 replaced, 0 new" in capsys.readouterr().out


def test_what_was_not_told_before_is_no_difference(files):
    rows = files("runs.jsonl", row("same"), row("lost", auc=0.5))
    now = {"commit": "bbb", "cpu_seconds": 1.0}
    again = files("again.jsonl", row("same", rows=100, **now), row("lost", **now))
    assert confirm(rows, again) == {"confirmed": 1, "replaced": 1, "new": 0}
    same, lost = rows.read()
    assert (same["rows"], same["confirmed"], same["commit"]) == (100, "bbb", "aaa")
    assert lost["commit"] == "bbb"
