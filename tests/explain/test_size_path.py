"""Why a model is as large as it is: in words, in a table, in a figure."""

from __future__ import annotations

import math
from dataclasses import replace

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest

from seplearn import SizePath, TSLClassifier, TSLRegressor, datasets, explain, plots
from seplearn.model import Branch, SeparationModel, Stage
from seplearn.table.binning import Bins, NumericAxis

TAKEN = SizePath(False, (4.0, 1.5, 1.25, 1.0, 1.5), (1.0, 0.125, 0.5, 0.0, 0.25), 2)
OTHER = SizePath(True, (2.0, 1.75), (0.25, 0.0), None)
BINS = Bins((NumericAxis(np.array([0.0])),), np.array([0.5, 0.5, 0.0]))
STAGE = Stage(Branch(1.0, 0.0, np.array([-0.1, 0.1, 0.0])), None)


def choice_of(*paths, n_stages=2):
    return explain.size_path(SeparationModel(BINS, 0.0, (STAGE,) * n_stages, size_paths=paths))


def test_a_smaller_size_than_the_best_is_told_with_the_reason():
    assert str(choice_of(TAKEN, OTHER, n_stages=1)) == (
        "2 of 4 stages grown were taken; with 3 the mean loss on held-out rows is smaller by 0.25, "
        "where one standard error is 0.5; 1 of them is left, the others came to say nothing, are "
        "main effects now or are told as one"
    )


def test_the_best_size_and_main_effects_are_told():
    best = replace(OTHER, chosen=1)
    assert str(choice_of(replace(TAKEN, chosen=None), best, n_stages=3)) == (
        "1 of 1 stage grown was taken, beside main effects, which predicts held-out rows best; "
        "the model averages several such, 3 stages in all"
    )
    nothing = SizePath(False, (1.0, 2.0), (0.0, 0.5), 0)
    assert str(choice_of(nothing, n_stages=0)) == (
        "0 of 1 stage grown were taken, which predict held-out rows best"
    )


def test_main_effects_without_any_stage_are_told_beside_what_products_reached():
    sums = SizePath(True, (1.0, 1.5, 0.75), (0.5, 0.5, 0.0), 0)
    told = str(choice_of(replace(TAKEN, chosen=None), sums, n_stages=0))
    best = min(range(len(TAKEN.losses)), key=TAKEN.losses.__getitem__)
    assert told == (
        "main effects were taken without any stage; with 2 stages beside them the mean loss on "
        "held-out rows is smaller by 0.25, where one standard error is 0.5; "
        f"{best} stages without them lost {TAKEN.losses[best] - 1.0:.3g} more"
    )
    constant = SizePath(False, (2.0,), (0.0,), None)
    assert str(choice_of(constant, replace(sums, losses=(1.0,), errors=(0.0,)), n_stages=0)) == (
        "no stage was grown, beside main effects"
    )


def test_a_row_for_every_form_and_size():
    choice = choice_of(TAKEN, OTHER)
    assert choice.chosen is TAKEN
    assert choice.paths == (TAKEN, OTHER)
    frame = pd.DataFrame(choice.frame())
    assert frame["main_effects"].tolist() == [False] * 5 + [True] * 2
    assert frame["stages"].tolist() == [0, 1, 2, 3, 4, 0, 1]
    assert frame["loss"].tolist() == [*TAKEN.losses, *OTHER.losses]
    assert frame["standard_error"].tolist() == [*TAKEN.errors, *OTHER.errors]
    assert np.flatnonzero(frame["chosen"]).tolist() == [2]


def test_the_figure_marks_the_size_that_was_taken():
    choice = choice_of(TAKEN, OTHER)
    figure = choice.plot()
    (panel,) = figure.axes
    lines = {line.get_label(): line.get_xydata() for line in panel.get_lines()}
    np.testing.assert_array_equal(lines["stages"], list(enumerate(TAKEN.losses)))
    name = "main effects, then stages"
    np.testing.assert_array_equal(lines[name], list(enumerate(OTHER.losses)))
    np.testing.assert_array_equal(lines["taken"], [(2, 1.25)])
    (band,) = panel.collections
    ends = band.get_datalim(panel.transData)
    assert (ends.y0, ends.y1) == (0.75, 5.0)
    low, high = panel.get_ylim()
    assert low < 1.0
    assert high > 2.0
    texts = [text.get_text() for text in panel.get_legend().get_texts()]
    assert texts == ["stages", "taken", name]
    plt.close(figure)


def test_the_figure_goes_where_it_is_asked_to():
    figure, (left, right) = plt.subplots(1, 2, layout="constrained")
    choice = choice_of(TAKEN)
    assert choice.plot(ax=right) is right
    assert plots.plot_size_path(choice, left) is left
    figure.canvas.draw()
    drawn = [panel for panel in figure.axes if panel.get_lines()]
    assert [panel.get_ylabel() for panel in drawn] == ["mean loss on held-out rows"] * 2
    plt.close(figure)


@pytest.mark.parametrize(
    ("losses", "errors"),
    [
        ((4.0, math.inf, 1.0), (1.0, math.inf, 0.0)),
        ((math.inf, math.inf, math.inf), (math.inf, math.inf, math.inf)),
        ((0.0, 0.0, 0.0), (0.0, 0.0, 0.0)),
        ((1.0, 1.0, 1.0), (0.0, 0.0, 0.0)),
        ((1e300, 1e-300, 0.0), (1e300, 1e-300, 0.0)),
        ((1e308, 1e308, 1e308), (1e308, 1e308, 0.0)),
    ],
)
def test_losses_of_any_size_are_drawn_and_told(losses, errors):
    choice = choice_of(SizePath(False, losses, errors, 2))
    assert str(choice)
    figure = choice.plot()
    figure.canvas.draw()
    assert np.isfinite(figure.axes[0].get_ylim()).all()
    plt.close(figure)


def test_a_size_that_failed_does_not_flatten_the_others():
    path = SizePath(False, (1e9, 2.0, 1.5, 1.0, 1.1), (1e8, 0.1, 0.1, 0.0, 0.1), 3)
    figure = choice_of(path).plot()
    assert figure.axes[0].get_ylim()[1] < 10.0
    plt.close(figure)


def test_a_model_whose_size_was_not_chosen_has_no_path():
    rng = np.random.default_rng(0)
    X = rng.uniform(-1, 1, size=(100, 2))
    y = np.exp(X[:, 0]) * (1 + X[:, 1])
    given = {"n_stages": 1, "main_effects": False, "random_state": 0}
    fixed = TSLRegressor(**given, early_stopping=False).fit(X, y)
    with pytest.raises(ValueError, match="size_path needs a model whose number of stages was"):
        explain.size_path(fixed)
    chosen = TSLRegressor(**given).fit(X, y)
    choice = explain.size_path(chosen)
    assert choice.paths == chosen.size_paths_ == chosen.model_.size_paths
    assert choice.n_stages == len(chosen.stages_)
    with pytest.raises(TypeError, match="model"):
        explain.size_path("model")


def test_a_size_that_the_median_part_chose_says_so():
    path = SizePath(False, (5.0, 1.0, 3.0), (1.0, 0.9, 0.0), 2)
    told = str(explain.SizeChoice((path,), 2, library=None, quantity="prediction"))
    assert (
        "with 1 the mean loss on held-out rows is smaller by 2, but that of the median part" in told
    )
    assert "standard error is 0" not in told


def test_a_class_has_rounds_and_nothing_is_said_of_what_is_left():
    path = SizePath(False, (5.0, 1.0, 0.9), (1.0, 0.2, 0.0), 1)
    told = str(explain.SizeChoice((path,), 4, True, library=None, quantity="score of a"))
    assert told.startswith("1 of 2 rounds of stages grown was taken; with 2 ")
    assert "averages" not in told
    X, y = datasets.masked_interaction(400, random_state=0)
    model = TSLClassifier(2, random_state=0).fit(X, np.digitize(y, [-1.0, 1.0]))
    assert "stages in all" not in str(explain.size_path(model.for_class(0, against=1)))


def test_products_that_lost_less_at_too_large_a_size_are_told_of():
    effects = SizePath(True, (1.0, 0.99), (0.02, 0.0), 0)
    products = SizePath(False, (5.0, 1.1, 0.95), (1.0, 0.2, 0.0), None)
    told = str(explain.SizeChoice((products, effects), 0, library=None, quantity="prediction"))
    assert "products alone lost no less at the size they would have had" in told
    constant = SizePath(False, (5.0, 5.1), (0.0, 0.1), None)
    told = str(explain.SizeChoice((constant, effects), 0, library=None, quantity="prediction"))
    assert "0 stages" not in told
