"""Figures of evaluations: their numbers, their words, and where they are drawn."""

from dataclasses import replace

import numpy as np
import pytest

from seplearn import plots
from seplearn.losses import LOSSES, LogLoss
from seplearn.model.evaluation import ClassEvaluation, Evaluation

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
    with pytest.raises(TypeError, match="evaluation must be what evaluate"):
        plots.plot_roc(3)
    numbers = Evaluation.of(np.arange(5.0), np.ones(5))
    plots.plot_calibration(numbers).draw_without_rendering()
    with pytest.raises(ValueError, match="a ROC curve is for classes"):
        plots.plot_roc(numbers)


def several(n_classes, n=400):
    """Probabilities that are right, with an evaluation of them."""
    rng = np.random.default_rng(n_classes)
    shares = rng.dirichlet(np.full(n_classes, 0.3), n)
    numbers = np.array([rng.choice(n_classes, p=share) for share in shares], dtype=float)
    names = [f"class {k}" for k in range(n_classes)]
    return ClassEvaluation.of(numbers, shares, classes=names)


def test_every_class_of_several_has_its_curve():
    result = several(3)
    roc = plots.plot_roc(result).axes[0]
    told = [text.get_text() for text in roc.get_legend().get_texts()]
    areas = [one.scores["AUC"] for one in result.of_class]
    assert told == [f"class {k}, AUC {area:.3f}" for k, area in enumerate(areas)]
    for line, one in zip(roc.lines[1:], result.of_class, strict=True):
        np.testing.assert_array_equal(line.get_xydata().T, one.roc())
    pairs = plots.plot_precision_recall(result).axes[0]
    for line, one in zip(pairs.lines, result.of_class, strict=True):
        np.testing.assert_array_equal(line.get_xydata().T, one.precision_recall())
    one = plots.plot_roc(result.of_class[1]).axes[0]
    assert one.get_ylabel() == "share of class 1 called class 1"
    assert one.get_xlabel() == "share of all others called class 1"


def test_of_many_classes_those_told_apart_worst_are_drawn():
    result = several(12)
    areas = [one.scores["AUC"] for one in result.of_class]
    worst = sorted(np.argsort(areas)[:8])
    panel = plots.plot_roc(result).axes[0]
    told = [text.get_text().split(",")[0] for text in panel.get_legend().get_texts()]
    assert told == [f"class {k}" for k in worst]
    assert "worst 8 of 12" in panel.get_title()


@pytest.mark.parametrize(("n_classes", "n_panels"), [(3, 3), (14, 12)])
def test_calibration_of_several_classes_has_a_panel_each(n_classes, n_panels):
    result = several(n_classes)
    figure = plots.plot_calibration(result)
    drawn = [ax for ax in figure.axes if ax.axison]
    assert len(drawn) == n_panels
    by_name = dict(zip(result.classes, result.of_class, strict=True))
    for panel in drawn:
        own = by_name[panel.get_title()]
        dots = panel.lines[-1].get_xydata().T
        np.testing.assert_array_equal(dots, [own.predicted, own.actual])


@pytest.mark.parametrize("n_classes", [3, 5, 14])
def test_the_confusion_of_several_classes(n_classes):
    result = several(n_classes)
    panel = plots.plot_confusion(result).axes[0]
    cells = np.array(result.confusion)
    shown = panel.images[0].get_array()
    np.testing.assert_allclose(shown, cells / cells.sum(axis=1, keepdims=True))
    texts = [text.get_text().split("\n")[0] for text in panel.texts]
    assert texts == ([] if n_classes > 12 else [f"{size:.0f}" for size in cells.ravel()])
    assert [one.get_text() for one in panel.get_yticklabels()] == list(result.classes)
    with pytest.raises(ValueError, match="threshold must be None for several classes"):
        plots.plot_confusion(result, threshold=0.3)
    with pytest.raises(ValueError, match="kept without its confusion"):
        plots.plot_confusion(replace(result, confusion=()))


def test_gain_is_that_of_one_class():
    result = several(3)
    with pytest.raises(TypeError, match=r"evaluation\.of_class\[k\]"):
        plots.plot_gain(result)
    plots.plot_gain(result.of_class[0]).draw_without_rendering()


def test_rows_of_one_class_are_drawn():
    one = Evaluation.of(np.zeros(3), np.full(3, -1.0), loss=LogLoss(), classes=("a", "b"))
    for draw in (plots.plot_roc, plots.plot_precision_recall, plots.plot_confusion,
                 plots.plot_gain, plots.plot_calibration):  # fmt: skip
        draw(one).draw_without_rendering()
