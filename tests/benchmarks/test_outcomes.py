"""How often intervals hold outcomes: the measurement itself."""

import json

import numpy as np
import pandas as pd
import pytest

from benchmarks import outcomes


def test_narrow_intervals_pay_for_what_they_miss():
    y = np.array([0.0, 1.0, 2.0])
    told = outcomes.told(np.array([[-1.0, 1.0], [2.0, 3.0], [0.0, 1.5]]), y)
    assert told["coverage"] == pytest.approx(1 / 3)
    assert told["width"] == pytest.approx(1.5)
    assert told["score"] == pytest.approx(1.5 + 20 * (1.0 + 0.5) / 3)


def test_a_table_is_measured_and_told_and_nothing_without_tables(tmp_path, monkeypatch, capsys):
    pytest.importorskip("lightgbm")
    monkeypatch.setattr(outcomes, "RESULTS", tmp_path / "outcomes.json")
    monkeypatch.setattr("sys.argv", ["outcomes", "--data-dir", str(tmp_path)])
    outcomes.main()
    assert f"skipped: {tmp_path} has no data/datasets.json" in capsys.readouterr().out
    monkeypatch.setattr("sys.argv", ["outcomes"])
    outcomes.main()
    assert "skipped: needs --data-dir" in capsys.readouterr().out
    monkeypatch.setattr("sys.argv", ["outcomes", "--data-dir", str(tmp_path)])
    random = np.random.default_rng(0)
    made = pd.DataFrame(random.normal(size=(300, 2)), columns=["a", "b"])
    made["y"] = made["a"] + random.normal(0.0, 0.1, 300)
    (tmp_path / "data").mkdir()
    made.to_parquet(tmp_path / "data" / "made.parquet")
    entry = {"name": "made", "target": "y", "categorical": [], "n_rows": 300, "n_features": 2}
    (tmp_path / "data" / "datasets.json").write_text(json.dumps([entry]))
    monkeypatch.setattr(outcomes, "SPLITS", (0,))
    outcomes.main()
    found = json.loads((tmp_path / "outcomes.json").read_text())
    assert found["rows"][0]["rows"] == 240
    assert found["summary"]["median_coverage"] > 0.75
    assert found["summary"]["worst_table"] == "made"
