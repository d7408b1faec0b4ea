"""Joint refinement as a whole: sweeps, growth, constraints, sizes, bands."""

from itertools import pairwise
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import r2_score

from seplearn import TSLRegressor, datasets, explain
from seplearn._params import TSL_PARAMETERS
from seplearn._workers import SerialWorkers
from seplearn.fitting.joint import rows
from seplearn.fitting.joint.curves import whole_of
from seplearn.fitting.joint.fit import JointFit
from seplearn.fitting.joint.sweep import Rules, sweep
from seplearn.fitting.options import FitOptions, TrainingData
from seplearn.losses import SquaredError
from seplearn.table.binning import bin_table
from seplearn.table.columns import open_table
from tests import naive

QUICK: dict[str, Any] = {"n_stages": 2, "early_stopping": False, "random_state": 0}
STAGES_ALONE: dict[str, Any] = {"main_effects": False, "random_state": 0}
SERIAL = SerialWorkers(np.zeros(1, dtype=bool))


def training_data(X, y, weight=None, max_bins=30):
    weight = np.ones(len(y)) if weight is None else weight
    none = np.zeros(X.shape[1], dtype=bool)
    bins, codes = bin_table(open_table(X), weight, none, max_bins, 5, SERIAL.map)
    return TrainingData(bins, codes, y / y.std(), weight)


def options(**given):
    values = {p.name: p.default for p in TSL_PARAMETERS} | {"directions": (0, 0, 0)} | given
    return FitOptions(**values)


def grown(n_stages=2, n=600, **given):
    X, y = datasets.masked_interaction(n, random_state=1)
    weight = np.random.default_rng(0).uniform(0.5, 2.0, n)
    data = training_data(X, y, weight)
    fit = JointFit(data, options(**given), np.random.SeedSequence(0), SERIAL)
    for _ in range(n_stages):
        fit.grow()
    return fit, data


GO_ON = SERIAL.stop


def swept(fit, n_sweeps, stop=GO_ON, **rules):
    """Mean squared residual after sweeps that learn nothing, and in which no curve rests."""
    learning_nothing = Rules(SquaredError(), rate=0.0, negligible=0.0, **rules)
    return sweep(fit._carrier, fit.curves, fit._axes, learning_nothing, n_sweeps, stop)


def test_rows_and_curves_stay_together():
    fit, data = grown()
    (block,) = fit._carrier.blocks
    products, residual = [pair.copy() for pair in block.products], fit._residual.copy()
    np.testing.assert_allclose(data.target - fit.model().predict(data.codes), residual, atol=1e-9)
    rows.predict_anew(block, data.bins.offset, fit.curves.intercept, fit.curves.effects.values)
    for stage, pair in zip(fit.curves.stages, products, strict=True):
        rows.add_stage(block, data.bins.offset, stage.curves, stage.scale, stage.present)
        np.testing.assert_allclose(block.products[-1], pair, rtol=1e-9)
    np.testing.assert_allclose(fit._residual, residual, atol=1e-9)


def test_sweeps_without_penalties_lower_the_error():
    # The little that holds every curve near zero is in units of a curvature that changes from
    # sweep to sweep, so the error may rise by a little; a single block never raises its objective.
    fit, _ = grown(smoothness=0.0, energy=0.0)
    losses = [swept(fit, 1, energy=0.0) for _ in range(30)]
    assert all(after <= before * 1.01 for before, after in pairwise(losses))
    assert losses[-1] < losses[0]


def test_at_convergence_the_gradient_is_zero():
    fit, data = grown(smoothness=0.3, energy=0.05)
    mean_square = swept(fit, 1000, energy=0.05)
    bins, (block,) = data.bins, fit._carrier.blocks
    assert np.sum(data.weight * fit._residual) == pytest.approx(0.0, abs=1e-8)
    for stage, products in zip(fit.curves.stages, block.products, strict=True):
        for j in range(bins.n_axes):
            axis = bins.axis(j)
            A, _, right = naive.block_system(
                data.codes[:, j], *products, fit._residual, data.weight,
                stage.curves[:, axis].ravel(), stage.penalties[j],
                bins.axes[j].n_bins, bins.n_ordered[j], 0.05 * mean_square,
            )  # fmt: skip
            assert np.abs(np.linalg.solve(A, right)).max() < 1e-3


def test_a_stopped_sweep_ends_at_once():
    fit, _ = grown()
    before = [stage.curves.copy() for stage in fit.curves.stages]
    swept(fit, 5, stop=np.ones(1, dtype=bool), energy=0.05)
    for stage, curves in zip(fit.curves.stages, before, strict=True):
        np.testing.assert_array_equal(stage.curves, curves)


def test_the_masked_interaction_is_recovered():
    X_test, y_test = datasets.masked_interaction(50_000, random_state=99)
    errors = []
    for seed in range(3):
        X, y = datasets.masked_interaction(10_000, random_state=seed)
        model = TSLRegressor(**QUICK | {"random_state": seed}).fit(X, y)
        errors.append(np.sqrt(np.mean((model.predict(X_test) - y_test) ** 2)))
    assert np.mean(errors) <= 0.295  # measured 0.290, noise 0.25


def test_an_additive_function_and_an_irrelevant_feature():
    rng = np.random.default_rng(0)
    X = rng.uniform(-1, 1, size=(2000, 3))
    y = 5.0 + np.sin(3 * X[:, 0]) + X[:, 1] ** 2 + rng.normal(0, 0.1, 2000)
    model = TSLRegressor(random_state=0).fit(X, y)
    X_new = rng.uniform(-1, 1, size=(2000, 3))
    truth = 5.0 + np.sin(3 * X_new[:, 0]) + X_new[:, 1] ** 2
    assert np.sqrt(np.mean((model.predict(X_new) - truth) ** 2)) < 0.05
    moved = X_new.copy()
    moved[:, 2] = rng.permutation(moved[:, 2])
    assert np.std(model.predict(moved) - model.predict(X_new)) < 0.02


@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_a_target_of_one_sign_starts_with_one_product(sign):
    X, y = datasets.masked_interaction(800, random_state=0)
    y = sign * np.exp(0.3 * y.clip(-3, 3))
    model = TSLRegressor(**QUICK).fit(X, y)
    assert model.stages_[0].is_one_branch
    assert (model.stages_[0].minus is None) == (sign > 0)
    mirrored = TSLRegressor(**QUICK).fit(X, -y)
    # Not to the last bit: sums round differently, and steps may be halved at other places.
    difference = mirrored.predict(X) + model.predict(X)
    assert np.sqrt(np.mean(difference**2)) < 0.03 * np.std(y)
    assert model.score(X, y) > 0.85


def test_levels_only_and_a_single_feature():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"a": rng.choice(list("xyz"), 500), "b": rng.choice(list("uv"), 500)})
    effect = frame["a"].map({"x": 0.0, "y": 2.0, "z": -1.0}) * frame["b"].map({"u": 1.0, "v": -2.0})
    y = effect.to_numpy() + rng.normal(0, 0.1, 500)
    assert TSLRegressor(**QUICK).fit(frame, y).score(frame, y) > 0.98
    x = rng.normal(size=(400, 1))
    assert TSLRegressor(**QUICK).fit(x, np.sin(2 * x[:, 0])).score(x, np.sin(2 * x[:, 0])) > 0.98


def test_missing_values_get_their_own_factor():
    rng = np.random.default_rng(0)
    x = rng.normal(size=1000)
    y = np.where(rng.random(1000) < 0.3, np.nan, 0.0) + x
    X = np.where(np.isnan(y), np.nan, x)[:, None]
    target = np.where(np.isnan(y), 4.0, x)
    model = TSLRegressor(**QUICK).fit(X, target)
    assert model.predict([[np.nan]])[0] == pytest.approx(4.0, abs=0.2)


def test_huber_sweeps_resist_outliers():
    rng = np.random.default_rng(0)
    X = rng.uniform(-1, 1, size=(1500, 2))
    truth = np.exp(X[:, 0]) * (1 + X[:, 1] ** 2)
    y = truth + rng.normal(0, 0.1, 1500)
    y[::25] += 30.0
    errors = [
        np.sqrt(np.mean((TSLRegressor(**QUICK, loss=loss).fit(X, y).predict(X) - truth) ** 2))
        for loss in ("squared_error", "huber")
    ]
    assert errors[1] < 0.3 * errors[0]


@pytest.mark.parametrize("size", [100.0, 1e4])
def test_huber_fits_resist_outliers_of_any_size(size):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(600, 4))
    truth = X[:, 0] + X[:, 1] * X[:, 2]
    y = truth + 0.3 * rng.normal(size=600)
    y[:60] += size * np.sign(rng.normal(size=60))
    model = TSLRegressor(loss="huber", random_state=0).fit(X, y)
    assert r2_score(truth, model.predict(X)) > 0.9


def test_a_few_rows_of_large_weight_are_a_few_rows():
    rng = np.random.default_rng(1)
    X = rng.normal(size=(800, 4))
    truth = X[:, 0] + X[:, 1] * X[:, 2]
    y, weight = truth + rng.normal(size=800), np.exp(1.5 * rng.normal(size=800))
    model = TSLRegressor(random_state=0).fit(X, y, sample_weight=weight)
    assert r2_score(truth, model.predict(X)) > 0.4


@pytest.mark.parametrize("given", ["folds", "eval_set"])
def test_outliers_do_not_choose_the_size_of_a_huber_fit(given):
    rng = np.random.default_rng(0)
    X = rng.uniform(-1, 1, size=(1200, 2))
    truth = np.exp(X[:, 0]) * (1 + X[:, 1] ** 2)
    y = truth + rng.normal(0, 0.1, 1200)
    y[::15] += rng.exponential(60, size=80)
    held: dict[str, Any] = {} if given == "folds" else {"eval_set": (X[900:], y[900:])}
    model = TSLRegressor(n_stages=4, loss="huber", random_state=0).fit(X[:900], y[:900], **held)
    assert len(model.stages_) > 0
    assert r2_score(truth, model.predict(X)) > 0.9


@pytest.mark.parametrize(
    ("given", "more"),
    [
        ({"x": 1, "z": -1}, {"early_stopping": False, "n_stages": 8}),
        ([1, 0, -1], {"main_effects": False}),
        (np.array([1, 0, -1]), {"main_effects": True}),
    ],
)
def test_monotone_constraints_hold_exactly(given, more):
    """In stages, in main effects, and in main effects that were stages of one feature."""
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.normal(size=(600, 3)), columns=["x", "y", "z"])
    target = np.sin(2 * frame["x"]) * frame["y"] - frame["z"] ** 2 + rng.normal(0, 0.3, 600)
    model = TSLRegressor(**{"n_stages": 4} | more, random_state=0, monotonic_cst=given)
    model.fit(frame, target)
    effects = model.model_.effects
    assert (effects is None) == (more.get("main_effects") is False)
    for j, direction in ((0, 1), (2, -1)) if effects is not None else ():
        assert (np.diff(effects[model.model_.bins.axis(j)][:-1]) * direction >= 0).all()
    for stage in model.stages_:
        for j, direction in ((0, 1), (2, -1)):
            axis = model.model_.bins.axis(j)
            for branch in stage.branches:
                logs = branch.log_factors[axis][:-1]
                assert (np.diff(logs) * direction * branch.coefficient_sign >= 0).all()
    for name, direction in (("x", 1), ("z", -1)):
        for row in range(20):
            grid = pd.DataFrame([frame.iloc[row]] * 200)
            grid[name] = np.linspace(-4, 4, 200)
            steps = np.diff(model.predict(grid)) * direction
            assert (steps >= -1e-12 * target.abs().max()).all()
    assert model.score(frame, target) > 0.1


def test_constraints_that_contradict_are_refused():
    frame = pd.DataFrame({"x": np.arange(20.0), "level": list("ab") * 10})
    y = np.arange(20.0)

    def refused(match, error=ValueError, **given):
        with pytest.raises(error, match=match):
            TSLRegressor(**QUICK | given).fit(frame, y)

    refused(r"for columns among \['x', 'level'\], got 'q'", monotonic_cst={"q": 1})
    refused("0 for column 'level', which holds levels, got 1", monotonic_cst={"level": 1})
    refused("one direction for column 'x', got", monotonic_cst={"x": 1, 0: -1})
    refused("1 .increasing., -1 .decreasing. or 0 .free., got 2", monotonic_cst={"x": 2})
    refused("as long as there are features .2.", monotonic_cst=[1])
    refused("monotonic_cst must be None, a dict", TypeError, monotonic_cst="x")
    refused("monotonic_cst needs refine='joint'", monotonic_cst=[1, 0], refine="scalars")
    refused("products='single' has no joint refinement", products="single")


def test_the_size_is_chosen_and_told():
    X, y = datasets.masked_interaction(1000, random_state=0)
    model = TSLRegressor(8, **STAGES_ALONE).fit(X, y)
    (path,) = model.size_paths_
    assert 0 < path.chosen < 8
    told = [record.validation_loss for record in model.history_]
    assert told
    # A fit that finds no step in a round, while others do, has no record of it.
    assert set(told) <= set(path.losses[1 : path.chosen + 1])
    best = min(path.losses)
    assert path.losses[path.chosen] <= best * 1.01
    smaller = zip(path.losses[: path.chosen], path.errors, strict=False)
    assert all(loss > best + min(error, 0.01 * best) for loss, error in smaller)
    assert all(record.cancellation >= 1.0 for record in model.history_)
    assert all(record.freedom > 0 for record in model.history_)
    fixed = TSLRegressor(3, early_stopping=False, **STAGES_ALONE).fit(X, y)
    assert len(fixed.history_) == 3
    assert fixed.history_[0].validation_loss is None


def test_smoothness_that_is_given_has_no_freedom_to_tell():
    X, y = datasets.masked_interaction(200, random_state=0)
    model = TSLRegressor(**QUICK, smoothness=0.3).fit(X, y)
    assert [record.freedom for record in model.history_] == [None, None]
    with pytest.raises(ValueError, match="staged_predict needs a fit with refine='scalars'"):
        model.staged_predict(X)


def test_an_eval_set_or_groups_choose_the_size():
    X, y = datasets.masked_interaction(1200, random_state=0)
    frame = pd.DataFrame(X, columns=list("abc"))
    held = frame.iloc[800:], y[800:]
    model = TSLRegressor(5, **STAGES_ALONE).fit(frame.iloc[:800], y[:800], eval_set=held)
    (path,) = model.size_paths_
    constant = np.mean((np.mean(y[:800]) - held[1]) ** 2)
    assert path.losses[0] == pytest.approx(constant, rel=1e-9)
    error = np.mean((model.predict(held[0]) - held[1]) ** 2)
    assert model.history_[-1].validation_loss == pytest.approx(error, rel=0.3)  # of the finished
    groups = np.repeat(np.arange(60), 20)
    TSLRegressor(2, **STAGES_ALONE).fit(frame, y, groups=[f"g{g}" for g in groups])
    with pytest.raises(ValueError, match="eval_set: X must have the columns seen by fit"):
        TSLRegressor(2).fit(frame, y, eval_set=(frame.rename(columns={"a": "z"}), y))
    again = TSLRegressor(5, **STAGES_ALONE).fit(frame.iloc[:800], y[:800], eval_set=[held])
    np.testing.assert_array_equal(again.predict(frame), model.predict(frame))
    with pytest.raises(ValueError, match="groups must not have missing values"):
        TSLRegressor(2).fit(frame, y, groups=[None, *groups[1:]])
    days = np.datetime64("2020-01-01", "ns") + groups.astype("timedelta64[D]")
    days[7] = np.datetime64("NaT")
    with pytest.raises(ValueError, match="groups must not have missing values, got NaT in row 7"):
        TSLRegressor(2).fit(frame, y, groups=days)
    with pytest.raises(TypeError, match="eval_set must be a pair"):
        TSLRegressor(2).fit(frame, y, eval_set=frame)
    with pytest.raises(ValueError, match="eval_set: Found input variables with inconsistent"):
        TSLRegressor(2).fit(frame, y, eval_set=(frame, y[:5]))
    with pytest.raises(ValueError, match=r"groups must have one value per row \(1200\), got shape"):
        TSLRegressor(2).fit(frame, y, groups=[1, 2])
    with pytest.raises(ValueError, match="groups must hold at least two groups"):
        TSLRegressor(2).fit(frame, y, groups=np.ones(1200))
    with pytest.raises(ValueError, match="eval_set needs refine='joint'"):
        TSLRegressor(2, refine="scalars").fit(frame, y, eval_set=held)
    with pytest.raises(ValueError, match=r"at least as many rows as folds \(5\), got 3"):
        TSLRegressor(2, early_stopping=True).fit(X[:3], y[:3])


def test_contradictions_are_refused():
    X, y = datasets.masked_interaction(200, random_state=0)
    held, groups = (X, y), np.arange(200)
    with pytest.raises(ValueError, match=r"eval_set is for choosing.*got early_stopping=False"):
        TSLRegressor(2, early_stopping=False).fit(X, y, eval_set=held)
    with pytest.raises(ValueError, match=r"groups is for choosing.*got early_stopping=False"):
        TSLRegressor(2, early_stopping=False).fit(X, y, groups=groups)
    with pytest.raises(ValueError, match="groups must not be given together with eval_set"):
        TSLRegressor(2).fit(X, y, eval_set=held, groups=groups)
    with pytest.raises(ValueError, match="n_bootstrap > 0 needs refine='joint'"):
        TSLRegressor.paper(n_bootstrap=5).fit(X, y)
    with pytest.raises(ValueError, match="early_stopping=True needs refine='joint'"):
        TSLRegressor.paper(early_stopping=True).fit(X, y)
    weight = (groups < 100).astype(float)
    with pytest.raises(ValueError, match="groups must hold at least two groups, got only '0'"):
        TSLRegressor(2).fit(X, y, weight, groups=groups // 100)


CELLS = {
    "one binary": (1, 2, lambda X: X[:, 0]),
    "exclusive or": (2, 2, lambda X: (X[:, 0] + X[:, 1]) % 2),
    "grid": (2, 4, lambda X: np.sin(1 + X[:, 0] * X[:, 1])),
}


@pytest.mark.parametrize("cells", CELLS.values(), ids=CELLS.keys())
def test_a_table_of_few_different_rows_is_learned(cells):
    n_features, n_values, function = cells
    rng = np.random.default_rng(0)
    X = rng.integers(0, n_values, size=(600, n_features)).astype(float)
    model = TSLRegressor(random_state=0).fit(X, function(X))
    assert model.score(X, function(X)) > 0.99
    order = rng.permutation(600)
    again = TSLRegressor(random_state=0).fit(X[order], function(X)[order])
    assert len(again.stages_) == len(model.stages_)


def test_a_single_row_repeated_is_a_constant():
    X, y = np.ones((200, 1)), np.tile([0.0, 1.0], 100)
    with pytest.warns(UserWarning, match="no stage improves") as caught:
        model = TSLRegressor(random_state=0).fit(X, y)
    np.testing.assert_allclose(model.predict(X), 0.5)
    assert caught[0].filename == __file__


@pytest.mark.filterwarnings("ignore:no stage improves")
def test_few_rows_of_noise_do_not_end_far_from_their_mean():
    excess = []
    for seed in range(3):
        rng = np.random.default_rng(seed)
        X, y = rng.normal(size=(1060, 3)), rng.normal(size=1060)
        model = TSLRegressor(random_state=seed).fit(X[:60], y[:60])
        own, mean = model.predict(X[60:]) - y[60:], y[:60].mean() - y[60:]
        excess.append(np.sqrt(np.mean(own**2) / np.mean(mean**2)))
    assert np.median(excess) < 1.001
    assert sum(ratio > 1.05 for ratio in excess) <= 1


@pytest.mark.parametrize("main_effects", ["auto", False])
@pytest.mark.parametrize("n_stages", [1, 2])
@pytest.mark.parametrize("n_rows", [20, 50])
def test_a_curve_is_found_where_every_row_has_a_bin_of_its_own(n_rows, n_stages, main_effects):
    """A held-out row then lies in a bin without rows: what both sides say counts there."""
    X = np.random.default_rng(0).normal(size=(n_rows, 1))
    model = TSLRegressor(n_stages, main_effects=main_effects, random_state=0).fit(X, X[:, 0])
    assert (len(model.stages_) == 0) == (main_effects == "auto")  # one feature: a main effect
    assert model.score(X, X[:, 0]) > 0.9


def test_noise_gives_the_constant_and_says_so():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(300, 4)), rng.normal(size=300)
    with pytest.warns(UserWarning, match="no stage improves on a constant; the model is one"):
        model = TSLRegressor(random_state=0).fit(X, y)
    assert model.stages_ == ()
    np.testing.assert_allclose(model.predict(X), y.mean())
    with pytest.raises(ValueError, match="needs bootstrap replicates"):
        model.predict_interval(X, kind="mean")
    with pytest.warns(UserWarning, match="no stage improves on a constant"):
        again = TSLRegressor(n_bootstrap=2, random_state=0).fit(X, y)
    np.testing.assert_allclose(again.predict_interval(X, kind="mean"), y.mean())
    with pytest.raises(ValueError, match="model has no stages"):
        explain.curves(model, 0)


def test_fixed_smoothness_makes_curves_smooth_and_in_the_end_flat():
    X, y = datasets.masked_interaction(800, random_state=0)
    rough, smooth = (
        TSLRegressor(**QUICK | STAGES_ALONE, smoothness=value).fit(X, y).stages_[0].plus.log_factors
        for value in (0.0, 30.0)
    )
    assert np.std(np.diff(smooth)) < 0.3 * np.std(np.diff(rough))
    with pytest.warns(UserWarning, match="no stage improves on a constant"):
        flat = TSLRegressor(**QUICK | STAGES_ALONE, smoothness=1e6).fit(X, y)
    assert flat.stages_ == ()


def test_columns_without_names_are_constrained_under_the_names_explanations_give_them():
    X = np.random.default_rng(0).normal(size=(300, 2))
    y = X[:, 0] + np.sin(5 * X[:, 1])
    options: dict[str, Any] = {"n_stages": 1, "early_stopping": False, "random_state": 0}
    named = TSLRegressor(monotonic_cst={"x1": 1}, **options).fit(X, y)
    listed = TSLRegressor(monotonic_cst=[0, 1], **options).fit(X, y)
    np.testing.assert_array_equal(named.predict(X), listed.predict(X))


def test_a_level_far_from_zero_says_nothing():
    X, y = datasets.masked_interaction(400, random_state=24)
    new, wanted = datasets.masked_interaction(2000, random_state=99)
    fits = [TSLRegressor(4, random_state=0).fit(X, y + level) for level in (1e3, -1e4)]
    near, far = (fit.predict(new) - level for fit, level in zip(fits, (1e3, -1e4), strict=True))
    # Rounding at another level: a fit among those averaged may go another way where rows are few.
    assert np.median(np.abs(near - far)) < 1e-2
    assert np.mean((near - far) ** 2) < 1e-3 * np.var(wanted)
    assert np.mean((near - wanted) ** 2) < 0.1 * np.var(wanted)


@pytest.mark.parametrize("loss", ["squared_error", "huber"])
@pytest.mark.parametrize("refine", ["joint", "scalars"])
def test_the_recorded_loss_is_that_of_the_training_rows(loss, refine):
    X, y = datasets.masked_interaction(300, random_state=0)
    model = TSLRegressor(**QUICK, loss=loss, refine=refine).fit(X, y)
    off = np.abs(y - model.predict(X))
    expected = off**2
    if loss == "huber":
        residual = y - model.predict(X)
        spread = 1.4826 * np.median(np.abs(residual - np.median(residual)))
        k = 1.345 * spread
        expected = np.where(off <= k, off**2, 2 * k * off - k**2)
    assert model.history_[-1].loss == pytest.approx(expected.mean(), rel=0.01)


def test_parts_are_whole_only_if_they_are_all_there():
    whole = np.zeros((3, 2))
    assert whole_of(list(whole)) is not None
    assert np.shares_memory(whole_of(list(whole)), whole)
    assert np.array_equal(whole_of(list(whole[:2])), whole[:2])  # there is room behind them
    assert whole_of(list(whole[1:])) is None
    assert whole_of([whole[0], whole[2]]) is None
    assert whole_of([*whole[:2], np.zeros(2)]) is None
    assert whole_of([whole[0], np.zeros(2), whole[2]]) is None
    assert whole_of([np.zeros(2), *whole[1:]]) is None
    assert whole_of([whole[0, :1], whole[1, :1]]) is None
    assert whole_of([]) is None


def test_products_of_a_new_stage_lie_behind_those_of_others_where_there_is_room():
    fit, data = grown(2)
    block = fit.carrier.only_block
    stack = rows.stacked_products(block)
    added = (data.bins.offset, fit.curves.stages[0].curves, np.ones(2), np.ones(2, dtype=bool))
    rows.add_stage(block, *added)
    assert np.shares_memory(rows.stacked_products(block), stack)
    assert len(rows.stacked_products(block)) == 3
    expected = [pair.copy() for pair in block.products]
    rows.drop_stage(block, 1)
    del expected[1]
    for _ in range(8):  # more than there is room for, and a place is missing
        rows.add_stage(block, *added)
        expected.append(block.products[-1].copy())
        assert np.array_equal(rows.stacked_products(block), expected)


def test_curves_of_all_stages_are_stacked_anew_only_when_stages_change():
    fit, _ = grown(3)
    first = fit.curves.stacked("penalties", 3, 2, 3)
    assert np.shares_memory(fit.curves.stacked("penalties", 3, 2, 3), first)
    snapshot = fit.curves.copy()
    first += 1.0
    assert np.array_equal(fit.curves.stages[1].penalties, snapshot.stages[1].penalties + 1.0)
    kept = fit.curves.stages[2].penalties.copy()
    del fit.curves.stages[1]
    assert np.array_equal(fit.curves.stacked("penalties", 3, 2, 3)[1], kept)
