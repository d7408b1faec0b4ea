"""Roles of features in stages made by hand, so that the sentence is known."""

from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import pytest

from seplearn import TSLRegressor, explain
from seplearn.explain import Flip
from tests.explained import every_case, hand_made, joint, levels, numeric, product, tilted, turned

QUARTERS = [0.25, 0.25, 0.25, 0.25, 0.0]
HALVES = [0.5, 0.5, 0.0, 0.0, 0.0]
AXES = [numeric(-1.0, 0.0, 1.0), levels("a", "b"), numeric(-1.0, 0.0, 1.0)]
FREQUENCIES = [QUARTERS, HALVES, QUARTERS]
ONES, FLAT = np.ones(5), np.zeros(5)
RISING = [0.4, 0.8, 1.6, 3.2, 1.0]
A_SUM = "nearly a sum (100 % of its variance)"
STEP, WORDS = [-1, -1, 1, 1, 0], [1, -1, 0, 0, 0]


def roles_of(*stages, **options):
    return explain.roles(hand_made(AXES, FREQUENCIES, stages), **options)


SENTENCES = {
    "a level directs": (
        tilted([RISING, ONES, ONES], [FLAT, WORDS, FLAT]),
        "x0 scales; x1 directs, up for a, down for b",
    ),
    "two scale": (
        tilted([RISING, ONES, RISING], [FLAT, WORDS, FLAT]),
        "x0, x2 scale; x1 directs, up for a, down for b",
    ),
    "a flip": (
        tilted([ONES, ONES, RISING], [STEP, FLAT, FLAT]),
        "x2 scales; x0 directs, flipping at 0",
    ),
    "two flips": (
        tilted([ONES] * 3, [[1, -1, -1, 1, 0], FLAT, FLAT]),
        "x0 directs, flipping at -1 and at 1",
    ),
    "three flips": (
        tilted([ONES] * 3, [[1, -1, 1, -1, 0], FLAT, FLAT]),
        "x0 directs, flipping at -1, at 0 and at 1",
    ),
    "no flip": (
        tilted([ONES] * 3, [STEP, FLAT, FLAT], d0=2.0),
        "x0 directs; always adds",
    ),
    "two; always adds": (
        tilted([ONES, ONES, ONES], [STEP, FLAT, np.multiply(STEP, -2)], d0=4.0),
        "x0, x2 direct; always adds",
    ),
    "both; always adds": (
        tilted([RISING, ONES, ONES], [STEP, FLAT, FLAT], d0=1.2),
        "x0 scales and directs; always adds",
    ),
    "two direct": (
        tilted([ONES] * 3, [STEP, FLAT, np.multiply(STEP, -2)]),
        f"x0 directs, flipping at 0; x2 directs, flipping at 0; {A_SUM}",  # cosh does not vary
    ),
    "both": (
        tilted([RISING, ONES, ONES], [STEP, FLAT, FLAT]),
        "x0 scales and directs, flipping at 0",
    ),
    "only scaling": (tilted([RISING, ONES, ONES], [FLAT] * 3, d0=1.0), "x0 scales; always adds"),
    "nothing matters": (tilted([ONES] * 3, [FLAT] * 3, d0=1.0), "no feature matters"),
    "one product": (product([RISING, ONES, ONES], 2.0), "x0 scales; always adds"),
    "one that subtracts": (product([RISING, ONES, ONES], -2.0), "x0 scales; always subtracts"),
    "a constant product": (product([ONES] * 3, 2.0), "always adds"),
    "signed": (
        product([[-1, 2, 2, -1, 1], ONES, ONES]),
        "x0 scales; subtracts at 50 % of the rows",
    ),
    "signed but flat": (product([[1, 1, 1, 1, -1], ONES, ONES]), "no feature matters"),
    "one side": (
        tilted([RISING, ONES, ONES], [FLAT, WORDS, FLAT]).with_scalars(1.0, -1.0),
        f"x0, x1 scale; always adds; {A_SUM}",
    ),
    "turned": (
        tilted([RISING, ONES, ONES], [STEP, WORDS, FLAT]).with_scalars(-1.0, -1.0),
        "x0 scales and directs, flipping at 0; x1 directs, up for b, down for a",
    ),
    "nothing": (
        tilted([RISING, ONES, ONES], [FLAT, WORDS, FLAT]).with_scalars(0.0, 0.0),
        "contributes nothing",
    ),
}


@pytest.mark.parametrize(("stage", "sentence"), SENTENCES.values(), ids=SENTENCES.keys())
def test_sentences(stage, sentence):
    assert roles_of(stage).sentences == (sentence,)


def test_kinds_and_directions():
    names = ["both", "one product", "one that subtracts", "signed", "one side", "nothing"]
    stages = roles_of(*(SENTENCES[name][0] for name in names)).stages
    assert [stage.kind for stage in stages] == [
        "two products", "one product", "one product", "signed", "same side", "nothing",
    ]  # fmt: skip
    assert [stage.below_zero for stage in stages[1:3]] == [0.0, 1.0]
    assert 0.0 < stages[0].below_zero < 1.0
    both = stages[0].features[0]
    assert (both.role, both.flips, both.name) == ("scales and directs", (Flip(0.0, True),), "x0")
    assert stages[0].features[1].role == "idle"
    turned_stage = roles_of(SENTENCES["turned"][0]).stages[0].features
    assert turned_stage[0].flips == (Flip(0.0, False),)
    assert (turned_stage[1].up, turned_stage[1].down) == (("b",), ("a",))


def test_strengths_by_hand():
    """Without its backbone a stage is divided by it; without its tilt it is another sinh."""
    result = roles_of(tilted([RISING, ONES, ONES], [FLAT, WORDS, FLAT], d0=0.5)).stages[0]
    b = np.array(RISING[:4])
    scaling = np.sqrt(np.mean((b - 1) ** 2) / np.mean(b**2))
    sinh = np.sinh(np.array([1.5, -0.5]))
    directing = np.sqrt(np.mean((sinh - np.sinh(0.5)) ** 2) / np.mean(sinh**2))
    np.testing.assert_allclose(
        [[f.scaling, f.directing] for f in result.features],
        [[scaling, 0], [0, directing], [0, 0]],
        atol=1e-12,
    )


def test_the_strength_of_a_factor_where_there_is_no_backbone():
    a = np.array([-1.0, 2.0, 2.0, -1.0])
    result = roles_of(product([[*a, 1.0], ONES, ONES])).stages[0].features[0]
    assert result.scaling == pytest.approx(np.sqrt(np.mean((a - 1) ** 2) / np.mean(a**2)))
    assert result.directing == 0.0


def test_weak_effects_are_not_named():
    weak = [1.05, 1.05, 1.0, 0.95, 1.0]
    stage = tilted([weak, ONES, ONES], [FLAT, WORDS, FLAT])
    assert roles_of(stage).sentences[0] == "x1 directs, up for a, down for b"
    assert roles_of(stage, threshold=0.01).sentences[0].startswith("x0 scales; x1 directs")
    assert roles_of(stage, threshold=0.01).threshold == 0.01


def test_the_smaller_of_two_effects_needs_a_third_of_the_larger():
    weak = [0.8, 0.9, 1.1, 1.2, 1.0]  # 16 % of the stage; its tilt is all of it
    stage = tilted([weak, ONES, ONES], [STEP, FLAT, FLAT])
    feature = roles_of(stage).stages[0].features[0]
    assert 0.1 < feature.scaling < feature.directing / 3
    assert feature.role == "directs"


def test_few_values_are_named_on_either_side_of_a_flip():
    axes, half = [numeric(0.5, values=[0, 1]), numeric(3.0, values=[1.5, 4.5])], [0.5, 0.5, 0.0]
    stage = tilted([np.ones(3)] * 2, [[-1, 1, 0], [3, -3, 0]])
    result = explain.roles(hand_made(axes, [half, half], [stage]))
    assert result.stages[0].features[0].flips == (Flip(0.5, True, (0.0, 1.0)),)
    assert result.stages[0].features[1].flips == (Flip(3.0, False, (1.5, 4.5)),)
    assert "x0 directs, flipping between 0 and 1" in result.sentences[0]
    assert "x1 directs, flipping between 1.5 and 4.5" in result.sentences[0]


def test_many_levels_are_counted():
    names = tuple("abcdefg")
    axes, frequencies = [levels(*names)], [[1 / 7] * 7 + [0, 0, 0]]
    tilts = [[1, 1, 1, 1, 1, 1, -6, 0, 0, 0]]
    model = hand_made(axes, frequencies, [tilted([np.ones(10)], tilts)])
    sentence = explain.roles(model).sentences[0]
    assert sentence == "x0 directs, up for a, b, c, d and 2 more, down for g"


def test_the_whole_text_has_the_weight_of_every_stage():
    strong = tilted([RISING, ONES, ONES], [FLAT, WORDS, FLAT])
    result = roles_of(strong, SENTENCES["nothing"][0])
    assert str(result) == (
        "stage 0, x1 × x0 (100 %): x0 scales; x1 directs, up for a, down for b\n"
        "1 other stage (0 % together)"
    )
    result = roles_of(strong, strong.scaled(2.0))
    assert [stage.weight for stage in result.stages] == pytest.approx([0.2, 0.8])


def test_features_that_flip_a_stage_only_together_are_not_said_to_leave_it_alone():
    up, down = [1.0, 1.0, 0.5, 0.5, 0.0], [0.6, -0.6, 0.0, 0.0, 0.0]
    stage = tilted([ONES] * 3, [np.subtract(up, 0.75), down, FLAT], d0=0.7)
    result = roles_of(stage).stages[0]
    assert 0.0 < result.below_zero < 1.0
    assert f"; subtracts at {100 * result.below_zero:.0f} % of the rows" in result.sentence


def test_flips_have_digits_enough_and_many_are_counted():
    axes, frequencies = [numeric(1.0, 1.01, 1.02, 1.03, 1.04)], [[1 / 6] * 6 + [0.0]]
    stage = tilted([np.ones(7)], [[1, -1, 1, -1, 1, -1, 0]])
    result = explain.roles(hand_made(axes, frequencies, [stage])).sentences[0]
    assert result == "x0 directs, flipping 5 times, first at 1, last at 1.04"
    stage = tilted([np.ones(7)], [[2, 2, -2, -2, 0.5, -0.5, 0]])
    result = explain.roles(hand_made(axes, frequencies, [stage])).sentences[0]
    assert result == "x0 directs, flipping at 1.01, at 1.03 and at 1.04"


def test_flips_are_told_to_a_hundredth_of_where_values_lie():
    """Longitudes: what looks alike with four digits is a tenth of the town apart."""
    edges = np.linspace(-122.5, -121.5, 101)
    weights = [1 / 102] * 102 + [0.0]
    tilt = np.where(np.arange(102) < 16, 1.0, np.where(np.arange(102) < 33, -1.0, 1.0))
    stage = tilted([np.ones(103)], [np.append(tilt - 0.1, 0.0)], d0=0.1)
    result = explain.roles(hand_made([numeric(*edges)], [weights], [stage])).sentences[0]
    assert result == "x0 directs, flipping at -122.35 and at -122.18"


def test_names_of_the_table_are_used():
    result = explain.roles(joint().subject)
    assert result.names == tuple(joint().X.columns)
    assert "where (value) " in str(result)


def test_sizes_are_taken_over_the_background():
    case = joint()
    strengths = []
    for X in (case.X, case.X[case.X["pd"] > 1.0]):
        result = explain.roles(case.subject, background=X)
        expected = explain.importance(case.subject, background=X, kind="paper").stage_weights
        np.testing.assert_allclose([stage.weight for stage in result.stages], expected)
        strengths.append(result.stages[0].features[0].scaling)
    assert strengths[0] != pytest.approx(strengths[1], rel=1e-3)


@every_case
def test_fitted_models_have_a_sentence_per_stage(make):
    case = make()
    result = explain.roles(case.subject)
    assert len(result.sentences) == len(case.model.stages)
    assert all(result.sentences)
    weights = [stage.weight for stage in result.stages]
    np.testing.assert_allclose(
        weights, explain.importance(case.subject, kind="paper").stage_weights
    )


@every_case
def test_strengths_of_fitted_stages_by_definition(make):
    """Hold one curve still, evaluate the stage again over the reference rows, compare."""
    case = make()
    rows = case.model.reference
    local = [explain.curves(case.subject, s) for s in range(len(case.model.stages))]
    for s, stage in enumerate(explain.roles(case.subject).stages):
        curves = local[s]
        if stage.kind != "two products":
            continue
        b = curves.backbone_scale * np.prod(
            [c.backbone[rows.codes[:, j]] for j, c in enumerate(curves)], axis=0
        )
        d = curves.tilt_intercept + sum(c.tilt[rows.codes[:, j]] for j, c in enumerate(curves))
        value = 2 * b * np.sinh(d)
        deviation = np.sqrt(rows.weight @ (value - rows.weight @ value) ** 2)
        size = min(np.sqrt(rows.weight @ value**2), 4 * deviation)
        for j, feature in enumerate(stage.features):
            own_b, own_d = (c[rows.codes[:, j]] for c in (curves[j].backbone, curves[j].tilt))
            scaled = 2 * b / own_b * np.sinh(d)
            directed = 2 * b * np.sinh(d - own_d)
            for strength, still in ((feature.scaling, scaled), (feature.directing, directed)):
                expected = np.sqrt(rows.weight @ (value - still) ** 2) / size
                assert strength == pytest.approx(expected, rel=1e-7, abs=1e-9)


def test_a_stage_that_hardly_varies_tells_what_varies_in_it():
    """A large level must not drown what a feature does to it."""
    random = np.random.default_rng(0)
    X = pd.DataFrame({"sum": random.normal(size=2_000), "noise": random.normal(size=2_000)})
    y = 1e6 + 2e4 * X["sum"] + 2e3 * random.normal(size=2_000)
    options: dict[str, Any] = {
        "n_stages": 1,
        "fit_intercept": False,
        "early_stopping": False,
        "random_state": 0,
    }
    told = explain.roles(TSLRegressor(**options).fit(X, y)).stages[0]
    assert told.sentence == "sum scales; always adds"


def test_turned_lambda_turn_the_words():
    kinds = [stage.kind for stage in explain.roles(turned().subject).stages]
    assert kinds == ["two products", "same side", "one product"]
    assert explain.roles(turned().subject).stages[2].below_zero == 1.0


@every_case
def test_how_much_of_a_stage_is_a_sum_is_its_main_indices(make):
    case = make()
    for found, stage in zip(explain.roles(case.subject).stages, case.model.stages, strict=True):
        alone = replace(case.model, stages=(stage,), effects=None, replicates=())
        assert found.additive == pytest.approx(explain.interactions(alone).main.sum(), rel=1e-9)


def test_how_much_of_a_stage_is_a_sum_is_about_the_rows_given():
    rng = np.random.default_rng(2)
    X = pd.DataFrame(rng.normal(size=(400, 3)), columns=list("abc"))
    y = X["a"] * (1.0 + X["b"]) + rng.normal(size=400)
    options: Any = {"early_stopping": False, "main_effects": False, "random_state": 0}
    model = TSLRegressor(1, **options).fit(X, y)
    some = X[X["b"] > 0]
    (stage,) = explain.roles(model, background=some).stages
    expected = explain.interactions(model, background=some).main.sum()
    assert stage.additive == pytest.approx(expected, rel=1e-9)
    assert stage.additive > explain.roles(model).stages[0].additive + 0.05


def test_a_stage_that_is_nearly_a_sum_says_so():
    rng = np.random.default_rng(1)
    X = pd.DataFrame(rng.normal(size=(600, 3)), columns=list("abc"))
    y = X["a"] + 0.5 * X["b"] + rng.normal(size=600)
    quick = {"early_stopping": False, "main_effects": False, "random_state": 0}
    (stage,) = explain.roles(TSLRegressor(1, **quick).fit(X, y)).stages
    assert stage.additive > 0.98
    assert "nearly a sum (" in stage.sentence
    (stage,) = explain.roles(TSLRegressor(1, **quick).fit(X, y * X["c"])).stages
    assert stage.additive < 0.5
    assert "nearly a sum" not in stage.sentence
