"""SQL: run by real databases, it predicts what the library does."""

import copy
import math
import os
import re
import shutil
import sqlite3
import subprocess
import tempfile
from functools import cache
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from seplearn import TSLClassifier, TSLRegressor, merge
from seplearn.export.sql.curves import sum_expression
from seplearn.export.sql.dialects import DIALECTS
from seplearn.table.schema import OffsetColumn
from tests.export.models import CLASSES, MODELS, QUICK, model, predicted, records, rows, sums_of

YEARS = 2.5


def given_rows():
    """The rows of all tests with an identifier and an exposure."""
    X = rows()
    return X, X.assign(**{"i'd": np.arange(len(X)), "y'ears": YEARS})


def sqlite_result(query, frame):
    connection = sqlite3.connect(":memory:")
    try:
        connection.execute("SELECT exp(1), ln(1)")
    except sqlite3.OperationalError:  # built without functions of mathematics
        connection.create_function("exp", 1, math.exp)
        connection.create_function("ln", 1, math.log)
    names = ", ".join('"' + name.replace('"', '""') + '"' for name in frame.columns)
    connection.execute(f'CREATE TABLE "ta""ble" ({names})')
    places = ", ".join("?" * len(frame.columns))
    values = [tuple(row.values()) for row in records(frame)]
    connection.executemany(f'INSERT INTO "ta""ble" VALUES ({places})', values)
    cursor = connection.execute(query)
    columns = [one[0] for one in cursor.description]
    return pd.DataFrame(cursor.fetchall(), columns=columns)


def duckdb_result(query, frame):
    duckdb = pytest.importorskip("duckdb", reason="duckdb is not installed")
    connection = duckdb.connect()
    connection.register('ta"ble', frame)
    cursor = connection.execute(query)
    columns = [one[0] for one in cursor.description]
    return pd.DataFrame(cursor.fetchall(), columns=columns)


RUN = {"sqlite": sqlite_result, "duckdb": duckdb_result}


def check(name, result, X, added=0.0):
    """Predictions and all parts of them."""
    fitted = model(name)
    np.testing.assert_array_equal(result["i'd"], np.arange(len(X)))
    if hasattr(fitted, "classes_"):
        assert result["prediction"].tolist() == fitted.predict(X).tolist()
        chances = result[[f"probability of {label}" for label in fitted.classes_]]
        # An exponential is never below the smallest normal number: PostgreSQL would refuse it.
        np.testing.assert_allclose(chances, fitted.predict_proba(X), rtol=1e-9, atol=1e-300)
    else:
        expected = predicted(name, X) * math.exp(added)
        np.testing.assert_allclose(result["prediction"], expected, rtol=1e-9)
    for own in sums_of(fitted, X):
        of, on = ("", "") if own.label is None else (f" of {own.label}", f" for {own.label}")
        for s, values in enumerate(own.stages.T):
            np.testing.assert_allclose(result[f"stage {s}{of}"], values, rtol=1e-9, atol=1e-12)
        for feature, values in zip(X.columns, own.effects.T, strict=True):
            if values.any():
                found = result[f"main effect of {feature}{on}"]
                np.testing.assert_allclose(found, values, rtol=1e-9, atol=1e-12)
        if fitted.model_.link.name != "identity":
            np.testing.assert_allclose(result[f"sum{of}"], own.total + added, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("dialect", list(RUN))
@pytest.mark.parametrize("name", MODELS)
def test_a_database_predicts_the_same(name, dialect):
    X, frame = given_rows()
    query = model(name).to_sql('ta"ble', dialect, explain=True, keep=["i'd"])
    added = math.log(YEARS) if name == "log" else 0.0
    check(name, RUN[dialect](query, frame), X, added)


def test_standard_sql_runs_where_functions_have_its_names():
    """DuckDB knows them all; infinite numbers are not of the standard."""
    X, frame = given_rows()
    finite = X.replace([np.inf, -np.inf], np.nan)
    frame[X.columns] = finite
    query = model("effects").to_sql('ta"ble', "standard", explain=True, keep=["i'd"])
    frame = frame.astype(object).where(frame.notna(), None)
    check("effects", duckdb_result(query, frame), finite)


def test_without_explanations_there_is_the_prediction_alone():
    _, frame = given_rows()
    result = sqlite_result(model("effects").to_sql('ta"ble', "sqlite"), frame)
    assert list(result.columns) == ["prediction"]


@pytest.fixture(scope="module")
def postgresql():
    """psql of a server of its own, that listens to a socket in a folder only."""
    found = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"))
    initdb = shutil.which("initdb") or (str(found[-1]) if found else None)
    if initdb is None:
        pytest.skip("no PostgreSQL server is installed")
    user = None  # the server does not start for the superuser
    if os.geteuid() == 0:
        import pwd  # not on Windows, where there is no superuser

        try:
            user = pwd.getpwnam("postgres").pw_name
        except KeyError:
            pytest.skip("PostgreSQL does not start for the superuser, and there is no other user")
    tools = Path(initdb).resolve().parent
    psql = shutil.which("psql", path=str(tools)) or shutil.which("psql")
    if psql is None:
        pytest.skip("psql is not installed")
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        if user is not None:
            shutil.chown(folder, user)

        def run(*command):
            # Not captured: the server would keep a pipe open, and reading it would never end.
            done = subprocess.run(
                command, user=user, cwd=folder, check=False,
                stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
            )  # fmt: skip
            assert done.returncode == 0, command

        data = f"{folder}/data"
        control = [tools / "pg_ctl", "-D", data, "-w"]
        run(initdb, "-D", data, "-U", "tester", "-E", "UTF8", "--auth=trust")
        options = f"-k {folder} -c listen_addresses='' -c fsync=off"
        run(*control, "-o", options, "-l", f"{folder}/log", "start")
        yield [psql, "-h", folder, "-U", "tester", "-d", "postgres", "-X", "-q"]
        run(*control, "-m", "immediate", "stop")


@pytest.mark.parametrize("name", MODELS)
def test_postgresql_predicts_the_same(name, postgresql, tmp_path):
    X, frame = given_rows()
    query = model(name).to_sql('ta"ble', "postgresql", explain=True, keep=["i'd"])
    kinds = ["double precision", "double precision", "text", "boolean", "int", "double precision"]
    quoted = ['"' + column.replace('"', '""') + '"' for column in frame.columns]
    columns = ", ".join(f"{c} {kind}" for c, kind in zip(quoted, kinds, strict=True))
    lines = [",".join(_csv_cell(value) for value in row.values()) for row in records(frame)]
    (tmp_path / "rows.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    script = f"""
CREATE TEMP TABLE "ta""ble" ({columns});
\\copy "ta""ble" FROM '{tmp_path / "rows.csv"}' CSV
\\pset format csv
{query};
"""
    (tmp_path / "script.sql").write_text(script, encoding="utf-8")
    command = [*postgresql, "-v", "ON_ERROR_STOP=1", "-f", str(tmp_path / "script.sql")]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[:2000]
    (tmp_path / "out.csv").write_text(done.stdout, encoding="utf-8")
    result = pd.read_csv(tmp_path / "out.csv").sort_values("i'd")
    ends = ["", *(f" for {label}" for label in CLASSES)]
    whole = [f"main effect of {c}{end}" for c in X.columns for end in ends]
    long = {name.encode()[:63].decode(errors="ignore"): name for name in whole}
    check(name, result.rename(columns=long), X, math.log(YEARS) if name == "log" else 0.0)


def _csv_cell(value):
    if value is None:
        return ""
    return '"' + str(value).replace('"', '""') + '"' if isinstance(value, str) else str(value)


def test_nan_is_missing_as_null_is():
    frame = pd.DataFrame({"a": [np.nan, 1.0, 2.0] * 100})
    fitted = TSLRegressor(**QUICK).fit(frame, [5.0, 1.0, 2.0] * 100)
    duckdb = pytest.importorskip("duckdb", reason="duckdb is not installed")
    values = "(VALUES ('nan'::DOUBLE), (NULL)) AS source_rows(a)"
    query = fitted.to_sql("t", "duckdb").replace('FROM "t" AS source_rows', f"FROM {values}")
    found = [row[0] for row in duckdb.connect().execute(query).fetchall()]
    np.testing.assert_allclose(found, [fitted.predict(frame)[0]] * 2, rtol=1e-9)


@pytest.mark.parametrize("dialect", list(RUN))
@pytest.mark.parametrize("kind", [int, float])
def test_levels_that_are_whole_numbers_may_have_any_type(dialect, kind):
    codes = np.resize([7, -3, 12, 40], 300)
    X = pd.DataFrame({"code": codes})
    fitted = TSLRegressor(**QUICK, categorical_features=["code"]).fit(X, codes % 5)
    expected = fitted.predict(X)
    assert np.ptp(expected) > 1
    found = RUN[dialect](fitted.to_sql('ta"ble', dialect), X.astype(kind))
    np.testing.assert_allclose(found["prediction"], expected, rtol=1e-9)


def test_texts_are_quoted_as_a_database_reads_them():
    hostile = "a'b\\c\n"
    assert DIALECTS["postgresql"].literal(hostile) == "E'a''b\\\\c\n'"
    assert DIALECTS["bigquery"].literal(hostile) == "'a\\'b\\\\c\\x0a'"
    assert DIALECTS["bigquery"].identifier("a`b") == "`a\\`b`"
    assert DIALECTS["postgresql"].literal("a\0") is None
    one = sqlite3.connect(":memory:").execute(f"SELECT {DIALECTS['sqlite'].literal('a' + chr(0))}")
    assert one.fetchone()[0] == "a\0"
    bigquery = model("effects").to_sql(("project", "da`ta", "t"), "bigquery")
    assert "FROM `project`.`da\\`ta`.`t`" in bigquery


def test_sums_of_many_terms_are_not_nested_deeply():
    text = sum_expression(["1"] * 5_000)
    assert sqlite3.connect(":memory:").execute(f"SELECT {text}").fetchone()[0] == 5_000


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ({"dialect": "oracle"}, ValueError, "dialect must be one of 'duckdb', .*got 'oracle'"),
        ({"table": 3}, TypeError, "table must be a name, or a sequence of names.*got 3"),
        ({"table": ""}, ValueError, "table must be a name"),
        ({"explain": 1}, TypeError, "explain must be True or False, got 1"),
        ({"keep": "id"}, TypeError, "keep must be a sequence of names of columns, got 'id'"),
        ({"keep": None}, TypeError, "keep must be a sequence of names of columns, got None"),
        ({"keep": ["sum"]}, ValueError, "keep must be names that predictions do not have"),
        ({"keep": ["a\0"]}, ValueError, "names of columns must be texts that SQL can write"),
    ],
)
def test_bad_arguments_are_refused(arguments, error, message):
    with pytest.raises(error, match=message):
        model("constant").to_sql(**arguments)


def test_features_that_differ_by_case_alone_are_refused_where_columns_cannot():
    frame = pd.DataFrame({"a": np.arange(60.0), "A": np.arange(60.0) % 7})
    fitted = TSLRegressor(**QUICK).fit(frame, frame["a"] * frame["A"])
    assert '"A"' in fitted.to_sql("t", "postgresql")
    with pytest.raises(ValueError, match="which sqlite ignores, got 'a' and 'A'"):
        fitted.to_sql("t", "sqlite")


@pytest.mark.parametrize("dialect", list(RUN))
def test_a_column_that_is_not_there_is_missed(dialect):
    """SQLite takes a name in double quotes for a text where no column has it."""
    X, frame = given_rows()
    fitted = model("identity")
    used = fitted.model_.bins
    j = next(j for stage in fitted.stages_ for j in stage.features(used))
    query = fitted.to_sql('ta"ble', dialect)
    missed = r"no such column|not found|does not have a column"
    with pytest.raises(Exception, match=missed):
        RUN[dialect](query, frame.drop(columns=X.columns[j]))
    with pytest.raises(Exception, match=missed):
        RUN[dialect](fitted.to_sql('ta"ble', dialect, keep=["nowhere"]), frame)


def test_columns_of_the_result_are_told_apart():
    X = pd.DataFrame({"x": np.arange(60.0)})

    def of(*labels):
        return TSLClassifier(**QUICK).fit(X, np.repeat(np.array(labels, dtype=object), 30))

    with pytest.raises(ValueError, match=r"sqlite tells apart, got 'probability of A' and"):
        of("A", "a").to_sql("t", "sqlite")
    assert "probability of A" in of("A", "a").to_sql("t", "postgresql")
    with pytest.raises(ValueError, match="bigquery tells apart, got 'probability of a_b' and"):
        of("a.b", "a/b").to_sql("t", "bigquery")
    with pytest.raises(ValueError, match=r"must have names of SQL, got 'probability of a\\x00b'"):
        of("a\0b", "c").to_sql("t", "sqlite")
    with pytest.raises(ValueError, match="sqlite tells apart, got 'Prediction' and 'prediction'"):
        of("a", "b").to_sql("t", "sqlite", keep=["Prediction"])
    large = TSLClassifier(**QUICK).fit(X, np.repeat(np.array([1, 2**64 - 1], np.uint64), 30))
    with pytest.raises(ValueError, match="labels of classes must be texts, or numbers of 64 bits"):
        large.to_sql("t", "sqlite")


def test_a_score_is_computed_once_where_a_database_would_repeat_it():
    """PostgreSQL took minutes for a table of three classes, and SQLite repeats columns too."""
    for dialect, end in (("postgresql", "OFFSET 0"), ("sqlite", "LIMIT -1 OFFSET 0")):
        query = model("classes").to_sql("t", dialect)
        assert len(re.findall(rf"AS layer_\d {end}\n\)", query)) == query.count("AS layer_") - 1


@cache
def letters():
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(400, 3)), columns=["a", "b", "c"])
    y = np.resize([chr(97 + k) for k in range(26)], 400)
    quick = QUICK | {"n_stages": 1, "max_bins": 20, "n_grids": 1}
    return TSLClassifier(**quick, main_effects=False).fit(X, y), X


@pytest.mark.parametrize("dialect", list(RUN))
def test_many_classes_are_within_what_a_database_allows(dialect):
    fitted, X = letters()
    result = RUN[dialect](fitted.to_sql('ta"ble', dialect), X[:40])
    chances = result[[f"probability of {label}" for label in fitted.classes_]]
    np.testing.assert_allclose(chances, fitted.predict_proba(X[:40]), rtol=1e-9)
    assert result["prediction"].tolist() == fitted.predict(X[:40]).tolist()


def test_an_offset_of_log_odds_is_a_column():
    X, frame = given_rows()
    fitted = copy.copy(model("logit"))
    fitted.offset_column_ = OffsetColumn("y'ears", False)
    expected = fitted.predict_proba(X, np.full(len(X), YEARS))
    result = sqlite_result(fitted.to_sql('ta"ble', "sqlite", explain=True), frame)
    chances = result[[f"probability of {label}" for label in fitted.classes_]]
    np.testing.assert_allclose(chances, expected, rtol=1e-9)
    assert (result["offset"] == YEARS).all()


@pytest.mark.parametrize("dialect", list(RUN))
@pytest.mark.parametrize("value", [None, float("inf"), -float("inf")])
def test_no_offset_is_no_prediction(dialect, value):
    X, frame = given_rows()
    unknown = frame.assign(**{"y'ears": [value, *[YEARS] * (len(X) - 1)]})
    fitted = copy.copy(model("logit"))
    fitted.offset_column_ = OffsetColumn("y'ears", False)
    result = RUN[dialect](fitted.to_sql('ta"ble', dialect), unknown)
    chances = result[[f"probability of {label}" for label in fitted.classes_]]
    assert chances.iloc[0].isna().all()
    assert pd.isna(result["prediction"][0])
    assert chances[1:].notna().all(axis=None)
    counted = copy.copy(model("log"))
    counted.offset_column_ = OffsetColumn("y'ears", True)
    result = RUN[dialect](counted.to_sql('ta"ble', dialect), unknown)
    assert pd.isna(result["prediction"][0])
    assert result["prediction"][1:].notna().all()


@pytest.mark.parametrize("is_exposure", [False, True])
def test_an_offset_that_is_not_a_number_is_no_prediction(is_exposure):
    _, frame = given_rows()
    pa = pytest.importorskip("pyarrow", reason="DuckDB reads NaN of pandas as NULL, of Arrow not")
    table = pa.Table.from_pandas(frame.drop(columns="y'ears"), preserve_index=False)
    years = pa.array(np.full(len(frame), np.nan), from_pandas=False)
    counted = copy.copy(model("log"))
    counted.offset_column_ = OffsetColumn("y'ears", is_exposure)
    result = duckdb_result(counted.to_sql('ta"ble', "duckdb"), table.append_column("y'ears", years))
    assert result["prediction"].isna().all()
    assert set(result["prediction"]) == {None}


@pytest.mark.parametrize("dialect", list(RUN))
@pytest.mark.parametrize("exposure", [0.0, -1.0])
def test_no_exposure_is_no_prediction_and_other_rows_have_theirs(dialect, exposure):
    X, frame = given_rows()
    counted = copy.copy(model("log"))
    counted.offset_column_ = OffsetColumn("y'ears", True)
    rows = frame.assign(**{"y'ears": [exposure, *[YEARS] * (len(X) - 1)]})
    result = RUN[dialect](counted.to_sql('ta"ble', dialect), rows)
    assert pd.isna(result["prediction"][0])
    expected = counted.predict(X, np.full(len(X), np.log(YEARS)))
    np.testing.assert_allclose(result["prediction"][1:].astype(float), expected[1:], rtol=1e-9)


def of_codes():
    """A model of levels that are whole numbers, some of them large, and of truth values."""
    random = np.random.default_rng(0)
    codes, ids = random.choice([0, 7, 120], 600), random.choice([1, 15], 600) * 10**15
    flags = random.random(600) < 0.5
    X = pd.DataFrame({"code": codes, "id": ids, "flag": flags})
    y = codes * 0.1 + (ids > 10**15) * 3.0 + flags * 5.0
    fitted = TSLRegressor(**QUICK, categorical_features=["code", "id"]).fit(X, y)
    return fitted, X.drop_duplicates()


def test_whole_numbers_are_levels_whatever_their_type():
    fitted, X = of_codes()
    expected = fitted.predict(X)
    assert np.ptp(expected) > 5
    duckdb = pytest.importorskip("duckdb", reason="duckdb is not installed")
    connection = duckdb.connect()
    connection.register("rows", X)
    kinds = {"code": ("DECIMAL(10,2)", "DOUBLE", "INTEGER", "VARCHAR"),
             "id": ("DECIMAL(20,2)", "DOUBLE", "HUGEINT", "VARCHAR"),
             "flag": ("DECIMAL(4,2)", "DOUBLE", "BOOLEAN", "VARCHAR")}  # fmt: skip
    for code, identity, flag in zip(*kinds.values(), strict=True):
        chosen = f"code::{code} AS code, id::{identity} AS id, flag::{flag} AS flag"
        if flag.startswith("DECIMAL"):
            chosen = chosen.replace("flag::", "flag::INT::")
        chosen = chosen.replace("code::DOUBLE", "-(-code::DOUBLE)")  # -0.0 for 0
        connection.execute(f"CREATE OR REPLACE TABLE t AS SELECT {chosen} FROM rows")
        found = connection.execute(fitted.to_sql("t", "duckdb")).fetchall()
        np.testing.assert_allclose([row[0] for row in found], expected, rtol=1e-9)
    result = sqlite_result(fitted.to_sql('ta"ble', "sqlite"), X.astype(float))
    np.testing.assert_allclose(result["prediction"], expected, rtol=1e-9)


@pytest.mark.parametrize("dialect", list(RUN))
def test_truth_values_may_be_numbers(dialect):
    flags = np.resize([True, False, False], 300)
    fitted = TSLRegressor(**QUICK).fit(pd.DataFrame({"flag": flags}), flags * 4.0)
    expected = fitted.predict(pd.DataFrame({"flag": [1.0, 0.0]}))
    assert np.ptp(expected) > 1
    for kind in (float, int):
        frame = pd.DataFrame({"flag": np.array([1, 0], dtype=kind)})
        result = RUN[dialect](fitted.to_sql('ta"ble', dialect), frame)
        np.testing.assert_allclose(result["prediction"], expected, rtol=1e-9)


def test_a_constant_is_predicted_without_any_column():
    with pytest.warns(UserWarning, match="the model is one"):
        constant = TSLRegressor(**QUICK).fit(np.zeros((30, 1)), np.arange(30.0))
    frame = pd.DataFrame({"x0": [1.0, 2.0]})
    for dialect, run in RUN.items():
        found = run(constant.to_sql('ta"ble', dialect), frame)
        assert np.ravel(found).tolist() == [14.5, 14.5]


def test_large_whole_levels_are_known_in_columns_of_numbers():
    levels = np.array([1.0, 2.0, 4000000000000001.0, 4000000000000002.0, 2.0**60])
    rng = np.random.default_rng(0)
    number = rng.integers(0, 5, 200)
    X = pd.DataFrame({"c": levels[number]})
    fitted = TSLRegressor(**QUICK, categorical_features=["c"]).fit(X, number % 3 + 0.1)
    frame = pd.DataFrame({"c": levels})
    expected = fitted.predict(frame)
    assert len(np.unique(expected.round(3))) == 3
    for dialect, run in RUN.items():
        found = np.ravel(run(fitted.to_sql('ta"ble', dialect), frame))
        np.testing.assert_allclose(found, expected, rtol=1e-9)


@pytest.mark.parametrize("text", ["", "NA", " ", "unknown"])
def test_a_text_that_is_no_number_is_missing_in_sqlite(text):
    X = pd.DataFrame({"x": np.linspace(-3.0, 3.0, 200)})
    fitted = TSLRegressor(**QUICK).fit(X, X["x"].to_numpy() ** 2)
    frame = pd.DataFrame({"x": np.array([text, "2.5", 2.5, None], dtype=object)})
    found = sqlite_result(fitted.to_sql('ta"ble', "sqlite"), frame)["prediction"]
    expected = fitted.predict(pd.DataFrame({"x": [np.nan, 2.5, 2.5, np.nan]}))
    np.testing.assert_allclose(found, expected, rtol=1e-9)


def test_truth_values_are_known_beside_zeros_and_ones():
    """A merge of models to whose features other levels belong has all of them."""
    rng = np.random.default_rng(0)
    truth = rng.random(300) < 0.5
    named = TSLRegressor(**QUICK).fit(pd.DataFrame({"new": truth}), truth + 0.1 * rng.random(300))
    coded = TSLRegressor(**QUICK).fit(
        pd.DataFrame({"new": np.where(truth, "1", "2")}), truth * 3.0 + 0.1 * rng.random(300)
    )
    both = merge([named, coded])
    assert set(both.model_.bins.axes[0].levels) == {"0", "1", "2", "False", "True"}
    duckdb = pytest.importorskip("duckdb", reason="duckdb is not installed")
    connection = duckdb.connect()
    connection.execute("CREATE TABLE t AS SELECT unnest([TRUE, FALSE]) AS new")
    found = [row[0] for row in connection.execute(both.to_sql("t", "duckdb")).fetchall()]
    expected = both.predict(pd.DataFrame({"new": [True, False]}))
    assert np.ptp(expected) > 0.1
    np.testing.assert_allclose(found, expected, rtol=1e-9)


def test_offsets_of_no_column_are_warned_of():
    rng = np.random.default_rng(0)
    X, years = pd.DataFrame({"x": rng.normal(size=200)}), rng.uniform(0.5, 9.0, 200)
    counts = rng.poisson(years * np.exp(X["x"]))
    fitted = TSLRegressor(**QUICK, loss="poisson").fit(X, counts, offset=np.log(years))
    with pytest.warns(UserWarning, match="does not know which column they are"):
        fitted.to_sql("t", "sqlite")
    fitted.offset_column_ = OffsetColumn("years", True)
    assert "ln(" in fitted.to_sql("t", "sqlite")
