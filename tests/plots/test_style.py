import io
import subprocess
import sys

import matplotlib as mpl
import numpy as np
import pytest
from matplotlib.figure import Figure

from seplearn import TSLRegressor, explain
from seplearn.plots.style import Canvas, compact, number, short, short_names, signed_number
from tests.plots.awkward import LONG, fitted, table


def test_names_that_are_cut_stay_different():
    names = [f"measurement number {j} of the day before" for j in (1, 2, 13)]
    assert short_names(names) == [
        "measurement num…1…",
        "measurement num…2…",
        "measurement nu…13…",
    ]
    assert short_names(["a", "b"]) == ["a", "b"]
    assert max(map(len, short_names([LONG, LONG + "!"], 20))) <= 21  # a dollar sign is escaped
    assert short("a\nb  c") == "a b c"
    assert len(short("z" * 500)) == 26


def test_levels_with_half_a_character_are_drawn():
    X = np.array([["\udcff", 0.0], ["$\\frac{", 1.0]] * 20, dtype=object)
    y = np.where(X[:, 0] == "\udcff", 1.0, -1.0)
    model = TSLRegressor(n_stages=0, early_stopping=False, random_state=0).fit(X, y)
    for result in (
        explain.card(model, 0),
        explain.summary(model),
        explain.compare(model, model, X),
    ):
        result.plot().savefig(io.BytesIO())
        assert "<img" in result._repr_html_()


def test_numbers_are_short():
    assert number(0.0) == "0"
    assert number(149_491.2) == "149,491"
    assert number(0.01234567) == "0.01235"
    assert number(1.5e-6) == "1.5e-06"
    assert number(3e9) == "3e+09"
    assert signed_number(-2.5) == "\N{MINUS SIGN}2.5"
    assert [compact(v) for v in (25_000, 1.5e6, 2000, 0.02, -3e9)] == [
        "25k", "1.5M", "2000", "0.02", "\N{MINUS SIGN}3G",
    ]  # fmt: skip


def test_an_axes_keeps_its_figure_and_a_notebook_shows_a_new_one():
    figure = Figure()
    given = figure.subplots()
    assert explain.ice(fitted(), "x").plot(ax=given) is given
    assert given.lines
    made = explain.ice(fitted(), "x").plot()
    assert isinstance(made, Canvas)
    assert made._repr_png_().startswith(b"\x89PNG")


def test_several_panels_take_the_place_of_an_axes():
    figure = Figure(figsize=(12, 8))
    left, right = figure.subplots(1, 2)
    assert explain.importance(fitted(), kind="paper").plot(ax=left) is left
    assert len(figure.axes) > 6
    assert not left.axison
    box = right.get_position()
    inside = [a for a in figure.axes if a not in (left, right)]
    assert all(a.get_position().x1 <= box.x1 for a in inside)
    with pytest.raises(ValueError, match="ax must come from subplots"):
        explain.importance(fitted(), kind="paper").plot(ax=figure.add_axes((0, 0, 1, 1)))
    with pytest.raises(TypeError, match="ax must be a matplotlib Axes or None, got 3"):
        explain.importance(fitted(), kind="paper").plot(ax=3)


def test_plots_leave_matplotlib_as_it_was():
    before = dict(mpl.rcParams)
    explain.local(fitted(), table()).plot()
    assert dict(mpl.rcParams) == before
    code = (
        "import sys, numpy as np; from seplearn import TSLRegressor, explain;"
        "X = np.random.default_rng(0).normal(size=(60, 2));"
        "m = TSLRegressor(1, early_stopping=False, random_state=0).fit(X, X[:, 0]);"
        "explain.importance(m).plot(); sys.exit('matplotlib.pyplot' in sys.modules)"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_without_matplotlib_plot_says_what_to_install(monkeypatch):
    result = explain.importance(fitted(), kind="paper")
    for name in [n for n in sys.modules if n.startswith(("matplotlib", "seplearn.plots"))]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(ModuleNotFoundError, match=r"pip install 'seplearn\[plots\]'"):
        result.plot()
