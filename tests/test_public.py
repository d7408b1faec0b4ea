"""The public surface, proved exact, and the words that must agree with the code."""

import ast
import dataclasses
import inspect
import re
import subprocess
import sys
import typing
from pathlib import Path

import numpy as np
import pytest
from sklearn.base import clone

import seplearn
from seplearn import SepALSRegressor, TSLClassifier, TSLRegressor, explain, load_model, plots
from seplearn._params import (
    CLASSIFIER_PARAMETERS,
    SEPALS_PARAMETERS,
    TSL_PARAMETERS,
    SepALSParameters,
    TSLParameters,
)
from seplearn._rules import Choice, Interval
from seplearn.fitting.options import FitOptions
from seplearn.losses import LOSSES

ROOT = Path(__file__).parents[1]


def test_exported_names():
    assert sorted(seplearn.__all__) == [
        "Branch", "ClassEvaluation", "ClassModels", "ClassView", "Confusion", "Edit", "EditEffect",
        "EditRecord", "Evaluation", "ModelFormatError", "Provenance", "Scorecard",
        "SepALSRegressor", "SeparationModel", "SizePath", "Stage", "StageRecord", "TSLClassifier",
        "TSLRegressor", "__version__", "datasets", "explain", "load_model", "merge", "report",
    ]  # fmt: skip
    assert all(hasattr(seplearn, name) for name in seplearn.__all__)
    assert sorted(explain.__all__) == [
        "BagCurves", "Change", "ClassFeature", "ClassImportance", "ClassResponse", "ClassSummary",
        "Comparison", "Counterfactual", "Curve", "Decisions", "Drift", "FeatureCard",
        "FeatureRole", "FeatureSummary", "Flip", "Importance",
        "IndividualExpectation", "Interactions", "LocalExplanation", "MainEffects",
        "PaperImportance", "PartialDependence", "Partner", "Reconstruction", "Response", "Roles",
        "Segments", "ShapleyValues", "SignChange", "SizeChoice", "Stability", "StageContributions",
        "StageCurves", "StageMap", "StageRoles", "Statement", "Summary", "TiltDiagnostics", "bags",
        "card", "compare", "counterfactual", "curves", "decisions", "drift", "ice", "importance",
        "interactions", "local", "main_effects", "maps", "partial_dependence", "reconstruct",
        "response", "roles", "segments", "shapley", "size_path", "stability", "stages", "summary",
        "tilt",
    ]  # fmt: skip
    results = [getattr(explain, name) for name in explain.__all__]
    figures = {r._figure for r in results if hasattr(r, "_figure")}
    of_evaluations = {"plot_calibration", "plot_confusion", "plot_gain", "plot_precision_recall",
                      "plot_roc"}  # fmt: skip
    assert figures | of_evaluations == set(plots.__all__)
    assert sorted(plots.__all__) == [
        "plot_bags", "plot_calibration", "plot_card", "plot_class_importance",
        "plot_class_response",
        "plot_comparison",
        "plot_confusion",
        "plot_counterfactual", "plot_curve", "plot_curves", "plot_decisions", "plot_drift",
        "plot_gain", "plot_ice",
        "plot_importance", "plot_interactions", "plot_local", "plot_main_effects", "plot_map",
        "plot_paper_importance", "plot_partial_dependence", "plot_precision_recall",
        "plot_reconstruction", "plot_response", "plot_roc", "plot_roles", "plot_segments",
        "plot_shapley", "plot_size_path", "plot_stability", "plot_stages",
        "plot_summary", "plot_tilt",
    ]  # fmt: skip


def test_version_is_the_newest_of_the_changelog():
    text = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    newest = re.search(r"^## \[?(\d+\.\d+\.\d+)", text, flags=re.MULTILINE)
    assert newest is not None
    assert newest.group(1) == seplearn.__version__


ESTIMATORS = {
    TSLRegressor: TSL_PARAMETERS,
    TSLClassifier: CLASSIFIER_PARAMETERS,
    SepALSRegressor: SEPALS_PARAMETERS,
}


@pytest.mark.parametrize(("estimator", "table"), ESTIMATORS.items())
def test_the_parameter_table_is_the_signature(estimator, table):
    signature = inspect.signature(estimator).parameters
    assert sorted(p.name for p in table) == sorted(signature)
    assert table[0].name == next(iter(signature))  # all others are given by name
    for parameter in table:
        assert signature[parameter.name].default == parameter.default
        parameter.rule.check(parameter.name, parameter.default)


@pytest.mark.parametrize(
    ("estimator", "fields", "options", "own"),
    [
        (TSLRegressor, TSLParameters, FitOptions, {"directions", "n_classes", "start"}),
        (SepALSRegressor, SepALSParameters, SepALSParameters, set()),
    ],
)
def test_a_parameter_has_two_places(estimator, fields, options, own):
    """A row of the table and a typed field; nothing else lists the parameters."""
    names = {field.name for field in dataclasses.fields(fields)}
    assert names == {parameter.name for parameter in ESTIMATORS[estimator]}
    assert {field.name for field in dataclasses.fields(estimator)} == names
    assert not names & set(vars(estimator).get("__annotations__", ()))
    assert {field.name for field in dataclasses.fields(options)} == names | own
    assert options is fields or set(vars(options)["__annotations__"]) == own
    source = inspect.getsource(inspect.getmodule(estimator))
    assert not re.search(r"self\.\w+ = \w+\n|def __init__", source)


def test_a_new_field_is_a_parameter_of_the_estimator():
    @dataclasses.dataclass(eq=False, repr=False, kw_only=True)
    class Extended(TSLRegressor):
        extra: float = 0.5

    model = Extended(3, extra=0.25)
    assert model.get_params()["extra"] == clone(model).extra == 0.25
    assert repr(model) == "Extended(extra=0.25, n_stages=3)"
    assert model.set_params(extra=1.0).extra == 1.0
    with pytest.raises(TypeError, match=r"TSLRegressor.__init__\(\) got an unexpected"):
        TSLRegressor(extra=1)


@pytest.mark.parametrize(("fields", "table"), [(TSLParameters, TSL_PARAMETERS),
                                               (SepALSParameters, SEPALS_PARAMETERS)])  # fmt: skip
def test_types_allow_the_words_that_rules_allow(fields, table):
    hints = typing.get_type_hints(fields)
    for parameter in table:
        if isinstance(parameter.rule, Choice):
            words = typing.get_args(hints[parameter.name])
            if parameter.name == "loss":
                assert words == ()  # any text: the table of losses is the only place with words
                words = tuple(LOSSES)
            assert words == parameter.rule.options


@pytest.mark.parametrize(("estimator", "table"), ESTIMATORS.items())
def test_the_docstring_tells_every_parameter(estimator, table):
    for parameter in table:
        expected = f"{parameter.name} : {parameter.rule}, default={parameter.default!r}"
        assert expected in estimator.__doc__
        assert parameter.meaning in estimator.__doc__
    assert "{parameters}" not in estimator.__doc__


@pytest.mark.parametrize("kind", ["joint", "classes", "sepals"])
def test_the_docstring_tells_every_fitted_attribute(kind):
    model = load_model(ROOT / "tests" / "golden" / f"{kind}-v4.tsl")
    found = {name for name in dir(model) if name[0] != "_" and name[-1] == "_"}
    section = inspect.getdoc(type(model)).split("Attributes\n----------\n")[1]
    told = set(re.findall(r"^(\w+_) : ", section.split("Examples\n")[0], re.MULTILINE))
    assert found <= told
    assert told - found <= {"feature_names_in_"}  # of a fit to an array there are none


def test_what_a_model_consists_of_is_shown_in_a_few_words():
    """Not by thousands of numbers: a line of a session shows what it is."""
    one, several = (load_model(ROOT / "tests" / "golden" / f"{kind}-v4.tsl")
                    for kind in ("joint", "classes"))  # fmt: skip
    view = several.for_class(several.classes_[0])
    y = np.arange(200.0)
    evaluation = seplearn.Evaluation.of(y, y + 1.0)
    parts = (one.model_, one.stages_[0], one.stages_[0].plus, several.model_, view, evaluation)
    for part in parts:
        assert len(repr(part)) < 1000, type(part).__name__
    assert "rmse=1.0" in repr(evaluation)
    assert repr(view) == f"ClassView(quantity={view.quantity!r})"


def test_the_table_of_paper_names_is_complete():
    text = inspect.getdoc(TSLRegressor.paper)
    documented = dict(re.findall(r"^(\w+) {2,}(\w+)", text, re.MULTILINE))
    documented.pop("paper")
    assert documented == {p.paper_name: p.name for p in TSL_PARAMETERS if p.paper_name is not None}


def test_rules_read_as_sentences():
    assert str(Interval(1, whole=True)) == "an integer >= 1"
    assert str(Interval(0, 1, above=True)) == "a number > 0 and <= 1"
    assert str(Choice(("a", "b"))) == "one of 'a', 'b'"


def test_type_checkers_see_every_name_that_is_fetched_when_it_is_used():
    """A name that only ``__getattr__`` knows is of any type to them."""
    tree = ast.parse(Path(seplearn.__file__).read_text(encoding="utf-8"))
    (block,) = (node for node in tree.body if isinstance(node, ast.If))
    imports = [line for line in block.body if isinstance(line, ast.ImportFrom)]
    seen = {name.name for line in imports for name in line.names}
    assert seen == {*seplearn._PLACES, *seplearn._MODULES}


def test_the_package_is_typed():
    assert (Path(seplearn.__file__).parent / "py.typed").exists()


def test_the_readme_example_runs(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    example = text.split("```python\n")[1].split("```")[0]
    exec(example, {})
    printed = capsys.readouterr().out.splitlines()
    assert float(re.search(r"R² (\S+) on", printed[0])[1]) > 0.9
    told = "\n".join(printed)
    assert "x1, x2 scale; x3 directs, flipping at -" in told
    assert "changes its sign along x2 at" in told
    assert "changes its sign along x3 at -1" in told
    assert "does not change its sign along x1" in told
    assert float(printed[-1]) == 0.0
    assert (tmp_path / "one_row.png").exists()


def test_the_example_of_the_explanations_page_runs(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    text = (ROOT / "docs" / "explanations.md").read_text(encoding="utf-8")
    fit, one_row, _ = re.findall(r"```python\n(.*?)```", text, re.DOTALL)  # the last names no data
    exec(fit + one_row, {})
    assert "scale" in capsys.readouterr().out
    functions = set(re.findall(r"^\| `(\w+)\(", text, re.MULTILINE))
    assert functions == {name for name in explain.__all__ if name[0].islower()}


def test_importing_the_package_is_cheap_and_names_come_when_asked_for():
    code = (
        "import sys, seplearn;"
        "heavy = {'sklearn', 'numba', 'matplotlib', 'pandas', 'scipy'} & set(sys.modules);"
        "assert not heavy, heavy;"
        "assert set(seplearn.__all__) <= set(dir(seplearn));"
        "assert all(getattr(seplearn, name) is not None for name in seplearn.__all__);"
        "assert seplearn.TSLRegressor is seplearn.estimators.tsl.TSLRegressor;"
        "assert 'matplotlib' not in sys.modules;"
        "assert seplearn.plots.plot_curve is not None"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
    with pytest.raises(AttributeError, match="no attribute 'TSLTransformer'"):
        _ = seplearn.TSLTransformer
