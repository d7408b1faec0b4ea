"""What must not change a fit: the unit of y, the order of columns, the unit of a feature.

Where arithmetic is the same the result is the same, bit by bit. Where it is only equal up to
rounding (another order of columns or rows, a unit that is no power of two), sweeps that learn
smoothness may carry a difference of the last bit to one of a thousandth of y's spread.
"""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from seplearn import TSLRegressor, datasets

# Other tests measure the coverage of the same lines.
pytestmark = pytest.mark.no_cover

VARIANTS = [
    {},
    {"refine": "scalars"},
    {"refine": "scalars", "scalars": "ols", "fit_intercept": False},
    {"refine": "scalars", "loss": "huber"},
    {"loss": "huber"},
    {"products": "single", "refine": "scalars"},
]


def tolerance(options):
    """In units of y, whose standard deviation is about 2."""
    return 1e-5 if options.get("refine") == "scalars" else 0.02


def fit(X, y, **options):
    defaults = {
        "n_stages": 2,
        "early_stopping": False,
        "n_grids": 3,
        "n_splits": 10,
        "random_state": 3,
    }
    return TSLRegressor(**(defaults | options)).fit(X, y)


@pytest.fixture(scope="module")
def data():
    return datasets.masked_interaction(800, random_state=2)


@pytest.mark.parametrize("options", VARIANTS)
@pytest.mark.parametrize("exponent", [-40, -3, 5, 60])
def test_a_power_of_two_in_y_is_exact(data, options, exponent):
    X, y = data
    factor = 2.0**exponent
    expected = fit(X, y, **options)
    scaled = fit(X, factor * y, **options)
    np.testing.assert_allclose(
        scaled.predict(X) / factor, expected.predict(X), rtol=1e-12, atol=1e-12
    )


@given(st.floats(1e-6, 1e6), st.sampled_from(VARIANTS))
@settings(max_examples=12)
def test_rescaling_y_rescales_the_fit(factor, options):
    X, y = datasets.masked_interaction(400, random_state=2)
    expected = fit(X, y, **options).predict(X)
    np.testing.assert_allclose(
        fit(X, factor * y, **options).predict(X) / factor, expected, rtol=0, atol=tolerance(options)
    )


@given(st.permutations(range(3)), st.sampled_from(VARIANTS), st.sampled_from([0.7, 1.0]))
@settings(max_examples=12)
def test_permuting_columns_permutes_the_curves(order, options, colsample):
    X, y = datasets.masked_interaction(400, random_state=2)
    expected = fit(X, y, colsample=colsample, **options)
    permuted = fit(X[:, order], y, colsample=colsample, **options)
    np.testing.assert_allclose(
        permuted.predict(X[:, order]), expected.predict(X), rtol=0, atol=tolerance(options)
    )
    for one, other in zip(expected.stages_, permuted.stages_, strict=True):
        for branch, moved in zip(one.branches, other.branches, strict=True):
            for new, old in enumerate(order):
                np.testing.assert_allclose(
                    moved.log_factors[permuted.model_.bins.axis(new)],
                    branch.log_factors[expected.model_.bins.axis(old)],
                    rtol=0,
                    atol=tolerance(options),
                )


@pytest.mark.parametrize("options", VARIANTS)
def test_a_monotone_transform_changes_nothing_but_the_edges(data, options):
    X, y = data
    transformed = np.column_stack([np.exp(X[:, 0]), X[:, 1] ** 3, 1e6 * X[:, 2] - 5])
    expected, model = fit(X, y, **options), fit(transformed, y, **options)
    np.testing.assert_array_equal(model.predict(transformed), expected.predict(X))


@pytest.mark.parametrize("options", VARIANTS)
def test_permuting_rows_changes_nothing(data, options):
    X, y = data
    order = np.random.default_rng(0).permutation(len(y))
    one, other = fit(X, y, **options), fit(X[order], y[order], **options)
    np.testing.assert_allclose(other.predict(X), one.predict(X), rtol=0, atol=tolerance(options))
