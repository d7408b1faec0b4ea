"""Fit, info, report and explanations tell the same of one model: sizes, order, rows."""

import json
import re
from dataclasses import replace

import numpy as np
import pytest

from seplearn import TSLClassifier, datasets, explain, load_model, report
from tests.cli.conftest import run


@pytest.fixture(scope="module")
def told(tmp_path_factory):
    """A model of main effects and several stages, and all that is said of it."""
    folder = tmp_path_factory.mktemp("wording")
    X, y = datasets.rents(500, random_state=0)
    X.assign(rent=y).to_csv(folder / "flats.csv", index=False)
    path = folder / "m.tsl"
    fit = run(
        "fit", folder / "flats.csv", "--target", "rent", "--stages", "3", "--early-stopping", "no",
        "--main-effects", "yes", "--validation", "0", "--smoothness", "1", "-o", path,
    )  # fmt: skip
    assert fit.exit_code == 0, fit.output
    return load_model(path), fit.stdout, run("info", path).stdout, X


def stage_lines(text):
    """Numbers and sizes of the stages in a table of the command line, in its order."""
    table = text[text.index("stage  size") :]
    return re.findall(r"^(\d+) +([\d.]+) %", table, re.MULTILINE)


def test_sizes_and_order_of_stages_are_the_same_everywhere(told):
    model, fit, info, _ = told
    roles = explain.roles(model)
    printed = re.findall(r"^stage (\d+), .* \(([\d.]+) %\)", str(roles), re.MULTILINE)
    assert len(printed) == len(model.stages_) > 1
    sizes = [float(size) for _, size in printed]
    assert sizes == sorted(sizes, reverse=True)
    assert stage_lines(fit) == stage_lines(info) == printed
    np.testing.assert_allclose(
        explain.stages(model).share, [stage.weight for stage in roles.stages], rtol=1e-12
    )
    [found] = re.findall(r'id="content">(.*?)</script>', report.report_html(model))
    page = json.loads(found)["sums"][0]
    np.testing.assert_allclose(
        [stage["weight"] for stage in page["roles"]], explain.stages(model).share, rtol=1e-12
    )
    assert page["effect_roles"]["weight"] == pytest.approx(roles.effects_weight, rel=1e-12)


def test_the_largest_stage_comes_first_wherever_it_stands(told):
    model = told[0].model_
    turned = explain.roles(replace(model, stages=model.stages[::-1], replicates=()))
    numbers = [int(n) for n in re.findall(r"^stage (\d+),", str(turned), re.MULTILINE)]
    assert numbers == [stage.stage for stage in turned.by_size] != sorted(numbers)


def test_the_summary_is_the_same_everywhere_and_says_which_rows_it_is_over(told):
    model, fit, info, X = told
    said = str(explain.summary(model))
    sentence = "averages here are over 500 training rows kept in the model."
    assert sentence in said
    plain = " ".join(said.replace("- ", "").split())
    for text in (fit, info):
        assert plain in " ".join(text.split())
    page = report.report_html(model)
    for _, sentences in explain.summary(model).sections:
        for one in sentences:
            assert json.dumps(one, ensure_ascii=False)[1:-1] in page
    given = str(explain.summary(model, background=X[:100]))
    assert "averages here are over 100 rows given." in given
    assert "averages here are over 500 rows given." in report.report_html(model, X)


def test_shares_of_variance_say_that_features_are_taken_as_independent(told):
    model, _, _, _ = told
    assert "were features independent of each other" in str(explain.summary(model))
    assert "were features independent of each other" in str(explain.card(model, "area"))
    X, y = datasets.masked_interaction(200, random_state=0)
    classes = TSLClassifier(1, early_stopping=False, random_state=0).fit(X, y > 0)
    assert "were features independent of each other" in str(explain.summary(classes))
