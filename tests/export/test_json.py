"""The JSON form: it is valid, tells the whole model, and overflows nowhere."""

import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import seplearn
from seplearn.export.json import json_schema
from seplearn.model.edit import scaled
from tests.export.models import MODELS, model, predicted, records, rows


@pytest.fixture(scope="module")
def jsonschema():
    return pytest.importorskip("jsonschema", reason="jsonschema is not installed")


def scorer():
    page = Path(seplearn.__file__).parents[2] / "docs" / "model-json.md"
    scope: dict[str, Any] = {}
    exec(page.read_text(encoding="utf-8").split("```python\n")[1].split("```")[0], scope)
    return scope["predict"]


@pytest.mark.parametrize("name", MODELS)
def test_the_document_is_valid(name, jsonschema):
    plain = json.loads(json.dumps(model(name).to_dict(), allow_nan=False))
    jsonschema.validate(plain, json_schema(), jsonschema.Draft202012Validator)


@pytest.mark.parametrize("name", MODELS)
def test_the_scorer_of_the_page_predicts_the_same(name):
    plain = json.loads(json.dumps(model(name).to_dict(), allow_nan=False))
    X = rows()
    found = [scorer()(plain, row) for row in records(X)]
    np.testing.assert_allclose(found, predicted(name, X), rtol=1e-9, atol=1e-300)


def test_the_schema_is_a_schema_and_can_refuse(jsonschema):
    jsonschema.Draft202012Validator.check_schema(json_schema())
    for wrong in ({"version": 3}, {"link": "probit"}, {"sums": []}, {"more": 1}):
        plain = model("effects").to_dict() | wrong
        with pytest.raises(jsonschema.ValidationError):
            jsonschema.validate(plain, json_schema())


def test_classes_and_offsets_are_told():
    assert model("logit").to_dict()["classes"] == ["it's", 'n"o']
    assert model("log").to_dict()["offset"] == {"name": "y'ears", "is_exposure": True}
    assert model("effects").to_dict()["classes"] is None


def test_an_infinite_edge_is_told():
    """JSON has no number for it."""
    edges = model("identity").to_dict()["features"][1]["edges"]
    assert edges[-1] == "Infinity"
    assert all(isinstance(edge, float) for edge in edges[:-1])


def test_coefficients_beyond_the_largest_number_are_logs(monkeypatch):
    fitted = model("identity")
    large = fitted.model_
    for _ in range(5):
        large = scaled(large, 1e200)
    monkeypatch.setattr(fitted, "model_", large)
    products = [one for stage in fitted.to_dict()["sums"][0]["stages"] for one in stage["products"]]
    assert all(math.isfinite(one["log_scale"]) and one["log_scale"] > 1e3 for one in products)
