"""What the other figures show, on the awkward model."""

import io
import re
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from matplotlib.colors import Normalize, to_hex
from matplotlib.figure import Figure

from seplearn import TSLClassifier, TSLRegressor, datasets, explain
from seplearn.plots.bars import heatmap
from seplearn.plots.style import DOWN, UP, number, short, short_names
from tests.plots.awkward import (
    LONG,
    QUICK,
    additive,
    fitted,
    one_branch,
    signed,
    table,
    target,
    wide,
)
from tests.plots.test_curves import lines_of_steps


def words(ax):
    return [text.get_text() for text in ax.texts if text.get_text()]


def rows(ax):
    return [text.get_text() for text in ax.get_yticklabels()]


def test_ice_draws_a_line_per_row_and_their_mean():
    result = explain.ice(fitted(), "x", table()[:40])
    panel = result.plot().axes[0]
    thin = [line for line in panel.lines if len(line.get_xdata()) > 2]
    assert len(thin) == 40
    np.testing.assert_array_equal(thin[3].get_ydata()[::2], result.values[3, 1:-1])
    assert panel.get_title() == "prediction of 40 rows"
    centred = explain.ice(fitted(), "region", table()[:40], stage=1).plot(centred=True).axes[0]
    assert centred.get_title().startswith("stage 1: income")
    assert centred.get_title().endswith("\n40 rows, centred")
    assert all(line.get_ydata()[0] == 0.0 for line in centred.lines[:41])
    missing = explain.ice(fitted(), LONG, table()[:40]).plot().axes[0]
    assert sum(line.get_marker() == "D" for line in missing.lines) == 2


def test_importance_is_a_bar_per_feature():
    result = explain.importance(fitted())
    panel = result.plot().axes[0]
    widths = [bar.get_width() for bar in panel.patches]
    np.testing.assert_allclose(widths, np.sort(result.values)[::-1])
    assert "unit of y" in panel.get_xlabel()
    assert len(explain.importance(wide()).plot(max_features=4).axes[0].patches) == 4


def test_importance_of_the_paper_has_six_panels():
    result = explain.importance(fitted(), kind="paper")
    figure = result.plot()
    titles = [a.get_title() for a in figure.axes[:6]]
    assert titles == [
        "backbone variance", "tilt variance", "total backbone", "total tilt",
        r"combined: backbone + 1 $\times$ tilt", "stage weights",
    ]  # fmt: skip
    heights = [bar.get_height() for bar in figure.axes[5].patches]
    np.testing.assert_allclose(heights, result.stage_weights)
    widths = [bar.get_width() for bar in figure.axes[4].patches]
    np.testing.assert_allclose(widths, np.sort(result.combined)[::-1])
    assert len(figure.axes[4].collections) == 1  # the error bars of the replicates
    assert len(set(rows(explain.importance(wide(), kind="paper").plot().axes[2]))) == 20


def test_a_local_explanation_is_a_waterfall_to_the_prediction():
    result = explain.local(fitted(), table(), 3)
    figure = result.plot()
    waterfall, shares, tilts = figure.axes[:3]
    order = np.argsort(-np.abs(result.contributions))
    first = [word.split(":")[0] for word in rows(waterfall)]
    assert first == ["constant", *(f"stage {s}" for s in order), "prediction"]
    assert waterfall.get_title().startswith("prediction ")
    assert " × 2 more" in result.stage_names[order[0]]
    assert " × 2 more" in rows(waterfall)[1]  # also where names are cut
    bars = waterfall.patches
    ends = [bar.get_x() + bar.get_width() for bar in bars]
    assert ends[-1] == pytest.approx(result.prediction)
    for bar, value in zip(bars, [result.intercept, *result.contributions[order]], strict=True):
        assert to_hex(bar.get_facecolor()) == (UP if value >= 0 else DOWN)
    widths = np.array([bar.get_width() for bar in shares.patches]).reshape(-1, 2)
    np.testing.assert_allclose(widths.sum(axis=0), 1.0)
    assert [text.get_text() for text in shares.get_legend().get_texts()][-1] == "other"
    assert rows(tilts) == [f"stage {s}" for s in order]
    assert tilts.get_xticklabels()[0].get_text() == "intercept"
    # A connector per bar, then the bands of the stages and the interval of the prediction.
    assert len(waterfall.collections) == len(bars) + 2
    segments = waterfall.collections[len(bars)].get_segments()
    widths = np.array([segment[1][0] - segment[0][0] for segment in segments])
    np.testing.assert_allclose(widths, np.ptp(result.bands[:, order], axis=0))


def test_main_effects_are_steps_of_their_own():
    result = explain.local(additive(), table(), 3)
    named = result.plot(max_features=2).axes[0]
    order = np.argsort(-np.abs(result.effects))
    names = rows(named)
    assert names[0] == "constant"
    for name, j in zip(names[1:3], order, strict=False):
        drawn = short_names(result.names, 24)[j], short(result.values[j], 12)
        assert name == "main effect of {} ({})".format(*drawn)
    others = int((result.effects != 0).sum()) - 2
    assert names[3] == f"{others} other main effect" + "s" * (others > 1)
    assert not any(r"\\$" in name for name in rows(result.plot().axes[0]))  # escaped once
    values = [bar.get_width() for bar in named.patches]
    np.testing.assert_allclose(values[1:3], result.effects[order[:2]])
    assert named.patches[-1].get_x() + values[-1] == pytest.approx(result.prediction)


def test_main_effects_are_drawn_feature_by_feature():
    result = explain.main_effects(additive())
    figure = result.plot(max_features=2)
    shown = [panel.get_xlabel() for panel in figure.axes if panel.get_xlabel()]
    assert len(shown) == 2
    figure.draw_without_rendering()
    dependence = explain.partial_dependence(additive(), "x")
    titles = [panel.get_title() for panel in dependence.plot(stage="all").axes]
    assert titles[0] == "main effects"
    assert len(titles) == len(additive().stages_) + 2
    for features in ("region", ["x", "region"], ["x", LONG]):
        one = explain.partial_dependence(additive(), features).plot(stage="effects")
        one.draw_without_rendering()
        assert one.axes[0].get_title() == "main effects"
    with pytest.raises(ValueError, match="stage must be an integer from 0 to 1, 'all' or None"):
        explain.partial_dependence(fitted(), "x").plot(stage="effects")


def test_main_effects_stand_beside_the_stages():
    importance = explain.importance(additive(), kind="paper")
    panel = importance.plot().axes[5]
    heights = sorted(bar.get_height() for bar in panel.patches)
    np.testing.assert_allclose(
        heights, sorted([importance.effects_weight, *importance.stage_weights])
    )
    parts = explain.stages(additive())
    heights = [bar.get_height() for bar in parts.plot().axes[0].patches]
    np.testing.assert_allclose(heights, [parts.effects_mean_size, *parts.mean_size])


def test_a_local_explanation_in_a_small_place_is_the_waterfall():
    figure = Figure(figsize=(12, 4))
    small, large = figure.subplots(1, 2), Figure(figsize=(14, 4)).subplots()
    result = explain.local(fitted(), table(), 3)
    result.plot(ax=small[0])
    assert len(figure.axes) == 2
    result.plot(ax=large)
    assert len(large.figure.axes) >= 3


def test_local_explanations_of_other_stages():
    adds = explain.local(one_branch(), table(), 0).plot()
    assert "one product: always adds" in words(adds.axes[2])
    without_backbone = explain.local(signed(), table(), 0).plot()
    without_backbone.draw_without_rendering()
    assert len(without_backbone.axes) == 1
    X = table()
    constant = TSLRegressor(1, random_state=0).fit(X[:50], np.ones(50))
    empty = explain.local(constant, X, 0).plot()
    assert rows(empty.axes[0]) == ["constant", "prediction"]
    zeros = pd.DataFrame(np.zeros((1, 30)), columns=wide().feature_names_in_)
    many = explain.local(wide(), zeros).plot(max_stages=4)
    n_others = len(wide().stages_) - 4
    assert n_others > 2
    assert f"{n_others} other stages" in rows(many.axes[0])


def test_a_local_explanation_shows_no_features_that_no_stage_has():
    X, y = datasets.masked_interaction(400, as_frame=True, random_state=0)
    model = TSLRegressor(**QUICK | {"n_stages": 1}).fit(X.assign(idle=1.0), y)
    local = explain.local(model, X.assign(idle=1.0), 3)
    tilts = local.plot().axes[2]
    assert "idle" not in [label.get_text() for label in tilts.get_xticklabels()]
    neutral = replace(local, backbone=np.ones_like(local.backbone))
    (words,) = neutral.plot().axes[1].texts
    assert words.get_text() == "none: every backbone is neutral here"


def test_a_local_explanation_without_stages_is_as_wide_as_its_waterfall():
    X = table()
    options = QUICK | {"n_stages": 0, "main_effects": True}
    model = TSLClassifier(**options).fit(X, np.where(target(X) > 0, "yes", "no"))
    result = explain.local(model, X, 3)
    figure = result.plot()
    (panel,) = figure.axes
    assert figure.get_size_inches()[0] < 9.0
    sum_text, share_text = panel.get_title().splitlines()
    assert sum_text.startswith("log-odds of yes ")
    assert share_text == f"probability of yes {number(model.predict_proba(X[3:4])[0, 1])}"
    figure = Figure(figsize=(14, 4))
    ax = figure.subplots()
    assert result.plot(ax=ax) is ax
    assert len(figure.axes) == 1


def test_shapley_values_of_one_row_are_bars_of_many_a_swarm():
    one = explain.shapley(fitted(), table()[:1])
    panel = one.plot().axes[0]
    order = np.argsort(-np.abs(one.values[0]))
    np.testing.assert_allclose([bar.get_width() for bar in panel.patches], one.values[0][order])
    colours = [to_hex(bar.get_facecolor()) for bar in panel.patches]
    assert colours == [UP if value >= 0 else DOWN for value in one.values[0][order]]
    many = explain.shapley(fitted(), table()[:60]).plot(max_features=4)
    assert len(rows(many.axes[0])) == 4
    points = sum(len(c.get_offsets()) for c in many.axes[0].collections)
    assert points == 4 * 60


def test_interactions_roles_stages_and_tilt():
    pairs = explain.interactions(fitted())
    figure = pairs.plot(max_features=3)
    assert [a.get_title() for a in figure.axes[:3]] == [
        "Sobol index", "pairwise Sobol index", "Friedman's H",
    ]  # fmt: skip
    widths = [bar.get_width() for bar in figure.axes[0].patches]
    np.testing.assert_allclose(widths[:3], np.sort(pairs.total)[::-1][:3])
    told = explain.roles(fitted())
    scales, directs = told.plot().axes[:2]
    assert [scales.get_title(), directs.get_title()] == ["scales", "directs (* flips the sign)"]
    flips = [role for stage in told.stages for role in stage.features if role.flips]
    assert sum("*" in word for word in words(directs)) == len(flips) > 0
    explain.roles(wide()).plot().draw_without_rendering()
    parts = explain.stages(fitted(), {"region": "north"})
    panel = parts.plot().axes[0]
    np.testing.assert_allclose([bar.get_height() for bar in panel.patches], parts.mean_size)
    diagnostics = explain.tilt(fitted(), 0)
    panels = diagnostics.plot().axes
    assert len(panels) == 1 + min(3, int((~diagnostics.constant).sum()))
    flat = explain.tilt(one_branch(), 0).plot()
    assert "has no tilt" in words(flat.axes[0])[0]


def test_the_tilt_of_levels_is_drawn_by_its_sign():
    diagnostics = explain.tilt(fitted(), 0)
    levels = list(diagnostics.names).index("region")
    first = np.where(np.arange(6) == levels, 1e6, diagnostics.spread)
    panels = replace(diagnostics, spread=first, constant=np.zeros(6, bool)).plot().axes
    assert panels[1].get_xlabel() == "region"
    total = diagnostics.intercept + diagnostics.tilts[levels]
    bars = [bar for bar in panels[1].patches if to_hex(bar.get_facecolor()) in (UP, DOWN)]
    drawn = [bar for bar in bars if bar.get_height() != 0.0]
    assert len(drawn) >= 3
    for bar in drawn:
        assert np.isclose(bar.get_height(), total).any()
        assert to_hex(bar.get_facecolor()) == (UP if bar.get_height() > 0 else DOWN)


def test_one_large_h_does_not_hide_the_others():
    result = explain.interactions(fitted())
    h = result.h.copy()
    h[0, 1] = h[1, 0] = 2.1
    panel = replace(result, h=h).plot().axes[2]
    norm = panel.images[0].norm
    assert norm.vmax == 1.0
    assert norm(0.09) == pytest.approx(0.3)  # by the square root
    assert words(panel).count("2.10") == 2
    assert "above 1" in panel.get_title()
    assert "above 1" not in result.plot().axes[1].get_title()


def test_numbers_above_the_colours_are_written_into_large_maps_too():
    figure = Figure()
    values = np.full((12, 12), 0.2)
    values[3, 4] = 7.0
    names, cells = [str(k) for k in range(12)], [[f"{v:g}" for v in row] for row in values]
    panel = figure.subplots()
    heatmap(panel, names, names, values, cmap="YlGnBu", norm=Normalize(0, 1), words=cells)
    assert words(panel) == ["7"]


def test_a_summary_is_bars_and_sentences():
    result = explain.summary(fitted())
    left, right = result.plot(max_features=2).axes
    np.testing.assert_allclose(
        [bar.get_width() for bar in left.patches], [one.importance for one in result.features[:2]]
    )
    text = right.texts[0].get_text()
    assert all(heading in text for heading, _ in result.sections)
    assert text.split()[:3] == ["The", "model", "predicts"]


def test_maps_and_reconstruction():
    both = explain.maps(fitted(), 0, ("x", "region")).plot()
    titles = [a.get_title().split("\n")[-1] for a in both.axes[:2]]
    assert titles == ["where it is active", "which way it points"]
    assert both.axes[0].get_title().startswith("stage 0: income")
    assert rows(both.axes[0]) == ["<b>east</b>", "north", "south", "(missing)"]
    single = explain.maps(one_branch(), 0, (LONG, "0/1")).plot()
    assert len(single.axes) == 2  # the map and its colour bar
    rebuilt = explain.reconstruct(fitted(), 0)
    panel = rebuilt.plot().axes[0]
    offsets = panel.collections[0].get_offsets()
    np.testing.assert_array_equal(offsets[:, 0], rebuilt.direct)


def test_bags_have_three_rows():
    X = table()
    options = QUICK | {"n_grids": 9, "trim": 0.6, "keep_bags": True}
    model = TSLRegressor.paper(1, **options).fit(X, target(X))
    result = explain.bags(model, 0)
    figure = result.plot(max_features=2, extremes=3)
    assert len(figure.axes) == 2 * 3 + 1
    thin = [len(lines_of_steps(panel)) for panel in figure.axes[:6] if lines_of_steps(panel)]
    assert thin
    assert set(thin) <= {6 + 1, 4 + 2, 9 + 1}  # extremes; kept and anchor; all; each and the mean
    titles = [a.get_title(loc="left") for a in figure.axes if a.get_title(loc="left")]
    assert titles[0].startswith("stage 0: ")
    titles[0] = titles[0].split("\n")[1]
    assert titles == ["smallest (blue) and largest (orange) scale", "averaged", "all grids"]


@pytest.mark.parametrize("scale", [1e-6, 1e9])
def test_small_and_large_targets_stay_legible(scale):
    model = fitted(n_bootstrap=0, scale=scale)
    figure = explain.partial_dependence(model, "x").plot(stage=0)
    figure.draw_without_rendering()
    panel = figure.axes[0]
    ticks = [re.sub(r"\$|\\mathdefault|[{}]", "", t.get_text()) for t in panel.get_yticklabels()]
    assert max(len(tick) for tick in ticks) <= 7
    local = explain.local(model, table(), 0).plot()
    local.draw_without_rendering()
    assert all(len(word) <= 14 for word in words(local.axes[0]))


ALL = {
    "curves": lambda: explain.curves(fitted(), 0),
    "curve": lambda: explain.curves(fitted(), 0)["x"],
    "dependence": lambda: explain.partial_dependence(fitted(), "x"),
    "surface": lambda: explain.partial_dependence(fitted(), ["x", LONG]),
    "ice": lambda: explain.ice(fitted(), "x"),
    "importance": lambda: explain.importance(fitted()),
    "paper importance": lambda: explain.importance(fitted(), kind="paper"),
    "local": lambda: explain.local(fitted(), table()),
    "roles": lambda: explain.roles(fitted()),
    "stages": lambda: explain.stages(fitted()),
    "tilt": lambda: explain.tilt(fitted(), 0),
    "maps": lambda: explain.maps(fitted(), 0, ("x", LONG)),
    "shapley": lambda: explain.shapley(fitted(), table()[:5]),
    "interactions": lambda: explain.interactions(fitted()),
    "summary": lambda: explain.summary(fitted()),
    "reconstruct": lambda: explain.reconstruct(fitted(), 0),
    "main_effects": lambda: explain.main_effects(additive()),
    "local with main effects": lambda: explain.local(additive(), table()),
}


@pytest.mark.parametrize("make", ALL.values(), ids=ALL.keys())
def test_every_figure_fits_into_a_given_place(make):
    figure = Figure(figsize=(14, 5), layout="constrained")
    left, _ = figure.subplots(1, 2)
    assert make().plot(ax=left) is left
    figure.draw_without_rendering()


def test_friedmans_h_above_one_is_written_whole():
    pairs = replace(explain.interactions(fitted()), h=np.full((6, 6), 2.643))
    assert "2.64" in words(pairs.plot().axes[2])


def test_cells_without_rows_are_faded_and_set_no_colours():
    rng = np.random.default_rng(0)
    x = rng.normal(size=600)
    X = np.column_stack([x, x + 0.05 * rng.normal(size=600)])
    model = TSLRegressor(1, **QUICK).fit(X, np.exp(x))
    result = explain.partial_dependence(model, [0, 1])
    assert 0.05 < result.support.mean() < 0.6
    mesh, veil = result.plot().axes[0].collections[:2]
    empty = ~result.support[1:-1, 1:-1]  # the outermost bins are not drawn
    assert np.ma.count(veil.get_array()) == pytest.approx(empty.sum(), rel=0.03)
    distances = np.abs(result.total[result.support] - result.mean)
    assert mesh.norm.vmax - result.mean == pytest.approx(np.quantile(distances, 0.99), rel=0.02)


def test_figures_are_saved_without_a_display(tmp_path):
    path = tmp_path / "local.png"
    explain.local(fitted(), table(), 0).plot().savefig(path)
    assert path.stat().st_size > 10_000


def test_a_model_without_stages_has_empty_roles():
    with pytest.warns(UserWarning, match="no stage improves"):
        constant = TSLRegressor(random_state=0).fit(np.ones((120, 2)), np.arange(120.0) % 2)
    panel = explain.roles(constant).plot().axes[0]
    assert panel.texts[0].get_text() == "nothing to show"
    assert explain.importance(constant, kind="paper").plot().axes


def test_labels_of_classes_may_have_dollars_and_units_are_those_of_the_model():
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"cost$": rng.normal(size=200), "b$c": rng.normal(size=200)})
    labels = np.where(X["cost$"] > 0.0, "A$0_$10k", "$5")
    model = TSLClassifier(1, early_stopping=False, random_state=0).fit(X, labels)
    for result in (
        explain.partial_dependence(model, "cost$"),
        explain.ice(model, "cost$"),
        explain.local(model, X, 3),
    ):
        result.plot().savefig(io.BytesIO())
    assert "log-odds" in explain.summary(model).plot().axes[0].get_xlabel()
    assert "log-odds" in explain.stages(model).plot().axes[0].get_ylabel()
    (name, *_) = explain.shapley(model, X[:1]).plot().axes[0].get_yticklabels()
    assert name.get_text().startswith((r"cost\$: ", r"b\$c: "))
