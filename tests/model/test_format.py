import json
import math
import os
import struct
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import seplearn
from seplearn import ModelFormatError, TSLRegressor, datasets, explain, load_model
from seplearn.model.evaluation import Evaluation
from seplearn.model.format import VERSION, StoredModel, decode, encode, read_file

GOLDEN = Path(__file__).parents[1] / "golden"
QUICK: dict[str, Any] = {
    "early_stopping": False,
    "n_stages": 2,
    "n_grids": 2,
    "n_splits": 6,
    "random_state": 0,
}


def mixed_table(n=200):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(
        {
            "number": np.where(rng.random(n) < 0.1, np.nan, rng.normal(size=n)),
            "level": rng.choice(["a", "b", "c", None], size=n, p=[0.5, 0.3, 0.15, 0.05]),
            "flag": rng.random(n) < 0.5,
        }
    )
    y = np.nan_to_num(frame["number"].to_numpy()) * np.where(frame["flag"], 2.0, -1.0)
    return frame, y + (frame["level"] == "a")


VARIANTS = {
    "default": {},
    "single": {"products": "single", "refine": "scalars"},
    "paper": {"refine": "scalars", "scalars": "ols", "fit_intercept": False, "decay": 0.3},
    "random state": {"random_state": np.random.RandomState(3)},
    "columns": {"categorical_features": ["flag"], "n_jobs": 2},
    "bands": {"n_bootstrap": 3, "monotonic_cst": {"number": 1}},
}


@pytest.mark.parametrize("options", VARIANTS.values(), ids=VARIANTS.keys())
def test_a_loaded_model_is_the_model(options, tmp_path):
    frame, y = mixed_table()
    model = TSLRegressor(**(QUICK | options)).fit(frame, y)
    model.save(tmp_path / "m.tsl")
    again = load_model(tmp_path / "m.tsl")
    np.testing.assert_array_equal(again.predict(frame), model.predict(frame))
    np.testing.assert_array_equal(again.predict_stages(frame), model.predict_stages(frame))
    assert again.history_ == model.history_
    staged = [m.staged_predict(frame) if m.refine == "scalars" else () for m in (again, model)]
    for one, other in zip(*staged, strict=True):
        np.testing.assert_array_equal(one, other)
    assert again.feature_names_in_.tolist() == model.feature_names_in_.tolist()
    mine, theirs = model.get_params(), again.get_params()
    if options.get("random_state") is not None:
        state = mine.pop("random_state").get_state(legacy=False)
        other = theirs.pop("random_state").get_state(legacy=False)
        np.testing.assert_array_equal(other["state"]["key"], state["state"]["key"])
    else:
        assert repr(again) == repr(model)
    assert theirs == mine
    for s in range(len(model.stages_)):
        for one, other in zip(
            explain.curves(again.model_, s), explain.curves(model.model_, s), strict=True
        ):
            for name in ("plus", "minus", "backbone", "tilt", "frequencies"):
                a, b = getattr(one, name), getattr(other, name)
                assert (a is None) == (b is None)
                if a is not None:
                    np.testing.assert_array_equal(a, b)


def test_a_file_says_which_library_wrote_it(valid_files):
    seen = []
    rewritten(valid_files[0], lambda header, outer: seen.append(header["library"]))
    assert seen == [seplearn.__version__]


def test_nameless_models_too(tmp_path):
    X, y = datasets.masked_interaction(100, random_state=0)
    model = TSLRegressor(**QUICK).fit(X, y)
    model.save(str(tmp_path / "m.tsl"))
    again = load_model(str(tmp_path / "m.tsl"))
    assert not hasattr(again, "feature_names_in_")
    np.testing.assert_array_equal(again.predict(X), model.predict(X))
    assert again.fit(X, y).score(X, y) == model.score(X, y)


@pytest.mark.parametrize("path", sorted(GOLDEN.glob("*.tsl")), ids=lambda path: path.name)
def test_files_of_every_version_load_for_ever(path):
    model = load_model(path)
    expected = json.loads(path.with_suffix(".json").read_text(encoding="utf-8"))
    table = pd.DataFrame(expected["rows"])
    np.testing.assert_allclose(model.predict(table), expected["predictions"], rtol=1e-12)
    if "dependence" in expected:
        dependence = explain.partial_dependence(model, "number").total
        np.testing.assert_allclose(dependence, expected["dependence"], rtol=1e-12)
    if "intervals" in expected:
        np.testing.assert_allclose(model.predict_interval(table), expected["intervals"], rtol=1e-12)


def test_there_are_golden_files():
    versions = {int(path.stem.rsplit("v", 1)[1]) for path in GOLDEN.glob("*.tsl")}
    assert versions == set(range(1, VERSION + 1))


def test_the_target_and_an_evaluation_are_kept(tmp_path):
    frame, y = mixed_table()
    model = TSLRegressor(**QUICK).fit(frame, pd.Series(y, name="price"))
    assert model.evaluation_ is None
    told = model.evaluate(frame, y, keep=True)
    assert told.rmse == pytest.approx(np.sqrt(np.mean((y - model.predict(frame)) ** 2)))
    model.save(tmp_path / "m.tsl")
    again = load_model(tmp_path / "m.tsl")
    assert again.target_name_ == "price"
    assert again.evaluation_ == told
    assert model.fit(frame, y.to_numpy()).evaluation_ is None  # of another fit
    assert model.target_name_ is None


def test_weights_of_an_evaluation_count():
    frame, y = mixed_table()
    model = TSLRegressor(**QUICK).fit(frame, y)
    first = np.where(np.arange(len(y)) < 50, 1.0, 0.0)
    weighted = model.evaluate(frame, y, first)
    part = model.evaluate(frame[:50], y[:50])
    assert (weighted.rmse, weighted.mae) == pytest.approx((part.rmse, part.mae))


def test_rows_without_a_target_do_not_count_in_an_evaluation():
    frame, y = mixed_table()
    model = TSLRegressor(**QUICK).fit(frame, y)
    holes = np.where(np.arange(len(y)) < 50, y, np.nan)
    assert model.evaluate(frame, holes) == model.evaluate(frame[:50], y[:50])
    as_objects = [value if known else None for value, known in zip(y, holes == y, strict=True)]
    assert model.evaluate(frame, as_objects) == model.evaluate(frame, holes)
    weight = np.linspace(0.0, 1.0, len(y))
    assert model.evaluate(frame, holes, weight) == model.evaluate(frame[:50], y[:50], weight[:50])
    message = rf"y must be known in some row, got {len(y)} rows"
    with pytest.raises(ValueError, match=message):
        model.evaluate(frame, np.full(len(y), np.nan))
    with pytest.raises(ValueError, match="y is None"):
        model.evaluate(frame, None)
    with pytest.raises(ValueError, match=r"sample_weight must have one value per row.*\(3,\)"):
        model.evaluate(frame, y, [1.0, 2.0, 3.0])
    with pytest.raises(ValueError, match="infinity"):
        model.evaluate(frame, np.where(np.arange(len(y)) < 5, np.inf, y))


def test_a_model_without_stages_is_saved(tmp_path):
    frame, _ = mixed_table()
    model = TSLRegressor(**QUICK).fit(frame, np.full(len(frame), 3.0))
    model.save(tmp_path / "m.tsl")
    assert model.stages_ == ()
    np.testing.assert_array_equal(load_model(tmp_path / "m.tsl").predict(frame), 3.0)


def test_an_interrupted_save_leaves_the_old_file(tmp_path, monkeypatch):
    frame, y = mixed_table()
    model = TSLRegressor(**QUICK).fit(frame, y)
    model.save(tmp_path / "m.tsl")
    before = (tmp_path / "m.tsl").read_bytes()

    def fail(descriptor):
        raise KeyboardInterrupt

    monkeypatch.setattr(os, "fsync", fail)
    with pytest.raises(KeyboardInterrupt):
        model.save(tmp_path / "m.tsl")
    assert (tmp_path / "m.tsl").read_bytes() == before
    assert [path.name for path in tmp_path.iterdir()] == ["m.tsl"]


def test_a_folder_that_is_not_there_is_named(tmp_path):
    frame, y = mixed_table()
    with pytest.raises(FileNotFoundError, match=r"folder that exists, got '.*nowhere.m\.tsl'"):
        TSLRegressor(**QUICK).fit(frame, y).save(tmp_path / "nowhere" / "m.tsl")


@pytest.fixture(scope="module")
def valid_files():
    frame, y = mixed_table()
    out = []
    for options in ({}, {"products": "single", "refine": "scalars"}):
        model = TSLRegressor(**(QUICK | options), max_bins=8).fit(frame, y)
        stored = (model.model_, model._schema, tuple(model.history_), model.get_params())
        out.append(encode(StoredModel(*stored)))
    return out


def loads_or_refuses(data):
    try:
        stored = decode(data, "file")
    except ModelFormatError:
        return
    # What loads can be used: two rows of the first bins get numbers, not a crash.
    codes = np.repeat(np.array([[0], [1]], dtype=np.uint16), stored.model.bins.n_axes, axis=1)
    with np.errstate(over="ignore", invalid="ignore"):
        assert stored.model.contributions(codes).shape == (2, len(stored.model.stages))
    assert stored.schema.n_features == stored.model.bins.n_axes


@given(st.data())
@settings(max_examples=3000)
def test_mutated_files_load_or_are_refused(valid_files, data):
    original = data.draw(st.sampled_from(valid_files))
    mutated = bytearray(original)
    for _ in range(data.draw(st.integers(1, 6))):
        kind = data.draw(st.sampled_from(["flip", "set", "header", "cut", "insert", "repeat"]))
        # Most of the meaning is in the header, so it is hit as often as everything else.
        limit = min(len(mutated), 4000) if kind == "header" else len(mutated)
        at = data.draw(st.integers(0, max(0, limit - 1)))
        if kind == "cut":
            del mutated[at:]
        elif kind == "insert":
            mutated[at:at] = data.draw(st.binary(max_size=8))
        elif kind == "repeat":
            mutated[at:at] = mutated[at : at + 16]
        elif mutated:
            value = data.draw(st.integers(0, 255))
            mutated[at] = mutated[at] ^ (1 << value % 8) if kind == "flip" else value
    loads_or_refuses(bytes(mutated))


@given(st.binary(max_size=300))
@settings(max_examples=300)
def test_arbitrary_bytes_are_refused(data):
    with pytest.raises(ModelFormatError):
        decode(data, "file")


@pytest.mark.parametrize("data", [b"", bytes(1000), b"{}", b"\x02" + bytes(7) + b"{}"])
def test_files_of_zeros_and_empty_ones_are_refused(data, tmp_path):
    (tmp_path / "m.tsl").write_bytes(data)
    with pytest.raises(ModelFormatError, match=r"m\.tsl"):
        load_model(tmp_path / "m.tsl")


def rewritten(data, change):
    """The file with its inner header changed by a function."""
    length = struct.unpack("<Q", data[:8])[0]
    outer = json.loads(data[8 : 8 + length])
    header = json.loads(outer["__metadata__"]["seplearn"])
    change(header, outer)
    outer["__metadata__"]["seplearn"] = json.dumps(header)
    text = json.dumps(outer).encode()
    return struct.pack("<Q", len(text)) + text + data[8 + length :]


def claim_ten_gigabytes(header, outer):
    outer["frequencies"] |= {"shape": [1_250_000_000], "data_offsets": [0, 10_000_000_000]}


EVALUATION = Evaluation.of(np.arange(5.0), np.ones(5)).to_plain()
HOSTILE = {
    "ten gigabytes": claim_ten_gigabytes,
    "another format": lambda h, o: h.update(format="pickle"),
    "a later version": lambda h, o: h.update(version=VERSION + 1),
    "version zero": lambda h, o: h.update(version=0),
    "a version in words": lambda h, o: h.update(version="one"),
    "a target in numbers": lambda h, o: h.update(target=3),
    "an evaluation of words": lambda h, o: h.update(evaluation="good"),
    "half an evaluation": lambda h, o: h.update(evaluation={"rmse": 1.0}),
    "an endless error": lambda h, o: h.update(evaluation=EVALUATION | {"rmse": float("inf")}),
    "an error in words": lambda h, o: h.update(evaluation=EVALUATION | {"rmse": "small"}),
    "a list for an error": lambda h, o: h.update(evaluation=EVALUATION | {"rmse": [1.0]}),
    "no axes": lambda h, o: h.update(axes=[]),
    "an axis too many": lambda h, o: h["axes"].append(h["axes"][0]),
    "unknown axis": lambda h, o: h["axes"][0].update(kind="date"),
    "more edges": lambda h, o: h["axes"][0].update(n_edges=10**9),
    "equal levels": lambda h, o: h["axes"][1].update(levels=["a", "a", "b"]),
    "levels of numbers": lambda h, o: h["axes"][1].update(levels=[1, 2, 3]),
    "equal names": lambda h, o: h.update(names=["a", "a", "b"]),
    "infinite intercept": lambda h, o: h.update(intercept=math.inf),
    "no number": lambda h, o: h.update(intercept="0x"),
    "unknown branch": lambda h, o: h["stages"][0].__setitem__(0, "magic"),
    "branches left out": lambda h, o: h["stages"].pop(),
    "a parameter out of range": lambda h, o: h["params"].update(n_stages=-1),
    "an unknown parameter": lambda h, o: h["params"].update(evil=1),
    "no parameters": lambda h, o: h.update(params=None),
    "a library that is a list": lambda h, o: h.update(frame=["pandas"]),
    "values of an axis that has none": lambda h, o: h["axes"][0].update(values=True),
    "a range upside down": lambda h, o: h["axes"][0].update(range=[2.0, 1.0]),
    "a range of one end": lambda h, o: h["axes"][0].update(range=[2.0]),
    "a range in words": lambda h, o: h["axes"][0].update(range="wide"),
    "reference rows of another width": lambda h, o: o["reference_codes"].update(shape=[300, 2]),
    "reference rows without weights": lambda h, o: o.update(
        weights=o.pop("reference_weight")  # under another name
    ),
    "another history": lambda h, o: h["history"][0].pop("loss"),
    "a negative loss": lambda h, o: h["history"][0].update(loss=-1.0),
}


@pytest.mark.parametrize("change", HOSTILE.values(), ids=HOSTILE.keys())
def test_hostile_files_are_refused(valid_files, change, tmp_path):
    path = tmp_path / "hostile.tsl"
    path.write_bytes(rewritten(valid_files[0], change))
    with pytest.raises(ModelFormatError, match=r"hostile\.tsl"):
        load_model(path)


def test_reference_rows_must_lie_in_bins_and_weigh_one(valid_files):
    for name, value in (
        ("reference_codes", b"\xff\xff"),
        ("reference_weight", struct.pack("<d", 2)),
    ):
        data = bytearray(valid_files[0])
        length = struct.unpack("<Q", data[:8])[0]
        begin, _ = json.loads(data[8 : 8 + length])[name]["data_offsets"]
        data[8 + length + begin : 8 + length + begin + len(value)] = value
        with pytest.raises(ModelFormatError, match="of the reference rows"):
            decode(bytes(data), "file")


@pytest.mark.parametrize("name", ["frequencies", "log_factors", "coefficients", "edges"])
def test_numbers_that_are_none_are_refused(valid_files, name, tmp_path):
    data = bytearray(valid_files[0])
    length = struct.unpack("<Q", data[:8])[0]
    begin, end = json.loads(data[8 : 8 + length])[name]["data_offsets"]
    assert end > begin
    data[8 + length + begin : 8 + length + begin + 8] = struct.pack("<d", math.nan)
    with pytest.raises(ModelFormatError, match="finite"):
        decode(bytes(data), "file")


def test_untouched_files_load(valid_files, tmp_path):
    for data in valid_files:
        (tmp_path / "m.tsl").write_bytes(rewritten(data, lambda h, o: None))
        assert read_file(tmp_path / "m.tsl").schema.names == ("number", "level", "flag")


def test_the_plain_form_is_json_and_scores(tmp_path):
    frame, y = mixed_table()
    model = TSLRegressor(**QUICK).fit(frame, y)
    text = json.dumps(model.to_dict(), allow_nan=False)
    page = Path(seplearn.__file__).parents[2] / "docs" / "model-json.md"
    scorer = page.read_text(encoding="utf-8").split("```python\n")[1].split("```")[0]
    assert scorer.count("\n") <= 30
    scope: dict[str, Any] = {}
    exec(scorer, scope)
    rows = [
        {k: (None if pd.isna(v) else v) for k, v in row.items()} for row in frame.to_dict("records")
    ]
    rows += [{"number": 99.0, "level": "never seen", "flag": True}]
    plain = json.loads(text)
    expected = model.predict(pd.DataFrame(rows))
    found = np.array([scope["predict"](plain, r) for r in rows])
    np.testing.assert_allclose(found, expected, rtol=1e-9)


def test_ranges_of_numeric_features_are_kept_and_may_be_open(tmp_path):
    X = np.array([[1.5, -np.inf, np.nan, 0.0], [7.25, 2.0, np.nan, 0.0]] * 30)
    model = TSLRegressor(n_stages=1, early_stopping=False, random_state=0).fit(X, X[:, 0])
    model.save(tmp_path / "m.tsl")
    expected = [(1.5, 7.25), (-math.inf, 2.0), None, (0.0, 0.0)]
    for one in (model, load_model(tmp_path / "m.tsl")):
        assert [axis.range for axis in one.model_.bins.axes] == expected
