"""Every result as a data frame of the training table's library, and as a short text."""

import html
from dataclasses import replace

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from seplearn import TSLClassifier, TSLRegressor, datasets, explain
from seplearn._numerals import number_text
from seplearn.table.binning import NumericAxis
from tests.explained import (
    EXPLANATIONS,
    NAMES,
    QUICK,
    array,
    bands,
    joint,
    one_branch,
    paper,
    table,
    weighted_polars,
)

every_explanation = pytest.mark.parametrize("name", EXPLANATIONS)
LIBRARIES = {
    "pandas": (joint, pd.DataFrame),
    "polars": (weighted_polars, pl.DataFrame),
    "array": (array, pd.DataFrame),
}


def frames_of(result):
    """``frame()`` and whatever other frames a result has."""
    others = [n for n in ("stage_frame", "feature_frame") if hasattr(result, n)]
    return [getattr(result, name)() for name in ("frame", *others)]


@every_explanation
@pytest.mark.parametrize(("make", "kind"), LIBRARIES.values(), ids=LIBRARIES.keys())
def test_frames_are_of_the_library_of_the_training_table(name, make, kind):
    case = make()
    for frame in frames_of(EXPLANATIONS[name](case.subject, case.X)):
        assert isinstance(frame, kind)
        assert len(frame) > 0
        assert len(set(frame.columns)) == len(frame.columns)


@every_explanation
def test_text_is_text_in_polars_too(name):
    case = weighted_polars()
    for frame in frames_of(EXPLANATIONS[name](case.subject, case.X)):
        assert pl.Object not in frame.dtypes
        assert pl.Null not in frame.dtypes


@every_explanation
def test_pandas_and_polars_frames_have_the_same_numbers(name):
    X, y = table()
    polars = weighted_polars().X
    one, other = (TSLRegressor(**QUICK).fit(t, y) for t in (X, polars))
    pairs = zip(
        frames_of(EXPLANATIONS[name](one, X)),
        frames_of(EXPLANATIONS[name](other, polars)),
        strict=True,
    )
    for frame, twin in pairs:
        assert list(frame.columns) == twin.columns
        for column in frame.columns:
            mine, theirs = frame[column].to_numpy(), twin[column].to_numpy()
            if mine.dtype.kind in "fiub":
                np.testing.assert_allclose(mine.astype(float), theirs.astype(float), rtol=1e-9)
            else:
                assert [str(v) for v in mine] == [str(v) for v in theirs]


def test_pyarrow_too():
    X, y = table()
    model = TSLRegressor(**QUICK).fit(pa.Table.from_pandas(X), y)
    for name in ("importance", "roles", "partial_dependence", "curves"):
        assert isinstance(EXPLANATIONS[name](model, X).frame(), pa.Table)


def test_bags_have_a_frame():
    result = explain.bags(paper().subject, 1)
    frame = result.frame()
    assert isinstance(frame, pd.DataFrame)
    for j, name in enumerate(NAMES):
        rows = frame[frame["feature"] == name]
        for grid, backbone in enumerate(result.backbones[j]):
            own = rows[rows["grid"] == grid]
            assert own["bin"].tolist() == list(range(len(backbone)))
            np.testing.assert_array_equal(own["backbone"], backbone)
            assert set(own["kept"]) == {result.kept[grid]}
            assert set(own["scale"]) == {result.scale[grid]}
    assert len(repr(result)) < 500


def test_a_table_of_another_library_does_not_change_the_answer():
    """Frames are in the library of the training table, whatever the rows to explain came in."""
    model, rows = joint().subject, weighted_polars().X[:3]
    assert isinstance(explain.shapley(model, rows).frame(), pd.DataFrame)
    assert isinstance(explain.ice(model, 0, rows).frame(), pd.DataFrame)
    assert isinstance(explain.local(model, rows).frame(), pd.DataFrame)


def test_bare_models_answer_in_pandas():
    assert isinstance(explain.importance(joint().model).frame(), pd.DataFrame)


def test_curves():
    case = bands()
    curves = explain.curves(case.subject, 1)
    frame = curves.frame()
    assert len(frame) == sum(case.n_bins)
    for curve in curves:
        rows = frame[frame["feature"] == curve.name]
        pd.testing.assert_frame_equal(rows.reset_index(drop=True), curve.frame(), check_dtype=False)
        assert set(rows["stage"]) == {1}
        np.testing.assert_array_equal(rows["frequency"], curve.frequencies)
        for part in ("plus", "minus", "backbone", "tilt"):
            np.testing.assert_array_equal(rows[part], getattr(curve, part))
            np.testing.assert_array_equal(rows[f"{part}_lower"], curve.bands[part][0])
            np.testing.assert_array_equal(rows[f"{part}_upper"], curve.bands[part][1])
    numbers = frame[frame["feature"] == "pd"]
    edges = curves["pd"].axis.edges
    np.testing.assert_array_equal(numbers["lower"], [-np.inf, *edges, np.nan])
    np.testing.assert_array_equal(numbers["upper"], [*edges, np.inf, np.nan])
    assert set(numbers["level"]) == {""}
    words = frame[frame["feature"] == NAMES[3]]
    names = ["Südost", "north", "south", "(rare)", "(missing)", "(unseen)"]
    assert words["level"].tolist() == names
    assert words["lower"].isna().all()


def test_absent_parts_are_missing_in_the_frame():
    frame = explain.curves(one_branch().subject, 0).frame()
    assert frame[["minus", "tilt"]].isna().all(axis=None)
    assert frame[["plus", "backbone"]].notna().all(axis=None)


def test_partial_dependence():
    case = bands()
    result = explain.partial_dependence(case.subject, [NAMES[0], NAMES[3]])
    frame = result.frame()
    assert len(frame) == 11 * 6
    for number, (a, b) in enumerate(np.ndindex(result.shape)):
        row = frame.iloc[number]
        assert row["pd"] == result.total[a, b]
        assert row["pd_lower"] == result.band()[0, a, b]
        assert row["pd_upper"] == result.band()[1, a, b]
        for s in (0, 1):
            assert row[f"stage_{s}"] == result.stages[s, a, b]
            assert row[f"stage_{s}_plus"] == result.plus[s, a, b]
            assert row[f"stage_{s}_minus"] == result.minus[s, a, b]
    assert frame[NAMES[3]].iloc[:6].tolist()[-3:] == ["(rare)", "(missing)", "(unseen)"]
    # The value shown for a bin lies in it: the model's own bins say so.
    values = frame[NAMES[0]].to_numpy()[::6]
    codes = np.searchsorted(result.axes[0].edges, values[:-1], side="right")
    np.testing.assert_array_equal(codes, np.arange(10))
    assert np.isnan(values[-1])
    flag = explain.partial_dependence(case.subject, 2).frame()["prediction"]
    np.testing.assert_array_equal(flag, [0.0, 1.0, np.nan])


def test_individual_expectation():
    case = joint()
    result = explain.ice(case.subject, 4, case.X[:3])
    frame = result.frame()
    assert frame["row"].tolist() == np.repeat([0, 1, 2], 8).tolist()
    np.testing.assert_array_equal(frame["backbone"], [*range(7), np.nan] * 3)
    np.testing.assert_array_equal(frame["prediction"], result.values.ravel())


def test_importance():
    result = explain.importance(bands().subject, gamma=2.0, kind="paper")
    frame = result.frame()
    assert sorted(frame["feature"]) == sorted(NAMES)
    assert (np.diff(frame["combined"]) <= 0).all()
    for _, row in frame.iterrows():
        j = NAMES.index(row["feature"])
        for part in ("combined", "total_backbone", "total_tilt"):
            assert row[part] == getattr(result, part)[j]
            assert row[f"{part}_lower"] == result.bands[part][0, j]
            assert row[f"{part}_upper"] == result.bands[part][1, j]
    stages = result.stage_frame()
    assert stages["feature"].tolist() == NAMES * 2
    assert stages["stage"].tolist() == [0] * 5 + [1] * 5
    np.testing.assert_array_equal(stages["stage_weight"], np.repeat(result.stage_weights, 5))
    np.testing.assert_array_equal(stages["backbone"], result.backbone.ravel())
    np.testing.assert_array_equal(stages["tilt"], result.tilt.ravel())


def test_local():
    case = bands()
    result = explain.local(case.subject, case.X, 3)
    frame = result.frame()
    assert frame["stage"].tolist() == ["0", "1", "intercept"]
    assert frame["contribution"].sum() == pytest.approx(result.prediction, rel=1e-12)
    for name, values in (
        ("plus", result.plus),
        ("minus", result.minus),
        ("backbone_scale", result.backbone_scale),
        ("tilt_intercept", result.tilt_intercept),
        ("contribution_lower", result.bands[0]),
        ("contribution_upper", result.bands[1]),
    ):
        np.testing.assert_array_equal(frame[name], [*values, np.nan])
    features = result.feature_frame()
    assert features["feature"].tolist() == NAMES * 2
    assert features["value"].tolist() == list(result.values) * 2
    np.testing.assert_array_equal(features["stage"], np.repeat([0, 1], 5))
    for name in ("backbone", "tilt", "backbone_share"):
        np.testing.assert_array_equal(features[name], getattr(result, name).ravel())


def test_stages_and_reconstruction():
    case = joint()
    result = explain.stages(case.subject)
    frame = result.frame()
    assert frame["stage"].tolist() == [0, 1, 2]
    for name in ("mean", "mean_size", "share"):
        np.testing.assert_array_equal(frame[name], getattr(result, name))
    rebuilt = explain.reconstruct(case.subject, 1)
    np.testing.assert_array_equal(rebuilt.frame()["direct"], rebuilt.direct)
    np.testing.assert_array_equal(rebuilt.frame()["rebuilt"], rebuilt.rebuilt)


def test_roles_and_tilt():
    case = joint()
    result = explain.roles(case.subject)
    frame = result.frame()
    assert len(frame) == 15
    for number, (s, j) in enumerate(np.ndindex(3, 5)):
        role, row = result.stages[s].features[j], frame.iloc[number]
        assert (row["stage"], row["feature"], row["role"]) == (s, NAMES[j], role.role)
        assert (row["scaling"], row["directing"]) == (role.scaling, role.directing)
        assert row["stage_weight"] == result.stages[s].weight
        assert row["flips"] == ", ".join(f"{flip.at:.6g}" for flip in role.flips)
    assert frame["flips"].str.len().max() > 0
    diagnostics = explain.tilt(case.subject, 2)
    frame = diagnostics.frame()
    assert frame["feature"].tolist() == NAMES
    assert set(frame["stage"]) == {2}
    for name in ("spread", "share", "constant"):
        np.testing.assert_array_equal(frame[name], getattr(diagnostics, name))


def test_map_shapley_and_interactions():
    case = joint()
    result = explain.maps(case.subject, 0, (2, 3))
    frame = result.frame()
    np.testing.assert_array_equal(frame["backbone"], result.backbone.ravel())
    np.testing.assert_array_equal(frame["tilt"], result.tilt.ravel())
    np.testing.assert_array_equal(frame["prediction"], np.repeat([0.0, 1.0, np.nan], 6))
    values = explain.shapley(case.subject, case.X[:4])
    frame = values.frame()
    np.testing.assert_array_equal(frame.to_numpy()[:, :5], values.values)
    np.testing.assert_array_equal(frame["base"], values.base)
    np.testing.assert_allclose(frame["prediction"], case.subject.predict(case.X[:4]), rtol=1e-12)
    pairs = explain.interactions(case.subject)
    frame = pairs.frame()
    assert len(frame) == 10
    assert (np.diff(frame["pairwise"]) <= 0).all()
    for _, row in frame.iterrows():
        j, k = NAMES.index(row["first"]), NAMES.index(row["second"])
        assert row["pairwise"] == pairs.pairwise[j, k]
        assert row["h"] == pairs.h[j, k]
    features = pairs.feature_frame()
    assert features["feature"].tolist() == NAMES
    for name in ("main", "total", "h_total"):
        np.testing.assert_array_equal(features[name], getattr(pairs, name))


CLASHING = [
    "pd", "pd (value)", "stage_0", "stage_0 (value)", "row", "row (value)", "prediction",
    "prediction (value)", "base", "base (value)", "backbone", "backbone (value)", "tilt",
]  # fmt: skip


@pytest.fixture(scope="module")
def clashing():
    """A model whose features have the names of result columns, also those given in a clash."""
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.integers(0, 3, size=(80, len(CLASHING))).astype(float), columns=CLASHING)
    y = (X["pd"] - 1) * X["base"] + X["row"] * X["tilt"]
    return TSLRegressor(**QUICK | {"n_stages": 1}).fit(X, y), X


@pytest.mark.parametrize(
    "pair", [("pd", "pd (value)"), ("stage_0", "stage_0 (value)"), ("pd", "stage_0")]
)
def test_dependence_loses_no_column_to_a_clash(clashing, pair):
    model, _ = clashing
    result = explain.partial_dependence(model, list(pair))
    frame = result.frame()
    assert len(frame.columns) == 2 + 4  # two features; pd, the stage and its two products
    np.testing.assert_array_equal(frame["pd"], result.total.ravel())
    np.testing.assert_array_equal(frame["stage_0"], result.stages[0].ravel())
    values = [frame.iloc[:, j].to_numpy() for j in (0, 1)]
    grid = np.meshgrid([0.0, 1.0, 2.0, np.nan], [0.0, 1.0, 2.0, np.nan], indexing="ij")
    np.testing.assert_array_equal(values, [part.ravel() for part in grid])


@pytest.mark.parametrize("name", ["row", "row (value)", "prediction"])
def test_individual_expectation_loses_no_column_to_a_clash(clashing, name):
    model, X = clashing
    result = explain.ice(model, name, X[:2])
    frame = result.frame()
    assert len(frame.columns) == 3
    assert frame["row"].tolist() == [0] * 4 + [1] * 4
    np.testing.assert_array_equal(frame["prediction"], result.values.ravel())
    np.testing.assert_array_equal(frame.iloc[:, 1], [0.0, 1.0, 2.0, np.nan] * 2)


@pytest.mark.parametrize("pair", [("backbone", "tilt"), ("backbone", "backbone (value)")])
def test_maps_lose_no_column_to_a_clash(clashing, pair):
    model, _ = clashing
    result = explain.maps(model, 0, pair)
    frame = result.frame()
    assert len(frame.columns) == 4
    np.testing.assert_array_equal(frame["backbone"], result.backbone.ravel())
    np.testing.assert_array_equal(frame["tilt"], result.tilt.ravel())


def test_shapley_values_lose_no_column_to_a_clash(clashing):
    model, X = clashing
    result = explain.shapley(model, X[:3])
    frame = result.frame()
    assert len(frame.columns) == len(CLASHING) + 2
    np.testing.assert_array_equal(frame.to_numpy()[:, : len(CLASHING)], result.values)
    np.testing.assert_array_equal(frame["prediction"], result.predictions)


@every_explanation
@pytest.mark.parametrize("make", [joint, weighted_polars, bands])
def test_texts_are_short(name, make):
    case = make()
    result = EXPLANATIONS[name](case.subject, case.X)
    assert len(repr(result)) < 600
    assert type(result).__name__ in repr(result)


def test_texts_are_short_with_many_bins_and_levels():
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"x": rng.normal(size=400), "w": [f"level {k % 60}" for k in range(400)]})
    model = TSLRegressor(1, early_stopping=False, n_splits=4, random_state=0).fit(X, 2.0 * X["x"])
    for feature in ("x", "w"):
        assert len(repr(explain.curves(model, 0)[feature])) < 500
        assert len(repr(explain.ice(model, feature, X[:2]))) < 500


def test_texts_are_short_for_long_names_too():
    X, y = table()
    wide = X.rename(columns={column: column + " is a very long name" * 8 for column in NAMES})
    model = TSLRegressor(**QUICK | {"n_stages": 2}).fit(wide, y)
    sizes = {name: len(repr(make(model, wide))) for name, make in EXPLANATIONS.items()}
    assert {name: size for name, size in sizes.items() if size >= 500} == {}


@pytest.mark.parametrize("edges", [[], [10.0], [10.0, 11.0], [10.0, 10.5, 30.0]])
def test_values_of_open_bins_lie_where_training_values_were(edges):
    axis = NumericAxis(np.array(edges), None, (9.75, 40.0))
    values = axis.describe().values[:-1]
    assert ((values >= 9.75) & (values <= 40.0)).all()
    np.testing.assert_array_equal(np.searchsorted(edges, values, "right"), np.arange(len(values)))


def test_a_notebook_shows_the_figure_and_the_frame(monkeypatch):
    result = explain.importance(joint().subject, kind="paper")
    for library in ("pandas", "polars"):
        shown = replace(result, library=library)._repr_html_()
        assert "<table" in shown
        assert shown.startswith('<img alt="PaperImportance"')
    assert "<table" not in replace(result, library="pyarrow")._repr_html_()
    without_matplotlib(monkeypatch)
    assert "<img" not in result._repr_html_()
    assert replace(result, library="pyarrow")._repr_html_() is None


def test_what_cannot_be_drawn_is_shown_as_a_frame():
    case = joint()
    result = explain.partial_dependence(case.subject, [0, 2, 4])
    assert "<img" not in result._repr_html_()
    assert "<table" in result._repr_html_()


def without_matplotlib(monkeypatch):
    def refuse(name):
        raise ModuleNotFoundError(name, name="matplotlib")

    monkeypatch.setattr("seplearn.explain.result.importlib.import_module", refuse)


@pytest.fixture
def hostile():
    X, y = table()
    name = "<script>alert(1)</script>"
    return TSLRegressor(**QUICK).fit(X.rename(columns={NAMES[1]: name}), y), name


def test_a_notebook_shows_what_a_fitted_model_says(hostile, monkeypatch):
    model, name = hostile
    shown = model._repr_mimebundle_()["text/html"]
    assert "n_stages" in shown  # the parameters, as scikit-learn shows them
    sentence = explain.summary(model).sections[0][1][0]
    assert html.escape(sentence) in shown
    assert html.escape(name) in shown
    assert name not in shown
    assert 'src="data:image/png;base64,' in shown
    without_matplotlib(monkeypatch)
    assert 'src="data:image/png;base64,' not in model._repr_html_()
    assert html.escape(sentence) in model._repr_html_()


def test_a_notebook_shows_parameters_where_there_is_nothing_to_say():
    X, y = table()
    bare = TSLRegressor(**QUICK, background_size=0).fit(X, y)
    constant = TSLRegressor(**QUICK).fit(X, np.full(len(y), 2.0))
    for model in (TSLRegressor(), bare, constant):
        assert "<li>" not in model._repr_html_()
        assert "n_stages" in model._repr_html_()


def test_a_summary_in_a_notebook_has_sentences_figure_and_frame():
    summary = explain.summary(joint().subject)
    shown = summary._repr_html_()
    assert html.escape(summary.sections[1][1][0]) in shown
    assert "<img" in shown
    assert "<table" in shown


def test_what_is_printed_is_the_frame():
    result = explain.importance(joint().subject)
    assert str(result) == result.frame().to_string(index=False)


def test_a_wide_frame_is_printed_with_all_its_columns(capsys):
    X, y = datasets.rents(300, random_state=0)
    model = TSLRegressor(1, early_stopping=False, random_state=0).fit(X, y)
    drift = explain.drift(model, X)
    print(drift)
    told = capsys.readouterr().out
    assert all(name in told.splitlines()[0].split() for name in drift.frame().columns)
    assert len(str(explain.shapley(model, X)).splitlines()) < 60  # not all of many rows


def test_a_row_is_printed_as_a_sum():
    X, y = datasets.rents(300, random_state=0)
    model = TSLRegressor(2, main_effects=True, early_stopping=False, random_state=0).fit(X, y)
    local = explain.local(model, X.assign(area=1e6), row=3)
    lines = str(local).splitlines()
    assert lines[0].split() == ["constant", number_text(local.intercept, 4)]
    n_acting = np.count_nonzero(local.effects)
    assert sum(line.startswith("main effect of ") for line in lines) == n_acting > 1
    assert sum(line.startswith("stage ") for line in lines) == len(local.contributions)
    assert lines[n_acting + 3].split() == ["prediction", number_text(local.prediction, 4)]
    assert lines[n_acting + 4].startswith("area: ")


def test_a_row_of_a_link_is_printed_with_its_prediction_too():
    X, y = datasets.rents(300, random_state=0)
    options = {"n_stages": 1, "early_stopping": False, "random_state": 0}
    rates = TSLRegressor(loss="poisson", **options).fit(X, np.rint(y / 100.0))
    shares = TSLClassifier(**options).fit(X, np.where(y > np.median(y), "dear", "cheap"))
    told = {
        "prediction": (rates, rates.predict(X[3:4])[0]),
        "probability of dear": (shares, shares.predict_proba(X[3:4])[0, 1]),
    }
    for response, (model, expected) in told.items():
        local = explain.local(model, X, row=3)
        assert local.response == response
        assert local.response_value == pytest.approx(expected, rel=1e-12)
        above, last = str(local).splitlines()[-2:]
        assert above.startswith(local.quantity)
        assert last.startswith(response)
        assert last.split()[-1] == number_text(expected, 4)


def test_changes_are_printed_in_words():
    X, y = datasets.rents(300, random_state=0)
    model = TSLRegressor(1, early_stopping=False, random_state=0).fit(X, y)
    now = float(model.predict(X[:1])[0])
    some = explain.counterfactual(model, X, row=0, target=now * 1.2)
    assert str(some).splitlines()[1].startswith(" and ".join(some.changes[0].texts))
    assert len(str(some).splitlines()) == len(some.changes) + 1
    assert some.why_none == ""
    none = explain.counterfactual(model, X, row=0, target=now * 1000.0)
    assert none.why_none.startswith("No change of one or two features")
    lines = str(none).splitlines()
    assert lines[0] == f"{none.why_none} Nearest to it (now {number_text(now, 4)}) come:"
    assert len(lines) == 1 + len(none.nearest) > 1


def test_repr_is_short():
    result = explain.importance(joint().subject)
    assert repr(result).startswith("Importance(names=")
