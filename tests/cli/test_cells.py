"""What text cells mean: odd cells are told or refused, and all ways to a prediction agree."""

import csv
import io
import json
import os
import pty
import signal
import subprocess
import sys
import time
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from pyarrow import parquet

from seplearn import TSLRegressor, load_model
from seplearn.cli.cells import as_plain_text, class_texts, text_as_missing
from seplearn.cli.csv_text import CsvText
from seplearn.cli.lines import printable
from seplearn.table.binning import NumericAxis
from tests.cli.conftest import QUICK, rows, run

SEPLEARN = [sys.executable, "-m", "seplearn"]
QUICKEST = [*QUICK, "--validation", "0"]


def table(n=100):
    random = np.random.default_rng(0)
    a, b = random.normal(10, 3, n).round(3), random.normal(size=n).round(3)
    return pd.DataFrame({"a": a, "b": b, "y": (3 * a + b).round(3)})


def written(path, frame, odd=None, **options):
    """A CSV of a frame, with other texts in column ``a`` of some rows."""
    frame = frame.astype({"a": object})
    for row, text in (odd or {}).items():
        frame.loc[row, "a"] = text
    frame.to_csv(path, index=False, **options)
    return path


def predictions(*arguments, **options):
    done = run("predict", *arguments, **options)
    assert done.exit_code == 0, done.output
    return np.array([float(row["prediction"]) for row in rows(done.stdout)])


def is_numeric(model, j=0):
    return isinstance(load_model(model).model_.bins.axes[j], NumericAxis)


@pytest.fixture(scope="module")
def plain(tmp_path_factory):
    """A model of two columns of numbers."""
    path = tmp_path_factory.mktemp("plain") / "plain.tsl"
    frame = table()
    frame.loc[::9, "b"] = np.nan
    model = TSLRegressor(2, early_stopping=False, random_state=0)
    model.fit(frame[["a", "b"]], frame["y"]).save(path)
    return path


MARKERS = ["?", "-", "--", "n/a", "N/A", "NA", "#N/A", "null", "none", ".", "NULL", "None", " ? "]


@pytest.mark.parametrize("marker", MARKERS)
def test_a_marker_among_numbers_is_missing_and_told(plain, tmp_path, marker):
    path = written(tmp_path / "t.csv", table(), {7: marker, 60: marker})
    done = run("fit", path, "--target", "y", *QUICKEST, "-o", tmp_path / "m.tsl")
    assert done.exit_code == 0, done.output
    assert is_numeric(tmp_path / "m.tsl")
    told = [line for line in done.stderr.splitlines() if line.startswith("Note: column 'a'")]
    assert len(told) == 1
    assert (
        f"2 of 100 cells are not numbers and count as missing: {marker.strip()!r} in row 7"
        in told[0]
    )
    done = run("predict", plain, path)
    assert "2 of 100 cells" in done.stderr
    expected = table()[["a", "b"]]
    expected.loc[[7, 60], "a"] = np.nan
    found = [float(row["prediction"]) for row in rows(done.stdout)]
    np.testing.assert_array_equal(found, load_model(plain).predict(expected))


@pytest.mark.filterwarnings("ignore:no stage improves")  # cells are the subject
@pytest.mark.filterwarnings("ignore:column 'a'")
@pytest.mark.parametrize("odd", ["large", "1_0", "12kg", "1,234", "0x10", "\u0663"])
def test_another_text_among_numbers_is_refused_with_ways_out(plain, tmp_path, odd):
    path = written(tmp_path / "t.csv", table(), {7: odd})
    fit = ["fit", path, "--target", "y", *QUICKEST, "-o", tmp_path / "m.tsl"]
    done = run(*fit)
    assert done.exit_code == 2
    assert done.stderr.count("\n") == 1
    assert f"1 of 100 cells cannot be read as one: {odd!r} in row 7" in done.stderr
    assert "--categorical a" in done.stderr
    assert "--missing" in done.stderr
    assert run(*fit, "--missing", odd).exit_code == 0
    assert is_numeric(tmp_path / "m.tsl")
    assert run(*fit, "--categorical", "a").exit_code == 0
    assert not is_numeric(tmp_path / "m.tsl")
    assert run(*fit, "--exclude", "a").exit_code == 0
    for command in (["predict", plain, path], ["report", plain, path, "-o", tmp_path / "r.html"],
                    ["explain", plain, path, "--row", "7"]):  # fmt: skip
        done = run(*command)
        assert done.exit_code == 2
        assert "column 'a' must hold numbers, as in training" in done.stderr
        assert f"{odd!r} in row 7" in done.stderr
        assert run(*command, "--missing", odd).exit_code == 0
    assert run("explain", plain, path, "--row", "8").exit_code == 0


@pytest.mark.filterwarnings("ignore:no stage improves")  # cells are the subject
def test_few_numbers_among_texts_are_levels(tmp_path):
    frame = table().assign(a=["12", "13", "14", "x"] * 25, b=["north", "NA"] * 50)
    frame.to_csv(tmp_path / "t.csv", index=False)
    fit = ["fit", tmp_path / "t.csv", "--target", "y", *QUICKEST, "-o", tmp_path / "m.tsl"]
    done = run(*fit)
    assert "column 'a': 75 of 100 cells are numbers, others are not ('x' in row 3" in done.stderr
    assert "column 'b': 50 cells are levels like the others" in done.stderr
    assert load_model(tmp_path / "m.tsl").model_.bins.axes[0].levels == ("12", "13", "14", "x")
    assert load_model(tmp_path / "m.tsl").model_.bins.axes[1].levels == ("NA", "north")
    run(*fit, "--missing", "NA")
    assert load_model(tmp_path / "m.tsl").model_.bins.axes[1].levels == ("north",)


def test_decimal_commas_count_wherever_they_stand(plain, tmp_path):
    """Whole numbers first, so that a look at the first rows does not show them."""
    frame = table(400)
    frame["a"] = np.where(np.arange(400) < 300, frame["a"].round(), frame["a"])
    euro = {"sep": ";", "decimal": ","}
    text = frame.assign(a=[f"{v:.0f}" if k < 300 else f"{v:.3f}".replace(".", ",")
                           for k, v in enumerate(frame["a"])])  # fmt: skip
    text.to_csv(tmp_path / "t.csv", index=False, **euro)
    done = run("fit", tmp_path / "t.csv", "--target", "y", *QUICKEST, "-o", tmp_path / "m.tsl")
    assert done.exit_code == 0, done.output
    assert is_numeric(tmp_path / "m.tsl")
    found = predictions(plain, tmp_path / "t.csv")
    np.testing.assert_array_equal(found, load_model(plain).predict(frame[["a", "b"]]))


def test_thousands_are_read_where_they_are_plain_and_refused_where_not(plain, tmp_path):
    head, path = "a;b\n", tmp_path / "t.csv"
    path.write_text(head + "1.234,50;1\n-1.234.567,25;2\n3,5;1\n")
    expected = pd.DataFrame({"a": [1234.5, -1234567.25, 3.5], "b": [1.0, 2.0, 1.0]})
    np.testing.assert_array_equal(predictions(plain, path), load_model(plain).predict(expected))
    for text, message in (
        ("1,5;1\n2.5;1\n", "decimal points ('2.5' in row 1) and decimal commas ('1,5' in row 0)"),
        ("1.234;1\n2.345;1,5\n", "column 'a' has points that may separate thousands"),
        ("1.234.567;1\n", "'1.234.567' in row 0"),
    ):
        path.write_text(head + text)
        done = run("predict", plain, path)
        assert done.exit_code == 2
        assert message in done.stderr
    path.write_text('a,y\n"1,234",5\n"2,345",6\n' * 20)
    assert "'1,234' in row 0" in run("fit", path, "--target", "y", *QUICKEST).stderr


@pytest.mark.filterwarnings("ignore:no stage improves")  # cells are the subject
@pytest.mark.parametrize(
    ("name", "values", "why"),
    [
        ("zip", np.arange(300) * 97 % 70 + 1000, "its name is that of a code"),
        ("customer_id", np.arange(300) % 150, "its name is that of a code"),
        ("place", np.arange(300) * 97 % 70 + 10115, "whole numbers of 5 digits"),
        ("n", np.arange(300) + 5, "it numbers the rows"),
        ("where", [f"0{k % 70 + 1000}" for k in range(300)], "some begin with a zero"),
        ("age", np.arange(300) % 70, None),
        ("year", np.arange(300) % 70 + 1950, None),
        ("salary", np.arange(300) % 70 * 500 + 20_000, None),
        ("width", np.arange(300) * 97 % 70 + 10115.5, None),
    ],
)
def test_codes_are_remarked(tmp_path, name, values, why):
    pd.DataFrame({name: values, "y": np.arange(300) % 7}).to_csv(tmp_path / "t.csv", index=False)
    done = run("fit", tmp_path / "t.csv", "--target", "y", *QUICKEST)
    assert done.exit_code == 0, done.output
    assert (f"column {name!r} is taken as numbers" in done.stderr) is (why is not None)
    assert (why or "") in done.stderr
    assert why is None or f"--categorical {name}" in done.stderr


def _kinds(n=240):
    """Levels and numbers of every kind that a table may have, and a target that needs them."""
    random = np.random.default_rng(1)
    frame = pd.DataFrame({
        "number": np.where(random.random(n) < 0.1, np.nan, random.normal(size=n)),
        "word": random.choice(["NA", "null", "nan", "None", " east", "true", "1e1"], n),
        "code": random.choice([1, 2, 10, 300], n),
        "holes": np.where(random.random(n) < 0.1, np.nan, random.choice([4.0, 5.0], n)),
        "flag": random.random(n) < 0.5,
        "rare": np.where(np.arange(n) % 80 == 0, "seldom", random.choice(["p", "q"], n)),
        "zip": random.choice(["01234", "1234", "99"], n),
    })  # fmt: skip
    y = (frame["number"].fillna(2) + 2 * (frame["word"] == "NA") + frame["code"] / 50
         + frame["flag"] + frame["holes"].fillna(0) + (frame["rare"] == "p")
         + 3 * (frame["zip"] == "99"))  # fmt: skip
    return frame, y.round(4)


LEVELS = ["code", "holes", "zip"]


def _new(frame):
    """Rows with levels never seen and everything missing that can be."""
    new = frame.head(40).astype({"word": object, "rare": object})
    new.loc[:3, "word"] = ["east", "10", "elsewhere", None]
    new.loc[:3, "rare"] = ["seldom", "never", "p ", None]
    new.loc[:3, "code"] = [10, 11, 300, 1]
    new.loc[:3, "zip"] = ["1234", "01234", "1234.0", "099"]
    return new.assign(flag=new["flag"].astype(bool))


def _all_ways(model, new, folder):
    """Predictions of Python, of a CSV in a file and in a pipe, and of Parquet."""
    new.to_csv(folder / "new.csv", index=False)
    new.to_parquet(folder / "new.parquet", index=False)
    ways = [
        load_model(model).predict(new),
        predictions(model, folder / "new.csv"),
        predictions(model, "-", input=(folder / "new.csv").read_bytes()),
        predictions(model, folder / "new.parquet"),
    ]
    for other in ways[1:]:
        np.testing.assert_array_equal(other, ways[0])
    return ways[0]


@pytest.mark.filterwarnings("ignore:column.*none of its values")
def test_one_table_has_one_meaning(tmp_path):
    """Fitted in Python, from CSV and from Parquet; predicted in Python, from CSV and Parquet."""
    frame, y = _kinds()
    options: dict[str, Any] = {
        "n_stages": 2,
        "early_stopping": False,
        "random_state": 0,
        "min_category_count": 5,
    }
    model = TSLRegressor(categorical_features=LEVELS, **options).fit(frame, y.rename("y"))
    model.save(tmp_path / "python.tsl")
    frame.assign(y=y).to_csv(tmp_path / "t.csv", index=False)
    frame.assign(y=y).to_parquet(tmp_path / "t.parquet", index=False)
    found = [_all_ways(tmp_path / "python.tsl", _new(frame), tmp_path)]
    for name in ("t.csv", "t.parquet"):
        done = run("fit", tmp_path / name, "--target", "y", *QUICKEST, "--min-category-count", "5",
                   *(part for level in LEVELS for part in ("--categorical", level)),
                   "-o", tmp_path / "m.tsl")  # fmt: skip
        assert done.exit_code == 0, done.output
        fitted = load_model(tmp_path / "m.tsl").model_.bins.axes
        for axis, expected in zip(fitted, model.model_.bins.axes, strict=True):
            assert getattr(axis, "levels", None) == getattr(expected, "levels", None)
            assert getattr(axis, "rare", None) == getattr(expected, "rare", None)
        found.append(_all_ways(tmp_path / "m.tsl", _new(frame), tmp_path))
    np.testing.assert_array_equal(found[1], found[0])
    np.testing.assert_array_equal(found[2], found[0])
    assert "NA" in model.model_.bins.axes[1].levels
    assert model.model_.bins.axes[5].rare == ("seldom",)


def test_texts_that_python_would_call_ten_are_not_the_level_ten(tmp_path):
    frame = pd.DataFrame({"code": [10, 20] * 50, "word": ["10", "x"] * 50})
    model = TSLRegressor(1, early_stopping=False, categorical_features=["code"], random_state=0)
    model.fit(frame, frame["code"].to_numpy() * 1.0).save(tmp_path / "m.tsl")
    texts = ["1_0", "1e1", " 10", "+10", "010", "10.5", "\u0661\u0660"]
    pd.DataFrame({"code": texts, "word": texts}).to_csv(tmp_path / "t.csv", index=False)
    unseen = model.predict(pd.DataFrame({"code": ["other"], "word": ["other"]}))
    np.testing.assert_array_equal(predictions(tmp_path / "m.tsl", tmp_path / "t.csv"),
                                  np.repeat(unseen, len(texts)))  # fmt: skip


def test_a_marker_among_truth_values_is_missing(tmp_path):
    frame = pd.DataFrame({"flag": ["TRUE", "FALSE", "TRUE", "NA"] * 30, "y": [1, 0, 1, 2] * 30})
    frame.to_csv(tmp_path / "t.csv", index=False)
    model = tmp_path / "m.tsl"
    done = run("fit", tmp_path / "t.csv", "--target", "y", *QUICKEST, "-o", model)
    assert "column 'flag': 30 cells are neither true nor false and count as missing" in done.stderr
    expected = load_model(model).predict(pd.DataFrame({"flag": [True, False, True, None] * 30}))
    np.testing.assert_array_equal(predictions(model, tmp_path / "t.csv"), expected)
    assert len(set(expected)) == 3


def test_kept_cells_are_as_they_stand(plain, tmp_path):
    texts = ["NA", "null", "nan", "007", "1.0", " x ", "", 'a "b", c', "1,5", "TRUE", "2020-01-01"]
    frame = table(len(texts))[["a", "b"]].assign(id=texts)
    frame.to_csv(tmp_path / "t.csv", index=False)
    done = run("predict", plain, tmp_path / "t.csv", "--keep", "id", "--keep", "b")
    assert [row["id"] for row in rows(done.stdout)] == texts
    cells = [row["b"] for row in rows((tmp_path / "t.csv").read_text())]
    assert [row["b"] for row in rows(done.stdout)] == cells
    for name in ("o.parquet", "o.csv"):
        run("predict", plain, tmp_path / "t.csv", "--keep", "id", "--missing", "NA",
            "-o", tmp_path / name)  # fmt: skip
    kept = parquet.read_table(tmp_path / "o.parquet")["id"].to_pylist()
    assert [text or "" for text in kept] == texts


def test_a_header_that_stands_twice_is_refused_where_it_matters(plain, tmp_path):
    path = tmp_path / "t.csv"
    for head, keep, message in (
        ("a,b,a", [], "more than one of ['a']"),
        ("a,b,c,c", ["--keep", "c"], "more than one of ['c']"),
        ("a,b,c,c", [], ""),
    ):
        path.write_text(head + "\n" + ",".join("1" for _ in head.split(",")) + "\n")
        done = run("predict", plain, path, *keep)
        assert done.exit_code == (2 if message else 0)
        assert message in done.stderr


def test_numbers_beyond_the_integers_of_a_float_are_rounded(tmp_path):
    values = [2**53 + 1 + 2 * k for k in range(120)] + [2**63 - 1]
    frame = pd.DataFrame({"a": values, "y": [(2**54 + 1) * k for k in range(121)]})
    frame.to_csv(tmp_path / "t.csv", index=False)
    frame.to_parquet(tmp_path / "t.parquet", index=False)
    model = tmp_path / "m.tsl"
    for name in ("t.csv", "t.parquet"):
        done = run("fit", tmp_path / name, "--target", "y", *QUICKEST, "-o", model)
        assert done.exit_code == 0, done.output
        expected = load_model(model).predict(frame[["a"]].astype(float))
        for new in ("t.csv", "t.parquet"):
            np.testing.assert_array_equal(predictions(model, tmp_path / new), expected)
            assert run("report", model, tmp_path / new, "-o", tmp_path / "r.html").exit_code == 0


def test_nan_is_missing_and_infinite_numbers_are_numbers(plain, tmp_path):
    (tmp_path / "t.csv").write_text("a,b\nNaN,1\ninf,nan\n-Infinity,1e400\n+5,.5\n ,\t7 \n")
    expected = pd.DataFrame({
        "a": [np.nan, np.inf, -np.inf, 5, np.nan], "b": [1, np.nan, np.inf, 0.5, 7],
    })  # fmt: skip
    done = run("predict", plain, tmp_path / "t.csv")
    found = [float(row["prediction"]) for row in rows(done.stdout)]
    np.testing.assert_array_equal(found, load_model(plain).predict(expected))
    assert done.stderr == ""
    path = written(tmp_path / "u.csv", table(), {3: "inf", 4: "NaN"})
    assert run("fit", path, "--target", "y", *QUICKEST).exit_code == 0
    done = run("fit", path, "--target", "a", *QUICKEST)
    assert "column 'a' must hold finite numbers, got inf in row 3" in done.stderr


def test_names_of_any_length_come_through(tmp_path):
    name = "long " * 100
    frame = table().rename(columns={"a": name})
    frame.to_csv(tmp_path / "t.csv", index=False)
    model = tmp_path / "m.tsl"
    assert run("fit", tmp_path / "t.csv", "--target", "y", *QUICKEST, "-o", model).exit_code == 0
    found = predictions(model, tmp_path / "t.csv")
    np.testing.assert_array_equal(found, load_model(model).predict(frame[[name, "b"]]))
    assert name not in run("info", model).stdout
    assert name in run("curves", model).stdout


HOSTILE = "a\x1b[31m\x07\u202e\nb"


def test_nothing_that_is_told_moves_a_terminal(tmp_path):
    frame = table().assign(level=[f"x{HOSTILE}", "z"] * 50)
    frame = frame.rename(columns={"a": HOSTILE, "y": f"y{HOSTILE}"})
    frame[f"y{HOSTILE}"] += 5.0 * (frame["level"] == "z")
    frame.loc[3, HOSTILE] = np.nan
    frame.to_csv(tmp_path / "t.csv", index=False, na_rep="?")
    model = tmp_path / "m.tsl"
    told = [run("fit", tmp_path / "t.csv", "--target", f"y{HOSTILE}", *QUICKEST, "-o", model)]
    told += [run("explain", model, tmp_path / "t.csv", "--row", "3"), run("info", model),
             run("predict", model, tmp_path / "t.csv", "--keep", f"k{HOSTILE}"),
             run("explain", model, tmp_path / f"none{HOSTILE}.csv")]  # fmt: skip
    assert [done.exit_code for done in told] == [0, 0, 0, 2, 2]
    for done in told:
        text = done.stdout + done.stderr
        assert r"a\x1b[31m" in text
        assert not set("\x1b\x07\u202e") & set(text)
    assert len(told[3].stderr.splitlines()) == 1
    assert HOSTILE in run("curves", model).stdout  # data are as they are
    shown = _in_a_terminal([*SEPLEARN, "curves", str(model)])
    assert rb"a\x1b[31m\x07\u202e\nb" in shown
    assert b"\x1b" not in shown


def _in_a_terminal(command):
    ours, theirs = pty.openpty()
    process = subprocess.Popen(command, stdout=theirs, stderr=subprocess.DEVNULL)
    os.close(theirs)
    shown = b""
    while True:
        try:
            more = os.read(ours, 1 << 16)
        except OSError:  # the other end is closed
            break
        if not more:
            break
        shown += more
    os.close(ours)
    assert process.wait(60) == 0
    return shown


def test_printable_leaves_writing_alone():
    for text in (
        "caf\xe9",
        "\u65e5\u672c",
        "a b",
        "\U0001f600",
        "\u0645\u06cc\u200c\u062e\u0648\u0627\u0647\u0645",
    ):
        assert printable(text) == text


@pytest.mark.parametrize("delay", [0.0, 0.05, 0.15, 0.4, 0.8])
def test_an_interrupt_is_quiet_at_any_time(files, delay):
    """It waits for a pipe in the end; before, it imports."""
    program = ("import sys; print('begun', flush=True); from seplearn.__main__ import main; "
               "sys.argv[0] = 'seplearn'; main()")  # fmt: skip
    command = [sys.executable, "-c", program, "predict", str(files / "rent.tsl"), "-"]
    process = subprocess.Popen(command,
                               stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                               stderr=subprocess.PIPE)  # fmt: skip
    assert process.stdout.readline() == b"begun\n"
    time.sleep(0.1 + delay)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=60)
    assert process.returncode == 130
    assert (out, err) == (b"", b"")


@pytest.mark.parametrize("text", ["a,b\n", "a,b\n1,2\n1\n", "a,b\n1,2,3\n", 'a,b\n"1,2\n'])
def test_bad_tables_end_a_process_in_order(plain, tmp_path, text):
    """Not only in this process: threads that outlive Python would crash it at its end."""
    (tmp_path / "t.csv").write_text(text)
    done = subprocess.run([*SEPLEARN, "predict", str(plain), str(tmp_path / "t.csv")],
                          capture_output=True, text=True, check=False)  # fmt: skip
    assert done.returncode == 2
    assert done.stderr.count("\n") == 1


RECORDS = [
    ["plain", "2"], ['5" pipe', "x"], ["two\nlines", 'say "so"'], ["", ""], ["a,b;c", "\r"],
    ["z", "1"],
]  # fmt: skip


@pytest.mark.parametrize("block", [1, 7, 64, 1 << 20])
@pytest.mark.parametrize("ending", ["\n", "\r\n"])
def test_records_are_cut_where_they_end(monkeypatch, block, ending):
    text = io.StringIO()
    writer = csv.writer(text, lineterminator=ending, quoting=csv.QUOTE_ALL)
    writer.writerows([["first", "second"], *RECORDS * 30])
    source = text.getvalue().replace('"5"" pipe"', '5" pipe').encode()
    monkeypatch.setattr("seplearn.cli.csv_text._BLOCK_BYTES", block)
    monkeypatch.setattr("seplearn.cli.csv_text._SEEN_FIRST", block)
    read = CsvText(io.BytesIO(source), "t.csv")
    assert read.names == ["first", "second"]
    parts = list(read.parts(["second", "first"]))
    whole = pa.concat_tables([part for _, part in parts])
    assert whole["first"].to_pylist() == [record[0] for record in RECORDS] * 30
    assert whole["second"].to_pylist() == [record[1] for record in RECORDS] * 30
    assert [row for row, _ in parts] == list(np.cumsum([0] + [p.num_rows for _, p in parts])[:-1])


@pytest.mark.parametrize("block", [1, 1 << 20])
@pytest.mark.parametrize("ending", ["\n", "\r\n"])
@pytest.mark.parametrize("end", ["", "\n", "\n\n\n"])
def test_an_empty_line_of_one_column_is_a_missing_cell(monkeypatch, block, ending, end):
    monkeypatch.setattr("seplearn.cli.csv_text._BLOCK_BYTES", block)
    monkeypatch.setattr("seplearn.cli.csv_text._SEEN_FIRST", block)
    source = ("x\n1\n\n3" + end).replace("\n", ending).encode()
    read = CsvText(io.BytesIO(source), "t.csv")
    whole = pa.concat_tables([part for _, part in read.parts(["x"])])
    assert whole["x"].to_pylist() == ["1", "", "3"]


@pytest.mark.parametrize("ending", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("block", [3, 4, 7, 1 << 20])
def test_a_column_has_as_many_rows_as_its_file_has_lines(monkeypatch, block, ending):
    monkeypatch.setattr("seplearn.cli.csv_text._BLOCK_BYTES", block)
    source = ("x\n" + "1.5\n" * 20_000 + "\n\n\n").replace("\n", ending).encode()
    read = CsvText(io.BytesIO(source), "t.csv")
    assert sum(part.num_rows for _, part in read.parts(["x"])) == 20_000


def test_a_header_may_begin_as_an_archive_does():
    assert CsvText(io.BytesIO(b"PKW,price\n1,2\n"), "t.csv").names == ["PKW", "price"]
    with pytest.raises(ValueError, match="looks like a spreadsheet or an archive"):
        CsvText(io.BytesIO(b"PK\x03\x04and so on"), "t.csv")


def test_numbers_are_classes_whatever_stands_beside_them():
    numbers = pa.chunked_array([[1.0, float("nan"), 0.0, None]])
    assert class_texts(numbers, ["0", "1"], False) == ["1", None, "0", None]
    assert class_texts(pa.chunked_array([[1.0]]), ["0.5", "1.0"], False) == ["1.0"]


def test_texts_of_a_part_of_a_table_get_memory_of_their_own():
    # Where an array begins inside another, if_else of pyarrow 17 to 22 made bad offsets.
    whole = pa.chunked_array([["north", "south", "", "west"], ["east", None]])
    part = as_plain_text(whole.slice(1, 4))
    assert part.to_pylist() == ["south", "", "west", "east"]
    assert not any(chunk.offset for chunk in part.chunks)
    assert as_plain_text(whole) is whole


def test_texts_for_missing_values_are_remembered(tmp_path):
    rng = np.random.default_rng(0)
    x = rng.normal(size=300)
    table = pd.DataFrame({"x": x.round(3), "y": np.where(x > 1.0, -9.0, x)})
    table.loc[table["x"] > 1.0, "x"] = -999.0
    table.to_csv(tmp_path / "t.csv", index=False)
    done = run("fit", tmp_path / "t.csv", "--target", "y", "--missing", "-999", *QUICK,
               "-o", tmp_path / "m.tsl")  # fmt: skip
    assert done.exit_code == 0, done.output
    model = load_model(tmp_path / "m.tsl")
    assert model.missing_texts_ == ("-999",)
    told = run("predict", tmp_path / "m.tsl", tmp_path / "t.csv").stdout.split()[1:]
    expected = model.predict(table[["x"]].replace(-999.0, np.nan))
    np.testing.assert_allclose(np.array(told, float), expected, rtol=1e-12)
    assert "texts for missing values: '-999'" in run("info", tmp_path / "m.tsl").stdout
    exported = run("export", tmp_path / "m.tsl", "--source", "c", "-o", tmp_path / "m.c")
    assert "'-999' meant that a value is missing" in exported.stderr


def test_an_infinite_value_is_a_text_in_json(files, tmp_path):
    rows = pd.read_csv(files / "unseen.csv")[:1].assign(distance=np.inf)
    rows.to_csv(tmp_path / "t.csv", index=False)
    done = run("explain", files / "rent.tsl", tmp_path / "t.csv", "--json", "--wanted", "900")

    def refused(text):
        raise AssertionError(text)

    changes = json.loads(done.stdout, parse_constant=refused)["changes"]
    assert "Infinity" in json.dumps(changes)


def test_commas_may_be_decimal_in_what_is_missing(tmp_path):
    cells = pa.chunked_array([["-999,0", "-999", "-999.00", "-999,000", "1,5"]])
    found, is_there = text_as_missing(cells, "-999")
    assert is_there
    assert found.to_pylist() == [None, None, None, "-999,000", "1,5"]
    assert text_as_missing(cells, "1.5")[0].to_pylist()[-1] is None


@pytest.mark.parametrize(
    "kind", [pa.string(), pa.large_string(), pa.dictionary(pa.int8(), pa.string())]
)
def test_groups_heed_the_texts_of_the_model(tmp_path, kind):
    table = pd.DataFrame({"x": np.arange(100.0), "y": np.arange(100.0)})
    table.assign(place=np.resize(["NA", "b"], 100)).to_csv(tmp_path / "t.csv", index=False)
    done = run("fit", tmp_path / "t.csv", "--target", "y", "--exclude", "place", "--missing", "NA",
               *QUICK, "-o", tmp_path / "m.tsl")  # fmt: skip
    assert done.exit_code == 0, done.output
    typed = pa.Table.from_pandas(table).append_column(
        "place", pa.array(["NA", "b"] * 50).cast(kind)
    )
    parquet.write_table(typed, tmp_path / "t.parquet")
    told = run("evaluate", tmp_path / "m.tsl", tmp_path / "t.parquet", "--by", "place").stdout
    assert "(missing)" in told
    assert "NA " not in told
