import dataclasses
import json
import math
import os
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import seplearn
from seplearn import (
    ModelFormatError,
    SepALSRegressor,
    TSLRegressor,
    datasets,
    explain,
    load_model,
)
from seplearn.model.evaluation import Evaluation
from seplearn.model.format import VERSION
from seplearn.model.header import read_edits
from seplearn.model.stage import Stage
from tests.model.damage import parts, sums_of

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
    "bands": {"n_bootstrap": 3, "monotonic_cst": {"number": 1}, "main_effects": False},
    "two starts": {"n_starts": 2},
    "chosen size": {"early_stopping": True},
    "main effects": {"main_effects": True},
    "bands of main effects": {"main_effects": True, "n_bootstrap": 3},
}


@pytest.mark.parametrize("options", VARIANTS.values(), ids=VARIANTS.keys())
def test_a_loaded_model_is_the_model(options, tmp_path):
    frame, y = mixed_table()
    model = TSLRegressor(**(QUICK | options)).fit(frame, y)
    model.save(tmp_path / "m.tsl")
    again = load_model(tmp_path / "m.tsl")
    np.testing.assert_array_equal(again.predict(frame), model.predict(frame))
    np.testing.assert_array_equal(again.predict_stages(frame), model.predict_stages(frame))
    np.testing.assert_array_equal(again.predict_effects(frame), model.predict_effects(frame))
    if "main_effects" in options:
        assert (again.model_.effects is not None) == options["main_effects"]
    assert again.size_paths_ == model.size_paths_
    assert len(again.size_paths_) == (2 if options.get("early_stopping") else 0)
    if options.get("n_bootstrap"):
        np.testing.assert_array_equal(
            again.predict_interval(frame, kind="mean"), model.predict_interval(frame, kind="mean")
        )
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


@pytest.mark.parametrize("unit", [2.0**-10, 2.0**10])
def test_paths_of_sizes_are_in_the_unit_of_y(unit):
    frame, y = mixed_table()
    one, other = (
        TSLRegressor(2, n_grids=2, main_effects=False, random_state=0).fit(frame, y * factor)
        for factor in (1.0, unit)
    )
    (plain,), (scaled,) = one.size_paths_, other.size_paths_
    np.testing.assert_allclose(scaled.losses, np.multiply(plain.losses, unit**2), rtol=1e-6)
    np.testing.assert_allclose(scaled.errors, np.multiply(plain.errors, unit**2), rtol=1e-6)
    assert plain.losses[0] > 0.1 * np.var(y)
    assert (scaled.main_effects, scaled.chosen) == (plain.main_effects, plain.chosen)


def test_stages_that_were_chosen_by_hand_have_no_path():
    frame, y = mixed_table()
    model = TSLRegressor(2, n_grids=2, main_effects=False, random_state=0).fit(frame, y)
    assert len(model.size_paths_) == 1
    assert model.select_stages([0]).size_paths_ == ()


def test_curves_that_say_nothing_are_exactly_flat_in_the_file(tmp_path):
    rng = np.random.default_rng(0)
    X = rng.uniform(-1, 1, size=(400, 5))
    y = np.exp(X[:, 0]) * X[:, 1] + rng.normal(0, 0.1, 400)
    model = TSLRegressor(2, main_effects=False, early_stopping=False, random_state=0).fit(X, y)
    model.save(tmp_path / "m.tsl")
    _, arrays, _ = parts((tmp_path / "m.tsl").read_bytes())
    bins = model.model_.bins
    used = {j for stage in model.stages_ for j in stage.features(bins)}
    assert {0, 1} <= used < set(range(5))
    again = load_model(tmp_path / "m.tsl").model_
    for j in set(range(5)) - used:
        assert (arrays["log_factors"][:, bins.axis(j)] == 0.0).all()
        for branch in (branch for stage in again.stages for branch in stage.branches):
            assert (branch.log_factors[bins.axis(j)] == 0.0).all()
    found = [stage.features(bins) for stage in again.stages]
    assert found == [stage.features(bins) for stage in model.stages_]


def test_a_file_says_which_library_wrote_it(tmp_path):
    frame, y = mixed_table()
    TSLRegressor(**QUICK).fit(frame, y).save(tmp_path / "m.tsl")
    header, _, _ = parts((tmp_path / "m.tsl").read_bytes())
    assert header["library"] == seplearn.__version__


def test_nameless_models_too(tmp_path):
    X, y = datasets.masked_interaction(300, random_state=0)
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
    np.testing.assert_allclose(sums_of(model, table), expected["predictions"], rtol=1e-12)
    if "dependence" in expected:
        dependence = explain.partial_dependence(model, "number").total
        np.testing.assert_allclose(dependence, expected["dependence"], rtol=1e-12)
    if "edits" in expected:
        assert [str(record) for record in model.edits_] == expected["edits"]
    if "intervals" in expected:
        np.testing.assert_allclose(
            model.predict_interval(table, kind="mean"), expected["intervals"], rtol=1e-12
        )
    if "outcomes" in expected:
        np.testing.assert_allclose(model.predict_interval(table), expected["outcomes"], rtol=1e-12)


def test_there_are_golden_files():
    versions = {int(path.stem.rsplit("v", 1)[1]) for path in GOLDEN.glob("*.tsl")}
    assert versions == {3, VERSION}


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
    with pytest.raises(ValueError, match="y must hold the outcomes"):
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


@pytest.mark.parametrize("main_effects", [False, True])
def test_the_plain_form_is_json_and_scores(main_effects):
    frame, y = mixed_table()
    model = TSLRegressor(**QUICK, main_effects=main_effects).fit(frame, y)
    text = json.dumps(model.to_dict(), allow_nan=False)
    page = Path(seplearn.__file__).parents[2] / "docs" / "model-json.md"
    scorer = page.read_text(encoding="utf-8").split("```python\n")[1].split("```")[0]
    assert scorer.count("\n") <= 45
    scope: dict[str, Any] = {}
    exec(scorer, scope)
    rows = [
        {k: (None if pd.isna(v) else v) for k, v in row.items()} for row in frame.to_dict("records")
    ]
    rows += [{"number": 99.0, "level": "never seen", "flag": True}]
    rows += [{"number": 1.0, "level": None, "flag": flag} for flag in (0, 1, 1.0, "1", "True", 2)]
    plain = json.loads(text)
    assert plain["version"] == 4
    assert bool(plain["sums"][0]["effects"]) == main_effects
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


def test_names_of_any_length_are_saved(tmp_path):
    X = np.random.default_rng(0).normal(size=(60, 2))
    frame = pd.DataFrame(X, columns=["a" * 100_000, "\N{PARROT}\n\x00"])
    frame["level"] = np.where(X[:, 0] > 0, "b" * 100_000, "")
    y = pd.Series(X[:, 0], name="y" * 10_000)
    model = TSLRegressor(1, early_stopping=False, random_state=0).fit(frame, y)
    name = "n" * (255 - len(".tsl")) + ".tsl"  # the longest that systems allow
    model.save(tmp_path / name)
    again = load_model(tmp_path / name)
    assert again.feature_names_in_.tolist() == list(frame.columns)
    assert again.target_name_ == y.name
    np.testing.assert_array_equal(again.predict(frame), model.predict(frame))
    assert [path.name for path in tmp_path.iterdir()] == [name]


def test_many_levels_and_stages_leave_the_header_small(tmp_path):
    names = np.array([f"{'level' * 20} {k}" for k in range(3_000)])
    frame = pd.DataFrame({"level": np.repeat(names, 2), "rare": np.arange(6_000).astype(str)})
    few = {"n_grids": 1, "n_splits": 2, "min_category_count": 2, "random_state": 0}
    model = TSLRegressor(1, refine="scalars", **few)
    with pytest.warns(UserWarning, match="levels in fewer than 2 rows each"):
        model.fit(frame, np.arange(6_000) % 7).save(tmp_path / "m.tsl")
    data = (tmp_path / "m.tsl").read_bytes()
    assert int.from_bytes(data[:8], "little") < 10_000
    axes = load_model(tmp_path / "m.tsl").model_.bins.axes
    assert axes[0].levels == tuple(sorted(names))
    assert (axes[1].levels, len(axes[1].rare)) == ((), 6_000)


def test_what_could_not_be_loaded_is_not_saved(tmp_path):
    frame, y = mixed_table()
    model = TSLRegressor(**QUICK).fit(frame, y)
    with pytest.raises(ValueError, match="n_stages must be an integer >= 0, got -1"):
        model.set_params(n_stages=-1).save(tmp_path / "m.tsl")
    model.set_params(n_stages=2).evaluation_ = dataclasses.replace(
        model.evaluate(frame, y), rmse=math.nan
    )
    with pytest.raises(ValueError, match=r"the model cannot be saved: .* must not be NaN"):
        model.save(tmp_path / "m.tsl")
    assert list(tmp_path.iterdir()) == []


def test_parameters_of_any_type_of_number_are_saved(tmp_path):
    frame, y = mixed_table()
    model = TSLRegressor(**QUICK, monotonic_cst={"number": Fraction(1)}).fit(frame, y)
    model.set_params(ridge=Fraction(1, 8), n_stages=np.int8(1), energy=np.longdouble(0.5))
    model.save(tmp_path / "m.tsl")
    again = load_model(tmp_path / "m.tsl")
    assert (again.ridge, again.n_stages, again.energy) == (0.125, 1, 0.5)
    assert again.monotonic_cst == {"number": 1}


@pytest.mark.parametrize("make", [TSLRegressor, SepALSRegressor])
@pytest.mark.parametrize("unit", [1e302, 1e-302])
def test_models_of_every_unit_are_evaluated_and_saved(make, unit, tmp_path):
    X, y = datasets.masked_interaction(200, random_state=0)
    y = y / np.abs(y).max()
    options = {"n_stages": 2, "main_effects": False} if make is TSLRegressor else {}
    model = make(**options, random_state=0).fit(X, y * unit)
    told = model.evaluate(X, y * unit, keep=True)
    model.save(tmp_path / "m.tsl")
    again = load_model(tmp_path / "m.tsl")
    assert again.evaluation_ == told
    assert again.size_paths_ == model.size_paths_
    assert len(model.size_paths_) == (make is TSLRegressor)
    plain = Evaluation.of(y, model.predict(X) / unit)
    assert told.r2 == pytest.approx(plain.r2, rel=1e-6)
    assert told.rmse / unit == pytest.approx(plain.rmse, rel=1e-6)
    np.testing.assert_allclose(np.array(told.actual) / unit, plain.actual, rtol=1e-6)
    model.evaluation_ = told = Evaluation.of(y * 1e307, model.predict(X))
    model.save(tmp_path / "m.tsl")
    assert load_model(tmp_path / "m.tsl").evaluation_ == told


def numbers_of(told, without=("classes",)):
    plain = {name: value for name, value in told.to_plain().items() if name not in without}
    plain["scores"] = list(plain["scores"].values())
    return np.concatenate([np.ravel(value) for value in plain.values()])


LARGEST = np.finfo(float).max
SIZES = [0.0, 5e-324, 1e-310, 1e-200, 1.0, 1e200, 1e307, LARGEST]


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("other", SIZES)
@pytest.mark.parametrize("heaviest", [5e-324, 1.0, 1e308])
def test_every_figure_of_an_evaluation_is_a_number(size, other, heaviest):
    random = np.random.default_rng(0)
    y, prediction = random.uniform(-1, 1, (2, 40))
    y[0], prediction[0] = 1.0, -1.0
    weight = random.choice([1e-308, 0.5, 1.0], 40) * heaviest
    weight[0] = heaviest
    for w in (None, weight):
        told = Evaluation.of(y * size, prediction * other, w)
        assert np.isfinite(numbers_of(told)).all()
        assert Evaluation.from_plain(json.loads(json.dumps(told.to_plain()))) == told
        assert told.rmse >= 0 <= told.mae
        assert told.r2 <= 1


def test_an_evaluation_in_a_small_unit_of_y_has_a_finite_r2():
    frame, y = mixed_table()
    model = TSLRegressor(**QUICK).fit(frame, y)
    told = model.evaluate(frame, y * 1e-200)
    assert told.rmse == pytest.approx(np.sqrt(np.mean(model.predict(frame) ** 2)))
    assert -np.inf < told.r2 < -1e300


def test_weights_of_an_evaluation_matter_by_their_ratio():
    frame, y = mixed_table()
    model = TSLRegressor(**QUICK).fit(frame, y)
    weight = np.linspace(0.1, 1.0, len(y))
    sums = ("classes", "residual_counts")
    plain, heavy = (numbers_of(model.evaluate(frame, y, weight * s), sums) for s in (1.0, 1e308))
    np.testing.assert_allclose(heavy, plain, rtol=1e-9)


def test_a_product_beyond_all_numbers_gives_a_number():
    frame, y = mixed_table()
    model = TSLRegressor(**QUICK).fit(frame, y).model_
    stages = tuple(stage.scaled(LARGEST / 1e3) for stage in model.stages)
    huge = dataclasses.replace(model, stages=stages * 50, intercept=-LARGEST)
    shifted = [
        dataclasses.replace(branch, log_factors=branch.log_factors + 100.0)
        for branch in huge.stages[0].branches
    ]
    codes = model.reference.codes
    for one in (huge, dataclasses.replace(huge, stages=(Stage(*shifted), *huge.stages))):
        assert np.isfinite(one.predict(codes)).all()
        assert np.isfinite(one.contributions(codes)).all()


def test_numbered_columns_are_found_after_loading(tmp_path):
    X, y = datasets.masked_interaction(200, random_state=0)
    frame = pd.DataFrame(X, columns=[7, 3, 5])
    model = TSLRegressor(1, early_stopping=False, random_state=0).fit(frame, y)
    model.save(tmp_path / "m.tsl")
    again = load_model(tmp_path / "m.tsl")
    np.testing.assert_array_equal(again.predict(frame[[3, 5, 7]]), model.predict(frame))


@pytest.mark.parametrize(
    "edits",
    [
        "flatten",
        [{"operation": "flatten", "arguments": {}}],
        [{"operation": "a b", "arguments": {}, "reason": "r"}],
        [{"operation": "flatten", "arguments": [], "reason": "r"}],
        [{"operation": "flatten", "arguments": {}, "reason": " "}],
        [{"operation": "flatten", "arguments": {"feature": {}}, "reason": "r"}],
        [{"operation": "flatten", "arguments": {"feature": math.nan}, "reason": "r"}],
        [{"operation": "flatten", "arguments": {"feature": [[[[1]]]]}, "reason": "r"}],
        [{"operation": "make_monotone", "arguments": {}, "reason": "r"}],
        [{"operation": "make_monotone", "arguments": {"feature": "a"}, "reason": "r"}],
        [{"operation": "make_monotone", "reason": "r",
          "arguments": {"feature": ["a"], "direction": 1}}],
        [{"operation": "make_monotone", "reason": "r",
          "arguments": {"feature": "a", "direction": "x"}}],
        [{"operation": "make_monotone", "reason": "r",
          "arguments": {"feature": "a", "direction": 0}}],
    ],
)  # fmt: skip
def test_records_of_edits_are_not_believed(edits):
    with pytest.raises(ModelFormatError):
        read_edits(edits)


@pytest.mark.parametrize("path", [5, None, b"m.tsl"])
def test_what_is_no_path_is_refused_by_name(path):
    with pytest.raises(TypeError, match="path must be that of a file, as a text or a pathlib"):
        load_model(path)


@pytest.mark.skipif(os.name != "posix", reason="rights are those of POSIX")
def test_who_may_read_a_file_stays_when_it_is_written_again(tmp_path):
    X, y = datasets.masked_interaction(500, random_state=0)
    model = TSLRegressor(1, early_stopping=False, random_state=0).fit(X, y)
    path = tmp_path / "model.tsl"
    model.save(path)
    path.chmod(0o600)
    model.save(path)
    assert path.stat().st_mode & 0o777 == 0o600
