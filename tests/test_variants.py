"""What holds for every way to fit."""

import itertools
from typing import Any

import numpy as np
import pytest

from seplearn import TSLRegressor, datasets

QUICK: dict[str, Any] = {
    "n_stages": 3, "early_stopping": False, "n_grids": 6, "n_splits": 12, "random_state": 0,
}  # fmt: skip
FEW_SPLITS: dict[str, Any] = {"refine": "scalars", "decay": 0.3}
VARIANTS: dict[str, dict[str, Any]] = {
    "default": {},
    "scalars": FEW_SPLITS,
    "ols": FEW_SPLITS | {"scalars": "ols"},  # a lambda turns negative
    "no intercept": {"fit_intercept": False},
    "huber": {"loss": "huber"},
    "single": {"products": "single", "refine": "scalars"},
    "no bootstrap": {"bootstrap": False},
    "wide bins": {"max_bins": 1000},
    "trimmed": {"trim": 0.9},
    "centroid": {"anchor": "centroid", "trim": 0.5},
    "trimmed single": {"products": "single", "refine": "scalars", "trim": 0.9},
}


@pytest.fixture(scope="module")
def data():
    return datasets.masked_interaction(1500, random_state=0)


@pytest.fixture(scope="module")
def models(data):
    """A fit of every variant, in one thread; tests only read them."""
    X, y = data
    return {name: TSLRegressor(**(QUICK | options)).fit(X, y) for name, options in VARIANTS.items()}


def test_every_variant_is_another_model(data, models):
    X, y = data
    found = [model.predict(X) for model in models.values()]
    for one, other in itertools.combinations(found, 2):
        assert np.abs(one - other).max() > 1e-3 * y.std()


@pytest.mark.parametrize("variant", VARIANTS)
def test_stage_contributions_sum_to_the_prediction(data, models, variant):
    X, y = data
    model = models[variant]
    parts = model.predict_stages(X)
    assert parts.shape == (len(X), len(model.stages_))
    said = model.intercept_ + parts.sum(axis=1) + model.predict_effects(X).sum(axis=1)
    np.testing.assert_allclose(said, model.predict(X), rtol=1e-9, atol=1e-12)
    assert model.score(X, y) > 0.5


@pytest.mark.parametrize("variant", VARIANTS)
def test_curves_are_positive_and_centred(models, variant):
    model = models[variant]
    bins = model.model_.bins
    for stage in model.stages_:
        assert stage.is_signed == ("products" in VARIANTS[variant])
        for branch in stage.branches:
            assert np.isfinite(branch.log_factors).all()
            np.testing.assert_allclose(bins.means(branch.log_factors), 0.0, atol=1e-9)
        if model.scalars == "nnls" and not stage.is_signed:
            assert stage.lambda_plus >= 0
            assert stage.lambda_minus >= 0


@pytest.mark.parametrize("n_jobs", [2, 5, -1])
@pytest.mark.parametrize("variant", VARIANTS)
def test_bit_identical_for_every_number_of_threads(data, models, variant, n_jobs):
    X, y = data
    alone = models[variant]
    model = TSLRegressor(**(QUICK | VARIANTS[variant]), n_jobs=n_jobs).fit(X, y)
    np.testing.assert_array_equal(model.predict(X), alone.predict(X))
    assert [r.scalars for r in model.history_] == [r.scalars for r in alone.history_]
