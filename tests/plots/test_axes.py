"""Axes that can be read: large numbers, powers of ten, multiples."""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest

from seplearn import TSLRegressor, explain
from seplearn.plots.local import plot_local
from seplearn.plots.multiples import ticks_between
from seplearn.plots.panel import FeatureAxis
from seplearn.plots.style import Compact, on_two_lines, panels, tidy
from seplearn.table.binning import CategoricalAxis, NumericAxis


def tick_texts(axis):
    axis.figure.canvas.draw()
    return [label.get_text() for label in axis.get_ticklabels() if label.get_text()]


@pytest.mark.parametrize(
    ("low", "high"), [(5_430_000, 5_430_040), (1e9, 1e9 + 3), (-1e6 - 2, -1e6), (0.2, 0.9)]
)
def test_ticks_differ_and_with_what_they_share_are_the_numbers(low, high):
    axes, figure = panels(None, 1, 1, (4.0, 3.0))
    axes[0, 0].plot([low, high], [0.0, 1.0])
    tidy(axes[0, 0])
    axis = axes[0, 0].xaxis
    texts = tick_texts(axis)
    assert len(set(texts)) == len(texts) >= 3
    told = axis.get_major_formatter().get_offset()
    shared = float(told.replace("+ ", "").replace("\N{MINUS SIGN} ", "-") or 0.0)
    assert (shared != 0.0) == (abs(low) >= 1e6)
    for text, place in zip(texts, axis.get_ticklocs(), strict=True):
        assert float(text.replace("\N{MINUS SIGN}", "-")) + shared == pytest.approx(place)
    assert all(len(text.lstrip("\N{MINUS SIGN}")) <= 4 for text in texts)
    plt.close("all")
    assert figure is not None


def test_what_ticks_share_is_round():
    formatter = Compact()
    formatter.set_locs(1e6 + np.arange(-0.6, 0.5, 0.2))
    assert formatter.get_offset() == "+ 1000000"


def test_a_single_tick_shares_nothing():
    formatter = Compact()
    assert formatter.format_ticks([5_430_000.0]) == ["5.43M"]
    assert formatter.get_offset() == ""


@pytest.mark.parametrize(("low", "high"), [(0.34, 3.6), (0.25, 3.9), (0.3, 4.2), (0.05, 30.0)])
def test_both_sides_of_times_one_have_ticks(low, high):
    ticks = ticks_between(np.log(low), np.log(high))
    assert any(tick < -0.1 for tick in ticks)
    assert any(tick > 0.1 for tick in ticks)
    assert any(abs(tick) < 1e-12 for tick in ticks)


def axis_of(values, missing=0.0):
    """The axis of a feature with a row in every bin between these values."""
    axis = NumericAxis(np.asarray(values)[1:-1])
    n = axis.n_bins
    frequencies = np.append(np.full(n - 1, (1.0 - missing) / (n - 1)), missing)
    return FeatureAxis("x", axis, frequencies, np.arange(n - 1), np.asarray(values), missing > 0)


def test_values_over_powers_of_ten_are_drawn_by_their_logs():
    wide = axis_of(np.geomspace(1.0, 1e6, 60), missing=0.1)
    assert wide.is_log
    assert "(log scale)" in wide.label
    assert np.log(wide.missing_at / wide.high) == pytest.approx(0.08 * np.log(1e6))
    for plain in (
        axis_of(np.linspace(1.0, 1e6, 60)), axis_of(np.geomspace(1.0, 50.0, 60)),
        axis_of(np.geomspace(1.0, 1e6, 60) - 1.0), axis_of(np.linspace(-5.0, 5.0, 60)),
    ):  # fmt: skip
        assert not plain.is_log
        assert plain.label == "x"
    axes, _ = panels(None, 1, 1, (4.0, 3.0))
    wide.dress(axes[0, 0])
    wide.density(axes[0, 0])
    assert axes[0, 0].get_xscale() == "log"
    assert tick_texts(axes[0, 0].xaxis)[:2] in (["1", "10"], ["10", "100"], ["1", "100"])


def test_every_figure_of_a_feature_over_powers_of_ten_is_drawn():
    random = np.random.default_rng(0)
    X = pd.DataFrame({"mass": 10.0 ** random.uniform(0, 6, 600), "z": random.normal(size=600)})
    y = np.log10(X["mass"]) * X["z"]
    X.loc[::9, "mass"] = np.nan
    model = TSLRegressor(1, early_stopping=False, random_state=0).fit(X, y)
    for result in (
        explain.card(model, "mass"), explain.partial_dependence(model, ["mass", "z"]),
        explain.partial_dependence(model, ["z", "mass"]), explain.curves(model, 0),
        explain.ice(model, "mass"), explain.tilt(model, 0), explain.maps(model, 0, ("z", "mass")),
        explain.compare(model, model, X),
    ):  # fmt: skip
        figure = result.plot()
        figure.draw_without_rendering()
    ways = {panel.get_xscale() for panel in explain.card(model, "mass").plot().axes}
    assert "log" in ways


@pytest.mark.parametrize("shift", [0.0, 1e6])
def test_a_large_constant_leaves_room_for_what_follows(shift):
    random = np.random.default_rng(0)
    X = random.normal(size=(400, 2))
    model = TSLRegressor(1, early_stopping=False, random_state=0, main_effects=True)
    model.fit(X, X[:, 0] + X[:, 0] * X[:, 1] + shift)
    local = explain.local(model, X, 3)
    panel = plot_local(local).axes[0]
    width = np.ptp(panel.get_xlim())
    sizes = np.abs([*local.effects[local.effects != 0.0], *local.contributions])
    assert sizes.max() > 0.1 * width
    drawn = [bar.get_width() for bar in panel.patches]
    constants = [w for w in drawn if w == pytest.approx(local.intercept)]
    assert len(constants) == (shift == 0.0)


def test_bars_of_two_models_end_where_their_averages_are():
    X = pd.DataFrame({"level": np.repeat(["a", "b", "c"], 100)})
    y = np.repeat([1.0, 2.0, 4.0], 100)
    options = {"n_stages": 0, "random_state": 0}
    first, second = (TSLRegressor(**options).fit(X, k * y) for k in (1.0, 1.3))
    found = explain.compare(first, second, X)
    panel = found.plot().axes[2]
    ends = sorted(bar.get_y() + bar.get_height() for bar in panel.patches)
    averages = [one.average[:3] for one in found.curves[0]]
    assert ends == pytest.approx(sorted(np.concatenate(averages)))
    assert len({round(bar.get_y(), 9) for bar in panel.patches}) == 1  # all begin at one line


def test_a_long_name_takes_two_lines():
    assert on_two_lines("probability of Gentoo against Adelie alone", 34).count("\n") == 1
    assert on_two_lines("short", 34) == "short"
    long = on_two_lines("word " * 40, 34).split("\n")
    assert len(long) == 2
    assert all(len(line) <= 34 for line in long)


def test_of_many_levels_the_lowest_and_the_highest_are_shown():
    n = 60
    axis = CategoricalAxis(tuple(f"l{k:02d}" for k in range(n)), ())
    frequencies = np.append(np.linspace(2.0, 1.0, n), [0.0, 0.0, 0.0])
    curve = np.append(np.arange(n, dtype=float), [0.0, 0.0, 0.0])
    frequent = FeatureAxis.of("level", axis, frequencies / frequencies.sum()).shown
    np.testing.assert_array_equal(frequent, np.arange(20))
    shown = FeatureAxis.of("level", axis, frequencies / frequencies.sum(), curve).shown
    np.testing.assert_array_equal(shown, [*range(18), n - 2, n - 1])
