"""How alike the explanations of two seeds are."""

import json

import numpy as np
import pandas as pd
import pytest

from benchmarks import steadiness, tables
from tests.explained import hand_made, numeric, product


def model_of(curve):
    return hand_made([numeric(-1.0, 0.0, 1.0)], [[0.25] * 4 + [0.0]], [product([[*curve, 1.0]])])


def test_alike_are_curves_of_one_shape_whatever_their_size():
    rising, larger, falling, flat = map(
        model_of, ([1, 2, 3, 4], [2, 4, 6, 8], [4, 3, 2, 1], [1, 1, 1, 1])
    )
    assert steadiness.alikeness(rising, larger, 0) == pytest.approx(1.0)
    assert steadiness.alikeness(rising, falling, 0) == pytest.approx(-1.0)
    assert steadiness.alikeness(rising, flat, 0) == 0.0
    assert steadiness.alikeness(flat, flat, 0) == 1.0


def test_a_table_is_measured_and_told(tmp_path, monkeypatch):
    random = np.random.default_rng(0)
    made = pd.DataFrame(random.normal(size=(300, 2)), columns=["a", "b"])
    made["y"] = made["a"] + random.normal(0.0, 0.1, 300)
    (tmp_path / "data").mkdir()
    made.to_parquet(tmp_path / "data" / "made.parquet")
    entry = {"name": "made", "target": "y", "categorical": [], "n_rows": 300, "n_features": 2}
    (tmp_path / "data" / "datasets.json").write_text(json.dumps([entry]))
    monkeypatch.setattr(steadiness, "RESULTS", tmp_path / "steadiness.json")
    monkeypatch.setattr("sys.argv", ["steadiness", "--data-dir", str(tmp_path)])
    steadiness.main()
    found = json.loads((tmp_path / "steadiness.json").read_text())
    (row,) = found["rows"]
    assert row["rows"] == 240
    assert row["correlation"] > 0.95
    assert found["summary"]["worst_table"] == "made"
    text = "\n".join(tables.steadiness_table(found))
    assert f"| made | {row['correlation']:.3f} | " in text
    assert f"The median over 1 tables is {row['correlation']:.3f}." in text
