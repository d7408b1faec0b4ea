import numpy as np
import pytest
from matplotlib.colors import to_hex

from seplearn import explain
from seplearn.plots.style import BACKBONE, DOWN, UP
from tests.plots.awkward import LONG, fitted, one_branch, wide
from tests.plots.test_curves import lines_of_steps, steps


def dependence(*features, model=None):
    return explain.partial_dependence(model or fitted(), list(features))


# Of 500 rows the lowest lies outside what is drawn, so bin 0 is not there.


def test_the_whole_model_is_one_curve_with_its_band():
    result = dependence("x")
    panel = result.plot().axes[0]
    curve, band = (patch.get_data() for patch in steps(panel))
    np.testing.assert_array_equal(curve.values, result.total[1:-1])
    np.testing.assert_array_equal(band.values, result.band()[1, 1:-1])
    np.testing.assert_array_equal(band.baseline, result.band()[0, 1:-1])


def test_a_stage_shows_both_products_their_gap_and_their_backbone():
    result = dependence("x")
    panel = result.plot(stage=0).axes[0]
    drawn = lines_of_steps(panel)
    assert [to_hex(patch.get_edgecolor()) for patch in drawn] == [UP, DOWN, BACKBONE]
    np.testing.assert_array_equal(drawn[0].get_data().values, result.plus[0, 1:-1])
    np.testing.assert_array_equal(drawn[2].get_data().values, result.backbone[0, 1:-1])
    up, down = [p for p in steps(panel) if p.get_fill()][:2]
    gap = {UP: np.maximum(result.stages[0], 0), DOWN: np.maximum(-result.stages[0], 0)}
    for patch, color in ((up, UP), (down, DOWN)):
        data = patch.get_data()
        assert to_hex(patch.get_facecolor()) == color
        np.testing.assert_allclose(data.values - data.baseline, gap[color][1:-1], atol=1e-12)
    labels = [text.get_text() for text in panel.get_legend().get_texts()]
    assert labels == ["$PD_+$", "$PD_-$", r"$\sqrt{C_+C_-}\,b$"]
    assert "$C_+$" in panel.get_title()
    assert "$C_-$" in panel.get_title()


def test_one_branch_has_one_curve_and_no_backbone():
    panel = dependence("x", model=one_branch()).plot(stage=0).axes[0]
    assert [to_hex(p.get_edgecolor()) for p in lines_of_steps(panel)] == [UP]
    assert "$C_-$" not in panel.get_title()
    off = fitted().model_.with_scalars([(0.0, 0.0), (1.0, 0.0)], 0.0)
    nothing = explain.partial_dependence(off, 5, background=None).plot(stage=0).axes[0]
    assert nothing.texts[0].get_text() == "the stage contributes nothing"


def test_all_stages_and_their_sum_have_a_panel_each():
    figure = dependence("region").plot(stage="all")
    assert [a.get_title().split(":")[0] for a in figure.axes] == [
        "stage 0", "stage 1", "partial dependence (dotted",
    ]  # fmt: skip
    bars = figure.axes[0].patches
    assert len(bars) == 3 * 4  # PD+, PD-, backbone; four levels with rows
    assert len(wide().stages_) > 8
    many = explain.partial_dependence(wide(), 0).plot(stage="all")
    assert sum(panel.axison for panel in many.axes) == len(wide().stages_) + 1


def test_two_features_are_cells_or_lines():
    surface = dependence("x", LONG)
    figure = surface.plot()
    mesh = figure.axes[0].collections[0]
    shown = mesh.get_array()
    assert np.ma.count_masked(np.ma.masked_invalid(shown)) == shown.shape[1]  # the gap
    assert np.nanmax(shown[-1]) == pytest.approx(surface.total[:, -1].max())
    lines = dependence("x", "0/1").plot().axes[0]
    assert [text.get_text() for text in lines.get_legend().get_texts()] == ["0", "1"]
    assert len(lines_of_steps(lines)) == 2
    assert len(steps(lines)) == 4  # and their bands
    assert len(lines_of_steps(dependence("0/1", "x").plot(lines=True).axes[0])) == 6
    bars = dependence("region", "x").plot(lines=True).axes[0]
    assert len(bars.patches) == 6 * 4


def test_stages_side_by_side_share_their_colours():
    figure = dependence("x", LONG).plot(stage="all", lines=False)
    norms = [a.collections[0].norm for a in figure.axes if a.get_title().startswith("stage")]
    assert norms[0].vmax == norms[1].vmax
    assert norms[0].vmin == -norms[0].vmax


def test_what_cannot_be_drawn_is_refused():
    with pytest.raises(ValueError, match=r"one or two features can be drawn, got .*at\(X\)"):
        dependence("x", "0/1", "region").plot()
    with pytest.raises(ValueError, match=r"stage must be an integer from 0 to 1, 'all' or None"):
        dependence("x").plot(stage=7)
