"""The command line as a user meets it: processes, pipes, and a kill in the middle of writing."""

import os
import shlex
import signal
import subprocess
import sys
import time

import numpy as np
import pandas as pd
import pytest

from seplearn import TSLRegressor

SEPLEARN = [sys.executable, "-m", "seplearn"]


def test_it_runs_as_a_module_and_says_its_version():
    done = subprocess.run([*SEPLEARN, "--version"], capture_output=True, text=True, check=True)
    assert done.stdout.startswith("seplearn, version 0.")


def test_data_go_to_stdout_and_everything_else_to_stderr(files):
    with (files / "unseen.csv").open("rb") as table:
        done = subprocess.run([*SEPLEARN, "predict", str(files / "rent.tsl"), "-"], stdin=table,
                              capture_output=True, check=True)  # fmt: skip
    lines = done.stdout.decode().splitlines()
    assert lines[0] == '"prediction"'
    assert len(lines) == 201
    assert done.stderr == b""


@pytest.mark.skipif(os.name == "nt", reason="a shell closes the streams")
@pytest.mark.parametrize(("table", "closed", "code"),
                         [("unseen.csv", "2>&-", 0), ("unseen.csv", ">&-", 2),
                          ("-", "<&-", 2)])  # fmt: skip
def test_streams_may_be_closed(files, table, closed, code):
    importing = shlex.join([sys.executable, "-c", "import numpy.f2py"])
    if subprocess.run(f"{importing} {closed}", shell=True, check=False).returncode:
        pytest.skip("this version of NumPy cannot be imported without the stream")
    source = table if table == "-" else str(files / table)
    words = [*SEPLEARN, "predict", str(files / "rent.tsl"), source]
    done = subprocess.run(f"{shlex.join(words)} {closed}", shell=True, capture_output=True,
                          text=True, check=False)  # fmt: skip
    assert done.returncode == code
    assert len(done.stdout.splitlines()) == (201 if code == 0 else 0)
    assert ("there is no standard" in done.stderr) is (code == 2)


def test_a_reader_that_stops_early_does_no_harm(files, tmp_path):
    table = tmp_path / "many.csv"
    pd.concat([pd.read_csv(files / "unseen.csv")] * 400).to_csv(table, index=False)
    process = subprocess.Popen([*SEPLEARN, "predict", str(files / "rent.tsl"), str(table)],
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE)  # fmt: skip
    assert process.stdout.readline() == b'"prediction"\n'
    process.stdout.close()
    assert b"Traceback" not in process.stderr.read()
    process.stderr.close()
    assert process.wait(60) in (0, 1)


@pytest.mark.parametrize("end", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupted_write_leaves_no_half_file(files, tmp_path, end):
    """The input is a pipe that never ends: the process dies in the middle of its work."""
    target = tmp_path / "out.csv"
    command = [*SEPLEARN, "predict", str(files / "rent.tsl"), "-", "-o", str(target)]
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stderr=subprocess.PIPE)
    process.stdin.write((files / "unseen.csv").read_bytes())
    process.stdin.flush()
    deadline = time.monotonic() + 60
    while not any(tmp_path.iterdir()) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert [p.name[:10] for p in tmp_path.iterdir()] == [".seplearn-"]
    os.kill(process.pid, end)
    process.stdin.close()
    process.wait(60)
    process.stderr.close()
    assert list(tmp_path.iterdir()) == []


def test_without_click_it_says_what_to_install(tmp_path):
    (tmp_path / "click.py").write_text("raise ModuleNotFoundError('no click', name='click')")
    environment = os.environ | {"PYTHONPATH": str(tmp_path)}
    done = subprocess.run([*SEPLEARN, "demo"], env=environment, capture_output=True, text=True,
                          check=False)  # fmt: skip
    assert done.returncode == 1
    assert done.stderr.strip() == "the command line needs click: pip install 'seplearn[cli]'"


def test_a_wide_header_comes_through_a_pipe(tmp_path):
    names = [f"a rather long name of column {j}" for j in range(700)]
    X = pd.DataFrame(np.random.default_rng(0).normal(size=(60, 700)), columns=names)
    TSLRegressor(1, early_stopping=False, max_bins=5, random_state=0).fit(
        X, X[names[0]].to_numpy()
    ).save(tmp_path / "m.tsl")
    process = subprocess.Popen([*SEPLEARN, "predict", str(tmp_path / "m.tsl"), "-"],
                               stdin=subprocess.PIPE, stdout=subprocess.PIPE)  # fmt: skip
    text = X.to_csv(index=False).encode()
    for start in range(0, len(text), 3_000):  # as a slow writer would
        process.stdin.write(text[start : start + 3_000])
        process.stdin.flush()
    process.stdin.close()
    assert process.stdout.read().count(b"\n") == 61
    process.stdout.close()
    assert process.wait(60) == 0


def test_a_model_is_saved_before_it_is_told(files, tmp_path):
    command = [*SEPLEARN, "fit", str(files / "flats.csv"), "--target", "rent", "--stages", "1",
               "--early-stopping", "no", "--quiet", "-o", str(tmp_path / "m.tsl")]  # fmt: skip
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    process.stdout.close()  # nobody reads what is told
    process.wait(120)
    assert (tmp_path / "m.tsl").exists()
