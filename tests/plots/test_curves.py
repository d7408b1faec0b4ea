import numpy as np
import pandas as pd
import pytest

from seplearn import TSLRegressor, datasets, explain
from seplearn.plots import plot_curves


@pytest.mark.parametrize(
    ("shift", "options"),
    [
        (0.0, {}),
        (100.0, {"fit_intercept": False}),
        (0.0, {"products": "single", "refine": "scalars"}),
    ],
)
def test_every_kind_of_stage_draws(shift, options, tmp_path):
    X, y = datasets.masked_interaction(300, random_state=0)
    X[:, 2] = 1.0
    quick = {"early_stopping": False, "n_grids": 2, "random_state": 0}
    model = TSLRegressor(1, **quick, **options).fit(X, y + shift)
    ranges = [(column.min(), column.max() + 1) for column in X.T]
    figure = plot_curves(explain.curves(model, 0), ranges)
    assert len(figure.axes) == 9
    assert [axes.get_xlabel() for axes in figure.axes[6:]] == ["0", "1", "2"]
    figure.savefig(tmp_path / "curves.png")
    assert (tmp_path / "curves.png").stat().st_size > 10_000
    drawn = list(figure.axes[0].patches)
    assert len(drawn) == sum(b is not None for b in (model.stages_[0].plus, model.stages_[0].minus))
    values = drawn[0].get_data().values
    assert np.isfinite(values).all()


def test_levels_and_missing_values_draw(tmp_path):
    rng = np.random.default_rng(0)
    levels = rng.choice(["north", "south", "east"], size=400)
    numbers = np.where(rng.random(400) < 0.2, np.nan, rng.normal(size=400))
    X = pd.DataFrame({"where": levels, "x": numbers})
    y = (levels == "north") * 1.0 + np.nan_to_num(numbers, nan=3.0)
    model = TSLRegressor(1, n_grids=2, random_state=0).fit(X, y)
    figure = plot_curves(explain.curves(model, 0))
    figure.savefig(tmp_path / "curves.png")
    assert [axes.get_xlabel() for axes in figure.axes[4:]] == ["where", "x"]
    labels = [text.get_text() for text in figure.axes[4].get_xticklabels()]
    assert labels == ["east", "north", "south"]
    points = [line for line in figure.axes[5].lines if line.get_marker() == "D"]
    assert len(points) == 1
