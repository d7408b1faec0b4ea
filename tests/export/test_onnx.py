"""ONNX: the graph is valid, and onnxruntime predicts with it what the library does."""

import copy
import json
import re
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import seplearn
from seplearn import TSLClassifier, TSLRegressor, datasets
from seplearn.table.schema import OffsetColumn
from tests.export.models import MODELS, QUICK, SIZE, WIDTH, model, predicted, rows, sums_of

onnx = pytest.importorskip("onnx", reason="onnx is not installed")
onnxruntime = pytest.importorskip("onnxruntime", reason="onnxruntime is not installed")
MISSING = "(missing)"
YEARS = 2.5


def run(graph, X, kind=np.float64):
    """All outputs by name."""
    session = onnxruntime.InferenceSession(graph.SerializeToString())
    given = {}
    for one in session.get_inputs():
        column = X[one.name]
        if one.type == "tensor(string)":
            texts = [MISSING if pd.isna(value) else str(value) for value in column]
            given[one.name] = np.array(texts, dtype=object)[:, None]
        else:
            given[one.name] = column.to_numpy(kind)[:, None]
    return dict(zip([o.name for o in session.get_outputs()], session.run(None, given), strict=True))


@pytest.mark.parametrize("name", MODELS)
def test_onnxruntime_predicts_the_same(name):
    X, fitted = rows(), model(name)
    graph = fitted.to_onnx(explain=True, missing_level=MISSING)
    onnx.checker.check_model(graph, full_check=True)
    found = run(graph, X.assign(**{"y'ears": YEARS}))
    added = np.log(YEARS) if name == "log" else 0.0
    if hasattr(fitted, "classes_"):
        assert found["label"].tolist() == fitted.predict(X).tolist()
        shares = fitted.predict_proba(X)
        np.testing.assert_allclose(found["probabilities"], shares, rtol=1e-9, atol=1e-300)
    else:
        expected = predicted(name, X) * np.exp(added)
        np.testing.assert_allclose(found["prediction"][:, 0], expected, rtol=1e-9)
    names = json.loads({p.key: p.value for p in graph.metadata_props}["contributions"])
    assert len(names) == found["contributions"].shape[1]
    for own in sums_of(fitted, X):
        of = "" if own.label is None else f" of {own.label}"
        told = [k for k, part in enumerate(names) if part.endswith(of)]
        sums = found["contributions"][:, told].sum(axis=1)
        np.testing.assert_allclose(sums, own.total + added, rtol=1e-9, atol=1e-12)
        for s, values in enumerate(own.stages.T):
            column = found["contributions"][:, names.index(f"stage {s}: {own.stage_names[s]}{of}")]
            np.testing.assert_allclose(column, values, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("name", ["effects", "log", "logit"])
def test_single_precision_is_that_of_inputs_and_outputs(name):
    X = rows()
    with np.errstate(over="ignore"):
        X[[SIZE, WIDTH]] = X[[SIZE, WIDTH]].astype(np.float32)
    found = run(
        model(name).to_onnx(precision="float", missing_level=MISSING),
        X.assign(**{"y'ears": 1.0}), np.float32,
    )  # fmt: skip
    values = found["probabilities"][:, 1] if name == "logit" else found["prediction"][:, 0]
    assert values.dtype == np.float32
    np.testing.assert_allclose(values, predicted(name, X), rtol=1e-5)


@pytest.mark.parametrize("labels", [[False, True], [3, 7], [1.0, 2.0], [3, 5, 7]])
def test_labels_keep_their_kind(labels):
    X = np.linspace(0, 1, 60)[:, None]
    y = np.array(labels)[(X[:, 0] * len(labels) * 0.99).astype(int)]
    fitted = TSLClassifier(**QUICK).fit(X, y)
    found = run(fitted.to_onnx(), pd.DataFrame(X, columns=["x0"]))["label"]
    assert found.tolist() == fitted.predict(X).tolist()
    assert found.dtype.kind == y.dtype.kind


def test_names_that_a_graph_cannot_have_are_refused():
    X = np.linspace(0, 1, 60)
    taken = TSLRegressor(**QUICK).fit(pd.DataFrame({"label": X}), X)
    with pytest.raises(ValueError, match=r"nor those of outputs .*, got 'label'"):
        taken.to_onnx()
    with pytest.raises(ValueError, match="missing_level must be a text that is no level of 'kind'"):
        model("identity").to_onnx()
    with pytest.raises(ValueError, match="precision must be one of 'double', 'float', got 'half'"):
        model("identity").to_onnx(precision="half")
    with pytest.raises(TypeError, match="missing_level must be a text, got None"):
        model("identity").to_onnx(missing_level=None)


def test_names_that_look_like_those_inside_do_no_harm():
    X = pd.DataFrame({"_0": np.linspace(0, 1, 60), "__constant1": np.arange(60.0) % 5})
    fitted = TSLRegressor(**QUICK).fit(X, X["_0"] * X["__constant1"])
    found = run(fitted.to_onnx(), X)["prediction"][:, 0]
    np.testing.assert_allclose(found, fitted.predict(X), rtol=1e-9)


def test_without_onnx_the_message_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "onnx", None)
    with pytest.raises(ModuleNotFoundError, match=r"pip install 'seplearn\[onnx\]'"):
        model("constant").to_onnx(missing_level=MISSING)


def test_the_example_of_the_page_runs(tmp_path, monkeypatch):
    """It stands apart from the others, which need nothing that may not be installed."""
    monkeypatch.chdir(tmp_path)
    page = Path(seplearn.__file__).parents[2] / "docs" / "guide" / "deploying.md"
    (program,) = re.findall(r"```{code-block} python\n(.*?)```", page.read_text("utf-8"), re.DOTALL)
    X, y = datasets.rents(300, random_state=0)
    fitted = TSLRegressor(**QUICK).fit(X, y)
    space = {"X": X, "model": fitted}
    exec(compile(program, str(page), "exec"), space)
    np.testing.assert_allclose(space["rents"][:, 0], fitted.predict(X), rtol=1e-9)


def test_an_offset_of_log_odds_is_an_input():
    X, fitted = rows(), copy.copy(model("logit"))
    fitted.offset_column_ = OffsetColumn("y'ears", False)
    found = run(fitted.to_onnx(missing_level=MISSING), X.assign(**{"y'ears": YEARS}))
    expected = fitted.predict_proba(X, np.full(len(X), YEARS))
    np.testing.assert_allclose(found["probabilities"], expected, rtol=1e-9)
    assert found["label"].tolist() == fitted.predict(X, np.full(len(X), YEARS)).tolist()


@pytest.mark.parametrize("is_exposure", [False, True])
def test_an_offset_that_is_none_is_no_prediction(is_exposure):
    X, fitted = rows()[:5], copy.copy(model("log"))
    fitted.offset_column_ = OffsetColumn("y'ears", is_exposure)
    wrong = [np.nan, np.inf, -np.inf, *([0.0, -1.0] if is_exposure else [])]
    X = rows()[: len(wrong) + 1]
    found = run(fitted.to_onnx(missing_level=MISSING), X.assign(**{"y'ears": [*wrong, YEARS]}))
    assert np.isnan(found["prediction"][:-1]).all()
    assert np.isfinite(found["prediction"][-1]).all()
