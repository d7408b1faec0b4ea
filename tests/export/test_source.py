"""Sources in Python, C and JavaScript: they run, and predict what the library does."""

import json
import math
import shutil
import subprocess
from typing import Any

import numpy as np
import pandas as pd
import pytest

from seplearn import TSLRegressor
from seplearn.export.source.c import _field_names
from tests.export.models import (
    FLAG,
    KIND,
    MODELS,
    QUICK,
    SIZE,
    WIDTH,
    model,
    predicted,
    records,
    rows,
    sums_of,
)

COMPILER = shutil.which("gcc") or shutil.which("clang")
NODE = shutil.which("node")
needs_compiler = pytest.mark.skipif(COMPILER is None, reason="neither gcc nor clang is installed")
needs_node = pytest.mark.skipif(NODE is None, reason="node is not installed")


def run_python(fitted, X):
    scope: dict[str, Any] = {}
    source = fitted.to_source("python", explain=True)
    assert source.isascii()
    exec(compile(source, "model.py", "exec"), scope)
    found = []
    for row in records(X):
        parts = scope["explain"](row)
        chance = scope["predict_proba"](row) if "CLASSES" in scope else []
        found.append([scope["predict"](row), chance, parts])
    return found


PROBE = """
import { readFileSync } from "node:fs";
import * as model from "./model.mjs";
const infinite = (key, value) => ({ inf: Infinity, "-inf": -Infinity })[value] ?? value;
const rows = JSON.parse(readFileSync("rows.json", "utf8"), infinite);
const found = rows.map((row) => [
  model.predict(row),
  model.predictProba ? model.predictProba(row) : [],
  model.explain(row),
]);
console.log(JSON.stringify(found));
"""


def run_javascript(fitted, X, folder):
    source = fitted.to_source("javascript", explain=True)
    assert source.isascii()
    (folder / "model.mjs").write_text(source, encoding="utf-8")
    (folder / "probe.mjs").write_text(PROBE, encoding="utf-8")
    plain = [
        {k: str(v) if v in (np.inf, -np.inf) else v for k, v in row.items()} for row in records(X)
    ]
    (folder / "rows.json").write_text(json.dumps(plain), encoding="utf-8")
    done = subprocess.run(
        [NODE, "probe.mjs"], cwd=folder, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def c_literal(value, is_number):
    if value is None:
        return "NAN" if is_number else "NULL"
    if is_number:
        return {np.inf: "INFINITY", -np.inf: "-INFINITY"}.get(value, repr(float(value)))
    return '"' + "".join(f"\\{b:03o}" for b in str(value).encode()) + '"'


def run_c(fitted, X, folder):
    """Like the others; parts are in the order of the file."""
    source = fitted.to_source("c", explain=True)
    assert source.isascii()
    (folder / "model.c").write_text(source, encoding="utf-8")
    literals = [
        "{" + ", ".join(c_literal(row[n], n in (SIZE, WIDTH)) for n in X.columns) + "}"
        for row in records(X)
    ]
    n_classes, n_sums = len(getattr(fitted, "classes_", ())), len(sums_of(fitted, X))
    one = "predict(&rows[i])" if n_sums > 1 else "predict(&rows[i], 0.0)"
    offset = "" if n_sums > 1 else "0.0, "
    chance = f"predict_proba(&rows[i], {offset}p);" if n_classes else ""
    place, intercept, many = "", "INTERCEPT", "N_PARTS"
    if n_sums > 1:
        place, intercept, many = "c, ", "intercepts[c]", "n_parts[c]"
    names = "part_names[0][0]" if n_sums > 1 else "part_names[0]"
    main = f"""
#include "model.c"
#include <stdio.h>
static const struct row rows[] = {{ {", ".join(literals)} }};
int main(void) {{
    for (int i = 0; i < {len(X)}; i++) {{
        double parts[N_PARTS + 1], p[{n_classes} + 1];
        {chance}
        printf("%.17g", (double){one});
        for (int c = 0; c < {n_classes}; c++) printf(" %.17g", p[c]);
        for (int c = 0; c < {n_sums}; c++) {{
            double sum = explain(&rows[i], {place}parts);
            printf(" %.17g %.17g", {intercept}, sum);
            for (int k = 0; k < {many}; k++) printf(" %.17g", parts[k]);
        }}
        printf("\\n");
    }}
    return {names} == NULL && N_PARTS > 0;
}}
"""
    (folder / "main.c").write_text(main, encoding="utf-8")
    strict = ["-std=c99", "-Wall", "-Wextra", "-Werror", "-pedantic", "-Wno-overlength-strings"]
    command = [COMPILER, *strict, "main.c", "-o", "main", "-lm"]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[:2000]
    printed = subprocess.run([folder / "main"], capture_output=True, text=True, check=True).stdout
    return [[float(word) for word in line.split()] for line in printed.splitlines()]


def check(name, found, X):
    """Predictions, probabilities and parts as Python and JavaScript give them."""
    fitted = model(name)
    if hasattr(fitted, "classes_"):
        assert [one[0] for one in found] == fitted.predict(X).tolist()
        chances = [one[1] for one in found]
        np.testing.assert_allclose(chances, fitted.predict_proba(X), rtol=1e-9, atol=1e-300)
    else:
        np.testing.assert_allclose([one[0] for one in found], predicted(name, X), rtol=1e-9)
    for k, expected in enumerate(sums_of(fitted, X)):
        parts = [one[2] if expected.label is None else one[2][k] for one in found]
        check_parts(parts, expected, X)


def check_parts(parts, expected, X):
    """The parts of one sum."""
    np.testing.assert_allclose([p["sum"] for p in parts], expected.total, rtol=1e-9, atol=1e-12)
    stages = np.reshape([[value for _, value in p["stages"]] for p in parts], (len(X), -1))
    np.testing.assert_allclose(stages, expected.stages, rtol=1e-9, atol=1e-12)
    for p, own in zip(parts, expected.effects, strict=True):
        given = dict(p["effects"])
        found_effects = [given.get(feature, 0.0) for feature in X.columns]
        np.testing.assert_allclose(found_effects, own, rtol=1e-9, atol=1e-12)
    assert [name for name, _ in parts[0]["stages"]] == list(expected.stage_names)


@pytest.mark.parametrize("name", MODELS)
def test_python_predicts_the_same(name):
    X = rows()
    check(name, run_python(model(name), X), X)


@needs_node
@pytest.mark.parametrize("name", MODELS)
def test_javascript_predicts_the_same(name, tmp_path):
    X = rows()
    check(name, run_javascript(model(name), X, tmp_path), X)


@needs_compiler
@pytest.mark.parametrize("name", MODELS)
def test_c_predicts_the_same(name, tmp_path):
    X, fitted = rows(), model(name)
    found = np.array(run_c(fitted, X, tmp_path))
    at = 1
    if hasattr(fitted, "classes_"):
        assert fitted.classes_[found[:, 0].astype(int)].tolist() == fitted.predict(X).tolist()
        at += len(fitted.classes_)
        shares = fitted.predict_proba(X)
        np.testing.assert_allclose(found[:, 1:at], shares, rtol=1e-9, atol=1e-300)
    else:
        np.testing.assert_allclose(found[:, 0], predicted(name, X), rtol=1e-9)
    for expected in sums_of(fitted, X):
        parts = expected.stages
        if expected.effects.any():
            used = expected.effects.any(axis=0)
            parts = np.hstack([expected.effects[:, used], expected.stages])
        np.testing.assert_allclose(found[:, at + 1], expected.total, rtol=1e-9, atol=1e-12)
        own = found[:, at + 2 : at + 2 + parts.shape[1]]
        np.testing.assert_allclose(own, parts, rtol=1e-9, atol=1e-12)
        at += 2 + parts.shape[1]
    assert at == found.shape[1]


def numbers_as_levels():
    values = np.array([1e-5, 0.5, 1e22, 2.0, -3.25e-7, np.inf, 12345.678], dtype=object)
    levels = np.resize(values, 300)
    X = pd.DataFrame(
        {"level": levels, "__proto__": np.linspace(0, 1, 300), "int": np.arange(300.0)}
    )
    y = np.resize(np.arange(len(values), dtype=float), 300)
    return TSLRegressor(**QUICK, categorical_features=["level"]).fit(X, y), X[:20]


def test_levels_that_are_numbers_are_spelled_alike(tmp_path):
    fitted, X = numbers_as_levels()
    expected = fitted.predict(X)
    assert np.ptp(expected) > 1
    np.testing.assert_allclose([one[0] for one in run_python(fitted, X)], expected, rtol=1e-9)
    if NODE is not None:
        found = run_javascript(fitted, X, tmp_path)
        np.testing.assert_allclose([one[0] for one in found], expected, rtol=1e-9)


def test_an_offset_is_added_to_the_sum():
    scope: dict[str, Any] = {}
    exec(model("log").to_source("python"), scope)
    row = records(rows())[30]
    assert scope["predict"](row, 2.0) == pytest.approx(scope["predict"](row) * np.exp(2.0))
    assert "explain" not in scope


def test_an_offset_is_added_to_log_odds():
    scope: dict[str, Any] = {}
    exec(model("logit").to_source("python"), scope)
    row = records(rows())[30]
    (first, second), (_, more) = scope["predict_proba"](row), scope["predict_proba"](row, 2.0)
    assert more / (1.0 - more) == pytest.approx(second / first * np.exp(2.0))
    assert scope["predict"](row, 900.0) == scope["CLASSES"][1] != scope["predict"](row, -900.0)


def test_a_row_that_lacks_a_feature_or_has_a_text_for_a_number_is_refused():
    scope: dict[str, Any] = {}
    exec(model("identity").to_source("python"), scope)
    row = records(rows())[30]
    with pytest.raises(KeyError, match=KIND):
        scope["predict"]({k: v for k, v in row.items() if k != KIND})
    with pytest.raises(TypeError, match=r"width.* must be a number, got '3'"):
        scope["predict"](row | {WIDTH: "3"})
    with pytest.raises(TypeError, match=r"'flag' must be a text or a number, got \[1\]"):
        scope["predict"](row | {FLAG: [1]})


def test_names_of_fields_are_names_of_c_and_differ():
    given = ["area", "int", "a b", "a-b", "2nd", "\N{PARROT}", "", "a_b_3", "a_b"]
    fields = _field_names(given)
    assert fields[:4] == ["area", "x1_int", "a_b", "a_b_3"]
    assert len(set(fields)) == len(given)
    assert all(field.isidentifier() for field in fields)


def test_names_of_fields_are_no_macros():
    macros = ["INTERCEPT", "LARGEST", "N_PARTS", "N_NAMES_3", "RAND_MAX", "M_PI", "EXIT_FAILURE"]
    macros.append("math_errhandling")
    assert _field_names(macros) == [f"x{j}_{name}" for j, name in enumerate(macros)]
    usual = ["AGE", "MEDV", "M", "W", "N", "Intercept"]
    assert _field_names(usual) == usual


def test_other_languages_are_refused():
    with pytest.raises(ValueError, match="language must be one of 'python', 'c', 'javascript'"):
        model("identity").to_source("cobol")
    with pytest.raises(TypeError, match="explain must be True or False, got 'yes'"):
        model("identity").to_source("c", explain="yes")


@pytest.mark.skipif(COMPILER is None, reason="no compiler of C")
@pytest.mark.parametrize("name", ["log", "logit"])
def test_an_offset_that_is_no_number_gives_none_in_c(name, tmp_path):
    (tmp_path / "model.c").write_text(model(name).to_source("c"), encoding="utf-8")
    call = "predict(&row, NAN)"
    if name == "logit":
        call = "(predict_proba(&row, NAN, p), isnan(p[0]) && predict(&row, NAN) == -1 ? p[1] : 0.0)"
    main = f"""
#include "model.c"
#include <stdio.h>
static const struct row row;
int main(void) {{ double p[2] = {{ 0.0, 0.0 }}; printf("%g", p[0] + {call}); return 0; }}
"""
    (tmp_path / "main.c").write_text(main, encoding="utf-8")
    command = [COMPILER, "-std=c99", "main.c", "-o", "main", "-lm"]
    subprocess.run(command, cwd=tmp_path, check=True)
    done = subprocess.run([tmp_path / "main"], capture_output=True, text=True, check=True)
    assert "nan" in done.stdout


@pytest.mark.parametrize("name", ["identity", "log", "logit"])
@pytest.mark.parametrize("offset", [math.nan, math.inf, -math.inf])
def test_an_offset_that_is_not_finite_is_refused_in_python(name, offset):
    scope: dict[str, Any] = {}
    exec(model(name).to_source("python"), scope)
    row = records(rows())[30]
    for predict in ("predict", "predict_proba") if name == "logit" else ("predict",):
        with pytest.raises(ValueError, match="offset must be a finite number, got"):
            scope[predict](row, offset)


@needs_node
@pytest.mark.parametrize("name", ["identity", "log", "logit"])
def test_an_offset_that_is_not_finite_is_refused_in_javascript(name, tmp_path):
    (tmp_path / "model.mjs").write_text(model(name).to_source("javascript"), encoding="utf-8")
    row = json.dumps(
        {k: None if isinstance(v, float) else v for k, v in records(rows())[30].items()}
    )
    probe = f"""
import {{ predict }} from "./model.mjs";
for (const offset of [NaN, Infinity, -Infinity]) {{
  try {{ predict({row}, offset); }} catch (error) {{ console.log(error.name); }}
}}
"""
    (tmp_path / "probe.mjs").write_text(probe, encoding="utf-8")
    done = subprocess.run([NODE, "probe.mjs"], cwd=tmp_path, capture_output=True, text=True,
                          check=False)  # fmt: skip
    assert done.stdout.split() == ["RangeError"] * 3, done.stderr


@pytest.mark.skipif(COMPILER is None, reason="no compiler of C")
@pytest.mark.parametrize("kind", ["numbers", "levels"])
def test_c_has_no_functions_that_are_not_used(kind, tmp_path):
    values = np.resize([1.0, 2.0, 3.0], 60)
    X = pd.DataFrame({"a": values if kind == "numbers" else values.astype(str)})
    source = TSLRegressor(**QUICK).fit(X, values).to_source("c")
    (tmp_path / "model.c").write_text(source, encoding="utf-8")
    strict = ["-std=c99", "-Wall", "-Wextra", "-Werror", "-pedantic", "-Wno-overlength-strings"]
    done = subprocess.run([COMPILER, *strict, "-c", "model.c"], cwd=tmp_path, capture_output=True,
                          text=True, check=False)  # fmt: skip
    assert done.returncode == 0, done.stderr[:2000]
