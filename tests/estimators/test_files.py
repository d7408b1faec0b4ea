"""Fits to tables in files: the model of the same rows in memory, or one clear error."""

from __future__ import annotations

import copy
import errno
import json
import os
import tempfile

import numpy as np
import pandas as pd
import polars
import pyarrow as pa
import pytest
from pyarrow import dataset, feather, parquet

from seplearn import TSLClassifier, TSLRegressor, _spill, datasets
from seplearn.fitting.joint import fit as joint
from seplearn.table import blocks, summaries
from seplearn.table.binning import axis_of_values
from seplearn.table.files import source_of_file

N = 900
PARAMETERS = {"n_stages": 2, "random_state": 0, "early_stopping": False}


@pytest.fixture(scope="module")
def table():
    """Numbers, levels and missing values; a level that only one file has."""
    X, y = datasets.rents(N, random_state=0)
    rng = np.random.default_rng(1)
    X.loc[rng.random(N) < 0.05, X.columns[0]] = np.nan
    X.loc[N - 5 :, "district"] = "Outskirts"
    weight = rng.choice([0.0, 0.7, 1.3], N)
    more = {"rent": y, "w": weight, "shift": rng.normal(0, 0.1, N), "dear": y > 900.0}
    more |= {"times": 1 + np.arange(N) % 4}
    more |= {"years": rng.uniform(0.5, 2.0, N), "block": np.arange(N) // 30}
    return X.assign(**more, size=np.array(["s", "m", "l"])[np.digitize(y, [700.0, 1000.0])])


FEATURES = ["area", "rooms", "district"]


@pytest.fixture(scope="module")
def folder(table, tmp_path_factory):
    folder = tmp_path_factory.mktemp("parts")
    for k, end in enumerate((250, 700, N)):
        first = (0, 250, 700)[k]
        parquet.write_table(
            pa.Table.from_pandas(table[first:end], preserve_index=False),
            folder / f"part-{k}.parquet",
            row_group_size=100,
        )
    return folder


@pytest.fixture
def small_blocks(monkeypatch):
    """Several blocks, rows looked at that are not all, and no array stays in memory."""
    monkeypatch.setattr(blocks, "ROWS_PER_BLOCK", 130)
    monkeypatch.setattr(blocks, "ROWS_LOOKED_AT", 400)
    monkeypatch.setattr(_spill, "RESIDENT", 0)


@pytest.fixture
def spill_folder(tmp_path, monkeypatch):
    """Where temporary folders are made; a test may look what was left behind."""
    folder = tmp_path / "spill"
    folder.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    yield folder
    assert list(folder.iterdir()) == []


def plain(model):
    kept = model.to_dict()
    kept.pop("offset", None)
    return json.dumps(kept)


@pytest.mark.parametrize(
    ("parameters", "columns"),
    [
        ({"early_stopping": "auto"}, {}),
        ({}, {"sample_weight": "w"}),
        ({"loss": "poisson", "main_effects": True}, {"sample_weight": "w", "offset": "shift"}),
        ({"loss": "poisson"}, {"exposure": "years"}),
        ({"loss": "huber"}, {}),
        ({"loss": "quantile"}, {"sample_weight": "w"}),
        ({"early_stopping": True}, {"sample_weight": "times"}),  # which tell less than their sum
        ({"early_stopping": True}, {"groups": "block", "sample_weight": "w"}),
        ({"monotonic_cst": {"area": 1}, "n_starts": 2}, {}),
        ({"refine": "scalars"}, {}),
        ({"n_bootstrap": 2}, {}),
    ],
)
def test_the_model_is_that_of_the_rows_in_memory(
    table, folder, small_blocks, spill_folder, parameters, columns
):
    model = TSLRegressor(**(PARAMETERS | parameters))
    given = {name: table[column] for name, column in columns.items()}
    if "exposure" in given:
        given = {"offset": np.log(given["exposure"])}
    expected = TSLRegressor(**model.get_params()).fit(table[FEATURES], table["rent"], **given)
    model.fit_files(f"{folder}/part-*.parquet", "rent", features=FEATURES, **columns)
    assert plain(model) == plain(expected)
    assert len(model.stages_) + (model.model_.effects is not None) > 0
    np.testing.assert_array_equal(model.model_.reference.codes, expected.model_.reference.codes)
    np.testing.assert_array_equal(model.predict(table[FEATURES]), expected.predict(table[FEATURES]))
    assert model.provenance_ == expected.provenance_
    spread, other = model.model_.spread, expected.model_.spread
    assert (spread is None) == (other is None)
    if other is not None:
        np.testing.assert_array_equal(spread.scores, other.scores)
        np.testing.assert_array_equal(spread.curves, other.curves)


def test_intervals_of_outcomes_and_an_eval_set(table, folder, small_blocks, spill_folder):
    X, y = table[FEATURES], table["rent"]
    given = {"eval_set": (X[:200], y[:200])}
    model = TSLRegressor(**(PARAMETERS | {"early_stopping": True}))
    expected = TSLRegressor(**model.get_params()).fit(X, y, **given)
    model.fit_files(folder, "rent", features=FEATURES, **given)
    assert plain(model) == plain(expected)
    np.testing.assert_array_equal(
        model.predict_interval(X, kind="outcome"), expected.predict_interval(X, kind="outcome")
    )


@pytest.mark.parametrize("target", ["dear", "size"])
def test_classes(table, folder, small_blocks, spill_folder, target):
    model = TSLClassifier(**PARAMETERS, class_weight="balanced")
    expected = TSLClassifier(**model.get_params())
    expected.fit(table[FEATURES], table[target], table["w"])
    model.fit_files(folder, target, features=FEATURES, sample_weight="w")
    assert plain(model) == plain(expected)
    assert model.classes_.tolist() == expected.classes_.tolist()
    assert model.classes_.dtype == expected.classes_.dtype


def test_a_category_without_rows_is_no_class(table, tmp_path, spill_folder):
    labels = pd.Categorical(table["dear"].map({True: "v", False: "u"}), ["u", "unused", "v"])
    table[FEATURES].assign(label=labels).to_parquet(tmp_path / "t.parquet")
    model = TSLClassifier(**PARAMETERS).fit_files(tmp_path / "t.parquet", "label")
    assert model.classes_.tolist() == ["u", "v"]
    expected = TSLClassifier(**PARAMETERS)
    expected.fit(table[FEATURES], pd.Series(labels, name="label"))
    assert plain(model) == plain(expected)


@pytest.mark.parametrize(("kind", "target"), [(TSLRegressor, "rent"), (TSLClassifier, "dear")])
def test_warm_start_goes_on_as_in_memory(
    table, folder, small_blocks, spill_folder, monkeypatch, kind, target
):
    """From a model with stages, to which others are added."""
    monkeypatch.setattr(joint, "STAGE_SWEEPS", 16)
    files, features = folder / "part-1.parquet", ["area", "rooms"]
    rows = table[250:700]
    first = kind(**(PARAMETERS | {"n_stages": 1, "main_effects": False}), warm_start=True)
    first.fit(rows[features], rows[target])
    expected, model = copy.deepcopy(first), copy.deepcopy(first)
    expected.set_params(n_stages=2).fit(rows[features], rows[target])
    model.set_params(n_stages=2).fit_files(files, target, features=features)
    assert plain(model) == plain(expected)
    assert plain(model) != plain(first)
    assert len(model.history_) == len(expected.history_) > len(first.history_) > 0
    before = plain(model)
    with pytest.raises(ValueError, match="columns of the fit that warm_start goes on from"):
        model.fit_files(files, target, features=["area"])
    model.set_params(early_stopping="auto")
    with pytest.raises(ValueError, match="groups must not be given where warm_start goes on"):
        model.fit_files(files, target, features=features, groups="block")
    assert plain(model) == before


@pytest.mark.parametrize("way", ["csv", "ipc", "dataset", "filtered", "lazy", "list"])
def test_whatever_rows_come_from(table, folder, tmp_path, spill_folder, way):
    small = table[["area", "rooms", "rent"]]
    whole = pa.Table.from_pandas(small, preserve_index=False)
    if way == "csv":
        files = tmp_path / "rows.csv"
        small.to_csv(files, index=False)
    elif way == "ipc":
        files = tmp_path / "rows.arrow"
        feather.write_feather(whole, files)
    elif way == "dataset":
        files = dataset.dataset(str(folder))
    elif way == "filtered":
        files = dataset.dataset(str(folder)).filter(pa.compute.field("area") > -1.0)
        small = small[small["area"] > -1.0]
    elif way == "lazy":
        files = polars.scan_parquet(f"{folder}/part-*.parquet")
    else:
        files = [folder / "part-0.parquet", f"{folder}/part-[12].parquet"]
    model = TSLRegressor(**PARAMETERS).fit_files(files, "rent", features=["area", "rooms"])
    expected = TSLRegressor(**PARAMETERS).fit(small[["area", "rooms"]], small["rent"])
    assert plain(model) == plain(expected)
    assert model._schema.library == ("polars" if way == "lazy" else "pyarrow")


def test_fit_says_where_streamed_tables_go(folder):
    for X in (dataset.dataset(str(folder)), polars.scan_parquet(folder / "part-0.parquet")):
        with pytest.raises(TypeError, match="fit_files"):
            TSLRegressor().fit(X, np.ones(3))


def written(folder, name, **columns):
    parquet.write_table(pa.table(columns), folder / name, row_group_size=2)
    return folder / name


GOOD = {"x": [1.0, 2.0, 3.0, 4.0], "y": [1.0, 2.0, 2.0, 1.0]}


@pytest.mark.parametrize(
    ("second", "keywords", "message"),
    [
        ({"x": [1.0], "z": [1.0]}, {}, r"b\.parquet must have the columns of .*: it lacks"),
        ({"x": ["a"], "y": [1.0]}, {}, r"b\.parquet: column 'x' must hold the same kind"),
        ({"x": [1.0, 1.0], "y": [1.0, None]}, {}, r"b\.parquet: column 'y' .* got one in row 1"),
        ({"x": [1.0], "y": [np.inf]}, {}, r"b\.parquet: column 'y' .* inf in row 0"),
        (GOOD, {"target": "z"}, r"target must be a column of .*a\.parquet"),
        (GOOD, {"sample_weight": "y"}, r"sample_weight must be another column than target"),
        (GOOD, {"features": ["y"]}, r"features must not have the column of target"),
        (GOOD, {"features": []}, r"features must have at least one column"),
        (GOOD, {"features": ["x", "x"]}, r"features must name a column once, got 'x' twice"),
    ],
)  # fmt: skip
def test_one_error_that_names_the_file(tmp_path, spill_folder, second, keywords, message):
    written(tmp_path, "a.parquet", **GOOD)
    written(tmp_path, "b.parquet", **second)
    model = TSLRegressor()
    with pytest.raises(ValueError, match=message):
        model.fit_files(f"{tmp_path}/*.parquet", **({"target": "y"} | keywords))
    assert not hasattr(model, "model_")


def test_a_huge_offset_is_named(tmp_path, spill_folder):
    path = written(tmp_path, "a.parquet", x=[1.0, 2.0], y=[1.0, 2.0], o=[1.0, 1e305])
    with pytest.raises(ValueError, match=r"'o' must hold numbers of a size of at most 1e\+303"):
        TSLRegressor().fit_files(path, target="y", offset="o")


def test_a_negative_weight_is_named(tmp_path, spill_folder):
    path = written(tmp_path, "a.parquet", x=[1.0, 2.0], y=[1.0, 2.0], w=[1.0, -1.0])
    with pytest.raises(ValueError, match=r"a\.parquet: column 'w' .* got -1.0 in row 1"):
        TSLRegressor().fit_files(path, "y", sample_weight="w")


def test_labels_that_are_missing_are_named(tmp_path, spill_folder):
    path = written(tmp_path, "a.parquet", x=[1.0, 2.0, 3.0], y=["a", "b", None])
    with pytest.raises(ValueError, match=r"a\.parquet: column 'y' .* missing values, .* row 2"):
        TSLClassifier().fit_files(path, "y")


def test_a_target_of_texts_is_no_number(tmp_path, spill_folder):
    path = written(tmp_path, "a.parquet", x=[1.0, 2.0], y=["a", "b"])
    with pytest.raises(TypeError, match=r"target must be a column of numbers or truth"):
        TSLRegressor().fit_files(path, "y")


def test_a_damaged_row_group_is_named(tmp_path, spill_folder):
    rng = np.random.default_rng(0)
    path = tmp_path / "a.parquet"
    columns = {"x": rng.normal(size=400), "y": rng.normal(size=400)}
    parquet.write_table(pa.table(columns), path, row_group_size=200, compression="zstd")
    place = parquet.ParquetFile(path).metadata.row_group(1).column(0).data_page_offset
    damaged = bytearray(path.read_bytes())
    damaged[place : place + 300] = os.urandom(300)
    path.write_bytes(damaged)
    with pytest.raises(ValueError, match=r"a\.parquet cannot be read after row \d+"):
        TSLRegressor().fit_files(path, "y")


def test_no_such_file_and_no_table(tmp_path, spill_folder):
    with pytest.raises(FileNotFoundError, match="which names none"):
        TSLRegressor().fit_files(f"{tmp_path}/*.parquet", "y")
    (tmp_path / "a.parquet").write_bytes(b"PAR1 and no more")
    with pytest.raises(ValueError, match=r"a\.parquet cannot be read as a table"):
        TSLRegressor().fit_files(tmp_path / "a.parquet", "y")
    with pytest.raises(TypeError, match="files must be a path"):
        TSLRegressor().fit_files(3, "y")


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no pipes on this system")
def test_pipes_and_devices_are_refused_at_once(tmp_path, spill_folder):
    os.mkfifo(tmp_path / "pipe")
    for path in (tmp_path / "pipe", "/dev/zero"):
        with pytest.raises(ValueError, match=r"files must name files, got .*, a pipe or a device"):
            TSLRegressor().fit_files([path], "y")


def test_a_name_that_is_not_utf8_is_named(tmp_path, spill_folder):
    path = tmp_path / os.fsdecode(b"\xff.csv")
    try:
        path.write_text("x,y\n1,2\n")
    except OSError:
        pytest.skip("no such names on this system")
    with pytest.raises(ValueError, match=r"files must have names in UTF-8, got .*udcff\.csv"):
        TSLRegressor().fit_files(path, "y")


@pytest.mark.skipif(not hasattr(os, "posix_fallocate"), reason="files are filled otherwise here")
def test_a_full_disk_is_an_error_that_names_the_folder(folder, spill_folder, monkeypatch):
    def full(*_):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "posix_fallocate", full)
    with pytest.raises(OSError, match=r"temporary folder has no room .* temporary_folder"):
        TSLRegressor(**PARAMETERS).fit_files(folder, "rent", features=["area"])


@pytest.mark.parametrize(
    ("given", "kind"), [("no/such/folder", NotADirectoryError), (5, TypeError)]
)
def test_a_temporary_folder_that_is_none_is_refused_by_name(folder, given, kind):
    model = TSLRegressor(**PARAMETERS)
    with pytest.raises(kind, match=r"temporary_folder must be a folder that exists .*got"):
        model.fit_files(folder, "rent", temporary_folder=given)
    assert not hasattr(model, "model_")


def test_a_frequent_value_among_many_others_keeps_its_place(monkeypatch):
    monkeypatch.setattr(summaries, "DISTINCT_KEPT", 1024)
    rng = np.random.default_rng(0)
    column = np.where(rng.random(20_000) < 0.3, 0.0, rng.normal(size=20_000))
    summary = summaries.NumberSummary()
    for piece in np.array_split(column, 20):
        summary.add(piece)
    assert not summary.is_exact
    edges = summary.axis(100).edges
    below, above = (np.searchsorted(edges, 0.0, side) for side in ("left", "right"))
    alone = np.searchsorted(edges, column, "right") == above
    assert below == above
    assert abs(alone.mean() - (column == 0.0).mean()) < 0.015  # few others share its bin


def test_many_distinct_values_are_summarised_closely(monkeypatch):
    monkeypatch.setattr(summaries, "DISTINCT_KEPT", 2048)
    column = np.random.default_rng(0).lognormal(sigma=2.0, size=60_000)
    whole, parts = summaries.NumberSummary(), []
    for piece in np.array_split(column, 30):
        whole.add(piece)
        parts.append(summaries.NumberSummary())
        parts[-1].add(piece)
    for part in parts[1:]:
        parts[0].merge(part)
    ordered = np.sort(column)
    exact = axis_of_values(*np.unique(column, return_counts=True), 255)
    for summary in (whole, parts[0]):
        assert not summary.is_exact
        axis = summary.axis(255)
        assert axis.range == exact.range
        ranks, expected = (np.searchsorted(ordered, a.edges) / 60_000 for a in (axis, exact))
        most = 4 / 2048 * len(summary.layers)
        assert np.abs(ranks - expected).max() < most < 0.02
        np.testing.assert_array_equal(axis.edges[:3], exact.edges[:3])  # of the tail, as they are


def test_empty_texts_of_a_csv_are_missing_and_other_texts_are_levels(tmp_path):
    kind = np.resize(["NA", "", "null", "b"], 200)
    table = pd.DataFrame(
        {"kind": kind, "x": np.resize([1.0, np.nan, 3.0], 200), "y": np.resize([0.0, 5, 2, 9], 200)}
    )
    table.to_csv(tmp_path / "t.csv", index=False)
    model = TSLRegressor(n_stages=1, early_stopping=False, random_state=0)
    model.fit_files(tmp_path / "t.csv", target="y")
    assert model.model_.bins.axes[0].levels == ("NA", "b", "null")
    expected = table.assign(kind=table["kind"].replace("", None)).drop(columns="y")
    same = TSLRegressor(n_stages=1, early_stopping=False, random_state=0).fit(expected, table["y"])
    np.testing.assert_array_equal(model.predict(expected), same.predict(expected))


def test_empty_texts_are_missing_in_every_batch_of_a_csv(tmp_path):
    """Batches are parts of longer arrays, whose texts do not begin at their first."""
    texts = np.resize(["", "a", "bb", "", "ccc"], 150_000).tolist()
    lines = [f"{text},1" for text in texts]
    (tmp_path / "t.csv").write_text("\n".join(["kind,y", *lines]), encoding="utf-8")
    batches = list(source_of_file(tmp_path / "t.csv").read(["kind"]))
    assert len(batches) > 1
    found = [value for batch in batches for value in batch.column(0).to_pylist()]
    assert found == [text or None for text in texts]
