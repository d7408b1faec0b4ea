"""Links: predictions of sums are numbers, whatever the sums are."""

import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import expit

from seplearn.losses import LINKS

pytestmark = pytest.mark.interpreted

SUMS = np.concatenate([np.linspace(-750.0, 750.0, 3001), [-1e308, -1e9, 1e9, 1e308]])


@pytest.mark.parametrize("link", LINKS.values(), ids=LINKS.keys())
def test_predictions_are_finite_and_rise_with_the_sum(link):
    sums = np.sort(SUMS)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        predictions = link.inverse(sums)
    assert np.isfinite(predictions).all()
    assert (np.diff(predictions) >= 0.0).all()


@given(st.floats(-690.0, 690.0))
def test_predictions_are_those_of_the_formulas(eta):
    sums = np.array([eta])
    assert LINKS["identity"].inverse(sums) is sums
    np.testing.assert_allclose(LINKS["log"].inverse(sums), np.exp(sums), rtol=1e-14)
    np.testing.assert_allclose(LINKS["logit"].inverse(sums), expit(sums), rtol=1e-13)


def test_predictions_of_zero_are_exact():
    found = {name: link.inverse(np.zeros(2)).tolist() for name, link in LINKS.items()}
    none = [0.0, 0.0]
    assert found == {"identity": none, "log": [1.0, 1.0], "logit": [0.5, 0.5], "softmax": none}


@given(st.floats(-800.0, 800.0))
def test_the_probabilities_of_yes_and_no_are_one(eta):
    inverse = LINKS["logit"].inverse
    assert (inverse(np.array([eta])) + inverse(np.array([-eta])))[0] == pytest.approx(
        1.0, abs=1e-15
    )


def test_a_small_probability_keeps_its_digits():
    np.testing.assert_allclose(
        LINKS["logit"].inverse(np.array([-300.0, -50.0])), np.exp([-300.0, -50.0]), rtol=1e-13
    )
    assert LINKS["logit"].inverse(np.array([-1000.0, 1000.0])).tolist() == [0.0, 1.0]


def test_links_say_what_their_sum_is():
    scales = {link.name: link.scale for link in LINKS.values()}
    assert scales == {
        "identity": "prediction",
        "log": "log of the prediction",
        "logit": "log-odds",
        "softmax": "score",
    }
