"""Figures of evaluations: their numbers, their words, and where they are drawn."""

import numpy as np
import pytest

from seplearn import plots
from seplearn.losses import LOSSES, LogLoss
from seplearn.model.evaluation import Evaluation

N = 300


@pytest.fixture(scope="module")
def classes():
    random = np.random.default_rng(0)
    eta = random.normal(size=N)
    y = (random.random(N) < LogLoss().link.inverse(eta)).astype(float)
    return Evaluation.of(y, eta, loss=LogLoss(), classes=("no", "costs $5"))


@pytest.fixture(scope="module")
def counts():
    random = np.random.default_rng(1)
    eta = random.normal(size=N)
    return Evaluation.of(random.poisson(np.exp(eta)) * 1.0, eta, loss=LOSSES["poisson"])


def test_calibration_has_a_dot_and_an_interval_per_group(classes, counts):
    panel = plots.plot_calibration(classes).axes[0]
    np.testing.assert_allclose(panel.lines[1].get_ydata(), classes.actual)
    assert panel.get_xlabel() == r"mean probability of costs \$5 of a group of rows"
    ends = np.array([segment[:, 1] for segment in panel.collections[0].get_segments()])
    np.testing.assert_allclose(ends[:, 0], classes.actual_lower)
    np.testing.assert_allclose(ends[:, 1], classes.actual_upper)
    assert plots.plot_calibration(counts).axes[0].get_ylabel() == "mean outcome"


def test_curves_are_those_of_the_evaluation(classes):
    panel = plots.plot_roc(classes).axes[0]
    np.testing.assert_allclose(panel.lines[1].get_xydata(), np.column_stack(classes.roc()))
    assert panel.get_title() == f"ROC, AUC {classes.scores['AUC']:.3f}"
    counted = classes.confusion()
    (at,) = panel.lines[2].get_xydata()
    alarms = counted.false_alarms / (counted.false_alarms + counted.rejections)
    np.testing.assert_allclose(at, [alarms, counted.hits / (counted.hits + counted.misses)])
    panel = plots.plot_precision_recall(classes).axes[0]
    curve = np.column_stack(classes.precision_recall())
    np.testing.assert_allclose(panel.lines[1].get_xydata(), curve)


def test_the_confusion_is_that_of_the_threshold(classes):
    panel = plots.plot_confusion(classes, threshold=0.3).axes[0]
    told = [text.get_text().split("\n")[0] for text in panel.texts]
    cell = classes.confusion(0.3)
    wanted = (cell.rejections, cell.false_alarms, cell.misses, cell.hits)
    assert told == [f"{value:g}" for value in wanted]


def test_gain_and_lift_are_of_the_rows_predicted_highest(classes, counts):
    rows, outcomes = counts.gain()
    panel = plots.plot_gain(counts).axes[0]
    np.testing.assert_allclose(panel.lines[1].get_xydata(), np.column_stack([rows, outcomes]))
    tenth = np.interp(0.1, rows, outcomes)
    assert panel.get_title() == f"the highest tenth has {tenth:.0%} of all outcomes"
    panel = plots.plot_gain(classes, lift=True).axes[0]
    assert panel.lines[0].get_ydata()[-1] == pytest.approx(1.0)
    assert r"share of all costs \$5" in panel.get_ylabel()


def test_figures_are_drawn_where_they_are_asked_to(classes):
    figure = plots.plot_roc(classes)
    panel = figure.axes[0]
    assert plots.plot_gain(classes, ax=panel) is panel
    figure.draw_without_rendering()


def test_what_cannot_be_drawn_is_refused():
    with pytest.raises(TypeError, match="evaluation must be an Evaluation"):
        plots.plot_roc(3)
    numbers = Evaluation.of(np.arange(5.0), np.ones(5))
    plots.plot_calibration(numbers).draw_without_rendering()
    with pytest.raises(ValueError, match="a ROC curve is for a classifier of two classes"):
        plots.plot_roc(numbers)


def test_rows_of_one_class_are_drawn():
    one = Evaluation.of(np.zeros(3), np.full(3, -1.0), loss=LogLoss(), classes=("a", "b"))
    for draw in (plots.plot_roc, plots.plot_precision_recall, plots.plot_confusion,
                 plots.plot_gain, plots.plot_calibration):  # fmt: skip
        draw(one).draw_without_rendering()
