"""A card has what the single explanations have, of one feature, and nothing else."""

from dataclasses import replace

import numpy as np
import pytest

from seplearn import TSLClassifier, TSLRegressor, datasets, explain
from seplearn.explain.card import _ranges
from seplearn.explain.tilt import Flip
from tests.explained import NAMES, QUICK, assert_close, assert_same, every_case, main_effects, table


@every_case
def test_it_is_made_of_the_other_explanations(make):
    case = make()
    importance, together = explain.importance(case.subject), explain.interactions(case.subject)
    for j in (0, 3 if len(case.n_bins) > 3 else 1):
        card = explain.card(case.subject, j)
        assert card.importance == pytest.approx(importance.values[j], rel=1e-12)
        assert card.rank == importance.order.index(j) + 1
        assert (card.alone, card.total) == (together.main[j], together.total[j])
        assert_same(card.dependence, explain.partial_dependence(case.subject, j))
        assert_same(card.ice, explain.ice(case.subject, j, max_rows=20))
        strengths = [partner.strength for partner in card.partners]
        expected = np.sort(np.delete(together.together[j], j))[::-1]
        assert strengths == [value for value in expected if value >= 0.001]


@every_case
def test_curves_beside_a_partner_are_the_joint_dependence(make):
    case = make()
    seen = 0
    for j in range(len(case.n_bins)):
        card = explain.card(case.subject, j)
        for partner in card.partners[:2]:
            both = explain.partial_dependence(case.subject, [j, partner.feature])
            values = both.axes[1].describe().values
            assert 0 < len(partner.values) == len(partner.curves) <= 3
            for value, curve in zip(partner.values, partner.curves, strict=True):
                (code,) = np.flatnonzero(values == value)
                assert_close(curve.total, both.total[:, code])
                assert curve.names == (card.name,)
                seen += 1
        assert all(partner.curves == () for partner in card.partners[2:])
    assert seen > 2


def test_low_middle_and_high_have_so_many_rows_below_them():
    case = main_effects()
    bins = case.model.bins
    card = explain.card(case.subject, NAMES[1])
    for partner in card.partners[:2]:
        if case.model.bins.is_categorical[partner.feature]:
            continue
        frequencies = bins.frequencies[bins.axis(partner.feature)][:-1]
        below = np.cumsum(frequencies) / frequencies.sum()
        described = bins.axes[partner.feature].describe().values
        codes = [int(np.flatnonzero(described == value)[0]) for value in partner.values]
        for share, code in zip((0.1, 0.5, 0.9), codes, strict=False):
            assert below[code] >= share - 1e-12 or len(codes) < 3
            assert code == 0 or below[code - 1] < share or len(codes) < 3


def test_main_effects_come_with_their_bands():
    case = main_effects()
    effects = explain.main_effects(case.subject)
    for j in range(len(NAMES)):
        card = explain.card(case.subject, j)
        np.testing.assert_array_equal(card.effect, effects.values[j])
        np.testing.assert_array_equal(card.effect_band, effects.bands[j])


@pytest.fixture(scope="module")
def classifier():
    X, y = table()
    return X, TSLClassifier(**QUICK | {"n_stages": 2}, n_bootstrap=3).fit(X, y > 0)


def test_probabilities_and_odds_of_a_classifier(classifier):
    X, model = classifier
    card = explain.card(model, 1, background=X)
    assert_same(card.response, explain.response(model, 1, background=X))
    assert card.response.average_band is not None
    lines = explain.ice(model, 1, X, max_rows=20).values
    np.testing.assert_allclose(card.lines, 1 / (1 + np.exp(-lines)), rtol=1e-9)
    assert "log-odds of True" in str(card)
    assert {"average", "odds_ratio", "odds_ratio_upper"} <= set(card.frame().columns)


def test_where_it_crosses_the_mean():
    X, y = datasets.masked_interaction(1000, as_frame=True, random_state=0)
    model = TSLRegressor(1, main_effects=True, early_stopping=False, random_state=0)
    model = model.fit(X, 3.0 * X["x1"] + X["x2"] + 0 * y)
    card = explain.card(model, "x1")
    (flip,) = card.crossing.flips
    middle = float(X["x1"].mean())
    assert flip.upward
    assert abs(flip.at - middle) < 0.2
    assert "speaks for a higher prediction above" in str(card)
    assert abs(card.sign.flips[0].at - middle) < 0.5


@pytest.fixture(scope="module")
def masked():
    X, y = datasets.masked_interaction(1000, as_frame=True, random_state=0)
    return TSLRegressor(2, early_stopping=False, random_state=0).fit(X, y)


def test_it_says_as_the_summary_does_who_turns_the_effect_upside_down(masked):
    card, told = explain.card(masked, "x1"), str(explain.summary(masked))
    (turned,) = [text for text in card.sentences if "upside down" in text]
    assert turned in told
    assert "x2 (" in turned
    assert "x3 (" in turned
    assert "By itself it does next to nothing" in str(card)
    assert "On average it speaks for" not in str(card)  # of next to nothing that says nothing


def test_what_three_do_together_is_told_though_no_pair_does_it(masked):
    pairs = explain.interactions(masked).pairwise
    assert pairs[0, 1] < 0.1  # the three act together, this pair hardly does
    names = [partner.name for partner in explain.card(masked, "x1").partners]
    assert sorted(names) == ["x2", "x3"]


def test_sentences_name_levels_and_say_when_nothing_acts_together():
    X, y = datasets.rents(500, random_state=0)
    model = TSLRegressor(1, main_effects=True, early_stopping=False, random_state=0).fit(X, y)
    text = str(explain.card(model, "district"))
    assert "higher prediction for " in text
    alone = TSLRegressor(random_state=0).fit(X[["area"]], y)
    assert "acts by itself" in str(explain.card(alone, "area"))


def test_where_a_curve_is_above_its_mean_is_told_in_ranges():
    def flips(*pairs):
        return [Flip(at, upward, span=10.0) for at, upward in pairs]

    assert _ranges(flips((1.0, True))) == ["above 1"]
    assert _ranges(flips((1.0, False))) == ["below 1"]
    assert _ranges(flips((1.0, True), (3.0, False))) == ["from 1 to 3"]
    several = flips((1.0, False), (3.0, True), (5.0, False), (7.0, True))
    assert _ranges(several) == ["below 1", "from 3 to 5", "above 7"]
    steps = [Flip(1.5, True, (1.0, 2.0)), Flip(2.5, False, (2.0, 3.0)), Flip(4.5, True, (4.0, 5.0))]
    assert _ranges(steps) == ["at 2", "from 5 on"]
    assert _ranges(steps[1:2]) == ["up to 2"]


def test_a_feature_without_partners_acts_by_itself_only_if_it_does():
    X, y = datasets.masked_interaction(1000, as_frame=True, random_state=0)
    model = TSLRegressor(2, early_stopping=False, random_state=0).fit(X.assign(x4=0.0), y)
    assert str(explain.card(model, "x4")) == "The prediction does not depend on x4."
    card = replace(explain.card(model, "x1"), partners=(), alone=0.9, total=1.0)
    assert "Of what it does 10 % depends on other features" in str(card)
    assert "It acts by itself" in str(replace(card, alone=0.995))


def test_bad_arguments_are_refused_in_words(classifier):
    X, model = classifier
    with pytest.raises(ValueError, match="feature must be one of"):
        explain.card(model, "nobody")
    with pytest.raises(ValueError, match="level must be a number between 0 and 1"):
        explain.card(model, 0, level=1.0)
    with pytest.raises(ValueError, match="background"):
        explain.card(model, 0, background=X[NAMES[:2]])


def test_a_main_effect_that_stages_take_back_is_told():
    """It would add much, were it alone; on average much less is left."""
    card = explain.card(main_effects().subject, NAMES[1])
    told = "take most of its main effect back"
    assert not card.is_taken_back
    assert told not in str(card)
    for times, is_told in ((1.9, False), (2.1, True)):
        larger = replace(card, effect=times * card.dependence.total)
        assert larger.is_taken_back == is_told
        assert (told in str(larger)) == is_told
    assert not replace(card, effect=None).is_taken_back
