"""A second fit that goes on from the first: more stages, other rows, other levels."""

import copy
import pickle
from typing import Any

import numpy as np
import pytest

from seplearn import TSLClassifier, TSLRegressor, datasets, load_model, merge

FEW: dict[str, Any] = {"early_stopping": False, "random_state": 0}


@pytest.fixture(scope="module")
def flats():
    X, y = datasets.rents(700, random_state=0)
    return X, y


@pytest.fixture(scope="module")
def two_products():
    rng = np.random.default_rng(0)
    X = rng.uniform(-1.0, 1.0, (600, 4))
    return X, 3.0 * X[:, 0] * X[:, 1] + 3.0 * X[:, 2] * X[:, 3] + 0.1 * rng.normal(size=600)


def error(model, X, y):
    return float(np.sqrt(np.mean((model.predict(X) - y) ** 2)))


def test_a_constant_stays_where_there_was_one(two_products):
    X, y = two_products
    model = TSLRegressor(1, warm_start=True, main_effects=True, **FEW).fit(X, y + 5.0)
    with pytest.raises(ValueError, match="fit_intercept must be True where warm_start goes on"):
        model.set_params(fit_intercept=False).fit(X, y)


@pytest.mark.parametrize("main_effects", [True, False])
def test_more_stages_are_added_to_those_there_are(two_products, main_effects):
    X, y = two_products
    model = TSLRegressor(1, warm_start=True, main_effects=main_effects, **FEW).fit(X, y)
    first, before = error(model, X, y), model.stages_[0]
    model.set_params(n_stages=2).fit(X, y)
    assert len(model.stages_) == 2
    assert len(model.history_) == 2
    assert error(model, X, y) < 0.9 * first
    curves = np.array([stage.plus.log_factors for stage in (before, *model.stages_)])
    like = np.corrcoef(curves)[0]
    assert like[1] > 0.8 > like[2]  # the first stage is still the first


def test_without_more_to_do_the_model_stays_about_as_it_is(flats):
    X, y = flats
    model = TSLRegressor(2, warm_start=True, main_effects=False, **FEW).fit(X, y)
    before, names = model.predict(X), model.stage_names_
    assert len(names) == 2  # there is no stage to add
    model.fit(X, y)
    assert np.std(model.predict(X) - before) < 0.1 * np.std(before - y)
    assert model.stage_names_ == names


def test_the_smoothness_that_was_learned_is_where_learning_goes_on(flats, tmp_path):
    """From a file it is not known: curves begin as smooth as new ones, and come near the same."""
    X, y = flats
    model = TSLRegressor(2, warm_start=True, main_effects=False, **FEW).fit(X, y)
    before = model.predict(X)
    model.save(tmp_path / "m.tsl")
    loaded = load_model(tmp_path / "m.tsl").fit(X, y)
    model.fit(X, y)
    moves = [np.std(one.predict(X) - before) for one in (model, loaded)]
    assert moves[0] < 0.5 * moves[1]
    assert moves[1] < 0.3 * np.std(before - y)


def test_without_warm_start_a_second_fit_forgets_the_first(flats):
    X, y = flats
    model = TSLRegressor(2, **FEW).fit(X[:300], y[:300]).fit(X, y)
    np.testing.assert_array_equal(
        model.predict(X), TSLRegressor(2, warm_start=True, **FEW).fit(X, y).predict(X)
    )


def test_other_rows_with_other_edges_and_levels(flats):
    X, y = flats
    hill = (X["district"] == "hill").to_numpy()
    model = TSLRegressor(2, warm_start=True, **FEW).fit(X[~hill], y[~hill])
    some = np.append(np.flatnonzero(hill), np.flatnonzero(~hill)[:1])  # of none known is a warning
    unknown = error(model, X.iloc[some], y[some])
    model.fit(X, y)
    assert error(model, X.iloc[some], y[some]) < 0.9 * unknown
    assert "hill" in model.model_.bins.axes[list(X.columns).index("district")].levels


@pytest.mark.parametrize("loss", ["poisson", "huber"])
def test_other_losses_go_on_too(two_products, loss):
    X, y = two_products
    y = np.round(4.0 * np.exp(0.5 * y)) if loss == "poisson" else y
    model = TSLRegressor(1, warm_start=True, loss=loss, main_effects=False, **FEW).fit(X, y)
    first = model.history_[-1].loss
    model.set_params(n_stages=2).fit(X, y)
    assert len(model.stages_) == 2
    assert model.history_[-1].loss < 0.8 * first


@pytest.mark.parametrize("cuts", [[0.0], [-0.7, 0.7]])
def test_classes_go_on_too(two_products, cuts):
    X, y = two_products
    labels = np.array(["c", "b", "a"])[np.digitize(y, cuts)]
    model = TSLClassifier(1, warm_start=True, main_effects=False, **FEW).fit(X, labels)
    first = model.history_[-1].loss
    model.set_params(n_stages=2).fit(X, labels)
    second = model.history_[-1].loss
    assert second < 0.8 * first
    with pytest.raises(ValueError, match="y must have the classes of the fit that warm_start"):
        model.fit(X, np.where(y > 0.0, "a", "other"))
    assert model.history_[-1].loss == second  # a fit that is refused leaves the model


def test_an_eval_set_chooses_how_many_are_added(flats):
    X, y = flats
    model = TSLRegressor(1, warm_start=True, random_state=0, early_stopping=False)
    model.fit(X[:500], y[:500])
    model.set_params(n_stages=4, early_stopping="auto")
    model.fit(X[:500], y[:500], eval_set=(X[500:], y[500:]))
    assert 1 <= len(model.stages_) <= 4
    assert model.size_paths_ == ()


def test_a_merged_model_can_be_refined(flats):
    X, y = flats
    parts = [TSLRegressor(1, **FEW).fit(X[k::2], y[k::2]) for k in range(2)]
    both = merge(parts).set_params(warm_start=True, n_stages=2)
    before = error(both, X, y)
    both.fit(X, y)
    assert error(both, X, y) < before
    assert both.edits_ == ()


def test_constraints_that_are_new_hold(flats):
    X, y = flats
    model = TSLRegressor(2, warm_start=True, main_effects=True, **FEW).fit(X, y)
    model.set_params(monotonic_cst={"distance": 1}).fit(X, y)
    rows = X[:1].loc[[0] * 50].assign(distance=np.linspace(0, 12, 50))
    assert (np.diff(model.predict(rows)) >= 0).all()


@pytest.mark.parametrize(
    ("changed", "told"),
    [
        ({"n_stages": 1}, "n_stages must be at least 2, the stages that warm_start goes on from"),
        ({"early_stopping": True}, "early_stopping=True needs an eval_set with warm_start"),
        ({"n_starts": 2}, "n_starts must be 1 with warm_start=True, got 2"),
        ({"keep_bags": True}, "keep_bags must be False with warm_start=True"),
        ({"refine": "scalars"}, "warm_start=True needs refine='joint'"),
        ({"main_effects": False}, "main_effects must not be False"),
    ],
)
def test_what_contradicts_a_warm_start_is_refused(flats, changed, told):
    X, y = flats
    model = fitted(X, y)
    with pytest.raises(ValueError, match=told):
        model.set_params(**changed).fit(X, y)


def fitted(X, y):
    return TSLRegressor(2, warm_start=True, main_effects=True, **FEW).fit(X[:200], y[:200])


def test_another_link_is_refused(flats):
    X, y = flats
    model = fitted(X, y).set_params(loss="gamma")
    with pytest.raises(ValueError, match=r"loss must have the link .*'identity', got 'log'"):
        model.fit(X, y)


def test_a_fit_of_single_products_is_no_start(flats):
    X, y = flats
    model = TSLRegressor(2, refine="scalars", products="single", n_grids=2, random_state=0)
    model.fit(X[:200], y[:200])
    model.set_params(warm_start=True, refine="joint", products="difference", early_stopping=False)
    with pytest.raises(ValueError, match="needs a model with refine='joint' to go on from"):
        model.fit(X[:200], y[:200])


def test_a_constant_is_no_start(flats):
    X, y = flats
    model = TSLRegressor(1, warm_start=True, **FEW).fit(X[:200], np.full(200, 3.0))
    assert model.fit(X, y).stages_
    counts, offset = np.full(200, 2.0), np.zeros(200)
    rates = TSLRegressor(1, warm_start=True, loss="poisson", **FEW)
    with pytest.warns(UserWarning, match="no stage improves on a constant") as told:
        rates.fit(X[:200], counts, offset=offset).fit(X[:200], counts)
    assert not any("goes on from" in str(one.message) for one in told)


def test_other_columns_are_refused(flats):
    X, y = flats
    model = fitted(X, y)
    with pytest.raises(ValueError, match="X must have the columns of the fit that warm_start"):
        model.fit(X[["area", "rooms"]], y)
    with pytest.raises(ValueError, match="kinds of the fit"):
        model.fit(X.assign(floor=X["floor"].astype(str)), y)
    with pytest.raises(ValueError, match="groups must not be given"):
        model.set_params(early_stopping="auto").fit(X, y, groups=np.arange(len(y)) % 9)


def test_a_copy_goes_on_too(two_products):
    X, y = two_products
    model = TSLRegressor(1, warm_start=True, main_effects=False, **FEW).fit(X, y)
    copies = pickle.loads(pickle.dumps(model)), copy.deepcopy(model)
    expected = model.set_params(n_stages=2).fit(X, y).predict(X)
    for other in copies:
        np.testing.assert_array_equal(other.set_params(n_stages=2).fit(X, y).predict(X), expected)
