"""The scorer in R of the documentation: run by R, it predicts what the library does."""

import json
import re
import shutil
import subprocess
from functools import cache
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import seplearn
from seplearn import TSLRegressor
from tests.export.models import MODELS, QUICK, model, predicted, records, rows

RSCRIPT = shutil.which("Rscript")
pytestmark = pytest.mark.skipif(RSCRIPT is None, reason="R is not installed")
YEARS = 2.5

PROBE = """
for (name in readLines("names.txt")) {
  model <- fromJSON(paste0(name, ".json"), simplifyVector = FALSE)
  data <- data.frame(fromJSON(paste0(name, ".rows.json")), check.names = FALSE)
  found <- as.matrix(predict_model(model, data, if (name == "log") log(2.5) else 0))
  write(sprintf("%.17g", t(found)), paste0(name, ".txt"), 1)
  if (!is.null(colnames(found))) writeLines(colnames(found), paste0(name, ".classes"))
}
"""


def scorer():
    page = Path(seplearn.__file__).parents[2] / "docs" / "r.md"
    (program,) = re.findall(r"```r\n(.*?)```", page.read_text(encoding="utf-8"), re.DOTALL)
    return program


def run(program, folder):
    """R in a folder; its output is what it complains of."""
    (folder / "run.R").write_text(program, encoding="utf-8")
    return subprocess.run(
        [RSCRIPT, "--vanilla", "run.R"], cwd=folder, capture_output=True, text=True, check=False,
        env={"LC_ALL": "C.UTF-8", "PATH": "/usr/bin:/bin"},
    )  # fmt: skip


@cache
def codes():
    """A model whose levels are whole numbers, and rows with others."""
    X = pd.DataFrame({"code": np.resize([7, -3, 12, 40], 300)})
    fitted = TSLRegressor(**QUICK, categorical_features=["code"]).fit(X, X["code"] % 5)
    return fitted, pd.DataFrame({"code": [7.0, -3.0, 12.0, 40.0, 8.0, np.nan]})


def spelled(value):
    """As R reads a number from a text; JSON has none that is infinite."""
    return {np.inf: "Inf", -np.inf: "-Inf"}.get(value, repr(float(value)))


def columns(X):
    """Columns as JSON: numbers as texts with all their digits, so that infinite ones fit in."""
    out = {}
    for name, column in pd.DataFrame(records(X)).astype(object).items():
        is_number = X[name].dtype.kind == "f" and name != "code"
        values = [None if pd.isna(value) else value for value in column]
        out[name] = [v if v is None or not is_number else spelled(v) for v in values]
    return out


@pytest.fixture(scope="module")
def found(tmp_path_factory):
    """What R says of all models, in one process."""
    folder = tmp_path_factory.mktemp("r")
    if run("library(jsonlite)", folder).returncode != 0:
        pytest.skip("the R package jsonlite is not installed")
    for name in (*MODELS, "codes"):
        fitted, X = codes() if name == "codes" else (model(name), rows())
        (folder / f"{name}.json").write_text(json.dumps(fitted.to_dict()), encoding="utf-8")
        (folder / f"{name}.rows.json").write_text(json.dumps(columns(X)), encoding="utf-8")
    (folder / "names.txt").write_text("\n".join([*MODELS, "codes"]) + "\n", encoding="utf-8")
    done = run(scorer() + PROBE, folder)
    assert done.returncode == 0, done.stderr
    return folder


@pytest.mark.parametrize("name", MODELS)
def test_r_predicts_the_same(name, found):
    X, fitted = rows(), model(name)
    values = np.loadtxt(found / f"{name}.txt").reshape(len(X), -1)
    if hasattr(fitted, "classes_"):
        expected = fitted.predict_proba(X)
        told = (found / f"{name}.classes").read_text(encoding="utf-8").split("\n")[:-1]
        assert told == fitted.classes_.tolist()
    else:
        expected = predicted(name, X)[:, None] * (YEARS if name == "log" else 1.0)
    np.testing.assert_allclose(values, expected, rtol=1e-9, atol=1e-300)


def test_numbers_are_levels_too(found):
    fitted, X = codes()
    expected = fitted.predict(X)
    assert np.ptp(expected) > 1
    np.testing.assert_allclose(np.loadtxt(found / "codes.txt"), expected, rtol=1e-9)


def test_a_table_that_lacks_a_feature_is_refused(found):
    program = 'predict_model(fromJSON("codes.json", simplifyVector = FALSE), data.frame(a = 1))'
    done = run(f"{scorer()}\n{program}", found)
    assert done.returncode != 0
    assert "data lacks code" in done.stderr
