"""The command, the pages' words and the tables' sources."""

from __future__ import annotations

import ast
import json
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

import seplearn
from studies import rivals
from studies.__main__ import main
from studies.catalogue import STUDIES
from studies.page import Page, dollars, listed, markdown_table, number
from studies.reading import predictions_over, wander
from studies.tables import Folder, MissingDataError, OpenML
from tests.studies.stand_ins import houses


def test_unknown_study_is_one_line_with_the_known_ones(capsys):
    assert main(["masked"]) == 2
    said = capsys.readouterr().err
    assert said.count("\n") == 1
    assert "unknown study 'masked'" in said
    assert all(name in said for name in STUDIES)


def test_missing_folder_is_one_line_that_says_what_to_do(tmp_path, capsys):
    assert main(["bike", "--data-dir", str(tmp_path)]) == 2
    said = capsys.readouterr().err
    assert said.count("\n") == 1
    assert "data/datasets.json" in said
    assert "OpenML" in said


def test_a_study_writes_its_page_and_the_index(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert main(["cancellation", "--tiny", "--output", "out"]) == 0
    index = (tmp_path / "out" / "README.md").read_text(encoding="utf-8")
    assert "(cancellation.md)" in index
    assert "(bike.md)" not in index


def test_a_study_without_its_table_is_left_out_and_the_others_run(tmp_path, monkeypatch, capsys):
    def offline(**_):
        raise OSError("no network")

    monkeypatch.setattr("sklearn.datasets.fetch_openml", offline)
    assert main(["bike", "cancellation", "--tiny", "--output", str(tmp_path)]) == 2
    said = capsys.readouterr().err
    assert "bike left out: OpenML did not answer" in said
    assert "--data-dir" in said
    assert (tmp_path / "cancellation.md").exists()


def test_openml_tables_look_like_those_of_a_folder(monkeypatch):
    table = pd.DataFrame(
        {
            "workingday": pd.Categorical(["True", "False", "True"]),
            "weather": ["clear", "rain", "clear"],
            "hour": [1, 2, 3],
            "count": [5, 6, 7],
        }
    )
    found = SimpleNamespace(frame=table)
    monkeypatch.setattr("sklearn.datasets.fetch_openml", lambda **_: found)
    X, y = OpenML().load("bike_sharing")
    assert X["workingday"].tolist() == [1.0, 0.0, 1.0]
    assert X["weather"].dtype == "category"
    assert y.tolist() == [5.0, 6.0, 7.0]


def test_studies_use_the_public_surface_only():
    folder = Path(rivals.__file__).parent
    public = {"seplearn": set(seplearn.__all__), "seplearn.explain": set(seplearn.explain.__all__)}
    for path in folder.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("seplearn"):
                names = {alias.name for alias in node.names}
                assert names <= public.get(node.module, set()), f"{path.name}: {names}"
            assert not (isinstance(node, ast.Import) and "seplearn" in node.names[0].name)


def test_every_study_has_a_full_and_a_tiny_setting():
    assert len(STUDIES) == 9
    for study in STUDIES.values():
        assert type(study.FULL) is type(study.TINY)
        assert study.FULL != study.TINY


def test_folder_reads_a_table_and_names_one_that_is_not_there(tmp_path):
    X, y = houses(50)
    (tmp_path / "data").mkdir()
    listing = [{"name": "california_housing", "target": "price"}, {"name": "gone", "target": "y"}]
    (tmp_path / "data" / "datasets.json").write_text(json.dumps(listing), encoding="utf-8")
    X.assign(price=y, new=y > y.mean()).to_parquet(tmp_path / "data" / "california_housing.parquet")
    found, target = Folder(tmp_path).load("california_housing")
    assert list(found) == [*X, "new"]
    assert set(found["new"]) == {0.0, 1.0}
    np.testing.assert_array_equal(target, y)
    with pytest.raises(MissingDataError, match="has no table 'gone'"):
        Folder(tmp_path).load("gone")


def test_a_rival_that_is_not_installed_is_told_of(monkeypatch):
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    assert rivals.missing(("EBM", "XGBoost")) == ["EBM", "XGBoost"]
    (note,) = rivals.missing_note(("EBM",))
    assert "not installed: EBM" in note


def test_numbers_in_words():
    assert number(1234.5678) == "1,235"
    assert number(0.00123456, 2) == "0.0012"
    assert number(-0.5) == "-0.5"
    assert number(0.0) == "0"
    assert number(3e-9, 3) == "3.0e-09"
    assert number(float("nan")) == "–"  # noqa: RUF001
    assert dollars(-115_753.0) == "−$115,800"  # noqa: RUF001
    assert listed(["a"]) == "a"
    assert listed(["a", "b", "c"]) == "a, b and c"


def test_a_page_is_markdown_with_escaped_bars(tmp_path):
    table = pd.DataFrame({"what": ["a|b"], "value": [0.5]})
    assert markdown_table(table).splitlines()[-1] == "| a\\|b | 0.5 |"
    page = Page("name", "Title", ["Words."], [("claim", "measured")], {"t": table}, [])
    page.write(tmp_path, seconds=1.4)
    text = (tmp_path / "name.md").read_text(encoding="utf-8")
    assert text.startswith("# Title\n\nWords.\n")
    assert "| claim | measured |" in text
    assert text.endswith("Measured in 1 s.\n")
    assert (tmp_path / "name_t.csv").read_text(encoding="utf-8") == "what,value\na|b,0.5\n"


def test_predictions_over_moves_one_feature_and_keeps_the_rest():
    class Sum:
        def predict(self, X):
            return 10 * X["a"].to_numpy() + X["b"].to_numpy()

    rows = pd.DataFrame({"a": [1.0, 2.0], "b": [3.0, 4.0]})
    found = predictions_over(Sum(), rows, a=np.array([0.0, 1.0, 2.0]))
    np.testing.assert_array_equal(found, [[3, 13, 23], [4, 14, 24]])


def test_wander_is_one_for_monotone_curves():
    assert wander(np.array([0.0, 1.0, 3.0])) == pytest.approx(1.0)
    assert wander(np.array([0.0, 1.0, 0.0, 1.0])) == pytest.approx(3.0)
    assert wander(np.ones(4)) == 1.0
