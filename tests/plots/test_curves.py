from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest
from matplotlib.colors import to_hex
from matplotlib.figure import Figure

from seplearn import explain
from seplearn.plots import plot_curve, plot_curves
from seplearn.plots.style import BACKBONE, DOWN, UP
from tests.explained import hand_made, numeric, product
from tests.plots.awkward import LONG, fitted, one_branch, signed, wide


def steps(panel):
    return [patch for patch in panel.patches if hasattr(patch, "get_data")]


def lines_of_steps(panel):
    return [patch for patch in steps(panel) if not patch.get_fill()]


def test_every_feature_has_its_row():
    figure = plot_curves(explain.curves(fitted(), 0))
    figure.draw_without_rendering()
    used = fitted().stages_[0].features(fitted().model_.bins)
    assert 2 < len(used) < 6  # the others are flat
    assert len(figure.axes) == len(used) * 3
    assert figure.axes[0].get_xlabel().startswith("income of the househol")
    assert "stage 0" in figure.get_suptitle().lower()
    factors = figure.axes[-3]
    assert factors.get_xlabel() == "x"
    drawn = lines_of_steps(factors)
    curve = explain.curves(fitted(), 0)["x"]
    assert [to_hex(patch.get_edgecolor()) for patch in drawn] == [UP, DOWN]
    np.testing.assert_array_equal(drawn[0].get_data().values, curve.plus[1:-1])
    assert len(steps(factors)) == 4  # two curves, two bands
    assert factors.get_yscale() == "log"


def test_missing_values_have_a_tick_and_a_diamond():
    panel = plot_curve(explain.curves(fitted(), 0)[LONG], part="backbone").axes[0]
    assert [text.get_text() for text in panel.get_xticklabels(minor=True)] == ["missing"]
    diamonds = [line for line in panel.lines if line.get_marker() == "D"]
    curve = explain.curves(fitted(), 0)[LONG]
    assert diamonds[0].get_ydata() == curve.backbone[-1:]
    assert max(panel.get_xticks()) < diamonds[0].get_xdata()[0] < panel.get_xlim()[1]
    no_missing = plot_curve(explain.curves(fitted(), 0)["x"], part="tilt").axes[0]
    assert not [line for line in no_missing.lines if line.get_marker() == "D"]


def test_levels_are_bars_and_the_rarest_are_left_out():
    panel = plot_curve(explain.curves(fitted(), 0)["region"], part="backbone").axes[0]
    words = [text.get_text() for text in panel.get_xticklabels()]
    assert words == ["<b>east</b>", "north", "south", "(missing)"]
    tops = [bar.get_y() + bar.get_height() for bar in panel.patches]
    curve = explain.curves(fitted(), 0)["region"]
    np.testing.assert_allclose(tops, curve.backbone[[0, 1, 2, 4]])
    many = plot_curve(explain.curves(fitted(), 0)["many"], part="tilt").axes[0]
    assert len(many.get_xticklabels()) == 20
    assert many.get_xlabel() == "many (5 rarer levels not shown)"


def test_few_values_are_the_ticks():
    panel = plot_curve(explain.curves(fitted(), 0)["0/1"], part="factors").axes[0]
    assert [text.get_text() for text in panel.get_xticklabels()] == ["0", "1"]
    assert panel.get_xlim() == (-0.5, 1.5)
    constant = plot_curve(explain.curves(fitted(), 0)["constant"], part="tilt").axes[0]
    assert [text.get_text() for text in constant.get_xticklabels()] == ["3"]


def test_stages_without_tilt_or_backbone_say_so():
    one = plot_curve(explain.curves(one_branch(), 0)["x"])
    assert [text.get_text() for text in one.axes[2].texts] == ["one product:\nthe sign is fixed"]
    assert to_hex(lines_of_steps(one.axes[1])[0].get_edgecolor()) == BACKBONE
    with_signs = plot_curve(explain.curves(signed(), 0)["x"])
    assert with_signs.axes[0].get_yscale() == "linear"
    for panel, part in zip(with_signs.axes[1:], ("backbone", "tilt"), strict=True):
        assert panel.texts[0].get_text() == f"no {part}:\nfactors have signs"
    model = fitted().model_
    nothing = model.with_scalars([(0.0, 0.0)] * 2, 0.0)
    empty = plot_curve(explain.curves(nothing, 0)[5], part="tilt")
    assert "contributes nothing" in empty.axes[0].texts[0].get_text()


def test_wide_models_show_what_varies_most():
    figure = plot_curves(explain.curves(wide(), 0))
    assert len(figure.axes) == 6 * 3
    assert "(6 of its 30 features)" in figure.get_suptitle()
    asked = plot_curves(explain.curves(wide(), 0), features=[3, 4])
    assert [a.get_xlabel()[:18] for a in asked.axes[::3]] == ["measurement number"] * 2
    with pytest.raises(ValueError, match=r"part must be one of .*'tilt'.*, got 'slope'"):
        plot_curve(explain.curves(wide(), 0)[0], part="slope")


def test_a_curve_at_rest_looks_so():
    """What is nothing is not magnified until it fills the panel."""
    curve = explain.curves(fitted(), 0)["x"]
    noise = 1e-6 * np.sin(np.arange(len(curve.plus)))
    still = replace(
        curve, plus=1 + noise, minus=1 - noise, backbone=1 + noise, tilt=noise, bands={}
    )
    figure = plot_curve(still)
    figure.draw_without_rendering()
    for panel in figure.axes[:2]:
        low, high = panel.get_ylim()
        assert high / low >= 1.1 - 1e-9
        assert len([t for t in panel.get_yticks() if low <= t <= high]) >= 3
    low, high = figure.axes[2].get_ylim()
    assert high - low >= 0.1 - 1e-9


def test_titles_stay_apart_in_the_place_of_an_axes():
    figure = Figure(figsize=(9, 3), layout="constrained")
    place = figure.subplots()
    plot_curve(explain.curves(fitted(), 0)["x"], ax=place)
    figure.draw_without_rendering()
    boxes = [panel.title.get_window_extent() for panel in figure.axes if panel.get_title()]
    assert len(boxes) == 3
    assert not any(a.overlaps(b) for a, b in combinations(boxes, 2))
    assert any("Stage 0" in panel.get_title() for panel in figure.axes)


def test_a_title_stays_within_a_narrow_figure():
    stage = hand_made([numeric(0.0)] * 4, [[0.5, 0.5, 0.0]] * 4, [product([[0.5, 2.0, 1.0]] * 4)])
    figure = plot_curves(explain.curves(stage, 0), features=[0])
    figure.draw_without_rendering()
    box = figure.texts[0].get_window_extent()
    assert "\n" in figure.get_suptitle()
    assert box.x0 >= 0
    assert box.x1 <= figure.bbox.width
