"""Names of stages, the number of curves that are not flat, and how often these turn."""

from dataclasses import replace

import numpy as np
import pytest

from seplearn import TSLRegressor, explain
from seplearn.model import Branch, SeparationModel, Stage
from seplearn.model.reading import stage_name, turning_points
from seplearn.table.binning import Bins, CategoricalAxis, NumericAxis
from tests.explained import joint, main_effects, single

NUMBERS = 5  # bins of a numeric axis and one of missing values
NAMES = ("hour", "workingday", "temp", "district")


def bins_of(*levels):
    """Numeric axes of five bins, then a categorical one with the levels given."""
    axes = [NumericAxis(np.arange(4.0)) for _ in range(3)]
    axes.append(CategoricalAxis(levels or ("north", "south"), rare=()))
    frequencies = [
        np.append(np.full(axis.n_bins - 1, 1 / (axis.n_bins - 1)), 0.0) for axis in axes[:3]
    ]
    seen = np.zeros(axes[3].n_bins)
    seen[:2] = 0.5
    return Bins(tuple(axes), np.concatenate([*frequencies, seen]))


BINS = bins_of()


def curve(**parts):
    """Log-factors that are flat but where a feature's values are given."""
    flat = np.zeros(len(BINS.frequencies))
    for name, values in parts.items():
        axis = BINS.axis(NAMES.index(name))
        flat[axis.start : axis.start + len(values)] = values
    return flat


def two_products(log_backbone, tilt):
    return Stage(Branch(1.0, 0.0, log_backbone + tilt), Branch(-1.0, 0.0, log_backbone - tilt))


RISE = [-2.0, -1.0, 0.0, 1.0, 2.0]
SLIGHT = [-0.2, -0.1, 0.0, 0.1, 0.2]
PEAK = [-1.0, 0.0, 2.0, 0.0, -1.0]


def name_of(stage, names=NAMES):
    return stage_name(stage, BINS, names)


def test_features_are_named_in_the_order_of_what_they_do():
    assert name_of(two_products(curve(workingday=RISE), curve())) == "workingday"
    stage = two_products(curve(hour=SLIGHT, workingday=RISE), curve())
    assert name_of(stage) == "workingday × hour"
    assert name_of(two_products(curve(hour=SLIGHT), curve(hour=RISE, temp=PEAK))) == "hour × temp"


def test_of_many_features_two_are_named():
    stage = two_products(
        curve(temp=RISE, hour=SLIGHT, workingday=PEAK), curve(district=[0.5, -0.5])
    )
    assert name_of(stage) == "temp × workingday × 2 more"


def test_long_names_are_cut():
    stage = two_products(curve(temp=RISE), curve())
    long = name_of(stage, ("a", "b", "temperature of the air\nat noon in the shade", "d"))
    assert long == "temperature of the air …"


def test_stages_of_no_feature():
    assert name_of(two_products(curve(), curve())) == "constant"
    assert name_of(Stage(Branch(0.0, 0.0, curve(hour=RISE)), None)) == "nothing"


def test_a_sign_alone_is_a_feature():
    negative = np.zeros(len(BINS.frequencies), dtype=bool)
    negative[BINS.axis(1).start] = True
    stage = Stage(Branch(1.0, 0.0, curve(hour=SLIGHT), negative), None)
    assert name_of(stage) == "workingday × hour"


def model_of(*stages, effects=None):
    return SeparationModel(BINS, 0.0, stages, effects=effects)


def test_flat_curves_are_not_read():
    backbone_only = two_products(curve(hour=RISE, temp=PEAK), curve())
    tilt_only = two_products(curve(), curve(hour=PEAK, district=[1.0, -1.0]))
    one_product = Stage(Branch(1.0, 0.0, curve(workingday=RISE)), None)
    assert model_of(backbone_only).reading_size == 2
    assert model_of(tilt_only).reading_size == 2
    assert model_of(backbone_only, tilt_only, one_product).reading_size == 5
    effects = curve(hour=[1.0, -1.0], temp=RISE)
    assert model_of(one_product, effects=effects).reading_size == 3
    assert model_of().reading_size == 0


def test_a_stage_without_backbone_is_read_by_its_factors():
    plus, minus = Branch(1.0, 0.0, curve(hour=RISE)), Branch(1.0, 0.0, curve(hour=PEAK, temp=RISE))
    model = model_of(Stage(plus, minus))  # both add
    assert model.reading_size == 3
    assert model.turning_points.tolist() == [0, 1, 0]


def test_turning_points_are_of_ordered_curves():
    stage = two_products(curve(hour=PEAK, district=[1.0, -1.0]), curve(temp=RISE))
    effects = curve(workingday=[1.0, -1.0, 1.0, -1.0, 0.0])
    model = model_of(stage, effects=effects)
    assert model.reading_size == 4
    assert model.turning_points.tolist() == [1, 0, 3]


def test_bins_without_rows_and_missing_values_do_not_turn_a_curve():
    frequencies = BINS.frequencies.copy()
    frequencies[BINS.axis(0).start + 2] = 0.0
    bent = curve(hour=[-2.0, -1.0, 5.0, 1.0, 2.0, -9.0])
    stage = two_products(bent, curve())
    model = SeparationModel(replace(BINS, frequencies=frequencies), 0.0, (stage,))
    assert model.turning_points.tolist() == [0]


@pytest.mark.parametrize(
    ("values", "turns"),
    [
        ([], 0),
        ([1.0, 1.0, 1.0], 0),
        ([0.0, 1.0, 1.0, 1.0, 2.0], 0),
        ([0.0, 1.0, 1.0, 0.0], 1),
        ([2.0, 0.0, 1.0], 1),
        ([0.0, 1.0, 0.995, 2.0], 0),  # back by less than 1 % of the range
        ([0.0, 1.0, 0.97, 2.0], 2),
        ([0.0, 0.004, 0.0, 1.0], 0),
        ([0.0, 1.0, 0.996, 0.992, 0.988, 0.0], 1),  # back in small steps
        ([3.0, 1.0, 2.0, 0.0, 1.0], 3),
    ],
)
def test_turns(values, turns):
    assert turning_points(np.array(values)) == turns


def test_on_fitted_models():
    case = joint()
    model, p = case.model, case.model.bins.n_axes
    assert model.reading_size <= 2 * p * len(model.stages)
    assert case.estimator.reading_size_ == model.reading_size
    np.testing.assert_array_equal(case.estimator.turning_points_, model.turning_points)
    assert case.estimator.stage_names_ == model.stage_names(case.estimator._schema.labels)
    effects = main_effects().model
    without = replace(effects, effects=None)
    assert effects.reading_size == without.reading_size + sum(
        bool(effects.effects[effects.bins.axis(j)].any()) for j in range(effects.bins.n_axes)
    )
    assert single().model.reading_size > 0


def test_names_in_tables_beside_numbers():
    rng = np.random.default_rng(0)
    X = rng.uniform(size=(200, 2))
    y = 3 * X[:, 0] * X[:, 1] + rng.normal(size=200) * 0.1
    model = TSLRegressor(n_stages=2, early_stopping=False, max_bins=8, random_state=0).fit(X, y)
    frame = explain.stages(model).frame()
    assert frame["stage"].tolist() == list(range(len(model.stages_)))
    assert tuple(frame["stage_name"]) == model.stage_names_
    assert set(model.stage_names_[0].split(" × ")) == {"x0", "x1"}
    curves = explain.curves(model, 0)
    assert set(curves.frame()["stage_name"]) == {model.stage_names_[0]}
    assert f"stage 0, {model.stage_names_[0]}" in str(explain.roles(model))
